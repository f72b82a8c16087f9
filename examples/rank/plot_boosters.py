"""
Boosted trees: categories, missing values, early stopping
=========================================================

The data of a shop's search is a data frame with a category, missing values and a query
id in each row. Boosted trees of this package and of LightGBM learn from it without any
preparation. Early stopping finds the number of trees on held-out queries, and both
models are compared on the same folds. SHAP explains the scores.
"""

from inspect import signature

import lightgbm
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold, cross_val_score

from lowrank_rank import (
    HistGradientBoostingRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.boosting import boosting_metric
from lowrank_rank.model_selection import query_train_test_split

try:
    import shap  # optional: the last section
except ImportError:
    shap = None

# %%
# The data
# --------
# The columns of a product are its match with the words of the query, its price, its
# rating and its seller, which is a category. New products have no rating. The grades
# are 0 to 3.

rng = np.random.default_rng(0)
n_queries, n_products = 240, 15
qid = np.repeat(np.arange(n_queries), n_products)
n = len(qid)
sellers = np.array(["north", "south", "east", "west", "outlet"])
frame = pd.DataFrame(
    {
        "match": rng.normal(size=n),
        "price": rng.normal(size=n),
        "rating": rng.normal(size=n),
        "seller": pd.Categorical(rng.choice(sellers, size=n)),
        "season": np.repeat(
            rng.normal(size=n_queries), n_products
        ),  # equal within a query
    }
)
of_seller = frame["seller"].map(
    dict(zip(sellers, [0.8, 0.3, 0.0, -0.3, -1.0], strict=True))
)
utility = (
    frame["match"]
    - 0.3 * frame["price"] ** 2
    + 0.7 * frame["rating"]
    + of_seller.astype(float)
)
utility += rng.normal(scale=0.8, size=n)
grades = np.digitize(utility, [0.5, 1.3, 2.2])
frame.loc[rng.random(n) < 0.3, "rating"] = np.nan
print(frame.head())

# %%
# Early stopping
# --------------
# `query_train_test_split` splits queries, not rows. Both rankers take the data frame as
# it is. ``early_stopping=True`` holds a fifth of the training queries out and adds
# trees until DCG@5 on these queries stops growing. Then it fits the best number of
# trees on all training queries. Our ranker grows two trees in a round, one for each of
# its losses.

X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    frame, grades, qid=qid, test_size=0.25, random_state=0
)
settings = {
    "num_leaves": 7,
    "learning_rate": 0.1,
    "n_jobs": 1,
    "verbose": -1,
    "random_state": 0,
}
stopping = {
    "target_loss": "dcg@5",
    "early_stopping": True,
    "validation_fraction": 0.2,
    "n_iter_no_change": 30,
    "random_state": 0,
}
trees = HistGradientBoostingRanker(max_iter=300, max_leaf_nodes=7, **stopping)
lambdamart = WrappedRanker(
    lightgbm.LGBMRanker(n_estimators=300, **settings), **stopping
)
models = {"HistGradientBoostingRanker": trees, "LGBMRanker": lambdamart}

fig, ax = plt.subplots(figsize=(6, 3.5))
for color, (name, model) in zip(("C0", "C1"), models.items(), strict=True):
    model.fit(X_train, y_train, qid=qid_train)
    scores = model.validation_scores_
    ax.plot(np.arange(1, len(scores) + 1), scores, color=color, label=name)
    ax.axvline(model.n_iter_, color=color, ls="--")
    print(f"{name:36} {model.n_iter_:3} rounds of {len(scores)} tried")
ax.set(
    title="More rounds than the dashed line do not help queries",
    xlabel="rounds",
    ylabel="DCG@5 on held-out queries",
)
ax.legend()
fig.tight_layout()

# %%
# LightGBM's own ``fit``
# ----------------------
# LightGBM takes groups of rows, and `boosting_metric` makes a metric from any measure.
# Training stops at the same tree.

X_fit, X_held, y_fit, y_held, qid_fit, qid_held = query_train_test_split(
    X_train, y_train, qid=qid_train, test_size=0.2, random_state=0
)


def sizes(qid):
    """Number of rows of each query; the rows of a query are consecutive here."""
    return np.unique(qid, return_counts=True)[1]


own = lightgbm.LGBMRanker(n_estimators=300, metric="None", **settings)
if "eval_X" in signature(own.fit).parameters:  # from LightGBM 4.7 on
    held = {"eval_X": X_held, "eval_y": y_held}
else:
    held = {"eval_set": [(X_held, y_held)]}
own.fit(
    X_fit,
    y_fit,
    group=sizes(qid_fit),
    **held,
    eval_group=[sizes(qid_held)],
    eval_metric=boosting_metric("dcg@5"),
    callbacks=[lightgbm.early_stopping(30, verbose=False)],
)
print(f"LightGBM by itself: {own.best_iteration_} trees, here: {lambdamart.n_iter_}")

# %%
# Compare the models
# ------------------
# The best DCG@5 of early stopping is too high, because it is the best of many. So the
# models are compared on the test queries, and by cross-validation. Each fold finds its
# own number of trees.

for name, model in models.items():
    print(
        f"{name:36} DCG@5 on other queries {model.score(X_test, y_test, qid=qid_test):.3f}"
    )
for name, model in models.items():
    scores = cross_val_score(
        model,
        frame,
        ranking_target(grades, qid),
        groups=qid,
        cv=GroupKFold(3),
        scoring=make_ranking_scorer("ndcg@5"),
        error_score="raise",
    )
    print(f"{name:36} NDCG@5 in cross-validation {scores.mean():.3f}")

# %%
# Explain the scores
# ------------------
# ``estimator_`` has the fitted trees. The SHAP values of a product are the
# contributions of its columns, and their sum is its score. The season is equal for all
# products of a query.

if shap is None:
    used = lambdamart.feature_importances_.tolist()
    print("splits:", dict(zip(frame.columns, used, strict=True)))
else:
    explainer = shap.TreeExplainer(lambdamart.estimator_)
    values = explainer.shap_values(X_test)
    total = values.sum(axis=1) + explainer.expected_value
    print(
        "largest difference:", np.abs(total - lambdamart.predict(X_test)).max().round(6)
    )
    fig, ax = plt.subplots(figsize=(6, 2.8))
    mean = np.abs(values).mean(axis=0)
    order = np.argsort(mean)
    ax.barh(frame.columns[order], mean[order])
    ax.set(title="What moves the scores", xlabel="mean absolute SHAP value")
    fig.tight_layout()

plt.show()
