"""Every ranker with its defaults, against peers that are tuned and against itself tuned.

Ours are fitted with their defaults. Each peer, and each of ours in a second run, is tuned on 3
inner folds of the training part by the measure it is judged by, and refitted. Outer folds are by
query. A row compares ours with the best tuned peer of its own kind, linear or trees, the best by
its mean on the test parts; "regret" is what tuning would have gained. Differences are means over
queries with 95 % intervals by the paired t-statistic. Verdicts are those of Holm's procedure over
all differences from peers, and over all regrets, at 5 %: "behind", "ahead" or "on par".

documents: NDCG@10 with linear gains. Linear peers: ridge on the pooled grades, logistic regression
of grade >= 1 and RankSVM; trees: LightGBM on the pooled grades, and its lambdarank. Of ours,
"trees" are those of that name, "listwise" is HistGradientBoostingRanker, "boosted" is LightGBM
under cross-entropy with the settings of the guide. The two rows of the kind "LightGBM" have its own
settings, which are not of this package, and so have their peers: what is compared there are targets
and objectives.
items: Kendall's tau loss of label rankings, expected rank utility of ratings with missing labels,
MAP, AUC and precision@2 of sets with several labels a row.
Peers: ridge and extra trees on the grades of each item, missing ones filled with the item's mean,
the item means themselves, and logistic regression of each label of the latter sets.
classes: accuracy. Linear peers: logistic regression, LinearSVC and ridge, of standardised features;
trees: extra trees.
PrecisionAtKPerceptron on one list has a table of its own: ``benchmarks top --part tuned``.

Settings of the package were chosen with sight of the sets marked so (`_default_sets.CHOSEN_ON`)
and are shown on the others.
"""

import warnings
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    boosting_objective,
    make_ranking_scorer,
)
from lowrank_rank.fitting._any_regressor import named_regressor
from lowrank_rank.metrics._comparison import holm
from lowrank_rank.structured import StructuredHingeClassifier, StructuredHingeRanker
from lowrank_rank.target_losses._names import resolve_target_loss

from ._common import optional_peer, print_table
from ._default_sets import CHOSEN_ON, CLASSES, DOCUMENTS, ITEMS
from ._rankers import LinearRankSVM, lightgbm_settings, tree_grid

