"""A table of measures: one row per query, with the ids."""

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import ArrayLike, check_same_labels, exact_scores, table_of
from .._labels import lists_of, read_labels, split_target
from .._lists import RankingLists
from .._parameters import check_parameter, count
from ..datasets._trec import RELEVANCE, SCORE, check_ids, read_mapping
from ..target_losses._names import (
    SCORE_ONLY,
    TARGET_LOSSES,
    names_of,
    plain_name,
    resolve_measure,
)
from ..target_losses._target_loss import check_zero_division, mean_of_lists

if TYPE_CHECKING:
    import pandas


def named_measures(measures, k=None):
    """Measures by name, in the order given; a name without "@" that takes a cut gets each of `k`.

    Refuses no measure at all, unknown names, and k where no name takes it.
    """
    if isinstance(measures, dict):
        named = dict(measures)
    else:
        several = measures if isinstance(measures, list | tuple) else [measures]
        named = {m if isinstance(m, str) else repr(m): m for m in several}
    if not named:
        raise ValueError("There is no measure: name at least one, such as 'ndcg@10'.")
    if k is not None:
        cuts = [k] if np.ndim(k) == 0 else list(k)
        for cut in cuts:
            check_parameter("k", cut, [count()])
        entries = [*TARGET_LOSSES.values(), *SCORE_ONLY.values()]
        taking = {entry.base for entry in entries if entry.at in {"k", "[k]"}}
        if not taking & {plain_name(m) for m in named.values() if isinstance(m, str)}:
            raise ValueError(
                f"k={cuts} is given, but no measure among {list(named)} takes it: name one "
                f"without its cut-off, such as {', '.join(sorted(taking))}."
            )
        cut_off: dict = {}
        for name, measure in named.items():
            takes = isinstance(measure, str) and plain_name(measure) in taking
            cut_off |= (
                {f"{name}@{c}": f"{measure}@{c}" for c in cuts}
                if takes
                else {name: measure}
            )
        named = cut_off
    return {name: resolve_measure(measure) for name, measure in named.items()}


def per_query(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    measure: Any = ("ndcg@5", "ndcg@10", "map"),
    k: Any = None,
    zero_division: float = np.nan,
) -> "pandas.DataFrame | np.ndarray":
    """Measures of each query, as a table with the query ids.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels; a `ranking_target` carries its qid.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better; ties count as the mean over their orders.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, whose rows are numbered.
    measure : str, RankingMeasure, list of these, or dict from names, default=("ndcg@5", \
"ndcg@10", "map")
        Names as in `get_ranking_scorer_names`, or objects.
    k : int, sequence of int or None, default=None
        Cut-offs of the names that take one and have none: ``measure=["ndcg", "auc"],
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
    >>> from lowrank_rank.metrics import per_query
    >>> y, scores, qid = [1, 0, 0, 1], [2.0, 1.0, 4.0, 3.0], ["a", "a", "b", "b"]
    >>> table = per_query(y, scores, qid=qid, measure=["precision", "auc"], k=[1, 2])
    >>> table["precision@1"].tolist(), table["precision@2"].tolist(), table["auc"].tolist()
    ([1.0, 0.0], [0.5, 0.5], [1.0, 0.0])
    """
    check_same_labels(y_true=y_true, y_score=y_score, qid=qid)
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true", accept_sparse=True)
    lists = lists_of(y, qid, "y_true")
    ids = np.arange(lists.n_lists) if lists.ids is None else lists.ids
    values = {
        name: one.measure(
            y, y_score, qid=qid, average=None, zero_division=zero_division
        )
        for name, one in named_measures(measure, k).items()
    }
    return table_of({"qid": ids, **values}, index="qid")


