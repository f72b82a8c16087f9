"""Hinge of all pairs: Kendall's tau and RankSVM.

    sum over pairs with y_i > y_j of  w_i w_j penalty(margin - (s_i - s_j))

(S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", 2014, equation
17.4).

The pairs are never formed. In ascending scores, the rows within the margin of a row
begin at one place. The sum over the rows of lower grade from there is a difference of
prefix sums. One pass over the rows compares up to eight grades. More grades are written
with digits 0 to 7. The first pass compares first digits, and the next pass the second
digits of rows with equal first digits. A pass for each grade would take n_rows**2 steps
where all grades are distinct.
"""

import numpy as np

from ..lists._lists import RankingLists, blocks_of_lists
from ..lists._ranks import sort_lists

_PER_PASS = 8  # largest number of grades that one pass compares
_ROWS_AT_ONCE = 2**13


class PairSums:
    """Sums of the hinge over the pairs of unequal label within the margin.

    The hinge is z = margin - (s_i - s_j) > 0. The sums take O(n log n) steps for n rows
    and up to eight grades, times log8 of the grades beyond. A pair weighs the product
    of two `weights`.

    Parameters
    ----------
    grades : ndarray of int, shape (n_rows,)
        From `dense_grades`, grouped.
    scores : ndarray of shape (n_rows,)
    lists : RankingLists
    margin : float, default=1.0
    weights : ndarray of shape (n_rows,) or None, default=None
    """

    def __init__(self, grades, scores, lists, margin=1.0, weights=None):
        if weights is None:
            weights = np.ones(lists.n_rows)
        # Small numbers
        scores = scores - lists.repeat(lists.sum(scores) / lists.lengths)
        # For each row the sums of w_j and w_j s_j over the rows of lower (higher) grade
        # within the margin, as one complex number w_j + i w_j s_j: both are then read
        # from a table at once.
        below = np.zeros(lists.n_rows, dtype=complex)
        above = np.zeros(lists.n_rows, dtype=complex)
        # A block fits the cache.
        for first, last in blocks_of_lists(lists, _ROWS_AT_ONCE):
            rows = slice(lists.offsets[first], lists.offsets[last])
            _add_block(
                below[rows],
                above[rows],
                grades[rows],
                scores[rows],
                weights[rows],
                RankingLists(lists.lengths[first:last]),
                margin,
            )
        self.scores = scores
        self.lists = lists
        self.margin = margin
        self.weights = weights
        self.weight_below = below.real
        self.weight_above = above.real
        # w_i times the sums of w_j z over the pairs of row i, as the higher and as the
        # lower: z = margin - s_i + s_j, and z = margin + s_i - s_j.
        self.as_higher = weights * ((margin - scores) * below.real + below.imag)
        self.as_lower = weights * ((margin + scores) * above.real - above.imag)

    @property
    def hinges(self):
        """Sum of z of each list."""
        return self.lists.sum(self.as_higher)

    @property
    def hinge_slopes(self):
        """Subgradient (n_rows,) of the hinges in the scores."""
        return self.weights * (self.weight_above - self.weight_below)

    @property
    def squares(self):
        """Sum of z**2 of each list."""
        # sum of w_i w_j z^2 = sum_i (margin - s_i) higher_i + sum_j s_j lower_j
        squares = self.lists.sum(
            (self.margin - self.scores) * self.as_higher + self.scores * self.as_lower
        )
        return np.maximum(squares, 0.0)

    @property
    def square_slopes(self):
        """Gradient (n_rows,) of the squares in the scores."""
        return 2.0 * (self.as_lower - self.as_higher)

    @property
    def square_curvatures(self):
        """Diagonal of the second derivative of the squares in the scores."""
        return 2.0 * (self.weights * (self.weight_above + self.weight_below))


def dense_grades(y, lists):
    """Replace the labels of each list by 0, 1, ... in their order; shape (n_rows,)."""
    order = sort_lists(-y, lists)
    values = y[order]
    step = np.zeros(len(y), dtype=np.intp)
    step[1:] = values[1:] > values[:-1]
    step[lists.starts] = 0
    total = np.cumsum(step)
    grades = np.empty(len(y), dtype=np.intp)
    grades[order] = total - lists.repeat(total[lists.starts])
    return grades


def _add_block(below, above, grades, scores, weights, groups, margin):
    """Add the sums of one block to `below` and `above`."""
    rows = sort_lists(-scores, groups)
    sums = weights + 1j * weights * scores
    n_grades = int(grades.max(initial=0)) + 1
    place = 1  # place value of the digit that is compared, at first of the first digit
    while place * _PER_PASS < n_grades:
        place *= _PER_PASS
    while True:
        # The rows of a group have equal earlier digits.
        digit = grades[rows] // place % _PER_PASS
        _add_pass(below, above, rows, digit, scores[rows], sums[rows], groups, margin)
        if place == 1:
            return
        place //= _PER_PASS
        group = groups.index * _PER_PASS + digit
        rows = rows[np.argsort(group, kind="stable")]
        counts = np.bincount(group)
        groups = RankingLists(counts[counts > 0])


def _add_pass(below, above, rows, digit, s, sums_of_rows, groups, margin):
    """Add the sums over pairs of unequal digit within groups.

    The rows of a group are in ascending scores s.
    """
    n = len(s)
    n_digits = int(digit.max()) + 1
    start = groups.repeat(groups.starts)
    end = groups.repeat(groups.offsets[1:])
    # The groups are shifted apart, so that one search finds the first row of each group
    # with a score above s - margin. Rounding of very large scores may miss pairs at the
    # margin.
    lowest = s[groups.starts]
    highest = s[groups.offsets[1:] - 1]
    width = highest - lowest + 2.0 * abs(margin) + 1.0
    shifted = s + groups.repeat(np.cumsum(width) - width - lowest)
    first = np.searchsorted(shifted, shifted - margin, side="right")
    first = np.clip(first, start, end)
    # Row j is within the margin of row i if first[i] <= j. So the rows i for which row
    # j counts are those before last[j], the number of rows whose `first` is at most j.
    last = np.cumsum(np.bincount(first, minlength=n + 1))[:n]
    # sums[d, p] is the sum over the rows of digit d among the first p rows.
    sums = np.zeros((n_digits + 1, n + 1), dtype=complex)
    sums[digit, np.arange(1, n + 1)] = sums_of_rows
    np.cumsum(sums, axis=1, out=sums)
    # lower[d, p] is the sum of sums[:d, p].
    lower = np.empty((n_digits, n + 1), dtype=complex)
    lower[0] = 0.0
    for d in range(1, n_digits):
        np.add(lower[d - 1], sums[d - 1], out=lower[d])
    below[rows] += lower[digit, end] - lower[digit, first]
    # From here on, sums[d, p] also includes all larger digits.
    for d in reversed(range(n_digits)):
        sums[d] += sums[d + 1]
    above[rows] += sums[digit + 1, last] - sums[digit + 1, start]
