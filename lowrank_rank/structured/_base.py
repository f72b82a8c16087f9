"""Base of the estimators of structured hinges: parameters, solvers, fitted attributes."""

import warnings
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._arrays import mean_square
from .._base import read_features
from .._parameters import count, number, random_state, verbosity
from ..regression._alpha import default_alpha
from ..regression._statistics import Moments, Scaling, standardise
from ._solvers import SOLVERS, Descent, descend

#: ``solver="auto"``: the first for hinges with a smooth form, else the second for several blocks,
#: and the third for one (``python -m benchmarks structured``).
SMOOTH_SOLVER, BLOCKS_SOLVER, ONE_BLOCK_SOLVER = "lbfgs", "n_slack", "one_slack"
#: ``batch_size="auto"`` of "n_slack" limits the slacks, the numbers in the slopes of a round and
#: the products of features; a hundred slacks are always allowed (few planes cost little).
_MOST_SLACKS, _MOST_NUMBERS, _MOST_PRODUCTS, _FEW_SLACKS = 1000, 4_000_000, 100_000_000, 100
LEAST_OF_STEPS = 1e-3  # alpha="auto" of solver="sgd": the first step is 1 / sqrt(alpha) long
_MAX_ITER = {"frank_wolfe": 100, "sgd": 15}


def takes_steps(estimator):
    """Whether `partial_fit` is there: the solver takes steps, and the penalty is a number."""
    if estimator.solver != "sgd" or isinstance(estimator.alpha, str):
        raise AttributeError(
            "partial_fit makes one pass of subgradient steps over the rows of a call: set "
            f"solver='sgd' and a number for alpha. This {type(estimator).__name__} has "
            f"solver={estimator.solver!r} and alpha={estimator.alpha!r}."
        )
    return True


class HingeMixin:
    """Fit of a problem of `_problem` by any solver; a subclass has the parameters below."""

    alpha: Any
    standardize: bool
    solver: str
    tol: float
    max_iter: int | None
    batch_size: Any
    random_state: Any
    verbose: int

    _n_batches = 100  #: of batch_size="auto"

    _hinge_parameters: ClassVar[dict] = {
        "alpha": ["auto", number(above=0)],
        "standardize": [bool],
        "solver": ["auto", "sgd", *SOLVERS],
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
        if reset:  # unscaled features are multiplied more often, and the gap needs some digits
            mean_square(X, degree=2 if self.standardize else 16)
        return X

    def _standardised(self, X, weights, *, centre, lists=None):
        """The standardised copy of X; later calls take the `Scaling` of the first one.

        Documents are divided by the standard deviations within their `lists`: the level of a
        feature in a list says nothing about the order in it. Means of dense X are subtracted where
        the hinge or an intercept makes up for them (`centre`).
        """
        if not hasattr(self, "_scaling_"):
            codes = None if lists is None else lists.index
            moments = Moments.of(X, weights / weights.max(), codes)
            scaling = Scaling.of(X, moments)
            if not (self.standardize and centre):
                scaling = scaling._replace(mean=np.zeros(X.shape[1]))
            if not self.standardize:
                scaling = scaling._replace(scale=np.ones(X.shape[1]))
            self._scaling_, self._mean_square_ = scaling, moments.mean_square
        return standardise(X, self._scaling_)

    def _solver(self, problem):
        if self.solver == "auto":
            if problem.is_smooth:
                return SMOOTH_SOLVER
            return BLOCKS_SOLVER if problem.n_blocks > 1 else ONE_BLOCK_SOLVER
        if self.solver == "lbfgs" and not problem.is_smooth:
            raise ValueError(
                "solver='lbfgs' needs a smooth approximation, which this hinge has none of: take "
                "'one_slack', 'n_slack', 'frank_wolfe' or 'sgd'."
            )
        return self.solver

    def _max_iter(self, solver):
        return _MAX_ITER.get(solver, 1000) if self.max_iter is None else self.max_iter

    def _batch_size(self, problem, solver="sgd"):
        """The number of blocks in a batch."""
        if self.batch_size != "auto":
            return self.batch_size
        n_batches = self._n_batches
        if solver == "n_slack":
            n_batches = max(_MOST_PRODUCTS // problem.size**2, _FEW_SLACKS)
            n_batches = max(min(n_batches, _MOST_NUMBERS // problem.size, _MOST_SLACKS), 1)
        return max(1, problem.n_blocks // n_batches)

    def _penalty(self, problem, kind, n_rows):
        """`alpha`, or the formula of `kind` over the objective at zero weights.

        Costs times c ask for weights times c, whose squares are c times as large beside the costs.
        """
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        alpha = default_alpha(kind, problem.X.shape[1], n_rows, self._mean_square_)
        if self.solver == "sgd":
            alpha = max(alpha, LEAST_OF_STEPS)
        value = problem.worst(np.zeros(problem.size)).value
        return alpha / (value if value > 0 else 1.0)

    def _solve(self, problem, alpha):
        """Minimise the objective; sets the attributes of the solver and returns the weights."""
        self.alpha_ = alpha
        solver, rng = self._solver(problem), check_random_state(self.random_state)
        report = self._report()
        settings = {"alpha": self.alpha_, "tol": self.tol, "max_iter": self._max_iter(solver)}
        split = {
            "n_slack": problem.partition,
            "frank_wolfe": problem.batches,
            "sgd": problem.batches,
        }.get(solver)
        parts = None if split is None else split(self._batch_size(problem, solver), rng)
        settings |= {"parts": parts, "random_state": rng, "report": report}
        self._descent_ = Descent(problem.size) if solver == "sgd" else None
        if solver == "sgd":
            fit = descend(problem, self._descent_, **settings)
        else:
            fit = SOLVERS[solver](problem, **settings)
        self.solver_, self.n_iter_ = solver, max(fit.n_iter, 1)
        self.objective_, self.dual_gap_ = float(fit.objective), float(fit.gap)
        if not fit.converged:
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
        """One pass of steps over more blocks, from where the last call ended."""
        alpha = self.alpha_ = float(self.alpha)
        if getattr(self, "_descent_", None) is None:
            self._descent_ = Descent(problem.size)
            self.n_iter_ = 0
        descent = Descent(problem.size)  # a copy: an error below must not change the state
        vars(descent).update(vars(self._descent_))
        for part in problem.batches(self._batch_size(problem)):
            value = descent.step(part, alpha, problem.n_blocks)
        self._descent_, self.solver_ = descent, "sgd"
        self.n_iter_ += 1
        w = descent.mean
        self.objective_ = float(value + alpha / 2.0 * (w @ w))
        self.dual_gap_ = float("nan")
        return w

    def _report(self):
        if not self.verbose:
            return None

        def say(n_iter, objective, gap):
            if n_iter % self.verbose == 0:
                certificate = "" if np.isnan(gap) else f", gap {gap:.2g}"
                print(
                    f"[{type(self).__name__}] iteration {n_iter}: objective {objective:.6g}"
                    f"{certificate}"
                )

        return say
