"""Judged fractions of runs, and verdicts that unjudged documents could change."""

import numpy as np

from ..datasets._trec import first_documents
from ._paired_differences import paired_statistics
from ._per_query import ListsOfRun


def have_judged_irrelevant(qrels):
    """Whether judgements name documents that are not relevant.

    Judgements of relevant documents only do not say what was judged.
    """
    return any(grade <= 0 for grades in qrels.values() for grade in grades.values())


class JudgedRuns:
    """Runs with judgements that say which documents are not relevant.

    Parameters
    ----------
    qrels : dict of str to dict of str to float
    runs : list of dict of str to dict of str to float
    queries : list of str
        The queries that are measured.
    measures : dict of str to RankingMeasure
    fallback : float
        Value of a query on which a measure is undefined.
    """

    def __init__(self, qrels, runs, queries, measures, fallback):
        self.qrels = qrels
        self.runs = runs
        self.queries = queries
        self.measures = measures
        self.fallback = fallback

    def cutoff(self, measure):
        """Return the number of documents that a measure reads, or 10."""
        return getattr(self.measures[measure], "k", None) or 10

    def first_documents(self, k):
        """Return the first k documents of each query, a list for each run."""
        return [
            [first_documents(run.get(query, {}), k) for query in self.queries]
            for run in self.runs
        ]

    def judged_fractions(self, first):
        """Compute the judged fraction of the first documents, (n_queries, n_runs).

        It is 1 where a run retrieved nothing.
        """
        fractions = np.ones((len(self.queries), len(first)))
        for column, of_run in zip(fractions.T, first, strict=True):
            for place, query in enumerate(self.queries):
                documents = of_run[place]
                if documents:
                    judged = self.qrels[query]
                    n_judged = sum(map(judged.__contains__, documents))
                    column[place] = n_judged / len(documents)
        return fractions

    def values_if_relevant(self, measure, values, first, less, more):
        """Measure two runs as if the documents that `less` alone has were relevant.

        These are the unjudged documents among its first k that are not among the first
        k of `more`. They have the largest grade of all judgements.

        Parameters
        ----------
        measure : str
        values : ndarray of shape (n_queries, n_runs)
        first : list of list of list of str
            From `first_documents`.
        less, more : int
            Places of the two runs.

        Returns
        -------
        ndarray of shape (n_queries, 2)
        """
        qrels = self.qrels
        grade = max(grade for grades in qrels.values() for grade in grades.values())
        has_cutoff = getattr(self.measures[measure], "k", None) is not None
        changed = {}
        rows = []
        for row, query in enumerate(self.queries):
            alone = set(first[less][row]).difference(first[more][row], qrels[query])
            if alone:
                rows.append(row)
                changed[query] = qrels[query] | dict.fromkeys(alone, grade)
        table = values[:, [less, more]]
        if not changed:
            return table
        for column, place in enumerate((less, more)):
            run = self.runs[place]
            if has_cutoff:
                run = _shortened(run, changed, [first[place][row] for row in rows])
            of_run = ListsOfRun(run, changed, list(changed))
            changed_values = of_run.values(self.measures[measure])
            table[rows, column] = np.where(
                np.isnan(changed_values), self.fallback, changed_values
            )
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


def compare_judged(
    judged_runs, measure, values, statistics, units, confidence_level, anytime
):
    """Compute judged fractions, and find pairs that unjudged documents could decide.

    In such a pair one run is judged less than the other beyond chance, and the verdict
    is another one if the unjudged documents that this run alone has among its first k
    are relevant. A difference that is not significant must leave its interval too.

    Parameters
    ----------
    judged_runs : JudgedRuns
    measure : str
        Its name.
    values : ndarray of shape (n_queries, n_runs)
    statistics : dict
        From `paired_statistics`, of the values.
    units : Units
    confidence_level : float
    anytime : bool

    Returns
    -------
    mean_fractions : ndarray of shape (n_runs,)
        The mean judged fraction of each run.
    if_relevant : ndarray of shape (n_runs, n_runs)
        The mean difference of a pair without a verdict if these documents are relevant,
        in the row of the run that is judged less; NaN elsewhere.
    """
    level = 1.0 - confidence_level
    first = judged_runs.first_documents(judged_runs.cutoff(measure))
    fractions = judged_runs.judged_fractions(first)
    compared, weights, _ = units.compared(fractions)
    mean_fractions = np.average(compared, axis=0, weights=weights)
    of_fractions = paired_statistics(
        compared, weights, None, None, confidence_level, anytime=False
    )
    is_less = _verdicts(of_fractions, level) < 0
    verdicts = _verdicts(statistics, level)
    if_relevant = np.full(verdicts.shape, np.nan)
    # A verdict for the run that is judged less stands.
    for less, more in np.argwhere(is_less & (verdicts <= 0)).tolist():
        table = judged_runs.values_if_relevant(measure, values, first, less, more)
        compared, weights, _ = units.compared(table)
        of_two = paired_statistics(
            compared, weights, None, None, confidence_level, anytime
        )
        difference = of_two["difference"][0, 1]
        is_changed = _verdicts(of_two, level)[0, 1] != verdicts[less, more]
        if verdicts[less, more] == 0:
            # A difference that is not significant says no more than its interval.
            is_changed &= difference > statistics["interval"][less, more, 1]
        if is_changed:
            if_relevant[less, more] = difference
    return mean_fractions, if_relevant


def _verdicts(statistics, level):
    """Return the signs of differences; 0 where a difference is not significant."""
    is_significant = statistics["p_value"] <= level
    return np.sign(statistics["difference"]) * is_significant


def warning_of_undecided(names, mean_fractions, difference, if_relevant, k):
    """Word the warning of pairs without a verdict, or return ""."""
    undecided = np.argwhere(~np.isnan(if_relevant)).tolist()
    if not undecided:
        return ""
    less, more = undecided[0]
    new = names[less]
    old = names[more]
    warning = (
        f"{new} has {mean_fractions[less]:.0%} of its first {k} documents judged, "
        f"{old} {mean_fractions[more]:.0%}. Unjudged ones count as not relevant, which "
        f"favours {old}: {new} - {old} is {difference[less, more]:+.3f}, and "
        f"{if_relevant[less, more]:+.3f} if those that {new} alone has are relevant. "
        f"So this pair has no verdict. Judge the first {k} documents of both in "
        "queries drawn at random, and give the old judgements as judge=."
    )
    if len(undecided) > 1:
        warning += f" The same holds for {len(undecided) - 1} more pairs."
    return warning
