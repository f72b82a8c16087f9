"""Decoding for mean average precision: a quadratic assignment problem.

For symmetric u the value of an order is ``sum_{i >= j} u_ij / max(rank(i), rank(j))``.
With T_p the top p items it unrolls into

    sum_{p=1..r} c_p F(T_p),   F(T) = sum_{i >= j, both in T} u_ij,
    c_p = 1/p - 1/(p+1),  c_r = 1/r,

a longest path through the subsets of the items. `u` comes as its lower triangle, row by
row: d = r(r+1)/2 entries in the order of ``numpy.tril_indices(r)``.
"""

import numpy as np

from ._decoded import Decoded, snapped
from ._sorting import decode_sort
from ._subsets import lists_at_once, subsets_by_size, trace_back

MOST_ITEMS_EXACT = 18  # what decoder="auto" still decodes exactly: 0.1 s for a list
MOST_ITEMS = 22  # 2**22 subsets, some 100 MiB for a list


def symmetric_matrices(u, n_items):
    """Matrices (n_lists, r, r) from their lower triangles (n_lists, r(r+1)/2)."""
    u = np.asarray(u, dtype=np.float64)
    if u.ndim != 2 or u.shape[1] != n_items * (n_items + 1) // 2:
        raise ValueError(
            f"u has shape {u.shape}; for {n_items} items it must be (n_lists, "
            f"{n_items * (n_items + 1) // 2}), the lower triangles row by row."
        )
    full = np.empty((len(u), n_items, n_items))
    row, column = np.tril_indices(n_items)
    full[:, row, column] = u
    full[:, column, row] = u
    return full


def average_precision_value(u, ranks):
    """``sum_{i >= j} u_ij / max(rank(i), rank(j))`` of each list.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    ranks : array-like of shape (n_lists, r)

    Returns
    -------
    ndarray of shape (n_lists,)

    Examples
    --------
    >>> from lowrank_rank.decoders import average_precision_value
    >>> average_precision_value([[1.0, 3.0, 2.0]], [[1, 2]])  # 1/1 + 3/2 + 2/2
    array([3.5])
    """
    ranks = np.asarray(ranks)
    row, column = np.tril_indices(ranks.shape[1])
    return (np.asarray(u) / np.maximum(ranks[:, row], ranks[:, column])).sum(axis=1)


def average_precision_bound(u, n_items):
    """Upper bound on the value of every order of each list.

    ``F(T) = sum_{i in T} (u_ii + half of the links of i inside T)`` is at most the p
    largest of ``u_ii + half of the p-1 largest links of i``, for each size p.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int

    Returns
    -------
    ndarray of shape (n_lists,)

    Examples
    --------
    >>> from lowrank_rank.decoders import average_precision_bound
    >>> average_precision_bound([[1.0, 3.0, 2.0]], n_items=2)  # best order: 2/1 + 4/2 = 4
    array([4.])
    """
    full = symmetric_matrices(u, n_items)
    diagonal = np.arange(n_items)
    own = full[:, diagonal, diagonal]
    links = full[:, ~np.eye(n_items, dtype=bool)].reshape(len(full), n_items, n_items - 1)
    links = np.cumsum(-np.sort(-links, axis=2), axis=2)
    links = np.concatenate([np.zeros((len(full), n_items, 1)), links], axis=2)
    worth = np.sort(own[:, :, np.newaxis] + links / 2.0, axis=1)[:, ::-1]
    largest = np.cumsum(worth, axis=1)[:, diagonal, diagonal]
    return largest @ top_weights(n_items)


def decode_map_diagonal(u, n_items, *, bound=False):
    """Ranks by descending u_ii; optimal under the condition of Theorem 4 (P_reinforce).

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int
    bound : bool, default=False
        Also bound the largest value from above (`average_precision_bound`).

    Returns
    -------
    Decoded
        Ranks, their values and, if asked, upper bounds.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_map_diagonal
    >>> decode_map_diagonal([[1.0, 0.0, 2.0]], n_items=2).ranks
    array([[2, 1]])
    """
    diagonal = np.arange(n_items)
    ranks = decode_sort(symmetric_matrices(u, n_items)[:, diagonal, diagonal])
    return valued(u, ranks, bound)


def valued(u, ranks, bound):
    """Ranks with their values and, if `bound`, the upper bounds."""
    values = average_precision_value(u, ranks)
    if not bound:
        return Decoded(ranks, values)
    scale = np.abs(np.asarray(u)).sum(axis=1)
    bounds = np.maximum(average_precision_bound(u, ranks.shape[1]), values)
    return Decoded(ranks, values, snapped(bounds, values, scale))


def decode_map_exact(u, n_items, *, bound=True):
    """Ranks of the largest value, by the dynamic program over subsets; exact.

    O(2**r * r) operations a list, many lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int
        At most 22.
    bound : bool, default=True
        Whether to return the bounds, here the values themselves.

    Returns
    -------
    Decoded
        Every order is optimal.

    Raises
    ------
    ValueError
        If there are too many items.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_map_exact
    >>> decode_map_exact([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]], n_items=3).ranks
    array([[3, 1, 2]])
    """
    if n_items > MOST_ITEMS:
        raise ValueError(
            f"The exact decoder takes at most {MOST_ITEMS} items (2**r subsets), got {n_items}: "
            'use decoder="local_search" or decoder="diagonal".'
        )
    full = symmetric_matrices(u, n_items)
    at_once = lists_at_once(n_items)
    ranks = np.empty((len(full), n_items), dtype=np.intp)
    for first in range(0, len(full), at_once):
        # One column a list: gathers below then copy whole rows.
        chunk = np.ascontiguousarray(full[first : first + at_once].transpose(1, 2, 0))
        ranks[first : first + at_once] = trace_back(_best_prefixes(chunk))
    values = average_precision_value(u, ranks)
    return Decoded(ranks, values, values.copy() if bound else None)


def top_weights(n_items):
    """c_1, ..., c_r of the module's formula: how much the top p items count as a set."""
    p = np.arange(1.0, n_items + 1)
    c = 1.0 / p - 1.0 / (p + 1.0)
    c[-1] = 1.0 / n_items
    return c


def _inner_sums(u):
    """F(T) for every subset T, shape (2**r, n_lists); doubling over the highest item."""
    n_items, _, n_lists = u.shape
    inner = np.zeros((2**n_items, n_lists))
    links = np.zeros((2 ** (n_items - 1), n_lists))  # sum of u_ij over j in T, for one i
    for i in range(n_items):
        links[0] = u[i, i]
        for j in range(i):
            np.add(links[: 2**j], u[i, j], out=links[2**j : 2 ** (j + 1)])
        np.add(inner[: 2**i], links[: 2**i], out=inner[2**i : 2 ** (i + 1)])
    return inner


def _best_prefixes(u):
    """Largest sum of c_p F(T_p) over the chains that end in each subset."""
    n_items = len(u)
    best = _inner_sums(u)
    weights = top_weights(n_items)
    for p, subsets in enumerate(subsets_by_size(n_items)):
        if p == 0:
            best[subsets] *= weights[0]
            continue
        before = np.full((len(subsets), u.shape[2]), -np.inf)
        for i in range(n_items):
            holds_i = np.flatnonzero(subsets & (1 << i))
            candidate = best[subsets[holds_i] ^ (1 << i)]
            before[holds_i] = np.maximum(before[holds_i], candidate)
        best[subsets] = weights[p] * best[subsets] + before
    return best
