"""Objects that no function reads, in every data argument of every public callable.

The cause is named at once: a lazy frame has no rows yet, durations are not numbers, a
tensor has a gradient. What is read gives the result of the plain array.
"""

import copy
import functools
import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, clone

import lowrank_rank
from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    merge,
    ranking_target,
)
from lowrank_rank.boosting import boosting_metric, boosting_objective
from lowrank_rank.calibration import (
    calibration_report,
    conditional_regret,
    noise_report,
    precision_margins,
    regret_bound,
)
from lowrank_rank.clicks import (
    make_clicks,
    propensities_from_clicks,
    utilities_from_clicks,
)
from lowrank_rank.datasets import (
    dump_letor,
    dump_qrels,
    dump_run,
    iter_lists,
    load_digits_retrieval,
    runs_to_features,
)
from lowrank_rank.decoders import (
    decode_pd_dag,
    decode_pd_exact,
)
from lowrank_rank.evaluation import (
    compare_judged,
    compare_judged_runs,
    compare_rankers,
    compare_runs,
    compare_values,
    evaluate_run,
    judged_mean_intervals,
    mean_intervals,
    per_query,
)
from lowrank_rank.metrics import measure_score, ndcg_score
from lowrank_rank.model_selection import (
    QueryTimeSeriesSplit,
    query_learning_curve,
    query_permutation_importance,
    query_train_test_split,
)
from lowrank_rank.plotting import (
    PermutationImportanceDisplay,
    PrecisionAtKDisplay,
    PreferenceMatrixDisplay,
    RankerComparisonDisplay,
    RankIntervalDisplay,
)
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import (
    precision_surrogate,
    structured_hinge,
    surrogate_loss,
)
from lowrank_rank.target_losses import NDCG, FBeta, MatrixLoss
from lowrank_rank.testing import check_target_loss
from lowrank_rank.votes import bradley_terry, consensus_ranking, grades_from_orders

pytestmark = pytest.mark.filterwarnings("ignore")

# Kinds of objects -------------------------------------------------------------------


class Tensor:
    """A tensor with a gradient, where there is no torch."""

    __module__ = "torch"
    requires_grad = True

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.values

    def item(self):
        return self.values

    def __array__(self, *args, **kwargs):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    def __len__(self):
        return len(self.values)


#: A raw model of `lightgbm.train`, where there is no LightGBM.
Booster = type("Booster", (), {"__module__": "lightgbm.basic"})


def lazy(value):
    """Return a lazy frame."""
    return pl.LazyFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})


def generator(value):
    """Return an iterator over the rows."""
    return (row for row in list(value))


def durations(value):
    """Return the numbers as seconds, in an array."""
    return np.asarray(value).astype(np.int64).astype("timedelta64[s]")


def pandas_durations(value):
    """Return the numbers as seconds, in the Series or the first column of a frame."""
    seconds = durations(value)
    if seconds.ndim == 1:
        return pd.Series(seconds)
    frame = pd.DataFrame(np.asarray(value))
    frame.columns = [f"x{column}" for column in frame]
    frame["x0"] = seconds[:, 0]
    return frame


def polars_durations(value):
    """Return the numbers as seconds, in the Series or the first column of a frame."""
    seconds = durations(value).astype("timedelta64[ms]")
    if seconds.ndim == 1:
        return pl.Series(seconds)
    columns = {f"x{i}": column for i, column in enumerate(np.asarray(value).T)}
    return pl.DataFrame(columns | {"x0": seconds[:, 0]})


def pandas_series(value):
    """Return the entries, or those of the first row, as a Series of pandas."""
    values = np.asarray(value)
    return pd.Series(values if values.ndim == 1 else values[0].ravel())


def polars_series(value):
    """Return the entries, or those of the first row, as a Series of polars."""
    return pl.Series(pandas_series(value).to_numpy())


