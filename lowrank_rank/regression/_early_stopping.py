"""Early stopping on held-out lists: as many iterations as a measure of lists finds best.

LightGBM and XGBoost stop by their own callbacks, here with the measure as what they watch. Models
of scikit-learn with ``warm_start`` and ``staged_predict`` are fitted in steps of iterations, until
the measure has stopped growing. The libraries are imported only where a model of theirs is given.
"""

from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from itertools import islice
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline

from .._arrays import take_rows
from .._lists import RankingLists
from .._parameters import count, number
from ..target_losses._base import mean_of_lists
from ._any_regressor import fits_of, seeded, weight_parameters
from ._encoding import decoded_scores

#: For the table of parameters of what stops early.
PARAMETERS = {
    "early_stopping": [bool],
    "validation_fraction": [number(above=0, below=1)],
    "n_iter_no_change": [count()],
}


# Held-out lists -----------------------------------------------------------------------


def hold_out(lists, weights, fraction, random_state):
    """Rows to learn from and rows of the lists that are held out, in their order.

    The draw is the one of `model_selection.query_train_test_split` among the lists of positive
    weight; the other lists are training rows.
    """
    counted = np.flatnonzero(lists.sum(lists.group(weights)) > 0)
    n_held = ceil(fraction * len(counted))
    if n_held >= len(counted):
        raise ValueError(
            f"early_stopping holds out whole lists, and validation_fraction={fraction:g} of "
            f"{len(counted)} leaves none to learn from: give at least 2 lists (qid=...), or a "
            "smaller fraction."
        )
    _, held = train_test_split(counted, test_size=n_held, random_state=random_state)
    is_held = lists.ungroup(lists.spread(np.isin(np.arange(lists.n_lists), held)))
    return np.flatnonzero(~is_held), np.flatnonzero(is_held)


def measure_on(loss, y, lists, weights):
    """``value(scores)``: the mean of the measure over lists.

    Parameters
    ----------
    loss : RankingMeasure
    y : ndarray of shape (n,), (n, r) or (n, r, r)
    lists : RankingLists
        The lists of the rows of y.
    weights : ndarray of shape (n,)
        Weights of the rows; a list has the mean of its rows.
    """
    weights = lists.sum(lists.group(weights)) / lists.lengths
    if y.ndim > 1:
        lists = RankingLists.equal(*y.shape[:2])
    y = loss.check_labels(y)
    y = y if y.ndim == 3 else y.ravel()

    def value(scores):
        values = loss._values_of_judged(y, scores.ravel(), lists, of_orders=True)
        mean = mean_of_lists(values, weights)
        if np.isnan(mean):
            raise ValueError(
                f"{loss!r} is defined on none of the {lists.n_lists} lists that early_stopping "
                "holds out: give more lists, or a larger validation_fraction."
            )
        return mean

    return value


# Iterations ---------------------------------------------------------------------------


class Part(NamedTuple):
    """Training rows of one model, and its held-out rows.

    Attributes
    ----------
    X, y : array-like
    X_held : array-like
        Rows that are held out.
    options : dict
        Further arguments of fit.
    options_held : dict
        Further arguments of fit for the held-out rows.
    """

    X: Any
    y: Any
    X_held: Any
    options: dict
    options_held: dict = {}  # noqa: RUF012  # a default that nobody changes


