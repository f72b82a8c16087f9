"""Intervals and tests of paired differences: against SciPy, cases by hand, and what is known."""

import pickle
import warnings
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, WrappedRanker, ranking_target
from lowrank_rank.datasets import dump_qrels, dump_run, make_ranking
from lowrank_rank.evaluation import (
    compare_judged,
    compare_judged_runs,
    compare_rankers,
    compare_runs,
    compare_values,
    evaluate_run,
    judged_mean_intervals,
    mean_intervals,
)
from lowrank_rank.metrics import measure_score, ndcg_score

from .internals import InputError
from .refusals import refused_by


def holm(p_values):
    """Holm's correction by its definition."""
    adjusted, largest, m = np.empty(len(p_values)), 0.0, len(p_values)
    for i, place in enumerate(np.argsort(p_values)):
        largest = max(largest, (m - i) * p_values[place])
        adjusted[place] = min(largest, 1.0)
    return adjusted


def test_holm_is_that_of_statsmodels():
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    found = compare_values(table_of("skewed"))
    theirs = multitest.multipletests(found.p_value, method="holm")[1]
    assert_allclose(found.p_adjusted, theirs, rtol=1e-12)
    assert_allclose(found.p_adjusted, holm(found.p_value), rtol=1e-12)
    assert (found.p_adjusted > found.p_value).any()


def test_a_sparse_matrix_of_labels_takes_no_qid():
    y = sparse.csr_matrix(np.eye(3))
    scores = {"a": np.eye(3), "b": np.ones((3, 3))}
    with refused_by("ids beside a matrix"):
        compare_rankers(y, scores, qid=[0, 1, 2])
    assert compare_rankers(y, scores, measure="mrr").mean[0] == 1.0


def table_of(kind, n=40, m=5, seed=0):
    """Values of m rankers, the first the best, on n tasks; some are hard for all."""
    rng = np.random.RandomState(seed)
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, m)) - 0.4 * np.arange(m)
    values = (latent > 0).astype(float) if kind == "binary" else np.exp(latent)
    return {f"r{i}": column for i, column in enumerate(values.T)}


def test_differences_of_values_are_students():
    table = table_of("skewed")
    found = compare_values(table, confidence_level=0.9)
    for (a, b), p, d, ends in zip(
        found.pairs, found.p_value, found.difference, found.interval, strict=True
    ):
        one, other = table[f"r{a}"], table[f"r{b}"]
        theirs = stats.ttest_rel(one, other)
        assert p == pytest.approx(theirs.pvalue, rel=1e-9)
        assert d == pytest.approx((one - other).mean())
        assert_allclose(
            ends, stats.t.interval(0.9, 39, d, stats.sem(one - other)), rtol=1e-9
        )
    assert_allclose(found.p_adjusted, holm(found.p_value))
    assert_allclose(
        found.means.interval, mean_intervals(table, confidence_level=0.9).interval
    )


def test_a_p_value_is_not_below_that_of_the_signs():
    one = np.array([1.0, 1.0, 1.0, 1.0, 0.5, 0.5])
    other = one - [0.5, 0.5, 0.5, 0.5001, 0.0, 1e-17]  # four differ, all alike
    found = compare_values({"one": one, "other": other})
    assert found.p_value == [2.0**-3]
    assert (found.better, found.equal, found.worse) == ([4], [2], [0])
    assert found.smallest_p == [2.0**-3]
    same = compare_values({"one": one, "other": one + 1e-16})  # rounding
    assert (same.p_value, same.equal, same.effect) == ([1.0], [6], [0.0])
    # As if each had won one more query by the range of all values, 0.5 and 0.5001.
    half = stats.norm.ppf(0.975) * np.sqrt(2 * 0.5**2 / 8 / 8)
    assert_allclose(same.interval, [[-half, half]])
    largest = 0.5 + 1e-4
    d = [0.5, 0.5, 0.5, 0.5001, 0.0, 0.0, largest, -largest]
    half = stats.norm.ppf(0.975) * np.std(d) / np.sqrt(8)
    ends = np.array([np.mean(d) - half, np.mean(d) + half])
    assert 0.004 < ends[0] < 0.005  # p cannot be small, and the interval holds 0
    assert_allclose(found.interval, [[0.0, ends[1]]])
    # All differ alike: neither the interval nor p takes this for certain.
    all_alike = compare_values(
        {"one": np.linspace(0, 1, 40), "other": np.linspace(0.01, 1.01, 40)}
    )
    (low, high), p = all_alike.interval[0], all_alike.p_value[0]
    assert low < -0.01 < 0 < high
    assert p > 0.05


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("kind", ["binary", "graded", "all differ", "equal"])
def test_the_interval_holds_zero_where_p_cannot_be_small(kind, level):
    rng = np.random.RandomState(0)
    n_few = 0
    for n in (2, 4, 5, 8, 20, 60):
        one = rng.uniform(size=(n, 3)).round(2)
        other = one - 0.3 * rng.uniform(size=one.shape)
        if kind == "binary":
            one = np.ones((n, 3))
            other = (rng.uniform(size=one.shape) < 0.9) * 1.0
        elif kind == "graded":
            other = np.where(rng.uniform(size=one.shape) < 0.8, one, other)
        elif kind == "equal":
            one = np.full((n, 3), 7.0)
            other = one
        bounds = (0, 10) if kind == "equal" else None
        for a, b in zip(one.T, other.T, strict=True):
            found = compare_values(
                {"a": a, "b": b}, bounds=bounds, confidence_level=level
            )
            low, high = found.interval[0]
            assert low < high
            n_different = (found.better + found.worse)[0]
            floor = min(1.0, 2.0 ** (1 - n_different))
            assert found.smallest_p == [floor]
            assert found.p_value[0] >= floor
            if floor > 1 - level:
                n_few += 1
                assert low <= 0 <= high
                assert found.tied_with_best.all()
    assert n_few


