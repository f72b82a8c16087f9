"""Rankers compared on the same queries: paired intervals, paired tests, Holm's correction.

The unit is the query: measures are means over queries, the documents of a query are not
independent, and two rankers share what makes a query hard. So differences are taken query by
query, and whole queries are drawn or flipped.
"""

from dataclasses import dataclass, replace
from html import escape
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats
from sklearn.utils import check_random_state

from .._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_columns,
    check_same_index,
    column_names,
    plain,
)
from .._labels import lists_of, read_labels, split_target
from .._parameters import check_parameter, count, number
from .._parameters import random_state as random_state_rule
from .._tables import TableMixin
from .._warn import warn
from ..datasets._trec import IDS, RELEVANCE, SCORE, check_ids, is_judgements, read_mapping
from ..target_losses._names import resolve_measure
from ..target_losses._target_loss import check_zero_division
from ._mean_intervals import MeanIntervals, mean_intervals
from ._per_query import values_of_run
from ._scorer import RankingScorer

METHODS = ["BCa", "basic", "expanded", "percentile"]


@dataclass(frozen=True, eq=False, repr=False)
class RankerComparison(TableMixin):
    """Means and differences of rankers; returned by `compare_rankers`.

    It prints as two tables: the mean of each ranker, and a row for each pair: ranker and baseline
    (a and b), difference, low and high (its interval), p_value and p_holm, effect, and in how many
    queries a is better, equal, worse. ``to_frame()`` is the table of pairs.

    Attributes
    ----------
    measure : str
        What was measured.
    names : list of str
        The rankers.
    qid : ndarray of shape (n_queries,)
        Ids of the queries that were compared; those on which the measure is undefined are not
        among them. With a judge, only queries with human labels.
    values : ndarray of shape (n_queries, n_rankers)
        The measure of each ranker on each query, greater is better.
    means : MeanIntervals
        The mean of each ranker over the queries with its interval, and the number of queries that
        were skipped. Prints as a table.
    pairs : list of tuple (int, int)
        The pairs (a, b) that are compared, as places in `names`.
    difference : ndarray of shape (n_pairs,)
        Mean difference a - b of each pair. A judge has another weight in each, so that it is not
        exactly the difference of the means.
    interval : ndarray of shape (n_pairs, 2)
        Confidence interval of the mean difference a - b, for each pair, not simultaneous.
    p_value : ndarray of shape (n_pairs,)
        p value of the paired randomisation test: a and b are exchangeable in every query. With a
        judge, p value of a t test.
    p_adjusted : ndarray of shape (n_pairs,)
        p values after Holm's correction for all pairs.
    confidence_level : float
        Of the intervals.
    method : str
        Kind of bootstrap, or "prediction-powered".

    Examples
    --------
    >>> from lowrank_rank import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [2, 1, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="precision@1", random_state=0)
    >>> found.mean.tolist(), found.differences[:, 0].tolist()
    ([1.0, 0.3333333333333333], [0.0, 1.0, 1.0])
    >>> found.to_frame()[["ranker", "baseline", "difference", "better", "worse"]].round(3)
      ranker baseline  difference  better  worse
    0    new      old       0.667       2      0
    """

    measure: str
    names: list
    qid: np.ndarray
    values: np.ndarray
    means: MeanIntervals
    pairs: list
    difference: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    confidence_level: float
    method: str

    @property
    def mean(self) -> np.ndarray:
        """The mean of each ranker, shape (n_rankers,)."""
        return self.means.mean

    @property
    def n_undefined(self) -> int:
        """Number of queries that were skipped, because the measure is undefined on them."""
        return int(self.means.n_undefined[0])

    @property
    def differences(self) -> np.ndarray:
        """Differences a - b of each pair in each query, shape (n_queries, n_pairs)."""
        first, second = _of_pairs(self.pairs)
        return self.values[:, first] - self.values[:, second]

    @property
    def effect(self) -> np.ndarray:
        """Mean difference of each pair in standard deviations of a query's, shape (n_pairs,).

        0 where no query differs, infinite where all differ alike.
        """
        differences = self.differences
        mean, spread = self.difference, differences.std(axis=0, ddof=1)
        infinite = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
        return np.divide(mean, spread, out=infinite, where=np.ptp(differences, axis=0) > 0)

    def _columns(self):
        differences = self.differences
        named = np.array(self.names, dtype=object)
        first, second = _of_pairs(self.pairs)
        return {
            "ranker": named[first],
            "baseline": named[second],
            "difference": self.difference,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "p_value": self.p_value,
            "p_holm": self.p_adjusted,
            "effect": self.effect,
            "better": (differences > 0).sum(axis=0),
            "equal": (differences == 0).sum(axis=0),
            "worse": (differences < 0).sum(axis=0),
        }

    def _heading(self):
        return f"{self.measure}, means and differences with {self.confidence_level:.0%} intervals"

    def __repr__(self) -> str:
        tables = [f"{self._heading()}\n{self.means!r}", super().__repr__()]
        return "\n\n".join(tables[: 1 + len(self.pairs)])

    def _repr_html_(self) -> str:
        tables = [self.means._repr_html_(), super()._repr_html_()]
        return "".join([f"<p>{escape(self._heading())}</p>", *tables[: 1 + len(self.pairs)]])


