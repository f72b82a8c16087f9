"""The hinge of NDCG: enumeration of all orders, and the assignment problem."""

import itertools
from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment
from scipy.stats import rankdata

from lowrank_rank.surrogates import structured_hinge

from .structured_cases import random_queries, slices_of


@lru_cache(maxsize=8)
def permutations(r):
    return np.array(list(itertools.permutations(range(1, r + 1))))


def discounted_utilities(y, k):
    """Discounts of the places 1..r, and gains over the ideal DCG."""
    discounts = 1 / np.log2(np.arange(2, len(y) + 2))
    discounts[k:] = 0.0
    return discounts, y / (np.sort(y)[::-1] @ discounts)


def hinges(places, y, scores, k):
    """Delta plus the difference of the score sums, for each row of places of one list."""
    discounts, utilities = discounted_utilities(y, k)
    delta = 1 - discounts[places - 1] @ utilities
    return delta + (len(y) + 1 - places - rankdata(y)) @ scores


def worst_places(y, scores, k):
    """The places of the largest hinge, by the assignment problem."""
    discounts, utilities = discounted_utilities(y, k)
    profit = np.outer(scores, np.arange(len(y), 0, -1)) - np.outer(utilities, discounts)
    _, columns = linear_sum_assignment(profit, maximize=True)
    return columns + 1


def check_slopes(slopes, value, y, scores, k):
    """The subgradient is that of an order with this hinge."""
    places = np.round(len(y) + 1 - rankdata(y) - slopes).astype(int)
    assert sorted(places) == list(range(1, len(y) + 1))
    assert_allclose(hinges(places, y, scores, k), value, atol=1e-9)


def test_the_hinge_is_the_largest_over_all_orders(seed):
    rng = np.random.default_rng(seed)
    for trial in range(120):
        qid, scores = random_queries(rng, longest=8)
        n_grades = rng.integers(2, 8)
        y = rng.integers(0, n_grades, len(qid)) * rng.choice([0.1, 1.0, 10.0])
        if trial < 5:
            y[:] = 1.0  # all alike, all relevant
        k = int(rng.integers(1, 10))  # beyond r among them
        values, slopes = structured_hinge(f"ndcg@{k}", y, scores, qid=qid)
        for value, rows in zip(values, slices_of(qid), strict=True):
            if not y[rows].any():
                assert np.isnan(value)
                continue
            own = (y[rows], scores[rows], k)
            every = hinges(permutations(rows.stop - rows.start), *own)
            assert_allclose(value, every.max(), atol=1e-9)
            check_slopes(slopes[rows], value, *own)


@pytest.mark.parametrize("grades", [4, None])
@pytest.mark.parametrize("k", [2, 6, 25])
def test_hinges_of_long_lists_are_those_of_the_assignment_problem(grades, k):
    """Few grades and as many as rows: the candidates alone are assigned."""
    rng = np.random.default_rng(1)
    qid = np.repeat(np.arange(4), [40, 25, 60, 3])
    for scale in (0.001, 0.01, 0.1):
        scores = scale * rng.normal(size=128)
        y = rng.integers(0, grades, 128) * 1.0 if grades else rng.random(128)
        y[-1] = 1.0
        values, slopes = structured_hinge(f"ndcg@{k}", y, scores, qid=qid)
        for value, rows in zip(values, slices_of(qid), strict=True):
            own = (y[rows], scores[rows], k)
            best = hinges(worst_places(*own), *own)
            assert_allclose(value, best, atol=1e-9)
            check_slopes(slopes[rows], value, *own)


def test_lists_together_are_those_alone():
    rng = np.random.default_rng(2)
    qid = np.repeat(np.arange(3000), rng.integers(1, 12, 3000))
    scores = rng.normal(size=len(qid)) / 10
    y = rng.integers(0, 3, len(qid)) * 1.0
    values, slopes = structured_hinge("ndcg@4", y, scores, qid=qid)
    for which, rows in list(enumerate(slices_of(qid)))[::300]:
        value, slope = structured_hinge("ndcg@4", y[rows], scores[rows])
        assert_allclose(value, values[which])
        assert np.array_equal(slope, slopes[rows])
