"""Derivatives of LambdaRank for lists of any lengths.

    sum over pairs with v_i > v_j of  w_i w_j d_ij log(1 + exp(-(s_i - s_j)))
    d_ij = (v_i - v_j) |1 / log2(1 + r_i) - 1 / log2(1 + r_j)| / (.01 + |s_i - s_j|)

The denominator of d_ij is 1 in a list whose scores are all equal, as at the first tree.
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
_LARGEST_SCORE = 300.0  # exp(600) is finite
_LARGEST_SCORE_32 = 40.0  # exp(80) is finite in float32


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
        self.v = v
        # Row n_rows, of weight 0, fills up the lists of a block.
        self.weights = np.append(weights, 0.0)
        self.lists = lists
        self.top = top
        highest = np.maximum.reduceat(v, lists.starts)
        lowest = np.minimum.reduceat(v, lists.starts)
        has_pairs = np.flatnonzero(highest > lowest)
        # Rows of equal scores are sorted by v, and stay so.
        order = np.append(np.lexsort((weights, v, lists.index)), len(v))
        self.blocks = [order[rows] for rows in _blocks(lists, has_pairs, top)]

    def __call__(self, s):
        """Compute gradient and curvature, (n_rows,) each, at grouped scores."""
        lists = self.lists
        s = np.clip(s, -1e38, 1e38).astype(np.float32).astype(np.float64)
        highest = np.maximum.reduceat(s, lists.starts)
        lowest = np.minimum.reduceat(s, lists.starts)
        s -= lists.repeat((highest + lowest) / 2.0)
        # The row that fills up lists goes behind all others.
        s = np.append(s, 2.0 * s.min(initial=0.0) - 1.0)
        # In lists of equal scores the denominator of d_ij is 1, not .01.
        list_factor = np.where(highest == lowest, _MARGIN, 1.0)
        v = np.append(self.v * lists.repeat(list_factor), 0.0)
        is_narrow = np.all(highest - lowest <= 2 * _LARGEST_SCORE_32)
        dtype = np.float32 if is_narrow else np.float64
        gradient = np.zeros(len(s))
        curvature = np.zeros(len(s))
        for rows in self.blocks:
            order = np.argsort(-s[rows], axis=1, kind="stable")
            rows = np.take_along_axis(rows, order, axis=1)
            is_first = _is_first_of_tie(s[rows], rows == lists.n_rows)
            kinds = Kinds(is_first, v[rows], dtype)
            weights = self.weights[rows]
            by_score, second = _pair_derivatives(
                # Kinds without rows go behind all others.
                kinds.values(s[rows], filling=s[rows].min()),
                kinds.values(v[rows]),
                kinds.totals(weights),
                *[kinds.values(mean) for mean in _mean_discounts(is_first, self.top)],
            )
            gradient[rows] = weights * kinds.rows(by_score)
            curvature[rows] = weights * kinds.rows(second)
        return gradient[:-1], curvature[:-1]


def _blocks(lists, has_pairs, top):
    """Make matrices of grouped rows, of the lists `has_pairs`, with similar lengths.

    Shorter lists are filled up with the row n_rows.
    """
    lengths = lists.lengths[has_pairs]
    order = np.argsort(lengths, kind="stable")
    by_length = has_pairs[order]
    lengths = lengths[order]
    n_pairs = lengths * np.minimum(lengths, top)
    blocks = []
    start = 0
    while start < len(by_length):
        # As many lists as fit when all are as long as the last; each has 4 pairs or
        # more.
        next_pairs = n_pairs[start : start + PAIRS_AT_ONCE // 4]
        fits = next_pairs * np.arange(1, len(next_pairs) + 1) <= PAIRS_AT_ONCE
        end = start + max(1, int(fits.sum()))
        list_of_row = by_length[start:end, np.newaxis]
        place = np.arange(lengths[end - 1])
        is_row = place < lists.lengths[list_of_row]
        rows = lists.starts[list_of_row] + place
        blocks.append(np.where(is_row, rows, lists.n_rows))
        start = end
    return blocks


# Equal rows -------------------------------------------------------------------------


def _is_first_of_tie(s, is_filling):
    """Find the first row of each tie of sorted scores (n_lists, n).

    Each row that fills up a list is a tie of its own.
    """
    is_first = np.ones(s.shape, dtype=bool)
    is_first[:, 1:] = (s[:, 1:] != s[:, :-1]) | is_filling[:, 1:]
    return is_first


class Kinds:
    """Rows of a list with equal scores and gains: one row of their total weight.

    Parameters
    ----------
    is_first : ndarray of bool, shape (n_lists, n)
        First row of each tie of scores.
    v : ndarray of shape (n_lists, n)
        Gains, sorted within ties.
    dtype : numpy dtype
        Precision of the values of the kinds.
    """

    def __init__(self, is_first, v, dtype):
        self.dtype = dtype
        self.is_new = is_first.copy()
        self.is_new[:, 1:] |= v[:, 1:] != v[:, :-1]
        kind = np.cumsum(self.is_new, axis=1) - 1
        n_lists = len(v)
        self.shape = n_lists, int(kind[:, -1].max()) + 1
        # The kind of each row in the flat array of all kinds.
        self.kind = kind + self.shape[1] * np.arange(n_lists)[:, np.newaxis]

    def values(self, values, filling=0.0):
        """Take the value of the first row of each kind, shape (n_lists, n_kinds)."""
        of_kinds = np.full(self.shape, filling, self.dtype)
        of_kinds.ravel()[self.kind[self.is_new]] = values[self.is_new]
        return of_kinds

    def totals(self, weights):
        """Sum the weights of each kind, shape (n_lists, n_kinds)."""
        totals = np.bincount(self.kind.ravel(), weights.ravel(), np.prod(self.shape))
        return totals.reshape(self.shape).astype(self.dtype)

    def rows(self, of_kinds):
        """Give each row the value of its kind, shape (n_lists, n)."""
        return of_kinds.ravel()[self.kind]


def _mean_discounts(is_first, top):
    """Compute means over the orders of rows with equal scores, each (n_lists, n).

    With the discount D of the place of a row, and I = 1 in the first `top` places, else
    0, these are the means of I D, of I, of D, and of I_i (D_i - D_j) over pairs of rows
    of a tie, i before j. `is_first` marks the first row of each tie.
    """
    n_lists, n = is_first.shape
    place = np.arange(n)
    discount = np.asarray(DCG().discount(1 + place, n))
    if is_first.all():
        is_top = place < top
        means = np.stack([discount * is_top, is_top, discount, np.zeros(n)])
        return np.broadcast_to(means[:, np.newaxis], (4, n_lists, n))
    # Start, size, and last place of each tie in the flat array of all rows.
    start = np.flatnonzero(is_first)
    size = np.diff(start, append=is_first.size)
    tie = np.repeat(np.arange(len(start)), size)
    place = np.tile(place, n_lists)
    last = place[start + size - 1][tie]
    # The sum over the later rows j of the tie of D_i - D_j
    cumulative = np.cumsum(discount)
    later_discounts = cumulative[last] - cumulative[place]
    discount = discount[place]
    differences = discount * (last - place) - later_discounts
    is_top = 1.0 * (place < top)
    sums = np.add.reduceat(
        (is_top * discount, is_top, discount, is_top * differences), start, axis=1
    )
    n_pairs = np.maximum(size * (size - 1) / 2, 1)
    means = sums / (size, size, size, n_pairs)
    return means[:, tie].reshape(4, n_lists, n)


# Pairs ------------------------------------------------------------------------------


def _pair_derivatives(s, v, weights, top_discount, top_chance, discount, tie_gap):
    """Compute gradient and curvature (n_lists, n) for a weight of 1.

    The last four arguments are the means of `_mean_discounts`. A pair counts if its
    first item i is among the first `top` places, I_i = 1. Rows of unequal scores are
    ordered independently within their ties, so that the mean of I_i (D_i - D_j) is
    E[I_i D_i] - E[I_i] E[D_j]. Rows of equal scores have `tie_gap`.
    """
    n_lists, n = s.shape
    place = np.arange(n)
    e = np.exp(np.clip(s, -_LARGEST_SCORE, _LARGEST_SCORE))
    gradient = np.zeros((n_lists, n))
    curvature = np.zeros((n_lists, n))
    n_first = int(np.count_nonzero(top_chance.any(axis=0)))
    step = max(1, PAIRS_AT_ONCE // (n_lists * n))
    for start in range(0, n_first, step):  # a long list in parts
        # Items i of this part, with all items j from the first of them on.
        i = slice(start, min(start + step, n_first))
        j = slice(start, n)
        e_i, e_j = e[:, i], e[:, j]
        w_i, w_j = weights[:, i], weights[:, j]
        # c = mean of I_i (D_i - D_j) * (v_i - v_j) / (.01 + s_i - s_j), 0 for j <= i
        distance = _of_pairs(np.subtract, s[:, i], s[:, j])
        c = top_discount[:, i, np.newaxis] - _of_pairs(
            np.multiply, top_chance[:, i], discount[:, j]
        )
        if tie_gap.any():
            np.copyto(c, tie_gap[:, i, np.newaxis], where=distance == 0)
        is_before = place[i, np.newaxis] < place[j]
        distance += np.where(is_before, _MARGIN, np.inf).astype(s.dtype)
        c /= distance
        # From here on the arrays of pairs are written again.
        c *= _of_pairs(np.subtract, v[:, i], v[:, j], out=distance)
        gradient_i = -_sums_over_j(c, w_j)
        gradient_j = _sums_over_i(w_i, c)
        # b = |c| / (e_i + e_j)
        b = np.abs(c, out=c)
        e_sum = _of_pairs(np.add, e_i, e_j, out=distance)
        b /= e_sum
        # -(c - b (e_i - e_j)), twice the derivative by s_i; its negative by s_j
        gradient_i = gradient_i + e_i * _sums_over_j(b, w_j)
        gradient_j = gradient_j + e_j * _sums_over_i(w_i, b)
        gradient[:, i] += gradient_i - _sums_over_j(b, w_j * e_j)
        gradient[:, j] += gradient_j - _sums_over_i(w_i * e_i, b)
        # b e_i e_j / (e_i + e_j)
        b /= e_sum
        curvature[:, i] += e_i * _sums_over_j(b, w_j * e_j)
        curvature[:, j] += e_j * _sums_over_i(w_i * e_i, b)
    return gradient / 2.0, curvature


def _of_pairs(operation, of_i, of_j, out=None):
    """Apply an operation to all pairs of two items, shape (n_lists, n_i, n_j)."""
    return operation(of_i[:, :, np.newaxis], of_j[:, np.newaxis], out=out)


def _sums_over_j(pairs, of_j):
    """Sum over the second item of each pair."""
    return (pairs @ of_j[:, :, np.newaxis])[:, :, 0]


def _sums_over_i(of_i, pairs):
    """Sum over the first item of each pair."""
    return (of_i[:, np.newaxis] @ pairs)[:, 0]
