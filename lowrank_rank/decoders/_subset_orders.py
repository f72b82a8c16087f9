"""Exact orders for preferences by the dynamic program over subsets of the items."""

import numpy as np

from ._subsets import lists_at_once, subsets_by_size, trace_back


def subset_ranks(weights):
    """Ranks of least cost by the dynamic program over subsets, lists in chunks.

    Among orders of equal cost it takes the one that follows the net preference more closely,
    seen from the end: the items are renumbered by it, and ties go to the later item.
    """
    n_lists, r = weights.shape[:2]
    by_net = np.argsort(weights.sum(axis=1) - weights.sum(axis=2), axis=1, kind="stable")
    renumbered = np.take_along_axis(weights, by_net[:, :, np.newaxis], axis=1)
    renumbered = np.take_along_axis(renumbered, by_net[:, np.newaxis, :], axis=2)
    at_once = lists_at_once(r)
    found = np.empty((n_lists, r), dtype=np.intp)
    for first in range(0, n_lists, at_once):
        chunk = renumbered[first : first + at_once]
        best = _best_prefixes(np.ascontiguousarray(chunk.transpose(1, 2, 0)))
        found[first : first + at_once] = trace_back(
            best, lambda inside, w=chunk: -np.einsum("qij,qj->qi", w, inside.astype(float))
        )
    ranks = np.empty_like(found)
    np.put_along_axis(ranks, by_net, found, axis=1)
    return ranks


def _best_prefixes(weights):
    """Largest negative cost inside each subset, (2**r, n_lists), of weights (r, r, n_lists).

    Item i as the last one of a subset pays ``sum_j weights_ij`` over the others, looked up as
    a sum over the lower and one over the upper half of the items.
    """
    r, _, n_lists = weights.shape
    half = r // 2
    lower = [_subset_sums(weights[i, :half]) for i in range(r)]
    upper = [_subset_sums(weights[i, half:]) for i in range(r)]
    best = np.zeros((2**r, n_lists))
    for subsets in subsets_by_size(r):
        largest = np.full((len(subsets), n_lists), -np.inf)
        for i in range(r):
            holds_i = np.flatnonzero(subsets & (1 << i))
            others = subsets[holds_i] ^ (1 << i)
            value = best[others] - lower[i][others & (2**half - 1)] - upper[i][others >> half]
            largest[holds_i] = np.maximum(largest[holds_i], value)
        best[subsets] = largest
    return best


def _subset_sums(values):
    """Sum of the rows of `values` (m, n_lists) over every subset of them, (2**m, n_lists)."""
    sums = np.zeros((2 ** len(values), values.shape[1]))
    for i, row in enumerate(values):
        np.add(sums[: 2**i], row, out=sums[2**i : 2 ** (i + 1)])
    return sums
