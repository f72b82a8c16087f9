"""Mini-batch steps, perceptrons and cutting planes on precision at the top."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import minimize

from lowrank_rank.calibration import precision_margins, precision_mistake_bound
from lowrank_rank.solvers import (
    Descent,
    ListBatch,
    ListGroup,
    MatrixBatch,
    Rule,
    Trajectory,
    cutting_plane,
    descend,
    run_pass,
)
from lowrank_rank.surrogates import PRECISION_SURROGATES, perceptron_step, precision_surrogate

NAMES = sorted(PRECISION_SURROGATES)
STEPS = [(name, False) for name in NAMES] + [("avg", True), ("max", True)]


def rule(name, perceptron=False):
    return Rule(PRECISION_SURROGATES[name], perceptron)


def make_list(rng, n=20, p=3):
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    return X, y


def batch_of(X, y, k, **kw):
    return ListBatch(X[y == 1], X[y == 0], k, **kw)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_step_is_the_subgradient(name, perceptron, kind):
    rng = np.random.default_rng(0)
    for _ in range(50):
        X, y = make_list(rng)
        w, k = rng.normal(size=3), int(rng.integers(1, y.sum() + 1))
        step = batch_of(kind(X), y, k).step(w, rule(name, perceptron))
        if perceptron:
            expected = -X.T @ perceptron_step(y, X @ w, k, surrogate=name)
        else:
            slope = precision_surrogate(y, X @ w, k, surrogate=name)[1]
            expected = X.T @ slope / min(k, (y == 0).sum())
        direction = np.zeros(3) if step.direction is None else step.direction
        assert_allclose(direction, expected, atol=1e-12)


@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_mirrored_batch_is_the_mirrored_problem(name, perceptron):
    rng = np.random.default_rng(1)
    for _ in range(30):
        X, y = make_list(rng)
        w, k = rng.normal(size=3), int(rng.integers(1, (y == 0).sum() + 1))
        step = ListBatch(X[y == 0], X[y == 1], k, mirrored=True).step(w, rule(name, perceptron))
        plain = ListBatch(-X[y == 0], -X[y == 1], k).step(w, rule(name, perceptron))
        assert step.hits == plain.hits
        if plain.direction is not None:
            assert_allclose(step.direction, plain.direction, atol=1e-12)


def test_recall_of_a_long_top_is_precision_of_the_mirrored_list():
    rng = np.random.default_rng(2)
    X, y = make_list(rng, n=30)
    w, n_positives = rng.normal(size=3), y.sum()
    for k in range(n_positives + 1, 30):
        found = y[np.argsort(-X @ w)[:k]].sum()
        batch = ListBatch(X[y == 0], X[y == 1], 30 - k, mirrored=True)
        missed = (1 - batch.step(w, rule("ramp")).hits) * batch.places
        assert_allclose(missed, n_positives - found)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(("name", "perceptron"), STEPS)
def test_matrix_batch_sums_its_rows(name, perceptron, kind):
    rng = np.random.default_rng(3)
    X, weights = rng.normal(size=(12, 4)), rng.normal(size=(5, 6))
    n_positives = np.repeat([1, 2, 4, 5], 3)
    order = np.array([rng.permutation(6) for _ in range(12)])
    groups, expected = [], np.zeros((5, 6))
    augmented = np.column_stack([X, np.ones(12)])
    for n, k in [(1, 1), (2, 1), (4, 3), (5, 2)]:
        rows = np.flatnonzero(n_positives == n)
        groups.append(ListGroup(rows, order[rows, :n], order[rows, n:], k))
        for row in rows:
            y = np.isin(np.arange(6), order[row, :n]).astype(int)
            scores = augmented[row] @ weights
            if perceptron:
                slope = -perceptron_step(y, scores, k, surrogate=name)
            else:
                slope = precision_surrogate(y, scores, k, surrogate=name)[1] / min(k, 6 - n) / 12
            expected += np.outer(augmented[row], slope)
    step = MatrixBatch(kind(X), groups).step(weights, rule(name, perceptron))
    assert_allclose(step.direction, expected, atol=1e-12)


def stream(rng, k, gamma, radius, n_batches=60, p=4):
    """Batches in a ball, on which some unit w has at least the margins gamma."""
    w = rng.normal(size=p)
    w /= np.linalg.norm(w)
    for _ in range(n_batches):
        X = rng.normal(size=(14, p))
        y = (np.arange(14) < rng.integers(k, 7)).astype(int)
        X += np.outer(np.where(y == 1, 1.0, -1.0) * rng.exponential(size=14), w)
        X *= radius * rng.random((14, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
        score = X @ w
        # Move the rows along w until they are apart, then back into the ball.
        X += np.outer(
            np.where(y == 1, np.maximum(gamma - score, 0), np.minimum(-gamma - score, 0)), w
        )
        X *= np.minimum(1.0, radius / np.linalg.norm(X, axis=1))[:, np.newaxis]
        yield X, y, w


@pytest.mark.parametrize(("name", "margin"), [("avg", "average"), ("max", "strong")])
@pytest.mark.parametrize("seed", range(8))
def test_mistake_bound_on_separable_streams(name, margin, seed):
    rng = np.random.default_rng(seed)
    k, radius = int(rng.integers(1, 4)), float(rng.choice([0.5, 1.0, 5.0]))
    batches = list(stream(rng, k, gamma=radius * rng.choice([0.05, 0.2, 0.5]), radius=radius))
    reached = min(getattr(precision_margins(y, X @ w, k), margin) for X, y, w in batches)
    assert reached > 0
    largest = max(np.linalg.norm(X, axis=1).max() for X, _, _ in batches)
    bound = precision_mistake_bound(k, largest, 1 / reached)
    path, made = Trajectory.at(np.zeros(4)), 0.0
    descent = Descent(rule(name, perceptron=True), eta0=1.0, alpha=0.0)
    for _ in range(20):
        for X, y, _ in batches:
            batch = batch_of(X, y, k)
            path.see(batch)
            made += (1 - descent.advance(path, batch)) * batch.places
    assert 0 < made <= bound


@pytest.mark.parametrize("name", ["avg", "max"])
@pytest.mark.parametrize("seed", range(8))
def test_mistake_bound_on_any_stream_and_any_weights(name, seed):
    rng = np.random.default_rng(100 + seed)
    k, lists = int(rng.integers(1, 4)), []
    for _ in range(100):
        X, y = rng.normal(size=(15, 3)), (np.arange(15) < rng.integers(k, 8)).astype(int)
        X[:, 0] += y * rng.choice([0.5, 2.0])
        lists.append((X, y))
    largest = max(np.linalg.norm(X, axis=1).max() for X, _ in lists)
    path, made = Trajectory.at(np.zeros(3)), 0.0
    descent = Descent(rule(name, perceptron=True), eta0=1.0, alpha=0.0)
    for X, y in lists:
        batch = batch_of(X, y, k)
        path.see(batch)
        made += (1 - descent.advance(path, batch)) * batch.places
    for scale in (0.0, 0.3, 1.0, 3.0):
        w = scale * np.array([1.0, 0.0, 0.0])
        surrogate = sum(precision_surrogate(y, X @ w, k, surrogate=name)[0] for X, y in lists)
        assert made <= precision_mistake_bound(k, largest, np.linalg.norm(w), surrogate) + 1e-9


def objective(w, X, y, k, name, penalty, start=0.0):
    value, _ = precision_surrogate(y, X @ w, k, surrogate=name)
    return value / min(k, (y == 0).sum()) + penalty / 2 * np.sum((w - start) ** 2)


@pytest.mark.parametrize("name", ["avg", "max", "struct"])
def test_descent_reaches_the_minimum_of_what_it_says(name):
    rng = np.random.default_rng(4)
    X, y = make_list(rng, n=60)
    k, alpha, start = 5, 2.0, np.array([0.5, -1.0, 0.0])
    batch = batch_of(X, y, k)
    path = Trajectory.at(start)
    descent = Descent(rule(name), eta0=1.0, alpha=alpha)
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
    penalty = alpha * 3 / k * batch.squares / 60
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
        descent = Descent(rule("ramp"), eta0=2.0, alpha=0.5)
        for _ in range(30):
            run_pass(path, [batch_of(X * unit, y, 5)], descent, first=path.n_steps == 0)
        found[unit] = path.mean * unit
    assert_allclose(found[1e-3], found[1.0], rtol=1e-9)
    assert_allclose(found[1e4], found[1.0], rtol=1e-9)


def test_average_weights_later_steps_more():
    rng = np.random.default_rng(6)
    X, y = make_list(rng, n=40)
    path, places = Trajectory.at(np.zeros(3)), []
    descent = Descent(rule("avg"), eta0=1.0, alpha=0.0)
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
        Descent(rule("ramp"), eta0=1.0, alpha=0.0),
        max_iter=10,
        tol=0.0,
        patience=3,
        average=True,
        monitor=monitor,
        report=None,
    )
    assert curve == [0.5, 0.7, 0.7, 0.4, 0.6]
    assert_array_equal(weights, seen[2])


@pytest.mark.parametrize("name", ["struct", "avg", "max"])
def test_cutting_planes_certify_the_minimum(name):
    rng = np.random.default_rng(8)
    X, y = make_list(rng, n=50)
    k, penalty = 6, 0.3
    fit = cutting_plane(
        batch_of(X, y, k), PRECISION_SURROGATES[name], penalty=penalty, tol=1e-6, max_iter=200
    )
    reached = objective(fit.weights, X, y, k, name, penalty)
    assert fit.gap <= 1e-6
    for _ in range(200):  # no other point is better by more than the gap
        other = fit.weights + rng.normal(size=3) * rng.choice([1e-3, 0.1, 1.0])
        assert objective(other, X, y, k, name, penalty) >= reached - fit.gap - 1e-12
    reached_after = [
        objective(
            cutting_plane(
                batch_of(X, y, k),
                PRECISION_SURROGATES[name],
                penalty=penalty,
                tol=0.0,
                max_iter=rounds,
            ).weights,
            *(X, y, k, name, penalty),
        )
        for rounds in range(1, 9)
    ]
    assert np.all(np.diff(reached_after) <= 1e-12)  # the best so far is kept
    # The gap is a promise even where the rounds run out.
    short = cutting_plane(
        batch_of(X, y, k), PRECISION_SURROGATES[name], penalty=penalty, tol=0.0, max_iter=4
    )
    assert objective(short.weights, X, y, k, name, penalty) - short.gap <= reached + 1e-9
