"""Positional losses: d = r and decoding by sorting, exact.

Each is one of the forms of `metrics._positional`: alpha_i(y) = gain_i / normaliser and
beta_i = -discount(rank(i)).
"""

from functools import partial

import numpy as np

from .._lists import RankingLists
from .._ranks import mid_fractions
from ..metrics._positional import (
    auc_form,
    check_k,
    dcg_form,
    discounts,
    eru_form,
    ndcg_form,
    positional_values,
    precision_form,
    recall_form,
    spearman_form,
)
from ._base import TargetLoss


class PositionalLoss(TargetLoss):
    """Base of the losses ``constant - measure`` with a positional measure.

    A subclass gives ``form()``, a `PositionalForm`, and says which labels it takes.
    """

    def form(self):
        """The gains, discount, cut-off, normaliser and offset of the measure."""
        raise NotImplementedError(f"{type(self).__name__} must define form().")

    def _kernel(self):
        return partial(positional_values, self.form())

    def _flat(self, y):
        y = self.check_labels(np.asarray(y, dtype=np.float64))
        return y.ravel(), RankingLists.equal(*y.shape)

    def constant(self, y, lists):
        """The loss is this minus the measure; 1 where the measure's best value is 1."""
        return 1.0

    def encode(self, y):
        """Utilities v_i(y) = gain_i / normaliser, shape (n_lists, r); 0 where undefined."""
        flat, lists = self._flat(y)
        form = self.form()
        gains = form.gain(flat, lists)
        scale = reciprocal(form.normalisers(flat, gains, lists))
        return (gains * lists.spread(scale)).reshape(np.shape(y))

    def rank_features(self, ranks):
        """-discount(rank), shape (n, r)."""
        ranks = np.asarray(ranks)
        form = self.form()
        one_list = RankingLists.equal(1, ranks.shape[1])
        cutoff = None if form.cutoff is None else form.cutoff(None, one_list)
        values = discounts(form.discount, one_list, cutoff)
        if form.divisor is not None:
            values = values / form.divisor(None, one_list)
        return -values[ranks - 1]

    def offset(self, y):
        """constant - b(y), shape (n_lists,)."""
        flat, lists = self._flat(y)
        return self.constant(flat, lists) - self.form().offsets(flat, lists)

    def row_targets(self, y, lists, weights):
        form = self.form()
        gains = form.gain(y, lists)
        return gains, form.normalisers(y, gains, lists)


def reciprocal(normalisers):
    """1 / normaliser, and 0 where that is 0: a list without relevant items has utility 0."""
    out = np.zeros(len(normalisers))
    return np.divide(1.0, normalisers, out=out, where=normalisers > 0)


class PrecisionAtK(PositionalLoss):
    """Precision at k, ``1 - (1/k) sum_i [rank(i) <= k] y_i``; k = 1 is winner takes all.

    Parameters
    ----------
    k : int, default=10
        Cut-off, at least 1. Shorter lists still divide by k.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 4.

    Examples
    --------
    >>> from lowrank_rank.target_losses import PrecisionAtK
    >>> PrecisionAtK(k=1).loss([[0, 1, 0]], [[2, 1, 3]])
    array([0.])
    """

    labels = "binary"
    allow_missing = True
    reaches_one = False

    def __init__(self, k=10, *, relevance_threshold=None):
        self.k = k
        self.relevance_threshold = relevance_threshold

    def form(self):
        return precision_form(check_k(self.k))


class RecallAtK(PositionalLoss):
    """Recall at k, ``1 - sum_i [rank(i) <= k] y_i / sum_i y_i``.

    Parameters
    ----------
    k : int, default=10
        Cut-off, at least 1.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import RecallAtK
    >>> RecallAtK(k=1).loss([[0, 1, 1]], [[2, 1, 3]])
    array([0.5])
    """

    labels = "binary"
    reaches_one = False

    def __init__(self, k=10, *, relevance_threshold=None):
        self.k = k
        self.relevance_threshold = relevance_threshold

    def form(self):
        return recall_form(check_k(self.k))


