"""Logistic regression of classes, and whether held-out rows prefer a fit to ridge."""

import warnings
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from .._costs import class_indices
from .._lists import RankingLists
from ._constants import logistic_penalty
from ._penalties import MIN_LISTS, N_FOLDS, Judge, folds_of, keys_of_rows, list_keys
from ._regression import RegressorModel
from ._ridge import Search
from ._search import MAX_ROWS
from ._statistics import Moments

MAX_ITER, _FEW_STEPS = 1000, 100  # the latter in folds, of features of any scale
_TOL, _QUICK = 1e-5, 1e-3  # the latter in folds: decisions change no more
_CLEAR, _ENOUGH = 4.0, 500  # standard errors, and held-out rows, that need no further fold
#: Of the folds together, in products of entries of X and classes, about; those of sparse X, and
#: the steps of L-BFGS in each coefficient, take so many times as long.
MAX_WORK, _SPARSE, _STEPS, _SIGMOID = 5e8, 10, 1000, 30


def fit_classes(batch, labels, alpha, *, max_iter=None, quick=False, raw=False):
    """`RegressorModel` of the probabilities of multinomial logistic regression.

    It minimises the mean of ``-log p(y | x)`` and ``alpha / 2`` times the squared coefficients of
    standardised features. The model that is kept is of X itself.

    Parameters
    ----------
    batch : EncodedBatch
        ``y`` are indices of classes.
    labels : ndarray of shape (n_classes,)
        What the fitted classifier calls them.
    alpha : float or "auto"
        "auto" is ``0.1 min(p / n, 1) min(p / 50, 1)`` of p features and n rows that differ.
    max_iter : int or None
        None is 1000.
    quick : bool
        Whether to end near the minimum.
    raw : bool
        Whether to leave features as they are, with C = 1, as scikit-learn does: where rare words
        are to weigh as little as they do.

    Returns
    -------
    RegressorModel
        Its vectors are those that the loss encodes the classes as.
    """
    X, y, weights = _of_weight(batch)
    if raw:
        alpha = 1.0 / len(weights)
        max_iter = max_iter or (_FEW_STEPS if quick else MAX_ITER)
    elif alpha == "auto":
        alpha = logistic_penalty(X.shape[1], len(np.unique(keys_of_rows(X, y, exact=True))))
    as_it_is = X, np.zeros(X.shape[1]), np.ones(X.shape[1])
    scaled, offset, scale = as_it_is if raw else standardised(X, weights)
    C = 1.0 / (alpha * len(weights)) if alpha > 0 else np.inf
    model = LogisticRegression(C=C, tol=_QUICK if quick else _TOL, max_iter=max_iter or MAX_ITER)
    model.fit(scaled, labels[y], sample_weight=weights)
    model.coef_ = model.coef_ / scale
    model.intercept_ = model.intercept_ - model.coef_ @ offset
    vectors = batch.loss.encode(class_indices(model.classes_, labels))
    return RegressorModel(
        [model],
        n_targets=vectors.shape[1],
        n_iter=int(model.n_iter_.max()),
        vectors=vectors,
        search=Search(float(alpha)),
    )


