"""Order-preserving surrogates: what each is, and those of single items.

A surrogate is a loss of scores s against utilities v >= 0, convex in s, whose expectation is
minimal where the scores order the items as E v does (Calauzenes, Usunier & Gallinari 2013).
Every one works on grouped flat arrays of ragged lists at once. A row weight w_i counts an item
as w_i copies of it: sums over items have w_i, sums over pairs w_i w_j.
"""

from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator


class SurrogateValues(NamedTuple):
    """A surrogate at some scores.

    Attributes
    ----------
    values : ndarray of shape (n_lists,)
        Loss of each list, >= 0 but for constants.
    gradient : ndarray of shape (n_rows,)
        Derivative of the sum of the values by each score.
    curvature : ndarray of shape (n_rows,)
        Diagonal of the second derivative, >= 0.
    """

    values: np.ndarray
    gradient: np.ndarray
    curvature: np.ndarray


class Surrogate(BaseEstimator):
    """Base of the surrogates in score space.

    Attributes
    ----------
    order_preserving : bool
        Whether the minimiser of the expected loss orders as E v, for all distributions.
    shift_invariant : bool
        Whether a constant added to the scores of a list changes nothing.
    of_pairs : bool
        Whether it sums over pairs, so that it grows with the square of a list's weight.
    of_utilities : bool
        Whether it is proportional to the utilities: nothing where all are 0.
    """

    order_preserving: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    of_pairs: ClassVar[bool] = False
    of_utilities: ClassVar[bool] = False

    def evaluate(self, v, s, lists, weights):
        """Values, gradient and curvature at grouped utilities v and scores s.

        Parameters
        ----------
        v, s, weights : ndarray of shape (n_rows,)
            Utilities >= 0, scores, importances of the rows; grouped.
        lists : RankingLists

        Returns
        -------
        SurrogateValues
        """
        raise NotImplementedError(f"{type(self).__name__} must define evaluate().")

    def bound_constant(self, expected, lists):
        """c of the regret bound for each list, (n_lists,), at the expected utilities.

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).
        """
        why = "defines no bound_constant" if self.order_preserving else "is not order-preserving"
        raise ValueError(f"{self!r} {why}: it has no regret bound.")

    def utility(self, s):
        """E v at the minimiser, as a function of its score, elementwise."""
        raise AttributeError(f"{self!r} has no link: its scores do not estimate utilities.")

    def check_utilities(self, v):
        """Refuse utilities that the surrogate cannot take."""
        if np.any(v < 0):
            raise ValueError(f"{self!r} takes utilities >= 0, got {v.min():g}.")


class PointwiseSquared(Surrogate):
    """``sum_i (v_i - s_i)**2``; c = sqrt(2).

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("pointwise_squared", [1.0, 0.0], [0.5, 0.0])
    array([0.25])
    """

    def evaluate(self, v, s, lists, weights):
        error = s - v
        return SurrogateValues(lists.sum(weights * error**2), 2.0 * weights * error, 2.0 * weights)

    def bound_constant(self, expected, lists):
        return np.full(lists.n_lists, np.sqrt(2.0))

    def utility(self, s):
        return s


class TwoSided(Surrogate):
    """``sum_i v_i phi(s_i) + (eta - v_i) psi(s_i)``: a utility is a share of eta.

    A subclass gives ``towards(s)`` and ``away(s)``: value, first and second derivative of phi,
    which falls, and of psi, which rises.
    """

    def __init__(self, eta=1.0):
        self.eta = eta

    def check_utilities(self, v):
        super().check_utilities(v)
        check_positive(self, "eta")
        if not self.eta > v.max(initial=0.0):
            raise ValueError(
                f"eta={self.eta:g} must be above every utility, the largest is {v.max():g}: "
                "increase eta, or leave it to the estimator (eta=None)."
            )

    def evaluate(self, v, s, lists, weights):
        up, down = weights * v, weights * (self.eta - v)
        value, gradient, curvature = (
            up * towards + down * away
            for towards, away in zip(self.towards(s), self.away(s), strict=True)
        )
        return SurrogateValues(lists.sum(value), gradient, curvature)

    def bound_constant(self, expected, lists):
        return np.full(lists.n_lists, self._constant())

    def away(self, s):
        value, slope, curvature = self.towards(-s)
        return value, -slope, curvature


