"""Sums over dense rows: the same whether rows are centred before or after they are multiplied."""

import numpy as np
import pytest

from lowrank_rank.regression import _rows, _statistics
from lowrank_rank.regression._statistics import Groups, RidgeStatistics


@pytest.fixture(autouse=True)
def few_rows_at_once(monkeypatch):
    """Blocks of 40 rows, and a look at the first 40."""
    monkeypatch.setattr(_rows, "_ROWS_OF_PROBE", 40)
    monkeypatch.setattr(_statistics, "_ROWS_AT_ONCE", 40)
    monkeypatch.setattr(_statistics, "_BYTES_CENTRED", 1)
    monkeypatch.setattr(_statistics, "_BYTES_AS_THEY_ARE", 1)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("start", [0, 30, 40, 130, 200])
def test_levels_that_cancel_are_centred_first(start, weighted, dtype, monkeypatch):
    """From wherever on rows stand far from zero, in all lists alike or not."""
    rng = np.random.default_rng(0)
    codes, level = np.repeat(np.arange(20), 10), 1e7 if dtype == np.float64 else 1e3
    X = rng.normal(size=(200, 4))
    X[start:, 1] += level
    X[start:, 2] += level * codes[start:]
    X[start:, 3] = level * codes[start:]  # constant in each list
    X, t = X.astype(dtype), rng.normal(size=(200, 1))
    weights = rng.uniform(0, 2, 200) if weighted else np.ones(200)
    centred, add = [], _rows.DenseSums._add_centred
    monkeypatch.setattr(
        _rows.DenseSums, "_add_centred", lambda *a: centred.append(len(a[1])) or add(*a)
    )
    found = RidgeStatistics.of_batch(X, t, weights, codes)
    blocks_before = start // 40 if start >= 40 else 0  # the look at the first rows decides for all
    assert sum(centred) == 200 - 40 * blocks_before
    groups, root = Groups(codes, weights), np.sqrt(weights)[:, np.newaxis]
    x = root * groups.centre(X.astype(np.float64))
    size = np.linalg.norm(x, axis=0)
    size[3] = size[3] if start else 1.0
    x, atol = x / size, 1e-12 + 1e-15 * level if dtype == np.float64 else 1e-5
    scaled = found.gram[0] / size / size[:, np.newaxis]
    np.testing.assert_allclose(scaled, x.T @ x, rtol=0, atol=atol)
    right = root * groups.centre(t)
    np.testing.assert_allclose(
        found.cross / size[:, np.newaxis], x.T @ right, rtol=0, atol=atol * np.linalg.norm(right)
    )
    if not start:
        assert not found.gram[0][3].any()
        assert not found.cross[3].any()


@pytest.mark.parametrize("codes", [None, np.repeat([0, 1, 2, 3], [1, 150, 9, 40])])
def test_rows_as_they_are_lose_no_digit(codes, monkeypatch):
    """Features near zero: as exact as if they were centred first, however groups are cut."""
    rng = np.random.default_rng(1)
    X, t, weights = rng.normal(size=(200, 5)), rng.normal(size=(200, 2)), rng.uniform(0, 2, 200)
    weights[40:60] = 0.0
    found = RidgeStatistics.of_batch(X, t, weights, codes)
    monkeypatch.setattr(_statistics, "is_near_zero", lambda *a: False)
    centred = RidgeStatistics.of_batch(X, t, weights, codes)
    for name in ("gram", "cross", "x_mean", "t_mean"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(centred, name), rtol=0, atol=2e-13, err_msg=name
        )
    np.testing.assert_allclose(found.features.mean, centred.features.mean, rtol=0, atol=1e-14)
    np.testing.assert_allclose(found.features.squares, centred.features.squares, rtol=1e-13)


@pytest.mark.parametrize("level", [0.0, 100.0])
@pytest.mark.parametrize("size", [1e-30, 1e-22, 1e20, 1e30])
def test_squares_beyond_single_precision_are_of_double(size, level):
    """Of features of float32: their products over- or underflow, also if one of them does."""
    rng = np.random.default_rng(0)
    X = (size * (level + rng.normal(size=(200, 3)))).astype(np.float32)
    X[:, 1], X[:, 2] = rng.normal(size=200), 0.0
    t, codes = rng.normal(size=(200, 1)), np.repeat(np.arange(5), 40)
    found = RidgeStatistics.of_batch(X, t, np.ones(200), codes)
    wide = RidgeStatistics.of_batch(X.astype(np.float64), t, np.ones(200), codes)
    np.testing.assert_array_equal(found.gram, wide.gram)
    np.testing.assert_array_equal(found.cross, wide.cross)
    assert found.gram[0, 0, 0] > 0
