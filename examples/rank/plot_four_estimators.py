"""
Four estimators and five measures on handwritten digits
=======================================================

``LowRankSurrogateRanker``, ``OrderPreservingRegressor``, ``PairwiseDAGRanker`` and
``PrecisionAtKPerceptron`` take different labels. ``target_loss`` says what each is trained
for, and five scorers measure them in ``cross_validate`` and ``GridSearchCV``.
"""

# %%
# Three kinds of labels
# ---------------------
# All labels are made from scikit-learn's handwritten digits:
#
# * *documents*: find images of the same digit for 200 query images. A row is a pair of
#   images, and ``qid`` is the query;
# * *a rare class*: find the images of the digit 8, about one in ten;
# * *items*: order the ten digits for an image. The grade of a digit is its number among
#   the ten nearest other images, so look-alikes have grades too.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.neighbors import NearestNeighbors

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import load_digits_retrieval
from lowrank_rank.target_losses import ExpectedRankUtility

digits = load_digits()
images, digit = digits.data / 16.0, digits.target
neighbours = NearestNeighbors(n_neighbors=10).fit(images).kneighbors()[1]
grades = (digit[neighbours][:, :, np.newaxis] == np.arange(10)).sum(axis=1)
pairs = load_digits_retrieval()
print("grades of the ten digits for an image of a", f"{digit[5]}:", grades[5])

# %%
# Five measures
# -------------
# One scorer has five measures. The neutral grade of "eru" is 2 by default, so labels of
# 0 and 1 would have no utility. ``ExpectedRankUtility(neutral=0)`` counts every grade
# above 0. "pd" is a loss, and its score is negative. The perceptron ranks all images of
# a fold as one list, and ``one_list`` says so.

five = {name: name for name in ("precision@5", "map", "eru", "pd", "ndcg")}
five["eru"] = ExpectedRankUtility(neutral=0)
scorer = make_ranking_scorer(five, one_list=True)
documents = pairs.data, ranking_target(pairs.target, pairs.qid), pairs.qid
by_image = {"X": images, "y": grades}
models = {
    "OrderPreservingRegressor": (
        OrderPreservingRegressor(target_loss="ndcg"),
        {"X": documents[0], "y": documents[1], "groups": documents[2]},
    ),
    "PrecisionAtKPerceptron": (
        PrecisionAtKPerceptron(target_loss="precision@25%", random_state=0),
        {"X": images, "y": (digit == 8).astype(int)},
    ),
    "LowRankSurrogateRanker": (LowRankSurrogateRanker(target_loss="ndcg"), by_image),
    "PairwiseDAGRanker": (PairwiseDAGRanker(), by_image),
}
rows = {}
for name, (model, data) in models.items():
    folds = GroupKFold(3) if "groups" in data else 3
    scores = cross_validate(
        model, cv=folds, scoring=scorer, error_score="raise", **data
    )
    rows[name] = {measure: scores[f"test_{measure}"].mean() for measure in five}
print(pd.DataFrame(rows).T.round(2).to_string())

# %%
# The rows of the table have different labels, so compare columns only between the last
# two, which order the same ten digits. ``PairwiseDAGRanker()`` is
# ``LowRankSurrogateRanker(target_loss="pd")``. It estimates 45 preferences between
# digits, most of them between digits without any neighbour. The ranker for NDCG
# estimates ten utilities, and does better here by every measure, "pd" too.
#
# A search over the target loss
# -----------------------------
# The search compares names of different orders. Names such as "dcg@3" and "dcg" would
# be one model: :doc:`/user_guide/target_losses` has a table. ``refit`` names the
# measure that decides.

losses = ["ndcg", "precision@5", "map", "auc"]
X, y, qid = documents
search = GridSearchCV(
    LowRankSurrogateRanker(),
    {"target_loss": losses},
    scoring=scorer,
    refit="map",
    cv=GroupKFold(3),
    error_score="raise",
)
search.fit(X, y, groups=qid)
results = pd.DataFrame(search.cv_results_).set_index("param_target_loss")
means = results[[f"mean_test_{measure}" for measure in five]]
means.columns = list(five)
print(means.round(3).to_string())
print("chosen for MAP:", search.best_params_)

# %%
# With labels 0 and 1 the four losses hardly differ. The folds differ more than the losses:

splits = results[[f"split{i}_test_map" for i in range(3)]]
figure, axis = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
axis.plot(splits.T, "o-", label=splits.index)
axis.set_xticks(range(3), ["fold 1", "fold 2", "fold 3"])
axis.set(ylabel="MAP")
axis.set_title("MAP of four target losses in each fold")
axis.legend(title="target_loss")
plt.show()
