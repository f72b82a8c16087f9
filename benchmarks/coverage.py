"""Coverage of the intervals of compare_rankers, by simulation.

Queries are drawn from a finite population whose mean difference between two rankers is known;
counted is how often the 95 % interval holds it, and how often the randomisation test rejects at
5 % where the rankers are exchangeable.
"""

import numpy as np

from lowrank_rank import compare_rankers
from lowrank_rank.metrics import per_query

from ._common import print_table

#: What is measured, and how much the noise of the two rankers differs.
CASES = {
    "ndcg@5": (1.0, 1.3),
    "mrr": (1.0, 1.3),
    "precision@1": (1.0, 1.1),
    "map": (1.5, 1.0),
}
LENGTH = 12
#: Bars in per cent: the least and the largest coverage of 95 % intervals.
BARS = {50: (92.0, 100.0), 500: (93.5, 96.5)}


def add_arguments(parser):
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=999)
    parser.add_argument("--methods", nargs="+", default=["expanded"])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(BARS))
    parser.add_argument("--measures", nargs="+", default=list(CASES))


def run(args):
    """One row per measure, method and number of queries."""
    repetitions, resamples = (40, 99) if args.tiny else (args.repetitions, args.resamples)
    size = 2000 if args.tiny else 20_000
    rows = []
    for measure in args.measures:
        noise = CASES[measure]
        y, scores, truth = population(measure, noise, size)
        null = {"a": scores["a"], "b": population(measure, (noise[0], noise[0]), size, 1)[1]["b"]}
        for method in args.methods:
            for n_queries in args.sizes:
                settings = (measure, method, n_queries, repetitions, resamples)
                covered = coverage(y, scores, truth, *settings)
                rows.append(
                    {
                        "measure": measure,
                        "method": method,
                        "queries": n_queries,
                        "coverage_%": 100 * covered,
                        "se_%": 100 * np.sqrt(covered * (1 - covered) / repetitions),
                        "rejected_%": 100 * rejections(y, null, *settings),
                        "verdict": verdict(100 * covered, n_queries),
                    }
                )
    print_table(f"Coverage of 95 % intervals, {repetitions} repetitions", rows)
    return rows


def verdict(percent, n_queries):
    if n_queries not in BARS:
        return ""
    low, high = BARS[n_queries]
    return "ok" if low <= percent <= high else "MISSED"


def population(measure, noise, size, seed=0):
    """Grades and two rankers' scores of all queries, and the mean difference over them.

    Queries differ in how hard they are, and both rankers feel it.
    """
    rng = np.random.RandomState(seed)
    grades = np.random.RandomState(0).choice(4, p=[0.6, 0.2, 0.15, 0.05], size=(size, LENGTH))
    grades[:, 0] = np.maximum(grades[:, 0], 1)  # something relevant in each
    hard = np.random.RandomState(2).gamma(2.0, 0.5, size=(size, 1))
    scores = {
        name: grades + hard * scale * rng.normal(size=grades.shape)
        for name, scale in zip("ab", noise, strict=True)
    }
    a, b = (
        np.asarray(per_query(grades, scores[name], measures=[measure])[measure]) for name in "ab"
    )
    return grades, scores, float(np.mean(a - b))


def samples(y, scores, n_queries, repetitions):
    rng = np.random.RandomState(7)
    for seed in range(repetitions):
        drawn = rng.randint(len(y), size=n_queries)
        yield y[drawn], {name: values[drawn] for name, values in scores.items()}, seed


def coverage(y, scores, truth, measure, method, n_queries, repetitions, resamples):
    """Fraction of the intervals that hold the truth."""
    hits = 0
    for grades, drawn, seed in samples(y, scores, n_queries, repetitions):
        found = compare_rankers(
            grades,
            drawn,
            measure=measure,
            method=method,
            n_resamples=resamples,
            random_state=seed,
        )
        low, high = found.interval[0]
        hits += low <= truth <= high
    return hits / repetitions


def rejections(y, null, measure, method, n_queries, repetitions, resamples):
    """Fraction of p values of at most 0.05 between two rankers of one distribution."""
    hits = 0
    for grades, drawn, seed in samples(y, null, n_queries, repetitions // 4):
        found = compare_rankers(
            grades, drawn, measure=measure, method=method, n_resamples=resamples,
            random_state=seed,
        )  # fmt: skip
        hits += found.p_value[0] <= 0.05
    return hits / (repetitions // 4)
