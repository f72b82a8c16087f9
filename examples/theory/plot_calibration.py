"""
Calibration: the regret falls to zero for the loss you name
===========================================================

A surrogate is calibrated for a target loss if its perfect minimiser decodes a
Bayes-optimal order. The regret is the expected loss above the loss of the Bayes order.
With a consistent regressor the regret goes to 0 with the number of samples. Here the
distribution of the label is known, so the regret can be computed.
"""

# %%
# Regret against sample size
# --------------------------
# ``make_label_ranking`` draws for each sample a distribution over eight relevance
# patterns of five items, and a label from it. The expected targets of every loss are
# linear in ``x``, so ridge regression is well specified.

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.calibration import conditional_regret
from lowrank_rank.datasets import make_label_ranking

LOSSES = ["precision@1", "auc", "map", "prbep"]
SIZES = [50, 150, 500, 1500, 5000, 15000]
N_TEST, N_RUNS = 500, 10


def regrets(n_samples, seed, losses=LOSSES, decoder="auto", **kwargs):
    """Mean regret on new samples; rows: fitted for, columns: measured by."""
    data = make_label_ranking(
        n_samples + N_TEST, n_items=5, n_labels=8, random_state=seed, **kwargs
    )
    table = []
    for fitted_for in losses:
        ranker = LowRankSurrogateRanker(
            target_loss=fitted_for, decoder=decoder, estimator="ridge", alpha=1e-3
        )
        ranker.fit(data.data[:n_samples], data.target[:n_samples])
        ranks = ranker.rank(data.data[n_samples:])
        new = data.probabilities[n_samples:]
        table.append(
            [conditional_regret(by, data.support, new, ranks).mean() for by in losses]
        )
    return np.array(table)


by_size = np.array(
    [np.mean([regrets(n, s) for s in range(N_RUNS)], axis=0) for n in SIZES]
)
own = by_size[:, np.arange(len(LOSSES)), np.arange(len(LOSSES))]
slopes = np.polyfit(np.log(SIZES), np.log(own), 1)[0]
for loss, values, slope in zip(LOSSES, own.T, slopes, strict=True):
    print(
        f"{loss:12} regret {values[0]:.4f} at n = {SIZES[0]}, {values[-1]:.5f} at n = "
        f"{SIZES[-1]}, slope {slope:.2f}"
    )

# %%
# Fitted for one, measured by another
# -----------------------------------
# Labels conflict, and no order is best for every measure. Each ranker is nearly perfect
# for its own loss, and keeps a regret for the others that more data does not remove.

print(f"Regret at n = {SIZES[-1]}. Rows: fitted for; columns: measured by")
print(" " * 12 + "".join(f"{loss:>13}" for loss in LOSSES))
for loss, row in zip(LOSSES, by_size[-1], strict=True):
    print(f"{loss:12}" + "".join(f"{value:13.5f}" for value in row))

figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
for loss, values in zip(LOSSES, own.T, strict=True):
    axis.loglog(SIZES, values, marker="o", label=loss)
axis.set(
    xlabel="n_samples", ylabel="regret", title="More data: the regret goes to zero"
)
axis.legend(title="fitted for and measured by")

figure, axis = plt.subplots(figsize=(6, 4.2), layout="constrained")
for i, loss in enumerate(LOSSES):
    axis.loglog(SIZES, by_size[:, i, LOSSES.index("prbep")], marker="o", label=loss)
axis.set(xlabel="n_samples", ylabel="regret of prbep")
axis.set_title("Fitted for another loss, a regret remains")
axis.legend(title="fitted for")
plt.show()

# %%
# When the decoder is not exact
# -----------------------------
# Calibration needs an exact decoder. For pairwise disagreement with unit weights and
# more than two grades, sorting is calibrated only if expected scores agree with
# expected preferences. So the regret of sorting levels off, while the regret of the
# exact decoder keeps falling.

for n_samples in (500, 5000, 15000):
    exact, sort = (
        np.mean(
            [regrets(n_samples, s, ["pd"], name, n_grades=4) for s in range(N_RUNS)]
        )
        for name in ("exact", "sort")
    )
    print(
        f"n = {n_samples:5d}: regret of pd {exact:.5f} with the exact decoder, {sort:.5f} sorted"
    )
