"""OrderPreservingRegressor: linear scores under an order-preserving surrogate."""

from collections.abc import Iterable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import LinearRanker
from .._blocks import Blocks, first_block, read_block, read_blocks
from ..fitting._statistics import unscaled
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._findings import found
from ..validation._kinds import arrive
from ..validation._labels import read_item_names
from ..validation._parameters import (
    count,
    fresh_fit,
    number,
    say,
    verbosity,
)
from ._problem import Problem
from ._surrogates import Surrogate, check_has_utilities, resolve_surrogate


class OrderPreservingRegressor(LinearRanker, RegressorMixin, BaseEstimator):
    """Linear ranker for few judged queries, trained for NDCG, DCG or precision.

    Positional measures are NDCG, DCG, precision, recall, AUC, ERU and Spearman. The
    best order for such a measure sorts the items by their expected utilities E v. An
    order-preserving surrogate is a convex loss of scores. If the expected surrogate has
    a minimiser, this minimiser has the best order. The regret of the surrogate bounds
    the regret of the measure [1]_:

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

    The fit minimises ``sum over lists of surrogate(v, X w) / total + alpha / 2
    |w|**2``. The total is the weighted sum of the utilities if the surrogate is
    proportional to them, else the sum of the weights of judged items. A sum over pairs
    is first divided by the weight of its list.

    Parameters
    ----------
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", ... It gives each document a utility
        v, its gain over the normaliser of its list, times the mean normaliser of all
        rows. Names with equal utilities fit one model: "precision@1" and
        "precision@50", "dcg" and "gain@5", "map" and "recall@10". "map" has v_i = y_i /
        sum(y) and no regret bound; the order is right under noise of P_reinforce
        (`lowrank_rank.calibration.noise_report`).
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    surrogate : str or Surrogate, default="cross_entropy"
        A name of `lowrank_rank.surrogates.SURROGATES` or a custom object. "ranknet" and
        "pairwise_squared_hinge" are not order-preserving. A two-sided pointwise
        surrogate given by name has eta = 1.5 times the largest utility.
    alpha : float or "auto", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n lists;
        c = 1 for documents and squared surrogates, else 1 / r for r fixed items.
    standardize : bool, default=True
        Whether to divide features by their standard deviation; for documents, by the
        standard deviation within lists; for fixed items with q < 1/2, by the standard
        deviation over ``sqrt(2 q)``. `coef_` belongs to the features as given.
    tol : float, default=1e-4
        L-BFGS stops when no entry of the gradient is larger, relative to the largest
        entry at zero coefficients. The order of the items rarely changes below the
        default; 1e-9 gives the last digits of the coefficients. A closed form (Notes)
        is exact.
    max_iter : int, default=1000
        Largest number of iterations of L-BFGS.
    verbose : int, default=0
        Print progress after every `verbose` iterations.

    Attributes
    ----------
    target_loss_, surrogate_ : TargetLoss and Surrogate
        The objects in use; the surrogate has its eta.
    n_lists_ : int
        Number of lists with a positive weight.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_ : ndarray of shape (n_features,) or (r, n_features)
        Coefficients of the scores.
    intercept_ : float or ndarray of shape (r,)
        Intercepts of the scores; 0 for documents under a shift-invariant surrogate.
    alpha_ : float
        The penalty in use.
    objective_ : float
        The objective at the solution.
    gradient_norm_ : float
        Largest entry of the gradient at the solution, relative to the largest entry at
        zero coefficients; 0 for a closed form.
    n_iter_ : int
        Iterations of L-BFGS; 1 for a closed form.
    bound_factor_ : float
        ``sqrt(mean (c * C_phi(2))**2)`` over the training lists; for documents, divided
        by the mean normaliser. See `regret_bound`. It is nan without a bound.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    LowRankSurrogateRanker : Regression of the utilities by any regressor.
    lowrank_rank.calibration.regret_bound : The bound for known expected utilities.

    Notes
    -----
    "pointwise_squared" and "pairwise_squared" of up to 4000 features are solved in
    closed form if all items are judged, other problems by L-BFGS.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93,
       2013.

    Examples
    --------
    >>> from lowrank_rank import OrderPreservingRegressor
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    >>> bool(ranker.coef_[0] > 0), ranker.rank([[1.0], [3.0]], qid=[7, 7]).tolist()
    (True, [2, 1])
    """

    surrogate_: Surrogate
    alpha_: float
    objective_: float
    gradient_norm_: float
    _parameters: ClassVar = {
        "alpha": ["auto", number(0)],
        "tol": [number(above=0)],
        "max_iter": [count()],
        "standardize": [bool],
        "verbose": [verbosity],
    }

    def __init__(
        self,
        *,
        target_loss: str | TargetLoss = "ndcg@10",
        surrogate: str | Surrogate = "cross_entropy",
        alpha: float | str = "auto",
        standardize: bool = True,
        tol: float = 1e-4,
        max_iter: int = 1000,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.surrogate = surrogate
        self.alpha = alpha
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "OrderPreservingRegressor":
        """Minimise the surrogate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.
        y : array-like of shape (n_rows,) or (n_rows, r)
            Grades, higher is better, or a `ranking_target` with its qid. NaN in a
            matrix marks unjudged items, for measures without a normaliser.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row. A constant weight within a list is a list weight.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters do not fit, or the surrogate
            cannot take the utilities. The estimator then stays as it was.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS stops before the gradient is within `tol`, or if the labels of a
            fixed item never have any utility. Under a surrogate with ``has_tails`` its
            free intercept falls without bound.
        """
        with fresh_fit(self):
            loss = self._check_parameters()
            rows = self._read(X, y, qid, sample_weight, loss, one_list=one_list)
            self._fit(Blocks([rows]), loss)
        return self

    def fit_blocks(
        self, blocks: Iterable[Any], *, one_list: bool = False
    ) -> "OrderPreservingRegressor":
        """Minimise the surrogate over blocks of whole lists, one at a time in memory.

        The result equals `fit` on all rows together, up to rounding and `tol`. One pass
        over the blocks collects standard deviations, the largest utility and the
        statistics of a closed form. Each evaluation of L-BFGS (about 1.1 an iteration)
        is another pass. One or two passes follow at the end.

        Parameters
        ----------
        blocks : re-iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Arguments of `fit`, or None; for instance `datasets.iter_lists`. Every
            iteration must give the same blocks. All rows of a list must be in one
            block.
        one_list : bool, default=False
            Say that each block is one list; more than 200 rows without ids need it.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`. Also if a list has rows in two blocks, if there is no block, or
            if the blocks can be read only once, like a generator.
        """
        with fresh_fit(self):
            loss = self._check_parameters()
            blocks = read_blocks(blocks, again=True)
            X, y, *_ = first_block(blocks)
            self._validate_X(X, reset=True)
            read_item_names(self, y, reset=True)
            read = partial(read_block, one_list=one_list)
            self._fit(Blocks(blocks).map(read, self, loss), loss)
        return self

    def _has_link(self):
        """Whether scores estimate utilities, which `predict_utility` needs."""
        return resolve_surrogate(getattr(self, "surrogate_", self.surrogate)).has_link

    @available_if(_has_link)
    def predict_utility(self, X: MatrixLike) -> np.ndarray:
        """Estimate expected utilities from the scores, by the link of the surrogate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Estimates of E v. Shift-invariant surrogates have no link.
        """
        arrive(X=X)
        check_is_fitted(self)
        return self.surrogate_.utility(self.predict(X))

    def regret_bound(self, surrogate_regret: float | ArrayLike) -> float | np.ndarray:
        """Bound the mean regret of the measure by the mean regret of the surrogate.

        Parameters
        ----------
        surrogate_regret : float or array-like
            Mean over lists of the expected surrogate minus its least possible value, >=
            0. For documents, multiply the utilities by the mean normaliser before you
            compute it.

        Returns
        -------
        float or ndarray
            ``bound_factor_ * sqrt(surrogate_regret)``. The constants c and C_phi come
            from the training lists. If c depends on E v, the mean of c**2 over labels
            is no smaller than c**2 at E v. The result is nan without a bound: for
            "map", for surrogates that are not order-preserving, and for items of one
            list with different weights.
        """
        check_is_fitted(self)
        arrive(surrogate_regret=surrogate_regret)
        regret = np.maximum(np.asarray(surrogate_regret), 0.0)
        bound = self.bound_factor_ * np.sqrt(regret)
        return bound if bound.ndim else float(bound)

    # Fitting --------------------------------------------------------------------------

    def _check_parameters(self):
        """Check the losses; return a copy of the target loss."""
        loss = resolve_target_loss(self.target_loss, copied=True)
        check_has_utilities(loss, type(self).__name__)
        resolve_surrogate(self.surrogate)
        return loss

    def _fit(self, rows, loss):
        """Fit to `Blocks` of rows that `read_block` has read."""
        # `Problem` encodes the labels and standardises the features.
        problem = Problem(rows, loss, self.surrogate, self.alpha, self.standardize)
        theta = self._solve(problem)
        self._keep(problem, theta)
        self._tell_of_no_minimum(problem)

    def _solve(self, problem):
        """Minimise the objective; sets what the solver says about the solution."""
        if problem.second_moments is not None and not problem.is_flat:
            n_features = len(problem.mean)
            say(self, f"{problem.surrogate!r} of {n_features} features in closed form")
            solution = problem.solve_ridge()
        else:
            solution = problem.minimise(self._report, self.tol, self.max_iter)
        theta, self.objective_, self.gradient_norm_, n_iter = solution
        self.n_iter_: int = max(n_iter, 1)  # scikit-learn asks for at least 1
        return theta

    def _report(self, n_iter, value, gradient_norm):
        """Print progress after every `verbose` iterations."""
        if self.verbose and n_iter % self.verbose == 0:
            progress = f"objective {value:.6g}, gradient {gradient_norm:.2g}"
            say(self, f"iteration {n_iter}: {progress}")

    def _keep(self, problem, theta):
        """Set the fitted attributes, for features as given."""
        self.target_loss_ = problem.loss
        self.surrogate_ = problem.surrogate
        self.alpha_ = problem.alpha
        self.n_items_ = problem.n_items
        self.n_lists_ = problem.n_lists
        self._has_qid_ = problem.has_qid
        self.bound_factor_: float = problem.bound_factor()
        if self.surrogate_.is_shift_invariant and self.n_items_ is not None:
            # The penalty makes the mean coefficients 0, and the mean intercept is
            # arbitrary.
            theta = theta - theta.mean(axis=0)
        coef, intercept = unscaled(
            theta[:, :-1], theta[:, -1], problem.mean, problem.scale
        )
        if self.surrogate_.is_shift_invariant:
            intercept -= intercept.mean()
        self._keep_linear(coef, intercept)

    def _tell_of_no_minimum(self, problem):
        """Warn if L-BFGS stopped too early, or if there is no minimum."""
        if self.gradient_norm_ > self.tol:
            found(
                "L-BFGS",
                f"L-BFGS stopped after {self.n_iter_} iterations with a gradient of "
                f"{self.gradient_norm_:.2g}, above tol={self.tol:g}: increase "
                "max_iter, tol or alpha.",
                ConvergenceWarning,
            )
        is_free = self.n_items_ is not None and self.surrogate_.has_tails
        useless = np.flatnonzero(problem.utility == 0)
        if is_free and len(useless) and self.gradient_norm_ > 0.0:
            found(
                "no minimum",
                f"{self.surrogate_!r} has no minimum here: no label of items "
                f"{useless.tolist()} (columns of y) has any utility, and their "
                "intercepts fall without bound. Drop these items, or use a squared "
                "surrogate.",
                ConvergenceWarning,
            )
