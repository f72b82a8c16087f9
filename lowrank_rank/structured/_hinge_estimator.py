"""What the estimators of structured hinges share: parameters, standardisation, penalty, solvers.

The functions take the estimator, whose parameters they read and whose attributes they set.
"""

from copy import copy
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils import check_random_state

from .._arrays import check_size, mean_square
from .._base import linear_scores, read_features
from .._blocks import check_has_ids, cut_list
from .._lists import same_id
from .._parameters import count, number, random_state, verbosity
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


def read_scaled(estimator, X, *, reset) -> np.ndarray | sparse.csr_matrix:
    """Validate X; refuse features out of range."""
    X = read_features(estimator, X, reset=reset)
    if reset:  # features as they are enter products of a higher degree
        mean_square(X, degree=2 if estimator.standardize else 16)
    return X


def row_order(X, y, index=None):
    """An order of the rows, within each list of `index`, by their contents alone.

    The rows are sorted by a random projection, which is equal for equal rows, and then by labels.
    Copies, the order of the rows and the units of columns then change no tie, and no batch.
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
    wrong = np.flatnonzero(weights != lists.spread(first))
    if len(wrong):
        which = lists.index[wrong[0]]
        raise ValueError(
            f"sample_weight differs within the {what} {lists.ids.tolist()[which]!r} "
            f"({first[which]:g} and {weights[wrong[0]]:g}): the hinge belongs to a whole {what}, "
            f"whose rows share one weight.{remedy}"
        )
    return first


def check_continues(estimator, lists, what="list", would_be="one list"):
    """Refuse rows without ids after rows with ids, and a list that the call before began."""
    check_has_ids(estimator._has_qid_, lists.ids is not None, would_be)
    first = None if lists.ids is None else lists.ids[lists.ends[0]]
    if first is not None and same_id(first, estimator._ends_[1]):
        raise cut_list(first, what)


# Features and penalty --------------------------------------------------------------


def standardised(estimator, X, weights, *, centre, lists=None):
    """The standardised copy of X, by the `Scaling` of the first call, and its shift.

    `centre` says whether means are subtracted: the hinge must ignore a shift of the scores, or have
    an intercept. Sparse X stays sparse: the `HingeProblem` subtracts the shift.
    """
    if not hasattr(estimator, "_scaling_"):
        codes = None if lists is None else lists.index
        moments = Moments.of(X, weights / weights.max(), codes)
        p = X.shape[1]
        mean = moments.mean if estimator.standardize and centre else np.zeros(p)
        scaling = Scaling(mean, moments.scale if estimator.standardize else np.ones(p))
        estimator._scaling_, estimator._mean_square_ = scaling, moments.mean_square
    scaling = estimator._scaling_
    shift = scaling.mean / scaling.scale if sparse.issparse(X) else 0.0
    return standardise(X, scaling), shift


def penalty(estimator, problem, kind, n_rows):
    """`alpha`, or the formula of `kind` over the objective at zero weights.

    Costs times c need weights times c: the penalty has to fall by the factor c.
    """
    if not isinstance(estimator.alpha, str):
        return float(estimator.alpha)
    alpha = chosen_alpha("auto", kind, estimator._mean_square_, n_rows)
    if estimator.solver == "sgd":  # the first step has the length 1 / sqrt(alpha)
        alpha = max(alpha, 1e-3)
    value = problem.at_zero.value
    return alpha / (value if value > 0 else 1.0)


# Solvers ----------------------------------------------------------------------------


def takes_steps(estimator):
    """For `available_if`: whether the solver takes steps, with a number as penalty."""
    if estimator.solver != "sgd" or isinstance(estimator.alpha, str):
        raise AttributeError(
            "partial_fit makes one pass of subgradient steps over the rows of a call: set "
            f"solver='sgd' and a number for alpha. This {type(estimator).__name__} has "
            f"solver={estimator.solver!r} and alpha={estimator.alpha!r}."
        )
    return True


def batch_size(estimator, problem, solver, n_batches):
    """The number of terms in a batch; "auto" makes `n_batches` for "sgd".

    Cutting planes have up to 500 batches, within limits of memory (numbers in the slopes)
    and time (products of features).
    """
    if estimator.batch_size != "auto":
        return estimator.batch_size
    if solver == "cutting_plane":
        by_time = max(10_000_000 // problem.size**2, 50)
        n_batches = max(min(by_time, 4_000_000 // problem.size, 500), 1)
    return max(1, problem.n_terms // n_batches)


def solve(estimator, problem, alpha, n_batches=100):
    """Minimise the objective; sets the attributes of the solver and returns the weights."""
    estimator.alpha_, solver = alpha, estimator.solver
    if solver == "auto":
        solver = "lbfgs" if problem.is_smooth else "cutting_plane"
    elif solver == "lbfgs" and not problem.is_smooth:
        raise ValueError(
            "solver='lbfgs' needs a smooth approximation, and this hinge has none: use "
            "'cutting_plane' or 'sgd'."
        )
    rng = check_random_state(getattr(estimator, "random_state", None))  # one batch needs none
    settings = {"alpha": alpha, "tol": estimator.tol, "max_iter": estimator.max_iter}
    settings["report"] = partial(report, estimator)
    size = batch_size(estimator, problem, solver, n_batches)
    estimator._descent_ = Descent(problem.size) if solver == "sgd" else None
    if solver == "lbfgs":
        fit = smoothed(problem, **settings)
    elif solver == "cutting_plane":
        fit = cutting_planes(problem, problem.partition(size, rng), **settings)
    else:
        fit = descend(problem, estimator._descent_, problem.batches(size, rng), rng, **settings)
    estimator.solver_, estimator.n_iter_ = solver, max(fit.n_iter, 1)
    estimator.objective_, estimator.dual_gap_ = float(fit.objective), float(fit.gap)
    converged = fit.converged
    if solver == "sgd":  # its steps fail if zero weights are better; they ignore the gap
        converged = fit.w.any() or not estimator._descent_.mean.any()
    if not converged:
        scale = "" if estimator.standardize else ", or bring the features to one scale"
        warn(
            f"{solver} stopped after {fit.n_iter} iterations with a duality gap of "
            f"{fit.gap:.2g} at an objective of {fit.objective:.4g}, above tol={estimator.tol:g} "
            f"times its value at zero weights: increase max_iter, tol or alpha{scale}.",
            ConvergenceWarning,
        )
    return fit.w


def step_more(estimator, problem, n_batches=100):
    """Continue earlier calls with one pass of steps over more rows."""
    alpha = estimator.alpha_ = float(estimator.alpha)
    if getattr(estimator, "_descent_", None) is None:
        estimator._descent_, estimator.n_iter_ = Descent(problem.size), 0
    descent = copy(estimator._descent_)  # an error below must not change the state
    for part in problem.batches(batch_size(estimator, problem, "sgd", n_batches)):
        value = descent.step(part, alpha, problem.n_terms)
    estimator._descent_, estimator.solver_ = descent, "sgd"
    estimator.n_iter_ += 1
    w = descent.mean
    estimator.objective_ = float(value + alpha / 2.0 * (w @ w))
    estimator.dual_gap_ = float("nan")
    return w


def report(estimator, n_iter, objective, gap=None):
    """Print progress after every `verbose` iterations."""
    if estimator.verbose and n_iter % estimator.verbose == 0:
        certificate = "" if gap is None else f", gap {gap:.2g}"
        name = type(estimator).__name__
        print(f"[{name}] iteration {n_iter}: objective {objective:.6g}{certificate}")
