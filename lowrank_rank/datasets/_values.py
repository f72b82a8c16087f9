"""Tables of values: rows are queries or tasks, columns are measures or rankers."""

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._arrays import (
    check_finite,
    check_same_index,
    column_names,
    is_frame,
    numbers,
    plain,
)
from .._labels import QUERY
from ._trec import DOCUMENT

#: Names of columns that hold ids, in lower case.
IDS = {*QUERY, "query", "topic", *DOCUMENT, "doc"}


def read_columns(values, name, expected=()):
    """Names and values (n, k) of the columns of an array, a frame or a dict; ids are no column.

    Named columns come in the order of the `expected` names.
    """
    if is_frame(values) or isinstance(values, dict):
        names = [c for c in column_names(values) if str(c).lower() not in IDS]
        if any(expected) and set(names) != set(expected):
            raise ValueError(
                f"{name} has the columns {names}, and human {list(expected)}: give the same."
            )
        names = list(expected) if any(expected) else names
        columns = [numbers(values[column], f"{name}[{column!r}]") for column in names]
        check_consistent_length(*columns)
        array = np.column_stack(columns) if columns else np.empty((0, 0))
    else:
        array = numbers(values, name)
        array = array[:, np.newaxis] if array.ndim == 1 else array
        names = [""] * array.shape[-1]
    if array.ndim != 2 or not array.shape[1]:
        raise ValueError(
            f"{name} has the shape {array.shape}: give one value of each query, in columns."
        )
    check_finite(np.where(np.isnan(array), 0.0, array), name, 1e150)  # squares overflow
    return names, array


def check_same_ids(human, judge):
    """Refuse tables with a column of ids that says that their rows are not the same queries."""
    shared = set(column_names(human)) & set(column_names(judge))
    for column in (c for c in shared if str(c).lower() in IDS):
        if list(human[column]) != list(judge[column]):
            raise ValueError(
                f"The column {column!r} of human and judge differs: rows are matched by "
                "position. Sort both by their ids, and leave out the others."
            )


def check_no_ids(**tables):
    """Refuse frames of labels or scores with a column of ids."""
    for name, table in tables.items():
        names = column_names(table) if hasattr(table, "columns") else []
        if found := [column for column in names if str(column).lower() in IDS]:
            raise ValueError(
                f"{name} has a column {found[0]!r} of ids: give the values, {name}['...'], with "
                "qid=; or judgements and runs with columns 'qid', 'docno' and 'relevance' or "
                f"'score', {name}.rename(columns={{{found[0]!r}: ...}})."
            )


def read_values(table, unused):
    """Names of the rankers, ids of the rows and values of a table of values."""
    if useless := [name for name, value in unused.items() if value is not None]:
        raise ValueError(
            f"Without rankers, y_true is a table of values, and {useless[0]}= has no use: leave it "
            "out, or give rankers."
        )
    columns = column_names(table) if isinstance(table, dict) or is_frame(table) else []
    if len(set(columns)) < len(columns):
        raise ValueError(
            f"Two columns of the table of values have the same name: {columns}."
        )
    if not columns or any(np.ndim(table[name]) != 1 for name in columns):
        raise ValueError(
            "Give rankers, a dict of scores, models or runs; or as y_true a table of values, a "
            "frame or a dict of lists: a row for each query or task, a column for each ranker."
        )
    for name in columns:
        kind = np.asarray(table[name])
        text = kind.dtype.kind == "O" and any(isinstance(one, str) for one in kind)
        if text or kind.dtype.kind not in "biufO" or str(name).lower() in IDS:
            raise ValueError(
                f"The column {name!r} of the table of values holds text or ids, such as "
                f"{plain(kind[0])!r}. Columns are rankers, rows are tasks: "
                f"table.set_index({name!r}), table.T, or pivot(index='task', columns='ranker', "
                "values='value')."
            )
    check_same_index(**{f"y_true[{name!r}]": table[name] for name in columns})
    names, values = read_columns(table, "y_true")
    missing = np.isnan(values)
    if (lacking := missing & ~missing.all(axis=1, keepdims=True)).any():
        worst = int(np.argmax(lacking.sum(axis=0)))
        raise ValueError(
            f"{names[worst]!r} lacks a value in {lacking[:, worst].sum()} of {len(values)} rows in "
            "which others have one: table.dropna(), or table.fillna(0) if it counts as 0."
        )
    index = getattr(table[columns[0]], "index", None)
    return names, np.asarray(index) if hasattr(index, "equals") else None, values