#: Durations are named, or the type of the column that has them.
DURATION = r"duration|has the type (timedelta|Duration)"
#: A kind of object -> what makes it, and the words of its cause.
KINDS: dict[str, tuple[Callable, str]] = {
    "lazy": (lazy, "has no rows yet"),
    "iterator": (generator, "read (only )?once"),
    "tensor": (Tensor, "tensor"),
    "booster": (lambda value: Booster(), "Booster"),
    "series": (pandas_series, "Series"),
    "series of polars": (polars_series, "Series"),
    "durations": (durations, DURATION),
    "durations of pandas": (pandas_durations, DURATION),
    "durations of polars": (polars_durations, DURATION),
}
NOT_DATA = {"lazy", "iterator", "tensor", "booster"}
SERIES = {"series", "series of polars"}
DURATIONS = {"durations", "durations of pandas", "durations of polars"}

#: What an argument holds -> kinds that are refused, and kinds that give the result of
#: the plain array.
ROLES: dict[str, tuple[set, set]] = {
    "matrix": (NOT_DATA | SERIES | DURATIONS, set()),
    "columns": (NOT_DATA | DURATIONS, set()),  # or a Series of texts for a Pipeline
    "array": (NOT_DATA | SERIES | {"durations"}, set()),  # of more than two dimensions
    "numbers": (NOT_DATA | DURATIONS, SERIES),
    "ids": (NOT_DATA, SERIES | DURATIONS),
    "ids of folds": (NOT_DATA, SERIES),  # other ids are in other folds
    "labels": (NOT_DATA, SERIES),
    "grades of items": (NOT_DATA | DURATIONS, set()),
    "table": (NOT_DATA, set()),
    "blocks": (NOT_DATA - {"iterator"}, {"iterator"}),
    "blocks of several passes": (NOT_DATA, set()),
    "model": ({"booster"}, set()),
    "entries by label": (NOT_DATA | DURATIONS, {"series of polars"}),
    "any rows": (NOT_DATA, SERIES | {"durations", "durations of pandas"}),
}

# Clean data -------------------------------------------------------------------------

RNG = np.random.default_rng(0)
QID = np.repeat(np.arange(1, 7), 4)
X = RNG.normal(size=(24, 3))
Y = RNG.integers(0, 3, 24)
Y[::4] = 0
Y[1::4] = 2
BINARY = np.minimum(Y, 1)
CLASSES = np.array([0, 1, 2])
SCORES = X[:, 0] + Y
WEIGHTS = np.repeat([1.0, 2.0, 1.0, 3.0, 1.0, 2.0], 4)
GRADES = RNG.integers(0, 3, size=(24, 4))  # of four fixed items
SETS = RNG.integers(0, 2, size=(24, 4))
SETS[0] = 1
SUPPORT = np.array([[1, 0, 0], [0, 1, 0]])
U = np.array([[[0.0, 2, 0], [0, 0, 2], [1, 0, 0]]])
OF_PAIRS = np.array([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]])
QRELS = {"1": {"a": 1, "b": 0}, "2": {"a": 0, "b": 2}}
RUN = {"1": {"a": 0.5, "b": 0.7}, "2": {"a": 0.1, "b": 0.2}}
PEOPLE = np.where(np.arange(48) < 24, np.tile(Y, 2), np.nan)
MANY_QRELS = {str(i): QRELS[str(i % 2 + 1)] for i in range(10)}
MANY_RUN = {str(i): RUN[str(i % 2 + 1)] for i in range(10)}
DUELS = [["a", "b"]] * 3 + [["b", "a"]] + [["b", "c"]] * 2 + [["c", "a"]]
BALLOTS = [["a", "b", "c"]] * 3 + [["b", "a", "c"]] * 2
SESSIONS = {
    "clicks": np.array([1, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1, 1] * 2),
    "position": np.tile([1, 2, 3], 8),
    "document": np.tile([0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 2, 1], 2),
}
DOCUMENTS = {"X": X, "y": Y, "qid": QID, "sample_weight": WEIGHTS}
MODEL = OrderPreservingRegressor().fit(X, Y, qid=QID)
OF_ITEMS = PairwiseDAGRanker().fit(X, GRADES)
PARTS = [
    LowRankSurrogateRanker().fit(X[rows], Y[rows], qid=QID[rows])
    for rows in (slice(12), slice(12, None))
]
BLOCKS = [(X[:12], Y[:12], QID[:12]), (X[12:], Y[12:], QID[12:])]

