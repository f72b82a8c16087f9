"""From labels and scores as users hold them to one value per list, and their mean.

Every measure is a *kernel* ``kernel(y, scores, lists)``: flat grouped arrays in, one
value per list out, nan where the measure is undefined. What all measures share is
here: the shapes of y, missing judgements, list weights and the empty-list rule.
"""

from numbers import Real

import numpy as np
from sklearn.utils.validation import check_array, column_or_1d

from .._lists import RankingLists, split_target


def evaluate(
    kernel,
    y_true,
    y_score,
    *,
    qid=None,
    sample_weight=None,
    average="mean",
    zero_division=np.nan,
    allow_missing=False,
    takes_preferences=False,
    check=None,
):
    """Value of a measure, for each list or as the mean over the lists.

    Parameters
    ----------
    kernel : callable
        ``kernel(y, scores, lists) -> ndarray of shape (n_lists,)``.
    y_true : array-like of shape (n_rows,), (n_lists, r) or (n_lists, r, r)
        Labels; one-dimensional ones with `qid`, or carrying it.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better.
    qid, sample_weight, average, zero_division
        As in every public measure.
    allow_missing : bool, default=False
        Whether NaN in a matrix `y_true` means "not judged"; such items are left out.
    takes_preferences : bool, default=False
        Whether `y_true` may have three dimensions.
    check : callable or None
        ``check(y) -> y`` on the labels as the user laid them out, to name a wrong one's place.

    Returns
    -------
    float or ndarray of shape (n_lists,)
    """
    zero_division = check_real("zero_division", zero_division)
    y, scores, lists = check_lists(y_true, y_score, qid, allow_missing=allow_missing, check=check)
    if y.ndim == 3 and not takes_preferences:
        raise ValueError(
            f"y_true has shape {y.shape}: preferences between items are for pairwise disagreement "
            "only. Give grades, one per item."
        )
    weights = list_weights(sample_weight, lists)
    judged = None
    if y.ndim == 1 and lists.order is None and allow_missing:
        judged = ~np.isnan(y)
    if judged is None or judged.all():
        values = kernel(lists.group(y), lists.group(scores), lists)
    else:
        kept, kept_lists = lists.select(judged)
        values = np.full(lists.n_lists, np.nan)
        if kept.n_lists:
            values[kept_lists] = kernel(y[judged], scores[judged], kept)
    return average_lists(values, weights, average=average, zero_division=zero_division)


def check_lists(y_true, y_score, qid=None, *, allow_missing=False, check=None):
    """Validated labels and scores, flat, with the lists that they form.

    A three-dimensional y (preferences) stays as it is; its scores are flattened.
    """
    y_true, qid = split_target(y_true, qid)
    y = check_array(
        y_true,
        ensure_2d=False,
        allow_nd=True,
        dtype=np.float64,
        ensure_all_finite="allow-nan",
        input_name="y_true",
    )
    scores = check_array(
        y_score, ensure_2d=False, allow_nd=True, dtype=np.float64, input_name="y_score"
    )
    if y.ndim == 2 and y.shape[1] == 1:  # as in fit: documents, not lists of one item
        y = column_or_1d(y, warn=True)
        scores = scores.ravel()
    if y.ndim > 1 and qid is not None:
        raise ValueError(
            f"y_true of shape {y.shape} holds one list per row and takes no qid; qid goes with a "
            "one-dimensional y_true."
        )
    if scores.shape != y.shape[:2]:
        raise ValueError(
            f"y_score has shape {scores.shape} but y_true has shape {y.shape}: there must be one "
            "score for each labelled item."
        )
    _check_missing(y, allow_missing)
    y = y if check is None else check(y)
    if y.ndim == 1:
        return y, scores, RankingLists.from_qid(qid, len(y))
    lists = RankingLists.equal(*y.shape[:2])
    return (y.ravel() if y.ndim == 2 else y), scores.ravel(), lists


def _check_missing(y, allow_missing):
    missing = np.isnan(y)
    if not missing.any():
        return
    place = tuple(int(i) for i in np.argwhere(missing)[0])
    if not allow_missing:
        raise ValueError(
            f"y_true contains NaN (first at {place}). Not judged items can be left out only of "
            "measures of pairs or without a normaliser (DCG, precision, expected rank utility) and "
            "only in a matrix y_true; drop these rows, or judge them."
        )
    if y.ndim == 3:
        raise ValueError(
            f"y_true{list(place)} is NaN: the weight of a preference that nobody gave is 0."
        )
    if y.ndim == 1:
        raise ValueError(
            f"y_true contains NaN (row {place[0]}): with one row per document, leave out the rows "
            "that are not judged."
        )


def list_weights(sample_weight, lists):
    """Weight of each list: the mean weight of its rows, or one given per matrix row."""
    if sample_weight is None:
        return np.ones(lists.n_lists)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    by_row = weights.shape == (lists.n_rows,)
    if not by_row and weights.shape != (lists.n_lists,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must have one entry per row of y."
        )
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight has a negative entry (at {int(np.argmax(weights < 0))}); weights "
            "must be >= 0."
        )
    if not np.any(weights > 0):
        raise ValueError("All sample weights are zero: at least one list must count.")
    return lists.sum(lists.group(weights)) / lists.lengths if by_row else weights


def average_lists(values, weights, *, average="mean", zero_division=np.nan):
    """The empty-list rule: undefined lists take `zero_division`; nan leaves them out."""
    if average not in ("mean", None):
        raise ValueError(f"average must be 'mean' or None, got {average!r}.")
    values = np.where(np.isnan(values), zero_division, values)
    if average is None:
        return values
    weights = np.where(np.isnan(values), 0.0, weights)
    total = weights.sum()
    if total == 0:
        return float(zero_division)
    return float(np.nan_to_num(values) @ weights / total)


def check_grades(y, *, what="grades"):
    """Refuse negative grades, naming the first."""
    if np.any(y < 0):
        place = tuple(int(i) for i in np.argwhere(y < 0)[0])
        raise ValueError(
            f"y holds a negative grade ({y[place]:g}): {what} must be >= 0, higher is better. "
            "Shift them, or give a ranking as r - rank."
        )
    return y


def relevant(y, relevance_threshold=None):
    """1.0 where an item is relevant: grade > 0, or grade >= `relevance_threshold`."""
    check_grades(y)
    if relevance_threshold is None:
        return (y > 0).astype(np.float64)
    threshold = check_real("relevance_threshold", relevance_threshold)
    if np.isnan(threshold):
        raise ValueError("relevance_threshold must be a number, got nan.")
    return (y >= threshold).astype(np.float64)


def check_real(name, value):
    """A parameter that is a real number; nan passes."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} must be a number, got {value!r}.")
    return float(value)
