"""Runs of a retrieval system against judgements, as trec_eval evaluates them."""

from typing import Any

import numpy as np

from .._arrays import table_of
from .._lists import RankingLists
from .._parameters import check_parameter
from ..datasets._trec import RELEVANCE, SCORE, read_mapping
from ..target_losses import names_of
from ..target_losses._base import check_zero_division, mean_of_lists
from ._per_query import named_measures


def evaluate_run(
    run: Any,
    qrels: Any,
    measures: Any = ("ndcg@10", "map"),
    *,
    k: Any = None,
    average: str | None = "mean",
    all_queries: bool = False,
    zero_division: float = np.nan,
) -> "dict | Any":
    """Measures of a run against judgements: what was not retrieved counts as missed.

    A run scores the documents that a system has retrieved for each query, judgements (qrels) say
    how relevant documents are. Relevant documents that were not retrieved add nothing and count
    in what recall, MAP, NDCG and precision at a fraction divide by; documents that nobody judged
    have grade 0, as do negative judgements. This is what trec_eval does, but for ties: here
    equal scores have the mean value over their orders, there the names of documents decide.

    Parameters
    ----------
    run : dict, frame or ranx.Run
        ``{query: {document: score}}``, or a frame of pandas or polars with the columns "qid",
        "docno" and "score" ("query_id", "q_id" and "doc_id" will do). Ids are taken as text.
    qrels : dict, frame or ranx.Qrels
        ``{query: {document: grade}}``, or a frame whose column of grades is "relevance",
        "label" or "rel".
    measures : str, RankingMeasure, list of these, or dict from names, default=("ndcg@10", "map")
        Those that go from the top: all but AUC, rank correlations and pairs, which compare
        documents that a run does not order.
    k : int, sequence of int or None, default=None
        Cut-offs of the names that have none, as in `per_query`.
    average : {"mean", None}, default="mean"
        The mean over queries, or a table with one row per query.
    all_queries : bool, default=False
        Whether judged queries that the run has not answered count as if nothing had been
        retrieved, as with ``trec_eval -c``; else only those that both have are evaluated.
    zero_division : float, default=nan
        Value of a query on which a measure is undefined, one without a relevant document; nan
        leaves it out of the mean. trec_eval takes 0.

    Returns
    -------
    dict of str to float, or DataFrame (structured ndarray without pandas)
        The mean of each measure, greater is better; or the table with qid, in the order of the
        run.

    Raises
    ------
    ValueError
        If run and judgements share no query, a measure is not one of the top, or a value is not
        finite.
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
    """
    check_parameter("all_queries", all_queries, [bool])
    fallback = check_zero_division(zero_division)
    measures = named_measures(measures, k)
    _check_from_the_top(measures)
    queries, (y, scores, retrieved), lists = _lists_of_run(
        read_mapping(run, SCORE, "run"), read_mapping(qrels, RELEVANCE, "qrels"), all_queries
    )
    values = {
        name: mean_of_lists(
            measure.values_of_run(measure.check_labels(y), scores, lists, retrieved),
            np.ones(lists.n_lists),
            average=average,
            zero_division=fallback,
        )
        for name, measure in measures.items()
    }
    if average == "mean":
        return values
    return table_of({"qid": np.array(queries, dtype=object), **values}, index="qid")


def _check_from_the_top(measures):
    for name, measure in measures.items():
        if not measure.takes_runs:
            known = names_of(lambda loss: loss.takes_runs, one_each=True)
            raise ValueError(
                f"{name!r} compares all documents of a query, and a run orders only those that it "
                f"retrieved: take one of {', '.join([*known, 'mrr', 'err'])}, with their cut-offs."
            )


def _lists_of_run(run, qrels, all_queries):
    """The queries, and one list for each: the retrieved documents, then the relevant others."""
    both = [query for query in run if query in qrels]
    if all_queries:
        both += [query for query in qrels if query not in run]
    if not both:
        raise ValueError("run and qrels share no query: are their ids the same?")
    columns: tuple = ([], [], [])
    lengths = []
    for query in both:
        found, grades = run.get(query, {}), qrels[query]
        missed = [v for doc, v in grades.items() if v > 0 and doc not in found]
        if not found and not missed:
            missed = [0.0]  # a list holds a document at least
        columns[0].extend(max(grades.get(document, 0.0), 0.0) for document in found)
        columns[0].extend(missed)
        columns[1].extend(found.values())
        columns[1].extend([-np.inf] * len(missed))
        columns[2].extend([True] * len(found) + [False] * len(missed))
        lengths.append(len(found) + len(missed))
    y, scores, retrieved = columns
    arrays = np.array(y, dtype=np.float64), np.array(scores, dtype=np.float64), np.array(retrieved)
    return both, arrays, RankingLists(lengths)
