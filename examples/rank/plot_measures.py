"""
Why NDCG differs between libraries
==================================

Two libraries give two values of NDCG for the same scores and labels. Usually one of
four conventions differs. This example shows each of them in numbers, with the
convention of this package.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.metrics import roc_auc_score

from lowrank_rank.metrics import measure_score, ndcg_score

# %%
# Ties
# ----
# Take a model that gives every document the same score. A library that breaks ties by
# the order of the rows measures the order of the file. This package takes the mean over
# all orders of the tied documents, so the order of the rows does not matter.

grades = np.array([3, 2, 1, 0, 0, 0, 0, 0])
constant = np.zeros(8)


def ndcg_by_row_order(y):
    """NDCG of the rows in their order, as a stable sort ranks constant scores."""
    return ndcg_score(y, -np.arange(len(y), dtype=float))


print("A constant score        best rows first   worst rows first")
print(
    f"ties by row order       {ndcg_by_row_order(grades):.3f}"
    f"             {ndcg_by_row_order(grades[::-1]):.3f}"
)
print(
    f"lowrank_rank            {ndcg_score(grades, constant):.3f}"
    f"             {ndcg_score(grades[::-1], constant):.3f}"
)
print(
    f"scikit-learn            {sklearn_ndcg_score([grades], [constant]):.3f}"
    f"             {sklearn_ndcg_score([grades[::-1]], [constant]):.3f}"
)

# %%
# Gains
# -----
# The linear gain counts a document of grade 3 as three documents of grade 1
# (scikit-learn, trec_eval, the default here). The exponential gain 2**y - 1 counts it
# as seven (LightGBM, XGBoost).

scores = np.array([1.0, 3.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1])
print(f"linear gain       {ndcg_score(grades, scores):.4f}")
print(f"exponential gain  {ndcg_score(grades, scores, gain='exponential'):.4f}")

# %%
# Queries without a relevant document
# -----------------------------------
# NDCG of these queries is 0/0. By default the mean skips them. ``zero_division=0``
# counts them as 0, like scikit-learn and trec_eval. ``zero_division=1`` counts them as
# 1, like LightGBM and XGBoost. DCG and precision at k are defined on these queries and
# always count them.

y = np.array([1, 0, 0, 0, 0, 0])
s = np.array([1.0, 2.0, 3.0, 3.0, 2.0, 1.0])
qid = np.array(["a", "a", "a", "b", "b", "b"])  # nothing is relevant to "b"
print("per list:", ndcg_score(y, s, qid=qid, average=None))
for name, value in {"nan, the default": np.nan, "0": 0.0, "1": 1.0}.items():
    print(
        f"NDCG, zero_division={name:17} {ndcg_score(y, s, qid=qid, zero_division=value):.3f}"
    )
print(f"MAP  {measure_score('map', y, s, qid=qid):.3f} (over one list)")
print(f"DCG  {measure_score('dcg', y, s, qid=qid):.3f} (over two)")

# %%
# Queries with few documents
# --------------------------
# Precision at k divides by k even if a query has fewer documents, like trec_eval.
# NDCG@k divides by the DCG@k of the best order.

print(
    "precision@10 of one relevant document in a list of two:",
    measure_score("precision@10", [1, 0], [2.0, 1.0]),
)

# %%
# Pooled rows or queries
# ----------------------
# ``roc_auc_score`` compares every relevant row with every irrelevant row, also of other
# queries. The scores below rank no query better than chance. But queries with higher
# scores have more relevant documents, so the pooled AUC is high.

rng = np.random.RandomState(0)
qid = np.repeat(np.arange(200), 20)
popular = qid % 2
y = (rng.uniform(size=len(qid)) < np.where(popular, 0.6, 0.1)).astype(float)
s = 2.0 * popular + rng.normal(size=len(qid))
print(f"AUC, all rows pooled  {roc_auc_score(y, s):.3f}")
print(f"AUC, mean over lists  {measure_score('auc', y, s, qid=qid):.3f}")

# %%
# The first three conventions in one figure
# -----------------------------------------
# The scores of one model for 200 queries are measured in five ways. The grades are 0 to
# 4, and the scores are rounded, so there are ties.

qid = np.repeat(np.arange(200), 12)
signal = rng.normal(size=len(qid))
y = np.clip(np.round(1.2 * signal + rng.normal(size=len(qid)) - 0.7), 0, 4)
y[qid % 10 == 0] = 0.0  # at least a tenth of the queries has nothing relevant
s = np.round(signal)
by_rows = s - 1e-6 * np.tile(np.arange(12), 200)  # breaks ties by row order
rows = np.lexsort((-y, qid))  # a file sorted by grade, best first
values = {
    "default": ndcg_score(y, s, qid=qid, k=10),
    "exponential gain": ndcg_score(y, s, qid=qid, k=10, gain="exponential"),
    "empty lists count 0": ndcg_score(y, s, qid=qid, k=10, zero_division=0),
    "empty lists count 1": ndcg_score(y, s, qid=qid, k=10, zero_division=1),
    "ties by row order,\nfile sorted by grade": ndcg_score(
        y[rows], s[rows] + (by_rows - s), qid=qid[rows], k=10
    ),
}
figure, axis = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
bars = axis.barh(
    list(values), list(values.values()), color=["tab:green"] + ["tab:gray"] * 4
)
axis.bar_label(bars, fmt="%.3f", padding=3)
axis.set(xlim=(0, 1.1), xlabel="NDCG@10 of the same scores")
axis.set_title("Five conventions, five values")
axis.invert_yaxis()
plt.show()
