"""What the estimators of structured hinges share: parameters, solvers, what a fit leaves."""

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import diags, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .._arrays import mean_square
from .._base import read_features
from .._parameters import count, number, random_state, verbosity
from ..regression._statistics import Groups, Moments, moments_and_squares_within, scale_within
from ._search import constant_alpha, search_alpha
from ._solvers import SOLVERS, Descent, descend, n_slack, smoothed

#: What "auto" stands for, measured by ``python -m benchmarks structured``: with a smooth form, else
#: with several blocks, else with one.
SMOOTH_SOLVER, BLOCKS_SOLVER, ONE_BLOCK_SOLVER = "lbfgs", "n_slack", "one_slack"
#: Slacks of batch_size="auto": as many as blocks up to here, as numbers in a round's slopes and as
#: products of features for each slack allow (a program of fewer planes than features costs less).
_MOST_SLACKS, _MOST_NUMBERS, _MOST_PRODUCTS, _FEW_SLACKS = 1000, 4_000_000, 100_000_000, 100
_TOL = 1e-2  # where penalties are compared
_MAX_ITER = {"frank_wolfe": 100, "sgd": 15}


def takes_steps(estimator):
    """Whether the solver takes steps, so that `partial_fit` can go on from them."""
    if estimator.solver != "sgd":
        raise AttributeError(
            f"partial_fit takes subgradient steps on the lists of each call: it is there with "
            f"solver='sgd', not with solver={estimator.solver!r}."
        )
    return True


class HingeMixin:
    """Fitting a problem of `_problem` by any solver. A subclass has the parameters below."""

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
        if reset:  # products of products, and digits left for the gap, unless they are scaled
            mean_square(X, degree=2 if self.standardize else 16)
        return X

    def _scaled(self, X, weights=None, *, centre, lists=None):
        """X over its deviations, of the first rows that came; dense X minus its means.

        Means matter where there is an intercept, which takes them up. Deviations are those within
        `lists` where there are: the level of a feature in a list is no part of the order in it.
        """
        if not hasattr(self, "_units_"):
            self._units_ = np.zeros(X.shape[1]), np.ones(X.shape[1])
            if self.standardize:
                self._units_ = _units(X, weights, centre and not issparse(X), lists)
        mean, scale = self._units_
        if issparse(X):
            return (X @ diags(1.0 / scale)).tocsr()
        return (X - mean) / scale

    def _unscaled(self, coef, intercept):
        """Coefficients (n_columns, n_features) and intercepts for X as it came."""
        mean, scale = self._units_
        coef = coef / scale
        return coef, intercept - coef @ mean

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
        """Blocks of a batch."""
        if self.batch_size != "auto":
            return self.batch_size
        n_batches = self._n_batches
        if solver == "n_slack":
            n_batches = max(_MOST_PRODUCTS // problem.size**2, _FEW_SLACKS)
            n_batches = max(min(n_batches, _MOST_NUMBERS // problem.size, _MOST_SLACKS), 1)
        return max(1, problem.n_blocks // n_batches)

    def _choose_alpha(self, problem, held_out=None):
        """Sets ``alpha_``; ``held_out()`` gives what "auto" is searched with."""
        if not isinstance(self.alpha, str):
            self.alpha_ = self.alpha
            return

        def say(alpha, score):
            if self.verbose:
                print(f"[{type(self).__name__}] alpha {alpha:g}: {score:.4g} held out")

        search = search_alpha(problem, *held_out(), fit=self._quick_weights, report=say)
        self.alpha_ = search.alpha
        if search.alphas is not None:
            self.alphas_, self.alpha_scores_ = search.alphas, search.scores

    def _quick_weights(self, problem, alpha, start):
        """Weights near the minimum: rows held out cannot tell them from those at it."""
        settings = {"alpha": alpha, "tol": _TOL}
        if problem.is_smooth:
            max_iter = self._max_iter(SMOOTH_SOLVER)
            return smoothed(problem, **settings, max_iter=max_iter, start=start).w
        parts = problem.partition(self._batch_size(problem, BLOCKS_SOLVER))
        max_iter = self._max_iter(BLOCKS_SOLVER)
        return n_slack(problem, **settings, max_iter=max_iter, parts=parts).w

    def _solve(self, problem):
        """Weights, and the attributes that say how they were found."""
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
        if not isinstance(self.alpha, str):
            self.alpha_ = self.alpha
        elif not hasattr(self, "alpha_"):  # an earlier fit may have searched
            self.alpha_ = constant_alpha(problem)
        alpha = self.alpha_
        if getattr(self, "_descent_", None) is None:
            self._descent_ = Descent(problem.size)
            self.n_iter_ = 0
        descent = Descent(problem.size)  # what raises below must change nothing
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


def _units(X, weights, centre, lists):
    """Means to subtract and deviations to divide by; see `HingeMixin._scaled`."""
    weights = np.ones(X.shape[0]) if weights is None else weights / weights.max()
    if lists is None:
        moments = Moments.of(X, weights)
        scale = moments.scale
    else:
        moments, squares = moments_and_squares_within(X, Groups(lists.index, weights))
        scale = scale_within(moments, squares, moments.total)
    return moments.mean if centre else np.zeros(X.shape[1]), scale
