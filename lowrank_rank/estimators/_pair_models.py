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
        middle = np.broadcast_to(self.mean, X.shape)
        middle = sparse.csr_matrix(middle) if sparse.issparse(X) else np.array(middle)
        return self._preference(X, middle)

    def tables(self, X, rows):
        m, r = rows.shape
        i, j = np.triu_indices(r, 1)
        table = np.zeros((m, r, r))
        if len(i) == 0:
            return table
        value = self._preference(X[rows[:, i].ravel()], X[rows[:, j].ravel()]).reshape(m, -1)
        table[:, i, j], table[:, j, i] = value, -value
        return table

    def _preference(self, a, b):
        step = max(1, _NUMBERS_AT_ONCE // (2 * a.shape[1]))
        parts = []
        for first in range(0, a.shape[0], step):
            here = slice(first, first + step)
            forth = pair_features(self.features, a[here], b[here])
            back = pair_features(self.features, b[here], a[here])
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
    features = pair_features(kind, X[first], X[second])
    targets = np.concatenate([pairs.targets, -pairs.targets, np.zeros(len(rows))])
    return features, targets[:, np.newaxis], np.concatenate([pairs.weights, pairs.weights, weights])


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
