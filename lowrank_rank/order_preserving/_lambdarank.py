"""Derivatives of LambdaRank for lists of any lengths.

    sum over pairs with v_i > v_j of  w_i w_j d_ij log(1 + exp(-(s_i - s_j)))
    d_ij = (v_i - v_j) |1 / log2(1 + r_i) - 1 / log2(1 + r_j)| / (.01 + |s_i - s_j|)

Ranks r come from the present scores, and the derivatives take d_ij as a constant. One
item of a pair is among the first `top` places. Where scores are equal, d_ij is the mean
over all orders of them. Let i go before j, best score first, and

    c = d_ij (v_i - v_j) / |v_i - v_j|,    b = |c| / (e_i + e_j),    e = exp(s).

Then the derivative by s_i is -(c - b (e_i - e_j)) / 2, and by s_j its negative. Both
have the curvature b e_i e_j / (e_i + e_j). No pair needs an exponential, and the sums
over pairs are products of matrices.
"""

import numpy as np

from ..target_losses import DCG

#: Pairs of a block: in float32 they fit the cache of a core.
PAIRS_AT_ONCE = 2**17
_MARGIN = 0.01  # of the distance of two scores, as in LightGBM
_SPREAD = 300.0  # exp(600) is finite
_SPREAD_32 = 40.0  # exp(80) is finite in float32


class LambdaRank:
    """Gradient and curvature at any scores of the same lists.

    Scores are rounded to float32 first: sums of trees in another order are equal then.

    Parameters
    ----------
    v, weights : ndarray of shape (n_rows,)
        Grouped gains over the best DCG of the list, and importances of the rows.
    lists : RankingLists
    top : int
        An item of each pair is in the first `top` places.
    """

    def __init__(self, v, weights, lists, top):
        self.v, self.weights, self.lists, self.top = (
            v,
            np.append(weights, 0.0),
            lists,
            top,
        )
        highest, lowest = (
            of.reduceat(v, lists.starts) for of in (np.maximum, np.minimum)
        )
        order = np.append(np.lexsort((weights, v, lists.index)), len(v))
        blocks = _blocks(lists, np.flatnonzero(highest > lowest), top)
        self.blocks = [order[rows] for rows in blocks]  # equal scores are sorted by v

    def __call__(self, s):
        """Gradient and curvature, (n_rows,) each."""
        lists = self.lists
        s = np.clip(s, -1e38, 1e38).astype(np.float32).astype(np.float64)
        highest, lowest = (
            of.reduceat(s, lists.starts) for of in (np.maximum, np.minimum)
        )
        factor = np.where(highest == lowest, _MARGIN, 1.0)  # equal scores: no distance
        s -= lists.repeat((highest + lowest) / 2.0)
        dtype = np.float32 if np.all(highest - lowest <= 2 * _SPREAD_32) else np.float64
        # The last row fills up lists: it goes behind all others.
        s = np.append(s, 2.0 * s.min(initial=0.0) - 1.0)
        v = np.append(self.v * lists.repeat(factor), 0.0)
        gradient, curvature = np.zeros((2, len(s)))
        for rows in self.blocks:
            order = np.argsort(-s[rows], axis=1, kind="stable")
            rows = np.take_along_axis(rows, order, axis=1)
            each = s[rows], v[rows], self.weights[rows]
            found = _derivatives(*each, rows == lists.n_rows, self.top, dtype)
            gradient[rows], curvature[rows] = found
        return gradient[:-1], curvature[:-1]


