"""Logistic regression of classes, and whether held-out rows prefer it to least squares."""

import warnings
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from .._costs import class_indices
from ..regression._constants import logistic_penalty
from ..regression._penalties import MIN_LISTS, N_FOLDS, folds_of, keys_of_rows
from ..regression._regression import RegressorModel
from ..regression._ridge import Search

MAX_ITER = 1000
_TOL = 1e-5
_MAX_ROWS = 10_000  # that the two are compared on
_N_ERRORS = 1.0  # standard errors by which logistic regression must be better


def fit_logistic(batch, labels, alpha):
    """`RegressorModel` of the probabilities of multinomial logistic regression.

    It minimises the mean of ``-log p(y | x)`` and ``alpha / 2`` times the squared coefficients of
    standardised features (of sparse X they are scaled, not centred). The model that is kept is of
    X itself.

    Parameters
    ----------
    batch : EncodedBatch
        ``y`` are indices of classes.
    labels : ndarray of shape (n_classes,)
        What the fitted classifier calls them.
    alpha : float or "auto"
        "auto" is ``0.1 min(p / n, 1) min(p / 50, 1)`` of p features and n rows that differ.

    Returns
    -------
    RegressorModel
        Its vectors are those that the loss encodes the classes as.
    """
    X, y, weights = _of_weight(batch)
    if alpha == "auto":
        alpha = logistic_penalty(X.shape[1], len(np.unique(keys_of_rows(X, y))))
    scaler = StandardScaler(with_mean=not issparse(X)).fit(X, sample_weight=weights)
    C = 1.0 / (alpha * weights.sum()) if alpha > 0 else np.inf
    model = LogisticRegression(C=C, tol=_TOL, max_iter=MAX_ITER)
    model.fit(scaler.transform(X), labels[y], sample_weight=weights)
    model.coef_ = model.coef_ / scaler.scale_
    if scaler.with_mean:
        model.intercept_ = model.intercept_ - model.coef_ @ scaler.mean_
    vectors = batch.loss.encode(class_indices(model.classes_, labels))
    return RegressorModel(
        [model],
        n_targets=vectors.shape[1],
        n_iter=int(model.n_iter_.max()),
        vectors=vectors,
        search=Search(float(alpha)),
    )


def costs_less(batch, fit, plain):
    """Whether ``fit(batch)`` costs significantly less on held-out rows than ``plain(batch)``.

    The mean difference is compared with its standard error, in five folds by a hash of what a row
    holds, of at most 10,000 rows: neither their order nor whether a row is there twice or has the
    weight 2 makes a difference.
    """
    rows, weights, folds = _sample(batch)
    gains, of_rows = [], []
    for fold in range(N_FOLDS):
        rest, held = folds != fold, folds == fold
        if not held.any() or len(np.unique(batch.y[rows[rest]])) < 2:
            continue
        part = _part(batch, rows[rest], weights[rest])
        X, y = batch.X[rows[held]], batch.y[rows[held]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            models = fit(part), plain(part)
        one, other = (batch.values(batch.loss, y, model.predict(X)) for model in models)
        gains.append(one - other)
        of_rows.append(weights[held])
    if len(rows) < MIN_LISTS or not gains:
        return False
    gain, weights = np.concatenate(gains), np.concatenate(of_rows)
    mean = weights @ gain / weights.sum()
    error = np.sqrt(weights @ (gain - mean) ** 2 / weights.sum() / len(gain))
    return bool(mean > _N_ERRORS * error)


def _of_weight(batch):
    """X, y and weights of the rows that count."""
    counts = batch.row_weights > 0
    if counts.all():
        return batch.X, batch.y, batch.row_weights
    return batch.X[counts], batch.y[counts], batch.row_weights[counts]


def _sample(batch):
    """Rows that differ, those of the least keys; how much each weighs in all, and its fold."""
    counts = np.flatnonzero(batch.row_weights > 0)
    keys, first, which = np.unique(
        keys_of_rows(batch.X[counts], batch.y[counts]), return_index=True, return_inverse=True
    )
    weights = np.bincount(which.ravel(), weights=batch.row_weights[counts])
    return counts[first[:_MAX_ROWS]], weights[:_MAX_ROWS], folds_of(keys[:_MAX_ROWS])


def _part(batch, rows, weights):
    """The rows of a batch as a batch."""
    X, targets, y = batch.X[rows], batch.targets[rows], batch.y[rows]
    return replace(batch, X=X, targets=targets, y=y, weights=weights, row_weights=weights)
