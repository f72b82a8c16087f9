"""Paired differences of rankers: intervals, tests, ranks and Holm's correction."""

import numpy as np
from scipy import stats

from ._mean_intervals import mean_intervals, student


def paired_statistics(values, judge, judge_unlabelled, confidence_level):
    """Compute statistics of the differences a - b of all rankers a and b.

    Parameters
    ----------
    values : ndarray of shape (n_queries, n_rankers)
        Values by the labels of people, without NaN.
    judge : ndarray of shape (n_queries, n_rankers), or None
        Values of the same queries by the labels of a judge.
    judge_unlabelled : ndarray of shape (n_others, n_rankers), or None
        Values of other queries by the labels of a judge.
    confidence_level : float

    Returns
    -------
    dict of str to ndarray of shape (n_rankers, n_rankers) or (n_rankers, n_rankers, 2)
        Named as in `RankerComparison`.
    """
    n, m = values.shape
    by_ranker = np.ascontiguousarray(values.T)
    # Smaller differences are rounding errors of sums over documents.
    rounding = 1e-12 * np.abs(by_ranker).max()
    mean = np.zeros((m, m))
    standard_deviation = np.zeros((m, m))
    judge_error = np.zeros((m, m))
    better = np.zeros((m, m), dtype=int)
    for a in range(m):
        # Row b has the differences a - b of all queries.
        d = by_ranker[a] - by_ranker
        d[np.abs(d) <= rounding] = 0.0
        better[a] = (d > 0).sum(axis=1)
        mean[a] = d.mean(axis=1)
        standard_deviation[a] = d.std(axis=1, ddof=1)
        if judge is not None:
            means = mean_intervals(
                d.T,
                judge=judge[:, [a]] - judge,
                judge_unlabelled=judge_unlabelled[:, [a]] - judge_unlabelled,
            )
            mean[a] = means.mean
            judge_error[a] = means.standard_error
    worse = better.T
    standard_deviation[standard_deviation <= rounding] = 0.0
    standard_error = judge_error
    if judge is None:
        standard_error = standard_deviation / np.sqrt(n)
    interval, p_value = student(mean, standard_error, n, confidence_level)
    if judge is None:
        # The probability that all differences have the same sign: 2**(1 - n_different).
        p_of_signs = np.minimum(np.exp2(1.0 - better - worse), 1.0)
        p_value = np.maximum(p_value, p_of_signs)
        is_binary = ((by_ranker == 0) | (by_ranker == 1)).all(axis=1)
        both_binary = is_binary & is_binary[:, np.newaxis]
        binary_interval = bonett_price(better, worse, n, confidence_level)
        interval[both_binary] = binary_interval[both_binary]
    # mean / standard deviation; 0 / 0 is 0.
    infinite = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    effect = np.divide(
        mean, standard_deviation, out=infinite, where=standard_deviation > 0
    )
    return {
        "difference": mean,
        "interval": interval,
        "p_value": p_value,
        "effect": effect,
        "better": better,
        "equal": n - better - worse,
        "worse": worse,
    }


def bonett_price(better, worse, n, confidence_level):
    """Compute intervals of differences of paired fractions.

    They are Wald's intervals after each ranker has won one more query.
    """
    mean = (better - worse) / (n + 2)
    # Variance of a difference of 1, 0 or -1: E[d**2] - E[d]**2.
    variance = (better + worse + 2) / (n + 2) - mean**2
    z = stats.norm.ppf(0.5 + confidence_level / 2.0)
    half_width = z * np.sqrt(variance / (n + 2))
    ends = np.stack([mean - half_width, mean + half_width], axis=-1)
    return np.clip(ends, -1.0, 1.0)


def rank_intervals(p_value, difference, level):
    """Compute the lowest and highest rank of each ranker from its tests."""
    m = len(p_value)
    is_other = ~np.eye(m, dtype=bool)
    # Each ranker has a family of m - 1 tests.
    p_adjusted = np.ones((m, m))
    p_adjusted[is_other] = holm(p_value[is_other].reshape(m, m - 1)).ravel()
    # 1 if a is shown to be better than b, -1 if it is shown to be worse.
    sign = np.where(p_adjusted <= level, np.sign(difference), 0)
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
