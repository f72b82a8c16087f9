"""Regression of encoded targets by trees, or by any regressor of scikit-learn."""

from inspect import Parameter, signature
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn import config_context, ensemble
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, check_random_state, get_tags
from sklearn.utils.sparsefuncs import min_max_axis
from sklearn.utils.validation import has_fit_parameter

from .._base import attribute_of_fitted
from ..lists._lists import plain
from ..validation._arrays import is_data_frame, take_rows
from ..validation._check import refuse
from ..validation._checks_of_features import CHECKS_OF_FAILED_ENTRIES
from ..validation._entries import without_empty_columns
from ._list_trees import fit_list_trees
from ._ridge import LinearModel

_HIST_TREES = (
    ensemble.HistGradientBoostingRegressor,
    ensemble.HistGradientBoostingClassifier,
)


def resolved_estimator(estimator, kind):
    """Replace "auto" by its meaning for a kind of labels, as of `Encoding`.

    "auto" is "ridge" for documents, else "logistic", which documents do not take.
    "trees" are `document_trees`, `item_forest`, or a forest as a classifier of classes
    or distinct sets. Beside its trees "logistic+trees" is "logistic".
    """
    if not isinstance(estimator, str):
        return estimator
    if estimator == "logistic+trees":
        return "logistic"
    if estimator == "auto":
        return "ridge" if kind == "documents" else "logistic"
    if estimator == "logistic" and kind == "documents":
        raise ValueError(
            "estimator='logistic' is for fixed items, y of shape (n_queries, r), and y "
            "has one row for each document: leave estimator='auto', or use "
            "OrderPreservingRegressor."
        )
    return estimator


def forest_columns(X, model):
    """Return X for scikit-learn's forests; refuse columns that these would misread.

    Forests read X as float32, and take values closer than 1e-7 for equal
    (``sklearn/tree/_partitioner.pyx``). So they would read a column as infinite or
    constant.
    """
    X = without_empty_columns(X)
    try:
        numbers = check_array(
            X, accept_sparse="csr", dtype=np.float64, ensure_all_finite=False
        )
    except ValueError as error:
        refuse(CHECKS_OF_FAILED_ENTRIES, X=X, error=error)
        raise
    low, high = min_max_axis(csr_matrix(numbers), axis=0, ignore_nan=True)
    names = getattr(model, "feature_names_in_", range(len(low)))
    with np.errstate(over="ignore", invalid="ignore"):
        is_infinite = np.isinf(np.maximum(-low, high).astype(np.float32))
        difference = high.astype(np.float32) - low.astype(np.float32)
        is_constant = (high > low) & (difference < 1e-6)
    is_misread = is_infinite | is_constant
    if not is_misread.any():
        return X
    j = int(np.argmax(is_misread))
    problem = "numbers beyond float32"
    if is_constant[j]:
        problem = f"a range of {high[j] - low[j]:g}"
    raise ValueError(
        f"Column {plain(names[j])!r} of X has {problem}, {low[j]:g} to {high[j]:g}. "
        "Forests read float32, and may read ranges below 1e-6 as constant: scale it "
        "(StandardScaler), or drop it."
    )


def item_forest(is_missing, **parameters):
    """Make the "trees" of items, a forest with these parameters.

    With missing labels a leaf has 3 rows or more, so that most items are known there.
    """
    forest = ensemble.ExtraTreesRegressor()
    if not is_missing:
        return forest.set_params(**parameters)
    forest.set_params(min_samples_leaf=3)
    return MeansOfKnown(forest.set_params(**parameters))


