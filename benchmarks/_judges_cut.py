"""RecallCut: recall on new queries against the target, and how many rows are kept.

Each split fits ridge regression on a third of the queries, calibrates on a third, and measures
recall and the fraction of kept rows on the last third. The plain control keeps the same number of
rows of each list, calibrated by the same rule (by="k").
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupShuffleSplit

from lowrank_rank import LowRankSurrogateRanker, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.model_selection import RecallCut

from ._common import bar_row, print_table
from ._letor import load_clueweb09, load_lightgbm_example, load_synthetic


def generated(data):
    """Lists of 5 to 30 rows; half of them are relevant, with a grade above 0."""
    X, y, qid = make_ranking(300, random_state=0)
    return X, ranking_target(y, qid)


#: Loader, recall, and the most that may be kept by mass.
SETS = {
    "lightgbm_example": (load_lightgbm_example, 0.9, None),
    "generated": (generated, 0.9, 0.72),
    "clueweb09": (load_clueweb09, 0.8, None),
}


def add_arguments(parser):
    """No arguments of its own."""


def run(args):
    """One row for each set: shortfall of recall in standard errors, and kept rows."""
    sets = {"synthetic": (load_synthetic, 0.7, None)} if args.tiny else SETS
    rows = []
    for dataset, (load, recall, most) in sets.items():
        X, target = load(args.data)
        query = pd.factorize(target["qid"])[0]
        splits = GroupShuffleSplit(5 if args.tiny else 200, test_size=2 / 3, random_state=0)
        found = {by: [] for by in ("mass", "score", "k")}
        for seed, (train, rest) in enumerate(splits.split(X, groups=query)):
            ranker = LowRankSurrogateRanker().fit(X[train], target[train])
            halves = GroupShuffleSplit(1, test_size=0.5, random_state=seed)
            calibrate, test = (rest[i] for i in next(halves.split(rest, groups=query[rest])))
            for by, values in found.items():
                cut = RecallCut(ranker, recall=recall, by=by, cv="prefit")
                cut.fit(X[calibrate], target[calibrate])
                values.append(recall_and_kept(cut, X[test], target["y"][test], query[test]))
        for by, values in found.items():
            reached, kept = np.mean(values, axis=0)
            error = np.std(values, axis=0)[0] / np.sqrt(len(values))
            columns = {"dataset": dataset, "by": by, "recall": recall, "reached": float(reached)}
            shortfall = float((recall - reached) / error) if error else 0.0
            rows.append(bar_row(**columns, what="shortfall, SE", value=shortfall, at_most=2.0))
            bar = most if by == "mass" else None
            rows.append(bar_row(**columns, what="kept", value=float(kept), at_most=bar))
    print_table("RecallCut on new queries", rows)
    return rows


def recall_and_kept(cut, X, y, query):
    """Mean recall over queries with a relevant row, and the fraction of kept rows."""
    kept, relevant = cut.select(X, qid=query), y > 0
    total = np.bincount(query, relevant)
    found = np.bincount(query, relevant & kept)[total > 0] / total[total > 0]
    return found.mean(), kept.mean()
