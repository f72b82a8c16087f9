"""Tables of measures with a row for each query, and measures of runs."""

import re
from copy import copy
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ..datasets._trec import RELEVANCE, SCORE, check_ids, read_mapping
from ..lists._lists import RankingLists
from ..lists._ranks import sort_lists
from ..target_losses._names import (
    SCORE_ONLY,
    TARGET_LOSSES,
    names_of,
    plain_name,
    resolve_measure,
)
from ..target_losses._target_loss import check_zero_division, mean_of_lists
from ..validation._arrays import ArrayLike, check_same_labels, exact_scores, table_of
from ..validation._check import refuse
from ..validation._checks_of_comparisons import CHECKS_OF_RUNS
from ..validation._checks_of_scores import CHECKS_OF_NAMED_MEASURES
from ..validation._findings import reports
from ..validation._kinds import arrive
from ..validation._labels import lists_of, read_labels, split_target
from ..validation._parameters import by_keyword, check_parameter, count
from ..validation._rules import are_reversed, centred_labels, look_for
from ._query_weights import Units

if TYPE_CHECKING:
    import pandas


#: Names of measures that take a cut-off, without it.
_NAMES_WITH_K = {
    entry.base
    for entry in [*TARGET_LOSSES.values(), *SCORE_ONLY.values()]
    if entry.at in {"k", "[k]"}
}


def named_measures(measures, k=None):
    """Resolve measures by name, in the order given.

    A name without "@" that takes a cut-off stands for a measure with each cut-off of
    `k`. Refuses an empty list of measures, unknown names, and k where no name takes it.
    """
    if isinstance(measures, dict):
        named = dict(measures)
    else:
        several = measures if isinstance(measures, list | tuple) else [measures]
        named = {m if isinstance(m, str) else repr(m): m for m in several}
    cutoffs = None
    if k is not None:
        cutoffs = [k] if np.ndim(k) == 0 else list(k)
    is_named = [
        isinstance(one, str) and plain_name(one) in _NAMES_WITH_K
        for one in named.values()
    ]
    refuse(
        CHECKS_OF_NAMED_MEASURES,
        measures=named,
        cutoffs=cutoffs,
        is_k_used=None if cutoffs is None else any(is_named),
        names_with_k=_NAMES_WITH_K,
    )
    if cutoffs is not None:
        named = _with_cutoffs(named, cutoffs)
    return {name: resolve_measure(measure) for name, measure in named.items()}


def _with_cutoffs(named, cutoffs):
    """Replace each name that takes a cut-off and has none by several names."""
    for cutoff in cutoffs:
        check_parameter("k", cutoff, [count()])
    with_cutoffs = {}
    for name, measure in named.items():
        if isinstance(measure, str) and plain_name(measure) in _NAMES_WITH_K:
            for cutoff in cutoffs:
                with_cutoffs[f"{name}@{cutoff}"] = f"{measure}@{cutoff}"
        else:
            with_cutoffs[name] = measure
    return with_cutoffs


