"""Tables: frames where pandas is there, structured arrays where it is not."""

import builtins

import numpy as np
import pandas as pd
import pytest

from lowrank_rank._tables import column_names, is_frame, table_of
from lowrank_rank.metrics import per_query


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
    table = per_query([1, 0, 1], [1.0, 2.0, 1.0], qid=["a", "a", "b"], measures=["mrr"])
    assert table.dtype.names == ("qid", "mrr")
    assert table["qid"].tolist() == ["a", "b"]
    assert table["mrr"].tolist() == [0.5, 1.0]
    assert is_frame(table)
    assert column_names(table) == ["qid", "mrr"]
