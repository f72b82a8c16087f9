"""Readers of scores, fitted models and runs: values of all rankers on each query."""

from functools import cached_property, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ..datasets._trec import (
    RELEVANCE,
    SCORE,
    check_ids,
    check_judged,
    is_judgements,
    read_mapping,
)
from ..metrics._scorer import RankingScorer, look_for_worthless_grades
from ..target_losses._target_loss import check_zero_division
from ..validation._arrays import check_same_columns, check_same_index, n_rows, shown
from ..validation._check import InputError, refuse
from ..validation._checks_of_comparisons import CHECKS_OF_JUDGE, CHECKS_OF_RUNS
from ..validation._findings import found, reporting
from ..validation._labels import (
    lists_of,
    read_labels,
    read_scores,
    refuse_ids_beside_grades,
    split_target,
)
from ..validation._rules import (
    SuspiciousDataWarning,
    are_reversed,
    centred_labels,
    look_for,
)
from ._judged import JudgedRuns, have_judged_irrelevant
from ._per_query import ListsOfRun, measures_of_runs


class QueryValues(NamedTuple):
    """Values of all rankers on each query.

    Attributes
    ----------
    names : list of str
        The rankers.
    unit : str
        "queries", or "tasks" for a table of values.
    ids : ndarray of shape (n_queries,), or None
        Ids of the queries; None numbers them.
    by_people : dict of str to ndarray of shape (n_queries, n_rankers)
        For each measure, the values by the labels of people. Where people gave none
        they are not read.
    by_judge : dict of str to ndarray of shape (n_queries, n_rankers)
        For each measure, the values by the labels of the judge. Empty without a judge.
    is_human : ndarray of bool, shape (n_queries,), or None without a judge
        Whether people labelled the query.
    n_unanswered : ndarray of int, shape (n_rankers,), or None
        Number of queries that a run lacks; None if the rankers are no runs.
    random_order : callable or None
        From the name of a measure to the values of a random order by the labels of
        `by_people`, of shape (n_queries, 1 or n_rankers). It is an order of the
        documents that are scored, and for runs of those that the run retrieved. None
        for a table of values.
    judged_runs : JudgedRuns or None
        Runs whose judgements say which documents are not relevant.
    """

    names: list[str]
    unit: str
    ids: Any
    by_people: dict[str, np.ndarray]
    by_judge: dict[str, np.ndarray]
    is_human: Any = None
    n_unanswered: Any = None
    random_order: Any = None
    judged_runs: Any = None


def measure_rankers(y_true, judge, rankers, X, qid, measures, zero_division):
    """Measure scores, fitted models or runs on each query; returns `QueryValues`."""
    if is_judgements(y_true) or is_judgements(judge):
        return _measure_runs(y_true, judge, rankers, X, qid, measures, zero_division)
    return _measure_scores(y_true, judge, rankers, X, qid, measures, zero_division)


# Runs and judgements ----------------------------------------------------------------


