"""Held-out lists, and the measure on them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import NDCG

from .internals import hold_out, measure_on, read_lists


def test_whole_lists_that_weigh_something_are_held_out():
    qid = np.array([0, 1, 2, 3, 0, 1, 2, 3, 4, 4])
    lists, weights = read_lists(qid), np.where(qid == 3, 0.0, 1.0)
    seen = set()
    for seed in range(20):
        rows, held = hold_out(lists, weights, 0.3, seed)
        assert_array_equal(np.sort(np.concatenate([rows, held])), np.arange(10))
        assert not set(qid[rows]) & set(qid[held])
        assert len(set(qid[held])) == 2  # 0.3 of four, upwards
        kept = np.isin(np.arange(10), np.flatnonzero(weights))
        _, same = hold_out(read_lists(qid[kept]), weights[kept], 0.3, seed)
        assert_array_equal(
            np.flatnonzero(kept)[same], held
        )  # as without the list of weight 0
        seen |= set(qid[held])
    assert seen == {0, 1, 2, 4}
    with pytest.raises(ValueError, match="of 5 leaves none to learn from"):
        hold_out(lists, np.ones(10), 0.99, 0)


def test_the_measure_is_the_mean_over_lists_by_weight():
    rng = np.random.default_rng(0)
    qid, y, s = (
        np.arange(60) // 6,
        rng.integers(0, 3, 60).astype(float),
        rng.normal(size=60),
    )
    w = rng.uniform(0.5, 2.0, 60)
    value = measure_on(NDCG(k=5), y, read_lists(qid), w)
    each = ndcg_score(y, s, qid=qid, k=5, average=None)
    assert value(s) == pytest.approx(
        np.average(each, weights=w.reshape(10, 6).mean(axis=1))
    )
    nothing = measure_on(NDCG(k=5), 0 * y, read_lists(qid), w)
    with pytest.raises(ValueError, match="defined on none of the 10 lists"):
        nothing(s)
