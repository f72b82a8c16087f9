"""Ranking measures as functions."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from ..target_losses import NDCG
from ..target_losses._names import resolve_measures
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_scores import CHECKS_OF_MEASURES_AS_SCORERS

_Function = TypeVar("_Function", bound=Callable)


def measure_score(
    measure: Any,
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    one_list: bool = False,
    **params: Any,
) -> float | np.ndarray:
    """Return the value of any measure, by its name or as an object.

    The scorer of the name gives the same value, always higher is better: a measure that
    is a loss, such as "pd" or "kendall", is negative. The user guide has the formula
    and the source of each measure.

    Parameters
    ----------
    measure : str or object
        A name of `get_ranking_scorer_names` ("precision@10", "map", "auc", "kendall",
        ...), or an object of `lowrank_rank.target_losses`, such as ``NDCG(k=10)``.
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels of the measure; preferences (n_lists, r, r) for "pd". NaN in a matrix
        leaves the item out.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better. The value is the mean over all orders of tied scores;
        Kendall's tau counts each tied pair once.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order. None takes the ids
        of a `ranking_target`, each row of a matrix as a list, else all rows as one.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list for which the measure is undefined; nan skips it in the mean.
    one_list : bool, default=False
        Say that all rows are one list; more than 200 rows without ids warn.
    **params : dict
        Parameters of the measure, e.g. ``relevance_threshold=2``, ``neutral=0`` of
        "eru", ``max_grade=3`` of "err" or ``weights="difference"`` of "pd".

    Returns
    -------
    float or ndarray of shape (n_lists,)
        Higher is better.

    Raises
    ------
    ValueError
        If the name or a parameter is unknown, the labels do not fit the measure, or
        shapes do not fit.
    TypeError
        If `measure` is neither a name nor a measure.

    Examples
    --------
    >>> from lowrank_rank.metrics import measure_score
    >>> measure_score("auc", [1, 0, 1, 0], [4, 3, 2, 1])  # 3 of 4 pairs
    0.75
    >>> measure_score("precision@2", [1, 0, 1, 0], [4, 3, 3, 1])  # 1 of 2 tied fits
    0.75
    >>> measure_score("kendall", [3, 2, 1], [3, 1, 2], average=None)  # 1 of 3 pairs
    array([-0.33333333])
    >>> measure_score("err", [0, 1], [2, 1], max_grade=1)  # (1/2) * (1/2)
    0.25
    """
    measures = resolve_measures({"": measure}, params)
    return measures[""].measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        one_list=one_list,
    )


def _refuses_to_be_a_scorer(function: _Function) -> _Function:
    """Decorate a measure: as ``scoring=`` it gets an estimator, X and y."""

    @wraps(function)
    def call(*args, **kwargs):
        if len(args) > 2:
            refuse(CHECKS_OF_MEASURES_AS_SCORERS, name=function.__name__)
        return function(*args, **kwargs)

    return cast(_Function, call)


@_refuses_to_be_a_scorer
def ndcg_score(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    sample_weight: Any = None,
    average: Any = "mean",
    zero_division: float = np.nan,
    one_list: bool = False,
    gain: str = "linear",
) -> float | np.ndarray:
    """Normalised discounted cumulative gain.

    ``NDCG@k = DCG@k / (DCG@k of the best order)``, averaged over ties. scikit-learn and
    trec_eval use the linear gain, LightGBM and XGBoost the exponential gain.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades >= 0, higher is better. NaN in a matrix leaves the item out.
    y_score : array-like of the same shape
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order. None takes the ids
        of a `ranking_target`, each row of a matrix as a list, else all rows as one.
    k : int or None, default=None
        Cut-off, of the ideal order as well; None is the whole list.
    sample_weight : array-like of shape (n_rows,) or (n_lists,), default=None
        Weights; the weight of a list is the mean weight of its rows.
    average : {"mean", None}, default="mean"
        The weighted mean over lists, or one value per list in order of first
        appearance.
    zero_division : float, default=nan
        Value of a list without grades above 0; nan skips it in the mean.
    one_list : bool, default=False
        Say that all rows are one list; more than 200 rows without ids warn.
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
    return NDCG(k, gain=gain).measure(
        y_true,
        y_score,
        qid=qid,
        sample_weight=sample_weight,
        average=average,
        zero_division=zero_division,
        one_list=one_list,
    )
