"""Learning to rank with scikit-learn, provably aimed at the measure you name."""

from . import metrics  # isort: skip  (first: its scorers stand above the target losses)
from . import (
    boosting,
    calibration,
    datasets,
    decoders,
    plotting,
    surrogates,
    target_losses,
    testing,
)
from ._lists import ranking_target
from ._version import __version__
from .boosting import boosting_objective
from .estimators import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from .metrics import get_ranking_scorer_names, make_ranking_scorer

__all__ = [
    "LowRankSurrogateClassifier",
    "LowRankSurrogateRanker",
    "OrderPreservingRegressor",
    "PairwiseDAGRanker",
    "PrecisionAtKPerceptron",
    "__version__",
    "boosting",
    "boosting_objective",
    "calibration",
    "datasets",
    "decoders",
    "get_ranking_scorer_names",
    "make_ranking_scorer",
    "metrics",
    "plotting",
    "ranking_target",
    "surrogates",
    "target_losses",
    "testing",
]
