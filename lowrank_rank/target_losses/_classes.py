"""Measures of predicted classes: what is marked positive, not how it is ordered."""

from typing import Any, ClassVar

import numpy as np

from .._parameters import number
from ._base import RankingMeasure


class _ClassMeasure(RankingMeasure):
    """A measure of which items have a score above 0."""

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

    ``(1 + beta^2) a / ((1 + beta^2) a + b + beta^2 c)`` with a relevant items among those
    marked, b others, and c relevant ones not marked.

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