def _of_pairs(pairs):
    """The first rankers of the pairs, and the second ones."""
    return np.reshape(pairs, (-1, 2)).T.astype(int)


def compare_rankers(
    y_true: Any,
    rankers: dict,
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = "ndcg@10",
    judge: Any = None,
    baseline: str | None = None,
    confidence_level: float = 0.95,
    method: str = "expanded",
    n_resamples: int = 9999,
    zero_division: float = np.nan,
    random_state: Any = None,
) -> RankerComparison:
    """Measure rankers on the same queries, and compare them with paired intervals.

    The interval of each mean is Student's, as `mean_intervals` gives it. The measure of each ranker
    is taken query by query. The interval of a mean difference is a paired cluster bootstrap's:
    whole queries are drawn with replacement, the same for both rankers (`scipy.stats.bootstrap`).
    The p value comes from the paired randomisation test: if the rankers were exchangeable, the
    difference of each query could have the other sign. All 2**n_queries signs are tried if these
    are at most `n_resamples`, else `n_resamples` random ones. Holm's correction keeps the
    probability of any false finding among all pairs at the level of a single test.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r), or judgements
        Labels of queries that no ranker was fitted on; a `ranking_target` carries its qid. With
        a judge, NaN in all rows of the queries without human labels. Or judgements (qrels) of
        documents: a dict, frame, path or ranx.Qrels as in `evaluate_run`.
    rankers : dict of str to array-like, fitted estimator or run
        Scores of the rows, or models that score `X` as `make_ranking_scorer` does. With judgements,
        runs of systems: dicts, frames, paths or ranx.Run. A query counts if any run has it; a run
        without it has retrieved nothing, which is counted (n_unanswered) and warned of. One ranker
        has a mean and no difference.
    X : array-like or sparse matrix of shape (n_rows, n_features) or None, default=None
        Needed for models. Not with judgements.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row. Not with judgements.
    measure : str or RankingMeasure, default="ndcg@10"
        Greater is better.
    judge : array-like of the shape of y_true, judgements or None, default=None
        Labels of all rows (judgements of all queries) by a judge, such as a language model. People
        label a random part of the queries only, and `mean_intervals` gives the intervals, with
        folds in the order of the queries. Nothing is drawn: `method` and `n_resamples` must keep
        their defaults. `zero_division` must be a number.
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
        Value of an undefined query; nan skips it. Human and judge can leave different queries
        undefined, so that with a judge skipping them would bias the means.
    random_state : int, RandomState or None, default=None
        Of the draws.

    Returns
    -------
    RankerComparison
        See `RankerComparison`. Prints as a table, with ``to_frame()``;
        `plotting.RankerComparisonDisplay` draws it.

    Raises
    ------
    ValueError
        If there is no ranker, or fewer than two queries, models come without X, or labels,
        scores and ids do not fit, or a run shares no query or no document with the judgements.
        With a judge, if a query has human labels in some rows only, or if fewer than five queries
        have them, or fewer than two have none.

    See Also
    --------
    per_query : The measures of one ranker on each query.
    mean_intervals : Means of any values, also of human and judged ones.

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

    >>> from lowrank_rank import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [1, 2, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="mrr", random_state=0)
    >>> found.mean.tolist(), found.p_value.tolist()
    ([1.0, 0.5], [0.25])

    The old ranker is right in every second of 100 queries. People label ten of them, and a judge
    that agrees with them labels all:

    >>> import numpy as np
    >>> judge = np.tile([1.0, 0.0], (100, 1))
    >>> people = np.where(np.arange(100)[:, np.newaxis] < 10, judge, np.nan)
    >>> scores = {"new": judge, "old": np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))}
    >>> params = {"measure": "precision@1", "zero_division": 0}
    >>> compare_rankers(people, scores, judge=judge, **params).interval.round(2)
    array([[0.39, 0.61]])

    By the ten queries alone it is from 0.12 to 0.88.
    """
    check_parameter("confidence_level", confidence_level, [number(above=0, below=1)])
    check_parameter("method", method, METHODS)
    check_parameter("n_resamples", n_resamples, [count()])
    check_parameter("random_state", random_state, [random_state_rule])
    resolved = resolve_measure(measure)
    pairs = _pairs_of(rankers, baseline)
    options = method, n_resamples, zero_division
    read = _values_of(y_true, judge, rankers, X, qid, resolved, options)
    ids, values, by_judge, kept, unanswered = read
    if judge is not None:
        given = values[kept], by_judge[kept], by_judge[~kept]
    else:
        kept = ~np.isnan(values).any(axis=1)
        if kept.sum() < 2:
            raise ValueError(
                f"{resolved!r} is defined on {kept.sum()} of {len(values)} queries: at least "
                "two are needed. Give qid, the query of each row, or a zero_division."
            )
        given = values[kept], None, None
    found = _compared(given, pairs, confidence_level, method, n_resamples, random_state)
    if judge is None:  # the means tell how many queries are undefined
        given = np.where(kept[:, np.newaxis], values, np.nan), None, None
    h, j, others = given
    means = mean_intervals(h, judge=j, judge_unlabelled=others, confidence_level=confidence_level)
    return RankerComparison(
        measure=measure if isinstance(measure, str) else repr(measure),
        names=list(rankers),
        qid=(np.arange(len(values)) if ids is None else ids)[kept],
        values=values[kept],
        means=replace(means, names=list(rankers), n_unanswered=unanswered),
        pairs=pairs,
        p_adjusted=holm(found["p_value"]),
        confidence_level=float(confidence_level),
        method=method if judge is None else "prediction-powered",
        **found,
    )


