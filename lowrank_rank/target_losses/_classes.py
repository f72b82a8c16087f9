"""Losses and measures of predicted classes and of predicted sets of labels."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..lists._lists import bounded_blocks
from ..validation._arrays import ArrayLike, check_finite, numbers
from ..validation._check import refuse
from ..validation._checks_of_classes import CHECKS_OF_MATRICES, CHECKS_OF_SIZES
from ..validation._kinds import arrive
from ..validation._parameters import (
    Rule,
    check_parameter,
    check_parameters,
    count,
    number,
    refuse_class,
)
from ._target_loss import RankingMeasure


class _ClassMeasure(RankingMeasure):
    """Base of the measures that predict the positive class where a score is above 0."""

    labels = "binary"
    relevance_threshold = None

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        """Compute the measure from numbers of true and false positives.

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
        P = lists.sum(y)
        N = lists.lengths - P
        a = lists.sum(predicted * y)
        b = lists.sum(predicted) - a
        return self.of_counts(a, b, P, N)


class SetLoss(_ClassMeasure):
    """A measure of sets of labels with a low-rank form.

    ``1 - measure(y, z) = offset(y) + <encode(y), set_features(z)>`` for a true set y
    and a predicted set z, rows of 0 and 1. `LowRankSurrogateMultilabelClassifier`
    minimises it. Subclasses define these three, ``of_counts``
    and ``decode``. `testing.check_target_loss` checks them.

    Examples
    --------
    A missed label costs three times as much as a false one, so a label is predicted
    from a probability of 1/4 on. ``of_counts`` gets a true and b false positives, P
    true labels and N others:

    >>> import numpy as np
    >>> from lowrank_rank.target_losses import SetLoss
    >>> class MissesCostMore(SetLoss):
    ...     def of_counts(self, a, b, P, N):
    ...         return 1 - (3 * (P - a) + b) / (P + N)
    ...     def encode(self, y, max_size=None):
    ...         return np.asarray(y) - 0.25
    ...     def set_features(self, z, max_size=None):
    ...         return -4 * np.asarray(z) / np.shape(z)[1]
    ...     def offset(self, y):
    ...         return 3 * np.mean(y, axis=1)
    ...     def decode(self, u, n_labels):
    ...         return (np.asarray(u) > 0).astype(int)

    One missed and one false label of four cost (3 + 1) / 4:

    >>> loss = MissesCostMore()
    >>> loss.loss([[1, 1, 0, 0]], [[1, 0, 1, 0]])
    array([1.])
    >>> loss.decode(loss.encode([[1, 1, 0, 0]]), 4)
    array([[1, 1, 0, 0]])
    """

    def encode(self, y: np.ndarray, max_size: int | None = None) -> np.ndarray:
        """Compute the targets alpha(y), shape (n, d), of sets y (n, s).

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
        """Compute beta(z), shape (n, d), of sets z (n, s); the loss is linear in them.

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
        """Compute the part of the loss that does not depend on the predicted set.

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
        """Find the sets z of the least ``<u, beta(z)>``, shape (n, n_labels).

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
        """Compute the loss of each set z[i] where y[i] is true, shape (n,).

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
        arrive({"y", "z"}, y=y, z=z)
        y = np.asarray(y)
        z = np.asarray(z)
        P = y.sum(axis=1)
        N = y.shape[1] - P
        a = (y * z).sum(axis=1)
        b = z.sum(axis=1) - a
        return 1.0 - self.of_counts(a, b, P, N)


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
    .. [1] M. Zhang, H. G. Ramaswamy, S. Agarwal, "Convex Calibrated Surrogates for the
       Multi-Label F-Measure", ICML 2020.

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

    bounds = (0.0, 1.0)
    _parameters: ClassVar[dict] = {"beta": [number(above=0)]}

    def __init__(self, beta: float = 1.0) -> None:
        self.beta = beta

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        numerator = (1.0 + self.beta**2) * a
        denominator = numerator + b + self.beta**2 * (P - a)
        value = np.ones(np.shape(denominator))
        return np.divide(numerator, denominator, out=value, where=denominator > 0)

    def _gain_of_label(self, max_size, sizes):
        """Compute what a true label of a predicted set adds to F_beta.

        W[m, k - 1] is F_beta of a set of ``sizes[m]`` labels with one true positive
        where k labels are true, shape (n_sizes, max_size).
        """
        true_sizes = np.arange(1, max_size + 1)
        return self.of_counts(1.0, sizes[:, np.newaxis] - 1.0, true_sizes, None)

    def encode(self, y: np.ndarray, max_size: int | None = None) -> np.ndarray:
        y = np.asarray(y)
        sizes = y.sum(axis=1)
        largest = int(np.fmax.reduce(sizes, initial=0))
        if max_size is None:
            max_size = largest
        refuse(CHECKS_OF_SIZES, largest=largest, max_size=max_size)
        # alpha = [y is empty], then [y holds i] [y has k labels] for each i and k.
        is_empty = sizes[:, np.newaxis] == 0
        has_size = sizes[:, np.newaxis] == np.arange(1, max_size + 1)
        has_both = (y[:, :, np.newaxis] > 0) & has_size[:, np.newaxis]
        has_both = has_both.reshape(len(y), y.shape[1] * max_size)
        targets = np.hstack([is_empty, has_both]).astype(np.float64)
        targets[np.isnan(sizes)] = np.nan
        return targets

    def set_features(self, z: np.ndarray, max_size: int | None = None) -> np.ndarray:
        z = np.asarray(z)
        if max_size is None:
            max_size = z.shape[1]
        sizes = z.sum(axis=1)
        # -beta = [z is empty], then [z holds i] W[z, k] for each i and k.
        is_empty = sizes[:, np.newaxis] == 0
        weights = self._gain_of_label(max_size, sizes)
        gains = z[:, :, np.newaxis] * weights[:, np.newaxis]
        return -np.hstack([is_empty, gains.reshape(len(z), -1)])

    def offset(self, y: np.ndarray) -> np.ndarray:
        return np.ones(len(y))

    def decode(self, u: np.ndarray, n_labels: int) -> np.ndarray:
        """Find the sets of the largest expected F_beta.

        Of equal ones the smallest set is taken, then lower columns. A set of m labels
        gains the sum of m entries of one column of ``U W_m``, so the best one takes the
        m largest entries.
        """
        max_size = (u.shape[1] - 1) // n_labels
        sizes = np.arange(1, n_labels + 1)
        weights = self._gain_of_label(max_size, sizes)
        is_in_top = np.tri(n_labels, dtype=bool)
        decoded = np.zeros((len(u), n_labels), dtype=int)
        # About 2**17 numbers at once fit into the cache.
        for block in bounded_blocks(len(u), n_labels * n_labels, 2**17):
            u_block = u[block]
            U = u_block[:, 1:].reshape(len(u_block), n_labels, max_size)
            # [row, m - 1, i]: the gain of label i in a set of m labels.
            gains = weights @ U.swapaxes(1, 2)
            descending = np.sort(gains, axis=2)[:, :, ::-1]
            values = np.sum(descending, axis=2, where=is_in_top)
            # The empty set stands first, with size 0.
            values = np.column_stack([u_block[:, 0], values])
            size = np.argmax(values, axis=1)[:, np.newaxis]
            index = np.maximum(size - 1, 0)[:, :, np.newaxis]
            gains_of_size = np.take_along_axis(gains, index, axis=1)[:, 0]
            order = np.argsort(-gains_of_size, axis=1, kind="stable")
            np.put_along_axis(decoded[block], order, sizes <= size, axis=1)
        return decoded


class Hamming(SetLoss):
    """Fraction of the labels that are right: one minus the Hamming loss.

    The low-rank form has one target for each label, ``y - 1/2``. The decoder takes the
    labels of positive targets, with a probability above 1/2.
    """

    bounds = (0.0, 1.0)

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
    """Make a new loss of sets, from a name or an object."""
    loss = target_loss
    if isinstance(target_loss, str) and target_loss in SET_LOSSES:
        loss = SET_LOSSES[target_loss]()
    refuse_class(loss, "target_loss")
    is_loss = Rule(
        lambda value: isinstance(value, SetLoss), "a loss of sets such as FBeta(beta=2)"
    )
    check_parameter("target_loss", loss, [*SET_LOSSES, is_loss])
    check_parameters(loss)
    return clone(loss)  # later changes apply to the next fit


class BalancedAccuracy(_ClassMeasure):
    """Mean of sensitivity and specificity of the items with a score above 0.

    Undefined if one class is missing.
    """

    bounds = (0.0, 1.0)

    def of_counts(self, a: Any, b: Any, P: Any, N: Any) -> np.ndarray:
        sensitivity = a / np.maximum(P, 1)
        specificity = (N - b) / np.maximum(N, 1)
        is_defined = (P > 0) & (N > 0)
        return np.where(is_defined, 0.5 * (sensitivity + specificity), np.nan)


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
    _factorised: Any

    def __init__(self, loss_matrix: ArrayLike, n_components: int | None = None) -> None:
        self.loss_matrix = loss_matrix
        self.n_components = n_components

    @property
    def _factors(self):
        """The matrix, alpha, beta and the approximation error, by name."""
        # They are kept with the parameters that they belong to.
        if hasattr(self, "_factorised"):
            loss_matrix, n_components, factors = self._factorised
            if loss_matrix is self.loss_matrix and n_components is self.n_components:
                return factors
        check_parameters(self)
        factors = self._factorise()
        self._factorised = self.loss_matrix, self.n_components, factors
        return factors

    def _factorise(self):
        """Factorise the loss matrix without its row means by its singular values."""
        arrive(loss_matrix=self.loss_matrix)
        matrix = numbers(self.loss_matrix, "loss_matrix")
        refuse(CHECKS_OF_MATRICES, matrix=matrix)
        check_finite(matrix, "loss_matrix", 1e150)  # squares of larger costs overflow
        centred = matrix - matrix.mean(axis=1, keepdims=True)
        left, singular, right = np.linalg.svd(centred, full_matrices=False)
        # d is the rank: singular values above the rounding error.
        rounding = np.linalg.norm(matrix) * max(matrix.shape) * np.finfo(float).eps
        d = int(np.sum(singular > rounding))
        if self.n_components is not None:
            d = min(int(self.n_components), d)
        root = np.sqrt(singular[:d])
        alpha = left[:, :d] * root
        beta = right[:d].T * root
        error = float(np.abs(centred - alpha @ beta.T).max())
        return {"matrix": matrix, "alpha": alpha, "beta": beta, "error": error}

    @property
    def matrix_(self) -> np.ndarray:
        return self._factors["matrix"]

    @property
    def alpha_(self) -> np.ndarray:
        return self._factors["alpha"]

    @property
    def beta_(self) -> np.ndarray:
        return self._factors["beta"]

    @property
    def n_components_(self) -> int:
        return self.alpha_.shape[1]

    @property
    def approximation_error_(self) -> float:
        return self._factors["error"]

    def encode(self, y: ArrayLike) -> np.ndarray:
        """Return alpha(y), shape (n, d), of class indices y.

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
        """Find the decision that minimises ``<u, beta(t)>``, ties to the first.

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
        """Return the cost of each decision for each class, shape (n,).

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
        arrive(y=y, decisions=decisions)
        return self.matrix_[np.asarray(y), np.asarray(decisions)]
