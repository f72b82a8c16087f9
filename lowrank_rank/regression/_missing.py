"""Targets of which each row has only some, in one regression of all of them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone

from .._base import attribute_of_fitted

_SMALL = 1e-3  # of the deviations: what else is averaged does not decide where trees split
_TINY = np.finfo(float).tiny


class MeansOfKnown(RegressorMixin, BaseEstimator):
    """Regressor of targets some of which are NaN, by one whose predictions are weighted means.

    Such are forests and nearest neighbours: their prediction is sum_i w_i(x) t_i with weights that
    are >= 0 and add up to 1, the same for all targets. With k_i = 1 where the target of row i is
    known, else 0, and m the mean of those that are known, this one predicts

        m + sum_i w_i k_i (t_i - m) / (f + (1 - f) prior_rows / n),    f = sum_i w_i k_i.

    Without the second term it is the mean of the known targets near x, where a label misses because
    of x too. The term pulls a target that few rows near x know to its mean, as `prior_rows`, at
    most n, of the n rows would: with 1 for n in the place of the ratio it is the prediction from
    targets that are filled with m. With nothing missing it is that of the regressor itself.

    Parameters
    ----------
    estimator : regressor
        Of many targets, with weighted means as predictions.
    prior_rows : float, default=20.0

    Attributes
    ----------
    estimator_ : fitted regressor
        Of deviations from the means, 0 where a target misses, and small multiples of k.
    means_ : ndarray of shape (d,)
    """

    def __init__(self, estimator: Any, prior_rows: float = 20.0) -> None:
        self.estimator = estimator
        self.prior_rows = prior_rows

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MeansOfKnown":
        """Fit to targets (n, d), NaN where one misses; each is known in some row of weight > 0."""
        known = ~np.isnan(y)
        weights = known.astype(float)
        if sample_weight is not None:
            weights *= np.asarray(sample_weight)[:, np.newaxis]
        sums = np.where(known, y, 0.0)
        self.means_ = (weights * sums).sum(axis=0) / np.maximum(weights.sum(axis=0), _TINY)
        deviations = np.where(known, y - self.means_, 0.0)
        self._unit_ = _SMALL * float(np.sqrt(np.mean(deviations**2))) or 1.0
        self._prior_ = min(1.0, self.prior_rows / len(y))
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        both = np.hstack([deviations, self._unit_ * known])
        self.estimator_ = clone(self.estimator).fit(X, both, **given)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Targets, shape (n, d)."""
        deviations, known = np.hsplit(self.estimator_.predict(X), 2)
        known = known / self._unit_
        return self.means_ + deviations / np.maximum(known + (1.0 - known) * self._prior_, _TINY)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Of the regressor, where it has them."""
        return attribute_of_fitted(self, "feature_importances_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = self.estimator.__sklearn_tags__().input_tags
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags
