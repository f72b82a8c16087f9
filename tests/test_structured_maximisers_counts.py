"""Measures of a whole list: the hinge is that of the best of all label vectors."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import FBeta

from .structured_cases import random_queries, slices_of


def f_loss(a, b, P, N, beta):
    return 1 - (1 + beta**2) * a / ((1 + beta**2) * a + beta**2 * (P - a) + b)


#: By name, the measure at k, its loss of the counts, and which counts may be marked.
MEASURES = {
    "f1": (
        lambda k: "f1",
        lambda a, b, P, N: f_loss(a, b, P, N, 1.0),
        lambda a, b, k: True,
    ),
    "f2": (
        lambda k: FBeta(2.0),
        lambda a, b, P, N: f_loss(a, b, P, N, 2.0),
        lambda a, b, k: True,
    ),
    "balanced": (
        lambda k: "balanced_accuracy",
        lambda a, b, P, N: 1 - (a / P + (N - b) / max(N, 1)) / 2,
        lambda a, b, k: True,
    ),
    "precision": (
        "precision@{}".format,
        lambda a, b, P, N: 1 - a / np.maximum(a + b, 1),
        lambda a, b, k: a + b >= k,
    ),
    "recall": (
        "recall@{}".format,
        lambda a, b, P, N: 1 - a / P,
        lambda a, b, k: a + b <= k,
    ),
}


def k_of(name, n_relevant, rng):
    """k that all lists allow: for precision at most P, for recall at least P."""
    if name == "precision":
        return int(rng.integers(1, min(n_relevant) + 1))
    return int(max(n_relevant) + rng.integers(0, 3))


@pytest.mark.parametrize("name", MEASURES)
def test_whole_list_measures_are_the_best_of_all_label_vectors(name, seed):
    rng = np.random.default_rng(seed)
    measure, loss, may = MEASURES[name]
    for trial in range(60):
        qid, scores = random_queries(rng, longest=8)
        parts = slices_of(qid)
        relevant = rng.random(len(qid)) < (1.0 if trial < 4 else 0.4)
        relevant[[rows.start for rows in parts]] = True
        k = k_of(name, [relevant[rows].sum() for rows in parts], rng)
        values, slopes = structured_hinge(measure(k), relevant * 1.0, scores, qid=qid)
        for value, rows in zip(values, parts, strict=True):
            y, s = np.where(relevant[rows], 1, -1), scores[rows]
            v = np.array(list(itertools.product([-1, 1], repeat=len(s))))
            a, b = (v > 0) @ (y > 0).astype(int), (v > 0) @ (y < 0).astype(int)
            P, N = (y > 0).sum(), (y < 0).sum()
            every = loss(a, b, P, N) + (v - y) @ s
            assert_allclose(value, every[may(a, b, k) | (a < 0)].max(), atol=1e-9)
            worst = y + slopes[rows]
            a, b = ((worst > 0) & (y > 0)).sum(), ((worst > 0) & (y < 0)).sum()
            assert may(a, b, k)
            assert_allclose(value, loss(a, b, P, N) + slopes[rows] @ s, atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_the_sweep_over_long_lists_is_that_of_all_counts(name):
    rng = np.random.default_rng(1)
    measure, loss, may = MEASURES[name]
    qid = np.repeat([0, 1], [500, 700])
    for scale in (1e-4, 1e-2, 1.0):
        relevant, scores = rng.random(1200) < 0.3, scale * rng.normal(size=1200)
        k = 100 if name == "precision" else 400
        values, _ = structured_hinge(measure(k), relevant * 1.0, scores, qid=qid)
        for value, rows in zip(values, slices_of(qid), strict=True):
            top, rest = (
                np.sort(scores[rows][m])[::-1]
                for m in (relevant[rows], ~relevant[rows])
            )
            P, N = len(top), len(rest)
            a, b = np.arange(P + 1)[:, np.newaxis], np.arange(N + 1)
            table = loss(a, b, P, N) + 2 * np.append(0, np.cumsum(rest))[b]
            table = table - 2 * (top.sum() - np.append(0, np.cumsum(top))[a])
            allowed = np.broadcast_to(may(a, b, k), table.shape)
            assert_allclose(value, table[allowed].max(), atol=1e-9)
