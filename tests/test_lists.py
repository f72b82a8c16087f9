"""Lists, ranks and ties: the only places that know ids, positions and blocks."""

import datetime
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from lowrank_rank import ranking_target
from lowrank_rank.evaluation import per_query

from .internals import RankingLists, digest, read_lists
from .refusals import refused_by

IDS = {
    "int": [7, 3, 7, 1, 3, 7],
    "negative": [-7, 3, -7, 1, 3, -7],
    "str": ["q7", "q3", "q7", "q1", "q3", "q7"],
    "float": [7.5, 3.0, 7.5, 1.0, 3.0, 7.5],
    "bool": [True, False, True, True, False, True],
    "tuple": [("a", 1), ("b", 2), ("a", 1), ("c", 3), ("b", 2), ("a", 1)],
    "mixed": ["1", 1, "1", ("1",), 1, "1"],
    "date": [datetime.date(2026, 1, d) for d in (7, 3, 7, 1, 3, 7)],
    "datetime64": np.array(["2026-01-07", "2026-01-03"], dtype="M8[D]")[
        [0, 1, 0, 0, 1, 0]
    ],
    "series": pd.Series([7, 3, 7, 1, 3, 7], index=range(10, 16)),
    "categorical": pd.Series(list("bacacb"), dtype="category"),
    "polars": lambda: pytest.importorskip("polars").Series([7, 3, 7, 1, 3, 7]),
    "object": np.array([7, 3, 7, 1, 3, 7], dtype=object),
}


@pytest.mark.parametrize("kind", IDS)
def test_any_ids_in_any_order(kind):
    qid = IDS[kind]() if callable(IDS[kind]) else IDS[kind]
    lists = read_lists(qid)
    rows = lists.group(np.arange(6))
    plain = (
        list(np.asarray(qid))
        if kind in ("series", "categorical", "polars")
        else list(qid)
    )
    assert list(lists.ids) == list(dict.fromkeys(plain))
    for q, (first, last) in enumerate(
        zip(lists.offsets, lists.offsets[1:], strict=False)
    ):
        members = rows[first:last]
        assert list(members) == [i for i in range(6) if plain[i] == lists.ids[q]]
    np.testing.assert_array_equal(lists.ungroup(rows), np.arange(6))


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64])
@pytest.mark.parametrize("span", [5, 100, 10_000])
def test_integer_ids_of_any_span(dtype, span):
    """By a table where the span is short, by sorting where it is long: the same lists."""
    rng = np.random.default_rng(span)
    qid = (rng.integers(0, min(span, 100), 300) * (span // min(span, 100))).astype(
        dtype
    )
    lists, plain = (
        read_lists(qid),
        read_lists(list(map(str, qid))),
    )
    assert list(map(str, lists.ids)) == list(plain.ids)
    np.testing.assert_array_equal(lists.lengths, plain.lengths)
    np.testing.assert_array_equal(lists.order, plain.order)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint16])
def test_narrow_integers_do_not_wrap(dtype):
    info = np.iinfo(dtype)
    low, high = max(info.min, -30_000), min(info.max, 30_000)
    qid = np.tile(np.arange(low, high + 1), 2).astype(dtype)
    assert read_lists(qid).n_lists == high - low + 1


def test_grouped_rows_are_not_copied():
    rows = np.arange(5.0)
    assert read_lists(["b", "b", "a", "a", "a"]).group(rows) is rows


