"""The measure after each tree of LightGBM's and XGBoost's rankers, by their own callbacks.

The libraries are imported only where a model of theirs is given.
"""

from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone


class HeldOut(NamedTuple):
    """Training rows of a booster, and its held-out rows.

    Attributes
    ----------
    X, y, X_held : array-like
    options : dict
        Further arguments of fit.
    options_held : dict
        Further arguments of fit for the held-out rows.
    """

    X: Any
    y: Any
    X_held: Any
    options: dict
    options_held: dict


def staged_scores(estimator, rows, value, patience):
    """The value after each tree, until it has not grown for `patience` trees.

    Parameters
    ----------
    estimator : LGBMRanker or XGBRanker
    rows : HeldOut
    value : callable
        Function of scores (n_held,); greater is better.
    patience : int

    Returns
    -------
    ndarray of shape (n_trees,)
    """
    library = {kind.__module__.partition(".")[0] for kind in type(estimator).__mro__}
    if "lightgbm" in library:
        return np.array(_lightgbm_scores(clone(estimator), rows, value, patience))
    if "xgboost" in library:
        return np.array(_xgboost_scores(with_trees(estimator), rows, value, patience))
    raise ValueError(
        "early_stopping needs a model of LightGBM or XGBoost, which can be watched as it grows: "
        f"{estimator!r} cannot. Set early_stopping=False."
    )


def with_trees(estimator, n_trees=None):
    """A clone with `n_trees` trees, or as many as before, that does not stop by itself."""
    given = {} if n_trees is None else {"n_estimators": n_trees}
    if "early_stopping_rounds" in estimator.get_params(deep=False):  # XGBoost
        given["early_stopping_rounds"] = None
    return clone(estimator).set_params(**given)


def _lightgbm_scores(model, rows, value, patience):
    """Scores by LightGBM's callbacks, with its own metrics switched off."""
    import lightgbm  # an optional dependency: a model of it was given

    history: dict = {}
    unused = np.zeros(rows.X_held.shape[0])
    renamed = "eval_X" in signature(model.fit).parameters  # from LightGBM 4.7 on
    held = (
        {"eval_X": rows.X_held, "eval_y": unused}
        if renamed
        else {"eval_set": [(rows.X_held, unused)]}
    )
    model.set_params(metric="None").fit(
        rows.X,
        rows.y,
        **rows.options,
        **held,
        **rows.options_held,
        eval_metric=lambda _, predicted: ("measure", value(predicted), True),
        callbacks=[
            lightgbm.record_evaluation(history),
            lightgbm.early_stopping(patience, verbose=False),
        ],
    )
    return history["valid_0"]["measure"]


def _xgboost_scores(model, rows, value, patience):
    """Scores by two callbacks of XGBoost: one computes the measure, one stops."""
    import xgboost  # an optional dependency: a model of it was given

    scores: list = []
    held = xgboost.DMatrix(
        rows.X_held,
        missing=model.missing,
        feature_types=model.feature_types,
        enable_categorical=model.enable_categorical,
    )

    class Measure(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            scores.append(value(model.predict(held)))
            evals_log["held_out"] = {"measure": scores}
            return False

    stopping = xgboost.callback.EarlyStopping(
        rounds=patience, data_name="held_out", metric_name="measure", maximize=True
    )
    model.set_params(callbacks=[*(model.callbacks or []), Measure(), stopping])
    model.fit(rows.X, rows.y, **rows.options, verbose=False)
    return scores
