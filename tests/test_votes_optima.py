"""Another order of least cost, against enumeration."""

import numpy as np
import pytest

from lowrank_rank.votes import consensus_ranking

from .internals import all_ranks, preference_cost
from .preference_cases import preferences


def another_order(consensus):
    """The other order of least cost that is printed, or None."""
    _, is_printed, names = str(consensus).partition("another order of this cost is ")
    if not is_printed:
        return None
    return [int(name) for name in names.split(", ")]


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
        consensus = consensus_ranking(u, kind="counts")
        is_unique = consensus.is_unique
        other = another_order(consensus)
        assert is_unique == (n_best == 1)
        assert (other is None) == is_unique
        if not is_unique:
            assert sorted(other) == list(range(len(u)))
            assert other != consensus.order.tolist()
            ranks = np.argsort(other) + 1
            assert preference_cost([u], [ranks])[0] == pytest.approx(
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
    consensus = consensus_ranking(u, kind="counts")
    assert consensus.is_unique is False
    orders = sorted([consensus.order.tolist(), another_order(consensus)])
    assert orders == [[1, 0, 3, 2, 4, 5], [1, 0, 4, 3, 2, 5]]


def test_a_component_of_many_items():
    n = 20  # a cycle of all items, of which only the weakest edge is given up
    u = np.triu(np.full((n, n), 3.0), 1)
    u[n - 1, 0], u[0, n - 1] = 1.0, 0.0
    consensus = consensus_ranking(u, kind="counts")
    assert consensus.order.tolist() == list(range(n))
    assert consensus.is_unique is True
    u[3, 4] = 0.0  # an even pair of neighbours
    consensus = consensus_ranking(u, kind="counts")
    assert consensus.is_unique is False
    orders = sorted([consensus.order.tolist(), another_order(consensus)])
    assert orders == [list(range(n)), [0, 1, 2, 4, 3, *range(5, n)]]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_even_pairs_of_weights_that_do_not_add_up_exactly(scale):
    u = np.zeros((2, 2))
    u[0, 1], u[1, 0] = scale * (0.1 + 0.2), scale * 0.3
    assert u[0, 1] != u[1, 0]
    consensus = consensus_ranking(u, kind="counts")
    assert not consensus.is_unique
    assert another_order(consensus) == consensus.order.tolist()[::-1]
