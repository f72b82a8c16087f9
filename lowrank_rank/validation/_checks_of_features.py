"""Faults of X and of its entries, each with the lines that fix it."""

import math
import re
from collections.abc import Mapping
from datetime import time, timedelta

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import get_tags

from ._check import Check, Given
from ._columns import (
    DATES,
    first_object,
    first_text,
    is_missing_entry,
    kind_of_entries,
    shown,
)
from ._entries import all_columns, columns_of_objects, first_missing, kinds_of_columns
from ._frames import column_names, is_data_frame, lines_to_keep

# What X is --------------------------------------------------------------------------


def is_series(values):
    """Whether values are a Series of pandas or polars."""
    return hasattr(values, "to_frame") and len(values.shape) == 1


def _masked_X(given):
    """Find a masked array; where the model takes NaN, the masked entries become NaN."""
    if not np.ma.is_masked(given.X):
        return None
    if given.model is not None and get_tags(given.model).input_tags.allow_nan:
        return {"filled": "X = X.astype(float).filled(numpy.nan)", "kept": ""}
    arguments = {
        "X": given.X,
        "y": given.y,
        "qid": given.qid,
        "sample_weight": given.sample_weight,
    }
    kept = lines_to_keep(arguments, "~numpy.ma.getmaskarray(X).any(axis=1)")
    return {"filled": "", "kept": "\n".join(kept)}


def _mapping(given):
    is_mapping = isinstance(given.X, Mapping) and not issparse(given.X)
    return {} if is_mapping else None


def _row_as_series(given):
    """Find a Series with the columns of the fit: a row of a frame."""
    names = getattr(given.model, "feature_names_in_", None)
    index = getattr(given.X, "index", None)
    if given.is_fit or names is None or index is None or not is_series(given.X):
        return None
    return {} if list(index) == list(names) else None


def _column_as_series(given):
    """Find any other Series; one of texts passes where the model takes texts."""
    if not is_series(given.X):
        return None
    if given.takes_texts and np.asarray(given.X).dtype.kind == "O":
        return None
    return {}


def _no_columns(given):
    return {} if is_data_frame(given.X) and not column_names(given.X) else None


def _same_names(given):
    names = column_names(given.X) if is_data_frame(given.X) else []
    if len(set(names)) == len(names):
        return None
    return {"column": next(name for name in names if names.count(name) > 1)}


def _records(given):
    is_sequence = isinstance(given.X, list | tuple | np.ndarray)
    if not is_sequence or not len(given.X) or given.takes_records:
        return None
    return {} if isinstance(given.X[0], Mapping) else None


def _ragged(given):
    """Find rows of different lengths."""
    if not isinstance(given.X, list | tuple):
        return None
    lengths = {len(row) for row in given.X if isinstance(row, list | tuple)}
    return {"lengths": sorted(lengths)[:5]} if len(lengths) > 1 else None


def _no_rows(given):
    """Find a number, a text or any other object that is not a table."""
    if isinstance(given.X, list | tuple | Mapping):
        return None
    shape = getattr(given.X, "shape", None)
    if shape is None:  # array-likes may allow `__array__` alone
        shape = np.asarray(given.X).shape
    return {} if len(shape) == 0 else None


CHECKS_OF_X = [
    Check(
        name="masked X",
        finds=_masked_X,
        sentence="X is a masked array, and its mask would be ignored.",
        remedies={
            "To make the masked entries NaN": "{filled}",
            "To drop the masked rows": "{kept}",
        },
    ),
    Check(
        name="X is a dict",
        finds=_mapping,
        sentence="X is a dict, not a table.",
        remedies={"": "X = pandas.DataFrame(X)"},
        raises=TypeError,
    ),
    Check(
        name="X is a row of a frame",
        finds=_row_as_series,
        sentence="X is a Series, a row of a frame (frame.iloc[[0]] is a frame).",
        remedies={"": "X = X.to_frame().T"},
    ),
    Check(
        name="X is a Series",
        finds=_column_as_series,
        sentence=(
            "X is a Series, and must be a frame: one row is frame.iloc[[0]], and one "
            "column is frame[['name']]."
        ),
        remedies={"If it is a column": "X = X.to_frame()"},
    ),
    Check(
        name="X without columns",
        finds=_no_columns,
        sentence="X has 0 feature(s): it is a frame without columns.",
    ),
    Check(
        name="two columns of one name",
        finds=_same_names,
        sentence="Two columns of X have the same name, {column!r}.",
        remedies={"To keep the first": "X = X.loc[:, ~X.columns.duplicated()]"},
    ),
    Check(
        name="ragged X",
        finds=_ragged,
        sentence="X must be a table with rows of one length: its rows have {lengths}.",
    ),
    Check(
        name="X without rows",
        finds=_no_rows,
        sentence=(
            "Expected 2D array, got scalar array instead: X has no rows, and needs the "
            "shape (n_rows, n_features)."
        ),
    ),
    Check(
        name="X is a list of dicts",
        finds=_records,
        sentence="X is a list of dicts, not a table.",
        remedies={"": "X = pandas.DataFrame(list(X))"},
        raises=TypeError,
    ),
]

