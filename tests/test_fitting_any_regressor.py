"""The regression of encoded targets: which models come back, weights, states, what is linear."""

import numpy as np
import pytest
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.target_losses import DCG

from .internals import (
    Data,
    RegressorModel,
    encode_items,
    round_significant,
    seeded,
    weight_parameters,
    wraps,
)

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(50, 3)), RNG.integers(0, 3, (50, 4)).astype(float)


def batch():
    return Data(X, Y, None, np.ones(50)), encode_items(Y, DCG(), "sort")


def regression(estimator="ridge", alpha="auto"):
    return LowRankSurrogateRanker(estimator=estimator, alpha=alpha)


def test_ridge_is_the_one_of_scikit_learn_and_another_block_goes_on_from_it():
    model = regression(alpha=2.0).set_params(target_loss="dcg", decoder="sort")
    model.fit(X, Y)
    scale = X.std(axis=0)
    targets = encode_items(Y, DCG(), "sort").targets
    own = Ridge(alpha=2.0 * len(X)).fit(X / scale, targets)
    np.testing.assert_allclose(model.coef_ * scale, own.coef_, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), own.predict(X / scale), atol=1e-10)
    coef = model.coef_
    model.partial_fit(X, Y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-10)


@pytest.mark.parametrize(
    "estimator", [LinearRegression(), DecisionTreeRegressor(random_state=0)]
)
def test_an_estimator_gives_its_predictions_and_coefficients_where_it_has_some(
    estimator,
):
    model = regression(estimator)._regress(*batch())
    assert isinstance(model, RegressorModel)
    assert model.predict(X).shape == (50, 4)
    assert (model.linear is not None) == isinstance(estimator, LinearRegression)
    if model.linear is not None:
        np.testing.assert_allclose(model.linear.predict(X), model.predict(X))


def test_coefficients_that_do_not_give_the_predictions_are_none():
    """A Pipeline has no coef_, and that of a transformed model is of other features."""
    scaled = make_pipeline(StandardScaler(), Ridge())
    assert regression(scaled)._regress(*batch()).linear is None


@pytest.mark.parametrize(
    ("estimator", "names"),
    [
        (Ridge(), {"sample_weight"}),
        (KNeighborsRegressor(), None),
        (make_pipeline(StandardScaler(), Ridge()), {"ridge__sample_weight"}),
        (make_pipeline(StandardScaler(), KNeighborsRegressor()), None),
        (GridSearchCV(Ridge(), {"alpha": [1.0]}), {"sample_weight"}),
        (GridSearchCV(KNeighborsRegressor(), {"n_neighbors": [1]}), None),
        (VotingRegressor([("a", Ridge())]), {"sample_weight"}),
        (StackingRegressor([("a", Ridge())]), {"sample_weight"}),
    ],
    ids=repr,
)
def test_where_weights_go(estimator, names):
    found = weight_parameters(estimator, np.ones(3))
    assert (found and set(found)) == names


def test_weights_that_differ_need_a_regressor_that_takes_them():
    weights = np.where(np.arange(50) < 25, 1.0, 2.0)
    knn, ranker = KNeighborsRegressor(), LowRankSurrogateRanker()
    assert ranker._fit_estimator(knn, X, Y, np.full(50, 3.0)).predict(X).shape == (
        50,
        4,
    )  # all alike
    with pytest.raises(ValueError, match="does not take sample_weight"):
        ranker._fit_estimator(knn, X, Y, weights)
    fitted = ranker._fit_estimator(Ridge(), X, Y, weights)
    own = Ridge().fit(X, round_significant(Y), weights)
    np.testing.assert_allclose(fitted.predict(X), own.predict(X))


def test_targets_that_are_missing_leave_their_rows_out():
    y = Y.copy()
    y[:10, 1] = np.nan
    models = (
        LowRankSurrogateRanker()
        ._fit_estimator(LinearRegression(), X, y, np.ones(50))
        .regressors
    )
    assert len(models) == 4
    own = LinearRegression().fit(X[10:], y[10:, 1])
    np.testing.assert_allclose(models[1].coef_, own.coef_, atol=1e-8)


def test_states_that_are_none_are_drawn_from_the_seed():
    tree = make_pipeline(StandardScaler(), DecisionTreeRegressor())
    states = [
        seeded(tree, 0).get_params()["decisiontreeregressor__random_state"]
        for _ in "ab"
    ]
    assert states[0] is not None
    assert states[0] == states[1]
    assert (
        seeded(tree, None).get_params()["decisiontreeregressor__random_state"] is None
    )
    assert seeded(DecisionTreeRegressor(random_state=7), 0).random_state == 7


def test_which_estimators_have_others_inside():
    assert [wraps(e) for e in (Ridge(), make_pipeline(Ridge()))] == [False, True]


def test_sums_that_differ_in_their_last_digits_are_rounded_alike():
    a = 0.1 + 0.2
    assert a != 0.3
    assert round_significant(np.array(a)) == round_significant(np.array(0.3))
    np.testing.assert_allclose(round_significant(np.array(1 / 3)), 1 / 3, rtol=1e-9)
