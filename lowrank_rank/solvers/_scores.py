"""Linear scores under a convex surrogate: one smooth objective for L-BFGS.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = (X - mean) B' + b

The rows of B belong to the d columns of the scores: 1 for documents, r for fixed items. The
intercepts b are not penalised. The surrogate comes as a function of flat scores. The mean is
subtracted from the scores, not from X: sparse X stays sparse.
"""

import numpy as np
from scipy.optimize import minimize, root

_POLISHING = 5  # Newton steps


def fit_scores(X, evaluate, start, *, mean, alpha, intercept, tol, max_iter, callback=None):
    """Minimiser by L-BFGS.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    evaluate : callable
        ``evaluate(scores)`` with scores (n, d) returns the objective's first part and its
        gradient (n, d).
    start : ndarray of shape (d, p + 1)
        Coefficients and intercepts.
    mean : ndarray of shape (p,)
    alpha : float
    intercept : bool
        Whether intercepts are fitted.
    tol : float
        Largest entry of the gradient at the solution, over that at B = 0, b = 0.
    max_iter : int
    callback : callable or None
        ``callback(iteration, objective, gradient)``.

    Returns
    -------
    theta : ndarray of shape (d, p + 1)
    objective : float
    n_iter : int
    slope : float
        Largest entry of the gradient, over that at 0.
    """
    shape, last = start.shape, {}

    def value_and_gradient(theta):
        coef, shift = theta[:, :-1], theta[:, -1]
        value, by_score = evaluate(np.asarray(X @ coef.T) + (shift - coef @ mean))
        sums = by_score.sum(axis=0)
        gradient = np.zeros(shape)
        gradient[:, :-1] = np.asarray(X.T @ by_score).T - np.outer(sums, mean) + alpha * coef
        if intercept:
            gradient[:, -1] = sums
        return value + 0.5 * alpha * (coef**2).sum(), gradient

    size = np.abs(value_and_gradient(np.zeros(shape))[1]).max() or 1.0

    def scaled(flat):
        value, gradient = value_and_gradient(flat.reshape(shape))
        last.update(value=value, slope=np.abs(gradient).max() / size)
        return value / size, gradient.ravel() / size

    iterations = 0

    def report(_):
        nonlocal iterations
        iterations += 1
        if callback is not None:
            callback(iterations, last["value"], last["slope"])

    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0, "maxcor": 30}
    found = minimize(
        scaled, start.ravel(), jac=True, method="L-BFGS-B", callback=report, options=options
    )
    theta = found.x
    if found.nit < max_iter and np.abs(found.jac).max() > tol:
        theta = _polished(lambda flat: scaled(flat)[1], found.x, found.jac, tol)
    value, gradient = scaled(theta)
    return theta.reshape(shape), float(value * size), int(found.nit), float(np.abs(gradient).max())


def _polished(gradient_of, theta, gradient, tol):
    """Newton steps on the gradient alone, from where the objective no longer changes.

    The objective is flat to its last digit where the gradient is still 1e-8 of its size.
    """
    options = {"fatol": tol, "maxiter": _POLISHING}
    try:
        refined = root(gradient_of, theta, method="krylov", options=options)
    except ValueError:  # SciPy gives up on gradients that rounding has made meaningless
        return theta
    return refined.x if np.abs(refined.fun).max() < np.abs(gradient).max() else theta