# Dates and durations ----------------------------------------------------------------

#: How the types of pandas, Arrow and polars begin.
_TYPES_OF_TIME = {
    "days since a date": ("date", "timestamp", "period"),
    "seconds": ("timedelta", "duration"),
    "seconds of the day": ("time",),
}
#: What to do with a column, by the unit of its numbers.
_TO_DO = {
    "days since a date": "subtract a reference date, in days",
    "seconds": "give the seconds",
    "seconds of the day": "give the seconds of the day",
}


def _kind_of_time(dtype):
    """Return the unit of the numbers that a type of times becomes, or None."""
    kind = getattr(dtype, "kind", "")
    if isinstance(dtype, np.dtype):
        return {"M": "days since a date", "m": "seconds"}.get(kind)
    name = str(dtype).lower()
    for what, words in _TYPES_OF_TIME.items():
        if name.startswith(words):
            return what
    return None


def has_times(X):
    """Whether a column of X has a type of dates or durations."""
    types = X.dtypes if is_data_frame(X) else [getattr(X, "dtype", None)]
    return any(_kind_of_time(dtype) is not None for dtype in types)


def _column_of_times(given):
    """Find the first column of a type of dates or durations."""
    if not is_data_frame(given.X):
        kind = _kind_of_time(getattr(given.X, "dtype", None))
        if kind is None:
            return None
        line = "X = X / numpy.timedelta64(1, 's')"
        if kind == "days since a date":
            line = (
                "X = (X - numpy.datetime64('2000-01-01')) / numpy.timedelta64(1, 'D')"
            )
        return {"column": 0, "type": given.X.dtype, "do": _TO_DO[kind], "line": line}
    types = zip(column_names(given.X), given.X.dtypes, strict=True)
    for name, dtype in types:
        kind = _kind_of_time(dtype)
        if kind is None:
            continue
        line = _line_of_pandas(f"X[{name!r}]", kind, str(dtype))
        if hasattr(given.X, "with_columns"):
            line = _line_of_polars(f"polars.col({name!r})", kind, str(dtype))
        return {"column": name, "type": dtype, "do": _TO_DO[kind], "line": line}
    return None


def _line_of_polars(column, kind, dtype):
    """Return the line that makes numbers of a column of times of polars."""
    if kind == "seconds of the day":
        return f"X = X.with_columns({column}.cast(polars.Int64) / 1e9)"
    if kind == "seconds":
        return f"X = X.with_columns({column}.dt.total_microseconds() / 1e6)"
    moment = f"{column}.cast(polars.Datetime('us'))"
    if "time_zone=" in dtype and "None" not in dtype:
        moment = f"{column}.dt.convert_time_zone('UTC').dt.replace_time_zone(None)"
    days = f"({moment} - polars.datetime(2000, 1, 1)).dt.total_microseconds()"
    return f"X = X.with_columns({days} / 86400e6)"


