"""Tables of any library, and the names of their columns."""

import re
import sys
from collections.abc import Mapping

import numpy as np

#: Names of a column, or a level of an index, of query ids; tables that are returned
#: have the first.
QUERY = ("qid", "query_id", "q_id")

#: Names of columns that hold ids or the number of the row: exact ones in any case, and
#: endings. "userId" is one; "hybrid", "GRID" and "Madrid" are not.
_ID_NAME = re.compile(
    r"(?i:id|index|level_\d+|unnamed: ?\d+|qid|query|question|topic|group|task|seed"
    r"|doc|docno|.*_id)|.*[a-z](Id|ID)"
)


def is_data_frame(X):
    """Whether X is a data frame of pandas or polars, with a type for each column."""
    # A library that was never imported cannot have made a frame.
    libraries = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(
        isinstance(X, getattr(library, "DataFrame", ())) for library in libraries
    )


def holds_numbers(X):
    """Whether X is a frame whose columns all have types of numbers of NumPy.

    They need no conversion, and its array has their common type.
    """
    if not is_data_frame(X):
        return False
    types = set(X.dtypes)
    return all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in types)


def is_frame(table):
    """Whether the columns have names: of a frame, Arrow table or structured array."""
    if hasattr(table, "columns"):
        return True
    return bool(_field_names(table))


def _field_names(array):
    """Names of the fields of a structured array; None for anything else."""
    return getattr(getattr(array, "dtype", None), "names", None)


def column_names(table):
    """List the names of the columns of a table; none for anything without names.

    A table is a frame, an Arrow table, a structured array or a mapping.
    """
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(table, "columns", None)
    names = getattr(table, "column_names", names)  # Arrow
    if names is None:
        names = _field_names(table)
    return [] if names is None else list(names)


def table_of(columns, index=None):
    """Make a pandas DataFrame of columns of equal length.

    Without pandas it is a structured array. `index` names a column for the index of the
    DataFrame, or for a field of the structured array.
    """
    columns = {name: np.asarray(values) for name, values in columns.items()}
    try:
        import pandas as pd  # an optional dependency
    except ImportError:
        dtype = np.dtype([(name, values.dtype) for name, values in columns.items()])
        return np.rec.fromarrays([*columns.values()], dtype=dtype).view(np.ndarray)
    if index is None:
        return pd.DataFrame(columns)
    # Ids may be tuples: they stay labels of one level.
    labels = pd.Index(columns.pop(index), name=index, tupleize_cols=False)
    return pd.DataFrame(columns, index=labels)


def without_string_dtype(values):
    """Convert NumPy's StringDType to objects, which NumPy and scikit-learn accept."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "T":
        return values.astype(object)
    return values


def is_id_name(column):
    """Whether the name of a column says that it holds ids or the number of the row."""
    return bool(_ID_NAME.fullmatch(str(column).strip()))


def holds_ids(table, name):
    """Whether a column with a name of ids holds ids, by its entries.

    Ids are text, or whole numbers beyond those of the other columns. A name alone says
    nothing: an item may be called "id".
    """
    return is_id_name(name) and is_beyond(table, name)


def is_beyond(table, name):
    """Whether a column holds no numbers, or whole ones beyond the other columns."""
    own = numbers_of_column(table, name)
    if own is None:
        return True
    if len(own) == 0 or np.any(own != np.round(own)):
        return False
    others = [
        numbers_of_column(table, other)
        for other in column_names(table)
        if other != name
    ]
    largest = [other.max() for other in others if other is not None and len(other)]
    return not largest or own.max() > max(largest)


def numbers_of_column(table, name):
    """Return the known numbers of a column, or None if it holds something else."""
    entries = np.asarray(table[name])
    if entries.dtype.kind == "O":
        try:
            entries = entries.astype(float)
        except (TypeError, ValueError):
            return None
    if entries.dtype.kind not in "fiub":
        return None
    return entries[entries == entries]  # NaN is not equal to itself


def name_of_level(values):
    """Name of the level of an index that holds query ids, or None."""
    levels = getattr(getattr(values, "index", None), "names", None) or ()
    for name in QUERY:
        if name in levels:
            return name
    return None


def lines_to_keep(arguments, mask=None):
    """List the lines of code that keep some rows of all arguments.

    Parameters
    ----------
    arguments : dict of str to object
        The arguments by name; those that are None have no line.
    mask : str or None, default=None
        Code of the rows to keep; by default those of labels that are not missing.
    """
    y = arguments.get("y")
    if mask is None:
        mask = "~numpy.isnan(numpy.asarray(y, dtype=float))"
        if hasattr(y, "notna"):  # pandas
            mask = "y.notna().to_numpy()"
        elif getattr(getattr(y, "dtype", None), "names", None):
            mask = "~numpy.isnan(y['y'])"
    lines = [f"is_kept = {mask}"]
    for name, values in arguments.items():
        if values is None:
            continue
        if type(values).__module__.startswith("polars"):
            lines.append(f"{name} = {name}.filter(is_kept)")
        elif hasattr(values, "shape"):
            lines.append(f"{name} = {name}[is_kept]")
        else:
            lines.append(f"{name} = numpy.asarray({name})[is_kept]")
    return lines