def test_four_days_are_no_evidence():
    """All four days are won: the printed line, the ranks and the interval say the same."""
    found = compare_values({"a": [100, 120, 130, 160], "b": [75, 95, 102, 130]})
    (low, high) = found.interval[0]
    assert low < 0 < high
    assert found.p_value == [0.125]
    assert found.tied_with_best.all()
    line = "4 tasks that differ: p cannot be below 0.12, 6 are needed"
    assert line in repr(found)


def test_few_rare_differences_are_covered():
    """Values are equal but in 5 % of 20 queries: Student's interval covers .3."""
    rng = np.random.RandomState(0)
    covered = []
    for _ in range(60):
        one = rng.uniform(size=20)
        is_different = rng.uniform(size=20) < 0.05
        other = np.where(is_different, one * rng.uniform(size=20), one)
        low, high = compare_values({"one": one, "other": other}).interval[0]
        covered.append(low <= 0.05 / 4 <= high)
    assert np.mean(covered) > 0.9


def test_right_and_wrong_answers_have_intervals_inside_the_range():
    one, other = np.ones(24), np.tile([1.0, 1.0, 1.0, 0.0], 6)
    found = compare_values({"one": one, "other": other, "three": 3 * other})
    for column, ends in zip((one, other), found.means.interval, strict=False):
        wilson = stats.binomtest(int(column.sum()), 24).proportion_ci(
            0.95, method="wilson"
        )
        assert_allclose(ends, [wilson.low, wilson.high], rtol=1e-9)
    # Bonett and Price: 6 of 24 and one more each, 7 / 26 and 1 / 26.
    d, z = 6 / 26, stats.norm.ppf(0.975)
    half = z * np.sqrt((8 / 26 - d**2) / 26)
    assert_allclose(found.interval[0], [d - half, d + half], rtol=1e-12)
    d = one - 3 * other  # not 0 or 1
    assert_allclose(
        found.interval[1], stats.t.interval(0.95, 23, d.mean(), stats.sem(d))
    )
    equal = compare_values({"one": one, "same": one})
    assert equal.interval[0, 0] < 0 < equal.interval[0, 1]
    assert equal.means.interval[0].tolist() == pytest.approx([1 / (1 + z**2 / 24), 1.0])


@pytest.mark.parametrize("kind", ["binary", "skewed"])
def test_ranks_by_the_tests_of_each_ranker(kind):
    table = table_of(kind, n=150)
    found = compare_values(table)
    p, d = np.ones((5, 5)), np.zeros((5, 5))
    for (a, b), p_value, difference in zip(
        found.pairs, found.p_value, found.difference, strict=True
    ):
        p[a, b] = p[b, a] = p_value
        d[a, b], d[b, a] = difference, -difference
    for i in range(5):
        rest = [j for j in range(5) if j != i]
        shown = dict(zip(rest, holm(p[i, rest]) <= 0.05, strict=True))
        low = 1 + sum(shown[j] and d[j, i] > 0 for j in rest)
        high = 5 - sum(shown[j] and d[j, i] < 0 for j in rest)
        assert found.means.rank_interval[i].tolist() == [low, high]
    assert (
        found.tied_with_best.tolist() == (found.means.rank_interval[:, 0] == 1).tolist()
    )
    assert found.tied_with_best[0]
    assert not found.tied_with_best[-1]
    against = compare_values(table, baseline="r4")
    assert_array_equal(against.means.rank_interval, found.means.rank_interval)
    assert_allclose(against.p_value, [p[i, 4] for i in range(4)])
    assert_allclose(against.difference, [d[i, 4] for i in range(4)])
    swapped = compare_values(table, baseline="r0")
    at = [found.pairs.index((0, j)) for j in range(1, 5)]
    assert_array_equal(swapped.interval, -found.interval[at][:, ::-1])
    assert_array_equal(swapped.better, found.worse[at])
    printed = found.means.to_frame()
    assert printed["mean"].is_monotonic_decreasing
    assert printed["name"].tolist() == [f"r{i}" for i in np.argsort(-found.mean)]


