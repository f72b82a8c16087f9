"""Surrogates in score space: values and gradients, usable without any estimator."""

from .order_preserving._bounds import surrogate_loss
from .order_preserving._surrogates import (
    SURROGATES,
    BregmanSurrogate,
    CrossEntropy,
    PairwiseExponential,
    PairwiseLogistic,
    PairwiseSquared,
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSmoothHinge,
    PointwiseSquared,
    PointwiseSquaredHinge,
    RankNet,
    RankSVM,
    Surrogate,
    SurrogateValues,
    resolve_surrogate,
)
from .precision_at_top._surrogates import PRECISION_SURROGATES, perceptron_step, precision_surrogate
from .structured._hinges import structured_hinge

__all__ = [
    "PRECISION_SURROGATES",
    "SURROGATES",
    "BregmanSurrogate",
    "CrossEntropy",
    "PairwiseExponential",
    "PairwiseLogistic",
    "PairwiseSquared",
    "PointwiseExponential",
    "PointwiseLogistic",
    "PointwiseSmoothHinge",
    "PointwiseSquared",
    "PointwiseSquaredHinge",
    "RankNet",
    "RankSVM",
    "Surrogate",
    "SurrogateValues",
    "perceptron_step",
    "precision_surrogate",
    "resolve_surrogate",
    "structured_hinge",
    "surrogate_loss",
]
