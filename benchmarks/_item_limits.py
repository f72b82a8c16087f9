"""Fits of fixed items over the plainest estimator of each: rows of the benchmark of limits.

``ROWS`` is a table as in `_fit_limits`.
"""

from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor

from ._fit_limits import labels, over


def fractional(n_items, tiny):
    """Fractional logistic regression over one-vs-rest logistic regression."""
    X, Y = labels(5_000, 50, n_items, tiny)
    ours = LowRankSurrogateRanker(target_loss="ndcg", estimator="logistic")
    peer = OneVsRestClassifier(LogisticRegression())
    what = f"fractional / one-vs-rest LogisticRegression, {n_items} labels"
    return over(what, partial(ours.fit, X, Y), partial(peer.fit, X, Y), 0.6)


def rare_labels(tiny):
    """An order-preserving surrogate of 1,000 labels, five a row, some of them rare, over Ridge."""
    rng = np.random.default_rng(0)
    n, n_items = (200, 20) if tiny else (2_000, 1_000)
    X = rng.standard_normal((n, 50))
    z = X @ rng.standard_normal((50, n_items)) + 5.0 * rng.gumbel(size=(n, n_items))
    z -= 3.0 * np.log(np.arange(1, n_items + 1))
    Y = (z >= np.sort(z, axis=1)[:, [-5]]).astype(float)
    Y[np.arange(n_items), np.arange(n_items)] = 1.0  # no label without a row
    calls = partial(OrderPreservingRegressor().fit, X, Y), partial(Ridge().fit, X, Y)
    return over(f"OrderPreservingRegressor / Ridge, {n_items} labels", *calls, 250.0)


ROWS = {
    **{f"items fractional {n}": partial(fractional, n) for n in (5, 20, 100, 200)},
    "items rare labels": rare_labels,
}
