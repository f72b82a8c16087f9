"""Insertion neighbourhood of orders: move one item to another position."""

import numpy as np

from ._preferences import preference_cost, ranks_from_orders, total_weight
from ._topological import acyclic_edges, topological_orders

_EXCHANGES = 2  # of blocks, by a restart


def improve_orders(net, orders, *, max_moves=None):
    """Orders in which no item can be moved to another position at a gain.

    The best of all moves is made in each list, until none lowers its cost. With the items in
    their order, moving the one at p behind the one at q changes the cost by the sum of its
    net preferences over those between, a difference of cumulative sums: all r**2 moves
    of a list are valued in O(r**2).

    Parameters
    ----------
    net : ndarray of shape (n_lists, r, r)
        Weights, of which only the net preferences ``net_ij - net_ji`` count.
    orders : ndarray of int, shape (n_lists, r)
        Item indices, best first.
    max_moves : int or None, default=None
        Most moves of a list.

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    net = net - net.transpose(0, 2, 1)
    orders = orders.copy()
    n_lists, r = orders.shape
    if r < 2:
        return orders
    least = 1e-12 * np.abs(net).sum(axis=(1, 2)) / 2.0  # of rounding only
    active = np.arange(n_lists)
    moves = 0
    while len(active) and (max_moves is None or moves < max_moves):
        change = _changes(net, orders, active).reshape(len(active), r * r)
        move = np.argmin(change, axis=1)
        better = change[np.arange(len(active)), move] < -least[active]
        active, move = active[better], move[better]
        orders[active] = _moved(orders[active], move // r, move % r)
        moves += 1
    return orders


def _changes(net, orders, active):
    """Change of cost [list, p, q] when the item at position p moves to position q."""
    order = orders[active]
    sorted_net = net[
        active[:, np.newaxis, np.newaxis], order[:, :, np.newaxis], order[:, np.newaxis]
    ]
    sums = np.cumsum(sorted_net, axis=2)
    position = np.arange(order.shape[1])
    own = sums[:, position, position][:, :, np.newaxis]
    up = np.tri(len(position), k=-1, dtype=bool)  # q < p
    change = sums - own
    # upwards the sum ends before q, of which nothing is there for q = 0
    shifted = np.concatenate([np.zeros_like(own), sums[:, :, :-1]], axis=2)
    return np.where(up, shifted - own, change)


def _moved(orders, source, target):
    """Orders with the item at position `source` moved to `target`."""
    position = np.arange(orders.shape[1])
    source, target = source[:, np.newaxis], target[:, np.newaxis]
    down = (position >= source) & (position < target)
    up = (position <= source) & (position > target)
    taken = np.where(position == target, source, position + down - up)
    return np.take_along_axis(orders, taken, axis=1)


def shakes_of(r, n_restarts, rng):
    """Permutations of the r positions that exchange neighbouring blocks, (n_restarts, r).

    On the linear ordering instances blocks got out of local optima that single items did not.
    """
    shakes = np.tile(np.arange(r), (n_restarts, 1))
    for shake in shakes:
        for _ in range(_EXCHANGES):
            a, b, c = np.sort(rng.randint(r + 1, size=3))
            shake[:] = np.concatenate([shake[:a], shake[b:c], shake[a:b], shake[c:]])
    return shakes


def search(net, shakes):
    """Orders by `improve_orders` from algorithm 1, the net preference, and shaken orders.

    Parameters
    ----------
    net : ndarray of shape (n_lists, r, r)
        Antisymmetric.
    shakes : ndarray of int, shape (n_restarts, r)

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    weights = np.maximum(net, 0.0)
    slack = 1e-12 * total_weight(weights)
    preference = net.sum(axis=2)
    best = improve_orders(weights, topological_orders(acyclic_edges(net), preference))
    cost = preference_cost(weights, ranks_from_orders(best))
    for start in (None, *shakes):
        open_lists = np.flatnonzero(cost > slack)  # an order without a cost is the best
        if len(open_lists) == 0:
            break
        if start is None:
            orders = np.argsort(-preference[open_lists], axis=1, kind="stable")
        else:
            orders = best[open_lists][:, start]
        orders = improve_orders(weights[open_lists], orders)
        found = preference_cost(weights[open_lists], ranks_from_orders(orders))
        better = found < cost[open_lists] - slack[open_lists]
        best[open_lists[better]] = orders[better]
        cost[open_lists[better]] = found[better]
    return best
