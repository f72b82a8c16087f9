"""Surrogates of precision at k: values, subgradients, order, margins."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank.calibration import precision_margins, precision_mistake_bound
from lowrank_rank.surrogates import PRECISION_SURROGATES, perceptron_step, precision_surrogate

NAMES = sorted(PRECISION_SURROGATES)
CONVEX = sorted(name for name, form in PRECISION_SURROGATES.items() if form.convex)


def random_lists(n, seed, *, ties=False):
    """Lists of 2 to 9 items with a k in 1..P; scores on a coarse grid where ties are wanted."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = rng.integers(2, 10)
        y = rng.integers(0, 2, size)
        y[rng.integers(size)] = 1
        scores = rng.normal(scale=rng.choice([0.3, 1.0, 3.0]), size=size)
        yield y, np.round(2 * scores) / 2 if ties else scores, int(rng.integers(1, y.sum() + 1))


def by_enumeration(y, scores, k):
    """The definitions: maxima over all sets of k items."""
    n_positives = y.sum()
    best = dict.fromkeys(NAMES, -np.inf)
    top_positives = np.sort(scores[y == 1])[::-1][:k].sum()
    for chosen in combinations(range(len(y)), k):
        inside = np.zeros(len(y), dtype=bool)
        inside[list(chosen)] = True
        wrong, missed = inside & (y == 0), ~inside & (y == 1)
        n_wrong, n_missed = wrong.sum(), missed.sum()
        share = n_wrong / n_missed if n_missed else 0.0
        best_missed = np.sort(scores[missed])[::-1][: n_positives - k].sum()
        values = {
            "struct": n_wrong + (inside - y) @ scores,
            "ramp": n_wrong + scores[inside].sum() - top_positives,
            "avg": n_wrong + scores[wrong].sum() - share * scores[missed].sum(),
            "max": n_wrong + (inside - y) @ scores + best_missed,
        }
        best = {name: max(best[name], values[name]) for name in NAMES}
    return best


def mistakes_at_worst(y, scores, k):
    """Negatives in the top k if ties are broken in their favour."""
    order = np.lexsort([y, -scores])
    return int((y[order[:k]] == 0).sum())


@pytest.mark.parametrize("ties", [False, True])
def test_closed_forms_equal_enumeration(ties):
    for y, scores, k in random_lists(300, seed=1, ties=ties):
        expected = by_enumeration(y, scores, k)
        for name in NAMES:
            value, _ = precision_surrogate(y, scores, k, surrogate=name)
            assert_allclose(value, expected[name], atol=1e-12, err_msg=name)


def test_worked_values(vectors):
    for case in vectors("precision_at_k.json"):
        y, scores, k = np.array(case["y"]), np.array(case["score"]), case["k"]
        for name in NAMES:
            value, _ = precision_surrogate(y, scores, k, surrogate=name)
            assert_allclose(value, case[name], atol=1e-9)
        assert mistakes_at_worst(y, scores, k) == case["prec_at_k_count"]