class ForestOfDocuments(ensemble.ExtraTreesRegressor):
    """Extra trees whose `predict` starts no threads: for a query they cost too much."""

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the trees, shape (n,)."""
        # The ranker has validated X, and the trees of scikit-learn read float32.
        X = X.astype(np.float32) if issparse(X) else np.asarray(X, dtype=np.float32)
        predicted = np.zeros(X.shape[0])
        for tree in self.estimators_:
            predicted += tree.tree_.predict(X)[:, 0]
        return predicted / len(self.estimators_)


def document_forest(n_jobs):
    """Make the forest of documents, of which `n_jobs` fits trees in parallel."""
    return ForestOfDocuments(
        n_estimators=50, min_samples_leaf=5, max_features=1 / 3, n_jobs=n_jobs
    )


def document_trees(n):
    """Make the "trees" of n documents.

    The targets are noisy: up to 20,000 documents the trees and the steps are small. The
    larger steps of ``HistGradientBoostingRanker(loss="pairwise_squared")`` lost .014 of
    NDCG@10 on 50 queries of digits, and .039 on 100 queries of digits with noisy
    grades.
    """
    trees = ensemble.HistGradientBoostingRegressor(
        max_iter=200, min_samples_leaf=min(50, max(5, n // 20)), early_stopping=False
    )
    if n > 20_000:
        return trees
    return trees.set_params(learning_rate=0.05, max_leaf_nodes=7, max_features=0.3)


def fit_centred_trees(trees, X, encoding, weights):
    """Fit boosted trees to half the squared error up to an offset of each list.

    The offsets are updated 20 times, above 20,000 rows 6 times, evenly over the trees.
    """
    n_updates = 20 if X.shape[0] <= 20_000 else 6
    n_calls = 0
    targets: Any = None

    def derivatives(scores):
        nonlocal n_calls, targets
        is_update = n_calls * n_updates % trees.max_iter < n_updates
        if is_update:
            earlier_scores = scores[:, np.newaxis] if n_calls else None
            scaled = encoding.scaled_targets(weights, earlier_scores)
            targets = round_significant(scaled[:, 0])
        n_calls += 1
        return weights * (scores - targets), weights

    return fit_list_trees(trees, X, derivatives)


def weights_given(estimator, weights):
    """Return the weights for the estimator.

    They are None if all are 1, or if all are equal and the estimator does not take
    weights.
    """
    takes_none = weight_parameters(estimator, None) is None
    expected = weights[0] if takes_none else 1.0
    if np.allclose(weights, expected, rtol=1e-12, atol=0.0):
        return None
    if takes_none:
        raise ValueError(
            f"{estimator!r} does not take sample_weight in fit, but the rows (or "
            "pairs of lists of different lengths) have different weights: leave them "
            "out, or use another estimator."
        )
    return weights


# Missing targets --------------------------------------------------------------------


class MeansOfKnown(RegressorMixin, BaseEstimator):
    """Regressor of targets with NaN, by a regressor with weighted means as predictions.

    Forests and nearest neighbours predict sum_i w_i(x) t_i, with weights >= 0 that add
    up to 1 and are the same for all targets. Let k_i be 1 if the target of row i is
    known, else 0, and m the mean of the known targets. This regressor predicts

        m + sum_i w_i k_i (t_i - m) / (f + (1 - f) min(1, prior_rows / n)),
        f = sum_i w_i k_i.

    Without the second term the prediction is the mean of the known targets near x. This
    holds even if labels are missing because of x. The second term shrinks a target with
    few known rows near x towards its mean, as `prior_rows` of the n rows would. Without
    missing targets the predictions are the ones of the regressor itself.

    Parameters
    ----------
    estimator : regressor
        A regressor of many targets, with weighted means as predictions.
    prior_rows : float, default=20.0

    Attributes
    ----------
    estimator_ : fitted regressor
        Regressor of deviations from the means, 0 for missing targets, and of multiples
        of k.
    means_ : ndarray of shape (d,)
    """

    def __init__(self, estimator: Any, prior_rows: float = 20.0) -> None:
        self.estimator = estimator
        self.prior_rows = prior_rows

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "MeansOfKnown":
        """Fit to targets (n, d); each column has a known target of positive weight."""
        is_known = ~np.isnan(y)
        weights = is_known.astype(float)
        options = {}
        if sample_weight is not None:
            weights *= np.asarray(sample_weight)[:, np.newaxis]
            options["sample_weight"] = sample_weight
        known = np.where(is_known, y, 0.0)
        self.means_ = (weights * known).sum(axis=0) / weights.sum(axis=0)
        deviations = np.where(is_known, y - self.means_, 0.0)
        # The columns k are small, so that the trees split by the deviations.
        self._unit_ = 1e-3 * float(np.sqrt(np.mean(deviations**2))) or 1.0
        self._prior_ = min(1.0, self.prior_rows / len(y))
        columns = np.hstack([deviations, self._unit_ * is_known])
        self.estimator_ = clone(self.estimator).fit(X, columns, **options)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Targets, shape (n, d)."""
        deviations, known = np.hsplit(self.estimator_.predict(X), 2)
        # m + sum_i w_i k_i (t_i - m) / (f + (1 - f) min(1, prior_rows / n))
        f = known / self._unit_
        return self.means_ + deviations / (f + (1.0 - f) * self._prior_)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importances of the regressor."""
        return attribute_of_fitted(self, "feature_importances_")


# Any regressor ----------------------------------------------------------------------


class RegressorModel:
    """Fitted regressors: one for all d coordinates, or one for each.

    Parameters
    ----------
    regressors : list of regressors
    n_targets : int
        The number d of coordinates.
    vectors : ndarray of shape (n_classes, d) or None
        Encoded classes, if the only entry of `regressors` is a classifier.

    Attributes
    ----------
    linear : LinearModel or None
        The model of the same predictions, if they are linear.
    """

    n_iter = 1  # a regressor is fitted once
    linear: LinearModel | None = None

    def __init__(self, regressors, n_targets=1, vectors=None):
        self.regressors = regressors
        self.n_targets = n_targets
        self.vectors = vectors

    def predict(self, X):
        """Surrogate vectors, shape (n, d)."""
        if self.linear is not None and self._are_of_scikit_learn():
            # Unlike scikit-learn's product, ours is equal for equal rows to the last
            # bit.
            return self.linear.predict(_numbers_of(X, self.regressors[0]))
        if self.vectors is not None:
            return self.probabilities(X) @ self.vectors
        if not self.regressors:  # a single item has no pairs
            return np.zeros((X.shape[0], 0))
        n_targets = self.n_targets if len(self.regressors) == 1 else 1
        predictions = [
            checked_prediction(regressor, regressor.predict(X), X.shape[0], n_targets)
            for regressor in self.regressors
        ]
        return np.column_stack(predictions)

    def _are_of_scikit_learn(self):
        """Whether each ``predict`` is the one of scikit-learn's linear models."""
        modules = {
            getattr(type(regressor).predict, "__module__", "")
            for regressor in self.regressors
        }
        return all(name.startswith("sklearn.linear_model.") for name in modules)

    def probabilities(self, X):
        """Probabilities of a classifier, shape (n, n_classes)."""
        [classifier] = self.regressors
        predicted = classifier.predict_proba(X)
        return checked_prediction(classifier, predicted, X.shape[0], len(self.vectors))