@pytest.mark.parametrize("kind", ["binary", "skewed"])
def test_the_order_of_rows_does_not_matter(kind):
    table = table_of(kind)
    order = np.random.RandomState(1).permutation(40)
    found, again = (
        compare_values(t)
        for t in (table, {name: v[order] for name, v in table.items()})
    )
    for name in ("difference", "interval", "p_value", "p_adjusted", "effect"):
        assert_allclose(getattr(again, name), getattr(found, name), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:training queries")
def test_several_measures_make_a_dict_that_prints():
    X, y, qid = make_ranking(n_lists=25, random_state=1)
    scores = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    found = compare_rankers(
        y, {**scores, "m": model}, X=X, qid=qid, measure=["map", "ndcg@5"]
    )
    assert [*found] == ["map", "ndcg@5"]
    alone = compare_rankers(y, {**scores, "m": model}, X=X, qid=qid, measure="ndcg@5")
    assert_array_equal(found["ndcg@5"].interval, alone.interval)
    assert repr(found) == f"{found['map']!r}\n\n\n{alone!r}"
    assert found._repr_html_().count("<table>") == 4
    frame = found.to_frame()
    assert frame.columns[:3].tolist() == ["measure", "ranker", "baseline"]
    assert frame["measure"].tolist() == ["map"] * 6 + ["ndcg@5"] * 6
    default = compare_rankers(y, scores, qid=qid)
    assert default.measure == "ndcg@10"


def test_many_pairs_are_not_printed():
    found = compare_values(table_of("skewed", m=7))
    heading, *_ = repr(found).splitlines()
    assert heading.startswith(
        "value: 40 tasks, 7 rankers, 95% intervals; Holm over 21 pairs"
    )
    assert repr(found).endswith("21 pairs: see to_frame(), or give a baseline")
    assert "baseline  " not in repr(found)
    assert len(found.to_frame()) == 21
    assert found._repr_html_().count("<table>") == 1


def test_models_and_scores_on_one_table():
    X, y, qid = make_ranking(n_lists=60, random_state=0)
    train = qid < 30
    test = ~train
    ranker = LowRankSurrogateRanker().fit(X[train], y[train], qid=qid[train])
    pipeline = make_pipeline(StandardScaler(), WrappedRanker(Ridge()))
    pipeline.fit(X[train], ranking_target(y[train], qid[train]))
    rankers = {
        "ranker": ranker,
        "pipeline": pipeline,
        "first feature": X[test, 0],
        "again": ranker.predict(X[test]),
    }
    found = compare_rankers(
        y[test], rankers, X=X[test], qid=qid[test], measure="ndcg@5"
    )
    for name, mean in zip(found.names, found.mean, strict=True):
        scores = rankers[name] if name in ("first feature", "again") else (
            rankers[name].predict(X[test])
        )  # fmt: skip
        assert mean == pytest.approx(ndcg_score(y[test], scores, qid=qid[test], k=5))
    table = found.to_frame()
    assert len(table) == 6
    same = table[(table.ranker == "ranker") & (table.baseline == "again")].iloc[0]
    assert (same.difference, same.p_value, same.effect) == (0, 1, 0)
    assert same.low == -same.high < 0
    assert same.equal == len(found.qid)
    far = table[(table.ranker == "ranker") & (table.baseline == "first feature")].iloc[
        0
    ]
    assert far.low > 0
    assert far.p_holm < 0.01
    assert far.better > far.worse
    d = found.differences[:, 1]
    assert far.effect == pytest.approx(d.mean() / d.std(ddof=1))
    against = compare_rankers(
        y[test], rankers, X=X[test], qid=qid[test], measure="ndcg@5", baseline="again"
    )
    assert against.to_frame()["baseline"].unique().tolist() == ["again"]
    assert len(against.pairs) == 3


def test_undefined_queries_are_left_out_of_all():
    y = np.array([[1, 0], [0, 0], [0, 1], [1, 0]])
    scores = {"a": np.tile([2.0, 1.0], (4, 1)), "b": np.tile([1.0, 2.0], (4, 1))}
    found = compare_rankers(y, scores, measure="mrr")
    assert found.qid.tolist() == [0, 2, 3]
    assert found.n_undefined == 1
    counted = compare_rankers(y, scores, measure="mrr", zero_division=0)
    assert counted.n_undefined == 0
    assert counted.values[1].tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore:training queries")
def test_classifiers_with_named_classes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    qid = np.repeat(np.arange(20), 10)
    model = WrappedRanker(LogisticRegression()).fit(X, y, qid=qid)
    found = compare_rankers(
        y, {"model": model, "x": X[:, 0]}, X=X, qid=qid, measure="auc"
    )
    assert found.mean[0] > 0.6


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"baseline": "c"}, "not one of the rankers"),
        ({"confidence_level": 1.5}, "confidence_level"),
        ({"qid": [1, 1, 1, 1]}, "defined on 1 of 1 queries"),
        ({"rankers": {}}, "dict from names to scores or fitted models"),
    ],
)
def test_bad_input(params, message):
    rankers = params.pop("rankers", {"a": [1, 2, 1, 2], "b": [2, 1, 2, 1]})
    params = {"qid": [1, 1, 2, 2], **params}
    with pytest.raises(ValueError, match=message):
        compare_rankers([1, 0, 1, 0], rankers, **params)


