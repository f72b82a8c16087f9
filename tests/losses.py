"""One table of target losses with labels that they take, for all generic tests."""

import numpy as np

from lowrank_rank.target_losses import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    KendallTau,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    SpearmanRho,
)


def binary(rng, n, r):
    return rng.integers(0, 2, (n, r)).astype(float)


def graded(rng, n, r):
    return rng.integers(0, 4, (n, r)).astype(float)


def rankings(rng, n, r):
    return rng.permuted(np.tile(np.arange(float(r)), (n, 1)), axis=1)


def preferences(rng, n, r):
    y = rng.uniform(size=(n, r, r)) * (rng.uniform(size=(n, r, r)) < 0.5)
    y[:, np.arange(r), np.arange(r)] = 0.0
    return np.where(y > y.transpose(0, 2, 1), y, 0.0)


LOSSES = [
    (PrecisionAtK(k=1), binary),
    (PrecisionAtK(k=3), binary),
    (PrecisionAtK(k=2, relevance_threshold=2), graded),
    (PrecisionAtShare(share=1.0), binary),
    (PrecisionAtShare(share=0.5), binary),
    (RecallAtK(k=2), binary),
    (DCG(), graded),
    (DCG(k=2, gain="exponential"), graded),
    (NDCG(), graded),
    (NDCG(k=2), graded),
    (NDCG(k=3, gain="exponential"), graded),
    (AUC(), binary),
    (SpearmanRho(), rankings),
    (SpearmanRho(), graded),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0), graded),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0, max_grade=5), graded),
    (MeanAveragePrecision(), binary),
    (PairwiseDisagreement(), graded),
    (PairwiseDisagreement("difference"), graded),
    (PairwiseDisagreement(), preferences),
    (KendallTau(), graded),
    (KendallTau(), rankings),
]
IDS = [f"{loss}-{labels.__name__}" for loss, labels in LOSSES]
