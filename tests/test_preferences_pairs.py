"""Pairs of documents: which they are and what they weigh."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank.datasets import make_ranking
from lowrank_rank.target_losses import PairwiseDisagreement

from .internals import RankingLists, pair_of_code, pairs_within
from .preference_cases import all_pairs


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(12, (1, 8), n_features=4, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))  # ids in any order
    return X[order], y[order], np.array([f"q{i}" for i in qid])[order]


def test_codes_number_the_pairs():
    i, j = pair_of_code(np.arange(300 * 299 // 2))
    assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == 300 * 299 // 2
    assert np.all((i >= 0) & (i < j) & (j < 300))
    for large in (10**6, 94_906_266):  # codes near 2**52
        j = np.array([large - 1, large])
        code = j * (j - 1) // 2
        np.testing.assert_array_equal(pair_of_code(code), [[0, 0], j])
        np.testing.assert_array_equal(pair_of_code(code - 1), [j - 2, j - 1])


@pytest.mark.parametrize("kind", ["unit", "difference"])
def test_each_pair_of_a_list_once(documents, kind):
    _, y, qid = documents
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    lists = RankingLists.from_qid(qid)
    first, second, targets, pair_weights, n_all = pairs_within(
        lists,
        y,
        weights,
        PairwiseDisagreement(kind),
        1.0 / lists.sum(lists.group(weights)),
        None,
        np.random.RandomState(0),
    )
    i, j, target, weight = all_pairs(y, qid, weights, kind)
    assert n_all == len(first) == len(i)
    flip = np.where(first < second, 1.0, -1.0)
    low, high = np.minimum(first, second), np.maximum(first, second)
    order = np.lexsort((high, low))
    np.testing.assert_array_equal(low[order], i)
    np.testing.assert_array_equal(high[order], j)
    np.testing.assert_allclose((targets * flip)[order], target)
    np.testing.assert_allclose(pair_weights[order], weight, rtol=1e-9)


def test_samples_are_distinct_fair_and_repeatable(documents):
    _, y, qid = documents
    lists, loss, ones = RankingLists.from_qid(qid), PairwiseDisagreement(), np.ones(len(y))
    factors = np.ones(lists.n_lists)
    first, second, _, weights, _ = pairs_within(
        lists, y, ones, loss, factors, None, np.random.RandomState(0)
    )
    count = np.zeros((len(y), len(y)))
    for seed in range(300):
        i, j, _, drawn_weights, n_all = pairs_within(
            lists, y, ones, loss, factors, 20, np.random.RandomState(seed)
        )
        assert len(i) == 20
        assert n_all == len(first)
        assert drawn_weights.sum() == pytest.approx(weights.sum())
        count[i, j] += 1
        assert len(set(zip(i.tolist(), j.tolist(), strict=True))) == 20
    drawn = count[first, second] / 300
    assert count.sum() == 6000
    assert np.abs(drawn - 20 / len(first)).max() < 0.12
    X = np.random.default_rng(0).normal(size=(len(y), 2))
    ranker = PairwiseDAGRanker(estimator=Ridge(), max_pairs=20, random_state=3)
    first, second = (ranker.fit(X, y, qid=qid).predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert ranker.n_pairs_ == 20
