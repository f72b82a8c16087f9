"""Derivatives of LambdaRank for lists of any lengths.

    sum over pairs with v_i > v_j of  w_ij log(1 + exp(-(s_i - s_j)))
    w_ij = (v_i - v_j) |1 / log2(1 + r_i) - 1 / log2(1 + r_j)| / (.01 + |s_i - s_j|)

Ranks r come from the present scores, and the derivatives take w_ij as a constant. One item of a
pair is among the first `top` places: the pairs of a list are its first `top` rows, best score
first, and the rows after each. For i before j, let

    c = (v_i - v_j) w_ij / |v_i - v_j|,    b = |c| / (e_i + e_j),    e = exp(s).

Then the derivative by s_i is -(c - b (e_i - e_j)) / 2, that by s_j is its negative, and both have
the curvature b e_i e_j / (e_i + e_j). No pair needs an exponential, and the sums over pairs are
products of matrices.
"""

import numpy as np

from .._lists import batches
from ..target_losses import DCG
from ..target_losses._positional import best_discounted_sum
from ..target_losses._target_loss import reciprocal

#: Pairs of a block, which fit the cache of a core (as in `PairwiseLogistic`).
PAIRS_AT_ONCE = 2**16
_MARGIN = 0.01  # of the distance of two scores, as in LightGBM
_SPREAD = 300.0  # exp(600) is finite


class LambdaRank:
    """Gradient and curvature at any scores of the same lists.

    Parameters
    ----------
    gains, weights : ndarray of shape (n_rows,)
        Grouped gains >= 0, and importances of the rows.
    lists : RankingLists
    top : int
        Pairs have an item in so many first places.
    """

    def __init__(self, gains, weights, lists, top):
        best = best_discounted_sum(gains, DCG().discount, lists, cutoff=top)
        self.v = gains * lists.spread(reciprocal(best))
        self.weights, self.lists, self.top = weights, lists, top
        highest, lowest = (of.reduceat(self.v, lists.starts) for of in (np.maximum, np.minimum))
        self.blocks = []
        for members, rows in lists.same_length:
            graded, n = rows[(highest > lowest)[members]], rows.shape[1]
            if len(graded):
                cuts = batches(len(graded), n * min(n, top), PAIRS_AT_ONCE)
                self.blocks += [graded[some] for some in cuts]

    def __call__(self, s):
        """Gradient and curvature, (n_rows,) each."""
        lists = self.lists
        highest, lowest = (of.reduceat(s, lists.starts) for of in (np.maximum, np.minimum))
        factor = np.where(highest == lowest, _MARGIN, 1.0)  # equal scores: no distance
        s = s - lists.spread((highest + lowest) / 2.0)
        v = self.v * lists.spread(factor)
        gradient, curvature = np.zeros((2, len(s)))
        for rows in self.blocks:
            order = np.argsort(-s[rows], axis=1, kind="stable")
            rows = np.take_along_axis(rows, order, axis=1)
            found = _derivatives(s[rows], v[rows], self.weights[rows], self.top)
            gradient[rows], curvature[rows] = found
        return gradient, curvature


def _derivatives(s, v, weights, top):
    """Gradient and curvature of lists of one length, (n_lists, n), best score first."""
    n_lists, n = s.shape
    place = np.arange(n)
    discount = np.asarray(DCG().discount(1 + place, n))
    e = np.exp(np.clip(s, -_SPREAD, _SPREAD))
    gradient, curvature = np.zeros((2, n_lists, n))
    step = max(1, PAIRS_AT_ONCE // (n_lists * n))
    for k in range(0, min(top, n), step):  # a long list in parts
        i, j = slice(k, min(k + step, top)), slice(k, n)
        ei, ej, wi, wj = e[:, i], e[:, j], weights[:, i], weights[:, j]
        distance = s[:, i, np.newaxis] - s[:, np.newaxis, j]
        distance += np.where(place[i, np.newaxis] < place[j], _MARGIN, np.inf)
        np.divide(discount[i, np.newaxis] - discount[j], distance, out=distance)
        c = v[:, i, np.newaxis] - v[:, np.newaxis, j]
        c *= distance
        of_i, of_j = -_rows(c, wj), _columns(wi, c)
        b, total = np.abs(c, out=c), np.add(ei[:, :, np.newaxis], ej[:, np.newaxis], out=distance)
        b /= total
        gradient[:, i] += wi * (of_i + ei * _rows(b, wj) - _rows(b, wj * ej))
        gradient[:, j] += wj * (of_j + ej * _columns(wi, b) - _columns(wi * ei, b))
        b /= total
        curvature[:, i] += wi * ei * _rows(b, wj * ej)
        curvature[:, j] += wj * ej * _columns(wi * ei, b)
    return gradient / 2.0, curvature


def _rows(pairs, x):
    """Sums over the second item of each pair."""
    return (pairs @ x[:, :, np.newaxis])[:, :, 0]


def _columns(x, pairs):
    """Sums over the first item of each pair."""
    return (x[:, np.newaxis] @ pairs)[:, 0]
