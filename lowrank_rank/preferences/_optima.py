"""All orders of least cost: how many, and which pairs they order differently.

Where every item of a set is preferred to every item outside of it, each best order puts the set
first. So the best orders follow the strong components of "preferred, or even", one component after
another, and inside a component a dynamic program over its subsets counts them.
"""

from itertools import islice
from typing import NamedTuple, cast

import numpy as np

from ..decoders import decode_pd_exact, net_preferences
from ..decoders._subsets import subsets_by_size
from ..decoders.feedback_arcs._graphs import strong_components

MAX_ITEMS_COUNTED = 18  # of one component: 2**18 subsets


class Optima(NamedTuple):
    """What is known of the orders of least cost.

    Attributes
    ----------
    number : int or None
        How many there are; None where they were not counted.
    tied : ndarray of bool, shape (r, r)
        Pairs that some of them order one way and some the other, as far as they were found.
    is_unique : bool or None
        None where it is not known.
    low, high : ndarray of int, shape (r,)
        Least and largest rank of each item in them, as far as they were found.
    parts : list of Part
        Best orders follow these one after another; None where they were not counted.
    """

    number: int | None
    tied: np.ndarray
    is_unique: bool | None
    low: np.ndarray
    high: np.ndarray
    parts: list | None


class Part(NamedTuple):
    """Best orders of a strong component, as paths through its subsets.

    Attributes
    ----------
    members : ndarray of int, shape (s,)
    last : ndarray of bool, shape (2**s, s)
        Whether some best order of a subset ends with an item.
    counts : ndarray of shape (2**s,)
        Number of best orders of each subset.
    """

    members: np.ndarray
    last: np.ndarray
    counts: np.ndarray


def find_optima(preferences, ranks, time_limit=None):
    """The `Optima` of preferences (r, r), of which `ranks` is an order of least cost.

    Parts of more than 18 items are not counted; there, each pair of neighbours in the order is
    turned round, and the best order under that condition costs more or is another optimum.
    """
    net = clear_net(preferences)
    tied = np.zeros(net.shape, dtype=bool)
    low, high = ranks.copy(), ranks.copy()
    parts: list | None = []
    unique: list = []
    for members in ordered_components(net):
        first = int(ranks[members].min())
        if len(members) <= MAX_ITEMS_COUNTED:
            part = count_orders(members, np.maximum(net[np.ix_(members, members)], 0.0))
            before, low[members], high[members] = positions(part, first)
            tied[np.ix_(members, members)] = (before > 0) & (before.T > 0)
            unique.append(part.counts[-1] == 1)
            if parts is not None:
                parts.append(part)
        else:
            parts = None
            unique.append(turned_neighbours(net, members, ranks, tied, time_limit))
    is_unique = False if False in unique else (None if None in unique else True)
    number = None
    if parts is not None:
        number = int(np.prod([int(part.counts[-1]) for part in parts], dtype=object))
    return Optima(number, tied, is_unique, low, high, parts)


def clear_net(preferences):
    """Net preferences (..., r, r), those within rounding of the votes as 0."""
    net = net_preferences(preferences)
    scale = np.abs(preferences).sum(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(net) > 1e-12 * scale, net, 0.0)


def ordered_components(net):
    """Strong components of the graph with i -> j where j is not preferred to i, best first."""
    r = len(net)
    even = (net >= 0) & ~np.eye(r, dtype=bool)
    component = strong_components((np.zeros(even.sum(), dtype=int), *np.nonzero(even)), (1, r))[0][
        0
    ]
    # Between two of them all pairs are preferred one way: who beats more comes first.
    beaten = np.array([(net[component == c] > 0).sum(axis=1).min() for c in np.unique(component)])
    return [np.flatnonzero(component == c) for c in np.unique(component)[np.argsort(-beaten)]]


