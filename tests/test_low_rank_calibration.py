"""calibration_report: the counter-examples of the papers are found, and those of broken losses."""

import numpy as np
import pytest

from lowrank_rank.calibration import calibration_report, conditional_regret
from lowrank_rank.target_losses import NDCG, MeanAveragePrecision

from .losses import IDS, LOSSES, preferences


@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_claims_of_our_losses_hold(loss, labels, seed):
    support = labels(np.random.default_rng(seed), 8, 4)
    report = calibration_report(loss, support, n_distributions=50, random_state=seed)
    assert report.holds
    assert [check.name for check in report.checks] == ["factorisation", *loss.decoders]


@pytest.mark.parametrize(
    ("loss", "inexact"),
    [
        ("ndcg@2", set()),
        ("precision@2", set()),
        ("prbep", set()),
        ("map", {"diagonal", "sort"}),  # theorem 4 and corollary 5
        (
            "pd",
            {"dag", "borda", "sort"},
        ),  # theorems 6 and 7: algorithm 1 is no exception
    ],
)
def test_default_labels_find_the_decoders_that_are_not_calibrated(loss, inexact):
    report = calibration_report(loss)
    assert {
        check.name for check in report.checks if check.labels is not None
    } >= inexact
    assert report.holds


def test_counter_examples_have_the_regret_that_they_state():
    report = calibration_report("map")
    for check in report.checks:
        if check.labels is not None:
            regret = conditional_regret(
                "map", check.labels, [check.probabilities], [check.ranks]
            )
            assert regret == pytest.approx(check.error)
            assert check.probabilities.sum() == pytest.approx(1)
            assert check.error > 0.01


def test_a_false_claim_of_a_decoder_is_found():
    class Claims(MeanAveragePrecision):
        @property
        def decoders(self):
            return {"diagonal": super().decoders["diagonal"]._replace(exact=True)}

    assert not calibration_report(Claims()).holds


def test_a_wrong_factorisation_is_found_and_decoders_are_not_tried():
    class WrongDiscount(NDCG):
        def rank_features(self, ranks):
            return -1.0 / np.asarray(ranks, dtype=float)

    loss, support = WrongDiscount(), [[0, 0, 0], [2, 0, 1]]
    report = calibration_report(loss, support)
    (check,) = report.checks
    assert not report.holds
    np.testing.assert_array_equal(
        check.labels, support[1:]
    )  # equal grades: every order is best
    best, worst = (
        loss.loss(support[1:], [r])[0] + loss.measure(support[1:], -np.array([r]))
        for r in ([1, 3, 2], [3, 1, 2])
    )
    assert check.error >= abs(best - worst) > 0.01


def test_the_table_names_labels_and_probabilities():
    text = repr(calibration_report("map", [[0, 1, 1], [1, 0, 0]]))
    assert "0.66: [0, 1, 1], 0.34: [1, 0, 0]" in text
    of_preferences = calibration_report(
        "pd", preferences(np.random.default_rng(0), 4, 4)
    )
    assert len(repr(of_preferences).splitlines()) == 1 + len(of_preferences.checks)


def test_decoders_must_return_ranks():
    class Zeros(NDCG):
        @property
        def decoders(self):
            sort = super().decoders["sort"]
            return {
                "sort": sort._replace(
                    decode=lambda u, r: np.zeros((len(u), r), dtype=int)
                )
            }

    with pytest.raises(
        ValueError, match=r"decoder 'sort' of Zeros.* must be the ranks 1\.\.5"
    ):
        calibration_report(Zeros())


def test_a_decoder_of_ones_own_is_tried_too():
    def backwards(u, n_items):
        return np.argsort(np.argsort(u, axis=1), axis=1) + 1

    report = calibration_report("precision@2", decoder=backwards, n_distributions=20)
    found = {check.name: check for check in report.checks}
    assert found["backwards"].error > 0.1
    assert report.holds


def test_losses_go_by_name_too():
    p, support = [[0.75, 0.25]], [[1, 0], [0, 1]]
    assert conditional_regret("wta", support, p, [[2, 1]]) == pytest.approx(0.5)
    assert conditional_regret("wta", support, p, [[1, 2]]) == 0.0
