"""Surrogates of pairs: the order-preserving templates, and the classics that are not.

The templates weigh "i before j" by v_i and "j before i" by v_j, whatever their order, so that only
E v matters. The classics look at which of v_i, v_j is larger in each label.
"""

import numpy as np

from ._template import LARGEST_EXPONENT, Surrogate, SurrogateValues, bounded_exp

_PAIRS_AT_ONCE = 2**20


class PairwiseSurrogate(Surrogate):
    """Base of the sums over pairs of a list."""

    shift_invariant = True
    of_pairs = True


class PairwiseSquared(PairwiseSurrogate):
    """``sum_{i<j} (v_i - v_j - (s_i - s_j))**2``; c = sqrt(2 / r).

    Equal to ``W sum_i w_i (e_i - mean e)**2`` of the errors e = s - v with total weight W.
    """

    def evaluate(self, v, s, lists, weights):
        error, total = s - v, lists.sum(weights)
        safe = np.where(total > 0, total, 1.0)
        centred = error - lists.spread(lists.sum(weights * error) / safe)
        mass = lists.spread(total)
        return SurrogateValues(
            total * lists.sum(weights * centred**2),
            2.0 * weights * mass * centred,
            2.0 * weights * (mass - weights),
        )

    def bound_constant(self, expected, lists):
        return np.sqrt(2.0 / lists.lengths)


class PairwiseExponential(PairwiseSurrogate):
    """``sum_{i<j} v_i exp(-(s_i - s_j)) + v_j exp(s_i - s_j)``; c = 2 sqrt(max E v).

    The sum over ordered pairs factorises into two sums over items.
    """

    of_utilities = True

    def evaluate(self, v, s, lists, weights):
        # Both sums relative to their largest term, so that only a large product is cut off.
        top = _largest(np.where(weights > 0, s, -np.inf), lists)
        bottom = -_largest(np.where(weights * v > 0, -s, -np.inf), lists)
        counted = np.isfinite(top) & np.isfinite(bottom)
        top, bottom = np.where(counted, top, 0.0), np.where(counted, bottom, 0.0)
        up = weights * bounded_exp(s - lists.spread(top), 0.0)
        down = weights * v * bounded_exp(lists.spread(bottom) - s, 0.0)
        scale = bounded_exp(top - bottom) * counted
        ups, downs = lists.sum(up), lists.sum(down)
        own = up * down  # pairs of an item with itself
        to_all, from_all = up * lists.spread(downs), down * lists.spread(ups)
        spread = lists.spread(scale)
        return SurrogateValues(
            scale * np.maximum(ups * downs - lists.sum(own), 0.0),
            spread * (to_all - from_all),
            spread * np.maximum(to_all + from_all - 2.0 * own, 0.0),
        )

    def bound_constant(self, expected, lists):
        return 2.0 * np.sqrt(_largest(expected, lists))


class PairsInBlocks(PairwiseSurrogate):
    """``sum over pairs (i, j) of weight a_ij of phi(s_i - s_j)``, in blocks of bounded memory.

    A subclass gives ``phi(x)``, with its derivatives, and ``weight(v_i, v_j)``; pairs whose
    first item has utility 0 weigh nothing.
    """

    def evaluate(self, v, s, lists, weights):
        values, gradient, curvature = np.zeros(lists.n_lists), np.zeros(len(s)), np.zeros(len(s))
        for members, rows in lists.same_length:
            step = max(1, _PAIRS_AT_ONCE // rows.shape[1] ** 2)
            for first in range(0, len(rows), step):
                here = rows[first : first + step]
                value, by_row, bent = self._block(v[here], s[here], weights[here])
                values[members[first : first + step]] = value
                gradient[here], curvature[here] = by_row, bent
        return SurrogateValues(values, gradient, curvature)

    def _block(self, v, s, weights):
        """Lists of one length, (m, r): only rows of items with a positive utility."""
        wanted = np.argwhere((v > 0) & (weights > 0))
        value, gradient, curvature = np.zeros(len(v)), np.zeros(v.shape), np.zeros(v.shape)
        step = max(1, _PAIRS_AT_ONCE // v.shape[1])
        for first in range(0, len(wanted), step):
            q, i = wanted[first : first + step].T
            self._add_rows(v, s, weights, q, i, (value, gradient, curvature))
        return value, gradient, curvature

    def _add_rows(self, v, s, weights, q, i, out):
        """Add the pairs of the items (q, i), q ascending, with all items of their lists."""
        value, gradient, curvature = out
        phi, slope, bent = self.phi(s[q, i][:, np.newaxis] - s[q])
        pair = weights[q, i][:, np.newaxis] * weights[q] * self.weight(v[q, i][:, np.newaxis], v[q])
        pair[np.arange(len(q)), i] = 0.0
        value += np.bincount(q, weights=np.einsum("kj,kj->k", pair, phi), minlength=len(v))
        slope, bent = pair * slope, pair * bent
        starts = np.flatnonzero(np.diff(q, prepend=-1))
        gradient[q[starts]] -= np.add.reduceat(slope, starts, axis=0)
        curvature[q[starts]] += np.add.reduceat(bent, starts, axis=0)
        gradient[q, i] += slope.sum(axis=1)
        curvature[q, i] += bent.sum(axis=1)


class PairwiseLogistic(PairsInBlocks):
    """``sum_{i<j} v_i log(1 + exp(-(s_i - s_j))) + v_j log(1 + exp(s_i - s_j))``.

    c = 2 sqrt(max E v). It costs (items with v_i > 0) x r for each list.
    """

    of_utilities = True

    def phi(self, x):
        return _logistic(x)

    def weight(self, first, second):
        return first * np.ones_like(second)

    def bound_constant(self, expected, lists):
        return 2.0 * np.sqrt(_largest(expected, lists))


class RankNet(PairsInBlocks):
    """``sum over v_i > v_j of log(1 + exp(-(s_i - s_j)))``; not order-preserving, to compare."""

    order_preserving = False

    def phi(self, x):
        return _logistic(x)

    def weight(self, first, second):
        return (first > second).astype(float)


class RankSVM(PairsInBlocks):
    """``sum over v_i > v_j of max(0, 1 - (s_i - s_j))**2``; not order-preserving, to compare."""

    order_preserving = False

    def phi(self, x):
        part = np.maximum(1.0 - x, 0.0)
        return part**2, -2.0 * part, 2.0 * (part > 0)

    def weight(self, first, second):
        return (first > second).astype(float)


def _logistic(x):
    """log(1 + exp(-x)) with its derivatives, from one exponential."""
    z = bounded_exp(-x)
    p = z / (1.0 + z)
    value = np.log1p(z)
    value += np.maximum(-x - LARGEST_EXPONENT, 0.0)  # beyond the largest exponential
    return value, -p, p * (1.0 - p)


def _largest(values, lists):
    return np.maximum.reduceat(values, lists.starts)
