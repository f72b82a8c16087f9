"""The low-rank bilinear term."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_duels, make_ranking
from lowrank_rank.preferences import _skew
from lowrank_rank.preferences._pairs import pair_factors, pairs_within
from lowrank_rank.preferences._skew import _Problem
from lowrank_rank.target_losses import PairwiseDisagreement


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_blocks_of_lists_add_up_to_all_rows(monkeypatch, kind):
    """Rows in any order, one block for each list or two: the objective and its slopes."""
    rng = np.random.default_rng(0)
    lists = RankingLists.from_qid(rng.integers(0, 5, 40))
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    factors = pair_factors(lists, np.ones(40), "rows")
    loss = PairwiseDisagreement()
    pairs = pairs_within(lists, y, rng.uniform(size=40), loss, factors, None, None)
    theta, start = rng.normal(size=15), rng.normal(size=(5, 3))
    whole = _Problem(X, X.mean(axis=0), pairs, 0.3)
    value, gradient = whole.value_and_gradient(theta)
    monkeypatch.setattr(_skew, "_ENTRIES_AT_ONCE", 1)
    for n_rows in (1, 15):
        monkeypatch.setattr(_skew, "_ROWS_AT_ONCE", n_rows)
        cut = _Problem(kind(X), X.mean(axis=0), pairs, 0.3, lists)
        assert len(cut.blocks) == (5 if n_rows == 1 else 3)
        found = cut.value_and_gradient(theta)
        np.testing.assert_allclose(found[0], value, rtol=1e-12)
        np.testing.assert_allclose(found[1], gradient, atol=1e-12 * np.abs(gradient).max())
        np.testing.assert_allclose(cut.stretch(start), whole.stretch(start), rtol=1e-12)
        steps = [problem._best_step(start[0], start) for problem in (whole, cut)]
        np.testing.assert_allclose(*steps, rtol=1e-12)


def test_gradient_of_the_bilinear_objective():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    i, j = np.triu_indices(20, 1)
    pairs = SimpleNamespace(
        first=i, second=j, targets=rng.normal(size=len(i)), weights=rng.uniform(size=len(i))
    )
    problem = _Problem(X, X.mean(axis=0), pairs, 0.7)
    theta = rng.normal(size=5 * 4)
    value, gradient = problem.value_and_gradient(theta)
    error = check_grad(
        lambda t: problem.value_and_gradient(t)[0],
        lambda t: problem.value_and_gradient(t)[1],
        theta,
    )
    assert error < 1e-5 * np.linalg.norm(gradient)
    w, p, q = theta[:4], theta[4:12].reshape(2, 4), theta[12:].reshape(2, 4)
    A, Z = p.T @ q - q.T @ p, X - X.mean(axis=0)
    g = (Z[i] - Z[j]) @ w + np.einsum("ma,ab,mb->m", Z[i], A, Z[j])
    by_hand = pairs.weights @ (g - pairs.targets) ** 2 + 0.7 * (w @ w + (A**2).sum() / 2.0)
    assert value == pytest.approx(by_hand)


def test_full_rank_bilinear_model_is_ridge_on_products():
    """With enough planes the factors reach the minimum of the convex problem."""
    data = make_duels(300, n_features=4, cyclic=0.7, random_state=0)
    X, y, qid = data.data, data.target, data.qid
    ranker = PairwiseDAGRanker(alpha=0.1, pair_features="bilinear", n_components=2, tol=1e-12)
    ranker.fit(X, y, qid=qid)
    Z = X - X.mean(axis=0)
    a, b = np.arange(0, 600, 2), np.arange(1, 600, 2)
    i, j = np.triu_indices(4, 1)
    Z /= X.std(axis=0)
    features = np.hstack([Z[a] - Z[b], Z[a][:, i] * Z[b][:, j] - Z[a][:, j] * Z[b][:, i]])
    by_hand = Ridge(alpha=0.1 * len(X), fit_intercept=False)
    by_hand.fit(features, np.sign(y[a] - y[b]), sample_weight=np.full(300, 0.5))
    A = ranker.components_[0].T @ ranker.components_[1]
    A = A - A.T
    scale = X.std(axis=0)
    np.testing.assert_allclose(ranker.coef_ * scale, by_hand.coef_[:4], atol=1e-6)
    np.testing.assert_allclose(scale[i] * A[i, j] * scale[j], by_hand.coef_[4:], atol=1e-6)


def test_many_features_start_from_singular_vectors():
    data = make_duels(400, n_features=30, cyclic=1.0, noise=0.1, random_state=0)
    ranker = PairwiseDAGRanker(pair_features="bilinear", n_components=1)
    ranker.fit(data.data, data.target, qid=data.qid)
    A = ranker.components_[0].T @ ranker.components_[1]
    A = A - A.T
    assert np.corrcoef(A.ravel(), data.interaction.ravel())[0, 1] > 0.7


def test_many_sparse_features_make_no_square_matrix():
    rng = np.random.default_rng(0)
    X = sparse.random(60, 20_000, 0.002, format="csr", random_state=0)
    y, qid = rng.integers(0, 2, 60), np.repeat(np.arange(20), 3)
    tracemalloc.start()
    ranker = PairwiseDAGRanker(pair_features="bilinear", max_iter=3)
    with pytest.warns(ConvergenceWarning):
        ranker.fit(X, y, qid=qid)
    ranker.predict(X, qid=qid)
    trees = PairwiseDAGRanker(estimator=Ridge(), pair_features="concatenation").fit(X, y, qid=qid)
    trees.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6  # a square matrix has 3.2 GB


def test_default_tolerance_is_near_the_minimum():
    X, y, qid = make_ranking(60, 6, n_features=8, random_state=0)
    loose, tight = (
        PairwiseDAGRanker(pair_features="bilinear", **tol).fit(X, y, qid=qid)
        for tol in ({}, {"tol": 1e-12})
    )
    assert loose.n_iter_ < tight.n_iter_
    ours, best = (ranker.predict_preferences(X, qid=qid) for ranker in (loose, tight))
    error = np.concatenate([(a - b).ravel() for a, b in zip(ours, best, strict=True)])
    assert np.abs(error).max() < 0.01 * max(np.abs(table).max() for table in best)


def test_preferences_that_overflow_are_refused():
    X, y = np.arange(4.0)[:, np.newaxis], np.array([0.0, 1.0, 3.0, 2.0]) * 1e306
    ranker = PairwiseDAGRanker(
        target_loss=PairwiseDisagreement(weights="difference"), pair_features="bilinear"
    )
    with pytest.raises(ValueError, match="divide the grades"):
        ranker.fit(X, y, qid=np.zeros(4))
