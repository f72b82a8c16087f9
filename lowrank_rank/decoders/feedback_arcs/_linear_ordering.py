"""The linear ordering program of one list: relaxation, triangle cuts, branch and bound.

x_ij = 1 means that i comes before j, and x_ji = 1 - x_ij. The 0-1 vectors that satisfy

    x_ij + x_jl + x_li <= 2

for all directed triangles are exactly the orders (Groetschel, Juenger & Reinelt 1984).
Only triangles that a solution violates become constraints, since few of the r**3 / 3
ever matter.
"""

import time

import numpy as np
from scipy import optimize, sparse

from ._graphs import net_preferences
from ._local_search import improve


class LinearOrdering:
    """Best order of one list, best bound on all orders, and the cuts found so far.

    Parameters
    ----------
    weights : ndarray of shape (r, r)
    start : ndarray of int, shape (r,)
        An order.
    deadline : float or None
        Time of `time.monotonic`.
    unit : float or None
        A common divisor of all weights, so that bounds can be rounded up.
    """

    def __init__(self, weights, start, deadline, unit):
        r = len(weights)
        self.weights = weights
        self.deadline = deadline
        self.unit = unit
        # The variables x_ij, i < j, and the variable of each pair (i, j) and (j, i).
        self.pairs = np.triu_indices(r, 1)
        n_variables = len(self.pairs[0])
        self.column = np.zeros((r, r), dtype=np.intp)
        self.column[self.pairs] = np.arange(n_variables)
        self.column += self.column.T
        # The order "i before j" pays weights_ji, "j before i" weights_ij: the cost is
        # sum_{i < j} (weights_ji - weights_ij) x_ij plus a constant.
        self.costs = net_preferences(weights.T)[self.pairs]
        self.constant = weights[self.pairs].sum()
        self.order = None
        self.value = np.inf
        self.bound = 0.0
        # Cuts: cuts @ x <= sides.
        self.cuts = sparse.csr_matrix((0, n_variables))
        self.sides = np.zeros(0)
        # Lower and upper bound of each x.
        self.ends = np.tile([0.0, 1.0], (n_variables, 1))
        # Reduced costs of the last relaxation, and its bound.
        self.reduced_costs = np.zeros(n_variables)
        self.relaxed_bound = 0.0
        self._rng = np.random.RandomState(0)  # to choose among equally violated cuts
        self.offer(start)

    def relax(self):
        """Solve the linear relaxation, adding cuts; return whether a gap is left."""
        x = (self.weights > 0)[self.pairs].astype(float)  # an optimum without any cut
        while not self.is_closed() and self._separate(x):
            options = self._options()
            if options is None:
                return False
            solution = optimize.linprog(
                self.costs,
                A_ub=self.cuts,
                b_ub=self.sides,
                bounds=self.ends,
                method="highs-ds",
                options=options,
            )
            if solution.status == 2:  # infeasible: no order is better than the best one
                self.raise_bound(self.value)
            if solution.x is None:
                return False
            x = solution.x
            self.offer(self._rounded(x))
            # Lagrangian bound with the multipliers m <= 0 of the cuts: the minimum of
            # (costs - cuts' m) @ x within the bounds of x, plus sides @ m.
            multipliers = np.minimum(solution.ineqlin.marginals, 0.0)
            self.reduced_costs = self.costs - self.cuts.T @ multipliers
            at_ends = self.reduced_costs[:, np.newaxis] * self.ends
            minimum = np.min(at_ends, axis=1).sum()
            self.relaxed_bound = self.sides @ multipliers + minimum + self.constant
            self.raise_bound(self.relaxed_bound)
            self._fix()
        return not self.is_closed()

    def branch(self):
        """Branch and bound over the cuts, adding cuts that its solutions violate."""
        while not self.is_closed():
            self._fix()
            options = self._options()
            if options is None:
                return
            value = self.value
            solution = optimize.milp(
                self.costs,
                integrality=np.ones(len(self.costs)),
                bounds=optimize.Bounds(*self.ends.T),
                constraints=optimize.LinearConstraint(self.cuts, -np.inf, self.sides),
                options={**options, "mip_rel_gap": 0.0},
            )
            if solution.mip_dual_bound is not None:
                self.raise_bound(solution.mip_dual_bound + self.constant)
            if solution.status == 2:  # infeasible: no order is better than the best one
                self.raise_bound(self.value)
            if solution.x is None:
                return
            x = solution.x
            self.offer(self._rounded(x))
            # Without new cuts and a better order the next round would be the same.
            is_finished = solution.status == 0 and self.value == value
            if not self._separate(np.round(x)) and is_finished:
                return

    def offer(self, order):
        """Keep an order, improved by insertions, if it is the best so far."""
        net = net_preferences(self.weights[np.newaxis])
        order = improve(net, np.zeros(1, dtype=np.intp), order[np.newaxis])[0]
        value = np.tril(self.weights[np.ix_(order, order)]).sum()
        if value < self.value:
            self.value = value
            self.order = order

    def is_closed(self):
        """Return whether the best order is proved."""
        return self.value - self.bound <= self.tolerance

    @property
    def tolerance(self):
        """The gap that counts as closed: rounding errors, and less than a unit."""
        rounding = 1e-9 * self.value
        if self.unit is None:
            return rounding
        return min(rounding, 0.5 * self.unit)

    def raise_bound(self, bound):
        """Raise the bound, to a multiple of the unit, at most to the best value."""
        if self.unit is not None:
            bound = np.ceil(bound / self.unit - 1e-6) * self.unit
        self.bound = max(self.bound, min(float(bound), self.value))

    def _fix(self):
        """Fix each x that could change its value only at a cost above the best order.

        Orders outside the fixed values are no better than the best one, so bounds that
        hold inside remain valid up to the best value.
        """
        unit = self.unit or 0.0
        largest = self.value - unit - self.relaxed_bound + self.tolerance
        at_lower = self.reduced_costs > largest
        at_upper = -self.reduced_costs > largest
        self.ends[at_lower, 1] = self.ends[at_lower, 0]
        self.ends[at_upper, 0] = self.ends[at_upper, 1]

    def _options(self):
        """Return options of the solver, None at the time limit."""
        if self.deadline is None:
            return {}
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            return None
        return {"time_limit": seconds}

    def _matrix(self, x):
        """Fill the matrix of all x_ij, with x_ji = 1 - x_ij."""
        full = np.zeros(self.weights.shape)
        full[self.pairs] = x
        full.T[self.pairs] = 1.0 - x
        return full

    def _rounded(self, x):
        """Order the items by sum_j x_ij, the number of items behind each."""
        n_behind = self._matrix(x).sum(axis=1)
        return np.argsort(-n_behind, kind="stable")

    def _separate(self, x):
        """Add the triangles that x violates most, at most about one for each variable.

        Return whether there are any.
        """
        triangles, excess = self._violated_triangles(x)
        if len(excess) == 0:
            return False
        tie_breaks = self._rng.uniform(size=len(excess))
        by_excess = np.lexsort((tie_breaks, -np.round(excess, 3)))
        i, j, k = triangles[by_excess[: max(500, len(self.costs))]].T

        # x_ij + x_jk + x_ki <= 2 in the variables x_ab with a < b: x_ba = 1 - x_ab
        # changes the sign, and moves 1 to the other side.
        edges = [(i, j), (j, k), (k, i)]
        columns = [self.column[a, b] for a, b in edges]
        signs = [np.where(a < b, 1.0, -1.0) for a, b in edges]
        n_negative = sum(np.where(a < b, 0.0, 1.0) for a, b in edges)
        rows = np.tile(np.arange(len(i)), 3)
        cuts = sparse.csr_matrix(
            (np.concatenate(signs), (rows, np.concatenate(columns))),
            shape=(len(i), len(self.costs)),
        )
        self.cuts = sparse.vstack([self.cuts, cuts], format="csr")
        self.sides = np.concatenate([self.sides, 2.0 - n_negative])
        return True

    def _violated_triangles(self, x):
        """List triangles (i, j, k), i the smallest, with x_ij + x_jk + x_ki > 2.

        Return the triangles (n, 3), and by how much each sum exceeds 2.
        """
        x = self._matrix(x)
        triangles = [np.zeros((0, 3), dtype=np.intp)]
        excess = [np.zeros(0)]
        for i in range(len(x) - 2):
            later = slice(i + 1, None)
            sums = x[i, later, np.newaxis] + x[later, later] + x[later, i] - 2.0
            # 1e-5 is above the tolerance of the solver, so that no cut is added twice.
            j, k = np.nonzero(sums > 1e-5)
            triangles.append(
                np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1])
            )
            excess.append(sums[j, k])
        return np.concatenate(triangles), np.concatenate(excess)
