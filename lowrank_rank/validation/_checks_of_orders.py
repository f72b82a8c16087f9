"""Faults of orders of items, best first."""

from itertools import chain

import numpy as np

from ..lists._lists import is_missing, plain
from ._arrays import column_names, is_frame
from ._check import Check
from ._columns import shown
from ._lines_of_tables import line_to_drop, line_without_item

#: Types of an entry that is a set of tied items.
TIED = (list, tuple, set, frozenset, np.ndarray)


def flat(order):
    """Iterate over the items of an order; a set is sorted, so that no hash decides."""
    for entry in order:
        if isinstance(entry, set | frozenset):
            yield from sorted(entry, key=repr)
        elif isinstance(entry, TIED):
            yield from entry
        else:
            yield entry


def is_name(entry, index_of):
    """Return whether an entry is the name of an item."""
    try:
        return index_of is not None and entry in index_of
    except TypeError:  # not hashable
        return False


# Names of items ---------------------------------------------------------------------


def _finds_no_names(given):
    try:
        for name in given.items:
            hash(name)
    except TypeError as error:
        return {"why": error}
    return None


def _finds_name_twice(given):
    known = set()
    for name in given.items:
        if name in known:
            return {"name": shown(name)}
        known.add(name)
    return None


def _finds_no_orders(given):
    return {"orders": shown(given.orders)} if not given.rows else None


def _finds_no_sequence(given):
    for q, order in enumerate(given.rows):
        is_unordered = isinstance(order, str | bytes | set | frozenset | dict)
        is_scalar = not hasattr(order, "__len__") or getattr(order, "shape", None) == ()
        if not is_unordered and not is_scalar:
            continue
        code = ""
        if isinstance(order, str) and all(isinstance(one, str) for one in given.rows):
            mark = next((mark for mark in (">", ",", "|", " ") if mark in order), "")
            if mark:
                code = f"orders = [order.split({mark!r}) for order in orders]"
                if given.items is None and given.n_items is None:
                    names = sorted(
                        {name for one in given.rows for name in one.split(mark)}
                    )
                    code += f"\nitems = {names}"
        return {"q": q, "order": shown(order), "code": code}
    return None


def _finds_empty_order(given):
    for q, order in enumerate(given.rows):
        if len(order) == 0:
            code = ""
            if isinstance(given.orders, list | tuple):
                code = "orders = [order for order in orders if len(order)]"
            return {"q": q, "code": code}
    return None


def _finds_empty_tie(given):
    for q, order in enumerate(given.rows):
        if isinstance(order, np.ndarray) and order.dtype != object:
            continue
        for entry in order:
            if not isinstance(entry, TIED) or is_name(entry, given.index_of):
                continue
            if len(entry) == 0:
                code = (
                    "orders = [\n"
                    "    [one for one in order if numpy.ndim(one) == 0 or len(one)]\n"
                    "    for order in orders]"
                )
                return {"q": q, "code": code}
    return None


#: Given items.
CHECKS_OF_NAMES_OF_ORDERS = [
    Check(
        name="names of items of orders",
        finds=_finds_no_names,
        sentence="items must be a sequence of hashable names: {why}.",
    ),
    Check(
        name="name of an item twice",
        finds=_finds_name_twice,
        sentence="items names {name} twice: names must be unique.",
    ),
]
#: Given orders, rows (a list of them), items, index_of (names) and n_items.
CHECKS_OF_ORDERS = [
    Check(
        name="no orders",
        finds=_finds_no_orders,
        sentence="orders must be a sequence of at least one order, got {orders}.",
    ),
    Check(
        name="order that is not a sequence",
        finds=_finds_no_sequence,
        sentence=(
            "Order {q} is {order}: each order is a sequence of items, best first, such "
            "as [2, 0, 1], or ['b', 'a'] with their names as items."
        ),
        remedies={"To split texts, write": "{code}"},
    ),
    Check(
        name="empty order",
        finds=_finds_empty_order,
        sentence="Order {q} is empty: it ranks nothing.",
        remedies={"To leave out such orders, write": "{code}"},
    ),
    Check(
        name="empty tie",
        finds=_finds_empty_tie,
        sentence="Order {q} contains an empty tie.",
        remedies={"To leave out such ties, write": "{code}"},
    ),
]


def _finds_missing_name(given):
    if not given.is_missing:
        return None
    return {"code": line_without_item("orders", given.orders, None)}


def _finds_unknown_name(given):
    if given.index_of is None:
        return None
    for q, names in enumerate(given.names):
        for name in names:
            if not is_name(name, given.index_of):
                return {
                    "q": q,
                    "name": shown(name),
                    "items": shown(list(given.index_of)),
                }
    return None


def _finds_other_type(given):
    item = given.item
    if item is None or (item.dtype.kind in "iu" and item.ndim == 1):
        return None
    code = ""
    entries = [entry for names in given.names for entry in names]
    if entries and all(isinstance(entry, str) for entry in entries):
        code = f"items = {sorted(set(entries))}"
    return {"last": given.n_items - 1, "type": item.dtype, "code": code}


