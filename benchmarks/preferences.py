"""Label ranking and ratings by cross-validation, and duels that no score explains.

labels: KEBI data sets of full rankings, 10-fold cross-validation repeated 5 times, Kendall's tau
(1 is best) of base regressors and decoders of the same fits. ratings: users' grades of some films
from those of other films, 5 folds repeated twice, fraction of the known pairs in the right order.
duels: generated lists of two documents, fraction of held-out duels in the wrong order.
"""

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import RepeatedKFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    WrappedRanker,
)
from lowrank_rank.calibration import noise_report
from lowrank_rank.datasets import make_duels
from lowrank_rank.metrics import measure_score

from ._common import optional_peer, print_table
from ._sets import load_ratings, read_labels

LABELS = ("glass", "iris", "vehicle", "vowel", "wine")
DECODERS = ("dag", "exact", "local_search", "borda")


def add_arguments(parser):
    parser.add_argument(
        "--part", nargs="+", choices=sorted(PARTS), default=sorted(PARTS)
    )
    parser.add_argument(
        "--repeats", type=int, default=5, help="of the cross-validation"
    )


def run(args):
    rows = []
    for part in args.part:
        rows += PARTS[part](args)
    return rows


# Label ranking ----------------------------------------------------------------------


def bases(tiny):
    """Base regressors by name, as functions of a seed."""
    trees = 10 if tiny else 200
    return {
        "ridge": lambda seed: "ridge",
        "logistic": lambda seed: "logistic",
        "5 neighbours": lambda seed: make_pipeline(
            StandardScaler(), KNeighborsRegressor(5, weights="distance")
        ),
        "trees": lambda seed: ExtraTreesRegressor(trees, random_state=seed),
        "trees, leaves of 2": lambda seed: ExtraTreesRegressor(
            trees, min_samples_leaf=2, random_state=seed
        ),
        "trees, random splits": lambda seed: ExtraTreesRegressor(
            trees, max_features=1, random_state=seed
        ),
    }


def label_rows(args):
    """Kendall's tau of each base regressor and decoder."""
    folder = args.data / "label_ranking"
    if not folder.is_dir():
        print(f"needs {folder}; skipped")
        return []
    rows = []
    for name in ("iris",) if args.tiny else LABELS:
        X, y = read_labels(folder / f"{name}.txt")
        folds = RepeatedKFold(
            n_splits=3 if args.tiny else 10,
            n_repeats=1 if args.tiny else args.repeats,
            random_state=0,
        )
        splits = list(folds.split(X))
        rows += [
            base_row(name, *base, X, y, splits) for base in bases(args.tiny).items()
        ]
    print_table("Label ranking: Kendall's tau, mean over folds", rows)
    return rows


def base_row(name, base, make, X, y, splits):
    """One base regressor: all decoders on the same fits, and scores fitted by themselves."""
    tau = {decoder: [] for decoder in (*DECODERS, "score")}
    cycles = []
    for seed, (train, test) in enumerate(splits):
        ranker = PairwiseDAGRanker(estimator=make(seed)).fit(X[train], y[train])
        u = np.maximum(ranker.predict_preferences(X[test]), 0.0)
        cycles.append(1.0 - noise_report(u).in_p_dag.mean())
        for decoder in DECODERS:
            ranker.decoder_ = decoder  # of the same predictions
            tau[decoder].append(
                1.0 + 2.0 * measure_score("kendall", y[test], ranker.predict(X[test]))
            )
        score = PairwiseDAGRanker(estimator=make(seed), decoder="score").fit(
            X[train], y[train]
        )
        tau["score"].append(
            1.0 + 2.0 * measure_score("kendall", y[test], score.predict(X[test]))
        )
    means = {decoder: np.mean(values) for decoder, values in tau.items()}
    return {"data": name, "base": base, **means, "with_cycles": np.mean(cycles)}


# Ratings with missing labels --------------------------------------------------------


def fit_each(X, y):
    """Ridge regression of each column on the rows that know it."""
    penalty = max(1.0, 2.0 * min(X.shape[1] / len(X), 1.0))
    models = []
    for grades in y.T:
        rows = ~np.isnan(grades)
        model = make_pipeline(StandardScaler(), Ridge(penalty * rows.sum()))
        models.append(model.fit(X[rows], grades[rows]))
    return lambda X: np.column_stack([model.predict(X) for model in models])


def fit_filled(X, y):
    """A forest of all columns, unknown grades filled with the mean of their column."""
    filled = np.where(np.isnan(y), np.nanmean(y, axis=0), y)
    return (
        ExtraTreesRegressor(100, min_samples_leaf=3, random_state=0)
        .fit(X, filled)
        .predict
    )


