"""Decoding by assignment of items to positions, for losses linear in [rank(i) = p]."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from ._sorting import decode_sort


def decode_assignment(u, n_items):
    """Ranks that maximise the sum of u[i, rank(i)] over the first positions; exact.

    Parameters
    ----------
    u : array-like of shape (n_lists, n_items * depth)
        ``u[q, i * depth + p]`` is what item i is worth at position p + 1.
    n_items : int
        Number of items r of each list.

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, n_items)
        1 = best. Items that got none of the first `depth` positions follow by descending
        total worth.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_assignment
    >>> decode_assignment([[3.0, 2.0, 2.0, 0.0, 0.0, 0.0]], n_items=3)  # depth 2
    array([[2, 1, 3]])
    """
    u = np.asarray(u, dtype=np.float64)
    worth = u.reshape(len(u), n_items, -1)
    depth = worth.shape[2]
    ranks = depth + decode_sort(worth.sum(axis=2))
    for ranks_of_list, worth_of_list in zip(ranks, worth, strict=True):
        # Equal but for the last digits is equal: which of them is taken must not be chance.
        largest = np.abs(worth_of_list).max()
        rounded = np.round(worth_of_list / largest, 12) if largest > 0 else worth_of_list
        items, positions = linear_sum_assignment(rounded, maximize=True)
        ranks_of_list[items] = positions + 1
    return decode_sort(-ranks.astype(float))
