"""Rankers compared on the same queries: paired intervals, paired tests, ranks, Holm's correction.

The unit is the query: measures are means over queries, the documents of a query are not
independent, and two rankers share what makes a query hard. So differences are taken
query by query. Nothing is drawn at random.
"""

from dataclasses import dataclass, replace
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import stats

from .._arrays import ArrayLike, MatrixLike, check_same_columns, check_same_index, plain
from .._labels import lists_of, read_labels, split_target
from .._parameters import LEVEL, checked
from .._tables import TableMixin
from .._warn import warn
from ..datasets._trec import (
    RELEVANCE,
    SCORE,
    check_ids,
    check_judged,
    is_judgements,
    read_mapping,
)
from ..datasets._values import check_no_ids, read_values
from ..target_losses._target_loss import check_zero_division
from ._mean_intervals import MeanIntervals, mean_intervals, student
from ._per_query import named_measures, values_of_run
from ._scorer import RankingScorer

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class RankerComparison(TableMixin):
    """Means, ranks and differences of rankers; returned by `compare_rankers`.

    It prints as two tables. The first has the means and ranks of the rankers, best
    first. The second has a row for each pair, if there are at most 15: ranker and
    baseline (a and b), difference, low and high (its interval), p_value and p_holm,
    effect, and in how many queries a is better, equal, worse. A line below says if the
    queries are too few for a small p_holm. ``to_frame()`` is the table of all pairs,
    ``means.to_frame()`` the table of rankers.

    Attributes
    ----------
    measure : str
        What was measured; "value" for a table of values.
    names : list of str
        The rankers.
    qid : ndarray of shape (n_queries,)
        Ids of the queries that were compared; those on which the measure is undefined
        are not among them. Only queries with human labels, if there is a judge.
    values : ndarray of shape (n_queries, n_rankers)
        The measure of each ranker on each query, greater is better.
    means : MeanIntervals
        The mean of each ranker over the queries with its interval, the interval of its
        rank, and the number of queries that were skipped. Prints as a table, best
        first.
    pairs : list of tuple (int, int)
        The pairs (a, b) that are compared, as places in `names`.
    difference : ndarray of shape (n_pairs,)
        Mean difference a - b of each pair. A judge has another weight in each, so that
        it is not exactly the difference of the means.
    interval : ndarray of shape (n_pairs, 2)
        Confidence interval of the mean difference a - b, for each pair, not
        simultaneous.
    p_value : ndarray of shape (n_pairs,)
        Two-sided p value of the paired t test, at least ``2**(1 - m)`` for m queries
        that differ: the probability that m signs, each + or - alike, are all the same.
    p_adjusted : ndarray of shape (n_pairs,)
        p values after Holm's correction for all pairs.
    effect : ndarray of shape (n_pairs,)
        Mean difference in standard deviations of a query's: 0 where no query differs,
        infinite where all differ alike.
    better, equal, worse : ndarray of int, shape (n_pairs,)
        Number of queries in which a is better than b, equal, worse.
    confidence_level : float
        Of the intervals.
    unit : str
        "queries", or "tasks" for a table of values.
    n_judged : int
        Number of queries that the judge labelled; 0 without a judge.

    Examples
    --------
    >>> from lowrank_rank import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [2, 1, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="precision@1")
    >>> found.mean.tolist(), found.differences[:, 0].tolist()
    ([1.0, 0.3333333333333333], [0.0, 1.0, 1.0])
    >>> found.to_frame()[["ranker", "baseline", "difference", "better", "worse"]].round(3)
      ranker baseline  difference  better  worse
    0    new      old       0.667       2      0
    """

    measure: str
    names: list[str]
    qid: np.ndarray
    values: np.ndarray
    means: MeanIntervals
    pairs: list[tuple[int, int]]
    difference: np.ndarray
    interval: np.ndarray
    p_value: np.ndarray
    p_adjusted: np.ndarray
    effect: np.ndarray
    better: np.ndarray
    equal: np.ndarray
    worse: np.ndarray
    confidence_level: float
    unit: str
    n_judged: int = 0

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
        first, second = np.reshape(self.pairs, (-1, 2)).T.astype(int)
        return self.values[:, first] - self.values[:, second]

    @property
    def tied_with_best(self) -> np.ndarray:
        """Whether no other ranker is shown to be better, shape (n_rankers,).

        The truly best ranker is among these with probability `confidence_level` or
        more.
        """
        return self.means.rank_interval[:, 0] == 1

    def _columns(self):
        (low, high), columns = self.interval.T, {"difference": self.difference}
        columns |= {
            "low": low,
            "high": high,
            "p_value": self.p_value,
            "p_holm": self.p_adjusted,
        }
        counts = {"better": self.better, "equal": self.equal, "worse": self.worse}
        first = [self.names[a] for a, _ in self.pairs]
        second = [self.names[b] for _, b in self.pairs]
        return (
            {"ranker": first, "baseline": second}
            | columns
            | {"effect": self.effect}
            | counts
        )

    def _heading(self):
        m, left_out = (
            len(self.names),
            f" ({self.n_undefined} undefined)" * bool(self.n_undefined),
        )
        families = (
            f"; Holm over {len(self.pairs)} pairs, and over {m - 1} tests for each rank"
        )
        by_people = f", {len(self.qid)} judged by people" * bool(self.n_judged)
        return (
            f"{self.measure}: {self.n_judged or len(self.qid)} {self.unit}{left_out}{by_people}, "
            f"{m} rankers, {self.confidence_level:.0%} intervals{families * (m > 1)}"
        )

    def _notes(self):
        """The lines below the tables, as one text."""
        best = [
            str(self.names[i]) for i in np.argsort(-self.mean) if self.tied_with_best[i]
        ]
        more = f" and {len(best) - 8} more" if len(best) > 8 else ""
        notes = [f"best, or tied with the best: {', '.join(best[:8])}{more}"]
        m = int((self.better + self.worse).max(initial=1))
        if (
            not self.n_judged
            and len(self.pairs) * 2.0 ** (1 - m) > 1.0 - self.confidence_level
        ):
            notes.append(
                f"{m} {self.unit} that differ: p cannot be below {2.0 ** (1 - m):.2g}"
            )
        if len(self.pairs) > 15:
            notes.append(f"{len(self.pairs)} pairs: see to_frame(), or give a baseline")
        return "\n".join(notes)

    def __repr__(self) -> str:
        pairs = [super().__repr__()] if 0 < len(self.pairs) <= 15 else []
        notes = [self._notes()] if len(self.names) > 1 else []
        return "\n\n".join([f"{self._heading()}\n{self.means!r}", *pairs, *notes])

    def _repr_html_(self) -> str:
        pairs = super()._repr_html_() if 0 < len(self.pairs) <= 15 else ""
        heading, notes = escape(self._heading()), escape(self._notes())
        return f"<p>{heading}</p>{self.means._repr_html_()}{pairs}<p>{notes}</p>"


