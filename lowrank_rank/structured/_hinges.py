"""Loss-augmented decoding, bound to the labels of a batch: scores to values and slopes.

A hinge is ``max over y' of Delta(y', y) + <scores, psi(y') - psi(y)>`` for each block (a list, a
row, a sequence). ``worst(scores)`` returns its values and a subgradient; ``soft`` a smooth
function from below that has labels of its own: probabilities, whose expected Delta is the cost.
"""

from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from .._lists import RankingLists
from .._ranks import mid_ranks
from ..solvers._pairs import PairSums, dense_grades
from ._assignments import worst_places
from ._multivariate import count_hinge

_ROWS_AT_ONCE = 2**12  # whose sums with the costs fit the cache
_LEAST_EXPONENT = -600.0  # e to it is 0 beside 1, and so is it times a weight


def rows_of(lists, chosen):
    """Grouped rows of some of the lists."""
    lengths = lists.lengths[chosen]
    first = np.cumsum(lengths) - lengths
    return np.repeat(lists.starts[chosen] - first, lengths) + np.arange(lengths.sum())


class ListHinge:
    """Base of the hinges of lists, whose scores are one column, or one row for each list.

    Parameters
    ----------
    y : ndarray of shape (n_flat,)
        Labels, grouped and flat.
    lists : RankingLists
    n_items : int or None
        Columns of the scores where each row is a list of the same items.
    settings : dict
        Of the measure.
    """

    def __init__(self, y, lists, n_items=None, **settings):
        self.y, self.lists, self.n_items, self.settings = y, lists, n_items, settings
        self._prepare(**settings)

    def _prepare(self, *args: Any, **settings: Any) -> None:
        """Arrays that depend on the labels alone."""

    def _worst(self, scores):
        """Values of the lists, and slopes of the flat scores."""
        raise NotImplementedError

    def take(self, blocks):
        rows = rows_of(self.lists, blocks)
        lists = RankingLists(self.lists.lengths[blocks])
        return type(self)(self.y[rows], lists, self.n_items, **self.settings)

    def rows(self, blocks):
        """Rows of X that belong to some blocks."""
        return rows_of(self.lists, blocks) if self.n_items is None else blocks

    def spread(self, weights):
        """One value per block over the scores of the block."""
        return weights[:, np.newaxis] if self.n_items else self.lists.spread(weights)[:, np.newaxis]

    def worst(self, scores):
        values, slopes = self._worst(np.ascontiguousarray(scores).ravel())
        return values, slopes.reshape(scores.shape)


class PairHinge(ListHinge):
    """``scale * sum over pairs of max(0, 1 - (s_i - s_j))``; Kendall's tau and the ROC area.

    Settings: ``normalize`` "all" divides by the number r(r-1)/2 of pairs (equation 17.4),
    "unequal" by that of pairs with unequal labels, which for two grades is one minus the ROC area.
    Pairs that are tied in the label are always wrong for "all", and out for "unequal".
    """

    def _prepare(self, normalize="all"):
        r = self.lists.lengths
        self.grades = dense_grades(self.y, self.lists)
        unequal = PairSums(self.grades, np.zeros(len(self.y)), self.lists).n_active
        total = r * (r - 1) / 2.0 if normalize == "all" else unequal
        self.scale = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
        self.tied = (total - unequal) * self.scale  # each counts 1, whatever the scores

    def _worst(self, scores):
        sums = PairSums(self.grades, scores, self.lists)
        slopes = sums.hinge_slopes * self.lists.spread(self.scale)
        return sums.hinge * self.scale + self.tied, slopes

    def soft(self, scores, gamma, weights):
        """Each term max over m in [0, 1] of m z - gamma m^2 / 2."""
        flat = np.ascontiguousarray(scores).ravel()
        scale = self.scale * weights
        sums = PairSums(self.grades, flat, self.lists)
        beyond = PairSums(self.grades, flat, self.lists, margin=1.0 - gamma)
        value = (sums.squared - beyond.squared) / (2.0 * gamma)
        cost = (sums.hinge - beyond.hinge) / gamma
        slopes = (sums.squared_slopes - beyond.squared_slopes) / (2.0 * gamma)
        slopes = (slopes * self.lists.spread(scale)).reshape(scores.shape)
        tied = float(self.tied @ weights)
        return float(value @ scale) + tied, slopes, float(cost @ scale) + tied


