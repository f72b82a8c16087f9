"""Checks that the estimators share: labels, weights, parameters, all or nothing."""

from contextlib import contextmanager
from numbers import Integral, Real

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_array, column_or_1d

from .._lists import RankingLists


@contextmanager
def all_or_nothing(estimator):
    """Leave the estimator exactly as it was if anything in the block raises."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_target(y, estimator):
    """y as a float array of 1 (documents), 2 (items) or 3 (preferences) dimensions.

    NaN is let through to `check_judged`.
    """
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y "
            "is None."
        )
    try:
        y = check_array(
            y,
            ensure_2d=False,
            allow_nd=True,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            input_name="y",
            estimator=estimator,
        )
    except ValueError as error:
        if not str(error).startswith("could not convert"):
            raise
        raise ValueError(
            f"y must hold numbers, grades that are higher for better: {error}."
        ) from None
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    if y.ndim > 3:
        raise ValueError(f"y must have one, two or three dimensions, got shape {y.shape}.")
    return y


def check_judged(y, loss, weights=None):
    """Refuse NaN where the loss needs every label; with weights, items that nobody judges."""
    missing = np.isnan(y)
    if not missing.any():
        return
    place = tuple(int(i) for i in np.argwhere(missing)[0])
    if y.ndim == 1:
        raise ValueError(
            f"Input y contains NaN (row {place[0]}): with one row per document, leave out the rows "
            "that are not judged."
        )
    if y.ndim == 3:
        raise ValueError(
            f"Input y contains NaN (y{list(place)}): the weight of a preference that nobody gave "
            "is 0."
        )
    if not loss.allow_missing:
        raise ValueError(
            f"Input y contains NaN (query {place[0]}, item {place[1]}): {loss!r} has a normaliser "
            "that needs every item judged. Judge it, drop the query, or aim at a measure "
            "without (dcg, precision@k, eru, pd)."
        )
    if weights is None:
        return
    nobody = missing[weights > 0].all(axis=0)
    if nobody.any():
        raise ValueError(
            f"Column {int(np.argmax(nobody))} of y is NaN in every row that counts: no query "
            "judges this item. Drop the column."
        )


def check_weights(sample_weight, n_rows):
    """Row weights as floats >= 0, ones where None; refuses a batch that weighs nothing."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}; it must be ({n_rows},), one weight per row "
            "of X."
        )
    if np.any(weights < 0):
        raise ValueError(
            f"sample_weight[{int(np.argmax(weights < 0))}] is negative; weights must be >= 0."
        )
    if not np.any(weights > 0):
        raise ValueError("All sample weights are zero: at least one row must count.")
    return weights


def check_number(name, value, *, minimum, strict=False):
    """A real parameter at least (or above) a minimum."""
    fine = isinstance(value, Real) and not isinstance(value, bool)
    if not fine or not (value > minimum if strict else value >= minimum) or np.isinf(value):
        sign = ">" if strict else ">="
        raise ValueError(f"{name} must be a finite number {sign} {minimum}, got {value!r}.")
    return float(value)


def check_count(name, value):
    """An integer parameter at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer >= 1, got {value!r}.")
    return int(value)


def check_flag(name, value):
    """A parameter that is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r}.")
    return bool(value)


def check_regressor(estimator):
    """Refuse what cannot fit and predict."""
    if estimator is None or isinstance(estimator, type):
        missing = estimator is not None
    else:
        missing = not (hasattr(estimator, "fit") and hasattr(type(estimator), "predict"))
    if missing or (estimator is not None and is_classifier(estimator)):
        raise TypeError(
            f"estimator must be None or an instance of a regressor with fit and predict, got "
            f"{estimator!r}."
        )


def check_option(name, value, options):
    """A parameter that names one of several ways."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} must be one of {sorted(options)}, got {value!r}.")
    return value


def lists_of(y, qid):
    """The lists that y's rows form; a matrix y is its own lists."""
    if y.ndim == 1:
        return RankingLists.from_qid(qid, len(y))
    if qid is not None:
        raise ValueError(
            f"y of shape {y.shape} holds one list per row and takes no qid. qid goes with a "
            "one-dimensional y, one row per document."
        )
    return RankingLists.equal(*y.shape[:2])
