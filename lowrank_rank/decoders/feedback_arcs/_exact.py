"""Orders of least cost for preferences, and lower bounds on what any order costs.

Few items: the dynamic program over subsets, many lists at once. More: each strong component
of a list's graph by the linear ordering program, with triangle cuts.
"""

from functools import lru_cache, partial
from time import monotonic

import numpy as np

from ..._arrays import ArrayLike
from ..._lists import batches, ranks_from_orders
from ..._parameters import check_parameter, number
from .._decoded import MAX_SUBSETS, Decoded, subsets_by_size, trace_back
from ._algorithm_1 import dag_ranks, topological_orders
from ._graphs import (
    check_preference_matrices,
    clipped,
    costs_of,
    net_preferences,
    net_scores,
    pair_bound,
    strong_components,
)
from ._linear_ordering import LinearOrdering
from ._local_search import local_search

MAX_ITEMS_SUBSETS = 12  # beyond, the linear program is faster than 2**r subsets
MAX_ITEMS_ORDERING = 200  # 20,000 variables; time limits end the search long before
MAX_ITEMS_GAP = 20  # where the relaxation leaves a gap, 2**20 subsets take less than branching
_LARGEST = 1e3  # weights are scaled to it, so that the solver's absolute gap of 1e-6 is small
_BOUND_SECONDS = 60.0  # for each list whose heuristic order is to have a bound


def preference_bound(u: ArrayLike, *, time_limit: float | None = 60.0) -> np.ndarray:
    """Lower bound on the cost of every order of each list.

    For lists of up to 12 items the bound is the least cost. Beyond, it is the value of a dual
    solution of the linear relaxation with triangle inequalities, which is a bound despite rounding.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        r at most 200.
    time_limit : float or None, default=60.0
        Seconds for each list; the bound that is proved by then is returned.

    Returns
    -------
    ndarray of shape (n_lists,)

    Examples
    --------
    >>> from lowrank_rank.decoders import preference_bound
    >>> preference_bound([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]])
    array([1.])
    """
    u = check_preference_matrices(u)
    return pair_bound(u) + least_costs(u, time_limit, branch=False)[1]


def certified(u, ranks, extra=None):
    """Orders with their costs and bounds, `extra` on the weight of the edges that they go against.

    Costs that every order pays, and edges that no good order violates, are no part of the gap.
    """
    if extra is None:
        extra = least_costs(u, _BOUND_SECONDS, branch=False)[1]
    values, spent = costs_of(u, ranks), np.empty(len(u))
    for lists in batches(len(u), u.shape[1] ** 2):
        spent[lists] = costs_of(np.maximum(net_preferences(u[lists]), 0.0), ranks[lists])
    gaps = np.maximum(spent - extra, 0.0)
    return Decoded(ranks, values, values - np.where(gaps > 1e-9 * spent, gaps, 0.0))


def least_costs(u, time_limit, branch):
    """Ranks of least cost, and bounds on the weight of the edges that any order goes against.

    Without `branch` the relaxation has to do.
    """
    n_lists, r = u.shape[:2]
    if r > MAX_ITEMS_ORDERING:
        raise ValueError(
            f"The exact method and its bound take at most {MAX_ITEMS_ORDERING} items, u has {r}: "
            "take decoder='local_search' or decoder='dag', without a bound."
        )
    check_parameter("time_limit", time_limit, [number(above=0), None])
    ranks, extra = np.empty((n_lists, r), dtype=np.intp), np.zeros(n_lists)
    for lists in batches(n_lists, r * r):
        net = net_preferences(u[lists])
        weights = np.maximum(net, 0.0)
        if r <= MAX_ITEMS_SUBSETS:
            ranks[lists] = _short_ranks(net, weights)
            extra[lists] = costs_of(weights, ranks[lists])
            continue
        for q in range(len(weights)):
            deadline = None if time_limit is None else monotonic() + time_limit
            start = _searched_once(net[q]) if branch else None
            order, extra[lists.start + q] = order_components(weights[q], deadline, branch, start)
            ranks[lists.start + q] = ranks_from_orders(order[np.newaxis])[0]
    return ranks, extra


def _searched_once(net):
    """Function that gives the ranks of a list by local search, which is made at the first call."""
    return lru_cache(maxsize=1)(lambda: local_search(len(net))(net[np.newaxis])[0])


def _short_ranks(net, weights):
    """Ranks of algorithm 1 where they cost nothing, else of the program over subsets."""
    ranks = dag_ranks(net)
    cyclic = costs_of(weights, ranks) > 0
    ranks[cyclic] = subset_ranks(clipped(weights[cyclic], ranks[cyclic]))
    return ranks


# Components --------------------------------------------------------------------------


