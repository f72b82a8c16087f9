"""Where OrderPreservingRegressor has no bound, and where rounding could spoil its fit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.calibration import C_phi, regret_bound
from lowrank_rank.datasets import make_ranking
from lowrank_rank.surrogates import (
    BregmanSurrogate,
    PointwiseLogistic,
    PointwiseSmoothHinge,
    PointwiseSquaredHinge,
)

# Bounds that do not hold are not given ------------------------------------------------


def test_no_bound_where_items_of_a_list_weigh_differently():
    """Two documents, E v = (.3, .7): down-weighting one lets the surrogate put it first cheaply."""
    rng = np.random.default_rng(0)
    X, qid = np.tile(np.eye(2), (500, 1)), np.repeat(np.arange(500), 2)
    y = (rng.uniform(size=1000) < np.tile([0.3, 0.7], 500)).astype(float)
    ranker = OrderPreservingRegressor(target_loss="precision@1", surrogate="pointwise_squared")
    assert np.isfinite(ranker.fit(X, y, qid=qid).regret_bound_(0.1))
    assert np.isfinite(ranker.fit(X, y, qid=qid, sample_weight=qid + 1.0).bound_factor_)
    ranker.fit(X, y, qid=qid, sample_weight=np.tile([1.0, 0.01], 500))
    assert np.isnan(ranker.regret_bound_(0.1))
    matrix = y.reshape(-1, 2)
    matrix[::3, 0] = np.nan
    ranker.fit(np.zeros((500, 1)), matrix)
    assert np.isnan(ranker.bound_factor_)


def test_regrets_below_zero_are_rounding():
    X, y = [[0.0], [1.0]], [0.0, 1.0]
    assert OrderPreservingRegressor().fit(X, y).regret_bound_(-1e-12) == 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: C_phi("pd", 3),
        lambda: C_phi("map", 3),
        lambda: C_phi("precision@25%", 3),
        lambda: regret_bound("cross_entropy", [[0.7, 0.3, 0.2]], "pd", [0.5]),
    ],
)
def test_no_bound_of_measures_that_are_not_positional(call):
    with pytest.raises(ValueError, match="positional"):
        call()


def test_sizes_of_the_constant_are_checked():
    for n_items in (0, 2.5):
        with pytest.raises(ValueError, match="n_items must be"):
            C_phi("dcg", n_items)
    with pytest.raises(ValueError, match="p must be"):
        C_phi([1.0, 0.5], p=0)


# Accuracy -----------------------------------------------------------------------------


def test_a_looser_tolerance_is_no_dearer():
    X, y, qid = make_ranking(60, 20, random_state=0)
    calls = {}
    for tol in (1e-3, 1e-9):
        counted = CountedLogistic()
        ranker = OrderPreservingRegressor(surrogate=counted, tol=tol).fit(X, y, qid=qid)
        calls[tol] = CountedLogistic.calls
        CountedLogistic.calls = 0
        assert ranker.gradient_norm_ <= tol
    assert calls[1e-3] < calls[1e-9]


class CountedLogistic(PointwiseLogistic):
    calls = 0

    def __init__(self, eta=None):
        super().__init__(eta)

    def evaluate(self, v, s, lists, weights):
        CountedLogistic.calls += 1
        return super().evaluate(v, s, lists, weights)


@pytest.mark.parametrize("offset", [1e2, 1e4])
def test_offsets_of_sparse_features_change_nothing(offset):
    rng = np.random.default_rng(0)
    D = rng.normal(size=(1000, 4))
    y = (D[:, 0] + rng.normal(size=1000) > 0).astype(float)
    D[:, 0] += offset
    dense = OrderPreservingRegressor(surrogate="pointwise_logistic", target_loss="dcg").fit(D, y)
    thin = clone(dense).fit(sparse.csr_matrix(D), y)
    np.testing.assert_allclose(thin.predict(sparse.csr_matrix(D)), dense.predict(D), atol=1e-6)


@pytest.mark.parametrize("size", [1e-12, 1e12, 1e20])
def test_utilities_of_any_size(size):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 4, 200) * size
    for name in ("pointwise_logistic", "pointwise_squared_hinge", "bregman_squared"):
        ranker = OrderPreservingRegressor(surrogate=name, target_loss="dcg").fit(X, y)
        assert np.isfinite(ranker.coef_).all()


@pytest.mark.parametrize(
    "surrogate",
    [
        PointwiseSquaredHinge(eta=9.0, t=-1.0),
        PointwiseSmoothHinge(eta=9.0, a=0.0),
        PointwiseLogistic(eta=np.inf),
        PointwiseLogistic(eta="1"),
        BregmanSurrogate(psi=np.square, link=np.abs, mu=0.0),
    ],
)
def test_parameters_of_surrogates_are_checked(surrogate):
    with pytest.raises(ValueError, match="must be a finite number > 0"):
        OrderPreservingRegressor(surrogate=surrogate).fit([[0.0], [1.0]], [0.0, 1.0])
