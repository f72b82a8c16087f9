"""
Fit a ranker for a measure of your own
======================================

Rank-biased precision is the measure of a reader who looks at the first item and goes on
to each next one with probability ``patience``. It is positional, so a class of a few
lines makes it a target loss: something to fit for, to score by and to search over.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GroupKFold, cross_validate

from lowrank_rank import LowRankSurrogateRanker, make_ranking_scorer, ranking_target
from lowrank_rank.datasets import make_ranking
from lowrank_rank.target_losses import PositionalLoss
from lowrank_rank.testing import check_target_loss

# %%
# The class
# ---------
# The constructor only assigns, as scikit-learn wants it; ``discount`` returns the
# discount of a position. The gain of an item is its label. Encoding, decoding, the tie
# rule and weights come with the base class.


class RankBiasedPrecision(PositionalLoss):
    """``(1 - patience) * sum_i patience**(rank(i) - 1) * y_i``, y_i = 1 where relevant."""

    labels = "binary"
    allow_missing = True  # the gain of an item depends on its own grade alone

    def __init__(self, patience=0.8, *, relevance_threshold=None):
        self.patience = patience
        self.relevance_threshold = relevance_threshold

    def discount(self, p, r):
        """Of positions p = 1, 2, ... in lists of length r."""
        return (1 - self.patience) * self.patience ** (p - 1)


# %%
# The contract
# ------------
# ``check_target_loss`` enumerates orders and random distributions: the factorisation
# must equal the measure, and the decoder must be Bayes-optimal. It returns nothing if
# all checks pass.

labels = [[1, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0], [0, 0, 0, 1]]
check_target_loss(RankBiasedPrecision(patience=0.5), labels)

# %%
# In use
# ------
# The object can be used wherever the name of a loss can. Grades of at least 3 are
# relevant here.

X, y, qid = make_ranking(n_lists=200, random_state=0)
patiences = [0.2, 0.5, 0.8, 0.95]
readers = [RankBiasedPrecision(p, relevance_threshold=3) for p in patiences]
result = cross_validate(
    LowRankSurrogateRanker(target_loss=readers[0]),
    X,
    ranking_target(y, qid),
    groups=qid,
    cv=GroupKFold(5),
    scoring=make_ranking_scorer(readers),
    error_score="raise",
)
for patience, reader in zip(patiences, readers, strict=True):
    print(f"patience {patience:4}: {result[f'test_{reader!r}'].mean():.3f}")

# %%
# ``patience`` changes the score of the ranker and not its model: the targets of the
# regression are gain / normaliser, and the gain does not depend on the patience.

figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
position = np.arange(1, 16)
for reader in readers:
    discount = reader.discount(position, 15)
    axis.plot(
        position,
        discount / discount[0],
        marker=".",
        label=f"patience {reader.patience}",
    )
axis.plot(position, 1 / np.log2(1 + position), "k--", label="DCG")
axis.set(xlabel="rank", ylabel="discount, first rank = 1")
axis.set_title("How far down a reader goes")
axis.set_ylim(0, 1.25)
axis.legend(ncols=3, loc="upper right", fontsize="small")
plt.show()
