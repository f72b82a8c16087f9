"""Steps on precision at the top: initial weights, perceptrons, subgradients, cutting planes.

Each method takes one step a mini-batch, with R^2 the mean squared norm of the rows.

    steps       w - eta0 / (R^2 sqrt(t)) slope, with the penalty below as an implicit step, so that
                no step size overshoots
    sgd         the same on the features as given, then the projection on |w| <= 1 / (alpha R)
    perceptron  a sum of rows, without step size and penalty

"steps" minimise

    surrogate(w) / k + (alpha R^4 / (2 k)) |w - w_start|^2

where k in the second term counts the places at the top of all rows. Their iterates are averaged
with weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang 2013), which needs no
horizon. The published methods have the uniform average.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from .._arrays import mean_square, numbers
from .._warn import warn
from ..fitting._cutting_plane import cutting_plane
from ..fitting._logistic import fit_logistic
from ..fitting._statistics import Moments, Scaling, chosen_alpha
from ._batches import make_batches
from ._surrogates import PRECISION_SURROGATES, perceptron_avg, perceptron_max

class Method(NamedTuple):
    """A method: the function of its surrogate or perceptron, and the kind of update."""

    surrogate: Callable
    update: str


METHODS = {
    **{name: Method(surrogate, "steps") for name, surrogate in PRECISION_SURROGATES.items()},
    "sgd@k-avg": Method(PRECISION_SURROGATES["avg"], "sgd"),
    "sgd@k-max": Method(PRECISION_SURROGATES["max"], "sgd"),
    "perceptron@k-avg": Method(perceptron_avg, "perceptron"),
    "perceptron@k-max": Method(perceptron_max, "perceptron"),
    "1pmb": Method(PRECISION_SURROGATES["struct"], "sgd"),
    "svmperf": Method(PRECISION_SURROGATES["struct"], "cutting planes"),
}

# Initial weights --------------------------------------------------------------------


def start_weights(start, X, labels, scaling):
    """Initial weights (p,) or (p + 1, L) of the standardised features.

    They are zeros if all labels are equal, unless an array is given.

    Parameters
    ----------
    start : {"logistic", "zeros"}, estimator or array-like
        Estimators are fitted to X; an array holds weights of X.
    X : ndarray or CSR matrix of shape (n, p)
        The features as given, not yet standardised by `scaling`.
    labels : Labels
    scaling : Scaling
    """
    positive, p = labels.positive, X.shape[1]
    n_labels = 1 if positive.ndim == 1 else positive.shape[1]
    coef, intercept = np.zeros((n_labels, p)), np.zeros(n_labels)
    if not isinstance(start, str) and not hasattr(start, "fit"):
        given, matrix = numbers(start, "start"), positive.ndim == 2
        wanted = [(n_labels, p + 1)] if matrix else [(p,), (1, p)]
        if given.shape not in wanted or not np.all(np.isfinite(given)):
            what = "a row for each label, its intercept last" if matrix else "a weight each"
            raise ValueError(
                f"start must be finite, of the shape {wanted[0]} ({what}), got {given.shape}."
            )
        given = given.reshape(n_labels, -1)
        coef, intercept = given[:, :p] * scaling.scale, given[:, :p] @ scaling.mean
        intercept = intercept + given[:, p] if matrix else intercept
    elif positive.any() and not positive.all():
        if hasattr(start, "fit"):
            coef, intercept = _of_estimator(start, X, labels, scaling)
        elif start == "logistic":
            coef, intercept = _logistic(X, positive)
            coef, intercept = coef * scaling.scale, intercept + coef @ scaling.mean
    return coef[0] if positive.ndim == 1 else np.vstack([coef.T, intercept])


def shift_of(X, scaling):
    """What the standardised copy of X still lacks: sparse rows are divided, but not centred."""
    return scaling.mean / scaling.scale if sparse.issparse(X) else np.zeros(X.shape[1])


def _logistic(X, positive):
    """Logistic regression of each label of a matrix, or of the rows of all lists."""
    n_rows, p = X.shape
    ones, alpha = np.ones(n_rows), "auto"
    if positive.ndim == 2:
        alpha = chosen_alpha("auto", "items", Moments.of(X, ones).mean_square, n_rows)
    columns = np.atleast_2d(positive.T)
    counts = columns.sum(axis=1)
    coef = np.zeros((len(columns), p))
    intercept = np.log((counts + 0.5) / (n_rows - counts + 0.5))  # for labels of one class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be a minimum
        for i in np.flatnonzero((counts > 0) & (counts < n_rows)):
            found, at_zero, *_ = fit_logistic(X, columns[i], ones, alpha, tol=1e-6)
            coef[i], intercept[i] = found[0], at_zero[0]
    return coef, intercept


def _of_estimator(estimator, X, labels, scaling):
    """Coefficients of a linear model, or of a pipeline that is linear in X, fitted to the rows."""
    classifies = labels.positive.ndim == 1 and is_classifier(estimator)
    is_last = not classifies or labels.pos_label == labels.classes[1]
    y = labels.positive.astype(int)
    if classifies:
        y = labels.classes[y if is_last else 1 - y]
    model = clone(estimator).fit(X, y)
    function = getattr(model, "decision_function", None) or model.predict
    some = X[:100]
    with np.errstate(over="ignore", invalid="ignore"):
        coef, intercept = _slopes(function, X, scaling)
        scores = np.asarray(function(some)).reshape(some.shape[0], -1)
        weights = (coef / scaling.scale).T
        away = np.max(np.abs(some @ weights - scaling.mean @ weights + intercept - scores))
    n_labels = 1 if labels.positive.ndim == 1 else labels.positive.shape[1]
    if coef.shape != (n_labels, X.shape[1]) or not (away <= 1e-4 * (1.0 + np.max(np.abs(scores)))):
        raise ValueError(
            f"start={estimator!r} does not score rows by a linear function of X: use a linear "
            "model, a pipeline of scalers and a linear model, or an array of weights."
        )
    return (coef, intercept) if is_last else (-coef, -intercept)


def _slopes(function, X, scaling):
    """Slopes (L, p) along the standardised features, and values (L,) at their origin."""
    is_sparse, p = sparse.issparse(X), X.shape[1]
    steps = sparse.diags(scaling.scale).tocsr()

    def values(moves):
        rows = moves.astype(X.dtype) if is_sparse else (scaling.mean + moves).astype(X.dtype)
        return np.asarray(function(rows)).reshape(moves.shape[0], -1)

    origin = values(sparse.csr_matrix((1, p)) if is_sparse else np.zeros((1, p)))[0]
    slopes = values(steps if is_sparse else steps.toarray()) - origin
    return slopes.T.astype(np.float64), origin + shift_of(X, scaling) @ slopes


# Mini-batch steps ---------------------------------------------------------------------


@dataclass
class Trajectory:
    """Optimiser state: initial, current and averaged weights, step count, and scale.

    Attributes
    ----------
    start, last, mean : ndarray of shape (p,) or (p + 1, L)
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


