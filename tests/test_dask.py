"""Rankers on a Dask cluster: the coefficients of a fit in memory, however the rows are cut."""

import os
import signal
import sys
import threading
import time
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)

pytest.importorskip("distributed")
import dask.array as da
import dask.dataframe as dd
from distributed import Client, LocalCluster

from lowrank_rank.dask import fit, predict, rank, score

from .refusals import refused_by

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
MODELS = [
    (LowRankSurrogateRanker(alpha=0.01), 1e-12),
    (LowRankSurrogateRanker(), 1e-12),
    (OrderPreservingRegressor(tol=1e-12), 1e-8),
    (OrderPreservingRegressor(surrogate="pairwise_squared"), 1e-11),
    (PairwiseDAGRanker(), 1e-11),
]


@pytest.fixture(scope="module")
def client():
    with Client(
        processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"
    ) as one:
        yield one


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(14, (1, 9), n_features=4, random_state=0)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    weights[::7] = 0.0
    return X, y, qid, weights


def same(a, b, tol):
    assert_allclose(a.coef_, b.coef_, rtol=0, atol=tol * np.abs(b.coef_).max())
    assert_allclose(a.intercept_, b.intercept_, rtol=10 * tol, atol=10 * tol)
    assert (a.n_lists_, a.n_features_in_) == (b.n_lists_, b.n_features_in_)


@pytest.mark.parametrize(("model", "tol"), MODELS, ids=repr)
def test_arrays_cut_anywhere_give_the_fit_in_memory(client, documents, model, tol):
    X, y, qid, w = documents
    on = [da.from_array(a, chunks=7) for a in documents]  # lists cut in up to three
    memory = clone(model).fit(X, y, qid=qid, sample_weight=w)
    model = fit(
        clone(model), on[0], on[1], qid=on[2], sample_weight=on[3], client=client
    )
    assert type(model) is type(memory)
    same(model, memory, tol)
    scores = predict(model, on[0])
    assert scores.chunks[0] == on[0].chunks[0]
    assert_allclose(scores.compute(), memory.predict(X), rtol=1e-7, atol=1e-7)
    assert_allclose(model.predict(X), memory.predict(X), rtol=1e-7, atol=1e-7)
    if isinstance(model, PairwiseDAGRanker):
        with refused_by("ranks of whole lists"):
            rank(model, on[0], qid=on[2])
    else:
        assert_array_equal(
            rank(model, on[0], qid=on[2]).compute(), memory.rank(X, qid=qid)
        )
        ranks = rank(model, on[0], one_list=True).compute()
        assert_array_equal(ranks, memory.rank(X, one_list=True))
    found = score(model, on[0], on[1], qid=on[2], sample_weight=on[3])
    assert found == pytest.approx(memory.score(X, y, w, qid=qid), rel=1e-10)


def test_frames_whose_names_are_kept(client, documents):
    X, y, qid, w = documents
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, qid=qid, w=w)
    parts = dd.from_pandas(frame, npartitions=4)
    memory = LowRankSurrogateRanker().fit(
        frame[list("abcd")], y, qid=qid, sample_weight=w
    )
    model = fit(
        LowRankSurrogateRanker(),
        parts[list("abcd")],
        parts["y"],
        qid=parts["qid"],
        sample_weight=parts["w"],
    )
    same(model, memory, 1e-12)
    assert model.feature_names_in_.tolist() == list("abcd")
    predicted = predict(model, parts[list("abcd")]).compute()
    assert_allclose(predicted, memory.predict(frame[list("abcd")]))
    ranks = rank(model, parts[list("abcd")], qid=parts["qid"]).compute()
    assert_array_equal(ranks, memory.rank(frame[list("abcd")], qid=qid))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_columns_of_parquet_files(client, documents, tmp_path):
    """Dask would read the small files of a narrow column together, and those of X one by one."""
    X, y, qid, _ = documents
    names = [f"feature {j}" for j in range(20)]
    wide = np.hstack(
        [X, np.random.default_rng(0).normal(size=(len(y), 20 - X.shape[1]))]
    )
    frame = pd.DataFrame(wide, columns=names).assign(y=y, qid=qid)
    for number, rows in enumerate(np.array_split(np.arange(len(y)), 4)):
        frame.iloc[rows].to_parquet(tmp_path / f"{number}.parquet")
    parts = dd.read_parquet(tmp_path)
    model = fit(LowRankSurrogateRanker(), parts[names], parts["y"], qid=parts["qid"])
    same(model, LowRankSurrogateRanker().fit(frame[names], y, qid=qid), 1e-10)


