"""Decoding for mean average precision: a quadratic assignment problem.

For symmetric u the value of an order is ``sum_{i >= j} u_ij / max(rank(i), rank(j))``.
If T_p denotes the top p items, it equals

    sum_{p=1..r} c_p F(T_p),   F(T) = sum_{i >= j, both in T} u_ij,
    c_p = 1/p - 1/(p+1),  c_r = 1/r,

a longest path through the subsets of the items. The input `u` holds the lower triangle
row by row: d = r(r+1)/2 entries in the order of ``numpy.tril_indices(r)``.
"""

import numpy as np

from .._arrays import ArrayLike
from .._lists import bounded_blocks, ranks_from_orders
from .._parameters import check_parameter, count
from ._decoded import (
    Decoded,
    checked_vectors,
    compared_ranks,
    decode_sort,
    insertion,
    subsets_by_size,
    trace_back,
)

MAX_ITEMS_EXACT = (
    12  # decoder="auto": two to three times local search (`benchmarks limits`)
)
MAX_ITEMS = 22  # 2**22 subsets, some 100 MiB for a list


def symmetric_matrices(u, n_items):
    """Matrices (n_lists, r, r) from their lower triangles (n_lists, r(r+1)/2)."""
    u = checked_triangles(u, n_items)
    full = np.empty((len(u), n_items, n_items))
    row, column = np.tril_indices(n_items)
    full[:, row, column] = u
    full[:, column, row] = u
    return full


