"""Newton steps on a gradient: the last digits, and where there are none to be had."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank.preferences import _skew
from lowrank_rank.solvers._polishing import polished


def test_a_gradient_is_taken_to_its_last_digits():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T + 0.1 * np.eye(6)
    best = rng.normal(size=6)

    def gradient_of(theta):  # of a quadratic plus a quartic about `best`
        return matrix @ (theta - best) + (theta - best) ** 3

    near = best + 1e-5 * rng.normal(size=6)
    found = polished(gradient_of, near, gradient_of(near), 1e-14)
    assert np.abs(gradient_of(near)).max() > 1e-7
    assert np.abs(gradient_of(found)).max() <= 1e-14
    assert_allclose(found, best, rtol=1e-12)


def test_what_gets_no_better_stays_where_it_is():
    theta = np.array([1.0, 2.0])
    rng = np.random.default_rng(0)
    for gradient_of in (lambda _: np.full(2, np.nan), lambda _: 1.0 + rng.random(2)):
        assert_array_equal(polished(gradient_of, theta, np.ones(2), 1e-12), theta)


def test_bilinear_preferences_reach_a_small_tol(monkeypatch):
    """L-BFGS stops where the objective is flat to its last digit, seven digits before this."""
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(600, 8)), np.repeat(np.arange(60), 10)
    y = rng.integers(0, 4, 600).astype(float)
    ends = []
    minimised = _skew._minimised

    def kept(problem, start, tolerance, *args):
        result = minimised(problem, start, tolerance, *args)
        scaled = problem.stretch(start)
        gradient = problem.value_and_gradient(result.x.ravel())[1].reshape(start.shape)
        ends.append((np.abs(gradient * scaled).max(), tolerance))
        return result

    monkeypatch.setattr(_skew, "_minimised", kept)
    for tol in (1e-4, 1e-12):
        PairwiseDAGRanker(
            pair_features="bilinear", n_components=2, alpha=0.1, tol=tol, random_state=0
        ).fit(X, y, qid=qid)
    assert all(gradient <= tolerance for gradient, tolerance in ends)
    assert ends[1][0] < 1e-6 * ends[0][0]
