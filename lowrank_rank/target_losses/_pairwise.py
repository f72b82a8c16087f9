"""Pairwise disagreement and Kendall's tau: d = r(r-1)/2, or scores by theorem 6."""

from typing import Any, ClassVar

import numpy as np

from .._arrays import ArrayLike
from .._lists import RankingLists, bounded_blocks, mid_fractions
from ..decoders.feedback_arcs._decoders import PD_DECODERS, auto_pd_decoder
from ..decoders.feedback_arcs._graphs import (
    differences_from_matrices,
    matrices_from_differences,
    net_scores,
)
from ._pair_counts import pair_counts
from ._positional import best_discounted_sum, items_below, scored_sum
from ._target_loss import SORT, Decoder, TargetLoss, check_pairs_fit, ranks_of


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
            higher = s[:, :, np.newaxis] - s[:, np.newaxis, :]
            against = (higher < 0) + 0.5 * (higher == 0)
            diagonal = np.arange(y.shape[1])
            against[:, diagonal, diagonal] = 0.0
            violated = np.einsum("qij,qij->q", y, against)
        elif self.weights == "difference":
            # Every pair adds the grade of its item of lower rank: the sum of (y_i -
            # y_j)_+ is ``sum_i y_i (rank(i) - ideal rank(i))``.
            best = best_discounted_sum(y, items_below, lists)
            violated = best - scored_sum(y, scores, items_below, lists)
        else:
            discordant, tied_scores, _, tied_both = pair_counts(y, scores, lists)
            violated = discordant + (tied_scores - tied_both) / 2.0
        return np.where(lists.lengths > 1, -violated, np.nan)

    def preferences(self, y: ArrayLike) -> np.ndarray:
        """The weights y_ij, shape (n_lists, r, r); preferences y are returned unchanged.

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
        return np.maximum(self.net_preference(y[:, :, None], y[:, None, :]), 0.0)

    def total_preferences(self, y: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """``sum_q w_q y_qij``, shape (r, r), with a weight for each list.

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
        for rows in bounded_blocks(len(y), r * r):
            total += np.tensordot(weights[rows], self.preferences(y[rows]), axes=1)
        return total

    def mean_votes(
        self, y: np.ndarray, weights: np.ndarray, targets: np.ndarray
    ) -> np.ndarray:
        """Mean weight of the labels on each pair, ``E[y_ij + y_ji]``, shape (r, r).

        `targets` is the encoding of y: for grades, all of the weight of a pair is for
        one item.

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
            total = np.zeros(targets.shape[1])
            for rows in bounded_blocks(
                len(targets), targets.shape[1], 2**16
            ):  # fits into the cache
                total += weights[rows] @ np.fmax(np.abs(targets[rows]), 0.0)  # NaN is 0
            total = matrices_from_differences(total[np.newaxis], np.shape(y)[1])[0]
        else:
            total = self.total_preferences(y, weights)
        total = total / (weights.sum() or 1.0)  # other batches may count
        return total + total.T

    def net_preference(self, first: Any, second: Any) -> np.ndarray:
        """y_ij - y_ji of grades i and j, elementwise; 0 where one is not judged.

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
        is_higher, is_lower = np.greater(first, second), np.less(first, second)
        return (is_higher.view(np.int8) - is_lower.view(np.int8)).astype(np.float64)

    def encode(self, y: Any) -> np.ndarray:
        check_pairs_fit(self, *np.shape(y)[:2])
        if np.ndim(y) == 3:
            return differences_from_matrices(self.preferences(y))
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        i, j = np.triu_indices(y.shape[1], 1)
        differences = np.empty((len(y), len(i)))
        for rows in bounded_blocks(
            len(y), len(i), 2**15
        ):  # pieces that fit into the cache
            first, second = (np.take(y[rows], items, axis=1) for items in (i, j))
            differences[rows] = self.net_preference(first, second)
        return differences

    def regression_targets(self, y: Any) -> np.ndarray:
        """The encoding, with NaN for the pairs with an item that is not judged."""
        targets = self.encode(y)
        if np.ndim(y) == 2 and np.isnan(y).any():
            i, j = np.triu_indices(np.shape(y)[1], 1)
            targets[np.isnan(y)[:, i] | np.isnan(y)[:, j]] = np.nan
        return targets

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
        def of_pairs(decode):
            return ranks_of(
                lambda u, n_items: decode(matrices_from_differences(u, n_items))
            )

        decoders = {
            name: Decoder(of_pairs(pd.decode), pd.exact, max_items=pd.max_items)
            for name, pd in PD_DECODERS.items()
        }
        # Sorting is exact for difference weights and binary labels, but not for all
        # labels.
        return {**decoders, "sort": SORT._replace(exact=False)}

    def auto_decoder(self, n_items: Any, y: np.ndarray | None = None) -> str:
        grades = y is None or y.ndim == 2
        if self.weights == "difference" and grades:
            return "sort"  # exact if all items are judged; not for preferences
        return auto_pd_decoder(n_items)

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        """Net preferences of the judged items over their number k, ``sum_j (y_ij - y_ji) / k``.

        An item that is not judged has NaN. For difference weights the targets are the
        grades, which give the same order, as for documents.
        """
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3:
            return net_scores(y) / y.shape[1]
        if self.weights == "difference":
            return y
        judged = ~np.isnan(y)
        gains, _ = self.row_targets(
            np.nan_to_num(y).ravel(),
            RankingLists.equal(*y.shape),
            judged.ravel().astype(float),
        )
        return np.where(judged, gains.reshape(y.shape), np.nan)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        if self.weights == "difference":
            return y, np.ones(lists.n_lists)
        # sum_j (y_ij - y_ji) / r = fraction below - fraction above
        return 2.0 * mid_fractions(y, lists, weights) - 1.0, np.ones(lists.n_lists)


