"""Shares of the parts of a stack: the mean over bootstraps of the best shares."""

from itertools import combinations_with_replacement

import numpy as np

from ..order_preserving._list_loss import squares_within
from ..target_losses._target_loss import sums_of_lists, values_of_lists
from ..validation._ids import read_lists

#: The most entries of labels that are scored at once.
_MAX_SIZE = 2**20


def points_of_simplex(n_parts):
    """List the shares of the parts that are tried, shape (n_points, n_parts).

    They add up to 1, and are multiples of 0.1, of 0.2 with more than three parts.
    """
    n_steps = 10 if n_parts <= 3 else 5
    # Each step of a point goes to one of the parts.
    steps = combinations_with_replacement(range(n_parts), n_steps)
    counts = [np.bincount(chosen, minlength=n_parts) for chosen in steps]
    return np.array(counts) / n_steps


def values_at_points(block, measure, points):
    """Compute the weighted measure of each list at each point, (n_points, n_lists).

    A list without weight, or for which the measure is not defined, has NaN.
    """
    scores, labels, qid, weights = block
    n_at_once = max(1, _MAX_SIZE // max(1, scores[0].size))
    values = []
    for start in range(0, len(points), n_at_once):
        some = points[start : start + n_at_once]
        copies = copies_of_lists(len(some), labels, qid, weights)
        combined = np.tensordot(some, scores, 1)
        combined = combined.reshape(-1, *scores.shape[2:])
        labels_of_copies, *ids_and_weights = copies
        of_lists, list_weights = values_of_lists(
            measure, labels_of_copies, combined, *ids_and_weights
        )
        of_lists = np.where(list_weights > 0, of_lists * list_weights, np.nan)
        values.append(of_lists.reshape(len(some), -1))
    return np.vstack(values)


def copies_of_lists(n_copies, labels, qid, weights):
    """Copy labels and weights, and number the lists of each copy apart."""
    labels = np.concatenate([labels] * n_copies)
    if weights is not None:
        weights = np.tile(weights, n_copies)
    if qid is not None:
        lists = read_lists(qid)
        offsets = lists.n_lists * np.arange(n_copies)
        qid = np.add.outer(offsets, lists.codes).ravel()
    return labels, qid, weights


def mean_best_point(values, points):
    """Compute the mean over 200 bootstraps of the lists of the best of the points.

    A mean share below 0.1 becomes 0.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_lists)
        The weighted measure of each list at each point; greater is better. Lists with
        NaN are left out.
    points : ndarray of shape (n_points, n_parts)
        Shares of the parts.
    """
    has_value = ~np.isnan(values).any(axis=0)
    values = values[:, has_value]
    n = values.shape[1]
    if n == 0:  # the measure is undefined on every held-out list
        return points.mean(axis=0)
    # The draws do not depend on the order of the lists; nor on that of the parts, but
    # for ties.
    values = values[:, np.lexsort([*values, *np.sort(values, axis=0)])]
    # How often each list is drawn, in each bootstrap.
    rng = np.random.default_rng(0)
    counts = rng.multinomial(n, np.full(n, 1.0 / n), size=200)
    totals = counts @ values.T
    # Points that tie for the best count as their mean.
    rounding = 1e-12 * np.abs(totals).max(axis=1, keepdims=True)
    is_best = totals >= totals.max(axis=1, keepdims=True) - rounding
    best = is_best @ points / is_best.sum(axis=1, keepdims=True)
    shares = best.mean(axis=0)
    least = min(0.1, shares.max())
    shares[shares < least - 1e-9] = 0.0
    return shares / shares.sum()


# Scores of the parts ----------------------------------------------------------------


def squares_of_parts(block):
    """Sum squares of the scores of each part within lists, (n_parts, 3)."""
    scores, _, qid, weights = block
    groups = np.arange(scores.shape[1])
    if qid is not None:
        groups = read_lists(qid).codes
    return np.array([squares_within(one, groups, weights) for one in scores])


def scaled_scores(block, deviations):
    """Divide the scores of each part by its standard deviation within lists."""
    scores, labels, qid, weights = block
    deviations = deviations.reshape(-1, *[1] * (scores.ndim - 1))
    return scores / deviations, labels, qid, weights


def sums_at(block, measure, part_weights):
    """Sum the measure over the lists of a block, at weights of the parts."""
    scores, labels, qid, weights = block
    combined = np.tensordot(part_weights, scores, 1)
    return sums_of_lists(measure, labels, combined, qid, weights)


def sums_of_random_order(block, measure):
    """Sum the measure of random orders over the lists of a block."""
    scores, labels, qid, weights = block
    equal_scores = np.zeros(scores.shape[1:])
    return sums_of_lists(measure, labels, equal_scores, qid, weights, of_orders=True)
