"""Mini-batch steps on precision at the top: perceptrons and subgradient descent.

Subgradient descent minimises

    surrogate(w) / k + (pull / 2) R^2 |w - w_start|^2,   pull = alpha * m / k,

with steps eta0 / (R^2 sqrt(t)), R^2 the mean squared norm of the rows: it does the same
whatever the unit of the features. The pull is taken implicitly, so that no step size makes it
overshoot. m is the mean number of features of a row that are not 0, and k counts the places at
the top, of all rows seen. The perceptron has neither step
size nor pull. Iterates are averaged with weights that grow like t^3 (polynomial-decay
averaging, Shamir & Zhang 2013), which needs no horizon.
"""

from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from ._batches import Rule

_DECAY = 3  # power of the weights in the average


@dataclass
class Trajectory:
    """Where the steps have got to: all that a later call needs to go on.

    Attributes
    ----------
    start, last, mean : ndarray of shape (p,) or (p + 1, L)
        Weights at the beginning, now, and averaged.
    n_steps : int
    n_rows : int
        Rows seen, each counted once in `fit`.
    squares : float
        Sum of their squared norms.
    places : float
        Sum of the k of the lists seen.
    entries : int
        Features that are not 0 in the rows seen.
    """

    start: np.ndarray
    last: np.ndarray
    mean: np.ndarray
    n_steps: int = 0
    n_rows: int = 0
    squares: float = 0.0
    places: float = 0.0
    entries: int = 0

    @classmethod
    def at(cls, start):
        return cls(start, start.copy(), start.copy())

    def copy(self):
        """The same place; weights are replaced, never changed, and can be shared."""
        return replace(self)

    def see(self, batch):
        """Take the size of a new batch into account."""
        self.n_rows += batch.n_rows
        self.squares += batch.squares
        self.places += batch.places
        self.entries += batch.entries


@dataclass(frozen=True)
class Descent:
    """The settings of the steps."""

    rule: Rule
    eta0: float
    alpha: float

    def pull(self, entries_of_a_row, places):
        """Strength of the pull towards the start, in units of R^2."""
        return self.alpha * entries_of_a_row / places

    def advance(self, path, batch):
        """One step; returns the hits of the batch before it."""
        step = batch.step(path.last, self.rule)
        path.n_steps += 1
        if self.rule.perceptron:
            if step.direction is not None:
                path.last = path.last - step.direction
        else:
            self._descend(path, step.direction)
        share = (_DECAY + 1) / (path.n_steps + _DECAY)
        path.mean = path.mean + share * (path.last - path.mean)
        return step.hits

    def _descend(self, path, direction):
        rate = self.eta0 / sqrt(path.n_steps)
        mean_square = path.squares / path.n_rows
        if direction is not None and mean_square > 0:
            path.last = path.last - float(rate / mean_square) * direction
        pull = float(rate * self.pull(path.entries / path.n_rows, path.places))
        if pull > 0:
            path.last = (path.last + pull * path.start) / (1.0 + pull)


def run_pass(path, batches, descent, *, first):
    """One pass over the batches; the mean over their lists of the hits as it went.

    nan where no batch has anything to compare.
    """
    hits = n_lists = 0.0
    for batch in batches:
        if first:
            path.see(batch)
        hits += descent.advance(path, batch)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


def mean_hits(batches, weights):
    """Mean over the lists of the share of the top that is right, at fixed weights."""
    hits = n_lists = 0.0
    for batch in batches:
        hits += batch.hits(weights)
        n_lists += batch.n_lists
    return hits / n_lists


def descend(path, draw, descent, *, max_iter, tol, patience, average, monitor, report):
    """Passes until the precision stops improving.

    Parameters
    ----------
    path : Trajectory
        Moved along.
    draw : callable
        ``draw()`` gives the batches of a pass.
    descent : Descent
    max_iter : int
        Most passes.
    tol, patience : float, int
        Stop after `patience` passes without a gain of more than tol; tol None never does.
    average : bool
        Whether the averaged weights are the result.
    monitor : callable or None
        ``monitor(weights)``, the precision to watch. The result is then the latest of the weights
        with the highest value, the start included. None watches the mean precision
        of the batches as they came, which costs nothing, and returns the last weights.
    report : callable or None
        ``report(n_pass, value)`` after each pass.

    Returns
    -------
    weights : ndarray
    curve : list of float
        Value of each pass; with a monitor, that of the start before them.
    """
    weights = path.start
    curve = [] if monitor is None else [monitor(weights)]
    best, waited = max(curve, default=-np.inf), 0
    for n_pass in range(1, max_iter + 1):
        value = run_pass(path, draw(), descent, first=n_pass == 1)
        now = path.mean if average else path.last
        value = value if monitor is None else monitor(now)
        curve.append(value)
        if report is not None:
            report(n_pass, value)
        if monitor is None or value >= best:
            weights = now
        waited = 0 if tol is None or value > best + tol else waited + 1
        best = max(best, value)
        nothing_left = descent.rule.perceptron and value >= 1.0 - 1e-12  # no mistake, no step
        if waited >= patience or (tol is not None and nothing_left and monitor is None):
            break
    return weights, curve
