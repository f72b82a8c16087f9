"""Dynamic programs over the subsets of a list's items, many lists at once.

A subset is a bit mask, its table row holds one value for each list. The items of an order
are added one after another: the best value of a subset is the best over its last item.
"""

from functools import lru_cache

import numpy as np

MAX_SUBSETS = 2**21  # of the lists that share a table


@lru_cache(maxsize=4)
def subsets_by_size(n_items):
    """Bit masks of the subsets of each size 1..r."""
    masks = np.arange(2**n_items, dtype=np.int32)
    size = np.zeros(2**n_items, dtype=np.int8)
    for i in range(n_items):
        size[2**i : 2 ** (i + 1)] = size[: 2**i] + 1
    by_size = np.argsort(size, kind="stable")
    return np.split(masks[by_size], np.cumsum(np.bincount(size)))[1:-1]


def trace_back(best, added=None):
    """Ranks from a table of best values: take the last item off, r times.

    Parameters
    ----------
    best : ndarray of shape (2**r, n_lists)
        Largest value of each subset as the first items of an order.
    added : callable or None
        ``added(inside)`` with inside (n_lists, r), which items the subset holds, returns
        (n_lists, r): what each of them adds as the last one of the subset. None where that
        does not depend on the item.

    Returns
    -------
    ndarray of int, shape (n_lists, r)
    """
    n_items, n_lists = len(best).bit_length() - 1, best.shape[1]
    bits = 1 << np.arange(n_items)
    lists = np.arange(n_lists)
    subset = np.full(n_lists, len(best) - 1)
    ranks = np.empty((n_lists, n_items), dtype=np.intp)
    for p in range(n_items, 0, -1):
        inside = (subset[:, np.newaxis] & bits) > 0
        without = np.where(inside, subset[:, np.newaxis] ^ bits, 0)
        values = best[without, lists[:, np.newaxis]]
        if added is not None:
            values = values + added(inside)
        values = np.where(inside, values, -np.inf)
        last = n_items - 1 - np.argmax(values[:, ::-1], axis=1)  # ties: the later item
        ranks[lists, last] = p
        subset = subset ^ bits[last]
    return ranks
