"""Utilities of labelled lists, and a surrogate of linear scores on them."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from .._lists import RankingLists
from ..calibration import C_phi
from ..solvers import RidgeStatistics
from ..surrogates import PairwiseSquared, PointwiseSquared, Surrogate, surrogate_for
from ._encoding import encode_documents, encode_items
from ._ridge import MOST_FEATURES_GRAM


@dataclass(frozen=True)
class ScoreProblem:
    """A surrogate with the utilities of documents (d = 1) or of fixed items (d = r).

    Attributes
    ----------
    surrogate : Surrogate
    v, weights : ndarray of shape (n, d)
        Utilities and importances, in the order of the rows of X; 0 where not judged.
    lists : RankingLists
        Of the flat scores: the rows of X, or the rows of a matrix of scores.
    row_weights : ndarray of shape (n,)
    unit : float
        The utilities are those of the measure times this.
    n_items : int or None
    n_lists : int
    n_features : int
    """

    surrogate: Surrogate
    v: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    row_weights: np.ndarray
    unit: float
    n_items: int | None
    n_lists: int
    n_features: int

    @classmethod
    def of_labels(cls, X, y, lists, weights, loss, surrogate):
        """From labels as the rankers read them."""
        if y.ndim == 1:
            batch = encode_documents(X, y, lists, weights, loss, "auto", "rows", False)
            v, each = batch.scaled_targets(), weights[:, np.newaxis]
        else:
            batch = encode_items(X, y, weights, loss, "sort")
            judged = ~np.isnan(batch.targets)
            v, each = np.nan_to_num(batch.targets), weights[:, np.newaxis] * judged
            lists = RankingLists.equal(*v.shape)
        resolved = surrogate_for(surrogate, v[each > 0])
        unit = batch.totals.target_factor
        return cls(
            resolved, v, each, lists, weights, unit, batch.n_items, batch.n_lists, X.shape[1]
        )

    def flat(self, array):
        """(n, d) as grouped flat entries."""
        return self.lists.group(array.ravel())

    @property
    def total(self):
        """What the sum over lists is divided by."""
        total = self.weights.sum()
        if self.surrogate.of_utilities:
            total = (self.weights * self.v).sum()
        return total if total > 0 else 1.0

    def evaluate(self, scores):
        """Mean surrogate of scores (n, d), and its gradient."""
        lists, weights = self.lists, self.flat(self.weights)
        found = self.surrogate.evaluate(self.flat(self.v), self.flat(scores), lists, weights)
        value, gradient = found.values, found.gradient
        if self.surrogate.of_pairs:  # a list counts by its weight, not by the square of it
            mass = lists.sum(weights)
            share = np.divide(1.0, mass, out=np.zeros(len(mass)), where=mass > 0)
            value, gradient = value * share, gradient * lists.spread(share)
        total = self.total
        return value.sum() / total, lists.ungroup(gradient).reshape(scores.shape) / total

    def objective(self, X, theta, alpha):
        scores = np.asarray(X @ theta[:, :-1].T) + theta[:, -1]
        return float(self.evaluate(scores)[0] + 0.5 * alpha * (theta[:, :-1] ** 2).sum())

    def bound_factor(self, loss):
        """Root of the mean over lists of (c C_phi(2))**2, for the measure in its own unit.

        nan where there is no bound: of the surrogate, or because items of one list weigh
        differently in it and alike in the measure, as where some are not judged.
        """
        has_none = type(self.surrogate).bound_constant is Surrogate.bound_constant
        if has_none or not self.surrogate.order_preserving:
            return np.nan
        lists, weights = self.lists, self.flat(self.weights)
        if np.any(weights != lists.spread(weights[lists.starts])):
            return np.nan
        mass = lists.sum(weights)
        c = self.surrogate.bound_constant(self.flat(self.v), lists)
        lengths, which = np.unique(lists.lengths, return_inverse=True)
        spread = np.array([C_phi(loss, int(r)) for r in lengths])[which]
        counts = mass > 0
        factors = (c * spread)[counts] / self.unit
        return float(np.sqrt(np.mean(factors**2))) if counts.any() else np.nan


def scaled_features(X, weights, standardize, centre):
    """X over its standard deviations, minus its means where X is dense.

    Returns
    -------
    scaled : ndarray or CSR matrix of shape (n, p)
    mean, scale : ndarray of shape (p,)
        The mean is 0 without `centre`.
    left : ndarray of shape (p,)
        What is still to be subtracted from `scaled`: 0 where X is dense.
    """
    share, n_rows = weights / weights.sum(), X.shape[0]
    centred = None
    if sparse.issparse(X):
        mean, variance = _sparse_moments(X, share)
    else:
        mean = share @ X
        centred = X - mean
        variance = np.einsum("n,np,np->p", share, centred, centred)
    eps = np.finfo(float).eps
    constant = variance <= n_rows * eps * variance + (n_rows * eps * mean) ** 2
    scale = np.sqrt(np.where(constant | (not standardize), 1.0, variance))
    mean = mean if centre else np.zeros(len(mean))
    if centred is None:
        return X @ sparse.diags(1.0 / scale), mean, scale, mean / scale
    scaled = centred if centre else X.copy()
    scaled /= scale
    return scaled, mean, scale, np.zeros(len(mean))


def _sparse_moments(X, share):
    """Weighted means and variances of the columns, stored entries and zeros apart."""
    mean = np.asarray(X.T @ share).ravel()
    rows = np.repeat(share, np.diff(X.indptr))
    stored = np.bincount(X.indices, rows, X.shape[1])
    apart = np.bincount(X.indices, rows * (X.data - mean[X.indices]) ** 2, X.shape[1])
    full = np.bincount(X.indices, minlength=X.shape[1]) >= X.shape[0]
    return mean, apart + np.where(full, 0.0, np.maximum(1.0 - stored, 0.0)) * mean**2


def has_closed_form(problem, intercept):
    """Squared surrogates of judged items, with the intercept that ridge has."""
    kind = type(problem.surrogate)
    if kind not in (PointwiseSquared, PairwiseSquared) or problem.n_features > MOST_FEATURES_GRAM:
        return False
    return intercept and bool(np.all((problem.weights > 0) == (problem.row_weights > 0)[:, None]))


def closed_form(X, problem, alpha):
    """Coefficients and intercepts (d, p + 1) of the squared surrogates: ridge regression.

    In pairs of documents both sides are centred within lists; for fixed items only the targets
    of a row have to be, the same for all features.
    """
    targets, codes = problem.v, None
    if isinstance(problem.surrogate, PairwiseSquared):
        if problem.n_items is None:
            codes = problem.lists.ungroup(problem.lists.index)
        else:
            targets = targets - targets.mean(axis=1, keepdims=True)
    statistics = RidgeStatistics.of_batch(X, targets, problem.row_weights, codes)
    coef, intercept = statistics.solve(0.5 * alpha * problem.total)
    shift = intercept if codes is None else np.zeros(len(intercept))
    return np.column_stack([coef.T, shift])
