"""scikit-learn's own checks, with no expected failure."""

import pytest
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import estimator_checks_generator

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from lowrank_rank.surrogates import SURROGATES
from lowrank_rank.target_losses import (
    AUC,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
    RecallAtK,
)


@pytest.fixture(autouse=True)
def fresh_data(monkeypatch):
    """scikit-learn 1.6 makes labels positive by a shift in place, of data that it keeps: grades
    would grow from check to check."""
    monkeypatch.setattr(estimator_checks, "REGRESSION_DATASET", None, raising=False)


def parametrize_with_checks(estimators):
    """As scikit-learn's decorator, with lists, which pytest asks for."""
    pairs = [pair for estimator in estimators for pair in estimator_checks_generator(estimator)]
    ids = [f"{estimator!r}-{check.func.__name__}" for estimator, check in pairs]
    return pytest.mark.parametrize(("estimator", "check"), pairs, ids=ids)


DEFAULTS = [
    LowRankSurrogateRanker(),
    LowRankSurrogateRanker(estimator=DecisionTreeRegressor()),
    LowRankSurrogateClassifier(),
    LowRankSurrogateClassifier(estimator=DecisionTreeRegressor()),
    PairwiseDAGRanker(),
    PairwiseDAGRanker(estimator=DecisionTreeRegressor()),
    OrderPreservingRegressor(),
]
LOSSES = [
    "dcg@5",
    "ndcg_exp@10",
    "spearman",
    "eru",
    "pd",
    "kendall",
    PairwiseDisagreement("difference"),
    PrecisionAtK(k=5, relevance_threshold=2),
    RecallAtK(k=20, relevance_threshold=2),
    AUC(relevance_threshold=2),
    MeanAveragePrecision(relevance_threshold=2),
]
SETTINGS = [
    LowRankSurrogateRanker(solver="lsqr"),
    LowRankSurrogateRanker(centered=False, list_weights="pairs"),
    LowRankSurrogateRanker(alpha=0.0),
    PairwiseDAGRanker(target_loss="kendall", decoder="exact"),
    PairwiseDAGRanker(target_loss=PairwiseDisagreement("difference"), decoder="borda"),
    PairwiseDAGRanker(decoder="score", list_weights="pairs"),
    PairwiseDAGRanker(decoder="score", estimator=DecisionTreeRegressor()),
    PairwiseDAGRanker(pair_features="concatenation", decoder="auto"),
    *[OrderPreservingRegressor(surrogate=name) for name in SURROGATES if name != "cross_entropy"],
    *[OrderPreservingRegressor(target_loss=loss) for loss in ("dcg@5", "ndcg_exp", "eru")],
    OrderPreservingRegressor(target_loss=AUC(relevance_threshold=2)),
    OrderPreservingRegressor(target_loss="spearman", surrogate="pairwise_logistic"),
    OrderPreservingRegressor(surrogate="pairwise_squared", solver="lbfgs", standardize=False),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No label prefers")
@parametrize_with_checks(DEFAULTS)
def test_defaults(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No label prefers")
@parametrize_with_checks([LowRankSurrogateRanker(target_loss=loss) for loss in LOSSES])
def test_every_loss_that_takes_grades(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No label prefers")
@parametrize_with_checks(
    [LowRankSurrogateRanker(target_loss=loss, estimator=DecisionTreeRegressor()) for loss in LOSSES]
)
def test_every_loss_with_a_tree(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No label prefers")
@parametrize_with_checks(SETTINGS)
def test_settings(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:No label prefers")
@pytest.mark.filterwarnings("ignore:pos_label is None")
@parametrize_with_checks(
    [
        PrecisionAtKPerceptron(),
        PrecisionAtKPerceptron(update="perceptron"),
        PrecisionAtKPerceptron(surrogate="struct"),
        PrecisionAtKPerceptron(surrogate="avg", early_stopping=True),
        PrecisionAtKPerceptron(target_loss="prbep", n_runs=2),
    ]
)
def test_precision_at_the_top(estimator, check):
    check(estimator)
