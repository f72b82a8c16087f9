"""Tables: frames where pandas is there, structured arrays where it is not."""

import builtins
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lowrank_rank.metrics import per_query

from .internals import (
    column_names,
    first_missing,
    is_data_frame,
    is_frame,
    name_the_text,
    table_of,
    take_rows,
)


@pytest.fixture
def no_pandas(monkeypatch):
    original = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_frame_with_ids_that_are_tuples():
    ids = np.empty(2, dtype=object)
    ids[:] = [("a", 1), ("b", 2)]
    table = table_of({"qid": ids, "v": [1.0, 2.0]}, index="qid")
    assert isinstance(table, pd.DataFrame)
    assert table.index.nlevels == 1
    assert table.index.name == "qid"
    assert table["v"].tolist() == [1.0, 2.0]
    assert is_frame(table)
    assert column_names(table) == ["v"]
    assert not is_frame({})
    assert not is_frame(np.zeros(3))


@pytest.mark.usefixtures("no_pandas")
def test_structured_array_without_pandas():
    table = per_query([1, 0, 1], [1.0, 2.0, 1.0], qid=["a", "a", "b"], measure=["mrr"])
    assert table.dtype.names == ("qid", "mrr")
    assert table["qid"].tolist() == ["a", "b"]
    assert table["mrr"].tolist() == [0.5, 1.0]
    assert is_frame(table)
    assert column_names(table) == ["qid", "mrr"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_whatever_holds_them(library, monkeypatch):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    rows = np.array([2, 0])
    assert is_data_frame(frame)
    assert is_data_frame(take_rows(frame, rows))
    assert np.asarray(take_rows(frame, rows)).tolist() == [[3.0, "z"], [1.0, "x"]]
    others = [
        frame["a"],
        np.eye(3),
        sparse.csr_matrix(np.eye(3)),
        [[1], [2], [3]],
        {"a": [1]},
    ]
    assert not any(map(is_data_frame, others))
    assert take_rows([[1], [2], [3]], rows) == [[3], [1]]
    assert take_rows(sparse.csr_matrix(np.eye(3)), rows).toarray().tolist() == [
        [0, 0, 1],
        [1, 0, 0],
    ]
    monkeypatch.setitem(sys.modules, library, None)  # an import that failed
    assert not is_data_frame(frame)


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ([[1, "2"], ["3.5", "x"], ["y", 0]], (2, 0, "y")),
        (pd.DataFrame({("a", 1): [1, 2], "b": ["1", None]}), None),
        (pd.DataFrame({"a": ["1", "2"], "b": ["u", ""]}), (1, "b", "")),
        (np.array([(1.0, "u")], dtype=[("a", float), ("b", "U1")]), (0, "b", "u")),
        ("text", None),
        (["a", "b"], None),
        ([["a"], ["b", "c"]], None),
        (np.full((2, 2, 2), "a"), None),
        (sparse.csr_matrix(np.eye(2)), None),
        (pd.DataFrame(index=range(3)), None),
    ],
    ids=repr,
)
def test_the_text_that_could_not_be_converted(table, found):
    error = ValueError(
        f"could not convert string to float: {'z' if found is None else found[2]!r}"
    )
    if found is None:
        name_the_text(error, table)
        return
    row, column, text = found
    with pytest.raises(
        ValueError, match=f"the text {text!r} in row {row} of column {column!r},"
    ):
        name_the_text(error, table)


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ([[1, 2], [3, np.nan], [np.nan, 4]], (1, 1)),
        (pd.DataFrame({"a": [1, 2], "b": [1.0, np.nan]}), (1, "b")),
        (
            pd.DataFrame({"a": [1.5, 2.0], "b": pd.array([1, None], dtype="Int64")}),
            (1, "b"),
        ),
        (sparse.csr_matrix([[0.0, 1.0], [np.nan, 0.0]]), (1, 0)),
        (sparse.csr_matrix(np.eye(2)), None),
        ([[1, 2]], None),
        ([["a", np.nan]], None),
        ([1, np.nan], None),
        ([[1], [2, 3]], None),
    ],
    ids=repr,
)
def test_the_first_missing_number(table, found):
    assert first_missing(table) == found
