"""How lists are cut into mini-batches, which rows meet, and what top is aimed at."""

from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.target_losses import PrecisionAtK, RecallAtK

from .internals import (
    PrecisionAtShare,
    make_batches,
    number_of_batches,
    places_at_top,
    read_lists,
    resolve_top_loss,
)
from .refusals import refused_by
from .top_cases import numbered


def batches_of(X, y, loss, batch_size, random_state, qid=None):
    lists = read_lists(qid, len(y))
    return make_batches(X, y == 1, lists, loss, batch_size, random_state)


def rows_of(batches):
    """Rows above and rows below of each batch."""
    return [
        tuple(rows.ravel().tolist() for rows in np.split(batch.X, batch.n_above))
        for batch in batches
    ]


def places_of(batches):
    return [int(batch.k[0]) for batch in batches]


@pytest.mark.parametrize(
    ("n_positives", "n_negatives", "k", "expected"),
    [
        (10, 90, 10, 1),
        (60, 940, 15, 3),
        (200, 1800, 50, 10),
        (1000, 49000, 250, 50),
        (1000, 999000, 250, 50),
        (900, 60, 225, 3),
        (1000, 19000, 29, 20),
        (1000, 19000, 5, 5),
        (1000, 19000, 1, 1),
        (164, 2836, 1, 1),
    ],
)
def test_automatic_batches(n_positives, n_negatives, k, expected):
    assert number_of_batches(n_positives, n_negatives, "auto", k) == expected


def test_long_list_is_cut_in_order_without_shuffling():
    y = np.tile([1, 0, 0, 0], 10)
    first = rows_of(batches_of(numbered(40), y, PrecisionAtShare(0.5), 8, None))
    assert first[0] == ([0, 4], [1, 2, 3, 5, 6, 7])
    assert (
        sorted(chain.from_iterable(above for above, _ in first))
        == np.flatnonzero(y).tolist()
    )
    assert (
        sorted(chain.from_iterable(below for _, below in first))
        == np.flatnonzero(y == 0).tolist()
    )


def test_long_list_is_shuffled():
    y = np.tile([1, 0, 0, 0], 50)
    problem = batches_of(
        numbered(200), y, PrecisionAtShare(0.5), 20, np.random.RandomState(0)
    )
    first = rows_of(problem)
    for part in (0, 1):
        rows = chain.from_iterable(batch[part] for batch in first)
        assert sorted(rows) == np.flatnonzero(y == 1 - part).tolist()
        assert any(batch[part] != sorted(batch[part]) for batch in first)


def test_every_batch_has_the_fraction_of_the_top():
    y = np.r_[np.ones(100, dtype=int), np.zeros(900, dtype=int)]
    for loss, expected in [
        (PrecisionAtK(30), 3),
        (PrecisionAtShare(0.45), 5),
        (PrecisionAtK(10), 1),
        (PrecisionAtK(500), 10),
    ]:
        assert set(places_of(batches_of(numbered(1000), y, loss, 100, None))) == {
            expected
        }
    mirrored = batches_of(numbered(1000), y, RecallAtK(550), 100, None)
    assert set(places_of(mirrored)) == {45}
    assert {float(batch.sign[0]) for batch in mirrored} == {-1.0}


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("batch_size", ["auto", 100, 37])
@pytest.mark.parametrize("n_positives", [53, 164, 400])
def test_places_of_the_batches_add_up_to_k(n_positives, batch_size, shuffle):
    """What is asked is what is aimed at, however small; it used to be a place in every batch."""
    y = (np.arange(2000) < n_positives).astype(int)
    losses = [PrecisionAtK(k) for k in (*range(1, 60), n_positives - 1, n_positives)]
    losses += [RecallAtK(k) for k in (5, n_positives + 1, 1000, 1994, 1999)]
    for loss in losses:
        state = np.random.RandomState(0) if shuffle else None
        k, _ = places_at_top(loss, n_positives, 2000 - n_positives)
        if batch_size != "auto" and round(2000 / batch_size) > min(k, n_positives):
            with refused_by("small batches"):
                batches_of(numbered(2000), y, loss, batch_size, state)
            continue
        problem = batches_of(numbered(2000), y, loss, batch_size, state)
        assert sum(places_of(problem)) == k
        assert all(1 <= batch.k[0] <= batch.n_above[0] for batch in problem)