def _line_of_pandas(column, kind, dtype):
    """Return the line that makes numbers of a column of times of pandas."""
    if kind == "seconds of the day":
        times = f"pandas.to_timedelta({column}.map(str, na_action='ignore'))"
        return f"{column} = {times}.dt.total_seconds()"
    if kind == "seconds":
        return f"{column} = pandas.to_timedelta({column}).dt.total_seconds()"
    moment = column
    if dtype.startswith("period"):
        moment = f"{column}.dt.to_timestamp()"
    elif "pyarrow" in dtype:
        moment = f"{column}.astype(object)"
    start = "pandas.Timestamp('2000-01-01', tz='UTC')"
    days = f"(pandas.to_datetime({moment}, utc=True) - {start})"
    return f"{column} = {days}.dt.total_seconds() / 86400"


def _objects_that_are_times(given):
    """Find a column of objects with dates, durations or times of the day."""
    for _, name, entries in columns_of_objects(given.X):
        moment = next((one for one in entries if isinstance(one, DATES)), None)
        if moment is None:
            continue
        kind = "days since a date"
        if isinstance(moment, timedelta | np.timedelta64):
            kind = "seconds"
        elif isinstance(moment, time):
            kind = "seconds of the day"
        line = ""
        if not hasattr(given.X, "with_columns"):
            line = _line_of_pandas(f"X[{name!r}]", kind, "object")
        if not is_data_frame(given.X):
            line = f"X = pandas.DataFrame(X)\n{line}"
        return {"column": name, "do": _TO_DO[kind], "line": line}
    return None


def _column_of_times_that_failed(given):
    """Find the column of times that an estimator took for objects."""
    return _column_of_times(given) if isinstance(given.error, TypeError) else None


_TIMES = "Column {column!r} of X has the type {type}, and the model takes numbers: {do}"

# Text -------------------------------------------------------------------------------

#: Texts that mark a missing value.
_MARKS = {"", "-", "--", "?", ".", "n/a", "na", "nan", "null", "none", "missing"}
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_PERCENT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+) ?%")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?")
_DECIMAL_COMMA = re.compile(r"[+-]?(\d*,\d*|\d{1,3}(\.\d{3})+,\d*)([eE][+-]?\d+)?")
#: Either of the two: 1,234.
_AMBIGUOUS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")

#: Texts to replace, in order, for each way to write a number.
_AS_POINT = {r"\\.": "", ",": "."}
_AS_THOUSANDS = {",": ""}


def _ways_to_read(texts):
    """Return the replacements for each way to read texts as numbers.

    Returns
    -------
    dict of str to tuple of (dict, float)
        "plain", "percent", "thousands" and "point" -> replacements and divisor.
    """
    texts = [text.strip() for text in texts]
    others = [text for text in texts if not _PLAIN.fullmatch(text)]
    if not others:
        return {"plain": ({}, 1)}
    if len(others) == len(texts) and all(map(_PERCENT.fullmatch, texts)):
        return {"percent": ({" ?%": ""}, 100)}
    ways = {}
    if all(map(_THOUSANDS.fullmatch, others)):
        ways["thousands"] = (_AS_THOUSANDS, 1)
    has_points = any("." in text for text in texts if text not in others)
    if all(map(_DECIMAL_COMMA.fullmatch, others)) and not has_points:
        ways["point"] = (_AS_POINT if _has_both(others) else {",": "."}, 1)
    if len(ways) == 2 and not all(map(_AMBIGUOUS.fullmatch, others)):
        # One number that is written in one way only decides.
        unlike = [text for text in others if not _AMBIGUOUS.fullmatch(text)]
        ways = {
            name: way
            for name, way in ways.items()
            if all(map(_PATTERNS[name].fullmatch, unlike))
        }
    return ways


_PATTERNS = {"thousands": _THOUSANDS, "point": _DECIMAL_COMMA}


def _has_both(texts):
    """Whether a text has points between the thousands and a decimal comma."""
    return any("." in text for text in texts)


