"""Consistency: regret falls to 0 with n; aiming at the wrong loss costs where losses disagree."""

from functools import cache

import numpy as np
import pytest

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.calibration import conditional_regret
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.target_losses import ExpectedRankUtility

from .internals import resolve_target_loss

SIZES = (100, 800, 6400, 51200)
CASES = [
    ("precision@2", 2),
    ("precision@50%", 2),
    ("prbep", 2),
    ("wta", 2),
    ("recall@2", 2),
    ("dcg", 4),
    ("dcg_exp@2", 4),
    ("ndcg", 4),
    ("ndcg@2", 4),
    ("ndcg_exp", 4),
    ("auc", 2),
    ("spearman", 4),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0), 4),
    ("map", 2),
    ("pd", 2),
]


@cache
def problem(n_grades, seed):
    n = SIZES[-1] + 400
    return make_label_ranking(n, 4, n_grades=n_grades, n_labels=6, random_state=seed)


def mean_regret(fitted_for, measured_by, n, n_grades, seed):
    """Of a fit to the first n rows, on the last 400."""
    data = problem(n_grades, seed)
    ranker = LowRankSurrogateRanker(
        target_loss=fitted_for, estimator="ridge", alpha=1e-3
    )
    ranker.fit(data.data[:n], data.target[:n])  # the truth is linear
    measured_by = resolve_target_loss(measured_by)
    ranks = ranker.rank(data.data[-400:])
    return conditional_regret(
        measured_by, data.support, data.probabilities[-400:], ranks
    ).mean()


@pytest.mark.parametrize(("loss", "n_grades"), CASES, ids=lambda c: str(c))
def test_regret_falls_with_n(loss, n_grades):
    """Slope of log regret on log n, mean over problems: near -1, at least below -1/2."""
    regret = [
        np.mean([mean_regret(loss, loss, n, n_grades, s) for s in range(4)])
        for n in SIZES
    ]
    slope = np.polyfit(np.log(SIZES), np.log(np.maximum(regret, 1e-12)), 1)[0]
    assert slope < -0.5, regret
    assert regret[-1] < 1e-3


@pytest.mark.parametrize(
    ("one", "other", "n_grades"),
    [
        ("wta", "recall@1", 2),
        ("ndcg_exp", "pd", 4),
        ("map", "dcg", 2),
        ("auc", "recall@1", 2),
    ],
)
def test_the_right_loss_wins_where_two_disagree(one, other, n_grades):
    """Fitted for one and measured by the other, a regret stays that n does not cure."""
    regrets = {
        (a, b): np.mean([mean_regret(a, b, 20_000, n_grades, s) for s in range(10, 16)])
        for a in (one, other)
        for b in (one, other)
    }
    assert regrets[one, one] < regrets[other, one]
    assert regrets[other, other] < regrets[one, other]