class Iterated(NamedTuple):
    """An estimator that is fitted in iterations.

    Attributes
    ----------
    estimator : estimator
    last : estimator
        The estimator itself, or the last step of a Pipeline.
    prefix : str
        Prefix of the parameters of the last step.
    name : str
        The parameter that is the number of iterations.
    own : dict
        Parameters that switch its own stopping off, which holds out rows.
    scores : callable
        ``scores(self, parts, value, patience)``: the value after each iteration.
    """

    estimator: Any
    last: Any
    prefix: str
    name: str
    own: dict
    scores: Callable

    @classmethod
    def of(cls, estimator):
        """Refuses an estimator that can neither be watched nor fitted further."""
        last, prefix = estimator, ""
        while isinstance(last, Pipeline):
            name, last = last.steps[-1]
            prefix += f"{name}__"
        own: dict[str, Any] = {}
        library = {kind.__module__.partition(".")[0] for kind in type(last).__mro__}
        if "lightgbm" in library:
            return cls(estimator, last, prefix, "n_estimators", own, _lightgbm_scores)
        if "xgboost" in library:
            own = {"early_stopping_rounds": None}
            return cls(estimator, last, prefix, "n_estimators", own, _xgboost_scores)
        params = last.get_params(deep=False) if hasattr(last, "get_params") else {}
        names = [name for name in ("max_iter", "n_estimators") if name in params]
        if not (names and "warm_start" in params and hasattr(last, "staged_predict")):
            plain = last is None or isinstance(last, str)
            name = "The default linear regression" if plain else repr(last)
            forest = " More trees of a forest do no harm." if "oob_score" in params else ""
            raise ValueError(
                "early_stopping needs an estimator that is boosted: one of LightGBM or XGBoost, or "
                "one of scikit-learn with warm_start and staged_predict "
                "(HistGradientBoostingRegressor, GradientBoostingRegressor), alone or as the last "
                f"step of a Pipeline. {name} is not.{forest} Set early_stopping=False."
            )
        if "early_stopping" in params:
            own = {"early_stopping": False}
        elif "n_iter_no_change" in params:
            own = {"n_iter_no_change": None}
        return cls(estimator, last, prefix, names[0], own, _staged_scores)

    def limited(self, n_iter):
        """A clone of the estimator with `n_iter` iterations."""
        params = {**self.own, self.name: n_iter}
        return clone(self.estimator).set_params(
            **{self.prefix + key: value for key, value in params.items()}
        )

    def validation_scores(self, parts, value, patience):
        """The value after each iteration, until it has not grown for `patience` of them.

        Parameters
        ----------
        parts : list of Part
            One, or one for each column of predictions.
        value : callable
            Function of predictions (n_held, d); greater is better.
        patience : int

        Returns
        -------
        ndarray of shape (n_iter,)
        """
        if len(parts) > 1 and self.scores is not _staged_scores:
            raise ValueError(
                "early_stopping needs the order of whole lists. For fixed items this order depends "
                f"on {len(parts)} models of {type(self.last).__name__}, one for each target, and "
                "each stops separately. Use HistGradientBoostingRegressor, documents (one row "
                "each, with qid), or early_stopping=False."
            )
        return np.array(self.scores(self, [self._transformed(p) for p in parts], value, patience))

    def model(self, **params):
        """A clone of the last step."""
        return clone(self.last).set_params(**self.own, **params)

    def _transformed(self, part):
        """The part as the last step of a Pipeline sees it."""
        outer = self.estimator
        while isinstance(outer, Pipeline):
            if len(outer) > 1:
                before = clone(outer[:-1])
                X = before.fit_transform(part.X, part.y)
                part = part._replace(X=X, X_held=before.transform(part.X_held))
            outer = outer.steps[-1][1]
        return part


def _staged_scores(iterated, parts, value, patience):
    """Scores of scikit-learn's models, by warm starts of `patience` iterations at a time."""
    models = [iterated.model(warm_start=True) for _ in parts]
    max_iter = models[0].get_params()[iterated.name]
    scores: list = []
    for n_iter in range(patience, max_iter + patience, patience):
        stages = []
        for model, part in zip(models, parts, strict=True):
            model.set_params(**{iterated.name: min(n_iter, max_iter)})
            with config_context(enable_metadata_routing=False):
                model.fit(part.X, part.y, **part.options)
            stages.append(islice(model.staged_predict(part.X_held), len(scores), None))
        for predictions in zip(*stages, strict=True):
            scores.append(value(np.column_stack(predictions)))
            if len(scores) > np.argmax(scores) + patience:
                return scores
    return scores


