"""Families and weights of queries: by hand, by order and by id, and what they leave alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import (
    compare_rankers,
    compare_runs,
    compare_values,
    evaluate_run,
    mean_intervals,
    per_query,
)
from lowrank_rank.metrics import ndcg_score

from .refusals import refused_by

pd = pytest.importorskip("pandas")

RESULTS = ["difference", "interval", "p_value", "p_adjusted", "smallest_p", "effect"]
OF_MEANS = ["mean", "standard_error", "interval", "p_value", "n_queries", "n_undefined"]


def table_of(kind, n=24, m=3, seed=0):
    """Values of m rankers on n tasks."""
    rng = np.random.RandomState(seed)
    latent = rng.normal(size=(n, 1)) + rng.normal(size=(n, m)) - 0.4 * np.arange(m)
    values = (latent > 0) * 1.0 if kind == "binary" else np.exp(latent)
    return {f"r{i}": column for i, column in enumerate(values.T)}


def assert_same(found, expected, exact=True):
    compare = assert_array_equal if exact else assert_allclose
    for name in RESULTS:
        compare(getattr(found, name), getattr(expected, name))
    for name in OF_MEANS:
        compare(getattr(found.means, name), getattr(expected.means, name))
    compare(found.means.rank_interval, expected.means.rank_interval)


def graded_runs(n_queries=12, seed=0):
    """Judgements and a run of n queries with ids q0, q1, ..."""
    rng = np.random.RandomState(seed)
    documents = [f"d{i}" for i in range(6)]
    qrels = {
        f"q{q}": {d: int(rng.randint(3)) for d in documents} for q in range(n_queries)
    }
    runs = {
        name: {q: {d: float(rng.uniform()) for d in documents} for q in qrels}
        for name in "ab"
    }
    return qrels, runs


# Equal weights and families of one -------------------------------------------------


@pytest.mark.parametrize("kind", ["binary", "skewed"])
def test_equal_weights_and_families_of_one_change_nothing_to_the_last_bit(kind):
    table = table_of(kind)
    plain = compare_values(table)
    for options in (
        {"sample_weight": np.full(24, 0.3)},
        {"groups": np.random.RandomState(0).permutation(24)},
        {"groups": [f"family {i}" for i in range(24)], "sample_weight": [7] * 24},
    ):
        found = compare_values(table, **options)
        assert_same(found, plain)
        assert found.means.n_effective is None
        means = mean_intervals(pd.DataFrame(table), **options)
        assert_array_equal(means.interval, mean_intervals(table).interval)


def test_the_scale_of_weights_does_not_matter():
    table, weights = table_of("skewed"), np.random.RandomState(1).uniform(size=24)
    found = compare_values(table, sample_weight=weights)
    assert_same(compare_values(table, sample_weight=1e160 * weights), found, False)


@pytest.mark.parametrize("families", [False, True])
def test_a_query_of_weight_zero_is_no_query(families):
    table, weights = table_of("skewed"), np.random.RandomState(1).uniform(size=24)
    weights[[0, 5, 6, 7]] = 0.0
    kept = weights > 0
    options = {"sample_weight": weights}
    of_kept = {"sample_weight": weights[kept]}
    if families:  # the second family has weight 0
        family = np.repeat(np.arange(7), [5, 3, 3, 3, 3, 3, 4])
        options["groups"] = family
        options["sample_weight"] = weights = np.where(family == 1, 0.0, 1.0 + family)
        kept = weights > 0
        of_kept = {"groups": family[kept], "sample_weight": weights[kept]}
    found = compare_values(table, **options)
    expected = compare_values({n: v[kept] for n, v in table.items()}, **of_kept)
    assert_same(found, expected, exact=False)


# By hand ----------------------------------------------------------------------------


def test_weighted_means_by_hand():
    """Weights 3, 1, 1, 1: n = 36 / 12, and heavy values that vary more count in full."""
    p = np.array([3.0, 1.0, 1.0, 1.0]) / 6.0
    for values in ([4.0, 0.0, 1.0, 1.0], [1.0, 0.0, 4.0, -1.0]):
        found = mean_intervals(values, sample_weight=6.0 * p)
        mean = p @ values
        squares = (values - mean) ** 2
        variances = [p @ squares / 2, p**2 @ (squares / (1 - 2 * p + 1 / 3))]
        error = np.sqrt(max(variances))
        assert found.mean == pytest.approx(mean)
        assert found.n_effective == pytest.approx(3.0)
        assert found.standard_error == pytest.approx(error)
        half = stats.t.ppf(0.975, 2) * error
        assert_allclose(found.interval, [[mean - half, mean + half]])
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(mean) / error, 2))
    assert "n_effective" in repr(found)


def test_weighted_fractions_and_the_floor_of_p_have_the_effective_number():
    weights = np.array([4.0, 4.0, 2.0, 2.0, 2.0, 2.0])
    n = 16**2 / 48
    one, other = np.ones(6), np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    found = compare_values({"one": one, "other": other}, sample_weight=weights)
    z2 = stats.norm.ppf(0.975) ** 2
    centre = (6 / 16 + z2 / (2 * n)) / (1 + z2 / n)
    half = np.sqrt(z2 * (6 / 16 * 10 / 16 / n + z2 / (4 * n**2))) / (1 + z2 / n)
    assert_allclose(found.means.interval[1], [centre - half, centre + half])
    # The weights 4, 4 and 2 differ: 100 / 36 equal ones.
    assert found.smallest_p == pytest.approx(2 ** (1 - 100 / 36))
    assert found.p_value[0] >= found.smallest_p[0]
    low, high = found.interval[0]
    assert low <= 0 <= high
    assert "weighted (as precise as 5.33)" in repr(found)
    assert "3 weighted tasks that differ: p cannot be below 0.29" in repr(found)


@pytest.mark.parametrize("weighted", [False, True])
def test_families_are_averaged_first(weighted):
    X, y, qid = make_ranking(n_lists=40, random_state=0)
    scores = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
    rng = np.random.RandomState(0)
    family = rng.permutation(40) // 5
    weights = rng.uniform(size=40) if weighted else None
    options = {"groups": family, "sample_weight": weights}
    found = compare_rankers(y, scores, qid=qid, zero_division=0, **options)
    of_each = {"qid": qid, "k": 10, "average": None, "zero_division": 0}
    values = np.column_stack([ndcg_score(y, s, **of_each) for s in scores.values()])
    w = np.ones(40) if weights is None else weights
    names = list(dict.fromkeys(family))
    averages = [
        np.average(values[family == f], weights=w[family == f], axis=0) for f in names
    ]
    assert found.qid.tolist() == names
    assert_allclose(found.values, averages)
    assert repr(found).startswith("ndcg@10: 8 families, ")
    table = dict(zip(scores, np.transpose(averages), strict=True))
    of_families = [w[family == f].mean() for f in names] if weighted else None
    expected = compare_values(table, sample_weight=of_families, bounds=(0, 1))
    assert_same(found, expected, exact=False)
    frame = per_query(y, X[:, 0], qid=qid, measure="ndcg@10", zero_division=0)
    means = mean_intervals(frame, **options)
    assert means.unit == "families"
    assert_allclose(means.interval[0], found.means.interval[0])
    assert "n_families" in repr(means)


def test_a_family_has_the_mean_weight_of_its_queries():
    """Three queries of weight 1 are a family of weight 1."""
    groups = list("aaabcd")
    weights = [1.0, 1.0, 1.0, 3.0, 1.0, 1.0]
    values = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    found = mean_intervals(values, groups=groups, sample_weight=weights)
    assert found.mean == pytest.approx(1 / 6)


def test_undefined_queries_do_not_count_in_a_family():
    values = [1.0, np.nan, 0.0, 1.0, np.nan, 0.5]
    found = mean_intervals(values, groups=list("aabbcd"))
    assert found.mean == pytest.approx(np.mean([1.0, 0.5, 0.5]))
    assert (found.n_queries, found.n_undefined) == ([3], [2])
    y = np.array([[1, 0], [0, 0], [0, 1], [1, 0]])
    scores = {"a": np.tile([2.0, 1.0], (4, 1)), "b": np.tile([1.0, 2.0], (4, 1))}
    found = compare_rankers(y, scores, measure="mrr", groups=[0, 0, 1, 2])
    assert repr(found).startswith("mrr: 3 families (1 queries undefined)")


def test_intervals_of_families_cover():
    rng = np.random.default_rng(0)
    sizes = np.round(np.geomspace(1, 20, 10)).astype(int)
    family = np.repeat(np.arange(10), sizes)
    values = rng.normal(size=(10, 2000))[family] + rng.normal(size=(sizes.sum(), 2000))

    def covered(found):
        low, high = found.interval.T
        return np.mean((low <= 0) & (high >= 0))

    assert covered(mean_intervals(values, groups=family)) > 0.93
    assert covered(mean_intervals(values)) < 0.6


@pytest.mark.parametrize("slope", [-0.4, 0.0, 0.4])
def test_weighted_intervals_cover_if_heavy_queries_vary_more_or_less(slope):
    rng = np.random.default_rng(0)
    weights = np.exp(stats.norm.ppf((np.arange(100) + 0.5) / 100))
    values = rng.normal(size=(100, 3000)) * weights[:, np.newaxis] ** slope
    low, high = mean_intervals(values, sample_weight=weights).interval.T
    assert np.mean((low <= 0) & (high >= 0)) > 0.935


# Shapes -----------------------------------------------------------------------------


def test_values_go_by_order_or_by_id():
    X, y, qid = make_ranking(n_lists=20, random_state=0)
    qid = np.array([f"q{i}" for i in range(20)])[qid]
    ids = list(dict.fromkeys(qid))
    scores = {"a": X[:, 0], "b": X[:, 1]}
    rng = np.random.RandomState(0)
    of_id = {
        "sample_weight": dict(zip(ids, rng.uniform(size=20), strict=True)),
        "groups": dict(zip(ids, rng.permutation(20) // 4, strict=True)),
    }
    for names in (["sample_weight"], ["groups"], ["sample_weight", "groups"]):
        in_order = {name: list(of_id[name].values()) for name in names}
        expected = compare_rankers(y, scores, qid=qid, **in_order)
        series = {name: pd.Series(of_id[name])[::-1] for name in names}
        more = {name: {**of_id[name], "other": 1} for name in names}
        for given in (series, more):
            assert_same(compare_rankers(y, scores, qid=qid, **given), expected)
        table = per_query(y, X[:, 0], qid=qid, measure="ndcg@10")
        of_table = mean_intervals(table, **series)
        assert_allclose(of_table.interval[0], expected.means.interval[0])
        records = table.to_records()  # as per_query returns it without pandas
        of_records = mean_intervals(np.asarray(records), **series)
        assert_array_equal(of_records.interval, of_table.interval)
        frame = pd.DataFrame(dict(zip("ab", expected.values.T, strict=True)))
        if "groups" not in names:
            frame.index = expected.qid
            of_frame = compare_values(frame, bounds=(0, 1), **series)
            assert_same(of_frame, expected)


def test_runs_go_by_id():
    qrels, runs = graded_runs()
    ids = list(qrels)
    weights = dict(zip(ids, range(1, 13), strict=True))
    family = {q: int(q[1:]) // 3 for q in ids}
    options = {"sample_weight": weights, "groups": family}
    found = compare_runs(qrels, runs, zero_division=0, **options)
    table = pd.DataFrame(
        {
            name: evaluate_run(
                qrels=qrels, run=run, measure="ndcg@10", average=None, zero_division=0
            )["ndcg@10"]
            for name, run in runs.items()
        }
    )
    expected = compare_values(table, bounds=(0, 1), **options)
    assert_same(found, expected, exact=False)
    for name, mean in zip(runs, found.mean, strict=True):
        given = {"measure": "ndcg@10", "zero_division": 0}
        value = evaluate_run(run=runs[name], qrels=qrels, **given, **options)["ndcg@10"]
        assert value == pytest.approx(mean)
        value = evaluate_run(
            run=runs[name], qrels=qrels, sample_weight=weights, **given
        )
        expected = np.average(table[name], weights=list(weights.values()))
        assert value["ndcg@10"] == pytest.approx(expected)
    numbered = {int(q[1:]): documents for q, documents in qrels.items()}
    run = {int(q[1:]): documents for q, documents in runs["a"].items()}
    by_number = {int(q[1:]): weight for q, weight in weights.items()}
    value = evaluate_run(
        run=run,
        qrels=numbered,
        measure="ndcg@10",
        sample_weight=pd.Series(by_number),
        zero_division=0,
    )
    expected = np.average(table["a"], weights=list(weights.values()))
    assert value["ndcg@10"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample_weight": [np.nan] * 24}, r"sample_weight\[0\] is nan"),
        ({"sample_weight": ["a"] * 24}, "must be an array of numbers"),
    ],
)
def test_bad_families_and_weights_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        compare_values(table_of("skewed"), **options)
    with pytest.raises(ValueError, match=message):
        mean_intervals(table_of("skewed"), **options)


def test_columns_of_a_table_whose_index_repeats():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((60, 2)), columns=["a", "b"])
    table["family"] = np.repeat(list("abcdefghij"), 6)
    table.index = np.repeat(range(20), 3)
    systems = table[["a", "b"]]
    found = compare_values(systems, groups=table["family"])
    expected = compare_values(systems, groups=table["family"].to_numpy())
    np.testing.assert_array_equal(found.interval, expected.interval)
    shuffled = table["family"].sample(frac=1.0, random_state=0)
    with refused_by("id with two values"):
        compare_values(systems, groups=shuffled)
