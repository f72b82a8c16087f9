"""Surrogates of precision at k on one list (Kar, Narasimhan & Jain 2015).

Let a_1 >= ... >= a_P be the scores of the positives, b_1 >= ... >= b_N the scores of
the negatives, and k <= P. Each surrogate is a maximum over the number d of negatives in
the top k, and concave in d. So it is a constant plus the sum of its positive increments

    ramp    1 + b_d - a_{k+1-d}
    max     1 + b_d - a_{P+1-d}
    avg     A_d - A_{d-1},  A_d = d + sum_{i<=d} b_i - d/(P-k+d) sum_{i>k-d} a_i
    struct  1 + b_d - a_{k+1-d}, and the constant -sum_{i>k} a_i

Let d* be the number of positive increments. A subgradient in the scores is +1 on the d*
best negatives and minus a weight on some positives, a range of their ranks. A surrogate
is one function from `SortedLists` to the value of each list and these slopes. The two
perceptrons have the same form, with the mistakes as their value.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..validation._arrays import (
    ArrayLike,
    check_finite,
    check_same_index,
    check_same_shape,
    numbers,
)
from ..validation._check import refuse
from ..validation._checks_of_top import CHECKS_OF_SCORED_TOP
from ..validation._kinds import arrive
from ..validation._parameters import check_parameter, checked, number


class SortedLists:
    """Sorted scores of lists, and the places at their tops where a negative may stand.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        List after list, in each the positives, best first, then the negatives, best
        first.
    n_positives, n_negatives, k : ndarray of int, shape (m,)
        P, N and 1 <= k <= P of each list.

    Attributes
    ----------
    n_places : ndarray of int, shape (m,)
        The largest number of negatives in each top, min(k, N).
    list_of_place, d : ndarray of int, shape (sum of n_places,)
        The list of each place, and its number 1, 2, ... from the bottom of the top.
    leads : ndarray of the same shape
        The score of the d-th negative minus the score of the positive that it pushes
        out.
    """

    def __init__(self, scores, n_positives, n_negatives, k):
        self.scores = scores
        self.P = n_positives
        self.N = n_negatives
        self.k = k
        self.n_places = np.minimum(k, n_negatives)
        self.list_of_place = np.repeat(np.arange(len(k)), self.n_places)
        first_places = np.cumsum(self.n_places) - self.n_places
        n_all_places = len(self.list_of_place)
        self.d = np.arange(1, n_all_places + 1) - first_places[self.list_of_place]
        # Where each list begins in the flat array, and for each place where the
        # negatives of its list begin and its top ends.
        self.starts = np.cumsum(self.P + self.N) - self.P - self.N
        self.first_negative = (self.starts + self.P)[self.list_of_place]
        self.end_of_top = (self.starts + self.k)[self.list_of_place]
        # b_d - a_{k+1-d}
        self.leads = self.negatives - scores[self.end_of_top - self.d]

    @property
    def negatives(self):
        """The score b_d of the d-th negative, for each place."""
        return self.scores[self.first_negative + self.d - 1]

    @cached_property
    def cumulative_scores(self):
        """Sums of the first 0, 1, ..., n scores of the flat array, shape (n + 1,)."""
        return np.concatenate([[0.0], np.cumsum(self.scores, dtype=np.float64)])

    def sum_of_scores(self, start, stop):
        """Sum the scores from `start` to `stop` - 1 in the flat array."""
        return self.cumulative_scores[stop] - self.cumulative_scores[start]

    def sum_over_places(self, values):
        """Sum over the places of each list."""
        return np.bincount(self.list_of_place, values, minlength=len(self.k))

    def mistakes(self):
        """Count the negatives in each top; of equal scores the negative is higher."""
        return self.sum_over_places(self.leads >= 0).astype(np.intp)

    def positive_increments(self, increments):
        """Return the sum of the positive increments of each list, and the number d*."""
        total = self.sum_over_places(np.maximum(increments, 0.0))
        d = self.sum_over_places(increments > 0).astype(np.intp)
        return total, d

    def slopes(self, d, first, last, weight=1.0):
        """Return the slopes in the sorted scores.

        They are 1 on the d best negatives of each list, -`weight` on its positives
        first..last - 1, and 0 elsewhere.
        """
        counts = np.column_stack([first, last - first, self.P - last, d, self.N - d])
        values = np.zeros((len(d), 5))
        values[:, 1] = -weight
        values[:, 3] = 1.0
        return np.repeat(values.ravel(), counts.ravel())


# Each surrogate returns the value of each list, shape (m,), and slopes in the sorted
# scores, shape (n,).


def _ramp(lists):
    value, d = lists.positive_increments(1.0 + lists.leads)
    return value, lists.slopes(d, lists.k - d, lists.k)


def _max(lists):
    # a_{P+1-d}
    positives = lists.scores[lists.first_negative - lists.d]
    value, d = lists.positive_increments(1.0 + lists.negatives - positives)
    return value, lists.slopes(d, lists.P - d, lists.P)


def _avg(lists):
    start = lists.first_negative
    # sum_{i<=d} b_i and sum_{i>k-d} a_i
    entered = lists.sum_of_scores(start, start + lists.d)
    missed = lists.sum_of_scores(lists.end_of_top - lists.d, start)
    n_missed = (lists.P - lists.k)[lists.list_of_place] + lists.d
    # A_d, and A_{d-1} with A_0 = 0 in each list.
    total = lists.d + entered - lists.d / n_missed * missed
    previous = np.concatenate([[0.0], total])[:-1]
    previous[lists.d == 1] = 0.0
    value, d = lists.positive_increments(total - previous)
    return value, _slopes_of_missed(lists, d)


def _struct(lists):
    value, d = lists.positive_increments(1.0 + lists.leads)
    # sum_{i>k} a_i
    below_k = lists.sum_of_scores(lists.starts + lists.k, lists.starts + lists.P)
    return value - below_k, lists.slopes(d, lists.k - d, lists.P)


def perceptron_avg(lists):
    """Return mistakes, and slopes that raise all missed positives (algorithm 1)."""
    d = lists.mistakes()
    return d, _slopes_of_missed(lists, d)


def perceptron_max(lists):
    """Return mistakes, and slopes that raise as many missed positives (algorithm 2)."""
    d = lists.mistakes()
    return d, lists.slopes(d, lists.k - d, lists.k)


def _slopes_of_missed(lists, d):
    """Return slopes that share d equally among the P - k + d missed positives."""
    weight = d / np.maximum(lists.P - lists.k + d, 1)
    return lists.slopes(d, lists.k - d, lists.P, weight)


#: The surrogates by name; all but "ramp" are convex in the scores.
PRECISION_SURROGATES = {"ramp": _ramp, "avg": _avg, "max": _max, "struct": _struct}
PERCEPTRONS = {"avg": perceptron_avg, "max": perceptron_max}


def precision_surrogate(
    y: ArrayLike, scores: ArrayLike, k: int, *, surrogate: str = "ramp"
) -> tuple[float, np.ndarray]:
    """Return a surrogate of the number of negatives in the top k, and a subgradient.

    ``prec@k loss <= ramp <= avg <= max``, all equal at k = P; struct is neither above
    the loss nor consistent with it. avg, max and struct are convex. ramp, avg and max
    are 0 if k positives (ramp), every P - k + 1 positives on average (avg), all
    positives (max) beat every negative by 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1 of one list, P of them 1.
    scores : array-like of shape (n,)
        Higher is better.
    k : int
        Places at the top, 1 <= k <= P.
    surrogate : {"ramp", "avg", "max", "struct"}, default="ramp"
        Name of the surrogate.

    Returns
    -------
    value : float
        In numbers of negatives, lower is better; >= 0 but for struct.
    subgradient : ndarray of shape (n,)
        In the scores.

    Raises
    ------
    ValueError
        If k does not lie in 1..P, y is not 0 and 1, scores are not finite or the name
        is unknown.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision
       at the Top", ICML 2015, section 3 and algorithm 4.

    Examples
    --------
    One negative stands above the only positive; letting it in gains 1 + 2 - 1:

    >>> from lowrank_rank.surrogates import precision_surrogate
    >>> value, subgradient = precision_surrogate([1, 0, 0], [1.0, 2.0, -3.0], k=1)
    >>> value, subgradient.tolist()
    (2.0, [-1.0, 1.0, 0.0])
    """
    arrive(y=y, scores=scores)
    check_parameter("surrogate", surrogate, [*PRECISION_SURROGATES])
    positives, negatives, k = rows_by_class(y, scores, k)
    order = np.concatenate([positives, negatives])
    lists = SortedLists(
        np.asarray(scores, dtype=np.float64)[order],
        n_positives=np.array([len(positives)]),
        n_negatives=np.array([len(negatives)]),
        k=np.array([k]),
    )
    value, sorted_slopes = PRECISION_SURROGATES[surrogate](lists)
    slopes = np.empty(len(order))
    slopes[order] = sorted_slopes
    return float(value[0]), slopes


def rows_by_class(y, scores, k):
    """Return the rows of the positives and of the negatives, best first, and k.

    Refuses y, scores and k that are no list with a top.
    """
    check_same_index(y=y, scores=scores)
    y = numbers(y, "y")
    scores = check_finite(numbers(scores, "scores"), "scores")
    check_same_shape(y=y, scores=scores)
    check_parameter("k", k, [number()])
    refuse(CHECKS_OF_SCORED_TOP, y=y, k=k)
    order = np.argsort(-scores, kind="stable")
    positives = order[y[order] == 1]
    negatives = order[y[order] == 0]
    return positives, negatives, int(k)


# Margins and mistake bounds -----------------------------------------------------------


class PrecisionMargins(NamedTuple):
    """Margins of one scored list at k; see `precision_margins`."""

    weak: float
    average: float
    strong: float


def precision_margins(y: ArrayLike, scores: ArrayLike, k: int) -> PrecisionMargins:
    """Return margins of the positives over the best negative in three senses.

    With positive scores ``a_1 >= ... >= a_P`` and the best negative score b:

    * weak: ``a_k - b``, some k positives beat every negative;
    * average: ``mean(a_k, ..., a_P) - b``, every P - k + 1 positives do so on average;
    * strong: ``a_P - b``, every positive does.

    The surrogates "ramp", "avg" and "max" are 0 if and only if the weak, the average
    and the strong margin are at least 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1, P of them 1.
    scores : array-like of shape (n,)
        Higher is better.
    k : int
        1 <= k <= P.

    Returns
    -------
    PrecisionMargins
        See `PrecisionMargins`: weak >= average >= strong, in units of the scores;
        infinite without negatives.

    Raises
    ------
    ValueError
        If k does not lie in 1..P, y is not 0 and 1 or scores are not finite.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision
       at the Top", ICML 2015, definitions 2, 5 and 4.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_margins
    >>> precision_margins([1, 1, 1, 0], [4.0, 2.0, 1.0, 0.5], k=2)
    PrecisionMargins(weak=1.5, average=1.0, strong=0.5)
    """
    arrive(y=y, scores=scores)
    positives, negatives, k = rows_by_class(y, scores, k)
    scores = np.asarray(scores, dtype=np.float64)
    a = scores[positives]
    b = scores[negatives].max(initial=-np.inf)
    return PrecisionMargins(
        weak=float(a[k - 1] - b),
        average=float(a[k - 1 :].mean() - b),
        strong=float(a[-1] - b),
    )


@checked(
    k=[number(0)], radius=[number(0)], norm=[number(0)], surrogate_loss=[number(0)]
)
def precision_mistake_bound(
    k: float, radius: float, norm: float, surrogate_loss: float = 0.0
) -> float:
    """Return an upper bound on the mistakes of the perceptrons over mini-batches.

    ``(norm * radius * sqrt(4 k) + sqrt(surrogate_loss))**2``, for any weights w of that
    norm. ``k=1/2`` bounds the updates of the batch perceptron of classes,
    ``StructuredHingeClassifier(solver="perceptron")``: ``2 (norm * radius)**2`` for
    weights that give every row a margin of at least 1 over the other classes (theorem
    17.5 of [2]_).

    Parameters
    ----------
    k : float
        Number of places at the top of each mini-batch, at most its number of positives.
    radius : float
        Largest norm of a row.
    norm : float
        Norm of w. If w of norm 1 has the margin gamma > 0 in every batch, ``norm = 1 /
        gamma`` without a surrogate loss gives the bound ``4 k radius**2 / gamma**2``.
        The margin is the average margin of `precision_margins` for Perceptron@k-avg
        (corollary 8) and the strong margin for Perceptron@k-max (corollary 10).
    surrogate_loss : float, default=0.0
        Sum over the batches of the surrogate of the scores X w: "avg" for
        Perceptron@k-avg (theorem 7), "max" for Perceptron@k-max (theorem 9).

    Returns
    -------
    float
        Bound on the sum over the batches of the number of negatives in the top k.

    Raises
    ------
    ValueError
        If an argument is negative or not finite.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, ICML 2015, theorems 7 and 9,
       corollaries 8 and 10.
    .. [2] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, theorem 17.5 and exercise 2 of chapter 17.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_mistake_bound
    >>> round(precision_mistake_bound(k=2, radius=1.0, norm=2.0))  # 4 * 2 * 2.0**2
    32
    """
    return float((norm * radius * np.sqrt(4.0 * k) + np.sqrt(surrogate_loss)) ** 2)
