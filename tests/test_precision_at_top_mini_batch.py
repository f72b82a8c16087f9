"""Mini-batch steps: what they minimise, their average, and when they stop."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from lowrank_rank.precision_at_top._batches import MatrixBatch
from lowrank_rank.precision_at_top._mini_batch import (
    Columns,
    Descent,
    Trajectory,
    descend,
    run_pass,
)

from .top_cases import batch_of, make_list, objective, rule, steps_of


@pytest.mark.parametrize("name", ["avg", "max", "struct"])
def test_descent_reaches_the_minimum_of_what_it_says(name):
    rng = np.random.default_rng(4)
    X, y = make_list(rng, n=60)
    k, alpha, start = 5, 2.0, np.array([0.5, -1.0, 0.0])
    batch = batch_of(X, y, k)
    path = Trajectory.at(start)
    descent = steps_of(name, eta0=1.0, alpha=alpha)
    weights, _ = descend(
        path,
        lambda: [batch],
        descent,
        max_iter=4000,
        tol=None,
        patience=1,
        average=True,
        monitor=None,
        report=None,
    )
    penalty = alpha * 3 / k * np.sum(X**2) / 60
    reached = objective(weights, X, y, k, name, penalty, start)
    best = min(
        minimize(objective, s, args=(X, y, k, name, penalty, start), method="Nelder-Mead").fun
        for s in (start, weights)
    )
    assert reached <= best + 2e-3


def test_unit_of_the_features_does_not_matter():
    rng = np.random.default_rng(5)
    X, y = make_list(rng, n=60)
    found = {}
    for unit in (1.0, 1e-3, 1e4):
        path = Trajectory.at(np.array([1.0, 0.0, 0.0]) / unit)
        descent = steps_of("ramp", eta0=2.0, alpha=0.5)
        for _ in range(30):
            run_pass(path, [batch_of(X * unit, y, 5)], descent, first=path.n_steps == 0)
        found[unit] = path.mean * unit
    assert_allclose(found[1e-3], found[1.0], rtol=1e-9)
    assert_allclose(found[1e4], found[1.0], rtol=1e-9)


def test_columns_add_up_and_are_those_of_numpy():
    rng = np.random.default_rng(9)
    X = rng.normal(loc=1e6, size=(300, 4)) * [1.0, 1e-6, 1e3, 1.0] * (rng.random((300, 4)) < 0.7)
    X[:, 3] = 5.0
    for kind in (np.asarray, sparse.csr_matrix):
        parts = [Columns.of(kind(X[rows])) for rows in np.split(np.arange(300), [1, 40])]
        columns = sum(parts[1:], parts[0])
        assert columns.n_rows == 300
        assert_allclose(columns.mean, X.mean(axis=0))
        assert_allclose(columns.variation / 300, X.var(axis=0), rtol=1e-9, atol=1e-9)
        assert_array_equal(columns.entries, (X != 0).sum(axis=0))
        assert_allclose(columns.squares, np.sum(X**2))
        deviation = np.sqrt(X.var(axis=0) + (X.mean(axis=0) / 300) ** 2)
        expected = np.sqrt((X != 0).mean(axis=0)) / np.where(deviation > 0, deviation, 1)
        assert_allclose(columns.inverse_scale[:3], expected[:3], rtol=1e-9)
        assert columns.inverse_scale[3] == 0.0  # constant


@pytest.mark.parametrize("perceptron", [False, True])
def test_steps_on_scaled_features_are_those_of_features_that_are_scaled(perceptron):
    rng = np.random.default_rng(10)
    X, y = make_list(rng, n=80, p=4)
    X *= [1.0, 1e3, 1e-4, 7.0]
    inverse = Columns.of(X).inverse_scale
    X_scaled = (X - X.mean(axis=0)) * inverse
    descent = Descent(rule("avg", perceptron), 2.0, 0.1, True)
    plain = Descent(rule("avg", perceptron), 2.0, 0.1, False)
    start = np.array([1.0, -1.0, 0.5, 0.0])
    path, scaled = Trajectory.at(start * inverse), Trajectory.at(start)
    for _ in range(20):
        run_pass(path, [batch_of(X, y, 5)], descent, first=path.n_steps == 0)
        run_pass(scaled, [batch_of(X_scaled, y, 5)], plain, first=scaled.n_steps == 0)
    assert_allclose(path.mean, scaled.mean * inverse, rtol=1e-9)


def test_steps_on_a_matrix_do_not_see_where_features_begin():
    rng = np.random.default_rng(11)
    X, above = rng.normal(size=(50, 3)), rng.random((50, 5)) < 0.4
    above[:, 0], above[:, 1] = True, False
    places = np.ones(50, dtype=int), np.zeros(50, dtype=bool)
    descent, scores = Descent(rule("ramp"), 2.0, 0.0, True), []
    start = rng.normal(size=(4, 5))  # at zero weights all scores are tied, and rounding orders them
    for origin in (0.0, 1e3):
        shift = np.zeros_like(start)
        shift[-1] = origin * start[:-1].sum(axis=0)
        path = Trajectory.at(start - shift)
        batch = MatrixBatch(X + origin, above, *places)
        path.see(batch)
        # A mean of few rows counts in the scale: take its part away.
        path.columns = replace(path.columns, n_rows=50)
        path.columns.__dict__["inverse_scale"] = 1 / X.std(axis=0)
        for _ in range(10):
            descent.advance(path, batch)
        scores.append((X + origin) @ path.last[:-1] + path.last[-1])
    assert_allclose(scores[0], scores[1], atol=1e-6)


def test_average_weights_later_steps_more():
    rng = np.random.default_rng(6)
    X, y = make_list(rng, n=40)
    path, places = Trajectory.at(np.zeros(3)), []
    descent = steps_of("avg", eta0=1.0, alpha=0.0)
    for _ in range(50):
        run_pass(path, [batch_of(X, y, 4)], descent, first=path.n_steps == 0)
        places.append(path.last)
    t = np.arange(1, 51)
    share = t * (t + 1) * (t + 2)  # rising factorial: what the recursion adds up to
    assert_allclose(path.mean, np.average(places, axis=0, weights=share), rtol=1e-10)


def test_monitor_keeps_the_best_and_the_latest_of_equals():
    rng = np.random.default_rng(7)
    batch = batch_of(*make_list(rng), 2)
    values = iter([0.5, 0.7, 0.7, 0.4, 0.6, 0.1])
    seen = []

    def monitor(weights):
        seen.append(weights)
        return next(values)

    weights, curve = descend(
        Trajectory.at(np.zeros(3)),
        lambda: [batch],
        steps_of("ramp", eta0=1.0, alpha=0.0),
        max_iter=10,
        tol=0.0,
        patience=3,
        average=True,
        monitor=monitor,
        report=None,
    )
    assert curve == [0.5, 0.7, 0.7, 0.4, 0.6]
    assert_array_equal(weights, seen[2])