class RankerComparisons(dict):
    """Comparisons by several measures, ``{measure: RankerComparison}``; prints each of them."""

    def __repr__(self) -> str:
        return "\n\n\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        return "".join(found._repr_html_() for found in self.values())

    def to_frame(self) -> "pandas.DataFrame":
        """Return the pairs of all measures as a DataFrame, with the measure as a column."""
        import pandas as pd  # an optional dependency

        frames = {name: found.to_frame() for name, found in self.items()}
        return (
            pd.concat(frames, names=["measure"])
            .reset_index("measure")
            .reset_index(drop=True)
        )


@checked(confidence_level=LEVEL)
def compare_rankers(
    y_true: Any,
    rankers: dict[str, Any] | None = None,
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = None,
    judge: Any = None,
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = np.nan,
) -> "RankerComparison | Any":
    """Measure rankers on the same queries, and compare them: intervals, tests, ranks.

    The input is labels and rankers, or judgements and runs, or one table of values that
    were measured before. A table has a row for each query or task and a column for each
    ranker.

    The intervals of means and of mean differences, query by query, are Student's. If
    all values are 0 or 1, a mean has Wilson's interval, and a difference has Bonett and
    Price's [1]_. The p value comes from the paired t test, and is never below ``2**(1 -
    m)`` for m queries that differ. Holm's correction [2]_ keeps the probability of any
    false finding among all pairs at the level of a single test.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r), judgements, or table
        Labels of queries that no ranker was fitted on; a `ranking_target` carries its
        qid. For a judge, NaN in all rows of the queries without human labels. Or
        judgements (qrels) of documents: a dict, frame, path or ranx.Qrels as in
        `evaluate_run`. Or, without `rankers`, a table of values: a frame or dict of
        columns, greater is better. Rows without any value are dropped.
    rankers : dict of str to array-like, fitted estimator or run, or None, default=None
        Scores of the rows, or models that score `X` as `make_ranking_scorer` does. With
        judgements, runs of systems: dicts, frames, paths or ranx.Run. A query counts if
        any run has it; a run without it has retrieved nothing, which is counted
        (n_unanswered) and warned of. One ranker has a mean and no difference. None:
        `y_true` is a table of values.
    X : array-like or sparse matrix of shape (n_rows, n_features) or None, default=None
        Needed for models. Not with judgements.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row. Not with judgements.
    measure : str, RankingMeasure, list or dict of these, or None, default=None
        Greater is better; None is "ndcg@10". A list gives a dict of comparisons. Not
        with a table.
    judge : array-like of the shape of y_true, judgements or None, default=None
        Labels of all rows (judgements of all queries) by a judge, such as a language
        model. People label a random part of the queries only, and `mean_intervals`
        gives the intervals, with folds in the order of the queries. In the queries of
        people, each document among the first k of a run that the judge labels must have
        a human label. `zero_division` must be a number.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs. Chosen as
        the best of these values, its p_holm are too small: read `tied_with_best`
        instead.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=nan
        Value of an undefined query; nan skips it. Human and judge can leave different
        queries undefined, so that with a judge skipping them would bias the means.

    Returns
    -------
    RankerComparison, or a dict of them for several measures
        See `RankerComparison`. Prints as a table, with ``to_frame()``;
        `plotting.RankerComparisonDisplay` draws it.

    Raises
    ------
    ValueError
        If there is no ranker, or fewer than two queries, models come without X, or
        labels, scores and ids do not fit, or a run shares no query or no document with
        the judgements; if a table of values has a column that holds no numbers, or one
        ranker lacks a value that others have. With a judge, if a query has human labels
        in some rows only, or if fewer than five queries have them, or fewer than two
        have none.

    See Also
    --------
    per_query : The measures of one ranker on each query.
    mean_intervals : Means of any values, also of human and judged ones.

    Notes
    -----
    An interval without 0 and a small p value say that the sign of the mean difference
    on such queries is certain, not that it matters. They do not include the variation
    between training sets: the rankers are fixed.

    Ranks: each ranker is tested against all others, for any baseline, with Holm's
    correction for its own tests. Each ranker shown to be better raises the low end of
    its interval by one, and each shown to be worse lowers the high end [3]_. The
    interval holds the true rank of this ranker at the confidence level. The rankers
    whose interval begins with 1, `tied_with_best`, contain the truly best one at this
    level. Pairs and ranks are two families of tests, and several measures are not
    corrected for.

    Student's intervals of 95 % cover .95 of NDCG with 5 queries, and less for skewed
    values and few queries. For values that are rarely not 0 a bootstrap is better (.95
    for .87): `scipy.stats.bootstrap` on the values of `per_query`.

    References
    ----------
    .. [1] D. Bonett, R. Price, "Adjusted Wald confidence interval for a difference of binomial
       proportions based on paired data", Journal of Educational and Behavioral
       Statistics 37, 2012.
    .. [2] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
       Journal of Statistics 6, 1979.
    .. [3] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for ranks with applications to
       mobility across neighbourhoods and academic achievement across countries", Review
       of Economic Studies 91, 2024.

    Examples
    --------
    Three queries, all won by "new": three signs are alike with probability 2 / 2**3.

    >>> from lowrank_rank import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [1, 2, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="mrr")
    >>> found.mean.tolist(), found.p_value.tolist()
    ([1.0, 0.5], [0.25])

    The old ranker is right in every second of 100 queries. People label ten of them,
    and a judge that agrees with them labels all:

    >>> import numpy as np
    >>> judge = np.tile([1.0, 0.0], (100, 1))
    >>> people = np.where(np.arange(100)[:, np.newaxis] < 10, judge, np.nan)
    >>> scores = {"new": judge, "old": np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))}
    >>> params = {"measure": "precision@1", "zero_division": 0}
    >>> compare_rankers(people, scores, judge=judge, **params).interval.round(2)
    array([[0.39, 0.61]])

    The ten queries alone give 0.12 to 0.88.

    Values that were measured before, of three systems in eight tasks:

    >>> values = {"a": [5, 6, 7, 8, 5, 6, 7, 8], "b": [5, 5, 7, 7, 5, 6, 7, 7]}
    >>> values["c"] = [1, 2, 2, 3, 1, 2, 4, 4]
    >>> compare_rankers(values).tied_with_best.tolist()
    [True, True, False]
    """
    if rankers is None:
        unused = {"X": X, "qid": qid, "measure": measure, "judge": judge}
        names, ids, table = read_values(y_true, unused)
        read = QueryValues(ids, {"value": table})
    else:
        if not isinstance(rankers, dict) or not rankers:
            raise ValueError(
                "rankers must be a dict from names to scores, fitted models or runs: {'new': ...}."
            )
        names = list(rankers)
        measures = named_measures("ndcg@10" if measure is None else measure)
        read = _values_of(y_true, judge, rankers, X, qid, measures, zero_division)
    pairs, unit = _pairs_of(names, baseline), "tasks" if rankers is None else "queries"
    found = RankerComparisons(
        (m, _comparison(m, names, pairs, confidence_level, unit, read))
        for m in read.by_people
    )
    return found if isinstance(measure, list | tuple | dict) else found.popitem()[1]


