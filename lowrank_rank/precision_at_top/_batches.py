"""Mini-batches of a ranking problem with binary labels, and their subgradients.

A batch holds its rows and the number of places at the top. Given weights it returns a `Step`: the
direction of a subgradient (or perceptron) step and the mistakes at the top. Dense and CSR X share
the code; CSR rows are never densified.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ._surrogates import (
    Places,
    PrecisionSurrogate,
    SortedScores,
    mistakes,
    surrogate_values,
    violations,
)

_TINY = np.finfo(float).tiny


class Rule(NamedTuple):
    """The update of the weights: a surrogate, and which negatives it lowers.

    Attributes
    ----------
    surrogate : PrecisionSurrogate
    perceptron : bool
        True: steps on the mistakes, summed over the batch. False: steps on the margin violations,
        averaged over the places at the top of each list.
    """

    surrogate: PrecisionSurrogate
    perceptron: bool

    def changes(self, v):
        """Sorted scores with a slope, these slopes, and their lists."""
        if self.perceptron:
            return v.places.changes(mistakes(v), self.surrogate.perceptron)
        return v.places.changes(violations(self.surrogate, v), self.surrogate.raised)


class Step(NamedTuple):
    """Subgradient of a batch at the current weights, and the precision there.

    Attributes
    ----------
    direction : ndarray, shape of the weights, or None
        The sum over the lists, to be subtracted; None where it is zero.
    hits : float
        Sum over the lists of one minus the mistakes at the top over the most there can be.
    """

    direction: np.ndarray | None
    hits: float


class _Batch:
    """Several lists that one call sorts; subclasses define `_sorted` and `_combined`."""

    _sorted: Any
    _combined: Any

    def __init__(self, X, n_above, n_below, k, mirrored):
        self.X, self.n_rows, self.n_lists = X, X.shape[0], len(k)
        self.places = Places(n_above, n_below, k)
        self.n_places = int(self.places.most.sum())
        self.sign = np.where(mirrored, -1.0, 1.0) if mirrored.any() else None

    def step(self, weights, rule):
        v = self._sorted(weights)
        rows, slopes, lists = rule.changes(v)
        if not slopes.any():
            return Step(None, v.hits)
        if not rule.perceptron:
            slopes *= self.places.scale.take(lists)
        if self.sign is not None:
            slopes *= self.sign.take(lists)
        slope = np.zeros(len(v.order), dtype=weights.dtype)
        slope[v.order.take(rows)] = slopes
        return Step(self._combined(slope), v.hits)

    def tangent(self, weights, rule):
        """Mean over the places of the surrogate of one list, a subgradient, and the hits."""
        value = surrogate_values(rule.surrogate, self._sorted(weights))[0]
        step = self.step(weights, rule)
        slope = np.zeros_like(weights) if step.direction is None else step.direction
        return float(value) / self.n_places, slope, step.hits


class ListsBatch(_Batch):
    """Rows of one list or more.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        List after list, in each the rows that belong above, then those that belong below.
    n_above, n_below, k : ndarray of int, shape (m,)
        At least 1 each, k <= n_above.
    mirrored : ndarray of bool, shape (m,)
        Whether the scores of a list are to be negated.
    """

    def __init__(self, X, n_above, n_below, k, mirrored):
        super().__init__(X, n_above, n_below, k, mirrored)
        kinds = np.column_stack([n_above, n_below]).ravel()
        self.kind = np.repeat(np.arange(float(len(kinds))), kinds)
        self.sign_of_rows = self.sign
        if self.sign is not None:
            self.sign_of_rows = np.repeat(self.sign, n_above + n_below)

    def _sorted(self, weights):
        scores = self.X @ weights
        scores = scores if self.sign is None else self.sign_of_rows * scores
        order = np.argsort(self.kind - _squashed(scores))
        return SortedScores(scores, order, self.places)

    def _combined(self, slope):
        return slope @ self.X


class MatrixBatch(_Batch):
    """Rows of X, each a list of the same L items, with weights of shape (p + 1, L).

    The last row of the weights is the intercept of each item.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    above : ndarray of bool, shape (n, L)
        Items that belong above; some of each row, and not all.
    k : ndarray of int, shape (n,)
        1 <= k <= number above.
    mirrored : ndarray of bool, shape (n,)
        Whether the scores of a row are to be negated.
    """

    def __init__(self, X, above, k, mirrored):
        n_above, n_items = above.sum(axis=1), above.shape[1]
        super().__init__(X, n_above, n_items - n_above, k, mirrored)
        self.kind = 2.0 - above
        self.starts = n_items * np.arange(len(above))[:, np.newaxis]

    def _sorted(self, weights):
        scores = self.X @ weights[:-1]
        scores += weights[-1]
        scores = scores if self.sign is None else self.sign[:, np.newaxis] * scores
        order = np.argsort(self.kind - _squashed(scores), axis=1) + self.starts
        return SortedScores(scores.ravel(), order.ravel(), self.places)

    def _combined(self, slope):
        slope = slope.reshape(self.n_rows, -1)
        direction = np.empty((self.X.shape[1] + 1, slope.shape[1]), dtype=slope.dtype)
        direction[:-1] = self.X.T @ slope
        direction[-1] = np.ones(len(slope), dtype=slope.dtype) @ slope  # faster than a sum
        return direction


def _squashed(scores):
    """Scores mapped to [0, 1/2], so that one sort by kind minus score keeps kinds apart."""
    low, high = float(scores.min()), float(scores.max())
    squashed = np.subtract(scores, low, dtype=np.float64)
    squashed *= 0.5 / max(high - low, _TINY)
    return squashed


def take_rows(X, rows):
    """Some rows of X; `take` is several times faster than an index for dense X."""
    return X[rows] if issparse(X) else X.take(rows, axis=0)


def scores_of(X, weights):
    """Scores of rows for weights (p,) or (p + 1, L); not finite where the steps diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return X @ weights if weights.ndim == 1 else X @ weights[:-1] + weights[-1]