def evaluate_run(
    run: Any,
    qrels: Any,
    measure: Any = ("ndcg@10", "map"),
    *,
    k: Any = None,
    average: str | None = "mean",
    all_queries: bool = True,
    zero_division: float = np.nan,
) -> "dict[str, Any] | Any":
    """Measures of a run against judgements: what was not retrieved counts as missed.

    A run scores the documents that a system has retrieved for each query, judgements
    (qrels) say how relevant documents are. Relevant documents that were not retrieved
    count in the denominators of recall, MAP, NDCG and precision at a fraction.
    Documents without judgement, or with a negative one, have grade 0. This is what
    trec_eval does, but for ties: here equal scores have the mean value over their
    orders, there the names of documents decide.

    Parameters
    ----------
    run : dict, frame or ranx.Run
        ``{query: {document: score}}``, ``{query: [documents, best first]}`` with ids as
        text, or a frame of pandas or polars with the columns "qid", "docno" and "score"
        ("query_id", "q_id" and "doc_id" will do). Ids are taken as text, whole floats
        as integers.
    qrels : dict, frame or ranx.Qrels
        ``{query: {document: grade}}``, ``{query: {relevant documents}}`` with sets, or
        a frame whose column of grades is "relevance", "label" or "rel".
    measure : str, RankingMeasure, list of these, or dict from names, default=("ndcg@10", "map")
        Measures from the top of a list. AUC, rank correlations and pairs are refused:
        they compare documents that a run does not order.
    k : int, sequence of int or None, default=None
        Cut-offs of the names that have none, as in `per_query`.
    average : {"mean", None}, default="mean"
        The mean over queries, or a table with one row per query.
    all_queries : bool, default=True
        Whether judged queries that the run lacks count as if nothing had been
        retrieved, as in ir_measures and ``trec_eval -c``; a warning says their number.
        False evaluates only the queries that both have, as trec_eval does by default.
    zero_division : float, default=nan
        Value of a query without a relevant document, if the measure is then undefined;
        nan skips it in the mean. trec_eval has 0.

    Returns
    -------
    dict of str to float, or DataFrame (structured ndarray without pandas)
        The mean of each measure, greater is better, or the table with qid.

    Raises
    ------
    ValueError
        If run and judgements share no query, or no document of any query, a measure is
        not one of the top, or a value is not finite.
    TypeError
        If `run` or `qrels` is nothing of the kind.

    See Also
    --------
    lowrank_rank.datasets.load_run : Reads files of runs.
    lowrank_rank.datasets.load_qrels : Reads files of judgements.

    References
    ----------
    .. [1] trec_eval, National Institute of Standards and Technology,
       https://github.com/usnistgov/trec_eval

    Examples
    --------
    Two of three relevant documents are found, at ranks 1 and 3; nobody judged d7.

    >>> from lowrank_rank.metrics import evaluate_run
    >>> run = {"q1": {"d1": 3.0, "d7": 2.0, "d2": 1.0}}
    >>> qrels = {"q1": {"d1": 1, "d2": 1, "d3": 1}}
    >>> values = evaluate_run(run, qrels, ["precision@5", "recall@5", "map"])
    >>> {name: round(value, 3) for name, value in values.items()}  # map: (1/1 + 2/3) / 3
    {'precision@5': 0.4, 'recall@5': 0.667, 'map': 0.556}

    A list of documents and a set of relevant ones have the same value:

    >>> evaluate_run({"q1": ["d1", "d7", "d2"]}, {"q1": {"d1", "d2", "d3"}}, "precision@5")
    {'precision@5': 0.4}
    """
    check_parameter("all_queries", all_queries, [bool])
    fallback = check_zero_division(zero_division)
    measures = named_measures(measure, k)
    run, qrels = (
        read_mapping(run, SCORE, "run"),
        read_mapping(qrels, RELEVANCE, "qrels"),
    )
    queries = [query for query in run if query in qrels]
    queries += [query for query in qrels if all_queries and query not in run]
    check_ids(run, qrels, "The run", queries)
    values = {
        name: mean_of_lists(
            each, np.ones(len(each)), average=average, zero_division=fallback
        )
        for name, each in values_of_run(run, qrels, queries, measures).items()
    }
    if average == "mean":
        return values
    return table_of({"qid": np.array(queries, dtype=object), **values}, index="qid")


def values_of_run(run, qrels, queries, measures):
    """The measures, by name, of a run on these queries; nan where a measure is undefined."""
    for name, measure in measures.items():
        if not measure.takes_runs:
            usable = names_of(lambda one: one.takes_runs, one_each=True, scored=True)
            raise ValueError(
                f"{name!r} compares all documents of a query, and a run orders only those that it "
                f"retrieved: use one of {', '.join(usable)}, with their cut-offs."
            )
    (y, scores, retrieved), lists = _lists_of_run(run, qrels, queries)
    return {
        name: measure.values_of_run(measure.check_labels(y), scores, lists, retrieved)
        for name, measure in measures.items()
    }


def _lists_of_run(run, qrels, queries):
    """One list for each query: the retrieved documents, then the relevant others."""
    columns: tuple = ([], [], [])
    lengths = []
    for query in queries:
        found, grades = run.get(query, {}), qrels.get(query, {})
        missed = [v for doc, v in grades.items() if v > 0 and doc not in found]
        if not found and not missed:
            missed = [0.0]  # a list holds a document at least
        columns[0].extend(max(grades.get(document, 0.0), 0.0) for document in found)
        columns[0].extend(missed)
        columns[1].extend(found.values())
        columns[2].extend([True] * len(found) + [False] * len(missed))
        lengths.append(len(found) + len(missed))
    y, scores, retrieved = columns
    is_found = np.array(retrieved)
    of_all = np.full(len(is_found), -np.inf)
    of_all[is_found] = exact_scores(scores)
    return (np.array(y, dtype=np.float64), of_all, is_found), RankingLists(lengths)
