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
        columns: dict = {"name": self.names} if any(self.names) else {}
        columns |= {
            "mean": self.mean,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
        }
        if ranks is None:
            columns |= {"n_queries": self.n_queries, "n_undefined": self.n_undefined}
        else:
            columns |= {"rank_low": ranks[:, 0], "rank_high": ranks[:, 1]}
        more = {"n_unanswered": self.n_unanswered, "judge_weight": self.judge_weight}
        columns |= {name: one for name, one in more.items() if one is not None}
        # The best ranker is first; measures keep their order.
        keys = np.zeros(len(self.mean)) if ranks is None else -self.mean
        order = np.argsort(keys, kind="stable")
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
    judge_unlabelled : array-like of shape (N,) or (N, k), frame, dict of columns or None, \
default=None
        Values of other queries, which have no human labels, by the judge's labels.
        Columns with names are matched by name; columns of ids (qid, query_id, docno)
        are no measures.
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
    .. [1] E. Wilson, "Probable inference, the law of succession, and statistical inference",
       Journal of the American Statistical Association 22, 1927.
    .. [2] A. Angelopoulos, J. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference",
       arXiv:2311.01453, 2023.

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
    >>> found = mean_intervals(values[:10], judge=values[:10], judge_unlabelled=values[10:])
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
    n, spread, weight, corrected = (~np.isnan(h)).sum(axis=0), 0.0, None, h
    if n.min() < 2:
        raise ValueError(
            f"{names[np.argmin(n)] or 'human'} is defined on {n.min()} of {len(h)} queries, not "
            "two."
        )
    if judge is not None:
        check_same_ids(human, judge)
        _, j = read_columns(judge, "judge", names)
        _, others = read_columns(judge_unlabelled, "judge_unlabelled", names)
        corrected, weight, spread = _corrected(h, j, others)
    mean = np.nanmean(corrected, axis=0)
    variance = np.nanvar(corrected, axis=0, ddof=1) / n
    error = np.sqrt(variance if weight is None else variance + weight**2 * spread)
    interval, p_value = student(mean, error, n, confidence_level)
    if judge is None:
        binary = ((h == 0) | (h == 1) | np.isnan(h)).all(axis=0)
        interval[binary] = wilson(mean[binary], n[binary], confidence_level)
    return MeanIntervals(names, mean, error, interval, p_value, n, len(h) - n, weight)


def student(mean, error, n, confidence_level):
    """Student's intervals of means of n values, and the p values of the mean 0."""
    half = stats.t.ppf(0.5 + confidence_level / 2.0, n - 1) * error
    t = np.divide(
        np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0
    )
    return np.stack([mean - half, mean + half], axis=-1), 2.0 * stats.t.sf(t, n - 1)


def wilson(fraction, n, confidence_level):
    """Wilson's intervals of fractions of n."""
    z2 = stats.norm.ppf(0.5 + confidence_level / 2.0) ** 2
    centre = (fraction + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (fraction * (1 - fraction) / n + z2 / (4 * n**2))) / (
        1 + z2 / n
    )
    return np.clip(np.stack([centre - half, centre + half], axis=-1), 0.0, 1.0)


def _corrected(h, j, others):
    """Human values corrected by the judge's, the judge's weight, and the variance of its mean."""
    if h.shape != j.shape or h.shape[1:] != others.shape[1:]:
        raise ValueError(
            f"human has the shape {h.shape}, judge {j.shape}, judge_unlabelled {others.shape}: "
            "give human and judge of one shape, (n,) or (n, k), judge_unlabelled (N,) or (N, k)."
        )
    for name, values in {"human": h, "judge": j, "judge_unlabelled": others}.items():
        check_finite(values, name)
    n, n_others = len(h), len(others)
    if n < 5 or n_others < 2:
        raise ValueError(
            f"{n} values have human labels and {n_others} the judge's labels alone: at least 5 and "
            "2 are needed."
        )
    spread = others.var(axis=0, ddof=1) / n_others
    weights = np.empty(h.shape)
    fold = np.arange(n) % 5
    for held_out in range(5):
        rest = fold != held_out
        # The weight lam in [0, 1] that minimises var(h - lam j) + lam**2 n spread, 0
        # for a constant judge.
        centred = j[rest] - j[rest].mean(axis=0)
        covariance = np.sum(centred * h[rest], axis=0) / (rest.sum() - 1)
        variance = centred.var(axis=0, ddof=1) + n * spread
        best = np.divide(
            covariance, variance, out=np.zeros_like(variance), where=variance > 0
        )
        weights[~rest] = np.clip(best, 0.0, 1.0)
    return h - weights * (j - others.mean(axis=0)), weights.mean(axis=0), spread
