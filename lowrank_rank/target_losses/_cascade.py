"""Measures without a low-rank form here: scorers only (no score-and-sort surrogate is
calibrated for ERR; Calauzènes et al. 2013, theorem 3.3)."""

from ..metrics._cascade import (
    expected_reciprocal_rank_values,
    reciprocal_rank_values,
    stop_probability,
)
from ..metrics._positional import check_k
from ._base import RankingMeasure


class ReciprocalRank(RankingMeasure):
    """One over the rank of the first relevant item; for scorers.

    Parameters
    ----------
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ReciprocalRank
    >>> ReciprocalRank().measure([0, 1], [2.0, 1.0])
    0.5
    """

    labels = "binary"

    def __init__(self, *, relevance_threshold=None):
        self.relevance_threshold = relevance_threshold

    def _kernel(self):
        return reciprocal_rank_values


class ExpectedReciprocalRank(RankingMeasure):
    """Expected reciprocal rank; for scorers.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    max_grade : float, default=4.0
        The highest grade of the scale.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ExpectedReciprocalRank
    >>> ExpectedReciprocalRank(max_grade=1).measure([0, 1], [2.0, 1.0])
    0.25
    """

    reaches_one = False

    def __init__(self, k=None, *, max_grade=4.0):
        self.k = k
        self.max_grade = max_grade

    def _kernel(self):
        k = None if self.k is None else check_k(self.k)

        def kernel(y, scores, lists):
            stop = stop_probability(y, self.max_grade)
            return expected_reciprocal_rank_values(stop, scores, lists, k)

        return kernel
