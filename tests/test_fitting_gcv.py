"""alpha="gcv": generalised cross-validation against its definition by the hat matrix."""

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    merge,
)

GRID = np.logspace(-4, 4, 65)


def items(n=60, p=8, r=4, noise=3.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * np.arange(1, p + 1) + 5.0
    return X, X @ rng.normal(size=(p, r)) / p + noise * rng.normal(size=(n, r)) + 20.0


def by_hat_matrix(X, targets, weights):
    """The error N RSS / (N - df)^2 of each alpha, from a fit to the rows of each target.

    df is the sum of the traces of the hat matrices.
    """
    n = weights.sum()
    mean = np.average(X, axis=0, weights=weights)
    Z = (X - mean) / np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    Z = np.column_stack([np.ones(len(X)), Z])
    errors = []
    for alpha in GRID:
        penalty = n * alpha * np.diag([0.0] + [1.0] * X.shape[1])
        n_known = df = rss = 0.0
        for target in targets.T:
            is_known = ~np.isnan(target)
            A = Z[is_known]
            w = weights[is_known]
            t = target[is_known]
            H = A @ np.linalg.solve(A.T @ (w[:, np.newaxis] * A) + penalty, A.T * w)
            n_known += w.sum()
            df += np.trace(H)
            rss += w @ (t - H @ t) ** 2
        errors.append(n_known * rss / (n_known - df) ** 2)
    return np.array(errors)


def hidden(y, share, seed=0):
    """Grades with a share of unknown ones."""
    is_unknown = np.random.default_rng(seed).random(y.shape) < share
    return np.where(is_unknown, np.nan, y)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.1, 3.0, 30.0])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_it_is_the_minimum_of_its_definition(seed, noise, share):
    X, y = items(noise=noise, seed=seed)
    y = hidden(np.maximum(y, 0.0), share, seed)
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    found = ranker.fit(X, y, sample_weight=weights)
    best = GRID[np.argmin(by_hat_matrix(X, y, weights))]
    assert_allclose(found.alpha_, best, rtol=1e-12)
    same = clone(ranker).set_params(alpha=found.alpha_).fit(X, y, sample_weight=weights)
    assert_allclose(found.coef_, same.coef_, rtol=1e-12)


def test_coefficients_with_gaps_are_those_of_each_item_alone():
    """Brute force: refit each item for each alpha, choose by the formula."""
    X, y = items(n=90, noise=10.0, seed=3)
    y = hidden(np.maximum(y, 0.0), 0.5)
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    found = ranker.fit(X, y)
    alpha = GRID[np.argmin(by_hat_matrix(X, y, np.ones(len(X))))]
    for j, target in enumerate(y.T):
        known = ~np.isnan(target)
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        A = Z[known] - Z[known].mean(axis=0)
        t = target[known] - target[known].mean()
        penalty = len(X) * alpha * np.eye(X.shape[1])
        coef = np.linalg.solve(A.T @ A + penalty, A.T @ t) / X.std(axis=0)
        assert_allclose(found.coef_[j], coef, rtol=1e-10)


def test_more_noise_wants_a_larger_penalty():
    small, large = (
        LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
        .fit(X, np.maximum(y, 0.0))
        .alpha_
        for X, y in (items(noise=noise) for noise in (0.1, 30.0))
    )
    assert small < 0.01 < 0.3 < large


@pytest.mark.parametrize("share", [0.0, 0.4])
def test_weights_blocks_and_merged_models_count_rows(share):
    X, y = items()
    y = hidden(np.maximum(y, 0.0), share)
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    whole = clone(ranker).fit(X, y)
    halves = [(X[:20], y[:20], None), (X[20:], y[20:], None)]
    parts = [clone(ranker).partial_fit(*half[:2]) for half in halves]
    batches = clone(ranker)
    for part, labels, _ in halves:
        batches.partial_fit(part, labels)
    for model in (clone(ranker).fit_blocks(halves), merge(parts), batches):
        assert_allclose(model.alpha_, whole.alpha_, rtol=1e-12)
        assert_allclose(model.coef_, whole.coef_, rtol=1e-9)
    twice = clone(ranker).fit(np.vstack([X, X]), np.vstack([y, y]))
    weighted = clone(ranker).fit(X, y, sample_weight=np.full(len(X), 2.0))
    assert_allclose(weighted.coef_, twice.coef_, rtol=1e-9)
    assert weighted.alpha_ == twice.alpha_


