"""Targets that miss: means of the known ones near x, whatever the reason that the others miss."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from lowrank_rank import LowRankSurrogateRanker

from .internals import MeansOfKnown


@pytest.fixture
def rows():
    """Features, three targets and which of them are known, more of them where x is large."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    y = X @ rng.normal(size=(2, 3)) + rng.normal(size=(40, 3))
    return X, np.where(rng.normal(size=y.shape) < X[:, :1] + 0.5, y, np.nan)


def nearest(X, row, n):
    return np.argsort(((X - row) ** 2).sum(axis=1))[:n]


def test_prediction_is_the_formula(rows):
    """Of nearest neighbours, whose weights are known."""
    X, y = rows
    model = MeansOfKnown(KNeighborsRegressor(7), prior_rows=10).fit(X, y)
    means, prior = np.nanmean(y, axis=0), 10 / 40
    for row in X[:5] + 0.1:
        near = y[nearest(X, row, 7)]
        known = np.mean(~np.isnan(near), axis=0)
        above = np.nansum(near - means, axis=0) / 7
        wanted = means + above / (known + (1 - known) * prior)
        np.testing.assert_allclose(model.predict(row[np.newaxis])[0], wanted, rtol=1e-9)


def test_prior_of_all_rows_fills_with_the_means(rows):
    X, y = rows
    filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
    wanted = KNeighborsRegressor(5).fit(X, filled).predict(X)
    model = MeansOfKnown(KNeighborsRegressor(5), prior_rows=40).fit(X, y)
    np.testing.assert_allclose(model.predict(X), wanted, rtol=1e-9)


def test_nothing_missing_leaves_the_regressor_as_it_is(rows):
    X, y = rows
    y = np.nan_to_num(y)
    wanted = KNeighborsRegressor(5).fit(X, y).predict(X)
    np.testing.assert_allclose(
        MeansOfKnown(KNeighborsRegressor(5)).fit(X, y).predict(X), wanted, rtol=1e-9
    )


def test_weight_two_is_the_row_twice_and_zero_no_row(rows):
    X, y = rows
    weights = np.arange(40) % 3
    tree = MeansOfKnown(
        DecisionTreeRegressor(max_depth=2, random_state=0), prior_rows=0.0
    )
    twice = np.repeat(np.arange(40), weights)
    one, other = (
        tree.fit(X, y, weights).predict(X),
        tree.fit(X[twice], y[twice]).predict(X),
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_order_of_rarely_known_targets_is_right_in_the_limit():
    """Filled with the mean, a target that is seldom known seems to be near it everywhere.

    Near x = 1 the first target is known in one row of ten and is 1; the second is always known
    and is .5. Both have the mean 0 of what is known.
    """
    n = 4000
    X = np.repeat([[0.0], [1.0]], n // 2, axis=0)
    first = np.where(X[:, 0] == 1, 1.0, -1.0)
    first[np.arange(n) % 10 > 0] = np.nan
    second = np.where(X[:, 0] == 1, 0.5, -0.5)
    y = np.column_stack([first, second])
    tree = DecisionTreeRegressor()
    found = MeansOfKnown(tree).fit(X, y).predict([[1.0]])[0]
    np.testing.assert_allclose(found, [1.0, 0.5], atol=0.05)
    filled = tree.fit(X, np.nan_to_num(y)).predict([[1.0]])[0]
    assert filled[0] < filled[1]


def test_named_trees_of_items_with_missing_labels(rows):
    """One forest of all items, in float units that do not matter, dense or sparse."""
    X, y = rows
    y = y - np.nanmin(y)
    named = LowRankSurrogateRanker(
        target_loss="dcg", estimator="trees", random_state=0
    ).fit(X, y)
    assert isinstance(named.estimator_, MeansOfKnown)
    assert isinstance(named.estimator_.estimator_, ExtraTreesRegressor)
    assert named.feature_importances_.shape == (2,)
    scores = named.predict(X)
    np.testing.assert_array_equal(
        named.fit(X, 1e6 * y).predict(X).argsort(), scores.argsort()
    )
    sparse = named.fit(csr_matrix(X), y).predict(csr_matrix(X))
    np.testing.assert_allclose(sparse, scores, atol=1e-9)
    assert named.score(X, y) > LowRankSurrogateRanker(target_loss="dcg").fit(
        X, y
    ).score(X, y)


def test_named_trees_of_two_items():
    """A single pair, unknown in some rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.column_stack([X[:, 0], -X[:, 0]])
    y[::3, 1] = np.nan
    named = LowRankSurrogateRanker(target_loss="pd", estimator="trees", random_state=0)
    found = named.fit(X, y).predict([[2.0, 0.0], [-2.0, 0.0]])
    np.testing.assert_array_equal(found, [[1.0, 0.0], [0.0, 1.0]])


def test_a_row_of_weight_zero_has_no_missing_labels():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, (40, 4)).astype(float)
    y[0, 1], weights = np.nan, np.append(0.0, np.ones(39))
    trees = LowRankSurrogateRanker(target_loss="dcg", estimator="trees", random_state=0)
    assert len(trees.fit(X, y, sample_weight=weights).estimators_) == 1
