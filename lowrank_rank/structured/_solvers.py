"""Solvers of ``alpha / 2 |w|^2 + F(w)``, F a weighted sum of hinges of linear scores.

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
from sklearn.utils.extmath import row_norms

from ..fitting._cutting_plane import cutting_plane
from ..fitting._linear_problem import LinearProblem, lbfgs


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
        each term and the slopes, like scores. ``hinge.subset(terms)`` is the hinge of
        some terms, and ``hinge.rows(terms)`` are their rows. A smooth hinge has
        ``hinge.soft(scores, gamma, weights)``, which may overwrite the scores. It
        returns the `Tangent` of the weighted sum, as a function of the scores.
    weights : ndarray of shape (n_terms,)
    n_columns : int
    intercept : bool
        Whether a constant feature is added.
    shift : ndarray of shape (n_features,) or float
        Subtracted from the rows: the means of sparse X.
    """

    def __init__(self, X, hinge, weights, n_columns, *, intercept=False, shift=0.0):
        super().__init__(X, n_columns, intercept=intercept, mean=shift)
        self.hinge = hinge
        self.weights = weights
        self.n_terms = len(weights)

    @property
    def is_smooth(self):
        """Whether the hinge has a smooth approximation."""
        return hasattr(self.hinge, "soft")

    @cached_property
    def at_zero(self):
        """`Tangent` of F at zero weights."""
        return self.worst(np.zeros(self.size))

    def worst(self, w):
        """Return the `Tangent` of F at w."""
        values, slopes = self.hinge.worst(self.scores(w))
        value = float(values @ self.weights)
        slope = self.gradient(slopes * self.hinge.per_row(self.weights))
        # The hinge is Delta + <w, slope> at the worst labels.
        return Tangent(value, slope, cost=value - float(slope @ w))

    def soft(self, w, gamma):
        """Return the `Tangent` of the smooth approximation at w."""
        tangent = self.hinge.soft(self.scores(w), gamma, self.weights)
        return tangent._replace(slope=self.gradient(tangent.slope))

    def worst_of_parts(self, w, part):
        """Return values (n_parts,) and slopes (n_parts, size) of the parts of F.

        `part` is the part of each term.
        """
        values, slopes = self.hinge.worst(self.scores(w))
        values = np.bincount(part, values * self.weights)
        slopes = slopes * self.hinge.per_row(self.weights)
        part_of_row = self.hinge.per_row(part)[:, 0]
        return values, self.gradients_of_parts(slopes, part_of_row, len(values))

    def gradients_of_parts(self, slopes, part, n_parts):
        """Return the gradients (n_parts, size) from the rows of each part.

        `part` is the part of each row.
        """
        if n_parts == 1:
            return self.gradient(slopes)[np.newaxis]
        # One sparse matrix for all parts: a row has its slopes in the columns of its
        # part, so that one product with X sums over the rows of each part.
        q = self.n_columns
        columns = part[:, np.newaxis] * q + np.arange(q)
        starts = np.arange(0, q * len(part) + 1, q)
        slopes_by_part = csr_matrix(
            (slopes.ravel(), columns.ravel(), starts), shape=(len(part), n_parts * q)
        )
        products = slopes_by_part.T @ self.X
        if issparse(products):
            products = products.toarray()
        sums = np.asarray(slopes_by_part.sum(axis=0)).ravel()
        # sum_i slope_i (x_i - mean)
        gradients = products - np.outer(sums, self.mean)
        if self.intercept:
            gradients = np.column_stack([gradients, sums])
        return gradients.reshape(n_parts, -1)

    def partition(self, size, random_state=None):
        """Return the part of each term, with about `size` terms in a part."""
        n_parts = max(1, round(self.n_terms / size))
        order = np.arange(self.n_terms)
        if random_state is not None:
            random_state.shuffle(order)
        part = np.empty(self.n_terms, dtype=np.intp)
        part[order] = np.arange(self.n_terms) * n_parts // self.n_terms
        return part

    def squared_norms(self):
        """Return the squared norm of each row, with its constant feature."""
        mean = self.mean
        # |x - mean|^2 = |x|^2 - 2 <x, mean> + |mean|^2
        squares = row_norms(self.X, squared=True)
        squares = squares - 2.0 * (self.X @ mean) + mean @ mean
        return squares + float(self.intercept)

    def largest_slope(self):
        """Return rho, an upper bound of ``|Psi(x, y') - Psi(x, y)|`` over the terms."""
        return float(self.slopes_of_terms().max())

    def slopes_of_terms(self):
        """Return an upper bound of ``|Psi(x, y') - Psi(x, y)|`` for each term.

        The difference is a sum of rows, each times its slope.
        """
        norms = np.sqrt(np.maximum(self.squared_norms(), 0.0))
        return self.hinge.sum_of_largest_slopes(norms)

    def batches(self, size, random_state=None):
        """Return problems of about `size` terms, whose sum is this problem."""
        part = self.partition(size, random_state)
        terms_by_part = np.argsort(part, kind="stable")
        is_first = np.diff(part[terms_by_part]) > 0
        parts = np.split(terms_by_part, np.flatnonzero(is_first) + 1)
        if len(parts) == 1:
            return [self]
        return [self.subset(terms) for terms in parts]

    def subset(self, terms):
        """Return the problem of some terms, with their weights in this one."""
        return type(self)(
            self.X[self.hinge.rows(terms)],
            self.hinge.subset(terms),
            self.weights[terms],
            self.n_columns,
            intercept=self.intercept,
            shift=self.mean,
        )


