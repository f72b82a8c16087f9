"""Comparisons: values of rankers -> statistics of their pairs -> the report.

The unit is the query: measures are means over queries, the documents of a query are not
independent, and two rankers share what makes a query hard. So differences are taken
query by query. Nothing is drawn at random.
"""

from dataclasses import dataclass, replace
from functools import partial
from html import escape
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._tables import TableMixin
from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_RANKED
from ..validation._findings import Finding, findings_so_far, found, reports
from ._bounds import holds
from ._judged import undecided_pairs, warning_of_undecided
from ._mean_intervals import MeanIntervals, folds, judged_means, mean_intervals
from ._paired_differences import holm, paired_statistics, places_of, rank_intervals
from ._query_weights import Units

if TYPE_CHECKING:
    import pandas

#: Rule of the finding that unjudged documents could change a verdict.
_UNJUDGED = "unjudged documents"


@dataclass(frozen=True, eq=False, repr=False)
class RankerComparison(TableMixin):
    """Means, ranks and differences of rankers; returned by all comparisons.

    `compare_rankers`, `compare_runs`, `compare_values`, `compare_judged` and
    `compare_judged_runs` return it. How it is computed: :ref:`how-comparisons`.

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
        Mean difference a - b of each pair. With a judge, whose weight differs from pair
        to pair, it is not exactly the difference of the means.
    interval : ndarray of shape (n_pairs, 2)
        Confidence interval of the mean difference a - b, for each pair, not
        simultaneous.
    p_value : ndarray of shape (n_pairs,)
        Two-sided p value of the paired t test, at least `smallest_p`. With a judge that
        is used, that of its interval.
    smallest_p : ndarray of shape (n_pairs,)
        ``2**(1 - m)`` for m queries that differ: the probability that m random signs +
        or - are all the same. With weights, m is the effective number of these queries.
        0 with a judge that is used, and at every look.
    p_adjusted : ndarray of shape (n_pairs,)
        p values after Holm's correction for all pairs.
    effect : ndarray of shape (n_pairs,)
        Mean difference over the standard deviation of the differences of queries: 0 if
        no query differs, infinite if all differ alike.
    better, equal, worse : ndarray of int, shape (n_pairs,)
        Number of queries in which a is better than b, equal, worse.
    confidence_level : float
        Level of the intervals.
    unit : str
        "queries", "tasks" for a table of values, or "families" if there are groups.
    n_judged : int
        Number of queries that the judge labelled; 0 without a judge.
    anytime : bool
        Whether intervals, p values and ranks hold at every look: `at_every_look`.
    unjudged : str
        The warning that some pairs have no verdict, because their unjudged documents
        could change it, or "". The interval and the p values of such a pair are nan.
    findings : tuple of Finding
        What the rules found, as in the warnings of the call: each has a `rule`, a
        `sentence` and a `category`.

    Examples
    --------
    >>> from lowrank_rank.evaluation import compare_rankers
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
    #: The values and the units that were compared.
    _compared: Any = None

    @reports
    def at_every_look(self) -> "RankerComparison":
        """Compare so that findings hold however often one looks.

        Intervals, p values and ranks hold together at all looks while queries are added
        at the end, in random order. The order of the looks is that of the queries as
        given; for runs, of the judgements. The values must be in [0, 1]. See
        :ref:`looks` of the guide.

        Returns
        -------
        RankerComparison
            The same means and differences, with wider intervals and larger p values.

        Raises
        ------
        ValueError
            If there are values outside [0, 1], families, weights or a judge.

        Examples
        --------
        >>> import numpy as np
        >>> from lowrank_rank.evaluation import compare_values
        >>> found = compare_values({"new": [0.5, 0.75] * 50, "old": [0.25, 0.5] * 50})
        >>> found.at_every_look().interval.round(2)
        array([[0.19, 0.29]])
        """
        means = self.means.at_every_look()
        values, units = self._compared
        at_looks = _report(values, units, means, self.pairs, anytime=True)
        earlier = [one for one in self.findings if one.rule != _UNJUDGED]
        return replace(at_looks, findings=(*earlier, *at_looks.findings))

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
        elif self.n_judged:
            heading += " for one look"
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
            notes.append(self._note_on_verdicts())
        is_of_runs = self.means.n_unanswered is not None
        if is_of_runs and self.means.judged is None and not self.n_judged:
            notes.append(
                "judged@k is unknown: these judgements hold relevant documents alone, "
                "and all others count as not relevant"
            )
        return "\n".join(notes)

    def _note_on_verdicts(self):
        """Return the line on pairs without a verdict."""
        undecided = [
            f"{self.names[a]} - {self.names[b]}"
            for (a, b), p in zip(self.pairs, self.p_value, strict=True)
            if np.isnan(p)
        ]
        note = f"no verdict on {', '.join(undecided[:8]) or 'some pairs'}"
        if len(undecided) > 8:
            note += f" and {len(undecided) - 8} more pairs"
        return f"{note}: unjudged documents could change it"

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


# Values -> pairs -> report ----------------------------------------------------------


class Values(NamedTuple):
    """Values of all rankers on each query by one measure.

    Attributes
    ----------
    measure : str
        Its name.
    names : list of str
        The rankers.
    unit : str
        "queries", or "tasks" for a table of values.
    ids : ndarray of shape (n_queries,), or None
        Ids of the queries; None numbers them.
    by_people : ndarray of shape (n_queries, n_rankers)
        Values by the labels of people. Those of queries that people did not label are
        not read.
    by_judge : ndarray of shape (n_queries, n_rankers), or None
        Values by the labels of the judge.
    is_human : ndarray of bool, shape (n_queries,), or None without a judge
        Whether people labelled the query.
    n_unanswered : ndarray of int, shape (n_rankers,), or None
        Number of queries that a run lacks; None if the rankers are not runs.
    random_order : callable or None
        Returns the values of a random order by the labels of people, of shape
        (n_queries, 1 or n_rankers). It is an order of the documents that are scored,
        and for runs of those that the run retrieved. None for a table of values.
    judged_runs : JudgedRuns or None
        Runs whose judgements say which documents are not relevant.
    bounds : pair of float, or None
        The lowest and the highest value possible, -inf and inf if there is none. None
        if they are unknown.
    """

    measure: str
    names: list[str]
    unit: str
    ids: Any
    by_people: np.ndarray
    by_judge: Any = None
    is_human: Any = None
    n_unanswered: Any = None
    random_order: Any = None
    judged_runs: Any = None
    bounds: Any = None

    def known_bounds(self, units):
        """Return the bounds if they are finite and hold the values, or None."""
        if self.bounds is None or self.unit == "tasks":
            return self.bounds
        # A user's measure may have other bounds than the class that it extends.
        values = self.compared(units).ravel()[:, np.newaxis]
        lowest, highest = np.array(self.bounds)
        return self.bounds if holds(lowest, highest, values).all() else None

    def are_compared(self, units):
        """Return whether each query is compared."""
        if self.is_human is not None:
            return self.is_human
        is_compared = ~np.isnan(self.by_people).any(axis=1)
        if units.weights is not None:
            is_compared &= units.weights > 0
        return is_compared

    def compared(self, units):
        """Return the values by people, of compared queries or NaN in the others."""
        is_compared = self.are_compared(units)
        if self.by_judge is not None:
            return self.by_people[is_compared]
        # The means count the undefined queries.
        return np.where(is_compared[:, np.newaxis], self.by_people, np.nan)

    def of_judge(self):
        """Return the judge's values in the queries of people, and in the others."""
        if self.by_judge is None:
            return None, None
        return self.by_judge[self.is_human], self.by_judge[~self.is_human]

    def means(self, units, confidence_level):
        """Compute the means with their intervals."""
        if self.by_judge is None:
            means = mean_intervals(
                self.compared(units),
                groups=units.family,
                sample_weight=units.weights,
                bounds=self.known_bounds(units),
                confidence_level=confidence_level,
            )
        else:
            judge, judge_unlabelled = self.of_judge()
            means = judged_means(
                [""] * len(self.names),
                self.compared(units),
                judge,
                judge_unlabelled,
                ids_of_units(self, units),
                self.known_bounds(units),
                confidence_level,
            )
        random_order = None
        if self.random_order is not None:
            random_order = partial(self.mean_of_random_order, units)
        return replace(
            means,
            names=self.names,
            n_unanswered=self.n_unanswered,
            _random_order=random_order,
        )

    def mean_of_random_order(self, units):
        """Return the mean of a random order, for each ranker or one for all."""
        is_compared = self.are_compared(units)
        values = np.where(is_compared[:, np.newaxis], self.random_order(), np.nan)
        compared, weights, _ = units.compared(values)
        return np.average(compared, axis=0, weights=weights)


