"""Surrogates of precision at k: values, subgradients, order."""

from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank.calibration import precision_margins
from lowrank_rank.surrogates import precision_surrogate

from .internals import PRECISION_SURROGATES
from .top_cases import NAMES, perceptron_step, random_lists
from .vectors import worked_cases

CONVEX = sorted(set(PRECISION_SURROGATES) - {"ramp"})
PAPER = ["avg", "max", "ramp", "struct"]


class Chosen(NamedTuple):
    """A set of k items, as the definitions look at it."""

    scores: np.ndarray
    y: np.ndarray
    k: int
    inside: np.ndarray

    @property
    def wrong(self):
        return self.inside & (self.y == 0)

    @property
    def missed(self):
        return ~self.inside & (self.y == 1)


def _ramp(c):
    top_positives = np.sort(c.scores[c.y == 1])[::-1][: c.k].sum()
    return c.wrong.sum() + c.scores[c.inside].sum() - top_positives


def _avg(c):
    fraction = c.wrong.sum() / max(c.missed.sum(), 1)
    return c.wrong.sum() + c.scores[c.wrong].sum() - fraction * c.scores[c.missed].sum()


def _max(c):
    best_missed = np.sort(c.scores[c.missed])[::-1][: c.y.sum() - c.k].sum()
    return _struct(c) + best_missed


def _struct(c):
    return c.wrong.sum() + (c.inside - c.y) @ c.scores


#: The definitions: each surrogate is the largest value over all sets of k items.
DEFINITIONS = {"ramp": _ramp, "avg": _avg, "max": _max, "struct": _struct}


def by_enumeration(name, y, scores, k):
    assert name in DEFINITIONS, f"DEFINITIONS needs the definition of {name!r}"
    best = -np.inf
    for chosen in combinations(range(len(y)), k):
        inside = np.zeros(len(y), dtype=bool)
        inside[list(chosen)] = True
        best = max(best, DEFINITIONS[name](Chosen(scores, y, k, inside)))
    return best


def mistakes_at_worst(y, scores, k):
    """Negatives in the top k if ties are broken in their favour."""
    order = np.lexsort([y, -scores])
    return int((y[order[:k]] == 0).sum())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("ties", [False, True])
def test_closed_forms_equal_enumeration(ties, name, seed):
    for y, scores, k in random_lists(300, seed=seed, ties=ties):
        value, _ = precision_surrogate(y, scores, k, surrogate=name)
        assert_allclose(value, by_enumeration(name, y, scores, k), atol=1e-12)


def test_worked_values():
    for case in worked_cases("precision_at_k.json"):
        y, scores, k = np.array(case["y"]), np.array(case["score"]), case["k"]
        for name in PAPER:
            value, _ = precision_surrogate(y, scores, k, surrogate=name)
            assert_allclose(value, case[name], atol=1e-9)
        assert mistakes_at_worst(y, scores, k) == case["prec_at_k_count"]


def test_worked_updates():
    for case in worked_cases("precision_at_k.json"):
        X, w = np.array(case["X"]), np.array(case["w"])
        for name in ("avg", "max"):
            step = perceptron_step(case["y"], X @ w, case["k"], surrogate=name)
            assert_allclose(w + X.T @ step, case[f"w_after_{name}"], atol=1e-9)


@pytest.mark.parametrize("ties", [False, True])
def test_hierarchy(ties, seed):
    for y, scores, k in random_lists(500, seed=seed, ties=ties):
        loss = mistakes_at_worst(y, scores, k)
        ramp, avg, top = (
            precision_surrogate(y, scores, k, surrogate=name)[0]
            for name in ("ramp", "avg", "max")
        )
        assert loss <= ramp + 1e-12
        assert ramp <= avg + 1e-12
        assert avg <= top + 1e-12


def test_struct_is_no_upper_bound(seed):
    found = [
        precision_surrogate(y, scores, k, surrogate="struct")[0]
        < mistakes_at_worst(y, scores, k)
        for y, scores, k in random_lists(500, seed=seed)
    ]
    assert any(found)


