"""Judged fractions of runs, and verdicts that unjudged documents could change."""

from typing import Any, NamedTuple

import numpy as np

from ..datasets._trec import first_documents
from ._paired_differences import paired_statistics
from ._per_query import lists_of_run, value_of_lists
from ._query_weights import compared_units


class JudgedRuns(NamedTuple):
    """Runs with judgements that say which documents are not relevant.

    Attributes
    ----------
    qrels : dict of str to dict of str to float
    runs : list of dict of str to dict of str to float
    queries : list of str
        The queries that are measured.
    measures : dict of str to RankingMeasure
    fallback : float
        Value of a query on which a measure is undefined.
    """

    qrels: Any
    runs: Any
    queries: Any
    measures: Any
    fallback: float


def have_judged_irrelevant(qrels):
    """Whether judgements name documents that are not relevant.

    Judgements of relevant documents only do not say what was judged.
    """
    return any(grade <= 0 for grades in qrels.values() for grade in grades.values())


class JudgedComparison(NamedTuple):
    """What is judged of the runs, and which pairs have no verdict.

    Attributes
    ----------
    columns : dict of str to ndarray of shape (n_runs,)
        ``{"judged@10": ...}``, the mean judged fraction of each run.
    is_undecided : ndarray of bool, shape (n_runs, n_runs)
        Whether unjudged documents could change the verdict of two runs.
    warning : str
        A sentence on these pairs, or "".
    """

    columns: dict[str, np.ndarray]
    is_undecided: np.ndarray
    warning: str


def compare_judged(
    judged_runs,
    measure,
    *,
    names,
    values,
    statistics,
    weights,
    family,
    confidence_level,
    anytime,
):
    """Compute judged fractions, and find pairs that unjudged documents could decide.

    In such a pair one run is judged less than the other beyond chance, and the verdict
    is another one if the unjudged documents that this run alone has among its first k
    are relevant.

    Parameters
    ----------
    judged_runs : JudgedRuns
    measure : str
        Its name.
    names : list of str
        Names of the runs.
    values : ndarray of shape (n_queries, n_runs)
    statistics : dict
        From `paired_statistics`, of the values.
    weights, family : ndarray of shape (n_queries,), or None
    confidence_level : float
    anytime : bool

    Returns
    -------
    JudgedComparison
    """
    k = getattr(judged_runs.measures[measure], "k", None) or 10
    first = _first_of_runs(judged_runs, k)
    fractions = _judged_fractions(judged_runs, first)
    is_undecided = np.zeros((len(names), len(names)), dtype=bool)
    level = 1.0 - confidence_level
    compared, of_units, _ = compared_units(fractions, weights, family)
    mean_fractions = np.average(compared, axis=0, weights=of_units)
    of_fractions = paired_statistics(
        compared, of_units, None, None, confidence_level, anytime=False
    )
    is_less = _verdicts(of_fractions, level) < 0
    verdicts = _verdicts(statistics, level)
    warning = ""
    # A verdict for the run that is judged less stands.
    for less, more in np.argwhere(is_less & (verdicts <= 0)).tolist():
        table = _values_if_relevant(judged_runs, measure, values, first, less, more)
        compared, of_units, _ = compared_units(table, weights, family)
        if_relevant = paired_statistics(
            compared, of_units, None, None, confidence_level, anytime
        )
        if _verdicts(if_relevant, level)[0, 1] == verdicts[less, more]:
            continue
        if not warning:
            warning = _word_warning(
                new=f"{names[less]}",
                old=f"{names[more]}",
                judged_of_new=mean_fractions[less],
                judged_of_old=mean_fractions[more],
                difference=statistics["difference"][less, more],
                if_relevant=if_relevant["difference"][0, 1],
                k=k,
            )
        is_undecided[less, more] = True
        is_undecided[more, less] = True
    n_undecided = np.sum(is_undecided) // 2
    if n_undecided > 1:
        warning += f" The same holds for {n_undecided - 1} more pairs."
    return JudgedComparison(
        columns={f"judged@{k}": mean_fractions},
        is_undecided=is_undecided,
        warning=warning,
    )


def _first_of_runs(judged_runs, k):
    """Return the first k documents of each query, a list for each run."""
    return [
        [first_documents(run.get(query, {}), k) for query in judged_runs.queries]
        for run in judged_runs.runs
    ]


def _judged_fractions(judged_runs, first):
    """Compute the judged fraction of the first documents, (n_queries, n_runs).

    It is 1 where a run retrieved nothing.
    """
    fractions = np.ones((len(judged_runs.queries), len(first)))
    for column, of_run in zip(fractions.T, first, strict=True):
        for place, query in enumerate(judged_runs.queries):
            documents = of_run[place]
            if documents:
                judged = judged_runs.qrels[query]
                n_judged = sum(map(judged.__contains__, documents))
                column[place] = n_judged / len(documents)
    return fractions


def _verdicts(statistics, level):
    """Return the signs of differences; 0 where a difference is not significant."""
    is_significant = statistics["p_value"] <= level
    return np.sign(statistics["difference"]) * is_significant


def _values_if_relevant(judged_runs, measure, values, first, less, more):
    """Measure two runs as if the documents that `less` alone has were relevant.

    These are the unjudged documents among its first k that are not among the first k of
    `more`. They have the largest grade of all judgements.

    Returns
    -------
    ndarray of shape (n_queries, 2)
    """
    qrels = judged_runs.qrels
    grade = max(grade for grades in qrels.values() for grade in grades.values())
    has_cutoff = getattr(judged_runs.measures[measure], "k", None) is not None
    changed = {}
    rows = []
    for row, query in enumerate(judged_runs.queries):
        alone = set(first[less][row]).difference(first[more][row], qrels[query])
        if alone:
            rows.append(row)
            changed[query] = qrels[query] | dict.fromkeys(alone, grade)
    table = values[:, [less, more]]
    if not changed:
        return table
    for column, place in enumerate((less, more)):
        run = judged_runs.runs[place]
        if has_cutoff:
            run = _shortened(run, changed, [first[place][row] for row in rows])
        of_run = lists_of_run(run, changed, list(changed))
        found = value_of_lists(judged_runs.measures[measure], of_run)
        table[rows, column] = np.where(np.isnan(found), judged_runs.fallback, found)
    return table


def _shortened(run, queries, first):
    """Shorten a run to its first documents, for a measure that reads no others."""
    shortened = {}
    for query, documents in zip(queries, first, strict=True):
        scores = run.get(query, {})
        if len(scores) > len(documents):
            scores = {document: scores[document] for document in documents}
        shortened[query] = scores
    return shortened


def _word_warning(
    *, new, old, judged_of_new, judged_of_old, difference, if_relevant, k
):
    """Word the warning of a pair that unjudged documents could decide."""
    return (
        f"{new} has {judged_of_new:.0%} of its first {k} documents judged, {old} "
        f"{judged_of_old:.0%}. Unjudged ones count as not relevant, which favours "
        f"{old}: {new} - {old} is {difference:+.3f}, and {if_relevant:+.3f} if those "
        f"that {new} alone has are relevant. So this pair has no verdict. Judge the "
        f"first {k} documents of both in queries drawn at random, and give the old "
        "judgements as judge=."
    )
