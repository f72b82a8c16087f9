"""Orders, as judges give them, to grades, as the rankers take them."""

import numpy as np


def grades_from_orders(orders, n_items=None):
    """Grades of the items, higher is better, from orders that name the items best first.

    The item at position p of an order that names m items has the grade m - p, so a full order
    gives r - rank; an item that is not named has NaN, not ranked.

    Parameters
    ----------
    orders : sequence of sequences of int
        Item indices 0..r-1, best first; orders may be of different lengths.
    n_items : int or None, default=None
        The number r of items; None takes the longest order, which must then be full.

    Returns
    -------
    ndarray of float, shape (n_orders, r)

    Raises
    ------
    ValueError
        If there is no order, or one names an item twice or one that does not exist.

    Examples
    --------
    >>> from lowrank_rank.datasets import grades_from_orders
    >>> grades_from_orders([[2, 0, 1], [1, 2]])
    array([[ 1.,  0.,  2.],
           [nan,  1.,  0.]])
    """
    lengths = np.array([len(order) for order in orders], dtype=np.intp)
    if len(lengths) == 0 or lengths.max() == 0:
        raise ValueError("orders must hold at least one order that names an item.")
    r = int(lengths.max()) if n_items is None else int(n_items)
    row = np.repeat(np.arange(len(lengths)), lengths)
    items = np.concatenate([np.asarray(order) for order in orders if len(order)])
    if items.dtype.kind not in "iu":
        raise ValueError(
            f"orders must hold item indices, integers 0..{r - 1}, got {items.dtype}: number the "
            "items."
        )
    outside = (items < 0) | (items >= r)
    if outside.any():
        at = int(np.argmax(outside))
        raise ValueError(
            f"Order {row[at]} names item {items[at]}; the items are 0..{r - 1}. Give n_items, or "
            "leave out the item."
        )
    seen = np.zeros((len(lengths), r), dtype=np.intp)
    np.add.at(seen, (row, items), 1)
    if seen.max() > 1:
        q, i = (int(v) for v in np.argwhere(seen > 1)[0])
        raise ValueError(
            f"Order {q} names item {i} {seen[q, i]} times: an order names each item at most once."
        )
    position = np.arange(len(items)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    grades = np.full((len(lengths), r), np.nan)
    grades[row, items] = lengths[row] - 1.0 - position
    return grades
