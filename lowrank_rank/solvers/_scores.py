"""Linear scores under a convex surrogate: one smooth objective for L-BFGS.

    minimise  sum_q surrogate_q(scores) / total + alpha / 2 |B|^2,   scores = X B' + b

The rows of B belong to the d columns of the scores: 1 for documents, r for fixed items. The
intercepts b are not penalised. The surrogate comes as a function of flat scores.
"""

import numpy as np
from scipy.optimize import minimize, root

_EXACT = 1e-11  # gradient that is zero but for rounding
_POLISHING = 5  # Newton steps


def fit_scores(X, evaluate, start, *, alpha, intercept, tol, max_iter, callback=None):
    """Minimiser by L-BFGS.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    evaluate : callable
        ``evaluate(scores)`` with scores (n, d) returns the objective's first part and its
        gradient (n, d).
    start : ndarray of shape (d, p + 1)
        Coefficients and intercepts.
    alpha : float
    intercept : bool
        Whether intercepts are fitted.
    tol : float
        Largest entry of the gradient at the solution.
    max_iter : int
    callback : callable or None
        ``callback(iteration, objective, gradient)``.

    Returns
    -------
    theta : ndarray of shape (d, p + 1)
    objective : float
    n_iter : int
    slope : float
        Largest entry of the gradient.
    """
    shape = start.shape
    last = {}

    def objective(flat):
        theta = flat.reshape(shape)
        coef, shift = theta[:, :-1], theta[:, -1]
        value, by_score = evaluate(np.asarray(X @ coef.T) + shift)
        gradient = np.empty(shape)
        gradient[:, :-1] = np.asarray(X.T @ by_score).T + alpha * coef
        gradient[:, -1] = by_score.sum(axis=0) if intercept else 0.0
        last.update(value=value + 0.5 * alpha * (coef**2).sum(), slope=np.abs(gradient).max())
        return last["value"], gradient.ravel()

    iterations = 0

    def report(_):
        nonlocal iterations
        iterations += 1
        if callback is not None:
            callback(iterations, last["value"], last["slope"])

    result = minimize(
        objective,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={
            "maxiter": max_iter,
            "maxfun": 20 * max_iter,
            "gtol": tol,
            "ftol": 0.0,
            "maxcor": 30,
        },
    )
    theta, gradient = result.x, result.jac
    if result.nit < max_iter and np.abs(gradient).max() > _EXACT:
        theta, gradient = _polished(lambda flat: objective(flat)[1], theta, gradient)
    slope = float(np.abs(gradient).max())
    return theta.reshape(shape), float(result.fun), int(result.nit), slope


def _polished(gradient_of, theta, gradient):
    """Newton steps on the gradient alone, from where the objective no longer changes.

    The objective is flat to its last digit where the gradient is still 1e-8 of its size.
    """
    refined = root(
        gradient_of, theta, method="krylov", options={"fatol": _EXACT, "maxiter": _POLISHING}
    )
    better = np.abs(refined.fun).max() < np.abs(gradient).max()
    return (refined.x, refined.fun) if better else (theta, gradient)