# The table --------------------------------------------------------------------------


class Call(NamedTuple):
    """A public callable, clean arguments, and the roles of those that are data."""

    function: Callable
    clean: dict
    roles: dict


#: Roles of arguments of the same name in every callable, where none is given.
USUAL = {
    "X": "matrix",
    "qid": "ids",
    "groups": "ids",
    "sample_weight": "numbers",
    "y": "numbers",
    "y_true": "numbers",
    "y_score": "numbers",
    "y_pred": "numbers",
    "scores": "numbers",
    "people": "numbers",
    "values": "numbers",
    "judge": "numbers",
    "judge_unlabelled": "numbers",
    "surrogate_regret": "numbers",
    "u": "array",
    "qrels": "table",
    "run": "table",
    "runs": "table",
    "orders": "table",
    "duels": "table",
    "blocks": "blocks",
    "estimator": "model",
    "clicks": "numbers",
    "position": "numbers",
    "document": "ids",
    "v": "numbers",
    "s": "numbers",
}


def call(function, roles=(), **clean):
    """Return a row of the table."""
    usual = {name: USUAL[name] for name in clean if name in USUAL}
    return Call(function, clean, usual | dict(roles))


MEASURED = {"y_true": Y, "y_score": SCORES, "qid": QID, "sample_weight": WEIGHTS}


def split(X, y, qid):
    """Split two arrays by their lists."""
    return query_train_test_split(X, y, qid=qid, random_state=0)


def target_of(y, qid, time):
    """Return what is read of a target: its queries and its times."""
    target = ranking_target(y, qid, time=time)
    return ndcg_score(target, SCORES), list(QueryTimeSeriesSplit(2).split(X, target))


def splits(X, groups, time):
    """Return the splits in order of time."""
    return list(QueryTimeSeriesSplit(2).split(X, groups=groups, time=time))


def importance(**arguments):
    return query_permutation_importance(**arguments, n_repeats=2, random_state=0)


def importances_of_estimator(**arguments):
    return PermutationImportanceDisplay.from_estimator(
        **arguments, n_repeats=2, random_state=0
    )


def curve(**arguments):
    return query_learning_curve(
        **arguments, cv=2, train_sizes=[0.5, 1.0], random_state=0
    )


