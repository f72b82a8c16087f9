"""Ridge by statistics over its floor, X.T @ X of the same X: rows of the benchmark of limits.

``ROWS`` is a table of functions ``row(tiny)`` that return what was timed, the seconds of it, those
of its floor, and the most that their ratio should be. Fits are of a given penalty, `FIXED`, but in
the rows of the search itself.
"""

import tracemalloc
from functools import partial

import numpy as np
from scipy import sparse

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.regression._ridge import linear_scores
from lowrank_rank.regression._statistics import RidgeStatistics

from ._common import best_seconds

REPEATS = 3
FIXED = 0.1  # what a search falls back to


def documents(n_rows, n_features, tiny, length=20, dtype=np.float64, order="C"):
    """Features, grades and ids of lists of one length."""
    rng = np.random.default_rng(0)
    n = 40 * length if tiny else n_rows
    X = np.asarray(rng.standard_normal((n, n_features), dtype=dtype), order=order)
    return X, rng.integers(0, 5, n).astype(float), np.repeat(np.arange(n // length), length)


def over(what, call, floor, bar):
    """Seconds of both, best of alternating calls."""
    best = best_seconds({"ours": call, "floor": floor}, REPEATS)
    return what, best["ours"], best["floor"], bar


def gram(n_rows, n_features, bar, tiny, dtype=np.float64, order="C", grouped=True):
    """Statistics of rows in lists."""
    X, y, qid = documents(n_rows, n_features, tiny, dtype=dtype, order=order)
    ones, codes = np.ones(len(y)), qid if grouped else None
    call = partial(RidgeStatistics.of_batch, X, y[:, np.newaxis], ones, codes)
    what = f"statistics, {X.shape[0]} x {n_features} {np.dtype(dtype).name} {order}"
    return over(what + (", lists" if grouped else ""), call, lambda: X.T @ X, bar)


def auto_penalty(n_rows, n_features, bar, tiny):
    """A search of the penalty over a fit with a given one."""
    X, y, qid = documents(n_rows, n_features, tiny)
    searched, constant = LowRankSurrogateRanker(), LowRankSurrogateRanker(alpha=FIXED)
    calls = [partial(ranker.fit, X, y, qid=qid) for ranker in (searched, constant)]
    return over(f'alpha="auto" over a fit, {X.shape[0]} x {n_features}', *calls, bar)


def missing_patterns(tiny):
    """Fifty items with two patterns of missing labels over one with none."""
    X, y, _ = documents(20_000, 50, tiny)
    targets = np.repeat(y[:, np.newaxis], 50, axis=1)
    gaps = targets.copy()
    gaps[: len(y) // 3, :20] = np.nan
    ones = np.ones(len(y))
    call = partial(RidgeStatistics.of_batch, X, gaps, ones)
    return over(
        "50 items in 2 patterns of NaN",
        call,
        partial(RidgeStatistics.of_batch, X, targets, ones),
        3.0,
    )


def predictions(tiny):
    """190 outputs over a product by BLAS."""
    X, _, _ = documents(20_000, 50, tiny)
    coef = np.random.default_rng(1).normal(size=(190, 50))
    call = partial(linear_scores, X, coef, np.zeros(190))
    return over("predict 190 outputs", call, lambda: X @ coef.T, 2.0)


def sparse_features(tiny):
    """The solver that is chosen over LSQR, 4000 sparse features."""
    n = 500 if tiny else 20_000
    X = sparse.random(n, 4000, density=0.005, format="csr", random_state=0)
    y, qid = np.arange(n) % 3, np.repeat(np.arange(n // 20), 20)
    calls = [
        partial(LowRankSurrogateRanker(solver=solver, alpha=FIXED).fit, X, y, qid=qid)
        for solver in ("auto", "lsqr")
    ]
    return over("solver='auto' over 'lsqr', sparse x 4000", *calls, 1.2)


def memory(tiny, dtype):
    """Peak memory of a fit beside X, in multiples of X ("seconds" are bytes here)."""
    X, y, qid = documents(100_000, 136, tiny, dtype=dtype)
    ranker = LowRankSurrogateRanker(alpha=FIXED)
    tracemalloc.start()
    ranker.fit(X, y, qid=qid)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return f"bytes of a fit over those of X, {np.dtype(dtype).name}", peak, X.nbytes, 0.3


ROWS = {
    "gram float64": partial(gram, 100_000, 136, 2.0),
    "gram float64, 1 group": partial(gram, 100_000, 136, 2.0, grouped=False),
    "gram float32": partial(gram, 100_000, 136, 3.0, dtype=np.float32),
    "gram Fortran order": partial(gram, 100_000, 136, 3.0, order="F"),
    "gram 1000 features": partial(gram, 10_000, 1000, 2.0),
    "missing labels": missing_patterns,
    "predictions": predictions,
    "sparse solver": sparse_features,
    "memory float32": partial(memory, dtype=np.float32),
    "memory float64": partial(memory, dtype=np.float64),
    "auto penalty": partial(auto_penalty, 100_000, 136, 2.5),
    "auto penalty, few rows": partial(auto_penalty, 6_800, 136, 2.5),
}
