"""Comparisons of scores and fitted models by labels, of people or also of a judge."""

from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..datasets._trec import is_judgements
from ..metrics._scorer import make_ranking_scorer
from ..target_losses._target_loss import (
    check_zero_division,
    finite_values,
    look_for_worthless_grades,
    refuse_infinite,
    scored_labels,
    values_of_judged,
)
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_columns,
    check_same_index,
    n_rows,
)
from ..validation._check import InputError, refuse
from ..validation._checks_of_comparisons import CHECKS_OF_COMPARED, CHECKS_OF_JUDGE
from ..validation._findings import reporting
from ..validation._kinds import arrive
from ..validation._labels import (
    lists_of,
    read_labels,
    read_scores,
    refuse_ids_beside_grades,
    split_target,
)
from ..validation._parameters import LEVEL, checked, label
from ..validation._rules import (
    SuspiciousDataWarning,
    are_reversed,
    centred_labels,
    look_for,
)
from ._comparison import RankerComparison, Values, compare, of_measures, table_of_values
from ._per_query import named_measures

# Public functions -------------------------------------------------------------------


@checked(baseline=[label, None], confidence_level=LEVEL)
def compare_rankers(
    y_true: Any,
    rankers: dict[str, Any],
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = "ndcg@10",
    groups: Any = None,
    sample_weight: Any = None,
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = np.nan,
) -> "RankerComparison | Any":
    """Measure scores and models on the same queries: intervals, tests and ranks.

    The unit is the query. Intervals of means and of mean differences, query by query,
    are Student's, and p values those of the paired t test, with corrections for few
    queries and for right and wrong answers; ranks and pairs have Holm's correction. The
    guide has the statistics, :ref:`how-comparisons`.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels of queries that no ranker was fitted on; a `ranking_target` carries its
        qid. NaN in a matrix leaves the item out.
    rankers : dict of str to array-like or fitted estimator
        Scores of the rows, or models that score `X` as `make_ranking_scorer` does. With
        one ranker there is a mean but no difference.
    X : array-like or sparse matrix of shape (n_rows, n_features) or None, default=None
        The rows that the models score.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row; None takes all rows as one query, or each row of a matrix
        as a query.
    measure : str, RankingMeasure, list or dict of these, default="ndcg@10"
        Greater is better. A list gives a dict of comparisons.
    groups : array-like of shape (n_queries,), Series, dict or None, default=None
        Family of each query, such as the document that several questions are about. The
        values are averaged within each family first, and families are compared. One
        value for each query, in the order of first appearance, or a Series or dict by
        query id.
    sample_weight : array-like of shape (n_queries,), Series, dict or None, default=None
        Weight >= 0 of each query, such as its traffic, given as `groups`. Means and
        differences are weighted means. The weight of a family is the mean weight of its
        queries.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs. If it was
        chosen as the best of these values, its p_holm are too small: read
        `tied_with_best` instead.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=nan
        Value of an undefined query; nan skips it.

    Returns
    -------
    RankerComparison, or a dict of them for several measures
        Prints as a table, with ``to_frame()``; `plotting.RankerComparisonDisplay` draws
        it. Its ``at_every_look()`` is for queries that are added between looks.

    Raises
    ------
    ValueError
        If there is no ranker, or fewer than two queries, models come without X, or
        labels, scores and ids do not fit.

    See Also
    --------
    compare_runs : Runs of systems by judgements of documents.
    compare_values : A table of values that were measured before.
    compare_judged : Few labels of people and many of a judge.
    per_query : The measures of one ranker on each query.

    Examples
    --------
    Three queries, all won by "new": three signs are equal with probability 2 / 2**3.

    >>> from lowrank_rank.evaluation import compare_rankers
    >>> y, qid = [1, 0, 0, 1, 1, 0], ["a", "a", "b", "b", "c", "c"]
    >>> scores = {"new": [2, 1, 1, 2, 2, 1], "old": [1, 2, 2, 1, 1, 2]}
    >>> found = compare_rankers(y, scores, qid=qid, measure="mrr")
    >>> found.mean.tolist(), found.p_value.tolist()
    ([1.0, 0.5], [0.25])
    """
    arrive(
        y_true=y_true,
        rankers=rankers,
        **_places_of(rankers),
        X=X,
        qid=qid,
        groups=groups,
        sample_weight=sample_weight,
    )
    fallback = check_zero_division(zero_division)
    refuse(
        CHECKS_OF_COMPARED,
        are_documents=is_judgements(y_true),
        labels_name="y_true",
        rankers=rankers,
        X=X,
        groups=groups,
        sample_weight=sample_weight,
    )
    measures = named_measures(measure)
    refuse_mismatches(rankers, X=X, qid=qid, y_true=y_true)
    y_true, qid = split_target(y_true, qid)
    lists = lists_of_ids(y_true, qid, "y_true")
    by_people, labels = measure_scores(
        y_true, rankers, X, qid, lists, measures, fallback, "y_true"
    )
    values = [
        Values(
            measure=name,
            bounds=one.bounds,
            names=list(rankers),
            unit="queries",
            ids=None if lists is None else lists.ids,
            by_people=by_people[name],
            random_order=labels.random_order(one, fallback),
        )
        for name, one in measures.items()
    ]
    comparisons = compare(
        values,
        groups=groups,
        sample_weight=sample_weight,
        baseline=baseline,
        confidence_level=confidence_level,
    )
    return of_measures(comparisons, measure)


