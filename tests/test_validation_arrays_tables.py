"""Tables: frames where pandas is there, structured arrays where it is not."""

import builtins

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.evaluation import per_query
from lowrank_rank.model_selection import query_train_test_split


@pytest.fixture
def no_pandas(monkeypatch):
    original = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)


def test_frame_with_ids_that_are_tuples():
    ids = np.empty(4, dtype=object)
    ids[:] = [("a", 1), ("a", 1), ("b", 2), ("b", 2)]
    table = per_query([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=ids, measure=["mrr"])
    assert isinstance(table, pd.DataFrame)
    assert table.index.nlevels == 1
    assert table.index.name == "qid"
    assert table["mrr"].tolist() == [1.0, 0.5]


@pytest.mark.usefixtures("no_pandas")
def test_structured_array_without_pandas():
    table = per_query([1, 0, 1], [1.0, 2.0, 1.0], qid=["a", "a", "b"], measure=["mrr"])
    assert table.dtype.names == ("qid", "mrr")
    assert table["qid"].tolist() == ["a", "b"]
    assert table["mrr"].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_of_whatever_holds_them(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": [1.0, 2.0, 3.0], "b": ["x", "y", "z"]})
    eye = sparse.csr_matrix(np.eye(3))
    parts = query_train_test_split(
        frame, eye, [[1], [2], [3]], qid=["u", "v", "u"], test_size=1, random_state=0
    )
    held = parts[1::2]
    learnt = parts[::2]
    rows, others = [1], [0, 2]
    if held[3] == ["u", "u"]:
        rows, others = others, rows
    for (X, dense, lists, _), which in ((held, rows), (learnt, others)):
        assert isinstance(X, frames.DataFrame)
        assert np.asarray(X).tolist() == np.asarray(frame)[which].tolist()
        assert dense.toarray().tolist() == np.eye(3)[which].tolist()
        assert lists == [[1 + row] for row in which]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        ([[1, "2"], ["3.5", 4], ["y", 0]], (2, 0, "y")),
        ([[1, "2"], ["3.5", "x"], [4, 0]], (1, 1, "x")),
        (pd.DataFrame({"a": [1, 2], "b": ["u", ""]}), (0, "b", "u")),
        ([["a"], ["b"]], (0, 0, "a")),
    ],
    ids=repr,
)
def test_the_text_that_could_not_be_converted(table, found):
    row, column, text = found
    with pytest.raises(
        ValueError, match=f"the text {text!r} in row {row} of column {column!r},"
    ):
        LowRankSurrogateRanker().fit(table, np.arange(len(table)), qid=[0] * len(table))


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
    ],
    ids=repr,
)
def test_the_first_missing_number(table, found):
    n = np.shape(table)[0]
    row, column = found
    with pytest.raises(
        ValueError, match=f"The first NaN of X is in row {row} of column {column!r}"
    ):
        LowRankSurrogateRanker().fit(table, np.arange(n), qid=[0] * n)
