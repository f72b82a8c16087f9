"""One row per query, one column per measure."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import per_query
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import NDCG

from .measures import average_precision


def test_columns_are_the_functions_without_average():
    X, y, qid = make_ranking(n_lists=12, n_items=(1, 9), random_state=0)
    rng = np.random.RandomState(0)
    rows = rng.permutation(len(y))  # ids in any order
    y, qid, scores = y[rows], qid[rows], X[rows, 0]
    table = per_query(y, scores, qid=qid)
    assert list(table.columns) == ["ndcg@5", "ndcg@10", "map"]
    assert table.index.tolist() == list(dict.fromkeys(qid.tolist()))
    assert_array_equal(
        table["ndcg@5"], ndcg_score(y, scores, qid=qid, k=5, average=None)
    )
    assert_array_equal(
        table["map"], average_precision(y, scores, qid=qid, average=None)
    )
    carried = per_query(ranking_target(y, qid), scores)
    assert carried.equals(table)
    assert table["ndcg@10"].mean() == pytest.approx(
        ndcg_score(y, scores, qid=qid, k=10)
    )


def test_matrices_and_undefined_queries():
    table = per_query(
        [[0, 1], [0, 0]], [[1.0, 2.0], [1.0, 2.0]], measure="map", zero_division=0
    )
    assert table.index.tolist() == [0, 1]
    assert table["map"].tolist() == [1.0, 0.0]


def test_names_with_cuts():
    y, scores = [2, 0, 1, 0], [1.0, 2.0, 3.0, 4.0]
    measures = ["ndcg", "auc", "precision", "ndcg@3", NDCG(k=2)]
    table = per_query(y, scores, measure=measures, k=[1, 3])
    assert list(table.columns) == [
        "ndcg@1", "ndcg@3", "auc", "precision@1", "precision@3", "NDCG(k=2)",
    ]  # fmt: skip
    assert table["precision@3"][0] == pytest.approx(1 / 3)
    assert table["ndcg@3"][0] == ndcg_score(y, scores, k=3)
    assert list(per_query(y, scores, measure={"mine": "recall"}, k=3)) == ["mine@3"]


@pytest.mark.parametrize(
    ("measures", "k", "message"),
    [(["ndcg"], [0], "k must be"),
     (["nope"], None, "Unknown")],
)  # fmt: skip
def test_bad_names(measures, k, message):
    with pytest.raises(ValueError, match=message):
        per_query([1, 0], [1.0, 2.0], measure=measures, k=k)
