"""Positional measures: sum over items of discount(rank) times utility; d = r, sorting is exact.

A generalised positional performance measure (Calauzènes, Usunier & Gallinari 2013,
definition 2.1) is

    measure(y, order) = measure_offset(y) + sum_i discount(rank(i)) * gain_i(y) / normaliser(y)

with a discount that does not increase. The parts are methods of the class. The measure, the scorer
and the target loss follow from them, with alpha_i(y) = gain_i / normaliser and beta_i =
-discount(rank(i)).
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from .._arrays import ArrayLike
from .._lists import (
    RankingLists,
    batches,
    block_lengths,
    mid_fractions,
    mid_ranks,
    sort_lists,
    tie_blocks,
)
from .._parameters import check_parameter, count, number
from ..decoders import decode_assignment
from ._base import RELEVANCE, Decoder, RankingMeasure, TargetLoss, reciprocal

__all__ = [  # what the package exports
    "AUC",
    "DCG",
    "NDCG",
    "ExpectedRankUtility",
    "PositionalLoss",
    "PrecisionAtK",
    "PrecisionAtShare",
    "RecallAtK",
    "SpearmanRho",
]

# Sums over positions ----------------------------------------------------------------


_CHUNK = 2**15  # entries that are sorted at once
_SHORT = 3  # rows of a block, on average, up to which reduceat is not the fastest sum


def scored_sum(gains, scores, discount, lists, *, cutoff=None):
    """Sum over each list of discount(rank) times the gain found there, a mean over ties.

    A block of equal scores adds its gains times the mean discount of its positions.
    """
    r = lists.common_length
    if r is not None and not np.ndim(cutoff):
        row, total = _discount_row(discount, r, cutoff), np.empty(lists.n_lists)
        for some in batches(lists.n_lists, r, _CHUNK):
            matrices = gains.reshape(-1, r)[some], scores.reshape(-1, r)[some]
            total[some] = _row_sums(*matrices, row)
        return total
    order = sort_lists(scores, lists)
    blocks = tie_blocks(np.take(scores, order), lists)
    if blocks is None:
        head, of_list, values = _head(discount, lists, cutoff)
        weighted = np.take(gains, order[head]) * values
        return np.bincount(of_list, weights=weighted, minlength=lists.n_lists)
    total, first = _sums_of_blocks(np.take(gains, order), blocks, lists.starts)
    total *= np.add.reduceat(discounts(discount, lists, cutoff), blocks)
    total /= block_lengths(blocks, lists.n_rows)
    return np.add.reduceat(total, first)


def _sums_of_blocks(values, blocks, starts):
    """Sum over each block of rows, and which block is the first of each list."""
    if len(values) > _SHORT * len(blocks):
        return np.add.reduceat(values, blocks), np.searchsorted(blocks, starts)
    block = np.zeros(len(values), dtype=np.intp)
    block[blocks[1:]] = 1
    np.cumsum(block, out=block)
    return np.bincount(block, weights=values), block[starts]


def _row_sums(gains, scores, row):
    """`scored_sum` of the rows of matrices, with the discounts of the first positions.

    Ties below these do not matter. In long rows only the first positions and the next one are
    sorted, unless they are tied.
    """
    depth, r = len(row), gains.shape[1]
    by_score = np.argsort(scores, axis=1)[:, ::-1]
    starts = np.arange(0, scores.size, r)[:, np.newaxis]
    looked = depth + 1 if 3 * depth < r else r
    head = by_score[:, :looked] + starts
    found, ordered = np.take(scores, head), np.take(gains, head)
    total = ordered[:, :depth] @ row
    is_first = _first_of_ties(found)
    if is_first.all():
        return total
    tied = np.flatnonzero(~is_first.all(axis=1))
    if looked < r:
        whole = by_score[tied] + starts[tied]
        is_first, ordered = _first_of_ties(np.take(scores, whole)), np.take(gains, whole)
    elif len(tied) < len(total):
        is_first, ordered = is_first[tied], ordered[tied]
    blocks = np.flatnonzero(is_first)
    of_blocks, first = _sums_of_blocks(ordered.ravel(), blocks, starts[: len(tied), 0])
    # differences of the sums from the end, of which small discounts keep their digits
    sums = np.zeros(r)
    sums[:depth] = np.cumsum(row[::-1])[::-1]
    discounted = np.take(np.tile(sums, len(tied)), blocks)
    below = np.append(discounted[1:], 0.0)
    below[first[1:] - 1] = 0.0
    discounted -= below
    of_blocks *= discounted / block_lengths(blocks, is_first.size)
    total[tied] = np.add.reduceat(of_blocks, first)
    return total


def _first_of_ties(found):
    """Whether each entry of sorted rows differs from the entry before."""
    is_first = np.ones(found.shape, dtype=bool)
    np.not_equal(found[:, 1:], found[:, :-1], out=is_first[:, 1:])
    return is_first


def best_discounted_sum(gains, discount, lists, *, cutoff=None):
    """The largest discounted sum of each list over all orders: gains in descending order."""
    r, total = lists.common_length, np.empty(lists.n_lists)
    if r is not None:
        row = _discount_row(discount, r, cutoff)
        for some in batches(lists.n_lists, r, _CHUNK):
            total[some] = _best_row_sums(gains.reshape(-1, r)[some], row)
        return total
    for members, rows in lists.same_length:
        row = _discount_row(discount, rows.shape[1], cutoff)
        total[members] = _best_row_sums(gains[rows], row)
    return total


def _best_row_sums(matrix, row):
    return np.sort(matrix, axis=1)[:, -len(row) :] @ row[::-1].copy()


def _discount_row(discount, r, cutoff):
    """discount(1), ..., discount(r), not beyond the cut-off."""
    depth = r if cutoff is None else min(int(cutoff), r)
    return discount(np.arange(1, depth + 1), r) * np.ones(depth)


def discounts(discount, lists, cutoff=None):
    """discount(position), 0 below the cut-off, at every position of every list."""
    head, _, values = _head(discount, lists, cutoff)
    by_position = np.zeros(lists.n_rows)
    by_position[head] = values
    return by_position


def _head(discount, lists, cutoff):
    """The rows above the cut-off, the list of each, and their discounts."""
    r = lists.lengths
    depth = r if cutoff is None else np.minimum(r, cutoff).astype(np.intp)
    of_list = np.repeat(np.arange(lists.n_lists), depth)
    p = np.arange(1, len(of_list) + 1) - (np.cumsum(depth) - depth)[of_list]
    values = discount(p, r[of_list]) * np.ones(len(p))
    return lists.starts[of_list] + p - 1, of_list, values


# Cut-offs, gains, discounts ---------------------------------------------------------


K = count()._replace(
    words="an integer >= 1 (for a share of the relevant items give share=..., PrecisionAtShare)"
)
SHARE = number(above=0, maximum=1)._replace(
    words="in (0, 1], a share of the relevant items (for a count give k=..., PrecisionAtK)"
)


def check_k(k):
    """The cut-off k, a count; refuses anything but an integer >= 1."""
    check_parameter("k", k, [count()])
    return int(k)


def check_share(share):
    """The share of the relevant items that a cut-off stands for; refuses all but (0, 1]."""
    check_parameter("share", share, [SHARE])
    return float(share)


def places_of_share(share, n_relevant):
    """The cut-off max(1, floor(share * P + 1/2)) of a share of P relevant items."""
    return np.maximum(1.0, np.floor(share * n_relevant + 0.5))


_LARGEST_EXPONENT = 900.0  # 2**1024 overflows; sums and products need room


def _exponential_gain(y):
    highest = np.fmax.reduce(y, axis=None, initial=0.0)  # NaN is not judged
    if highest > _LARGEST_EXPONENT:
        raise ValueError(
            f"The exponential gain 2**y - 1 overflows at the grade y={highest:g}: use "
            'gain="linear", or grades on a smaller scale such as 0..4.'
        )
    return np.exp2(y) - 1.0


GAINS: dict[str, Callable] = {"linear": lambda y: y, "exponential": _exponential_gain}


def _within_range(gains, lists):
    """Gains whose sums stay in the floating range: a factor of two to some power for a list.

    Scale very small or large gains, so that sums of gains can be divisors.
    """
    smallest, largest = 2.0**-_LARGEST_EXPONENT, 2.0**_LARGEST_EXPONENT
    if gains.max() < largest and not np.any((gains < smallest) & (gains > 0)):
        return gains
    exponent = np.frexp(np.maximum.reduceat(gains, lists.starts))[1]
    shift = np.where(np.abs(exponent) > _LARGEST_EXPONENT, -exponent, 0)
    return np.ldexp(gains, lists.spread(shift)) if shift.any() else gains


def items_below(p, r):
    """r - p, the items that stand below: the discount of AUC, Spearman and pairs."""
    return (r - p) * 1.0


# Bases ------------------------------------------------------------------------------


class PositionalMeasure(RankingMeasure):
    """A measure of the module's form, by its parts; the cut-off may depend on the label."""

    takes_runs = True

    def gains(self, y: ArrayLike, lists: Any) -> np.ndarray:
        """The numerator of each item's utility, >= 0: the label itself."""
        return y

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        """The discount at 1-based positions p of lists of length r; the cut-off comes on top."""
        raise NotImplementedError(f"{type(self).__name__} must define discount(p, r).")

    def cutoff(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        """Rank below which nothing counts: a number, one for each list, or None."""
        return None

    def divisor(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        """Number, or one for each list, that the sum is divided by in the end.

        A factor of the discount that is kept apart: sums of whole numbers then stay exact.
        """
        return 1.0

    def normaliser(self, y: ArrayLike, gains: Any, lists: Any) -> np.ndarray:
        """One number for each list; 0 marks a list on which the measure is undefined."""
        return np.ones(lists.n_lists)

    def measure_offset(self, y: ArrayLike, lists: Any) -> float | np.ndarray:
        """Constant that the measure adds, a number or one for each list."""
        return 0.0

    def values(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        return self.values_of_run(y, scores, lists, None)

    def values_of_run(self, y: ArrayLike, scores: Any, lists: Any, retrieved: Any) -> np.ndarray:
        gains = self.gains(y, lists)
        found = gains if retrieved is None else np.where(retrieved, gains, 0.0)
        total = scored_sum(found, scores, self.discount, lists, cutoff=self.cutoff(y, lists))
        total = total / self.divisor(y, lists)
        scale = self.normaliser(y, gains, lists)
        value = np.full(lists.n_lists, np.nan)
        np.divide(total, scale, out=value, where=scale > 0)
        return value + self.measure_offset(y, lists)


class PositionalLoss(PositionalMeasure, TargetLoss):
    """Base of the losses ``constant - measure`` with a positional measure.

    A subclass declares which labels it takes and defines the parts that differ from these:
    ``discount(p, r)`` in any case; ``gains``, the label itself; ``cutoff``, none, and not by the
    label; ``divisor`` and ``normaliser``, 1; ``measure_offset``, 0; ``constant``, 1.
    """

    is_positional = True

    def _flat(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        return y.ravel(), RankingLists.equal(*y.shape)

    def constant(self, y: ArrayLike, lists: Any) -> float | np.ndarray:
        """The loss is this minus the measure; 1 where the measure's best value is 1."""
        return 1.0

    def encode(self, y: ArrayLike) -> np.ndarray:
        """Utilities v_i(y) = gain_i / normaliser, shape (n_lists, r); 0 where undefined."""
        flat, lists = self._flat(y)
        gains = self.gains(flat, lists)
        scale = reciprocal(self.normaliser(flat, gains, lists))
        return (gains * lists.spread(scale)).reshape(np.shape(y))

    def rank_features(self, ranks: Any) -> np.ndarray:
        """-discount(rank), shape (n, r)."""
        ranks = np.asarray(ranks)
        one_list = RankingLists.equal(1, ranks.shape[1])
        values = discounts(self.discount, one_list, self.cutoff(None, one_list))
        return -(values / self.divisor(None, one_list))[ranks - 1]

    def offset(self, y: ArrayLike) -> np.ndarray:
        """constant - measure_offset(y), shape (n_lists,)."""
        flat, lists = self._flat(y)
        return (self.constant(flat, lists) - self.measure_offset(flat, lists)) * np.ones(len(y))

    def row_targets(self, y: ArrayLike, lists: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        gains = self.gains(y, lists)
        return gains, self.normaliser(y, gains, lists)


# Relevant or not --------------------------------------------------------------------


class _TopK(PositionalLoss):
    """Base of what counts the relevant items among the first k."""

    labels = "binary"
    at = "k"
    reaches_one = False
    _parameters: ClassVar = {"k": [count()], **RELEVANCE}

    def __init__(self, k: Any = 10, *, relevance_threshold: Any = None) -> None:
        self.k = k
        self.relevance_threshold = relevance_threshold

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return 1.0

    def cutoff(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        return self.k


class PrecisionAtK(_TopK):
    """Precision at k, ``1 - (1/k) sum_i [rank(i) <= k] y_i``; k = 1 is winner takes all.

    Parameters
    ----------
    k : int, default=10
        Cut-off, at least 1. Shorter lists still divide by k.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 4.

    Examples
    --------
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> PrecisionAtK(k=1).loss([[0, 1, 0]], [[2, 1, 3]])
    array([0.])
    """

    allow_missing = True
    _parameters: ClassVar = {"k": [K], **RELEVANCE}

    def divisor(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        return self.k


class PrecisionAtShare(PositionalMeasure, TargetLoss):
    """Precision at k, with k a fraction `share` of each list's relevant items; 1 is PRBEP.

    The cut-off ``k(y) = max(1, floor(share * P + 1/2))`` depends on the label, so sorting E v is
    not calibrated. Linear in the indicators [rank(i) = p], the loss is decoded by an assignment:
    ``alpha_ip = y_i [p <= k(y)] / k(y)``, ``beta_ip = -[rank(i) = p]``, d = r * max k. For
    lists of fixed items only: the decoder needs the whole list.

    Parameters
    ----------
    share : float, default=1.0
        In (0, 1]; k(y) = max(1, floor(share * P + 1/2)) with P relevant items.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision at the
       Top", ICML 2015.

    Examples
    --------
    >>> from lowrank_rank.target_losses import PrecisionAtShare
    >>> PrecisionAtShare(share=1.0).loss([[0, 1, 1]], [[1, 2, 3]])  # k = 2
    array([0.5])
    """

    labels = "binary"
    at = "p%"
    reaches_one = False
    _parameters: ClassVar = {"share": [SHARE], **RELEVANCE}

    def __init__(self, share: float = 1.0, *, relevance_threshold: float | None = None) -> None:
        self.share = share
        self.relevance_threshold = relevance_threshold

    def checked_share(self) -> float:
        """`share` as a float; refuses other values."""
        return check_share(self.share)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return 1.0

    def cutoff(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        return places_of_share(self.share, lists.sum(y))

    def divisor(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        return self.cutoff(y, lists)

    def _positions(self, n_items):
        return np.arange(1, int(places_of_share(self.share, n_items)) + 1)

    def encode(self, y: ArrayLike) -> np.ndarray:
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        k = places_of_share(self.share, y.sum(axis=1))
        open_to = (self._positions(y.shape[1]) <= k[:, np.newaxis]) / k[:, np.newaxis]
        return (y[:, :, np.newaxis] * open_to[:, np.newaxis, :]).reshape(len(y), -1)

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        placed = ranks[:, :, np.newaxis] == self._positions(ranks.shape[1])
        return -placed.reshape(len(ranks), -1).astype(float)

    def offset(self, y: ArrayLike) -> np.ndarray:
        return np.ones(len(y))

    @property
    def decoders(self) -> dict[str, Decoder]:
        return {"assignment": Decoder(decode_assignment, exact=True)}


class RecallAtK(_TopK):
    """Recall at k, ``1 - sum_i [rank(i) <= k] y_i / sum_i y_i``.

    Parameters
    ----------
    k : int, default=10
        Cut-off, at least 1.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import RecallAtK
    >>> RecallAtK(k=1).loss([[0, 1, 1]], [[2, 1, 3]])
    array([0.5])
    """

    def normaliser(self, y: ArrayLike, gains: Any, lists: Any) -> np.ndarray:
        return lists.sum(gains)


class AUC(PositionalLoss):
    """Area under the ROC curve of each list, as the loss ``1 - AUC``.

    AUC is the fraction of (relevant, irrelevant) pairs in the right order. With P relevant and N
    irrelevant items it is ``sum_i (r - rank(i)) y_i / (P N) - (P - 1) / (2 N)``.

    Parameters
    ----------
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import AUC
    >>> AUC().loss([[1, 0, 1, 0]], [[1, 2, 3, 4]])  # 1 of 4 pairs is wrong
    array([0.25])
    """

    labels = "binary"
    takes_runs = False
    _parameters: ClassVar = RELEVANCE

    def __init__(self, *, relevance_threshold: float | None = None) -> None:
        self.relevance_threshold = relevance_threshold

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return items_below(p, r)

    def normaliser(self, y: ArrayLike, gains: Any, lists: Any) -> np.ndarray:
        positives = lists.sum(y)
        return positives * (lists.lengths - positives)

    def measure_offset(self, y: ArrayLike, lists: Any) -> np.ndarray:
        positives = lists.sum(y)
        return -(positives - 1.0) / (2.0 * np.maximum(lists.lengths - positives, 1.0))


# Grades -----------------------------------------------------------------------------


class DCG(PositionalLoss):
    """Discounted cumulative gain, ``-sum_i [rank(i) <= k] gain(y_i) / log2(1 + rank(i))``.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y, or 2**y - 1.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import DCG
    >>> DCG().loss([[3, 0, 2]], [[1, 2, 3]])  # -(3/log2(2) + 2/log2(4))
    array([-4.])
    """

    allow_missing = True
    at = "[k]"
    reaches_one = False
    _parameters: ClassVar = {"k": [count(), None], "gain": [*GAINS]}

    def __init__(self, k: int | None = None, *, gain: str = "linear") -> None:
        self.k = k
        self.gain = gain

    def gains(self, y: ArrayLike, lists: Any) -> np.ndarray:
        return GAINS[self.gain](y)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return 1.0 / np.log2(1.0 + p)

    def cutoff(self, y: ArrayLike, lists: Any) -> float | np.ndarray | None:
        return self.k

    def constant(self, y: ArrayLike, lists: Any) -> float | np.ndarray:
        return 0.0


class NDCG(DCG):
    """Normalised DCG, ``1 - DCG@k / (DCG@k of the best order)``.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off, of the best order as well; None is the whole list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y, or 2**y - 1.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import NDCG
    >>> NDCG(k=1).loss([[2, 1]], [[2, 1]])  # 1 - (1/log2(2)) / (2/log2(2))
    array([0.5])
    """

    allow_missing = False
    reaches_one = True

    def gains(self, y: ArrayLike, lists: Any) -> np.ndarray:
        return _within_range(super().gains(y, lists), lists)

    def normaliser(self, y: ArrayLike, gains: Any, lists: Any) -> np.ndarray:
        return best_discounted_sum(gains, self.discount, lists, cutoff=self.cutoff(y, lists))

    def constant(self, y: ArrayLike, lists: Any) -> float | np.ndarray:
        return 1.0


class SpearmanRho(PositionalLoss):
    """Spearman's rank correlation, as the loss ``1 - rho``.

    The label is a ranking: r - rank, or any numbers that are higher for better items. A label with
    ties is the mean over the rankings that agree with it.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import SpearmanRho
    >>> SpearmanRho().loss([[2, 1, 0]], [[3, 2, 1]])  # 1 - (-1)
    array([2.])
    """

    labels = "any"
    takes_runs = False

    def gains(self, y: ArrayLike, lists: Any) -> np.ndarray:
        return lists.spread(lists.lengths) - mid_ranks(y, lists)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return items_below(p, r)

    def normaliser(self, y: ArrayLike, gains: Any, lists: Any) -> np.ndarray:
        return lists.lengths * (lists.lengths**2.0 - 1.0) / 12.0

    def measure_offset(self, y: ArrayLike, lists: Any) -> np.ndarray:
        return -3.0 * (lists.lengths - 1.0) / (lists.lengths + 1.0)

    def row_targets(self, y: ArrayLike, lists: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        # r - rho_i as a fraction of the list: lists of every length then speak of one scale,
        # and a row of weight 2 is the row twice.
        return mid_fractions(y, lists, weights), np.ones(lists.n_lists)


class ExpectedRankUtility(PositionalLoss):
    """Expected rank utility of short lists that are read from the top.

    ``z - sum_i max(y_i - neutral, 0) 2**((1 - rank(i)) / (half_life - 1))``. The constant z is the
    utility of r items of `max_grade`, or 0 without it.

    Parameters
    ----------
    neutral : float, default=2.0
        Grade without value for the reader.
    half_life : float, default=5.0
        Rank that is seen with half the probability of the first; above 1.
    max_grade : float or None, default=None
        Highest grade of the scale, for z only. None is z = 0: the loss is minus the utility.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 5.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ExpectedRankUtility
    >>> loss = ExpectedRankUtility(neutral=2, half_life=2, max_grade=5)
    >>> loss.loss([[5, 3]], [[1, 2]])  # 3 + 3/2 - (3 + 1/2)
    array([1.])
    """

    labels = "any"  # only what is above `neutral` counts
    allow_missing = True
    reaches_one = False
    _parameters: ClassVar = {
        "neutral": [number()],
        "half_life": [number(above=1)],
        "max_grade": [number(), None],
    }

    def __init__(
        self, neutral: float = 2.0, half_life: float = 5.0, *, max_grade: float | None = None
    ) -> None:
        self.neutral = neutral
        self.half_life = half_life
        self.max_grade = max_grade

    def gains(self, y: ArrayLike, lists: Any) -> np.ndarray:
        return np.maximum(y - self.neutral, 0.0)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return np.exp2((1.0 - p) / (self.half_life - 1.0))

    def constant(self, y: ArrayLike, lists: Any) -> float | np.ndarray:
        if self.max_grade is None:
            return 0.0
        worth = max(self.max_grade - self.neutral, 0.0)
        return worth * lists.sum(discounts(self.discount, lists))