def is_better(batch, fit, plain, n_errors):
    """Whether ``fit(batch)`` is better on held-out rows than ``plain(batch)``.

    Each row is judged by the target loss's measure, or minus its cost; the mean difference must
    be more than so many of its standard errors. In five folds by a hash of what a row holds, of at
    most 10,000 rows: neither their order nor whether a row is there twice or has the weight 2 makes
    a difference. In fewer folds where they take long, or the outcome is clear.
    """
    rows, weights, keys = sample(batch)
    if len(rows) < MIN_LISTS:
        return False
    folds = folds_of(keys)
    gains, of_rows, judge = [], [], judge_of(batch)
    for fold in range(_folds_in_time(batch, rows)):
        rest, held = folds != fold, folds == fold
        targets = batch.targets[rows[rest]]
        if not held.any() or np.all(targets == targets[:1]):
            continue
        part = _part(batch, rows[rest], weights[rest])
        X, y = batch.X[rows[held]], batch.y[rows[held]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of the fit to all rows are enough
            models = fit(part, quick=True), plain(part)
        one, other = (judge(y, model.predict(X)) for model in models)
        known = ~np.isnan(one - other)
        gains.append((one - other)[known])
        of_rows.append(weights[held][known])
        mean, error, n = _mean_and_error(gains, of_rows)
        if n >= _ENOUGH and abs(mean) > _CLEAR * error:
            break
    return bool(gains) and bool(mean > n_errors * error)


def judge_of(batch):
    """``judge(y, u)``: what u is worth, one value a row, greater is better."""
    judge = Judge(batch.loss, batch.decoder, batch.n_items, batch.values)
    n_items = batch.n_items or 0
    return lambda y, u: judge(y, u, RankingLists(np.full(len(y), n_items)))


def _mean_and_error(gains, weights):
    """Weighted mean, its standard error, and the number of values."""
    gain, weights = np.concatenate(gains), np.concatenate(weights)
    share = weights / weights.sum()
    mean = share @ gain
    return mean, np.sqrt(share**2 @ (gain - mean) ** 2), len(gain)


def _folds_in_time(batch, rows):
    """As many folds as keep to `MAX_WORK`, one at least."""
    X, is_class = batch.X[rows], batch.y.ndim == 1
    n_outputs = len(np.unique(batch.y[rows])) if is_class else batch.targets.shape[1]
    work = n_outputs * ((entries_of(X) if is_class else work_of(X)) + _STEPS * X.shape[1])
    return int(np.clip(MAX_WORK / max(work, 1.0), 1, N_FOLDS))


def entries_of(X):
    """How many entries of dense X take as long."""
    return float(_SPARSE * X.nnz if sparse.issparse(X) else X.size)


def work_of(X):
    """Of a target that is estimated by sigmoids: `entries_of`, and as much as 30 features take."""
    return entries_of(X) + _SIGMOID * X.shape[0]


def _of_weight(batch):
    """X, y and weights, of mean 1, of the rows that count."""
    X, y, weights = batch.X, batch.y, batch.row_weights
    counts = weights > 0
    if not counts.all():
        X, y, weights = X[counts], y[counts], weights[counts]
    weights = weights / weights.max()  # whose sum is in range
    return X, y, weights / weights.mean()


def standardised(X, weights, dtype=None):
    """X minus an offset over its scale, of a type of float; the offset and the scale.

    With a free intercept the minimum does not depend on the offset, but the number of steps to it
    does. Sparse X is shifted in columns that are far from 0, which are seldom 0, alone.
    """
    moments, dtype = Moments.of(X, weights), dtype or X.dtype
    mean, scale = moments.mean, moments.scale
    if not sparse.issparse(X):
        offset = mean.astype(dtype)  # as it is subtracted
        scaled = np.subtract(X, offset, dtype=dtype)
        scaled /= scale.astype(dtype)
        return scaled, offset.astype(np.float64), scale
    far = np.flatnonzero(mean**2 > moments.squares / moments.total)
    others = 1.0 / scale
    others[far] = 0.0
    scaled = X @ sparse.diags(others)
    offset = np.zeros(len(mean))
    if len(far):
        n, offset[far] = X.shape[0], mean[far]
        centred = ((X[:, far].toarray() - mean[far]) / scale[far]).ravel()
        indices, starts = np.tile(far, n), np.arange(n + 1) * len(far)
        scaled.eliminate_zeros()
        scaled = scaled + sparse.csr_matrix((centred, indices, starts), shape=X.shape)
    return scaled.astype(dtype, copy=False), offset, scale


def sample(batch, max_rows=None):
    """Rows that differ, those of the least keys; how much each weighs in all, and its key."""
    counts = np.flatnonzero(batch.row_weights > 0)
    X, y, weights = batch.X, batch.y, batch.row_weights
    if len(counts) < len(weights):
        X, y, weights = X[counts], y[counts], weights[counts]
    keys = keys_of_rows(X, y, exact=True)
    if y.ndim > 1:  # whatever the order of the items
        keys = list_keys(X, y, None, weights, keys)
    keys, first, which = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.bincount(which.ravel(), weights=weights / weights.max())
    max_rows = max_rows or MAX_ROWS
    return counts[first[:max_rows]], weights[:max_rows], keys[:max_rows]


def _part(batch, rows, weights):
    """The rows of a batch as a batch."""
    X, targets, y = batch.X[rows], batch.targets[rows], batch.y[rows]
    return replace(batch, X=X, targets=targets, y=y, weights=weights, row_weights=weights)
