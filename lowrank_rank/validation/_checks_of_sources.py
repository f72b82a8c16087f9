"""Faults of sources of whole lists: chunks, memory maps, columns of Parquet files."""

from collections.abc import Iterable, Iterator

import numpy as np

from ._check import Check
from ._columns import shown

#: Likely names of the column of query ids or of grades, where it is missing.
_LIKELY = {
    "qid_column": ("qid", "query_id", "q_id", "query", "group", "session_id"),
    "y_column": ("y", "label", "relevance", "grade", "target", "rel"),
}


# The argument `source` --------------------------------------------------------------


def _finds_kind(given):
    if given.paths is not None or given.is_triple:
        return None
    if callable(given.source) or isinstance(given.source, Iterable):
        return None
    return {"source": shown(given.source)}


def _finds_two_formats(given):
    if len({path.suffix == ".parquet" for path in given.paths or []}) < 2:
        return None
    return {}


def _finds_feature_columns(given):
    columns = given.feature_columns
    if columns is None:
        return None
    others = (given.y_column, given.qid_column)
    distinct = [name for name in dict.fromkeys(columns) if name not in others]
    if columns and distinct == columns:
        return None
    return {"columns": columns, "code": f"feature_columns = {distinct or None}"}


#: Given source, paths (of files, or None), is_triple (whether source is three arrays),
#: and the names of columns.
CHECKS_OF_SOURCES = [
    Check(
        name="kind of source",
        finds=_finds_kind,
        sentence=(
            "source must be a path, a list of paths, a tuple (X, y, qid), an iterable "
            "of such tuples or a callable that returns one, got {source}."
        ),
        raises=TypeError,
    ),
    Check(
        name="two formats of files",
        finds=_finds_two_formats,
        sentence=(
            "Some files are Parquet and some are not: all files must have one format."
        ),
    ),
    Check(
        name="names of feature_columns",
        finds=_finds_feature_columns,
        sentence=(
            "feature_columns must name distinct columns beside y and qid, got "
            "{columns}."
        ),
        remedies={"": "{code}"},
    ),
]


def _finds_unreadable_array(given):
    if given.error is None:
        return None
    return {"part": given.part, "why": given.error}


def _finds_second_pass(given):
    if not isinstance(given.source, Iterator) or given.n_passes < 2:
        return None
    return {}


def _finds_no_rows(given):
    return {"name": given.name} if given.n_blocks == 0 else None


def _finds_list_again(given):
    if given.again is None:
        return None
    code = ""
    if given.is_array:
        code = (
            "order = numpy.argsort(source[2], kind='stable')\n"
            "source = tuple(numpy.asarray(part)[order] for part in source)"
        )
    return {"list": shown(given.again), "place": given.place, "code": code}


#: Given source and n_passes; part (a path) and error; name and n_blocks; or again (an
#: id), place (of its row) and is_array (whether the source is three arrays).
CHECKS_OF_PASSES = [
    Check(
        name="unreadable array",
        finds=_finds_unreadable_array,
        sentence="{part} is not a readable .npy file: {why}.",
    ),
    Check(
        name="second pass over an iterator",
        finds=_finds_second_pass,
        sentence="An iterator can be read only once.",
        remedies={
            "Before iter_lists, if the chunks fit into memory, write": (
                "source = list(source)"
            )
        },
    ),
    Check(
        name="no rows in source",
        finds=_finds_no_rows,
        sentence="{name} contains no rows.",
    ),
    Check(
        name="list comes again",
        finds=_finds_list_again,
        sentence=(
            "The list {list} is also at {place}, after rows of other lists. The rows "
            "of a list must be together."
        ),
        remedies={"If equal ids mean one list, write": "{code}"},
    ),
]


# Chunks -----------------------------------------------------------------------------


def _finds_no_triple(given):
    try:
        _, _, _ = given.chunk
    except (TypeError, ValueError):
        return {"type": type(given.chunk).__name__}
    return None


def _finds_dimensions(given):
    if given.X is None or given.X.ndim == 2:
        return None
    code = ""
    if given.is_source and given.X.ndim == 1:
        code = "source = (numpy.reshape(source[0], (-1, 1)), *source[1:])"
    return {"shape": given.X.shape, "code": code}


