"""
Three ways to carry the query ids
=================================

scikit-learn's tools slice ``X`` and ``y`` and know nothing of queries. Scoring rows of several
queries as if they were one list is the most common mistake of this field, and a silent one in
most libraries. There are three ways to keep the ids with their rows, and they give the same
result.
"""

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import sklearn
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, make_ranking_scorer, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score

X, y, qid = make_ranking(n_lists=120, random_state=0)


def new_search():
    """A search that is the same in every section."""
    return GridSearchCV(
        Pipeline(
            [("scale", StandardScaler()), ("ranker", LowRankSurrogateRanker(target_loss="ndcg@10"))]
        ),
        {"ranker__alpha": [1.0, 100.0, 10_000.0]},
        scoring=make_ranking_scorer("ndcg@10"),
        cv=GroupKFold(5),
        error_score="raise",
    )


# %%
# 1. In y: ``ranking_target``
# ---------------------------
# One array with the fields "y" and "qid". No configuration, and it survives everything that
# takes rows out of ``y``.

search = new_search().fit(X, ranking_target(y, qid), groups=qid)
print(f"ranking_target:    {search.best_score_:.6f}")

# %%
# 2. In y: a pandas Series indexed by qid
# ---------------------------------------
# A Series whose index has a level named "qid" means the same. Tools that turn ``y`` into a plain
# array lose the index: Bagging, Voting and Stacking do.

series = pd.Series(y, index=pd.Index(qid, name="qid"))
search = new_search().fit(X, series, groups=qid)
print(f"Series by qid:     {search.best_score_:.6f}")

# %%
# 3. Metadata routing
# -------------------
# scikit-learn's own way, off by default. Rankers and scorers of this package ask for ``qid`` by
# themselves; no ``set_fit_request`` is needed. The groups are routed as well, so they go the same
# way.

with sklearn.config_context(enable_metadata_routing=True):
    search = new_search().fit(X, y, qid=qid, groups=qid)
print(f"metadata routing:  {search.best_score_:.6f}")

# %%
# What happens without
# --------------------
# With routing off a Pipeline takes parameters of ``fit`` under the name of their step only, and
# the scorer never gets them. It sees that the model was fitted on several lists and refuses:

try:
    new_search().fit(X, y, ranker__qid=qid, groups=qid)
except ValueError as error:
    print(fill(f"ValueError: {error}", 95))

# %%
# If ``qid`` is given nowhere, all rows are one list for the ranker and for the scorer. That is a
# legal problem, and nothing can tell that you meant another one: look at ``n_lists_``.

forgotten = new_search().fit(X, y, groups=qid)
print("n_lists_ =", forgotten.best_estimator_["ranker"].n_lists_)

# %%
# How wrong pooling is
# --------------------
# The same predictions, measured per query and with all rows pooled into one list.

train, test = next(GroupKFold(2).split(X, groups=qid))
alphas = 10.0 ** np.arange(-2, 7)
per_query, pooled = [], []
for alpha in alphas:
    ranker = LowRankSurrogateRanker(target_loss="ndcg@10", alpha=alpha).fit(
        X[train], y[train], qid=qid[train]
    )
    scores = ranker.predict(X[test])
    per_query.append(ndcg_score(y[test], scores, qid=qid[test], k=10))
    pooled.append(ndcg_score(y[test], scores, k=10))

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.semilogx(alphas, per_query, marker="o", label="mean over queries")
axis.semilogx(alphas, pooled, marker="s", label="all rows as one list")
axis.set(xlabel="alpha", ylabel="NDCG@10 of the same scores")
axis.legend()
plt.show()
