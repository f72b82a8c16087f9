"""Precision at k weighted by inverse propensities, for very many labels with a long tail."""

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from .._arrays import by_label, check_finite, numbers
from .._labels import read_labels
from .._parameters import check_parameter, number
from ._positional import PrecisionAtK


class PropensityScoredPrecisionAtK(PrecisionAtK):
    """Precision at k with each label divided by its propensity: rare labels count more.

    The loss is ``1 - (1/k) sum_i [rank(i) <= k] y_i / p_i``. This is an unbiased
    estimate of the precision among all relevant labels if each is recorded with probability p_i
    [1]_. For fixed items only.

    `measure` is the ratio of two means, of the sums and of the largest possible sums, so 1 is the
    best value. ``average=None`` gives the sum of each list over k, without a normaliser.

    The loss is positional: the ranker regresses ``y_i / p_i``. Linear regression of ``y_i`` and
    scores divided by p_i give the same order, so a fitted model can be rescaled.

    Parameters
    ----------
    k : int
        Cut-off, at least 1.
    propensities : array-like of shape (r,)
        Numbers > 0, one for each label; the classmethod `label_propensities` makes them of the
        training labels. A measure does not see the names of the columns: a Series has the index 0,
        ..., r - 1.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    References
    ----------
    .. [1] H. Jain, Y. Prabhu, M. Varma, "Extreme Multi-label Loss Functions for Recommendation,
       Tagging, Ranking and Other Missing Label Applications", KDD 2016.

    Examples
    --------
    The weights of the labels are 1 and 2, so the best order has the second label first:

    >>> from lowrank_rank.target_losses import PropensityScoredPrecisionAtK
    >>> measure = PropensityScoredPrecisionAtK(1, propensities=[1.0, 0.5])
    >>> measure.measure([[1, 1]], [[0.9, 0.1]])
    0.5
    >>> measure.loss([[1, 1]], [[2, 1]])
    array([-1.])
    """

    allow_missing = False  # type: ignore[assignment]
    takes_documents = False  # type: ignore[assignment]

    def __init__(self, k: int, propensities: Any, *, relevance_threshold: Any = None) -> None:
        super().__init__(k, relevance_threshold=relevance_threshold)
        self.propensities = propensities

    @classmethod
    def label_propensities(cls, y: Any, *, a: float = 0.55, b: float = 1.5) -> np.ndarray:
        """Probability that a relevant label is recorded, by the model of Jain, Prabhu & Varma.

        ``p_i = 1 / (1 + c (n_i + b)**-a)`` with ``c = (log(n) - 1) (b + 1)**a`` [1]_; n_i
        of the n rows have label i. Annotators miss rare labels more often than common ones.

        Parameters
        ----------
        y : array-like or sparse matrix of shape (n_rows, r)
            Labels of the training rows, n_rows at least 3; grades > 0 are relevant.
        a, b : float, default=0.55, 1.5
            Constants of a data set. Most sets in [1]_ have the defaults, Wikipedia has 0.5 and 0.4,
            Amazon 0.6 and 2.6.

        Returns
        -------
        ndarray of shape (r,)
            In (0, 1), larger for common labels.

        References
        ----------
        .. [1] H. Jain, Y. Prabhu, M. Varma, "Extreme Multi-label Loss Functions for Recommendation,
           Tagging, Ranking and Other Missing Label Applications", KDD 2016.

        Examples
        --------
        >>> from lowrank_rank.target_losses import PropensityScoredPrecisionAtK
        >>> y = [[1, 0], [1, 0], [1, 1], [0, 0]]
        >>> PropensityScoredPrecisionAtK.label_propensities(y).round(3)
        array([0.782, 0.721])
        """
        check_parameter("a", a, [number(0)])
        check_parameter("b", b, [number(above=0)])
        y = read_labels(y, accept_sparse=True)
        if y.ndim != 2 or y.shape[0] < 3:
            raise ValueError(
                f"y must be a matrix of labels, (n_rows, r), with at least 3 rows, got shape "
                f"{y.shape}: propensities belong to its columns."
            )
        counts = np.asarray((y > 0).sum(axis=0)).ravel()
        return 1.0 / (1.0 + (np.log(y.shape[0]) - 1.0) * ((b + 1.0) / (counts + b)) ** a)

    def _inverse(self, shape):
        """One over the propensities of the columns of labels of this shape."""
        p = by_label(self.propensities, range(shape[-1]), "propensities")
        p = check_finite(numbers(p, "propensities"), "propensities")
        if len(shape) != 2 or p.shape != shape[1:]:
            raise ValueError(
                f"propensities have shape {p.shape} and y has shape {tuple(shape)}: y must be "
                "(n_queries, r), with one propensity for each of its r labels."
            )
        if np.any(p <= 0):
            i = int(np.argmax(p <= 0))
            raise ValueError(f"propensities[{i}] is {p[i]:g}: they are probabilities, above 0.")
        return 1.0 / p

    def check_labels(self, y: np.ndarray) -> np.ndarray:
        return super().check_labels(y) * self._inverse(y.shape)

    def check_entries(self, y: Any) -> np.ndarray:
        return super().check_labels(y.data) * self._inverse(y.shape)[y.indices]

    def measure(self, y_true: Any, y_score: Any, **options: Any) -> float | np.ndarray:
        value = super().measure(y_true, y_score, **options)
        if options.get("average", "mean") is None:
            return value
        y = csr_matrix(read_labels(y_true, "y_true", accept_sparse=True))
        best = super().measure(y, lambda rows: self.check_labels(y[rows].toarray()), **options)
        if best == 0:  # no row has a relevant label
            return float(options.get("zero_division") or 0.0)
        return value / best
