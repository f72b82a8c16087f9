"""Predictions of linear models."""

import numpy as np
from scipy.sparse import issparse

_COLUMNS_AT_ONCE = 4096


def linear_scores(X, coef, intercept):
    """X coef' + intercept, shape (n, d), equal for equal rows whatever else is in the batch.

    Not by BLAS where X is dense: its kernels sum the last rows of a batch in another order, and
    equal documents must tie. In blocks, for einsum buffers longer sums by the batch too.
    """
    if issparse(X):
        return X @ coef.T + intercept
    X = np.ascontiguousarray(X)
    scores = np.zeros((len(X), len(coef)), dtype=np.result_type(X, coef))
    for first in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        columns = slice(first, first + _COLUMNS_AT_ONCE)
        scores += np.einsum("np,dp->nd", X[:, columns], coef[:, columns])
    return scores + intercept