FUNCTIONS = {
    "ndcg_score": call(ndcg_score, **MEASURED),
    "measure_score": call(measure_score, **MEASURED, measure="precision@2"),
    "per_query": call(per_query, y_true=Y, y_score=SCORES, qid=QID),
    "evaluate_run": call(evaluate_run, qrels=QRELS, run=RUN),
    "judged_mean_intervals": call(
        judged_mean_intervals,
        people=SCORES[:12],
        judge=SCORES[12:],
        judge_unlabelled=SCORES,
    ),
    "mean_intervals": call(
        mean_intervals, values=SCORES, groups=QID, sample_weight=WEIGHTS
    ),
    "compare_judged": call(
        compare_judged,
        {"rankers": "table", "qid": "ids of folds"},
        people=PEOPLE,
        judge=np.tile(Y, 2),
        rankers={"a": np.tile(SCORES, 2), "b": -np.tile(SCORES, 2)},
        qid=np.repeat(np.arange(12), 4),
    ),
    "compare_judged_runs": call(
        compare_judged_runs,
        {"people": "table", "judge": "table"},
        people={q: MANY_QRELS[q] for q in list(MANY_QRELS)[:6]},
        judge=MANY_QRELS,
        runs={"a": MANY_RUN},
    ),
    "compare_runs": call(compare_runs, qrels=QRELS, runs={"a": RUN, "b": RUN}),
    "compare_values": call(
        compare_values, {"table": "table"}, table={"a": SCORES, "b": -SCORES}
    ),
    "compare_rankers": call(
        compare_rankers,
        {"rankers": "table", "sample_weight": "entries by label"},
        y_true=Y,
        rankers={"a": SCORES, "b": -SCORES},
        qid=QID,
        sample_weight=np.array([1.0, 2.0, 1.0, 3.0, 1.0, 2.0]),
    ),
    "compare_rankers of scores": call(
        lambda ranker: compare_rankers(Y, {"a": ranker, "b": -SCORES}, qid=QID),
        {"ranker": "numbers"},
        ranker=SCORES,
    ),
    "compare_rankers of models": call(
        compare_rankers, y_true=Y, rankers={"a": MODEL, "b": MODEL}, X=X, qid=QID
    ),
    "query_train_test_split": call(
        split, {"X": "table", "y": "any rows"}, X=X, y=Y, qid=QID
    ),
    "QueryTimeSeriesSplit.split": call(
        splits, {"X": "table", "time": "ids"}, X=X, groups=QID, time=QID
    ),
    "query_permutation_importance": call(
        importance, estimator=MODEL, X=X, y=Y, qid=QID
    ),
    "query_learning_curve": call(
        curve,
        {"X": "columns"},
        estimator=LowRankSurrogateRanker(),
        X=X,
        y=Y,
        qid=QID,
    ),
    "ranking_target": call(target_of, {"time": "ids"}, y=Y, qid=QID, time=QID),
    "make_ranking_scorer": call(
        lambda y, **rest: make_ranking_scorer("ndcg@2")(y_true=y, **rest),
        estimator=MODEL,
        X=X,
        y=Y,
        qid=QID,
        sample_weight=WEIGHTS,
    ),
    "boosting_objective": call(
        lambda qid, y_true, y_pred: boosting_objective(qid=qid)(y_true, y_pred),
        qid=QID,
        y_true=Y,
        y_pred=SCORES,
    ),
    "boosting_objective of groups": call(
        boosting_objective(),
        {"group": "numbers"},
        y_true=Y,
        y_pred=SCORES,
        sample_weight=WEIGHTS,
        group=np.full(6, 4),
    ),
    "boosting_metric": call(
        boosting_metric(),
        {"group": "numbers"},
        y_true=Y,
        y_pred=SCORES,
        sample_weight=WEIGHTS,
        group=np.full(6, 4),
    ),
    "merge": call(merge, {"models": "model"}, models=PARTS),
    "consensus_ranking": call(
        consensus_ranking,
        {"weights": "numbers"},
        orders=BALLOTS,
        weights=[1, 2, 1, 1, 3],
    ),
    "bradley_terry": call(
        bradley_terry, {"weight": "numbers"}, duels=DUELS, weight=[1, 2, 1, 1, 3, 1, 1]
    ),
    "calibration_report": call(
        calibration_report, {"support": "matrix"}, loss="map", support=SUPPORT
    ),
    "conditional_regret": call(
        conditional_regret,
        {"support": "matrix", "probabilities": "matrix", "ranks": "matrix"},
        loss="ndcg",
        support=SUPPORT,
        probabilities=np.array([[0.75, 0.25]]),
        ranks=np.array([[1, 2, 3]]),
    ),
    "noise_report": call(noise_report, u=U),
    "noise_report of a distribution": call(
        noise_report,
        {"u": "matrix", "probabilities": "matrix"},
        u=SUPPORT,
        probabilities=np.array([[0.65, 0.35]]),
    ),
    "precision_margins": call(precision_margins, y=BINARY, scores=SCORES, k=2),
    "regret_bound": call(
        regret_bound,
        {"expected": "matrix"},
        surrogate="pointwise_squared",
        expected=np.array([[0.7, 0.3]]),
        measure=[1.0, 0.0],
        surrogate_regret=np.array([1.0]),
    ),
    "precision_surrogate": call(precision_surrogate, y=BINARY, scores=SCORES, k=2),
    "structured_hinge": call(
        structured_hinge, target_loss="kendall", y_true=Y, y_score=SCORES, qid=QID
    ),
    "surrogate_loss": call(
        surrogate_loss,
        surrogate="cross_entropy",
        v=Y,
        s=SCORES,
        qid=QID,
        sample_weight=WEIGHTS,
    ),
    **{
        function.__name__: call(function, u=U)
        for function in (
            decode_pd_dag,
            decode_pd_exact,
        )
    },
    "check_target_loss": call(
        check_target_loss, {"support": "matrix"}, loss=NDCG(2), support=SUPPORT
    ),
    "dump_letor": call(dump_letor, X=X, y=Y, qid=QID, path="log.txt"),
    "dump_qrels": call(dump_qrels, qrels=QRELS, path="qrels.txt"),
    "dump_run": call(dump_run, run=RUN, path="run.txt"),
    "grades_from_orders": call(grades_from_orders, orders=[[2, 0, 1], [1, 2]]),
    "iter_lists": call(
        lambda source: list(iter_lists(source)), {"source": "blocks"}, source=BLOCKS
    ),
    "load_digits_retrieval": call(
        functools.partial(load_digits_retrieval, n_queries=3, n_candidates=5),
        {"popularity": "numbers"},
        popularity=np.arange(1, 11),
    ),
    "make_clicks": call(
        make_clicks,
        {"propensity": "entries by label"},
        y=Y,
        qid=QID,
        scores=SCORES,
        propensity=np.ones(4),
        n_sessions=20,
        random_state=0,
    ),
    "propensities_from_clicks": call(propensities_from_clicks, **SESSIONS),
    "utilities_from_clicks": call(
        utilities_from_clicks,
        {"propensity": "entries by label"},
        clicks=SESSIONS["clicks"],
        position=SESSIONS["position"],
        propensity=np.ones(3),
    ),
    "runs_to_features": call(runs_to_features, runs={"a": RUN, "b": RUN}, qrels=QRELS),
    "PrecisionAtKDisplay.from_estimator": call(
        PrecisionAtKDisplay.from_estimator, estimator=MODEL, X=X, y=BINARY, qid=QID
    ),
    "PermutationImportanceDisplay.from_estimator": call(
        importances_of_estimator, estimator=MODEL, X=X, y=Y, qid=QID
    ),
    "PrecisionAtKDisplay.from_predictions": call(
        PrecisionAtKDisplay.from_predictions, y_true=BINARY, y_score=SCORES, qid=QID
    ),
    "PreferenceMatrixDisplay.from_estimator": call(
        PreferenceMatrixDisplay.from_estimator, estimator=OF_ITEMS, X=X
    ),
    "PreferenceMatrixDisplay.from_preferences": call(
        PreferenceMatrixDisplay.from_preferences,
        {"preferences": "matrix"},
        preferences=U[0],
    ),
    "RankIntervalDisplay.from_consensus": call(
        RankIntervalDisplay.from_consensus,
        {"consensus": "model"},
        consensus=consensus_ranking(BALLOTS),
        random_state=0,
    ),
    "RankerComparisonDisplay.from_estimators": call(
        RankerComparisonDisplay.from_estimators,
        {"rankers": "table"},
        rankers={"a": MODEL, "b": MODEL},
        X=X,
        y=Y,
        qid=QID,
    ),
    "RankerComparisonDisplay.from_predictions": call(
        RankerComparisonDisplay.from_predictions,
        {"rankers": "table"},
        y_true=Y,
        rankers={"a": SCORES, "b": -SCORES},
        qid=QID,
    ),
    "NDCG.measure": call(NDCG(2).measure, **MEASURED),
    "NDCG.loss": call(
        NDCG(2).loss,
        {"y": "matrix", "ranks": "matrix"},
        y=SUPPORT,
        ranks=np.array([[1, 2, 3], [2, 1, 3]]),
    ),
    "FBeta.loss": call(
        FBeta().loss,
        {"y": "matrix", "z": "matrix"},
        y=SUPPORT,
        z=np.array([[1, 0, 1], [0, 1, 1]]),
    ),
    "MatrixLoss": call(
        lambda loss_matrix: MatrixLoss(loss_matrix).loss([0, 1], [1, 1]),
        {"loss_matrix": "matrix"},
        loss_matrix=np.array([[0.0, 1.0], [2.0, 0.0]]),
    ),
}

