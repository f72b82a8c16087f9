"""
Quickstart: tune a ranker and compare target losses
===================================================

Given the image of a handwritten digit, find other images of the same digit. The main job of
this package is done here from beginning to end on real images: encode and fit, tune inside a
Pipeline with GridSearchCV, compare target losses on held-out queries, and change the regressor.

Run as a script it prints a table and writes ``quickstart.png`` to the current folder.
"""

# %%
# The data
# --------
# Each query is an image, its documents are 40 other images, and a document is relevant if it
# shows the same digit. One row of ``X`` describes one pair (query, document). ``qid`` says which
# rows belong to the same query; whole queries are held out, never single rows.

import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, make_ranking_scorer, ranking_target
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import ndcg_score

digits = load_digits_retrieval(n_queries=600, n_candidates=40, return_images=True)
X, y, qid = digits.data, digits.target, digits.qid
train, test = next(GroupShuffleSplit(test_size=0.4, random_state=0).split(X, groups=qid))
print(f"{len(np.unique(qid[train]))} queries to learn from, {len(np.unique(qid[test]))} held out")

# %%
# ``ranking_target`` packs the grades and the query ids into one array. Whatever takes rows out
# of ``y``, a cross-validation for example, takes their ids out with them.

target_train = ranking_target(y[train], qid[train])
target_test = ranking_target(y[test], qid[test])

# %%
# Tuning
# ------
# The target loss is a parameter like any other, so it can be searched. One scorer computes all
# measures from one prediction. ``error_score="raise"`` is worth setting in every search: the
# default turns an exception into nan and goes on.

LOSSES = ["precision@1", "precision@5", "recall@10", "ndcg@10", "map", "auc"]
score_all = make_ranking_scorer(LOSSES)
search = GridSearchCV(
    Pipeline([("scale", StandardScaler()), ("ranker", LowRankSurrogateRanker())]),
    {"ranker__target_loss": LOSSES, "ranker__alpha": [1.0, 10.0, 100.0, 1000.0]},
    scoring=score_all,
    refit="ndcg@10",
    cv=GroupKFold(5),
    error_score="raise",
)
search.fit(X[train], target_train, groups=qid[train])
print("Best by NDCG@10:", search.best_params_)
print(f"Cross-validated NDCG@10: {search.best_score_:.3f}")

# %%
# Which loss for which measure?
# -----------------------------
# For each target loss we take the penalty that served *that* loss best in the search, fit once
# more on all training queries, and measure the held-out queries by everything. Two more rows:
# least squares on the grades that knows nothing of queries ("pooled"), and the same ranker with a
# tree regressor in place of ridge regression.

tried = search.cv_results_
models = {}
for loss in LOSSES:
    rows = np.flatnonzero(tried["param_ranker__target_loss"] == loss)
    best = rows[np.argmax(tried[f"mean_test_{loss}"][rows])]
    model = Pipeline([("scale", StandardScaler()), ("ranker", LowRankSurrogateRanker())])
    models[loss] = model.set_params(**tried["params"][best]).fit(X[train], target_train)

models["pooled"] = LinearRegression().fit(X[train], y[train])
trees = HistGradientBoostingRegressor(learning_rate=0.05, random_state=0)
models["ndcg@10, trees"] = LowRankSurrogateRanker(target_loss="ndcg@10", estimator=trees)
models["ndcg@10, trees"].fit(X[train], target_train)

table = {name: score_all(model, X[test], target_test) for name, model in models.items()}
print("Held-out queries. Rows: fitted for; columns: measured by")
print(" " * 16 + "".join(f"{loss:>12}" for loss in LOSSES))
for name, row in table.items():
    print(f"{name:16}" + "".join(f"{row[loss]:12.3f}" for loss in LOSSES))

# %%
# What is within two standard errors should not be read as a difference:

per_query = ndcg_score(
    y[test], models["ndcg@10"].predict(X[test]), qid=qid[test], k=10, average=None
)
per_query = per_query[~np.isnan(per_query)]  # queries without any relevant document have no NDCG
print(f"Standard error of the NDCG@10: {per_query.std(ddof=1) / np.sqrt(len(per_query)):.3f}")

# %%
# Relevance is 0 or 1 here and means the same in every query. Then the losses differ only in how a
# query counts by its number of relevant documents, a linear model gains little from the right one,
# and even least squares on the pooled rows comes close; what helps is a regressor that bends.
# Where grades conflict the choice of the loss decides
# (:ref:`sphx_glr_auto_examples_plot_calibration.py`), and where features have an offset per query
# pooling fails (:ref:`sphx_glr_auto_examples_plot_letor_file.py`).
#
# The picture
# -----------
# Four held-out queries with their eight best candidates; a green frame is a relevant one.

try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("quickstart.png was not written, it needs matplotlib: pip install '.[plot]'")

scores = models["ndcg@10, trees"].predict(X[test])
shown = [q for q in np.unique(qid[test]) if y[qid == q].sum() >= 4][:4]

figure = plt.figure(figsize=(11, 4.2), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[1.15, 1])
left.suptitle("Queries (black) and their best candidates (green: relevant)")
axes = left.subplots(len(shown), 9)
for row, query in zip(axes, shown, strict=True):
    rows = np.flatnonzero(qid[test] == query)
    best = test[rows[np.argsort(-scores[rows])[:8]]]
    images = [digits.query[query], *digits.candidate[best]]
    frames = ["black", *np.where(y[best] > 0, "tab:green", "tab:red")]
    for axis, image, frame in zip(row, images, frames, strict=True):
        axis.imshow(digits.images[image], cmap="gray_r")
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_color(frame)
        axis.spines[:].set_linewidth(2.5)

axis = right.subplots()
drawn = {
    "least squares, queries ignored": "pooled",
    "ridge for NDCG@10": "ndcg@10",
    "trees for NDCG@10": "ndcg@10, trees",
}
place = np.arange(len(LOSSES))
for i, (label, name) in enumerate(drawn.items()):
    axis.bar(place + 0.27 * (i - 1), list(table[name].values()), 0.25, label=label)
axis.set_xticks(place, LOSSES, rotation=25)
axis.set(ylim=(0, 1.25), yticks=np.linspace(0, 1, 6), title="Measures on held-out queries")
axis.legend(ncols=1, loc="upper left", fontsize="small")
figure.savefig("quickstart.png", dpi=90)
print("Figure written to quickstart.png in the current folder.")
plt.show()
