"""Decoding for mean average precision: a quadratic assignment problem.

For symmetric u the value of an order is ``sum_{i >= j} u_ij / max(rank(i), rank(j))``.
With T_p the top p items it unrolls into

    sum_{p=1..r} c_p F(T_p),   F(T) = sum_{i >= j, both in T} u_ij,
    c_p = 1/p - 1/(p+1),  c_r = 1/r,

a longest path through the subsets of the items. `u` comes as its lower triangle, row by
row: d = r(r+1)/2 entries in the order of ``numpy.tril_indices(r)``.
"""

from functools import lru_cache

import numpy as np

from ._sorting import decode_sort

MOST_ITEMS_EXACT = 18  # what decoder="auto" still decodes exactly: 0.1 s for a list
MOST_ITEMS = 22  # 2**22 subsets, some 100 MiB for a list
_SUBSETS_AT_ONCE = 2**21  # subsets x lists held at the same time


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


def decode_diagonal(u, n_items):
    """Ranks by descending u_ii; optimal under the condition of Theorem 4 (P_reinforce).

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_diagonal
    >>> decode_diagonal([[1.0, 0.0, 2.0]], n_items=2)
    array([[2, 1]])
    """
    diagonal = np.arange(n_items)
    return decode_sort(symmetric_matrices(u, n_items)[:, diagonal, diagonal])


def decode_subsets(u, n_items):
    """Ranks of the largest value, by the dynamic program over subsets; exact.

    O(2**r * r) operations a list, many lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int
        At most 22.

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)

    Raises
    ------
    ValueError
        If there are too many items.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_subsets
    >>> decode_subsets([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]], n_items=3)
    array([[3, 1, 2]])
    """
    if n_items > MOST_ITEMS:
        raise ValueError(
            f"The exact decoder takes at most {MOST_ITEMS} items (2**r subsets), got {n_items}: "
            'use decoder="local_search" or decoder="diagonal".'
        )
    full = symmetric_matrices(u, n_items)
    at_once = max(1, _SUBSETS_AT_ONCE >> n_items)
    ranks = np.empty((len(full), n_items), dtype=np.intp)
    for first in range(0, len(full), at_once):
        # One column a list: gathers below then copy whole rows.
        chunk = np.ascontiguousarray(full[first : first + at_once].transpose(1, 2, 0))
        ranks[first : first + at_once] = _trace_back(_best_prefixes(chunk))
    return ranks


def top_weights(n_items):
    """c_1, ..., c_r of the module's formula: how much the top p items count as a set."""
    p = np.arange(1.0, n_items + 1)
    c = 1.0 / p - 1.0 / (p + 1.0)
    c[-1] = 1.0 / n_items
    return c


@lru_cache(maxsize=4)
def _subsets_by_size(n_items):
    """Bit masks of the subsets of each size 1..r."""
    masks = np.arange(2**n_items, dtype=np.int32)
    size = np.zeros(2**n_items, dtype=np.int8)
    for i in range(n_items):
        size[2**i : 2 ** (i + 1)] = size[: 2**i] + 1
    by_size = np.argsort(size, kind="stable")
    return np.split(masks[by_size], np.cumsum(np.bincount(size)))[1:-1]


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
    for p, subsets in enumerate(_subsets_by_size(n_items)):
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


def _trace_back(best):
    """Ranks from the table of `_best_prefixes`: take the last item off, r times."""
    n_items, n_lists = len(best).bit_length() - 1, best.shape[1]
    bits = 1 << np.arange(n_items)
    lists = np.arange(n_lists)
    subset = np.full(n_lists, len(best) - 1)
    ranks = np.empty((n_lists, n_items), dtype=np.intp)
    for p in range(n_items, 0, -1):
        inside = subset[:, np.newaxis] & bits
        without = np.where(inside > 0, subset[:, np.newaxis] ^ bits, 0)
        values = np.where(inside > 0, best[without, lists[:, np.newaxis]], -np.inf)
        last = n_items - 1 - np.argmax(values[:, ::-1], axis=1)  # ties: the later item
        ranks[lists, last] = p
        subset = subset ^ bits[last]
    return ranks
