"""Order-preserving surrogates, each with its constant of the regret bound.

A surrogate is a loss of scores s against utilities v >= 0. The losses here are convex
in s. Only scores that order the items as E v does can minimise the expected loss
(Calauzenes, Usunier & Gallinari 2013). Every surrogate works on grouped flat arrays of
ragged lists at once.

An item of weight 2 counts like two equal items, apart from a constant. Sums over items
have w_i, sums over pairs have w_i w_j, and a softmax has w_i exp(s_i). Weights that are
constant within a list multiply its value: k times the weights give k times the value,
and k**2 times the value of a sum over pairs.

Inequality (9) of the paper bounds the regret of a positional measure:

    regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

`Surrogate.bound_constant` is c; `C_phi` belongs to the measure. The docstring of each
class says whether c is from table 2 of the paper, sharper, corrected, or ours.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from .._typing import BaseEstimator
from ..fitting._pairs import PairSums, dense_grades
from ..target_losses._names import has_utilities, names_of
from ..validation._arrays import shown
from ..validation._check import refuse
from ..validation._checks_of_surrogates import (
    CHECKS_OF_PAIRS,
    CHECKS_OF_UTILITIES,
    CHECKS_OF_UTILITY_LOSSES,
    CHECKS_OF_VALUES,
)
from ..validation._parameters import (
    Rule,
    check_parameter,
    inherit_docstrings,
    number,
    refuse_class,
)

#: Bound of scores and utilities, such that sums of their squares are finite.
LARGEST_SCORE = 1e100
#: Pairs of one list: 10**9 take 2 s for each tree, 10 minutes for 300 trees.
_MAX_PAIRS = 10**9


# Base class -------------------------------------------------------------------------


class SurrogateValues(NamedTuple):
    """Values and derivatives of a surrogate at some scores.

    Parameters
    ----------
    values : ndarray of shape (n_lists,) or None
        Loss of each list, >= 0 up to constants; None for LambdaRank, which has
        derivatives alone.
    gradient : ndarray of shape (n_rows,)
        Derivative of the sum of the values by each score.
    curvature : ndarray of shape (n_rows,)
        Diagonal of the second derivative, or an upper bound of it; >= 0.

    Examples
    --------
    The log cosh of errors is a squared loss for small errors and an absolute one for
    large errors. Its best scores are not means, so it is not order-preserving:

    >>> import numpy as np
    >>> from lowrank_rank.surrogates import Surrogate, SurrogateValues
    >>> class LogCosh(Surrogate):
    ...     is_order_preserving = False
    ...     def evaluate(self, v, s, lists, weights):
    ...         slope = np.tanh(s - v)
    ...         return SurrogateValues(
    ...             values=lists.sum(weights * np.log(np.cosh(s - v))),
    ...             gradient=weights * slope,
    ...             curvature=weights * (1 - slope**2),
    ...         )
    >>> from lowrank_rank.testing import check_surrogate
    >>> check_surrogate(LogCosh())
    """

    values: Any
    gradient: np.ndarray
    curvature: np.ndarray


class Surrogate(BaseEstimator):
    """Base of the surrogates in score space.

    A subclass defines `evaluate`. It also defines `bound_constant` if it has a regret
    bound, and `utility` if its scores estimate utilities. Class attributes describe the
    surrogate.

    Attributes
    ----------
    is_order_preserving : bool
        Whether the minimiser of the expected loss has the order of E v for all
        distributions. `calibration.is_order_preserving` looks for a counter-example.
    is_shift_invariant : bool
        Whether a constant added to the scores of a list changes nothing.
    is_pairwise : bool
        Whether the loss is a sum over pairs, which grows with the square of a list's
        weight.
    is_proportional : bool
        Whether the loss is proportional to the utilities.
    is_squared : bool
        Whether the loss is the sum of squared errors s_i - v_i, or of their squared
        differences if ``is_pairwise``. Ridge regression then minimises it. A subclass
        with its own `evaluate` must set this flag again.
    has_tails : bool
        Whether the loss keeps falling with the score of an item without utility, so
        that no score is best.
    takes_negative : bool
        Whether utilities may be below 0, such as unbiased estimates from clicks.

    Examples
    --------
    Poisson regression of the utilities is best at log E v. The loss of an item without
    utility keeps falling with its score:

    >>> import numpy as np
    >>> from lowrank_rank.surrogates import Surrogate, SurrogateValues
    >>> class Poisson(Surrogate):
    ...     has_tails = True
    ...     def evaluate(self, v, s, lists, weights):
    ...         rate = np.exp(s)
    ...         return SurrogateValues(
    ...             values=lists.sum(weights * (rate - v * s)),
    ...             gradient=weights * (rate - v),
    ...             curvature=weights * rate,
    ...         )
    >>> from lowrank_rank.testing import check_surrogate
    >>> check_surrogate(Poisson())
    >>> from lowrank_rank import OrderPreservingRegressor
    >>> X, y, qid = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = OrderPreservingRegressor(surrogate=Poisson()).fit(X, y, qid=qid)
    >>> ranker.rank(X, qid=qid)
    array([2, 1, 2, 1])
    """

    is_order_preserving: ClassVar[bool] = True
    is_shift_invariant: ClassVar[bool] = False
    is_pairwise: ClassVar[bool] = False
    is_proportional: ClassVar[bool] = False
    is_squared: ClassVar[bool] = False
    has_tails: ClassVar[bool] = False
    takes_negative: ClassVar[bool] = False
    _positive: ClassVar[tuple[str, ...]] = ()  # parameters that are finite numbers > 0

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        inherit_docstrings(cls)
        if "evaluate" in vars(cls) and "is_squared" not in vars(cls):
            cls.is_squared = False

    @property
    def has_bound(self) -> bool:
        """Whether the loss is order-preserving and defines `bound_constant`."""
        has_constant = type(self).bound_constant is not Surrogate.bound_constant
        return self.is_order_preserving and has_constant

    @property
    def has_link(self) -> bool:
        """Whether the scores estimate utilities: the class defines `utility`."""
        return type(self).utility is not Surrogate.utility

    def evaluate(
        self, v: np.ndarray, s: np.ndarray, lists: Any, weights: np.ndarray
    ) -> SurrogateValues:
        """Compute values, gradient and curvature at grouped utilities v and scores s.

        Parameters
        ----------
        v, s : ndarray of shape (n_rows,)
            Grouped utilities >= 0, and scores.
        lists : RankingLists
            The lists of the grouped rows.
        weights : ndarray of shape (n_rows,)
            Importances of the rows.

        Returns
        -------
        SurrogateValues
            Values of the lists, and derivatives by the scores of the rows.
        """
        raise NotImplementedError(f"{type(self).__name__} must define evaluate().")

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        """Compute c of the regret bound for each list.

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

        Parameters
        ----------
        expected : ndarray of shape (n_rows,)
            Grouped expected utilities.
        lists : RankingLists
            The lists of the grouped rows.

        Returns
        -------
        ndarray of shape (n_lists,)
            c of each list, > 0.
        """
        raise ValueError(f"{self!r} has no regret bound: it defines no bound_constant.")

    def utility(self, s: Any) -> np.ndarray:
        """Compute E v from the score of the minimiser.

        Parameters
        ----------
        s : float or ndarray
            Scores.

        Returns
        -------
        float or ndarray
            Expected utilities, elementwise.
        """
        raise AttributeError(
            f"{self!r} has no link: its scores do not estimate utilities."
        )

    def newton_values(
        self, v: Any, s: Any, lists: Any, weights: Any
    ) -> SurrogateValues:
        """Evaluate, with a curvature that keeps the Newton step of a leaf short enough.

        A nearly linear surrogate has almost no curvature at the scores, and the step
        would be far too long. Such a surrogate returns the largest curvature on the way
        from the score to the minimum of the row. Other surrogates return `evaluate`.

        Parameters
        ----------
        v, s, lists, weights
            As in `evaluate`.

        Returns
        -------
        SurrogateValues
            Values and gradient of `evaluate`, with such a curvature.
        """
        return self.evaluate(v, s, lists, weights)

    def check_utilities(self, v: Any) -> None:
        """Refuse utilities that the surrogate cannot take.

        Parameters
        ----------
        v : ndarray
            Utilities.

        Raises
        ------
        ValueError
            If a utility is negative, unless ``takes_negative``, or the surrogate has
            other limits.
        """
        for name in self._positive:
            value = getattr(self, name)
            check_parameter(f"{name} of {self!r}", value, [number(above=0)])
        if np.any(v < 0):
            refuse(CHECKS_OF_UTILITIES, surrogate=self, v=v)


# Items ------------------------------------------------------------------------------


class PointwiseSquared(Surrogate):
    """``sum_i (v_i - s_i)**2``; c = sqrt(2), the paper's.

    Examples
    --------
    >>> import numpy as np
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("pointwise_squared", [1.0, 0.0], [0.5, 0.0])
    array([0.25])
    """

    is_squared = True
    takes_negative = True

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        error = s - v
        return SurrogateValues(
            values=lists.sum(weights * error**2),
            gradient=2.0 * weights * error,
            curvature=2.0 * weights,
        )

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return np.full(lists.n_lists, np.sqrt(2.0))

    def utility(self, s: Any) -> np.ndarray:
        return s


class TwoSided(Surrogate):
    """``sum_i v_i phi(t - s_i) + (eta - v_i) phi(s_i)``: v_i is a fraction of eta.

    A subclass defines ``phi(x)``, which returns its value, first and second derivative,
    and the constant c.
    """

    phi: Callable[[Any], tuple[Any, Any, Any]]
    t: Any = 0.0
    _positive: ClassVar[tuple[str, ...]] = ("eta",)

    def __init__(self, eta: Any = 1.0) -> None:
        self.eta = eta

    def check_utilities(self, v: Any) -> None:
        super().check_utilities(v)
        if not self.eta > v.max(initial=0.0):
            refuse(CHECKS_OF_UTILITIES, surrogate=self, v=v, eta=self.eta)

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        # v_i phi(t - s_i), which falls with the score
        falling_weight = weights * v
        falling, falling_slope, falling_curvature = self.phi(self.t - s)
        # (eta - v_i) phi(s_i), which rises with the score
        rising_weight = weights * (self.eta - v)
        rising, rising_slope, rising_curvature = self.phi(s)
        return SurrogateValues(
            values=lists.sum(falling_weight * falling + rising_weight * rising),
            gradient=rising_weight * rising_slope - falling_weight * falling_slope,
            curvature=(
                falling_weight * falling_curvature + rising_weight * rising_curvature
            ),
        )


class TwoSidedWithTails(TwoSided):
    """Base of the losses with a phi without minimum.

    An item that is never relevant has no best score.
    """

    has_tails = True

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return np.full(lists.n_lists, np.sqrt(self.eta))


class PointwiseLogistic(TwoSidedWithTails):
    """``sum_i v_i log(1 + exp(-s_i)) + (eta - v_i) log(1 + exp(s_i))``.

    c = sqrt(eta), as published.
    """

    def phi(self, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        p = expit(x)
        return np.logaddexp(0.0, x), p, p * (1.0 - p)

    def newton_values(
        self, v: Any, s: Any, lists: Any, weights: Any
    ) -> SurrogateValues:
        # The curvature at s is w eta p (1 - p) for p = expit(s); the minimum of the row
        # has p = v / eta.
        variance = _largest_variance(expit(s), v / self.eta)
        evaluated = self.evaluate(v, s, lists, weights)
        return evaluated._replace(curvature=weights * self.eta * variance)

    def utility(self, s: Any) -> np.ndarray:
        return self.eta * expit(s)


class PointwiseExponential(TwoSidedWithTails):
    """``sum_i v_i exp(-s_i) + (eta - v_i) exp(s_i)``; c = sqrt(eta), the paper's."""

    def phi(self, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        exponential = _bounded_exp(x)
        return exponential, exponential, exponential

    def utility(self, s: Any) -> np.ndarray:
        return self.eta * expit(2.0 * s)


class PointwiseSquaredHinge(TwoSided):
    """``sum_i v_i max(0, t - s_i)**2 + (eta - v_i) max(0, s_i)**2``.

    t > 0 is the score of the utility eta. c = sqrt(2 eta) / t, the paper's.
    """

    _positive = ("t", "eta")

    def __init__(self, eta: float = 1.0, t: float = 1.0) -> None:
        super().__init__(eta)
        self.t = t

    def phi(self, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        hinge = np.maximum(x, 0.0)
        return hinge**2, 2.0 * hinge, 2.0 * (x > 0)

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return np.full(lists.n_lists, np.sqrt(2.0 * self.eta) / self.t)

    def utility(self, s: Any) -> np.ndarray:
        return self.eta * np.clip(s / self.t, 0.0, 1.0)


class PointwiseSmoothHinge(TwoSided):
    """``sum_i v_i h(1 - s_i) + (eta - v_i) h(s_i)``, h a hinge rounded on [0, a].

    h(x) is 0 below 0, x**2 / (2 a) up to a, and x - a / 2 beyond. Our c is 2 sqrt(eta /
    a) for a <= 1 and 2 sqrt(a eta) for a >= 1. The paper has 4 sqrt(eta / a) for 0 < a
    < eta / 2. Ours is smaller up to a = 2; the constant of the paper does not hold
    beyond.
    """

    t = 1.0
    _positive = ("a", "eta")

    def __init__(self, eta: float = 1.0, a: float = 1.0) -> None:
        super().__init__(eta)
        self.a = a

    def phi(self, x: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rounded = np.clip(x, 0.0, self.a) ** 2 / (2.0 * self.a)
        value = np.where(x < self.a, rounded, x - self.a / 2.0)
        slope = np.clip(x / self.a, 0.0, 1.0)
        is_rounded = (x > 0) & (x < self.a)
        return value, slope, is_rounded / self.a

    def newton_values(
        self, v: Any, s: Any, lists: Any, weights: Any
    ) -> SurrogateValues:
        # The largest curvature anywhere is w eta / a.
        evaluated = self.evaluate(v, s, lists, weights)
        return evaluated._replace(curvature=weights * self.eta / self.a)

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        square = self.eta / self.a if self.a <= 1.0 else self.a * self.eta
        return np.full(lists.n_lists, 2.0 * np.sqrt(square))


# Pairs ------------------------------------------------------------------------------
# Order-preserving surrogates weight "i before j" by v_i and "j before i" by v_j, so
# that only E v matters. RankNet and RankSVM compare the two utilities of each label.


class PairwiseSurrogate(Surrogate):
    """Base of the sums over pairs of a list."""

    is_shift_invariant = True
    is_pairwise = True


def check_pairs(lists, n_first, otherwise="", line=""):
    """Refuse a list with too many pairs of its first `n_first` rows with all rows."""
    refuse(
        CHECKS_OF_PAIRS,
        lists=lists,
        n_first=n_first,
        most=_MAX_PAIRS,
        otherwise=otherwise,
        line=line,
    )


class PairwiseSquared(PairwiseSurrogate):
    """``sum_{i<j} (v_i - v_j - (s_i - s_j))**2``; c = sqrt(2 / r).

    The paper has c = 1, which equals ours for r = 2 items and is larger for more. The
    sum equals ``W sum_i w_i (e_i - mean e)**2`` for the errors e = s - v and the total
    weight W.
    """

    is_squared = True
    takes_negative = True

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        error = s - v
        total = lists.sum(weights)
        safe_total = np.where(total > 0, total, 1.0)
        # e_i - mean e, with the weighted mean of the list
        mean = lists.sum(weights * error) / safe_total
        centred = error - lists.repeat(mean)
        # W sum_i w_i (e_i - mean e)^2, and its derivatives by s_i
        row_total = lists.repeat(total)
        return SurrogateValues(
            values=total * lists.sum(weights * centred**2),
            gradient=2.0 * weights * row_total * centred,
            curvature=2.0 * weights * (row_total - weights),
        )

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return np.sqrt(2.0 / lists.lengths)


class TwoSidedPairwise(PairwiseSurrogate):
    """Base of ``sum_{i<j} v_i phi(s_j - s_i) + v_j phi(s_i - s_j)``.

    phi has no minimum. c = 2 sqrt(max E v), the paper's.
    """

    is_proportional = True
    has_tails = True

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return 2.0 * np.sqrt(_largest(expected, lists))


class PairwiseExponential(TwoSidedPairwise):
    """``sum_{i<j} v_i exp(-(s_i - s_j)) + v_j exp(s_i - s_j)``.

    c = 2 sqrt(max E v), the paper's. The sum over ordered pairs is a product of two
    sums over items.
    """

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        # The sum over i != j of w_i v_i exp(-s_i) w_j exp(s_j) is
        # scale * (sum_i down_i * sum_j up_j - sum_i up_i down_i). Both factors are
        # relative to their largest term, so that only a large product is clipped.
        top = _largest(np.where(weights > 0, s, -np.inf), lists)
        bottom = -_largest(np.where(weights * v > 0, -s, -np.inf), lists)
        has_pairs = np.isfinite(top) & np.isfinite(bottom)
        top = np.where(has_pairs, top, 0.0)
        bottom = np.where(has_pairs, bottom, 0.0)
        scale = _bounded_exp(top - bottom) * has_pairs
        up = weights * _bounded_exp(s - lists.repeat(top), 0.0)
        down = weights * v * _bounded_exp(lists.repeat(bottom) - s, 0.0)
        up_sum = lists.sum(up)
        down_sum = lists.sum(down)
        # Terms of the pairs of which a row is the lower item, or the higher one. Both
        # have the pair of the row with itself.
        as_lower = up * lists.repeat(down_sum)
        as_higher = down * lists.repeat(up_sum)
        itself = up * down
        row_scale = lists.repeat(scale)
        return SurrogateValues(
            values=scale * np.maximum(up_sum * down_sum - lists.sum(itself), 0.0),
            gradient=row_scale * (as_lower - as_higher),
            curvature=(
                row_scale * np.maximum(as_lower + as_higher - 2.0 * itself, 0.0)
            ),
        )


class PairwiseLogistic(TwoSidedPairwise):
    """``sum_{i<j} v_i log(1 + exp(-(s_i - s_j))) + v_j log(1 + exp(s_i - s_j))``.

    c = 2 sqrt(max E v), the paper's. The cost is (items with v_i > 0) x r for each
    list.
    """

    #: Whether only the order of two utilities matters: pairs have v_i > v_j, and 1 for
    #: v_i.
    is_of_order: ClassVar[bool] = False

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        return self._evaluate_pairs(v, s, lists, weights, max_slope=1.0)

    def newton_values(
        self, v: Any, s: Any, lists: Any, weights: Any
    ) -> SurrogateValues:
        # A pair has the curvature p (1 - p), p its slope. A pair in the wrong order,
        # p > 1/2, passes p = 1/2 on the way to its minimum.
        return self._evaluate_pairs(v, s, lists, weights, max_slope=0.5)

    def _evaluate_pairs(self, v, s, lists, weights, max_slope):
        """Evaluate; curvatures are at min(p, max_slope) for the slope p of a pair."""
        values = np.zeros(lists.n_lists)
        gradient = np.zeros(len(s))
        curvature = np.zeros(len(s))
        for members, rows in lists.same_length:
            part = v[rows], s[rows], weights[rows]
            evaluated = self._evaluate_matrix(*part, max_slope)
            values[members] = evaluated.values
            gradient[rows] = evaluated.gradient
            curvature[rows] = evaluated.curvature
        return SurrogateValues(values, gradient, curvature)

    def _evaluate_matrix(self, v, s, weights, max_slope):
        """Evaluate lists of one length, (m, r), in parts that fit the cache."""
        value = np.zeros(len(v))
        gradient = np.zeros(v.shape)
        curvature = np.zeros(v.shape)
        # A pair is a higher item i, with a weight of its own, and any item j.
        higher = np.argwhere((v > 0) & (weights > 0))
        higher_weight = weights if self.is_of_order else weights * v
        step = max(1, 2**16 // v.shape[1])
        for start in range(0, len(higher), step):
            q, i = higher[start : start + step].T
            w_i = higher_weight[q, i]
            w_j = weights[q]
            # log(1 + exp(s_j - s_i)) and its slope p by s_j, a row for each (q, i)
            is_pair = v[q, i][:, np.newaxis] > v[q] if self.is_of_order else None
            loss, p = softplus_and_slope(s[q] - s[q, i][:, np.newaxis], i, is_pair)
            slope = p * w_j
            if max_slope < 1.0:
                np.minimum(p, max_slope, out=p)
            second = (1.0 - p) * p * w_j
            # The lists of these rows, and the sum over i of w_i times the row of i.
            lists = slice(q[0], q[-1] + 1)
            sum_over_i = sparse.csr_matrix(
                (w_i, (q - q[0], np.arange(len(q)))),
                shape=(q[-1] - q[0] + 1, len(q)),
            )
            value[lists] += sum_over_i @ np.einsum("kj,kj->k", loss, w_j)
            gradient[lists] += sum_over_i @ slope
            gradient[q, i] -= w_i * slope.sum(axis=1)
            curvature[lists] += sum_over_i @ second
            curvature[q, i] += w_i * second.sum(axis=1)
        return SurrogateValues(value, gradient, curvature)


class RankNet(PairwiseLogistic):
    """``sum over v_i > v_j of log(1 + exp(-(s_i - s_j)))``.

    It is not order-preserving; it is here for comparison.

    Examples
    --------
    The value is log 2 for any two different utilities:

    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("ranknet", [3.0, 1.0], [0.0, 0.0]).round(4)
    array([0.6931])
    """

    is_order_preserving = False
    is_proportional = False
    is_of_order = True


class PairwiseSquaredHinge(PairwiseSurrogate):
    """``sum over v_i > v_j of max(0, 1 - (s_i - s_j))**2``.

    The squared hinge of RankSVM's pairs is not order-preserving; it is here for
    comparison. The computation sorts the scores and does not form pairs.
    """

    is_order_preserving = False

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        grades = dense_grades(v, lists)
        sums = PairSums(grades, s, lists, weights=weights)
        return SurrogateValues(
            values=sums.squares,
            gradient=sums.square_slopes,
            curvature=sums.square_curvatures,
        )


# Lists ------------------------------------------------------------------------------


class CrossEntropy(Surrogate):
    """``-sum_i v_i log softmax(s)_i``; c = sqrt(2 max_{i != j} E (v_i + v_j)).

    Also known as "listnet". c is ours: the paper has no cross-entropy. With row weights
    the loss is ``-sum_i w_i v_i log p_i`` for ``p_i = w_i exp(s_i) / sum_j w_j
    exp(s_j)``. This loss is never negative and proportional to the weights. A constant
    weight within a list counts copies of the list. The utilities must not be divided by
    their sum in each list, which would change E v.
    """

    is_shift_invariant = True
    is_proportional = True
    has_tails = True

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        has_weight = weights > 0
        # z_i = s_i + log w_i, minus the largest of its list; p = exp(z) / sum exp(z)
        z = s
        if np.any(weights != 1.0):
            log_weights = np.full(len(s), -np.inf)
            np.log(weights, out=log_weights, where=has_weight)
            z = s + log_weights
        largest = _largest(z, lists)
        z = z - lists.repeat(np.where(np.isfinite(largest), largest, 0.0))
        exponentials = np.exp(z)
        total = lists.sum(exponentials)
        safe_total = np.where(total > 0, total, 1.0)
        p = exponentials / lists.repeat(safe_total)
        # V = sum_i w_i v_i; the value is V log(sum exp(z)) - sum_i w_i v_i z_i
        targets = weights * v
        target_sum = lists.sum(targets)
        products = targets * np.where(has_weight, z, 0.0)
        # V p_i - w_i v_i, and its derivative V p_i (1 - p_i)
        expected = lists.repeat(target_sum) * p
        return SurrogateValues(
            values=target_sum * np.log(safe_total) - lists.sum(products),
            gradient=expected - targets,
            curvature=expected * (1.0 - p),
        )

    def newton_values(
        self, v: Any, s: Any, lists: Any, weights: Any
    ) -> SurrogateValues:
        evaluated = self.evaluate(v, s, lists, weights)
        targets = weights * v
        target_sum = lists.repeat(lists.sum(targets))
        has_sum = target_sum > 0
        inverse_sum = np.zeros(len(target_sum))
        np.divide(1.0, target_sum, out=inverse_sum, where=has_sum)
        # The gradient is V p_i - w_i v_i; the minimum of the row has p_i = w_i v_i / V.
        p = (evaluated.gradient + targets) * inverse_sum
        variance = _largest_variance(p, targets * inverse_sum)
        return evaluated._replace(curvature=target_sum * variance)

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        # The largest E v of each list and, without its first item, the second largest.
        largest = _largest(expected, lists)
        is_largest = lists.repeat(largest) == expected
        first = np.unique(lists.index[is_largest], return_index=True)[1]
        others = expected.copy()
        others[np.flatnonzero(is_largest)[first]] = 0.0
        return np.sqrt(2.0 * (largest + _largest(others, lists)))


class BregmanSurrogate(Surrogate):
    """Bregman divergence ``B_Psi(v || g(s))`` of a separable Psi(v) = sum_i psi(v_i).

    The divergence is ``sum_i psi(v_i) - psi(g(s_i)) - s_i (v_i - g(s_i))``. The
    canonical link g is the inverse of psi'. The divergence is convex in s and has the
    derivative g(s_i) - v_i. c = 2 / sqrt(mu), the paper's.

    Parameters
    ----------
    psi : callable
        An elementwise, mu-strongly convex function.
    link : callable
        The elementwise inverse of the derivative of psi.
    mu : float, default=1.0
        Lower bound of psi'' at the utilities, > 0.

    Examples
    --------
    >>> from lowrank_rank.surrogates import BregmanSurrogate, surrogate_loss
    >>> half_square = BregmanSurrogate(psi=lambda v: v**2 / 2, link=lambda s: s)
    >>> surrogate_loss(half_square, [1.0, 0.0], [0.5, 0.0])  # (1 - .5)**2 / 2
    array([0.125])
    """

    _positive = ("mu",)

    def __init__(
        self, psi: Callable[..., Any], link: Callable[..., Any], mu: float = 1.0
    ) -> None:
        self.psi = psi
        self.link = link
        self.mu = mu

    def evaluate(self, v: Any, s: Any, lists: Any, weights: Any) -> SurrogateValues:
        g = self.link(s)
        divergence = self.psi(v) - self.psi(g) - s * (v - g)
        return SurrogateValues(
            values=lists.sum(weights * divergence),
            gradient=weights * (g - v),
            # The link g is 1/mu-Lipschitz: 1/mu bounds the curvature.
            curvature=weights / self.mu,
        )

    def bound_constant(self, expected: Any, lists: Any) -> np.ndarray:
        return np.full(lists.n_lists, 2.0 / np.sqrt(self.mu))

    def utility(self, s: Any) -> np.ndarray:
        return self.link(s)


# Elementary functions ---------------------------------------------------------------


def softplus_and_slope(z, i, is_pair=None):
    """Compute log(1 + exp(z)) and its derivative, both (k, r); z is overwritten.

    Both are 0 in column i of each row, and outside `is_pair` (k, r), if it is given.
    """
    largest = z.max()
    if largest > 600.0:  # exp(600) is finite, and its logarithm linear from there on
        tail = np.maximum(z - 600.0, 0.0)
        np.minimum(z, 600.0, out=z)
    np.exp(z, out=z)
    if is_pair is not None:
        z *= is_pair
    z[np.arange(len(z)), i] = 0.0
    loss = np.log1p(z)
    if largest > 600.0:
        loss += tail * (z > 0)
    return loss, np.divide(z, 1.0 + z, out=z)


def _largest(values, lists):
    """Find the largest value of each list."""
    return np.maximum.reduceat(values, lists.starts)


def _largest_variance(p, target):
    """Find the largest z (1 - z) over the probabilities z between p and the target."""
    z = np.clip(0.5, np.minimum(p, target), np.maximum(p, target))
    return z * (1.0 - z)


def _bounded_exp(x, largest=600.0):
    """Compute exp(x), clipped to stay finite after too long a step of a line search."""
    return np.exp(np.minimum(x, largest))


def half_square(v):
    """Compute psi of the squared Bregman divergence; infinite where it overflows."""
    with np.errstate(over="ignore"):
        return v**2 / 2.0


# Names ------------------------------------------------------------------------------

#: Surrogates by name: the class, or a function, that makes one from its parameters.
#: "ranknet" and "pairwise_squared_hinge" are not order-preserving, for comparison.
SURROGATES: Mapping[str, Callable[..., Surrogate]] = MappingProxyType(
    {
        "pointwise_squared": PointwiseSquared,
        "pointwise_logistic": PointwiseLogistic,
        "pointwise_exponential": PointwiseExponential,
        "pointwise_squared_hinge": PointwiseSquaredHinge,
        "pointwise_smooth_hinge": PointwiseSmoothHinge,
        "pairwise_squared": PairwiseSquared,
        "pairwise_logistic": PairwiseLogistic,
        "pairwise_exponential": PairwiseExponential,
        "cross_entropy": CrossEntropy,
        "bregman_squared": partial(BregmanSurrogate, half_square, np.positive),
        "ranknet": RankNet,
        "pairwise_squared_hinge": PairwiseSquaredHinge,
    }
)


_IS_SURROGATE = Rule(
    lambda value: isinstance(value, Surrogate), "an object of the class Surrogate"
)


def resolve_surrogate(surrogate: str | Surrogate) -> Surrogate:
    """Copy a surrogate, given by name or as an object."""
    if isinstance(surrogate, Surrogate):
        return clone(surrogate)
    if isinstance(surrogate, str) and surrogate == "listnet":  # its common name
        surrogate = "cross_entropy"
    if not (isinstance(surrogate, str) and surrogate in SURROGATES):
        refuse_class(surrogate, "surrogate")
        refuse(CHECKS_OF_VALUES, surrogate=surrogate)
        check_parameter("surrogate", surrogate, [*SURROGATES, _IS_SURROGATE])
    return SURROGATES[surrogate]()


def checked_values(surrogate, v, s, lists, weights):
    """Evaluate a surrogate, infinite on overflow; refuse another type or shape."""
    with np.errstate(over="ignore"):
        evaluated = surrogate.evaluate(v, s, lists, weights)
    shapes = [(lists.n_lists,), v.shape, v.shape]
    is_valid = isinstance(evaluated, SurrogateValues)
    if not is_valid or [np.shape(part) for part in evaluated] != shapes:
        raise TypeError(
            f"{shown(surrogate)}: evaluate must return SurrogateValues(values, "
            f"gradient, curvature) of shapes {', '.join(map(str, shapes))}; values "
            "belong to lists: lists.sum(...)."
        )
    return evaluated


def surrogate_for(surrogate, v):
    """Copy a surrogate, set its eta, and check it against the utilities (n,).

    A two-sided pointwise surrogate given by name, or with eta=None, has eta = 1.5 times
    the largest utility.
    """
    resolved: Any = resolve_surrogate(surrogate)
    is_named = isinstance(surrogate, str)
    if "eta" in resolved.get_params() and (is_named or resolved.eta is None):
        largest = float(v.max(initial=0.0))
        resolved.set_params(eta=1.5 * largest if largest > 0 else 1.0)
    resolved.check_utilities(v)
    return resolved


# Target losses ----------------------------------------------------------------------


def check_has_utilities(target_loss, who):
    """Refuse a target loss without utilities of documents."""
    if has_utilities(target_loss):
        return
    refuse(
        CHECKS_OF_UTILITY_LOSSES,
        who=who,
        loss=target_loss,
        has_utilities=False,
        names=names_of(has_utilities, one_each=True),
    )
