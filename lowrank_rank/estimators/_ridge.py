"""The default regression: ridge on an encoded batch, by statistics or by iterations."""

import warnings
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..solvers import RidgeStatistics, solve_iteratively

#: Features above which solver="auto" iterates: the statistics are p x p, 128 MiB here.
MOST_FEATURES_GRAM = 4000
SOLVERS = ("auto", "gram", "lsqr")


class LinearFit(NamedTuple):
    """Coefficients (d, p) and intercept (d,) of a linear regression, and how they were found."""

    coef: np.ndarray
    intercept: np.ndarray
    solver: str | None = None
    n_iter: int = 1


def chosen_solver(solver, batch):
    """What "auto" stands for; missing labels need a matrix for each coordinate."""
    if solver != "auto":
        return solver
    matrices = batch.targets.shape[1] if np.isnan(batch.targets).any() else 1
    return "lsqr" if matrices * batch.X.shape[1] ** 2 > MOST_FEATURES_GRAM**2 else "gram"


def statistics_of(batch):
    """Sufficient statistics of an encoded batch, its targets without the common factor."""
    return RidgeStatistics.of_batch(batch.X, batch.targets, batch.weights, batch.codes)


def solve(statistics, totals, alpha):
    """The exact minimiser for the sums of all batches."""
    coef, intercept = statistics.solve(alpha / totals.weight_factor)
    factor = totals.target_factor
    return LinearFit(coef.T * factor, intercept * factor, "gram")


def iterate(batch, alpha, tol, max_iter):
    """The same minimiser without any matrix of n_features x n_features."""
    coef, intercept, n_iter, converged = solve_iteratively(
        batch.X,
        batch.targets,
        batch.weights,
        batch.codes,
        alpha=alpha / batch.totals.weight_factor,
        tol=tol,
        max_iter=max_iter,
    )
    if not converged.all():
        warnings.warn(
            f"LSQR stopped after {n_iter.max()} iterations before it reached tol={tol:g}: increase "
            "max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    factor = batch.totals.target_factor
    return LinearFit(coef.T * factor, intercept * factor, "lsqr", int(n_iter.max()))
