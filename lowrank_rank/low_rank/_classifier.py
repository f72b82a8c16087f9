"""LowRankSurrogateClassifier: any cost matrix, by an estimate of its low-rank form."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, is_classifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from .._base import read_summable_features
from .._blocks import Block
from .._costs import (
    check_same_classes,
    class_indices,
    class_labels,
    distinct_labels,
    read_classes,
    read_costs,
)
from .._labels import read_weights
from .._parameters import (
    check_parameters,
    count,
    fresh_fit,
    is_linear,
    is_ridge,
    jobs,
    number,
    predictor,
    random_state,
)
from .._typing import ArrayLike, MatrixLike
from ..regression._encoding import EncodedBatch, Totals
from ..regression._logistic import fit_classes, is_better
from ..regression._regression import Regression, SurrogateMixin
from ..regression._ridge import SOLVERS
from ..regression._sums import Seen, SumsMixin, adds_up
from ..target_losses import MatrixLoss


def _minus_costs(loss, y, u):
    """Minus the cost of the decision that u is decoded to, one number a row."""
    return -loss.loss(y, loss.decode(u))


class LowRankSurrogateClassifier(SumsMixin, SurrogateMixin, ClassifierMixin, BaseEstimator):
    """Classifier for any cost matrix, calibrated by a low-rank surrogate.

    Estimates ``E[alpha(y) | x]`` and predicts the decision t that minimises ``<u, beta(t)>`` for
    that estimate u, where ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` comes from a singular
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
    estimator : {"auto", "logistic", "trees"}, None, regressor or classifier, default="auto"
        What estimates u. None is ridge regression of ``alpha(y)`` with an intercept, in closed
        form. "logistic" is multinomial logistic regression, whose probabilities p give
        ``u = sum of p(y) alpha(y)``, the decision of the least expected cost. "auto" is ridge, but
        logistic regression where its mean cost on held-out rows is lower, as it often is with
        three classes and more: linear least squares loses classes that lie between others. `fit`
        compares them if ``alpha="auto"``, in up to 5 folds of at most 10,000 rows; where both are
        about as good chance decides. Of sparse X logistic regression of the features as they are,
        with C = 1, is tried too: it leaves rare words as small as they are. With many classes and
        features that takes ten times as long as ridge, or longer. `partial_fit`, `fit_blocks`,
        `merge` and Dask see each row once and are ridge. "trees" is an
        ``ExtraTreesRegressor(max_features="sqrt")``; else any regressor of scikit-learn, or a
        classifier with ``predict_proba``, which is fitted to the labels.
    alpha : float or "auto", default="auto"
        Penalty of ridge and of "logistic", >= 0: ``alpha / 2`` times the squared coefficients
        of standardised features, beside the mean over rows of half the squared error, or of the
        log loss. Neither the number of rows nor the unit of a feature matters. For ridge "auto"
        tries 20 by the mean cost on held-out rows, in 5 folds by a hash of what they hold, and
        takes the nearest to a constant of those within a standard error of the best one: 0.1, or
        ``0.5 min(p / n, 1)`` where that is more, of p features and n rows that differ. It is that
        constant without a search for fewer than 20 rows, for the solver "lsqr", for more than 1000
        features, and where the search would cost more than the fit (above 400 features, for fewer
        than about 50 rows a feature). For logistic regression it is
        ``0.1 min(p / n, 1) min(p / 50, 1)``. With a number, "auto" is ridge.
    solver : {"auto", "gram", "lsqr"}, default="auto"
        Of ridge: sufficient statistics, exact, or an iterative solver without any
        n_features x n_features matrix. "auto" iterates above 4000 features, and
        above 500 where that costs less.
    tol : float, default=1e-8
        Relative accuracy of "lsqr".
    max_iter : int or None, default=None
        Iterations of "lsqr", None is twice the number of features; and of logistic regression,
        None is 1000.
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
    estimators_ : list of regressors, or of one classifier
        Where the model is not ridge.
    estimator_, feature_importances_
        The one of them where there is one, and its importances where it has them. Of logistic
        regression it is a fitted ``LogisticRegression`` of the numbers in X.
    alpha_ : float
        Of ridge and logistic regression: the penalty in use.
    alphas_, alpha_scores_ : ndarray of shape (20,)
        Of ridge where penalties were tried: which, and the minus mean cost of each, greater is
        better.
    solver_ : str
        Of ridge: the solver in use.
    n_iter_ : int
        Iterations of "lsqr", the most over the coordinates, or of logistic regression.
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

    _keeps_float32: ClassVar = True
    _finite_by_sums: ClassVar = True
    _keeps_frames: ClassVar = True
    _parameters: ClassVar = {
        "n_components": [count(), None],
        "estimator": [predictor, "auto", "logistic", "trees", None],
        "alpha": ["auto", number(0)],
        "solver": [*SOLVERS],
        "tol": [number(0)],
        "max_iter": [count(), None],
        "n_jobs": [jobs],
        "random_state": [random_state],
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
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss_matrix = loss_matrix
        self.classes = classes
        self.decisions = decisions
        self.n_components = n_components
        self.estimator = estimator
        self.alpha = alpha
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "LowRankSurrogateClassifier":
        """Encode the classes and fit the regression, or both that are compared.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            A frame of pandas or polars reaches an `estimator` as it is.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the cost matrix does not fit the labels, or X, y or the weights are unfit, or for
            "logistic" if y is of one class; nothing is changed then.
        """
        with fresh_fit(self):
            X, y, weights = self._read(X, y, sample_weight, reset=True, whole=True)
            batch, settings = self._encode(X, y, weights, self._costs(y), reset=True)
            model = self._fitted(batch)
            sums = getattr(model, "sums", None)
            self._adopt(Seen.of(self, batch, sums, settings=settings), model)
        return self

    def _fitted(self, batch):
        if isinstance(self.estimator, str) and self.estimator in ("auto", "logistic"):
            return self._fitted_linear(batch)
        regression = Regression.of(self).named(batch)
        if regression.estimator is None or not is_classifier(regression.estimator):
            return regression.fit(batch)
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"{self.estimator!r} has no predict_proba, and costs are weighed by probabilities: "
                "take a classifier that has, or put CalibratedClassifierCV around this one."
            )

        def encode(labels):
            return self._loss_.encode(class_indices(labels, self.classes_))

        return regression.fit_classifier(batch.X, self.classes_[batch.y], batch.weights, encode)

    def _fitted_linear(self, batch):
        """Logistic regression; for "auto" only where it costs less than ridge on held-out rows."""
        logistic = partial(
            fit_classes, labels=self.classes_, alpha=self.alpha, max_iter=self.max_iter
        )
        if self.estimator == "logistic":
            return logistic(batch)
        ridge = replace(Regression.of(self), estimator=None)
        model = ridge.fit(batch)
        if self.alpha != "auto" or batch.targets.shape[1] == 0:
            return model
        again = replace(ridge, alpha=model.search.alpha)
        raw = partial(logistic, raw=True)
        if issparse(batch.X) and is_better(batch, raw, logistic, 0.0):
            logistic = raw
        if not is_better(batch, logistic, again.fit, 0.0):
            return model
        return logistic(batch)._replace(sums=model.sums)

    @available_if(adds_up)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "LowRankSurrogateClassifier":
        """Add a batch of rows; the result is that of `fit` on all batches together by ridge.

        With ``estimator`` None, or "auto", which is ridge here, after a `fit` that has taken
        logistic regression too; a penalty that `fit` has searched is kept. Memory does not grow
        with the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,) or None, default=None
            All labels that the batches may hold, in any order: what `fit` finds in y. Needed in
            the first call, unless the parameter `classes` or the index of `loss_matrix` names
            them; the same ones, or None, later.
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`, if the classes are not known or not the same, if the costs have changed, or
            if there are too many features for the statistics; the model stays as it was.
        """
        return self._partial_fit(Block(X, y, None, sample_weight), classes=classes)

    @available_if(adds_up)
    def fit_blocks(
        self, blocks: Iterable, *, classes: ArrayLike | None = None
    ) -> "LowRankSurrogateClassifier":
        """Fit to blocks of rows, of which one at a time is in memory.

        One pass and one solution: the result is that of `fit` on all rows together by ridge, but
        for rounding. With ``estimator`` None, or "auto", which is ridge here.

        Parameters
        ----------
        blocks : iterable of (X, y) or (X, y, None, sample_weight)
            Rows in any order; there are no lists, and query ids are refused.
        classes : array-like of shape (n_classes,) or None, default=None
            As in `partial_fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `partial_fit`, or if there is no block; nothing is changed then.
        """
        return self._fit_blocks(blocks, classes=classes)

    # Encoding -----------------------------------------------------------------------

    def _read(self, X, y, sample_weight, *, reset, whole):
        check_parameters(self)
        if is_linear(self.estimator):
            again = is_ridge(self.estimator) and not issparse(X)
            X = read_summable_features(self, X, reset=reset, again=again)
        else:
            X = self._validate_X(X, reset=reset)
        return X, read_classes(self, X, y), read_weights(sample_weight, X.shape[0], whole=whole)

    def _costs(self, y):
        return read_costs(self.loss_matrix, self.classes, self.decisions, y)

    def _encode(self, X, y, weights, costs, *, reset):
        """`EncodedBatch`, and what all batches of one model must have in common."""
        if reset:
            self.classes_, self.decisions_ = costs.classes, costs.decisions
            self._loss_ = MatrixLoss(costs.matrix, self.n_components)
        loss, indices = self._loss_, class_indices(y, costs.classes)
        settings = {
            "classes": costs.classes,
            "decisions": costs.decisions,
            "loss_matrix": costs.matrix,
            "n_components": self.n_components,
            # of equal singular values LAPACK may find another basis on another machine
            "the decomposition of the costs": loss.alpha_,
        }
        batch = EncodedBatch(
            X,
            loss.encode(indices),
            weights,
            None,
            Totals(),
            loss,
            "argmin",
            len(y),
            y=indices,
            row_weights=weights,
            values=_minus_costs,
        )
        return batch, settings

    def _seen_of(self, block, *, reset, search, classes=None):
        X, y, qid, weights = block
        if qid is not None:
            raise ValueError(
                f"{type(self).__name__} takes one class label per row, without lists: give blocks "
                "(X, y) or (X, y, None, sample_weight), without query ids."
            )
        X, y, weights = self._read(X, y, weights, reset=reset, whole=False)
        labels = None if classes is None else distinct_labels(classes)
        costs = self._costs(labels if reset else self.classes_)
        if labels is not None:
            check_same_classes(labels, costs.classes)
        batch, settings = self._encode(X, y, weights, costs, reset=reset)
        return Seen.of(self, batch, self._sums_of(batch, search), settings=settings)

    def _adopt(self, seen, model=None):
        """Set the fitted attributes; a model where it is found already."""
        model = seen.sums.solve(self.alpha) if model is None else model
        loss, settings = seen.batch.loss, seen.settings
        self.classes_, self.decisions_, self._loss_ = (
            settings["classes"],
            settings["decisions"],
            loss,
        )
        self.n_components_ = loss.n_components_
        self.approximation_error_ = loss.approximation_error_
        self._seen_ = seen if seen.sums is not None else None
        self._keep(model)
        self.n_iter_ = model.n_iter

    def predict(self, X: MatrixLike) -> np.ndarray:
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
        return self.decisions_[self._loss_.decode(u)]

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
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
        y = class_indices(class_labels(self, y), self.classes_)
        check_consistent_length(u, y)
        costs = self._loss_.loss(y, self._loss_.decode(u))
        return float(1.0 - np.average(costs, weights=read_weights(sample_weight, len(y))))
