"""
Very many labels: find the rare ones
====================================

Each row has a few of 500 labels, and most labels are rare. ``y`` is a sparse matrix. A ranker for
precision@3 suggests common labels. A ranker for precision that is divided by the propensities of
labels finds rare ones.
"""

# %%
# Labels by Zipf's law
# --------------------
# Each row has three labels, and label j is drawn with a probability proportional to 1 / j. Every
# label has a vector. The features of a row are the sum of the vectors of its labels, plus noise.

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.metrics import precision_at_k_score
from lowrank_rank.target_losses import PropensityScoredPrecisionAtK

N_ROWS, N_LABELS, N_FEATURES, PER_ROW = 4000, 500, 50, 3
rng = np.random.default_rng(0)
# Gumbel variables plus log probabilities: the largest ones are a draw without replacement.
drawn = rng.gumbel(size=(N_ROWS, N_LABELS)) - np.log(np.arange(1, N_LABELS + 1))
columns = np.argsort(-drawn, axis=1)[:, :PER_ROW].ravel()
rows = np.repeat(np.arange(N_ROWS), PER_ROW)
y = csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(N_ROWS, N_LABELS))
X = y @ rng.normal(size=(N_LABELS, N_FEATURES))
X += np.sqrt(PER_ROW) * rng.normal(size=X.shape)
train, test = slice(2000), slice(2000, None)

counts = np.asarray(y[train].sum(axis=0)).ravel()
print(f"{np.median(counts):.0f} of 2000 rows have the median label, {counts.max():.0f} the first")

# %%
# Two rankers
# -----------
# ``label_propensities`` estimates from the counts how often a relevant label is recorded. The
# propensity-scored measure divides each correct label by this number.

propensities = PropensityScoredPrecisionAtK.label_propensities(y[train])
scored = PropensityScoredPrecisionAtK(3, propensities)
top = {}
for name, loss in {"precision@3": "precision@3", "propensity-scored": scored}.items():
    ranker = LowRankSurrogateRanker(target_loss=loss).fit(X[train], y[train])
    scores = ranker.predict(X[test])
    top[name], _ = ranker.rank_top(X[test], k=3)
    print(
        f"fitted for {name}: precision@3 {precision_at_k_score(y[test], scores, k=3):.3f}, "
        f"propensity-scored {scored.measure(y[test], scores):.3f}, "
        f"{len(np.unique(top[name]))} labels are suggested"
    )

# %%
# The labels that are found
# -------------------------
# The labels are grouped from common to rare. The bars are the fractions of the true labels of
# held-out rows that are among the first three.

edges = np.array([0, 5, 20, 50, 100, 200, 500])
truth = y[test].toarray() > 0
figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
for i, (name, columns) in enumerate(top.items()):
    found = np.zeros_like(truth)
    np.put_along_axis(found, columns, True, axis=1)
    hits, totals = (np.add.reduceat(m.sum(axis=0), edges[:-1]) for m in (found & truth, truth))
    axis.bar(np.arange(len(hits)) + 0.4 * i, hits / totals, 0.4, label=name)
names = [f"{first + 1} to {last}" for first, last in pairwise(edges)]
axis.set_xticks(np.arange(len(names)) + 0.2, names)
axis.set(xlabel="labels, from common to rare", ylabel="found among the first 3")
axis.legend(title="fitted for")
axis.set_title("Training for rare labels finds them")
plt.show()
