"""Intervals and tests of paired differences: against SciPy, cases by hand, and what is known."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, PointwiseRanker, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import compare_rankers, ndcg_score
from lowrank_rank.metrics._comparison import holm, mean_interval, sign_flip_p_value


def test_sign_flips_by_hand():
    """Sums of +-1 +-2 +-3: 2 of 8 reach 6; of +-1 +-2 +-2: 4 reach |-3|."""
    d = np.array([[1.0, 2.0, 3.0], [1.0, -2.0, -2.0], [0.0, 0.0, 0.0]])
    assert_array_equal(sign_flip_p_value(d, 99, None), [2 / 8, 4 / 8, 1.0])


def test_sign_flips_are_scipys_permutation_test():
    d = np.random.RandomState(0).normal(0.4, size=(4, 9))
    ours = sign_flip_p_value(d, 512, None)
    theirs = [
        stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=512).pvalue
        for row in d
    ]
    assert_allclose(ours, theirs, rtol=1e-12)
    drawn = sign_flip_p_value(d, 400, np.random.RandomState(0))  # fewer than 2**9
    assert_allclose(drawn, ours, atol=4 * 0.5 / np.sqrt(400))
    assert not np.array_equal(drawn, ours)


def test_interval_is_scipys_bootstrap():
    d = np.random.RandomState(0).exponential(size=(2, 40))
    for method in ("BCa", "percentile", "basic"):
        ours = mean_interval(d, 0.9, method, 400, np.random.RandomState(3))
        for row, interval in zip(d, ours, strict=True):
            theirs = stats.bootstrap(
                (row,), np.mean, confidence_level=0.9, method=method, n_resamples=400,
                random_state=np.random.RandomState(3),
            ).confidence_interval  # fmt: skip
            assert_allclose(interval, theirs, rtol=1e-12)


def test_expanded_percentiles_are_as_wide_as_students_interval():
    d = np.random.RandomState(0).normal(size=(1, 8))
    low, high = mean_interval(d, 0.95, "expanded", 50_000, np.random.RandomState(0))[0]
    narrow = np.ptp(mean_interval(d, 0.95, "percentile", 50_000, np.random.RandomState(0))[0])
    half = stats.t.ppf(0.975, 7) * d.std(ddof=1) / np.sqrt(8)
    assert high - low == pytest.approx(2 * half, rel=0.03)
    assert narrow < 0.8 * 2 * half


def test_holm_by_hand():
    assert_allclose(holm(np.array([0.01, 0.04, 0.03, 0.5])), [0.04, 0.09, 0.09, 0.5])
    assert_array_equal(holm(np.array([0.6, 0.9])), [1.0, 1.0])


def test_models_and_scores_on_one_table():
    X, y, qid = make_ranking(n_lists=60, random_state=0)
    train = qid < 30
    test = ~train
    ranker = LowRankSurrogateRanker().fit(X[train], y[train], qid=qid[train])
    pipeline = make_pipeline(StandardScaler(), PointwiseRanker(Ridge()))
    pipeline.fit(X[train], ranking_target(y[train], qid[train]))
    rankers = {
        "ranker": ranker,
        "pipeline": pipeline,
        "first feature": X[test, 0],
        "again": ranker.predict(X[test]),
    }
    found = compare_rankers(
        y[test], rankers, X=X[test], qid=qid[test], measure="ndcg@5", random_state=0
    )
    for name, mean in zip(found.names, found.mean, strict=True):
        scores = rankers[name] if name in ("first feature", "again") else (
            rankers[name].predict(X[test])
        )  # fmt: skip
        assert mean == pytest.approx(ndcg_score(y[test], scores, qid=qid[test], k=5))
    table = found.to_frame()
    assert len(table) == 6
    same = table[(table.ranker == "ranker") & (table.baseline == "again")].iloc[0]
    assert (same.difference, same.low, same.high, same.p_value, same.effect) == (0, 0, 0, 1, 0)
    assert same.equal == len(found.qid)
    far = table[(table.ranker == "ranker") & (table.baseline == "first feature")].iloc[0]
    assert far.low > 0
    assert far.p_holm < 0.01
    assert far.better > far.worse
    d = found.differences[:, 1]
    assert far.effect == pytest.approx(d.mean() / d.std(ddof=1))
    against = compare_rankers(
        y[test], rankers, X=X[test], qid=qid[test], measure="ndcg@5", baseline="again",
        random_state=0,
    )  # fmt: skip
    assert against.to_frame()["baseline"].unique().tolist() == ["again"]
    assert len(against.pairs) == 3


def test_shuffled_rows_and_the_seed():
    X, y, qid = make_ranking(n_lists=25, random_state=1)
    scores = {"a": X[:, 0], "b": X[:, 1]}
    found = compare_rankers(ranking_target(y, qid), scores, random_state=5)
    again = compare_rankers(y, scores, qid=qid, random_state=5)
    assert_array_equal(found.interval, again.interval)
    assert_array_equal(found.p_value, again.p_value)
    swapped = compare_rankers(y, scores, qid=qid, baseline="a", random_state=5)
    assert_allclose(swapped.p_value, found.p_value)
    assert_allclose(swapped.interval[0], -found.interval[0][::-1], atol=5e-3)


def test_undefined_queries_are_left_out_of_all():
    y = np.array([[1, 0], [0, 0], [0, 1], [1, 0]])
    scores = {"a": np.tile([2.0, 1.0], (4, 1)), "b": np.tile([1.0, 2.0], (4, 1))}
    found = compare_rankers(y, scores, measure="mrr", random_state=0)
    assert found.qid.tolist() == [0, 2, 3]
    assert found.n_undefined == 1
    counted = compare_rankers(y, scores, measure="mrr", zero_division=0, random_state=0)
    assert counted.n_undefined == 0
    assert counted.values[1].tolist() == [0, 0]


def test_classifiers_with_named_classes():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(200, 2))
    y = (X[:, 0] + rng.normal(size=200) > 0).astype(int)
    qid = np.repeat(np.arange(20), 10)
    model = PointwiseRanker(LogisticRegression()).fit(X, y, qid=qid)
    found = compare_rankers(
        y, {"model": model, "x": X[:, 0]}, X=X, qid=qid, measure="auc", random_state=0
    )
    assert found.mean[0] > 0.6
    with pytest.raises(ValueError, match="is a model: give X"):
        compare_rankers(y, {"model": model, "x": X[:, 0]}, qid=qid)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"baseline": "c"}, "none of the rankers"),
        ({"confidence_level": 1.5}, "confidence_level"),
        ({"method": "t"}, "method must be one of"),
        ({"n_resamples": 0}, "n_resamples"),
        ({"random_state": -1}, "random_state"),
        ({"qid": [1, 1, 1, 1]}, "defined on 1 of 1 queries"),
        ({"rankers": {"a": [1, 2, 3, 4]}}, "two at least"),
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
        found = compare_rankers(y, {"a": base, "b": other}, measure="mrr", random_state=0)
    assert np.isfinite(found.interval).all()
    assert found.p_value[0] > 0.9
