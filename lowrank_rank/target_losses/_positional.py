"""Positional measures: sums of discounted gains, decoded exactly by sorting (d = r).

A generalised positional performance measure (Calauzènes, Usunier & Gallinari 2013,
definition 2.1) is

    measure(y, order) = measure_offset(y) + sum_i discount(rank(i)) * gain_i(y) /
    normaliser(y)

The discount must not increase. Each part is a method of the measure's class. The
measure, the scorer and the target loss follow from these: alpha_i(y) = gain_i /
normaliser and beta_i = -discount(rank(i)).
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..decoders._decoded import decode_assignment
from ..lists._lists import RankingLists, bounded_blocks
from ..lists._ranks import (
    block_lengths,
    mid_fractions,
    mid_ranks,
    sort_lists,
    tie_blocks,
)
from ..validation._arrays import ArrayLike
from ..validation._parameters import check_parameter, count, number
from ._target_loss import RELEVANCE, BinaryMeasure, Decoder, TargetLoss, reciprocal

# Sums over positions ----------------------------------------------------------------


def scored_sum(gains, scores, discount, lists, *, cutoff=None):
    """Sum discount(rank) times gain over each list; tied scores give their mean."""
    if lists.common_length is None or np.ndim(cutoff):
        weights = discounts(discount, lists, cutoff)
        order = sort_lists(scores, lists)
        return _sum_in_order(gains, scores, order, weights, lists)
    row = _discount_row(discount, lists.common_length, cutoff)
    return _sum_in_equal_lists(gains, scores, row, lists)


def _sum_in_equal_lists(gains, scores, row, lists):
    """Compute `scored_sum` of lists of one length, with the same `row` of discounts."""
    r = lists.common_length
    depth = len(row)
    score_matrix = scores.reshape(-1, r)
    total = np.empty(lists.n_lists)
    # About 2**15 numbers at once fit into the cache.
    for block in bounded_blocks(lists.n_lists, r, 2**15):
        order = np.argsort(score_matrix[block], axis=1)[:, ::-1]
        order = order + lists.starts[block, np.newaxis]
        total[block] = np.take(gains, order[:, :depth]) @ row
        # Ties below the first position without a discount change nothing.
        top_scores = np.take(scores, order[:, : depth + 1])
        has_ties = (top_scores[:, 1:] == top_scores[:, :-1]).any(axis=1)
        tied = np.flatnonzero(has_ties)
        if len(tied):
            weights = np.tile(np.pad(row, (0, r - depth)), len(tied))
            tied_lists = RankingLists.equal(len(tied), r)
            total[block.start + tied] = _sum_in_order(
                gains, scores, order[tied].ravel(), weights, tied_lists
            )
    return total


def _sum_in_order(gains, scores, order, weights, lists):
    """Sum gain times weight of the position over each list, averaged over ties."""
    blocks = tie_blocks(np.take(scores, order), lists)
    gains = np.take(gains, order)
    if blocks is None:
        return lists.sum(gains * weights)
    # The mean over the orders of a block of ties: sum of gains times mean of weights.
    sizes = block_lengths(blocks, lists.n_rows)
    block_of_row = np.repeat(np.arange(len(blocks)), sizes)
    block_gains = np.bincount(block_of_row, weights=gains)
    block_weights = np.bincount(block_of_row, weights=weights)
    block_sums = block_gains * block_weights / sizes
    return np.add.reduceat(block_sums, block_of_row[lists.starts])


def best_discounted_sum(gains, discount, lists, *, cutoff=None):
    """Compute the largest discounted sum of each list: gains in descending order."""
    r = lists.common_length
    if r is not None:
        return _best_sum_of_rows(gains.reshape(lists.n_lists, r), discount, cutoff)
    total = np.empty(lists.n_lists)
    for members, rows in lists.same_length:
        total[members] = _best_sum_of_rows(gains[rows], discount, cutoff)
    return total


def _best_sum_of_rows(gains, discount, cutoff):
    """Compute `best_discounted_sum` of each row of a matrix of gains."""
    row = _discount_row(discount, gains.shape[1], cutoff)
    ascending = np.sort(gains, axis=1)
    return ascending[:, -len(row) :] @ row[::-1].copy()


def _discount_row(discount, r, cutoff):
    """Compute discount(1), ..., discount(r) down to the cut-off; they may not rise."""
    depth = r
    if cutoff is not None:
        depth = min(int(cutoff), r)
    row = np.full(depth, discount(np.arange(1, depth + 1), r), dtype=np.float64)
    is_rise = np.diff(row) > 0
    if not is_rise.any():
        return row
    p = int(np.argmax(is_rise)) + 1
    raise ValueError(
        f"The discount of place {p + 1} of {r}, {row[p]:g}, is above that of place "
        f"{p}, {row[p - 1]:g}: discounts must not increase."
    )


def discounts(discount, lists, cutoff=None):
    """Compute discount(position) of every position of the lists, 0 below the cut-off.

    `cutoff` is None, a number or one for each list. The result has an entry for each
    row.
    """
    depth = lists.lengths
    if cutoff is not None:
        depth = np.minimum(lists.lengths, cutoff).astype(np.intp)
    # The list and the position p of each row above the cut-off.
    list_of_row = np.repeat(np.arange(lists.n_lists), depth)
    first_row = np.cumsum(depth) - depth
    p = np.arange(1, len(list_of_row) + 1) - first_row[list_of_row]
    by_position = np.zeros(lists.n_rows)
    by_position[lists.starts[list_of_row] + p - 1] = discount(
        p, lists.lengths[list_of_row]
    )
    return by_position


# Cut-offs, gains, discounts ---------------------------------------------------------


K = count()._replace(
    words="an integer >= 1 (PrecisionAtShare takes a share of the relevant items)"
)
SHARE = number(above=0, maximum=1)._replace(
    words="in (0, 1], a share of the relevant items (PrecisionAtK takes a count)"
)
SHARE_OF_ROWS = SHARE._replace(words="in (0, 1], a share of the items of a list")


def places_of_share(share, n_relevant):
    """Compute max(1, floor(share * P + 1/2)), the cut-off at a share of P items."""
    return np.maximum(1.0, np.floor(share * n_relevant + 0.5))


_LARGEST_EXPONENT = 900.0  # 2**1024 overflows in IEEE 754; sums need room


def _linear_gain(y):
    return y


def _exponential_gain(y):
    return np.exp2(y) - 1.0


GAINS: dict[str, Callable] = {"linear": _linear_gain, "exponential": _exponential_gain}


def items_below(p, r):
    """Return r - p, the number of items below: the discount of AUC, Spearman and pairs.

    Parameters
    ----------
    p : ndarray of int
        Positions, 1 = first.
    r : int or ndarray of int
        Length of the list of each position.

    Returns
    -------
    ndarray
        The discount at each position.
    """
    return np.subtract(r, p, dtype=np.float64)


def falls_of_discounts(phi, p=2.0):
    """Compute C_phi(p) of the discounts phi(1) >= ... >= phi(r)."""
    # phi(i) - phi(r - i + 1), for i = 1, ..., floor(r/2); rounding may be below 0
    half = len(phi) // 2
    differences = np.maximum(phi[:half] - phi[::-1][:half], 0.0)
    return float((differences**p).sum() ** (1.0 / p))


def discounts_of(loss, n_items):
    """Return the discounts phi(1), ..., phi(n_items) of a positional loss."""
    ranks = np.arange(1, n_items + 1)[np.newaxis]
    return -loss.rank_features(ranks)[0]


# Bases ------------------------------------------------------------------------------


class PositionalLoss(TargetLoss):
    """Base of the losses ``constant - measure`` with a measure of the module's form.

    A subclass declares its labels and defines ``discount(p, r)``. It overrides the
    other parts if they differ from these defaults: ``gains``, the label itself;
    ``cutoff``, the parameter ``k`` if there is one (it must not depend on the label);
    ``divisor`` and ``normaliser``, 1; ``measure_offset``, 0; ``constant``, 1, the value
    of the measure for the best order.

    Examples
    --------
    Each grade is divided by its place:

    >>> from lowrank_rank.target_losses import PositionalLoss
    >>> class GradeOverPlace(PositionalLoss):
    ...     labels = "graded"
    ...     def discount(self, p, r):
    ...         return 1.0 / p

    Grades 2 and 3 in the places 1 and 3:

    >>> GradeOverPlace().measure([2, 0, 3], [0.9, 0.5, 0.1])
    3.0
    >>> from lowrank_rank import OrderPreservingRegressor
    >>> ranker = OrderPreservingRegressor(target_loss=GradeOverPlace())
    >>> X, y, qid = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker.fit(X, y, qid=qid).rank(X, qid=qid)
    array([2, 1, 2, 1])
    """

    takes_runs = True
    is_positional = True
    constant: ClassVar[float] = 1.0

    def gains(self, y: np.ndarray, lists: Any) -> np.ndarray:
        """Return the numerator of each item's utility, >= 0: the label itself.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels that have passed `check_labels`.
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Gain of each row.
        """
        return y

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        """Compute the discount at positions p = 1, 2, ... of lists of length r.

        The cut-off is applied afterwards. p holds integers: write ``1.0 / p**2``, as
        they have no negative powers.

        Parameters
        ----------
        p : ndarray of int
            Positions, 1 = first.
        r : int or ndarray of int
            Length of the list of each position.

        Returns
        -------
        float or ndarray
            The discount at each position.
        """
        raise NotImplementedError(f"{type(self).__name__} must define discount(p, r).")

    def cutoff(self, y: Any, lists: Any) -> float | np.ndarray | None:
        """Return the last rank that counts: a number, one for each list, or None.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels that have passed `check_labels`.
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        float, ndarray of shape (n_lists,) or None
            The last rank that counts; None is the last of the list.
        """
        return getattr(self, "k", None)

    def divisor(self, y: Any, lists: Any) -> float | np.ndarray | None:
        """Return what the sum is divided by in the end, a number or one for each list.

        The divisor is a factor of the discount that is kept apart: sums of whole
        numbers then stay exact.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels that have passed `check_labels`.
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        float or ndarray of shape (n_lists,)
            The divisor, above 0.
        """
        return 1.0

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        """Compute one number for each list; 0 marks an undefined measure.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels that have passed `check_labels`.
        gains : ndarray of shape (n_rows,)
            The `gains` of y.
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        ndarray of shape (n_lists,)
            Normaliser of each list, >= 0.
        """
        return np.ones(lists.n_lists)

    def measure_offset(self, y: np.ndarray, lists: Any) -> float | np.ndarray:
        """Return the part of the measure that does not depend on the order.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Grouped labels that have passed `check_labels`.
        lists : RankingLists
            Lists of the rows.

        Returns
        -------
        float or ndarray of shape (n_lists,)
            A number, or one for each list, added to the sum of discounted gains.
        """
        return 0.0

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        return self.values_of_run(y, scores, lists, None)

    def values_of_run(
        self, y: np.ndarray, scores: Any, lists: Any, retrieved: Any
    ) -> np.ndarray:
        gains = self.gains(y, lists)
        retrieved_gains = gains
        if retrieved is not None:
            retrieved_gains = np.where(retrieved, gains, 0.0)
        cutoff = self.cutoff(y, lists)
        total = scored_sum(retrieved_gains, scores, self.discount, lists, cutoff=cutoff)
        total = total / self.divisor(y, lists)
        # Items that were not retrieved count in the normaliser.
        normaliser = self.normaliser(y, gains, lists)
        value = np.full(lists.n_lists, np.nan)
        np.divide(total, normaliser, out=value, where=normaliser > 0)
        return value + self.measure_offset(y, lists)

    def _flat_labels(self, y):
        """Check a matrix of labels; return it flat, with its rows as lists."""
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        return y.ravel(), RankingLists.equal(*y.shape)

    def encode(self, y: Any) -> np.ndarray:
        """Compute v_i(y) = gain_i / normaliser, shape (n_lists, r); 0 where undefined.

        These utilities are the targets alpha_i(y).
        """
        flat, lists = self._flat_labels(y)
        gains = self.gains(flat, lists)
        scale = reciprocal(self.normaliser(flat, gains, lists))
        return (gains * lists.repeat(scale)).reshape(np.shape(y))

    def rank_features(self, ranks: Any) -> np.ndarray:
        """Compute beta_i = -discount(rank(i)), shape (n, r)."""
        ranks = np.asarray(ranks)
        one_list = RankingLists.equal(1, ranks.shape[1])
        cutoff = self.cutoff(None, one_list)
        by_position = discounts(self.discount, one_list, cutoff)
        by_position = by_position / self.divisor(None, one_list)
        return -by_position[ranks - 1]

    def offset(self, y: ArrayLike) -> np.ndarray:
        """Compute constant - measure_offset(y), shape (n_lists,)."""
        flat, lists = self._flat_labels(y)
        return np.full(len(y), self.constant - self.measure_offset(flat, lists))

    def C_phi(self, n_items: int, *, p: float = 2.0) -> float:
        """Compute the constant of the measure in the regret bound of a surrogate.

        For the discount phi, it is
        ``C_phi(p) = (sum_{i=1..floor(r/2)} (phi(i) - phi(r - i + 1))**p)**(1/p)``. The
        bound (9) of [1]_ has p = 2, see `lowrank_rank.calibration.regret_bound`.

        Parameters
        ----------
        n_items : int
            The number r of items.
        p : float, default=2.0
            Power of the differences, > 0.

        Returns
        -------
        float
            >= 0; 0 if all discounts are equal.

        References
        ----------
        .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013,
           equation (10).

        Examples
        --------
        >>> from lowrank_rank.target_losses import PrecisionAtK
        >>> PrecisionAtK(k=1).C_phi(n_items=4)
        1.0
        """
        check_parameter("n_items", n_items, [count()])
        check_parameter("p", p, [number(above=0)])
        return falls_of_discounts(discounts_of(self, n_items), p)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        if not self.is_positional:
            return super().row_targets(y, lists, weights)  # refuses documents
        gains = self.gains(y, lists)
        return gains, self.normaliser(y, gains, lists)


# Relevant or not --------------------------------------------------------------------


class _TopK(PositionalLoss):
    """Base of the measures that count the relevant items among the first k."""

    labels = "binary"
    at = "k"
    reaches_one = False
    _parameters: ClassVar = {"k": [count()], **RELEVANCE}

    def __init__(self, k: Any = 10, *, relevance_threshold: Any = None) -> None:
        self.k = k
        self.relevance_threshold = relevance_threshold

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return 1.0


class PrecisionAtK(_TopK):
    """Precision at k, ``1 - (1/k) sum_i [rank(i) <= k] y_i``.

    k = 1 is winner takes all.

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

    bounds = (0.0, 1.0)
    allow_missing = True
    _parameters: ClassVar = {"k": [K], **RELEVANCE}

    def divisor(self, y: Any, lists: Any) -> float | np.ndarray | None:
        return self.k


