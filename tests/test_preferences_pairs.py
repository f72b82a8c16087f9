"""Fits to features of pairs: all pairs of each list, both ways, in pieces."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank.datasets import make_ranking
from lowrank_rank.target_losses import PairwiseDisagreement

from .preference_cases import all_pairs, products


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(12, (1, 8), n_features=4, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))  # ids in any order
    return X[order], y[order], np.array([f"q{i}" for i in qid])[order]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["unit", "difference"])
def test_least_squares_on_all_pairs_both_ways(documents, kind, weighted):
    """A pair has the weight w_i w_j / W, and each row is a pair with itself."""
    X, y, qid = documents
    w = (
        np.random.default_rng(1).uniform(0.5, 2.0, len(y))
        if weighted
        else np.ones(len(y))
    )
    features = lambda a, b: np.hstack([a, b**2])  # noqa: E731  # not antisymmetric
    ranker = PairwiseDAGRanker(
        target_loss=PairwiseDisagreement(kind), pair_features=features, alpha=0.0
    ).fit(X, y, qid=qid, sample_weight=w)
    i, j, target, weight = all_pairs(y, qid, w, kind)
    own = w**2 / np.array([w[qid == q].sum() for q in qid])
    by_hand = LinearRegression().fit(
        np.vstack([features(X[i], X[j]), features(X[j], X[i]), features(X, X)]),
        np.concatenate([target, -target, np.zeros(len(y))]),
        sample_weight=np.concatenate([weight, weight, own]),
    )
    np.testing.assert_allclose(ranker.coef_[0], by_hand.coef_, rtol=1e-8)
    np.testing.assert_allclose(
        ranker.intercept_, by_hand.intercept_, rtol=1e-8, atol=1e-12
    )


def test_pieces_of_pairs_add_up():
    """Long lists of many features take several pieces, of the rows of one list or of several."""
    X, y, qid = make_ranking(4, 60, n_features=3, random_state=0)
    X = np.hstack([X, np.zeros((len(y), 500))])
    seen = []

    def features(a, b):
        seen.append(len(a))
        return products(a[:, :3], b[:, :3])

    wide = PairwiseDAGRanker(pair_features=features, alpha=1.0).fit(X, y, qid=qid)
    assert len(seen) > 1
    assert sum(seen) == 4 * 60**2
    one = PairwiseDAGRanker(pair_features=products, alpha=1.0).fit(X[:, :3], y, qid=qid)
    np.testing.assert_allclose(wide.coef_, one.coef_, rtol=1e-10)


def test_weight_two_is_a_row_twice_and_no_weight_is_no_row(documents):
    X, y, qid = documents
    w = np.arange(len(y)) % 3
    rows = np.repeat(np.arange(len(y)), w)
    ranker = PairwiseDAGRanker(pair_features=products, alpha=1.0)
    weighted = ranker.fit(X, y, qid=qid, sample_weight=w).coef_
    np.testing.assert_allclose(
        ranker.fit(X[rows], y[rows], qid=qid[rows]).coef_, weighted
    )
    for tiny in (1e-200, 1e200):  # squares of such weights are 0 or infinite
        scaled = ranker.fit(X, y, qid=qid, sample_weight=tiny * w).coef_
        np.testing.assert_allclose(scaled, weighted)
