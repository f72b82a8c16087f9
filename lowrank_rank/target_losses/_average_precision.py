"""Mean average precision: d = r(r+1)/2 and a quadratic assignment problem to decode."""

from typing import Any, ClassVar

import numpy as np

from .._arrays import ArrayLike
from .._lists import RankingLists, block_lengths, sort_lists, tie_blocks
from .._parameters import count
from ..decoders import decode_map_exact, decode_map_local_search
from ..decoders._average_precision import (
    MAX_ITEMS,
    MAX_ITEMS_EXACT,
    decode_map_diagonal,
)
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
    """Average precision of each list of binary y, nan without a relevant item.

    With k, the sum of the precisions at relevant items among the first k (trec_eval's
    map_cut).

    Consider a block of m ties at positions a+1..a+m with rho relevant items, and R
    relevant items above it. With h = 1/(a+1) + ... + 1/(a+m) the block adds

        (rho/m) [(R+1) h + (rho-1)/(m-1) (m - (a+1) h)] / P

    to the mean over orders. Without ties this is (R+1)/(a+1) / P. If k cuts a block
    after t places, h ends at a+t, and t replaces the last m.
    """
    k = lists.n_rows if k is None else k
    order = sort_lists(scores, lists)
    hits = np.flatnonzero(np.take(y, order))
    blocks = tie_blocks(np.take(scores, order), lists)
    positives = lists.sum(y).astype(np.intp)
    of_list = np.repeat(np.arange(lists.n_lists), positives)
    above = np.arange(len(hits)) - np.repeat(
        np.cumsum(positives) - positives, positives
    )
    a = hits - lists.starts[of_list]
    gained = np.where(a < k, (above + 1.0) / (a + 1.0), 0.0)
    if blocks is not None:
        _average_over_ties(gained, hits, above, a, blocks, lists, k)
    total = np.bincount(of_list, weights=gained, minlength=lists.n_lists)
    return np.divide(
        total, positives, out=np.full(lists.n_lists, np.nan), where=positives > 0
    )


def _average_over_ties(gained, hits, above, a, blocks, lists, k):
    """Average the gains over blocks of ties, in place; the first hit gets the whole block."""
    block = np.searchsorted(blocks, hits, side="right") - 1
    first = np.flatnonzero(np.diff(block, prepend=-1))
    rho = np.diff(np.append(first, len(hits)))
    m = block_lengths(blocks, lists.n_rows)[block[first]]
    first, rho, m = first[m > 1], rho[m > 1], m[m > 1]
    before = a[first] - (hits[first] - blocks[block[first]])
    harmonic = np.concatenate(
        [[0.0], np.cumsum(1.0 / np.arange(1, lists.lengths.max() + 1))]
    )
    depth = np.clip(k - before, 0, m)
    h = harmonic[before + depth] - harmonic[before]
    inner = (rho - 1.0) / (m - 1.0) * (depth - (before + 1.0) * h)
    gained[np.repeat(first - np.cumsum(rho) + rho, rho) + np.arange(rho.sum())] = 0.0
    gained[first] = rho / m * ((above[first] + 1.0) * h + inner)


class MeanAveragePrecision(BinaryMeasure, TargetLoss):
    """Mean average precision, as the loss ``1 - AP``.

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
        relevant = np.where(retrieved, y, 0.0)
        recalled = lists.sum(relevant)
        value = np.where(lists.sum(y) > 0, 0.0, np.nan)
        hit = recalled > 0
        value[hit] = (self.values(relevant, scores, lists) * recalled)[hit]
        return value / np.maximum(lists.sum(y), 1.0)

    def encode(self, y: ArrayLike) -> np.ndarray:
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        check_pairs_fit(self, *y.shape)
        row, column = np.tril_indices(y.shape[1])
        return y[:, row] * y[:, column] * reciprocal(y.sum(axis=1))[:, np.newaxis]

    def rank_features(self, ranks: Any) -> np.ndarray:
        ranks = np.asarray(ranks)
        row, column = np.tril_indices(ranks.shape[1])
        last = np.maximum(ranks[:, row], ranks[:, column])
        return np.where(
            last <= (last.shape[1] if self.k is None else self.k), -1.0 / last, 0.0
        )

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
        flat, lists = y.ravel(), RankingLists.equal(*y.shape)
        gains, normalisers = self.row_targets(flat, lists, np.ones(len(flat)))
        return (gains * lists.repeat(reciprocal(normalisers))).reshape(y.shape)

    def row_targets(
        self, y: np.ndarray, lists: Any, weights: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        return y, lists.sum(y)
