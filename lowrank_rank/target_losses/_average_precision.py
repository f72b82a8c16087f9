"""Mean average precision: d = r(r+1)/2 and a quadratic assignment problem to decode."""

from typing import Any, ClassVar

import numpy as np

from ..decoders._average_precision import (
    MAX_ITEMS,
    MAX_ITEMS_EXACT,
    decode_map_diagonal,
    decode_map_exact,
    decode_map_local_search,
)
from ..lists._ranks import block_lengths, sort_lists, tie_blocks
from ..validation._arrays import ArrayLike
from ..validation._parameters import count
from ._target_loss import (
    RELEVANCE,
    SORT,
    BinaryMeasure,
    Decoder,
    TargetLoss,
    check_pairs_fit,
    ranks_of,
    reciprocal,
)


def average_precision_values(y, scores, lists, k=None):
    """Compute the average precision of each list, nan without a relevant item.

    y holds 0 and 1. With k, only the precisions at relevant items among the first k
    count (trec_eval's map_cut).

    Consider a block of m ties at positions a+1..a+m with rho relevant items, and R
    relevant items above it. With h = 1/(a+1) + ... + 1/(a+m) the block adds

        (rho/m) [(R+1) h + (rho-1)/(m-1) (m - (a+1) h)] / P

    to the mean over orders. Without ties this is (R+1)/(a+1) / P. If k cuts a block
    after t places, h ends at a+t, and t replaces the last m.
    """
    if k is None:
        k = lists.n_rows
    order = sort_lists(scores, lists)
    # The relevant items in the sorted rows, and the list of each.
    relevant = np.flatnonzero(np.take(y, order))
    n_relevant = lists.sum(y).astype(np.intp)
    list_of_item = np.repeat(np.arange(lists.n_lists), n_relevant)
    # R relevant items and a items in all stand above each relevant item.
    first_of_list = np.cumsum(n_relevant) - n_relevant
    R = np.arange(len(relevant)) - np.repeat(first_of_list, n_relevant)
    a = relevant - lists.starts[list_of_item]
    precision = np.where(a < k, (R + 1.0) / (a + 1.0), 0.0)
    blocks = tie_blocks(np.take(scores, order), lists)
    if blocks is not None:
        _average_over_ties(precision, relevant, R, a, blocks, lists, k)
    total = np.bincount(list_of_item, weights=precision, minlength=lists.n_lists)
    value = np.full(lists.n_lists, np.nan)
    return np.divide(total, n_relevant, out=value, where=n_relevant > 0)


def _average_over_ties(precision, relevant, R, a, blocks, lists, k):
    """Average the precisions over blocks of ties, in place.

    The first relevant item of a block gets the sum of the block, the others get 0.
    """
    block = np.searchsorted(blocks, relevant, side="right") - 1
    first = np.flatnonzero(np.diff(block, prepend=-1))
    rho = np.diff(np.append(first, len(relevant)))
    m = block_lengths(blocks, lists.n_rows)[block[first]]
    has_ties = m > 1
    precision[np.repeat(has_ties, rho)] = 0.0
    first = first[has_ties]
    rho = rho[has_ties]
    m = m[has_ties]
    # a and R of the first relevant item, less the tied items above it.
    R = R[first]
    a = a[first] - (relevant[first] - blocks[block[first]])
    # h = 1/(a+1) + ... + 1/(a+t), where t = m unless k cuts the block.
    t = np.clip(k - a, 0, m)
    longest = lists.lengths.max()
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, longest + 1))])
    h = harmonic[a + t] - harmonic[a]
    # (rho/m) [(R+1) h + (rho-1)/(m-1) (t - (a+1) h)]
    tied_above = (rho - 1.0) / (m - 1.0) * (t - (a + 1.0) * h)
    precision[first] = rho / m * ((R + 1.0) * h + tied_above)


