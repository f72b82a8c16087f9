"""Rankers of documents by the number of judged queries: models x sets x sizes x draws.

A draw is a fold of the queries: its queries judge, and the first `size` of the other queries, in
random order, are fitted (0: all of them). The table has NDCG@10 minus that of the reference, the
mean over draws with its standard error, and CPU seconds of the fits over those of the reference.
Training queries of the draws overlap, so the standard errors are a little too small.

"As many trees" has as many trees in all as our trees at this size, of as many leaves, and the gains
of the measure. "LGBMRanker + LGBMRegressor" adds two models of half of these trees: the regressor
is fitted to grades that are centred within queries, and each model counts in units of the standard
deviation of its scores within queries. CatBoost has trees of as many leaves.

--png draws the first two of --sets: the README's figure is
``quality --png figure.png --sets digits "noisy grades" --sizes 10 20 50 100 200 400 800 --draws 10
--models linear trees stack "XGBRanker()" "LGBMRanker, as many trees"``.
"""

from pathlib import Path
from time import process_time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    StackingRanker,
    WrappedRanker,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import StructuredHingeRanker

from ._common import optional_peer, paired, print_table
from ._sets import DOCUMENTS, generated

REFERENCE = "LGBMRanker()"
RATE = 0.1  # learning rate of all boosted trees

# Models -----------------------------------------------------------------------------------


def lightgbm(**settings):
    """LGBMRanker on one thread, as a ranker; None where LightGBM is not installed."""
    library = optional_peer("lightgbm")
    return library and WrappedRanker(
        library.LGBMRanker(n_jobs=1, verbose=-1, **settings)
    )


def stopped_lightgbm():
    """LGBMRanker with the number of trees that is best on a fifth of the queries."""
    ranker = lightgbm(n_estimators=1000)
    return ranker and ranker.set_params(
        early_stopping=True,
        validation_fraction=0.2,
        n_iter_no_change=50,
        random_state=0,
    )


def xgboost(**settings):
    """XGBRanker on one thread, as a ranker."""
    library = optional_peer("xgboost")
    return library and WrappedRanker(library.XGBRanker(n_jobs=1, **settings))


def gains(highest):
    """LightGBM's table of linear gains."""
    return list(range(int(highest) + 1))


def equal_lightgbm(n_trees, leaves, highest):
    return lightgbm(n_estimators=n_trees, num_leaves=leaves, label_gain=gains(highest))


def equal_xgboost(n_trees, leaves, highest):
    shape = {"max_leaves": leaves, "max_depth": 0, "grow_policy": "lossguide"}
    return xgboost(
        n_estimators=n_trees, learning_rate=RATE, ndcg_exp_gain=False, **shape
    )


def equal_catboost(n_trees, leaves, highest):
    """YetiRank on symmetric trees of as many leaves, rounded up to a power of 2."""
    library = optional_peer("catboost")
    return library and WrappedRanker(
        library.CatBoostRanker(
            loss_function="YetiRank",
            iterations=n_trees,
            depth=int(np.ceil(np.log2(leaves))),
            learning_rate=RATE,
            thread_count=1,
            verbose=False,
            allow_writing_files=False,
        )
    )


