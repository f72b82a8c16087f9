"""Cutting planes for a convex surrogate of one list (Joachims 2005; SVMperf).

    minimise  (penalty / 2) |w|^2 + surrogate(w) / k

Each round adds the surrogate's tangent at the current w, from one sort, and minimises the
penalty plus the largest of the tangents, a quadratic program over a simplex. Its value is a
lower bound and the best w an upper one: their gap is the certificate. Tangents that the
program gives no share are dropped, which does not lower the bound.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from ._batches import Rule, best_first


class CuttingPlaneFit(NamedTuple):
    """The best weights, gap to the lower bound, and precision at the top of each round."""

    weights: np.ndarray
    gap: float
    curve: list
    converged: bool


def cutting_plane(batch, surrogate, *, penalty, tol, max_iter, report=None):
    """Minimise until the duality gap is at most tol max(1, |objective|), or for max_iter rounds.

    Parameters
    ----------
    batch : ListBatch
        All rows.
    surrogate : PrecisionSurrogate
        A convex one.
    penalty : float
        > 0.
    tol : float
    max_iter : int
    report : callable or None
        ``report(n_round, precision)``.

    Returns
    -------
    CuttingPlaneFit
    """
    rule = Rule(surrogate, perceptron=False)
    weights = np.zeros(batch.above.shape[1])
    slopes, offsets, shares = np.zeros((0, len(weights))), np.zeros(0), np.zeros(0)
    best, best_value, lower, curve = weights, np.inf, -np.inf, []
    for n_round in range(1, max_iter + 1):
        value, slope, precision = _tangent(batch, weights, rule)
        curve.append(float(precision))
        objective = penalty / 2 * (weights @ weights) + value
        if objective < best_value:
            best, best_value = weights, objective
        slopes = np.vstack([slopes, slope])
        offsets = np.append(offsets, value - slope @ weights)
        shares, bound = _simplex_program(slopes, offsets, penalty, shares)
        lower = max(lower, bound)
        weights = -(shares @ slopes) / penalty
        active = shares > 0
        slopes, offsets, shares = slopes[active], offsets[active], shares[active]
        if report is not None:
            report(n_round, precision)
        gap = max(0.0, float(best_value - lower))
        converged = gap <= tol * max(1.0, abs(best_value))
        if converged:
            break
    return CuttingPlaneFit(best, gap, curve, bool(converged))


def _tangent(batch, weights, rule):
    """Surrogate / k, its gradient in the weights, and the precision at the top."""
    k, (above, below) = batch.k, batch.scores(weights)
    a, b = -np.sort(-above), below[best_first(below, batch.places)]
    increments = rule.surrogate.increments(a, b, k)
    value = rule.surrogate.constant(a, k) + increments[increments > 0].sum()
    step = batch.step(weights, rule)
    slope = np.zeros_like(weights) if step.direction is None else step.direction
    return value / batch.places, slope, step.hits


def _simplex_program(slopes, offsets, penalty, shares):
    """Shares of the tangents that maximise <offsets, s> - |slopes' s|^2 / (2 penalty)."""
    gram = slopes @ slopes.T / penalty
    # Neither a constant offset nor the unit changes the shares, but SLSQP wants numbers near 1.
    unit = max(np.abs(gram).max(), np.ptp(offsets), np.finfo(float).tiny)
    matrix, linear = gram / unit, (offsets - offsets.max()) / unit
    begin = np.append(shares * 0.9, 0.1) if len(shares) else np.ones(1)
    found = minimize(
        lambda s: s @ matrix @ s / 2 - linear @ s,
        begin,
        jac=lambda s: matrix @ s - linear,
        bounds=[(0.0, 1.0)] * len(begin),
        constraints={"type": "eq", "fun": lambda s: s.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"maxiter": 200, "ftol": 1e-16},
    ).x
    found = np.where(found > 1e-9, found, 0.0)
    found /= found.sum()
    return found, float(offsets @ found - found @ gram @ found / 2)
