"""Scorers of ranking measures for scikit-learn's model selection."""

from functools import partial
from inspect import signature
from itertools import chain
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
from ..target_losses._target_loss import RankingMeasure, look_for_worthless_grades
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    n_rows,
    take_rows,
)
from ..validation._check import refuse
from ..validation._checks_of_labels import CHECKS_OF_ROWS
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
from ..validation._parameters import check_parameter, label
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
        Say that the rows of each fold are one list, if the model does not know it.
    pos_label : int, float, bool, str or None, default=None
        The relevant class of a binary classifier. None is the ``pos_label_`` of the
        model; without one, labels are grades, and scores belong to the last class.
    **params : dict
        Parameters of the measure, e.g. ``relevance_threshold=1``; with several
        measures, those of any of them.

    Returns
    -------
    RankingScorer
        Callable as ``scorer(estimator, X, y, *, qid=None, sample_weight=None)``;
        it can be pickled and cloned, and by default requests `qid` under metadata
        routing.

    Raises
    ------
    ValueError
        If a name is unknown, or a parameter that no measure has is given.
    TypeError
        If `measure` is neither a name nor a measure object.

    Notes
    -----
    The scorer refuses to rank rows of several queries as one list. This happens if y is
    one-dimensional without qid, with or without ids in the fit. `one_list` allows it,
    here or in the fit of a ranker. For a classifier of two classes, which ranks all
    rows, it is allowed. But a count at the top ("precision@20") of such a classifier is
    refused: what 20 of the rows of a fold mean depends on the number of folds. In a
    search set ``error_score="raise"``: with its default any such error becomes nan and
    the first candidate wins.

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
    check_parameter("pos_label", pos_label, [label, None])
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
        # `labels_and_scores` has asked whether these rows are one list.
        is_one_list = qid is None and one_label_per_row(y)
        values = {}
        for name, measure in measures.items():
            value = measure.measure(
                y,
                scores,
                qid=qid,
                sample_weight=sample_weight,
                one_list=is_one_list,
            )
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
        labels, qid = split_target(y, qid)
        if issparse(labels) or not one_label_per_row(labels):
            refuse(CHECKS_OF_SCORED_MODELS, model=model)
            return labels, _scores_of_items(estimator, model, X, labels), qid
        lists = None if qid is None else read_lists(qid, n_rows(labels))
        rankers = _fitted_rankers(estimator)
        self._check_lists(estimator, model, rankers, y, lists, name)
        _, features = last_step(estimator, X)
        scores = predict_scores(model, features, qid)
        if n_rows(features) != n_rows(labels):
            refuse(CHECKS_OF_ROWS, y=np.asarray(labels), name="y", n_rows=n_rows(X))
        look_for_known_queries(rankers, lists, partial(take_rows, features), name)
        if np.ndim(scores) > 1 or is_classifier(model):
            labels, scores = self._relevance(labels, scores, estimator, model, name)
        return labels, scores, qid

    def _check_lists(self, estimator, model, rankers, y, lists, name):
        """Refuse rows of several queries as one list, as the fitted rankers tell.

        `lists` are those of the ids, or None without ids.
        """
        n_lists = max((ranker.n_lists_ for ranker in rankers), default=0)
        with_qid = [_was_fitted_with_qid(ranker) for ranker in rankers]
        measures = self.measure
        if not isinstance(measures, dict):
            measures = {"": measures}
        one_list = self.one_list or any(
            getattr(ranker, "_is_one_list_", False) for ranker in rankers
        )
        refuse(
            CHECKS_OF_SCORED_MODELS,
            model=model,
            estimator=type(estimator).__name__,
            y=y,
            is_carried=carries_qid(y),
            has_ids=lists is not None,
            n_rows=n_rows(y),
            n_lists=n_lists,
            with_qid=with_qid,
            one_list=one_list,
            ranks_all_rows=is_classifier(model) and len(model.classes_) == 2,
            measures=measures,
            name=name,
        )
        was_one_list = n_lists == 1 and not any(with_qid)
        if was_one_list and lists is not None and lists.n_lists > 1:
            found(
                "several lists",
                "The scorer sees several lists, but the model was fitted on one: "
                "pass the qid to fit as well (y=ranking_target(y, qid) does both).",
            )

    def _relevance(self, y, scores, estimator, model, name):
        """Return whether the labels are the relevant class, and its scores.

        Without a relevant class the labels are grades, and both are returned as they
        are.
        """
        check_parameter("pos_label", self.pos_label, [label, None])
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


def _scores_of_items(estimator, model, X, y):
    """Return the scores of a matrix of labels; of sparse ones a function of rows."""

    def scores_of(rows):
        _, features = last_step(estimator, take_rows(X, rows))
        return predict_scores(model, features, matrix=True)

    if issparse(y):  # the measure asks for a few rows at a time
        return scores_of
    _, features = last_step(estimator, X)
    return predict_scores(model, features, matrix=True)


def predict_scores(model, X, qid=None, *, matrix=False):
    """Predict ranking scores by the model of `last_step`, from its features X.

    The model gets qid if its ``predict`` has this parameter. A classifier gives
    ``decision_function`` or the probability of its last class, for a `matrix` y of each
    column.
    """
    if is_classifier(model):
        if hasattr(model, "decision_function"):
            return model.decision_function(X)
        if not hasattr(model, "predict_proba"):
            raise ValueError(
                f"{type(model).__name__} has no decision_function or predict_proba to "
                "rank by."
            )
        probabilities = model.predict_proba(X)
        if isinstance(probabilities, list):  # one array for each column of y
            return np.column_stack([p[:, -1] for p in probabilities])
        if not matrix and np.shape(probabilities)[1] == 2:
            return probabilities[:, 1]
        return probabilities
    if not matrix and "qid" in signature(model.predict).parameters:
        if qid is None:
            qid = np.zeros(n_rows(X))  # the rows are one list
        return model.predict(X, qid=qid)
    return model.predict(X)


def last_step(estimator, X=None):
    """Return the model inside searches and pipelines, and X transformed for it.

    The model is found through ``best_estimator_`` and the last step of a Pipeline.
    """
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

#: Where scikit-learn's meta-estimators keep the models that they fitted. The first that
#: a model has is used: one that fits clones also has the model as it was given.
DOORS = (
    "best_estimator_",
    "estimators_",
    "estimator_",
    "regressor_",
    "calibrated_classifiers_",
    "estimator",
)


def _was_fitted_with_qid(ranker):
    """Return whether fit got query ids, or several lists if the ranker does not say."""
    return bool(getattr(ranker, "_has_qid_", ranker.n_lists_ > 1))


def _fitted_rankers(model):
    """Return the fitted rankers inside a model: those that have ``n_lists_``.

    Models inside a ranker are not asked.
    """
    if isinstance(model, list | tuple | np.ndarray):
        return list(chain.from_iterable(map(_fitted_rankers, model)))
    if isinstance(model, Pipeline):
        return _fitted_rankers(model.steps[-1][1])
    if hasattr(model, "n_lists_"):
        return [model]
    for door in DOORS:
        if hasattr(model, door):
            inside = _fitted_rankers(getattr(model, door))
            # the last model of a stack sees all rows too
            return inside + _fitted_rankers(getattr(model, "final_estimator_", []))
    return []
