"""OrderPreservingRegressor: linear scores under an order-preserving surrogate."""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..solvers import fit_scores
from ..surrogates import Surrogate, resolve_surrogate
from ..target_losses import PositionalLoss, resolve_target_loss
from ._base import BaseRanker
from ._encoded_regression import EncodedRegressionMixin
from ._score_problem import ScoreProblem, closed_form, has_closed_form, scaled_features
from ._validation import all_or_nothing, check_count, check_flag, check_number, check_option

SOLVERS = ("auto", "lbfgs")


def _has_link(regressor):
    surrogate = getattr(regressor, "surrogate_", None) or resolve_surrogate(regressor.surrogate)
    if type(surrogate).utility is Surrogate.utility:
        raise AttributeError(f"{surrogate!r} has no link: its scores do not estimate utilities.")
    return True


class OrderPreservingRegressor(EncodedRegressionMixin, BaseRanker):
    """Linear ranker under a convex surrogate whose minimiser orders as the measure wants.

    A positional measure (NDCG, DCG, precision, recall, AUC, ERU, Spearman) is best where the items
    stand in the order of their expected utilities E v. An order-preserving surrogate is a convex
    loss of scores that is least in that order for every distribution of the labels, and whose
    regret bounds the regret of the measure [1]_:

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

    Fitted is ``sum over lists of surrogate(v, X w) / total + alpha / 2 |w|**2``, where total is
    the sum of the utilities or of the row weights, whichever the surrogate is proportional to.

    Parameters
    ----------
    target_loss : str or PositionalLoss, default="ndcg@10"
        Whose utilities v are aimed at.
    surrogate : str or Surrogate, default="cross_entropy"
        A name of `lowrank_rank.surrogates.SURROGATES` or an object of one's own. By name a
        two-sided pointwise surrogate takes eta = 1.5 times the largest utility.
    alpha : float, default=0.1
        Penalty of the squared coefficients, of standardised features if `standardize`, >= 0.
    fit_intercept : bool, default=True
        Ignored where it makes no difference: documents and a surrogate of differences.
    standardize : bool, default=True
        Divide features by their standard deviation before they are penalised; `coef_` is of the
        features as they came.
    solver : {"auto", "lbfgs"}, default="auto"
        "auto" solves the squared surrogates in closed form (up to 4000 features), others, and
        all of them with "lbfgs", by L-BFGS.
    tol : float, default=1e-9
        Largest entry of the objective's gradient at the solution, over that at zero coefficients;
        in standardised features.
    max_iter : int, default=1000
        Iterations of L-BFGS.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    verbose : int, default=0
        Progress on the standard output, every that many iterations.

    Attributes
    ----------
    target_loss_, surrogate_ : PositionalLoss and Surrogate
        As resolved, the surrogate with its eta.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (r, n_features) and (r,)
        Of the scores.
    loss_ : float
        The objective at the solution.
    gradient_norm_ : float
        Largest entry of its gradient there, over that at zero; 0 for a closed form.
    n_iter_ : int
        Iterations of L-BFGS, 1 for a closed form.
    bound_factor_ : float
        ``sqrt(mean (c * C_phi(2))**2)`` over the training lists, in documents divided by the
        mean normaliser; see `regret_bound_`.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names where X has them.

    See Also
    --------
    LowRankSurrogateRanker : Any regressor on the utilities themselves.
    lowrank_rank.calibration.regret_bound : The bound for known expected utilities.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank import OrderPreservingRegressor
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    >>> bool(ranker.coef_[0] > 0), ranker.rank([[1.0], [3.0], [2.0]]).tolist()
    (True, [3, 1, 2])
    """

    estimator = None  # linear: what `SurrogateMixin` knows as the default

    def __init__(
        self,
        *,
        target_loss="ndcg@10",
        surrogate="cross_entropy",
        alpha=0.1,
        fit_intercept=True,
        standardize=True,
        solver="auto",
        tol=1e-9,
        max_iter=1000,
        warm_start=False,
        verbose=0,
    ):
        self.target_loss = target_loss
        self.surrogate = surrogate
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(self, X, y, *, qid=None, sample_weight=None):
        """Minimise the surrogate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.
        y : array-like of shape (n_rows,) or (n_rows, r)
            Grades, higher is better; a `ranking_target` carries its qid. NaN in a matrix is not
            judged, for measures without a normaliser.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row; constant within a list it is a list weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters do not fit, or the surrogate cannot take
            the utilities; nothing is changed then.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS stops before the gradient is within `tol`.
        """
        with all_or_nothing(self):
            loss = self._check_parameters()
            X, y, lists, weights = self._read(X, y, qid, sample_weight, loss)
            problem = ScoreProblem.of_labels(X, y, lists, weights, loss, self.surrogate)
            start = self._start(problem)
            self._forget("n_iter_")
            self.target_loss_, self.surrogate_ = loss, problem.surrogate
            self.n_items_, self.n_lists_ = problem.n_items, problem.n_lists
            self._minimise(X, problem, start)
            self.bound_factor_ = problem.bound_factor(loss)
        return self

    def predict(self, X):
        """Scores, higher is better; a row's score does not depend on the other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
        """
        scores = self.predict_surrogate(X)
        return scores[:, 0] if self.n_items_ is None else scores

    @available_if(_has_link)
    def predict_utility(self, X):
        """Expected utilities, by the surrogate's link.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Estimates of E v. Not for surrogates of differences, whose scores have no origin.
        """
        check_is_fitted(self)
        return self.surrogate_.utility(self.predict(X))

    def regret_bound_(self, surrogate_regret):
        """Most regret of the measure that a regret of the surrogate allows.

        Parameters
        ----------
        surrogate_regret : float or array-like
            Expected surrogate of a list minus the least possible, >= 0, at the utilities that
            are fitted: those of the measure, in documents times their mean normaliser.

        Returns
        -------
        float or ndarray
            ``bound_factor_ * sqrt(surrogate_regret)``. c and C_phi are those of the training
            lists: where c depends on E v, that of their labels, which is no smaller on average.
        """
        check_is_fitted(self)
        bound = self.bound_factor_ * np.sqrt(np.maximum(surrogate_regret, 0.0))
        return bound if bound.ndim else float(bound)

    # Fitting --------------------------------------------------------------------------

    def _check_parameters(self):
        loss = clone(resolve_target_loss(self.target_loss))
        if not isinstance(loss, PositionalLoss):
            raise ValueError(
                f"Order-preserving surrogates need a positional measure, which {loss!r} is not: "
                "take 'ndcg@10', 'dcg', 'precision@5', 'recall@20', 'auc', 'eru' or 'spearman'; "
                "LowRankSurrogateRanker takes the others."
            )
        resolve_surrogate(self.surrogate)
        check_option("solver", self.solver, SOLVERS)
        check_number("alpha", self.alpha, minimum=0)
        check_number("tol", self.tol, minimum=0, strict=True)
        check_count("max_iter", self.max_iter)
        for name in ("fit_intercept", "standardize", "warm_start"):
            check_flag(name, getattr(self, name))
        return loss

    def _start(self, problem):
        """Coefficients (d, p) and intercepts (d,) to start from, of the features as they came."""
        d, p = problem.v.shape[1], problem.n_features
        if not (self.warm_start and hasattr(self, "coef_")):
            return np.zeros((d, p)), np.zeros(d)
        coef = np.atleast_2d(self.coef_)
        if coef.shape != (d, p):
            raise ValueError(
                f"warm_start: the last fit has coefficients of shape {coef.shape}, this one needs "
                f"{(d, p)}. Set warm_start=False."
            )
        return coef, np.atleast_1d(self.intercept_)

    def _minimise(self, X, problem, start):
        free = problem.n_items is not None or not problem.surrogate.shift_invariant
        intercept = free and self.fit_intercept
        centre = intercept or not free  # of documents alone, differences do not see it
        features = scaled_features(X, problem.row_weights, self.standardize, centre)
        scaled, mean, scale, left = features
        if self.solver == "auto" and has_closed_form(problem, intercept or not free):
            self._say(f"{problem.surrogate!r} on {X.shape} in closed form")
            theta = closed_form(scaled, problem, self.alpha)
            self.n_iter_, self.gradient_norm_ = 1, 0.0
            self.loss_ = problem.objective(scaled, theta, self.alpha)
            theta[:, -1] += theta[:, :-1] @ left
        else:
            theta = self._descend(features, problem, intercept, start)
        coef = theta[:, :-1] / scale
        shift = theta[:, -1] - coef @ mean if intercept else np.zeros(len(coef))
        if problem.surrogate.shift_invariant:  # what is common to all items is not determined
            shift = shift - shift.mean()
        documents = self.n_items_ is None
        self.coef_ = coef[0] if documents else coef
        self.intercept_ = float(shift[0]) if documents else shift

    def _descend(self, features, problem, intercept, start):
        scaled, mean, scale, left = features
        coef, shift = start
        first = np.column_stack([coef * scale, shift + coef @ mean if intercept else 0.0 * shift])

        def report(i, value, slope):
            if self.verbose and i % self.verbose == 0:
                self._say(f"iteration {i}: objective {value:.6g}, gradient {slope:.2g}")

        theta, self.loss_, self.n_iter_, self.gradient_norm_ = fit_scores(
            scaled,
            problem.evaluate,
            first,
            mean=left,
            alpha=self.alpha,
            intercept=intercept,
            tol=self.tol,
            max_iter=self.max_iter,
            callback=report,
        )
        if self.gradient_norm_ > self.tol:
            warnings.warn(
                f"L-BFGS stopped after {self.n_iter_} iterations with a gradient of "
                f"{self.gradient_norm_:.2g}, above tol={self.tol:g}: increase max_iter, tol or "
                "alpha (a surrogate may have no minimum without a penalty).",
                ConvergenceWarning,
                stacklevel=4,
            )
        return theta
