"""BoosterRanker: rankers of LightGBM, XGBoost and CatBoost for scikit-learn's tools."""

from inspect import signature
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .._arrays import ArrayLike, MatrixLike, take_rows
from .._labels import read_weights
from .._lists import RankingLists
from .._parameters import number, predictor, random_state
from ..regression._any_regressor import checked_prediction
from ..regression._early_stopping import PARAMETERS, Iterated, Part, hold_out, measure_on
from ..target_losses import TargetLoss
from ._pointwise import WrappedRanker


class BoosterRanker(WrappedRanker):
    """LGBMRanker, XGBRanker or CatBoostRanker as a ranker of this package.

    The model reads the query ids from y, sorts the rows by list, and fits a clone of `estimator` to
    the grades and the lists. Cross-validation, searches and scorers then work with a
    `ranking_target`, and rows may come in any order.

    Parameters
    ----------
    estimator : LGBMRanker, XGBRanker, CatBoostRanker or similar
        A ranker with a parameter ``group_id``, ``qid`` or ``group`` of ``fit``. Without query ids
        all rows are one list.
    target_loss : str or TargetLoss, default="ndcg@10"
        Measure of `score` and of `early_stopping`. The fit does not use it.
    relevance_threshold : float or None, default=None
        Fit to binary grades, 1 for grades of at least this, as "rank:map" needs them; None fits to
        the grades.
    early_stopping : bool, default=False
        Find the number of trees, up to the estimator's own, by `target_loss` on held-out queries,
        and fit this many trees to all queries. LGBMRanker and XGBRanker stop by their own
        callbacks; CatBoostRanker is refused.
    validation_fraction : float, default=0.1
        Fraction of the queries held out for `early_stopping`, drawn as
        `model_selection.query_train_test_split` does.
    n_iter_no_change : int, default=10
        Stop after this many trees without improvement on the held-out queries.
    random_state : int, RandomState instance or None, default=None
        Draws the held-out queries.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, a model for SHAP's ``TreeExplainer`` and similar tools.
    n_iter_ : int
        Number of trees of `estimator_`. Only with `early_stopping`.
    validation_scores_ : ndarray of shape (n,)
        The measure on the held-out queries after each tree, the first maximum at number `n_iter_`.
        Only with `early_stopping`.
    target_loss_ : TargetLoss
        The resolved target loss.
    n_lists_ : int
        Number of lists in fit.
    n_features_in_, feature_names_in_, feature_importances_, coef_
        Attributes of `estimator_`, if it has them.

    See Also
    --------
    PointwiseRanker : The same for regressors and classifiers, which take no lists.
    boosting_metric : Measures of lists for early stopping.
    boosting_objective : Surrogates as objectives of boosters.

    Examples
    --------
    An estimator with a fit that takes groups, such as LGBMRanker of LightGBM:

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
        target_loss: str | TargetLoss = "ndcg@10",
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
            One row per document in any order, of a type that `estimator` takes.
        y : array-like of shape (n_rows,)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights for the fit of `estimator`. XGBRanker and others that take ``qid`` weigh lists,
            and get the mean weight of each list.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y is a matrix, the estimator's fit takes no lists, or LightGBM's a query of more than
            10,000 rows. Also if `early_stopping` has fewer than two lists, or an estimator that
            cannot stop.
        """
        return self._fit_grades(X, y, qid, sample_weight)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict scores, higher is better. The score of a row does not depend on other rows.

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
        X = X if hasattr(X, "shape") else np.asarray(X)
        if lists.order is not None:  # bring the rows of each list together
            X, y = take_rows(X, lists.order), lists.group(y)
            weights = None if weights is None else lists.group(weights)
            lists = RankingLists(lists.lengths)
        grades = y
        if self.relevance_threshold is not None:
            grades = (y >= self.relevance_threshold).astype(np.float64)
        model = clone(self.estimator)
        if self.early_stopping:
            model = self._find_n_iter(X, y, grades, lists, weights)
        options = self._fit_options(lists, weights)
        try:
            return model.fit(X, grades, **options)
        except Exception as error:
            if "exceeds upper limit" not in str(error):
                raise
            raise ValueError(
                f"{type(model).__name__} takes at most 10,000 rows of a query ({error}). Fit "
                "LGBMRegressor(objective=boosting_objective('cross_entropy', qid=qid)) by itself, "
                "with the qid of the training rows, or drop the last rows of long queries."
            ) from error

    def _fit_options(self, lists, weights):
        """Arguments of the estimator's fit besides features and grades."""
        parameters = signature(self.estimator.fit).parameters
        name = next((n for n in ("group_id", "qid", "group") if n in parameters), None)
        if name is None:
            raise ValueError(
                f"The fit of {type(self.estimator).__name__} takes no lists, none of "
                "['group_id', 'qid', 'group']: give LGBMRanker, XGBRanker or CatBoostRanker, and "
                "wrap other models in PointwiseRanker."
            )
        options = {name: lists.lengths if name == "group" else lists.index}
        if weights is not None:
            by_list = name == "qid"
            options["sample_weight"] = lists.sum(weights) / lists.lengths if by_list else weights
        return options

    def _find_n_iter(self, X, y, grades, lists, weights):
        """A clone of the estimator with the number of trees that is best on held-out lists."""
        iterated = Iterated.of(self.estimator)
        w = np.ones(len(y)) if weights is None else weights
        rows, held = hold_out(lists, w, self.validation_fraction, self.random_state)
        lists_fit, lists_held = (RankingLists.from_qid(lists.index[some]) for some in (rows, held))
        options = self._fit_options(lists_fit, None if weights is None else weights[rows])
        options_held = {"eval_group": [lists_held.lengths]} if "group" in options else {}
        part = Part(take_rows(X, rows), grades[rows], take_rows(X, held), options, options_held)
        value = measure_on(self.target_loss_, y[held], lists_held, w[held])
        self.validation_scores_ = iterated.validation_scores([part], value, self.n_iter_no_change)
        self.n_iter_ = int(np.argmax(self.validation_scores_)) + 1
        return iterated.limited(self.n_iter_)
