"""Means and differences of bounded values: units, directions, equal values, folds."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from lowrank_rank.evaluation import (
    compare_judged,
    compare_judged_runs,
    compare_rankers,
    compare_runs,
    compare_values,
    judged_mean_intervals,
    mean_intervals,
)
from lowrank_rank.metrics import measure_score

from .internals import folds, names_of, resolve_measure, wilson
from .refusals import refused_by

LINE = "bounds=(0, 1)"
KINDS = ["ends", "equal", "few", "graded", "mixed", "unbounded"]


def values_of(rng, kind, shape):
    """Values in [0, 1] of a kind, with ties and values at the ends."""
    graded = rng.uniform(size=shape).round(1)
    if kind == "ends":
        return (rng.random(shape) < 0.8) * 1.0
    if kind == "equal":
        return np.full(shape, rng.choice([0.0, 0.3, 0.75, 1.0]))
    if kind == "few":
        return np.where(rng.random(shape) < 0.7, 0.0, graded * rng.choice([0.03, 1.0]))
    if kind == "mixed":
        return np.where(rng.random(shape) < 0.5, 1.0, graded)
    return graded


def drawn_cases(n_cases):
    """Cases of a kind of values, their number, weights, level, a shift and a scale."""
    rng = np.random.default_rng(851)
    for case in range(n_cases):
        kind = KINDS[case % len(KINDS)]
        n = int(rng.choice([2, 3, 5, 6, 8, 15, 40]))
        weights = rng.uniform(0.5, 2.0, n) if n >= 5 and case % 4 == 3 else None
        options = {
            "sample_weight": weights,
            "confidence_level": float(rng.choice([0.8, 0.95, 0.99])),
        }
        scale = float(rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-2, 3))
        shift = float(rng.choice([0.0, scale, rng.normal() * abs(scale)]))
        yield rng, kind, n, options, shift, scale


def moved(ends, shift, scale):
    """Ends of an interval after a shift and a scale, the lower one first."""
    return np.sort(np.asarray(ends) * scale + shift, axis=-1)


# Units --------------------------------------------------------------------------------


def test_means_keep_their_interval_under_shift_scale_and_reflection():
    for rng, kind, n, options, shift, scale in drawn_cases(300):
        values = values_of(rng, kind, n)
        if kind == "unbounded":
            values = values + 0.01 * rng.normal(size=n)
        given = None if kind == "unbounded" else (0.0, 1.0)
        bounds = None if given is None else moved(given, shift, scale)
        found = mean_intervals(values, bounds=given, **options)
        other = mean_intervals(shift + scale * values, bounds=bounds, **options)
        expected = moved(found.interval, shift, scale)
        assert_allclose(other.interval, expected, atol=1e-7 * abs(scale), err_msg=kind)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_differences_and_judges_keep_their_interval_under_shift_scale_and_reflection():
    for rng, kind, n, options, shift, scale in drawn_cases(150):
        table = values_of(rng, kind, (n, 2))
        given = None if kind == "unbounded" else (0.0, 1.0)
        bounds = None if given is None else moved(given, shift, scale)
        found = compare_values(
            dict(zip("ab", table.T, strict=True)), bounds=given, **options
        )
        other = compare_values(
            dict(zip("ab", shift + scale * table.T, strict=True)),
            bounds=bounds,
            **options,
        )
        tolerance = 1e-7 * abs(scale)
        expected = moved(found.interval, 0.0, scale)
        assert_allclose(other.interval, expected, atol=tolerance, err_msg=kind)
        assert_allclose(other.p_value, found.p_value, atol=1e-7)
        if n < 5 or kind == "unbounded":
            continue
        judge = np.where(rng.random((n + 50, 1)) < 0.8, 0.5, rng.random((n + 50, 1)))
        three = table[:, :1], judge[:n], judge[n:]
        level = {"confidence_level": options["confidence_level"]}
        found = judged_mean_intervals(*three, bounds=given, **level)
        three = [shift + scale * one for one in three]
        other = judged_mean_intervals(*three, bounds=bounds, **level)
        expected = moved(found.interval, shift, scale)
        assert_allclose(other.interval, expected, atol=tolerance, err_msg=kind)


# By hand ------------------------------------------------------------------------------


def test_equal_values_have_an_interval_by_their_range_alone():
    found = mean_intervals([0.75] * 5)
    assert np.isnan(found.interval).all()
    assert np.isnan(found.p_value).all()
    assert LINE in repr(found)
    assert LINE in found._repr_html_()
    by_line = eval(f"mean_intervals([0.75] * 5, {LINE})")  # the line of the message
    w = wilson(0.0, 5, 0.95)[1]
    assert_allclose(by_line.interval, [[0.75 - 0.75 * w, 0.75 + 0.25 * w]])
    assert_allclose(by_line.p_value, 2.0**-4)
    assert LINE not in repr(by_line)
    found = compare_values({"a": [0.3] * 5, "b": [0.3] * 5})
    assert np.isnan(found.interval).all()
    assert found.p_value == [1.0]
    assert LINE in repr(found)
    by_line = eval(f"compare_values({{'a': [0.3] * 5, 'b': [0.3] * 5}}, {LINE})")
    assert by_line.interval[0, 0] < 0 < by_line.interval[0, 1]


def test_the_interval_is_students_of_the_logit():
    values = np.random.default_rng(0).uniform(20, 80, 30)
    found = mean_intervals(values, bounds=(0, 100))
    m = values.mean() / 100
    half = stats.t.ppf(0.975, 29) * stats.sem(values) / 100 / (m * (1 - m))
    limits = 100 * special.expit(special.logit(m) + half * np.array([-1, 1]))
    assert_allclose(found.interval, [limits])


def test_few_values_away_from_an_end_hold_wilsons_of_three_times_their_number():
    values = np.repeat([1.0, 0.98], [12, 3])
    found = mean_intervals(values, bounds=(0, 1))
    assert_allclose(found.interval[0, 0], wilson(values.mean(), 45, 0.95)[0])
    # More than five are not few.
    more = mean_intervals(np.repeat([1.0, 0.98], [9, 6]), bounds=(0, 1))
    assert np.ptp(more.interval) < np.ptp(found.interval) / 2


def test_ends_have_wilsons_interval_in_any_unit():
    right = np.repeat([0.0, 1.0], [3, 9])
    expected = wilson(0.75, 12, 0.95)
    assert_allclose(mean_intervals(right).interval, [expected])
    of_cents = mean_intervals(100 * right, bounds=(0, 100)).interval
    assert_allclose(of_cents, [100 * expected])
    # 0 and 100 alone say nothing of their range.
    half = stats.t.ppf(0.975, 11) * stats.sem(100 * right)
    assert_allclose(mean_intervals(100 * right).interval, [[75 - half, 75 + half]])


def test_named_measures_have_their_range_and_others_have_none():
    rng = np.random.default_rng(1)
    values = rng.uniform(0.6, 1.0, 8)
    by_bounds = mean_intervals(values, bounds=(0, 1)).interval
    by_name = mean_intervals({"mrr@10": values}).interval
    assert_array_equal(by_name, by_bounds)
    plain = mean_intervals(values).interval
    for name in ("dcg@10", "latency"):
        assert_array_equal(mean_intervals({name: values}).interval, plain)
    # Per cent are not between the bounds of the measure.
    of_cents = mean_intervals({"mrr@10": 100 * values}).interval
    assert_allclose(of_cents, 100 * plain)
    assert by_bounds.max() < 1.0


@pytest.mark.parametrize("bounds", [(1, 0), (0, 0), (0, np.inf), (0, 1, 2), 1, "01"])
def test_bounds_are_a_pair_of_finite_numbers(bounds):
    with pytest.raises(ValueError, match="bounds must be a pair of finite numbers"):
        mean_intervals([0.1, 0.2], bounds=bounds)


def test_values_beyond_the_bounds_are_refused():
    with refused_by("values beyond bounds"):
        mean_intervals([0.1, 1.2], bounds=(0, 1))
    with refused_by("values beyond bounds"):
        compare_values({"a": [0.1, 1.2], "b": [0.1, 0.2]}, bounds=(0, 1))


def test_all_measures_are_within_their_bounds():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, (300, 6)).astype(float)
    y[:, 0], y[:, 1] = 1.0, 0.0
    scores = rng.normal(size=y.shape)
    n_bounded = 0
    for name in names_of(lambda one: True, one_each=True, scored=True):
        measure = resolve_measure(name)
        values = measure_score(measure, y, scores, average=None)
        low, high = measure.bounds
        n_bounded += np.isfinite(high - low)
        assert low - 1e-9 <= np.nanmin(values), name
        assert np.nanmax(values) <= high + 1e-9, name
    assert n_bounded > 10


# Directions ---------------------------------------------------------------------------


def of_both_directions(compare, rankers):
    """The interval and p value of (a, b), and those of (b, a) mirrored."""
    one = compare(rankers)
    other = compare(dict(reversed(rankers.items())))
    return [
        np.concatenate([one.interval[0], one.p_value, one.difference]),
        np.concatenate([-other.interval[0, ::-1], other.p_value, -other.difference]),
    ]


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_minus_b_is_minus_b_minus_a():
    """200 comparisons: values, weights, families, looks, labels, runs, with a judge."""
    rng = np.random.default_rng(852)
    for case in range(200):
        n = int(rng.integers(12, 18))
        labels = rng.integers(0, 2 + case % 2, (n, 4)).astype(float)
        labels[:, 0] = 1.0
        measure = ["ndcg@2", "precision@1"][case // 2 % 2]
        scores = {name: (labels + rng.normal(size=(n, 4))) for name in "ab"}
        judge = np.where(rng.random((n, 4)) < 0.85, labels, 1.0)
        people = np.where((rng.permutation(n) < 8)[:, np.newaxis], labels, np.nan)
        values = {name: values_of(rng, KINDS[case % 5], n) for name in "ab"}
        qrels = {f"q{q}": _row(labels[q], int) for q in range(n)}
        by_judge = {f"q{q}": _row(judge[q], int) for q in range(n)}
        by_people = {q: qrels[q] for q in list(qrels)[:8]}
        runs = {
            name: {f"q{q}": _row(one[q], float) for q in range(n)}
            for name, one in scores.items()
        }
        judged = partial(compare_judged, people, judge, measure=measure)
        weighted = partial(compare_values, sample_weight=rng.random(n))
        of_families = partial(compare_values, groups=rng.integers(0, 6, n))
        of_runs = partial(compare_runs, qrels, measure=measure)
        judged_runs = partial(compare_judged_runs, by_people, by_judge, measure=measure)
        compare, rankers = [
            (compare_values, values),
            (weighted, values),
            (of_families, values),
            (at_looks, values),
            (judged, scores),
            (partial(compare_rankers, labels, measure=measure), scores),
            (of_runs, runs),
            (judged_runs, runs),
        ][case % 8]
        found = of_both_directions(compare, rankers)
        assert_allclose(*found, atol=1e-9, err_msg=f"case {case}")


def at_looks(table):
    return compare_values(table).at_every_look()


def _row(values, kind):
    return {f"d{i}": kind(value) for i, value in enumerate(values)}


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_order_of_the_queries_does_not_matter_with_a_judge():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, (60, 5)).astype(float)
    scores = {name: labels + 2 * rng.normal(size=labels.shape) for name in "ab"}
    judge = np.where(rng.random(labels.shape) < 0.9, labels, 1.0)
    people = np.where((np.arange(60) < 20)[:, np.newaxis], labels, np.nan)
    qid = np.repeat(np.arange(60), 5)

    def compare(order):
        rows = (5 * order[:, np.newaxis] + np.arange(5)).ravel()
        rankers = {name: one.ravel()[rows] for name, one in scores.items()}
        return compare_judged(
            people.ravel()[rows], judge.ravel()[rows], rankers, qid=qid[rows]
        )

    found = compare(np.arange(60))
    other = compare(rng.permutation(60))
    assert found.means.judge_weight.max() > 0
    assert_allclose(other.interval, found.interval, rtol=1e-9)
    assert_allclose(other.means.interval, found.means.interval, rtol=1e-9)


def test_folds_are_of_ids_and_of_equal_sizes():
    ids = np.array([f"q{i}" for i in range(23)])
    fold = folds(ids, 23)
    assert np.ptp(np.bincount(fold)) == 1
    order = np.random.default_rng(4).permutation(23)
    assert_array_equal(folds(ids[order], 23), fold[order])
    assert_array_equal(folds(None, 23), folds(range(23), 23))


def test_compare_rankers_has_the_range_of_its_measure():
    y = np.tile([1.0, 0.0], (6, 1))
    scores = {"a": np.tile([2.0, 1.0], (6, 1)), "b": np.tile([1.0, 1.0], (6, 1))}
    found = compare_rankers(y, scores, measure="mrr")
    w = wilson(0.0, 6, 0.95)[1]
    assert_allclose(found.means.interval, [[1 - w, 1], [0.75 * (1 - w), 0.75 + w / 4]])
