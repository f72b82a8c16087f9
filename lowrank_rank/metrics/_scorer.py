"""Scorers: a measure as scikit-learn's model selection wants it, query ids included."""

from inspect import signature
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import UNUSED

from .._arrays import ArrayLike, MatrixLike, check_same_index, n_rows, take_rows
from .._cut_queries import warn_of_cut_queries
from .._labels import (
    carries_qid,
    one_label_per_row,
    read_item_names,
    refuse_lost_qid,
    split_target,
)
from .._lists import RankingLists
from .._parameters import check_parameter, check_parameters
from .._typing import BaseEstimator
from .._warn import warn
from ..target_losses._names import (
    SCORE_ONLY,
    TARGET_LOSSES,
    resolve_measure,
    stated_parameters,
)
from ..target_losses._target_loss import RankingMeasure


def make_ranking_scorer(
    measure: Any, *, one_list: bool = False, pos_label: Any = None, **params: Any
) -> "RankingScorer":
    """Scorer of a ranking measure, greater is better, for ``scoring=`` in scikit-learn.

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
    if isinstance(measure, list | tuple | dict) and not measure:
        raise ValueError("make_ranking_scorer got no measure: name at least one.")
    if isinstance(measure, list | tuple):
        measure = {m if isinstance(m, str) else repr(m): m for m in measure}
    several = isinstance(measure, dict)
    named: Any = measure if several else {"": measure}
    measures = {name: clone(resolve_measure(m)) for name, m in named.items()}
    for one in named.values():
        for key, said in stated_parameters(one).items() if isinstance(one, str) else ():
            if params.get(key, said) != said:
                raise ValueError(
                    f"The name {one!r} says {key}={said!r}, but {key}={params[key]!r} is given."
                )
    known = {name: sorted(one.get_params()) for name, one in measures.items()}
    for key, value in params.items():
        having = [one for name, one in measures.items() if key in known[name]]
        if not having:
            raise ValueError(
                f"Invalid parameter {key!r}: none of {', '.join(map(repr, measures.values()))} has "
                f"it. Their parameters: {sorted(set().union(*known.values()))}."
            )
        for one in having:
            one.set_params(**{key: value})
    for one in measures.values():
        check_parameters(one)
    resolved = measures if several else measures[""]
    return RankingScorer(resolved, one_list=one_list, pos_label=pos_label)


def get_ranking_scorer_names() -> list[str]:
    """Names that `make_ranking_scorer` takes; 10 and 25% stand for any number.

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
    """Scorer of one ranking measure, or of several at once; made by `make_ranking_scorer`.

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

    def score(
        self,
        estimator: Any,
        X: MatrixLike,
        y_true: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float | dict[str, float]:
        """Measure of the estimator's scores, greater is better.

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
        check_same_index(X=X, y=y_true, sample_weight=sample_weight)
        y, scores, qid = self.labels_and_scores(estimator, X, y_true, qid)
        several = self.measure if isinstance(self.measure, dict) else {"": self.measure}
        found = {
            name: float(
                measure.measure(y, scores, qid=qid, sample_weight=sample_weight)
            )
            for name, measure in several.items()
        }
        return found if isinstance(self.measure, dict) else found[""]

    __call__ = score

    def labels_and_scores(
        self, estimator: Any, X: MatrixLike, y: Any, qid: Any
    ) -> tuple[Any, Any, Any]:
        """Labels of the relevant class, scores of the model, and query ids."""
        check_same_index(X=X, y=y, qid=qid)
        model, _ = last_step(estimator)
        read_item_names(model, y, reset=False)
        has_carried = carries_qid(y)
        y, qid = split_target(y, qid)
        classes: Any = getattr(model, "classes_", None)
        if getattr(getattr(classes, "dtype", None), "names", None):
            name = type(model).__name__
            raise ValueError(
                f"{name} was fitted on a ranking_target, with each pair of grade and query id as a "
                f"class ({len(classes)} classes): wrap it, WrappedRanker({name}(...))."
            )
        if one_label_per_row(y):
            self._check_qid(estimator, y, qid, has_carried)
            models = _models_that_say([estimator], set())
            any(warn_of_cut_queries(model, qid) for model in models)  # once
        matrix = not one_label_per_row(y)
        if issparse(y):  # the measure asks for a few rows at a time
            return (
                y,
                lambda rows: predict_scores(estimator, take_rows(X, rows), matrix=True),
                qid,
            )
        scores = predict_scores(estimator, X, qid, matrix=matrix)
        if matrix:
            return y, scores, qid
        if np.ndim(scores) > 1:
            raise ValueError(
                f"{type(estimator).__name__} gives {np.shape(scores)[1]} scores per row, but y "
                "has one label per row: a classifier must be binary."
            )
        return *_relevance(y, scores, model, self.pos_label), qid

    def _check_qid(self, estimator, y, qid, has_carried):
        seen = lists_seen(estimator)
        n_lists, has_qid, all_have_qid = (0, False, False) if seen is None else seen
        if has_carried and seen is not None and not all_have_qid:
            refuse_lost_qid(f"a model inside this {type(estimator).__name__}")
        if qid is not None:
            if (
                n_lists == 1
                and not has_qid
                and RankingLists.from_qid(qid, n_rows(y)).n_lists > 1
            ):
                warn(
                    "The scorer sees several lists, but the model was fitted on one: pass the qid "
                    "to fit as well (y=ranking_target(y, qid) does both)."
                )
            return
        model, _ = last_step(estimator)
        ranks_all_rows = is_classifier(model) and len(model.classes_) == 2
        if not (has_qid or self.one_list or ranks_all_rows):
            raise ValueError(
                "There is no qid beside the labels, and the model was not fitted with query ids. "
                "Give y as ranking_target(y, qid); or pass qid=qid, through a search with metadata "
                "routing; or set one_list=True in make_ranking_scorer if all rows are one list."
            )
        if has_qid:
            raise ValueError(
                "There is no qid, but the model was fitted on rows with query ids "
                f"({n_lists} lists): all rows would be ranked as one list. Give y as "
                "ranking_target(y, qid); or pass qid=qid, through a search with metadata routing."
            )


