"""Fractional logistic regression: targets between two bounds, each by a sigmoid of its own."""

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches
from threadpoolctl import threadpool_limits

from ._constants import ROWS_OF_UTILITIES
from ._logistic import (
    MAX_ITER,
    MAX_WORK,
    is_better,
    judge_of,
    sample,
    standardised,
    work_of,
)
from ._penalties import N_FOLDS, distinct_rows
from ._regression import RegressorModel
from ._ridge import Search, linear_scores
from ._search import MAX_ROWS, HeldOutBlocks, search_in_folds

_TOL, _QUICK = 1e-6, 1e-4  # the latter in folds
_ENTRIES_AT_ONCE = 2**21  # of the scores of some targets, which are fitted together
_AT_ONCE = 8  # targets: of more, one that has far to go keeps the others busy
_NEAREST = 1e-6  # to 0 and 1, of the shares that a fit begins with
_MAX_FEATURES = 500  # up to which they are turned, so that none are correlated
_N_ERRORS = 1.0  # standard errors by which it must be better than ridge, which adds up
_FLAT = 1e-12  # curvature, below which all is as flat
_TIMES = np.array([10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01])  # the constant, which are tried
_OF_SEARCH, _FEWEST = 6.0, 200  # comparisons' time of a search; rows that a search is worth
_MOST = 3e9  # of `work_of` times targets, beyond which "auto" does not try: a minute


