"""Arrays and tables as users give them: types, numbers, finite values, data frames."""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from itertools import compress, zip_longest
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse

from ._typing import ArrayLike as ArrayLike
from ._typing import MatrixLike as MatrixLike

#: Names of a column, or a level of an index, of query ids; tables that are returned
#: have the first.
QUERY = ("qid", "query_id", "q_id")

#: Largest entry for which sums over a list, and over its pairs, stay finite.
LARGEST = 1e290


def check_unmasked(values, name):
    """Refuse a masked array in which something is masked: its mask would be ignored."""
    if np.ma.is_masked(values):
        raise ValueError(
            f"{name} is a masked array, and its mask would be ignored: drop the masked rows, or "
            f"pass {name}.filled(np.nan) if NaN is allowed."
        )


def without_string_dtype(values):
    """Strings of NumPy's StringDType as objects, which all of NumPy and scikit-learn accept."""
    is_string = getattr(getattr(values, "dtype", None), "kind", "") == "T"
    return values.astype(object) if is_string else values


def plain(value):
    """A value for messages: a NumPy scalar becomes a Python one."""
    return value.item() if isinstance(value, np.generic) else value


def n_rows(X):
    """Number of rows of X before it is checked; 1 if X is no table."""
    if getattr(X, "shape", ()):
        return X.shape[0]
    return len(X) if hasattr(X, "__len__") and not isinstance(X, np.ndarray) else 1


def numbers(values, name):
    """Values as a float array of any shape; refuses ragged, masked and complex ones."""
    check_unmasked(values, name)
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


def check_finite(array, name, largest=np.inf):
    """Return the array; refuse NaN and entries larger than `largest`, with the first place."""
    wrong = ~(np.abs(array) <= min(largest, np.finfo(np.float64).max))
    if wrong.any():
        place = [int(i) for i in np.argwhere(wrong)[0]]
        bound = "" if largest > LARGEST else f", at most {largest:g}"
        raise ValueError(
            f"{name}{place} is {array[tuple(place)]:g}: it must be finite{bound}."
        )
    return array


def check_same_shape(dimensions=1, /, **arrays):
    """Refuse arrays of different shapes, or with more than `dimensions` dimensions."""
    shapes = [array.shape for array in arrays.values()]
    if len(set(shapes)) > 1 or not 1 <= len(shapes[0]) <= dimensions:
        got = ", ".join(map(str, shapes))
        raise ValueError(f"{', '.join(arrays)} must have one shape, got {got}.")


def check_size(what, n_bytes, remedy):
    """Refuse an array larger than the memory of the machine, before it is allocated."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # not on every system
        return
    if n_bytes > memory:
        raise ValueError(
            f"{what} would take {n_bytes / 2**30:.4g} GiB, more than the {memory / 2**30:.4g} GiB "
            f"of this machine: {remedy}."
        )


# The range of the features ----------------------------------------------------------


def refuse_range(X=None, names=None):
    """Refuse features with squares out of the floating range; the message names a column of X."""
    mark = ""
    if X is not None:
        entries = X.data if sparse.issparse(X) else X.ravel()
        at = int(np.nanargmax(np.abs(entries)))
        column = int(X.indices[at]) if sparse.issparse(X) else at % X.shape[1]
        mark = (
            f"column {column if names is None else names[column]!r} of X holds {entries[at]:g}. If "
            "this marks a missing value, make it NaN, and impute it or take boosted trees; else "
        )
    raise ValueError(
        f"The features are too large or too small: {mark}bring them to one scale (StandardScaler)."
    )


def mean_square(X, degree=2, names=None):
    """Mean squared norm of the rows; refuses features with squares out of the floating range.

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
    power = 2.0 / degree
    if not total < 1e300**power:  # weighted sums of the squares need room
        refuse_range(X, names)
    value = total / max(X.shape[0], 1)
    if value < 1e-300**power and np.any(entries):
        refuse_range()
    return value


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
    """A pandas DataFrame of columns of equal length; without pandas a structured array.

    `index` names a column for the index of the DataFrame, or for a field of the
    structured array.
    """
    columns = {name: np.asarray(values) for name, values in columns.items()}
    try:
        import pandas as pd  # an optional dependency
    except ImportError:
        dtype = np.dtype([(name, values.dtype) for name, values in columns.items()])
        return np.rec.fromarrays([*columns.values()], dtype=dtype).view(np.ndarray)
    labels = None
    if index is not None:
        rest = {name: values for name, values in columns.items() if name != index}
        # Ids may be tuples: they stay labels of one level.
        columns, labels = (
            rest,
            pd.Index(columns[index], name=index, tupleize_cols=False),
        )
    return pd.DataFrame(columns, index=labels)