def predict_scores(estimator, X, qid=None, *, matrix=False):
    """Ranking scores of a model inside searches and pipelines.

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
                f"{type(estimator).__name__} has no decision_function or predict_proba to rank by."
            )
        probabilities = estimator.predict_proba(X)
        if isinstance(probabilities, list):  # one array for each column of y
            return np.column_stack([p[:, -1] for p in probabilities])
        is_binary = not matrix and np.shape(probabilities)[1] == 2
        return probabilities[:, 1] if is_binary else probabilities
    if not matrix and "qid" in signature(estimator.predict).parameters:
        # Without ids the rows are one list.
        return estimator.predict(X, qid=np.zeros(n_rows(X)) if qid is None else qid)
    return estimator.predict(X)


def last_step(estimator, X=None):
    """The model inside searches and pipelines that `predict_scores` asks, and X as it gets it."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
            continue
        last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else None
        if last in (None, "passthrough"):
            return estimator, X
        if X is not None and len(estimator.steps) > 1:
            X = estimator[:-1].transform(X)
        estimator = last


def _relevance(y, scores, estimator, pos_label):
    """Labels as grades and scores of the relevant class, where a binary classifier says it."""
    if not is_classifier(estimator):
        return y, scores
    own = getattr(estimator, "pos_label_", None)
    if pos_label is not None and own is not None and pos_label != own:
        raise ValueError(
            f"The scorer has pos_label={pos_label!r}, but the model has {own!r} and ranks that "
            "class at the top. Set both to the same class, or omit it in the scorer."
        )
    pos_label = own if pos_label is None else pos_label
    labels, classes = np.ravel(y).tolist(), np.asarray(estimator.classes_).tolist()
    labels = list(dict.fromkeys(labels))  # None does not sort
    has_names = any(isinstance(label, str) for label in labels + classes)
    if has_names and (pos_label is None or not set(labels) <= set(classes)):
        raise ValueError(
            f"The classes of the model are {classes}, and y holds {labels[0]!r}. A scorer needs y "
            f"with these names and the relevant class, make_ranking_scorer(..., pos_label="
            f"{classes[-1]!r}); compare_rankers takes y == {classes[-1]!r} and, in place of the "
            f"model, its scores predict_proba(X)[:, {len(classes) - 1}]."
        )
    if pos_label is None:
        return y, scores
    if pos_label not in classes:
        raise ValueError(
            f"pos_label={pos_label!r} is not a class of the model, {classes}."
        )
    return np.asarray(y) == pos_label, scores if pos_label == classes[-1] else -scores


#: Attributes that may hold a model; the ones of CalibratedClassifierCV are no
#: parameters.
MODEL_METHODS = ("get_params", "predict", "predict_proba")


def lists_seen(estimator):
    """How many lists the fitted models inside an estimator had; None if no model says so.

    Returns the most lists that one of them was fitted on, and whether one, and whether
    each, got query ids, or several lists if it does not say. Attributes, lists, tuples
    and dicts are searched, so that no meta-estimator hides a model.
    """
    found = list(_models_that_say([estimator], set()))
    if not found:
        return None
    has_qid = [bool(getattr(model, "_has_qid_", model.n_lists_ > 1)) for model in found]
    return max(model.n_lists_ for model in found), any(has_qid), all(has_qid)


def _models_that_say(items, visited):
    """Fitted models that say on how many lists; what is inside such a model it answers for."""
    for item in items:
        if id(item) in visited:
            continue
        visited.add(id(item))
        if isinstance(item, dict):
            yield from _models_that_say(item.values(), visited)
        elif isinstance(item, list | tuple):
            yield from _models_that_say(item, visited)
        elif isinstance(item, np.ndarray) and item.dtype == object:
            yield from _models_that_say(item.ravel(), visited)
        elif isinstance(item, type) or not any(
            hasattr(item, name) for name in MODEL_METHODS
        ):
            continue
        elif hasattr(item, "n_lists_"):
            yield item
        else:
            # What a tool has fitted goes before the model that it was given and has
            # cloned, which bagging and AdaBoost call estimator_ too.
            held = getattr(item, "__dict__", {})
            given = [value for name, value in held.items() if not name.endswith("_")]
            known = set(map(id, given))
            fitted = [
                v
                for name, v in held.items()
                if name.endswith("_") and id(v) not in known
            ]
            yield from list(_models_that_say(fitted, visited)) or _models_that_say(
                given, visited
            )
