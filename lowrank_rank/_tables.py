"""Tables that are handed out and taken in: data frames where pandas is there."""

import sys
from typing import Any

import numpy as np


def table_of(columns, index=None):
    """A pandas DataFrame of columns of one length, or without pandas a structured array.

    Parameters
    ----------
    columns : dict of str to ndarray
    index : str or None, default=None
        The column that is the index of a DataFrame; a structured array has it as a field.

    Returns
    -------
    DataFrame or structured ndarray
    """
    columns = {name: np.asarray(values) for name, values in columns.items()}
    try:
        import pandas as pd  # an optional dependency
    except ImportError:
        return _structured(columns)
    labels = None
    if index is not None:
        rest = {name: values for name, values in columns.items() if name != index}
        # ids that are tuples are labels of one level, not of several
        columns, labels = rest, pd.Index(columns[index], name=index, tupleize_cols=False)
    return pd.DataFrame(columns, index=labels)


def _structured(columns):
    n_rows = len(next(iter(columns.values())))
    table = np.empty(n_rows, dtype=[(name, values.dtype) for name, values in columns.items()])
    for name, values in columns.items():
        table[name] = values
    return table


def is_frame(table):
    """Whether it has named columns, as frames of pandas and polars and structured arrays do."""
    return hasattr(table, "columns") or getattr(getattr(table, "dtype", None), "names", None)


def is_data_frame(X):
    """Whether X is a data frame of pandas or polars, with a type for each column."""
    frames = (getattr(sys.modules.get(name), "DataFrame", ()) for name in ("pandas", "polars"))
    return any(isinstance(X, frame) for frame in frames)


def take_rows(X, rows):
    """Rows, by their indices, of an array, a list, a sparse matrix, a frame or a series."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def column_names(table):
    """Names of the columns of what `is_frame`."""
    return list(table.columns) if hasattr(table, "columns") else list(table.dtype.names)


def first_text(table):
    """Row, column and entry of the first text of a table that is no number, or None.

    The column is a name where it has one, else an index. Columns are looked at in turn.
    """
    names = column_names(table) if is_frame(table) else None
    entries = None if names else np.asarray(table, dtype=object)
    if entries is not None and entries.ndim != 2:
        return None
    columns: Any = entries.T if entries is not None else [table[name] for name in names or []]
    for j, column in enumerate(columns):
        for row, entry in enumerate(np.asarray(column, dtype=object)):
            if isinstance(entry, str) and not _is_number(entry):
                return row, names[j] if names else j, entry
    return None


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