@pytest.mark.parametrize("names", [int, str])
def test_rows_that_are_not_sorted_are_shuffled_with_a_warning(client, documents, names):
    X, y, qid, w = documents
    by = np.random.default_rng(0).permutation(len(y))
    X, y, qid, w = X[by], y[by], qid[by].astype(names), w[by]
    on = [da.from_array(a, chunks=20) for a in (X, y, qid, w)]
    with pytest.warns(UserWarning, match="not sorted by qid"):
        model = fit(
            LowRankSurrogateRanker(), on[0], on[1], qid=on[2], sample_weight=on[3]
        )
    memory = LowRankSurrogateRanker().fit(X, y, qid=qid, sample_weight=w)
    same(model, memory, 1e-12)
    assert_array_equal(rank(model, on[0], qid=on[2]).compute(), memory.rank(X, qid=qid))


def test_grouped_ids_in_any_order_are_not_shuffled(client, documents):
    X, y, qid, _ = documents
    names = np.random.default_rng(0).permutation(1000)[qid]
    on = [da.from_array(a, chunks=7) for a in (X, y, names)]
    model = fit(LowRankSurrogateRanker(), on[0], on[1], qid=on[2])
    same(model, LowRankSurrogateRanker().fit(X, y, qid=qid), 1e-12)


@pytest.mark.parametrize("plain", [LowRankSurrogateRanker, OrderPreservingRegressor])
def test_items_with_gaps(client, plain):
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    X, y = data.data, data.target.astype(float)
    y[np.random.default_rng(2).random(y.shape) < 0.1] = np.nan
    on = da.from_array(X, chunks=(17, 2)), da.from_array(y, chunks=(17, 3))
    settings = {"target_loss": "dcg"}
    if hasattr(plain(), "estimator"):
        with pytest.raises(ValueError, match="estimator='ridge'"):
            fit(plain(**settings), *on)
        settings["estimator"] = "ridge"
    model = fit(plain(**settings), *on)
    memory = plain(**settings).fit(X, y)
    same(model, memory, 1e-5)
    assert_array_equal(rank(model, on[0]).compute(), memory.rank(X))
    assert score(model, *on) == pytest.approx(memory.score(X, y))


def test_wrong_input_is_refused(client, documents):
    X, y, qid, _ = (da.from_array(a, chunks=20) for a in documents)
    ranker = LowRankSurrogateRanker()
    with refused_by("data that are not of Dask", TypeError):
        fit(ranker, X, documents[1], qid=qid)
    with refused_by("documents of a cluster without qid"):
        fit(ranker, X, y)
    with refused_by("regressor on a cluster"):
        fit(LowRankSurrogateRanker(estimator="trees"), X, y, qid=qid)
    with refused_by("missing labels"):
        fit(ranker, X, y * np.nan, qid=qid)
    assert not hasattr(ranker, "coef_")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
