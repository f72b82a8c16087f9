"""Hinge of all pairs of a list: of Kendall's tau (equation 17.4 of the chapter), and of RankSVM.

    sum over pairs with y_i > y_j of  w_i w_j penalty(margin - (s_i - s_j))

The pairs are never formed. In ascending scores, the rows within the margin of a row begin at one
place. For each grade, the sum over the lower grades from there is a difference of prefix sums. Up
to eight grades take one pass over the rows. More grades are compared by their highest three bits
first, then by the next three bits among rows with equal bits.
"""

import numpy as np

from .._lists import RankingLists, blocks_of_lists, sort_lists

_BITS = 3  # of the grades, that one pass tells apart
_ROWS_AT_ONCE = 2**13


def pair_sums(grades, scores, lists, margin=1.0, weights=None):
    """Sums over the pairs of unequal label within the margin, z = margin - (s_i - s_j) > 0.

    O(n log n) for n rows and up to eight grades, times log8 of the grades beyond.

    Parameters
    ----------
    grades : ndarray of int, shape (n_rows,)
        From `dense_grades`, grouped. Equal grades make no pair.
    scores : ndarray of shape (n_rows,)
    lists : RankingLists
    margin : float, default=1.0
    weights : ndarray of shape (n_rows,) or None, default=None
        A pair weighs the product of two.

    Returns
    -------
    values : tuple of two ndarrays of shape (n_lists,)
        Sums of z, and of z**2.
    slopes : tuple of two ndarrays of shape (n_rows,)
        Their subgradients in the scores.
    curvatures : ndarray of shape (n_rows,)
        Diagonal of the second derivative of the sums of z**2.
    """
    weights = np.ones(lists.n_rows) if weights is None else weights
    scores = scores - lists.spread(lists.sum(scores) / lists.lengths)  # small numbers
    # For each row the sum of w_j over the rows of lower (higher) grade within the margin, and of
    # w_j s_j as the imaginary part.
    below, above = np.zeros((2, lists.n_rows), dtype=complex)
    for first, last in blocks_of_lists(lists, _ROWS_AT_ONCE):  # a block fits the cache
        rows = slice(lists.offsets[first], lists.offsets[last])
        groups = RankingLists(lists.lengths[first:last])
        of_block = grades[rows], scores[rows], weights[rows], groups, margin
        _add_block(below[rows], above[rows], *of_block)
    # w_i times the sums over the pairs of row i of w_j z, as the higher and as the lower.
    higher = weights * ((margin - scores) * below.real + below.imag)
    lower = weights * ((margin + scores) * above.real - above.imag)
    squares = np.maximum(lists.sum((margin - scores) * higher + scores * lower), 0.0)
    slopes = weights * (above.real - below.real), 2.0 * (lower - higher)
    return (lists.sum(higher), squares), slopes, 2.0 * weights * (above.real + below.real)


def dense_grades(y, lists):
    """0, 1, ... in each list, in the order of the labels, (n_rows,)."""
    order = sort_lists(-y, lists)
    values = y[order]
    step = np.zeros(len(y), dtype=np.intp)
    step[1:] = values[1:] > values[:-1]
    step[lists.starts] = 0
    total = np.cumsum(step)
    grades = np.empty(len(y), dtype=np.intp)
    grades[order] = total - lists.spread(total[lists.starts])
    return grades


def _add_block(below, above, grades, scores, weights, groups, margin):
    """Add the sums of one block, comparing grades some bits at a time from the highest."""
    rows = sort_lists(-scores, groups)
    n_passes = -(-int(grades.max(initial=0)).bit_length() // _BITS)
    for shift in range(_BITS * (n_passes - 1), -1, -_BITS):
        digits = grades[rows] >> shift & 2**_BITS - 1
        s = scores[rows]
        moments = np.empty(len(s), dtype=complex)
        moments.real = weights[rows]
        moments.imag = moments.real * s
        # The first place of each group with a score above s - margin. The groups are shifted apart,
        # so that one search does for all. Very large scores give wrong places for pairs at the
        # margin up to rounding.
        start, end = groups.spread(groups.starts), groups.spread(groups.offsets[1:])
        lowest, highest = s[groups.starts], s[groups.offsets[1:] - 1]
        steps = highest - lowest + 2.0 * abs(margin) + 1.0
        shifted = s + groups.spread(np.cumsum(steps) - steps - lowest)
        first = np.clip(np.searchsorted(shifted, shifted - margin, side="right"), start, end)
        for total, part in zip(
            (below, above), _sums_of_pass(digits, moments, first, start, end), strict=True
        ):
            total[rows] += part
        if shift:  # rows whose higher bits are equal are the groups of the next pass
            codes = groups.index * 2**_BITS + digits
            rows = rows[np.argsort(codes, kind="stable")]
            counts = np.bincount(codes)
            groups = RankingLists(counts[counts > 0])


def _sums_of_pass(digits, moments, first, start, end):
    """Sums over the pairs of unequal digit of each group, (2, n), rows in ascending scores.

    A group extends from `start` to `end`; its rows within the margin begin at `first`.
    """
    n, n_digits = len(digits), int(digits.max()) + 1
    past = np.cumsum(np.bincount(first, minlength=n + 1))[:n]  # whose partners begin up to there
    higher = np.zeros((n_digits + 1, n + 1), dtype=complex)  # prefix sums of each digit
    higher[digits, np.arange(1, n + 1)] = moments
    np.cumsum(higher, axis=1, out=higher)
    lower = np.empty((n_digits, n + 1), dtype=complex)  # of those below it
    lower[0] = 0.0
    for digit in range(1, n_digits):
        np.add(lower[digit - 1], higher[digit - 1], out=lower[digit])
    for digit in range(n_digits - 2, 0, -1):  # and of those from it on
        higher[digit] += higher[digit + 1]
    at = digits * (n + 1)
    below = lower.take(at + end) - lower.take(at + first)  # of the flat tables
    at += n + 1
    return below, higher.take(at + past) - higher.take(at + start)
