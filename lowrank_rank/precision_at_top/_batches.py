"""Mini-batches of a ranking problem with binary labels, and the step that each asks for.

A batch knows its rows and where its top ends. Given weights it returns a `Step`: the
direction of a subgradient (or perceptron) step and the mistakes at the top. Dense and CSR
X go through the same products; rows are only ever picked, never densified.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from ._surrogates import Places, PrecisionSurrogate, mistakes, surrogate_values, violations

_TINY = np.finfo(float).tiny


class Rule(NamedTuple):
    """How a batch turns scores into a step.

    Attributes
    ----------
    surrogate : PrecisionSurrogate
    perceptron : bool
        Steps on the mistakes, by the sum over the batch; else on the margin violations, by the
        mean over the places at the top of each list.
    """

    surrogate: PrecisionSurrogate
    perceptron: bool

    def slopes(self, v, places):
        """Slope in each of the sorted scores, per list, and the mistakes at the top."""
        wrong = mistakes(v, places)
        if self.perceptron:
            return places.slopes(wrong, self.surrogate.perceptron), wrong
        return places.slopes(violations(self.surrogate, v, places), self.surrogate.raised), wrong


class Step(NamedTuple):
    """What a batch asks for at the current weights.

    Attributes
    ----------
    direction : ndarray, shape of the weights, or None
        The sum over the lists, to be subtracted; None where nothing is to be done.
    hits : float
        Sum over the lists of one minus the mistakes at the top over the most there can be.
    """

    direction: np.ndarray | None
    hits: float


def hits_of(wrong, places):
    """Sum over the lists of one minus the mistakes at the top over the most there can be."""
    return float(len(wrong) - np.sum(wrong / places.most))


class ListBatch:
    """Rows of one list: those that belong above, those that belong below, and the top k.

    Parameters
    ----------
    above, below : ndarray or CSR matrix of shape (P, p), (N, p)
    k : int
        1 <= k <= P.
    mirrored : bool, default=False
        Whether the scores are to be negated.
    places : Places or None, default=None
        Those of a list with P, min(k, N) and k, where they are at hand.
    """

    n_lists = 1

    def __init__(self, above, below, k, *, mirrored=False, places=None):
        self.above, self.below, self.k = above, below, k
        self.n_places = min(k, below.shape[0])  # the most mistakes there can be
        self.sign = -1 if mirrored else 1
        self.places = places or Places([above.shape[0]], [self.n_places], [k])

    @property
    def n_rows(self):
        return self.above.shape[0] + self.below.shape[0]

    @property
    def parts(self):
        """The rows, in arrays."""
        return (self.above, self.below)

    def _sorted(self, weights):
        """The scores as `Places` wants them, and the rows of either kind in that order."""
        weights = self.sign * weights
        above, below = self.above @ weights, self.below @ weights
        order, top = np.argsort(-above), best_first(below, self.n_places)
        return np.concatenate([above[order], below[top]]), order, top

    def hits(self, weights):
        """One minus the mistakes at the top over the most there can be."""
        return hits_of(mistakes(self._sorted(weights)[0], self.places), self.places)

    def step(self, weights, rule):
        v, order, top = self._sorted(weights)
        slope, wrong = rule.slopes(v, self.places)
        hits = hits_of(wrong, self.places)
        if not slope.any():
            return Step(None, hits)
        scale = self.sign * (1.0 if rule.perceptron else 1.0 / self.n_places)
        lift, push = np.split((scale * slope).astype(weights.dtype), [len(order)])
        rows = np.empty_like(lift)
        rows[order] = lift
        lowered = np.flatnonzero(push)
        return Step(rows @ self.above + _combined(self.below, top[lowered], push[lowered]), hits)

    def tangent(self, weights, rule):
        """The surrogate over the places at the top, a subgradient, and the hits."""
        value = surrogate_values(rule.surrogate, self._sorted(weights)[0], self.places)[0]
        step = self.step(weights, rule)
        slope = np.zeros_like(weights) if step.direction is None else step.direction
        return float(value) / self.n_places, slope, step.hits


class ListsBatch:
    """Rows of many lists, sorted in one go.

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
        self.X, self.n_rows, self.n_lists = X, X.shape[0], len(k)
        self.places = Places(n_above, n_below, k)
        self.n_places = int(self.places.most.sum())
        kinds = np.column_stack([n_above, n_below]).ravel()
        self.kind = np.repeat(np.arange(float(len(kinds))), kinds)
        lengths = n_above + n_below
        sign = np.repeat(np.where(mirrored, -1.0, 1.0), lengths)
        self.sign = sign if mirrored.any() else None
        self.scale = 1.0 / np.repeat(self.places.most, lengths)

    @property
    def parts(self):
        """The rows, in arrays."""
        return (self.X,)

    def _sorted(self, weights):
        scores = self.X @ weights
        scores = scores if self.sign is None else self.sign * scores
        order = np.argsort(self.kind - _squashed(scores))
        return scores[order], order

    def hits(self, weights):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        return hits_of(mistakes(self._sorted(weights)[0], self.places), self.places)

    def step(self, weights, rule):
        v, order = self._sorted(weights)
        by_rank, wrong = rule.slopes(v, self.places)
        hits = hits_of(wrong, self.places)
        if not by_rank.any():
            return Step(None, hits)
        slope = np.empty_like(by_rank)
        slope[order] = by_rank if rule.perceptron else self.scale * by_rank
        slope = slope if self.sign is None else self.sign * slope
        return Step(slope.astype(weights.dtype, copy=False) @ self.X, hits)