def _pairs_of(names, baseline):
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    if baseline not in names:
        raise ValueError(f"baseline {baseline!r} is not one of the rankers, {names}.")
    place = names.index(baseline)
    return [(i, place) for i in range(len(names)) if i != place]


def _comparison(measure, names, pairs, confidence_level, unit, read):
    """The comparison of the values by one measure."""
    values, by_judge = read.by_people[measure], read.by_judge.get(measure)
    kept = ~np.isnan(values).any(axis=1) if by_judge is None else read.is_human
    j, others = (None, None) if by_judge is None else (by_judge[kept], by_judge[~kept])
    if by_judge is None and kept.sum() < 2:
        remedy = "a zero_division" if len(values) > 1 else "qid, the query of each row"
        raise ValueError(
            f"{measure} is defined on {kept.sum()} of {len(values)} {unit}: at least two are "
            f"needed. Give {remedy}."
        )
    # The means count the undefined queries.
    h = (
        np.where(kept[:, np.newaxis], values, np.nan)
        if by_judge is None
        else values[kept]
    )
    means = mean_intervals(
        h, judge=j, judge_unlabelled=others, confidence_level=confidence_level
    )
    of_all = _paired(values[kept], j, others, confidence_level)
    ranks = _rank_intervals(of_all, 1.0 - confidence_level)
    first, second = np.reshape(pairs, (-1, 2)).T.astype(int)
    found = {name: matrix[first, second] for name, matrix in of_all.items()}
    means = replace(
        means, names=names, rank_interval=ranks, n_unanswered=read.n_unanswered
    )
    ids = (np.arange(len(values)) if read.ids is None else read.ids)[kept]
    found |= {
        "p_adjusted": holm(found["p_value"]),
        "confidence_level": float(confidence_level),
    }
    found |= {"unit": unit, "n_judged": 0 if by_judge is None else len(by_judge)}
    return RankerComparison(measure, names, ids, values[kept], means, pairs, **found)


