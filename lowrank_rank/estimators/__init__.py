"""Estimators: scikit-learn's conventions kept to the letter."""

from ._low_rank_classifier import LowRankSurrogateClassifier
from ._low_rank_ranker import LowRankSurrogateRanker
from ._order_preserving import OrderPreservingRegressor
from ._pairwise_dag import PairwiseDAGRanker
from ._precision_perceptron import PrecisionAtKPerceptron

__all__ = [
    "LowRankSurrogateClassifier",
    "LowRankSurrogateRanker",
    "OrderPreservingRegressor",
    "PairwiseDAGRanker",
    "PrecisionAtKPerceptron",
]
