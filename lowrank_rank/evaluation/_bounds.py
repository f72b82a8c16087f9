"""Values between bounds: their range, and intervals of their means."""

import numpy as np
from scipy import special

from ..target_losses._names import resolve_measure

#: Bounds of values whose range is unknown.
UNBOUNDED = (-np.inf, np.inf)
#: Fractions of a range that differ by less are rounding errors of sums over documents.
_ROUNDING = 1e-9


def measure_of(name):
    """Return the measure of this name, or None."""
    try:
        return resolve_measure(name)
    except (TypeError, ValueError):
        return None


def bounds_of_columns(h, names, bounds):
    """Return the lowest and the highest value possible of each column.

    Parameters
    ----------
    h : ndarray of shape (n, k)
    names : list of str
        Names of the columns, some of them of measures.
    bounds : pair of float, or None

    Returns
    -------
    lowest, highest : ndarray of shape (k,)
        -inf and inf where the range is unknown.
    """
    if bounds is not None:
        pairs = [bounds] * len(names)
    else:
        of_name = {
            name: getattr(measure_of(name), "bounds", UNBOUNDED) for name in set(names)
        }
        pairs = [of_name[name] for name in names]
    lowest, highest = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    # Not a value of this library's measure: per cent, or a user's measure.
    is_known = holds(lowest, highest, h)
    # Right and wrong answers.
    is_binary = ~is_known & are_at_ends(h, 0.0, 1.0)
    lowest = np.where(is_known, lowest, np.where(is_binary, 0.0, -np.inf))
    highest = np.where(is_known, highest, np.where(is_binary, 1.0, np.inf))
    return lowest, highest


def holds(lowest, highest, h):
    """Return for each column whether both bounds are finite, and hold the values."""
    is_finite = np.isfinite(lowest) & np.isfinite(highest)
    rounding = _ROUNDING * np.where(is_finite, highest - lowest, 0.0)
    is_above = np.nanmin(h, axis=0) >= lowest - rounding
    is_below = np.nanmax(h, axis=0) <= highest + rounding
    return is_finite & is_above & is_below


def are_at_ends(h, lowest, highest):
    """Return for each column whether each value is NaN or one of the bounds."""
    rounding = _ROUNDING * (highest - lowest)
    is_low = np.abs(h - lowest) <= rounding
    is_high = np.abs(h - highest) <= rounding
    return (is_low | is_high | np.isnan(h)).all(axis=0)


def inside(interval, mean, lowest, highest):
    """Move symmetric intervals of means to the logit of the mean within its range.

    Intervals of means that are at or beyond a bound are cut at the bounds.

    Parameters
    ----------
    interval : ndarray of shape (k, 2)
    mean, lowest, highest : ndarray of shape (k,)

    Returns
    -------
    ndarray of shape (k, 2)
        The same intervals where the range is infinite.
    """
    moved = np.clip(interval, lowest[:, np.newaxis], highest[:, np.newaxis])
    is_within = np.isfinite(highest - lowest)
    rounding = _ROUNDING * (highest - lowest)[is_within]
    is_within[is_within] = ((mean - lowest)[is_within] > rounding) & (
        (highest - mean)[is_within] > rounding
    )
    low = lowest[is_within]
    width = highest[is_within] - low
    m = (mean[is_within] - low) / width
    # logit(m) +- t s / (sqrt(n) m (1 - m)): the derivative of the logit is
    # 1 / (m (1 - m)).
    half_width = np.ptp(interval[is_within], axis=1) / (2.0 * width * m * (1.0 - m))
    centre = special.logit(m)
    limits = special.expit(np.stack([centre - half_width, centre + half_width], axis=1))
    moved[is_within] = low[:, np.newaxis] + width[:, np.newaxis] * limits
    return moved


def bounded(h, weights, mean, interval, n, lowest, highest, confidence_level):
    """Compute intervals of means within their range from symmetric ones.

    Parameters
    ----------
    h : ndarray of shape (n_values, k)
        May hold NaN.
    weights : ndarray of shape (n_values,), or None
    mean : ndarray of shape (k,)
    interval : ndarray of shape (k, 2)
        Student's.
    n : ndarray of shape (k,)
        Effective number of values.
    lowest, highest : ndarray of shape (k,)
    confidence_level : float

    Returns
    -------
    ndarray of shape (k, 2)
        The same intervals where the range is infinite.
    """
    limits = inside(interval, mean, lowest, highest)
    is_bounded = np.isfinite(highest - lowest)
    low = lowest[is_bounded]
    width = highest[is_bounded] - low
    x = (h[:, is_bounded] - low) / width
    m = np.clip((mean[is_bounded] - low) / width, 0.0, 1.0)
    fractions = (limits[is_bounded] - low[:, np.newaxis]) / width[:, np.newaxis]
    of_ends = wilson(m, n[is_bounded], confidence_level)
    is_few = _are_few_away(x, weights, n[is_bounded], confidence_level)
    # Values that are uniform from 0 to 1 have a third of the variance of 0 and 1.
    of_uniform = wilson(m, 3.0 * n[is_bounded], confidence_level)
    hull = np.stack(
        [
            np.minimum(fractions[:, 0], of_uniform[:, 0]),
            np.maximum(fractions[:, 1], of_uniform[:, 1]),
        ],
        axis=1,
    )
    fractions[is_few] = hull[is_few]
    # Other values than these have the probability w or less: m - w m, m + w (1 - m).
    w = wilson(np.zeros(len(m)), n[is_bounded], confidence_level)[:, 1]
    of_equal = np.stack([m - w * m, m + w * (1.0 - m)], axis=1)
    is_equal = np.nanmax(x, axis=0) - np.nanmin(x, axis=0) <= _ROUNDING
    fractions[is_equal] = of_equal[is_equal]
    is_at_ends = are_at_ends(x, 0.0, 1.0)
    fractions[is_at_ends] = of_ends[is_at_ends]
    limits[is_bounded] = low[:, np.newaxis] + width[:, np.newaxis] * fractions
    return limits


def _are_few_away(x, weights, n, confidence_level):
    """Return for each column whether few values in [0, 1] are away from an end.

    The effective number of the distances from this end is small, and less than half of
    the values; that of the distances from the farther end is never less.
    """
    p = np.ones(len(x)) if weights is None else weights
    p = p[:, np.newaxis]
    n_away = np.minimum(
        effective_number(np.nan_to_num(p * x)),
        effective_number(np.nan_to_num(p * (1.0 - x))),
    )
    n_away = np.round(n_away, 6)
    return are_few(n_away, confidence_level) & (n_away <= n / 2.0)


def effective_number(weights):
    """Compute sum(w)**2 / sum(w**2) of each column; 0 where all weights are 0."""
    squares = np.sum(weights**2, axis=0)
    return np.divide(
        np.sum(weights, axis=0) ** 2,
        squares,
        out=np.zeros(weights.shape[1]),
        where=squares > 0,
    )


def are_few(n_different, confidence_level):
    """Return whether so many random signs + or - are too often all the same."""
    return np.exp2(1.0 - n_different) > 1.0 - confidence_level


def wilson(fraction, n, confidence_level):
    """Compute Wilson's intervals of fractions of n values."""
    z2 = special.ndtri(0.5 + confidence_level / 2.0) ** 2
    centre = (fraction + z2 / (2 * n)) / (1 + z2 / n)
    variance = fraction * (1 - fraction) / n + z2 / (4 * n**2)
    half_width = np.sqrt(z2 * variance) / (1 + z2 / n)
    return np.clip(
        np.stack([centre - half_width, centre + half_width], axis=-1), 0.0, 1.0
    )
