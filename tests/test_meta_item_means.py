"""The parts "means" and "forest" of StackingRanker(estimators=None)."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import ExtraTreesRegressor

from lowrank_rank import LowRankSurrogateRanker, StackingRanker

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
ALONE = {"linear": 0.0, "trees": 0.0, "means": 1.0}


def scores_of_means(y, sample_weight=None):
    """Scores of the items by their means alone; they are the same in each row."""
    stack = StackingRanker(target_loss="dcg@10", weights=ALONE)
    scores = stack.fit(X, y, sample_weight=sample_weight).predict(X)
    assert_array_equal(scores, np.tile(scores[0], (len(X), 1)))
    return scores[0]


# Item means -------------------------------------------------------------------------


def test_means_of_labels():
    y = rng.integers(0, 4, (60, 5))
    weights = rng.uniform(0, 2, 60)
    assert_allclose(scores_of_means(y), y.mean(axis=0))
    expected = np.average(y, axis=0, weights=weights)
    assert_allclose(scores_of_means(y, weights), expected)


def test_means_with_gaps_are_of_differences_from_the_row():
    y = rng.integers(0, 4, (60, 5)).astype(float)
    y[rng.random(y.shape) < 0.4] = np.nan
    y = np.where(np.isnan(y).all(axis=1, keepdims=True), 1.0, y)
    sums = np.nansum(y - np.nanmean(y, axis=1, keepdims=True), axis=0)
    n = (~np.isnan(y)).sum(axis=0)
    assert_allclose(scores_of_means(y), sums / (n + 5))
    assert_allclose(scores_of_means(y, np.full(60, 2.0)), 2 * sums / (2 * n + 5))


def test_generous_rows_make_no_item_better():
    """Items 0 and 1 are equal within rows; those who rate all high know item 1 alone."""
    y = np.tile([2.0, 2.0, 1.0], (60, 1))
    y[30:] += 3.0
    y[:30, 1] = np.nan
    scores = scores_of_means(y)
    assert scores[2] < min(scores[:2])
    assert abs(scores[0] - scores[1]) < 0.1 < np.nanmean(y[:, 1]) - np.nanmean(y[:, 0])


def test_means_of_preferences():
    wins = rng.random((60, 4, 4))
    stack = StackingRanker(target_loss="pd", weights=ALONE).fit(X, wins)
    expected = (wins.sum(axis=2) - wins.sum(axis=1)).mean(axis=0)
    assert_allclose(stack.predict(X)[0], expected)


def test_the_order_for_all_wins_where_features_say_nothing():
    y = rng.integers(0, 3, (60, 5)) + np.arange(5)
    stack = StackingRanker(target_loss="kendall").fit(X, y)
    named = dict(zip(stack.scores_.parts, stack.scores_.scores[1:], strict=True))
    assert stack.scores_.weights[2] > 0
    assert stack.scores_.scores[0] >= named["linear"] - 0.05


@pytest.mark.parametrize("weights", [None, np.r_[np.zeros(10), np.ones(50)]])
def test_an_item_without_labels_in_a_fold_is_fitted_without_it(weights):
    """All labels of item 4 are in one test fold, in any of the three."""
    y = rng.integers(0, 4, (60, 5)).astype(float)
    y[:, 4] = np.nan
    y[20:23, 4] = 3.0
    folds = [(k != np.arange(60) // 20, k == np.arange(60) // 20) for k in range(3)]
    stack = StackingRanker(target_loss="dcg@10", cv=folds)
    stack.fit(X, y, sample_weight=weights)
    assert stack.predict(X).shape == (60, 5)
    assert np.isfinite(stack.scores_.scores).all()


# The forest -------------------------------------------------------------------------


def test_the_forest_predicts_as_that_of_scikit_learn():
    y = rng.integers(0, 4, 60).astype(float)
    qid = np.repeat(np.arange(12), 5)
    only = {"linear": 0.0, "trees": 0.0, "forest": 1.0}
    stack = StackingRanker(weights=only).fit(X, y, qid=qid)
    forest = ExtraTreesRegressor(50, min_samples_leaf=5, max_features=1 / 3)
    expected = LowRankSurrogateRanker(estimator=forest, random_state=0)
    expected.fit(X, y, qid=qid)
    assert_allclose(stack.predict(X), expected.predict(X))
    assert_array_equal(stack.predict(X[7:8]), stack.predict(X)[7:8])


def test_missing_values_are_refused_if_fit_had_none():
    pd = pytest.importorskip("pandas")
    y = rng.integers(0, 4, 60)
    qid = np.repeat(np.arange(12), 5)
    gaps = X.copy()
    gaps[3, 1] = np.nan
    for name in ("linear", "trees", "forest"):
        weights = dict.fromkeys(("linear", "trees", "forest"), 0.0) | {name: 1.0}
        stack = StackingRanker(weights=weights).fit(X, y, qid=qid)
        with pytest.raises(ValueError, match=r"X of fit had none.* column 1"):
            stack.predict(gaps)
        for later in (gaps.astype(object), pd.DataFrame(gaps)):
            with pytest.raises(ValueError, match=r"X of fit had none.* column 1"):
                stack.predict(later)
        stack.fit(gaps, y, qid=qid)
        assert np.isfinite(stack.predict(gaps)).all()


def test_n_jobs_reaches_the_fit_of_the_forest_and_changes_nothing():
    y = rng.integers(0, 4, 60)
    qid = np.repeat(np.arange(12), 5)
    one = StackingRanker().fit(X, y, qid=qid)
    two = StackingRanker(n_jobs=2).fit(X, y, qid=qid)
    assert_array_equal(one.predict(X), two.predict(X))
    only = {"linear": 0.0, "trees": 0.0, "forest": 1.0}
    forest = StackingRanker(n_jobs=2, weights=only).fit(X, y, qid=qid).estimators_[0]
    assert forest.estimator.n_jobs == 2
