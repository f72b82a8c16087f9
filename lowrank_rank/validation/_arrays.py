"""Arrays and tables as users give them: types, numbers, finite values, data frames."""

import os
import re
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import compress, zip_longest
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import ArrayLike as ArrayLike
from .._typing import MatrixLike as MatrixLike
from ..lists._ids import plain
from ._columns import (
    DATES,
    first_object,
    first_text,
    is_missing_entry,
    kind_of_entries,
    lines_of_words,
    refuse_numbers_as_text,
    shown,
)

#: Names of a column, or a level of an index, of query ids; tables that are returned
#: have the first.
QUERY = ("qid", "query_id", "q_id")

#: Names of columns that hold ids or the number of the row: exact ones in any case, and
#: endings. "userId" is one; "hybrid", "GRID" and "Madrid" are none.
_ID_NAME = re.compile(
    r"(?i:id|index|level_\d+|unnamed: ?\d+|qid|query|question|topic|group|task|seed"
    r"|doc|docno|.*_id)|.*[a-z](Id|ID)"
)

#: Largest entry for which sums over a list, and over its pairs, stay finite.
LARGEST = 1e290


def check_unmasked(values, name):
    """Refuse a masked array in which something is masked: its mask would be ignored."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, and its mask would be ignored: drop the masked "
            f"rows, or pass {name}.filled(np.nan) if NaN is allowed."
        )


def without_string_dtype(values):
    """Convert NumPy's StringDType to objects, which NumPy and scikit-learn accept."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "T":
        return values.astype(object)
    return values


def n_rows(X):
    """Count the rows of X before it is checked; 1 if X is no table."""
    if getattr(X, "shape", ()):
        return X.shape[0]
    if isinstance(X, np.ndarray) or not hasattr(X, "__len__"):
        return 1
    return len(X)


def numbers(values, name):
    """Convert to floats of any shape; refuse ragged, masked and complex values."""
    check_unmasked(values, name)
    refuse_text_entries(values, name)
    try:
        array = np.asarray(values)
        if array.dtype == object and hasattr(values, "isna"):  # pandas: NA becomes NaN
            return values.to_numpy(np.float64, na_value=np.nan)
        if array.dtype.kind in "biufO":
            return array.astype(np.float64, copy=False)
    except (OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers: {error}.") from None
    kind = "complex ones" if array.dtype.kind == "c" else f"the type {array.dtype}"
    raise ValueError(f"{name} must be an array of numbers, got {kind}.")


def refuse_text_entries(values, name, what="be an array of numbers"):
    """Refuse text and dates among numbers; the message names the first text.

    The message says what the values must be.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # ragged values are refused where they are read
        return
    has_dates = array.dtype.kind in "mM"
    if array.dtype.kind == "O":
        has_dates = any(isinstance(entry, DATES) for entry in array.flat)
    if has_dates:
        raise ValueError(
            f"{name} must {what}, and holds dates or durations: make numbers of them "
            "(such as days since a date)."
        )
    if array.dtype.kind not in "OUTS":
        return
    place = first_text(array.ravel())
    if place is None:
        return
    index = np.unravel_index(place[0], array.shape)
    cell = f"{name}{[int(i) for i in index]}" if array.ndim else name
    text = shown(place[1])
    remedy = (
        "Map words to numbers first; pandas.to_numeric reads numbers that are text."
    )
    lines = ""
    if " " not in name:  # others are no expressions
        lines = lines_of_words(array.ravel(), values, name)
    if array.ndim == 0:
        remedy = f"Give the values of the rows, as frame[{text}]."
    elif lines:
        remedy = f"Give {lines}, whichever is better."
    elif array.ndim == 2 and "grades" in what:
        remedy += " Orders of names become grades by datasets.grades_from_orders."
    raise ValueError(f"{name} must {what}: {cell} is the text {text}. {remedy}")


def check_finite(array, name, largest=np.inf):
    """Return the array; refuse NaN and entries larger than `largest`.

    The message names the first place.
    """
    is_wrong = ~(np.abs(array) <= min(largest, np.finfo(np.float64).max))
    if not is_wrong.any():
        return array
    place = [int(i) for i in np.argwhere(is_wrong)[0]]
    bound = "" if largest > LARGEST else f", at most {largest:g}"
    raise ValueError(
        f"{name}{place} is {array[tuple(place)]:g}: it must be finite{bound}."
    )


def check_same_shape(dimensions=1, /, **arrays):
    """Refuse arrays of different shapes, or with more than `dimensions` dimensions."""
    shapes = [array.shape for array in arrays.values()]
    if len(set(shapes)) > 1 or not 1 <= len(shapes[0]) <= dimensions:
        names = ", ".join(arrays)
        words = ", ".join(map(str, shapes))
        raise ValueError(f"{names} must have one shape, got {words}.")


def check_size(what, n_bytes, remedy):
    """Refuse an array larger than the memory of the machine, before it is allocated."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on every system
        return
    if n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / 2**30:.4g} GiB, more than the "
            f"{memory / 2**30:.4g} GiB of this machine: {remedy}."
        )


