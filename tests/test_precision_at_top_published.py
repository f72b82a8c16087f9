"""The published methods against loops of their own, written from the papers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from lowrank_rank import PrecisionAtKPerceptron

from .top_cases import SETTINGS, balanced, perceptron_by_definition, rare_class

#: Algorithms 1 to 4 of the paper; SGD on "struct" is 1PMB.
PUBLISHED = [each for each in SETTINGS if each["solver"] in ("perceptron", "sgd")]


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


def published(surrogate, solver, batches, ks, eta, radius, square):
    """The uniform averages of the weights after each mini-batch, from zero weights."""
    w = np.zeros(batches[0][0].shape[1])
    total, means = 0.0, []
    for t, ((X, y), k) in enumerate(zip(batches, ks, strict=True), start=1):
        if solver == "perceptron":
            w = w + perceptron_by_definition(y, X @ w, k, surrogate=surrogate) @ X
        else:
            slope = subgradient(surrogate, y, X @ w, k) @ X / k
            w = w - eta / (square * np.sqrt(t)) * slope
            if np.linalg.norm(w) > radius:
                w = w * radius / np.linalg.norm(w)
        total = total + w
        means.append(total / t)
    return means


def mean_square(X):
    return np.mean(np.sum(X**2, axis=1))


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("params", PUBLISHED, ids=str)
def test_a_stream_is_the_published_loop(params, alpha, make):
    """One mini-batch a call, after one of two rows: R is of the first call."""
    X, y = rare_class(1200)
    X = X * 10.0 ** np.arange(-1, 7).clip(max=1) + 0.3
    pair = np.array([np.argmin(y), np.argmax(y)])
    parts = [pair, *np.array_split(np.arange(1200), 12)]
    batches = [(X[rows], y[rows]) for rows in parts]
    ks = [max(1, int(0.5 * y.sum() + 0.5)) for _, y in batches]
    square = mean_square(X[pair])
    radius = 1 / (alpha * np.sqrt(square)) if alpha else np.inf
    means = published(
        **params, batches=batches, ks=ks, eta=3.0, radius=radius, square=square
    )
    model = PrecisionAtKPerceptron(
        target_loss="precision@50%", alpha=alpha, eta0=3.0, batch_size=100, **params
    )
    for batch, mean in zip(batches, means, strict=True):
        model.partial_fit(make(batch[0]), batch[1])
        size = np.abs(mean).max()
        assert_allclose(model.coef_[0], mean, rtol=1e-10, atol=1e-10 * size)


@pytest.mark.parametrize("params", PUBLISHED, ids=str)
def test_a_fit_is_the_published_loop_over_its_mini_batches(params):
    """Both classes are shuffled and cut once, and the mini-batches are shuffled in each pass."""
    X, y = balanced(800)
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
    radius = 20.0 / np.sqrt(square)
    mean = published(
        **params, batches=batches, ks=ks, eta=20.0, radius=radius, square=square
    )[-1]
    model = PrecisionAtKPerceptron(
        target_loss="prbep", batch_size=200, max_iter=5, random_state=3, **params
    ).fit(X, y)
    size = np.abs(mean).max()
    assert_allclose(model.coef_[0], mean, rtol=1e-10, atol=1e-10 * size)


def test_the_projection_binds():
    X, y = rare_class(800)
    norms = []
    for alpha in (0.01, 0.1, 1.0):
        model = PrecisionAtKPerceptron(
            surrogate="struct", solver="sgd", alpha=alpha, random_state=0
        )
        last = model.fit(X, y)._path_.last
        norms.append(np.linalg.norm(last) * np.sqrt(mean_square(X)))
    assert_allclose(norms[2], 1.0)
    assert norms[0] > norms[1] > norms[2]
