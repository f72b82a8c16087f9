"""The top of the list: ours with the defaults against linear models that are tuned, and trees."""

import numpy as np
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.metrics._comparison import holm

from ._binary import DEPTHS, standardised_split
from ._common import print_table

MAX_ROWS = 40_000
PENALTIES = (0.01, 0.1, 1.0, 10.0)
PEERS = {
    "logistic": [
        LogisticRegression(C=C, class_weight=weight, max_iter=300)
        for C in PENALTIES
        for weight in (None, "balanced")
    ],
    "svc": [LinearSVC(C=C) for C in PENALTIES[:3]],
    "ridge": [RidgeClassifier(alpha=1.0 / C) for C in (1e-3, *PENALTIES)],
}


def tuned_part(sets, args):
    """One row for each set and depth."""
    rows = []
    for name, load in sets.items():
        values = [values_of_split(*load(), seed) for seed in range(*args.seeds)]
        for depth in DEPTHS:
            of_depth = {m: np.array([v[depth][m] for v in values]) for m in values[0][depth]}
            rows.append({"set": name, "depth": depth, **row_of(of_depth)})
    for row, p in zip(rows, holm(np.array([row["p"] for row in rows])), strict=True):
        row["verdict"] = "BEHIND" if p <= 0.05 else "ahead" if row["ours"] > row["best"] else "ok"
    print_table("Defaults against tuned linear models, and trees: test precision", rows)
    return rows


def values_of_split(X, y, seed):
    """Test precision of every model at each depth, by depth and name."""
    X, y, X_test, y_test = standardised_split(X, y, seed)
    if len(X) > MAX_ROWS:
        rows = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
        X, y = X[rows], y[rows]
    trees = HistGradientBoostingClassifier(random_state=seed).fit(X, y)
    values = {depth: {} for depth in DEPTHS}
    for name, candidates in PEERS.items():
        chosen = tuned(candidates, X, y, seed)
        for depth, i in chosen.items():
            scores = clone(candidates[i]).fit(X, y).decision_function(X_test)
            values[depth][name] = DEPTHS[depth].measure(y_test, scores)
    for depth, loss in DEPTHS.items():
        ours = PrecisionAtKPerceptron(target_loss=depth, random_state=seed).fit(X, y)
        values[depth]["ours"] = loss.measure(y_test, ours.decision_function(X_test))
        values[depth]["trees"] = loss.measure(y_test, trees.decision_function(X_test))
    return values


def tuned(candidates, X, y, seed):
    """Index of the best candidate for each depth, by the mean of three folds."""
    folds = list(StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y))
    means = {depth: [] for depth in DEPTHS}
    for candidate in candidates:
        scores = [clone(candidate).fit(X[a], y[a]).decision_function(X[b]) for a, b in folds]
        for depth, loss in DEPTHS.items():
            measured = [loss.measure(y[b], s) for (_, b), s in zip(folds, scores, strict=True)]
            means[depth].append(np.mean(measured))
    return {depth: int(np.argmax(values)) for depth, values in means.items()}


def row_of(values):
    """Means, and the paired difference to the best linear model with its interval."""
    best = max(PEERS, key=lambda name: values[name].mean())
    difference = values["ours"] - values[best]
    n = len(difference)
    error = np.std(difference, ddof=1) / np.sqrt(n)
    width = float(student.ppf(0.975, n - 1) * error)
    below = difference.mean() / error if error > 0 else 0.0 if difference.mean() >= 0 else -np.inf
    return {
        **{name: values[name].mean() for name in PEERS},
        "best": values[best].mean(),
        "ours": values["ours"].mean(),
        "difference": difference.mean(),
        "+-": width,
        "p": float(2 * student.cdf(-abs(below), n - 1)) if difference.mean() < 0 else 1.0,
        "trees": values["trees"].mean(),
    }
