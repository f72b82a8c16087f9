"""Measures of pairs: pairwise disagreement and Kendall's tau loss."""

import numpy as np

from .._ranks import block_lengths, sort_lists, tie_blocks
from ._evaluate import evaluate
from ._positional import difference_form, positional_values

# Kernels ----------------------------------------------------------------------------


def ascending_pairs(codes, lists):
    """Number of pairs a before b with codes[a] < codes[b], in each list.

    Two codes differ first at some bit, counted from the highest. For each bit, within the
    groups that agree on the higher bits, every one counts the zeros before it; then the
    zeros of the group move before its ones. O(n log(number of codes)), all lists at once.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Grouped, >= 0.
    lists : RankingLists

    Returns
    -------
    ndarray of shape (n_lists,)
    """
    codes = codes.copy()
    start, end = lists.spread(lists.starts), lists.spread(lists.offsets[1:])
    count = np.zeros(lists.n_lists)
    here = np.arange(len(codes))
    for bit in reversed(range(int(codes.max(initial=0)).bit_length())):
        one = (codes >> bit) & 1 == 1
        zeros = np.concatenate([[0], np.cumsum(~one)])
        zeros_before = zeros[:-1] - zeros[start]
        middle = start + zeros[end] - zeros[start]
        count += np.bincount(lists.index, weights=one * zeros_before, minlength=lists.n_lists)
        place = np.where(one, middle + here - start - zeros_before, start + zeros_before)
        for array, value in (
            (codes, codes),
            (start, np.where(one, middle, start)),
            (end, np.where(one, end, middle)),
        ):
            array[place] = value.copy()
    return count


def pair_counts(y, scores, lists):
    """Pairs of each list by how y and the scores order them.

    Returns
    -------
    discordant, tied_scores, tied_labels, tied_both : ndarrays of shape (n_lists,)
        Pairs ordered strictly the opposite way; pairs tied in the scores, in y, in both.
    """
    by_label = sort_lists(y, lists)
    tied_labels = _tied_pairs(y[by_label], lists)
    codes = np.empty(len(y), dtype=np.intp)
    codes[by_label] = lists.n_rows - _block_numbers(y[by_label], lists)
    codes -= lists.spread(np.minimum.reduceat(codes, lists.starts))  # few bits
    # Among equal scores the better label first: such pairs are not discordant.
    order = by_label[sort_lists(scores[by_label], lists, stable=True)]
    sorted_scores, sorted_codes = scores[order], codes[order]
    tied_scores = _tied_pairs(sorted_scores, lists)
    both = sorted_scores != np.roll(sorted_scores, 1)
    both |= sorted_codes != np.roll(sorted_codes, 1)
    tied_both = _tied_pairs(np.cumsum(both), lists)
    return ascending_pairs(sorted_codes, lists), tied_scores, tied_labels, tied_both


def _block_numbers(sorted_values, lists):
    """Number of the block of ties, over all lists, at each sorted position."""
    blocks = tie_blocks(sorted_values, lists)
    if blocks is None:
        return np.arange(len(sorted_values))
    return np.repeat(np.arange(len(blocks)), block_lengths(blocks, len(sorted_values)))


def _tied_pairs(sorted_values, lists):
    blocks = tie_blocks(sorted_values, lists)
    if blocks is None:
        return np.zeros(lists.n_lists)
    m = block_lengths(blocks, len(sorted_values)).astype(float)
    return np.bincount(lists.index[blocks], weights=m * (m - 1.0) / 2.0, minlength=lists.n_lists)


def unit_disagreement_values(y, scores, lists):
    """Pairs in the wrong order, ties in the scores one half, of each list."""
    discordant, tied_scores, _, tied_both = pair_counts(y, scores, lists)
    return discordant + (tied_scores - tied_both) / 2.0


def difference_disagreement_values(y, scores, lists):
    """Sum of (y_i - y_j)_+ over the pairs in the wrong order, of each list."""
    return -positional_values(difference_form(), y, scores, lists)


def preference_disagreement_values(y, scores, lists):
    """Weight y[q, i, j] of the preferences "i before j" that the scores go against."""
    check_preferences(y)
    s = scores.reshape(y.shape[:2])
    higher = s[:, :, np.newaxis] - s[:, np.newaxis, :]
    against = (higher < 0) + 0.5 * (higher == 0)
    diagonal = np.arange(y.shape[1])
    against[:, diagonal, diagonal] = 0.0
    return np.einsum("qij,qij->q", y, against)


