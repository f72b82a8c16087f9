"""
Rank the same items for every user, with missing ratings
========================================================

Every query ranks the same few items. A row of ``X`` is then a query, such as a user or
a visit, and a row of ``y`` holds the grades of all items. There is no ``qid``: each row
is a list. NaN says that an item has no grade.
"""

# %%
# Missing ratings
# ---------------
# Users rate six dishes from 0 to 5. Their taste depends on their features. Each rating
# is known with probability 0.6.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.metrics import measure_score
from lowrank_rank.target_losses import ExpectedRankUtility

rng = np.random.RandomState(0)
X = rng.normal(size=(1000, 8))
taste = X @ rng.normal(size=(8, 6)) + 2.0 * rng.normal(size=(1000, 6))
ratings = np.clip(np.floor(3.0 + 0.6 * taste), 0.0, 5.0)
known = np.where(rng.uniform(size=ratings.shape) < 0.6, ratings, np.nan)
train, test = slice(500), slice(500, None)
print("Some known ratings:", known[:2], sep="\n")

# %%
# DCG, precision at k and expected rank utility can be fitted with NaN, because the value
# of an item depends on its own grade only. A fit for NDCG needs the grades of all items
# and refuses NaN. A fit on the complete users only has fewer rows to learn from:

complete = ~np.isnan(known[train]).any(axis=1)
losses = {"dcg": "dcg", "eru": ExpectedRankUtility(neutral=2, half_life=2, max_grade=5)}
print(f"{complete.sum()} of 500 users have rated everything")
for name, loss in losses.items():
    ranker = LowRankSurrogateRanker(target_loss=loss)
    with_gaps = clone(ranker).fit(X[train], known[train])
    without = clone(ranker).fit(X[train][complete], known[train][complete])
    print(
        f"{name}, measured on complete ratings: {with_gaps.score(X[test], ratings[test]):.3f} "
        f"(only users without gaps: {without.score(X[test], ratings[test]):.3f})"
    )
try:
    LowRankSurrogateRanker(target_loss="ndcg").fit(X[train], known[train])
except ValueError as error:
    print(fill(f"ValueError: {error}", 95))

# %%
# Every measure leaves out the items without a grade. So held-out ratings may have gaps,
# and the value is the value of the known ratings. Beside each value stands the value of
# the constant order, the means of the items: features must beat it.

constant = LowRankSurrogateRanker(target_loss="dcg", estimator=DummyRegressor())
means = constant.fit(X[train], known[train]).predict(X[test])
scores = with_gaps.predict(X[test])
for name in ("ndcg", "dcg", "eru"):
    value = measure_score(name, known[test], scores)
    of_means = measure_score(name, known[test], means)
    print(f"{name} of the known ratings: {value:.3f} (item means {of_means:.3f})")

# %%
# How many ratings are needed
# ---------------------------
# A fit on all users loses little if ratings are missing. A fit on the complete users
# loses more and more, because there are fewer of them.

FRACTIONS = [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
reached = {"all users": [], "users without gaps only": []}
for fraction in FRACTIONS:
    gaps = rng.uniform(size=(10, *ratings[train].shape)) >= fraction
    values = []
    for gap in gaps:  # ten draws of what is known
        some = np.where(gap, np.nan, ratings[train])
        rows = ~gap.any(axis=1)
        fits = [(X[train], some), (X[train][rows], some[rows])]
        values.append(
            [
                LowRankSurrogateRanker(target_loss="dcg", estimator="ridge")
                .fit(*fit)
                .score(X[test], ratings[test])
                for fit in fits
            ]
        )
    for name, mean in zip(reached, np.mean(values, axis=0), strict=True):
        reached[name].append(mean)
    print(
        f"known {fraction:.0%}: "
        + ", ".join(f"{n} {v[-1]:.3f}" for n, v in reached.items())
    )

figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
for name, values in reached.items():
    axis.plot(FRACTIONS, values, "o-", label=name)
axis.set(
    xlabel="fraction of the ratings that is known", ylabel="DCG on complete ratings"
)
axis.set_title("Users with gaps are worth keeping")
axis.legend(title="fitted to")
plt.show()

# %%
# Logistic regression or ridge
# ----------------------------
# If all labels are known, the default is logistic regression of each target between its
# smallest and its largest value. ``estimator="ridge"`` is linear. The task is to order
# the kinds of iris, or of wine, by their probability. Naive Bayes makes the true
# orders, as in the public sets of label rankings. The targets jump from 0 to 1, and a
# line cannot follow a jump.

models = {"ridge": "ridge", "logistic, the default": "logistic", "trees": "trees"}
tau = {}
for name, load in {"iris": load_iris, "wine": load_wine}.items():
    X, kind = load(return_X_y=True)
    likely = GaussianNB().fit(X, kind).predict_joint_log_proba(X)
    grades = likely.argsort(axis=1).argsort(axis=1).astype(float)
    rows = rng.permutation(len(X))
    for model, estimator in models.items():
        ranker = LowRankSurrogateRanker(
            target_loss="kendall", estimator=estimator, random_state=0
        )
        loss = -cross_val_score(ranker, X[rows], grades[rows], cv=5).mean()
        tau[name, model] = 1.0 - 2.0 * loss
        print(f"{name}, {model}: Kendall's tau {tau[name, model]:.3f}")

figure, axis = plt.subplots(figsize=(6, 3), layout="constrained")
for i, model in enumerate(models):
    axis.bar(
        np.arange(2) + 0.2 * i, [tau[name, model] for name in ("iris", "wine")], 0.2
    )
axis.set_xticks(np.arange(2) + 0.2, ["iris", "wine"])
axis.set(ylim=(0.8, 1.0), ylabel="Kendall's tau, 5 folds")
axis.legend(list(models), loc="upper left", bbox_to_anchor=(1.0, 1.0))
axis.set_title("Orders of kinds by likelihood")
plt.show()