def test_no_warning_where_few_queries_differ():
    y, base = np.tile([1, 0], (30, 1)), np.tile([2.0, 1.0], (30, 1))
    other = base.copy()
    other[3] = [1.0, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_rankers(y, {"a": base, "b": other}, measure="mrr")
    assert np.isfinite(found.interval).all()
    assert found.p_value[0] > 0.9


@pytest.mark.parametrize(
    ("n_queries", "n_rankers", "line"),
    [
        (
            6,
            3,
            "6 tasks that differ: p cannot be below 0.031, 7 are needed for 3 pairs",
        ),
        (4, 2, "4 tasks that differ: p cannot be below 0.12, 6 are needed"),
        (7, 3, None),
        (6, 2, None),
    ],
)
def test_a_line_says_that_too_few_queries_differ(n_queries, n_rankers, line):
    values = np.random.RandomState(0).normal(size=(n_rankers, n_queries))
    found = compare_values(dict(zip("abc", values, strict=False)))
    for text in (repr(found), found._repr_html_()):
        assert ("cannot be below" in text) == (line is not None)
        assert line is None or line in text


def test_a_line_says_that_some_pairs_differ_in_too_few_queries():
    one, other = np.random.RandomState(0).normal(size=(2, 20))
    found = compare_values({"one": one, "other": other, "same": one})
    line = "1 of 3 pairs differ in too few tasks for p <= 0.05: 6 are needed"
    assert repr(found).endswith(line)


# A judge ----------------------------------------------------------------------------


def labelled_by_people_and_a_judge(n_labelled=20, seed=0):
    """Grades of 60 queries, those of people in some, a judge that changes one in ten, scores."""
    X, y, qid = make_ranking(n_lists=60, random_state=seed)
    rng = np.random.RandomState(seed)
    judge = np.where(rng.uniform(size=len(y)) < 0.1, rng.permutation(y), y)
    people = np.where(np.isin(qid, rng.permutation(60)[:n_labelled]), y, np.nan)
    return people, judge, qid, {"a": X[:, 0] + X[:, 1], "b": X[:, 1], "c": -X[:, 0]}


def test_a_judge_gives_prediction_powered_differences():
    pd = pytest.importorskip("pandas")
    people, judge, qid, scores = labelled_by_people_and_a_judge()
    params = {"measure": "ndcg@5", "zero_division": 0.0}
    found = compare_judged(
        people, judge, scores, qid=qid, confidence_level=0.9, **params
    )
    ids = np.unique(qid[~np.isnan(people)])
    assert found.qid.tolist() == ids.tolist()
    rows, rest = np.isin(qid, ids), ~np.isin(qid, ids)

    def values(labels, some):
        of_each = {"average": None, "k": 5, "zero_division": 0.0}
        return np.column_stack(
            [
                ndcg_score(labels[some], s[some], qid=qid[some], **of_each)
                for s in scores.values()
            ]
        )

    given = values(people, rows), values(judge, rows), values(judge, rest)
    assert_array_equal(found.values, given[0])

    def powered(h, j, others, **options):
        of_people = pd.DataFrame(h, index=ids)  # the ids make the folds
        return judged_mean_intervals(
            of_people, j, others, confidence_level=0.9, **options
        )

    assert_allclose(found.mean, powered(*given).mean)
    of_values = powered(*given, bounds=(0, 1))
    assert_allclose(found.means.interval, of_values.interval)
    for (a, b), low_high, p, d in zip(
        found.pairs, found.interval, found.p_value, found.difference, strict=True
    ):
        alone = powered(*(v[:, a] - v[:, b] for v in given))
        assert_allclose(
            [*low_high, p, d], [*alone.interval[0], *alone.p_value, *alone.mean]
        )
    assert_allclose(found.p_adjusted, holm(found.p_value))
    assert found.n_undefined == 0
    assert_allclose(found.to_frame()["difference"], found.difference)
    one = compare_judged(people, judge, scores, qid=qid, baseline="b", **params)
    assert_allclose(one.p_adjusted, holm(found.p_value[[0, 2]]))


def test_a_judge_narrows_the_interval_around_what_people_say():
    people, judge, qid, scores = labelled_by_people_and_a_judge()
    params = {"qid": qid, "measure": "ndcg@5", "zero_division": 0.0}
    widths = [
        np.ptp(compare_judged(people, labels, scores, **params).interval, axis=1)
        for labels in (judge, np.zeros(len(judge)))
    ]
    assert np.all(widths[0] < 0.95 * widths[1])
    # A judge without relevant documents: the values are 0, and people's values remain.
    alone = compare_judged(people, np.zeros(len(judge)), scores, **params)
    d = alone.differences
    floor = 2.0 ** (1 - (d != 0).sum(axis=0))
    assert_allclose(alone.p_value, np.maximum(stats.ttest_1samp(d, 0.0).pvalue, floor))


@pytest.mark.parametrize("n_labelled", [5, 8, 30])
def test_a_judge_that_is_not_used_leaves_peoples_own_numbers(n_labelled):
    """Right and wrong answers, and a judge that knows nothing."""
    rng = np.random.RandomState(n_labelled)
    y = np.tile([1.0, 0.0], (60, 1))
    scores = {
        name: (rng.uniform(size=(60, 1)) < 0.5) * [[1.0, 0.0]] + [[0.0, 0.5]]
        for name in "abc"
    }
    people = np.where(np.arange(60)[:, np.newaxis] < n_labelled, y, np.nan)
    params = {"measure": "precision@1", "zero_division": 0}
    found = compare_judged(people, np.zeros(y.shape), scores, **params)
    first = {name: one[:n_labelled] for name, one in scores.items()}
    alone = compare_rankers(y[:n_labelled], first, **params)
    # People alone have their variances from one covariance matrix.
    for name in ("difference", "interval", "p_value", "smallest_p"):
        of_found = getattr(found, name)
        assert_allclose(of_found, getattr(alone, name), rtol=1e-12, atol=1e-14)
    for name in ("mean", "standard_error", "interval", "p_value"):
        assert_array_equal(getattr(found.means, name), getattr(alone.means, name))
    assert found.means.judge_weight.tolist() == [0.0] * 3
    n_different = found.better + found.worse
    assert np.all(found.p_value >= np.minimum(2.0 ** (1 - n_different), 1.0))


@pytest.mark.filterwarnings("ignore:training queries")
def test_a_judge_of_matrices_targets_and_models():
    rng = np.random.RandomState(1)
    judge = rng.randint(0, 3, size=(30, 4)).astype(float)
    people = np.where(np.arange(30)[:, np.newaxis] % 3 == 0, judge, np.nan)
    scores = {
        "a": judge + rng.normal(size=judge.shape),
        "b": rng.normal(size=judge.shape),
    }
    params = {"measure": "dcg@2", "zero_division": 0}
    of_matrix = compare_judged(people, judge, scores, **params)
    assert of_matrix.qid.tolist() == list(range(0, 30, 3))
    qid = np.repeat(np.arange(30), 4)
    target, flat = (
        ranking_target(people.ravel(), qid),
        {k: v.ravel() for k, v in scores.items()},
    )
    for labels in (judge.ravel(), ranking_target(judge.ravel(), qid)):
        of_rows = compare_judged(target, labels, flat, **params)
        assert_allclose(of_rows.interval, of_matrix.interval)
    X = np.column_stack([*flat.values()])
    model = WrappedRanker(Ridge()).fit(X, ranking_target(judge.ravel(), qid))
    by_model = compare_judged(
        target, judge.ravel(), {"a": model, "b": X[:, 1]}, X=X, **params
    )
    by_scores = compare_judged(
        target, judge.ravel(), {"a": model.predict(X), "b": X[:, 1]}, **params
    )
    assert_array_equal(by_model.interval, by_scores.interval)


def test_gaps_of_people_are_those_of_the_judge():
    """Items that people skipped would count in the judge's values alone."""
    rng = np.random.default_rng(0)
    judge = rng.integers(0, 3, (40, 5)).astype(float)
    judge[:, 0] = np.nan
    people = judge.copy()
    people[20:] = np.nan
    scores = {"a": rng.normal(size=judge.shape), "b": rng.normal(size=judge.shape)}
    settings = {"measure": "ndcg@3", "zero_division": 0.0}
    found = compare_judged(people, judge, scores, **settings)
    flat = {name: s[:, 1:] for name, s in scores.items()}
    same = compare_judged(people[:, 1:], judge[:, 1:], flat, **settings)
    assert_array_equal(found.interval, same.interval)


def test_one_ranker_has_a_mean_with_its_interval_and_no_pairs():
    y, qid = np.tile([0.0, 1.0, 2.0, 0.0], 10), np.repeat(np.arange(10), 4)
    y[qid == 3] = 0.0
    scores = np.random.RandomState(0).normal(size=40)
    found = compare_rankers(y, {"bm25": scores}, qid=qid, measure="ndcg@2")
    assert compare_rankers(y, {"query": scores}, qid=qid).means.names == [
        "query"
    ]  # no ids
    values = ndcg_score(y, scores, qid=qid, k=2, average=None)
    of_values = mean_intervals(values, bounds=(0, 1))
    assert_allclose(found.means.interval, of_values.interval)
    assert (found.n_undefined, found.means.n_queries[0], found.pairs) == (1, 9, [])
    assert "bm25" in repr(found)
    assert "bm25" in found._repr_html_()
    assert "baseline" not in repr(found)
    assert "best" not in found._repr_html_()
    assert found.to_frame().empty
    judged = compare_judged(
        np.where(qid < 6, y, np.nan), y, {"a": scores}, qid=qid, zero_division=0.0
    )
    assert judged.means.judge_weight is not None
    assert repr(judged).startswith("ndcg@10: 10 queries, 6 judged by people, 1 rankers")


def test_both_tables_print():
    y, qid = np.tile([1.0, 0.0], 8), np.repeat(np.arange(8), 2)
    scores = {"new": y, "old": np.random.RandomState(0).normal(size=16)}
    found = compare_rankers(y, scores, qid=qid, measure="mrr")
    means, pairs, best = repr(found).split("\n\n")
    best, few = best.splitlines()
    assert best == "best, or tied with the best: new, old"
    assert few == "3 queries that differ: p cannot be below 0.25, 6 are needed"
    heading, *means = means.splitlines()
    assert heading == (
        "mrr: 8 queries, 2 rankers, 95% intervals; Holm over 1 pairs, "
        "and over 1 tests for each rank"
    )
    assert f"<p>{heading}</p><table>" in found._repr_html_()
    almost = compare_rankers(y, scores, qid=qid, measure="mrr", confidence_level=0.999)
    assert "2 rankers, 99.9% intervals" in repr(almost)
    assert [line.split()[0] for line in means] == ["name", "new", "old"]
    assert [line.split()[0] for line in pairs.splitlines()] == ["ranker", "new"]


def test_one_ranker_is_not_tied_with_the_best():
    y = np.tile([0.0, 1.0], 20)
    alone = compare_rankers(y, {"a": y}, qid=np.repeat(np.arange(20), 2))
    assert "tied" not in repr(alone)
    assert "tied" not in alone._repr_html_()


@pytest.mark.parametrize("measure", ["ndcg@3", "map", "mrr", "precision@2", "kendall"])
def test_means_stand_beside_a_random_order(measure):
    """It is the mean over all orders of the documents of each query."""
    rng = np.random.RandomState(0)
    y, qid = rng.randint(2, size=(6, 4)), np.repeat(np.arange(6), 4)
    y[:, 0] = 1
    scores = {"a": rng.normal(size=24), "b": rng.normal(size=24)}
    found = compare_rankers(y.ravel(), scores, qid=qid, measure=measure)
    orders = [
        measure_score(measure, y.ravel(), np.tile(order, 6), qid=qid)
        for order in permutations(range(4))
    ]
    assert_allclose(found.means.random_order, np.full(2, np.mean(orders)))
    assert "random_order" in repr(found).splitlines()[1]
    assert compare_values({"a": [1.0, 2, 3]}).means.random_order is None


def test_the_random_order_has_the_weights_and_families_of_the_means():
    rng = np.random.RandomState(0)
    y, qid = rng.randint(4, size=60).astype(float), np.repeat(np.arange(10), 6)
    y[:6] = 0  # undefined
    options = {"groups": np.arange(10) // 3, "sample_weight": rng.uniform(size=10)}
    for names in ([], ["groups"], ["sample_weight"], ["groups", "sample_weight"]):
        chosen = {name: options[name] for name in names}
        scores = {"constant": np.zeros(60), "noise": rng.normal(size=60)}
        for labels in (y, sparse.csr_matrix(y.reshape(10, 6))):
            rows = {"qid": qid}
            if sparse.issparse(labels):
                scores = {name: s.reshape(10, 6) for name, s in scores.items()}
                rows = {}
            found = compare_rankers(labels, scores, **rows, **chosen)
            assert_allclose(found.means.random_order, np.full(2, found.mean[0]))
            loaded = pickle.loads(pickle.dumps(found))
            assert_array_equal(loaded.means.random_order, found.means.random_order)


def test_a_random_order_of_a_run_orders_what_it_retrieved():
    """The run b retrieved one document alone: a random order is its own order."""
    qrels = {q: {"d1": 1, "d2": 0} for q in ("q1", "q2", "q3")}
    qrels["q3"] = {"d1": 0, "d2": 1}
    runs = {
        "a": {q: ["d1", "d2"] for q in qrels},
        "b": {q: ["d1"] for q in qrels},
    }
    found = compare_runs(qrels, runs, measure="precision@1")
    assert_allclose(found.means.random_order, [0.5, 2 / 3])
    assert_allclose(found.mean, [2 / 3, 2 / 3])


def runs_of_systems(seed=0, n_queries=30):
    """Judgements, and runs of two systems: some queries unanswered, some documents unjudged."""
    rng = np.random.RandomState(seed)
    qrels = {
        f"q{q}": {f"d{d}": int(rng.randint(3)) for d in range(rng.randint(3, 9))}
        for q in range(n_queries)
    }
    runs = {}
    for name, answered in {"a": 0.9, "b": 0.8}.items():
        runs[name] = {
            q: {f"d{d}": float(rng.randint(5)) for d in rng.permutation(12)[:7]}
            for q in [*qrels, "unjudged"]
            if rng.uniform() < answered
        }
    return qrels, runs


@pytest.mark.filterwarnings("ignore:The run")
@pytest.mark.filterwarnings("ignore:. has .* documents judged")
@pytest.mark.parametrize(
    "measure", ["ndcg@3", "map", "recall@2", "mrr", "P_2", "ndcg_cut_5"]
)
def test_runs_are_compared_as_evaluate_run_measures_them(measure):
    qrels, runs = runs_of_systems()
    found = compare_runs(qrels, runs, measure=measure, zero_division=0.0)
    answered = [q for q in qrels if any(q in run for run in runs.values())]
    assert found.qid.tolist() == answered
    for column, run in zip(found.values.T, runs.values(), strict=True):
        known = {q: qrels[q] for q in answered}
        options = {"average": None, "all_queries": True, "zero_division": 0.0}
        table = evaluate_run(run=run, qrels=known, measure={"m": measure}, **options)
        value = dict(zip(table.index, table["m"], strict=True))
        assert_allclose(column, [value[q] for q in answered])


@pytest.mark.filterwarnings("ignore:The run")
@pytest.mark.filterwarnings("ignore:. has .* documents judged")
def test_runs_come_as_files_frames_and_dicts(tmp_path):
    pd = pytest.importorskip("pandas")
    qrels, runs = runs_of_systems()
    found = compare_runs(qrels, runs, measure="map")
    dump_qrels(qrels, tmp_path / "qrels.txt")
    dump_run(runs["a"], tmp_path / "a.run.gz")
    rows = [
        (q, d, v) for q, documents in runs["b"].items() for d, v in documents.items()
    ]
    mixed = {
        "a": tmp_path / "a.run.gz",
        "b": pd.DataFrame(rows, columns=["qid", "docno", "score"]),
    }
    again = compare_runs(str(tmp_path / "qrels.txt"), mixed, measure="map")
    assert_allclose(again.values, found.values)
    assert_allclose(again.interval, found.interval)
    of_file = evaluate_run(
        run=tmp_path / "a.run.gz", qrels=tmp_path / "qrels.txt", measure="map"
    )
    assert of_file == evaluate_run(run=runs["a"], qrels=qrels, measure="map")


@pytest.mark.filterwarnings("ignore:The run")
def test_runs_with_a_judge():
    judge, runs = runs_of_systems(1, 40)
    human = {q: judge[q] for q in list(judge)[:12]}
    found = compare_judged_runs(human, judge, runs, measure="ndcg@3", zero_division=0.0)
    assert set(found.qid) <= set(human)
    _, *documents = judge[next(iter(human))]
    human[next(iter(human))] = dict.fromkeys(documents, 1)
    with refused_by("documents skipped by people"):
        compare_judged_runs(human, judge, runs, zero_division=0.0)


def test_people_judge_the_top_of_each_run():
    rng = np.random.RandomState(0)
    documents = [f"d{i}" for i in range(8)]
    judge = {f"q{i}": {d: int(rng.randint(2)) for d in documents} for i in range(30)}
    runs = {
        name: {
            q: dict(zip(documents, rng.permutation(8) / 1.0, strict=True))
            for q in judge
        }
        for name in "ab"
    }

    def judged(depth):
        tops = {
            q: {d for r in runs.values() for d in documents if r[q][d] >= 8 - depth}
            for q in judge
        }
        return {q: {d: judge[q][d] for d in tops[q]} for q in [*judge][:12]}

    options = {"measure": ["precision@2", "precision@1"], "zero_division": 0}
    found = compare_judged_runs(judged(2), judge, runs, **options)["precision@2"]
    people = {q: judge[q] for q in [*judge][:12]}
    whole = compare_judged_runs(people, judge, runs, **options)["precision@2"]
    assert_array_equal(found.interval, whole.interval)  # what is below does not count
    people = judged(1)
    with refused_by("documents skipped by people"):
        compare_judged_runs(people, judge, runs, **options)
    with refused_by("documents skipped by people"):
        compare_judged_runs(judged(2), judge, runs, measure="map")
    runs["a"]["q0"] = dict.fromkeys(
        documents, 1.0
    )  # all are tied: any may be among the first
    with refused_by("documents skipped by people"):
        compare_judged_runs(judged(2), judge, {"a": runs["a"]}, **options)


def test_runs_that_cannot_be_compared():
    qrels, runs = runs_of_systems()
    with refused_by("no shared query"):
        compare_runs({"other": {"d1": 1}}, runs)
    with refused_by("table of documents", TypeError):
        compare_runs(qrels, {"a": [1.0, 2.0]})


def test_unanswered_queries_are_counted_and_runs_of_other_ids_are_named():
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    wrong = {q: {"a": 1.0, "b": 2.0} for q in qrels}
    right = {q: {"a": 2.0, "b": 1.0} for q in [*qrels][:20]}
    message = "The run 'right' lacks 10 of 30 queries, such as 'q20'"
    with pytest.warns(UserWarning, match=message):
        found = compare_runs(qrels, {"wrong": wrong, "right": right}, measure="mrr")
    assert found.means.to_frame().set_index("name")["n_unanswered"].to_dict() == {
        "wrong": 0,
        "right": 10,
    }
    assert found.mean[found.names.index("right")] == pytest.approx(2 / 3)
    with pytest.warns(
        UserWarning, match="The runs lack 10 of 30 judged queries, such as 'q20'"
    ):
        alone = compare_runs(qrels, {"right": right}, measure="mrr")
    assert alone.mean == [1.0]
    others = {f"other {q}": found for q, found in right.items()}
    with refused_by("no shared query"):
        compare_runs(qrels, {"wrong": wrong, "right": others})
    others = {
        q: {f"other {d}": v for d, v in found.items()} for q, found in wrong.items()
    }
    with refused_by("no shared document"):
        compare_runs(qrels, {"wrong": wrong, "other": others})


@pytest.mark.parametrize(
    "column", ["qid", "query", "Query_id", "topic", "doc", "docno", "doc_id"]
)
def test_frames_with_ids_are_no_matrices(column):
    pd = pytest.importorskip("pandas")
    labels = pd.DataFrame({"one": [1.0, 0.0] * 4, "two": [0.0, 1.0] * 4})
    scores = {"a": labels, "b": -labels}
    compare_rankers(labels, scores, measure="mrr")
    # A frame with a column of documents is read as judgements.
    said = f"column '{column}' of .* holds ids, by its name|has the columns|table of documents"
    for y, rankers, judge in (
        (labels.assign(**{column: range(8)}), scores, None),
        (labels, {"a": labels, "b": labels.assign(**{column: range(8)})}, None),
        (labels, scores, labels.assign(**{column: range(8)})),
    ):
        with pytest.raises(InputError, match=said):
            compare_judged(y, labels if judge is None else judge, rankers)


def test_rows_of_scores_match_by_index():
    pd = pytest.importorskip("pandas")
    y = ranking_target([1, 0, 1, 0], ["a", "a", "b", "b"])
    one, other = pd.Series([2.0, 1.0, 2.0, 1.0]), pd.Series([1.0, 2.0, 1.0, 2.0])
    compare_rankers(y, {"one": one, "other": other}, measure="mrr")
    with refused_by("different indices"):
        compare_rankers(y, {"one": one, "other": other[::-1]}, measure="mrr")
    X = pd.DataFrame({"x": one})
    model = WrappedRanker(Ridge()).fit(X, y)
    compare_rankers(y, {"model": model, "one": one}, X=X, measure="mrr")
    with refused_by("different indices"):
        compare_rankers(y, {"model": model, "one": one[::-1]}, X=X, measure="mrr")
