"""Losses and measures of predicted classes and sets: any loss matrix, F_beta, Hamming, balanced."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from .._arrays import ArrayLike, check_finite, numbers
from .._lists import bounded_blocks
from .._parameters import check_parameters, count, number
from ._target_loss import RankingMeasure


class _ClassMeasure(RankingMeasure):
    """Base of the measures that predict the positive class where a score is above 0."""

    labels = "binary"
    relevance_threshold = None

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        """The measure at a true and b false positives among P positives and N negatives.

        Parameters
        ----------
        a, b : ndarray
            Numbers of true and of false positives.
        P, N : ndarray
            Numbers of positives and of negatives.

        Returns
        -------
        ndarray
            The measure, higher is better.
        """
        raise NotImplementedError

    def values(self, y: Any, scores: Any, lists: Any) -> np.ndarray:
        predicted = (scores > 0).astype(float)
        a, P = lists.sum(predicted * y), lists.sum(y)
        b, N = lists.sum(predicted) - a, lists.lengths - P
        return self.of_counts(a, b, P, N)


class SetLoss(_ClassMeasure):
    """A measure of sets of labels with a low-rank form, for `LowRankSurrogateMultilabelClassifier`.

    ``1 - measure(y, z) = offset(y) + <encode(y), set_features(z)>`` for a true set y
    and a predicted set z, rows of 0 and 1. Subclasses define these three, ``of_counts``
    and ``decode``. `testing.check_target_loss` checks them.
    """

    def encode(self, y: np.ndarray, max_size: int | None = None) -> np.ndarray:
        """Targets alpha(y), shape (n, d), of sets y (n, s) of at most `max_size` labels.

        NaN in y is an unknown label. A target that depends on an unknown label is NaN.

        Parameters
        ----------
        y : ndarray of shape (n, s)
            True sets, rows of 0 and 1.
        max_size : int or None, default=None
            Number of labels of the largest true set; None is s, the number of all
            labels.

        Returns
        -------
        ndarray of shape (n, d)
            alpha(y), what a regression learns.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define encode(y, max_size)."
        )

    def set_features(self, z: np.ndarray, max_size: int | None = None) -> np.ndarray:
        """beta(z), shape (n, d), of sets z (n, s): the loss is linear in them.

        Parameters
        ----------
        z : ndarray of shape (n, s)
            Predicted sets, rows of 0 and 1.
        max_size : int or None, default=None
            Number of labels of the largest true set; None is s, the number of all
            labels.

        Returns
        -------
        ndarray of shape (n, d)
            beta(z).
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define set_features(z, max_size)."
        )

    def offset(self, y: np.ndarray) -> np.ndarray:
        """The part of the loss that does not depend on the predicted set, shape (n,).

        Parameters
        ----------
        y : ndarray of shape (n, s)
            True sets, rows of 0 and 1.

        Returns
        -------
        ndarray of shape (n,)
            The offset of each row.
        """
        raise NotImplementedError(f"{type(self).__name__} must define offset(y).")

    def decode(self, u: np.ndarray, n_labels: int) -> np.ndarray:
        """Sets z of the least ``<u, beta(z)>``, 0 and 1 of shape (n, n_labels).

        Parameters
        ----------
        u : ndarray of shape (n, d)
            Surrogate vectors, estimates of E[alpha(y) | x].
        n_labels : int
            Number s of all labels.

        Returns
        -------
        ndarray of int, shape (n, n_labels)
            The best set of each row, 0 and 1.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define decode(u, n_labels)."
        )

    def loss(self, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Loss of each set z[i] where y[i] is true, shape (n,).

        Parameters
        ----------
        y : ndarray of shape (n, s)
            True sets, rows of 0 and 1.
        z : ndarray of shape (n, s)
            Predicted sets, rows of 0 and 1.

        Returns
        -------
        ndarray of shape (n,)
            One minus the measure of each row.
        """
        y, z = np.asarray(y), np.asarray(z)
        a, P = (y * z).sum(axis=1), y.sum(axis=1)
        return 1.0 - self.of_counts(a, z.sum(axis=1) - a, P, y.shape[1] - P)


class FBeta(SetLoss):
    """F_beta of the items with a score above 0, or of a set of labels.

    ``(1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)`` with a true positives, b false
    positives and c false negatives. It is 1 if nothing is positive and nothing is
    predicted.

    The low-rank form for sets of s labels, at most K in a row [1]_, has ``d = s K + 1``
    targets. The first is 1 if y is empty. The others, for each label i and size k, are
    1 if y holds i and has k labels. The decoder is exact.

    Parameters
    ----------
    beta : float, default=1.0
        > 0; recall counts ``beta**2`` times as much as precision.

    References
    ----------
    .. [1] M. Zhang, H. G. Ramaswamy, S. Agarwal, "Convex Calibrated Surrogates for the Multi-Label
       F-Measure", ICML 2020.

    Examples
    --------
    >>> from lowrank_rank.target_losses import FBeta
    >>> FBeta().measure([1, 1, 0, 0], [2.0, -1.0, -1.0, 0.5])
    0.5

    A set of two labels, and the same set decoded:

    >>> import numpy as np
    >>> u = FBeta().encode(np.array([[1, 0, 1]]))
    >>> u
    array([[0., 0., 1., 0., 0., 0., 1.]])
    >>> FBeta().decode(u, n_labels=3)
    array([[1, 0, 1]])
    """

    _parameters: ClassVar[dict] = {"beta": [number(above=0)]}

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        hits = (1.0 + self.beta**2) * a
        total = hits + b + self.beta**2 * (P - a)
        return np.divide(hits, total, out=np.ones(np.shape(total)), where=total > 0)

    def _of_one_hit(self, max_size, sizes):
        """F_beta of one hit among sets of `sizes` labels where 1..K are true, shape (K, n)."""
        true_sizes = np.arange(1, max_size + 1)[:, np.newaxis]
        return self.of_counts(1.0, sizes - 1.0, true_sizes, None)

    def encode(self, y: np.ndarray, max_size: int | None = None) -> np.ndarray:
        y = np.asarray(y)
        sizes = y.sum(axis=1)
        largest = int(np.fmax.reduce(sizes, initial=0))
        max_size = largest if max_size is None else max_size
        if largest > max_size:
            raise ValueError(
                f"A row of y has {largest} labels, more than max_size={max_size}."
            )
        has_size = sizes[:, np.newaxis] == np.arange(1, max_size + 1)
        both = (y[:, :, np.newaxis] > 0) & has_size[:, np.newaxis]
        flat = both.reshape(len(y), y.shape[1] * max_size)
        targets = np.hstack([sizes[:, np.newaxis] == 0, flat]).astype(np.float64)
        targets[np.isnan(sizes)] = np.nan
        return targets

    def set_features(self, z: np.ndarray, max_size: int | None = None) -> np.ndarray:
        z = np.asarray(z)
        sizes = z.sum(axis=1)
        weights = self._of_one_hit(z.shape[1] if max_size is None else max_size, sizes)
        gains = (z[:, :, np.newaxis] * weights.T[:, np.newaxis]).reshape(len(z), -1)
        return -np.hstack([sizes[:, np.newaxis] == 0, gains])

    def offset(self, y: np.ndarray) -> np.ndarray:
        return np.ones(len(y))

    def decode(self, u: np.ndarray, n_labels: int) -> np.ndarray:
        """Sets of the largest expected F_beta; of equal ones the smallest, then lower columns.

        A set of m labels gains the sum of m entries of one column of ``U W_m``, so the
        best one takes the m largest entries.
        """
        max_size, sizes = (u.shape[1] - 1) // n_labels, np.arange(1, n_labels + 1)
        weights, in_top = (
            self._of_one_hit(max_size, sizes).T,
            np.tri(n_labels, dtype=bool),
        )
        chosen = np.zeros((len(u), n_labels), dtype=int)
        for rows in bounded_blocks(
            len(u), n_labels * n_labels, 2**17
        ):  # pieces that fit into the cache
            of_sizes = u[rows, 1:].reshape(len(u[rows]), n_labels, max_size)
            gains = weights @ of_sizes.swapaxes(
                1, 2
            )  # of each label in sets of each size
            largest = np.sort(gains, axis=2)[:, :, ::-1]
            values = np.sum(largest, axis=2, where=in_top)
            size = np.argmax(np.column_stack([u[rows, 0], values]), axis=1)[
                :, np.newaxis
            ]
            gains = np.take_along_axis(
                gains, np.maximum(size - 1, 0)[:, :, np.newaxis], axis=1
            )
            order = np.argsort(-gains[:, 0], axis=1, kind="stable")
            np.put_along_axis(chosen[rows], order, sizes <= size, axis=1)
        return chosen


class Hamming(SetLoss):
    """Fraction of the labels that are right: one minus the Hamming loss.

    The low-rank form has one target for each label, ``y - 1/2``. The decoder takes the
    labels of positive targets, with a probability above 1/2.
    """

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        return (a + N - b) / (P + N)

    def encode(self, y: np.ndarray, max_size: int | None = None) -> np.ndarray:
        return np.asarray(y) - 0.5

    def set_features(self, z: np.ndarray, max_size: int | None = None) -> np.ndarray:
        return -2.0 * np.asarray(z) / np.shape(z)[1]

    def offset(self, y: np.ndarray) -> np.ndarray:
        return np.mean(y, axis=1)

    def decode(self, u: np.ndarray, n_labels: int) -> np.ndarray:
        return (np.asarray(u) > 0).astype(int)


#: Names of the losses of sets.
SET_LOSSES: dict[str, type[SetLoss]] = {"f1": FBeta, "hamming": Hamming}


def resolve_set_loss(target_loss):
    """A new loss of sets, from a name or an object."""
    loss = target_loss
    if isinstance(target_loss, str) and target_loss in SET_LOSSES:
        loss = SET_LOSSES[target_loss]()
    if not isinstance(loss, SetLoss):
        raise ValueError(
            f"target_loss={target_loss!r} is not a loss of sets: use one of "
            f"{', '.join(SET_LOSSES)}, or an object such as FBeta(beta=2)."
        )
    check_parameters(loss)
    return clone(loss)  # later changes apply to the next fit


class BalancedAccuracy(_ClassMeasure):
    """Mean of sensitivity and specificity of the items with a score above 0.

    Undefined if one class is missing.
    """

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        value = 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))
        return np.where((P > 0) & (N > 0), value, np.nan)


class MatrixLoss(BaseEstimator):
    """Low-rank form of an arbitrary n x k loss matrix (classes x decisions).

    The form is ``loss(y, t) = offset(y) + <alpha(y), beta(t)>``. The offset is the mean
    of row y. A singular value decomposition of the matrix without its row means gives
    the factors alpha and beta. Their dimension d is the rank of that matrix, n - 1 for
    the 0-1 loss on n classes.

    The first use of an attribute or method checks the parameters and computes the
    factors. A new value of a parameter leads to new factors; a change inside
    `loss_matrix` does not.

    Parameters
    ----------
    loss_matrix : array-like of shape (n_classes, n_decisions)
        Cost of each decision for each class; finite.
    n_components : int or None, default=None
        Largest dimension of the surrogate; None, or the rank and more, is exact. Below
        the rank the regret can grow by up to twice `approximation_error_`.

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
        loss_matrix, n_components, factors = getattr(
            self, "_factorised", (None, None, None)
        )
        is_current = (
            loss_matrix is self.loss_matrix and n_components is self.n_components
        )
        if factors is not None and is_current:
            return factors
        check_parameters(self)
        matrix = numbers(self.loss_matrix, "loss_matrix")
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(
                f"loss_matrix must be a matrix, one row per class, got {matrix.shape}."
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
        """alpha(y), shape (n, d), of class indices y.

        Parameters
        ----------
        y : array-like of int, shape (n,)
            Indices of classes, rows of the matrix.

        Returns
        -------
        ndarray of shape (n, d)
            Rows of `alpha_`.
        """
        return self.alpha_[np.asarray(y)]

    def decode(self, u: Any) -> np.ndarray:
        """Index of the decision that minimises ``<u, beta(t)>``, ties to the first.

        Parameters
        ----------
        u : array-like of shape (n, d)
            Surrogate vectors, estimates of E[alpha(y) | x].

        Returns
        -------
        ndarray of int, shape (n,)
            Indices of decisions, columns of the matrix.
        """
        return np.argmin(np.asarray(u) @ self.beta_.T, axis=1)

    def loss(self, y: ArrayLike, decisions: Any) -> np.ndarray:
        """Cost of decision indices for class indices, shape (n,).

        Parameters
        ----------
        y : array-like of int, shape (n,)
            Indices of classes.
        decisions : array-like of int, shape (n,)
            Indices of decisions.

        Returns
        -------
        ndarray of shape (n,)
            The cost of each row.
        """
        return self.matrix_[np.asarray(y), np.asarray(decisions)]
