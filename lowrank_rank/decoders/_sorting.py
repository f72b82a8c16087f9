"""Decoding by sorting, and by assignment of items to positions; both exact for their losses."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._arrays import ArrayLike
from .._lists import RankingLists, ranks_from_scores
from .._parameters import check_parameter, count
from ._decoded import checked_vectors


def decode_sort(u: ArrayLike) -> np.ndarray:
    """Ranks by descending u; equal entries keep the order of the items.

    Minimises ``<u, -phi(rank)>`` exactly for every non-increasing phi: for every positional loss
    sorting is the argmin of [1]_, theorem 3.

    Parameters
    ----------
    u : array-like of shape (n_lists, r)

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)
        1 = best.

    Raises
    ------
    ValueError
        If u is not a matrix of finite numbers.

    References
    ----------
    .. [1] H. Ramaswamy, S. Agarwal, A. Tewari, NIPS 2013, theorem 3.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_sort
    >>> decode_sort([[0.1, 0.7, 0.2]])
    array([[3, 1, 2]])
    """
    u = checked_vectors(u, largest=np.inf)
    if u.size == 0:
        return np.empty(u.shape, dtype=np.intp)
    return ranks_from_scores(u.ravel(), RankingLists.equal(*u.shape)).reshape(u.shape)


def decode_assignment(u: ArrayLike, n_items: int) -> np.ndarray:
    """Ranks that maximise the sum of u[i, rank(i)] over the first positions; exact.

    For losses that are linear in the indicators [rank(i) = p].

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

    Raises
    ------
    ValueError
        If u is not a matrix of finite numbers, the same number of columns for each item.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_assignment
    >>> decode_assignment([[3.0, 2.0, 2.0, 0.0, 0.0, 0.0]], n_items=3)  # depth 2
    array([[2, 1, 3]])
    """
    check_parameter("n_items", n_items, [count()])
    u = checked_vectors(u)
    depth, left_over = divmod(u.shape[1], n_items)
    if left_over or not depth:
        raise ValueError(
            f"u has shape {u.shape}; for {n_items} items it must be (n_lists, {n_items} * depth), "
            "what each item is worth at each of the first positions, item by item."
        )
    worth = u.reshape(len(u), n_items, depth)
    ranks = depth + decode_sort(worth.sum(axis=2))
    for ranks_of_list, worth_of_list in zip(ranks, worth, strict=True):
        # Equal but for the last digits is equal: which of them is taken must not be chance.
        largest = np.abs(worth_of_list).max()
        rounded = np.round(worth_of_list / largest, 12) if largest > 0 else worth_of_list
        items, positions = linear_sum_assignment(rounded, maximize=True)
        ranks_of_list[items] = positions + 1
    return decode_sort(-ranks.astype(float))
