"""Rankers compared on the same queries: paired intervals and tests, ranks.

The unit is the query: measures are means over queries, the documents of a query are not
independent, and two rankers share what makes a query hard. So differences are taken
query by query. Nothing is drawn at random.
"""

from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from .._tables import TableMixin
from ..datasets._trec import is_judgements
from ..datasets._values import read_values
from ..target_losses._target_loss import check_zero_division
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_COMPARED, CHECKS_OF_RANKED
from ..validation._findings import Finding, findings_so_far, found
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, checked, label
from ._judged import compare_judged, warning_of_undecided
from ._mean_intervals import MeanIntervals, mean_intervals
from ._paired_differences import holm, paired_statistics, rank_intervals
from ._per_query import named_measures
from ._query_values import QueryValues, measure_rankers
from ._query_weights import Units

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class RankerComparison(TableMixin):
    """Means, ranks and differences of rankers; returned by `compare_rankers`.

    It prints as two tables. The first has the means and ranks of the rankers, best
    first. The second has a row for each pair, if there are at most 15: ranker and
    baseline (a and b), difference, low and high (its interval), p_value and p_holm,
    effect, and in how many queries a is better, equal, worse. A line below says if too
    few queries differ for a small p value, and how many are needed. ``to_frame()`` is
    the table of all pairs, ``means.to_frame()`` the table of rankers.

    Attributes
    ----------
    measure : str
        What was measured; "value" for a table of values.
    names : list of str
        The rankers.
    qid : ndarray of shape (n_queries,)
        Ids of the queries that were compared; those on which the measure is undefined
        are not among them. Only queries with human labels, if there is a judge. If
        there are groups, the names of the families.
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
        Two-sided p value of the paired t test, at least `smallest_p`. With a judge that
        is used, that of its interval.
    smallest_p : ndarray of shape (n_pairs,)
        ``2**(1 - m)`` for m queries that differ: the probability that m signs, each +
        or - alike, are all the same. With weights, m is the effective number of these
        queries. 0 with a judge that is used, and with ``anytime=True``.
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
        "queries", "tasks" for a table of values, or "families" if there are groups.
    n_judged : int
        Number of queries that the judge labelled; 0 without a judge.
    anytime : bool
        Whether intervals and p values hold at every look.
    unjudged : str
        The warning that some pairs have no verdict, because their unjudged documents
        could change it, or "". The interval and the p values of such a pair are nan.
    findings : tuple of Finding
        What the rules found, as in the warnings of the call: each has a `rule`, a
        `sentence` and a `category`.

    Examples
    --------
    >>> from lowrank_rank import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [2, 1, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="precision@1")
    >>> found.mean.tolist(), found.differences[:, 0].tolist()
    ([1.0, 0.3333333333333333], [0.0, 1.0, 1.0])
    >>> columns = ["ranker", "baseline", "difference", "better", "worse"]
    >>> found.to_frame()[columns].round(3)
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
    smallest_p: np.ndarray
    p_adjusted: np.ndarray
    effect: np.ndarray
    better: np.ndarray
    equal: np.ndarray
    worse: np.ndarray
    confidence_level: float
    unit: str
    n_judged: int = 0
    anytime: bool = False
    unjudged: str = ""
    findings: tuple[Finding, ...] = ()

    @property
    def mean(self) -> np.ndarray:
        """The mean of each ranker, shape (n_rankers,)."""
        return self.means.mean

    @property
    def n_undefined(self) -> int:
        """Number of queries that were skipped: the measure is undefined on them."""
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
        return {
            "ranker": [self.names[a] for a, _ in self.pairs],
            "baseline": [self.names[b] for _, b in self.pairs],
            "difference": self.difference,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "p_value": self.p_value,
            "p_holm": self.p_adjusted,
            "effect": self.effect,
            "better": self.better,
            "equal": self.equal,
            "worse": self.worse,
        }

    def _heading(self):
        """Return the line above the tables."""
        m = len(self.names)
        n_queries = self.n_judged or len(self.qid)
        heading = f"{self.measure}: {n_queries} {self.unit}"
        if self.n_undefined and self.unit == "families":
            heading += f" ({self.n_undefined} queries undefined)"
        elif self.n_undefined:
            heading += f" ({self.n_undefined} undefined)"
        if self.means.n_effective is not None:
            heading += f", weighted (as precise as {self.means.n_effective[0]:.3g})"
        if self.n_judged:
            heading += f", {len(self.qid)} judged by people"
        heading += f", {m} rankers, {100 * self.confidence_level:g}% intervals"
        if self.anytime:
            heading += " valid at every look"
        if m > 1:
            heading += (
                f"; Holm over {len(self.pairs)} pairs, and over {m - 1} tests for each "
                "rank"
            )
        if self.measure == "value":
            heading += "; greater is better"
        return heading

    def _notes(self):
        """Return the lines below the tables, as one text."""
        notes = []
        if len(self.names) > 1:
            order = np.argsort(-self.mean)
            best = [str(self.names[i]) for i in order if self.tied_with_best[i]]
            note = f"best, or tied with the best: {', '.join(best[:8])}"
            if len(best) > 8:
                note += f" and {len(best) - 8} more"
            notes.append(note)
        if self.pairs:
            notes += self._note_on_few()
        if not self._has_few_pairs:
            notes.append(f"{len(self.pairs)} pairs: see to_frame(), or give a baseline")
        if self.unjudged:
            notes.append(self.unjudged)
        is_of_runs = self.means.n_unanswered is not None
        if is_of_runs and self.means.judged is None and not self.n_judged:
            notes.append(
                "judged@k is unknown: these judgements hold relevant documents alone, "
                "and all others count as not relevant"
            )
        return "\n".join(notes)

    def _note_on_few(self):
        """Return a line if too few queries differ for a small p value, or no line."""
        level = 1.0 - self.confidence_level
        n_pairs = len(self.pairs)
        pair = int(np.argmin(self.smallest_p))
        smallest_p = self.smallest_p[pair]
        if n_pairs * smallest_p > level:
            n_different = self.better[pair] + self.worse[pair]
            weighted = "" if self.means.n_effective is None else "weighted "
            line = (
                f"{n_different} {weighted}{self.unit} that differ: p cannot be below "
                f"{smallest_p:.2g}, {_n_needed(level / n_pairs)} are needed"
            )
            if n_pairs > 1:
                line += f" for {n_pairs} pairs"
            if self.unit == "tasks" and len(self.names) >= 10 * len(self.qid):
                line += ". Columns are rankers, rows are tasks: did you mean table.T?"
            return [line]
        n_few = int(np.sum(self.smallest_p > level))
        if n_few:
            return [
                f"{n_few} of {n_pairs} pairs differ in too few {self.unit} for p <= "
                f"{level:.2g}: {_n_needed(level)} are needed"
            ]
        return []

    @property
    def _has_few_pairs(self):
        """Whether the pairs are printed, if there are any."""
        return len(self.pairs) <= 15

    def __repr__(self) -> str:
        parts = [f"{self._heading()}\n{self.means!r}"]
        if self.pairs and self._has_few_pairs:
            parts.append(super().__repr__())
        notes = self._notes()
        if notes:
            parts.append(notes)
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        pairs = ""
        if self.pairs and self._has_few_pairs:
            pairs = super()._repr_html_()
        heading = escape(self._heading())
        notes = self._notes()
        if notes:
            notes = f"<p>{escape(notes)}</p>"
        return f"<p>{heading}</p>{self.means._repr_html_()}{pairs}{notes}"


def _n_needed(level):
    """Return how many queries must differ for a p value of this level."""
    # The least m with 2**(1 - m) <= level.
    return int(np.ceil(1.0 - np.log2(level) - 1e-9))


class RankerComparisons(dict):
    """Comparisons by several measures, ``{measure: RankerComparison}``.

    It prints each of them.
    """

    def __repr__(self) -> str:
        return "\n\n\n".join(map(repr, self.values()))

    def _repr_html_(self) -> str:
        return "".join(comparison._repr_html_() for comparison in self.values())

    def to_frame(self) -> "pandas.DataFrame":
        """Return the pairs of all measures as a DataFrame with a column of measures."""
        import pandas as pd  # an optional dependency

        frames = {name: comparison.to_frame() for name, comparison in self.items()}
        frame = pd.concat(frames, names=["measure"])
        return frame.reset_index("measure").reset_index(drop=True)


@checked(baseline=[label, None], confidence_level=LEVEL, anytime=[bool])
def compare_rankers(
    y_true: Any,
    rankers: dict[str, Any] | None = None,
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = None,
    judge: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = np.nan,
    anytime: bool = False,
) -> "RankerComparison | Any":
    """Measure rankers on the same queries, and compare them: intervals, tests, ranks.

    The input is labels and rankers, or judgements and runs, or one table of values that
    were measured before. A table has a row for each query or task and a column for each
    ranker.

    The intervals of means and of mean differences, query by query, are Student's. If
    all values are 0 or 1, a mean has Wilson's interval, and a difference has Bonett and
    Price's [1]_, as if each ranker had won one more query. The p value comes from the
    paired t test, and is never below ``2**(1 - m)`` for m queries that differ. If this
    is above ``1 - confidence_level`` (five or fewer, for 95 %), the interval is Bonett
    and Price's with wins by the range of all values of both rankers, and holds 0.
    Holm's correction [2]_ keeps the probability of any false finding among all pairs at
    the level of a single test.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r), \
