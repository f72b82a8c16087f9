"""Arrays and tables as users give them: types, numbers, finite values, data frames."""

import os
from contextlib import suppress
from itertools import zip_longest
from numbers import Integral

import numpy as np
from scipy import sparse

from .._typing import ArrayLike as ArrayLike
from .._typing import MatrixLike as MatrixLike
from ..lists._lists import plain
from ._check import refuse
from ._checks_of_ids import CHECKS_OF_ID_COLUMNS, CHECKS_OF_INDICES
from ._checks_of_labels import CHECKS_OF_VALUES
from ._columns import shown as shown
from ._entries import first_missing as first_missing
from ._entries import holds_objects as holds_objects
from ._entries import kinds_of_columns as kinds_of_columns
from ._entries import without_empty_columns as without_empty_columns
from ._findings import found
from ._frames import QUERY as QUERY
from ._frames import column_names as column_names
from ._frames import holds_numbers as holds_numbers
from ._frames import is_data_frame as is_data_frame
from ._frames import is_frame as is_frame
from ._frames import is_id_name as is_id_name
from ._frames import table_of as table_of
from ._frames import without_string_dtype as without_string_dtype

#: Largest entry for which sums over a list, and over its pairs, stay finite.
LARGEST = 1e290


def is_array(values):
    """Whether values are an array of numbers: there is nothing to convert."""
    return type(values) is np.ndarray and values.dtype.kind in "biuf"


def numbers(values, name, what="be an array of numbers"):
    """Convert to floats of any shape; refuse ragged, masked and complex values."""
    if is_array(values):
        return values.astype(np.float64, copy=False)
    refuse(CHECKS_OF_VALUES, value=values, name=name, what=what)
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
            "value, make it NaN, and impute it or use boosted trees; else "
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


# Rows -----------------------------------------------------------------------------


def n_rows(X):
    """Count the rows of X before it is checked; 1 if X is not a table."""
    if getattr(X, "shape", ()):
        return X.shape[0]
    if isinstance(X, np.ndarray) or not hasattr(X, "__len__"):
        return 1
    return len(X)


def take_rows(X, rows):
    """Select rows of an array, list, sparse matrix, frame or series by their index."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if sparse.issparse(X):
        X = X.tocsr()  # some sparse formats have no rows to take
    if hasattr(X, "shape"):
        return X[rows]
    return [X[i] for i in rows]


def stacked(parts):
    """Stack arrays, sparse matrices or frames, one part below the other."""
    if all(sparse.issparse(part) for part in parts):
        return sparse.vstack(parts, format="csr")
    if all(hasattr(part, "iloc") for part in parts):
        import pandas as pd

        return pd.concat(parts)
    return np.concatenate([np.asarray(part) for part in parts])


# Tables -----------------------------------------------------------------------------


def check_same_index(**named):
    """Refuse pandas objects of equal length with different indices.

    Rows match by position. Refuses also a frame X that still has the column of the
    labels or of the query ids.
    """
    indices = [getattr(values, "index", None) for values in named.values()]
    has_index = any(hasattr(index, "equals") for index in indices)
    if has_index or is_data_frame(named.get("X")):
        refuse(CHECKS_OF_INDICES, named=named)


def refuse_same_names(columns, table):
    """Refuse a table with two columns of the same name."""
    if len(set(columns)) < len(columns):
        name = next(column for column in columns if columns.count(column) > 1)
        raise ValueError(
            f"Two columns of {table} have the same name, {shown(name)}: rename or drop "
            "one."
        )


def refuse_id_columns(what, /, **tables):
    """Refuse frames of numbers in which a column holds ids or row numbers.

    Keys of a dict, and columns of one array, are taken as they are. A column that only
    has such a name gets a warning.

    Parameters
    ----------
    what : str
        What each column must be, for the message: "a ranker".
    **tables : dict of str to frame
        Tables by their name in messages; anything without columns passes.
    """
    for name, table in tables.items():
        if not is_frame(table):
            continue
        for column in filter(is_id_name, column_names(table)):
            refuse(
                CHECKS_OF_ID_COLUMNS, table=table, name=name, column=column, what=what
            )
        look_for_names_of_ids(table, name, what)


def look_for_names_of_ids(table, name, what):
    """Look for columns with names of ids that are read as something else."""
    if not is_frame(table):
        return
    for column in filter(is_id_name, column_names(table)):
        found(
            "named like ids",
            f"The column {column!r} of {name} is named like a column of ids, but is "
            f"read as {what}.",
            about=column,
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
            f"{name} is a Series with the index {shown(index[:5].tolist())}, but is "
            f"matched by the labels {shown([plain(label) for label in labels[:5]])}: "
            f"set these labels as its index, or give {name}.to_numpy()."
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
        # Floats of 64 bits represent all integers up to 2**53.
        if max(-int(array.min()), int(array.max())) > 2**53:
            _, dense_ranks = np.unique(array, return_inverse=True)
            return dense_ranks.reshape(array.shape)
    return values