class TwoLightGBM(RegressorMixin, BaseEstimator):
    """Sum of LGBMRanker and of LGBMRegressor on centred grades, each in units of its spread.

    Rows come sorted by query: `WrappedRanker` passes `group`, the lengths of the lists.
    """

    def __init__(self, n_trees=100, leaves=31, highest=1):
        self.n_trees = n_trees
        self.leaves = leaves
        self.highest = highest

    def fit(self, X, y, group):
        library = optional_peer("lightgbm")
        settings = {
            "n_estimators": max(self.n_trees // 2, 1),
            "num_leaves": self.leaves,
        }
        settings |= {"n_jobs": 1, "verbose": -1}
        ranker = library.LGBMRanker(label_gain=gains(self.highest), **settings)
        ranker.fit(X, y, group=group)
        regressor = library.LGBMRegressor(**settings).fit(X, centred(y, group))
        self.models_ = [
            (model, centred(model.predict(X), group).std() or 1.0)
            for model in (ranker, regressor)
        ]
        return self

    def predict(self, X):
        return sum(model.predict(X) / spread for model, spread in self.models_)


def centred(values, group):
    """Values minus the mean of their list."""
    of_row = np.repeat(np.arange(len(group)), group)
    return values - (np.bincount(of_row, values) / group)[of_row]


def two_lightgbm(n_trees, leaves, highest):
    return optional_peer("lightgbm") and WrappedRanker(
        TwoLightGBM(n_trees, leaves, highest)
    )


def advised(*_):
    """LightGBM under cross-entropy with the settings of `boosting_objective` in the guide."""
    return lightgbm(
        objective=boosting_objective("cross_entropy", "ndcg@10"),
        n_estimators=200,
        learning_rate=0.05,
        num_leaves=7,
        min_child_samples=50,
        colsample_bynode=0.3,
        random_state=0,
    )


def pooled(model):
    """A model of the grade of each row, without queries."""
    return WrappedRanker(make_pipeline(StandardScaler(), model))


def slow_trees():
    return HistGradientBoostingRegressor(learning_rate=0.05, random_state=0)


def slow_forest():
    return ExtraTreesRegressor(min_samples_leaf=5, max_features=1 / 3, random_state=0)


def two_parts():
    """The linear ranker and the boosted trees of the default stack, without the forest."""
    trees = HistGradientBoostingRanker(random_state=0)
    return StackingRanker([("linear", OrderPreservingRegressor()), ("trees", trees)])


#: By name: a function of our number of trees, their leaves and the highest grade.
MODELS = {
    "linear": lambda *_: OrderPreservingRegressor(),
    "trees": lambda *_: HistGradientBoostingRanker(random_state=0),
    "stack": lambda *_: StackingRanker(),
    "stack of two parts": lambda *_: two_parts(),
    REFERENCE: lambda *_: lightgbm(),
    "LGBMRanker, as many trees": equal_lightgbm,
    "LGBMRanker + LGBMRegressor": two_lightgbm,
    "CatBoost YetiRank": equal_catboost,
    "XGBRanker()": lambda *_: xgboost(),
    "pooled ridge": lambda *_: pooled(RidgeCV(np.logspace(-2, 4, 13))),
    "pooled trees": lambda *_: WrappedRanker(slow_trees()),
    "pooled forest": lambda *_: WrappedRanker(slow_forest()),
    # the rest by name only
    "trees, early stopping": lambda *_: HistGradientBoostingRanker(
        early_stopping=True, max_iter=400, random_state=0
    ),
    "stack, early stopping": lambda *_: StackingRanker(
        {"trees__early_stopping": True, "trees__max_iter": 400}
    ),
    "LGBMRanker, 400 trees": lambda *_: lightgbm(n_estimators=400),
    "LGBMRanker, early stopping": lambda *_: stopped_lightgbm(),
    "XGBRanker, as many trees": equal_xgboost,
    "LGBMRanker, 7 leaves": lambda n, leaves, highest: lightgbm(
        num_leaves=7, label_gain=gains(highest)
    ),
    "LightGBM, cross-entropy": advised,
    "ridge": lambda *_: LowRankSurrogateRanker(),
    "trees of the gains": lambda *_: LowRankSurrogateRanker(estimator=slow_trees()),
    "pooled logistic": lambda *_: pooled(LogisticRegression(max_iter=1000)),
    "hinge of pairs": lambda *_: StructuredHingeRanker(),  # linear RankSVM
    "hinge of NDCG": lambda *_: StructuredHingeRanker(target_loss="ndcg@10"),
}
DEFAULT = list(MODELS)[:12]


# The table --------------------------------------------------------------------------------


def add_arguments(parser):
    parser.add_argument("--models", nargs="+", choices=MODELS, default=DEFAULT)
    parser.add_argument(
        "--sets", nargs="+", choices=DOCUMENTS, default=list(DOCUMENTS)[:4]
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[20, 100, 400], metavar="N"
    )
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--reference", choices=MODELS, default=REFERENCE)
    parser.add_argument(
        "--png", type=Path, help="draw the differences here (needs matplotlib)"
    )


def run(args):
    """A row for each set, size and model."""
    sets = {name: DOCUMENTS[name] for name in args.sets}
    if args.tiny:
        sets = dict.fromkeys(args.sets[:2], tiny_set)
        args.sizes, args.draws = [5, 10], 2
    names = [args.reference, *(name for name in args.models if name != args.reference)]
    rows = []
    with threadpool_limits(1):
        for dataset, load in sets.items():
            values, seconds = curves(*load(args.data), names, args.sizes, args.draws)
            rows += rows_of(dataset, values, seconds, args.reference)
    print_table(f"NDCG@10 minus that of {args.reference}, {args.draws} draws", rows)
    print_table(f"Over the cells, against {args.reference}", list(summary_of(rows)))
    if args.png is not None and rows:
        draw(rows, args)
    return rows


def tiny_set(data):
    return generated(data, n_lists=30, n_features=5, seed=0)


def curves(X, y, qid, names, sizes, draws):
    """NDCG@10 and CPU seconds by (size, model), a list over the draws."""
    folds = list(
        GroupKFold(max(draws, 4), shuffle=True, random_state=0).split(X, y, qid)
    )[:draws]
    rng = np.random.RandomState(209652396)  # the orders of the README's figure
    queries = [rng.permutation(np.unique(qid[train])) for train, _ in folds]
    available = min(map(len, queries))
    values, seconds = {}, {}
    for size in sizes:
        if size > available:
            continue
        for (train, test), shuffled in zip(folds, queries, strict=True):
            some = train[np.isin(qid[train], shuffled[: size or None])]
            shape = (
                shape_of_ours(X[some], y[some], qid[some]) if needs_shape(names) else ()
            )
            for name in names:
                model = MODELS[name](*(shape or (None, None)), y.max())
                if model is None:
                    continue
                start = process_time()
                model.fit(X[some], y[some], qid=qid[some])
                key = size or available, name
                seconds.setdefault(key, []).append(process_time() - start)
                scores = model.predict(X[test])
                values.setdefault(key, []).append(
                    ndcg_score(y[test], scores, qid=qid[test], k=10)
                )
    return values, seconds


def needs_shape(names):
    """Whether a model has as many trees as ours."""
    sized = (equal_lightgbm, equal_xgboost, equal_catboost, two_lightgbm)
    return any(MODELS[name] in sized for name in names)


def shape_of_ours(X, y, qid):
    """Number of trees in all, and leaves, of our default trees of these rows."""
    model = HistGradientBoostingRanker(random_state=0).fit(X, y, qid=qid)
    return model.estimator_.n_iter_, model.max_leaf_nodes_


def rows_of(dataset, values, seconds, reference):
    rows = []
    for (size, name), found in values.items():
        if (size, reference) not in values:
            return []
        difference = paired(found, values[size, reference])
        rows.append(
            {
                "set": dataset,
                "queries": size,
                "model": name,
                "ndcg@10": float(np.mean(found)),
                "difference": difference.mean,
                "se": difference.se,
                "seconds": sum(seconds[size, name]) / sum(seconds[size, reference]),
            }
        )
    return rows


def summary_of(rows):
    """Mean and least difference of each model, and cells beyond two standard errors."""
    for name in dict.fromkeys(row["model"] for row in rows):
        cells = [row for row in rows if row["model"] == name]
        yield {
            "model": name,
            "cells": len(cells),
            "mean": float(np.mean([row["difference"] for row in cells])),
            "least": min(row["difference"] for row in cells),
            "ahead": sum(row["difference"] > 2 * row["se"] for row in cells),
            "behind": sum(row["difference"] < -2 * row["se"] for row in cells),
            "most_seconds": max(row["seconds"] for row in cells),
        }


def draw(rows, args):
    """A panel for each of the first two sets, with the band of 95 % intervals."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullLocator
    from scipy.stats import t

    titles = {
        "digits": "clean labels (digits)",
        "noisy grades": "noisy grades (three judges)",
    }
    figure = Figure(figsize=(6.2, 7.6), layout="constrained")
    panels = figure.subplots(2, 1, sharex=True)
    width = t.ppf(0.975, args.draws - 1)
    for axes, dataset in zip(panels, args.sets, strict=False):
        axes.axhline(0.0, color="k", linewidth=1)
        for name, marker in zip(args.models, "os^Dv<>pP*", strict=False):
            of_model = [
                row for row in rows if (row["set"], row["model"]) == (dataset, name)
            ]
            x, mean, se = (
                np.array([row[key] for row in of_model])
                for key in ("queries", "difference", "se")
            )
            (line,) = axes.plot(
                x, mean, marker=marker, linewidth=2.5, markersize=7, label=name
            )
            axes.fill_between(
                x,
                mean - width * se,
                mean + width * se,
                color=line.get_color(),
                alpha=0.2,
            )
        axes.set_title(titles.get(dataset, dataset), fontsize=15)
        axes.set_ylabel(f"NDCG@10 minus\n{args.reference}", fontsize=13)
        axes.set_xscale("log")
        axes.set_xticks(x, [str(n) for n in x])
        axes.tick_params(labelsize=13)
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(alpha=0.4)
    panels[-1].set_xlabel("judged queries", fontsize=13)
    figure.legend(
        *panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2
    )
    figure.savefig(args.png, dpi=140)
