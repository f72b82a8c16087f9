"""
Noise conditions: how many distributions each one covers
========================================================

Three conditions of Ramaswamy, Agarwal & Tewari (2013) say when a simple decoder is
calibrated. They differ in how many distributions meet them.
"""

# %%
# Each distribution has six labels with random probabilities. For mean average precision
# the labels are random relevance patterns, and ``P_reinforce`` lets items be sorted by
# the diagonal of u. For pairwise disagreement they are random orders: ``P_f`` lets
# items be sorted by net preferences, ``P_DAG`` is enough for algorithm 1.

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank.calibration import noise_report

SIZES, N_LABELS, N_SUPPORTS, N_EACH = [3, 4, 5, 6, 8, 10], 6, 40, 50
inside = {"P_DAG": [], "P_f": [], "P_reinforce": []}
rng = np.random.default_rng(0)
for r in SIZES:
    found = {name: [] for name in inside}
    for _ in range(N_SUPPORTS):
        p = rng.dirichlet(np.ones(N_LABELS), N_EACH)
        orders = rng.permuted(np.tile(np.arange(r), (N_LABELS, 1)), axis=1)
        relevance = rng.integers(0, 2, (N_LABELS, r))
        relevance[:, 0] |= relevance.sum(axis=1) == 0
        report = noise_report(orders, probabilities=p)
        found["P_DAG"].append(report.in_p_dag)
        found["P_f"].append(report.in_p_f)
        report = noise_report(relevance, probabilities=p, target_loss="map")
        found["P_reinforce"].append(report.in_p_reinforce)
    for name, members in found.items():
        inside[name].append(np.mean(members))
for name, fractions in inside.items():
    print(f"{name:12}" + "".join(f"{fraction:7.2f}" for fraction in fractions))

# %%
# Longer lists meet the conditions less often. P_f is a part of P_DAG, and far smaller:
# with six items P_f holds for one distribution in eight, and P_DAG for more than one in
# two.

figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
for (name, fractions), marker in zip(inside.items(), "osD", strict=True):
    axes.plot(SIZES, fractions, marker=marker, label=name)
axes.set(
    xlabel="items in a list",
    ylabel="fraction of distributions inside",
    ylim=(0, 1),
    title="Algorithm 1 is calibrated far more often than sorting",
)
axes.legend()
plt.show()
