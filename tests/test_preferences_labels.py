"""Labels of preferences: the mean votes of grades and of preferences."""

import numpy as np
import pytest

from lowrank_rank.target_losses import PairwiseDisagreement

from .internals import KendallTau


@pytest.mark.parametrize(
    "loss", [PairwiseDisagreement(), PairwiseDisagreement("difference"), KendallTau()]
)
def test_mean_votes_of_grades_are_the_preferences_both_ways(loss):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, (3000, 7)).astype(float)  # more than a block
    y[rng.random(y.shape) < 0.2] = np.nan
    weights = rng.integers(0, 3, len(y)).astype(float)
    both_ways = loss.preferences(y) + loss.preferences(y).transpose(0, 2, 1)
    expected = np.average(both_ways, axis=0, weights=weights)
    found = loss.mean_votes(y, weights, loss.encode(y))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
