"""
Why your NDCG may differ
========================

The same scores, the same labels, two libraries, two numbers: most of the time one of four
conventions differs. Each is shown here in numbers, with what this package does.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ndcg_score as sklearn_ndcg_score
from sklearn.metrics import roc_auc_score

from lowrank_rank.metrics import (
    auc_score,
    dcg_score,
    mean_average_precision_score,
    ndcg_score,
    precision_at_k_score,
)

# %%
# Ties
# ----
# A model that gives every document the same score says nothing. A library that breaks ties by the
# order of the rows then measures how the file was sorted. Here tied scores have the mean value
# over all orders that agree with them, whatever the order of the rows.

grades = np.array([3, 2, 1, 0, 0, 0, 0, 0])
constant = np.zeros(8)


def ndcg_by_row_order(y):
    """NDCG of the rows as they stand: what a stable sort makes of a constant score."""
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
# A document of grade 3 is worth 3 times one of grade 1 with the linear gain (scikit-learn,
# trec_eval, the default here), 7 times with the exponential gain 2**y - 1 (LightGBM, XGBoost).

scores = np.array([1.0, 3.0, 2.0, 0.5, 0.4, 0.3, 0.2, 0.1])
print(f"linear gain       {ndcg_score(grades, scores):.4f}")
print(f"exponential gain  {ndcg_score(grades, scores, gain='exponential'):.4f}")

# %%
# Lists without a relevant document
# ---------------------------------
# NDCG is 0/0 there. By default the mean skips such lists. ``zero_division=0`` counts them
# as scikit-learn and trec_eval do, ``zero_division=1`` as LightGBM and XGBoost do. Measures that
# are defined on them, DCG and precision at k, count them always.

y = np.array([1, 0, 0, 0, 0, 0])
s = np.array([1.0, 2.0, 3.0, 3.0, 2.0, 1.0])
qid = np.array(["a", "a", "a", "b", "b", "b"])  # nothing is relevant to "b"
print("per list:", ndcg_score(y, s, qid=qid, average=None))
for name, value in {"nan, the default": np.nan, "0": 0.0, "1": 1.0}.items():
    print(f"NDCG, zero_division={name:17} {ndcg_score(y, s, qid=qid, zero_division=value):.3f}")
print(f"MAP  {mean_average_precision_score(y, s, qid=qid):.3f} (over one list)")
print(f"DCG  {dcg_score(y, s, qid=qid):.3f} (over two)")

# %%
# Short lists
# -----------
# Precision at k divides by k also where a list is shorter, as trec_eval does. The best order of
# NDCG@k is cut at k as well.

print(
    "precision@10 of one relevant document in a list of two:",
    precision_at_k_score([1, 0], [2.0, 1.0], k=10),
)

# %%
# Pooled or per list
# ------------------
# ``roc_auc_score`` compares every relevant row with every irrelevant one, also across queries.
# Below the order within each query is no better than chance, but one query has both higher scores
# and more relevant documents: pooled, this looks like skill.

rng = np.random.RandomState(0)
qid = np.repeat(np.arange(200), 20)
popular = qid % 2
y = (rng.uniform(size=len(qid)) < np.where(popular, 0.6, 0.1)).astype(float)
s = 2.0 * popular + rng.normal(size=len(qid))
print(f"AUC, all rows pooled  {roc_auc_score(y, s):.3f}")
print(f"AUC, mean over lists  {auc_score(y, s, qid=qid):.3f}")

# %%
# The first three conventions, in one picture
# -------------------------------------------
# One model on 200 queries with grades 0 to 4 and scores rounded to one digit, measured in each way.

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
bars = axis.barh(list(values), list(values.values()), color=["tab:green"] + ["tab:gray"] * 4)
axis.bar_label(bars, fmt="%.3f", padding=3)
axis.set(xlim=(0, 1.1), xlabel="NDCG@10 of the same scores")
axis.set_title("Five conventions, five values")
axis.invert_yaxis()
plt.show()
