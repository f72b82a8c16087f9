"""A warning names the line of the caller, however many of our functions lie between."""

import pickle
import warnings

import numpy as np
import pandas
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning, InconsistentVersionWarning
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import cross_val_predict, cross_validate

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StackingRanker,
    __version__,
    consensus_ranking,
    make_ranking_scorer,
)

X, Y, QID = np.arange(4.0)[:, np.newaxis], [0, 1, 0, 1], ["a", "b", "c", "d"]
ITEMS = np.random.default_rng(0).integers(0, 3, (4, 3)).astype(float)
RANKER = LowRankSurrogateRanker()

CALLS = {
    "fit": lambda: RANKER.fit(X, Y, qid=QID),
    "partial_fit": lambda: RANKER.partial_fit(X, Y, qid=QID),
    "fit_blocks": lambda: RANKER.fit_blocks([(X, Y, QID)]),
    "fit_blocks, iterative": lambda: OrderPreservingRegressor().fit_blocks(
        [(X, Y, QID)]
    ),
    "score": lambda: RANKER.fit(X, Y).score(X, Y, qid=QID),
    "scorer": lambda: make_ranking_scorer("ndcg")(RANKER.fit(X, Y), X, Y, qid=QID),
    "solver": lambda: LowRankSurrogateRanker(alpha=1e-9, tol=0.0, max_iter=1).fit(
        X, ITEMS
    ),
    "pairs": lambda: PairwiseDAGRanker().fit(X, np.ones(4)),
    "votes": lambda: consensus_ranking(
        {"voter": [1, 1], "item": ["a", "b"], "rank": [1, 2], "age": [40, 40]}
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_warning_is_of_the_callers_file(call):
    with pytest.warns(UserWarning, match=".") as caught:
        CALLS[call]()
    assert {warning.filename for warning in caught} == {__file__}


MAP = {"target_loss": "map"}
ONE_STEP = [
    ("surrogate", OrderPreservingRegressor(max_iter=1)),
    ("other", OrderPreservingRegressor(max_iter=1, alpha=0.1)),
]
OF_OTHERS = [("sgd", SGDRegressor(max_iter=1)), ("other", SGDRegressor(max_iter=1))]
GRADES = np.random.default_rng(0).integers(0, 3, 120)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    ("options", "grades", "sentence"),
    [
        (MAP, GRADES + 1, "all relevant: every label counts"),
        (MAP | {"cv": 3}, GRADES + 1, "all relevant: every label counts"),
        ({"cv": 3}, np.ones(120), r"All grades of each query are equal \(30 queries"),
        ({"cv": 3, "estimators": ONE_STEP}, GRADES, "L-BFGS stopped after 1 iter"),
        ({"cv": 3, "estimators": OF_OTHERS}, GRADES, "Maximum number of iteration"),
    ],
    ids=["rule", "folds", "grades", "solver", "another package"],
)
def test_a_stack_gives_each_warning_once(n_jobs, options, grades, sentence):
    """Its parts are fitted in folds, and perhaps in other processes."""
    features = np.random.default_rng(1).normal(size=(120, 3))
    qid = np.repeat(np.arange(30), 4)
    stack = StackingRanker(n_jobs=n_jobs, **options)
    with pytest.warns(UserWarning, match=sentence) as caught:
        stack.fit(features, grades, qid=qid)
    assert [one.filename for one in caught] == [__file__]


def test_a_stack_leaves_the_filters_as_they_are():
    stack = StackingRanker(OF_OTHERS, cv=3)
    features = np.random.default_rng(1).normal(size=(120, 3))
    qid = np.repeat(np.arange(30), 4)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="sklearn")
        filters = list(warnings.filters)
        show = warnings.showwarning
        stack.fit(features, GRADES, qid=qid)  # and no warning
        assert warnings.filters == filters
        assert warnings.showwarning is show
        warnings.filterwarnings("error", category=ConvergenceWarning)
        with pytest.raises(RuntimeError, match=r"The part 'sgd' .* Maximum number"):
            stack.fit(features, GRADES, qid=qid)


class OldFile(SGDRegressor):
    """A regressor that loads a file of another version of scikit-learn."""

    def fit(self, X, y, sample_weight=None):
        warnings.warn(OF_VERSIONS, stacklevel=1)
        return super().fit(X, y, sample_weight=sample_weight)


OF_VERSIONS = InconsistentVersionWarning(
    estimator_name="SGD", current_sklearn_version="1.9", original_sklearn_version="1.2"
)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_warnings_that_are_made_of_more_than_a_text(n_jobs):
    parts = [("sgd", OldFile(random_state=0)), ("one", SGDRegressor(random_state=0))]
    features = np.random.default_rng(1).normal(size=(120, 3))
    stack = StackingRanker(parts, n_jobs=n_jobs, cv=3)
    with pytest.warns(UserWarning, match="unpickle estimator SGD from") as caught:
        stack.fit(features, GRADES, qid=np.repeat(np.arange(30), 4))
    assert len(caught) == 1


def test_models_of_another_version_are_loaded_within_joblib():
    saved = pickle.dumps(RANKER)
    other = saved.replace(__version__.encode(), b"9" * len(__version__))
    with pytest.warns(InconsistentVersionWarning) as caught:
        Parallel()(delayed(pickle.loads)(other) for _ in range(2))
    assert len(caught) == 1


@pytest.mark.parametrize("ranker", [PairwiseDAGRanker, LowRankSurrogateRanker])
def test_pairs_that_are_solved_in_parts_warn_once(ranker):
    model = ranker(target_loss="pd", max_iter=1)
    items = np.random.default_rng(0).integers(0, 3, (20, 13))
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations") as caught:
        model.fit(np.random.default_rng(1).normal(size=(20, 3)), items)
    assert len(caught) == 1


def test_cross_validation_gives_each_warning_once():
    """Python forgets in each fold what it printed; folds have 999 or 1,000 rows."""
    features = np.random.default_rng(1).normal(size=(1499, 3))
    grades = np.arange(1499) % 3
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            cross_validate(OrderPreservingRegressor(), features, grades, cv=3)
            cross_val_predict(OrderPreservingRegressor(), features, grades, cv=3)
        words = [str(one.message).split()[0] for one in caught]
        assert words == ["All", "This", "All"]  # rows are one list


def test_warnings_of_other_columns_are_not_one_sentence():
    titles = [f"title number {i}" for i in range(120)]
    frame = pandas.DataFrame({"title 1": titles, "title 2": titles[::-1]})
    frame["feature"] = np.arange(120.0)
    stack = StackingRanker()
    with pytest.warns(UserWarning, match="is one category") as caught:
        stack.fit(frame, GRADES, qid=np.repeat(np.arange(30), 4))
    assert len(caught) == 2