def is_frame(table):
    """Whether a table has named columns: a frame or Arrow table, or a structured array."""
    return hasattr(table, "columns") or bool(
        getattr(getattr(table, "dtype", None), "names", None)
    )


def is_data_frame(X):
    """Whether X is a data frame of pandas or polars, with a type for each column."""
    frames = (
        getattr(sys.modules.get(name), "DataFrame", ()) for name in ("pandas", "polars")
    )
    return any(isinstance(X, frame) for frame in frames)


def check_same_index(**named):
    """Refuse pandas objects of equal length with different indices: rows match by position.

    Refuses also a frame X that still has the column of the labels or of the query ids.
    """
    X: Any = named.get("X")
    names = column_names(X) if is_data_frame(X) else []
    for given in ("y", "qid") if names else ():
        values: Any = named.get(given)
        likely = (
            [values.name] if hasattr(values, "name") else {"y": [], "qid": QUERY}[given]
        )
        for name in likely:
            if name in names and np.array_equal(np.asarray(X[name]), values):
                raise ValueError(
                    f"Column {name!r} of X is {given}, and no feature: X.drop(columns=[{name!r}])."
                )
    indices = {
        name: given.index
        for name, given in named.items()
        if hasattr(getattr(given, "index", None), "equals")
    }
    first = next(iter(indices), "")
    for name, index in indices.items():
        other = indices[first]
        if len(index) != len(other) or index.equals(other):
            continue
        pairs = list(zip(map(repr, other), map(repr, index), strict=True))
        row = next((i for i, (one, two) in enumerate(pairs) if one != two), 0)
        one, two = pairs[row]
        raise ValueError(
            f"{first} and {name} have different indices (row {row}: {one} and {two}). Align them, "
            f"{name}.loc[{first}.index]; or if they match by position, or differ on purpose "
            f"(permutation_test_score permutes y with its index), give {name}.to_numpy()."
        )


def slices(n_rows, size):
    """Slices of `size` rows, and of the rows that are left; without the checks of `gen_batches`."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def stacked(parts):
    """Rows of arrays, sparse matrices or frames, one part below the other."""
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    if all(hasattr(part, "iloc") for part in parts):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])


def take_rows(X, rows):
    """Select rows of an array, a list, a sparse matrix, a frame or a series by their indices."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    X = (
        X.tocsr() if sparse.issparse(X) else X
    )  # some sparse formats have no rows to take
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def column_names(table):
    """Names of the columns of a frame, an Arrow table, a structured array or a mapping, or []."""
    if isinstance(table, Mapping):
        return list(table)
    names = getattr(
        table, "column_names", getattr(table, "columns", None)
    )  # Arrow, frames
    names = (
        getattr(getattr(table, "dtype", None), "names", None)
        if names is None
        else names
    )
    return [] if names is None else list(names)


def check_same_columns(**named):
    """Refuse two frames whose columns have other names, or another order; arrays have no names."""
    names = {name: column_names(table) for name, table in named.items()}
    names = {name: columns for name, columns in names.items() if len(columns) > 1}
    (first, known), *others = names.items() if len(names) > 1 else [("", [])]
    for name, columns in others:
        for j, (one, two) in enumerate(zip_longest(known, columns)):
            if one != two:
                raise ValueError(
                    f"The columns of {name} should be those of {first}, in order: column {j} of "
                    f"{name} is {two!r}, not {one!r}. Select by name, or give {name}.to_numpy()."
                )


def check_same_labels(**named):
    """Refuse tables of rows with different indices or columns."""
    check_same_index(**named)
    check_same_columns(**named)


def by_label(values, labels, name):
    """Entries of a Series in the order of labels; anything without an index is returned as it is.

    Refuses an index that is not unique, lacks a label, or only numbers the entries 0,
    1, ...
    """
    if not hasattr(getattr(values, "index", None), "get_indexer"):
        return values
    index, labels = values.index, list(labels)
    numbered = list(index) == list(range(len(index)))
    lacking = set(labels) - set(index)
    if lacking or not index.is_unique or (numbered and set(index) != set(labels)):
        raise ValueError(
            f"{name} is a Series with the index {index[:5].tolist()}, read by the labels "
            f"{[plain(label) for label in labels[:5]]}: set these labels as its index, or "
            f"give {name}.to_numpy()."
        )
    return values.loc[labels]


