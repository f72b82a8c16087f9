"""Consensus orders: enumeration, Condorcet's properties, real votes, resampling."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank.datasets import load_wine_tasting
from lowrank_rank.votes import consensus_ranking, load_preflib

from .internals import all_ranks
from .refusals import refused_by

METHODS = ["kemeny", "borda", "copeland", "dag"]


def random_votes(rng, n_voters, r, kind="noisy"):
    """Grades of voters around a common order; "uniform" without one."""
    taste = rng.gumbel(size=(n_voters, r)) + (
        0.0 if kind == "uniform" else -0.5 * np.arange(r)
    )
    return np.argsort(np.argsort(taste, axis=1), axis=1).astype(float)


def enumerated_costs(preferences):
    every = all_ranks(len(preferences))
    return every, np.einsum(
        "ij,nij->n", preferences, every[:, :, None] > every[:, None]
    )


def leaves_nothing_open(consensus):
    """Whether no tie of scores, majorities or costs is broken by the order of the items."""
    if consensus.method == "kemeny":
        return consensus.is_unique
    if consensus.scores is not None:
        return len(set(consensus.scores)) == len(consensus.scores)
    best_first = np.argsort(consensus.ranks)
    net = consensus.preferences - consensus.preferences.T
    return not consensus.has_cycle and np.all(net[best_first[:-1], best_first[1:]] != 0)


@pytest.mark.parametrize("kind", ["noisy", "uniform"])
def test_kemeny_is_the_optimum_of_enumeration(kind):
    """Cost, proof and uniqueness; the cost is the sum of the voters' Kendall distances."""
    unique = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        r, n_voters = rng.integers(2, 8), rng.integers(2, 9)
        grades = random_votes(rng, n_voters, r, kind)
        consensus = consensus_ranking(grades, kind="grades")
        every, costs = enumerated_costs(consensus.preferences)
        assert consensus.cost == costs.min() == consensus.bound
        assert consensus.optimal
        assert consensus.is_unique == (np.sum(costs == costs.min()) == 1)
        assert any((every[costs == costs.min()] == consensus.ranks).all(axis=1))
        unique.append(consensus.is_unique)
        disagree = sum(
            (g[i] - g[j]) * (consensus.ranks[i] - consensus.ranks[j]) > 0
            for g in grades
            for i in range(r)
            for j in range(i)
        )
        assert consensus.cost == disagree
        for method in METHODS[1:]:
            other = consensus_ranking(grades, kind="grades", method=method)
            assert other.cost >= consensus.cost
            assert other.bound is other.optimal is None  # they do not minimise the cost
    assert set(unique) == {True, False}


@pytest.mark.parametrize("method", METHODS[1:])
def test_only_kemeny_looks_for_a_bound(method):
    """A hard instance and no time: a search for a bound would warn of the limit."""
    grades = random_votes(np.random.default_rng(0), 31, 60, "uniform")
    with pytest.warns(ConvergenceWarning, match="limit"):
        consensus_ranking(grades, kind="grades", time_limit=1e-3)
    assert (
        consensus_ranking(grades, kind="grades", method=method, time_limit=1e-3).bound
        is None
    )


def test_condorcet_winner_is_first_and_loser_last():
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        grades = random_votes(rng, 7, 5, "uniform")
        wins = (grades[:, :, None] > grades[:, None]).sum(axis=0) > 3.5
        consensus = consensus_ranking(grades, kind="grades")
        assert consensus.has_cycle == (sorted(wins.sum(axis=1)) != [0, 1, 2, 3, 4])
        winner = np.flatnonzero(wins.sum(axis=1) == 4)
        assert consensus.condorcet_winner == (winner[0] if len(winner) else None)
        loser = np.flatnonzero(wins.sum(axis=1) == 0)
        found += len(winner) and consensus.has_cycle
        for method in ("kemeny", "copeland"):  # Borda's need not
            ranks = consensus_ranking(grades, kind="grades", method=method).ranks
            assert len(winner) == 0 or ranks[winner[0]] == 1
            assert len(loser) == 0 or ranks[loser[0]] == 5
        if (
            not consensus.has_cycle
        ):  # an order along all majorities, of which there is one
            assert consensus.is_unique
            for method in ("copeland", "dag"):
                other = consensus_ranking(grades, kind="grades", method=method)
                np.testing.assert_array_equal(other.ranks, consensus.ranks)
    assert found