STEPS = {"solver": "sgd", "alpha": 0.1, "random_state": 0}
#: Estimators and the data of their fits.
ESTIMATORS: list[tuple[Any, dict]] = [
    (HistGradientBoostingRanker(max_iter=3, min_samples_leaf=2), DOCUMENTS),
    (LowRankSurrogateRanker(), DOCUMENTS),
    (OrderPreservingRegressor(), DOCUMENTS),
    (
        PairwiseDAGRanker(estimator="ridge"),
        {"X": X, "y": GRADES, "sample_weight": WEIGHTS},
    ),
    (PrecisionAtKPerceptron(random_state=0), {**DOCUMENTS, "y": BINARY}),
    (StackingRanker(estimators=[("ridge", LowRankSurrogateRanker())]), DOCUMENTS),
    (WrappedRanker(LowRankSurrogateRanker()), DOCUMENTS),
    (StructuredHingeRanker(**STEPS), DOCUMENTS),
    (StructuredHingeSequenceClassifier(**STEPS), DOCUMENTS),
    (LowRankSurrogateClassifier(estimator="ridge"), DOCUMENTS),
    (StructuredHingeClassifier(**STEPS), DOCUMENTS),
    (StructuredHingeBinaryClassifier(), {**DOCUMENTS, "y": BINARY}),
    (LowRankSurrogateMultilabelClassifier(), {**DOCUMENTS, "y": SETS}),
]
CLASS_LABELS = {"y": "numbers", "classes": "labels"}
#: Roles of arguments of an estimator that differ from the usual ones.
OTHER_ROLES = {
    "OrderPreservingRegressor": {"blocks": "blocks of several passes"},
    "PairwiseDAGRanker": {"y": "grades of items"},
    "LowRankSurrogateMultilabelClassifier": {"y": "grades of items"},
    "LowRankSurrogateClassifier": CLASS_LABELS,
    "PrecisionAtKPerceptron": CLASS_LABELS,
    "StructuredHingeBinaryClassifier": CLASS_LABELS,
    "StructuredHingeClassifier": CLASS_LABELS,
    "StructuredHingeSequenceClassifier": CLASS_LABELS,
}


