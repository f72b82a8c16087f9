"""Judged fractions of runs, and verdicts that unjudged documents could change."""

from functools import cached_property
from itertools import chain, compress, count, islice, repeat

import numpy as np

from ._paired_differences import paired_statistics

#: A run is judged less if this is significant at so many times the level. The choice
#: is from counts of wrong and right verdicts: ``python -m benchmarks comparisons --part
#: kinds``.
JUDGED_LESS = 3.0


class JudgedRuns:
    """Runs with judgements that say which documents are not relevant.

    Parameters
    ----------
    runs : list of dict of str to dict of str to float
    of_runs : list of ListsOfRun
        Of the same runs.
    queries : list of str
        The queries that are measured.
    highest_grade : float
        Of all judgements.
    measures : dict of str to RankingMeasure
    fallback : float
        Value of a query on which a measure is undefined.
    """

    def __init__(self, runs, of_runs, queries, highest_grade, measures, fallback):
        self.runs = runs
        self.of_runs = of_runs
        self.queries = queries
        self.highest_grade = highest_grade
        self.measures = measures
        self.fallback = fallback
        # Several measures read the same documents.
        self._first: dict = {}
        self._alone: dict = {}

    def cutoff(self, measure):
        """Return the k of a measure, or the depth of the pool for one without k."""
        k = getattr(self.measures[measure], "k", None)
        return self.pool_depth if k is None else k

    @cached_property
    def pool_depth(self):
        """Largest number of first documents of a run that are all judged, at least 10.

        Judgements come from the first documents of runs, the pool. Below its depth
        unjudged documents count as not relevant for all runs alike.
        """
        return max(10, *(of_run.judged_depth() for of_run in self.of_runs))

    def first_documents(self, k):
        """Return which documents are the first k, an array for each run."""
        if k not in self._first:
            self._first[k] = [of_run.are_first(k) for of_run in self.of_runs]
        return self._first[k]

    def judged_fractions(self, k):
        """Compute the judged fraction of the first documents, (n_queries, n_runs).

        It is 1 where a run retrieved nothing.
        """
        columns = [
            of_run.judged_fractions(is_first)
            for of_run, is_first in zip(
                self.of_runs, self.first_documents(k), strict=True
            )
        ]
        return np.column_stack(columns)

    def documents_alone(self, k, less, more):
        """Find unjudged first documents of a run that are not first ones of another.

        Parameters
        ----------
        k : int
        less, more : int
            Places of the two runs.

        Returns
        -------
        places, places_in_more : ndarray of int
            Places of the documents in the lists of both runs; -1 where the second run
            did not retrieve them.
        """
        if (k, less, more) not in self._alone:
            are_first = self.first_documents(k)
            is_unjudged = are_first[less] & ~self.of_runs[less].is_judged
            places = self._places_in_other(is_unjudged, less, more)
            is_alone = (places < 0) | ~are_first[more][places]
            self._alone[k, less, more] = (
                np.flatnonzero(is_unjudged)[is_alone],
                places[is_alone],
            )
        return self._alone[k, less, more]

    def _places_in_other(self, is_asked, one, other):
        """Return the places in another run of the asked documents of a run, or -1."""
        of_one = self.of_runs[one]
        of_other = self.of_runs[other]
        retrieved = chain.from_iterable(self.runs[one].get(q, ()) for q in self.queries)
        asked = compress(retrieved, is_asked[of_one.is_retrieved].tolist())
        n_asked = np.bincount(of_one.lists.index[is_asked], minlength=len(self.queries))
        starts = of_other.lists.starts.tolist()
        places: list[int] = []
        for query, start, n in zip(self.queries, starts, n_asked.tolist(), strict=True):
            if n:
                place_of = dict(zip(self.runs[other].get(query, ()), count(start)))
                places.extend(map(place_of.get, islice(asked, n), repeat(-1)))
        return np.array(places, dtype=np.intp)

    def values_if_relevant(self, measure, values, less, more):
        """Measure two runs as if the documents that `less` alone has were relevant.

        They have the largest grade of all judgements.

        Parameters
        ----------
        measure : str
        values : ndarray of shape (n_queries, n_runs)
        less, more : int
            Places of the two runs.

        Returns
        -------
        ndarray of shape (n_queries, 2)
        """
        k = self.cutoff(measure)
        places, places_in_more = self.documents_alone(k, less, more)
        queries = self.of_runs[less].lists.index[places]
        is_missed = places_in_more < 0
        changed = [
            (less, places, queries[:0]),
            (more, places_in_more[~is_missed], queries[is_missed]),
        ]
        has_cutoff = getattr(self.measures[measure], "k", None) is not None
        table = values[:, [less, more]]
        rows = np.unique(queries)
        for column, (run, retrieved, missed) in zip(table.T, changed, strict=True):
            of_run = self.of_runs[run]
            are_first = of_run.is_retrieved
            if has_cutoff:
                are_first = self.first_documents(k)[run]
            if_relevant = of_run.values_if(
                self.measures[measure],
                self.highest_grade,
                retrieved,
                missed,
                are_first,
            )[rows]
            column[rows] = np.where(np.isnan(if_relevant), self.fallback, if_relevant)
        return table


def undecided_pairs(
    judged_runs, measure, values, statistics, units, confidence_level, anytime
):
    """Compute judged fractions, and find pairs that unjudged documents could decide.

    In such a pair one run is judged less than the other beyond chance, and the verdict
    changes if the unjudged documents that this run alone has among its first k are
    relevant. A difference that is not significant must leave its interval too.

    Parameters
    ----------
    judged_runs : JudgedRuns
    measure : str
        Its name.
    values : ndarray of shape (n_queries, n_runs)
    statistics : PairStatistics
        Of the values of all runs.
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
    fractions = judged_runs.judged_fractions(judged_runs.cutoff(measure))
    compared, weights, _ = units.compared(fractions)
    mean_fractions = np.average(compared, axis=0, weights=weights)
    of_fractions = paired_statistics(
        compared,
        weights,
        None,
        None,
        confidence_level,
        anytime=False,
        bounds=(0.0, 1.0),
    )
    # Few queries seldom show beyond chance that a run is judged less.
    is_less = _verdicts(of_fractions, JUDGED_LESS * level) < 0
    verdicts = _verdicts(statistics, level)
    if_relevant = np.full(verdicts.shape, np.nan)
    # A verdict for the run that is judged less stands.
    for less, more in np.argwhere(is_less & (verdicts <= 0)).tolist():
        table = judged_runs.values_if_relevant(measure, values, less, more)
        bounds = judged_runs.measures[measure].bounds
        compared, weights, _ = units.compared(table)
        of_two = paired_statistics(
            compared, weights, None, None, confidence_level, anytime, bounds
        )
        difference = of_two.difference[0, 1]
        is_changed = _verdicts(of_two, level)[0, 1] != verdicts[less, more]
        if verdicts[less, more] == 0:
            # A difference that is not significant says no more than its interval.
            is_changed &= difference > statistics.interval[less, more, 1]
        if is_changed:
            if_relevant[less, more] = difference
    return mean_fractions, if_relevant


def _verdicts(statistics, level):
    """Return the signs of differences; 0 where a difference is not significant."""
    is_significant = statistics.p_value <= level
    return np.sign(statistics.difference) * is_significant


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
        "queries drawn at random, and give the old judgements as the judge of "
        "compare_judged_runs."
    )
    if len(undecided) > 1:
        warning += f" The same holds for {len(undecided) - 1} more pairs."
    return warning
