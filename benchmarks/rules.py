"""Each default penalty against a search over seven, and on few lists.

searched: ``alpha="auto"``, a formula of the numbers of features and rows, against GridSearchCV over
seven penalties by the measure itself, on 5 inner folds by list. Both are fitted on 3 outer folds by
list. "regret" is what the search gains: the mean difference over lists (of classes: rows; at the
top: of ten splits), with its 95 % interval by the paired t-statistic. A table of families follows,
with the mean regret over their cells and the largest.

few: the same on some few lists drawn, judged on all others; means over draws.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse, stats
from sklearn.base import BaseEstimator, clone
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.structured import StructuredHingeClassifier, StructuredHingeRanker
from lowrank_rank.target_losses._names import resolve_target_loss

from ._common import paired, print_table
from ._sets import (
    CLASSES,
    DOCUMENTS,
    FILES,
    digits,
    generate_binary,
    generated,
    label_ranking,
    load_binary,
    load_ratings,
    multilabel,
)

#: Seven penalties each, of ridge and surrogates of documents, of sigmoids and surrogates of items
#: and classes, of hinges, and of subgradient steps at the top.
STRONG, WEAK = np.logspace(-3, 3, 7), np.logspace(-5, 0, 7)
HINGES, STEPS = np.logspace(-5, 1, 7), np.array([0.0, 0.002, 0.006, 0.02, 0.06, 0.2, 0.6])
N_FOLDS, N_INNER, N_SPLITS = 3, 5, 10
FEW = (8, 15, 30, 100)
MEAN, CELL, NAMED = 0.004, 0.02, 0.01  # regrets: too much in the mean, in a cell; to be named


class Cell(NamedTuple):
    """A model with its penalties on a set."""

    family: str
    dataset: str
    X: np.ndarray
    y: np.ndarray
    measure: str
    model: BaseEstimator
    alphas: np.ndarray


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--rows", type=int, default=20_000, help="at most, of binary sets")


def run(args):
    """Rows of the parts asked for."""
    return [row for part in args.part for row in PARTS[part](args)]


def searched_part(args):
    """A row for each cell, and one for each family."""
    rows = [row_of(cell) for family in args.family for cell in FAMILIES[family](args)]
    print_table("regret of the default penalty: searched minus default", rows)
    families = []
    for family in dict.fromkeys(row["family"] for row in rows):
        cells = [row for row in rows if row["family"] == family]
        regrets = np.array([row["regret"] for row in cells])
        within = all(row["regret"] <= row["cell_at_most"] for row in cells)
        named = [
            f"{row['dataset']} {row['model']} {row['measure']}"
            for row in cells
            if row["regret"] > NAMED
        ]
        mean = float(regrets.mean()) if len(regrets) else 0.0
        families.append(
            {
                "family": family,
                "cells": len(regrets),
                "mean": mean,
                "at_most": MEAN,
                "largest": float(regrets.max(initial=0.0)),
                "verdict": "ok" if mean <= MEAN and within else "MISSED",
                "above .01": "; ".join(named) or "none",
            }
        )
    print_table("families", families)
    return rows + families


def row_of(cell):
    """The measure of the default and of the search on each held-out list, compared."""
    default, searched = (values(cell, model) for model in (cell.model, search(cell)))
    found = paired(searched, default)
    row = {
        "family": cell.family,
        "dataset": cell.dataset,
        "model": model_name(cell.model),
        "measure": cell.measure,
        "lists": found.n,
        "default": float(np.nanmean(default)),
        "regret": found.mean,
        "low": found.low,
        "high": found.high,
        "cell_at_most": CELL,
    }
    if cell.family == "top":  # means of ten splits: two standard errors more
        row["cell_at_most"] += 2.0 * (found.high - found.mean) / stats.t.ppf(0.975, found.n - 1)
    print("  " + " ".join(f"{name}={value}" for name, value in row.items()), flush=True)
    return row


def model_name(model):
    """The class, and the estimator if it is not the default."""
    estimator = getattr(model, "estimator", "auto")
    return type(model).__name__ + ("" if estimator == "auto" else f" ({estimator})")


def groups_of(y):
    """The list of each row."""
    return y["qid"] if y.dtype.names else np.arange(len(y))


def is_of_rows(cell):
    return cell.family in ("classes", "hinges of classes", "top")


def search(cell):
    """The search over the penalties by the measure of the cell."""
    if is_of_rows(cell):
        scoring, cv = None, StratifiedKFold(N_INNER, shuffle=True, random_state=0)
    else:
        scoring = make_ranking_scorer(cell.measure)
        folds = GroupKFold if cell.y.dtype.names else KFold
        cv = folds(N_INNER, shuffle=True, random_state=0)
    return GridSearchCV(
        cell.model, {"alpha": cell.alphas}, scoring=scoring, cv=cv, error_score="raise"
    )


def values(cell, estimator):
    """One value for each held-out list, row or split."""
    X, y = cell.X, cell.y
    if cell.family == "top":
        splits = StratifiedShuffleSplit(N_SPLITS, test_size=0.3, random_state=0)
        fits = ((clone(estimator).fit(X[a], y[a]), b) for a, b in splits.split(X, y))
        return np.array([model.score(X[test], y[test]) for model, test in fits])
    if is_of_rows(cell):
        splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    else:
        folds = GroupKFold(N_FOLDS, shuffle=True, random_state=0)
        splits = folds.split(X, groups=groups_of(y))
    found = []
    for train, test in splits:
        model = clone(estimator)
        grouped = isinstance(model, GridSearchCV) and y.dtype.names
        model.fit(X[train], y[train], **({"groups": groups_of(y)[train]} if grouped else {}))
        found.append(values_of(cell, model, X[test], y[test]))
    return np.concatenate(found)


def values_of(cell, model, X, y):
    """The measure of each list, or one minus the cost of each row."""
    predicted = model.predict(X)
    if not is_of_rows(cell):
        return resolve_target_loss(cell.measure).measure(y, predicted, average=None)
    matrix, labels = cell.model.loss_matrix, np.unique(cell.y)
    matrix = 1.0 - np.eye(len(labels)) if matrix is None else matrix
    return 1.0 - matrix[np.searchsorted(labels, y), np.searchsorted(labels, predicted)]


# Cells --------------------------------------------------------------------------------


def document_sets(args):
    """Sets of documents, one generated with many features among them."""
    sets = {"synthetic": partial(generated, n_lists=150, seed=0)}
    if not args.tiny:
        sets |= {name: DOCUMENTS[name] for name in ("lightgbm_example", "clueweb09")}
        sets["digits"] = partial(digits, n_queries=100)
        sets["generated"] = partial(generated, n_lists=100, n_features=200, noise=4.0, seed=7)
    for name, load in sets.items():
        X, y, qid = load(args.data)
        some = slice(400 if args.tiny else None)
        yield name, X[some], ranking_target(y[some], qid[some])


def documents(args):
    models = LowRankSurrogateRanker(), PairwiseDAGRanker(), OrderPreservingRegressor()
    for name, X, y in document_sets(args):
        for model in models[: 1 if args.tiny else None]:
            yield Cell("documents", name, X, y, "ndcg@10", model, STRONG)


def hinges_of_documents(args):
    for name, X, y in document_sets(args):
        yield Cell("hinges of documents", name, X, y, "ndcg@10", StructuredHingeRanker(), HINGES)


def item_sets(args):
    """Sets of fixed items with their measures."""
    if args.tiny:
        data = make_label_ranking(60, 4, random_state=0)
        yield "generated", data.data, data.target.astype(float), ("kendall", "ndcg")
    else:
        for name in ("iris", "glass", "wine", "vowel", "vehicle"):
            yield name, *label_ranking(name)(args.data), ("kendall", "ndcg")
        for name, n_labels in (("emotions", 6), ("yeast", 14)):
            yield name, *multilabel(name, n_labels)(args.data), ("map", "ndcg", "precision@2")
        yield "ratings", *load_ratings(args.data), ("eru", "dcg")
    for name, X, scores in feature_kinds(args):
        yield name, X, scores.argsort(axis=1).argsort(axis=1).astype(float), ("kendall",)


def feature_kinds(args):
    """Sparse features of five kinds, and noisy linear scores of four items."""
    rng, n_rows = np.random.default_rng(0), 120 if args.tiny else 600
    frequencies = rng.pareto(1.0, 300) / 20.0  # of 300 words, in four topics
    lifts = np.exp(rng.normal(size=(4, 300)))
    counts = rng.poisson(np.minimum(frequencies, 1.0) * lifts[rng.integers(0, 4, n_rows)])
    one_hot = OneHotEncoder().fit_transform(rng.integers(0, 20, (n_rows, 6)))
    kinds = {
        "0/1 words": sparse.csr_matrix(counts > 0, dtype=float),
        "counts": sparse.csr_matrix(counts, dtype=float),
        "tf-idf": TfidfTransformer().fit_transform(counts),
        "one-hot": one_hot,
        "mixed": sparse.hstack([rng.normal(size=(n_rows, 10)), one_hot], format="csr"),
    }
    for name, X in [*kinds.items()][: 1 if args.tiny else None]:
        Z = StandardScaler(with_mean=False).fit_transform(X)
        signal = Z @ (rng.normal(size=(X.shape[1], 4)) * (rng.random((X.shape[1], 1)) < 0.3))
        yield name, X, signal + signal.std() * rng.normal(size=signal.shape)


def items(args):
    for name, X, y, measures in item_sets(args):
        for measure in measures:
            model = LowRankSurrogateRanker(target_loss=measure)
            yield Cell("items", name, X, y, measure, model, STRONG if np.isnan(y).any() else WEAK)
            if measure == "kendall":
                ridge = LowRankSurrogateRanker(target_loss=measure, estimator="ridge")
                yield Cell("items", name, X, y, measure, ridge, STRONG)
                yield Cell("items", name, X, y, measure, PairwiseDAGRanker(target_loss="pd"), WEAK)
            if measure in ("ndcg", "dcg"):
                model = OrderPreservingRegressor(target_loss=measure)
                yield Cell("items", name, X, y, measure, model, WEAK)


def ridge_by_gcv(args):
    """Ridge regression of items with the formula, then with generalised cross-validation."""
    for alpha in ("auto", "gcv"):
        for name, X, y, measures in item_sets(args):
            if not np.isnan(y).any():
                loss = "kendall" if "kendall" in measures else "ndcg"
                model = LowRankSurrogateRanker(target_loss=loss, estimator="ridge", alpha=alpha)
                yield Cell(f"ridge, {alpha}", name, X, y, loss, model, STRONG)


def hinges_of_items(args):
    for name, X, y, measures in item_sets(args):
        if measures[0] == "kendall":
            model = StructuredHingeRanker(target_loss="kendall")
            yield Cell("hinges of items", name, X, y, "kendall", model, HINGES)


def costs_of(n_classes):
    """Three cost matrices, the largest cost 1."""
    grid = np.arange(n_classes)
    yield "0-1", None
    if n_classes > 2:
        yield "absolute", np.abs(grid[:, np.newaxis] - grid) / (n_classes - 1.0)
    yield (
        "random",
        np.random.default_rng(0).uniform(size=(n_classes,) * 2) * (1 - np.eye(n_classes)),
    )


def class_sets(args):
    for name in ("iris",) if args.tiny else CLASSES:
        yield name, *CLASSES[name](args.data)
    for name, X, scores in feature_kinds(args):
        yield name, X, scores.argmax(axis=1)


def classes(args):
    for name, X, y in class_sets(args):
        for costs, matrix in costs_of(len(np.unique(y))):
            model = LowRankSurrogateClassifier(loss_matrix=matrix, tol=1e-4)  # as scikit-learn
            yield Cell("classes", name, X, y, costs, model, WEAK)


def hinges_of_classes(args):
    for name, X, y in class_sets(args):
        yield Cell("hinges of classes", name, X, y, "0-1", StructuredHingeClassifier(), HINGES)


def top(args):
    for name in ["generated"] if args.tiny else ["generated", *FILES]:
        if name == "generated":
            X, y = generate_binary(500 if args.tiny else 5000, 50, 0.05)
        else:
            X, y = load_binary(args.data, name)
        some = np.random.default_rng(0).permutation(len(y))[: args.rows]
        for loss in ("precision@25%", "prbep"):
            model = PrecisionAtKPerceptron(target_loss=loss, random_state=0)
            yield Cell("top", name, X[some], y[some], loss, model, STEPS)


#: Name to a function of the arguments that yields cells.
FAMILIES = {
    "documents": documents,
    "items": items,
    "ridge by gcv": ridge_by_gcv,
    "classes": classes,
    "hinges of documents": hinges_of_documents,
    "hinges of items": hinges_of_items,
    "hinges of classes": hinges_of_classes,
    "top": top,
}


# Few lists ----------------------------------------------------------------------------


def few_part(args):
    """A row for each model and number of lists, the mean over sets and draws."""
    models = {
        "ridge": (LowRankSurrogateRanker(), STRONG),
        "cross-entropy": (OrderPreservingRegressor(), STRONG),
        "hinge": (StructuredHingeRanker(), HINGES),
    }
    rows = []
    for n_lists in FEW[:1] if args.tiny else FEW:
        for name, (model, alphas) in models.items():
            regrets = [
                regret_of_few(
                    Cell("documents", dataset, X, y, "ndcg@10", model, alphas), n_lists, k
                )
                for dataset, X, y in document_sets(args)
                for k in range(2 if args.tiny else args.draws)
                if n_lists <= 0.7 * len(np.unique(y["qid"]))
            ]
            rows.append(
                {
                    "lists": n_lists,
                    "model": name,
                    "fits": len(regrets),
                    "regret": float(np.mean(regrets)),
                    "se": float(np.std(regrets, ddof=1) / np.sqrt(len(regrets))),
                    "largest": float(np.max(regrets)),
                }
            )
    print_table("few lists: searched minus default, NDCG@10", rows)
    return rows


def regret_of_few(cell, n_lists, draw):
    """What the search gains on all lists but those drawn."""
    X, y = cell.X, cell.y
    ids = np.unique(y["qid"])
    some = np.random.default_rng(draw).choice(ids, n_lists, replace=False)
    is_train = np.isin(y["qid"], some)
    groups = {"groups": y["qid"][is_train]}
    found = [
        values_of(
            cell, clone(model).fit(X[is_train], y[is_train], **more), X[~is_train], y[~is_train]
        )
        for model, more in ((search(cell), groups), (cell.model, {}))
    ]
    return paired(*found).mean


PARTS = {"searched": searched_part, "few": few_part}
