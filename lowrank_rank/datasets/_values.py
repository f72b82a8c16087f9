"""Tables of values: rows are queries or tasks, columns are measures or rankers."""

from itertools import chain

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..validation._arrays import (
    check_finite,
    check_same_index,
    column_names,
    is_frame,
    numbers,
    refuse_id_columns,
    refuse_same_names,
    shown,
)
from ..validation._columns import lines_of_words


def read_columns(values, name, expected=()):
    """Read the columns of an array, a frame or a dict; refuse columns of ids.

    A structured array has no index: its field "qid", as `per_query` returns it without
    pandas, is left out.

    Parameters
    ----------
    values : array-like, frame or dict
    name : str
        Name of the table in messages.
    expected : sequence of str
        Names that the columns must have; the columns are returned in their order.

    Returns
    -------
    names : list of str
        Names of the columns; "" for each column of an array.
    array : ndarray of shape (n, n_columns)
    """
    if is_frame(values) or isinstance(values, dict):
        names = column_names(values)
        refuse_same_names(names, name)
        if isinstance(values, np.ndarray) and "qid" in names:
            names.remove("qid")
        if isinstance(values, np.ndarray) and names:
            values = values[names]
        if names:
            refuse_id_columns("a measure", **{name: values})
        if any(expected):
            if set(names) != set(expected):
                raise ValueError(
                    f"{name} has the columns {shown(names)}, and human "
                    f"{shown(list(expected))}: give the same."
                )
            names = list(expected)
        columns = [numbers(values[column], f"{name}[{column!r}]") for column in names]
        _check_lengths(name, names, columns)
        array = np.empty((0, 0))
        if columns:
            array = np.column_stack(columns)
    else:
        array = numbers(values, name)
        if array.ndim == 1:
            array = array[:, np.newaxis]
        names = [""] * len(array.T) if array.ndim else []
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(
            f"{name} has the shape {array.shape}: give one value of each query, in "
            "columns."
        )
    if not expected:
        _check_rows(name, values, names, array)
    # NaN is allowed. Squares of larger numbers overflow.
    check_finite(np.where(np.isnan(array), 0.0, array), name, 1e150)
    return names, array


def _check_rows(table, values, names, array):
    """Refuse a table without rows."""
    if len(array):
        return
    remedy = ""
    if is_frame(values):
        remedy = ": did dropna() take all?"
    if is_frame(values) and len(names) > 1:
        remedy += f" {_line_for_unpaired(names, '.dropna()')}"
    raise ValueError(f"{table} has no rows{remedy}")


def _check_lengths(table, names, columns):
    """Refuse columns of different lengths."""
    lengths = [column.shape[:1] for column in columns]
    if len(set(lengths)) < 2:
        check_consistent_length(*columns)
        return
    other = next(j for j, length in enumerate(lengths) if length != lengths[0])
    two = [names[0], names[other]]
    counts = f"{shown(two[0], 40)} {columns[0].size}, {shown(two[1], 40)} "
    counts += str(columns[other].size)
    raise ValueError(
        f"Columns of {table} have different numbers of values ({counts}): a row is a "
        f"task, measured for each. {_line_for_unpaired(two)}"
    )


def _line_for_unpaired(names, of_column=""):
    """Return the line that compares two columns of values of different users."""
    one, other = (f"table[{name!r}]{of_column}" for name in names[:2])
    return (
        "If each row, such as a user, saw one system: "
        f"scipy.stats.ttest_ind({one}, {other}, equal_var=False)."
    )


def check_same_ids(human, judge):
    """Refuse structured arrays whose ids show that their rows are different queries."""
    for table in (human, judge):
        if not isinstance(table, np.ndarray) or "qid" not in column_names(table):
            return
    if list(human["qid"]) != list(judge["qid"]):
        raise ValueError(
            "The field 'qid' of human and judge differs: rows are matched by position. "
            "Sort both by their ids."
        )


def read_values(table, unused):
    """Read a table of values: a row for each query or task, a column for each ranker.

    Parameters
    ----------
    table : frame or dict of lists
    unused : dict
        Arguments that such a table leaves no use for; each must be None.

    Returns
    -------
    names : list of str
        Names of the rankers.
    ids : ndarray of shape (n,) or None
        Index of a pandas frame.
    values : ndarray of shape (n, n_rankers)
    """
    for argument, value in unused.items():
        if value is not None:
            raise ValueError(
                f"Without rankers, y_true is a table of values, and {argument}= has no "
                "use: leave it out, or give rankers. A judge of a table of values has "
                "its place in mean_intervals, also of differences."
            )
    columns = []
    if isinstance(table, dict) or is_frame(table):
        columns = column_names(table)
    refuse_same_names(columns, "the table of values")
    refuse_id_columns("a ranker", y_true=table)
    if not columns or any(np.ndim(table[name]) != 1 for name in columns):
        raise ValueError(
            "Give rankers, a dict of scores, models or runs; or as y_true a table of "
            "values, a frame or a dict of lists: a row for each query or task, a "
            "column for each ranker."
        )
    _refuse_words(table, columns)
    for name in columns:
        _check_values(name, np.asarray(table[name]))
    check_same_index(**{f"y_true[{name!r}]": table[name] for name in columns})
    names, values = read_columns(table, "y_true")
    _check_complete(names, values)
    index = getattr(table[columns[0]], "index", None)
    ids = None
    if hasattr(index, "equals"):  # lists have a method `index`
        ids = np.asarray(index)
    return names, ids, values


def _refuse_words(table, columns):
    """Refuse a table of two words, such as "yes" and "no"."""
    entries = chain.from_iterable(np.asarray(table[name]) for name in columns)
    lines = lines_of_words(entries, table, "table")
    if lines:
        raise ValueError(
            f"The table of values holds two words: {lines}, whichever is the success."
        )


def _check_values(name, column):
    """Refuse a column of text."""
    is_text = column.dtype.kind not in "biufO"
    if column.dtype.kind == "O":
        is_text = any(isinstance(value, str) for value in column)
    if not is_text:
        return
    texts = [value for value in column if isinstance(value, str)]
    example = ""
    if len(column):
        example = f", such as {shown([*texts, column[0]][0])}"
    raise ValueError(
        f"The column {name!r} of the table of values holds text or ids{example}. "
        f"Columns are rankers, rows are tasks: table.set_index({name!r}), table.T, or "
        "pivot(index='task', columns='ranker', values='value'). Marks of missing "
        f"values become NaN by pandas.to_numeric(table[{name!r}], errors='coerce')."
    )


def _check_complete(names, values):
    """Refuse a row in which some rankers have a value and others do not."""
    is_missing = np.isnan(values)
    lacks_value = is_missing & ~is_missing.all(axis=1, keepdims=True)
    if not lacks_value.any():
        return
    n_lacking = lacks_value.sum(axis=0)
    worst = int(np.argmax(n_lacking))
    remedy = "table.dropna(), or table.fillna(0) if it counts as 0."
    if is_missing.any(axis=1).all():
        remedy = "no row has all values, so nothing can be paired. "
        remedy += _line_for_unpaired(names, ".dropna()")
    raise ValueError(
        f"{names[worst]!r} lacks a value in {n_lacking[worst]} of {len(values)} rows "
        f"in which others have one: {remedy}"
    )
