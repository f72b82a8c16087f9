"""The measure after each tree of LightGBM's and XGBoost's rankers, by callbacks.

The libraries are imported only where a model of theirs is given.
"""

from inspect import signature

import numpy as np
from sklearn.base import clone

from ..validation._checks_of_models import libraries_of


def staged_scores(estimator, rows, held, value, patience):
    """Compute the value after each tree, until it stops growing for `patience` trees.

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
    if "lightgbm" in libraries_of(estimator):
        scores = _lightgbm_scores(clone(estimator), rows, held, value, patience)
    else:
        scores = _xgboost_scores(with_trees(estimator), rows, held, value, patience)
    return np.array(scores)


def with_trees(estimator, n_trees=None):
    """Clone without early stopping, with `n_trees` trees or with its own number."""
    params = {}
    if n_trees is not None:
        params["n_estimators"] = n_trees
    if "early_stopping_rounds" in estimator.get_params(deep=False):  # XGBoost
        params["early_stopping_rounds"] = None
    return clone(estimator).set_params(**params)


def _lightgbm_scores(model, rows, held, value, patience):
    """Scores by LightGBM's callbacks, with its own metrics switched off."""
    import lightgbm  # an optional dependency: a model of it was given

    X, y, options = rows
    X_held, options_held = held
    unused_labels = np.zeros(X_held.shape[0])
    evaluation: dict = {"eval_set": [(X_held, unused_labels)]}
    if "eval_X" in signature(model.fit).parameters:  # from LightGBM 4.7 on
        evaluation = {"eval_X": X_held, "eval_y": unused_labels}

    def metric(_, predicted):
        greater_is_better = True
        return "measure", value(predicted), greater_is_better

    history: dict = {}
    record = lightgbm.record_evaluation(history)
    stop = lightgbm.early_stopping(patience, verbose=False)
    model.set_params(metric="None")
    model.fit(
        X,
        y,
        eval_metric=metric,
        callbacks=[record, stop],
        **evaluation,
        **options,
        **options_held,
    )
    return history["valid_0"]["measure"]


def _xgboost_scores(model, rows, held, value, patience):
    """Scores by two callbacks of XGBoost: one computes the measure, one stops."""
    import xgboost  # an optional dependency: a model of it was given

    X, y, options = rows
    X_held, _ = held
    matrix = xgboost.DMatrix(
        X_held,
        missing=model.missing,
        feature_types=model.feature_types,
        enable_categorical=model.enable_categorical,
    )
    scores: list = []

    class Measure(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            scores.append(value(model.predict(matrix)))
            evals_log["held_out"] = {"measure": scores}
            return False  # goes on

    stopping = xgboost.callback.EarlyStopping(
        rounds=patience, data_name="held_out", metric_name="measure", maximize=True
    )
    model.set_params(callbacks=[*(model.callbacks or []), Measure(), stopping])
    model.fit(X, y, **options, verbose=False)
    return scores