def table_of_values(lists, measure, fallback, *, of_random_order=False):
    """Return the values (n_queries, n_rankers) of the lists of each ranker.

    Parameters
    ----------
    lists : list of ListsOfRun or ListsOfScores
        Their method ``values(measure)`` gives a value of each query, NaN if undefined.
    measure : RankingMeasure
    fallback : float
        Value where the measure is undefined.
    of_random_order : bool
        Whether documents are in a random order, ``values_of_random_order(measure)``.
    """
    columns = []
    for of_ranker in lists:
        values = of_ranker.values
        if of_random_order:
            values = of_ranker.values_of_random_order
        columns.append(values(measure))
    table = np.column_stack(columns)
    return np.where(np.isnan(table), fallback, table)


def compare(
    all_values, *, groups=None, sample_weight=None, baseline=None, confidence_level
):
    """Compare the rankers by each measure.

    Parameters
    ----------
    all_values : list of Values
        Of several measures on the same queries.
    groups, sample_weight, baseline, confidence_level
        As in `compare_rankers`.

    Returns
    -------
    RankerComparisons
    """
    first = all_values[0]
    are_runs = first.n_unanswered is not None
    n_queries = len(first.by_people)
    units = Units(sample_weight, groups, first.ids, n_queries, of_runs=are_runs)
    refuse(
        CHECKS_OF_RANKED,
        names=first.names,
        baseline=baseline,
        is_compared={one.measure: one.are_compared(units) for one in all_values},
        has_judge=first.by_judge is not None,
        unit=first.unit,
        are_runs=are_runs,
    )
    pairs = _pairs_of(first.names, baseline)
    comparisons = RankerComparisons()
    for values in all_values:
        means = values.means(units, confidence_level)
        comparisons[values.measure] = _report(
            values, units, means, pairs, anytime=False
        )
    return comparisons


