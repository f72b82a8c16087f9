"""What an item is that a ballot leaves out, and names that are no items."""

from itertools import permutations

import numpy as np
import pandas as pd
import polars
import pytest

from lowrank_rank.votes import consensus_ranking, grades_from_orders, load_preflib

ITEMS = ["price", "quality", "service", "brand"]
STRENGTHS = np.array([1.0, 0.7, 0.2, -0.3])


def drawn_ranks(seed, n=300):
    """Ranks of four items under the Plackett-Luce model; the true order is `ITEMS`."""
    noisy = STRENGTHS + np.random.default_rng(seed).gumbel(size=(n, 4))
    ranks = np.argsort(np.argsort(-noisy, axis=1), axis=1) + 1.0
    return pd.DataFrame(ranks, columns=ITEMS)


def random_orders(rng, n, r):
    """Orders of one to r items, some with a tie."""
    orders = []
    for _ in range(n):
        order = rng.permutation(r)[: rng.integers(1, r + 1)].tolist()
        if len(order) > 2 and rng.random() < 0.3:
            order = [tuple(order[:2]), *order[2:]]
        orders.append(order)
    return orders


def prefers(order, one, other, unranked):
    """Whether an order puts one item before another."""
    place = {}
    for i, tied in enumerate(order):
        for item in tied if isinstance(tied, tuple) else [tied]:
            place[item] = i
    if one in place and other in place:
        return place[one] < place[other]
    return unranked == "last" and one in place


# The order of least cost --------------------------------------------------------------


@pytest.mark.parametrize("unranked", ["last", "unknown"])
def test_kemeny_is_the_optimum_of_enumeration(unranked):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        r = int(rng.integers(2, 6))
        orders = random_orders(rng, 7, r)
        weights = rng.integers(1, 5, 7)
        cost_of = {}
        for ranking in permutations(range(r)):
            cost_of[ranking] = sum(
                weight * prefers(order, ranking[j], ranking[i], unranked)
                for order, weight in zip(orders, weights, strict=True)
                for j in range(r)
                for i in range(j)
            )
        found = consensus_ranking(
            orders,
            kind="orders",
            items=range(r),
            weights=weights,
            unranked=unranked,
        )
        assert found.cost == found.bound == min(cost_of.values())
        assert cost_of[tuple(found.order.tolist())] == found.cost
        n_optima = list(cost_of.values()).count(found.cost)
        assert found.is_unique == (n_optima == 1)


@pytest.mark.parametrize("unranked", ["last", "unknown"])
def test_order_of_ballots_and_items_and_copies_change_nothing(unranked):
    rng = np.random.default_rng(0)
    orders = random_orders(rng, 12, 5)
    weights = rng.integers(1, 4, 12)
    said = {"kind": "orders", "unranked": unranked}
    found = consensus_ranking(orders, items=range(5), weights=weights, **said)
    copies = [order for order, n in zip(orders, weights, strict=True) for _ in range(n)]
    mixed = rng.permutation(12)
    items = rng.permutation(5)
    for other in (
        consensus_ranking(copies, items=range(5), **said),
        consensus_ranking(
            [orders[i] for i in mixed],
            items=range(5),
            weights=weights[mixed],
            **said,
        ),
    ):
        np.testing.assert_array_equal(other.preferences, found.preferences)
    other = consensus_ranking(orders, items=items.tolist(), weights=weights, **said)
    np.testing.assert_array_equal(
        other.preferences, found.preferences[np.ix_(items, items)]
    )
    for method in ("borda", "copeland", "dag"):
        scored = [
            consensus_ranking(one, items=range(5), weights=w, method=method, **said)
            for one, w in ((orders, weights), (copies, None))
        ]
        np.testing.assert_array_equal(scored[0].ranks, scored[1].ranks)
    intervals = found.rank_intervals(n_resamples=50, random_state=0)
    assert np.all(intervals.low <= intervals.high)


def test_last_is_one_rank_below_all_that_a_vote_ranks():
    ranks = drawn_ranks(0, 40)
    lengths = np.random.default_rng(0).integers(1, 5, 40)
    stopped = ranks.where(ranks.le(lengths, axis=0))
    filled = stopped.T.fillna(stopped.max(axis=1) + 1).T
    for method in ("kemeny", "borda", "copeland", "dag"):
        said = {"kind": "ranks", "method": method}
        found = consensus_ranking(stopped, unranked="last", **said)
        expected = consensus_ranking(filled, **said)
        np.testing.assert_array_equal(found.preferences, expected.preferences)
        np.testing.assert_array_equal(found.ranks, expected.ranks)
        assert "voters" not in repr(found)
    assert "voters" in repr(
        consensus_ranking(stopped, unranked="unknown", kind="ranks")
    )


