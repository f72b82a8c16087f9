"""Target losses: each has its encoding, its decoders and its measure."""

from ..decoders._decoded import Decoder
from ._average_precision import MeanAveragePrecision
from ._classes import FBeta, MatrixLoss, SetLoss
from ._pairwise import PairwiseDisagreement
from ._positional import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    PositionalLoss,
    PrecisionAtK,
    RecallAtK,
)
from ._target_loss import TargetLoss

__all__ = [
    "AUC",
    "DCG",
    "NDCG",
    "Decoder",
    "ExpectedRankUtility",
    "FBeta",
    "MatrixLoss",
    "MeanAveragePrecision",
    "PairwiseDisagreement",
    "PositionalLoss",
    "PrecisionAtK",
    "RecallAtK",
    "SetLoss",
    "TargetLoss",
]