def test_fractions_are_of_each_batch_unless_rounding_makes_another_top_of_them():
    y = (np.arange(3000) < 511).astype(int)
    whole = batches_of(numbered(3000), y, PrecisionAtShare(0.25), "auto", None)
    assert places_of(whole) == [13] * 10  # a quarter of 51; 128 in all
    for fraction in (0.002, 0.01, 0.02, 0.03, 0.05, 0.1, 0.5, 1.0):
        problem = batches_of(
            numbered(3000), y, PrecisionAtShare(fraction), "auto", None
        )
        k = max(1, int(fraction * 511 + 0.5))
        assert abs(sum(places_of(problem)) - k) <= k / 8


def test_a_batch_size_that_cannot_hold_k_is_refused():
    y = (np.arange(2000) < 400).astype(int)
    assert (
        len(places_of(batches_of(numbered(2000), y, PrecisionAtK(5), 400, None))) == 5
    )
    with refused_by("small batches"):
        batches_of(numbered(2000), y, RecallAtK(1997), 100, None)


def test_queries_are_shuffled_into_batches():
    qid, y = np.repeat(np.arange(20), 3), np.tile([0, 1, 0], 20)

    def queries(state):
        batches = batches_of(numbered(60), y, PrecisionAtK(1), 6, state, qid)
        return [batch.X.ravel().tolist() for batch in batches]

    shuffled, ordered = queries(np.random.RandomState(0)), queries(None)
    assert ordered == queries(None)
    assert ordered[:2] == [[1, 0, 2, 4, 3, 5], [7, 6, 8, 10, 9, 11]]  # positives first
    assert sorted(chain.from_iterable(ordered)) == sorted(chain.from_iterable(shuffled))
    assert sorted(ordered) != sorted(shuffled)


def test_batches_of_queries_are_of_whole_lists():
    rng = np.random.default_rng(0)
    qid = rng.permutation(np.repeat(np.arange(300), rng.integers(1, 30, 300)))
    y = rng.integers(0, 2, len(qid))
    sizes, positives = np.bincount(qid), np.bincount(qid, weights=y)
    taken = (positives > 0) & (positives < sizes)
    for batch_size, state in [
        ("auto", None),
        (100, None),
        (1, np.random.RandomState(0)),
    ]:
        features = np.column_stack([qid, y])
        batches = batches_of(features, y, PrecisionAtK(2), batch_size, state, qid)
        assert sum(batch.n_lists for batch in batches) == taken.sum()
        assert sum(len(batch.X) for batch in batches) == sizes[taken].sum()
        for batch in batches:
            first = (
                np.cumsum(batch.n_above + batch.n_below) - batch.n_above - batch.n_below
            )
            ids = batch.X[first, 0]
            assert_array_equal(batch.X[:, 0], np.repeat(ids, sizes[ids]))
            assert_array_equal(batch.n_above, positives[ids])
            assert_array_equal(batch.k, np.minimum(2, positives[ids]))
            assert batch.n_lists == 1 or len(batch.X) < 100 + 30 or batch_size == "auto"
        assert len(batches) == taken.sum() if batch_size == 1 else len(batches) > 20


@pytest.mark.filterwarnings(
    "ignore:The cutting planes end at weights with equal scores"
)
@pytest.mark.parametrize(
    "params",
    [{"surrogate": "struct", "solver": "cutting_plane"}, {}],
    ids=str,
)
def test_recall_of_a_long_top_is_the_problem_of_the_other_class(params):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] + rng.normal(size=300) > 1.5).astype(int)
    k = y.sum() + 40
    params = {**params, "max_iter": 100, "batch_size": 300}
    found = PrecisionAtKPerceptron(target_loss=f"recall@{k}", **params).fit(X, y)
    other = PrecisionAtKPerceptron(target_loss=f"precision@{300 - k}", **params).fit(
        X, 1 - y
    )
    assert_allclose(found.coef_, -other.coef_, rtol=1e-6)
    if "solver" not in params:  # struct may prefer the wrong order
        assert found.score(X, y) > k / 300


def test_a_name_has_its_top():
    loss = resolve_top_loss("prbep")
    assert isinstance(loss, PrecisionAtShare)
    assert loss.share == 1.0


def test_losses_without_a_top_are_told_one_name_for_each_that_has_one():
    with refused_by("loss without a top") as caught:
        resolve_top_loss("ndcg")
    for name in ("precision@25%", "precision@10", "recall@10"):
        assert repr(name) in str(caught.value)
    assert "'map'" not in str(caught.value)