@reports
def per_query(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    measure: Any = ("ndcg@5", "ndcg@10", "map"),
    k: Any = None,
    zero_division: float = np.nan,
) -> "pandas.DataFrame | np.ndarray":
    """Measure each query; returns a table with the query ids.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels; a `ranking_target` carries its qid. NaN in a matrix leaves the item out.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better; ties count as the mean over their orders.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list, or each
        row of a matrix is one.
    measure : str, RankingMeasure, list of these, or dict from names, \
default=("ndcg@5", "ndcg@10", "map")
        Names as in `get_ranking_scorer_names`, or objects.
    k : int, sequence of int or None, default=None
        Cut-offs for names that take one and state none: ``measure=["ndcg", "auc"],
        k=[5, 10]`` is ``["ndcg@5", "ndcg@10", "auc"]``.
    zero_division : float, default=nan
        Value of a query on which a measure is undefined.

    Returns
    -------
    DataFrame, or structured ndarray without pandas
        A row for each query in order of first appearance and a column for each measure.
        Greater is better (losses such as "pd" are negative). The index, or a field, is
        qid.

    Raises
    ------
    ValueError
        If a name is unknown, no measure takes `k`, or labels, scores and ids do not
        fit.

    See Also
    --------
    compare_rankers : Intervals and tests for the differences between several rankers.

    Examples
    --------
    >>> from lowrank_rank.evaluation import per_query
    >>> y, scores, qid = [1, 0, 0, 1], [2.0, 1.0, 4.0, 3.0], ["a", "a", "b", "b"]
    >>> table = per_query(y, scores, qid=qid, measure=["precision", "auc"], k=[1, 2])
    >>> table["precision@1"].tolist(), table["precision@2"].tolist()
    ([1.0, 0.0], [0.5, 0.5])
    >>> table["auc"].tolist()
    [1.0, 0.0]
    """
    arrive(y_true=y_true, y_score=y_score, qid=qid)
    check_same_labels(y_true=y_true, y_score=y_score, qid=qid)
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true", accept_sparse=True)
    lists = lists_of(y, qid, "y_true")
    ids = np.arange(lists.n_lists) if lists.ids is None else lists.ids
    columns = {"qid": ids}
    for name, one_measure in named_measures(measure, k).items():
        columns[name] = one_measure.measure(
            y, y_score, qid=qid, average=None, zero_division=zero_division
        )
    return table_of(columns, index="qid")


