"""The ridge solver by itself: optimality, the transpose of the operator, sums of batches."""

import numpy as np
import pytest
from scipy import sparse

from lowrank_rank import LowRankSurrogateRanker

from .internals import (
    Data,
    Encoding,
    SecondMoments,
    fit_lsqr,
    group_means,
    linear_scores,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(50, 4)) + 3.0, rng.normal(size=(50, 2))
    return X, targets, rng.uniform(0, 2, 50), rng.integers(0, 7, 50)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("grouped", [True, False])
def test_gradient_vanishes(problem, kind, grouped):
    X, targets, weights, codes = problem
    codes = codes if grouped else None
    moments = SecondMoments.of(kind(X), targets, weights, codes)
    penalty = 0.1 * weights.sum() * moments.features.scale**2
    exact, _ = moments.solve(0.1 * weights.sum(), moments.features.scale)
    rows, encoding = (
        Data(kind(X), targets, None, weights),
        Encoding("items", targets, codes),
    )
    iterated = fit_lsqr(rows, encoding, 0.1, tol=1e-10, max_iter=None).coef.T
    if codes is None:
        codes = np.zeros(50, dtype=int)
    centred_x = X - group_means(X, codes, weights)[codes]
    centred_t = targets - group_means(targets, codes, weights)[codes]
    for coef in (exact, iterated):
        residual = centred_t - centred_x @ coef
        gradient = penalty[:, None] * coef - centred_x.T @ (weights[:, None] * residual)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-7)


@pytest.mark.parametrize("n_outputs", [1, 7, 8, 190, 1100])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray])
def test_equal_rows_have_equal_scores_wherever_they_stand(n_outputs, layout):
    rng = np.random.default_rng(0)
    X, coef = rng.normal(size=(500, 33)), rng.normal(size=(n_outputs, 33))
    places = rng.choice(500, 150, replace=False)
    X[places] = X[0]
    scores = linear_scores(layout(X), coef, np.zeros(n_outputs))
    alone = linear_scores(X[:1], coef, np.zeros(n_outputs))
    np.testing.assert_array_equal(scores[places], np.repeat(alone, 150, axis=0))
    np.testing.assert_allclose(scores, X @ coef.T, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("n_features", "kind", "solver"),
    [
        (1000, np.asarray, "gram"),
        (1001, np.asarray, "lsqr"),
        (500, sparse.csr_matrix, "gram"),
        (501, sparse.csr_matrix, "lsqr"),
    ],
)
def test_the_solver_of_auto_depends_on_the_number_of_features(n_features, kind, solver):
    X = np.zeros((4, n_features))
    X[:, :4] = np.eye(4)
    ranker = LowRankSurrogateRanker().fit(kind(X), [0, 1, 2, 3])
    assert ranker.solver_ == solver


def test_wide_features_are_scored_as_by_their_sums():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(2000, 1100))
    X = Z @ rng.normal(size=(1100, 1100)) / 33.0 + 2.0 * rng.normal(size=(2000, 1))
    y = (Z[:, :5].sum(axis=1) + 3.0 * rng.normal(size=2000) > 3.0) * 1.0
    qid = np.arange(2000) // 20
    fitted = LowRankSurrogateRanker().fit(X, y, qid=qid)
    summed = LowRankSurrogateRanker().fit_blocks([(X, y, qid)])
    assert (fitted.solver_, summed.solver_) == ("lsqr", "gram")
    assert fitted.alpha_ == summed.alpha_
    scores = summed.predict(X)
    np.testing.assert_allclose(
        fitted.predict(X), scores, rtol=0.0, atol=1e-4 * scores.std()
    )


@pytest.mark.parametrize(("n_items", "solver"), [(16, "gram"), (17, "lsqr")])
def test_with_missing_labels_each_item_needs_a_matrix(n_items, solver):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 1000)), rng.integers(0, 3, (20, n_items)).astype(float)
    y[3, 2] = np.nan
    assert (
        LowRankSurrogateRanker(target_loss="dcg", estimator="ridge").fit(X, y).solver_
        == solver
    )


@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_float32_is_kept_and_predicts_as_float64(alpha):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(3000, 20)) + 5.0).astype(np.float32)
    y, qid = rng.integers(0, 4, 3000), np.repeat(np.arange(300), 10)
    single = LowRankSurrogateRanker(alpha=alpha).fit(X, y, qid=qid)
    double = LowRankSurrogateRanker(alpha=alpha).fit(X.astype(float), y, qid=qid)
    assert single.coef_.dtype == np.float64
    np.testing.assert_allclose(
        single.predict(X), double.predict(X), rtol=1e-5, atol=1e-5
    )