def test_borda_may_miss_the_condorcet_winner():
    votes = [["a", "b", "c"]] * 3 + [["b", "c", "a"]] * 2
    assert consensus_ranking(votes).order.tolist() == ["a", "b", "c"]
    borda = consensus_ranking(votes, method="borda")
    assert borda.order.tolist() == ["b", "a", "c"]
    assert borda.condorcet_winner == "a"
    assert borda.scores.tolist() == [2.0, 4.0, -6.0]
    assert (borda.cost, borda.bound, borda.optimal) == (5.0, None, None)


@pytest.mark.parametrize("method", METHODS)
def test_reversal_names_and_weights(method):
    """Reversed orders have the reversed consensus, where that is unique; k voters weigh k."""
    rng = np.random.default_rng(3)
    grades, weights = random_votes(rng, 9, 6), rng.integers(1, 6, 9)
    first = consensus_ranking(
        grades, kind="grades", weights=weights, method=method, items=list("uvwxyz")
    )
    again = consensus_ranking(
        np.repeat(grades, weights, axis=0), kind="grades", method=method
    )
    np.testing.assert_array_equal(first.ranks, again.ranks)
    assert first.cost == again.cost
    turned = consensus_ranking(-grades, kind="grades", weights=weights, method=method)
    shuffled = rng.permutation(6)
    moved = consensus_ranking(
        grades[:, shuffled], kind="grades", weights=weights, method=method
    )
    if leaves_nothing_open(first):
        np.testing.assert_array_equal(turned.ranks, 7 - first.ranks)
        np.testing.assert_array_equal(moved.ranks, first.ranks[shuffled])
    assert moved.bound == first.bound
    assert first.order.tolist() == [list("uvwxyz")[i] for i in np.argsort(first.ranks)]


def test_real_votes(data_folder):
    """PrefLib's files: every order is proved, no method costs less, other optima are found."""
    files = sorted((data_folder / "preferences").rglob("*.[st]oc"))
    if not files:
        pytest.skip("no PrefLib files here")
    several = 0
    for path in files[::6]:
        votes = load_preflib(path)
        consensus = consensus_ranking(votes)
        assert consensus.optimal
        assert set(consensus.order) == set(votes.item_names)
        swapped = consensus.ranks.copy()
        for better, worse in zip(consensus.order, consensus.order[1:], strict=False):
            i, j = (
                int(np.flatnonzero(consensus.items == name)[0])
                for name in (better, worse)
            )
            swapped[i], swapped[j] = swapped[j], swapped[i]
            cost = np.sum(consensus.preferences * (swapped[:, None] > swapped))
            assert cost >= consensus.cost
            if cost == consensus.cost:
                assert consensus.is_unique is False
            swapped[i], swapped[j] = swapped[j], swapped[i]
        for method in METHODS[1:]:
            assert consensus_ranking(votes, method=method).cost >= consensus.cost
        several += not consensus.is_unique
    assert several


def test_judges_of_wine():
    """Several orders cost least: the printed result shows another one."""
    consensus = consensus_ranking(load_wine_tasting())
    assert (consensus.is_unique, consensus.cost, consensus.optimal) == (
        False,
        128.0,
        True,
    )
    told, names = str(consensus).split("another order of this cost is ")
    assert told.endswith("cost 128, no order costs less; ")
    other = names.split(", ")
    assert other != consensus.order.tolist()
    ranks = np.array([other.index(name) for name in consensus.items])
    assert np.sum(consensus.preferences * (ranks[:, None] > ranks)) == consensus.cost


