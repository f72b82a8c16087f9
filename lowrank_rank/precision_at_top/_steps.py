"""Steps on precision at the top: mini-batches, initial weights and cutting planes.

Each solver takes one step a mini-batch, with R^2 the mean squared norm of the rows.

    averaged    w - eta0 / (R^2 sqrt(t)) slope, with the penalty below as an implicit
                step, so that no step size overshoots
    sgd         the same on the features as given, then the projection on
                |w| <= 1 / (alpha R)
    perceptron  a sum of rows, without step size and penalty

Averaged steps minimise

    surrogate(w) / k + (alpha R^4 / (2 k)) |w - w_start|^2

where k in the second term counts the places at the top of all rows. Their iterates are
averaged with weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang
2013), which needs no horizon. The published solvers have the uniform average.
"""

from functools import partial
from math import sqrt

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from ..fitting._cutting_plane import cutting_plane
from ..fitting._logistic import fit_logistic
from ..validation._arrays import mean_square
from ..validation._findings import found, reporting
from ._batches import make_batches
from ._surrogates import PERCEPTRONS, PRECISION_SURROGATES

# Mini-batch steps ---------------------------------------------------------------------

#: The surrogates of each solver. All but "averaged" run as published: on features as
#: given, from zero weights, with a uniform mean.
SOLVERS = {
    "averaged": [*PRECISION_SURROGATES],
    "perceptron": [*PERCEPTRONS],
    "sgd": ["avg", "max", "struct"],
    "cutting_plane": ["struct"],
}


class Trajectory:
    """Optimiser state: initial, current and averaged weights, step count, and scale.

    Parameters
    ----------
    start : ndarray of shape (p,)
        Initial weights of the standardised features.
    feature_mean, feature_scale : ndarray of shape (p,)
        What standardises the features; 0 and 1 for published solvers.
    square : float
        Mean squared norm of the standardised rows, R^2.

    Attributes
    ----------
    last, mean : ndarray of shape (p,)
        Current and averaged weights.
    n_places : int
        Number of places at the top of all rows, in a stream of all calls so far.
    n_steps : int
    """

    def __init__(self, start, feature_mean, feature_scale, square):
        self.start = start
        self.last = start
        self.mean = start
        self.feature_mean = feature_mean
        self.feature_scale = feature_scale
        self.square = square
        self.n_places = 0
        self.n_steps = 0

    def step(self, batch, surrogate, solver, *, eta0, alpha):
        """Take one step on a batch; returns its precision before the step."""
        is_perceptron = solver == "perceptron"
        slopes = PERCEPTRONS if is_perceptron else PRECISION_SURROGATES
        _, slope, precision = batch.step(
            self.last, slopes[surrogate], averaged=not is_perceptron
        )
        self.n_steps += 1
        t = self.n_steps
        eta = eta0 / sqrt(t)
        if is_perceptron:
            # The rows that were wrong (algorithms 1 and 2).
            w = self.last - slope
        else:
            w = self.last
            if self.square > 0:  # features that are all 0 move nothing
                w = w - eta / (self.square * batch.n_lists) * slope
            if solver == "sgd":
                # Projection on the ball |w| <= 1 / (alpha R) (algorithm 3).
                norm = float(np.linalg.norm(w))
                w = w / max(1.0, norm * alpha * sqrt(self.square))
            else:
                # Implicit step: w minimises |w - w_step|^2 + pull |w - w_start|^2.
                pull = eta * alpha * self.square / self.n_places
                w = (w + pull * self.start) / (1.0 + pull)
        # The weight of the newest w in the mean: equal weights, or like t^3.
        newest = 4.0 / (t + 3.0) if solver == "averaged" else 1.0 / t
        self.mean = self.mean + newest * (w - self.mean)
        self.last = w
        return precision


def run_pass(path, batches, surrogate, solver, *, eta0, alpha):
    """Take one pass over the batches.

    Returns the mean precision of their lists, or nan without lists.
    """
    precision = 0.0
    n_lists = 0
    with np.errstate(over="ignore", invalid="ignore"):  # an error later
        for batch in batches:
            precision += path.step(batch, surrogate, solver, eta0=eta0, alpha=alpha)
            n_lists += batch.n_lists
    if not n_lists:
        return np.nan
    return precision / n_lists


# Initial weights --------------------------------------------------------------------


def start_weights(X, positive, standard):
    """Return the coefficients (p,) of logistic regression of standardised features.

    They are zeros if all labels are equal. `standard` is as in `fit_logistic`.
    """
    if positive.all() or not positive.any():
        return np.zeros(X.shape[1])
    # A start need not be a minimum.
    with reporting(ignore=ConvergenceWarning):
        coef, *_ = fit_logistic(
            X, positive, np.ones(X.shape[0]), "auto", tol=1e-6, standard=standard
        )
    _, _, moments = standard
    return coef[0] * moments.scale


# Cutting planes ---------------------------------------------------------------------

#: Relative duality gap at which the cutting planes stop, which the docstring states.
_MAX_GAP = 1e-3


def minimise_struct(X, positive, lists, loss, *, alpha, max_iter, report):
    """Minimise "struct" plus penalty on one list by cutting planes.

    Returns the weights, the duality gap, and the precision after each tangent.
    """
    (batch,) = make_batches(X, positive, lists, loss, X.shape[0], None)
    n_nonzero = X.nnz if sparse.issparse(X) else np.count_nonzero(X)
    # alpha m R^2 / k, with m the mean number of features of a row that are not 0.
    penalty = alpha * (n_nonzero / X.shape[0]) * mean_square(X) / batch.n_places
    weights, gap, curve, converged = cutting_plane(
        partial(batch.step, surrogate=PRECISION_SURROGATES["struct"]),
        np.zeros(X.shape[1]),
        penalty=max(penalty, np.finfo(float).tiny),
        tol=_MAX_GAP,
        max_iter=max_iter,
        report=report,
    )
    trouble = []
    if not converged:
        trouble.append(
            f"stopped after {len(curve)} rounds with a duality gap of {gap:.3g}: "
            "increase max_iter or alpha"
        )
    if np.ptp(X @ weights) <= 1e-9:
        trouble.append(
            f"end at weights with equal scores for all rows: lower alpha={alpha:g}, "
            "or use surrogate='ramp' and solver='averaged'"
        )
    if trouble:
        found(
            "cutting planes",
            f"The cutting planes {', and '.join(trouble)}.",
            ConvergenceWarning,
        )
    return weights, gap, curve
