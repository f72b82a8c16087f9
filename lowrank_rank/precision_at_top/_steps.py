"""Steps on precision at the top: initial weights, perceptrons, subgradients, cutting planes.

Subgradient descent minimises

    surrogate(w) / k + (alpha R^4 / (2 k)) |w - w_start|^2

with steps eta0 / (R^2 sqrt(t)). R^2 is the mean squared norm of the standardised rows, and k in the
second term counts the places at the top of all rows. The penalty is taken implicitly, so
that no step size overshoots. The perceptron has neither step size nor penalty. Iterates are
averaged with weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang 2013), which
needs no horizon.
"""

import warnings
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from .._arrays import mean_square, numbers
from ..fitting._cutting_plane import cutting_plane
from ..fitting._logistic import fit_logistic
from ..fitting._statistics import Moments, Scaling, default_alpha
from ._batches import make_batches, scores_of
from ._surrogates import PrecisionSurrogate

# Initial weights --------------------------------------------------------------------


def start_weights(start, X, scaled, labels, scaling):
    """Initial weights (p,) or (p + 1, L) of the standardised features.

    They are zeros if all labels are equal, unless an array is given.

    Parameters
    ----------
    start : {"logistic", "zeros"}, estimator or array-like
        Estimators are fitted to X; an array holds weights of X.
    X, scaled : ndarray or CSR matrix of shape (n, p)
        The features as given, and standardised by `scaling`.
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
            coef, intercept = _logistic(scaled, positive)
    return coef[0] if positive.ndim == 1 else np.vstack([coef.T, intercept])


def _logistic(X, positive):
    """Logistic regression of each label of a matrix, or of the rows of all lists."""
    n_rows, p = X.shape
    ones, alpha = np.ones(n_rows), "auto"
    if positive.ndim == 2:
        alpha = default_alpha("items", p, n_rows, Moments.of(X, ones).mean_square)
    columns = np.atleast_2d(positive.T)
    counts = columns.sum(axis=1)
    coef = np.zeros((len(columns), p))
    intercept = np.log((counts + 0.5) / (n_rows - counts + 0.5))  # for labels of one class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be a minimum
        for i in np.flatnonzero((counts > 0) & (counts < n_rows)):
            found, at_zero, *_ = fit_logistic(X, columns[i], ones, alpha, tol=1e-4)
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
    return slopes.T.astype(np.float64), origin


# Mini-batch steps ---------------------------------------------------------------------


@dataclass
class Trajectory:
    """Optimiser state: initial, current and averaged weights, step count, and scale.

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


@dataclass(frozen=True)
class Descent:
    """Settings of the updates; perceptrons have neither step size nor penalty."""

    surrogate: PrecisionSurrogate
    perceptron: bool
    eta0: float
    alpha: float

    def advance(self, path, batch):
        """Take one step; returns the hits of the batch before it."""
        direction, hits = batch.step(path.last, self.surrogate, self.perceptron)
        path.n_steps += 1
        rate, pull = 1.0, 0.0
        if not self.perceptron:
            rate = self.eta0 / sqrt(path.n_steps)
            pull = float(rate * self.alpha * path.square / path.n_places)
            rate = float(rate / (path.square * batch.n_lists)) if path.square > 0 else 0.0
        if direction is not None:
            path.last = path.last - rate * direction
        if pull > 0:
            path.last = (path.last + pull * path.start) / (1.0 + pull)
        newest = 4.0 / (path.n_steps + 3.0)  # weights grow like t^3
        path.mean = path.mean + newest * (path.last - path.mean)
        return hits


def run_pass(path, batches, descent):
    """Take one pass over the batches; returns the mean of the hits over their lists, or nan."""
    hits = n_lists = 0.0
    for batch in batches:
        hits += descent.advance(path, batch)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


def descend(path, batches, rng, descent, *, max_iter, average, monitor, report):
    """Take `max_iter` passes over the batches, in an order drawn for each pass.

    Parameters
    ----------
    path : Trajectory
        Changed in place.
    batches : list of ListsBatch or MatrixBatch
    rng : RandomState
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
        order = rng.permutation(len(batches))
        value = run_pass(path, (batches[i] for i in order), descent)
        now = path.mean if average else path.last
        value = value if monitor is None else monitor(now)
        curve.append(value)
        report(n_pass, value)
        if monitor is None or value >= best:
            weights, best = now, value
    return weights, curve


def warn_of_start(start):
    """Warn that a start that was fitted is better than all passes."""
    if isinstance(start, str) and start == "logistic":
        name = "the initial logistic regression"
    elif hasattr(start, "fit"):
        name = f"the initial {type(start).__name__}"
    else:
        return
    warnings.warn(
        f"Training did not improve held-out precision at k; keeping {name}. If a few rows have "
        "huge values, apply logarithms or QuantileTransformer first; else try a smaller eta0, or a "
        "larger top as target_loss.",
        ConvergenceWarning,
        stacklevel=3,
    )


def diverged(estimator):
    """The error of scores that are not finite."""
    remedy = "bring the features to one scale (StandardScaler)"
    if estimator.update != "perceptron":
        remedy = f"lower eta0={estimator.eta0:g}, or {remedy}"
    return ValueError(f"Training diverged: the scores are not finite. To fix it, {remedy}.")


# Cutting planes ---------------------------------------------------------------------


def minimise_struct(part, descent, tol, max_iter, report):
    """Minimise "struct" plus the penalty on one list by cutting planes."""
    if not part.labels.one_list:
        raise ValueError("solver='cutting_plane' takes one list of rows, without qid.")
    X = part.X
    (batch,) = make_batches(part, X.shape[0], None)
    n_entries = (X.nnz if sparse.issparse(X) else np.count_nonzero(X)) / X.shape[0]
    penalty = descent.alpha * n_entries * mean_square(X) / batch.n_places
    fit = cutting_plane(
        lambda weights: batch.tangent(weights, descent.surrogate),
        np.zeros(X.shape[1]),
        penalty=max(penalty, np.finfo(float).tiny),
        tol=tol or 0.0,
        max_iter=max_iter,
        report=report,
    )
    trouble = []
    if not fit.converged:
        trouble.append(
            f"stopped after {len(fit.curve)} rounds with a duality gap of {fit.gap:.3g}, above "
            f"tol={tol}: increase max_iter, alpha or tol"
        )
    if np.ptp(scores_of(X, fit.weights)) <= 1e-9:
        trouble.append(
            "end at weights with equal scores for all rows: the penalty "
            f"alpha={descent.alpha:g} is too strong; lower alpha, or take solver='mini_batch'"
        )
    if trouble:
        message = f"The cutting planes {', and '.join(trouble)}."
        warnings.warn(message, ConvergenceWarning, stacklevel=4)
    return fit
