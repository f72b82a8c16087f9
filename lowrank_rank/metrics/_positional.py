"""Positional measures: sum over items of discount(rank) times utility (spec of all).

A generalised positional performance measure (Calauzènes, Usunier & Gallinari 2013,
definition 2.1) is

    measure(y, order) = offset(y) + sum_i discount(rank(i)) * gain_i(y) / normaliser(y)

with a discount that does not increase. A `PositionalForm` holds the four parts. The
measures here and the target losses of the same names are built from the same forms,
so gains, discounts and normalisers are defined once, below.
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from .._ranks import mean_over_ties, mid_ranks, sort_lists, tie_blocks
from ._evaluate import check_grades, check_real


@dataclass(frozen=True)
class PositionalForm:
    """The parts of a positional measure; see the module's formula.

    Attributes
    ----------
    gain : callable
        ``gain(y, lists)``, the numerator of each item's utility, >= 0.
    discount : callable
        ``discount(p, r, k)`` at 1-based positions p of lists of length r; what lies
        below the cut-off k is dropped afterwards.
    cutoff : callable or None
        ``cutoff(y, lists)``: the cut-off k, a number or one for each list.
    normaliser : callable or None
        ``normaliser(y, gains, lists)``, one number per list; 0 marks a list on which
        the measure is undefined. None stands for 1.
    offset : callable or None
        ``offset(y, lists)``, one number per list; None stands for 0.
    divisor : callable or None
        ``divisor(y, lists)``, by which discounts are divided, in the end: sums of whole numbers
        then stay exact. None stands for 1.
    """

    gain: Callable
    discount: Callable
    cutoff: Callable | None = None
    normaliser: Callable | None = None
    offset: Callable | None = None
    divisor: Callable | None = None

    def normalisers(self, y, gains, lists):
        if self.normaliser is None:
            return np.ones(lists.n_lists)
        return self.normaliser(y, gains, lists)

    def offsets(self, y, lists):
        return np.zeros(lists.n_lists) if self.offset is None else self.offset(y, lists)


def positional_values(form, y, scores, lists):
    """Value of a positional measure on each list, averaged over ties.

    Parameters
    ----------
    form : PositionalForm
    y, scores : ndarray of shape (n_rows,)
        Grouped labels and scores.
    lists : RankingLists

    Returns
    -------
    ndarray of shape (n_lists,)
        nan where the normaliser is 0.
    """
    gains = form.gain(y, lists)
    order = sort_lists(scores, lists)
    blocks = tie_blocks(np.take(scores, order), lists)
    cutoff = None if form.cutoff is None else form.cutoff(y, lists)
    total = discounted_sum(
        np.take(gains, order), form.discount, lists, cutoff=cutoff, blocks=blocks
    )
    if form.divisor is not None:
        total = total / form.divisor(y, lists)
    scale = form.normalisers(y, gains, lists)
    value = np.full(lists.n_lists, np.nan)
    np.divide(total, scale, out=value, where=scale > 0)
    return value + form.offsets(y, lists)


def discounted_sum(sorted_gains, discount, lists, *, cutoff=None, blocks=None):
    """Sum over each list of discount(position) times the gain found there."""
    r = lists.common_length
    if r is None or np.ndim(cutoff):
        if blocks is None:
            head, of_list, values = _head(discount, lists, cutoff)
            weighted = sorted_gains[head] * values
            return np.bincount(of_list, weights=weighted, minlength=lists.n_lists)
        by_position = discounts(discount, lists, cutoff)
        return lists.sum(sorted_gains * mean_over_ties(by_position, blocks))
    row = _discount_row(discount, r, cutoff)
    if blocks is None:
        return sorted_gains.reshape(-1, r)[:, : len(row)] @ row
    by_position = np.zeros((lists.n_lists, r))
    by_position[:, : len(row)] = row
    by_position = mean_over_ties(by_position.ravel(), blocks)
    return np.einsum("ij,ij->i", sorted_gains.reshape(-1, r), by_position.reshape(-1, r))


def best_discounted_sum(gains, discount, lists, *, cutoff=None):
    """The largest discounted sum of each list over all orders: gains in descending order."""
    r = lists.common_length
    if r is not None:
        return _best_row_sums(gains.reshape(-1, r), _discount_row(discount, r, cutoff))
    total = np.empty(lists.n_lists)
    for members, rows in lists.same_length:
        row = _discount_row(discount, rows.shape[1], cutoff)
        total[members] = _best_row_sums(gains[rows], row)
    return total


def _best_row_sums(matrix, row):
    return np.sort(matrix, axis=1)[:, : -len(row) - 1 : -1] @ row


def _discount_row(discount, r, cutoff):
    """discount(1), ..., discount(r), not beyond the cut-off."""
    depth = r if cutoff is None else min(int(cutoff), r)
    return discount(np.arange(1, depth + 1), r, cutoff) * np.ones(depth)


def discounts(discount, lists, cutoff=None):
    """discount(position), 0 below the cut-off, at every position of every list."""
    head, _, values = _head(discount, lists, cutoff)
    by_position = np.zeros(lists.n_rows)
    by_position[head] = values
    return by_position


def _head(discount, lists, cutoff):
    """The rows above the cut-off, the list of each, and their discounts."""
    r = lists.lengths
    k = r if cutoff is None else cutoff * np.ones(lists.n_lists)
    depth = np.minimum(r, k).astype(np.intp)
    of_list = np.repeat(np.arange(lists.n_lists), depth)
    p = np.arange(1, len(of_list) + 1) - (np.cumsum(depth) - depth)[of_list]
    values = discount(p, r[of_list], k[of_list]) * np.ones(len(p))
    return lists.starts[of_list] + p - 1, of_list, values


# Cut-offs ---------------------------------------------------------------------------


def check_k(k, *, share=False):
    """Refuse a cut-off that is neither a count >= 1 nor, where allowed, a share."""
    if isinstance(k, Integral) and not isinstance(k, bool):
        if k < 1:
            raise ValueError(f"k must be at least 1, got k={k}.")
        return int(k)
    if share and isinstance(k, Real) and not isinstance(k, bool):
        if not 0 < k <= 1:
            raise ValueError(
                f"k={k!r} is a share of the relevant items and must lie in (0, 1]; for a count "
                "give an integer."
            )
        return float(k)
    also = " or a share of the relevant items, a float in (0, 1]" if share else ""
    raise ValueError(f"k must be an integer >= 1{also}, got k={k!r}.")


def is_share(k):
    """Whether the cut-off k is a share of the relevant items rather than a count."""
    return not isinstance(k, Integral)


def cutoff_at(k):
    """Cut-off function of a count k, or of a share: max(1, floor(share * P + 1/2))."""
    if k is None:
        return None
    if not is_share(k):
        return lambda y, lists: k
    return lambda y, lists: places_of_share(k, lists.sum(y))


def places_of_share(share, n_relevant):
    """The cut-off max(1, floor(share * P + 1/2)) of a share of P relevant items."""
    return np.maximum(1.0, np.floor(share * n_relevant + 0.5))


# Gains and discounts ----------------------------------------------------------------

_LARGEST_EXPONENT = 900.0  # 2**1024 overflows; sums and products need room


def _linear_gain(y, lists):
    return check_grades(y)


def _exponential_gain(y, lists):
    check_grades(y)
    highest = np.fmax.reduce(y, axis=None, initial=0.0)  # NaN is not judged
    if highest > _LARGEST_EXPONENT:
        raise ValueError(
            f"The exponential gain 2**y - 1 overflows at the grade y={highest:g}: use "
            'gain="linear", or grades on a smaller scale such as 0..4.'
        )
    return np.exp2(y) - 1.0


GAINS: dict[str, Callable] = {"linear": _linear_gain, "exponential": _exponential_gain}


def gain_function(gain):
    """Look up a gain by name."""
    if gain not in GAINS:
        raise ValueError(f"gain must be one of {sorted(GAINS)}, got {gain!r}.")
    return GAINS[gain]


def logarithmic_discount(p, r, k) -> Any:
    """1 / log2(1 + p), of DCG."""
    return 1.0 / np.log2(1.0 + p)


def linear_discount(p, r, k) -> Any:
    """r - p, the items that stand below; of AUC, Spearman and difference weights."""
    return (r - p) * 1.0


# The measures -----------------------------------------------------------------------


def precision_form(k):
    """Share of relevant items in the top k; lists shorter than k still divide by k."""
    cutoff = cutoff_at(k)
    return PositionalForm(_linear_gain, lambda p, r, k: 1.0, cutoff, divisor=cutoff)


def recall_form(k):
    """Share of the relevant items that stand in the top k."""
    return PositionalForm(
        _linear_gain,
        lambda p, r, k: 1.0,
        cutoff_at(k),
        normaliser=lambda y, gains, lists: lists.sum(gains),
    )


def dcg_form(k=None, gain="linear"):
    """Discounted cumulative gain, cut at k."""
    return PositionalForm(gain_function(gain), logarithmic_discount, cutoff_at(k))


def ndcg_form(k=None, gain="linear"):
    """DCG divided by the DCG of the best order, cut at the same k."""

    def ideal(y, gains, lists):
        return best_discounted_sum(gains, logarithmic_discount, lists, cutoff=k)

    return PositionalForm(gain_function(gain), logarithmic_discount, cutoff_at(k), normaliser=ideal)


def auc_form():
    """Share of (relevant, irrelevant) pairs in the right order."""

    def counts(y, lists):
        positives = lists.sum(y)
        return positives, lists.lengths - positives

    def n_pairs(y, gains, lists):
        positives, negatives = counts(y, lists)
        return positives * negatives

    def offset(y, lists):
        positives, negatives = counts(y, lists)
        return -(positives - 1.0) / (2.0 * np.maximum(negatives, 1.0))

    return PositionalForm(_linear_gain, linear_discount, normaliser=n_pairs, offset=offset)


def spearman_form():
    """Spearman's rank correlation; a tied label has the mean of its rankings."""
    return PositionalForm(
        lambda y, lists: lists.spread(lists.lengths) - mid_ranks(y, lists),
        linear_discount,
        normaliser=lambda y, gains, lists: lists.lengths * (lists.lengths**2.0 - 1.0) / 12.0,
        offset=lambda y, lists: -3.0 * (lists.lengths - 1.0) / (lists.lengths + 1.0),
    )


def eru_form(neutral=2.0, half_life=5.0):
    """Expected rank utility: sum_i max(y_i - neutral, 0) * 2**((1-rank)/(half_life-1))."""
    if not (isinstance(half_life, Real) and half_life > 1):
        raise ValueError(f"half_life must be a number greater than 1, got {half_life!r}.")
    if np.isnan(check_real("neutral", neutral)):
        raise ValueError("neutral must be a number, got nan.")
    return PositionalForm(
        lambda y, lists: np.maximum(check_grades(y) - neutral, 0.0),
        lambda p, r, k: np.exp2((1.0 - p) / (half_life - 1.0)),
    )


def difference_form():
    """Minus the pairwise disagreement with the weights (y_i - y_j)_+.

    The weight of the pairs in the wrong order is sum_i y_i (rank(i) - ideal rank(i)),
    since of every pair the item placed later counts.
    """

    def ideal(y, lists):
        return -best_discounted_sum(y, linear_discount, lists)

    return PositionalForm(lambda y, lists: y, linear_discount, offset=ideal)
