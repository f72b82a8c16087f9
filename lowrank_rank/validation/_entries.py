"""Entries of the columns of a table: objects that are numbers, text, missing values."""

from contextlib import suppress
from itertools import compress

import numpy as np
from scipy import sparse

from ._columns import DATES, is_missing_entry
from ._frames import column_names, is_data_frame, is_frame


def holds_objects(dtype):
    """Whether a type of NumPy, pandas or polars is of objects or of text."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "OUTS"
    name = str(dtype).lower().partition("[")[0]
    return name in ("object", "str", "string", "large_string", "utf8")


def columns_of_objects(X):
    """List index, name and entries of the columns of X that are objects or text."""
    if is_data_frame(X):
        names = column_names(X)
        places = [j for j, dtype in enumerate(X.dtypes) if holds_objects(dtype)]
        return [(j, names[j], entries_of(X, j, dtype=object)) for j in places]
    if not isinstance(X, np.ndarray | list | tuple):
        return []
    try:
        array = np.asarray(X)
    except ValueError:  # ragged rows are refused where they are read
        return []
    if array.dtype.kind not in "OUTS" or array.ndim != 2:
        return []
    # Objects of a list stay what they are: NumPy would make text of all its numbers.
    columns = np.asarray(X, dtype=object).T
    return [(j, j, entries) for j, entries in enumerate(columns)]


def all_columns(X):
    """List name or index, and entries, of each column of a table of two dimensions."""
    names = column_names(X) if is_frame(X) else []
    if is_data_frame(X):
        return [(name, entries_of(X, j, dtype=object)) for j, name in enumerate(names)]
    if names:
        return [(name, np.asarray(X[name], dtype=object)) for name in names]
    try:
        entries = np.asarray(X, dtype=object)
    except ValueError:  # ragged
        return []
    return list(enumerate(entries.T)) if entries.ndim == 2 else []


def entries_of(X, j, dtype=None):
    """Entries of a column of an array, or of a frame, which may have a name twice."""
    column = X.iloc[:, j] if hasattr(X, "iloc") else X[:, j]
    return np.asarray(column, dtype=dtype)


def floats_of(entries):
    """Return objects as floats, missing ones as NaN; None if one is not a number."""
    if any(isinstance(one, (str, bytes, *DATES)) for one in entries):
        return None
    try:
        floats = [np.nan if is_missing_entry(one) else float(one) for one in entries]
    except (OverflowError, TypeError, ValueError):
        return None
    return np.array(floats)


def with_floats(X, columns):
    """Return X with floats, by index, instead of columns of objects."""
    if not columns:
        return X
    if not is_data_frame(X):
        return np.column_stack(list(columns.values()))
    if hasattr(X, "with_columns"):  # polars
        names = column_names(X)
        return X.with_columns(**{names[j]: floats for j, floats in columns.items()})
    X = X.copy(deep=False)
    for j, floats in columns.items():
        X.isetitem(j, floats)
    return X


def kinds_of_columns(X):
    """List "numbers", "text" or None (unknown) for each column of a frame.

    Texts that are numbers, such as "10115", and missing values may be either.
    """
    kinds = []
    for name, dtype in zip(column_names(X), X.dtypes, strict=True):
        # Types of pandas and polars do not have NumPy's `kind`, or mean another.
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            kinds.append("numbers")
        else:
            kinds.append(_kind_of_first_text(np.asarray(X[name])))
    return kinds


def _kind_of_first_text(entries):
    """Return "numbers", or "text" if the first text is not a number, else None."""
    if entries.dtype.kind in "biuf":
        return "numbers"
    text = next((entry for entry in entries if isinstance(entry, str)), None)
    if text is None:
        return None
    try:
        float(text)
    except ValueError:
        return "text"
    return None


def first_missing(table):
    """Row and column of the first NaN in a table of numbers, or None.

    The column is a name if it has one, else an index.
    """
    names = column_names(table) if is_frame(table) else []
    with suppress(TypeError, ValueError):
        if sparse.issparse(table):
            rows, columns, values = sparse.find(table)
            is_nan = np.isnan(values)
            rows = rows[is_nan]
            columns = columns[is_nan]
        elif hasattr(table, "isna"):  # pandas
            rows, columns = np.nonzero(table.isna().to_numpy())
        else:
            rows, columns = np.nonzero(np.isnan(np.asarray(table, dtype=np.float64)))
        if len(rows):
            column = int(columns[0])
            return int(rows[0]), names[column] if names else column
    return None


def without_empty_columns(X):
    """Put 0 into columns without any value.

    Trees cannot cut these into bins. Such a column is constant: no tree splits it, for
    any later values. Categories need nothing.
    """
    is_empty = _is_empty_column(X)
    if is_empty.all():
        raise ValueError("X has no value: it is NaN in every row and column.")
    if not is_empty.any():
        return X
    if not is_data_frame(X):
        return np.where(is_empty, X.dtype.type(0), X)
    is_number = [str(kind).lower()[:4] not in ("cate", "enum") for kind in X.dtypes]
    zeros = dict.fromkeys(compress(column_names(X), is_empty & is_number), 0.0)
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(**zeros)
    X = X.copy()
    X[list(zeros)] = 0.0
    return X


def _is_empty_column(X):
    """Whether each column of X has no value; False if X cannot have missing values."""
    if is_data_frame(X):
        if hasattr(X, "isna"):  # pandas
            return X.isna().to_numpy().all(axis=0)
        n_missing = X.fill_nan(None).null_count().row(0)
        return np.asarray(n_missing) == len(X)
    if isinstance(X, np.ndarray) and X.dtype.kind == "f":
        return np.isnan(X).all(axis=0)
    return np.zeros(1 + X.shape[1], dtype=bool)
