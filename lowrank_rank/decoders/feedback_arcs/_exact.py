"""Orders of least cost for preferences, and lower bounds on the cost of any order.

A dynamic program over subsets solves many short lists at once. Longer lists are split
into the strong components of their graphs, and the linear ordering program solves each
component.
"""

import time
from functools import cache, partial

import numpy as np

from ...lists._lists import bounded_blocks
from ...lists._ranks import ranks_from_orders
from ...validation._check import refuse
from ...validation._checks_of_decoders import CHECKS_OF_DECODERS
from .._decoded import Decoded, subsets_by_size, trace_back
from ._graphs import (
    clipped,
    costs_of,
    dag_ranks,
    net_preferences,
    net_scores,
    strong_components,
    topological_orders,
)
from ._linear_ordering import LinearOrdering
from ._local_search import local_search

MAX_ITEMS_SUBSETS = 12  # the linear program is faster than more than 2**12 subsets
MAX_ITEMS_ORDERING = 200  # 20,000 variables; longer lists reach any time limit
MAX_ITEMS_GAP = 20  # a gap of the relaxation: 2**20 subsets are faster than branching


def certified(u, ranks, edge_bounds=None, time_limit=10.0):
    """Return orders with their costs and lower bounds of the least costs.

    `edge_bounds` bound the weight of the edges that any order violates from below; None
    computes them, with at most `time_limit` seconds for the linear program of a list.
    Preferences that every order violates do not enter the gap.
    """
    if edge_bounds is None:
        _, edge_bounds = least_costs(u, time_limit)
    values = costs_of(u, ranks)
    violated = np.empty(len(u))  # weight of the edges that the orders violate
    for lists in bounded_blocks(len(u), u.shape[1] ** 2):
        edges = np.maximum(net_preferences(u[lists]), 0.0)
        violated[lists] = costs_of(edges, ranks[lists])
    gaps = np.maximum(violated - edge_bounds, 0.0)
    # A gap within rounding is not a gap.
    gaps = np.where(gaps > 1e-9 * violated, gaps, 0.0)
    return Decoded(ranks, values, values - gaps)


def least_costs(u, time_limit=60.0, *, branch=False):
    """Find orders of least cost, or only bounds of it.

    Parameters
    ----------
    u : ndarray of shape (n_lists, r, r)
    time_limit : float or None
        Seconds for each list.
    branch : bool
        Whether to close the gap of the relaxation.

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)
    edge_bounds : ndarray of shape (n_lists,)
        Lower bounds of the weight of the edges that any order violates.
    """
    n_lists, r = u.shape[:2]
    refuse(
        CHECKS_OF_DECODERS,
        n_items=r,
        max_items=MAX_ITEMS_ORDERING,
        who="The exact method, like its bound,",
        others="decoder='local_search' or decoder='dag', without a bound",
    )
    ranks = np.empty((n_lists, r), dtype=np.intp)
    edge_bounds = np.zeros(n_lists)
    for lists in bounded_blocks(n_lists, r * r):
        net = net_preferences(u[lists])
        weights = np.maximum(net, 0.0)
        if r <= MAX_ITEMS_SUBSETS:
            ranks[lists] = _ranks_of_short_lists(net, weights)
            edge_bounds[lists] = costs_of(weights, ranks[lists])
            continue
        searched_ranks = local_search(r)
        for q in range(len(weights)):
            deadline = None
            if time_limit is not None:
                deadline = time.monotonic() + time_limit
            search = None
            if branch:
                # All components share one local search, which runs only if one of
                # them has a gap.
                search = cache(partial(searched_ranks, net[[q]]))
            order, edge_bound = order_components(weights[q], deadline, search)
            ranks[lists.start + q] = ranks_from_orders(order[np.newaxis])[0]
            edge_bounds[lists.start + q] = edge_bound
    return ranks, edge_bounds


def _ranks_of_short_lists(net, weights):
    """Rank acyclic lists by algorithm 1, and the others by dynamic programming."""
    ranks = dag_ranks(net)
    has_cycle = costs_of(weights, ranks) > 0
    clipped_weights = clipped(weights[has_cycle], ranks[has_cycle])
    ranks[has_cycle] = subset_ranks(clipped_weights)
    return ranks


# Components --------------------------------------------------------------------------


def order_components(weights, deadline, search):
    """Order the strong components of one list one after another, and bound the cost.

    Components in a topological order violate no edge between them, so each component
    can be ordered separately.

    Parameters
    ----------
    weights : ndarray of shape (r, r)
        At most one of the edges i -> j and j -> i has a weight above 0.
    deadline : float or None
    search : callable or None
        ``search()`` returns the ranks (1, r) of a good order, a start for components
        with a gap. None solves the relaxation only.

    Returns
    -------
    order : ndarray of int, shape (r,)
    bound : float
        A lower bound of the weight of the edges that any order violates.
    """
    components, _ = strong_components(weights[np.newaxis] > 0)
    component = components[0]
    n_components = int(component.max()) + 1
    # The graph of the components.
    tails, heads = np.nonzero(weights)
    between = np.zeros((1, n_components, n_components), dtype=bool)
    between[0, component[tails], component[heads]] = True
    between[0, np.arange(n_components), np.arange(n_components)] = False
    component_orders, _ = topological_orders(between, np.zeros((1, n_components)))
    parts = []
    bound = 0.0
    for c in component_orders[0]:
        members = np.flatnonzero(component == c)
        if len(members) > 1:
            order, bound_of_members = order_by_cuts(
                weights[np.ix_(members, members)], deadline, search, members
            )
            members = members[order]
            bound += bound_of_members
        parts.append(members)
    return np.concatenate(parts), bound


