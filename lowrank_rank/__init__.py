"""Learning to rank with scikit-learn: estimators fitted for the measure you choose."""

from . import (
    boosting,
    calibration,
    datasets,
    decoders,
    metrics,
    model_selection,
    plotting,
    structured,
    surrogates,
    target_losses,
    testing,
)
from ._version import __version__
from .boosting import boosting_metric, boosting_objective
from .consensus._consensus import consensus_ranking
from .consensus._duels import bradley_terry
from .fitting._encoded_fits import merge
from .low_rank._classifier import LowRankSurrogateClassifier
from .low_rank._multilabel import LowRankSurrogateMultilabelClassifier
from .low_rank._surrogate_ranker import LowRankSurrogateRanker
from .meta._stacking import StackingRanker
from .meta._wrapped import WrappedRanker
from .metrics import get_ranking_scorer_names
from .metrics._comparison import compare_rankers
from .metrics._scorer import make_ranking_scorer
from .order_preserving._hist_gradient_boosting import HistGradientBoostingRanker
from .order_preserving._regressor import OrderPreservingRegressor
from .precision_at_top._perceptron import PrecisionAtKPerceptron
from .preferences._pairwise_dag import PairwiseDAGRanker
from .validation._cut_queries import CutQueriesWarning
from .validation._labels import ranking_target
from .validation._rules import SuspiciousDataWarning

__all__ = [
    "CutQueriesWarning",
    "HistGradientBoostingRanker",
    "LowRankSurrogateClassifier",
    "LowRankSurrogateMultilabelClassifier",
    "LowRankSurrogateRanker",
    "OrderPreservingRegressor",
    "PairwiseDAGRanker",
    "PrecisionAtKPerceptron",
    "StackingRanker",
    "SuspiciousDataWarning",
    "WrappedRanker",
    "__version__",
    "boosting",
    "boosting_metric",
    "boosting_objective",
    "bradley_terry",
    "calibration",
    "compare_rankers",
    "consensus_ranking",
    "datasets",
    "decoders",
    "get_ranking_scorer_names",
    "make_ranking_scorer",
    "merge",
    "metrics",
    "model_selection",
    "plotting",
    "ranking_target",
    "structured",
    "surrogates",
    "target_losses",
    "testing",
]
