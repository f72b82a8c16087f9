"""Orders, as judges give them, to grades, as the rankers take them."""

import numpy as np


def grades_from_orders(orders, n_items=None, *, items=None):
    """Grades of the items, higher is better, from orders that name the items best first.

    The item at position p of an order that names m items has the grade m - p, so a full order
    gives r - rank; an item that is not named has NaN, not ranked.

    Parameters
    ----------
    orders : sequence of sequences of int, or of names
        Items best first, by index 0..r-1 or by name; orders may be of different lengths.
    n_items : int or None, default=None
        The number r of items; None is the number of `items`, or takes the longest order, which
        must then be full.
    items : sequence or None, default=None
        The names of the items in the order of the columns; None where orders hold indices.

    Returns
    -------
    ndarray of float, shape (n_orders, r)

    Raises
    ------
    ValueError
        If there is no order, or one is empty, names an item twice or one that does not exist.

    Examples
    --------
    >>> from lowrank_rank.datasets import grades_from_orders
    >>> grades_from_orders([[2, 0, 1], [1, 2]])
    array([[ 1.,  0.,  2.],
           [nan,  1.,  0.]])
    >>> grades_from_orders(["b>a>c".split(">")], items=["a", "b", "c"])
    array([[1., 2., 0.]])
    """
    orders = _sequences(orders)
    lengths = np.array([len(order) for order in orders], dtype=np.intp)
    row = np.repeat(np.arange(len(lengths)), lengths)
    if items is not None:
        number = {name: i for i, name in enumerate(items)}
        n_items = len(number) if n_items is None else n_items
        orders = [_numbered(q, order, number) for q, order in enumerate(orders)]
    indices = np.concatenate([np.asarray(order) for order in orders])
    r = int(lengths.max()) if n_items is None else int(n_items)
    if indices.dtype.kind not in "iu":
        raise ValueError(
            f"orders must hold item indices, integers 0..{r - 1}, got {indices.dtype}: give the "
            "names of the items as items=[...], and leave out what is not ranked."
        )
    _check_indices(indices, row, r)
    position = np.arange(len(indices)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    grades = np.full((len(lengths), r), np.nan)
    grades[row, indices] = lengths[row] - 1.0 - position
    return grades


def _sequences(orders):
    """The orders as a list of sequences, none of them empty."""
    orders = list(orders.to_numpy() if hasattr(orders, "to_numpy") else orders)
    for q, order in enumerate(orders):
        if isinstance(order, str | bytes) or not hasattr(order, "__len__"):
            raise ValueError(
                f"Order {q} is {order!r}: each order is a sequence of items, best first, such as "
                "[2, 0, 1]; split a text such as 'b>a>c' by its '>' and give items=[...]."
            )
        if len(order) == 0:
            raise ValueError(f"Order {q} is empty: leave out who ranks nothing.")
    if not orders:
        raise ValueError("orders must hold at least one order.")
    return orders


def _numbered(q, order, number):
    unknown = [name for name in order if name not in number]
    if unknown:
        raise ValueError(f"Order {q} names {unknown[0]!r}, which is none of items {list(number)}.")
    return [number[name] for name in order]


def _check_indices(indices, row, r):
    outside = (indices < 0) | (indices >= r)
    if outside.any():
        at = int(np.argmax(outside))
        hint = "give n_items, or leave out the item"
        if indices.min() == 1 and indices.max() == r:
            hint = "they seem to be counted from 1: subtract 1"
        elif indices.min() < 0:
            hint = "leave out what only fills up short orders"
        raise ValueError(
            f"Order {row[at]} names item {indices[at]}; the items are 0..{r - 1}: {hint}."
        )
    seen = np.zeros((row[-1] + 1, r), dtype=np.intp)
    np.add.at(seen, (row, indices), 1)
    if seen.max() > 1:
        q, i = (int(v) for v in np.argwhere(seen > 1)[0])
        raise ValueError(
            f"Order {q} names item {i} {seen[q, i]} times: an order names each item at most once."
        )
