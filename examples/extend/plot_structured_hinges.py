"""
Structured hinges: classes with one model, and F1 of all rows
=============================================================

A structured hinge judges a whole decision. One hinge of all classes finds the class
between two others, which no line separates from the rest. One hinge of all rows fits a
classifier for F1, a measure that no single row has.
"""

# %%
# The class in the middle
# -----------------------
# Among scikit-learn's irises, versicolor lies between the other two. One versus all
# needs a line that separates it from both, but there is none;
# ``StructuredHingeClassifier`` gives each class a weight vector and takes the largest
# score, which needs no such line (example 17.1 of Shalev-Shwartz and Ben-David). Filled
# are the rows that its own line assigns to versicolor, and the regions of the three
# scores.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC

from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
)

iris = load_iris()
X, y = scale(iris.data[:, 2:]), iris.target
one_versus_all = OneVsRestClassifier(LinearSVC()).fit(X, y)
together = StructuredHingeClassifier().fit(X, y)
middle = one_versus_all.estimators_[1]
of_middle = y == 1
print(f"versicolor that its own line claims: {middle.predict(X)[of_middle].mean():.2f}")
print(
    f"versicolor found by one versus all: {one_versus_all.score(X[of_middle], y[of_middle]):.2f}"
)
print(
    f"versicolor found by all at once: {together.score(X[of_middle], y[of_middle]):.2f}"
)

grid = np.stack(
    np.meshgrid(np.linspace(-1.9, 2.1, 300), np.linspace(-1.9, 2.1, 300)), axis=-1
)
# sphinx_gallery_thumbnail_number = 2
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
regions = {
    "versicolor against the rest": (middle.predict(grid.reshape(-1, 2)) > 0) * 1,
    "all classes at once": together.predict(grid.reshape(-1, 2)),
}
for ax, (title, region) in zip(axes, regions.items(), strict=True):
    levels = [0.5, 1.5] if region.max() == 1 else [-0.5, 0.5, 1.5, 2.5]
    colors = (
        ["tab:orange"] if region.max() == 1 else ["tab:blue", "tab:orange", "tab:green"]
    )
    region = region.reshape(300, 300)
    ax.contourf(*np.moveaxis(grid, -1, 0), region, levels, colors=colors, alpha=0.3)
    for label, name in enumerate(iris.target_names):
        ax.scatter(*X[y == label].T, s=14, label=name)
    ax.set_title(title, fontsize=15)
    ax.set(xlabel="petal length", xticks=[], yticks=[])
axes[0].set_ylabel("petal width")
axes[1].legend(fontsize=12)
plt.show()

# %%
# F1 by threshold
# ---------------
# The task is to find one handwritten digit, a three, among the others. The images are
# averaged down to 4 x 4 pixels, so that it is hard. Classifiers are fitted to half of
# the images; on the other half F1 is drawn against the number of marked images. A dot
# shows how many a model marks by itself: logistic regression those with a probability
# above one half, which are too few of a rare class, and ours those above the threshold
# that its measure implies.
images, digit = load_digits(return_X_y=True)
X = images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16) / 16
parts = train_test_split(X, digit == 3, test_size=0.5, stratify=digit, random_state=0)
X_train, X_test, y_train, y_test = parts
MODELS = {
    "hinge of F1": StructuredHingeBinaryClassifier(alpha=1e-4, tol=1e-2),
    "logistic regression": LogisticRegression(),
}
figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for name, model in MODELS.items():
    scores = model.fit(X_train, y_train).decision_function(X_test)
    marked = np.arange(1, 251)
    hits = np.cumsum(y_test[np.argsort(-scores)])[:250]
    (line,) = ax.plot(marked, 2 * hits / (marked + y_test.sum()), label=name)
    own = f1_score(y_test, model.predict(X_test))
    ax.plot((scores > 0).sum(), own, "o", color=line.get_color(), markersize=10)
    print(f"{name}: {own:.3f} at its threshold")
ax.set_xlabel("images marked", fontsize=12)
ax.set_ylabel("F1 on the other half", fontsize=12)
ax.set_title("The hinge of F1 marks as many as F1 wants")
ax.legend(fontsize=12)
plt.show()
