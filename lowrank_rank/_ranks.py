"""Scores, orders and ranks of a batch of lists, and the one rule for ties.

Ranks are 1-based, 1 = best. Scores are higher for better items. The tie rule: a
scoring with ties has the value of the mean over all orders that agree with it, so a
quantity that depends on the position is averaged over the block of tied positions.
Arrays are flat and grouped (see `_lists`).
"""

import numpy as np


def sort_lists(scores, lists, *, stable=False):
    """Flat indices that put each list's items best first.

    `stable` keeps the original order among equal scores; measures do not need it
    because they average over ties.
    """
    r = lists.common_length
    order = np.empty(len(scores), dtype=np.intp)
    if r is not None:
        columns = _best_first(scores.reshape(-1, r), stable)
        np.add(columns, lists.starts[:, np.newaxis], out=order.reshape(-1, r))
        return order
    for _, rows in lists.same_length:
        order[rows] = rows[:, :1] + _best_first(scores[rows], stable)
    return order


def _best_first(matrix, stable):
    """Column indices that sort each row in descending order."""
    if stable:
        return np.argsort(-matrix, axis=1, kind="stable")
    return np.argsort(matrix, axis=1)[:, ::-1]


def tie_blocks(sorted_scores, lists):
    """Start of each block of equal scores within a list, or None if nothing is tied."""
    starts_block = np.empty(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=starts_block[1:])
    starts_block[lists.starts] = True
    if starts_block.all():
        return None
    return np.flatnonzero(starts_block)


def block_lengths(blocks, n_rows):
    """Number of items in each block of `tie_blocks`."""
    return np.diff(np.append(blocks, n_rows))


def mean_over_ties(by_position, blocks):
    """Average a quantity given by sorted position over each block of ties, in place.

    Parameters
    ----------
    by_position : ndarray of shape (n_rows,)
        The quantity at each position of the sorted lists. Where it is 0 at the start of
        a block it must be 0 throughout, as a discount that does not increase is.
    blocks : ndarray of int or None
        From `tie_blocks`; None where nothing is tied.

    Returns
    -------
    ndarray of shape (n_rows,)
        `by_position` itself.
    """
    if blocks is None:
        return by_position
    live = np.flatnonzero(by_position[blocks])
    starts = blocks[live]
    lengths = np.append(blocks, len(by_position))[live + 1] - starts
    tied = lengths > 1
    starts, lengths = starts[tied], lengths[tied]
    if len(starts) == 0:
        return by_position
    first = np.cumsum(lengths) - lengths
    rows = np.repeat(starts - first, lengths) + np.arange(lengths.sum())
    by_position[rows] = np.repeat(np.add.reduceat(by_position[rows], first) / lengths, lengths)
    return by_position


def ranks_from_scores(scores, lists):
    """Ranks 1..r of each list's items; equal scores keep the order of the rows."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[sort_lists(scores, lists, stable=True)] = lists.positions
    return ranks


def ranks_from_orders(orders):
    """Ranks 1..r from orders (item indices, best first), shape (n_lists, r)."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(1, orders.shape[1] + 1)[np.newaxis], axis=1)
    return ranks


def mid_ranks(scores, lists):
    """Mean rank of each item over all orders that agree with the scores."""
    order = sort_lists(scores, lists)
    ranks = np.empty(len(scores))
    ranks[order] = mean_over_ties(lists.positions.astype(float), tie_blocks(scores[order], lists))
    return ranks


def mid_fractions(values, lists, weights):
    """Weighted fraction of each list below an item, ties (itself too) counting one half.

    The mid-distribution function of each list: in [0, 1], (r - mid_rank + 1/2) / r with
    equal weights; a constant factor on a list's weights changes nothing, and a row of
    weight 2 counts as the row twice.
    """
    order = sort_lists(values, lists)
    blocks = tie_blocks(values[order], lists)
    if blocks is None:
        blocks = np.arange(len(values))
    weight = weights[order]
    of_block = np.add.reduceat(weight, blocks)
    above = np.cumsum(weight) - weight
    above = above[blocks] - above[lists.starts][lists.index[blocks]]
    total = lists.sum(weights)[lists.index[blocks]]
    below = np.divide(above + of_block / 2.0, total, out=np.zeros(len(total)), where=total > 0)
    fractions = np.empty(len(values))
    fractions[order] = np.repeat(1.0 - below, block_lengths(blocks, len(values)))
    return fractions
