"""Positional measures of graded labels as users call them; formulas in `_positional`."""

from functools import partial

import numpy as np

from ._evaluate import evaluate
from ._positional import (
    check_k,
    dcg_form,
    eru_form,
    ndcg_form,
    positional_values,
    spearman_form,
)


def dcg_score(
    y_true,
    y_score,
    *,
    qid=None,
    k=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    gain="linear",
):
    """Discounted cumulative gain.

    ``DCG@k = sum_i [rank(i) <= k] * gain(y_i) / log2(1 + rank(i))``, averaged over ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better. NaN in a matrix means not judged.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int or None, default=None
        Cut-off; None is the whole list.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined (none is here).
        nan leaves such lists out of the mean.
    gain : {"linear", "exponential"}, default="linear"
        The grade y itself, or 2**y - 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, the exponential gain overflows, or k is not an integer >= 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques",
       ACM TOIS 20, 2002.

    Examples
    --------
    >>> from lowrank_rank.metrics import dcg_score
    >>> dcg_score([1, 0, 2], [1, 3, 2])  # 0/log2(2) + 2/log2(3) + 1/log2(4)
    1.761859507142915
    """
    return evaluate(
        partial(positional_values, dcg_form(k if k is None else check_k(k), gain)),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        allow_missing=True,
    )


def ndcg_score(
    y_true,
    y_score,
    *,
    qid=None,
    k=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    gain="linear",
):
    """Normalised discounted cumulative gain.

    ``NDCG@k = DCG@k / (DCG@k of the best order)``, averaged over ties. With the linear gain it
    is what scikit-learn and trec_eval compute; LightGBM and XGBoost use the exponential
    gain.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int or None, default=None
        Cut-off, of the ideal order as well; None is the whole list.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with no
        grade above 0.
        nan leaves such lists out of the mean.
    gain : {"linear", "exponential"}, default="linear"
        The grade y itself, or 2**y - 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, the exponential gain overflows, or k is not an integer >= 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques",
       ACM TOIS 20, 2002.

    Examples
    --------
    >>> from lowrank_rank.metrics import ndcg_score
    >>> ndcg_score([0, 1], [2, 1])  # (1/log2(3)) / 1
    0.6309297535714575
    >>> ndcg_score([0, 1, 1, 0], [1, 2, 2, 1], qid=["a", "a", "b", "b"], average=None)
    array([1., 1.])
    """
    return evaluate(
        partial(positional_values, ndcg_form(k if k is None else check_k(k), gain)),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def expected_rank_utility_score(
    y_true,
    y_score,
    *,
    qid=None,
    neutral=2.0,
    half_life=5.0,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
):
    """Expected rank utility (ERU) of a short list that is read from the top.

    ``ERU = sum_i max(y_i - neutral, 0) * 2**((1 - rank(i)) / (half_life - 1))``, averaged over
    ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better. NaN in a matrix means not judged.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    neutral : float, default=2.0
        Grade that is worth nothing to the reader.
    half_life : float, default=5.0
        Rank that is seen with half the probability of the first; > 1.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined (none is here).
        nan leaves such lists out of the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, higher is better, in units of the grades.

    Raises
    ------
    ValueError
        If a grade is negative or half_life is not above 1.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, section 5.

    Examples
    --------
    >>> from lowrank_rank.metrics import expected_rank_utility_score
    >>> expected_rank_utility_score([5, 3], [1, 2], neutral=2, half_life=2)  # 1 + 3/2
    2.5
    """
    return evaluate(
        partial(positional_values, eru_form(neutral, half_life)),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        allow_missing=True,
    )


def spearman_score(
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
):
    """Spearman's rank correlation of each list.

    ``rho = 1 - 6 * sum_i (rank(i) - rho_i)**2 / (r * (r**2 - 1))`` with rho_i the rank of item i
    by `y_true`. Ties on either side are averaged: the value is the mean of this formula over
    all orders that agree, not Pearson's correlation of mid-ranks.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Any real grades, higher is better; a ranking is given as r - rank.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with a single
        item.
        nan leaves such lists out of the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [-1, 1], higher is better.

    Raises
    ------
    ValueError
        If shapes do not fit or y_true holds NaN.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, "Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank.metrics import spearman_score
    >>> spearman_score([3, 2, 1], [3, 1, 2])  # 1 - 6 * 2 / 24
    0.5
    """
    return evaluate(
        partial(positional_values, spearman_form()),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )
