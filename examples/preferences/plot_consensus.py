"""
Make a leaderboard of duels: Kemeny, Bradley-Terry, confidence intervals
========================================================================

Ten models meet in duels, and a judge prefers one of the two answers. This example finds
the best order, checks whether it is unique, and computes confidence intervals of the
ranks. The duels are simulated, so the answers can be compared with the truth.
"""

# %%
# The duels
# ---------
# Model i is preferred to model j with probability sigma(s_i - s_j + c_ij). Here s is
# the strength. No strength explains c_ij, because models are good at different tasks.
# Each pair meets 60 times.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from lowrank_rank.plotting import PreferenceMatrixDisplay, RankIntervalDisplay
from lowrank_rank.votes import bradley_terry, consensus_ranking

rng = np.random.RandomState(5)
names = [f"model {letter}" for letter in "ABCDEFGHIJ"]
r, n_duels = len(names), 60
strength = np.linspace(0.9, -0.9, r)
angle = rng.uniform(0, 2 * np.pi, r)
probability = expit(
    strength[:, None] - strength + 0.45 * np.sin(angle[:, None] - angle)
)  # P(i is preferred to j)
pairs = np.triu_indices(r, 1)
votes = np.zeros((r, r))
votes[pairs] = rng.binomial(n_duels, probability[pairs])
votes.T[pairs] = n_duels - votes[pairs]

# %%
# The best order
# --------------
# ``kind="counts"`` says that the matrix counts votes. Majorities have cycles here, in
# the population too, so no order agrees with all of them. Kemeny's order violates the
# fewest votes. A lower bound on the cost of all orders proves it.

consensus = consensus_ranking(votes, kind="counts", items=names)
print(consensus)
print("cycles of majorities:", consensus.has_cycle)
print("preferred to each other model:", consensus.condorcet_winner)
print("no other order costs as little:", consensus.is_unique)

truth = consensus_ranking(probability * (1 - np.eye(r)), kind="counts", items=names)
print("in the population:", " ".join(name[-1] for name in truth.order))
print("cycles in the population:", truth.has_cycle)

# %%
# Compare the methods
# -------------------
# Without the truth only the costs can be compared: the number of votes that an order
# violates. Kemeny's order is proved to cost least.

print(f"{'':10}{'cost':>6}  order")
for method in ("kemeny", "copeland", "borda", "dag"):
    one = consensus_ranking(votes, kind="counts", items=names, method=method)
    order = " ".join(name[-1] for name in one.order)
    print(f"{method:10}{one.cost:6.0f}  {order}")

# %%
# Confidence intervals of the ranks
# ---------------------------------
# The bootstrap draws the duels 1000 times with replacement. The matrix shows why some
# ranks are less certain than others. Pale cells are nearly even pairs. The order
# violates the majorities below the diagonal.

figure, left = plt.subplots(figsize=(6.4, 5), layout="constrained")
PreferenceMatrixDisplay(
    preferences=votes,
    ranks=consensus.ranks,
    bound=consensus.bound,
    item_names=consensus.items,
).plot(ax=left)
figure, right = plt.subplots(figsize=(6.4, 5), layout="constrained")
display = RankIntervalDisplay.from_consensus(consensus, random_state=0, ax=right)
right.plot(
    truth.ranks[np.argsort(consensus.ranks)],
    range(r),
    "kx",
    label="rank in the population",
)
right.set_title("95 % confidence intervals of the ranks")
right.legend()
plt.show()

# %%
# More duels
# ----------
# More duels make the intervals shorter. They stay wide longest for models that are
# close to each other, such as the models of a cycle of small majorities.

print(f"{'duels a pair':>14}{'mean width':>12}{'containing the true rank':>30}")
for n in (15, 60, 240, 960):
    counts = np.zeros((r, r))
    counts[pairs] = rng.binomial(n, probability[pairs])
    counts.T[pairs] = n - counts[pairs]
    intervals = consensus_ranking(counts, kind="counts").rank_intervals(random_state=0)
    inside = (intervals.low <= truth.ranks) & (truth.ranks <= intervals.high)
    print(
        f"{n:14d}{np.mean(intervals.high - intervals.low):12.1f}{inside.sum():25d} of {r}"
    )

# %%
# Strengths, and the length of the answers
# ----------------------------------------
# The Bradley-Terry model estimates a strength instead of a rank. Here the judge prefers
# long answers, and model J writes long ones. Each of 400 prompts has ten duels, some of
# them ties. Duels of one prompt are alike, so the prompt is their group.

n_prompts = 400
prompt = np.repeat(np.arange(n_prompts), 10)
first = rng.randint(r, size=len(prompt))
second = (first + rng.randint(1, r, size=len(prompt))) % r
wordy = np.where(np.arange(r) == r - 1, 2.0, 0.0)
length = rng.normal(size=(len(prompt), 2)) + wordy[np.stack([first, second], axis=1)]
longer = length[:, 0] - length[:, 1]
suits = rng.normal(scale=0.5, size=(n_prompts, r))  # how well a prompt suits a model
log_odds = (
    strength[first] - strength[second] + suits[prompt, first] - suits[prompt, second]
)
log_odds += 0.6 * longer
share = np.stack(
    [np.exp(log_odds / 2), np.full(len(prompt), 0.5), np.exp(-log_odds / 2)]
)
outcome = (
    rng.uniform(size=len(prompt)) * share.sum(axis=0) > np.cumsum(share, axis=0)
).sum(axis=0)
duels = {
    "model_a": np.array(names)[first],
    "model_b": np.array(names)[second],
    "winner": np.array(["model_a", "tie", "model_b"])[outcome],
}
print(bradley_terry(duels, group=prompt))

# %%
# A covariate, the length of the first answer minus that of the second, removes this
# effect. Model J falls back to its place, because the strengths now compare answers of
# equal length. A constant is the advantage of being shown first, which this judge does
# not give.

board = bradley_terry(
    duels,
    group=prompt,
    covariates=np.column_stack([longer, np.ones(len(longer))]),
)
print(board)
print(
    "log odds of one unit of length, and of being shown first:",
    board.coefficients.round(2),
    board.coefficient_errors.round(2),
)

# %%
# The intervals of ranks contain all ranks together with probability 95 %.

intervals = board.rank_intervals(random_state=0)
display = RankIntervalDisplay(
    ranks=board.ranks,
    low=intervals.low,
    high=intervals.high,
    item_names=board.items,
    title="Leaderboard at equal length, 95 % of all ranks together",
).plot()
plt.show()