class KendallTau(PairwiseDisagreement):
    """Kendall's tau loss, ``2/(r(r-1)) sum_{i<j} [sign(y_i - y_j) != sign(s_i - s_j)]``.

    It is the unit pairwise disagreement of grades, divided by the number of pairs.
    Pairs tied in the label count as wrong in every order.

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

    def values(
        self, y: np.ndarray, scores: Any, lists: Any, of_orders: bool = False
    ) -> np.ndarray:
        """The measure of each list; tied scores count as ties, not as the mean over their orders.

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
        by_ties = (
            (tied_scores - tied_both) / 2.0
            if of_orders
            else tied_scores - 2.0 * tied_both
        )
        wrong = discordant + tied_labels + by_ties
        pairs = lists.lengths * (lists.lengths - 1.0) / 2.0
        return -np.divide(
            wrong, pairs, out=np.full(lists.n_lists, np.nan), where=pairs > 0
        )

    def values_of_orders(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        # Half of the pairs that are tied only in the scores are wrong, and all that are
        # tied in the label.
        return self.values(y, scores, lists, of_orders=True)

    def encode(self, y: Any) -> np.ndarray:
        targets = super().encode(y)
        targets *= self._pair_factors(y)[:, np.newaxis]
        return targets

    def regression_targets(self, y: Any) -> np.ndarray:
        """The encoding, with NaN for unknown pairs, over the number of all pairs in every list."""
        targets = PairwiseDisagreement(weights="unit").regression_targets(y)
        targets *= self._pair_factors(np.zeros((1, np.shape(y)[1])))
        return targets

    def preferences(self, y: ArrayLike) -> np.ndarray:
        return super().preferences(y) * self._pair_factors(y)[:, np.newaxis, np.newaxis]

    def offset(self, y: ArrayLike) -> np.ndarray:
        y = np.asarray(y, dtype=np.float64)
        i, j = np.triu_indices(y.shape[1], 1)
        return super().offset(y) + (y[:, i] == y[:, j]).sum(
            axis=1
        ) * self._pair_factors(y)

    def _pair_factors(self, y):
        """One over the number of pairs of judged items."""
        judged = (~np.isnan(np.asarray(y, dtype=np.float64))).sum(axis=1)
        return 2.0 / np.maximum(judged * (judged - 1), 1)