class PointwiseLogistic(TwoSided):
    """``sum_i v_i log(1 + exp(-s_i)) + (eta - v_i) log(1 + exp(s_i))``; c = sqrt(eta).

    Parameters
    ----------
    eta : float, default=1.0
        Above every utility.
    """

    def towards(self, s):
        p = expit(-s)
        return np.logaddexp(0.0, -s), -p, p * (1.0 - p)

    def _constant(self):
        return np.sqrt(self.eta)

    def utility(self, s):
        return self.eta * expit(s)


class PointwiseExponential(TwoSided):
    """``sum_i v_i exp(-s_i) + (eta - v_i) exp(s_i)``; c = sqrt(eta).

    Parameters
    ----------
    eta : float, default=1.0
        Above every utility.
    """

    def towards(self, s):
        e = bounded_exp(-s)
        return e, -e, e

    def _constant(self):
        return np.sqrt(self.eta)

    def utility(self, s):
        return self.eta * expit(2.0 * s)


class PointwiseSquaredHinge(TwoSided):
    """``sum_i v_i max(0, t - s_i)**2 + (eta - v_i) max(0, s_i)**2``; c = sqrt(2 eta) / t.

    Parameters
    ----------
    eta : float, default=1.0
        Above every utility.
    t : float, default=1.0
        Score of utility eta, > 0.
    """

    def __init__(self, eta=1.0, t=1.0):
        super().__init__(eta)
        self.t = t

    def check_utilities(self, v):
        check_positive(self, "t")
        super().check_utilities(v)

    def towards(self, s):
        return _squared_hinge(self.t - s, -1.0)

    def away(self, s):
        return _squared_hinge(s, 1.0)

    def _constant(self):
        return np.sqrt(2.0 * self.eta) / self.t

    def utility(self, s):
        return self.eta * np.clip(s / self.t, 0.0, 1.0)


class PointwiseSmoothHinge(TwoSided):
    """``sum_i v_i h(1 - s_i) + (eta - v_i) h(s_i)``, h a hinge rounded on [0, a].

    h(x) = 0 below 0, x**2 / (2 a) up to a, x - a / 2 beyond. c = 2 sqrt(eta / a) for a <= 1 and
    2 sqrt(a eta) for a >= 1.

    Parameters
    ----------
    eta : float, default=1.0
        Above every utility.
    a : float, default=1.0
        > 0.
    """

    def __init__(self, eta=1.0, a=1.0):
        super().__init__(eta)
        self.a = a

    def check_utilities(self, v):
        check_positive(self, "a")
        super().check_utilities(v)

    def _hinge(self, x, sign):
        inside = (x > 0) & (x < self.a)
        value = np.where(
            x < self.a, np.clip(x, 0.0, self.a) ** 2 / (2.0 * self.a), x - self.a / 2.0
        )
        slope = np.clip(x / self.a, 0.0, 1.0)
        return value, sign * slope, inside / self.a

    def towards(self, s):
        return self._hinge(1.0 - s, -1.0)

    def away(self, s):
        return self._hinge(s, 1.0)

    def _constant(self):
        return 2.0 * np.sqrt(self.eta / self.a if self.a <= 1.0 else self.a * self.eta)


def _squared_hinge(x, sign):
    part = np.maximum(x, 0.0)
    return part**2, 2.0 * sign * part, 2.0 * (x > 0)


LARGEST_EXPONENT = 600.0


def check_positive(surrogate, name):
    """Refuse a parameter that is not a finite number > 0."""
    value = getattr(surrogate, name)
    if not isinstance(value, Real) or not 0 < value < np.inf:
        raise ValueError(f"{name} of {surrogate!r} must be a finite number > 0.")


def bounded_exp(x, largest=LARGEST_EXPONENT):
    """exp, but of no more than `largest`: finite where a line search has gone too far."""
    return np.exp(np.minimum(x, largest))
