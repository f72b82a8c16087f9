"""
Order-preserving surrogates: what they learn, and what they promise
===================================================================

NDCG, precision and the other positional measures cannot be minimised directly, they jump with the
order. ``OrderPreservingRegressor`` minimises a convex loss of the scores instead, chosen such that
its minimum orders the items as the measure wants. Here the surrogates meet real images, one loss
that looks like them and is none, and the bound on what they can cost.
"""

# %%
# On real images
# --------------
# Each query is the image of a digit and its documents are 40 other images. Whole queries are held
# out. All surrogates get the same features and the same search over the penalty, on folds of the
# training queries.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, GroupKFold, GroupShuffleSplit

from lowrank_rank import OrderPreservingRegressor, make_ranking_scorer, ranking_target
from lowrank_rank.calibration import C_phi, regret_bound
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.metrics import mean_average_precision_score, ndcg_score
from lowrank_rank.surrogates import SURROGATES, surrogate_loss

digits = load_digits_retrieval(n_queries=400)
X, y, qid = digits.data, digits.target, digits.qid
train, test = next(GroupShuffleSplit(test_size=0.5, random_state=0).split(X, groups=qid))
found = {}
for name in SURROGATES:
    search = GridSearchCV(
        OrderPreservingRegressor(target_loss="ndcg@10", surrogate=name, tol=1e-5),
        {"alpha": [0.00001, 0.001, 0.01, 0.1]},
        scoring=make_ranking_scorer("ndcg@10"),
        cv=GroupKFold(3),
        error_score="raise",
    )
    search.fit(X[train], ranking_target(y[train], qid[train]), groups=qid[train])
    scores = search.predict(X[test])
    found[name] = np.array(
        [
            ndcg_score(y[test], scores, qid=qid[test], k=10, average=None),
            mean_average_precision_score(y[test], scores, qid=qid[test], average=None),
        ]
    )
    found[name] = found[name][:, ~np.isnan(found[name][0])]  # queries with something to find


def mean_and_error(values):
    """Mean over queries and its standard error, for each row."""
    return values.mean(axis=1), values.std(axis=1, ddof=1) / np.sqrt(values.shape[1])


print(f"{found['cross_entropy'].shape[1]} held-out queries; difference to cross-entropy, paired")
print(f"{'':24}{'NDCG@10':>8}{'difference':>16}{'MAP':>9}{'difference':>16}")
for name, values in found.items():
    mean, _ = mean_and_error(values)
    gap, error = mean_and_error(values - found["cross_entropy"])
    cells = zip(mean, gap, error, strict=True)
    print(f"{name:24}" + " ".join(f"{m:8.3f}{g:+8.3f} +-{e:.3f}" for m, g, e in cells))

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), sharey=True, layout="constrained")
for i, measure in enumerate(("NDCG@10", "MAP")):
    for row, values in enumerate(found.values()):
        place = row + 0.4 * (i - 0.5)
        label = measure if row == 0 else None
        mean, error = mean_and_error(values)
        left.barh(place, mean[i], xerr=error[i], color=f"C{i}", height=0.38, label=label)
        gap, error = mean_and_error(values - found["cross_entropy"])
        right.errorbar(gap[i], place, xerr=2 * error[i], fmt="o", color=f"C{i}", markersize=4)
left.set(xlabel="mean of the held-out queries, with standard error", xlim=(0, 1))
left.set_yticks(range(len(found)), list(found))
left.invert_yaxis()
figure.legend(loc="outside upper center", ncols=2)
right.axvline(0, color="grey", linewidth=0.8)
right.set(xlabel="difference to cross-entropy, with two standard errors")
plt.show()

# %%
# This is one data set and one split; differences below two standard errors are nothing to build on.
# The two-sided pointwise losses (logistic, exponential, hinges) are even with cross-entropy, and
# pairwise logistic is a little behind. Further behind are the squared losses, with and without
# pairs, and the pairwise exponential one. So are the last two, RankNet's loss and RankSVM's squared
# hinge, which are not order-preserving. That need not be the reason: with grades 0 and 1, the one
# of two items that is more often the better one is also the one of higher mean grade.
#
# Where they disagree
# -------------------
# With more grades it need not be. Of two items the first always has grade 1, the second has grade 0
# with probability 0.6 and 3 with probability 0.4. By DCG the second belongs on top, E v = (1, 1.2).
# RankNet counts how often an item has the higher grade, 0.6 against 0.4, and puts the first on top.
# The calibrated pairwise loss weighs each order by the utility of the item that it favours.

labels = np.array([[1.0, 0.0], [1.0, 3.0]])
probabilities = np.array([0.6, 0.4])
difference = np.linspace(-2.0, 2.0, 401)
scores = np.stack([difference / 2, -difference / 2], axis=1)

figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
for name, label, style in (
    ("pairwise_logistic", "pairwise logistic, order-preserving", "-"),
    ("ranknet", "RankNet", "--"),
):
    expected_loss = sum(
        p * surrogate_loss(name, np.tile(v, (len(scores), 1)), scores)
        for p, v in zip(probabilities, labels, strict=True)
    )
    least = difference[expected_loss.argmin()]
    line = axis.plot(difference, expected_loss - expected_loss.min(), style, lw=2, label=label)[0]
    axis.plot(least, 0, "o", color=line.get_color(), clip_on=False, zorder=3)
    print(f"{name:18} is least at s_1 - s_2 = {least:+.2f}")
axis.axvline(0, color="grey", linewidth=0.8)
axis.text(-0.05, 0.9, "second on top: right", ha="right")
axis.text(0.05, 0.9, "first on top: wrong")
axis.set(xlabel="$s_1 - s_2$", ylabel="expected loss above its minimum", ylim=(0, 1))
axis.set(xlim=(-2, 2))
axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0.86), framealpha=1)
plt.show()

# %%
# Cross-entropy is the same function as the pairwise logistic loss for two items. The minima are not
# far apart, and noise in a model may well be larger than the distance. But more data moves each
# model closer to its own minimum, and RankNet's is on the wrong side.
#
# The bound
# ---------
# How much of the measure can be lost if the surrogate is not quite at its minimum? At most
#
# .. math:: c \, C_\varphi(2) \sqrt{\text{regret of the surrogate}}
#
# with a constant c of the surrogate and one of the discounts. Apart from a constant the expectation
# of each of these surrogates is its value at E v, and its minimum has a closed form. So both
# sides of the bound can be computed for any scores. Here they are, for random expected utilities of
# six items, discounts of DCG and random errors of all sizes on top of the best scores.


def log_odds(u):
    return np.log(u / (1.0 - u))


BEST_SCORES = {
    "pointwise_squared": lambda u: u,
    "pointwise_logistic": log_odds,
    "pointwise_exponential": lambda u: log_odds(u) / 2,
    "pointwise_squared_hinge": lambda u: u,
    "pointwise_smooth_hinge": lambda u: u,
    "pairwise_squared": lambda u: u,
    "pairwise_logistic": np.log,
    "pairwise_exponential": lambda u: np.log(u) / 2,
    "cross_entropy": np.log,
}
rng = np.random.RandomState(0)
expected = rng.uniform(0.01, 0.95, size=(1500, 6))
errors = 10 ** rng.uniform(-2, 1, size=(1500, 1)) * rng.normal(size=expected.shape)
discounts = 1 / np.log2(1 + np.arange(1, 7))
print(f"C_phi(2) = {C_phi(discounts):.3f}")
print(f"{'':24}{'bound held':>12}{'largest share':>15}")
figure, axes = plt.subplots(3, 3, figsize=(9, 8.2), sharex=True, sharey=True, layout="constrained")
for axis, (name, best_of) in zip(axes.flat, BEST_SCORES.items(), strict=True):
    best = best_of(expected)
    scores = best + errors
    surrogate_regret = surrogate_loss(name, expected, scores) - surrogate_loss(name, expected, best)
    bound = regret_bound(name, expected, discounts, surrogate_regret)
    in_order = np.take_along_axis(expected, np.argsort(-scores, axis=1), axis=1)
    regret = (-np.sort(-expected, axis=1) - in_order) @ discounts
    wrong = regret > 1e-9  # the others are in the right order
    axis.loglog(bound[wrong], regret[wrong], ".", markersize=3, alpha=0.5)
    axis.plot([1e-3, 1e2], [1e-3, 1e2], color="black", lw=0.8, label="regret = bound")
    axis.set(title=name, xlim=(3e-3, 1e2), ylim=(1e-4, 3))
    held, share = np.all(regret <= bound + 1e-9), (regret[wrong] / bound[wrong]).max()
    print(f"{name:24}{bool(held)!s:>12}{share:15.0%}")
figure.supxlabel("bound")
figure.supylabel("regret of DCG")
axes[0, 0].legend(loc="lower right", fontsize="small")
plt.show()

# %%
# No point is above its line. The bound is for the worst scores, so most points are far below. The
# worst are scores that are tied where the utilities differ: for two items the bound of the
# squared loss is then an equation. Two tied items with E v = (0.6, 0.4) lose up to 0.2 of
# precision@1, and the bound says

pair, tied = np.array([[0.6, 0.4]]), np.array([[0.5, 0.5]])
surrogate_regret = surrogate_loss("pointwise_squared", pair, tied)
print(f"{regret_bound('pointwise_squared', pair, 'precision@1', surrogate_regret)[0]:.3f}")