@pytest.mark.skipif(
    not os.environ.get("CI"), reason="takes 20 s: set CI=true, as .ci/run does"
)
def test_a_worker_that_is_lost_changes_nothing(documents):
    """Two processes, one of them killed while L-BFGS is at work."""
    X, y, qid, w = documents
    reference = OrderPreservingRegressor(tol=1e-12).fit(X, y, qid=qid, sample_weight=w)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        on = [da.from_array(a, chunks=20) for a in documents]
        victim = next(iter(client.run(os.getpid).values()))

        def kill():
            time.sleep(0.1)
            os.kill(victim, signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        model = OrderPreservingRegressor(tol=1e-12)
        fit(model, on[0], on[1], qid=on[2], sample_weight=on[3], client=client)
        assert not killer.is_alive()  # it was killed while the fit was at work
        killer.join()
    same(model, reference, 1e-8)


# Classes ------------------------------------------------------------------------------


def rows_of_classes(names):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(130, 4))
    y = np.array(names)[np.argmax(X[:, :3] + 0.3 * rng.normal(size=(130, 3)), axis=1)]
    order = np.argsort(y, kind="stable")  # so that no partition has all classes
    weights = rng.uniform(0.5, 2.0, 130)
    weights[::9] = 0.0
    return X[order], y[order], weights


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "alpha": 0.1,
            "loss_matrix": [[0, 1, 5, 1], [1, 0, 1, 1], [4, 1, 0, 1]],
            "classes": ["blue", "green", "red"],
        },
        {"classes": ["red", "green", "blue"], "alpha": 0.1},
        {"n_components": 1, "alpha": 0.1},
    ],
)
@pytest.mark.parametrize("chunk", [17, 130])
def test_classes_cut_anywhere_give_the_fit_in_memory(client, settings, chunk):
    X, y, w = rows_of_classes(["red", "green", "blue"])
    settings = {"estimator": "ridge", **settings}
    on = [da.from_array(a, chunks=chunk) for a in (X, y, w)]
    model = fit(
        LowRankSurrogateClassifier(**settings), on[0], on[1], sample_weight=on[2]
    )
    ridge = LowRankSurrogateClassifier(**settings)
    memory = ridge.fit(X, y, sample_weight=w)
    assert_allclose(
        model.coef_, memory.coef_, rtol=0, atol=1e-12 * np.abs(memory.coef_).max()
    )
    assert_allclose(model.intercept_, memory.intercept_, rtol=0, atol=1e-12)
    assert_array_equal(model.classes_, memory.classes_)
    assert_array_equal(model.decisions_, memory.decisions_)
    assert_array_equal(predict(model, on[0]).compute(), memory.predict(X))
    assert_array_equal(model.predict(X), memory.predict(X))
    found = score(model, on[0], on[1], sample_weight=on[2])
    assert found == pytest.approx(memory.score(X, y, w), rel=1e-12)
    w[:20] = 0.0  # more than a partition
    on = [da.from_array(a, chunks=chunk) for a in (X, y, w)]
    fit(model, on[0], on[1], sample_weight=on[2])
    memory.fit(X, y, sample_weight=w)
    assert_allclose(
        model.coef_, memory.coef_, rtol=0, atol=1e-12 * np.abs(memory.coef_).max()
    )
    with pytest.raises(ValueError, match="All sample weights are zero"):
        score(model, on[0], on[1], sample_weight=0.0 * on[2])
    assert score(model, on[0], on[1]) == pytest.approx(memory.score(X, y), rel=1e-12)
    assert model.get_params() == LowRankSurrogateClassifier(**settings).get_params()


def test_classes_of_frames_and_names_of_costs(client):
    X, y, _ = rows_of_classes(["red", "green", "blue"])
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y)
    parts = dd.from_pandas(frame, npartitions=4)
    names = ["red", "green", "blue", "black"]  # one that no row has
    costs = pd.DataFrame(1.0 - np.eye(4), index=names, columns=names)
    settings = {"loss_matrix": costs, "estimator": "ridge"}
    model = fit(LowRankSurrogateClassifier(**settings), parts[list("abcd")], parts["y"])
    memory = LowRankSurrogateClassifier(**settings).fit(frame[list("abcd")], y)
    assert_allclose(model.coef_, memory.coef_, atol=1e-12)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert_array_equal(
        predict(model, parts[list("abcd")]).compute(),
        memory.predict(frame[list("abcd")]),
    )


def test_wrong_classes_are_refused_and_nothing_is_fitted(client):
    X, y, w = (
        da.from_array(a, chunks=20) for a in rows_of_classes(["red", "green", "blue"])
    )
    classifier = LowRankSurrogateClassifier(estimator="ridge")
    with refused_by("data that are not of Dask", TypeError):
        fit(classifier, X, rows_of_classes([1, 2, 3])[1])
    with refused_by("regressor on a cluster"):
        fit(LowRankSurrogateClassifier(), X, y)
    with refused_by("label of no class"):
        fit(
            LowRankSurrogateClassifier(estimator="ridge", classes=["red", "green"]),
            X,
            y,
        )
    with refused_by("missing class"):
        fit(classifier, X, w * np.nan)
    assert not hasattr(classifier, "coef_")


@pytest.mark.parametrize(
    "model",
    [
        PrecisionAtKPerceptron(pos_label="red"),
        StructuredHingeBinaryClassifier(pos_label="red"),
    ],
)
def test_measures_of_all_rows_are_no_means_over_partitions(client, model):
    X, y, _ = rows_of_classes(["red", "green", "blue"])
    y = np.where(y == "red", "red", "other")
    model.fit(X, y)
    on = [da.from_array(a, chunks=17) for a in (X, y)]
    predicted = predict(model, on[0])
    assert predicted.dtype == y.dtype
    assert_array_equal(predicted.compute(), model.predict(X))
    with refused_by("score of a cluster"):
        score(model, *on)
    assert np.isfinite(model.score(on[0].compute(), on[1].compute()))
    with refused_by("ranks of classes"):
        rank(model, on[0], one_list=True)


