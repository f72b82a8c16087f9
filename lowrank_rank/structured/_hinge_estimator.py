"""Shared code of the estimators of structured hinges: parameters, rows, and a mixin that solves."""

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import check_random_state

from .._arrays import LARGEST, check_range, check_size
from .._base import linear_scores, read_features
from .._blocks import check_has_ids, refuse_cut_list
from .._parameters import count, number, random_state, say, verbosity
from .._warn import warn
from ..fitting._statistics import Moments, Scaling, chosen_alpha, standardise
from ._solvers import Descent, cutting_planes, descend, smoothed

HINGE_PARAMETERS = {
    "alpha": ["auto", number(above=0)],
    "standardize": [bool],
    "solver": ["auto", "lbfgs", "cutting_plane", "sgd"],
    "tol": [number(above=0)],
    "max_iter": [count()],
    "batch_size": [count(), "auto"],
    "fit_intercept": [bool],
    "random_state": [random_state],
    "verbose": [verbosity],
}


# Rows and weights -------------------------------------------------------------------


def row_order(X, y, index=None):
    """An order of the rows, within each list of `index`, by their contents alone.

    The rows are sorted by a random projection, which is equal for equal rows, and then
    by labels. Copies, the order of the rows and the units of columns then change no
    tie, and no batch.
    """
    size = np.maximum(MaxAbsScaler().fit(X).max_abs_, 1e-300)
    direction = np.random.default_rng(0).normal(size=(1, X.shape[1])) / size
    key = linear_scores(X, direction, 0.0)[:, 0]
    return np.lexsort((y, key) if index is None else (y, key, index))


def row_codes(X, y):
    """A number for each row by `row_order`; equal rows with equal labels have the same."""
    order = row_order(X, y)
    X, y = X[order], y[order]
    differ = X[1:] != X[:-1]
    differ = differ.sum(axis=1) if sparse.issparse(X) else differ.any(axis=1)
    is_new = (np.asarray(differ).ravel() > 0) | (y[1:] != y[:-1])
    codes = np.empty(len(y), np.intp)
    codes[order] = np.cumsum(np.append(False, is_new))
    return codes


def copies_of_rows(X, weights, remedy=""):
    """Indices of rows of X, each as often as its weight says; refuses fractions and too many."""
    fractions = np.flatnonzero(weights != np.round(weights))
    if len(fractions):
        raise ValueError(
            f"sample_weight[{fractions[0]}] is {weights[fractions[0]]:g}: all rows are one list "
            f"here, and the weights of its rows count copies: give whole numbers{remedy}."
        )
    n_bytes = 8.0 * X.shape[1] * weights.sum()
    check_size(f"{weights.sum():g} copies of rows", n_bytes, "divide sample_weight")
    return np.repeat(np.arange(len(weights)), weights.astype(np.intp))


def weights_of_lists(weights, lists, what, remedy=""):
    """The weight of each list from the weights of the rows; refuses lists of several weights."""
    weights = lists.group(weights)
    first = weights[lists.starts]
    wrong = np.flatnonzero(weights != lists.repeat(first))
    if len(wrong):
        which = lists.index[wrong[0]]
        raise ValueError(
            f"sample_weight differs within the {what} {lists.ids.tolist()[which]!r} "
            f"({first[which]:g} and {weights[wrong[0]]:g}): rows of a {what} share one.{remedy}"
        )
    return first


def check_continues(has_qid, last_key, lists, what="list", would_be="one list"):
    """Refuse rows without ids after rows with ids, and a list that the call before began."""
    check_has_ids(has_qid, lists.ids is not None, would_be)
    if lists.ids is not None and lists.ends[0] == last_key:
        refuse_cut_list(lists.ids[lists.codes[0]], what)


# The mixin --------------------------------------------------------------------------


def takes_steps(estimator):
    """For `available_if`: whether the solver takes steps, with a number as penalty."""
    if estimator.solver != "sgd" or isinstance(estimator.alpha, str):
        raise AttributeError(
            "partial_fit makes one pass of subgradient steps: set solver='sgd' and a number for "
            f"alpha, not solver={estimator.solver!r} and alpha={estimator.alpha!r}."
        )
    return True


def chosen_solver(solver, problem):
    """The solver for "auto"; refuses L-BFGS for a hinge that has no smooth approximation."""
    if solver == "auto":
        return "lbfgs" if problem.is_smooth else "cutting_plane"
    if solver == "lbfgs" and not problem.is_smooth:
        raise ValueError(
            "solver='lbfgs' needs a smooth hinge: use 'cutting_plane' or 'sgd'."
        )
    return solver


