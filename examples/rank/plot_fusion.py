"""
Hybrid search: fuse several runs
================================

Three systems search images of the same digit. Each returns its first 15 of 40 images.
This example compares the ways to make one list of the three: first those that need no
label, then weights that are learned from judged queries.
"""

# %%
# Three runs
# ----------
# A run is a data frame with a row for each document that the system returns.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.datasets import load_digits_retrieval, runs_to_features
from lowrank_rank.evaluation import compare_runs, evaluate_run

frame = load_digits_retrieval(n_queries=300, as_frame=True).frame
frame["docno"] = np.arange(len(frame))


def first_15(score):
    """The run of a system that returns the 15 documents with the largest scores."""
    found = frame[["qid", "docno"]].assign(score=score)
    return found.sort_values("score", ascending=False).groupby("qid").head(15)


runs = {
    "pixels": first_15(frame["correlation"]),
    "shifted": first_15(frame["best_shift"]),
    "profile": first_15(-frame["row_profile"]),
}
qrels = frame[["qid", "docno"]].assign(relevance=frame["target"])
judged, test = qrels[qrels["qid"] < 100], qrels[qrels["qid"] >= 100]

# %%
# Controls without labels
# -----------------------
# Each run gives two features of a document: its score, scaled to [0, 1] in the query,
# and 1 / (60 + rank). Reciprocal rank fusion (RRF) adds up the second ones. The mean of
# the first ones also uses how far the scores are apart.

joined = runs_to_features(runs)
scores, reciprocal_ranks = joined.data[:, ::2], joined.data[:, 1::2]


def as_run(values):
    """Fused scores as a run."""
    return pd.DataFrame({"qid": joined.qid, "docno": joined.docno, "score": values})


fused = {
    "RRF": as_run(reciprocal_ranks.sum(axis=1)),
    "mean of scores": as_run(scores.mean(axis=1)),
}

# %%
# Learned weights
# ---------------
# `OrderPreservingRegressor` learns one weight for each run. More judged queries help
# little here, because there are three weights to find.

for n_queries in (20, 100):
    known = runs_to_features(runs, judged[judged["qid"] < n_queries])
    fusion = OrderPreservingRegressor().fit(
        known.data[:, ::2], known.target, qid=known.qid
    )
    fused[f"learned from {n_queries}"] = as_run(fusion.predict(scores))
    print(n_queries, "judged queries, weights", fusion.coef_.round(1))

# %%
# Compare
# -------
# The baseline is the control that needs no label. An interval that holds 0 says that
# the two are on par on these 200 test queries.

found = compare_runs(test, runs | fused, measure="ndcg@10", baseline="mean of scores")
print(found)

# %%

names = list(runs | fused)
values = [
    evaluate_run(run=run, qrels=test, measure="ndcg@10")["ndcg@10"]
    for run in (runs | fused).values()
]
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.barh(names, values, color=["C7"] * len(runs) + ["C0"] * len(fused))
ax.bar_label(ax.containers[0], fmt="%.3f", padding=3)
ax.invert_yaxis()
ax.set(xlabel="NDCG@10 of held-out queries", xlim=(0, 1))
plt.show()
