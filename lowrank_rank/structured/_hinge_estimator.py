"""Shared code of the estimators of structured hinges: parameters, rows, solvers."""

from copy import copy
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import check_random_state

from .._base import SetsParameters, linear_scores
from .._blocks import check_has_ids, refuse_cut_list
from ..fitting._statistics import Moments, chosen_alpha, shift_of, standardise, unscaled
from ..validation._arrays import LARGEST, check_range, check_size
from ..validation._check import refuse
from ..validation._checks_of_hinges import (
    CHECKS_OF_COPIES,
    CHECKS_OF_HINGE_SOLVERS,
    CHECKS_OF_WEIGHTS_OF_LISTS,
)
from ..validation._findings import found
from ..validation._parameters import count, number, random_state, say, verbosity
from ..validation._read import read_features
from ._solvers import Descent, cutting_planes, descend, published_sgd, smoothed

HINGE_PARAMETERS = {
    "alpha": ["auto", number(above=0)],
    "standardize": [bool],
    "solver": ["auto", "lbfgs", "cutting_plane", "sgd"],
    "radius": [number(above=0), None],
    "tol": [number(above=0)],
    "max_iter": [count()],
    "batch_size": [count(), "auto"],
    "fit_intercept": [bool],
    "random_state": [random_state],
    "verbose": [verbosity],
}


# Rows and weights -------------------------------------------------------------------


def row_order(X, y, index=None):
    """Sort the rows, within each list of `index`, by their contents alone.

    The rows are sorted by a random projection, which is equal for equal rows, and then
    by labels. Copies, the order of the rows and the units of columns then change no
    tie, and no batch.
    """
    largest = np.maximum(MaxAbsScaler().fit(X).max_abs_, 1e-300)
    direction = np.random.default_rng(0).normal(size=(1, X.shape[1])) / largest
    projection = linear_scores(X, direction, 0.0)[:, 0]
    if index is None:
        return np.lexsort((y, projection))
    return np.lexsort((y, projection, index))


def row_codes(X, y):
    """Return a number for each distinct row with its label, by `row_order`."""
    order = row_order(X, y)
    X = X[order]
    y = y[order]
    differs = X[1:] != X[:-1]
    if sparse.issparse(X):
        differs = np.asarray(differs.sum(axis=1)).ravel() > 0
    else:
        differs = differs.any(axis=1)
    is_new = differs | (y[1:] != y[:-1])
    codes = np.empty(len(y), np.intp)
    codes[order] = np.cumsum(np.append(False, is_new))
    return codes


def copies_of_rows(X, weights, otherwise=""):
    """Return indices of the rows of X, each as often as its weight says.

    Fractions and more copies than fit into memory are refused.
    """
    refuse(CHECKS_OF_COPIES, weights=weights, words={"otherwise": otherwise})
    n_copies = weights.sum()
    # At least two copies of X, and vectors such as labels, scores and their order.
    n_bytes = 8.0 * (2 * X.shape[1] + 16) * n_copies
    check_size(f"{n_copies:g} copies of rows", n_bytes, "divide sample_weight")
    return np.repeat(np.arange(len(weights)), weights.astype(np.intp))


def weights_of_lists(weights, lists, what, otherwise=""):
    """Return the weight of each list; refuse lists whose rows have several weights."""
    weights = lists.group(weights)
    first = weights[lists.starts]
    refuse(
        CHECKS_OF_WEIGHTS_OF_LISTS,
        weights=weights,
        first=first,
        lists=lists,
        ids=lists.ids,
        words={"what": what, "otherwise": otherwise},
    )
    return first


def check_continues(has_qid, last_key, lists, what="list", would_be="one list"):
    """Refuse rows without ids after rows with ids, and the rest of an earlier list."""
    check_has_ids(has_qid, lists.ids is not None, would_be)
    if lists.ids is not None and lists.ends[0] == last_key:
        refuse_cut_list(lists.ids[lists.codes[0]], what)