def take_step(path, batch, *, method, eta0, alpha):
    """Take one step on a batch; returns its hits before the step."""
    (surrogate, update), w, t = METHODS[method], path.last, path.n_steps + 1
    _, direction, hits = batch.step(w, surrogate, averaged=update != "perceptron")
    eta = eta0 / sqrt(t)
    if update == "perceptron":
        w = w - direction
    elif path.square > 0:
        w = w - eta / (path.square * batch.n_lists) * direction
    if update == "steps":
        pull = eta * alpha * path.square / path.n_places
        w = (w + pull * path.start) / (1.0 + pull)
    elif update == "sgd":
        w = w / max(1.0, float(np.linalg.norm(w)) * alpha * sqrt(path.square))
    newest = 4.0 / (t + 3.0) if update == "steps" else 1.0 / t  # weights grow like t^3, or are equal
    path.last, path.mean, path.n_steps = w, path.mean + newest * (w - path.mean), t
    return hits


def run_pass(path, batches, step):
    """Take one pass over the batches; returns the mean of the hits over their lists, or nan."""
    hits = n_lists = 0.0
    for batch in batches:
        hits += step(path, batch)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


# Cutting planes ---------------------------------------------------------------------


def minimise_struct(X, labels, top, *, alpha, tol, max_iter, report):
    """Weights of least "struct" plus penalty on one list by cutting planes, their gap, a curve."""
    if not labels.one_list:
        raise ValueError("method='svmperf' takes one list of rows, without qid.")
    (batch,) = make_batches(X, labels, top, X.shape[0], None)
    n_entries = (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) / X.shape[0]
    penalty = alpha * n_entries * mean_square(X) / batch.n_places
    weights, gap, curve, converged = cutting_plane(
        lambda weights: batch.step(weights, METHODS["svmperf"].surrogate),
        np.zeros(X.shape[1]),
        penalty=max(penalty, np.finfo(float).tiny),
        tol=tol or 0.0,
        max_iter=max_iter,
        report=report,
    )
    trouble = []
    if not converged:
        trouble.append(
            f"stopped after {len(curve)} rounds with a duality gap of {gap:.3g}, above "
            f"tol={tol}: increase max_iter, alpha or tol"
        )
    if np.ptp(X @ weights) <= 1e-9:
        trouble.append(
            "end at weights with equal scores for all rows: the penalty "
            f"alpha={alpha:g} is too strong; lower alpha, or take method='ramp'"
        )
    if trouble:
        message = f"The cutting planes {', and '.join(trouble)}."
        warn(message, ConvergenceWarning)
    return weights, gap, curve
