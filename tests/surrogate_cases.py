"""The surrogates as one would write them first: one list, double sums; and their minimisers."""

import numpy as np

from lowrank_rank.surrogates import (
    SURROGATES,
    PointwiseSmoothHinge,
    PointwiseSquaredHinge,
    resolve_surrogate,
)

ETA = 4.0  # above every utility of the tests
ORDER_PRESERVING = [name for name in SURROGATES if SURROGATES[name].order_preserving]
PAIRWISE = [name for name in SURROGATES if SURROGATES[name].of_pairs]


def with_eta(name, eta=ETA):
    surrogate = resolve_surrogate(name)
    return surrogate.set_params(eta=eta) if "eta" in surrogate.get_params() else surrogate


def log1pexp(x):
    return np.log(1 + np.exp(x)) if x < 30 else x


def plus(x):
    return max(x, 0.0)


def smooth_hinge(x, a):
    return 0.0 if x <= 0 else x * x / (2 * a) if x <= a else x - a / 2


def over_items(term):
    """Sum of term(v_i, s_i, eta), an item of weight w counted w times."""
    return lambda v, s, w, eta=ETA: sum(w[i] * term(v[i], s[i], eta) for i in range(len(v)) if w[i])


def over_pairs(term):
    """Sum of term(v_i, v_j, s_i - s_j) over the ordered pairs of two items."""
    return lambda v, s, w, eta=None: sum(
        w[i] * w[j] * term(v[i], v[j], s[i] - s[j])
        for i in range(len(v))
        for j in range(len(v))
        if i != j
    )


def cross_entropy(v, s, w, eta=None):
    total = sum(w * np.exp(s))
    return -sum(w[i] * v[i] * np.log(np.exp(s[i]) / total) for i in range(len(v)) if w[i])


def squared_hinge(t):
    return over_items(lambda v, s, eta: v * plus(t - s) ** 2 + (eta - v) * plus(s) ** 2)


def rounded_hinge(a):
    return over_items(lambda v, s, eta: v * smooth_hinge(1 - s, a) + (eta - v) * smooth_hinge(s, a))


BY_HAND = {
    "pointwise_squared": over_items(lambda v, s, eta: (v - s) ** 2),
    "pointwise_logistic": over_items(lambda v, s, eta: v * log1pexp(-s) + (eta - v) * log1pexp(s)),
    "pointwise_exponential": over_items(lambda v, s, eta: v * np.exp(-s) + (eta - v) * np.exp(s)),
    "pointwise_squared_hinge": squared_hinge(1.0),
    "pointwise_smooth_hinge": rounded_hinge(1.0),
    "pairwise_squared": over_pairs(lambda vi, vj, d: (vi - vj - d) ** 2 / 2),
    "pairwise_logistic": over_pairs(lambda vi, vj, d: vi * log1pexp(-d)),
    "pairwise_exponential": over_pairs(lambda vi, vj, d: vi * np.exp(-d)),
    "cross_entropy": cross_entropy,
    "bregman_squared": over_items(lambda v, s, eta: (v - s) ** 2 / 2),
    "ranknet": over_pairs(lambda vi, vj, d: (vi > vj) * log1pexp(-d)),
    "ranksvm": over_pairs(lambda vi, vj, d: (vi > vj) * plus(1 - d) ** 2),
}

#: Surrogates with their values by hand: those of the table, and other shapes of the hinges.
CASES = {name: (with_eta(name), BY_HAND[name]) for name in SURROGATES}
CASES |= {
    "squared_hinge_t2": (PointwiseSquaredHinge(ETA, t=2.0), squared_hinge(2.0)),
    "smooth_hinge_a.25": (PointwiseSmoothHinge(ETA, a=0.25), rounded_hinge(0.25)),
    "smooth_hinge_a3": (PointwiseSmoothHinge(ETA, a=3.0), rounded_hinge(3.0)),
}

#: A minimiser of the expected surrogate, by E v = u > 0 and eta.
MINIMISER = {
    "pointwise_squared": lambda u, eta: u,
    "pointwise_logistic": lambda u, eta: np.log(u / (eta - u)),
    "pointwise_exponential": lambda u, eta: np.log(u / (eta - u)) / 2,
    "pointwise_squared_hinge": lambda u, eta: u / eta,
    "pointwise_smooth_hinge": lambda u, eta: u / eta,
    "pairwise_squared": lambda u, eta: u,
    "pairwise_logistic": lambda u, eta: np.log(u),
    "pairwise_exponential": lambda u, eta: np.log(u) / 2,
    "cross_entropy": lambda u, eta: np.log(u),
    "bregman_squared": lambda u, eta: u,
}
