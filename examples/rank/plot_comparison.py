"""
Compare rankers: confidence intervals and tests
===============================================

Two means differ in the third digit. Is one ranker better, or are the held-out queries
easier for it by chance? `compare_rankers` computes the difference in each query, with
intervals and tests. The four rankers here search for images of the same handwritten
digit.
"""

# %%
# Four rankers
# ------------
# All are fitted on one half of the queries and measured on the other half.

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import LearningCurveDisplay

from lowrank_rank import LowRankSurrogateRanker, WrappedRanker, ranking_target
from lowrank_rank.datasets import load_digits_retrieval, make_ranking
from lowrank_rank.evaluation import compare_judged, compare_rankers, per_query
from lowrank_rank.model_selection import query_learning_curve, query_train_test_split
from lowrank_rank.plotting import RankerComparisonDisplay

digits = load_digits_retrieval(n_queries=400, n_candidates=30)
target = ranking_target(digits.target, digits.qid)
X_train, X_test, y_train, y_test = query_train_test_split(
    digits.data, target, test_size=0.5, random_state=0
)
trees = HistGradientBoostingRegressor(max_iter=60, random_state=0)
rankers = {
    "trees": LowRankSurrogateRanker(target_loss="ndcg@10", estimator=trees),
    "ridge": LowRankSurrogateRanker(target_loss="ndcg@10", alpha=10.0),
    "ridge, map": LowRankSurrogateRanker(target_loss="map", alpha=10.0),
    "pooled": WrappedRanker(Ridge(alpha=10.0)),
}
for ranker in rankers.values():
    ranker.fit(X_train, y_train)

# %%
# A table per query
# -----------------
# It shows the queries on which a ranker fails.

table = per_query(
    y_test, rankers["ridge"].predict(X_test), measure=["ndcg", "precision"], k=[5, 10]
)
print(table.sort_values("ndcg@10").head(3).round(3))

# %%
# The comparison
# --------------
# The table has the mean difference of NDCG@10 for each pair of rankers. The 95 %
# intervals and the p values come from Student's t over the differences of the queries,
# with Holm's correction for six comparisons.

found = compare_rankers(y_test, rankers, X=X_test, measure="ndcg@10")
print(f"{len(found.qid)} queries; the NDCG@10 of")
for name, mean in zip(found.names, found.mean, strict=True):
    print(f"  {name:12} {mean:.3f}")
print(found.to_frame().round(4).drop(columns=["better", "equal", "worse"]).to_string())

figure, axis = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
RankerComparisonDisplay(found).plot(ax=axis)
axis.set_title("Intervals that cross the dotted line: on par")
plt.show()

# %%
# Why paired differences
# ----------------------
# Some queries are hard for every ranker. This variation is part of the interval of each
# mean, but not of the interval of a difference. Compare the standard errors:

a, b = (
    found.values[:, found.names.index("trees")],
    found.values[:, found.names.index("ridge")],
)
unpaired = np.hypot(a.std(ddof=1), b.std(ddof=1)) / np.sqrt(len(a))
paired = (a - b).std(ddof=1) / np.sqrt(len(a))
print(
    f"standard error of the difference: {paired:.4f} in pairs, {unpaired:.4f} without"
)

# %%
# Query by query
# --------------
# A mean difference can come from small differences in most queries, or large ones in
# few.

figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
against = compare_rankers(
    y_test, rankers, X=X_test, measure="ndcg@10", baseline="ridge"
)
RankerComparisonDisplay(against).plot(ax=axis, kind="differences")
axis.set_title("Query by query, against ridge")
plt.show()

# %%
# Would more queries help?
# ------------------------
# The learning curve counts whole queries, not rows.

figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
sizes, train_scores, test_scores = query_learning_curve(
    rankers["ridge"],
    X_train,
    y_train,
    train_sizes=[5, 20, 50, 100, 150],
    cv=4,
    random_state=0,
)
LearningCurveDisplay(
    train_sizes=sizes,
    train_scores=train_scores,
    test_scores=test_scores,
    score_name="ndcg@10",
).plot(ax=axis)
axis.set(
    title="Would more queries help?", xlabel="Number of queries in the training set"
)
plt.show()

# %%
# Few human labels and a language model as judge
# ----------------------------------------------
# A language model labels 1,000 queries, and people label n of them.
# `compare_judged` takes both. The labels here are generated: the model is right in 95 % or
# 90 % of the rows, or its labels are noise. The queries with human labels must be a
# random sample.

X, y, qid = make_ranking(n_lists=1300, noise=3.0, random_state=0)
train, test = qid >= 1000, qid < 1000
scores = {
    name: LowRankSurrogateRanker()
    .fit(part[train], y[train], qid=qid[train])
    .predict(part[test])
    for name, part in {"new": X, "old": X[:, ::2]}.items()
}
y, qid = y[test], qid[test]
rng = np.random.RandomState(0)
other = rng.permutation(y)
agreement = {
    "right in 95 %": 0.95,
    "right in 90 %": 0.9,
    "pure noise": np.mean(other == y),
}
sizes = [25, 50, 100, 200, 400]
widths = {name: [] for name in ["people alone", *agreement]}
for n in sizes:
    some = {name: [] for name in widths}
    for _ in range(20):  # the mean of twenty draws
        people = np.where(np.isin(qid, rng.permutation(1000)[:n]), y, np.nan)
        for name, share in agreement.items():
            wrong = rng.uniform(size=len(y)) < (1 - share) / np.mean(other != y)
            judge = np.where(wrong, other, y)
            compared = compare_judged(people, judge, scores, qid=qid)
            some[name].append(np.ptp(compared.interval))
        error = compared.differences.std(ddof=1) / np.sqrt(n)
        some["people alone"].append(2 * stats.t.ppf(0.975, n - 1) * error)
    for name, found in some.items():
        widths[name].append(np.mean(found))
figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for name, line in widths.items():
    axis.plot(sizes, line, "k--" if name == "people alone" else "o-", label=name)
axis.set(xscale="log", ylim=(0, None), xlabel="queries with human labels")
axis.set_ylabel("width of the interval of the difference")
axis.set_xticks(sizes, sizes)
axis.minorticks_off()
axis.legend(title="judge")
axis.set_title("1,000 queries with a judge's labels")
plt.show()

# %%
# These intervals hold for the fitted rankers. They do not include the variation between
# training sets, which needs several fits.