def _lightgbm_scores(iterated, parts, value, patience):
    """Scores by LightGBM's callbacks, with its own metrics switched off."""
    import lightgbm  # an optional dependency: a model of it was given

    (part,) = parts
    history: dict = {}
    model = iterated.model(metric="None")
    unused = np.zeros(part.X_held.shape[0])
    renamed = "eval_X" in signature(model.fit).parameters  # from LightGBM 4.7 on
    held = (
        {"eval_X": part.X_held, "eval_y": unused}
        if renamed
        else {"eval_set": [(part.X_held, unused)]}
    )
    model.fit(
        part.X,
        part.y,
        **part.options,
        **held,
        **part.options_held,
        eval_metric=lambda _, predicted: ("measure", value(predicted[:, np.newaxis]), True),
        callbacks=[
            lightgbm.record_evaluation(history),
            lightgbm.early_stopping(patience, verbose=False),
        ],
    )
    return history["valid_0"]["measure"]


def _xgboost_scores(iterated, parts, value, patience):
    """Scores by two callbacks of XGBoost: one computes the measure, one stops."""
    import xgboost  # an optional dependency: a model of it was given

    (part,), scores = parts, []
    model = iterated.model()
    held = xgboost.DMatrix(
        part.X_held,
        missing=model.missing,
        feature_types=model.feature_types,
        enable_categorical=model.enable_categorical,
    )

    class Measure(xgboost.callback.TrainingCallback):
        def after_iteration(self, model, epoch, evals_log):
            scores.append(value(model.predict(held).reshape(held.num_row(), -1)))
            evals_log["held_out"] = {"measure": scores}
            return False

    stopping = xgboost.callback.EarlyStopping(
        rounds=patience, data_name="held_out", metric_name="measure", maximize=True
    )
    model.set_params(callbacks=[*(model.callbacks or []), Measure(), stopping])
    model.fit(part.X, part.y, **part.options, verbose=False)
    return scores


# Regressions of encoded targets -------------------------------------------------------


def stopped(regression, batch, encode, *, fraction, patience):
    """The regression with as many iterations as are best on held-out lists.

    The draw of the lists and the seeds of the estimator come from the random state of the
    regression, once for all fits.

    Parameters
    ----------
    regression : Regression
    batch : EncodedBatch
        Of all rows.
    encode : callable
        ``encode(rows)``, the `EncodedBatch` of some of them.
    fraction : float
        Fraction of held-out lists.
    patience : int
        Iterations without a larger value after which it stops.

    Returns
    -------
    regression : Regression
    scores : ndarray of shape (n_iter,)
        The measure on the held-out lists after each iteration.
    """
    Iterated.of(regression.estimator)  # refused before anything is fitted
    by_row = RankingLists(np.ones(batch.X.shape[0], dtype=np.intp))
    lists = by_row if batch.lists is None else batch.lists
    rows, held = hold_out(lists, batch.row_weights, fraction, regression.random_state)
    iterated = Iterated.of(seeded(regression.estimator, regression.random_state))
    training = encode(rows)
    weights = regression.weights_given(training.weights * training.totals.weight_factor)
    X_held = take_rows(batch.X, held)
    parts = [
        Part(X, y, X_held, {} if w is None else weight_parameters(iterated.last, w))
        for X, y, w in fits_of(iterated.estimator, training.X, training.scaled_targets(), weights)
    ]
    of_row = lists.ungroup(lists.index)[held]
    value = measure_on(
        batch.loss, batch.y[held], RankingLists.from_qid(of_row), batch.row_weights[held]
    )

    def decoded_value(u):
        return value(decoded_scores(training.loss, training.decoder, u, training.n_items))

    scores = iterated.validation_scores(parts, decoded_value, patience)
    n_iter = int(np.argmax(scores)) + 1
    regression.say(f"{len(scores)} iterations on {len(rows)} rows, the best of them {n_iter}")
    return replace(regression, estimator=iterated.limited(n_iter), random_state=None), scores
