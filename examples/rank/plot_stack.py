"""
Combine rankers in a stack
==========================

Nobody knows beforehand whether a linear model or trees will rank best, or both
together. A `StackingRanker` fits several models on folds of whole queries and searches
for the weights with the largest measure on held-out queries. The task here is to find
images of the same digit.
"""

# %%
# The parts
# ---------
# A part is any ranker, regressor, classifier of grades or Pipeline. Regressors fit the
# grades of all rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer

from lowrank_rank import LowRankSurrogateRanker, StackingRanker
from lowrank_rank.datasets import load_digits_retrieval

digits = load_digits_retrieval(n_queries=400)
X, y, qid = digits.data, digits.target, digits.qid
train, test = qid < 200, qid >= 200

ridge = LowRankSurrogateRanker(target_loss="ndcg@10")
parts = [
    ("ridge", ridge),
    (
        "quantiles",
        make_pipeline(QuantileTransformer(n_quantiles=100, random_state=0), ridge),
    ),
    ("trees", HistGradientBoostingRegressor(random_state=0)),
    ("neighbours", KNeighborsRegressor(20)),
]
stack = StackingRanker(estimators=parts, target_loss="ndcg@10", cv=5)
stack.fit(X[train], y[train], qid=qid[train])

# %%
# The weights
# -----------
# They are in units of the standard deviation of each part's scores within queries. A
# part with the weight 0 adds nothing to the others and is not fitted again.

print(stack.scores_)

# %%
# On new queries
# --------------
# ``scores_`` has the measure of the parts on held-out queries. The weights of the stack
# were chosen on the same queries, so its own value is shown for new ones.

held_out = dict(zip(["stack", *stack.scores_.parts], stack.scores_.scores, strict=True))
for name, value in held_out.items():
    print(
        f"{name:12} {value:.3f}"
        + (" (chosen on these queries)" if name == "stack" else "")
    )
print(f"stack, new queries: {stack.score(X[test], y[test], qid=qid[test]):.3f}")

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3.2), layout="constrained", sharey=True
)
names = [name for name, _ in parts]
left.barh(names, [held_out[name] for name in names])
left.set(
    title="NDCG@10 of each part, held out",
    xlim=(np.min(list(held_out.values())) - 0.1, None),
)
right.barh(names, stack.scores_.weights, color="tab:green")
right.set(title="weight in the stack")
plt.show()
