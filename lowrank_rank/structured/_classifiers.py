"""Classifiers of structured hinges: classes with costs, and measures of all rows."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._base import BinaryRanker, linear_scores
from ..fitting._logistic import curvature_of_classes, fit_logistic
from ..lists._lists import RankingLists, plain
from ..lists._ranks import threshold_between
from ..target_losses import MatrixLoss
from ..validation._arrays import ArrayLike, MatrixLike, check_same_index
from ..validation._check import refuse
from ..validation._checks_of_classes import (
    CHECKS_OF_HINGE_COSTS,
    CHECKS_OF_WEIGHTED_CLASSES,
)
from ..validation._classes import (
    check_same_classes,
    class_indices,
    decision_score,
    read_binary_labels,
    read_classes,
    read_costs,
)
from ..validation._findings import found
from ..validation._kinds import arrive
from ..validation._labels import read_weights
from ..validation._parameters import all_or_nothing, fresh_fit, label
from ._hinge_estimator import (
    HINGE_PARAMETERS,
    HingeEstimator,
    copies_of_rows,
    row_codes,
    takes_steps,
)
from ._hinges import ClassHinge, check_bounds, resolve_hinge
from ._solvers import HingeProblem


class StructuredHingeClassifier(HingeEstimator, ClassifierMixin, BaseEstimator):
    """Linear SVM with a cost for each mistake (Crammer and Singer).

    The objective is ``alpha / 2 |W|^2 + mean of max over y' of cost(y, y') + <w_y' -
    w_y, x>`` [1]_. Each decision has a weight vector. The hinge bounds the cost of the
    decision with the largest score. The hinge is not calibrated. For two classes it
    decides for the likelier one and ignores the costs. For more classes all scores may
    stay equal, under the 0-1 loss if no class has a probability above one half. A
    decision that is right for no class ("abstain") is never learnt.
    `LowRankSurrogateClassifier` is calibrated for any costs.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions), {"absolute", \
            "squared"} or None, default=None
        Cost >= 0 of each decision (column) for each class (row); None is the 0-1 loss.
        "absolute" and "squared" are ``|i - j|`` and ``(i - j)**2`` for the classes i
        and j in their order. Each class is a decision too, of cost 0 for itself; there
        may be further decisions. A data frame names classes and decisions. A
        "perceptron" ignores the costs.
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the rows. None is the categories of an ordered Categorical y, else the
        sorted labels in y. Sorted strings are an error if another order would change
        the costs.
    decisions : array-like of shape (n_decisions,) or None, default=None
        Labels of the columns; None is the classes.
    alpha : float or "auto", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n rows, c =
        1/k for k classes, 1/4 for two, over the mean hinge at zero weights. A
        "perceptron" has no penalty.
    standardize : bool, default=True
        Whether to divide features by their standard deviation, with q < 1/2 over
        ``sqrt(2 q)``. ``coef_`` is for X as given. `partial_fit` uses the scale of the
        first call.
    solver : {"auto", "lbfgs", "cutting_plane", "sgd", "perceptron"}, default="auto"
        As in `StructuredHingeRanker`; "auto" is "lbfgs". "perceptron" is the batch
        perceptron of exercise 2, without a penalty. On standardised rows of norm <= R
        it makes at most ``2 (R ||W||)**2`` updates, for any W of margin >= 1
        (theorem 17.5).
    radius : float or None, default=None
        As in `StructuredHingeRanker`; each step draws one row, and rho is twice the
        largest norm of a standardised row with its constant feature.
    tol : float, default=1e-2
        When to stop, as in `StructuredHingeRanker`; a "perceptron" ignores it.
    max_iter : int, default=1000
        Largest number of iterations, rounds, passes over the batches, or updates; the
        number of steps with a `radius`.
    batch_size : int or "auto", default="auto"
        Number of rows in a step of "sgd" or a slack of "cutting_plane".
    fit_intercept : bool, default=True
        Whether to fit a penalised intercept for each decision.
    random_state : int, RandomState instance or None, default=None
        Order of the batches, or the draws of rows.
    verbose : int, default=0
        Print progress after this number of iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the rows.
    decisions_ : ndarray of shape (n_decisions,)
        Labels of the decisions.
    coef_ : ndarray of shape (n_decisions, n_features)
        Coefficients of the scores, for features as given.
    intercept_ : ndarray of shape (n_decisions,)
        Intercepts of the scores.
    alpha_ : float
        The penalty; 0 for the perceptron and with a `radius`.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        As in `StructuredHingeRanker`; with a `radius` the mean hinge, nan, the number
        of steps, and "published_sgd".
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.

    See Also
    --------
    LowRankSurrogateClassifier : Calibrated for any costs.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.2.

    Examples
    --------
    >>> from lowrank_rank.structured import StructuredHingeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> StructuredHingeClassifier().fit(X, y).predict([[0.5], [2.5]])
    array(['low', 'high'], dtype='<U4')
    """

    classes_: np.ndarray
    decisions_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    _parameters: ClassVar = {
        **HINGE_PARAMETERS,
        "solver": [*HINGE_PARAMETERS["solver"], "perceptron"],
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
        radius: float | None = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
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
        self.radius = radius
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
            Rows of features.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            A row of weight 2 is the row twice.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If the costs do not fit the labels, a class has a cost for itself, or X, y
            or a parameter is wrong. The model is unchanged then.

        Warns
        -----
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        UserWarning
            If the hinge has its minimum at zero weights, or one constant decision costs
            less on the rows of the fit than the decisions of the model.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        with fresh_fit(self):
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=True)
            labels = read_classes(self, X, y)
            self._read_costs(y)
            X, index, weights = self._encode(X, labels, sample_weight)
            problem = self._standardise(X, index, weights)
            if self.solver == "perceptron" and self.radius is None:
                w = self._batch_perceptron(problem)
            else:
                curvature = curvature_of_classes(len(self.classes_))
                w = self._solve(
                    problem,
                    self._penalty(problem, curvature),
                    batch_size=self.batch_size,
                    random_state=self.random_state,
                )
            self._keep(problem, w)
            if self.solver != "perceptron":
                self._tell_of_decisions(problem, w)
        return self

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "StructuredHingeClassifier":
        """Take one pass of steps over more rows.

        The method needs ``solver="sgd"`` and a number for `alpha`. The first call
        scales the features and should have some hundred rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of features.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        classes : array-like or None, default=None
            All labels; only the first call needs it, if the parameter `classes` is
            None.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights relative to the other rows of the call.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        arrive(X=X, y=y, classes=classes, sample_weight=sample_weight)
        is_first = not hasattr(self, "coef_")
        with all_or_nothing(self):
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=is_first)
            labels = read_classes(self, X, y)
            if is_first and classes is None:
                self._read_costs(y, takes_classes=True)
            elif is_first:
                self._read_costs(np.asarray(classes), "classes", takes_classes=True)
            elif classes is not None:
                check_same_classes(np.asarray(classes), self.classes_)
            X, index, weights = self._encode(X, labels, sample_weight)
            problem = self._standardise(X, index, weights)
            self._keep(problem, self._step_more(problem, batch_size=self.batch_size))
        return self

    def _read_costs(self, y, name="y", takes_classes=False):
        """Read costs, classes and decisions; refuse costs without a hinge."""
        costs, classes, decisions = read_costs(
            self.loss_matrix, self.classes, self.decisions, y
        )
        costs = MatrixLoss(costs).matrix_  # checked
        if self.classes is not None:
            name = "The parameter classes"
            takes_classes = False
        is_own = decisions[np.newaxis, :] == classes[:, np.newaxis]
        refuse(
            CHECKS_OF_HINGE_COSTS,
            labels=classes,
            name=name,
            takes_classes=takes_classes,
            costs=costs,
            loss_matrix=self.loss_matrix,
            decisions=decisions,
            is_own=is_own,
        )
        self.classes_ = classes
        self.decisions_ = decisions
        self._matrix_ = costs
        self._own_ = is_own.argmax(axis=1)

    def _encode(self, X, y, sample_weight):
        """Return the distinct rows of positive weight, their classes and weights."""
        weights = read_weights(sample_weight, len(y))
        index = class_indices(y, self.classes_)
        counted = np.flatnonzero(weights)
        codes = row_codes(X[counted], index[counted])
        _, first = np.unique(codes, return_index=True)
        rows = counted[first]
        return X[rows], index[rows], np.bincount(codes, weights[counted])

    def _standardise(self, X, index, weights):
        """Build the `HingeProblem` of standardised features."""
        X, shift = self._standardised(X, weights, centre=self.fit_intercept)
        return HingeProblem(
            X,
            ClassHinge(self._own_[index], self._matrix_[index]),
            weights / weights.sum(),
            len(self.decisions_),
            intercept=self.fit_intercept,
            shift=shift,
        )

    def _batch_perceptron(self, problem):
        """Update by the row with the largest error until no row is wrong.

        After `max_iter` updates, return the weights with the fewest wrong rows so far.
        """
        every = problem.hinge.every
        y = problem.hinge.y
        w = np.zeros(problem.size)
        best = w
        fewest = len(y) + 1
        for n_iter in range(self.max_iter + 1):
            scores = problem.scores(w)
            true_scores = scores[every, y]
            rival_scores = scores.copy()
            rival_scores[every, y] = -np.inf
            excess = rival_scores.max(axis=1) - true_scores
            n_wrong = int(np.count_nonzero(excess >= 0))
            if n_wrong < fewest:
                fewest = n_wrong
                best = w
            if n_wrong == 0 or n_iter == self.max_iter:
                break
            # Add the row to the weights of its class, subtract it from the rival's.
            worst = int(excess.argmax())
            slopes = np.zeros((1, scores.shape[1]))
            slopes[0, y[worst]] = 1.0
            slopes[0, int(rival_scores[worst].argmax())] = -1.0
            w = w + problem.subset(np.array([worst])).gradient(slopes)
        self.alpha_ = 0.0
        self.solver_ = "perceptron"
        self.objective_ = float(fewest / len(y))
        self.dual_gap_ = float("nan")
        self.n_iter_ = max(n_iter, 1)
        if fewest > 0:
            found(
                "perceptron",
                f"The perceptron made max_iter={self.max_iter} updates, and its best "
                f"weights get {fewest} rows wrong: increase max_iter. It never "
                "converges on classes that overlap: use another solver.",
                ConvergenceWarning,
            )
        return best

    def _keep(self, problem, w):
        """Set the coefficients of the features as given."""
        coef, intercept = problem.split(w)
        self.coef_, self.intercept_ = self._unscaled(coef, intercept)

    def _tell_of_decisions(self, problem, w):
        """Warn if one decision for all rows is better than those of the model."""
        costs = problem.hinge.costs
        weights = problem.weights
        if self.solver != "sgd" and not w.any() and costs.any():
            found(
                "zero weights of classes",
                "The hinge of classes has its minimum at zero weights, at alpha="
                f"{self.alpha_:.3g}. Use LowRankSurrogateClassifier, or a smaller "
                "alpha.",
            )
            return
        decisions = problem.scores(w).argmax(axis=1)
        own_cost = weights @ costs[problem.hinge.every, decisions]
        constant_costs = weights @ costs
        least = constant_costs.min()
        parameter = "alpha" if self.radius is None else "radius"
        if least < own_cost * (1.0 - 1e-9):
            decision = plain(self.decisions_[constant_costs.argmin()])
            found(
                "constant decision",
                "The hinge of classes gives decisions of the mean cost "
                f"{own_cost:.4g} on these rows, and {decision!r} for all rows a mean "
                f"cost {least:.4g}. Use LowRankSurrogateClassifier, or another "
                f"{parameter}.",
            )

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Compute scores of the decisions; the difference if there are two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of features.

        Returns
        -------
        ndarray of shape (n_samples, n_decisions), or (n_samples,) for two
            The largest score decides; of two decisions, above 0 is the second.
        """
        arrive(X=X)
        scores = self._scores(X)
        if scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def _scores(self, X):
        """Return the scores of the decisions."""
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return linear_scores(X, self.coef_, self.intercept_)

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the decision of the largest score for each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``decisions_``.
        """
        arrive(X=X)
        best = self._scores(X).argmax(axis=1)
        return self.decisions_[best]

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return one minus the mean cost of the predicted decisions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of features.
        y : array-like of shape (n_samples,)
            Labels of the rows.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of the rows.

        Returns
        -------
        float
            Greater is better; accuracy for the 0-1 loss.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        check_same_index(X=X, y=y, sample_weight=sample_weight)
        best = self._scores(X).argmax(axis=1)
        return decision_score(self, self._matrix_, y, best, sample_weight)


