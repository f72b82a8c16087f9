"""The linear ordering program: cuts, bounds, branching and what stops them."""

import warnings
from itertools import count, permutations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.decoders import (
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
    preference_bound,
)
from lowrank_rank.decoders.feedback_arcs import _exact, _linear_ordering, _local_search
from lowrank_rank.decoders.feedback_arcs._graphs import pair_bound

from .preference_cases import (
    along_an_order,
    assert_ranks,
    least_costs,
    majority,
    preferences,
)
from .reference import disagreement_cost


def test_a_time_limit_is_reported_and_what_is_known_returned():
    """List 0 has no cycle, and with no time the bound of the others is that of the pairs."""
    u = np.concatenate(
        [along_an_order(np.random.default_rng(0), 1, 16)[0], preferences("normal", 1, 16)]
    )
    best = decode_pd_exact(u)
    assert best.optimal.all()
    message = r"limit of 1e-09 s was reached on 1 of 2 lists.*list 1 costs .*bound .*local_search"
    with pytest.warns(ConvergenceWarning, match=message) as caught:
        stopped = decode_pd_exact(u, time_limit=1e-9)
    assert caught[0].filename == __file__
    assert f"(bound {stopped.bounds[1]:g})" in str(caught[0].message)
    assert_ranks(stopped.ranks)
    assert stopped.optimal.tolist() == [True, False]
    assert stopped.bounds[1] <= best.values[1] <= stopped.values[1]
    np.testing.assert_allclose(stopped.bounds, pair_bound(u))
    assert stopped.values[1] <= decode_pd_dag(u).values[1]  # algorithm 1, improved
    assert preference_bound(u, time_limit=1e-9)[1] <= best.values[1]  # silent: a bound it is


