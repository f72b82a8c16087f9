"""Decoding for mean average precision: a quadratic assignment problem.

For symmetric u the value of an order is ``sum_{i >= j} u_ij / max(rank(i), rank(j))``.
If T_p denotes the top p items, it equals

    sum_{p=1..r} c_p F(T_p),   F(T) = sum_{i >= j, both in T} u_ij,
    c_p = 1/p - 1/(p+1),  c_r = 1/r,

a longest path through the subsets of the items. The input `u` holds the lower triangle
row by row: d = r(r+1)/2 entries in the order of ``numpy.tril_indices(r)``.
"""

import numpy as np

from ..lists._lists import bounded_blocks
from ..lists._ranks import ranks_from_orders
from ..validation._arrays import ArrayLike
from ..validation._check import refuse
from ..validation._checks_of_decoders import CHECKS_OF_DECODERS
from ..validation._parameters import check_parameter, checked, count
from ._decoded import (
    Decoded,
    checked_vectors,
    compared_ranks,
    decode_sort,
    insertion,
    subsets_by_size,
    trace_back,
)

#: Largest lists that decoder="auto" decodes exactly, in two to three times the time of
#: local search (`benchmarks limits`).
MAX_ITEMS_EXACT = 12

MAX_ITEMS = 22  # 2**22 subsets, some 100 MiB for a list


def symmetric_matrices(u, n_items):
    """Fill matrices (n_lists, r, r) from their lower triangles (n_lists, r(r+1)/2)."""
    u = checked_triangles(u, n_items)
    row, column = np.tril_indices(n_items)
    full = np.empty((len(u), n_items, n_items))
    full[:, row, column] = u
    full[:, column, row] = u
    return full


def checked_triangles(u, n_items):
    """Check lower triangles, finite floats of shape (n_lists, r(r+1)/2)."""
    check_parameter("n_items", n_items, [count()])
    return checked_vectors(
        u,
        n_columns=n_items * (n_items + 1) // 2,
        of=f"for {n_items} items ",
        layout=", the lower triangles row by row",
    )


def average_precision_value(u: ArrayLike, ranks: ArrayLike) -> np.ndarray:
    """Compute ``sum_{i >= j} u_ij / max(rank(i), rank(j))`` of each list.

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
    n_items = int(np.sqrt(2 * u.shape[1]))  # of r(r+1)/2 columns
    u = checked_triangles(u, max(n_items, 1))
    ranks = compared_ranks(ranks, len(u), n_items)
    row, column = np.tril_indices(n_items)
    return (u / np.maximum(ranks[:, row], ranks[:, column])).sum(axis=1)


def average_precision_bound(u: ArrayLike, n_items: int) -> np.ndarray:
    """Bound the value of every order of each list from above.

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
    >>> average_precision_bound([[1.0, 3.0, 2.0]], n_items=2)  # best: 2/1 + 4/2 = 4
    array([4.])
    """
    full = symmetric_matrices(u, n_items)
    n_lists = len(full)
    diagonal = np.arange(n_items)
    own = full[:, diagonal, diagonal]
    # Sums of the p-1 largest links u_ij, j != i, of each item i, for p = 1, ..., r.
    off_diagonal = ~np.eye(n_items, dtype=bool)
    links = full[:, off_diagonal].reshape(n_lists, n_items, n_items - 1)
    links_descending = -np.sort(-links, axis=2)
    largest_links = np.zeros((n_lists, n_items, n_items))
    np.cumsum(links_descending, axis=2, out=largest_links[:, :, 1:])
    # F(T) of a set T of p items is at most the sum of the p largest of these.
    worth = own[:, :, np.newaxis] + largest_links / 2.0
    worth_descending = np.sort(worth, axis=1)[:, ::-1]
    largest_f = np.cumsum(worth_descending, axis=1)[:, diagonal, diagonal]
    return largest_f @ top_weights(n_items)


@checked(bound=[bool])
def decode_map_diagonal(u: ArrayLike, n_items: int, *, bound: bool = False) -> Decoded:
    """Rank by descending u_ii; optimal under the condition of Theorem 4 (P_reinforce).

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
    """Return ranks with their values and, if `bound`, the upper bounds."""
    values = average_precision_value(u, ranks)
    if not bound:
        return Decoded(ranks, values)
    bounds = np.maximum(average_precision_bound(u, ranks.shape[1]), values)
    # A bound within rounding of the value is the value.
    scale = np.abs(np.asarray(u)).sum(axis=1)
    is_met = np.abs(bounds - values) <= 1e-9 * scale
    return Decoded(ranks, values, np.where(is_met, values, bounds))


