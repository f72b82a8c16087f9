"""Antisymmetric models g(x, z) of the preference for one document over another, and their fits.

Each model has ``average(X)``, its preference for each row over the average training row, and
``tables(X, rows)``: with rows (m, r), the preferences (m, r, r) inside m lists of r rows.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._lists import batches
from ..regression._ridge import LinearModel
from ..regression._statistics import SecondMoments
from ._pairs import pair_features

MAX_DOCUMENTS = 10_000  # of a list: 800 MB of preferences
_MAX_ENTRIES = 10**9  # of pair features to fit on, 8 GB
_NUMBERS_AT_ONCE = 2**23  # entries of pair features that are held at the same time


class ScorePairs(NamedTuple):
    """g(x, z) = s(x) - s(z): no cycles, and sorting by s decodes it."""

    model: Any  # LinearModel or RegressorModel, with predict(X), (n, 1)

    def average(self, X):
        return self.model.predict(X)[:, 0]

    def tables(self, X, rows):
        s = self.average(X)[rows]
        return s[:, :, np.newaxis] - s[:, np.newaxis, :]


class RegressorPairs(NamedTuple):
    """g(x, z) = (h(x, z) - h(z, x)) / 2 of any regressor h on the features of a pair."""

    model: Any  # LinearModel or RegressorModel
    features: Any
    mean: np.ndarray

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
        """g of the rows of A over those of B, gathered in pieces."""
        g = np.empty(len(rows_a))
        for piece in batches(len(rows_a), 2 * A.shape[1], _NUMBERS_AT_ONCE):
            a, b = A[rows_a[piece]], B[rows_b[piece]]
            forth, back = pair_features(self.features, a, b), pair_features(self.features, b, a)
            h = [self.model.predict(both)[:, 0] for both in (forth, back)]
            g[piece] = (h[0] - h[1]) / 2.0
        return g


def tables_of_lists(model, X, lists):
    """Preference matrices (m, r, r) and rows (m, r) of X, lists of one length at a time."""
    longest = int(lists.lengths.max())
    if longest > MAX_DOCUMENTS:
        raise ValueError(
            f"A list of {longest} documents has {longest}**2 preferences, more than fit: decode at "
            f"most {MAX_DOCUMENTS} documents at a time (qid), or rank by predict(X) without qid."
        )
    for _, grouped in lists.same_length:
        rows = grouped if lists.order is None else lists.order[grouped]
        for some in batches(len(rows), rows.shape[1] ** 2):
            here = rows[some]
            flat = here.ravel()
            with np.errstate(over="ignore", invalid="ignore"):
                table = model.tables(X[flat], np.arange(len(flat)).reshape(here.shape))
            if not np.all(np.isfinite(table)):
                raise ValueError(
                    "The preferences between rows of X overflow: its features are too large for "
                    "the coefficients. Bring X to the scale of the rows in fit."
                )
            yield table, here


# Fits -------------------------------------------------------------------------------


def fit_regressor_pairs(regression, X, mean, pairs, own_weights, kind, alpha):
    """`RegressorPairs` of the regression's estimator, or of ridge of penalty `alpha`.

    Parameters
    ----------
    regression : Regression
    X : ndarray or CSR matrix of shape (n, p)
    mean : ndarray of shape (p,)
    pairs : Pairs
    own_weights : ndarray of shape (n,)
        Of each row against itself.
    kind : str or callable
        Features of pairs.

    Returns
    -------
    RegressorPairs
    """
    features, targets, weights = _both_ways(pairs, X, own_weights, kind)
    is_ridge = isinstance(regression.estimator, str)
    name = "ridge" if is_ridge else type(regression.estimator).__name__
    regression.say(f"{name} on {features.shape} pair features")
    if not is_ridge:
        return RegressorPairs(regression.fit_estimator(features, targets, weights), kind, mean)
    moments = SecondMoments.of(features, targets, weights)
    total, scale = moments.features.total, moments.features.deviation
    coef, intercept = moments.solve(alpha * total, scale)
    return RegressorPairs(LinearModel(coef.T, intercept, "gram", alpha=alpha), kind, mean)


def _both_ways(pairs, X, weights, kind):
    """Features, targets and weights of all ordered pairs, and of each row against itself.

    A regressor learns both directions; the rows against themselves, of target 0, make a row
    of weight 2 equal to the row twice, pairs of copies included.
    """
    rows = np.arange(X.shape[0])
    first = np.concatenate([pairs.first, pairs.second, rows])
    second = np.concatenate([pairs.second, pairs.first, rows])
    features = _gathered(kind, X, first, second)
    targets = np.concatenate([pairs.targets, -pairs.targets, np.zeros(len(rows))])
    return features, targets[:, np.newaxis], np.concatenate([pairs.weights, pairs.weights, weights])


def _gathered(kind, X, first, second):
    """Features of pairs of rows, made in pieces: no second copy of all of them."""
    pieces = batches(len(first), 2 * X.shape[1], _NUMBERS_AT_ONCE)
    start = pair_features(kind, X[first[pieces[0]]], X[second[pieces[0]]])
    if sparse.issparse(start):
        parts = [pair_features(kind, X[first[piece]], X[second[piece]]) for piece in pieces]
        return sparse.vstack(parts, format="csr")
    entries = len(first) * start.shape[1]
    if entries > _MAX_ENTRIES:
        raise ValueError(
            f"{len(first)} ordered pairs of {start.shape[1]} features are {entries / 1e9:.1f} "
            "billion numbers: set a smaller max_pairs, or fewer pair features."
        )
    features = np.empty((len(first), start.shape[1]))
    for piece in pieces:
        features[piece] = pair_features(kind, X[first[piece]], X[second[piece]])
    return features
