"""Comparisons of runs by judgements of documents, of people or also of a judge."""

from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from ..datasets._trec import RELEVANCE, SCORE, check_ids, check_judged, read_mapping
from ..target_losses._target_loss import check_zero_division
from ..validation._arrays import shown
from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_COMPARED, CHECKS_OF_RUNS
from ..validation._findings import found
from ..validation._kinds import arrive
from ..validation._parameters import LEVEL, checked, label
from ..validation._rules import look_for
from ._comparison import RankerComparison, Values, compare, of_measures, table_of_values
from ._judged import JudgedRuns
from ._per_query import (
    ListsOfRun,
    have_judged_irrelevant,
    look_at_run,
    measures_of_runs,
    named_measures,
)

# Public functions -------------------------------------------------------------------


@checked(baseline=[label, None], confidence_level=LEVEL)
def compare_runs(
    qrels: Any,
    runs: dict[str, Any],
    *,
    measure: Any = "ndcg@10",
    groups: Any = None,
    sample_weight: Any = None,
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = np.nan,
) -> "RankerComparison | Any":
    """Compare runs of systems by judgements of documents: intervals, tests and ranks.

    Documents that a run did not retrieve count as missed, as in `evaluate_run`. The
    statistics are those of `compare_rankers`, :ref:`how-comparisons`.

    Unjudged documents count as not relevant, which favours the runs that the judgements
    were made from. If the judgements name documents that are not relevant, the means
    have a column "judged@10", the judged fraction of the first 10 documents. A pair has
    no verdict, and a warning says so, if unjudged documents could change it:
    :ref:`old-judgements`.

    Parameters
    ----------
    qrels : dict, frame, path or ranx.Qrels
        Judgements of documents, as in `evaluate_run`.
    runs : dict of str to dict, frame, path or ranx.Run
        Runs of the systems by name. A query counts if any run has it; a run without it
        has retrieved nothing, which is counted (n_unanswered), with a warning. With one
        run there is a mean but no difference.
    measure : str, RankingMeasure, list or dict of these, default="ndcg@10"
        Measures from the top of a list, greater is better. A list gives a dict of
        comparisons.
    groups : dict, Series or None, default=None
        Family of each query by its id. The values are averaged within each family
        first, and families are compared.
    sample_weight : dict, Series or None, default=None
        Weight >= 0 of each query by its id, such as its traffic. The weight of a family
        is the mean weight of its queries.
    baseline : str or None, default=None
        The run that the others are compared with; None compares all pairs. If it was
        chosen as the best of these values, its p_holm are too small: read
        `tied_with_best` instead.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=nan
        Value of a query without a relevant document, if the measure is then undefined;
        nan skips it.

    Returns
    -------
    RankerComparison, or a dict of them for several measures
        Prints as a table, with ``to_frame()``; `plotting.RankerComparisonDisplay` draws
        it. Its ``at_every_look()`` is for queries that are added between looks.

    Raises
    ------
    ValueError
        If there is no run, or fewer than two queries, a run shares no query or no
        document with the judgements, or a measure compares all documents of a query.
    TypeError
        If `qrels` or a run is of another type.

    See Also
    --------
    evaluate_run : The means of one run.
    compare_judged_runs : Few judgements of people and many of a judge.

    Examples
    --------
    >>> from lowrank_rank.evaluation import compare_runs
    >>> qrels = {"q1": {"d1"}, "q2": {"d2"}, "q3": {"d3"}}
    >>> runs = {"new": {q: [f"d{q[1]}", "d4"] for q in qrels}}
    >>> runs["old"] = {q: ["d4", f"d{q[1]}"] for q in qrels}
    >>> found = compare_runs(qrels, runs, measure="mrr")
    >>> found.mean.tolist(), found.p_value.tolist()
    ([1.0, 0.5], [0.25])
    """
    arrive(
        qrels=qrels,
        runs=runs,
        **_places_of(runs),
        groups=groups,
        sample_weight=sample_weight,
    )
    fallback = check_zero_division(zero_division)
    refuse(CHECKS_OF_COMPARED, qrels=qrels, runs=runs, are_runs=True)
    measures = named_measures(measure)
    judgements = read_mapping(qrels, RELEVANCE, "qrels")
    refuse(CHECKS_OF_RUNS, measures=measures, usable=measures_of_runs)
    read_runs = _read_runs(runs)
    queries = _queries_of_runs(judgements, read_runs)
    tables = {"runs": runs, "qrels": qrels}
    n_unanswered = _count_unanswered(judgements, read_runs, queries, tables)
    lists = [ListsOfRun(run, judgements, queries) for run in read_runs.values()]
    by_name = dict(zip(read_runs, lists, strict=True))
    _look_for_depth(by_name, measures)
    judged_runs = None
    if have_judged_irrelevant(judgements):
        judged_runs = _judged_runs(
            judgements, read_runs, lists, queries, measures, fallback
        )
    values = [
        Values(
            measure=name,
            bounds=one.bounds,
            names=list(runs),
            unit="queries",
            ids=np.array(queries, dtype=object),
            by_people=table_of_values(lists, one, fallback),
            n_unanswered=n_unanswered,
            random_order=_random_order(lists, one, fallback),
            judged_runs=judged_runs,
        )
        for name, one in measures.items()
    ]
    for (name, of_run), of_queries in zip(
        by_name.items(), values[0].by_people.T, strict=True
    ):
        look_at_run(
            name,
            of_run,
            measures,
            of_queries,
            is_unjudged_irrelevant=judged_runs is None,
        )
    comparisons = compare(
        values,
        groups=groups,
        sample_weight=sample_weight,
        baseline=baseline,
        confidence_level=confidence_level,
    )
    return of_measures(comparisons, measure)