def _blocks(lists, kept, top):
    """Matrices of grouped rows: lists of similar lengths, filled up with the row n_rows."""
    kept = kept[np.argsort(lists.lengths[kept], kind="stable")]
    lengths, blocks, k = lists.lengths[kept], [], 0
    pairs = lengths * np.minimum(lengths, top)
    while k < len(kept):  # as many lists as fit; each has 4 pairs or more
        some = pairs[k : k + PAIRS_AT_ONCE // 4]
        fits = some * np.arange(1, len(some) + 1) <= PAIRS_AT_ONCE
        end = k + max(1, int(fits.sum()))
        of_list, place = kept[k:end, np.newaxis], np.arange(lengths[end - 1])
        is_row, k = place < lists.lengths[of_list], end
        blocks.append(np.where(is_row, lists.starts[of_list] + place, lists.n_rows))
    return blocks


def _derivatives(s, v, weights, is_filling, top, dtype):
    """Gradient and curvature of lists of one length, (n_lists, n), sorted by -s and v.

    Rows of equal s and v, a kind, are one row of their total weight.
    """
    n_lists, n = s.shape
    is_first, is_new = np.ones(
        (2, n_lists, n), dtype=bool
    )  # first of a tie, first of a kind
    is_first[:, 1:] = (s[:, 1:] != s[:, :-1]) | is_filling[:, 1:]
    is_new[:, 1:] = is_first[:, 1:] | (v[:, 1:] != v[:, :-1])
    kind = np.cumsum(is_new, axis=1) - 1
    n_kinds = int(kind[:, -1].max()) + 1
    kind += n_kinds * np.arange(n_lists)[:, np.newaxis]

    def of_kinds(values, filling=0.0):
        found = np.full((n_lists, n_kinds), filling, dtype)
        found.ravel()[kind[is_new]] = values[is_new]
        return found

    total = np.bincount(kind.ravel(), weights.ravel(), n_lists * n_kinds)
    total = total.reshape(n_lists, n_kinds).astype(dtype)
    means = map(of_kinds, _mean_discounts(is_first, top))
    # Kinds without rows go behind all others.
    found = _of_pairs(of_kinds(s, s.min()), of_kinds(v), total, *means)
    return tuple(weights * one.ravel()[kind] for one in found)


def _mean_discounts(is_first, top):
    """Means over the orders of rows with equal scores; `is_first` marks the first of them.

    Returns, with discount D and I = 1 in the first `top` places, else 0, the means of I
    D, of I, of D, and of I_i (D_i - D_j) over pairs of these rows, i before j.
    """
    n_lists, n = is_first.shape
    place, start = np.arange(n), np.flatnonzero(is_first)
    discount = np.asarray(DCG().discount(1 + place, n))
    if is_first.all():
        means = np.stack(
            [discount * (place < top), place < top, discount, 0 * discount]
        )
        return np.broadcast_to(means[:, np.newaxis], (4, n_lists, n))
    place, size = np.tile(place, n_lists), np.diff(start, append=is_first.size)
    tie = np.repeat(np.arange(len(start)), size)
    last, total = place[start + size - 1][tie], np.cumsum(discount)
    discount, total = discount[place], total[last] - total[place]
    inside = 1.0 * (place < top)
    of_rows = (
        inside * discount,
        inside,
        discount,
        inside * (discount * (last - place) - total),
    )
    counts = size, size, size, np.maximum(size * (size - 1) / 2, 1)
    means = np.add.reduceat(of_rows, start, axis=1) / counts
    return means[:, tie].reshape(4, n_lists, n)


def _of_pairs(s, v, weights, of_first, share, of_all, of_tie):
    """Gradient and curvature for a weight of 1, from the means of `_mean_discounts`.

    A pair counts if its first item i is among the first `top` places, I_i = 1. Rows of
    unequal scores i > j are ordered independently within their ties, so that the mean
    of I_i (D_i - D_j) is E[I_i D_i] - E[I_i] E[D_j] = of_first - share * of_all. Rows
    of equal scores have `of_tie`.
    """
    n_lists, n = s.shape
    place, e = np.arange(n), np.exp(np.clip(s, -_SPREAD, _SPREAD))
    gradient, curvature = np.zeros((2, n_lists, n))
    last = int(np.count_nonzero(share.any(axis=0)))
    step = max(1, PAIRS_AT_ONCE // (n_lists * n))
    for k in range(0, last, step):  # a long list in parts
        i, j = slice(k, min(k + step, last)), slice(k, n)
        ei, ej, wi, wj = e[:, i], e[:, j], weights[:, i], weights[:, j]
        distance = s[:, i, np.newaxis] - s[:, np.newaxis, j]
        # The mean of I_i (D_i - D_j).
        c = (
            of_first[:, i, np.newaxis]
            - share[:, i, np.newaxis] * of_all[:, np.newaxis, j]
        )
        if of_tie.any():
            np.copyto(c, of_tie[:, i, np.newaxis], where=distance == 0)
        distance += np.where(place[i, np.newaxis] < place[j], _MARGIN, np.inf).astype(
            s.dtype
        )
        c /= distance
        c *= np.subtract(v[:, i, np.newaxis], v[:, np.newaxis, j], out=distance)
        of_i, of_j = -_rows(c, wj), _columns(wi, c)
        b, total = (
            np.abs(c, out=c),
            np.add(ei[:, :, np.newaxis], ej[:, np.newaxis], out=distance),
        )
        b /= total
        gradient[:, i] += of_i + ei * _rows(b, wj) - _rows(b, wj * ej)
        gradient[:, j] += of_j + ej * _columns(wi, b) - _columns(wi * ei, b)
        b /= total
        curvature[:, i] += ei * _rows(b, wj * ej)
        curvature[:, j] += ej * _columns(wi * ei, b)
    return gradient / 2.0, curvature


def _rows(pairs, x):
    """Sums over the second item of each pair."""
    return (pairs @ x[:, :, np.newaxis])[:, :, 0]


def _columns(x, pairs):
    """Sums over the first item of each pair."""
    return (x[:, np.newaxis] @ pairs)[:, 0]