@checked(baseline=[label, None], confidence_level=LEVEL)
def compare_judged(
    people: Any,
    judge: Any,
    rankers: dict[str, Any],
    *,
    X: MatrixLike | None = None,
    qid: ArrayLike | None = None,
    measure: Any = "ndcg@10",
    baseline: str | None = None,
    confidence_level: float = 0.95,
    zero_division: float = 0.0,
) -> "RankerComparison | Any":
    """Compare rankers by few labels of people and the labels of a judge for all rows.

    A judge, such as a language model, labels all queries, and people a random part of
    them. Intervals and p values are prediction-powered, those of
    `judged_mean_intervals`: the labels of people correct the errors of the judge. Where
    the judge would make an interval wider, only the labels of people count. The guide
    has the statistics, :ref:`how-judges`.

    Parameters
    ----------
    people : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels by people, NaN in all rows of the queries that people did not label; a
        `ranking_target` carries its qid.
    judge : array-like of the same shape
        Labels of all rows by the judge.
    rankers : dict of str to array-like or fitted estimator
        Scores of the rows, or models that score `X`, as in `compare_rankers`.
    X : array-like or sparse matrix of shape (n_rows, n_features) or None, default=None
        The rows that the models score.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row; None takes each row of a matrix as a query.
    measure : str, RankingMeasure, list or dict of these, default="ndcg@10"
        Greater is better. A list gives a dict of comparisons.
    baseline : str or None, default=None
        The ranker that the others are compared with; None compares all pairs.
    confidence_level : float, default=0.95
        Confidence level of each single interval: of a mean, a difference or a rank.
    zero_division : float, default=0.0
        Value of an undefined query, a number: people and judge can leave different
        queries undefined, so that skipping them would bias the means.

    Returns
    -------
    RankerComparison, or a dict of them for several measures
        Its queries are those that people labelled.

    Raises
    ------
    ValueError
        If a query has labels of people in some rows only, fewer than five queries have
        them, or fewer than two have none, or labels, scores and ids do not fit.

    See Also
    --------
    compare_judged_runs : The same for runs and judgements of documents.
    judged_mean_intervals : Means of values that were measured before.

    Examples
    --------
    The old ranker is right in every second of 100 queries. People label ten of them,
    and a judge that agrees with them labels all:

    >>> import numpy as np
    >>> from lowrank_rank.evaluation import compare_judged
    >>> judge = np.tile([1.0, 0.0], (100, 1))
    >>> people = np.where(np.arange(100)[:, np.newaxis] < 10, judge, np.nan)
    >>> scores = {"new": judge, "old": np.tile([[1.0, 0.0], [0.0, 1.0]], (50, 1))}
    >>> found = compare_judged(people, judge, scores, measure="precision@1")
    >>> found.interval.round(2)
    array([[0.23, 0.75]])

    The ten queries alone give 0.05 to 0.78.
    """
    arrive(
        people=people,
        judge=judge,
        rankers=rankers,
        **_places_of(rankers),
        X=X,
        qid=qid,
    )
    fallback = check_zero_division(zero_division)
    refuse(
        CHECKS_OF_COMPARED,
        are_documents=is_judgements(people),
        labels_name="people",
        rankers=rankers,
        X=X,
        fallback=fallback,
        has_judge=True,
    )
    measures = named_measures(measure)
    refuse_mismatches(rankers, X=X, qid=qid, people=people, judge=judge)
    people, qid = split_target(people, qid)
    lists = lists_of_ids(people, qid, "people")
    people, judge, is_human = _read_judge(people, judge, qid)
    by_people, labels = measure_scores(
        people, rankers, X, qid, lists, measures, fallback, "people"
    )
    # The rules have warned of the same rankers and ids.
    with reporting(ignore=SuspiciousDataWarning):
        by_judge, _ = measure_scores(
            judge, rankers, X, qid, lists, measures, fallback, "judge"
        )
    values = [
        Values(
            measure=name,
            bounds=one.bounds,
            names=list(rankers),
            unit="queries",
            ids=None if lists is None else lists.ids,
            by_people=by_people[name],
            by_judge=by_judge[name],
            is_human=is_human,
            random_order=labels.random_order(one, fallback),
        )
        for name, one in measures.items()
    ]
    comparisons = compare(values, baseline=baseline, confidence_level=confidence_level)
    return of_measures(comparisons, measure)