def pairs_right(y, scores):
    """Share of the pairs of known, unequal grades that the scores order."""
    i, j = np.triu_indices(y.shape[1], 1)
    grades, scores = y[:, i] - y[:, j], scores[:, i] - scores[:, j]
    known = np.abs(grades) > 0
    return np.mean((np.sign(grades) * np.sign(scores))[known] / 2.0 + 0.5)


def rating_rows(args):
    """Pairs right of linear models and of trees, on three selections of films."""
    if not (args.data / "ratings").is_dir():
        print(f"needs {args.data / 'ratings'}; skipped")
        return []
    models = {"ridge of each": fit_each, "trees, filled": fit_filled}
    for loss, estimator in (("kendall", "auto"), ("pd", "auto"), ("kendall", "trees")):
        ranker = LowRankSurrogateRanker(
            target_loss=loss, estimator=estimator, random_state=0
        )
        name = f"{loss}, trees" if estimator == "trees" else loss
        models[name] = lambda X, y, ranker=ranker: ranker.fit(X, y).predict
    rows = []
    for n_items, n_features in ((15, 60), (30, 60), (20, 40))[
        : 1 if args.tiny else None
    ]:
        X, y = load_ratings(args.data, n_items, n_features)
        splits = RepeatedKFold(
            n_splits=5, n_repeats=1 if args.tiny else 2, random_state=0
        )
        found = {name: [] for name in models}
        for train, test in splits.split(X):
            for name, fit in models.items():
                found[name].append(
                    pairs_right(y[test], fit(X[train], y[train])(X[test]))
                )
        means = {name: np.mean(values) for name, values in found.items()}
        rows.append(
            {"films": n_items, "users": len(X), "unknown": np.isnan(y).mean(), **means}
        )
    print_table("Ratings: share of the known pairs in the right order", rows)
    return rows


# Duels ------------------------------------------------------------------------------


def products(a, b):
    """Differences and exterior products of the features: linear models of them can have cycles."""
    i, j = np.triu_indices(a.shape[1], 1)
    return np.hstack([a - b, a[:, i] * b[:, j] - a[:, j] * b[:, i]])


def duel_models(tiny):
    """Models of scores, then models of pairs."""
    few = {"max_iter": 20} if tiny else {}
    boosting = HistGradientBoostingRegressor(random_state=0, **few)
    trees = ExtraTreesRegressor(10 if tiny else 100, min_samples_leaf=5, random_state=0)
    models = {
        "score: linear": PairwiseDAGRanker(),
        "score: boosted trees": LowRankSurrogateRanker(
            target_loss="pd", estimator=boosting
        ),
        "score: random trees": LowRankSurrogateRanker(
            target_loss="pd", estimator=trees
        ),
        "pairs: products": PairwiseDAGRanker(pair_features=products),
    }
    lightgbm = optional_peer("lightgbm")
    if lightgbm is not None:
        n_trees = 20 if tiny else 100
        ranker = lightgbm.LGBMRanker(
            n_estimators=n_trees, verbose=-1, random_state=0, n_jobs=1
        )
        models["score: LightGBM lambdarank"] = WrappedRanker(ranker)
    return models


def duel_rows(args):
    """Share of held-out duels that each model gets wrong."""
    n_train, n_test = (200, 100) if args.tiny else (4000, 4000)
    rows = []
    for kind, cyclic in (
        ("circular", 1.0),
        ("half and half", 0.5),
        ("transitive", 0.0),
    ):
        data = make_duels(n_train + n_test, cyclic=cyclic, noise=0.3, random_state=0)
        X, y, qid = data.data, data.target, data.qid
        train, test = slice(0, 2 * n_train), slice(2 * n_train, None)
        likely = np.maximum(data.probabilities, 1.0 - data.probabilities)[n_train:]
        row = {"duels": kind, "noise allows": 1.0 - likely.mean()}
        for name, model in duel_models(args.tiny).items():
            model.fit(X[train], y[train], qid=qid[train])
            ids = {"qid": qid[test]} if name.startswith("pairs") else {}
            scores = model.predict(X[test], **ids)
            first, second = scores[::2], scores[1::2]
            wrong = np.where(y[test][::2] == 1, first < second, second < first)
            row[name] = np.mean(wrong + 0.5 * (first == second))
        rows.append(row)
    print_table("Duels: share of held-out duels in the wrong order", rows)
    return rows


PARTS = {"labels": label_rows, "ratings": rating_rows, "duels": duel_rows}
