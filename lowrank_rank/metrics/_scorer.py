"""Scorers of ranking measures for scikit-learn's model selection."""

from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED

from .._typing import BaseEstimator
from ..target_losses._names import (
    SCORE_ONLY,
    TARGET_LOSSES,
    resolve_measures,
)
from ..target_losses._target_loss import RankingMeasure
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    n_rows,
    take_rows,
)
from ..validation._check import refuse
from ..validation._checks_of_scores import (
    CHECKS_OF_SCORED_CLASSES,
    CHECKS_OF_SCORED_MODELS,
)
from ..validation._cut_queries import look_for_known_queries
from ..validation._findings import found, reports
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import (
    carries_qid,
    one_label_per_row,
    read_item_names,
    split_target,
)
from ..validation._parameters import check_parameter
from ..validation._rules import look_for


def make_ranking_scorer(
    measure: Any, *, one_list: bool = False, pos_label: Any = None, **params: Any
) -> "RankingScorer":
    """Make a scorer of a ranking measure, greater is better, for ``scoring=``.

    Parameters
    ----------
    measure : str, measure, or list or dict of these
        A name such as "ndcg@10" (see `get_ranking_scorer_names`) or an object such as
        ``NDCG(k=10)``. A list, or a dict with custom names, makes one scorer that
        predicts once and returns a dict, for multi-metric evaluation.
    one_list : bool, default=False
        Say that one-dimensional labels without qid are one single list, where nothing
        in the model says so.
    pos_label : int, float, bool, str or None, default=None
        The relevant class of a binary classifier. None is the ``pos_label_`` of the
        model; without one, labels are grades, and scores belong to the last class.
    **params : dict
        Parameters of the measure, e.g. ``relevance_threshold=1``; of several measures,
        of those that have them.

    Returns
    -------
    RankingScorer
        Callable as ``scorer(estimator, X, y, *, qid=None, sample_weight=None)``;
        picklable, clonable, which requests `qid` under metadata routing by default.

    Raises
    ------
    ValueError
        If a name is unknown, or a parameter that no measure has is given.
    TypeError
        If `measure` is neither a name nor a measure object.

    Notes
    -----
    The scorer refuses to rank rows of several queries as one list. This happens if y is
    one-dimensional without qid, with or without ids in the fit. Only a classifier of
    two classes, which ranks all rows, and `one_list` allow it. In a search set
    ``error_score="raise"``: with its default any such error becomes nan and the first
    candidate wins.

    A classifier of scikit-learn would read every pair of grade and query id of a
    `ranking_target` as a class. The scorer refuses it; `WrappedRanker` passes it the
    grades alone.

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker, make_ranking_scorer
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0], ["a", "a", "b", "b"]
    >>> ranker = LowRankSurrogateRanker(target_loss="ndcg").fit(X, y, qid=qid)
    >>> scorer = make_ranking_scorer("precision@1")
    >>> scorer(ranker, X, y, qid=qid)
    0.5
    >>> make_ranking_scorer(["precision@1", "map"])(ranker, X, y, qid=qid)
    {'precision@1': 0.5, 'map': 0.75}
    """
    check_parameter("one_list", one_list, [bool])
    if isinstance(measure, list | tuple):
        measure = {m if isinstance(m, str) else repr(m): m for m in measure}
    is_single = not isinstance(measure, dict)
    named: Any = {"": measure} if is_single else measure
    measures = resolve_measures(named, params)
    return RankingScorer(
        measures[""] if is_single else measures, one_list=one_list, pos_label=pos_label
    )


def get_ranking_scorer_names() -> list[str]:
    """Return the names that `make_ranking_scorer` takes.

    10 and 25% stand for any number.

    Returns
    -------
    list of str
        Names, sorted.

    Examples
    --------
    >>> from lowrank_rank.metrics import get_ranking_scorer_names
    >>> get_ranking_scorer_names()[:5]
    ['auc', 'dcg', 'dcg@10', 'dcg_exp', 'dcg_exp@10']
    """
    entries = [*TARGET_LOSSES.values(), *SCORE_ONLY.values()]
    return sorted(name for entry in entries for name in entry.examples)


_Measures: TypeAlias = RankingMeasure | dict[str, RankingMeasure]


