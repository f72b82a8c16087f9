"""Trees and stacks on a Dask cluster: LightGBM trains them where the rows are."""

import os
import signal
import threading
import time
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.datasets import make_ranking

pytest.importorskip("lightgbm")
pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
import lightgbm
from dask import delayed
from distributed import Client, LocalCluster

from lowrank_rank.dask import fit, predict, rank, score

from .refusals import refused_by

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
X, Y, QID = make_ranking(60, 10, n_features=6, random_state=0)
WEIGHTS = np.random.default_rng(1).integers(0, 4, 60)[QID].astype(float)
NAMES = list("abcdef")
# LightGBM takes derivatives as float32, and their last bit differs by processor and
# by the partition of a row.
FLOAT32 = {"rtol": 1e-5, "atol": 1e-6}


def booster(objective="lambdarank", **settings):
    settings = {"n_estimators": 8, "n_jobs": 1, "verbose": -1, **settings}
    return lightgbm.LGBMRanker(objective=objective, **settings)


def trees(loss, **settings):
    objective = boosting_objective(loss)
    return WrappedRanker(booster(objective, metric="None", **settings))


def on(*arrays, chunks=77):  # cuts lists of ten rows
    return [da.from_array(a, chunks=(chunks, *a.shape[1:])) for a in arrays]


@pytest.fixture(scope="module")
def client():
    with Client(
        processes=False,
        n_workers=1,
        threads_per_worker=1,
        dashboard_address=":0",
        set_as_default=False,
    ) as one:
        yield one


# Trees ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "weights"),
    [
        (trees("lambdarank"), WEIGHTS),
        (trees("pairwise_squared"), WEIGHTS),
        (trees("pointwise_logistic"), None),
        (WrappedRanker(booster(), relevance_threshold=2.0), None),
        (WrappedRanker(booster(), relevance_threshold=2.0), WEIGHTS),
    ],
    ids=["lambdarank", "pairwise_squared", "pointwise_logistic", "own", "own weighted"],
)
def test_one_worker_grows_the_trees_of_a_fit_in_memory(client, model, weights):
    memory = clone(model).fit(X, Y, qid=QID, sample_weight=weights)
    X_parts, y, qid = on(X, Y, QID)
    w = None if weights is None else on(weights)[0]
    found = fit(clone(model), X_parts, y, qid=qid, sample_weight=w, client=client)
    assert type(found) is WrappedRanker
    assert type(found.estimator_) is lightgbm.LGBMRanker
    assert_allclose(found.predict(X), memory.predict(X), **FLOAT32)
    assert found.n_lists_ == memory.n_lists_
    assert found.n_features_in_ == 6
    settings = {name: repr(v) for name, v in found.estimator_.get_params().items()}
    for name, value in memory.estimator_.get_params().items():
        assert settings[name] == repr(value)
    with client.as_current():
        assert_allclose(predict(found, X_parts).compute(), found.predict(X))
        ranks = rank(found, X_parts, qid=qid, client=client).compute()
    assert_array_equal(ranks, memory.rank(X, qid=QID))
    value = score(found, X_parts, y, qid=qid, sample_weight=w, client=client)
    assert value == pytest.approx(memory.score(X, Y, weights, qid=QID))


def test_two_workers_grow_the_same_trees_in_every_run():
    order = np.argsort(-Y.reshape(60, 10).sum(axis=1), kind="stable")
    rows = (10 * order[:, np.newaxis] + np.arange(10)).ravel()  # the best lists first
    X_parts, y, qid = on(X[rows], Y[rows], np.repeat(np.arange(60), 10))
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as two,
    ):
        for loss in ("lambdarank", "pairwise_squared"):
            models = [
                fit(trees(loss), X_parts, y, qid=qid, client=two) for _ in range(3)
            ]
            scores = [model.predict(X) for model in models]
            assert_array_equal(scores[1:], [scores[0]] * 2)
            memory = trees(loss).fit(X, Y, qid=QID)
            assert models[0].score(X, Y, qid=QID) == pytest.approx(
                memory.score(X, Y, qid=QID), abs=0.06
            )


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.skipif(
    not os.environ.get("CI"), reason="takes 20 s: set CI=true, as .ci/run does"
)
def test_a_worker_that_is_lost_is_an_error_and_a_new_fit_works():
    """A stack of trees: the error names the worker, and the model is as before."""
    X_parts, y, qid = on(X, Y, QID)
    parts = [(loss, trees(loss)) for loss in ("lambdarank", "pairwise_squared")]
    model = fit_before = StackingRanker(parts).fit(X, Y, qid=QID)
    before = model.predict(X)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster, set_as_default=False) as two,
    ):
        address, victim = next(iter(two.run(os.getpid).items()))
        fit(trees("lambdarank"), X_parts, y, qid=qid, client=two)  # all is loaded
        killed = []

        def kill():
            time.sleep(2.0)
            os.kill(victim, signal.SIGKILL)
            killed.append(time.monotonic())

        killer = threading.Thread(target=kill)
        killer.start()
        model.set_params(lambdarank__estimator__n_estimators=1_000_000)
        with pytest.raises(RuntimeError, match=f"{address} was lost.* is unchanged"):
            fit(model, X_parts, y, qid=qid, client=two)
        assert time.monotonic() - killed[0] < 30  # also on a busy machine
        killer.join()
        assert model is fit_before
        assert_array_equal(model.predict(X), before)
        two.wait_for_workers(2, timeout=60)
        model.set_params(lambdarank__estimator__n_estimators=8)
        fit(model, X_parts, y, qid=qid, client=two)
        assert model.score(X, Y, qid=QID) > 0.8