# Scores and runs ------------------------------------------------------------


class QueryValues(NamedTuple):
    """Values of all rankers on each query.

    Attributes
    ----------
    ids : ndarray of shape (n_queries,) or None
    by_people, by_judge : dict from measures to ndarray of shape (n_queries, n_rankers)
        Values by the labels of people, the judge's where they gave none; and by the
        judge's.
    is_human : ndarray of bool, shape (n_queries,), or None without a judge
        Whether people labelled the query.
    n_unanswered : ndarray of int, shape (n_rankers,), or None
        Number of queries that a run lacks.
    """

    ids: Any
    by_people: dict
    by_judge: dict = {}  # noqa: RUF012
    is_human: Any = None
    n_unanswered: Any = None


def _values_of(y_true, judge, rankers, X, qid, measures, zero_division):
    """`QueryValues` of scores, fitted models or runs."""
    are_runs = is_judgements(y_true) or is_judgements(judge)
    scores = {
        f"rankers[{name!r}]": one for name, one in rankers.items() if not _is_model(one)
    }
    if not are_runs:
        check_no_ids(y_true=y_true, judge=judge, **scores)
        check_same_columns(y_true=y_true, judge=judge)
    if judge is not None and np.isnan(check_zero_division(zero_division)):
        raise ValueError(
            "With judge=, zero_division must be a number, such as 0: human and judge can leave "
            "different queries undefined, and skipping them would bias the means."
        )
    if are_runs:
        if X is not None or qid is not None:
            raise ValueError(
                "Runs and judgements carry their queries: leave out X and qid."
            )
        return _of_runs(y_true, judge, rankers, measures, zero_division)
    check_same_index(y_true=y_true, judge=judge, qid=qid, X=X, **scores)
    y_true, qid = split_target(y_true, qid)
    # Rows of a matrix are numbered.
    ids = None if qid is None else lists_of(np.zeros(len(y_true)), qid, "y_true").ids
    asked = rankers, X, qid, measures, zero_division
    if judge is None:
        return QueryValues(ids, _values_by(y_true, *asked))
    y_true, judge, is_human = _with_judge(y_true, judge, qid)
    return QueryValues(
        ids, _values_by(y_true, *asked), _values_by(judge, *asked), is_human
    )


