"""Cutting planes for a convex function whose tangents are known (Joachims 2005).

    minimise  (penalty / 2) |w|^2 + F(w)

Each round adds the tangent of F at the current w and minimises the penalty plus the
largest of the tangents. This is a quadratic program over simplices. Its value is a
lower bound, the best w gives an upper bound, and the gap between them is the
certificate. Tangents without weight in three rounds are dropped, which does not lower
the best bound so far. The minimiser of the program is far off while tangents are few.
So the next w lies a quarter of the way to it from the best w (Franc and Sonnenburg 2008
take a tenth of the way).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg


def cutting_plane(
    tangent: Callable[..., Any],
    start: np.ndarray,
    *,
    penalty: float,
    tol: float,
    max_iter: int,
    report: Callable[..., Any] | None = None,
) -> tuple[np.ndarray, float, list[float], bool]:
    """Minimise F with a penalty until the duality gap is at most ``tol max(1, |objective|)``.

    ``tangent(w)`` returns the value of the convex F, a subgradient, and a number to
    watch. If F is a sum, it may return values (n_slacks,) and slopes (n_slacks, m) of
    the parts: each part then has its own planes and slack. ``report(n_round, watched)``
    is called after each round.

    Returns the best w, its objective minus the lower bound, the watched number of each
    round, and whether the gap is small enough.
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
        accuracy = 0.1 * max(best_value - lower, wanted)  # a tenth of the present gap
        multipliers, bound = simplex_program(
            slopes, offsets, penalty, slacks, tol=accuracy
        )
        weights = 0.75 * best - 0.25 * (multipliers @ slopes) / penalty
        largest = np.zeros(len(value))
        np.maximum.at(largest, slacks, multipliers)
        idle = np.where(multipliers > 0.1 * tol * largest[slacks], 0, idle + 1)
        kept = (idle < 3) | (bound <= lower)  # a bound that rises rules out cycles
        slopes, offsets, slacks, idle = (
            slopes[kept],
            offsets[kept],
            slacks[kept],
            idle[kept],
        )
        lower = max(lower, bound)
        if report is not None:
            report(n_round, watched)
        gap = max(0.0, float(best_value - lower))
        converged = gap <= wanted
        if converged:
            break
    return best, gap, curve, bool(converged)


# The quadratic program --------------------------------------------------------------


def simplex_program(slopes, offsets, penalty, groups, *, tol=0.0):
    """The quadratic program of cutting planes, over a product of simplices.

        maximise  <offsets, m> - |slopes' m|^2 / (2 penalty),  m >= 0, with the sum 1 in each group

    A primal-dual interior point method takes some twenty linear systems for slopes up
    to 1e5 times ``sqrt(penalty * spread of the offsets)``; larger ones lose digits.
    `tol` is the accuracy of the value; 0 is up to rounding.

    Returns a feasible point near the maximiser and the objective there, a lower bound
    of the primal.
    """
    order, counts = np.argsort(groups, kind="stable"), np.bincount(groups)
    groups, starts = groups[order], np.cumsum(counts) - counts
    # Neither a constant offset in a group nor the unit changes m.
    rows, linear = slopes[order] / np.sqrt(penalty), offsets[order]
    linear = linear - np.maximum.reduceat(linear, starts)[groups]
    unit, largest = np.abs(linear).max(), np.einsum("ij,ij->i", rows, rows).max()
    # Offsets that differ by rounding alone have no unit.
    if unit <= max(1e-14 * np.abs(offsets).max(), 1e-20 * largest):
        unit = largest or 1.0
    multipliers = _interior_point(
        rows / np.sqrt(unit), linear / unit, groups, starts, tol / unit
    )
    multipliers = np.where(multipliers > 1e-12, multipliers, 0.0)
    m = np.empty(len(multipliers))
    m[order] = multipliers / np.add.reduceat(multipliers, starts)[groups]
    slope = m @ slopes
    return m, float(offsets @ m - slope @ slope / (2.0 * penalty))


def _interior_point(rows, linear, groups, starts, tol):
    """Minimiser of ``|V' m|^2 / 2 - <c, m>`` with m >= 0 and the sum of each group 1.

    Each step solves a system of the size of the planes or of the features, whichever
    are fewer. The rows of a group stand together, `starts` are their first ones.
    """
    n = len(linear)
    if n == len(starts):
        return np.ones(n)
    if n < rows.shape[1]:  # fewer numbers with the same products V V'
        rows = np.linalg.qr(rows.T)[1].T
    m = 1.0 / np.bincount(groups)[groups]
    z = rows @ (m @ rows) - linear
    nu = np.minimum.reduceat(z, starts) - max(1.0, float(np.ptp(z)))
    z -= nu[groups]  # positive, and the dual equation holds
    size = max(1.0, float(np.einsum("ij,ij->i", rows, rows).max()))
    best, least = m, np.inf
    for _ in range(60):
        dual = rows @ (m @ rows) - linear - nu[groups] - z
        primal = 1.0 - np.add.reduceat(m, starts)
        mu, error = float(m @ z) / n, float(np.abs(dual).max())
        rest = n * mu + len(nu) * error  # bound of the gap
        if rest < least and np.abs(primal).max() < 1e-8:  # rounding may lead away again
            best, least = m, rest
        if rest < tol or (mu < 1e-14 and error < 1e-13 * size):
            break
        solvers = _newton_system(rows, m / z, groups, starts)
        if solvers is None:
            break
        solve_once, solve = solvers
        dm, _ = solve_once(-dual - z, primal)  # only predicts how far a step can go
        dz = -z * dm / m - z
        length = min(_length(m, dm), _length(z, dz))
        after = float((m + length * dm) @ (z + length * dz)) / n
        target = (after / mu) ** 3 * mu - dm * dz
        dm, dnu = solve(-dual + target / m - z, primal)
        dz = (target - z * dm) / m - z
        length = 0.995 * min(_length(m, dm), _length(z, dz))
        m, nu, z = m + length * dm, nu + length * dnu, z + length * dz
        if length < 1e-10:
            break
    return best


def _newton_system(rows, h, groups, starts):
    """Solvers of ``(V V' + 1 / h) m - nu = right``, sums of m given: plain, and refined.

    The rows, centred in each group with the weights h, leave a system of the size of
    the features.
    """
    total, root = np.add.reduceat(h, starts), np.sqrt(h)
    means = np.add.reduceat(h[:, np.newaxis] * rows, starts) / total[:, np.newaxis]
    centred = rows - means[groups]
    centred *= root[:, np.newaxis]
    matrix = centred.T @ centred  # one matrix twice: BLAS computes half of the products
    matrix.flat[:: len(matrix) + 1] += 1.0
    factor, info = linalg.lapack.dpotrf(matrix)
    if info:
        return None

    def once(right, primal):
        shift = (primal - np.add.reduceat(h * right, starts)) / total
        u, _ = linalg.lapack.dpotrs(factor, (h * (right + shift[groups])) @ rows)
        return h * (right + shift[groups] - centred @ u / root), shift + means @ u

    def solve(right, primal):
        m, nu = once(right, primal)
        rest = right - rows @ (m @ rows) - m / h + nu[groups]
        # One refinement: products of features lose digits.
        dm, dnu = once(rest, primal - np.add.reduceat(m, starts))
        return m + dm, nu + dnu

    return once, solve


def _length(values, steps):
    """The largest step up to 1 that keeps the positive values >= 0."""
    return 1.0 / max(1.0, float(np.max(-steps / values)))