judgements, or table
        Labels of queries that no ranker was fitted on; a `ranking_target` carries its
        qid. NaN in a matrix leaves the item out. For a judge, NaN in all rows of the
        queries without human labels. Or judgements (qrels) of documents: a dict, frame,
        path or ranx.Qrels as in `evaluate_run`. Or, without `rankers`, a table of
        values: a frame or dict of columns, greater is better. Rows without any value
        are dropped. Ids and row numbers are the index of a frame: columns "task_id" or
        "index" are refused.
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
        gives the intervals and p values, with folds in the order of the queries, and
        with the two pairs added also if few queries differ by human labels. In the
        queries of people, each document among the first k of a run that the judge
        labels must have a human label. `zero_division` must be a number.
    groups : array-like of shape (n_queries,), Series, dict or None, default=None
        Family of each query, such as the document that several questions are about, or
        the task of several runs. The values are averaged within each family first, and
        families are compared. One value for each query, in the order of first
        appearance, or a Series or dict by query id; for runs by query id only. Not with
        a judge.
    sample_weight : array-like of shape (n_queries,), Series, dict or None, default=None
        Weight >= 0 of each query, such as its traffic, given as `groups`. Means and
        differences are weighted means. The weight of a family is the mean weight of its
        queries. Not with a judge.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs. Chosen as
        the best of these values, its p_holm are too small: read `tied_with_best`
        instead.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=nan
        Value of an undefined query; nan skips it. Human and judge can leave different
        queries undefined, so that with a judge skipping them would bias the means.
    anytime : bool, default=False
        Whether intervals, p values and ranks hold at every look, however often one
        looks while queries are added at the end, as in `mean_intervals`. The order of
        the looks is that of the queries as given, of the judgements for runs. The
        values must be in [0, 1]. Not with a judge, groups or weights.

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

    Unjudged documents of runs count as not relevant, which favours the runs that the
    judgements were made from. If the judgements name documents that are not relevant,
    the means have a column "judged@10", the judged fraction of the first 10 (k of the
    measure). Without k, as "map", it is the depth of the pool: the most first documents
    of a run that are judged in all queries, at least 10. If not, a line below the
    tables says that it is unknown. A pair has no verdict, and a warning says so, if one
    run is judged less beyond chance, and the verdict would change if the documents that
    it alone has among its first k were relevant (a difference that is not significant
    must leave its interval too). Its interval and p values are nan, and neither run is
    shown to be better.

    Student's intervals of 95 % cover .95 of NDCG with 5 queries, and .89 to .93 if
    differences of few queries are skewed to one side. In families, intervals over
    queries cover .35 to .86, and those over families .94 to .96. Weights enter by the
    effective number of queries, see `mean_intervals`.

    References
    ----------
    .. [1] D. Bonett, R. Price, "Adjusted Wald confidence interval for a difference of
       binomial proportions based on paired data", Journal of Educational and Behavioral
       Statistics 37, 2012.
    .. [2] S. Holm, "A simple sequentially rejective multiple test procedure",
       Scandinavian Journal of Statistics 6, 1979.
    .. [3] M. Mogstad, J. Romano, A. Shaikh, D. Wilhelm, "Inference for ranks with
       applications to mobility across neighbourhoods and academic achievement across
       countries", Review of Economic Studies 91, 2024.

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
    array([[0.21, 0.77]])

    The ten queries alone give 0.05 to 0.78.

    Values that were measured before, of three systems in eight tasks:

    >>> values = {"a": [5, 6, 7, 8, 5, 6, 7, 8], "b": [5, 5, 7, 7, 5, 6, 7, 7]}
    >>> values["c"] = [1, 2, 2, 3, 1, 2, 4, 4]
    >>> compare_rankers(values).tied_with_best.tolist()
    [True, True, False]

    The first four tasks are of one family, and the others are families of their own:

    >>> compare_rankers(values, groups=[0, 0, 0, 0, 1, 2, 3, 4]).unit
    'families'
    """
    table = y_true if rankers is None else None
    scores = {}
    if isinstance(rankers, dict):
        scores = {f"rankers[{name!r}]": one for name, one in rankers.items()}
    arrive(
        y_true=y_true,
        rankers=rankers,
        **scores,
        X=X,
        qid=qid,
        judge=judge,
        groups=groups,
        sample_weight=sample_weight,
    )
    are_runs = is_judgements(y_true) or is_judgements(judge)
    refuse(
        CHECKS_OF_COMPARED,
        table=table,
        table_name="y_true",
        rankers=rankers,
        X=X,
        are_runs=are_runs,
        judge=judge,
        groups=groups,
        sample_weight=sample_weight,
        fallback=check_zero_division(zero_division),
    )
    if rankers is None:
        unused = {"X": X, "qid": qid, "measure": measure, "judge": judge}
        names, ids, values = read_values(y_true, unused)
        query_values = QueryValues(
            names=names, unit="tasks", ids=ids, by_people={"value": values}, by_judge={}
        )
    else:
        measures = named_measures("ndcg@10" if measure is None else measure)
        query_values = measure_rankers(
            y_true, judge, rankers, X, qid, measures, zero_division
        )
    units = Units(
        sample_weight,
        groups,
        query_values.ids,
        n_queries=len(next(iter(query_values.by_people.values()))),
        of_runs=query_values.n_unanswered is not None,
    )
    is_compared = {
        name: _compared_queries(name, query_values, units)
        for name in query_values.by_people
    }
    refuse(
        CHECKS_OF_RANKED,
        names=query_values.names,
        baseline=baseline,
        is_compared=is_compared,
        has_judge=query_values.is_human is not None,
        unit=query_values.unit,
        are_runs=query_values.n_unanswered is not None,
    )
    pairs = _pairs_of(query_values.names, baseline)
    comparisons = RankerComparisons()
    for name in query_values.by_people:
        comparisons[name] = _comparison(
            name,
            query_values,
            units,
            is_compared[name],
            pairs,
            confidence_level,
            anytime,
        )
    if isinstance(measure, list | tuple | dict):
        return comparisons
    return comparisons.popitem()[1]


def _pairs_of(names, baseline):
    """Return the pairs of rankers that are compared, as places in `names`."""
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    place = names.index(baseline)
    return [(i, place) for i in range(len(names)) if i != place]


def _comparison(
    measure, query_values, units, is_compared, pairs, confidence_level, anytime
):
    """Compare the rankers by one measure."""
    names = query_values.names
    values = query_values.by_people[measure]
    judge_values = query_values.by_judge.get(measure)
    ids = query_values.ids
    if ids is None:
        ids = np.arange(len(values))
    judge = None
    judge_unlabelled = None
    n_judged = 0
    if judge_values is None:
        # The means count the undefined queries.
        of_means = np.where(is_compared[:, np.newaxis], values, np.nan)
    else:
        judge = judge_values[is_compared]
        judge_unlabelled = judge_values[~is_compared]
        n_judged = len(judge_values)
        of_means = values[is_compared]
        ids = ids[is_compared]
    random_order = None
    if query_values.random_order is not None:
        random_order = partial(
            _mean_of_random_order,
            query_values.random_order,
            measure,
            is_compared,
            units,
        )
    means = mean_intervals(
        of_means,
        judge=judge,
        judge_unlabelled=judge_unlabelled,
        groups=units.family,
        sample_weight=units.weights,
        confidence_level=confidence_level,
        anytime=anytime,
    )
    unit = query_values.unit
    if units.family is not None:
        unit = "families"
        ids = units.family_names
    compared, unit_weights, is_compared = units.compared(of_means)
    statistics = paired_statistics(
        compared, unit_weights, judge, judge_unlabelled, confidence_level, anytime
    )
    judged = None
    is_undecided = np.zeros((len(names), len(names)), dtype=bool)
    unjudged = ""
    judged_runs = query_values.judged_runs
    if judged_runs is not None:
        mean_fractions, if_relevant = compare_judged(
            judged_runs, measure, values, statistics, units, confidence_level, anytime
        )
        k = judged_runs.cutoff(measure)
        judged = {f"judged@{k}": mean_fractions}
        is_undecided = ~np.isnan(if_relevant)
        is_undecided |= is_undecided.T
        unjudged = warning_of_undecided(
            names, mean_fractions, statistics["difference"], if_relevant, k
        )
    if unjudged:
        found("unjudged documents", unjudged, about=measure)
    # Ranks and Holm's correction take a pair without a verdict as equal.
    statistics["p_value"][is_undecided] = 1.0
    ranks = rank_intervals(
        statistics["p_value"], statistics["difference"], 1.0 - confidence_level
    )
    return RankerComparison(
        measure=measure,
        names=names,
        qid=ids[is_compared],
        values=compared,
        means=replace(
            means,
            names=names,
            rank_interval=ranks,
            n_unanswered=query_values.n_unanswered,
            _random_order=random_order,
            judged=judged,
        ),
        pairs=pairs,
        confidence_level=float(confidence_level),
        unit=unit,
        n_judged=n_judged,
        anytime=anytime,
        unjudged=unjudged,
        findings=findings_so_far(),
        **_statistics_of_pairs(statistics, pairs, is_undecided),
    )


def _compared_queries(measure, query_values, units):
    """Return whether each query is compared by a measure."""
    if query_values.is_human is not None:
        return query_values.is_human
    is_compared = ~np.isnan(query_values.by_people[measure]).any(axis=1)
    if units.weights is not None:
        is_compared &= units.weights > 0
    return is_compared


def _statistics_of_pairs(statistics, pairs, is_undecided):
    """Return the statistics of the pairs by name, and p values after Holm's correction.

    They have no interval and no p value where `is_undecided`.
    """
    first, second = np.reshape(pairs, (-1, 2)).T.astype(int)
    of_pairs = {name: matrix[first, second] for name, matrix in statistics.items()}
    of_pairs["p_adjusted"] = holm(of_pairs["p_value"])
    for name in ("interval", "p_value", "p_adjusted"):
        of_pairs[name][is_undecided[first, second]] = np.nan
    return of_pairs


def _mean_of_random_order(random_order, measure, is_compared, units):
    """Return the mean of a random order, for each ranker or one for all."""
    values = random_order(measure)
    values = np.where(is_compared[:, np.newaxis], values, np.nan)
    compared, weights, _ = units.compared(values)
    return np.average(compared, axis=0, weights=weights)
