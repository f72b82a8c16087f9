"""Any loss matrix: the smallest linear surrogate from a singular value decomposition."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .._arrays import ArrayLike, check_finite, numbers
from .._parameters import check_parameters, count

_LARGEST_COST = 1e150  # squares stay finite


class Factors(NamedTuple):
    """A loss matrix of costs and its factors; see `MatrixLoss`."""

    matrix: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    approximation_error: float


def factorise(loss_matrix, n_components=None):
    """`Factors` of a matrix, of dimension `n_components` at most; refuses what is no matrix."""
    matrix = numbers(loss_matrix, "loss_matrix")
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise ValueError(
            "loss_matrix must be a matrix (n_classes, n_decisions), one row per class, got "
            f"shape {matrix.shape}."
        )
    check_finite(matrix, "loss_matrix", _LARGEST_COST)
    means = matrix.mean(axis=1, keepdims=True)
    left, singular, right = np.linalg.svd(matrix - means, full_matrices=False)
    rounding = np.linalg.norm(matrix) * max(matrix.shape) * np.finfo(float).eps
    rank = int(np.sum(singular > rounding))
    d = rank if n_components is None else min(int(n_components), rank)
    root = np.sqrt(singular[:d])
    alpha, beta = left[:, :d] * root, right[:d].T * root
    error = np.abs(matrix - means - alpha @ beta.T).max()
    return Factors(matrix, alpha, beta, float(error))


class MatrixLoss(BaseEstimator):
    """Low-rank form of an arbitrary n x k loss matrix (classes x decisions).

    With the row means removed (they depend on the label alone) L = A B^T by singular values,
    ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` with alpha = A, beta = B and d the rank of
    that matrix: n - 1 for the 0-1 loss on n classes.

    The factors are computed, and the parameters checked, when they are first asked for; a
    parameter that is set anew is factorised anew. Give another matrix rather than change the
    entries of this one.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions)
        Cost of each decision for each class; finite.
    n_components : int or None, default=None
        Largest dimension of the surrogate; None, or the rank and more, is exact. Below the
        rank the regret can grow by up to twice `approximation_error_`.

    Attributes
    ----------
    n_components_ : int
        d.
    matrix_ : ndarray of shape (n_classes, n_decisions)
        The costs.
    alpha_, beta_ : ndarrays of shape (n_classes, d) and (n_decisions, d)
        The factors.
    approximation_error_ : float
        ``max |L - L_d|``, 0 up to rounding at full rank.

    Raises
    ------
    ValueError
        Of the attributes and methods, if the matrix is not two-dimensional, holds NaN or
        infinity, or n_components is not an integer >= 1.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.target_losses import MatrixLoss
    >>> loss = MatrixLoss(1 - np.eye(3))
    >>> loss.n_components_
    2
    >>> loss.decode(loss.encode([2, 0, 1]))
    array([2, 0, 1])
    """

    _parameters: ClassVar = {"n_components": [count(), None]}

    def __init__(self, loss_matrix: ArrayLike, n_components: int | None = None) -> None:
        self.loss_matrix = loss_matrix
        self.n_components = n_components

    @property
    def _factors(self):
        of, factors = getattr(self, "_factors_", ((), None))
        now = (self.loss_matrix, self.n_components)
        if len(of) != 2 or any(a is not b for a, b in zip(of, now, strict=True)):
            check_parameters(self)
            factors = factorise(*now)
            self._factors_ = (now, factors)
        return factors

    @property
    def matrix_(self) -> np.ndarray:
        return self._factors.matrix

    @property
    def alpha_(self) -> np.ndarray:
        return self._factors.alpha

    @property
    def beta_(self) -> np.ndarray:
        return self._factors.beta

    @property
    def n_components_(self) -> int:
        return self._factors.alpha.shape[1]

    @property
    def approximation_error_(self) -> float:
        return self._factors.approximation_error

    def encode(self, y: ArrayLike) -> np.ndarray:
        """alpha(y), shape (n, d), of class indices y."""
        return self.alpha_[np.asarray(y)]

    def decode(self, u: Any) -> np.ndarray:
        """Index of the decision that minimises ``<u, beta(t)>``, ties to the first."""
        return np.argmin(np.asarray(u) @ self.beta_.T, axis=1)

    def loss(self, y: ArrayLike, decisions: Any) -> np.ndarray:
        """Cost of decision indices for class indices, shape (n,)."""
        return self.matrix_[np.asarray(y), np.asarray(decisions)]