def _finds_unknown_item(given):
    item = given.item
    is_unknown = (item < 0) | (item >= given.n_items)
    if not is_unknown.any():
        return None
    first = int(np.argmax(is_unknown))
    low = int(item.min())
    high = int(item.max())
    order = int(np.searchsorted(np.cumsum(given.lengths), first, side="right"))
    from_0 = without = more = ""
    has_ties = any(isinstance(entry, TIED) for row in given.rows for entry in row)
    is_flat = not has_ties and not is_frame(given.orders)
    if low == 1 and high == given.n_items and is_flat:
        from_0 = "orders = [[item - 1 for item in order] for order in orders]"
    elif low < 0 and is_flat:
        without = "orders = [[item for item in order if item >= 0] for order in orders]"
    elif low >= 0:
        more = f"n_items = {high + 1}"
    return {
        "q": order,
        "item": item[first],
        "last": given.n_items - 1,
        "from_0": from_0,
        "without": without,
        "more": more,
        "n_items": high + 1,
    }


def _finds_repeated_item(given):
    order = np.repeat(np.arange(len(given.lengths)), given.lengths)
    counts = np.bincount(order * given.n_items + given.item)
    if counts.max() < 2:
        return None
    q, i = divmod(int(np.argmax(counts > 1)), given.n_items)
    name = i if given.items is None else list(given.items)[i]
    return {"q": q, "name": shown(name), "n": counts[q * given.n_items + i]}


#: Given orders, rows, names (the items of each order), index_of, items, lengths,
#: n_items, and item (the index of each, an array); or is_missing.
CHECKS_OF_ITEMS_OF_ORDERS = [
    Check(
        name="missing name in orders",
        finds=_finds_missing_name,
        sentence=(
            "orders contain None or NaN, which is not an item: an order holds only "
            "what a vote ranks."
        ),
        remedies={"If it is a place that was left open": "{code}"},
    ),
    Check(
        name="unknown name in order",
        finds=_finds_unknown_name,
        sentence="Order {q} names {name}, which is not in items {items}.",
    ),
    Check(
        name="type of items of orders",
        finds=_finds_other_type,
        sentence=(
            "orders must hold item indices, integers 0..{last}, with ties in tuples, "
            "got {type}; or names, with items."
        ),
        remedies={"If these are all the names, write": "{code}"},
    ),
    Check(
        name="unknown item in order",
        finds=_finds_unknown_item,
        sentence="Order {q} names item {item}; the items are 0..{last}.",
        remedies={
            "If items are counted from 1, write": "{from_0}",
            "If a negative number fills up short orders, write": "{without}",
            "If there are {n_items} items, write": "{more}",
        },
    ),
    Check(
        name="item twice in order",
        finds=_finds_repeated_item,
        sentence="Order {q} names item {name} {n} times: name it once.",
    ),
]


# Names that no `items` confirm -------------------------------------------------------


def _finds_column_that_shares_no_item(given):
    """Find a column whose values are in no other column: ids, dates or districts.

    A column of one value is a place at which all voters name one item.
    """
    if not is_frame(given.orders):
        return None
    columns = column_names(given.orders)
    items_of = {}
    for name in columns:
        entries = flat(np.asarray(given.orders[name], dtype=object).tolist())
        items_of[name] = {item for item in entries if not is_missing(item)}
    for name in columns:
        others = (items_of[other] for other in columns if other != name)
        if len(items_of[name]) < 2 or not items_of[name].isdisjoint(chain(*others)):
            continue
        items = ""
        if len(given.names) < 20:
            items = f"items = {list(map(plain, given.names))}"
        first = next(item for item in given.names if item in items_of[name])
        return {
            "column": shown(name),
            "item": shown(first),
            "drop": line_to_drop("orders", given.orders, name),
            "items": items,
        }
    return None


def _finds_empty_name(given):
    """Find a name without a letter, of a place that was left open."""
    for name in map(plain, given.names):
        if isinstance(name, str) and not name.strip():
            code = line_without_item("orders", given.orders, name)
            return {"name": shown(name), "code": code}
    return None


#: Given orders, as they came, and names, the items in them; not asked with items.
CHECKS_OF_NAMES_IN_ORDERS = [
    Check(
        name="column that shares no item",
        finds=_finds_column_that_shares_no_item,
        sentence=(
            "No value of the column {column} of orders, such as {item}, is in another "
            "column: is it a place?"
        ),
        remedies={
            "If it is not": "{drop}",
            "If it is, and these are the items": "{items}",
        },
    ),
    Check(
        name="empty name in orders",
        finds=_finds_empty_name,
        sentence="orders contain the empty name {name}, which would be an item.",
        remedies={"If it marks a place that was left open": "{code}"},
    ),
]
