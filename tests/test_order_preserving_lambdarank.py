"""The kernel of LambdaRank against a loop over pairs and over the places of equal scores."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from .internals import LambdaRank, RankingLists, _lambdarank


def by_pairs(s, v, w, top):
    """Gradient and curvature of one list, by its definition."""
    n = len(s)
    discount = 1 / np.log2(2 + np.arange(n))
    first = np.arange(n) < top
    gaps = np.abs(discount[:, np.newaxis] - discount) * (first[:, np.newaxis] | first)
    gradient, curvature = np.zeros((2, n))
    for i in range(n):
        for j in range(n):
            if v[i] <= v[j]:
                continue
            a, b = (slice(np.sum(s > s[k]), np.sum(s >= s[k])) for k in (i, j))
            m = a.stop - a.start
            n_orders = m * (m - 1) if s[i] == s[j] else m * (b.stop - b.start)
            weight = w[i] * w[j] * (v[i] - v[j]) * gaps[a, b].sum() / n_orders
            if s.max() > s.min():
                weight /= 0.01 + abs(s[i] - s[j])
            p, q = (1.0 / (1.0 + np.exp(x)) for x in (s[i] - s[j], s[j] - s[i]))
            gradient[[i, j]] += weight * np.array([-p, p])
            curvature[[i, j]] += weight * p * q
    return gradient, curvature


def ragged(seed=0, longest=40, spread=None):
    """Lists with ties of scores and of gains, one with equal scores, one without relevant rows.

    With a `spread` of scores above 80 the kernel computes in float64.
    """
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest, 25)
    offsets = np.cumsum(lengths)[:-1]
    v = rng.integers(0, 4, lengths.sum()) / 7
    s, w = rng.normal(size=len(v)).round(1), rng.uniform(0.5, 2.0, len(v))
    s = np.float64(np.float32(s))
    s[offsets[3] : offsets[4]] = 0.5
    v[offsets[5] : offsets[6]] = 0.0
    if spread is not None:
        s[offsets[7] : offsets[8]] *= spread / np.ptp(s[offsets[7] : offsets[8]])
        s = np.float64(np.float32(s))
    return RankingLists(lengths), v, s, w


@cache
def of_lists(spread, top):
    """Gradients and curvatures of the `ragged` lists."""
    lists, v, s, w = ragged(spread=spread)
    parts = [np.split(one, lists.offsets[1:-1]) for one in (s, v, w)]
    return tuple(
        zip(*(by_pairs(*one, top) for one in zip(*parts, strict=True)), strict=True)
    )


@pytest.mark.parametrize("pairs_at_once", [2**17, 100])  # 100 cuts lists into parts
@pytest.mark.parametrize("top", [1, 3, 30, 100])
@pytest.mark.parametrize(
    ("spread", "precision"), [(None, 1e-5), (79.0, 1e-5), (90.0, 1e-13)]
)
def test_derivatives_are_those_of_a_loop(
    monkeypatch, top, pairs_at_once, spread, precision
):
    monkeypatch.setattr(_lambdarank, "PAIRS_AT_ONCE", pairs_at_once)
    lists, v, s, w = ragged(spread=spread)
    found = LambdaRank(v, w, lists, top)(s)
    for part, expected in zip(found, of_lists(spread, top), strict=True):
        for one, by_hand in zip(
            np.split(part, lists.offsets[1:-1]), expected, strict=True
        ):
            assert_allclose(
                one, by_hand, atol=precision * max(np.abs(by_hand).max(), 1e-9)
            )


@pytest.mark.parametrize("spread", [None, 90.0])
def test_rows_in_another_order_have_the_same_derivatives(spread):
    lists, v, s, w = ragged(spread=spread)
    order = np.lexsort((np.random.default_rng(0).random(len(s)), lists.index))
    mixed = LambdaRank(v[order], w[order], lists, 30)(s[order])
    for found, expected in zip(mixed, LambdaRank(v, w, lists, 30)(s), strict=True):
        assert_array_equal(found, expected[order])


def test_lists_do_not_see_each_other():
    lists, v, s, w = ragged(4)
    one = np.repeat(np.arange(25) == 12, lists.lengths)
    alone = LambdaRank(v[one], w[one], RankingLists([one.sum()]), 30)(s[one])
    for found, expected in zip(LambdaRank(v, w, lists, 30)(s), alone, strict=True):
        assert_allclose(found[one], expected, rtol=1e-5, atol=1e-7)


def test_rounding_errors_of_scores_break_no_ties():
    lists, v, s, w = ragged(5)
    noise = 1 + 1e-15 * np.random.default_rng(0).normal(size=len(s))
    for found, expected in zip(
        *(LambdaRank(v, w, lists, 30)(x) for x in (s * noise, s)), strict=True
    ):
        assert_array_equal(found, expected)


def test_forces_of_a_list_add_up_to_zero_and_do_not_see_a_constant():
    lists, v, s, w = ragged(1, spread=90.0)
    s = np.round(16 * s) / 16  # a shift by whole numbers is exact then
    pairs = LambdaRank(v, w, lists, 30)
    gradient, curvature = pairs(s)
    assert_allclose(lists.sum(gradient), 0.0, atol=1e-12)
    assert np.all(curvature >= 0)
    shifted = pairs(s + np.repeat(np.arange(25.0), lists.lengths))
    assert_allclose(shifted[0], gradient, atol=1e-9)


def test_a_list_twice_is_its_derivatives_twice():
    lists, v, s, _ = ragged(2, spread=90.0)
    gradient, curvature = LambdaRank(v, np.ones(len(s)), lists, 30)(s)
    twice = RankingLists(np.r_[lists.lengths, lists.lengths])
    both = LambdaRank(np.r_[v, v], np.ones(2 * len(s)), twice, 30)(np.r_[s, s])
    assert_allclose(both[0], np.r_[gradient, gradient], atol=1e-12)
    assert_allclose(both[1], np.r_[curvature, curvature], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1e3, 1e200])
def test_extreme_scores_have_finite_derivatives(scale):
    lists, v, s, w = ragged(3)
    with np.errstate(over="raise", invalid="raise"):
        found = LambdaRank(v, w, lists, 30)(scale * s)
    assert np.all(np.isfinite(found))
    wrong = LambdaRank(np.array([1.0, 0.0]), np.ones(2), RankingLists([2]), 30)
    gradient, _ = wrong(np.array([0.0, 900.0]))
    assert gradient[0] < 0 < gradient[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("has_equal_scores", [True, False])
def test_lightgbm_has_the_same_denominator(has_equal_scores):
    """The docstring says that LightGBM's denominator is 1 too where all scores are equal.

    Leaves of one tree, -G / (H + 1), are compared with derivatives from the formula.
    """
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    y = np.array([0, 2, 1, 0, 3, 1, 2, 0])
    n = len(y)
    s = np.zeros(n)
    if not has_equal_scores:
        s = rng.normal(size=n)
    X = np.arange(n)[:, np.newaxis]
    data = lightgbm.Dataset(
        X, y, group=[n], init_score=s, params={"min_data_in_bin": 1}
    )
    params = {
        "objective": "lambdarank",
        "label_gain": [0, 1, 2, 3],
        "lambda_l2": 1.0,
        "learning_rate": 1.0,
        "min_data_in_leaf": 2,
        "min_sum_hessian_in_leaf": 0.0,
        "verbose": -1,
    }
    tree = lightgbm.train(params, data, num_boost_round=1)
    # Of equal scores LightGBM takes the rows in their order, not the mean over orders.
    rank = 1 + np.argsort(np.argsort(-s, kind="stable"))
    v = y / np.sum(np.sort(y)[::-1] / np.log2(1 + np.arange(1, n + 1)))
    i, j = np.nonzero(v[:, np.newaxis] > v)
    d = (v[i] - v[j]) * np.abs(1 / np.log2(1 + rank[i]) - 1 / np.log2(1 + rank[j]))
    if not has_equal_scores:
        d /= 0.01 + np.abs(s[i] - s[j])
    p = 1 / (1 + np.exp(s[i] - s[j]))
    gradient = np.bincount(j, d * p, n) - np.bincount(i, d * p, n)
    curvature = np.bincount(i, d * p * (1 - p), n) + np.bincount(j, d * p * (1 - p), n)
    # LightGBM's factor of each list, of the sum of all |derivatives|
    total = 2.0 * np.sum(d * p)
    factor = np.log2(1 + total) / total
    leaf = tree.predict(X, pred_leaf=True).ravel()
    G = factor * np.bincount(leaf, gradient)
    H = factor * np.bincount(leaf, curvature)
    assert len(G) > 1
    assert_allclose(tree.predict(X), (-G / (H + 1))[leaf], atol=1e-4)
