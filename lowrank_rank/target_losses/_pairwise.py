"""Pairwise disagreement and Kendall's tau: d = r(r-1)/2, or scores by theorem 6."""

import numpy as np

from .._lists import RankingLists
from .._ranks import mid_fractions
from ..decoders import (
    MOST_ITEMS_ORDERING,
    MOST_ITEMS_SUBSETS,
    decode_pd_borda,
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
    matrices_from_differences,
)
from ..metrics._pairwise import (
    check_pair_weights,
    check_preferences,
    disagreement_values,
    kendall_values,
)
from ._base import Decoder, TargetLoss, ranks_of, sorting


class PairwiseDisagreement(TargetLoss):
    """Pairwise disagreement: the weight of the preferences that an order goes against.

    ``sum_{i != j} y_ij [rank(i) > rank(j)]``. Preferences y (n_lists, r, r) carry their own
    weights; grades y (n_lists, r) give y_ij = [y_i > y_j] or (y_i - y_j)_+, and 0 for a pair
    with an item that is not judged (NaN). `encode` is the factorisation of dimension r(r-1)/2,
    the differences y_ij - y_ji of the pairs i < j, decoded by the minimum weighted feedback arc
    set: "exact", "local_search", "dag" (algorithm 1) or "borda" (net preference).

    The decoder "sort" stands for scores instead, d = r (theorem 6): in proportion to
    f_i(y) = sum_j (y_ij - y_ji), or the grade itself with difference weights, whose order is
    the same. Calibrated where the expected preferences and the expected scores agree, and for
    every distribution of grades with difference weights or of binary labels, if all items are
    judged. Documents are
    always sorted by scores; `PairwiseDAGRanker` also models their pairs.

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

    def __init__(self, weights="unit"):
        self.weights = weights

    def _kernel(self):
        disagreement = disagreement_values(self.weights)
        return lambda y, scores, lists: -disagreement(y, scores, lists)

    def preferences(self, y):
        """y_ij, shape (n_lists, r, r), of grades or of preferences as they are."""
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3:
            return y
        return np.maximum(np.nan_to_num(self.net_preference(y[:, :, None], y[:, None, :])), 0.0)

    def net_preference(self, first, second):
        """y_ij - y_ji of grades i and j, elementwise; NaN where one is not judged."""
        difference = first - second
        return (
            difference if check_pair_weights(self.weights) == "difference" else np.sign(difference)
        )

    def encode(self, y):
        preferences = self.preferences(y)
        i, j = np.triu_indices(preferences.shape[1], 1)
        return preferences[:, i, j] - preferences[:, j, i]

    def rank_features(self, ranks):
        ranks = np.asarray(ranks)
        i, j = np.triu_indices(ranks.shape[1], 1)
        return (ranks[:, i] > ranks[:, j]).astype(np.float64)

    def offset(self, y):
        preferences = self.preferences(y)
        i, j = np.triu_indices(preferences.shape[1], 1)
        return preferences[:, j, i].sum(axis=1)

    @property
    def decoders(self):
        return {
            "exact": Decoder(_of_pairs(decode_pd_exact), True, most_items=MOST_ITEMS_ORDERING),
            "local_search": Decoder(_of_pairs(decode_pd_local_search), False),
            "dag": Decoder(_of_pairs(decode_pd_dag), False),
            "borda": Decoder(_of_pairs(decode_pd_borda), False),
            # Exact for difference weights and binary labels, not for every kind of label.
            "sort": sorting(exact=False),
        }

    def auto_decoder(self, n_items, y=None):
        grades = y is None or (y.ndim == 2 and not np.isnan(y).any())
        if check_pair_weights(self.weights) == "difference" and grades:
            return "sort"  # exact; not for preferences, nor where items are not judged
        return "exact" if n_items <= MOST_ITEMS_SUBSETS else "local_search"

    def check_labels(self, y):
        return check_preferences(y) if y.ndim == 3 else super().check_labels(y)

    def score_targets(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        if y.ndim == 3 or np.isnan(y).any():
            preferences = self.preferences(y)
            return preferences.sum(axis=2) - preferences.sum(axis=1)
        flat = y.ravel()
        gains, _ = self.row_targets(flat, RankingLists.equal(*y.shape), np.ones(len(flat)))
        return gains.reshape(y.shape)

    def row_targets(self, y, lists, weights):
        if check_pair_weights(self.weights) == "difference":
            return y, np.ones(lists.n_lists)
        # sum_j (y_ij - y_ji) / r = share below - share above
        return 2.0 * mid_fractions(y, lists, weights) - 1.0, np.ones(lists.n_lists)


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

    def __init__(self):
        super().__init__(weights="unit")

    def _kernel(self):
        return lambda y, scores, lists: -kendall_values(y, scores, lists)

    def preferences(self, y):
        return super().preferences(y) * self._pair(y)[:, np.newaxis, np.newaxis]

    def offset(self, y):
        y = np.asarray(y, dtype=np.float64)
        i, j = np.triu_indices(y.shape[1], 1)
        return super().offset(y) + (y[:, i] == y[:, j]).sum(axis=1) * self._pair(y)

    @staticmethod
    def _pair(y):
        """One over the number of pairs of judged items."""
        judged = (~np.isnan(np.asarray(y, dtype=np.float64))).sum(axis=1)
        return 2.0 / np.maximum(judged * (judged - 1), 1)
