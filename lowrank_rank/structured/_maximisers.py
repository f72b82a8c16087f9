"""Worst labels of lists: loss-augmented decoding of NDCG and of measures of counts.

**NDCG** (17.8 to 17.10), an assignment problem::

    max over permutations  sum_i place_from_bottom(i) s_i
                           - sum_i discount(place_from_top(i)) b_i

Without discounts the order of the scores is best. The discount is 0 beyond k. An item
stands below every item with at least its score and at most its gain. So only items with
fewer than k such items above them can be among the first k, the *candidates*. An item
of score t that is placed before the remaining items R costs ``sum over R of max(0, s -
t)`` more than the order of the scores. The part of this sum over items that are not
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
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from ..fitting._pairs import dense_grades
from ..lists._ranks import sort_lists
from ..target_losses import FBeta, PrecisionAtK, RecallAtK
from ..target_losses._classes import BalancedAccuracy

# NDCG -------------------------------------------------------------------------------


def worst_places(gains, scores, lists, discounts):
    """Return the place from the top, 1..r, of each item in the maximising permutations.

    `gains` are b, >= 0, grouped; `discounts` of the first k places do not increase.
    """
    order = sort_lists(scores, lists)
    # A shift of the scores of a list does not change the order: small numbers lose
    # fewer digits.
    s = scores - lists.repeat(lists.sum(scores) / lists.lengths)
    s = s[order]
    b = gains[order]
    k = min(len(discounts), int(lists.lengths.max()))
    is_candidate = _candidates(dense_grades(b, lists), lists, k)

    # An item of score t in front of the other items before it, those that are not
    # candidates, costs the sum over them of s - t.
    n_before = _sums_within_lists(~is_candidate * 1.0, lists)
    scores_before = _sums_within_lists(~is_candidate * s, lists)
    cost = np.maximum(scores_before - n_before * s, 0.0)
    candidate_lists, _ = lists.select(is_candidate)
    candidate_places = _assign(
        s[is_candidate], b[is_candidate], cost[is_candidate], candidate_lists, discounts
    )

    n_first = np.minimum(k, lists.lengths)
    is_first = candidate_places <= n_first[lists.index[order[is_candidate]]]
    places = np.zeros(lists.n_rows, dtype=np.intp)
    places[order[is_candidate][is_first]] = candidate_places[is_first]
    # The other items come next, by their scores.
    is_left = places[order] == 0
    n_left = _sums_within_lists(is_left.astype(float), lists).astype(np.intp)
    next_places = n_left + lists.repeat(n_first)
    places[order[is_left]] = next_places[is_left]
    return places


def _candidates(levels, lists, k):
    """Return whether each item, in the order of the scores, may be among the first k.

    k times, the items without an item of their level or below before them are removed.
    """
    is_candidate = np.ones(len(levels), dtype=bool)
    if k >= int(lists.lengths.max()):
        return is_candidate
    is_candidate[:] = False
    n_levels = int(levels.max()) + 1
    # Keys of later lists are smaller: a running minimum starts anew with each list.
    keys = levels - lists.index * n_levels
    left = np.arange(len(levels))
    for _ in range(k):
        if len(left) == 0:
            break
        keys_left = keys[left]
        is_least = np.ones(len(left), dtype=bool)
        is_least[1:] = keys_left[1:] < np.minimum.accumulate(keys_left)[:-1]
        is_candidate[left[is_least]] = True
        left = left[~is_least]
    return is_candidate


def _sums_within_lists(values, lists):
    """Return cumulative sums within each list."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    return sums[1:] - lists.repeat(sums[lists.starts])


def _assign(s, b, cost, lists, discounts):
    """Return the place of each candidate, by an assignment problem for each list.

    A place among the first has the cost of the items that are not candidates.
    """
    places = np.empty(lists.n_rows, dtype=np.intp)
    for start, end in zip(lists.starts, lists.offsets[1:], strict=True):
        rows = slice(start, end)
        r = end - start
        n_first = min(len(discounts), r)
        profit = np.outer(s[rows], np.arange(r, 0, -1))
        profit[:, :n_first] -= np.outer(b[rows], discounts[:n_first])
        profit[:, :n_first] -= cost[rows, np.newaxis]
        _, columns = linear_sum_assignment(profit, maximize=True)
        places[rows] = columns + 1
    return places


# Measures of counts -----------------------------------------------------------------


def _precision_loss(measure, a, b, P, N):
    """Return the loss of precision; the precision of nothing is 0."""
    return 1.0 - a / np.maximum(a + b, 1)