def _numbers_as_text(given):
    """Find a column of a frame with numbers and, perhaps, marks of missing values."""
    if not is_data_frame(given.X):
        return None
    is_polars = hasattr(given.X, "with_columns")
    for _, name, entries in columns_of_objects(given.X):
        texts = {str(one) for one in entries if isinstance(one, str)}
        values = {text for text in texts if text.strip().lower() not in _MARKS}
        is_percent = bool(values) and all(
            _PERCENT.fullmatch(text.strip()) for text in values
        )
        kind = kind_of_entries(entries)
        if kind != "number as text" and not (kind == "text" and is_percent):
            continue
        row, value = _first_of_text(entries)
        column = f"polars.col({name!r})" if is_polars else f"X[{name!r}]"
        codes = f"{column} = {column}.astype('category')"
        if is_polars:
            codes = f"X = X.with_columns({column}.cast(polars.Categorical))"
        words = {"column": name, "row": row, "value": shown(value, 80), "codes": codes}
        if not (given.model is None or get_tags(given.model).input_tags.allow_nan):
            words["codes"] = ""
        lines = dict.fromkeys(("plain", "percent", "thousands", "point"), "")
        has_booleans = any(map(_is_boolean, entries))
        has_others = has_booleans or first_object(entries) is not None
        ways = {} if has_others else _ways_to_read(values)
        has_numbers = any(
            not isinstance(one, str) and not is_missing_entry(one) for one in entries
        )
        if has_numbers:  # 0.85 beside 85% is a share or a percentage
            ways.pop("percent", None)
        marks = sorted(texts - values)
        for way, (replaced, divisor) in ways.items():
            line_of = _numbers_of_polars if is_polars else _numbers_of_pandas
            lines[way] = line_of(column, marks, replaced)
            if divisor != 1:
                lines[way] = lines[way].replace(
                    "polars.Float64)", "polars.Float64) / 100"
                )
                if not is_polars:
                    lines[way] += " / 100"
        return {**words, **lines}
    return None


def _first_of_text(entries):
    """Row and value of the first text, else of the first entry that is not a number."""
    place = first_text(entries) or first_object(entries)
    if place is None:  # numbers and booleans
        row = next(row for row, one in enumerate(entries) if _is_boolean(one))
        place = row, entries[row]
    return place


def _is_boolean(entry):
    return isinstance(entry, bool | np.bool_)


def _numbers_of_pandas(column, marks, replaced):
    """Return the line that makes numbers of a column of text of pandas."""
    values = column
    if marks:
        values += f".replace({marks}, numpy.nan)"
    for old, new in replaced.items():
        values += f".replace({_quoted(old)}, {new!r}, regex=True)"
    return f"{column} = pandas.to_numeric({values})"


def _numbers_of_polars(column, marks, replaced):
    """Return the line that makes numbers of a column of text of polars."""
    values = column
    if marks:
        values += f".replace({marks}, None)"
    for old, new in replaced.items():
        values += f".str.replace_all({_quoted(old)}, {new!r})"
    return f"X = X.with_columns({values}.str.strip_chars().cast(polars.Float64))"


def _quoted(pattern):
    """Write a regular expression as code."""
    return f"r'{pattern}'".replace("\\\\", "\\") if "\\" in pattern else repr(pattern)


def _text_in_array(given):
    """Find text in an array or list in which every entry is a number."""
    columns = [] if is_data_frame(given.X) else columns_of_objects(given.X)
    entries = [one for _, _, column in columns for one in column]
    if not any(isinstance(one, str | bytes) for one in entries):
        return None
    try:
        is_finite = all(math.isfinite(float(one)) for one in entries)
    except (OverflowError, TypeError, ValueError):
        return None
    if not is_finite:
        return None
    place = next(i for i, one in enumerate(entries) if isinstance(one, str | bytes))
    column, row = divmod(place, len(columns[0][2]))
    return {"column": column, "row": row, "text": shown(entries[place])}


def _text(given):
    return _words_of_text(
        given, [(name, one) for _, name, one in columns_of_objects(given.X)]
    )


def _text_that_failed(given):
    """Find the text that the error quotes, in a column of any type, as a category.

    A step of a pipeline may encode other columns.
    """
    if not _is_of_entries(given.error):
        return None
    columns = [
        (name, entries)
        for name, entries in all_columns(given.X)
        if any(_is_quoted(one, given.error) for one in entries)
    ]
    return _words_of_text(given, columns[:1])


def _is_quoted(entry, error):
    """Whether an error quotes an entry, which is text."""
    return isinstance(entry, str) and repr(str(entry)) in str(error)