def test_without_a_proof_nothing_is_claimed():
    u = np.random.default_rng(0).integers(0, 9, (60, 60)) * (1 - np.eye(60))
    with pytest.warns(ConvergenceWarning, match="time limit"):
        consensus = consensus_ranking(u, kind="counts", time_limit=0.05)
    assert consensus.bound < consensus.cost
    assert consensus.optimal is False
    assert consensus.is_unique is None
    assert "no order costs less than" in str(consensus)


def test_printing_does_not_start_a_long_search():
    votes = np.triu(np.full((20, 20), 3.0), 1)
    votes[19, 0], votes[0, 19] = 1.0, 0.0  # a cycle of all items
    consensus = consensus_ranking(votes, kind="counts")
    assert str(consensus).endswith("is_unique tells whether others cost as little")
    assert consensus.is_unique
    assert str(consensus).endswith("no other order costs as little")


def test_many_items():
    grades = random_votes(np.random.default_rng(0), 20, 250)
    with refused_by("many items for kemeny"):
        consensus_ranking(grades, kind="grades")
    for method in METHODS[1:]:
        consensus = consensus_ranking(grades, kind="grades", method=method)
        assert (consensus.bound, consensus.optimal) == (None, None)
        assert np.corrcoef(consensus.ranks, np.arange(250))[0, 1] > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "schulze"}, "method must be one of"),
        ({"time_limit": 0}, "time_limit"),
        (
            {"kind": "votes"},
            r"kind must be one of \['counts', 'grades', 'orders', 'ranks'\] or None",
        ),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        consensus_ranking([[1.0, 0.0]], **{"kind": "grades", **options})


# Resampling --------------------------------------------------------------------------


def test_majorities_of_any_number_of_votes_have_one_order():
    counts = np.array([[0, 1, 2], [8, 0, 3], [7, 6, 0]])
    few = consensus_ranking(counts, kind="counts", method="copeland")
    many = consensus_ranking(1e14 * counts, kind="counts", method="copeland")
    assert few.ranks.tolist() == many.ranks.tolist() == [3, 2, 1]
    assert few.scores.tolist() == many.scores.tolist() == [-2, 0, 2]


@pytest.mark.parametrize("method", ["kemeny", "copeland"])
def test_intervals_are_quantiles_of_a_bootstrap_by_hand(method):
    rng = np.random.default_rng(1)
    grades, counts = random_votes(rng, 12, 4), rng.integers(1, 4, 12)
    consensus = consensus_ranking(grades, kind="grades", weights=counts, method=method)
    intervals = consensus.rank_intervals(n_resamples=1000, random_state=0)
    voters = np.repeat(grades, counts, axis=0)
    low, high = [], []
    for _ in range(120):
        drawn = voters[rng.integers(len(voters), size=len(voters))]
        again = consensus_ranking(drawn, kind="grades", method=method)
        best = again.ranks if again.scores is None else again.scores
        if again.scores is None:
            low.append(best)
            high.append(best)
        else:
            low.append(1 + (best > best[:, None]).sum(axis=1))
            high.append((best >= best[:, None]).sum(axis=1))
    np.testing.assert_allclose(intervals.low, np.quantile(low, 0.025, axis=0), atol=1)
    np.testing.assert_allclose(intervals.high, np.quantile(high, 0.975, axis=0), atol=1)
    if consensus.scores is None:
        np.testing.assert_allclose(
            intervals.samples.mean(axis=0), np.mean(low, axis=0), atol=0.4
        )