def count_orders(members, weights):
    """The `Part` of items with edges of these weights (s, s)."""
    s = len(members)
    bits = 1 << np.arange(s)
    inside = (np.arange(2**s)[:, np.newaxis] & bits) > 0
    pays = inside @ weights.T  # of an item that comes after the subset
    tolerance = 1e-9 * weights.sum()
    least, counts = np.zeros(2**s), np.zeros(2**s)
    last = np.zeros((2**s, s), dtype=bool)
    counts[0] = 1.0
    for subsets in subsets_by_size(s):
        rest = np.where(inside[subsets], subsets[:, np.newaxis] ^ bits, 0)
        cost = np.where(inside[subsets], least[rest] + pays[rest, np.arange(s)], np.inf)
        least[subsets] = cost.min(axis=1)
        last[subsets] = cost <= least[subsets][:, np.newaxis] + tolerance
        counts[subsets] = (counts[rest] * last[subsets]).sum(axis=1)
    return Part(members, last, counts)


def positions(part, first):
    """How many best orders put i before j, (s, s), and the least and largest rank of each item."""
    last, counts = part.last, part.counts
    s = last.shape[1]
    bits = 1 << np.arange(s)
    inside = (np.arange(2**s)[:, np.newaxis] & bits) > 0
    ways = np.zeros(2**s)  # from each subset on to the whole
    ways[-1] = 1.0
    before = np.zeros((s, s))
    low, high = np.full(s, s), np.zeros(s, dtype=int)
    for size, subsets in reversed(list(enumerate(subsets_by_size(s)))):
        for i in range(s):
            ending = subsets[last[subsets, i] & (ways[subsets] > 0)]
            if len(ending):
                rest = ending ^ bits[i]
                ways[rest] += ways[ending]
                before[:, i] += (ways[ending] * counts[rest]) @ inside[rest]
                low[i], high[i] = size, max(high[i], size)
    return before, low + first, high + first


def turned_neighbours(net, members, ranks, tied, time_limit):
    """Whether the order of these items is the only best one; marks the pairs it is not alone in.

    Every other order turns some pair of neighbours round.
    """
    members = members[np.argsort(ranks[members])]
    weights = np.maximum(net[np.ix_(members, members)], 0.0)
    cost = float(np.tril(weights).sum())
    free = np.flatnonzero(weights[np.arange(len(members) - 1), np.arange(1, len(members))] == 0)
    for i in free.tolist():  # a swap without a cost
        tied[members[i], members[i + 1]] = tied[members[i + 1], members[i]] = True
    if len(free):
        return False
    limit = None if time_limit is None else time_limit / (len(members) - 1)
    unique: bool | None = True
    for i in range(len(members) - 1):
        turned = weights.copy()
        turned[i + 1, i] += 2.0 * weights.sum()
        found = decode_pd_exact(turned[np.newaxis], time_limit=limit)
        ranks_found = found.ranks[0]
        value = np.sum(weights * (ranks_found[:, np.newaxis] > ranks_found))
        if value <= cost + 1e-9 * weights.sum():
            tied[members[i], members[i + 1]] = tied[members[i + 1], members[i]] = True
            return False
        if cast(np.ndarray, found.bounds)[0] <= cost + 1e-9 * weights.sum():
            unique = None
    return unique


def best_orders(parts):
    """The best orders one by one, as tuples of item numbers."""

    def inside(part, subset):
        if subset == 0:
            yield ()
            return
        for i in np.flatnonzero(part.last[subset]):
            for head in inside(part, subset ^ (1 << int(i))):
                yield (*head, int(part.members[i]))

    def joined(number):
        if number == len(parts):
            yield ()
            return
        part = parts[number]
        for head in inside(part, len(part.last) - 1):
            for rest in joined(number + 1):
                yield (*head, *rest)

    return joined(0)


def first_orders(parts, n):
    """At most n of the best orders, (m, r)."""
    return np.array(list(islice(best_orders(parts), n)), dtype=np.intp)
