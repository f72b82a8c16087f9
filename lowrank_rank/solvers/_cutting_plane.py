"""Cutting planes for a convex function whose tangents are known (Joachims 2005).

    minimise  (penalty / 2) |w|^2 + F(w)

Each round adds the tangent of F at the current w and minimises the penalty plus the largest of
the tangents, a quadratic program over a simplex. Its value is a lower bound and the best w an
upper one: their gap is the certificate. Tangents to which the program gives next to no weight in
several rounds are dropped, which does not lower the best bound so far.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ._simplex_program import simplex_program

#: How exact a program is, as a part of the gap that is wanted.
_PROGRAM = 0.1
#: Rounds that a tangent stays for without weight; weights below this part of the wanted gap, over
#: the largest weight of the slack, are none.
_PATIENCE, _NO_WEIGHT = 3, 0.1


class CuttingPlaneFit(NamedTuple):
    """The minimiser found, and how it was reached.

    Attributes
    ----------
    weights : ndarray
        The best w.
    gap : float
        Between its objective and the lower bound.
    curve : list of float
        What `tangent` returned to be watched, for each round.
    converged : bool
    """

    weights: np.ndarray
    gap: float
    curve: list
    converged: bool


def cutting_plane(
    tangent: Callable[..., Any],
    start: np.ndarray,
    *,
    penalty: float,
    tol: float,
    max_iter: int,
    report: Callable[..., Any] | None = None,
) -> CuttingPlaneFit:
    """Minimise until the duality gap is at most tol max(1, |objective|), or for max_iter rounds.

    Parameters
    ----------
    tangent : callable
        ``tangent(w)`` returns the value of the convex F, a subgradient, and a number to watch,
        which changes nothing. Where F is a sum, values (n_slacks,) and slopes (n_slacks, m) of its
        parts: each then has planes and a slack of its own.
    start : ndarray of shape (m,)
        Where the first tangent is taken.
    penalty : float
        > 0.
    tol : float
    max_iter : int
    report : callable or None
        ``report(n_round, watched)``.

    Returns
    -------
    CuttingPlaneFit

    Examples
    --------
    The hinge of one row: w^2 / 2 + max(0, 1 - w) is smallest at 1, with the value 1/2.

    >>> import numpy as np
    >>> from lowrank_rank.solvers import cutting_plane
    >>> def hinge(w):
    ...     return max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1 else 0.0]), w[0]
    >>> fit = cutting_plane(hinge, np.zeros(1), penalty=1.0, tol=1e-9, max_iter=10)
    >>> fit.weights.round(6), fit.converged
    (array([1.]), True)
    """
    weights = start
    slopes, offsets = np.zeros((0, len(weights))), np.zeros(0)
    slacks, idle = np.zeros((2, 0), dtype=np.intp)
    best, best_value, lower, curve = weights, np.inf, -np.inf, []
    for n_round in range(1, max_iter + 1):
        value, slope, watched = tangent(weights)
        value, slope = np.atleast_1d(value), np.atleast_2d(slope)
        curve.append(float(watched))
        objective = penalty / 2 * (weights @ weights) + value.sum()
        if objective < best_value:
            best, best_value = weights, objective
        slopes = np.vstack([slopes, slope])
        offsets = np.append(offsets, value - slope @ weights)
        slacks = np.append(slacks, np.arange(len(value)))
        idle = np.append(idle, np.zeros(len(value), dtype=np.intp))
        wanted = tol * max(1.0, abs(best_value))
        multipliers, bound = simplex_program(
            slopes, offsets, penalty, slacks, tol=_PROGRAM * wanted
        )
        lower = max(lower, bound)
        weights = -(multipliers @ slopes) / penalty
        largest = np.zeros(len(value))
        np.maximum.at(largest, slacks, multipliers)
        idle = np.where(multipliers > _NO_WEIGHT * tol * largest[slacks], 0, idle + 1)
        kept = idle < _PATIENCE
        slopes, offsets, slacks, idle = slopes[kept], offsets[kept], slacks[kept], idle[kept]
        if report is not None:
            report(n_round, watched)
        gap = max(0.0, float(best_value - lower))
        converged = gap <= wanted
        if converged:
            break
    return CuttingPlaneFit(best, gap, curve, bool(converged))
