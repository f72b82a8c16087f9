"""Tables of values: rows are queries or tasks, columns are measures or rankers."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ..validation._arrays import (
    check_finite,
    check_same_index,
    column_names,
    holds_numbers,
    is_frame,
    numbers,
    refuse_id_columns,
    refuse_same_names,
)
from ..validation._check import refuse
from ..validation._checks_of_tables import (
    CHECKS_OF_COLUMNS,
    CHECKS_OF_PAIRED_VALUES,
    CHECKS_OF_VALUES,
)


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
            refuse(
                CHECKS_OF_COLUMNS,
                name=name,
                values=values,
                names=names,
                expected=expected,
            )
            names = list(expected)
        if holds_numbers(values):
            columns = list(values[names].to_numpy(dtype=np.float64).T)
        else:
            columns = [
                numbers(values[column], f"{name}[{column!r}]") for column in names
            ]
        refuse(CHECKS_OF_COLUMNS, name=name, names=names, columns=columns)
        check_consistent_length(*columns)
        array = np.empty((0, 0))
        if columns:
            array = np.column_stack(columns)
    else:
        array = numbers(values, name)
        if array.ndim == 1:
            array = array[:, np.newaxis]
        names = [""] * len(array.T) if array.ndim else []
    refuse(CHECKS_OF_COLUMNS, name=name, values=values, array=array, expected=expected)
    # NaN is allowed. Squares of larger numbers overflow.
    check_finite(np.where(np.isnan(array), 0.0, array), name, 1e150)
    return names, array


def check_same_ids(people, judge):
    """Refuse structured arrays whose ids show that their rows are different queries."""
    refuse(CHECKS_OF_COLUMNS, people=people, judge=judge)


def read_values(table):
    """Read a table of values: a row for each query or task, a column for each ranker.

    Parameters
    ----------
    table : frame or dict of lists

    Returns
    -------
    names : list of str
        Names of the rankers.
    ids : ndarray of shape (n,) or None
        Index of a pandas frame.
    values : ndarray of shape (n, n_rankers)
    """
    columns = []
    if isinstance(table, dict) or is_frame(table):
        columns = column_names(table)
    refuse_same_names(columns, "the table of values")
    # A frame of numbers has no text, and one index.
    is_plain = bool(columns) and holds_numbers(table)
    if not is_plain:
        refuse(CHECKS_OF_VALUES, table=table, columns=columns)
    refuse_id_columns("a ranker", table=table)
    if not is_plain:
        check_same_index(**{f"table[{name!r}]": table[name] for name in columns})
    names, values = read_columns(table, "table")
    refuse(CHECKS_OF_PAIRED_VALUES, table=table, names=names, values=values)
    index = getattr(table[columns[0]], "index", None)
    ids = None
    if hasattr(index, "equals"):  # lists have a method `index`
        ids = np.asarray(index)
    return names, ids, values