# Readers ----------------------------------------------------------------------------


def _places_of(rankers):
    """Return the rankers by their places in messages; none if they have no names."""
    if not isinstance(rankers, dict):
        return {}
    return {f"rankers[{name!r}]": ranker for name, ranker in rankers.items()}


def refuse_mismatches(rankers, *, X, qid, **labels):
    """Refuse tables with ids, and tables whose columns or index do not match."""
    scores = {
        f"rankers[{name!r}]": ranker
        for name, ranker in rankers.items()
        if not _is_model(ranker)
    }
    for name, table in {**labels, **scores}.items():
        refuse_ids_beside_grades(table, name)
    check_same_columns(**labels)
    check_same_index(**labels, qid=qid, X=X, **scores)


def _is_model(ranker):
    return hasattr(ranker, "fit") or hasattr(ranker, "predict")


def lists_of_ids(y, qid, name):
    """Return the lists of the query ids, or None without ids."""
    if qid is None:
        return None
    return lists_of(np.zeros(n_rows(y)), qid, name)


def _read_judge(people, judge, qid):
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
    y = read_labels(people, "people")
    judge = read_labels(judge, "judge")
    lists = lists_of(y, qid, "people")
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


def measure_scores(y, rankers, X, qid, lists, measures, fallback, name):
    """Measure scores and models.

    Parameters
    ----------
    y : array-like
        Labels.
    rankers, X, qid
        As in `compare_rankers`.
    lists : RankingLists or None
        Those of qid, or None without qid.
    measures : dict of str to RankingMeasure
    fallback : float
        Value where a measure is undefined.
    name : str
        Name of the labels in messages.

    Returns
    -------
    values : dict of str to ndarray of shape (n_queries, n_rankers)
    labels : ListsOfScores
        Without scores.
    """
    columns: dict = {one: [] for one in measures}
    shared: Any = None
    read: Any = None
    for ranker_name, ranker in rankers.items():
        labels = y
        scores = ranker
        if _is_model(ranker):
            scorer = make_ranking_scorer(measures)
            labels, scores, _ = scorer.labels_and_scores(ranker, X, y, qid, ranker_name)
        try:
            # A classifier has labels of its own: whether they are its class.
            read = shared
            if shared is None or labels is not y:
                read = ListsOfScores(labels, qid, lists, measures, name)
            if labels is y:
                shared = read
            check_same_columns(**{name: labels}, y_score=scores)
            scored = read.under(scores)
            values = {
                one: table_of_values([scored], measure, fallback)
                for one, measure in measures.items()
            }
        except ValueError as error:
            _name_the_arguments(error, f"rankers[{ranker_name!r}]", name)
            raise
        for one in measures:
            columns[one].append(values[one])
        first = next(iter(measures))
        read.look_for_suspicious_scores(
            ranker_name, ranker, scored.scores, values[first][:, 0], fallback
        )
    tables = {one: np.hstack(values) for one, values in columns.items()}
    return tables, read if shared is None else shared