def _words_of_text(given, columns):
    """Find the columns of text: the place of the first, and the lines for all."""
    X = given.X
    places = {name: first_text(entries) for name, entries in columns}
    places = {name: place for name, place in places.items() if place is not None}
    if not places:
        return None
    # Numbers that are text stay in an array.
    words = [name for name, (_, text) in places.items() if not _PLAIN.fullmatch(text)]
    names = words or list(places)
    name = names[0]
    if not is_data_frame(X):  # the first row, not the first column
        name = min(names, key=lambda one: places[one][0])
    row, text = places[name]
    drop = f"X = X.drop(columns={names})"
    encode = f"X = pandas.get_dummies(X, columns={names}, dtype=float)"
    if hasattr(X, "with_columns"):  # polars
        drop = f"X = X.drop({names})"
        encode = f"X = X.to_dummies({names})"
    elif isinstance(X, np.ndarray):
        drop = f"X = numpy.delete(X, {names}, axis=1).astype(float)"
        encode = ""
    elif not is_data_frame(X):
        drop = f"X = pandas.DataFrame(X).drop(columns={names})"
        encode = ""
    if not given.is_fit:
        encode = ""
    n_left = np.shape(X)[1] - len(names)
    is_of_fit = given.model is not None and not given.is_fit
    if n_left == 0 or (is_of_fit and n_left != given.model.n_features_in_):
        drop = ""  # no column would be left, or a column of the fit would be missing
    return {
        "column": name,
        "row": row,
        "text": shown(text),
        "drop": drop,
        "encode": encode,
        "stack": "the frame as it is" if is_data_frame(X) else "a data frame",
    }


def _huge_number(given):
    """Find a number beyond the range of floats."""
    for _, name, entries in columns_of_objects(given.X):
        for one in entries:
            if isinstance(one, int) and abs(one) > int(np.finfo(np.float64).max):
                return {"column": name}
    return None


# Several columns --------------------------------------------------------------------


def _several_columns(given):
    """Find two or more columns that are not numbers, and the lines for all of them."""
    return _words_of_columns(given, takes_text=False)


def _several_columns_beside_text(given):
    """Find such columns for a model that takes text."""
    return _words_of_columns(given, takes_text=True)


def _words_of_columns(given, takes_text):
    if not is_data_frame(given.X):
        return None
    X = given.X
    objects = {name: entries for _, name, entries in columns_of_objects(X)}
    faults = {}  # what to do with a column, by its name
    lines = []
    texts = []
    others = []
    for name, dtype in zip(column_names(X), X.dtypes, strict=True):
        if _kind_of_time(dtype) is None and name not in objects:
            continue
        kind = kind_of_entries(objects.get(name, ()))
        alone = Given(X=X[[name]], model=given.model)
        times = _column_of_times(alone) or _objects_that_are_times(alone)
        numbers = _numbers_as_text(alone)
        if kind == "collection":
            faults[name] = "lists, dicts or arrays"
            others.append(name)
        elif times:
            faults[name] = times["do"]
            lines.append(times["line"])
            if not times["line"]:
                others.append(name)
        elif numbers:
            faults[name] = "numbers as text"
            ways = {numbers[way] for way in ("plain", "percent", "thousands", "point")}
            ways.discard("")
            if len(ways) == 1:
                lines += ways
            elif takes_text:
                return None  # it is asked what the numbers are
            else:
                texts.append(name)
        elif kind == "text" and not takes_text:
            faults[name] = "text"
            texts.append(name)
    if len(faults) < 2 or set(faults) == set(texts):
        return None
    words = [f"{name!r} ({what})" for name, what in faults.items()]
    return {
        "columns": ", ".join(words),
        **_lines_for_columns(given, [line for line in lines if line], texts, others),
    }


