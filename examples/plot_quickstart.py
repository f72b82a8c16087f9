"""
Quickstart: who wins with how many judged queries?
==================================================

A linear ranker, boosted trees, and a stack of them and a forest are fitted on 10, 50 and 200 judged
queries. The figure shows NDCG@10 on other queries, minus that of ``LGBMRanker()`` on
the same queries. Another line is LGBMRanker with as many trees as ours. Without
LightGBM the zero line is scikit-learn's HistGradientBoostingRegressor on the grades.

The script prints a table and writes ``quickstart.png`` to the current folder.
``python -m benchmarks quality`` goes up to 800 queries, with ten draws.
"""

# %%
# Two sets of data
# ----------------
# *Clean labels*: each query is an image of a handwritten digit, its documents are other
# images, and a document is relevant if it shows the same digit. One row of ``X``
# compares the two images.
#
# *Noisy grades*: each query belongs to one of three judges, who differ in taste.
# Features act alone and together, and a grade from 0 to 4 is what the judge sees, plus
# noise. These data are generated.

import sys
from importlib.util import find_spec
from time import process_time

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupShuffleSplit
from threadpoolctl import threadpool_limits

from lowrank_rank import (
    HistGradientBoostingRanker,
    OrderPreservingRegressor,
    StackingRanker,
    WrappedRanker,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_learning_curve, query_train_test_split


def noisy_grades(n_queries=500, length=20):
    """Features, grades and query ids."""
    rng = np.random.default_rng(0)
    qid = np.arange(n_queries).repeat(length)
    X = rng.normal(size=(len(qid), 12))
    tastes = 0.5 * rng.normal(size=(3, 12))
    utility = X[:, :4] @ [1.0, 0.7, 0.5, 0.5] + X[:, 4] * (X[:, 5] > 0)
    seen = utility + (X * tastes[qid % 3]).sum(axis=1) + 2.0 * rng.normal(size=len(qid))
    return (
        X,
        np.digitize(seen, np.quantile(seen, [0.5, 0.75, 0.9, 0.97])).astype(float),
        qid,
    )


digits = load_digits_retrieval(n_queries=500)
sets = {
    "clean labels (digits)": (digits.data, digits.target.astype(float), digits.qid),
    "noisy grades (three judges)": noisy_grades(),
}

# %%
# The rankers
# -----------
# All have their default parameters, and one LGBMRanker has as many trees, of as many
# leaves, as our trees have at this number of queries. `StackingRanker` fits the linear
# ranker, the trees and a forest to two thirds of the queries, and weighs them by NDCG@10
# on the others.

zero = "LGBMRanker" if find_spec("lightgbm") else "trees on grades"


def rankers_of(n_queries, X, y, qid):
    """Rankers by name, the reference last."""
    trees = HistGradientBoostingRanker(random_state=0)
    rankers = {
        "OrderPreservingRegressor": OrderPreservingRegressor(),
        "HistGradientBoostingRanker": trees,
        "StackingRanker": StackingRanker(),
    }
    if find_spec("xgboost"):
        from xgboost import XGBRanker

        rankers["XGBRanker"] = WrappedRanker(XGBRanker(n_jobs=1))
    if not find_spec("lightgbm"):
        boosted = HistGradientBoostingRegressor(random_state=0)
        return rankers | {zero: WrappedRanker(boosted)}
    from lightgbm import LGBMRanker

    some = qid < n_queries
    ours = clone(trees).fit(X[some], y[some], qid=qid[some])
    equal = LGBMRanker(
        n_estimators=2 * ours.n_iter_,  # a round is a tree of each of two losses
        num_leaves=ours.max_leaf_nodes_,
        label_gain=list(range(int(y.max()) + 1)),  # the gains of our NDCG
        n_jobs=1,
        verbose=-1,
    )
    rankers["LGBMRanker, as many trees"] = WrappedRanker(equal)
    return rankers | {zero: WrappedRanker(LGBMRanker(n_jobs=1, verbose=-1))}


# %%
# With 200 judged queries
# -----------------------
# Queries are split, never rows. One fit each on one thread, and its CPU time:

print(f"{'':29}{'NDCG@10 with 200 judged queries, CPU seconds of the fit':>30}")
for title, (X, y, qid) in sets.items():
    parts = query_train_test_split(X, y, qid=qid, train_size=200, random_state=0)
    X_train, X_test, y_train, y_test, qid_train, qid_test = parts
    print(title)
    for name, ranker in rankers_of(200, X, y, qid).items():
        start = process_time()
        with threadpool_limits(1):
            ranker.fit(X_train, y_train, qid=qid_train)
        seconds = process_time() - start
        ndcg = ndcg_score(y_test, ranker.predict(X_test), qid=qid_test, k=10)
        print(f"  {name:27}{ndcg:.3f} {seconds:7.2f}")

# %%
# With 10 to 200
# --------------
# Queries for training and for testing are drawn five times. A line is the mean
# difference over the five draws. The band is its 95 % interval by Student's t. Test
# queries of the draws overlap, so the bands are a little too narrow.


sizes = [10, 50, 200]
folds = GroupShuffleSplit(5, test_size=200, random_state=0)


def curves_of(X, y, qid):
    """NDCG@10 of each ranker, an array (sizes, draws)."""
    curves = {}
    for n_queries in sizes:
        for name, ranker in rankers_of(n_queries, X, y, qid).items():
            _, _, scores = query_learning_curve(
                ranker,
                X,
                y,
                qid=qid,
                train_sizes=[n_queries],
                cv=folds,
                n_jobs=2,
                random_state=0,  # each size takes the first of the same order
            )
            curves.setdefault(name, []).append(scores[0])
    return {name: np.array(scores) for name, scores in curves.items()}


def draw_differences(axis, curves):
    """Draw the learning curve of each ranker minus that of the reference."""
    axis.axhline(0.0, color="0.5", linestyle="--", label=f"{zero} (reference)")
    for name, scores in curves.items():
        if name == zero:
            continue
        differences = scores - curves[zero]
        mean = differences.mean(axis=1)
        half = stats.t.ppf(0.975, differences.shape[1] - 1) * stats.sem(
            differences, axis=1
        )
        (line,) = axis.plot(sizes, mean, marker="o", linewidth=2.5, label=name)
        axis.fill_between(
            sizes, mean - half, mean + half, color=line.get_color(), alpha=0.2
        )
    axis.set_xscale("log")
    axis.set_xticks(sizes, map(str, sizes))


try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit(
        "quickstart.png was not written, it needs matplotlib: pip install '.[quickstart]'"
    )

plt.rcParams["font.size"] = 13  # readable on a phone
figure, axes = plt.subplots(2, 1, figsize=(6.2, 8.4), sharex=True, layout="constrained")
for axis, (title, (X, y, qid)) in zip(axes, sets.items(), strict=True):
    draw_differences(axis, curves_of(X, y, qid))
    axis.set(title=title, ylabel=f"NDCG@10 minus {zero}")
    axis.grid(alpha=0.4)
axes[1].legend(fontsize=11)
axes[1].set_xlabel("judged queries")
figure.savefig("quickstart.png", dpi=120)
print("\nFigure written to quickstart.png in the current folder.")
plt.show()
