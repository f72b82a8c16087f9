"""Losses of classes: any cost matrix by its factors, and measures of predicted classes."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from .._arrays import ArrayLike, check_finite, numbers
from .._parameters import check_parameters, count, number
from ._base import RankingMeasure


class _ClassMeasure(RankingMeasure):
    """A measure of the items with a score above 0."""

    labels = "binary"
    relevance_threshold = None

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        """The measure of a marked relevant and b other marked items of P and N."""
        raise NotImplementedError

    def values(self, y, scores, lists):
        marked = (scores > 0).astype(float)
        a, P = lists.sum(marked * y), lists.sum(y)
        b, N = lists.sum(marked) - a, lists.lengths - P
        return self.of_counts(a, b, P, N)


class FBeta(_ClassMeasure):
    """F_beta of the items whose score is above 0.

    The value is ``(1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)``, with a relevant and b other
    marked items, and c relevant items that are not marked.

    Parameters
    ----------
    beta : float, default=1.0
        > 0; recall counts ``beta**2`` times as much as precision.

    Examples
    --------
    >>> from lowrank_rank.target_losses import FBeta
    >>> FBeta().measure([1, 1, 0, 0], [2.0, -1.0, -1.0, 0.5])
    0.5
    """

    _parameters: ClassVar[dict] = {"beta": [number(above=0)]}

    def __init__(self, beta=1.0):
        self.beta = beta

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        hits = (1.0 + self.beta**2) * a
        total = hits + b + self.beta**2 * (P - a)
        return np.divide(hits, total, out=np.ones(np.shape(total)), where=total > 0)


class BalancedAccuracy(_ClassMeasure):
    """Mean of sensitivity and specificity of the items whose score is above 0.

    Undefined where one class is missing.

    Examples
    --------
    >>> from lowrank_rank.target_losses import BalancedAccuracy
    >>> BalancedAccuracy().measure([1, 1, 0, 0], [2.0, -1.0, -1.0, -0.5])
    0.75
    """

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        both = (P > 0) & (N > 0)
        value = 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))
        return np.where(both, value, np.nan)


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

    Without the row means, which depend on the label alone, a singular value decomposition gives L =
    A B^T. So ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` with alpha = A and beta = B. The
    dimension d is the rank: n - 1 for the 0-1 loss of n classes.

    Parameters are checked and factors computed at their first use, and again after `set_params`. Do
    not change the entries of the matrix in place.

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