def _is_model(ranker):
    return hasattr(ranker, "fit") or hasattr(ranker, "predict")


def _of_runs(qrels, judge, rankers, measures, zero_division):
    """`_values_of` judgements and runs."""
    human = read_mapping(qrels, RELEVANCE, "y_true")
    by_judge = None if judge is None else read_mapping(judge, RELEVANCE, "judge")
    if by_judge is not None and (missing := sorted(human.keys() - by_judge.keys())):
        raise ValueError(
            f"judge has no query {missing[0]!r}: it must label all queries."
        )
    runs = {
        name: read_mapping(run, SCORE, f"rankers[{name!r}]")
        for name, run in rankers.items()
    }
    asked = by_judge or human
    queries = [q for q in asked if any(q in run for run in runs.values())]
    check_judged(human, by_judge, runs, measures)
    unanswered = [
        check_ids(run, asked, f"The run {n!r}", queries) for n, run in runs.items()
    ]
    if len(queries) < len(asked):
        left_out = next(q for q in asked if q not in set(queries))
        warn(
            f"The runs lack {len(asked) - len(queries)} of {len(asked)} judged queries, such as "
            f"{left_out!r}, all of them: these are left out, and evaluate_run counts them."
        )
    fallback, is_human = (
        check_zero_division(zero_division),
        np.array([q in human for q in queries]),
    )

    def values(labels):
        found = [values_of_run(run, labels, queries, measures) for run in runs.values()]
        tables = {m: np.column_stack([values[m] for values in found]) for m in measures}
        return {
            m: np.where(np.isnan(table), fallback, table) for m, table in tables.items()
        }

    of_judge = values(by_judge) if by_judge else {}
    ids = np.array(queries, dtype=object)
    return QueryValues(ids, values(human), of_judge, is_human, np.array(unanswered))


def _values_by(y, rankers, X, qid, measures, zero_division):
    """By measure, the values of each ranker by these labels, shape (n_queries, n_rankers)."""
    columns: dict = {name: [] for name in measures}
    options = {"average": None, "zero_division": zero_division}
    for name, ranker in rankers.items():
        labels, scores, ids = y, ranker, qid
        if _is_model(ranker):
            if X is None:
                raise ValueError(
                    f"The ranker {name!r} is a model: give X, the rows to score."
                )
            labels, scores, ids = RankingScorer(measures).labels_and_scores(
                ranker, X, y, qid
            )
        for m, measure in measures.items():
            try:
                columns[m].append(measure.measure(labels, scores, qid=ids, **options))
            except ValueError as error:
                raise ValueError(f"rankers[{name!r}]: {error}") from error
    return {m: np.column_stack(of_rankers) for m, of_rankers in columns.items()}


