"""Mini-batches of a ranking problem with binary labels, and the step that each asks for.

A batch knows its rows and where its top ends. Given weights it returns a `Step`: the
direction of a subgradient (or perceptron) step and the mistakes at the top. Dense and CSR
X go through the same products; rows are only ever picked, never densified.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from ..surrogates._precision import mistakes, violations, weights_on_positives


class Rule(NamedTuple):
    """How a batch turns scores into a step.

    Attributes
    ----------
    surrogate : PrecisionSurrogate
    perceptron : bool
        Steps on the mistakes, by the sum over the batch; else on the margin violations, by the
        mean over the places at the top.
    """

    surrogate: object
    perceptron: bool

    def count(self, a, b, k):
        """Negatives that the step lowers, and those that stand in the top k."""
        wrong = mistakes(a, b, k)
        return wrong if self.perceptron else violations(self.surrogate, a, b, k), wrong

    def weights(self, d, k, n_positives):
        raised = self.surrogate.perceptron if self.perceptron else self.surrogate.raised
        return weights_on_positives(raised, d, k, n_positives)


class Step(NamedTuple):
    """What a batch asks for at the current weights.

    Attributes
    ----------
    direction : ndarray, shape of the weights, or None
        To be subtracted; None where nothing is to be done.
    hits : float
        Sum over the lists of one minus the mistakes at the top over the most there can be.
    """

    direction: object
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
    """

    n_lists = 1

    def __init__(self, above, below, k, *, mirrored=False):
        self.above, self.below, self.k = above, below, k
        self.places = min(k, below.shape[0])  # the most mistakes there can be
        self.sign = -1 if mirrored else 1

    @property
    def n_rows(self):
        return self.above.shape[0] + self.below.shape[0]

    @property
    def squares(self):
        return sum_of_squares(self.above) + sum_of_squares(self.below)

    @property
    def entries(self):
        return count_entries(self.above) + count_entries(self.below)

    def scores(self, weights):
        """Scores of the two kinds of rows."""
        weights = self.sign * weights
        return self.above @ weights, self.below @ weights

    def hits(self, weights):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        above, below = self.scores(weights)
        order, top = best_first(above, self.k), best_first(below, self.places)
        return 1.0 - mistakes(above[order], below[top], self.k) / self.places

    def step(self, weights, rule):
        above, below = self.scores(weights)
        top, order = best_first(below, self.places), np.argsort(-above)
        d, wrong = rule.count(above[order], below[top], self.k)
        hits, raised = 1.0 - wrong / self.places, rule.weights(d, self.k, len(order))
        if d == 0 and not raised.any():
            return Step(None, hits)
        scale = self.sign * (1.0 if rule.perceptron else 1.0 / self.places)
        lift = np.empty(len(order), dtype=weights.dtype)
        lift[order] = raised * scale
        return Step(_scaled_sum(self.below, top[:d], scale) - lift @ self.above, hits)


class ListGroup(NamedTuple):
    """Lists of a matrix that have P, k and sign in common.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
    above, below : ndarray of int, shape (m, P), (m, N)
        Items of each row that belong above, and below.
    k : int
    sign : {1, -1}
        -1 where the scores are to be negated.
    """

    rows: np.ndarray
    above: np.ndarray
    below: np.ndarray
    k: int
    sign: int = 1

    @property
    def places(self):
        return min(self.k, self.below.shape[1])


class MatrixBatch:
    """Rows of X, each a list of the same L items, with weights of shape (p + 1, L).

    The last row of the weights is the intercept of each item.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    groups : list of ListGroup
    """

    def __init__(self, X, groups):
        self.X, self.groups = X, groups
        self.n_rows = X.shape[0]
        self.n_lists = sum(len(group.rows) for group in groups)
        self.places = sum(len(group.rows) * group.places for group in groups)

    @property
    def squares(self):
        return sum_of_squares(self.X) + self.n_rows  # the intercept is a feature of 1

    @property
    def entries(self):
        return count_entries(self.X) + self.n_rows

    def hits(self, weights):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        scores, hits = self.X @ weights[:-1] + weights[-1], 0.0
        for group in self.groups:
            a, _ = _sorted(group.sign * scores, group.rows, group.above)
            b, _ = _sorted(group.sign * scores, group.rows, group.below)
            wrong = mistakes(a, b[:, : group.places], group.k)
            hits += len(group.rows) - wrong.sum() / group.places
        return hits

    def step(self, weights, rule):
        scores = self.X @ weights[:-1] + weights[-1]
        slope, hits = np.zeros_like(scores), 0.0
        for group in self.groups:
            a, above = _sorted(group.sign * scores, group.rows, group.above)
            b, below = _sorted(group.sign * scores, group.rows, group.below)
            b, below = b[:, : group.places], below[:, : group.places]
            d, wrong = rule.count(a, b, group.k)
            hits += len(group.rows) - wrong.sum() / group.places
            scale = group.sign * (1.0 if rule.perceptron else 1.0 / (group.places * self.n_lists))
            at = group.rows[:, np.newaxis]
            slope[at, below] = scale * (np.arange(group.places) < d[:, np.newaxis])
            slope[at, above] = -scale * rule.weights(d, group.k, a.shape[1])
        if not slope.any():
            return Step(None, hits)
        return Step(np.vstack([self.X.T @ slope, slope.sum(axis=0)]), hits)


def take_rows(X, rows):
    """Some rows of X; of a dense one by `take`, which is several times faster than an index."""
    return X[rows] if issparse(X) else X.take(rows, axis=0)


def _scaled_sum(X, rows, scale):
    """The sum of some rows times a factor; of a sparse X by a product, which picks them faster."""
    if issparse(X):
        weights = np.zeros(X.shape[0], dtype=X.dtype)
        weights[rows] = scale
        return weights @ X
    return np.full(len(rows), scale, dtype=X.dtype) @ take_rows(X, rows)


def _sorted(scores, rows, items):
    """Scores of some items of each row, best first, and the items in that order."""
    values = scores[rows[:, np.newaxis], items]
    order = np.argsort(-values, axis=1)
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(items, order, axis=1)


def best_first(values, count):
    """Indices of the `count` largest values, in descending order."""
    if count < len(values):
        last = len(values) - count
        best = np.argpartition(values, last)[last:]
    else:
        best = np.arange(len(values))
    return best[np.argsort(-values[best])]


def count_entries(X):
    """Number of entries that are not 0."""
    return int(np.count_nonzero(X.data if issparse(X) else X))


def sum_of_squares(X):
    """Sum of the squared entries, dense or sparse, in double precision; inf on overflow."""
    entries = X.data if issparse(X) else X.ravel()
    with np.errstate(over="ignore"):
        if entries.dtype == np.float64:
            return float(np.dot(entries, entries))
        return float(np.einsum("i,i->", entries, entries, dtype=np.float64))