def exact_scores(values):
    """Scores unchanged; integers that floats cannot tell apart become their dense ranks."""
    with suppress(ValueError):  # ragged values are refused where they are read
        array = np.asarray(values)
        is_object = array.dtype == object and all(
            isinstance(one, Integral) for one in array.flat
        )
        whole = (array.dtype.kind in "iu" or is_object) and array.size > 0
        if whole and max(-int(array.min()), int(array.max())) > 2**53:
            return np.unique(array, return_inverse=True)[1].reshape(array.shape)
    return values


def refuse_dates(X):
    """Refuse a column of dates or durations: their numbers would depend on the unit."""
    frame = is_data_frame(X)
    kinds = X.dtypes if frame else [getattr(X, "dtype", None)]
    for name, kind in zip(column_names(X) if frame else [0], kinds, strict=True):
        words = ("date", "time", "duration", "period")  # pandas and polars
        if str(kind).lower().startswith(words) or getattr(kind, "kind", "-") in "mM":
            raise ValueError(
                f"Column {name!r} of X has the type {kind}, and the model takes numbers: make "
                "numbers of it (such as days since a date), or drop it."
            )


def name_the_text(error, X):
    """Raise an error with the first place of the text that the `error` quotes, if it is in X.

    The column is a name if it has one, else an index. A column of dates is named too.
    """
    if isinstance(error, TypeError):
        refuse_dates(X)
    if "could not convert" not in str(error):
        return
    names = column_names(X) if is_frame(X) else None
    entries = np.zeros((0, 0)) if names else np.asarray(X, dtype=object)
    columns: Any = [X[name] for name in names or []] or (
        entries.T if entries.ndim == 2 else []
    )
    for j, column in enumerate(columns):
        for row, entry in enumerate(np.asarray(column, dtype=object)):
            if isinstance(entry, str) and repr(str(entry)) in str(error):
                raise ValueError(
                    f"X has the text {str(entry)!r} in row {row} of column "
                    f"{(names[j] if names else j)!r}, and the model takes numbers: drop it, encode "
                    "it (OneHotEncoder in a pipeline), or give StackingRanker() the frame as it is "
                    "(boosted trees take a category dtype)."
                ) from error


def without_empty_columns(X):
    """X with 0 in columns without any value, for trees, which cannot cut these into bins.

    Such a column is constant: no tree splits it, for any later values. Categories need
    nothing.
    """
    if is_data_frame(X):
        counts = (
            X.isna().sum()
            if hasattr(X, "isna")
            else X.fill_nan(None).null_count().row(0)
        )
        empty = np.asarray(counts) == len(X)
    else:
        is_dense = isinstance(X, np.ndarray) and X.dtype.kind == "f"
        empty = (
            np.isnan(X).all(axis=0)
            if is_dense
            else np.zeros(1 + X.shape[1], dtype=bool)
        )
    if empty.all():
        raise ValueError("X has no value: it is NaN in every row and column.")
    if not empty.any():
        return X
    if not is_data_frame(X):
        return np.where(empty, X.dtype.type(0), X)
    others = [str(kind).lower()[:4] not in ("cate", "enum") for kind in X.dtypes]
    zeros = dict.fromkeys(compress(column_names(X), empty & others), 0.0)
    if hasattr(X, "with_columns"):
        return X.with_columns(**zeros)
    X = X.copy()
    X[list(zeros)] = 0.0
    return X


def first_missing(table):
    """Row and column of the first NaN in a table of numbers, or None; the column as a name if it
    has one, else an index."""
    names = column_names(table) if is_frame(table) else None
    with suppress(TypeError, ValueError):
        if sparse.issparse(table):
            rows, columns, values = sparse.find(table)
            missing = np.isnan(values)
            rows, columns = rows[missing], columns[missing]
        elif hasattr(table, "isna"):  # pandas
            rows, columns = np.nonzero(table.isna().to_numpy())
        else:
            rows, columns = np.nonzero(np.isnan(np.asarray(table, dtype=np.float64)))
        if len(rows):
            return int(rows[0]), names[columns[0]] if names else int(columns[0])
    return None