def test_a_quiet_fit_leaves_the_output_of_other_threads_alone(client, capsys):
    X_parts, y, qid = on(X, Y, QID)
    is_fitted = threading.Event()
    n_lines = []

    def say():
        while not is_fitted.is_set():
            n_lines.append(len(n_lines))
            print("line", n_lines[-1])
            time.sleep(0.002)

    other = threading.Thread(target=say)
    other.start()
    fit(trees("lambdarank"), X_parts, y, qid=qid, client=client)
    is_fitted.set()
    other.join()
    lines = capsys.readouterr().out.split("\n")
    # Another line may end before or after LightGBM's.
    assert [line for line in lines if line] == [f"line {i}" for i in n_lines]
    assert len(n_lines) > 3


def test_grades_that_lightgbm_itself_refuses(client):
    """Fractions and grades above 30, under a loss of this package."""
    grades = 12.5 * Y
    assert grades.max() > 30
    X_parts, y, qid = on(X, grades, QID)
    found = fit(trees("pairwise_squared"), X_parts, y, qid=qid, client=client)
    memory = trees("pairwise_squared").fit(X, grades, qid=QID)
    assert_allclose(found.predict(X), memory.predict(X), **FLOAT32)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_blocks(client, kind):
    X_of_zeros = np.where(X > 0.5, X, 0.0)
    X_parts, y, qid = on(X_of_zeros, Y, QID)
    found = fit(
        trees("lambdarank"), X_parts.map_blocks(kind), y, qid=qid, client=client
    )
    memory = trees("lambdarank").fit(sparse.csr_matrix(X_of_zeros), Y, qid=QID)
    assert_allclose(
        found.predict(sparse.csr_matrix(X_of_zeros)),
        memory.predict(sparse.csr_matrix(X_of_zeros)),
        **FLOAT32,
    )


# Frames -----------------------------------------------------------------------------


def frame_of_rows():
    frame = pd.DataFrame(X, columns=NAMES).assign(y=Y, qid=QID)
    labels = ["low", "middle", "high"]
    frame["a"] = pd.cut(frame["a"], 3, labels=labels, ordered=False)
    return frame


def test_frames_with_categories(client):
    frame = frame_of_rows()
    memory = trees("lambdarank").fit(frame[NAMES], Y, qid=QID)
    parts = dd.from_pandas(frame, npartitions=4)
    found = fit(
        trees("lambdarank"), parts[NAMES], parts["y"], qid=parts["qid"], client=client
    )
    assert found.feature_names_in_.tolist() == NAMES
    assert_allclose(
        found.predict(frame[NAMES]), memory.predict(frame[NAMES]), **FLOAT32
    )


def test_categories_that_differ_between_partitions_are_refused(client):
    frame = frame_of_rows()
    halves = frame[:300].copy(), frame[300:].copy()
    for half in halves:
        half["a"] = half["a"].astype(str).astype("category")
        half.loc[half.index[:3], "a"] = None
    halves[1]["a"] = halves[1]["a"].cat.rename_categories({"low": "least"})
    unknown = dd.from_pandas(halves[0], npartitions=1)
    unknown["a"] = unknown["a"].cat.as_unknown()
    parts = dd.from_delayed([delayed(half) for half in halves], meta=unknown._meta)
    model = trees("lambdarank")
    with refused_by("categories of partitions"):
        fit(model, parts[NAMES], parts["y"], qid=parts["qid"], client=client)
    assert not hasattr(model, "estimator_")
    with client.as_current():
        known = parts.categorize(["a"])
        fit(model, known[NAMES], known["y"], qid=known["qid"], client=client)
    whole = known.compute()
    memory = trees("lambdarank").fit(whole[NAMES], whole["y"], qid=whole["qid"])
    assert_allclose(
        model.predict(whole[NAMES]), memory.predict(whole[NAMES]), **FLOAT32
    )


def test_columns_of_parquet_files(client, tmp_path):
    names = [f"x{j}" for j in range(20)]
    wide = np.hstack([X, np.random.default_rng(0).normal(size=(len(Y), 14))])
    frame = pd.DataFrame(wide, columns=names).assign(y=Y, qid=QID)
    sizes = [0, 7, 95, 480, 600]  # very unequal
    for number, (first, last) in enumerate(pairwise(sizes)):
        frame.iloc[first:last].to_parquet(tmp_path / f"{number}.parquet")
    parts = dd.read_parquet(tmp_path)
    found = fit(
        trees("lambdarank"), parts[names], parts["y"], qid=parts["qid"], client=client
    )
    memory = trees("lambdarank").fit(frame[names], Y, qid=QID)
    assert_allclose(
        found.predict(frame[names]), memory.predict(frame[names]), **FLOAT32
    )


