"""The ridge solver by itself: optimality, the transpose of the operator, sums of batches."""

import numpy as np
import pytest
from scipy import sparse

from lowrank_rank.solvers import RidgeStatistics, solve_iteratively
from lowrank_rank.solvers._ridge import Groups, _centred_operator


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, targets = rng.normal(size=(50, 4)) + 3.0, rng.normal(size=(50, 2))
    return X, targets, rng.uniform(0, 2, 50), rng.integers(0, 7, 50)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("grouped", [True, False])
def test_gradient_vanishes(problem, kind, grouped):
    X, targets, weights, codes = problem
    codes = codes if grouped else None
    exact, _ = RidgeStatistics.of_batch(kind(X), targets, weights, codes).solve(0.5)
    iterated, *_ = solve_iteratively(
        kind(X), targets, weights, codes, alpha=0.5, tol=1e-12, max_iter=None
    )
    groups = Groups(np.zeros(50, dtype=int) if codes is None else codes, weights)
    centred_x, centred_t = groups.centre(X), groups.centre(targets)
    for coef in (exact, iterated):
        residual = centred_t - centred_x @ coef
        gradient = 0.5 * coef - centred_x.T @ (weights[:, None] * residual)
        np.testing.assert_allclose(gradient, 0.0, atol=1e-7)


def test_operator_and_its_transpose(problem):
    X, _, weights, codes = problem
    rng = np.random.default_rng(1)
    operator = _centred_operator(X, Groups(codes, weights), rng.uniform(size=4), 0.7)
    v, z = rng.normal(size=4), rng.normal(size=54)
    assert z @ operator.matvec(v) == pytest.approx(v @ operator.rmatvec(z))


def test_group_of_weight_zero_has_no_say(problem):
    X, targets, weights, codes = problem
    weights = np.where(codes == 3, 0.0, weights)
    kept = codes != 3
    whole = RidgeStatistics.of_batch(X, targets, weights, codes).solve(1.0)
    part = RidgeStatistics.of_batch(X[kept], targets[kept], weights[kept], codes[kept]).solve(1.0)
    for a, b in zip(whole, part, strict=True):
        np.testing.assert_allclose(a, b)


@pytest.mark.parametrize("missing_in", ["none", "first", "second", "both"])
def test_batches_add_up(problem, missing_in):
    X, targets, weights, _ = problem
    targets = targets.copy()
    for name, rows in (("first", slice(0, 9)), ("second", slice(30, 44))):
        if missing_in in (name, "both"):
            targets[rows, 1] = np.nan
    whole = RidgeStatistics.of_batch(X, targets, weights)
    halves = [
        RidgeStatistics.of_batch(X[r], targets[r], weights[r])
        for r in np.split(np.arange(50), [20])
    ]
    for a, b in zip((halves[0] + halves[1]).solve(0.3), whole.solve(0.3), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)
