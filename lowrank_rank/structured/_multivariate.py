"""Hinge of a measure of the whole list with two relevance levels (equation 17.14).

    max over v in V  loss(v, y) + sum_i (v_i - y_i) s_i,    v, y in {-1, 1}

The loss is a function of a and b, the relevant and the other items marked positive, and the best
v of given (a, b) marks the best-scored ones. For a given a all the losses here are concave in b,
so the best b is where the increments change their sign: a binary search, for all a of all lists
at once. After the sort that takes O(P log N) for P relevant and N other items.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

_STRIDE = 64  #: of the numbers of marked relevant items that are looked at first


class CountLoss(NamedTuple):
    """A loss that is a function of the four counts, concave in b.

    Attributes
    ----------
    loss : callable
        ``loss(a, b, P, N)`` with arrays of counts.
    bounds : callable
        ``bounds(a, P, N)`` returns the least and the largest b that V allows; no b where the
        least is above.
    """

    loss: Callable
    bounds: Callable = lambda a, P, N: (np.zeros_like(a), N + np.zeros_like(a))


def f_loss(beta):
    """``1 - F_beta``; F_beta is 1 where nothing is relevant and nothing marked."""

    def loss(a, b, P, N):
        hits = (1.0 + beta**2) * a
        total = hits + b + beta**2 * (P - a)
        return 1.0 - np.divide(hits, total, out=np.ones(np.shape(total)), where=total > 0)

    return CountLoss(loss)


def balanced_loss():
    """One minus the mean of sensitivity and specificity."""

    def loss(a, b, P, N):
        return 1.0 - 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))

    return CountLoss(loss)


def precision_loss(k):
    """One minus precision, at least k marked; the precision of nothing is 0."""

    def loss(a, b, P, N):
        return 1.0 - a / np.maximum(a + b, 1)

    return CountLoss(loss, lambda a, P, N: (np.maximum(k - a, 0), N + np.zeros_like(a)))


def recall_loss(k):
    """One minus recall, at most k marked."""

    def loss(a, b, P, N):
        return 1.0 - a / np.maximum(P, 1) + 0.0 * b

    return CountLoss(loss, lambda a, P, N: (np.zeros_like(a), np.minimum(N, k - a)))


def count_hinge(relevant, scores, lists, count_loss):
    """The hinge of each list and its subgradient in the scores.

    Parameters
    ----------
    relevant : ndarray of bool, shape (n_rows,)
        Grouped.
    scores : ndarray of shape (n_rows,)
    lists : RankingLists
    count_loss : CountLoss

    Returns
    -------
    values : ndarray of shape (n_lists,)
    slopes : ndarray of shape (n_rows,)
        v - y of the maximising v: 2, 0 or -2.
    """
    top = _Sorted.of(scores, relevant, lists)
    rest = _Sorted.of(scores, ~relevant, lists)
    P, N = top.lengths, rest.lengths
    of_list = np.repeat(np.arange(lists.n_lists), P + 1)
    starts = np.concatenate([[0], np.cumsum(P + 1)])[:-1]
    a = np.arange(len(of_list)) - starts[of_list]
    b, allowed = _best_b(a, of_list, P[of_list], N[of_list], rest, count_loss)
    value = count_loss.loss(a, b, P[of_list], N[of_list]) + 2.0 * rest.sum_of_first(of_list, b)
    value -= 2.0 * (top.sums[top.offsets[of_list + 1]] - top.sums[top.offsets[of_list] + a])
    value[~allowed] = -np.inf
    values = np.maximum.reduceat(value, starts)
    best = _first_of_lists(value == values[of_list], of_list, lists.n_lists)
    slopes = np.zeros(len(scores))
    top.mark(slopes, scores, a[best], lists, outside=-2.0)
    rest.mark(slopes, scores, b[best], lists, inside=2.0)
    return values, slopes


def _first_of_lists(where, of_list, n_lists):
    at = np.flatnonzero(where)
    first = np.searchsorted(of_list[at], np.arange(n_lists))
    return at[first]


def _best_b(a, of_list, P, N, rest, count_loss):
    """The b of the largest value for each a, and whether there is one.

    The b of neighbouring a mostly lie between those of every `_STRIDE`-th a, which is looked at
    before the search.
    """
    low, high = count_loss.bounds(a, P, N)
    allowed = low <= np.minimum(high, N)
    low = np.minimum(low, N)
    high = np.maximum(high, low)
    search = _Search(a, P, N, rest.offsets[of_list], rest.values, count_loss)
    if len(a) <= 2 * _STRIDE or len(rest.values) == 0:
        return search.last_rise(low, high), allowed
    grid = np.append(np.arange(0, len(a) - 1, _STRIDE), len(a) - 1)
    of_grid = search.take(grid).last_rise(low[grid], high[grid])
    before = np.repeat(of_grid[:-1], np.diff(grid))
    after = np.repeat(of_grid[1:], np.diff(grid))
    before, after = np.append(before, of_grid[-1]), np.append(after, of_grid[-1])
    first = np.clip(np.minimum(before, after), low, high)
    last = np.clip(np.maximum(before, after), low, high)
    first = np.where((first == low) | search.rises(first), first, low)
    last = np.where((last == high) | ~search.rises(last + 1), last, high)
    return search.last_rise(first, last), allowed


class _Search(NamedTuple):
    """For each a the increments of the value in b, which change their sign once."""

    a: np.ndarray
    P: np.ndarray
    N: np.ndarray
    base: np.ndarray
    values: np.ndarray
    count_loss: CountLoss

    def take(self, some):
        a, P, N, base, values, count_loss = self
        return _Search(a[some], P[some], N[some], base[some], values, count_loss)

    def rises(self, b):
        """Whether the value at b, >= 1, is above that at b - 1."""
        loss = self.count_loss.loss
        gain = loss(self.a, b, self.P, self.N) - loss(self.a, b - 1, self.P, self.N)
        at = np.clip(self.base + b - 1, 0, len(self.values) - 1)
        return gain + 2.0 * self.values[at] > 0

    def last_rise(self, low, high):
        """The last b in low..high at which the value rises, or low."""
        if len(self.values) == 0:
            return low
        while np.any(low < high):
            middle = (low + high + 1) // 2  # at least 1
            up = self.rises(middle) & (low < high)
            low, high = np.where(up, middle, low), np.where(up, high, np.minimum(high, middle - 1))
            high = np.maximum(high, low)
        return low


class _Sorted(NamedTuple):
    """The scores of one class, in descending order within each list."""

    rows: np.ndarray
    values: np.ndarray
    sums: np.ndarray
    lengths: np.ndarray
    offsets: np.ndarray

    @classmethod
    def of(cls, scores, chosen, lists):
        rows = np.flatnonzero(chosen)
        own = scores[rows]
        if lists.n_lists == 1:
            values, lengths = np.sort(own)[::-1], np.array([len(rows)])
        else:
            of_list = lists.index[rows]
            values = own[np.lexsort((-own, of_list))]
            lengths = np.bincount(of_list, minlength=lists.n_lists)
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return cls(rows, values, sums, lengths, np.concatenate([[0], np.cumsum(lengths)]))

    def sum_of_first(self, of_list, count):
        start = self.offsets[of_list]
        return self.sums[start + count] - self.sums[start]

    def mark(self, slopes, scores, count, lists, *, inside=0.0, outside=0.0):
        """Write `inside` at the first `count` rows of each list, `outside` at the others."""
        own = scores[self.rows]
        last = self.offsets[:-1] + count - 1
        of_list: Any
        threshold = np.full(lists.n_lists, np.inf)
        some = count > 0
        threshold[some] = self.values[last[some]]
        if lists.n_lists == 1:
            of_list, threshold = 0, threshold[0]
            marked = own > threshold
            n_marked = np.array([np.count_nonzero(marked)])
        else:
            of_list = lists.index[self.rows]
            threshold = threshold[of_list]
            marked = own > threshold
            n_marked = np.bincount(of_list[marked], minlength=lists.n_lists)
        left = count - n_marked
        if np.any(left > 0):  # rows at the threshold, in their order
            tied = np.flatnonzero(own == threshold)
            of_tied = np.zeros(len(tied), dtype=np.intp) if lists.n_lists == 1 else of_list[tied]
            before = np.searchsorted(of_tied, of_tied)
            marked[tied[np.arange(len(tied)) - before < left[of_tied]]] = True
        slopes[self.rows] = np.where(marked, inside, outside)
