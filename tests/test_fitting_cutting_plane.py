"""Cutting planes: the minimum of any convex function with tangents, and its certificate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from .internals import cutting_plane
from .top_cases import batch_of, make_list, objective, rule


@pytest.mark.parametrize("name", ["struct", "avg", "max"])
def test_cutting_planes_certify_the_minimum(name, seed):
    rng = np.random.default_rng(seed)
    X, y = make_list(rng, n=50)
    k, penalty = 6, 0.3
    batch = batch_of(X, y, k)

    def solve(**stop):
        return cutting_plane(
            lambda w: batch.step(w, *rule(name)), np.zeros(3), penalty=penalty, **stop
        )

    weights, gap, *_ = solve(tol=1e-6, max_iter=200)
    reached = objective(weights, X, y, k, name, penalty)
    assert gap <= 1e-6
    for _ in range(200):  # no other point is better by more than the gap
        other = weights + rng.normal(size=3) * rng.choice([1e-3, 0.1, 1.0])
        assert objective(other, X, y, k, name, penalty) >= reached - gap - 1e-12
    reached_after = [
        objective(solve(tol=0.0, max_iter=rounds)[0], X, y, k, name, penalty)
        for rounds in range(1, 9)
    ]
    assert np.all(np.diff(reached_after) <= 1e-12)  # the best so far is kept
    # The gap is a promise even where the rounds run out.
    short, gap, *_ = solve(tol=0.0, max_iter=4)
    assert objective(short, X, y, k, name, penalty) - gap <= reached + 1e-9


def hinges(X, t):
    """The mean hinge of a linear classifier: no batch, no k, nothing of any family."""

    def tangent(w):
        slack = 1.0 - t * (X @ w)
        return (
            np.maximum(slack, 0).mean(),
            -(t * (slack > 0)) @ X / len(X),
            np.mean(slack < 1),
        )

    return tangent


@pytest.mark.parametrize("start", [0.0, 3.0])
def test_any_convex_function_from_anywhere(start):
    rng = np.random.default_rng(9)
    X = rng.normal(size=(40, 3))
    tangent = hinges(X, np.sign(X[:, 0] + 0.5 * rng.normal(size=40)))
    seen = []
    weights, gap, curve, converged = cutting_plane(
        tangent,
        np.full(3, start),
        penalty=0.1,
        tol=1e-8,
        max_iter=300,
        report=lambda n, watched: seen.append((n, watched)),
    )
    assert converged

    def value(w):
        return tangent(w)[0] + 0.05 * w @ w

    other = minimize(
        value, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9}
    ).x
    assert_allclose(value(weights), value(other), atol=1e-6)
    assert value(weights) <= value(other) + gap + 1e-12
    assert seen == list(enumerate(curve, start=1))
    assert seen[0][1] == tangent(np.full(3, start))[2]
