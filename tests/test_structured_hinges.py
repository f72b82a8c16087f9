"""Structured hinges of pairs and places: vectors, all pairs."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import rankdata

from lowrank_rank.surrogates import structured_hinge

from .vectors import worked_cases


def test_vectors_of_ndcg():
    """The vectors break ties by the stable ascending order, not by the mid-rank."""
    for case in worked_cases("structured_hinge.json"):
        y, s = np.array(case["y"], float), np.array(case["score"])
        values, _ = structured_hinge(f"ndcg@{case['k']}", y, s)
        broken_ties = rankdata(y) - rankdata(y, method="ordinal")
        assert_allclose(values[0] + broken_ties @ s, case["ndcg_hinge"], atol=1e-9)


def test_the_hinge_of_kendall_is_the_mean_over_all_pairs(seed):
    """One over r (r - 1) / 2 pairs; pairs with tied labels are wrong (section 17.4)."""
    rng = np.random.default_rng(seed)
    for r in (2, 3, 7):
        y, s = rng.integers(0, 3, r).astype(float), rng.normal(size=r)
        y[0] = y[1] + 1.0
        pairs = [
            max(0.0, 1.0 - np.sign(y[i] - y[j]) * (s[i] - s[j]))
            for i in range(r)
            for j in range(i)
        ]  # a tie has the term 1
        values, _ = structured_hinge("kendall", y, s)
        assert_allclose(values, np.sum(pairs) / (r * (r - 1) / 2))
        both, _ = structured_hinge(
            "kendall", np.append(y, y), np.append(s, s), qid=[0] * r + [1] * r
        )
        assert_allclose(both, [values[0]] * 2)