def checked_triangles(u, n_items):
    """Lower triangles (n_lists, r(r+1)/2) as finite floats."""
    check_parameter("n_items", n_items, [count()])
    of, layout = f"for {n_items} items ", ", the lower triangles row by row"
    return checked_vectors(u, n_items * (n_items + 1) // 2, of, layout)


def average_precision_value(u: ArrayLike, ranks: ArrayLike) -> np.ndarray:
    """``sum_{i >= j} u_ij / max(rank(i), rank(j))`` of each list.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    ranks : array-like of shape (n_lists, r)

    Returns
    -------
    ndarray of shape (n_lists,)

    Raises
    ------
    ValueError
        If u or ranks are not finite numbers of these shapes.

    Examples
    --------
    >>> from lowrank_rank.decoders._average_precision import average_precision_value
    >>> average_precision_value([[1.0, 3.0, 2.0]], [[1, 2]])  # 1/1 + 3/2 + 2/2
    array([3.5])
    """
    u = checked_vectors(u)
    n_items = int(np.sqrt(2 * u.shape[1]))
    u = checked_triangles(u, max(n_items, 1))
    ranks = compared_ranks(ranks, len(u), n_items)
    row, column = np.tril_indices(n_items)
    return (u / np.maximum(ranks[:, row], ranks[:, column])).sum(axis=1)


def average_precision_bound(u: ArrayLike, n_items: int) -> np.ndarray:
    """Upper bound on the value of every order of each list.

    A set T of p items has ``F(T) = sum_{i in T} (u_ii + half of the links of i inside
    T)``. This is at most the sum of the p largest ``u_ii + half of the p-1 largest
    links of i``.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int

    Returns
    -------
    ndarray of shape (n_lists,)

    Examples
    --------
    >>> from lowrank_rank.decoders._average_precision import average_precision_bound
    >>> average_precision_bound([[1.0, 3.0, 2.0]], n_items=2)  # best order: 2/1 + 4/2 = 4
    array([4.])
    """
    full = symmetric_matrices(u, n_items)
    diagonal = np.arange(n_items)
    own = full[:, diagonal, diagonal]
    links = full[:, ~np.eye(n_items, dtype=bool)].reshape(
        len(full), n_items, n_items - 1
    )
    links = np.cumsum(-np.sort(-links, axis=2), axis=2)
    links = np.concatenate([np.zeros((len(full), n_items, 1)), links], axis=2)
    worth = np.sort(own[:, :, np.newaxis] + links / 2.0, axis=1)[:, ::-1]
    largest = np.cumsum(worth, axis=1)[:, diagonal, diagonal]
    return largest @ top_weights(n_items)


def decode_map_diagonal(u: ArrayLike, n_items: int, *, bound: bool = False) -> Decoded:
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
    >>> from lowrank_rank.decoders._average_precision import decode_map_diagonal
    >>> decode_map_diagonal([[1.0, 0.0, 2.0]], n_items=2).ranks
    array([[2, 1]])
    """
    full = symmetric_matrices(u, n_items)
    ranks = decode_sort(np.diagonal(full, axis1=1, axis2=2))
    return valued(u, ranks, bound)


def valued(u, ranks, bound):
    """Ranks with their values and, if `bound`, the upper bounds."""
    values = average_precision_value(u, ranks)
    if not bound:
        return Decoded(ranks, values)
    scale = np.abs(np.asarray(u)).sum(axis=1)
    bounds = np.maximum(average_precision_bound(u, ranks.shape[1]), values)
    is_met = np.abs(bounds - values) <= 1e-9 * scale  # up to rounding
    return Decoded(ranks, values, np.where(is_met, values, bounds))


def decode_map_exact(u: ArrayLike, n_items: int, *, bound: bool = True) -> Decoded:
    """Ranks of the largest value, by the dynamic program over subsets; exact.

    O(2**r * r) operations a list, many lists at once.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
        Estimates of the encoded labels, one row for each list.
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
    check_parameter("n_items", n_items, [count()])
    if n_items > MAX_ITEMS:
        raise ValueError(
            f"The exact decoder takes at most {MAX_ITEMS} items (2**r subsets), got {n_items}: "
            'use decoder="local_search" or decoder="diagonal".'
        )
    full = symmetric_matrices(u, n_items)
    ranks = np.empty((len(full), n_items), dtype=np.intp)
    for lists in bounded_blocks(len(full), 2**n_items):
        # One column for each list makes the gathers below copy whole rows.
        chunk = np.ascontiguousarray(full[lists].transpose(1, 2, 0))
        ranks[lists] = trace_back(_best_prefixes(chunk))
    values = average_precision_value(u, ranks)
    return Decoded(ranks, values, values.copy() if bound else None)


def top_weights(n_items):
    """The weights c_1, ..., c_r of the module's formula."""
    p = np.arange(1.0, n_items + 1)
    c = 1.0 / p - 1.0 / (p + 1.0)
    c[-1] = 1.0 / n_items
    return c


def _best_prefixes(u):
    """Largest sum of c_p F(T_p) over the chains that end in each subset."""
    n_items, _, n_lists = u.shape
    best = np.zeros(
        (2**n_items, n_lists)
    )  # F(T) of every subset at first, item after item
    links = np.zeros(
        (2 ** (n_items - 1), n_lists)
    )  # sum of u_ij over j in T, for one i
    for i in range(n_items):
        links[0] = u[i, i]
        for j in range(i):
            np.add(links[: 2**j], u[i, j], out=links[2**j : 2 ** (j + 1)])
        np.add(best[: 2**i], links[: 2**i], out=best[2**i : 2 ** (i + 1)])
    weights = top_weights(n_items)
    for p, subsets in enumerate(subsets_by_size(n_items)):
        if p == 0:
            best[subsets] *= weights[0]
            continue
        before = np.full((len(subsets), n_lists), -np.inf)
        for i in range(n_items):
            holds_i = np.flatnonzero(subsets & (1 << i))
            candidate = best[subsets[holds_i] ^ (1 << i)]
            before[holds_i] = np.maximum(before[holds_i], candidate)
        best[subsets] = weights[p] * best[subsets] + before
    return best


# Local search ---------------------------------------------------------------------


def decode_map_local_search(
    u: ArrayLike, n_items: int, *, max_sweeps: int = 50, bound: bool = False
) -> Decoded:
    """Ranks by local search from the diagonal order; not exact, never worse than that order.

    Each sweep moves every item to its best position, until no move improves any list. A
    sweep takes O(r**2) for each list. `average_precision_bound` bounds the possible
    gain of an exact decoder.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
        Estimates of the encoded labels, one row for each list.
    n_items : int
        Number r of items.
    max_sweeps : int, default=50
        Sweeps over the items.
    bound : bool, default=False
        Also bound the largest value from above (`average_precision_bound`).

    Returns
    -------
    Decoded
        Ranks, their values and, if asked, upper bounds.

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_map_local_search
    >>> decode_map_local_search([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]], n_items=3).ranks
    array([[3, 1, 2]])
    """
    check_parameter("max_sweeps", max_sweeps, [count(0)])
    full = symmetric_matrices(u, n_items)
    order = np.argsort(decode_map_diagonal(u, n_items).ranks, axis=1)
    active = np.arange(len(full) if n_items > 1 else 0)
    lists = np.arange(len(full))[:, np.newaxis]
    closing = np.tril(
        full[lists[:, :, np.newaxis], order[:, :, np.newaxis], order[:, np.newaxis]]
    )
    closing = closing.sum(axis=2)  # pairs with their later item at this position
    least = 1e-12 * np.abs(full).sum(axis=(1, 2))  # smaller gains are rounding errors
    for _ in range(max_sweeps):
        if len(active) == 0:
            break
        now = order[active], closing[active], least[active]
        order[active], closing[active], improved = _sweep(full, lists[active], *now)
        active = active[improved]
    return valued(u, ranks_from_orders(order), bound)


def _sweep(full, lists, order, closing, least):
    """Move each item in turn to its best place, the others keeping their order.

    An item at position s that moves behind the item at k > s takes its link from the
    closing pairs of k, which go from rank k + 1 to k. In front of k < s it adds its
    link, and they go to k + 2. Sums of these changes up to each gap between two items
    give the values of all moves.

    Parameters
    ----------
    full : ndarray of shape (n_lists, r, r)
    lists : ndarray of int, shape (m, 1)
        The list of each order.
    order, closing : ndarray of shape (m, r)
        Items, best first, and the sum of the pairs that each closes.
    least : ndarray of shape (m,)
        Smallest gain of a move.

    Returns
    -------
    order, closing : ndarray of shape (m, r)
    improved : ndarray of bool, shape (m,)
    """
    r, rows = order.shape[1], np.arange(len(order))
    k, s = np.arange(r), np.arange(r)[:, np.newaxis]
    moved = np.where(k == s, 0.0, 1.0 / np.where(k > s, np.maximum(k, 1), k + 2))
    change = np.where(k == s, 0.0, np.abs(moved - 1.0 / (k + 1)))
    at = 1.0 / (np.arange(r + 1) + (np.arange(r + 1) <= s))  # of the item at each gap
    flat, first = full.ravel(), lists * r * r
    links, costs = np.zeros((2, len(order), r + 1))
    improved = np.zeros(len(order), dtype=bool)
    for item in range(r):
        source = (order == item).argmax(axis=1)
        link = flat.take(order + (first + item * r))
        own = link[rows, source]
        link[rows, source] = 0.0
        links[:, 0] = own
        link.cumsum(axis=1, out=links[:, 1:])
        links[:, 1:] += own[:, np.newaxis]
        cost = link * moved[source] - closing * change[source]
        cost.cumsum(axis=1, out=costs[:, 1:])
        value = links * at[source] - costs
        gap = value.argmax(axis=1)
        is_better = value[rows, gap] - value[rows, source] > least
        if is_better.any():
            better = np.flatnonzero(is_better)
            taken, shift = insertion(source[better], gap[better], r)
            closing[better, source[better]] = links[better, gap[better]]
            closing[better] = np.take_along_axis(closing[better], taken, axis=1)
            closing[better] += shift * np.take_along_axis(link[better], taken, axis=1)
            order[better] = np.take_along_axis(order[better], taken, axis=1)
            improved[better] = True
    return order, closing, improved
