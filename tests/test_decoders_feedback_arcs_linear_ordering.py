"""The linear ordering program: cuts, bounds, branching and early stops."""

import time
import warnings
from itertools import count, permutations

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact

from .internals import decode_pd_borda, decode_pd_local_search, packed_cycles
from .preference_cases import (
    along_an_order,
    assert_ranks,
    least_cost_by_subsets,
    least_costs,
    majority,
    padded,
    pair_costs,
    preference_bound,
    preferences,
)
from .reference import disagreement_cost


def test_a_time_limit_is_reported_and_what_is_known_returned():
    """List 0 has no cycle, and with no time the bound of the others is that of packed cycles."""
    u = np.concatenate(
        [
            along_an_order(np.random.default_rng(0), 1, 16)[0],
            preferences("normal", 1, 16),
        ]
    )
    best = decode_pd_exact(u, time_limit=None)
    assert best.optimal.all()
    message = r"limit of 1e-09 s was reached on 1 of 2 lists.*list 1 .*least cost.*local_search"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        stopped = decode_pd_exact(u, time_limit=1e-9)
    assert caught[0].filename == __file__
    gap = stopped.values[1] - stopped.bounds[1]
    assert f"at most {gap:g} above" in str(caught[0].message)
    assert_ranks(stopped.ranks)
    assert stopped.optimal.tolist() == [True, False]
    assert stopped.bounds[1] <= best.values[1] <= stopped.values[1]
    of_pairs = pair_costs(u)
    packed = packed_cycles(np.maximum(u[1] - u[1].T, 0.0))
    np.testing.assert_allclose(stopped.bounds, of_pairs + [0.0, packed])
    assert stopped.values[1] <= decode_pd_dag(u).values[1]  # algorithm 1, improved


@pytest.mark.parametrize("decode", [decode_pd_dag, decode_pd_borda])
def test_the_bound_is_the_larger_of_packed_cycles_and_the_relaxation(decode):
    """Packed cycles are most of the bound, whatever time is left."""
    u = preferences("normal", 3, 20)
    of_pairs = pair_costs(u)
    at_once = decode(u, bound=True, time_limit=1e-9).bounds
    in_time = decode(u, bound=True).bounds
    assert_allclose(decode(u, bound=True, time_limit=None).bounds, in_time)
    assert np.all(in_time <= decode_pd_exact(u).values + 1e-9)
    assert np.all(at_once - of_pairs > 0.7 * (in_time - of_pairs))
    assert np.all(at_once <= in_time)


def test_a_long_cycle_without_chords_has_the_bound_of_the_relaxation():
    u = np.zeros((1, 15, 15))
    u[0, np.arange(15), (np.arange(15) + 1) % 15] = 2.0
    assert packed_cycles(u[0]) == 0.0
    assert decode_pd_dag(u, bound=True).bounds[0] == 2.0
    assert decode_pd_dag(u, bound=True, time_limit=1e-9).bounds[0] == 0.0


def test_packed_cycles_are_below_the_least_cost_on_400_graphs():
    for seed in range(400):
        rng = np.random.RandomState(seed)
        u = rng.normal(size=(1, 6, 6)) * (rng.uniform(size=(1, 6, 6)) < 0.8)
        net = np.maximum(u - u.swapaxes(1, 2), 0.0)
        least = decode_pd_exact(net).values[0]
        bound = packed_cycles(net[0])
        assert bound <= least + 1e-12
        assert (bound > 0) == has_cycle_of_three(net[0])


def has_cycle_of_three(net):
    edges = (net > 0).astype(int)
    return bool(np.trace(edges @ edges @ edges))


def test_the_packing_takes_at_most_one_cycle_for_each_edge(monkeypatch):
    """So it takes O(r**3), a pass over r items for each edge, twice."""
    n_calls = count()
    argmax = np.argmax
    monkeypatch.setattr(np, "argmax", lambda a: (next(n_calls), argmax(a))[1])
    net = np.maximum(preferences("normal", 1, 30)[0], 0.0)
    packed_cycles(np.maximum(net - net.T, 0.0))
    n_edges = 30 * 29 / 2
    assert n_edges / 2 < next(n_calls) <= 2 * n_edges


