"""Problems for the solvers: the worst labels of linear scores, and the features of labels.

    alpha / 2 |w|^2 + sum_b weight_b max over y' of Delta_b(y') + <w, Psi_b(y') - Psi_b(y)>

Scores are linear, X W' with a column for each class or item, so that <w, Psi> is the sum of
scores times slopes and Psi is X' slopes: a hinge is a function of the scores. Blocks are lists,
rows or sequences; blocks taken from a problem keep their weights.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ._chains import chain_marginals, transition_counts, viterbi


class Tangent(NamedTuple):
    """Value of a convex function of w at a point, and a (sub)gradient.

    ``cost`` is the expected Delta of the labels that the slope belongs to: the dual objective
    of any convex combination of such labels is ``cost - |slope|^2 / (2 alpha)``.
    """

    value: float
    slope: np.ndarray
    cost: float


class LinearProblem:
    """Hinges of linear scores.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        In grouped order.
    hinge : object
        ``hinge.worst(scores)`` with scores (n_rows, n_columns) returns the value of each block
        and the slopes, like scores; ``hinge.take(blocks)`` the hinge of some blocks, with
        ``hinge.rows(blocks)`` their rows; ``hinge.soft(scores, gamma, weights)``, where there
        is one, a smooth lower approximation: its weighted sum, slopes, and expected cost.
    weights : ndarray of shape (n_blocks,)
    n_columns : int
    intercept : bool
        Whether a constant feature is added.
    """

    def __init__(self, X, hinge, weights, n_columns, *, intercept=False):
        self.X, self.hinge, self.weights = X, hinge, weights
        self.n_columns, self.intercept = n_columns, intercept
        self.size = n_columns * (X.shape[1] + intercept)

    @property
    def n_blocks(self):
        return len(self.weights)

    @property
    def is_smooth(self):
        """Whether the hinge has a smooth approximation."""
        return hasattr(self.hinge, "soft")

    def split(self, w):
        """Coefficients (n_columns, n_features) and intercepts (n_columns,) of w."""
        matrix = w[: self.n_columns * (self.X.shape[1] + self.intercept)]
        matrix = matrix.reshape(self.n_columns, -1)
        if self.intercept:
            return matrix[:, :-1], matrix[:, -1]
        return matrix, np.zeros(self.n_columns)

    def scores(self, w):
        coef, intercept = self.split(w)
        # Column by column in memory: going over the columns of each row is several times faster.
        scores = self.X @ coef.T if issparse(self.X) else (coef @ self.X.T).T
        return scores + intercept

    def features(self, slopes):
        """X' slopes, flat like w."""
        by_feature = (self.X.T @ slopes).T if issparse(self.X) else slopes.T @ self.X
        if self.intercept:
            by_feature = np.column_stack([by_feature, slopes.sum(axis=0)])
        return by_feature.ravel()

    def features_of_parts(self, slopes, part, n_parts):
        """X' slopes of the rows of each part, shape (n_parts, size); `part` of each row."""
        q = self.n_columns
        columns = part[:, np.newaxis] * q + np.arange(q)
        starts = np.arange(0, q * len(part) + 1, q)
        by_row = csr_matrix(
            (slopes.ravel(), columns.ravel(), starts), shape=(len(part), n_parts * q)
        )
        found = by_row.T @ self.X
        found = found.toarray() if issparse(found) else found
        if self.intercept:
            sums = np.asarray(by_row.sum(axis=0)).ravel()
            found = np.column_stack([found, sums])
        return found.reshape(n_parts, -1)

    def _spread(self, slopes):
        return slopes * self.hinge.spread(self.weights)

    def worst(self, w):
        """`Tangent` of the weighted sum of hinges at w."""
        values, slopes = self.hinge.worst(self.scores(w))
        value = float(values @ self.weights)
        slope = self.features(self._spread(slopes))
        return Tangent(value, slope, value - float(slope @ w))

    def worst_of_parts(self, w, part):
        """Values (n_parts,) and slopes (n_parts, size) of the hinges of each part, at once.

        `part` says for each block 0, ..., n_parts - 1 which part it belongs to; see `partition`.
        """
        values, slopes = self.hinge.worst(self.scores(w))
        values = np.bincount(part, values * self.weights)
        of_rows = self.hinge.spread(part)[:, 0]
        return values, self.features_of_parts(self._spread(slopes), of_rows, len(values))

    def soft(self, w, gamma):
        """`Tangent` of the smooth approximation at w."""
        value, slopes, cost = self.hinge.soft(self.scores(w), gamma, self.weights)
        return Tangent(value, self.features(slopes), cost)

    def take(self, blocks):
        """The problem of some blocks, with their weights in this one."""
        return type(self)(
            self.X[self.hinge.rows(blocks)],
            self.hinge.take(blocks),
            self.weights[blocks],
            self.n_columns,
            intercept=self.intercept,
        )

    def partition(self, size, random_state=None):
        """The part of each block, parts of about `size` blocks each."""
        n_parts = max(1, round(self.n_blocks / size))
        order, part = np.arange(self.n_blocks), np.empty(self.n_blocks, dtype=np.intp)
        if random_state is not None:
            random_state.shuffle(order)
        part[order] = np.arange(self.n_blocks) * n_parts // self.n_blocks
        return part

    def batches(self, size, random_state=None):
        """Problems of the parts, which add up to this one."""
        part = self.partition(size, random_state)
        by_part = np.argsort(part, kind="stable")
        found = np.split(by_part, np.flatnonzero(np.diff(part[by_part])) + 1)
        return [self.take(blocks) for blocks in found] if len(found) > 1 else [self]


