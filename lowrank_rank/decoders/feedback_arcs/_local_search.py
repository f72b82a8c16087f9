"""Local search over insertions: move one item to another position; restarts, or annealing."""

import numpy as np

from ..._lists import ranks_from_orders
from ._algorithm_1 import dag_ranks
from ._annealing import annealed_order
from ._graphs import clipped, costs_of, net_preferences

MAX_ITEMS_RESTARTS = 100  # of lists that restarts are for; longer ones are annealed
N_RESTARTS = 100
_EXCHANGES = 2  # of blocks, by a restart
_SWEEPS = 20  # of annealing, in place of a restart
_MOVES = 300_000  # of annealing, by default


def improve_orders(weights, orders):
    """Orders in which no item can be moved to another position at a gain.

    Item by item each list makes the best move of that item, as long as a sweep over the items
    lowers its cost. Moving the item at position p to q changes the cost by its net preferences
    over those between, a difference of cumulative sums: all moves of an item take O(r).

    Parameters
    ----------
    weights : ndarray of shape (n_lists, r, r)
        Of which only the net preferences count.
    orders : ndarray of int, shape (n_lists, r)
        Item indices, best first.

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    net = net_preferences(weights)
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
    cost = costs_of(weights, ranks_from_orders(best))
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
        found = costs_of(weights[open_lists], ranks_from_orders(orders))
        better = found < cost[open_lists] - slack[open_lists]
        best[open_lists[better]] = orders[better]
        cost[open_lists[better]] = found[better]
    return best


def local_search(r, n_restarts=None, rng=None, time_limit=None):
    """Function from net preferences (n_lists, r, r) to ranks that are locally best.

    By `search`; lists of more than 100 items by annealing from its orders.

    Parameters
    ----------
    r : int
    n_restarts : int or None
        None is 100, and 300,000 moves of annealing.
    rng : RandomState or None
        None is that of the seed 0. All lists take the same random numbers.
    time_limit : float or None
        Seconds for the annealing of each list.
    """
    rng = np.random.RandomState(0) if rng is None else rng
    if r <= MAX_ITEMS_RESTARTS:
        shakes = shakes_of(r, N_RESTARTS if n_restarts is None else n_restarts, rng)
        return lambda net: ranks_from_orders(search(net, shakes))
    n_sweeps = -(-_MOVES // r) if n_restarts is None else _SWEEPS * n_restarts
    seed = rng.randint(2**31 - 1)
    return lambda net: ranks_from_orders(_annealed_orders(net, n_sweeps, seed, time_limit))


def _annealed_orders(net, n_sweeps, seed, time_limit):
    best = search(net, ())
    for q in range(len(net) if n_sweeps else 0):
        found = annealed_order(net[q], best[q], n_sweeps, np.random.RandomState(seed), time_limit)
        pair = np.stack([best[q], improve_orders(net[[q]], found[np.newaxis])[0]])
        costs = costs_of(np.maximum(net[[q, q]], 0.0), ranks_from_orders(pair))
        best[q] = pair[np.argmin(costs)]
    return best