def fits_of(estimator, X, targets, sample_weight):
    """Iterate over the fits: one of all coordinates, or one for each.

    Each is X, targets and weights. Targets are rounded to 32 significant bits. A
    coordinate is fitted without its rows of NaN.
    """
    targets = round_significant(targets)
    is_known = ~np.isnan(targets)
    n_targets = targets.shape[1]
    takes_nan = isinstance(estimator, MeansOfKnown)
    tags = get_tags(estimator).target_tags
    if n_targets == 1:
        if tags.single_output and not takes_nan:
            targets = targets[:, 0]
        yield X, targets, sample_weight
        return
    if n_targets > 1 and (takes_nan or (is_known.all() and tags.multi_output)):
        yield X, targets, sample_weight
        return
    for j in range(n_targets):
        rows = is_known[:, j]
        if rows.all():
            yield X, targets[:, j], sample_weight
            continue
        weights = None if sample_weight is None else sample_weight[rows]
        yield take_rows(X, np.flatnonzero(rows)), targets[rows, j], weights


def seeded(estimator, random_state):
    """Clone an estimator, and draw from `random_state` each one that is None."""
    estimator = clone(estimator)
    if random_state is None:
        return estimator
    random_state = check_random_state(random_state)
    seeds = {}
    for name, value in sorted(estimator.get_params(deep=True).items()):
        is_seed = name == "random_state" or name.endswith("__random_state")
        if is_seed and value is None:
            seeds[name] = int(random_state.randint(np.iinfo(np.int32).max))
    return estimator.set_params(**seeds)