def order_components(weights, deadline, branch, start=None):
    """Order of one list, its strong components one after another, and a bound.

    An order that takes the components in a topological order goes against no edge between
    them, so each can be ordered by itself.

    Parameters
    ----------
    weights : ndarray of shape (r, r)
        Edges i -> j of positive weight, at most one of i -> j and j -> i.
    deadline : float or None
        Of the monotonic clock.
    branch : bool
        Whether to close the gap that the relaxation leaves.
    start : callable or None
        ``start()`` gives the ranks of a good order. A component with a gap starts from its part of
        this order.

    Returns
    -------
    order : ndarray of int, shape (r,)
    bound : float
        On the weight of the edges that any order goes against.
    """
    edges = np.nonzero(weights)
    component, _ = strong_components((np.zeros_like(edges[0]), *edges), (1, len(weights)))
    component = component[0]
    n_components = int(component.max()) + 1
    between = np.zeros((1, n_components, n_components), dtype=bool)
    between[0, component[edges[0]], component[edges[1]]] = True
    between[0, np.arange(n_components), np.arange(n_components)] = False
    order, bound = [], 0.0
    for c in topological_orders(between, np.zeros((1, n_components)))[0][0]:
        members = np.flatnonzero(component == c)
        inside = weights[np.ix_(members, members)]
        if len(members) > 1:
            better = None if start is None else partial(_order_within, start, members)
            best, least = order_by_cuts(inside, deadline, branch, better)
            members, bound = members[best], bound + least
        order.append(members)
    return np.concatenate(order), bound


def _order_within(start, members):
    return np.argsort(start()[members])


def order_by_cuts(weights, deadline, branch, better):
    """Order and bound of one strong component; see `order_components`."""
    start = dag_ranks(net_preferences(weights[np.newaxis]))
    weights = clipped(weights[np.newaxis], start)[0]
    largest = weights.max()
    whole = np.array_equal(weights, np.round(weights))
    unit = _LARGEST / largest if whole else None
    scaled = weights / largest * _LARGEST
    program = LinearOrdering(scaled, np.argsort(start[0]), deadline, unit, better)
    if program.relax() and branch:
        if len(weights) <= MAX_ITEMS_GAP:
            order = np.argsort(subset_ranks(weights[np.newaxis])[0])
            return order, np.tril(weights[np.ix_(order, order)]).sum()
        program.branch()
    program.search()  # where time was over before
    return program.order, program.bound / _LARGEST * largest


# Subsets -----------------------------------------------------------------------------


def subset_ranks(weights):
    """Ranks of least cost by the dynamic program over subsets, lists in chunks.

    Ties between orders of equal cost go to the order nearer to the net preferences, seen from the
    end: items are renumbered by them, and ties go to the later item.
    """
    n_lists, r = weights.shape[:2]
    by_net = np.argsort(-net_scores(weights), axis=1, kind="stable")
    renumbered = np.take_along_axis(weights, by_net[:, :, np.newaxis], axis=1)
    renumbered = np.take_along_axis(renumbered, by_net[:, np.newaxis, :], axis=2)
    found = np.empty((n_lists, r), dtype=np.intp)
    for lists in batches(n_lists, 2**r, MAX_SUBSETS):
        chunk = renumbered[lists]
        best = _best_prefixes(np.ascontiguousarray(chunk.transpose(1, 2, 0)))
        found[lists] = trace_back(
            best, lambda inside, w=chunk: -np.einsum("qij,qj->qi", w, inside.astype(float))
        )
    ranks = np.empty_like(found)
    np.put_along_axis(ranks, by_net, found, axis=1)
    return ranks


def _best_prefixes(weights):
    """Largest negative cost inside each subset, (2**r, n_lists), of weights (r, r, n_lists).

    Item i as the last item of a subset costs ``sum_j weights_ij`` over the others. Two tables hold
    such sums over the lower and the upper half of the items.
    """
    r, _, n_lists = weights.shape
    half = r // 2
    lower = [_subset_sums(weights[i, :half]) for i in range(r)]
    upper = [_subset_sums(weights[i, half:]) for i in range(r)]
    best = np.zeros((2**r, n_lists))
    for subsets in subsets_by_size(r):
        largest = np.full((len(subsets), n_lists), -np.inf)
        for i in range(r):
            holds_i = np.flatnonzero(subsets & (1 << i))
            others = subsets[holds_i] ^ (1 << i)
            value = best[others] - lower[i][others & (2**half - 1)] - upper[i][others >> half]
            largest[holds_i] = np.maximum(largest[holds_i], value)
        best[subsets] = largest
    return best


def _subset_sums(values):
    """Sum of the rows of `values` (m, n_lists) over every subset of them, (2**m, n_lists)."""
    sums = np.zeros((2 ** len(values), values.shape[1]))
    for i, row in enumerate(values):
        np.add(sums[: 2**i], row, out=sums[2**i : 2 ** (i + 1)])
    return sums