def _lines_for_columns(given, lines, texts, others):
    """Return the lines that make numbers, and those that drop or encode the text."""
    X = given.X
    is_polars = hasattr(X, "with_columns")

    def dropped(names):
        return f"X = X.drop({names if is_polars else f'columns={names}'})"

    unread = [dropped(others)] if others else []
    found = {"numbers": "", "drop": "", "encode": ""}
    is_of_fit = given.model is not None and not given.is_fit
    n_left = X.shape[1] - len(texts) - len(others)
    may_drop = n_left > 0 and not (is_of_fit and n_left != given.model.n_features_in_)
    if not texts:
        if not others or may_drop:
            found["numbers"] = "\n".join([*lines, *unread])
        return found
    if may_drop:
        found["drop"] = "\n".join([*lines, dropped(texts + others)])
    if given.is_fit and n_left + len(texts) > 0:
        encode = f"X = pandas.get_dummies(X, columns={texts}, dtype=float)"
        if is_polars:
            encode = f"X = X.to_dummies({texts})"
        found["encode"] = "\n".join([*lines, *unread, encode])
    return found


_SEVERAL = "Columns of X are not numbers: {columns}. Do the same in fit and in predict."
_LINES_OF_SEVERAL = {
    "": "{numbers}",
    "To drop the text": "{drop}",
    "To encode the text": "{encode}",
}

_TEXT = (
    "X has the text {text} in row {row} of column {column!r}, and the model takes "
    "numbers. (To rank, StackingRanker takes {stack}, and boosted trees a category "
    "dtype.)"
)
_AS_TEXT = "Column {column!r} of X holds numbers as text: {value} in row {row}."

#: Columns that are not numbers, and that no model takes.
CHECKS_OF_TYPES = [
    Check(
        name="several columns that are not numbers, beside text",
        finds=_several_columns_beside_text,
        sentence=_SEVERAL,
        remedies={"": "{numbers}"},
    ),
    Check(
        name="dates among the features",
        finds=_column_of_times,
        sentence=_TIMES + ", the same in fit and predict.",
        remedies={"": "{line}"},
    ),
    Check(
        name="objects that are dates",
        finds=_objects_that_are_times,
        sentence=(
            "Column {column!r} of X holds dates or durations, and the model takes "
            "numbers: {do}, the same in fit and predict."
        ),
        remedies={"": "{line}"},
    ),
    Check(
        name="numbers as text",
        finds=_numbers_as_text,
        sentence=(
            f"{_AS_TEXT} Does it hold numbers, or codes (zip codes, shops, sizes)?"
        ),
        remedies={
            "For numbers": "{plain}",
            "For percentages": "{percent}",
            "If commas separate thousands": "{thousands}",
            "If the comma is the decimal point": "{point}",
            "For codes": "{codes}",
        },
    ),
]
CHECKS_OF_COLUMNS = [
    Check(
        name="several columns that are not numbers",
        finds=_several_columns,
        sentence=_SEVERAL,
        remedies=_LINES_OF_SEVERAL,
    ),
    *CHECKS_OF_TYPES,
    Check(
        name="numbers as text in an array",
        finds=_text_in_array,
        sentence=("X has the text {text} in row {row} of column {column!r}, a number."),
        remedies={"": "X = numpy.array(X, dtype=float)"},
    ),
    Check(
        name="text among the features",
        finds=_text,
        sentence=_TEXT,
        remedies={"To drop it": "{drop}", "To encode it": "{encode}"},
    ),
    Check(
        name="number beyond the floats",
        finds=_huge_number,
        sentence="Column {column!r} of X holds a number beyond 1e308: scale it.",
    ),
]

# Why scikit-learn refused X ---------------------------------------------------------

#: Words of NumPy on texts, dicts and lists.
_NO_NUMBERS = ("could not convert", "real number", "with a sequence")


def _is_of_entries(error):
    """Whether an error of NumPy is about an entry."""
    return any(words in str(error) for words in _NO_NUMBERS)


def _other_order(given):
    is_other_order = "must be in the same order" in str(given.error)
    return {"error": given.error} if is_other_order else None


def _missing(given):
    place = None
    if "contains NaN" in str(given.error):
        place = first_missing(given.X)
    if place is None:
        return None
    row, column = place
    others = ""
    if hasattr(given.model, "rank"):
        others = "; StackingRanker and HistGradientBoostingRanker take them"
    fill = "imputer = sklearn.impute.SimpleImputer().fit(X)\nX = imputer.transform(X)"
    return {
        "row": row,
        "column": column,
        "others": others,
        "estimator": type(given.model).__name__,
        "fill": fill if given.is_fit else "",
    }


