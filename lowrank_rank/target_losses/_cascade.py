"""Measures of a reader who stops: reciprocal rank and expected reciprocal rank.

They look at the items above an item, so they are not positional; ties have closed forms all the
same. They have no low-rank form here and are for scorers only (no score-and-sort surrogate is
calibrated for ERR; Calauzènes et al. 2013, theorem 3.3).
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from .._arrays import ArrayLike
from .._parameters import count, number
from ._average_precision import sorted_blocks
from ._base import RELEVANCE, RankingMeasure


def reciprocal_rank_values(y, scores, lists):
    """1/rank of the first relevant item of each list, nan without one.

    Let the first block with relevant items hold rho of m. The first of them stands below t others
    of the block with probability C(m-t, rho) / C(m, rho).
    """
    y, blocks, m = sorted_blocks(y, scores, lists)
    rho = np.add.reduceat(y, blocks)
    hits = np.flatnonzero(rho > 0)
    list_of_hit = lists.index[blocks[hits]]
    first = (
        hits[np.concatenate([[True], list_of_hit[1:] != list_of_hit[:-1]])] if len(hits) else hits
    )
    value = np.full(lists.n_lists, np.nan)
    if len(first) == 0:
        return value
    m, rho = m[first], rho[first]
    block = np.repeat(np.arange(len(first)), m)  # one entry per position of these blocks
    t = np.arange(len(block)) - np.repeat(np.cumsum(m) - m, m)
    mass = _chance_all_below(t, m[block], rho[block]) - _chance_all_below(
        t + 1, m[block], rho[block]
    )
    terms = mass / (lists.positions[blocks[first]][block] + t)
    value[lists.index[blocks[first]]] = np.bincount(block, weights=terms)
    return value


def _chance_all_below(t, m, rho):
    """C(m-t, rho) / C(m, rho): no relevant item among the first t of a shuffled block."""
    possible = m - t >= rho
    n = np.where(possible, m - t, m)
    log_ratio = gammaln(n + 1) - gammaln(n - rho + 1) - gammaln(m + 1) + gammaln(m - rho + 1)
    return np.where(possible, np.exp(log_ratio), 0.0)


def expected_reciprocal_rank_values(stop, scores, lists, k=None):
    """ERR of each list from stop probabilities in [0, 1), averaged over ties."""
    q, blocks, m = sorted_blocks(1.0 - stop, scores, lists)
    reach = _product_above(q, lists)[blocks]
    a = lists.positions[blocks] - 1
    limit = np.inf if k is None else k
    gained = np.zeros(len(blocks))
    single = m == 1
    gained[single] = (1.0 - q[blocks[single]]) / (a[single] + 1)
    for size in np.unique(m[~single]):
        tied = np.flatnonzero(m == size)
        gained[tied] = _tied_cascade(
            q[blocks[tied][:, np.newaxis] + np.arange(size)], a[tied], limit
        )
    gained[a >= limit] = 0.0
    return np.bincount(lists.index[blocks], weights=reach * gained, minlength=lists.n_lists)


def _product_above(q, lists):
    """Product of q over the positions above each one, list by list.

    Lists of one length at a time; logarithms over all lists would lose digits.
    """
    product = np.ones(len(q))
    for _, rows in lists.same_length:
        product[rows[:, 1:]] = np.cumprod(q[rows[:, :-1]], axis=1)
    return product


def _tied_cascade(q, a, limit):
    """sum_t (e_{t-1} - e_t) / (a+t) for blocks of equal size, one block a row.

    The mean e_t of the products of t of the q's is built item by item, in convex combinations:
    e_t(j items) = (1 - t/j) e_t(j-1 items) + (t/j) q_j e_{t-1}(j-1 items). Maclaurin's inequality
    e_t <= mean(q)**t says which terms are below the last digit.
    """
    stops = q.min(axis=1) < 1.0
    if not stops.all():  # blocks without a relevant item add nothing
        gained = np.zeros(len(q))
        gained[stops] = _tied_cascade(q[stops], a[stops], limit) if stops.any() else 0.0
        return gained
    n_blocks, m = q.shape
    depth = m if np.isinf(limit) else int(min(m, limit))
    mean = q.mean(axis=1).max()
    if 0 < mean < 1:
        depth = min(depth, int(np.ceil(np.log(1e-20) / np.log(mean))) + 1)
    e = np.zeros((n_blocks, depth + 1))
    e[:, 0] = 1.0
    t = np.arange(1, depth + 1)
    for j in range(1, m + 1):
        share = np.minimum(t / j, 1.0)
        e[:, 1:] = (1.0 - share) * e[:, 1:] + share * q[:, [j - 1]] * e[:, :-1]
    place = a[:, np.newaxis] + t
    return np.where(place <= limit, (e[:, :-1] - e[:, 1:]) / place, 0.0).sum(axis=1)


def _stop_probability(y, max_grade):
    """(2**y - 1) / 2**max_grade, refusing grades above the scale."""
    if y.max(initial=0.0) > max_grade:
        raise ValueError(
            f"y holds the grade {y.max():g}, above max_grade={max_grade:g}: give the highest grade "
            "of your scale as max_grade."
        )
    return (np.exp2(y) - 1.0) / np.exp2(max_grade)


class ReciprocalRank(RankingMeasure):
    """One over the rank of the first relevant item; for scorers.

    Parameters
    ----------
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ReciprocalRank
    >>> ReciprocalRank().measure([0, 1], [2.0, 1.0])
    0.5
    """

    labels = "binary"
    takes_runs = True
    _parameters: ClassVar = RELEVANCE

    def __init__(self, *, relevance_threshold: float | None = None) -> None:
        self.relevance_threshold = relevance_threshold

    def values(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        return reciprocal_rank_values(y, scores, lists)

    def values_of_run(self, y: ArrayLike, scores: Any, lists: Any, retrieved: Any) -> np.ndarray:
        value = reciprocal_rank_values(np.where(retrieved, y, 0.0), scores, lists)
        return np.where(np.isnan(value) & (lists.sum(y) > 0), 0.0, value)


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
    _parameters: ClassVar = {"k": [count(), None], "max_grade": [number(above=0, maximum=500)]}

    def __init__(self, k: int | None = None, *, max_grade: float = 4.0) -> None:
        self.k = k
        self.max_grade = max_grade

    def values(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        stop = _stop_probability(y, self.max_grade)
        return expected_reciprocal_rank_values(stop, scores, lists, self.k)

    def values_of_run(self, y: ArrayLike, scores: Any, lists: Any, retrieved: Any) -> np.ndarray:
        return self.values(np.where(retrieved, y, 0.0), scores, lists)
