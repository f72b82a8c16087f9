"""
Quickstart: aim a ranker at NDCG@10, and see whether it pays
============================================================

Given the image of a handwritten digit, find images of the same digit in a catalogue that holds many
zeros and few nines. The main job of this package is done here from beginning to end on real images:
fit, tune in GridSearchCV, and compare with the same regressors on pooled rows, with error bars.

Run as a script it prints a table and writes ``quickstart.png`` to the current folder.
"""

# %%
# The data
# --------
# Each query is an image, its documents are 10 to 200 other images, and a document is relevant if it
# shows the same digit. The catalogue has a long tail, as most have: a nine is ten times as rare as
# a zero, though as many people look for nines. One row of ``X`` compares a query with a candidate;
# ``qid`` says which rows belong to the same query. Whole queries are held out, never single rows.

import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import compare_rankers

digits = load_digits_retrieval(
    n_queries=1600,
    n_candidates=(10, 200),
    popularity=1 / np.arange(1, 11),
    return_images=True,
)
X, y, qid = digits.data, digits.target, digits.qid
train, test = qid < 600, qid >= 600
print(f"600 queries to learn from, 1000 held out; {len(y)} candidates, {y.mean():.0%} relevant")

# %%
# Pooled rows
# -----------
# The plain way is to regress relevance on the features and sort by the prediction. The regression
# spends its effort where most rows are: on long lists, and on the digits that are common.

trees = HistGradientBoostingRegressor(learning_rate=0.05, random_state=0)
pooled_linear = make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13)))
models = {
    "pooled linear": pooled_linear.fit(X[train], y[train]),
    "pooled trees": trees.fit(X[train], y[train]),
}

# %%
# Aimed
# -----
# NDCG@10 is the goal, so it is the scorer. What to aim at is then a parameter like any other, and
# the search may find that another target serves the goal better. ``ranking_target`` packs grades
# and query ids into one array: whatever takes rows out of ``y`` takes their ids out with them.
# ``error_score="raise"`` is worth setting in every search: the default turns an error into nan.
# Any regressor can be aimed: the trees learn NDCG's targets, centred within each query.

target = ranking_target(y, qid)
search = GridSearchCV(
    OrderPreservingRegressor(),
    {"target_loss": ["ndcg@10", "recall@10", "precision@5"]},
    scoring=make_ranking_scorer("ndcg@10"),
    cv=GroupKFold(3),
    error_score="raise",
)
models["aimed linear"] = search.fit(X[train], target[train], groups=qid[train])
models["aimed trees"] = LowRankSurrogateRanker(
    target_loss="ndcg@10", estimator=trees, centered=True
)
models["aimed trees"].fit(X[train], target[train])
for params, value in zip(
    search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True
):
    print(f"linear, aimed at {params['target_loss']:12} NDCG@10 in cross-validation {value:.3f}")

# %%
# Does it pay?
# ------------
# Each query is judged by itself and the differences are paired, so queries that are hard for
# everyone do not blur them. The interval is a bootstrap over queries.

scores = {name: model.predict(X[test]) for name, model in models.items()}
print(f"\n{'held-out queries':16} NDCG@10   aimed - pooled, 95 % interval")
gains = {}
for kind in ("linear", "trees"):
    pair = {name: scores[name] for name in (f"aimed {kind}", f"pooled {kind}")}
    found = compare_rankers(y[test], pair, qid=qid[test], measure="ndcg@10", random_state=0)
    gains[kind] = found
    (low, high), (aimed, pooled) = found.interval[0], found.mean
    print(f"{'pooled ' + kind:16} {pooled:.3f}")
    print(f"{'aimed ' + kind:16} {aimed:.3f}     {aimed - pooled:+.3f}  [{low:+.3f}, {high:+.3f}]")

# %%
# The picture
# -----------
# Three of the queries for rare digits with four such images or more, those at which the gain of the
# linear models is nearest to its upper quartile: the first ten candidates, green where it is the
# same digit.

try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("quickstart.png was not written, it needs matplotlib: pip install '.[plot]'")

found = gains["linear"]
rare = np.isin(digits.digit[digits.query[found.qid]], [7, 8, 9])
rare &= np.bincount(qid, y)[found.qid] >= 4
gain = found.differences[rare, 0]
shown = found.qid[rare][np.argsort(np.abs(gain - np.quantile(gain, 0.75)), kind="stable")[:3]]

figure = plt.figure(figsize=(11, 4.4), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.6, 1])
left.suptitle("Same digit first: queries (black) and their best ten")
axes = left.subplots(6, 11)
for i, query in enumerate(shown):
    rows = np.flatnonzero(qid[test] == query)
    for row_of_axes, kind in zip(axes[2 * i : 2 * i + 2], ("pooled", "aimed"), strict=True):
        name = f"{kind} linear"
        best = rows[np.argsort(-scores[name][rows], kind="stable")[:10]]
        images = [digits.query[query], *digits.candidate[test][best]]
        frames = ["black", *np.where(y[test][best] > 0, "tab:green", "lightgray")]
        for axis, image, frame in zip(row_of_axes, images, frames, strict=True):
            axis.imshow(digits.images[image], cmap="gray_r")
            axis.set(xticks=[], yticks=[])
            axis.spines[:].set_color(frame)
            axis.spines[:].set_linewidth(3)
        row_of_axes[0].set_ylabel(kind, rotation=0, ha="right", va="center")

axis = right.subplots()
place = np.arange(len(gains))
middle = np.array([found.differences.mean() for found in gains.values()])
ends = np.array([found.interval[0] for found in gains.values()])
axis.bar(place, middle, 0.5, color=["tab:blue", "tab:green"])
axis.errorbar(place, middle, [middle - ends[:, 0], ends[:, 1] - middle], fmt="none", color="black")
axis.axhline(0, color="black", linewidth=0.8)
axis.set_xticks(place, gains)
axis.set(title="NDCG@10 gained by aiming,\nwith 95 % intervals", xlim=(-0.6, 1.6))
figure.savefig("quickstart.png", dpi=90)
print("Figure written to quickstart.png in the current folder.")
plt.show()
