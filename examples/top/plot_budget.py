"""
Fraud with a daily budget: cases and money among the first k
============================================================

A team can inspect k cases a day and wants the k cases that bring back the most money. A
day is a query, and the grade of a case is its amount. This example compares rankers,
classifiers and a perceptron at the same k, and sets a threshold for cases that arrive
during the day.
"""

# %%
# Simulated days
# --------------
# There are 200 payments a day. Fraud depends on a few features and on an interaction
# that no linear model sees. The amount is known beforehand, and large frauds are rarer.
# A caught fraud brings back its amount. Days differ: on some of them all payments look
# more suspicious.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, PrecisionAtKPerceptron
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.metrics import measure_score
from lowrank_rank.plotting import PrecisionAtKDisplay, RankerComparisonDisplay

A_DAY, K = 200, 10


def draw_days(n_days, seed):
    rng = np.random.RandomState(seed)
    n = n_days * A_DAY
    day = np.repeat(np.arange(n_days), A_DAY)
    X = rng.normal(size=(n, 5))
    amount = np.exp(4.0 + rng.normal(size=n))
    z = 0.9 * X[:, 0] + 0.7 * X[:, 1] * X[:, 2] - 0.3 * np.log(amount)
    fraud = rng.uniform(size=n) < 1.0 / (1.0 + np.exp(2.6 - z))
    X += 0.5 * rng.normal(size=n_days)[day, np.newaxis]  # the level of the day
    return (
        np.column_stack([X, amount, np.log(amount)]),
        fraud.astype(int),
        amount * fraud,
        day,
    )


X, fraud, money, day = draw_days(120, seed=0)
X_test, fraud_test, money_test, day_test = draw_days(120, seed=1)
print(
    f"{fraud.mean():.1%} of the payments are fraudulent; {K} of {A_DAY} can be inspected a day"
)

# %%
# Money at k
# ----------
# The target loss is "gain@10", the sum of the grades among the first ten. Rankers,
# scorers and comparisons accept this name.

MONEY = f"gain@{K}"

# %%
# Models at the same k
# --------------------
# * *ridge, money*: a linear ranker, fitted to the money at k of each day;
# * *trees, money*: the same ranker with a tree regressor;
# * *trees, precision*: fitted to the number of frauds among the first k, without
#   amounts;
# * *perceptron*: a linear classifier for the first ten of each day, without amounts. It
#   takes "recall@10", because a day may have fewer than ten frauds;
# * *tree classifier*: a probability of fraud, without days and k;
# * *p times amount*: the probability of the tree classifier times the amount.

trees = HistGradientBoostingRegressor(max_iter=80, learning_rate=0.06, random_state=0)
ridge = make_pipeline(StandardScaler(), LowRankSurrogateRanker(target_loss=MONEY))
ridge.fit(X, money, lowranksurrogateranker__qid=day)
by_money = LowRankSurrogateRanker(target_loss=MONEY, estimator=trees)
by_money.fit(X, money, qid=day)
by_count = LowRankSurrogateRanker(target_loss=f"precision@{K}", estimator=trees)
by_count.fit(X, fraud, qid=day)
perceptron = make_pipeline(
    StandardScaler(), PrecisionAtKPerceptron(target_loss=f"recall@{K}", random_state=0)
)
perceptron.fit(X, fraud, precisionatkperceptron__qid=day)
classifier = HistGradientBoostingClassifier(
    max_iter=80, learning_rate=0.06, random_state=0
)
probability = classifier.fit(X, fraud).predict_proba(X_test)[:, 1]
scores = {
    "ridge, money": ridge.predict(X_test),
    "trees, money": by_money.predict(X_test),
    "trees, precision": by_count.predict(X_test),
    "perceptron": perceptron.decision_function(X_test),
    "tree classifier": probability,
    "p times amount": probability * X_test[:, 5],
}

# %%
# Means of later days:

print(f"{'':18}{'money':>8}{'frauds':>8}  among the first {K}")
for name, score in scores.items():
    recovered = measure_score(MONEY, money_test, score, qid=day_test)
    found = K * measure_score(f"precision@{K}", fraud_test, score, qid=day_test)
    print(f"{name:18}{recovered:8.0f}{found:8.2f}")

figure, axis = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
for name in ("p times amount", "trees, money", "ridge, money", "tree classifier"):
    PrecisionAtKDisplay.from_predictions(
        money_test,
        scores[name],
        qid=day_test,
        kind="gains",
        max_k=30,
        budget=K,
        name=name,
        ax=axis,
    )
axis.set(xlabel="cases inspected a day", ylabel="money recovered a day", ylim=(0, 430))
axis.set_title("A classifier of fraud times the amount recovers most")
axis.legend(loc="upper left")
plt.show()

# %%
# Confidence intervals of the differences
# ---------------------------------------
# The intervals are Student's over days.

comparison = compare_rankers(
    money_test, scores, qid=day_test, measure=MONEY, baseline="p times amount"
)
print(
    comparison.to_frame()[["ranker", "difference", "low", "high", "p_holm"]]
    .round(3)
    .to_string()
)
figure, axis = plt.subplots(figsize=(6.4, 4.4), layout="constrained")
RankerComparisonDisplay(comparison).plot(ax=axis)
axis.set_xlabel("difference from p times amount, money a day, with 95 % interval")
axis.set_title("No other order recovers more")
plt.show()

# %%
# The most money and the most frauds are two goals: the models that find the most frauds
# recover less money. "p times amount" recovers the most. The trees for the money are
# next, and their difference is not significant after Holm's correction. They must learn
# the product of probability and amount from few large amounts, while the classifier
# learns the probability from all rows and the amount is known. The tree classifier and
# the trees for precision find about the same number of frauds. Do not expect a ranker
# to beat a good probability if a probability is all that you need.
#
# A threshold for cases that arrive during the day
# ------------------------------------------------
# If all cases of a day are known, sort them. If each case is decided at once, the
# budget becomes a threshold: the score that ten of 200 cases exceed. The threshold
# needs rows but no labels, so compute it from the latest days.
# ``FixedThresholdClassifier`` makes a classifier of it.

latest, *_ = draw_days(30, seed=2)
threshold = np.quantile(classifier.predict_proba(latest)[:, 1], 1.0 - K / A_DAY)
alarm = FixedThresholdClassifier(
    FrozenEstimator(classifier), threshold=threshold, response_method="predict_proba"
).fit(X, fraud)
alarms = alarm.predict(X_test).reshape(-1, A_DAY).sum(axis=1)
at_once = (fraud_test * alarm.predict(X_test)).sum() / len(alarms)
print(
    f"alarms a day: {alarms.mean():.1f} on average, from {alarms.min()} to {alarms.max()}"
)
print(f"frauds found a day: {at_once:.2f}; by the list of each day: ", end="")
found = K * measure_score(f"precision@{K}", fraud_test, probability, qid=day_test)
print(f"{found:.2f}")

# %%
# The budget is kept on average, not every day: suspicious days give many more alarms.
