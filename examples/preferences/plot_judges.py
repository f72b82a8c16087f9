"""
Learn preferences of judges (PairwiseDAGRanker), and order ten wines (Kemeny)
=============================================================================

``PairwiseDAGRanker`` learns from orders which item goes before which, and decodes an
order. This example fits it to eleven judges of ten wines, finds the order that violates
the fewest of their preferences, with a proof (a minimum feedback arc set), and then
compares decoders where preferences depend on features.
"""

# %%
# The table
# ---------
# Eleven judges gave points out of 20 to ten red wines in Paris in 1976. Printed copies
# of this table differ in a few points, so do not rely on a single rank:

from itertools import pairwise
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank.calibration import conditional_regret, noise_report
from lowrank_rank.datasets import load_wine_tasting, make_preferences
from lowrank_rank.decoders import decode_pd_exact
from lowrank_rank.metrics import measure_score
from lowrank_rank.plotting import PreferenceMatrixDisplay
from lowrank_rank.target_losses import PairwiseDisagreement

wines = load_wine_tasting()
points, judges = wines.target, wines.judges
print(fill(wines.source, 95))

# %%
# Fit and decode
# --------------
# A row of y holds the points of one judge. Nothing is known about the judges, so X is
# one constant column, and the fit is the mean of their preferences.
# ``predict_preference_probabilities`` gives the fraction of the judges that prefer one
# wine to another, where ties count one half. The decoder "exact" orders the wines.

nothing = np.zeros((len(judges), 1))
ranker = PairwiseDAGRanker(decoder="exact").fit(nothing, points)
probabilities = ranker.predict_preference_probabilities(nothing[:1])[0]
best = np.argsort(ranker.rank(nothing[:1])[0])
print("fraction that prefers each wine to the next one:")
for wine, after in pairwise(best):
    print(f"{wines.item_names[wine]:30}{probabilities[wine, after]:6.2f}")

# %%
# Which judges agree
# ------------------
# Kendall's tau loss is the share of pairs of wines that two judges order differently. A
# pair that is tied for only one of them counts too. Two random orders without ties
# disagree on half of the pairs.

n = len(judges)
tau = measure_score(
    "kendall", np.repeat(points, n, axis=0), np.tile(points, (n, 1)), average=None
)
tau = -tau.reshape(n, n)
others = tau[~np.eye(n, dtype=bool)].reshape(n, n - 1)
print(f"Two judges differ on {others.mean():.0%} of the pairs")
order = np.argsort(others.mean(axis=1))
names = [name.split()[-1] for name in judges[order]]
figure, axis = plt.subplots(figsize=(7, 6), layout="constrained")
image = axis.imshow(tau[np.ix_(order, order)], cmap="RdBu_r", vmin=0, vmax=1)
axis.set_xticks(range(n), names, rotation=60, ha="right")
axis.set_yticks(range(n), names)
for i in range(n):
    for j in range(n):
        value = tau[order[i], order[j]]
        color = "white" if abs(value - 0.5) > 0.3 else "black"
        axis.text(
            j,
            i,
            f"{value:.2f}"[1:] if i != j else "",
            color=color,
            ha="center",
            va="center",
        )
axis.set_title("Fraction of pairs that two judges order differently")
figure.colorbar(image, ax=axis, shrink=0.8, label="Kendall's tau loss")
plt.show()

# %%
# Some pairs of judges agree, and others nearly reverse each other's order.
#
# The best order
# --------------
# A judge prefers the wine with more points; ties are not preferences. The cost of an
# order is the number of preferences that it violates. The exact decoder returns the
# order of least cost, and a lower bound on the cost of every order. If cost and bound
# are equal, the order is proved to be the best.

loss = PairwiseDisagreement()
preferences = loss.preferences(points)  # (judges, wines, wines)
total = preferences.sum(axis=0)[np.newaxis]
decoded = decode_pd_exact(total)
print(
    f"The order violates {decoded.values[0]:.0f} of {total.sum():.0f} preferences, no order "
    f"violates less than {decoded.bounds[0]:.0f}; optimal: {decoded.optimal[0]}"
)
means = points.mean(axis=0)
net = (total - total.swapaxes(1, 2))[0].sum(axis=1)
orders = {
    "least cost": decoded.ranks[0],
    "mean points": np.argsort(np.argsort(-means)) + 1,
    "net preference": np.argsort(np.argsort(-net)) + 1,
}
print(f"{'':30}" + "".join(f"{name:>16}" for name in orders))
for wine in np.argsort(decoded.ranks[0]):
    row = "".join(f"{ranks[wine]:16d}" for ranks in orders.values())
    print(f"{wines.item_names[wine]:30}{row}")
costs = [loss.loss(total, ranks[np.newaxis])[0] for ranks in orders.values()]
print(f"{'cost':30}" + "".join(f"{cost:16.0f}" for cost in costs))
swapped = decoded.ranks.copy()
haut_brion = wines.item_names.tolist().index("Haut-Brion 1970")
for place in (3, 2):  # move Haut-Brion up by one place
    swapped[0, swapped[0] == place] += 1
    swapped[0, haut_brion] = place
    print(f"Haut-Brion at place {place}: cost {loss.loss(total, swapped)[0]:.0f}")

