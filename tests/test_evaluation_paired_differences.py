"""Statistics of all pairs from one covariance matrix, against differences of each pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from .internals import _paired_differences

PairStatistics = _paired_differences.PairStatistics
_largest_differences = _paired_differences._largest_differences
paired_statistics = _paired_differences.paired_statistics
statistics_of_differences = _paired_differences.statistics_of_differences


def of_all_pairs(values, weights=None, judge=None, others=None, anytime=False):
    fold = np.arange(len(values)) % 5
    return paired_statistics(
        values, weights, judge, others, 0.95, anytime, bounds=None, fold=fold
    )


def of_each_pair(values, weights=None):
    """Compute the statistics from the differences a - b, for all a and b."""
    by_ranker = values.T
    largest, both_binary = _largest_differences(by_ranker, None)
    rows = [
        statistics_of_differences(
            by_ranker[a] - by_ranker,
            largest=largest[a],
            both_binary=both_binary[a],
            weights=weights,
            judge_differences=None,
            fold=None,
            rounding=1e-12 * np.abs(values).max(),
            confidence_level=0.95,
            anytime=False,
        )
        for a in range(len(by_ranker))
    ]
    return PairStatistics._make(map(np.array, zip(*rows, strict=True)))


def values_of(rng, kind, n_queries, n_rankers):
    values = rng.uniform(size=(n_queries, n_rankers))
    if kind == "right or wrong":
        return (values < rng.uniform()).astype(float)
    if kind == "tied":
        return values.round(1)
    if kind == "hard queries":
        return values + rng.normal(0.0, 10.0, size=(n_queries, 1))
    if kind == "nearly equal":
        values[:, 1:] = values[:, :1] + 1e-5 * values[:, 1:]
    if kind == "equal":
        values[:, 1:] = values[:, :1]
    return values


KINDS = ["any", "right or wrong", "tied", "hard queries", "nearly equal", "equal"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_weighted", [False, True])
def test_all_pairs_have_the_statistics_of_their_differences(kind, is_weighted):
    """34 draws of each of 12 cells: 408 inputs."""
    for seed in range(34):
        rng = np.random.RandomState(seed)
        n_queries = rng.randint(3, 80)
        values = values_of(rng, kind, n_queries, rng.randint(2, 9))
        values *= 10.0 ** rng.randint(-6, 7)
        weights = rng.gamma(1.0, size=n_queries) + 0.01 if is_weighted else None
        found = of_all_pairs(values, weights)
        expected = of_each_pair(values, weights)
        of_pair = ~np.eye(len(found.difference), dtype=bool)
        # Values of 1e6 have differences of 1e-10; all may be 0.
        scale = np.abs(values).max() or 1.0
        for name in PairStatistics._fields:
            unit = scale if name in ("difference", "interval") else 1.0
            assert_allclose(
                getattr(found, name)[of_pair] / unit,
                getattr(expected, name)[of_pair] / unit,
                rtol=1e-10 if kind == "nearly equal" and name == "effect" else 1e-12,
                atol=1e-12,
                err_msg=name,
            )


def test_differences_are_taken_only_where_the_covariances_lose_digits(monkeypatch):
    """The number of differences does not grow with that of the pairs."""
    n_taken = []

    def counted(d, *args):
        n_taken.append(len(d))
        return moments(d, *args)

    moments = _paired_differences._moments
    monkeypatch.setattr(_paired_differences, "_moments", counted)
    for n_rankers in (10, 40):
        rng = np.random.RandomState(0)
        values = values_of(rng, "any", 50, n_rankers)
        for weights in (None, rng.uniform(1.0, 2.0, size=50)):
            n_taken.clear()
            of_all_pairs(values, weights)
            assert sum(n_taken) == 0
            twins = np.column_stack([values, values[:, 0], values[:, 1] + 1e-9])
            of_all_pairs(twins, weights)
            assert sum(n_taken) == 2


def test_a_chain_of_rounding_errors_is_counted_pair_by_pair():
    """Each step is a rounding error, and three steps are a difference."""
    steps = np.array([0.0, 0.4, 0.8, 1.2, 5.0]) * 1e-12
    values = 1.0 + np.array([np.roll(steps, shift) for shift in range(5)] * 4)
    found = of_all_pairs(values)
    d = values[:, :, np.newaxis] - values[:, np.newaxis, :]
    rounding = 1e-12 * values.max()
    assert_array_equal(found.better, (d > rounding).sum(axis=0))
    assert_array_equal(found.worse, (d < -rounding).sum(axis=0))
    of_pair = ~np.eye(5, dtype=bool)
    n_queries = (found.better + found.equal + found.worse)[of_pair]
    assert_array_equal(n_queries, len(values))


@pytest.mark.parametrize("n_rankers", [300, 2])
def test_counts_of_many_rankers_and_of_many_queries(n_rankers):
    """Neither more than 255 rankers nor more than 65,535 queries overflow."""
    n_queries = 70_000 if n_rankers == 2 else 20
    values = np.arange(n_rankers) * np.ones((n_queries, 1))
    found = of_all_pairs(values)
    assert_array_equal(found.better[-1, :-1], n_queries)
    assert_array_equal(found.worse[0, 1:], n_queries)
    assert_array_equal(np.diag(found.p_value), 1.0)


@pytest.mark.parametrize("has_judge", [False, True])
def test_the_other_direction_of_a_pair_has_the_same_numbers(has_judge):
    rng = np.random.RandomState(0)
    values = rng.uniform(size=(30, 4))
    judge = values + rng.normal(0.0, 0.1, size=values.shape) if has_judge else None
    others = rng.uniform(size=(200, 4)) if has_judge else None
    found = of_all_pairs(values, None, judge, others, anytime=not has_judge)
    assert_array_equal(found.difference, -found.difference.T)
    assert_array_equal(found.interval[..., 0], -found.interval[..., 1].T)
    assert_array_equal(found.p_value, found.p_value.T)
    assert_array_equal(found.better, found.worse.T)