def methods_of(owner):
    """Names of the public methods of a class that are no setters or getters."""
    for name in dir(owner):
        if name.startswith(("_", "set_", "get_")):
            continue
        if inspect.isroutine(inspect.getattr_static(owner, name)) or callable(
            getattr(owner, name, None)
        ):
            yield name


def run_method(fitted, name, /, **arguments):
    """Call a method of a fitted copy."""
    return getattr(copy.deepcopy(fitted), name)(**arguments)


def of_estimators():
    """Return a row for each method of each estimator."""
    for estimator, data in ESTIMATORS:
        names = inspect.signature(estimator.fit).parameters
        given = {name: value for name, value in data.items() if name in names}
        fitted = estimator.fit(**given)
        values = {**data, "surrogate_regret": np.array([1.0])}
        values["blocks"] = [
            tuple(data[one][rows] for one in ("X", "y", "qid") if one in given)
            for rows in (slice(12), slice(12, None))
        ]
        values["classes"] = np.unique(data["y"])
        others = OTHER_ROLES.get(type(estimator).__name__, {})
        for name in methods_of(type(estimator)):
            if not hasattr(fitted, name):
                continue  # of other parameters
            parameters = inspect.signature(getattr(fitted, name)).parameters
            clean = {one: values[one] for one in parameters if one in values}
            roles = {one: role for one, role in others.items() if one in clean}
            function = functools.partial(run_method, fitted, name)
            yield f"{type(estimator).__name__}.{name}", call(function, roles, **clean)