def _pairs_of(rankers, baseline):
    if not isinstance(rankers, dict) or not rankers:
        raise ValueError(
            "rankers must be a dict from names to scores, fitted models or runs, as in "
            "{'new': scores, 'old': other_scores}."
        )
    names = list(rankers)
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in rankers:
        raise ValueError(f"baseline {baseline!r} is not one of the rankers, {names}.")
    place = names.index(baseline)
    return [(i, place) for i in range(len(names)) if i != place]


def _values_of(y_true, judge, rankers, X, qid, measure, options):
    """Ids of the queries, values by people and by the judge, and which queries people judged."""
    method, n_resamples, zero_division = options
    are_runs = is_judgements(y_true) or is_judgements(judge)
    scores = {f"rankers[{name!r}]": one for name, one in rankers.items() if not _is_model(one)}
    if not are_runs:
        _check_no_ids(y_true=y_true, judge=judge, **scores)
        check_same_columns(y_true=y_true, judge=judge)
    if judge is not None and (method, n_resamples) != ("expanded", 9999):
        raise ValueError(
            f"method={method!r} and n_resamples={n_resamples} are for the bootstrap, but "
            "the intervals with judge= are Student's: omit both."
        )
    if judge is not None and np.isnan(check_zero_division(zero_division)):
        raise ValueError(
            "With judge=, zero_division must be a number, such as 0: human and judge can leave "
            "different queries undefined, and skipping them would bias the means."
        )
    if are_runs:
        if X is not None or qid is not None:
            raise ValueError("Runs and judgements carry their queries: leave out X and qid.")
        return _of_runs(y_true, judge, rankers, measure, zero_division)
    check_same_index(y_true=y_true, judge=judge, qid=qid, X=X, **scores)
    y_true, qid = split_target(y_true, qid)
    # Rows of a matrix are numbered.
    ids = None if qid is None else lists_of(np.zeros(len(y_true)), qid, "y_true").ids
    asked = rankers, X, qid, measure, zero_division
    if judge is None:
        return ids, _values_by(y_true, *asked), None, None, None
    y_true, judge, kept = _with_judge(y_true, judge, qid)
    return ids, _values_by(y_true, *asked), _values_by(judge, *asked), kept, None


def _is_model(ranker):
    return hasattr(ranker, "fit") or hasattr(ranker, "predict")


def _check_no_ids(**tables):
    """Refuse frames of labels or scores with a column of ids."""
    for name, table in tables.items():
        names = column_names(table) if hasattr(table, "columns") else []
        if found := [column for column in names if str(column).lower() in IDS]:
            raise ValueError(
                f"{name} has a column {found[0]!r} of ids, and is read neither as labels or scores "
                f"nor as judgements or a run. Give the column of values alone, {name}['...'], with "
                "its query ids in qid=; or judgements and runs with the columns 'qid', 'docno' and "
                f"'relevance' or 'score', {name}.rename(columns={{{found[0]!r}: ...}})."
            )


