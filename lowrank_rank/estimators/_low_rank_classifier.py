"""LowRankSurrogateClassifier: any cost matrix, by least squares on its low-rank form."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    column_or_1d,
)

from ..solvers import RidgeStatistics
from ..target_losses import MatrixLoss
from ._surrogate import SurrogateMixin
from ._validation import all_or_nothing, check_number, check_weights


class LowRankSurrogateClassifier(SurrogateMixin, ClassifierMixin, BaseEstimator):
    """Classifier for any cost matrix, calibrated by a low-rank surrogate.

    Regresses ``alpha(y)`` by least squares and predicts the decision t that minimises
    ``<u, beta(t)>``, where ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` comes from a singular
    value decomposition of the cost matrix. With any consistent regressor it is consistent for
    the costs (theorem 3 of [1]_), with d = rank outputs rather than one per class.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions) or None, default=None
        Cost of each decision (column) for each class (row). None is the 0-1 loss. A data frame
        names the classes by its index and the decisions by its columns, unless they are 0, 1, ...
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the rows. None takes the sorted labels seen in fit, whose number must then
        be that of the rows.
    decisions : array-like of shape (n_decisions,) or None, default=None
        Labels of the columns. None takes the classes; for a matrix that is not square, the
        column indices 0, 1, ...
    n_components : int or None, default=None
        Largest dimension of the surrogate; None, or the rank and more, is exact. See
        ``approximation_error_``.
    estimator : regressor or None, default=None
        Any scikit-learn regressor; None is ridge regression with an intercept.
    alpha : float, default=1.0
        Penalty of the default ridge regression.
    n_jobs : int or None, default=None
        Parallel fits, over coordinates, of an `estimator` with a single output.
    random_state : int, RandomState instance or None, default=None
        Seeds every `random_state` of `estimator` that is None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the rows of the cost matrix, sorted unless given.
    decisions_ : ndarray of shape (n_decisions,)
        Labels that `predict` returns.
    n_components_ : int
        Dimension d of the surrogate.
    approximation_error_ : float
        ``max |L - L_d|``; with `n_components` the regret is at most twice this above that of
        the exact surrogate.
    coef_ : ndarray of shape (d, n_features)
        Where the regression is linear.
    intercept_ : ndarray of shape (d,)
        Where the regression is linear.
    estimators_ : list of regressors
        With `estimator`.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    LowRankSurrogateRanker : The same for ranking losses.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices with Applications to Subset Ranking Losses", NIPS 2013.

    Examples
    --------
    Calling a sick patient well costs ten times the opposite error:

    >>> from lowrank_rank import LowRankSurrogateClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["sick", "well", "sick", "well"]
    >>> costs = [[0, 10], [1, 0]]
    >>> LowRankSurrogateClassifier(loss_matrix=costs).fit(X, y).predict([[1.0], [3.0]])
    array(['sick', 'sick'], dtype='<U4')
    """

    def __init__(
        self,
        *,
        loss_matrix=None,
        classes=None,
        decisions=None,
        n_components=None,
        estimator=None,
        alpha=1.0,
        n_jobs=None,
        random_state=None,
    ):
        self.loss_matrix = loss_matrix
        self.classes = classes
        self.decisions = decisions
        self.n_components = n_components
        self.estimator = estimator
        self.alpha = alpha
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        """Encode the classes and fit the regression.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the cost matrix does not fit the labels, or X, y or the weights are unfit;
            nothing is changed then.
        """
        with all_or_nothing(self):
            X = self._validate_X(X, reset=True)
            self._fit(X, self._check_y(X, y), check_weights(sample_weight, X.shape[0]))
        return self

    def _fit(self, X, y, weights):
        rows, columns = _frame_labels(self.loss_matrix, y, self.classes)
        given = rows if self.classes is None else self.classes
        self.classes_ = np.unique(y) if given is None else _distinct(given)
        loss = MatrixLoss(self._matrix(), self.n_components)
        self.decisions_ = self._decision_labels(loss.matrix.shape[1], columns)
        self.n_components_ = loss.n_components
        self.approximation_error_ = loss.approximation_error
        self._loss = loss
        targets = loss.encode(_indices(y, self.classes_))
        self._forget()
        if loss.n_components == 0:  # every decision costs the same
            self.coef_, self.intercept_ = np.zeros((0, X.shape[1])), np.zeros(0)
        elif self.estimator is None:
            alpha = check_number("alpha", self.alpha, minimum=0)
            coef, self.intercept_ = RidgeStatistics.of_batch(X, targets, weights).solve(alpha)
            self.coef_ = coef.T
        else:
            linear = self._fit_regressors(X, targets, weights)
            if linear is not None:
                self.coef_, self.intercept_ = linear

    def predict(self, X):
        """Decision of the least estimated cost for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``decisions_``.
        """
        u = self.predict_surrogate(X)
        return self.decisions_[self._loss.decode(u)]

    def score(self, X, y, sample_weight=None):
        """One minus the mean cost of the predicted decisions, greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        float
            Accuracy for the 0-1 loss; negative where the mean cost exceeds 1.
        """
        u = self.predict_surrogate(X)
        y = _indices(column_or_1d(y), self.classes_)
        check_consistent_length(u, y)
        costs = self._loss.loss(y, self._loss.decode(u))
        return float(1.0 - np.average(costs, weights=check_weights(sample_weight, len(y))))

    # Checks -------------------------------------------------------------------------

    def _check_y(self, X, y):
        if y is None:
            raise ValueError(
                f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                "is None."
            )
        y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f":
            check_array(y, ensure_2d=False, input_name="y")
        check_classification_targets(y)
        check_consistent_length(X, y)
        return y

    def _matrix(self):
        n = len(self.classes_)
        if self.loss_matrix is None:
            return 1.0 - np.eye(n)
        matrix = np.asarray(self.loss_matrix, dtype=np.float64)
        if matrix.ndim == 2 and len(matrix) != n:
            source = "classes has" if self.classes is not None else "y holds"
            raise ValueError(
                f"loss_matrix has {len(matrix)} rows but {source} {n} labels: give one row per "
                "class, and classes=[...] with the labels of the rows if some may be missing in y."
            )
        return matrix

    def _decision_labels(self, n_decisions, columns):
        given = columns if self.decisions is None else self.decisions
        if given is not None:
            labels = np.asarray(given)
            if labels.shape != (n_decisions,):
                raise ValueError(
                    f"decisions has shape {labels.shape} but loss_matrix has {n_decisions} columns."
                )
            return labels
        return self.classes_ if n_decisions == len(self.classes_) else np.arange(n_decisions)


def _frame_labels(loss_matrix, y, classes):
    """Labels of the rows and columns of a data frame of costs, None where it names none."""
    if not hasattr(loss_matrix, "columns") or not hasattr(loss_matrix, "index"):
        return None, None
    rows, columns = list(loss_matrix.index), list(loss_matrix.columns)
    if rows == list(range(len(rows))):
        return None, None  # the default index names nothing
    missing = sorted(set(y.tolist()) - set(rows), key=str)
    if missing or (classes is not None and list(classes) != rows):
        wrong = f"lacks the labels {missing}" if missing else f"is not classes={list(classes)}"
        raise ValueError(
            f"The index {rows} of the data frame loss_matrix {wrong}: its index must name the "
            "classes of the rows, or give loss_matrix.to_numpy()."
        )
    return np.asarray(rows), None if columns == list(range(len(columns))) else np.asarray(columns)


def _distinct(classes):
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(np.unique(labels)) != len(labels):
        raise ValueError(f"classes must be a list of distinct labels, got {classes!r}.")
    return labels


def _indices(y, classes):
    """Position of each label among the classes, which need not be sorted."""
    order = np.argsort(classes)
    place = np.clip(np.searchsorted(classes, y, sorter=order), 0, len(classes) - 1)
    index = order[place]
    unknown = classes[index] != y
    if unknown.any():
        row = int(np.argmax(unknown))
        raise ValueError(f"y[{row}] = {y[row]!r} is not among the classes {classes.tolist()}.")
    return index
