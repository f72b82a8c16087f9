"""LowRankSurrogateMultilabelClassifier: sets of labels for the F-measure."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ..fitting._any_regressor import resolved_estimator
from ..fitting._encoded_fits import FitsEncodedTargets
from ..fitting._encoding import Encoding
from ..fitting._logistic import FractionalModel
from ..target_losses._classes import FBeta, SetLoss, resolve_set_loss
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_range,
    check_same_index,
    check_size,
)
from ..validation._check import refuse
from ..validation._checks_of_classes import CHECKS_OF_KNOWN_SETS, CHECKS_OF_LATER_SETS
from ..validation._classes import read_label_sets
from ..validation._kinds import arrive
from ..validation._labels import check_items_judged, read_item_names, read_weights
from ..validation._parameters import RUNTIME, count, fresh_fit, number, regressor
from ..validation._read import Data
from ._calibrated_forest import CalibratedForest


class LabelledSets:
    """Logistic regression of label and size, and of each label alone.

    P(label) is the mean of two estimates: the regression of the label alone, and the
    sum over sizes. Few rows have one label and one size, so the penalty draws the parts
    of the sum to their means.
    """

    def __init__(self, model, n_labels):
        self.model = model
        self.n_labels = n_labels

    def predict(self, X):
        """Predict surrogate vectors (n, s K + 1).

        The last s targets of the model are the labels.
        """
        s = self.n_labels
        u, p_label = np.split(self.model.predict(X), [-s], axis=1)
        p_label_and_size = u[:, 1:].reshape(len(u), s, -1)  # a view of u
        # P(label, size) times ((P(label) + sum over sizes) / 2) over the sum.
        p_sizes = np.maximum(p_label_and_size.sum(axis=2), np.finfo(float).tiny)
        p_label_and_size *= (1.0 + p_label / p_sizes)[:, :, np.newaxis] / 2.0
        return u


class MeanOfModels:
    """Mean of the surrogate vectors of two models."""

    def __init__(self, linear, trees):
        self.linear = linear
        self.trees = trees

    def predict(self, X):
        """Predict surrogate vectors (n, d)."""
        return (self.linear.predict(X) + self.trees.predict(X)) / 2.0


class LowRankSurrogateMultilabelClassifier(
    FitsEncodedTargets, ClassifierMixin, BaseEstimator
):
    """Predict the set of labels with the largest expected F1.

    `fit` estimates, for each label i and size k, the probability that the true set
    holds i and has k labels. `predict` takes the set of the largest expected F-measure,
    among all sets. No threshold is tuned. The method is consistent if the regression is
    [1]_. It has ``s K + 1`` outputs for s labels and at most K labels in a row of fit.

    Parameters
    ----------
    target_loss : {"f1", "hamming"} or SetLoss, default="f1"
        The measure to train for: "f1" of each row, "hamming", the fraction of right
        labels, or an object such as ``FBeta(beta=2)``.
    estimator : {"auto", "logistic", "ridge", "trees", "logistic+trees"} or \
            regressor, default="auto"
        The model of the targets. "auto" and "logistic" are logistic regression of each
        target that is not constant in fit; "f1" averages its probability of a label
        with the probability of the label alone. "ridge" is linear least squares.
        "trees" is 50 trees of a random forest and 50 extra trees, with a class for each
        set in fit. "logistic+trees" decodes the mean of the targets of both models.
    alpha : float, "auto" or "gcv", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n rows, c =
        1/4 for "logistic" and 1 for "ridge". "gcv", only for "ridge", is the best of 65
        penalties by generalised cross-validation, for weak signals.
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
    classes_ : ndarray of shape (n_labels,)
        The columns 0, 1, ... of y; the two labels, sorted, if y has one dimension.
    target_loss_ : SetLoss
        The loss as an object.
    n_labels_ : int
        Number s of columns of y.
    coef_, intercept_ : ndarrays of shape (d, n_features) and (d,)
        Of linear models, as in `LowRankSurrogateRanker`. "logistic" with "f1" has d + s
        rows, the last s for the labels alone. "logistic+trees" has those of "logistic".
    low_, high_ : ndarrays of shape (d,) or (d + s,)
        Bounds of the targets of "logistic".
    estimators_ : list of regressors
        One model, or one for each target. "trees", "logistic+trees": one classifier.
    estimator_, feature_importances_
        The only model, and its importances.
    alpha_ : float
        Penalty of "logistic" or "ridge".
    solver_ : str
        Solver of "ridge", as in `LowRankSurrogateRanker`.
    n_iter_ : int
        Iterations of the slowest target.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    LowRankSurrogateClassifier : One class for each row, with any costs.

    References
    ----------
    .. [1] M. Zhang, H. G. Ramaswamy, S. Agarwal, "Convex Calibrated Surrogates for the
       Multi-Label F-Measure", ICML 2020.

    Examples
    --------
    Three rows have label 0, two rows have the labels 1 and 2. The set {0} has the mean
    F1 3/5, the set {1, 2} has 2/5, and all labels have 3/5 times 1/2 plus 2/5 times
    4/5, .62:

    >>> import numpy as np
    >>> from lowrank_rank import LowRankSurrogateMultilabelClassifier
    >>> X, y = np.zeros((5, 1)), [[1, 0, 0], [1, 0, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]]
    >>> classifier = LowRankSurrogateMultilabelClassifier().fit(X, y)
    >>> classifier.predict(X[:1])
    array([[1, 1, 1]])
    >>> print(f"{classifier.score(X, y):.2f}")
    0.62
    """

    classes_: np.ndarray
    n_labels_: int
    _trees: ClassVar = CalibratedForest(calibrated=False)
    _keeps_frames: ClassVar = True
    _parameters: ClassVar = {
        "estimator": [
            regressor,
            "auto",
            "logistic",
            "ridge",
            "trees",
            "logistic+trees",
        ],
        "alpha": ["auto", "gcv", number(0)],
        "tol": [number(0)],
        "max_iter": [count()],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: str | SetLoss = "f1",
        estimator: Any = "auto",
        alpha: float | str = "auto",
        tol: float = 1e-4,
        max_iter: int = 1000,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.estimator = estimator
        self.alpha = alpha
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def fit(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> "LowRankSurrogateMultilabelClassifier":
        """Encode the sets and fit the regression.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            An `estimator` gets a data frame of pandas or polars unchanged.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            1 where the row has the label, else 0; one dimension is one label of any two
            classes. NaN is an unknown label, which regressions leave out. The sizes of
            "f1" ignore the row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows; None is 1 for each.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If X, y, the weights or the parameters are wrong. The model is unchanged
            then.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        with fresh_fit(self):
            loss = resolve_set_loss(self.target_loss)
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=True)
            read_item_names(self, y, reset=True)
            if self._is_linear():
                check_range(X, self)
            sets, self.classes_ = read_label_sets(y, None, self, allow_missing=True)
            check_consistent_length(X, sets)
            self.target_loss_: SetLoss = loss
            self.n_labels_ = sets.shape[1]
            self._max_size_ = int(np.nansum(sets, axis=1).max())
            rows = Data(X, sets, None, read_weights(sample_weight, len(sets)))
            self._check_known(rows, loss)
            has_both = self._has_both()
            if self._has_trees() or has_both:
                forest = self._fit_forest(rows, loss)
                self._keep(forest)
            if not self._has_trees():
                self._keep(self._fit_targets(rows, loss))
            if has_both:
                self._model_ = MeanOfModels(self._model_, forest)
        return self

    def _has_both(self):
        """Return whether the model is the mean of a linear model and a forest."""
        return isinstance(self.estimator, str) and self.estimator == "logistic+trees"

    def _keep(self, model, *, flat=None):
        """Set the fitted attributes of a model."""
        super()._keep(model, flat=flat)
        is_of_labels = isinstance(self.target_loss_, FBeta)
        if isinstance(model, FractionalModel) and is_of_labels:
            self._model_ = LabelledSets(model, self.n_labels_)

    def _check_known(self, rows, loss):
        """Refuse labels without a known entry, and NaN where whole sets are needed."""
        check_items_judged(rows.y, rows.weights)
        is_known = ~np.isnan(rows.y[rows.weights > 0]).any(axis=1)
        if not is_known.all():
            refuse(
                CHECKS_OF_KNOWN_SETS,
                is_known=is_known,
                has_trees=self._has_trees() or self._has_both(),
                needs_sizes=isinstance(loss, FBeta),
            )

    def _fit_targets(self, rows, loss):
        """Fit the regression of the encoded sets."""
        n = len(rows.y)
        d = loss.encode(rows.y[:0], self._max_size_).shape[1]
        check_size(
            f"The targets of {n} rows, {d} for each,",
            16 * n * d,  # the targets and their fractions
            "use target_loss='hamming', or fit to fewer rows",
        )
        targets = loss.encode(rows.y, self._max_size_)
        is_logistic = resolved_estimator(self.estimator, "sets") == "logistic"
        if is_logistic and isinstance(loss, FBeta):
            targets = np.hstack([targets, rows.y])  # for `LabelledSets`
        return self._regress(rows, Encoding("sets", targets))

    def _fit_forest(self, rows, loss):
        """Fit a forest whose classes are the distinct sets."""
        sets, classes = np.unique(rows.y, axis=0, return_inverse=True)
        check_size(
            f"A forest of {len(rows.y)} rows and {len(sets)} sets",
            1600 * len(rows.y) * len(sets),  # two nodes for a row in each of 100 trees
            "use estimator='logistic', or a RandomForestRegressor",
        )
        vectors = loss.encode(sets, self._max_size_)

        def encode(labels):
            return vectors[labels]

        return self._fit_classifier(rows.X, classes.ravel(), rows.weights, encode)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the set of labels of the least estimated loss for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of int, shape (n_samples, n_labels)
            1 for the labels in the set, else 0. If y of fit has one dimension, an
            ndarray of its classes, shape (n_samples,).
        """
        arrive(X=X)
        sets = self._decode(X)
        if self._is_one_label():
            return self.classes_[sets[:, 0]]
        return sets

    def score(
        self, X: MatrixLike, y: MatrixLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the mean over the rows of the measure of `target_loss`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Features of the rows.
        y : array-like or sparse matrix of shape (n_samples, n_labels), or (n_samples,)
            True labels, as in `fit`.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows; None is 1 for each.

        Returns
        -------
        float
            Greater is better; for "f1" ``f1_score(average="samples",
            zero_division=1.0)``.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        check_same_index(X=X, y=y, sample_weight=sample_weight)
        read_item_names(self, y, reset=False)
        decoded = self._decode(X)
        if self._is_one_label():
            sets, _ = read_label_sets(y, self.classes_, self, least_columns=2)
        else:
            sets, _ = read_label_sets(y, np.arange(2), self, least_columns=1)
        refuse(CHECKS_OF_LATER_SETS, sets=sets, n_labels=self.n_labels_)
        check_consistent_length(decoded, sets)
        losses = self.target_loss_.loss(sets, decoded)
        weights = read_weights(sample_weight, len(sets))
        return float(1.0 - np.average(losses, weights=weights))

    def _is_one_label(self):
        """Return whether y of fit had one dimension: one label of two classes."""
        return len(self.classes_) != self.n_labels_

    def _decode(self, X):
        """Return the sets of the least estimated loss, shape (n, n_labels)."""
        check_is_fitted(self)

        def decode(u):
            return self.target_loss_.decode(u, self.n_labels_)

        return self._by_blocks(X, self.n_labels_ * max(self._max_size_, 1), decode)
