"""Structured hinges with their defaults: F1 and balanced accuracy of rare classes, and words.

f1, balanced accuracy: `StructuredHingeBinaryClassifier` minus logistic regression with a tuned
threshold, or with balanced class weights; 5 splits, 70 % of the rows to learn from. "vacuous"
counts the splits in which the minimum of the hinge is at zero weights and logistic regression takes
its place. words: letters and whole words that are right, 5 folds over the handwritten words, also
of fits to 60 and 300 of the other words. "forest, Viterbi" is the recipe of the guide.

The NDCG hinge: ``python -m benchmarks quality --models "hinge of NDCG" "hinge of pairs" linear``.
Times: ``python -m benchmarks limits --row hinges``.
"""

import warnings
from functools import partial
from itertools import product
from time import process_time

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.model_selection import (
    GroupKFold,
    StratifiedShuffleSplit,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank.structured import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeSequenceClassifier,
)

from ._common import paired, print_table
from ._sets import load_binary

#: Name of a file, and the label that is positive. Letter Q was not used to choose anything.
RARE = {
    "mammography": ("mammography", 1),
    "ijcnn1": ("ijcnn1", 1),
    "letter H": ("letter", 8),
    "letter Q": ("letter", 17),
    "magic": ("magic", 1),
}
LOGISTIC = LogisticRegression(max_iter=1000)
#: The measure, and the peer behind a scaler.
MEASURES = {
    "f1": (f1_score, TunedThresholdClassifierCV(LOGISTIC, scoring="f1")),
    "balanced_accuracy": (
        balanced_accuracy_score,
        clone(LOGISTIC).set_params(class_weight="balanced"),
    ),
}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folds", type=int, default=5)


def run(args):
    """One table for each part."""
    rows = []
    for part in args.part:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a vacuous hinge is a column
            table = list(PARTS[part](args))
        print_table(part, table)
        rows += [{"part": part, **row} for row in table]
    return rows


def rare_sets(args):
    if args.tiny:
        X, y = load_digits(return_X_y=True)
        yield "digits, 3", X[:100] / 16, (y[:100] == 3).astype(int)
    else:
        for name, (file, positive) in RARE.items():
            yield name, *load_binary(args.data, file, positive)


def of_all_rows(measure, args):
    """A row for each set: test values, and the difference with its standard error."""
    function, peer = MEASURES[measure]
    for name, X, y in rare_sets(args):
        found, vacuous = {"ours": [], "logistic": []}, 0
        n_splits = 2 if args.tiny else args.folds
        splits = StratifiedShuffleSplit(n_splits, test_size=0.3, random_state=0)
        for train, test in splits.split(X, y):
            models = {
                "ours": StructuredHingeBinaryClassifier(target_loss=measure),
                "logistic": make_pipeline(StandardScaler(), clone(peer)),
            }
            for key, model in models.items():
                predicted = model.fit(X[train], y[train]).predict(X[test])
                found[key].append(function(y[test], predicted))
            vacuous += int(models["ours"].is_vacuous_)
        difference = paired(found["ours"], found["logistic"])
        row = {
            "set": name,
            **{key: float(np.mean(values)) for key, values in found.items()},
        }
        yield {
            **row,
            "vacuous": vacuous,
            "difference": difference.mean,
            "se": difference.se,
        }


def load_words(args):
    if args.tiny:
        X, y = load_digits(return_X_y=True)
        return X[:200] / 16, y[:200], np.repeat(np.arange(40), 5)
    path = args.data / "sequences" / "handwritten_words.gz"
    X, y, qid = load_svmlight_file(path, query_id=True)
    return X.toarray(), y.astype(int), qid


class ForestAndViterbi:
    """Probabilities of a forest for single letters, and frequencies of neighbours."""

    def fit(self, X, y, *, qid):
        self.forest = ExtraTreesClassifier(random_state=0).fit(X, y)
        n_classes = len(self.forest.classes_)
        codes = np.searchsorted(self.forest.classes_, y)
        follows = np.ones((n_classes, n_classes))
        np.add.at(follows, (codes[:-1], codes[1:]), np.diff(qid) == 0)
        expected = np.outer(follows.sum(axis=1), follows.sum(axis=0))
        self.steps = np.log(follows / expected)
        return self

    def predict(self, X, *, qid):
        # The votes of a forest are too even.
        scores = 1.5 * np.log(self.forest.predict_proba(X) + 1e-3)
        starts = np.flatnonzero(np.diff(qid)) + 1
        codes = [self.viterbi(word) for word in np.split(scores, starts)]
        return self.forest.classes_[np.concatenate(codes)]

    def viterbi(self, scores):
        # the best score of the letters after each place, by the letter there
        ahead = [np.zeros(len(self.steps))]
        for row in scores[:0:-1]:
            ahead.append((self.steps + row + ahead[-1]).max(axis=1))
        labels = [np.argmax(scores[0] + ahead[-1])]
        for row, best in zip(scores[1:], ahead[-2::-1], strict=True):
            labels.append(np.argmax(self.steps[labels[-1]] + row + best))
        return labels


def words(args):
    """A row for each model: letters and words right on other words, and seconds of a fit."""
    X, y, qid = load_words(args)
    models = {
        "lbfgs": StructuredHingeSequenceClassifier(),
        "sgd": StructuredHingeSequenceClassifier(
            solver="sgd", alpha=3e-4, random_state=0
        ),
        "forest, Viterbi": ForestAndViterbi(),
        "no transitions": StructuredHingeClassifier(),
    }
    folds = GroupKFold(2 if args.tiny else args.folds, shuffle=True, random_state=0)
    sizes = (None,) if args.tiny else (60, 300, None)
    for n_words, (name, model) in product(sizes, models.items()):
        letters, whole, seconds = [], [], []
        for train, test in folds.split(X, groups=qid):
            train = train[np.isin(qid[train], np.unique(qid[train])[:n_words])]
            some, new = (
                {} if name == "no transitions" else {"qid": qid[i]}
                for i in (train, test)
            )
            start = process_time()
            model.fit(X[train], y[train], **some)
            seconds.append(process_time() - start)
            right = pd.Series(model.predict(X[test], **new) == y[test])
            letters.append(right.mean())
            whole.append(right.groupby(qid[test]).all().mean())
        row = {
            "model": name,
            "words to learn from": n_words or "all",
            "letters": float(np.mean(letters)),
            "words": float(np.mean(whole)),
        }
        yield {**row, "seconds": float(np.mean(seconds))}


PARTS = {
    "f1": partial(of_all_rows, "f1"),
    "balanced accuracy": partial(of_all_rows, "balanced_accuracy"),
    "words": words,
}
