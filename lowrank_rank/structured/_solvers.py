"""Solvers of ``alpha / 2 |w|^2 + F(w)``, F a weighted sum of hinges; see `_problem`.

The solvers use the tangents of F (`worst`, `worst_of_parts`), its smooth approximation (`soft`) and
its parts (`batches`). Each solver returns a duality gap: a convex combination of labels with the
features g and the expected Delta d bounds the objective from below by d - |g|^2 / (2 alpha).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from ..solvers import cutting_plane

#: Smoothing of the first stage, over the objective at zero weights, and its factor from one stage
#: to the next.
_GAMMAS = (0.03, 0.1)
_SHARPEST = 1e-6
#: A stage ends when at most this fraction of the gap is left to its own minimum.
_REST = 0.002
#: Iterations between two evaluations of the objective itself, each as costly as an iteration.
_LOOK_EVERY = 10

_ROUNDING = 1e-12  # of a mean Delta, which is a number near 1


class HingeFit(NamedTuple):
    """Result of a solver.

    Attributes
    ----------
    w : ndarray
    objective : float
    gap : float
        Upper bound of the objective minus the least possible one; nan where there is none.
    n_iter : int
    converged : bool
    """

    w: np.ndarray
    objective: float
    gap: float
    n_iter: int
    converged: bool


class Watch:
    """Best weights and best lower bound so far, and the test of convergence."""

    def __init__(self, problem, alpha, tol, report=None):
        self.problem, self.alpha, self.report = problem, alpha, report
        first = problem.worst(np.zeros(problem.size))
        self.tol = tol * max(first.value, np.finfo(float).tiny)
        self.w, self.objective, self.lower = np.zeros(problem.size), first.value, -np.inf
        self.bound(first.slope, first.cost)
        self.n_iter = 0

    def bound(self, slope, cost):
        """Raise the lower bound by labels with the features `slope` and the Delta `cost`."""
        self.lower = max(self.lower, cost - float(slope @ slope) / (2.0 * self.alpha))

    def at(self, w, tangent=None):
        """Keep w if its objective is the least so far; returns the tangent at w."""
        tangent = self.problem.worst(w) if tangent is None else tangent
        objective = self.alpha / 2.0 * float(w @ w) + tangent.value
        if objective < self.objective:
            self.w, self.objective = w.copy(), objective
        return tangent

    @property
    def gap(self):
        return max(0.0, self.objective - self.lower)

    @property
    def is_done(self):
        return self.gap <= self.tol

    def step(self):
        self.n_iter += 1
        if self.report is not None:
            self.report(self.n_iter, self.objective, self.gap)
        return self.is_done

    def fit(self):
        return HingeFit(self.w, self.objective, self.gap, self.n_iter, self.is_done)


def one_slack(problem, *, alpha, tol, max_iter, report=None, parts=None, random_state=None):
    """Cutting planes with one tangent of the whole sum a round (Joachims 2005)."""
    whole = np.zeros(problem.n_blocks, dtype=np.intp)
    return n_slack(problem, alpha=alpha, tol=tol, max_iter=max_iter, parts=whole, report=report)


def n_slack(problem, *, alpha, tol, max_iter, parts, report=None, random_state=None):
    """Cutting planes with a tangent, and a slack, of each part a round.

    One call decodes all parts; `parts` is the part of each block.
    """
    zero = np.zeros(problem.size)
    unit = problem.worst(zero).value  # the unit of the gap
    if unit <= _ROUNDING:  # zero weights are the minimum
        return HingeFit(zero, 0.0, 0.0, 1, True)

    def tangent(w):
        values, slopes = problem.worst_of_parts(w, parts)
        return values / unit, slopes / unit, values.sum() + alpha / 2.0 * (w @ w)

    def say(n_round, objective):
        if report is not None:
            report(n_round, objective, np.nan)

    found = cutting_plane(
        tangent, zero, penalty=alpha / unit, tol=tol, max_iter=max_iter, report=say
    )
    objective = problem.worst(found.weights).value + alpha / 2.0 * float(
        found.weights @ found.weights
    )
    return HingeFit(found.weights, objective, found.gap * unit, len(found.curve), found.converged)


def frank_wolfe(problem, *, alpha, tol, max_iter, parts, random_state, report=None):
    """Block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013), parts as blocks.

    Each step moves the labels of one block towards the worst labels, by the step that maximises the
    dual. A pass over all blocks at one w gives the gap.
    """
    watch = Watch(problem, alpha, tol, report)
    n = len(parts)
    slopes, costs = np.zeros((n, problem.size)), np.zeros(n)  # of the true labels
    total, cost, mean, n_steps = np.zeros(problem.size), 0.0, np.zeros(problem.size), 0
    for n_pass in range(max_iter):
        estimate = 0.0
        for i in random_state.permutation(n):
            w = -total / alpha
            tangent = parts[i].worst(w)
            to, by = tangent.slope - slopes[i], tangent.cost - costs[i]
            gain = by + float(w @ to)
            estimate += max(gain, 0.0)
            length = float(to @ to)
            if gain > 0.0:
                size = 1.0 if length == 0.0 else min(1.0, alpha * gain / length)
                slopes[i] += size * to
                costs[i] += size * by
                total, cost = total + size * to, cost + size * by
            n_steps += 1
            mean += 2.0 / (n_steps + 1.0) * (-total / alpha - mean)
        watch.bound(total, cost)
        if estimate <= 4.0 * watch.tol or n_pass % 5 == 4 or n_pass == max_iter - 1:
            total = slopes.sum(axis=0)
            for candidate in (-total / alpha, mean):
                watch.at(candidate)
        if watch.step():
            break
    return watch.fit()


def smoothed(problem, *, alpha, tol, max_iter, report=None, parts=None, random_state=None):
    """L-BFGS on smooth approximations, each sharper than the one before, until the gap is small.

    The probabilities of labels at each point are a point of the dual, which gives the gap. The
    minimisers of two stages are extrapolated to no smoothing (Richardson): their distance from the
    limit is linear in gamma.
    """
    watch = Watch(problem, alpha, tol, report)
    unit = max(watch.objective, np.finfo(float).tiny)
    w, gamma, left = np.zeros(problem.size), _GAMMAS[0] * unit, max_iter

    def value_and_gradient(w):
        tangent = problem.soft(w, gamma)
        watch.bound(tangent.slope, tangent.cost)
        value = alpha / 2.0 * float(w @ w) + tangent.value
        gradient = alpha * w + tangent.slope
        last["rest"] = float(gradient @ gradient) / (2.0 * alpha)  # of the gap: not yet minimal
        return value / unit, gradient / unit

    def look(point):
        watch.n_iter += 1
        if watch.n_iter % _LOOK_EVERY == 0:
            last["point"] = point.copy()
            watch.at(last["point"])
            if report is not None:
                report(watch.n_iter, watch.objective, watch.gap)
            if watch.is_done or last["rest"] < _REST * watch.gap:
                raise StopIteration

    last: dict[str, Any] = {}
    before = None
    while left > 0 and not watch.is_done and gamma > _SHARPEST * unit:
        options = {"maxiter": left, "gtol": 0.0, "ftol": 0.0, "maxcor": 20}
        try:
            w = minimize(
                value_and_gradient, w, jac=True, method="L-BFGS-B", callback=look, options=options
            ).x
        except StopIteration:  # SciPy below 1.11 lets it through
            w = last["point"]
        left = max_iter - watch.n_iter
        watch.at(w)
        if before is not None:
            watch.at(w + (w - before) * _GAMMAS[1] / (1.0 - _GAMMAS[1]))
        before = w
        gamma *= _GAMMAS[1]
    return watch.fit()


class Descent:
    """State of averaged stochastic subgradient steps on batches (17.2.5).

    By corollary 17.2, for ``|Psi(y') - Psi(y)| <= rho`` and ``|w| <= B``, the step size is
    ``B / (rho sqrt(t))``. The minimiser of the penalised problem has ``|w|^2 <= 2 F(0) / alpha``,
    which is B^2; rho is the largest slope so far, with the penalty. The step size of strong
    convexity, ``2 / (alpha (t + 1))``, replaces it where it is smaller. Step t has the weight t in
    the mean.
    """

    def __init__(self, size):
        self.w, self.mean = np.zeros(size), np.zeros(size)
        self.rho, self.radius, self.n_steps = 0.0, 0.0, 0

    def step(self, part, alpha, n_blocks):
        """One step on a batch of a problem of `n_blocks` blocks."""
        fraction = part.n_blocks / n_blocks  # a block occurs once; its weight scales the slope
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


def descend(problem, descent, *, alpha, tol, max_iter, parts, random_state, report=None):
    """Passes of `Descent` over the parts; the gap is that of the tangent at the mean.

    If the objective is larger at the mean than at zero weights (few lists and a small alpha make
    the first steps large), zero weights are returned.
    """
    for n_pass in range(1, max_iter + 1):
        values = [
            descent.step(parts[i], alpha, problem.n_blocks)
            for i in random_state.permutation(len(parts))
        ]
        if report is not None:
            report(n_pass, float(np.mean(values)), np.nan)
    watch = Watch(problem, alpha, tol)
    tangent = watch.at(descent.mean)
    watch.bound(tangent.slope, tangent.cost)
    has_learnt = bool(np.any(watch.w)) or not np.any(descent.mean)
    return HingeFit(watch.w, watch.objective, watch.gap, max_iter, has_learnt)


#: Solvers by name. `descend` goes on from steps taken before.
SOLVERS: dict[str, Callable[..., HingeFit]] = {
    "one_slack": one_slack,
    "n_slack": n_slack,
    "frank_wolfe": frank_wolfe,
    "lbfgs": smoothed,
}
