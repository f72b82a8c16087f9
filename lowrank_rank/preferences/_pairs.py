"""Pairs of documents of a list, their features, and models g(x, z) of the preference for x over z.

A model is antisymmetric and has two methods. ``average(X)`` is the preference for each row over the
average training row. ``tables(X, rows)``, with rows (m, r), has the preferences (m, r, r) within m
lists of r rows.
"""

import numpy as np
from scipy import sparse
from sklearn.utils.random import sample_without_replacement

from .._arrays import check_size
from .._lists import batches

MAX_DOCUMENTS = 10_000  # preferences of a longer list would take more than 800 MB

# Pairs ------------------------------------------------------------------------------


def pairs_within(lists, y, weights, loss, factors, max_pairs, rng):
    """All pairs of each list, or a uniform sample with weights scaled up to the total.

    Parameters
    ----------
    lists : RankingLists
    y, weights : ndarray of shape (n_rows,)
        In the order of the rows; weights > 0.
    loss : PairwiseDisagreement
    factors : ndarray of shape (n_lists,)
        The pair i, j has the weight ``w_i w_j`` times the factor of its list.
    max_pairs : int or None
    rng : RandomState

    Returns
    -------
    first, second : ndarray of int, shape (m,)
        Rows of X; each unordered pair comes once.
    targets : ndarray of shape (m,)
        Net preference for the first.
    pair_weights : ndarray of shape (m,)
    n_all : int
        Number of pairs before any sampling.
    """
    counts = lists.lengths * (lists.lengths - 1) // 2
    ends = np.cumsum(counts)
    total = int(ends[-1])
    if max_pairs is None or total <= max_pairs:
        code = np.arange(total)
    else:
        code = np.sort(sample_without_replacement(total, max_pairs, random_state=rng))
    index = np.searchsorted(ends, code, side="right")
    i, j = pair_of_code(code - (ends - counts)[index])
    rows = np.arange(lists.n_rows) if lists.order is None else lists.order
    first, second = rows[lists.starts[index] + i], rows[lists.starts[index] + j]
    scale = total / max(len(code), 1)
    pair_weights = weights[first] * weights[second] * factors[index] * scale
    return first, second, loss.net_preference(y[first], y[second]), pair_weights, total


def pair_of_code(code):
    """The pair i < j with code ``j (j-1) / 2 + i``."""
    j = ((1.0 + np.sqrt(1.0 + 8.0 * code)) / 2.0).astype(np.intp)
    j -= j * (j - 1) // 2 > code  # rounding may give a root too large, or too small
    j += (j + 1) * j // 2 <= code
    return code - j * (j - 1) // 2, j


# Features ---------------------------------------------------------------------------


#: Features of a pair of rows, by name.
PAIR_FEATURES = {
    "difference": lambda a, b: a - b,
    "concatenation": lambda a, b: (
        sparse.hstack([a, b], format="csr") if sparse.issparse(a) else np.hstack([a, b])
    ),
}


def pair_features(kind, a, b):
    """Features (m, k) of pairs of rows; `kind` is a name or a function."""
    if not callable(kind):
        return PAIR_FEATURES[kind](a, b)
    features = kind(a, b)
    shape = np.shape(features)
    if len(shape) != 2 or shape[0] != a.shape[0]:
        raise ValueError(
            f"pair_features must return an array of shape ({a.shape[0]}, n), one row for each "
            f"pair, got shape {shape}."
        )
    return features


# Models -----------------------------------------------------------------------------


class ScorePairs:
    """Differences of scores, g(x, z) = s(x) - s(z). Sorting by s is the decoder."""

    def __init__(self, model):
        self.model = model  # LinearModel or RegressorModel

    def average(self, X):
        return self.model.predict(X)[:, 0]

    def tables(self, X, rows):
        s = self.average(X)[rows]
        return s[:, :, np.newaxis] - s[:, np.newaxis, :]


class RegressorPairs:
    """Antisymmetric part, g(x, z) = (h(x, z) - h(z, x)) / 2, of a regressor h of pair features."""

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
        value = self._preference(X, rows[:, i].ravel(), X, rows[:, j].ravel()).reshape(m, -1)
        table[:, i, j], table[:, j, i] = value, -value
        return table

    def _preference(self, A, rows_a, B, rows_b):
        """The preference for rows of A over rows of B, in pieces of bounded memory."""
        g = np.empty(len(rows_a))
        for piece in batches(len(rows_a), 2 * A.shape[1]):
            a, b = A[rows_a[piece]], B[rows_b[piece]]
            forth, back = pair_features(self.features, a, b), pair_features(self.features, b, a)
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
        for some in batches(len(rows), rows.shape[1] ** 2):
            here = rows[some]
            flat = here.ravel()
            with np.errstate(over="ignore", invalid="ignore"):
                table = model.tables(X[flat], np.arange(len(flat)).reshape(here.shape))
            if not np.all(np.isfinite(table)):
                raise ValueError(
                    "The preferences between rows of X overflow: its features are too large for "
                    "the coefficients. Scale X as in fit."
                )
            yield members[some], here, table


# Fits -------------------------------------------------------------------------------


def both_ways(kind, X, first, second, targets, weights, own_weights):
    """Features (m, k), targets (m, 1) and weights (m,) of both directions of pairs of rows.

    Rows against themselves, with target 0 and `own_weights`, make a row of weight 2 equal to the
    row twice: its copies are a pair too. Features are made in pieces: there is no second copy of
    all of them.
    """
    rows = np.arange(X.shape[0])
    first, second = np.concatenate([first, second, rows]), np.concatenate([second, first, rows])
    targets = np.concatenate([targets, -targets, np.zeros(len(rows))])[:, np.newaxis]
    weights = np.concatenate([weights, weights, own_weights])
    pieces = batches(len(first), 2 * X.shape[1])
    start = pair_features(kind, X[first[pieces[0]]], X[second[pieces[0]]])
    if sparse.issparse(start):
        parts = [pair_features(kind, X[first[piece]], X[second[piece]]) for piece in pieces]
        return sparse.vstack(parts, format="csr"), targets, weights
    what = f"{start.shape[1]} features of {len(first)} ordered pairs"
    check_size(what, 8 * len(first) * start.shape[1], "set a smaller max_pairs")
    features = np.empty((len(first), start.shape[1]))
    for piece in pieces:
        features[piece] = pair_features(kind, X[first[piece]], X[second[piece]])
    return features, targets, weights
