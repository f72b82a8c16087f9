"""Rows match by position: pandas objects with different indices are refused, never re-aligned."""

import importlib
import inspect
import pkgutil
import re

import numpy as np
import pandas as pd
import pytest

import lowrank_rank
from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.boosting import boosting_metric, boosting_objective
from lowrank_rank.structured import (
    StructuredHingeSequenceClassifier,
)

from .refusals import refused_by


def make_frame():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    y = pd.Series((X["a"] + rng.normal(size=40) > 0).astype(int), name="y")
    return X, y, pd.Series(np.arange(40) // 5, name="qid")


def shuffled(series):
    return series.sample(frac=1.0, random_state=0)


def test_one_index_in_any_order_and_arrays_are_taken():
    X, y, qid = make_frame()
    rows = np.random.default_rng(0).permutation(40)
    model = LowRankSurrogateRanker().fit(X.iloc[rows], y.iloc[rows], qid=qid.iloc[rows])
    with refused_by("different indices"):
        model.fit(X, shuffled(y), qid=qid)
    assert np.isfinite(model.score(X, shuffled(y).to_numpy(), qid=qid))


def test_ids_in_the_index_of_both():
    X, y, qid = make_frame()
    index = pd.MultiIndex.from_arrays([qid, np.arange(40)], names=["qid", "row"])
    X, y = X.set_axis(index), y.set_axis(index)
    model = LowRankSurrogateRanker().fit(X, y)
    assert model.n_lists_ == 8
    with refused_by("different indices"):
        LowRankSurrogateRanker().fit(X, y[::-1])


#: Names of arguments with one entry a row.
ROWS = {
    "X",
    "y",
    "qid",
    "y_true",
    "y_score",
    "y_pred",
    "scores",
    "sample_weight",
    "judge",
    "people",
}
ROWS |= {"clicks", "position", "document", "v", "s", "ranks"}
#: Methods that the package itself calls with grouped arrays, which have no index.
GROUPED = {"evaluate", "newton_values", "row_targets", "values", "values_of_orders"}
GROUPED |= {"values_of_run", "mean_votes", "total_preferences"}
#: Methods that ignore rows, as scikit-learn's.
GROUPED |= {"get_n_splits"}
#: Callables that public functions return.
RETURNED = {
    "scorer": make_ranking_scorer("ndcg@10").score,
    "scorer of several": make_ranking_scorer(["ndcg@10", "map"]).__call__,
    "objective": boosting_objective("cross_entropy").__call__,
    "value of the objective": boosting_objective("cross_entropy").value,
    "metric": boosting_metric("ndcg@10").__call__,
}


def public_objects():
    """Public functions and classes of all public modules by name."""
    modules = [
        m.name for m in pkgutil.iter_modules(lowrank_rank.__path__) if m.name[0] != "_"
    ]
    modules.remove(
        "dask"
    )  # its functions need a cluster: tests/test_dask.py holds them
    for module in [
        lowrank_rank,
        *(importlib.import_module(f"lowrank_rank.{m}") for m in modules),
    ]:
        for name in getattr(module, "__all__", []):
            if callable(getattr(module, name)):
                yield name, getattr(module, name)


def public_calls():
    """Public functions and methods with at least two arguments of rows, by inspection."""
    seen = set()
    for name, owner in public_objects():
        for method in [None] if inspect.isfunction(owner) else dir(owner):
            call = owner if method is None else getattr(owner, method)
            is_other = method in GROUPED or str(method).startswith(("_", "set_"))
            if is_other or not (inspect.isfunction(call) or inspect.ismethod(call)):
                continue
            rows = ROWS & inspect.signature(call).parameters.keys()
            if name == "compare_judged_runs":  # judgements go by ids
                continue
            if len(rows) > 1 and getattr(call, "__func__", call) not in seen:
                seen.add(getattr(call, "__func__", call))
                yield name if method is None else f"{name}.{method}", owner, method


PUBLIC = {name: (owner, method) for name, owner, method in public_calls()}
STEPS = {"solver": "sgd", "alpha": 0.1, "random_state": 0}
PARAMETERS = {
    "LowRankSurrogateClassifier": {"estimator": "ridge"},
    "PrecisionAtKPerceptron": {"random_state": 0},
    "StackingRanker": {"estimators": [("ridge", LowRankSurrogateRanker())]},
    "StructuredHingeClassifier": STEPS,
    "StructuredHingeRanker": STEPS,
    "StructuredHingeSequenceClassifier": STEPS,
    "WrappedRanker": {"estimator": LowRankSurrogateRanker()},
}


def further(name, model, tmp_path):
    """What a function needs besides rows."""
    given = {
        "query_permutation_importance": {"estimator": model},
        "query_learning_curve": {"estimator": LowRankSurrogateRanker(), "cv": 2},
        "dump_letor": {"path": tmp_path / "log.txt"},
        "compare_rankers": {
            "rankers": {"a": np.arange(40.0), "b": -np.arange(40.0)},
            "zero_division": 0.0,
        },
        "measure_score": {"measure": "ndcg"},
        "compare_judged": {"rankers": {"a": np.arange(40.0), "b": -np.arange(40.0)}},
        "judged_mean_intervals": {"judge_unlabelled": np.arange(40.0)},
        "mean_intervals": {"values": np.arange(40.0)},
        "surrogate_loss": {"surrogate": "cross_entropy"},
        "structured_hinge": {"target_loss": "kendall"},
        "precision_surrogate": {"k": 3},
        "precision_margins": {"k": 3},
        "PrecisionAtKDisplay.from_estimator": {"estimator": model},
        "PermutationImportanceDisplay.from_estimator": {"estimator": model},
        "RankerComparisonDisplay.from_estimators": {
            "rankers": {"a": model, "b": model}
        },
        "utilities_from_clicks": {"propensity": 1.0},
        "scorer": {"estimator": model},
        "scorer of several": {"estimator": model},
    }
    boosting = ("objective", "value of the objective", "metric")
    return (given | {one: {"group": [5] * 8} for one in boosting}).get(name, {})


def values_for(name, X, y, qid):
    """Values of all arguments of rows."""
    values = dict.fromkeys(ROWS, X["a"]) | {
        "X": X,
        "qid": qid,
        "sample_weight": abs(X["a"]),
    }
    values |= dict.fromkeys(["y", "y_true", "clicks", "judge", "people", "v"], y)
    values |= {"position": pd.Series(np.arange(40) % 5 + 1)}
    matrix = pd.DataFrame({"i": y, "j": 1 - y, "k": y})
    if name.endswith(".loss"):
        values |= {
            "y": matrix,
            "ranks": pd.DataFrame([[1, 2, 3]] * 40, columns=list("ijk")),
        }
    return values | ({"y": matrix} if "Multilabel" in name else {})


def consumed(result):
    """A result; splits are lazy."""
    return list(result) if inspect.isgenerator(result) else result


def bound(name, X, y, qid):
    """Return a public callable; a method is one of a fitted model."""
    owner, method = PUBLIC[name]
    if method is None:
        return owner
    if isinstance(inspect.getattr_static(owner, method), classmethod):
        return getattr(owner, method)
    instance = owner(**PARAMETERS.get(owner.__name__, {}))
    if hasattr(instance, "fit"):
        takes_qid = "qid" in inspect.signature(instance.fit).parameters
        instance.fit(X, y, **({"qid": qid} if takes_qid else {}))
    return getattr(instance, method)


def assert_refuses_another_index(name, call, given, values):
    parameters = inspect.signature(call).parameters
    rows = [one for one in parameters if one in ROWS]
    if "rankers" in parameters:  # weights are those of queries
        rows = [one for one in rows if one != "sample_weight"]
    given = {one: values[one] for one in rows} | given
    for moved in rows[1:]:
        changed = {**given, moved: shuffled(values[moved])}
        positional = [
            changed.pop(one)
            for one, parameter in parameters.items()
            if one in changed and parameter.kind is parameter.POSITIONAL_ONLY
        ]
        with refused_by("different indices"):
            consumed(call(*positional, **changed))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_function_and_method_refuses_another_index(name, tmp_path):
    X, y, qid = make_frame()
    values = values_for(name, X, y, qid)
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    call = bound(name, X, values["y"], qid)
    assert_refuses_another_index(name, call, further(name, model, tmp_path), values)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RETURNED)
