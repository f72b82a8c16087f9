"""Target losses: each owns its encoding, its decoders and its measure."""

from ..metrics._positional import PositionalForm
from ._average_precision import MeanAveragePrecision
from ._base import Decoder, RankingMeasure, TargetLoss
from ._cascade import ExpectedReciprocalRank, ReciprocalRank
from ._matrix import MatrixLoss
from ._names import SCORE_ONLY, TARGET_LOSSES, resolve_measure, resolve_target_loss
from ._pairwise import KendallTau, PairwiseDisagreement
from ._positional import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    PositionalLoss,
    PrecisionAtK,
    RecallAtK,
    SpearmanRho,
)
from ._share import PrecisionAtShare

__all__ = [
    "AUC",
    "DCG",
    "NDCG",
    "SCORE_ONLY",
    "TARGET_LOSSES",
    "Decoder",
    "ExpectedRankUtility",
    "ExpectedReciprocalRank",
    "KendallTau",
    "MatrixLoss",
    "MeanAveragePrecision",
    "PairwiseDisagreement",
    "PositionalForm",
    "PositionalLoss",
    "PrecisionAtK",
    "PrecisionAtShare",
    "RankingMeasure",
    "RecallAtK",
    "ReciprocalRank",
    "SpearmanRho",
    "TargetLoss",
    "resolve_measure",
    "resolve_target_loss",
]
