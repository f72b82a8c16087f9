"""Readers of scores, fitted models and runs: values of all rankers on each query."""

from typing import Any, NamedTuple

import numpy as np

from .._arrays import (
    check_same_columns,
    check_same_index,
    n_rows,
    shown,
)
from .._labels import (
    lists_of,
    read_labels,
    refuse_ids_beside_grades,
    split_target,
)
from .._warn import warn
from ..datasets._trec import (
    RELEVANCE,
    SCORE,
    check_ids,
    check_judged,
    is_judgements,
    read_mapping,
)
from ..target_losses._target_loss import check_zero_division
from ._per_query import values_of_run
from ._scorer import RankingScorer


class QueryValues(NamedTuple):
    """Values of all rankers on each query.

    Attributes
    ----------
    ids : ndarray of shape (n_queries,), or None
        Ids of the queries; None numbers them.
    by_people : dict of str to ndarray of shape (n_queries, n_rankers)
        For each measure, the values by the labels of people, and by the labels of the
        judge where people gave none.
    by_judge : dict of str to ndarray of shape (n_queries, n_rankers)
        For each measure, the values by the labels of the judge. Empty without a judge.
    is_human : ndarray of bool, shape (n_queries,), or None without a judge
        Whether people labelled the query.
    n_unanswered : ndarray of int, shape (n_rankers,), or None
        Number of queries that a run lacks; None if the rankers are no runs.
    """

    ids: Any
    by_people: dict[str, np.ndarray]
    by_judge: dict[str, np.ndarray]
    is_human: Any
    n_unanswered: Any


def measure_rankers(y_true, judge, rankers, X, qid, measures, zero_division):
    """Measure scores, fitted models or runs on each query; returns `QueryValues`."""
    if is_judgements(y_true) or is_judgements(judge):
        return _measure_runs(y_true, judge, rankers, X, qid, measures, zero_division)
    return _measure_scores(y_true, judge, rankers, X, qid, measures, zero_division)


def _check_judge(judge, zero_division):
    """Refuse a judge with queries that are skipped."""
    if judge is not None and np.isnan(check_zero_division(zero_division)):
        raise ValueError(
            "With judge=, zero_division must be a number, such as 0: human and judge "
            "can leave different queries undefined, and skipping them would bias the "
            "means."
        )


# Runs and judgements ----------------------------------------------------------------


def _measure_runs(qrels, judge, rankers, X, qid, measures, zero_division):
    """Measure runs by the judgements of people, and by those of a judge."""
    _check_judge(judge, zero_division)
    if X is not None or qid is not None:
        raise ValueError(
            "Runs and judgements carry their queries: leave out X and qid."
        )
    by_people = read_mapping(qrels, RELEVANCE, "y_true")
    by_judge = None
    judgements = by_people
    if judge is not None:
        by_judge = read_mapping(judge, RELEVANCE, "judge")
        judgements = by_judge
        missing = sorted(by_people.keys() - by_judge.keys())
        if missing:
            raise ValueError(
                f"judge has no query {shown(missing[0])}: it must label all queries."
            )
    runs = {
        name: read_mapping(run, SCORE, f"rankers[{name!r}]")
        for name, run in rankers.items()
    }
    # A query counts if any run has it.
    queries = [q for q in judgements if any(q in run for run in runs.values())]
    check_judged(by_people, by_judge, runs, measures)
    n_unanswered = [
        check_ids(run, judgements, f"The run {name!r}", queries)
        for name, run in runs.items()
    ]
    _warn_of_queries_without_run(judgements, queries)
    fallback = check_zero_division(zero_division)
    judge_values = {}
    is_human = None
    if by_judge is not None:
        judge_values = _values_of_runs(by_judge, runs, queries, measures, fallback)
        is_human = np.array([q in by_people for q in queries])
    return QueryValues(
        ids=np.array(queries, dtype=object),
        by_people=_values_of_runs(by_people, runs, queries, measures, fallback),
        by_judge=judge_values,
        is_human=is_human,
        n_unanswered=np.array(n_unanswered),
    )


def _warn_of_queries_without_run(judgements, queries):
    """Warn if some queries of the judgements are in no run."""
    n_left_out = len(judgements) - len(queries)
    if not n_left_out:
        return
    answered = set(queries)
    example = next(q for q in judgements if q not in answered)
    warn(
        f"The runs lack {n_left_out} of {len(judgements)} judged queries, such as "
        f"{shown(example)}, all of them: these are left out, and evaluate_run counts "
        "them."
    )


def _values_of_runs(judgements, runs, queries, measures, fallback):
    """Return the values (n_queries, n_rankers) of runs by each measure."""
    by_run = [
        values_of_run(run, judgements, queries, measures) for run in runs.values()
    ]
    tables = {}
    for name in measures:
        table = np.column_stack([values[name] for values in by_run])
        tables[name] = np.where(np.isnan(table), fallback, table)
    return tables


