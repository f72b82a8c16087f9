"""Decoding for mean average precision beyond the reach of the exact program."""

import numpy as np

from ._average_precision import decode_map_diagonal, symmetric_matrices, valued
from ._preferences import ranks_from_orders


def decode_map_local_search(u, n_items, *, max_sweeps=50, bound=False):
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
    full = symmetric_matrices(u, n_items)
    order = np.argsort(decode_map_diagonal(u, n_items).ranks, axis=1)
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
    return valued(u, ranks_from_orders(order), bound)


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
