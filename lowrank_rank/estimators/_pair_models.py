"""Antisymmetric models g(x, z) of the preference for one document over another.

Each model has ``average(X)``, its preference for each row over the average training row, and
``tables(X, rows)``: with rows (m, r), the preferences (m, r, r) inside m lists of r rows.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..solvers import fit_skew
from ._linear import linear_scores
from ._pairs import pair_features
from ._regression import predict_regressors

_MOST_ENTRIES = 10**9  # of pair features to fit on, 8 GB
_NUMBERS_AT_ONCE = 2**23  # entries of pair features that are held at the same time


class ScorePairs(NamedTuple):
    """g(x, z) = s(x) - s(z): no cycles, and sorting by s decodes it."""

    scores: Any  # callable, X -> (n,)

    def average(self, X):
        return self.scores(X)

    def tables(self, X, rows):
        s = self.scores(X)[rows]
        return s[:, :, np.newaxis] - s[:, np.newaxis, :]


class SkewPairs(NamedTuple):
    """g(x, z) = <w, x - z> + x' A z of centred rows, A skew-symmetric of low rank."""

    coef: np.ndarray
    components: np.ndarray
    mean: np.ndarray

    def average(self, X):
        return linear_scores(X, self.coef[np.newaxis], -self.coef @ self.mean)[:, 0]

    def tables(self, X, rows):
        parts = np.concatenate([self.coef[np.newaxis], *self.components])
        products = linear_scores(X, parts, -parts @ self.mean)
        c = self.components.shape[1]
        s, left, right = products[:, 0], products[:, 1 : c + 1], products[:, c + 1 :]
        s, left, right = s[rows], left[rows], right[rows]
        product = np.einsum("mik,mjk->mij", left, right)
        table = s[:, :, np.newaxis] - s[:, np.newaxis]
        table += product - product.transpose(0, 2, 1)
        return table


class RegressorPairs(NamedTuple):
    """g(x, z) = (h(x, z) - h(z, x)) / 2 of any regressor h on the features of a pair."""

    estimators: list
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
        step = max(1, _NUMBERS_AT_ONCE // (2 * A.shape[1]))
        parts = []
        for first in range(0, len(rows_a), step):
            a, b = A[rows_a[first : first + step]], B[rows_b[first : first + step]]
            forth, back = pair_features(self.features, a, b), pair_features(self.features, b, a)
            h = [predict_regressors(self.estimators, both)[:, 0] for both in (forth, back)]
            parts.append((h[0] - h[1]) / 2.0)
        return np.concatenate(parts)


def mean_row(X, weights):
    """Weighted mean of the rows, NaN left out."""
    total = weights.sum()
    if sparse.issparse(X):
        return np.asarray(X.T @ weights).ravel() / total
    judged = ~np.isnan(X)
    mass = weights @ judged
    return np.divide(weights @ np.nan_to_num(X), mass, out=np.zeros(X.shape[1]), where=mass > 0)


def both_ways(pairs, X, weights, kind):
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
    step = max(1, _NUMBERS_AT_ONCE // (2 * X.shape[1]))
    pieces = [(first[i : i + step], second[i : i + step]) for i in range(0, len(first), step)]
    start = pair_features(kind, X[pieces[0][0]], X[pieces[0][1]])
    if sparse.issparse(start):
        return sparse.vstack([pair_features(kind, X[i], X[j]) for i, j in pieces], format="csr")
    entries = len(first) * start.shape[1]
    if entries > _MOST_ENTRIES:
        raise ValueError(
            f"{len(first)} ordered pairs of {start.shape[1]} features are {entries / 1e9:.1f} "
            "billion numbers: set a smaller max_pairs, or fewer pair features."
        )
    features = np.empty((len(first), start.shape[1]))
    for number, (i, j) in enumerate(pieces):
        features[number * step : number * step + len(i)] = pair_features(kind, X[i], X[j])
    return features


def skew_model(ranker, X, mean, pairs, coef, rng):
    """Fitted `SkewPairs` and its iterations, for the settings of a ranker."""
    max_iter = 1000 if ranker.max_iter is None else ranker.max_iter
    coef, components, n_iter, converged = fit_skew(
        X,
        mean,
        pairs,
        alpha=ranker.alpha,
        n_components=ranker.n_components,
        tol=ranker.tol,
        max_iter=max_iter,
        rng=rng,
        coef=coef,
        callback=lambda i, _: ranker._say(f"L-BFGS iteration {i}") if i % 10 == 0 else None,
    )
    if not converged:
        warnings.warn(
            f"L-BFGS stopped after {n_iter} iterations before it reached tol={ranker.tol:g}: "
            "increase max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    return SkewPairs(coef, components, mean), n_iter
