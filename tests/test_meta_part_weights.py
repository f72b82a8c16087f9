"""Shares of the parts of a stack: enumeration, order, small shares, copies."""

import itertools

import numpy as np
import pytest

from lowrank_rank import StackingRanker
from lowrank_rank.metrics import ndcg_score

from .test_meta_stacking import (
    LENGTH,
    N_LISTS,
    QID,
    Column,
    X,
    Y,
    columns,
    units_within,
)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4, 5])
def test_shares_are_the_mean_of_the_best_points_of_many_draws(n_parts):
    """Enumerate the shares, draw the held-out queries again, and take the best."""
    rng = np.random.default_rng(n_parts)
    scores = rng.normal(size=(n_parts, len(Y))) + Y
    parts = columns(*[1.0] * n_parts)
    stack = StackingRanker(parts, cv=3).fit(scores.T, Y, qid=QID)
    scaled = scores / units_within(scores)
    n_steps = 10 if n_parts <= 3 else 5
    points = np.array(
        [
            point
            for point in itertools.product(range(n_steps + 1), repeat=n_parts)
            if sum(point) == n_steps
        ]
    )
    points = points / n_steps
    values = np.array(
        [ndcg_score(Y, one @ scaled, qid=QID, k=10, average=None) for one in points]
    )
    values = values[:, ~np.isnan(values[0])]  # not of queries without a relevant one
    n_lists = values.shape[1]
    draws = np.random.default_rng(7).integers(n_lists, size=(2000, n_lists))
    best = points[values[:, draws].mean(axis=2).argmax(axis=0)].mean(axis=0)
    best[best < 0.1] = 0.0
    np.testing.assert_allclose(stack.scores_.weights, best / best.sum(), atol=0.04)
    value = ndcg_score(Y, stack.scores_.weights @ scaled, qid=QID, k=10)
    np.testing.assert_allclose(stack.scores_.scores[0], value)


def test_shares_do_not_depend_on_the_order_of_queries_and_parts():
    scores = np.random.default_rng(1).normal(size=(3, len(Y))) + Y
    order = np.random.default_rng(2).permutation(N_LISTS)
    rows = np.arange(len(Y)).reshape(N_LISTS, LENGTH)[order].ravel()
    halves = [(k == QID % 2, k != QID % 2) for k in (0, 1)]
    shuffled = [(train[rows], test[rows]) for train, test in halves]
    parts = columns(1, 1, 1)
    stack = StackingRanker(parts, cv=halves).fit(scores.T, Y, qid=QID)
    other = StackingRanker(parts[::-1], cv=shuffled)
    other.fit(scores.T[rows], Y[rows], qid=QID[rows])
    shares = stack.scores_.weights
    assert shares.min() > 0
    np.testing.assert_allclose(other.scores_.weights[::-1], shares, rtol=1e-12)


def test_a_small_share_is_none():
    """A part that draws its scores has next to no share, and is not fitted again."""
    noise = np.random.default_rng(3).normal(size=(2, len(Y)))
    features = np.column_stack([Y + 0.8 * noise[0], noise[1]])
    stack = StackingRanker(columns(1, 1), cv=3).fit(features, Y, qid=QID)
    assert stack.weights_["column1"] == 0.0
    assert set(stack.named_estimators_) == {"column0"}


def test_many_copies_of_a_part_share_alike():
    same = [(f"copy{i}", Column(0, i + 1.0)) for i in range(12)]
    stack = StackingRanker(same).fit(X, Y, qid=QID)
    np.testing.assert_allclose(stack.scores_.weights, 1.0 / 12.0)
