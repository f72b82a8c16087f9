"""Lines of progress: at most one a second, with the time left."""

import numpy as np
import pytest

from lowrank_rank import HistGradientBoostingRanker, StackingRanker
from lowrank_rank.datasets import make_ranking

from .internals import Progress, counted, following, following_fit


class Clock:
    """Seconds that a test sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_a_line_a_second_with_the_time_left(capsys):
    clock = Clock()
    progress = Progress("Trees", {"rounds": 100}, clock=clock)
    for _ in range(100):
        clock.now += 0.3
        progress.advance("rounds")
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 25
    # After 4 rounds of 0.3 s 96 are left.
    assert lines[0] == "[Trees] 4 of 100 rounds, 29 s left"
    assert lines[-1] == "[Trees] 100 of 100 rounds, 0 s left"


def test_without_a_name_nothing_is_printed(capsys):
    clock = Clock()
    progress = Progress(None, {"rounds": 2}, clock=clock)
    clock.now = 100.0
    progress.advance("rounds")
    assert not capsys.readouterr().out
    assert list(counted("ab", None, "letters")) == ["a", "b"]


def test_kinds_have_speeds_of_their_own(capsys):
    """Fits to 10 rows: a fast part and a slow one, each twice."""
    clock = Clock()
    whole = Progress("Stack", {"fast": 20, "slow": 20}, clock=clock)
    with following(whole):
        with following_fit("fast", 10):
            clock.now += 1.0
        assert whole.seconds_left() is None
        with following_fit("slow", 10):
            rounds = Progress(None, {"rounds": 4}, clock=clock)
            clock.now += 30.0
            rounds.advance("rounds")
            # 3 rounds and a fit of 4, 30 s each, and a fast fit.
            assert whole.seconds_left() == pytest.approx(7 * 30.0 + 1.0)
            clock.now += 90.0
        assert whole.seconds_left() == pytest.approx(120.0 + 1.0)
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "[Stack] fast: 1 s so far",
        "[Stack] slow: 13 % done, 3 min 31 s left",
        "[Stack] slow: 50 % done, 2 min 1 s left",
    ]


@pytest.mark.parametrize(
    "model", [HistGradientBoostingRanker(max_iter=30), StackingRanker()]
)
def test_lines_of_fits_change_no_digit(model, capsys, monkeypatch):
    """With a clock of a second a call each step has a line."""
    X, y, qid = make_ranking(n_lists=20, random_state=0)
    plain = model.fit(X, y, qid=qid).predict(X)
    assert not capsys.readouterr().out
    ticks = iter(range(10**6))
    monkeypatch.setattr(Progress.__init__, "__defaults__", (lambda: next(ticks), None))
    np.testing.assert_array_equal(
        model.set_params(verbose=1).fit(X, y, qid=qid).predict(X), plain
    )
    lines = capsys.readouterr().out.splitlines()
    timed = [line for line in lines if line.endswith("left")]
    assert len(timed) > 10
    assert all(line.startswith(f"[{type(model).__name__}] ") for line in lines)
