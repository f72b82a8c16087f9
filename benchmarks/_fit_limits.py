"""Default fits over the plainest estimator of the same data: rows of the benchmark of limits.

``ROWS`` is a table of functions ``row(tiny)`` that return what was timed, the seconds of it, those
of its floor, and the most that their ratio should be. Seconds are those of this process, best of
alternating calls.
"""

import tracemalloc
from functools import partial
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
)
from lowrank_rank.structured import StructuredHingeRanker

from ._common import best_seconds

REPEATS = 3
FIXED = 0.1  # a penalty that is given


def documents(n_rows, n_features, tiny, length=20, dtype=np.float64, order="C"):
    """Features, grades and ids of lists of one length."""
    rng = np.random.default_rng(0)
    n = 40 * length if tiny else n_rows
    X = rng.standard_normal((n, n_features), dtype=dtype)
    score = X[:, :5].sum(axis=1) + 3.0 * rng.standard_normal(n)
    y = np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9, 0.97])).astype(float)
    return np.asarray(X, order=order), y, np.repeat(np.arange(n // length), length)


def over(what, call, floor, bar):
    """Seconds of both, best of alternating calls."""
    best = best_seconds({"ours": call, "floor": floor}, REPEATS, process_time)
    return what, best["ours"], best["floor"], bar


# Documents ----------------------------------------------------------------------------


def ranker_of_documents(model, n_rows, n_features, bar, tiny, *, length=20, **layout):
    """A default ranker over Ridge on the rows."""
    X, y, qid = documents(n_rows, n_features, tiny, length, **layout)
    what = f"{type(model).__name__} / Ridge, {n_rows} x {n_features}, lists of {length}"
    what += "".join(f", {np.dtype(v).name if k == 'dtype' else v}" for k, v in layout.items())
    return over(what, partial(model.fit, X, y, qid=qid), partial(Ridge().fit, X, y), bar)


def fortran_order(tiny):
    """Fortran order over C order."""
    calls = []
    for order in ("F", "C"):
        X, y, qid = documents(100_000, 136, tiny, order=order)
        calls.append(partial(LowRankSurrogateRanker().fit, X, y, qid=qid))
    return over("Fortran order / C order, 100000 x 136", *calls, 1.6)


def kendall_hinge(tiny):
    """The default hinge over LinearSVC on all pairs of documents that differ in grade."""
    X, y, qid = documents(10_000, 50, tiny, length=10)
    first, second = np.triu_indices(10, 1)
    starts = 10 * np.arange(len(y) // 10)[:, np.newaxis]
    i, j = (starts + first).ravel(), (starts + second).ravel()
    differ = y[i] != y[j]
    i, j = i[differ], j[differ]

    def pairs():
        LinearSVC(loss="hinge", fit_intercept=False).fit(X[i] - X[j], np.sign(y[i] - y[j]))

    ours = partial(StructuredHingeRanker().fit, X, y, qid=qid)
    return over("Kendall hinge / LinearSVC on pairs", ours, pairs, 1.0)


# Fixed items and classes --------------------------------------------------------------


def labels(n_rows, n_features, n_items, tiny):
    """Features and 0 and 1 for each item, one of them at least."""
    rng = np.random.default_rng(0)
    n = 200 if tiny else n_rows
    X = rng.standard_normal((n, n_features))
    z = X @ rng.standard_normal((n_features, n_items)) / 3.0 - 1.5
    Y = (rng.random((n, n_items)) < 1.0 / (1.0 + np.exp(-z))).astype(float)
    Y[np.arange(n), z.argmax(axis=1)] = 1.0
    return X, Y


def items(loss, n_items, tiny):
    """A default ranker of r coordinates over one-vs-rest logistic regression."""
    X, Y = labels(5_000, 50, n_items, tiny)
    ours, peer = LowRankSurrogateRanker(target_loss=loss), OneVsRestClassifier(LogisticRegression())
    what = f"{loss} / one-vs-rest LogisticRegression, {n_items} items"
    return over(what, partial(ours.fit, X, Y), partial(peer.fit, X, Y), 1.2)


def pairs_of_items(n_items, tiny):
    """Pairs of items over a logistic regression for each of them."""
    X, Y = labels(2_000, 30, n_items, tiny)
    y = (Y + np.random.default_rng(1).random(Y.shape)).argsort(axis=1).argsort(axis=1) * 1.0
    i, j = np.triu_indices(n_items, 1)

    def each():
        for a, b in zip(i, j, strict=True):
            LogisticRegression().fit(X, y[:, a] > y[:, b])

    what = f"pairs / LogisticRegression of each, {n_items} items"
    return over(what, partial(PairwiseDAGRanker().fit, X, y), each, 2.0)


def classes(n_classes, kind, tiny):
    """The default classifier over LogisticRegression."""
    X, Y = labels(5_000, 50, n_classes, tiny)
    y = (Y + np.random.default_rng(1).random(Y.shape)).argmax(axis=1)
    X = sparse.csr_matrix(np.where(X > 1.0, X, 0.0)) if kind == "sparse" else X
    what = f"classifier / LogisticRegression, {n_classes} classes, {kind}"
    ours, peer = LowRankSurrogateClassifier(), LogisticRegression(max_iter=1000)
    return over(what, partial(ours.fit, X, y), partial(peer.fit, X, y), 2.5)


def top(kind, tiny):
    """Precision at the top over LogisticRegression."""
    X, _ = labels(20_000, 50, 1, tiny)
    y = (X @ np.ones(50) + np.random.default_rng(1).normal(size=len(X)) > 11.0).astype(int)
    y[:20] = 1
    X = sparse.csr_matrix(np.where(X > 1.0, X, 0.0)) if kind == "sparse" else X
    ours, peer = PrecisionAtKPerceptron(random_state=0), LogisticRegression(max_iter=1000)
    what = f"top / LogisticRegression, {kind}"
    return over(what, partial(ours.fit, X, y), partial(peer.fit, X, y), 4.0)


# Other paths --------------------------------------------------------------------------


def missing_patterns(tiny):
    """Fifty items with two patterns of missing labels over one with none."""
    X, y, _ = documents(20_000, 50, tiny)
    targets = np.repeat(y[:, np.newaxis], 50, axis=1)
    gaps = targets.copy()
    gaps[: len(y) // 3, :20] = np.nan
    model = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge")
    calls = partial(model.fit, X, gaps), partial(model.fit, X, targets)
    return over("50 items in 2 patterns of NaN", *calls, 3.0)


def predictions(tiny):
    """190 outputs over a product by BLAS."""
    X, Y = labels(20_000, 50, 20, tiny)
    model = PairwiseDAGRanker(estimator="ridge").fit(X, Y)
    coef = model.coef_
    return over("predict 190 outputs", lambda: model.predict_surrogate(X), lambda: X @ coef.T, 4.0)


def sparse_features(tiny):
    """The solver that is chosen over Ridge by LSQR, 4000 sparse features."""
    n = 500 if tiny else 20_000
    X = sparse.random(n, 4000, density=0.005, format="csr", random_state=0)
    y, qid = np.arange(n) % 3, np.repeat(np.arange(n // 20), 20)
    calls = partial(LowRankSurrogateRanker().fit, X, y, qid=qid), partial(Ridge().fit, X, y)
    return over("documents / Ridge, 20000 x 4000 sparse", *calls, None)


def memory(tiny, dtype):
    """Peak memory of a fit beside X, in multiples of X ("seconds" are bytes here)."""
    X, y, qid = documents(100_000, 136, tiny, dtype=dtype)
    ranker = LowRankSurrogateRanker()
    tracemalloc.start()
    ranker.fit(X, y, qid=qid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"bytes of a fit over those of X, {np.dtype(dtype).name}", peak, X.nbytes, 0.3


ridge, entropy = LowRankSurrogateRanker(), OrderPreservingRegressor()
ROWS = {
    "documents": partial(ranker_of_documents, ridge, 100_000, 136, 1.5),
    "documents, 10,000 rows": partial(ranker_of_documents, ridge, 10_000, 136, 4.0),
    "documents, 10,001 rows": partial(ranker_of_documents, ridge, 10_020, 136, 4.0),
    "documents, 19 lists": partial(ranker_of_documents, ridge, 10_013, 136, 4.0, length=527),
    "documents, 20 lists": partial(ranker_of_documents, ridge, 10_000, 136, 4.0, length=500),
    "documents, 400 features": partial(ranker_of_documents, ridge, 100_000, 400, 1.5),
    "documents, 410 features": partial(ranker_of_documents, ridge, 100_000, 410, 1.5),
    "documents float32": partial(ranker_of_documents, ridge, 100_000, 136, None, dtype=np.float32),
    "documents Fortran order": fortran_order,
    "documents cross-entropy": partial(ranker_of_documents, entropy, 100_000, 136, 5.0),
    "documents Kendall hinge": kendall_hinge,
    "items ndcg 5": partial(items, "ndcg", 5),
    "items ndcg 20": partial(items, "ndcg", 20),
    "items ndcg 100": partial(items, "ndcg", 100),
    "items precision 20": partial(items, "precision@1", 20),
    "items pairs 10": partial(pairs_of_items, 10),
    "items pairs 20": partial(pairs_of_items, 20),
    "classes 2": partial(classes, 2, "dense"),
    "classes 5": partial(classes, 5, "dense"),
    "classes 20": partial(classes, 20, "dense"),
    "classes 5 sparse": partial(classes, 5, "sparse"),
    "top dense": partial(top, "dense"),
    "top sparse": partial(top, "sparse"),
    "missing labels": missing_patterns,
    "predictions": predictions,
    "sparse solver": sparse_features,
    "memory float32": partial(memory, dtype=np.float32),
    "memory float64": partial(memory, dtype=np.float64),
}