@checked(baseline=[label, None], confidence_level=LEVEL)
def compare_judged_runs(
    people: Any,
    judge: Any,
    runs: dict[str, Any],
    *,
    measure: Any = "ndcg@10",
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = 0.0,
) -> "RankerComparison | Any":
    """Compare runs by few judgements of people and the judgements of a judge.

    A judge, such as a language model or the judgements of an old system, has judged all
    queries, and people a random part of them. Intervals and p values are
    prediction-powered, as in `compare_judged`, :ref:`how-judges`.

    Parameters
    ----------
    people : dict, frame, path or ranx.Qrels
        Judgements by people, as in `evaluate_run`. They hold each document among the
        first k of a run that the judge has judged.
    judge : dict, frame, path or ranx.Qrels
        Judgements of all queries by the judge.
    runs : dict of str to dict, frame, path or ranx.Run
        Runs of the systems by name, as in `compare_runs`.
    measure : str, RankingMeasure, list or dict of these, default="ndcg@10"
        Measures from the top of a list, greater is better. A list gives a dict of
        comparisons.
    baseline : str or None, default=None
        The run that the others are compared with; None compares all pairs.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=0.0
        Value of a query without a relevant document, a number: people and judge can
        leave different queries undefined, so that skipping them would bias the means.

    Returns
    -------
    RankerComparison, or a dict of them for several measures
        Its queries are those that people judged.

    Raises
    ------
    ValueError
        If people left out a document or the judge a query, fewer than five queries have
        judgements of people, or fewer than two have none.

    See Also
    --------
    compare_runs : Runs by one set of judgements.

    Examples
    --------
    The old system finds the document in every second query. People judge ten queries:

    >>> from lowrank_rank.evaluation import compare_judged_runs
    >>> judge = {f"q{i}": ["d1"] for i in range(100)}
    >>> people = {f"q{i}": ["d1"] for i in range(10)}
    >>> runs = {"new": {q: ["d1", "d2"] for q in judge}}
    >>> runs["old"] = {q: ["d1" if int(q[1:]) % 2 else "d2"] for q in judge}
    >>> found = compare_judged_runs(people, judge, runs, measure="precision@1")
    >>> found.interval.round(2)
    array([[0.23, 0.75]])
    """
    arrive(people=people, judge=judge, runs=runs, **_places_of(runs))
    fallback = check_zero_division(zero_division)
    refuse(
        CHECKS_OF_COMPARED, runs=runs, are_runs=True, fallback=fallback, has_judge=True
    )
    measures = named_measures(measure)
    by_people = read_mapping(people, RELEVANCE, "people")
    by_judge = read_mapping(judge, RELEVANCE, "judge")
    refuse(
        CHECKS_OF_RUNS,
        by_people=by_people,
        by_judge=by_judge,
        measures=measures,
        usable=measures_of_runs,
    )
    read_runs = _read_runs(runs)
    queries = _queries_of_runs(by_judge, read_runs)
    check_judged(by_people, by_judge, read_runs, measures)
    tables = {"runs": runs, "judge": judge}
    n_unanswered = _count_unanswered(by_judge, read_runs, queries, tables)
    of_judge = [ListsOfRun(run, by_judge, queries) for run in read_runs.values()]
    lists = [ListsOfRun(run, by_people, queries) for run in read_runs.values()]
    _look_for_depth(dict(zip(read_runs, lists, strict=True)), measures)
    is_human = np.array([q in by_people for q in queries])
    values = [
        Values(
            measure=name,
            bounds=one.bounds,
            names=list(runs),
            unit="queries",
            ids=np.array(queries, dtype=object),
            by_people=table_of_values(lists, one, fallback),
            by_judge=table_of_values(of_judge, one, fallback),
            is_human=is_human,
            n_unanswered=n_unanswered,
            random_order=_random_order(lists, one, fallback),
        )
        for name, one in measures.items()
    ]
    comparisons = compare(values, baseline=baseline, confidence_level=confidence_level)
    return of_measures(comparisons, measure)


