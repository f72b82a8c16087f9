"""Lists, rules and batches that the tests of precision at the top share."""

import numpy as np
from sklearn.datasets import make_classification

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.surrogates import precision_surrogate

from .internals import (
    PERCEPTRONS,
    PRECISION_SURROGATES,
    SOLVERS,
    Batch,
    Trajectory,
    run_pass,
)

NAMES = sorted(PRECISION_SURROGATES)
#: (surrogate, whether the step is that of its perceptron)
STEPS = [(name, False) for name in NAMES] + [(name, True) for name in PERCEPTRONS]
#: The settings of the estimator: each solver with each of its surrogates.
SETTINGS = [
    {"surrogate": surrogate, "solver": solver}
    for solver, surrogates in SOLVERS.items()
    for surrogate in surrogates
]


def rule(name, perceptron=False):
    return (PERCEPTRONS if perceptron else PRECISION_SURROGATES)[name], not perceptron


def step_on(path, batch, name, solver="averaged", *, eta0, alpha):
    """One step on a batch; returns its hits."""
    return run_pass(path, [batch], name, solver, eta0=eta0, alpha=alpha)


def path_from(start, X, n_places):
    """The state before steps on X as it is."""
    p = X.shape[1]
    square = np.sum(X**2) / len(X)
    path = Trajectory(start, np.zeros(p), np.ones(p), square)
    path.n_places = n_places
    return path


def make_list(rng, n=20, p=3):
    X, y = rng.normal(size=(n, p)), rng.integers(0, 2, n)
    y[:2] = 0, 1
    return X, y


def batch_of(X, y, k, *, mirrored=False):
    """One list; mirrored has the rows of the label 0 above and all scores negated."""
    rows = np.argsort(y if mirrored else 1 - y, kind="stable")
    sizes = [np.sum(y != mirrored), np.sum(y == mirrored), k]
    return Batch(X[rows], *np.array(sizes)[:, np.newaxis], np.array([mirrored]))


def perceptron_step(y, scores, k, *, surrogate="avg"):
    """The coefficient of each row in the perceptron's update of the weights."""
    y, scores = np.asarray(y), np.asarray(scores, dtype=float)
    _, direction, _ = batch_of(np.eye(len(y)), y, k).step(
        scores, *rule(surrogate, True)
    )
    return 0.0 - direction


def perceptron_by_definition(y, scores, k, *, surrogate="avg"):
    """Algorithms 1 and 2; of equal scores the negative is higher."""
    top = sorted(range(len(y)), key=lambda i: (-scores[i], y[i]))[:k]
    wrong = [i for i in top if y[i] == 0]
    missed = sorted(
        (i for i in np.flatnonzero(y == 1) if i not in top), key=lambda i: -scores[i]
    )
    step = np.zeros(len(y))
    step[wrong] = -1.0
    if surrogate == "avg" and missed:
        step[missed] = len(wrong) / len(missed)
    else:
        step[missed[: len(wrong)]] = 1.0
    return step


def objective(w, X, y, k, name, penalty, start=0.0):
    value, _ = precision_surrogate(y, X @ w, k, surrogate=name)
    return value / min(k, (y == 0).sum()) + penalty / 2 * np.sum((w - start) ** 2)


def numbered(n):
    """Features that say which row they are of."""
    return np.arange(float(n))[:, np.newaxis]


def random_lists(n, seed, *, ties=False):
    """Lists of 2 to 9 items with a k in 1..P; scores on a coarse grid where ties are wanted."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        size = rng.integers(2, 10)
        y = rng.integers(0, 2, size)
        y[rng.integers(size)] = 1
        scores = rng.normal(scale=rng.choice([0.3, 1.0, 3.0]), size=size)
        yield (
            y,
            np.round(2 * scores) / 2 if ties else scores,
            int(rng.integers(1, y.sum() + 1)),
        )


def rare_class(n=2000, seed=0, positive=0.08):
    return make_classification(
        n,
        n_features=8,
        n_informative=5,
        weights=[1 - positive],
        flip_y=0.02,
        random_state=seed,
    )


def balanced(n):
    """As many positives as negatives: zero weights tie all, and the first step takes all."""
    X, y = rare_class(2 * n, positive=0.5)
    rows = [np.flatnonzero(y == label)[: n // 2] for label in (0, 1)]
    rows = np.sort(np.concatenate(rows))
    return X[rows], y[rows]


def no_steps(**params):
    """A model that stays where it starts."""
    return PrecisionAtKPerceptron(eta0=1e-12, random_state=0, **params)
