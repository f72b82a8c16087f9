"""Times of rows: numbers, dates, periods or durations, as an array that sorts."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from numbers import Real

import numpy as np

from ..lists._lists import is_missing
from ._check import refuse
from ._checks_of_ids import CHECKS_OF_TIMES
from ._ids import id_array


def read_times(time):
    """Return the time of each row as numbers, datetime64 or timedelta64.

    Refuses text, whose order is the order of letters, and missing times.
    """
    if isinstance(time, str):
        refuse(CHECKS_OF_TIMES, value=time)
    times = id_array(time, "time")
    entries = times
    if times.dtype.kind in "OUST":
        entries = times.tolist()
        times = _times_of_objects(entries)
    is_usual = times is not None and times.dtype.kind in "iufmM"
    if is_usual:
        is_usual = not missing_times(times).any()
    if not is_usual:
        refuse(CHECKS_OF_TIMES, value=entries)
    return times


def missing_times(times):
    """Whether each time has no value."""
    return np.isnat(times) if times.dtype.kind in "mM" else ~np.isfinite(times)


def dates_of(ids):
    """Return ids that are dates, times or periods as datetime64, else None."""
    ids = id_array(ids)
    if ids.dtype.kind == "M":
        return ids
    if ids.dtype == object:
        return _dates_of_objects(ids.tolist())
    return None


def _times_of_objects(entries):
    """Array of times that are Python objects, or None if they are of several kinds."""
    if any(isinstance(one, str | bytes) or is_missing(one) for one in entries):
        return None
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
