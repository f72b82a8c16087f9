"""The regression of surrogate vectors that ranker and classifier share."""

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ._linear import linear_scores
from ._regression import (
    fit_regressors,
    linear_coefficients,
    predict_regressors,
    weight_parameters,
    wraps,
)


class SurrogateMixin:
    """Input checks, base regressors and `predict_surrogate`.

    The estimator has the parameters `estimator`, `n_jobs` and `random_state`; fit sets
    either ``estimators_`` or ``coef_`` and ``intercept_``.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        base = None if self.estimator is None else get_tags(self.estimator).input_tags
        tags.input_tags.sparse = True if base is None else base.sparse
        tags.input_tags.allow_nan = False if base is None else base.allow_nan
        return tags

    def predict_surrogate(self, X):
        """Surrogate vectors u, the estimate of E[alpha(Y) | x].

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, d)
            d is 1 for a ranker of documents: u of one item a row.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        if hasattr(self, "estimators_"):
            return predict_regressors(self.estimators_, X)
        return linear_scores(X, np.atleast_2d(self.coef_), self.intercept_)

    def _validate_X(self, X, *, reset):
        tags = get_tags(self).input_tags
        other = self.estimator is not None  # whose tags may say less than it takes
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if tags.sparse or other else False,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if tags.allow_nan or wraps(self.estimator) else True,
        )

    def _fit_regressors(self, X, targets, weights, estimator=None):
        """Set ``estimators_``; return their coefficients and intercept, or None."""
        estimator = self.estimator if estimator is None else estimator
        takes_weights = weight_parameters(estimator, weights) is not None
        if np.allclose(weights, 1.0 if takes_weights else weights[0], rtol=1e-12, atol=0.0):
            weights = None
        elif not takes_weights:
            raise ValueError(
                f"{estimator!r} takes no sample_weight in fit, but the rows have different "
                "weights (sample_weight, or list_weights of a ranker; of pairs list_weights="
                "'pairs' are equal ones): leave them out, or take another regressor."
            )
        self.estimators_ = fit_regressors(
            estimator,
            X,
            targets,
            weights,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=getattr(self, "verbose", 0),
        )
        return linear_coefficients(self.estimators_, X[:5])

    def _forget(self, *names):
        """Drop what an earlier fit has set, with another estimator perhaps."""
        for name in ("coef_", "intercept_", "estimators_", *names):
            vars(self).pop(name, None)
