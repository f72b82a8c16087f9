"""Batches: steps, hits and tangents, of one list and of several."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lowrank_rank.surrogates import precision_surrogate

from .internals import Batch
from .top_cases import (
    STEPS,
    batch_of,
    make_list,
    objective,
    perceptron_by_definition,
    rule,
)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_step_is_the_objective_and_its_subgradient(name, perceptron, kind):
    rng = np.random.default_rng(0)
    for _ in range(50):
        X, y = make_list(rng)
        w, k = rng.normal(size=3), int(rng.integers(1, y.sum() + 1))
        value, direction, _ = batch_of(kind(X), y, k).step(w, *rule(name, perceptron))
        if perceptron:
            expected = -X.T @ perceptron_by_definition(y, X @ w, k, surrogate=name)
        else:
            slope = precision_surrogate(y, X @ w, k, surrogate=name)[1]
            expected = X.T @ slope / min(k, (y == 0).sum())
            assert_allclose(value, objective(w, X, y, k, name, penalty=0.0), atol=1e-12)
        assert_allclose(direction, expected, atol=1e-12)


@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_mirrored_batch_is_the_mirrored_problem(name, perceptron):
    rng = np.random.default_rng(1)
    for _ in range(30):
        X, y = make_list(rng)
        w, k = rng.normal(size=3), int(rng.integers(1, (y == 0).sum() + 1))
        _, direction, hits_of_step = batch_of(X, y, k, mirrored=True).step(
            w, *rule(name, perceptron)
        )
        _, plain_direction, plain_hits = batch_of(-X, 1 - y, k).step(
            w, *rule(name, perceptron)
        )
        assert hits_of_step == plain_hits
        assert_allclose(direction, plain_direction, atol=1e-12)


def test_recall_of_a_long_top_is_precision_of_the_mirrored_list():
    rng = np.random.default_rng(2)
    X, y = make_list(rng, n=30)
    w, n_positives = rng.normal(size=3), y.sum()
    for k in range(n_positives + 1, 30):
        found = y[np.argsort(-X @ w)[:k]].sum()
        batch = batch_of(X, y, 30 - k, mirrored=True)
        missed = (1 - batch.step(w, *rule("ramp"))[2]) * batch.n_places
        assert_allclose(missed, n_positives - found)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_batch_of_lists_sums_their_steps(name, perceptron, kind):
    rng = np.random.default_rng(4)
    n_above, n_below = np.array([1, 2, 5, 30, 3]), np.array([4, 1, 3, 40, 3])
    k, mirrored = np.array([1, 2, 3, 7, 3]), np.array([False, True, False, True, False])
    X, w = rng.normal(size=(np.sum(n_above + n_below), 4)), rng.normal(size=4)
    expected, hits, first = np.zeros(4), 0.0, 0
    for n, m, places, turned in zip(n_above, n_below, k, mirrored, strict=True):
        rows = X[first : first + n + m]
        y = (np.arange(n + m) < n) != turned
        _, direction, hits_of_step = batch_of(
            rows, y.astype(int), places, mirrored=bool(turned)
        ).step(w, *rule(name, perceptron))
        expected += direction
        hits, first = hits + hits_of_step, first + n + m
    batch = Batch(kind(X), n_above, n_below, k, mirrored)
    _, direction, hits_of_step = batch.step(w, *rule(name, perceptron))
    assert_allclose(direction, expected, atol=1e-12)
    assert_allclose(hits_of_step, hits)
