"""Surrogates in score space: values and gradients, usable without any estimator."""

from ._listwise import BregmanSurrogate, CrossEntropy
from ._names import SURROGATES, resolve_surrogate, surrogate_for, surrogate_loss
from ._pairwise import PairwiseExponential, PairwiseLogistic, PairwiseSquared, RankNet, RankSVM
from ._precision import PRECISION_SURROGATES, perceptron_step, precision_surrogate
from ._template import (
    PointwiseExponential,
    PointwiseLogistic,
    PointwiseSmoothHinge,
    PointwiseSquared,
    PointwiseSquaredHinge,
    Surrogate,
    SurrogateValues,
)

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
    "surrogate_for",
    "surrogate_loss",
]
