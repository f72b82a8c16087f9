"""Coverage and size of what compare_rankers says, by simulation: means, differences, p, ranks.

Queries are drawn from a finite population of values of five rankers. In one half of the draws the
rankers are exchangeable: these give the coverage of means and differences, and how often tests
reject at 5 %. In the other half the rankers differ: these give the coverage of ranks, and how
often the truly best ranker is tied with the best.
"""

import numpy as np
from scipy import stats

from lowrank_rank import compare_rankers
from lowrank_rank.metrics import ndcg_score

from ._common import print_table

KINDS = ["ndcg@10", "right .6", "right .9", "right .97", "skewed", "rare"]
N_RANKERS = 5


def add_arguments(parser):
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--sizes", nargs="+", type=int, default=[5, 20, 100])
    parser.add_argument("--kinds", nargs="+", default=KINDS)


def run(args):
    """One row per kind of values and number of queries; all but two columns in per cent."""
    repetitions, size = (20, 2000) if args.tiny else (args.repetitions, 50_000)
    rows = []
    for kind in args.kinds:
        alike, apart = (population(kind, spread, size) for spread in (0.0, 0.6))
        for n in args.sizes:
            row = {"values": kind, "queries": n}
            row |= of_equal_rankers(alike, n, repetitions)
            rows.append(row | of_ranks(apart, n, repetitions))
    print_table(
        f"95 % intervals and 5 % tests in per cent, {repetitions} repetitions", rows
    )
    return rows


def population(kind, spread, size, seed=0):
    """Values (size, 5): some queries are hard for all rankers; the first ranker is the best."""
    rng = np.random.RandomState(seed)
    z = rng.normal(size=(size, 1)) + 0.8 * rng.normal(size=(size, N_RANKERS))
    z -= spread * np.linspace(0.0, 1.0, N_RANKERS)
    if kind == "ndcg@10":
        y = rng.binomial(3, 0.12, size=(size, 20)).astype(float)
        noise = 1.0 + spread * np.linspace(0.0, 1.0, N_RANKERS)
        scores = (y + level * rng.normal(size=y.shape) for level in noise)
        options = {"k": 10, "average": None, "zero_division": 0.0}
        return np.column_stack([ndcg_score(y, s, **options) for s in scores])
    if kind.startswith("right"):
        return (z > np.sqrt(1.64) * stats.norm.isf(float(kind.split()[1]))).astype(
            float
        )
    return np.exp(1.2 * z) if kind == "skewed" else 30.0 * (z > np.quantile(z, 0.97))


def drawn(values, n, repetitions, *, exchangeable):
    """The comparisons of samples of n queries."""
    rng = np.random.RandomState(n)
    for _ in range(repetitions):
        sample = values[rng.randint(len(values), size=n)]
        if exchangeable:
            order = np.argsort(rng.uniform(size=sample.shape), axis=1)
            sample = np.take_along_axis(sample, order, axis=1)
        yield compare_rankers({f"r{i}": column for i, column in enumerate(sample.T)})


def inside(interval, truth):
    """The fraction of the intervals that hold the truth, up to rounding."""
    return np.mean((interval[:, 0] <= truth + 1e-9) & (interval[:, 1] >= truth - 1e-9))


def of_equal_rankers(values, n, repetitions):
    """Coverage of means and differences, and how often tests reject."""
    found, binary = [], set(np.unique(values)) <= {0.0, 1.0}
    for one in drawn(values, n, repetitions, exchangeable=True):
        mcnemar = np.nan
        if binary:  # the exact test of better against worse
            differ = one.better + one.worse
            least = 2.0 * stats.binom.cdf(
                np.minimum(one.better, one.worse), differ, 0.5
            )
            mcnemar = np.mean(np.minimum(least, 1.0) <= 0.05)
        mean, difference = (
            inside(one.means.interval, values.mean()),
            inside(one.interval, 0.0),
        )
        rejected, holm = np.mean(one.p_value <= 0.05), one.p_adjusted.min() <= 0.05
        found.append([mean, difference, rejected, mcnemar, holm])
    names = ["mean", "difference", "p <= .05", "exact McNemar", "any p_holm <= .05"]
    return dict(zip(names, 100.0 * np.mean(found, axis=0), strict=True))


def of_ranks(values, n, repetitions):
    """Coverage of ranks, and of the truly best ranker by those tied with the best."""
    ranks = stats.rankdata(-values.mean(axis=0))
    best, found = int(np.argmin(ranks)), []
    for one in drawn(values, n, repetitions, exchangeable=False):
        tied = one.tied_with_best
        found.append(
            [inside(one.means.rank_interval, ranks), tied[best], tied.sum() / 100.0]
        )
    names = ["rank", "best is tied", "number tied"]
    return dict(zip(names, 100.0 * np.mean(found, axis=0), strict=True))
