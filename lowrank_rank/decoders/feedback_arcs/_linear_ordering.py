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

    `start` is an order, `unit` a common divisor of all weights, so that bounds can be
    rounded up, or None.
    """

    def __init__(self, weights, start, deadline, unit):
        r = len(weights)
        self.weights, self.deadline, self.unit = weights, deadline, unit
        self.pairs = np.triu_indices(r, 1)
        self.column = np.zeros((r, r), dtype=np.intp)
        self.column[self.pairs] = np.arange(len(self.pairs[0]))
        self.column += self.column.T
        # The order "i before j" pays weights_ji, "j before i" weights_ij.
        self.costs = net_preferences(weights.T)[self.pairs]
        self.constant = weights[self.pairs].sum()
        self.bound, self.value, self.order = 0.0, np.inf, None
        self.cuts = sparse.csr_matrix((0, len(self.costs)))
        self.sides = np.zeros(0)
        self.ends = np.tile(
            [0.0, 1.0], (len(self.costs), 1)
        )  # lower and upper bound of each x
        self.reduced, self.priced = np.zeros(len(self.costs)), 0.0
        self._rng = np.random.RandomState(0)  # to choose among equally violated cuts
        self.offer(start)

    def relax(self):
        """Solve the linear relaxation, adding cuts; return whether a gap is left."""
        x = (self.weights > 0)[self.pairs].astype(float)  # an optimum without any cut
        while not self.is_closed() and self._separate(x):
            options = self._options()
            if options is None:
                return False
            program = {"A_ub": self.cuts, "b_ub": self.sides, "bounds": self.ends}
            solution = optimize.linprog(
                self.costs, **program, method="highs-ds", options=options
            )
            if solution.status == 2:  # infeasible: no order is better than the best one
                self._raise(self.value)
            if solution.x is None:
                return False
            x = solution.x
            self.offer(np.argsort(-self._matrix(x).sum(axis=1), kind="stable"))
            # The Lagrangian bound of the multipliers of the cuts.
            multipliers = np.minimum(solution.ineqlin.marginals, 0.0)
            self.reduced = self.costs - self.cuts.T @ multipliers
            least = np.min(self.reduced[:, np.newaxis] * self.ends, axis=1).sum()
            self.priced = self.sides @ multipliers + least + self.constant
            self._raise(self.priced)
            self._fix()
        return not self.is_closed()

    def branch(self):
        """Branch and bound over the cuts, with the further cuts that its solutions violate."""
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
                self._raise(solution.mip_dual_bound + self.constant)
            if solution.status == 2:
                self._raise(self.value)
            if solution.x is None:
                return
            x = solution.x
            self.offer(np.argsort(-self._matrix(x).sum(axis=1), kind="stable"))
            finished = solution.status == 0 and self.value == value
            if not self._separate(np.round(x)) and finished:
                return

    def _fix(self):
        """Fix each x that could change its value only at a cost above the best order.

        Orders outside the fixed values are no better than the best one, so bounds that
        hold inside remain valid up to the best value.
        """
        room = self.value - (self.unit or 0.0) - self.priced + self.tolerance
        self.ends[self.reduced > room, 1] = self.ends[self.reduced > room, 0]
        self.ends[-self.reduced > room, 0] = self.ends[-self.reduced > room, 1]

    def _options(self):
        """Options of the solver, None at the time limit."""
        if self.deadline is None:
            return {}
        left = self.deadline - time.monotonic()
        return {"time_limit": left} if left > 0 else None

    @property
    def tolerance(self):
        """The gap that counts as closed: rounding errors, and less than a unit."""
        return min(1e-9 * self.value, 0.5 * (self.unit or np.inf))

    def is_closed(self):
        return self.value - self.bound <= self.tolerance

    def _raise(self, bound):
        if self.unit is not None:
            bound = np.ceil(bound / self.unit - 1e-6) * self.unit
        self.bound = max(self.bound, min(float(bound), self.value))

    def offer(self, order):
        """Keep an order, improved by insertions, if it is the best so far."""
        net = net_preferences(self.weights[np.newaxis])
        order = improve(net, np.zeros(1, dtype=np.intp), order[np.newaxis])[0]
        value = np.tril(self.weights[np.ix_(order, order)]).sum()
        if value < self.value:
            self.value, self.order = value, order

    def _matrix(self, x):
        """x_ij of all i, j, with x_ji = 1 - x_ij."""
        full = np.zeros(self.weights.shape)
        full[self.pairs] = x
        full.T[self.pairs] = 1.0 - x
        return full

    def _separate(self, x):
        """Add the triangles that x violates most, at most about one for each variable."""
        x = self._matrix(x)
        cuts, over = [np.zeros((0, 3), dtype=np.intp)], [np.zeros(0)]
        for i in range(len(x) - 2):  # the smallest of the three items
            later = slice(i + 1, None)
            sums = x[i, later, np.newaxis] + x[later, later] + x[later, i] - 2.0
            # 1e-5 is above the tolerance of the solver, so that no cut is added twice.
            j, k = np.nonzero(sums > 1e-5)
            cuts.append(np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1]))
            over.append(sums[j, k])
        triangles, excess = np.concatenate(cuts), np.concatenate(over)
        if len(excess) == 0:
            return False
        by_excess = np.lexsort(
            (self._rng.uniform(size=len(excess)), -np.round(excess, 3))
        )
        i, j, k = triangles[by_excess[: max(500, len(self.costs))]].T
        rows = np.arange(len(i))
        ends = [(i, j), (j, k), (k, i)]
        signs = [np.where(a < b, 1.0, -1.0) for a, b in ends]
        columns = np.concatenate([self.column[a, b] for a, b in ends])
        entries = np.concatenate(signs), (np.tile(rows, 3), columns)
        new = sparse.csr_matrix(entries, shape=(len(rows), len(self.costs)))
        self.cuts = sparse.vstack([self.cuts, new], format="csr")
        self.sides = np.concatenate(
            [self.sides, 2.0 - sum((s < 0).astype(float) for s in signs)]
        )
        return True
