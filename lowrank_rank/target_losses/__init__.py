"""Target losses: each owns its encoding, its decoders and its measure."""

from . import _positional
from ._average_precision import MeanAveragePrecision
from ._cascade import ExpectedReciprocalRank, ReciprocalRank
from ._classes import SET_LOSSES, BalancedAccuracy, FBeta, Hamming, MatrixLoss, SetLoss
from ._names import SCORE_ONLY, TARGET_LOSSES, names_of, resolve_measure, resolve_target_loss
from ._pairwise import KendallTau, PairwiseDisagreement
from ._positional import *  # noqa: F403  (its classes are listed beside them)
from ._propensity import PropensityScoredPrecisionAtK, label_propensities
from ._target_loss import Decoder, RankingMeasure, TargetLoss

__all__ = [
    "SCORE_ONLY",
    "SET_LOSSES",
    "TARGET_LOSSES",
    "BalancedAccuracy",
    "Decoder",
    "ExpectedReciprocalRank",
    "FBeta",
    "Hamming",
    "KendallTau",
    "MatrixLoss",
    "MeanAveragePrecision",
    "PairwiseDisagreement",
    "PropensityScoredPrecisionAtK",
    "RankingMeasure",
    "ReciprocalRank",
    "SetLoss",
    "TargetLoss",
    "label_propensities",
    "names_of",
    "resolve_measure",
    "resolve_target_loss",
]
__all__ += _positional.__all__