# A judge ----------------------------------------------------------------------------


def _with_judge(y_true, judge, qid):
    """Labels with the judge's where people gave none, the judge's, and which lists are human."""
    judge, _ = split_target(judge, qid)
    y, judge = read_labels(y_true, "y_true"), read_labels(judge, "judge")
    if y.shape != judge.shape:
        raise ValueError(
            f"y_true has the shape {y.shape}, and judge {judge.shape}: they must be equal."
        )
    missing, unjudged = (
        np.isnan(v).reshape(len(v), -1).all(axis=1) for v in (y, judge)
    )
    if unjudged.any():
        raise ValueError(
            f"judge is NaN in row {np.argmax(unjudged)}: it must label all rows."
        )
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


def _paired(h, j, others, confidence_level):
    """Statistics of the differences a - b of all rankers, matrices (n_rankers, n_rankers)."""
    (n, m), h = h.shape, np.ascontiguousarray(h.T)
    # Smaller differences are rounding errors of sums over documents.
    rounding = 1e-12 * np.abs(h).max()
    mean, spread, error = np.zeros((3, m, m))
    better = np.zeros((m, m), dtype=int)
    for a in range(m):
        d = h[a] - h
        d[np.abs(d) <= rounding] = 0.0
        better[a], mean[a], spread[a] = (
            (d > 0).sum(axis=1),
            d.mean(axis=1),
            d.std(axis=1, ddof=1),
        )
        if j is not None:
            by_judge = {
                "judge": j[:, [a]] - j,
                "judge_unlabelled": others[:, [a]] - others,
            }
            powered = mean_intervals(d.T, **by_judge)
            mean[a], error[a] = powered.mean, powered.standard_error
    worse = better.T
    spread[spread <= rounding] = 0.0
    error = spread / np.sqrt(n) if j is None else error
    interval, p_value = student(mean, error, n, confidence_level)
    if j is None:
        p_value = np.maximum(p_value, np.minimum(np.exp2(1.0 - better - worse), 1.0))
        is_binary = ((h == 0) | (h == 1)).all(axis=1)
        both = is_binary & is_binary[:, np.newaxis]
        interval[both] = bonett_price(better, worse, n, confidence_level)[both]
    infinite = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
    effect = np.divide(mean, spread, out=infinite, where=spread > 0)
    found = {
        "difference": mean,
        "interval": interval,
        "p_value": p_value,
        "effect": effect,
    }
    return found | {"better": better, "equal": n - better - worse, "worse": worse}


def bonett_price(better, worse, n, confidence_level):
    """Intervals of differences of paired fractions: as if each ranker had won once more."""
    mean = (better - worse) / (n + 2)
    error = np.sqrt(((better + worse + 2) / (n + 2) - mean**2) / (n + 2))
    half = stats.norm.ppf(0.5 + confidence_level / 2.0) * error
    return np.clip(np.stack([mean - half, mean + half], axis=-1), -1.0, 1.0)


def _rank_intervals(of_all, level):
    """Lowest and highest rank of each ranker, by its tests against all others."""
    p_values, m = of_all["p_value"], len(of_all["p_value"])
    adjusted, others = np.ones((m, m)), ~np.eye(m, dtype=bool)
    adjusted[others] = holm(p_values[others].reshape(m, m - 1)).ravel()
    sign = np.where(adjusted <= level, np.sign(of_all["difference"]), 0)
    return np.column_stack([1 + (sign < 0).sum(axis=1), m - (sign > 0).sum(axis=1)])


def holm(p_values):
    """p values after Holm's correction of each row: the i-th smallest of m times m - i + 1."""
    order, m = np.argsort(p_values, axis=-1), np.shape(p_values)[-1]
    in_order = np.take_along_axis(p_values, order, axis=-1) * np.arange(m, 0, -1)
    adjusted = np.minimum(np.maximum.accumulate(in_order, axis=-1), 1.0)
    return np.take_along_axis(adjusted, np.argsort(order, axis=-1), axis=-1)