class MatrixBatch:
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
        self.X, (self.n_rows, n_items) = X, above.shape
        self.n_lists, n_above = self.n_rows, above.sum(axis=1)
        self.places = Places(n_above, n_items - n_above, k)
        self.n_places = int(self.places.most.sum())
        self.kind = np.where(above, 0.0, 1.0)
        self.first = self.places.starts[:, np.newaxis]
        self.sign = np.where(mirrored, -1.0, 1.0)[:, np.newaxis] if mirrored.any() else None
        self.scale = np.repeat(1.0 / self.places.most, n_items)

    @property
    def parts(self):
        """The rows, in arrays."""
        return (self.X,)

    def _sorted(self, weights):
        scores = self.X @ weights[:-1] + weights[-1]
        scores = scores if self.sign is None else self.sign * scores
        order = (np.argsort(self.kind - _squashed(scores), axis=1) + self.first).ravel()
        return scores.ravel()[order], order

    def hits(self, weights):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        return hits_of(mistakes(self._sorted(weights)[0], self.places), self.places)

    def step(self, weights, rule):
        v, order = self._sorted(weights)
        by_rank, wrong = rule.slopes(v, self.places)
        hits = hits_of(wrong, self.places)
        if not by_rank.any():
            return Step(None, hits)
        slope = np.empty(len(order), dtype=weights.dtype)
        slope[order] = by_rank if rule.perceptron else self.scale * by_rank
        slope = slope.reshape(self.n_rows, -1)
        slope = slope if self.sign is None else slope * self.sign.astype(slope.dtype)
        return Step(np.vstack([self.X.T @ slope, slope.sum(axis=0)]), hits)


def _squashed(scores):
    """The scores from 0 to 1/2: what keeps kinds of rows apart in one sort."""
    low, high = float(scores.min()), float(scores.max())
    return (scores.astype(np.float64, copy=False) - low) * (0.5 / max(high - low, _TINY))


def take_rows(X, rows):
    """Some rows of X; of a dense one by `take`, which is several times faster than an index."""
    return X[rows] if issparse(X) else X.take(rows, axis=0)


def _combined(X, rows, weights):
    """A weighted sum of some rows; of a sparse X by a product, which picks them faster."""
    if issparse(X):
        of_all = np.zeros(X.shape[0], dtype=X.dtype)
        of_all[rows] = weights
        return of_all @ X
    return weights @ take_rows(X, rows)


def scores_of(X, weights):
    """Scores of rows for weights (p,) or (p + 1, L); not finite where the steps diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return X @ weights if weights.ndim == 1 else X @ weights[:-1] + weights[-1]


def best_first(values, count):
    """Indices of the `count` largest values, in descending order."""
    if count < len(values):
        last = len(values) - count
        best = np.argpartition(values, last)[last:]
    else:
        best = np.arange(len(values))
    return best[np.argsort(-values[best])]
