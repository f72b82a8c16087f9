"""The quadratic program of cutting planes, over a product of simplices.

    maximise  <offsets, m> - |slopes' m|^2 / (2 penalty),  m >= 0, its sum in group g totals[g]

One group is the one-slack program, a group for each block the n-slack one. A primal-dual interior
point method: some twenty linear systems, whatever the scale of the slopes.
"""

import numpy as np
from scipy import linalg

_ROUNDS = 60
_NEGLIGIBLE = 1e-20


def simplex_program(slopes, offsets, penalty, groups=None, totals=None):
    """The maximiser, feasible up to rounding, and its value: a lower bound of the primal problem.

    Parameters
    ----------
    slopes : ndarray of shape (n_planes, d)
    offsets : ndarray of shape (n_planes,)
    penalty : float
        > 0.
    groups : ndarray of int, shape (n_planes,), or None
        Group of each plane, every group with at least one; None is one group.
    totals : ndarray of shape (n_groups,) or None
        > 0; None is ones.

    Returns
    -------
    multipliers : ndarray of shape (n_planes,)
    value : float
    """
    groups = np.zeros(len(offsets), dtype=np.intp) if groups is None else groups
    totals = np.ones(groups.max() + 1) if totals is None else totals
    gram = slopes @ slopes.T / penalty
    # Neither a constant offset in a group nor the unit changes m; totals are scaled away.
    scale = totals[groups]
    matrix = gram * scale * scale[:, np.newaxis]
    linear = (
        offsets
        - np.maximum.reduceat(
            offsets[order := np.argsort(groups, kind="stable")],
            np.searchsorted(groups[order], np.arange(len(totals))),
        )[groups]
    ) * scale
    unit, largest = np.abs(linear).max(), np.abs(matrix).max()
    if unit <= _NEGLIGIBLE * largest:  # the offsets are below the rounding of the products
        unit = largest or 1.0
    m = _interior_point(matrix / unit, linear / unit, groups, len(totals))
    m = np.where(m > 1e-12, m, 0.0)
    m = m / np.bincount(groups, m, minlength=len(totals))[groups] * scale
    return m, float(offsets @ m - m @ gram @ m / 2.0)


def _interior_point(matrix, linear, groups, n_groups):
    """Minimiser of m'Qm/2 - <c, m> with m >= 0 and the sum of each group 1."""
    n = len(linear)
    if n == n_groups:
        return np.ones(n)
    members = np.zeros((n_groups, n))
    members[groups, np.arange(n)] = 1.0
    m = 1.0 / np.bincount(groups, minlength=n_groups)[groups]
    z = np.ones(n)
    nu = np.zeros(n_groups)
    size = max(1.0, float(np.abs(matrix).max()))
    for _ in range(_ROUNDS):
        dual = matrix @ m - linear - nu[groups] - z
        primal = 1.0 - members @ m
        mu = float(m @ z) / n
        if mu < 1e-14 and np.abs(dual).max() < 1e-13 * size:
            break
        factor = _factor(matrix + np.diag(z / m))
        if factor is None:
            break
        inverse_members = linalg.cho_solve(factor, members.T)
        schur = _factor(members @ inverse_members + 1e-15 * np.eye(n_groups))
        if schur is None:
            break

        def step(target, m=m, z=z, dual=dual, primal=primal, factor=factor, schur=schur):
            right = -dual + target / m - z
            base = linalg.cho_solve(factor, right)
            dnu = linalg.cho_solve(schur, primal - members @ base)
            dm = base + linalg.cho_solve(factor, members.T @ dnu)
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
    return m


def _factor(matrix):
    try:
        return linalg.cho_factor(matrix)
    except linalg.LinAlgError:
        return None


def _length(values, steps):
    """The largest step up to 1 that keeps the values >= 0."""
    falling = steps < 0
    return min(1.0, float(np.min(-values[falling] / steps[falling], initial=np.inf)))
