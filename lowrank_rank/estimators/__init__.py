"""Estimators: scikit-learn's conventions kept to the letter."""

from ._low_rank_classifier import LowRankSurrogateClassifier
from ._low_rank_ranker import LowRankSurrogateRanker

__all__ = ["LowRankSurrogateClassifier", "LowRankSurrogateRanker"]
