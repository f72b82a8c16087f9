"""Preferences u_ij between the items of a list, as graphs and as costs of orders.

The cost of an order is ``sum_{i != j} u_ij [rank(i) > rank(j)]``, the weight of the
preferences that it violates. Up to a constant it depends on the net preferences ``u_ij
- u_ji`` alone. The graph of a list has the edge i -> j of this weight if the weight is
positive. The edges that an order of least cost violates are a feedback arc set of least
weight.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..._arrays import LARGEST, ArrayLike, check_finite, numbers
from ..._lists import ranks_from_orders
from ..._parameters import check_parameter, count
from .._decoded import checked_vectors, compared_ranks


def check_preference_matrices(u):
    """u as finite floats of shape (n_lists, r, r).

    Raises
    ------
    ValueError
        Naming the list that does not fit.
    """
    u = numbers(u, "Preferences (lists of one length at a time)")
    if u.ndim != 3 or u.shape[1] != u.shape[2] or u.shape[1] == 0:
        raise ValueError(
            f"Preferences must have the shape (n_lists, r, r), got {u.shape}."
        )
    return check_finite(u, "u", LARGEST)


def matrices_from_differences(differences: ArrayLike, n_items: int) -> np.ndarray:
    """Upper triangular preferences (n_lists, r, r) from the differences u_ij - u_ji of pairs i < j.

    The pairs are in the order of ``numpy.triu_indices(r, 1)``. The cost of the
    preferences is ``sum_{i<j} difference_ij [rank(i) > rank(j)]``.
    """
    check_parameter("n_items", n_items, [count()])
    pairs = n_items * (n_items - 1) // 2
    of, layout = f"for {n_items} items ", ", one difference for each pair i < j"
    differences = checked_vectors(differences, pairs, of, layout)
    full = np.zeros((len(differences), n_items, n_items))
    full[:, ~np.tri(n_items, dtype=bool)] = differences
    return full


def net_preferences(u: ArrayLike) -> np.ndarray:
    """Net preferences u_ij - u_ji, antisymmetric: all that orders of least cost depend on."""
    floats, u = numbers(u, "Preferences"), np.asarray(u)
    if u.dtype.kind not in "if":  # unsigned differences would wrap
        u = floats
    if u.ndim < 2 or u.shape[-1] != u.shape[-2]:
        raise ValueError(f"Preferences must have the shape (..., r, r), got {u.shape}.")
    u = check_finite(u, "u", LARGEST)  # signed integers stay integers
    return u - np.swapaxes(u, -1, -2)


def net_scores(u: ArrayLike) -> np.ndarray:
    """Net preference of each item over all others, ``sum_j (u_ij - u_ji)``, shape (..., r).

    Divided by r - 1 they are mean preferences (Duchi, Mackey & Jordan, "On the
    Consistency of Ranking Algorithms", ICML 2010).
    """
    return net_preferences(u).sum(axis=-1)


def differences_from_matrices(u: np.ndarray) -> np.ndarray:
    """Differences u_ij - u_ji of the pairs i < j, as `matrices_from_differences` takes them."""
    net = net_preferences(u)
    return net[(..., *np.triu_indices(net.shape[-1], 1))]


def preference_cost(u: ArrayLike, ranks: ArrayLike) -> np.ndarray:
    """``sum_{i != j} u_ij [rank(i) > rank(j)]`` of each list, lower is better.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        The diagonal is ignored.
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

    Examples
    --------
    >>> from lowrank_rank.decoders import preference_cost
    >>> preference_cost([[[0, 2], [1, 0]]], [[2, 1]])
    array([2.])
    """
    u = check_preference_matrices(u)
    return costs_of(u, compared_ranks(ranks, *u.shape[:2]))


def costs_of(u, ranks):
    """`preference_cost` of checked arrays, for ranks (..., n_lists, r)."""
    below = ranks[..., :, np.newaxis] > ranks[..., np.newaxis, :]
    return np.einsum("qij,...qij->...q", u, below)


def clipped(weights, ranks):
    """Clip the weights of edges at twice the cost of the order given by `ranks`.

    No better order violates an edge heavier than that cost, so the best orders stay the
    best. Clipping avoids the rounding errors of huge weights that do not matter.
    """
    return np.minimum(
        weights, 2.0 * costs_of(weights, ranks)[:, np.newaxis, np.newaxis]
    )


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
    """Mask of the edges that stay if as few of the smallest as possible are deleted."""
    n_lists, r = net.shape[:2]
    by_weight = np.argsort(net.reshape(n_lists, r * r), axis=1, kind="stable")
    place = ranks_from_orders(by_weight.astype(np.int32)).reshape(net.shape)
    # Bisection: a graph that is acyclic without its m smallest edges is acyclic without
    # m + 1. The edges with place > cut stay. The pairs that are no edges come first;
    # cut them all at once.
    low, high = np.sum(net <= 0, axis=(1, 2)), np.full(n_lists, r * r)
    cut, left = low.copy(), np.arange(n_lists)
    while len(left):
        edges = place[left] > cut[left, np.newaxis, np.newaxis]
        _, cyclic = topological_orders(edges, np.zeros(edges.shape[:2]))
        low[left[cyclic]] = cut[left[cyclic]] + 1
        high[left[~cyclic]] = cut[left[~cyclic]]
        left = np.flatnonzero(low < high)
        cut = (low + high) // 2
    return place > high[:, np.newaxis, np.newaxis]


def dag_ranks(net):
    """Ranks by algorithm 1 of net preferences (n_lists, r, r).

    Three steps, each for the lists that the step before leaves open, avoid most of the
    work. If the order of the net scores violates no edge, it is the topological order
    that prefers larger scores. Where each pair has an edge, the numbers of edges give
    the only order. A topological sort finds the other acyclic lists. Only lists with a
    cycle need the deletion of edges.
    """
    scores, edges = net.sum(axis=2), net > 0
    wins, r = edges.sum(axis=2), net.shape[1]
    has_all = wins.sum(axis=1, keepdims=True) == r * (r - 1) // 2
    orders = np.argsort(np.where(has_all, -wins, -scores), axis=1, kind="stable")
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

    The orders of lists with a cycle are meaningless.
    """
    n_lists, r = scores.shape
    before = edges.sum(
        axis=1, dtype=np.int32
    )  # number of edges from items without a position
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
