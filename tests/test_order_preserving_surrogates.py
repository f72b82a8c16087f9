"""Surrogates in score space: derivatives, convexity, fast forms, weights, degenerate lists."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, xlogy

from lowrank_rank import ranking_target
from lowrank_rank.surrogates import (
    SURROGATES,
    BregmanSurrogate,
    Surrogate,
    surrogate_loss,
)

from .internals import RankingLists
from .refusals import refused_by
from .surrogate_cases import (
    BY_HAND,
    CASES,
    MINIMISER,
    PAIRWISE,
    VALUES,
    by_hand,
    population_minimiser,
    with_eta,
)

PointwiseLogistic = SURROGATES["pointwise_logistic"]

LENGTHS = [3, 1, 5, 2, 4, 3]
every_case = pytest.mark.parametrize("case", CASES)
every_sum = pytest.mark.parametrize("case", VALUES)
every_name = pytest.mark.parametrize("name", SURROGATES)


def ragged(seed=0, lengths=LENGTHS):
    """Utilities (half of them 0, a list of zeros), scores, lists, weights (one of them 0)."""
    rng, n = np.random.default_rng(seed), sum(lengths)
    v = rng.uniform(0.2, 3.0, n).round(1) * (rng.uniform(size=n) < 0.6)
    v[-lengths[-1] :] = 0.0
    w = rng.uniform(0.5, 2.0, n)
    w[1] = 0.0
    return v, rng.normal(size=n), RankingLists(lengths), w


def each_list(lists):
    return [
        slice(a, b) for a, b in zip(lists.offsets[:-1], lists.offsets[1:], strict=True)
    ]


# Definition ---------------------------------------------------------------------------


@every_sum
@pytest.mark.parametrize("weighted", [False, True])
def test_values_are_the_sums_of_the_definition(case, weighted, seed):
    surrogate, by_hand = CASES[case], VALUES[case]
    v, s, lists, w = ragged(seed)
    w = w if weighted else np.ones(len(v))
    found = surrogate.evaluate(v, s, lists, w).values
    expected = [by_hand(v[q], s[q], w[q]) for q in each_list(lists)]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_what_the_guide_lists_has_a_sum_by_hand():
    """And nothing is left of a surrogate that has gone."""
    guide = Path(__file__).parents[1] / "doc" / "user_guide" / "theory.rst"
    listed = set(
        re.findall(r"^   \* - ``(\w+)``$", guide.read_text(), flags=re.MULTILINE)
    )
    assert len(listed) > 10
    assert listed == set(BY_HAND) <= set(SURROGATES)
    assert set(MINIMISER) == {
        name for name in BY_HAND if SURROGATES[name]().is_order_preserving
    }


def numerical_derivatives(surrogate, v, s, lists, w, h=1e-5):
    gradient, curvature = np.empty(len(s)), np.empty(len(s))
    for i, step in enumerate(h * np.eye(len(s))):
        up, down = (
            surrogate.evaluate(v, s + sign * step, lists, w) for sign in (1, -1)
        )
        gradient[i] = (up.values.sum() - down.values.sum()) / (2 * h)
        curvature[i] = (up.gradient[i] - down.gradient[i]) / (2 * h)
    return gradient, curvature


@every_case
@pytest.mark.parametrize("scale", [0.3, 2.0])
def test_derivatives(case, scale, seed):
    surrogate = CASES[case]
    v, s, lists, w = ragged(seed)
    found = surrogate.evaluate(v, scale * s, lists, w)
    gradient, curvature = numerical_derivatives(surrogate, v, scale * s, lists, w)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.curvature, curvature, rtol=1e-6, atol=1e-6)
    assert np.abs(gradient).max() > 0.1


@every_case
def test_convex_along_segments(case, seed):
    surrogate = CASES[case]
    v, _, lists, w = ragged(seed)
    rng, curved = np.random.default_rng(seed), 0.0
    for _ in range(20):
        a, b = rng.normal(scale=3.0, size=(2, len(v)))
        ends, middle = (
            surrogate.evaluate(v, a, lists, w).values
            + surrogate.evaluate(v, b, lists, w).values,
            surrogate.evaluate(v, (a + b) / 2, lists, w).values,
        )
        assert np.all(middle <= ends / 2 + 1e-9 * (1.0 + np.abs(ends)))
        curved = max(curved, (ends / 2 - middle).max())
    assert curved > 0.1


def test_bregman_of_the_entropy_is_the_logistic_loss(seed):
    """psi = v log v + (1 - v) log(1 - v) has psi'' >= 4 and the link expit."""
    entropy = BregmanSurrogate(
        lambda v: xlogy(v, v) + xlogy(1 - v, 1 - v), expit, mu=4.0
    )
    v, s, lists, w = ragged(seed)
    v = v / 4.0
    found = entropy.evaluate(v, s, lists, w)
    logistic = PointwiseLogistic(eta=1.0).evaluate(v, s, lists, w)
    constant = lists.sum(w * entropy.psi(v))
    np.testing.assert_allclose(found.values, logistic.values + constant, atol=1e-12)
    np.testing.assert_allclose(found.gradient, logistic.gradient)
    np.testing.assert_array_less(logistic.curvature[w > 0], found.curvature[w > 0])
    np.testing.assert_array_equal(found.curvature, w / 4.0)
    np.testing.assert_allclose(
        entropy.evaluate(v, np.log(v / (1 - v) + 1e-300), lists, w)[1], 0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["pairwise_logistic", "ranknet"])
def test_many_pairs_are_summed_in_blocks_of_bounded_memory(name):
    """The values equal sums over whole matrices of pairs, which take ten times the memory."""
    rng, lists = np.random.default_rng(3), RankingLists([800, 1, 300, 800])
    v = rng.integers(0, 4, lists.n_rows).astype(float)
    s, w = rng.normal(size=lists.n_rows), rng.uniform(size=lists.n_rows)
    tracemalloc.start()
    found = SURROGATES[name]().evaluate(v, s, lists, w)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 800**2
    for q, rows in enumerate(each_list(lists)):
        z = s[rows] - s[rows][:, np.newaxis]
        pairs = (
            v[rows][:, np.newaxis] > v[rows]
            if name == "ranknet"
            else v[rows][:, np.newaxis]
        )
        a = pairs * np.outer(w[rows], w[rows]) * (1.0 - np.eye(len(z)))
        assert found.values[q] == pytest.approx((a * np.logaddexp(0.0, z)).sum())
        slopes = a * expit(z)
        gradient = slopes.sum(axis=0) - slopes.sum(axis=1)
        np.testing.assert_allclose(found.gradient[rows], gradient, atol=1e-9)


@pytest.mark.parametrize("name", PAIRWISE)
def test_one_long_list(name):
    rng = np.random.default_rng(0)
    v, s, w = (
        rng.integers(0, 4, 150).astype(float),
        rng.normal(size=150),
        rng.uniform(size=150),
    )
    found = surrogate_loss(name, v, s, sample_weight=w)
    assert found == pytest.approx(by_hand(name)(v, s, w))


# Weights and order of rows ------------------------------------------------------------


@every_case
def test_weight_two_is_the_item_twice(case):
    """Up to a constant: a surrogate of pairs also pairs an item with its copy."""
    surrogate = CASES[case]
    v, s, lists, w = ragged(4)
    twice = np.repeat(np.arange(len(v)), 1 + (np.arange(len(v)) == 5))
    longer = RankingLists(np.array(LENGTHS) + (np.arange(len(LENGTHS)) == 2))
    w[5] = 1.0
    heavy = w.copy()
    heavy[5] = 2.0
    one, two = (
        [surrogate.evaluate(v, x, lists, heavy) for x in (s, 0 * s)],
        [surrogate.evaluate(v[twice], x[twice], longer, w[twice]) for x in (s, 0 * s)],
    )
    np.testing.assert_allclose(one[0][0] - one[1][0], two[0][0] - two[1][0], atol=1e-12)
    merged = np.bincount(twice, weights=two[0].gradient)
    np.testing.assert_allclose(one[0].gradient, merged, atol=1e-12)
    assert (
        np.abs(one[0].gradient - surrogate.evaluate(v, s, lists, w).gradient).max()
        > 0.01
    )


@every_case
def test_weight_zero_is_not_there(case):
    surrogate = CASES[case]
    v, s, lists, w = ragged(5)
    w[[3, 6, 7]] = 0.0  # 3 is a list of its own
    s[[1, 3, 6, 7]] = [1e3, -1e3, 500.0, -800.0]
    v[[1, 6]] = 3.0
    found = surrogate.evaluate(v, s, lists, w)
    rest, kept = lists.select(w > 0)
    alone = surrogate.evaluate(v[w > 0], s[w > 0], rest, w[w > 0])
    np.testing.assert_allclose(found.values[kept], alone.values, rtol=1e-12)
    assert found.values[1] == 0.0
    for part, expected in zip(found[1:], alone[1:], strict=True):
        np.testing.assert_allclose(part[w > 0], expected, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(part[w == 0], 0.0)


@every_case
def test_permutation_of_rows(case):
    surrogate = CASES[case]
    v, s, lists, w = ragged(6)
    order = np.lexsort((np.random.default_rng(0).uniform(size=len(v)), lists.index))
    assert np.any(order != np.arange(len(v)))
    found = surrogate.evaluate(v[order], s[order], lists, w[order])
    before = surrogate.evaluate(v, s, lists, w)
    np.testing.assert_allclose(found.values, before.values)
    np.testing.assert_allclose(found.gradient, before.gradient[order], atol=1e-12)
    np.testing.assert_allclose(found.curvature, before.curvature[order], atol=1e-12)


@every_case
def test_what_the_flags_say(case):
    """Shifts, doubled weights and doubled utilities change the values as the flags say."""
    surrogate = CASES[case]
    v, s, lists, w = ragged(7)
    v /= 2.0
    before = surrogate.evaluate(v, s, lists, w).values
    counts = before[before > 0]
    shift = lists.repeat(np.random.default_rng(1).normal(size=lists.n_lists))
    shifted = surrogate.evaluate(v, s + shift, lists, w).values
    assert np.allclose(shifted, before) == surrogate.is_shift_invariant
    gradients = (surrogate.evaluate(v, s, lists, x * w).gradient for x in (1.0, 2.0))
    once, doubled = gradients  # values may differ by constants
    np.testing.assert_allclose(
        doubled, once * (4.0 if surrogate.is_pairwise else 2.0), atol=1e-12
    )
    twice = surrogate.evaluate(2.0 * v, s, lists, w).values[before > 0]
    assert np.allclose(twice, 2.0 * counts) == surrogate.is_proportional
    if surrogate.is_proportional:
        nothing = surrogate.evaluate(0.0 * v, s, lists, w)
        assert not any(np.any(part) for part in nothing)


# Degenerate lists and scores ----------------------------------------------------------


@every_case
@pytest.mark.parametrize("degenerate", ["no utility", "one item", "no weight"])
def test_degenerate_lists(case, degenerate):
    surrogate = CASES[case]
    v, s, lists, w = ragged(8)
    if degenerate == "no utility":
        v[:] = 0.0
    elif degenerate == "one item":
        lists = RankingLists(np.ones(len(v), dtype=int))
    else:
        w[:] = 0.0
    found = surrogate.evaluate(v, s, lists, w)
    assert all(np.all(np.isfinite(part)) for part in found)
    if degenerate == "no weight":
        assert not any(np.any(part) for part in found)
    elif degenerate == "no utility" and case in VALUES:
        expected = [VALUES[case](v[q], s[q], w[q]) for q in each_list(lists)]
        np.testing.assert_allclose(found.values, expected, atol=1e-12)
    elif degenerate == "one item" and surrogate.is_shift_invariant:
        np.testing.assert_allclose(np.concatenate(found[1:]), 0.0, atol=1e-12)
        if surrogate.is_pairwise:
            np.testing.assert_allclose(found.values, 0.0, atol=1e-12)


@every_case
@pytest.mark.parametrize("scale", [1e3, 1e4])
def test_huge_scores_are_finite_and_bad(case, scale):
    surrogate = CASES[case]
    v, s, lists = (
        np.array([2.0, 0.0, 1.0, 0.0]),
        np.array([-1, 1, 0.5, -0.2]),
        RankingLists([4]),
    )
    found = surrogate.evaluate(v, scale * s, lists, np.ones(4))
    assert all(np.all(np.isfinite(part)) for part in found)
    assert found.values[0] > scale
    assert found.gradient[0] < 0 < found.gradient[1]
    assert np.all(found.curvature >= 0)


@every_case
def test_huge_scores_in_the_right_order_cost_nothing_unbounded(case):
    """Nothing negative, and a surrogate of utilities is as good as it gets."""
    surrogate = CASES[case]
    found = surrogate.evaluate(
        np.array([2.0, 0, 0]),
        np.array([1e4, -1e4, -1e4]),
        RankingLists([3]),
        np.ones(3),
    )
    assert np.all(found.curvature >= 0)
    assert found.values[0] >= 0
    if surrogate.is_proportional:
        assert found.values[0] == pytest.approx(0.0, abs=1e-12)


def test_differences_among_the_best_count_however_far_the_others_are():
    v, s, lists = (
        np.array([1.0, 0.0, 0.0]),
        np.array([500.0, 499.0, -500.0]),
        RankingLists([3]),
    )
    found = SURROGATES["pairwise_exponential"]().evaluate(v, s, lists, np.ones(3))
    np.testing.assert_allclose(found.values, np.exp(-1.0))
    np.testing.assert_allclose(
        found.gradient, np.exp(-1.0) * np.array([-1, 1, 0]), atol=1e-12
    )


# Links --------------------------------------------------------------------------------


@every_case
def test_link_of_the_minimiser_is_the_expected_utility(case):
    surrogate = CASES[case]
    if not surrogate.has_link:
        with pytest.raises(AttributeError, match="no link"):
            surrogate.utility(np.zeros(2))
        return
    rng = np.random.default_rng(0)
    utilities, probabilities = rng.uniform(0.1, 3.0, (4, 5)), rng.dirichlet(np.ones(4))
    scores = population_minimiser(surrogate, utilities, probabilities)
    np.testing.assert_allclose(
        surrogate.utility(scores), probabilities @ utilities, atol=1e-4
    )


# surrogate_loss -----------------------------------------------------------------------


@every_name
def test_surrogate_loss_takes_rows_in_any_order_and_matrices(name):
    surrogate, value = with_eta(name), by_hand(name)
    v, s, lists, w = ragged(9)
    ids = np.array(list("cabfed"))[lists.index]
    expected = {i: value(v[ids == i], s[ids == i], w[ids == i]) for i in "cabfed"}
    order = np.random.default_rng(0).permutation(len(v))
    v, s, w, ids = v[order], s[order], w[order], ids[order]
    found = surrogate_loss(surrogate, v, s, qid=ids, sample_weight=w)
    first_seen = list(dict.fromkeys(ids.tolist()))
    np.testing.assert_allclose(found, [expected[i] for i in first_seen], atol=1e-12)
    carried = surrogate_loss(surrogate, ranking_target(v, ids), s, sample_weight=w)
    np.testing.assert_array_equal(carried, found)
    matrix = surrogate_loss(surrogate, v[:12].reshape(3, 4), s[:12].reshape(3, 4))
    by_row = [value(v[q : q + 4], s[q : q + 4], np.ones(4)) for q in (0, 4, 8)]
    np.testing.assert_allclose(matrix, by_row)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"v": [1.0, 0.0], "s": [0.0]}, "one shape"),
        ({"sample_weight": [1.0, 1.0]}, "one shape"),
        ({"v": np.ones((1, 2, 2)), "s": np.ones((1, 2, 2))}, "one shape"),
        ({"v": [[1.0, 0.0]], "s": [[0.0, 0.0]], "qid": [1]}, "qid"),
        ({"v": [], "s": []}, "minimum of 1 is required"),
        ({"v": [np.nan]}, r"v .*NaN \(row 0"),
        ({"s": [np.nan]}, r"s .*NaN \(row 0"),
        ({"s": [np.inf]}, "s contains inf"),
        ({"sample_weight": [0.0]}, "weights are zero"),
        ({"sample_weight": [-1.0]}, r"sample_weight\[0\] is negative"),
        (
            {"sample_weight": {}},
            "sample_weight is a dict, but must be an array of numbers",
        ),
        ({"surrogate": "hinge"}, "cross_entropy"),
        ({"surrogate": 3}, "surrogate must be one of"),
        ({"surrogate": PointwiseLogistic}, r"write PointwiseLogistic\(\)"),
        (
            {"surrogate": "pointwise_squared", "s": [1e300]},
            r"s\[0\] is 1e\+300: it must be finite, at most 1e\+100",
        ),
    ],
)
def test_bad_input_is_named(given, message):
    error = TypeError if not isinstance(given.get("surrogate", ""), str) else ValueError
    with pytest.raises(error, match=message):
        surrogate_loss(**{"surrogate": "cross_entropy", "v": [1.0], "s": [0.0]} | given)


def test_a_base_names_what_is_missing():
    with pytest.raises(NotImplementedError, match="evaluate"):
        Surrogate().evaluate(*[None] * 4)
    with pytest.raises(ValueError, match="no regret bound"):
        Surrogate().bound_constant(None, None)


@every_name
def test_utilities_out_of_range(name):
    surrogate = with_eta(name, eta=1.0)
    if surrogate.takes_negative:
        assert np.isfinite(surrogate_loss(surrogate, [0.5, -0.5], [0.0, 0.0]))
    else:
        with refused_by("negative utility"):
            surrogate_loss(surrogate, [0.5, -0.5], [0.0, 0.0])
    if hasattr(surrogate, "eta"):
        for largest in (1.0, 2.0):
            with refused_by("eta below a utility"):
                surrogate_loss(surrogate, [0.5, largest], [0.0, 0.0])
    else:
        assert np.isfinite(surrogate_loss(surrogate, [0.5, 2.0], [0.0, 0.0]))
