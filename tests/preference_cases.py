"""Preferences of several kinds, and what the orders of few items cost."""

import numpy as np

from lowrank_rank.decoders import decode_pd_exact

from .internals import all_ranks, decode_pd_borda
from .reference import disagreement_cost

KINDS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "whole": lambda rng, shape: rng.integers(-2, 4, size=shape).astype(float),
    "sparse": lambda rng, shape: (
        rng.integers(1, 9, size=shape) * (rng.random(shape) < 0.3)
    ),
    "tiny": lambda rng, shape: 1e-13 * rng.normal(size=shape),
    "subnormal": lambda rng, shape: 1e-310 * rng.normal(size=shape),
    "huge": lambda rng, shape: 1e12 * rng.normal(size=shape),
    "constant": lambda rng, shape: np.full(shape, 0.1),
    "negative": lambda rng, shape: -rng.random(shape),
    "symmetric part": lambda rng, shape: 1e8 + rng.normal(size=shape),
}


def preferences(kind, n_lists, r, seed=0):
    return np.asarray(
        KINDS[kind](np.random.default_rng([seed, r]), (n_lists, r, r)), dtype=float
    )


def least_costs(u):
    orders = all_ranks(u.shape[1])
    below = (
        (orders[:, :, None] > orders[:, None]).reshape(len(orders), -1).astype(float)
    )
    return (u.reshape(len(u), -1) @ below.T).min(axis=1)


def least_cost_by_subsets(matrix):
    """The least cost of one list by the program over subsets, one subset after another."""
    r = len(matrix)
    best = np.zeros(2**r)
    for subset in range(1, 2**r):
        members = [i for i in range(r) if subset >> i & 1]
        inside = matrix[np.ix_(members, members)]
        last = inside.sum(axis=1) - np.diag(inside)
        best[subset] = (best[[subset ^ 1 << i for i in members]] + last).min()
    return best[-1]


def pair_costs(u):
    """The cost of the pairs alone, which every order pays."""
    i, j = np.triu_indices(u.shape[1], 1)
    return np.minimum(u[:, i, j], u[:, j, i]).sum(axis=1)


def padded(u, n_items=13):
    """The lists with further items that have no preferences."""
    longer = np.zeros((len(u), n_items, n_items))
    longer[:, : u.shape[1], : u.shape[1]] = u
    return longer


def decode_by_cuts(u, *, bound=True):
    """`decode_pd_exact` in lists of 13 items, too long for the program over subsets."""
    decoded = decode_pd_exact(padded(u), bound=bound)
    ranks = np.argsort(np.argsort(decoded.ranks[:, : u.shape[1]], axis=1), axis=1) + 1
    return decoded._replace(ranks=ranks)


def majority(seed, r):
    """A tournament of 0 and 1."""
    upper = np.triu(np.random.default_rng(seed).integers(0, 2, size=(r, r)), 1)
    return (upper + np.tril(1 - upper.T, -1))[np.newaxis].astype(float)


def along_an_order(rng, n_lists, r):
    """Net preferences that agree with one order of each list, and its ranks."""
    u = np.triu(rng.integers(1, 6, size=(n_lists, r, r)), 1) + 0.0
    orders = np.array([rng.permutation(r) for _ in range(n_lists)])
    rows = np.arange(n_lists)[:, None, None]
    shuffled = u[rows, orders[:, :, None], orders[:, None]]
    symmetric = rng.integers(0, 9, size=(n_lists, r, r))
    return shuffled + symmetric + symmetric.transpose(0, 2, 1), orders + 1


def costs(u, ranks):
    return [disagreement_cost(v, np.argsort(r)) for v, r in zip(u, ranks, strict=True)]


def assert_ranks(ranks):
    np.testing.assert_array_equal(
        np.sort(ranks, axis=1), np.zeros_like(ranks) + np.arange(ranks.shape[1]) + 1
    )


def all_pairs(y, qid, weights, loss):
    """Every pair of a list, as written in the formula."""
    rows = []
    for i in range(len(y)):
        for j in range(i + 1, len(y)):
            if qid[i] == qid[j]:
                inside = qid == qid[i]
                weight = 1.0 / weights[inside].sum()
                target = y[i] - y[j] if loss == "difference" else np.sign(y[i] - y[j])
                rows.append((i, j, target, weight * weights[i] * weights[j]))
    return [np.array(column) for column in zip(*rows, strict=True)]


def products(a, b):
    """Pair features whose linear models can prefer in cycles: differences and exterior products."""
    i, j = np.triu_indices(a.shape[1], 1)
    return np.hstack([a - b, a[:, i] * b[:, j] - a[:, j] * b[:, i]])


def preference_bound(u):
    """Lower bounds on the cost of every order, from the certificate of some order."""
    return decode_pd_borda(u, bound=True).bounds
