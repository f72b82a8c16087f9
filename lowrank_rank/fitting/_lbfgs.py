"""L-BFGS for smooth losses, by SciPy, and Newton steps for the last digits."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize, root


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
