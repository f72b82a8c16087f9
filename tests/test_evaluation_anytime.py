"""Intervals that hold at every look: the capital by hand, coverage of all looks, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank.evaluation import compare_values, mean_intervals

from .internals import bets_on, betting, gains
from .refusals import refused_by


def capital(values, m, level):
    """The larger capital after bets on means above and below m, value after value."""
    above = 1.0
    below = 1.0
    total = 0.5
    squares = 0.25
    for t, value in enumerate(values, start=1):
        bet = np.sqrt(2 * np.log(2 / level) / (squares / t * t * np.log(1 + t)))
        above *= 1 + min(bet, 0.75 / m) * (value - m)
        below *= 1 - min(bet, 0.75 / (1 - m)) * (value - m)
        total += value
        squares += (value - total / (t + 1)) ** 2
    return max(above, below)


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_the_interval_holds_the_means_that_no_bet_refutes(level):
    values = np.random.default_rng(0).beta(2, 3, 60)
    found = mean_intervals(values, confidence_level=1 - level).at_every_look()
    low, high = found.interval[0]
    means = np.linspace(0.01, 0.99, 197)
    is_kept = [capital(values, m, level) < 2 / level for m in means]
    assert_array_equal(is_kept, (means > low) & (means < high))
    assert_allclose(found.mean, values.mean())


def test_differences_are_values_from_minus_one_to_one():
    one, other = np.random.default_rng(1).beta(2, 3, (2, 80))
    found = compare_values({"one": one, "other": other}).at_every_look()
    means = mean_intervals((one - other + 1) / 2).at_every_look()
    assert_allclose(found.interval, 2 * means.interval - 1, atol=1e-9)
    # A mean difference of 0 is a mean of 1/2.
    expected = 2 / capital((one - other + 1) / 2, 0.5, 0.05)
    assert_allclose(found.p_value, min(expected, 1.0), rtol=1e-9)
    reverse = compare_values({"other": other, "one": one}).at_every_look()
    assert_allclose(reverse.interval, -found.interval[:, ::-1], atol=1e-9)


def test_all_looks_together_cover_the_mean():
    n_streams = 200
    values = np.random.default_rng(2).beta(0.5, 1.0, (200, n_streams))
    is_missed = {False: np.zeros(n_streams, bool), True: np.zeros(n_streams, bool)}
    for n in [5, 10, 20, 50, 100, 200]:
        found = mean_intervals(values[:n])
        for anytime, missed in is_missed.items():
            means = found.at_every_look() if anytime else found
            low, high = means.interval.T
            missed |= (low > 1 / 3) | (high < 1 / 3)
    assert is_missed[True].mean() <= 0.05
    assert is_missed[False].mean() > 0.15


def test_tests_ranks_and_intervals_agree_and_the_heading_says_it():
    rng = np.random.default_rng(3)
    hard = rng.random(300)
    table = {}
    for i in range(3):
        table[f"r{i}"] = np.clip(hard - 0.04 * i + 0.2 * rng.normal(size=300), 0, 1)
    found = compare_values(table).at_every_look()
    low, high = found.interval.T
    assert_array_equal((low > 0) | (high < 0), found.p_value <= 0.05)
    assert 0 < np.sum(found.p_value <= 0.05) < 3
    once = compare_values(table)
    assert (found.p_value >= once.p_value).all()
    assert (np.ptp(found.interval, axis=1) > np.ptp(once.interval, axis=1)).all()
    assert "95% intervals valid at every look; Holm" in repr(found)
    assert "every look" not in repr(once)
    # `once` has the differences of means, and `found` the means of differences.
    assert_allclose(found.difference, once.difference, rtol=1e-12)
    assert_array_equal(found.mean, once.mean)


def test_the_interval_holds_the_mean_after_a_drift():
    values = np.repeat([0.9, 0.3], [100, 300])
    found = mean_intervals(values).at_every_look()
    low, high = found.interval[0]
    assert low <= found.mean[0] <= high


def test_undefined_queries_and_few_queries():
    values = [0.2, np.nan, 0.4, 1.0]
    found = mean_intervals(values).at_every_look()
    expected = mean_intervals([0.2, 0.4, 1.0]).at_every_look()
    assert_array_equal(found.interval, expected.interval)
    assert found.n_undefined == [1]
    equal = compare_values({"a": [0.0, 1.0], "b": [0.0, 1.0]}).at_every_look()
    assert equal.p_value == [1.0]
    assert_array_equal(equal.interval, [[-1.0, 1.0]])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_trend_is_no_finding_beside_an_interval_that_holds_zero(sign):
    """The order of the queries is not random here, and the first bets refute 0."""
    differences = sign * np.repeat([-0.3, 0.33], 100)
    table = {"a": 0.5 + differences / 2, "b": 0.5 - differences / 2}
    found = compare_values(table).at_every_look()
    low, high = found.interval[0]
    assert low < 0 < high
    assert found.p_value[0] > 0.05
    assert found.tied_with_best.all()


# Assumptions of the theorem (Waudby-Smith & Ramdas, theorem 3) -----------------------


@pytest.mark.parametrize("place", [0, 1, 7, 38, 39])
def test_no_bet_sees_the_value_that_it_bets_on(place):
    """Predictable: another value moves the later bets, and no other bet."""
    x = np.random.default_rng(4).beta(2, 3, (3, 40))
    other = x.copy()
    other[:, place] = 0.3 * x[:, place]
    bets = bets_on(x, 0.05)
    moved = bets_on(other, 0.05)
    assert_array_equal(moved[:, : place + 1], bets[:, : place + 1])
    assert (moved[:, place + 1 :] != bets[:, place + 1 :]).all()


def test_the_capital_is_positive_whatever_comes():
    """Bets of more than 1 / m could lose more than all of the capital."""
    for values in ([0.0] * 30, [1.0] * 30, [0.0, 1.0] * 15):
        x = np.array([values])
        for mean in (1e-12, 0.01, 0.5, 0.99, 1.0):
            factors = gains(x, bets_on(x, 1e-6), np.array([mean]))
            # A value of 0 takes three quarters at most.
            assert factors.min() >= np.log(0.25) - 1e-12


def test_a_bet_on_the_true_mean_is_fair():
    """The expected capital stays 1: a martingale, for two values of any probability."""
    n = 10
    orders = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
    for mean in (0.1, 0.5, 0.8):
        chance = np.where(orders == 1, mean, 1 - mean).prod(axis=1)
        x = orders.astype(float)
        bets = bets_on(x, 0.05)
        of_mean = np.full(len(x), mean)
        for side, m in ((x, of_mean), (1 - x, 1 - of_mean)):
            capital = np.exp(gains(side, bets, m).sum(axis=1))
            assert_allclose(chance @ capital, 1.0)


def test_the_two_halves_of_the_capital_share_the_level():
    """Each half refutes at 2 / level, so both together err at most at the level."""
    x = np.random.default_rng(5).beta(2, 3, (1, 50))
    interval, _ = betting(x, 0.0, 0.9)
    bets = bets_on(x, 1.0 - 0.9)
    for end, side in zip(interval[0], (x, 1.0 - x), strict=True):
        m = end if side is x else 1.0 - end
        assert_allclose(gains(side, bets, np.array([m])).sum(), np.log(20), atol=1e-6)


def test_bounds_hold_for_all_values_and_beyond_rounding_are_refused():
    """A value outside [0, 1] could take more than the capital."""
    values = np.array([0.2, 0.4, 1.0 + 1e-12])
    mean_intervals(values).at_every_look()
    for outside in (1.1, -0.1):
        with refused_by("values without bounds"):
            mean_intervals([0.2, 0.4, outside]).at_every_look()


def test_each_unit_is_bet_on_once_and_alone():
    """Families, weights and judges are not independent values in their order."""
    values = np.linspace(0.1, 0.9, 6)
    for options in (
        {"groups": [1, 1, 2, 2, 3, 3]},
        {"sample_weight": [1, 2, 3, 1, 2, 3]},
    ):
        with refused_by("result without looks"):
            mean_intervals(values, **options).at_every_look()
