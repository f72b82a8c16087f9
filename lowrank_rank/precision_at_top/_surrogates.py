"""Surrogates of precision at k on one list, from one sort (Kar, Narasimhan & Jain 2015).

Let a_1 >= ... >= a_P be the scores of the positives, b_1 >= ... >= b_N the scores of the negatives,
and k <= P. Each surrogate is a maximum over the number d of negatives in the top k, and concave in
d. So it is a constant plus the sum of its positive increments

    ramp    1 + b_d - a_{k+1-d}
    max     1 + b_d - a_{P+1-d}
    avg     A_d - A_{d-1},  A_d = d + sum_{i<=d} b_i - d/(P-k+d) sum_{i>k-d} a_i
    struct  1 + b_d - a_{k+1-d}, and the constant -sum_{i>k} a_i

Let d* be the number of positive increments. A subgradient in the scores is +1 on the d* best
negatives and minus a weight on some positives, a range of their ranks. Scores of many lists are one
flat array. `Places` holds the indices of the negatives and positives to compare; they depend on the
lists alone.
"""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .._arrays import ArrayLike, numbers
from .._parameters import check_parameter, number


class Places:
    """The places at the top of some lists, where a negative may stand.

    Scores are one flat array: list after list, in each the positives, best first, then the
    negatives (all, or the best min(k, N)), best first.

    Parameters
    ----------
    n_positives, n_negatives, k : array-like of int, shape (m,)
        P, N and 1 <= k <= P of each list.

    Attributes
    ----------
    most : ndarray of shape (m,)
        The most negatives that can stand in each top, min(k, N).
    scale : ndarray of shape (m,)
        One over it.
    lists, d : ndarray of shape (sum of most,)
        The list of each place, and its number 1, 2, ... from the bottom of the top.
    negatives : ndarray
        Index of the d-th negative in the flat array.
    pushed_out, lowest : ndarray
        Index of the positive that it pushes out of the top, and of the d-th lowest positive.
    """

    def __init__(self, n_positives, n_negatives, k):
        self.n_positives, n_negatives, self.k = (
            np.asarray(values, dtype=np.intp) for values in (n_positives, n_negatives, k)
        )
        lengths = self.n_positives + n_negatives
        self.starts, self.n_rows = np.cumsum(lengths) - lengths, int(lengths.sum())
        self.most = np.minimum(self.k, n_negatives)
        self.scale = 1.0 / np.maximum(self.most, 1)
        self.lists = np.repeat(np.arange(len(lengths)), self.most)
        self.d = _counted(self.most) + 1
        self.pushed_out = (self.starts + self.k)[self.lists] - self.d
        end = (self.starts + self.n_positives)[self.lists]
        self.negatives, self.lowest = end + self.d - 1, end - self.d

    def count(self, mask):
        """Number of places of each list with True."""
        return self.sum(mask).astype(np.intp)

    def sum(self, values):
        """Sum over the places of each list."""
        return np.bincount(self.lists, values, minlength=len(self.most))

    def changes(self, d, raised):
        """1 on the d best negatives of each list, minus the weights of the raised positives.

        Returns
        -------
        rows, slopes, lists : ndarray of shape (n,)
            Places in the flat array, the slopes there, and their lists.
        """
        first, last, weight = raised(d, self.k, self.n_positives)
        taken = np.flatnonzero(self.d <= d.take(self.lists))
        lowered_lists, place = self.lists.take(taken), self.d.take(taken)
        place -= 1
        counts, raised_lists = last - first, lowered_lists
        if (counts != d).any():  # not a positive for each negative
            raised_lists, place = np.repeat(np.arange(len(d)), counts), _counted(counts)
        slopes = np.ones(len(taken) + len(place))
        slopes[len(taken) :] = -weight if np.ndim(weight) == 0 else -weight.take(raised_lists)
        place += (self.starts + first).take(raised_lists)
        rows = np.concatenate([self.negatives.take(taken), place])
        return rows, slopes, np.concatenate([lowered_lists, raised_lists])