def of_measures(comparisons, measure):
    """Return the comparison by a measure, or all of them if several were asked for."""
    if isinstance(measure, list | tuple | dict):
        return comparisons
    return comparisons.popitem()[1]


def _pairs_of(names, baseline):
    """Return the pairs of rankers that are compared, as places in `names`."""
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    place = names.index(baseline)
    return [(i, place) for i in range(len(names)) if i != place]


def _report(values, units, means, pairs, *, anytime):
    """Compare the pairs of rankers, and rank the rankers.

    Parameters
    ----------
    values : Values
    units : Units
    means : MeanIntervals
        Of the values.
    pairs : list of tuple (int, int)
    anytime : bool
        Whether intervals and p values hold at every look.

    Returns
    -------
    RankerComparison
    """
    level = means.confidence_level
    compared, weights, is_compared = units.compared(values.compared(units))
    judge, judge_unlabelled = values.of_judge()
    fold = None
    if judge is not None:
        fold = folds(ids_of_units(values, units), len(compared))
    statistics = paired_statistics(
        compared,
        weights,
        judge,
        judge_unlabelled,
        level,
        anytime,
        values.known_bounds(units),
        fold,
    )
    is_undecided = np.zeros(statistics.difference.shape, dtype=bool)
    judged = None
    unjudged = ""
    if values.judged_runs is not None:
        judged, unjudged, is_undecided = _verdicts_of_runs(
            values, units, statistics, level, anytime
        )
    # Ranks and Holm's correction take a pair without a verdict as equal.
    p_value = np.where(is_undecided, 1.0, statistics.p_value)
    statistics = statistics._replace(p_value=p_value)
    ranks = rank_intervals(p_value, statistics.difference, 1.0 - level)
    of_pairs = statistics.of_pairs(pairs)
    p_adjusted = holm(of_pairs.p_value)
    has_no_verdict = is_undecided[tuple(places_of(pairs))]
    for of_pair in (of_pairs.interval, of_pairs.p_value, p_adjusted):
        of_pair[has_no_verdict] = np.nan
    n_judged = 0
    if values.by_judge is not None:
        n_judged = len(values.by_judge)
    unit = values.unit
    if units.family is not None:
        unit = "families"
    return RankerComparison(
        measure=values.measure,
        names=values.names,
        qid=ids_of_units(values, units)[is_compared],
        values=compared,
        means=replace(means, rank_interval=ranks, judged=judged),
        pairs=pairs,
        difference=of_pairs.difference,
        interval=of_pairs.interval,
        p_value=of_pairs.p_value,
        smallest_p=of_pairs.smallest_p,
        p_adjusted=p_adjusted,
        effect=of_pairs.effect,
        better=of_pairs.better,
        equal=of_pairs.equal,
        worse=of_pairs.worse,
        confidence_level=level,
        unit=unit,
        n_judged=n_judged,
        anytime=anytime,
        unjudged=unjudged,
        findings=findings_so_far(),
        _compared=(values, units),
    )


def ids_of_units(values, units):
    """Return the ids of the queries, with a judge of those of people, or families."""
    if units.family is not None:
        return units.family_names
    ids = values.ids
    if ids is None:
        ids = np.arange(len(values.by_people))
    return ids if values.is_human is None else ids[values.is_human]


def _verdicts_of_runs(values, units, statistics, level, anytime):
    """Compute judged fractions, and find pairs that unjudged documents could decide.

    Returns
    -------
    judged : dict of str to ndarray of shape (n_runs,)
    unjudged : str
        The warning, or "".
    is_undecided : ndarray of bool, shape (n_runs, n_runs)
    """
    mean_fractions, if_relevant = undecided_pairs(
        values.judged_runs,
        values.measure,
        values.by_people,
        statistics,
        units,
        level,
        anytime,
    )
    k = values.judged_runs.cutoff(values.measure)
    unjudged = warning_of_undecided(
        values.names, mean_fractions, statistics.difference, if_relevant, k
    )
    if unjudged:
        found(_UNJUDGED, unjudged, about=values.measure)
    is_undecided = ~np.isnan(if_relevant)
    return {f"judged@{k}": mean_fractions}, unjudged, is_undecided | is_undecided.T
