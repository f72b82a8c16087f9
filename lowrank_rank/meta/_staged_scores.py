"""The measure after each tree of LightGBM's and XGBoost's rankers, by their own callbacks.

The libraries are imported only where a model of theirs is given.
"""

from inspect import signature

import numpy as np
from sklearn.base import clone


def staged_scores(estimator, rows, held, value, patience):
    """The value after each tree, until it has not grown for `patience` trees.

    Parameters
    ----------
    estimator : LGBMRanker or XGBRanker
    rows : tuple of (X, y, dict)
        Training rows and further arguments of fit.
    held : tuple of (X, dict)
        Features of the held-out rows, and further arguments of fit for them.
    value : callable
        Function of scores (n_held,); greater is better.
    patience : int

    Returns
    -------
    ndarray of shape (n_trees,)
    """
    library = {kind.__module__.partition(".")[0] for kind in type(estimator).__mro__}
    if "lightgbm" in library:
        return np.array(_lightgbm_scores(clone(estimator), rows, held, value, patience))
    if "xgboost" in library:
        return np.array(
            _xgboost_scores(with_trees(estimator), rows, held, value, patience)
        )
    raise ValueError(
        "early_stopping needs a model of LightGBM or XGBoost, which can be watched as it grows: "
        f"{estimator!r} cannot. Set early_stopping=False."
    )


def with_trees(estimator, n_trees=None):
    """A clone without early stopping, with `n_trees` trees or with its own number."""
    given = {} if n_trees is None else {"n_estimators": n_trees}
    if "early_stopping_rounds" in estimator.get_params(deep=False):  # XGBoost
        given["early_stopping_rounds"] = None
    return clone(estimator).set_params(**given)


def _lightgbm_scores(model, rows, held, value, patience):
    """Scores by LightGBM's callbacks, with its own metrics switched off."""
    import lightgbm  # an optional dependency: a model of it was given

    history: dict = {}
    (X, y, options), (X_held, options_held) = rows, held
    unused = np.zeros(X_held.shape[0])
    if "eval_X" in signature(model.fit).parameters:  # from LightGBM 4.7 on
        given: dict = {"eval_X": X_held, "eval_y": unused}
    else:
        given = {"eval_set": [(X_held, unused)]}
    stop = lightgbm.early_stopping(patience, verbose=False)
    given |= {
        "callbacks": [lightgbm.record_evaluation(history), stop],
        **options,
        **options_held,
    }
    model.set_params(metric="None").fit(
        X,
        y,
        eval_metric=lambda _, predicted: ("measure", value(predicted), True),
        **given,
    )
    return history["valid_0"]["measure"]


def _xgboost_scores(model, rows, held, value, patience):
    """Scores by two callbacks of XGBoost: one computes the measure, one stops."""
    import xgboost  # an optional dependency: a model of it was given

    scores: list = []
    (X, y, options), (X_held, _) = rows, held
    kinds = {
        name: getattr(model, name) for name in ("feature_types", "enable_categorical")
    }
    matrix = xgboost.DMatrix(X_held, missing=model.missing, **kinds)

    class Measure(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            scores.append(value(model.predict(matrix)))
            evals_log["held_out"] = {"measure": scores}
            return False

    stopping = xgboost.callback.EarlyStopping(
        rounds=patience, data_name="held_out", metric_name="measure", maximize=True
    )
    model.set_params(callbacks=[*(model.callbacks or []), Measure(), stopping])
    model.fit(X, y, **options, verbose=False)
    return scores
