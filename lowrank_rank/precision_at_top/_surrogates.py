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

from dataclasses import dataclass, field
from functools import cached_property

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
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._parameters import check_parameter, number


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
    previous = np.zeros_like(total)
    previous[1:] = total[:-1]
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
    scores = np.asarray(scores, dtype=np.float64)
    return surrogate_of_list(surrogate, scores, positives, negatives, k)


def surrogate_of_list(surrogate, scores, positives, negatives, k):
    """Compute a surrogate of one list and a subgradient in its scores.

    `positives` and `negatives` are rows, best first.
    """
    order = np.concatenate([positives, negatives])
    lists = SortedLists(
        scores[order],
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

    Refuses y, scores and k that do not make a list with a top.
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


@dataclass(frozen=True)
class PrecisionMargins:
    """Margins of scored batches at k, with the perceptrons' bound of mistakes.

    Returned by `lowrank_rank.calibration.precision_margins`.

    Attributes
    ----------
    weak, average, strong : float
        The smallest margin over the batches in each sense.
    k : int
        Number of places at the top of each batch.
    surrogates : dict of str to float
        Sums over the batches of the surrogates "avg" and "max" of the scores.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_margins
    >>> margins = precision_margins([1, 1, 1, 0], [4.0, 2.0, 1.0, 0.5], k=2)
    >>> margins.weak, margins.average, margins.strong
    (1.5, 1.0, 0.5)
    """

    weak: float
    average: float
    strong: float
    k: int = field(repr=False)
    surrogates: dict[str, float] = field(repr=False)

    def mistake_bound(
        self, radius: float, norm: float, *, surrogate: str = "avg"
    ) -> float:
        """Return an upper bound on the mistakes of a perceptron over the batches.

        With scores X w and L the sum over the batches of the surrogate of the scores,
        it is ``(norm * radius * sqrt(4 k) + sqrt(L))**2`` (theorem 7 of [1]_ for "avg",
        theorem 9 for "max"). Where the margin is positive, the weights w / margin give
        ``4 k (norm * radius / margin)**2``, for any number of passes over the batches
        (corollaries 8 and 10). The result is the smaller of the two.

        Parameters
        ----------
        radius : float
            Largest norm of a row.
        norm : float
            Norm of w.
        surrogate : {"avg", "max"}, default="avg"
            Perceptron@k-avg, by the average margin, or Perceptron@k-max, by the strong
            margin.

        Returns
        -------
        float
            Bound on the sum over the batches of the number of negatives in the top k.

        Raises
        ------
        ValueError
            If radius or norm is negative or not finite, or the name is unknown.

        References
        ----------
        .. [1] P. Kar, H. Narasimhan, P. Jain, ICML 2015, theorems 7 and 9,
           corollaries 8 and 10.

        Examples
        --------
        Rows of at most norm 1, and weights of norm 2: 4 * 2 * 2**2.

        >>> from lowrank_rank.calibration import precision_margins
        >>> margins = precision_margins([1, 1, 1, 0], [4.0, 2.0, 1.0, 0.5], k=2)
        >>> round(margins.mistake_bound(radius=1.0, norm=2.0))
        32
        """
        check_parameter("radius", radius, [number(0)])
        check_parameter("norm", norm, [number(0)])
        check_parameter("surrogate", surrogate, [*self.surrogates])
        of_steps = norm * radius * np.sqrt(4.0 * self.k)
        bound = (of_steps + np.sqrt(self.surrogates[surrogate])) ** 2
        margin = {"avg": self.average, "max": self.strong}[surrogate]
        if margin > 0:
            # The surrogate of the weights w / margin is 0.
            bound = min(bound, (of_steps / margin) ** 2)
        return float(bound)


def precision_margins(
    y: ArrayLike, scores: ArrayLike, k: int, *, qid: ArrayLike | None = None
) -> PrecisionMargins:
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
    qid : array-like of shape (n,) or None, default=None
        The mini-batch of each row; None is one batch. The result has the smallest
        margins over the batches.

    Returns
    -------
    PrecisionMargins
        weak >= average >= strong, in units of the scores; infinite without negatives.
        ``mistake_bound(radius, norm)`` bounds the mistakes of the perceptrons over the
        batches.

    Raises
    ------
    ValueError
        If k does not lie in 1..P of each batch, y is not 0 and 1 or scores are not
        finite.

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
    arrive(y=y, scores=scores, qid=qid)
    check_same_index(y=y, scores=scores, qid=qid)
    rows_by_class(y, scores, k)  # checks all rows
    y = np.asarray(y, dtype=np.float64)
    scores = np.asarray(scores, dtype=np.float64)
    lists = read_lists(qid, len(y))
    margins = []
    sums = {"avg": 0.0, "max": 0.0}
    for y_batch, batch in zip(
        np.split(lists.group(y), lists.starts[1:]),
        np.split(lists.group(scores), lists.starts[1:]),
        strict=True,
    ):
        positives, negatives, k = rows_by_class(y_batch, batch, k)
        a = batch[positives]
        b = batch[negatives].max(initial=-np.inf)
        margins.append([a[k - 1] - b, a[k - 1 :].mean() - b, a[-1] - b])
        for name in sums:
            value, _ = surrogate_of_list(name, batch, positives, negatives, k)
            sums[name] += value
    weak, average, strong = np.min(margins, axis=0).tolist()
    return PrecisionMargins(
        weak=weak, average=average, strong=strong, k=k, surrogates=sums
    )
