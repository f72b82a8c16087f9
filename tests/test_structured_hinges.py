"""Structured hinges of lists and rows: vectors, bounds, smooth forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad

from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import NDCG, KendallTau

from .internals import ClassHinge, PairHinge, PlacesHinge, RankingLists
from .structured_cases import vector_cases


def test_vectors_of_ndcg():
    for case in vector_cases():
        y, s, k = np.array(case["y"], float), np.array(case["score"]), case["k"]
        lists = RankingLists([len(y)])
        hinge = PlacesHinge(y, lists, measure=NDCG(k))
        hinge.bottom = np.empty(
            len(y)
        )  # the vectors break ties by the stable ascending order
        hinge.bottom[np.argsort(y, kind="stable")] = np.arange(1, len(y) + 1)
        assert_allclose(
            hinge.worst(s[:, np.newaxis])[0][0], case["ndcg_hinge"], atol=1e-9
        )


def test_smoothed_pairs_lie_below_the_hinge_and_their_probabilities_bound_it():
    rng = np.random.default_rng(1)
    lists = RankingLists([6, 5])
    y, s = rng.integers(0, 3, 11).astype(float), rng.normal(size=(11, 1))
    hinge, weights = PairHinge(y, lists, measure=KendallTau()), np.array([0.4, 0.6])
    exact = hinge.worst(s)[0] @ weights
    value, slopes, cost, found = hinge.soft(s, 0.1, weights)
    assert found == pytest.approx(exact)
    assert exact - 0.1 <= value <= exact
    assert cost + np.sum(slopes * s) <= exact
    error = check_grad(
        lambda s: hinge.soft(s[:, None], 0.1, weights)[0],
        lambda s: hinge.soft(s[:, None], 0.1, weights)[1][:, 0],
        s[:, 0],
    )
    assert error < 1e-6


def test_classes_with_costs_are_the_largest_of_all():
    rng = np.random.default_rng(0)
    costs = rng.random((20, 4))
    y = rng.integers(0, 4, 20)
    costs[np.arange(20), y] = 0.0
    s = rng.normal(size=(20, 4))
    hinge = ClassHinge(y, costs)
    values, slopes = hinge.worst(s)
    assert_allclose(values, (s + costs).max(axis=1) - s[np.arange(20), y])
    worst = np.eye(4)[(s + costs).argmax(axis=1)]
    assert_allclose(slopes, worst - np.eye(4)[y])
    weights = np.full(20, 0.05)
    value, soft, cost, exact = hinge.soft(s.copy(), 0.1, weights)
    assert exact == pytest.approx(values.mean())
    assert values.mean() <= value <= values.mean() + 0.1 * np.log(4)
    assert cost + np.sum(soft * s) <= values.mean()


def test_the_hinge_of_kendall_is_the_mean_over_all_pairs():
    """One over r (r - 1) / 2 pairs; pairs with tied labels are wrong (section 17.4)."""
    rng = np.random.default_rng(2)
    for r in (2, 3, 7):
        y, s = rng.integers(0, 3, r).astype(float), rng.normal(size=r)
        y[0] = y[1] + 1.0
        pairs = [
            max(0.0, 1.0 - np.sign(y[i] - y[j]) * (s[i] - s[j]))
            for i in range(r)
            for j in range(i)
        ]  # a tie has the term 1
        values, _ = structured_hinge("kendall", y, s)
        assert_allclose(values, np.sum(pairs) / (r * (r - 1) / 2))
        both, _ = structured_hinge(
            "kendall", np.append(y, y), np.append(s, s), qid=[0] * r + [1] * r
        )
        assert_allclose(both, [values[0]] * 2)
