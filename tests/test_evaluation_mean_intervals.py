"""Means with intervals: closed forms, invariances, coverage, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special, stats

from lowrank_rank.evaluation import judged_mean_intervals, mean_intervals, per_query
from lowrank_rank.metrics import ndcg_score

from .internals import folds
from .refusals import refused_by


def powered(human, judge, others, **options):
    return judged_mean_intervals(human, judge, others, **options)


def drawn(seed, n, n_others, correlation, repetitions=1):
    """Human values of mean 2, and a judge of this correlation with them and a bias of 5."""
    rng = np.random.RandomState(seed)
    human = rng.normal(2.0, 1.0, size=(n + n_others, repetitions))
    noise = np.sqrt(1.0 - correlation**2) * rng.normal(size=human.shape)
    judge = 5.0 + correlation * human + noise
    return human[:n], judge[:n], judge[n:]


@pytest.mark.filterwarnings("ignore:chosen queries")
@pytest.mark.parametrize("judge", ["constant", "opposed"])
def test_weight_zero_gives_students_interval(judge):
    human, _, others = drawn(0, 12, 40, 0.5)
    judged = np.full(human.shape, 0.1) if judge == "constant" else -human
    others = np.full(others.shape, 0.1) if judge == "constant" else others
    found = powered(human, judged, others, confidence_level=0.9)
    low, high = stats.t.interval(0.9, 11, human.mean(), stats.sem(human[:, 0]))
    assert_allclose(found.interval, [[low, high]], rtol=1e-12)
    assert_allclose(found.p_value, stats.ttest_1samp(human, 0.0).pvalue, rtol=1e-9)
    assert found.judge_weight == [0.0]


@pytest.mark.parametrize("n", [5, 10, 20, 50])
def test_few_errors_of_the_judge_do_not_narrow_the_interval_too_much(n):
    """Answers right in 95 %, and a judge that is right in 95 %, or always too kind."""
    rng = np.random.default_rng(n)
    human = (rng.random((n + 500, 2000)) < 0.95) * 1.0
    graded = np.where(human == 1.0, rng.random(human.shape), 0.0)
    wrong = rng.random(human.shape) < 0.05
    for h, j, truth in (
        (human, np.where(wrong, 1.0 - human, human), 0.95),
        (graded, np.where(wrong, 1.0, graded), 0.475),
    ):
        found, alone = powered(h[:n], j[:n], j[n:]), mean_intervals(h[:n])
        covered = [
            np.mean((low <= truth) & (truth <= high))
            for low, high in (found.interval.T, alone.interval.T)
        ]
        assert covered[0] > min(0.93, covered[1] - 0.01)
        widths = [np.ptp(one.interval, axis=1) for one in (found, alone)]
        assert np.all(widths[0] <= widths[1])
        unused = found.judge_weight == 0
        for name in ("mean", "standard_error", "interval", "p_value"):
            assert_array_equal(
                getattr(found, name)[unused], getattr(alone, name)[unused]
            )


def test_two_pairs_are_added_for_right_and_wrong_answers():
    human = np.tile([1.0, 1.0, 0.0, 1.0], 10)
    others = np.tile([1.0, 1.0, 0.0, 1.0, 1.0], 100)
    found = powered(human, human, others)
    h, j = np.append(human, [1.0, 0.0]), np.append(human, [0.0, 1.0])
    fold = np.append(folds(None, 40), [0, 0])  # both pairs are in one fold
    weights = np.empty(42)
    for one in range(5):
        is_other = fold != one
        covariance = np.cov(h[is_other], j[is_other])[0, 1]
        variance = j[is_other].var(ddof=1) + 42 * others.var(ddof=1) / 500
        weights[~is_other] = covariance / variance
    corrected = h - weights * (j - others.mean())
    judged = weights.mean() ** 2 * others.var(ddof=1) / 500
    assert found.mean == pytest.approx(corrected.mean())
    error = np.sqrt(corrected.var(ddof=1) / 42 + judged)
    assert found.standard_error == pytest.approx(error)
    half = stats.norm.ppf(0.975) * found.standard_error
    assert_allclose(
        found.interval[0], [found.mean[0] - half[0], found.mean[0] + half[0]]
    )


def test_a_judge_with_small_errors_gives_the_precision_of_all_labels():
    human, judge, others = drawn(1, 100, 900, 0.999999)
    values = np.append(human, others - 5.0)
    found = powered(human, judge, others)
    assert found.standard_error == pytest.approx(stats.sem(values), rel=0.02)
    assert found.mean == pytest.approx(values.mean(), abs=0.2 * stats.sem(values))
    assert found.judge_weight == pytest.approx(0.9, abs=0.03)  # N / (N + n)


def test_estimate_by_hand():
    """n = N: lam is half the slope of the judge where the variances are alike."""
    human, judge = np.tile([0.0, 2.0], 10), np.tile([0.0, 1.0], 10)
    found = powered(human, judge, np.tile([0.0, 1.0, 1.0, 0.0], 5))
    assert found.judge_weight == pytest.approx(1.0, abs=2e-3)  # the slope is 2
    others = np.tile([0.0, 1.0, 1.0, 1.0], 5)
    moved = powered(human, judge, others)
    assert moved.mean == pytest.approx(1.0 + moved.judge_weight * (0.75 - 0.5))
    corrected, lam = human - moved.judge_weight * judge, moved.judge_weight
    error = np.sqrt(corrected.var(ddof=1) / 20 + lam**2 * others.var(ddof=1) / 20)
    assert moved.standard_error == pytest.approx(error)


def test_units_shifts_and_columns():
    human, judge, others = drawn(2, 30, 200, 0.8, repetitions=3)
    found = powered(human, judge, others)
    assert found.mean.shape == found.standard_error.shape == (3,)
    assert found.interval.shape == (3, 2)
    shifted = powered(human, judge + 100.0, others + 100.0)
    assert_allclose(shifted.interval, found.interval, rtol=1e-9)
    unit = powered(7 * human - 1, 7 * judge, 7 * others)
    assert_allclose(unit.interval, 7 * found.interval - 1, rtol=1e-9)
    stretched = powered(human, 1.5 * judge, 1.5 * others)
    assert_allclose(stretched.interval, found.interval, rtol=1e-9)
    for k in range(3):
        alone = powered(human[:, k], judge[:, k], others[:, k])
        assert_allclose(alone.interval[0], found.interval[k], rtol=1e-12)
    assert_allclose(found.to_frame()["low"], found.interval[:, 0])


@pytest.mark.parametrize(
    ("n", "correlation"), [(10, 0.9), (50, 0.9), (200, 0.6), (50, 0.0)]
)
def test_coverage_and_width(n, correlation):
    human, judge, others = drawn(3, n, 1000, correlation, repetitions=2000)
    found = powered(human, judge, others)
    low, high = found.interval.T
    covered = np.mean((low <= 2.0) & (high >= 2.0))
    assert abs(covered - 0.95) < 0.02
    width = np.mean(found.standard_error) / np.mean(
        human.std(axis=0, ddof=1) / np.sqrt(n)
    )
    best = np.sqrt(1.0 - correlation**2 * 1000 / (1000 + n))
    assert width == pytest.approx(best, rel=0.12 if n == 10 else 0.03)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([1.0] * 4 + [np.nan], [1.0] * 5, [1.0] * 9), r"people\[4, 0\] is nan"),
        (([1e200] * 5, [1.0] * 5, [1.0] * 9), r"people\[0, 0\] is 1e\+200"),
        ((["a"] * 5, [1.0] * 5, [1.0] * 9), "people must be an array of numbers"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        powered(*given)
    with pytest.raises(ValueError, match="confidence_level"):
        powered([1.0] * 5, [1.0] * 5, [1.0] * 9, confidence_level=1)


def test_rows_in_two_orders_are_refused():
    pd = pytest.importorskip("pandas")
    human = pd.Series([1.0, 2.0, 3.0, 4.0, 5.0])
    with refused_by("different indices"):
        powered(human, human[::-1], [1.0, 2.0])


def test_means_of_queries_are_students_of_the_logit_without_undefined_queries():
    y, qid = np.tile([0.0, 1.0, 2.0, 0.0], 10), np.repeat(np.arange(10), 4)
    scores, y[qid == 3] = np.random.RandomState(0).normal(size=40), 0.0
    table = per_query(y, scores, qid=qid, measure=["ndcg@2", "precision@1"])
    found = mean_intervals(table, confidence_level=0.9)
    assert found.names == ["ndcg@2", "precision@1"]
    assert found.n_queries.tolist() == [9, 10]
    assert found.n_undefined.tolist() == [1, 0]
    values = ndcg_score(y, scores, qid=qid, k=2, average=None)
    values = values[~np.isnan(values)]
    m = values.mean()
    half = stats.t.ppf(0.95, 8) * stats.sem(values) / (m * (1 - m))
    limits = special.expit(special.logit(m) + half * np.array([-1.0, 1.0]))
    assert_allclose(found.interval[0], limits, rtol=1e-12)
    of_unknown = mean_intervals(values, confidence_level=0.9)
    low, high = stats.t.interval(0.9, 8, m, stats.sem(values))
    assert_allclose(of_unknown.interval[0], [low, high], rtol=1e-12)
    assert repr(found).splitlines()[0].split() == [
        "name", "mean", "low", "high", "n_queries", "n_undefined",
    ]  # fmt: skip
    array = np.column_stack([table["ndcg@2"], table["precision@1"]])
    assert_allclose(
        mean_intervals(array, bounds=(0, 1), confidence_level=0.9).interval,
        found.interval,
    )
    with pytest.raises(ValueError, match=r"values\[0, 0\] is inf"):
        mean_intervals([np.inf, 1.0])


def test_columns_of_the_judge_match_by_name():
    pd = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    human = pd.DataFrame(rng.uniform(size=(12, 2)), columns=["ndcg@10", "map"])
    judge, others = human + 0.1 * rng.normal(size=(12, 2)), pd.DataFrame(
        rng.uniform(size=(40, 2)), columns=["ndcg@10", "map"]
    )  # fmt: skip
    expected, turned = powered(human, judge, others), ["map", "ndcg@10"]
    assert_allclose(powered(human, judge[turned], others).interval, expected.interval)
    assert_allclose(powered(human, judge, others[turned]).interval, expected.interval)
    columns = [{c: t[c].to_numpy() for c in turned} for t in (judge, others)]
    assert_allclose(powered(human, *columns).interval, expected.interval)
    arrays = powered(human, judge.to_numpy(), others.to_numpy())  # no names: by place
    assert_allclose(arrays.interval, expected.interval)
    with refused_by("columns of a judge"):
        powered(human, judge.rename(columns={"ndcg@10": "ndcg@5"}), others)
    with refused_by("columns of a judge"):
        powered(human, judge, others.assign(mrr=0.0))


def test_ids_of_structured_arrays_are_no_measure_and_must_agree():
    """As `per_query` returns them without pandas."""
    values = np.linspace(0.0, 1.0, 6)
    human = np.rec.fromarrays([np.arange(6), values], names=["qid", "map"])
    human = human.view(np.ndarray)
    assert mean_intervals(human).names == ["map"]
    found = powered(human, human, {"map": values})
    of_arrays = powered(values, values, values, bounds=(0, 1))
    assert_allclose(found.interval, of_arrays.interval)
    with refused_by("qid of people and judge"):
        powered(human, human[::-1], {"map": values})
    with refused_by("shape of values"):
        mean_intervals(human[["qid"]])
