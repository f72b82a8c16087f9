"""How often intervals of consensus ranks hold the rank in the population.

Voters give complete orders under the Plackett-Luce model with strengths 0, -gap, -2 gap, ...:
the order of the strengths is Kemeny's, Borda's and Copeland's order of the population. Printed is
the fraction of 95 % intervals of `ConsensusRanking.rank_intervals` that hold an item's rank, its
standard error over repetitions, and the mean width (high - low).
"""

import numpy as np

from lowrank_rank import consensus_ranking

from ._common import print_table

GAPS = (0.5, 0.2, 0.05)
METHODS = ("kemeny", "copeland", "borda")


def add_arguments(parser):
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--voters", type=int, default=200)
    parser.add_argument("--items", type=int, default=8)


def run(args):
    repetitions, n_resamples = (4, 50) if args.tiny else (args.repetitions, 300)
    rows = []
    for gap in GAPS:
        found = {method: [] for method in METHODS}
        for seed in range(repetitions):
            rng = np.random.RandomState(seed)
            strength = -gap * np.arange(args.items)
            grades = strength + rng.gumbel(size=(args.voters, args.items))
            for method in METHODS:
                intervals = consensus_ranking(grades, method=method).rank_intervals(
                    n_resamples=n_resamples, random_state=seed
                )
                truth = np.arange(1, args.items + 1)
                inside = (intervals.low <= truth) & (truth <= intervals.high)
                found[method].append([inside.mean(), np.mean(intervals.high - intervals.low)])
        for method, pairs in found.items():
            inside, width = np.transpose(pairs)
            error = inside.std() / np.sqrt(repetitions)
            rows.append(
                {
                    "gap": gap,
                    "method": method,
                    "coverage": inside.mean(),
                    "standard_error": error,
                    "width": width.mean(),
                }
            )
    print_table("Coverage of 95 % intervals of ranks", rows)
    return rows
