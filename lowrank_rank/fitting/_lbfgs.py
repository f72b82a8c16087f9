"""L-BFGS: the one call of ``scipy.optimize.minimize`` for smooth losses, and its last digits."""

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
    n_iter, point, latest = 0, np.ravel(start), (np.inf, np.inf)

    def flat(theta):
        nonlocal latest
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # the line search rejects such points
            value, gradient = objective(theta.reshape(shape))
        latest = float(value), float(np.abs(gradient).max())
        return value, np.ravel(gradient)

    def callback(theta):
        nonlocal n_iter, point
        n_iter, point = n_iter + 1, theta.copy()
        if report is not None and report(n_iter, point.reshape(shape), *latest):
            raise StopIteration

    options = {"gtol": tol, "ftol": 0, "maxcor": memory}
    options |= {"maxiter": max_iter, "maxfun": 20 * max_iter}
    result = minimize(
        flat, point, jac=True, method="L-BFGS-B", callback=callback, options=options
    )
    theta, value, largest = result.x, float(result.fun), float(np.abs(result.jac).max())
    if polish and n_iter < max_iter and largest > tol:
        # Newton-Krylov steps on the gradient. SciPy's estimate of the curvature starts
        # anew up to three times: what it learnt far from the minimum misleads it near
        # the minimum. Smaller differences than 1e-6 drown in the rounding of the
        # gradient.
        options = {"fatol": tol, "maxiter": 10, "jac_options": {"rdiff": 1e-6}}
        for _ in range(3):
            try:
                with np.errstate(all="ignore"):  # of steps that are not taken
                    refined = root(
                        lambda w: flat(w)[1], theta, method="krylov", options=options
                    )
            except (
                ValueError,
                ArithmeticError,
            ):  # the gradient is rounding, or 0 altogether
                break
            size = np.abs(refined.fun).max()
            if not size < largest:
                break
            theta, largest = refined.x, size
            if largest <= tol:
                break
        flat(theta)
        value, largest = latest
    return theta.reshape(shape), value, largest, n_iter
