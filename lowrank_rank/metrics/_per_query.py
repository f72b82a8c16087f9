"""A table of measures: one row per query, with the ids."""

from typing import Any

import numpy as np

from .._arrays import ArrayLike, table_of
from .._labels import lists_of, read_labels, split_target
from .._parameters import check_parameter, count
from ..target_losses import SCORE_ONLY, TARGET_LOSSES, resolve_measure

_CUTS = {"k", "[k]"}


def named_measures(measures, k=None):
    """Measures by name, in the order given; a name without "@" that takes a cut gets each of `k`.

    Parameters
    ----------
    measures : str, RankingMeasure, list of these, or dict from names
    k : int, sequence of int or None, default=None

    Returns
    -------
    dict of str to RankingMeasure

    Raises
    ------
    ValueError
        If there is no measure, a name is unknown, or k is given and no name takes it.
    """
    if isinstance(measures, dict):
        named = dict(measures)
    else:
        several = isinstance(measures, list | tuple)
        named = {_name(m): m for m in (measures if several else [measures])}
    if not named:
        raise ValueError("measures is empty: name at least one, such as 'ndcg@10'.")
    if k is not None:
        named = _with_cuts(named, [k] if np.ndim(k) == 0 else list(k))
    return {name: resolve_measure(measure) for name, measure in named.items()}


def _name(measure):
    return measure if isinstance(measure, str) else repr(measure)


def _with_cuts(named, cuts):
    for cut in cuts:
        check_parameter("k", cut, [count()])
    entries = [*TARGET_LOSSES.values(), *SCORE_ONLY.values()]
    taking = {entry.base for entry in entries if entry.at in _CUTS}
    if not taking & {m for m in named.values() if isinstance(m, str)}:
        raise ValueError(
            f"k={cuts} is given, but no measure among {list(named)} takes it: name one without its "
            f"cut, of {', '.join(sorted(taking))}."
        )
    cut_off: dict = {}
    for name, measure in named.items():
        takes = isinstance(measure, str) and measure in taking
        cut_off |= {f"{name}@{c}": f"{measure}@{c}" for c in cuts} if takes else {name: measure}
    return cut_off


def per_query(
    y_true: Any,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    measures: Any = ("ndcg@5", "ndcg@10", "map"),
    k: Any = None,
    zero_division: float = np.nan,
) -> "Any | np.ndarray":
    """Measures of each query, as a table with the query ids.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels; a `ranking_target` carries its qid.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better; ties count as the mean over their orders.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row, any hashable ids in any order; None is one list. Not with a matrix
        `y_true`, whose rows are numbered.
    measures : list of str or RankingMeasure, or dict from names, default=("ndcg@5", \
"ndcg@10", "map")
        Names as in `get_ranking_scorer_names`, or objects.
    k : int, sequence of int or None, default=None
        Cut-offs of the names that have none: ``measures=["ndcg", "map"], k=[5, 10]`` is
        ``["ndcg@5", "ndcg@10", "map"]``.
    zero_division : float, default=nan
        Value of a query on which a measure is undefined.

    Returns
    -------
    DataFrame, or structured ndarray without pandas
        One row per query in order of first appearance, one column per measure, greater is better
        (losses such as "pd" are negative); qid is the index, or a field.

    Raises
    ------
    ValueError
        If a name is unknown, no measure takes `k`, or labels, scores and ids do not fit.

    See Also
    --------
    compare_rankers : Intervals and tests for the differences between several rankers.

    Examples
    --------
    >>> from lowrank_rank.metrics import per_query
    >>> y, scores, qid = [1, 0, 0, 1], [2.0, 1.0, 4.0, 3.0], ["a", "a", "b", "b"]
    >>> table = per_query(y, scores, qid=qid, measures=["precision", "mrr"], k=[1, 2])
    >>> table["precision@1"].tolist(), table["precision@2"].tolist(), table["mrr"].tolist()
    ([1.0, 0.0], [0.5, 0.5], [1.0, 0.5])
    """
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true")
    lists = lists_of(y, qid, "y_true")
    ids = np.arange(lists.n_lists) if lists.ids is None else lists.ids
    values = {
        name: measure.measure(y, y_score, qid=qid, average=None, zero_division=zero_division)
        for name, measure in named_measures(measures, k).items()
    }
    return table_of({"qid": ids, **values}, index="qid")
