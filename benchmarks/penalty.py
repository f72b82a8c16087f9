"""The default penalties: searched against constant, and of few lists against tuned pooled ridge.

searched: ``alpha="auto"`` against the constant 0.1, by the target's own measure (that of
`OrderPreservingRegressor` is no search, but another constant for fixed items). Both are
fitted on 3 folds by list, in 3 partitions. A list counts once, with the mean of its differences
over the partitions; intervals are those of the paired t-statistic, 95 %. The rule of the search
and the other constant were chosen with sight of the sets with a star.

few: NDCG@10 on all lists but some few drawn ones, on which the models are fitted, minus that of
ridge on the pooled grades, whose penalty is tuned on 3 inner folds of them; with the default
penalty and with a constant, 0.1 (0.01 for hinges). Means over draws, "se" their standard errors.
The constants were chosen with sight of the sets with a star.
"""

from functools import partial

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking

from ._common import print_table
from ._default_sets import DOCUMENTS, ITEMS, label_ranking, multilabel
from .defaults import document_models, held_out, paired, search

N_FOLDS = 3
NOT_SEEN = {"OrderPreservingRegressor": ("vowel",)}
NOT_SEEN_BY_OTHERS = ("emotions", "yeast")
FEW = (8, 15, 30, 100)
FEW_NOT_SEEN = ("clueweb09", "generated")


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--draws", type=int, default=4)


def run(args):
    """Rows of the parts asked for."""
    return [row for part in args.part for row in PARTS[part](args)]


def searched_part(args):
    """A row for each set, model and measure."""
    rows = [row_of(args, *case) for case in cases(args)]
    print_table("alpha='auto' against alpha=0.1: difference of the measure", rows)
    return rows


def cases(args):
    """Name, X, y, measure and ranker."""
    ridge, pairs, linear = (
        LowRankSurrogateRanker(estimator=None),
        PairwiseDAGRanker(estimator=None),
        OrderPreservingRegressor(target_loss="ndcg"),
    )
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
        yield name, X, y, "ndcg", linear
    X, y = ITEMS["ratings"][0](args.data)
    yield "ratings", X, y, "eru", clone(ridge).set_params(target_loss="eru")
    yield "ratings", X, y, "kendall", pairs
    yield "ratings", X, y, "dcg", clone(linear).set_params(target_loss="dcg")
    for name, n_labels in (("emotions", 6), ("yeast", 14)):
        X, y = multilabel(name, n_labels)(args.data)
        for measure in ("map", "auc", "ndcg"):
            yield name, X, y, measure, clone(ridge).set_params(target_loss=measure)
        yield name, X, y, "ndcg", linear


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
    not_seen = NOT_SEEN.get(type(ranker).__name__, NOT_SEEN_BY_OTHERS)
    return {
        "dataset": name + ("" if name in not_seen else "*"),
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


# Few lists --------------------------------------------------------------------------


def few_sets(args):
    """Sets of documents, one generated with many features among them."""
    if not args.tiny:
        for name in ("lightgbm_example", "digits", "clueweb09"):
            yield name, *DOCUMENTS[name](args.data)
    size = {"n_lists": 30, "n_features": 20} if args.tiny else {"n_lists": 400, "n_features": 200}
    X, y, qid = make_ranking(n_items=(5, 25), noise=4.0, random_state=7, **size)
    yield "generated", X, ranking_target(y, qid)


def few_part(args):
    """A row for each set and number of lists."""
    rows = []
    ours, peers = document_models(args.tiny)
    ours = {name: model for name, model in ours.items() if model.kind == "linear"}
    pooled = search(peers["pooled ridge"], "ndcg@10")
    for name, X, y in few_sets(args):
        ids, n_features = np.unique(y["qid"]), X.shape[1]
        for n_lists in FEW[:1] if args.tiny else FEW:
            if n_lists > 0.7 * len(ids):
                continue
            found = {model: [] for model in ours} | {f"{model}, constant": [] for model in ours}
            n_rows = []
            for draw in range(2 if args.tiny else args.draws):
                some = np.random.default_rng(draw).choice(ids, n_lists, replace=False)
                is_train = np.isin(y["qid"], some)
                n_rows.append(np.count_nonzero(is_train))
                splits = [(np.flatnonzero(is_train), np.flatnonzero(~is_train))]
                value = partial(held_out, X, y, y["qid"], splits, "ndcg@10")
                peer = value(pooled)
                for model, (_, ranker, _) in ours.items():
                    alpha = 0.01 if model == "hinge" else 0.1
                    constant = clone(ranker).set_params(alpha=alpha)
                    found[model].append(np.nanmean(value(ranker) - peer))
                    found[f"{model}, constant"].append(np.nanmean(value(constant) - peer))
            rows.append(
                {
                    "dataset": name + ("" if name in FEW_NOT_SEEN else "*"),
                    "lists": n_lists,
                    "rows": float(np.mean(n_rows)),
                    "features": n_features,
                    **{model: float(np.mean(values)) for model, values in found.items()},
                    "se": float(np.std(found["ridge"], ddof=1) / np.sqrt(len(n_rows))),
                }
            )
    print_table("NDCG@10 after few lists, minus that of tuned pooled ridge", rows)
    return rows


PARTS = {"searched": searched_part, "few": few_part}
