"""Decoding for mean average precision beyond the reach of the exact program."""

import numpy as np

from ._average_precision import (
    average_precision_value,
    decode_diagonal,
    symmetric_matrices,
    top_weights,
)


def decode_local_search(u, n_items, *, max_sweeps=50):
    """Ranks by local search from the diagonal order; not exact, never worse than it.

    Each sweep tries to move every item to every other position and keeps, in each list,
    the best improvement of the whole value, until no such move improves any list.
    `average_precision_bound` bounds what an exact decoder could gain.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    n_items : int
    max_sweeps : int, default=50
        Sweeps over the items.

    Returns
    -------
    ranks : ndarray of int, shape (n_lists, r)

    Examples
    --------
    >>> from lowrank_rank.decoders import decode_local_search
    >>> decode_local_search([[0.35, 0.0, 0.325, 0.0, 0.325, 0.325]], n_items=3)
    array([[3, 1, 2]])
    """
    full = symmetric_matrices(u, n_items)
    order = np.argsort(decode_diagonal(u, n_items), axis=1)
    active = np.arange(len(full) if n_items > 1 else 0)
    for _ in range(max_sweeps):
        if len(active) == 0:
            break
        improved = np.zeros(len(active), dtype=bool)
        still = full[active]
        for item in range(n_items):
            moved, better = _best_insertion(still, order[active], item)
            order[active[better]] = moved[better]
            improved |= better
        active = active[improved]
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, n_items + 1)[np.newaxis], axis=1)
    return ranks


def _best_insertion(full, order, item):
    """Move one item to its best place, the others keeping their order.

    Taking the item out leaves a sequence of r - 1. With the item at rank p the pairs of
    others whose later one stands at rank >= p slip down by one; both sums are cumulative.
    """
    n_lists, r = order.shape
    lists = np.arange(n_lists)[:, np.newaxis]
    rest = order[order != item].reshape(n_lists, r - 1)
    links = full[lists, rest, item]
    inside = full[lists[:, :, np.newaxis], rest[:, :, np.newaxis], rest[:, np.newaxis, :]]
    closing = np.tril(inside).sum(axis=2)  # pairs whose later item stands here
    rank = np.arange(1, r + 1)
    pad = np.zeros((n_lists, 1))
    above = np.hstack([pad, np.cumsum(closing / rank[:-1], axis=1)])
    below = closing / rank[1:] + links / rank[1:]
    below = np.hstack([np.cumsum(below[:, ::-1], axis=1)[:, ::-1], pad])
    at = (full[:, item, item][:, np.newaxis] + np.hstack([pad, np.cumsum(links, axis=1)])) / rank
    value = above + at + below
    now = np.argmax(order == item, axis=1)
    best = np.argmax(value, axis=1)
    gain = value[lists[:, 0], best] - value[lists[:, 0], now]
    better = gain > 1e-12 * np.abs(value).max(axis=1)
    place = np.where(better, best, now)[:, np.newaxis]
    position = np.arange(r)
    source = np.clip(position - (position > place), 0, r - 2)
    moved = np.where(position == place, item, rest[lists, source])
    return moved, better


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


def average_precision_gap(u, ranks):
    """How far the value of `ranks` may be below the best: bound minus value.

    Parameters
    ----------
    u : array-like of shape (n_lists, r(r+1)/2)
    ranks : array-like of shape (n_lists, r)

    Returns
    -------
    ndarray of shape (n_lists,)
        >= 0 up to rounding; 0 certifies the order as optimal.

    Examples
    --------
    >>> from lowrank_rank.decoders import average_precision_gap
    >>> average_precision_gap([[1.0, 3.0, 2.0]], [[2, 1]])  # 4 against 2/1 + 3/2 + 1/2
    array([0.])
    """
    ranks = np.asarray(ranks)
    return average_precision_bound(u, ranks.shape[1]) - average_precision_value(u, ranks)
