"""The decoders of preferences, and the one table of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ...lists._lists import bounded_blocks
from ...lists._ranks import ranks_from_orders
from ...validation._arrays import ArrayLike
from ...validation._check import refuse
from ...validation._checks_of_decoders import CHECKS_OF_DECODERS
from ...validation._findings import found
from ...validation._ids import check_ranks
from ...validation._parameters import check_parameter, checked, count, number
from .._decoded import Decoded, Decoder
from ._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS, certified, least_costs
from ._graphs import check_preference_matrices, costs_of, dag_ranks
from ._local_search import local_search

#: Seconds for the linear program of a list.
TIME_LIMIT = [number(above=0), None]


def by_net_preferences(u, ranks_of, bound, time_limit):
    """Decode by a function that ranks net preferences (m, r, r), and add the costs.

    This function checks the input, cuts it into blocks that fit into memory, and adds
    the bounds if asked.
    """
    u = check_preference_matrices(u)
    ranks = np.empty(u.shape[:2], dtype=np.intp)
    for lists in bounded_blocks(len(u), u.shape[1] ** 2):
        ranks[lists] = ranks_of(u[lists] - u[lists].swapaxes(1, 2))
    return valued(u, ranks, bound, time_limit)


def valued(u, ranks, bound, time_limit=10.0):
    """Return ranks with their costs and, if `bound`, the lower bounds."""
    if bound:
        return certified(u, ranks, time_limit=time_limit)
    return Decoded(ranks, costs_of(u, ranks))


@checked(bound=[bool], time_limit=TIME_LIMIT)
def decode_pd_dag(
    u: ArrayLike, *, bound: bool = False, time_limit: float | None = 10.0
) -> Decoded:
    """Rank by algorithm 1: delete the smallest edges until no cycle is left, then sort.

    The graph has the edge i -> j of weight ``u_ij - u_ji`` if that is positive. While
    the graph has a cycle, its smallest edge is deleted (ties in the order of i, j). The
    result is a topological order of the other edges. Among several it prefers items of
    larger net preference ``sum_j (u_ij - u_ji)``. The order is exact if the graph has
    no cycle (theorem 7), but not in general. Bisection finds the number of edges to
    delete, for all lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal does not count.
    bound : bool, default=False
        Also bound the least cost from below: up to 12 items by the least cost itself.
        Longer lists have the larger of two bounds, a greedy packing of cycles of three
        edges and, where it leaves a gap, the linear relaxation of `decode_pd_exact`.
    time_limit : float or None, default=10.0
        Seconds for the linear relaxation of a list; None means no limit. At the limit
        the bound is the larger of what both found so far.

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
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for
       Low-Rank Loss Matrices", NIPS 2013, algorithm 1 and theorem 7.

    Examples
    --------
    The cycle 0 -> 1 -> 2 -> 0 of weights 2, 2, 1 loses its smallest edge:

    >>> from lowrank_rank.decoders import decode_pd_dag
    >>> decode_pd_dag([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks
    array([[1, 2, 3]])
    """
    return by_net_preferences(u, dag_ranks, bound, time_limit)


@checked(bound=[bool], time_limit=TIME_LIMIT)
def decode_pd_borda(
    u: ArrayLike, *, bound: bool = False, time_limit: float | None = 10.0
) -> Decoded:
    """Rank by net preference, ``sum_j (u_ij - u_ji)`` descending; not exact.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        Preferences of item i over j, one matrix for each list.
    bound : bool, default=False
        Also bound the least cost from below: up to 12 items by the least cost itself.
        Longer lists have the larger of two bounds, a greedy packing of cycles of three
        edges and, where it leaves a gap, the linear relaxation of `decode_pd_exact`.
    time_limit : float or None, default=10.0
        Seconds for the linear relaxation of a list; None means no limit. At the limit
        the bound is the larger of what both found so far.

    Returns
    -------
    Decoded
        Ranks, 1 is best, and their costs.

    Examples
    --------
    Net preferences of the pairs (0, 1), (0, 2), (1, 2); sums 1, 0, -1:

    >>> from lowrank_rank.target_losses import PairwiseDisagreement
    >>> PairwiseDisagreement().decoders["borda"].decode([[2.0, -1.0, 2.0]], 3)
    array([[1, 2, 3]])
    """
    return by_net_preferences(u, borda_ranks, bound, time_limit)


def borda_ranks(net):
    """Rank by the sums of net preferences (n_lists, r, r)."""
    orders = np.argsort(-net.sum(axis=2), axis=1, kind="stable")
    return ranks_from_orders(orders)


@checked(bound=[bool], time_limit=TIME_LIMIT)
def decode_pd_local_search(
    u: ArrayLike,
    *,
    n_restarts: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    bound: bool = False,
    time_limit: float | None = 10.0,
) -> Decoded:
    """Rank by local search over insertions; not exact, never worse than algorithm 1.

    The search starts from the orders of algorithm 1 and of the net preference. Each
    item in turn makes its best move to another position, until no move lowers the cost.
    Each restart exchanges neighbouring blocks of the best order at random and searches
    again. A sweep over the items takes O(r**2) for each list.

    Lists of more than 100 items use simulated annealing [1]_ instead of restarts, one
    list after another. Items move to random positions, and costly moves become rare
    over time. The search then improves the final order.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal does not count.
    n_restarts : int or None, default=None
        None is 100. For lists of more than 100 items each restart means 20 moves of
        every item, and None means 300,000 moves in all, about 3 seconds a list.
    random_state : int, RandomState instance or None, default=0
        Seed of the restarts and moves. All lists use the same random numbers, so that
        the order of a list does not depend on the other lists.
    bound : bool, default=False
        Also bound the least cost from below: up to 12 items by the least cost itself.
        Longer lists have the larger of two bounds, a greedy packing of cycles of three
        edges and, where it leaves a gap, the linear relaxation of `decode_pd_exact`.
    time_limit : float or None, default=10.0
        Seconds for the linear relaxation of a list; None means no limit. At the limit
        the bound is the larger of what both found so far.

    Returns
    -------
    Decoded
        Ranks, 1 is best, and their costs.

    Raises
    ------
    ValueError
        If u is not a batch of square matrices of finite numbers, or a parameter is out
        of range.

    References
    ----------
    .. [1] S. Kirkpatrick, C. Gelatt, M. Vecchi, "Optimization by Simulated Annealing",
       Science 220, 1983.

    Examples
    --------
    Net preferences of the pairs (0, 1), (0, 2), (1, 2), a cycle:

    >>> from lowrank_rank.target_losses import PairwiseDisagreement
    >>> PairwiseDisagreement().decoders["local_search"].decode([[2.0, -1.0, 2.0]], 3)
    array([[1, 2, 3]])
    """
    u = check_preference_matrices(u)
    check_parameter("n_restarts", n_restarts, [count(0), None])
    search = local_search(u.shape[1], n_restarts, random_state)
    return by_net_preferences(u, search, bound, time_limit)


@checked(bound=[bool], time_limit=TIME_LIMIT)
def decode_pd_exact(
    u: ArrayLike, *, time_limit: float | None = 60.0, bound: bool = True
) -> Decoded:
    """Find ranks of least cost ``sum_{i != j} u_ij [rank(i) > rank(j)]``, and prove it.

    This is the minimum weighted feedback arc set [1]_. A dynamic program over subsets,
    O(2**r r), solves lists of up to 12 items. Longer lists are solved one strong
    component after another, by the linear relaxation with the violated triangle
    inequalities. Branch and bound (`scipy.optimize.milp`) closes a gap, from the order
    of the decoder "local_search".

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal does not count. r at most
        200.
    time_limit : float or None, default=60.0
        Seconds for each list; None means no limit. At the limit a warning is given, and
        the best order and bound found so far are returned. The order is never worse
        than that of the decoder "local_search", which runs even if no time is left.
    bound : bool, default=True
        Whether to return the bounds, which cost no extra time.

    Returns
    -------
    Decoded
        ``optimal`` says which lists are proved.

    Raises
    ------
    ValueError
        If u is not a batch of square matrices of finite numbers, or has too many items.

    Warns
    -----
    ConvergenceWarning
        If a time limit was reached.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, section 7.

    Examples
    --------
    Outside the condition of theorem 7 algorithm 1 may fail: its order costs 5, the best
    one 4.

    >>> import numpy as np
    >>> from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact
    >>> u = np.zeros((1, 4, 4))
    >>> u[0, [0, 1, 2, 3, 3], [2, 2, 3, 0, 1]] = [3, 2, 4, 5, 6]
    >>> decode_pd_exact(u).values, decode_pd_dag(u).values
    (array([4.]), array([5.]))
    """
    u = check_preference_matrices(u)
    ranks, edge_bounds = least_costs(u, time_limit, branch=True)
    decoded = certified(u, ranks, edge_bounds)
    open_lists = np.flatnonzero(~decoded.optimal)
    if len(open_lists):
        worst = open_lists[np.argmax(decoded.gaps[open_lists])]
        limit = "solver's limit"
        if time_limit is not None:
            limit = f"time limit of {time_limit:g} s"
        found(
            "search limit",
            f"The {limit} was reached on {len(open_lists)} of {len(u)} lists. The "
            f"best order found of list {worst} costs {decoded.values[worst]:g}, at "
            f"most {decoded.gaps[worst]:g} above the least cost. Increase time_limit, "
            "or use decoder='local_search' (for votes, method='copeland').",
            ConvergenceWarning,
        )
    if not bound:
        return decoded._replace(bounds=None)
    return decoded


# The table ----------------------------------------------------------------------------


#: Decoders of preferences by name, for losses, ranker, display and tests.
PD_DECODERS = {
    "exact": Decoder(decode_pd_exact, True, max_items=MAX_ITEMS_ORDERING),
    "local_search": Decoder(decode_pd_local_search, False),
    # 20 restarts lose .01 % of the weight that the best orders keep (`benchmarks
    # decoders`).
    "short_search": Decoder(partial(decode_pd_local_search, n_restarts=20), False),
    "dag": Decoder(decode_pd_dag, False),
    "borda": Decoder(decode_pd_borda, False),
}


def auto_pd_decoder(n_items: int) -> str:
    """Return the decoder that ``decoder="auto"`` selects for a number of items.

    "exact" up to 12 items, "short_search" (local search with 20 restarts) up to 40, and
    "dag", algorithm 1, above. None of them is worse than "dag" on any list.
    """
    check_parameter("n_items", n_items, [count(0)])
    if n_items <= MAX_ITEMS_SUBSETS:
        return "exact"
    if n_items <= 40:  # 5 ms a list (`benchmarks decoders`)
        return "short_search"
    return "dag"


def pd_decoder(decoder: str | Callable[..., Any], n_items: int) -> Decoder:
    """Look up a decoder of preferences for a number of items.

    Parameters
    ----------
    decoder : str or callable
        A name of `PD_DECODERS`, "auto", or a function that takes preferences
        (n_lists, r, r) and returns `Decoded` or ranks (n_lists, r).
    n_items : int

    Returns
    -------
    Decoder
    """
    if callable(decoder):
        return Decoder(partial(_decode_by_function, decoder), False)
    name = auto_pd_decoder(n_items) if decoder == "auto" else decoder
    others = [
        other
        for other, entry in PD_DECODERS.items()
        if entry.max_items is None or n_items <= entry.max_items
    ]
    if name not in others:
        max_items = PD_DECODERS[name].max_items if name in list(PD_DECODERS) else None
        refuse(
            CHECKS_OF_DECODERS,
            decoder=name,
            names=sorted(PD_DECODERS),
            n_items=n_items,
            max_items=max_items,
            who=f"decoder={name!r}",
            others=f"one of {sorted(others)}",
        )
    return PD_DECODERS[name]


def _decode_by_function(function, u, *, bound=False):
    """Decode by a user's function of preferences."""
    u = check_preference_matrices(u)
    ranks = check_ranks(function(u), "What the decoder returns", u.shape[:2])
    return valued(u, ranks, bound)
