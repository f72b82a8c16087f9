"""BoosterRanker: the rankers of LightGBM, XGBoost and CatBoost under scikit-learn's tools."""

from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._labels import read_weights
from .._parameters import number, predictor
from .._tables import take_rows
from .._typing import ArrayLike, MatrixLike
from ..regression._regression import checked_prediction
from ._pointwise import WrappedRanker

if TYPE_CHECKING:
    from ..target_losses._base import TargetLoss


class BoosterRanker(WrappedRanker):
    """LGBMRanker, XGBRanker or CatBoostRanker as a ranker of this package.

    It takes the query ids off y, brings the rows of a list together, and hands a clone of
    `estimator` the grades and the lists in the form that it asks for. Cross-validation, searches
    and scorers then work with a `ranking_target`, and rows may come in any order.

    Parameters
    ----------
    estimator : LGBMRanker, XGBRanker, CatBoostRanker or alike
        Whose ``fit`` takes ``group_id``, ``qid`` or ``group``. Without query ids all rows are
        one list.
    target_loss : str or TargetLoss, default="ndcg@10"
        What `score` measures; the fit does not know of it.
    relevance_threshold : float or None, default=None
        Fit on whether the grade is at least this, as "rank:map" wants it; None fits on grades.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, of which SHAP's ``TreeExplainer`` and the like take.
    target_loss_ : TargetLoss
        The resolved target loss.
    n_lists_ : int
        Lists seen in fit.
    n_features_in_, feature_names_in_, feature_importances_, coef_
        Of `estimator_`, where it has them.

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

    _parameters: ClassVar = {"estimator": [predictor], "relevance_threshold": [number(), None]}

    def __init__(
        self,
        estimator: Any,
        *,
        target_loss: "str | TargetLoss" = "ndcg@10",
        relevance_threshold: float | None = None,
    ) -> None:
        self.estimator = estimator
        self.target_loss = target_loss
        self.relevance_threshold = relevance_threshold

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
            If y is a matrix, or the estimator's fit takes no lists.
        """
        return self._fit_grades(X, y, qid, sample_weight)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; those of a row do not depend on the other rows.

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
        model = clone(self.estimator)
        names = signature(model.fit).parameters
        form = next((name for name in _FORMS if name in names), None)
        if form is None:
            raise ValueError(
                f"The fit of {type(model).__name__} takes no lists, none of {list(_FORMS)}: give "
                "LGBMRanker, XGBRanker or CatBoostRanker, and other models to PointwiseRanker."
            )
        options = {form: _FORMS[form](lists)}
        if sample_weight is not None:
            weights = lists.group(read_weights(sample_weight, len(y)))
            by_list = form == "qid"
            options["sample_weight"] = lists.sum(weights) / lists.lengths if by_list else weights
        if self.relevance_threshold is not None:
            y = (y >= self.relevance_threshold).astype(np.float64)
        return model.fit(_grouped(X, lists), lists.group(y), **options)


def _grouped(X, lists):
    """Rows of X with those of a list together; untouched where they are."""
    if lists.order is None:
        return X
    return take_rows(X if hasattr(X, "shape") else np.asarray(X), lists.order)


#: How an estimator's fit takes lists, by the name of the parameter, the first that it has.
_FORMS = {
    "group_id": lambda lists: lists.index,
    "qid": lambda lists: lists.index,
    "group": lambda lists: lists.lengths,
}
