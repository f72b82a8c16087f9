"""Means with their intervals, also of a few human values and many values of a judge."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._arrays import check_finite, check_same_index
from .._parameters import LEVEL, checked
from .._tables import TableMixin
from ..datasets._values import check_same_ids, read_columns


@dataclass(frozen=True, eq=False, repr=False)
class MeanIntervals(TableMixin):
    """Means with their intervals; returned by `mean_intervals`, prints as a table.

    Attributes
    ----------
    names : list
        Names of the k columns.
    mean : ndarray of shape (k,)
    standard_error : ndarray of shape (k,)
    interval : ndarray of shape (k, 2)
        Confidence interval of each mean.
    p_value : ndarray of shape (k,)
        Two-sided p value of the mean 0.
    n_queries : ndarray of int, shape (k,)
        Number of values in each mean.
    n_undefined : ndarray of int, shape (k,)
        Number of NaN, which do not count.
    judge_weight : ndarray of shape (k,) or None
        lam, averaged over the folds; at 0 the judge is not used. None without a judge.
    n_unanswered : ndarray of int, shape (k,), or None
        Number of queries that a run lacks and another run has; `compare_rankers` of
        runs only.
    rank_interval : ndarray of int, shape (k, 2), or None
        Lowest and highest rank of each ranker; `compare_rankers` only, whose means are
        printed best first.

    Examples
    --------
    >>> from lowrank_rank.metrics import mean_intervals
    >>> mean_intervals({"ndcg@10": [1, 2, 3, 4, 5], "map": [1, 0, 1, 1, float("nan")]})
    name     mean     low    high  n_queries  n_undefined
    ndcg@10     3   1.037   4.963          5            0
    map      0.75  0.3006  0.9544          4            1
    """

    names: list[str]
    mean: np.ndarray
    standard_error: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    n_queries: np.ndarray
    n_undefined: np.ndarray
    judge_weight: Any = None
    n_unanswered: Any = None
    rank_interval: Any = None

    def _columns(self):
        ranks = self.rank_interval
        columns: dict = {}
        if any(self.names):
            columns["name"] = self.names
        columns["mean"] = self.mean
        columns["low"] = self.interval[:, 0]
        columns["high"] = self.interval[:, 1]
        if ranks is None:
            columns["n_queries"] = self.n_queries
            columns["n_undefined"] = self.n_undefined
        else:
            columns["rank_low"] = ranks[:, 0]
            columns["rank_high"] = ranks[:, 1]
        if self.n_unanswered is not None:
            columns["n_unanswered"] = self.n_unanswered
        if self.judge_weight is not None:
            columns["judge_weight"] = self.judge_weight
        if ranks is None:
            return {name: list(values) for name, values in columns.items()}
        # The best ranker is first.
        order = np.argsort(-self.mean, kind="stable")
        return {name: [values[i] for i in order] for name, values in columns.items()}


@checked(confidence_level=LEVEL)
def mean_intervals(
    human: Any,
    *,
    judge: Any = None,
    judge_unlabelled: Any = None,
    confidence_level: float = 0.95,
) -> MeanIntervals:
    """Means of a measure over queries, each with its interval.

    The interval is Student's: mean +- t s / sqrt(n), for the standard deviation s of n
    queries. If all values are 0 or 1, such as right and wrong answers, it is Wilson's
    [1]_. A judge, such as a language model that grades documents, adds many values to a
    few human ones. The judge may be wrong: the human values correct its bias, so they
    must be a random sample.

    Parameters
    ----------
    human : array-like of shape (n,) or (n, k), frame, or dict of columns
        A measure of each query, such as the tables of `per_query` and of `evaluate_run`
        with ``average=None``. NaN, a query on which the measure is undefined, is only
        counted.
    judge : same or None, default=None
        Values of the same queries by the judge's labels.
    judge_unlabelled : array-like of shape (N,) or (N, k), frame, dict of columns or \
