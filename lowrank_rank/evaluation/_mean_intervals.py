"""Means with their intervals, also of a few human values and many values of a judge."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from .._tables import TableMixin
from ..lists._lists import digest
from ..validation._arrays import check_finite, check_same_index
from ..validation._check import refuse
from ..validation._checks_of_comparisons import (
    CHECKS_OF_COMPARED,
    CHECKS_OF_JUDGED_VALUES,
    CHECKS_OF_LOOKS,
    CHECKS_OF_MEANS,
)
from ..validation._findings import Finding, findings_so_far, reports
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, PAIR, checked
from ..validation._rules import look_for
from ._betting import betting
from ._bounds import (
    are_at_ends,
    are_few,
    bounded,
    bounds_of_columns,
    inside,
    measure_of,
)
from ._query_weights import Units, ids_of_table
from ._values import check_same_ids, read_columns

#: Printed below a table with equal values.
_LINE_ON_EQUAL = (
    "values that are all equal have no interval without their range: give the lowest "
    "and the highest value possible, such as bounds=(0, 1)"
)


@dataclass(frozen=True, eq=False, repr=False)
class MeanIntervals(TableMixin):
    """Means with their intervals; prints as a table.

    `mean_intervals` and `judged_mean_intervals` return it, and comparisons hold it.

    Attributes
    ----------
    names : list
        Names of the k columns.
    mean : ndarray of shape (k,)
    standard_error : ndarray of shape (k,)
    interval : ndarray of shape (k, 2)
        Confidence interval of each mean; nan if all values are equal and their range is
        unknown.
    p_value : ndarray of shape (k,)
        Two-sided p value of the mean 0.
    confidence_level : float
        Of each interval.
    n_queries : ndarray of int, shape (k,)
        Number of values in each mean: of queries, or of families if there are groups.
    n_undefined : ndarray of int, shape (k,)
        Number of queries with NaN, which do not count.
    unit : str
        "queries" or "families".
    n_effective : ndarray of shape (k,) or None
        Number of queries of equal weight that estimate as precisely, ``sum(w)**2 /
        sum(w**2)``. None if all weights are equal.
    judge_weight : ndarray of shape (k,) or None
        lam, averaged over the folds; 0 where only people count. None without a
        judge.
    n_unanswered : ndarray of int, shape (k,), or None
        Number of queries that a run lacks and another run has; of `compare_runs`.
    judged : dict of str to ndarray of shape (k,), or None
        ``{"judged@10": ...}``, the mean fraction of the first 10 documents that are
        judged; 10 is the k of the measure, or the depth of the pool if it has none.
        Only of `compare_runs`, if the judgements name documents that are not relevant.
    rank_interval : ndarray of int, shape (k, 2), or None
        Lowest and highest rank of each ranker; of comparisons, whose means are printed
        best first.
    findings : tuple of Finding
        What the rules found, as in the warnings of the call: each has a `rule`, a
        `sentence` and a `category`.

    Examples
    --------
    >>> from lowrank_rank.evaluation import mean_intervals
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
    confidence_level: float
    n_queries: np.ndarray
    n_undefined: np.ndarray
    unit: str = "queries"
    n_effective: Any = None
    judge_weight: Any = None
    n_unanswered: Any = None
    judged: Any = None
    rank_interval: Any = None
    findings: tuple[Finding, ...] = ()
    #: Function that computes `random_order`, which costs as much as a ranker.
    _random_order: Any = None
    #: The values of the means, NaN where undefined, shape (n, k).
    _values: Any = None

    @cached_property
    def random_order(self) -> Any:
        """Mean of the measure if each query is ordered at random, shape (k,).

        It is the value of equal scores; for a run, of a random order of what the run
        retrieved. With a judge, over the queries that people labelled. None for tables
        of values.
        """
        if self._random_order is None:
            return None
        return np.broadcast_to(self._random_order(), len(self.names))

    @reports
    def at_every_look(self) -> "MeanIntervals":
        """Compute intervals that hold however often one looks while queries are added.

        All intervals at all numbers of queries hold together with probability
        `confidence_level`. They are confidence sequences by betting [1]_. The values
        must be in [0, 1], and the order of the rows is that in which the queries were
        added, at the end. The guide has the figures, :ref:`looks`.

        Returns
        -------
        MeanIntervals
            The same means, with wider intervals and larger p values, without ranks.

        Raises
        ------
        ValueError
            If there are values outside [0, 1], families, weights or a judge.

        References
        ----------
        .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables
           by betting", Journal of the Royal Statistical Society B 86, 2024.

        Examples
        --------
        >>> import numpy as np
        >>> from lowrank_rank.evaluation import mean_intervals
        >>> means = mean_intervals(np.tile([0.25, 0.75], 20))
        >>> means.interval.round(2), means.at_every_look().interval.round(2)
        (array([[0.42, 0.58]]), array([[0.39, 0.61]]))
        """
        refuse(
            CHECKS_OF_LOOKS,
            means=self,
            h=self._values,
            is_comparison=self.rank_interval is not None,
        )
        intervals = []
        p_values = []
        for column in self._values.T:
            values = column[~np.isnan(column)]
            interval, p_value = betting(values[np.newaxis], 0.0, self.confidence_level)
            intervals.append(interval)
            p_values.append(p_value)
        return replace(
            self,
            interval=np.concatenate(intervals),
            p_value=np.concatenate(p_values),
            rank_interval=None,
        )

    def _columns(self):
        ranks = self.rank_interval
        columns: dict = {}
        if any(self.names):
            columns["name"] = self.names
        columns["mean"] = self.mean
        columns["low"] = self.interval[:, 0]
        columns["high"] = self.interval[:, 1]
        if ranks is None:
            columns[f"n_{self.unit}"] = self.n_queries
            columns["n_undefined"] = self.n_undefined
        else:
            columns["rank_low"] = ranks[:, 0]
            columns["rank_high"] = ranks[:, 1]
        if self.random_order is not None:
            columns["random_order"] = self.random_order
        if ranks is None and self.n_effective is not None:
            columns["n_effective"] = self.n_effective
        if self.n_unanswered is not None and self.n_unanswered.any():
            columns["n_unanswered"] = self.n_unanswered
        if self.judged is not None:
            columns |= self.judged
        if self.judge_weight is not None:
            columns["judge_weight"] = self.judge_weight
        if ranks is None:
            return {name: list(values) for name, values in columns.items()}
        # The best ranker is first.
        order = np.argsort(-self.mean, kind="stable")
        return {name: [values[i] for i in order] for name, values in columns.items()}

    def _lines(self):
        lines = []
        if self.judge_weight is not None and self.rank_interval is None:
            lines.append(
                "with a judge, intervals are for one look, at a number of labels that "
                "was fixed before"
            )
        if np.isnan(self.interval).any():
            lines.append(_LINE_ON_EQUAL)
        return lines