def test_bounds_of_a_search_that_stops_early_hold(monkeypatch):
    """The clock counts: each limit allows so many programs."""
    u = preferences("normal", 1, 24)
    best = decode_pd_exact(u).values[0]
    bounds = []
    for limit in (1.5, 2.5, 3.5, 4.5, 5.5):
        ticks = count()
        monkeypatch.setattr(time, "monotonic", lambda ticks=ticks: float(next(ticks)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            decoded = decode_pd_exact(u, time_limit=limit)
        assert decoded.values[0] >= best - 1e-9
        bounds.append(decoded.bounds[0])
    assert bounds[0] > pair_costs(u)[0] + 1.0
    assert np.all(np.diff(bounds) >= -1e-12)
    assert bounds[-1] > bounds[0]
    assert bounds[-1] <= best + 1e-9


def test_a_solver_that_gives_up_is_no_proof(monkeypatch):
    class GaveUp:
        x, status = None, 4

    u = preferences("normal", 1, 14)
    monkeypatch.setattr(scipy.optimize, "linprog", lambda *args, **kwargs: GaveUp)
    with pytest.warns(ConvergenceWarning, match="solver's limit was reached on 1 of 1"):
        decoded = decode_pd_exact(u, time_limit=None)
    assert decoded.bounds[0] <= decode_pd_local_search(u).values[0]
    assert not decoded.optimal[0]


def almost_ordered(seed, r):
    """A tournament of 0 and 1 in which a random 30 % of the pairs oppose an order."""
    opposed = np.triu(np.random.default_rng(seed).random((r, r)) < 0.3, 1)
    return (np.triu(~opposed, 1) + opposed.T)[np.newaxis].astype(float)


def test_branching_closes_the_gap_of_the_relaxation(monkeypatch):
    """Here no heuristic finds the order of least cost."""
    u, least = almost_ordered(7, 21), 50.0
    milp, programs = scipy.optimize.milp, []

    def spy(*args, **options):
        programs.append(milp(*args, **options))
        return programs[-1]

    monkeypatch.setattr(scipy.optimize, "milp", spy)
    assert preference_bound(u)[0] == least - 1.0  # whole weights, whole costs
    assert not programs
    exact = decode_pd_exact(u)
    assert programs
    assert exact.values[0] == exact.bounds[0] == least
    assert decode_pd_local_search(u).values[0] == least + 1.0


def test_branching_that_stops_early_proves_no_more_than_it_did(monkeypatch):
    class Stopped:
        x, status, mip_dual_bound = None, 1, -1e9

    u = almost_ordered(2, 21)
    relaxed = preference_bound(u)
    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **options: Stopped())
    with pytest.warns(ConvergenceWarning, match="1 of 1 lists"):
        decoded = decode_pd_exact(u)
    np.testing.assert_allclose(decoded.bounds, relaxed)
    assert not decoded.optimal[0]


def test_an_infeasible_program_proves_the_best_order(monkeypatch):
    """No order is better than the best one so far."""

    class Infeasible:
        x, status, mip_dual_bound = None, 2, None

    monkeypatch.setattr(scipy.optimize, "milp", lambda *args, **options: Infeasible())
    decoded = decode_pd_exact(almost_ordered(2, 21))
    assert decoded.values[0] == decoded.bounds[0] == 50.0


@pytest.mark.parametrize(
    "u",
    [preferences("normal", 1, 13), preferences("whole", 1, 13)]
    + [majority(seed, 13) for seed in (0, 1)]
    + [
        majority(79, 14),
        np.random.default_rng(38).normal(size=(1, 15, 15)),
    ],  # with a gap
)
def test_longer_lists_cost_what_the_program_over_subsets_finds(u):
    least = least_cost_by_subsets(u[0])
    exact = decode_pd_exact(u)
    np.testing.assert_allclose(exact.values, least, atol=1e-9)
    assert exact.optimal[0]
    assert preference_bound(u)[0] <= least + 1e-9


def test_strong_components_are_ordered_one_by_one():
    """Two cycles and an item, all edges between them one way."""
    rng = np.random.default_rng(0)
    block = np.array([0, 0, 0, 1, 2, 2, 2])
    for _ in range(10):
        weights = np.triu(rng.integers(1, 9, size=(7, 7)), 1) * (block[:, None] < block)
        for a, b, c in ((0, 1, 2), (4, 5, 6)):
            weights[[a, b, c], [b, c, a]] = rng.integers(1, 9, size=3)
        shuffled = rng.permutation(7)
        u = weights[np.ix_(shuffled, shuffled)].astype(float)
        decoded = decode_pd_exact(padded(u[np.newaxis]))
        order = np.argsort(decoded.ranks[0, :7])
        np.testing.assert_array_equal(block[shuffled[order]], block)
        least = min(disagreement_cost(u, p) for p in permutations(range(7)))
        assert decoded.values[0] == decoded.bounds[0] == pytest.approx(least)


def test_any_multipliers_of_the_cuts_give_a_bound(monkeypatch):
    """The bound does not rely on the accuracy of the solver."""
    rng, linprog = np.random.default_rng(0), scipy.optimize.linprog
    u = preferences("normal", 20, 6)
    least, exact = least_costs(u), preference_bound(padded(u))
    np.testing.assert_allclose(exact, least, atol=1e-9)

    def inaccurate(*args, **options):
        solution = linprog(*args, **options)
        multipliers = solution.ineqlin.marginals
        multipliers += rng.normal(scale=100.0, size=len(multipliers))
        return solution

    monkeypatch.setattr(scipy.optimize, "linprog", inaccurate)
    bounds = preference_bound(padded(u))
    assert np.all(bounds <= least + 1e-9)
    assert np.any(bounds < least - 1e-3)


@pytest.mark.parametrize("name", ["t65l11xx", "t70l11xx"])
def test_linear_ordering_instances_are_solved(data_folder, name):
    lines = (
        (data_folder / "linear_ordering" / "IO_best_known.csv").read_text().splitlines()
    )
    known = next(line.split(",") for line in lines if line.startswith(name + ","))
    text = (data_folder / "linear_ordering" / "IO" / name).read_text().split()
    u = np.array(text[1:], dtype=float).reshape(1, 44, 44)
    off_diagonal = u.sum() - np.trace(u[0])
    exact, local = decode_pd_exact(u), decode_pd_local_search(u)
    assert known[4] == "1"
    assert exact.optimal[0]
    assert off_diagonal - exact.values[0] == float(known[2])
    assert off_diagonal - local.values[0] >= 0.999 * float(known[2])


def test_out_of_time_it_is_no_worse_than_local_search(monkeypatch):
    u = preferences("normal", 2, 20)
    monkeypatch.setattr(
        scipy.optimize, "linprog", None
    )  # not even one program is solved
    with pytest.warns(ConvergenceWarning, match="limit"):
        exact = decode_pd_exact(u, time_limit=1e-9)
    assert np.all(exact.values <= decode_pd_local_search(u).values + 1e-9)
    assert np.all(exact.values < decode_pd_dag(u).values)
