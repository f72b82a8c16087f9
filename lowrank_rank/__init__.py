"""Learning to rank with scikit-learn: estimators that are fitted for the measure you choose."""

from . import (
    boosting,
    calibration,
    datasets,
    decoders,
    metrics,
    model_selection,
    plotting,
    surrogates,
    target_losses,
    testing,
)
from ._cut_queries import CutQueriesWarning
from ._labels import ranking_target
from ._version import __version__
from .boosting import boosting_metric, boosting_objective
from .consensus import (
    BradleyTerry,
    ConsensusRanking,
    RankIntervals,
    bradley_terry,
    consensus_ranking,
)
from .fitting._estimator import merge
from .low_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
)
from .meta import StackingRanker, WrappedRanker
from .metrics import get_ranking_scorer_names, make_ranking_scorer
from .order_preserving import HistGradientBoostingRanker, OrderPreservingRegressor
from .precision_at_top import PrecisionAtKPerceptron
from .preferences import PairwiseDAGRanker
from .structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
    sequence_accuracy_scorer,
)

__all__ = [
    "BradleyTerry",
    "ConsensusRanking",
    "CutQueriesWarning",
    "HistGradientBoostingRanker",
    "LowRankSurrogateClassifier",
    "LowRankSurrogateMultilabelClassifier",
    "LowRankSurrogateRanker",
    "OrderPreservingRegressor",
    "PairwiseDAGRanker",
    "PrecisionAtKPerceptron",
    "RankIntervals",
    "StackingRanker",
    "StructuredHingeBinaryClassifier",
    "StructuredHingeClassifier",
    "StructuredHingeRanker",
    "StructuredHingeSequenceClassifier",
    "WrappedRanker",
    "__version__",
    "boosting",
    "boosting_metric",
    "boosting_objective",
    "bradley_terry",
    "calibration",
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
    "sequence_accuracy_scorer",
    "surrogates",
    "target_losses",
    "testing",
]
