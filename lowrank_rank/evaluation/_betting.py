"""Intervals and tests of bounded values that hold however often one looks."""

import numpy as np


def betting(values, lowest, confidence_level):
    """Compute intervals of means, and p values of the mean 0, that hold at every look.

    The bets are those of Waudby-Smith and Ramdas (2024), section 4: half of the capital
    on a mean above m, half on a mean below. A mean m is refuted when one half has grown
    by the factor 2 / level.

    Parameters
    ----------
    values : ndarray of shape (k, n)
        k samples of n values in [lowest, 1], in the order in which they came.
    lowest : float
        0, or -1 for differences.
    confidence_level : float

    Returns
    -------
    interval : ndarray of shape (k, 2)
    p_value : ndarray of shape (k,)
    """
    level = 1.0 - confidence_level
    width = 1.0 - lowest
    x = np.clip((values - lowest) / width, 0.0, 1.0)
    bets = bets_on(x, level)
    low = _largest_refuted(x, bets, level)
    high = 1.0 - _largest_refuted(1.0 - x, bets, level)
    # If the last values are unlike the first, the bets can refute the mean of all.
    mean = x.mean(axis=1)
    low = np.minimum(low, mean)
    high = np.maximum(high, mean)
    interval = lowest + width * np.stack([low, high], axis=-1)
    zero = np.full(len(x), -lowest / width)
    above = gains(x, bets, zero).sum(axis=1)
    below = gains(1.0 - x, bets, 1.0 - zero).sum(axis=1)
    # The probability that either half ever grows by this factor is 2 / factor or less.
    p_value = np.minimum(2.0 * np.exp(-np.maximum(above, below)), 1.0)
    # If bets refute 0 but the interval holds it, there is a trend, and not a finding.
    holds_zero = (interval[:, 0] < 0) & (interval[:, 1] > 0)
    p_value[holds_zero & (p_value <= level)] = 1.0
    return interval, p_value


def bets_on(x, level):
    """Compute the bet on each value of [0, 1] from the values before it.

    Bet t is ``sqrt(2 log(2 / level) / (variance t log(1 + t)))``.
    """
    t = np.arange(1, x.shape[1] + 1)
    # A value 1/2 with the variance 1/4 comes before all others.
    mean = (0.5 + np.cumsum(x, axis=1)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2, axis=1)) / (t + 1)
    earlier = np.hstack([np.full((len(x), 1), 0.25), variance[:, :-1]])
    return np.sqrt(2.0 * np.log(2.0 / level) / (earlier * t * np.log1p(t)))


def gains(x, bets, mean):
    """Compute the log of the factor by which each bet on a mean above `mean` pays."""
    m = mean[:, np.newaxis]
    # The largest bet loses three quarters of the capital at a value of 0.
    largest = 0.75 / np.maximum(m, np.finfo(float).tiny)
    return np.log1p(np.minimum(bets, largest) * (x - m))


def _largest_refuted(x, bets, level):
    """Find the largest mean that bets on a mean above it refute, by bisection."""
    refuted = np.zeros(len(x))
    not_refuted = np.ones(len(x))
    # The capital falls with the mean. 40 halvings are exact to 1e-12.
    for _ in range(40):
        mean = (refuted + not_refuted) / 2.0
        log_capital = gains(x, bets, mean).sum(axis=1)
        is_refuted = log_capital >= np.log(2.0 / level)
        refuted = np.where(is_refuted, mean, refuted)
        not_refuted = np.where(is_refuted, not_refuted, mean)
    return refuted
