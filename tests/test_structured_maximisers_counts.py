"""Measures of a whole list: the sweep is the best of all label vectors."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank.target_losses import FBeta, PrecisionAtK, RecallAtK

from .internals import (
    COUNT_LOSSES,
    BalancedAccuracy,
    RankingLists,
    count_bounds,
    count_hinge,
)
from .structured_cases import parts, random_lists

MEASURES = {
    "f1": lambda k: FBeta(1.0),
    "f2": lambda k: FBeta(2.0),
    "balanced": lambda k: BalancedAccuracy(),
    "precision": PrecisionAtK,
    "recall": RecallAtK,
}


def enumerated(relevant, scores, measure):
    """The largest value over all 2^r label vectors."""
    y = np.where(relevant, 1, -1)
    v = np.array(list(itertools.product([-1, 1], repeat=len(scores))))
    P, N = relevant.sum(), (~relevant).sum()
    a, b = (v > 0) @ relevant.astype(int), (v > 0) @ (~relevant).astype(int)
    low, high = count_bounds(measure, a, N)
    values = COUNT_LOSSES[type(measure)](measure, a, b, P, N) + (v - y) @ scores
    return values[(low <= b) & (b <= high)].max(initial=-np.inf)


@pytest.mark.parametrize("name", MEASURES)
def test_whole_list_measures_are_the_best_of_all_label_vectors(name):
    rng = np.random.default_rng(0)
    for trial in range(60):
        lists, scores = random_lists(rng, longest=8)
        relevant = (
            rng.random(lists.n_rows) < [0.4, 1.0, 0.0][trial % 3 if trial < 12 else 0]
        )
        measure = MEASURES[name](int(rng.integers(1, 5)))  # k beyond r among them
        values, slopes = count_hinge(relevant, scores, lists, measure)
        for value, rows in zip(values, parts(lists), strict=True):
            assert_allclose(
                value, enumerated(relevant[rows], scores[rows], measure), atol=1e-9
            )
            if np.isfinite(value):
                v = np.where(relevant[rows], 1, -1) + slopes[rows]
                a, b = (
                    ((v > 0) & relevant[rows]).sum(),
                    ((v > 0) & ~relevant[rows]).sum(),
                )
                P = relevant[rows].sum()
                loss = COUNT_LOSSES[type(measure)](measure, a, b, P, len(v) - P)
                assert_allclose(value, loss + slopes[rows] @ scores[rows], atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_the_sweep_over_long_lists_is_that_of_all_counts(name):
    rng = np.random.default_rng(1)
    for scale in (1e-4, 1e-2, 1.0):
        lists = RankingLists([500, 700])
        relevant, scores = rng.random(1200) < 0.3, scale * rng.normal(size=1200)
        measure = MEASURES[name](150 if name == "precision" else 400)
        values, _ = count_hinge(relevant, scores, lists, measure)
        for value, rows in zip(values, parts(lists), strict=True):
            top, rest = (
                np.sort(scores[rows][m])[::-1]
                for m in (relevant[rows], ~relevant[rows])
            )
            P, N = len(top), len(rest)
            a, b = np.arange(P + 1)[:, np.newaxis], np.arange(N + 1)
            table = COUNT_LOSSES[type(measure)](measure, a, b, P, N)
            table = table + 2 * np.append(0, np.cumsum(rest))[b]
            table -= 2 * (top.sum() - np.append(0, np.cumsum(top))[a])
            low, high = count_bounds(measure, a, N)
            assert_allclose(value, table[(low <= b) & (b <= high)].max(), atol=1e-9)
