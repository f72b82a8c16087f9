"""Prediction-powered intervals of means and differences of a measure, by simulation.

Queries with their rankers' scores are drawn with replacement from LightGBM's example and from a
generated set. A judge gives some labels of all rows another label. Each repetition draws n queries
with human labels and 1,000 with the judge's alone. The control is Student's interval of the n human
values. A third set has no bar: reciprocal ranks are 1 on most of its queries, and n = 50 hardly
show where the judge errs.
"""

import numpy as np
from scipy import stats
from sklearn.model_selection import GroupKFold, cross_val_predict

from lowrank_rank import LowRankSurrogateRanker, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import mean_intervals, per_query

from ._common import print_table
from ._letor import load_lightgbm_example

#: Fraction of the rows on which judge and people agree; None is a judge of pure noise.
AGREEMENT = (0.95, 0.9, 0.8, None)
#: Least and largest coverage by the number of human queries, and largest widths at n = 50.
COVERAGE = {50: (0.925, 1.0), 200: (0.935, 0.965)}
WIDTHS = {("mean", 0.9): 0.60, ("difference", 0.9): 0.70}
NOISE_WIDTH = 1.02
N_UNLABELLED = 1000
#: The set without bars.
FEW_ERRORS = "few errors"


def add_arguments(parser):
    parser.add_argument("--judged-repetitions", type=int, default=4000)
    parser.add_argument("--judged-measures", nargs="+", default=["ndcg@10", "precision@5"])


def run(args):
    """One row per set, measure, judge, statistic and number of human queries."""
    repetitions = 50 if args.tiny else args.judged_repetitions
    sets = {"generated": generated(40 if args.tiny else 2000, noise=3.0)}
    if not args.tiny:
        sets |= {
            "lightgbm_example": load_lightgbm_example(args.data),
            FEW_ERRORS: generated(2000, noise=1.0),
        }
    rows = []
    for name, (X, target) in sets.items():
        scores = scores_of_two(X, target)
        copies = 1 if args.tiny else 10_000 // len(np.unique(target["qid"]))
        for measure in ["mrr"] if name == FEW_ERRORS else args.judged_measures:
            rng = np.random.RandomState(0)
            for agreement in AGREEMENT:
                population = values_of(target, scores, measure, agreement, copies, rng)
                columns = {"set": name, "measure": measure, "agreement": agreement}
                rows += simulated(columns, population, repetitions, rng)
    print_table(f"Human and judge, {repetitions} repetitions, N = {N_UNLABELLED}", rows)
    return rows


def generated(n_lists, noise):
    """With noise 3 the NDCG@10 of ridge has a standard deviation of .17, LightGBM's example .20."""
    X, y, qid = make_ranking(n_lists=n_lists, n_items=(8, 30), noise=noise, random_state=0)
    return X, ranking_target(y, qid)


def scores_of_two(X, target):
    """Scores of two rankers fitted on other queries: ridge, and ridge on every second feature."""
    fitted = {"cv": GroupKFold(5), "groups": target["qid"]}
    half = X[:, ::2]
    ranker = LowRankSurrogateRanker()
    return [cross_val_predict(ranker, part, target, **fitted) for part in (X, half)]


def values_of(target, scores, measure, agreement, copies, rng):
    """Values by people and by the judge of each query: the mean, and the difference of the two.

    The judge labels the queries several times over, so that its errors are many.
    """
    by_people = two_values(target["y"], target["qid"], scores, measure)
    by_judge = [
        two_values(flipped(target["y"], agreement, rng), target["qid"], scores, measure)
        for _ in range(copies)
    ]
    return np.tile(by_people, (copies, 1)), np.vstack(by_judge)


def two_values(y, qid, scores, measure):
    first, second = (
        np.asarray(per_query(y, s, qid=qid, measures=[measure], zero_division=0)[measure])
        for s in scores
    )
    return np.column_stack([first, first - second])


def flipped(y, agreement, rng):
    """Labels of which some are replaced by those of other rows, so that `agreement` are kept."""
    other = rng.permutation(y)
    if agreement is None:
        return other
    chance = (1.0 - agreement) / np.mean(other != y)
    return np.where(rng.uniform(size=len(y)) < chance, other, y)


def simulated(columns, population, repetitions, rng):
    """Rows of coverage and relative width, with their bars."""
    human, judge = population
    rows = []
    for n in COVERAGE:
        labelled = rng.randint(len(human), size=(n, repetitions))
        others = rng.randint(len(human), size=(N_UNLABELLED, repetitions))
        for k, statistic in enumerate(("mean", "difference")):
            h, truth = human[labelled, k], human[:, k].mean()
            found = mean_intervals(h, judge=judge[labelled, k], judge_unlabelled=judge[others, k])
            half = stats.t.ppf(0.975, n - 1) * stats.sem(h, axis=0)
            row = {**columns, "statistic": statistic, "n": n}
            low, high = found.interval.T
            row["covered"] = float(np.mean((low <= truth) & (truth <= high)))
            row["human only"] = float(np.mean(np.abs(h.mean(axis=0) - truth) <= half))
            row["width"] = float(np.mean(high - low) / np.mean(2.0 * half))
            rows.append({**row, **verdicts(row)})
    return rows


def verdicts(row):
    """The bars of a row, and whether they are kept."""
    if row["set"] == FEW_ERRORS:
        return {"at_least": None, "width_at_most": None, "verdict": ""}
    low, high = COVERAGE[row["n"]]
    at_most = NOISE_WIDTH if row["agreement"] is None else None
    if row["n"] == 50:
        at_most = WIDTHS.get((row["statistic"], row["agreement"]), at_most)
    kept = low <= row["covered"] <= high and (at_most is None or row["width"] <= at_most)
    return {"at_least": low, "width_at_most": at_most, "verdict": "ok" if kept else "MISSED"}
