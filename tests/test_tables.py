"""Results that print as a table."""

import builtins

import pytest

from lowrank_rank._tables import TableMixin


class Scores(TableMixin):
    def _columns(self):
        return {"name": ["a", "<b>"], "score": [0.12345678, 10.0]}


def test_a_table_prints_and_escapes_html():
    assert repr(Scores()) == "name   score\na     0.1235\n<b>       10"
    page = Scores()._repr_html_()
    assert page.count("<tr>") == 3
    assert "&lt;b&gt;" in page


def test_to_frame_keeps_every_digit():
    pytest.importorskip("pandas")
    frame = Scores().to_frame()
    assert frame.columns.tolist() == ["name", "score"]
    assert frame["score"].tolist() == [0.12345678, 10.0]


def test_to_frame_without_pandas_says_so(monkeypatch):
    def without_pandas(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError
        return imported(name, *args, **kwargs)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", without_pandas)
    with pytest.raises(ImportError, match="to_frame needs pandas"):
        Scores().to_frame()
