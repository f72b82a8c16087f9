"""Worst labels of lists: loss-augmented decoding of NDCG and of measures of counts.

**NDCG** (17.8 to 17.10), an assignment problem::

    max over permutations  sum_i place_from_bottom(i) s_i - sum_i discount(place_from_top(i)) b_i

Without discounts the order of the scores is best. The discount is 0 beyond k. An item
stands below every item that has no lower score and no larger gain. So only items with
fewer than k such items above them can be among the first k, the *candidates*. An item
of score t that is placed before the remaining items R costs ``sum over R of max(0, s -
t)`` more than the order of the scores. The part of this sum over items that are no
candidates is known in advance, which leaves a problem of the candidates alone. Each
list is a small assignment problem.

**Measures of counts** (17.14)::

    max over v in V  loss(v, y) + sum_i (v_i - y_i) s_i,    v, y in {-1, 1}

The loss is a function of a and b, the relevant and the other items marked positive. The
best v of given (a, b) marks the items of the largest scores. For a given a all the
losses here are concave in b. So the best b is where the increments change their sign,
which a binary search finds for all a of all lists at once. After the sort it takes O(P
log N) for P relevant and N other items.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._lists import sort_lists
from ..fitting._pairs import dense_grades
from ..target_losses import FBeta, PrecisionAtK, RecallAtK
from ..target_losses._classes import BalancedAccuracy


def worst_places(gains, scores, lists, discounts):
    """Place from the top, 1..r, of each item in the maximising permutation of each list.

    `gains` are b, >= 0, grouped; `discounts` of the first k places do not increase.
    """
    order = sort_lists(scores, lists)
    s = scores - lists.repeat(lists.sum(scores) / lists.lengths)
    s, b = s[order], gains[order]
    k = min(len(discounts), int(lists.lengths.max()))
    level = dense_grades(b, lists)
    kept = _candidates(level, lists, k)
    part, _ = lists.select(kept)
    # Sum of s - t over the items before each item that are no candidates.
    n, total = (_within_lists(values, lists) for values in (~kept * 1.0, ~kept * s))
    cost = np.maximum(total - n * s, 0.0)
    s, b, cost = s[kept], b[kept], cost[kept]
    places = np.empty(part.n_rows, dtype=np.intp)
    for start, end in zip(
        part.starts, part.offsets[1:], strict=True
    ):  # an assignment each
        rows, r = slice(start, end), end - start
        discount, is_first = np.zeros(r), np.arange(r) < k
        discount[is_first] = discounts[:k][:r]
        profit = np.outer(s[rows], np.arange(r, 0, -1)) - np.outer(b[rows], discount)
        profit -= np.outer(cost[rows], is_first)
        places[rows] = linear_sum_assignment(profit, maximize=True)[1] + 1
    n_first = np.minimum(k, lists.lengths)
    first = places <= n_first[lists.index[order[kept]]]
    place = np.zeros(lists.n_rows, dtype=np.intp)
    place[order[kept][first]] = places[first]
    left = place[order] == 0  # the other items come next, by their scores
    rank = _within_lists(left.astype(float), lists).astype(np.intp) + lists.repeat(
        n_first
    )
    place[order[left]] = rank[left]
    return place


def _candidates(level, lists, k):
    """Whether each item, in the order of the scores, may be among the first k.

    k times, the items without an item of their level or below before them are removed.
    """
    is_candidate = np.ones(len(level), dtype=bool)
    if k >= int(lists.lengths.max()):
        return is_candidate
    is_candidate[:] = False
    n_levels = int(level.max()) + 1
    # Keys of later lists are smaller: a running minimum starts anew with each list.
    left, key = np.arange(len(level)), level - lists.index * n_levels
    for _ in range(k):
        if len(left) == 0:
            break
        own = key[left]
        is_least = np.ones(len(left), dtype=bool)
        is_least[1:] = own[1:] < np.minimum.accumulate(own)[:-1]
        is_candidate[left[is_least]] = True
        left = left[~is_least]
    return is_candidate


def _within_lists(values, lists):
    """Cumulative sums within each list."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    return total[1:] - lists.repeat(total[lists.starts])


