"""
Which ranks are real?
=====================

A leaderboard lists systems by their mean over tasks. Some neighbours differ by chance.
`compare_values` takes the table alone, without labels or models: a row for each task,
a column for each system. It gives each system an interval for its rank, and says which
systems are tied with the best.
"""

# %%
# A leaderboard
# -------------
# Twelve systems answer 300 questions, right or wrong. Some questions are hard for all
# systems. The values are generated, so that the true order is known: "a" is the best,
# then "b", and so on.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from lowrank_rank.evaluation import compare_values
from lowrank_rank.plotting import RankerComparisonDisplay

rng = np.random.RandomState(0)
ability = np.linspace(1.2, -0.4, 12)
hard = rng.normal(size=(300, 1))
right = ability + hard + 0.8 * rng.normal(size=(300, 12)) > 0
table = pd.DataFrame(right, columns=list("abcdefghijkl"))
found = compare_values(table)
print(found)

# %%
# Ranks
# -----
# The numbers on the right are the intervals of the ranks. Systems with a star are the
# best, or tied with the best: the truly best system is among them with 95 % probability
# or more.

RankerComparisonDisplay(found).plot(kind="means")
plt.show()

# %%
# More questions, fewer ties
# --------------------------
# The intervals of ranks become short where the table is long.

for n in (20, 100, 300, 3000):
    hard = rng.normal(size=(n, 1))
    right = ability + hard + 0.8 * rng.normal(size=(n, 12)) > 0
    of_n = compare_values({name: right[:, i] for i, name in enumerate(table)})
    width = np.mean(np.diff(of_n.means.rank_interval, axis=1) + 1)
    print(
        f"{n:5} questions: {of_n.tied_with_best.sum():2} tied, {width:4.1f} ranks in an interval"
    )

# %%
# Tasks of one family
# -------------------
# Questions about one text resemble each other, so that 300 questions about 30 texts say
# less than 300 questions alone. Rows must be independent: average each family first.

text = np.repeat(np.arange(30), 10)
bonus = 0.8 * rng.normal(size=(30, 12))[text]  # a system likes a text or not
values = (ability + hard[:300] + bonus + 0.8 * rng.normal(size=(300, 12)) > 0).astype(
    float
)
questions = pd.DataFrame(values, columns=table.columns)
texts = questions.groupby(text).mean()
for name, one in {"questions": questions, "texts": texts}.items():
    pair = compare_values(one[["a", "d"]])
    low, high = pair.interval[0]
    print(
        f"a - d over {len(one):3} {name}: {low:.2f} to {high:.2f}, p = {pair.p_value[0]:.3f}"
    )

# %%
# One baseline
# ------------
# A comparison with one system needs fewer corrections than all 66 pairs. The baseline
# must not be chosen as the best of the same table.

against = compare_values(table, baseline="f")
RankerComparisonDisplay(against).plot()
plt.show()
