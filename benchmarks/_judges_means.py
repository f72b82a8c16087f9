"""Intervals of one mean: coverage of mean_intervals and of a percentile bootstrap, by simulation.

Queries are drawn with replacement from the NDCG@10 of a ranker on generated queries, and from
lognormal money (standard deviation 1 of its logarithm). The part also compares the values that
compare_rankers and evaluate_run give to runs, which must be equal.
"""

import numpy as np
from scipy import stats

from lowrank_rank import compare_rankers
from lowrank_rank.metrics import evaluate_run, mean_intervals, per_query

from ._common import print_table
from ._judges_ppi import generated, scores_of_two

#: Least coverage in per cent of the 95 % interval of NDCG@10, by the number of queries.
LEAST = {5: 88.0, 10: 91.5, 20: 92.5, 50: 93.5}
MEASURES = ["ndcg_cut_10", "map", "recip_rank", "P_5", "recall_20", "Rprec"]


def add_arguments(parser):
    parser.add_argument("--mean-repetitions", type=int, default=4000)


def run(args):
    """One row per population and number of queries, and one per measure of runs."""
    repetitions = 50 if args.tiny else args.mean_repetitions
    rng = np.random.RandomState(0)
    X, target = generated(60 if args.tiny else 2000, noise=3.0)
    table = per_query(target, scores_of_two(X, target)[0], measures=["ndcg@10"])
    values = np.asarray(table["ndcg@10"])
    populations = {
        "ndcg@10": values[~np.isnan(values)],
        "lognormal money": np.exp(rng.normal(size=100_000)),
    }
    rows = []
    for name, population in populations.items():
        for n, least in LEAST.items():
            drawn = population[rng.randint(len(population), size=(n, repetitions))]
            low, high = mean_intervals(drawn).interval.T
            covered = 100 * np.mean((low <= population.mean()) & (population.mean() <= high))
            kept = covered >= least or name != "ndcg@10"
            rows.append(
                {
                    "population": name,
                    "queries": n,
                    "coverage_%": covered,
                    "percentile_%": bootstrap_coverage(drawn[:, :500], population.mean()),
                    "at_least": least if name == "ndcg@10" else None,
                    "verdict": "ok" if kept else "MISSED",
                }
            )
    print_table(f"Coverage of 95 % intervals of one mean, {repetitions} repetitions", rows)
    equal = [equality(measure, rng) for measure in MEASURES]
    print_table("Runs: compare_rankers minus evaluate_run", equal)
    return rows + equal


def bootstrap_coverage(drawn, mean):
    """Per cent of the percentile bootstrap's intervals of the columns that hold the mean."""
    found = stats.bootstrap(
        (drawn,), np.mean, axis=0, method="percentile", n_resamples=999, batch=50, random_state=0
    ).confidence_interval
    return 100 * np.mean((found.low <= mean) & (mean <= found.high))


def equality(measure, rng):
    """Largest difference of the means of two runs from evaluate_run."""
    qrels = {
        f"q{q}": {f"d{d}": int(rng.randint(3)) for d in range(rng.randint(5, 60))}
        for q in range(100)
    }
    runs = {
        name: {q: {f"d{d}": rng.uniform() for d in rng.permutation(80)[:40]} for q in qrels}
        for name in "ab"
    }
    found = compare_rankers(qrels, runs, measure=measure, zero_division=0.0, random_state=0)
    means = [evaluate_run(run, qrels, measure, zero_division=0.0)[measure] for run in runs.values()]
    worst = float(np.max(np.abs(found.mean - means)))
    return {"measure": measure, "difference": worst, "verdict": "ok" if worst < 1e-12 else "MISSED"}
