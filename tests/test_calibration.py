"""Theorem 4 and the conditions that the theorems name."""

import numpy as np
import pytest

from lowrank_rank.calibration import conditional_regret, conditional_risks, in_p_reinforce
from lowrank_rank.target_losses import MeanAveragePrecision


def p_reinforce_by_hand(u):
    r = len(u)
    return all(
        u[i, i] >= u[j, j] + sum(max(u[j, g] - u[i, g], 0) for g in range(r) if g not in (i, j))
        for i in range(r)
        for j in range(r)
        if i != j and u[i, i] >= u[j, j]
    )


@pytest.mark.parametrize("r", [2, 3, 4])
def test_condition_as_printed(r):
    rng = np.random.default_rng(r)
    row, column = np.tril_indices(r)
    for _ in range(100):
        u = np.zeros((r, r))
        u[row, column] = u[column, row] = rng.uniform(size=len(row))
        u[np.diag_indices(r)] += rng.uniform(0, r) * np.arange(r)
        assert in_p_reinforce(u[row, column][np.newaxis], r)[0] == p_reinforce_by_hand(u)


@pytest.mark.parametrize("r", [3, 4, 5])
def test_theorem_4(r):
    """Inside P_reinforce the diagonal decoder is Bayes-optimal; outside it fails somewhere."""
    loss, rng = MeanAveragePrecision(), np.random.default_rng(r)
    inside, worst = 0, 0.0
    for trial in range(300):
        support = rng.integers(0, 2, (6, r)).astype(float)
        if trial % 2:  # independent labels, in expectation: always inside
            support = np.array(np.meshgrid(*[[0.0, 1.0]] * r)).reshape(r, -1).T
            q = rng.uniform(size=r)
            p = np.prod(np.where(support > 0, q, 1 - q), axis=1)[np.newaxis]
        else:
            p = rng.dirichlet(np.full(6, 0.5), size=1)
        u = p @ loss.encode(support)
        ranks = loss.decoders["diagonal"].decode(u, r)
        regret = conditional_regret(loss, support, p, ranks)[0]
        if in_p_reinforce(u, r)[0]:
            inside += 1
            assert regret < 1e-9
        else:
            assert trial % 2 == 0, "independent labels are inside"
            worst = max(worst, regret)
    assert inside >= 150
    assert worst > 1e-3


def test_losses_go_by_name_too():
    p, support = [[0.75, 0.25]], [[1, 0], [0, 1]]
    assert conditional_regret("wta", support, p, [[2, 1]]) == pytest.approx(0.5)
    assert conditional_risks("wta", support, p, [[1, 2]]) == pytest.approx(0.25)


def test_corollary_5_sorts_the_diagonal():
    loss = MeanAveragePrecision()
    y = np.random.default_rng(0).integers(0, 2, (30, 5)).astype(float)
    diagonal = [i * (i + 1) // 2 + i for i in range(5)]
    np.testing.assert_allclose(loss.score_targets(y), loss.encode(y)[:, diagonal])
