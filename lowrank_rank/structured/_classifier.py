"""StructuredHingeClassifier: classes with costs, and the batch perceptron."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._arrays import plain
from .._base import linear_scores
from .._costs import class_indices, class_labels, read_classes, read_costs
from .._labels import read_weights
from .._parameters import all_or_nothing, check_parameters, fresh_fit
from .._typing import ArrayLike, MatrixLike
from ..target_losses import MatrixLoss
from ._base import HingeMixin, takes_steps
from ._hinges import ClassHinge
from ._problem import LinearProblem
from ._rows import merged_rows

_ROUNDING = 1e-9  # of mean costs


class StructuredHingeClassifier(HingeMixin, ClassifierMixin, BaseEstimator):
    """Linear classifier for any cost matrix, by the generalised hinge (Crammer & Singer).

    Minimises ``alpha / 2 |W|^2 + mean of max over y' of cost(y, y') + <w_y' - w_y, x>``, one weight
    vector for each decision [1]_. The hinge bounds the cost of the decision with the largest score.
    It is not calibrated: of two classes it decides for the likelier one, whatever the costs; of
    more it may keep all scores equal, by the 0-1 loss where no class has a probability above one
    half; and it never pulls up a decision that is right for no class ("abstain").
    `LowRankSurrogateClassifier` is calibrated, for any costs.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions) or None, default=None
        Cost >= 0 of each decision (column) for each class (row); each class is among the
        decisions and costs nothing for itself, further decisions ("abstain") are welcome. None is
        the 0-1 loss. A data frame names classes and decisions.
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the rows; None takes the sorted labels seen in fit.
    decisions : array-like of shape (n_decisions,) or None, default=None
        Labels of the columns; None takes the classes.
    alpha : float or "auto", default="auto"
        Penalty, > 0; ``1 / (C n)`` of scikit-learn's ``LinearSVC(multi_class="crammer_singer")``.
        "auto" is ``0.1 f min(p / 50, 1)``, f = min(p / n, 1), over the hinge at zero weights (the
        mean largest cost); for sparse X ``0.1 m / n`` over it, m the mean squared norm of the
        scaled rows. p is the number of features and n the sum of `sample_weight`: weights that sum
        to 1 say "one row". `solver="sgd"` takes at least 1e-3 for the number above the hinge.
    standardize : bool, default=True
        Standardise the features before the penalty, sparse X by the root mean square of the
        entries that are not 0. ``coef_`` is for X as it comes; `partial_fit` takes the scale of
        the first call.
    solver : str, default="auto"
        "lbfgs" (the default), "one_slack", "n_slack", "frank_wolfe", "sgd" as in
        `StructuredHingeRanker`; "perceptron", the batch perceptron of exercise 2, which has no
        penalty and stops after at most `perceptron_mistake_bound` updates where the classes can be
        separated (the bound of the standardised features, unless ``standardize=False``); where they
        cannot, it keeps the weights with the fewest wrong rows.
    tol : float, default=1e-3
    max_iter : int or None, default=None
        Iterations, rounds, passes over the batches, or updates. None is 1000, 100 passes for
        "frank_wolfe" and 15 for "sgd".
    batch_size : int or "auto", default="auto"
        Rows of a step or slack.
    fit_intercept : bool, default=True
        An intercept for each decision, penalised like a constant feature.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0

    Attributes
    ----------
    classes_, decisions_ : ndarray
    coef_ : ndarray of shape (n_decisions, n_features)
    intercept_ : ndarray of shape (n_decisions,)
    alpha_ : float
        The penalty in use; the perceptron has none.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        As in `StructuredHingeRanker`.
    n_features_in_, feature_names_in_ : int and ndarray of str

    See Also
    --------
    LowRankSurrogateClassifier : Calibrated for any costs.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.2.

    Examples
    --------
    >>> from lowrank_rank import StructuredHingeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> StructuredHingeClassifier().fit(X, y).predict([[0.5], [2.5]])
    array(['low', 'high'], dtype='<U4')
    """

    _parameters: ClassVar = {
        **HingeMixin._hinge_parameters,
        "solver": [*HingeMixin._hinge_parameters["solver"], "perceptron"],
    }

    def __init__(
        self,
        *,
        loss_matrix: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        decisions: ArrayLike | None = None,
        alpha: float | str = "auto",
        standardize: bool = True,
        solver: str = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        batch_size: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss_matrix = loss_matrix
        self.classes = classes
        self.decisions = decisions
        self.alpha = alpha
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "StructuredHingeClassifier":
        """Minimise the hinge.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A row of weight 2 is the row twice, to the last bit and for every solver.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the costs do not fit the labels, a class costs something for itself, or X, y or a
            parameter is unfit; nothing is changed then.

        Warns
        -----
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        UserWarning
            If the hinge has its minimum at zero weights, or one constant decision costs less on
            the rows of the fit than the decisions of the model.
        """
        with fresh_fit(self):
            check_parameters(self)
            X = self._validate_X(X, reset=True)
            y = read_classes(self, X, y)
            self._read_costs(y)
            X, index, weights = self._encode(X, y, sample_weight)
            problem = self._standardise(X, index, weights)
            if self.solver == "perceptron":
                self._keep(problem, self._mistakes(problem))
            else:
                alpha = self._penalty(problem, "classes, hinge", float(weights.sum()))
                w = self._solve(problem, alpha)
                self._keep(problem, w)
                self._warn_of_weights(problem, w)
        return self

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "StructuredHingeClassifier":
        """One pass of steps over more rows; with ``solver="sgd"`` and a number for `alpha`.

        Features are scaled by the first call, which should have some hundred rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like or None, default=None
            All labels, in the first call, where `classes` of the estimator is None.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Relative to the other rows of the call.

        Returns
        -------
        self
        """
        begun = hasattr(self, "coef_")
        with all_or_nothing(self):
            check_parameters(self)
            X = self._validate_X(X, reset=not begun)
            y = read_classes(self, X, y)
            if not begun:
                self._read_costs(y if classes is None else np.asarray(classes))
            elif classes is not None and sorted(classes) != sorted(self.classes_.tolist()):
                raise ValueError(
                    f"classes={list(classes)!r} differ from those of earlier calls, "
                    f"{self.classes_.tolist()}."
                )
            problem = self._standardise(*self._encode(X, y, sample_weight))
            self._keep(problem, self._step_more(problem))
        return self

    def _read_costs(self, y):
        costs = read_costs(self.loss_matrix, self.classes, self.decisions, y)
        matrix = MatrixLoss(costs.matrix).matrix_  # checked
        if len(costs.classes) < 2:
            raise ValueError(
                f"y holds one class only, {costs.classes.tolist()}: at least two are needed. Give "
                "classes=[...] if some are missing in y."
            )
        if np.any(matrix < 0):
            i, j = np.argwhere(matrix < 0)[0]
            raise ValueError(
                f"loss_matrix[{i}, {j}] is {matrix[i, j]:g}: the hinge takes costs >= 0. Subtract "
                "the least cost of each row."
            )
        own = costs.decisions[np.newaxis, :] == costs.classes[:, np.newaxis]
        if not own.any(axis=1).all():
            label = costs.classes[int(np.argmin(own.any(axis=1)))]
            raise ValueError(
                f"The class {plain(label)!r} is not among the decisions "
                f"{costs.decisions.tolist()}: the hinge compares each decision with the true "
                "class. Add it as a column, or take LowRankSurrogateClassifier."
            )
        own = own.argmax(axis=1)
        itself = matrix[np.arange(len(own)), own]
        if np.any(itself != 0):
            i = int(np.argmax(itself != 0))
            raise ValueError(
                f"The class {plain(costs.classes[i])!r} costs {itself[i]:g} for itself: the right "
                "decision must cost 0. Subtract it from its row: that changes no regret."
            )
        self.classes_, self.decisions_ = costs.classes, costs.decisions
        self._matrix_, self._own_ = matrix, own

    def _encode(self, X, y, sample_weight):
        """Rows, classes and weights; equal rows of a class are one row with their weights."""
        return merged_rows(X, class_indices(y, self.classes_), read_weights(sample_weight, len(y)))

    def _standardise(self, X, index, weights):
        """The `LinearProblem` of standardised features."""
        X = self._standardised(X, weights, centre=self.fit_intercept)
        hinge = ClassHinge(self._own_[index], self._matrix_[index])
        weights = weights / weights.sum()
        return LinearProblem(X, hinge, weights, len(self.decisions_), intercept=self.fit_intercept)

    def _mistakes(self, problem):
        """The batch perceptron: the row that is wrong by most at a time, until none is.

        Where updates run out, the weights with the fewest wrong rows on the way are kept.
        """
        max_iter = self._max_iter("perceptron")
        w = kept = np.zeros(problem.size)
        every, y = problem.hinge.every, problem.hinge.y
        fewest = len(y) + 1
        for n_iter in range(max_iter + 1):
            scores = problem.scores(w)
            true = scores[every, y]
            rivals = scores.copy()
            rivals[every, y] = -np.inf
            excess = rivals.max(axis=1) - true
            n_wrong = int(np.count_nonzero(excess >= 0))
            if n_wrong < fewest:
                fewest, kept = n_wrong, w
            if n_wrong == 0 or n_iter == max_iter:
                break
            i = int(excess.argmax())
            slopes = np.zeros((1, scores.shape[1]))
            slopes[0, y[i]], slopes[0, int(rivals[i].argmax())] = 1.0, -1.0
            w = w + problem.take(np.array([i])).features(slopes)
        self.solver_, self.n_iter_, self.dual_gap_ = "perceptron", max(n_iter, 1), float("nan")
        self.objective_ = float(fewest / len(y))
        if fewest:
            self._warn_mistakes(fewest, max_iter)
        return kept

    def _warn_mistakes(self, n_wrong, max_iter):
        warnings.warn(
            f"The perceptron made max_iter={max_iter} updates, and its best weights have {n_wrong} "
            "rows wrong: increase max_iter. If no weights separate the classes, the perceptron "
            "never converges: use another solver.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _keep(self, problem, w):
        self.coef_, self.intercept_ = self._scaling_.unscaled(*problem.split(w))

    def _warn_of_weights(self, problem, w):
        """Tell of a hinge whose minimiser is worse than one decision for every row."""
        costs, weights, found = problem.hinge.costs, problem.weights, problem.scores(w)
        if self.solver != "sgd" and not w.any() and costs.any():
            warnings.warn(
                "The hinge of classes is least at zero weights, which say nothing, at "
                f"alpha={self.alpha_:.3g}. Where classes overlap so much that none is likelier "
                "than all others together, it is so for any alpha: take "
                "LowRankSurrogateClassifier, which is calibrated, or else a smaller alpha.",
                stacklevel=3,
            )
            return
        constants = weights @ costs
        best, own = constants.min(), weights @ costs[problem.hinge.every, found.argmax(axis=1)]
        if best < own * (1.0 - _ROUNDING):
            warnings.warn(
                f"The hinge of classes has learnt decisions of the mean cost {own:.4g} on the rows "
                f"of the fit; {plain(self.decisions_[constants.argmin()])!r} for every row has the "
                f"mean cost {best:.4g}. The hinge is not calibrated: take "
                "LowRankSurrogateClassifier, which is, or another alpha.",
                stacklevel=3,
            )

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores of the decisions; of two, the difference.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_decisions), or (n_samples,) of two
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _scores(self, X):
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return linear_scores(X, self.coef_, self.intercept_)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Decision of the largest score for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of ``decisions_``.
        """
        best = self._scores(X).argmax(axis=1)
        return self.decisions_[best]

    def score(self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """One minus the mean cost of the predicted decisions, greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None, default=None

        Returns
        -------
        float
            Accuracy for the 0-1 loss.
        """
        found = self._scores(X).argmax(axis=1)
        index = class_indices(class_labels(self, y), self.classes_)
        check_consistent_length(found, index)
        costs = self._matrix_[index, found]
        return float(1.0 - np.average(costs, weights=read_weights(sample_weight, len(index))))


def perceptron_mistake_bound(X: ArrayLike, y: ArrayLike, coef: ArrayLike) -> float:
    """Most updates that the batch perceptron takes on classes that `coef` separates.

    Theorem 17.5 of [1]_: ``(R |w*|)^2`` with R the largest ``|Psi(x, y) - Psi(x, y')|``, which is
    ``sqrt(2) |x|``, and ``w*`` scaled so that every row has a margin of 1.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        With a constant column where there is an intercept.
    y : array-like of int, shape (n_samples,)
        Indices of the classes.
    coef : array-like of shape (n_classes, n_features)

    Returns
    -------
    float
        Infinity where `coef` does not separate the classes.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, exercise 2 of chapter 17.

    Examples
    --------
    >>> from lowrank_rank.calibration import perceptron_mistake_bound
    >>> round(perceptron_mistake_bound([[1.0], [-1.0]], [0, 1], [[1.0], [-1.0]]), 9)
    1.0
    """
    X, y, coef = np.asarray(X, float), np.asarray(y), np.asarray(coef, float)
    scores, every = X @ coef.T, np.arange(len(X))
    rivals = scores.copy()
    rivals[every, y] = -np.inf
    margin = float((scores[every, y] - rivals.max(axis=1)).min())
    if margin <= 0:
        return float("inf")
    return float(2.0 * (X**2).sum(axis=1).max() * (coef**2).sum() / margin**2)
