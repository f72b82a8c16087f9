"""Local search over insertions, with restarts or simulated annealing."""

from functools import lru_cache, partial

import numpy as np
from sklearn.utils import check_random_state

from ...lists._ranks import ranks_from_orders
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
    orders = orders.copy()
    r = orders.shape[1]
    flat = net.ravel()
    # Smaller gains are rounding errors.
    smallest_gain = 1e-12 * np.abs(net).sum(axis=(1, 2)) / 2.0
    # Orders that the last sweep improved.
    active = np.arange(len(orders) if r > 1 else 0)
    while len(active):
        order = orders[active]
        has_improved = np.zeros(len(active), dtype=bool)
        rows = np.arange(len(active))
        first_entry = (lists[active] * r * r)[:, np.newaxis]
        # Net preferences of an item over the items in front of each gap.
        sums = np.zeros((len(active), r + 1))
        for item in range(r):
            in_order = flat.take(order + (first_entry + item * r))
            in_order.cumsum(axis=1, out=sums[:, 1:])
            source = (order == item).argmax(axis=1)
            gap = sums.argmin(axis=1)
            change = sums[rows, gap] - sums[rows, source]
            is_better = change < -smallest_gain[lists[active]]
            if is_better.any():
                old_position, _ = insertion(source[is_better], gap[is_better], r)
                order[is_better] = np.take_along_axis(
                    order[is_better], old_position, axis=1
                )
                has_improved |= is_better
        orders[active] = order
        active = active[has_improved]
    return orders


def shakes_of(r, n_restarts, random_state):
    """Draw permutations of r positions, (n_restarts, r), that exchange blocks.

    Each exchanges two neighbouring blocks at random, twice. Blocks leave local optima
    of the linear ordering instances that single items do not leave.
    """
    rng = check_random_state(random_state)
    position = np.tile(np.arange(r), (n_restarts, 1))
    shakes = position
    # The ends a <= b <= c of two neighbouring blocks [a, b) and [b, c).
    ends = np.sort(rng.randint(r + 1, size=(n_restarts, 2, 3)))
    for a, b, c in ends.transpose(1, 2, 0)[..., np.newaxis]:
        # The block [b, c) comes first, at a; then [a, b), at a + c - b.
        step = np.where(position < a + c - b, b - a, b - c)
        is_inside = (a <= position) & (position < c)
        old_position = position + np.where(is_inside, step, 0)
        shakes = np.take_along_axis(shakes, old_position, axis=1)
    return shakes


def search(net, shakes, start=None):
    """Improve the orders of algorithm 1 and of the net preferences, then shaken orders.

    `start` are ranks (r,) near the best ones of all lists; None computes those of
    algorithm 1.
    """
    r = net.shape[1]
    preference = net.sum(axis=2)
    ranks = dag_ranks(net) if start is None else np.tile(start, (len(net), 1))
    weights = clipped(np.maximum(net, 0.0), ranks)
    net = weights - weights.swapaxes(1, 2)
    best = np.argsort(ranks, axis=1)
    best_cost = costs_of(weights, ranks)
    slack = 1e-12 * weights.sum(axis=(1, 2))  # rounding errors of costs
    # First the two orders without shakes, then five shakes in one call: the overhead of
    # NumPy's calls dominates a single list.
    blocks = [shakes[i : i + 5] for i in range(0, len(shakes), 5)]
    for block in [None, *blocks]:
        open_lists = np.flatnonzero(best_cost > slack)  # cost 0 is optimal
        if len(open_lists) == 0:
            break
        orders = best[open_lists]
        if block is None:
            by_net = np.argsort(-preference[open_lists], axis=1, kind="stable")
            orders = np.stack([orders, by_net])
        else:
            orders = orders[:, block].swapaxes(0, 1)
        lists = np.tile(open_lists, len(orders))
        orders = improve(net, lists, orders.reshape(-1, r)).reshape(orders.shape)
        # The best order of each list, (n_orders, n_open) -> (n_open,).
        costs = costs_of(weights[open_lists], ranks_from_orders(orders))
        chosen = costs.argmin(axis=0)
        rows = np.arange(len(open_lists))
        costs = costs[chosen, rows]
        orders = orders[chosen, rows]
        is_better = costs < best_cost[open_lists] - slack[open_lists]
        best[open_lists[is_better]] = orders[is_better]
        best_cost[open_lists[is_better]] = costs[is_better]
    return best


