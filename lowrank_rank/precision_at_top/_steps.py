"""Steps on precision at the top: initial weights, perceptrons, subgradients, cutting planes.

Each method takes one step a mini-batch, with R^2 the mean squared norm of the rows.

    penalised   w - eta0 / (R^2 sqrt(t)) slope, with the penalty below as an implicit step, so that
                no step size overshoots
    projected   the same on the features as given, then the projection on |w| <= 1 / (alpha R)
    perceptron  a sum of rows, without step size and penalty

Penalised steps minimise

    surrogate(w) / k + (alpha R^4 / (2 k)) |w - w_start|^2

where k in the second term counts the places at the top of all rows. Their iterates are
averaged with weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang
2013), which needs no horizon. The published methods have the uniform average.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from .._arrays import mean_square
from .._warn import warn
from ..fitting._cutting_plane import cutting_plane
from ..fitting._logistic import fit_logistic
from ..fitting._statistics import Scaling
from ._batches import make_batches
from ._surrogates import PRECISION_SURROGATES, perceptron_avg, perceptron_max

# Mini-batch steps ---------------------------------------------------------------------


@dataclass
class Trajectory:
    """Optimiser state: initial, current and averaged weights, step count, and scale.

    Attributes
    ----------
    start, last, mean : ndarray of shape (p,)
        Initial, current and averaged weights of the standardised features.
    scaling : Scaling
        Standardisation of the features; the identity for published methods.
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


def penalised(path, direction, n_lists, eta, alpha):
    """The weights after a subgradient step and an implicit step on the penalty."""
    pull = eta * alpha * path.square / path.n_places
    return (_moved(path, direction, n_lists, eta) + pull * path.start) / (1.0 + pull)


def projected(path, direction, n_lists, eta, alpha):
    """The weights after a subgradient step and a projection on the ball (algorithm 3)."""
    w = _moved(path, direction, n_lists, eta)
    return w / max(1.0, float(np.linalg.norm(w)) * alpha * sqrt(path.square))


def perceptron(path, direction, n_lists, eta, alpha):
    """The weights plus the rows that were wrong (algorithms 1 and 2)."""
    return path.last - direction


def _moved(path, direction, n_lists, eta):
    """The weights after a subgradient step; features that are all 0 move nothing."""
    return path.last - (
        eta / (path.square * n_lists) * direction if path.square > 0 else 0.0
    )


class Method(NamedTuple):
    """A surrogate, or the mistakes of a perceptron, and the update of the weights.

    "svmperf" has no update: it solves the problem by cutting planes.
    """

    surrogate: Callable
    update: Callable | None

    @property
    def is_published(self):
        """Whether features are as given, weights begin at zero and have a uniform mean."""
        return self.update is not penalised


METHODS = {
    **{
        name: Method(surrogate, penalised)
        for name, surrogate in PRECISION_SURROGATES.items()
    },
    "sgd@k-avg": Method(PRECISION_SURROGATES["avg"], projected),
    "sgd@k-max": Method(PRECISION_SURROGATES["max"], projected),
    "perceptron@k-avg": Method(perceptron_avg, perceptron),
    "perceptron@k-max": Method(perceptron_max, perceptron),
    "1pmb": Method(PRECISION_SURROGATES["struct"], projected),
    "svmperf": Method(PRECISION_SURROGATES["struct"], None),
}


def take_step(path, batch, method, *, eta0, alpha):
    """Take one step of a `Method` on a batch; returns its hits before the step."""
    t, is_perceptron = path.n_steps + 1, method.update is perceptron
    _, direction, hits = batch.step(
        path.last, method.surrogate, averaged=not is_perceptron
    )
    w = method.update(path, direction, batch.n_lists, eta0 / sqrt(t), alpha)
    newest = (
        1.0 / t if method.is_published else 4.0 / (t + 3.0)
    )  # equal weights, or like t^3
    path.last, path.mean, path.n_steps = w, path.mean + newest * (w - path.mean), t
    return hits


def run_pass(path, batches, method, *, eta0, alpha):
    """Take one pass over the batches; returns the mean of the hits over their lists, or nan."""
    hits = n_lists = 0.0
    for batch in batches:
        hits += take_step(path, batch, method, eta0=eta0, alpha=alpha)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


# Initial weights --------------------------------------------------------------------


def start_weights(start, X, positive, scaling):
    """Weights (p,) of features to be standardised by `scaling`: logistic regression, or zeros.

    They are zeros if all labels are equal.
    """
    if start == "zeros" or positive.all() or not positive.any():
        return np.zeros(X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # a start need not be a minimum
        coef, *_ = fit_logistic(X, positive, np.ones(X.shape[0]), "auto", tol=1e-6)
    return coef[0] * scaling.scale


def shift_of(X, scaling):
    """What the standardised copy of X still lacks: sparse rows are divided, but not centred."""
    return scaling.mean / scaling.scale if sparse.issparse(X) else 0.0


# Cutting planes ---------------------------------------------------------------------


def minimise_struct(X, positive, lists, loss, *, alpha, tol, max_iter, report):
    """Weights of least "struct" plus penalty on one list by cutting planes, their gap, a curve."""
    if lists.ids is not None:
        raise ValueError("method='svmperf' takes one list of rows, without qid.")
    (batch,) = make_batches(X, positive, lists, loss, X.shape[0], None)
    n_entries = (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) / X.shape[0]
    penalty = max(
        alpha * n_entries * mean_square(X) / batch.n_places, np.finfo(float).tiny
    )
    tangent = partial(batch.step, surrogate=METHODS["svmperf"].surrogate)
    settings = {"tol": tol or 0.0, "max_iter": max_iter, "report": report}
    found = cutting_plane(tangent, np.zeros(X.shape[1]), penalty=penalty, **settings)
    weights, gap, curve, converged = found
    trouble = []
    if not converged:
        where = f"{len(curve)} rounds with a duality gap of {gap:.3g}, above tol={tol}"
        trouble.append(f"stopped after {where}: increase max_iter, alpha or tol")
    if np.ptp(X @ weights) <= 1e-9:
        remedy = f"lower alpha={alpha:g}, or take method='ramp'"
        trouble.append(f"end at weights with equal scores for all rows: {remedy}")
    if trouble:
        warn(f"The cutting planes {', and '.join(trouble)}.", ConvergenceWarning)
    return weights, gap, curve
