"""Rankers of fixed items and classifiers with their defaults: models x sets, on held-out rows.

Items: Kendall's tau loss of label rankings, expected rank utility of ratings with unknown labels,
MAP and AUC of sets of labels. Classes: accuracy. A row has the value of a model and the difference
from the reference, the mean over rows of 3 folds with its 95 % interval. "Tuned" models choose
their penalty on 3 inner folds of the training part.
"""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
)
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.metrics import measure_score
from lowrank_rank.structured import StructuredHingeClassifier, StructuredHingeRanker

from ._common import paired, print_table
from ._sets import CLASSES, ITEMS

PENALTIES = np.logspace(-2, 3, 6)


class Filled(BaseEstimator):
    """A regressor of all items' grades; unknown ones are filled with the mean of the item."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
        self.estimator_ = clone(self.estimator).fit(X, filled)
        return self

    def predict(self, X):
        return self.estimator_.predict(X)


def item_models(measure, y):
    """Models of fixed items, the reference first."""
    models = {"low rank": LowRankSurrogateRanker(target_loss=measure)}
    if not np.isnan(y).any():
        models["ridge"] = LowRankSurrogateRanker(target_loss=measure, estimator="ridge")
        models["hinge"] = StructuredHingeRanker(target_loss="kendall")
    models["trees"] = LowRankSurrogateRanker(
        target_loss=measure, estimator="trees", random_state=0
    )
    if measure == "kendall":
        models["pairs"] = PairwiseDAGRanker()
    else:
        models["cross-entropy"] = OrderPreservingRegressor(target_loss=measure)
    models["ridge of grades"] = Filled(make_pipeline(StandardScaler(), Ridge(10.0)))
    models["forest of grades"] = Filled(
        ExtraTreesRegressor(min_samples_leaf=3, random_state=0)
    )
    models["item means"] = Filled(DummyRegressor())
    return models


def class_models():
    """Classifiers, the reference first."""

    def tuned(model, **grid):
        return GridSearchCV(make_pipeline(StandardScaler(), model), grid, cv=3)

    forest = ExtraTreesClassifier(min_samples_leaf=3, random_state=0)
    return {
        "logistic": LowRankSurrogateClassifier(),
        "ridge": LowRankSurrogateClassifier(estimator="ridge"),
        "trees": LowRankSurrogateClassifier(estimator="trees", random_state=0),
        "hinge": StructuredHingeClassifier(),
        "tuned LogisticRegression": tuned(
            LogisticRegression(max_iter=500), logisticregression__C=1 / PENALTIES
        ),
        "tuned LinearSVC": tuned(LinearSVC(), linearsvc__C=1 / PENALTIES),
        "tuned RidgeClassifier": tuned(
            RidgeClassifier(), ridgeclassifier__alpha=PENALTIES
        ),
        "ExtraTreesClassifier": forest,
    }


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--sets", nargs="+", choices=list(dict.fromkeys([*ITEMS, *CLASSES]))
    )
    parser.add_argument("--folds", type=int, default=3)


def run(args):
    """A row for each set and model."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for part in args.part:
            rows += [{"part": part, **row} for row in PARTS[part](args)]
    print_table(
        "Held-out values, and differences from the first model of each set", rows
    )
    return rows


def chosen(sets, args):
    names = args.sets or (["iris"] if args.tiny and sets is CLASSES else sets)
    return {name: sets[name] for name in names if name in sets}


def tiny_items(data):
    made = make_label_ranking(60, 4, random_state=0)
    return made.data, made.target.astype(float)


def items_part(args):
    sets = {"generated": (tiny_items, "kendall")} if args.tiny else chosen(ITEMS, args)
    for name, (load, measure) in sets.items():
        X, y = load(args.data)
        folds = list(KFold(args.folds, shuffle=True, random_state=0).split(X))

        def judge(truth, predicted, measure=measure):
            return measure_score(measure, truth, predicted, average=None)

        yield from compared(name, measure, X, y, item_models(measure, y), folds, judge)


def classes_part(args):
    for name, load in chosen(CLASSES, args).items():
        X, y = load(args.data)
        folds = list(
            StratifiedKFold(args.folds, shuffle=True, random_state=0).split(X, y)
        )
        yield from compared(name, "accuracy", X, y, class_models(), folds, np.equal)


def compared(dataset, measure, X, y, models, folds, judge):
    """A row for each model; differences are paired over held-out rows."""
    reference = None
    for name, model in models.items():
        values = np.concatenate(
            [
                judge(y[test], clone(model).fit(X[train], y[train]).predict(X[test]))
                for train, test in folds
            ]
        ).astype(float)
        reference = values if reference is None else reference
        found = paired(values, reference)
        row = {
            "set": dataset,
            "measure": measure,
            "model": name,
            "value": np.nanmean(values),
        }
        yield {**row, "difference": found.mean, "low": found.low, "high": found.high}


PARTS = {"items": items_part, "classes": classes_part}
