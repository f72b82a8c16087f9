"""Votes in every form are the same votes."""

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from lowrank_rank import consensus_ranking
from lowrank_rank.target_losses import PairwiseDisagreement

from .internals import read_votes

NAMES = ["ash", "birch", "cedar"]
GRADES = np.array([[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [np.nan, 0.0, 1.0]])
ORDERS = [
    ["ash", "birch", "cedar"],
    ["birch", "cedar", "ash"],
    [("ash", "birch"), "cedar"],
    ["cedar", "birch"],
]
WEIGHTS = [3, 1, 2, 5]
#: Ranks, of which a tie takes one rank twice.
LONG = [
    ("p", "ash", 1), ("p", "birch", 2), ("p", "cedar", 3),
    ("q", "birch", 1), ("q", "cedar", 2), ("q", "ash", 3),
    ("r", "ash", 1), ("r", "birch", 1), ("r", "cedar", 3),
    ("s", "cedar", 1), ("s", "birch", 2),
]  # fmt: skip


def columns(kind="rank"):
    voter, item, rank = zip(*LONG, strict=True)
    values = rank if kind == "rank" else [3 - value for value in rank]
    return {"voter": list(voter), "item": list(item), kind: list(values)}


def forms():
    pandas = pytest.importorskip("pandas")
    each = PairwiseDisagreement().preferences(GRADES)
    yield "grades", {"orders": GRADES, "items": NAMES}
    yield "frame", {"orders": pandas.DataFrame(GRADES, columns=NAMES)}
    yield "ranks", {"orders": 3 - GRADES, "ranks": True, "items": NAMES}
    yield "orders", {"orders": ORDERS}
    yield "orders with names", {"orders": ORDERS, "items": NAMES}
    yield "long frame", {"orders": pandas.DataFrame(columns())}
    yield "long columns, mixed rows", {"orders": columns("grade"), "items": NAMES}
    yield "preferences", {"orders": each, "items": NAMES}


def test_every_form_gives_the_same_total():
    each = PairwiseDisagreement().preferences(GRADES)
    total = np.einsum("q,qij->ij", WEIGHTS, each)
    for name, arguments in forms():
        votes = read_votes(weights=WEIGHTS, **arguments)
        assert votes.items.tolist() == NAMES, name
        np.testing.assert_array_equal(votes.total(), total, err_msg=name)
    counted = read_votes(total, items=NAMES, pairwise=True)
    np.testing.assert_array_equal(counted.total(), total)
    assert counted.are_counts
    bunch = Bunch(target=GRADES, counts=np.array(WEIGHTS), item_names=np.array(NAMES))
    np.testing.assert_array_equal(read_votes(bunch).total(), total)
    doubled = read_votes(bunch, weights=2 * np.array(WEIGHTS), items=["a", "b", "c"])
    np.testing.assert_array_equal(doubled.total(), 2 * total)
    assert doubled.items.tolist() == ["a", "b", "c"]


def test_rows_of_a_long_frame_may_be_in_any_order():
    rows = np.random.default_rng(0).permutation(len(LONG))
    mixed = {name: [column[i] for i in rows] for name, column in columns().items()}
    expected = read_votes(columns(), items=NAMES).total()
    np.testing.assert_array_equal(read_votes(mixed, items=NAMES).total(), expected)


def test_polars_frames():
    polars = pytest.importorskip("polars")
    expected = read_votes(columns()).total()
    np.testing.assert_array_equal(read_votes(polars.DataFrame(columns())).total(), expected)
    wide = polars.DataFrame({name: GRADES[:3, i] for i, name in enumerate(NAMES)})
    assert read_votes(wide).items.tolist() == NAMES


def test_numbers_where_nothing_names_the_items_and_tuples_as_names():
    assert read_votes(GRADES).items.tolist() == [0, 1, 2]
    named = read_votes(GRADES, items=[("a", 1), ("a", 2), "b"])
    assert named.items.tolist() == [("a", 1), ("a", 2), "b"]
    assert read_votes([["b", "a"], ["c"]]).items.tolist() == ["b", "a", "c"]


def test_what_looks_like_counts_is_said_to_be_read_as_grades():
    counts = np.array([[0, 3, 1], [2, 0, 4], [4, 1, 0]])
    with pytest.warns(UserWarning, match="set pairwise=True"):
        read_votes(counts)


BAD = [
    ({"orders": np.zeros((2, 3)), "pairwise": True}, r"the shape \(r, r\)"),
    ({"orders": np.eye(3), "pairwise": True}, "the diagonal of counts must be 0"),
    ({"orders": np.zeros((2, 2)), "pairwise": True, "weights": [1, 1]}, "take no weights"),
    ({"orders": np.zeros(3)}, "orders must be grades"),
    ({"orders": np.zeros((0, 3))}, "at least one vote"),
    ({"orders": np.array([[1.0, np.inf]])}, "infinite"),
    ({"orders": [["x", 1.0]], "items": ["a", "b"]}, "names 'x'"),
    ({"orders": -np.ones((1, 2, 2)) + np.eye(2)}, "preferences y"),
    ({"orders": GRADES, "ranks": True}, "ranks start at 1 = best, got 0"),
    ({"orders": np.zeros((1, 2, 2)), "ranks": True}, "needs a matrix"),
    ({"orders": GRADES, "weights": [1, 2]}, "weights has shape"),
    ({"orders": GRADES, "weights": [1, 2, 3, -1]}, "weights.* is negative"),
    ({"orders": GRADES, "items": ["a", "b"]}, "2 names for 3 items"),
    ({"orders": GRADES, "items": ["a", "b", "a"]}, "'a' twice"),
    ({"orders": {"voter": [1], "item": ["a"]}}, "one of 'rank'"),
    ({"orders": {"voter": [1, 1], "item": ["a", "a"], "rank": [1, 2]}}, "'a' twice"),
    ({"orders": columns(), "items": ["ash", "birch"]}, "rank 'cedar', which is not"),
    ({"orders": {"voter": [1, None], "item": ["a", "b"], "rank": [1, 2]}}, "column 'voter'"),
    ({"orders": [["a", "b"], ["b", None]]}, "None or NaN, which is no item"),
    ({"orders": [["a", {"b", np.nan}]]}, "None or NaN, which is no item"),
    ({"orders": [["a", pd.NA], ["a", "b"]]}, "None or NaN, which is no item"),
    ({"orders": ["abc", "bca"]}, "each order is a sequence of items, best first"),
    ({"orders": [[2.0, 1.0], [2.0]], "kind": "grades"}, "Orders of names, best first, are a list"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_votes(**arguments)


def test_the_index_of_a_frame_of_counts_has_the_items_of_its_columns():
    pandas = pytest.importorskip("pandas")
    won = pandas.DataFrame([[0, 3], [1, 0]], index=["a", "b"], columns=["a", "b"])
    np.testing.assert_array_equal(read_votes(won, pairwise=True).total(), [[0, 3], [1, 0]])
    numbered = won.reset_index(drop=True)
    np.testing.assert_array_equal(read_votes(numbered, pairwise=True).total(), [[0, 3], [1, 0]])
    duels = pandas.DataFrame({"winner": ["a", "a", "b"], "loser": ["b", "c", "c"]})
    others = pandas.DataFrame([[1, 1], [0, 1]], index=[0, 1], columns=[1, 2])
    crossed = pandas.crosstab(duels["winner"], duels["loser"])
    for frame in (won.loc[["b", "a"]], crossed, others):
        with pytest.raises(ValueError, match=r"the same items as index and columns.*reindex"):
            read_votes(frame, pairwise=True)
    items = ["a", "b", "c"]
    counts = crossed.reindex(index=items, columns=items, fill_value=0)
    assert read_votes(counts, pairwise=True).total().tolist() == [[0, 1, 1], [0, 0, 1], [0, 0, 0]]


@pytest.mark.parametrize("names", ["ab", (0, 1), (7, 3), (True, "x")])
def test_lists_are_orders_whatever_they_hold(names):
    a, b = names
    votes = [[a, b], [b, a], [b, a]]
    for orders in (votes, tuple(map(tuple, votes))):
        assert consensus_ranking(orders).order.tolist() == [b, a]
        assert consensus_ranking(orders, items=[a, b]).order.tolist() == [b, a]


def test_ties_and_short_orders_of_numbers():
    consensus = consensus_ranking([[(0, 1), 2], [1, 0], [2]])
    assert sorted(consensus.order.tolist()) == [0, 1, 2]
    assert consensus.cost == 0


def test_arrays_are_grades_and_kind_overrides():
    grades = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    assert consensus_ranking(grades).order.tolist() == [0, 1]
    assert consensus_ranking(grades.tolist(), kind="grades").order.tolist() == [0, 1]
    whole = grades.astype(int)
    assert consensus_ranking(whole, kind="grades").order.tolist() == [0, 1]
    assert consensus_ranking(whole, kind="orders").order.tolist() == [1, 0]
    assert consensus_ranking(pd.DataFrame(whole), kind="orders").order.tolist() == [1, 0]
    assert consensus_ranking(2 * whole).order.tolist() == [0, 1]  # no permutations of numbers
    for first in (0, 1):
        with pytest.raises(ValueError, match="say kind='orders' if a row lists the items"):
            consensus_ranking(whole + first)
    with pytest.raises(ValueError, match=r"has floats: give grades as an array"):
        consensus_ranking(grades.tolist())
    with pytest.raises(ValueError, match="cannot be combined with ranks=True"):
        consensus_ranking(whole, kind="grades", ranks=True)
    assert consensus_ranking([[1, 2], [2, 1], [1, 2]], ranks=True).order.tolist() == [0, 1]


def test_ties_as_sets_do_not_depend_on_hashes():
    orders = [[{"pear", "fig", "plum"}, "kiwi"], ["kiwi", frozenset({"fig", "pear"})]]
    names = ["fig", "pear", "plum", "kiwi"]
    assert read_votes(orders).items.tolist() == names
    assert (
        consensus_ranking(orders).order.tolist()
        == consensus_ranking(orders, items=names).order.tolist()
    )
    with pytest.raises(ValueError, match="there is only one voter"):
        consensus_ranking([list(range(117))]).rank_intervals()


RANKS = [[1, 2, 3], [3, 1, 2], [1, 3, 2]]
KINDS_OF_RANKS = [
    RANKS,
    [[1, 2, 2], [2, 1, 3]],  # dense ranks
    [[1, 2, 2], [3, 1, 1]],  # dense, and the least of tied ranks
    [[1.0, 2.5, 2.5], [np.nan, 2.0, 1.0]],  # mean ranks; ranks of the known
]


@pytest.mark.parametrize("ranks", KINDS_OF_RANKS, ids=str)
@pytest.mark.parametrize("container", [list, np.array, pd.DataFrame, "Float64", "polars", "arrow"])
def test_ranks_are_ambiguous_in_every_container(ranks, container):
    frame = pd.DataFrame(ranks, columns=list("xyz"))
    if container == "polars":
        table = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    elif container == "arrow":
        table = pytest.importorskip("pyarrow").table(frame.to_dict("list"))
    else:
        table = frame.astype(container) if container == "Float64" else container(ranks)
    if container is not list or isinstance(ranks[0][0], int):
        with pytest.raises(ValueError, match=r"kind='orders'.*ranks=True.*kind='grades'"):
            consensus_ranking(table)
    said = consensus_ranking(table, kind="grades").ranks
    assert said.tolist() == consensus_ranking(np.array(ranks), kind="grades").ranks.tolist()
    best = consensus_ranking(table, ranks=True).ranks
    assert best.tolist() == consensus_ranking(-np.array(ranks, dtype=float)).ranks.tolist()


def test_grades_that_are_no_ranks():
    for stars in ([[5, 3, 4], [4, 4, 1]], [[1, 1, 1], [2, 2, 2]], [[1, np.nan], [np.nan, 1]]):
        assert len(consensus_ranking(np.array(stars)).ranks) == len(stars[0])
        assert len(consensus_ranking(pd.DataFrame(stars)).ranks) == len(stars[0])


@pytest.mark.parametrize("kind", ["Float64", "Int64", "double[pyarrow]"])
def test_missing_grades_of_nullable_types(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas", "2.0")  # 1.5 cannot say what replaces NA
    frame = pd.DataFrame([[1, None, 3], [2, 2, None], [5, 1, 4]], columns=list("xyz"))
    np.testing.assert_array_equal(read_votes(frame.astype(kind)).labels, frame)


def test_a_series_or_a_table_of_orders():
    total = read_votes([["a", "b"], ["b", "a"], ["b"]], [1, 2, 3]).total()
    orders = pd.Series([["a", "b"], ["b", "a"], ["b"]], index=list("uvw"))
    table = pd.DataFrame([["a", "b"], ["b", "a"], ["b", None]], index=list("uvw"))
    for given in (orders, table, table.to_numpy()):
        np.testing.assert_array_equal(read_votes(given, [1, 2, 3]).total(), total)
    for given in (orders, table):
        with pytest.raises(ValueError, match="orders and weights have different indices"):
            consensus_ranking(given, weights=pd.Series([3, 2, 1], index=list("wvu")))


def test_weights_of_voters_in_a_long_frame():
    long = {"voter": list("uuvv"), "item": list("ABBA"), "rank": [1, 2, 1, 2]}
    weighted = {**long, "weight": [1, 1, 100, 100]}
    assert consensus_ranking(weighted).order.tolist() == ["B", "A"]
    by_voter = pd.Series([100, 1], index=["v", "u"])
    np.testing.assert_array_equal(read_votes(long, by_voter).weights, [1, 100])
    with pytest.raises(ValueError, match="weights is a Series"):
        read_votes(long, by_voter.set_axis([0, 1]))
    with pytest.raises(ValueError, match="weights are given twice"):
        read_votes(weighted, [1, 100])
    with pytest.raises(ValueError, match=r"Voter 'v' must have one weight.*got 3 in row 2"):
        consensus_ranking({**long, "weight": [1, 1, 3, 2]})
    with pytest.warns(UserWarning, match=r"does not read the columns \['colour'\]"):
        consensus_ranking({**long, "colour": list("rgbb")})
