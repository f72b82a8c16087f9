"""Conversion of orders of items to grades."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from ..lists._ids import is_missing
from ..validation._arrays import (
    check_size,
    column_names,
    is_frame,
    shown,
)
from ..validation._check import refuse
from ..validation._checks_of_votes import CHECKS_OF_ITEM_COLUMNS
from ..validation._parameters import check_parameter, count

_TIED = (list, tuple, set, frozenset, np.ndarray)


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
        index_of = _index_items(items)
    rows = order_rows(orders)
    if not rows:
        raise ValueError(
            f"orders must be a sequence of at least one order, got {shown(orders)}."
        )
    for q, order in enumerate(rows):
        _check_order(q, order)
    indices = []  # of the items of each order, best first
    sizes = []  # of the sets of tied items of each order
    for q, order in enumerate(rows):
        order_indices, order_sizes = _read_order(q, order, index_of)
        indices.append(order_indices)
        sizes.append(order_sizes)
    lengths = np.array([len(order_indices) for order_indices in indices])
    if n_items is None:
        n_items = int(lengths.max())
        if index_of is not None:
            n_items = len(index_of)
    check_size(
        "The grades", 8 * len(lengths) * n_items, "give fewer orders, or n_items"
    )
    item = _check_indices(indices, lengths, n_items, items)
    return tied_grades(lengths, np.concatenate(sizes), item, n_items)


def named_grades(orders, items):
    """Convert orders of names to grades; return the items as well.

    Without `items` they are the names in the orders, by first appearance.
    """
    orders = order_rows(orders)
    if items is None:
        names: dict = {}
        for entry in chain.from_iterable(map(flat, orders)):
            if _is_hashable(entry):  # others are refused below
                if is_missing(entry):
                    raise ValueError(
                        "orders contain None or NaN, which is no item: drop what a "
                        "vote does not rank."
                    )
                names[entry] = None
        items = list(names)
    return grades_from_orders(orders, items=items), items


def _is_hashable(value):
    """Return whether a value has a hash; a tuple with a list has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _index_items(items):
    """Return the index of each name."""
    try:
        return {name: i for i, name in enumerate(check_unique(list(items)))}
    except TypeError as error:
        raise ValueError(
            f"items must be a sequence of hashable names: {error}."
        ) from None


def check_unique(names):
    """Return names of items; refuse a name that is there twice."""
    first: dict = {}
    for i, name in enumerate(names):
        if first.setdefault(name, i) != i:
            raise ValueError(f"items names {shown(name)} twice: names must be unique.")
    return names


def order_rows(orders):
    """Return a list of orders; missing entries at the end of a row are cut."""
    if not bool(np.iterable(orders)) or isinstance(orders, str | bytes | Mapping):
        return []
    if is_frame(orders):
        refuse(CHECKS_OF_ITEM_COLUMNS, name="orders", orders=orders)
        columns = column_names(orders)
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
        elif isinstance(entry, _TIED):
            yield from entry
        else:
            yield entry


def tied_grades(lengths, sizes, item, n_items):
    """Compute the grades of concatenated orders, best first.

    Parameters
    ----------
    lengths : ndarray of shape (n_orders,)
        Number of items of each order.
    sizes : ndarray of shape (n_sets,)
        Sizes of the sets of tied items; an item without a tie is a set.
    item : ndarray of shape (n_ranked,)
    n_items : int

    Returns
    -------
    ndarray of shape (n_orders, n_items)
        NaN for items that are not in an order.
    """
    order = np.repeat(np.arange(len(lengths)), lengths)
    # Positions count from 1 over all orders; tied items share their mean position.
    last_positions = np.cumsum(sizes)
    position = np.repeat(last_positions - (sizes - 1) / 2.0, sizes)
    # m - p, p counted from the start of the order
    order_ends = np.repeat(np.cumsum(lengths), lengths)
    grades = np.full((len(lengths), n_items), np.nan)
    grades[order, item] = order_ends - position
    return grades


def _check_order(q, order):
    """Refuse an order that is no sequence, or is empty."""
    is_unordered = isinstance(order, str | bytes | set | frozenset | dict)
    is_scalar = not hasattr(order, "__len__") or getattr(order, "shape", None) == ()
    if is_unordered or is_scalar:
        raise ValueError(
            f"Order {q} is {shown(order)}: each order is a sequence of items, best "
            "first, such as [2, 0, 1]; split a text such as 'b>a>c' at '>' and give "
            "items=[...]."
        )
    if len(order) == 0:
        raise ValueError(f"Order {q} is empty: remove voters who rank nothing.")


def _read_order(q, order, index_of):
    """Return the indices of an order, best first, and the sizes of its sets of ties."""
    items = order
    sizes = np.ones(len(order), dtype=np.intp)
    # The entries of an array of numbers need no look at each.
    is_flat = (
        isinstance(order, np.ndarray) and order.ndim <= 1 and order.dtype != object
    )
    if not is_flat and any(isinstance(entry, _TIED) for entry in order):
        sets = []
        for entry in order:
            is_tie = isinstance(entry, _TIED) and not _is_name(entry, index_of)
            sets.append(list(entry) if is_tie else [entry])
        if not all(sets):
            raise ValueError(f"Order {q} contains an empty tie: remove it.")
        items = [item for tied in sets for item in tied]
        sizes = np.array([len(tied) for tied in sets])
    if index_of is None:
        return items, sizes
    for name in items:
        if not _is_name(name, index_of):
            raise ValueError(
                f"Order {q} names {shown(name)}, which is not in items "
                f"{shown(list(index_of))}."
            )
    return [index_of[name] for name in items], sizes


def _is_name(entry, index_of):
    """Return whether an entry is the name of an item."""
    try:
        return index_of is not None and entry in index_of
    except TypeError:  # not hashable
        return False


def _check_indices(indices, lengths, n_items, items):
    """Concatenate the items of all orders; refuse unknown and repeated items.

    `items` are the names of the items, or None.
    """
    try:
        item = np.concatenate([np.asarray(order_indices) for order_indices in indices])
    except (ValueError, TypeError):  # ties within ties, types that cannot be mixed
        item = np.array([None])
    if item.dtype.kind not in "iu" or item.ndim != 1:
        raise ValueError(
            f"orders must hold item indices, integers 0..{n_items - 1}, with ties in "
            f"tuples, got {item.dtype}: give the names as items=[...], and omit items "
            "that are not ranked."
        )
    order = np.repeat(np.arange(len(lengths)), lengths)
    is_unknown = (item < 0) | (item >= n_items)
    if is_unknown.any():
        first = int(np.argmax(is_unknown))
        hint = "give n_items, or leave out the item"
        if item.min() == 1 and item.max() == n_items:
            hint = "they seem to be counted from 1: subtract 1"
        elif item.min() < 0:
            hint = "leave out the number that fills up short orders"
        raise ValueError(
            f"Order {order[first]} names item {item[first]}; the items are "
            f"0..{n_items - 1}: {hint}."
        )
    counts = np.bincount(order * n_items + item)
    if counts.max() > 1:
        q, i = divmod(int(np.argmax(counts > 1)), n_items)
        name = i if items is None else list(items)[i]
        raise ValueError(
            f"Order {q} names item {shown(name)} {counts[q * n_items + i]} times: name "
            "it once."
        )
    return item
