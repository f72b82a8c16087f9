"""Exact orders for preferences, and lower bounds on what any order costs.

Few items: the dynamic program over subsets, many lists at once. More: each strong component
of a list's graph by the linear ordering program, with triangle cuts.
"""

import warnings
from time import monotonic

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ._decoded import Decoded, batches
from ._linear_ordering import order_components
from ._preferences import (
    check_preference_matrices,
    clipped,
    net_preferences,
    pair_bound,
    preference_cost,
    ranks_from_orders,
)
from ._subset_orders import subset_ranks
from ._topological import dag_ranks

MOST_ITEMS_SUBSETS = 12  # beyond, the linear program is faster than 2**r subsets
MOST_ITEMS_ORDERING = 200  # 20,000 variables; time limits end the search long before
_BOUND_SECONDS = 60.0  # for each list whose heuristic order is to have a bound


def decode_pd_exact(u, *, time_limit=60.0, bound=True):
    """Ranks of least cost ``sum_{i != j} u_ij [rank(i) > rank(j)]``, with a certificate.

    The minimum weighted feedback arc set. Lists of up to 12 items take the dynamic program
    over subsets, O(2**r r); longer ones are solved component by component: by the linear
    relaxation with triangle inequalities added as they are violated and, where that
    leaves a gap, by branch and bound over it (`scipy.optimize.milp`).

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored. r at most 200.
    time_limit : float or None, default=60.0
        Seconds for each list; None is no limit. Where it is reached, the best order found and
        the bound proved so far are returned, with a warning.
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

    Examples
    --------
    Algorithm 1 would pay 5 here (specified as a counter-example); the best order pays 4:

    >>> import numpy as np
    >>> from lowrank_rank.decoders import decode_pd_dag, decode_pd_exact
    >>> u = np.zeros((1, 4, 4))
    >>> u[0, [0, 1, 2, 3, 3], [2, 2, 3, 0, 1]] = [3, 2, 4, 5, 6]
    >>> decode_pd_exact(u).values, decode_pd_dag(u).values
    (array([4.]), array([5.]))
    """
    u = check_preference_matrices(u)
    decoded = certified(u, *_solve(u, time_limit, branch=True))
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


def preference_bound(u, *, time_limit=60.0):
    """Lower bound on the cost of every order of each list.

    The least cost itself for lists of up to 12 items; beyond, the linear relaxation with
    triangle inequalities, from its dual solution, which holds whatever the solver's rounding.

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
    return pair_bound(u) + _solve(u, time_limit, branch=False)[1]


def certified(u, ranks, extra=None):
    """Orders with their costs and bounds, `extra` on the weight of the edges that they go against.

    What every order pays, and edges that no good order goes against, have no part in the gap.
    """
    if extra is None:
        extra = _solve(u, _BOUND_SECONDS, branch=False)[1]
    values, spent = preference_cost(u, ranks), np.empty(len(u))
    for lists in batches(len(u), u.shape[1] ** 2):
        spent[lists] = preference_cost(np.maximum(net_preferences(u[lists]), 0.0), ranks[lists])
    gaps = np.maximum(spent - extra, 0.0)
    return Decoded(ranks, values, values - np.where(gaps > 1e-9 * spent, gaps, 0.0))


def _solve(u, time_limit, branch):
    """Ranks of all lists, and bounds on the weight of the edges that any order goes against.

    Without `branch` the relaxation has to do.
    """
    n_lists, r = u.shape[:2]
    if r > MOST_ITEMS_ORDERING:
        raise ValueError(
            f"The exact method and its bound take at most {MOST_ITEMS_ORDERING} items, u has {r}: "
            "take decoder='local_search' or decoder='dag', without a bound."
        )
    if time_limit is not None and not time_limit > 0:
        raise ValueError(f"time_limit must be a number of seconds > 0 or None, got {time_limit!r}.")
    ranks, extra = np.empty((n_lists, r), dtype=np.intp), np.zeros(n_lists)
    for lists in batches(n_lists, r * r):
        weights = np.maximum(net_preferences(u[lists]), 0.0)
        if r <= MOST_ITEMS_SUBSETS:
            ranks[lists] = _short_ranks(weights)
            extra[lists] = preference_cost(weights, ranks[lists])
            continue
        for q in range(len(weights)):
            deadline = None if time_limit is None else monotonic() + time_limit
            order, extra[lists.start + q] = order_components(weights[q], deadline, branch)
            ranks[lists.start + q] = ranks_from_orders(order[np.newaxis])[0]
    return ranks, extra


def _short_ranks(weights):
    """Ranks of algorithm 1 where they cost nothing, else of the program over subsets."""
    ranks = dag_ranks(weights)
    cyclic = preference_cost(weights, ranks) > 0
    ranks[cyclic] = subset_ranks(clipped(weights[cyclic], ranks[cyclic]))
    return ranks