def test_bounds_of_a_search_that_stops_early_hold(monkeypatch):
    """The clock counts: each limit allows so many programs."""
    u = preferences("normal", 1, 24)
    best = decode_pd_exact(u).values[0]
    bounds = []
    for limit in (1.5, 2.5, 3.5, 4.5, 5.5):
        ticks = count()
        for module in (_exact, _linear_ordering):
            monkeypatch.setattr(module, "monotonic", lambda ticks=ticks: float(next(ticks)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            decoded = decode_pd_exact(u, time_limit=limit)
        assert decoded.values[0] >= best - 1e-9
        bounds.append(decoded.bounds[0])
    assert bounds[0] > pair_bound(u)[0] + 1.0
    assert np.all(np.diff(bounds) >= -1e-12)
    assert bounds[-1] > bounds[0]
    assert bounds[-1] <= best + 1e-9


def test_a_solver_that_gives_up_is_no_proof(monkeypatch):
    class GaveUp:
        x, status = None, 4

    u = preferences("normal", 1, 14)
    monkeypatch.setattr(_linear_ordering, "linprog", lambda *args, **kwargs: GaveUp)
    with pytest.warns(ConvergenceWarning, match="solver's limit was reached on 1 of 1"):
        decoded = decode_pd_exact(u, time_limit=None)
    assert decoded.bounds[0] <= decode_pd_local_search(u).values[0]
    assert not decoded.optimal[0]


GAPS = [(majority, 14, 79), (majority, 15, 96), ("normal", 15, 6), ("normal", 15, 38)]


def gap_list(kind, r, seed):
    if kind is majority:
        return majority(seed, r)
    return np.random.default_rng(seed).normal(size=(1, r, r))


@pytest.mark.parametrize(("kind", "r", "seed"), GAPS)
def test_branching_closes_the_gap_of_the_relaxation(kind, r, seed, monkeypatch):
    u = gap_list(kind, r, seed)
    milp, programs = _linear_ordering.milp, []

    monkeypatch.setattr(_exact, "MAX_ITEMS_GAP", 0)

    def spy(*args, **options):
        programs.append(milp(*args, **options))
        return programs[-1]

    monkeypatch.setattr(_linear_ordering, "milp", spy)
    relaxed = preference_bound(u)
    assert not programs
    cuts = decode_pd_exact(u)
    assert programs
    assert all(p.fun <= 1e-6 for p in programs)  # less the best order so far: gaps are absolute
    assert cuts.optimal.all()
    assert relaxed[0] < cuts.values[0] - 1e-3
    assert kind == "normal" or relaxed[0] == np.round(relaxed[0])  # whole weights, whole costs
    monkeypatch.setattr(_exact, "MAX_ITEMS_SUBSETS", r)
    assert decode_pd_exact(u).values == pytest.approx(cuts.values)
    assert not decode_pd_local_search(u).values < cuts.values - 1e-9


@pytest.mark.parametrize(("kind", "r", "seed"), GAPS)
def test_branching_finds_orders_that_no_heuristic_offers(kind, r, seed, monkeypatch):
    u = gap_list(kind, r, seed)
    expected = decode_pd_exact(u)
    monkeypatch.setattr(_exact, "MAX_ITEMS_GAP", 0)
    monkeypatch.setattr(_linear_ordering, "improve_orders", lambda weights, orders: orders)
    monkeypatch.setattr(_linear_ordering.LinearOrdering, "search", lambda program: None)
    decoded = decode_pd_exact(u)
    assert decoded.values == pytest.approx(expected.values)
    assert decoded.optimal.all()


def test_branching_that_stops_early_proves_no_more_than_it_did(monkeypatch):
    class Stopped:
        x, status, mip_dual_bound = None, 1, -1e9

    u = gap_list("normal", 15, 38)
    relaxed = preference_bound(u)
    monkeypatch.setattr(_exact, "MAX_ITEMS_GAP", 0)
    monkeypatch.setattr(_linear_ordering, "milp", lambda *args, **options: Stopped())
    with pytest.warns(ConvergenceWarning, match="1 of 1 lists"):
        decoded = decode_pd_exact(u)
    np.testing.assert_allclose(decoded.bounds, relaxed)
    assert not decoded.optimal[0]


@pytest.mark.parametrize("r", [13, 14])
def test_cuts_agree_with_subsets_on_longer_lists(r, monkeypatch):
    u = np.concatenate([preferences("normal", 4, r), *(majority(seed, r) for seed in range(4))])
    short = decode_pd_exact(u)  # by the subsets where the relaxation leaves a gap
    monkeypatch.setattr(_exact, "MAX_ITEMS_GAP", 0)
    cuts, bounds = decode_pd_exact(u), preference_bound(u)
    np.testing.assert_allclose(short.values, cuts.values, atol=1e-9)
    assert short.optimal.all()
    monkeypatch.setattr(_exact, "MAX_ITEMS_SUBSETS", r)
    subsets = decode_pd_exact(u)
    np.testing.assert_allclose(cuts.values, subsets.values, atol=1e-9)
    assert np.all(bounds <= subsets.values + 1e-9)
    assert cuts.optimal.all()


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
        order, bound = _exact.order_components(u, None, True)
        np.testing.assert_array_equal(block[shuffled[order]], block)
        least = min(disagreement_cost(u, p) for p in permutations(range(7)))
        assert disagreement_cost(u, order) == pytest.approx(least)
        assert bound == pytest.approx(least)


def test_violated_triangles_are_all_found():
    rng = np.random.default_rng(0)
    x = np.triu(rng.random((7, 7)), 1)
    x += np.tril(1 - x.T, -1)
    triangles, excess = _linear_ordering.violated_triangles(x)
    expected = {
        (i, j, k): x[i, j] + x[j, k] + x[k, i] - 2
        for i, j, k in permutations(range(7), 3)
        if i < min(j, k) and x[i, j] + x[j, k] + x[k, i] > 2
    }
    assert len(expected) > 3
    assert set(map(tuple, triangles.tolist())) == set(expected)
    np.testing.assert_allclose(excess, [expected[tuple(t)] for t in triangles.tolist()])
    order = (np.arange(7)[:, None] < np.arange(7)).astype(float)
    assert len(_linear_ordering.violated_triangles(order)[1]) == 0


def test_any_multipliers_of_the_cuts_give_a_bound():
    rng = np.random.default_rng(0)
    for u in preferences("normal", 20, 5):
        weights = np.maximum(u - u.T, 0.0)
        least = least_costs(weights[np.newaxis])[0]
        search = _linear_ordering.LinearOrdering(weights, np.arange(len(weights)), None, None)
        for _ in range(20):
            search._separate(rng.integers(0, 2, size=10).astype(float))
        n_cuts = len(search.sides)
        for multipliers in (-np.ones(n_cuts), np.ones(n_cuts), rng.normal(size=n_cuts)):
            search._price(0.1 * weights.max() * multipliers)
            assert search.priced <= least + 1e-9


@pytest.mark.parametrize("name", ["t65l11xx", "t70l11xx"])
def test_linear_ordering_instances_are_solved(data_folder, name):
    lines = (data_folder / "linear_ordering" / "IO_best_known.csv").read_text().splitlines()
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
    monkeypatch.setattr(_local_search, "N_RESTARTS", 3)
    u = preferences("normal", 3, 24)
    monkeypatch.setattr(_linear_ordering, "linprog", None)  # not even one program is solved
    with pytest.warns(ConvergenceWarning, match="limit"):
        exact = decode_pd_exact(u, time_limit=1e-9)
    assert np.all(exact.values <= decode_pd_local_search(u).values + 1e-9)
    assert np.all(exact.values < decode_pd_dag(u).values)
