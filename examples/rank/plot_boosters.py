"""
Boosters with early stopping by lists
=====================================

LightGBM's ranker on images that are to be retrieved: how many trees, chosen by its own callback on
held-out queries with a measure of this package; then the same ranker in a cross-validation next to
others, with the query ids in the target.
"""

import warnings

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold, cross_val_score

from lowrank_rank import (
    BoosterRanker,
    LowRankSurrogateRanker,
    boosting_metric,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.model_selection import query_train_test_split

# %%
# Queries are split whole: for training, for stopping, for the verdict.

digits = load_digits_retrieval(n_queries=200, n_candidates=30, random_state=0)
X, y, qid = digits.data, digits.target, digits.qid
X_rest, X_test, y_rest, y_test, qid_rest, qid_test = query_train_test_split(
    X, y, qid=qid, test_size=0.25, random_state=0
)
X_train, X_val, y_train, y_val, qid_train, qid_val = query_train_test_split(
    X_rest, y_rest, qid=qid_rest, test_size=0.33, random_state=0
)


def sizes(qid):
    """Number of rows of each list; the rows of a list stand together here."""
    heads = np.flatnonzero(np.append(True, qid[1:] != qid[:-1]))
    return np.diff(np.append(heads, len(qid)))


# %%
# ``metric="None"`` switches LightGBM's own metrics off, by which it would stop as well.

history = {}
settings = {"num_leaves": 7, "learning_rate": 0.1, "n_jobs": 1, "verbose": -1, "random_state": 0}
ranker = lightgbm.LGBMRanker(n_estimators=300, metric="None", **settings)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # LightGBM 4.7 renames eval_set
    ranker.fit(
        X_train,
        y_train,
        group=sizes(qid_train),
        eval_set=[(X_val, y_val)],
        eval_group=[sizes(qid_val)],
        eval_metric=boosting_metric("precision@5"),
        callbacks=[
            lightgbm.early_stopping(30, verbose=False),
            lightgbm.record_evaluation(history),
        ],
    )
values = history["valid_0"]["precision@5"]
print(f"{ranker.best_iteration_} trees, precision@5 {max(values):.3f} on the lists held out")

fig, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(np.arange(1, len(values) + 1), values)
ax.axvline(ranker.best_iteration_, color="C1", ls="--", label="stopped here")
ax.set(xlabel="trees", ylabel="precision@5 on held-out queries")
ax.legend()
fig.tight_layout()

# %%
# The largest of many values flatters, and 50 queries say little. Further queries tell:

measure = make_ranking_scorer("precision@5").measure
value = measure.measure(y_test, ranker.predict(X_test), qid=qid_test)
print(f"precision@5 on other queries: {value:.3f}")

# %%
# In a cross-validation the ids travel with the grades. `BoosterRanker` hands them on as groups.

trees = lightgbm.LGBMRanker(n_estimators=ranker.best_iteration_, **settings)
regressor = lightgbm.LGBMRegressor(n_estimators=ranker.best_iteration_, **settings)
models = {
    "LGBMRanker": BoosterRanker(trees),
    "LGBMRegressor on surrogate targets": LowRankSurrogateRanker(
        target_loss="precision@5", estimator=regressor, centered=False
    ),
}
for name, model in models.items():
    scores = cross_val_score(
        model,
        X,
        ranking_target(y, qid),
        groups=qid,
        cv=GroupKFold(3),
        scoring=make_ranking_scorer("precision@5"),
        error_score="raise",
    )
    print(f"{name:36} {scores.mean():.3f}")

# %%
# The fitted booster is ``estimator_``, for SHAP and the like; its importances are passed through.

model = models["LGBMRanker"].fit(X, y, qid=qid)
print("most used features:", np.argsort(-model.feature_importances_)[:5])

plt.show()