def test_accuracy_is_a_mean_over_partitions(client):
    X, y, w = rows_of_classes(["red", "green", "blue"])
    model = StructuredHingeClassifier().fit(X, y)
    on = [da.from_array(a, chunks=17) for a in (X, y, w)]
    assert_array_equal(predict(model, on[0]).compute(), model.predict(X))
    found = score(model, on[0], on[1], sample_weight=on[2])
    assert found == pytest.approx(model.score(X, y, w), rel=1e-12)


@pytest.mark.parametrize(
    "model",
    [StructuredHingeSequenceClassifier(), LowRankSurrogateMultilabelClassifier()],
)
def test_sequences_and_sets_are_predicted_and_scored_in_memory(client, model):
    X, y, _ = rows_of_classes(["red", "green", "blue"])
    is_sets = isinstance(model, LowRankSurrogateMultilabelClassifier)
    y = (y[:, None] == ["red", "green", "blue"]).astype(int) if is_sets else y
    model.fit(X, y)
    on = [da.from_array(a, chunks=(17, -1)[: a.ndim]) for a in (X, y)]
    with refused_by("sets predicted on a cluster"):
        predict(model, on[0])
    with refused_by("score of a cluster"):
        score(model, *on)


def test_rows_that_do_not_match_are_refused_by_partition(client, documents):
    """Rows dropped from the labels alone, cut elsewhere, or in another order."""
    X, y, qid, w = documents
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, qid=qid, w=w)
    rng = np.random.default_rng(0)
    ranker = LowRankSurrogateRanker()
    whole = dd.from_pandas(frame, npartitions=4)
    fitted = fit(
        LowRankSurrogateRanker(), whole[list("abcd")], whole["y"], qid=whole["qid"]
    )
    for _ in range(int(os.environ.get("N_MISMATCHES", "4"))):
        n = int(rng.integers(2, 6))
        parts = dd.from_pandas(frame, npartitions=n)
        dropped = frame["y"].where(rng.uniform(size=len(frame)) > 0.03)
        if dropped.notna().all():
            continue
        labels = dd.from_pandas(frame.assign(y=dropped), npartitions=n).dropna(
            subset=["y"]
        )
        given = {"y": parts["y"], "qid": parts["qid"], "sample_weight": parts["w"]}
        wrong = rng.choice(["all", *given])
        column = {"y": "y", "qid": "qid", "sample_weight": "w"}
        for name in given:
            if wrong in ("all", name):
                given[name] = labels[column[name]]
        labels_of_rows = given.pop("y")
        with refused_by("rows of a partition"):
            fit(ranker, parts[list("abcd")], labels_of_rows, **given)
        with refused_by("rows of a partition"):
            score(fitted, parts[list("abcd")], labels_of_rows, **given)
    assert not hasattr(ranker, "coef_")
    turned = dd.from_pandas(frame.iloc[::-1], npartitions=4, sort=False)
    with refused_by("different indices"):
        fit(ranker, whole[list("abcd")], turned["y"], qid=turned["qid"])
    short = da.from_array(qid[:-3], chunks=20)
    with refused_by("another number of ids"):
        rank(fitted, whole[list("abcd")], qid=short)
    arrays = da.from_array(X, chunks=20), da.from_array(y, chunks=20)
    with refused_by("rows of a partition"):
        fit(ranker, *arrays, qid=short)


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "lowrank_rank.dask")
    with pytest.raises(ImportError, match=r'pip install "lowrank_rank\[dask\]"'):
        import_module("lowrank_rank.dask")


@pytest.mark.parametrize("share_unknown", [0.0, 0.4])
def test_generalised_cross_validation_of_partitions(client, share_unknown):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 6))
    y = np.maximum(
        X @ rng.normal(size=(6, 4)) + 3.0 * rng.normal(size=(120, 4)) + 9.0, 0.0
    )
    y[rng.random(y.shape) < share_unknown] = np.nan
    settings = {"target_loss": "dcg", "estimator": "ridge", "alpha": "gcv"}
    on = [da.from_array(a, chunks=(50, a.shape[1])) for a in (X, y)]
    model = fit(LowRankSurrogateRanker(**settings), *on, client=client)
    memory = LowRankSurrogateRanker(**settings).fit(X, y)
    assert model.alpha_ == memory.alpha_
    same(model, memory, 1e-12)
