"""Solvers of structured hinges: reference optima, true gaps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from lowrank_rank.target_losses import NDCG, FBeta, KendallTau

from .internals import (
    ChainProblem,
    ClassHinge,
    CountHinge,
    Descent,
    HingeProblem,
    ListHinge,
    PairHinge,
    PlacesHinge,
    RankingLists,
    cutting_planes,
    descend,
    smoothed,
)


def problems():
    rng = np.random.default_rng(0)
    X, lists = rng.normal(size=(24, 3)), RankingLists([6, 8, 10])
    grades = (X @ [1.0, -1.0, 0.0] + rng.normal(size=24) > 0.5) + 1.0 * (X[:, 0] > 1)
    three, classes = np.ones(3) / 3, rng.integers(0, 3, 24)
    costs = 1 - np.eye(3)[classes]
    return {
        "kendall": HingeProblem(
            X, PairHinge(grades, lists, measure=KendallTau()), three, 1
        ),
        "ndcg": HingeProblem(
            X / 25, PlacesHinge(grades, lists, measure=NDCG(4)), three, 1
        ),
        "f1": HingeProblem(
            X / 5, CountHinge(grades, lists, measure=FBeta()), three, 1, intercept=True
        ),
        "classes": HingeProblem(X, ClassHinge(classes, costs), np.ones(24) / 24, 3),
        "chains": ChainProblem(
            X, ListHinge(classes, lists), three / 8, 3, intercept=True
        ),
    }


NAMES = list(problems())
ALPHA = 0.05


def solve(problem, solver, size=1, **stop):
    settings = {"alpha": ALPHA, "tol": 1e-7, "max_iter": 400, **stop}
    if solver == "lbfgs":
        return smoothed(problem, **settings)
    return cutting_planes(
        problem, problem.partition(size, np.random.RandomState(0)), **settings
    )


def reference(problem):
    """The objective at the optimum, by cutting planes and SLSQP in (w, slack)."""
    planes, w = [], np.zeros(problem.size)
    for _ in range(300):
        t = problem.worst(w)
        planes.append((t.slope, t.cost))
        slopes, costs = (np.array(p) for p in zip(*planes, strict=True))
        found = minimize(
            lambda v: ALPHA / 2 * v[:-1] @ v[:-1] + v[-1],
            np.append(w, max(costs + slopes @ w)),
            jac=lambda v: np.append(ALPHA * v[:-1], 1.0),
            constraints={
                "type": "ineq",
                "fun": lambda v: v[-1] - costs - slopes @ v[:-1],  # noqa: B023
                "jac": lambda v: np.column_stack([-slopes, np.ones(len(costs))]),  # noqa: B023
            },
            method="SLSQP",
            options={"ftol": 1e-13, "maxiter": 500},
        )
        w = found.x[:-1]
        value = ALPHA / 2 * w @ w + problem.worst(w).value
        if value - found.fun < 1e-8:
            break
    return value


@pytest.mark.parametrize("name", NAMES)
def test_cutting_planes_reach_the_reference_optimum(name):
    problem = problems()[name]
    optimum = reference(problem)
    for size in (1, problem.n_terms):  # a slack for each term, and one for all
        found = solve(problem, "cutting_plane", size=size)
        assert found.converged
        assert_allclose(found.objective, optimum, rtol=1e-6)
        value = ALPHA / 2 * found.w @ found.w + problem.worst(found.w).value
        assert_allclose(found.objective, value)


@pytest.mark.parametrize("solver", ["lbfgs", "cutting_plane"])
@pytest.mark.parametrize("name", NAMES)
def test_the_gap_is_a_true_bound(name, solver):
    problem = problems()[name]
    if solver == "lbfgs" and not problem.is_smooth:
        pytest.skip("no smooth form")
    optimum = solve(problem, "cutting_plane", tol=1e-9).objective
    for max_iter in (1, 3, 30):
        found = solve(problem, solver, tol=1e-6, max_iter=max_iter)
        assert -1e-8 <= found.objective - optimum <= found.gap + 1e-8
    assert solve(problem, solver, tol=0.02, max_iter=2000).converged


@pytest.mark.parametrize("name", ["kendall", "classes"])
def test_the_smooth_form_reaches_the_optimum_to_many_digits(name):
    """The minimisers of two stages are extrapolated to no smoothing."""
    problem = problems()[name]
    exact = solve(problem, "cutting_plane", tol=1e-9)
    found = solve(problem, "lbfgs", tol=1e-8, max_iter=2000)
    assert found.converged
    assert_allclose(found.w, exact.w, atol=1e-4 * np.abs(exact.w).max())


@pytest.mark.parametrize("name", NAMES)
def test_steps_come_near_the_optimum(name):
    problem, rng = problems()[name], np.random.RandomState(0)
    optimum = solve(problem, "cutting_plane", size=problem.n_terms).objective
    at_zero = problem.worst(np.zeros(problem.size)).value
    descent = Descent(problem.size)
    found = descend(
        problem,
        descent,
        problem.batches(1, rng),
        rng,
        alpha=ALPHA,
        tol=-1.0,  # all passes
        max_iter=300 if name == "f1" else 100,
    )
    assert found.objective - optimum <= found.gap
    assert found.objective - optimum < 0.1 * (at_zero - optimum)


def test_steps_stop_where_the_objective_no_longer_falls():
    problem, passes = problems()["classes"], []
    for tol in (0.05, 1e-4):
        rng, descent = np.random.RandomState(0), Descent(problem.size)
        settings = {"alpha": ALPHA, "tol": tol, "max_iter": 500}
        found = descend(problem, descent, problem.batches(1, rng), rng, **settings)
        passes.append(found.n_iter)
    assert 5 < passes[0] < passes[1] < 500
