"""
Classify with any cost matrix
=============================

``LowRankSurrogateClassifier`` predicts the decision of least expected cost. It fits as
many regressions as the cost matrix has rank, by any regressor. The decisions need not
be the classes.
"""

# %%
# Stages of a disease
# -------------------
# The diabetes data of scikit-learn, with the progression of the disease after a year
# cut into six stages of equal size. A predicted stage can be judged in several ways;
# rows are the true stages, columns the predicted ones.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateClassifier

X, progression = load_diabetes(return_X_y=True)
stage = np.searchsorted(np.quantile(progression, np.arange(1, 6) / 6), progression)

step = np.subtract.outer(np.arange(6), np.arange(6)).T.astype(
    float
)  # predicted minus true
COSTS = {
    "0-1": (step != 0).astype(float),
    "absolute": np.abs(step),
    "squared": step**2,
    "asymmetric": np.where(step < 0, -3 * step, step),  # too low is three times as bad
}


def held_out(costs, **params):
    """Decisions for every patient, each made by a model that has not seen the patient."""
    model = make_pipeline(
        StandardScaler(), LowRankSurrogateClassifier(loss_matrix=costs, **params)
    )
    return cross_val_predict(model, X, stage, cv=KFold(5, shuffle=True, random_state=0))


# %%
# Each model is best at the cost that it was fitted for, up to noise. The surrogate of
# the squared cost has two dimensions only, whatever the number of stages.

print("Mean cost on held-out patients. Rows: fitted for; columns: measured by")
print(f"{'':12}{'d':>4}" + "".join(f"{name:>12}" for name in COSTS))
for name, costs in COSTS.items():
    decisions = held_out(costs)
    n_components = (
        LowRankSurrogateClassifier(loss_matrix=costs).fit(X, stage).n_components_
    )
    row = "".join(
        f"{measured[stage, decisions].mean():12.3f}" for measured in COSTS.values()
    )
    print(f"{name:12}{n_components:4d}{row}")

# %%
# Fewer components
# ----------------
# ``n_components`` cuts the surrogate to fewer numbers. ``approximation_error_`` is the
# largest error of the cost matrix that this leaves; the expected cost can then rise by
# up to twice that. Here two components do most of the work, and the bound is far from
# reached.

costs = COSTS["asymmetric"]
components = [1, 2, 3, 4, 5]
errors, reached = [], []
for d in components:
    model = LowRankSurrogateClassifier(loss_matrix=costs, n_components=d).fit(X, stage)
    errors.append(model.approximation_error_)
    reached.append(costs[stage, held_out(costs, n_components=d)].mean())
    print(f"d = {d}: approximation error {errors[-1]:.3f}, mean cost {reached[-1]:.3f}")

# %%
# Any regressor, any decisions
# ----------------------------
# The default is logistic regression; ``estimator`` takes any regressor. A forest fits
# all components at once (and does not pay on these 442 patients):

forest = RandomForestRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
by_forest = costs[stage, held_out(costs, estimator=forest)].mean()
print(f"Mean cost with a forest: {by_forest:.3f}")

# %%
# A matrix need not be square. With a seventh column, a further examination that costs
# 0.8 whatever the stage, the model decides for whom it pays:

with_examination = np.column_stack([COSTS["absolute"], np.full(6, 0.8)])
decisions = held_out(with_examination, decisions=[*range(6), -1])
cost = with_examination[stage, decisions].mean()
print(f"Examines {np.mean(decisions == -1):.0%} of the patients, mean cost {cost:.3f}")

figure, axis = plt.subplots(figsize=(6, 3.5), layout="constrained")
axis.plot(components, errors, marker="s", label="approximation error of the matrix")
axis.plot(components, reached, marker="o", label="mean cost on held-out patients")
wrong = costs[stage, held_out(COSTS["0-1"])].mean()
axis.axhline(
    wrong, color="grey", linestyle="--", label="mean cost if fitted for the 0-1 loss"
)
axis.set_title("A few components reach the cost of all")
axis.set(
    xlabel="n_components", ylabel="asymmetric cost", ylim=(0, None), xticks=components
)
axis.legend(fontsize="small")
plt.show()