def test_worked_updates(vectors):
    for case in vectors("precision_at_k.json"):
        X, w = np.array(case["X"]), np.array(case["w"])
        for name in ("avg", "max"):
            step = perceptron_step(case["y"], X @ w, case["k"], surrogate=name)
            assert_allclose(w + X.T @ step, case[f"w_after_{name}"], atol=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_hierarchy(ties):
    for y, scores, k in random_lists(500, seed=2, ties=ties):
        loss = mistakes_at_worst(y, scores, k)
        ramp, avg, top = (
            precision_surrogate(y, scores, k, surrogate=name)[0] for name in ("ramp", "avg", "max")
        )
        assert loss <= ramp + 1e-12
        assert ramp <= avg + 1e-12
        assert avg <= top + 1e-12


def test_struct_is_no_upper_bound():
    found = [
        precision_surrogate(y, scores, k, surrogate="struct")[0] < mistakes_at_worst(y, scores, k)
        for y, scores, k in random_lists(500, seed=3)
    ]
    assert any(found)


def test_all_equal_where_k_is_all_positives():
    for y, scores, _ in random_lists(100, seed=4):
        values = [precision_surrogate(y, scores, y.sum(), surrogate=n)[0] for n in NAMES]
        assert_allclose(values, values[0], atol=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_convex_along_segments(name):
    rng = np.random.default_rng(5)
    for y, start, k in random_lists(200, seed=5):
        end, share = rng.normal(size=len(y)), rng.random()
        at = [
            precision_surrogate(y, s, k, surrogate=name)[0]
            for s in (start, end, start + share * (end - start))
        ]
        assert at[2] <= (1 - share) * at[0] + share * at[1] + 1e-12


def test_ramp_is_not_convex():
    # One place, two positives: either may take it, their mean may not.
    at = [
        precision_surrogate([1, 1, 0], s, 1)[0]
        for s in ([2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.5])
    ]
    assert at[:2] == [0.0, 0.0]
    assert at[2] > 0


@pytest.mark.parametrize("name", CONVEX)
def test_subgradient_inequality(name):
    rng = np.random.default_rng(6)
    for y, scores, k in random_lists(300, seed=6, ties=True):
        value, slope = precision_surrogate(y, scores, k, surrogate=name)
        other = rng.normal(scale=2, size=len(y))
        bound = value + slope @ (other - scores)
        assert precision_surrogate(y, other, k, surrogate=name)[0] >= bound - 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_gradient_numerically(name):
    for y, scores, k in random_lists(200, seed=7):
        _, slope = precision_surrogate(y, scores, k, surrogate=name)
        step = 1e-7
        numeric = [
            precision_surrogate(y, scores + step * unit, k, surrogate=name)[0]
            - precision_surrogate(y, scores - step * unit, k, surrogate=name)[0]
            for unit in np.eye(len(y))
        ]
        assert_allclose(np.array(numeric) / (2 * step), slope, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "margin"), [("ramp", "weak"), ("avg", "average"), ("max", "strong")]
)
def test_zero_if_and_only_if_the_margin_is_one(name, margin):
    seen = set()
    for y, scores, k in random_lists(400, seed=8):
        if y.all():
            continue
        reached = getattr(precision_margins(y, scores, k), margin)
        for size in (0.999, 1.0, 1.001):  # on both sides of the condition, and on it
            if reached > 1e-3:
                scaled = scores * size / reached
                value, _ = precision_surrogate(y, scaled, k, surrogate=name)
                assert (value <= 1e-12) == (size >= 1)
                seen.add(size)
            else:
                value, _ = precision_surrogate(y, scores, k, surrogate=name)
                assert value > 0
    assert len(seen) == 3


def test_margins_by_definition():
    for y, scores, k in random_lists(100, seed=9):
        if y.all():
            continue
        positives, best = scores[y == 1], scores[y == 0].max()
        margins = precision_margins(y, scores, k)
        some_k = max(min(part) for part in combinations(positives, k))
        every = min(np.mean(part) for part in combinations(positives, len(positives) - k + 1))
        assert_allclose(margins, [some_k - best, every - best, positives.min() - best])


def test_struct_prefers_the_wrong_sign():
    x = np.array([-1.0, -1.0, -1.0, -1.0, -2.0, -2.0])
    y = np.array([1, 1, 1, 1, 0, 0])
    at = {n: [precision_surrogate(y, w * x, 1, surrogate=n)[0] for w in (-1, 1)] for n in NAMES}
    assert at["struct"] == [-1.0, 3.0]
    assert at["ramp"] == at["avg"] == at["max"] == [2.0, 0.0]
    assert [mistakes_at_worst(y, w * x, 1) for w in (-1, 1)] == [1, 0]


@pytest.mark.parametrize("name", ["ramp", "avg", "max"])
def test_shift_invariance_and_permutation(name):
    rng = np.random.default_rng(10)
    for y, scores, k in random_lists(50, seed=10):
        value, slope = precision_surrogate(y, scores, k, surrogate=name)
        shifted, _ = precision_surrogate(y, scores + 7.0, k, surrogate=name)
        assert_allclose(shifted, value, atol=1e-9)
        assert_allclose(slope.sum(), 0.0, atol=1e-12)
        order = rng.permutation(len(y))
        moved, moved_slope = precision_surrogate(y[order], scores[order], k, surrogate=name)
        assert_allclose(moved, value, atol=1e-12)
        assert_allclose(moved_slope, slope[order], atol=1e-12)


def test_perceptrons_do_nothing_without_a_mistake():
    for name in ("avg", "max"):
        step = perceptron_step([1, 1, 0], [3.0, 0.0, 1.0], 1, surrogate=name)
        assert_array_equal(step, 0.0)
        # A tie is a mistake: at w = 0 everything is tied, and something must happen.
        assert np.any(perceptron_step([1, 0], [0.0, 0.0], 1, surrogate=name))


@pytest.mark.parametrize("unit", [1e-17, 1.0, 1e17])
def test_mistakes_are_comparisons_of_scores(unit):
    assert not perceptron_step([1, 0], [2 * unit, unit], 1).any()
    assert perceptron_step([1, 0], [unit, 2 * unit], 1).tolist() == [1.0, -1.0]
    assert perceptron_step([1, 0], [unit, unit], 1).tolist() == [1.0, -1.0]


def test_whole_float_as_k():
    for function in (precision_surrogate, precision_margins):
        assert str(function([1, 1, 0], [1.0, 2.0, 3.0], 2.0)) == str(
            function([1, 1, 0], [1.0, 2.0, 3.0], 2)
        )


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"k": 0}, "from 1 to the number of positives, 2"),
        ({"k": 3}, "from 1 to the number of positives, 2"),
        ({"k": 1.5}, "whole number"),
        ({"y": [1, 2, 0]}, "labels 0 and 1"),
        ({"y": [1, 0]}, "of one list"),
        ({"scores": [1.0, np.nan, 0.0]}, "finite"),
        ({"surrogate": "hinge"}, "must be one of"),
    ],
)
def test_bad_input(change, match):
    arguments = {"y": [1, 1, 0], "scores": [1.0, 2.0, 3.0], "k": 1, "surrogate": "avg"} | change
    for function in (precision_surrogate, perceptron_step):
        with pytest.raises(ValueError, match=match):
            function(**arguments)


def test_no_perceptron_on_ramp():
    with pytest.raises(ValueError, match="no perceptron on 'ramp'"):
        perceptron_step([1, 0], [0.0, 1.0], 1, surrogate="ramp")


def test_mistake_bound_values():
    assert_allclose(precision_mistake_bound(3, radius=2.0, norm=0.5), 4 * 3 * 4 * 0.25)
    assert_allclose(precision_mistake_bound(1, 1.0, 1.0, surrogate_loss=4.0), 16.0)
    with pytest.raises(ValueError, match="surrogate_loss must be a number >= 0"):
        precision_mistake_bound(1, 1.0, 1.0, surrogate_loss=-1.0)