@checked(bounds=[PAIR, None], confidence_level=LEVEL)
def mean_intervals(
    values: Any,
    *,
    groups: Any = None,
    sample_weight: Any = None,
    bounds: Any = None,
    confidence_level: float = 0.95,
) -> MeanIntervals:
    """Means of a measure over queries, each with its interval.

    The interval is Student's: mean +- t s / sqrt(n), for the standard deviation s of n
    queries. Where the range of the values is known, it is Student's of the logit of the
    mean, and Wilson's [1]_ if all values are at the ends of the range, such as right
    and wrong answers. The queries must be independent: days in a row, or queries of one
    user, are not, and `groups` names what belongs together. The guide has the formulas
    and the coverage, :ref:`how-intervals`.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k), frame, or dict of columns
        A measure of each query, such as the tables of `per_query` and of `evaluate_run`
        with ``average=None``. NaN, a query on which the measure is undefined, is only
        counted. A frame with a column of ids or row numbers ("qid", "index", "task_id")
        is refused: make it the index.
    groups : array-like of shape (n,), Series, dict or None, default=None
        Family of each query, such as the document that several questions are about. The
        values are averaged within each family first, and a family is one value. A
        Series or dict is matched by the ids of the queries, the index of a frame.
    sample_weight : array-like of shape (n,), Series, dict or None, default=None
        Weight >= 0 of each query, such as its traffic, given as `groups`. The weight of
        a family is the mean weight of its queries.
    bounds : pair of float or None, default=None
        Lowest and highest value possible, such as ``(0, 100)`` for per cent, if values
        can be near them. None: those of the measure that names the column, if they hold
        its values; 0 and 1 if all values of the column are 0 or 1; else none.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    MeanIntervals
        Prints as a table, with ``to_frame()``. ``at_every_look()`` gives intervals that
        hold however often one looks while queries are added.

    Raises
    ------
    ValueError
        If a column has fewer than two values, or one that is infinite or beyond the
        bounds.

    See Also
    --------
    judged_mean_intervals : With a judge's values of many more queries.
    compare_rankers : Intervals of the differences between rankers.

    References
    ----------
    .. [1] E. Wilson, "Probable inference, the law of succession, and statistical
       inference", Journal of the American Statistical Association 22, 1927.

    Examples
    --------
    3 +- 2.776 (2.5 / 5)**0.5:

    >>> from lowrank_rank.evaluation import mean_intervals
    >>> mean_intervals([1, 2, 3, 4, 5])
    mean    low   high  n_queries  n_undefined
       3  1.037  4.963          5            0

    Five values that are all equal tell nothing without their range, and a little with
    it:

    >>> mean_intervals([0.75] * 5).interval
    array([[nan, nan]])
    >>> mean_intervals([0.75] * 5, bounds=(0, 1)).interval.round(2)
    array([[0.42, 0.86]])

    Five questions about two documents, and questions of unequal traffic:

    >>> answers, document = [1, 1, 1, 0, 1], ["a", "a", "a", "b", "b"]
    >>> mean_intervals(answers, groups=document).mean
    array([0.75])
    >>> mean_intervals(answers, sample_weight=[2, 1, 1, 4, 2]).mean
    array([0.6])
    """
    arrive(values=values, groups=groups, sample_weight=sample_weight)
    refuse(
        CHECKS_OF_COMPARED,
        table=values,
        table_name="values",
        groups=groups,
        sample_weight=sample_weight,
    )
    names, h = read_columns(values, "values")
    units = Units(sample_weight, groups, ids_of_table(values), len(h))
    unit = "queries" if groups is None else "families"
    n_undefined = np.isnan(h).sum(axis=0)
    if units.weights is not None:
        # A query of weight 0 does not count.
        counts = units.weights > 0
        n_undefined = np.isnan(h[counts]).sum(axis=0)
        h = np.where(counts[:, np.newaxis], h, np.nan)
    h, weights = units.average(h)
    ends = bounds_of_columns(h, names, bounds)
    _look_for_undefined(names, h)
    n_defined = (~np.isnan(h)).sum(axis=0)
    refuse(
        CHECKS_OF_MEANS,
        h=h,
        names=names,
        unit=unit,
        n_defined=n_defined,
        weights=weights,
        bounds=bounds,
    )
    means, n_effective = _means_of_people(h, weights, ends, confidence_level)
    return MeanIntervals(
        names=names,
        mean=means.mean,
        standard_error=means.standard_error,
        interval=means.interval,
        p_value=means.p_value,
        confidence_level=float(confidence_level),
        n_queries=n_defined,
        n_undefined=n_undefined,
        unit=unit,
        n_effective=n_effective,
        findings=findings_so_far(),
        _values=h,
    )