def _counted(counts):
    """0, 1, ... for each count, one after the other."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


class SortedScores:
    """Scores of lists with the order that `Places` expects; evaluated only where needed.

    Parameters
    ----------
    scores : ndarray of shape (n,)
    order : ndarray of int, shape (n,)
        Index of the score at each place of the flat array.
    places : Places
    """

    def __init__(self, scores, order, places):
        self.scores, self.order, self.places = scores, order, places

    def at(self, where):
        """Scores at some places of the flat array."""
        return self.scores.take(self.order.take(where))

    @cached_property
    def leads(self):
        """Score of the d-th negative minus the score of the positive that it replaces, for each
        place.
        """
        return self.at(self.places.negatives) - self.at(self.places.pushed_out)

    @property
    def hits(self):
        """Sum over the lists of one minus the mistakes at the top over the most there can be."""
        wrong = self.places.sum(self.leads >= 0)  # of equal scores the negative counts as higher
        return float(len(wrong) - wrong @ self.places.scale)

    @cached_property
    def until(self):
        """Sums of the scores before each place of the flat array, and of all, (n + 1,)."""
        return np.concatenate([[0.0], np.cumsum(self.scores.take(self.order), dtype=np.float64)])


class PrecisionSurrogate(NamedTuple):
    """The parts of a surrogate; v are the `SortedScores` of lists.

    Attributes
    ----------
    increments : callable
        ``increments(v)``: gain of letting the d-th negative in, for each place.
    raised : callable
        ``raised(d, k, P)``: the positives that a step raises, as (first, last, weight) for each
        list. Their 0-based ranks among the positives are first <= rank < last.
    convex : bool
        In the scores.
    perceptron : callable or None
        ``raised`` of the perceptron of this name (algorithms 1 and 2), or None.
    constant : callable
        ``constant(v)``: the value at d = 0 of each list.
    """

    increments: Callable
    raised: Callable
    convex: bool
    perceptron: Callable | None = None
    constant: Callable = lambda v: 0.0


def _on_average(v):
    until, places, d = v.until, v.places, v.places.d
    end = places.negatives - d + 1
    entered = until[places.negatives + 1] - until[end]
    missed = until[end] - until[places.pushed_out]
    total = d + entered - d / ((places.n_positives - places.k)[places.lists] + d) * missed
    return total - np.where(d > 1, np.concatenate([[0.0], total[:-1]]), 0.0)


def _below_k(v):
    """Minus the sum of the scores of the positives after the first k."""
    places = v.places
    return v.until[places.starts + places.k] - v.until[places.starts + places.n_positives]


def _pushed_out(d, k, n_positives):
    return k - d, k, 1.0


def _all_missed_equally(d, k, n_positives):
    # At d = 0 nobody is raised: the weight is 0. k = P would divide 0 by 0.
    return k - d, n_positives, d / np.maximum(n_positives - k + d, 1)


#: The surrogates by name.
PRECISION_SURROGATES: dict[str, PrecisionSurrogate] = {
    "ramp": PrecisionSurrogate(lambda v: 1.0 + v.leads, _pushed_out, convex=False),
    "avg": PrecisionSurrogate(
        _on_average, _all_missed_equally, convex=True, perceptron=_all_missed_equally
    ),
    "max": PrecisionSurrogate(
        lambda v: 1.0 + v.at(v.places.negatives) - v.at(v.places.lowest),
        lambda d, k, n_positives: (n_positives - d, n_positives, 1.0),
        convex=True,
        perceptron=_pushed_out,
    ),
    "struct": PrecisionSurrogate(
        lambda v: 1.0 + v.leads,
        lambda d, k, n_positives: (k - d, n_positives, 1.0),
        convex=True,
        constant=_below_k,
    ),
}


def violations(surrogate, v):
    """d*, the number of negatives that a subgradient step lowers, per list."""
    return v.places.count(surrogate.increments(v) > 0)


def surrogate_values(surrogate, v):
    """The surrogate of each list."""
    return surrogate.constant(v) + v.places.sum(np.maximum(surrogate.increments(v), 0.0))


def precision_surrogate(
    y: ArrayLike, scores: ArrayLike, k: int, *, surrogate: str = "ramp"
) -> tuple[float, np.ndarray]:
    """Value and subgradient of a surrogate of the number of negatives in the top k.

    ``prec@k loss <= ramp <= avg <= max``, all equal at k = P; struct is neither above the
    loss nor consistent with it. avg, max and struct are convex. ramp, avg and max are 0 if k
    positives (ramp), every P - k + 1 positives on average (avg), all positives (max) beat
    every negative by 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1 of one list, P of them 1.
    scores : array-like of shape (n,)
        Higher is better.
    k : int
        Places at the top, 1 <= k <= P.
    surrogate : {"ramp", "avg", "max", "struct"}, default="ramp"
        Name of the surrogate.

    Returns
    -------
    value : float
        In numbers of negatives, lower is better; >= 0 but for struct.
    subgradient : ndarray of shape (n,)
        In the scores.

    Raises
    ------
    ValueError
        If k does not lie in 1..P, y is not 0 and 1, scores are not finite or the name is unknown.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision at the
       Top", ICML 2015, section 3 and algorithm 4.

    Examples
    --------
    One negative stands above the only positive; letting it in gains 1 + 2 - 1:

    >>> from lowrank_rank.surrogates import precision_surrogate
    >>> value, subgradient = precision_surrogate([1, 0, 0], [1.0, 2.0, -3.0], k=1)
    >>> value, subgradient.tolist()
    (2.0, [-1.0, 1.0, 0.0])
    """
    check_parameter("surrogate", surrogate, [*PRECISION_SURROGATES])
    form = PRECISION_SURROGATES[surrogate]
    positives, negatives, k = rows_by_class(y, scores, k)
    order, scores = np.concatenate([positives, negatives]), np.asarray(scores, dtype=np.float64)
    v = SortedScores(scores, order, Places([len(positives)], [len(negatives)], [k]))
    places, slopes, _ = v.places.changes(violations(form, v), form.raised)
    slope = np.zeros(len(order))
    slope[order[places]] = slopes
    return float(surrogate_values(form, v)[0]), slope


def rows_by_class(y, scores, k):
    """Rows of the positives and of the negatives of one list, best first, and k; checked."""
    y, scores = numbers(y, "y"), numbers(scores, "scores")
    if y.ndim != 1 or y.shape != scores.shape:
        raise ValueError(
            f"y and scores must be of one list, got the shapes {y.shape} and {scores.shape}."
        )
    if not np.all((y == 0) | (y == 1)):
        raise ValueError("y must hold the labels 0 and 1.")
    if not np.all(np.isfinite(scores)):
        raise ValueError("scores must be finite numbers.")
    check_parameter("k", k, [number()])
    order = np.argsort(-scores, kind="stable")
    positives, negatives = order[y[order] == 1], order[y[order] == 0]
    if not 1 <= k <= len(positives) or k != int(k):
        raise ValueError(
            f"k must be a whole number from 1 to the number of positives, {len(positives)}; got "
            f"{k}."
        )
    return positives, negatives, int(k)


# Margins and mistake bounds -----------------------------------------------------------


class PrecisionMargins(NamedTuple):
    """Margins of one scored list at k; see `precision_margins`."""

    weak: float
    average: float
    strong: float


def precision_margins(y: ArrayLike, scores: ArrayLike, k: int) -> PrecisionMargins:
    """Margins of the positives over the best negative, in the three senses of precision at k.

    With positive scores ``a_1 >= ... >= a_P`` and the best negative score b:

    * weak: ``a_k - b``, some k positives beat every negative;
    * average: ``mean(a_k, ..., a_P) - b``, every P - k + 1 positives do so on average;
    * strong: ``a_P - b``, every positive does.

    The surrogates "ramp", "avg" and "max" are 0 if and only if the weak, the average and the
    strong margin are at least 1.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1, P of them 1.
    scores : array-like of shape (n,)
        Higher is better.
    k : int
        1 <= k <= P.

    Returns
    -------
    PrecisionMargins
        See `PrecisionMargins`: weak >= average >= strong, in units of the scores; infinite without
        negatives.

    Raises
    ------
    ValueError
        If k does not lie in 1..P, y is not 0 and 1 or scores are not finite.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision at the
       Top", ICML 2015, definitions 2, 5 and 4.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_margins
    >>> precision_margins([1, 1, 1, 0], [4.0, 2.0, 1.0, 0.5], k=2)
    PrecisionMargins(weak=1.5, average=1.0, strong=0.5)
    """
    scores = np.asarray(scores, dtype=np.float64)
    positives, negatives, k = rows_by_class(y, scores, k)
    above, best = scores[positives], scores[negatives].max(initial=-np.inf)
    return PrecisionMargins(
        float(above[k - 1] - best), float(above[k - 1 :].mean() - best), float(above[-1] - best)
    )


def precision_mistake_bound(
    k: float, radius: float, norm: float, surrogate_loss: float = 0.0
) -> float:
    """Upper bound on the mistakes of the perceptrons over a stream of mini-batches.

    ``(norm * radius * sqrt(4 k) + sqrt(surrogate_loss))**2``, for any weights w of that norm.
    ``k=1/2`` bounds the updates of the batch perceptron of classes, ``StructuredHingeClassifier(
    solver="perceptron")``: ``2 (norm * radius)**2`` for weights that give every row a margin of
    at least 1 over the other classes (theorem 17.5 of [2]_).

    Parameters
    ----------
    k : float
        Number of places at the top of each mini-batch, at most its number of positives.
    radius : float
        Largest norm of a row.
    norm : float
        Norm of w. If w of norm 1 has the margin gamma > 0 in every batch, ``norm = 1 / gamma``
        without a surrogate loss gives the bound ``4 k radius**2 / gamma**2``. The margin is the
        average margin of `precision_margins` for Perceptron@k-avg (corollary 8) and the strong
        margin for Perceptron@k-max (corollary 10).
    surrogate_loss : float, default=0.0
        Sum over the batches of the surrogate of the scores X w: "avg" for Perceptron@k-avg
        (theorem 7), "max" for Perceptron@k-max (theorem 9).

    Returns
    -------
    float
        Bound on the sum over the batches of the number of negatives in the top k.

    Raises
    ------
    ValueError
        If an argument is negative.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, ICML 2015, theorems 7 and 9,
       corollaries 8 and 10.
    .. [2] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, theorem 17.5 and exercise 2 of chapter 17.

    Examples
    --------
    >>> from lowrank_rank.calibration import precision_mistake_bound
    >>> round(precision_mistake_bound(k=2, radius=1.0, norm=1 / 0.5))  # 4 * 2 * 1 / 0.25
    32
    """
    values = {"k": k, "radius": radius, "norm": norm, "surrogate_loss": surrogate_loss}
    for name, value in values.items():
        if not value >= 0:
            raise ValueError(f"{name} must be a number >= 0, got {value!r}.")
    return float((norm * radius * np.sqrt(4.0 * k) + np.sqrt(surrogate_loss)) ** 2)