def _finds_other_features(given):
    if given.before is None or given.before[0].shape[1] == given.X.shape[1]:
        return None
    return {"n": given.X.shape[1], "n_before": given.before[0].shape[1]}


#: Given chunk, X (its features, once they are an array), before (the chunk before), and
#: is_source (whether the chunk is all of the source).
CHECKS_OF_CHUNKS = [
    Check(
        name="parts of a chunk",
        finds=_finds_no_triple,
        sentence="Each chunk must be a triple (X, y, qid), got {type}.",
    ),
    Check(
        name="dimensions of a chunk",
        finds=_finds_dimensions,
        sentence="X of each chunk must have two dimensions, got shape {shape}.",
        remedies={"If X is one feature, write": "{code}"},
    ),
    Check(
        name="features of chunks",
        finds=_finds_other_features,
        sentence="A chunk of {n} features follows one of {n_before}.",
    ),
]


# Parquet files ----------------------------------------------------------------------


def _finds_no_column(given):
    if given.columns is None:
        return None
    names = {"y_column": given.y_column, "qid_column": given.qid_column}
    for argument, name in names.items():
        if name not in given.columns:
            likely = [one for one in _LIKELY[argument] if one in given.columns]
            code = f"{argument} = {likely[0]!r}" if likely else ""
            return _column_lacks(given, name, argument, code)
    for name in given.feature_columns or []:
        if name not in given.columns:
            return _column_lacks(given, name, "feature_columns", "")
    return None


def _column_lacks(given, name, argument, code):
    """Return the words of a column that a file lacks."""
    return {
        "path": given.path,
        "name": name,
        "columns": shown(given.columns[:10]),
        "argument": argument,
        "code": code,
    }


def _finds_column_twice(given):
    for name in given.columns or []:
        if given.columns.count(name) > 1:
            return {"path": given.path, "name": name}
    return None


def _finds_other_columns(given):
    if given.first is None or set(given.features) == set(given.features_of_first):
        return None
    shared = [name for name in given.features_of_first if name in given.features]
    code = f"feature_columns = {shared}" if shared else ""
    return {"path": given.path, "first": given.first, "code": code}


def _finds_value(given):
    if given.fits is None or given.fits.all():
        return None
    row = int(np.argmin(given.fits))
    value = given.values[row]
    value = value.item() if isinstance(value, np.generic) else value
    others = [name for name in given.features if name != given.name]
    without = to_floats = ""
    if given.name in given.features and others:
        without = f"feature_columns = {others}"
    if given.dtype.kind in "iu" and isinstance(value, float):
        to_floats = "dtype = numpy.float64"
    return {
        "path": given.path,
        "name": given.name,
        "row": given.first_row + row,
        "value": value,
        "dtype": given.dtype.name,
        "without": without,
        "to_floats": to_floats,
    }


def _finds_unreadable(given):
    if given.error is None:
        return None
    return {"path": given.path, "why": given.error}


#: Given path, and error; columns (all names) and the arguments with names of columns;
#: features, first (the first file) and features_of_first; or name, values and fits
#: (which of the values dtype can represent), first_row and dtype.
CHECKS_OF_PARQUET = [
    Check(
        name="unreadable Parquet file",
        finds=_finds_unreadable,
        sentence="{path} is not a readable Parquet file: {why}.",
    ),
    Check(
        name="no such column of Parquet file",
        finds=_finds_no_column,
        sentence=(
            "{path} has no column {name!r}, only {columns}. The argument {argument} "
            "names it."
        ),
        remedies={"If this is the column, write": "{code}"},
    ),
    Check(
        name="column twice in Parquet file",
        finds=_finds_column_twice,
        sentence=(
            "{path} has two columns {name!r}: each column must have a name of its own."
        ),
    ),
    Check(
        name="other columns in Parquet file",
        finds=_finds_other_columns,
        sentence="{path} does not have the same columns as {first}.",
        remedies={"To read the columns that both have, write": "{code}"},
    ),
    Check(
        name="value of Parquet column",
        finds=_finds_value,
        sentence=(
            "{path}, column {name!r}, row {row}: {value!r} is not of the type {dtype}."
        ),
        remedies={
            "To leave out the column, write": "{without}",
            "For features of floats, write": "{to_floats}",
        },
    ),
]