def test_sums_ragged_and_equal():
    values = np.arange(12.0).reshape(6, 2)
    ragged = read_lists([0, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(ragged.sum(values), [[6, 9], [6, 7], [18, 20]])
    equal = RankingLists.equal(3, 2)
    np.testing.assert_array_equal(equal.sum(values), [[2, 4], [10, 12], [18, 20]])
    assert [rows.tolist() for _, rows in ragged.same_length] == [
        [[3]],
        [[4, 5]],
        [[0, 1, 2]],
    ]


def test_select_drops_lists_without_rows():
    lists, kept = read_lists([0, 0, 1, 2, 2]).select(
        np.array([True, False, False, True, True])
    )
    assert lists.lengths.tolist() == [1, 2]
    assert kept.tolist() == [0, 2]


RECORD = [("site", "U1"), ("query", "f8")]


@pytest.mark.parametrize(
    ("qid", "error", "message"),
    [
        ([1.0, np.nan], ValueError, "row 1"),
        ([np.inf, 1.0], ValueError, "infinite"),
        (["a", None], ValueError, "row 1"),
        (np.array(["a", np.nan], dtype=object), ValueError, "missing"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "missing"),
        (np.array(["2026-01-01", "NaT"], dtype="M8[D]"), ValueError, "missing"),
        (np.array([complex(1, 2), complex(np.nan, 1)]), ValueError, "row 1"),
        (np.array([1.0, np.nan]), ValueError, r"\(row 1: nan\)"),
        ([("a", 1), ("a", np.nan)], ValueError, r"row 1: \('a', nan\)"),
        ([("a", None), ("a", None)], ValueError, "row 0"),
        ([("a", (1, 2)), ("a", (1, pd.NA))], ValueError, "row 1"),
        ([("a", pd.NaT), ("a", 1)], ValueError, "row 0"),
        ([(1, np.inf), (1, 2)], ValueError, "infinite"),
        ([frozenset([1]), frozenset([1, np.nan])], ValueError, "row 1"),
        (np.array([("a", 1), ("a", np.nan)], dtype=RECORD), ValueError, "row 1"),
        (np.rec.array([("a", 1), ("a", np.nan)], dtype=RECORD), ValueError, "row 1"),
        (list(np.array([("a", 1), ("a", np.nan)], dtype=RECORD)), ValueError, "row 1"),
        (
            np.array([("a", 1), ("a", None)], dtype=[("a", "U1"), ("b", "O")]),
            ValueError,
            "row 1",
        ),
        (
            np.array([([1, 2],), ([1, np.nan],)], dtype=[("a", "f8", 2)]),
            ValueError,
            "row 1",
        ),
        (pd.MultiIndex.from_tuples([("a", 1), ("a", None)]), ValueError, "row 1"),
        ([[1], [2]], TypeError, "hashable"),
        (np.ones((2, 1)), ValueError, "one-dimensional"),
        ([], ValueError, "length 0, but there are 2 rows"),
        (5, TypeError, "array-like"),
        ("qid", ValueError, "qid is the text 'qid', not the ids"),
        ([1, 2, 3], ValueError, "length 3, but there are 2 rows"),
    ],
)
def test_bad_ids(qid, error, message):
    with pytest.raises(error, match=message):
        read_lists(qid, 2)


@pytest.mark.parametrize(
    "qid",
    [
        [("a", 1.0), ("a", 2.0), ("a", 1.0)],
        np.array([("a", 1), ("a", 2), ("a", 1)], dtype=RECORD),
        pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("a", 1)]),
        np.array([([1, 2],), ([1, 3],), ([1, 2],)], dtype=[("a", "f8", 2)]),
    ],
)
def test_compound_ids_are_ids(qid):
    assert read_lists(qid).lengths.tolist() == [2, 1]
    with refused_by("missing id"):
        ranking_target([1, 2], [("a", 1), ("a", None)])


def test_ranking_target_and_series_carry_the_ids():
    y, qid = [2, 0, 1], ["a", "b", "a"]
    target = ranking_target(y, qid)
    series = pd.Series(y, index=pd.Index(qid, name="qid"))
    two_levels = pd.Series(
        y, index=pd.MultiIndex.from_arrays([[9, 8, 7], qid], names=["d", "qid"])
    )
    for carrier in (target, series, two_levels):
        values = per_query(carrier, [1.0, 2.0, 3.0])
        pd.testing.assert_frame_equal(values, per_query(y, [1.0, 2.0, 3.0], qid=qid))
        assert values.index.tolist() == ["a", "b"]
    rows = [1, 2, 0]  # the ids go with the rows
    assert per_query(target[rows], [2.0, 3.0, 1.0]).index.tolist() == ["b", "a"]
    assert len(per_query(target, [1.0, 2.0, 3.0], qid=qid)) == 2
    with refused_by("two different qid"):
        per_query(target, [1.0, 2.0, 3.0], qid=["a", "a", "a"])
    with refused_by("other fields than a ranking target"):
        per_query(np.zeros(2, dtype=[("grade", float), ("query", int)]), [1.0, 2.0])
    with refused_by("a matrix of grades"):
        ranking_target([[1, 2]], [1])
    with refused_by("another number of grades"):
        ranking_target([1, 2], [1])
    with refused_by("missing id"):
        ranking_target([1, 2], [1, None])


@pytest.mark.parametrize("qid", [[1, 1], ["a", "a"]])
def test_ranking_target_of_names_says_what_to_give(qid):
    with refused_by("text instead of grades"):
        ranking_target(["click", "no"], qid)


@pytest.mark.parametrize("size", [1, 2])
def test_ids_that_are_arrays_are_refused(size):
    with refused_by("unhashable id", TypeError):
        read_lists([np.arange(size)] * 3)


@pytest.mark.parametrize("wrap", [pd.Categorical, pd.CategoricalIndex])
def test_categories_are_read_by_their_codes(wrap):
    names = ["b", "a", "b", "c", "a"]
    by_name = read_lists(names)
    ids = wrap(names, categories=["unused", "c", "b", "a"])
    for qid in (ids, pd.Series(ids)):
        lists = read_lists(qid)
        assert lists.ids.tolist() == ["b", "a", "c"]
        np.testing.assert_array_equal(lists.order, by_name.order)
        assert ranking_target(np.zeros(5), qid)["qid"].tolist() == names
    missing = wrap(["b", None])
    for call in (read_lists, lambda qid: ranking_target([0, 1], qid)):
        with refused_by("missing id"):
            call(missing)


