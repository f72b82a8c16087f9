"""Measures of items that are relevant or not, as functions; each is a class's `measure`."""

from typing import Any

import numpy as np

from .._arrays import ArrayLike
from ..target_losses import (
    AUC,
    MeanAveragePrecision,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    ReciprocalRank,
)


def precision_at_k_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    share: float | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    relevance_threshold: float | None = None,
) -> float | np.ndarray:
    """Precision at k: the fraction of relevant items among the first k.

    ``P@k = (1/k) * sum_i [rank(i) <= k] * y_i``, averaged over ties: with tied scores the
    value is the mean over all orders that agree with them. It divides by k also for lists
    shorter than k, as trec_eval does.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
        NaN in a matrix means not judged; not with `share`.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    k : int or None, default=None
        Cut-off, a count; None is 10, or the cut-off of `share`.
    share : float or None, default=None
        Instead of k, a fraction in (0, 1] of the P relevant items of each list:
        k = max(1, floor(share * P + 1/2)); ``share=1`` is R-precision (PRBEP).
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
        If a grade is negative, k or share is out of range or both are given, or shapes do not
        fit.

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
    if share is None:
        measure = PrecisionAtK(10 if k is None else k, relevance_threshold=relevance_threshold)
    elif k is None:
        measure = PrecisionAtShare(share, relevance_threshold=relevance_threshold)
    else:
        raise ValueError(
            f"k={k!r} and share={share!r} both say where the list is cut: give one of them."
        )
    return measure.measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def recall_at_k_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int = 10,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    relevance_threshold: float | None = None,
) -> float | np.ndarray:
    """Recall at k: the fraction of the relevant items that stand among the first k.

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
    return RecallAtK(k, relevance_threshold=relevance_threshold).measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def auc_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    relevance_threshold: float | None = None,
) -> float | np.ndarray:
    """Area under the ROC curve of each list.

    The fraction of pairs (relevant, irrelevant) that stand in the right order; a tied pair counts
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
    return AUC(relevance_threshold=relevance_threshold).measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def mean_average_precision_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    relevance_threshold: float | None = None,
) -> float | np.ndarray:
    """Mean average precision (MAP).

    ``AP = (1 / sum_i y_i) * sum_{i: y_i = 1} (relevant items up to rank(i)) / rank(i)``,
    averaged over ties in closed form, and then over lists.

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
        If a grade is negative or shapes do not fit.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, section 6.

    Examples
    --------
    >>> from lowrank_rank.metrics import mean_average_precision_score
    >>> mean_average_precision_score([1, 0, 1], [3, 2, 1])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    return MeanAveragePrecision(relevance_threshold=relevance_threshold).measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def reciprocal_rank_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    relevance_threshold: float | None = None,
) -> float | np.ndarray:
    """Mean reciprocal rank (MRR): one over the rank of the first relevant item.

    ``RR = 1 / min{rank(i): y_i = 1}``, averaged over ties in closed form.

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
        Value of a list on which the measure is undefined, one with no
        relevant item.
        nan leaves such lists out of the mean.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In (0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative or shapes do not fit.

    References
    ----------
    .. [1] E. Voorhees, "The TREC-8 Question Answering Track Report", TREC 1999.

    Examples
    --------
    >>> from lowrank_rank.metrics import reciprocal_rank_score
    >>> reciprocal_rank_score([0, 1, 0], [3, 2, 1])
    0.5
    """
    return ReciprocalRank(relevance_threshold=relevance_threshold).measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )
