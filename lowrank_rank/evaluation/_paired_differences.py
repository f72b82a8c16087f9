"""Paired differences of rankers: intervals, tests, ranks and Holm's correction."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from ..lists._lists import bounded_blocks
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
        first, second = places_of(pairs)
        return PairStatistics(*(matrix[first, second] for matrix in self))


def places_of(pairs):
    """Return the first places of pairs (a, b), and the second ones, as arrays."""
    # In a fifth of the time of an array of the tuples.
    places = np.fromiter(chain.from_iterable(pairs), np.intp, 2 * len(pairs))
    return places.reshape(-1, 2).T


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
    first, second = np.triu_indices(len(by_ranker), 1)
    if len(first) == 0 or (judge is None and not anytime):
        of_pairs = _statistics_of_moments(
            _moments_of_pairs(by_ranker, weights, rounding),
            largest=largest[first, second],
            both_binary=both_binary[first, second],
            confidence_level=confidence_level,
        )
        return _both_directions(of_pairs, first, second, len(by_ranker))

    # A judge and intervals at every look need the differences themselves.
    parts = []
    n_values = len(values)
    if judge is not None:
        n_values += len(judge) + len(judge_unlabelled)
    for block in bounded_blocks(len(first), n_values):
        a = first[block]
        b = second[block]
        judge_differences = None
        if judge is not None:
            judge_differences = (
                judge[:, a] - judge[:, b],
                judge_unlabelled[:, a] - judge_unlabelled[:, b],
            )
        part = statistics_of_differences(
            by_ranker[a] - by_ranker[b],
            largest=largest[a, b],
            both_binary=both_binary[a, b],
            weights=weights,
            judge_differences=judge_differences,
            fold=fold,
            rounding=rounding,
            confidence_level=confidence_level,
            anytime=anytime,
        )
        parts.append(part)
    of_pairs = PairStatistics._make(map(np.concatenate, zip(*parts, strict=True)))
    return _both_directions(of_pairs, first, second, len(by_ranker))


def _both_directions(of_pairs, first, second, n_rankers):
    """Return the matrices of a - b and b - a, from the pairs a < b.

    Of a ranker and itself the difference is 0, and the p value 1.
    """
    reversed_pairs = of_pairs._replace(
        difference=-of_pairs.difference,
        interval=-of_pairs.interval[:, ::-1],
        effect=-of_pairs.effect,
        better=of_pairs.worse,
        worse=of_pairs.better,
    )
    matrices = {}
    for name, of_pair in of_pairs._asdict().items():
        shape = (n_rankers, n_rankers, *of_pair.shape[1:])
        diagonal = 1 if name in ("p_value", "smallest_p") else 0
        matrix = np.full(shape, diagonal, dtype=of_pair.dtype)
        matrix[first, second] = of_pair
        matrix[second, first] = getattr(reversed_pairs, name)
        matrices[name] = matrix
    return PairStatistics(**matrices)


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
    low, high = (0.0, 1.0) if bounds is None else np.array(bounds)
    is_known = bounds is not None and holds(low, high, by_ranker.T).all()
    if not is_known:
        low, high = 0.0, 1.0
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
    moments = _moments(d, weights, rounding)
    if judge_differences is None:
        statistics = _statistics_of_moments(
            moments,
            largest=largest,
            both_binary=both_binary,
            confidence_level=confidence_level,
        )
        if anytime:
            interval, p_value = betting(d, -1.0, confidence_level)
            statistics = statistics._replace(
                interval=interval, p_value=p_value, smallest_p=np.zeros(len(d))
            )
        return statistics
    means = _means_of_people(
        moments,
        largest=largest,
        both_binary=both_binary,
        confidence_level=confidence_level,
    )
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
    smallest_p = np.where(judge_weight > 0, 0.0, moments.smallest_p)
    return _statistics(moments, means, smallest_p)


def _statistics_of_moments(moments, *, largest, both_binary, confidence_level):
    """Compute `PairStatistics` by the labels of people alone."""
    means = _means_of_people(
        moments,
        largest=largest,
        both_binary=both_binary,
        confidence_level=confidence_level,
    )
    return _statistics(moments, means, moments.smallest_p)


def _statistics(moments, means, smallest_p):
    """Gather `PairStatistics`."""
    return PairStatistics(
        difference=means.mean,
        interval=means.interval,
        p_value=means.p_value,
        smallest_p=smallest_p,
        effect=_effects(means.mean, moments.standard_deviation),
        better=moments.better,
        equal=moments.equal,
        worse=moments.worse,
    )


class MomentsOfDifferences(NamedTuple):
    """Moments of the differences of k pairs of rankers.

    Attributes
    ----------
    mean, standard_deviation : ndarray of shape (k,)
    total, squares : ndarray of shape (k,)
        Sums of the differences and of their squares.
    better, equal, worse : ndarray of int, shape (k,)
        Numbers of queries with a difference above 0, of 0, and below 0.
    n_different : ndarray of shape (k,)
        Effective number of queries that differ.
    n : float
        Effective number of queries.
    """

    mean: np.ndarray
    standard_deviation: np.ndarray
    total: np.ndarray
    squares: np.ndarray
    better: np.ndarray
    equal: np.ndarray
    worse: np.ndarray
    n_different: np.ndarray
    n: float

    @property
    def smallest_p(self):
        """The probability that all differences have the same sign."""
        # 2**(1 - n_different)
        return np.minimum(np.exp2(1.0 - self.n_different), 1.0)


def _moments(d, weights, rounding):
    """Compute `MomentsOfDifferences` of each row of differences.

    Differences up to `rounding` become 0.
    """
    d[np.abs(d) <= rounding] = 0.0
    better = (d > 0).sum(axis=1)
    worse = (d < 0).sum(axis=1)
    if weights is None:
        n = d.shape[1]
        mean = d.mean(axis=1)
        standard_deviation = d.std(axis=1, ddof=1)
        total = d.sum(axis=1)
        squares = np.einsum("ij,ij->i", d, d)
        n_different = better + worse
    else:
        mean, standard_deviation, _ = weighted_moments(d.T, weights)
        n = weights.sum() ** 2 / np.sum(weights**2)
        total = n * mean
        # (n - 1) s**2 + n mean**2
        squares = (n - 1.0) * standard_deviation**2 + n * mean**2
        n_different = effective_number(((d != 0) * weights).T)
    standard_deviation[standard_deviation <= rounding] = 0.0
    return MomentsOfDifferences(
        mean=mean,
        standard_deviation=standard_deviation,
        total=total,
        squares=squares,
        better=better,
        equal=d.shape[1] - better - worse,
        worse=worse,
        n_different=n_different,
        n=n,
    )


# Moments of all pairs from one covariance matrix --------------------------------------


def _moments_of_pairs(by_ranker, weights, rounding):
    """Compute `MomentsOfDifferences` of all pairs a < b, as `_moments` does.

    The variance of a - b is ``c_aa + c_bb - 2 c_ab`` of one covariance matrix. Where
    this sum loses three digits, and where the mean or the standard deviation is up to
    `rounding`, the differences are taken.

    Parameters
    ----------
    by_ranker : ndarray of shape (n_rankers, n_queries)
    weights : ndarray of shape (n_queries,), or None
    rounding : float
    """
    n_rankers, n_queries = by_ranker.shape
    first, second = np.triu_indices(n_rankers, 1)
    n = n_queries
    p = np.full(n_queries, 1.0 / n_queries)
    if weights is not None:
        p = weights / weights.sum()
        # n = 1 / sum p**2
        n = 1.0 / np.sum(p**2)
    # What makes a query hard is the same for all rankers: differences do not have it.
    shifted = by_ranker - by_ranker.mean(axis=0)
    means = shifted @ p
    centred = shifted - means[:, np.newaxis]
    mean = means[first] - means[second]
    # sum p (d - mean)**2 / (n - 1), and its robust form, as in `weighted_moments`.
    variance, loses_digits = _weighted_squares(centred, p / (n - 1.0), first, second)
    if weights is not None:
        robust_variance, robust_loses_digits = _weighted_squares(
            centred, p**2 / (1.0 - 2.0 * p + 1.0 / n), first, second
        )
        variance = np.maximum(variance, robust_variance)
        loses_digits |= robust_loses_digits
    variance *= n
    standard_deviation = np.sqrt(np.maximum(variance, 0.0))
    better, worse = _counts_of_pairs(by_ranker, rounding)
    better = better[first, second]
    worse = worse[first, second]
    n_different = better + worse
    if weights is not None:
        n_different = _effective_numbers_of_pairs(
            by_ranker, weights, rounding, n, n_different
        )
    moments = MomentsOfDifferences(
        mean=mean,
        standard_deviation=standard_deviation,
        total=n * mean,
        # (n - 1) s**2 + n mean**2
        squares=(n - 1.0) * variance + n * mean**2,
        better=better,
        equal=n_queries - better - worse,
        worse=worse,
        n_different=n_different,
        n=n,
    )
    is_small = (np.abs(mean) <= rounding) | (standard_deviation <= rounding)
    places = np.flatnonzero(loses_digits | is_small)
    # About 2**16 numbers at once fit into the cache.
    for block in bounded_blocks(len(places), n_queries, 2**16):
        of_block = places[block]
        d = by_ranker[first[of_block]] - by_ranker[second[of_block]]
        exact = _moments(d, weights, rounding)
        for name in ("mean", "standard_deviation", "total", "squares"):
            getattr(moments, name)[of_block] = getattr(exact, name)
    return moments


def _weighted_squares(centred, weights, first, second):
    """Compute ``sum_q w_q d_q**2`` of differences of rows, from their covariances.

    Returns
    -------
    squares : ndarray of shape (k,)
    loses_digits : ndarray of bool, shape (k,)
        Whether three digits of the squares are lost.
    """
    covariance = (centred * weights) @ centred.T
    of_row = np.diag(covariance)
    sums = of_row[first] + of_row[second]
    # c_aa + c_bb - 2 c_ab
    squares = sums - 2.0 * covariance[first, second]
    return squares, squares <= 1e-3 * sums


def _counts_of_pairs(by_ranker, rounding):
    """Count the queries in which a is better, and worse, than b.

    Small integers in place of values are compared in a fraction of the time: a is
    better in a query if b is one of the rankers below a.

    Returns
    -------
    better, worse : ndarray of int, shape (n_rankers, n_rankers)
        Of the pairs a < b, 0 elsewhere.
    """
    n_rankers, n_queries = by_ranker.shape
    place, n_below = _places(by_ranker, rounding)
    counts = np.min_scalar_type(n_queries)
    better = np.zeros((n_rankers, n_rankers), dtype=np.intp)
    worse = np.zeros((n_rankers, n_rankers), dtype=np.intp)
    for a in range(n_rankers - 1):
        for block in bounded_blocks(n_rankers - a - 1, n_queries, 2**19):
            b = slice(a + 1 + block.start, a + 1 + block.stop)
            better[a, b] = (n_below[a] > place[b]).sum(axis=1, dtype=counts)
            worse[a, b] = (n_below[b] > place[a]).sum(axis=1, dtype=counts)
    return better, worse


def _places(by_ranker, rounding):
    """Sort the rankers of each query.

    Returns
    -------
    place : ndarray of int, shape (n_rankers, n_queries)
        Place of each ranker, from 0 for the least value; ties share the least.
    n_below : ndarray of int, shape (n_rankers, n_queries)
        Number of rankers whose value is less by more than `rounding`. They are those of
        smaller places.
    """
    n_rankers, n_queries = by_ranker.shape
    integers = np.min_scalar_type(n_rankers)
    by_query = np.ascontiguousarray(by_ranker.T)
    # Places of the sorted values in the flat array of all.
    order = np.argsort(by_query, axis=1)
    order += n_rankers * np.arange(n_queries)[:, np.newaxis]
    ordered = by_query.ravel()[order]
    steps = np.diff(ordered, axis=1)
    # A tie starts where a value is more than `rounding` above the one before it.
    starts = np.zeros(by_query.shape, dtype=integers)
    places = np.arange(1, n_rankers, dtype=integers)
    np.multiply(steps > rounding, places, out=starts[:, 1:])
    np.maximum.accumulate(starts, axis=1, out=starts)
    place = np.empty(by_query.size, dtype=integers)
    place[order] = starts
    n_below = place
    # A chain of small steps is not a tie of its ends: each ranker has its own place.
    is_chain = ((steps > 0) & (steps <= rounding)).any(axis=1)
    if is_chain.any():
        n_below = place.copy()
        place[order[is_chain]] = np.arange(n_rankers)
        values = ordered[is_chain]
        for one, at in zip(values.T, order[is_chain].T, strict=True):
            n_below[at] = (one[:, np.newaxis] - values > rounding).sum(axis=1)
    shape = (n_queries, n_rankers)
    return (
        np.ascontiguousarray(place.reshape(shape).T),
        np.ascontiguousarray(n_below.reshape(shape).T),
    )


def _effective_numbers_of_pairs(by_ranker, weights, rounding, n, n_different):
    """Compute the effective numbers of queries that differ, of all pairs a < b.

    Parameters
    ----------
    by_ranker, weights, rounding
        As in `_moments_of_pairs`.
    n : float
        Effective number of all queries.
    n_different : ndarray of int, shape (k,)
        Numbers of queries that differ.
    """
    n_rankers, n_queries = by_ranker.shape
    first, second = np.triu_indices(n_rankers, 1)
    effective = np.full(len(first), n)
    places = np.flatnonzero(n_different < n_queries)
    for block in bounded_blocks(len(places), n_queries, 2**16):
        of_block = places[block]
        d = by_ranker[first[of_block]] - by_ranker[second[of_block]]
        effective[of_block] = effective_number(((np.abs(d) > rounding) * weights).T)
    return effective


def _means_of_people(moments, *, largest, both_binary, confidence_level):
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
    # Equal differences do not prove that all are equal.
    p_value[has_no_spread] = adjusted_p[has_no_spread]
    # All values of both are equal, and their range is unknown.
    p_value[np.isnan(largest)] = 1.0
    return Means(
        mean=moments.mean,
        standard_error=standard_error,
        interval=interval,
        p_value=np.maximum(p_value, moments.smallest_p),
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
