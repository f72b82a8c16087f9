"""Logistic regression: of classes, and fractional of targets between two bounds."""

import warnings
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .._base import linear_scores
from ._alpha import default_alpha
from ._statistics import Moments, Scaling, standardise

MAX_ITER = 1000
_AT_ONCE = 64  # targets: of more, one that converges slowly keeps the others busy
_ENTRIES_AT_ONCE = 2**21  # of the scores of targets that are fitted together
_NEAREST = 1e-6  # to 0 and 1, of the means that a fit begins with
_MAX_FEATURES = 500  # up to which dense features are turned to their principal axes
_FLAT = 1e-12  # curvature below which a direction is flat


def _of_weight(weights, X, y):
    """The rows of positive weight; their weights have the mean 1."""
    counts = weights > 0
    if not counts.all():
        weights, X, y = weights[counts], X[counts], y[counts]
    weights = weights / weights.max()  # whose sum is in range
    return weights / weights.mean(), X, y


def standardised(X, weights):
    """The standardised copy of X, its `Scaling` and its `Moments`."""
    moments = Moments.of(X, weights)
    scaling = Scaling.of(X, moments)
    return standardise(X, scaling), scaling, moments


# Classes ----------------------------------------------------------------------------


class ClassModel(NamedTuple):
    """Multinomial logistic regression: probabilities ``softmax(X coef' + intercept)``.

    Attributes
    ----------
    coef : ndarray of shape (n_classes, p)
    intercept : ndarray of shape (n_classes,)
        -inf for a class that is not in y.
    vectors : ndarray of shape (n_classes, d)
        What the loss encodes the classes as.
    n_iter : int
    alpha : float
    """

    coef: np.ndarray
    intercept: np.ndarray
    vectors: np.ndarray
    n_iter: int
    alpha: float

    def probabilities(self, X):
        """Probabilities of the classes, shape (n, n_classes)."""
        known = np.isfinite(self.intercept)
        scores = np.full((X.shape[0], len(known)), -np.inf)
        scores[:, known] = linear_scores(X, self.coef[known], self.intercept[known])
        return softmax(scores, axis=1)

    def predict(self, X):
        """Surrogate vectors, shape (n, d): the expected vector of the class."""
        return self.probabilities(X) @ self.vectors


def fit_logistic(X, y, weights, alpha, *, tol, max_iter=None):
    """Coefficients of logistic regression of the features as given.

    It minimises the mean of ``-log p(y | x)`` and ``alpha / 2`` times the squared coefficients of
    standardised features.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    y : ndarray of shape (n,)
        Labels, of two classes or more.
    weights : ndarray of shape (n,)
        "auto" counts rows by them.
    alpha : float or "auto"
        "auto" is the formula of "classes".
    tol : float
        Largest entry of the gradient to end with.
    max_iter : int or None
        None is 1000.

    Returns
    -------
    coef : ndarray of shape (1, p) of two classes, else (n_classes, p)
    intercept : ndarray of shape (1,) or (n_classes,)
    n_iter : int
    alpha : float
    """
    n_rows = float(weights.sum())
    weights, X, y = _of_weight(weights, X, y)
    scaled, scaling, moments = standardised(X, weights)
    if alpha == "auto":
        alpha = default_alpha("classes", X.shape[1], n_rows, moments.mean_square)
    C = 1.0 / (alpha * len(weights)) if alpha > 0 else np.inf
    model = LogisticRegression(C=C, tol=tol, max_iter=max_iter or MAX_ITER)
    model.fit(scaled, y, sample_weight=weights)
    coef, intercept = scaling.unscaled(model.coef_, model.intercept_)
    return coef, intercept, int(model.n_iter_.max()), float(alpha)


def fit_classes(batch, n_classes, alpha, *, tol, max_iter):
    """`ClassModel` of an `EncodedBatch` whose y are indices of classes."""
    present = np.unique(batch.y[batch.row_weights > 0])
    coef, intercept = np.zeros((n_classes, batch.X.shape[1])), np.full(n_classes, -np.inf)
    vectors = batch.loss.encode(np.arange(n_classes))
    if len(present) == 1:
        intercept[present] = 0.0
        features = Moments.of(batch.X, batch.row_weights)
        alpha = batch.default_alpha("logistic", features) if alpha == "auto" else float(alpha)
        return ClassModel(coef, intercept, vectors, 1, alpha)
    found, at_zero, n_iter, alpha = fit_logistic(
        batch.X, batch.y, batch.row_weights, alpha, tol=tol, max_iter=max_iter
    )
    if len(present) == 2:  # the same probabilities from a score for each class
        found, at_zero = np.vstack([-found, found]) / 2.0, np.concatenate([-at_zero, at_zero]) / 2.0
    coef[present], intercept[present] = found, at_zero
    return ClassModel(coef, intercept, vectors, n_iter, alpha)


# Targets between two bounds ---------------------------------------------------------