# Measures of counts -----------------------------------------------------------------
# A new measure of two relevance levels needs a line in `COUNT_LOSSES`.

#: Loss of the counts (a, b, P, N) of a measure, by its class; concave in b. The
#: precision of nothing is 0.
COUNT_LOSSES: dict[type, Callable[..., Any]] = {
    PrecisionAtK: lambda measure, a, b, P, N: 1.0 - a / np.maximum(a + b, 1),
    RecallAtK: lambda measure, a, b, P, N: 1.0 - a / np.maximum(P, 1) + 0.0 * b,
    FBeta: lambda measure, *counts: 1.0 - measure.of_counts(*counts),
    BalancedAccuracy: lambda measure, a, b, P, N: (
        1.0 - 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))
    ),
}


def count_bounds(measure, a, N):
    """The least and the largest b in V, which allows no b if the least is larger.

    At least k items are marked for precision, and at most k for recall.
    """
    low, high = np.zeros_like(a), N + np.zeros_like(a)
    if isinstance(measure, PrecisionAtK):
        low = np.maximum(measure.k - a, 0)
    elif isinstance(measure, RecallAtK):
        high = np.minimum(N, measure.k - a)
    return low, high


def count_hinge(relevant, scores, lists, measure):
    """The hinge of each list and its subgradient in the scores, for a class in `COUNT_LOSSES`.

    The subgradient is v - y of the maximising v: 2, 0 or -2.
    """
    order = sort_lists(scores, lists, stable=True)
    top, rest = order[relevant[order]], order[~relevant[order]]
    P = lists.sum(relevant.astype(np.intp))
    N = lists.lengths - P
    first_top, first_rest, starts = (np.cumsum(n) - n for n in (P, N, P + 1))
    of_list = np.repeat(np.arange(lists.n_lists), P + 1)
    a, counts = np.arange(len(of_list)) - starts[of_list], (P[of_list], N[of_list])
    b, allowed = _best_b(a, *counts, scores[rest], first_rest[of_list], measure)
    sums_top, sums_rest = (
        np.append(0.0, np.cumsum(scores[rows])) for rows in (top, rest)
    )
    value = COUNT_LOSSES[type(measure)](measure, a, b, *counts)
    value += 2.0 * (sums_rest[first_rest[of_list] + b] - sums_rest[first_rest[of_list]])
    value -= 2.0 * (
        sums_top[(first_top + P)[of_list]] - sums_top[first_top[of_list] + a]
    )
    value[~allowed] = -np.inf
    values = np.maximum.reduceat(value, starts)
    best = np.flatnonzero(value == values[of_list])
    best = best[np.searchsorted(best, starts)]  # the first of each list
    slopes = np.zeros(len(scores))
    slopes[top] = np.where(
        np.arange(len(top)) < np.repeat(first_top + a[best], P), 0.0, -2.0
    )
    slopes[rest] = np.where(
        np.arange(len(rest)) < np.repeat(first_rest + b[best], N), 2.0, 0.0
    )
    return values, slopes


def _best_b(a, P, N, others, first, measure):
    """The best b of each a, by binary search, and whether V allows any.

    `others` are the sorted scores of the other items; the scores of each list begin at
    `first`.
    """
    loss = partial(COUNT_LOSSES[type(measure)], measure)
    low, high = count_bounds(measure, a, N)
    allowed = low <= np.minimum(high, N)
    low = np.minimum(low, N)
    high = np.maximum(high, low)
    while len(others) and np.any(low < high):
        b = (low + high + 1) // 2  # at least 1
        gain = np.subtract(*loss(a, np.stack([b, b - 1]), P, N))
        at = np.clip(first + b - 1, 0, len(others) - 1)
        rises = (gain + 2.0 * others[at] > 0) & (low < high)
        low, high = (
            np.where(rises, b, low),
            np.where(rises, high, np.minimum(high, b - 1)),
        )
        high = np.maximum(high, low)
    return low, allowed
