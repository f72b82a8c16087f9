"""What a rule finds is data while a public call runs, and warnings when it ends."""

import ast
import pickle
import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas
import pytest
from joblib import Parallel, delayed
from sklearn.exceptions import (
    ConvergenceWarning,
    InconsistentVersionWarning,
    NotFittedError,
)
from sklearn.linear_model import SGDRegressor
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils.validation import check_is_fitted

import lowrank_rank
from lowrank_rank import (
    CutQueriesWarning,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StackingRanker,
    SuspiciousDataWarning,
    __version__,
    make_ranking_scorer,
)
from lowrank_rank.evaluation import compare_rankers, mean_intervals, per_query
from lowrank_rank.votes import bradley_terry, consensus_ranking

from .internals import RULES, found, reporting, reports
from .refusals import refused_by

PACKAGE = Path(lowrank_rank.__file__).parent
X, Y, QID = np.arange(4.0)[:, np.newaxis], [0, 1, 0, 1], ["a", "b", "c", "d"]
ITEMS = np.random.default_rng(0).integers(0, 3, (4, 3)).astype(float)
RANKER = LowRankSurrogateRanker()
FEATURES = np.random.default_rng(1).normal(size=(120, 3))
GRADES = np.random.default_rng(0).integers(0, 3, 120)
QUERIES = np.repeat(np.arange(30), 4)

# The line of the caller ---------------------------------------------------------------

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
    "table": lambda: compare_rankers(Y, {"one": Y, "two": Y[::-1]}, qid=QID),
    "measures": lambda: per_query(Y, Y, qid=QID),
}


@pytest.mark.parametrize("call", CALLS)
def test_the_warning_is_of_the_callers_file(call):
    with pytest.warns(UserWarning, match=".") as caught:
        CALLS[call]()
    assert {warning.filename for warning in caught} == {__file__}


@dataclass
class Experiment:
    """An object of a user with the names of a search, which cannot be hashed."""

    estimator: Any
    cv: int = 3

    def fit(self):
        return self.estimator.fit(FEATURES, np.ones(120), qid=QUERIES)


def test_fits_inside_an_object_of_the_user_warn():
    experiment = Experiment(OrderPreservingRegressor())
    for _ in range(2):  # and each of them
        with pytest.warns(UserWarning, match="All grades of each query are equal"):
            experiment.fit()


# Errors -------------------------------------------------------------------------------


def test_a_call_that_raises_says_first_what_it_found():
    wrong = [0.0, 1.0, np.nan, 1.0]
    with (
        pytest.warns(UserWarning, match="has a single item") as caught,
        refused_by("missing labels"),
    ):
        RANKER.fit(X, wrong, qid=QID)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    "model",
    [
        LowRankSurrogateRanker(),
        OrderPreservingRegressor(),
        StackingRanker(cv=3),
        PairwiseDAGRanker(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_finding_that_is_an_error_leaves_the_model_as_it_was(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="All grades of each query are equal"):
            model.fit(FEATURES, np.ones(120), qid=QUERIES)
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        model.fit(FEATURES, GRADES, qid=QUERIES)
        before = model.predict(FEATURES)
        with pytest.raises(UserWarning, match="All grades of each query are equal"):
            model.fit(FEATURES, np.ones(120), qid=QUERIES)
    np.testing.assert_array_equal(model.predict(FEATURES), before)


def test_the_first_finding_is_the_error():
    @reports
    def call():
        found("one", "one")
        found("two", "two")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="one"):
            call()


# Once a call, and once a fold ---------------------------------------------------------


MAP = {"target_loss": "map"}
ONE_STEP = [
    ("surrogate", OrderPreservingRegressor(max_iter=1)),
    ("other", OrderPreservingRegressor(max_iter=1, alpha=0.1)),
]


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    ("options", "grades", "sentence"),
    [
        (MAP, GRADES + 1, "all relevant: every label counts"),
        (MAP | {"cv": 3}, GRADES + 1, "all relevant: every label counts"),
        ({"cv": 3}, np.ones(120), r"All grades of each query are equal \(30 queries"),
        ({"cv": 3, "estimators": ONE_STEP}, GRADES, "L-BFGS stopped after 1 iter"),
    ],
    ids=["rule", "folds", "grades", "solver"],
)
def test_a_stack_says_each_sentence_once(n_jobs, options, grades, sentence):
    """Its parts are fitted in folds, and perhaps in other processes."""
    stack = StackingRanker(n_jobs=n_jobs, **options)
    with pytest.warns(UserWarning, match=sentence) as caught:
        stack.fit(FEATURES, grades, qid=QUERIES)
    assert [one.filename for one in caught] == [__file__]


def test_a_stack_leaves_the_filters_to_other_packages():
    of_others = [("sgd", SGDRegressor(max_iter=1)), ("two", SGDRegressor(max_iter=1))]
    stack = StackingRanker(of_others, cv=3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="sklearn")
        filters = list(warnings.filters)
        stack.fit(FEATURES, GRADES, qid=QUERIES)  # and no warning
        assert warnings.filters == filters
        warnings.filterwarnings("error", category=ConvergenceWarning)
        with pytest.raises(RuntimeError, match=r"The part 'sgd' .* Maximum number"):
            stack.fit(FEATURES, GRADES, qid=QUERIES)


@pytest.mark.parametrize("ranker", [PairwiseDAGRanker, LowRankSurrogateRanker])
def test_pairs_that_are_solved_in_parts_warn_once(ranker):
    model = ranker(target_loss="pd", max_iter=1)
    items = np.random.default_rng(0).integers(0, 3, (20, 13))
    with pytest.warns(ConvergenceWarning, match="max_iter=1 iterations") as caught:
        model.fit(np.random.default_rng(1).normal(size=(20, 3)), items)
    assert len(caught) == 1


