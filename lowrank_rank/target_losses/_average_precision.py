"""Mean average precision: d = r(r+1)/2 and a quadratic assignment problem to decode."""

import numpy as np

from .._lists import RankingLists
from ..decoders import (
    MOST_ITEMS,
    MOST_ITEMS_EXACT,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from ..metrics._cascade import average_precision_values
from ._base import Decoder, TargetLoss, ranks_of, sorting
from ._positional import reciprocal


class MeanAveragePrecision(TargetLoss):
    """Mean average precision, as the loss ``1 - AP``.

    ``AP = sum_{i >= j} alpha_ij / max(rank(i), rank(j))`` with alpha_ij = y_i y_j / sum(y).
    Decoders for lists of fixed items: "exact" (dynamic program over subsets, up to 22
    items), "local_search" (never worse than the diagonal), "diagonal" (sorts u_ii;
    calibrated under P_reinforce, theorem 4) and "sort" (regresses y_i / sum(y) only,
    d = r; corollary 5). "auto" is exact up to 18 items, local search beyond. Documents
    are always decoded by sorting, corollary 5.

    Parameters
    ----------
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 6.

    Examples
    --------
    >>> from lowrank_rank.target_losses import MeanAveragePrecision
    >>> loss = MeanAveragePrecision()
    >>> loss.encode([[1, 0, 1]])  # pairs (0,0) (1,0) (1,1) (2,0) (2,1) (2,2)
    array([[0.5, 0. , 0. , 0.5, 0. , 0.5]])
    >>> loss.loss([[1, 0, 1]], [[1, 2, 3]]).round(4)  # 1 - (1/1 + 2/3) / 2
    array([0.1667])
    """

    labels = "binary"

    def __init__(self, *, relevance_threshold=None):
        self.relevance_threshold = relevance_threshold

    def _kernel(self):
        return average_precision_values

    def encode(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        row, column = np.tril_indices(y.shape[1])
        return y[:, row] * y[:, column] * reciprocal(y.sum(axis=1))[:, np.newaxis]

    def rank_features(self, ranks):
        ranks = np.asarray(ranks)
        row, column = np.tril_indices(ranks.shape[1])
        return -1.0 / np.maximum(ranks[:, row], ranks[:, column])

    def offset(self, y):
        return np.ones(len(y))

    @property
    def decoders(self):
        return {
            "exact": Decoder(ranks_of(decode_map_exact), exact=True, most_items=MOST_ITEMS),
            "local_search": Decoder(ranks_of(decode_map_local_search), exact=False),
            "diagonal": Decoder(ranks_of(decode_map_diagonal), exact=False),
            "sort": sorting(exact=False),
        }

    def auto_decoder(self, n_items, y=None):
        return "exact" if n_items <= MOST_ITEMS_EXACT else "local_search"

    def score_targets(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        flat, lists = y.ravel(), RankingLists.equal(*y.shape)
        gains, normalisers = self.row_targets(flat, lists, np.ones(len(flat)))
        return (gains * lists.spread(reciprocal(normalisers))).reshape(y.shape)

    def row_targets(self, y, lists, weights):
        return y, lists.sum(y)
