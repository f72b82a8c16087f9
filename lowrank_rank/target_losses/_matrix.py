"""Any loss matrix: the smallest linear surrogate from a singular value decomposition."""

import numpy as np


class MatrixLoss:
    """Low-rank form of an arbitrary n x k loss matrix (classes x decisions).

    With the row means removed (they depend on the label alone) L = A B^T by singular values,
    ``loss(y, t) = offset(y) + <alpha(y), beta(t)>`` with alpha = A, beta = B and d the rank of
    that matrix: n - 1 for the 0-1 loss on n classes.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions)
        Cost of each decision for each class; finite.
    n_components : int or None, default=None
        Largest dimension of the surrogate; None, or the rank and more, is exact. Below the
        rank the regret can grow by up to twice `approximation_error`.

    Attributes
    ----------
    n_components : int
        d.
    approximation_error : float
        ``max |L - L_d|``, 0 up to rounding at full rank.

    Raises
    ------
    ValueError
        If the matrix is not two-dimensional, holds NaN or infinity, or n_components is
        not an integer >= 1.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 3.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.target_losses import MatrixLoss
    >>> loss = MatrixLoss(1 - np.eye(3))
    >>> loss.n_components
    2
    >>> loss.decode(loss.encode([2, 0, 1]))
    array([2, 0, 1])
    """

    def __init__(self, loss_matrix, n_components=None):
        matrix = np.asarray(loss_matrix, dtype=np.float64)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(
                "loss_matrix must be a matrix (n_classes, n_decisions), one row per class, got "
                f"shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            place = tuple(int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
            raise ValueError(
                f"loss_matrix[{place[0]}, {place[1]}] is {matrix[place]}: every cost must be a "
                "finite number."
            )
        means = matrix.mean(axis=1, keepdims=True)
        left, singular, right = np.linalg.svd(matrix - means, full_matrices=False)
        rounding = np.linalg.norm(matrix) * max(matrix.shape) * np.finfo(float).eps
        rank = int(np.sum(singular > rounding))
        self.n_components = self._check_n_components(n_components, rank)
        root = np.sqrt(singular[: self.n_components])
        self.matrix = matrix
        self.alpha = left[:, : self.n_components] * root
        self.beta = right[: self.n_components].T * root
        approximation = means + self.alpha @ self.beta.T
        self.approximation_error = float(np.abs(matrix - approximation).max())

    @staticmethod
    def _check_n_components(n_components, rank):
        if n_components is None:
            return rank
        if not isinstance(n_components, int | np.integer) or n_components < 1:
            raise ValueError(f"n_components must be an integer >= 1, got {n_components!r}.")
        return min(int(n_components), rank)

    def encode(self, y):
        """alpha(y), shape (n, d), of class indices y."""
        return self.alpha[np.asarray(y)]

    def decode(self, u):
        """Index of the decision that minimises ``<u, beta(t)>``, ties to the first."""
        return np.argmin(np.asarray(u) @ self.beta.T, axis=1)

    def loss(self, y, decisions):
        """Cost of decision indices for class indices, shape (n,)."""
        return self.matrix[np.asarray(y), np.asarray(decisions)]
