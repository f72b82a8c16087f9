"""Faults of query ids and times, and of rows that do not match by label."""

import re
from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from ..lists._lists import is_missing, missing_ids
from ._check import Check
from ._columns import shown
from ._frames import QUERY, column_names, holds_ids, is_data_frame
from ._lines_of_tables import line_to_drop

# Rows that match by label -----------------------------------------------------------


def _own_column_of_labels(given):
    return _own_column(given, "y", ())


def _own_column_of_ids(given):
    return _own_column(given, "qid", QUERY)


def _own_column(given, argument, names):
    """Find a column of X that equals an argument and has its name."""
    X = given.named.get("X")
    values = given.named.get(argument)
    if not is_data_frame(X) or values is None:
        return None
    if hasattr(values, "name"):
        names = [values.name]
    for name in names:
        if name in column_names(X) and np.array_equal(np.asarray(X[name]), values):
            drop = f"X = X.drop(columns=[{name!r}])"
            if hasattr(X, "with_columns"):  # polars
                drop = f"X = X.drop({name!r})"
            return {"column": name, "drop": drop}
    return None


def _other_index(given):
    """Find pandas objects of equal length with different indices."""
    indices: dict[str, Any] = {
        name: getattr(one, "index", None) for name, one in given.named.items()
    }
    indices = {name: one for name, one in indices.items() if hasattr(one, "equals")}
    first = next(iter(indices), "")
    for name, index in indices.items():
        reference = indices[first]
        if len(index) != len(reference) or index.equals(reference):
            continue
        pairs = list(zip(map(repr, reference), map(repr, index), strict=True))
        # Labels of different types may have the same text: then the first row is named.
        row = next((i for i, (one, two) in enumerate(pairs) if one != two), 0)
        one, two = pairs[row]
        by_label = ""
        is_unique = reference.is_unique and index.is_unique
        if is_unique and set(reference) == set(index):
            by_label = f"{name} = {name}.loc[{first}.index]"
        return {
            "first": first,
            "name": name,
            "row": row,
            "one": one,
            "two": two,
            "by_label": by_label,
        }
    return None


CHECKS_OF_INDICES = [
    Check(
        name="labels among the features",
        finds=_own_column_of_labels,
        sentence="Column {column!r} of X is y, and not a feature.",
        remedies={"": "{drop}"},
    ),
    Check(
        name="ids among the features",
        finds=_own_column_of_ids,
        sentence="Column {column!r} of X is qid, and not a feature.",
        remedies={"": "{drop}"},
    ),
    Check(
        name="different indices",
        finds=_other_index,
        sentence=(
            "{first} and {name} have different indices (row {row}: {one} and {two}); "
            "match them by label, or by position (permutation_test_score permutes y "
            "with its index on purpose)."
        ),
        remedies={
            "By label": "{by_label}",
            "By position": "{name} = {name}.to_numpy()",
        },
    ),
]

# Ids --------------------------------------------------------------------------------


def _masked_ids(given):
    return {"name": given.name} if np.ma.is_masked(given.value) else None


def _text_as_ids(given):
    """Find the name of a column instead of the ids."""
    text = given.value
    if not isinstance(text, str):
        return None
    line = ""
    if is_data_frame(given.X) and text in column_names(given.X):
        line = f"qid = X[{text!r}]\nX = X.drop(columns={text!r})"
        if hasattr(given.X, "with_columns"):  # polars
            line = f"qid = X[{text!r}]\nX = X.drop({text!r})"
    return {"name": given.name, "text": shown(text), "line": line}


def _no_order(given):
    """Find a set or a dict, and anything that is not a sequence of ids."""
    value = given.value
    if isinstance(value, Set | Mapping):
        words = f"a {type(value).__name__}, which does not have an order of rows"
    elif hasattr(value, "__array__") or hasattr(value, "__iter__"):
        return None
    else:
        words = f"{shown(value)}, but must be an array-like"
    return {"name": given.name, "words": words}


def _ids_of_two_dimensions(given):
    if not hasattr(given.value, "__array__"):  # tuples of a list are ids
        return None
    shape: Any = np.shape(given.value)
    if len(shape) == 1:
        return None
    line = ""
    if len(shape) == 2 and shape[1] == 1:
        line = f"{given.name} = numpy.ravel({given.name})"
    return {"name": given.name, "shape": shape, "line": line}


def _other_number_of_ids(given):
    n_ids = len(given.value)
    if given.n_rows is None or n_ids == given.n_rows:
        return None
    line = line_of_sizes(given.value, given.n_rows)
    return {"n": n_ids, "n_rows": given.n_rows, "line": line}


def line_of_sizes(ids, n_rows):
    """Return the line that makes ids of sizes of lists, "" for other ids."""
    ids = np.asarray(ids)
    if ids.dtype.kind in "iu" and ids.min() >= 0 and ids.sum() == n_rows:
        return "qid = numpy.repeat(numpy.arange(len(qid)), qid)"
    return ""


def _no_ids(given):
    return {"name": given.name} if len(given.value) == 0 else None


def _missing_id(given):
    """Find the first missing or infinite id."""
    is_missing_row = missing_ids(given.value)
    if not is_missing_row.any():
        return None
    row = int(np.argmax(is_missing_row))
    return {"name": given.name, "row": row, "id": shown(given.value[row])}


