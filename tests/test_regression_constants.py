"""Where nothing is searched: the penalty grows as rows get few for the features."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StructuredHingeRanker,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.regression._constants import _MOST, DistinctRows


@pytest.fixture(scope="module")
def documents():
    return make_ranking(n_lists=15, n_items=(3, 9), n_features=8, random_state=0)


def constant(X, enough):
    return 0.1 * max(1.0, enough * min(X.shape[1] / len(X), 1.0))


@pytest.mark.parametrize(
    "cls", [LowRankSurrogateRanker, PairwiseDAGRanker, OrderPreservingRegressor]
)
def test_documents_need_100_rows_a_feature(documents, cls):
    X, y, qid = documents
    assert cls().fit(X, y, qid=qid).alpha_ == pytest.approx(constant(X, 100))
    wide = np.random.default_rng(0).normal(size=(len(X), 3 * len(X)))
    assert cls().fit(wide, y, qid=qid).alpha_ == pytest.approx(10.0)
    assert cls(alpha=0.3).fit(X, y, qid=qid).alpha_ == 0.3


def test_items_need_20_and_classes_5():
    X = np.random.default_rng(0).normal(size=(19, 6))
    y = np.random.default_rng(1).integers(0, 3, (19, 4)).astype(float)
    ranker = LowRankSurrogateRanker(target_loss="dcg").fit(X, y)
    assert ranker.alpha_ == pytest.approx(constant(X, 20))
    classifier = LowRankSurrogateClassifier().fit(X, y[:, 0])
    assert classifier.alpha_ == pytest.approx(constant(X, 5))


@pytest.mark.parametrize(
    ("n", "p", "expected"),
    [
        (40, 6, 0.5 * 6 / 40 * 6 / 50),
        (40, 60, 0.5),
        (400, 60, 0.5 * 60 / 400),
        (3000, 2, 0.5 / 1000 * 2 / 50),
        (9000, 2, 0.5 / 1000 * 2 / 50),  # more are not counted
    ],
)
def test_weights_of_each_item_may_be_large(n, p, expected):
    X = np.random.default_rng(0).normal(size=(n, p))
    y = np.random.default_rng(1).integers(0, 3, (n, 4)).astype(float)
    ranker = OrderPreservingRegressor(target_loss="dcg", tol=1e-2)
    model = clone(ranker).fit(X, y)
    assert model.alpha_ == pytest.approx(expected)
    weights = np.repeat([0.0, 2.0], n)
    again = clone(ranker).fit(np.vstack([X, X]), np.vstack([y, y]), sample_weight=weights)
    assert again.alpha_ == model.alpha_
    blocks = [(X[i::3], y[i::3], None) for i in range(3)]
    assert clone(ranker).fit_blocks(blocks).alpha_ == model.alpha_


@pytest.mark.parametrize("cls", [LowRankSurrogateRanker, OrderPreservingRegressor])
def test_weights_are_no_rows(documents, cls):
    """Weight 2 is the row twice, weight 0 no row, and the unit of the weights does not matter."""
    X, y, qid = documents
    weights = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), weights)
    ranker = cls(target_loss="dcg")
    weighted = clone(ranker).fit(X, y, qid=qid, sample_weight=weights)
    repeated = clone(ranker).fit(X[rows], y[rows], qid=qid[rows])
    assert weighted.alpha_ == repeated.alpha_
    assert clone(ranker).fit(X, y, qid=qid, sample_weight=5 * weights).alpha_ == weighted.alpha_
    twice = clone(ranker).fit(np.vstack([X, X]), np.append(y, y), qid=np.append(qid, qid + 100))
    assert twice.alpha_ == clone(ranker).fit(X, y, qid=qid).alpha_


def test_parts_count_as_the_whole(documents):
    X, y, qid = documents
    whole, first = LowRankSurrogateRanker().fit(X, y, qid=qid), qid < 6
    ranker = LowRankSurrogateRanker().partial_fit(X[first], y[first], qid=qid[first])
    assert ranker.alpha_ > whole.alpha_
    ranker.partial_fit(X[~first], y[~first], qid=qid[~first])
    assert ranker.alpha_ == pytest.approx(whole.alpha_)
    ranker = LowRankSurrogateRanker().fit(X[first], y[first], qid=qid[first])  # nothing searched
    ranker.partial_fit(X[~first], y[~first], qid=qid[~first])
    assert ranker.alpha_ == pytest.approx(whole.alpha_)
    blocks = [(X[rows], y[rows], qid[rows]) for rows in (first, ~first)]
    by_blocks = OrderPreservingRegressor().fit_blocks(blocks)
    assert by_blocks.alpha_ == OrderPreservingRegressor().fit(X, y, qid=qid).alpha_


def test_large_numbers_are_estimates_that_add_up():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, 200_000, dtype=np.uint64)
    keys = np.append(keys, keys[:50_000])  # equal ones count once
    counted = np.ones(len(keys), dtype=bool)
    whole = DistinctRows.of(keys, counted, 5)
    assert len(whole.keys) == _MOST
    assert whole.n_rows == pytest.approx(200_000, rel=0.05)
    parts = [DistinctRows.of(keys[some::3], counted[some::3], 5) for some in range(3)]
    merged = parts[0].plus(parts[1]).plus(parts[2])
    np.testing.assert_array_equal(merged.keys, whole.keys)
    few = DistinctRows.of(keys[:100], counted[:100], 5, n_rows=lambda lists: lists + 1)
    assert few.n_rows == sum(range(101))
    equal = DistinctRows.of(np.full(100_000, 7, dtype=np.uint64), np.ones(100_000, dtype=bool), 5)
    assert equal.n_rows == 1


def test_few_lists_with_many_features_are_ranked_as_well_as_by_a_tuned_penalty():
    """What the constant is for: pooled ridge with the best of its penalties on the test lists."""
    X, y, qid = make_ranking(n_lists=266, n_items=20, n_features=120, noise=3.0, random_state=0)
    train, test = qid < 6, qid >= 6

    def ndcg(model, **ids):
        scores = model.fit(X[train], y[train], **ids).predict(X[test])
        return ndcg_score(y[test], scores, qid=qid[test], k=10)

    tuned = max(ndcg(Ridge(alpha)) for alpha in (1.0, 10.0, 100.0, 1000.0, 1e4))
    for cls in (LowRankSurrogateRanker, OrderPreservingRegressor, StructuredHingeRanker):
        assert ndcg(cls(), qid=qid[train]) > tuned - 0.01
        assert ndcg(cls(alpha=1e-3), qid=qid[train]) < tuned - 0.005  # it does matter here


@pytest.mark.parametrize("shuffled", [False, True])
def test_first_rows_are_enough_unless_they_are_equal(shuffled):
    """The count stops where more rows change nothing, whatever the order of the rows."""
    rng = np.random.default_rng(0)
    n = 3000
    X, y, qid = rng.normal(size=(n, 2)), rng.integers(0, 3, n).astype(float), np.arange(n) // 5
    same = X.copy(), y.copy()
    same[0][:2500], same[1][:2500] = 0.0, 1.0  # equal lists, at first
    for (features, grades), is_enough in (
        ((X, y), True),
        (same, True),
        ((X * 0.0, y * 0.0), False),
    ):
        order = rng.permutation(n) if shuffled else np.arange(n)
        ranker = OrderPreservingRegressor(target_loss="dcg")
        found = ranker.fit(features[order], grades[order] + 1.0, qid=qid[order]).alpha_
        assert (found == 0.1) == is_enough
