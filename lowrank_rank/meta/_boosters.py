"""BoosterRanker: the rankers of LightGBM, XGBoost and CatBoost under scikit-learn's tools."""

from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._arrays import ArrayLike, MatrixLike, take_rows
from .._labels import read_weights
from .._lists import RankingLists
from .._parameters import number, predictor, random_state
from ..regression._any_regressor import checked_prediction
from ..regression._early_stopping import PARAMETERS, Iterated, Part, hold_out, measure_on
from ._pointwise import WrappedRanker

if TYPE_CHECKING:
    from ..target_losses._base import TargetLoss


class BoosterRanker(WrappedRanker):
    """LGBMRanker, XGBRanker or CatBoostRanker as a ranker of this package.

    `fit` separates the query ids from y and groups the rows of each list. A clone of `estimator`
    gets the grades and the lists in its own form. Cross-validation, searches and scorers then work
    with a `ranking_target`, and rows may come in any order.

    Parameters
    ----------
    estimator : LGBMRanker, XGBRanker, CatBoostRanker or alike
        A ranker with ``group_id``, ``qid`` or ``group`` in ``fit``. Without query ids all rows are
        one list.
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure of `score` and `early_stopping`; it does not change the loss of the fit.
    relevance_threshold : float or None, default=None
        Fit on whether the grade is at least this, as "rank:map" wants it; None fits on grades.
    early_stopping : bool, default=False
        Find the number of trees, up to the estimator's own, by `target_loss` on whole queries that
        are held out; then fit that many on all queries. LGBMRanker and XGBRanker stop by their own
        callbacks; CatBoostRanker is refused.
    validation_fraction : float, default=0.1
        Fraction of the queries held out for `early_stopping`, drawn as
        `model_selection.query_train_test_split` does.
    n_iter_no_change : int, default=10
        Trees without a larger value on the held-out queries after which `early_stopping` stops.
    random_state : int, RandomState instance or None, default=None
        Draws the queries that are held out.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, which SHAP's ``TreeExplainer`` and the like take.
    n_iter_ : int
        Number of trees of `estimator_`, for `early_stopping`.
    validation_scores_ : ndarray of shape (n,)
        `early_stopping`: the measure on the held-out queries after each tree; `n_iter_` is the
        first maximum.
    target_loss_ : TargetLoss
        The resolved target loss.
    n_lists_ : int
        Number of lists.
    n_features_in_, feature_names_in_, feature_importances_, coef_
        Attributes of `estimator_`, if it has them.

    See Also
    --------
    PointwiseRanker : The same for regressors and classifiers, which take no lists.
    boosting_metric : Measures of lists for early stopping.
    boosting_objective : Surrogates as objectives of boosters.

    Examples
    --------
    Anything whose fit takes groups; LGBMRanker in this model's place needs LightGBM:

    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from lowrank_rank import BoosterRanker
    >>> class Best(BaseEstimator):
    ...     def fit(self, X, y, group):
    ...         self.group_ = group
    ...         return self
    ...     def predict(self, X):
    ...         return np.asarray(X)[:, 0]
    >>> X, y = [[1.0], [2.0], [0.0], [1.0]], [0, 1, 1, 0]
    >>> ranker = BoosterRanker(Best()).fit(X, y, qid=["a", "a", "b", "b"])
    >>> ranker.estimator_.group_.tolist(), ranker.rank(X, qid=["a", "a", "b", "b"]).tolist()
    ([2, 2], [2, 1, 2, 1])
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
        target_loss: "str | TargetLoss" = "ndcg@10",
        relevance_threshold: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
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
    ) -> "BoosterRanker":
        """Fit a clone of the estimator on grades and lists.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Whatever `estimator` takes, one row per document, in any order of the lists.
        y : array-like of shape (n_rows,)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Handed on; an estimator that takes ``qid``, as XGBRanker, weighs lists, and gets
            the mean weight of each.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y is a matrix, or the fit of the estimator takes no lists. Also if `early_stopping`
            has fewer than two lists, or the estimator cannot stop early.
        """
        return self._fit_grades(X, y, qid, sample_weight)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; the score of a row does not depend on the other rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        scores = self.estimator_.predict(X)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(scores)
        return checked_prediction(self.estimator_, scores, n_rows)[:, 0]

    def _fit_clone(self, X, y, lists, sample_weight):
        weights = None if sample_weight is None else read_weights(sample_weight, len(y))
        grouped = Grouped.of(X, y, lists, weights)
        model = self._stopped(grouped) if self.early_stopping else clone(self.estimator)
        return model.fit(grouped.X, self._fitted_grades(grouped.y), **self._options(grouped))

    def _form(self):
        """The parameter of the estimator's fit that takes lists."""
        names = signature(self.estimator.fit).parameters
        form = next((name for name in _FORMS if name in names), None)
        if form is None:
            raise ValueError(
                f"The fit of {type(self.estimator).__name__} takes no lists, none of "
                f"{list(_FORMS)}: give LGBMRanker, XGBRanker or CatBoostRanker, and other models "
                "to PointwiseRanker."
            )
        return form

    def _options(self, grouped):
        """Arguments of fit apart from rows and grades."""
        form = self._form()
        options = {form: _FORMS[form](grouped.lists)}
        if grouped.weights is not None:
            by_list = form == "qid"
            options["sample_weight"] = grouped.weights_of_lists() if by_list else grouped.weights
        return options

    def _fitted_grades(self, y):
        if self.relevance_threshold is None:
            return y
        return (y >= self.relevance_threshold).astype(np.float64)

    def _stopped(self, grouped):
        """A clone of the estimator with as many trees as are best on held-out lists."""
        iterated = Iterated.of(self.estimator)
        weights = np.ones(len(grouped.y)) if grouped.weights is None else grouped.weights
        rows, held = hold_out(grouped.lists, weights, self.validation_fraction, self.random_state)
        training, watched = grouped.rows(rows), grouped.rows(held)
        part = Part(
            training.X,
            self._fitted_grades(training.y),
            watched.X,
            self._options(training),
            {"eval_group": [watched.lists.lengths]} if self._form() == "group" else {},
        )
        value = measure_on(self.target_loss_, watched.y, watched.lists, weights[held])
        self.validation_scores_ = iterated.validation_scores([part], value, self.n_iter_no_change)
        self.n_iter_ = int(np.argmax(self.validation_scores_)) + 1
        return iterated.limited(self.n_iter_)


class Grouped(NamedTuple):
    """Rows with the rows of each list together."""

    X: Any
    y: np.ndarray
    lists: RankingLists
    weights: np.ndarray | None

    @classmethod
    def of(cls, X, y, lists, weights):
        """X is untouched where its lists stand together."""
        if lists.order is None:
            return cls(X, y, lists, weights)
        X = take_rows(X if hasattr(X, "shape") else np.asarray(X), lists.order)
        weights = None if weights is None else lists.group(weights)
        return cls(X, lists.group(y), RankingLists(lists.lengths), weights)

    def rows(self, rows):
        """Rows of whole lists, in ascending order."""
        X = take_rows(self.X if hasattr(self.X, "shape") else np.asarray(self.X), rows)
        lists = RankingLists.from_qid(self.lists.index[rows])
        return Grouped(X, self.y[rows], lists, None if self.weights is None else self.weights[rows])

    def weights_of_lists(self):
        return self.lists.sum(self.weights) / self.lists.lengths


#: How an estimator's fit takes lists, by the name of the parameter, the first that it has.
_FORMS = {
    "group_id": lambda lists: lists.index,
    "qid": lambda lists: lists.index,
    "group": lambda lists: lists.lengths,
}
