"""Algorithm 1: delete the smallest edges of a graph, then sort topologically."""

import numpy as np

from ..._lists import ranks_from_orders
from ._graphs import strong_components


def acyclic_edges(net):
    """Mask of the edges that stay if as few of the smallest as possible are deleted."""
    n_lists, r = net.shape[:2]
    lists, tails, heads = np.nonzero(net > 0)
    weight = net[lists, tails, heads]
    by_weight = np.lexsort((weight, lists))
    lists, tails, heads = lists[by_weight], tails[by_weight], heads[by_weight]
    count = np.bincount(lists, minlength=n_lists)
    place = np.arange(len(lists)) - np.repeat(np.cumsum(count) - count, count)
    # Bisection: a graph that is acyclic without m edges is acyclic without m + 1. Try m = 0 first.
    low, high = np.zeros(n_lists, dtype=np.intp), count
    deleted = low
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

    Three steps, each for the lists that the step before leaves open, avoid most of the work. If the
    order of the net scores violates no edge, it is the topological order that prefers larger
    scores. A topological sort finds the other acyclic lists. Only lists with a cycle need the
    deletion of edges.
    """
    scores, edges = net.sum(axis=2), net > 0
    orders = np.argsort(-scores, axis=1, kind="stable")
    ranks = ranks_from_orders(orders)
    violated = edges & (ranks[:, :, np.newaxis] > ranks[:, np.newaxis, :])
    left = np.flatnonzero(violated.any(axis=(1, 2)))
    if len(left):
        orders[left], has_cycle = topological_orders(edges[left], scores[left])
        left = left[has_cycle]
    if len(left):
        orders[left], _ = topological_orders(acyclic_edges(net[left]), scores[left])
    return ranks_from_orders(orders)


def topological_orders(edges, scores):
    """Topological orders that prefer larger scores, and a mask of the lists with a cycle.

    Parameters
    ----------
    edges : ndarray of bool, shape (n_lists, r, r)
    scores : ndarray of shape (n_lists, r)

    Returns
    -------
    orders : ndarray of int, shape (n_lists, r)
        Meaningless for lists with a cycle.
    has_cycle : ndarray of bool, shape (n_lists,)
        Lists in which no item was free at some position.
    """
    n_lists, r = scores.shape
    before = edges.sum(axis=1, dtype=np.int32)  # number of edges from items without a position
    first_row = r * np.arange(n_lists)
    edges = edges.reshape(-1, r)
    free = np.where(before == 0, scores, -np.inf)  # scores of the free items
    orders, largest = np.empty((2, r, n_lists))
    for position in range(r):
        item = free.argmax(axis=1)
        rows = first_row + item
        orders[position], largest[position] = item, free.take(rows)
        free.put(rows, -np.inf)
        after = edges.take(rows, axis=0)
        before -= after
        np.copyto(free, scores, where=after & (before == 0))
    return orders.T.astype(np.intp), (largest == -np.inf).any(axis=0)
