"""Margins of precision at k, and the perceptrons' mistake bound."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank.calibration import precision_margins, precision_mistake_bound
from lowrank_rank.surrogates import precision_surrogate

from .top_cases import batch_of, path_from, random_lists, step_on


@pytest.mark.parametrize(
    ("name", "margin"), [("ramp", "weak"), ("avg", "average"), ("max", "strong")]
)
def test_zero_if_and_only_if_the_margin_is_one(name, margin):
    seen = set()
    for y, scores, k in random_lists(400, seed=8):
        if y.all():
            continue
        reached = getattr(precision_margins(y, scores, k), margin)
        for size in (0.999, 1.0, 1.001):  # on both sides of the condition, and on it
            if reached > 1e-3:
                scaled = scores * size / reached
                value, _ = precision_surrogate(y, scaled, k, surrogate=name)
                assert (value <= 1e-12) == (size >= 1)
                seen.add(size)
            else:
                value, _ = precision_surrogate(y, scores, k, surrogate=name)
                assert value > 0
    assert len(seen) == 3


def test_margins_by_definition():
    for y, scores, k in random_lists(100, seed=9):
        if y.all():
            continue
        positives, best = scores[y == 1], scores[y == 0].max()
        margins = precision_margins(y, scores, k)
        some_k = max(min(part) for part in combinations(positives, k))
        every = min(
            np.mean(part) for part in combinations(positives, len(positives) - k + 1)
        )
        assert_allclose(margins, [some_k - best, every - best, positives.min() - best])


def stream(rng, k, gamma, radius, n_batches=60, p=4):
    """Batches in a ball, on which some unit w has at least the margins gamma."""
    w = rng.normal(size=p)
    w /= np.linalg.norm(w)
    for _ in range(n_batches):
        X = rng.normal(size=(14, p))
        y = (np.arange(14) < rng.integers(k, 7)).astype(int)
        X += np.outer(np.where(y == 1, 1.0, -1.0) * rng.exponential(size=14), w)
        X *= radius * rng.random((14, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
        score = X @ w
        # Move the rows along w until they are apart, then back into the ball.
        X += np.outer(
            np.where(
                y == 1, np.maximum(gamma - score, 0), np.minimum(-gamma - score, 0)
            ),
            w,
        )
        X *= np.minimum(1.0, radius / np.linalg.norm(X, axis=1))[:, np.newaxis]
        yield X, y, w


@pytest.mark.parametrize(("name", "margin"), [("avg", "average"), ("max", "strong")])
@pytest.mark.parametrize("seed", range(4))
def test_mistake_bound_on_separable_streams(name, margin, seed):
    rng = np.random.default_rng(seed)
    k, radius = int(rng.integers(1, 4)), float(rng.choice([0.5, 1.0, 5.0]))
    batches = list(
        stream(rng, k, gamma=radius * rng.choice([0.05, 0.2, 0.5]), radius=radius)
    )
    reached = min(
        getattr(precision_margins(y, X @ w, k), margin) for X, y, w in batches
    )
    assert reached > 0
    largest = max(np.linalg.norm(X, axis=1).max() for X, _, _ in batches)
    bound = precision_mistake_bound(k, largest, 1 / reached)
    path, made = path_from(np.zeros(4), batches[0][0], k), 0.0
    for _ in range(20):
        for X, y, _ in batches:
            batch = batch_of(X, y, k)
            hits = step_on(path, batch, name, "perceptron", eta0=1.0, alpha=0.0)
            made += (1 - hits) * batch.n_places
    assert 0 < made <= bound


@pytest.mark.parametrize("name", ["avg", "max"])
@pytest.mark.parametrize("seed", range(4))
def test_mistake_bound_on_any_stream_and_any_weights(name, seed):
    rng = np.random.default_rng(100 + seed)
    k, lists = int(rng.integers(1, 4)), []
    for _ in range(100):
        X, y = (
            rng.normal(size=(15, 3)),
            (np.arange(15) < rng.integers(k, 8)).astype(int),
        )
        X[:, 0] += y * rng.choice([0.5, 2.0])
        lists.append((X, y))
    largest = max(np.linalg.norm(X, axis=1).max() for X, _ in lists)
    path, made = path_from(np.zeros(3), lists[0][0], k), 0.0
    for X, y in lists:
        batch = batch_of(X, y, k)
        hits = step_on(path, batch, name, "perceptron", eta0=1.0, alpha=0.0)
        made += (1 - hits) * batch.n_places
    for scale in (0.0, 0.3, 1.0, 3.0):
        w = scale * np.array([1.0, 0.0, 0.0])
        surrogate = sum(
            precision_surrogate(y, X @ w, k, surrogate=name)[0] for X, y in lists
        )
        assert (
            made
            <= precision_mistake_bound(k, largest, np.linalg.norm(w), surrogate) + 1e-9
        )


def test_mistake_bound_values():
    assert_allclose(precision_mistake_bound(3, radius=2.0, norm=0.5), 4 * 3 * 4 * 0.25)
    assert_allclose(precision_mistake_bound(1, 1.0, 1.0, surrogate_loss=4.0), 16.0)
    with pytest.raises(ValueError, match="surrogate_loss must be a finite number >= 0"):
        precision_mistake_bound(1, 1.0, 1.0, surrogate_loss=-1.0)
