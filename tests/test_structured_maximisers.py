"""The worst places of a list: enumeration and the assignment problem."""

import itertools
from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

from .internals import RankingLists, worst_places
from .structured_cases import parts, random_lists


@lru_cache(maxsize=8)
def permutations(r):
    return np.array(list(itertools.permutations(range(1, r + 1))))


def values_of(places, gains, scores, discounts):
    """Of each row of places of one list."""
    r = len(scores)
    discount = np.append(discounts, np.zeros(r))[places - 1]
    return (r + 1 - places) @ scores - discount @ gains


def best_by_assignment(gains, scores, discounts):
    r = len(scores)
    discount = np.append(discounts, np.zeros(r))[:r]
    profit = np.outer(scores, np.arange(r, 0, -1)) - np.outer(gains, discount)
    rows, columns = linear_sum_assignment(profit, maximize=True)
    return profit[rows, columns].sum()


def test_places_are_the_best_of_all_permutations():
    rng = np.random.default_rng(0)
    for trial in range(120):
        lists, scores = random_lists(rng, longest=8)
        n_grades = 1 if trial < 10 else rng.integers(2, 8)  # all alike among them
        gains = rng.integers(0, n_grades, lists.n_rows) * rng.choice([0.1, 1.0, 10.0])
        if trial < 5:
            gains += 1.0  # all relevant
        discounts = 1 / np.log2(
            np.arange(2, rng.integers(3, 12))
        )  # k beyond r among them
        places = worst_places(gains, scores, lists, discounts)
        for rows in parts(lists):
            own = (gains[rows], scores[rows], discounts)
            best = values_of(permutations(rows.stop - rows.start), *own).max()
            assert_allclose(values_of(places[rows], *own), best, atol=1e-9)


@pytest.mark.parametrize("grades", [4, None])
@pytest.mark.parametrize("k", [2, 6, 25])
def test_places_of_long_lists_are_those_of_the_assignment_problem(grades, k):
    """Few grades and as many as rows: the candidates alone are assigned."""
    rng = np.random.default_rng(1)
    discounts = 1 / np.log2(np.arange(2, k + 2))
    for scale in (0.001, 0.01, 0.1):
        lists = RankingLists([40, 25, 60, 3])
        scores = scale * rng.normal(size=lists.n_rows)
        gains = 0.05 * (
            rng.integers(0, grades, lists.n_rows) if grades else rng.random(128)
        )
        places = worst_places(gains, scores, lists, discounts)
        for rows in parts(lists):
            own = (gains[rows], scores[rows], discounts)
            assert sorted(places[rows]) == list(range(1, rows.stop - rows.start + 1))
            assert_allclose(
                values_of(places[rows], *own), best_by_assignment(*own), atol=1e-9
            )


def test_lists_in_many_batches_are_those_alone():
    """Tables of 3000 lists do not fit into one batch."""
    rng = np.random.default_rng(2)
    lists = RankingLists(rng.integers(1, 12, 3000))
    scores, gains = (
        rng.normal(size=lists.n_rows) / 10,
        rng.integers(0, 3, lists.n_rows) / 10,
    )
    discounts = 1 / np.log2(np.arange(2, 6))
    whole = worst_places(gains, scores, lists, discounts)
    for rows in parts(lists)[::300]:
        alone = RankingLists([rows.stop - rows.start])
        assert np.array_equal(
            worst_places(gains[rows], scores[rows], alone, discounts), whole[rows]
        )