class MeanAveragePrecision(BinaryMeasure, TargetLoss):
    """Mean average precision, as the loss ``1 - AP``.

    AP is the mean over the relevant items of (relevant items up to rank(i)) / rank(i).
    ``AP = sum_{i >= j} alpha_ij / max(rank(i), rank(j))`` with alpha_ij = y_i y_j /
    sum(y). Lists of fixed items have four decoders. "exact" is a dynamic program over
    subsets, up to 22 items. "diagonal" sorts u_ii and is calibrated under P_reinforce
    (theorem 4). "local_search" starts from the diagonal order and is never worse.
    "sort" uses scores, the regression of y_i / sum(y), d = r (corollary 5). "auto" is
    exact up to 12 items and local search beyond. Documents are always sorted by scores.
    With a cut-off k, only pairs with both ranks at most k count, and the decoder is
    "sort".

    Parameters
    ----------
    k : int or None, default=None
        Cut-off: precisions at relevant items among the first k, over all relevant ones,
        as trec_eval's map_cut. None is the whole list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

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

    bounds = (0.0, 1.0)
    at = "[k]"
    takes_runs = True
    _parameters: ClassVar = {"k": [count(), None], **RELEVANCE}

    def __init__(
        self, k: int | None = None, *, relevance_threshold: float | None = None
    ) -> None:
        self.k = k
        self.relevance_threshold = relevance_threshold

    @property
    def reaches_one(self) -> bool:  # type: ignore[override]
        return self.k is None

    def values(self, y: np.ndarray, scores: Any, lists: Any) -> np.ndarray:
        return average_precision_values(y, scores, lists, self.k)

    def values_of_run(
        self, y: np.ndarray, scores: Any, lists: Any, retrieved: Any
    ) -> np.ndarray:
        n_relevant = lists.sum(y)
        retrieved_y = np.where(retrieved, y, 0.0)
        n_retrieved = lists.sum(retrieved_y)
        # `values` divides by the relevant items that were retrieved.
        total = self.values(retrieved_y, scores, lists) * n_retrieved
        value = np.where(n_relevant > 0, 0.0, np.nan)
        np.copyto(value, total, where=n_retrieved > 0)
        return value / np.maximum(n_relevant, 1.0)

    def encode(self, y: ArrayLike) -> np.ndarray:
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        check_pairs_fit(self, *y.shape)
        return self._encode_pairs(y, slice(None))

    def _encode_part(self, y, part):
        if type(self) is not MeanAveragePrecision:
            return super()._encode_part(y, part)
        return self._encode_pairs(self.check_labels(y), part)

    def _encode_pairs(self, y, part):
        """Compute alpha_ij = y_i y_j / sum(y) of a slice of the pairs."""
        i, j = (items[part] for items in np.tril_indices(y.shape[1]))
        return y[:, i] * y[:, j] * reciprocal(y.sum(axis=1))[:, np.newaxis]

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        i, j = np.tril_indices(ranks.shape[1])
        lower_rank = np.maximum(ranks[:, i], ranks[:, j])
        # beta_ij = -1 / max(rank(i), rank(j))
        beta = -1.0 / lower_rank
        if self.k is not None:
            beta[lower_rank > self.k] = 0.0
        return beta

    def offset(self, y: ArrayLike) -> np.ndarray:
        return np.ones(len(y))

    @property
    def decoders(self) -> dict[str, Decoder]:
        if self.k is not None:
            return {"sort": SORT._replace(exact=False)}
        return {
            "exact": Decoder(
                ranks_of(decode_map_exact), exact=True, max_items=MAX_ITEMS
            ),
            "local_search": Decoder(ranks_of(decode_map_local_search), exact=False),
            "diagonal": Decoder(ranks_of(decode_map_diagonal), exact=False),
            "sort": SORT._replace(exact=False),
        }

    def auto_decoder(self, n_items: Any, y: np.ndarray | None = None) -> str:
        if self.k is not None:
            return "sort"
        return "exact" if n_items <= MAX_ITEMS_EXACT else "local_search"

    def score_targets(self, y: ArrayLike) -> np.ndarray:
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        return y * reciprocal(y.sum(axis=1))[:, np.newaxis]

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        return y, lists.sum(y)
