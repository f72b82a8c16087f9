"""Linear scores of rows, the gradient of their losses, and L-BFGS by SciPy."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize, root
from scipy.sparse import issparse

from ..lists._lists import slices
from ._statistics import unscaled

# The problem ------------------------------------------------------------------------


class LinearProblem:
    """Linear scores ``(x - mean) / scale W' + b`` of the rows of X.

    A subclass adds a loss of the scores: it evaluates the loss at `scores`, and its
    slopes in the scores become the `gradient` in the weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Rows as given, or standardised. They are neither copied nor shifted.
    n_columns : int, default=1
        Number of scores of a row.
    intercept : bool, default=False
        Whether there are intercepts b. They are the last column of the weights, whose
        shape is (n_columns, n_features + 1), or flat.
    mean, scale : ndarray of shape (n_features,) or float
        What standardises X.
    """

    def __init__(self, X, n_columns=1, *, intercept=False, mean=0.0, scale=1.0):
        n_features = X.shape[1]
        self.X = X
        self.n_columns = n_columns
        self.intercept = intercept
        self.size = n_columns * (n_features + intercept)
        self.mean = np.broadcast_to(mean, n_features)
        self.scale = np.broadcast_to(scale, n_features)
        is_centred = not np.any(mean)
        has_unit_scale = bool(np.all(np.equal(scale, 1.0)))
        self.is_standardised = is_centred and has_unit_scale

    def split(self, w):
        """Coefficients (n_columns, n_features) and intercepts (n_columns,)."""
        matrix = w.reshape(self.n_columns, -1)
        if self.intercept:
            return matrix[:, :-1], matrix[:, -1]
        return matrix, np.zeros(self.n_columns)

    def scores(self, w):
        """Scores at the weights, shape (n_rows, n_columns)."""
        coef, intercept = self.split(w)
        if not self.is_standardised:
            coef, intercept = unscaled(coef, intercept, self.mean, self.scale)
        # Scores are column by column in memory: losses of columns are several times
        # faster.
        parts = []
        for _, X in self._double_rows():
            parts.append(X @ coef.T if issparse(X) else (coef @ X.T).T)
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self.intercept or not self.is_standardised:
            scores += intercept  # in place: a copy takes longer than the product
        return scores

    def gradient(self, slopes):
        """Gradient in the weights, flat, of a function with these slopes in scores."""
        parts = []
        for rows, X in self._double_rows():
            parts.append((X.T @ slopes[rows]).T if issparse(X) else slopes[rows].T @ X)
        by_coef = parts[0] if len(parts) == 1 else sum(parts)
        if not self.is_standardised:
            # sum_i slope_i (x_i - mean) / scale
            by_coef = by_coef - np.outer(slopes.sum(axis=0), self.mean)
            by_coef /= self.scale
        if not self.intercept:
            return by_coef.ravel()
        gradient = np.empty((self.n_columns, self.X.shape[1] + 1))
        gradient[:, :-1] = by_coef
        gradient[:, -1] = slopes.sum(axis=0)
        return gradient.ravel()

    def _double_rows(self):
        """Iterate over slices and their rows as doubles; all at once if X is double."""
        if self.X.dtype == np.float64:
            return [(slice(None), self.X)]
        blocks = slices(self.X.shape[0], 2048)
        return ((rows, self.X[rows].astype(np.float64)) for rows in blocks)


# The solver -------------------------------------------------------------------------


def lbfgs(
    objective: Callable[..., Any],
    start: np.ndarray,
    *,
    tol: float,
    max_iter: int,
    report: Callable[..., Any] | None = None,
    memory: int = 10,
    polish: bool = False,
) -> tuple[np.ndarray, float, float, int]:
    """Minimise a smooth function, ``objective(theta)`` with its value and gradient.

    The solver stops when no entry of the gradient is larger than `tol`, or when
    ``report(n_iter, theta, value, gradient_norm)``, called after each iteration,
    returns True. `memory` earlier gradients estimate the curvature. `polish` continues
    with Newton steps on the gradient once the value no longer changes: it is flat to
    its last digit where the gradient is still 1e-8 of its size.

    Returns the minimiser, in the shape of the start, the objective and the largest
    absolute entry of the gradient there, and the number of iterations.
    """
    shape = np.shape(start)
    n_iter = 0
    latest = (np.inf, np.inf)  # value and largest entry of the gradient

    def flat_objective(theta):
        nonlocal latest
        # The line search rejects points that overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            value, gradient = objective(theta.reshape(shape))
        latest = float(value), float(np.abs(gradient).max())
        return value, np.ravel(gradient)

    def callback(theta):
        nonlocal n_iter
        n_iter += 1
        if report is None:
            return
        if report(n_iter, theta.copy().reshape(shape), *latest):
            raise StopIteration

    result = minimize(
        flat_objective,
        np.ravel(start),
        jac=True,
        method="L-BFGS-B",
        callback=callback,
        options={
            "gtol": tol,
            "ftol": 0,
            "maxcor": memory,
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
        },
    )
    theta = result.x
    value = float(result.fun)
    largest = float(np.abs(result.jac).max())
    if polish and n_iter < max_iter and largest > tol:
        theta = _polished(lambda w: flat_objective(w)[1], theta, largest, tol)
        flat_objective(theta)
        value, largest = latest
    return theta.reshape(shape), value, largest, n_iter


def _polished(gradient, theta, largest, tol):
    """Take Newton-Krylov steps on the gradient, whose largest entry they lower.

    SciPy's estimate of the curvature starts anew up to three times: what it learnt far
    from the minimum misleads it near the minimum. Smaller differences than 1e-6 drown
    in the rounding of the gradient.
    """
    options = {"fatol": tol, "maxiter": 10, "jac_options": {"rdiff": 1e-6}}
    for _ in range(3):
        try:
            with np.errstate(all="ignore"):  # of steps that are not taken
                refined = root(gradient, theta, method="krylov", options=options)
        except (ValueError, ArithmeticError):
            # The gradient is rounding, or 0 altogether.
            break
        refined_largest = np.abs(refined.fun).max()
        if not refined_largest < largest:
            break
        theta = refined.x
        largest = refined_largest
        if largest <= tol:
            break
    return theta