# %%
# One judge with a wide scale can move the mean of the points. The order of least cost
# counts judges only: more of them prefer Montrose to Stag's Leap than the reverse. This
# order is not unique. The judges are split evenly between Haut-Brion and Stag's Leap,
# and between Haut-Brion and Mouton-Rothschild, so Haut-Brion may stand at any of three
# places. No order is better.
#
# ``noise_report`` says which decoder is enough. The majorities have no cycle, so
# algorithm 1 is exact. Sorting by net preference is not exact and puts Stag's Leap
# first.

print(noise_report(total))

# %%
# How stable the order is
# -----------------------
# Each judge is removed once, and the other ten decide.

without = total - preferences
reduced = decode_pd_exact(without)
print(f"{'without':24}{'cost':>6}{'proved':>8}{'cycle':>7}{'pairs reversed':>16}")
r = len(means)
orders = np.tile(-decoded.ranks, (n, 1))
changed = -measure_score("kendall", orders, -reduced.ranks, average=None)
acyclic = noise_report(without).in_p_dag
for j in range(n):
    print(
        f"{judges[j]:24}{reduced.values[j]:6.0f}{reduced.optimal[j]!s:>8}"
        f"{not acyclic[j]!s:>7}{changed[j] * r * (r - 1) / 2:16.0f}"
    )

figure, left = plt.subplots(figsize=(7, 6), layout="constrained")
PreferenceMatrixDisplay.from_preferences(total[0], item_names=wines.item_names, ax=left)

figure, right = plt.subplots(figsize=(7, 6), layout="constrained")
places = np.vstack([decoded.ranks, reduced.ranks])
for wine in np.argsort(decoded.ranks[0]):
    moves = np.ptp(places[:, wine]) > 0
    right.plot(
        places[:, wine],
        "o-",
        color=None if moves else "grey",
        alpha=1 if moves else 0.4,
    )
right.set_yticks(decoded.ranks[0], wines.item_names)
right.yaxis.tick_right()
right.set_xticks(range(n + 1), ["nobody"] + [name.split()[-1] for name in judges])
right.tick_params(axis="x", rotation=90)
right.invert_yaxis()
right.set(title="Rank of each wine without one judge", xlabel="judge removed")
plt.show()

# %%
# Montrose stays first whichever judge is removed, and the first five wines stay above
# the other five. Haut-Brion appears at each of its three places. If majorities form a
# cycle, the exact decoder still finds an order with a proof.
#
# Preferences that depend on features
# -----------------------------------
# The tasting has no features. If a data set has features, the expected preferences
# differ between queries. ``make_preferences`` draws such data from a known
# distribution, so the regret of an order against the best one can be computed. The
# expected graphs of "p_dag" have no cycle, and all graphs of "cyclic" have one.

DECODERS = ("score", "borda", "dag", "exact")
regrets = {}
for condition in ("p_dag", "cyclic"):
    data = make_preferences(
        20_000, 6, weights="uniform", density=0.5, condition=condition, random_state=0
    )
    train, test = slice(18_000), slice(18_000, None)
    for decoder in DECODERS:
        ranker = PairwiseDAGRanker(decoder=decoder, estimator="ridge")
        ranker.fit(data.data[train], data.target[train])
        ranks = ranker.rank(data.data[test])
        regrets[condition, decoder] = conditional_regret(
            "pd", data.support, data.probabilities[test], ranks
        )

figure, axis = plt.subplots(figsize=(7, 3.5), layout="constrained")
for shift, (condition, name) in zip(
    (-0.2, 0.2), {"p_dag": "no cycle (P_DAG)", "cyclic": "a cycle"}.items(), strict=True
):
    values = [regrets[condition, decoder] for decoder in DECODERS]
    bars = axis.bar(
        np.arange(len(DECODERS)) + shift,
        [v.mean() for v in values],
        width=0.4,
        yerr=[2 * v.std() / np.sqrt(len(v)) for v in values],
        capsize=3,
        label=name,
    )
    axis.bar_label(bars, fmt="%.4f", padding=3, fontsize="small")
axis.set_xticks(range(len(DECODERS)), [f'"{name}"' for name in DECODERS])
axis.set(ylabel="regret, two standard errors", xlabel="decoder")
axis.set_title("Regret by decoder: scores lose on both kinds of graphs")
axis.margins(y=0.15)
axis.legend(title="expected graph")
plt.show()

# %%
# On graphs without a cycle algorithm 1 is as good as the exact decoder, as theorem 7
# says. On cycles algorithm 1 loses a little. Sorting scores is wrong on both: these
# graphs, with gaps and weights, are mostly outside P_f. Ridge regression fits each
# target alone, so "score" and "borda" agree here.