class ChainProblem(LinearProblem):
    """Sequences of labels: the scores of rows, and those of a label after another.

    w has the coefficients of the rows first, then the transitions. The loss of an element that
    is wrong is the same in all sequences: blocks have weights per element.
    """

    def __init__(self, X, hinge, weights, n_columns, *, intercept=False):
        super().__init__(X, hinge, weights, n_columns, intercept=intercept)
        self.n_emissions = self.size
        self.size += n_columns**2

    def transitions(self, w):
        return w[self.n_emissions :].reshape(self.n_columns, self.n_columns)

    def worst(self, w):
        labels, slopes, costs = self._worst_labels(w)
        cost = float(costs.sum())
        pairs = transition_counts(labels, self.hinge.lists, self.n_columns, self.weights)
        slope = np.append(self.features(slopes), (pairs - self._true_pairs).ravel())
        return Tangent(cost + float(slope @ w), slope, cost)

    def worst_of_parts(self, w, part):
        labels, slopes, costs = self._worst_labels(w)
        hinge, n_parts = self.hinge, part.max() + 1
        of_rows = hinge.lists.spread(part)
        pairs, true_pairs = (
            transition_counts(of, hinge.lists, self.n_columns, self.weights, part)
            for of in (labels, hinge.y)
        )
        emissions = self.features_of_parts(slopes, of_rows, n_parts)
        slopes = np.hstack([emissions, (pairs - true_pairs).reshape(n_parts, -1)])
        return np.bincount(of_rows, costs) + slopes @ w, slopes

    def _worst_labels(self, w):
        """The labels, and of each row its weighted slopes and cost."""
        hinge, emissions = self.hinge, self.scores(w)
        labels = viterbi(emissions + hinge.costs, self.transitions(w), hinge.lists)
        rows, every = hinge.lists.spread(self.weights), np.arange(len(labels))
        slopes = np.zeros_like(emissions)
        slopes[every, labels] += rows
        slopes[every, hinge.y] -= rows
        return labels, slopes, hinge.costs[every, labels] * rows

    def soft(self, w, gamma):
        hinge = self.hinge
        emissions, transitions, lists = self.scores(w), self.transitions(w), hinge.lists
        found = chain_marginals(
            (emissions + hinge.costs) / gamma, transitions / gamma, lists, self.weights
        )
        rows, every = lists.spread(self.weights), np.arange(len(emissions))
        true = float(emissions[every, hinge.y] @ rows)
        true += float(np.sum(self._true_pairs * transitions))
        slopes = found.labels * rows[:, np.newaxis]
        cost = float(np.sum(hinge.costs * slopes))
        slopes[every, hinge.y] -= rows
        slope = np.append(self.features(slopes), (found.pairs - self._true_pairs).ravel())
        return Tangent(gamma * float(found.log_sums @ self.weights) - true, slope, cost)

    @property
    def is_smooth(self):
        return True

    @property
    def _true_pairs(self):
        if not hasattr(self, "_pairs"):
            hinge = self.hinge
            self._pairs = transition_counts(hinge.y, hinge.lists, self.n_columns, self.weights)
        return self._pairs
