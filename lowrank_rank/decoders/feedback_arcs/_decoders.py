"""The decoders of preferences, and the one table of them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._arrays import ArrayLike
from ..._lists import bounded_blocks, check_ranks, ranks_from_orders
from ..._parameters import check_parameter, count
from ..._warn import warn
from .._decoded import Decoded, Decoder
from ._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS, certified, least_costs
from ._graphs import check_preference_matrices, costs_of, dag_ranks
from ._local_search import local_search


def by_net_preferences(u, ranks_of, bound):
    """`Decoded` by a function that gives the ranks (m, r) of net preferences (m, r, r).

    This function checks the input, cuts it into batches that fit into memory, and adds
    the costs and, if asked, the bounds.
    """
    u = check_preference_matrices(u)
    ranks = np.empty(u.shape[:2], dtype=np.intp)
    for lists in bounded_blocks(len(u), u.shape[1] ** 2):
        ranks[lists] = ranks_of(u[lists] - u[lists].swapaxes(1, 2))
    return certified(u, ranks) if bound else Decoded(ranks, costs_of(u, ranks))


def decode_pd_dag(u: ArrayLike, *, bound: bool = False) -> Decoded:
    """Ranks by algorithm 1: delete the smallest edges until no cycle is left, then sort.

    The graph has the edge i -> j of weight ``u_ij - u_ji`` if that is positive. While
    the graph has a cycle, its smallest edge is deleted (ties in the order of i, j). The
    result is a topological order of the other edges. Among several it prefers items of
    larger net preference ``sum_j (u_ij - u_ji)``. The order is exact if the graph has
    no cycle (theorem 7), but not in general. Bisection finds the number of edges to
    delete, for all lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    bound : bool, default=False
        Also bound the least cost from below.

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
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, "Convex Calibrated Surrogates for Low-Rank
       Loss Matrices", NIPS 2013, algorithm 1 and theorem 7.

    Examples
    --------
    The cycle 0 -> 1 -> 2 -> 0 of weights 2, 2, 1 loses its smallest edge:

    >>> from lowrank_rank.decoders import decode_pd_dag
    >>> decode_pd_dag([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks
    array([[1, 2, 3]])
    """
    return by_net_preferences(u, dag_ranks, bound)


def decode_pd_borda(u: ArrayLike, *, bound: bool = False) -> Decoded:
    """Ranks by net preference, ``sum_j (u_ij - u_ji)`` descending; not exact.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        Preferences of item i over j, one matrix for each list.
    bound : bool, default=False
        Also bound the least cost from below.

    Returns
    -------
    Decoded
        Ranks, 1 is best, and their costs.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_pd_borda
    >>> decode_pd_borda([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks  # net 1, 0, -1
    array([[1, 2, 3]])
    """

    def ranks_of(net):
        return ranks_from_orders(np.argsort(-net.sum(axis=2), axis=1, kind="stable"))

    return by_net_preferences(u, ranks_of, bound)


def decode_pd_local_search(
    u: ArrayLike,
    *,
    n_restarts: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    bound: bool = False,
) -> Decoded:
    """Ranks by local search over insertions; not exact, never worse than algorithm 1.

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
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    n_restarts : int or None, default=None
        None is 100. For lists of more than 100 items each restart means 20 moves of
        every item, and None means 300,000 moves in all, about 3 seconds a list.
    random_state : int, RandomState instance or None, default=0
        Seed of the restarts and moves. All lists use the same random numbers, so that
        the order of a list does not depend on the other lists.
    bound : bool, default=False
        Also bound the least cost from below.

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
    .. [1] S. Kirkpatrick, C. Gelatt, M. Vecchi, "Optimization by Simulated Annealing", Science
       220, 1983.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.decoders import decode_pd_local_search
    >>> u = np.zeros((1, 4, 4))
    >>> u[0, [0, 1, 2, 3, 3], [2, 2, 3, 0, 1]] = [3, 2, 4, 5, 6]
    >>> decode_pd_local_search(u, bound=True).optimal
    array([ True])
    """
    u = check_preference_matrices(u)
    check_parameter("n_restarts", n_restarts, [count(0), None])
    return by_net_preferences(
        u, local_search(u.shape[1], n_restarts, random_state), bound
    )


def decode_pd_exact(
    u: ArrayLike, *, time_limit: float | None = 60.0, bound: bool = True
) -> Decoded:
    """Ranks of least cost ``sum_{i != j} u_ij [rank(i) > rank(j)]``, with a certificate.

    This is the minimum weighted feedback arc set [1]_. A dynamic program over subsets,
    O(2**r r), solves lists of up to 12 items. Longer lists are solved one strong
    component after another, by the linear relaxation with the violated triangle
    inequalities. Branch and bound (`scipy.optimize.milp`) closes a gap, from the order
    of `decode_pd_local_search`.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored. r at most
        200.
    time_limit : float or None, default=60.0
        Seconds for each list; None is no limit. At the limit a warning is given, and
        the best order and bound found so far are returned. The order is never worse
        than the result of `decode_pd_local_search`, which runs even if no time is left.
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
    decoded = certified(u, *least_costs(u, time_limit, branch=True))
    open_lists = np.flatnonzero(~decoded.optimal)
    if len(open_lists):
        worst = open_lists[np.argmax(decoded.gaps[open_lists])]
        limit = (
            "solver's limit"
            if time_limit is None
            else f"time limit of {time_limit:g} s"
        )
        warn(
            f"The {limit} was reached on {len(open_lists)} of {len(u)} lists. The best order found "
            f"of list {worst} costs {decoded.values[worst]:g}, at most {decoded.gaps[worst]:g} "
            "above the least cost. Increase time_limit, or use decoder='local_search'.",
            ConvergenceWarning,
        )
    return decoded if bound else decoded._replace(bounds=None)


# The table
# -----------------------------------------------------------------------------


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
    """The decoder that ``decoder="auto"`` selects for a number of items.

    "exact" up to 12 items, "short_search" (local search with 20 restarts) up to 40, and
    "dag", algorithm 1, above. None of them is worse than "dag" on any list.
    """
    check_parameter("n_items", n_items, [count(0)])
    if n_items <= MAX_ITEMS_SUBSETS:
        return "exact"
    return (
        "short_search" if n_items <= 40 else "dag"
    )  # 40: 5 ms a list (`benchmarks decoders`)


def pd_decoder(decoder: str | Callable[..., Any], n_items: int) -> Decoder:
    """The `Decoder` of a name of `PD_DECODERS`, "auto", or a function, for a number of items.

    A function takes preferences (n_lists, r, r) and returns `Decoded` or ranks
    (n_lists, r).
    """
    if callable(decoder):

        def decode(u, *, bound=False):
            u = check_preference_matrices(u)
            ranks = check_ranks(decoder(u), "What the decoder returns", u.shape[:2])
            return certified(u, ranks) if bound else Decoded(ranks, costs_of(u, ranks))

        return Decoder(decode, False)
    automatic = auto_pd_decoder(n_items)
    name = automatic if decoder == "auto" else decoder
    if not isinstance(name, str) or name not in PD_DECODERS:
        raise ValueError(
            f"decoder must be one of {sorted(PD_DECODERS)}, 'auto' or a function of preferences "
            f"(n_lists, r, r) that returns ranks, got {decoder!r}."
        )
    longest = PD_DECODERS[name].max_items
    if longest is not None and n_items > longest:
        others = [
            k for k, d in PD_DECODERS.items() if n_items <= (d.max_items or n_items)
        ]
        raise ValueError(
            f"decoder={name!r} takes at most {longest} items, there are {n_items}: use one of "
            f"{sorted(others)}."
        )
    return PD_DECODERS[name]