class Best:
    """Best weights `w` so far, their objective, and a lower bound of the minimum.

    All solvers return it. `tol` is relative to the hinge at zero weights.
    """

    def __init__(self, problem, alpha, tol):
        at_zero = problem.at_zero
        self.problem = problem
        self.alpha = alpha
        self.tol = tol * max(at_zero.value, np.finfo(float).tiny)
        self.w = np.zeros(problem.size)
        self.objective = at_zero.value
        self.lower = -np.inf
        self.n_iter = 0
        self.raise_lower_bound(at_zero)

    def raise_lower_bound(self, tangent):
        """Raise the lower bound to ``d - |g|^2 / (2 alpha)`` of a tangent."""
        slope = tangent.slope
        bound = tangent.cost - float(slope @ slope) / (2.0 * self.alpha)
        self.lower = max(self.lower, bound)

    def update(self, w, value):
        """Keep w if its objective is the least so far, with F(w) = value; return it."""
        objective = self.alpha / 2.0 * float(w @ w) + value
        if objective < self.objective:
            self.w = w.copy()
            self.objective = objective
        return objective

    def evaluate(self, w):
        """Keep w if its objective is the least so far."""
        self.update(w, self.problem.worst(w).value)

    @property
    def gap(self):
        """Upper bound of the objective minus its minimum."""
        return max(0.0, self.objective - self.lower)

    @property
    def converged(self):
        """Whether the gap is at most the tolerance."""
        return self.gap <= self.tol


# Cutting planes ---------------------------------------------------------------------


def cutting_planes(problem, parts, *, alpha, tol, max_iter, report=None):
    """Add a tangent for each part, with a slack of its own, in each round (Joachims).

    `parts` is the part of each term.
    """
    best = Best(problem, alpha, tol)
    at_zero = best.objective
    if at_zero <= 1e-12:  # zero weights are the minimum; Delta is a number near 1
        best.lower = at_zero
        return best

    # The objective is divided by its value at zero weights.
    def tangent(w):
        values, slopes = problem.worst_of_parts(w, parts)
        objective = best.update(w, float(values.sum()))
        return values / at_zero, slopes / at_zero, objective

    _, gap, objectives, _ = cutting_plane(
        tangent,
        best.w,
        penalty=alpha / at_zero,
        tol=tol,
        max_iter=max_iter,
        report=report,
    )
    best.lower = best.objective - gap * at_zero
    best.n_iter = len(objectives)
    return best


# Smooth approximations --------------------------------------------------------------


class SmoothStage:
    """Smoothed objective at one gamma, for L-BFGS, which ends when the gap is small.

    Each point improves the bounds of `best`: the probabilities of its labels are a
    point of the dual.
    """

    def __init__(self, best, gamma, unit, report):
        self.best = best
        self.gamma = gamma
        self.unit = unit
        self.report = report
        self.computes_hinge = False
        self.excess = np.inf

    def objective(self, w):
        """Return the smoothed objective over `unit`, and its gradient."""
        best = self.best
        alpha = best.alpha
        tangent = best.problem.soft(w, self.gamma)
        best.raise_lower_bound(tangent)
        self.computes_hinge = tangent.exact is not None
        if self.computes_hinge:
            best.update(w, tangent.exact)
        value = alpha / 2.0 * float(w @ w) + tangent.value
        gradient = alpha * w + tangent.slope
        # By strong convexity the minimum of the stage is at most
        # |gradient|^2 / (2 alpha) below.
        self.excess = float(gradient @ gradient) / (2.0 * alpha)
        return value / self.unit, gradient / self.unit

    def is_over(self, n_iter, w, *_):
        """Count an iteration of L-BFGS; return whether it is the last of the stage."""
        best = self.best
        best.n_iter += 1
        if best.n_iter % 10 == 0:
            if not self.computes_hinge:  # another pass over the labels
                best.evaluate(w)
            if self.report is not None:
                self.report(best.n_iter, best.objective, best.gap)
        return has_small_gap(best) or self.excess < 0.002 * best.gap


