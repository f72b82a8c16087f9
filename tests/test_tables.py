"""Results that print as a table: text, HTML and data frame."""

import sys
from html import escape

import numpy as np
import pytest

from lowrank_rank import LowRankSurrogateRanker, StackingRanker, SuspiciousDataWarning
from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import compare_rankers, compare_values
from lowrank_rank.votes import bradley_terry, consensus_ranking

from .internals import TableMixin


class Result(TableMixin):
    def _columns(self):
        return {
            "a long name": np.array([1, 20, 3]),
            "item": ["x", "<b>&", "y"],
            "value": np.array(
                [-0.123456, 1e-7, -2e-18]
            ),  # the last one is a rounding error
        }


def test_text_and_html_by_hand():
    assert repr(Result()).splitlines() == [
        "a long name  item    value",
        "          1  x     -0.1235",
        "         20  <b>&    1e-07",
        "          3  y           0",
    ]
    html = Result()._repr_html_()
    assert "&lt;b&gt;&amp;" in html
    assert html.count("<tr>") == 4
    assert html.count("<td>") == 9
    assert html.count("<th>") == 3


def test_small_p_values_are_not_zero():
    old = np.arange(99.0) % 7
    table = {"new": old + 9 + np.arange(99) % 2, "old": old}
    found = compare_values(table)
    assert 0 < found.p_value[0] < 1e-15
    assert found.to_frame()["p_value"][0] == found.p_value[0]
    assert repr(found).count(" <1e-15") == 2  # and p_holm
    assert found._repr_html_().count("&lt;1e-15</td>") == 2


@pytest.mark.parametrize(
    ("shape", "is_asked"), [((3, 60), True), ((60, 3), False), ((5, 12), False)]
)
def test_a_table_of_many_rankers_and_few_tasks_asks_for_its_transpose(shape, is_asked):
    values = np.random.default_rng(0).random(shape)
    found = compare_values({f"system {j}": column for j, column in enumerate(values.T)})
    assert ("did you mean table.T?" in repr(found)) == is_asked
    assert ("did you mean table.T?" in found._repr_html_()) == is_asked


def test_sentences_below_a_table_are_in_its_html():
    cycle = np.array(
        [[0, 80, 20, 95], [20, 0, 80, 80], [80, 20, 0, 80], [5, 20, 20, 0]]
    )
    duels = [["a", "b"], ["b", "a"], ["a", "c"], ["c", "a"]]
    with pytest.warns(SuspiciousDataWarning, match="cycles"):
        contradicted = bradley_terry(cycle)
    few_groups = bradley_terry(duels, group=[1, 1, 2, 2])
    for board in (contradicted, few_groups):
        sentence = repr(board).splitlines()[-1]
        assert "P(0 beats 2)" in sentence or "No errors" in sentence
        assert f"<p>{escape(sentence)}</p>" in board._repr_html_()
        assert board._repr_html_().startswith("<table>")


def test_to_frame_says_what_it_needs(monkeypatch):
    assert Result().to_frame()["value"].tolist() == [-0.123456, 1e-7, -2e-18]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"to_frame needs pandas: pip install pandas"):
        Result().to_frame()
    assert repr(Result())
    assert Result()._repr_html_()


def test_rank_intervals_carry_the_names():
    grades = np.array([[1, 3, 2]] * 30 + [[2, 3, 1]] * 29)
    consensus = consensus_ranking(grades, items=["a", "b", "c"], kind="grades")
    intervals = consensus.rank_intervals(n_resamples=200, random_state=0)
    frame = intervals.to_frame()
    assert frame.columns.tolist() == ["rank", "item", "low", "high"]
    assert frame["item"].tolist() == consensus.order.tolist() == ["b", "c", "a"]
    assert frame["rank"].tolist() == [1, 2, 3]
    by_name = dict(zip(intervals.items, intervals.high, strict=True))
    assert frame["high"].tolist() == [by_name[item] for item in "bca"] == [1, 3, 3]
    assert repr(intervals).splitlines()[1].split() == ["1", "b", "1", "1"]


def test_consensus_prints_ranks_and_scores():
    consensus = consensus_ranking([["b", "a"], ["b", "a"]], method="borda")
    assert repr(consensus).splitlines()[0].split() == ["rank", "item", "score"]
    assert consensus.to_frame()["score"].tolist() == [2.0, -2.0]
    assert str(consensus).startswith(repr(consensus) + "\nborda: cost 0")


def test_comparison_and_weights_print():
    y, scores = np.tile([1, 0], (6, 1)), np.tile([2.0, 1.0], (6, 1))
    found = compare_rankers(y, {"new": scores, "old": -scores}, measure="mrr")
    means, pairs, _ = (table.splitlines() for table in repr(found).split("\n\n"))
    assert means[2].split()[:2] == ["new", "1"]
    assert pairs[1].split()[:3] == ["new", "old", "0.5"]
    assert "<td>new" in found._repr_html_()
    X, y, qid = make_ranking(n_lists=12, random_state=0)
    parts = [
        ("one", LowRankSurrogateRanker()),
        ("two", LowRankSurrogateRanker(alpha=1e6)),
    ]
    scores = StackingRanker(estimators=parts, cv=2).fit(X, y, qid=qid).scores_
    parts = ["stack", "one", "two", "random order"]
    assert scores.to_frame()["part"].tolist() == parts
    assert repr(scores).startswith("part")