def test_equal_ids_are_found_in_whatever_order_they_come():
    rng = np.random.default_rng(0)
    for ids in (["x", "yy", "z"], [("a", 1), ("a", 2), "a"], [1, 1.5, "1"]):
        values = np.fromiter(ids, dtype=object, count=3)[rng.integers(0, 3, 40)]
        lists = read_lists(values)
        of_rows = lists.ids[lists.codes]
        assert all(one == v for one, v in zip(of_rows, values, strict=True))
        assert np.all(np.diff(np.unique(lists.codes, return_index=True)[1]) > 0)


@pytest.mark.parametrize("dtype", ["U", ">U7", "S", "U0"])
def test_strings_of_any_type_have_codes_in_order_of_appearance(dtype):
    codes = np.random.default_rng(0).integers(0, 40, 300)
    names = [f"q-{code}" for code in codes]
    ids = np.array([""] * 300 if dtype == "U0" else names, dtype=dtype)
    lists = read_lists(ids)
    assert lists.ids.tolist() == list(dict.fromkeys(ids.tolist()))
    assert lists.ids[lists.ungroup(lists.index)].tolist() == ids.tolist()


@pytest.mark.parametrize(
    "qid", [[3, 3, 1, 1, 2], [2, 1, 2, 3, 1], ["b", "a", "b"], [5]]
)
def test_the_lists_of_the_first_and_the_last_row(qid):
    lists = read_lists(np.array(qid))
    one, two = (read_lists(np.array([qid[i]])) for i in (0, -1))
    assert lists.ends == (one.ends[0], two.ends[0])
    assert (lists.ends[0] == lists.ends[1]) == (qid[0] == qid[-1])
    assert read_lists(None, 3).ends == (None, None)


def test_strings_that_end_with_zero_bytes_are_other_ids():
    lists = read_lists(["a", "a", "a\0", "a\0"])
    assert lists.ids.tolist() == ["a", "a\0"]
    assert lists.lengths.tolist() == [2, 2]


class Shop(StrEnum):
    """Ids that are texts by another type."""

    x = "x"


class Day(IntEnum):
    """Ids that are numbers by another type."""

    first = 1


#: Equal ids of other types; ids of two rows are not equal.
EQUAL_IDS = [
    [1, 1.0, True, np.int8(1), np.float32(1), np.uint64(1), np.bool_(True)]
    + [Decimal(1), Decimal("1.0"), Fraction(1), np.longdouble(1), Day.first],
    [0.5, np.float32(0.5), Decimal("0.5"), Fraction(1, 2)],
    ["x", np.str_("x"), Shop.x],
    [(1,), (1.0,), (np.int64(1),)],
    [("q", (1, "x")), ("q", (1.0, np.str_("x")))],
    [frozenset([1, "x", 3]), frozenset(["x", 3.0, True])],
    [np.datetime64("2026-01-01", unit) for unit in ("M", "D", "s", "us", "ns")]
    + [pd.Timestamp("2026-01-01"), datetime.datetime(2026, 1, 1)]
    + [datetime.date(2026, 1, 1)],
    [np.timedelta64(1, "D"), np.timedelta64(24, "h"), datetime.timedelta(1)]
    + [pd.Timedelta("1D")],
    [np.datetime64("2026-01-01T00:00:00.000000001")]
    + [pd.Timestamp("2026-01-01T00:00:00.000000001")],
    [pd.Timestamp("2026-01-01", tz="UTC")],
    [pd.Period("2026-01")],
    ["1"],
    [("x",)],
    [b"x"],
    [(1, 2)],
    [2**53],
    [2**53 + 1],
    [-1],
    [-2],
]


def test_equal_ids_have_one_digest_and_other_ids_have_others():
    digests = [{digest(one) for one in row} for row in EQUAL_IDS]
    assert [len(row) for row in digests] == [1] * len(EQUAL_IDS)
    assert len(set.union(*digests)) == len(EQUAL_IDS)


@pytest.mark.parametrize("unit", ["D", "s", "us", "ns"])
def test_days_in_any_unit_have_the_digests_of_their_dates(unit):
    days = np.array(["2026-01-07", "2026-01-03", "2026-01-07"], dtype="M8[D]")
    digests, lengths = read_lists(days.astype(f"M8[{unit}]")).keys()
    expected, _ = read_lists(days.tolist()).keys()
    assert digests.tolist() == expected.tolist()
    assert lengths.tolist() == [2, 1]
