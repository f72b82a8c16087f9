"""Any scikit-learn regressor on encoded targets, one coordinate or all at once."""

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter


def fit_regressors(
    estimator, X, targets, sample_weight=None, *, random_state=None, n_jobs=None, verbose=0
):
    """Fitted clones of a regressor: one for all coordinates, or one for each.

    Parameters
    ----------
    estimator : regressor
    X : array-like of shape (n, p)
    targets : ndarray of shape (n, d)
        NaN leaves a row out of that coordinate.
    sample_weight : ndarray of shape (n,) or None
    random_state : int, RandomState instance or None
        Seeds every random_state of the estimator that is None.
    n_jobs, verbose
        Of joblib, over coordinates.

    Returns
    -------
    list of fitted regressors
    """
    estimator = seeded(estimator, random_state)
    targets = round_significant(targets)
    judged = ~np.isnan(targets)
    together = (
        targets.shape[1] > 1 and judged.all() and get_tags(estimator).target_tags.multi_output
    )
    if together or targets.shape[1] == 1:
        single = get_tags(estimator).target_tags.single_output
        y = targets[:, 0] if single and not together else targets
        return [_fit(estimator, X, y, sample_weight)]

    def one(j):
        rows = judged[:, j]
        if rows.all():
            return _fit(estimator, X, targets[:, j], sample_weight)
        weights = None if sample_weight is None else sample_weight[rows]
        return _fit(estimator, X[rows], targets[rows, j], weights)

    return Parallel(n_jobs=n_jobs, verbose=verbose)(
        delayed(one)(j) for j in range(targets.shape[1])
    )


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


def predict_regressors(regressors, X):
    """Surrogate vectors (n, d) from the regressors of `fit_regressors`."""
    return np.column_stack([np.asarray(r.predict(X), dtype=np.float64) for r in regressors])


def weight_parameters(estimator, sample_weight):
    """Keyword arguments that hand the weights to the regressor's fit, or None if it has none.

    They are those of scikit-learn without metadata routing, which `_fit` switches off.
    """
    if isinstance(estimator, GridSearchCV | RandomizedSearchCV):
        return weight_parameters(estimator.estimator, sample_weight)
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        inner = weight_parameters(last, sample_weight)
        return inner and {f"{name}__{key}": value for key, value in inner.items()}
    if has_fit_parameter(estimator, "sample_weight"):
        return {"sample_weight": sample_weight}
    return None


def wraps(estimator):
    """Whether other estimators are inside, whose tags scikit-learn does not hand up."""
    if estimator is None:
        return False
    return any(
        hasattr(value, "fit") or isinstance(value, list | tuple)
        for value in estimator.get_params(deep=False).values()
    )


def linear_coefficients(regressors, X):
    """coef (d, p) and intercept (d,) that reproduce the predictions on X, None without such."""
    if not all(hasattr(r, "coef_") and hasattr(r, "intercept_") for r in regressors):
        return None
    dense = [r.coef_.toarray() if issparse(r.coef_) else r.coef_ for r in regressors]
    coef = np.vstack([np.atleast_2d(c) for c in dense])
    intercept = np.concatenate([np.atleast_1d(r.intercept_) for r in regressors])
    if coef.shape[1] != X.shape[1]:
        return None
    same = np.allclose(X @ coef.T + intercept, predict_regressors(regressors, X))
    return (coef, intercept) if same else None


def round_significant(values, bits=32):
    """Round to a number of significant bits, so that sums that are equal but for their last
    digits become equal, and a tree breaks exact ties alike."""
    mantissa, exponent = np.frexp(values)
    return np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits)


def _fit(estimator, X, y, sample_weight):
    estimator = clone(estimator)
    if sample_weight is None:
        return estimator.fit(X, y)
    with config_context(enable_metadata_routing=False):
        return estimator.fit(X, y, **weight_parameters(estimator, sample_weight))
