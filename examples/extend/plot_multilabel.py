"""
Predict sets of labels with the best F1
=======================================

A row has a set of labels, and the F1 of the predicted set counts. The usual way is to
predict the labels whose probability exceeds a threshold.
`LowRankSurrogateMultilabelClassifier` takes the set of the largest expected F1 and has
no threshold. It is compared with every common threshold on two tasks.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics import f1_score

from lowrank_rank import LowRankSurrogateMultilabelClassifier

# %%
# Two tasks
# ---------
# *Topics*: scikit-learn's generator of documents, counts of 30 words and on average
# three of ten topics. *Pictures*: one, two or three of scikit-learn's digits lie over
# each other, drawn independently; the labels are the digits that are seen. Both have
# 2,000 rows for the fit and as many for the test, and no picture of a digit is in both
# parts.

words, topics = make_multilabel_classification(
    4000, n_features=30, n_classes=10, n_labels=3, random_state=0
)
pictures, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def overlaid(rows, n):
    """Pictures of one to three digits, and an indicator of the digits."""
    X, y = np.zeros((n, 64)), np.zeros((n, 10), dtype=int)
    for i in range(n):
        drawn = rng.choice(rows, rng.integers(1, 4))
        X[i], y[i, digits[drawn]] = pictures[drawn].max(axis=0), 1
    return X, y


first, second = np.arange(0, len(digits), 2), np.arange(1, len(digits), 2)
tasks = {
    "topics of documents": (words[::2], topics[::2], words[1::2], topics[1::2]),
    "digits in a picture": (*overlaid(first, 2000), *overlaid(second, 2000)),
}

# %%
# One fit, and all thresholds
# ---------------------------
# ``target_loss="hamming"`` is logistic regression of each label, and
# ``predict_surrogate`` returns the probabilities minus 1/2. One quarter of the rows for
# the fit is held out to choose the threshold (dashed line). The curve is the F1 of each
# threshold on the test rows.

thresholds = np.linspace(0.05, 0.8, 76)


def f1_of_thresholds(X, y, X_new, y_new):
    """F1 on new rows of the labels above each threshold."""
    logistic = LowRankSurrogateMultilabelClassifier(target_loss="hamming").fit(X, y)
    p = logistic.predict_surrogate(X_new) + 0.5
    return [
        f1_score(y_new, p > t, average="samples", zero_division=1.0) for t in thresholds
    ]


figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
for axis, (name, (X, y, X_test, y_test)) in zip(axes, tasks.items(), strict=True):
    f1 = LowRankSurrogateMultilabelClassifier().fit(X, y).score(X_test, y_test)
    chosen = np.argmax(f1_of_thresholds(X[500:], y[500:], X[:500], y[:500]))
    curve = f1_of_thresholds(X, y, X_test, y_test)
    half = curve[np.argmin(abs(thresholds - 0.5))]
    print(
        f"{name}: ours {f1:.3f}, chosen threshold {curve[chosen]:.3f}, threshold 1/2 {half:.3f}"
    )
    axis.axvline(thresholds[chosen], color="C0", linestyle="--")
    axis.axhline(f1, color="C1", label="set of the largest expected F1")
    axis.plot(thresholds, curve, color="C0", label="labels above a common threshold")
    axis.set(title=name, xlabel="threshold")
axes[0].set_ylabel("mean F1 of the test rows")
axes[0].legend(loc="lower left")
plt.show()

# %%
# For documents no threshold comes near: the number of topics differs between documents,
# and the labels of a document exclude each other or come together. The fit estimates
# for each label and each size the probability of "has this label, and so many in all",
# 101 targets here. For the pictures, whose digits are drawn independently, the gain is
# smaller, and a threshold is cheaper.
