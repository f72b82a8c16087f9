"""Algorithm 1: deletion of the smallest edges of a graph, and orders along those left."""

import numpy as np

from ..._lists import ranks_from_orders
from ._graphs import strong_components


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
    left = place >= high[lists]
    mask[lists[left], tails[left], heads[left]] = True
    return mask


def dag_ranks(net):
    """Ranks by algorithm 1 of net preferences (n_lists, r, r).

    Edges are sorted only in lists that have a cycle. If the order of the net scores violates no
    edge, it is the preferred topological order. If all pairs have an edge, it is the only
    topological order.
    """
    scores = net.sum(axis=2)
    orders = np.argsort(-scores, axis=1, kind="stable")
    ranks, edges = ranks_from_orders(orders), net > 0
    against = edges & (ranks[:, :, np.newaxis] > ranks[:, np.newaxis, :])
    left = np.flatnonzero(against.any(axis=(1, 2)))
    if not len(left):
        return ranks
    edges = edges[left]
    edges_from = np.count_nonzero(edges, axis=2)
    orders[left] = np.argsort(-edges_from, axis=1, kind="stable")
    is_partial = np.any(np.sort(edges_from, axis=1) != np.arange(net.shape[1]), axis=1)
    left = left[is_partial]
    if len(left):
        orders[left], has_cycle = topological_orders(edges[is_partial], scores[left])
        left = left[has_cycle]
    if len(left):
        orders[left], _ = topological_orders(acyclic_edges(net[left]), scores[left])
    return ranks_from_orders(orders)


def topological_orders(edges, scores):
    """Orders along edges that take the largest score that is free, and which lists have a cycle.

    Parameters
    ----------
    edges : ndarray of bool, shape (n_lists, r, r)
    scores : ndarray of shape (n_lists, r)

    Returns
    -------
    orders : ndarray of int, shape (n_lists, r)
        The result is meaningless for a graph with a cycle.
    has_cycle : ndarray of bool, shape (n_lists,)
        Where items were left of which none was free.
    """
    n_lists, r = scores.shape
    before = edges.sum(axis=1, dtype=np.int32)  # edges from items that are not placed yet
    of_list = r * np.arange(n_lists)
    edges = edges.reshape(-1, r)
    left = np.where(before == 0, scores, -np.inf)  # the scores of the free items
    flat, orders = left.ravel(), np.empty((r, n_lists), dtype=np.intp)  # a view, for it is new
    largest = np.empty((r, n_lists))  # -inf where none is free
    for position in range(r):
        item = left.argmax(axis=1, out=orders[position])
        row = of_list + item
        flat.take(row, out=largest[position], mode="clip")  # "raise" would buffer
        flat[row] = -np.inf
        after = edges.take(row, axis=0)
        before -= after
        after &= before == 0
        np.copyto(left, scores, where=after)
    return orders.T, (largest == -np.inf).any(axis=0)
