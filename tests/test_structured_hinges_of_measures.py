"""structured_hinge by the name of a measure: vectors, convexity, bounds of k."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import FBeta

from .internals import BalancedAccuracy
from .refusals import refused_by
from .vectors import worked_cases


def test_vectors_of_measures_of_the_whole_list():
    for case in worked_cases("structured_hinge.json"):
        y, s = (np.array(case["labels"]) > 0).astype(float), np.array(case["score"])
        P = int(y.sum())
        found = {
            "f1": structured_hinge("f1", y, s),
            "balanced": structured_hinge("balanced_accuracy", y, s),
            "precision_at_least_P": structured_hinge(f"precision@{P}", y, s),
            "recall_at_most_P": structured_hinge(f"recall@{P}", y, s),
        }
        for name, (values, _) in found.items():
            assert_allclose(values[0], case[name], atol=1e-9)


def test_vectors_of_kendall():
    for case in worked_cases("structured_hinge.json"):
        y, s = np.array(case["y"], float), np.array(case["score"])
        assert_allclose(
            structured_hinge("kendall", y, s)[0][0], case["kendall_hinge"], atol=1e-9
        )


@pytest.mark.parametrize(
    "name", ["f1", "balanced_accuracy", "precision@2", "recall@4", "auc"]
)
def test_hinge_bounds_the_loss_and_is_convex(name, seed):
    rng = np.random.default_rng(seed)
    for _ in range(100):
        y = rng.permutation([1, 1, 1, 0, 0, 0, 0]).astype(float)
        s, t = rng.normal(size=(2, 7))
        value, slopes = structured_hinge(name, y, s)
        if name in ("f1", "balanced_accuracy"):
            a, b = ((s > 0) * y).sum(), ((s > 0) * (1 - y)).sum()
            measure = {"f1": FBeta(), "balanced_accuracy": BalancedAccuracy()}[name]
            assert value[0] >= 1 - measure.of_counts(a, b, 3.0, 4.0) - 1e-12
        other = structured_hinge(name, y, t)[0][0]
        assert (
            other >= value[0] + slopes @ (t - s) - 1e-9
        )  # a subgradient of a convex function


@pytest.mark.parametrize(("name", "sign"), [("precision@4", "<="), ("recall@2", ">=")])
def test_a_k_at_which_the_hinge_is_no_bound_is_refused(name, sign):
    with refused_by("k and the number of relevant items"):
        structured_hinge(name, [1, 1, 1, 0, 0], np.zeros(5))


def test_the_roc_area_is_the_hinge_of_its_pairs():
    y, s = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.5, 0.2, -0.3, 0.0])
    z = np.maximum(0, 1 - (s[y == 1][:, None] - s[y == 0]))
    assert_allclose(structured_hinge("auc", y, s)[0], z.mean())
