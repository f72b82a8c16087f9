"""
Eleven judges, ten wines: the order of least disagreement
=========================================================

Judges put the same things into different orders. Which single order contradicts them least? That
is a minimum feedback arc set, solved here with a proof. At the end the preferences depend on
features, and ``PairwiseDAGRanker`` learns them.
"""

# %%
# The table
# ---------
# Eleven judges gave points out of 20 to ten red wines in Paris in 1976. Printed copies of this
# table differ in a few points, so do not take a single place too seriously:

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank import PairwiseDAGRanker
from lowrank_rank.calibration import conditional_regret, in_p_dag, noise_report
from lowrank_rank.datasets import load_wine_tasting, make_preferences
from lowrank_rank.decoders import decode_pd_borda, decode_pd_exact, preference_cost
from lowrank_rank.metrics import kendall_tau_loss
from lowrank_rank.plotting import PreferenceMatrixDisplay
from lowrank_rank.target_losses import PairwiseDisagreement

wines = load_wine_tasting()
points, judges = wines.target, wines.judges
print(fill(wines.source, 95))

# %%
# Who agrees
# ----------
# Kendall's tau loss is the share of pairs of wines that two judges do not order alike; a pair that
# is tied for one of them only is counted too. Two random orders without ties disagree on half.

n = len(judges)
tau = kendall_tau_loss(np.repeat(points, n, axis=0), np.tile(points, (n, 1)), average=None)
tau = tau.reshape(n, n)
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
        axis.text(j, i, f"{value:.2f}"[1:] if i != j else "", color=color, ha="center", va="center")
axis.set_title("Fraction of pairs that two judges order differently")
figure.colorbar(image, ax=axis, shrink=0.8, label="Kendall's tau loss")
plt.show()

# %%
# There are pairs of judges who agree, and pairs who rather contradict each other.
#
# One order
# ---------
# A judge prefers one wine to another where it got more points; ties are no preference. The cost of
# an order is the number of these preferences that it contradicts. The exact decoder returns the
# order of least cost and a bound on the cost of every order. Where they meet, it is proved.

preferences = PairwiseDisagreement().preferences(points)  # (judges, wines, wines)
total = preferences.sum(axis=0)[np.newaxis]
decoded = decode_pd_exact(total)
print(
    f"The order goes against {decoded.values[0]:.0f} of {total.sum():.0f} preferences, no order "
    f"against less than {decoded.bounds[0]:.0f}; optimal: {decoded.optimal[0]}"
)
means = points.mean(axis=0)
orders = {
    "least cost": decoded.ranks[0],
    "mean points": np.argsort(np.argsort(-means)) + 1,
    "net preference": decode_pd_borda(total).ranks[0],
}
print(f"{'':30}" + "".join(f"{name:>16}" for name in orders))
for wine in np.argsort(decoded.ranks[0]):
    row = "".join(f"{ranks[wine]:16d}" for ranks in orders.values())
    print(f"{wines.item_names[wine]:30}{row}")
costs = [preference_cost(total, ranks[np.newaxis])[0] for ranks in orders.values()]
print(f"{'cost':30}" + "".join(f"{cost:16.0f}" for cost in costs))
swapped = decoded.ranks.copy()
haut_brion = wines.item_names.tolist().index("Haut-Brion 1970")
for place in (3, 2):  # move it up, one place at a time
    swapped[0, swapped[0] == place] += 1
    swapped[0, haut_brion] = place
    print(f"Haut-Brion at place {place}: cost {preference_cost(total, swapped)[0]:.0f}")

# %%
# The mean looks at points, and one judge with a wide scale can move it. The order of least cost
# looks only at who is before whom: more judges prefer Montrose to Stag's Leap than the other way
# round. It is not the only one: as many judges prefer Haut-Brion to Stag's Leap, and to
# Mouton-Rothschild, as the other way round, and it may stand at any of three places. The
# certificate says that no order is better.
#
# ``noise_report`` says which decoder was needed. The majorities have no cycle, so algorithm 1 is
# exact. Sorting by net preference is not: it counts by how much a wine is preferred to all others
# together, and puts Stag's Leap first.

print(noise_report(total))

# %%
# How firm is it
# --------------
# Each judge is removed in turn, and the other ten decide.

without = total - preferences
left_out = decode_pd_exact(without)
print(f"{'removed':24}{'cost':>6}{'proved':>8}{'cycle':>7}{'pairs turned':>14}")
r = len(means)
turned = kendall_tau_loss(np.tile(-decoded.ranks, (n, 1)), -left_out.ranks, average=None)
for j in range(n):
    print(
        f"{judges[j]:24}{left_out.values[j]:6.0f}{left_out.optimal[j]!s:>8}"
        f"{not in_p_dag(without[j : j + 1])[0]!s:>7}{turned[j] * r * (r - 1) / 2:14.0f}"
    )

figure, left = plt.subplots(figsize=(7, 6), layout="constrained")
PreferenceMatrixDisplay.from_preferences(total[0], item_names=wines.item_names).plot(ax=left)

figure, right = plt.subplots(figsize=(7, 6), layout="constrained")
places = np.vstack([decoded.ranks, left_out.ranks])
for wine in np.argsort(decoded.ranks[0]):
    moves = np.ptp(places[:, wine]) > 0
    right.plot(places[:, wine], "o-", color=None if moves else "grey", alpha=1 if moves else 0.4)
right.set_yticks(decoded.ranks[0], wines.item_names)
right.yaxis.tick_right()
right.set_xticks(range(n + 1), ["nobody"] + [name.split()[-1] for name in judges])
right.tick_params(axis="x", rotation=90)
right.invert_yaxis()
right.set(title="Without one judge: the first place stays", xlabel="judge removed")
plt.show()

# %%
# Whoever is removed, Montrose is first and the same five wines stand above the other five.
# Haut-Brion is seen at each of its three places, so one judge can turn up to three pairs. Where
# majorities form a cycle, the exact decoder still finds an order that is proved.
#
# Preferences that depend on features
# -----------------------------------
# A tasting has no features. If there are some, the expected preferences differ from query to query,
# and so does their graph. ``make_preferences`` draws such data with a known distribution, so the
# regret of each decoded order against the best one can be computed. All samples of "p_dag" have
# expected graphs without a cycle, all of "cyclic" have one.

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
axis.set_title("Scores lose on both; algorithm 1 only on cycles")
axis.margins(y=0.15)
axis.legend(title="expected graph")
plt.show()

# %%
# With enough data algorithm 1 is as good as the exact decoder where there is no cycle, as theorem 7
# says, and where there is one it pays a little. Sorting scores is wrong in both: these graphs, with
# gaps and weights, are mostly outside P_f. That "score" and "borda" are the same is ridge
# regression's doing, which treats each target by itself.
