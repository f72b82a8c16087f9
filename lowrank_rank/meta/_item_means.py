"""The constant of fixed items: one order for all rows."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..validation._arrays import n_rows

#: Rows at the mean of the others that a label is averaged with where there are gaps.
PRIOR_ROWS = 5.0


class ItemMeans(RegressorMixin, BaseEstimator):
    """Score each item by its mean label, whatever the features.

    Without gaps the score of item j is the mean of y[:, j]. Ratings with gaps are not
    of the same rows for each item, so a label counts as its difference from the mean of
    its row, and 5 rows without a difference are added: with the n_j rows that have a
    label of j,

        sum_i (y[i, j] - mean of y[i]) / (n_j + 5).

    The score of preferences is the mean of sum_k y[:, j, k] - y[:, k, j].

    Attributes
    ----------
    scores_ : ndarray of shape (r,)
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "ItemMeans":
        """Fit to labels (n_rows, r), NaN unknown, or preferences (n_rows, r, r)."""
        y = np.asarray(y, dtype=np.float64)
        weights = np.ones(len(y))
        if sample_weight is not None:
            weights = np.asarray(sample_weight, dtype=np.float64)
        if y.ndim == 3:
            y = y.sum(axis=2) - y.sum(axis=1)
        is_known = ~np.isnan(y)
        self.scores_ = weights @ np.where(is_known, y, 0.0) / weights.sum()
        if is_known.all():
            return self
        n_of_rows = np.maximum(is_known.sum(axis=1, keepdims=True), 1)
        means_of_rows = np.nansum(y, axis=1, keepdims=True) / n_of_rows
        differences = np.where(is_known, y - means_of_rows, 0.0)
        self.scores_ = weights @ differences / (weights @ is_known + PRIOR_ROWS)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the scores of the items for each row, shape (n_rows, r)."""
        check_is_fitted(self)
        return np.tile(self.scores_, (n_rows(X), 1))
