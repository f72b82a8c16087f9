"""
Trees of two losses on a Dask cluster
=====================================

The rows of a large training set often lie on several machines. LightGBM grows trees on
all of them together, and `lowrank_rank.dask.fit` brings the rows of each query to one
machine first. Two losses are two parts of a `StackingRanker`, which is fitted and
weighed on the cluster. The fitted model predicts anywhere.
"""

# %%
# Rows on the workers
# -------------------
# Here the cluster is two workers in this process; ``Client("scheduler:8786")`` connects
# to another one. A chunk of 1,500 rows cuts some of the queries, which is allowed.

import dask.array as da
import matplotlib.pyplot as plt
from distributed import Client
from lightgbm import LGBMRanker

from lowrank_rank import StackingRanker
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.dask import fit, score
from lowrank_rank.datasets import make_ranking

X, y, qid = make_ranking(300, 20, n_features=10, random_state=0)
train = qid < 200

client = Client(
    processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
)
on_train = [da.from_array(a, chunks=1500) for a in (X[train], y[train], qid[train])]
on_test = [da.from_array(a, chunks=1500) for a in (X[~train], y[~train], qid[~train])]

# %%
# The fit
# -------
# ``metric="None"`` switches off LightGBM's own measures, which take only whole grades.


def trees(loss):
    objective = boosting_objective(loss, "ndcg@10")
    return LGBMRanker(objective=objective, metric="None", n_estimators=40, verbose=-1)


losses = ("lambdarank", "pairwise_squared")
stack = StackingRanker([(loss, trees(loss)) for loss in losses])
fit(stack, on_train[0], on_train[1], qid=on_train[2], client=client)
print(stack.scores_)

# %%
# New queries, on the cluster and in memory
# -----------------------------------------
# Both values are the same. Next year's model may keep the weights,
# ``StackingRanker(parts, weights=stack.weights_)``, and needs no held-out queries then.

value = score(stack, on_test[0], on_test[1], qid=on_test[2], client=client)
print(f"NDCG@10 on the cluster {value:.3f}")
print(f"NDCG@10 in memory {stack.score(X[~train], y[~train], qid=qid[~train]):.3f}")
client.close()

# %%
# The measure of the stack and of its parts on the held-out queries of the fit:

names = ["stack", *stack.scores_.parts]
plt.barh(names, stack.scores_.scores)
plt.xlabel("NDCG@10 on held-out queries")
plt.xlim(min(stack.scores_.scores) - 0.05, max(stack.scores_.scores) + 0.02)
plt.tight_layout()
plt.show()
