"""Lists, ranks and ties: the only places that know ids, positions and blocks."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lowrank_rank import ranking_target
from lowrank_rank._lists import RankingLists, split_target
from lowrank_rank._ranks import mid_fractions, mid_ranks, ranks_from_scores

IDS = {
    "int": [7, 3, 7, 1, 3, 7],
    "negative": [-7, 3, -7, 1, 3, -7],
    "str": ["q7", "q3", "q7", "q1", "q3", "q7"],
    "float": [7.5, 3.0, 7.5, 1.0, 3.0, 7.5],
    "bool": [True, False, True, True, False, True],
    "tuple": [("a", 1), ("b", 2), ("a", 1), ("c", 3), ("b", 2), ("a", 1)],
    "mixed": ["1", 1, "1", ("1",), 1, "1"],
    "date": [datetime.date(2026, 1, d) for d in (7, 3, 7, 1, 3, 7)],
    "datetime64": np.array(["2026-01-07", "2026-01-03"], dtype="M8[D]")[[0, 1, 0, 0, 1, 0]],
    "series": pd.Series([7, 3, 7, 1, 3, 7], index=range(10, 16)),
    "categorical": pd.Series(list("bacacb"), dtype="category"),
    "polars": pl.Series([7, 3, 7, 1, 3, 7]),
    "object": np.array([7, 3, 7, 1, 3, 7], dtype=object),
}


@pytest.mark.parametrize("kind", IDS)
def test_any_ids_in_any_order(kind):
    qid = IDS[kind]
    lists = RankingLists.from_qid(qid)
    rows = lists.group(np.arange(6))
    plain = list(np.asarray(qid)) if kind in ("series", "categorical", "polars") else list(qid)
    assert list(lists.ids) == list(dict.fromkeys(plain))
    for q, (first, last) in enumerate(zip(lists.offsets, lists.offsets[1:], strict=False)):
        members = rows[first:last]
        assert list(members) == [i for i in range(6) if plain[i] == lists.ids[q]]
    np.testing.assert_array_equal(lists.ungroup(rows), np.arange(6))


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64])
@pytest.mark.parametrize("span", [5, 100, 10_000])
def test_integer_ids_of_any_span(dtype, span):
    """By a table where the span is short, by sorting where it is long: the same lists."""
    rng = np.random.default_rng(span)
    qid = (rng.integers(0, min(span, 100), 300) * (span // min(span, 100))).astype(dtype)
    lists, plain = RankingLists.from_qid(qid), RankingLists.from_qid(list(map(str, qid)))
    assert list(map(str, lists.ids)) == list(plain.ids)
    np.testing.assert_array_equal(lists.lengths, plain.lengths)
    np.testing.assert_array_equal(lists.order, plain.order)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint16])
def test_narrow_integers_do_not_wrap(dtype):
    info = np.iinfo(dtype)
    low, high = max(info.min, -30_000), min(info.max, 30_000)
    qid = np.tile(np.arange(low, high + 1), 2).astype(dtype)
    assert RankingLists.from_qid(qid).n_lists == high - low + 1


def test_grouped_rows_are_not_copied():
    rows = np.arange(5.0)
    assert RankingLists.from_qid(["b", "b", "a", "a", "a"]).group(rows) is rows


def test_sums_ragged_and_equal():
    values = np.arange(12.0).reshape(6, 2)
    ragged = RankingLists.from_qid([0, 0, 0, 1, 2, 2])
    np.testing.assert_array_equal(ragged.sum(values), [[6, 9], [6, 7], [18, 20]])
    equal = RankingLists.equal(3, 2)
    np.testing.assert_array_equal(equal.sum(values), [[2, 4], [10, 12], [18, 20]])
    assert [rows.tolist() for _, rows in ragged.same_length] == [[[3]], [[4, 5]], [[0, 1, 2]]]


def test_select_drops_lists_without_rows():
    lists, kept = RankingLists.from_qid([0, 0, 1, 2, 2]).select(
        np.array([True, False, False, True, True])
    )
    assert lists.lengths.tolist() == [1, 2]
    assert kept.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("qid", "error", "message"),
    [
        ([1.0, np.nan], ValueError, "row 1"),
        ([np.inf, 1.0], ValueError, "infinite"),
        (["a", None], ValueError, "row 1"),
        (np.array(["a", np.nan], dtype=object), ValueError, "missing"),
        (pd.Series([1, None], dtype="Int64"), ValueError, "missing"),
        (np.array(["2026-01-01", "NaT"], dtype="M8[D]"), ValueError, "missing"),
        ([[1], [2]], TypeError, "hashable"),
        (np.ones((2, 1)), ValueError, "one-dimensional"),
        ([], ValueError, "0 entries but there are 2 rows"),
        (5, TypeError, "array-like"),
        ([1, 2, 3], ValueError, "3 entries but there are 2 rows"),
    ],
)
def test_bad_ids(qid, error, message):
    with pytest.raises(error, match=message):
        RankingLists.from_qid(qid, 2)


def test_ranking_target_and_series_carry_the_ids():
    y, qid = [2, 0, 1], ["a", "b", "a"]
    target = ranking_target(y, qid)
    series = pd.Series(y, index=pd.Index(qid, name="qid"))
    two_levels = pd.Series(y, index=pd.MultiIndex.from_arrays([[9, 8, 7], qid], names=["d", "qid"]))
    for carrier in (target, series, two_levels):
        plain, ids = split_target(carrier)
        assert list(plain) == y
        assert list(ids) == qid
    assert split_target(target[1:])[1].tolist() == ["b", "a"]
    assert split_target(target, qid)[1].tolist() == qid
    with pytest.raises(ValueError, match="two differ"):
        split_target(target, ["a", "a", "a"])
    with pytest.raises(ValueError, match="ranking_target"):
        split_target(np.zeros(2, dtype=[("grade", float), ("query", int)]))
    with pytest.raises(ValueError, match="one grade per row"):
        ranking_target([[1, 2]], [1])
    with pytest.raises(ValueError, match="2 rows but qid has 1"):
        ranking_target([1, 2], [1])
    with pytest.raises(ValueError, match="missing"):
        ranking_target([1, 2], [1, None])


@pytest.mark.parametrize("qid", [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
def test_ranks_and_mid_ranks(qid):
    """Ties keep the rows' order in ranks, and share the mean rank in mid-ranks."""
    s = np.array([1.0, 3.0, 1.0, 2.0, 2.0, 5.0])
    lists = RankingLists.from_qid(qid)
    ranks, mid = ranks_from_scores(s, lists), mid_ranks(s, lists)
    for q in np.unique(qid):
        here = np.flatnonzero(np.array(qid) == q)
        for i in here:
            above = sum(s[j] > s[i] for j in here)
            tied = [j for j in here if s[j] == s[i]]
            assert ranks[i] == above + 1 + tied.index(i)
            assert mid[i] == above + (len(tied) + 1) / 2


def test_mid_fractions_take_a_weight_of_two_for_the_row_twice():
    values, weights = np.array([3.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])
    weighted = mid_fractions(values, RankingLists([4]), weights)
    repeated = np.repeat(values, weights.astype(int))
    plain = mid_fractions(repeated, RankingLists([7]), np.ones(7))
    np.testing.assert_allclose(np.repeat(weighted, weights.astype(int)), plain)
    np.testing.assert_allclose(mid_fractions(values, RankingLists([4]), 5 * weights), weighted)


def test_ranking_target_of_names_says_what_to_give():
    with pytest.raises(ValueError, match="y == name"):
        ranking_target(["click", "no"], [1, 1])
