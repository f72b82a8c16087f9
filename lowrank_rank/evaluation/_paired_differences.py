"""Paired differences of rankers: intervals, tests, ranks and Holm's correction."""

from typing import NamedTuple

import numpy as np

from ._betting import betting
from ._bounds import are_at_ends, are_few, effective_number, holds
from ._mean_intervals import (
    Means,
    normal,
    prediction_powered,
    student,
    weighted_moments,
)


class PairStatistics(NamedTuple):
    """Statistics of the differences of pairs, or of all rankers a and b (matrices).

    Attributes
    ----------
    difference : ndarray of shape (k,) or (n_rankers, n_rankers)
        Mean difference.
    interval : ndarray of this shape and 2 ends
    p_value, smallest_p, effect, better, equal, worse : ndarray of this shape
        As in `RankerComparison`.
    """

    difference: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    smallest_p: np.ndarray
    effect: np.ndarray
    better: np.ndarray
    equal: np.ndarray
    worse: np.ndarray

    def of_pairs(self, pairs):
        """Take the statistics of some pairs (a, b) of all rankers."""
        first, second = np.reshape(pairs, (-1, 2)).T.astype(int)
        return PairStatistics(*(matrix[first, second] for matrix in self))


def paired_statistics(
    values,
    weights,
    judge,
    judge_unlabelled,
    confidence_level,
    anytime,
    bounds,
    fold=None,
):
    """Compute statistics of the differences a - b of all rankers a and b.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_rankers)
        Values by the labels of people, without NaN.
    weights : ndarray of shape (n_queries,), or None
    judge : ndarray of shape (n_queries, n_rankers), or None
        Values of the same queries by the labels of a judge.
    judge_unlabelled : ndarray of shape (n_others, n_rankers), or None
        Values of other queries by the labels of a judge.
    confidence_level : float
    anytime : bool
        Whether intervals and p values hold at every look.
    bounds : pair of float, or None
        The lowest and the highest value possible.
    fold : ndarray of int, shape (n_queries,), or None
        The fold of each query, for the weight of a judge.

    Returns
    -------
    PairStatistics
        Of all rankers.
    """
    by_ranker = np.ascontiguousarray(values.T)
    # Smaller differences are rounding errors of sums over documents.
    rounding = 1e-12 * np.abs(by_ranker).max()
    largest, both_binary = _largest_differences(by_ranker, bounds)
    rows = []
    for a in range(len(by_ranker)):
        judge_differences = None
        if judge is not None:
            judge_differences = (
                judge[:, [a]] - judge,
                judge_unlabelled[:, [a]] - judge_unlabelled,
            )
        rows.append(
            statistics_of_differences(
                by_ranker[a] - by_ranker,
                largest=largest[a],
                both_binary=both_binary[a],
                weights=weights,
                judge_differences=judge_differences,
                fold=fold,
                rounding=rounding,
                confidence_level=confidence_level,
                anytime=anytime,
            )
        )
    return PairStatistics._make(map(np.array, zip(*rows, strict=True)))


def _largest_differences(by_ranker, bounds):
    """Compute the range of the values of each two rankers.

    Returns
    -------
    largest : ndarray of shape (n_rankers, n_rankers)
        The range of the bounds if all values are at these, or are equal; nan if equal
        values have no bounds.
    both_binary : ndarray of bool, shape (n_rankers, n_rankers)
        Whether all values are at the bounds, without bounds 0 or 1.
    """
    highest = by_ranker.max(axis=1)
    lowest = by_ranker.min(axis=1)
    largest = np.maximum.outer(highest, highest) - np.minimum.outer(lowest, lowest)
    is_known = bounds is not None and holds(*np.array(bounds), by_ranker.T).all()
    low, high = bounds if is_known else (0.0, 1.0)
    is_binary = are_at_ends(by_ranker.T, low, high)
    both_binary = np.logical_and.outer(is_binary, is_binary)
    # Smaller differences are rounding errors.
    is_equal = largest <= 1e-12 * np.abs(by_ranker).max()
    largest[is_equal] = high - low if is_known else np.nan
    largest[both_binary] = high - low
    return largest, both_binary