class DCG(PositionalLoss):
    """Discounted cumulative gain, ``-sum_i [rank(i) <= k] gain(y_i) / log2(1 + rank(i))``.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off; None is the whole list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y, or 2**y - 1.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import DCG
    >>> DCG().loss([[3, 0, 2]], [[1, 2, 3]])  # -(3/log2(2) + 2/log2(4))
    array([-4.])
    """

    allow_missing = True
    reaches_one = False

    def __init__(self, k=None, *, gain="linear"):
        self.k = k
        self.gain = gain

    def constant(self, y, lists):
        return 0.0

    def form(self):
        return dcg_form(None if self.k is None else check_k(self.k), self.gain)


class NDCG(PositionalLoss):
    """Normalised DCG, ``1 - DCG@k / (DCG@k of the best order)``.

    Parameters
    ----------
    k : int or None, default=None
        Cut-off, of the best order as well; None is the whole list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y, or 2**y - 1.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import NDCG
    >>> NDCG(k=1).loss([[2, 1]], [[2, 1]])  # 1 - (1/log2(2)) / (2/log2(2))
    array([0.5])
    """

    def __init__(self, k=None, *, gain="linear"):
        self.k = k
        self.gain = gain

    def form(self):
        return ndcg_form(None if self.k is None else check_k(self.k), self.gain)


class AUC(PositionalLoss):
    """Area under the ROC curve of each list, as the loss ``1 - AUC``.

    Parameters
    ----------
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None takes labels 0 and 1 only.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import AUC
    >>> AUC().loss([[1, 0, 1, 0]], [[1, 2, 3, 4]])  # 1 of 4 pairs is wrong
    array([0.25])
    """

    labels = "binary"

    def __init__(self, *, relevance_threshold=None):
        self.relevance_threshold = relevance_threshold

    def form(self):
        return auc_form()


class SpearmanRho(PositionalLoss):
    """Spearman's rank correlation, as the loss ``1 - rho``.

    The label is a ranking: r - rank, or any numbers that are higher for better items; a
    label with ties stands for the mean over the rankings that agree with it.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, Machine Learning 93, 2013, table 1.

    Examples
    --------
    >>> from lowrank_rank.target_losses import SpearmanRho
    >>> SpearmanRho().loss([[2, 1, 0]], [[3, 2, 1]])  # 1 - (-1)
    array([2.])
    """

    labels = "any"

    def form(self):
        return spearman_form()

    def row_targets(self, y, lists, weights):
        # r - rho_i as a share of the list: lists of every length then speak of one scale,
        # and a row of weight 2 is the row twice.
        return mid_fractions(y, lists, weights), np.ones(lists.n_lists)


class ExpectedRankUtility(PositionalLoss):
    """Expected rank utility of short lists that are read from the top.

    ``z - sum_i max(y_i - neutral, 0) 2**((1 - rank(i)) / (half_life - 1))`` with the constant
    z that is the utility of r items of the highest grade.

    Parameters
    ----------
    neutral : float, default=2.0
        Grade that is worth nothing to the reader.
    half_life : float, default=5.0
        Rank that is seen with half the probability of the first; above 1.
    max_grade : float or None, default=None
        Highest grade of the scale, for z only; None takes the highest that occurs.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 5.

    Examples
    --------
    >>> from lowrank_rank.target_losses import ExpectedRankUtility
    >>> loss = ExpectedRankUtility(neutral=2, half_life=2, max_grade=5)
    >>> loss.loss([[5, 3]], [[1, 2]])  # 3 + 3/2 - (3 + 1/2)
    array([1.])
    """

    allow_missing = True
    reaches_one = False

    def __init__(self, neutral=2.0, half_life=5.0, *, max_grade=None):
        self.neutral = neutral
        self.half_life = half_life
        self.max_grade = max_grade

    def form(self):
        return eru_form(self.neutral, self.half_life)

    def constant(self, y, lists):
        highest = self.max_grade
        if highest is None:
            highest = np.nanmax(y, initial=self.neutral)
        worth = max(highest - self.neutral, 0.0)
        return worth * lists.sum(discounts(self.form().discount, lists))
