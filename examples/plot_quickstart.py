"""
Quickstart: compare rankers, and combine them in a stack
========================================================

The task is to find images of the same handwritten digit in a catalogue that has many zeros and few
nines. Linear models, boosted trees and a `StackingRanker` are fitted on 600 queries. Their NDCG@10
is compared on 1,000 other queries, with confidence intervals. LightGBM's and XGBoost's rankers take
part if they are installed.

The script prints a table and writes ``quickstart.png`` to the current folder.
"""

# %%
# The data
# --------
# Each query is an image, and its documents are 10 to 200 other images. A document is relevant if it
# shows the same digit. The catalogue has a long tail: a nine is ten times as rare as a zero, but as
# many queries look for nines. One row of ``X`` compares a query with a document, and ``qid`` holds
# the query of each row. Whole queries are held out, never single rows.

import sys
import textwrap
from importlib.util import find_spec

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    StackingRanker,
    WrappedRanker,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import compare_rankers, ndcg_score

digits = load_digits_retrieval(
    n_queries=1600, n_candidates=(10, 200), popularity=1 / np.arange(1, 11)
)
X, y, qid = digits.data, digits.target, digits.qid
train, test = qid < 600, qid >= 600
print(f"600 queries to learn from, 1000 held out; {len(y)} candidates, {y.mean():.0%} relevant")

# %%
# The models
# ----------
# `ranking_target` packs grades and query ids into one array, so that a Pipeline takes both. The
# stack has a linear model and `HistGradientBoostingRanker` as its parts. Each part is fitted on two
# thirds of the queries and scores the other third. Then the stack searches for the weights with the
# largest NDCG@10 on these held-out queries.

ridge = LowRankSurrogateRanker(target_loss="ndcg@10")
quantiles = make_pipeline(QuantileTransformer(n_quantiles=100, random_state=0), ridge)
grades = WrappedRanker(HistGradientBoostingRegressor(random_state=0))
trees = HistGradientBoostingRanker(target_loss="ndcg@10", random_state=0)
models = {
    "ridge": ridge,
    "ridge on quantiles": quantiles,
    "boosted trees on grades": grades,
    "HistGradientBoostingRanker": trees,
    "StackingRanker": StackingRanker(target_loss="ndcg@10", cv=3, n_jobs=2),
}

# %%
# LightGBM and XGBoost
# --------------------
# Their rankers have 100 trees by default. `HistGradientBoostingRanker` has 300 here, because there
# are more than 20,000 rows. So LightGBM's ranker is fitted with 300 trees too.

if find_spec("lightgbm"):
    from lightgbm import LGBMRanker

    models["LGBMRanker"] = WrappedRanker(LGBMRanker(n_jobs=2, verbose=-1))
    more = LGBMRanker(n_estimators=300, n_jobs=2, verbose=-1)
    models["LGBMRanker, 300 trees"] = WrappedRanker(more)
if find_spec("xgboost"):
    from xgboost import XGBRanker

    models["XGBRanker"] = WrappedRanker(XGBRanker(n_jobs=2))

# %%
# Held-out queries
# ----------------
# The last column is the difference from LGBMRanker, or from ridge without LightGBM. It has a 95 %
# interval, a bootstrap of the paired differences of queries. The model is better if the interval is
# above 0, and on par if the interval contains 0.

target = ranking_target(y, qid)
scores = {
    name: model.fit(X[train], target[train]).predict(X[test]) for name, model in models.items()
}
baseline = "LGBMRanker" if "LGBMRanker" in models else "ridge"
print(f"\n{'held-out queries':30} NDCG@10   minus {baseline}")
for name in models:
    mean, difference = ndcg_score(y[test], scores[name], qid=qid[test], k=10), ""
    if name != baseline:
        pair = {name: scores[name], baseline: scores[baseline]}
        found = compare_rankers(y[test], pair, qid=qid[test], measure="ndcg@10", random_state=0)
        low, high = found.interval[0]
        difference = f"{found.mean[0] - found.mean[1]:+.4f} [{low:+.4f}, {high:+.4f}]"
    print(f"{name:30} {mean:.4f}    {difference}")
print(f"\nweights of StackingRanker\n{models['StackingRanker'].weights_}")

# %%
# The figure
# ----------
# The figure shows NDCG@10 with 95 % intervals. Hard queries are hard for all models, so these
# intervals are wider than the intervals of the differences.

try:
    import matplotlib.pyplot as plt
except ImportError:
    sys.exit("quickstart.png was not written, it needs matplotlib: pip install '.[plot]'")

plt.rcParams["font.size"] = 14  # readable on a phone
figure, axis = plt.subplots(figsize=(6, 4.6), layout="constrained")
for place, name in enumerate(models):
    value = ndcg_score(y[test], scores[name], qid=qid[test], k=10, average=None)
    value = value[~np.isnan(value)]
    half = 1.96 * value.std(ddof=1) / np.sqrt(len(value))
    color = "tab:green" if "Stacking" in name else "tab:blue"
    axis.errorbar(value.mean(), place, xerr=half, fmt="o", color=color, linewidth=3, markersize=9)
labels = [textwrap.fill(name, 18, break_long_words=False) for name in models]
axis.set_yticks(range(len(models)), labels)
axis.locator_params(axis="x", nbins=5)
axis.invert_yaxis()
axis.grid(axis="x", alpha=0.4)
axis.set(xlabel="NDCG@10, held-out queries")
figure.savefig("quickstart.png", dpi=135)
print("\nFigure written to quickstart.png in the current folder.")
plt.show()
