"""Sums over the pairs of a list: the double loop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from .internals import PairSums, RankingLists, dense_grades
from .structured_cases import parts, random_lists


def slow_pair_sums(y, s, lists, margin, w):
    sums, slopes = [], np.zeros((3, len(s)))
    for rows in parts(lists):
        z = margin - (s[rows, None] - s[None, rows])
        active = (y[rows, None] > y[None, rows]) & (z > 0)
        pair = w[rows, None] * w[None, rows] * active
        z = np.where(active, z, 0.0)
        sums.append(((pair * z).sum(), (pair * z**2).sum()))
        slopes[0, rows] = pair.sum(0) - pair.sum(1)
        slopes[1, rows] = 2.0 * ((pair * z).sum(0) - (pair * z).sum(1))
        slopes[2, rows] = 2.0 * (pair.sum(0) + pair.sum(1))
    hinges, squares = np.array(sums).T
    return {
        "hinges": hinges,
        "squares": squares,
        "hinge_slopes": slopes[0],
        "square_slopes": slopes[1],
        "square_curvatures": slopes[2],
    }


def assert_equal_to_slow(y, s, lists, margin, w, **tolerance):
    found = PairSums(dense_grades(y, lists), s, lists, margin, w)
    for name, slow in slow_pair_sums(y, s, lists, margin, w).items():
        assert_allclose(getattr(found, name), slow, **tolerance)


@pytest.mark.parametrize("margin", [1.0, 0.7, -0.3])
def test_pairs_are_those_of_the_double_loop(margin):
    rng = np.random.default_rng(0)
    for _ in range(100):
        lists, scores = random_lists(rng)
        y = rng.integers(0, rng.integers(1, 7), lists.n_rows).astype(float)
        w = rng.integers(0, 3, lists.n_rows) * rng.uniform(0.5, 1.0)
        assert_equal_to_slow(y, scores, lists, margin, w, atol=1e-9)


@pytest.mark.parametrize("n_grades", [8, 9, 70, 600])
def test_many_grades_take_several_passes(n_grades):
    rng = np.random.default_rng(1)
    lists = RankingLists([1, 300, 2, 400])
    y = rng.integers(0, n_grades, lists.n_rows) / 7.0
    assert_equal_to_slow(
        y,
        rng.normal(size=lists.n_rows),
        lists,
        1.0,
        rng.uniform(size=lists.n_rows),
        atol=1e-9,
    )


def test_scores_of_very_different_sizes_side_by_side():
    rng = np.random.default_rng(2)
    lists = RankingLists([20, 30, 25])
    scores = rng.normal(size=75) * lists.repeat(np.array([1.0, 1e9, 1.0]))
    y = rng.integers(0, 3, 75).astype(float)
    assert_equal_to_slow(y, scores, lists, 1.0, np.ones(75), rtol=1e-6, atol=1e-6)
    huge = 1e90 * rng.normal(size=75)
    assert_equal_to_slow(y, huge, lists, 1.0, np.ones(75), rtol=1e-12)


def test_no_pair_within_the_margin_is_exactly_nothing():
    grades, scores = np.array([2, 1, 0]), np.array([6.1, 3.3, -1.7])
    pairs = PairSums(grades, scores, RankingLists([3]))
    assert pairs.hinges == pairs.squares == 0.0
    assert not np.any(pairs.square_slopes)


def test_dense_grades_count_in_each_list():
    y = np.array([2.5, 0.0, 2.5, -1.0, 7.0])
    assert dense_grades(y, RankingLists([3, 2])).tolist() == [1, 0, 1, 0, 1]
