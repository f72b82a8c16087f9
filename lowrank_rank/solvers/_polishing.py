"""Newton steps that take the gradient of a smooth function to its last digits."""

import numpy as np
from scipy.optimize import root

_STEPS, _STARTS = 10, 3  # a new start forgets what was learnt of the curvature far away
#: Of their differences, relative to theta: a smaller one drowns in the rounding of the gradient.
_DIFFERENCE = 1e-6


def polished(gradient_of, theta, gradient, tol):
    """Newton steps on the gradient alone, from where the function itself no longer changes.

    It is flat to its last digit where the gradient is still 1e-8 of its size.

    Parameters
    ----------
    gradient_of : callable
        ``gradient_of(theta)``, shape (n,).
    theta : ndarray of shape (n,)
        Near a minimum.
    gradient : ndarray of shape (n,)
        There.
    tol : float
        Largest entry to end with.

    Returns
    -------
    ndarray of shape (n,)
        theta itself where no step makes the largest entry smaller.
    """
    options = {"fatol": tol, "maxiter": _STEPS, "jac_options": {"rdiff": _DIFFERENCE}}
    for _ in range(_STARTS):
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # a step too long is not taken
                refined = root(gradient_of, theta, method="krylov", options=options)
        # SciPy gives up on gradients that rounding has made meaningless, or 0 altogether.
        except (ValueError, ArithmeticError):
            break
        if not np.abs(refined.fun).max() < np.abs(gradient).max():
            break
        theta, gradient = refined.x, refined.fun
        if np.abs(gradient).max() <= tol:
            break
    return theta
