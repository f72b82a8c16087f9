"""Votes in every form are the same votes."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.utils import Bunch

from lowrank_rank.target_losses import PairwiseDisagreement
from lowrank_rank.votes import consensus_ranking, grades_from_orders

from .refusals import refused_by

NAMES = ["ash", "birch", "cedar"]
GRADES = np.array(
    [[2.0, 1.0, 0.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [np.nan, 0.0, 1.0]]
)
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
    """Name and arguments of each form; preferences leave out no item."""
    for name, arguments in forms_of_ballots():
        yield name, {**arguments, "unranked": "unknown"}
    each = PairwiseDisagreement().preferences(GRADES)
    yield "preferences", {"orders": each, "items": NAMES}
    yield "preferences, said", {"orders": each, "items": NAMES, "kind": "counts"}


def forms_of_ballots():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GRADES, columns=NAMES)
    mixed = frame[["cedar", "ash", "birch"]].assign(id=range(4), town=list("uvwx"))
    yield "grades", {"orders": GRADES, "items": NAMES, "kind": "grades"}
    yield "frame", {"orders": frame, "kind": "grades"}
    yield (
        "frame with other columns",
        {"orders": mixed, "items": NAMES, "kind": "grades"},
    )
    yield "ranks", {"orders": 3 - GRADES, "kind": "ranks", "items": NAMES}
    yield (
        "frame of ranks",
        {"orders": 3 - mixed[NAMES], "kind": "ranks", "items": NAMES},
    )
    yield "orders", {"orders": ORDERS}
    yield "orders, said", {"orders": ORDERS, "kind": "orders"}
    yield "orders with names", {"orders": ORDERS, "items": NAMES}
    yield "series", {"orders": pandas.Series(ORDERS)}
    yield "long frame", {"orders": pandas.DataFrame(columns())}
    yield "long columns, mixed rows", {"orders": columns("grade"), "items": NAMES}
    yield "long frame, said", {"orders": pandas.DataFrame(columns()), "kind": "ranks"}


def test_every_form_gives_the_same_total():
    each = PairwiseDisagreement().preferences(GRADES)
    total = np.einsum("q,qij->ij", WEIGHTS, each)
    for name, arguments in forms():
        votes = consensus_ranking(weights=WEIGHTS, **arguments)
        assert votes.items.tolist() == NAMES, name
        np.testing.assert_array_equal(votes.preferences, total, err_msg=name)
    counted = consensus_ranking(total, items=NAMES, kind="counts")
    np.testing.assert_array_equal(counted.preferences, total)
    assert counted.votes.are_counts
    bunch = Bunch(target=GRADES, counts=np.array(WEIGHTS), item_names=np.array(NAMES))
    np.testing.assert_array_equal(consensus_ranking(bunch).preferences, total)
    doubled = consensus_ranking(
        bunch, weights=2 * np.array(WEIGHTS), items=["a", "b", "c"]
    )
    np.testing.assert_array_equal(doubled.preferences, 2 * total)
    assert doubled.items.tolist() == ["a", "b", "c"]


def test_rows_of_a_long_frame_may_be_in_any_order():
    rows = np.random.default_rng(0).permutation(len(LONG))
    mixed = {name: [column[i] for i in rows] for name, column in columns().items()}
    expected = consensus_ranking(columns(), items=NAMES, unranked="last")
    found = consensus_ranking(mixed, items=NAMES, unranked="last")
    np.testing.assert_array_equal(found.preferences, expected.preferences)


def test_polars_frames():
    polars = pytest.importorskip("polars")
    expected = consensus_ranking(columns(), unranked="last")
    found = consensus_ranking(polars.DataFrame(columns()), unranked="last")
    np.testing.assert_array_equal(found.preferences, expected.preferences)
    wide = polars.DataFrame({name: GRADES[:3, i] for i, name in enumerate(NAMES)})
    assert consensus_ranking(wide, kind="grades").items.tolist() == NAMES


def test_numbers_where_nothing_names_the_items_and_tuples_as_names():
    assert consensus_ranking(GRADES, kind="grades").items.tolist() == [0, 1, 2]
    named = consensus_ranking(GRADES, kind="grades", items=[("a", 1), ("a", 2), "b"])
    assert named.items.tolist() == [("a", 1), ("a", 2), "b"]
    found = consensus_ranking([["b", "a"], ["c"]], unranked="last")
    assert found.items.tolist() == ["b", "a", "c"]


#: Votes that say nothing of their kind.
FOUR = "say what the votes are"
WIDE = pd.DataFrame({"a": [1, 2], "b": [2, 1]})
WITHOUT_KIND = [
    GRADES,
    GRADES.tolist(),
    WIDE,
    [[2, 1, 0], [0, 1, 2]],
    pd.Series([[2, 1], [1, 2]]),
    [["a", 1], ["a"]],
    np.array([["a", "b"], ["b", "a"]]),
    pd.DataFrame([["a", "b"], ["b", "a"]]),
    {"a": [1, 2], "b": [2, 1]},
    {"voter": [1], "item": ["a"]},
    {"target": GRADES},
    np.zeros((1, 2, 3)),
    ["ab", "ba"],
    None,
]


@pytest.mark.parametrize("orders", WITHOUT_KIND, ids=range(len(WITHOUT_KIND)))
def test_votes_of_several_kinds_need_a_kind(orders):
    with pytest.raises(ValueError, match=FOUR):
        consensus_ranking(orders)


BAD = [
    ({"orders": [["x", 1.0]], "items": ["a", "b"], "kind": "orders"}, "names 'x'"),
    ({"orders": {"voter": [1, None], "item": ["a", "b"], "rank": [1, 2]}}, "'voter'"),
    ({"orders": [["a", "b"], ["b", None]]}, "None or NaN"),
    ({"orders": [["a", {"b", np.nan}]]}, "None or NaN"),
    ({"orders": [["a", pd.NA], ["a", "b"]]}, "None or NaN"),
    ({"orders": ["abc", "bca"], "kind": "orders"}, "each order is a sequence"),
    ({"orders": [["a", ("b", ["c"])]]}, r"names \['c'\]"),
    ({"orders": [[2.0, 1.0], [2.0]], "kind": "grades"}, "array of numbers"),
    ({"orders": [["a", "b"]], "kind": "ranks"}, "array of numbers"),
    (
        {"orders": pd.concat([WIDE, WIDE], axis=1), "kind": "grades"},
        "'a' twice|must be",
    ),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD, ids=[str(i) for i in range(len(BAD))]
)
def test_what_does_not_fit_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        consensus_ranking(**arguments)


def test_the_index_of_a_frame_of_counts_has_the_items_of_its_columns():
    pandas = pytest.importorskip("pandas")
    won = pandas.DataFrame([[0, 3], [1, 0]], index=["a", "b"], columns=["a", "b"])
    np.testing.assert_array_equal(
        consensus_ranking(won, kind="counts").preferences, [[0, 3], [1, 0]]
    )
    numbered = won.reset_index(drop=True)
    np.testing.assert_array_equal(
        consensus_ranking(numbered, kind="counts").preferences, [[0, 3], [1, 0]]
    )
    duels = pandas.DataFrame({"winner": ["a", "a", "b"], "loser": ["b", "c", "c"]})
    others = pandas.DataFrame([[1, 1], [0, 1]], index=[0, 1], columns=[1, 2])
    crossed = pandas.crosstab(duels["winner"], duels["loser"])
    for frame in (won.loc[["b", "a"]], crossed, others):
        with refused_by("other items in the rows of counts"):
            consensus_ranking(frame, kind="counts")
    items = ["a", "b", "c"]
    counts = crossed.reindex(index=items, columns=items, fill_value=0)
    assert consensus_ranking(counts, kind="counts").preferences.tolist() == [
        [0, 1, 1],
        [0, 0, 1],
        [0, 0, 0],
    ]


def test_items_select_the_columns_of_counts_and_their_rows():
    counts = pd.DataFrame(
        [[0, 1, 2], [3, 0, 4], [5, 6, 0]], index=list("abc"), columns=list("abc")
    )
    expected = [[0, 5], [2, 0]]
    named = counts.rename_axis("model").reset_index()
    selected = named.iloc[[0, 2]].reset_index(
        drop=True
    )  # rows in the order of the columns
    for frame in (counts, counts.assign(team=1), selected):
        found = consensus_ranking(frame, kind="counts", items=["c", "a"])
        assert found.preferences.tolist() == expected
        assert found.items.tolist() == ["c", "a"]
    with refused_by("column beside the items"):
        consensus_ranking(named, kind="counts")
    with refused_by("counts that are not square"):
        consensus_ranking(named, kind="counts", items=["c", "a"])


@pytest.mark.parametrize(
    "name",
    ["voter", "Voter", "ID", "ballot_id", "judge", "Weight", "counts", "voter id"],
)
@pytest.mark.parametrize("kind", ["orders", "grades", "ranks", "counts"])
def test_a_column_of_ids_or_weights_is_not_an_item(kind, name):
    frame = pd.DataFrame({name: [11, 12], "b": [2, 1]})
    words = f"The column '{name}' of orders holds (ids|voters or weights), by its name"
    with pytest.raises(ValueError, match=words):
        consensus_ranking(frame, kind=kind)
    with pytest.raises(ValueError, match=words):
        grades_from_orders(frame)
    votes = pd.DataFrame({name: [1, 2], "b": [2, 1]})
    if kind in ("grades", "ranks"):
        found = consensus_ranking(votes, kind=kind, items=[name, "b"])
        assert found.items.tolist() == [name, "b"]


@pytest.mark.filterwarnings("ignore:The column 'id' of orders is named like a column")
@pytest.mark.parametrize("kind", ["grades", "ranks"])
def test_items_may_have_names_of_ids(kind):
    rows = [[1, 2, 3], [1, 3, 2], [2, 1, 3]]
    freud = pd.DataFrame(rows, columns=["id", "ego", "superego"])
    plain = pd.DataFrame(rows, columns=["a", "b", "c"])
    found = consensus_ranking(freud, kind=kind)
    assert found.items.tolist() == ["id", "ego", "superego"]
    assert found.ranks.tolist() == consensus_ranking(plain, kind=kind).ranks.tolist()


@pytest.mark.parametrize(
    "names",
    [
        {"item": "candidate"},
        {"voter": "ballot_id", "item": "choice"},
        {"voter": "judge"},
        {"voter": "Voter", "item": "Item", "rank": "Rank"},
        {"rank": "place"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [None, "ranks", "grades", "orders"])
def test_a_long_table_with_other_names_is_told_how_to_rename_them(names, kind):
    frame = pd.DataFrame(columns()).rename(columns=names)
    renames = {other: name for name, other in names.items()}
    with pytest.raises(
        ValueError, match=re.escape(f"orders.rename(columns={renames})")
    ):
        consensus_ranking(frame, kind=kind)
    assert consensus_ranking(frame.rename(columns=renames), unranked="last")


@pytest.mark.parametrize("names", ["ab", (0, 1), (7, 3), (True, "x"), (2.5, 1.5)])
def test_lists_obey_their_kind_and_names_need_none(names):
    a, b = names
    votes = [[a, b], [b, a], [b, a]]
    for orders in (
        votes,
        tuple(map(tuple, votes)),
        pd.Series(votes),
        pd.DataFrame(votes),
    ):
        assert consensus_ranking(orders, kind="orders").order.tolist() == [b, a]
        assert consensus_ranking(
            orders, kind="orders", items=[a, b]
        ).order.tolist() == [b, a]
        if names != "ab" or isinstance(orders, pd.DataFrame):
            with refused_by("no kind of votes"):
                consensus_ranking(orders)
        else:
            assert consensus_ranking(orders).order.tolist() == [b, a]


def test_ties_and_short_orders_of_numbers():
    orders = [[(0, 1), 2], [1, 0], [2]]
    consensus = consensus_ranking(orders, kind="orders", unranked="unknown")
    assert sorted(consensus.order.tolist()) == [0, 1, 2]
    assert consensus.cost == 0


CONTAINERS = ["list", "array", "frame", "Float64", "polars", "arrow"]


def contained(values, container):
    """Numbers in a container, whose columns are x, y, z where it has names."""
    lists = dict(zip("xyz", map(list, zip(*values, strict=True)), strict=False))
    frame = pd.DataFrame(lists)
    if container == "polars":
        return pytest.importorskip("polars").DataFrame(lists)
    if container == "arrow":
        return pytest.importorskip("pyarrow").table(lists)
    known = {"list": values, "array": np.array(values), "frame": frame}
    return known[container] if container in known else frame.astype(container)


NUMBERS = [
    [[1, 2, 3], [3, 1, 2], [1, 3, 2]],
    [[1, 1, 3], [2, 1, 3]],  # the least of tied ranks
    [[1, 2, 2], [2, 1, 3]],  # dense ranks
    [[2, 2, 3], [1, 3, 3]],  # the largest of tied ranks
    [[1.0, 2.5, 2.5], [np.nan, 2.0, 1.0]],  # mean ranks; ranks of the known
    [[5, 3, 4], [4, 4, 1]],
    [[0, 1, 2], [2, 1, 0]],
    [[0, 3, 1], [2, 0, 4], [4, 1, 0]],
]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("values", NUMBERS, ids=str)
def test_numbers_are_what_is_said_and_never_what_they_look_like(values, container):
    """Ranks are negative grades, orders are ranks of the items, counts are preferences."""
    table, array = contained(values, container), np.array(values, dtype=float)
    with pytest.raises(ValueError, match=FOUR):
        consensus_ranking(table)
    total = PairwiseDisagreement().preferences(array).sum(axis=0)
    np.testing.assert_array_equal(
        consensus_ranking(table, kind="grades").preferences, total
    )
    if values in NUMBERS[:5]:
        np.testing.assert_array_equal(
            consensus_ranking(table, kind="ranks", unranked="unknown").preferences,
            total.T,
        )
    else:
        with pytest.raises(ValueError, match=r"Vote \d has the rank"):
            consensus_ranking(table, kind="ranks")
    if array.shape == (3, 3) and not np.diag(array).any():
        np.testing.assert_array_equal(
            consensus_ranking(table, kind="counts").preferences, array
        )
    else:
        with pytest.raises(
            ValueError, match=r"Counts of votes need|diagonal of counts|missing"
        ):
            consensus_ranking(table, kind="counts")
    if np.isfinite(array).all() and all(len(set(row)) == 3 for row in values):
        items = sorted(set(array.ravel()))
        found = consensus_ranking(table, kind="orders", items=items, unranked="unknown")
        each = grades_from_orders(values, items=found.items.tolist())
        np.testing.assert_array_equal(found.votes.labels, each)
    else:
        with pytest.raises(ValueError, match=r"names item|None or NaN"):
            consensus_ranking(table, kind="orders")


@pytest.mark.parametrize("container", CONTAINERS[1:])
def test_tables_of_names_are_orders_if_said(container):
    table = (
        contained([["a", "b"], ["b", None]], container)
        if container != "Float64"
        else None
    )
    if table is not None:
        found = consensus_ranking(table, kind="orders", unranked="unknown")
        assert found.votes.labels.tolist()[0] == [1, 0]
        assert np.isnan(found.votes.labels[1, 0])
        np.testing.assert_array_equal(
            found.votes.labels, grades_from_orders(table, items=["a", "b"])
        )


def test_ties_as_sets_do_not_depend_on_hashes():
    orders = [[{"pear", "fig", "plum"}, "kiwi"], ["kiwi", frozenset({"fig", "pear"})]]
    names = ["fig", "pear", "plum", "kiwi"]
    found = consensus_ranking(orders, unranked="last")
    assert found.items.tolist() == names
    named = consensus_ranking(orders, items=names, unranked="last")
    assert found.order.tolist() == named.order.tolist()
    with refused_by("one voter"):
        consensus_ranking([list("abcdefg")]).rank_intervals()


@pytest.mark.parametrize("kind", ["Float64", "Int64", "double[pyarrow]"])
def test_missing_grades_of_nullable_types(kind):
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
        pytest.importorskip("pandas", "2.0")  # 1.5 cannot say what replaces NA
    frame = pd.DataFrame([[1, None, 3], [2, 2, None], [5, 1, 4]], columns=list("xyz"))
    np.testing.assert_array_equal(
        consensus_ranking(frame.astype(kind), kind="grades").votes.labels, frame
    )


def test_a_series_or_a_table_of_orders():
    said = {"weights": [1, 2, 3], "unranked": "last"}
    total = consensus_ranking([["a", "b"], ["b", "a"], ["b"]], **said).preferences
    orders = pd.Series([["a", "b"], ["b", "a"], ["b"]], index=list("uvw"))
    table = pd.DataFrame([["a", "b"], ["b", "a"], ["b", None]], index=list("uvw"))
    for given in (orders, table, table.to_numpy()):
        np.testing.assert_array_equal(
            consensus_ranking(given, kind="orders", **said).preferences, total
        )
    for given in (orders, table):
        with refused_by("different indices"):
            consensus_ranking(
                given, kind="orders", weights=pd.Series([3, 2, 1], index=list("wvu"))
            )


def test_weights_of_voters_in_a_long_frame():
    long = {"voter": list("uuvv"), "item": list("ABBA"), "rank": [1, 2, 1, 2]}
    weighted = {**long, "weight": [1, 1, 100, 100]}
    assert consensus_ranking(weighted).order.tolist() == ["B", "A"]
    by_voter = pd.Series([100, 1], index=["v", "u"])
    np.testing.assert_array_equal(
        consensus_ranking(long, weights=by_voter).votes.weights, [1, 100]
    )
    with pytest.raises(ValueError, match="weights is a Series"):
        consensus_ranking(long, weights=by_voter.set_axis([0, 1]))
    with refused_by("weights twice"):
        consensus_ranking(weighted, weights=[1, 100])
    with refused_by("two weights of a voter"):
        consensus_ranking({**long, "weight": [1, 1, 3, 2]})
    with pytest.warns(UserWarning, match=r"does not read the columns \['colour'\]"):
        consensus_ranking({**long, "colour": list("rgbb")})


def test_lists_within_ties_are_no_names():
    with refused_by("unknown name in order"):
        consensus_ranking([["a", ("b", ("c", ["d"]))]])
