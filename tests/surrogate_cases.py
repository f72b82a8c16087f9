"""The surrogates in their plainest form: one list, double sums; and their minimisers.

Tests over SURROGATES need nothing for a new one: `by_hand` falls back on its own `evaluate`.
BY_HAND and MINIMISER hold the surrogates of the guide.
"""

import numpy as np
from scipy.optimize import minimize

from lowrank_rank.surrogates import SURROGATES

from .internals import RankingLists

PointwiseSmoothHinge = SURROGATES["pointwise_smooth_hinge"]
PointwiseSquaredHinge = SURROGATES["pointwise_squared_hinge"]

ETA = 4.0  # above every utility of the tests
ORDER_PRESERVING = [
    name for name, one in SURROGATES.items() if one().is_order_preserving
]
BOUNDED = [name for name, one in SURROGATES.items() if one().has_bound]
PAIRWISE = [name for name, one in SURROGATES.items() if one().is_pairwise]
PROPORTIONAL = [name for name, one in SURROGATES.items() if one().is_proportional]


def with_eta(name, eta=ETA):
    surrogate = SURROGATES[name]()
    return (
        surrogate.set_params(eta=eta) if "eta" in surrogate.get_params() else surrogate
    )


def log1pexp(x):
    return np.log(1 + np.exp(x)) if x < 30 else x


def plus(x):
    return max(x, 0.0)


def smooth_hinge(x, a):
    return 0.0 if x <= 0 else x * x / (2 * a) if x <= a else x - a / 2


def over_items(term):
    """Sum of term(v_i, s_i, eta), an item of weight w counted w times."""
    return lambda v, s, w, eta=ETA: sum(
        w[i] * term(v[i], s[i], eta) for i in range(len(v)) if w[i]
    )


def over_pairs(term):
    """Sum of term(v_i, v_j, s_i - s_j) over the ordered pairs of two items."""
    return lambda v, s, w, eta=None: sum(
        w[i] * w[j] * term(v[i], v[j], s[i] - s[j])
        for i in range(len(v))
        for j in range(len(v))
        if i != j
    )


def cross_entropy(v, s, w, eta=None):
    p = w * np.exp(s) / sum(w * np.exp(s))
    return -sum(w[i] * v[i] * np.log(p[i]) for i in range(len(v)) if w[i])


def squared_hinge(t):
    return over_items(lambda v, s, eta: v * plus(t - s) ** 2 + (eta - v) * plus(s) ** 2)


def rounded_hinge(a):
    return over_items(
        lambda v, s, eta: v * smooth_hinge(1 - s, a) + (eta - v) * smooth_hinge(s, a)
    )


BY_HAND = {
    "pointwise_squared": over_items(lambda v, s, eta: (v - s) ** 2),
    "pointwise_logistic": over_items(
        lambda v, s, eta: v * log1pexp(-s) + (eta - v) * log1pexp(s)
    ),
    "pointwise_exponential": over_items(
        lambda v, s, eta: v * np.exp(-s) + (eta - v) * np.exp(s)
    ),
    "pointwise_squared_hinge": squared_hinge(1.0),
    "pointwise_smooth_hinge": rounded_hinge(1.0),
    "pairwise_squared": over_pairs(lambda vi, vj, d: (vi - vj - d) ** 2 / 2),
    "pairwise_logistic": over_pairs(lambda vi, vj, d: vi * log1pexp(-d)),
    "pairwise_exponential": over_pairs(lambda vi, vj, d: vi * np.exp(-d)),
    "cross_entropy": cross_entropy,
    "bregman_squared": over_items(lambda v, s, eta: (v - s) ** 2 / 2),
    "ranknet": over_pairs(lambda vi, vj, d: (vi > vj) * log1pexp(-d)),
    "pairwise_squared_hinge": over_pairs(
        lambda vi, vj, d: (vi > vj) * plus(1 - d) ** 2
    ),
}


def by_hand(name):
    """A function of (v, s, w, eta) of one list: the sum by hand, or else `evaluate` on it alone."""
    if name in BY_HAND:
        return BY_HAND[name]
    return lambda v, s, w, eta=ETA: one_list(with_eta(name, eta), v, s, w)


def one_list(surrogate, v, s, w):
    return surrogate.evaluate(v, s, RankingLists([len(v)]), w).values[0]


def population_minimiser(surrogate, utilities, probabilities):
    """Scores (r,) that minimise the expected surrogate of labels (n, r) with probabilities (n,)."""
    n, r = utilities.shape
    lists, weights = RankingLists([r] * n), np.ones(n * r)

    def risk(s):
        found = surrogate.evaluate(utilities.ravel(), np.tile(s, n), lists, weights)
        return probabilities @ found.values, probabilities @ found.gradient.reshape(
            n, r
        )

    options = {"gtol": 1e-10, "ftol": 1e-16}
    return minimize(risk, np.zeros(r), jac=True, method="L-BFGS-B", options=options).x


#: Other shapes of the hinges.
SHAPES = {
    "squared_hinge_t2": (PointwiseSquaredHinge(ETA, t=2.0), squared_hinge(2.0)),
    "smooth_hinge_a.25": (PointwiseSmoothHinge(ETA, a=0.25), rounded_hinge(0.25)),
    "smooth_hinge_a3": (PointwiseSmoothHinge(ETA, a=3.0), rounded_hinge(3.0)),
}
#: Surrogates by name, with an eta where they have one.
CASES = {name: with_eta(name) for name in SURROGATES}
CASES |= {name: surrogate for name, (surrogate, _) in SHAPES.items()}
#: Their values by hand, where there are any.
VALUES = BY_HAND | {name: by_hand for name, (_, by_hand) in SHAPES.items()}

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