def statistics_of_differences(
    d,
    *,
    largest,
    both_binary,
    weights,
    judge_differences,
    fold,
    rounding,
    confidence_level,
    anytime,
):
    """Compute statistics of differences of k pairs of rankers.

    Parameters
    ----------
    d : ndarray of shape (k, n_queries)
        Differences by the labels of people.
    largest : ndarray of shape (k,)
        The largest difference possible.
    both_binary : ndarray of bool, shape (k,)
        Whether all values of both rankers are 0 or 1.
    weights : ndarray of shape (n_queries,), or None
    judge_differences : pair of ndarray, or None
        Differences by the labels of a judge, in the same queries (n_queries, k) and in
        others (n_others, k).
    fold : ndarray of int, shape (n_queries,), or None
        The fold of each query, for the weight of a judge.
    rounding : float
        Differences up to this are 0.
    confidence_level : float
    anytime : bool
        Whether intervals and p values hold at every look; without weights and judge.

    Returns
    -------
    PairStatistics
    """
    d[np.abs(d) <= rounding] = 0.0
    moments = _moments(d, weights)
    moments.standard_deviation[moments.standard_deviation <= rounding] = 0.0
    # The probability that all differences have the same sign: 2**(1 - n_different).
    smallest_p = np.minimum(np.exp2(1.0 - moments.n_different), 1.0)
    means = _means_of_people(
        moments,
        largest=largest,
        both_binary=both_binary,
        smallest_p=smallest_p,
        confidence_level=confidence_level,
    )
    if judge_differences is not None:
        means, judge_weight = prediction_powered(
            d.T,
            *judge_differences,
            alone=means,
            added_h=np.array([largest, -largest]),
            added_j=np.zeros((2, len(d))),
            ends=np.where(both_binary, [-largest, largest], [[-np.inf], [np.inf]]),
            fold=fold,
            is_binary=both_binary,
            is_few=are_few(moments.n_different, confidence_level),
            confidence_level=confidence_level,
        )
        smallest_p[judge_weight > 0] = 0.0
    interval = means.interval
    p_value = means.p_value
    if anytime:
        interval, p_value = betting(d, -1.0, confidence_level)
        smallest_p = np.zeros(len(d))
    better = (d > 0).sum(axis=1)
    worse = (d < 0).sum(axis=1)
    return PairStatistics(
        difference=means.mean,
        interval=interval,
        p_value=p_value,
        smallest_p=smallest_p,
        effect=_effects(means.mean, moments.standard_deviation),
        better=better,
        equal=d.shape[1] - better - worse,
        worse=worse,
    )


class MomentsOfDifferences(NamedTuple):
    """Moments of the differences of k pairs of rankers.

    Attributes
    ----------
    mean, standard_deviation : ndarray of shape (k,)
    total, squares : ndarray of shape (k,)
        Sums of the differences and of their squares.
    n_different : ndarray of shape (k,)
        Effective number of queries that differ.
    n : float
        Effective number of queries.
    """

    mean: np.ndarray
    standard_deviation: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    n_different: np.ndarray
    n: float


def _moments(d, weights):
    """Compute `MomentsOfDifferences` of each row of differences."""
    if weights is None:
        return MomentsOfDifferences(
            mean=d.mean(axis=1),
            standard_deviation=d.std(axis=1, ddof=1),
            total=d.sum(axis=1),
            squares=np.einsum("ij,ij->i", d, d),
            n_different=np.count_nonzero(d, axis=1),
            n=d.shape[1],
        )
    mean, standard_deviation, n = weighted_moments(d.T, weights)
    return MomentsOfDifferences(
        mean=mean,
        standard_deviation=standard_deviation,
        total=n * mean,
        # (n - 1) s**2 + n mean**2
        squares=(n - 1.0) * standard_deviation**2 + n * mean**2,
        n_different=effective_number(((d != 0) * weights).T),
        n=n[0],
    )


