"""Mini-batch steps: what they minimise, their average, and when they stop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from lowrank_rank.precision_at_top._steps import descend, run_pass

from .top_cases import batch_of, make_list, objective, path_from, steps_of


@pytest.mark.parametrize("name", ["avg", "max", "struct"])
def test_descent_reaches_the_minimum_of_what_it_says(name):
    rng = np.random.default_rng(4)
    X, y = make_list(rng, n=60)
    k, alpha, start = 5, 2.0, np.array([0.5, -1.0, 0.0])
    batch = batch_of(X, y, k)
    path = path_from(start, X, k)
    descent = steps_of(name, eta0=1.0, alpha=alpha)
    weights, _ = descend(
        path,
        [batch],
        np.random.RandomState(0),
        descent,
        max_iter=4000,
        average=True,
        monitor=None,
        report=lambda n, value: None,
    )
    penalty = alpha / k * (np.sum(X**2) / 60) ** 2
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
        path = path_from(np.array([1.0, 0.0, 0.0]) / unit, X * unit, 5)
        descent = steps_of("ramp", eta0=2.0, alpha=0.0)
        for _ in range(30):
            run_pass(path, [batch_of(X * unit, y, 5)], descent)
        found[unit] = path.mean * unit
    assert_allclose(found[1e-3], found[1.0], rtol=1e-9)
    assert_allclose(found[1e4], found[1.0], rtol=1e-9)


def test_average_weights_later_steps_more():
    rng = np.random.default_rng(6)
    X, y = make_list(rng, n=40)
    path, places = path_from(np.zeros(3), X, 4), []
    descent = steps_of("avg", eta0=1.0, alpha=0.0)
    for _ in range(50):
        run_pass(path, [batch_of(X, y, 4)], descent)
        places.append(path.last)
    t = np.arange(1, 51)
    share = t * (t + 1) * (t + 2)  # rising factorial: what the recursion adds up to
    assert_allclose(path.mean, np.average(places, axis=0, weights=share), rtol=1e-10)


def test_monitor_keeps_the_best_and_the_latest_of_equals():
    rng = np.random.default_rng(7)
    X, y = make_list(rng)
    values = iter([0.5, 0.7, 0.7, 0.4, 0.6])
    seen = []

    def monitor(weights):
        seen.append(weights)
        return next(values)

    weights, curve = descend(
        path_from(np.zeros(3), X, 2),
        [batch_of(X, y, 2)],
        np.random.RandomState(0),
        steps_of("ramp", eta0=1.0, alpha=0.0),
        max_iter=4,
        average=True,
        monitor=monitor,
        report=lambda n, value: None,
    )
    assert curve == [0.5, 0.7, 0.7, 0.4, 0.6]
    assert_array_equal(weights, seen[2])


class Recording:
    """A batch without mistakes that keeps a record of its steps."""

    n_lists = 1

    def __init__(self, name, record):
        self.name, self.record = name, record

    def step(self, weights, surrogate, perceptron):
        self.record.append(self.name)
        return None, 1.0


def test_batches_come_in_another_order_in_each_pass():
    record = []
    descend(
        path_from(np.zeros(3), np.ones((4, 3)), 2),
        [Recording(i, record) for i in range(10)],
        np.random.RandomState(0),
        steps_of("ramp", eta0=1.0, alpha=0.0),
        max_iter=2,
        average=True,
        monitor=None,
        report=lambda n, value: None,
    )
    first, second = record[:10], record[10:]
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second