class PrecisionAtShare(_TopK):
    """Precision at a share of the relevant items.

    The cut-off is ``k(y) = max(1, floor(share * P + 1/2))`` with P relevant items, and
    ``share=1`` is R-precision (PRBEP). The cut-off depends on the label, so that
    sorting E v is not calibrated. Linear in the indicators [rank(i) = p], the loss is
    decoded by an assignment: ``alpha_ip = y_i [p <= k(y)] / k(y)``, ``beta_ip =
    -[rank(i) = p]``, d = r * max k. It is for lists of fixed items only: the decoder
    needs the whole list.

    Parameters
    ----------
    share : float, default=1.0
        A fraction in (0, 1] of the relevant items of each list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision
       at the Top", ICML 2015.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("precision@100%", [[0, 1, 1]], [[3, 2, 1]])  # k = 2
    0.5
    """

    bounds = (0.0, 1.0)
    at = "p%"
    is_positional = False
    takes_documents = False
    _parameters: ClassVar = {"share": [SHARE], **RELEVANCE}

    def __init__(
        self, share: float = 1.0, *, relevance_threshold: float | None = None
    ) -> None:
        self.share = share
        self.relevance_threshold = relevance_threshold

    def cutoff(self, y: Any, lists: Any) -> float | np.ndarray | None:
        return places_of_share(self.share, lists.sum(y))

    def divisor(self, y: Any, lists: Any) -> float | np.ndarray | None:
        return self.cutoff(y, lists)

    def __str__(self) -> str:  # the name of a scorer
        return f"{self!r} of the positives"

    def _positions(self, n_items):
        """Return the positions p = 1, ..., max k."""
        return np.arange(1, int(places_of_share(self.share, n_items)) + 1)

    def encode(self, y: Any) -> np.ndarray:
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        k = places_of_share(self.share, y.sum(axis=1))[:, np.newaxis]
        # alpha_ip = y_i [p <= k(y)] / k(y)
        by_position = (self._positions(y.shape[1]) <= k) / k
        alpha = y[:, :, np.newaxis] * by_position[:, np.newaxis, :]
        return alpha.reshape(len(y), -1)

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        # beta_ip = -[rank(i) = p]
        is_at = ranks[:, :, np.newaxis] == self._positions(ranks.shape[1])
        return -is_at.reshape(len(ranks), -1).astype(float)

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

    bounds = (0.0, 1.0)

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        return lists.sum(gains)


