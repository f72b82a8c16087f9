"""LowRankSurrogateClassifier: any cost matrix, by an estimate of its low-rank form."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..fitting._any_regressor import resolved_estimator
from ..fitting._encoded_fits import AddsUp, has_sums
from ..fitting._encoding import Encoding
from ..fitting._logistic import ClassModel, fit_classes
from ..target_losses import MatrixLoss
from ..validation._arrays import ArrayLike, MatrixLike, check_range, check_same_index
from ..validation._check import refuse
from ..validation._checks_of_classes import (
    CHECKS_OF_LATER_CLASSES,
    CHECKS_OF_NAMED_CLASSES,
    CHECKS_OF_PROBABILITIES,
)
from ..validation._classes import (
    check_same_classes,
    class_indices,
    decision_score,
    read_classes,
    read_costs,
)
from ..validation._kinds import arrive
from ..validation._labels import read_weights
from ..validation._parameters import RUNTIME, count, fresh_fit, number, predictor, say
from ..validation._read import Data
from ._calibrated_forest import CalibratedForest


def _has_probabilities(classifier):
    """Return whether the model estimates probabilities of the classes."""
    estimator = classifier.estimator
    if hasattr(classifier, "_model_"):
        has_probabilities = getattr(classifier._model_, "vectors", None) is not None
    else:
        is_logistic = resolved_estimator(estimator, "classes") == "logistic"
        has_probabilities = is_logistic or _is_classifier(estimator)
    if has_probabilities:
        return True
    raise AttributeError(
        f"estimator={estimator!r} does not estimate probabilities: set "
        "estimator='logistic' or 'trees'."
    )


def _is_classifier(estimator):
    """Return whether the parameter `estimator` names or is a classifier."""
    if isinstance(estimator, str):
        return estimator == "trees"
    return is_classifier(estimator)


def _decides_classes(classifier):
    """Return whether the decisions are the classes."""
    classes = getattr(classifier, "classes_", classifier.classes)
    decisions = getattr(classifier, "decisions_", classifier.decisions)
    if decisions is None or np.array_equal(classes, decisions):
        return True
    raise AttributeError(
        "decision_function needs decisions that are the classes: use predict."
    )


class LowRankSurrogateClassifier(AddsUp, ClassifierMixin, BaseEstimator):
    """Classify at the lowest expected cost, for any cost matrix, with abstention.

    `fit` estimates ``u = E[alpha(y) | x]``. `predict` takes the decision t of the least
    ``<u, beta(t)>``. Here ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` comes from a
    singular value decomposition of the cost matrix. This is consistent for the costs if
    the regression is (theorem 3 of [1]_), with d = rank outputs rather than one for
    each class.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions), {"absolute", \
            "squared"} or None, default=None
        Cost of each decision (column) for each class (row); None is the 0-1 loss.
        "absolute" and "squared" are ``|i - j|`` and ``(i - j)**2`` for the classes i
        and j in their order. The index and the columns of a data frame name the classes
        and decisions, unless they are 0, 1, ...
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the rows. None is the categories of an ordered Categorical y, else the
        sorted labels in y. Sorted strings are an error if another order would change
        the costs.
    decisions : array-like of shape (n_decisions,) or None, default=None
        Labels of the columns. None is the classes, or 0, 1, ... if the matrix is not
        square.
    n_components : int or None, default=None
        Largest dimension of the surrogate; None is the rank, which is exact.
    estimator : {"auto", "ridge", "logistic", "trees"}, regressor or classifier, \
            default="auto"
        The model. "auto" and "logistic" are multinomial logistic regression; its
        probabilities p give ``u = sum of p(y) alpha(y)``. "trees" is 50 trees of a
        random forest and 50 extra trees, all of bootstraps; a sigmoid for each class
        makes their votes on rows out of the bootstrap probabilities. "ridge" is linear
        least squares of ``alpha(y)``. A classifier needs ``predict_proba``.
    alpha : float, "auto" or "gcv", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n rows, c =
        1 for "ridge"; for "logistic" 1/k for k classes, 1/4 for two. "gcv", only for
        "ridge", is the best of 65 penalties by generalised cross-validation: use it if
        costs hardly depend on X.
    tol : float, default=1e-4
        Accuracy of "logistic" and of "ridge" where they iterate.
    max_iter : int, default=1000
        Largest number of iterations of "logistic" and "ridge".
    n_jobs : int or None, default=None
        Parallel fits of "trees", or of a regressor with a single output.
    random_state : int, RandomState instance or None, default=None
        Seed of `estimator`.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the rows of the cost matrix, sorted unless given.
    decisions_ : ndarray of shape (n_decisions,)
        Labels that `predict` returns.
    n_components_ : int
        Dimension d of the surrogate.
    approximation_error_ : float
        ``max |L - L_d|``, 0 for the exact surrogate. The regret grows by at most twice
        this.
    coef_ : ndarray of shape (n_classes, n_features) or (d, n_features)
        "logistic": probabilities are ``softmax(X coef' + intercept)``, with a row for
        each class, even if there are two. "ridge": u is ``X coef' + intercept``.
    intercept_ : ndarray of shape (n_classes,) or (d,)
        Intercepts; -inf for a class that is not in y.
    estimators_ : list of regressors, or of one classifier
        One model, or one for each coordinate.
    estimator_, feature_importances_
        The only model, and its importances.
    alpha_ : float
        Penalty of "logistic" or "ridge".
    solver_ : str
        Solver of "ridge": "gram" from second moments, or the iterative "lsqr" above 500
        sparse features, 4000 dense ones, or 1000 if p (n + p) > 1000 n d.
    n_iter_ : int
        Iterations of the slowest coordinate.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.

    See Also
    --------
    LowRankSurrogateRanker : The same for ranking losses.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013.

    Examples
    --------
    Calling a sick patient well costs ten times the opposite error:

    >>> from lowrank_rank import LowRankSurrogateClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["sick", "well", "sick", "well"]
    >>> costs, classes = [[0, 10], [1, 0]], ["sick", "well"]
    >>> classifier = LowRankSurrogateClassifier(loss_matrix=costs, classes=classes)
    >>> classifier.fit(X, y).predict([[1.0], [3.0]])
    array(['sick', 'sick'], dtype='<U4')
    """

    classes_: np.ndarray
    decisions_: np.ndarray
    _keeps_float32: ClassVar = True
    _trees: ClassVar = CalibratedForest()
    _keeps_frames: ClassVar = True
    _shared: ClassVar = ("classes_", "decisions_", "_loss_")
    _parameters: ClassVar = {
        "n_components": [count(), None],
        "estimator": [predictor, "auto", "ridge", "logistic", "trees"],
        "alpha": ["auto", "gcv", number(0)],
        "tol": [number(0)],
        "max_iter": [count()],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        loss_matrix: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        decisions: ArrayLike | None = None,
        n_components: int | None = None,
        estimator: Any = "auto",
        alpha: float | str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss_matrix = loss_matrix
        self.classes = classes
        self.decisions = decisions
        self.n_components = n_components
        self.estimator = estimator
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "LowRankSurrogateClassifier":
        """Encode the classes and fit the regression.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            An `estimator` gets a data frame of pandas or polars unchanged.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows; None is 1 for each.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If the cost matrix does not fit the labels, or X, y or the weights are
            wrong. The model is unchanged then.
        """
        with fresh_fit(self):
            X, labels, weights = self._read(X, y, sample_weight, reset=True, whole=True)
            costs = read_costs(self.loss_matrix, self.classes, self.decisions, y)
            rows, encoding = self._encode(X, labels, weights, costs)
            self._keep(self._fit_model(rows, encoding))
        return self

    def _fit_model(self, rows, encoding):
        """Fit the regression, or the classifier whose probabilities give u."""
        if resolved_estimator(self.estimator, "classes") == "logistic":
            say(self, f"logistic regression on {rows.X.shape}")
            vectors = self._loss_.encode(np.arange(len(self.classes_)))
            return fit_classes(
                rows, vectors, self.alpha, tol=self.tol, max_iter=self.max_iter
            )
        if not _is_classifier(self.estimator):
            return self._regress(rows, encoding)
        if not self._has_trees():
            refuse(CHECKS_OF_PROBABILITIES, estimator=self.estimator)

        def encode(labels):
            return self._loss_.encode(class_indices(labels, self.classes_))

        y = self.classes_[rows.y]
        return self._fit_classifier(rows.X, y, rows.weights, encode)

    def _has_sums(self):
        """Return whether the fit follows from sums that add up."""
        return isinstance(self.estimator, str) and self.estimator == "ridge"

    @available_if(has_sums)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "LowRankSurrogateClassifier":
        """Add a batch of rows; the model becomes the one that `fit` finds on all rows.

        Only for ``estimator="ridge"``. Memory does not grow with the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels of all batches, in any order. The first call needs them, unless
            the parameter `classes` or the index of `loss_matrix` names them. Later
            calls give the same or None.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows; None is 1 for each.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`. Also if the classes are missing or differ, the costs have
            changed, or there are too many features for the sums. The model is unchanged
            then.
        """
        arrive(classes=classes)
        return self._add_block((X, y, None, sample_weight), classes=classes)

    @available_if(has_sums)
    def fit_blocks(
        self, blocks: Iterable[Any], *, classes: ArrayLike | None = None
    ) -> "LowRankSurrogateClassifier":
        """Fit to blocks of rows, with one block at a time in memory.

        One pass over the blocks gives the same model as `fit` on all rows, up to
        rounding. Only for ``estimator="ridge"``.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, None, sample_weight)
            Rows in any order; there are no lists, and query ids are refused.
        classes : array-like of shape (n_classes,) or None, default=None
            As in `partial_fit`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `partial_fit`, or if there is no block. The model is unchanged then.
        """
        arrive(classes=classes)
        return self._fit_blocks(blocks, classes=classes)

    # Encoding -----------------------------------------------------------------------

    def _read(self, X, y, sample_weight, *, reset, whole):
        """Return checked features, labels and weights."""
        arrive(X=X, y=y, sample_weight=sample_weight)
        check_same_index(X=X, y=y, sample_weight=sample_weight)
        X = self._validate_X(X, reset=reset)
        if self._is_linear():
            check_range(X, self)
        labels = read_classes(self, X, y)
        weights = read_weights(sample_weight, X.shape[0], whole=whole)
        return X, labels, weights

    def _encode(self, X, y, weights, costs):
        """Return `Data` and their `Encoding`; set the attributes that costs decide."""
        matrix, self.classes_, self.decisions_ = costs
        self._loss_ = MatrixLoss(matrix, self.n_components)
        indices = class_indices(y, self.classes_)
        rows = Data(X, indices, None, weights)
        return rows, Encoding("classes", self._loss_.encode(indices))

    # Blocks of classes have no lists.
    def _read_block(  # type: ignore[override]
        self, X, y, qid=None, weights=None, *, reset, classes=None
    ):
        """Return the `Rows` of a block and their `Encoding`."""
        refuse(CHECKS_OF_LATER_CLASSES, estimator=self, qid=qid)
        X, y, weights = self._read(X, y, weights, reset=reset, whole=False)
        known_classes = self.classes
        if known_classes is None:
            known_classes = getattr(self, "classes_", None)  # of earlier calls
        labels = None
        if classes is not None:
            refuse(
                CHECKS_OF_NAMED_CLASSES,
                named_classes=classes,
                loss_matrix=self.loss_matrix,
            )
            labels = np.asarray(classes)
        costs = read_costs(self.loss_matrix, known_classes, self.decisions, labels)
        if labels is not None:
            _, all_classes, _ = costs
            check_same_classes(labels, all_classes)
        return self._encode(X, y, weights, costs)

    def _keep(self, model, *, flat=None):
        """Set the fitted attributes of the costs and of a model."""
        self.n_components_: int = self._loss_.n_components_
        self.approximation_error_: float = self._loss_.approximation_error_
        super()._keep(model, flat=flat)

    # Prediction ---------------------------------------------------------------------

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Estimate the probabilities of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        arrive(X=X)
        check_is_fitted(self)
        return self._probabilities(self._validate_X(X, reset=False))

    def _probabilities(self, X):
        """Return the probabilities of all classes, 0 for those that fit did not see."""
        if isinstance(self._model_, ClassModel):
            return self._model_.probabilities(X)
        [classifier] = self._model_.regressors
        columns = class_indices(classifier.classes_, self.classes_)
        probabilities = np.zeros((X.shape[0], len(self.classes_)))
        probabilities[:, columns] = self._model_.probabilities(X)
        return probabilities

    @available_if(_decides_classes)
    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Return minus the expected cost of each decision.

        The decisions are the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes), or (n_samples,) of two classes
            For two classes the second column minus the first: `predict` takes the
            second class above 0. A model without probabilities gives costs up to a
            constant of each row. Costs are off by up to ``approximation_error_`` for
            `n_components` below the rank.
        """
        arrive(X=X)
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        # <u, beta(t)> lacks the offset: the mean cost of each class.
        scores = -self._model_.predict(X) @ self._loss_.beta_.T
        if hasattr(self, "predict_proba"):
            mean_costs = self._loss_.matrix_.mean(axis=1)
            scores -= (self._probabilities(X) @ mean_costs)[:, np.newaxis]
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the decision of the least estimated cost for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``decisions_``.
        """
        u = self.predict_surrogate(X)
        return self.decisions_[self._loss_.decode(u)]

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return one minus the mean cost of the predicted decisions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows; None is 1 for each.

        Returns
        -------
        float
            Greater is better: accuracy for the 0-1 loss, negative where the mean cost
            exceeds 1.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        check_same_index(X=X, y=y, sample_weight=sample_weight)
        best = self._loss_.decode(self.predict_surrogate(X))
        return decision_score(self, self._loss_.matrix_, y, best, sample_weight)