@checked(bounds=[PAIR, None], confidence_level=LEVEL)
def judged_mean_intervals(
    people: Any,
    judge: Any,
    judge_unlabelled: Any,
    *,
    bounds: Any = None,
    confidence_level: float = 0.95,
) -> MeanIntervals:
    """Means of few values by people and many by a judge, each with its interval.

    A judge, such as a language model that grades documents, adds many values to a few
    by people. The judge may be wrong: the values by people correct its bias, so they
    must be a random sample. The estimate is prediction-powered [1]_. Where its interval
    is not narrower than that of `mean_intervals` of people alone, the judge is not
    used. The guide has the formulas, :ref:`how-judges`.

    Parameters
    ----------
    people : array-like of shape (n,) or (n, k), frame, or dict of columns
        A measure of each query, by the labels of people.
    judge : same
        Values of the same queries by the judge's labels.
    judge_unlabelled : array-like of shape (N,) or (N, k), frame, or dict of columns
        Values of other queries, which people did not label, by the judge's labels.
        Columns with names are matched by name.
    bounds : pair of float or None, default=None
        Lowest and highest value possible by people, as in `mean_intervals`.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    MeanIntervals
        Prints as a table, with ``to_frame()``; `judge_weight` is 0 where only people
        count.

    Raises
    ------
    ValueError
        If there are fewer than five values by people or two others, shapes do not fit,
        or a value is NaN or infinite.

    See Also
    --------
    compare_judged : Differences of rankers, by labels of people and of a judge.

    References
    ----------
    .. [1] A. Angelopoulos, J. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered
       Inference", arXiv:2311.01453, 2023.

    Examples
    --------
    50 values by people with a judge of 950 others that always agrees, and without it:

    >>> import numpy as np
    >>> from lowrank_rank.evaluation import judged_mean_intervals, mean_intervals
    >>> values = np.tile([0.0, 1.0], 500)
    >>> few, others = values[:50], values[50:]
    >>> judged_mean_intervals(few, few, others).interval.round(2)
    array([[0.44, 0.56]])
    >>> mean_intervals(few).interval.round(2)
    array([[0.37, 0.63]])
    """
    arrive(people=people, judge=judge, judge_unlabelled=judge_unlabelled)
    check_same_index(people=people, judge=judge)
    names, h = read_columns(people, "people")
    check_same_ids(people, judge)
    _, j = read_columns(judge, "judge", names)
    _, j_unlabelled = read_columns(judge_unlabelled, "judge_unlabelled", names)
    return judged_means(
        names, h, j, j_unlabelled, ids_of_table(people), bounds, confidence_level
    )


