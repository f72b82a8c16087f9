"""Repeated looks at a comparison: false findings, and after how many queries it decides."""

import numpy as np
from scipy import stats

from lowrank_rank.evaluation._betting import bets_on, betting, gains

N_QUERIES = 200
LEVEL = 0.05


def false_findings(rng, population, repetitions):
    """A row for each kind of values of two rankers that are equally good."""
    kinds = {
        "ndcg@10": lambda shape: _of_population(rng, population, shape),
        "right .9": lambda shape: _right_or_wrong(rng, shape),
        "skewed": lambda shape: _skewed(rng, shape),
    }
    for name, draw in kinds.items():
        found = {}
        for looks in ("t, every query", "t, every tenth", "t, once"):
            found[looks] = []
        found["anytime, every query"] = []
        for size in _parts(repetitions):
            d = draw((size, N_QUERIES))
            p = _p_values_of_t(d)
            found["t, every query"].append((p[:, 19:] <= LEVEL).any(axis=1))
            found["t, every tenth"].append((p[:, 19::10] <= LEVEL).any(axis=1))
            found["t, once"].append(p[:, -1] <= LEVEL)
            is_decided = _log_capital(d) >= np.log(2.0 / LEVEL)
            found["anytime, every query"].append(is_decided.any(axis=1))
        row = {"differences": name, "effect": 0.0}
        for looks, parts in found.items():
            row[looks] = float(np.mean(np.concatenate(parts)))
        yield row


def decisions(rng, repetitions, n_queries):
    """A row for each effect: the queries until a look at every query decides rightly."""
    for effect in (0.2, 0.35, 0.5):
        first = []
        n_wrong = 0
        for size in _parts(repetitions):
            d = _normal(rng, effect, (size, n_queries))
            growth = _log_capital(d)
            is_decided = growth >= np.log(2.0 / LEVEL)
            place = np.where(
                is_decided.any(axis=1), is_decided.argmax(axis=1), n_queries
            )
            # The side that decides first is that of the interval: below 0 is wrong.
            wrong = _log_capital(-d, one_sided=True) >= np.log(2.0 / LEVEL)
            n_wrong += int(np.sum(wrong.any(axis=1)))
            first.append(place + 1)
        needed = np.concatenate(first)
        yield {
            "differences": "normal",
            "effect": effect,
            "median queries": float(np.median(needed)),
            "power .8 queries": float(np.quantile(needed, 0.8)),
            "of the t test": 7.85 / effect**2,
            "wrong side": n_wrong / repetitions,
        }


def widths(rng, population, repetitions):
    """A row for each number of queries: width over Student's, and coverage of 0."""
    for n in (30, 100, 1000):
        d = _of_population(rng, population, (max(repetitions // 20, 20), n))
        low, high = betting(d, -1.0, 1.0 - LEVEL)[0].T
        error = d.std(axis=1, ddof=1) / np.sqrt(n)
        width = 2.0 * stats.t.ppf(1.0 - LEVEL / 2.0, n - 1) * error
        yield {
            "differences": "ndcg@10",
            "queries": n,
            "width over Student's": float(np.mean(high - low) / np.mean(width)),
            "covered": float(np.mean((low <= 0) & (high >= 0))),
        }


def _parts(repetitions):
    """Sizes of parts that fit into memory."""
    return [min(1000, repetitions - i) for i in range(0, repetitions, 1000)]


def _log_capital(d, one_sided=False):
    """Log of the capital against a mean difference of 0, after each query."""
    x = (d + 1.0) / 2.0
    bets = bets_on(x, LEVEL)
    half = np.full(len(x), 0.5)
    above = np.cumsum(gains(x, bets, half), axis=1)
    if one_sided:
        return above
    return np.maximum(above, np.cumsum(gains(1.0 - x, bets, half), axis=1))


def _p_values_of_t(d):
    """P values of the paired t test after each query; nan after the first."""
    n = np.arange(1, d.shape[1] + 1)
    mean = np.cumsum(d, axis=1) / n
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = (np.cumsum(d**2, axis=1) - n * mean**2) / (n - 1)
        t = np.abs(mean) / np.sqrt(np.maximum(variance, 0.0) / n)
    return 2.0 * stats.t.sf(t, n - 1)


def _of_population(rng, population, shape):
    """Differences of two rankers that are drawn for each query: on average equal."""
    queries = population[rng.integers(len(population), size=shape)]
    one = rng.integers(queries.shape[-1], size=(*shape, 1))
    step = rng.integers(1, queries.shape[-1], size=(*shape, 1))
    other = (one + step) % queries.shape[-1]
    first = np.take_along_axis(queries, one, axis=-1)
    return (first - np.take_along_axis(queries, other, axis=-1))[..., 0]


def _right_or_wrong(rng, shape):
    """Differences of 0, 1 and -1 of rankers that are right in 90 % of the queries."""
    return (rng.random(shape) < 0.9) * 1.0 - (rng.random(shape) < 0.9)


def _skewed(rng, shape):
    """Gains up to .8 in 5 % of the queries, and the same loss on average in the others."""
    is_gain = rng.random(shape) < 0.05
    return np.where(is_gain, 0.8 * rng.random(shape), -0.02 / 0.95)


def _normal(rng, effect, shape):
    """Differences with the standard deviation .2, and the mean `effect` of these."""
    return np.clip(0.2 * (effect + rng.normal(size=shape)), -1.0, 1.0)
