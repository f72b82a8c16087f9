"""Times of rows: what is read, and what is refused. (Kinds: tests/test_model_selection.py.)"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from lowrank_rank import ranking_target
from lowrank_rank.model_selection import QueryTimeSeriesSplit


def time_of(values):
    n = len(values)
    return ranking_target(np.zeros(n), np.arange(n), time=values)["time"]


def test_times_keep_their_values():
    days = pd.date_range("2025-01-01", periods=3)
    expected = days.to_numpy()
    for values in (days, pd.Series(days), days.date.tolist(), days.to_period("D")):
        assert_array_equal(time_of(values), expected)
    for zone in ("UTC", "Europe/Berlin"):
        moments = days.tz_localize(zone)
        in_utc = moments.tz_convert("UTC").tz_localize(None).to_numpy()
        assert_array_equal(time_of(moments), in_utc)
        assert_array_equal(time_of(moments.to_pydatetime().tolist()), in_utc)
    steps = [timedelta(days=1), timedelta(days=2), timedelta(0)]
    assert_array_equal(time_of(steps), np.array([1, 2, 0], dtype="timedelta64[D]"))
    # Floats would not tell these integers apart.
    large = [2**60 + 1, 2**60, 2**60 + 2]
    assert time_of(np.array(large, dtype=object)).tolist() == large
    assert time_of([Decimal("0.5"), 2, 1.5]).tolist() == [0.5, 2.0, 1.5]
    assert "time" not in ranking_target([1.0], [1]).dtype.names


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1.0, np.nan, 2.0, 3.0], "time has no value in row 1"),
        ([1.0, 2.0, np.inf, 3.0], "time has no value in row 2"),
        ([1, None, 2, 3], "time has no value in row 1"),
        (pd.Series([1, 2, 3, None], dtype="Int64"), "time has no value in row 3"),
        (pd.to_datetime(["2025-01-01", None, "2025-01-02", "2025-01-03"]), "in row 1"),
        ([True, False, True, False], "time must hold numbers, dates"),
        ([1j, 2, 3, 4], "time must hold numbers, dates"),
        ([date(2025, 1, 1), 3, 4, 5], "time must hold numbers, dates"),
        ([datetime(2025, 1, d, tzinfo=UTC if d < 3 else None) for d in range(1, 5)],
         "all with a time zone or all without"),
        ([[1], [2], [3], [4]], "time must hold numbers, dates"),
        (np.ones((4, 1)), "one-dimensional"),
        (np.ma.masked_array([1, 2, 3, 4], [0, 1, 0, 0]), "masked"),
        ("day", "text 'day'"),
        (3, "must be an array-like"),
        ([1, 2, 3], "inconsistent numbers of samples"),
    ],
)  # fmt: skip
def test_times_without_sense(time, message):
    splitter = QueryTimeSeriesSplit(2)
    with pytest.raises((TypeError, ValueError), match=message):
        next(splitter.split(np.zeros(4), groups=list("abcd"), time=time))
    with pytest.raises((TypeError, ValueError), match=message):
        ranking_target([0, 1, 0, 1], list("abcd"), time=time)
