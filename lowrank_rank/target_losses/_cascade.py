"""Measures of a reader who stops: reciprocal rank, success at k and ERR.

The contribution of an item depends on the items above it, so these measures are not
positional; their means over ties still have closed forms. They are for scorers only:
they have no low-rank form here, and no score-and-sort surrogate is calibrated for ERR
(Calauzènes et al. 2013, theorem 3.3).
"""

from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln

from ..lists._ranks import block_lengths, sort_lists, tie_blocks
from ..validation._parameters import count, number
from ._target_loss import RELEVANCE, BinaryMeasure, RankingMeasure


def reciprocal_rank_values(y, scores, lists, k=None, power=1):
    """Compute 1/rank**power of the first relevant item of each list.

    The value is 0 below rank k, and nan without a relevant item.

    Consider the first block of m tied items that contains relevant ones, rho of them.
    The first of these stands below t others of the block with probability C(m-t-1,
    rho-1) / C(m, rho).
    """
    order = sort_lists(scores, lists)
    y = y[order]
    blocks = tie_blocks(scores[order], lists)
    if blocks is None:
        blocks = np.arange(len(y))
    rho = np.add.reduceat(y, blocks)
    # The first block with a relevant item, of each list that has one.
    relevant_blocks = np.flatnonzero(rho > 0)
    list_of_block = lists.index[blocks[relevant_blocks]]
    lists_with_any, first = np.unique(list_of_block, return_index=True)
    first = relevant_blocks[first]
    m = block_lengths(blocks, len(y))[first]
    # One entry for each t = 0, ..., m-1 of these blocks.
    block = np.repeat(np.arange(len(first)), m)
    t = np.arange(len(block)) - np.repeat(np.cumsum(m) - m, m)
    probability = _first_relevant_probability(t, m[block], rho[first][block])
    rank = lists.positions[blocks[first]][block] + t
    terms = probability / rank**power
    if k is not None:
        terms[rank > k] = 0.0
    value = np.full(lists.n_lists, np.nan)
    value[lists_with_any] = np.bincount(block, weights=terms, minlength=len(first))
    return value


def _first_relevant_probability(t, m, rho):
    """Compute C(m-t-1, rho-1) / C(m, rho): the first of rho items is below t others."""
    is_possible = m - t >= rho
    n_below = np.where(is_possible, m - t - 1, m)  # any valid number where impossible
    log_below = gammaln(n_below + 1) - gammaln(n_below - rho + 2) - gammaln(rho)
    log_all = gammaln(m + 1) - gammaln(m - rho + 1) - gammaln(rho + 1)
    return np.where(is_possible, np.exp(log_below - log_all), 0.0)


def _reach_probability(q, lists):
    """Compute the product of q over the positions above each item of its list."""
    reach = np.ones(len(q))
    for _, rows in lists.same_length:
        reach[rows[:, 1:]] = np.cumprod(q[rows[:, :-1]], axis=1)
    return reach


def _average_over_ties(gains, q, blocks, lists, k):
    """Average the gains over blocks of ties, in place.

    The first item of a block gets the sum of the block, the others get 0.
    """
    lengths = block_lengths(blocks, len(q))
    for length in np.unique(lengths[lengths > 1]):
        first = blocks[lengths == length]
        rows = first[:, np.newaxis] + np.arange(length)
        gains[rows] = 0.0
        gains[first] = _tied_cascade(q[rows], lists.positions[first] - 1, k)


def _tied_cascade(q, a, k):
    """Compute sum_t (e_{t-1} - e_t) / (a+t) of blocks of equal size, one a row.

    e_t is the mean of all products of t of the q's. Adding one item after the other
    gives the convex combinations

        e_t(j items) = (1 - t/j) e_t(j-1 items) + (t/j) q_j e_{t-1}(j-1 items).

    Maclaurin's inequality e_t <= mean(q)**t bounds the terms, so the sum stops once
    they fall below the last digit. Blocks without a relevant item (mean 1) add nothing.
    Positions below k add nothing either.
    """
    n_blocks, m = q.shape
    mean = q.mean(axis=1)
    largest = mean[mean < 1].max(initial=0.5)
    n_terms = int(np.ceil(np.log(1e-20) / np.log(largest))) + 1
    depth = int(min(m, k, n_terms))
    # The columns of e are e_0, ..., e_depth.
    e = np.zeros((n_blocks, depth + 1))
    e[:, 0] = 1.0
    t = np.arange(1, depth + 1)
    for j in range(1, m + 1):
        fraction = np.minimum(t / j, 1.0)
        with_item = fraction * q[:, [j - 1]] * e[:, :-1]
        e[:, 1:] = (1.0 - fraction) * e[:, 1:] + with_item
    rank = a[:, np.newaxis] + t
    terms = (e[:, :-1] - e[:, 1:]) / rank
    return np.where(rank <= k, terms, 0.0).sum(axis=1)


class ReciprocalRank(BinaryMeasure):
    """Reciprocal rank of the first relevant item, "mrr"; for scorers.

    ``RR = 1 / min{rank(i): y_i = 1}``, 0 below rank k; the mean over lists is MRR.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off, such as 10 for MS MARCO's MRR@10; None is the whole list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] E. Voorhees, "The TREC-8 Question Answering Track Report", TREC 1999.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("mrr", [0, 1], [2.0, 1.0])
    0.5
    >>> measure_score("mrr@1", [0, 1], [2.0, 1.0])
    0.0
    """

    bounds = (0.0, 1.0)
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
    """Success at k, or hit rate: whether one of the first k is relevant; for scorers.

    ``max_i [rank(i) <= k] y_i``, the name "success@k".

    Parameters
    ----------
    k : int, default=10
        Cut-off.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("success@2", [0, 1, 0], [3, 2, 1])
    1.0
    >>> measure_score("success@2", [0, 1, 0], [3, 2, 2])  # one of two orders
    0.5
    """

    bounds = (0.0, 1.0)
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
    """Expected reciprocal rank, "err"; for scorers.

    ``ERR = sum_p [p <= k] R_p / p * prod_{q < p} (1 - R_q)``, where a reader stops at
    position p with probability ``R_p = (2**y - 1) / 2**max_grade`` of its grade y.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    max_grade : float, default=4.0
        The highest grade of the scale.

    References
    ----------
    .. [1] O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan, "Expected Reciprocal Rank for
       Graded Relevance", CIKM 2009.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("err", [0, 1], [2.0, 1.0], max_grade=1)  # (1/2) * (1/2)
    0.25
    """

    bounds = (0.0, 1.0)
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

    @property
    def _largest_grade(self) -> float:
        return self.max_grade

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        order = sort_lists(scores, lists)
        # The reader stops at an item with probability (2**y - 1) / 2**max_grade.
        stop = (np.exp2(np.take(y, order)) - 1.0) / np.exp2(self.max_grade)
        q = 1.0 - stop
        k = np.inf if self.k is None else self.k
        gains = stop / lists.positions
        gains[lists.positions > k] = 0.0
        blocks = tie_blocks(np.take(scores, order), lists)
        if blocks is not None:
            _average_over_ties(gains, q, blocks, lists, k)
        return lists.sum(gains * _reach_probability(q, lists))
