"""Annealing of long lists: what it finds, and that the same numbers give the same orders."""

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_dag, decode_pd_local_search, preference_cost
from lowrank_rank.decoders.feedback_arcs import _local_search
from lowrank_rank.decoders.feedback_arcs._local_search import annealed_order

from .preference_cases import along_an_order, assert_ranks, least_costs, preferences


def annealed(net, n_sweeps=40, seed=0, **limit):
    start = np.arange(len(net))
    return annealed_order(net, start, n_sweeps, np.random.RandomState(seed), **limit)


@pytest.mark.parametrize("kind", ["normal", "whole", "sparse"])
def test_short_lists_end_at_the_least_cost(kind):
    u = preferences(kind, 8, 6)
    for matrix, least in zip(u, least_costs(u), strict=True):
        order = annealed(matrix - matrix.T, n_sweeps=200)
        ranks = np.argsort(order) + 1
        assert_ranks(ranks[np.newaxis])
        spread = np.abs(matrix - matrix.T).mean()
        assert preference_cost(matrix[np.newaxis], [ranks])[0] <= least + 2 * spread


def test_the_seed_decides_and_the_start_is_kept():
    u = preferences("normal", 1, 30)[0]
    net, start = u - u.T, np.arange(30)
    first, again = annealed(net), annealed(net)
    np.testing.assert_array_equal(first, again)
    assert np.any(first != annealed(net, seed=1))
    np.testing.assert_array_equal(start, np.arange(30))
    assert annealed(np.zeros((4, 4))).tolist() == [0, 1, 2, 3]


def test_time_ends_it():
    u = preferences("normal", 1, 30)[0]
    np.testing.assert_array_equal(annealed(u - u.T, 10**9, time_limit=1e-9), np.arange(30))
    assert np.any(annealed(u - u.T, 10**9, time_limit=0.05) != np.arange(30))


@pytest.fixture
def short(monkeypatch):
    """Lists of more than 10 items are long."""
    monkeypatch.setattr(_local_search, "MAX_ITEMS_RESTARTS", 10)
    monkeypatch.setattr(_local_search, "_MOVES", 1_000)


def test_long_lists_are_annealed(short):
    """No worse than algorithm 1 or than less annealing, whatever else is in the batch."""
    u = preferences("normal", 3, 25)
    found, starts = decode_pd_local_search(u), decode_pd_local_search(u, n_restarts=0)
    assert_ranks(found.ranks)
    assert np.all(found.values <= starts.values)
    assert np.any(found.values < starts.values)
    assert np.all(starts.values <= decode_pd_dag(u).values)
    np.testing.assert_array_equal(decode_pd_local_search(u[1:]).ranks, found.ranks[1:])
    again = decode_pd_local_search(u, random_state=0)
    np.testing.assert_array_equal(again.ranks, found.ranks)
    assert np.any(decode_pd_local_search(u, random_state=1).ranks != found.ranks)
    assert np.all(decode_pd_local_search(u, time_limit=1e-9).values <= starts.values)


def test_an_order_without_a_cost_is_kept(short):
    u, _ = along_an_order(np.random.default_rng(0), 1, 30)
    found = decode_pd_local_search(u, n_restarts=1)
    np.testing.assert_array_equal(found.ranks, decode_pd_dag(u).ranks)
