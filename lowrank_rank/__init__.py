"""Learning to rank with scikit-learn: estimators fitted for the measure you choose.

Estimators of the four sources
    LowRankSurrogateRanker : any measure with a low-rank form, by any regressor; its
        kin LowRankSurrogateClassifier (costs) and LowRankSurrogateMultilabelClassifier
        (sets of labels).
    PairwiseDAGRanker : preferences of judges, choices and duels with features.
    OrderPreservingRegressor : linear, for few judged queries.
    PrecisionAtKPerceptron : positives in the first k places of Kar et al.; algorithm 1
        is ``surrogate="avg", solver="perceptron"``.
    structured : the four structured hinges.

Other estimators
    HistGradientBoostingRanker : boosted trees, for many queries.
    StackingRanker : several rankers, weighed by the measure.
    WrappedRanker : LGBMRanker, XGBRanker or any regressor as a ranker.

Labels, scorers, splits
    ranking_target : labels that carry their query ids.
    make_ranking_scorer : scorers for GridSearchCV and cross_validate.
    metrics : measure_score of a measure by its name, ndcg_score. target_losses :
        measures as objects.
    model_selection : splits, curves and importances by whole queries.
    merge : one model from models of parts of the rows.

Companions
    evaluation : which ranker is better? compare_rankers (scores, models), compare_runs
        (TREC runs), compare_values (a table of tasks), compare_judged (labels of a
        judge and of some people), evaluate_run, mean_intervals.
    votes : consensus_ranking of votes, bradley_terry of duels, and their readers.
    clicks : a generator of clicks, propensities, grades from clicks.
    datasets : files of LETOR and TREC, generators, small tables.
    plotting, dask : pictures; clusters.

For researchers
    surrogates, decoders, calibration : losses of scores, orders of surrogate vectors,
        quantities of the theorems. testing : checks of your own losses.
    boosting : objectives for LightGBM and XGBoost.
"""

from . import (
    boosting,
    calibration,
    clicks,
    datasets,
    decoders,
    evaluation,
    metrics,
    model_selection,
    plotting,
    structured,
    surrogates,
    target_losses,
    testing,
    votes,
)
from ._version import __version__
from .fitting._encoded_fits import merge
from .low_rank._classifier import LowRankSurrogateClassifier
from .low_rank._multilabel import LowRankSurrogateMultilabelClassifier
from .low_rank._surrogate_ranker import LowRankSurrogateRanker
from .meta._stacking import StackingRanker
from .meta._wrapped import WrappedRanker
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
    "calibration",
    "clicks",
    "datasets",
    "decoders",
    "evaluation",
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
    "votes",
]
