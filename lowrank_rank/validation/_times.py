"""Times of rows: numbers, dates, periods or durations, as an array that sorts."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real

import numpy as np

from ..lists._ids import is_missing
from ._ids import id_array


def read_times(time):
    """Return the time of each row as numbers, datetime64 or timedelta64.

    Refuses text, whose order is the order of letters, and missing times.
    """
    if isinstance(time, str):
        raise ValueError(f"time is the text {time[:40]!r}: give the times of the rows.")
    try:
        times = id_array(time)
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).replace("qid", "time")) from None
    if times.dtype.kind in "OUST":
        times = _times_of_objects(times.tolist())
    if times is None or times.dtype.kind not in "iufmM":
        raise ValueError(
            "time must hold numbers, dates, periods or durations, all of one kind, and "
            "dates all with a time zone or all without."
        )
    is_missing_row = (
        np.isnat(times) if times.dtype.kind in "mM" else ~np.isfinite(times)
    )
    if is_missing_row.any():
        _refuse_missing_time(int(np.argmax(is_missing_row)))
    return times


def dates_of(ids):
    """Return ids that are dates, times or periods as datetime64, else None."""
    ids = id_array(ids)
    if ids.dtype.kind == "M":
        return ids
    if ids.dtype == object:
        return _dates_of_objects(ids.tolist())
    return None


def _refuse_missing_time(row):
    raise ValueError(f"time has no value in row {row}: every row needs a finite time.")


def _times_of_objects(entries):
    """Array of times that are Python objects, or None if they are of no one kind."""
    for row, one in enumerate(entries):
        if isinstance(one, str | bytes):
            raise ValueError(
                f"time is the text {one[:40]!r} in row {row}, and text sorts by "
                "letters: give pandas.to_datetime(time), with dayfirst=True or False, "
                "or format=..., as the text is meant."
            )
        if is_missing(one):
            _refuse_missing_time(row)
    dates = _dates_of_objects(entries)
    if dates is not None:
        return dates
    if all(isinstance(one, timedelta | np.timedelta64) for one in entries):
        return np.array(entries, dtype="timedelta64[ns]")
    is_number = [isinstance(one, Real | Decimal) for one in entries]
    is_bool = [isinstance(one, bool | np.bool_) for one in entries]
    if not all(is_number) or any(is_bool):
        return None
    times = np.array(entries)
    if times.dtype.kind in "iuf":
        return times
    return np.array(entries, dtype=np.float64)  # Decimal, and very large integers


def _dates_of_objects(entries):
    """Convert dates, times or periods, all of one kind, to datetime64, else None."""
    if all(hasattr(one, "to_timestamp") for one in entries):
        entries = [one.to_timestamp() for one in entries]  # the start of each period
    if not all(isinstance(one, date | np.datetime64) for one in entries):
        return None
    if len({getattr(one, "tzinfo", None) is None for one in entries}) != 1:
        return None
    return np.array([_moment(one) for one in entries])


def _moment(one):
    """Convert a date or a time, in UTC if it has a time zone, to datetime64."""
    if hasattr(one, "to_datetime64"):  # of pandas, in UTC
        return one.to_datetime64()
    if isinstance(one, datetime) and one.tzinfo is not None:
        one = one.astimezone(UTC).replace(tzinfo=None)
    return np.datetime64(one)