CALLS = {**FUNCTIONS, **dict(of_estimators())}

# What is compared -------------------------------------------------------------------


def numbers_of(result):
    """Return all numbers of a result, by what it is made of."""
    if isinstance(result, StructuredHingeSequenceClassifier):
        return numbers_of(result.predict(X, qid=QID))
    if isinstance(result, BaseEstimator) and hasattr(result, "predict"):
        return numbers_of(result.predict(X))
    if isinstance(result, pd.Series | pl.Series):
        return numbers_of(result.to_numpy())
    if isinstance(result, str | int | float | bool | None):
        return [result]
    if inspect.isgenerator(result) or isinstance(result, list | tuple):
        return [number for one in result for number in numbers_of(one)]
    if isinstance(result, dict):
        return [number for one in result.values() for number in numbers_of(one)]
    if hasattr(result, "to_frame"):
        result = result.to_frame()
    if isinstance(result, pd.DataFrame):
        return [*result.columns, *result.to_numpy().ravel().tolist()]
    if hasattr(result, "plot"):  # a display
        return [list(vars(result))]
    if hasattr(result, "toarray"):
        result = result.toarray()
    values = np.asarray(result)
    if values.dtype.kind == "m":
        values = values / np.timedelta64(1, "s")
    return values.ravel().tolist()


def assert_same(one, two):
    """Compare the numbers of two results up to rounding."""
    is_number = [isinstance(value, int | float) for value in two]
    assert [isinstance(value, int | float) for value in one] == is_number
    numbers = [list(itertools.compress(values, is_number)) for values in (one, two)]
    assert_allclose(*numbers, rtol=1e-9, atol=1e-12)
    is_other = [not one for one in is_number]
    assert [*itertools.compress(one, is_other)] == [*itertools.compress(two, is_other)]


@functools.cache
def clean_numbers(name):
    """Return the numbers of the result of clean data."""
    function, clean, _ = CALLS[name]
    return numbers_of(function(**clean))


@pytest.fixture
def folder(tmp_path_factory, monkeypatch):
    """Write files to one folder of the session."""
    monkeypatch.chdir(tmp_path_factory.getbasetemp())


CASES = [(name, argument) for name, row in CALLS.items() for argument in row.roles]


@pytest.mark.parametrize(
    ("name", "argument"), CASES, ids=[f"{name}-{argument}" for name, argument in CASES]
)
def test_the_cause_is_named(name, argument, folder):
    function, clean, roles = CALLS[name]
    refused_kinds, read_kinds = ROLES[roles[argument]]
    for kind in KINDS:
        if kind not in refused_kinds | read_kinds:
            continue
        make, cause = KINDS[kind]
        given = {**clean, argument: make(clean[argument])}
        if kind in read_kinds:
            assert_same(numbers_of(function(**given)), clean_numbers(name))
            continue
        with pytest.raises((ValueError, TypeError)) as raised:
            numbers_of(function(**given))
        message = str(raised.value)
        assert re.search(cause, message), (kind, message)
        assert argument in message, (kind, message)
        if kind in ("lazy", "iterator") and argument != "blocks":
            assert isinstance(raised.value, TypeError), kind


# Parameters that are tensors --------------------------------------------------------

#: Callables -> parameters that are numbers, beside those whose default is a number.
OF_NUMBERS = {
    "ndcg_score": ["k"],
    "precision_surrogate": ["k"],
    "precision_margins": ["k"],
}


