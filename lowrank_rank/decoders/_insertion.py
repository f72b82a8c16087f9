"""Insertion neighbourhood of orders: move one item to another position."""

import numpy as np

from ._preferences import clipped, preference_cost, ranks_from_orders
from ._topological import dag_ranks

_EXCHANGES = 2  # of blocks, by a restart


def improve_orders(net, orders):
    """Orders in which no item can be moved to another position at a gain.

    Item by item each list makes the best move of that item, as long as a sweep over the items
    lowers its cost. Moving the item at position p to q changes the cost by its net preferences
    over those between, a difference of cumulative sums: all moves of an item take O(r).

    Parameters
    ----------
    net : ndarray of shape (n_lists, r, r)
        Weights, of which only the net preferences ``net_ij - net_ji`` count.
    orders : ndarray of int, shape (n_lists, r)
        Item indices, best first.

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    net = net - net.transpose(0, 2, 1)
    orders = orders.copy()
    least = 1e-12 * np.abs(net).sum(axis=(1, 2)) / 2.0  # of rounding only
    active = np.arange(len(orders) if orders.shape[1] > 1 else 0)
    while len(active):
        order, improved = orders[active], np.zeros(len(active), dtype=bool)
        rows = np.arange(len(active))
        for item in range(orders.shape[1]):
            change, source = move_changes(net, active, order, item)
            target = np.argmin(change, axis=1)
            better = change[rows, target] < -least[active]
            if better.any():
                order[better] = _moved(order[better], source[better], target[better])
                improved |= better
        orders[active] = order
        active = active[improved]
    return orders


def move_changes(net, lists, order, item):
    """Change of cost when an item moves to each position, (m, r), and where it is, (m,).

    Parameters
    ----------
    net : ndarray of shape (n_lists, r, r)
        Net preferences.
    lists : ndarray of int, shape (m,)
    order : ndarray of int, shape (m, r)
        Of these lists.
    item : int
    """
    source = np.argmax(order == item, axis=1)
    sums = np.cumsum(net[lists[:, np.newaxis], item, order], axis=1)
    own = np.take_along_axis(sums, source[:, np.newaxis], axis=1)
    # upwards the sum ends before the target, of which nothing is there for the first
    before = np.concatenate([np.zeros_like(own), sums[:, :-1]], axis=1)
    up = np.arange(order.shape[1]) < source[:, np.newaxis]
    return np.where(up, before, sums) - own, source


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
    preference = net.sum(axis=2)
    ranks = dag_ranks(net)
    weights = clipped(weights, ranks)
    best = improve_orders(weights, np.argsort(ranks, axis=1))
    cost = preference_cost(weights, ranks_from_orders(best))
    slack = 1e-12 * weights.sum(axis=(1, 2))
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
