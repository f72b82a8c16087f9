"""
A search log in LETOR files, batch by batch
===========================================

Ranking data comes in the LETOR format: SVMlight lines with a query id. This example writes such
files, reads them back as sparse matrices with one feature count, and fits on batches of whole
lists. The default ridge regression adds up sufficient statistics, so batches give the model that
all rows at once would give, in memory that does not grow with the rows.
"""

# %%
# Files
# -----
# Three files, the second one packed. Real logs come like this from several days or folds; here
# ``make_ranking`` draws them, and small feature values are set to 0 to make the rows sparse.

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
# A list of paths gives one triple per file, all with the same number of features.

days = load_letor(paths)
folder.cleanup()
for name, (X_day, y_day, qid_day) in zip(names, days, strict=True):
    print(f"{name:15} {X_day.shape} {X_day.format}, {len(np.unique(qid_day))} lists")
    assert len(y_day) == X_day.shape[0]

# %%
# Batches of whole lists
# ----------------------
# ``partial_fit`` takes any number of rows as long as no list is cut: one that is the last of a
# batch and the first of the next is refused. These files hold their lists in one piece, so it is
# enough to cut where the id changes.


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
# The same as fit
# ---------------

X_train = sparse.vstack([days[0][0], days[1][0]], format="csr")
y_train = np.concatenate([days[0][1], days[1][1]])
qid_train = np.concatenate([days[0][2], days[1][2]])
at_once = LowRankSurrogateRanker(target_loss="ndcg@10").fit(X_train, y_train, qid=qid_train)
difference = np.abs(at_once.coef_ - ranker.coef_).max()
print(f"Largest difference of a coefficient below 1e-8: {difference < 1e-8}")
print(f"NDCG@10 on wednesday, batches: {scores[-1]:.4f}")
print(f"NDCG@10 on wednesday, at once: {at_once.score(X_test, y_test, qid=qid_test):.4f}")

# %%
# Here features have an offset common to all documents of a query. The ranker subtracts from
# features and targets their mean within each list, where no order can see the difference. Ridge
# regression on the pooled rows has to explain the offset as well:

pooled = Ridge().fit(X_train, y_train)
pooled_score = ndcg_score(y_test, pooled.predict(X_test), qid=qid_test, k=10)
print(f"NDCG@10 on wednesday, ridge on pooled rows: {pooled_score:.4f}")

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(seen, scores, marker=".", label="partial_fit, batches of 10 lists")
axis.axhline(scores[-1], color="grey", linewidth=1, label="fit on all of them")
axis.axhline(pooled_score, color="tab:red", linewidth=1, label="ridge on all, rows pooled")
axis.set(xlabel="lists seen", ylabel="NDCG@10 on the third file")
axis.set_title("Batches reach what all rows reach")
axis.legend()
plt.show()