def test_a_fit_to_gaps_holds_one_matrix_at_a_time_and_saves_none():
    """A matrix has 60**2 numbers of 8 bytes, and there are 30 items."""
    X, y = items(n=200, p=60, r=30)
    y = hidden(np.maximum(y, 0.0), 0.4)
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    n_bytes = 8 * 60**2
    tracemalloc.start()
    whole = clone(ranker).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20 * n_bytes
    assert len(pickle.dumps(whole)) < 3 * n_bytes
    batches = clone(ranker).partial_fit(X, y)  # keeps all matrices
    assert len(pickle.dumps(batches)) > 30 * n_bytes
    assert batches.alpha_ == whole.alpha_
    assert_allclose(batches.coef_, whole.coef_, rtol=1e-9)
    for call in (lambda: whole.partial_fit(X, y), lambda: merge([whole])):
        with pytest.raises(ValueError, match="labels with gaps"):
            call()


def test_classes_sets_and_pairs_of_items_have_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    classes = (X[:, 0] + rng.normal(size=120) > 0).astype(int)
    sets = (X[:, :3] + rng.normal(size=(120, 3)) > 0).astype(int)
    for model, y in (
        (LowRankSurrogateClassifier(estimator="ridge", alpha="gcv"), classes),
        (LowRankSurrogateMultilabelClassifier(estimator="ridge", alpha="gcv"), sets),
        (PairwiseDAGRanker(estimator="ridge", alpha="gcv"), np.abs(X[:, :3])),
    ):
        assert model.fit(X, y).alpha_ in GRID


def test_a_complete_block_beside_blocks_with_gaps():
    """One matrix for all items adds up with a matrix for each of them."""
    X, y = items(n=90)
    y = np.maximum(y, 0.0)
    y[30:] = hidden(y[30:], 0.4)
    y[60:, 2] = np.nan
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    whole = clone(ranker).fit(X, y)
    blocks = [(X[i : i + 30], y[i : i + 30], None) for i in (0, 30, 60)]
    found = clone(ranker).fit_blocks(blocks)
    assert found.alpha_ == whole.alpha_
    assert_allclose(found.coef_, whole.coef_, rtol=1e-9)


def test_sets_with_unknown_labels_have_it():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = hidden((X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(float), 0.4)
    settings = {"target_loss": "hamming", "estimator": "ridge", "alpha": "gcv"}
    model = LowRankSurrogateMultilabelClassifier(**settings).fit(X, y)
    best = np.argmin(by_hat_matrix(X, y, np.ones(len(X))))
    assert_allclose(model.alpha_, GRID[best], rtol=1e-12)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LowRankSurrogateRanker(alpha="gcv"), "documents"),
        (LowRankSurrogateRanker(alpha="gcv"), "items"),
        (LowRankSurrogateClassifier(alpha="gcv"), "classes"),
        (LowRankSurrogateMultilabelClassifier(alpha="gcv"), "sets"),
    ],
)
def test_elsewhere_it_is_refused_by_a_sentence(model, y):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    grades = rng.integers(0, 2, (30, 3)).astype(float)
    y = {
        "documents": grades[:, 0],
        "items": grades,
        "classes": grades[:, 0],
        "sets": grades,
    }[y]
    with pytest.raises(ValueError, match="alpha='gcv' is for ridge regression"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")


def test_weights_that_sum_to_one_are_refused():
    X, y = items()
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge", alpha="gcv")
    with pytest.raises(ValueError, match="more than one sample"):
        ranker.fit(X, np.maximum(y, 0.0), sample_weight=np.full(len(X), 1.0 / len(X)))
