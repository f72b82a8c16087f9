"""Solvers of ``alpha / 2 |w|^2 + F(w)``, with F a weighted sum of hinges of linear scores.

    F(w) = sum_b weight_b max over y' of Delta_b(y') + <w, Psi_b(y') - Psi_b(y)>

Scores are X W', with a column for each class or item. A hinge is a function of the
scores with a slope for each score, and Psi is X' slopes. Terms b are lists, rows or
sequences.

Each solver returns a duality gap. A convex combination of labels with the features g
and the expected Delta d bounds the objective from below by d - |g|^2 / (2 alpha).
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..fitting._cutting_plane import cutting_plane
from ..fitting._lbfgs import lbfgs
from ..fitting._linear_problem import LinearProblem


class Tangent(NamedTuple):
    """Value and (sub)gradient of F at a point.

    ``cost`` is the expected Delta of the labels that give the slope. ``exact`` is F
    itself, if the tangent is of a smooth approximation that computes F too.
    """

    value: float
    slope: np.ndarray
    cost: float
    exact: float | None = None


class HingeProblem(LinearProblem):
    """Hinges of linear scores.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Standardised rows in grouped order.
    hinge : object
        ``hinge.worst(scores)``, with scores (n_rows, n_columns), returns the value of
        each term and the slopes, like scores. ``hinge.take(terms)`` is the hinge of
        some terms, and ``hinge.rows(terms)`` are their rows. A smooth hinge has
        ``hinge.soft(scores, gamma, weights)``, which may overwrite the scores. It
        returns the weighted sum of an approximation, its slopes, the expected cost and
        the weighted sum of the hinge itself.
    weights : ndarray of shape (n_terms,)
    n_columns : int
    intercept : bool
        Whether a constant feature is added.
    shift : ndarray of shape (n_features,) or float
        Subtracted from the rows: the means of sparse X.
    """

    def __init__(self, X, hinge, weights, n_columns, *, intercept=False, shift=0.0):
        super().__init__(X, n_columns, intercept=intercept, mean=shift)
        self.hinge, self.weights, self.n_terms = hinge, weights, len(weights)

    @property
    def is_smooth(self):
        """Whether the hinge has a smooth approximation."""
        return hasattr(self.hinge, "soft")

    @cached_property
    def at_zero(self):
        """`Tangent` of F at zero weights."""
        return self.worst(np.zeros(self.size))

    def gradients_of_parts(self, slopes, part, n_parts):
        """Gradients from the rows of each part, shape (n_parts, size); `part` of each row."""
        if n_parts == 1:
            return self.gradient(slopes)[np.newaxis]
        q = self.n_columns
        columns = part[:, np.newaxis] * q + np.arange(q)
        starts = np.arange(0, q * len(part) + 1, q)
        by_row = csr_matrix(
            (slopes.ravel(), columns.ravel(), starts), shape=(len(part), n_parts * q)
        )
        products = by_row.T @ self.X
        products = products.toarray() if issparse(products) else products
        sums = np.asarray(by_row.sum(axis=0)).ravel()
        by_coef = products - np.outer(sums, self.scaling.mean)
        gradients = np.column_stack([by_coef, sums]) if self.intercept else by_coef
        return gradients.reshape(n_parts, -1)

    def worst(self, w):
        """`Tangent` of F at w."""
        values, slopes = self.hinge.worst(self.scores(w))
        value = float(values @ self.weights)
        slope = self.gradient(slopes * self.hinge.spread(self.weights))
        return Tangent(value, slope, value - float(slope @ w))

    def worst_of_parts(self, w, part):
        """Values (n_parts,) and slopes (n_parts, size) of the parts of F; `part` of each term."""
        values, slopes = self.hinge.worst(self.scores(w))
        values = np.bincount(part, values * self.weights)
        slopes = slopes * self.hinge.spread(self.weights)
        return values, self.gradients_of_parts(
            slopes, self.hinge.spread(part)[:, 0], len(values)
        )

    def soft(self, w, gamma):
        """`Tangent` of the smooth approximation at w."""
        value, slopes, *rest = self.hinge.soft(self.scores(w), gamma, self.weights)
        return Tangent(value, self.gradient(slopes), *rest)

    def take(self, terms):
        """The problem of some terms, with their weights in this one."""
        X, hinge = self.X[self.hinge.rows(terms)], self.hinge.take(terms)
        more = {"intercept": self.intercept, "shift": self.scaling.mean}
        return type(self)(X, hinge, self.weights[terms], self.n_columns, **more)

    def partition(self, size, random_state=None):
        """The part of each term, with about `size` terms in a part."""
        n_parts = max(1, round(self.n_terms / size))
        order, part = np.arange(self.n_terms), np.empty(self.n_terms, dtype=np.intp)
        if random_state is not None:
            random_state.shuffle(order)
        part[order] = np.arange(self.n_terms) * n_parts // self.n_terms
        return part

    def batches(self, size, random_state=None):
        """Problems of the parts; their sum is this problem."""
        part = self.partition(size, random_state)
        by_part = np.argsort(part, kind="stable")
        parts = np.split(by_part, np.flatnonzero(np.diff(part[by_part])) + 1)
        return [self.take(terms) for terms in parts] if len(parts) > 1 else [self]


class Best:
    """Best weights `w` so far, their objective, and a lower bound of the minimum.

    All solvers return it. `tol` is relative to the hinge at zero weights.
    """

    def __init__(self, problem, alpha, tol):
        self.problem, self.alpha, self.n_iter = problem, alpha, 0
        self.w, self.lower = np.zeros(problem.size), -np.inf
        first = problem.at_zero
        self.objective, self.tol = (
            first.value,
            tol * max(first.value, np.finfo(float).tiny),
        )
        self.bound(first)

    def bound(self, tangent):
        """Raise the lower bound by the labels of a tangent."""
        slope = tangent.slope
        self.lower = max(
            self.lower, tangent.cost - float(slope @ slope) / (2.0 * self.alpha)
        )

    def keep(self, w, value):
        """Keep w if its objective is the least so far; returns the objective, of F = value."""
        objective = self.alpha / 2.0 * float(w @ w) + value
        if objective < self.objective:
            self.w, self.objective = w.copy(), objective
        return objective

    def at(self, w):
        """Keep w if its objective is the least so far; returns the tangent at w."""
        tangent = self.problem.worst(w)
        self.keep(w, tangent.value)
        return tangent

    @property
    def gap(self):
        """Upper bound of the objective minus its minimum."""
        return max(0.0, self.objective - self.lower)

    @property
    def converged(self):
        return self.gap <= self.tol


def cutting_planes(problem, parts, *, alpha, tol, max_iter, report=None):
    """Cutting planes with a tangent, and a slack, of each part in a round (Joachims 2005).

    `parts` is the part of each term.
    """
    best = Best(problem, alpha, tol)
    unit = best.objective  # the unit of the gap
    if unit <= 1e-12:  # zero weights are the minimum; Delta is a number near 1
        best.lower = unit
        return best

    def tangent(w):
        values, slopes = problem.worst_of_parts(w, parts)
        return values / unit, slopes / unit, best.keep(w, float(values.sum()))

    _, gap, curve, _ = cutting_plane(
        tangent, best.w, penalty=alpha / unit, tol=tol, max_iter=max_iter, report=report
    )
    best.lower, best.n_iter = best.objective - gap * unit, len(curve)
    return best


def smoothed(problem, *, alpha, tol, max_iter, report=None):
    """L-BFGS on smooth approximations, each sharper than the one before, until the gap is small.

    The probabilities of labels at each point are a point of the dual, which gives the
    gap. The minimisers of two stages are extrapolated to no smoothing (Richardson),
    because their distance from the limit is linear in gamma. gamma is .03 times the
    objective at zero weights, then ten times less at each stage, down to 1e-6. A stage
    ends when its own minimum is nearer than .002 of the gap.
    """
    best = Best(problem, alpha, tol)
    unit = max(best.objective, np.finfo(float).tiny)
    w, before, gamma = np.zeros(problem.size), None, 0.03 * unit
    to_minimum, tangent = np.inf, problem.at_zero

    def objective(w):
        nonlocal to_minimum, tangent
        tangent = problem.soft(w, gamma)
        best.bound(tangent)
        if tangent.exact is not None:
            best.keep(w, tangent.exact)
        gradient = alpha * w + tangent.slope
        to_minimum = float(gradient @ gradient) / (2.0 * alpha)
        return (alpha / 2.0 * float(w @ w) + tangent.value) / unit, gradient / unit

    def look(n_iter, w, *_):
        best.n_iter += 1
        if best.n_iter % 10 == 0:
            if tangent.exact is None:  # another pass over the labels
                best.at(w)
            if report is not None:
                report(best.n_iter, best.objective, best.gap)
        return done() or to_minimum < 0.002 * best.gap

    def done():
        """Zero weights decide nothing: they need a gap ten times smaller."""
        return best.gap <= (best.tol if best.w.any() else 0.1 * best.tol)

    while best.n_iter < max_iter and not done() and gamma > 1e-6 * unit:
        left = max_iter - best.n_iter
        w = lbfgs(objective, w, tol=0.0, max_iter=left, report=look, memory=20)[0]
        if tangent.exact is None:
            best.at(w)
        if before is not None:
            best.at(w + (w - before) * 0.1 / 0.9)
        before = w
        gamma *= 0.1
    return best


class Descent:
    """State of averaged stochastic subgradient steps on batches (17.2.5).

    The step size is ``B / (rho sqrt(t))`` for ``|Psi(y') - Psi(y)| <= rho`` and ``|w|
    <= B``, by corollary 17.2. The minimiser of the penalised problem has ``|w|^2 <= 2
    F(0) / alpha``, which is B^2; rho is the largest slope so far, with the penalty. The
    step size of strong convexity, ``2 / (alpha (t + 1))``, replaces it if it is
    smaller. Step t has the weight t in the mean.
    """

    def __init__(self, size):
        self.w, self.mean = np.zeros(size), np.zeros(size)
        self.rho, self.radius, self.n_steps = 0.0, 0.0, 0

    def step(self, part, alpha, n_terms):
        """One step on a batch of a problem of `n_terms` terms."""
        fraction = part.n_terms / n_terms
        tangent = part.worst(self.w)
        if self.radius == 0.0:  # no batch had a positive hinge yet
            self.radius = np.sqrt(2.0 * max(tangent.value / fraction, 0.0) / alpha)
        slope = tangent.slope / fraction + alpha * self.w
        self.n_steps += 1
        self.rho = max(self.rho, float(np.linalg.norm(slope)))
        if self.rho > 0.0:
            size = self.radius / (self.rho * np.sqrt(self.n_steps))
            self.w = self.w - min(size, 2.0 / (alpha * (self.n_steps + 1.0))) * slope
            norm = float(np.linalg.norm(self.w))
            if norm > self.radius:
                self.w *= self.radius / norm
        self.mean = self.mean + (self.w - self.mean) * 2.0 / (self.n_steps + 1.0)
        return tangent.value / fraction


def descend(problem, descent, batches, rng, *, alpha, tol, max_iter, report=None):
    """Passes of `Descent` over the batches; the gap is the one of the tangent at the mean.

    The passes end when five in a row did not lower the objective at the mean by `tol`
    times its value at zero weights (five as in scikit-learn's SGDClassifier). If the
    objective is larger at the mean than at zero weights (few lists and a small alpha
    make the first steps large), zero weights are returned.
    """
    best, least, n_idle = Best(problem, alpha, tol), np.inf, 0
    while best.n_iter < max_iter and n_idle < 5:
        best.n_iter += 1
        for i in rng.permutation(len(batches)):
            descent.step(batches[i], alpha, problem.n_terms)
        tangent = problem.worst(descent.mean)
        objective = alpha / 2.0 * float(descent.mean @ descent.mean) + tangent.value
        if report is not None:
            report(best.n_iter, objective)
        n_idle = 0 if objective < least - best.tol else n_idle + 1
        least = min(least, objective)
    best.keep(descent.mean, tangent.value)
    best.bound(tangent)
    return best