def judged_means(names, h, j, j_unlabelled, ids, bounds, confidence_level):
    """Compute the means of `judged_mean_intervals` of arrays.

    Parameters
    ----------
    names : list of str
        Names of the columns.
    h, j : ndarray of shape (n, k)
        Values of the same queries by people and by the judge.
    j_unlabelled : ndarray of shape (N, k)
    ids : sequence of shape (n,), or None
        Ids of the queries of people; None numbers them.
    bounds : pair of float, or None
    confidence_level : float

    Returns
    -------
    MeanIntervals
    """
    _look_for_undefined(names, h)
    n_defined = (~np.isnan(h)).sum(axis=0)
    refuse(
        CHECKS_OF_MEANS,
        h=h,
        names=names,
        unit="queries",
        n_defined=n_defined,
        bounds=bounds,
    )
    ends = bounds_of_columns(h, names, bounds)
    alone, _ = _means_of_people(h, None, ends, confidence_level)
    refuse(CHECKS_OF_JUDGED_VALUES, h=h, j=j, j_unlabelled=j_unlabelled)
    check_finite(h, "people")
    check_finite(j, "judge")
    check_finite(j_unlabelled, "judge_unlabelled")
    look_for("chosen queries", j, j_unlabelled)
    means, judge_weight = _means_with_judge(
        h,
        j,
        j_unlabelled,
        alone=alone,
        ends=ends,
        fold=folds(ids, len(h)),
        confidence_level=confidence_level,
    )
    return MeanIntervals(
        names=names,
        mean=means.mean,
        standard_error=means.standard_error,
        interval=means.interval,
        p_value=means.p_value,
        confidence_level=float(confidence_level),
        n_queries=n_defined,
        n_undefined=np.isnan(h).sum(axis=0),
        judge_weight=judge_weight,
        findings=findings_so_far(),
        _values=h,
    )


def _look_for_undefined(names, h):
    """Look for queries without a value, unless the columns are measures by name."""
    is_undefined = np.isnan(h)
    if is_undefined.any() and None in map(measure_of, set(names)):
        words = [name or f"column {j}" for j, name in enumerate(names)]
        look_for("undefined queries", words, is_undefined)


#: Number of folds that weigh a judge, the default of scikit-learn's cross-validation.
N_FOLDS = 5


class Means(NamedTuple):
    """Means with their standard errors, intervals, and p values of the mean 0."""

    mean: np.ndarray
    standard_error: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray


