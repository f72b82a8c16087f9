"""Conversion of orders of items to grades."""

from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from ..lists._lists import is_missing
from ..validation._arrays import (
    check_size,
    column_names,
    is_frame,
)
from ..validation._check import refuse
from ..validation._checks_of_orders import (
    CHECKS_OF_ITEMS_OF_ORDERS,
    CHECKS_OF_NAMES_IN_ORDERS,
    CHECKS_OF_NAMES_OF_ORDERS,
    CHECKS_OF_ORDERS,
    TIED,
    flat,
    is_name,
)
from ..validation._checks_of_votes import CHECKS_OF_ITEM_COLUMNS
from ..validation._kinds import arrive
from ..validation._parameters import check_parameter, count
from ..validation._rules import look_for


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
    >>> from lowrank_rank.votes import grades_from_orders
    >>> grades_from_orders([[2, 0, 1], [1, 2]])
    array([[ 1.,  0.,  2.],
           [nan,  1.,  0.]])
    >>> grades_from_orders(["b>a>c".split(">")], items=["a", "b", "c"])
    array([[1., 2., 0.]])
    >>> grades_from_orders([[2, (0, 1)]])
    array([[0.5, 0.5, 2. ]])
    """
    arrive(orders=orders, items=items)
    check_parameter("n_items", n_items, [count(), None])
    index_of = None
    if items is not None:
        refuse(CHECKS_OF_NAMES_OF_ORDERS, items=items)
        index_of = {name: i for i, name in enumerate(items)}
    rows = order_rows(orders)
    refuse(
        CHECKS_OF_ORDERS,
        orders=orders,
        rows=rows,
        items=items,
        n_items=n_items,
        index_of=index_of,
    )
    names = []  # the items of each order, best first
    sizes = []  # of the sets of tied items of each order
    for order in rows:
        order_names, order_sizes = _read_order(order, index_of)
        names.append(order_names)
        sizes.append(order_sizes)
    lengths = np.array([len(order_names) for order_names in names])
    if n_items is None:
        n_items = int(lengths.max())
        if index_of is not None:
            n_items = len(index_of)
    check_size(
        "The grades", 8 * len(lengths) * n_items, "give fewer orders, or n_items"
    )
    item = _indices(names, index_of)
    order = np.repeat(np.arange(len(lengths)), lengths)
    if not _fits(item, order, n_items):
        refuse(
            CHECKS_OF_ITEMS_OF_ORDERS,
            orders=orders,
            rows=rows,
            names=names,
            item=item,
            index_of=index_of,
            items=items,
            lengths=lengths,
            n_items=n_items,
        )
    return tied_grades(lengths, np.concatenate(sizes), item, n_items)


def named_grades(orders, items):
    """Convert orders of names to grades; return the items as well.

    Without `items` they are the names in the orders, by first appearance.
    """
    rows = order_rows(orders)
    if items is None:
        names: dict = {}
        for entry in chain.from_iterable(map(flat, rows)):
            if _is_hashable(entry):  # others are refused below
                if is_missing(entry):
                    refuse(CHECKS_OF_ITEMS_OF_ORDERS, orders=orders, is_missing=True)
                names[entry] = None
        items = list(names)
        refuse(CHECKS_OF_NAMES_IN_ORDERS, orders=orders, names=items)
        look_for("marks of votes", items, "orders", orders)
    return grades_from_orders(rows, items=items), items


def _is_hashable(value):
    """Return whether a value has a hash; a tuple with a list has none."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


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
        while row and not isinstance(row[-1], TIED) and is_missing(row[-1]):
            row.pop()
    return rows


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


def _read_order(order, index_of):
    """Return the items of an order, best first, and the sizes of its sets of ties."""
    items = order
    sizes = np.ones(len(order), dtype=np.intp)
    # The entries of an array of numbers need no look at each.
    is_flat = (
        isinstance(order, np.ndarray) and order.ndim <= 1 and order.dtype != object
    )
    if not is_flat and any(isinstance(entry, TIED) for entry in order):
        sets = []
        for entry in order:
            is_tie = isinstance(entry, TIED) and not is_name(entry, index_of)
            sets.append(list(entry) if is_tie else [entry])
        items = [item for tied in sets for item in tied]
        sizes = np.array([len(tied) for tied in sets])
    return items, sizes


def _indices(names, index_of):
    """Return the index of each item of all orders; None or objects if one has none."""
    if index_of is not None:
        if not all(is_name(name, index_of) for order in names for name in order):
            return None
        names = [[index_of[name] for name in order] for order in names]
    try:
        return np.concatenate([np.asarray(order) for order in names])
    except (ValueError, TypeError):  # ties within ties, types that cannot be mixed
        return np.array([None])


def _fits(item, order, n_items):
    """Whether items are indices below `n_items`, each once in its order."""
    if item is None or item.dtype.kind not in "iu" or item.ndim != 1:
        return False
    if item.min() < 0 or item.max() >= n_items:
        return False
    return int(np.bincount(order * n_items + item).max()) == 1
