"""Lines of remedies for tables, in the words of the library of the table."""

from itertools import chain

import numpy as np

from ._frames import column_names, is_frame
from ._kinds import kind_of


def line_to_pandas(name, table):
    """Return the line that makes a frame of pandas; "" where the table is one."""
    kind = kind_of(table)
    if kind == "pandas":
        return ""
    if kind == "arrow":
        return f"{name} = {name}.to_pandas()\n"
    if kind == "polars":
        return f"{name} = pandas.DataFrame({name}.to_dict(as_series=False))\n"
    return f"{name} = pandas.DataFrame({name})\n"


def line_to_drop(name, table, column):
    """Return the line that drops a column of a table."""
    kind = kind_of(table)
    if kind == "polars":
        return f"{name} = {name}.drop({column!r})"
    if kind == "arrow":
        return f"{name} = {name}.drop([{column!r}])"
    return f"{line_to_pandas(name, table)}{name} = {name}.drop(columns=[{column!r}])"


def line_to_rename(name, table, renamed):
    """Return the line that renames columns of a table, {old name: new name}."""
    if kind_of(table) == "polars":
        return f"{name} = {name}.rename({renamed})"
    return f"{line_to_pandas(name, table)}{name} = {name}.rename(columns={renamed})"


def line_to_assign(name, table, column, of_pandas, of_polars):
    """Return the line that replaces a column by an expression of each library.

    `of_pandas` and `of_polars` make them of the code of the old column.
    """
    if kind_of(table) == "polars":
        value = of_polars(f"polars.col({column!r})")
        return f"{name} = {name}.with_columns({value})"
    value = of_pandas(f"{name}[{column!r}]")
    to_frame = line_to_pandas(name, table)
    return f"{to_frame}{name} = {name}.assign(**{{{column!r}: {value}}})"


def line_without_item(name, orders, item):
    """Return the line that takes an item out of votes: orders, or a long table.

    None stands for missing entries. There is no line for orders with ties.
    """
    if "item" in column_names(orders):
        if kind_of(orders) == "polars":
            return f"{name} = {name}.filter(polars.col('item') != {item!r})"
        rows = f"{name}[{name}['item'] != {item!r}]"
        return f"{line_to_pandas(name, orders)}{name} = {rows}"
    rows = name
    to_frame = ""
    entries = orders
    if is_frame(orders):
        rows = f"{name}.to_numpy()"
        to_frame = line_to_pandas(name, orders)
        entries = [list(orders[column]) for column in column_names(orders)]
    for entry in chain.from_iterable(entries):
        if isinstance(entry, list | tuple | set | frozenset | np.ndarray):
            return ""
    tests = []
    if item is None or is_frame(orders):
        tests.append("pandas.notna(one)")
    if item is not None:
        tests.append(f"one != {item!r}")
    is_left = " and ".join(tests)
    return (
        f"{to_frame}{name} = [[one for one in order if {is_left}] for order in {rows}]"
    )