@by_keyword("evaluate_run(qrels=..., run=...)")
@reports
def evaluate_run(
    *,
    qrels: Any,
    run: Any,
    measure: Any = ("ndcg@10", "map"),
    k: Any = None,
    average: str | None = "mean",
    groups: Any = None,
    sample_weight: Any = None,
    all_queries: bool = True,
    zero_division: float = np.nan,
) -> "dict[str, Any] | Any":
    """Measure a run against judgements: what was not retrieved counts as missed.

    A run scores the documents that a system has retrieved for each query, judgements
    (qrels) say how relevant documents are. Relevant documents that were not retrieved
    count in the denominators of recall, MAP, NDCG and precision at a fraction.
    Documents without judgement, or with a negative one, have grade 0. This is what
    trec_eval does, except for ties: here equal scores have the mean value over their
    orders, there the names of documents decide.

    Parameters
    ----------
    qrels : dict, frame, path of a file or ranx.Qrels
        ``{query: {document: grade}}``, ``{query: relevant documents}`` with lists or
        sets of ids, or a frame of pandas or polars with the columns "qid", "docno" and
        "relevance", "label" or "rel" ("query_id", "q_id" and "doc_id" are read too).
        Ids are taken as text, whole floats as integers.
    run : dict, frame, path of a file or ranx.Run
        ``{query: {document: score}}``, ``{query: [documents, best first]}``, or a frame
        whose column of values is "score".
    measure : str, RankingMeasure, list of these, or dict from names, \
default=("ndcg@10", "map")
        Measures from the top of a list, and "judged@k", the judged fraction of the
        first k documents. AUC, rank correlations and pairs compare documents that a run
        does not order.
    k : int, sequence of int or None, default=None
        Cut-offs for names without one, as in `per_query`.
    average : {"mean", None}, default="mean"
        The mean over queries, or a table with one row per query.
    groups : dict, Series or None, default=None
        Family of each query by its id: the mean is over the means of the families. For
        average="mean" only; `mean_intervals` takes a table and groups.
    sample_weight : dict, Series or None, default=None
        Weight >= 0 of each query by its id, such as its traffic. The weight of a family
        is the mean weight of its queries. For average="mean" only.
    all_queries : bool, default=True
        Whether judged queries that the run lacks count as if nothing had been
        retrieved, as in ir_measures and ``trec_eval -c``; a warning says their number.
        False evaluates only the queries that both have, as trec_eval does by default.
    zero_division : float, default=nan
        Value of a query without a relevant document, if the measure is then undefined;
        nan skips it in the mean. trec_eval uses 0.

    Returns
    -------
    dict of str to float, or DataFrame (structured ndarray without pandas)
        The mean of each measure, greater is better, or the table with qid.

    Raises
    ------
    ValueError
        If run and judgements share no query, or no document of any query, a measure
        does not read from the top, or a value is not finite.
    TypeError
        If `run` or `qrels` is of another type, or they are exchanged.

    See Also
    --------
    compare_runs : One run or several, with intervals and judged@k.

    References
    ----------
    .. [1] trec_eval, National Institute of Standards and Technology,
       https://github.com/usnistgov/trec_eval

    Examples
    --------
    Two of three relevant documents are found, at ranks 1 and 3; nobody judged d7.

    >>> from lowrank_rank.evaluation import evaluate_run
    >>> run = {"q1": {"d1": 3.0, "d7": 2.0, "d2": 1.0}}
    >>> qrels = {"q1": {"d1": 1, "d2": 1, "d3": 1}}
    >>> names = ["precision@5", "recall@5", "map"]
    >>> values = evaluate_run(qrels=qrels, run=run, measure=names)
    >>> {name: round(value, 3) for name, value in values.items()}
    {'precision@5': 0.4, 'recall@5': 0.667, 'map': 0.556}

    The average precision is (1/1 + 2/3) / 3. The second query is asked three times as
    often, and finds nothing:

    >>> qrels = {"q1": {"d1", "d2", "d3"}, "q2": {"d9"}}
    >>> run["q2"] = ["d1"]
    >>> traffic = {"q1": 1, "q2": 3}
    >>> evaluate_run(
    ...     qrels=qrels, run=run, measure="precision@5", sample_weight=traffic
    ... )
    {'precision@5': 0.1}
    """
    arrive(qrels=qrels, run=run, groups=groups, sample_weight=sample_weight)
    check_parameter("all_queries", all_queries, [bool])
    fallback = check_zero_division(zero_division)
    measures, cutoffs = _split_judged(measure, k)
    tables = {"run": run, "qrels": qrels}
    run = read_mapping(run, SCORE, "run", other="qrels")
    qrels = read_mapping(qrels, RELEVANCE, "qrels")
    queries = [query for query in run if query in qrels]
    if all_queries:
        queries += [query for query in qrels if query not in run]
    check_ids(run, qrels, "The run", queries, tables)
    refuse(
        CHECKS_OF_RUNS,
        measures=measures,
        usable=measures_of_runs,
        is_mean=average is not None,
        groups=groups,
        sample_weight=sample_weight,
    )
    units = Units(sample_weight, groups, queries, len(queries), of_runs=True)
    of_run = ListsOfRun(run, qrels, queries)
    columns = {}
    for name, one_measure in measures.items():
        of_queries = of_run.values(one_measure)
        columns[name] = np.where(np.isnan(of_queries), fallback, of_queries)
    if measures:
        look_at_run(
            "run",
            of_run,
            measures,
            next(iter(columns.values())),
            is_unjudged_irrelevant=not have_judged_irrelevant(qrels),
        )
    for name, cutoff in cutoffs.items():
        columns[name] = of_run.judged_fractions(of_run.are_first(cutoff))
    values = {}
    for name, of_queries in columns.items():
        of_units, weights = units.average(of_queries[:, np.newaxis])
        if weights is None:
            weights = np.ones(len(of_units))
        values[name] = mean_of_lists(
            of_units[:, 0], weights, average=average, zero_division=fallback
        )
    if average == "mean":
        return values
    return table_of({"qid": np.array(queries, dtype=object), **values}, index="qid")


