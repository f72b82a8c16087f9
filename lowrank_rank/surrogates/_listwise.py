"""Surrogates of whole lists: softmax cross-entropy and Bregman divergences."""

import numpy as np

from ._template import Surrogate, SurrogateValues, check_positive


class CrossEntropy(Surrogate):
    """``-sum_i v_i log softmax(s)_i``; c = sqrt(2 max_{i != j} E (v_i + v_j)).

    With row weights ``-sum_i w_i v_i log(exp(s_i) / sum_j w_j exp(s_j))``. Calibrated with v as
    it is: dividing v by its sum in each list would change what E v is.

    Examples
    --------
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("cross_entropy", [1.0, 0.0], [0.0, 0.0]).round(4)  # log 2
    array([0.6931])
    """

    shift_invariant = True
    of_utilities = True

    def evaluate(self, v, s, lists, weights):
        counted = np.where(weights > 0, s, -np.inf)
        top = np.maximum.reduceat(counted, lists.starts)
        s = s - lists.spread(np.where(np.isfinite(top), top, 0.0))
        mass = weights * np.exp(np.minimum(s, 0.0))
        total = lists.sum(mass)
        safe = np.where(total > 0, total, 1.0)
        share = mass / lists.spread(safe)
        weighted = weights * v
        sums = lists.sum(weighted)
        spread = lists.spread(sums)
        return SurrogateValues(
            sums * np.log(safe) - lists.sum(weighted * s),
            spread * share - weighted,
            spread * share * (1.0 - share),
        )

    def bound_constant(self, expected, lists):
        largest = np.maximum.reduceat(expected, lists.starts)
        rest = expected.copy()
        at = lists.spread(largest) == expected
        first = np.unique(lists.index[at], return_index=True)[1]
        rest[np.flatnonzero(at)[first]] = 0.0
        return np.sqrt(2.0 * (largest + np.maximum.reduceat(rest, lists.starts)))


class BregmanSurrogate(Surrogate):
    """``B_Psi(v || g(s))`` of a separable Psi(v) = sum_i psi(v_i); c = 2 / sqrt(mu).

    ``sum_i psi(v_i) - psi(g(s_i)) - s_i (v_i - g(s_i))`` with the canonical link g, the inverse of
    psi'; convex in s, with the derivative g(s_i) - v_i.

    Parameters
    ----------
    psi : callable
        Elementwise, mu-strongly convex.
    link : callable
        g, elementwise: the inverse of the derivative of psi.
    mu : float, default=1.0
        psi'' >= mu where utilities lie, > 0.

    Examples
    --------
    >>> from lowrank_rank.surrogates import BregmanSurrogate, surrogate_loss
    >>> half_square = BregmanSurrogate(psi=lambda v: v**2 / 2, link=lambda s: s)
    >>> surrogate_loss(half_square, [1.0, 0.0], [0.5, 0.0])  # (1 - .5)**2 / 2
    array([0.125])
    """

    def __init__(self, psi, link, mu=1.0):
        self.psi = psi
        self.link = link
        self.mu = mu

    def check_utilities(self, v):
        check_positive(self, "mu")
        super().check_utilities(v)

    def evaluate(self, v, s, lists, weights):
        g = self.link(s)
        value = self.psi(v) - self.psi(g) - s * (v - g)
        # g is 1/mu-Lipschitz: its largest slope stands for the curvature.
        return SurrogateValues(lists.sum(weights * value), weights * (g - v), weights / self.mu)

    def bound_constant(self, expected, lists):
        return np.full(lists.n_lists, 2.0 / np.sqrt(self.mu))

    def utility(self, s):
        return self.link(s)


def half_square(v):
    """psi of the squared Bregman divergence."""
    return v**2 / 2.0


def identity(s):
    """Its link."""
    return s
