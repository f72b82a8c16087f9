"""Margins of precision at k, and the perceptrons' mistake bound."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank.calibration import precision_margins
from lowrank_rank.surrogates import precision_surrogate

from .top_cases import batch_of, path_from, random_lists, step_on


@pytest.mark.parametrize(
    ("name", "margin"), [("ramp", "weak"), ("avg", "average"), ("max", "strong")]
)
def test_zero_if_and_only_if_the_margin_is_one(name, margin, seed):
    seen = set()
    for y, scores, k in random_lists(400, seed=seed):
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


def test_margins_by_definition(seed):
    for y, scores, k in random_lists(100, seed=seed):
        if y.all():
            continue
        positives, best = scores[y == 1], scores[y == 0].max()
        margins = precision_margins(y, scores, k)
        some_k = max(min(part) for part in combinations(positives, k))
        every = min(
            np.mean(part) for part in combinations(positives, len(positives) - k + 1)
        )
        found = [margins.weak, margins.average, margins.strong]
        assert_allclose(found, [some_k - best, every - best, positives.min() - best])


def margins_of(batches, k):
    """Return the margins of batches of labels and scores."""
    qid = np.repeat(np.arange(len(batches)), [len(y) for y, _ in batches])
    y, scores = (np.concatenate(one) for one in zip(*batches, strict=True))
    return precision_margins(y, scores, k, qid=qid)


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
    margins = margins_of([(y, X @ w) for X, y, w in batches], k)
    assert_allclose(getattr(margins, margin), reached)
    bound = margins.mistake_bound(largest, 1.0, surrogate=name)
    # Corollaries 8 and 10: 4 k (R / gamma)^2 for weights of norm 1.
    assert bound <= 4 * k * (largest / reached) ** 2
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
        margins = margins_of([(y, X @ w) for X, y in lists], k)
        assert_allclose(margins.surrogates[name], surrogate)
        bound = margins.mistake_bound(largest, scale, surrogate=name)
        assert made <= bound + 1e-9
        # Theorems 7 and 9.
        theorem = (scale * largest * np.sqrt(4 * k) + np.sqrt(surrogate)) ** 2
        assert bound <= theorem * (1 + 1e-12)


def test_mistake_bound_values():
    apart = precision_margins([1, 1, 1, 0], [4.0, 3.0, 2.0, 0.0], k=3)
    # 4 * 3 * (0.5 * 2 / 2)^2, where the theorem has 4 * 3 * (0.5 * 2)^2
    assert_allclose(apart.mistake_bound(radius=2.0, norm=0.5), 3.0)
    mixed = precision_margins([1, 0], [0.0, 3.0], k=1)
    assert mixed.surrogates == {"avg": 4.0, "max": 4.0}
    for name in ("avg", "max"):  # (1 * 1 * 2 + 2)^2
        assert_allclose(mixed.mistake_bound(1.0, 1.0, surrogate=name), 16.0)
    with pytest.raises(ValueError, match="radius must be a finite number >= 0"):
        mixed.mistake_bound(-1.0, 1.0)
    with pytest.raises(ValueError, match="surrogate must be"):
        mixed.mistake_bound(1.0, 1.0, surrogate="ramp")


def test_batches_in_any_order_have_the_smallest_margins():
    lists = [
        one for one in random_lists(60, seed=10) if one[2] == 2 and not one[0].all()
    ]
    assert len(lists) > 3
    parts = [precision_margins(y, scores, k) for y, scores, k in lists]
    qid = np.concatenate([[f"b{i}"] * len(y) for i, (y, _, _) in enumerate(lists)])
    y, scores = (np.concatenate([one[i] for one in lists]) for i in (0, 1))
    order = np.random.default_rng(0).permutation(len(y))
    whole = precision_margins(y[order], scores[order], 2, qid=qid[order])
    for margin in ("weak", "average", "strong"):
        assert getattr(whole, margin) == min(getattr(one, margin) for one in parts)
    for name in ("avg", "max"):
        expected = sum(one.surrogates[name] for one in parts)
        assert_allclose(whole.surrogates[name], expected)
