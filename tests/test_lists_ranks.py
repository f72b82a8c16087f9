"""Scores, orders and ranks, and the one rule for ties."""

import numpy as np
import pytest

from .internals import (
    RankingLists,
    mid_fractions,
    mid_ranks,
    ranks_from_scores,
    read_lists,
)


@pytest.mark.parametrize("qid", [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
def test_ranks_and_mid_ranks(qid):
    """Ties keep the rows' order in ranks, and share the mean rank in mid-ranks."""
    s = np.array([1.0, 3.0, 1.0, 2.0, 2.0, 5.0])
    lists = read_lists(qid)
    ranks, mid = ranks_from_scores(s, lists), mid_ranks(s, lists)
    for q in np.unique(qid):
        here = np.flatnonzero(np.array(qid) == q)
        for i in here:
            above = sum(s[j] > s[i] for j in here)
            tied = [j for j in here if s[j] == s[i]]
            assert ranks[i] == above + 1 + tied.index(i)
            assert mid[i] == above + (len(tied) + 1) / 2


def test_mid_fractions_take_a_weight_of_two_for_the_row_twice():
    values, weights = np.array([3.0, 1.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0, 3.0])
    weighted = mid_fractions(values, RankingLists([4]), weights)
    repeated = np.repeat(values, weights.astype(int))
    plain = mid_fractions(repeated, RankingLists([7]), np.ones(7))
    np.testing.assert_allclose(np.repeat(weighted, weights.astype(int)), plain)
    np.testing.assert_allclose(
        mid_fractions(values, RankingLists([4]), 5 * weights), weighted
    )
