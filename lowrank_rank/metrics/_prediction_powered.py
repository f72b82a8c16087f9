"""Means of a few human labels and many labels of a judge: prediction-powered inference."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._arrays import ArrayLike, check_finite, check_same_index, numbers
from .._parameters import check_parameter, number
from .._tables import TableMixin


@dataclass(frozen=True, eq=False, repr=False)
class PredictionPoweredMean(TableMixin):
    """A mean with its interval; returned by `prediction_powered_mean`.

    Attributes
    ----------
    mean : float or ndarray of shape (k,)
        Estimated mean of the human values.
    standard_error : float or ndarray of shape (k,)
    interval : ndarray of shape (2,) or (k, 2)
        Confidence interval.
    p_value : float or ndarray of shape (k,)
        Two-sided p value of the mean 0.
    judge_weight : float or ndarray of shape (k,)
        lam, averaged over the folds. At 0 the judge is not used.

    Examples
    --------
    A constant judge leaves the interval of the human values, 3 +- 2.776 (2.5 / 5)**0.5:

    >>> from lowrank_rank.metrics import prediction_powered_mean
    >>> prediction_powered_mean([1, 2, 3, 4, 5], [1, 1, 1, 1, 1], [1, 1, 1])
    mean    low   high  standard_error  judge_weight
       3  1.037  4.963          0.7071             0
    """

    mean: Any
    standard_error: Any
    interval: np.ndarray
    p_value: Any
    judge_weight: Any

    def _columns(self):
        low, high = np.atleast_2d(self.interval).T
        return {
            "mean": np.atleast_1d(self.mean),
            "low": low,
            "high": high,
            "standard_error": np.atleast_1d(self.standard_error),
            "judge_weight": np.atleast_1d(self.judge_weight),
        }


def prediction_powered_mean(
    human: ArrayLike,
    judge: ArrayLike,
    judge_unlabelled: ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> PredictionPoweredMean:
    """Estimate the mean of human values from a few of them and many values of a judge.

    The judge, such as a language model that grades documents, may be wrong: the human values
    correct its bias. They must be a random sample.

    Parameters
    ----------
    human : array-like of shape (n,) or (n, k)
        Values by human labels, such as a measure of n queries; k columns are k means.
    judge : array-like of shape (n,) or (n, k)
        Values of the same by the judge's labels.
    judge_unlabelled : array-like of shape (N,) or (N, k)
        Values of others, which have no human labels, by the judge's labels.
    confidence_level : float, default=0.95
        Confidence level of each single interval.

    Returns
    -------
    PredictionPoweredMean

    Raises
    ------
    ValueError
        If there are fewer than five human values or two others, shapes do not fit, or a value is
        not finite.

    See Also
    --------
    compare_rankers : Differences between rankers, with ``judge=``.

    Notes
    -----
    The estimate [1]_ is the mean of ``c_i = h_i - lam_i (j_i - mean(judge_unlabelled))``, of human
    values h and the judge's j. Its variance is ``var(c) / n + lam**2 var(judge_unlabelled) / N``,
    and the interval is Student's with n - 1 degrees of freedom. lam in [0, 1] minimises the
    variance. It is cross-fitted: lam_i is estimated without the fold of value i, and every fifth
    value is in the same fold. At lam = 0 this is the interval of the human values alone.

    The human sample must show the errors of the judge: where human and judged values differ in few
    of the n pairs, the interval is too narrow.

    References
    ----------
    .. [1] A. Angelopoulos, J. Duchi, T. Zrnic, "PPI++: Efficient Prediction-Powered Inference",
       arXiv:2311.01453, 2023.

    Examples
    --------
    A judge that always agrees makes 10 human values as precise as 1,000:

    >>> import numpy as np
    >>> from lowrank_rank.metrics import prediction_powered_mean
    >>> values = np.tile([0.0, 1.0], 500)
    >>> found = prediction_powered_mean(values[:10], values[:10], values[10:])
    >>> float(found.standard_error.round(4)), 0.5 / 1000**0.5
    (0.0158, 0.015811388300841896)
    """
    check_parameter("confidence_level", confidence_level, [number(above=0, below=1)])
    given = {"human": human, "judge": judge, "judge_unlabelled": judge_unlabelled}
    check_same_index(human=human, judge=judge)
    # Squares of larger values overflow.
    h, j, others = (check_finite(numbers(v, name), name, 1e150) for name, v in given.items())
    if h.shape != j.shape or h.ndim not in (1, 2) or h.shape[1:] != others.shape[1:]:
        raise ValueError(
            f"human has the shape {h.shape}, judge {j.shape}, judge_unlabelled {others.shape}: "
            "give human and judge of one shape, (n,) or (n, k), judge_unlabelled (N,) or (N, k)."
        )
    n, n_others = len(h), len(others)
    if n < 5 or n_others < 2:
        raise ValueError(
            f"{n} values have human labels and {n_others} the judge's labels alone: at least 5 and "
            "2 are needed."
        )
    spread = others.var(axis=0, ddof=1) / n_others
    weights = np.empty(h.shape)
    fold = np.arange(n) % 5
    for held_out in range(5):
        rest = fold != held_out
        weights[~rest] = best_weight(h[rest], j[rest], n * spread)
    corrected = h - weights * (j - others.mean(axis=0))
    mean, weight = corrected.mean(axis=0), weights.mean(axis=0)
    error = np.sqrt(corrected.var(axis=0, ddof=1) / n + weight**2 * spread)
    half = stats.t.ppf(0.5 + confidence_level / 2.0, n - 1) * error
    t = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    return PredictionPoweredMean(
        mean=mean,
        standard_error=error,
        interval=np.stack([mean - half, mean + half], axis=-1),
        p_value=2.0 * stats.t.sf(t, n - 1),
        judge_weight=weight,
    )


def best_weight(h, j, spread):
    """lam in [0, 1] that minimises ``var(h - lam j) + lam**2 spread``; 0 for a constant judge."""
    centred = j - j.mean(axis=0)
    covariance = np.sum(centred * h, axis=0) / (len(h) - 1)
    variance = centred.var(axis=0, ddof=1) + spread
    weight = np.divide(covariance, variance, out=np.zeros(np.shape(variance)), where=variance > 0)
    return np.clip(weight, 0.0, 1.0)
