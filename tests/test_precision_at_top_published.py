"""The published methods against loops of their own, written from the papers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from lowrank_rank import PrecisionAtKPerceptron

from .internals import fit_logistic
from .top_cases import perceptron_by_definition, rare_class

METHODS = ["sgd@k-avg", "sgd@k-max", "1pmb", "perceptron@k-avg", "perceptron@k-max"]


def subgradient(surrogate, y, scores, k):
    """Algorithm 4: the best number of negatives by search, and its slope in the scores."""
    positives = sorted(np.flatnonzero(y == 1), key=lambda i: -scores[i])
    negatives = sorted(np.flatnonzero(y == 0), key=lambda i: -scores[i])
    best, slope = -np.inf, None
    for d in range(min(k, len(negatives)) + 1):
        direction, missed = np.zeros(len(y)), positives[k - d :]
        direction[negatives[:d]] = 1.0
        if surrogate == "avg" and missed:
            direction[missed] = -d / len(missed)
        elif surrogate == "max":
            direction[positives[len(positives) - d :]] = -1.0
        elif surrogate == "struct":
            direction[missed] = -1.0
        value = d + direction @ scores
        if value > best + 1e-12:
            best, slope = value, direction
    return slope


def published(method, batches, ks, eta, radius, square, w):
    """The uniform average of the weights after each mini-batch, and the last of them."""
    surrogate = "struct" if method == "1pmb" else method[-3:]
    total = 0.0
    for t, ((X, y), k) in enumerate(zip(batches, ks, strict=True), start=1):
        if method.startswith("perceptron"):
            w = w + perceptron_by_definition(y, X @ w, k, surrogate=surrogate) @ X
        else:
            slope = subgradient(surrogate, y, X @ w, k) @ X / k
            w = w - eta / (square * np.sqrt(t)) * slope
            if np.linalg.norm(w) > radius:
                w = w * radius / np.linalg.norm(w)
        total = total + w
    return total / len(batches), w


def logistic(X, y):
    """Where the loops begin: at zeros all scores are tied."""
    return fit_logistic(X, y, np.ones(len(y)), "auto", tol=1e-6)[0][0]


def mean_square(X):
    return np.mean(np.sum(X**2, axis=1))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("method", METHODS)
def test_a_stream_is_the_published_loop(method, alpha, make):
    """One mini-batch a call; R is of the first call."""
    X, y = rare_class(1200)
    X = X * 10.0 ** np.arange(-1, 7).clip(max=1) + 0.3
    batches = [(X[rows], y[rows]) for rows in np.array_split(np.arange(1200), 12)]
    model = PrecisionAtKPerceptron(
        target_loss="precision@50%",
        method=method,
        start="logistic",
        alpha=alpha,
        eta0=3.0,
        batch_size=100,
    )
    last = clone(model).set_params(average=False)
    for batch in batches:
        model.partial_fit(make(batch[0]), batch[1])
        last.partial_fit(make(batch[0]), batch[1])
    ks = [max(1, int(0.5 * y.sum() + 0.5)) for _, y in batches]
    square = mean_square(batches[0][0])
    radius = 1 / (alpha * np.sqrt(square)) if alpha else np.inf
    mean, end = published(
        method, batches, ks, 3.0, radius, square, logistic(*batches[0])
    )
    assert_allclose(model.coef_[0], mean, rtol=1e-10, atol=1e-10 * np.abs(mean).max())
    assert_allclose(last.coef_[0], end, rtol=1e-10, atol=1e-10 * np.abs(end).max())


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_is_the_published_loop_over_its_mini_batches(method):
    """Both classes are shuffled and cut once, and the mini-batches are shuffled in each pass."""
    X, y = rare_class(800)
    rng = np.random.RandomState(3)
    rows = [np.flatnonzero(y == 1), np.flatnonzero(y == 0)]
    for of_class in rows:
        rng.shuffle(of_class)
    cut = [
        np.concatenate(pair)
        for pair in zip(*(np.array_split(r, 4) for r in rows), strict=True)
    ]
    batches = [(X[cut[i]], y[cut[i]]) for _ in range(5) for i in rng.permutation(4)]
    ks = [y.sum() for _, y in batches]
    square = mean_square(X)
    mean, _ = published(
        method, batches, ks, 20.0, 20.0 / np.sqrt(square), square, logistic(X, y)
    )
    model = PrecisionAtKPerceptron(
        target_loss="prbep",
        method=method,
        start="logistic",
        batch_size=200,
        max_iter=5,
        random_state=3,
    )
    assert_allclose(
        model.fit(X, y).coef_[0], mean, rtol=1e-10, atol=1e-10 * np.abs(mean).max()
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_published_methods_begin_at_zero(method):
    X, y = rare_class(800)
    model = PrecisionAtKPerceptron(method=method, random_state=0)
    zeros = clone(model).set_params(start="zeros").fit(X, y).coef_
    assert_array_equal(model.fit(X, y).coef_, zeros)
    assert not np.allclose(
        model.set_params(start="logistic").fit(X, y).coef_, zeros, rtol=1e-3
    )


def test_the_projection_binds():
    X, y = rare_class(800)
    norms = [
        np.linalg.norm(
            PrecisionAtKPerceptron(
                method="1pmb", alpha=alpha, average=False, random_state=0
            )
            .fit(X, y)
            .coef_
        )
        * np.sqrt(mean_square(X))
        for alpha in (0.01, 0.1, 1.0)
    ]
    assert_allclose(norms[2], 1.0)
    assert norms[0] > norms[1] > norms[2]
