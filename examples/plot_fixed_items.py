"""
Ranking the same items for everyone
===================================

When all queries rank the same few items, a row of ``X`` is a query (a user, a visit) and a row
of ``y`` holds the grades of all items. There is no ``qid``: each row is its own list. NaN means
that the item was not judged.
"""

# %%
# Ratings with gaps
# -----------------
# Users rate six dishes from 0 to 5. What a user likes depends on their features; each rating is
# known with probability 0.6.

from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.metrics import (
    dcg_score,
    expected_rank_utility_score,
    mean_average_precision_score,
)
from lowrank_rank.target_losses import ExpectedRankUtility

rng = np.random.RandomState(0)
X = rng.normal(size=(1000, 8))
taste = X @ rng.normal(size=(8, 6)) + 2.0 * rng.normal(size=(1000, 6))
ratings = np.clip(np.floor(3.0 + 0.6 * taste), 0.0, 5.0)
known = np.where(rng.uniform(size=ratings.shape) < 0.6, ratings, np.nan)
train, test = slice(500), slice(500, None)
print("Some known ratings:", known[:2], sep="\n")

# %%
# DCG, precision at k and expected rank utility have no normaliser: the worth of an item depends on
# its own grade alone, and judged items tell what they can. Measures with a normaliser, NDCG for
# example, need every item judged and refuse NaN. Leaving out the users with gaps is wasteful:

complete = ~np.isnan(known[train]).any(axis=1)
losses = {"dcg": "dcg", "eru": ExpectedRankUtility(neutral=2, half_life=2, max_grade=5)}
print(f"{complete.sum()} of 500 users have rated everything")
for name, loss in losses.items():
    with_gaps = LowRankSurrogateRanker(target_loss=loss).fit(X[train], known[train])
    without = LowRankSurrogateRanker(target_loss=loss).fit(
        X[train][complete], known[train][complete]
    )
    print(
        f"{name}, measured on complete ratings: {with_gaps.score(X[test], ratings[test]):.3f} "
        f"(only users without gaps: {without.score(X[test], ratings[test]):.3f})"
    )
try:
    LowRankSurrogateRanker(target_loss="ndcg").fit(X[train], known[train])
except ValueError as error:
    print(fill(f"ValueError: {error}", 95))

# %%
# A measure skips what is not judged as well, so held-out ratings with gaps can be scored; the
# number is then that of the judged items only.

scores = with_gaps.predict(X[test])
print(f"DCG of the judged items: {dcg_score(known[test], scores):.3f}")
utility = expected_rank_utility_score(known[test], scores, neutral=2, half_life=2)
print(f"ERU of the judged items: {utility:.3f}")

# %%
# The decoders of MAP
# -------------------
# Positional losses are decoded by sorting. Mean average precision couples the items: which of two
# dishes goes first depends on what else is likely to be liked along with them. The surrogate has
# r(r+1)/2 dimensions, and there are several ways back to an order:
#
# * ``"exact"``: a dynamic program over subsets, up to 22 items;
# * ``"local_search"``: from the diagonal order by moves of one item, for more items;
# * ``"diagonal"``: sorts u_ii, ignoring the coupling;
# * ``"sort"``: regresses y_i / sum(y) only, r dimensions, and sorts; with ridge regression, which
#   treats each dimension by itself, that is the diagonal.

data = make_label_ranking(40_000, n_items=6, n_labels=4, random_state=3)
train, test = slice(20_000), slice(20_000, None)
reached = {}
for decoder in ("sort", "diagonal", "local_search", "exact"):
    ranker = LowRankSurrogateRanker(target_loss="map", decoder=decoder, alpha=1e-3)
    ranker.fit(data.data[train], data.target[train])
    per_list = mean_average_precision_score(
        data.target[test], ranker.predict(data.data[test]), average=None
    )
    d = ranker.predict_surrogate(data.data[:1]).shape[1]
    reached[decoder] = per_list
    print(f"{decoder:13} d = {d:2d}   MAP {per_list.mean():.4f}")


# %%
# The differences are small next to the spread between queries, and clear on the same queries:

gains = {name: values - reached["sort"] for name, values in reached.items() if name != "sort"}
errors = {name: gain.std() / np.sqrt(len(gain)) for name, gain in gains.items()}
for name, gain in gains.items():
    print(f"{name:13} minus sort: {gain.mean():+.4f}, standard error {errors[name]:.4f}")

# %%
# With a combinatorial decoder the scores of ``predict`` are r - rank of the decoded order, so
# sorting them gives that order; otherwise they are u itself.

print("scores of one query, exact:", ranker.predict(data.data[:1])[0])

figure, axis = plt.subplots(figsize=(6, 2.8), layout="constrained")
axis.errorbar(
    [gain.mean() for gain in gains.values()],
    list(gains),
    xerr=[2 * error for error in errors.values()],
    fmt="o",
    capsize=3,
)
axis.axvline(0, color="grey", linewidth=1)
axis.set(xlabel='MAP minus that of decoder="sort", two standard errors')
axis.margins(y=0.2)
plt.show()
