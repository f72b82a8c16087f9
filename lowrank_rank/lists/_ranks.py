"""Orders and ranks within lists.

Ranks are 1-based, 1 = best, and higher scores are better. Tied scores have the mean
value over all orders that agree with them: a quantity of the position is averaged over
tied positions.
"""

import numpy as np


def sort_lists(scores, lists, *, stable=False):
    """Flat indices that sort the items of each list, best first.

    `stable` keeps the original order of equal scores. Measures do not need it: they
    average over ties.
    """
    order = np.empty(len(scores), dtype=np.intp)
    for _, rows in lists.same_length:
        if stable:
            columns = np.argsort(-scores[rows], axis=1, kind="stable")
        else:
            columns = np.argsort(scores[rows], axis=1)[:, ::-1]
        order[rows] = rows[:, :1] + columns
    return order


def tie_blocks(sorted_scores, lists):
    """Start of each block of equal scores within a list, or None if nothing is tied."""
    starts_block = np.empty(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=starts_block[1:])
    starts_block[lists.starts] = True
    if starts_block.all():
        return None
    return np.flatnonzero(starts_block)


def block_lengths(blocks, n_rows):
    """Count the items in each block of `tie_blocks`."""
    return np.diff(np.append(blocks, n_rows))


def ranks_from_scores(scores, lists):
    """Ranks 1..r of each list's items; equal scores keep the order of the rows."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[sort_lists(scores, lists, stable=True)] = lists.positions
    return ranks


def ranks_from_orders(orders):
    """Ranks 1..r from orders (item indices, best first), shape (..., r)."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(1, orders.shape[-1] + 1), axis=-1)
    return ranks


def mid_ranks(scores, lists):
    """Mean rank of each item over all orders that agree with the scores."""
    order = sort_lists(scores, lists)
    ranks = np.empty(len(scores))
    ranks[order] = lists.positions
    blocks = tie_blocks(scores[order], lists)
    if blocks is None:
        return ranks
    # A block of m ties from position p on has the mean rank p + (m - 1) / 2.
    lengths = block_lengths(blocks, len(scores))
    mean_ranks = lists.positions[blocks] + (lengths - 1) / 2.0
    ranks[order] = np.repeat(mean_ranks, lengths)
    return ranks


def mid_fractions(values, lists, weights):
    """Weighted fraction of each item's list below it; ties and itself count one half.

    This is the mid-distribution function of each list, (r - mid_rank + 1/2) / r with
    equal weights. A constant factor of the weights of a list changes nothing. A row of
    weight 2 is the row twice.
    """
    order = sort_lists(values, lists)
    blocks = tie_blocks(values[order], lists)
    if blocks is None:
        blocks = np.arange(len(values))
    sorted_weights = weights[order]
    block_weights = np.add.reduceat(sorted_weights, blocks)
    # Weight before each block, without the weight of the lists before its own.
    before = np.cumsum(sorted_weights) - sorted_weights
    list_of_block = lists.index[blocks]
    above = before[blocks] - before[lists.starts][list_of_block]
    # 1 - (above + block / 2) / total, and 1 where the list has no weight.
    total = lists.sum(weights)[list_of_block]
    above_fractions = np.divide(
        above + block_weights / 2.0, total, out=np.zeros(len(total)), where=total > 0
    )
    fractions = np.empty(len(values))
    lengths = block_lengths(blocks, len(values))
    fractions[order] = np.repeat(1.0 - above_fractions, lengths)
    return fractions


def threshold_between(scores, n_above):
    """Find a threshold with at most `n_above` scores above it; ties stay together.

    The threshold is midway between the highest score below it and the next larger
    score.
    """
    scores = scores.ravel()
    if n_above >= len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    # The highest score that is not above the threshold.
    place = len(scores) - n_above - 1
    lower = np.partition(scores, place)[place]
    upper = np.min(scores, where=scores > lower, initial=np.inf)
    if upper == np.inf:
        return float(np.nextafter(lower, np.inf))
    middle = lower + (upper - lower) / 2
    # No float lies between two neighbours.
    return float(middle if middle > lower else upper)