def _means_of_people(moments, *, largest, both_binary, smallest_p, confidence_level):
    """Compute `Means` by the labels of people alone.

    Intervals are Student's. They are Bonett & Price's for values 0 and 1, for too few
    queries that differ, and for equal differences.
    """
    n = moments.n
    standard_error = moments.standard_deviation / np.sqrt(n)
    interval, p_value = student(moments.mean, standard_error, n, confidence_level)
    adjusted_interval, adjusted_p = bonett_price(
        moments.total, moments.squares, n, largest, confidence_level
    )
    is_few = are_few(moments.n_different, confidence_level)
    has_no_spread = moments.standard_deviation == 0
    is_adjusted = both_binary | is_few | has_no_spread
    interval[is_adjusted] = adjusted_interval[is_adjusted]
    # Where p cannot be small, the interval holds 0.
    interval[is_few, 0] = np.minimum(interval[is_few, 0], 0.0)
    interval[is_few, 1] = np.maximum(interval[is_few, 1], 0.0)
    # Equal differences are no proof that all are equal.
    p_value[has_no_spread] = adjusted_p[has_no_spread]
    # All values of both are equal, and their range is unknown.
    p_value[np.isnan(largest)] = 1.0
    return Means(
        mean=moments.mean,
        standard_error=standard_error,
        interval=interval,
        p_value=np.maximum(p_value, smallest_p),
    )


def _effects(mean, standard_deviation):
    """Compute mean / standard deviation; 0 / 0 is 0."""
    infinite = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    return np.divide(
        mean, standard_deviation, out=infinite, where=standard_deviation > 0
    )


def bonett_price(total, squares, n, largest, confidence_level):
    """Compute intervals of mean differences, and the p values of the mean 0.

    They are Wald's after each ranker has won one more query by `largest`.

    Parameters
    ----------
    total, squares : ndarray
        Sums of n differences and of their squares.
    n : float
    largest : ndarray
        The largest difference possible.
    confidence_level : float
    """
    mean = total / (n + 2)
    # Variance of the n + 2 differences: E[d**2] - E[d]**2.
    variance = (squares + 2 * largest**2) / (n + 2) - mean**2
    standard_error = np.sqrt(variance / (n + 2))
    interval, p_value = normal(mean, standard_error, confidence_level)
    bound = largest[..., np.newaxis]
    return np.clip(interval, -bound, bound), p_value


def rank_intervals(p_value, difference, significance):
    """Compute the lowest and highest rank of each ranker from its tests.

    A test rejects if its adjusted p value is at most `significance`.
    """
    m = len(p_value)
    is_other = ~np.eye(m, dtype=bool)
    # Each ranker has a family of m - 1 tests.
    p_adjusted = np.ones((m, m))
    p_adjusted[is_other] = holm(p_value[is_other].reshape(m, m - 1)).ravel()
    # 1 if a is shown to be better than b, -1 if it is shown to be worse.
    sign = np.where(p_adjusted <= significance, np.sign(difference), 0)
    lowest = 1 + (sign < 0).sum(axis=1)
    highest = m - (sign > 0).sum(axis=1)
    return np.column_stack([lowest, highest])


def holm(p_value):
    """Adjust the p values of each row by Holm's correction."""
    m = np.shape(p_value)[-1]
    order = np.argsort(p_value, axis=-1)
    # The i-th smallest p value is multiplied by m - i + 1, and none is below the
    # adjusted one before it.
    ordered = np.take_along_axis(p_value, order, axis=-1) * np.arange(m, 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(ordered, axis=-1), 1.0)
    inverse = np.argsort(order, axis=-1)
    return np.take_along_axis(adjusted, inverse, axis=-1)