def _unhashable_id(given):
    """Find an id that is a list, a dict or the like."""
    for row, one in enumerate(given.value):
        try:
            hash(one)
        except TypeError:
            are_lists = all(isinstance(other, list) for other in given.value)
            name = given.name
            line = f"{name} = [tuple(one) for one in {name}]" if are_lists else ""
            return {"name": name, "row": row, "id": shown(one, 80), "line": line}
    return None


#: What ids are.
CHECKS_OF_IDS = [
    Check(
        name="masked ids",
        finds=_masked_ids,
        sentence=(
            "{name} is a masked array, and its mask would be ignored: every row needs "
            "an id."
        ),
    ),
    Check(
        name="text instead of ids",
        finds=_text_as_ids,
        sentence="{name} is the text {text}, not the ids of the rows.",
        remedies={"To take the column of X": "{line}"},
    ),
    Check(
        name="ids without an order",
        finds=_no_order,
        sentence="{name} is {words}: give a list of ids, one for each row.",
        raises=TypeError,
    ),
    Check(
        name="ids of two dimensions",
        finds=_ids_of_two_dimensions,
        sentence="{name} must be one-dimensional, got the shape {shape}.",
        remedies={"": "{line}"},
    ),
]
#: The ids of the rows, as an array.
CHECKS_OF_ALL_IDS = [
    Check(
        name="another number of ids",
        finds=_other_number_of_ids,
        sentence=(
            "qid has the length {n}, but there are {n_rows} rows: give one query id "
            "for each row of X."
        ),
        remedies={"If these are the sizes of the queries": "{line}"},
    ),
    Check(
        name="no ids",
        finds=_no_ids,
        sentence="{name} is empty: there must be at least one row.",
    ),
    Check(
        name="missing id",
        finds=_missing_id,
        sentence=(
            "{name} contains a missing or infinite id (row {row}: {id}): every row "
            "needs an id."
        ),
    ),
    Check(
        name="unhashable id",
        finds=_unhashable_id,
        sentence="{name} must hold hashable ids, but holds {id} in row {row}.",
        remedies={"": "{line}"},
        raises=TypeError,
    ),
]

# Times ------------------------------------------------------------------------------


def _text_as_times(given):
    text = given.value if isinstance(given.value, str) else None
    return None if text is None else {"text": shown(text, 40)}


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def _time_as_text(given):
    """Find text among times; the order of its letters is not an order of times."""
    texts = [one for one in given.value if isinstance(one, str | bytes)]
    if not texts:
        return None
    row = next(i for i, one in enumerate(given.value) if isinstance(one, str | bytes))
    words = {"row": row, "text": shown(texts[0], 40), "one": "", "day": "", "month": ""}
    if all(map(_is_number, texts)):
        return {**words, "one": "time = pandas.to_numeric(time)"}
    # 2024-12-31 has one reading.
    if all(isinstance(one, str) and re.match(r"\d{4}-", one) for one in texts):
        return {**words, "one": "time = pandas.to_datetime(time)"}
    return {
        **words,
        "day": "time = pandas.to_datetime(time, dayfirst=True)",
        "month": "time = pandas.to_datetime(time, dayfirst=False)",
    }


def _missing_time(given):
    for row, one in enumerate(given.value):
        if is_missing(one):
            return {"row": row}
    return None


def _times_of_several_kinds(given):
    """Find times of several kinds; this check comes last."""
    return {}


CHECKS_OF_TIMES = [
    Check(
        name="text instead of times",
        finds=_text_as_times,
        sentence="time is the text {text}, not the times of the rows.",
    ),
    Check(
        name="time as text",
        finds=_time_as_text,
        sentence="time is the text {text} in row {row}, and text sorts by letters.",
        remedies={
            "": "{one}",
            "If the day is first": "{day}",
            "If the month is first": "{month}",
        },
    ),
    Check(
        name="missing time",
        finds=_missing_time,
        sentence="time has no value in row {row}: every row needs a finite time.",
    ),
    Check(
        name="times of several kinds",
        finds=_times_of_several_kinds,
        sentence=(
            "time must hold numbers, dates, periods or durations, all of one kind, and "
            "dates all with a time zone or all without."
        ),
    ),
]

# Columns ------------------------------------------------------------------------------


def _finds_column_of_ids(given):
    """Find ids or row numbers among columns of numbers."""
    table = given.table
    if not holds_ids(table, given.column):
        return None
    index = ""
    if hasattr(table, "set_index"):  # pandas
        index = f"{given.name} = {given.name}.set_index({given.column!r})"
    drop = ""
    if is_data_frame(table):
        drop = line_to_drop(given.name, table, given.column)
    return {
        "column": given.column,
        "name": given.name,
        "what": given.what,
        "index": index,
        "drop": drop,
    }


#: Given a table, its name, a column and what each column must be.
CHECKS_OF_ID_COLUMNS = [
    Check(
        name="column of ids",
        finds=_finds_column_of_ids,
        sentence=(
            "The column {column!r} of {name} holds ids, by its name and its entries, "
            "and would be read as {what}."
        ),
        remedies={"If it names the rows": "{index}", "To leave it out": "{drop}"},
    ),
]
