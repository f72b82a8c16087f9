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
    """Minimise F and a penalty up to a duality gap of ``tol max(1, |objective|)``.

    ``tangent(w)`` returns the value of the convex F, a subgradient, and a number to
    watch. If F is a sum, it may return values (n_slacks,) and slopes (n_slacks, m) of
    the parts: each part then has its own planes and slack. ``report(n_round, watched)``
    is called after each round.

    Returns the best w, its objective minus the lower bound, the watched number of each
    round, and whether the gap is small enough.
    """
    weights = start
    best = start
    best_value = np.inf
    lower_bound = -np.inf
    curve: list[float] = []
    # Plane j is the function offsets[j] + slopes[j] @ w, a lower bound of the part of F
    # with the number slacks[j]. It had no weight in the last n_idle[j] rounds.
    slopes = np.zeros((0, len(weights)))
    offsets = np.zeros(0)
    slacks = np.zeros(0, dtype=np.intp)
    n_idle = np.zeros(0, dtype=np.intp)
    for n_round in range(1, max_iter + 1):
        value, slope, watched = tangent(weights)
        value = np.atleast_1d(value)
        slope = np.atleast_2d(slope)
        curve.append(float(watched))
        objective = penalty / 2 * (weights @ weights) + value.sum()
        if objective < best_value:
            best = weights
            best_value = objective
        n_parts = len(value)
        slopes = np.vstack([slopes, slope])
        offsets = np.append(offsets, value - slope @ weights)
        slacks = np.append(slacks, np.arange(n_parts))
        n_idle = np.append(n_idle, np.zeros(n_parts, dtype=np.intp))

        max_gap = tol * max(1.0, abs(best_value))
        # A tenth of the present gap.
        accuracy = 0.1 * max(best_value - lower_bound, max_gap)
        multipliers, bound = simplex_program(
            slopes, offsets, penalty, slacks, tol=accuracy
        )
        # The minimiser of the program is -slopes' m / penalty.
        weights = 0.75 * best - 0.25 * (multipliers @ slopes) / penalty

        largest = np.zeros(n_parts)
        np.maximum.at(largest, slacks, multipliers)
        has_weight = multipliers > 0.1 * tol * largest[slacks]
        n_idle = np.where(has_weight, 0, n_idle + 1)
        # Planes are dropped only in rounds that raise the bound: this rules out cycles.
        is_needed = (n_idle < 3) | (bound <= lower_bound)
        slopes = slopes[is_needed]
        offsets = offsets[is_needed]
        slacks = slacks[is_needed]
        n_idle = n_idle[is_needed]
        lower_bound = max(lower_bound, bound)
        if report is not None:
            report(n_round, watched)
        gap = max(0.0, float(best_value - lower_bound))
        converged = gap <= max_gap
        if converged:
            break
    return best, gap, curve, bool(converged)


# The quadratic program --------------------------------------------------------------


