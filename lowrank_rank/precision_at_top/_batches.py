"""Mini-batches of a ranking problem with binary labels, and the step that each asks for.

A batch knows its rows and where its top ends. Given weights it returns a `Step`: the
direction of a subgradient (or perceptron) step and the mistakes at the top. Dense and CSR
X go through the same products; rows are only ever picked, never densified.
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

    def slopes(self, v):
        """Slope in each of the sorted scores of one list."""
        return v.places.slopes(*self._wrong(v))

    def changes(self, v):
        """Sorted scores with a slope, these slopes, and their lists."""
        return v.places.changes(*self._wrong(v))

    def _wrong(self, v):
        """The number of negatives that are lowered, and the positives that are raised."""
        if self.perceptron:
            return mistakes(v), self.surrogate.perceptron
        return violations(self.surrogate, v), self.surrogate.raised


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
        weights = weights if self.sign == 1 else -weights
        above, below = self.above @ weights, self.below @ weights
        order, top = np.argsort(-above), best_first(below, self.n_places)
        v = np.concatenate([above[order], below[top]])
        return SortedScores(v, None, self.places), order, top

    def hits(self, weights):
        """One minus the mistakes at the top over the most there can be."""
        return self._sorted(weights)[0].hits

    def step(self, weights, rule):
        v, order, top = self._sorted(weights)
        slope = rule.slopes(v)
        if not slope.any():
            return Step(None, v.hits)
        scale = self.sign * (1.0 if rule.perceptron else 1.0 / self.n_places)
        slope = (scale * slope).astype(weights.dtype, copy=False)
        rows, push = np.empty_like(slope[: len(order)]), slope[len(order) :]
        rows[order] = slope[: len(order)]
        lowered = np.flatnonzero(push)
        direction = rows @ self.above + _combined(self.below, top[lowered], push[lowered])
        return Step(direction, v.hits)

    def tangent(self, weights, rule):
        """The surrogate over the places at the top, a subgradient, and the hits."""
        value = surrogate_values(rule.surrogate, self._sorted(weights)[0])[0]
        step = self.step(weights, rule)
        slope = np.zeros_like(weights) if step.direction is None else step.direction
        return float(value) / self.n_places, slope, step.hits


class _Batch:
    """Lists that are sorted in one go; a class says how, and what a step is in its weights."""

    _sorted: Any
    _combined: Any

    def __init__(self, X, n_above, n_below, k, mirrored):
        self.X, self.n_rows, self.n_lists = X, X.shape[0], len(k)
        self.places = Places(n_above, n_below, k)
        self.n_places = int(self.places.most.sum())
        self.sign = np.where(mirrored, -1.0, 1.0) if mirrored.any() else None

    @property
    def parts(self):
        """The rows, in arrays."""
        return (self.X,)

    def hits(self, weights):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        return self._sorted(weights).hits

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


class ListsBatch(_Batch):
    """Rows of many lists.

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
    grid : Grid or None, default=None
        Of at least n rows of L items, where it is at hand.
    """

    def __init__(self, X, above, k, mirrored, grid=None):
        n_above, n_items = above.sum(axis=1), above.shape[1]
        super().__init__(X, n_above, n_items - n_above, k, mirrored)
        self.kind = 2.0 - above
        self.grid = grid or Grid.of(*above.shape)

    def _sorted(self, weights):
        scores = self.X @ weights[:-1]
        scores += weights[-1]
        scores = scores if self.sign is None else self.sign[:, np.newaxis] * scores
        # Numbers in [1/2, 2] are in the order of their bits, of which the last can be those of the
        # item: so they are sorted, which takes a third of the time of finding the order.
        keys = _squashed(scores)
        order = np.subtract(self.kind, keys, out=keys).view(np.int64)
        self.grid.mark(order)
        order.sort(axis=1)
        return SortedScores(scores.ravel(), self.grid.places(order), self.places)

    def _combined(self, slope):
        slope = slope.reshape(self.n_rows, -1)
        direction = np.empty((self.X.shape[1] + 1, slope.shape[1]), dtype=slope.dtype)
        direction[:-1] = self.X.T @ slope
        direction[-1] = np.ones(len(slope), dtype=slope.dtype) @ slope  # faster than a sum
        return direction


class Grid(NamedTuple):
    """Items of rows and where the rows begin, of as many rows as the longest batch has.

    Attributes
    ----------
    items, starts : ndarray of int, shape (n, L)
        Repeated, so that one pass over flat arrays does: rows are short.
    """

    items: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, n_rows, n_items):
        starts = np.repeat(n_items * np.arange(n_rows), n_items).reshape(n_rows, n_items)
        return cls(np.tile(np.arange(n_items), (n_rows, 1)), starts)

    @property
    def low_bits(self):
        """Those that hold an item."""
        return 2 ** int(self.items.shape[1] - 1).bit_length() - 1

    def mark(self, keys):
        """Put the items into the low bits of integers (m, L)."""
        keys &= ~self.low_bits
        keys |= self.items[: len(keys)]

    def places(self, keys):
        """Places in the flat array of scores of marked integers (m, L), which are overwritten."""
        keys &= self.low_bits
        keys += self.starts[: len(keys)]
        return keys.ravel()


def _squashed(scores):
    """The scores from 0 to 1/2: what keeps kinds of rows apart in one sort."""
    low, high = float(scores.min()), float(scores.max())
    squashed = np.subtract(scores, low, dtype=np.float64)
    squashed *= 0.5 / max(high - low, _TINY)
    return squashed


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
