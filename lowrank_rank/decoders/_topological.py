"""Graphs without cycles, by deletion of their smallest edges, and orders along them."""

import numpy as np

from ._preferences import ranks_from_orders, strong_components


def acyclic_edges(net):
    """Mask of the edges left when the fewest smallest ones are deleted."""
    n_lists, r = net.shape[:2]
    lists, tails, heads = np.nonzero(net > 0)
    weight = net[lists, tails, heads]
    by_weight = np.lexsort((weight, lists)) if n_lists > 1 else np.argsort(weight, kind="stable")
    lists, tails, heads = lists[by_weight], tails[by_weight], heads[by_weight]
    count = np.bincount(lists, minlength=n_lists)
    place = np.arange(len(lists)) - np.repeat(np.cumsum(count) - count, count)
    low, high = np.zeros(n_lists, dtype=np.intp), count  # the least number lies in low..high
    deleted = low  # "acyclic after deleting m edges" is monotone in m; m = 0 is tried first
    kept = np.arange(len(lists))
    while True:
        kept = kept[place[kept] >= deleted[lists[kept]]]
        in_cycle = strong_components((lists[kept], tails[kept], heads[kept]), (n_lists, r))[1]
        cyclic = in_cycle.any(axis=1)
        low, high = np.where(cyclic, deleted + 1, low), np.where(cyclic, high, deleted)
        deleted = (low + high) // 2
        open_lists = low < high
        if not open_lists.any():
            break
        kept = np.flatnonzero(open_lists[lists] & (place >= low[lists]))
    mask = np.zeros(net.shape, dtype=bool)
    kept = place >= high[lists]
    mask[lists[kept], tails[kept], heads[kept]] = True
    return mask


def dag_ranks(net):
    """Ranks by algorithm 1 of net preferences, or of the edges' weights, (n_lists, r, r)."""
    preference = net.sum(axis=2) - net.sum(axis=1)
    return ranks_from_orders(topological_orders(acyclic_edges(net), preference))


def topological_orders(edges, net):
    """Orders along acyclic edges that take the largest net preference that is free."""
    n_lists, r = net.shape
    before = edges.sum(axis=1)  # edges into each item from items that are not placed yet
    rows = np.arange(n_lists)
    left = net.copy()
    orders = np.empty((n_lists, r), dtype=np.intp)
    for position in range(r):
        item = np.argmax(np.where(before == 0, left, -np.inf), axis=1)
        orders[:, position] = item
        left[rows, item] = -np.inf
        before[rows, item] = -1  # never free again
        before -= edges[rows, item]
    return orders
