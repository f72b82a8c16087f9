"""One table of target losses with labels that they take, for all generic tests.

It follows from ``TARGET_LOSSES``: a loss with a line there is tested with labels of every kind
that it declares. Only further settings are listed here.
"""

import numpy as np

from lowrank_rank.target_losses import (
    DCG,
    NDCG,
    ExpectedRankUtility,
    PairwiseDisagreement,
    PrecisionAtK,
)

from .internals import TARGET_LOSSES, PrecisionAtShare


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


#: Labels by what a measure declares. A binary one takes grades too, see EXTRA.
KINDS = {"binary": [binary], "graded": [graded], "any": [graded, rankings]}
#: A short cut-off, so that lists of a few items are cut.
CUTS = {"": "", "k": "2", "[k]": "2", "p%": "50%"}
#: Settings beside those of the names.
EXTRA = [
    (PrecisionAtK(k=3), binary),
    (PrecisionAtK(k=2), graded),
    (PrecisionAtK(k=2, relevance_threshold=2), graded),
    (PrecisionAtShare(share=0.5, relevance_threshold=1), graded),
    (DCG(k=2, gain="exponential"), graded),
    (NDCG(k=3, gain="exponential"), graded),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0), graded),
    (ExpectedRankUtility(neutral=1.0, half_life=2.0, max_grade=5), graded),
    (PairwiseDisagreement("difference"), graded),
]


def named_cases():
    """Every name of the table, without and with a cut-off, with the labels that it takes."""
    for entry in TARGET_LOSSES.values():
        cuts = ["", CUTS[entry.at]] if entry.at.startswith("[") else [CUTS[entry.at]]
        for cut in cuts:
            loss = entry.measure(**entry.parameters(cut))
            kinds = [
                *KINDS[loss.labels],
                *([preferences] if loss.takes_preferences else []),
            ]
            yield from ((loss, kind) for kind in kinds)


LOSSES = [*named_cases(), *EXTRA]
IDS = [f"{loss}-{labels.__name__}" for loss, labels in LOSSES]
