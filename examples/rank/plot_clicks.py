"""
Learn from clicks: remove the bias of positions
===============================================

Readers click the documents that they see, and they see the first positions. This
example simulates clicks on lists with known grades. So it can compare three ways to
learn from clicks with the truth.
"""

# %%
# Lists and readers
# -----------------
# A ranker that was fitted on a single query shows the lists of 200 queries. Readers
# examine the document at position p with probability 1 / p, and find it relevant with
# probability grade / 4.

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.clicks import make_clicks, utilities_from_clicks
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score

X, y, qid = make_ranking(400, (10, 30), random_state=1)
logged, test, first = qid < 200, qid >= 200, qid < 1
shown_by = OrderPreservingRegressor().fit(X[first], y[first], qid=qid[first])
grades, queries, rows = y[logged], qid[logged], X[logged]
scores = shown_by.predict(rows)


def judged(ranker):
    """NDCG@10 by the true grades, on held-out queries."""
    return ndcg_score(y[test], ranker.predict(X[test]), qid=qid[test], k=10)


print(f"The ranker who shows the lists has NDCG@10 {judged(shown_by):.3f}")

# %%
# The unbiased estimate
# ---------------------
# The rate of clicks depends on relevance and on the position. The estimate divides each
# click by the propensity 1 / p of its position, so the mean of the estimate is the
# relevance.

log = make_clicks(grades, queries, scores=scores, n_sessions=20_000, random_state=0)
v = utilities_from_clicks(log.clicks, log.position, propensity=1.0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained", sharex=True)
figure.suptitle("The estimate does not depend on the position")
# sphinx_gallery_thumbnail_number = 2
positions = np.arange(1, 11)
for axis, name, values in zip(
    axes, ("mean click", "mean estimate"), (log.clicks, v), strict=True
):
    for grade in range(5):
        here = (grades[log.row] == grade) & (log.position <= 10)
        n = np.bincount(log.position[here], minlength=11)[1:]
        mean = np.bincount(log.position[here], values[here], 11)[1:] / np.maximum(n, 1)
        axis.plot(
            positions, np.where(n > 0, mean, np.nan), "o-", label=f"grade {grade}"
        )
    axis.set(xlabel="position at which it was shown", ylabel=name)
axes[1].legend(fontsize="small")
plt.show()

# %%
# Choose the loss
# ---------------
# Cross-entropy with the target "dcg@10" depends on the mean of the labels only. So
# unbiased estimates are as good as the truth, except for their variance. RankNet
# depends on the larger of two labels, and the estimate with the larger mean can be the
# smaller one in nearly all samples.

N_SESSIONS = (200, 1000, 5000, 25_000)
ways = {
    "clicks, cross-entropy": (False, "cross_entropy"),
    "unbiased, cross-entropy": (True, "cross_entropy"),
    "unbiased, RankNet": (True, "ranknet"),
}
found = {way: [] for way in ways}
for n_sessions in N_SESSIONS:
    values = {way: [] for way in ways}
    for seed in range(5):
        log = make_clicks(
            grades, queries, scores=scores, n_sessions=n_sessions, random_state=seed
        )
        n = np.maximum(np.bincount(log.row, minlength=len(grades)), 1)
        estimates = utilities_from_clicks(log.clicks, log.position, propensity=1.0)
        for way, (corrected, surrogate) in ways.items():
            labels = (
                np.bincount(
                    log.row, estimates if corrected else log.clicks, len(grades)
                )
                / n
            )
            ranker = OrderPreservingRegressor(target_loss="dcg@10", surrogate=surrogate)
            values[way].append(judged(ranker.fit(rows, labels, qid=queries)))
    for way in ways:
        found[way].append(values[way])

best = judged(
    OrderPreservingRegressor(target_loss="dcg@10").fit(rows, grades, qid=queries)
)
figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
print(f"{'sessions':26}" + "".join(f"{n:>9}" for n in N_SESSIONS))
for way, values in found.items():
    mean, deviation = np.mean(values, axis=1), np.std(values, axis=1)
    axis.errorbar(N_SESSIONS, mean, deviation, marker="o", capsize=3, label=way)
    print(f"{way:26}" + "".join(f"{one:9.3f}" for one in mean))
axis.axhline(best, color="grey", linestyle="--", label="true grades")
print(f"{'true grades':26}{best:9.3f}")
axis.set_xscale("log")
axis.set(xlabel="sessions", ylabel="NDCG@10 by the true grades")
axis.set_title("More clicks do not remove the bias of clicks")
axis.legend()
plt.show()

# %%
# More sessions reduce the variance of the estimates, but not the bias of clicks.
# RankNet needs estimates with a very small variance.
#
# Readers who trust the first positions
# -------------------------------------
# Readers may also click irrelevant documents because of their position. Propensities
# are then not enough. The affine correction subtracts these clicks. Its estimates can
# be negative, and ``non_negative=True`` adds one number to all of them, which does not
# change the order.

trust = (np.full(30, 0.9), 0.3 / np.arange(1, 31))
log = make_clicks(
    grades, queries, scores=scores, n_sessions=5000, trust=trust, random_state=0
)
n = np.maximum(np.bincount(log.row, minlength=len(grades)), 1)
for name, values in {
    "clicks": log.clicks,
    "inverse propensity": utilities_from_clicks(
        log.clicks, log.position, propensity=1.0
    ),
    "affine": utilities_from_clicks(
        log.clicks, log.position, propensity=1.0, trust=trust, non_negative=True
    ),
}.items():
    labels = np.bincount(log.row, values, len(grades)) / n
    ranker = OrderPreservingRegressor(target_loss="dcg@10").fit(
        rows, labels, qid=queries
    )
    print(f"{name:20}{judged(ranker):.3f}")

# %%
# These results need the right click model and known propensities. On a real search log
# with judged documents, corrections improved the prediction of clicks, but not the
# agreement with the judges (see :doc:`/user_guide/clicks`).