class RecallAtShare(_TopK):
    """Recall at a share of the rows, ``1 - sum_i [rank(i) <= k] y_i / sum_i y_i``.

    The cut-off is ``k = max(1, floor(share * r + 1/2))`` of a list of r items. (That of
    "precision@5%" is a share of the relevant items.)

    Parameters
    ----------
    share : float, default=0.1
        A fraction in (0, 1] of the items of each list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("recall@50%", [0, 1, 1, 0], [4, 3, 2, 1])  # k = 2
    0.5
    """

    at = "p%"
    takes_runs = False
    _parameters: ClassVar = {"share": [SHARE_OF_ROWS], **RELEVANCE}

    def __init__(
        self, share: float = 0.1, *, relevance_threshold: float | None = None
    ) -> None:
        self.share = share
        self.relevance_threshold = relevance_threshold

    def __str__(self) -> str:  # the name of a scorer
        return f"{self!r} of the rows"

    def cutoff(self, y: Any, lists: Any) -> float | np.ndarray | None:
        return places_of_share(self.share, lists.lengths)

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        return lists.sum(gains)


class AUC(BinaryMeasure, PositionalLoss):
    """Area under the ROC curve of each list, as the loss ``1 - AUC``.

    AUC is the fraction of (relevant, irrelevant) pairs in the right order. With P
    relevant and N irrelevant items it is ``sum_i (r - rank(i)) y_i / (P N) - (P - 1) /
    (2 N)``.

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

    bounds = (0.0, 1.0)
    takes_runs = False
    discount = staticmethod(items_below)

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        positives = lists.sum(y)
        return positives * (lists.lengths - positives)

    def measure_offset(self, y: np.ndarray, lists: Any) -> np.ndarray:
        positives = lists.sum(y)
        negatives = np.maximum(lists.lengths - positives, 1.0)
        return -(positives - 1.0) / (2.0 * negatives)


# Grades -----------------------------------------------------------------------------


class DCG(PositionalLoss):
    """Discounted cumulative gain, as the loss ``-DCG``.

    ``DCG = sum_i [rank(i) <= k] gain(y_i) / log2(1 + rank(i))``.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y, or 2**y - 1.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.
    .. [2] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR
       techniques", ACM TOIS 20, 2002.

    Examples
    --------
    >>> from lowrank_rank.target_losses import DCG
    >>> DCG().loss([[3, 0, 2]], [[1, 2, 3]])  # -(3/log2(2) + 2/log2(4))
    array([-4.])
    """

    allow_missing = True
    at = "[k]"
    reaches_one = False
    constant = 0.0
    _parameters: ClassVar = {"k": [count(), None], "gain": [*GAINS]}

    def __init__(self, k: int | None = None, *, gain: str = "linear") -> None:
        self.k = k
        self.gain = gain

    @property
    def _largest_grade(self) -> float | None:
        return _LARGEST_EXPONENT if self.gain == "exponential" else None

    def gains(self, y: np.ndarray, lists: Any) -> np.ndarray:
        return GAINS[self.gain](y)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return 1.0 / np.log2(1.0 + p)


class GainAtK(_TopK):
    """Total of the grades among the first k, as the loss ``-sum_i [rank(i) <= k] y_i``.

    Its name is "gain@k". If the grades are amounts of money, so is the total.

    Parameters
    ----------
    k : int, default=10
        Cut-off, at least 1.

    Examples
    --------
    Two cases can be inspected, and the second and third are worth 100 and 30:

    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("gain@2", [0, 100, 30], [0.9, 0.7, 0.1])
    100.0
    """

    labels = "graded"
    allow_missing = True
    constant = 0.0
    _parameters: ClassVar = {"k": [count()]}

    def __init__(self, k: int = 10) -> None:
        self.k = k


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

    bounds = (0.0, 1.0)
    allow_missing = False
    reaches_one = True
    constant = 1.0

    def gains(self, y: np.ndarray, lists: Any) -> np.ndarray:
        gains = super().gains(y, lists)
        is_tiny = (gains > 0) & (gains < 2.0**-_LARGEST_EXPONENT)
        if gains.max() < 2.0**_LARGEST_EXPONENT and not is_tiny.any():
            return gains
        # Scale extreme gains by a power of two for each list, so that their sums stay
        # finite.
        _, exponent = np.frexp(np.maximum.reduceat(gains, lists.starts))
        shift = np.where(np.abs(exponent) > _LARGEST_EXPONENT, -exponent, 0)
        return np.ldexp(gains, lists.repeat(shift))

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        return best_discounted_sum(
            gains, self.discount, lists, cutoff=self.cutoff(y, lists)
        )


class SpearmanRho(PositionalLoss):
    """Spearman's rank correlation, as the loss ``1 - rho``.

    Its name is "spearman". The label is a ranking: r - rank, or any numbers that are
    higher for better items. A label with ties means the average over all rankings that
    agree with it.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("spearman", [2, 1, 0], [1, 2, 3])
    -1.0
    """

    bounds = (-1.0, 1.0)
    labels = "any"
    takes_runs = False

    discount = staticmethod(items_below)

    def gains(self, y: np.ndarray, lists: Any) -> np.ndarray:
        # r - rho_i, where rho is the label as ranks 1..r, 1 = best.
        return lists.repeat(lists.lengths) - mid_ranks(y, lists)

    def normaliser(self, y: np.ndarray, gains: Any, lists: Any) -> np.ndarray:
        return lists.lengths * (lists.lengths**2.0 - 1.0) / 12.0

    def measure_offset(self, y: np.ndarray, lists: Any) -> np.ndarray:
        return -3.0 * (lists.lengths - 1.0) / (lists.lengths + 1.0)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        # r - rho_i as a fraction of the list puts lists of all lengths on one scale,
        # and a row of weight 2 counts as the row twice.
        gains = mid_fractions(y, lists, weights)
        return gains, np.ones(lists.n_lists)


class ExpectedRankUtility(PositionalLoss):
    """Expected rank utility of short lists that are read from the top.

    ``z - sum_i max(y_i - neutral, 0) 2**((1 - rank(i)) / (half_life - 1))``. The
    constant z is the utility of r items of `max_grade`, or 0 without it.

    Parameters
    ----------
    neutral : float, default=2.0
        Grades up to this have no utility for the reader: of labels 0 and 1, neither
        counts by default.
    half_life : float, default=5.0
        Rank that the reader sees with half the probability of the first; above 1.
    max_grade : float or None, default=None
        Highest grade of the scale, for z only. None means z = 0, so that the loss is
        minus the utility.

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

    labels = "any"  # only grades above `neutral` count
    allow_missing = True
    reaches_one = False
    _parameters: ClassVar = {
        "neutral": [number()],
        "half_life": [number(above=1)],
        "max_grade": [number(), None],
    }

    def __init__(
        self,
        neutral: float = 2.0,
        half_life: float = 5.0,
        *,
        max_grade: float | None = None,
    ) -> None:
        self.neutral = neutral
        self.half_life = half_life
        self.max_grade = max_grade

    def gains(self, y: np.ndarray, lists: Any) -> np.ndarray:
        return np.maximum(y - self.neutral, 0.0)

    def discount(self, p: Any, r: Any) -> float | np.ndarray:
        return np.exp2((1.0 - p) / (self.half_life - 1.0))

    def offset(self, y: ArrayLike) -> np.ndarray:
        """Compute z, shape (n_lists,)."""
        _, lists = self._flat_labels(y)
        largest_gain = 0.0
        if self.max_grade is not None:
            largest_gain = max(self.max_grade - self.neutral, 0.0)
        return largest_gain * lists.sum(discounts(self.discount, lists))
