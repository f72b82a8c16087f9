"""Target losses: each owns its encoding, its decoders and its measure."""

from ._average_precision import MeanAveragePrecision
from ._cascade import ExpectedReciprocalRank, ReciprocalRank, SuccessAtK
from ._classes import FBeta, MatrixLoss, SetLoss
from ._pairwise import KendallTau, PairwiseDisagreement
from ._positional import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    GainAtK,
    PositionalLoss,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    SpearmanRho,
)
from ._target_loss import TargetLoss

__all__ = [
    "AUC",
    "DCG",
    "NDCG",
    "ExpectedRankUtility",
    "ExpectedReciprocalRank",
    "FBeta",
    "GainAtK",
    "KendallTau",
    "MatrixLoss",
    "MeanAveragePrecision",
    "PairwiseDisagreement",
    "PositionalLoss",
    "PrecisionAtK",
    "PrecisionAtShare",
    "RecallAtK",
    "ReciprocalRank",
    "SetLoss",
    "SpearmanRho",
    "SuccessAtK",
    "TargetLoss",
]
