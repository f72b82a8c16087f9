"""WrappedRanker: anyone's model as a ranker of this package."""

from contextlib import contextmanager
from copy import copy
from inspect import signature
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import (
    BaseEstimator,
    MetaEstimatorMixin,
    RegressorMixin,
    clone,
    is_classifier,
)
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker, attribute_of_fitted
from ..fitting._any_regressor import checked_prediction, fit_one, weight_parameters
from ..fitting._early_stopping import PARAMETERS, hold_out, measure_on
from ..lists._lists import RankingLists
from ..target_losses._target_loss import RankingMeasure
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    is_array,
    is_data_frame,
    take_rows,
)
from ..validation._check import refuse
from ..validation._checks_of_features import CHECKS_OF_TYPES, CHECKS_OF_X, has_times
from ..validation._checks_of_models import CHECKS_OF_WRAPPED
from ..validation._kinds import arrive
from ..validation._parameters import fresh_fit, number, predictor, random_state
from ..validation._read import read_features
from ._staged_scores import staged_scores, with_trees


class WrapsModels(BaseRanker):
    """Mixin of rankers that hand X on to other models, frames and text too."""

    #: Whether a Series of texts is read as a list of documents.
    _takes_texts = True

    def _is_linear(self):
        return False

    def _validate_X(self, X, *, reset):
        if not is_array(X) or X.ndim == 0:
            arrive(X=X)
            had_table = not reset and hasattr(self, "n_features_in_")
            refuse(
                CHECKS_OF_X,
                model=self,
                X=X,
                is_fit=reset,
                takes_texts=True,
                takes_records=not had_table,
            )
        if not hasattr(X, "shape"):
            X = np.asarray(X)
        if not is_data_frame(X) and has_times(
            X
        ):  # a Pipeline may read those of a frame
            refuse(CHECKS_OF_TYPES, X=X)
        if len(X.shape) == 2 and not issparse(X):
            # Columns by name; the models say what is wrong with the entries.
            read_features(self, X, reset=reset, skip_check_array=True)
        return X