# Readers ----------------------------------------------------------------------------


def _places_of(runs):
    """Return the runs by their places in messages; none if they have no names."""
    if not isinstance(runs, dict):
        return {}
    return {f"runs[{name!r}]": run for name, run in runs.items()}


def _read_runs(runs):
    """Read the documents of each run."""
    return {
        name: read_mapping(run, SCORE, f"runs[{name!r}]") for name, run in runs.items()
    }


def _queries_of_runs(judgements, runs):
    """Return the judged queries that any run has."""
    return [q for q in judgements if any(q in run for run in runs.values())]


def _count_unanswered(judgements, runs, queries, tables):
    """Count the queries that each run lacks; refuse runs of other ids.

    `tables` are the arguments as given, the runs and the judgements, by name.
    """
    (runs_name, runs_given), of_judgements = tables.items()
    n_unanswered = []
    for name, run in runs.items():
        of_run = (f"{runs_name}[{name!r}]", runs_given[name])
        of_both = dict([of_run, of_judgements])
        n_lacking = check_ids(
            run, judgements, f"The run {name!r}", queries, tables=of_both
        )
        n_unanswered.append(n_lacking)
    _look_for_queries_without_run(judgements, queries)
    return np.array(n_unanswered)


def _judged_runs(judgements, read_runs, lists, queries, measures, fallback):
    """Return `JudgedRuns`, which find pairs that unjudged documents could decide."""
    grades = chain.from_iterable(map(dict.values, judgements.values()))
    return JudgedRuns(
        runs=list(read_runs.values()),
        of_runs=lists,
        queries=queries,
        highest_grade=max(grades),
        measures=measures,
        fallback=fallback,
    )


def _random_order(lists, measure, fallback):
    """Return a function that gives the values of a random order of each run."""
    return partial(table_of_values, lists, measure, fallback, of_random_order=True)


def _look_for_queries_without_run(judgements, queries):
    """Find queries of the judgements that are in no run."""
    n_left_out = len(judgements) - len(queries)
    if not n_left_out:
        return
    answered = set(queries)
    example = next(q for q in judgements if q not in answered)
    found(
        "queries without run",
        f"The runs lack {n_left_out} of {len(judgements)} judged queries, such as "
        f"{shown(example)}, all of them: these are left out, and evaluate_run counts "
        "them.",
    )


def _look_for_depth(of_runs, measures):
    """Find a run that is cut above the largest k of the measures."""
    cutoffs: list[Any] = [getattr(measure, "k", None) for measure in measures.values()]
    largest_k = None
    if None not in cutoffs:
        largest_k = max(cutoffs)
    depths = {name: of_run.n_retrieved for name, of_run in of_runs.items()}
    look_for("depth", depths, largest_k)