class CountHinge(ListHinge):
    """A measure of the counts of a list; `count_loss` as in `_multivariate`; y is relevant."""

    def _prepare(self, count_loss):
        self.count_loss = count_loss

    def _worst(self, scores):
        return count_hinge(self.y, scores, self.lists, self.count_loss)


class PlacesHinge(ListHinge):
    """NDCG at k (17.8): labels are utilities, gain over ideal DCG; 0 where a list has none.

    Tied labels have their mid-rank as place, the mean over the orders of the ties. The value of a
    list with no relevant item is that of the order alone, without Delta.
    """

    def _prepare(self, discounts):
        self.discounts = discounts
        below = self.lists.spread(self.lists.lengths) + 1.0
        self.bottom = below - mid_ranks(self.y, self.lists)

    def _worst(self, scores):
        lists = self.lists
        places = worst_places(self.y, scores, lists, self.discounts)
        at = np.minimum(places, len(self.discounts)) - 1
        found = np.where(places <= len(self.discounts), self.discounts[at], 0.0)
        slopes = lists.spread(lists.lengths) + 1.0 - places - self.bottom
        has_any = lists.sum(self.y) > 0
        values = has_any - lists.sum(found * self.y) + lists.sum(slopes * scores)
        return values, slopes


class ClassHinge:
    """Classes with costs (17.3): ``max over y' of cost[y, y'] + s_y' - s_y``; blocks are rows.

    Parameters
    ----------
    y : ndarray of int, shape (n_rows,)
        The true column.
    costs : ndarray of shape (n_rows, n_columns)
        Of each column for each row, 0 for the true one.
    """

    def __init__(self, y, costs):
        self.y, self.costs = y, np.asfortranarray(costs)
        self.every = np.arange(len(y))

    def take(self, blocks):
        return ClassHinge(self.y[blocks], self.costs[blocks])

    def rows(self, blocks):
        return blocks

    def spread(self, weights):
        return weights[:, np.newaxis]

    def worst(self, scores):
        values, slopes = np.empty(len(scores)), np.zeros_like(scores)
        for rows in gen_batches(len(scores), _ROWS_AT_ONCE):
            augmented = scores[rows] + self.costs[rows]
            found, true = augmented.argmax(axis=1), self.y[rows]
            every = self.every[: len(found)]
            values[rows] = augmented[every, found] - scores[rows][every, true]
            slopes[rows][every, found] = 1.0
            slopes[rows][every, true] -= 1.0
        return values, slopes

    def soft(self, scores, gamma, weights):
        """gamma log mean exp is no bound; gamma log sum exp lies at most gamma log q above."""
        augmented = scores + self.costs
        augmented /= gamma
        top = augmented.max(axis=1, keepdims=True)
        augmented -= top
        # exp is many times slower where it underflows
        np.maximum(augmented, _LEAST_EXPONENT, out=augmented)
        slopes = np.exp(augmented, out=augmented)
        total = slopes.sum(axis=1)
        slopes *= (weights / total)[:, np.newaxis]
        values = gamma * (np.log(total) + top[:, 0]) - scores[self.every, self.y]
        cost = float(np.einsum("ij,ij->", slopes, self.costs))
        slopes[self.every, self.y] -= weights
        return float(values @ weights), slopes, cost


class ChainHinge:
    """Sequences with a cost for each element; blocks are sequences. See `ChainProblem`."""

    def __init__(self, y, costs, lists):
        self.y, self.costs, self.lists = y, costs, lists

    def take(self, blocks):
        rows = rows_of(self.lists, blocks)
        lists = RankingLists(self.lists.lengths[blocks])
        return ChainHinge(self.y[rows], self.costs[rows], lists)

    def rows(self, blocks):
        return rows_of(self.lists, blocks)
