"""Local search over insertions."""

import numpy as np
import pytest

from lowrank_rank.decoders import (
    decode_pd_borda,
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
    preference_cost,
)
from lowrank_rank.decoders.feedback_arcs import _local_search

from .preference_cases import (
    assert_ranks,
    costs,
    least_costs,
    preferences,
)
from .reference import disagreement_cost, insertions


@pytest.mark.parametrize("n_restarts", [0, 3, 100])
@pytest.mark.parametrize("kind", ["normal", "whole"])
def test_local_search_leaves_no_better_insertion(kind, n_restarts):
    u = preferences(kind, 8, 7)
    ranks, values, bounds = decode_pd_local_search(u, n_restarts=n_restarts)
    assert_ranks(ranks)
    assert bounds is None
    np.testing.assert_allclose(values, costs(u, ranks), atol=1e-12)
    assert np.all(values <= decode_pd_dag(u).values + 1e-12)
    assert np.all(values >= least_costs(u) - 1e-12)
    for q, matrix in enumerate(u):
        order = np.argsort(ranks[q]).tolist()
        for _, _, moved in insertions(order):
            assert disagreement_cost(matrix, moved) >= values[q] - 1e-9


def test_local_search_is_deterministic_and_restarts_help():
    u = preferences("normal", 30, 12)
    first, again = decode_pd_local_search(u), decode_pd_local_search(u)
    np.testing.assert_array_equal(first.ranks, again.ranks)
    long = preferences("normal", 20, 20)  # two restarts from different states seldom agree
    few = [decode_pd_local_search(long, n_restarts=2, random_state=s).values for s in (0, 0, 1)]
    np.testing.assert_array_equal(few[0], few[1])
    assert np.any(few[0] != few[2])
    few, other = (decode_pd_local_search(u, n_restarts=n, random_state=5) for n in (0, 100))
    assert np.all(other.values <= few.values + 1e-12)
    assert np.any(other.values < few.values - 1e-9)
    exact = decode_pd_exact(u)
    assert np.mean(first.values <= exact.values + 1e-9) > 0.9
    assert np.all(first.values >= exact.values - 1e-9)


def test_local_search_also_starts_from_the_net_preference():
    """Where improving that order wins, it does without a restart."""
    u = preferences("normal", 60, 12)
    net = u - u.transpose(0, 2, 1)
    starts = [decode_pd_dag(u).ranks, decode_pd_borda(u).ranks]
    improved = [_local_search.improve_orders(net, np.argsort(r, axis=1)) for r in starts]
    dag, borda = (preference_cost(u, np.argsort(orders, axis=1) + 1) for orders in improved)
    assert np.any(borda < dag - 1e-9)
    assert np.any(dag < borda - 1e-9)
    found = decode_pd_local_search(u, n_restarts=0).values
    np.testing.assert_allclose(found, np.minimum(dag, borda))


def test_shakes_exchange_neighbouring_blocks():
    shakes = _local_search.shakes_of(9, 40, np.random.RandomState(0))
    assert_ranks(shakes + 1)
    assert len(np.unique(shakes, axis=0)) > 30
    for shake in shakes:
        assert np.sum(np.diff(shake) != 1) <= 3 * _local_search._EXCHANGES
    assert _local_search.shakes_of(1, 3, np.random.RandomState(0)).tolist() == [[0]] * 3


def test_change_of_cost_of_every_move():
    u = preferences("normal", 4, 6)
    net = u - u.transpose(0, 2, 1)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(6), (4, 1)), axis=1)
    lists = np.array([0, 1, 3])
    for item in range(6):
        change, place = _local_search.move_changes(net, lists, orders[lists], item)
        for row, q in enumerate(lists):
            assert orders[q, place[row]] == item
            now = disagreement_cost(u[q], orders[q])
            for source, target, moved in insertions(orders[q].tolist()):
                if source == place[row]:
                    cost = disagreement_cost(u[q], moved)
                    assert change[row, target] == pytest.approx(cost - now, abs=1e-12)
                    made = _local_search._moved(orders[[q]], np.array([source]), np.array([target]))
                    assert made.tolist() == [moved]


def test_improvement_keeps_its_input_and_an_order_that_is_locally_best():
    u = preferences("normal", 5, 6)
    start = np.tile(np.arange(6), (5, 1))
    best = _local_search.improve_orders(u, start)
    np.testing.assert_array_equal(start, np.tile(np.arange(6), (5, 1)))
    np.testing.assert_array_equal(_local_search.improve_orders(u, best), best)
