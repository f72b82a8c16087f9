"""Convex calibrated surrogates for low-rank losses (Ramaswamy, Agarwal & Tewari 2013)."""

from ._classifier import LowRankSurrogateClassifier
from ._multilabel import LowRankSurrogateMultilabelClassifier
from ._surrogate_ranker import LowRankSurrogateRanker

__all__ = [
    "LowRankSurrogateClassifier",
    "LowRankSurrogateMultilabelClassifier",
    "LowRankSurrogateRanker",
]
