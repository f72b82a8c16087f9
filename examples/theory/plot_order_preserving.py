"""
Order-preserving surrogates: what they learn, and what they promise
===================================================================

``OrderPreservingRegressor`` minimises a convex loss of the scores. The minimum of this
loss orders the items as the measure does. This example shows a common loss without this
property, and the regret bound of the losses that have it.
"""

# %%
# Two losses disagree
# -------------------
# The first item always has grade 1. The second has grade 0 with probability 0.6 and
# grade 3 with probability 0.4. The mean grades are (1, 1.2), so by DCG the second
# belongs on top. RankNet counts how often an item has the higher grade, 0.6 against
# 0.4, and puts the first on top. The order-preserving loss weighs each order by the
# utility of the item that it favours.

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank.calibration import regret_bound
from lowrank_rank.surrogates import surrogate_loss
from lowrank_rank.target_losses import DCG

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
    line = axis.plot(
        difference, expected_loss - expected_loss.min(), style, lw=2, label=label
    )[0]
    axis.plot(least, 0, "o", color=line.get_color(), clip_on=False, zorder=3)
    print(f"{name:18} is least at s_1 - s_2 = {least:+.2f}")
axis.axvline(0, color="grey", linewidth=0.8)
axis.text(-0.05, 0.9, "second on top: right", ha="right")
axis.text(0.05, 0.9, "first on top: wrong")
axis.set(xlabel="$s_1 - s_2$", ylabel="expected loss above its minimum", ylim=(0, 1))
axis.set(xlim=(-2, 2), title="RankNet is least where the wrong item is on top")
axis.legend(loc="upper center", bbox_to_anchor=(0.5, 0.86), framealpha=1)
plt.show()

# %%
# A model's noise may be larger than the distance of the two minima. But more data moves
# each model closer to its own minimum, and RankNet's is on the wrong side.
#
# The bound
# ---------
# How much of the measure is lost if the surrogate is not quite at its minimum? At most
#
# .. math:: c \, C_\varphi(2) \sqrt{\text{regret of the surrogate}}
#
# with a constant c of the surrogate and a constant of the discounts
# (:ref:`order-preserving`). The expected surrogate is its value at E v, up to a
# constant, so both sides can be computed. Here they are, for random expected utilities
# of six items, discounts of DCG and random errors of all sizes.


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
print(f"C_phi(2) = {DCG().C_phi(6):.3f}")
print(f"{'':24}{'bound held':>12}{'largest ratio':>15}")
drawn = {}
for name, best_of in BEST_SCORES.items():
    best = best_of(expected)
    scores = best + errors
    surrogate_regret = surrogate_loss(name, expected, scores) - surrogate_loss(
        name, expected, best
    )
    bound = regret_bound(name, expected, discounts, surrogate_regret)
    in_order = np.take_along_axis(expected, np.argsort(-scores, axis=1), axis=1)
    regret = (-np.sort(-expected, axis=1) - in_order) @ discounts
    wrong = regret > 1e-9  # the others are in the right order
    drawn[name] = bound[wrong], regret[wrong]
    held, ratio = np.all(regret <= bound + 1e-9), (regret[wrong] / bound[wrong]).max()
    print(f"{name:24}{bool(held)!s:>12}{ratio:15.0%}")

figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
axis.loglog(
    *drawn["cross_entropy"],
    ".",
    markersize=3,
    alpha=0.5,
    label="cross-entropy, random scores",
)
axis.plot([1e-3, 1e2], [1e-3, 1e2], color="black", lw=1, label="regret = bound")
axis.set(xlabel="bound", ylabel="regret of DCG", xlim=(3e-2, 1e2), ylim=(1e-3, 3))
axis.set_title("The regret of DCG stays below its bound")
axis.legend(loc="lower right")
plt.show()

# %%
# No regret is above its bound, for any surrogate of the table. The bound is for the
# worst scores, so most points are far below.