def test_all_equal_where_k_is_all_positives(seed):
    for y, scores, _ in random_lists(100, seed=seed):
        values = [
            precision_surrogate(y, scores, y.sum(), surrogate=n)[0] for n in PAPER
        ]
        assert_allclose(values, values[0], atol=1e-12)


@pytest.mark.parametrize("name", CONVEX)
def test_convex_along_segments(name, seed):
    rng = np.random.default_rng(seed)
    for y, start, k in random_lists(200, seed=seed):
        end, part = rng.normal(size=len(y)), rng.random()
        at = [
            precision_surrogate(y, s, k, surrogate=name)[0]
            for s in (start, end, start + part * (end - start))
        ]
        assert at[2] <= (1 - part) * at[0] + part * at[1] + 1e-12


def test_ramp_is_not_convex():
    # One place, two positives: either may take it, their mean may not.
    at = [
        precision_surrogate([1, 1, 0], s, 1)[0]
        for s in ([2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.5])
    ]
    assert at[:2] == [0.0, 0.0]
    assert at[2] > 0


@pytest.mark.parametrize("name", CONVEX)
def test_subgradient_inequality(name, seed):
    rng = np.random.default_rng(seed)
    for y, scores, k in random_lists(300, seed=seed, ties=True):
        value, slope = precision_surrogate(y, scores, k, surrogate=name)
        other = rng.normal(scale=2, size=len(y))
        bound = value + slope @ (other - scores)
        assert precision_surrogate(y, other, k, surrogate=name)[0] >= bound - 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_gradient_numerically(name, seed):
    for y, scores, k in random_lists(200, seed=seed):
        _, slope = precision_surrogate(y, scores, k, surrogate=name)
        step = 1e-7
        numeric = [
            precision_surrogate(y, scores + step * unit, k, surrogate=name)[0]
            - precision_surrogate(y, scores - step * unit, k, surrogate=name)[0]
            for unit in np.eye(len(y))
        ]
        assert_allclose(np.array(numeric) / (2 * step), slope, atol=1e-6)


def test_struct_prefers_the_wrong_sign():
    x = np.array([-1.0, -1.0, -1.0, -1.0, -2.0, -2.0])
    y = np.array([1, 1, 1, 1, 0, 0])
    at = {
        n: [precision_surrogate(y, w * x, 1, surrogate=n)[0] for w in (-1, 1)]
        for n in PAPER
    }
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
        moved, moved_slope = precision_surrogate(
            y[order], scores[order], k, surrogate=name
        )
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
        ({"k": 0}, "from 1 to 2, the number of positives"),
        ({"k": 3}, "from 1 to 2, the number of positives"),
        ({"k": 1.5}, "whole number"),
        ({"y": [1, 2, 0]}, "labels 0 and 1"),
        ({"y": [1, 0]}, "one shape"),
        ({"scores": [1.0, np.nan, 0.0]}, "finite"),
        ({"surrogate": "hinge"}, "must be one of"),
    ],
)
def test_bad_input(change, match):
    arguments = {
        "y": [1, 1, 0],
        "scores": [1.0, 2.0, 3.0],
        "k": 1,
        "surrogate": "avg",
    } | change
    with pytest.raises(ValueError, match=match):
        precision_surrogate(**arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": "a"}, "k must be a finite number"),
        ({"k": None}, "k must be a finite number"),
        ({"surrogate": {}}, "surrogate must be one of"),
        ({"scores": ["a", "b"]}, "scores must be an array of numbers"),
        ({"y": ["a", "b"]}, "y must be an array of numbers"),
    ],
)
def test_input_of_other_types_is_named(change, message):
    given = {"y": [1, 0], "scores": [1.0, 2.0], "k": 1, **change}
    with pytest.raises(ValueError, match=message):
        precision_surrogate(**given)
