"""Feedback arc sets by deletion of the smallest edges (algorithm 1), and by net preference."""

import numpy as np

from ._decoded import Decoded, batches, joined
from ._exact_preferences import certified
from ._preferences import (
    check_preference_matrices,
    net_preferences,
    preference_cost,
    ranks_from_orders,
)
from ._topological import acyclic_edges, dag_ranks


def decode_pd_dag(u, *, bound=False):
    """Ranks by algorithm 1: delete the smallest edges until no cycle is left, then sort.

    The graph has the edge i -> j of weight ``u_ij - u_ji`` where that is positive. While it has
    a cycle its smallest edge is deleted (ties in the order of i, j); the order is a
    topological one of what is left, and among those prefers the larger net preference
    ``sum_j (u_ij - u_ji)``. Exact where the graph has no cycle (theorem 7), not in general.
    The number of edges to delete is found by bisection, for all lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    bound : bool, default=False
        Also bound the least cost from below (`preference_bound`).

    Returns
    -------
    Decoded
        Ranks, their costs and, if asked, lower bounds.

    Raises
    ------
    ValueError
        If u is not a batch of square matrices of finite numbers.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, algorithm 1 and theorem 7.

    Examples
    --------
    The cycle 0 -> 1 -> 2 -> 0 of weights 2, 2, 1 loses its smallest edge:

    >>> from lowrank_rank.decoders import decode_pd_dag
    >>> decode_pd_dag([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks
    array([[1, 2, 3]])
    """
    u = check_preference_matrices(u)
    parts = []
    for lists in batches(len(u), u[0].size if len(u) else 1):
        net = net_preferences(u[lists])
        ranks = dag_ranks(net)
        parts.append(Decoded(ranks, preference_cost(u[lists], ranks)))
    return _with_bound(u, joined(parts), bound)


def dag_edges(u):
    """Edges that algorithm 1 leaves, as a mask of shape (n_lists, r, r).

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)

    Returns
    -------
    ndarray of bool
        [q, i, j]: whether i -> j is kept; acyclic.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.decoders import dag_edges
    >>> np.argwhere(dag_edges([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]])[0]).tolist()
    [[0, 1], [1, 2]]
    """
    return acyclic_edges(net_preferences(check_preference_matrices(u)))


def decode_pd_borda(u, *, bound=False):
    """Ranks by net preference, ``sum_j (u_ij - u_ji)`` descending; not exact.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
    bound : bool, default=False
        Also bound the least cost from below.

    Returns
    -------
    Decoded

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_pd_borda
    >>> decode_pd_borda([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks  # net 1, 0, -1
    array([[1, 2, 3]])
    """
    u = check_preference_matrices(u)
    net = net_preferences(u).sum(axis=2)  # ties in the order of the items
    ranks = ranks_from_orders(np.argsort(-net, axis=1, kind="stable"))
    return _with_bound(u, Decoded(ranks, preference_cost(u, ranks)), bound)


def _with_bound(u, decoded, bound):
    return certified(u, decoded.ranks) if bound else decoded