def _name_the_arguments(error, ranker, labels):
    """Say in a message and its remedies which ranker has the scores, and the labels."""

    def named(text):
        return text.replace("y_score", ranker).replace("y_true", labels)

    error.args = (f"{ranker}: {named(str(error))}",)
    if isinstance(error, InputError):
        error.remedies = tuple(map(named, error.remedies))


class ListsOfScores:
    """Lists of labels, which are read once, under the scores of one ranker.

    Parameters
    ----------
    y : array-like or sparse matrix
        Labels.
    qid : array-like or None
    lists : RankingLists or None
        Those of qid, or None without qid.
    measures : dict of str to RankingMeasure
    name : str
        Name of the labels in messages.
    """

    def __init__(self, y, qid, lists, measures, name):
        self.y = y
        self.measures = measures
        self.scores = None
        if issparse(y):
            lists_of(y, qid, name)  # refuses qid
            return
        self.dtype_of_labels = np.asarray(y).dtype
        self.y = read_labels(y, name)
        self.lists = lists
        if lists is None or self.y.ndim > 1:
            self.lists = lists_of(self.y, qid, name)
        look_for("single items", self.lists)
        self.labels = []
        for measure_name, measure in measures.items():
            labels = scored_labels(measure, self.y)
            if labels.ndim < 3:
                labels = labels.ravel()
            self.labels.append(labels)
            look_for("all relevant", measure, self.y, about=measure_name)
            look_for_worthless_grades(measure, self.y)

    def under(self, scores):
        """Return the lists under the scores of a ranker."""
        scored = copy(self)
        scored.scores = scores
        if not issparse(self.y):
            scored.scores = read_scores(scores, self.y)
        return scored

    def values(self, measure):
        """Measure each list; nan where the measure is undefined."""
        return self._values_of(self.scores, measure)

    def values_of_random_order(self, measure):
        """Measure the mean over all orders of each list."""
        if issparse(self.y):
            n_items = self.y.shape[1]
            return self._values_of(
                lambda rows: np.zeros((len(rows), n_items)), measure, of_orders=True
            )
        equal_scores = np.zeros(self.lists.n_rows)
        return self._values_of(equal_scores, measure, of_orders=True)

    def random_order(self, measure, fallback):
        """Return a function that gives the values of a random order, (n_lists, 1)."""
        return partial(table_of_values, [self], measure, fallback, of_random_order=True)

    def _values_of(self, scores, measure, *, of_orders=False):
        if issparse(self.y):
            values, _ = finite_values(
                measure, self.y, scores, None, None, of_orders=of_orders
            )
            return values
        place = [one is measure for one in self.measures.values()].index(True)
        values = values_of_judged(
            measure, self.labels[place], scores, self.lists, of_orders=of_orders
        )
        refuse_infinite(measure, values)
        return values

    def look_for_suspicious_scores(self, ranker_name, ranker, scores, values, fallback):
        """Look at the scores of a ranker and its values by the first measure."""
        if issparse(self.y) or self.y.ndim > 2:
            return
        if not _is_model(ranker):
            look_for(
                "two scores",
                ranker_name,
                np.asarray(ranker).dtype,
                self.dtype_of_labels,
                scores,
                self.y,
                self.lists,
                about=ranker_name,
            )
        # Distances and ranks are >= 0.
        if scores.min() < 0:
            return
        centred = self.centred_labels
        if centred is not None and are_reversed(scores, *centred):
            first = next(iter(self.measures.values()))
            random_values = self.random_order(first, fallback)()
            look_for(
                "reversed scores",
                ranker_name,
                values,
                random_values[:, 0],
                about=ranker_name,
            )

    @cached_property
    def centred_labels(self):
        """Return the labels minus their means, or None."""
        return centred_labels(self.y.ravel(), self.lists)