# Drawing the shakes takes longer than searching a short list.
_cached_shakes = lru_cache(16)(shakes_of)


def local_search(r, n_restarts=None, random_state=0):
    """Return a function from net preferences (n_lists, r, r) to ranks.

    See `decode_pd_local_search`.

    Parameters
    ----------
    r : int
    n_restarts : int or None
    random_state : int, RandomState or None
        All lists use the same random numbers.
    """
    if r <= MAX_ITEMS_RESTARTS:
        if n_restarts is None:
            n_restarts = 100
        draw = _cached_shakes if isinstance(random_state, int) else shakes_of
        return partial(restarted_ranks, draw(r, n_restarts, random_state))
    n_sweeps = -(-300_000 // r)  # rounded up
    if n_restarts is not None:
        n_sweeps = 20 * n_restarts
    seed = check_random_state(random_state).randint(2**31 - 1)
    return partial(annealed_ranks, n_sweeps, seed)


def restarted_ranks(shakes, net):
    """Rank by local search with restarts from shaken orders."""
    return ranks_from_orders(search(net, shakes))


def annealed_ranks(n_sweeps, seed, net):
    """Rank by local search, then by simulated annealing from its order."""
    best = search(net, ())
    if n_sweeps == 0:
        return ranks_from_orders(best)
    for q in range(len(net)):
        rng = np.random.RandomState(seed)
        annealed = annealed_order(net[q], best[q], n_sweeps, rng)
        improved = improve(net, np.array([q]), annealed[np.newaxis])[0]
        candidates = np.stack([best[q], improved])
        weights = np.maximum(net[[q, q]], 0.0)
        costs = costs_of(weights, ranks_from_orders(candidates))
        best[q] = candidates[np.argmin(costs)]
    return ranks_from_orders(best)


def annealed_order(net, order, n_sweeps, rng):
    """Order one list by simulated annealing: items move to random positions.

    An item moves to position t with a probability proportional to exp(-cost(t) /
    temperature). Gumbel noise on the costs samples such a position. The costs of all
    positions of an item are cumulative sums of its net preferences. The temperature
    falls geometrically. `n_sweeps` is the mean number of moves of each item.
    """
    r = len(order)
    order = order.copy()
    scale = np.abs(net).sum() / max(r * (r - 1), 1)
    if scale == 0:
        return order
    # The noise of a move is a random window of these numbers.
    noise = rng.gumbel(size=2**16 + r + 1)
    rows = list(net)
    # Net preferences of an item over the items before each position, and at the end.
    sums = np.zeros(r + 1)
    costs = np.empty(r + 1)
    for sweep in range(n_sweeps):
        # The temperature falls from 3 to 0.3 mean absolute net preferences.
        temperature = scale * 3.0 * (0.3 / 3.0) ** (sweep / n_sweeps)
        scaled = noise * temperature
        windows = rng.randint(2**16, size=r).tolist()
        sources = rng.randint(r, size=r).tolist()
        for source, window in zip(sources, windows, strict=True):
            item = order[source]
            rows[item].take(order).cumsum(out=sums[1:])
            np.subtract(sums, scaled[window : window + r + 1], out=costs)
            target = costs.argmin()
            if target < source:  # the items between move down
                order[target + 1 : source + 1] = order[target:source]
                order[target] = item
            elif target > source + 1:  # the items between move up
                order[source : target - 1] = order[source + 1 : target]
                order[target - 1] = item
    return order