def test_findings_about_two_columns_are_two():
    titles = [f"title number {i}" for i in range(120)]
    frame = pandas.DataFrame({"title 1": titles, "title 2": titles[::-1]})
    frame["feature"] = np.arange(120.0)
    with pytest.warns(UserWarning, match="is one category") as caught:
        StackingRanker().fit(frame, GRADES, qid=QUERIES)
    assert len(caught) == 2


def test_searches_warn_in_each_fold():
    model = OrderPreservingRegressor(max_iter=1)
    grid = GridSearchCV(model, {"alpha": [0.1, 1.0]}, cv=3)
    searches = [
        (3, lambda: cross_validate(model, FEATURES, GRADES, cv=3)),
        (7, lambda: grid.fit(FEATURES, GRADES)),  # six folds, and all rows
    ]
    for n_fits, search in searches:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search()
        n_warnings = sum(one.category is ConvergenceWarning for one in caught)
        assert n_warnings == n_fits


def test_calls_in_threads_warn_themselves():
    calls = [
        Thread(target=RANKER.fit, args=(X, Y), kwargs={"qid": QID}) for _ in range(2)
    ]
    with warnings.catch_warnings(record=True) as caught, reporting():
        warnings.simplefilter("always")
        for call in calls:
            call.start()
            call.join()
        assert len(caught) == 2


def test_a_part_that_fails_says_what_it_found():
    class Fails(OrderPreservingRegressor):
        def fit(self, X, y, qid=None, sample_weight=None):
            super().fit(X, y, qid=qid, sample_weight=sample_weight)
            raise ValueError("fails")

    stack = StackingRanker([("one", Fails(max_iter=1))], weights={"one": 1.0})
    with (
        pytest.warns(ConvergenceWarning, match="L-BFGS stopped") as caught,
        pytest.raises((ValueError, RuntimeError), match="fails"),
    ):
        stack.fit(FEATURES, GRADES, qid=QUERIES)
    assert len(caught) == 1


# Saved models -------------------------------------------------------------------------


def test_a_saved_model_has_no_digests_of_its_queries():
    n = 4000
    features = np.random.default_rng(0).normal(size=(2 * n, 5))
    qid = np.arange(2 * n) // 2
    model = OrderPreservingRegressor().fit(features, np.arange(2 * n) % 2, qid=qid)
    with pytest.warns(CutQueriesWarning):
        model.score(features[1:], np.arange(1, 2 * n) % 2, qid=qid[1:])
    saved = pickle.dumps(model)
    assert len(saved) < 4000
    loaded = pickle.loads(saved)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.score(features[1:], np.arange(1, 2 * n) % 2, qid=qid[1:])


def test_models_of_another_version_are_loaded_within_joblib():
    saved = pickle.dumps(LowRankSurrogateRanker())
    other = saved.replace(__version__.encode(), b"9" * len(__version__))
    with pytest.warns(InconsistentVersionWarning, match="of lowrank_rank") as caught:
        Parallel()(delayed(pickle.loads)(other) for _ in range(2))
    assert len(caught) == 2


# Results ------------------------------------------------------------------------------


def test_results_have_the_findings_of_their_call():
    values = {"a": [np.nan] * 12 + [0.1] * 20, "b": [0.2] * 32}
    with pytest.warns(SuspiciousDataWarning, match="undefined queries") as caught:
        means = mean_intervals(values)
    assert [f.rule for f in means.findings] == ["undefined queries"]
    assert [f.sentence for f in means.findings] == [str(caught[0].message)]
    votes = {"voter": [1, 1], "item": ["a", "b"], "rank": [1, 2], "age": [4, 4]}
    with pytest.warns(UserWarning, match="age"):
        ranking = consensus_ranking(votes)
    assert [f.rule for f in ranking.findings] == ["other columns"]
    duels = {"winner": ["a", "b"], "loser": ["b", "a"], "age": [4, 4]}
    with pytest.warns(UserWarning, match="age"):
        board = bradley_terry(duels)
    assert [f.rule for f in board.findings] == ["other columns"]
    qid = np.repeat(np.arange(12), 4)
    labels = np.tile([0, 1, 2, 3], 12)
    with pytest.warns(SuspiciousDataWarning, match="reversed scores: 'down'"):
        comparison = compare_rankers(
            labels, {"down": 3.0 - labels, "up": labels + 0.5}, qid=qid
        )
    (finding,) = comparison.findings
    assert finding.rule == "reversed scores"
    assert finding.about == "down"
    assert finding.category is SuspiciousDataWarning
    assert compare_rankers(labels, {"up": labels + 0.5}, qid=qid).findings == ()


# The code -----------------------------------------------------------------------------


@cache
def calls():
    """The file and the node of each call of a function."""
    return [
        (path.name, node)
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]


def calls_of(name):
    """Yield the file and the node of each call of a function of this name."""
    for file, node in calls():
        function = node.func
        if name == getattr(function, "id", getattr(function, "attr", None)):
            yield file, node


def test_warnings_are_given_in_one_place():
    assert [file for file, _ in calls_of("warn")] == ["_findings.py"]


def test_findings_name_their_rule():
    """Each rule is found in one place, or is a row of the table."""
    names = []
    for _, node in calls_of("found"):
        if isinstance(node.args[0], ast.Constant):
            names.append(node.args[0].value)
    for name in set(names):
        assert name not in RULES, name
    assert len(names) == len(set(names))
    asked = {node.args[0].value for _, node in calls_of("look_for")}
    assert asked == set(RULES)