class FractionalModel(NamedTuple):
    """Linear regression of targets through a sigmoid, each between bounds of its own.

    Attributes
    ----------
    coef : ndarray of shape (d, p)
    intercept : ndarray of shape (d,)
        Of the arguments of the sigmoids.
    low, high : ndarray of shape (d,)
    n_iter : int
    alpha : float
    """

    coef: np.ndarray
    intercept: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n_iter: int
    alpha: float

    def predict(self, X):
        """Targets, shape (n, d), equal for equal rows."""
        shares = expit(linear_scores(X, self.coef, self.intercept))
        return self.low + (self.high - self.low) * shares


def fit_fractional(batch, alpha, *, tol, max_iter):
    """`FractionalModel` of an `EncodedBatch` of fixed items (Papke & Wooldridge 1996).

    Each target t is estimated by ``low + (high - low) expit(w' x + b)``, low and high its least and
    largest value. With the fraction ``a = (t - low) / (high - low)`` the mean of

        -a log s - (1 - a) log(1 - s),    s = expit(w' x + b)

    and ``alpha / 2`` times the squared coefficients of standardised features are minimised. The
    loss is convex and strictly proper: its minimiser over all functions is E[t | x], as that of
    the squared error. For targets 0 and 1 this is logistic regression.

    Parameters
    ----------
    batch : EncodedBatch
    alpha : float or "auto"
    tol : float
        Largest entry of the gradient to end with, in units in which the curvature is about 1.
    max_iter : int or None
        None is 1000.
    """
    max_iter = max_iter or MAX_ITER
    weights, X, targets = _of_weight(batch.row_weights, batch.X, batch.targets)
    low, high = targets.min(axis=0), targets.max(axis=0)
    varying = high > low
    scaled, scaling, moments = standardised(X, weights)
    if alpha == "auto":
        alpha = batch.default_alpha("logistic", moments)
    shares = (targets[:, varying] - low[varying]) / (high - low)[varying]
    w, n_iter = _minimum(scaled, shares, weights / weights.sum(), alpha, tol, max_iter)
    if n_iter >= max_iter:
        warnings.warn(
            f"Logistic regression stopped after max_iter={n_iter} iterations: increase max_iter, "
            "tol or alpha.",
            ConvergenceWarning,
            stacklevel=4,
        )
    coef, intercept = np.zeros((len(low), X.shape[1])), np.zeros(len(low))
    coef[varying], intercept[varying] = scaling.unscaled(w[:-1].T, w[-1])
    return FractionalModel(coef, intercept, low, high, n_iter, float(alpha))


def _minimum(X, shares, weights, alpha, tol, max_iter):
    """Coefficients and, in the last row, intercepts, (p + 1, d); the most iterations."""
    (n, p), d = X.shape, shares.shape[1]
    axes = None
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).T @ weights).ravel()
    elif p > _MAX_FEATURES:
        squares = weights @ X**2
    else:  # uncorrelated features, which leave the penalty as it is
        squares, axes = np.linalg.eigh((X.T * weights) @ X)
        X = X @ axes
    means = np.clip(weights @ shares, _NEAREST, 1.0 - _NEAREST)
    # The objective of each target over its curvature, with coefficients in units in which all
    # directions are as curved.
    spread = means * (1.0 - means)
    curvature = np.vstack([squares[:, np.newaxis] + alpha / spread, np.ones(d)])
    unit = 1.0 / np.sqrt(np.maximum(curvature, _FLAT))
    found, n_iter = np.vstack([np.zeros((p, d)), logit(means)]), 0
    options = {"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol}
    options["ftol"] = np.finfo(float).eps
    step = int(np.clip(_ENTRIES_AT_ONCE // n, 1, _AT_ONCE))
    for some in (slice(first, first + step) for first in range(0, d, step)):
        result = minimize(
            _value_and_gradient,
            (found[:, some] / unit[:, some]).ravel(),
            (X, shares[:, some], weights, alpha, unit[:, some], spread[some]),
            method="L-BFGS-B",
            jac=True,
            options=options,
        )
        found[:, some] = result.x.reshape(p + 1, -1) * unit[:, some]
        n_iter = max(n_iter, result.nit)
    if axes is not None:
        found[:-1] = axes @ found[:-1]
    return found, n_iter


def _value_and_gradient(flat, X, shares, weights, alpha, unit, spread):
    w = flat.reshape(unit.shape) * unit
    z = X @ w[:-1] + w[-1]
    losses = weights @ (np.logaddexp(0.0, z) - shares * z)
    values = losses + alpha / 2.0 * np.einsum("pd,pd->d", w[:-1], w[:-1])
    away = (expit(z) - shares) * weights[:, np.newaxis]
    gradient = np.vstack([X.T @ away + alpha * w[:-1], away.sum(axis=0)])
    return np.sum(values / spread), (gradient * unit / spread).ravel()