def _sequence(given):
    """Find the list or array that NumPy takes for a row."""
    return _other_object(given) if isinstance(given.error, ValueError) else None


def _other_object(given):
    """Find the first entry that is neither a number nor text."""
    if not _is_of_entries(given.error):
        return None
    for name, entries in all_columns(given.X):
        place = first_object(entries)
        if place is not None:
            row, entry = place
            return {
                "error": given.error,
                "entry": shown(entry, 80),
                "row": row,
                "column": name,
            }
    return None


_OBJECT = (
    "{error}\nThe first entry of X that is not a number is {entry}, in row {row} of "
    "column {column!r}."
)

#: Entries that an estimator could not read.
CHECKS_OF_FAILED_ENTRIES = [
    Check(
        name="dates that an estimator refuses",
        finds=_column_of_times_that_failed,
        sentence=_TIMES + ", the same in fit and predict.",
        remedies={"": "{line}"},
    ),
    Check(
        name="text that an estimator refuses",
        finds=_text_that_failed,
        sentence=_TEXT,
        remedies={"To drop it": "{drop}", "To encode it": "{encode}"},
    ),
    Check(
        name="sequences among the features",
        finds=_sequence,
        sentence=_OBJECT,
    ),
    Check(
        name="objects among the features",
        finds=_other_object,
        sentence=_OBJECT,
        raises=TypeError,
    ),
]
CHECKS_OF_X_THAT_FAILED = [
    Check(
        name="columns in another order",
        finds=_other_order,
        sentence="{error}Select them by name.",
        remedies={"": "X = X[list(model.feature_names_in_)]"},
    ),
    Check(
        name="NaN among the features",
        finds=_missing,
        sentence=(
            "Input X contains NaN, and {estimator} takes no missing values{others}.\n"
            "The first NaN of X is in row {row} of column {column!r}."
        ),
        remedies={
            "To fill it with the column's mean, in predict with the same imputer": (
                "{fill}"
            )
        },
    ),
    *CHECKS_OF_FAILED_ENTRIES,
]

# Columns of the fit -----------------------------------------------------------------


def _other_kind(given):
    """Find a column that held text in fit and holds numbers, or reverse.

    A column without any value is as in fit.
    """
    kinds_of_fit = getattr(given.model, "_column_kinds_", None)
    if kinds_of_fit is None:
        return None
    categories: dict = getattr(given.model, "_categories_of_fit", dict)()
    for j, kind in enumerate(kinds_of_columns(given.X)):
        if kind is None or kinds_of_fit[j] is None or kind == kinds_of_fit[j]:
            continue
        name, entries = all_columns(given.X)[j]
        if name in categories:  # the table CHECKS_OF_CATEGORIES
            continue
        if all(map(is_missing_entry, entries)):
            continue
        return {"column": name, "before": kinds_of_fit[j], "now": kind}
    return None


CHECKS_OF_COLUMNS_OF_FIT = [
    Check(
        name="another kind of column than in fit",
        finds=_other_kind,
        sentence=(
            "Column {column!r} of X held {before} in fit, but now holds {now}: give "
            "the columns of fit."
        ),
    ),
]


def _no_known_category(given):
    """Find a column that held text in fit, and now holds none of its values."""
    if given.is_text:
        return None
    entry = next(one for one in given.entries if not is_missing_entry(one))
    return {
        "column": given.column,
        "now": shown(entry, 40),
        "before": shown(min(given.known), 40),
    }


#: Given column, entries, is_text (whether it holds text) and known, the texts of fit.
CHECKS_OF_CATEGORIES = [
    Check(
        name="no known category",
        finds=_no_known_category,
        sentence=(
            "Column {column!r} of X held text or categories in fit, such as {before}, "
            "but now holds {now}, which is not among them: give the columns of fit."
        ),
    ),
]


def _no_index(given):
    """Find an X whose rows have no names."""
    if hasattr(given.X, "iloc"):
        return None
    return {"got": type(given.X).__name__}


CHECKS_OF_INDEX = [
    Check(
        name="rows without an index",
        finds=_no_index,
        sentence=(
            "as_frame=True names the ranks by the index of X: X must be a frame of "
            "pandas, got {got}. Without it ranks are in the order of the rows."
        ),
    ),
]
