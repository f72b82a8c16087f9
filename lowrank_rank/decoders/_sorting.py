"""Decoding by sorting: exact for every positional loss (spec of Theorem 3's argmin)."""

import numpy as np

from .._lists import RankingLists
from .._ranks import ranks_from_scores


def decode_sort(u):
    """Ranks by descending u; equal entries keep the order of the items.

    Minimises ``<u, -phi(rank)>`` exactly for every non-increasing phi.

    Parameters
    ----------
    u : array-like of shape (n_lists, r)

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)
        1 = best.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_sort
    >>> decode_sort([[0.1, 0.7, 0.2]])
    array([[3, 1, 2]])
    """
    u = np.asarray(u, dtype=np.float64)
    if u.size == 0:
        return np.empty(u.shape, dtype=np.intp)
    return ranks_from_scores(u.ravel(), RankingLists.equal(*u.shape)).reshape(u.shape)
