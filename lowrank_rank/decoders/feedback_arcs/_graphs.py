"""Preferences u_ij between the items of a list, as graphs and as costs of orders.

The cost of an order is ``sum_{i != j} u_ij [rank(i) > rank(j)]``, the weight of the
preferences that it violates. Up to a constant it depends on the net preferences
``u_ij - u_ji`` alone. The graph of a list has the edge i -> j of this weight if the
weight is positive. The edges that an order of least cost violates are a feedback arc
set of least weight.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...lists._ranks import ranks_from_orders
from ...validation._arrays import ArrayLike, numbers
from ...validation._check import refuse
from ...validation._checks_of_decoders import CHECKS_OF_PREFERENCES
from ...validation._kinds import arrive
from ...validation._parameters import check_parameter, count
from .._decoded import checked_vectors, compared_ranks


def check_preference_matrices(u):
    """Check preferences, finite floats of shape (n_lists, r, r).

    Raises
    ------
    ValueError
        Naming the list that does not fit.
    """
    arrive(u=u)
    u = numbers(u, "Preferences (lists of one length at a time)")
    refuse(CHECKS_OF_PREFERENCES, u=u)
    return u


def matrices_from_differences(differences: ArrayLike, n_items: int) -> np.ndarray:
    """Fill upper triangular preferences (n_lists, r, r) with differences u_ij - u_ji.

    The pairs i < j are in the order of ``numpy.triu_indices(r, 1)``. The cost of the
    preferences is ``sum_{i<j} difference_ij [rank(i) > rank(j)]``.
    """
    check_parameter("n_items", n_items, [count()])
    differences = checked_vectors(
        differences,
        n_columns=n_items * (n_items - 1) // 2,
        of=f"for {n_items} items ",
        layout=", one difference for each pair i < j",
    )
    full = np.zeros((len(differences), n_items, n_items))
    full[:, ~np.tri(n_items, dtype=bool)] = differences
    return full


def net_preferences(u: ArrayLike) -> np.ndarray:
    """Compute the net preferences u_ij - u_ji; best orders depend only on these."""
    floats = numbers(u, "Preferences")
    u = np.asarray(u)
    if u.dtype.kind not in "if":  # unsigned differences would wrap
        u = floats
    # Signed integers stay integers.
    refuse(CHECKS_OF_PREFERENCES, u=u, is_any=True)
    return u - np.swapaxes(u, -1, -2)


def net_scores(u: ArrayLike) -> np.ndarray:
    """Sum the net preferences of each item, ``sum_j (u_ij - u_ji)``, shape (..., r).

    Divided by r - 1 they are mean preferences (Duchi, Mackey & Jordan, "On the
    Consistency of Ranking Algorithms", ICML 2010).
    """
    return net_preferences(u).sum(axis=-1)


def differences_from_matrices(u: np.ndarray) -> np.ndarray:
    """Compute u_ij - u_ji of the pairs i < j; see `matrices_from_differences`."""
    net = net_preferences(u)
    return net[(..., *np.triu_indices(net.shape[-1], 1))]


def preference_cost(u: ArrayLike, ranks: ArrayLike) -> np.ndarray:
    """Compute ``sum_{i != j} u_ij [rank(i) > rank(j)]`` of each list, lower is better.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        The diagonal does not count.
    ranks : array-like of shape (n_lists, r)
        Ranks of the items, 1 is best.

    Returns
    -------
    ndarray of shape (n_lists,)
        The weight of the preferences against the order of each list.

    Raises
    ------
    ValueError
        If u or ranks are not finite numbers of these shapes.
    """
    u = check_preference_matrices(u)
    return costs_of(u, compared_ranks(ranks, *u.shape[:2]))


def costs_of(u, ranks):
    """Compute `preference_cost` of checked arrays, for ranks (..., n_lists, r)."""
    is_below = ranks[..., :, np.newaxis] > ranks[..., np.newaxis, :]
    return np.einsum("qij,...qij->...q", u, is_below)


def clipped(weights, ranks):
    """Clip the weights of edges at twice the cost of the order given by `ranks`.

    No better order violates an edge heavier than that cost, so the best orders stay the
    best. Clipping avoids the rounding errors of huge weights that do not matter.
    """
    largest = 2.0 * costs_of(weights, ranks)
    return np.minimum(weights, largest[:, np.newaxis, np.newaxis])


def strong_components(edges):
    """Find the strong components of graphs, and the nodes that lie on a cycle.

    Parameters
    ----------
    edges : ndarray of bool, shape (n_lists, r, r)
        Whether there is an edge i -> j.

    Returns
    -------
    components : ndarray of int, shape (n_lists, r)
        Number of the component of each node, over all lists.
    in_cycle : ndarray of bool, shape (n_lists, r)
        Whether a node shares its component with another one.
    """
    n_lists, r = edges.shape[:2]
    n_nodes = n_lists * r
    lists, tails, heads = np.nonzero(edges)
    # One graph of all lists: node i of list q has the number q r + i.
    graph = sparse.csr_matrix(
        (np.ones(len(lists), dtype=np.int8), (lists * r + tails, lists * r + heads)),
        shape=(n_nodes, n_nodes),
    )
    _, components = connected_components(graph, directed=True, connection="strong")
    in_cycle = np.bincount(components)[components] > 1
    return components.reshape(n_lists, r), in_cycle.reshape(n_lists, r)


def acyclic(u):
    """Return whether the graph of each list has no cycle, shape (n_lists,)."""
    _, in_cycle = strong_components(net_preferences(u) > 0)
    return ~in_cycle.any(axis=1)


# Algorithm 1: delete the smallest edges, then sort topologically ----------------------


def acyclic_edges(net):
    """Delete as few of the smallest edges as possible; return a mask of the others."""
    n_lists, r = net.shape[:2]
    # Place of each pair (i, j) among all r * r, by net preference. Pairs that are not
    # edges come first.
    by_weight = np.argsort(net.reshape(n_lists, r * r), axis=1, kind="stable")
    place = ranks_from_orders(by_weight.astype(np.int32)).reshape(net.shape)
    # Bisection for the least cut, the number of the first pairs to delete: a graph that
    # is acyclic without its m smallest edges is acyclic without m + 1. Start with the
    # pairs that are not edges.
    low = np.sum(net <= 0, axis=(1, 2))
    high = np.full(n_lists, r * r)
    cut = low.copy()
    open_lists = np.arange(n_lists)
    while len(open_lists):
        edges = place[open_lists] > cut[open_lists, np.newaxis, np.newaxis]
        _, has_cycle = topological_orders(edges, np.zeros(edges.shape[:2]))
        with_cycle = open_lists[has_cycle]
        without_cycle = open_lists[~has_cycle]
        low[with_cycle] = cut[with_cycle] + 1
        high[without_cycle] = cut[without_cycle]
        open_lists = np.flatnonzero(low < high)
        cut = (low + high) // 2
    return place > high[:, np.newaxis, np.newaxis]


def dag_ranks(net):
    """Rank by algorithm 1, from net preferences (n_lists, r, r).

    Three steps, each for the lists that the step before leaves open, avoid most of the
    work. If the order of the net scores violates no edge, it is the topological order
    that prefers larger scores. Where each pair has an edge, the numbers of edges give
    the only order. A topological sort finds the other acyclic lists. Only lists with a
    cycle need the deletion of edges.
    """
    r = net.shape[1]
    scores = net.sum(axis=2)
    edges = net > 0
    n_edges = edges.sum(axis=2)
    has_all = n_edges.sum(axis=1, keepdims=True) == r * (r - 1) // 2
    keys = np.where(has_all, n_edges, scores)
    orders = np.argsort(-keys, axis=1, kind="stable")
    ranks = ranks_from_orders(orders)
    violated = edges & (ranks[:, :, np.newaxis] > ranks[:, np.newaxis, :])
    open_lists = np.flatnonzero(violated.any(axis=(1, 2)))
    if len(open_lists) == 0:
        return ranks

    orders[open_lists], has_cycle = topological_orders(
        edges[open_lists], scores[open_lists]
    )
    with_cycle = open_lists[has_cycle]
    if len(with_cycle):
        orders[with_cycle], _ = topological_orders(
            acyclic_edges(net[with_cycle]), scores[with_cycle]
        )
    return ranks_from_orders(orders)


def topological_orders(edges, scores):
    """Sort items topologically, preferring larger scores.

    Returns
    -------
    orders : ndarray of int, shape (n_lists, r)
        Meaningless for lists with a cycle.
    has_cycle : ndarray of bool, shape (n_lists,)
    """
    n_lists, r = scores.shape
    # The number of edges to each item from items without a position. An item without
    # such edges is free; `free_scores` is -inf for the others.
    n_before = edges.sum(axis=1, dtype=np.int32)
    free_scores = np.where(n_before == 0, scores, -np.inf)
    first_row = r * np.arange(n_lists)
    edges = edges.reshape(-1, r)
    orders = np.empty((r, n_lists))
    largest = np.empty((r, n_lists))
    for position in range(r):
        item = free_scores.argmax(axis=1)
        rows = first_row + item
        orders[position] = item
        largest[position] = free_scores.take(rows)
        free_scores.put(rows, -np.inf)
        is_after = edges.take(rows, axis=0)
        n_before -= is_after
        np.copyto(free_scores, scores, where=is_after & (n_before == 0))
    # In a list with a cycle the free items run out.
    has_cycle = (largest == -np.inf).any(axis=0)
    return orders.T.astype(np.intp), has_cycle
