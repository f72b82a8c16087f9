"""
Label sequences: the letters of a word
======================================

Words of scikit-learn's digits follow a grammar: after a digit comes the next one, or
the one after that. Noise makes single pictures hard to read, and a model of sequences
uses the neighbours.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier

from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)

rng = np.random.default_rng(0)
pictures, digits = load_digits(return_X_y=True)
start, steps = rng.integers(0, 10, 300), rng.integers(1, 3, (300, 5))
words = (start[:, np.newaxis] + np.cumsum(steps, axis=1)) % 10
y, qid = words.ravel(), np.repeat(np.arange(300), 5)
rows = np.array([rng.choice(np.flatnonzero(digits == digit)) for digit in y])
X = pictures[rows] / 16 + 0.5 * rng.normal(size=(len(y), 64))
train = qid < 200

# %%
# Alone, and in words
# -------------------
alone = StructuredHingeClassifier().fit(X[train], y[train])
reader = StructuredHingeSequenceClassifier(alpha=1e-2)
reader.fit(X[train], y[train], qid=qid[train])
print(f"digits right alone: {alone.score(X[~train], y[~train]):.3f}")
print(
    f"digits right in words: {reader.score(X[~train], y[~train], qid=qid[~train]):.3f}"
)
right = reader.predict(X[~train], qid=qid[~train]) == y[~train]
whole = [right[qid[~train] == word].all() for word in np.unique(qid[~train])]
print(f"words right: {np.mean(whole):.3f}")

# %%
# Five words of the other part, read alone and in the word; what is wrong is red.
texts = {"alone": alone.predict(X), "in the word": reader.predict(X, qid=qid)}
figure, axes = plt.subplots(5, 1, figsize=(6, 7.2), layout="constrained")
figure.suptitle("Neighbours correct a letter that is hard to read")
for ax, word in zip(axes, range(203, 208), strict=True):
    rows = np.flatnonzero(qid == word)
    ax.imshow(
        np.hstack(list(X[rows].reshape(5, 8, 8))), cmap="gray_r", extent=(0, 5, 0, 1)
    )
    ax.set(xticks=[], yticks=[], xlim=(0, 7.2))
    ax.set_frame_on(False)
    for height, (how, labels) in zip((0.6, 0.15), texts.items(), strict=True):
        ax.text(5.15, height, how, fontsize=11)
        for t, row in enumerate(rows):
            color = "black" if labels[row] == y[row] else "red"
            ax.text(6.35 + 0.16 * t, height, labels[row], color=color, fontsize=13)
plt.show()

# %%
# The grammar that was learnt: which digit (column) follows which (row).
figure, ax = plt.subplots(figsize=(4.6, 3.8), layout="constrained")
image = ax.imshow(reader.transitions_, cmap="RdBu_r")
ax.set(title="The learnt grammar, transitions_", xlabel="digit", ylabel="digit before")
ax.set(xticks=range(10), yticks=range(10))
figure.colorbar(image, ax=ax)
plt.show()

# %%
# A forest with Viterbi
# ---------------------
# It is often better to add two things: log probabilities of single rows, here of a
# forest, and for labels i and j of neighbours the score log P(i, j) / (P(i) P(j)) from
# their frequencies in training, with one more count for each pair. The Viterbi
# algorithm finds the labels with the largest sum.
forest = ExtraTreesClassifier(random_state=0).fit(X[train], y[train])
counts = np.ones((10, 10))
neighbours = y[train][:-1], y[train][1:]
np.add.at(counts, neighbours, np.diff(qid[train]) == 0)
transitions = np.log(counts / np.outer(counts.sum(axis=1), counts.sum(axis=0)))


def viterbi(scores):
    """Find the best labels of the rows of one sequence."""
    ahead = [np.zeros(10)]  # the best score of later rows, by the label of a row
    for row in scores[:0:-1]:
        ahead.append((transitions + row + ahead[-1]).max(axis=1))
    labels = [np.argmax(scores[0] + ahead[-1])]
    for row, best in zip(scores[1:], ahead[-2::-1], strict=True):
        labels.append(np.argmax(transitions[labels[-1]] + row + best))
    return labels


# The votes of trees are too even: the factor makes them clearer.
scores = 1.5 * np.log(forest.predict_proba(X[~train]) + 0.001)
found = [viterbi(scores[qid[~train] == word]) for word in np.unique(qid[~train])]
print(f"digits right by the forest: {np.mean(np.concatenate(found) == y[~train]):.3f}")
