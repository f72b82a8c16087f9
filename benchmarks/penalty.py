"""The searched penalty, ``alpha="auto"``, against the constant 0.1, by the target's own measure.

Both are fitted on 3 folds by list, in 3 partitions. A list counts once, with the mean of its
differences over the partitions; intervals are those of the paired t-statistic, 95 %. The rule of
the search was chosen with sight of the sets with a star.
"""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from lowrank_rank import LowRankSurrogateRanker, PairwiseDAGRanker

from ._common import print_table
from ._default_sets import DOCUMENTS, ITEMS, label_ranking, multilabel
from .defaults import held_out, paired

N_FOLDS = 3
NOT_SEEN = ("emotions", "yeast")


def add_arguments(parser):
    parser.add_argument("--partitions", type=int, default=3)


def run(args):
    """A row for each set, model and measure."""
    rows = [row_of(args, *case) for case in cases(args)]
    print_table("alpha='auto' against alpha=0.1: difference of the measure", rows)
    return rows


def cases(args):
    """Name, X, y, measure and ranker."""
    ridge, pairs = LowRankSurrogateRanker(), PairwiseDAGRanker()
    for name, load in DOCUMENTS.items():
        if args.tiny and name != "synthetic":
            continue
        X, y = load(args.data)
        for measure in ("ndcg@10", "map"):
            yield name, X, y, measure, clone(ridge).set_params(target_loss=measure)
    if args.tiny:
        return
    rankings = {name: load for name, (load, measure) in ITEMS.items() if measure == "kendall"}
    for name, load in {**rankings, "vowel": label_ranking("vowel")}.items():
        X, y = load(args.data)
        yield name, X, y, "kendall", clone(ridge).set_params(target_loss="kendall")
        yield name, X, y, "kendall", pairs
    X, y = ITEMS["ratings"][0](args.data)
    yield "ratings", X, y, "eru", clone(ridge).set_params(target_loss="eru")
    yield "ratings", X, y, "kendall", pairs
    for name, n_labels in (("emotions", 6), ("yeast", 14)):
        X, y = multilabel(name, n_labels)(args.data)
        for measure in ("map", "auc", "ndcg"):
            yield name, X, y, measure, clone(ridge).set_params(target_loss=measure)


def row_of(args, name, X, y, measure, ranker):
    groups = y["qid"] if y.dtype.names else np.arange(len(y))
    constant, searched = (
        np.mean(
            [
                values_by_list(X, y, groups, measure, clone(ranker).set_params(alpha=alpha), seed)
                for seed in range(args.partitions)
            ],
            axis=0,
        )
        for alpha in (0.1, "auto")
    )
    found = paired(searched, constant)
    return {
        "dataset": name + ("" if name in NOT_SEEN else "*"),
        "model": type(ranker).__name__,
        "measure": measure,
        "lists": found.n,
        "constant": float(np.nanmean(constant)),
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
    }


def values_by_list(X, y, groups, measure, ranker, seed):
    """The measure of each list by a model that has not seen it, in the order of their ids."""
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=seed)
    splits = list(folds.split(X, groups=groups))
    ids = np.concatenate([np.unique(groups[test]) for _, test in splits])
    return held_out(X, y, groups, splits, measure, ranker)[np.argsort(ids)]