@checked(bound=[bool])
def decode_map_exact(u: ArrayLike, n_items: int, *, bound: bool = True) -> Decoded:
    """Find the ranks of the largest value by dynamic programming over subsets; exact.

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
    >>> from lowrank_rank.target_losses import MeanAveragePrecision
    >>> u = [[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]]
    >>> MeanAveragePrecision().decoders["exact"].decode(u, 3)
    array([[3, 1, 2]])
    """
    check_parameter("n_items", n_items, [count()])
    refuse(
        CHECKS_OF_DECODERS,
        n_items=n_items,
        max_items=MAX_ITEMS,
        who="The exact decoder (2**r subsets)",
        others="decoder='local_search' or decoder='diagonal'",
    )
    full = symmetric_matrices(u, n_items)
    ranks = np.empty((len(full), n_items), dtype=np.intp)
    for lists in bounded_blocks(len(full), 2**n_items):
        # One column for each list makes the gathers below copy whole rows.
        lists_last = np.ascontiguousarray(full[lists].transpose(1, 2, 0))
        ranks[lists] = trace_back(_best_prefixes(lists_last))
    values = average_precision_value(u, ranks)
    bounds = values.copy() if bound else None
    return Decoded(ranks, values, bounds)


def top_weights(n_items):
    """Compute the weights c_1, ..., c_r of the module's formula."""
    p = np.arange(1.0, n_items + 1)
    c = 1.0 / p - 1.0 / (p + 1.0)
    c[-1] = 1.0 / n_items
    return c


def _best_prefixes(u):
    """Compute the largest sum of c_p F(T_p) over the chains that end in each subset.

    `u` has the shape (r, r, n_lists), the result (2**r, n_lists). A subset is a bit
    mask.
    """
    n_items, _, n_lists = u.shape
    # F(T) of every subset: F(T + i) = F(T) + links(T), where links(T) is u_ii plus the
    # sum of u_ij over j in T. Bit after bit doubles the number of subsets.
    best = np.zeros((2**n_items, n_lists))
    links = np.zeros((2 ** (n_items - 1), n_lists))
    for i in range(n_items):
        links[0] = u[i, i]
        for j in range(i):
            np.add(links[: 2**j], u[i, j], out=links[2**j : 2 ** (j + 1)])
        np.add(best[: 2**i], links[: 2**i], out=best[2**i : 2 ** (i + 1)])

    # best(T) = c_p F(T) + max over i in T of best(T - i), for p = |T|.
    weights = top_weights(n_items)
    for p, subsets in enumerate(subsets_by_size(n_items)):
        if p == 0:
            best[subsets] *= weights[0]
            continue
        best_before = np.full((len(subsets), n_lists), -np.inf)
        for i in range(n_items):
            has_i = np.flatnonzero(subsets & (1 << i))
            without_i = best[subsets[has_i] ^ (1 << i)]
            best_before[has_i] = np.maximum(best_before[has_i], without_i)
        best[subsets] = weights[p] * best[subsets] + best_before
    return best


# Local search ---------------------------------------------------------------------


@checked(bound=[bool])
def decode_map_local_search(
    u: ArrayLike, n_items: int, *, max_sweeps: int = 50, bound: bool = False
) -> Decoded:
    """Rank by local search from the diagonal order; not exact, never worse than it.

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
    >>> from lowrank_rank.target_losses import MeanAveragePrecision
    >>> u = [[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]]
    >>> MeanAveragePrecision().decoders["local_search"].decode(u, 3)
    array([[3, 1, 2]])
    """
    check_parameter("max_sweeps", max_sweeps, [count(0)])
    full = symmetric_matrices(u, n_items)
    n_lists = len(full)
    order = np.argsort(decode_map_diagonal(u, n_items).ranks, axis=1)
    # Each position closes the links of its item with the items up to this position.
    lists = np.arange(n_lists)[:, np.newaxis]
    in_order = full[
        lists[:, :, np.newaxis], order[:, :, np.newaxis], order[:, np.newaxis]
    ]
    closing = np.tril(in_order).sum(axis=2)
    smallest_gain = 1e-12 * np.abs(full).sum(axis=(1, 2))  # above rounding errors
    # Lists whose last sweep moved an item.
    active = np.arange(n_lists if n_items > 1 else 0)
    for _ in range(max_sweeps):
        if len(active) == 0:
            break
        order[active], closing[active], has_improved = _sweep(
            full, lists[active], order[active], closing[active], smallest_gain[active]
        )
        active = active[has_improved]
    return valued(u, ranks_from_orders(order), bound)


