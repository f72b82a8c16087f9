"""The quadratic program of cutting planes, over a product of simplices.

    maximise  <offsets, m> - |slopes' m|^2 / (2 penalty),  m >= 0, its sum in group g totals[g]

One group is the one-slack program, a group for each block the n-slack one. A primal-dual interior
point method: some twenty linear systems, whatever the scale of the slopes. A system is solved among
the planes or among the features, whichever are fewer.
"""

import numpy as np
from scipy import linalg

_ROUNDS = 60
_FEW = 300  # planes, of which the exacter system costs little
_NEGLIGIBLE = 1e-20
_FEASIBLE = 1e-8


def simplex_program(slopes, offsets, penalty, groups=None, totals=None, *, tol=0.0):
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
    tol : float, default=0.0
        How far below the maximum the value of a program of many planes may stay; one of few is
        solved as exactly as rounding lets it.

    Returns
    -------
    multipliers : ndarray of shape (n_planes,)
    value : float
    """
    groups = np.zeros(len(offsets), dtype=np.intp) if groups is None else groups
    totals = np.ones(groups.max() + 1) if totals is None else totals
    order = np.argsort(groups, kind="stable")
    sums = _GroupSums(groups[order])
    # Neither a constant offset in a group nor the unit changes m; totals are scaled away.
    scale = totals[groups[order]]
    rows = slopes[order] * (scale / np.sqrt(penalty))[:, np.newaxis]
    linear = offsets[order]
    linear = (linear - np.maximum.reduceat(linear, sums.starts)[sums.groups]) * scale
    unit, largest = np.abs(linear).max(), np.einsum("ij,ij->i", rows, rows).max()
    if unit <= _NEGLIGIBLE * largest:  # the offsets are below the rounding of the products
        unit = largest or 1.0
    found = _interior_point(rows / np.sqrt(unit), linear / unit, sums, tol / unit)
    found = np.where(found > 1e-12, found, 0.0)
    m = np.empty(len(found))
    m[order] = found / sums(found)[sums.groups] * scale
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
    """Solves ``(V V' + diag(diagonal)) x = b``, and has the sums over groups of the inverse.

    With fewer features than planes the system is that of the features, ``I + V' diag^-1 V``.
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
        return first + self._solve(rest)  # the products of features cancel digits

    def _solve(self, right):
        right = self.inverse * right
        inner = linalg.cho_solve(self.factor, self.rows.T @ right)
        return right - self.inverse * (self.rows @ inner)


def _interior_point(rows, linear, sums, tol):
    """Minimiser of ``|V' m|^2 / 2 - <c, m>`` with m >= 0 and the sum of each group 1."""
    n, n_groups = len(linear), len(sums.starts)
    if n == n_groups:
        return np.ones(n)
    gram = rows @ rows.T if n <= max(rows.shape[1], _FEW) else None
    tol = tol if n > _FEW else 0.0
    m = 1.0 / sums(np.ones(n))[sums.groups]
    z = np.ones(n)
    nu = np.zeros(n_groups)
    size = max(1.0, float(np.einsum("ij,ij->i", rows, rows).max()))
    best, least = m, np.inf
    for _ in range(_ROUNDS):
        slope = m @ rows
        dual = rows @ slope - linear - nu[sums.groups] - z
        primal = 1.0 - sums(m)
        mu, error = float(m @ z) / n, float(np.abs(dual).max())
        rest = n * mu + n_groups * error  # of the gap
        if rest < least and np.abs(primal).max() < _FEASIBLE:  # rounding may lead away again
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