class FractionalLogisticRegression(RegressorMixin, BaseEstimator):
    """Linear regression of targets within bounds, through a sigmoid.

    Each target t has its bounds l and h, the least and the largest that were seen, and is estimated
    by ``l + (h - l) s(w' x + b)``, ``s(z) = 1 / (1 + exp(-z))``. With the share
    ``a = (t - l) / (h - l)`` it minimises the mean over rows of

        -a log s - (1 - a) log(1 - s)

    and ``alpha / 2`` times the squared coefficients of standardised features. The loss is convex
    and strictly proper: its minimiser over all functions is E[t | x], as that of the squared error
    is, and ``(s - E[a | x])^2`` is at most half of what the loss is above its least value (by
    Pinsker's inequality). Of targets 0 and 1 it is logistic regression.

    Parameters
    ----------
    alpha : float, default=0.01
        Penalty, >= 0.
    max_iter : int, default=1000
        Steps of L-BFGS.
    tol : float, default=1e-6
        Largest entry of the gradient to end with, in units in which the curvature is about 1.

    Attributes
    ----------
    coef_ : ndarray of shape (d, n_features)
        Of the sigmoids' arguments, of X itself.
    intercept_ : ndarray of shape (d,)
    low_, high_ : ndarray of shape (d,)
        The bounds.
    n_iter_ : int
        The most steps of any part of the targets.

    References
    ----------
    .. [1] L. Papke, J. Wooldridge, "Econometric methods for fractional response variables",
       Journal of Applied Econometrics, 1996.

    Examples
    --------
    Without features it is the mean:

    >>> import numpy as np
    >>> from lowrank_rank.regression._fractional import FractionalLogisticRegression
    >>> targets = np.array([[2.0], [2.0], [2.0], [6.0]])
    >>> FractionalLogisticRegression().fit(np.zeros((4, 1)), targets).predict([[0.0]]).round(3)
    array([[3.]])
    """

    def __init__(self, alpha: float = 0.01, max_iter: int = MAX_ITER, tol: float = _TOL) -> None:
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "FractionalLogisticRegression":
        """Fit to finite targets (n, d) and weights >= 0, some of them above 0."""
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight)
        problem = Fractions.of(X, np.asarray(y, dtype=np.float64), weights)
        w, self.n_iter_ = problem.minimum(self.alpha, tol=self.tol, max_iter=self.max_iter)
        if self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"{self.n_iter_} steps do not reach the minimum: increase max_iter, or alpha.",
                ConvergenceWarning,
                stacklevel=2,
            )
        coef = w[:-1] if problem.axes is None else problem.axes @ w[:-1]
        self.coef_ = (coef / problem.scale[:, np.newaxis]).T
        self.intercept_ = w[-1] - self.coef_ @ problem.offset
        self.low_, self.high_ = problem.low, problem.high
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Targets, shape (n, d), equal for equal rows."""
        X = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        shares = expit(linear_scores(X, self.coef_, self.intercept_))
        return self.low_ + (self.high_ - self.low_) * shares

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse = True
        return tags


class Fractions(NamedTuple):
    """Rows, and where between its bounds each of their targets is.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
        Standardised; if dense and of few features, times `axes`.
    shares : ndarray of shape (n, d)
        From 0 to 1.
    weights : ndarray of shape (n,)
        Their sum is 1.
    offset, scale : ndarray of shape (p,)
        Of the features: ``X = (given - offset) / scale``.
    low, high : ndarray of shape (d,)
    squares : ndarray of shape (p,)
        Mean square of each column of X.
    axes : ndarray of shape (p, p) or None
        Orthogonal: turns the features to their principal axes, which leaves the penalty as it is.
    """

    X: Any
    shares: np.ndarray
    weights: np.ndarray
    offset: np.ndarray
    scale: np.ndarray
    low: np.ndarray
    high: np.ndarray
    squares: np.ndarray
    axes: np.ndarray | None

    @classmethod
    def of(cls, X, targets, weights):
        """Of rows as they are; those of weight 0 say nothing."""
        counts = weights > 0
        if not counts.all():
            X, targets, weights = X[counts], targets[counts], weights[counts]
        weights = weights / weights.max()  # whose sum is in range
        low, high = targets.min(axis=0), targets.max(axis=0)
        shares = targets - low
        shares /= np.where(high > low, high - low, 1.0)
        scaled, offset, scale = standardised(X, weights, np.float64)
        weights = weights / weights.sum()
        if sparse.issparse(scaled) or scaled.shape[1] > _MAX_FEATURES:
            squares, axes = _mean_squares(scaled, weights), None
        else:
            squares, axes = np.linalg.eigh(_weighted_gram(scaled, weights))
            squares = np.maximum(squares, 0.0)
            for rows in gen_batches(*_rows_at_once(scaled)):  # no second copy
                scaled[rows] = scaled[rows] @ axes
        return cls(scaled, shares, weights, offset, scale, low, high, squares, axes)

    def take(self, rows, weights=None):
        """Some rows, with weights of sum 1."""
        weights = self.weights[rows] if weights is None else weights
        return self._replace(X=self.X[rows], shares=self.shares[rows], weights=weights)

    def scores(self, w):
        """Estimated targets, shape (n, d)."""
        return self.low + (self.high - self.low) * expit(self.X @ w[:-1] + w[-1])

    def minimum(self, alpha, start=None, *, tol=_TOL, max_iter=MAX_ITER):
        """Coefficients and, in the last row, intercepts, (p + 1, d); the most steps of L-BFGS."""
        n, d = self.shares.shape
        means = np.clip(self.weights @ self.shares, _NEAREST, 1.0 - _NEAREST)
        if start is None:
            start = np.vstack([np.zeros((self.X.shape[1], d)), logit(means)])
        # The objective of each target over its curvature, with coefficients in units in which all
        # directions are as curved.
        spread = means * (1.0 - means)
        curvature = np.vstack([self.squares[:, np.newaxis] + alpha / spread, np.ones(d)])
        unit = 1.0 / np.sqrt(np.maximum(curvature, _FLAT))
        found, n_iter = start.copy(), 0
        for columns in gen_batches(d, int(np.clip(_ENTRIES_AT_ONCE // n, 1, _AT_ONCE))):
            here = unit[:, columns]
            result = minimize(
                self._value_and_gradient,
                (start[:, columns] / here).ravel(),
                (here, self.shares[:, columns], alpha, spread[columns]),
                method="L-BFGS-B",
                jac=True,
                options={
                    "maxiter": max_iter,
                    "maxfun": 20 * max_iter,
                    "gtol": tol,
                    "ftol": 64 * np.finfo(float).eps,
                },
            )
            found[:, columns] = result.x.reshape(here.shape) * here
            n_iter = max(n_iter, result.nit)
        return found, n_iter

    def _value_and_gradient(self, flat, unit, shares, alpha, spread):
        w = flat.reshape(unit.shape) * unit
        z = self.X @ w[:-1] + w[-1]
        small = np.exp(-np.abs(z))  # with it all is much faster than by expit and log_expit
        losses = self.weights @ (np.log1p(small) + np.maximum(z, 0.0) - shares * z)
        values = losses + alpha / 2.0 * np.einsum("pd,pd->d", w[:-1], w[:-1])
        sigmoids = np.where(z >= 0.0, 1.0, small) / (1.0 + small)
        away = (sigmoids - shares) * self.weights[:, np.newaxis]
        gradient = np.vstack([self.X.T @ away + alpha * w[:-1], away.sum(axis=0)])
        return np.sum(values / spread), (gradient * unit / spread).ravel()


def _rows_at_once(X):
    return X.shape[0], max(1, _ENTRIES_AT_ONCE // max(X.shape[1], 1))


def _weighted_gram(X, weights):
    blocks = gen_batches(*_rows_at_once(X))
    return sum((X[rows].T * weights[rows]) @ X[rows] for rows in blocks)


def _mean_squares(X, weights):
    """Weighted mean of the squares of each column."""
    return np.asarray(X.multiply(X).T @ weights if sparse.issparse(X) else weights @ X**2).ravel()


def fit_batch(regression, batch, turns=1):
    """`Regression.fit` of an `EncodedBatch`, with "auto" and "logistic" for its `estimator`.

    "auto" is ridge, but fractional logistic regression of fixed items where held-out lists prefer
    it, at the penalty that they prefer.
    """
    named = regression.estimator if isinstance(regression.estimator, str) else None
    if named is None:
        return regression.fit(batch, turns)
    if named == "logistic":
        refuse_unless_items(batch)
        if batch.targets.shape[1]:  # none of a single item
            return _logistic_or(None, regression, batch)
    model = replace(regression, estimator=None).fit(batch)
    if regression.alpha != "auto" or not _is_worth_trying(batch):
        return model
    return _logistic_or(model, regression, batch)


# The products are small: threads would wait for each other longer than they take.
@threadpool_limits.wrap(limits=1, user_api="blas")
def _logistic_or(ridge, regression, batch):
    """A `RegressorModel`, or the model of ridge that held-out lists do not find worse."""
    alpha, say = regression.alpha, regression.say
    search = _search(batch, say) if alpha == "auto" else Search(alpha)
    logistic = partial(_fit_fractional, search=search, max_iter=regression.max_iter)
    if ridge is None:
        return logistic(batch)
    plain = replace(regression, estimator=None, alpha=ridge.search.alpha, verbose=0)
    if not is_better(batch, logistic, plain.fit, _N_ERRORS):
        return ridge
    say(f"logistic regression is better on held-out lists: alpha={search.alpha:.3g}")
    return logistic(batch)._replace(sums=ridge.sums)


def refuse_unless_items(batch):
    """Refuse what "logistic" cannot be fitted to."""
    if batch.n_items is None:
        raise ValueError(
            "estimator='logistic' is for fixed items, y of shape (n_queries, r), and y has one row "
            "for each document: leave estimator='auto', or take OrderPreservingRegressor."
        )
    if np.isnan(batch.targets).any():
        raise ValueError(
            "estimator='logistic' takes labels none of which misses, and y has NaN: leave "
            "estimator='auto', which is ridge regression then, or take 'trees'."
        )


def _is_worth_trying(batch):
    """Whether the targets are those of fixed items, none of which misses, and not too many."""
    d = batch.targets.shape[1]
    if batch.n_items is None or d == 0 or np.isnan(batch.targets).any():
        return False
    return work_of(batch.X) <= _MOST / d


def _fit_fractional(batch, search, max_iter, quick=False):
    tol = _QUICK if quick else _TOL
    model = FractionalLogisticRegression(search.alpha, max_iter or MAX_ITER, tol)
    model.fit(batch.X, batch.targets, batch.row_weights)
    d = batch.targets.shape[1]
    return RegressorModel([model], n_targets=d, n_iter=model.n_iter_, search=search)


def _search(batch, say):
    """`Search` of the penalty of fractional logistic regression."""
    n_features, d = batch.X.shape[1], batch.targets.shape[1]
    found = distinct_rows(batch.X, batch.y, None, batch.row_weights, enough=ROWS_OF_UTILITIES)
    constant = found.penalty_of_utilities(n_features)
    n_rows = batch.X.shape[0]
    max_rows = int(min(MAX_ROWS, MAX_WORK / (_OF_SEARCH * N_FOLDS * work_of(batch.X) / n_rows * d)))
    if max_rows < min(_FEWEST, n_rows):
        return Search(constant)
    rows, weights, keys = sample(batch, max_rows)
    X, y = batch.X[rows], batch.y[rows]
    judged = judge_of(batch)

    def fit(problem, alpha, start):
        return problem.minimum(alpha, start, tol=_QUICK)[0]

    return search_in_folds(
        Fractions.of(X, batch.targets[rows], weights),
        HeldOutBlocks(keys, np.ones(len(y), dtype=np.intp), lambda of, u: judged(y[of], u)),
        constant * _TIMES,
        constant,
        fit=fit,
        report=lambda alpha, score: say(f"alpha {alpha:.3g}: {score:.4g} held out"),
    )