class StructuredHingeBinaryClassifier(
    HingeEstimator, BinaryRanker, ClassifierMixin, BaseEstimator
):
    """Linear classifier for F1 or another measure of all rows (SVMperf).

    The objective is ``alpha / 2 |w|^2 + max over v of Delta(v, y) + sum_i (v_i - y_i)
    <w, x_i>``. Labels are in {-1, 1} (equation 17.14 of [1]_; [2]_). The hinge bounds
    the loss of marking the rows with a score above 0 (precision@k: at least the k best,
    recall@k: at most k). The hinge is not calibrated: for rare classes the minimum may
    be at zero weights. Then the fit warns and returns logistic regression, with a
    threshold from the training scores, which is consistent for every measure of the
    counts ([3]_).

    Parameters
    ----------
    target_loss : str or RankingMeasure, default="f1"
        The measure to train for: "f1", "balanced_accuracy", ... Also "precision@k" (k
        at most the number of positives), "recall@k" (at least), "auc", or an object
        such as ``FBeta(beta=2)``.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    alpha : float or "auto", default="auto"
        Penalty, > 0; features are divided by twice the number of positives first.
        "auto" is 0.1.
    standardize : bool, default=True
        Whether to divide features by their standard deviation; where the share q of
        entries that are not 0 is below one half, by the standard deviation over
        ``sqrt(2 q)``. ``coef_`` is for X as given.
    threshold : {"tuned", "hinge"}, default="tuned"
        `predict` marks rows with a larger score. "tuned" maximises the measure on the
        training rows; precision and recall at k mark k rows, auc the number of
        positives. "hinge" is 0, unless the hinge is vacuous.
    solver : {"auto", "lbfgs", "cutting_plane"}, default="auto"
        As in `StructuredHingeRanker`; all rows are one list.
    radius : float or None, default=None
        As in `StructuredHingeRanker`; all rows are the one list of each step, and the
        hinge is not replaced by logistic regression.
    tol : float, default=1e-2
        Duality gap at which to stop, relative to the objective at zero weights.
    max_iter : int, default=1000
        Largest number of iterations or rounds; the number of steps with a `radius`.
    fit_intercept : bool, default=True
        Whether to fit a penalised intercept.
    pos_label : object, default=None
        The positive class; None is the last of the sorted classes, with a warning for
        strings.
    verbose : int, default=0
        Print progress after this number of iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Labels, sorted.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the score of ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    threshold_ : float
        Threshold of the scores of the positive class, before it is subtracted.
    is_vacuous_ : bool
        Whether the minimum of the hinge is within 2 % of its value at zero weights. The
        model is then logistic regression of standardised features with an intercept.
        The penalty is the default of `LowRankSurrogateClassifier`.
    alpha_ : float
        The penalty of the hinge.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        Diagnostics of the hinge, as in `StructuredHingeRanker`.
    target_loss_ : RankingMeasure
        The measure as an object.
    n_lists_ : int
        1, since all rows are one list.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.

    See Also
    --------
    PrecisionAtKPerceptron : Tighter surrogates for the top of the list.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, section 17.5.
    .. [2] T. Joachims, "A Support Vector Method for Multivariate Performance Measures",
       ICML 2005.
    .. [3] O. Koyejo, N. Natarajan, P. Ravikumar, I. Dhillon, "Consistent Binary
       Classification with Generalized Performance Metrics", NIPS 2014.

    Examples
    --------
    >>> from lowrank_rank.structured import StructuredHingeBinaryClassifier
    >>> X, y = [[3.0], [2.0], [1.0], [0.5], [0.0], [-1.0]], [1, 1, 0, 0, 0, 0]
    >>> model = StructuredHingeBinaryClassifier().fit(X, y)
    >>> model.predict(X), model.score(X, y)
    (array([1, 1, 0, 0, 0, 0]), 1.0)
    """

    _parameters: ClassVar = {
        "alpha": HINGE_PARAMETERS["alpha"],
        "standardize": HINGE_PARAMETERS["standardize"],
        "threshold": ["tuned", "hinge"],
        "solver": ["auto", "lbfgs", "cutting_plane"],
        "radius": HINGE_PARAMETERS["radius"],
        "tol": HINGE_PARAMETERS["tol"],
        "max_iter": HINGE_PARAMETERS["max_iter"],
        "fit_intercept": HINGE_PARAMETERS["fit_intercept"],
        "pos_label": [label, None],
        "verbose": HINGE_PARAMETERS["verbose"],
    }

    def __init__(
        self,
        *,
        target_loss: Any = "f1",
        alpha: float | str = "auto",
        standardize: bool = True,
        threshold: str = "tuned",
        solver: str = "auto",
        radius: float | None = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        pos_label: Any = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.alpha = alpha
        self.standardize = standardize
        self.threshold = threshold
        self.solver = solver
        self.radius = radius
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.pos_label = pos_label
        self.verbose = verbose

    def fit(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> "StructuredHingeBinaryClassifier":
        """Minimise the hinge, and choose the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows of features.
        y : array-like of shape (n_rows,)
            Labels of two classes.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Whole numbers: a row of weight 2 is the row twice.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If y is not of two classes, a weight is not a whole number, k does not fit
            the number of positives, or a parameter is out of range. The model is
            unchanged then.

        Warns
        -----
        UserWarning
            If the hinge is vacuous (see ``is_vacuous_``).
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        """
        arrive(X=X, y=y, sample_weight=sample_weight)
        with fresh_fit(self):
            measure, hinge = resolve_hinge(self.target_loss, of_classes=True)
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=True)
            positive, self.classes_, self.pos_label_ = read_binary_labels(
                y, None, self.pos_label, self
            )
            check_consistent_length(X, positive)
            if sample_weight is not None:
                rows = copies_of_rows(X, read_weights(sample_weight, len(positive)))
                X = X[rows]
                positive = positive[rows]
                refuse(CHECKS_OF_WEIGHTED_CLASSES, positive=positive)
            self.target_loss_ = measure
            self.n_lists_ = 1
            self._has_qid_ = False
            coef, intercept = self._solve_measure(X, positive.astype(float), hinge)
            self._keep(X, positive, coef, intercept)
        return self

    def _solve_measure(self, X, relevant, hinge):
        """Return coefficients and intercept of the positive class; warn if vacuous."""
        lists = RankingLists([len(relevant)])  # all rows are one list
        ones = np.ones(len(relevant))
        check_bounds(self.target_loss_, relevant, lists)
        slope_size = max(1.0, float(hinge.slope_size(relevant, lists)[0]))
        scaled, shift = self._standardised(X, ones, centre=self.fit_intercept)
        problem = HingeProblem(
            scaled / slope_size,
            hinge(relevant, lists, None, self.target_loss_),
            np.ones(1),
            1,
            intercept=self.fit_intercept and hinge.depends_on_shift,
            shift=shift / slope_size,
        )
        alpha = 0.1 if self.alpha == "auto" else float(self.alpha)
        coef, intercept = problem.split(self._solve(problem, alpha, random_state=0))
        at_zero = problem.at_zero.value
        is_minimum = self.radius is None
        self.is_vacuous_: bool = is_minimum and self.objective_ >= 0.98 * at_zero
        if not self.is_vacuous_:
            return self._unscaled(coef / slope_size, intercept)
        found(
            "vacuous hinge",
            f"The hinge of {self.target_loss_!r} has the minimum "
            f"{self.objective_:.4g}, within 2 % of its value {at_zero:.4g} at zero "
            "weights: the model is logistic regression instead, with a tuned "
            "threshold. Try a smaller alpha, or PrecisionAtKPerceptron.",
        )
        coef, intercept, *_ = fit_logistic(X, relevant, ones, "auto", tol=1e-6)
        return coef, intercept

    def _keep(self, X, positive, coef, intercept):
        """Set the threshold, and the coefficients of the score of ``classes_[1]``."""
        sign = float(self._sign())
        # The scores of the positive class, computed as predict does.
        scores = sign * linear_scores(X, sign * coef, sign * intercept)[:, 0]
        if self.threshold == "hinge" and not self.is_vacuous_:
            self.threshold_: float = 0.0
        else:
            n_marked = self._number_to_mark(scores, positive)
            self.threshold_ = threshold_between(scores, n_marked)
        self.coef_ = sign * coef
        self.intercept_ = sign * (intercept - self.threshold_)

    def _number_to_mark(self, scores, positive):
        """Return the number of rows to mark, the best of the measure or its k."""
        measure = self.target_loss_
        P = np.count_nonzero(positive)
        if not hasattr(measure, "of_counts"):
            return getattr(measure, "k", P)
        order = np.argsort(-scores, kind="stable")
        n_rows = len(scores)
        # Positives and others among the first 0, 1, ... rows.
        a = np.concatenate([[0], np.cumsum(positive[order])])
        b = np.arange(n_rows + 1) - a
        values = measure.of_counts(a, b, float(P), float(n_rows - P))
        # Equal scores stay together.
        falls = np.diff(scores[order]) < 0
        is_cut = np.concatenate([[True], falls, [True]])
        return int(np.argmax(np.where(is_cut, values, -np.inf)))
