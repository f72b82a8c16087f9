"""Conversion of orders of items to grades."""

import re
from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import chain
from numbers import Number
from typing import Any

import numpy as np

from .._arrays import check_size, column_names, is_frame
from .._lists import is_missing
from .._parameters import check_parameter, count

_TIED = (list, tuple, set, frozenset, np.ndarray)

#: Names of columns that stand beside the items or places of a table of votes.
_BESIDE = re.compile(r"(voter|ballot|judge|weight|count)s?([ _]?id)?|id", re.IGNORECASE)


def grades_from_orders(
    orders: Any, n_items: int | None = None, *, items: Any = None
) -> np.ndarray:
    """Convert orders of items, best first, to grades, higher is better.

    The item at position p of an order of m items has the grade m - p, so a full order
    gives r - rank. Tied items share their mean position. Items without a position have
    NaN.

    Parameters
    ----------
    orders : sequence of sequences of int, or of names
        Items best first, by index 0..r-1 or by name; lengths may differ. A tie is a
        list, tuple, set or array within an order: ``[2, (0, 1)]``.
    n_items : int or None, default=None
        The number r of items; None is the number of `items`, or the length of the
        longest order.
    items : sequence or None, default=None
        The names of the items in the order of the columns; None if orders hold indices.
        A tuple that is a name is not a tie.

    Returns
    -------
    ndarray of float, shape (n_orders, r)
        Grades: the larger, the better.

    Raises
    ------
    ValueError
        If there is no order, an order is empty, or an item is unknown or named twice.

    Examples
    --------
    >>> from lowrank_rank.datasets import grades_from_orders
    >>> grades_from_orders([[2, 0, 1], [1, 2]])
    array([[ 1.,  0.,  2.],
           [nan,  1.,  0.]])
    >>> grades_from_orders(["b>a>c".split(">")], items=["a", "b", "c"])
    array([[1., 2., 0.]])
    >>> grades_from_orders([[2, (0, 1)]])
    array([[0.5, 0.5, 2. ]])
    """
    check_parameter("n_items", n_items, [count(), None])
    index_of = None
    if items is not None:
        try:
            index_of = {name: i for i, name in enumerate(check_unique(list(items)))}
        except TypeError as error:
            raise ValueError(
                f"items must be a sequence of hashable names: {error}."
            ) from None
    sequences = order_rows(orders)
    if not sequences:
        raise ValueError(
            f"orders must be a sequence of at least one order, got {orders!r}."
        )
    for q, order in enumerate(sequences):
        unordered = isinstance(order, str | bytes | set | frozenset | dict)
        if (
            unordered
            or not hasattr(order, "__len__")
            or getattr(order, "shape", None) == ()
        ):
            raise ValueError(
                f"Order {q} is {order!r}: each order is a sequence of items, best first, such as "
                "[2, 0, 1]; split a text such as 'b>a>c' at '>' and give items=[...]."
            )
        if len(order) == 0:
            raise ValueError(f"Order {q} is empty: remove voters who rank nothing.")
    read = [_read_order(q, one, index_of) for q, one in enumerate(sequences)]
    named, sizes = zip(*read, strict=True)
    lengths = np.array([len(order) for order in named])
    if n_items is None:
        n_items = int(lengths.max()) if index_of is None else len(index_of)
    check_size(
        "The grades", 8 * len(lengths) * n_items, "give fewer orders, or n_items"
    )
    indices = _check_indices(named, lengths, n_items)
    return tied_grades(lengths, np.concatenate(sizes), indices, n_items)


def named_grades(orders, items):
    """Grades of orders, and their items; without `items` those named, by first appearance."""
    orders = order_rows(orders)
    if items is None:
        entries = [
            one
            for one in chain.from_iterable(map(flat, orders))
            if isinstance(one, Hashable)
        ]
        if any(map(is_missing, entries)):
            raise ValueError(
                "orders contain None or NaN, which is no item: drop what a vote does not rank."
            )
        items = list(dict.fromkeys(entries))
    return grades_from_orders(orders, items=items), items


def check_unique(names):
    """Return names of items; refuse a name that is there twice."""
    first: dict = {}
    for i, name in enumerate(names):
        if first.setdefault(name, i) != i:
            raise ValueError(f"items names {name!r} twice: names must be unique.")
    return names


def order_rows(orders):
    """A list of orders; missing entries at the end of a row of a table only fill it up."""
    if not bool(np.iterable(orders)) or isinstance(orders, str | bytes | Mapping):
        return []
    if is_frame(orders):
        columns = check_item_columns(orders)
        places = [np.asarray(orders[name], dtype=object) for name in columns]
        orders = zip(*places, strict=True)
    elif getattr(orders, "ndim", 0) != 2 or np.asarray(orders).dtype.kind in "iu":
        return list(orders)
    rows = [list(row) for row in orders]
    for row in rows:
        while row and not isinstance(row[-1], _TIED) and is_missing(row[-1]):
            row.pop()
    return rows


