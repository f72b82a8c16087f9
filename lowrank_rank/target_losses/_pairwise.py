"""Pairwise disagreement and Kendall's tau: d = r(r-1)/2, or scores by theorem 6."""

from typing import Any, ClassVar

import numpy as np

from .._arrays import ArrayLike
from .._lists import RankingLists, batches, mid_fractions
from ..decoders import (
    PD_DECODERS,
    auto_pd_decoder,
    differences_from_matrices,
    matrices_from_differences,
    net_scores,
)
from ._base import Decoder, TargetLoss, check_pairs_fit, ranks_of, sorting
from ._pair_counts import pair_counts
from ._positional import PositionalMeasure, best_discounted_sum, items_below

_ENTRIES_AT_ONCE = 2**15  # of the differences of pairs: they stay in the cache


def unit_disagreement_values(y, scores, lists):
    """Pairs in the wrong order, ties in the scores one half, of each list."""
    discordant, tied_scores, _, tied_both = pair_counts(y, scores, lists)
    return discordant + (tied_scores - tied_both) / 2.0


class _Differences(PositionalMeasure):
    """Minus the pairwise disagreement with the weights (y_i - y_j)_+, a positional measure.

    The weight of the pairs in the wrong order is sum_i y_i (rank(i) - ideal rank(i)),
    since of every pair the item placed later counts.
    """

    labels = "any"

    def discount(self, p, r):
        return items_below(p, r)

    def measure_offset(self, y, lists):
        return -best_discounted_sum(y, items_below, lists)


def difference_disagreement_values(y, scores, lists):
    """Sum of (y_i - y_j)_+ over the pairs in the wrong order, of each list."""
    return -_Differences().values(y, scores, lists)


def preference_disagreement_values(y, scores, lists):
    """Weight y[q, i, j] of the preferences "i before j" that the scores go against."""
    s = scores.reshape(y.shape[:2])
    higher = s[:, :, np.newaxis] - s[:, np.newaxis, :]
    against = (higher < 0) + 0.5 * (higher == 0)
    diagonal = np.arange(y.shape[1])
    against[:, diagonal, diagonal] = 0.0
    return np.einsum("qij,qij->q", y, against)


def kendall_values(y, scores, lists, *, of_orders=False):
    """Fraction of pairs on which the signs of the differences differ, nan for one item.

    With `of_orders` the value is the mean over the orders of tied scores: half of the pairs with
    tied scores are wrong, and all pairs with tied labels.
    """
    discordant, tied_scores, tied_labels, tied_both = pair_counts(y, scores, lists)
    by_ties = (tied_scores - tied_both) / 2.0 if of_orders else tied_scores - 2.0 * tied_both
    wrong = discordant + tied_labels + by_ties
    pairs = lists.lengths * (lists.lengths - 1.0) / 2.0
    return np.divide(wrong, pairs, out=np.full(lists.n_lists, np.nan), where=pairs > 0)


#: Disagreement of grades, by how they weight a pair.
DISAGREEMENTS = {
    "unit": unit_disagreement_values,
    "difference": difference_disagreement_values,
}