def _means_of_people(h, weights, ends, confidence_level):
    """Compute the means of columns, NaN left out, and their effective numbers.

    `ends` are the lowest and the highest value possible of each column.
    """
    n = (~np.isnan(h)).sum(axis=0)
    n_effective = None
    if weights is None:
        mean = np.nanmean(h, axis=0)
        standard_error = np.sqrt(np.nanvar(h, axis=0, ddof=1) / n)
    else:
        mean, standard_deviation, n = weighted_moments(h, weights)
        standard_error = standard_deviation / np.sqrt(n)
        n_effective = n
    interval, p_value = student(mean, standard_error, n, confidence_level)
    lowest, highest = ends
    interval = bounded(h, weights, mean, interval, n, lowest, highest, confidence_level)
    highest = np.nanmax(h, axis=0)
    # Smaller differences are rounding errors.
    is_equal = highest - np.nanmin(h, axis=0) <= 1e-12 * np.abs(highest)
    # The probability that all values have the same sign is 2**(1 - n).
    smallest_p = np.where(mean == 0, 1.0, np.exp2(1.0 - n))
    p_value = np.where(is_equal, smallest_p, p_value)
    # Equal values of unknown range tell nothing of their spread.
    is_unknown = is_equal & np.isinf(ends[0])
    interval[is_unknown] = np.nan
    p_value[is_unknown] = np.nan
    means = Means(
        mean=mean, standard_error=standard_error, interval=interval, p_value=p_value
    )
    return means, n_effective


def _means_with_judge(h, j, j_unlabelled, *, alone, ends, fold, confidence_level):
    """Compute the means of people's and a judge's values, and the judge's weights.

    `alone` are the means of people's values, `ends` the bounds of these, and `fold` is
    the fold of each query.
    """
    values = np.vstack([h, j, j_unlabelled])
    lowest = values.min(axis=0)
    highest = values.max(axis=0)
    is_bounded = np.isfinite(ends[0])
    is_binary = is_bounded & are_at_ends(h, *np.where(is_bounded, ends, 0.0))
    # A judge that is always right or always wrong could be the other.
    lowest = np.where(is_binary, np.minimum(lowest, ends[0]), lowest)
    highest = np.where(is_binary, np.maximum(highest, ends[1]), highest)
    return prediction_powered(
        h,
        j,
        j_unlabelled,
        alone=alone,
        added_h=np.where(is_binary, ends[::-1], [highest, lowest]),
        added_j=np.array([lowest, highest]),
        ends=ends,
        fold=fold,
        is_binary=is_binary,
        is_few=np.zeros(h.shape[1], dtype=bool),
        confidence_level=confidence_level,
    )


def weighted_moments(values, weights):
    """Compute weighted means, standard deviations and effective numbers of columns.

    NaN is left out.

    Returns
    -------
    mean, standard_deviation : ndarray of shape (k,)
        The standard error of the mean is standard_deviation / sqrt(n).
    n : ndarray of shape (k,)
        Effective number of values.
    """
    is_defined = ~np.isnan(values)
    x = np.where(is_defined, values, 0.0)
    p = np.where(is_defined, weights[:, np.newaxis], 0.0)
    p = p / p.sum(axis=0)
    # n = 1 / sum p**2
    n = 1.0 / np.sum(p**2, axis=0)
    mean = np.sum(p * x, axis=0)
    squares = (x - mean) ** 2
    # sum p (x - m)**2 / (n - 1)
    variance = np.sum(p * squares, axis=0) / (n - 1.0)
    # sum p**2 (x - m)**2 / (1 - 2 p + 1/n): its expectation is the variance of the
    # mean if all values have one variance, and near it if they have several.
    robust_variance = np.sum(p**2 * squares / (1.0 - 2.0 * p + 1.0 / n), axis=0)
    return mean, np.sqrt(n * np.maximum(variance, robust_variance)), n


