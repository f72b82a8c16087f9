"""The decoders of preferences, and the one table of them."""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..._arrays import ArrayLike
from ..._lists import batches, ranks_from_orders
from ..._parameters import check_parameter, count, number
from .._decoded import Decoded, checked_ranks, joined
from ._algorithm_1 import acyclic_edges, dag_ranks
from ._exact import MAX_ITEMS_ORDERING, MAX_ITEMS_SUBSETS, certified, least_costs
from ._graphs import check_preference_matrices, costs_of, net_preferences
from ._local_search import local_search


def by_net_preferences(u, ranks_of, bound):
    """`Decoded` by a function that gives the ranks (m, r) of net preferences (m, r, r).

    All that a heuristic is: checks, batches that fit into memory, costs and, if asked, bounds.
    """
    u = check_preference_matrices(u)
    parts = []
    for lists in batches(len(u), u.shape[1] ** 2):
        ranks = ranks_of(net_preferences(u[lists]))
        parts.append(Decoded(ranks, costs_of(u[lists], ranks)))
    decoded = joined(parts)
    return certified(u, decoded.ranks) if bound else decoded


def decode_pd_dag(u: ArrayLike, *, bound: bool = False) -> Decoded:
    """Ranks by algorithm 1: delete the smallest edges until no cycle is left, then sort.

    The graph has the edge i -> j of weight ``u_ij - u_ji`` where that is positive. The smallest
    edge (ties in the order of i, j) is deleted until no cycle is left. The result is a topological
    order of the remaining graph that prefers larger net preferences ``sum_j (u_ij - u_ji)``. Exact
    where the graph has no cycle (theorem 7), not in general. The number of edges to delete is found
    by bisection, for all lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    bound : bool, default=False
        Also bound the least cost from below (`preference_bound`).

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


def dag_edges(u: ArrayLike) -> np.ndarray:
    """Edges that algorithm 1 leaves, as a mask of shape (n_lists, r, r).

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)

    Returns
    -------
    ndarray of bool
        [q, i, j]: whether i -> j is kept; acyclic.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.decoders import dag_edges
    >>> np.argwhere(dag_edges([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]])[0]).tolist()
    [[0, 1], [1, 2]]
    """
    return acyclic_edges(net_preferences(check_preference_matrices(u)))


def decode_pd_borda(u: ArrayLike, *, bound: bool = False) -> Decoded:
    """Ranks by net preference, ``sum_j (u_ij - u_ji)`` descending; not exact.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
    bound : bool, default=False
        Also bound the least cost from below.

    Returns
    -------
    Decoded

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_pd_borda
    >>> decode_pd_borda([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks  # net 1, 0, -1
    array([[1, 2, 3]])
    """
    return by_net_preferences(u, _ranks_by_sum, bound)


def _ranks_by_sum(net):
    """Ranks by the row sums; ties in the order of the items."""
    return ranks_from_orders(np.argsort(-net.sum(axis=2), axis=1, kind="stable"))


def decode_pd_local_search(
    u: ArrayLike,
    *,
    n_restarts: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    time_limit: float | None = None,
    bound: bool = False,
) -> Decoded:
    """Ranks by local search over insertions; not exact, never worse than algorithm 1.

    Starts are the orders of algorithm 1 and of the net preference; item by
    item the best move to another position is made, until none lowers the cost. Each restart
    exchanges neighbouring blocks of the best order at random and searches again. A sweep over
    the items takes O(r**2) a list.

    Lists of more than 100 items are annealed instead of restarted [1]_. Items move to random
    positions, costly moves become rarer, and the final order is improved as above.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    n_restarts : int or None, default=None
        None is 100. For lists of more than 100 items each stands for 20 moves of every item, and
        None for 300,000 moves in all, some 3 seconds a list.
    random_state : int, RandomState instance or None, default=0
        Seed of restarts and moves, the same in all lists: the order of a list does not depend on
        the other lists.
    time_limit : float or None, default=None
        Seconds for the annealing of each list of more than 100 items, which cools down the
        faster; give many `n_restarts` to use them all. Orders then depend on the machine.
    bound : bool, default=False
        Also bound the least cost from below (`preference_bound`).

    Returns
    -------
    Decoded

    Raises
    ------
    ValueError
        If u is not a batch of square matrices of finite numbers, or a parameter is out of range.

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
    check_parameter("time_limit", time_limit, [number(above=0), None])
    rng = check_random_state(random_state)
    ranks_of = local_search(u.shape[1], n_restarts, rng, time_limit)
    return by_net_preferences(u, ranks_of, bound)


def decode_pd_exact(
    u: ArrayLike, *, time_limit: float | None = 60.0, bound: bool = True
) -> Decoded:
    """Ranks of least cost ``sum_{i != j} u_ij [rank(i) > rank(j)]``, with a certificate.

    The minimum weighted feedback arc set [1]_. A dynamic program over subsets, O(2**r r), solves
    lists of up to 12 items. Longer lists are solved by component: by the linear relaxation with
    violated triangle inequalities, and by branch and bound (`scipy.optimize.milp`) if a gap is
    left.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored. r at most 200.
    time_limit : float or None, default=60.0
        Seconds for each list; None is no limit. A warning says if it was reached. The result is
        then the best order found, never worse than `decode_pd_local_search`, and the bound proved
        so far. The local search always runs.
    bound : bool, default=True
        Whether to return the bounds, which are known anyway.

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
    Outside the condition of theorem 7 algorithm 1 may fail: it pays 5 here, the best order 4.

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
        limit = "solver's limit" if time_limit is None else f"time limit of {time_limit:g} s"
        warnings.warn(
            f"The {limit} was reached on {len(open_lists)} of {len(u)} lists. The best orders "
            f"found are returned; list {worst} costs {decoded.values[worst]:g}, at most "
            f"{decoded.gaps[worst]:g} too much (bound {decoded.bounds[worst]:g}). Increase "
            "time_limit, or take decoder='local_search'.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return decoded if bound else decoded._replace(bounds=None)


# The table -----------------------------------------------------------------------------


class PDDecoder(NamedTuple):
    """A decoder of preferences with its properties, such as whether it is exact.

    Attributes
    ----------
    decode : callable
        ``decode(u, *, bound=False)`` with preferences u (n_lists, r, r), returns `Decoded`.
    exact : bool
        Whether its orders cost least, whatever u is.
    max_items : int or None
        Longest lists that it takes.
    parameters : tuple of str
        Further arguments of `decode` that `PairwiseDAGRanker` hands on from its own parameters.

    Examples
    --------
    >>> from lowrank_rank.decoders import PD_DECODERS
    >>> PD_DECODERS["dag"].decode([[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]).ranks
    array([[1, 2, 3]])
    """

    decode: Callable
    exact: bool = False
    max_items: int | None = None
    parameters: tuple = ()


#: Decoders of preferences by name, from which losses, ranker, display and tests take them.
PD_DECODERS = {
    "exact": PDDecoder(decode_pd_exact, True, MAX_ITEMS_ORDERING, ("time_limit",)),
    "local_search": PDDecoder(decode_pd_local_search, parameters=("n_restarts",)),
    "dag": PDDecoder(decode_pd_dag),
    "borda": PDDecoder(decode_pd_borda),
}


def auto_pd_decoder(n_items: int) -> str:
    """The name that ``decoder="auto"`` stands for with preferences between this many items.

    Parameters
    ----------
    n_items : int

    Returns
    -------
    str
        The exact decoder up to 12 items, which takes milliseconds for many lists. Beyond, algorithm
        1, which is exact for lists without a cycle, and then as fast as sorting.

    Examples
    --------
    >>> from lowrank_rank.decoders import auto_pd_decoder
    >>> auto_pd_decoder(12), auto_pd_decoder(13)
    ('exact', 'dag')
    """
    check_parameter("n_items", n_items, [count(0)])
    return "exact" if n_items <= MAX_ITEMS_SUBSETS else "dag"


def pd_decoder(decoder: str | Callable[..., Any], n_items: int) -> PDDecoder:
    """The `PDDecoder` for lists of this many items.

    Parameters
    ----------
    decoder : str or callable
        A name of `PD_DECODERS`, "auto", or a function of preferences (n_lists, r, r) that returns
        `Decoded` or ranks (n_lists, r).
    n_items : int

    Returns
    -------
    PDDecoder

    Raises
    ------
    ValueError
        If the name is unknown, or the decoder refuses that many items.

    Examples
    --------
    >>> from lowrank_rank.decoders import pd_decoder
    >>> pd_decoder("auto", 5).exact, pd_decoder("auto", 50).exact
    (True, False)
    """
    if callable(decoder):
        return PDDecoder(lambda u, *, bound=False: _custom(decoder, u, bound))
    automatic = auto_pd_decoder(n_items)
    name = automatic if decoder == "auto" else decoder
    if not isinstance(name, str) or name not in PD_DECODERS:
        raise ValueError(
            f"decoder must be one of {sorted(PD_DECODERS)}, 'auto' or a function of preferences "
            f"(n_lists, r, r) that returns ranks, got {decoder!r}."
        )
    longest = PD_DECODERS[name].max_items
    if longest is not None and n_items > longest:
        others = [k for k, d in PD_DECODERS.items() if n_items <= (d.max_items or n_items)]
        raise ValueError(
            f"decoder={name!r} takes at most {longest} items, there are {n_items}: take one of "
            f"{sorted(others)}."
        )
    return PD_DECODERS[name]


def _custom(decode, u, bound):
    """`Decoded` of what a function outside of the package makes of preferences."""
    u = check_preference_matrices(u)
    ranks = checked_ranks(decode(u), u.shape[:2])
    return certified(u, ranks) if bound else Decoded(ranks, costs_of(u, ranks))