def _split_judged(measure, k):
    """Split the names "judged@k" from the measures.

    Returns
    -------
    measures : dict of str to RankingMeasure
    cutoffs : dict of str to int
        The k of each judged fraction, by its name.
    """
    named = measure
    if isinstance(measure, str):
        named = [measure]
    if isinstance(named, list | tuple):
        named = dict(zip(map(str, named), named, strict=True))
    if not isinstance(named, dict):
        return named_measures(measure, k), {}
    cutoffs = {}
    for name, one in named.items():
        is_judged = isinstance(one, str) and re.fullmatch(r"judged@([1-9]\d*)", one)
        if is_judged:
            cutoffs[name] = int(one.partition("@")[2])
    if not cutoffs:
        return named_measures(measure, k), {}
    if isinstance(measure, dict):
        others = {name: one for name, one in measure.items() if name not in cutoffs}
    else:
        others = [one for name, one in named.items() if name not in cutoffs]
    if not others and k is None:
        return {}, cutoffs
    return named_measures(others, k), cutoffs


def have_judged_irrelevant(qrels):
    """Whether judgements name documents that are not relevant.

    Judgements of relevant documents only do not say what was judged.
    """
    return any(grade <= 0 for grades in qrels.values() for grade in grades.values())


def look_at_run(name, of_run, measures, values, *, is_unjudged_irrelevant):
    """Look for first documents without judgement, and for distances or ranks.

    Parameters
    ----------
    name : str
        Name of the run.
    of_run : ListsOfRun
    measures : dict of str to RankingMeasure
    values : ndarray of shape (n_queries,)
        Of the first measure.
    is_unjudged_irrelevant : bool
        Whether the judgements name relevant documents only.
    """
    if not is_unjudged_irrelevant:
        cutoffs: Any = {getattr(one, "k", None) for one in measures.values()} - {None}
        unjudged = [k for k in cutoffs if of_run.is_top_unjudged(k)]
        look_for("unjudged top", name, max(unjudged, default=None), about=name)
    if of_run.are_scores_reversed(is_unjudged_irrelevant):
        first = next(iter(measures.values()))
        random_values = of_run.values_of_random_order(first)
        look_for("reversed scores", name, values, random_values, about=name)


def measures_of_runs():
    """Return names of measures that take runs, one of each class."""
    return names_of(lambda one: one.takes_runs, one_each=True, scored=True)