def smoothed(problem, *, alpha, tol, max_iter, report=None):
    """Minimise smooth approximations by L-BFGS, each sharper than the one before.

    The minimisers of two stages are extrapolated to no smoothing (Richardson), because
    their distance from the limit is linear in gamma. gamma is .03 times the objective
    at zero weights, then ten times less at each stage, down to 1e-6. A stage ends when
    its own minimum is nearer than .002 of the gap.
    """
    best = Best(problem, alpha, tol)
    unit = max(best.objective, np.finfo(float).tiny)
    gamma = 0.03 * unit
    w = np.zeros(problem.size)
    before = None
    while best.n_iter < max_iter and not has_small_gap(best) and gamma > 1e-6 * unit:
        stage = SmoothStage(best, gamma, unit, report)
        w, *_ = lbfgs(
            stage.objective,
            w,
            tol=0.0,
            max_iter=max_iter - best.n_iter,
            report=stage.is_over,
            memory=20,
        )
        if not stage.computes_hinge:
            best.evaluate(w)
        if before is not None:
            # w(gamma) = w(0) + c gamma, and w(10 gamma) is the minimiser before.
            best.evaluate(w + (w - before) * 0.1 / 0.9)
        before = w
        gamma *= 0.1
    return best


def has_small_gap(best):
    """Return whether the gap is small: zero weights need a gap ten times smaller."""
    if best.w.any():
        return best.gap <= best.tol
    return best.gap <= 0.1 * best.tol


# Subgradient steps ------------------------------------------------------------------


class Descent:
    """State of averaged subgradient steps on batches, for the penalised objective.

    The steps decrease, and late ones count more; `published_sgd` is the loop of 17.2.5.
    The step size is ``B / (rho sqrt(t))`` for ``|Psi(y') - Psi(y)| <= rho`` and ``|w|
    <= B``, by corollary 17.2. The minimiser of the penalised problem has ``|w|^2 <= 2
    F(0) / alpha``, which is B^2; rho is the largest slope so far, with the penalty. The
    step size of strong convexity, ``2 / (alpha (t + 1))``, replaces it if it is
    smaller. Step t has the weight t in the mean.
    """

    def __init__(self, size):
        self.w = np.zeros(size)
        self.mean = np.zeros(size)
        self.rho = 0.0
        self.radius = 0.0  # B
        self.n_steps = 0

    def step(self, batch, alpha, n_terms):
        """Take a step on a batch, of `n_terms` terms in all; estimate F."""
        # F is about the sum over the batch, over its fraction of the terms.
        fraction = batch.n_terms / n_terms
        tangent = batch.worst(self.w)
        value = tangent.value / fraction
        slope = tangent.slope / fraction + alpha * self.w
        if self.radius == 0.0:  # no batch had a positive hinge yet
            self.radius = np.sqrt(2.0 * max(value, 0.0) / alpha)
        self.n_steps += 1
        self.rho = max(self.rho, float(np.linalg.norm(slope)))
        if self.rho > 0.0:
            step_size = min(
                self.radius / (self.rho * np.sqrt(self.n_steps)),
                2.0 / (alpha * (self.n_steps + 1.0)),
            )
            self.w = self.w - step_size * slope
            # Project onto the ball |w| <= B.
            norm = float(np.linalg.norm(self.w))
            if norm > self.radius:
                self.w *= self.radius / norm
        # The weight of step t in the mean, t over 1 + ... + t.
        self.mean = self.mean + (self.w - self.mean) * 2.0 / (self.n_steps + 1.0)
        return value


def descend(problem, descent, batches, rng, *, alpha, tol, max_iter, report=None):
    """Pass over the batches; the gap is the one of the tangent at the mean.

    The passes end when five in a row did not lower the objective at the mean by `tol`
    times its value at zero weights (five as in scikit-learn's SGDClassifier). If the
    objective is larger at the mean than at zero weights (few lists and a small alpha
    make the first steps large), zero weights are returned.
    """
    best = Best(problem, alpha, tol)
    least = np.inf
    n_idle = 0
    while best.n_iter < max_iter and n_idle < 5:
        best.n_iter += 1
        for i in rng.permutation(len(batches)):
            descent.step(batches[i], alpha, problem.n_terms)
        w = descent.mean
        tangent = problem.worst(w)
        objective = alpha / 2.0 * float(w @ w) + tangent.value
        if report is not None:
            report(best.n_iter, objective)
        if objective < least - best.tol:
            n_idle = 0
        else:
            n_idle += 1
        least = min(least, objective)
    best.update(descent.mean, tangent.value)
    best.raise_lower_bound(tangent)
    return best


def published_sgd(problem, radius, n_steps, rng):
    """Return the mean weights of T steps of the SGD of section 17.2.5.

    Each step draws a term with a chance proportional to its weight. The step
    size is ``B / (rho sqrt(T))``, where ``|Psi(x, y') - Psi(x, y)| <= rho`` for all x,
    y' and y. The expected hinge of the mean is then at most ``B rho / sqrt(T)`` above
    the least hinge of all w with ``|w| <= B`` (corollary 17.2).
    """
    rho = problem.largest_slope()
    if rho == 0.0:  # all features are 0
        return np.zeros(problem.size)
    step_size = radius / (rho * np.sqrt(n_steps))
    chances = problem.weights / problem.weights.sum()
    w = np.zeros(problem.size)
    total = np.zeros(problem.size)
    for term in rng.choice(problem.n_terms, size=n_steps, p=chances):
        total += w
        one = problem.subset(np.array([term]))
        # v_t = Psi(x, worst label) - Psi(x, y)
        slope = one.worst(w).slope / one.weights[0]
        w = w - step_size * slope
    return total / n_steps