# Which word is right ------------------------------------------------------------------


def n_wrong(table_of, **said):
    """In how many of 20 draws the order found is not the true one."""
    return sum(
        consensus_ranking(table_of(seed), kind="ranks", **said).order.tolist() != ITEMS
        for seed in range(20)
    )


def test_two_favourites_of_four():
    def favourites(seed):
        ranks = drawn_ranks(seed)
        return ranks.where(ranks <= 2)

    assert n_wrong(favourites, unranked="last") <= 1
    assert n_wrong(favourites, unranked="unknown") >= 15


def test_three_of_four_seen_and_ranked():
    def seen(seed):
        ranks = drawn_ranks(seed)
        hidden = np.random.default_rng(seed).integers(4, size=300)
        ranks = ranks.where(np.arange(4) != hidden[:, np.newaxis])
        return ranks.rank(axis=1)

    assert n_wrong(seen, unranked="unknown") <= 1


def test_the_first_of_those_seen_needs_a_last_rank():
    """The third line of the refusal: neither word is right of the votes alone."""

    def named(seed, last=np.nan):
        # The better an item is, the fewer voters saw it.
        rng = np.random.default_rng(seed)
        ranks = drawn_ranks(seed)
        # Kemeny's order of no preferences is that of the columns.
        is_seen = rng.random((300, 4)) < [0.3, 0.5, 0.9, 1.0]
        ranks = ranks.where(is_seen).rank(axis=1)
        return ranks.where(~(ranks > 1), last)[ITEMS[::-1]]

    def with_last_rank(seed):
        return named(seed, last=2.0)

    assert n_wrong(named, unranked="last") >= 10
    assert n_wrong(named, unranked="unknown") >= 15
    assert n_wrong(with_last_rank, unranked="unknown") <= 5


# When the word is asked ---------------------------------------------------------------


def test_complete_ballots_never_ask_and_no_word_changes_them():
    ranks = drawn_ranks(0, 30)
    orders = [[ITEMS[i] for i in np.argsort(row)] for row in ranks.to_numpy()]
    long = ranks.melt(ignore_index=False, var_name="item", value_name="rank")
    long = long.rename_axis("voter").reset_index()
    expected = consensus_ranking(ranks, kind="ranks").preferences
    for votes, kind in (
        (ranks, "ranks"),
        (orders, None),
        (pd.DataFrame(orders), "orders"),
        (long, None),
    ):
        for unranked in (None, "last", "unknown"):
            found = consensus_ranking(votes, kind=kind, items=ITEMS, unranked=unranked)
            np.testing.assert_array_equal(found.preferences, expected)


def test_votes_that_rank_nothing_or_weigh_nothing_do_not_ask():
    ranks = np.array([[1.0, 2, 3], [np.nan, np.nan, np.nan], [1, np.nan, 2]])
    found = consensus_ranking(ranks, kind="ranks", weights=[1, 1, 0])
    assert found.preferences.sum() == 3
    last = consensus_ranking(ranks, kind="ranks", weights=[1, 1, 0], unranked="last")
    np.testing.assert_array_equal(found.preferences, last.preferences)
    with pytest.raises(ValueError, match="Vote 2 ranks 2 of 3 items"):
        consensus_ranking(ranks, kind="ranks")


def test_grades_are_unknown_where_nothing_else_is_said():
    grades = np.array([[3.0, np.nan, 1.0], [1e300, 1e299, np.nan], [np.nan, 0.0, -1.0]])
    found = consensus_ranking(grades, kind="grades")
    unknown = consensus_ranking(grades, kind="grades", unranked="unknown")
    np.testing.assert_array_equal(found.preferences, unknown.preferences)
    last = consensus_ranking(grades, kind="grades", unranked="last")
    assert last.preferences.tolist() == [[0, 2, 2], [1, 0, 2], [1, 1, 0]]


def test_the_message_has_two_lines_and_says_when_neither_is_right():
    with pytest.raises(ValueError, match="Vote 1 ranks 1 of 2") as said:
        consensus_ranking([["a", "b"], ["b"]])
    assert said.value.remedies == ("unranked = 'last'", "unranked = 'unknown'")
    assert "one last rank for what was seen, NaN for the rest" in str(said.value)
    with pytest.raises(ValueError, match="unranked must be one of"):
        consensus_ranking([["a", "b"], ["b"]], unranked="first")


