"""The default penalty against multiples of itself: regret of the default on held-out lists.

The regret is the largest mean of the measure over the multiples, chosen on the same held-out lists,
minus that of the default; 3 folds of whole lists. A table of families follows, with the mean regret
over their cells and the largest. Sets of documents also
give 24 of their lists.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    ranking_target,
)
from lowrank_rank.datasets import make_label_ranking
from lowrank_rank.structured import StructuredHingeClassifier, StructuredHingeRanker

from ._common import print_table
from ._sets import (
    CLASSES,
    DOCUMENTS,
    binary_sets,
    digits,
    generated,
    label_ranking,
    load_ratings,
    multilabel,
)

MULTIPLES = (0.01, 0.1, 1 / 3, 3.0, 10.0, 100.0)
N_FOLDS = 3


class Cell(NamedTuple):
    """A model on a set."""

    family: str
    dataset: str
    X: np.ndarray
    y: np.ndarray
    model: BaseEstimator


def add_arguments(parser):
    parser.add_argument("--family", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    parser.add_argument("--rows", type=int, default=5000, help="at most, of a set")
    parser.add_argument("--multiples", type=float, nargs="*", default=list(MULTIPLES))


def run(args):
    """A row for each cell, and one for each family."""
    rows = [
        row_of(cell, args) for family in args.family for cell in FAMILIES[family](args)
    ]
    print_table("regret of the default penalty", rows)
    families = []
    for family in dict.fromkeys(row["family"] for row in rows):
        regrets = [row["regret"] for row in rows if row["family"] == family]
        mean, largest = float(np.mean(regrets)), float(np.max(regrets))
        families.append(
            {"family": family, "cells": len(regrets), "mean": mean, "largest": largest}
        )
    print_table("families", families)
    return rows + families


def row_of(cell, args):
    """The default and its best multiple on held-out rows."""
    by_fold = [scores(cell, *fold, args.multiples) for fold in folds(cell, args.seed)]
    default, *others = np.mean(by_fold, axis=0)
    row = {"family": cell.family, "dataset": cell.dataset, "model": name_of(cell.model)}
    best = int(np.argmax([default, *others]))
    row |= {"default": default, "regret": max([default, *others]) - default}
    row["multiple"] = [1.0, *args.multiples][best]
    print("  " + " ".join(f"{name}={value}" for name, value in row.items()), flush=True)
    return row


def name_of(model):
    """The class, and the estimator or costs that are not defaults."""
    chosen = getattr(model, "estimator", "auto"), getattr(model, "loss_matrix", None)
    kinds = [
        name
        for name in (chosen[0], "" if chosen[1] is None else "costs")
        if name != "auto"
    ]
    return " ".join([type(model).__name__, *filter(None, kinds)])


def folds(cell, seed):
    """Train and test rows, of whole lists."""
    if cell.y.ndim == 1 and not cell.y.dtype.names:
        return StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(
            cell.X, cell.y
        )
    groups = cell.y["qid"] if cell.y.dtype.names else np.arange(len(cell.y))
    return GroupKFold(N_FOLDS, shuffle=True, random_state=seed).split(
        cell.X, groups=groups
    )


def scores(cell, train, test, multiples):
    """The score of the default, and of its multiples."""
    first = clone(cell.model).fit(cell.X[train], cell.y[train])
    fits = [first]
    for multiple in multiples:
        other = clone(first).set_params(alpha=multiple * first.alpha_)
        fits.append(other.fit(cell.X[train], cell.y[train]))
    return [fit.score(cell.X[test], cell.y[test]) for fit in fits]


# Cells --------------------------------------------------------------------------------


def document_sets(args):
    """Sets of documents: all lists, or some few."""
    names = [] if args.tiny else ["lightgbm_example", "clueweb09"]
    sets = {name: DOCUMENTS[name] for name in names}
    sets["generated"] = partial(
        generated, n_lists=20 if args.tiny else 150, seed=args.seed
    )
    if not args.tiny:
        sets["digits"] = partial(digits, n_queries=60)
        sets["wide"] = partial(
            generated, n_lists=60, n_features=200, noise=4.0, seed=args.seed
        )
    for name, load in sets.items():
        X, y, qid = load(args.data)
        shuffled = np.random.default_rng(args.seed).permutation(np.unique(qid))
        for n_lists in (24, len(shuffled)):
            kept = np.isin(qid, shuffled[:n_lists])
            kept &= np.cumsum(kept) <= args.rows
            yield (
                f"{name}, {n_lists} lists",
                X[kept],
                ranking_target(y[kept], qid[kept]),
            )


def item_sets(args):
    """Sets of fixed items with a measure."""
    if args.tiny:
        data = make_label_ranking(60, 4, random_state=0)
        yield "generated", data.data, data.target.astype(float), "kendall"
        return
    for name in ("iris", "glass", "wine", "vowel", "vehicle"):
        yield name, *label_ranking(name)(args.data), "kendall"
    yield "yeast", *multilabel("yeast", 14)(args.data), "precision@2"
    yield "ratings", *load_ratings(args.data), "eru"
    for name, X, scores in feature_kinds(args):
        yield name, X, scores.argsort(axis=1).argsort(axis=1).astype(float), "kendall"


def feature_kinds(args):
    """Sparse words and dummies, and noisy linear scores of four items."""
    rng = np.random.default_rng(args.seed)
    counts = rng.poisson(np.minimum(rng.pareto(1.0, 300) / 20.0, 1.0), (600, 300))
    kinds = {
        "words": sparse.csr_matrix(counts > 0, dtype=float),
        "dummies": OneHotEncoder().fit_transform(rng.integers(0, 20, (600, 6))),
    }
    for name, X in kinds.items():
        Z = StandardScaler(with_mean=False).fit_transform(X)
        signal = Z @ (
            rng.normal(size=(X.shape[1], 4)) * (rng.random((X.shape[1], 1)) < 0.3)
        )
        yield name, X, signal + signal.std() * rng.normal(size=signal.shape)


def class_sets(args):
    for name in ("iris",) if args.tiny else CLASSES:
        X, y = CLASSES[name](args.data)
        some = np.random.default_rng(args.seed).permutation(len(y))[: args.rows]
        yield name, X[some], y[some]
    for name, X, scores in [] if args.tiny else feature_kinds(args):
        yield name, X, scores.argmax(axis=1)


def documents(args):
    for name, X, y in document_sets(args):
        for model in (LowRankSurrogateRanker(), OrderPreservingRegressor()):
            yield Cell("documents", name, X, y, model)


def hinges_of_documents(args):
    for name, X, y in document_sets(args):
        yield Cell("hinges of documents", name, X, y, StructuredHingeRanker())


def items(args):
    for name, X, y, measure in item_sets(args):
        model = LowRankSurrogateRanker(target_loss=measure)
        yield Cell("items, logistic", name, X, y, model)
        ridge = clone(model).set_params(estimator="ridge")
        yield Cell("items, ridge", name, X, y, ridge)
        model = OrderPreservingRegressor(
            target_loss="ndcg" if measure == "kendall" else measure
        )
        yield Cell("items, cross-entropy", name, X, y, model)


def hinges_of_items(args):
    for name, X, y, measure in item_sets(args):
        if measure == "kendall":
            yield Cell("hinges of items", name, X, y, StructuredHingeRanker())


def sets_of_labels(args):
    sets = {name: multilabel(name, n) for name, n in (("emotions", 6), ("yeast", 14))}
    if args.tiny:
        sets = {"generated": lambda _: make_multilabel_classification(random_state=0)}
    for name, load in sets.items():
        X, y = load(args.data)
        yield Cell("sets of labels", name, X, y, LowRankSurrogateMultilabelClassifier())


def classes(args):
    for name, X, y in class_sets(args):
        grid = np.arange(len(np.unique(y)))
        costs = np.abs(grid[:, np.newaxis] - grid) / grid[-1]
        for matrix in (None, costs):
            model = LowRankSurrogateClassifier(loss_matrix=matrix)
            yield Cell("classes", name, X, y, model)


def hinges_of_classes(args):
    for name, X, y in class_sets(args):
        yield Cell("hinges of classes", name, X, y, StructuredHingeClassifier())


def top(args):
    for name, load in binary_sets(args.data, args.tiny).items():
        X, y = load()
        some = np.random.default_rng(args.seed).permutation(len(y))[: args.rows]
        model = PrecisionAtKPerceptron(random_state=0)
        yield Cell("top", name, X[some], y[some], model)


#: Name to a function of the arguments that yields cells.
FAMILIES = {
    "documents": documents,
    "items": items,
    "sets": sets_of_labels,
    "classes": classes,
    "hinges of documents": hinges_of_documents,
    "hinges of items": hinges_of_items,
    "hinges of classes": hinges_of_classes,
    "top": top,
}