def test_resampled_borda_scores_of_partial_ballots_are_win_rates():
    # a wins .55 and .6 of its games, b .45 and .9: b has the larger mean, although a
    # wins more games than it loses against each.
    ballots = {("a", "b"): (220, 180), ("b", "c"): (360, 40), ("a", "c"): (240, 160)}
    orders = []
    for (first, second), (n_first, n_second) in ballots.items():
        orders += n_first * [[first, second]] + n_second * [[second, first]]
    consensus = consensus_ranking(orders, method="borda", unranked="unknown")
    assert consensus.order.tolist() == ["b", "a", "c"]
    samples = consensus.rank_intervals(n_resamples=200, random_state=0).samples
    assert np.mean(samples == consensus.ranks) > 0.9


def test_intervals_of_one_kind_of_vote_are_points():
    consensus = consensus_ranking([["b", "c", "a"]] * 5)
    intervals = consensus.rank_intervals(n_resamples=50, random_state=0)
    np.testing.assert_array_equal(intervals.low, consensus.ranks)
    np.testing.assert_array_equal(intervals.high, consensus.ranks)
    assert intervals.samples.shape == (50, 3)


def test_intervals_of_counts_draw_single_comparisons():
    votes = np.array([[0.0, 60, 90], [40, 0, 95], [10, 5, 0]])
    consensus = consensus_ranking(votes, kind="counts")
    intervals = consensus.rank_intervals(n_resamples=4000, random_state=0)
    # 0 leads 1 by 60 of 100 votes, two standard deviations of the number of votes
    second = np.mean(intervals.samples[:, 0] == 2)
    assert second == pytest.approx(0.02, abs=0.01)
    for level, high in ((0.9, [1, 2, 3]), (0.999, [2, 2, 3])):
        again = consensus.rank_intervals(confidence_level=level, random_state=0)
        assert again.high.tolist() == high
    with refused_by("counts that are not whole"):
        consensus_ranking(votes / 7.0, kind="counts").rank_intervals()


def test_weights_that_are_no_counts_are_importances():
    rng = np.random.default_rng(0)
    grades = random_votes(rng, 15, 3, "uniform")
    halves = consensus_ranking(
        grades, kind="grades", weights=np.full(15, 0.5)
    ).rank_intervals(random_state=0)
    whole = consensus_ranking(grades, kind="grades").rank_intervals(random_state=0)
    np.testing.assert_array_equal(halves.samples, whole.samples)


def test_intervals_of_many_items_take_the_local_search():
    grades = random_votes(np.random.default_rng(0), 30, 15)
    intervals = consensus_ranking(grades, kind="grades").rank_intervals(
        n_resamples=20, random_state=0
    )
    assert np.all(intervals.low <= intervals.high)
    assert np.all(np.sort(intervals.samples, axis=1) == np.arange(1, 16))


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_search_in_resamples_finds_the_order_of_majorities(weight):
    """Majorities without a cycle order the items, and Copeland's scores sort them."""
    rng = np.random.default_rng(0)
    grades = -np.arange(20.0) + 5.0 * rng.normal(size=(301, 20))
    kemeny, copeland = (
        consensus_ranking(
            grades, kind="grades", weights=np.full(301, weight), method=method
        )
        .rank_intervals(n_resamples=300, random_state=0)
        .samples
        for method in ("kemeny", "copeland")
    )
    assert np.ptp(kemeny, axis=0).max() > 1
    assert np.mean(np.all(kemeny == copeland, axis=1)) > 0.9


def test_coverage_where_items_are_apart():
    """Intervals of 95 % hold the rank in the population at least that often, of Borda's order."""
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(40):
        consensus = consensus_ranking(
            random_votes(rng, 100, 4), kind="grades", method="borda"
        )
        intervals = consensus.rank_intervals(
            n_resamples=200, random_state=rng.integers(2**31)
        )
        truth = np.arange(1, 5)
        inside.append((intervals.low <= truth) & (truth <= intervals.high))
    assert np.mean(inside) >= 0.95


