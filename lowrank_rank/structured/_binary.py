"""StructuredHingeBinaryClassifier: a binary classifier for a measure of the whole list."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._base import RankingMixin, linear_scores
from .._binary_labels import read_binary_labels, threshold_between
from .._lists import RankingLists
from .._parameters import check_parameters, fresh_fit, number
from .._typing import ArrayLike, MatrixLike
from ..regression._logistic import fit_logistic
from ._base import HingeMixin
from ._losses import check_bounds, resolve_hinge
from ._problem import LinearProblem

#: A least value above this fraction of the one at zero weights says next to nothing: the 2 % of the
#: docstring of ``is_vacuous_``.
_VACUOUS = 0.98


class StructuredHingeBinaryClassifier(HingeMixin, RankingMixin, ClassifierMixin, BaseEstimator):
    """Linear binary classifier under the structured hinge of a measure of all rows (SVMperf).

    Minimises ``alpha / 2 |w|^2 + max over v of Delta(v, y) + sum_i (v_i - y_i) <w, x_i>``, labels
    in {-1, 1} (equation 17.14 of [1]_; [2]_). It bounds the loss of marking the rows with a score
    above 0 (precision@k: at least the k best, recall@k: at most), and is not calibrated: for rare
    classes its minimiser may be zero weights, whatever the features. Then the fit warns and takes
    logistic regression for the weights, and the threshold from the training scores: that is
    consistent for every measure of the counts ([3]_).

    Parameters
    ----------
    target_loss : str or RankingMeasure, default="f1"
        "f1", "balanced_accuracy", "precision@k" (k at most the number of positives), "recall@k"
        (at least), "auc", or an object such as ``FBeta(beta=2)``.
    alpha : float, default=0.1
        Penalty, > 0; features are divided by twice the number of positives first.
    standardize : bool, default=True
        Standardise the features before the penalty, sparse X by the root mean square of the
        entries that are not 0. ``coef_`` is for X as it comes.
    threshold : {"tuned", "hinge"}, default="tuned"
        `predict` marks rows with a larger score. "tuned" maximises the measure on the training rows
        (precision and recall at k: k rows are marked; auc: as many as there are positives). "hinge"
        is 0, the threshold of the hinge, unless the hinge is vacuous.
    solver : {"auto", "lbfgs", "one_slack", "n_slack", "frank_wolfe"}, default="auto"
        As in `StructuredHingeRanker`; all rows are one list.
    tol : float, default=1e-2
        Stop at a duality gap of `tol` times the objective at zero weights.
    max_iter : int or None, default=None
        Iterations or rounds. None is 1000, and 100 passes for "frank_wolfe".
    fit_intercept : bool, default=True
        A penalised intercept.
    pos_label : object, default=None
        The class to be found; None is the last of the sorted classes, with a warning for strings.
    random_state : int, RandomState instance or None, default=None
        Used by "frank_wolfe".
    verbose : int, default=0

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
    pos_label_ : object
    coef_ : ndarray of shape (1, n_features)
        Coefficients of the score of ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    threshold_ : float
        Threshold of the scores of the positive class, before it is subtracted.
    is_vacuous_ : bool
        Whether the least value found of the hinge is within 2 % of that at zero weights, and the
        weights are those of logistic regression, its penalty
        ``0.1 min(p / n, 1) min(p / 50, 1)`` of p features and n rows; these are standardised and
        have an intercept, whatever `standardize` and `fit_intercept` say.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        Diagnostics of the hinge, as in `StructuredHingeRanker`.
    target_loss_ : RankingMeasure
    n_features_in_, feature_names_in_ : int and ndarray of str

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
    >>> from lowrank_rank import StructuredHingeBinaryClassifier
    >>> X, y = [[3.0], [2.0], [1.0], [0.5], [0.0], [-1.0]], [1, 1, 0, 0, 0, 0]
    >>> model = StructuredHingeBinaryClassifier().fit(X, y)
    >>> model.predict(X), model.score(X, y)
    (array([1, 1, 0, 0, 0, 0]), 1.0)
    """

    _parameters: ClassVar = {
        **{k: v for k, v in HingeMixin._hinge_parameters.items() if k != "batch_size"},
        "alpha": [number(above=0)],
        "solver": ["auto", "lbfgs", "one_slack", "n_slack", "frank_wolfe"],
        "threshold": ["tuned", "hinge"],
    }
    batch_size = 1  # all rows are one block

    def __init__(
        self,
        *,
        target_loss: Any = "f1",
        alpha: float = 0.1,
        standardize: bool = True,
        threshold: str = "tuned",
        solver: str = "auto",
        tol: float = 1e-2,
        max_iter: int | None = None,
        fit_intercept: bool = True,
        pos_label: Any = None,
        random_state: Any = None,
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
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: MatrixLike, y: ArrayLike) -> "StructuredHingeBinaryClassifier":
        """Minimise the hinge, and choose the threshold.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,)
            Labels of two classes.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y is not of two classes, k does not fit the number of positives, or a parameter
            is out of range; nothing is changed then.

        Warns
        -----
        UserWarning
            If the hinge is vacuous: the least value found is that of zero weights, or nearly.
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        """
        with fresh_fit(self):
            measure, hinge = resolve_hinge(self.target_loss, of_classes=True)
            measure = clone(measure)
            check_parameters(self)
            X, labels = self._read_rows(X, y)
            self.classes_, self.pos_label_ = labels.classes, labels.pos_label
            made, relevant = self._encode(labels, measure, hinge)
            scaled = self._standardised(X, np.ones(len(relevant)), centre=self.fit_intercept)
            coef, intercept = self._solve_measure(scaled, relevant, made, hinge)
            self._keep(X, labels.positive, *self._scaling_.unscaled(coef, intercept))
        return self

    def _read_rows(self, X, y):
        X = self._validate_X(X, reset=True)
        labels = read_binary_labels(y, None, None, self.pos_label, self)
        if labels.positive.ndim != 1:
            raise ValueError(
                f"y has shape {labels.positive.shape}: StructuredHingeBinaryClassifier takes one "
                "label per row. A matrix of 0 and 1 is for PrecisionAtKPerceptron, or for "
                "MultiOutputClassifier around this one."
            )
        check_consistent_length(X, labels.positive)
        return X, labels

    def _encode(self, labels, measure, hinge):
        """The hinge of all rows as one list, and which rows are relevant."""
        lists, relevant = RankingLists([len(labels.positive)]), labels.positive.astype(float)
        check_bounds(measure, hinge, relevant, lists)
        self.target_loss_, self.n_items_, self.n_lists_ = measure, None, 1
        self._has_qid_ = False
        self._scale_ = max(1.0, float(hinge.scale(relevant, lists)[0]))
        return hinge.make(measure, relevant, lists, None), relevant

    def _solve_measure(self, X, relevant, made, hinge):
        """Coefficients and intercept of the positive class, by logistic regression if vacuous."""
        intercept = self.fit_intercept and hinge.sees_shift
        problem = LinearProblem(X / self._scale_, made, np.ones(1), 1, intercept=intercept)
        coef, intercept = problem.split(self._solve(problem, float(self.alpha)))
        at_zero = problem.worst(np.zeros(problem.size)).value
        self.is_vacuous_ = bool(self.objective_ >= _VACUOUS * at_zero)
        if not self.is_vacuous_:
            return coef / self._scale_, intercept
        warnings.warn(
            f"The hinge of {self.target_loss_!r} has the least value {self.objective_:.4g}, within "
            f"2 % of its value {at_zero:.4g} at zero weights: it says nothing about these rows. "
            "The weights are those of logistic regression instead, with the threshold chosen for "
            "the measure. A smaller alpha may help; PrecisionAtKPerceptron is another way.",
            stacklevel=3,
        )
        coef, intercept, *_ = fit_logistic(X, relevant, np.ones(len(relevant)), "auto", tol=1e-6)
        return coef, intercept

    def _keep(self, X, positive, coef, intercept):
        sign = 1.0 if self.pos_label_ == self.classes_[1] else -1.0
        scores = sign * linear_scores(X, sign * coef, sign * intercept)[:, 0]  # as predict does
        at_zero = self.threshold == "hinge" and not self.is_vacuous_
        self.threshold_ = 0.0 if at_zero else self._tuned(scores, positive)
        self.coef_ = sign * coef
        self.intercept_ = sign * (intercept - self.threshold_)

    def _tuned(self, scores, positive):
        """The threshold that is best for the measure on these scores."""
        measure, P = self.target_loss_, np.count_nonzero(positive)
        if not hasattr(measure, "of_counts"):
            return threshold_between(scores, getattr(measure, "k", P))
        order = np.argsort(-scores, kind="stable")
        hits = np.concatenate([[0], np.cumsum(positive[order])])
        marked = np.arange(len(scores) + 1)
        values = measure.of_counts(hits, marked - hits, float(P), float(len(scores) - P))
        s = scores[order]
        cut = np.concatenate([[True], s[1:] < s[:-1], [True]])  # equal scores stay together
        return threshold_between(scores, int(np.argmax(np.where(cut, values, -np.inf))))

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores minus the threshold: above 0 is ``classes_[1]``.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return linear_scores(X, self.coef_, self.intercept_)[:, 0]

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Classes of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        above = (self.decision_function(X) > 0).astype(int)
        return self.classes_[above]

    def _ranking_scores(self, X, qid=None):
        sign = 1.0 if self.pos_label_ == self.classes_[1] else -1.0
        return sign * self.decision_function(X)

    def _grades(self, y):
        return read_binary_labels(y, None, self.classes_, self.pos_label_, self).positive.astype(
            float
        )
