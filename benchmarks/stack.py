"""A stack of rankers against its best part in hindsight, and against LightGBM and XGBoost.

sets: StackingRanker with the parts of scikit-learn (its defaults) and with LightGBM's (ridge,
ridge on quantiles, LGBMRegressor, LGBMRanker, LGBMRanker of 7 leaves), fitted for the measure that
judges it. Outer folds are by query and drawn anew in each partition; the value of a query is its
mean over the partitions. "best part" is the one with the largest mean on the test folds, which
nobody knows before. Peers are LGBMRanker and XGBRanker with their defaults, and tuned on 3 inner
folds (5 settings each). Differences are paired over queries, with 95 % intervals of a t test;
verdicts on the peers are those of Holm's procedure over the table.

trees: `estimator="trees"`, and the small trees that it was on any number of rows before, against
LGBMRanker() on the README's main job and on days with few positives, with the time of the fits.
"""

from functools import partial
from time import process_time

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.special import expit
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from lowrank_rank import (
    BoosterRanker,
    LowRankSurrogateRanker,
    StackingRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval, make_ranking
from lowrank_rank.meta._stacking import as_ranker, default_parts
from lowrank_rank.regression._any_regressor import small_trees
from lowrank_rank.target_losses import resolve_measure

from ._common import bar_row, optional_peer, print_table
from ._letor import load_clueweb09, load_lightgbm_example, load_synthetic
from .defaults import paired, verdicts_by_holm

#: What tuning chooses from; the first is the default.
SETTINGS = {
    "LGBMRanker": [
        {},
        {"num_leaves": 7},
        {"num_leaves": 7, "learning_rate": 0.05, "n_estimators": 200},
        {"min_child_samples": 50},
        {"num_leaves": 15, "n_estimators": 50},
    ],
    "XGBRanker": [
        {},
        {"max_depth": 3},
        {"max_depth": 3, "learning_rate": 0.05, "n_estimators": 200},
        {"learning_rate": 0.1},
        {"max_depth": 4, "n_estimators": 50, "learning_rate": 0.1},
    ],
}


# Sets -----------------------------------------------------------------------------------


def digits(data, n_queries):
    found = load_digits_retrieval(n_queries=n_queries)
    return found.data, ranking_target(found.target, found.qid)


def generated(data, seed):
    """Scores that are linear but for noise."""
    X, y, qid = make_ranking(n_lists=150, n_items=(5, 20), n_features=20, random_state=seed)
    return X, ranking_target(y, qid)


def rare_days(data, n_days=120, n_rows=200):
    """Days with about 4 % positives; the features are amounts, and some act together."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(n_days), n_rows)
    Z = rng.standard_normal((len(qid), 12))
    risk = Z[:, 0] + Z[:, 1] * (Z[:, 2] > 0) + 2 * (Z[:, 3] > 1) * (Z[:, 4] > 0)
    y = rng.random(len(qid)) < expit(1.5 * risk - 5.5 + rng.standard_normal(n_days)[qid])
    return np.exp(Z), ranking_target(y.astype(float), qid)


def main_job(data):
    """The digits of the README."""
    found = load_digits_retrieval(
        n_queries=1600, n_candidates=(10, 200), popularity=1 / np.arange(1, 11)
    )
    return found.data, ranking_target(found.target, found.qid)


SETS = {
    "lightgbm_example": load_lightgbm_example,
    **{f"generated, seed {seed}": partial(generated, seed=seed) for seed in (1, 2, 3)},
    "digits, 100 queries": partial(digits, n_queries=100),
    "rare days": rare_days,
    "clueweb09": load_clueweb09,
    "digits, 500 queries": partial(digits, n_queries=500),
}


# Command --------------------------------------------------------------------------------


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=["sets", "trees"], default=["sets", "trees"])
    parser.add_argument("--dataset", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--measure", nargs="+", default=["ndcg@10", "map"])
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--cv", type=int, default=5, help="folds of the stack")
    parser.add_argument("--n-jobs", type=int, default=2)


def run(args):
    """Tables of the differences from parts and from peers, and of the trees."""
    if optional_peer("lightgbm") is None or optional_peer("xgboost") is None:
        return []
    rows = []
    if "sets" in args.part:
        rows += of_sets(args)
    if "trees" in args.part:
        rows += of_trees(args)
    return rows


def of_sets(args):
    sets = {"synthetic": load_synthetic} if args.tiny else {n: SETS[n] for n in args.dataset}
    parts, peers = [], []
    for measure in args.measure:
        for dataset, load in sets.items():
            values, n_before = held_out(*load(args.data), measure, args), len(peers)
            for kind in ("scikit-learn", "LightGBM"):
                stack = values[kind, "stack"]
                names = [name for of, name in values if of == kind and name != "stack"]
                best = max(names, key=lambda name: np.nanmean(values[kind, name]))
                columns = {"measure": measure, "dataset": dataset, "parts": kind}
                columns["stack"] = float(np.nanmean(stack))
                parts.append(compared(columns, "best_part", best, stack, values[kind, best]))
                for of, peer in [key for key in values if key[0] == "peer"]:
                    peers.append(compared(columns, "peer", peer, stack, values[of, peer]))
            n_peers = len(peers) - n_before
            for title, found in (("its best part", parts[-2:]), ("its peers", peers[-n_peers:])):
                shown = [{k: v for k, v in row.items() if k != "found"} for row in found]
                print_table(f"{dataset}, {measure}: the stack minus {title}", shown)
    differences = [row.pop("found") for row in parts]
    for row, found in zip(parts, differences, strict=True):
        row["verdict"] = "ok" if found.high >= -0.005 else "MISSED"
    verdicts = verdicts_by_holm([row.pop("found") for row in peers])
    for row, verdict in zip(peers, verdicts, strict=True):
        row["verdict"] = verdict
    print_table("the stack minus its best part in hindsight", parts)
    print_table("the stack minus its peers", peers)
    means = pd.DataFrame(parts).groupby(["measure", "parts"])["difference"].mean()
    summary = [
        {"measure": measure, "parts": kind, "mean_difference": float(mean)}
        for (measure, kind), mean in means.items()
    ]
    print_table("mean over the sets", summary)
    return parts + peers + summary


def compared(columns, role, name, stack, other):
    found = paired(stack, other)
    value = {role: name, "value": float(np.nanmean(other))}
    ends = {"difference": found.mean, "low": found.low, "high": found.high}
    return {**columns, **value, **ends, "found": found}


def held_out(X, target, measure, args):
    """Mean of the measure over the partitions for each query, by (kind, model)."""
    query = pd.factorize(target["qid"])[0]
    n_partitions, n_folds = (1, 2) if args.tiny else (args.partitions, 4)
    folds = [
        fold
        for partition in range(n_partitions)
        for fold in GroupKFold(n_folds, shuffle=True, random_state=partition).split(X, None, query)
    ]
    found = Parallel(n_jobs=1 if args.tiny else args.n_jobs)(
        delayed(fold_values)(X, ranking_target(target["y"], query), *fold, measure, args)
        for fold in folds
    )
    values = {key: np.zeros(query.max() + 1) for key in found[0]}
    for (_, test), one in zip(folds, found, strict=True):
        for key in values:
            values[key][pd.unique(query[test])] += one[key] / n_partitions
    return values


def fold_values(X, target, train, test, measure, args):
    """The measure on each query of the test fold, by (kind, model)."""
    judge, tiny = resolve_measure(measure), args.tiny
    train = X[train], target[train]
    scores = {}
    kinds = {
        "scikit-learn": default_parts(train[0], 1, judge),
        "LightGBM": lightgbm_parts(judge, tiny),
    }
    for kind, parts in kinds.items():
        stack = StackingRanker(estimators=parts, target_loss=measure, cv=2 if tiny else args.cv)
        scores[kind, "stack"] = stack.fit(*train).predict(X[test])
        for name, part in parts:
            fitted = stack.estimators_.get(name) or as_ranker(part, 1).fit(*train)
            scores[kind, name] = fitted.predict(X[test])
    for name, settings in SETTINGS.items():
        plain = BoosterRanker(booster(name))
        scores["peer", name] = plain.fit(*train).predict(X[test])
        grid = [{f"estimator__{k}": [v] for k, v in one.items()} for one in settings]
        search = GridSearchCV(
            plain,
            grid[:2] if tiny else grid,
            scoring=make_ranking_scorer(measure),
            cv=GroupKFold(2 if tiny else 3),
            error_score="raise",
        )
        search.fit(*train, groups=train[1]["qid"])
        scores["peer", f"{name}, tuned"] = search.predict(X[test])
    y, qid = target["y"][test], target["qid"][test]
    return {key: judge.measure(y, s, qid=qid, average=None) for key, s in scores.items()}


def booster(name, **settings):
    """LGBMRanker or XGBRanker on one thread."""
    if name == "XGBRanker":
        return optional_peer("xgboost").XGBRanker(n_jobs=1, **settings)
    return getattr(optional_peer("lightgbm"), name)(n_jobs=1, verbose=-1, **settings)


def lightgbm_parts(loss, tiny):
    quantiles = QuantileTransformer(n_quantiles=10 if tiny else 100, random_state=0)
    return [
        ("ridge", LowRankSurrogateRanker(target_loss=loss)),
        ("quantiles", make_pipeline(quantiles, LowRankSurrogateRanker(target_loss=loss))),
        ("regressor", booster("LGBMRegressor")),
        ("ranker", booster("LGBMRanker")),
        ("small_ranker", booster("LGBMRanker", num_leaves=7)),
    ]


def of_trees(args):
    """Rows of "trees", today's and those before, against LGBMRanker()."""
    sets = {"main job": (main_job, 600), "rare days": (partial(rare_days, n_days=500), 250)}
    if args.tiny:
        sets = {"synthetic": (load_synthetic, 15)}
    rows = []
    for dataset, (load, n_train) in sets.items():
        X, target = load(args.data)
        query = pd.factorize(target["qid"])[0]
        train, test = query < n_train, query >= n_train
        regressor, n_passes = small_trees(train.sum())
        models = {
            "LGBMRanker": BoosterRanker(booster("LGBMRanker")),
            "trees": LowRankSurrogateRanker(estimator="trees", random_state=0),
            "small trees": LowRankSurrogateRanker(
                estimator=regressor, centered=True, n_passes=n_passes, random_state=0
            ),
        }
        judge, values, seconds = resolve_measure("ndcg@10"), {}, {}
        for name, model in models.items():
            start = process_time()
            model.fit(X[train], target[train])
            seconds[name] = process_time() - start
            scores = model.predict(X[test])
            y, qid = target["y"][test], query[test]
            values[name] = judge.measure(y, scores, qid=qid, average=None)
        for name in ("trees", "small trees"):
            found = paired(values[name], values["LGBMRanker"])
            columns = {"dataset": dataset, "rows": int(train.sum()), "model": name}
            columns |= {"ndcg@10": float(np.nanmean(values[name])), "difference": found.mean}
            columns |= {"low": found.low, "high": found.high}
            ratio = seconds[name] / seconds["LGBMRanker"]
            is_barred = name == "trees" and dataset == "main job"
            rows.append(bar_row(**columns, value=ratio, at_most=3.0 if is_barred else None))
    print_table("trees minus LGBMRanker(); value: seconds of fit over its seconds", rows)
    return rows
