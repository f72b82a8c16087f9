"""The one L-BFGS: minima, reports that stop it, and gradients to their last digits."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from .internals import lbfgs


def quartic(seed=0):
    """A convex function of six variables with a known minimum, the Hessian far from diagonal."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 6))
    matrix = root @ root.T + 0.1 * np.eye(6)
    best = rng.normal(size=6)

    def objective(theta):
        away = theta - best
        return away @ matrix @ away / 2.0 + (
            away**4
        ).sum() / 4.0, matrix @ away + away**3

    return objective, best


def test_the_minimum_is_found_in_the_shape_of_the_start():
    objective, best = quartic()

    def of_a_matrix(theta):
        value, gradient = objective(theta.ravel())
        return value, gradient.reshape(2, 3)

    theta, value, gradient_norm, _ = lbfgs(
        of_a_matrix, np.zeros((2, 3)), tol=1e-6, max_iter=200
    )
    assert theta.shape == (2, 3)
    assert_allclose(theta.ravel(), best, atol=1e-5)
    expected, gradient = objective(theta.ravel())
    assert gradient_norm == np.abs(gradient).max() <= 1e-6
    assert value == expected


def test_polishing_reaches_the_last_digits_of_the_gradient():
    """The value is flat long before: L-BFGS alone stops with a gradient above tol."""
    objective, best = quartic()
    plain, polished = (
        lbfgs(lambda t: (1e6 + objective(t)[0], objective(t)[1]), np.zeros(6), tol=1e-12,
              max_iter=500, polish=polish)
        for polish in (False, True)
    )  # fmt: skip
    assert plain[2] > 1e-9
    assert polished[2] <= 1e-12
    assert_allclose(polished[0], best, rtol=1e-10)


def test_polishing_keeps_theta_where_no_step_helps():
    rng = np.random.default_rng(0)
    start = np.array([1.0, 2.0])
    for gradient_of in (lambda: np.full(2, np.nan), lambda: 1.0 + rng.random(2)):
        theta, *_ = lbfgs(
            lambda _, g=gradient_of: (0.0, g()),
            start,
            tol=1e-12,
            max_iter=5,
            polish=True,
        )
        assert_array_equal(theta, start)


def test_a_report_stops_it_and_sees_each_iteration():
    objective, _ = quartic()
    seen = []

    def report(n_iter, theta, value, gradient_norm):
        seen.append((n_iter, value, gradient_norm))
        assert_allclose(value, objective(theta)[0])
        return n_iter == 3

    _, value, _, n_iter = lbfgs(
        objective, np.zeros(6), tol=0.0, max_iter=100, report=report
    )
    assert [n for n, *_ in seen] == [1, 2, 3]
    assert n_iter == 3
    assert seen[0][1] > seen[2][1] == value


def test_max_iter_ends_it():
    objective, _ = quartic()
    assert lbfgs(objective, np.zeros(6), tol=0.0, max_iter=2)[3] == 2
