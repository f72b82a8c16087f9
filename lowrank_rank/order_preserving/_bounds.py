"""Surrogates at given scores: values, regret bounds and their constants, counter-examples."""

from numbers import Integral
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_random_state

from .._arrays import ArrayLike, check_finite, numbers
from .._labels import check_judged, lists_of, read_labels, read_weights, split_target
from .._lists import RankingLists
from ..target_losses import PositionalLoss, names_of, resolve_target_loss
from ._surrogates import LARGEST_SCORE, resolve_surrogate

if TYPE_CHECKING:
    from ._surrogates import Surrogate

_LARGEST = 0.75  # utility in the random distributions


def surrogate_loss(
    surrogate: "str | Surrogate",
    v: Any,
    s: Any,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Value of a surrogate at scores s and utilities v, for each list.

    Parameters
    ----------
    surrogate : str or Surrogate
    v, s : array-like of shape (n_rows,) or (n_lists, r)
        Utilities >= 0 and scores.
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of the rows; None is one list.
    sample_weight : array-like of the shape of v, or None, default=None

    Returns
    -------
    ndarray of shape (n_lists,)
        In order of first appearance.

    Raises
    ------
    ValueError
        If shapes differ, numbers are not finite, nothing has a weight, a matrix comes with a qid,
        or the surrogate cannot take the utilities.

    Examples
    --------
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("pairwise_squared", [[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    array([2.])
    """
    surrogate = resolve_surrogate(surrogate)
    v, qid = split_target(v, qid)
    v, s = read_labels(v, "v"), read_labels(s, "s")
    weights = np.ones(v.shape) if sample_weight is None else numbers(sample_weight, "sample_weight")
    if v.shape != s.shape or v.shape != weights.shape or v.ndim > 2:
        raise ValueError(
            f"v, s and sample_weight must have one shape, (n_rows,) or (n_lists, r), got "
            f"{v.shape}, {s.shape} and {weights.shape}."
        )
    for name, values in (("v", v), ("s", s)):
        check_judged(values, False, who="a surrogate", name=name)
        check_finite(values, name, LARGEST_SCORE)
    lists = lists_of(v, qid, "v")
    weights = read_weights(weights.ravel(), v.size)
    surrogate.check_utilities(v)
    v, s, weights = (lists.group(array.ravel()) for array in (v, s, weights))
    return surrogate.evaluate(v, s, lists, weights).values


def regret_bound(
    surrogate: "str | Surrogate", expected: ArrayLike, measure: Any, surrogate_regret: ArrayLike
) -> np.ndarray:
    """Largest regret of a measure that a regret of the surrogate allows, list by list.

    ``c * C_phi(2) * sqrt(surrogate_regret)``, inequality (9) of [1]_, for the scores of any model.
    The surrogates say whether their c is from table 2, sharper, corrected or ours.

    Parameters
    ----------
    surrogate : str or Surrogate
        With ``has_bound``.
    expected : array-like of shape (n, r)
        Expected utilities E v of each list.
    measure : str, PositionalLoss or array-like of shape (r,)
        As in `C_phi`.
    surrogate_regret : array-like of shape (n,)
        Expected surrogate loss of the scores minus the least one, >= 0.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the surrogate has no bound or cannot take the utilities, or shapes differ.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93, 2013.

    Examples
    --------
    Utilities .7 and .3, scores 0 and 0: the squared loss could be .58 less.

    >>> from lowrank_rank.calibration import regret_bound
    >>> regret_bound("pointwise_squared", [[0.7, 0.3]], [1.0, 0.0], [0.58]).round(3)
    array([1.077])
    """
    expected = np.asarray(expected, dtype=np.float64)
    regret = np.asarray(surrogate_regret, dtype=np.float64)
    if expected.ndim != 2 or regret.shape != (len(expected),):
        raise ValueError(
            f"expected must be (n, r) and surrogate_regret (n,), got {expected.shape} and "
            f"{regret.shape}."
        )
    surrogate = resolve_surrogate(surrogate)
    if not surrogate.has_bound:
        raise ValueError(
            f"{surrogate!r} has no regret bound: it is not order-preserving, or defines no "
            "bound_constant."
        )
    surrogate.check_utilities(expected)
    c = surrogate.bound_constant(expected.ravel(), RankingLists.equal(*expected.shape))
    return c * C_phi(measure, expected.shape[1]) * np.sqrt(np.maximum(regret, 0.0))


class OrderCheck(NamedTuple):
    """Outcome of `is_order_preserving`; true if no counter-example was found.

    Attributes
    ----------
    holds : bool
    utilities : ndarray of shape (n_labels, r) or None
        Utilities of the counter-example, as the other fields.
    probabilities : ndarray of shape (n_labels,) or None
    expected : ndarray of shape (r,) or None
        E v.
    scores : ndarray of shape (r,) or None
        Minimiser of the expected surrogate, which orders otherwise.
    """

    holds: bool
    utilities: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    expected: np.ndarray | None = None
    scores: np.ndarray | None = None

    def __bool__(self):
        return self.holds


def is_order_preserving(
    surrogate: "str | Surrogate",
    *,
    n_items: int = 3,
    n_labels: int = 3,
    n_distributions: int = 50,
    margin: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> OrderCheck:
    """Look for a distribution whose expected surrogate is minimal in a wrong order.

    Random utilities in [0, 1) and probabilities are drawn, the expected surrogate is minimised
    numerically, and its scores are compared with E v.

    Parameters
    ----------
    surrogate : str or Surrogate
    n_items, n_labels, n_distributions : int
        Size of the lists and of the supports, and how many distributions are tried.
    margin : float, default=0.05
        Differences of E v below it are passed over.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    OrderCheck
        With the counter-example, if there is one. No counter-example is no proof.

    Examples
    --------
    >>> from lowrank_rank.calibration import is_order_preserving
    >>> bool(is_order_preserving("cross_entropy", random_state=0))
    True
    >>> bool(is_order_preserving("ranknet", random_state=0))
    False
    """
    surrogate, rng = resolve_surrogate(surrogate), check_random_state(random_state)
    surrogate.check_utilities(np.array([_LARGEST]))
    for _ in range(n_distributions):
        utilities = np.floor(4.0 * rng.uniform(size=(n_labels, n_items)) ** 2) / 3.0 * _LARGEST
        utilities[0] = np.maximum(utilities[0], 0.05)  # E v > 0: the minimiser is finite
        probabilities = rng.dirichlet(np.ones(n_labels))
        expected = probabilities @ utilities
        scores = population_minimiser(surrogate, utilities, probabilities)
        higher = expected[:, np.newaxis] > expected + margin
        if np.any(higher & (scores[:, np.newaxis] < scores - 1e-3)):
            return OrderCheck(False, utilities, probabilities, expected, scores)
    return OrderCheck(True)


def population_minimiser(surrogate, utilities, probabilities):
    """Scores (r,) at which the expected surrogate of a finite distribution is least."""
    n_labels, r = utilities.shape
    lists, ones = RankingLists.equal(n_labels, r), np.ones(n_labels * r)

    def risk(s):
        found = surrogate.evaluate(utilities.ravel(), np.tile(s, n_labels), lists, ones)
        gradient = probabilities @ found.gradient.reshape(n_labels, r)
        return probabilities @ found.values, gradient

    return minimize(
        risk, np.zeros(r), jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-16}
    ).x


# The constant of the measure ----------------------------------------------------------


def positional_loss(target_loss):
    """The positional loss that a name or an object stands for; refuses the others."""
    loss = resolve_target_loss(target_loss)
    if not isinstance(loss, PositionalLoss):
        raise ValueError(
            "Order-preserving surrogates and their bounds need a positional measure, which "
            f"{loss!r} is not: take one of "
            f"{names_of(lambda one: one.is_positional, one_each=True)}. "
            "LowRankSurrogateRanker takes the other target losses."
        )
    return loss


def C_phi(measure: Any, n_items: int | None = None, *, p: float = 2.0) -> float:
    """The constant of a positional measure in the regret bound of a surrogate.

    ``C_phi(p) = (sum_{i=1..floor(r/2)} (phi(i) - phi(r - i + 1))**p)**(1/p)``, phi the discount;
    p = 2 in the bound (9) of [1]_.

    Parameters
    ----------
    measure : str, PositionalLoss or array-like of shape (r,)
        A positional measure, or its discounts phi(1) >= ... >= phi(r).
    n_items : int or None, default=None
        The number r of items, for a measure.
    p : float, default=2.0

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If discounts increase, or a measure comes without `n_items`.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank.calibration import C_phi
    >>> C_phi([1.0, 0.5, 0.25])  # 1 - 0.25
    0.75
    >>> C_phi("precision@1", n_items=4)
    1.0
    """
    if isinstance(measure, str) or hasattr(measure, "rank_features"):
        if n_items is None:
            raise ValueError("C_phi of a measure needs the number of items, n_items=r.")
        if not isinstance(n_items, Integral) or n_items < 1:
            raise ValueError(f"n_items must be an integer >= 1, got {n_items!r}.")
        phi = -positional_loss(measure).rank_features(np.arange(1, n_items + 1)[np.newaxis])[0]
    else:
        phi = np.asarray(measure, dtype=np.float64)
    if not p > 0:
        raise ValueError(f"p must be a number > 0, got {p!r}.")
    if phi.ndim != 1 or np.any(np.diff(phi) > 1e-12):
        raise ValueError("Discounts phi(1..r) must be one row that does not increase.")
    half = len(phi) // 2
    return float(((phi[:half] - phi[::-1][:half]) ** p).sum() ** (1.0 / p))