def order_by_cuts(weights, deadline, search, members):
    """Order the members of one strong component, and bound the cost from below.

    See `order_components`. The order numbers the members.
    """
    start = dag_ranks(net_preferences(weights[np.newaxis]))
    weights = clipped(weights[np.newaxis], start)[0]
    # Scaled to a largest weight of 1000, in relation to which the solver's absolute gap
    # of 1e-6 is small.
    largest = weights.max()
    unit = None
    if np.array_equal(weights, np.round(weights)):
        unit = 1e3 / largest
    program = LinearOrdering(
        weights / largest * 1e3, np.argsort(start[0]), deadline, unit
    )
    # At the time limit this bound is left.
    program.raise_bound(packed_cycles(program.weights))
    has_gap = program.relax()  # False also if the time is over
    if search is not None and has_gap and len(weights) <= MAX_ITEMS_GAP:
        order = np.argsort(subset_ranks(weights[np.newaxis])[0])
        return order, np.tril(weights[np.ix_(order, order)]).sum()
    if search is not None and not program.is_closed():
        # A good order may close the gap alone.
        program.offer(np.argsort(search()[0, members]))
        if has_gap:
            program.branch()
    return program.order, program.bound / 1e3 * largest


def packed_cycles(weights):
    """Bound the weight of the edges that any order violates, by cycles of three edges.

    An order violates an edge of each cycle, and so at least the least weight of its
    edges. Cycles are taken one after another, and each uses up this weight of its three
    edges: a greedy packing. Longer cycles are not seen.

    Parameters
    ----------
    weights : ndarray of shape (r, r)
        At most one of the edges i -> j and j -> i has a weight above 0.

    Returns
    -------
    float
    """
    left = weights.copy()
    rounding = 1e-12 * left.max(initial=0.0)
    bound = 0.0
    for i, j in np.argwhere(left > 0).tolist():
        while left[i, j] > rounding:
            # The cycle i -> j -> k -> i with the largest least weight.
            through = np.minimum(left[j], left[:, i])
            k = int(np.argmax(through))
            least = min(through[k], left[i, j])
            if least <= rounding:
                break
            left[[i, j, k], [j, k, i]] -= least
            bound += float(least)
    return bound


# Subsets -----------------------------------------------------------------------------


def subset_ranks(weights):
    """Find ranks of least cost by dynamic programming over subsets.

    Among orders of equal cost the result follows the net preference, from the last item
    to the first. For this the items are renumbered by net preference, and ties go to
    the later item.
    """
    n_lists, r = weights.shape[:2]
    by_net = np.argsort(-net_scores(weights), axis=1, kind="stable")
    rows = np.arange(n_lists)[:, np.newaxis]
    renumbered = weights[
        rows[:, np.newaxis], by_net[:, :, np.newaxis], by_net[:, np.newaxis]
    ]
    ranks = np.empty((n_lists, r), dtype=np.intp)
    for lists in bounded_blocks(n_lists, 2**r):
        # One column for each list makes the gathers below copy whole rows.
        lists_last = np.ascontiguousarray(renumbered[lists].transpose(1, 2, 0))
        best = _best_prefixes(lists_last)
        added = partial(_values_of_last_items, renumbered[lists])
        ranks[rows[lists], by_net[lists]] = trace_back(best, added)
    return ranks


def _values_of_last_items(weights, inside):
    """Compute -sum_j weights_ij over the items j `inside` a subset, (n_lists, r)."""
    return -np.einsum("qij,qj->qi", weights, inside.astype(float))


def _best_prefixes(weights):
    """Compute the largest negative cost inside each subset, (2**r, n_lists).

    The last item i of a subset pays ``sum_j weights_ij`` over the other items, with
    weights (r, r, n_lists). Two tables hold these sums, for the lower and for the upper
    half of the items.
    """
    r, _, n_lists = weights.shape
    half = r // 2
    lower = _subset_sums(weights[:, :half])
    upper = _subset_sums(weights[:, half:])
    best = np.zeros((2**r, n_lists))
    for size, subsets in enumerate(subsets_by_size(r), start=1):
        # The items of each subset, each once as the last one.
        _, items = np.nonzero(subsets[:, np.newaxis] & (1 << np.arange(r)))
        last = items.reshape(-1, size)
        others = subsets[:, np.newaxis] ^ (1 << last)
        # best(T) = max over i in T of best(T - i) - sum of weights_ij over j in T - i.
        value = best[others]
        value -= lower[last, others & (2**half - 1)]
        value -= upper[last, others >> half]
        best[subsets] = value.max(axis=1)
    return best


def _subset_sums(values):
    """Sum values (r, m, n_lists) over the subsets of m items, (r, 2**m, n_lists)."""
    r, m, n_lists = values.shape
    sums = np.zeros((r, 2**m, n_lists))
    for i in range(m):
        np.add(sums[:, : 2**i], values[:, [i]], out=sums[:, 2**i : 2 ** (i + 1)])
    return sums