def flat(order):
    """Iterate over the items of an order; a set is sorted, so that no hash decides."""
    for entry in order:
        if isinstance(entry, set | frozenset):
            yield from sorted(entry, key=repr)
        else:
            yield from entry if isinstance(entry, _TIED) else (entry,)


def check_item_columns(table, items=None):
    """Names of the columns that are `items`; without `items` all, refused if one is no item.

    Raises
    ------
    ValueError
        Naming a column of another type than the rest, or called as an id or weight.
    """
    columns = column_names(table)
    if items is not None:
        for name in items:
            if name not in columns:
                raise ValueError(
                    f"items names {name!r}, which is no column of orders, {columns}: items are "
                    "columns of a frame; give orders.to_numpy() to name them anew."
                )
        return [name for name in columns if name in list(items)]
    types = [_type_of(np.asarray(table[name])) for name in columns]
    # If two types are equally common, the items have the last one: ids come first.
    usual = next(iter(Counter(filter(None, reversed(types))).most_common(1)), [""])[0]
    for name, found in zip(columns, types, strict=True):
        if _BESIDE.fullmatch(str(name).strip()) or found not in ("", usual):
            raise ValueError(
                f"The column {name!r} of orders ({found or 'empty'}; most columns: {usual}) is no "
                f"item: use orders.drop(columns=[{name!r}]), or select by items=[...] with kind."
            )
    return columns


def _type_of(column):
    """The type of the entries of a column that are not missing."""
    entries = flat(column if column.dtype == object else column[column == column][:1])
    known = {str: "text", bool: "bool", Number: "numbers"}
    words = {
        next(
            (word for kind, word in known.items() if isinstance(one, kind)),
            type(one).__name__,
        )
        for one in entries
        if not is_missing(one)
    }
    return " and ".join(sorted(words))


def tied_grades(lengths, sizes, item, n_items):
    """Grades (n_orders, n_items) of concatenated orders, best first; NaN for items not in an order.

    `lengths` are the numbers of items of the orders, and `sizes` of the sets of tied
    items.
    """
    order = np.repeat(np.arange(len(lengths)), lengths)
    middles = np.cumsum(sizes) - (sizes - 1) / 2.0  # positions over all orders
    grades = np.full((len(lengths), n_items), np.nan)
    grades[order, item] = np.repeat(np.cumsum(lengths), lengths) - np.repeat(
        middles, sizes
    )
    return grades


def _read_order(q, order, index_of):
    """The indices of an order, best first, and the sizes of its blocks of ties."""

    def is_name(entry):
        try:
            return index_of is not None and entry in index_of
        except TypeError:  # not hashable
            return False

    items, sizes = order, np.ones(len(order), dtype=np.intp)
    has_objects = (
        not isinstance(order, np.ndarray) or order.ndim > 1 or order.dtype == object
    )
    if has_objects and any(isinstance(entry, _TIED) for entry in order):
        blocks = [
            list(entry) if isinstance(entry, _TIED) and not is_name(entry) else [entry]
            for entry in order
        ]
        if not all(blocks):
            raise ValueError(f"Order {q} contains an empty tie: remove it.")
        items = [item for block in blocks for item in block]
        sizes = np.array([len(block) for block in blocks])
    if index_of is None:
        return items, sizes
    for name in items:
        if not is_name(name):
            raise ValueError(
                f"Order {q} names {name!r}, which is not in items {list(index_of)}."
            )
    return [index_of[name] for name in items], sizes


def _check_indices(named, lengths, n_items):
    """Concatenate the items of all orders: integers of known items, each once in an order."""
    try:
        indices = np.concatenate([np.asarray(items) for items in named])
    except (ValueError, TypeError):  # ties within ties, types that cannot be mixed
        indices = np.array([None])
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise ValueError(
            f"orders must hold item indices, integers 0..{n_items - 1}, with ties in tuples, got "
            f"{indices.dtype}: give the names as items=[...], and omit items that are not ranked."
        )
    row = np.repeat(np.arange(len(lengths)), lengths)
    outside = (indices < 0) | (indices >= n_items)
    if outside.any():
        first = int(np.argmax(outside))
        hint = "give n_items, or leave out the item"
        if indices.min() == 1 and indices.max() == n_items:
            hint = "they seem to be counted from 1: subtract 1"
        elif indices.min() < 0:
            hint = "leave out the number that fills up short orders"
        raise ValueError(
            f"Order {row[first]} names item {indices[first]}; the items are 0..{n_items - 1}: "
            f"{hint}."
        )
    counts = np.bincount(row * n_items + indices)
    if counts.max() > 1:
        q, i = divmod(int(np.argmax(counts > 1)), n_items)
        raise ValueError(
            f"Order {q} names item {i} {counts[q * n_items + i]} times: name it once."
        )
    return indices
