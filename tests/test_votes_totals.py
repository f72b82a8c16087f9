"""Totals of ballots: Borda by sorting each ballot, majorities item by item."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank.target_losses import PairwiseDisagreement
from lowrank_rank.votes import consensus_ranking

from .internals import KendallTau, Votes, preference_cost, rank_totals


def ballots(seed, *, has_gaps=False):
    """Draw grades, some of them tied, weights, and ballots that rank nothing."""
    rng = np.random.RandomState(seed)
    n, r = rng.randint(2, 12, size=2)
    grades = rng.randint(0, rng.choice([2, 5, 100]), size=(n, r)).astype(float)
    weights = rng.gamma(1.0, size=n) if seed % 2 else rng.randint(1, 4, size=n)
    if has_gaps:
        grades[rng.uniform(size=(n, r)) < 0.3] = np.nan
    grades[0] = np.arange(r)  # each item meets all others
    if seed % 3 == 0:
        grades[1] = np.nan
    return grades, weights.astype(float)


def total_of_matrices(loss, grades, weights):
    return np.tensordot(weights, loss.preferences(grades), axes=1)


def test_borda_of_complete_ballots_is_that_of_the_matrix():
    for seed in range(400):
        grades, weights = ballots(seed)
        found = consensus_ranking(
            grades, kind="grades", weights=weights, method="borda"
        )
        total = total_of_matrices(PairwiseDisagreement(), grades, weights)
        ranks, _, scores = rank_totals("borda", total[np.newaxis], are_partial=False)
        assert_array_equal(found.ranks, ranks[0])
        # Scores are rounded to 12 digits of the largest total that ballots can have.
        n_pairs = len(total) * (len(total) - 1) / 2.0
        assert_allclose(
            found.scores, scores[0], rtol=1e-12, atol=1e-11 * weights.sum() * n_pairs
        )
        cost = preference_cost(total[np.newaxis], ranks)[0]
        assert_allclose(found.cost, cost, rtol=1e-12, atol=1e-12)
        assert_allclose(found.preferences, total, rtol=1e-12)


@pytest.mark.parametrize(
    "loss", [PairwiseDisagreement(), PairwiseDisagreement("difference"), KendallTau()]
)
def test_totals_are_those_of_the_matrices_of_each_ballot(loss):
    for seed in range(134):
        grades, weights = ballots(seed, has_gaps=True)
        found = loss.total_preferences(grades, weights)
        expected = total_of_matrices(loss, grades, weights)
        assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_borda_of_complete_ballots_compares_no_pairs(monkeypatch):
    """Its memory grows with the ballots, and not with the square of the items."""
    monkeypatch.delattr(Votes, "total")
    peaks = []
    for r in (200, 1600):
        grades = np.random.default_rng(0).permuted(
            np.ones((20, 1)) * np.arange(r), axis=1
        )
        tracemalloc.start()
        consensus_ranking(grades, kind="grades", method="borda")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 16 * peaks[0]  # 8 times as many items
