"""Local search over insertions, and the linear ordering program with its bounds."""

import warnings
from itertools import count, permutations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.decoders import (
    _exact_preferences,
    _insertion,
    _linear_ordering,
    decode_pd_borda,
    decode_pd_dag,
    decode_pd_exact,
    decode_pd_local_search,
    preference_bound,
    preference_cost,
)
from lowrank_rank.decoders._preferences import pair_bound

from .preference_cases import (
    along_an_order,
    assert_ranks,
    costs,
    least_costs,
    majority,
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
    improved = [_insertion.improve_orders(net, np.argsort(r, axis=1)) for r in starts]
    dag, borda = (preference_cost(u, np.argsort(orders, axis=1) + 1) for orders in improved)
    assert np.any(borda < dag - 1e-9)
    assert np.any(dag < borda - 1e-9)
    found = decode_pd_local_search(u, n_restarts=0).values
    np.testing.assert_allclose(found, np.minimum(dag, borda))


def test_shakes_exchange_neighbouring_blocks():
    shakes = _insertion.shakes_of(9, 40, np.random.RandomState(0))
    assert_ranks(shakes + 1)
    assert len(np.unique(shakes, axis=0)) > 30
    for shake in shakes:
        assert np.sum(np.diff(shake) != 1) <= 3 * _insertion._EXCHANGES
    assert _insertion.shakes_of(1, 3, np.random.RandomState(0)).tolist() == [[0]] * 3


def test_change_of_cost_of_every_move():
    u = preferences("normal", 4, 6)
    net = u - u.transpose(0, 2, 1)
    orders = np.random.default_rng(0).permuted(np.tile(np.arange(6), (4, 1)), axis=1)
    lists = np.array([0, 1, 3])
    for item in range(6):
        change, place = _insertion.move_changes(net, lists, orders[lists], item)
        for row, q in enumerate(lists):
            assert orders[q, place[row]] == item
            now = disagreement_cost(u[q], orders[q])
            for source, target, moved in insertions(orders[q].tolist()):
                if source == place[row]:
                    cost = disagreement_cost(u[q], moved)
                    assert change[row, target] == pytest.approx(cost - now, abs=1e-12)
                    made = _insertion._moved(orders[[q]], np.array([source]), np.array([target]))
                    assert made.tolist() == [moved]


def test_improvement_keeps_its_input_and_an_order_that_is_locally_best():
    u = preferences("normal", 5, 6)
    start = np.tile(np.arange(6), (5, 1))
    best = _insertion.improve_orders(u, start)
    np.testing.assert_array_equal(start, np.tile(np.arange(6), (5, 1)))
    np.testing.assert_array_equal(_insertion.improve_orders(u, best), best)


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
        for module in (_exact_preferences, _linear_ordering):
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

    monkeypatch.setattr(_linear_ordering, "MOST_ITEMS_GAP", 0)

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
    monkeypatch.setattr(_exact_preferences, "MOST_ITEMS_SUBSETS", r)
    assert decode_pd_exact(u).values == pytest.approx(cuts.values)
    assert not decode_pd_local_search(u).values < cuts.values - 1e-9


@pytest.mark.parametrize(("kind", "r", "seed"), GAPS)
def test_branching_finds_orders_that_no_heuristic_offers(kind, r, seed, monkeypatch):
    u = gap_list(kind, r, seed)
    expected = decode_pd_exact(u)
    monkeypatch.setattr(_linear_ordering, "MOST_ITEMS_GAP", 0)
    monkeypatch.setattr(_linear_ordering, "improve_orders", lambda weights, orders: orders)
    monkeypatch.setattr(_linear_ordering, "search", lambda net, shakes: np.arange(r)[np.newaxis])
    decoded = decode_pd_exact(u)
    assert decoded.values == pytest.approx(expected.values)
    assert decoded.optimal.all()


def test_branching_that_stops_early_proves_no_more_than_it_did(monkeypatch):
    class Stopped:
        x, status, mip_dual_bound = None, 1, -1e9

    u = gap_list("normal", 15, 38)
    relaxed = preference_bound(u)
    monkeypatch.setattr(_linear_ordering, "MOST_ITEMS_GAP", 0)
    monkeypatch.setattr(_linear_ordering, "milp", lambda *args, **options: Stopped())
    with pytest.warns(ConvergenceWarning, match="1 of 1 lists"):
        decoded = decode_pd_exact(u)
    np.testing.assert_allclose(decoded.bounds, relaxed)
    assert not decoded.optimal[0]


@pytest.mark.parametrize("r", [13, 14])
def test_cuts_agree_with_subsets_on_longer_lists(r, monkeypatch):
    u = np.concatenate([preferences("normal", 4, r), *(majority(seed, r) for seed in range(4))])
    short = decode_pd_exact(u)  # by the subsets where the relaxation leaves a gap
    monkeypatch.setattr(_linear_ordering, "MOST_ITEMS_GAP", 0)
    cuts, bounds = decode_pd_exact(u), preference_bound(u)
    np.testing.assert_allclose(short.values, cuts.values, atol=1e-9)
    assert short.optimal.all()
    monkeypatch.setattr(_exact_preferences, "MOST_ITEMS_SUBSETS", r)
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
        order, bound = _linear_ordering.order_components(u, None, True)
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
        search = _linear_ordering._Search(weights, np.arange(len(weights)), None, None)
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