# The range of the features ----------------------------------------------------------


def refuse_range(X=None, names=None):
    """Refuse features whose squares leave the floating range.

    The message names the column of the largest entry of X, if X is given.
    """
    column_words = ""
    if X is not None:
        is_sparse = sparse.issparse(X)
        entries = X.data if is_sparse else X.ravel()
        place = int(np.nanargmax(np.abs(entries)))
        column = int(X.indices[place]) if is_sparse else place % X.shape[1]
        if names is not None:
            column = names[column]
        column_words = (
            f"column {column!r} of X holds {entries[place]:g}. If this marks a missing "
            "value, make it NaN, and impute it or take boosted trees; else "
        )
    raise ValueError(
        f"The features are too large or too small: {column_words}bring them to one "
        "scale (StandardScaler)."
    )


def mean_square(X, degree=2, names=None):
    """Mean squared norm of the rows; refuses squares outside the floating range.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n, p)
        NaN is skipped.
    degree : int, default=2
        Degree of the products of features that must stay in the range.
    names : sequence of str or None, default=None
        Names of the columns, for messages.
    """
    entries = X.data if sparse.issparse(X) else X.ravel(order="K")
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(np.einsum("i,i->", entries, entries, dtype=np.float64))
        if np.isnan(total):
            total = float(np.nansum(np.square(entries, dtype=np.float64)))
    # Weighted sums of the products need room: not 1e308, but 1e300.
    power = 2.0 / degree
    if not total < 1e300**power:
        refuse_range(X, names)
    mean = total / max(X.shape[0], 1)
    if mean < 1e-300**power and np.any(entries):
        refuse_range()
    return mean


def check_range(X, model, degree=2):
    """Refuse features of a model with products out of the floating range."""
    mean_square(X, degree, getattr(model, "feature_names_in_", None))


def is_finite(values):
    """Whether a float array is finite; a finite array needs one pass and no copy."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values)
    return bool(np.isfinite(total)) or bool(np.isfinite(values).all())


# Tables -----------------------------------------------------------------------------


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


def is_frame(table):
    """Whether the columns have names: of a frame, Arrow table or structured array."""
    if hasattr(table, "columns"):
        return True
    return bool(_field_names(table))


def _field_names(array):
    """Names of the fields of a structured array; None for anything else."""
    return getattr(getattr(array, "dtype", None), "names", None)


def is_data_frame(X):
    """Whether X is a data frame of pandas or polars, with a type for each column."""
    # A library that was never imported has made no frame.
    libraries = (sys.modules.get(name) for name in ("pandas", "polars"))
    return any(
        isinstance(X, getattr(library, "DataFrame", ())) for library in libraries
    )


def check_same_index(**named):
    """Refuse pandas objects of equal length with different indices.

    Rows match by position. Refuses also a frame X that still has the column of the
    labels or of the query ids.
    """
    X: Any = named.get("X")
    if is_data_frame(X):
        names = column_names(X)
        _refuse_own_column(X, names, "y", named.get("y"), ())
        _refuse_own_column(X, names, "qid", named.get("qid"), QUERY)
    indices: dict[str, Any] = {}
    for name, values in named.items():
        index: Any = getattr(values, "index", None)
        if hasattr(index, "equals"):
            indices[name] = index
    first = next(iter(indices), "")
    for name, index in indices.items():
        first_index = indices[first]
        if len(index) != len(first_index) or index.equals(first_index):
            continue
        pairs = list(zip(map(repr, first_index), map(repr, index), strict=True))
        # Labels of different types may have the same text: then the first row is named.
        row = next((i for i, (one, two) in enumerate(pairs) if one != two), 0)
        one, two = pairs[row]
        raise ValueError(
            f"{first} and {name} have different indices (row {row}: {one} and {two}). "
            f"Align them, {name}.loc[{first}.index]; or if they match by position, or "
            "differ on purpose (permutation_test_score permutes y with its index), "
            f"give {name}.to_numpy()."
        )


def _refuse_own_column(X, names, argument, values, likely_names):
    """Refuse a column of X that equals an argument and has its name."""
    if hasattr(values, "name"):
        likely_names = [values.name]
    for name in likely_names:
        if name in names and np.array_equal(np.asarray(X[name]), values):
            raise ValueError(
                f"Column {name!r} of X is {argument}, and no feature: "
                f"X.drop(columns=[{name!r}])."
            )


def stacked(parts):
    """Stack arrays, sparse matrices or frames, one part below the other."""
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    if all(hasattr(part, "iloc") for part in parts):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])


def take_rows(X, rows):
    """Select rows of an array, list, sparse matrix, frame or series by their index."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        X = X.tocsr()  # some sparse formats have no rows to take
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in rows]


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


