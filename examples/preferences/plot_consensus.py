"""
A leaderboard of duels: Kemeny, Bradley-Terry, confidence intervals
===================================================================

Ten models meet in duels, and whoever is preferred gets the vote. What is the order, is it the only
one, and which ranks are firm? The duels are simulated, so that the answers can be compared with the
truth.
"""

# %%
# The duels
# ---------
# Model i is preferred to model j with probability sigma(s_i - s_j + c_ij): a strength, and a part c
# that no strength explains, as models are good at different tasks. Each pair meets 60 times.

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from lowrank_rank import bradley_terry, consensus_ranking
from lowrank_rank.plotting import PreferenceMatrixDisplay, RankIntervalDisplay

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
# The order
# ---------
# ``pairwise=True`` says that the matrix counts votes. Majorities have cycles here, in the
# population too, so no order agrees with all of them. Kemeny's order contradicts the fewest
# votes, and the cost and its bound prove it.

consensus = consensus_ranking(votes, items=names, pairwise=True)
print(consensus)
print("cycles of majorities:", consensus.has_cycle)
print("preferred to each other model:", consensus.condorcet_winner)
print("open pairs:", consensus.tied_pairs)

truth = consensus_ranking(probability * (1 - np.eye(r)), items=names, pairwise=True)
print("in the population:", " ".join(name[-1] for name in truth.order))
print("cycles in the population:", truth.has_cycle)

# %%
# The methods
# -----------
# Every method gives an order. Only their costs, in votes, can be compared without the truth.
# Kemeny's order is proved to cost least.

print(f"{'':10}{'cost':>6}  order")
for method in ("kemeny", "copeland", "borda", "dag"):
    one = consensus_ranking(votes, items=names, pairwise=True, method=method)
    order = " ".join(name[-1] for name in one.order)
    print(f"{method:10}{one.cost:6.0f}  {order}")

# %%
# How firm the ranks are
# ----------------------
# The duels are drawn again, with replacement, 1000 times. The matrix shows why some ranks are less
# firm than others: what is pale was nearly even, and what is preferred below the diagonal is what
# the order has to go against.

figure, left = plt.subplots(figsize=(6.4, 5), layout="constrained")
PreferenceMatrixDisplay(
    preferences=votes, ranks=consensus.ranks, bound=consensus.bound, item_names=consensus.items
).plot(ax=left)
figure, right = plt.subplots(figsize=(6.4, 5), layout="constrained")
display = RankIntervalDisplay.from_consensus(consensus, random_state=0).plot(ax=right)
right.plot(truth.ranks[np.argsort(consensus.ranks)], range(r), "kx", label="rank in the population")
right.set_title("Which ranks are firm, 95 % intervals")
right.legend()
plt.show()

# %%
# More duels
# ----------
# How wide the intervals are depends on the number of duels, and on how close the models are: those
# of a cycle of small majorities stay open longest.

print(f"{'duels a pair':>14}{'mean width':>12}{'holding the population rank':>30}")
for n in (15, 60, 240, 960):
    counts = np.zeros((r, r))
    counts[pairs] = rng.binomial(n, probability[pairs])
    counts.T[pairs] = n - counts[pairs]
    intervals = consensus_ranking(counts, pairwise=True).rank_intervals(random_state=0)
    inside = (intervals.low <= truth.ranks) & (truth.ranks <= intervals.high)
    print(f"{n:14d}{np.mean(intervals.high - intervals.low):12.1f}{inside.sum():25d} of {r}")

# %%
# Strengths, and the length of the answers
# ----------------------------------------
# Bradley's and Terry's model gives each model a strength instead of a rank. Here the judge prefers
# long answers, and model J writes long ones. 400 prompts have ten duels each, and the judge calls
# some of them a tie. Duels of one prompt are alike, so the prompt is their group.

n_prompts = 400
prompt = np.repeat(np.arange(n_prompts), 10)
first = rng.randint(r, size=len(prompt))
second = (first + rng.randint(1, r, size=len(prompt))) % r
wordy = np.where(np.arange(r) == r - 1, 2.0, 0.0)
length = rng.normal(size=(len(prompt), 2)) + wordy[np.stack([first, second], axis=1)]
longer = length[:, 0] - length[:, 1]
suits = rng.normal(scale=0.5, size=(n_prompts, r))  # how well a prompt suits a model
log_odds = strength[first] - strength[second] + suits[prompt, first] - suits[prompt, second]
log_odds += 0.6 * longer
share = np.stack([np.exp(log_odds / 2), np.full(len(prompt), 0.5), np.exp(-log_odds / 2)])
outcome = (rng.uniform(size=len(prompt)) * share.sum(axis=0) > np.cumsum(share, axis=0)).sum(axis=0)
lost = outcome == 2
duels = {
    "winner": np.array(names)[np.where(lost, second, first)],
    "loser": np.array(names)[np.where(lost, first, second)],
    "tie": outcome == 1,
    "group": prompt,
}
print(bradley_terry(duels))

# %%
# With the difference of the lengths as a covariate, model J goes back to its place: the strengths
# are those of answers of equal length.

board = bradley_terry(duels, covariates=np.where(lost, -longer, longer))
print(board)
print(
    "log odds of one unit of length:",
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
