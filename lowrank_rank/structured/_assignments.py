"""The permutation that maximises NDCG's loss plus scores: an assignment problem (17.8 to 17.10).

    max over permutations  sum_i place_from_bottom(i) s_i - sum_i discount(place_from_top(i)) b_i

Without discounts the order of the scores is best. The discount is 0 beyond k, and an item stands
below every one that has no lower score and no larger gain: only those with fewer than k such items
can be among the first k, the *candidates*. In terms of pairs, an item of score t that is placed
while the items R are left costs ``sum over R of max(0, s - t)`` against the order of the scores; of
the R that are no candidates the sum is known beforehand. What is left is a problem of the
candidates alone. Where they have few levels of gain it is solved by dynamic programming over how
many of each level have been placed, all lists at a time; else it is a small assignment for each
list.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import combinations_with_replacement

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._lists import RankingLists, batches
from .._ranks import sort_lists

#: States of the dynamic program above which each list is solved by `linear_sum_assignment`.
MAX_STATES = 20_000
_ENTRIES_AT_ONCE = 2**20  # of the program's tables


def worst_places(gains, scores, lists, discounts):
    """Place from the top, 1..r, of each item in the maximising permutation of each list.

    Parameters
    ----------
    gains : ndarray of shape (n_rows,)
        b, >= 0, grouped.
    scores : ndarray of shape (n_rows,)
    lists : RankingLists
    discounts : ndarray of shape (k,)
        Of the first k places, not increasing; 0 beyond.

    Returns
    -------
    ndarray of int, shape (n_rows,)
    """
    order = sort_lists(scores, lists)
    s = scores - lists.spread(lists.sum(scores) / lists.lengths)
    s, b = s[order], gains[order]
    k = min(len(discounts), int(lists.lengths.max()))
    level = _levels(b, lists)
    kept = _candidates(level, lists, k)
    part, _ = lists.select(kept)
    values = (s[kept], b[kept], _cost_of_passing(s, kept, lists)[kept], level[kept])
    solve: Callable[..., np.ndarray] = _by_counts
    if n_states(int(values[3].max()) + 1, k) > MAX_STATES:
        solve = _by_assignment
    places = np.empty(part.n_rows, dtype=np.intp)
    for some in batches(part.n_lists, _entries(values[3], k, part), _ENTRIES_AT_ONCE):
        rows = slice(part.offsets[some.start], part.offsets[some.stop])
        own = RankingLists(part.lengths[some])
        places[rows] = solve(*[value[rows] for value in values], own, discounts[:k])
    return _complete(order[kept], places, np.minimum(k, lists.lengths), order, lists)


def _entries(level, k, lists):
    """Numbers that the dynamic program holds for a list."""
    n_levels = int(level.max()) + 1
    states = min(n_states(n_levels, k), MAX_STATES)
    return round(states + n_levels * (lists.n_rows / lists.n_lists + (n_levels * k) * k))


def _levels(b, lists):
    """Gains by their rank in each list, 0 the least."""
    order = sort_lists(-b, lists)
    values = b[order]
    rises = np.zeros(len(b), dtype=np.intp)
    rises[1:] = values[1:] > values[:-1]
    rises[lists.starts] = 0
    total = np.cumsum(rises)
    level = np.empty(len(b), dtype=np.intp)
    level[order] = total - lists.spread(total[lists.starts])
    return level


def _candidates(level, lists, k):
    """Items, in the order of the scores, that stand below fewer than k others; and a few more.

    Those with no item before them of their level or below are taken off, k times.
    """
    found = np.ones(len(level), dtype=bool)
    if k >= int(lists.lengths.max()):
        return found
    found[:] = False
    n_levels = int(level.max()) + 1
    # Later lists lie below earlier ones, so that a running minimum begins anew with each.
    left, key = np.arange(len(level)), level - lists.index * n_levels
    for _ in range(k):
        if len(left) == 0:
            break
        own = key[left]
        is_least = np.ones(len(left), dtype=bool)
        is_least[1:] = own[1:] < np.minimum.accumulate(own)[:-1]
        found[left[is_least]] = True
        left = left[~is_least]
    return found


def _cost_of_passing(s, is_candidate, lists):
    """For each item the sum of s - t over the items before it that are no candidates."""
    others = ~is_candidate
    n, total = (_within_lists(values, lists) for values in (others * 1.0, others * s))
    return np.maximum(total - n * s, 0.0)


def _within_lists(values, lists):
    """Cumulative sums within each list."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return total[1:] - lists.spread(total[lists.starts])


def n_states(n_levels, k):
    """Ways to place at most k items of some levels of gain: C(k + n_levels, n_levels)."""
    count = 1.0
    for i in range(n_levels):
        count *= (k + n_levels - i) / (n_levels - i)
    return round(count)


@lru_cache(maxsize=32)
def _states(n_levels, k):
    """For 0..k placed items: the counts of each level, and where each state goes on to."""
    layers = []
    for placed in range(k + 1):
        picks = combinations_with_replacement(range(n_levels), placed)
        counts = np.array([np.bincount(p, minlength=n_levels) for p in map(list, picks)])
        layers.append(counts.reshape(-1, n_levels).astype(np.intp))
    index = [{tuple(c): i for i, c in enumerate(layer.tolist())} for layer in layers]
    onward = [
        np.array(
            [
                [index[placed + 1][(*c[:g], c[g] + 1, *c[g + 1 :])] for g in range(n_levels)]
                for c in layer.tolist()
            ]
        )
        for placed, layer in enumerate(layers[:-1])
    ]
    return layers, onward


