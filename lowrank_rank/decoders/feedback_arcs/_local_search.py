"""Local search over insertions: restarts for short lists, simulated annealing for long ones."""

from functools import lru_cache

import numpy as np
from sklearn.utils import check_random_state

from ..._lists import ranks_from_orders
from .._decoded import insertion
from ._graphs import clipped, costs_of, dag_ranks

MAX_ITEMS_RESTARTS = 100  # longer lists are annealed, see `decode_pd_local_search`


def improve(net, lists, orders):
    """Improve orders by moves of single items until no move lowers the cost.

    A sweep makes the best move of each item in turn. Sweeps go on until one lowers no
    cost. A move changes the cost by the net preferences of the item over the items that
    it passes, a difference of cumulative sums, so all moves of an item take O(r).
    `lists` is the list of each order (m, r).
    """
    orders, r, flat = orders.copy(), orders.shape[1], net.ravel()
    least = (
        1e-12 * np.abs(net).sum(axis=(1, 2)) / 2.0
    )  # smaller gains are rounding errors
    active = np.arange(len(orders) if r > 1 else 0)
    while len(active):
        order, improved = orders[active], np.zeros(len(active), dtype=bool)
        rows, first = np.arange(len(active)), (lists[active] * r * r)[:, np.newaxis]
        sums = np.zeros(
            (len(active), r + 1)
        )  # net preferences of an item before each gap
        for item in range(r):
            flat.take(order + (first + item * r)).cumsum(axis=1, out=sums[:, 1:])
            source, gap = (order == item).argmax(axis=1), sums.argmin(axis=1)
            better = sums[rows, gap] - sums[rows, source] < -least[lists[active]]
            if better.any():
                taken, _ = insertion(source[better], gap[better], r)
                order[better] = np.take_along_axis(order[better], taken, axis=1)
                improved |= better
        orders[active] = order
        active = active[improved]
    return orders


def shakes_of(r, n_restarts, random_state):
    """Permutations of r positions that exchange neighbouring blocks at random, (n_restarts, r).

    Blocks leave local optima of the linear ordering instances that single items do not
    leave.
    """
    rng = check_random_state(random_state)
    shakes = position = np.tile(np.arange(r), (n_restarts, 1))
    for cuts in np.sort(rng.randint(r + 1, size=(n_restarts, 2, 3))).transpose(1, 2, 0):
        a, b, c = cuts[..., np.newaxis]
        step = np.where(position < a + c - b, b - a, b - c)
        taken = position + np.where((a <= position) & (position < c), step, 0)
        shakes = np.take_along_axis(shakes, taken, axis=1)
    return shakes


def search(net, shakes, start=None):
    """Improve the orders of algorithm 1 and of the net preferences, then shaken orders.

    `start` are ranks (r,) near the best ones of all lists; None computes those of
    algorithm 1.
    """
    weights = np.maximum(net, 0.0)
    preference = net.sum(axis=2)
    ranks = dag_ranks(net) if start is None else np.tile(start, (len(net), 1))
    weights = clipped(weights, ranks)
    net, r = weights - weights.swapaxes(1, 2), net.shape[1]
    best, cost = np.argsort(ranks, axis=1), costs_of(weights, ranks)
    slack = 1e-12 * weights.sum(axis=(1, 2))
    # Five shakes in one call: the overhead of NumPy's calls dominates a single list.
    for some in (None, *(shakes[i : i + 5] for i in range(0, len(shakes), 5))):
        open_lists = np.flatnonzero(cost > slack)  # an order of cost 0 is optimal
        if len(open_lists) == 0:
            break
        orders = best[open_lists]
        if some is None:
            by_net = np.argsort(-preference[open_lists], axis=1, kind="stable")
            orders = np.stack([orders, by_net])
        else:
            orders = orders[:, some].swapaxes(0, 1)
        lists = np.tile(open_lists, len(orders))
        orders = improve(net, lists, orders.reshape(-1, r)).reshape(orders.shape)
        costs = costs_of(weights[open_lists], ranks_from_orders(orders))
        least, rows = costs.argmin(axis=0), np.arange(len(open_lists))
        costs, orders = costs[least, rows], orders[least, rows]
        better = costs < cost[open_lists] - slack[open_lists]
        best[open_lists[better]] = orders[better]
        cost[open_lists[better]] = costs[better]
    return best


_kept_shakes = lru_cache(16)(
    shakes_of
)  # drawing them takes longer than searching a short list


def local_search(r, n_restarts=None, random_state=0):
    """Function from net preferences (n_lists, r, r) to ranks; see `decode_pd_local_search`.

    Parameters
    ----------
    r : int
    n_restarts : int or None
    random_state : int, RandomState or None
        All lists use the same random numbers.
    """
    if r <= MAX_ITEMS_RESTARTS:
        draw = _kept_shakes if isinstance(random_state, int) else shakes_of
        shakes = draw(r, 100 if n_restarts is None else n_restarts, random_state)
        return lambda net: ranks_from_orders(search(net, shakes))
    n_sweeps = -(-300_000 // r) if n_restarts is None else 20 * n_restarts
    seed = check_random_state(random_state).randint(2**31 - 1)

    def annealed_ranks(net):
        best = search(net, ())
        for q in range(len(net) if n_sweeps else 0):
            rng = np.random.RandomState(seed)
            order = annealed_order(net[q], best[q], n_sweeps, rng)
            pair = np.stack(
                [best[q], improve(net, np.array([q]), order[np.newaxis])[0]]
            )
            costs = costs_of(np.maximum(net[[q, q]], 0.0), ranks_from_orders(pair))
            best[q] = pair[np.argmin(costs)]
        return ranks_from_orders(best)

    return annealed_ranks


def annealed_order(net, order, n_sweeps, rng):
    """Order of one list by simulated annealing: items move to random positions.

    An item moves to position t with a probability proportional to exp(-cost(t) /
    temperature). Gumbel noise on the costs samples such a position. The costs of all
    positions of an item are cumulative sums of its net preferences. The temperature
    falls geometrically. `n_sweeps` is the mean number of moves of each item.
    """
    r, order = len(order), order.copy()
    scale = np.abs(net).sum() / max(r * (r - 1), 1)
    if scale == 0:
        return order
    # The noise of a move is a random window of these numbers.
    noise, rows = rng.gumbel(size=2**16 + r + 1), list(net)
    sums, costs = (
        np.zeros(r + 1),
        np.empty(r + 1),
    )  # before each position, and at the end
    for sweep in range(n_sweeps):
        # The temperature falls from 3 to 0.3 mean absolute net preferences.
        scaled = noise * (scale * 3.0 * (0.3 / 3.0) ** (sweep / n_sweeps))
        windows = rng.randint(2**16, size=r).tolist()
        for source, window in zip(
            rng.randint(r, size=r).tolist(), windows, strict=True
        ):
            item = order[source]
            rows[item].take(order).cumsum(out=sums[1:])
            target = np.subtract(
                sums, scaled[window : window + r + 1], out=costs
            ).argmin()
            if target < source:
                order[target + 1 : source + 1] = order[target:source]
                order[target] = item
            elif target > source + 1:  # the items between move up
                order[source : target - 1] = order[source + 1 : target]
                order[target - 1] = item
    return order