class WrappedRanker(MetaEstimatorMixin, WrapsModels, RegressorMixin, BaseEstimator):
    """Use LGBMRanker, XGBRanker or any regressor with query ids, scorers and splits.

    The model reads the query ids from y and fits a clone of `estimator` to the grades.
    Cross-validation, searches and scorers then work with a `ranking_target`, and rows
    may come in any order. An estimator with a parameter ``group_id``, ``qid`` or
    ``group`` of ``fit`` (LGBMRanker, XGBRanker, CatBoostRanker) gets the lists, with
    the rows of each list together. A regressor or classifier gets each row by itself.

    Parameters
    ----------
    estimator : ranker, regressor, classifier or Pipeline
        Scores are its predictions. A Pipeline gets plain grades, and its last step
        also the lists, so a step before it may take grades (TargetEncoder). Scores of a
        classifier are expected grades, the sum over classes of class times
        ``predict_proba``, or ``decision_function`` of a binary one. Parameters of
        CatBoost that are lists (``cat_features``) become tuples in clones.
    target_loss : str or measure, default="ndcg@10"
        The measure of `score` and of `early_stopping`: "ndcg@10", "mrr", ... The fit of
        `estimator` does not use it.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    relevance_threshold : float or None, default=None
        Fit to binary grades, 1 for grades of at least this, as "rank:map" needs them;
        None fits to the grades.
    early_stopping : bool, default=False
        Find the number of trees, up to the estimator's own, by `target_loss` on
        held-out queries, and fit this many trees to all queries. Only for models of
        LightGBM and XGBoost.
    validation_fraction : float, default=0.2
        `early_stopping`: fraction of the queries that are held out, drawn as
        `model_selection.query_train_test_split` does.
    n_iter_no_change : int, default=50
        `early_stopping`: stop after this many trees without improvement.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out queries.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, a model for SHAP's ``TreeExplainer`` and similar tools.
    n_iter_ : int
        `early_stopping`: number of trees of `estimator_`.
    validation_scores_ : ndarray of shape (n,)
        `early_stopping`: the measure on the held-out queries after each tree, the first
        maximum at number `n_iter_`.
    target_loss_ : RankingMeasure
        The measure as an object.
    n_lists_ : int
        Number of lists of positive weight.
    n_items_ : None
        There are no fixed items.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    feature_importances_, coef_
        Attributes of `estimator_`, if it has them.

    See Also
    --------
    HistGradientBoostingRanker : Boosted trees without another package.
    boosting_metric : Measures of lists for early stopping.
    boosting_objective : Losses of this package as objectives of boosters.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from lowrank_rank import WrappedRanker
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 2], ["a", "a", "b", "b"]
    >>> ranker = WrappedRanker(LogisticRegression()).fit(X, y, qid=qid)
    >>> ranker.rank(X, qid=qid)
    array([2, 1, 2, 1])
    >>> ranker.score(X, y, qid=qid)
    1.0
    """

    _parameters: ClassVar = {
        "estimator": [predictor],
        "relevance_threshold": [number(), None],
        "random_state": [random_state],
        **PARAMETERS,
    }

    def __init__(
        self,
        estimator: Any,
        *,
        target_loss: str | RankingMeasure = "ndcg@10",
        relevance_threshold: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        n_iter_no_change: int = 50,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.target_loss = target_loss
        self.relevance_threshold = relevance_threshold
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "WrappedRanker":
        """Fit a clone of the estimator.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            One row per document in any order, of a type that `estimator` takes.
        y : array-like of shape (n_rows,)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document. Without ids all rows are one list.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights for the fit of `estimator`. XGBRanker and others that take ``qid``
            weigh lists, and get the mean weight of each list. CatBoostRanker gets
            weights that are constant within lists as ``group_weight``.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If y is a matrix, the estimator does not take weights, a classifier does not
            predict scores, LightGBM gets a query of more than 10,000 rows, or
            `early_stopping` has fewer than two lists or a model that cannot stop.
        """
        with fresh_fit(self):
            loss = self._checked_loss()
            rows = self._read(X, y, qid, sample_weight, loss, one_list=one_list)
            X, y, lists, weights = rows
            _, last = last_step(self.estimator)
            refuse(
                CHECKS_OF_WRAPPED,
                ranker=type(self).__name__,
                y=y,
                last=last,
                estimator=self.estimator,
                early_stopping=self.early_stopping,
            )
            self._set_lists(rows, loss)
            if sample_weight is None:
                weights = None  # the estimator need not take weights
            self.estimator_: Any = self._fit_clone(X, y, lists, weights)
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict scores; the score of a row does not depend on other rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores: the larger, the better the row.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        model = self.estimator_
        if not is_classifier(model):
            scores = model.predict(X)
        elif hasattr(model, "predict_proba"):
            # Expected grades.
            grades = np.asarray(model.classes_, dtype=np.float64)
            scores = model.predict_proba(X) @ grades
        else:
            scores = model.decision_function(X)
        return checked_prediction(model, scores, X.shape[0])[:, 0]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Attribute of the fitted estimator, if it has one."""
        return attribute_of_fitted(self, "feature_importances_")

    @property
    def coef_(self) -> np.ndarray:
        """Attribute of the fitted estimator, if it has one."""
        return attribute_of_fitted(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if predictor.accepts(self.estimator):  # else fit raises the error
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse = inner.sparse
            tags.input_tags.allow_nan = inner.allow_nan
        return tags

    def __sklearn_clone__(self) -> "WrappedRanker":
        ranker = copy(self)
        ranker.estimator = cloned(self.estimator, safe=False)
        return super(WrappedRanker, ranker).__sklearn_clone__()

    # Fitting --------------------------------------------------------------------------

    def _grouped(self, X, y, lists, weights):
        """Bring the rows of each list together, if the estimator takes lists."""
        if name_of_lists(self.estimator) is None or lists.order is None:
            return X, y, lists, weights
        X = take_rows(X, lists.order)
        if weights is not None:
            weights = lists.group(weights)
        return X, lists.group(y), RankingLists(lists.lengths), weights

    def _grades_of_fit(self, y):
        """Return the grades that the estimator is fitted to."""
        if self.relevance_threshold is None:
            return y
        return (y >= self.relevance_threshold).astype(np.float64)

    def _fit_clone(self, X, y, lists, weights):
        """Fit a clone of the estimator, with the rows of each list together."""
        X, y, lists, weights = self._grouped(X, y, lists, weights)
        grades = self._grades_of_fit(y)
        if self.early_stopping:
            n_trees = self._best_n_iter(X, y, grades, lists, weights)
            model = with_trees(self.estimator, n_trees)
        else:
            model = cloned(self.estimator)
        options = self._fit_options(lists, weights)
        with explain_long_query(model):
            fit_one(model, X, grades, **options)
        if is_classifier(model) and not _has_scores(model):
            raise ValueError(
                f"{type(model).__name__} does not give a score to rank "
                f"{len(model.classes_)} grades by: use a classifier with "
                "predict_proba (CalibratedClassifierCV), or a regressor."
            )
        return model

    def _best_n_iter(self, X, y, grades, lists, weights):
        """Find the number of trees that is best on held-out lists.

        Sets `validation_scores_` and `n_iter_`.
        """
        w = np.ones(len(y)) if weights is None else weights
        rows, held = hold_out(lists, w, self.validation_fraction, self.random_state)
        lists_fit = lists.of_rows(rows)
        lists_held = lists.of_rows(held)
        weights_fit = None if weights is None else weights[rows]
        options = self._fit_options(lists_fit, weights_fit)
        options_held = {}
        if "group" in options:
            options_held["eval_group"] = [lists_held.lengths]
        scores = staged_scores(
            self.estimator,
            (take_rows(X, rows), grades[rows], options),
            (take_rows(X, held), options_held),
            measure_on(self.target_loss_, y[held], lists_held, w[held]),
            self.n_iter_no_change,
        )
        self.validation_scores_: np.ndarray = scores
        self.n_iter_: int = int(np.argmax(scores)) + 1
        return self.n_iter_

    def _set_rounds(self, n_iter):
        """Fix the number of trees, which early stopping found."""
        estimator = with_trees(self.estimator, n_iter)
        self.set_params(early_stopping=False, estimator=estimator)

    def _fit_options(self, lists, weights):
        """Arguments of the estimator's fit besides features and grades."""
        name = name_of_lists(self.estimator)
        options = {}
        if name is not None:
            is_lengths = name.endswith("group")
            options[name] = lists.lengths if is_lengths else lists.index
        if weights is not None:
            options.update(self._weight_options(name, lists, weights))
        return options

    def _weight_options(self, name, lists, weights):
        """Arguments of the estimator's fit for weights; `name` takes the lists."""
        steps, last = last_step(self.estimator)
        if name == f"{steps}qid" and not isinstance(last, BaseRanker):
            # One weight for each list, the mean of its rows.
            return {f"{steps}sample_weight": lists.sum(weights) / lists.lengths}
        takes_list_weights = "group_weight" in signature(last.fit).parameters
        first_weights = weights[lists.starts]
        if takes_list_weights and np.array_equal(weights, lists.repeat(first_weights)):
            return {f"{steps}group_weight": weights}
        options = weight_parameters(self.estimator, weights)
        refuse(
            CHECKS_OF_WRAPPED,
            estimator=self.estimator,
            weights=weights,
            options=options,
        )
        return options


@contextmanager
def explain_long_query(model):
    """Say what to do if LightGBM refuses a long query in the block."""
    try:
        yield
    except Exception as error:
        if "exceeds upper limit" not in str(error):
            raise
        raise ValueError(
            f"{type(model).__name__} takes at most 10,000 rows of a query ({error}): "
            "use HistGradientBoostingRanker, or drop the last rows of long queries."
        ) from error


def _has_scores(classifier):
    """Whether a fitted classifier gives one score a row."""
    if hasattr(classifier, "predict_proba"):
        return True
    return hasattr(classifier, "decision_function") and len(classifier.classes_) == 2


def cloned(estimator, *, safe=True):
    """Clone an estimator, also one that copies its lists of parameters, as CatBoost.

    `safe` is as in `clone`. Lists of such an estimator become tuples.
    """
    try:
        return clone(estimator, safe=safe)
    except RuntimeError:
        params = estimator.get_params(deep=False)
        for name, value in params.items():
            if isinstance(value, list):
                params[name] = tuple(value)
        return clone(type(estimator)(**params))


def last_step(estimator):
    """Split off the last step of a Pipeline.

    Returns
    -------
    prefix : str
        What stands before the names of its parameters in the Pipeline's `fit`, such as
        "lgbmranker__"; "" for any other estimator.
    last : estimator
    """
    prefix = ""
    while isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix += f"{name}__"
    return prefix, estimator


def name_of_lists(estimator):
    """Name of the parameter of the estimator's fit that takes lists, or None.

    The name of a Pipeline has the names of its last step before it.
    """
    prefix, last = last_step(estimator)
    if not hasattr(last, "fit"):  # "passthrough"
        return None
    parameters = signature(last.fit).parameters
    for name in ("group_id", "qid", "group"):
        if name in parameters:
            return prefix + name
    return None
