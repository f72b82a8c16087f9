"""Tables of values: what is read, what its rows are called, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import ranking_target
from lowrank_rank.evaluation import compare_values, mean_intervals

from .refusals import refused_by

VALUES = {"one": [0.5, 0.25, 1.0, 0.75], "two": [0.5, 0.5, 0.5, 0.5]}


def test_frames_dicts_and_records_are_one_table():
    pd = pytest.importorskip("pandas")
    found = compare_values(VALUES)
    assert (found.names, found.measure, found.unit) == (
        ["one", "two"],
        "value",
        "tasks",
    )
    assert_array_equal(found.values, np.column_stack([*VALUES.values()]))
    frame = pd.DataFrame(VALUES, index=pd.Index(["a", "b", "c", "d"], name="task"))
    named = compare_values(frame)
    assert named.qid.tolist() == ["a", "b", "c", "d"]
    several = [
        frame.to_records(index=False),
        {name: frame[name] for name in frame},
        named.to_frame,
    ]
    for table in several[:2]:
        assert_array_equal(compare_values(table).interval, found.interval)
    right = compare_values(frame > 0.4)
    assert right.mean.tolist() == [0.75, 1.0]
    polars = pytest.importorskip("polars")
    assert_array_equal(
        compare_values(polars.DataFrame(VALUES)).interval, found.interval
    )


def test_rows_without_any_value_are_left_out():
    table = {name: [*values, np.nan] for name, values in VALUES.items()}
    found = compare_values(table)
    assert (found.n_undefined, found.qid.tolist()) == (1, [0, 1, 2, 3])
    assert "value: 4 tasks (1 undefined), 2 rankers" in repr(found)
    one = compare_values({"one": VALUES["one"]})
    assert one.pairs == []
    assert one.means.names == ["one"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            {"model": ["x", "y", "z", "w"], **VALUES},
            "(?s)column 'model' .*one != 'model'",
        ),
        ({"one": ["0.5", "1", "1", "0"]}, "holds text or ids, such as '0.5'"),
        ({"day": np.array(["2025-01-01"] * 4, "datetime64[D]"), **VALUES}, "'day'"),
        (
            {**VALUES, "three": [1.0, np.nan, np.nan, 1.0]},
            "'three' lacks a value in 2 of 4 rows in which others have one",
        ),
        (
            {"one": [1.0, np.nan, 0.0], "two": [np.nan, 1.0, np.nan]},
            "'two' lacks .* No row has all values.*ttest_ind",
        ),
        (
            {**VALUES, "three": [1.0]},
            r"\('one' 4, 'three' 1\): a row is .*ttest_ind",
        ),
        ({"one": [1.0], "two": [2.0]}, "value is defined on 1 of 1 tasks"),
        (np.ones((4, 2)), "table must be a frame or a dict of lists"),
        ([[1.0, 2.0]], "table must be a frame"),
        ({}, "table must be a frame"),
        ({"q": {"d": 1.0}}, "table must be a frame"),
        ({"one": 1.0}, "table must be a frame"),
        (ranking_target([1, 0], ["a", "b"]), "'qid'"),
    ],
)
def test_what_is_no_table_of_values_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        compare_values(table)


def test_two_columns_of_one_name_and_series_in_two_orders_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["a", "a"])
    with pytest.raises(
        ValueError, match="Two columns of the table of values have the same name"
    ):
        compare_values(frame)
    one = pd.Series([1.0, 2.0, 3.0])
    with refused_by("different indices"):
        compare_values({"one": one, "two": one[::-1]})


def test_empty_columns_are_refused():
    with refused_by("no rows of values"):
        compare_values({"one": []})


def test_means_of_two_columns_of_one_name_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], columns=["a", "a"])
    with pytest.raises(ValueError, match="Two columns of values have the same name"):
        mean_intervals(frame)