def _measure_runs(qrels, judge, rankers, X, qid, measures, zero_division):
    """Measure runs by the judgements of people, and by those of a judge."""
    by_people = read_mapping(qrels, RELEVANCE, "y_true")
    by_judge = None
    judgements = by_people
    if judge is not None:
        by_judge = read_mapping(judge, RELEVANCE, "judge")
        judgements = by_judge
    refuse(
        CHECKS_OF_RUNS,
        X=X,
        qid=qid,
        by_people=by_people,
        by_judge=by_judge,
        measures=measures,
        usable=measures_of_runs,
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
    _look_for_queries_without_run(judgements, queries)
    fallback = check_zero_division(zero_division)
    judge_values = {}
    is_human = None
    if by_judge is not None:
        of_judge = [ListsOfRun(run, by_judge, queries) for run in runs.values()]
        judge_values = _values_of_runs(of_judge, measures, fallback)
        is_human = np.array([q in by_people for q in queries])
    of_runs = [ListsOfRun(run, by_people, queries) for run in runs.values()]
    _look_for_depth(dict(zip(runs, of_runs, strict=True)), measures)
    judged_runs = None
    if by_judge is None and have_judged_irrelevant(by_people):
        grades = chain.from_iterable(map(dict.values, by_people.values()))
        judged_runs = JudgedRuns(
            runs=list(runs.values()),
            of_runs=of_runs,
            queries=queries,
            highest_grade=max(grades),
            measures=measures,
            fallback=fallback,
        )
    values = _values_of_runs(of_runs, measures, fallback)
    if by_judge is None:
        _look_for_reversed_runs(
            dict(zip(runs, of_runs, strict=True)),
            measures,
            values,
            is_unjudged_irrelevant=judged_runs is None,
        )
    return QueryValues(
        names=list(rankers),
        unit="queries",
        ids=np.array(queries, dtype=object),
        by_people=values,
        by_judge=judge_values,
        is_human=is_human,
        n_unanswered=np.array(n_unanswered),
        random_order=partial(_random_order_of_runs, of_runs, measures, fallback),
        judged_runs=judged_runs,
    )


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


def _look_for_reversed_runs(of_runs, measures, values, is_unjudged_irrelevant):
    """Find runs whose scores are distances or ranks."""
    name, measure = next(iter(measures.items()))
    for (run_name, of_run), value in zip(of_runs.items(), values[name].T, strict=True):
        if of_run.are_scores_reversed(is_unjudged_irrelevant):
            random_values = of_run.values_of_random_order(measure)
            look_for("reversed scores", run_name, value, random_values, about=run_name)


def _values_of_runs(of_runs, measures, fallback):
    """Return the values (n_queries, n_rankers) of runs by each measure."""
    tables = {}
    for name, measure in measures.items():
        table = np.column_stack([of_run.values(measure) for of_run in of_runs])
        tables[name] = np.where(np.isnan(table), fallback, table)
    return tables


def _random_order_of_runs(of_runs, measures, fallback, name):
    """Return the values of each run if its documents have equal scores."""
    measure = measures[name]
    values = [of_run.values_of_random_order(measure) for of_run in of_runs]
    table = np.column_stack(values)
    return np.where(np.isnan(table), fallback, table)


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
    check_same_index(y_true=y_true, judge=judge, qid=qid, X=X, **scores)
    y_true, qid = split_target(y_true, qid)
    lists = None
    ids = None
    if qid is not None:
        lists = lists_of(np.zeros(n_rows(y_true)), qid, "y_true")
        ids = lists.ids
    is_human = None
    if judge is not None:
        y_true, judge, is_human = _read_judge(y_true, judge, qid)
    fallback = check_zero_division(zero_division)
    by_people, people = _values_of_scores(
        y_true, rankers, X, qid, lists, measures, fallback
    )
    by_judge = {}
    if judge is not None:
        # The rules have spoken of the same rankers and ids.
        with reporting(ignore=SuspiciousDataWarning):
            by_judge, _ = _values_of_scores(
                judge, rankers, X, qid, lists, measures, fallback
            )
    return QueryValues(
        names=list(rankers),
        unit="queries",
        ids=ids,
        by_people=by_people,
        by_judge=by_judge,
        is_human=is_human,
        random_order=people.random_order,
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
    lists = lists_of(y, qid, "y_true")
    # A row of a matrix is a list.
    list_of_row = lists.codes if y.ndim == 1 else np.arange(len(y))
    refuse(CHECKS_OF_JUDGE, y=y, judge=judge, list_of_row=list_of_row, ids=lists.ids)
    n_missing = np.bincount(list_of_row, weights=_has_no_label(y))
    is_human = n_missing < np.bincount(list_of_row)
    is_judges = ~is_human[list_of_row]
    y = y.copy()
    y[is_judges] = judge[is_judges]
    return y, judge, is_human


def _has_no_label(y):
    """Return whether all labels of a row are NaN."""
    return np.isnan(y).reshape(len(y), -1).all(axis=1)


def _values_of_scores(y, rankers, X, qid, lists, measures, fallback):
    """Measure scores and models.

    `lists` are those of qid, or None without qid.

    Returns
    -------
    values : dict of str to ndarray of shape (n_queries, n_rankers)
    measured_labels : MeasuredLabels
    """
    columns: dict = {name: [] for name in measures}
    shared: Any = None
    measured: Any = None
    for ranker_name, ranker in rankers.items():
        labels = y
        scores = ranker
        if _is_model(ranker):
            scorer = RankingScorer(measures)
            labels, scores, _ = scorer.labels_and_scores(ranker, X, y, qid, ranker_name)
        try:
            # A classifier has labels of its own: whether they are its class.
            measured = shared
            if shared is None or labels is not y:
                measured = MeasuredLabels(labels, qid, lists, measures, fallback)
            if labels is y:
                shared = measured
            check_same_columns(y_true=labels, y_score=scores)
            values = measured.values(scores)
        except ValueError as error:
            _name_the_ranker(error, f"rankers[{ranker_name!r}]")
            raise
        measured.look_for_suspicious_scores(ranker_name, ranker, values)
        for name in measures:
            columns[name].append(values[name])
    tables = {name: np.column_stack(values) for name, values in columns.items()}
    return tables, measured if shared is None else shared


def _name_the_ranker(error, ranker):
    """Say in a message and its remedies that the scores are those of a ranker."""
    error.args = (f"{ranker}: {error}".replace("y_score", ranker),)
    if isinstance(error, InputError):
        error.remedies = tuple(
            code.replace("y_score", ranker) for code in error.remedies
        )


class MeasuredLabels:
    """Labels that are read once, and measured under the scores of several rankers."""

    def __init__(self, y, qid, lists, measures, fallback):
        self.y = y
        self.measures = measures
        self.fallback = fallback
        if issparse(y):
            lists_of(y, qid, "y_true")  # refuses qid
            return
        self.y = read_labels(y, "y_true")
        self.lists = lists
        if lists is None or self.y.ndim > 1:
            self.lists = lists_of(self.y, qid, "y_true")
        look_for("single items", self.lists)
        self.labels = {}
        for name, measure in measures.items():
            labels = measure._check_scored_labels(self.y)
            if labels.ndim < 3:
                labels = labels.ravel()
            self.labels[name] = labels
            look_for("all relevant", measure, self.y, about=name)
            look_for_worthless_grades(measure, self.y)

    def values(self, scores):
        """Return the value of each list by each measure."""
        if issparse(self.y):
            return {name: self._value_of_sparse(name, scores) for name in self.measures}
        self.scores = read_scores(scores, self.y)
        return {name: self._value(name, self.scores) for name in self.measures}

    def look_for_suspicious_scores(self, ranker_name, ranker, values):
        """Look at the scores that `values` measured last."""
        if issparse(self.y) or self.y.ndim > 2:
            return
        if not _is_model(ranker):
            look_for(
                "two scores",
                ranker_name,
                self.scores,
                self.y,
                self.lists,
                about=ranker_name,
            )
        # Distances and ranks are >= 0.
        if self.scores.min() < 0:
            return
        centred = self.centred_labels
        if centred is not None and are_reversed(self.scores, *centred):
            name = next(iter(self.measures))
            random_values = self.random_order(name)[:, 0]
            look_for(
                "reversed scores",
                ranker_name,
                values[name],
                random_values,
                about=ranker_name,
            )

    @cached_property
    def centred_labels(self):
        return centred_labels(self.y.ravel(), self.lists)

    def random_order(self, name):
        """Return the mean of a measure over all orders of each list, (n_lists, 1)."""
        if issparse(self.y):
            n_items = self.y.shape[1]
            values = self._value_of_sparse(
                name, lambda rows: np.zeros((len(rows), n_items)), of_orders=True
            )
        else:
            equal_scores = np.zeros(self.lists.n_rows)
            values = self._value(name, equal_scores, of_orders=True)
        return values[:, np.newaxis]

    def _value(self, name, scores, *, of_orders=False):
        measure = self.measures[name]
        with np.errstate(over="ignore", invalid="ignore"):
            values = measure._values_of_judged(
                self.labels[name], scores, self.lists, of_orders=of_orders
            )
        measure._refuse_infinite(values)
        return np.where(np.isnan(values), self.fallback, values)

    def _value_of_sparse(self, name, scores, *, of_orders=False):
        values, _ = self.measures[name]._finite_values_of(
            self.y, scores, None, None, of_orders=of_orders
        )
        return np.where(np.isnan(values), self.fallback, values)
