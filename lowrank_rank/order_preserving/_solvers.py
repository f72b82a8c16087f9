"""Linear scores under a surrogate over blocks of lists: what is summed, and the two solvers.

Blocks are those of `_blocks`: held in memory, read from disk for every sum, or on a cluster. What
a block gives to a sum stands here once, for all of them.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from .._blocks import Block, check_new_lists
from ..regression._statistics import Moments, SecondMoments
from ..solvers._polishing import polished
from ._problem import LabelSums, ScaledFeatures, ScoreProblem, Utilities

# Blocks -----------------------------------------------------------------------------


class Labelled(NamedTuple):
    """Rows of whole lists, read and encoded."""

    X: Any
    utilities: Utilities


class Part(NamedTuple):
    """A block that can be evaluated."""

    features: ScaledFeatures
    problem: ScoreProblem


@dataclass(frozen=True)
class Facts:
    """What has to be known of all blocks before one can be evaluated."""

    features: Moments
    labels: LabelSums
    is_single: bool  # whether all dense features are of float32

    def __add__(self, other):
        labels = self.labels + other.labels  # refuses blocks of different layouts
        is_single = self.is_single and other.is_single
        return Facts(self.features + other.features, labels, is_single)


@dataclass(frozen=True)
class Ends:
    """What is told of a solution; see `ScoreProblem`."""

    bound: np.ndarray
    above: np.ndarray

    def __add__(self, other):
        number = self.bound[1] + other.bound[1]
        bound = np.array([np.hypot(self.bound[0], other.bound[0]), number])
        return Ends(bound, self.above | other.above)


def read(block, ranker, loss, ids=None):
    """`Labelled` rows of a `Block`, by a ranker that knows the columns.

    A list of which an earlier block had rows, by the set `ids`, is refused.
    """
    X, y, qid, weights = Block.of(block)
    rows = ranker._read(X, y, qid, weights, loss, reset=False, whole=False)
    if ids is not None:
        check_new_lists(rows.lists.ids, ids)
    return labelled(rows, loss)


def labelled(rows, loss):
    """`Labelled` of checked rows."""
    return Labelled(rows.X, Utilities.of_labels(rows.y, rows.lists, rows.weights, loss))


def facts(block):
    """`Facts` of a `Labelled` block."""
    X, utilities = block
    is_documents = utilities.n_items is None
    codes = utilities.lists.ungroup(utilities.lists.index) if is_documents else None
    moments = Moments.of(X, utilities.row_weights, codes)
    is_single = not sparse.issparse(X) and X.dtype == np.float32
    return Facts(moments, LabelSums.of(utilities), is_single)


def prepare(block, scaling, known, kept, single=False):
    """`Part` of a `Labelled` block, with scaled features where it is kept; see `Scaling`."""
    features = scaling.features if kept else scaling.as_they_come
    return Part(features(block.X, single), ScoreProblem.of(block.utilities, known))


def value_and_gradient(part, theta):
    """Value of the surrogate over the total, and then its gradient by theta, in one vector."""
    value, by_score = part.problem.evaluate(part.features.scores(theta))
    return np.append(value, part.features.gradient(by_score))


def ends(part, loss, unit):
    """`Ends` of a part."""
    return Ends(part.problem.bound_norm(loss, unit), part.problem.above)


# Solvers ----------------------------------------------------------------------------


class Solution(NamedTuple):
    """Where a solver has stopped.

    Attributes
    ----------
    theta : ndarray of shape (d, p + 1)
        Coefficients and intercepts of scaled features.
    objective : float
    n_iter : int
    slope : float
        Largest entry of the gradient, over that at 0.
    """

    theta: np.ndarray
    objective: float
    n_iter: int
    slope: float


def penalty(theta, alpha):
    """That of coefficients and intercepts (d, p + 1); intercepts are free."""
    return 0.5 * alpha * (theta[:, :-1] ** 2).sum()


def second_moments(part, pairwise):
    """`SecondMoments` of a `Part` under a squared surrogate.

    In pairs of documents both sides are centred within lists; for fixed items only the targets
    of a row have to be, the same for all features.
    """
    features, problem = part
    targets, codes = problem.v, None
    if pairwise and problem.n_items is None:
        codes = problem.lists.ungroup(problem.lists.index)
    elif pairwise:
        targets = targets - targets.mean(axis=1, keepdims=True)
    found = SecondMoments.of(features.scaled_rows(), targets, problem.row_weights, codes)
    return replace(found, x_mean=found.x_mean - features.left)


def solve_ridge(parts, known, alpha):
    """Minimiser of the squared surrogates, ridge regression.

    Parameters
    ----------
    parts : Blocks of Part
    known : Known
    alpha : float
    """
    moments = parts.sum(second_moments, known.surrogate.is_pairwise)
    coef, intercept = (part.T for part in moments.solve(0.5 * alpha * known.total))
    is_pooled = moments.features.within is None
    theta = np.column_stack([coef, intercept if is_pooled else np.zeros(len(coef))])
    value = parts.sum(value_and_gradient, theta)[0] + penalty(theta, alpha)
    return Solution(theta, float(value), 1, 0.0)


def solve_lbfgs(parts, start, *, alpha, intercept, tol, max_iter, report, polish=True):
    """Minimiser by L-BFGS.

    Parameters
    ----------
    parts : Blocks of Part
        Read once for every evaluation.
    start : ndarray of shape (d, p + 1)
    alpha : float
    intercept : bool
        Whether intercepts are fitted; else they are 0.
    tol : float
        Largest entry of the gradient at the solution, over that at 0.
    max_iter : int
    report : callable
        ``report(iteration, objective, slope)``.
    polish : bool
        Whether to go on with Newton steps where the objective no longer changes.

    Returns
    -------
    Solution
    """
    shape, iterations = start.shape, 0
    last: dict[str, float] = {}
    free = np.append(np.ones(shape[1] - 1), float(intercept))

    def objective(theta):
        found = parts.sum(value_and_gradient, theta)
        value, gradient = float(found[0]), found[1:].reshape(shape)
        gradient[:, :-1] += alpha * theta[:, :-1]
        return value + penalty(theta, alpha), free * gradient

    with np.errstate(over="ignore", invalid="ignore"):
        at_zero = objective(np.zeros(shape))
    size = np.abs(at_zero[1]).max() or 1.0
    if not np.isfinite([at_zero[0], size]).all():
        raise ValueError(
            "The surrogate overflows where all scores are 0: bring the grades to a smaller scale."
        )

    def scaled(flat):
        with np.errstate(over="ignore", invalid="ignore"):  # a step too long is not taken
            value, gradient = objective(flat.reshape(shape)) if flat.any() else at_zero
        last.update(value=value, slope=np.abs(gradient).max() / size)
        return value / size, gradient.ravel() / size

    def callback(_):
        nonlocal iterations
        iterations += 1
        report(iterations, last["value"], last["slope"])

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0, "maxcor": 30}
    first = (free * start).ravel()
    found = minimize(scaled, first, jac=True, method="L-BFGS-B", callback=callback, options=options)
    theta, value, gradient = found.x, found.fun, found.jac
    if polish and found.nit < max_iter and np.abs(gradient).max() > tol:
        theta = polished(lambda flat: scaled(flat)[1], theta, gradient, tol)
        value, gradient = scaled(theta)
    slope = float(np.abs(gradient).max())
    return Solution(theta.reshape(shape), float(value * size), int(found.nit), slope)
