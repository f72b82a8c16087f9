"""Blocks of whole lists: what is applied to them and summed."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
)
from lowrank_rank.datasets import make_ranking

from .block_cases import Once
from .internals import Blocks


def test_blocks_are_read_for_every_sum_and_held_ones_made_once():
    made = []

    def double(block):
        made.append(block)
        return 2 * block

    source = Once([1, 2, 3])
    blocks = Blocks(source).map(double).map(np.add, 1)
    assert [blocks.sum(np.multiply, 10) for _ in range(2)] == [150, 150]
    assert (source.passes, made) == (2, [1, 2, 3, 1, 2, 3])
    held = Blocks([1, 2, 3]).map(double)
    assert [held.sum(np.multiply, 10) for _ in range(2)] == [120, 120]
    assert len(made) == 9


def test_what_is_no_block_is_refused():
    ranker = LowRankSurrogateRanker()
    for wrong in ([1], (1, 2, 3, 4, 5), np.ones((3, 3)), None):
        with pytest.raises(ValueError, match="A block is a tuple"):
            ranker.fit_blocks([wrong])
    with pytest.raises(TypeError, match="iterable"):
        ranker.fit_blocks(None)
    with pytest.raises(ValueError, match="no blocks"):
        ranker.fit_blocks([])
    with pytest.raises(ValueError, match="Block 2 has no rows"):
        ranker.fit_blocks([([[1.0], [2.0]], [0, 1]), (np.zeros((0, 1)), [])])
    with pytest.raises(ValueError, match="only once"):
        OrderPreservingRegressor(surrogate="ranknet").fit_blocks(iter([]))


@pytest.mark.parametrize(
    "model",
    [
        LowRankSurrogateRanker(),
        LowRankSurrogateRanker(alpha=0.1),
        PairwiseDAGRanker(alpha=0.1),
        OrderPreservingRegressor(tol=1e-12),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_block_may_weigh_nothing_but_not_all(model):
    X, y, qid = make_ranking(40, (3, 9), n_features=4, random_state=0)
    weights = np.where(qid < 10, 0.0, 1.0)
    blocks = [
        tuple(a[at] for a in (X, y, qid, weights))
        for at in (qid < 10, (qid >= 10) & (qid < 25))
    ]
    blocks.append(tuple(a[qid >= 25] for a in (X, y, qid, weights)))
    whole = clone(model).fit(X, y, qid=qid, sample_weight=weights)
    cut = clone(model).fit_blocks(blocks)
    np.testing.assert_allclose(cut.coef_, whole.coef_, rtol=1e-7)
    nothing = clone(model)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        nothing.fit_blocks([(X, y, qid, np.zeros(len(y)))])
    assert not hasattr(nothing, "coef_")


def test_a_batch_of_classes_may_weigh_nothing():
    X, y = load_iris(return_X_y=True)
    weights = np.where(y == 0, 0.0, 1.0)
    ridge = LowRankSurrogateClassifier(estimator="ridge")
    whole = clone(ridge).fit(X, y, sample_weight=weights)
    cut = clone(ridge).partial_fit(X[50:], y[50:], classes=[0, 1, 2])
    cut.partial_fit(X[:50], y[:50], sample_weight=weights[:50])
    np.testing.assert_allclose(cut.coef_, whole.coef_, atol=1e-12)
    first = clone(ridge)
    with pytest.raises(ValueError, match="All sample weights are zero"):
        first.partial_fit(X[:50], y[:50], classes=[0, 1, 2], sample_weight=weights[:50])
    assert not hasattr(first, "coef_")