def _sweep(full, lists, order, closing, smallest_gain):
    """Move each item in turn to its best place, the others keeping their order.

    An item at position s that moves behind the item at k > s takes its link from the
    closing links of k, which go from rank k + 1 to k. In front of k < s it adds its
    link, and they go to k + 2. Sums of these changes up to each gap between two items
    give the values of all moves.

    Parameters
    ----------
    full : ndarray of shape (n_lists, r, r)
    lists : ndarray of int, shape (m, 1)
        The list of each order.
    order, closing : ndarray of shape (m, r)
        Items, best first, and the sum of the links that each closes.
    smallest_gain : ndarray of shape (m,)
        Moves that gain less are not made.

    Returns
    -------
    order, closing : ndarray of shape (m, r)
    has_improved : ndarray of bool, shape (m,)
    """
    m, r = order.shape
    rows = np.arange(m)
    # An item leaves position s and passes the item at position k; a row for each s.
    k = np.arange(r)
    s = np.arange(r)[:, np.newaxis]
    # 1 / (rank of the passed item after the move), 0 at k = s.
    moved = np.where(k == s, 0.0, 1.0 / np.where(k > s, np.maximum(k, 1), k + 2))
    # The difference from 1 / (k + 1), where k + 1 is its rank before the move.
    change = np.where(k == s, 0.0, np.abs(moved - 1.0 / (k + 1)))
    # 1 / (rank of the moved item in each gap); gap g is in front of position g.
    gaps = np.arange(r + 1)
    inverse_rank = 1.0 / (gaps + (gaps <= s))

    flat = full.ravel()
    first_entry = lists * r * r
    # Sums over the items in front of each gap.
    links = np.zeros((m, r + 1))
    costs = np.zeros((m, r + 1))
    has_improved = np.zeros(m, dtype=bool)
    for item in range(r):
        source = (order == item).argmax(axis=1)
        link = flat.take(order + (first_entry + item * r))
        own = link[rows, source]
        link[rows, source] = 0.0
        # u_ii plus the links of the item with the items in front of each gap.
        links[:, 0] = own
        link.cumsum(axis=1, out=links[:, 1:])
        links[:, 1:] += own[:, np.newaxis]
        # Each item loses this if the moved one goes behind it, or gains it if in front.
        cost = link * moved[source] - closing * change[source]
        cost.cumsum(axis=1, out=costs[:, 1:])
        value = links * inverse_rank[source] - costs
        gap = value.argmax(axis=1)
        is_better = value[rows, gap] - value[rows, source] > smallest_gain
        if is_better.any():
            better = np.flatnonzero(is_better)
            order[better], closing[better] = _moved(
                order[better],
                closing[better],
                link[better],
                links[better, gap[better]],
                source[better],
                gap[better],
            )
            has_improved[better] = True
    return order, closing, has_improved


def _moved(order, closing, link, closed, source, gap):
    """Move the item at position `source` of each list to a gap.

    Parameters
    ----------
    order, closing : ndarray of shape (m, r)
        As in `_sweep`; closing is overwritten.
    link : ndarray of shape (m, r)
        Link of the moved item with the item at each position, 0 with itself.
    closed : ndarray of shape (m,)
        Sum of the links that the moved item closes in its new place.
    source, gap : ndarray of int, shape (m,)

    Returns
    -------
    order, closing : ndarray of shape (m, r)
    """
    old_position, shift = insertion(source, gap, order.shape[1])
    closing[np.arange(len(order)), source] = closed
    closing = np.take_along_axis(closing, old_position, axis=1)
    # An item that moves down now closes this link, one that moves up does not.
    closing += shift * np.take_along_axis(link, old_position, axis=1)
    return np.take_along_axis(order, old_position, axis=1), closing
