"""Rankers compared on the same queries: paired intervals, paired tests, Holm's correction.

The unit is the query: measures are means over queries, the documents of a query are not
independent, and two rankers share what makes a query hard. So differences are taken query by
query, and whole queries are drawn or flipped.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from .._arrays import ArrayLike, MatrixLike, table_of
from .._labels import lists_of, split_target
from .._parameters import check_parameter, count, number
from .._parameters import random_state as random_state_rule
from ..target_losses import resolve_measure
from ._scorer import RankingScorer

METHODS = ["BCa", "basic", "expanded", "percentile"]


@dataclass(frozen=True, eq=False)
class RankerComparison:
    """What `compare_rankers` found.

    Attributes
    ----------
    measure : str
        What was measured.
    names : list of str
        The rankers.
    qid : ndarray of shape (n_queries,)
        Ids of the queries that were compared; those on which the measure is undefined are not
        among them.
    values : ndarray of shape (n_queries, n_rankers)
        The measure of each ranker on each query, greater is better.
    pairs : list of tuple (int, int)
        The pairs (a, b) that are compared, as places in `names`.
    interval : ndarray of shape (n_pairs, 2)
        Confidence interval of the mean difference a - b, for each pair, not simultaneous.
    p_value : ndarray of shape (n_pairs,)
        p value of the paired randomisation test: a and b are exchangeable in every query.
    p_adjusted : ndarray of shape (n_pairs,)
        p values after Holm's correction for all pairs.
    confidence_level : float
        Of the intervals.
    method : str
        Of the bootstrap.
    n_undefined : int
        Number of skipped queries.

    Examples
    --------
    >>> from lowrank_rank.metrics import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [2, 1, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="precision@1", random_state=0)
    >>> found.mean.tolist(), found.differences[:, 0].tolist()
    ([1.0, 0.3333333333333333], [0.0, 1.0, 1.0])
    """

    measure: str
    names: list
    qid: np.ndarray
    values: np.ndarray
    pairs: list
    interval: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    confidence_level: float
    method: str
    n_undefined: int

    @property
    def mean(self) -> np.ndarray:
        """The mean of each ranker over the queries, shape (n_rankers,)."""
        return self.values.mean(axis=0)

    @property
    def differences(self) -> np.ndarray:
        """Differences a - b of each pair in each query, shape (n_queries, n_pairs)."""
        first, second = np.transpose(self.pairs)
        return self.values[:, first] - self.values[:, second]

    @property
    def effect(self) -> np.ndarray:
        """Mean difference of each pair in standard deviations of a query's, shape (n_pairs,).

        0 where no query differs, infinite where all differ alike.
        """
        differences = self.differences
        mean, spread = differences.mean(axis=0), differences.std(axis=0, ddof=1)
        infinite = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        return np.divide(mean, spread, out=infinite, where=np.ptp(differences, axis=0) > 0)

    def to_frame(self) -> "Any | np.ndarray":
        """A row for each pair.

        Returns
        -------
        DataFrame, or structured ndarray without pandas
            ranker and baseline (a and b), the mean difference a - b, low and high (its
            interval), p_value and p_holm, effect (in standard deviations of a query's
            difference), and in how many queries a is better, equal, worse.
        """
        differences = self.differences
        named = np.array(self.names, dtype=object)
        first, second = np.transpose(self.pairs)
        return table_of(
            {
                "ranker": named[first],
                "baseline": named[second],
                "difference": differences.mean(axis=0),
                "low": self.interval[:, 0],
                "high": self.interval[:, 1],
                "p_value": self.p_value,
                "p_holm": self.p_adjusted,
                "effect": self.effect,
                "better": (differences > 0).sum(axis=0),
                "equal": (differences == 0).sum(axis=0),
                "worse": (differences < 0).sum(axis=0),
            }
        )


def compare_rankers(
    y_true: Any,
    rankers: dict,
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = "ndcg@10",
    baseline: str | None = None,
    confidence_level: float = 0.95,
    method: str = "expanded",
    n_resamples: int = 9999,
    zero_division: float = np.nan,
    random_state: Any = None,
) -> RankerComparison:
    """Compare rankers on the same queries, with paired intervals.

    The measure of each ranker is taken query by query. The interval of a mean difference is a
    paired cluster bootstrap's: whole queries are drawn with replacement, the same for both rankers
    (`scipy.stats.bootstrap`). The p value comes from the paired randomisation test: if the rankers
    were exchangeable, the difference of each query could have the other sign. All 2**n_queries
    signs are tried if these are at most `n_resamples`, else `n_resamples` random ones. Holm's
    correction keeps the probability of any false finding among all pairs at the level of a single
    test.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels of queries that no ranker was fitted on; a `ranking_target` carries its qid.
    rankers : dict of str to array-like or fitted estimator
        Scores of the rows, or models that score `X` as `make_ranking_scorer` does; two at least.
    X : array-like or sparse matrix of shape (n_rows, n_features) or None, default=None
        Needed for models.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row.
    measure : str or RankingMeasure, default="ndcg@10"
        Greater is better.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs.
    confidence_level : float, default=0.95
        Confidence level of each single interval.
    method : {"expanded", "percentile", "basic", "BCa"}, default="expanded"
        Bootstrap interval: "expanded" percentiles, by the ratio of Student's t to the normal
        distribution [2]_; plain percentiles, too narrow with few queries; basic; bias-corrected and
        accelerated.
    n_resamples : int, default=9999
        Bootstrap samples, and drawn signs of the test.
    zero_division : float, default=nan
        Value of an undefined query; nan skips it.
    random_state : int, RandomState or None, default=None
        Of the draws.

    Returns
    -------
    RankerComparison
        With ``to_frame()``; `plotting.RankerComparisonDisplay` draws it.

    Raises
    ------
    ValueError
        If there are fewer than two rankers or two queries, models come without X, or labels,
        scores and ids do not fit.

    See Also
    --------
    per_query : The measures of one ranker on each query.

    Notes
    -----
    An interval without 0 and a small p value say that the sign of the mean difference on such
    queries is certain, not that it matters. They do not include the variation between training
    sets: the rankers are fixed.

    References
    ----------
    .. [1] M. Smucker, J. Allan, B. Carterette, "A comparison of statistical significance tests
       for information retrieval evaluation", CIKM 2007.
    .. [2] T. Hesterberg, "What teachers should know about the bootstrap", The American
       Statistician 69, 2015, section 3.3 (expanded percentile intervals).
    .. [3] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6, 1979.

    Examples
    --------
    Three queries, all won by "new": signs alone could do that with probability 2 / 2**3.

    >>> from lowrank_rank.metrics import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [1, 2, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="mrr", random_state=0)
    >>> found.mean.tolist(), found.p_value.tolist()
    ([1.0, 0.5], [0.25])
    """
    check_parameter("confidence_level", confidence_level, [number(above=0, below=1)])
    check_parameter("method", method, METHODS)
    check_parameter("n_resamples", n_resamples, [count()])
    check_parameter("random_state", random_state, [random_state_rule])
    resolved = resolve_measure(measure)
    pairs = _pairs_of(rankers, baseline)
    y_true, qid = split_target(y_true, qid)
    columns = [
        _values_per_query(name, ranker, X, y_true, qid, resolved, zero_division)
        for name, ranker in rankers.items()
    ]
    values = np.column_stack(columns)
    defined = ~np.isnan(values).any(axis=1)
    if defined.sum() < 2:
        raise ValueError(
            f"{resolved!r} is defined on {defined.sum()} of {len(values)} queries: two at least "
            "are needed. Give qid, the query of each row, or a zero_division."
        )
    # Rows of a matrix are numbered.
    lists = None if qid is None else lists_of(np.zeros(len(y_true)), qid, "y_true")
    ids = np.arange(len(values)) if lists is None else lists.ids
    values, ids = values[defined], ids[defined]
    first, second = np.transpose(pairs)
    differences = (values[:, first] - values[:, second]).T
    random_state = check_random_state(random_state)
    interval = mean_interval(differences, confidence_level, method, n_resamples, random_state)
    p_value = sign_flip_p_value(differences, n_resamples, random_state)
    return RankerComparison(
        measure=measure if isinstance(measure, str) else repr(measure),
        names=list(rankers),
        qid=ids,
        values=values,
        pairs=pairs,
        interval=interval,
        p_value=p_value,
        p_adjusted=holm(p_value),
        confidence_level=float(confidence_level),
        method=method,
        n_undefined=int((~defined).sum()),
    )


def _pairs_of(rankers, baseline):
    if not isinstance(rankers, dict) or len(rankers) < 2:
        raise ValueError(
            "rankers must be a dict from names to scores or fitted models, two at least, as in "
            "{'new': scores, 'old': other_scores}."
        )
    names = list(rankers)
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in rankers:
        raise ValueError(f"baseline {baseline!r} is none of the rankers, {names}.")
    place = names.index(baseline)
    return [(i, place) for i in range(len(names)) if i != place]


def _values_per_query(name, ranker, X, y, qid, measure, zero_division):
    is_model = hasattr(ranker, "fit") or hasattr(ranker, "predict")
    if not is_model:
        return measure.measure(y, ranker, qid=qid, average=None, zero_division=zero_division)
    if X is None:
        raise ValueError(f"The ranker {name!r} is a model: give X, which it is to score.")
    scorer = RankingScorer(measure)
    y, scores, qid = scorer.labels_and_scores(ranker, X, y, qid)
    return measure.measure(y, scores, qid=qid, average=None, zero_division=zero_division)


# Statistics -------------------------------------------------------------------------


def mean_interval(values, confidence_level, method, n_resamples, random_state):
    """Bootstrap interval of the mean of each row, the columns drawn alike for all rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n)
    confidence_level, method, n_resamples, random_state
        As in `compare_rankers`.

    Returns
    -------
    ndarray of shape (n_rows, 2)
        The mean itself twice where all values of a row are equal.
    """
    interval = np.repeat(values.mean(axis=1)[:, np.newaxis], 2, axis=1)
    varied = np.ptp(values, axis=1) > 0
    if varied.any():
        if method == "expanded":
            # Percentiles as wide as Student's interval for n normal values: a bootstrap sample has
            # the variance of its values without the correction n / (n - 1).
            n = values.shape[1]
            quantile = np.sqrt(n / (n - 1)) * stats.t.ppf(0.5 + confidence_level / 2.0, n - 1)
            method, confidence_level = "percentile", 1.0 - 2.0 * stats.norm.sf(quantile)
        found = stats.bootstrap(
            (values[varied],),
            np.mean,
            vectorized=True,
            axis=-1,
            confidence_level=confidence_level,
            method=method,
            n_resamples=n_resamples,
            batch=max(1, 2**21 // values[varied].size),
            random_state=random_state,
        ).confidence_interval
        interval[varied] = np.column_stack([found.low, found.high])
    return interval


def sign_flip_p_value(differences, n_resamples, random_state):
    """Two-sided p value of the paired randomisation test of each row's mean.

    Parameters
    ----------
    differences : ndarray of shape (n_rows, n)
    n_resamples : int
    random_state : RandomState

    Returns
    -------
    ndarray of shape (n_rows,)
        Exact where 2**n <= n_resamples; else (hits + 1) / (n_resamples + 1).
    """
    return stats.permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=n_resamples,
        batch=max(1, 2**21 // differences.size),
        axis=-1,
        random_state=random_state,
    ).pvalue


def holm(p_values):
    """p values after Holm's correction: the i-th smallest of m times m - i + 1, in order."""
    order = np.argsort(p_values)
    steps = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * steps), 1.0)
    return adjusted
