"""The linear ordering program of one list: relaxation, triangle cuts, branch and bound.

x_ij = 1 says that i comes before j; x_ji is 1 - x_ij. An order violates no directed triangle,

    x_ij + x_jl + x_li <= 2,

and 0-1 vectors without a violated triangle are orders (Groetschel, Juenger & Reinelt 1984).
The triangles are added as a solution violates them; few of the r**3 / 3 ever matter.
"""

import warnings
from time import monotonic

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from ._graphs import net_preferences
from ._local_search import improve_orders

_VIOLATED = 1e-5  # well above the solver's tolerance: no cut comes twice
_ROUNDS = 10  # of cuts without a better start: easy lists are solved by then
_INFEASIBLE = 2  # SciPy's status


class LinearOrdering:
    """Best order of one list, best bound on all orders, and the cuts found so far.

    Parameters
    ----------
    weights : ndarray of shape (r, r)
    start : ndarray of int, shape (r,)
        An order.
    deadline : float or None
    unit : float or None
        All weights are multiples of it, or None: costs, and so bounds, can be rounded up.
    better : callable or None
        ``better()`` gives a better order; asked once, where a few rounds of cuts leave a gap.
    """

    def __init__(self, weights, start, deadline, unit, better=None):
        r = len(weights)
        self.weights, self.deadline, self.unit = weights, deadline, unit
        self.pairs = np.triu_indices(r, 1)
        self.column = np.zeros((r, r), dtype=np.intp)
        self.column[self.pairs] = np.arange(len(self.pairs[0]))
        self.column += self.column.T
        # i before j pays weights_ji, j before i weights_ij = constant - ...
        self.costs = net_preferences(weights.T)[self.pairs]
        self.constant = weights[self.pairs].sum()
        self.bound, self.value, self.order = 0.0, np.inf, None
        self.cuts = sparse.csr_matrix((0, len(self.costs)))
        self.sides = np.zeros(0)
        self.ends = np.tile([0.0, 1.0], (len(self.costs), 1))  # of each x
        self.reduced, self.priced = np.zeros(len(self.costs)), 0.0
        self._better = better
        self._rng = np.random.RandomState(0)  # which of equally violated cuts are taken
        self._offer(start)

    def relax(self):
        """Linear relaxation with cuts until none is violated; whether there is more to do."""
        x = (self.weights > 0)[self.pairs].astype(float)  # an optimum without any cut
        rounds = 0
        while not self._closed() and self._separate(x):
            rounds += 1
            if rounds > _ROUNDS:
                self.search()
            options = self._options()
            if options is None:
                return False
            solution = linprog(
                self.costs,
                A_ub=self.cuts,
                b_ub=self.sides,
                bounds=self.ends,
                method="highs-ds",
                options=options,
            )
            if solution.x is None:
                self._failed(solution.status)
                return False
            x = solution.x
            self._offer(np.argsort(-self._matrix(x).sum(axis=1), kind="stable"))
            self._price(solution.ineqlin.marginals)
        return not self._closed()

    def search(self):
        """Take the better order, if it has not been asked for and there is a gap."""
        if self._better is not None and not self._closed():
            self._offer(self._better())
            self._better = None

    def branch(self):
        """Branch and bound over the cuts, more of them as its solutions violate some."""
        self.search()  # a good order may close the gap alone
        while not self._closed():
            self._fix()
            options = self._options()
            if options is None:
                return
            value = self.value
            solution = self._whole_solution(options)
            if solution.mip_dual_bound is not None:
                self._raise(solution.mip_dual_bound + value)
            if solution.x is None:
                self._failed(solution.status)
                return
            self._offer(np.argsort(-self._matrix(solution.x).sum(axis=1), kind="stable"))
            finished = solution.status == 0 and self.value == value
            if not self._separate(np.round(solution.x)) and finished:
                return

    def _whole_solution(self, options):
        """Solution of the program over the cuts in whole x, its costs less the best one so far.

        One more x, fixed at 1, shifts them: SciPy 1.9 stops at a gap of 1e-4 in relation to the
        objective, which then is zero unless a better order is found.
        """
        n_cuts, n_pairs = self.cuts.shape
        cuts = sparse.hstack([self.cuts, sparse.csr_matrix((n_cuts, 1))], format="csr")
        with warnings.catch_warnings():  # SciPy 1.9 remarks on mip_rel_gap, which it ignores
            warnings.filterwarnings("ignore", "Unrecognized options", RuntimeWarning)
            solution = milp(
                np.append(self.costs, self.constant - self.value),
                integrality=np.append(np.ones(n_pairs), 0),
                bounds=Bounds(*np.vstack([self.ends, [1.0, 1.0]]).T),
                constraints=LinearConstraint(cuts, -np.inf, self.sides),
                options={**options, "mip_rel_gap": 0.0},
            )
        if solution.x is not None:
            solution.x = solution.x[:-1]
        return solution

    def _failed(self, status):
        """No solution: the time is over, or no order is better than the best one."""
        if status == _INFEASIBLE:
            self._raise(self.value)

    def _price(self, multipliers):
        """Bound by the Lagrangian of any multipliers; only the ends of x are left of it."""
        multipliers = np.minimum(multipliers, 0.0)
        self.reduced = self.costs - self.cuts.T @ multipliers
        least = np.minimum(self.reduced * self.ends[:, 0], self.reduced * self.ends[:, 1]).sum()
        self.priced = self.sides @ multipliers + least + self.constant
        self._raise(self.priced)
        self._fix()

    def _fix(self):
        """Fix each x whose other value would cost more than the best order does.

        An order outside the fixed values is no better than the best one: the bound that is
        found inside holds up to the best value.
        """
        room = self.value - (self.unit or 0.0) - self.priced + self.tolerance
        self.ends[self.reduced > room, 1] = self.ends[self.reduced > room, 0]
        self.ends[-self.reduced > room, 0] = self.ends[-self.reduced > room, 1]

    def _options(self):
        """The solver's options, None when time is over."""
        if self.deadline is None:
            return {}
        left = self.deadline - monotonic()
        return {"time_limit": left} if left > 0 else None

    @property
    def tolerance(self):
        """Of a gap: rounding of the best value, and less than a unit."""
        return min(1e-9 * self.value, 0.5 * (self.unit or np.inf))

    def _closed(self):
        return self.value - self.bound <= self.tolerance

    def _raise(self, bound):
        if self.unit is not None:
            bound = np.ceil(bound / self.unit - 1e-6) * self.unit
        self.bound = max(self.bound, min(float(bound), self.value))

    def _offer(self, order):
        """Keep an order, improved by insertions, if it is the best so far."""
        order = improve_orders(self.weights[np.newaxis], order[np.newaxis])[0]
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
        """Add the triangles that x violates most, about one for each variable."""
        triangles, excess = violated_triangles(self._matrix(x))
        if len(excess) == 0:
            return False
        by_excess = np.lexsort((self._rng.uniform(size=len(excess)), -np.round(excess, 3)))
        i, j, k = triangles[by_excess[: max(500, len(self.costs))]].T
        rows = np.arange(len(i))
        ends = [(i, j), (j, k), (k, i)]
        signs = [np.where(a < b, 1.0, -1.0) for a, b in ends]
        new = sparse.csr_matrix(
            (
                np.concatenate(signs),
                (np.tile(rows, 3), np.concatenate([self.column[a, b] for a, b in ends])),
            ),
            shape=(len(rows), len(self.costs)),
        )
        self.cuts = sparse.vstack([self.cuts, new], format="csr")
        self.sides = np.concatenate([self.sides, 2.0 - sum((s < 0).astype(float) for s in signs)])
        return True


def violated_triangles(x):
    """Directed triangles with x_ij + x_jk + x_ki > 2, (m, 3), and by how much.

    Parameters
    ----------
    x : ndarray of shape (r, r)

    Returns
    -------
    triangles : ndarray of int, shape (m, 3)
        i is the smallest of the three.
    excess : ndarray of shape (m,)
    """
    triangles, excess = [np.zeros((0, 3), dtype=np.intp)], [np.zeros(0)]
    for i in range(len(x) - 2):
        later = slice(i + 1, None)
        sums = x[i, later, np.newaxis] + x[later, later] + x[later, i] - 2.0
        j, k = np.nonzero(sums > _VIOLATED)
        triangles.append(np.column_stack([np.full(len(j), i), j + i + 1, k + i + 1]))
        excess.append(sums[j, k])
    return np.concatenate(triangles), np.concatenate(excess)
