"""Linear scores of rows, and the gradient in the weights of a function of the scores."""

import numpy as np
from scipy.sparse import issparse

from .._arrays import slices
from ._statistics import Scaling


class LinearProblem:
    """Linear scores ``(x - mean) / scale W' + b`` of the rows of X.

    A subclass adds a loss of the scores: it evaluates the loss at `scores`, and its
    slopes in the scores become the `gradient` in the weights.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, n_features)
        Rows as given, or standardised. They are neither copied nor shifted.
    n_columns : int, default=1
        Number of scores of a row.
    intercept : bool, default=False
        Whether there are intercepts b. They are the last column of the weights, whose
        shape is (n_columns, n_features + 1), or flat.
    mean, scale : ndarray of shape (n_features,) or float
        What standardises X.
    """

    def __init__(self, X, n_columns=1, *, intercept=False, mean=0.0, scale=1.0):
        self.X, self.n_columns, self.intercept = X, n_columns, intercept
        self.scaling = Scaling(
            *(np.broadcast_to(part, X.shape[1]) for part in (mean, scale))
        )
        self.is_standardised = not np.any(mean) and bool(np.all(np.equal(scale, 1.0)))
        self.size = n_columns * (X.shape[1] + intercept)

    def split(self, w):
        """Coefficients (n_columns, n_features) and intercepts (n_columns,) of the weights."""
        matrix = w.reshape(self.n_columns, -1)
        if self.intercept:
            return matrix[:, :-1], matrix[:, -1]
        return matrix, np.zeros(self.n_columns)

    def scores(self, w):
        """Scores at the weights, shape (n_rows, n_columns)."""
        coef, intercept = self.split(w)
        if not self.is_standardised:
            coef, intercept = self.scaling.unscaled(coef, intercept)
        # Scores are column by column in memory: losses of columns are several times
        # faster.
        parts = [
            X @ coef.T if issparse(X) else (coef @ X.T).T
            for _, X in self._double_rows()
        ]
        scores = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if self.intercept or not self.is_standardised:
            scores += intercept  # in place: a copy takes longer than the product
        return scores

    def gradient(self, slopes):
        """Gradient in the weights, flat, of a function with these slopes in the scores."""
        parts = [
            (X.T @ slopes[rows]).T if issparse(X) else slopes[rows].T @ X
            for rows, X in self._double_rows()
        ]
        by_coef = parts[0] if len(parts) == 1 else sum(parts)
        if not self.is_standardised:
            by_coef = by_coef - np.outer(slopes.sum(axis=0), self.scaling.mean)
            by_coef /= self.scaling.scale
        if not self.intercept:
            return by_coef.ravel()
        gradient = np.empty((self.n_columns, self.X.shape[1] + 1))
        gradient[:, :-1], gradient[:, -1] = by_coef, slopes.sum(axis=0)
        return gradient.ravel()

    def _double_rows(self):
        """Slices of rows and these rows in double precision; all at once if X is double."""
        if self.X.dtype == np.float64:
            return [(slice(None), self.X)]
        pieces = slices(self.X.shape[0], 2048)
        return ((rows, self.X[rows].astype(np.float64)) for rows in pieces)
