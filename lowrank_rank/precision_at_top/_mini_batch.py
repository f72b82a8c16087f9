"""Mini-batch steps on precision at the top: perceptrons and subgradient descent.

Subgradient descent minimises

    surrogate(w) / k + (alpha R^4 / (2 k)) |w - w_start|^2

with steps eta0 / (R^2 sqrt(t)). R^2 is the mean squared norm of the standardised rows, and k in the
second term counts the places at the top of all rows. The penalty is taken implicitly, so
that no step size overshoots. The perceptron has neither step size nor penalty. Iterates are
averaged with weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang 2013), which
needs no horizon.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..regression._statistics import Scaling, standardise
from ._batches import Rule

_DECAY = 3  # power of the weights in the average; Shamir & Zhang's eta


@dataclass
class Trajectory:
    """Optimiser state: initial, current and averaged weights, step count, units of the steps.

    Attributes
    ----------
    start, last, mean : ndarray of shape (p,) or (p + 1, L)
        Initial, current and averaged weights of the standardised features.
    scaling : Scaling
        Standardisation of the features; the identity for perceptrons.
    square : float
        Mean squared norm of the standardised rows, R^2.
    n_places : int
        Number of places at the top of all rows, in a stream of all calls so far.
    n_steps : int
    """

    start: np.ndarray
    last: np.ndarray
    mean: np.ndarray
    scaling: Scaling
    square: float
    n_places: int = 0
    n_steps: int = 0

    def standardise(self, X):
        """Rows of X as the steps see them."""
        return standardise(X, self.scaling)


@dataclass(frozen=True)
class Descent:
    """The settings of the steps."""

    rule: Rule
    eta0: float
    alpha: float

    def advance(self, path, batch):
        """Take one step; returns the hits of the batch before it."""
        step = batch.step(path.last, self.rule)
        path.n_steps += 1
        if self.rule.perceptron:
            if step.direction is not None:
                path.last = path.last - step.direction
        else:
            self._descend(path, step.direction, batch.n_lists)
        newest = (_DECAY + 1) / (path.n_steps + _DECAY)
        path.mean = path.mean + newest * (path.last - path.mean)
        return step.hits

    def _descend(self, path, direction, n_lists):
        rate = self.eta0 / sqrt(path.n_steps)
        if direction is not None and path.square > 0:
            path.last = path.last - float(rate / (path.square * n_lists)) * direction
        pull = float(rate * self.alpha * path.square / path.n_places)
        if pull > 0:
            path.last = (path.last + pull * path.start) / (1.0 + pull)


def run_pass(path, batches, descent):
    """Take one pass over the batches; returns the mean of the hits over their lists.

    nan if no batch has anything to compare.
    """
    hits = n_lists = 0.0
    for batch in batches:
        hits += descent.advance(path, batch)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


def descend(path, draw, descent, *, max_iter, average, monitor, report):
    """Take `max_iter` passes over the batches.

    Parameters
    ----------
    path : Trajectory
        Changed in place.
    draw : callable
        ``draw()`` returns the batches of a pass.
    descent : Descent
    max_iter : int
    average : bool
        Whether the averaged weights are the result.
    monitor : callable or None
        ``monitor(weights)`` returns the held-out precision. The result is then the latest of the
        weights with the highest value, the start included. None returns the weights after the
        last pass.
    report : callable
        ``report(n_pass, value)`` after each pass.

    Returns
    -------
    weights : ndarray
    curve : list of float
        Held-out precision of the start and after each pass; without a monitor the mean precision
        of the batches in each pass, each before its step.
    """
    weights = path.start
    curve = [] if monitor is None else [monitor(weights)]
    best = max(curve, default=-np.inf)
    for n_pass in range(1, max_iter + 1):
        value = run_pass(path, draw(), descent)
        now = path.mean if average else path.last
        value = value if monitor is None else monitor(now)
        curve.append(value)
        report(n_pass, value)
        if monitor is None or value >= best:
            weights, best = now, value
    return weights, curve