class PairwiseDisagreement(TargetLoss):
    """Pairwise disagreement: the weight of the preferences that an order violates.

    ``sum_{i != j} y_ij [rank(i) > rank(j)]``. Preferences y (n_lists, r, r) have their own weights.
    Grades y (n_lists, r) give y_ij = [y_i > y_j] or (y_i - y_j)_+, and 0 if an item of the pair is
    not judged (NaN). `encode` is the factorisation of dimension r(r-1)/2, the differences y_ij -
    y_ji of the pairs i < j, decoded by the minimum weighted feedback arc set: "exact",
    "local_search", "dag" (algorithm 1) or "borda" (net preference).

    The decoder "sort" sorts scores instead, d = r (theorem 6): f_i(y) = sum_j (y_ij - y_ji) / r, or
    the grade itself with difference weights. Calibrated where the expected preferences and the
    expected scores agree, and for every distribution of grades with difference weights or of binary
    labels, if all items are judged. Documents are always sorted by scores; `PairwiseDAGRanker` also
    models their pairs.

    Parameters
    ----------
    weights : {"unit", "difference"}, default="unit"
        How grades weight a pair.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 7.

    Examples
    --------
    >>> from lowrank_rank.target_losses import PairwiseDisagreement
    >>> loss = PairwiseDisagreement()
    >>> loss.encode([[2, 0, 1]])  # pairs (0,1) (0,2) (1,2)
    array([[ 1.,  1., -1.]])
    >>> loss.loss([[2, 0, 1]], [[1, 2, 3]])
    array([1.])
    """

    labels = "any"
    allow_missing = True
    reaches_one = False
    takes_preferences = True
    _parameters: ClassVar = {"weights": [*DISAGREEMENTS]}

    def __init__(self, weights: str = "unit") -> None:
        self.weights = weights

    def values(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        of_grades = DISAGREEMENTS[self.weights]
        disagreement = preference_disagreement_values if y.ndim == 3 else of_grades
        return np.where(lists.lengths > 1, -disagreement(y, scores, lists), np.nan)

    def preferences(self, y: ArrayLike) -> np.ndarray:
        """Preferences y_ij, shape (n_lists, r, r), from grades or preferences."""
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3:
            return y
        return np.maximum(self.net_preference(y[:, :, None], y[:, None, :]), 0.0)

    def net_preference(self, first: Any, second: Any) -> np.ndarray:
        """y_ij - y_ji of grades i and j, elementwise; 0 where one is not judged."""
        if self.weights == "difference":
            return np.nan_to_num(np.subtract(first, second))
        return _signs_of_differences(first, second).astype(np.float64)

    def encode(self, y: ArrayLike) -> np.ndarray:
        check_pairs_fit(self, *np.shape(y)[:2])
        if np.ndim(y) == 3:
            return differences_from_matrices(self.preferences(y))
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        i, j = np.triu_indices(y.shape[1], 1)
        differences, factors = np.empty((len(y), len(i))), self._pair_factors(y)
        for rows in batches(len(y), len(i), _ENTRIES_AT_ONCE):
            self._encode_pairs(y[rows], i, j, differences[rows])
            if factors is not None:
                differences[rows] *= factors[rows, np.newaxis]
        return differences

    def _pair_factors(self, _y):
        """Factors (n,) of the pairs of each row of grades; None is 1."""
        return None

    def _encode_pairs(self, y, i, j, out):
        """Net preferences of the items i over the items j of each row of grades, into `out`."""
        grades = np.ascontiguousarray(y.T)  # whole rows of it are taken, which is quicker
        first, second = np.take(grades, i, axis=0), np.take(grades, j, axis=0)
        difference = self.weights == "difference"
        net = self.net_preference if difference else _signs_of_differences  # bytes until the end
        out[:] = net(first, second).T

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        i, j = np.triu_indices(ranks.shape[1], 1)
        return (ranks[:, i] > ranks[:, j]).astype(np.float64)

    def offset(self, y: ArrayLike) -> np.ndarray:
        preferences = self.preferences(y)
        i, j = np.triu_indices(preferences.shape[1], 1)
        return preferences[:, j, i].sum(axis=1)

    @property
    def decoders(self) -> dict[str, Decoder]:
        of_pairs = {
            name: Decoder(_of_pairs(pd.decode), pd.exact, max_items=pd.max_items)
            for name, pd in PD_DECODERS.items()
        }
        # Sorting is exact for difference weights and binary labels, not for every kind of label.
        return {**of_pairs, "sort": sorting(exact=False)}

    def auto_decoder(self, n_items: Any, y: ArrayLike | None = None) -> str:
        grades = y is None or y.ndim == 2
        if self.weights == "difference" and grades:
            return "sort"  # exact if all items are judged; not for preferences
        return auto_pd_decoder(n_items)

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Net preferences of the items over their number r, ``sum_j (y_ij - y_ji) / r``.

        A list's row depends on that list alone; items that are not judged have no pairs. Difference
        weights add the mean grade of the list, which changes no order: if all items are judged, the
        target is the grade itself. So documents and items have one unit.
        """
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        r = y.shape[1]
        if y.ndim == 3:
            return net_scores(y) / r
        judged = ~np.isnan(y)
        n_judged = judged.sum(axis=1, keepdims=True)
        mean = np.nansum(y, axis=1, keepdims=True) / np.maximum(n_judged, 1)
        filled = np.where(judged, y, mean)
        if self.weights == "difference":
            return mean + (filled - mean) * (n_judged / r)
        gains, _ = self.row_targets(
            filled.ravel(), RankingLists.equal(*y.shape), judged.ravel().astype(float)
        )
        return np.where(judged, gains.reshape(y.shape), 0.0) * (n_judged / r)

    def row_targets(self, y: ArrayLike, lists: Any, weights: Any) -> tuple[np.ndarray, np.ndarray]:
        if self.weights == "difference":
            return y, np.ones(lists.n_lists)
        # sum_j (y_ij - y_ji) / r = fraction below - fraction above
        return 2.0 * mid_fractions(y, lists, weights) - 1.0, np.ones(lists.n_lists)


def _signs_of_differences(first, second):
    """sign(first - second) in bytes, elementwise; 0 where one is NaN."""
    is_higher, is_lower = np.greater(first, second), np.less(first, second)
    return np.subtract(is_higher.view(np.int8), is_lower.view(np.int8))


def _of_pairs(decode):
    """Ranks from the differences of the pairs i < j."""
    return ranks_of(lambda u, n_items: decode(matrices_from_differences(u, n_items)))


class KendallTau(PairwiseDisagreement):
    """Kendall's tau loss, ``2/(r(r-1)) sum_{i<j} [sign(y_i - y_j) != sign(s_i - s_j)]``.

    Unit pairwise disagreement of grades over the number of pairs, plus the pairs tied in
    the label, which no order gets right.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.4.

    Examples
    --------
    >>> from lowrank_rank.target_losses import KendallTau
    >>> KendallTau().loss([[2, 0, 1]], [[1, 2, 3]]).round(4)
    array([0.3333])
    """

    takes_preferences = False
    undefined = -1.0
    _parameters: ClassVar = {}

    def __init__(self) -> None:
        super().__init__(weights="unit")

    def values(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        return -kendall_values(y, scores, lists)

    def values_of_orders(self, y: ArrayLike, scores: Any, lists: Any) -> np.ndarray:
        return -kendall_values(y, scores, lists, of_orders=True)

    def preferences(self, y: ArrayLike) -> np.ndarray:
        return super().preferences(y) * self._pair_factors(y)[:, np.newaxis, np.newaxis]

    def offset(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y, dtype=np.float64)
        i, j = np.triu_indices(y.shape[1], 1)
        return super().offset(y) + (y[:, i] == y[:, j]).sum(axis=1) * self._pair_factors(y)

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Factors as for unit weights: 1 / the fraction of judged pairs."""
        n_judged = (~np.isnan(np.asarray(y, dtype=np.float64))).sum(axis=1, keepdims=True)
        r = np.shape(y)[1]
        fraction = np.maximum(n_judged * (n_judged - 1), 1) / max(r * (r - 1), 1)
        return super().score_targets(y) / fraction

    def _pair_factors(self, y):
        """One over the number of pairs of judged items."""
        judged = (~np.isnan(np.asarray(y, dtype=np.float64))).sum(axis=1)
        return 2.0 / np.maximum(judged * (judged - 1), 1)
