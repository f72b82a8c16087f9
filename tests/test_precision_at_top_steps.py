"""Mini-batch steps: what they minimise, their average, and when they stop."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from .top_cases import batch_of, make_list, objective, path_from, step_on


@pytest.mark.parametrize("name", ["avg", "max", "struct"])
def test_step_reaches_the_minimum_of_what_it_says(name):
    rng = np.random.default_rng(4)
    X, y = make_list(rng, n=60)
    k, alpha, start = 5, 2.0, np.array([0.5, -1.0, 0.0])
    batch = batch_of(X, y, k)
    path = path_from(start, X, k)
    for _ in range(4000):
        step_on(path, batch, name, eta0=1.0, alpha=alpha)
    weights = path.mean
    penalty = alpha / k * (np.sum(X**2) / 60) ** 2
    reached = objective(weights, X, y, k, name, penalty, start)
    best = min(
        minimize(
            objective, s, args=(X, y, k, name, penalty, start), method="Nelder-Mead"
        ).fun
        for s in (start, weights)
    )
    assert reached <= best + 2e-3


def test_average_weights_later_steps_more():
    rng = np.random.default_rng(6)
    X, y = make_list(rng, n=40)
    path, places = path_from(np.zeros(3), X, 4), []
    for _ in range(50):
        step_on(path, batch_of(X, y, 4), "avg", eta0=1.0, alpha=0.0)
        places.append(path.last)
    t = np.arange(1, 51)
    share = t * (t + 1) * (t + 2)  # rising factorial: what the recursion adds up to
    assert_allclose(path.mean, np.average(places, axis=0, weights=share), rtol=1e-10)
