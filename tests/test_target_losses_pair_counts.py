"""Measures of pairs against a loop over all pairs."""

import numpy as np
import pytest
from scipy.stats import kendalltau

from lowrank_rank.target_losses import PairwiseDisagreement

from .internals import KendallTau, RankingLists

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
    "wide": [255, 255],
    "power of two": [256, 256],
    "long": [257, 257],
    "one": [300],
    "ragged": [1, 40, 31, 64, 65, 130, 33, 2],
}


def losses_by_hand(y, scores):
    """Pairwise disagreement, Kendall's tau loss and its mean over the orders of ties."""
    i, j = np.triu_indices(len(y), 1)
    if len(i) == 0:
        return np.nan, np.nan, np.nan
    label_sign = np.sign(y[i] - y[j])
    score_sign = np.sign(scores[i] - scores[j])
    is_discordant = label_sign * score_sign < 0
    is_tied_in_scores_alone = (score_sign == 0) & (label_sign != 0)
    disagreement = np.sum(is_discordant) + np.sum(is_tied_in_scores_alone) / 2.0
    # Tied scores count as ties: pairs that are tied in both are right.
    tau = np.mean(label_sign != score_sign)
    # In an order no pair is tied: pairs with tied labels are wrong.
    tau_of_orders = (disagreement + np.sum(label_sign == 0)) / len(i)
    return disagreement, tau, tau_of_orders


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_pairs_of_every_kind(lengths, kind):
    rng = np.random.default_rng(0)
    lengths = LENGTHS[lengths]
    n = sum(lengths)
    qid = np.repeat(np.arange(len(lengths)), lengths)
    ends = np.cumsum(lengths)[:-1]
    y = LABELS[kind](rng, n)
    for digits in (0, 2, 12):
        scores = np.round(rng.standard_normal(n), digits)
        lists = zip(np.split(y, ends), np.split(scores, ends), strict=True)
        by_hand = np.transpose([losses_by_hand(*one) for one in lists])
        disagreement, tau, tau_of_orders = by_hand
        found = PairwiseDisagreement().measure(y, scores, qid=qid, average=None)
        np.testing.assert_array_equal(-found, disagreement)
        found = KendallTau().measure(y, scores, qid=qid, average=None)
        np.testing.assert_allclose(-found, tau, rtol=1e-12)
        found = KendallTau().values_of_orders(y, scores, RankingLists(lengths))
        np.testing.assert_allclose(-found, tau_of_orders, rtol=1e-12)


@pytest.mark.parametrize("n", [5_000, 70_000])
def test_long_lists_agree_with_scipy(n):
    rng = np.random.default_rng(0)
    y = rng.standard_normal(n)
    scores = np.round(y + rng.standard_normal(n), 3)
    pairs = n * (n - 1) / 2
    # The labels have no ties: tied scores are wrong in Kendall's tau, half wrong here.
    wrong = -KendallTau().measure(y, scores, one_list=True) * pairs
    half_wrong = -PairwiseDisagreement().measure(y, scores, one_list=True)
    tied = 2.0 * (wrong - half_wrong)
    discordant = wrong - tied
    concordant = pairs - wrong
    tau_b = (concordant - discordant) / np.sqrt((pairs - tied) * pairs)
    assert tau_b == pytest.approx(kendalltau(y, scores)[0], rel=1e-7)
