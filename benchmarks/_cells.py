"""Rankers by the number of judged queries: sets, draws, and tables of paired differences.

A cell is a set at a number of training queries. Each draw takes other queries for training; all
other queries, at most 1,000, judge. The value of a query is the mean over the draws in which it
judges, and differences are paired over queries.
"""

from functools import partial
from time import process_time

import numpy as np
import pandas as pd

from lowrank_rank import WrappedRanker
from lowrank_rank.datasets import load_digits_retrieval, make_ranking
from lowrank_rank.metrics import ndcg_score

from ._common import optional_peer, print_table
from ._letor import load_clueweb09, load_lightgbm_example, load_synthetic
from .defaults import paired, verdicts_by_holm

MAX_TEST = 1000


def digits(data):
    """Images of the same digit: labels without noise."""
    found = load_digits_retrieval(n_queries=1000)
    return found.data, np.asarray(found.target, dtype=float), np.asarray(found.qid)


def linear(data):
    """Scores that are linear but for noise: this flatters linear models."""
    return make_ranking(n_lists=600, n_items=(5, 20), n_features=20, random_state=1)


def judges(data, n_queries=600, length=40, seed=0):
    """Grades 0 to 4 of one of three judges: features act together, and judges differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_queries * length, 12))
    X[:, 6:] = np.exp(X[:, 6:])
    utility = X[:, 0] + 0.5 * X[:, 1] + X[:, 2] * (X[:, 3] > 0) + np.log1p(X[:, 6]) - X[:, 4] ** 2
    taste = rng.normal(size=(3, 6)) * 0.3
    judge = rng.integers(0, 3, n_queries).repeat(length)
    seen = utility + (X[:, :6] * taste[judge]).sum(axis=1) + rng.normal(size=len(X))
    y = np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97])).astype(float)
    return X, y, np.arange(n_queries).repeat(length)


def long_lists(data):
    """1,000 queries of 40 documents with grades 0 to 4."""
    return judges(data, n_queries=1000, seed=1)


def of_target(load, data):
    """Features, grades and ids of a loader of `ranking_target`."""
    X, target = load(data)
    return X, target["y"], pd.factorize(target["qid"])[0]


SETS = {
    "lightgbm_example": partial(of_target, load_lightgbm_example),
    "clueweb09": partial(of_target, load_clueweb09),
    "digits": digits,
    "linear": linear,
    "judges": judges,
    "long lists": long_lists,
}


def lightgbm(**settings):
    """LGBMRanker on one thread, as a ranker."""
    return WrappedRanker(optional_peer("lightgbm").LGBMRanker(n_jobs=1, verbose=-1, **settings))


def xgboost(**settings):
    """XGBRanker on one thread, as a ranker."""
    return WrappedRanker(optional_peer("xgboost").XGBRanker(n_jobs=1, **settings))


def plain_peers(n_trees, leaves, highest):
    """LGBMRanker and XGBRanker as they come."""
    return {"LGBMRanker()": lightgbm(), "XGBRanker()": xgboost()}


def equal_peers(n_trees, leaves, highest):
    """The two with the number and size of our trees, and the gains of the measure."""
    gains = list(range(int(highest) + 1))
    size = {"n_estimators": n_trees, "num_leaves": leaves, "label_gain": gains}
    trees = {"n_estimators": n_trees, "max_leaves": leaves, "max_depth": 0, "learning_rate": 0.1}
    return {
        "LGBMRanker, equal": lightgbm(**size),
        "XGBRanker, equal": xgboost(grow_policy="lossguide", ndcg_exp_gain=False, **trees),
    }


def cells(args, models, peers):
    """For each cell: values by model, (n_queries,), and CPU seconds of the fits.

    ``models()`` are ours by name; ``peers(n_trees, leaves, highest)`` are those of the boosted
    ranker's capacity.
    """
    sets = {"synthetic": partial(of_target, load_synthetic)} if args.tiny else SETS
    for name, load in sets.items():
        X, y, qid = load(args.data)
        queries = np.unique(qid)
        sizes = [10] if args.tiny else [n for n in args.sizes if n < len(queries) // 2]
        for size in [*sizes, len(queries) // 2]:
            values, seconds = {}, {}
            for draw in range(1 if args.tiny else args.draws):
                order = np.random.default_rng(draw).permutation(queries)
                train, test = np.isin(qid, order[:size]), np.isin(qid, order[size:][:MAX_TEST])
                for model, found in fitted(X, y, qid, train, test, models, peers).items():
                    values.setdefault(model, []).append(
                        pd.Series(found[0], index=pd.unique(qid[test]))
                    )
                    seconds[model] = seconds.get(model, 0.0) + found[1]
            means = {m: pd.concat(v).groupby(level=0).mean() for m, v in values.items()}
            yield name, size, {m: v.sort_index().to_numpy() for m, v in means.items()}, seconds


def fitted(X, y, qid, train, test, models, peers):
    """NDCG@10 of each test query, and the CPU seconds of the fit, by model."""
    found = {}
    chosen, capacity = models(), (100, 31)
    while chosen:
        model_name = next(iter(chosen))
        model = chosen.pop(model_name)
        start = process_time()
        model.fit(X[train], y[train], qid=qid[train])
        seconds = process_time() - start
        scores = model.predict(X[test])
        found[model_name] = ndcg_score(y[test], scores, qid=qid[test], k=10, average=None), seconds
        if hasattr(model, "max_leaf_nodes_"):
            capacity = model.n_iter_, model.max_leaf_nodes_
        if not chosen and peers is not None:
            chosen, peers = peers(*capacity, y.max()), None
    return found


def rows_of(found, ours):
    """A row for each cell, model of `ours` and other model, with verdicts by Holm."""
    rows, differences = [], []
    for dataset, size, values, seconds in found:
        for model in ours:
            for other in values:
                if other in ours and ours.index(other) >= ours.index(model):
                    continue
                difference = paired(values[model], values[other])
                differences.append(difference)
                rows.append(
                    {
                        "dataset": dataset,
                        "queries": size,
                        "model": model,
                        "ndcg@10": float(np.nanmean(values[model])),
                        "other": other,
                        "difference": difference.mean,
                        "low": difference.low,
                        "high": difference.high,
                        "seconds": seconds[model] / seconds[other],
                    }
                )
    for row, verdict in zip(rows, verdicts_by_holm(differences), strict=True):
        row["verdict"] = verdict
    return rows


def summary_of(rows):
    """For each pair of models: cells ahead and behind, least and mean difference, time."""
    table = pd.DataFrame(rows)
    found = []
    for (model, other), part in table.groupby(["model", "other"]):
        counts = part["verdict"].value_counts()
        found.append(
            {
                "model": model,
                "other": other,
                "cells": len(part),
                "ahead": int(counts.get("ahead", 0)),
                "behind": int(counts.get("behind", 0)),
                "mean": float(part["difference"].mean()),
                "least": float(part["difference"].min()),
                "most_seconds": float(part["seconds"].max()),
            }
        )
    return found


def add_arguments(parser):
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--draws", type=int, default=3)


def table(args, models, peers, title):
    """Rows and summary of all cells, printed."""
    found = []
    for cell in cells(args, models, peers):
        found.append(cell)
        means = {name: round(float(np.nanmean(v)), 4) for name, v in cell[2].items()}
        print(cell[0], cell[1], means, flush=True)
    rows = rows_of(found, list(models()))
    summary = summary_of(rows)
    print_table(f"{title}: differences of NDCG@10, seconds of the fit over the other's", rows)
    print_table(f"{title}: over the cells", summary)
    return rows + summary