def terms_of_batch(batch_size, problem, solver, n_batches):
    """The number of terms in a batch; "auto" makes `n_batches` for "sgd".

    Cutting planes have up to 500 batches, within limits of memory (numbers in the
    slopes) and time (products of features).
    """
    if batch_size != "auto":
        return batch_size
    if solver == "cutting_plane":
        by_time = max(10_000_000 // problem.size**2, 50)
        n_batches = max(min(by_time, 4_000_000 // problem.size, 500), 1)
    return max(1, problem.n_terms // n_batches)


class HingeEstimator:
    """Mixin of linear models of a structured hinge: reads, standardises and solves."""

    alpha: Any
    solver: str
    tol: float
    max_iter: int
    verbose: int
    alpha_: float
    solver_: str
    objective_: float
    dual_gap_: float
    n_iter_: int

    def _is_standardised(self):
        return self.standardize  # type: ignore[attr-defined]  # a parameter of the estimator

    def _validate_X(self, X, *, reset):
        """Validate X; refuse features out of range."""
        X = read_features(self, X, reset=reset)
        if reset:  # unscaled features enter products of a higher degree
            check_range(X, self, degree=2 if self._is_standardised() else 16)
        return X

    def _standardised(self, X, weights, *, centre, lists=None):
        """The standardised copy of X, by the `Scaling` of the first call, and its shift.

        `centre` says whether means are subtracted: the hinge must ignore a shift of the
        scores, or have an intercept. Sparse X stays sparse: the `HingeProblem`
        subtracts the shift.
        """
        if not hasattr(self, "_scaling_"):
            moments = Moments.of(
                X, weights / weights.max(), None if lists is None else lists.index
            )
            mean, scale = np.zeros(X.shape[1]), np.ones(X.shape[1])
            if self._is_standardised():
                mean, scale = moments.mean if centre else mean, moments.scale
            self._scaling_ = Scaling(mean, scale)
            self._size_ = moments.mean_square, moments.n_lists * weights.max()
        scaling = self._scaling_
        shift = scaling.mean / scaling.scale if sparse.issparse(X) else 0.0
        return standardise(X, scaling), shift

    def _penalty(self, problem, curvature):
        """`alpha`, or the default penalty over the objective at zero weights.

        Costs times c need weights times c: the penalty has to fall by the factor c.
        """
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        alpha = chosen_alpha("auto", *self._size_, curvature)
        if self.solver == "sgd":  # the first step has the length 1 / sqrt(alpha)
            alpha = max(alpha, 1e-3)
        value = float(problem.at_zero.value)
        return min(float(alpha) / (value if value > 0 else 1.0), LARGEST)

    def _solve(
        self, problem, alpha, *, batch_size="auto", n_batches=100, random_state=None
    ):
        """Minimise the objective; sets the diagnostics of the solver and returns the weights."""
        rng, solver = (
            check_random_state(random_state),
            chosen_solver(self.solver, problem),
        )
        size = terms_of_batch(batch_size, problem, solver, n_batches)
        descent = Descent(problem.size) if solver == "sgd" else None
        settings = {"alpha": alpha, "tol": self.tol, "max_iter": self.max_iter}
        settings["report"] = self._report
        if solver == "lbfgs":
            fit = smoothed(problem, **settings)
        elif solver == "cutting_plane":
            fit = cutting_planes(problem, problem.partition(size, rng), **settings)
        else:
            fit = descend(problem, descent, problem.batches(size, rng), rng, **settings)
        self.alpha_, self.solver_, self._descent_ = alpha, solver, descent
        self.objective_, self.dual_gap_ = float(fit.objective), float(fit.gap)
        self.n_iter_ = max(fit.n_iter, 1)
        converged = fit.converged
        if (
            descent is not None
        ):  # steps ignore the gap; they fail if zero weights are better
            converged = fit.w.any() or not descent.mean.any()
        if not converged:
            scale = (
                ""
                if self._is_standardised()
                else ", or bring the features to one scale"
            )
            warn(
                f"{solver} stopped after {fit.n_iter} iterations with a duality gap of "
                f"{fit.gap:.2g} at an objective of {fit.objective:.4g}, above tol={self.tol:g} of "
                f"it at zero weights: increase max_iter, tol or alpha{scale}.",
                ConvergenceWarning,
            )
        return fit.w

    def _step_more(self, problem, *, batch_size, n_batches=100):
        """Continue earlier calls with one pass of steps over more rows; returns the weights."""
        descent = copy(
            getattr(self, "_descent_", None)
        )  # an error must not change the state
        if descent is None:
            descent, self.n_iter_ = Descent(problem.size), 0
        alpha, size = (
            float(self.alpha),
            terms_of_batch(batch_size, problem, "sgd", n_batches),
        )
        for batch in problem.batches(size):
            value = descent.step(batch, alpha, problem.n_terms)
        w = descent.mean
        self.alpha_, self.solver_, self._descent_ = alpha, "sgd", descent
        self.objective_, self.dual_gap_ = (
            float(value + alpha / 2.0 * (w @ w)),
            float("nan"),
        )
        self.n_iter_ += 1
        return w

    def _report(self, n_iter, objective, gap=None):
        """Print progress after every `verbose` iterations."""
        if self.verbose and n_iter % self.verbose == 0:
            certificate = "" if gap is None else f", gap {gap:.2g}"
            say(self, f"iteration {n_iter}: objective {objective:.6g}{certificate}")
