"""The quadratic program over simplices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from .internals import simplex_program


@pytest.mark.parametrize("n_groups", [1, 3])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_simplex_program_is_optimal(n_groups, scale):
    """Feasible, and no plane is above the value of its group: the primal objective is the same."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        n = int(rng.integers(n_groups, 15))
        groups = np.append(np.arange(n_groups), rng.integers(0, n_groups, n - n_groups))
        slopes, offsets = scale * rng.normal(size=(n, 4)), rng.normal(size=n)
        m, value = simplex_program(slopes, offsets, 0.3, groups)
        assert np.all(m >= 0)
        assert_allclose(np.bincount(groups, m), 1.0, rtol=1e-14)
        w = -(m @ slopes) / 0.3
        highest = [np.max((offsets + slopes @ w)[groups == g]) for g in range(n_groups)]
        assert_allclose(value, 0.15 * w @ w + np.sum(highest), rtol=1e-5, atol=1e-4)


def test_a_program_that_stops_early_is_feasible_too():
    """The value is a lower bound of the primal problem only if the sums are 1."""
    rng = np.random.default_rng(2)
    groups = np.append(np.arange(20), rng.integers(0, 20, 380))
    slopes, offsets = rng.normal(size=(400, 6)), rng.normal(size=400)
    for tol in (100.0, 1.0, 1e-2):
        m, value = simplex_program(slopes, offsets, 0.3, groups, tol=tol)
        assert np.all(m >= 0)
        assert_allclose(np.bincount(groups, m), 1.0, rtol=1e-14)
        slope = m @ slopes
        assert_allclose(value, offsets @ m - slope @ slope / 0.6)


@pytest.mark.parametrize("tol", [0.0, 1e-2])
def test_more_planes_than_features_are_solved_among_the_features(tol):
    rng = np.random.default_rng(1)
    groups = np.append(np.arange(20), rng.integers(0, 20, 380))
    slopes, offsets = rng.normal(size=(400, 6)), rng.normal(size=400)
    m, value = simplex_program(slopes, offsets, 0.3, groups, tol=tol)
    assert_allclose(np.bincount(groups, m), 1.0)
    w = -(m @ slopes) / 0.3
    assert_allclose(value, offsets @ m - 0.15 * w @ w)
    primal = 0.15 * w @ w + sum(
        np.max((offsets + slopes @ w)[groups == g]) for g in range(20)
    )
    assert value <= primal + 1e-9
    _, exact = simplex_program(slopes, offsets, 0.3, groups)
    assert exact - value <= tol + 1e-8
    if tol == 0.0:
        assert_allclose(value, primal, rtol=1e-7)


def test_offsets_below_the_rounding_of_the_products():
    """All that is left is the shortest convex combination of the slopes."""
    slopes = 1e30 * np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    m, value = simplex_program(
        slopes, np.array([0.0, 0.5, 1.0]), 1e-3, np.zeros(3, int)
    )
    assert_allclose(m, [0.2, 0.8, 0.0], atol=1e-6)
    assert_allclose(value, -0.8e60 / 2e-3, rtol=1e-6)


@pytest.mark.parametrize("noise", [1e-16, 1e-15])
def test_offsets_that_differ_by_rounding(noise):
    """The value is the offset if a mixture of the slopes is zero."""
    rng = np.random.default_rng(0)
    slopes = rng.normal(size=(12, 3))
    offsets = 1.0 + noise * rng.integers(0, 10, 12)
    value = simplex_program(slopes, offsets, 0.3, np.zeros(12, dtype=int))[1]
    assert value == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("size", [1e3, 1e5, 1e6])
def test_slopes_that_are_large_for_the_penalty(size):
    """The first three slopes cancel, so that the value is at least their mean offset."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        slopes, offsets = size * rng.normal(size=(6, 2)), rng.normal(size=6)
        slopes[2] = -slopes[0] - slopes[1]
        _, value = simplex_program(slopes, offsets, 1.0, np.zeros(6, int))
        assert value >= offsets[:3].mean() - 1e-3


@pytest.mark.parametrize("tol", [10.0, 1.0, 0.1])
def test_a_program_stops_within_its_tolerance(tol):
    """The gap that ends the steps bounds what is left: n mu, mu the mean of m z."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        groups = np.append(np.arange(20), rng.integers(0, 20, 380))
        slopes, offsets = rng.normal(size=(400, 6)), rng.normal(size=400)
        _, exact = simplex_program(slopes, offsets, 0.3, groups)
        _, value = simplex_program(slopes, offsets, 0.3, groups, tol=tol)
        assert exact - value <= tol
