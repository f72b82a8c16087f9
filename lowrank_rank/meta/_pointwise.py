"""PointwiseRanker: any regressor or classifier of grades as a ranker."""

from typing import Any, ClassVar

import numpy as np
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._arrays import ArrayLike, MatrixLike, check_same_index, check_unmasked
from .._base import BaseRanker, attribute_of_fitted
from .._labels import lists_of, read_labels, read_weights, split_target, warn_of_single_items
from .._lists import fitted_lists
from .._parameters import check_parameters, fresh_fit, predictor
from ..regression._any_regressor import checked_prediction, weight_parameters
from ..target_losses import TargetLoss, resolve_target_loss


class WrappedRanker(MetaEstimatorMixin, BaseRanker, RegressorMixin, BaseEstimator):
    """Base of rankers that fit a clone of another model to the grades of documents.

    A subclass defines ``_fit_clone(X, y, lists, sample_weight)``, which returns the fitted clone.
    """

    def _fit_grades(self, X, y, qid, sample_weight):
        with fresh_fit(self):
            check_parameters(self)
            check_unmasked(X, "X")
            loss = clone(resolve_target_loss(self.target_loss))
            check_same_index(X=X, y=y, qid=qid, sample_weight=sample_weight)
            y, qid = split_target(y, qid, X)
            y = read_labels(y, estimator=self)
            if y.ndim != 1:
                raise ValueError(
                    f"{type(self).__name__} takes one grade per row, y of shape (n_rows,), got "
                    f"{y.shape}. A matrix y carries no query ids: fit the estimator itself on it."
                )
            check_consistent_length(X, y)
            lists = lists_of(y, qid)
            warn_of_single_items(lists, stacklevel=4)
            loss.check_judged(y)
            self.target_loss_, self.n_lists_, self.n_items_ = loss, lists.n_lists, None
            self._has_qid_, self._fitted_lists_ = qid is not None, fitted_lists(lists)
            self.estimator_ = self._fit_clone(X, y, lists, sample_weight)
        return self

    @property
    def n_features_in_(self) -> int:
        return attribute_of_fitted(self, "n_features_in_")

    @property
    def feature_names_in_(self) -> np.ndarray:
        return attribute_of_fitted(self, "feature_names_in_")

    @property
    def feature_importances_(self) -> np.ndarray:
        """Attribute of the fitted estimator, if it has one."""
        return attribute_of_fitted(self, "feature_importances_")

    @property
    def coef_(self) -> np.ndarray:
        """Attribute of the fitted estimator, if it has one."""
        return attribute_of_fitted(self, "coef_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if predictor.accepts(self.estimator):  # else fit raises the error
            inner = get_tags(self.estimator).input_tags
            tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags


class PointwiseRanker(WrappedRanker):
    """Rank documents by any regressor or classifier of their grades.

    The model reads the query ids from y, fits a clone of `estimator` to the grades, each row by
    itself, and sorts by the predictions. Models of scikit-learn without lists can then be
    compared with rankers in one cross-validation: a regressor alone refuses a `ranking_target`.

    Parameters
    ----------
    estimator : regressor or classifier
        Scores are the predictions of a regressor. Scores of a classifier are expected grades, the
        sum over classes of class times ``predict_proba``, or ``decision_function`` of a binary one.
    target_loss : str or TargetLoss, default="ndcg@10"
        Measure of `score`. The fit does not use it.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    target_loss_ : TargetLoss
        The resolved target loss.
    n_lists_ : int
        Number of lists in fit.
    n_features_in_, feature_names_in_, feature_importances_, coef_
        Attributes of `estimator_`, if it has them.

    See Also
    --------
    LowRankSurrogateRanker : Regresses the targets of a loss, centred within lists.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from lowrank_rank import PointwiseRanker
    >>> X, y, qid = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 2], ["a", "a", "b", "b"]
    >>> ranker = PointwiseRanker(LogisticRegression()).fit(X, y, qid=qid)
    >>> ranker.rank(X, qid=qid)
    array([2, 1, 2, 1])
    >>> ranker.score(X, y, qid=qid)
    1.0
    """

    _parameters: ClassVar = {"estimator": [predictor]}

    def __init__(self, estimator: Any, *, target_loss: str | TargetLoss = "ndcg@10") -> None:
        self.estimator = estimator
        self.target_loss = target_loss

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "PointwiseRanker":
        """Fit a clone of the estimator on the grades.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, of a type that `estimator` takes.
        y : array-like of shape (n_rows,)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document, used by `score` and `rank` alone.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights for the fit of `estimator`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y is a matrix, the estimator takes no weights, or a classifier predicts no scores.
        """
        return self._fit_grades(X, y, qid, sample_weight)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict scores, higher is better. The score of a row does not depend on other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        model = self.estimator_
        if not is_classifier(model):
            scores = model.predict(X)
        elif hasattr(model, "predict_proba"):
            scores = model.predict_proba(X) @ np.asarray(model.classes_, dtype=np.float64)
        else:
            scores = model.decision_function(X)
        n_rows = X.shape[0] if hasattr(X, "shape") else len(scores)
        return checked_prediction(model, scores, n_rows)[:, 0]

    def _fit_clone(self, X, y, lists, sample_weight):
        model, weights = clone(self.estimator), {}
        if sample_weight is not None:
            weights = weight_parameters(model, read_weights(sample_weight, len(y)))
        if weights is None:
            raise ValueError(
                f"{model!r} takes no sample_weight in fit: leave it out, or use another estimator."
            )
        with config_context(enable_metadata_routing=False):  # weights go by their plain names
            model.fit(X, y, **weights)
        has_scores = hasattr(model, "predict_proba") or (
            hasattr(model, "decision_function") and len(model.classes_) == 2
        )
        if is_classifier(model) and not has_scores:
            raise ValueError(
                f"{type(model).__name__} gives no score to rank {len(model.classes_)} grades by: "
                "use a classifier with predict_proba (CalibratedClassifierCV makes one), two "
                "grades, or a regressor."
            )
        return model
