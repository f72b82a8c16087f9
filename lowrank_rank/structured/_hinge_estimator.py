"""HingeMixin: parameters, standardisation, penalty and solvers of the structured hinges."""

import warnings
from copy import copy
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import check_random_state

from .._arrays import mean_square
from .._base import linear_scores, read_features
from .._parameters import count, number, random_state, verbosity
from ..fitting._statistics import Moments, Scaling, default_alpha, standardise
from ._solvers import Descent, cutting_planes, descend, smoothed


def row_order(X, y, index=None):
    """An order of the rows, within each list of `index`, by their contents alone.

    The rows are sorted by a random projection, which is equal for equal rows, and then by labels.
    Copies, the order of the rows and the units of columns then change no tie, and no batch.
    """
    size = np.maximum(MaxAbsScaler().fit(X).max_abs_, 1e-300)
    direction = np.random.default_rng(0).normal(size=(1, X.shape[1])) / size
    key = linear_scores(X, direction, 0.0)[:, 0]
    return np.lexsort((y, key) if index is None else (y, key, index))


def takes_steps(estimator):
    """For `available_if`: whether the solver takes steps, with a number as penalty."""
    if estimator.solver != "sgd" or isinstance(estimator.alpha, str):
        raise AttributeError(
            "partial_fit makes one pass of subgradient steps over the rows of a call: set "
            f"solver='sgd' and a number for alpha. This {type(estimator).__name__} has "
            f"solver={estimator.solver!r} and alpha={estimator.alpha!r}."
        )
    return True


class HingeMixin:
    """Fit of a `LinearProblem` by any solver; a class has the parameters below."""

    alpha: Any
    standardize: bool
    solver: str
    tol: float
    max_iter: int | None
    batch_size: Any
    random_state: Any
    verbose: int
    _descent_: Any

    _n_batches = 100  #: number of batches for batch_size="auto" of "sgd"

    _hinge_parameters: ClassVar[dict] = {
        "alpha": ["auto", number(above=0)],
        "standardize": [bool],
        "solver": ["auto", "lbfgs", "cutting_plane", "sgd"],
        "tol": [number(above=0)],
        "max_iter": [count(), None],
        "batch_size": [count(), "auto"],
        "fit_intercept": [bool],
        "random_state": [random_state],
        "verbose": [verbosity],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class that mixes this in
        tags.input_tags.sparse = True
        return tags

    def _validate_X(self, X, *, reset):
        X = read_features(self, X, reset=reset)
        if reset:  # refuses features out of range; unscaled ones are multiplied more often
            mean_square(X, degree=2 if self.standardize else 16)
        return X

    def _standardised(self, X, weights, *, centre, lists=None):
        """The standardised copy of X, by the `Scaling` of the first call, and its shift.

        `centre` says whether means are subtracted: the hinge must ignore a shift of the scores, or
        have an intercept. Sparse X stays sparse: the `LinearProblem` subtracts the shift.
        """
        if not hasattr(self, "_scaling_"):
            codes = None if lists is None else lists.index
            moments = Moments.of(X, weights / weights.max(), codes)
            p = X.shape[1]
            mean = moments.mean if self.standardize and centre else np.zeros(p)
            scaling = Scaling(mean, moments.scale if self.standardize else np.ones(p))
            self._scaling_, self._mean_square_ = scaling, moments.mean_square
        shift = self._scaling_.mean / self._scaling_.scale if sparse.issparse(X) else 0.0
        return standardise(X, self._scaling_), shift

    def _batch_size(self, problem, solver):
        """The number of blocks in a batch.

        Cutting planes have up to a thousand batches, within limits of memory (numbers in the
        slopes) and time (products of features).
        """
        if self.batch_size != "auto":
            return self.batch_size
        n_batches = self._n_batches
        if solver == "cutting_plane":
            by_time = max(100_000_000 // problem.size**2, 100)
            n_batches = max(min(by_time, 4_000_000 // problem.size, 1000), 1)
        return max(1, problem.n_blocks // n_batches)

    def _penalty(self, problem, kind, n_rows):
        """`alpha`, or the formula of `kind` over the objective at zero weights.

        Costs times c need weights times c: the penalty has to fall by the factor c.
        """
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        alpha = default_alpha(kind, self._mean_square_, n_rows)
        if self.solver == "sgd":  # the first step has the length 1 / sqrt(alpha)
            alpha = max(alpha, 1e-3)
        value = problem.at_zero.value
        return alpha / (value if value > 0 else 1.0)

    def _solve(self, problem, alpha):
        """Minimise the objective; sets the attributes of the solver and returns the weights."""
        self.alpha_, solver = alpha, self.solver
        if solver == "auto":
            solver = "lbfgs" if problem.is_smooth else "cutting_plane"
        elif solver == "lbfgs" and not problem.is_smooth:
            raise ValueError(
                "solver='lbfgs' needs a smooth approximation, and this hinge has none: use "
                "'cutting_plane' or 'sgd'."
            )
        rng = check_random_state(self.random_state)
        max_iter = self.max_iter or (15 if solver == "sgd" else 1000)
        settings = {"alpha": alpha, "tol": self.tol, "max_iter": max_iter, "report": self._report}
        size = self._batch_size(problem, solver)
        self._descent_ = Descent(problem.size) if solver == "sgd" else None
        if solver == "lbfgs":
            fit = smoothed(problem, **settings)
        elif solver == "cutting_plane":
            fit = cutting_planes(problem, problem.partition(size, rng), **settings)
        else:
            fit = descend(problem, self._descent_, problem.batches(size, rng), rng, **settings)
        self.solver_, self.n_iter_ = solver, max(fit.n_iter, 1)
        self.objective_, self.dual_gap_ = float(fit.objective), float(fit.gap)
        converged = fit.converged
        if solver == "sgd":  # its steps fail if zero weights are better; they ignore the gap
            converged = fit.w.any() or not self._descent_.mean.any()
        if not converged:
            scale = "" if self.standardize else ", or bring the features to one scale"
            warnings.warn(
                f"{solver} stopped after {fit.n_iter} iterations with a duality gap of "
                f"{fit.gap:.2g} at an objective of {fit.objective:.4g}, above tol={self.tol:g} "
                f"times its value at zero weights: increase max_iter, tol or alpha{scale}.",
                ConvergenceWarning,
                stacklevel=5,
            )
        return fit.w

    def _step_more(self, problem):
        """Continue earlier calls with one pass of steps over more blocks."""
        alpha = self.alpha_ = float(self.alpha)
        if getattr(self, "_descent_", None) is None:
            self._descent_, self.n_iter_ = Descent(problem.size), 0
        descent = copy(self._descent_)  # an error below must not change the state
        for part in problem.batches(self._batch_size(problem, "sgd")):
            value = descent.step(part, alpha, problem.n_blocks)
        self._descent_, self.solver_ = descent, "sgd"
        self.n_iter_ += 1
        w = descent.mean
        self.objective_ = float(value + alpha / 2.0 * (w @ w))
        self.dual_gap_ = float("nan")
        return w

    def _report(self, n_iter, objective, gap=None):
        if self.verbose and n_iter % self.verbose == 0:
            certificate = "" if gap is None else f", gap {gap:.2g}"
            name = type(self).__name__
            print(f"[{name}] iteration {n_iter}: objective {objective:.6g}{certificate}")
