"""Losses and measures of predicted classes: any loss matrix, F_beta, balanced accuracy."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from .._arrays import ArrayLike, check_finite, numbers
from .._parameters import check_parameters, count, number
from ._base import RankingMeasure


class _ClassMeasure(RankingMeasure):
    """Base of the measures that predict the positive class where a score is above 0."""

    labels = "binary"
    relevance_threshold = None

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        """The measure at a true and b false positives among P positives and N negatives."""
        raise NotImplementedError

    def values(self, y, scores, lists):
        predicted = (scores > 0).astype(float)
        a, P = lists.sum(predicted * y), lists.sum(y)
        b, N = lists.sum(predicted) - a, lists.lengths - P
        return self.of_counts(a, b, P, N)


class FBeta(_ClassMeasure):
    """F_beta of the items with a score above 0.

    ``(1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)`` with a true positives, b false positives
    and c false negatives.

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
    """Mean of sensitivity and specificity of the items with a score above 0.

    Undefined if one class is missing.

    Examples
    --------
    >>> from lowrank_rank.target_losses import BalancedAccuracy
    >>> BalancedAccuracy().measure([1, 1, 0, 0], [2.0, -1.0, -1.0, -0.5])
    0.75
    """

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        value = 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))
        return np.where((P > 0) & (N > 0), value, np.nan)


class MatrixLoss(BaseEstimator):
    """Low-rank form of an arbitrary n x k loss matrix (classes x decisions).

    The form is ``loss(y, t) = offset(y) + <alpha(y), beta(t)>``. The offset is the mean of row y.
    A singular value decomposition of the matrix without its row means gives the factors alpha and
    beta. Their dimension d is the rank of that matrix, n - 1 for the 0-1 loss on n classes.

    The first use of an attribute or method checks the parameters and computes the factors. A new
    value of a parameter leads to new factors; a change inside `loss_matrix` does not.

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
        On first use, if the matrix is not two-dimensional, holds NaN or infinity, or
        n_components is not an integer >= 1.

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
        """The matrix, alpha, beta and the approximation error for the current parameters."""
        loss_matrix, n_components, factors = getattr(self, "_factorised", (None, None, None))
        is_current = loss_matrix is self.loss_matrix and n_components is self.n_components
        if factors is not None and is_current:
            return factors
        check_parameters(self)
        matrix = numbers(self.loss_matrix, "loss_matrix")
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(
                "loss_matrix must be a matrix (n_classes, n_decisions), one row per class, got "
                f"shape {matrix.shape}."
            )
        check_finite(matrix, "loss_matrix", 1e150)  # squares of larger costs overflow
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        left, singular, right = np.linalg.svd(centred, full_matrices=False)
        rounding = np.linalg.norm(matrix) * max(matrix.shape) * np.finfo(float).eps
        d = int(np.sum(singular > rounding))
        if self.n_components is not None:
            d = min(int(self.n_components), d)
        root = np.sqrt(singular[:d])
        alpha, beta = left[:, :d] * root, right[:d].T * root
        factors = matrix, alpha, beta, float(np.abs(centred - alpha @ beta.T).max())
        self._factorised = self.loss_matrix, self.n_components, factors
        return factors

    @property
    def matrix_(self) -> np.ndarray:
        return self._factors[0]

    @property
    def alpha_(self) -> np.ndarray:
        return self._factors[1]

    @property
    def beta_(self) -> np.ndarray:
        return self._factors[2]

    @property
    def n_components_(self) -> int:
        return self.alpha_.shape[1]

    @property
    def approximation_error_(self) -> float:
        return self._factors[3]

    def encode(self, y: ArrayLike) -> np.ndarray:
        """alpha(y), shape (n, d), of class indices y."""
        return self.alpha_[np.asarray(y)]

    def decode(self, u: Any) -> np.ndarray:
        """Index of the decision that minimises ``<u, beta(t)>``, ties to the first."""
        return np.argmin(np.asarray(u) @ self.beta_.T, axis=1)

    def loss(self, y: ArrayLike, decisions: Any) -> np.ndarray:
        """Cost of decision indices for class indices, shape (n,)."""
        return self.matrix_[np.asarray(y), np.asarray(decisions)]