class RankingScorer(BaseEstimator):
    """Scorer of one ranking measure or several; made by `make_ranking_scorer`.

    Parameters
    ----------
    measure : RankingMeasure, or dict of str to RankingMeasure
        Measures; a target loss is one too. A dict makes a dict of scores.
    one_list : bool, default=False
        Whether one-dimensional labels without qid are known to be one list.
    pos_label : object, default=None
        The relevant class, of binary classifiers.

    Examples
    --------
    >>> from lowrank_rank import make_ranking_scorer
    >>> make_ranking_scorer("precision@5").measure
    PrecisionAtK(k=5)
    >>> make_ranking_scorer(["precision@5", "map"]).measure
    {'precision@5': PrecisionAtK(k=5), 'map': MeanAveragePrecision()}
    """

    __metadata_request__score = {"qid": True, "estimator": UNUSED, "y_true": UNUSED}  # noqa: RUF012

    def __init__(
        self, measure: _Measures, *, one_list: bool = False, pos_label: Any = None
    ) -> None:
        self.measure = measure
        self.one_list = one_list
        self.pos_label = pos_label

    @property
    def __name__(self) -> str:  # displays of scikit-learn print it
        measures = self.measure if isinstance(self.measure, dict) else [self.measure]
        return ", ".join(map(str, measures))

    def __getattr__(self, name: str) -> Any:
        words = f"{type(self).__name__} has no attribute {name!r}."
        if name == "_score_func":  # of scikit-learn's scorers of thresholds
            words += (
                " A threshold does not change an order, so that a ranking scorer "
                "cannot tune it. TunedThresholdClassifierCV takes a scorer of "
                "decisions, such as 'f1'. For the k highest scores give "
                "FixedThresholdClassifier the k-th score as its threshold: see the "
                "page on a daily budget in the user guide."
            )
        raise AttributeError(words)

    @reports
    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y_true: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float | dict[str, float]:
        """Measure the estimator's scores, greater is better.

        Parameters
        ----------
        estimator : fitted estimator
            A model, a Pipeline, a search, nested as you like.
        X : array-like
            Features of the rows.
        y_true : array-like
            Labels; may carry the qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids of the rows; None if y_true carries them or is a matrix.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float, or dict of str to float for several measures
            The measure: the larger, the better.
        """
        arrive(estimator=estimator, X=X, y=y_true, qid=qid, sample_weight=sample_weight)
        check_same_index(X=X, y=y_true, sample_weight=sample_weight)
        y, scores, qid = self.labels_and_scores(estimator, X, y_true, qid)
        measures = self.measure
        if not isinstance(measures, dict):
            measures = {"": measures}
        values = {}
        for name, measure in measures.items():
            value = measure.measure(y, scores, qid=qid, sample_weight=sample_weight)
            values[name] = float(value)
            look_for_worthless_grades(measure, y)
            if not issparse(y):
                look_for("all relevant", measure, np.asarray(y), about=name)
        return values if isinstance(self.measure, dict) else values[""]

    __call__ = score

    def labels_and_scores(
        self, estimator: Any, X: MatrixLike, y: Any, qid: Any, name: Any = None
    ) -> tuple[Any, Any, Any]:
        """Return labels of the relevant class, scores of the model, and query ids.

        Of sparse labels the scores are a function from rows to their scores. `name` is
        that of a ranker which is compared with others.
        """
        check_same_index(X=X, y=y, qid=qid)
        model, _ = last_step(estimator)
        read_item_names(model, y, reset=False)
        labels, qid_of_rows = split_target(y, qid)
        is_matrix = not one_label_per_row(labels)
        rankers = [] if is_matrix else list(_fitted_rankers([estimator], set()))
        self._check_lists(estimator, rankers, y, qid_of_rows, is_matrix, name)
        y = labels
        qid = qid_of_rows
        if not is_matrix:

            def features_of(rows):
                _, features = last_step(estimator, take_rows(X, rows))
                return features

            look_for_known_queries(rankers, qid, features_of, name)
        if issparse(y):  # the measure asks for a few rows at a time

            def scores_of(rows):
                return predict_scores(estimator, take_rows(X, rows), matrix=True)

            return y, scores_of, qid
        if is_matrix:
            return y, predict_scores(estimator, X, qid, matrix=True), qid
        scores = predict_scores(estimator, X, qid)
        if np.ndim(scores) > 1 or is_classifier(model):
            y, scores = self._relevance(y, scores, estimator, name)
        return y, scores, qid

    def _check_lists(self, estimator, rankers, y, qid, is_matrix, name):
        """Refuse rows of several queries as one list, as the fitted rankers tell."""
        model, _ = last_step(estimator)
        n_lists = max((ranker.n_lists_ for ranker in rankers), default=0)
        with_qid = [_was_fitted_with_qid(ranker) for ranker in rankers]
        refuse(
            CHECKS_OF_SCORED_MODELS,
            model=model,
            estimator=type(estimator).__name__,
            y=y,
            is_carried=not is_matrix and carries_qid(y),
            qid=qid,
            n_rows=None if is_matrix else n_rows(y),
            n_lists=n_lists,
            with_qid=with_qid,
            one_list=self.one_list,
            ranks_all_rows=is_classifier(model) and len(model.classes_) == 2,
            name=name,
        )
        was_one_list = n_lists == 1 and not any(with_qid)
        if qid is None or is_matrix or not was_one_list:
            return
        if read_lists(qid, n_rows(y)).n_lists > 1:
            found(
                "several lists",
                "The scorer sees several lists, but the model was fitted on one: "
                "pass the qid to fit as well (y=ranking_target(y, qid) does both).",
            )

    def _relevance(self, y, scores, estimator, name):
        """Return whether the labels are the relevant class, and its scores.

        Without a relevant class the labels are grades, and both are returned as they
        are.
        """
        model, _ = last_step(estimator)
        classes: Any = None
        labels = None
        n_scores = None
        if np.ndim(scores) > 1:
            n_scores = np.shape(scores)[1]
        else:
            classes = np.asarray(model.classes_).tolist()
            labels = list(dict.fromkeys(np.ravel(y).tolist()))  # None does not sort
        pos_label_of_model = getattr(model, "pos_label_", None)
        refuse(
            CHECKS_OF_SCORED_CLASSES,
            n_scores=n_scores,
            estimator=type(estimator).__name__,
            model=model,
            y=y,
            classes=classes,
            labels=labels,
            pos_label=self.pos_label,
            pos_label_of_model=pos_label_of_model,
            name=name,
        )
        pos_label = self.pos_label
        if pos_label is None:
            pos_label = pos_label_of_model
        if pos_label is None:
            return y, scores
        if pos_label != classes[-1]:
            scores = -scores
        return np.asarray(y) == pos_label, scores