class ListsOfRun:
    """A list of each query: the retrieved documents, then the relevant others.

    Parameters
    ----------
    run, qrels : dict of str to dict of str to float
    queries : sequence of str

    Attributes
    ----------
    grades : ndarray of shape (n_documents,)
        Grades >= 0; 0 without judgement.
    scores : ndarray of shape (n_documents,)
        Scores of the run; -inf for documents that were not retrieved.
    is_retrieved : ndarray of bool, shape (n_documents,)
    is_judged : ndarray of bool, shape (n_documents,)
    n_retrieved : ndarray of int, shape (n_queries,)
    lists : RankingLists
    """

    def __init__(self, run, qrels, queries):
        grades: list[float] = []
        scores_of_run: list[float] = []
        n_retrieved = []
        n_missed = []
        for query in queries:
            retrieved = run.get(query, {})
            judged = qrels.get(query, {})
            missed = [
                grade
                for document, grade in judged.items()
                if grade > 0 and document not in retrieved
            ]
            if not retrieved and not missed:
                missed = [0.0]  # a list holds a document at least
            grades.extend(map(judged.get, retrieved, repeat(np.nan)))
            grades.extend(missed)
            scores_of_run.extend(retrieved.values())
            n_retrieved.append(len(retrieved))
            n_missed.append(len(missed))
        self.n_retrieved = np.array(n_retrieved)
        judgements = np.array(grades, dtype=np.float64)
        self.is_judged = ~np.isnan(judgements)
        self.grades = np.fmax(judgements, 0.0)
        self.is_retrieved = np.repeat(
            np.tile([True, False], len(queries)),
            np.column_stack([self.n_retrieved, n_missed]).ravel(),
        )
        self.scores = np.full(len(grades), -np.inf)
        self.scores[self.is_retrieved] = exact_scores(scores_of_run)
        self.lists = RankingLists(self.n_retrieved + n_missed)

    def are_first(self, k):
        """Return which retrieved documents are the first k, or tied with the last."""
        order = sort_lists(self.scores, self.lists)
        last = self.lists.starts + np.minimum(k, self.lists.lengths) - 1
        lowest_score = self.scores[order[last]]
        return self.is_retrieved & (self.scores >= self.lists.repeat(lowest_score))

    def is_top_unjudged(self, k):
        """Return whether none of the first k documents of any query is judged."""
        is_first = self.are_first(k)
        return bool(is_first.any() and not np.any(is_first & self.is_judged))

    def judged_fractions(self, is_first):
        """Compute the judged fraction of the first documents, (n_queries,).

        It is 1 where the run retrieved nothing. `is_first` is from `are_first`.
        """
        n_lists = self.lists.n_lists
        n_first = np.bincount(self.lists.index[is_first], minlength=n_lists)
        is_judged = is_first & self.is_judged
        n_judged = np.bincount(self.lists.index[is_judged], minlength=n_lists)
        return np.divide(n_judged, n_first, out=np.ones(n_lists), where=n_first > 0)

    def judged_depth(self):
        """Return the number of first documents that are judged in all queries."""
        is_unjudged = self.is_retrieved & ~self.is_judged
        scores = np.where(is_unjudged, self.scores, -np.inf)
        best_unjudged = np.maximum.reduceat(scores, self.lists.starts)
        # Documents above the best unjudged one; all documents of a query without it.
        is_above = self.scores > self.lists.repeat(best_unjudged)
        depths = np.bincount(self.lists.index[is_above], minlength=self.lists.n_lists)
        has_unjudged = np.bincount(self.lists.index[is_unjudged], minlength=len(depths))
        if has_unjudged.any():
            return int(depths[has_unjudged > 0].min())
        return int(depths.max())

    def values_if(self, measure, grade, places, missed, are_first):
        """Measure the run as if some documents had another grade.

        Parameters
        ----------
        measure : RankingMeasure
        grade : float
        places : ndarray of int
            Places of documents with the grade.
        missed : ndarray of int
            The query of each further document with the grade, not retrieved.
        are_first : ndarray of bool, shape (n_documents,)
            The retrieved documents that the measure reads. It counts the relevant ones
            among the others.

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        changed = copy(self)
        grades = self.grades.copy()
        grades[places] = grade
        is_read = are_first | ~self.is_retrieved | (grades > 0)
        n_read = np.bincount(self.lists.index[is_read])
        ends = np.cumsum(n_read)[missed]
        changed.grades = np.insert(grades[is_read], ends, grade)
        changed.scores = np.insert(self.scores[is_read], ends, -np.inf)
        changed.is_retrieved = np.insert(self.is_retrieved[is_read], ends, False)
        n_missed = np.bincount(missed, minlength=self.lists.n_lists)
        changed.lists = RankingLists(n_read + n_missed)
        return changed.values(measure)

    def values(self, measure):
        """Measure the run on each query; nan where the measure is undefined.

        The measure takes runs.
        """
        return self._values_of(self.scores, measure)

    def are_scores_reversed(self, is_unjudged_irrelevant):
        """Return whether scores >= 0 vary against the grades of what is retrieved.

        Where judgements name documents that are not relevant, unjudged ones have no
        grade: a better run than the judged ones has them above those that it shares.
        """
        if self.scores[self.is_retrieved].min(initial=0.0) < 0:
            return False
        is_graded = self.is_retrieved
        if not is_unjudged_irrelevant:
            is_graded = self.is_retrieved & self.is_judged
        grades = np.where(is_graded, self.grades, np.nan)
        centred = centred_labels(grades, self.lists)
        return centred is not None and are_reversed(self.scores, *centred)

    def values_of_random_order(self, measure):
        """Measure the mean over all orders of the retrieved documents."""
        equal_scores = np.where(self.is_retrieved, 0.0, -np.inf)
        return self._values_of(equal_scores, measure)

    def _values_of(self, scores, measure):
        labels = measure.check_labels(self.grades)
        return measure.values_of_run(labels, scores, self.lists, self.is_retrieved)
