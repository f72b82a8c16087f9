"""Numbers of pairs against a loop over all of them."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from .internals import RankingLists, inversions, pair_counts

LABELS = {
    "grades": lambda rng, n: rng.integers(0, 5, n).astype(float),
    "distinct": lambda rng, n: rng.standard_normal(n),
    "rounded": lambda rng, n: np.round(rng.standard_normal(n), 1),
    "whole": lambda rng, n: rng.integers(-3, 9000, n).astype(float),
    "constant": lambda rng, n: np.zeros(n),
}
LENGTHS = {
    "short": [1, 2, 7, 32, 5],
    "common": [33, 33, 33],
    "long": [257, 257],
    "one": [300],
    "ragged": [1, 40, 31, 64, 65, 130, 33, 2],
}


def counted(y, scores):
    """Numbers of pairs: discordant, tied in the scores, tied in the labels, tied in both."""
    i, j = np.triu_indices(len(y), 1)
    labels, values = np.sign(y[i] - y[j]), np.sign(scores[i] - scores[j])
    tied = (values == 0), (labels == 0), (values == 0) & (labels == 0)
    return [np.sum(labels * values < 0), *map(np.sum, tied)]


@pytest.mark.parametrize("max_entries", [100, 2**18])
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_pairs_of_every_kind(lengths, kind, max_entries):
    rng = np.random.default_rng(0)
    lists = RankingLists(LENGTHS[lengths])
    y = LABELS[kind](rng, lists.n_rows)
    for digits in (0, 2, 12):
        scores = np.round(rng.standard_normal(lists.n_rows), digits)
        parts = zip(
            *(np.split(a, lists.offsets[1:-1]) for a in (y, scores)), strict=True
        )
        expected = np.transpose([counted(*part) for part in parts])
        found = pair_counts(y, scores, lists, max_entries=max_entries)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [5_000, 70_000])
def test_long_lists_agree_with_scipy(n):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(n)
    scores = np.round(y + rng.standard_normal(n), 3)
    discordant, tied_scores, tied_labels, tied_both = pair_counts(
        y, scores, RankingLists([n])
    )
    pairs = n * (n - 1) / 2
    concordant = pairs - discordant - tied_scores - tied_labels + tied_both
    scale = np.sqrt((pairs - tied_scores) * (pairs - tied_labels))
    np.testing.assert_allclose(
        (concordant - discordant) / scale, kendalltau(y, scores)[0]
    )


@pytest.mark.parametrize("width", [1, 2, 32, 64, 255, 256])
def test_inversions_of_permutations(width):
    rng = np.random.default_rng(0)
    rows = rng.permuted(np.tile(np.arange(width), (4, 1)), axis=1)
    rows[0], rows[1] = np.arange(width), np.arange(width)[::-1]
    i, j = np.triu_indices(width, 1)
    np.testing.assert_array_equal(
        inversions(rows), (rows[:, i] > rows[:, j]).sum(axis=1)
    )