def _of_runs(qrels, judge, rankers, measure, zero_division):
    """`_values_of` judgements and runs."""
    human = read_mapping(qrels, RELEVANCE, "y_true")
    by_judge = None if judge is None else read_mapping(judge, RELEVANCE, "judge")
    if by_judge is not None and (missing := sorted(human.keys() - by_judge.keys())):
        raise ValueError(f"judge has no query {missing[0]!r}: it must label all queries.")
    for q, documents in (by_judge or {}).items():
        if q in human and (n_missing := len(documents.keys() - human[q].keys())):
            raise ValueError(
                f"y_true lacks {n_missing} of the {len(documents)} documents that the judge has "
                f"in query {q!r}: people must judge all of them or none, or drop these from judge."
            )
    runs = {name: read_mapping(run, SCORE, f"rankers[{name!r}]") for name, run in rankers.items()}
    asked = by_judge or human
    queries = [q for q in asked if any(q in run for run in runs.values())]
    unanswered = [check_ids(run, asked, f"The run {n!r}", queries) for n, run in runs.items()]
    if len(queries) < len(asked):
        left_out = next(q for q in asked if q not in set(queries))
        warn(
            f"The runs lack {len(asked) - len(queries)} of {len(asked)} judged queries, such as "
            f"{left_out!r}, all of them: these are left out, and evaluate_run counts them."
        )

    def values(labels):
        columns = (values_of_run(run, labels, queries, {"": measure})[""] for run in runs.values())
        table = np.column_stack([*columns])
        return np.where(np.isnan(table), check_zero_division(zero_division), table)

    ids, kept = np.array(queries, dtype=object), np.array([q in human for q in queries])
    return ids, values(human), by_judge and values(by_judge), kept, np.array(unanswered)


def _values_by(y, rankers, X, qid, measure, zero_division):
    """The measure of each ranker by these labels, shape (n_queries, n_rankers)."""
    columns = []
    for name, ranker in rankers.items():
        labels, scores, ids = y, ranker, qid
        if _is_model(ranker):
            if X is None:
                raise ValueError(f"The ranker {name!r} is a model: give X, the rows to score.")
            labels, scores, ids = RankingScorer(measure).labels_and_scores(ranker, X, y, qid)
        options = {"average": None, "zero_division": zero_division}
        columns.append(measure.measure(labels, scores, qid=ids, **options))
    return np.column_stack(columns)


# A judge ----------------------------------------------------------------------------


def _with_judge(y_true, judge, qid):
    """Labels with the judge's where people gave none, the judge's, and which lists are human."""
    judge, _ = split_target(judge, qid)
    y, judge = read_labels(y_true, "y_true"), read_labels(judge, "judge")
    if y.shape != judge.shape:
        raise ValueError(
            f"y_true has the shape {y.shape}, and judge {judge.shape}: they must be equal."
        )
    missing, unjudged = (np.isnan(v).reshape(len(v), -1).all(axis=1) for v in (y, judge))
    if unjudged.any():
        raise ValueError(f"judge is NaN in row {np.argmax(unjudged)}: it must label all rows.")
    lists = lists_of(y, qid, "y_true")
    list_of_row = lists.codes if y.ndim == 1 else np.arange(len(y))
    lengths, n_missing = np.bincount(list_of_row), np.bincount(list_of_row, missing)
    if np.any(cut := (n_missing > 0) & (n_missing < lengths)):
        place = int(np.argmax(cut))
        raise ValueError(
            f"y_true has NaN in {n_missing[place]:.0f} of {lengths[place]} rows of query "
            f"{plain(place if lists.ids is None else lists.ids[place])!r}: people must label "
            "all rows of a query or none."
        )
    by_judge = (n_missing == lengths)[list_of_row]
    y = y.copy()
    y[by_judge] = judge[by_judge]
    return y, judge, n_missing < lengths


# Statistics -------------------------------------------------------------------------


def _compared(given, pairs, confidence_level, method, n_resamples, random_state):
    """Differences, intervals and p values of pairs: by Student's t with a judge, else resampled."""
    if not pairs:
        return {"difference": np.empty(0), "interval": np.empty((0, 2)), "p_value": np.empty(0)}
    first, second = _of_pairs(pairs)
    of_pairs: Any = (None if one is None else one[:, first] - one[:, second] for one in given)
    h, j, others = of_pairs
    if j is not None:
        found = mean_intervals(
            h, judge=j, judge_unlabelled=others, confidence_level=confidence_level
        )
        return {"difference": found.mean, "interval": found.interval, "p_value": found.p_value}
    rng = check_random_state(random_state)
    return {
        "difference": h.T.mean(axis=1),
        "interval": mean_interval(h.T, confidence_level, method, n_resamples, rng),
        "p_value": sign_flip_p_value(h.T, n_resamples, rng),
    }


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
