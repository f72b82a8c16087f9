"""Arguments of `lowrank_rank.calibration`: what is no rank, probability or number is refused."""

import numpy as np
import pandas as pd
import pytest

from lowrank_rank.calibration import (
    calibration_report,
    conditional_regret,
    is_order_preserving,
    noise_report,
    precision_margins,
    regret_bound,
)

from .internals import C_phi

SUPPORT, P, RANKS = [[1, 0, 0], [0, 1, 0]], [[0.75, 0.25]], [[1, 2, 3]]
CYCLE = [[[0, 2, 0], [0, 0, 2], [1, 0, 0]]]


def regret(support=SUPPORT, probabilities=P, ranks=RANKS):
    return conditional_regret("ndcg", support, probabilities, ranks)


def bound(expected=((0.7, 0.3),), surrogate_regret=(0.5,)):
    return regret_bound("pointwise_squared", expected, [1.0, 0.0], surrogate_regret)


REFUSED = {
    "tied ranks": (
        lambda: regret(ranks=[[1, 1, 1]]),
        r"ranks\[0\] must be the ranks 1..3 .*1, 1",
    ),
    "ranks from 0": (
        lambda: regret(ranks=[[0, 1, 2]]),
        r"ranks\[0\] must be .* 1 = best",
    ),
    "ranks of two items": (
        lambda: regret(ranks=[[1, 2]]),
        r"ranks 1..3 of all items.*\(1, 2\)",
    ),
    "ranks of one list": (
        lambda: regret(ranks=[1, 2, 3]),
        r"ranks 1..3 of all items.*\(3,\)",
    ),
    "NaN ranks": (lambda: regret(ranks=[[1, 2, np.nan]]), r"ranks\[0\] must be"),
    "text ranks": (lambda: regret(ranks=[["a", "b", "c"]]), "ranks must be"),
    "two rows of ranks": (
        lambda: regret(ranks=RANKS * 2),
        r"of 1 lists.*\(2, 3\)",
    ),
    "not a distribution": (
        lambda: regret(probabilities=[[2, -5]]),
        r"probabilities\[0\].*sum 1",
    ),
    "sum below 1": (
        lambda: regret(probabilities=[[0.5, 0.4]]),
        r"probabilities\[0\].*sum 1",
    ),
    "NaN probabilities": (
        lambda: regret(probabilities=[[np.nan, 1]]),
        r"probabilities\[0\]",
    ),
    "one distribution": (lambda: regret(probabilities=[0.5, 0.5]), r"shape \(n, 2\)"),
    "support of one label": (
        lambda: regret(support=[1, 0, 0]),
        "support must hold labels",
    ),
    "noise of no distribution": (
        lambda: noise_report(SUPPORT, probabilities=[[2, -1]]),
        r"probabilities\[0\].*sum 1",
    ),
    "negative tol": (lambda: noise_report(CYCLE, tol=-1), "tol must be .* >= 0"),
    "unknown measure": (
        lambda: noise_report(CYCLE, target_loss="ndcg"),
        "target_loss must be",
    ),
    "no distributions": (
        lambda: is_order_preserving("ranknet", n_distributions=0),
        "n_distributions must be an integer >= 1",
    ),
    "one item": (lambda: is_order_preserving("ranknet", n_items=1), "n_items must be"),
    "no labels": (
        lambda: is_order_preserving("ranknet", n_labels=0),
        "n_labels must be",
    ),
    "margin": (
        lambda: is_order_preserving("ranknet", margin=0.75),
        "margin must be .* < 0.75",
    ),
    "seed": (
        lambda: is_order_preserving("ranknet", random_state="a"),
        "random_state must be",
    ),
    "no distributions of a report": (
        lambda: calibration_report("ndcg", n_distributions=0),
        "n_distributions must be an integer >= 1",
    ),
    "a decoder by name": (
        lambda: calibration_report("ndcg", decoder="sort"),
        "decoder must be",
    ),
    "a decoder of no ranks": (
        lambda: calibration_report("ndcg", decoder=lambda u, r: np.zeros((len(u), r))),
        "decoder '<lambda>' of NDCG.* ranks 1..5",
    ),
    "negative regret": (
        lambda: bound(surrogate_regret=[-5.0]),
        r"surrogate_regret\[0\] is -5",
    ),
    "NaN regret": (
        lambda: bound(surrogate_regret=[np.nan]),
        "surrogate_regret.* finite",
    ),
    "NaN utility": (lambda: bound(expected=[[np.nan, 1.0]]), "expected.* finite"),
    "NaN discount": (lambda: C_phi([1.0, np.nan]), r"measure\[1\] is nan"),
    "p of 0": (lambda: C_phi([1.0, 0.0], p=0), "p must be .* > 0"),
    "infinite norm": (
        lambda: precision_margins([1, 0], [1.0, 0.0], 1).mistake_bound(1.0, np.inf),
        "norm must be",
    ),
    "margins of text": (
        lambda: precision_margins([1, 0], ["a", "b"], 1),
        "scores must be an",
    ),
    "margins of two indices": (
        lambda: precision_margins(pd.Series([1, 0]), pd.Series([2.0, 1.0], [1, 0]), 1),
        "different indices",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_rank_probability_or_number_is_refused(name):
    call, message = REFUSED[name]
    with pytest.raises((ValueError, TypeError), match=message):
        call()


def test_the_same_arguments_in_order_are_taken():
    assert regret().shape == bound().shape == (1,)
    assert is_order_preserving("cross_entropy", n_distributions=1, random_state=0)
    assert C_phi([1.0, 0.5]) == 0.5