#: Numbers that scikit-learn or a function of its own checks, or that may be arrays.
ELSEWHERE = {"random_state", "n_queries", "n_candidates", "propensity"}


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def parameters_of_numbers():
    """Return callables and their parameters that are numbers, with the numbers."""
    for name, row in FUNCTIONS.items():
        parameters = inspect.signature(row.function).parameters
        for one in OF_NUMBERS.get(name, []):
            yield name, one, row.clean.get(one, 2)
        for one, parameter in parameters.items():
            if is_number(parameter.default) and one not in ELSEWHERE:
                yield name, one, parameter.default


PARAMETERS = list(parameters_of_numbers())


def refused(call):
    """Return the message of the error of a call."""
    with pytest.raises((ValueError, TypeError)) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "parameter", "value"),
    PARAMETERS,
    ids=[f"{name}-{parameter}" for name, parameter, _ in PARAMETERS],
)
def test_a_parameter_that_is_a_tensor(name, parameter, value, folder):
    function, clean, _ = FUNCTIONS[name]
    given = {**clean, parameter: Tensor(value)}
    message = refused(lambda: function(**given))
    assert f"a tensor: write {parameter}.item()" in message
    assert message.startswith(f"{parameter} must be")
    mended = {**clean, parameter: given[parameter].item()}
    expected = function(**{**clean, parameter: value})
    assert_same(numbers_of(function(**mended)), numbers_of(expected))


@pytest.mark.parametrize(
    "estimator", [one for one, _ in ESTIMATORS], ids=lambda one: type(one).__name__
)
def test_a_parameter_of_an_estimator_that_is_a_tensor(estimator):
    data = next(data for one, data in ESTIMATORS if one is estimator)
    names = inspect.signature(estimator.fit).parameters
    given = {name: value for name, value in data.items() if name in names}
    for name, parameter in inspect.signature(type(estimator)).parameters.items():
        is_ours = name in type(estimator)._parameters and name not in ELSEWHERE
        if is_ours and (is_number(parameter.default) or name == "alpha"):
            model = clone(estimator).set_params(**{name: Tensor(1)})
            message = refused(lambda model=model: model.fit(**given))
            assert f"a tensor: write {name}.item()" in message, message


# Nothing is left out ----------------------------------------------------------------

#: Public callables that take no data, and the reason.
WITHOUT_DATA = {
    "get_ranking_scorer_names": "takes nothing",
    "load_letor": "takes a path",
    "load_preflib": "takes a path",
    "load_qrels": "takes a path",
    "load_run": "takes a path",
    "load_wine_tasting": "takes nothing",
    "make_duels": "draws its data",
    "make_label_ranking": "draws its data",
    "make_preferences": "draws its data",
    "make_ranking": "draws its data",
    "is_order_preserving": "draws its data",
    "check_surrogate": "draws its data",
    "CutQueriesWarning": "is a warning",
    "SuspiciousDataWarning": "is a warning",
    "SurrogateValues": "is a result",
    "Surrogate": "its methods take grouped arrays",
    "BregmanSurrogate": "its methods take grouped arrays",
}


def public_names():
    """Names of the public functions, and of the classes with methods of data."""
    modules = [lowrank_rank]
    for info in pkgutil.iter_modules(lowrank_rank.__path__):
        # The functions of `dask` need a cluster.
        if not info.name.startswith("_") and info.name != "dask":
            modules.append(importlib.import_module(f"lowrank_rank.{info.name}"))
    for module in modules:
        for name in getattr(module, "__all__", []):
            value = getattr(module, name)
            is_measure = module.__name__.endswith(".target_losses")
            if callable(value) and not is_measure:
                yield name


def test_every_public_callable_is_in_the_table():
    covered = {name.partition(".")[0] for name in CALLS} | WITHOUT_DATA.keys()
    assert set(public_names()) - covered == set()
    assert WITHOUT_DATA.keys() - set(public_names()) == set()


def test_every_method_of_the_estimators_is_in_the_table():
    for estimator, _ in ESTIMATORS:
        name = type(estimator).__name__
        for method in methods_of(type(estimator)):
            is_there = f"{name}.{method}" in CALLS
            assert is_there or not hasattr(estimator, method), f"{name}.{method}"