def _by_counts(s, b, cost, level, lists, discounts):
    """Places of candidates, k + 1 of those that are not placed, by dynamic programming."""
    k, n_levels = len(discounts), int(level.max()) + 1
    item, gain, extra, passing = _tables(s, b, cost, level, n_levels, lists, k)
    layers, onward = _states(n_levels, k)
    value = np.zeros((1, lists.n_lists))
    choices, every = [], np.arange(lists.n_lists)
    for placed in range(k):
        counts, to = layers[placed], onward[placed]
        best = np.full((len(layers[placed + 1]), lists.n_lists), -np.inf)
        choice = np.zeros(best.shape, dtype=np.int16)
        for g in range(n_levels):
            a = counts[:, g]
            gained = value - (discounts[placed] * gain + extra)[g, a]
            for h in range(n_levels):
                gained -= passing[g, a, h, counts[:, h]]
            target = to[:, g]  # another state for each: nothing is written twice
            now = best[target]
            better = gained > now
            best[target] = np.maximum(gained, now)
            choice[target] = np.where(better, g, choice[target])
        choices.append(choice)
        value = best
    places = np.full(lists.n_rows + 1, k + 1)  # the last is that of no row
    state = np.argmax(value, axis=0)
    for placed in range(k - 1, -1, -1):
        level_of = choices[placed][state, every]
        counts = layers[placed + 1][state]
        counts[every, level_of] -= 1
        places[item[level_of, counts[every, level_of], every]] = placed + 1
        state = _index_of(layers[placed], counts)
    return places[:-1]


def _index_of(layer, counts):
    """Which row of a layer each row of counts is."""
    base = int(layer.max(initial=0)) + 1
    powers = float(base) ** np.arange(layer.shape[1])
    codes = layer @ powers
    by_code = np.argsort(codes)
    return by_code[np.searchsorted(codes[by_code], counts @ powers)]


def _tables(s, b, cost, level, n_levels, lists, k):
    """The k best-scored items of each level, lists last: their row, gain, cost, and passing.

    ``passing[g, a, h, m]`` sums max(0, s - t) over the items of level h but its first m, t the
    score of item a of level g. Levels with fewer items are filled up by items of no row, gain 0
    and a score below all others.
    """
    n = lists.n_lists
    ones = level[:, np.newaxis] == np.arange(n_levels)
    above, sums = (
        np.stack([_within_lists(column, lists) for column in part.T], axis=1)
        for part in (ones.astype(float), ones * s[:, np.newaxis])
    )  # of each level, itself included
    index = np.einsum("ij,ij->i", above, ones).astype(np.intp) - 1
    kept = np.flatnonzero(index < k)
    where = (lists.index[kept], level[kept], index[kept])
    low = np.minimum.reduceat(s, lists.starts) - 1.0 - np.ptp(s) - b.max(initial=0) * k
    item = np.full((n, n_levels, k), -1)
    gain, extra, t = np.zeros((n, n_levels, k)), np.zeros((n, n_levels, k)), np.empty(item.shape)
    t[:] = low[:, np.newaxis, np.newaxis]
    n_above = np.empty((n, n_levels, k, n_levels))
    s_above = np.empty((n, n_levels, k, n_levels))
    last = lists.offsets[1:] - 1
    n_above[:], s_above[:] = above[last][:, None, None, :], sums[last][:, None, None, :]
    item[where], gain[where], extra[where], t[where] = kept, b[kept], cost[kept], s[kept]
    n_above[where], s_above[where] = above[kept], sums[kept]
    first, n_first = np.zeros((2, n, n_levels, k + 1))  # scores of the first m of each level
    first[:, :, 1:] = np.cumsum(np.where(item >= 0, t, 0.0), axis=2)
    n_first[:, :, 1:] = np.cumsum(item >= 0, axis=2)
    left = n_above[..., np.newaxis] - n_first[:, None, None, :, :]
    passing = s_above[..., np.newaxis] - first[:, None, None, :, :] - left * t[..., None, None]
    passing = np.where(left > 0, passing, 0.0)
    return tuple(np.moveaxis(part, 0, -1).copy() for part in (item, gain, extra, passing))


def _by_assignment(s, b, cost, level, lists, discounts):
    """Places of candidates, one assignment problem for each list."""
    places = np.empty(lists.n_rows, dtype=np.intp)
    for first, last in zip(lists.starts, lists.offsets[1:], strict=True):
        rows, r = slice(first, last), last - first
        discount, is_first = np.zeros(r), np.arange(r) < len(discounts)
        discount[is_first] = discounts[:r]
        profit = np.outer(s[rows], np.arange(r, 0, -1)) - np.outer(b[rows], discount)
        profit -= np.outer(cost[rows], is_first)
        places[rows] = linear_sum_assignment(profit, maximize=True)[1] + 1
    return places


def _complete(candidates, found, n_first, order, lists):
    """Places of all items: the candidates that are first, then the others by their scores."""
    places = np.zeros(lists.n_rows, dtype=np.intp)
    is_first = found <= n_first[lists.index[candidates]]
    places[candidates[is_first]] = found[is_first]
    left = places[order] == 0
    rank = _within_lists(left.astype(float), lists).astype(np.intp) + lists.spread(n_first)
    places[order[left]] = rank[left]
    return places
