"""Logistic regression of classes, and fractional logistic regression of bounded targets."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .._arrays import is_finite
from .._base import linear_scores
from .._lists import bounded_blocks
from .._warn import warn
from ._lbfgs import lbfgs
from ._statistics import Moments, Scaling, chosen_alpha, shift_full_columns, standardise


def _counted(weights, X, y):
    """Rows of positive weight, with weights of mean 1."""
    counts = weights > 0
    if not counts.all():
        weights, X, y = weights[counts], X[counts], y[counts]
    weights = weights / weights.max()  # the sum of very large weights would overflow
    return weights / weights.mean(), X, y


def _standardised(X, weights):
    """The standardised copy of X, its `Scaling` and its `Moments`.

    Sparse columns with zeros are not centred: the free intercept takes their means.
    """
    moments = Moments.of(X, weights)
    scaling = Scaling(moments.mean, moments.scale)
    if sparse.issparse(X):
        X, shift = shift_full_columns(X, moments.mean)
        scaling = scaling._replace(mean=shift)
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
        The encoded classes.
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
        present = np.isfinite(self.intercept)
        scores = np.full((X.shape[0], len(present)), -np.inf)
        scores[:, present] = linear_scores(
            X, self.coef[present], self.intercept[present]
        )
        return softmax(scores, axis=1)

    def predict(self, X):
        """Surrogate vectors, shape (n, d): the expected vector of the class."""
        return self.probabilities(X) @ self.vectors


def curvature_of_classes(k):
    """The curvature of the loss of k classes at equal scores, for the default penalty."""
    return 1.0 / k if k > 2 else 0.25


def fit_logistic(X, y, weights, alpha, *, tol, max_iter=1000):
    """Coefficients of logistic regression of the features as given, n_iter and alpha.

    The objective is the mean of ``-log p(y | x)`` plus ``alpha / 2`` times the squared
    coefficients of standardised features; alpha "auto" counts rows by the weights. No
    entry of the gradient is above `tol` at the solution. Two classes have one row of
    coefficients.
    """
    n_rows = float(weights.sum())
    weights, X, y = _counted(weights, X, y)
    scaled, scaling, moments = _standardised(X, weights)
    c = curvature_of_classes(len(np.unique(y)))
    alpha = chosen_alpha(alpha, moments.n_features, n_rows, c)
    C = 1.0 / (alpha * len(weights)) if alpha > 0 else np.inf
    model = LogisticRegression(C=C, tol=tol, max_iter=max_iter)
    model.fit(scaled, y, sample_weight=weights)
    coef, intercept = scaling.unscaled(model.coef_, model.intercept_)
    return coef, intercept, int(model.n_iter_.max()), alpha


def fit_classes(rows, vectors, alpha, *, tol, max_iter):
    """`ClassModel` of `Rows` with indices of classes as y; `vectors` are the encoded classes."""
    X, y, _, weights = rows
    present = np.unique(y[weights > 0])
    coef, intercept = (
        np.zeros((len(vectors), X.shape[1])),
        np.full(len(vectors), -np.inf),
    )
    if len(present) == 1:
        intercept[present] = 0.0
        square = Moments.of(X, weights).n_features
        alpha = chosen_alpha(alpha, square, weights.sum(), curvature_of_classes(1))
        return ClassModel(coef, intercept, vectors, 1, alpha)
    slopes, at_zero, n_iter, alpha = fit_logistic(
        X, y, weights, alpha, tol=tol, max_iter=max_iter
    )
    if (
        len(present) == 2
    ):  # half the log odds for each class give the same probabilities
        slopes = np.vstack([-slopes, slopes]) / 2.0
        at_zero = np.concatenate([-at_zero, at_zero]) / 2.0
    coef[present], intercept[present] = slopes, at_zero
    return ClassModel(coef, intercept, vectors, n_iter, alpha)


# Targets between two bounds ---------------------------------------------------------


class FractionalModel(NamedTuple):
    """Fractional logistic regression: ``low + (high - low) expit(X coef' + intercept)``.

    Attributes
    ----------
    coef : ndarray of shape (d, p)
    intercept : ndarray of shape (d,)
    low, high : ndarray of shape (d,)
        Bounds of the targets.
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


def joined(models):
    """One `FractionalModel` of several, each of other targets."""
    *parts, n_iter, alpha = zip(*models, strict=True)
    coef, intercept, low, high = map(np.concatenate, parts)
    return FractionalModel(coef, intercept, low, high, max(n_iter), alpha[0])


def fit_fractional(rows, encoding, alpha, *, tol, max_iter):
    """Fractional logistic regression of fixed items (Papke & Wooldridge 1996).

    Each target t is estimated by ``low + (high - low) expit(w' x + b)``, low and high
    its least and largest value. The objective, with the fraction ``a = (t - low) /
    (high - low)``, is the mean of

        -a log s - (1 - a) log(1 - s),    s = expit(w' x + b)

    plus ``alpha / 2`` times the squared coefficients of standardised features. The loss
    is convex and strictly proper: its minimiser over all functions is E[t | x], as for
    the squared error. For targets 0 and 1 this is logistic regression. No entry of the
    gradient is above `tol` at the solution, in units of coefficients in which the
    curvature is about 1. An unknown target, NaN, has the loss 0.
    """
    weights, X, targets = _counted(rows.weights, rows.X, encoding.targets)
    low, high = np.fmin.reduce(targets), np.fmax.reduce(targets)
    low, high = (
        np.nan_to_num(low),
        np.nan_to_num(high),
    )  # NaN: a pair that nobody compares
    varying = high > low
    scaled, scaling, moments = _standardised(X, weights)
    alpha = chosen_alpha(alpha, moments.n_features, rows.weights.sum(), 0.25)
    shares = targets[:, varying]  # a copy
    shares -= low[varying]
    shares /= (high - low)[varying]
    w, n_iter = _minimum(scaled, shares, weights / weights.sum(), alpha, tol, max_iter)
    if n_iter >= max_iter:
        warn(
            f"Logistic regression stopped after max_iter={n_iter} iterations: increase max_iter, "
            "tol or alpha.",
            ConvergenceWarning,
        )
    coef, intercept = np.zeros((len(low), X.shape[1])), np.zeros(len(low))
    coef[varying], intercept[varying] = scaling.unscaled(w[:-1].T, w[-1])
    return FractionalModel(coef, intercept, low, high, n_iter, alpha)


def _minimum(X, shares, weights, alpha, tol, max_iter):
    """Coefficients and, in the last row, intercepts (p + 1, d); iterations of the slowest target.

    L-BFGS solves up to 64 targets at a time: in larger groups one slow target keeps the
    others busy. Its variables are coefficients of principal axes, in units that make
    all directions equally curved.
    """
    p, d = X.shape[1], shares.shape[1]
    axes, known, total = sparse.identity(p), None, 1.0
    if not is_finite(shares):
        known = ~np.isnan(shares)
        total = weights @ known
        np.nan_to_num(shares, copy=False)
    if sparse.issparse(X):
        squares = np.asarray(X.multiply(X).T @ weights).ravel()
    elif p > 500:  # the axes would cost more than they save
        squares = weights @ X**2
    else:
        squares, axes = np.linalg.eigh((X.T * weights) @ X)
    means = np.clip(weights @ shares / total, 1e-6, 1.0 - 1e-6)
    spread = total * means * (1.0 - means)
    curvature = np.vstack([squares[:, np.newaxis] * spread + alpha, spread])
    unit = 1.0 / np.sqrt(np.maximum(curvature, 1e-12))
    solution, n_iter = np.vstack([np.zeros((p, d)), logit(means)]), 0
    for some in (slice(first, first + 64) for first in range(0, d, 64)):
        mask = None if known is None else known[:, some]
        signed = (2.0 * shares[:, some] - 1.0) * (1.0 if known is None else mask)
        sums = np.vstack([X.T @ (signed * weights[:, np.newaxis]), weights @ signed])
        part = X, sums, mask, weights, alpha, unit[:, some], axes
        start = solution[:, some] / unit[:, some]
        start = (
            start - _value_and_gradient(start, *part)[1]
        )  # Newton's step: the curvature is 1
        limits = {"tol": tol, "max_iter": max_iter, "polish": True}
        theta, *_, now = lbfgs(
            lambda w, part=part: _value_and_gradient(w, *part), start, **limits
        )
        solution[:, some], n_iter = theta * unit[:, some], max(n_iter, now)
    solution[:-1] = axes @ solution[:-1]
    return solution, n_iter


def _value_and_gradient(theta, X, sums, known, weights, alpha, unit, axes):
    """Sum over the targets of the objective, and its gradient.

    With h = z / 2, t = tanh(h) and s = 2 share - 1, the loss of z is ``|h| - log(1 +
    |t|) - s h``, up to log 2, and its derivative ``(t - s) / 2``. `sums` has the
    weighted sums of s times the features and, in the last row, of s. Where `known` is
    False, s and h are 0, and so is the loss; None is known everywhere.
    """
    w = theta * unit
    halves, slopes = np.vstack([axes @ w[:-1], w[-1]]) / 2.0, -sums
    value = alpha / 2.0 * np.sum(w[:-1] ** 2) - np.vdot(sums, halves)
    for rows in bounded_blocks(
        X.shape[0], sum(w.shape), 2**15
    ):  # pieces that fit into the cache
        # A row for each target: sums and products over the targets are fast.
        h = halves[:-1].T @ X[rows].T + halves[-1, :, np.newaxis]
        if known is not None:
            h *= known[rows].T
        t = np.tanh(h)
        # At most 64 factors of up to 2: one logarithm of their product.
        losses = np.abs(h, out=h).sum(axis=0) - np.log(np.prod(1.0 + np.abs(t), axis=0))
        value += weights[rows] @ losses
        t *= weights[rows]
        slopes[-1] += t.sum(axis=1)
        slopes[:-1] += X[rows].T @ t.T
    slopes /= 2.0
    slopes[:-1] = axes.T @ slopes[:-1] + alpha * w[:-1]
    return value, slopes * unit
