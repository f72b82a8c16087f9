"""
Read LETOR files and fit in batches
===================================

LETOR files have SVMlight lines with a query id. This example writes such files, reads
them as sparse matrices, and fits a ranker on batches of whole queries. Batches give the
same model as all rows at once, in memory that does not grow with the rows.
"""

# %%
# Files
# -----
# There are three files, one for each day, and the second is compressed.
# `datasets.make_ranking` generates the data. Small feature values are set to 0, so that
# the rows are sparse.

import tempfile
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.datasets import dump_letor, load_letor, make_ranking
from lowrank_rank.metrics import ndcg_score

X, y, qid = make_ranking(n_lists=300, n_items=(5, 30), n_features=40, random_state=0)
X[np.abs(X) < 1.0] = 0.0

folder = tempfile.TemporaryDirectory()
names = ["monday.txt", "tuesday.txt.gz", "wednesday.txt"]
paths = [Path(folder.name) / name for name in names]
for day, path in enumerate(paths):
    rows = qid // 100 == day
    dump_letor(X[rows], y[rows], qid[rows], path)
print(paths[0].read_text().splitlines()[0][:70], "...")

# %%
# `datasets.load_letor` takes a list of paths. The result has X, y and qid of each file,
# with the same number of features.

days = load_letor(paths)
folder.cleanup()
for name, (X_day, y_day, qid_day) in zip(names, days, strict=True):
    print(f"{name:15} {X_day.shape} {X_day.format}, {len(np.unique(qid_day))} lists")
    assert len(y_day) == X_day.shape[0]

# %%
# Batches of whole queries
# ------------------------
# ``partial_fit`` takes any number of queries. It raises an error if a query is split
# between two batches. The rows of a query are consecutive in these files, so the
# batches end at changes of the id.


def batches_of_lists(X, y, qid, *, n_lists):
    """Consecutive batches of `n_lists` whole lists each."""
    heads = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    cuts = np.append(heads[::n_lists], len(qid))
    for start, stop in pairwise(cuts):
        yield X[start:stop], y[start:stop], qid[start:stop]


X_test, y_test, qid_test = days[2]
ranker = LowRankSurrogateRanker(target_loss="ndcg@10")
seen, scores = [], []
for day in days[:2]:
    for X_batch, y_batch, qid_batch in batches_of_lists(*day, n_lists=10):
        ranker.partial_fit(X_batch, y_batch, qid=qid_batch)
        seen.append(ranker.n_lists_)
        scores.append(ranker.score(X_test, y_test, qid=qid_test))

# %%
# Batches and ``fit`` give the same model
# ---------------------------------------

X_train = sparse.vstack([days[0][0], days[1][0]], format="csr")
y_train = np.concatenate([days[0][1], days[1][1]])
qid_train = np.concatenate([days[0][2], days[1][2]])
at_once = LowRankSurrogateRanker(target_loss="ndcg@10").fit(
    X_train, y_train, qid=qid_train
)
difference = np.abs(at_once.coef_ - ranker.coef_).max()
print(f"Largest difference of a coefficient below 1e-8: {difference < 1e-8}")
print(f"NDCG@10 on wednesday, batches: {scores[-1]:.4f}")
print(
    f"NDCG@10 on wednesday, at once: {at_once.score(X_test, y_test, qid=qid_test):.4f}"
)

# %%
# The features of a query have a common offset here. The ranker subtracts the mean of
# each query from features and targets, which does not change the order. Ridge
# regression on pooled rows has to explain the offset too:

pooled = Ridge().fit(X_train, y_train)
pooled_score = ndcg_score(y_test, pooled.predict(X_test), qid=qid_test, k=10)
print(f"NDCG@10 on wednesday, ridge on pooled rows: {pooled_score:.4f}")

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(seen, scores, marker=".", label="partial_fit, batches of 10 lists")
axis.axhline(scores[-1], color="grey", linewidth=1, label="fit on all of them")
axis.axhline(
    pooled_score, color="tab:red", linewidth=1, label="ridge on all, rows pooled"
)
axis.set(xlabel="lists seen", ylabel="NDCG@10 on the third file")
axis.set_title("After the last batch: the model of all rows")
axis.legend()
plt.show()
