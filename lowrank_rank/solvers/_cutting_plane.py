"""Cutting planes for a convex function whose tangents are known (Joachims 2005).

    minimise  (penalty / 2) |w|^2 + F(w)

Each round adds the tangent of F at the current w and minimises the penalty plus the largest of
the tangents. This is a quadratic program over simplices. Its value is a lower bound, the best w
gives an upper bound, and the gap between them is the certificate. Tangents without weight in three
rounds are dropped, which does not lower the best bound so far.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg


class CuttingPlaneFit(NamedTuple):
    """Result of `cutting_plane`.

    Attributes
    ----------
    weights : ndarray
        The best w.
    gap : float
        Its objective minus the lower bound.
    curve : list of float
        The number to watch after each round.
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
    """Minimise F with a penalty until the duality gap is at most ``tol max(1, |objective|)``.

    Parameters
    ----------
    tangent : callable
        ``tangent(w)`` returns the value of the convex F, a subgradient, and a number to watch. If F
        is a sum, it may return values (n_slacks,) and slopes (n_slacks, m) of the parts: each part
        then has its own planes and slack.
    start : ndarray of shape (m,)
        The point of the first tangent.
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
    The hinge of one row, w^2 / 2 + max(0, 1 - w), has its minimum 1/2 at 1.

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
        multipliers, bound = simplex_program(slopes, offsets, penalty, slacks, tol=0.1 * wanted)
        lower = max(lower, bound)
        weights = -(multipliers @ slopes) / penalty
        largest = np.zeros(len(value))
        np.maximum.at(largest, slacks, multipliers)
        idle = np.where(multipliers > 0.1 * tol * largest[slacks], 0, idle + 1)
        kept = idle < 3
        slopes, offsets, slacks, idle = slopes[kept], offsets[kept], slacks[kept], idle[kept]
        if report is not None:
            report(n_round, watched)
        gap = max(0.0, float(best_value - lower))
        converged = gap <= wanted
        if converged:
            break
    return CuttingPlaneFit(best, gap, curve, bool(converged))


# The quadratic program --------------------------------------------------------------


def simplex_program(slopes, offsets, penalty, groups, *, tol=0.0):
    """The quadratic program of cutting planes, over a product of simplices.

    maximise  <offsets, m> - |slopes' m|^2 / (2 penalty),  m >= 0, with the sum 1 in each group

    A primal-dual interior point method takes some twenty linear systems for slopes of any scale.
    The systems have the size of the planes or of the features, whichever are fewer.

    Parameters
    ----------
    slopes : ndarray of shape (n_planes, d)
    offsets : ndarray of shape (n_planes,)
    penalty : float
        > 0.
    groups : ndarray of int, shape (n_planes,)
        Group of each plane; no group is empty.
    tol : float, default=0.0
        Accuracy of the value for more than 300 planes; fewer are solved up to rounding.

    Returns
    -------
    multipliers : ndarray of shape (n_planes,)
        A feasible point near the maximiser.
    value : float
        The objective there, a lower bound of the primal problem.
    """
    order = np.argsort(groups, kind="stable")
    sums = _GroupSums(groups[order])
    # Neither a constant offset in a group nor the unit changes m.
    rows, linear = slopes[order] / np.sqrt(penalty), offsets[order]
    linear = linear - np.maximum.reduceat(linear, sums.starts)[sums.groups]
    unit, largest = np.abs(linear).max(), np.einsum("ij,ij->i", rows, rows).max()
    # Offsets that differ by rounding alone have no unit.
    if unit <= max(1e-14 * np.abs(offsets).max(), 1e-20 * largest):
        unit = largest or 1.0
    found = _interior_point(rows / np.sqrt(unit), linear / unit, sums, tol / unit)
    found = np.where(found > 1e-12, found, 0.0)
    m = np.empty(len(found))
    m[order] = found / sums(found)[sums.groups]
    slope = m @ slopes
    return m, float(offsets @ m - slope @ slope / (2.0 * penalty))


class _GroupSums:
    """Sums over the groups of sorted rows."""

    def __init__(self, groups):
        self.groups = groups
        self.starts = np.searchsorted(groups, np.arange(groups[-1] + 1))

    def __call__(self, values):
        return np.add.reduceat(values, self.starts, axis=0)


class _Factor:
    """Solver of ``(V V' + diag(diagonal)) x = b``, with the group sums of the inverse.

    If there are fewer features than planes, it factorises ``I + V' diag^-1 V`` instead.
    """

    def __init__(self, rows, gram, diagonal, sums):
        self.gram = gram
        if gram is not None:
            self.factor = linalg.cho_factor(gram + np.diag(diagonal))
            members = (sums.groups[:, np.newaxis] == np.arange(len(sums.starts))).astype(float)
            self.schur = sums(self.solve(members))
            return
        self.inverse, self.rows = 1.0 / diagonal, rows
        half = rows * np.sqrt(self.inverse)[:, np.newaxis]
        self.factor = linalg.cho_factor(half.T @ half + np.eye(rows.shape[1]))
        of_groups = sums(rows * self.inverse[:, np.newaxis])
        self.schur = np.diag(sums(self.inverse))
        self.schur -= of_groups @ linalg.cho_solve(self.factor, of_groups.T)

    def solve(self, right):
        if self.gram is not None:
            return linalg.cho_solve(self.factor, right)
        first = self._solve(right)
        rest = right - self.rows @ (self.rows.T @ first) - first / self.inverse
        return first + self._solve(rest)  # one refinement: products of features lose digits

    def _solve(self, right):
        right = self.inverse * right
        inner = linalg.cho_solve(self.factor, self.rows.T @ right)
        return right - self.inverse * (self.rows @ inner)


def _interior_point(rows, linear, sums, tol, few=300, n_rounds=60):
    """Minimiser of ``|V' m|^2 / 2 - <c, m>`` with m >= 0 and the sum of each group 1."""
    n, n_groups = len(linear), len(sums.starts)
    if n == n_groups:
        return np.ones(n)
    gram = rows @ rows.T if n <= max(rows.shape[1], few) else None
    tol = tol if n > few else 0.0
    m = 1.0 / sums(np.ones(n))[sums.groups]
    z = np.ones(n)
    nu = np.zeros(n_groups)
    size = max(1.0, float(np.einsum("ij,ij->i", rows, rows).max()))
    best, least = m, np.inf
    for _ in range(n_rounds):
        slope = m @ rows
        dual = rows @ slope - linear - nu[sums.groups] - z
        primal = 1.0 - sums(m)
        mu, error = float(m @ z) / n, float(np.abs(dual).max())
        rest = n * mu + n_groups * error  # bound of the gap
        if rest < least and np.abs(primal).max() < 1e-8:  # rounding may lead away again
            best, least = m, rest
        if rest < tol or (mu < 1e-14 and error < 1e-13 * size):
            break
        try:
            factor = _Factor(rows, gram, z / m, sums)
            schur = linalg.cho_factor(factor.schur + 1e-15 * np.eye(n_groups))
        except linalg.LinAlgError:
            break

        def step(target, m=m, z=z, dual=dual, primal=primal, factor=factor, schur=schur):
            right = -dual + target / m - z
            base = factor.solve(right)
            dnu = linalg.cho_solve(schur, primal - sums(base))
            dm = base + factor.solve(dnu[sums.groups])
            return dm, dnu, (target - z * dm) / m - z

        dm, dnu, dz = step(0.0)
        length = min(_length(m, dm), _length(z, dz))
        after = float((m + length * dm) @ (z + length * dz)) / n
        dm, dnu, dz = step((after / mu) ** 3 * mu - dm * dz)
        ahead, back = 0.995 * _length(m, dm), 0.995 * _length(z, dz)
        length = min(ahead, back)
        m, nu, z = m + length * dm, nu + length * dnu, z + length * dz
        if length < 1e-10:
            break
    return best


def _length(values, steps):
    """The largest step up to 1 that keeps the values >= 0."""
    falling = steps < 0
    return min(1.0, float(np.min(-values[falling] / steps[falling], initial=np.inf)))
