"""Measures of a reader who stops: reciprocal rank, success at k and expected reciprocal rank.

The contribution of an item depends on the items above it, so these measures are not
positional; their means over ties still have closed forms. They are for scorers only:
they have no low-rank form here, and no score-and-sort surrogate is calibrated for ERR
(Calauzènes et al. 2013, theorem 3.3).
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from .._lists import block_lengths, sort_lists, tie_blocks
from .._parameters import count, number
from ._target_loss import RELEVANCE, BinaryMeasure, RankingMeasure


def reciprocal_rank_values(y, scores, lists, k=None, power=1):
    """1/rank**power of the first relevant item of each list, 0 below rank k, nan without one.

    Consider the first block of m tied items that contains relevant ones, rho of them.
    The first of these stands below t others of the block with probability C(m-t-1,
    rho-1) / C(m, rho).
    """
    order = sort_lists(scores, lists)
    y, blocks = y[order], tie_blocks(scores[order], lists)
    if blocks is None:
        blocks = np.arange(len(y))
    m = block_lengths(blocks, len(y))
    rho = np.add.reduceat(y, blocks)
    hits = np.flatnonzero(rho > 0)
    lists_with_hits, first = np.unique(lists.index[blocks[hits]], return_index=True)
    first = hits[first]
    m, rho = m[first], rho[first]
    block = np.repeat(
        np.arange(len(first)), m
    )  # one entry for each position of these blocks
    t = np.arange(len(block)) - np.repeat(np.cumsum(m) - m, m)
    m, rho = m[block], rho[block]
    possible = m - t >= rho
    rest = np.where(possible, m - t - 1, m)
    log_probability = gammaln(rest + 1) - gammaln(rest - rho + 2) - gammaln(rho)
    log_probability -= gammaln(m + 1) - gammaln(m - rho + 1) - gammaln(rho + 1)
    probability = np.where(possible, np.exp(log_probability), 0.0)
    rank = lists.positions[blocks[first]][block] + t
    terms = np.where(
        rank <= (np.inf if k is None else k), probability / rank**power, 0.0
    )
    value = np.full(lists.n_lists, np.nan)
    value[lists_with_hits] = np.bincount(block, weights=terms, minlength=len(first))
    return value


def _reach(q, lists):
    """Product of q over the positions above each item of its list."""
    reach = np.ones(len(q))
    for _, rows in lists.same_length:
        reach[rows[:, 1:]] = np.cumprod(q[rows[:, :-1]], axis=1)
    return reach


def _average_over_ties(gained, q, blocks, lists, limit):
    """Average the gains over blocks of ties, in place; the first item gets the whole block."""
    lengths = block_lengths(blocks, len(q))
    for size in np.unique(lengths[lengths > 1]):
        tied = blocks[lengths == size]
        rows = tied[:, np.newaxis] + np.arange(size)
        gained[rows] = 0.0
        gained[tied] = _tied_cascade(q[rows], lists.positions[tied] - 1, limit)


def _tied_cascade(q, a, limit):
    """sum_t (e_{t-1} - e_t) / (a+t) for blocks of equal size, one block a row.

    e_t is the mean of all products of t of the q's. Adding one item after the other
    gives the convex combinations

        e_t(j items) = (1 - t/j) e_t(j-1 items) + (t/j) q_j e_{t-1}(j-1 items).

    Maclaurin's inequality e_t <= mean(q)**t bounds the terms, so the sum stops once
    they fall below the last digit. Blocks without a relevant item (mean 1) add nothing.
    """
    n_blocks, m = q.shape
    mean = q.mean(axis=1)
    largest = mean[mean < 1].max(initial=0.5)
    n_terms = int(np.ceil(np.log(1e-20) / np.log(largest))) + 1
    depth = int(min(m, limit, n_terms))
    e = np.zeros((n_blocks, depth + 1))
    e[:, 0] = 1.0
    t = np.arange(1, depth + 1)
    for j in range(1, m + 1):
        share = np.minimum(t / j, 1.0)
        e[:, 1:] = (1.0 - share) * e[:, 1:] + share * q[:, [j - 1]] * e[:, :-1]
    place = a[:, np.newaxis] + t
    return np.where(place <= limit, (e[:, :-1] - e[:, 1:]) / place, 0.0).sum(axis=1)


class ReciprocalRank(BinaryMeasure):
    """One over the rank of the first relevant item, 0 below rank k; for scorers.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off, such as 10 for MS MARCO's MRR@10; None is the whole list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ReciprocalRank
    >>> ReciprocalRank().measure([0, 1], [2.0, 1.0]), ReciprocalRank(k=1).measure([0, 1], [2, 1])
    (0.5, 0.0)
    """

    at = "[k]"
    takes_runs = True
    _parameters: ClassVar = {"k": [count(), None], **RELEVANCE}

    def __init__(
        self, k: int | None = None, *, relevance_threshold: float | None = None
    ) -> None:
        self.k = k
        self.relevance_threshold = relevance_threshold

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        return reciprocal_rank_values(y, scores, lists, self.k)


class SuccessAtK(BinaryMeasure):
    """Success at k, also hit rate: whether one of the first k items is relevant; for scorers.

    Parameters
    ----------
    k : int, default=10
        Cut-off.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Examples
    --------
    >>> from lowrank_rank.target_losses import SuccessAtK
    >>> SuccessAtK(k=2).measure([0, 1, 0], [3, 2, 1])
    1.0
    >>> SuccessAtK(k=2).measure([0, 1, 0], [3, 2, 2])  # one of two orders
    0.5
    """

    at = "k"
    takes_runs = True
    _parameters: ClassVar = {"k": [count()], **RELEVANCE}

    def __init__(
        self, k: int = 10, *, relevance_threshold: float | None = None
    ) -> None:
        self.k = k
        self.relevance_threshold = relevance_threshold

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        return reciprocal_rank_values(y, scores, lists, self.k, power=0)


class ExpectedReciprocalRank(RankingMeasure):
    """Expected reciprocal rank; for scorers.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    max_grade : float, default=4.0
        The highest grade of the scale.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ExpectedReciprocalRank
    >>> ExpectedReciprocalRank(max_grade=1).measure([0, 1], [2.0, 1.0])
    0.25
    """

    at = "[k]"
    reaches_one = False
    takes_runs = True
    _parameters: ClassVar = {
        "k": [count(), None],
        "max_grade": [number(above=0, maximum=500)],
    }

    def __init__(self, k: int | None = None, *, max_grade: float = 4.0) -> None:
        self.k = k
        self.max_grade = max_grade

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        if y.max(initial=0.0) > self.max_grade:
            raise ValueError(
                f"y holds {y.max():g}, above max_grade={self.max_grade:g}."
            )
        order = sort_lists(scores, lists)
        stop = (np.exp2(np.take(y, order)) - 1.0) / np.exp2(self.max_grade)
        blocks, k = tie_blocks(np.take(scores, order), lists), self.k
        gained = stop / lists.positions
        if k is not None:
            gained[lists.positions > k] = 0.0
        if blocks is not None:
            _average_over_ties(
                gained, 1.0 - stop, blocks, lists, np.inf if k is None else k
            )
        return lists.sum(gained * _reach(1.0 - stop, lists))