@pytest.mark.parametrize("ending", ["soi", "toi"])
def test_incomplete_orders_of_preflib(ending, tmp_path):
    header = "# NUMBER ALTERNATIVES: 3\n" + "".join(
        f"# ALTERNATIVE NAME {i}: {name}\n" for i, name in enumerate("abc", start=1)
    )
    path = tmp_path / f"votes.{ending}"
    path.write_text(header + "5: 2,1,3\n2: 3,1\n")
    votes = load_preflib(path)
    with pytest.raises(ValueError, match="Vote 1 ranks 2 of 3 items"):
        consensus_ranking(votes)
    last = consensus_ranking(votes, unranked="last")
    assert last.preferences.tolist() == [[0, 2, 5], [5, 0, 5], [2, 2, 0]]
    unknown = consensus_ranking(votes, unranked="unknown")
    assert unknown.preferences.tolist() == [[0, 0, 5], [5, 0, 5], [2, 0, 0]]
    path.write_text(header + "5: 2,1,3\n2: 3,1,2\n")
    assert consensus_ranking(load_preflib(path)).order.tolist() == ["b", "a", "c"]


def test_grades_from_orders_keep_what_is_not_judged():
    assert np.isnan(grades_from_orders([[2, 0, 1], [1, 2]])[1, 0])


# Names that are no items --------------------------------------------------------------

PLACES = [["Ann", "skipped", "Bob"], ["Bob", "Ann", "skipped"], ["Bob", "Ann", "Cid"]]
MARKED = {
    "list": PLACES,
    "tuples": tuple(map(tuple, PLACES)),
    "array": np.array(PLACES),
    "series": pd.Series(PLACES),
    "pandas": pd.DataFrame(PLACES),
    "polars": polars.from_pandas(pd.DataFrame(PLACES, columns=["1", "2", "3"])),
}


def run_lines_of(text, orders):
    """Run the lines of a message that are code."""
    words = {"orders": orders, "pandas": pd, "polars": polars}
    exec("\n".join(line.strip() for line in text.splitlines()[1:]), words)
    return words


@pytest.mark.parametrize("form", MARKED)
def test_marks_of_cast_vote_records_are_named_with_a_line_that_runs(form, recwarn):
    said = {"kind": "orders", "unranked": "last"}
    orders = MARKED[form]
    assert "skipped" in consensus_ranking(orders, **said).items
    text = str(recwarn.pop(UserWarning).message)
    assert "'skipped', which cast-vote records write" in text
    words = run_lines_of(text, orders)
    clean = [["Ann", "Bob"], ["Bob", "Ann"], ["Bob", "Ann", "Cid"]]
    found = consensus_ranking(words["orders"], **said)
    expected = consensus_ranking(clean, **said)
    np.testing.assert_array_equal(found.preferences, expected.preferences)
    items = ["Ann", "Bob", "Cid", "skipped"]
    assert consensus_ranking(orders, items=items, **said).findings == ()
    assert not len(recwarn)


def test_marks_in_long_tables_and_in_ties(recwarn):
    table = pd.DataFrame(
        {"voter": [1, 1, 2, 2], "item": ["Ann", "Overvote", "Bob", "Ann"]}
    )
    table["rank"] = [1, 2, 1, 2]
    for orders in (table, polars.from_pandas(table), table.to_dict("list")):
        consensus_ranking(orders, unranked="last")
        text = str(recwarn.pop(UserWarning).message)
        words = run_lines_of(text, orders)
        found = consensus_ranking(words["orders"], unranked="last")
        assert sorted(found.items) == ["Ann", "Bob"]
    consensus_ranking([["Ann", ("Bob", "undervote")]])
    assert str(recwarn.pop(UserWarning).message).endswith("leave it out")
    consensus_ranking([["Ann", "blank", "write-in"]])
    assert not len(recwarn)


def test_a_column_shares_an_item_or_has_one_item():
    """A place that no voter gives to another item is no column of ids."""
    orders = pd.DataFrame([["a", "b", "c"], ["a", "c", "b"]])
    assert consensus_ranking(orders, kind="orders").order[0] == "a"
    same = pd.DataFrame([["a", "b", "c"]] * 5)
    assert consensus_ranking(same, kind="orders").order.tolist() == ["a", "b", "c"]
    disjoint = pd.DataFrame([["a", "b"], ["c", "d"]])
    with pytest.raises(ValueError, match="No value of the column 0"):
        consensus_ranking(disjoint, kind="orders", unranked="last")
    found = consensus_ranking(
        disjoint, kind="orders", items=list("abcd"), unranked="last"
    )
    assert found.preferences.sum() == 10
    tied = pd.DataFrame({"first": [("a", "b"), "c"], "second": ["c", "b"]})
    assert consensus_ranking(tied, kind="orders", unranked="last").cost >= 0
