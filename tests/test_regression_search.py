"""The search of a penalty in folds, on a mean that is pulled to 0."""

from typing import NamedTuple

import numpy as np
import pytest

from lowrank_rank.regression._penalties import N_FOLDS, folds_of
from lowrank_rank.regression._search import HeldOutBlocks, search_in_folds

ALPHAS = np.array([100.0, 10.0, 1.0, 0.1, 0.01, 0.001])


class Mean(NamedTuple):
    """Rows whose weighted mean is fitted, its square penalised: mean(y) / (1 + alpha)."""

    y: np.ndarray
    weights: np.ndarray

    def take(self, blocks, weights=None):
        return Mean(self.y[blocks], self.weights[blocks] if weights is None else weights)

    def scores(self, w):
        return np.full(len(self.y), w)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**63, 60).astype(np.uint64)
    return Mean(2.0 + rng.normal(size=60), np.full(60, 1.0 / 60)), keys


def searched(problem, keys, *, constant=1.0, max_rows=10_000, starts=None, undefined=()):
    def fit(part, alpha, start):
        if starts is not None:
            starts.append((alpha, start, len(part.y)))
        return part.weights @ part.y / part.weights.sum() / (1.0 + alpha)

    def judge(blocks, scores):
        values = -((problem.y[blocks] - scores) ** 2)
        values[np.isin(blocks, undefined)] = np.nan
        return values

    held_out = HeldOutBlocks(keys, np.ones(len(keys), dtype=np.intp), judge, max_rows)
    return search_in_folds(
        problem, held_out, ALPHAS, constant, fit=fit, report=lambda alpha, score: None
    )


def test_scores_are_means_over_the_folds_and_fits_go_on_from_the_last_penalty(rows):
    problem, keys = rows
    starts = []
    search = searched(problem, keys, starts=starts)
    folds = folds_of(keys)
    for alpha, score in zip(search.alphas, search.scores, strict=True):
        values = np.empty(60)
        for k in range(N_FOLDS):
            mean = problem.y[folds != k].mean() / (1.0 + alpha)
            values[folds == k] = -((problem.y[folds == k] - mean) ** 2)
        assert score == pytest.approx(values.mean())
    assert [start for _, start, _ in starts[:N_FOLDS]] == [None] * N_FOLDS
    for (_, start, _), (alpha, *_), k in zip(
        starts[N_FOLDS:], starts, range(N_FOLDS), strict=False
    ):
        assert start == pytest.approx(problem.y[folds != k].mean() / (1.0 + alpha))


def test_the_nearest_to_the_constant_within_the_noise(rows):
    problem, keys = rows
    assert searched(problem, keys, constant=0.001).alpha == 0.001
    assert searched(problem, keys, constant=100.0).alpha == 0.1  # the stronger ones are worse


def test_equal_blocks_are_one_and_undefined_ones_do_not_count(rows):
    problem, keys = rows
    twice = Mean(np.tile(problem.y, 2), np.full(120, 1.0 / 120))
    assert searched(twice, np.tile(keys, 2)).scores == pytest.approx(searched(problem, keys).scores)
    known = np.arange(60) >= 10
    some = searched(problem, keys, undefined=np.arange(10)).scores
    folds = folds_of(keys)
    values = np.empty(60)
    for k in range(N_FOLDS):
        values[folds == k] = -((problem.y[folds == k] - problem.y[folds != k].mean() / 101.0) ** 2)
    assert some[0] == pytest.approx(values[known].mean())


def test_without_enough_to_judge_by_it_is_the_constant(rows):
    problem, keys = rows
    few = Mean(problem.y[:19], np.full(19, 1.0 / 19))
    assert searched(few, keys[:19]).alpha == 1.0
    assert searched(few, keys[:19]).alphas is None
    assert searched(problem, keys, undefined=np.arange(60)).alphas is None


def test_a_search_looks_at_some_rows_and_ends_where_it_gets_worse(rows):
    problem, keys = rows
    starts = []
    searched(problem, keys, max_rows=30, starts=starts)
    assert sum(n for _, _, n in starts[:N_FOLDS]) == 30 * (N_FOLDS - 1)
    worse = Mean(np.random.default_rng(1).normal(size=60), problem.weights)  # of mean about 0
    assert len(searched(worse, keys).alphas) < len(ALPHAS)
