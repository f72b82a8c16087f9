"""F1 of sets of labels against thresholds and independent labels.

Run it on one thread, OMP_NUM_THREADS=1. The mean F1 of `LowRankSurrogateMultilabelClassifier` with
its defaults against plain ways on the same features, five folds (four times on emotions), with 95 %
intervals over rows. "above 1/2" and "above .2": labels of a probability above that, the second by
``OneVsRestClassifier(LogisticRegression())``. "one threshold": the best of all labels on inner
folds. "of sizes": the same on probabilities that are summed over sizes. "threshold per label":
`TunedThresholdClassifierCV`. "independent": the exact decoder, labels independent given X.

"both models": the same of `--rows` rows, by `estimator`, with 95 % intervals over draws of rows.
"""

from time import process_time

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateMultilabelClassifier
from lowrank_rank.target_losses import FBeta

from ._common import best_seconds, paired, print_table, repeated
from ._sets import multilabel

F1 = FBeta()
THRESHOLDS = np.linspace(0.02, 0.98, 97)


def documents(n_rows):
    """scikit-learn's generator: documents with on average three of ten topics, 30 words."""
    return make_multilabel_classification(
        n_rows, n_features=30, n_classes=10, n_labels=3, random_state=0
    )


def topics(n_rows, seed=0):
    """Rows of one of four topics, whose labels come together; 3 % of the labels are flipped."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 10))
    scores = X @ rng.normal(size=(10, 4)) / 2.0 + rng.gumbel(size=(n_rows, 4))
    y = np.repeat(np.eye(4, dtype=int), (1, 2, 4, 5), axis=1)[scores.argmax(axis=1)]
    return X, y ^ (rng.uniform(size=y.shape) < 0.03)


def words(n_rows, seed=0):
    """0/1 words of rows whose labels are independent, each with words of its own: 1.5 a row."""
    rng = np.random.default_rng(seed)
    common = rng.exponential(size=800)
    of_labels = 0.5 * rng.exponential(size=(30, 800)) * (rng.random((30, 800)) < 0.02)
    y = (rng.random((n_rows, 30)) < np.minimum(0.4 / np.arange(1, 31), 0.6)).astype(int)
    rate = 15.0 * common / common.sum() + y @ of_labels
    return (rng.random(rate.shape) < 1.0 - np.exp(-rate)).astype(float), y


#: Loader and repeats of the five folds.
SETS = {
    "emotions": (multilabel("emotions", 6), 4),
    "yeast": (multilabel("yeast", 14), 1),
    "documents": (lambda data: documents(2000), 1),
    "topics": (lambda data: topics(2000), 1),
    "words": (lambda data: words(1000), 1),
}


def add_arguments(parser):
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--repeats", type=int, default=3, help="of each time")
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", nargs="+", type=int, default=[100, 200])
    parser.add_argument("--draws", type=int, default=6)


def run(args):
    """The rows of the chosen parts."""
    return [row for part in args.part for row in PARTS[part](args)]


def both_models(args):
    """F1 of few training rows by `estimator`, and the gain over "auto", by set."""
    rows = []
    for n_rows in [30] if args.tiny else args.rows:
        for name in ["topics"] if args.tiny else args.sets:
            X, y = SETS[name][0](args.data)
            y = y.astype(int)
            n_new = min(393, len(y) - n_rows)
            found: dict = {"auto": [], "trees": [], "logistic+trees": []}
            for seed in range(2 if args.tiny else args.draws):
                split = ShuffleSplit(
                    1, train_size=n_rows, test_size=n_new, random_state=seed
                )
                [(train, test)] = split.split(X)
                for estimator, values in found.items():
                    model = LowRankSurrogateMultilabelClassifier(
                        estimator=estimator, random_state=seed
                    ).fit(X[train], y[train])
                    values.append(model.score(X[test], y[test]))
            for estimator, values in found.items():
                gain = paired(values, found["auto"])
                row = {"set": name, "rows": n_rows, "model": estimator}
                row |= {"f1": float(np.mean(values)), "gain": gain.mean}
                rows.append({**row, "low": gain.low, "high": gain.high})
    print_table("F1 of few rows by estimator, and the gain over the default", rows)
    return rows


def thresholds(args):
    """F1 of each model, the gain of ours over it, and the time of a fit, by set."""
    sets = (
        {"topics": (lambda data: topics(80), 1)}
        if args.tiny
        else {n: SETS[n] for n in args.sets}
    )
    rows = []
    for name, (load, n_repeats) in sets.items():
        X, y = load(args.data)
        n_folds, n_thresholds = (2, 2) if args.tiny else (5, 100)
        found = f1_of_rows(X, y.astype(int), n_folds, n_repeats, n_thresholds)
        for model, values in found.items():
            gain = paired(found["ours"], values)
            row = {"set": name, "model": model, "f1": float(values.mean())}
            rows.append({**row, "gain": gain.mean, "low": gain.low, "high": gain.high})
        fits = {
            loss: LowRankSurrogateMultilabelClassifier(target_loss=loss)
            for loss in ("f1", "hamming")
        }
        calls = {
            loss: lambda model=model, X=X, y=y: model.fit(X, y)
            for loss, model in fits.items()
        }
        seconds = best_seconds(calls, args.repeats, clock=process_time)
        rows[-len(found)]["fit"] = seconds["f1"] / seconds["hamming"]
    print_table(
        'F1, and the gain of ours; "fit" is its time over that of the labels alone',
        rows,
    )
    return rows


def f1_of_rows(X, y, n_folds, n_repeats, n_thresholds):
    """F1 of each row by model, held out, mean over the repeats."""
    found = {}
    for seed in repeated(range(n_repeats), "multilabel"):
        for train, test in KFold(n_folds, shuffle=True, random_state=seed).split(X):
            sets = predictions(X[train], y[train], X[test], n_thresholds)
            for model, predicted in sets.items():
                values = found.setdefault(model, np.zeros(len(y)))
                values[test] += (1.0 - F1.loss(y[test], predicted)) / n_repeats
    return found


class Probabilities(LowRankSurrogateMultilabelClassifier):
    """The classifier with probabilities of the labels, for `cross_val_predict`."""

    def predict_proba(self, X):
        u = self.predict_surrogate(X)
        if self.target_loss == "hamming":
            return u + 0.5
        return u[:, 1:].reshape(len(u), self.n_labels_, -1).sum(axis=2)


def predictions(X, y, new, n_thresholds):
    """Sets for new rows by each model; `n_thresholds` are tried for each label."""
    single, sizes = (
        Probabilities(target_loss=loss).fit(X, y) for loss in ("hamming", "f1")
    )
    p, plain = (
        single.predict_proba(new),
        OneVsRestClassifier(LogisticRegression()).fit(X, y),
    )
    C = 1.0 / (single.alpha_ * len(X))
    logistic = make_pipeline(StandardScaler(), LogisticRegression(C=C, max_iter=1000))
    tuned = TunedThresholdClassifierCV(logistic, scoring="f1", thresholds=n_thresholds)
    trees, both = (
        LowRankSurrogateMultilabelClassifier(estimator=name, random_state=0).fit(X, y)
        for name in ("trees", "logistic+trees")
    )
    is_common = np.tile(y.mean(axis=0), (len(new), 1))
    return {
        "ours": sizes.predict(new),
        "logistic+trees": both.predict(new),
        "trees": trees.predict(new),
        "constant": F1.decode(independent(is_common), y.shape[1]),
        "above 1/2": p > 0.5,
        "above .2": plain.predict_proba(new) > 0.2,
        "one threshold": p > best_threshold(single, X, y),
        "one threshold, of sizes": sizes.predict_proba(new)
        > best_threshold(sizes, X, y),
        "threshold per label": MultiOutputClassifier(tuned).fit(X, y).predict(new),
        "independent": F1.decode(independent(p), y.shape[1]),
    }


def best_threshold(model, X, y):
    """The threshold of all labels with the largest mean F1 on five inner folds."""
    inner = KFold(5, shuffle=True, random_state=0)
    p = cross_val_predict(model, X, y, cv=inner, method="predict_proba")
    return max(THRESHOLDS, key=lambda t: 1.0 - F1.loss(y, (p > t).astype(int)).mean())


def independent(p):
    """Expected targets of F1, shape (n, s * s + 1), of independent labels of probabilities p."""
    n, s = p.shape
    joint = [p[:, [i]] * size_probabilities(np.delete(p, i, axis=1)) for i in range(s)]
    empty = size_probabilities(p)[:, :1]
    return np.hstack([empty, np.stack(joint, axis=1).reshape(n, -1)])


def size_probabilities(p):
    """Probabilities of 0, 1, ..., s labels, shape (n, s + 1)."""
    sizes = np.ones((len(p), 1))
    for column in p.T[:, :, np.newaxis]:
        without, with_label = (
            np.pad(sizes, ((0, 0), (0, 1))),
            np.pad(sizes, ((0, 0), (1, 0))),
        )
        sizes = (1.0 - column) * without + column * with_label
    return sizes


PARTS = {"thresholds": thresholds, "both models": both_models}
