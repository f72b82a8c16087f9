"""LambdaRank on labels that contradict each other: does the order end right?

Random distributions of 2 to 4 labels (grades 0 to 4) of 3 to 8 items. Newton steps follow the
expected derivatives of a loss at known probabilities, from equal scores. The order at the end is
wrong if its expected NDCG is more than .001 below the best one.
"""

import numpy as np

N_STEPS = 1000
LOSSES = (
    "cross-entropy",
    "pairwise logistic",
    "LambdaRank, as here",
    "LambdaRank with LightGBM's normalisation",
    "LambdaRank without the distance of scores",
    "RankNet",
)


def conflict_rows(n_distributions):
    """Share of the distributions with a wrong order at the end, and the mean regret, by loss."""
    rng = np.random.default_rng(0)
    problems = [draw(rng) for _ in range(n_distributions)]
    rows = []
    for loss in LOSSES:
        regrets = np.array([regret(loss, *problem) for problem in problems])
        rows.append(
            {
                "loss": loss,
                "wrong": float(np.mean(regrets > 1e-3)),
                "regret": float(regrets.mean()),
            }
        )
    return rows


def discounts(r):
    return 1.0 / np.log2(1.0 + np.arange(1, r + 1))


def draw(rng):
    """Gains over the ideal DCG (n_labels, r), and the probabilities of the labels."""
    while True:
        shape = rng.integers(2, 5), rng.integers(3, 9)
        grades = np.floor(5.0 * rng.random(shape) ** 2)
        if np.all(np.ptp(grades, axis=1) > 0):
            best = np.sort(grades, axis=1)[:, ::-1] @ discounts(shape[1])
            return grades / best[:, np.newaxis], rng.dirichlet(np.ones(shape[0]))


def regret(loss, v, p):
    s = np.zeros(v.shape[1])
    for n_step in range(N_STEPS):
        found = entropy(s, v) if loss == "cross-entropy" else pairs(loss, s, v)
        gradient, curvature = (p @ part for part in found)
        step = np.clip(gradient / np.maximum(curvature, 1e-6), -5.0, 5.0)
        s = s - 0.1 * min(1.0, 100.0 / (n_step + 1)) * step
        s = np.clip(s - s.mean(), -15.0, 15.0)
    expected, weights = p @ v, discounts(len(s))
    order = np.argsort(-s, kind="stable")
    return (np.sort(expected)[::-1] - expected[order]) @ weights


def entropy(s, v):
    """Gradient and curvature of the cross-entropy, (n_labels, r) each."""
    q = np.exp(s - s.max())
    q /= q.sum()
    total = v.sum(axis=1, keepdims=True)
    return total * q - v, total * (q * (1.0 - q))


def pairs(loss, s, v):
    """Gradient and curvature of a loss of pairs, (n_labels, r) each, weights as constants."""
    better = np.maximum(v[:, :, np.newaxis] - v[:, np.newaxis], 0.0)
    distance = s[:, np.newaxis] - s
    if loss == "RankNet":
        weights = (better > 0).astype(float)
    elif loss == "pairwise logistic":
        weights = np.repeat(v[:, :, np.newaxis], len(s), axis=2)
    else:
        rank = np.argsort(np.argsort(-s, kind="stable"))
        d = discounts(len(s))[rank]
        weights = better * np.abs(d[:, np.newaxis] - d)
        if not loss.endswith("distance of scores") and np.ptp(s) > 0:
            weights /= 0.01 + np.abs(distance)
    p = 1.0 / (1.0 + np.exp(distance))
    slopes, curved = weights * p, weights * p * (1.0 - p)
    gradient = slopes.sum(axis=1) - slopes.sum(axis=2)
    curvature = curved.sum(axis=1) + curved.sum(axis=2)
    if loss.endswith("LightGBM's normalisation"):
        total = 2.0 * slopes.sum(axis=(1, 2))
        factor = (np.log2(1.0 + total) / total)[:, np.newaxis]
        return factor * gradient, factor * curvature
    return gradient, curvature
