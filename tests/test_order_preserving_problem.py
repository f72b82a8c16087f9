"""The problem of linear scores under a surrogate: what is grouped once, features, solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank._lists import RankingLists
from lowrank_rank.order_preserving._problem import (
    ScoreProblem,
    Summary,
    encode,
    prepare_blocks,
)
from lowrank_rank.surrogates import SURROGATES
from lowrank_rank.target_losses import DCG

from .surrogate_cases import CASES

every_case = pytest.mark.parametrize("case", CASES)
every_surrogate = pytest.mark.parametrize("name", SURROGATES)


def shuffled_problem(name, n_lists=8, seed=0):
    """Documents of lists whose rows are anywhere, some of them without weight."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_lists), 5))
    y, w = rng.integers(0, 4, len(qid)).astype(float), rng.uniform(0.5, 2.0, len(qid))
    w[qid == 3] = 0.0
    w[::7] = 0.0
    rows = encode(np.ones((len(y), 1)), y, RankingLists.from_qid(qid), w, DCG())
    return ScoreProblem.of(rows, None, *Summary.of(rows).objective(name))


# The objective ------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("rows_at_once", [1, 5, 100])
def test_prepared_in_blocks_of_lists_is_evaluate(case, rows_at_once):
    rng, lists = np.random.default_rng(3), RankingLists([3, 1, 9, 3, 40, 3, 9, 9, 2])
    v, w = rng.integers(0, 4, 79).astype(float), rng.uniform(0.5, 2.0, 79)
    s = rng.normal(size=79)
    at = prepare_blocks(CASES[case], v, lists, w, rows_at_once)
    for scores in (s, 2.0 - s):
        whole = CASES[case].evaluate(v, scores, lists, w)
        for found, expected in zip(at(scores), whole, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@every_surrogate
def test_gradient_of_the_mean(name):
    problem, rng = shuffled_problem(name), np.random.default_rng(2)
    scores, step = rng.normal(size=problem.v.shape), 1e-6 * rng.normal(size=problem.v.shape)
    gradient = problem.evaluate(scores)[1]
    ahead, behind = (problem.evaluate(scores + x)[0] for x in (step, -step))
    assert_allclose((ahead - behind) / 2, (gradient * step).sum(), rtol=1e-5, atol=1e-12)
    assert_array_equal(gradient[problem.weights == 0], 0.0)


# Features -----------------------------------------------------------------------------


def features(n, offset, seed=0):
    """Dense, half empty, constant, all zero, and one that rows without weight alone do not have."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 0] += offset
    X[rng.uniform(size=n) < 0.7, 1] = 0.0
    X[:, 2] = 7.3 + offset
    X[:, 3] = 0.0
    X[:, 4] = 3.3 + offset
    w = rng.uniform(0.1, 3.0, n)
    w[:3] = w[::5] = 0.0
    X[:3, 4] = 0.0
    return X, w


@pytest.mark.parametrize("settings", [{}, {"fit_intercept": False}, {"standardize": False}])
@pytest.mark.parametrize("surrogate", ["cross_entropy", "pointwise_squared", "ranksvm"])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_sparse_and_dense_features_of_documents_give_one_model(settings, surrogate, offset):
    X, w = features(200, offset)
    y, qid = np.random.default_rng(3).integers(0, 4, 200), np.arange(200) // 8
    tol = 1e-11 if settings.get("standardize", True) else 1e-9
    dense, thin = (
        OrderPreservingRegressor(target_loss="dcg", surrogate=surrogate, tol=tol, **settings).fit(
            form(X), y, qid=qid, sample_weight=w
        )
        for form in (np.asarray, sparse.csr_matrix)
    )
    size = np.abs(dense.coef_).max()
    assert_allclose(thin.coef_, dense.coef_, rtol=0, atol=1e-6 * size)


def test_grades_beyond_the_range_are_refused():
    X, y = np.arange(8.0).reshape(4, 2), np.array([1.7, 1.6, 0.0, 1.5])
    with pytest.raises(ValueError, match=r"overflows if all scores are 0.*smaller scale"):
        OrderPreservingRegressor(target_loss="dcg").fit(X, 1e308 * y)
    large = OrderPreservingRegressor(target_loss="dcg").fit(X, 1e200 * y).bound_factor_
    assert_allclose(
        large / 1e100, OrderPreservingRegressor(target_loss="dcg").fit(X, y).bound_factor_
    )


@pytest.mark.parametrize("how", ["fit", "fit_blocks"])
@pytest.mark.parametrize("tol", [1e-5, 1e-10])
def test_float32_ends_where_float64_does(how, tol):
    """With as many features as rows, whose last digits single precision does not tell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 70)).astype(np.float32)
    y, qid = rng.integers(0, 4, 80).astype(float), np.arange(80) // 8
    single, double = (OrderPreservingRegressor(alpha=1e-3, tol=tol) for _ in range(2))
    if how == "fit":
        single.fit(X, y, qid=qid)
    else:
        halves = [(X[here], y[here], qid[here]) for here in (slice(0, 40), slice(40, 80))]
        single.fit_blocks(halves)
    double.fit(X.astype(np.float64), y, qid=qid)
    assert single.gradient_norm_ <= tol
    assert_allclose(single.coef_, double.coef_, rtol=0, atol=1e3 * tol)