def test_what_public_functions_return_refuses_another_index(name, tmp_path):
    X, y, qid = make_frame()
    given = further(name, LowRankSurrogateRanker().fit(X, y, qid=qid), tmp_path)
    assert_refuses_another_index(
        name, RETURNED[name], given, values_for(name, X, y, qid)
    )


#: Arguments that may be a `ranking_target`.
LABELS = {"y", "y_true", "v"}


def outcome(name, target, tmp_path):
    """Result of a public callable on labels that carry their ids; None for an error."""
    X, y, qid = make_frame()
    values = values_for(name, X, y, qid)
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    call = bound(name, X, values["y"], qid) if name in PUBLIC else RETURNED[name]
    parameters = inspect.signature(call).parameters
    rows = ROWS - {"qid", "sample_weight"}
    given = {one: values[one] for one in parameters if one in rows}
    given |= further(name, model, tmp_path)
    given |= dict.fromkeys(LABELS & given.keys(), target)
    if name == "dump_letor":
        given["qid"] = None
    if "random_state" in parameters:
        given["random_state"] = 0
    positional = []
    for one, parameter in parameters.items():
        if one in given and parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(given.pop(one))
    try:
        result = consumed(call(*positional, **given))
    except (TypeError, ValueError):
        return None
    if hasattr(result, "predict"):
        takes_qid = "qid" in inspect.signature(result.predict).parameters
        result = result.predict(X, **({"qid": qid} if takes_qid else {}))
    written = [path.read_text() for path in tmp_path.glob("*.txt")]
    return re.sub(" at 0x[0-9a-f]+", "", f"{result} {written}")