def simplex_program(slopes, offsets, penalty, groups, *, tol=0.0):
    """Solve the quadratic program of cutting planes over a product of simplices.

        maximise  <offsets, m> - |slopes' m|^2 / (2 penalty),
        m >= 0, with the sum 1 in each group

    A primal-dual interior point method takes some twenty linear systems for slopes up
    to 1e5 times ``sqrt(penalty * range of the offsets)``; larger ones lose digits.
    `tol` is the accuracy of the value; 0 is up to rounding.

    Returns a feasible point near the maximiser and the objective there, a lower bound
    of the primal.
    """
    # The planes of a group stand together.
    order = np.argsort(groups, kind="stable")
    counts = np.bincount(groups)
    starts = np.cumsum(counts) - counts
    groups = groups[order]
    # Neither a constant offset in a group nor the unit of the objective changes m.
    rows = slopes[order] / np.sqrt(penalty)
    linear = offsets[order]
    linear = linear - np.maximum.reduceat(linear, starts)[groups]
    unit = np.abs(linear).max()
    largest = np.einsum("ij,ij->i", rows, rows).max()
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
    """Minimise ``|V' m|^2 / 2 - <c, m>`` with m >= 0 and the sum of each group 1.

    Mehrotra's predictor and corrector steps. Each step solves a system of the size of
    the planes or of the features, whichever are fewer. The rows of a group stand
    together, `starts` are their first ones.
    """
    n = len(linear)
    if n == len(starts):
        return np.ones(n)
    if n < rows.shape[1]:  # fewer numbers with the same products V V'
        rows = np.linalg.qr(rows.T)[1].T
    # m, the multipliers nu of the sums and z of m >= 0. With this start z is positive,
    # and the dual equation V V' m - c - nu - z = 0 holds.
    m = 1.0 / np.bincount(groups)[groups]
    z = rows @ (m @ rows) - linear
    nu = np.minimum.reduceat(z, starts) - max(1.0, float(np.ptp(z)))
    z -= nu[groups]
    size = max(1.0, float(np.einsum("ij,ij->i", rows, rows).max()))
    best = m
    smallest_gap = np.inf
    for _ in range(60):
        dual = rows @ (m @ rows) - linear - nu[groups] - z
        primal = 1.0 - np.add.reduceat(m, starts)
        mu = float(m @ z) / n
        error = float(np.abs(dual).max())
        # <m, z> is the gap where the dual equation holds. Else the multipliers of each
        # group, which sum to 1, add at most the error.
        gap = n * mu + len(nu) * error
        is_feasible = np.abs(primal).max() < 1e-8
        if gap < smallest_gap and is_feasible:  # rounding may lead away again
            best = m
            smallest_gap = gap
        if gap < tol or (mu < 1e-14 and error < 1e-13 * size):
            break
        system = _newton_system(rows, m / z, groups, starts)
        if system is None:
            break
        solve_once, solve = system
        # The predictor, a step to m z = 0, only shows how far a step can go.
        dm, _ = solve_once(-dual - z, primal)
        dz = -z * dm / m - z
        length = min(_length(m, dm), _length(z, dz))
        mu_after = float((m + length * dm) @ (z + length * dz)) / n
        # The corrector, a step to m z = target.
        target = (mu_after / mu) ** 3 * mu - dm * dz
        dm, dnu = solve(-dual + target / m - z, primal)
        dz = (target - z * dm) / m - z
        length = 0.995 * min(_length(m, dm), _length(z, dz))
        m = m + length * dm
        nu = nu + length * dnu
        z = z + length * dz
        if length < 1e-10:
            break
    return best


def _newton_system(rows, h, groups, starts):
    """Factor ``(V V' + 1 / h) m - nu = right`` with given sums of m.

    Returns two solvers, a plain and a refined one; None if the matrix is singular. The
    rows, centred in each group with the weights h, leave a system of the size of the
    features.
    """
    total = np.add.reduceat(h, starts)
    root = np.sqrt(h)
    means = np.add.reduceat(h[:, np.newaxis] * rows, starts) / total[:, np.newaxis]
    centred = rows - means[groups]
    centred *= root[:, np.newaxis]
    matrix = centred.T @ centred  # one matrix twice: BLAS computes half of the products
    matrix.flat[:: len(matrix) + 1] += 1.0
    factor, info = linalg.lapack.dpotrf(matrix)
    if info:
        return None

    def solve_once(right, primal):
        shift = (primal - np.add.reduceat(h * right, starts)) / total
        u, _ = linalg.lapack.dpotrs(factor, (h * (right + shift[groups])) @ rows)
        m = h * (right + shift[groups] - centred @ u / root)
        nu = shift + means @ u
        return m, nu

    def solve(right, primal):
        m, nu = solve_once(right, primal)
        # One refinement: products of features lose digits.
        residual = right - rows @ (m @ rows) - m / h + nu[groups]
        dm, dnu = solve_once(residual, primal - np.add.reduceat(m, starts))
        return m + dm, nu + dnu

    return solve_once, solve


def _length(values, steps):
    """Return the largest step up to 1 that keeps the positive values >= 0."""
    return 1.0 / max(1.0, float(np.max(-steps / values)))
