"""Preferences u_ij between the items of a list, as graphs and as costs of orders.

The cost of an order is ``sum_{i != j} u_ij [rank(i) > rank(j)]``: the weight of the
preferences it goes against. Up to a constant it depends on the net preferences
``u_ij - u_ji`` alone; the graph of a list has the edge i -> j of that weight where it is
positive, and an order of least cost leaves a feedback arc set of least weight.
"""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

_LARGEST = 1e290  # sums over a list stay finite


def check_preference_matrices(u):
    """u as finite floats of shape (n_lists, r, r).

    Raises
    ------
    ValueError
        Naming the list that does not fit.
    """
    try:
        u = np.asarray(u, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"Preferences must be numbers, lists of one length at a time: {error}."
        ) from None
    if u.ndim != 3 or u.shape[1] != u.shape[2] or u.shape[1] == 0:
        raise ValueError(
            f"Preferences u[q, i, j] have the shape (n_lists, r, r), got {u.shape}: give a single "
            "matrix as u[np.newaxis], differences of pairs through matrices_from_differences."
        )
    if not np.all(np.abs(u) <= _LARGEST):
        place = [int(i) for i in np.argwhere(~(np.abs(u) <= _LARGEST))[0]]
        raise ValueError(
            f"u{place} is {u[tuple(place)]:g}: preferences must be finite, at most {_LARGEST:g}."
        )
    return u


def matrices_from_differences(differences, n_items):
    """Preferences (n_lists, r, r) from the differences u_ij - u_ji of the pairs i < j.

    Parameters
    ----------
    differences : array-like of shape (n_lists, r(r-1)/2)
        In the order of ``numpy.triu_indices(r, 1)``.
    n_items : int

    Returns
    -------
    ndarray of shape (n_lists, r, r)
        Upper triangular: their cost is ``sum_{i<j} difference_ij [rank(i) > rank(j)]``.

    Raises
    ------
    ValueError
        If the number of columns does not fit.

    Examples
    --------
    >>> from lowrank_rank.decoders import matrices_from_differences
    >>> matrices_from_differences([[0.5, -1.0, 2.0]], n_items=3)[0].tolist()
    [[0.0, 0.5, -1.0], [0.0, 0.0, 2.0], [0.0, 0.0, 0.0]]
    """
    differences = np.asarray(differences, dtype=np.float64)
    pairs = n_items * (n_items - 1) // 2
    if differences.ndim != 2 or differences.shape[1] != pairs:
        raise ValueError(
            f"Differences have shape {differences.shape}; for {n_items} items it must be "
            f"(n_lists, {pairs}), one for each pair i < j."
        )
    full = np.zeros((len(differences), n_items, n_items))
    i, j = np.triu_indices(n_items, 1)
    full[:, i, j] = differences
    return full


def net_preferences(u):
    """u_ij - u_ji, antisymmetric."""
    return u - u.transpose(0, 2, 1)


def preference_cost(u, ranks):
    """``sum_{i != j} u_ij [rank(i) > rank(j)]`` of each list, lower is better.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        The diagonal is ignored.
    ranks : array-like of shape (n_lists, r)

    Returns
    -------
    ndarray of shape (n_lists,)

    Examples
    --------
    >>> from lowrank_rank.decoders import preference_cost
    >>> preference_cost([[[0, 2], [1, 0]]], [[2, 1]])
    array([2.])
    """
    ranks = np.asarray(ranks)
    below = ranks[:, :, np.newaxis] > ranks[:, np.newaxis, :]
    return np.einsum("qij,qij->q", np.asarray(u, dtype=np.float64), below)


def pair_bound(u):
    """``sum_{i<j} min(u_ij, u_ji)``: what every order pays, met where the graph is acyclic."""
    i, j = np.triu_indices(u.shape[1], 1)
    return np.minimum(u[:, i, j], u[:, j, i]).sum(axis=1)


def clipped(weights, ranks):
    """Weights of edges cut to twice the cost of a known order, list by list.

    No better order goes against a heavier edge than that cost, so the best orders stay the
    best; and sums are no longer rounded by the size of an edge that does not matter.
    """
    return np.minimum(weights, 2.0 * preference_cost(weights, ranks)[:, np.newaxis, np.newaxis])


def strong_components(edges, shape):
    """Strong component of each node of a batch of graphs.

    Parameters
    ----------
    edges : tuple of ndarrays of int
        Lists, tails and heads of the edges.
    shape : (int, int)
        Number of lists and of items.

    Returns
    -------
    components : ndarray of int, shape (n_lists, r)
        Numbered over the whole batch.
    in_cycle : ndarray of bool, shape (n_lists, r)
        Whether a node shares its component with another one, hence lies on a cycle.
    """
    lists, tails, heads = edges
    n_nodes = shape[0] * shape[1]
    graph = sparse.csr_matrix(
        (np.ones(len(lists), dtype=np.int8), (lists * shape[1] + tails, lists * shape[1] + heads)),
        shape=(n_nodes, n_nodes),
    )
    components = connected_components(graph, directed=True, connection="strong")[1]
    in_cycle = np.bincount(components)[components] > 1
    return components.reshape(shape), in_cycle.reshape(shape)


def acyclic(u):
    """Whether the graph of each list has no cycle, shape (n_lists,)."""
    return ~strong_components(np.nonzero(net_preferences(u) > 0), u.shape[:2])[1].any(axis=1)


def ranks_from_orders(orders):
    """Ranks 1..r from orders (item indices, best first), shape (n_lists, r)."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(1, orders.shape[1] + 1)[np.newaxis], axis=1)
    return ranks
