"""Rankers of fixed items and classifiers with their defaults: models x sets, on held-out rows.

Items: Kendall's tau loss of label rankings, expected rank utility of ratings with unknown labels,
MAP and AUC of sets of labels. Classes: accuracy. Costs: the mean cost of the same sets; each draw
(`--draws`) has other costs from 1 to 9 and other training rows (`--rows`). The full form is
``--part costs --draws 6``. A row has the value of a model and the difference
from the reference, the mean over rows of 3 folds with its 95 % interval. "Tuned" models choose
their penalty on 3 inner folds of the training part.

Orders (all labels known; half of them with their place in the whole order, as a grade is; half of
them ranked among themselves) and ratings are compared with the item means, the same order for
every row. Models of places take "dcg@10", models of ranks "kendall". Ratings: NDCG@5 of the known
ones. Histories: the share of held-out likes in
the first ten unseen items, minus that of popularity. Rated histories: NDCG@5 of held-out ratings,
minus the item means; intervals over users and draws.
"""

import warnings
from time import process_time

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, RidgeCV
from sklearn.metrics import log_loss
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StackingRanker,
)
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.metrics import measure_score
from lowrank_rank.structured import StructuredHingeClassifier, StructuredHingeRanker

from ._common import optional_peer, paired, print_table
from ._recommend import RATERS, RECOMMENDERS, found_by_each, scores_of_ratings
from ._sets import CLASSES, ITEMS, ORDERS, RATINGS

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


class EachItem(BaseEstimator):
    """One regressor for each item, fitted to the rows that know its grade."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimators_ = []
        for grades in y.T:
            known = ~np.isnan(grades)
            self.estimators_.append(clone(self.estimator).fit(X[known], grades[known]))
        return self

    def predict(self, X):
        return np.column_stack([one.predict(X) for one in self.estimators_])


def models_with_gaps(target_loss):
    """Models of items whose grades may be unknown, the item means first."""

    def low_rank(**settings):
        return LowRankSurrogateRanker(
            target_loss=target_loss, random_state=0, **settings
        )

    neighbours = make_pipeline(StandardScaler(), KNeighborsRegressor(20))
    tuned = make_pipeline(StandardScaler(), RidgeCV(PENALTIES))
    return {
        "item means": Filled(DummyRegressor()),
        "stack": StackingRanker(target_loss=target_loss),
        "logistic": low_rank(),
        "ridge, gcv": LowRankSurrogateRanker(
            target_loss="dcg@10", estimator="ridge", alpha="gcv"
        ),
        "trees": low_rank(estimator="trees"),
        "tuned ridge of each item": EachItem(tuned),
        "forest of grades": Filled(
            ExtraTreesRegressor(min_samples_leaf=3, random_state=0)
        ),
        "20 neighbours": Filled(neighbours),
    }


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
    names = list(dict.fromkeys([*ITEMS, *CLASSES, *ORDERS, *RATINGS]))
    parser.add_argument("--sets", nargs="+", choices=names)
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--draws", type=int, default=2, help="of costs and rows")
    parser.add_argument("--rows", type=int, default=1000, help="to learn costs from")


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


def orders_part(args):
    """Kendall's tau, 1 is best, of held-out orders, by what is known in training."""
    sets = {"generated": tiny_items} if args.tiny else chosen(ORDERS, args)

    def judge(truth, predicted):
        return 1.0 + 2.0 * measure_score("kendall", truth, predicted, average=None)

    for name, load in sets.items():
        X, y = load(args.data)
        unknown = np.random.default_rng(0).random(y.shape) < 0.5
        places = np.where(unknown, np.nan, y)
        labels_of = {
            "all": (y, "kendall"),
            "half, places": (places, "dcg@10"),
            "half, ranks": (rankdata(places, axis=1, nan_policy="omit"), "kendall"),
        }
        folds = list(KFold(args.folds, shuffle=True, random_state=0).split(X))
        if args.tiny:
            del labels_of["all"], labels_of["half, places"]
        for known, (labels, target_loss) in labels_of.items():
            models = models_with_gaps(target_loss)
            found = compared(name, "tau", X, labels, models, folds, judge, truth=y)
            yield from ({**row, "known": known} for row in found)


def ratings_part(args):
    """NDCG@5 of the known ratings."""
    sets = {"generated": tiny_ratings} if args.tiny else chosen(RATINGS, args)

    def judge(truth, predicted):
        return measure_score("ndcg@5", truth, predicted, average=None)

    for name, load in sets.items():
        X, y = load(args.data)
        folds = list(KFold(args.folds, shuffle=True, random_state=0).split(X))
        models = models_with_gaps("dcg@10")
        yield from compared(name, "ndcg@5", X, y, models, folds, judge)


def tiny_ratings(data):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.clip(np.round(3.0 + X @ rng.normal(size=(3, 6))), 0.0, 5.0)
    return X, np.where(rng.random(y.shape) < 0.3, np.nan, y)