@pytest.mark.filterwarnings("ignore")
def test_every_public_function_and_method_takes_a_target_with_times(tmp_path):
    """The field "time" changes no result."""
    _, y, qid = make_frame()
    taken = set()
    changed = []
    for name in sorted({**PUBLIC, **RETURNED}):
        call = RETURNED.get(name)
        if call is None:
            owner, method = PUBLIC[name]
            call = owner if method is None else getattr(owner, method)
        if not LABELS & inspect.signature(call).parameters.keys():
            continue
        without = outcome(name, ranking_target(y, qid), tmp_path)
        target = ranking_target(y, qid, time=np.arange(40))
        if without is not None:
            taken.add(name)
            if outcome(name, target, tmp_path) != without:
                changed.append(name)
    assert not changed, changed
    assert len(taken) > 30


def test_the_table_has_methods_class_methods_and_functions_of_theory():
    assert {"surrogate_loss", "structured_hinge", "precision_margins"} < PUBLIC.keys()
    assert {"PrecisionAtKDisplay.from_estimator", "StackingRanker.fit"} < PUBLIC.keys()
    assert len(PUBLIC) > 50


def test_splits_and_blocks_refuse_another_index():
    from lowrank_rank.datasets import iter_lists
    from lowrank_rank.model_selection import query_train_test_split

    X, y, qid = make_frame()
    for call in (
        lambda: query_train_test_split(X, shuffled(y), qid=qid),
        lambda: query_train_test_split(X, y, qid=shuffled(qid)),
        lambda: list(iter_lists((X, y, shuffled(qid)))),
        lambda: list(iter_lists([(X, shuffled(y), qid)])),
        lambda: LowRankSurrogateRanker().fit_blocks([(X, shuffled(y), qid)]),
        lambda: OrderPreservingRegressor().fit_blocks([(X, y, shuffled(qid))]),
    ):
        with refused_by("different indices"):
            call()
    labels = StructuredHingeSequenceClassifier().fit(X, y, qid=qid)
    with refused_by("different indices"):
        labels.predict(X, qid=shuffled(qid))