def refuse_same_names(columns, table):
    """Refuse a table with two columns of the same name."""
    if len(set(columns)) < len(columns):
        name = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(
            f"Two columns of {table} have the same name, {shown(name)}: rename or drop "
            "one."
        )


def check_table(X, takes_texts=False):
    """Refuse a dict or a Series as X, and a frame without columns or with one twice.

    A Series of texts or other objects passes if `takes_texts`.
    """
    if isinstance(X, Mapping) and not sparse.issparse(X):
        raise TypeError("X is a dict: give a table, such as pandas.DataFrame(X).")
    is_series = hasattr(X, "to_frame") and len(X.shape) == 1
    if is_series and not (takes_texts and np.asarray(X).dtype.kind == "O"):
        raise ValueError(
            "X is a Series, and must be a frame: give one row as frame.iloc[[0]], and "
            "one column as frame[['name']]."
        )
    if not is_data_frame(X):
        return
    names = column_names(X)
    if not names:
        raise ValueError("X has 0 feature(s): it is a frame without columns.")
    refuse_same_names(names, "X")


def is_id_name(column):
    """Whether the name of a column says that it holds ids or the number of the row."""
    return bool(_ID_NAME.fullmatch(str(column).strip()))


def refuse_id_columns(what, otherwise="", /, **tables):
    """Refuse frames of numbers in which a column is called as ids or row numbers are.

    The names decide, and never the numbers: rankings of few voters look like the number
    of the row. Keys of a dict, and columns of one array, are taken as they are.

    Parameters
    ----------
    what : str
        What each column must be, for the message: "a ranker".
    otherwise : str
        A further remedy, for the message.
    **tables : dict of str to frame
        Tables by their name in messages; anything without columns passes.
    """
    for name, table in tables.items():
        if not is_frame(table):
            continue
        for column in filter(is_id_name, column_names(table)):
            remedy = f"leave it out, or call it otherwise if it is {what}"
            if hasattr(table, "set_index"):  # pandas
                remedy = (
                    f"{name}.set_index({column!r}), {name}.drop(columns=[{column!r}]), "
                    f"or if it is {what}, {name}.rename(columns={{{column!r}: "
                    "'another name'})"
                )
            raise ValueError(
                f"The column {column!r} of {name} is called as ids or row numbers are, "
                f"and would be read as {what}: {remedy}.{otherwise}"
            )


def check_same_columns(**named):
    """Refuse two frames whose columns have other names, or another order.

    Arrays, and frames of one column, match any other.
    """
    names = {name: column_names(table) for name, table in named.items()}
    names = {name: columns for name, columns in names.items() if len(columns) > 1}
    if len(names) < 2:
        return
    (first, first_columns), *others = names.items()
    for name, columns in others:
        for j, (one, two) in enumerate(zip_longest(first_columns, columns)):
            if one != two:
                raise ValueError(
                    f"The columns of {name} should be those of {first}, in order: "
                    f"column {j} of {name} is {shown(two)}, not {shown(one)}. Select "
                    f"by name, or give {name}.to_numpy()."
                )