def test_borda_of_duels_takes_win_rates():
    """Items that play often, against strong or weak ones, gain nothing by the number of games."""
    counts = [[0, 55, 9], [45, 0, 900], [1, 100, 0]]
    for method in ("kemeny", "borda", "copeland", "dag"):
        consensus = consensus_ranking(
            counts, items=list("ABC"), kind="counts", method=method
        )
        assert consensus.order.tolist() == ["A", "B", "C"], method
    rng = np.random.default_rng(0)
    for _ in range(20):
        rates = rng.uniform(size=(5, 5))
        rates /= rates + rates.T
        games = rng.integers(1, 40, (5, 5))
        games = games + games.T
        np.fill_diagonal(rates, 0.0)
        order = consensus_ranking(rates * games, kind="counts", method="borda").order
        assert order.tolist() == np.argsort(-rates.sum(axis=1)).tolist()
    with refused_by("item that met no other"):
        consensus_ranking(
            [[0, 3, 0], [1, 0, 0], [0, 0, 0]],
            items=list("ABC"),
            kind="counts",
            method="borda",
        )


def test_intervals_of_duels_with_unequal_games_hold_the_rank():
    """Bradley-Terry items, some pairs with 200 games and some with 5."""
    rng = np.random.default_rng(1)
    strength, held = np.linspace(0.0, 1.5, 6), []
    truth = np.arange(6, 0, -1)
    chance = 1.0 / (1.0 + np.exp(strength[np.newaxis, :] - strength[:, np.newaxis]))
    for _ in range(40):
        games = np.triu(rng.choice([5, 200], size=(6, 6)), 1)
        wins = rng.binomial(games, np.where(games, chance, 0.0))
        counts = wins + (games - wins).T
        consensus = consensus_ranking(counts, kind="counts", method="borda")
        found = consensus.rank_intervals(n_resamples=200, random_state=0)
        held.append((found.low <= truth) & (truth <= found.high))
    assert np.mean(held) >= 0.9


def test_the_search_for_another_optimum_obeys_the_time_limit():
    """Other orders of 14 items cost more, which the bounds of no search show."""
    counts = np.random.default_rng(0).random((14, 14))
    np.fill_diagonal(counts, 0.0)
    consensus = consensus_ranking(counts, kind="counts")
    assert consensus.optimal
    assert replace(consensus, time_limit=1e-9).is_unique is None
    assert replace(consensus, time_limit=None).is_unique is True


def test_borda_of_partial_ballots_counts_the_items_that_met():
    """An item that few voters ranked, and most of these above all others, is first."""
    ballots = np.tile([np.nan, 2.0, 1.0, 0.0], (40, 1))
    ballots[:4, 0] = 3.0
    ballots[4, 0] = 1.5
    found = consensus_ranking(ballots, kind="grades", method="borda")
    assert found.order.tolist() == [0, 1, 2, 3]
    frame = found.to_frame()
    assert frame["voters"].tolist() == [5, 40, 40, 40]
    whole = consensus_ranking(ballots[:, 1:], kind="grades", method="borda")
    assert "voters" not in whole.to_frame()
    assert whole.scores.tolist() == [80.0, 0.0, -80.0]
    weighted = consensus_ranking(
        ballots, kind="grades", method="borda", weights=np.full(40, 2)
    )
    assert weighted.to_frame()["voters"].tolist() == [10, 80, 80, 80]


def test_a_vote_that_counts_nothing_changes_no_method():
    """An empty ballot, or one of weight 0, makes no ballot partial."""
    grades = np.array([[1.0, 2, 3], [3, 1, 2], [1, 2, 3]])
    whole = consensus_ranking(grades, kind="grades", method="borda")
    empty = np.vstack([grades, np.full(3, np.nan)])
    partial = np.vstack([grades, [np.nan, 1, 2]])
    for votes, weights in ((empty, None), (partial, [1, 1, 1, 0])):
        found = consensus_ranking(votes, kind="grades", method="borda", weights=weights)
        assert np.array_equal(found.scores, whole.scores)
        assert "voters" not in repr(found)
