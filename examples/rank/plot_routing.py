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
# array lose the index: RFE, Bagging, Voting and Stacking do, and the scorer then says so.

series = pd.Series(y, index=pd.Index(qid, name="qid"))
search = new_search().fit(X, series, groups=qid)
print(f"Series by qid:     {search.best_score_:.6f}")

# %%
# 3. Metadata routing
# -------------------
# scikit-learn's own way, off by default. Rankers and scorers of this package request ``qid`` by
# default; no ``set_fit_request`` is needed. The groups are routed as well, so they go the same
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
# Without ``qid``, all rows form a single list. That is valid input, so there is no warning; check
# ``n_lists_``.

forgotten = new_search().fit(X, y, groups=qid)
print("n_lists_ =", forgotten.best_estimator_["ranker"].n_lists_)

# %%
# What pooling measures
# ---------------------
# A number that is added to all scores of a query changes no order within it. So it does not change
# the mean over queries either. Pooled into one list, only the ten best rows of all queries count,
# and the value depends on these numbers.

train, test = next(GroupKFold(2).split(X, groups=qid))
ranker = LowRankSurrogateRanker(target_loss="ndcg@10").fit(X[train], y[train], qid=qid[train])
scores = ranker.predict(X[test])
offset = np.random.RandomState(0).normal(size=qid.max() + 1)[qid[test]]
sizes = np.linspace(0.0, 4.0, 17) * scores.std()
per_query = [ndcg_score(y[test], scores + a * offset, qid=qid[test], k=10) for a in sizes]
pooled = [ndcg_score(y[test], scores + a * offset, k=10) for a in sizes]

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
axis.plot(sizes / scores.std(), per_query, "o-", label="mean over queries")
axis.plot(sizes / scores.std(), pooled, "s-", label="all rows as one list")
axis.set(xlabel="offsets of the queries, in standard deviations of the scores")
axis.set(ylabel="NDCG@10", ylim=(0, 1), title="The same orders; pooling measures the offsets")
axis.legend(loc="lower left")
plt.show()