def check_preferences(y):
    """Refuse preferences that are not square, or negative."""
    if y.shape[1] != y.shape[2]:
        raise ValueError(f"Preferences y[q, i, j] have the shape (n_lists, r, r), got {y.shape}.")
    if np.any(y < 0):
        place = tuple(int(i) for i in np.argwhere(y < 0)[0])
        raise ValueError(
            f"y{list(place)} = {y[place]:g}: preferences y[q, i, j] are weights >= 0 of 'i before "
            "j'; put the weight of the opposite preference into y[q, j, i]."
        )
    return y


def kendall_values(y, scores, lists):
    """Share of pairs on which the signs of the differences differ, nan for one item."""
    discordant, tied_scores, tied_labels, tied_both = pair_counts(y, scores, lists)
    wrong = discordant + tied_scores + tied_labels - 2.0 * tied_both
    pairs = lists.lengths * (lists.lengths - 1.0) / 2.0
    return np.divide(wrong, pairs, out=np.full(lists.n_lists, np.nan), where=pairs > 0)


DISAGREEMENTS = {
    "unit": unit_disagreement_values,
    "difference": difference_disagreement_values,
}


def check_pair_weights(weights):
    """Refuse an unknown way to weight pairs."""
    if weights not in DISAGREEMENTS:
        raise ValueError(f"weights must be one of {sorted(DISAGREEMENTS)}, got {weights!r}.")
    return weights


def disagreement_values(weights):
    """Kernel of the pairwise disagreement of grades or, where y is (n, r, r), preferences."""
    of_grades = DISAGREEMENTS[check_pair_weights(weights)]

    def kernel(y, scores, lists):
        values = preference_disagreement_values if y.ndim == 3 else of_grades
        return np.where(lists.lengths > 1, values(y, scores, lists), np.nan)

    return kernel


# Measures ---------------------------------------------------------------------------


def pairwise_disagreement_loss(
    y_true,
    y_score,
    *,
    qid=None,
    weights="unit",
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
):
    """Pairwise disagreement (PD): the weight of the pairs in the wrong order.

    ``PD = sum_{i != j} y_ij * [rank(i) > rank(j)]``, a tied pair counting one half, where y_ij is
    the weight of the preference "i before j". Grades give the preferences
    ``y_ij = [y_i > y_j]`` (unit) or ``(y_i - y_j)_+`` (difference).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r) or (n_lists, r, r)
        Any real grades, higher is better, or preferences y[q, i, j] >= 0. NaN in a matrix
        of grades leaves the item out, and with it its pairs.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    weights : {"unit", "difference"}, default="unit"
        How grades weight a pair; preferences carry their own weights.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with a single item.
        nan leaves such lists out of the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, lower is better; not divided by the number of pairs.

    Raises
    ------
    ValueError
        If shapes do not fit, a one-dimensional y_true or preferences hold NaN, or `weights` is
        unknown.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, section 7.

    Examples
    --------
    >>> from lowrank_rank.metrics import pairwise_disagreement_loss
    >>> pairwise_disagreement_loss([2, 1, 0], [2, 3, 1])  # only (0, 1) is wrong
    1.0
    """
    return evaluate(
        disagreement_values(weights),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        allow_missing=True,
        takes_preferences=True,
    )


def kendall_tau_loss(
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
):
    """Kendall's tau loss: the share of pairs on which two rankings differ.

    ``2 / (r (r-1)) * sum_{i<j} [sign(y_i - y_j) != sign(s_i - s_j)]``. This one is not averaged
    over ties: a pair tied on one side only counts as wrong, as in the textbook.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Any real grades, higher is better; NaN in a matrix leaves the item out.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with a single
        item.
        nan leaves such lists out of the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], lower is better.

    Raises
    ------
    ValueError
        If shapes do not fit or a one-dimensional y_true holds NaN.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.4.

    Examples
    --------
    >>> from lowrank_rank.metrics import kendall_tau_loss
    >>> kendall_tau_loss([3, 2, 1], [3, 1, 2])  # one pair of three
    0.3333333333333333
    """
    return evaluate(
        kendall_values,
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        allow_missing=True,
    )