def _recall_loss(measure, a, b, P, N):
    """Return the loss of recall, in the shape of b."""
    return np.full(np.shape(b), 1.0 - a / np.maximum(P, 1))


def _f_loss(measure, a, b, P, N):
    """Return the loss of F_beta."""
    return 1.0 - measure.of_counts(a, b, P, N)


def _balanced_loss(measure, a, b, P, N):
    """Return one minus the mean of the rates of true positives and true negatives."""
    return 1.0 - 0.5 * (a / np.maximum(P, 1) + (N - b) / np.maximum(N, 1))


#: Loss of the counts (a, b, P, N) of a measure, by its class; concave in b.
COUNT_LOSSES: dict[type, Callable[..., Any]] = {
    PrecisionAtK: _precision_loss,
    RecallAtK: _recall_loss,
    FBeta: _f_loss,
    BalancedAccuracy: _balanced_loss,
}


def count_bounds(measure, a, N):
    """Return the least and the largest b in V, which has no b if the least is larger.

    At least k items are marked for precision, and at most k for recall.
    """
    low = np.zeros_like(a)
    high = N
    if isinstance(measure, PrecisionAtK):
        low = np.maximum(measure.k - a, 0)
    elif isinstance(measure, RecallAtK):
        high = np.minimum(N, measure.k - a)
    return low, high


def count_hinge(relevant, scores, lists, measure):
    """Return the hinge of each list and its subgradient in the scores.

    The class of the measure is in `COUNT_LOSSES`. The subgradient is v - y of the
    maximising v: 2, 0 or -2.
    """
    # Relevant and other items of each list, in descending scores.
    order = sort_lists(scores, lists, stable=True)
    top = order[relevant[order]]
    rest = order[~relevant[order]]
    P = lists.sum(relevant.astype(np.intp))
    N = lists.lengths - P
    first_top = np.cumsum(P) - P
    first_rest = np.cumsum(N) - N

    # One entry for each a = 0..P of each list, with the best b of it.
    starts = np.cumsum(P + 1) - (P + 1)
    list_of = np.repeat(np.arange(lists.n_lists), P + 1)
    a = np.arange(len(list_of)) - starts[list_of]
    start_top = first_top[list_of]
    start_rest = first_rest[list_of]
    n_top = P[list_of]
    n_rest = N[list_of]
    b, is_allowed = _best_b(a, n_top, n_rest, scores[rest], start_rest, measure)

    # loss + 2 (sum of the first b other scores - sum of all but the first a relevant)
    sums_top = np.append(0.0, np.cumsum(scores[top]))
    sums_rest = np.append(0.0, np.cumsum(scores[rest]))
    value = COUNT_LOSSES[type(measure)](measure, a, b, n_top, n_rest)
    value += 2.0 * (sums_rest[start_rest + b] - sums_rest[start_rest])
    value -= 2.0 * (sums_top[start_top + n_top] - sums_top[start_top + a])
    value[~is_allowed] = -np.inf
    values = np.maximum.reduceat(value, starts)

    # The first a of each list that reaches the maximum.
    best = np.flatnonzero(value == values[list_of])
    best = best[np.searchsorted(best, starts)]
    is_marked_top = np.arange(len(top)) < np.repeat(first_top + a[best], P)
    is_marked_rest = np.arange(len(rest)) < np.repeat(first_rest + b[best], N)
    slopes = np.zeros(len(scores))
    slopes[top] = np.where(is_marked_top, 0.0, -2.0)
    slopes[rest] = np.where(is_marked_rest, 2.0, 0.0)
    return values, slopes


def _best_b(a, P, N, other_scores, start, measure):
    """Return the best b of each a, by binary search, and whether V allows any.

    `other_scores` are the sorted scores of the other items; those of each list begin at
    `start`.
    """
    loss = COUNT_LOSSES[type(measure)]
    low, high = count_bounds(measure, a, N)
    is_allowed = low <= np.minimum(high, N)
    low = np.minimum(low, N)
    high = np.maximum(high, low)
    while np.any(low < high):
        b = (low + high + 1) // 2  # at least 1
        # Marking the b-th item adds loss(b) - loss(b - 1) + 2 s_b, which falls with b.
        with_item, without = loss(measure, a, np.stack([b, b - 1]), P, N)
        gain = with_item - without
        # Where low is high, nothing is marked, whatever the score is.
        rises = (gain + 2.0 * other_scores[start + b - 1] > 0) & (low < high)
        low = np.where(rises, b, low)
        high = np.where(rises, high, np.minimum(high, b - 1))
        high = np.maximum(high, low)
    return low, is_allowed
