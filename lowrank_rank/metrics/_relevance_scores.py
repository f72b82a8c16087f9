"""Positional measures of binary relevance as users call them; formulas in `_positional`."""

import numpy as np

from ._evaluate import evaluate, relevant
from ._positional import (
    auc_form,
    check_k,
    positional_values,
    precision_form,
    recall_form,
)


def relevance_kernel(form, relevance_threshold=None):
    """Kernel of a positional measure of binary relevance."""

    def kernel(y, scores, lists):
        return positional_values(form, relevant(y, relevance_threshold), scores, lists)

    return kernel


def precision_at_k_score(
    y_true,
    y_score,
    *,
    qid=None,
    k=10,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    relevance_threshold=None,
):
    """Precision at k: the share of relevant items among the first k.

    ``P@k = (1/k) * sum_i [rank(i) <= k] * y_i``, averaged over ties: with tied scores the
    value is the mean over all orders that agree with them. It divides by k also for lists
    shorter than k, as trec_eval does.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
        NaN in a matrix means not judged.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int or float, default=10
        Cut-off: a count, or a share in (0, 1] of the relevant items of each list,
        k = max(1, floor(share * P + 1/2)); ``k=1.0`` is R-precision (PRBEP).
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined (none is here).
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, k is out of range, or shapes do not fit.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, section 4.

    Examples
    --------
    >>> from lowrank_rank.metrics import precision_at_k_score
    >>> precision_at_k_score([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=2)
    0.5
    >>> precision_at_k_score([[1, 0, 1, 0]], [[4, 3, 3, 1]], k=2)  # 2 of 3 tied fit in
    0.75
    """
    return evaluate(
        relevance_kernel(precision_form(check_k(k, share=True)), relevance_threshold),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        allow_missing=True,
    )


def recall_at_k_score(
    y_true,
    y_score,
    *,
    qid=None,
    k=10,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    relevance_threshold=None,
):
    """Recall at k: the share of the relevant items that stand among the first k.

    ``recall@k = sum_i [rank(i) <= k] * y_i / sum_i y_i``, averaged over ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int, default=10
        Cut-off.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first appearance.
    zero_division : float, default=nan
        Value of a list on which the measure is undefined, one with no
        relevant item.
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, k is not an integer >= 1, or shapes do not fit.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, "Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], k=1)
    0.5
    """
    return evaluate(
        relevance_kernel(recall_form(check_k(k)), relevance_threshold),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def auc_score(
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    relevance_threshold=None,
):
    """Area under the ROC curve of each list.

    The share of pairs (relevant, irrelevant) that stand in the right order; a tied pair counts
    one half. Unlike `sklearn.metrics.roc_auc_score` it never compares items of different
    lists.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
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
        Value of a list on which the measure is undefined: all its items
        are relevant, or none is.
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative or shapes do not fit.

    References
    ----------
    .. [1] C. Calauzènes, N. Usunier, P. Gallinari, "Calibration and regret bounds for
       order-preserving surrogate losses in learning to rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank.metrics import auc_score
    >>> auc_score([1, 0, 1, 0], [4, 3, 2, 1])  # 3 of 4 pairs
    0.75
    """
    return evaluate(
        relevance_kernel(auc_form(), relevance_threshold),
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )
