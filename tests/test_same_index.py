"""Rows match by position: pandas objects with different indices are refused, never re-aligned."""

import inspect

import numpy as np
import pandas as pd
import pytest

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)

RANKERS = [
    LowRankSurrogateRanker(),
    LowRankSurrogateRanker(estimator="trees", random_state=0),
    OrderPreservingRegressor(),
    PairwiseDAGRanker(),
    StructuredHingeRanker(),
    WrappedRanker(LowRankSurrogateRanker(estimator="ridge").set_params(target_loss="dcg")),
    PrecisionAtKPerceptron(),
    StructuredHingeSequenceClassifier(),
]
CLASSIFIERS = [
    LowRankSurrogateClassifier(),
    StructuredHingeClassifier(),
    StructuredHingeBinaryClassifier(),
]


def make_frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    y = pd.Series((X["a"] + rng.normal(size=40) > 0).astype(int), name="y")
    return X, y, pd.Series(np.arange(40) // 5, name="qid")


def shuffled(series):
    return series.sample(frac=1.0, random_state=0)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", RANKERS, ids=lambda model: type(model).__name__)
def test_rankers(model):
    X, y, qid = make_frame()
    with pytest.raises(ValueError, match=r"X and y have different indices \(row 0: 0 and \d+\)"):
        model.fit(X, shuffled(y), qid=qid)
    with pytest.raises(ValueError, match=r"X and qid have different indices"):
        model.fit(X, y, qid=shuffled(qid))
    rows = np.random.default_rng(0).permutation(40)
    model.fit(X.iloc[rows], y.iloc[rows], qid=qid.iloc[rows])  # one index, in any order
    if hasattr(model, "rank"):
        with pytest.raises(ValueError, match=r"X and qid have different indices"):
            model.rank(X, qid=shuffled(qid))
    with pytest.raises(ValueError, match="have different indices"):
        model.score(X, shuffled(y), qid=qid)
    assert np.isfinite(model.score(X, shuffled(y).to_numpy(), qid=qid))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: type(model).__name__)
def test_classifiers(model):
    X, y, _ = make_frame()
    with pytest.raises(ValueError, match="X and y have different indices"):
        model.fit(X, shuffled(y))
    if hasattr(model, "partial_fit"):
        with pytest.raises(ValueError, match="X and y have different indices"):
            model.partial_fit(X, shuffled(y), classes=[0, 1])
    model.fit(X, y)
    with pytest.raises(ValueError, match="have different indices"):
        model.score(X, shuffled(y))
    model.fit(X, shuffled(y).to_numpy())


def test_weights_and_measures():
    X, y, qid = make_frame()
    weights = pd.Series(np.ones(40), index=np.arange(1, 41))
    with pytest.raises(ValueError, match="X and sample_weight have different indices"):
        LowRankSurrogateRanker().fit(X, y, qid=qid, sample_weight=weights)
    with pytest.raises(ValueError, match="y_true and y_score have different indices"):
        ndcg_score(y, shuffled(y), qid=qid)


def test_ids_in_the_index_of_both():
    X, y, qid = make_frame()
    index = pd.MultiIndex.from_arrays([qid, np.arange(40)], names=["qid", "row"])
    X, y = X.set_axis(index), y.set_axis(index)
    model = LowRankSurrogateRanker().fit(X, y)
    assert model.n_lists_ == 8
    with pytest.raises(ValueError, match="X and y have different indices"):
        LowRankSurrogateRanker().fit(X, y[::-1])


#: Names of arguments with one entry a row, of public functions.
ROWS = {"X", "y", "qid", "y_true", "y_score", "scores", "sample_weight", "judge", "human"}
ROWS |= {"clicks", "position", "document"}


def functions_of_rows():
    """Public functions with at least two arguments of rows, by inspection."""
    import lowrank_rank

    modules = [value for value in vars(lowrank_rank).values() if hasattr(value, "__all__")]
    for module in (lowrank_rank, *modules):
        for name in module.__all__:
            function = getattr(module, name)
            if inspect.isfunction(function):
                rows = [one for one in inspect.signature(function).parameters if one in ROWS]
                if len(rows) > 1:
                    yield name, function, rows


#: Functions of other shapes: of surrogates and theory, of one list, or of lists as they are.
OTHER = {"surrogate_loss", "structured_hinge", "precision_surrogate", "conditional_regret"}
OTHER |= {"precision_margins", "precision_mistake_bound"}
#: The functions of a cluster, which tests/test_dask.py holds.
OTHER |= {"fit", "predict", "rank", "score"}
FUNCTIONS = {name: (call, rows) for name, call, rows in functions_of_rows() if name not in OTHER}


def further(name, tmp_path):
    """What a function needs besides rows."""
    given = {
        "query_permutation_importance": {"estimator": "fitted"},
        "query_learning_curve": {"estimator": LowRankSurrogateRanker(), "cv": 2},
        "dump_letor": {"path": tmp_path / "log.txt"},
        "compare_rankers": {
            "rankers": {"a": np.arange(40.0), "b": -np.arange(40.0)},
            "zero_division": 0.0,
        },
        "measure_score": {"measure": "ndcg"},
        "mean_intervals": {"judge_unlabelled": np.arange(40.0)},
    }
    return dict(given.get(name, {}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_public_function_of_rows_refuses_another_index(name, tmp_path):
    function, rows = FUNCTIONS[name]
    X, y, qid = make_frame()
    values = dict.fromkeys(ROWS, X["a"]) | {
        "X": X,
        "y": y,
        "y_true": y,
        "qid": qid,
        "clicks": y,
        "judge": y,
    }
    values |= {"position": pd.Series(np.arange(40) % 5 + 1)}
    given = {one: values[one] for one in rows} | further(name, tmp_path)
    if given.get("estimator") == "fitted":
        given["estimator"] = LowRankSurrogateRanker().fit(X, y, qid=qid)
    parameters = inspect.signature(function).parameters
    for moved in rows[1:]:
        changed = {**given, moved: shuffled(values[moved])}
        positional = [
            changed.pop(one)
            for one, parameter in parameters.items()
            if one in changed and parameter.kind is parameter.POSITIONAL_ONLY
        ]
        with pytest.raises(ValueError, match="have different indices"):
            function(*positional, **changed)


def test_splits_and_blocks_refuse_another_index():
    from lowrank_rank.datasets import iter_lists
    from lowrank_rank.model_selection import query_train_test_split

    X, y, qid = make_frame()
    for call in (
        lambda: query_train_test_split(X, shuffled(y), qid=qid),
        lambda: query_train_test_split(X, y, qid=shuffled(qid)),
        lambda: list(iter_lists((X, y, shuffled(qid)))),
    ):
        with pytest.raises(ValueError, match="have different indices"):
            call()
    labels = StructuredHingeSequenceClassifier().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="have different indices"):
        labels.predict(X, qid=shuffled(qid))
