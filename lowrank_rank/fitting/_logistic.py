"""Logistic regression of classes, and of targets between two bounds."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logit, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .._base import linear_scores
from ..lists._lists import bounded_blocks
from ..validation._arrays import is_finite
from ..validation._findings import found
from ._linear_problem import lbfgs
from ._statistics import (
    Moments,
    chosen_alpha,
    shift_full_columns,
    standardise,
    unscaled,
)


def _counted(weights, X, y):
    """Leave out rows without weight, and divide the weights by their mean."""
    counts = weights > 0
    if not counts.all():
        weights = weights[counts]
        X = X[counts]
        y = y[counts]
    weights = weights / weights.max()  # the sum of very large weights would overflow
    return weights / weights.mean(), X, y


def standardised(X, weights):
    """Return the standardised copy of X, the subtracted means and its `Moments`.

    Sparse columns with zeros are not centred: the free intercept takes their means.
    """
    moments = Moments.of(X, weights)
    mean = moments.mean
    if sparse.issparse(X):
        X, mean = shift_full_columns(X, moments.mean)
    return standardise(X, mean, moments.scale), mean, moments


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
    """Curvature of the loss of k classes at equal scores, for the default penalty."""
    return 1.0 / k if k > 2 else 0.25


def fit_logistic(X, y, weights, alpha, *, tol, max_iter=1000, standard=None):
    """Fit logistic regression; return coefficients of the features as given.

    The objective is the mean of ``-log p(y | x)`` plus ``alpha / 2`` times the squared
    coefficients of standardised features; alpha "auto" counts rows by the weights. No
    entry of the gradient is above `tol` at the solution. Two classes have one row of
    coefficients.

    `standard` has what `standardised` returns, if it is known and all weights are 1.

    Returns coefficients, intercepts, the number of iterations and alpha.
    """
    n_rows = float(weights.sum())
    weights, X, y = _counted(weights, X, y)
    if standard is None:
        standard = standardised(X, weights)
    scaled, mean, moments = standard
    curvature = curvature_of_classes(len(np.unique(y)))
    alpha = chosen_alpha(alpha, moments.n_features, n_rows, curvature)
    C = 1.0 / (alpha * len(weights)) if alpha > 0 else np.inf
    model = LogisticRegression(C=C, tol=tol, max_iter=max_iter)
    model.fit(scaled, y, sample_weight=weights)
    coef, intercept = unscaled(model.coef_, model.intercept_, mean, moments.scale)
    return coef, intercept, int(model.n_iter_.max()), alpha


def fit_classes(rows, vectors, alpha, *, tol, max_iter):
    """`ClassModel` of `Data` whose y are indices of classes, encoded by `vectors`."""
    X = rows.X
    weights = rows.weights
    present = np.unique(rows.y[weights > 0])
    coef = np.zeros((len(vectors), X.shape[1]))
    intercept = np.full(len(vectors), -np.inf)
    if len(present) == 1:
        n_features = Moments.of(X, weights).n_features
        curvature = curvature_of_classes(1)
        alpha = chosen_alpha(alpha, n_features, weights.sum(), curvature)
        intercept[present] = 0.0
        n_iter = 1
    else:
        slopes, at_zero, n_iter, alpha = fit_logistic(
            X, rows.y, weights, alpha, tol=tol, max_iter=max_iter
        )
        if len(present) == 2:
            # Half the log odds for each class give the same probabilities.
            slopes = np.vstack([-slopes, slopes]) / 2.0
            at_zero = np.concatenate([-at_zero, at_zero]) / 2.0
        coef[present] = slopes
        intercept[present] = at_zero
    return ClassModel(
        coef=coef, intercept=intercept, vectors=vectors, n_iter=n_iter, alpha=alpha
    )


# Targets between two bounds ---------------------------------------------------------


class FractionalModel(NamedTuple):
    """Fractional logistic regression of d targets between two bounds.

    The targets are ``low + (high - low) expit(X coef' + intercept)``.

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
        fractions = expit(linear_scores(X, self.coef, self.intercept))
        return self.low + (self.high - self.low) * fractions


def joined(models):
    """Join several `FractionalModel` of other targets into one."""
    return FractionalModel(
        coef=np.concatenate([model.coef for model in models]),
        intercept=np.concatenate([model.intercept for model in models]),
        low=np.concatenate([model.low for model in models]),
        high=np.concatenate([model.high for model in models]),
        n_iter=max(model.n_iter for model in models),
        alpha=models[0].alpha,
    )


def shared_features(rows):
    """Return what the fits to all targets of `Data` share.

    These are the standardised features, the subtracted means, the `Moments`, and the
    second moments along the principal axes with these axes.
    """
    weights, X, _ = _counted(rows.weights, rows.X, rows.y)
    scaled, mean, moments = standardised(X, weights)
    return scaled, mean, moments, *_principal_axes(scaled, weights / weights.sum())


def fit_fractional(rows, encoding, alpha, *, tol, max_iter, features=None):
    """Fit fractional logistic regression of fixed items (Papke & Wooldridge 1996).

    Each target t is estimated by ``low + (high - low) expit(w' x + b)``, low and high
    its least and largest value. The objective, with the fraction ``a = (t - low) /
    (high - low)``, is the mean of

        -a log s - (1 - a) log(1 - s),    s = expit(w' x + b)

    plus ``alpha / 2`` times the squared coefficients of standardised features. The loss
    is convex and strictly proper: its minimiser over all functions is E[t | x], as for
    the squared error. For targets 0 and 1 this is logistic regression. No entry of the
    gradient is above `tol` at the solution, in units of coefficients in which the
    curvature is about 1. An unknown target, NaN, has the loss 0. `features` are from
    `shared_features`, if they are known.
    """
    if features is None:
        features = shared_features(rows)
    scaled, mean, moments, squares, axes = features
    weights, X, targets = _counted(rows.weights, rows.X, encoding.targets)
    # NaN is a pair that nobody compares.
    low = np.nan_to_num(np.fmin.reduce(targets))
    high = np.nan_to_num(np.fmax.reduce(targets))
    varies = high > low
    alpha = chosen_alpha(alpha, moments.n_features, rows.weights.sum(), 0.25)
    # a = (t - low) / (high - low)
    fractions = targets[:, varies]  # a copy
    fractions -= low[varies]
    fractions /= (high - low)[varies]
    w, n_iter = _minimum(
        scaled, squares, axes, fractions, weights / weights.sum(), alpha, tol, max_iter
    )
    if n_iter >= max_iter:
        found(
            "logistic regression",
            f"Logistic regression stopped after max_iter={n_iter} iterations: increase "
            "max_iter, tol or alpha.",
            ConvergenceWarning,
        )
    coef = np.zeros((len(low), X.shape[1]))
    intercept = np.zeros(len(low))
    coef[varies], intercept[varies] = unscaled(w[:-1].T, w[-1], mean, moments.scale)
    return FractionalModel(
        coef=coef, intercept=intercept, low=low, high=high, n_iter=n_iter, alpha=alpha
    )


def _minimum(X, squares, axes, fractions, weights, alpha, tol, max_iter):
    """Minimise the objective of `fit_fractional` for all targets.

    L-BFGS solves up to 64 targets at a time: in larger groups one slow target keeps the
    others busy. Its variables are coefficients of principal axes, in units that make
    all directions equally curved.

    Returns coefficients with the intercepts in the last row, (p + 1, d), and the number
    of iterations of the slowest target.
    """
    p = X.shape[1]
    d = fractions.shape[1]
    is_known = None
    known_weight: Any = 1.0
    if not is_finite(fractions):
        is_known = ~np.isnan(fractions)
        known_weight = weights @ is_known
        np.nan_to_num(fractions, copy=False)

    # At zero coefficients and s = mean, the curvature of the loss in a score is
    # s (1 - s); a unit is the inverse root of the curvature in a coefficient.
    means = np.clip(weights @ fractions / known_weight, 1e-6, 1.0 - 1e-6)
    variance = known_weight * means * (1.0 - means)
    curvature = np.vstack([squares[:, np.newaxis] * variance + alpha, variance])
    unit = 1.0 / np.sqrt(np.maximum(curvature, 1e-12))

    solution = np.vstack([np.zeros((p, d)), logit(means)])
    most_iterations = 0
    for first in range(0, d, 64):
        columns = slice(first, first + 64)
        signs = 2.0 * fractions[:, columns] - 1.0
        known_columns = None
        if is_known is not None:
            known_columns = is_known[:, columns]
            signs *= known_columns
        sums = np.vstack([X.T @ (signs * weights[:, np.newaxis]), weights @ signs])
        objective = partial(
            _value_and_gradient,
            X=X,
            sums=sums,
            is_known=known_columns,
            weights=weights,
            alpha=alpha,
            unit=unit[:, columns],
            axes=axes,
        )
        start = solution[:, columns] / unit[:, columns]
        _, gradient = objective(start)
        theta, _, _, n_iter = lbfgs(
            objective,
            start - gradient,  # Newton's step: the curvature is 1
            tol=tol,
            max_iter=max_iter,
            polish=True,
        )
        solution[:, columns] = theta * unit[:, columns]
        most_iterations = max(most_iterations, n_iter)
    solution[:-1] = axes @ solution[:-1]
    return solution, most_iterations


def _principal_axes(X, weights):
    """Return the second moments along the principal axes, and the axes in columns.

    Sparse and wide X keep the features as axes, which cost nothing.
    """
    if sparse.issparse(X):
        return np.asarray(X.multiply(X).T @ weights).ravel(), sparse.identity(
            X.shape[1]
        )
    if X.shape[1] > 500:
        return weights @ X**2, sparse.identity(X.shape[1])
    return np.linalg.eigh((X.T * weights) @ X)


def _value_and_gradient(theta, X, sums, is_known, weights, alpha, unit, axes):
    """Sum over the targets of the objective, and its gradient.

    With h = z / 2, t = tanh(h) and s = 2 a - 1, the loss of z is ``|h| - log(1 + |t|) -
    s h``, up to log 2, and its derivative ``(t - s) / 2``. `sums` has the weighted sums
    of s times the features and, in the last row, of s. Where `is_known` is False, s and
    h are 0, and so is the loss; None is known everywhere.
    """
    w = theta * unit
    half_w = np.vstack([axes @ w[:-1], w[-1]]) / 2.0
    slopes = -sums
    value = alpha / 2.0 * np.sum(w[:-1] ** 2) - np.vdot(sums, half_w)
    # Blocks of rows that fit into the cache.
    for rows in bounded_blocks(X.shape[0], sum(w.shape), 2**15):
        # A row for each target: sums and products over the targets are fast.
        h = half_w[:-1].T @ X[rows].T
        h += half_w[-1, :, np.newaxis]
        if is_known is not None:
            h *= is_known[rows].T
        t = np.tanh(h)
        losses = np.abs(h, out=h).sum(axis=0)
        factors = np.abs(t, out=h)  # without a new array
        factors += 1.0
        # At most 64 factors of up to 2: one logarithm of their product.
        losses -= np.log(np.prod(factors, axis=0))
        value += weights[rows] @ losses
        t *= weights[rows]
        slopes[-1] += t.sum(axis=1)
        slopes[:-1] += X[rows].T @ t.T
    slopes /= 2.0
    slopes[:-1] = axes.T @ slopes[:-1] + alpha * w[:-1]
    return value, slopes * unit