ALPHAS = [1e-3, 1e-2, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
#: What the guide advises to give LightGBM with our objective.
ADVISED = {
    "n_estimators": 200,
    "learning_rate": 0.05,
    "num_leaves": 7,
    "min_child_samples": 50,
    "colsample_bynode": 0.3,
}
HINGE_ALPHAS = [1e-5, 1e-4, 1e-3, 1e-2, 0.1]
#: Of what takes ridge or logistic regression by itself.
RIDGE_OR_LOGISTIC = [
    {"estimator": ["ridge"], "alpha": ALPHAS},
    {"estimator": ["logistic"], "alpha": [1e-4, 1e-3, 1e-2, 0.1]},
]
LEVEL = 0.05


class Model(NamedTuple):
    """An estimator as it is, and the grid that tunes it."""

    kind: str
    estimator: BaseEstimator
    grid: dict


class Cell(NamedTuple):
    """What one of ours is worth on each list of a set, and what the others are."""

    part: str
    dataset: str
    kind: str
    ours: str
    values: np.ndarray
    tuned: np.ndarray
    peers: dict


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--folds", type=int, default=3, help="outer folds")
    parser.add_argument("--quick", action="store_true", help="the small sets only")


def run(args):
    """One table: differences from the best tuned peer, and regrets."""
    cells = [cell for part in args.part for cell in PARTS[part](args)]
    rows = comparisons(cells)
    print_table("defaults against the best tuned peer of their kind, and themselves tuned", rows)
    behind = [row for row in rows if "behind" in (row["verdict"], row["of_regret"])]
    print(f"\nbehind in {len(behind)} of {len(rows)}")
    return rows


# Tables ---------------------------------------------------------------------------------


def comparisons(cells):
    """A row for each cell, verdicts by Holm's procedure over the table."""
    best = [max(cell.peers, key=lambda name: np.nanmean(cell.peers[name])) for cell in cells]
    against = [
        paired(cell.values, cell.peers[name]) for cell, name in zip(cells, best, strict=True)
    ]
    regrets = [paired(cell.values, cell.tuned) for cell in cells]
    verdicts = [verdicts_by_holm(found) for found in (against, regrets)]
    rows = []
    for i, cell in enumerate(cells):
        difference, regret = against[i], regrets[i]
        rows.append(
            {
                "part": cell.part,
                "dataset": cell.dataset + ("*" if cell.dataset in CHOSEN_ON else ""),
                "kind": cell.kind,
                "ours": cell.ours,
                "value": float(np.nanmean(cell.values)),
                "lists": difference.n,
                "peer": best[i],
                "difference": difference.mean,
                "low": difference.low,
                "high": difference.high,
                "verdict": verdicts[0][i],
                "regret": -regret.mean,
                "regret_low": -regret.high,
                "regret_high": -regret.low,
                "of_regret": verdicts[1][i],
            }
        )
    return rows


class Difference(NamedTuple):
    """Mean of paired differences with its interval and the probability of one as large."""

    n: int
    mean: float
    low: float
    high: float
    p: float


def paired(ours, theirs):
    """`Difference` over the lists on which both have a value."""
    difference = (ours - theirs)[~np.isnan(ours) & ~np.isnan(theirs)]
    n, mean = len(difference), float(difference.mean())
    error = float(difference.std(ddof=1) / np.sqrt(n))
    if error <= 1e-12 * max(abs(mean), 1.0):  # equal everywhere
        return Difference(n, mean, mean, mean, 1.0)
    half = float(stats.t.ppf(0.975, n - 1)) * error
    p = 2.0 * float(stats.t.sf(abs(mean) / error, n - 1))
    return Difference(n, mean, mean - half, mean + half, p)


def verdicts_by_holm(differences):
    """ "ahead" or "behind" where Holm's step-down procedure rejects equality, else "on par"."""
    adjusted = holm(np.array([difference.p for difference in differences]))
    return [
        "on par" if p > LEVEL else "ahead" if difference.mean > 0 else "behind"
        for p, difference in zip(adjusted, differences, strict=True)
    ]


def cells_of(part, dataset, X, y, measure, ours, peers, args):
    """A cell for each of ours: fits on the outer folds."""
    groups = None if measure == "accuracy" else y["qid"] if y.dtype.names else np.arange(len(y))
    splits = list(folds(measure, args.folds).split(X, y if groups is None else None, groups))
    each = partial(held_out, X, y, groups, splits, measure)
    tuned_peers = {}
    for name, model in peers.items():
        tuned_peers[name] = model.kind, each(search(model, measure))
        print(f"  {dataset} {name}: {np.nanmean(tuned_peers[name][1]):.4f}", flush=True)
    for name, model in ours.items():
        values = each(model.estimator)
        tuned = each(search(model, measure))
        print(f"  {dataset} {name}: {np.nanmean(values):.4f}, tuned {np.nanmean(tuned):.4f}")
        others = {peer: v for peer, (kind, v) in tuned_peers.items() if kind == model.kind}
        yield Cell(part, dataset, model.kind, name, values, tuned, others)


def folds(measure, n_splits):
    """Folds of classes in proportion, of lists otherwise."""
    kind = StratifiedKFold if measure == "accuracy" else GroupKFold
    return kind(n_splits, shuffle=True, random_state=0)


def search(model, measure):
    """The search over inner folds."""
    if not model.grid:
        return model.estimator
    return GridSearchCV(
        model.estimator,
        model.grid,
        scoring=measure if measure == "accuracy" else make_ranking_scorer(measure),
        cv=folds(measure, 3),
        error_score="raise",
    )


def held_out(X, y, groups, splits, measure, estimator):
    """The measure of each list, or whether each row is right, by models that have not seen it."""
    values = []
    for train, test in splits:
        model = clone(estimator)
        searched = isinstance(model, GridSearchCV) and groups is not None
        options = {"groups": groups[train]} if searched else {}
        model.fit(X[train], y[train], **options)
        predicted = model.predict(X[test])
        if measure == "accuracy":
            values.append((predicted == y[test]).astype(float))
        else:
            loss = resolve_target_loss(measure)
            values.append(loss.measure(y[test], predicted, average=None))
    return np.concatenate(values)


# Documents ------------------------------------------------------------------------------


class GradedLogistic(LogisticRegression):
    """Logistic regression of grade >= 1."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, np.asarray(y) >= 1, sample_weight)


def document_models(tiny):
    """Ours and the peers."""
    scaled = partial(make_pipeline, StandardScaler())
    ours = {
        "ridge": Model("linear", LowRankSurrogateRanker(), {"alpha": ALPHAS}),
        "pairs": Model("linear", PairwiseDAGRanker(), {"alpha": ALPHAS}),
        "cross-entropy": Model("linear", OrderPreservingRegressor(), {"alpha": ALPHAS[1:-2]}),
        "hinge": Model("linear", StructuredHingeRanker(), {"alpha": HINGE_ALPHAS}),
    }
    peers = {
        "pooled ridge": Model(
            "linear",
            WrappedRanker(scaled(Ridge())),
            {"estimator__ridge__alpha": [0.1, 1.0, 10.0, 100.0, 1e3, 1e4]},
        ),
        "logistic": Model(
            "linear",
            WrappedRanker(scaled(GradedLogistic(max_iter=1000))),
            {"estimator__gradedlogistic__C": [1e-3, 1e-2, 0.1, 1.0]},
        ),
        "ranksvm": Model("linear", scaled(LinearRankSVM()), {"linearranksvm__C": [0.1, 1.0, 10.0]}),
    }
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None:
        return ours, peers
    small = {"n_estimators": 5, "min_child_samples": 5} if tiny else {}
    settings, grid = {"n_jobs": 1, "verbose": -1, **small}, tree_grid("estimator__", tiny)
    objective = boosting_objective("cross_entropy", "ndcg@10")
    regressor = lightgbm.LGBMRegressor(**settings)
    ranker = lightgbm.LGBMRanker(objective=objective, random_state=0, **settings)
    advised = clone(ranker).set_params(**{**ADVISED, **small})
    ours["trees"] = Model(
        "trees", LowRankSurrogateRanker(estimator="trees", random_state=0), named_grid(tiny)
    )
    sizes = {"max_iter": [5] if tiny else [100, 200], "max_leaf_nodes": [3] if tiny else [7, 15]}
    ours["listwise"] = Model("trees", HistGradientBoostingRanker(random_state=0), sizes)
    ours["boosted"] = Model("trees", WrappedRanker(advised), grid)
    ours["trees of LightGBM"] = Model("LightGBM", LowRankSurrogateRanker(estimator=regressor), grid)
    ours["boosted, defaults"] = Model("LightGBM", WrappedRanker(ranker), grid)
    peers["pooled, defaults"] = Model("LightGBM", WrappedRanker(clone(regressor)), {})
    lambdarank = lightgbm.LGBMRanker(random_state=0, **settings)
    peers["lambdarank, defaults"] = Model("LightGBM", WrappedRanker(lambdarank), {})
    tuned = {**lightgbm_settings(), **small}
    peers["pooled trees"] = Model(
        "trees",
        WrappedRanker(lightgbm.LGBMRegressor(**tuned)),
        tree_grid("estimator__", tiny),
    )
    peers["lambdarank"] = Model(
        "trees", WrappedRanker(lightgbm.LGBMRanker(**tuned)), tree_grid("estimator__", tiny)
    )
    return ours, peers


def named_grid(tiny):
    """The trees of "trees", in fewer or larger ones."""
    named, _ = named_regressor("trees", 1000)
    sizes = product([5] if tiny else [100, 200], [3] if tiny else [7, 15])
    trees = [clone(named).set_params(max_iter=n, max_leaf_nodes=m) for n, m in sizes]
    return {"estimator": trees}


def document_cells(args):
    """Cells of the sets with one row a document."""
    names = ("synthetic",) if args.tiny else DOCUMENTS
    if args.quick and not args.tiny:
        names = ("synthetic", "digits")
    ours, peers = document_models(args.tiny)
    for name in names:
        X, y = DOCUMENTS[name](args.data)
        if args.tiny:
            X, y = X[:200], y[:200]
        yield from cells_of("documents", name, X, y, "ndcg@10", ours, peers, args)


# Fixed items ----------------------------------------------------------------------------


class Filled(BaseEstimator):
    """A regressor of all items' grades, those that miss filled with the mean of the item."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
        self.estimator_ = clone(self.estimator).fit(X, filled)
        return self

    def predict(self, X):
        return self.estimator_.predict(X)


class Scores(BaseEstimator):
    """A classifier whose decision function is what is predicted."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimator_ = clone(self.estimator).fit(X, y.astype(int))
        return self

    def predict(self, X):
        return self.estimator_.decision_function(X)


class Probabilities(BaseEstimator):
    """A classifier of each of the labels, which are 0 or 1; their probabilities are the scores."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        self.estimator_ = OneVsRestClassifier(self.estimator).fit(X, y.astype(int))
        return self

    def predict(self, X):
        return self.estimator_.predict_proba(X)


def item_models(measure, missing, binary, tiny):
    """Ours and the peers, where labels are `missing` or not, `binary` or not."""
    leaves = [1, 3] if tiny else [1, 3, 10]
    size = {"n_estimators": 5} if tiny else {}
    forest = ExtraTreesRegressor(**size, random_state=0)
    default = LowRankSurrogateRanker(target_loss=measure)
    named, _ = named_regressor("trees", None, missing)
    if tiny:
        named.set_params(**{name_in(named, "n_estimators"): 5})
    trees = clone(default).set_params(estimator=named if tiny else "trees", random_state=0)
    leaf = name_in(named, "min_samples_leaf")
    grid = {"estimator": [clone(named).set_params(**{leaf: n}) for n in leaves]}
    inner = {"estimator__min_samples_leaf": leaves}
    ours = {
        "low rank": Model("linear", default, RIDGE_OR_LOGISTIC[: 1 if missing else 2]),
        "trees": Model("trees", trees, grid),
    }
    if measure == "kendall":
        ours["pairs"] = Model("linear", PairwiseDAGRanker(), RIDGE_OR_LOGISTIC)
    if measure.startswith("precision"):
        top = Scores(PrecisionAtKPerceptron(target_loss=measure, random_state=0))
        ours["top"] = Model("linear", top, {"estimator__eta0": [5.0, 20.0, 100.0]})
    if measure == "auc":
        linear = OrderPreservingRegressor(target_loss=measure)
        ours["cross-entropy"] = Model("linear", linear, {"alpha": ALPHAS[:-2]})
    penalties = {"estimator__ridge__alpha": [0.1, 1.0, 10.0, 100.0, 1e3]}
    scaled = make_pipeline(StandardScaler(), Ridge())
    peers = {
        "ridge of grades": Model("linear", Filled(scaled), penalties),
        "item means": Model("linear", Filled(DummyRegressor()), {}),
        "trees of grades": Model("trees", Filled(forest), inner),
    }
    if binary:
        logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
        C = {"estimator__logisticregression__C": [1e-2, 0.1, 1.0]}
        peers["logistic"] = Model("linear", Probabilities(logistic), C)
    return ours, peers


def name_in(estimator, parameter):
    """The name of a parameter of an estimator, or of the one inside it."""
    names = estimator.get_params()
    return parameter if parameter in names else f"estimator__{parameter}"


def item_cells(args):
    """Cells of the sets with one row a list."""
    names = ("iris",) if args.tiny else ("iris", "glass") if args.quick else ITEMS
    for name in names:
        load, measure = ITEMS[name]
        X, y = load(args.data)
        if measure == "kendall" and np.isnan(y).any():
            raise ValueError(f"{name} has labels that miss.")
        missing, binary = bool(np.isnan(y).any()), bool(np.isin(y, (0.0, 1.0)).all())
        ours, peers = item_models(measure, missing, binary, args.tiny)
        yield from cells_of("items", name, X, y, measure, ours, peers, args)


# Classes --------------------------------------------------------------------------------


def class_models(tiny):
    """Ours and the peers; accuracy is what all of them aim at."""
    leaves = [1, 3] if tiny else [1, 3, 10]
    forest = named_regressor("trees", None)[0].set_params(random_state=0)
    trees = [clone(forest).set_params(min_samples_leaf=n) for n in leaves]
    named = LowRankSurrogateClassifier(estimator="trees", random_state=0)
    C = [1e-2, 0.1, 1.0, 10.0]
    scaled = partial(make_pipeline, StandardScaler())
    ours = {
        "classifier": Model("linear", LowRankSurrogateClassifier(), RIDGE_OR_LOGISTIC),
        "hinge": Model("linear", StructuredHingeClassifier(), {"alpha": HINGE_ALPHAS}),
        "trees": Model("trees", named, {"estimator": trees}),
    }
    peers = {
        "logistic": Model(
            "linear",
            scaled(LogisticRegression(max_iter=500)),
            {"logisticregression__C": C},
        ),
        "svc": Model("linear", scaled(LinearSVC()), {"linearsvc__C": C[:-1]}),
        "ridge": Model(
            "linear",
            scaled(RidgeClassifier()),
            {"ridgeclassifier__alpha": [0.1, 1.0, 10.0, 100.0, 1e3]},
        ),
        "extra trees": Model(
            "trees", ExtraTreesClassifier(random_state=0), {"min_samples_leaf": leaves}
        ),
    }
    return ours, peers


def class_cells(args):
    """Cells of the sets of classes."""
    names = ("iris",) if args.tiny else ("iris", "wine") if args.quick else CLASSES
    for name in names:
        X, y = CLASSES[name](args.data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield from cells_of("classes", name, X, y, "accuracy", *class_models(args.tiny), args)


PARTS = {"documents": document_cells, "items": item_cells, "classes": class_cells}