# Labels and scores ------------------------------------------------------------------


def _measure_scores(y_true, judge, rankers, X, qid, measures, zero_division):
    """Measure scores and models by the labels of people, and by those of a judge."""
    scores = {
        f"rankers[{name!r}]": ranker
        for name, ranker in rankers.items()
        if not _is_model(ranker)
    }
    for name, table in {"y_true": y_true, "judge": judge, **scores}.items():
        refuse_ids_beside_grades(table, name)
    check_same_columns(y_true=y_true, judge=judge)
    _check_judge(judge, zero_division)
    check_same_index(y_true=y_true, judge=judge, qid=qid, X=X, **scores)
    y_true, qid = split_target(y_true, qid)
    ids = None
    if qid is not None:
        ids = lists_of(np.zeros(n_rows(y_true)), qid, "y_true").ids
    is_human = None
    if judge is not None:
        y_true, judge, is_human = _read_judge(y_true, judge, qid)
    by_people = _values_of_scores(y_true, rankers, X, qid, measures, zero_division)
    by_judge = {}
    if judge is not None:
        by_judge = _values_of_scores(judge, rankers, X, qid, measures, zero_division)
    return QueryValues(
        ids=ids,
        by_people=by_people,
        by_judge=by_judge,
        is_human=is_human,
        n_unanswered=None,
    )


def _is_model(ranker):
    return hasattr(ranker, "fit") or hasattr(ranker, "predict")


def _read_judge(y_true, judge, qid):
    """Read the labels of people and of a judge.

    Returns
    -------
    y : ndarray
        Labels of people, and of the judge in the lists that people did not label.
    judge : ndarray of the same shape
        Labels of the judge.
    is_human : ndarray of bool, shape (n_lists,)
        Whether people labelled the list.
    """
    judge, _ = split_target(judge, qid)
    y = read_labels(y_true, "y_true")
    judge = read_labels(judge, "judge")
    if y.shape != judge.shape:
        raise ValueError(
            f"y_true has the shape {y.shape}, and judge {judge.shape}: they must be "
            "equal."
        )
    is_unjudged = _has_no_label(judge)
    if is_unjudged.any():
        raise ValueError(
            f"judge is NaN in row {np.argmax(is_unjudged)}: it must label all rows."
        )
    lists = lists_of(y, qid, "y_true")
    # A row of a matrix is a list.
    list_of_row = lists.codes if y.ndim == 1 else np.arange(len(y))
    lengths = np.bincount(list_of_row)
    n_missing = np.bincount(list_of_row, weights=_has_no_label(y))
    is_partial = (n_missing > 0) & (n_missing < lengths)
    if is_partial.any():
        place = int(np.argmax(is_partial))
        query = place if lists.ids is None else lists.ids[place]
        raise ValueError(
            f"y_true has NaN in {n_missing[place]:.0f} of {lengths[place]} rows of "
            f"query {shown(query)}: people must label all rows of a query or none."
        )
    is_human = n_missing < lengths
    if y.ndim == 2:
        _check_same_items(y[is_human], judge[is_human], np.flatnonzero(is_human))
    is_judges = ~is_human[list_of_row]
    y = y.copy()
    y[is_judges] = judge[is_judges]
    return y, judge, is_human


def _check_same_items(y, judge, rows):
    """Refuse rows in which people and the judge left out different items."""
    is_different = np.isnan(y) != np.isnan(judge)
    if not is_different.any():
        return
    row, item = np.argwhere(is_different)[0]
    raise ValueError(
        f"Only one of y_true and judge is NaN in row {rows[row]}, item {item}: people "
        "must label all items of the row that the judge labels, or none."
    )


def _has_no_label(y):
    """Return whether all labels of a row are NaN."""
    return np.isnan(y).reshape(len(y), -1).all(axis=1)


def _values_of_scores(y, rankers, X, qid, measures, zero_division):
    """Return the values (n_queries, n_rankers) of scores and models by each measure."""
    columns: dict = {name: [] for name in measures}
    for ranker_name, ranker in rankers.items():
        labels = y
        scores = ranker
        ids = qid
        if _is_model(ranker):
            if X is None:
                raise ValueError(
                    f"The ranker {ranker_name!r} is a model: give X, the rows to score."
                )
            scorer = RankingScorer(measures)
            labels, scores, ids = scorer.labels_and_scores(ranker, X, y, qid)
        for name, measure in measures.items():
            try:
                values = measure.measure(
                    labels,
                    scores,
                    qid=ids,
                    average=None,
                    zero_division=zero_division,
                )
            except ValueError as error:
                raise ValueError(f"rankers[{ranker_name!r}]: {error}") from error
            columns[name].append(values)
    return {name: np.column_stack(values) for name, values in columns.items()}
