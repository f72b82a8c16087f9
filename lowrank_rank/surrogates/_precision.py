"""Surrogates of precision at k on one list, from one sort (Kar, Narasimhan & Jain 2015).

With positive scores a_1 >= ... >= a_P, negative scores b_1 >= ... >= b_N and k <= P, each
surrogate is a concave maximum over the number d of negatives that are let into the top k,
so it is a constant plus the sum of its positive increments

    ramp    1 + b_d - a_{k+1-d}
    max     1 + b_d - a_{P+1-d}
    avg     A_d - A_{d-1},  A_d = d + sum_{i<=d} b_i - d/(P-k+d) sum_{i>k-d} a_i
    struct  those of ramp, on top of the constant -sum_{i>k} a_i

and d* is their number. A subgradient in the scores is +1 on the d* best negatives and
minus a weight on some positives, those ranked from `raised.first` on. Arrays hold scores
in their last axis, so that several lists with equal P are one call.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class PrecisionSurrogate(NamedTuple):
    """The parts of a surrogate; a, b are sorted scores, the best min(k, N) of the negatives.

    Attributes
    ----------
    increments : callable
        ``increments(a, b, k)``: gain of letting the d-th negative in, d = 1, 2, ...
    raised : callable
        ``raised(d, k, P)``: the positives that a step raises, as (first, last, weight): those at
        the 0-based ranks first <= rank < last among the positives.
    constant : callable
        ``constant(a, k)``: the value at d = 0.
    convex : bool
        In the scores.
    perceptron : callable or None
        ``raised`` of the perceptron of this name (algorithms 1 and 2), None where there is none.
    """

    increments: Callable
    raised: Callable
    constant: Callable
    convex: bool
    perceptron: Callable | None = None


def _to_the_top(a, b, k):
    """1 + b_d - a_{k+1-d}: the d-th negative against the positive that it pushes out."""
    d = b.shape[-1]
    return 1.0 + b - a[..., k - d : k][..., ::-1]


def _to_the_bottom(a, b, k):
    d = b.shape[-1]
    return 1.0 + b - a[..., a.shape[-1] - d :][..., ::-1]


def _on_average(a, b, k):
    n_positives, most = a.shape[-1], b.shape[-1]
    d = np.arange(1, most + 1, dtype=a.dtype)
    below = np.cumsum(a[..., ::-1], axis=-1)[..., ::-1]  # below[i] = sum of a[i:]
    missed = below[..., k - most : k][..., ::-1]
    total = d + np.cumsum(b, axis=-1) - d / (n_positives - k + d) * missed
    return np.diff(total, axis=-1, prepend=a.dtype.type(0))


def _nothing(a, k):
    return 0.0


def _those_below_k(a, k):
    return -np.sum(a[..., k:], axis=-1)


def _pushed_out(d, k, n_positives):
    return k - d, k, 1.0


def _lowest(d, k, n_positives):
    return n_positives - d, n_positives, 1.0


def _all_missed(d, k, n_positives):
    return k - d, n_positives, 1.0


def _all_missed_shared(d, k, n_positives):
    # At d = 0 nobody is raised, whatever the weight; k = P would divide 0 by 0.
    return k - d, n_positives, d / np.maximum(n_positives - k + d, 1)


#: The surrogates by name.
PRECISION_SURROGATES: dict[str, PrecisionSurrogate] = {
    "ramp": PrecisionSurrogate(_to_the_top, _pushed_out, _nothing, convex=False),
    "avg": PrecisionSurrogate(
        _on_average, _all_missed_shared, _nothing, convex=True, perceptron=_all_missed_shared
    ),
    "max": PrecisionSurrogate(
        _to_the_bottom, _lowest, _nothing, convex=True, perceptron=_pushed_out
    ),
    "struct": PrecisionSurrogate(_to_the_top, _all_missed, _those_below_k, convex=True),
}


def violations(surrogate, a, b, k):
    """d*, the number of negatives that a subgradient step lowers, per list."""
    return _count(surrogate.increments(a, b, k) > 0)


def mistakes(a, b, k):
    """Negatives in the top k, per list; of equal scores the negative counts as higher."""
    return _count(b >= a[..., k - b.shape[-1] : k][..., ::-1])


def _count(mask):
    """Number of True in the last axis; numpy counts a single axis faster without naming it."""
    return np.count_nonzero(mask) if mask.ndim == 1 else np.count_nonzero(mask, axis=-1)


def weights_on_positives(raised, d, k, n_positives):
    """Weight of each positive, by rank, that a step with d negatives raises."""
    first, last, weight = raised(d, k, n_positives)
    if np.ndim(d) == 0:
        weights = np.zeros(n_positives)
        weights[first:last] = weight
        return weights
    rank = np.arange(n_positives)
    first, last, weight = (np.expand_dims(part, -1) for part in (first, last, weight))
    return np.where((first <= rank) & (rank < last), weight, 0.0)


def precision_surrogate(y, scores, k, *, surrogate="ramp"):
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
    form = _known(surrogate)
    positives, negatives, k = rows_by_class(y, scores, k)
    a, b = (np.asarray(scores, dtype=np.float64)[rows] for rows in (positives, negatives[:k]))
    increments = form.increments(a, b, k)
    value = form.constant(a, k) + np.sum(increments, where=increments > 0)
    d = violations(form, a, b, k)
    return float(value), _assemble(len(y), form.raised, d, k, positives, negatives)


def perceptron_step(y, scores, k, *, surrogate="avg"):
    """What one perceptron update adds to the weights, as a coefficient for each row.

    With D negatives in the top k: -1 on these negatives; for avg D / F on each of the F
    positives outside the top k, for max 1 on the D best-scored of them. Nothing if D = 0.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels 0 and 1 of one mini-batch, P of them 1.
    scores : array-like of shape (n,)
        Of equal scores the negative counts as higher.
    k : int
        1 <= k <= P.
    surrogate : {"avg", "max"}, default="avg"
        Algorithm 1 or algorithm 2.

    Returns
    -------
    ndarray of shape (n,)
        c in ``w <- w + X.T @ c``.

    Raises
    ------
    ValueError
        As `precision_surrogate`, and for surrogates that have no perceptron.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, ICML 2015, algorithms 1 and 2.

    Examples
    --------
    >>> from lowrank_rank.surrogates import perceptron_step
    >>> perceptron_step([1, 1, 0, 0], [1.0, 0.0, 2.0, -3.0], k=1).tolist()
    [0.5, 0.5, -1.0, 0.0]
    >>> perceptron_step([1, 1, 0, 0], [1.0, 0.0, 2.0, -3.0], k=1, surrogate="max").tolist()
    [1.0, 0.0, -1.0, 0.0]
    """
    form = _known(surrogate)
    if form.perceptron is None:
        known = [name for name, form in PRECISION_SURROGATES.items() if form.perceptron]
        raise ValueError(f"There is no perceptron on {surrogate!r}: take one of {sorted(known)}.")
    positives, negatives, k = rows_by_class(y, scores, k)
    a, b = (np.asarray(scores, dtype=np.float64)[rows] for rows in (positives, negatives[:k]))
    wrong = mistakes(a, b, k)
    return 0.0 - _assemble(len(y), form.perceptron, wrong, k, positives, negatives)


def _known(name):
    if name not in PRECISION_SURROGATES:
        raise ValueError(f"surrogate must be one of {sorted(PRECISION_SURROGATES)}, got {name!r}.")
    return PRECISION_SURROGATES[name]


def rows_by_class(y, scores, k):
    """Rows of the positives and of the negatives of one list, best first, and k; checked."""
    y, scores = np.asarray(y), np.asarray(scores, dtype=np.float64)
    if y.ndim != 1 or y.shape != scores.shape:
        raise ValueError(
            f"y and scores must be of one list, got the shapes {y.shape} and {scores.shape}."
        )
    if not np.all((y == 0) | (y == 1)):
        raise ValueError("y must hold the labels 0 and 1.")
    if not np.all(np.isfinite(scores)):
        raise ValueError("scores must be finite numbers.")
    order = np.argsort(-scores, kind="stable")
    positives, negatives = order[y[order] == 1], order[y[order] == 0]
    if not 1 <= k <= len(positives) or k != int(k):
        raise ValueError(
            f"k must be a whole number from 1 to the number of positives, {len(positives)}; got "
            f"{k}."
        )
    return positives, negatives, int(k)


def scores_by_class(y, scores, k):
    """Scores of the positives and of the negatives of one list, in descending order, and k."""
    scores = np.asarray(scores, dtype=np.float64)
    positives, negatives, k = rows_by_class(y, scores, k)
    return scores[positives], scores[negatives], k


def _assemble(n_rows, raised, d, k, positives, negatives):
    coefficients = np.zeros(n_rows)
    coefficients[negatives[:d]] = 1.0
    coefficients[positives] = 0.0 - weights_on_positives(raised, d, k, len(positives))
    return coefficients
