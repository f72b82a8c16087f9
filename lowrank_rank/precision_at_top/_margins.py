"""Margins of precision at the top, and the perceptrons' mistake bound."""

from typing import NamedTuple

import numpy as np

from .._arrays import ArrayLike
from ._surrogates import scores_by_class


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
        weak >= average >= strong, in units of the scores; infinite without negatives.

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
    above, below, k = scores_by_class(y, scores, k)
    best = below[0] if len(below) else -np.inf
    return PrecisionMargins(
        float(above[k - 1] - best), float(above[k - 1 :].mean() - best), float(above[-1] - best)
    )


def precision_mistake_bound(
    k: int, radius: float, norm: float, surrogate_loss: float = 0.0
) -> float:
    """Upper bound on the mistakes of the perceptrons over a stream of mini-batches.

    ``(norm * radius * sqrt(4 k) + sqrt(surrogate_loss))**2``, for any weights w of that norm.

    Parameters
    ----------
    k : int
        Places at the top of each mini-batch, at most its number of positives.
    radius : float
        Largest norm of a row.
    norm : float
        Norm of w. If w of norm 1 has the margin gamma > 0 in every batch, take
        ``norm = 1 / gamma`` and no surrogate loss: the bound is then
        ``4 k radius**2 / gamma**2``. This is the average margin of `precision_margins` for
        Perceptron@k-avg (corollary 8) and the strong one for Perceptron@k-max (corollary 10).
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
