"""Coverage and size of what compare_rankers says, by simulation: means, differences, p, ranks.

all: Queries are drawn from a finite population of values of five rankers. In one half of the draws
the rankers are exchangeable: these give the coverage of means and differences, and how often tests
reject at 5 %. In the other half the rankers differ: these give the coverage of ranks, and how
often the truly best ranker is tied with the best.

rare: two rankers that differ in few queries. judged: few queries with human labels, and a judge of
500 more. In both, "plain" is Student's interval of the human values; "below .93" counts cells, and
"contradictions" draws in which p cannot be small and the interval leaves out 0. families: intervals
over families of queries, and over queries. looks: two rankers are compared again and again while
queries are added, by the t test and by intervals that are valid at every look. holes: runs with
judgements from pools of one of them, of both or of others; a twentieth of the repetitions. kinds:
runs that each find one kind of relevant documents, judgements of one kind; how often the worse run
wins, by the level at which a run is "judged less"; 30 draws a pool for 2,000 repetitions; and six
systems after some queries are judged whole.
"""

from itertools import product

import numpy as np
from scipy import stats

from lowrank_rank.evaluation import compare_values, mean_intervals
from lowrank_rank.evaluation._mean_intervals import folds
from lowrank_rank.evaluation._paired_differences import statistics_of_differences
from lowrank_rank.metrics import ndcg_score

from . import _holes, _looks
from ._common import coverage_row, print_table, repeated, summary_row
from ._sets import load_lightgbm_example
from .intervals import held_out_scores

KINDS = ["ndcg@10", "right .6", "right .9", "right .97", "skewed", "rare"]
N_RANKERS = 5


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument(
        "--seed", type=int, default=0, help="of all parts but the first"
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=[5, 20, 100])
    parser.add_argument("--kinds", nargs="+", default=KINDS)


def run(args):
    """One table for each part."""
    repetitions = 20 if args.tiny else args.repetitions
    rows = []
    for part in args.part:
        table = list(PARTS[part](args, repetitions))
        print_table(f"{part}: 95 % intervals, {repetitions} repetitions", table)
        rows += [{"part": part, **row} for row in table]
    return rows


# Five rankers -------------------------------------------------------------------------


def all_part(args, repetitions):
    """A row for each kind of values and number of queries; all but two columns in per cent."""
    size = 2000 if args.tiny else 50_000
    for kind in args.kinds:
        alike, apart = (population(kind, spread, size) for spread in (0.0, 0.6))
        for n in args.sizes:
            row = {"values": kind, "queries": n}
            row |= of_equal_rankers(alike, n, repetitions)
            yield row | of_ranks(apart, n, repetitions)


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
    for _ in repeated(range(repetitions), "comparisons"):
        sample = values[rng.randint(len(values), size=n)]
        if exchangeable:
            order = np.argsort(rng.uniform(size=sample.shape), axis=1)
            sample = np.take_along_axis(sample, order, axis=1)
        yield compare_values({f"r{i}": column for i, column in enumerate(sample.T)})


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


# Few queries ------------------------------------------------------------------------


def rare_part(args, repetitions):
    """A row for each kind of differences and number of queries, over rates of differences."""
    rng = np.random.default_rng(args.seed)
    kinds = ("one-sided", "two-sided", "right")
    for kind, n in product(kinds, (10, 20) if args.tiny else (10, 20, 50, 100)):
        cells = [
            differences_cell(rng, kind, rate, 1.0, n, 0, repetitions)
            for rate in (0.02, 0.05, 0.1)
        ]
        contradictions = max(cell["contradictions"] for cell in cells)
        yield {
            **summary_row(cells, differences=kind, n=n),
            "contradictions": contradictions,
        }


def judged_part(args, repetitions):
    """A row for each kind of values and number of human queries, over rates and judges."""
    rng = np.random.default_rng(args.seed)
    kinds = ("right", "graded")
    for kind, n in product(kinds, (5, 20) if args.tiny else (5, 10, 20, 50)):
        cells = [
            differences_cell(rng, kind, rate, accuracy, n, 500, repetitions)
            for rate, accuracy in product((0.1, 0.3, 0.6), (0.8, 0.95, 0.99))
        ]
        yield summary_row(cells, values=kind, n=n)