# Stacks -----------------------------------------------------------------------------

TREES = [("lambdarank", trees("lambdarank")), ("squares", trees("pairwise_squared"))]
LINEAR = [("a", OrderPreservingRegressor()), ("b", LowRankSurrogateRanker())]


@pytest.mark.parametrize(
    ("stack", "weights"),
    [
        (StackingRanker(TREES), None),
        (StackingRanker([*LINEAR, TREES[0]], target_loss="mrr", cv=2), WEIGHTS),
        (StackingRanker([("a", LINEAR[1][1]), ("b", booster())], cv=3), WEIGHTS),
        (StackingRanker(LINEAR, weights={"a": 1.0, "b": 0.0}), WEIGHTS),
    ],
    ids=["two losses", "three parts", "folds", "given weights"],
)
def test_a_stack_has_the_weights_and_parts_of_a_fit_in_memory(client, stack, weights):
    memory = clone(stack).fit(X, Y, qid=QID, sample_weight=weights)
    X_parts, y, qid = on(X, Y, QID)
    w = None if weights is None else on(weights)[0]
    found = fit(clone(stack), X_parts, y, qid=qid, sample_weight=w, client=client)
    assert found.weights_ == pytest.approx(memory.weights_)
    assert found.named_estimators_.keys() == memory.named_estimators_.keys()
    assert found.n_lists_ == memory.n_lists_
    assert_allclose(found.predict(X), memory.predict(X), **FLOAT32)
    if stack.weights is None:
        assert_allclose(found.scores_.scores, memory.scores_.scores)
        kept = StackingRanker(stack.estimators, weights=found.weights_)
        fit(kept, X_parts, y, qid=qid, sample_weight=w, client=client)
        assert_allclose(kept.predict(X), found.predict(X))
    else:
        assert found.scores_ is None


# What is refused --------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRanker(target_loss="ndcg@5"),
        StackingRanker(),
        StackingRanker([("trees", HistGradientBoostingRanker())], target_loss="mrr"),
    ],
    ids=repr,
)
def test_trees_in_memory_are_refused_with_lines_that_run(client, model):
    X_parts, y, qid = on(X, Y, QID)
    with refused_by("trees on a cluster") as error:
        fit(model, X_parts, y, qid=qid, client=client)
    [lines] = error.value.remedies
    names: dict = {}
    exec(lines, names)
    few = {name: 8 for name in names["model"].get_params() if "n_estimators" in name}
    assert few
    found = fit(names["model"].set_params(**few), X_parts, y, qid=qid, client=client)
    assert found.score(X, Y, qid=QID) > 0.8


class XGBRanker(Ridge):
    """A stand-in with the name of another library's class."""


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (WrappedRanker(XGBRanker()), "takes LGBMRanker, got XGBRanker"),
        (WrappedRanker(lightgbm.LGBMRegressor()), "got LGBMRegressor"),
        (
            clone(trees("lambdarank")).set_params(early_stopping=True),
            "early_stopping=False",
        ),
        (StackingRanker([("x", Ridge())]), "The part 'x' of StackingRanker: .* Ridge"),
        (StackingRanker(LINEAR, cv=[([0], [1])]), "must be a number or None"),
        (PrecisionAtKPerceptron(), "fits rows in memory"),
        (LowRankSurrogateRanker(estimator="trees"), "estimator='ridge'"),
    ],
)
def test_models_of_one_machine_are_refused(client, model, message):
    X_parts, y, qid = on(X, Y, QID)
    with pytest.raises(ValueError, match=message):
        fit(model, X_parts, y, qid=qid, client=client)


def test_wrong_rows_are_refused_and_the_model_is_unchanged(client):
    X_parts, y, qid = on(X, Y, QID)
    model = trees("lambdarank").fit(X, Y, qid=QID)
    before = model.predict(X)
    with refused_by("missing labels"):
        fit(model, X_parts, on(np.where(Y > 3, np.nan, Y))[0], qid=qid, client=client)
    with refused_by("documents of a cluster without qid"):
        fit(model, X_parts, y, client=client)
    with refused_by("ids beside a matrix"):
        fit(model, X_parts, on(np.column_stack([Y, Y]))[0], qid=qid, client=client)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        fit(model, X_parts, y, qid=qid, sample_weight=0.0 * y, client=client)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        fit(
            StackingRanker(TREES),
            X_parts,
            y,
            qid=qid,
            sample_weight=0.0 * y,
            client=client,
        )
    two_lists = on(X[:20], Y[:20], QID[:20])
    with refused_by("fewer lists than folds"):
        fit(StackingRanker(TREES), *two_lists[:2], qid=two_lists[2], client=client)
    frame = frame_of_rows().assign(a="word")
    parts = dd.from_pandas(frame, npartitions=3)
    with pytest.raises(ValueError, match=r"(?s)dtypes.* a"):
        fit(model, parts[NAMES], parts["y"], qid=parts["qid"], client=client)
    assert_array_equal(model.predict(X), before)
