"""The kernel of LambdaRank against a loop over pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from .internals import LambdaRank, RankingLists, _lambdarank


def best_dcg(gains, top):
    ordered = np.sort(gains)[::-1][:top]
    return ordered @ (1.0 / np.log2(np.arange(2, len(ordered) + 2)))


def by_pairs(s, gains, w, top):
    """Gradient and curvature of one list, by its definition."""
    n, best = len(s), best_dcg(gains, top)
    v = gains / best if best > 0 else 0 * gains
    ranks = np.empty(n, dtype=int)
    ranks[np.argsort(-s, kind="stable")] = np.arange(1, n + 1)
    gradient, curvature = np.zeros((2, n))
    for i in range(n):
        for j in range(n):
            if v[i] <= v[j] or min(ranks[i], ranks[j]) > top:
                continue
            weight = w[i] * w[j] * (v[i] - v[j])
            weight *= abs(1 / np.log2(1 + ranks[i]) - 1 / np.log2(1 + ranks[j]))
            if s.max() > s.min():
                weight /= 0.01 + abs(s[i] - s[j])
            p = 1.0 / (1.0 + np.exp(s[i] - s[j]))
            gradient[[i, j]] += weight * np.array([-p, p])
            curvature[[i, j]] += weight * p * (1 - p)
    return gradient, curvature


def ragged(seed=0, longest=60):
    """Lists with ties of scores and of gains, one with equal scores, one without relevant rows."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, 25)
    offsets = np.cumsum(lengths)[:-1]
    gains = rng.integers(0, 4, lengths.sum()).astype(float)
    s, w = rng.normal(size=len(gains)).round(1), rng.uniform(0.5, 2.0, len(gains))
    s[offsets[3] : offsets[4]] = 0.5
    gains[offsets[5] : offsets[6]] = 0.0
    return RankingLists(lengths), gains, s, w


@pytest.mark.parametrize("pairs_at_once", [2**16, 100])  # 100 cuts lists into parts
@pytest.mark.parametrize("top", [1, 3, 30, 100])
def test_derivatives_are_those_of_a_loop(monkeypatch, top, pairs_at_once):
    monkeypatch.setattr(_lambdarank, "PAIRS_AT_ONCE", pairs_at_once)
    lists, gains, s, w = ragged()
    found = LambdaRank(gains, w, lists, top)(s)
    parts = [np.split(one, lists.offsets[1:-1]) for one in (s, gains, w)]
    expected = [by_pairs(*one, top) for one in zip(*parts, strict=True)]
    for part, by_hand in zip(found, zip(*expected, strict=True), strict=True):
        assert_allclose(part, np.concatenate(by_hand), atol=1e-12)


def test_forces_of_a_list_add_up_to_zero_and_do_not_see_a_constant():
    lists, gains, s, w = ragged(1)
    pairs = LambdaRank(gains, w, lists, 30)
    gradient, curvature = pairs(s)
    assert_allclose(lists.sum(gradient), 0.0, atol=1e-12)
    assert np.all(curvature >= 0)
    shifted = pairs(s + np.repeat(np.arange(25.0), lists.lengths))
    assert_allclose(shifted[0], gradient, atol=1e-9)


def test_a_list_twice_is_its_derivatives_twice_and_units_of_gains_change_nothing():
    lists, gains, s, _ = ragged(2)
    gradient, curvature = LambdaRank(gains, np.ones(len(s)), lists, 30)(s)
    twice = RankingLists(np.r_[lists.lengths, lists.lengths])
    both = LambdaRank(np.r_[gains, 7 * gains], np.ones(2 * len(s)), twice, 30)(np.r_[s, s])
    assert_allclose(both[0], np.r_[gradient, gradient], atol=1e-12)
    assert_allclose(both[1], np.r_[curvature, curvature], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e3, 1e200])
def test_extreme_scores_have_finite_derivatives(scale):
    lists, gains, s, w = ragged(3)
    with np.errstate(over="raise", invalid="raise"):
        found = LambdaRank(gains, w, lists, 30)(scale * s)
    assert np.all(np.isfinite(found))
    wrong = LambdaRank(np.array([1.0, 0.0]), np.ones(2), RankingLists([2]), 30)
    gradient, _ = wrong(np.array([0.0, 900.0]))
    assert gradient[0] < 0 < gradient[1]
