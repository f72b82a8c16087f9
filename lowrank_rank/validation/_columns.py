"""What a column of objects or text holds: numbers, booleans, dates or categories."""

import re
from collections.abc import Hashable
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real

import numpy as np

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
#: Digits with a sign, a decimal point and an exponent, as `pandas.to_numeric` reads.
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
#: Digits with a decimal comma, or with separators of thousands.
_NUMBER_WITH_COMMA = re.compile(
    r"\s*[+-]?(\d+,\d*|,\d+|\d{1,3}(,\d{3})+\.\d*|\d{1,3}(\.\d{3})+,\d*"
    r"|\d{1,3}(,\d{3})+)([eE][+-]?\d+)?\s*"
)


def kind_of_entries(entries):
    """Return what the entries of a column are, by their types.

    Parameters
    ----------
    entries : iterable of object

    Returns
    -------
    str
        "missing" if no entry has a value; "boolean" or "number" if all values are;
        "collection" if one is a list, a dict or an array; "date" if one is; "number as
        text" if half or more of the distinct values are numbers, written as text or
        not; else "text". A number is an int, float, Decimal or the like.
    """
    values = [value for value in entries if not is_missing_entry(value)]
    if not values:
        return "missing"
    if all(isinstance(value, bool | np.bool_) for value in values):
        return "boolean"
    if all(map(_is_number, values)):
        return "number"
    if not all(isinstance(value, Hashable) for value in values):
        return "collection"
    if any(isinstance(value, DATES) for value in values):
        return "date"
    distinct = set(map(str, values))
    n_numbers = sum(map(_looks_like_number, distinct))
    return "number as text" if 2 * n_numbers >= len(distinct) else "text"


def is_missing_entry(value):
    """Whether an entry of a column is None, NaN, NaT or the NA of pandas."""
    if value is None:
        return True
    if isinstance(value, str):
        return False
    try:
        return bool(value != value)
    except TypeError:  # comparisons with pandas.NA have no truth value
        return True
    except ValueError:  # an array
        return False


def _is_number(value):
    """Whether an entry is a number; a boolean is not."""
    is_boolean = isinstance(value, bool | np.bool_)
    return isinstance(value, Real | Decimal) and not is_boolean


def _looks_like_number(text):
    """Whether text is a number, with a decimal point or a decimal comma."""
    return bool(_NUMBER.fullmatch(text) or _NUMBER_WITH_COMMA.fullmatch(text))


def first_object(entries):
    """Row and value of the first entry that is not a number, text or missing."""
    simple = (Real, Decimal, np.bool_, str)
    for row, entry in enumerate(entries):
        if not isinstance(entry, simple) and not is_missing_entry(entry):
            return row, entry
    return None


def first_text(entries):
    """Row and value of the first text, one that is not a number if there is one.

    It is None without text. Bytes are text too.
    """
    first = None
    for row, entry in enumerate(entries):
        if isinstance(entry, bytes):
            return row, str(entry)
        if not isinstance(entry, str):
            continue
        if not _NUMBER.fullmatch(entry):
            return row, str(entry)
        if first is None:
            first = row, str(entry)
    return first


def codes_of_words(entries, table, name):
    """Return two words with the code of a comparison with each; {} for other entries.

    Parameters
    ----------
    entries : iterable of object
        All entries of the table.
    table : array-like, frame or dict
    name : str
        Name of the table in the code.
    """
    words = set()
    for entry in entries:
        if not isinstance(entry, str) or _looks_like_number(entry):
            return {}
        words.add(str(entry))
        if len(words) > 2:
            return {}
    if len(words) < 2 or max(map(len, words)) > 40:
        return {}
    if isinstance(table, dict):
        name = f"pandas.DataFrame({name})"
    elif isinstance(table, list | tuple):
        name = f"numpy.array({name})"
    return {word: f"{name} == {word!r}" for word in sorted(words)}


def lines_of_words(entries, table, name):
    """Join the two lines of `codes_of_words` by "or"; "" without words."""
    return " or ".join(codes_of_words(entries, table, name).values())


def shown(value, n_characters=300):
    """Text of a value for messages, cut to a number of characters."""
    if isinstance(value, np.generic):
        value = value.item()
    text = repr(value)
    if len(text) <= n_characters:
        return text
    return f"{text[: n_characters - 4]}...{text[-1]}"