def differences_cell(rng, kind, rate, accuracy, n, n_others, repetitions):
    """Coverage of the mean difference of two rankers that differ in a part of the queries."""
    shape = (repetitions, n + n_others)
    first, other, truth = two_rankers(rng, kind, rate, shape)
    judge_differences = None
    if n_others:
        # The judge errs by giving 1.
        judged = [
            np.where(rng.random(shape) >= accuracy, 1.0, values).T
            for values in (first, other)
        ]
        of_judge = judged[0] - judged[1]
        judge_differences = of_judge[:n], of_judge[n:]
    first, other = first[:, :n], other[:, :n]
    ends = np.maximum(first, other).max(axis=1), np.minimum(first, other).min(axis=1)
    both_binary = np.full(repetitions, kind == "right")
    options = {
        "largest": np.where(both_binary, 1.0, ends[0] - ends[1]),
        "both_binary": both_binary,
        "weights": None,
        "fold": folds(None, n),
        "rounding": 1e-12,
        "confidence_level": 0.95,
        "anytime": False,
    }
    found = statistics_of_differences(
        first - other, judge_differences=judge_differences, **options
    )
    d = first - other
    half = stats.t.ppf(0.975, n - 1) * d.std(axis=1, ddof=1) / np.sqrt(n)
    plain = d.mean(axis=1) - half, d.mean(axis=1) + half
    if n_others:
        of_people = statistics_of_differences(d, judge_differences=None, **options)
        plain = of_people.interval.T
    low, high = found.interval.T
    row = coverage_row(low, high, truth)
    plain_row = coverage_row(*plain, truth)
    is_outside = (low > 0) | (high < 0)
    return {
        "covered": row["covered"],
        "plain": plain_row["covered"],
        "width": row["width"] / plain_row["width"] if plain_row["width"] else np.nan,
        "contradictions": int(np.sum(is_outside & (found.smallest_p > 0.05))),
    }


def two_rankers(rng, kind, rate, shape):
    """Values of two rankers that differ with probability `rate`, and the mean difference.

    one-sided, two-sided: values of the first are uniform, and the other's are too where they
    differ, always less for "one-sided". right: 0 or 1, the first is right in 3 of 4 differences.
    graded: as two-sided, but the other's are up to 0.8.
    """
    is_different = rng.random(shape) < rate
    first = rng.random(shape)
    other = rng.random(shape)
    truth = 0.0
    if kind == "right":
        value = (first < 0.7) * 1.0
        wins = (other < 0.75) * 1.0
        first = np.where(is_different, wins, value)
        other = 1.0 - wins
        truth = rate / 2.0
        return first, np.where(is_different, other, first), truth
    if kind == "one-sided":  # E[u - u v] = 1/4
        other = first * other
        truth = rate / 4.0
    if kind == "graded":
        other = 0.8 * other
        truth = rate / 10.0
    return first, np.where(is_different, other, first), truth


def families_part(args, repetitions):
    """A row for each number and size of families and correlation within them."""
    rng = np.random.default_rng(args.seed)
    for n, sizes, correlation in product(
        (10,) if args.tiny else (10, 20, 50), ("equal", "unequal"), (0.2, 0.8)
    ):
        of_each = np.full(n, 5)
        if sizes == "unequal":
            of_each = np.round(np.geomspace(1, 30, n)).astype(int)
        family = np.repeat(np.arange(n), of_each)
        shared = np.sqrt(correlation) * rng.normal(size=(n, repetitions))
        own = np.sqrt(1.0 - correlation) * rng.normal(size=(len(family), repetitions))
        values = shared[family] + own
        row = {"families": n, "sizes": sizes, "correlation": correlation}
        over_queries = mean_intervals(values).interval.T
        found = mean_intervals(values, groups=family).interval.T
        row |= coverage_row(*found, 0.0)
        yield row | {"over queries": coverage_row(*over_queries, 0.0)["covered"]}


# Repeated looks ---------------------------------------------------------------------


def looks_part(args, repetitions):
    """Rows of equal rankers, then of effects, then of the width of intervals."""
    rng = np.random.default_rng(args.seed)
    if args.tiny:
        repetitions = 200  # drawn at once
    values = population("ndcg@10", 0.0, 2000 if args.tiny else 50_000)
    yield from _looks.false_findings(rng, values, repetitions)
    yield from _looks.decisions(rng, repetitions, 200 if args.tiny else 1500)
    yield from _looks.widths(rng, values, repetitions)


# Unjudged documents -----------------------------------------------------------------


def holes_part(args, repetitions):
    """Rows of generated runs for each pool and truth, then of a real data set."""
    rng = np.random.default_rng(args.seed)
    # A draw takes eleven comparisons of runs.
    repetitions = 1 if args.tiny else max(repetitions // 20, 1)
    yield from _holes.holes(rng, repetitions, 25 if args.tiny else 100)
    yield from _holes.remedies(rng, repetitions, 25 if args.tiny else 200)
    if args.tiny or not (args.data / "letor").exists():
        return
    X, y, qid = load_lightgbm_example(args.data)
    ridge, _ = held_out_scores(X, y, qid)
    # A feature that is better than four fifths of all is a weaker ranker.
    of_features = [ndcg_score(y, column, qid=qid, k=5) for column in X.T]
    feature = X[:, np.argsort(of_features)[int(0.8 * X.shape[1])]]
    yield from _holes.real(rng, repetitions, y, [ridge, feature], qid)


def kinds_part(args, repetitions):
    """Rows of runs that each find one kind of relevant documents."""
    rng = np.random.default_rng(args.seed)
    # A row takes 6 and 4 sets of draws.
    repetitions = 1 if args.tiny else max(repetitions // 66, 1)
    yield from _holes.two_kinds(rng, repetitions)
    yield from _holes.six_systems(rng, repetitions, 25 if args.tiny else 100)


PARTS = {
    "all": all_part,
    "rare": rare_part,
    "judged": judged_part,
    "families": families_part,
    "looks": looks_part,
    "holes": holes_part,
    "kinds": kinds_part,
}
