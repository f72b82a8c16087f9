"""How lists are cut into mini-batches, and which rows meet."""

from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.estimators._top_labels import read_labels
from lowrank_rank.estimators._top_problem import (
    LongList,
    ManyLists,
    Top,
    number_of_batches,
    resolve_top,
)
from lowrank_rank.solvers import ListGroup, MatrixBatch


def labels_of(y, qid=None):
    return read_labels(y, qid, None, None, PrecisionAtKPerceptron())


def numbered(n):
    """Features that say which row they are of."""
    return np.arange(float(n))[:, np.newaxis]


def passes(problem, n=2):
    return [
        [
            (batch.above.ravel().tolist(), batch.below.ravel().tolist())
            for batch in problem.batches()
        ]
        for _ in range(n)
    ]


@pytest.mark.parametrize(
    ("n_positives", "n_negatives", "expected"),
    [
        (10, 90, 1),
        (60, 940, 3),
        (200, 1800, 10),
        (1000, 49000, 50),
        (1000, 999000, 50),
        (900, 60, 3),
    ],
)
def test_automatic_batches(n_positives, n_negatives, expected):
    assert number_of_batches(n_positives, n_negatives, "auto") == expected


def test_long_list_is_cut_in_order_without_shuffling():
    y = np.tile([1, 0, 0, 0], 10)
    first, second = passes(LongList(numbered(40), labels_of(y), Top(None, 0.5), 8, None))
    assert first == second
    assert first[0] == ([0, 4], [1, 2, 3, 5, 6, 7])
    assert sorted(chain.from_iterable(above for above, _ in first)) == np.flatnonzero(y).tolist()
    assert (
        sorted(chain.from_iterable(below for _, below in first)) == np.flatnonzero(y == 0).tolist()
    )


def test_long_list_is_shuffled_once_and_paired_anew():
    y = np.tile([1, 0, 0, 0], 50)
    problem = LongList(numbered(200), labels_of(y), Top(None, 0.5), 20, np.random.RandomState(0))
    first, second = passes(problem)
    for part in (0, 1):
        rows = chain.from_iterable(batch[part] for batch in first)
        assert sorted(rows) == np.flatnonzero(y == 1 - part).tolist()
        assert sorted(map(tuple, (b[part] for b in first))) == sorted(
            map(tuple, (b[part] for b in second))
        )  # the blocks stay
    assert any(above != sorted(above) for above, _ in first)
    assert any(below != sorted(below) for _, below in first)
    pairs = [{(a[0], b[0]) for a, b in batches} for batches in (first, second)]
    assert pairs[0] != pairs[1]


def test_every_batch_has_the_share_of_the_top():
    y = np.r_[np.ones(100, dtype=int), np.zeros(900, dtype=int)]
    for top, expected in [(Top(30), 3), (Top(None, 0.45), 5), (Top(1), 1), (Top(500), 10)]:
        problem = LongList(numbered(1000), labels_of(y), top, 100, None)
        assert {batch.k for batch in problem.batches()} == {expected}
    mirrored = LongList(numbered(1000), labels_of(y), Top(550, recall=True), 100, None)
    assert {(batch.k, batch.sign) for batch in mirrored.batches()} == {(45, -1)}


def test_queries_come_in_another_order_each_pass():
    qid, y = np.repeat(np.arange(20), 3), np.tile([1, 0, 0], 20)
    problem = ManyLists.of_queries(
        numbered(60), labels_of(y, qid), Top(1), np.random.RandomState(0)
    )
    first, second = passes(problem)
    assert first != second
    assert sorted(first) == sorted(second)
    ordered = passes(ManyLists.of_queries(numbered(60), labels_of(y, qid), Top(1), None))
    assert ordered[0] == ordered[1] == sorted(first)


def test_matrix_rows_are_shuffled():
    Y = np.tile([1, 0], (40, 1))
    rows = {}
    for state in (None, np.random.RandomState(0)):
        problem = ManyLists.of_matrix(numbered(40), labels_of(Y), Top(1), 5, state)
        rows[state is None] = np.concatenate([batch.X.ravel() for batch in problem.batches()])
    assert_array_equal(rows[True], np.arange(40))
    assert np.abs(np.diff(rows[False]))[:4].max() > 1  # not only the batches change places
    assert_array_equal(np.sort(rows[False]), np.arange(40))


def test_intercept_counts_in_the_norm_of_a_row():
    X = np.array([[3.0, 4.0], [0.0, 1.0]])
    groups = [ListGroup(np.array([0, 1]), np.array([[0], [1]]), np.array([[1], [0]]), 1)]
    assert MatrixBatch(X, groups).squares == 26.0 + 2.0


@pytest.mark.parametrize(
    "params", [{"solver": "cutting_plane"}, {"start": "zeros"}, {"update": "perceptron"}], ids=str
)
def test_recall_of_a_long_top_is_the_problem_of_the_other_class(params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 1.5).astype(int)
    k = y.sum() + 40
    params = {**params, "max_iter": 100, "shuffle": False, "tol": 1e-3}
    found = PrecisionAtKPerceptron(target_loss=f"recall@{k}", **params).fit(X, y)
    other = PrecisionAtKPerceptron(target_loss=f"precision@{300 - k}", **params).fit(X, 1 - y)
    assert_allclose(found.coef_, -other.coef_, atol=1e-9)
    if "solver" not in params:  # struct may prefer the wrong order
        assert found.score(X, y) > k / 300


def test_the_top_of_a_part():
    assert Top(None, 0.3).of_part(100, 20, 0.5) == Top(None, 0.3)
    assert Top(5).of_part(100, 20, 0.5) == Top(None, 0.25)
    assert Top(50, recall=True).of_part(100, 20, 0.5) == Top(25, recall=True)
    assert Top(99, recall=True).of_part(100, 20, 0.1) == Top(9, recall=True)
    loss, top = resolve_top("prbep")
    assert top == Top(None, 1.0)
    assert loss.share == 1.0
