"""StructuredHingeClassifier, for classes with costs, and StructuredHingeBinaryClassifier."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._arrays import ArrayLike, MatrixLike, check_same_index, plain
from .._base import BinaryRanker, linear_scores
from .._classes import (
    check_same_classes,
    check_two_classes,
    class_indices,
    decision_score,
    read_binary_labels,
    read_classes,
    read_costs,
    threshold_between,
)
from .._labels import read_weights
from .._lists import RankingLists
from .._parameters import all_or_nothing, fresh_fit
from .._warn import warn
from ..fitting._logistic import curvature_of_classes, fit_logistic
from ..target_losses import MatrixLoss
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
    loss_matrix : array-like of shape (n_classes, n_decisions), {"absolute", "squared"} or None, \
            default=None
        Cost >= 0 of each decision (column) for each class (row); None is the 0-1 loss.
        "absolute" and "squared" are ``|i - j|`` and ``(i - j)**2`` for the classes i
        and j in their order. Each class is a decision too, of cost 0 for itself; there
        may be further decisions. A data frame names classes and decisions.
    classes : array-like of shape (n_classes,) or None, default=None
        Labels of the rows. None is the categories of an ordered Categorical y, else the
        sorted labels in y. Strings in sorted order are an error if another order
        changes the costs.
    decisions : array-like of shape (n_decisions,) or None, default=None
        Labels of the columns; None is the classes.
    alpha : float or "auto", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n lists, c
        of the guide.
    standardize : bool, default=True
        Whether to divide features by their standard deviation, with q < 1/2 over
        ``sqrt(2 q)``. ``coef_`` is for X as given. `partial_fit` uses the scale of the
        first call.
    solver : {"auto", "lbfgs", "cutting_plane", "sgd", "perceptron"}, default="auto"
        As in `StructuredHingeRanker`; "auto" is "lbfgs". "perceptron" is the batch
        perceptron of exercise 2, without a penalty.
        `calibration.precision_mistake_bound` bounds its updates for separable classes
        (of standardised features).
    tol : float, default=1e-2
        When to stop, as in `StructuredHingeRanker`.
    max_iter : int, default=1000
        Largest number of iterations, rounds, passes over the batches, or updates.
    batch_size : int or "auto", default="auto"
        Number of rows in a step or slack.
    fit_intercept : bool, default=True
        Whether to fit a penalised intercept for each decision.
    random_state : int, RandomState instance or None, default=None
        Order of the batches.
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
        The penalty; 0 for the perceptron.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        As in `StructuredHingeRanker`.
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
        with fresh_fit(self):
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=True)
            labels = read_classes(self, X, y)
            self._read_costs(y)
            X, index, weights = self._encode(X, labels, sample_weight)
            problem = self._standardise(X, index, weights)
            if self.solver == "perceptron":
                self._keep(problem, self._mistakes(problem))
            else:
                alpha = self._penalty(problem, curvature_of_classes(len(self.classes_)))
                batches = {
                    "batch_size": self.batch_size,
                    "random_state": self.random_state,
                }
                w = self._solve(problem, alpha, **batches)
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
        begun = hasattr(self, "coef_")
        with all_or_nothing(self):
            check_same_index(X=X, y=y, sample_weight=sample_weight)
            X = self._validate_X(X, reset=not begun)
            labels = read_classes(self, X, y)
            if not begun:
                self._read_costs(y if classes is None else np.asarray(classes))
            elif classes is not None:
                check_same_classes(np.asarray(classes), self.classes_)
            problem = self._standardise(*self._encode(X, labels, sample_weight))
            self._keep(problem, self._step_more(problem, batch_size=self.batch_size))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read_costs(self, y):
        costs, classes, decisions = read_costs(
            self.loss_matrix, self.classes, self.decisions, y
        )
        matrix = MatrixLoss(costs).matrix_  # checked
        check_two_classes(classes)
        if np.any(matrix < 0):
            i, j = np.argwhere(matrix < 0)[0]
            raise ValueError(
                f"loss_matrix[{i}, {j}] is {matrix[i, j]:g}: the hinge takes costs >= 0. Subtract "
                "the least cost of each row."
            )
        own = decisions[np.newaxis, :] == classes[:, np.newaxis]
        if not own.any(axis=1).all():
            label = classes[int(np.argmin(own.any(axis=1)))]
            raise ValueError(
                f"The class {plain(label)!r} is not among the decisions {decisions.tolist()}: add "
                "it as a column, or use LowRankSurrogateClassifier."
            )
        own = own.argmax(axis=1)
        itself = matrix[np.arange(len(own)), own]
        if np.any(itself != 0):
            i = int(np.argmax(itself != 0))
            raise ValueError(
                f"The class {plain(classes[i])!r} costs {itself[i]:g} for itself: the right "
                "decision must cost 0. Subtract it from its row: that changes no regret."
            )
        self.classes_, self.decisions_ = classes, decisions
        self._matrix_, self._own_ = matrix, own

    def _encode(self, X, y, sample_weight):
        """Distinct rows of positive weight, the indices of their classes, their weights."""
        weights, index = (
            read_weights(sample_weight, len(y)),
            class_indices(y, self.classes_),
        )
        kept = np.flatnonzero(weights)
        codes = row_codes(X[kept], index[kept])
        first = kept[np.unique(codes, return_index=True)[1]]
        return X[first], index[first], np.bincount(codes, weights[kept])

    def _standardise(self, X, index, weights):
        """The `HingeProblem` of standardised features."""
        X, shift = self._standardised(X, weights, centre=self.fit_intercept)
        hinge = ClassHinge(self._own_[index], self._matrix_[index])
        weights = weights / weights.sum()
        fits = self.fit_intercept
        return HingeProblem(
            X, hinge, weights, len(self.decisions_), intercept=fits, shift=shift
        )

    def _mistakes(self, problem):
        """The batch perceptron: update by the row with the largest error until no row is wrong.

        After `max_iter` updates the weights with the fewest wrong rows so far are kept.
        """
        w = kept = np.zeros(problem.size)
        every, y = problem.hinge.every, problem.hinge.y
        fewest = len(y) + 1
        for n_iter in range(self.max_iter + 1):
            scores = problem.scores(w)
            true = scores[every, y]
            rivals = scores.copy()
            rivals[every, y] = -np.inf
            excess = rivals.max(axis=1) - true
            n_wrong = int(np.count_nonzero(excess >= 0))
            if n_wrong < fewest:
                fewest, kept = n_wrong, w
            if n_wrong == 0 or n_iter == self.max_iter:
                break
            i = int(excess.argmax())
            slopes = np.zeros((1, scores.shape[1]))
            slopes[0, y[i]], slopes[0, int(rivals[i].argmax())] = 1.0, -1.0
            w = w + problem.take(np.array([i])).gradient(slopes)
        self.solver_, self.n_iter_, self.dual_gap_ = (
            "perceptron",
            max(n_iter, 1),
            float("nan"),
        )
        self.objective_, self.alpha_ = float(fewest / len(y)), 0.0
        if fewest:
            warn(
                f"The perceptron made max_iter={self.max_iter} updates, and its best weights have "
                f"{fewest} rows wrong: increase max_iter. It never converges on classes that "
                "overlap: take another solver.",
                ConvergenceWarning,
            )
        return kept

    def _keep(self, problem, w):
        self.coef_, self.intercept_ = self._scaling_.unscaled(*problem.split(w))

    def _warn_of_weights(self, problem, w):
        """Warn if the decisions of the model are worse than one decision for all rows."""
        costs, weights, scores = problem.hinge.costs, problem.weights, problem.scores(w)
        if self.solver != "sgd" and not w.any() and costs.any():
            warn(
                "The hinge of classes has its minimum at zero weights, at "
                f"alpha={self.alpha_:.3g}. Use LowRankSurrogateClassifier, or a smaller alpha."
            )
            return
        constants = weights @ costs
        best, own = (
            constants.min(),
            weights @ costs[problem.hinge.every, scores.argmax(axis=1)],
        )
        if best < own * (1.0 - 1e-9):
            warn(
                f"The hinge of classes gives decisions of the mean cost {own:.4g} on these rows, "
                f"and {plain(self.decisions_[constants.argmin()])!r} for all rows a mean cost "
                f"{best:.4g}. Take LowRankSurrogateClassifier, or another alpha."
            )

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores of the decisions; the difference if there are two.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows of features.

        Returns
        -------
        ndarray of shape (n_samples, n_decisions), or (n_samples,) for two
            The largest score decides; of two decisions, above 0 is the second.
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
            Rows of features.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels from ``decisions_``.
        """
        best = self._scores(X).argmax(axis=1)
        return self.decisions_[best]

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """One minus the mean cost of the predicted decisions, greater is better.

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
            Accuracy for the 0-1 loss.
        """
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
    tol : float, default=1e-2
        Duality gap at which to stop, relative to the objective at zero weights.
    max_iter : int, default=1000
        Largest number of iterations or rounds.
    fit_intercept : bool, default=True
        A penalised intercept.
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
    .. [3] O. Koyejo, N. Natarajan, P. Ravikumar, I. Dhillon, "Consistent Binary Classification
       with Generalized Performance Metrics", NIPS 2014.

    Examples
    --------
    >>> from lowrank_rank.structured import StructuredHingeBinaryClassifier
    >>> X, y = [[3.0], [2.0], [1.0], [0.5], [0.0], [-1.0]], [1, 1, 0, 0, 0, 0]
    >>> model = StructuredHingeBinaryClassifier().fit(X, y)
    >>> model.predict(X), model.score(X, y)
    (array([1, 1, 0, 0, 0, 0]), 1.0)
    """

    _parameters: ClassVar = {
        **{
            k: v
            for k, v in HINGE_PARAMETERS.items()
            if k not in ("batch_size", "random_state")
        },
        "solver": ["auto", "lbfgs", "cutting_plane"],
        "threshold": ["tuned", "hinge"],
    }

    def __init__(
        self,
        *,
        target_loss: Any = "f1",
        alpha: float | str = "auto",
        standardize: bool = True,
        threshold: str = "tuned",
        solver: str = "auto",
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
            If y is not of two classes, a weight is no whole number, k does not fit the
            number of positives, or a parameter is out of range. The model is unchanged
            then.

        Warns
        -----
        UserWarning
            If the hinge is vacuous (see ``is_vacuous_``).
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        """
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
                X, positive = X[rows], positive[rows]
                if positive.all() or not positive.any():
                    raise ValueError(
                        "Here only one class has rows of positive weight: give both."
                    )
            self.target_loss_, self.n_lists_ = measure, 1
            self._has_qid_ = False
            self._keep(
                X, positive, *self._solve_measure(X, positive.astype(float), hinge)
            )
        return self

    def _solve_measure(self, X, relevant, hinge):
        """Coefficients and intercept of the positive class, by logistic regression if vacuous."""
        lists, ones = (
            RankingLists([len(relevant)]),
            np.ones(len(relevant)),
        )  # all rows are one list
        check_bounds(self.target_loss_, relevant, lists)
        scale = max(1.0, float(hinge.slope_size(relevant, lists)[0]))
        scaled, shift = (
            part / scale
            for part in self._standardised(X, ones, centre=self.fit_intercept)
        )
        made = hinge(relevant, lists, None, self.target_loss_)
        intercept = self.fit_intercept and hinge.sees_shift
        problem = HingeProblem(
            scaled, made, np.ones(1), 1, intercept=intercept, shift=shift
        )
        alpha = 0.1 if self.alpha == "auto" else float(self.alpha)
        coef, intercept = problem.split(self._solve(problem, alpha))
        at_zero = problem.at_zero.value
        self.is_vacuous_: bool = bool(self.objective_ >= 0.98 * at_zero)
        if not self.is_vacuous_:
            return self._scaling_.unscaled(coef / scale, intercept)
        warn(
            f"The hinge of {self.target_loss_!r} has the minimum {self.objective_:.4g}, within 2 % "
            f"of its value {at_zero:.4g} at zero weights: the model is logistic regression "
            "instead, with a tuned threshold. Try a smaller alpha, or PrecisionAtKPerceptron."
        )
        coef, intercept, *_ = fit_logistic(X, relevant, ones, "auto", tol=1e-6)
        return coef, intercept

    def _keep(self, X, positive, coef, intercept):
        sign = float(self._sign())
        scores = (
            sign * linear_scores(X, sign * coef, sign * intercept)[:, 0]
        )  # as predict does
        measure, P = self.target_loss_, np.count_nonzero(positive)
        n_marked = getattr(measure, "k", P)
        if hasattr(measure, "of_counts"):  # the best number of marked rows
            order = np.argsort(-scores, kind="stable")
            hits = np.concatenate([[0], np.cumsum(positive[order])])
            misses = np.arange(len(scores) + 1) - hits
            values = measure.of_counts(hits, misses, float(P), float(len(scores) - P))
            s = scores[order]
            cut = np.concatenate(
                [[True], s[1:] < s[:-1], [True]]
            )  # equal scores stay together
            n_marked = int(np.argmax(np.where(cut, values, -np.inf)))
        at_zero = self.threshold == "hinge" and not self.is_vacuous_
        self.threshold_: float = 0.0 if at_zero else threshold_between(scores, n_marked)
        self.coef_ = sign * coef
        self.intercept_ = sign * (intercept - self.threshold_)
