"""Another order of least cost, against enumeration."""

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_exact, preference_cost

from .internals import all_ranks, another_optimum, clear_net
from .preference_cases import preferences


def cases():
    for r in range(1, 8):
        for kind in ("whole", "sparse", "normal", "constant"):
            for seed in range(1 if r == 7 else 6):
                yield np.abs(preferences(kind, 1, r, seed))[0]


def test_another_order_is_found_where_enumeration_has_one():
    unique = []
    for u in cases():
        np.fill_diagonal(u, 0.0)
        costs = np.einsum(
            "ij,nij->n", u, (every := all_ranks(len(u)))[:, :, None] > every[:, None]
        )
        n_best = np.sum(costs <= costs.min() + 1e-9 * np.abs(u).sum())
        ranks = decode_pd_exact(u[np.newaxis]).ranks[0]
        is_unique, other = another_optimum(clear_net(u), ranks)
        assert is_unique == (n_best == 1)
        assert (other is None) == is_unique
        if not is_unique:
            assert sorted(other) == list(range(1, len(u) + 1))
            assert np.any(other != ranks)
            assert preference_cost([u], [other])[0] == pytest.approx(
                costs.min(), rel=1e-9
            )
        unique.append(is_unique)
    assert 40 < sum(unique) < 100


def test_a_cycle_between_clear_items_is_turned_in_its_place():
    """Items 1 and 0 beat all others, 5 loses to all; of the cycle 3, 2, 4 two orders cost least."""
    best_first = np.array([1, 0, 3, 2, 4, 5])
    u = np.triu(np.full((6, 6), 9.0), 1)
    u[2:5, 2:5] = [[0, 7, 4], [3, 0, 6], [6, 4, 0]]
    places = np.argsort(best_first)
    u = u[np.ix_(places, places)]
    ranks = decode_pd_exact(u[np.newaxis]).ranks[0]
    is_unique, other = another_optimum(clear_net(u), ranks)
    assert is_unique is False
    orders = sorted(np.argsort(one).tolist() for one in (ranks, other))
    assert orders == [[1, 0, 3, 2, 4, 5], [1, 0, 4, 3, 2, 5]]


def test_a_component_of_many_items():
    n = 20  # a cycle of all items, of which only the weakest edge is given up
    u = np.triu(np.full((n, n), 3.0), 1)
    u[n - 1, 0], u[0, n - 1] = 1.0, 0.0
    ranks = decode_pd_exact(u[np.newaxis]).ranks[0]
    np.testing.assert_array_equal(ranks, np.arange(1, n + 1))
    assert another_optimum(clear_net(u), ranks, time_limit=60.0) == (True, None)
    u[3, 4] = 0.0  # an even pair of neighbours
    is_unique, other = another_optimum(clear_net(u), ranks, time_limit=60.0)
    assert is_unique is False
    assert np.argsort(other).tolist() == [0, 1, 2, 4, 3, *range(5, n)]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_even_pairs_of_weights_that_do_not_add_up_exactly(scale):
    u = np.zeros((2, 2))
    u[0, 1], u[1, 0] = scale * (0.1 + 0.2), scale * 0.3
    assert u[0, 1] != u[1, 0]
    is_unique, other = another_optimum(clear_net(u), np.array([1, 2]))
    assert not is_unique
    assert other.tolist() == [2, 1]
