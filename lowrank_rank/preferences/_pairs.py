"""Pairs of documents of a list, their features, and models g(x, z) of the preference for x over z.

A model is antisymmetric and has two methods. ``average(X)`` is the preference for each
row over the average training row. ``tables(X, rows)``, with rows (m, r), has the
preferences (m, r, r) within m lists of r rows.
"""

import numpy as np
from scipy import sparse

from .._lists import bounded_blocks
from ..fitting._statistics import SecondMoments

MAX_DOCUMENTS = 10_000  # preferences of a longer list would take more than 800 MB

# Fit ------------------------------------------------------------------------------


def pair_moments(features, rows, loss):
    """`SecondMoments` of the features and net preferences of all ordered pairs of each list.

    A pair has the weight ``w_i w_j`` over the total weight of its list. Each row is
    also paired with itself: a row of weight 2 then equals the row twice, whose copies
    are a pair too. `features` of pairs are made in pieces of bounded memory.
    """
    X, y, lists, weights = rows
    counts = lists.lengths**2
    ends = np.cumsum(counts)
    row_order = np.arange(lists.n_rows) if lists.order is None else lists.order
    totals = lists.sum(lists.group(weights))
    totals[totals == 0] = 1.0
    moments = None
    for piece in bounded_blocks(int(ends[-1]), 2 * X.shape[1]):
        number = np.arange(piece.start, piece.stop)
        q = np.searchsorted(ends, number, side="right")
        i, j = divmod(number - (ends - counts)[q], lists.lengths[q])
        first, second = row_order[lists.starts[q] + i], row_order[lists.starts[q] + j]
        table = pair_features(features, X[first], X[second])
        net = loss.net_preference(y[first], y[second])[:, np.newaxis]
        part = SecondMoments.of(
            table, net, weights[first] * (weights[second] / totals[q])
        )
        moments = part if moments is None else moments + part
    return moments


def pair_features(features, a, b):
    """``features(a, b)``, of shape (m, k), for pairs of rows."""
    table = features(a, b)
    if len(np.shape(table)) != 2 or np.shape(table)[0] != a.shape[0]:
        raise ValueError(
            f"pair_features must return one row for each pair, got {np.shape(table)}."
        )
    return (
        table.tocsr() if sparse.issparse(table) else np.asarray(table, dtype=np.float64)
    )


# Models -----------------------------------------------------------------------------


class ScorePairs:
    """Differences of scores, g(x, z) = s(x) - s(z). Sorting by s is the decoder."""

    def __init__(self, model):
        self.model = model

    def average(self, X):
        return self.model.predict(X)[:, 0]

    def tables(self, X, rows):
        s = self.average(X)[rows]
        return s[:, :, np.newaxis] - s[:, np.newaxis, :]


class FeaturePairs:
    """Antisymmetric part, g(x, z) = (h(x, z) - h(z, x)) / 2, of a linear h of pair features."""

    def __init__(self, model, features, mean):
        self.model, self.features, self.mean = model, features, mean

    def average(self, X):
        middle = self.mean[np.newaxis]
        middle = sparse.csr_matrix(middle) if sparse.issparse(X) else middle
        rows = np.arange(X.shape[0])
        return self._preference(X, rows, middle, np.zeros_like(rows))

    def tables(self, X, rows):
        m, r = rows.shape
        i, j = np.triu_indices(r, 1)
        table = np.zeros((m, r, r))
        if len(i) == 0:
            return table
        value = self._preference(X, rows[:, i].ravel(), X, rows[:, j].ravel()).reshape(
            m, -1
        )
        table[:, i, j], table[:, j, i] = value, -value
        return table

    def _preference(self, A, rows_a, B, rows_b):
        """The preference for rows of A over rows of B, in pieces of bounded memory."""
        g = np.empty(len(rows_a))
        for piece in bounded_blocks(len(rows_a), 2 * A.shape[1]):
            a, b = A[rows_a[piece]], B[rows_b[piece]]
            forth, back = (
                pair_features(self.features, a, b),
                pair_features(self.features, b, a),
            )
            h = [self.model.predict(both)[:, 0] for both in (forth, back)]
            g[piece] = (h[0] - h[1]) / 2.0
        return g


def tables_of_lists(model, X, lists):
    """Iterate over lists of one length: their numbers (m,), rows (m, r), preferences (m, r, r)."""
    longest = int(lists.lengths.max())
    if longest > MAX_DOCUMENTS:
        raise ValueError(
            f"A list of {longest} documents has {longest}**2 preferences, too many: decode at "
            f"most {MAX_DOCUMENTS} documents at a time (qid), or rank by predict(X) without qid."
        )
    for members, grouped in lists.same_length:
        rows = grouped if lists.order is None else lists.order[grouped]
        for some in bounded_blocks(len(rows), rows.shape[1] ** 2):
            here = rows[some]
            flat = here.ravel()
            with np.errstate(over="ignore", invalid="ignore"):
                table = model.tables(X[flat], np.arange(len(flat)).reshape(here.shape))
            if not np.all(np.isfinite(table)):
                raise ValueError(
                    "Preferences overflow: scale X as in fit (StandardScaler)."
                )
            yield members[some], here, table