# Solvers ----------------------------------------------------------------------------


def takes_steps(estimator):
    """Return whether the solver takes steps, with a number as penalty."""
    if estimator.solver != "sgd" or isinstance(estimator.alpha, str):
        raise AttributeError(
            "partial_fit makes one pass of subgradient steps: set solver='sgd' and a "
            f"number for alpha, not solver={estimator.solver!r} and "
            f"alpha={estimator.alpha!r}."
        )
    return True


def chosen_solver(solver, problem):
    """Choose the solver of "auto"; refuse L-BFGS for a hinge without a smooth form."""
    if solver == "auto":
        return "lbfgs" if problem.is_smooth else "cutting_plane"
    refuse(CHECKS_OF_HINGE_SOLVERS, solver=solver, problem=problem)
    return solver


def terms_of_batch(batch_size, problem, solver, n_batches):
    """Return the number of terms in a batch; "auto" makes `n_batches` for "sgd".

    Cutting planes have up to 500 batches, within limits of memory (numbers in the
    slopes) and time (products of features).
    """
    if batch_size != "auto":
        return batch_size
    if solver == "cutting_plane":
        by_time = max(10_000_000 // problem.size**2, 50)
        by_memory = 4_000_000 // problem.size
        n_batches = max(min(by_time, by_memory, 500), 1)
    return max(1, problem.n_terms // n_batches)


class HingeEstimator(SetsParameters):
    """Mixin of linear models of a structured hinge: reads, standardises and solves."""

    alpha: Any
    solver: str
    radius: float | None
    tol: float
    max_iter: int
    verbose: int
    alpha_: float
    solver_: str
    objective_: float
    dual_gap_: float
    n_iter_: int
    #: The mean and the unit of each feature in the first call; None before a fit.
    _feature_mean_: Any = None
    _feature_scale_: Any = None
    #: State of the subgradient steps.
    _descent_: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the estimator
        tags.input_tags.sparse = True
        return tags

    def _is_standardised(self):
        """Return whether features are divided by their standard deviation."""
        return self.standardize  # type: ignore[attr-defined]  # of the estimator

    def _validate_X(self, X, *, reset):
        """Validate X; refuse features out of range."""
        X = read_features(self, X, reset=reset)
        if reset:  # unscaled features enter products of a higher degree
            check_range(X, self, degree=2 if self._is_standardised() else 16)
        return X

    def _standardised(self, X, weights, *, centre, lists=None):
        """Return X standardised as in the first call, and its shift.

        `centre` says whether means are subtracted: the hinge must ignore a shift of the
        scores, or have an intercept. Sparse X stays sparse: the `HingeProblem`
        subtracts the shift.
        """
        if self._feature_scale_ is None:
            codes = None if lists is None else lists.index
            moments = Moments.of(X, weights / weights.max(), codes)
            mean = np.zeros(X.shape[1])
            scale = np.ones(X.shape[1])
            if self._is_standardised():
                scale = moments.scale
                if centre:
                    mean = moments.mean
            self._feature_mean_ = mean
            self._feature_scale_ = scale
            # The numbers m of features and n of lists in the default penalty.
            self._size_ = moments.n_features, moments.n_lists * weights.max()
        mean = self._feature_mean_
        scale = self._feature_scale_
        return standardise(X, mean, scale), shift_of(X, mean, scale)

    def _unscaled(self, coef, intercept):
        """Return coefficients and intercepts of the features as given."""
        return unscaled(coef, intercept, self._feature_mean_, self._feature_scale_)

    def _penalty(self, problem, curvature):
        """Return `alpha`, or the default penalty over the objective at zero weights.

        Costs times c need weights times c: the penalty has to fall by the factor c.
        """
        if not isinstance(self.alpha, str):
            return float(self.alpha)
        alpha = chosen_alpha("auto", *self._size_, curvature)
        if self.solver == "sgd":  # the first step has the length 1 / sqrt(alpha)
            alpha = max(alpha, 1e-3)
        at_zero = float(problem.at_zero.value)
        if at_zero <= 0.0:
            at_zero = 1.0
        return min(float(alpha) / at_zero, LARGEST)

    def _solve(
        self, problem, alpha, *, batch_size="auto", n_batches=100, random_state=None
    ):
        """Minimise the objective; set the diagnostics and return the weights."""
        rng = check_random_state(random_state)
        refuse(CHECKS_OF_HINGE_SOLVERS, radius=self.radius, solver=self.solver)
        if self.radius is not None:
            return self._take_published_steps(problem, rng)
        solver = chosen_solver(self.solver, problem)
        size = terms_of_batch(batch_size, problem, solver, n_batches)
        settings = {
            "alpha": alpha,
            "tol": self.tol,
            "max_iter": self.max_iter,
            "report": self._report,
        }
        descent = None
        if solver == "lbfgs":
            best = smoothed(problem, **settings)
            converged = best.converged
        elif solver == "cutting_plane":
            best = cutting_planes(problem, problem.partition(size, rng), **settings)
            converged = best.converged
        else:
            descent = Descent(problem.size)
            batches = problem.batches(size, rng)
            best = descend(problem, descent, batches, rng, **settings)
            # Steps ignore the gap. They fail if zero weights are better.
            converged = best.w.any() or not descent.mean.any()
        self.alpha_ = alpha
        self.solver_ = solver
        self.objective_ = float(best.objective)
        self.dual_gap_ = float(best.gap)
        self.n_iter_ = max(best.n_iter, 1)
        self._descent_ = descent
        if not converged:
            self._tell_of_gap(best)
        return best.w

    def _take_published_steps(self, problem, rng):
        """Return the mean weights of the SGD of section 17.2.5, without a penalty."""
        radius: Any = self.radius  # not None here
        w = published_sgd(problem, float(radius), self.max_iter, rng)
        self.alpha_ = 0.0
        self.solver_ = "published_sgd"
        self.objective_ = problem.worst(w).value
        self.dual_gap_ = float("nan")
        self.n_iter_ = self.max_iter
        self._descent_ = None
        return w

    def _tell_of_gap(self, best):
        """Warn that the solver did not converge."""
        remedy = ""
        if not self._is_standardised():
            remedy = ", or bring the features to one scale"
        found(
            "duality gap",
            f"{self.solver_} stopped after {best.n_iter} iterations with a duality gap "
            f"of {best.gap:.2g} at an objective of {best.objective:.4g}, above "
            f"tol={self.tol:g} of it at zero weights: increase max_iter, tol or alpha"
            f"{remedy}.",
            ConvergenceWarning,
        )

    def _step_more(self, problem, *, batch_size, n_batches=100):
        """Take one pass of steps over more rows; return the weights."""
        if self._descent_ is None:
            descent = Descent(problem.size)
            self.n_iter_ = 0
        else:
            descent = copy(self._descent_)  # an error must not change the state
        alpha = float(self.alpha)
        size = terms_of_batch(batch_size, problem, "sgd", n_batches)
        for batch in problem.batches(size):
            value = descent.step(batch, alpha, problem.n_terms)
        w = descent.mean
        self.alpha_ = alpha
        self.solver_ = "sgd"
        self.objective_ = float(value + alpha / 2.0 * (w @ w))
        self.dual_gap_ = float("nan")
        self.n_iter_ += 1
        self._descent_ = descent
        return w

    def _report(self, n_iter, objective, gap=None):
        """Print progress after every `verbose` iterations."""
        if self.verbose and n_iter % self.verbose == 0:
            gap_text = "" if gap is None else f", gap {gap:.2g}"
            say(self, f"iteration {n_iter}: objective {objective:.6g}{gap_text}")
