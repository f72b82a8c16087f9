"""The regression of surrogate vectors: ridge, logistic, or any regressor of scikit-learn's."""

from dataclasses import dataclass, fields, replace
from inspect import Parameter, signature
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .._base import attribute_of_fitted, read_features
from .._parameters import is_linear, predictor
from .._tables import is_data_frame, take_rows
from .._typing import MatrixLike
from ._logistic import FractionalModel, fit_fractional
from ._missing import MeansOfKnown
from ._ridge import (
    LinearModel,
    check_finite,
    check_fits_memory,
    chosen_solver,
    fit_lsqr,
    n_matrices,
)
from ._sums import Sums

#: Passes of the boosted trees of `named_regressor`: one for ten trees.
TREE_PASSES = 20


@dataclass(frozen=True)
class Regression:
    """How encoded targets are regressed: the parameters that the rankers have in common.

    `fit` returns a model with ``predict(X)``, of shape (n, d).
    """

    estimator: Any = "ridge"
    alpha: Any = 0.1
    solver: str = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: int = 0
    name: str = "Regression"

    @classmethod
    def of(cls, ranker):
        """With those parameters of a ranker that it has."""
        given = {f.name: getattr(ranker, f.name) for f in fields(cls) if hasattr(ranker, f.name)}
        return cls(**given, name=type(ranker).__name__)

    def named(self, batch):
        """With the model that "auto", or "trees", stands for in such a batch."""
        estimator = self.estimator
        if not isinstance(estimator, str):
            return self
        if estimator == "auto":
            is_ridge = batch.kind == "documents" or (batch.kind == "items" and batch.missing)
            return replace(self, estimator="ridge" if is_ridge else "logistic")
        if estimator == "logistic":
            refuse_unless_known(batch)
        if estimator != "trees":
            return self
        if isinstance(batch.X, np.ndarray):
            refuse_empty_columns(batch.X)
        n_documents = batch.X.shape[0] if batch.kind == "documents" else None
        fraction = 1.0 if batch.kind == "items" else "sqrt"
        return replace(
            self, estimator=named_regressor(estimator, n_documents, fraction, batch.missing)
        )

    def fit(self, batch, turns=1):
        """Model of an `EncodedBatch`; `turns` fits of an estimator and of the list offsets."""
        shape, d = batch.X.shape, batch.targets.shape[1]
        if not isinstance(self.estimator, str):
            turns = turns if batch.codes is not None else 1
            goes_on = turns > 1 and name_of_iterations(self.estimator) is not None
            return self._stages(batch, turns) if goes_on else self._turns(batch, turns)
        if self.estimator == "logistic":
            self.say(f"logistic regression on {shape}, {d} target(s)")
            return fit_fractional(batch, self.alpha, tol=self.tol, max_iter=self.max_iter)
        matrices = n_matrices(batch.targets)
        solver = chosen_solver(self.solver, batch.X, matrices)
        check_fits_memory(solver, batch.X, d, matrices)
        self.say(f"ridge on {shape} by solver {solver!r}, {d} target(s)")
        if solver == "lsqr":
            return fit_lsqr(batch, self.alpha, self.tol, self.max_iter)
        return Sums.of(batch).solve(self.alpha)

    def _turns(self, batch, turns):
        targets = batch.scaled_targets()
        weights = batch.weights * batch.totals.weight_factor
        for turn in range(1, turns + 1):
            self.say(
                f"{type(self.estimator).__name__} on {batch.X.shape}, "
                f"{targets.shape[1]} target(s), pass {turn} of {turns}"
            )
            model = self.fit_estimator(batch.X, targets, weights)
            if turn < turns:
                targets = batch.scaled_targets(model.predict(batch.X))
        return model._replace(n_iter=turns)

    def _stages(self, batch, turns):
        """Turns of an estimator that goes on where it was: each adds a part of its iterations."""
        estimator = seeded(self.estimator, self.random_state)
        name = name_of_iterations(estimator)
        n_iter = estimator.get_params(deep=False)[name]
        turns = min(turns, n_iter)
        targets = batch.scaled_targets()
        weights = self.weights_given(batch.weights * batch.totals.weight_factor)
        self.say(
            f"{type(estimator).__name__} on {batch.X.shape}, {n_iter} iterations in {turns} passes"
        )
        for turn in range(1, turns + 1):
            estimator.set_params(**{name: -(-n_iter * turn // turns)})
            _fit(estimator, batch.X, round_significant(targets[:, 0]), weights)
            if turn < turns:
                targets = batch.scaled_targets(predict_regressors([estimator], batch.X, 1))
        return RegressorModel([estimator], n_iter=turns)

    def fit_estimator(self, X, targets, weights):
        """`RegressorModel` of plain targets: one regressor, or one for each coordinate."""
        estimator = seeded(self.estimator, self.random_state)
        targets = np.where(weights[:, np.newaxis] > 0, targets, np.nan_to_num(targets))
        regressors = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(_fit)(clone(estimator), *given)
            for given in fits_of(estimator, X, targets, self.weights_given(weights))
        )
        first = take_rows(X, np.arange(min(5, X.shape[0])))
        n_targets = targets.shape[1]
        return RegressorModel(regressors, _linear_model(regressors, first, n_targets), n_targets)

    def fit_classifier(self, X, y, weights, encode):
        """`RegressorModel` of a classifier: its probabilities times the vectors of the classes.

        ``encode(labels)`` returns the vectors, shape (n_labels, d).
        """
        self.say(f"{type(self.estimator).__name__} on {X.shape}, as a classifier")
        classifier = seeded(self.estimator, self.random_state)
        _fit(classifier, X, y, self.weights_given(weights))
        vectors = encode(classifier.classes_)
        return RegressorModel([classifier], n_targets=vectors.shape[1], vectors=vectors)

    def weights_given(self, weights):
        """Weights as the estimator gets them: None for those that are all 1."""
        unit = weights[0] if takes_no_weights(self.estimator) else 1.0
        if np.allclose(weights, unit, rtol=1e-12, atol=0.0):
            return None
        if takes_no_weights(self.estimator):
            raise ValueError(
                f"{self.estimator!r} takes no sample_weight in fit, but the rows have different "
                "weights (sample_weight, or list_weights of a ranker; of pairs list_weights="
                "'pairs' are equal ones): leave them out, or take another one."
            )
        return weights

    def say(self, message):
        """A line of progress where `verbose`."""
        if self.verbose:
            print(f"[{self.name}] {message}")


class SurrogateMixin:
    """`predict_surrogate`, and tags that follow `estimator`, of what regresses targets.

    fit hands its model to `_keep`.
    """

    estimator: Any
    _keeps_float32: ClassVar[bool] = False  # where a linear model is all that sees X
    _keeps_frames: ClassVar[bool] = False  # where an estimator is all that sees X

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class that mixes this in
        estimator = named_regressor(self.estimator)
        known = predictor.accepts(estimator)  # else fit says what is wrong with it
        base = get_tags(estimator).input_tags if known else None
        tags.input_tags.sparse = True if base is None else base.sparse
        tags.input_tags.allow_nan = False if base is None else base.allow_nan
        return tags

    def predict_surrogate(self, X: MatrixLike) -> np.ndarray:
        """Surrogate vectors u, the estimate of E[alpha(Y) | x].

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, d)
            d is 1 for a ranker of documents: u of one item a row.
        """
        check_is_fitted(self)
        return self._model_.predict(self._validate_X(X, reset=False))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Of `estimator_`, where it has them."""
        return attribute_of_fitted(self, "feature_importances_")

    def _validate_X(self, X, *, reset):
        tags = get_tags(self).input_tags
        model = None if reset else getattr(self, "_model_", None)
        model = getattr(model, "model", model)  # the regression of pairs
        known = model is not None  # else the parameter says what will see X
        other = isinstance(model, RegressorModel) if known else not is_linear(self.estimator)
        if other and self._keeps_frames and is_data_frame(X):
            return read_features(self, X, reset=reset, skip_check_array=True)
        allows_nan = tags.allow_nan or (other and wraps(named_regressor(self.estimator)))
        return read_features(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if tags.sparse or other else False,
            dtype=[np.float64, np.float32] if self._keeps_float32 and not other else np.float64,
            ensure_all_finite="allow-nan" if allows_nan else True,
        )

    def _keep(self, model, *, flat=False):
        """Set the fitted attributes of a model; `flat` where d = 1 is no axis."""
        self._sums_ = getattr(model, "sums", None)
        if isinstance(model, LinearModel):
            check_finite(model)
            model = model._replace(sums=None)
            self.solver_ = model.solver
        self._model_, linear, self.n_iter_ = model, model, model.n_iter
        if isinstance(model, RegressorModel):
            self.estimators_, linear = model.regressors, model.linear
            if len(model.regressors) == 1:
                self.estimator_ = model.regressors[0]
        else:
            self.alpha_ = model.alpha
        if isinstance(model, FractionalModel):
            self.low_, self.high_ = model.low, model.high
        if linear is not None:
            self.coef_ = linear.coef[0] if flat else linear.coef
            self.intercept_ = float(linear.intercept[0]) if flat else linear.intercept


# Any regressor ----------------------------------------------------------------------


def named_regressor(estimator, n_documents=0, max_features="sqrt", missing=False):
    """The regressor that "trees" stands for; any other `estimator` as it is.

    Targets of documents are noisy: small trees of many rows a leaf, a small step, a third of the
    features at each split. `n_documents` is None for fixed items and classes, whose forest takes
    `max_features`: all for items, a square root for classes. Where targets are `missing`, one
    forest is of all items, its leaves of more than one row, so that most items are known in them.
    """
    if not (isinstance(estimator, str) and estimator == "trees"):
        return estimator
    if n_documents is None and missing:
        return MeansOfKnown(ExtraTreesRegressor(min_samples_leaf=3, max_features=max_features))
    if n_documents is None:
        return ExtraTreesRegressor(max_features=max_features)
    return HistGradientBoostingRegressor(
        learning_rate=0.05,
        max_iter=10 * TREE_PASSES,
        max_leaf_nodes=7,
        min_samples_leaf=min(50, max(5, n_documents // 20)),
        max_features=0.3,
        early_stopping=False,
        warm_start=True,
    )


def refuse_unless_known(batch):
    """Refuse what "logistic" cannot be fitted to: documents, and labels of which some are NaN."""
    if batch.kind == "documents":
        raise ValueError(
            "estimator='logistic' is for fixed items, y of shape (n_queries, r), and y has one row "
            "for each document: leave estimator='auto', or take OrderPreservingRegressor."
        )
    if batch.missing:
        raise ValueError(
            "estimator='logistic' takes labels none of which misses, and y has NaN: leave "
            "estimator='auto', which is ridge regression then, or take 'trees'."
        )


def refuse_empty_columns(X):
    """Refuse a feature that is missing in every row: trees cannot cut it into bins."""
    unknown = np.flatnonzero(np.isnan(X[0]))
    empty = unknown[np.isnan(X[:, unknown]).all(axis=0)]
    if len(empty):
        raise ValueError(
            f"Column {int(empty[0])} of X is NaN in every row, which says nothing: leave it out."
        )


def name_of_iterations(estimator):
    """Of a boosted estimator that goes on where it was, the parameter to raise; else None."""
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if not (params.get("warm_start") and hasattr(estimator, "staged_predict")):
        return None
    return next((name for name in ("max_iter", "n_estimators") if name in params), None)


class RegressorModel(NamedTuple):
    """Fitted regressors: one for all d coordinates, or one for each.

    Attributes
    ----------
    regressors : list of regressors
    linear : LinearModel or None
        With the same predictions, where they are linear.
    n_targets : int
        d.
    n_iter : int
        Passes.
    vectors : ndarray of shape (n_classes, d) or None
        Of the classes of a classifier, which is in the place of the regressors.
    """

    regressors: list
    linear: LinearModel | None = None
    n_targets: int = 1
    n_iter: int = 1
    vectors: Any = None

    def predict(self, X):
        """Surrogate vectors, shape (n, d); of scikit-learn's linear models equal for equal rows."""
        if self.linear is not None and all(map(_predicts_linearly, self.regressors)):
            return self.linear.predict(_numbers_of(X, self.regressors[0]))
        if self.vectors is not None:
            return self.probabilities(X) @ self.vectors
        return predict_regressors(self.regressors, X, self.n_targets)

    def probabilities(self, X):
        """Probabilities of a classifier, shape (n, n_classes)."""
        [classifier] = self.regressors
        found = classifier.predict_proba(X)
        return checked_prediction(classifier, found, X.shape[0], len(self.vectors))


def fits_of(estimator, X, targets, sample_weight):
    """Rows, targets and weights of each fit: one for all coordinates, or one for each.

    Targets are rounded to 32 significant bits; NaN leaves a row out of that coordinate.
    """
    targets = round_significant(targets)
    judged = ~np.isnan(targets)
    complete = judged.all() or isinstance(estimator, MeansOfKnown)
    together = targets.shape[1] > 1 and complete and get_tags(estimator).target_tags.multi_output
    if together or targets.shape[1] == 1:
        single = get_tags(estimator).target_tags.single_output
        yield X, targets[:, 0] if single and not together else targets, sample_weight
        return
    for j in range(targets.shape[1]):
        rows = judged[:, j]
        if rows.all():
            yield X, targets[:, j], sample_weight
        else:
            weights = None if sample_weight is None else sample_weight[rows]
            yield take_rows(X, np.flatnonzero(rows)), targets[rows, j], weights


def seeded(estimator, random_state):
    """A clone whose random states that are None are drawn from `random_state`."""
    estimator = clone(estimator)
    if random_state is None:
        return estimator
    random_state = check_random_state(random_state)
    unset = [
        name
        for name, value in sorted(estimator.get_params(deep=True).items())
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]
    seeds = {name: int(random_state.randint(np.iinfo(np.int32).max)) for name in unset}
    return estimator.set_params(**seeds)


def predict_regressors(regressors, X, n_targets):
    """Surrogate vectors (n, d) from the regressors of `fits_of`."""
    if not regressors:  # of a single item there are no pairs
        return np.zeros((X.shape[0], 0))
    each = n_targets if len(regressors) == 1 else 1
    predicted = (checked_prediction(r, r.predict(X), X.shape[0], each) for r in regressors)
    return np.column_stack(list(predicted))


def checked_prediction(regressor, predicted, n_rows, n_targets=1):
    """Predictions (n, d) of a regressor; refuses those of another shape, or not finite."""
    predicted = np.asarray(predicted, dtype=np.float64)
    name = type(regressor).__name__
    if predicted.shape != (n_rows, n_targets) and (n_targets, *predicted.shape) != (1, n_rows):
        raise ValueError(
            f"{name} predicts an array of shape {predicted.shape} where ({n_rows}, {n_targets}) is "
            "needed: take a regressor that predicts one number for each row and target."
        )
    predicted = predicted.reshape(n_rows, n_targets)
    finite = np.isfinite(predicted)
    if not finite.all():
        row = int(np.argmin(finite.all(axis=1)))
        raise ValueError(
            f"{name} predicts {predicted[row][~finite[row]][0]} for row {row} of X, which cannot "
            "be ranked: look at its fit (too large a step, features that are not on one scale)."
        )
    return predicted


def weight_parameters(estimator, sample_weight):
    """Keyword arguments that hand the weights to the regressor's fit, or None if it has none.

    They are those of scikit-learn without metadata routing, which `_fit` switches off.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_parameters(last, sample_weight)
        return inner and {f"{name}__{key}": value for key, value in inner.items()}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": sample_weight}
    # Searches, Voting and Stacking hand the rest of what they get on to the regressors inside.
    inner = [getattr(estimator, name, None) for name in ("estimator", "regressor")]
    inner += [model for _, model in getattr(estimator, "estimators", None) or []]
    inside = [model for model in inner if hasattr(model, "fit")]
    kinds = [parameter.kind for parameter in signature(estimator.fit).parameters.values()]
    if not inside or Parameter.VAR_KEYWORD not in kinds:
        return None
    return (
        None if any(map(takes_no_weights, inside)) else weight_parameters(inside[0], sample_weight)
    )


def takes_no_weights(estimator):
    """Whether the regressor's fit has no sample_weight."""
    return weight_parameters(estimator, None) is None


def wraps(estimator):
    """Whether other estimators are inside, whose tags scikit-learn does not hand up."""
    return any(
        hasattr(value, "fit") or isinstance(value, list | tuple)
        for value in estimator.get_params(deep=False).values()
    )


def _predicts_linearly(regressor):
    """Whether its predict is that of scikit-learn's linear models, whatever the rows."""
    predict = getattr(type(regressor), "predict", None)
    return getattr(predict, "__module__", "").startswith("sklearn.linear_model.")


def _numbers_of(X, regressor):
    """X as a linear regressor of scikit-learn's reads it, which refuses what is no number."""
    if not is_data_frame(X):
        return X
    return check_array(X, dtype=np.float64, estimator=regressor, input_name="X")


def _linear_model(regressors, X, n_targets):
    """The model with the same predictions on X, None where there is none."""
    if not all(hasattr(r, "coef_") and hasattr(r, "intercept_") for r in regressors or [None]):
        return None
    dense = [r.coef_.toarray() if issparse(r.coef_) else r.coef_ for r in regressors]
    coef = np.vstack([np.atleast_2d(c) for c in dense])
    intercept = np.concatenate([np.atleast_1d(r.intercept_) for r in regressors])
    if coef.shape[1] != X.shape[1]:
        return None
    try:
        X_numbers = _numbers_of(X, regressors[0])
    except (TypeError, ValueError):  # a frame with categories or missing values
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        linear = X_numbers @ coef.T + intercept
    same = np.allclose(linear, predict_regressors(regressors, X, n_targets))
    return LinearModel(coef, intercept) if same else None


def round_significant(values, bits=32):
    """Round to a number of significant bits, so that sums that are equal but for their last
    digits become equal, and a tree breaks exact ties alike."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)


def _fit(estimator, X, y, sample_weight):
    if sample_weight is None:
        return estimator.fit(X, y)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **weight_parameters(estimator, sample_weight))