def checked_prediction(regressor, predicted, n_rows, n_targets=1):
    """Predictions (n, d) of a regressor; refuses another shape, NaN and infinity."""
    predicted = np.asarray(predicted, dtype=np.float64)
    name = type(regressor).__name__
    is_flat = n_targets == 1 and predicted.shape == (n_rows,)
    if predicted.shape != (n_rows, n_targets) and not is_flat:
        raise ValueError(
            f"{name} predicts an array of shape {predicted.shape} where ({n_rows}, "
            f"{n_targets}) is needed: use a regressor that predicts one number for "
            "each row and target."
        )
    predicted = predicted.reshape(n_rows, n_targets)
    finite = np.isfinite(predicted)
    if not finite.all():
        row = int(np.argmin(finite.all(axis=1)))
        raise ValueError(
            f"{name} predicts {predicted[row][~finite[row]][0]} for row {row} of X, "
            "which cannot be ranked: check its fit (too large a step, features that "
            "are not on one scale)."
        )
    return predicted


def weight_parameters(estimator, sample_weight):
    """Arguments that pass weights to a regressor's fit; None if it does not take them.

    They follow scikit-learn without metadata routing, which `fit_one` switches off.
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        of_last = weight_parameters(last, sample_weight)
        return of_last and {f"{name}__{key}": value for key, value in of_last.items()}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": sample_weight}
    # Searches, voting and stacking pass other arguments of fit on to the regressors
    # inside.
    inside = [getattr(estimator, name, None) for name in ("estimator", "regressor")]
    inside += [model for _, model in getattr(estimator, "estimators", None) or []]
    inside = [model for model in inside if hasattr(model, "fit")]
    parameters = signature(estimator.fit).parameters.values()
    passes_on = Parameter.VAR_KEYWORD in [parameter.kind for parameter in parameters]
    if not inside or not passes_on:
        return None
    of_inside = [weight_parameters(model, sample_weight) for model in inside]
    return None if None in of_inside else of_inside[0]


def wraps(estimator):
    """Whether an estimator wraps others, whose tags scikit-learn does not pass on."""
    return any(
        hasattr(value, "fit") or isinstance(value, list | tuple)
        for value in estimator.get_params(deep=False).values()
    )


def _numbers_of(X, regressor):
    """X as scikit-learn's linear regressors read it."""
    if not is_data_frame(X):
        return X
    return check_array(X, dtype=np.float64, estimator=regressor, input_name="X")


def linear_model(model, X):
    """Find a `LinearModel` that predicts as a `RegressorModel` on X, or return None."""
    regressors = model.regressors
    has_coefficients = all(
        hasattr(regressor, "coef_") and hasattr(regressor, "intercept_")
        for regressor in regressors
    )
    if not regressors or not has_coefficients:
        return None
    coefs = []
    for regressor in regressors:
        coef = regressor.coef_
        if issparse(coef):
            coef = coef.toarray()
        coefs.append(np.atleast_2d(coef))
    coef = np.vstack(coefs)
    intercept = np.concatenate([np.atleast_1d(one.intercept_) for one in regressors])
    if coef.shape[1] != X.shape[1]:
        return None
    try:
        X_numbers = _numbers_of(X, regressors[0])
    except (TypeError, ValueError):  # a frame with categories or missing values
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        predicted = X_numbers @ coef.T + intercept
    if not np.allclose(predicted, model.predict(X)):
        return None
    return LinearModel(coef, intercept)


def round_significant(values):
    """Round to 32 significant bits.

    Sums that differ in their last digits become equal, so that a tree breaks ties
    alike.
    """
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, 32)), exponent - 32)


def fit_one(estimator, X, y, sample_weight=None, **options):
    """Fit an estimator; an error that text or a date causes names its column."""
    if sample_weight is not None:
        options |= weight_parameters(estimator, sample_weight)
    if isinstance(estimator, _HIST_TREES):
        X = without_empty_columns(X)
    try:
        # Weights go by their plain names.
        with config_context(enable_metadata_routing=False):
            return estimator.fit(X, y, **options)
    except (TypeError, ValueError) as error:
        refuse(CHECKS_OF_FAILED_ENTRIES, X=X, error=error)
        raise
