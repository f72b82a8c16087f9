"""Pairwise disagreement and Kendall's tau: d = r(r-1)/2, or scores by theorem 6."""

from typing import Any, ClassVar

import numpy as np

from ..decoders.feedback_arcs._decoders import PD_DECODERS, auto_pd_decoder
from ..decoders.feedback_arcs._graphs import (
    differences_from_matrices,
    matrices_from_differences,
    net_scores,
)
from ..lists._lists import RankingLists, bounded_blocks
from ..lists._ranks import mid_fractions
from ..validation._arrays import ArrayLike
from ._pair_counts import pair_counts
from ._positional import best_discounted_sum, items_below, scored_sum
from ._target_loss import SORT, Decoder, TargetLoss, check_pairs_fit, ranks_of


def _decode_pairs(decode):
    """Make a decoder of the differences of pairs i < j from one of matrices."""

    def decode_differences(u, n_items):
        return decode(matrices_from_differences(u, n_items))

    return ranks_of(decode_differences)


class PairwiseDisagreement(TargetLoss):
    """Pairwise disagreement: the weight of the preferences that an order violates.

    ``sum_{i != j} y_ij [rank(i) > rank(j)]``. Preferences y (n_lists, r, r) are the
    weights themselves. Grades y (n_lists, r) give y_ij = [y_i > y_j] or (y_i - y_j)_+;
    pairs with an item that is not judged (NaN) have weight 0.

    `encode` returns the differences y_ij - y_ji of the pairs i < j, of dimension
    r(r-1)/2. The minimum weighted feedback arc set decodes them: "exact",
    "local_search", "short_search" (20 restarts), "dag" (algorithm 1) or "borda" (net
    preference). "auto" is "exact" up to 12 items, "short_search" up to 40, and "dag"
    for longer lists. The regressions of rankers ignore unknown pairs.

    The decoder "sort" uses scores instead, d = r (theorem 6): f_i(y) = sum_j (y_ij -
    y_ji) / r. For difference weights the grade itself gives the same order. Scores are
    calibrated if the order of the expected scores agrees with the expected preferences.
    If all items are judged, this holds for difference weights and for binary labels.
    Documents are always sorted by scores; `PairwiseDAGRanker` also models their pairs.

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
    _parameters: ClassVar = {"weights": ["unit", "difference"]}

    def __init__(self, weights: str = "unit") -> None:
        self.weights = weights

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        if y.ndim == 3:
            s = scores.reshape(y.shape[:2])
            difference = s[:, :, np.newaxis] - s[:, np.newaxis, :]
            # [rank(i) > rank(j)], 1/2 for tied scores
            is_below = (difference < 0) + 0.5 * (difference == 0)
            violated = np.einsum("qij,qij->q", y, is_below)
        elif self.weights == "difference":
            # Every pair adds the grade of its item of lower rank: the sum of (y_i -
            # y_j)_+ is ``sum_i y_i (rank(i) - ideal rank(i))``.
            best = best_discounted_sum(y, items_below, lists)
            violated = best - scored_sum(y, scores, items_below, lists)
        else:
            # Pairs tied in the scores alone are violated in half of the orders.
            discordant, tied_scores, _, tied_both = pair_counts(y, scores, lists)
            violated = discordant + (tied_scores - tied_both) / 2.0
        return np.where(lists.lengths > 1, -violated, np.nan)

    def preferences(self, y: ArrayLike) -> np.ndarray:
        """Compute the weights y_ij, shape (n_lists, r, r).

        Labels that are preferences are returned unchanged.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.

        Returns
        -------
        ndarray of shape (n_lists, r, r)
            [q, i, j] is the weight of "i before j".
        """
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3:
            return y
        net = self.net_preference(y[:, :, np.newaxis], y[:, np.newaxis, :])
        return np.maximum(net, 0.0)

    def total_preferences(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Compute ``sum_q w_q y_qij``, shape (r, r), with a weight for each list.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.
        weights : ndarray of shape (n_lists,)
            Weight of each list.

        Returns
        -------
        ndarray of shape (r, r)
            [i, j] is the total weight of "i before j".
        """
        r = np.shape(y)[1]
        total = np.zeros((r, r))
        if np.ndim(y) == 2:
            y = self.check_labels(np.asarray(y, dtype=np.float64))
            # About 2**18 grades at once fit into the cache.
            for block in bounded_blocks(len(y), r, 2**18):
                by_item = np.ascontiguousarray(y[block].T)
                for i, grades in enumerate(by_item):
                    total[i] += self._preferred(grades, by_item) @ weights[block]
            return total
        for block in bounded_blocks(len(y), r * r):
            preferences = self.preferences(y[block])
            total += np.tensordot(weights[block], preferences, axes=1)
        return total

    def _preferred(self, first, second):
        """Compute the weight y_ij of grades i and j, or whether it is 1."""
        if self.weights == "unit":
            return first > second  # False for NaN
        return np.maximum(self.net_preference(first, second), 0.0)

    def mean_votes(
        self, y: np.ndarray, weights: np.ndarray, targets: np.ndarray
    ) -> np.ndarray:
        """Compute ``E[y_ij + y_ji]``, the mean weight of labels on each pair.

        Parameters
        ----------
        y : array-like of shape (n_lists, r) or (n_lists, r, r)
            Labels: grades, or preferences where the loss takes them.
        weights : ndarray of shape (n_lists,)
            Weight of each list.
        targets : ndarray of shape (n_lists, d)
            The `regression_targets` of y.

        Returns
        -------
        ndarray of shape (r, r)
            Mean weight of the votes on each pair, symmetric.
        """
        if np.ndim(y) == 2:
            # Grades give all of the weight of a pair to one item: |y_ij - y_ji|.
            n, d = targets.shape
            total = np.zeros(d)
            # About 2**16 numbers at once fit into the cache.
            for block in bounded_blocks(n, d, 2**16):
                votes = np.fmax(np.abs(targets[block]), 0.0)  # NaN becomes 0
                total += weights[block] @ votes
            total = matrices_from_differences(total[np.newaxis], np.shape(y)[1])[0]
        else:
            total = self.total_preferences(y, weights)
        # The weights of a block of lists may all be 0.
        total = total / (weights.sum() or 1.0)
        return total + total.T

    def net_preference(self, first: Any, second: Any) -> np.ndarray:
        """Compute y_ij - y_ji of grades i and j; 0 where one is not judged.

        Parameters
        ----------
        first, second : array-like
            Grades of the items i and j.

        Returns
        -------
        ndarray
            The weight of "i before j" minus the weight of "j before i".
        """
        if self.weights == "difference":
            return np.nan_to_num(np.subtract(first, second))
        # Comparisons with NaN are False.
        is_higher = np.greater(first, second).view(np.int8)
        is_lower = np.less(first, second).view(np.int8)
        return (is_higher - is_lower).astype(np.float64)

    def encode(self, y: Any) -> np.ndarray:
        check_pairs_fit(self, *np.shape(y)[:2])
        if np.ndim(y) == 3:
            return differences_from_matrices(self.preferences(y))
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        i, j = np.triu_indices(y.shape[1], 1)
        differences = np.empty((len(y), len(i)))
        # About 2**15 numbers at once fit into the cache.
        for block in bounded_blocks(len(y), len(i), 2**15):
            first = np.take(y[block], i, axis=1)
            second = np.take(y[block], j, axis=1)
            differences[block] = self.net_preference(first, second)
        return differences

    def regression_targets(self, y: Any) -> np.ndarray:
        """Compute the encoding, with NaN for pairs with an item that is not judged."""
        targets = self.encode(y)
        if np.ndim(y) == 2 and np.isnan(y).any():
            is_unknown = np.isnan(y)
            i, j = np.triu_indices(is_unknown.shape[1], 1)
            targets[is_unknown[:, i] | is_unknown[:, j]] = np.nan
        return targets

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        # beta_ij = [rank(i) > rank(j)] of the pairs i < j
        i, j = np.triu_indices(ranks.shape[1], 1)
        return (ranks[:, i] > ranks[:, j]).astype(np.float64)

    def offset(self, y: ArrayLike) -> np.ndarray:
        # sum of y_ji over i < j
        preferences = self.preferences(y)
        i, j = np.triu_indices(preferences.shape[1], 1)
        return preferences[:, j, i].sum(axis=1)

    @property
    def decoders(self) -> dict[str, Decoder]:
        decoders = {
            name: Decoder(_decode_pairs(pd.decode), pd.exact, max_items=pd.max_items)
            for name, pd in PD_DECODERS.items()
        }
        # Sorting is exact for difference weights and binary labels, but not for all
        # labels.
        decoders["sort"] = SORT._replace(exact=False)
        return decoders

    def auto_decoder(self, n_items: Any, y: np.ndarray | None = None) -> str:
        has_grades = y is None or y.ndim == 2
        if self.weights == "difference" and has_grades:
            # Sorting is exact if all items are judged.
            return "sort"
        return auto_pd_decoder(n_items)

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Compute the net preference of each item among the k judged items over k.

        It is ``sum_j (y_ij - y_ji) / k``. An item that is not judged has NaN. For
        difference weights the targets are the grades, which give the same order, as for
        documents.
        """
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3:
            return net_scores(y) / y.shape[1]
        if self.weights == "difference":
            return y
        # Items that are not judged have weight 0.
        is_judged = ~np.isnan(y)
        grades = np.nan_to_num(y).ravel()
        weights = is_judged.ravel().astype(float)
        gains, _ = self.row_targets(grades, RankingLists.equal(*y.shape), weights)
        return np.where(is_judged, gains.reshape(y.shape), np.nan)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        normalisers = np.ones(lists.n_lists)
        if self.weights == "difference":
            return y, normalisers
        # sum_j (y_ij - y_ji) / r = fraction below - fraction above
        gains = 2.0 * mid_fractions(y, lists, weights) - 1.0
        return gains, normalisers


class KendallTau(PairwiseDisagreement):
    """Kendall's tau loss, the fraction of the pairs that an order does not agree with.

    ``2/(r(r-1)) sum_{i<j} [sign(y_i - y_j) != sign(s_i - s_j)]`` is the unit
    pairwise disagreement of grades, divided by the number of pairs. Pairs tied in the
    label count as wrong in every order. The measure "kendall" is minus this loss.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.4.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("kendall", [2, 0, 1], [3, 2, 1])  # 1 of 3 pairs
    -0.3333333333333333
    """

    bounds = (-1.0, 1.0)
    takes_preferences = False
    undefined = -1.0
    _parameters: ClassVar = {}

    def __init__(self) -> None:
        super().__init__(weights="unit")

    def values(
        self, y: np.ndarray, scores: Any, lists: Any, of_orders: bool = False
    ) -> np.ndarray:
        """Compute the measure of each list; tied scores count as ties.

        The measure is not the mean over the orders of tied scores, unless `of_orders`.

        Parameters
        ----------
        y, scores : ndarray of shape (n_rows,)
            Grouped; y has passed `check_labels`.
        lists : RankingLists
            Lists of the rows.
        of_orders : bool, default=False
            Whether to return the mean over the orders that agree with the scores
            instead.

        Returns
        -------
        ndarray of shape (n_lists,)
            The measure of each list; NaN if undefined.
        """
        discordant, tied_scores, tied_labels, tied_both = pair_counts(y, scores, lists)
        if of_orders:
            # Of the pairs tied in the scores alone one half is wrong. All pairs tied in
            # the labels are wrong.
            wrong_by_ties = (tied_scores - tied_both) / 2.0
        else:
            # Pairs tied in the scores or in the labels, but not in both, are wrong.
            wrong_by_ties = tied_scores - 2.0 * tied_both
        n_wrong = discordant + tied_labels + wrong_by_ties
        n_pairs = lists.lengths * (lists.lengths - 1.0) / 2.0
        loss = np.full(lists.n_lists, np.nan)
        np.divide(n_wrong, n_pairs, out=loss, where=n_pairs > 0)
        return -loss

    def values_of_orders(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        return self.values(y, scores, lists, of_orders=True)

    def encode(self, y: Any) -> np.ndarray:
        targets = super().encode(y)
        targets *= self._pair_factors(y)[:, np.newaxis]
        return targets

    def regression_targets(self, y: Any) -> np.ndarray:
        """Compute the encoding, with NaN for unknown pairs.

        Every list is divided by the number of all pairs, judged or not.
        """
        targets = PairwiseDisagreement(weights="unit").regression_targets(y)
        targets *= self._pair_factors(np.zeros((1, np.shape(y)[1])))
        return targets

    def preferences(self, y: ArrayLike) -> np.ndarray:
        factors = self._pair_factors(y)
        return super().preferences(y) * factors[:, np.newaxis, np.newaxis]

    def total_preferences(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        return super().total_preferences(y, weights * self._pair_factors(y))

    def offset(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y, dtype=np.float64)
        # Pairs tied in the label are wrong in every order.
        i, j = np.triu_indices(y.shape[1], 1)
        n_tied = (y[:, i] == y[:, j]).sum(axis=1)
        return super().offset(y) + n_tied * self._pair_factors(y)

    def _pair_factors(self, y):
        """Compute one over the number of pairs of judged items."""
        y = np.asarray(y, dtype=np.float64)
        n_judged = (~np.isnan(y)).sum(axis=1)
        return 2.0 / np.maximum(n_judged * (n_judged - 1), 1)