def check_same_labels(**named):
    """Refuse tables of rows with different indices or columns."""
    check_same_index(**named)
    check_same_columns(**named)


def by_label(values, labels, name):
    """Bring the entries of a Series into the order of labels.

    Anything without an index is returned as it is. Refuses an index that is not unique,
    lacks a label, or only numbers the entries 0, 1, ...
    """
    if not hasattr(getattr(values, "index", None), "get_indexer"):
        return values
    index = values.index
    labels = list(labels)
    is_default = list(index) == list(range(len(index)))
    lacks_labels = bool(set(labels) - set(index))
    names_nothing = is_default and set(index) != set(labels)
    if lacks_labels or names_nothing or not index.is_unique:
        raise ValueError(
            f"{name} is a Series with the index {shown(index[:5].tolist())}, read by "
            f"the labels {shown([plain(label) for label in labels[:5]])}: set these "
            f"labels as its index, or give {name}.to_numpy()."
        )
    return values.loc[labels]


def exact_scores(values):
    """Replace integers that floats cannot tell apart by their dense ranks.

    Other scores are returned unchanged.
    """
    with suppress(ValueError):  # ragged values are refused where they are read
        array = np.asarray(values)
        is_whole = array.dtype.kind in "iu"
        if array.dtype == object:
            is_whole = all(isinstance(one, Integral) for one in array.flat)
        if not is_whole or array.size == 0:
            return values
        # Floats of 64 bits have all integers up to 2**53.
        if max(-int(array.min()), int(array.max())) > 2**53:
            _, dense_ranks = np.unique(array, return_inverse=True)
            return dense_ranks.reshape(array.shape)
    return values


def refuse_dicts(X):
    """Refuse a list of dicts, the records of a table."""
    is_sequence = isinstance(X, list | tuple | np.ndarray)
    if is_sequence and len(X) and isinstance(X[0], Mapping):
        raise TypeError("X is a list of dicts: give a table, pandas.DataFrame(X).")


def refuse_dates(X):
    """Refuse a column of dates or durations: their numbers would depend on the unit."""
    names: list = [0]
    kinds: Any = [getattr(X, "dtype", None)]
    if is_data_frame(X):
        names = column_names(X)
        kinds = X.dtypes
    words = ("date", "time", "duration", "period")  # of pandas and of polars
    for name, kind in zip(names, kinds, strict=True):
        if str(kind).lower().startswith(words) or getattr(kind, "kind", "-") in "mM":
            raise ValueError(
                f"Column {name!r} of X has the type {kind}, and the model takes "
                "numbers: make numbers of it (such as days since a date), or drop it."
            )


def name_the_text(error, X):
    """Raise an error with the first place of the text that `error` quotes, if X has it.

    The column is a name if it has one, else an index. A column of dates is named too,
    and the first cell that is neither a number nor text, such as a list.
    """
    if isinstance(error, TypeError):
        refuse_dates(X)
    # Words of NumPy on texts, dicts and lists
    words = ("could not convert", "real number", "with a sequence")
    if not any(one in str(error) for one in words):
        return
    for name, column in _columns(X):
        for row, entry in enumerate(np.asarray(column, dtype=object)):
            if isinstance(entry, str) and repr(str(entry)) in str(error):
                try:
                    _refuse_text(X, name, column, row, str(entry))
                except ValueError as named:
                    raise named from error
    for name, column in _columns(X):
        place = first_object(np.asarray(column, dtype=object))
        if place is not None:
            row, entry = place
            raise type(error)(
                f"{error}\nThe first entry of X that is no number is "
                f"{shown(entry, 80)}, in row {row} of column {name!r}: drop the "
                "column, or make numbers of it."
            ) from None


def _columns(X):
    """Name or index, and entries, of each column of a table of two dimensions."""
    names = column_names(X) if is_frame(X) else []
    if names:
        return [(name, X[name]) for name in names]
    entries = np.asarray(X, dtype=object)
    return list(enumerate(entries.T)) if entries.ndim == 2 else []


