"""All orders of least cost, against enumeration."""

from math import prod

import numpy as np
import pytest

from lowrank_rank.decoders import decode_pd_exact

from .internals import all_ranks, find_optima, first_orders, ordered_components
from .preference_cases import preferences


def enumerated(u):
    """Ranks of all orders of least cost."""
    every = all_ranks(len(u))
    costs = np.einsum("ij,nij->n", u, every[:, :, None] > every[:, None])
    return every[costs <= costs.min() + 1e-9 * np.abs(u).sum()]


def cases():
    for r in range(1, 8):
        for kind in ("whole", "sparse", "normal", "constant"):
            for seed in range(1 if r == 7 else 3):
                yield np.abs(preferences(kind, 1, r, seed))[0]


def test_optima_are_those_of_enumeration():
    """Their number, the pairs that they order differently, and the orders themselves."""
    counts = []
    for u in cases():
        np.fill_diagonal(u, 0.0)
        best = enumerated(u)
        components, tied, is_unique = find_optima(u, decode_pd_exact(u[np.newaxis]).ranks[0])
        assert prod(int(n) for _, _, n, _ in components) == len(best)
        assert is_unique == (len(best) == 1)
        before = (best[:, :, None] < best[:, None]).any(axis=0)
        np.testing.assert_array_equal(tied, before & before.T)
        if len(best) <= 200:
            orders = first_orders(components, 1000).tolist()
            assert sorted(orders) == sorted(np.argsort(best, axis=1).tolist())
            assert first_orders(components, 3).tolist() == orders[:3]
        counts.append(len(best))
    assert min(counts) == 1
    assert max(counts) == 5040
    assert len(set(counts)) > 10


def test_components_are_ordered_by_all_pairs_between_them():
    rng = np.random.default_rng(0)
    for _ in range(20):
        net = np.triu(rng.integers(-1, 4, (8, 8)), 1)
        net = net - net.T
        parts = ordered_components(net)
        assert sorted(np.concatenate(parts).tolist()) == list(range(8))
        for k, part in enumerate(parts):
            for later in parts[k + 1 :]:
                assert np.all(net[np.ix_(part, later)] > 0)


def test_large_components_are_settled_by_turning_neighbours_round():
    """The answer that counting gives, where counting is not possible."""
    unique = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        u = rng.integers(0, 8 if seed % 2 else 60, (7, 7)).astype(float)
        np.fill_diagonal(u, 0.0)
        ranks = decode_pd_exact(u[np.newaxis]).ranks[0]
        _, counted, is_unique = find_optima(u, ranks)
        _, turned, also_unique = find_optima(u, ranks, max_counted=2)
        assert also_unique == is_unique
        assert not np.any(turned & ~counted)
        assert also_unique or turned.any()
        unique.append(also_unique)
    assert 2 < sum(unique) < 10


def test_a_component_of_many_items():
    n = 20  # a cycle of all items, of which only the weakest edge is given up
    u = np.triu(np.full((n, n), 3.0), 1)
    u[n - 1, 0], u[0, n - 1] = 1.0, 0.0
    ranks = decode_pd_exact(u[np.newaxis]).ranks[0]
    np.testing.assert_array_equal(ranks, np.arange(1, n + 1))
    components, _, is_unique = find_optima(u, ranks, time_limit=60.0)
    assert (components, is_unique) == (None, True)
    u[3, 4] = 0.0  # an even pair of neighbours
    _, tied, is_unique = find_optima(u, ranks, time_limit=60.0)
    assert is_unique is False
    assert np.argwhere(tied).tolist() == [[3, 4], [4, 3]]


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_even_pairs_of_weights_that_do_not_add_up_exactly(scale):
    u = np.zeros((2, 2))
    u[0, 1], u[1, 0] = scale * (0.1 + 0.2), scale * 0.3
    assert u[0, 1] != u[1, 0]
    _, tied, is_unique = find_optima(u, np.array([1, 2]))
    assert not is_unique
    assert tied[0, 1]
