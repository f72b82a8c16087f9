"""Local search for preferences: insertions, and restarts from shaken orders."""

from sklearn.utils import check_random_state

from ._decoded import Decoded, batches, joined
from ._exact_preferences import certified
from ._insertion import search, shakes_of
from ._preferences import (
    check_preference_matrices,
    net_preferences,
    preference_cost,
    ranks_from_orders,
)


def decode_pd_local_search(u, *, n_restarts=None, random_state=0, bound=False):
    """Ranks by local search over insertions; not exact, never worse than algorithm 1.

    Starts are the orders of algorithm 1 and of the net preference; item by
    item the best move to another position is made, until none lowers the cost. Each restart
    exchanges neighbouring blocks of the best order at random and searches again. A sweep over
    the items takes O(r**2) a list.

    Parameters
    ----------
    u : array-like of shape (n_lists, r, r)
        u[q, i, j] is the weight of "i before j"; the diagonal is ignored.
    n_restarts : int or None, default=None
        None is 100, and ``1e6 / r**2`` for lists of more than 100 items.
    random_state : int, RandomState instance or None, default=0
        Of the restarts, which shake all lists alike: the order of a list does not depend on the
        other lists.
    bound : bool, default=False
        Also bound the least cost from below (`preference_bound`).

    Returns
    -------
    Decoded

    Raises
    ------
    ValueError
        If u is not a batch of square matrices of finite numbers.

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
    if n_restarts is not None and n_restarts < 0:
        raise ValueError(f"n_restarts must be an integer >= 0 or None, got {n_restarts!r}.")
    if n_restarts is None:
        n_restarts = min(100, 10**6 // max(u.shape[1], 1) ** 2)
    shakes = shakes_of(u.shape[1], n_restarts, check_random_state(random_state))
    parts = []
    for lists in batches(len(u), u.shape[1] ** 2):
        ranks = ranks_from_orders(search(net_preferences(u[lists]), shakes))
        parts.append(Decoded(ranks, preference_cost(u[lists], ranks)))
    decoded = joined(parts)
    return certified(u, decoded.ranks) if bound else decoded
