"""Weights at which the steps begin: logistic regression, zeros, a linear estimator, an array."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning

from .._arrays import numbers
from ..regression._alpha import default_alpha
from ..regression._logistic import fit_logistic
from ..regression._statistics import Moments
from ._batches import take_rows

_TOL = 1e-4  # scikit-learn's default for logistic regression
_LINEAR = 1e-4  # relative error above which a function is not linear


def start_weights(start, X, scaled, labels, scaling):
    """Weights (p,) or (p + 1, L) of the standardised features at which the steps begin.

    They are zeros where all labels are equal, unless an array is given.

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
        coef, intercept = _given(start, p, positive)
        coef, intercept = coef * scaling.scale, intercept + coef @ scaling.mean
    elif positive.any() and not positive.all():
        if hasattr(start, "fit"):
            coef, intercept = _of_estimator(start, X, labels, scaling)
        elif start == "logistic":
            coef, intercept = _logistic(scaled, positive)
    return coef[0] if positive.ndim == 1 else np.vstack([coef.T, intercept])


def _given(start, p, positive):
    """Coefficients and intercepts of a given array; refuses a wrong shape."""
    weights = numbers(start, "start")
    matrix = positive.ndim == 2
    wanted = [(positive.shape[1], p + 1)] if matrix else [(p,), (1, p)]
    if weights.shape not in wanted or not np.all(np.isfinite(weights)):
        what = "a row for each label, its intercept last" if matrix else "a weight each"
        raise ValueError(
            f"start must be finite, of the shape {wanted[0]} ({what}), got {weights.shape}."
        )
    return (weights[:, :-1], weights[:, -1]) if matrix else (weights.reshape(1, p), np.zeros(1))


def _logistic(X, positive):
    """Logistic regression of each label of a matrix, or of the rows of all lists."""
    n_rows, p = X.shape
    ones, alpha = np.ones(n_rows), "auto"
    if positive.ndim == 2:
        alpha = default_alpha("items", p, n_rows, Moments.of(X, ones).mean_square)
    columns = np.atleast_2d(positive.T)
    counts = columns.sum(axis=1)
    coef = np.zeros((len(columns), p))
    intercept = np.log((counts + 0.5) / (n_rows - counts + 0.5))  # kept for labels of one class
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be a minimum
        for i in np.flatnonzero((counts > 0) & (counts < n_rows)):
            found, at_zero, *_ = fit_logistic(X, columns[i], ones, alpha, tol=_TOL)
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
    some = take_rows(X, np.arange(min(X.shape[0], 100)))
    with np.errstate(over="ignore", invalid="ignore"):
        coef, intercept = _slopes(function, X, scaling)
        scores = np.asarray(function(some)).reshape(some.shape[0], -1)
        weights = (coef / scaling.scale).T
        away = np.max(np.abs(some @ weights - scaling.mean @ weights + intercept - scores))
    n_labels = 1 if labels.positive.ndim == 1 else labels.positive.shape[1]
    if coef.shape != (n_labels, X.shape[1]) or not (
        away <= _LINEAR * (1.0 + np.max(np.abs(scores)))
    ):
        raise ValueError(
            f"start={estimator!r} does not score rows by a linear function of X: take a linear "
            "model, a pipeline of scalers and one, or an array of weights."
        )
    return (coef, intercept) if is_last else (-coef, -intercept)


def _slopes(function, X, scaling):
    """Slopes (L, p) along the standardised features, and values (L,) where those are 0."""
    is_sparse, p = sparse.issparse(X), X.shape[1]
    steps = sparse.diags(scaling.scale).tocsr()

    def values(moves):
        rows = moves.astype(X.dtype) if is_sparse else (scaling.mean + moves).astype(X.dtype)
        return np.asarray(function(rows)).reshape(moves.shape[0], -1)

    origin = values(sparse.csr_matrix((1, p)) if is_sparse else np.zeros((1, p)))[0]
    slopes = values(steps if is_sparse else steps.toarray()) - origin
    return slopes.T.astype(np.float64), origin
