"""Ranking measures as functions."""

from typing import Any

import numpy as np

from .. import target_losses as losses
from ..target_losses._names import resolve_measure
from ..target_losses._target_loss import check_zero_division
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_scores import CHECKS_OF_NAMED_MEASURES


def measured(measure, y_true, y_score, qid, sample_weight, average, zero_division):
    """Return the values of a measure, by the common parameters of these functions."""
    return measure.measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
    )


def measure_score(
    measure: Any,
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
) -> float | np.ndarray:
    """Return the value of any measure, by its name or as an object.

    The scorer of the name gives the same value, always higher is better: a measure that
    is a loss, such as "kendall", is negative.

    Parameters
    ----------
    measure : str or object
        A name of `get_ranking_scorer_names` ("err@10", "auc", "spearman", "kendall",
        ...), or an object of `lowrank_rank.target_losses`, such as
        ``ExpectedReciprocalRank(max_grade=4)``.
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels of the measure; preferences (n_lists, r, r) for "pd". NaN in a matrix
        leaves the item out.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better. Ties count as the mean over their orders; Kendall's
        tau counts each tied pair once.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list for which the measure is undefined; nan skips it in the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Higher is better.

    Raises
    ------
    ValueError
        If the name is unknown, the labels do not fit the measure, or shapes do not fit.
    TypeError
        If `measure` is neither a name nor a measure.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("auc", [1, 0, 1, 0], [4, 3, 2, 1])  # 3 of 4 pairs
    0.75
    >>> measure_score("kendall", [3, 2, 1], [3, 1, 2], average=None)  # 1 of 3 pairs
    array([-0.33333333])
    >>> from lowrank_rank.target_losses import ExpectedReciprocalRank
    >>> err = ExpectedReciprocalRank(max_grade=1)
    >>> measure_score(err, [0, 1], [2, 1])  # (1/2) * (1/2)
    0.25
    """
    measure = resolve_measure(measure)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
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

    ``P@k = (1/k) * sum_i [rank(i) <= k] * y_i``, averaged over ties: with tied scores
    the value is the mean over all orders that agree with them. The divisor is k also
    for lists shorter than k, as in trec_eval.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
        NaN in a matrix leaves the item out.
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
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Unused: the measure is defined on every list.
    relevance_threshold : float or None, default=None
        Grades of at least this are relevant; None means grades > 0.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, k or share is out of range or both are given, or shapes
        do not fit.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013, section 4.

    Examples
    --------
    >>> from lowrank_rank.metrics import precision_at_k_score
    >>> precision_at_k_score([[1, 0, 1, 0]], [[4, 3, 2, 1]], k=2)
    0.5
    >>> precision_at_k_score([[1, 0, 1, 0]], [[4, 3, 3, 1]], k=2)  # 1 of 2 tied fits
    0.75
    """
    if share is not None:
        refuse(CHECKS_OF_NAMED_MEASURES, measures=True, k=k, share=share)
    measure: Any
    if share is None:
        measure = losses.PrecisionAtK(10 if k is None else k)
    else:
        measure = losses.PrecisionAtShare(share)
    measure.relevance_threshold = relevance_threshold
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
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
        NaN in a matrix leaves the item out.
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
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list without relevant items; nan skips it in the mean.
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
       order-preserving surrogate losses in learning to rank", Machine Learning 93,
       2013.

    Examples
    --------
    >>> from lowrank_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], k=1)
    0.5
    """
    measure = losses.RecallAtK(k, relevance_threshold=relevance_threshold)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
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

    ``AP = (1 / sum_i y_i) * sum_{i: y_i = 1} (relevant items up to rank(i)) /
    rank(i)``, averaged over ties in closed form, and then over lists.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Relevance: grades > 0 (or >= `relevance_threshold`) are relevant.
        NaN in a matrix leaves the item out.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list without relevant items; nan skips it in the mean.
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
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013, section 6.

    Examples
    --------
    >>> from lowrank_rank.metrics import mean_average_precision_score
    >>> mean_average_precision_score([1, 0, 1], [3, 2, 1])  # (1/1 + 2/3) / 2
    0.8333333333333333
    """
    measure = losses.MeanAveragePrecision(relevance_threshold=relevance_threshold)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
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
        NaN in a matrix leaves the item out.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list without relevant items; nan skips it in the mean.
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
    measure = losses.ReciprocalRank(relevance_threshold=relevance_threshold)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
    )


def dcg_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    gain: str = "linear",
) -> float | np.ndarray:
    """Discounted cumulative gain.

    ``DCG@k = sum_i [rank(i) <= k] * gain(y_i) / log2(1 + rank(i))``, averaged over
    ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better. NaN in a matrix leaves the item out.
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
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Unused: the measure is defined on every list.
    gain : {"linear", "exponential"}, default="linear"
        The grade y itself, or 2**y - 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, the exponential gain overflows, or k is not an integer
        >= 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR
       techniques", ACM TOIS 20, 2002.

    Examples
    --------
    >>> from lowrank_rank.metrics import dcg_score
    >>> dcg_score([1, 0, 2], [1, 3, 2])  # 0/log2(2) + 2/log2(3) + 1/log2(4)
    1.761859507142915
    """
    measure = losses.DCG(k, gain=gain)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
    )


def ndcg_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    gain: str = "linear",
) -> float | np.ndarray:
    """Normalised discounted cumulative gain.

    ``NDCG@k = DCG@k / (DCG@k of the best order)``, averaged over ties. scikit-learn and
    trec_eval have the linear gain, LightGBM and XGBoost the exponential gain.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better. NaN in a matrix leaves the item out.
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
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list without grades above 0; nan skips it in the mean.
    gain : {"linear", "exponential"}, default="linear"
        The grade y itself, or 2**y - 1.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        In [0, 1], higher is better.

    Raises
    ------
    ValueError
        If a grade is negative, the exponential gain overflows, or k is not an integer
        >= 1.

    References
    ----------
    .. [1] K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR
       techniques", ACM TOIS 20, 2002.

    Examples
    --------
    >>> from lowrank_rank.metrics import ndcg_score
    >>> ndcg_score([0, 1], [2, 1])  # (1/log2(3)) / 1
    0.6309297535714575
    >>> ndcg_score([0, 1, 1, 0], [1, 2, 2, 1], qid=["a", "a", "b", "b"], average=None)
    array([1., 1.])
    """
    measure = losses.NDCG(k, gain=gain)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
    )


def expected_rank_utility_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    neutral: float = 2.0,
    half_life: float = 5.0,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
) -> float | np.ndarray:
    """Return the expected rank utility (ERU) of a short list, read from the top.

    ``ERU = sum_i max(y_i - neutral, 0) * 2**((1 - rank(i)) / (half_life - 1))``,
    averaged over ties.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Any real grades, higher is better; those below `neutral` are worth nothing. NaN
        in a matrix leaves the item out.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    neutral : float, default=2.0
        Grade without value for the reader.
    half_life : float, default=5.0
        Rank that is seen with half the probability of the first; > 1.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Unused: the measure is defined on every list.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, higher is better, in units of the grades.

    Raises
    ------
    ValueError
        If half_life is not above 1, or shapes do not fit.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013, section 5.

    Examples
    --------
    >>> from lowrank_rank.metrics import expected_rank_utility_score
    >>> expected_rank_utility_score([5, 3], [1, 2], neutral=2, half_life=2)  # 1 + 3/2
    2.5
    """
    measure = losses.ExpectedRankUtility(neutral, half_life)
    return measured(
        measure, y_true, y_score, qid, sample_weight, average, zero_division
    )


def pairwise_disagreement_loss(
    y_true: Any,
    y_score: Any,
    *,
    qid: ArrayLike | None = None,
    weights: str = "unit",
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
) -> float | np.ndarray:
    """Pairwise disagreement (PD): the weight of the pairs in the wrong order.

    ``PD = sum_{i != j} y_ij * [rank(i) > rank(j)]``, a tied pair counting one half,
    where y_ij is the weight of the preference "i before j". Grades give the preferences
    ``y_ij = [y_i > y_j]`` (unit) or ``(y_i - y_j)_+`` (difference).

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r) or (n_lists, r, r)
        Any real grades, higher is better, or preferences y[q, i, j] >= 0. NaN in a
        matrix of grades leaves the item out.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with
        a matrix `y_true`, nor needed where `y_true` is a `ranking_target`.
    weights : {"unit", "difference"}, default="unit"
        How grades weight a pair; preferences carry their own weights.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list with a single item; nan skips it in the mean.

    Returns
    -------
    float or ndarray of shape (n_lists,)
        >= 0, lower is better; not divided by the number of pairs.

    Raises
    ------
    ValueError
        If shapes do not fit, a one-dimensional y_true or preferences hold NaN, or
        `weights` is unknown.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013, section 7.

    Examples
    --------
    >>> from lowrank_rank.metrics import pairwise_disagreement_loss
    >>> pairwise_disagreement_loss([2, 1, 0], [2, 3, 1])  # only (0, 1) is wrong
    1.0
    """
    measure = losses.PairwiseDisagreement(weights)
    # The measure is minus the loss; 0.0 - 0.0 is no -0.0.
    undefined = -check_zero_division(zero_division)
    return 0.0 - measured(
        measure, y_true, y_score, qid, sample_weight, average, undefined
    )