None, default=None
        Values of other queries, which have no human labels, by the judge's labels.
        Columns with names are matched by name. A frame with a column of ids or row
        numbers ("qid", "index", "task_id") is refused: make it the index.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    MeanIntervals
        Prints as a table, with ``to_frame()``.

    Raises
    ------
    ValueError
        If a column has fewer than two values, or one that is infinite. With a judge, if
        there are fewer than five human values or two others, shapes do not fit, or a
        value is NaN.

    See Also
    --------
    compare_rankers : Intervals of the differences between rankers.

    Notes
    -----
    Simulated intervals of 95 % cover .95 for NDCG@10 of 5 to 50 queries, .95 to .98 for
    right and wrong answers of 20 queries, and .81 to .90 for money with rare large
    values. The queries must be independent: days in a row, or queries of one user, are
    not.

    With a judge, the estimate [2]_ is the mean of
    ``c_i = h_i - lam_i (j_i - mean(judge_unlabelled))``, of human values h and the
    judge's j. The variance is ``var(c) / n + lam**2 var(judge_unlabelled) / N``. lam in
    [0, 1] minimises the variance. Cross-fitting: lam_i is estimated without the fold of
    value i, and every fifth value is in the same fold. At lam = 0 this is the interval
    of the human values alone. The human sample must show the errors of the judge: where
    human and judged values differ in few of the n pairs, the interval is too narrow.

    References
    ----------
    .. [1] E. Wilson, "Probable inference, the law of succession, and statistical
       inference", Journal of the American Statistical Association 22, 1927.
    .. [2] A. Angelopoulos, J. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered
       Inference", arXiv:2311.01453, 2023.

    Examples
    --------
    3 +- 2.776 (2.5 / 5)**0.5:

    >>> from lowrank_rank.metrics import mean_intervals
    >>> mean_intervals([1, 2, 3, 4, 5])
    mean    low   high  n_queries  n_undefined
       3  1.037  4.963          5            0

    A judge that always agrees makes 10 human values as precise as 1,000:

    >>> import numpy as np
    >>> values = np.tile([0.0, 1.0], 500)
    >>> few, others = values[:10], values[10:]
    >>> found = mean_intervals(few, judge=few, judge_unlabelled=others)
    >>> found.standard_error.round(4), 0.5 / 1000**0.5
    (array([0.0158]), 0.015811388300841896)
    """
    if (judge is None) != (judge_unlabelled is None):
        raise ValueError(
            "judge holds the judge's values of the queries with human values, and "
            "judge_unlabelled those of other queries: give both or neither."
        )
    check_same_index(human=human, judge=judge)
    names, h = read_columns(human, "human")
    n_defined = (~np.isnan(h)).sum(axis=0)
    if n_defined.min() < 2:
        name = names[np.argmin(n_defined)] or "human"
        raise ValueError(
            f"{name} is defined on {n_defined.min()} of {len(h)} queries, not two."
        )
    corrected = h
    judge_weight: Any = None
    judge_variance = 0.0
    if judge is not None:
        check_same_ids(human, judge)
        _, j = read_columns(judge, "judge", names)
        _, j_unlabelled = read_columns(judge_unlabelled, "judge_unlabelled", names)
        _check_judge(h, j, j_unlabelled)
        weights, judge_variance = _judge_weights(h, j, j_unlabelled)
        # c_i = h_i - lam_i (j_i - mean(judge_unlabelled))
        corrected = h - weights * (j - j_unlabelled.mean(axis=0))
        judge_weight = weights.mean(axis=0)
    mean = np.nanmean(corrected, axis=0)
    # var(c) / n + lam**2 var(judge_unlabelled) / N
    variance = np.nanvar(corrected, axis=0, ddof=1) / n_defined
    if judge is not None:
        variance = variance + judge_weight**2 * judge_variance
    standard_error = np.sqrt(variance)
    interval, p_value = student(mean, standard_error, n_defined, confidence_level)
    if judge is None:
        is_binary = ((h == 0) | (h == 1) | np.isnan(h)).all(axis=0)
        interval[is_binary] = wilson(
            mean[is_binary], n_defined[is_binary], confidence_level
        )
    return MeanIntervals(
        names=names,
        mean=mean,
        standard_error=standard_error,
        interval=interval,
        p_value=p_value,
        n_queries=n_defined,
        n_undefined=len(h) - n_defined,
        judge_weight=judge_weight,
    )


def _check_judge(h, j, j_unlabelled):
    """Refuse values of people and of a judge that do not fit together."""
    if h.shape != j.shape or h.shape[1:] != j_unlabelled.shape[1:]:
        raise ValueError(
            f"human has the shape {h.shape}, judge {j.shape}, judge_unlabelled "
            f"{j_unlabelled.shape}: give human and judge of one shape, (n,) or (n, k), "
            "judge_unlabelled (N,) or (N, k)."
        )
    check_finite(h, "human")
    check_finite(j, "judge")
    check_finite(j_unlabelled, "judge_unlabelled")
    n = len(h)
    n_unlabelled = len(j_unlabelled)
    if n < 5 or n_unlabelled < 2:
        raise ValueError(
            f"{n} values have human labels and {n_unlabelled} the judge's labels "
            "alone: at least 5 and 2 are needed."
        )


def _judge_weights(h, j, j_unlabelled):
    """Compute the weight lam_i of each value of the judge by cross-fitting.

    Returns
    -------
    weights : ndarray of shape (n, k)
    variance : ndarray of shape (k,)
        The variance of the judge's mean, var(judge_unlabelled) / N.
    """
    n = len(h)
    variance = j_unlabelled.var(axis=0, ddof=1) / len(j_unlabelled)
    weights = np.empty(h.shape)
    fold = np.arange(n) % 5
    for held_out in range(5):
        is_train = fold != held_out
        # lam minimises var(h - lam j) + lam**2 n var(judge_unlabelled) / N:
        # lam = cov(h, j) / (var(j) + n var(judge_unlabelled) / N), 0 if j is constant.
        centred = j[is_train] - j[is_train].mean(axis=0)
        covariance = np.sum(centred * h[is_train], axis=0) / (is_train.sum() - 1)
        total_variance = centred.var(axis=0, ddof=1) + n * variance
        weight = np.divide(
            covariance,
            total_variance,
            out=np.zeros_like(total_variance),
            where=total_variance > 0,
        )
        weights[~is_train] = np.clip(weight, 0.0, 1.0)
    return weights, variance


def student(mean, standard_error, n, confidence_level):
    """Compute Student's intervals of means of n values, and the p values of mean 0."""
    half_width = stats.t.ppf(0.5 + confidence_level / 2.0, n - 1) * standard_error
    interval = np.stack([mean - half_width, mean + half_width], axis=-1)
    # |mean| / standard error; 0 / 0 is 0.
    infinite = np.where(mean == 0, 0.0, np.inf)
    t = np.divide(np.abs(mean), standard_error, out=infinite, where=standard_error > 0)
    p_value = 2.0 * stats.t.sf(t, n - 1)
    return interval, p_value


def wilson(fraction, n, confidence_level):
    """Compute Wilson's intervals of fractions of n values."""
    z2 = stats.norm.ppf(0.5 + confidence_level / 2.0) ** 2
    centre = (fraction + z2 / (2 * n)) / (1 + z2 / n)
    variance = fraction * (1 - fraction) / n + z2 / (4 * n**2)
    half_width = np.sqrt(z2 * variance) / (1 + z2 / n)
    return np.clip(
        np.stack([centre - half_width, centre + half_width], axis=-1), 0.0, 1.0
    )
