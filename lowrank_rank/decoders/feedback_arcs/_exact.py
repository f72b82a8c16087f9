"""Orders of least cost for preferences, and lower bounds on the cost of any order.

A dynamic program over subsets solves many short lists at once. Longer lists are split
into the strong components of their graphs, and the linear ordering program solves each
component.
"""

import time
from functools import cache, partial

import numpy as np

from ..._lists import bounded_blocks, ranks_from_orders
from ..._parameters import check_parameter, number
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


def certified(u, ranks, extra=None):
    """Orders with their costs and bounds.

    `extra` bounds the weight of the violated edges from below. Weights that every order
    pays, and edges that no good order violates, do not enter the gap.
    """
    if extra is None:
        _, extra = least_costs(u)
    values, spent = costs_of(u, ranks), np.empty(len(u))
    for lists in bounded_blocks(len(u), u.shape[1] ** 2):
        spent[lists] = costs_of(
            np.maximum(net_preferences(u[lists]), 0.0), ranks[lists]
        )
    gaps = np.maximum(spent - extra, 0.0)
    return Decoded(ranks, values, values - np.where(gaps > 1e-9 * spent, gaps, 0.0))


def least_costs(u, time_limit=60.0, *, branch=False):
    """Ranks of least cost, and bounds on the weight of the edges that any order violates.

    Without `branch` only the relaxation is solved.
    """
    n_lists, r = u.shape[:2]
    if r > MAX_ITEMS_ORDERING:
        raise ValueError(
            f"The exact method and its bound take at most {MAX_ITEMS_ORDERING} items, u has {r}: "
            "use decoder='local_search' or decoder='dag', without a bound."
        )
    check_parameter("time_limit", time_limit, [number(above=0), None])
    ranks, extra = np.empty((n_lists, r), dtype=np.intp), np.zeros(n_lists)
    for lists in bounded_blocks(n_lists, r * r):
        net = net_preferences(u[lists])
        weights = np.maximum(net, 0.0)
        if r <= MAX_ITEMS_SUBSETS:
            by_dag = dag_ranks(net)
            cyclic = costs_of(weights, by_dag) > 0
            by_dag[cyclic] = subset_ranks(clipped(weights[cyclic], by_dag[cyclic]))
            ranks[lists], extra[lists] = by_dag, costs_of(weights, by_dag)
            continue
        searched = local_search(r)
        for q in range(len(weights)):
            deadline = None if time_limit is None else time.monotonic() + time_limit
            # All components share one local search, which runs only if one of them has
            # a gap.
            search = cache(partial(searched, net[[q]])) if branch else None
            order, extra[lists.start + q] = order_components(
                weights[q], deadline, search
            )
            ranks[lists.start + q] = ranks_from_orders(order[np.newaxis])[0]
    return ranks, extra


# Components --------------------------------------------------------------------------


def order_components(weights, deadline, search):
    """Order of one list, its strong components one after another, and a bound.

    Components in a topological order violate no edge between them, so each component
    can be ordered separately. `weights` has at most one of the edges i -> j and j -> i.
    ``search()`` returns the ranks (1, r) of a good order, a start for components with a
    gap; None solves the relaxation only. The bound is a lower one, on the weight of the
    edges that any order violates.
    """
    components, _ = strong_components(weights[np.newaxis] > 0)
    component = components[0]
    edges = np.nonzero(weights)
    n_components = int(component.max()) + 1
    between = np.zeros((1, n_components, n_components), dtype=bool)
    between[0, component[edges[0]], component[edges[1]]] = True
    between[0, np.arange(n_components), np.arange(n_components)] = False
    order, bound = [], 0.0
    for c in topological_orders(between, np.zeros((1, n_components)))[0][0]:
        members = np.flatnonzero(component == c)
        if len(members) > 1:
            better = search and (
                lambda members=members: np.argsort(search()[0, members])
            )
            best, least = order_by_cuts(
                weights[np.ix_(members, members)], deadline, better
            )
            members, bound = members[best], bound + least
        order.append(members)
    return np.concatenate(order), bound


def order_by_cuts(weights, deadline, better):
    """Order and bound of one strong component; see `order_components`."""
    start = dag_ranks(net_preferences(weights[np.newaxis]))
    weights = clipped(weights[np.newaxis], start)[0]
    # The solver's absolute gap of 1e-6 is small in relation to a largest weight of
    # 1000.
    largest = weights.max()
    unit = 1e3 / largest if np.array_equal(weights, np.round(weights)) else None
    program = LinearOrdering(
        weights / largest * 1e3, np.argsort(start[0]), deadline, unit
    )
    has_gap = program.relax()  # False also if the time is over
    if better is not None and has_gap and len(weights) <= MAX_ITEMS_GAP:
        order = np.argsort(subset_ranks(weights[np.newaxis])[0])
        return order, np.tril(weights[np.ix_(order, order)]).sum()
    if better is not None and not program.is_closed():
        program.offer(better())  # a good order may close the gap alone
        if has_gap:
            program.branch()
    return program.order, program.bound / 1e3 * largest


# Subsets -----------------------------------------------------------------------------


def subset_ranks(weights):
    """Ranks of least cost by the dynamic program over subsets, lists in chunks.

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
        chunk = renumbered[lists]
        best = _best_prefixes(np.ascontiguousarray(chunk.transpose(1, 2, 0)))
        ranks[rows[lists], by_net[lists]] = trace_back(
            best,
            lambda inside, w=chunk: -np.einsum("qij,qj->qi", w, inside.astype(float)),
        )
    return ranks


def _best_prefixes(weights):
    """Largest negative cost inside each subset, (2**r, n_lists), of weights (r, r, n_lists).

    The last item i of a subset pays ``sum_j weights_ij`` over the other items. Two
    tables hold these sums, for the lower and for the upper half of the items.
    """
    r, _, n_lists = weights.shape
    half = r // 2
    lower, upper = _subset_sums(weights[:, :half]), _subset_sums(weights[:, half:])
    best = np.zeros((2**r, n_lists))
    for size, subsets in enumerate(subsets_by_size(r), start=1):
        # The items of each subset, each once as the last one.
        last = np.nonzero(subsets[:, np.newaxis] & (1 << np.arange(r)))[1].reshape(
            -1, size
        )
        others = subsets[:, np.newaxis] ^ (1 << last)
        value = best[others]
        value -= lower[last, others & (2**half - 1)]
        value -= upper[last, others >> half]
        best[subsets] = value.max(axis=1)
    return best


def _subset_sums(values):
    """Sums of `values` (r, m, n_lists) over the subsets of m items, (r, 2**m, n_lists)."""
    r, m, n_lists = values.shape
    sums = np.zeros((r, 2**m, n_lists))
    for i in range(m):
        np.add(sums[:, : 2**i], values[:, [i]], out=sums[:, 2**i : 2 ** (i + 1)])
    return sums