def _refuse_text(X, name, column, row, text):
    """Refuse the text in a row of a column; numbers that are text have their remedy."""
    entries = np.asarray(column, dtype=object)
    is_frame_of_types = is_data_frame(X)
    if is_frame_of_types and kind_of_entries(entries) == "number as text":
        refuse_numbers_as_text(entries, name, is_polars=hasattr(X, "with_columns"))
    stack = "the frame as it is" if is_frame_of_types else "a data frame"
    raise ValueError(
        f"X has the text {shown(text)} in row {row} of column {name!r}, and the model "
        "takes numbers: drop it, encode it (OneHotEncoder in a pipeline), or, to rank, "
        f"give StackingRanker() {stack} (boosted trees take a category dtype)."
    )


def holds_objects(dtype):
    """Whether a type of NumPy, pandas or polars is of objects or of text."""
    if isinstance(dtype, np.dtype):
        return dtype.kind in "OUT"
    name = str(dtype).lower().partition("[")[0]
    return name in ("object", "str", "string", "large_string", "utf8")


def with_numbers(X):
    """Return X with floats in columns of objects that are numbers; refuse text.

    Missing entries become NaN. Other objects are left for scikit-learn to refuse.
    """
    if is_data_frame(X):
        return _frame_with_numbers(X)
    if not isinstance(X, np.ndarray | list | tuple):
        return X
    try:
        array = np.asarray(X)
    except ValueError:  # ragged rows are refused where they are read
        return X
    if array.dtype.kind not in "OUTS" or array.ndim != 2:
        return X
    # Objects of a list stay what they are: NumPy would make text of all its numbers.
    objects = np.asarray(X, dtype=object)
    place = first_text(objects.ravel())
    if place is not None:
        row, column = divmod(place[0], objects.shape[1])
        _refuse_text(X, column, objects[:, column], row, place[1])
    columns = [_floats_of(X, name, column) for name, column in enumerate(objects.T)]
    return np.column_stack(columns) if columns else X


def _frame_with_numbers(X):
    """Return a frame with floats in columns of objects that are numbers."""
    changed = {}
    for j, (name, dtype) in enumerate(zip(column_names(X), X.dtypes, strict=True)):
        if holds_objects(dtype):
            column = X[:, j] if hasattr(X, "with_columns") else X.iloc[:, j]
            changed[j] = _floats_of(X, name, column)
    if not changed:
        return X
    if hasattr(X, "with_columns"):  # polars
        names = column_names(X)
        return X.with_columns(**{names[j]: floats for j, floats in changed.items()})
    X = X.copy(deep=False)
    for j, floats in changed.items():
        X.isetitem(j, floats)
    return X


def _floats_of(X, name, column):
    """Return floats of a column of objects; the column if an object is no number."""
    entries = np.asarray(column, dtype=object)
    place = first_text(entries)
    if place is not None:
        _refuse_text(X, name, entries, *place)
    if kind_of_entries(entries) == "date":
        raise ValueError(
            f"Column {name!r} of X holds dates, and the model takes numbers: make "
            "numbers of it (such as days since a date), or drop it."
        )
    try:
        floats = [np.nan if is_missing_entry(one) else float(one) for one in entries]
    except OverflowError:
        raise ValueError(
            f"Column {name!r} of X holds a number beyond 1e308: scale it, or drop it."
        ) from None
    except (TypeError, ValueError):  # scikit-learn says what is wrong
        return entries
    return np.array(floats)


def kinds_of_columns(X):
    """List "numbers", "text" or None (unknown) for each column of a frame.

    Texts that are numbers, such as "10115", and missing values may be either.
    """
    kinds = []
    for name, dtype in zip(column_names(X), X.dtypes, strict=True):
        # Types of pandas and polars have no kind of NumPy's, or another.
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            kinds.append("numbers")
        else:
            kinds.append(_kind_of_first_text(np.asarray(X[name])))
    return kinds


def _kind_of_first_text(entries):
    """Return "numbers", or "text" if the first text is no number, else None."""
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


def refuse_other_kinds(X, kinds):
    """Refuse a column of a frame that held text in fit and holds numbers, or reverse.

    `kinds` are those of fit. A column without any value is as in fit.
    """
    names = column_names(X)
    for j, kind in enumerate(kinds_of_columns(X)):
        if kind is None or kinds[j] is None or kind == kinds[j]:
            continue
        _, column = list(_columns(X))[j]
        if kind == "numbers" and np.isnan(np.asarray(column, dtype=float)).all():
            continue
        raise ValueError(
            f"Column {plain(names[j])!r} of X held {kinds[j]} in fit, and now holds "
            f"{kind}: give the columns of fit."
        )


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
