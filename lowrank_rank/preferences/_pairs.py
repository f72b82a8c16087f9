"""Pairs of documents of a list, their features, and models of preferences.

A model g(x, z) of the preference for x over z is antisymmetric and has two methods.
``average(X)`` is the preference for each row over the average training row.
``tables(X, rows)``, with rows (m, r), has the preferences (m, r, r) within m lists of r
rows.
"""

import numpy as np
from scipy import sparse

from ..fitting._statistics import SecondMoments
from ..lists._lists import bounded_blocks
from ..validation._check import refuse
from ..validation._checks_of_preferences import CHECKS_OF_PAIRS_OF_DOCUMENTS

MAX_DOCUMENTS = 10_000  # preferences of a longer list would take more than 800 MB

# Fit ------------------------------------------------------------------------------


def pair_moments(features, rows, loss):
    """Return `SecondMoments` of features and net preferences of all ordered pairs.

    A pair has the weight ``w_i w_j`` over the total weight of its list. Each row is
    also paired with itself: a row of weight 2 then equals the row twice, whose copies
    are a pair too. `features` of pairs are made in pieces of bounded memory.
    """
    X, y, lists, weights = rows
    n_pairs = lists.lengths**2
    ends = np.cumsum(n_pairs)
    starts = ends - n_pairs
    row_order = np.arange(lists.n_rows) if lists.order is None else lists.order
    totals = lists.sum(lists.group(weights))
    totals[totals == 0] = 1.0
    moments = None
    for block in bounded_blocks(int(ends[-1]), 2 * X.shape[1]):
        # Pair number s_q + i r_q + j is of the rows i and j of list q, whose pairs
        # begin at s_q and which has r_q rows.
        pairs = np.arange(block.start, block.stop)
        q = np.searchsorted(ends, pairs, side="right")
        i, j = divmod(pairs - starts[q], lists.lengths[q])
        first = row_order[lists.starts[q] + i]
        second = row_order[lists.starts[q] + j]
        moments_of_block = SecondMoments.of(
            pair_features(features, X[first], X[second]),
            loss.net_preference(y[first], y[second])[:, np.newaxis],
            weights[first] * (weights[second] / totals[q]),
        )
        moments = moments_of_block if moments is None else moments + moments_of_block
    return moments


def pair_features(features, a, b):
    """Return ``features(a, b)`` of pairs of rows, shape (m, k)."""
    table = features(a, b)
    if len(np.shape(table)) != 2 or np.shape(table)[0] != a.shape[0]:
        raise ValueError(
            f"pair_features must return one row for each pair, got {np.shape(table)}."
        )
    if sparse.issparse(table):
        return table.tocsr()
    return np.asarray(table, dtype=np.float64)


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
    """The antisymmetric part of a linear function h of pair features.

    ``g(x, z) = (h(x, z) - h(z, x)) / 2``.
    """

    def __init__(self, model, features, mean):
        self.model = model
        self.features = features
        self.mean = mean

    def average(self, X):
        mean_row = self.mean[np.newaxis]
        if sparse.issparse(X):
            mean_row = sparse.csr_matrix(mean_row)
        rows = np.arange(X.shape[0])
        return self._preference(X, rows, mean_row, np.zeros_like(rows))

    def tables(self, X, rows):
        m, r = rows.shape
        i, j = np.triu_indices(r, 1)
        table = np.zeros((m, r, r))
        if len(i) == 0:
            return table
        g = self._preference(X, rows[:, i].ravel(), X, rows[:, j].ravel())
        g = g.reshape(m, -1)
        table[:, i, j] = g
        table[:, j, i] = -g
        return table

    def _preference(self, A, rows_a, B, rows_b):
        """Return the preference for rows of A over rows of B, block by block."""
        g = np.empty(len(rows_a))
        for block in bounded_blocks(len(rows_a), 2 * A.shape[1]):
            a = A[rows_a[block]]
            b = B[rows_b[block]]
            h = self.model.predict(pair_features(self.features, a, b))[:, 0]
            h_reversed = self.model.predict(pair_features(self.features, b, a))[:, 0]
            g[block] = (h - h_reversed) / 2.0
        return g


def tables_of_lists(model, X, lists):
    """Iterate over blocks of lists of one length.

    Yields
    ------
    members : ndarray of shape (m,)
        Numbers of the lists.
    rows : ndarray of shape (m, r)
        Rows of the lists.
    preferences : ndarray of shape (m, r, r)
    """
    refuse(CHECKS_OF_PAIRS_OF_DOCUMENTS, lists=lists, most=MAX_DOCUMENTS)
    for members, grouped in lists.same_length:
        rows = grouped if lists.order is None else lists.order[grouped]
        for block in bounded_blocks(len(rows), rows.shape[1] ** 2):
            rows_of_block = rows[block]
            flat = rows_of_block.ravel()
            places = np.arange(len(flat)).reshape(rows_of_block.shape)
            with np.errstate(over="ignore", invalid="ignore"):
                preferences = model.tables(X[flat], places)
            if not np.all(np.isfinite(preferences)):
                raise ValueError(
                    "Preferences overflow: scale X as in fit (StandardScaler)."
                )
            yield members[block], rows_of_block, preferences