def histories_part(args):
    """Held-out likes among the first ten unseen items, minus popularity's."""
    n_items = 30 if args.tiny else None
    for users, found in found_by_each(args.data, n_items=n_items).items():
        for name in RECOMMENDERS:
            row = {
                "set": users,
                "measure": "share of likes",
                "model": name,
                "value": np.nanmean(found[name]),
            }
            difference = paired(found[name], found["popularity"])
            yield with_difference(row, difference)


def rated_histories_part(args):
    """NDCG@5 of held-out ratings of users with a history, minus the item means'."""
    draws = [
        scores_of_ratings(args.data, seed, args.tiny) for seed in range(args.draws)
    ]
    for name in RATERS:
        values = np.concatenate([found[name] for found in draws])
        means = np.concatenate([found["item means"] for found in draws])
        row = {"set": "films", "measure": "ndcg@5", "model": name}
        row["value"] = np.nanmean(values)
        yield with_difference(row, paired(values, means))


def classes_part(args):
    for name, load in chosen(CLASSES, args).items():
        X, y = load(args.data)
        folds = list(
            StratifiedKFold(args.folds, shuffle=True, random_state=0).split(X, y)
        )
        yield from compared(name, "accuracy", X, y, class_models(), folds, np.equal)


def costs_part(args):
    """Mean cost over draws of a matrix of costs and of training rows, by set.

    A value of a draw is the mean over its held-out rows. The last row of each model is
    the mean over all sets; its interval is over the means of the draws.
    """
    differences: dict = {}
    catboost = None if args.tiny else optional_peer("catboost")
    for name, load in chosen(CLASSES, args).items():
        X, y = load(args.data)
        classes, y = np.unique(y, return_inverse=True)
        k = len(classes)
        found: dict = {}
        for draw in range(args.draws):
            rng = np.random.default_rng(draw)
            costs = rng.integers(1, 10, size=(k, k)) * (1 - np.eye(k))
            train, test = next(
                StratifiedShuffleSplit(
                    1,
                    train_size=min(args.rows, len(y) // 2),
                    test_size=min(2000, len(y) // 2),
                    random_state=draw,
                ).split(X, y)
            )
            for model, fitted in cost_models(costs, args.tiny, catboost).items():
                start = process_time()
                fitted.fit(X[train], y[train])
                seconds = process_time() - start
                cost = costs[y[test], fitted.predict(X[test])].mean()
                p = fitted.predict_proba(X[test])
                loss = log_loss(y[test], p, labels=np.arange(k))
                found.setdefault(model, []).append((cost, loss, seconds))
        reference = np.array(found["trees"])
        for model, values in found.items():
            values = np.array(values)
            row = {"set": name, "measure": "cost", "model": model}
            means = values.mean(axis=0)
            row |= {"value": means[0], "log loss": means[1]}
            row["CPU"] = means[2] / reference[:, 2].mean()
            yield with_difference(row, paired(values[:, 0], reference[:, 0]))
            of_sets = differences.setdefault(model, [])
            of_sets.append(values[:, :2] - reference[:, :2])
    for model, of_sets in differences.items():
        cost, loss = np.mean(of_sets, axis=0).T
        row = {"set": "all", "measure": "cost", "model": model}
        yield with_difference(row, paired(cost, 0.0 * cost))
        row["measure"] = "log loss"
        yield with_difference(row, paired(loss, 0.0 * loss))


def cost_models(costs, tiny, catboost=None):
    """Classifiers of classes 0, 1, ... with costs, the reference first."""
    forest = RandomForestClassifier(10 if tiny else 100, random_state=0)
    estimators = {
        "trees": "trees",
        "forest": forest,
        "calibrated forest": CalibratedClassifierCV(forest),
        "logistic": "logistic",
        "constant": DummyClassifier(),
    }
    if catboost is not None:
        estimators["CatBoost"] = catboost.CatBoostClassifier(
            verbose=False, random_seed=0, thread_count=1, allow_writing_files=False
        )
    return {
        name: LowRankSurrogateClassifier(
            loss_matrix=costs,
            classes=np.arange(len(costs)),
            estimator=estimator,
            random_state=0,
        )
        for name, estimator in estimators.items()
    }


def compared(dataset, measure, X, y, models, folds, judge, truth=None):
    """A row for each model; differences are paired over held-out rows.

    `truth` are the labels of held-out rows; None is y.
    """
    reference = None
    truth = y if truth is None else truth
    for name, model in models.items():
        values = np.concatenate(
            [
                judge(
                    truth[test], clone(model).fit(X[train], y[train]).predict(X[test])
                )
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
        yield with_difference(row, found)


def with_difference(row, found):
    """The row with a `Difference` and its interval."""
    return {**row, "difference": found.mean, "low": found.low, "high": found.high}


PARTS = {
    "items": items_part,
    "classes": classes_part,
    "costs": costs_part,
    "orders": orders_part,
    "ratings": ratings_part,
    "histories": histories_part,
    "rated histories": rated_histories_part,
}
