"""The problem of linear scores under a surrogate: what is grouped once, features, solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank._lists import RankingLists
from lowrank_rank.order_preserving import _problem
from lowrank_rank.order_preserving._problem import Scaling, ScoreProblem
from lowrank_rank.regression._statistics import Moments
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
    return ScoreProblem.of_labels(y, RankingLists.from_qid(qid), w, DCG(), name)


# The objective ------------------------------------------------------------------------


@every_case
@pytest.mark.parametrize("rows_at_once", [1, 5, 100])
def test_prepared_in_blocks_of_lists_is_evaluate(case, rows_at_once, monkeypatch):
    monkeypatch.setattr(_problem, "_ROWS_AT_ONCE", rows_at_once)
    rng, lists = np.random.default_rng(3), RankingLists([3, 1, 9, 3, 40, 3, 9, 9, 2])
    v, w = rng.integers(0, 4, 79).astype(float), rng.uniform(0.5, 2.0, 79)
    s = rng.normal(size=79)
    at = _problem.prepare_blocks(CASES[case], v, lists, w)
    for scores in (s, 2.0 - s):
        whole = CASES[case].evaluate(v, scores, lists, w)
        for found, expected in zip(at(scores), whole, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@every_surrogate
def test_only_scores_are_grouped_at_every_step(name, monkeypatch):
    problem = shuffled_problem(name)
    scores = np.random.default_rng(1).normal(size=problem.v.shape)
    value, gradient = problem.evaluate(scores)
    grouped, group = [], RankingLists.group
    monkeypatch.setattr(RankingLists, "group", lambda *a: grouped.append(1) or group(*a))
    again = problem.evaluate(scores)
    assert len(grouped) == 1
    assert again[0] == value
    assert_array_equal(again[1], gradient)


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


@pytest.mark.filterwarnings("ignore:invalid value encountered in sqrt")  # its constant features
@pytest.mark.parametrize("offset", [0.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("n", [50, 1000, 20000])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_means_and_scales_are_those_of_standard_scaler(n, offset, form):
    """Of the rows with weight, that is: what only the others have does not make a scale."""
    X, w = features(n, offset)
    counts = w > 0
    moments = Moments.of(form(X), w)
    ours = Scaling.of(moments, True, True)
    theirs = StandardScaler().fit(X[counts], sample_weight=w[counts])
    assert_allclose(ours.mean, theirs.mean_, rtol=1e-12, atol=1e-14)
    assert_allclose(moments.deviation, theirs.scale_, rtol=1e-9)
    assert_array_equal(moments.deviation[2:], 1.0)
    if form is np.asarray:
        assert_array_equal(ours.scale, moments.deviation)


@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_sparse_and_dense_features_give_one_model(centre, standardize):
    X, w = features(200, 10.0)
    rng = np.random.default_rng(3)
    theta, by_score = rng.normal(size=(2, 6)), rng.normal(size=(200, 2))
    scaling = Scaling.of(Moments.of(X, w), standardize, centre)
    dense, thin = scaling.features(X), scaling.features(sparse.csr_matrix(X))
    assert sparse.issparse(thin.X)
    assert thin.X.nnz == np.count_nonzero(X)
    assert_allclose(thin.scores(theta), dense.scores(theta), atol=1e-11)
    assert_allclose(thin.gradient(by_score), dense.gradient(by_score), atol=1e-9)
    for each in (dense, thin):
        model = scaling.unscaled(theta)
        assert_allclose(model.predict(X), each.scores(theta), atol=1e-10)
        assert_allclose(scaling.scaled(model), theta, atol=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e6])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_as_they_come_are_the_scaled_ones(offset, kind, monkeypatch):
    monkeypatch.setattr(_problem, "_ENTRIES_AT_ONCE", 40)
    X, w = features(200, offset)
    X = X.astype(kind)
    rng = np.random.default_rng(3)
    theta, by_score = rng.normal(size=(2, 6)), rng.normal(size=(200, 2))
    scaling = Scaling.of(Moments.of(X, w), True, True)
    kept, read = scaling.features(X), scaling.as_they_come(X)
    assert read.X is X
    assert_allclose(read.scores(theta), kept.scores(theta), atol=1e-11)
    assert_allclose(read.gradient(by_score), kept.gradient(by_score), atol=1e-10)
    assert_allclose(read.scaled_rows() - read.left, kept.X, atol=1e-11)


def test_grades_beyond_the_range_are_refused():
    X, y = np.arange(8.0).reshape(4, 2), np.array([1.7, 1.6, 0.0, 1.5])
    with pytest.raises(ValueError, match=r"overflows where all scores are 0.*smaller scale"):
        OrderPreservingRegressor(target_loss="dcg").fit(X, 1e308 * y)
    large = OrderPreservingRegressor(target_loss="dcg").fit(X, 1e200 * y).bound_factor_
    assert_allclose(
        large / 1e100, OrderPreservingRegressor(target_loss="dcg").fit(X, y).bound_factor_
    )


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e4])
@pytest.mark.parametrize("unit", [1.0, 1e12])
@pytest.mark.parametrize("kept", [False, True])
def test_float32_is_multiplied_in_single_precision_where_that_will_do(offset, unit, kept):
    rng = np.random.default_rng(0)
    X = (unit * (rng.normal(size=(300, 4)) + offset)).astype(np.float32)
    scaling = Scaling.of(Moments.of(X, np.ones(300)), True, True)
    features = scaling.features if kept else scaling.as_they_come
    single, double = features(X, True), features(X, False)
    expects_single = kept or (offset < 10 and unit == 1.0)
    if kept:
        assert (single.X.dtype, double.X.dtype) == (np.float32, np.float64)
    else:
        assert (single.as_it_is, double.as_it_is) == (expects_single, False)
    theta, by_score = rng.normal(size=(2, 5)), rng.normal(size=(300, 2))
    for one, other in (
        (single.scores(theta), double.scores(theta)),
        (single.gradient(by_score), double.gradient(by_score)),
    ):
        assert one.dtype == np.float64
        assert_allclose(one, other, rtol=0, atol=3e-6 * np.abs(other).max())
        if not expects_single:
            assert_array_equal(one, other)


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
