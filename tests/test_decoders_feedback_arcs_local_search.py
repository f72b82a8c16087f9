"""Local search over insertions, and annealing of long lists."""

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact

from .internals import decode_pd_borda, decode_pd_local_search
from .preference_cases import (
    along_an_order,
    assert_ranks,
    costs,
    least_costs,
    preferences,
)
from .reference import disagreement_cost, insertions


@pytest.mark.parametrize("n_restarts", [0, 3, 7, 100])
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


def test_the_order_of_a_list_does_not_depend_on_the_other_lists():
    u = preferences("normal", 12, 20)
    u[3] = np.triu(np.abs(u[3]))  # no cycle: not searched
    together = decode_pd_local_search(u, n_restarts=12).ranks
    alone = [decode_pd_local_search(u[[q]], n_restarts=12).ranks[0] for q in range(12)]
    np.testing.assert_array_equal(together, alone)


def test_local_search_is_deterministic_and_restarts_help():
    u = preferences("normal", 30, 12)
    first, again = decode_pd_local_search(u), decode_pd_local_search(u)
    np.testing.assert_array_equal(first.ranks, again.ranks)
    long = preferences(
        "normal", 20, 20
    )  # two restarts from different states seldom agree
    few = [
        decode_pd_local_search(long, n_restarts=2, random_state=s).values
        for s in (0, 0, 1)
    ]
    np.testing.assert_array_equal(few[0], few[1])
    assert np.any(few[0] != few[2])
    few, other = (
        decode_pd_local_search(u, n_restarts=n, random_state=5) for n in (0, 100)
    )
    assert np.all(other.values <= few.values + 1e-12)
    assert np.any(other.values < few.values - 1e-9)
    exact = decode_pd_exact(u)
    assert np.mean(first.values <= exact.values + 1e-9) > 0.9
    assert np.all(first.values >= exact.values - 1e-9)


def improved(matrix, order):
    """The cost after the best move of each item in turn, until none lowers it."""
    cost = disagreement_cost(matrix, order)
    while True:
        before = cost
        for item in range(len(order)):
            moves = [
                new
                for _, _, new in insertions(order)
                if without(new, item) == without(order, item)
            ]
            best = min(moves, key=lambda move: disagreement_cost(matrix, move))
            if disagreement_cost(matrix, best) < cost - 1e-9:
                order, cost = best, disagreement_cost(matrix, best)
        if cost == before:
            return cost


def without(order, item):
    return [i for i in order if i != item]


def test_local_search_also_starts_from_the_net_preference():
    """The better of both starts wins, each improved by single moves."""
    u = preferences("normal", 25, 8)
    starts = [
        np.argsort(decode(u).ranks, axis=1).tolist()
        for decode in (decode_pd_dag, decode_pd_borda)
    ]
    dag, borda = (
        np.array([improved(*pair) for pair in zip(u, orders, strict=True)])
        for orders in starts
    )
    assert np.any(borda < dag - 1e-9)
    assert np.any(dag < borda - 1e-9)
    found = decode_pd_local_search(u, n_restarts=0).values
    np.testing.assert_allclose(found, np.minimum(dag, borda))


# Lists of more than 100 items -------------------------------------------------------


def test_long_lists_are_annealed():
    """No worse than algorithm 1 or than no annealing; independent of the batch."""
    u = preferences("normal", 2, 101)
    found, starts = (decode_pd_local_search(u, n_restarts=n) for n in (3, 0))
    assert_ranks(found.ranks)
    assert np.all(found.values <= starts.values)
    assert np.any(found.values < starts.values)
    assert np.all(starts.values <= decode_pd_dag(u).values)
    np.testing.assert_array_equal(
        decode_pd_local_search(u[1:], n_restarts=3).ranks, found.ranks[1:]
    )
    again, other = (
        decode_pd_local_search(u, n_restarts=3, random_state=s) for s in (0, 1)
    )
    np.testing.assert_array_equal(again.ranks, found.ranks)
    assert np.any(other.ranks != found.ranks)


def test_longer_annealing_finds_better_orders():
    u = preferences("normal", 1, 101)
    few, many = (decode_pd_local_search(u, n_restarts=n).values for n in (1, 40))
    assert many < few


def test_an_order_without_a_cost_is_kept():
    u, ranks = along_an_order(np.random.default_rng(0), 1, 101)
    found = decode_pd_local_search(u, n_restarts=1)
    np.testing.assert_array_equal(found.ranks, ranks)
    equal = decode_pd_local_search(np.zeros((1, 101, 101)), n_restarts=1)
    np.testing.assert_array_equal(equal.ranks, [np.arange(1, 102)])
