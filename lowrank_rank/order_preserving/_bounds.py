"""Values of surrogates, regret bounds, and a search for counter-examples."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from ..fitting._linear_problem import lbfgs
from ..lists._lists import RankingLists
from ..target_losses._names import names_of, resolve_target_loss
from ..target_losses._positional import falls_of_discounts
from ..validation._arrays import (
    ArrayLike,
    check_finite,
    check_same_labels,
    check_same_shape,
    numbers,
)
from ..validation._check import refuse
from ..validation._checks_of_surrogates import CHECKS_OF_DISCOUNTS, CHECKS_OF_REGRET
from ..validation._kinds import arrive
from ..validation._labels import (
    check_judged,
    lists_of,
    read_labels,
    read_weights,
    split_target,
)
from ..validation._parameters import check_parameter, checked, count, number
from ._surrogates import (
    LARGEST_SCORE,
    Surrogate,
    resolve_surrogate,
)


def surrogate_loss(
    surrogate: str | Surrogate,
    v: Any,
    s: Any,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> np.ndarray:
    """Compute a surrogate at scores s and utilities v, for each list.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of `lowrank_rank.surrogates.SURROGATES`, or an object.
    v, s : array-like of shape (n_rows,) or (n_lists, r)
        Utilities >= 0 and scores.
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of the rows; None is one list.
    sample_weight : array-like of the shape of v, or None, default=None
        Importance of each item.

    Returns
    -------
    ndarray of shape (n_lists,)
        In order of first appearance.

    Raises
    ------
    ValueError
        If shapes differ, numbers are not finite, nothing has a weight, a matrix comes
        with a qid, or the surrogate cannot take the utilities.
    TypeError
        If `surrogate` is neither a name nor a `Surrogate`.

    Examples
    --------
    >>> from lowrank_rank.surrogates import surrogate_loss
    >>> surrogate_loss("pairwise_squared", [[1.0, 0.0, 0.0]], [[0.0, 0.0, 0.0]])
    array([2.])
    """
    arrive(v=v, s=s, qid=qid, sample_weight=sample_weight)
    surrogate = resolve_surrogate(surrogate)
    check_same_labels(v=v, s=s, qid=qid, sample_weight=sample_weight)
    v, qid = split_target(v, qid)
    v = read_labels(v, "v")
    s = read_labels(s, "s")
    if sample_weight is None:
        sample_weight = np.ones(v.shape)
    weights = numbers(sample_weight, "sample_weight")
    check_same_shape(2, v=v, s=s, sample_weight=weights)
    for name, values in (("v", v), ("s", s)):
        check_judged(values, False, who="a surrogate", name=name)
        check_finite(values, name, LARGEST_SCORE)
    lists = lists_of(v, qid, "v")
    weights = read_weights(weights.ravel(), v.size)
    surrogate.check_utilities(v)
    evaluated = surrogate.evaluate(
        lists.group(v.ravel()),
        lists.group(s.ravel()),
        lists,
        lists.group(weights),
    )
    return evaluated.values


def C_phi(measure: Any, n_items: int | None = None, *, p: float = 2.0) -> float:
    """Compute C_phi(p) of a positional measure, or of its discounts.

    See `PositionalLoss.C_phi`.
    """
    if isinstance(measure, str) or hasattr(measure, "rank_features"):
        loss: Any = resolve_target_loss(measure)
        if not loss.is_positional:
            names = names_of(lambda loss: loss.is_positional, one_each=True)
            refuse(CHECKS_OF_DISCOUNTS, loss=loss, names=names)
        return loss.C_phi(n_items, p=p)
    phi = check_finite(numbers(measure, "measure"), "measure")
    check_parameter("p", p, [number(above=0)])
    refuse(CHECKS_OF_DISCOUNTS, phi=phi)
    return falls_of_discounts(phi, p)


def regret_bound(
    surrogate: str | Surrogate,
    expected: ArrayLike,
    measure: Any,
    surrogate_regret: ArrayLike,
) -> np.ndarray:
    """Bound the regret of a measure by the regret of a surrogate, for each list.

    The bound is ``c * C_phi(2) * sqrt(surrogate_regret)``, inequality (9) of [1]_, for
    the scores of any model. The docstring of each surrogate gives c, and the source of
    c. C_phi(2) is ``measure.C_phi(r)`` of a positional measure.

    Parameters
    ----------
    surrogate : str or Surrogate
        A surrogate with ``has_bound``.
    expected : array-like of shape (n, r)
        Expected utilities E v of each list.
    measure : str, PositionalLoss or array-like of shape (r,)
        A positional measure, or its discounts phi(1) >= ... >= phi(r).
    surrogate_regret : array-like of shape (n,)
        Expected surrogate loss of the scores minus the least one, >= 0.

    Returns
    -------
    ndarray of shape (n,)
        Upper bound of the regret of the measure, >= 0.

    Raises
    ------
    ValueError
        If the surrogate has no bound or cannot take the utilities, a number is negative
        or not finite, or shapes differ.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93,
       2013.

    Examples
    --------
    Utilities .7 and .3, scores 0 and 0: the squared loss could be .58 less.

    >>> from lowrank_rank.calibration import regret_bound
    >>> regret_bound("pointwise_squared", [[0.7, 0.3]], [1.0, 0.0], [0.58]).round(3)
    array([1.077])
    """
    arrive(expected=expected, measure=measure, surrogate_regret=surrogate_regret)
    expected = check_finite(numbers(expected, "expected"), "expected", LARGEST_SCORE)
    regret = check_finite(
        numbers(surrogate_regret, "surrogate_regret"), "surrogate_regret"
    )
    surrogate = resolve_surrogate(surrogate)
    refuse(CHECKS_OF_REGRET, expected=expected, regret=regret, surrogate=surrogate)
    surrogate.check_utilities(expected)
    lists = RankingLists.equal(*expected.shape)
    c = surrogate.bound_constant(expected.ravel(), lists)
    of_measure = C_phi(measure, expected.shape[1])
    return c * of_measure * np.sqrt(np.maximum(regret, 0.0))


class OrderCheck(NamedTuple):
    """Result of `is_order_preserving`; true if the search found no counter-example.

    Attributes
    ----------
    holds : bool
        Whether the search found no counter-example.
    utilities : ndarray of shape (n_labels, r) or None
        Utilities of the counter-example. Without a counter-example, all fields except
        ``holds`` are None.
    probabilities : ndarray of shape (n_labels,) or None
    expected : ndarray of shape (r,) or None
        E v.
    scores : ndarray of shape (r,) or None
        Minimiser of the expected surrogate; it orders the items differently from E v.
    """

    holds: bool
    utilities: np.ndarray | None = None
    probabilities: np.ndarray | None = None
    expected: np.ndarray | None = None
    scores: np.ndarray | None = None

    def __bool__(self) -> bool:
        return self.holds


@checked(
    n_items=[count(2)],
    n_labels=[count()],
    n_distributions=[count()],
    # Utilities up to 0.75 are drawn.
    margin=[number(0, below=0.75)],
)
def is_order_preserving(
    surrogate: str | Surrogate,
    *,
    n_items: int = 3,
    n_labels: int = 3,
    n_distributions: int = 50,
    margin: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> OrderCheck:
    """Search for a distribution of labels for which the minimiser has a wrong order.

    The search draws utilities and probabilities, minimises the expected surrogate
    numerically, and looks for two items that the minimiser orders against E v. Ties are
    not reported.

    Parameters
    ----------
    surrogate : str or Surrogate
        A name of `lowrank_rank.surrogates.SURROGATES`, or an object.
    n_items, n_labels, n_distributions : int
        Length of the lists (at least 2), number of labels in a distribution, and number
        of distributions.
    margin : float, default=0.05
        Smallest difference of E v between two items that are compared, in [0, 0.75):
        utilities are drawn from 0, 0.25, 0.5 and 0.75; those of the first label are at
        least 0.05.
    random_state : int, RandomState instance or None, default=None
        Draws the distributions.

    Returns
    -------
    OrderCheck
        See `OrderCheck`: the counter-example, if the search finds one. A search without
        result is not a proof.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from lowrank_rank.calibration import is_order_preserving
    >>> bool(is_order_preserving("cross_entropy", random_state=0))
    True
    >>> bool(is_order_preserving("ranknet", random_state=0))
    False
    """
    surrogate = resolve_surrogate(surrogate)
    surrogate.check_utilities(np.array([0.75]))
    rng = check_random_state(random_state)
    for _ in range(n_distributions):
        utilities = np.floor(4.0 * rng.uniform(size=(n_labels, n_items)) ** 2) / 4.0
        # E v > 0 makes the minimiser finite.
        utilities[0] = np.maximum(utilities[0], 0.05)
        probabilities = rng.dirichlet(np.ones(n_labels))
        expected = probabilities @ utilities
        scores = population_minimiser(surrogate, utilities, probabilities)
        is_better = expected[:, np.newaxis] > expected + margin
        is_below = scores[:, np.newaxis] < scores - 1e-3
        if np.any(is_better & is_below):
            return OrderCheck(
                holds=False,
                utilities=utilities,
                probabilities=probabilities,
                expected=expected,
                scores=scores,
            )
    return OrderCheck(holds=True)


def population_minimiser(surrogate, utilities, probabilities):
    """Minimise the expected surrogate of a finite distribution over scores (r,)."""
    n_labels, r = utilities.shape
    lists = RankingLists.equal(n_labels, r)
    ones = np.ones(n_labels * r)

    def risk(s):
        every_s = np.tile(s, n_labels)
        evaluated = surrogate.evaluate(utilities.ravel(), every_s, lists, ones)
        gradient = probabilities @ evaluated.gradient.reshape(n_labels, r)
        return probabilities @ evaluated.values, gradient

    scores, *_ = lbfgs(risk, np.zeros(r), tol=1e-10, max_iter=1000)
    return scores
