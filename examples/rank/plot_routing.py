"""
Cross-validate with query ids: three ways to pass qid
=====================================================

scikit-learn's tools slice ``X`` and ``y`` and do not know queries. The most common
mistake is to score the rows of several queries as one list, and most libraries do it
without a warning. There are three ways to keep the ids with their rows. All of them
give the same result.
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
    """The grid search of all sections."""
    return GridSearchCV(
        Pipeline(
            [
                ("scale", StandardScaler()),
                ("ranker", LowRankSurrogateRanker(target_loss="ndcg@10")),
            ]
        ),
        {"ranker__alpha": [1.0, 100.0, 10_000.0]},
        scoring=make_ranking_scorer("ndcg@10"),
        cv=GroupKFold(5),
        error_score="raise",
    )


# %%
# 1. In y: ``ranking_target``
# ---------------------------
# One array has the fields "y" and "qid". It needs no configuration and works in all
# tools that take rows out of ``y``.

search = new_search().fit(X, ranking_target(y, qid), groups=qid)
print(f"ranking_target:    {search.best_score_:.6f}")

# %%
# 2. In y: a pandas Series indexed by qid
# ---------------------------------------
# The index of the Series has a level named "qid". RFE, Bagging, Voting and Stacking
# turn ``y`` into an array and lose the index. The scorer then raises an error.

series = pd.Series(y, index=pd.Index(qid, name="qid"))
search = new_search().fit(X, series, groups=qid)
print(f"Series by qid:     {search.best_score_:.6f}")

# %%
# 3. Metadata routing
# -------------------
# Metadata routing is scikit-learn's own way, and off by default. Rankers and scorers of
# this package request ``qid``, so no ``set_fit_request`` is needed. The groups are
# routed too.

with sklearn.config_context(enable_metadata_routing=True):
    search = new_search().fit(X, y, qid=qid, groups=qid)
print(f"metadata routing:  {search.best_score_:.6f}")

# %%
# Without query ids
# -----------------
# Without routing, the parameter ``ranker__qid`` reaches the ranker but not the scorer.
# The scorer sees that the model was fitted on several queries, and raises an error:

try:
    new_search().fit(X, y, ranker__qid=qid, groups=qid)
except ValueError as error:
    print(fill(f"ValueError: {error}", 95))

# %%
# Without ``qid`` in ``fit``, all rows form a single list. This is valid input, but the
# scorer raises an error: ``groups`` does not tell it about the queries.

try:
    new_search().fit(X, y, groups=qid)
except ValueError as error:
    print(fill(f"ValueError: {error}", 95))

# %%
# Why not pool the rows
# ---------------------
# Add a number to all scores of a query. The order within the query does not change, and
# the mean over queries does not change. The NDCG@10 of all rows as one list does
# change.

train, test = next(GroupKFold(2).split(X, groups=qid))
ranker = LowRankSurrogateRanker(target_loss="ndcg@10").fit(
    X[train], y[train], qid=qid[train]
)
scores = ranker.predict(X[test])
offset = np.random.RandomState(0).normal(size=qid.max() + 1)[qid[test]]
sizes = np.linspace(0.0, 4.0, 17) * scores.std()
per_query = [
    ndcg_score(y[test], scores + a * offset, qid=qid[test], k=10) for a in sizes
]
pooled = [ndcg_score(y[test], scores + a * offset, k=10, one_list=True) for a in sizes]

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(sizes / scores.std(), per_query, "o-", label="mean over queries")
axis.plot(sizes / scores.std(), pooled, "s-", label="all rows as one list")
axis.set(xlabel="offsets of the queries, in standard deviations of the scores")
axis.set(
    ylabel="NDCG@10", ylim=(0, 1), title="The same orders; pooling measures the offsets"
)
axis.legend(loc="lower left")
plt.show()