def prediction_powered(
    h,
    j,
    j_unlabelled,
    *,
    alone,
    added_h,
    added_j,
    ends,
    fold,
    is_binary,
    is_few,
    confidence_level,
):
    """Compute means of human values and a judge; `alone` where these are not narrower.

    Parameters
    ----------
    h, j : ndarray of shape (n, k)
        Values of the same queries by people and by the judge.
    j_unlabelled : ndarray of shape (N, k)
        Values of other queries by the judge.
    alone : Means
        Of the human values.
    added_h, added_j : ndarray of shape (2, k)
        Two more pairs, for columns of 0 and 1 and those with few errors of the judge.
    ends : pair of ndarray of shape (k,)
        The lowest and the highest value possible of people.
    fold : ndarray of int, shape (n,)
        The fold of each query, from `folds`.
    is_binary : ndarray of bool, shape (k,)
        Whether all values by people are at the ends.
    is_few : ndarray of bool, shape (k,)
        Whether few human values tell anything.
    confidence_level : float

    Returns
    -------
    means : Means
    judge_weight : ndarray of shape (k,)
        0 where the means are those of `alone`.
    """
    # Smaller differences are rounding errors.
    rounding = 1e-12 * np.abs(h).max()
    n_errors = (np.abs(h - j) > rounding).sum(axis=0)
    is_few = is_few | is_binary | are_few(n_errors, confidence_level)
    of_pairs = _corrected_mean(h, j, j_unlabelled, fold)
    # Both pairs are in one fold, so that their order does not matter.
    of_more = _corrected_mean(
        np.concatenate([h, added_h]),
        np.concatenate([j, added_j]),
        j_unlabelled,
        np.append(fold, np.full(2, len(h) % N_FOLDS)),
    )
    mean, standard_error, weight = np.where(is_few, of_more, of_pairs)
    interval, p_value = student(mean, standard_error, len(h), confidence_level)
    normal_interval, normal_p_value = normal(mean, standard_error, confidence_level)
    p_value = np.where(is_few, normal_p_value, p_value)
    interval[is_few] = normal_interval[is_few]
    of_logit = inside(interval, mean, *ends)
    cut = np.clip(interval, *np.expand_dims(ends, -1))
    interval = np.where(is_binary[:, np.newaxis], cut, of_logit)
    is_narrower = np.ptp(interval, axis=1) < np.ptp(alone.interval, axis=1)
    # Smaller weights are rounding errors.
    is_used = is_narrower & (weight > 1e-9)
    means = Means(
        mean=np.where(is_used, mean, alone.mean),
        standard_error=np.where(is_used, standard_error, alone.standard_error),
        interval=np.where(is_used[:, np.newaxis], interval, alone.interval),
        p_value=np.where(is_used, p_value, alone.p_value),
    )
    return means, np.where(is_used, weight, 0.0)


def folds(ids, n):
    """Return the fold of each query, by a hash of its id.

    So the order of the queries does not matter. The sizes differ by one at most.

    Parameters
    ----------
    ids : sequence of shape (n,), or None
        None numbers the queries.
    n : int
        Number of queries.
    """
    if ids is None:
        ids = range(n)
    # Equal ids of two types have one digest.
    hashes = np.frombuffer(b"".join(map(digest, ids)), dtype=np.uint64)
    fold = np.empty(n, dtype=np.intp)
    fold[np.argsort(hashes, kind="stable")] = np.arange(n) % N_FOLDS
    return fold


def _corrected_mean(h, j, j_unlabelled, fold):
    """Compute the mean of the corrected values, its error, and the judge's weight.

    Returns
    -------
    ndarray of shape (3, k)
    """
    weights, judge_variance = _judge_weights(h, j, j_unlabelled, fold)
    weight = weights.mean(axis=0)
    # c_i = h_i - lam_i (j_i - mean(judge_unlabelled))
    corrected = h - weights * (j - j_unlabelled.mean(axis=0))
    # var(c) / n + lam**2 var(judge_unlabelled) / N
    variance = corrected.var(axis=0, ddof=1) / len(h) + weight**2 * judge_variance
    return np.array([corrected.mean(axis=0), np.sqrt(variance), weight])


def _judge_weights(h, j, j_unlabelled, fold):
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
    for held_out in range(N_FOLDS):
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
    quantile = special.stdtrit(n - 1, 0.5 + confidence_level / 2.0)
    half_width = quantile * standard_error
    interval = np.stack([mean - half_width, mean + half_width], axis=-1)
    t = _ratio(np.abs(mean), standard_error)
    return interval, 2.0 * special.stdtr(n - 1, -t)


def normal(mean, standard_error, confidence_level):
    """Compute normal intervals of means, and the p values of mean 0."""
    half_width = special.ndtri(0.5 + confidence_level / 2.0) * standard_error
    interval = np.stack([mean - half_width, mean + half_width], axis=-1)
    z = _ratio(np.abs(mean), standard_error)
    return interval, 2.0 * special.ndtr(-z)


def _ratio(distance, scale):
    """Divide distances >= 0 by scales >= 0; 0 / 0 is 0."""
    infinite = np.where(distance == 0, 0.0, np.inf)
    return np.divide(distance, scale, out=infinite, where=scale > 0)