def look_for_worthless_grades(measure, y):
    """Look whether no grade is above the neutral one of a measure: all values are 0."""
    if hasattr(measure, "neutral") and not issparse(y) and np.size(y) >= 20:
        measure.warn_without_utility(np.asarray(y))


def predict_scores(estimator, X, qid=None, *, matrix=False):
    """Predict ranking scores by the model inside searches and pipelines.

    The model is found through ``best_estimator_`` and the last step of a Pipeline. It
    gets qid if its ``predict`` has this parameter. A classifier gives
    ``decision_function`` or the probability of its last class, for a `matrix` y of each
    column.
    """
    estimator, X = last_step(estimator, X)
    if is_classifier(estimator):
        if hasattr(estimator, "decision_function"):
            return estimator.decision_function(X)
        if not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no decision_function or "
                "predict_proba to rank by."
            )
        probabilities = estimator.predict_proba(X)
        if isinstance(probabilities, list):  # one array for each column of y
            return np.column_stack([p[:, -1] for p in probabilities])
        if not matrix and np.shape(probabilities)[1] == 2:
            return probabilities[:, 1]
        return probabilities
    if not matrix and "qid" in signature(estimator.predict).parameters:
        if qid is None:
            qid = np.zeros(n_rows(X))  # the rows are one list
        return estimator.predict(X, qid=qid)
    return estimator.predict(X)


def last_step(estimator, X=None):
    """Return the model inside searches and pipelines, and X transformed for it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            last = estimator.steps[-1][1]
            if last in (None, "passthrough"):
                return estimator, X
            if X is not None and len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = last
        else:
            return estimator, X


# The rankers inside a model ---------------------------------------------------------

#: A model has one of these; the calibrated ones inside CalibratedClassifierCV have
#: ``predict_proba`` alone.
MODEL_METHODS = ("get_params", "predict", "predict_proba")


def _was_fitted_with_qid(ranker):
    """Return whether fit got query ids, or several lists if the ranker does not say."""
    return bool(getattr(ranker, "_has_qid_", ranker.n_lists_ > 1))


def _fitted_rankers(objects, visited):
    """Yield the fitted rankers in `objects`: the models that have ``n_lists_``.

    Attributes, lists, tuples and dicts are searched, so that no meta-estimator hides a
    ranker. Models inside a ranker are not searched. `visited` has the ids of objects
    that were searched before.
    """
    for item in objects:
        if id(item) in visited:
            continue
        visited.add(id(item))
        if isinstance(item, dict):
            yield from _fitted_rankers(item.values(), visited)
        elif isinstance(item, list | tuple):
            yield from _fitted_rankers(item, visited)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            yield from _fitted_rankers(item.ravel(), visited)
        elif isinstance(item, type):
            continue
        elif any(hasattr(item, name) for name in MODEL_METHODS):
            if hasattr(item, "n_lists_"):
                yield item
            else:
                yield from _rankers_inside(item, visited)


def _rankers_inside(model, visited):
    """Return the fitted rankers in the attributes of a model.

    A meta-estimator fits clones of the model that it is given: only without such clones
    is the given model searched.
    """
    attributes = getattr(model, "__dict__", {})
    parts = [value for name, value in attributes.items() if not name.endswith("_")]
    # Bagging and AdaBoost have the model of ``estimator`` as ``estimator_``, too.
    ids_of_parts = {id(value) for value in parts}
    fitted = [
        value
        for name, value in attributes.items()
        if name.endswith("_") and id(value) not in ids_of_parts
    ]
    rankers = list(_fitted_rankers(fitted, visited))
    if not rankers:
        rankers = list(_fitted_rankers(parts, visited))
    return rankers
