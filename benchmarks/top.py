"""Precision at the top of binary sets: `PrecisionAtKPerceptron` and boosted trees of lists.

Run it on one thread, OMP_NUM_THREADS=1. Models learn from standardised rows.

tuned: k is 25 %, 50 % and 100 % ("prbep") of the positives of the test part, stratified 70/30
splits. Ours has its defaults. Logistic regression, linear SVM and ridge choose penalty and class
weights for each depth on three inner folds; "best" is the one with the largest mean, and the
difference from it has a 95 % interval over the splits. Boosted trees have their defaults. Fits are
to 40,000 drawn rows at most.

small: precision minus that of LogisticRegression, for tops of 20 rows, 100 rows and 25 % of the
positives. Models learn from 1,000 or 4,000 rows and are judged on other rows in lists of as many.

trees: the best 5 % of one list, `HistGradientBoostingRanker` minus HistGradientBoostingClassifier.
"""

from collections import defaultdict
from itertools import product

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

from lowrank_rank import HistGradientBoostingRanker, PrecisionAtKPerceptron
from lowrank_rank.metrics import measure_score

from ._common import paired, print_table
from ._sets import binary_sets, standardised_split

DEPTHS = ("precision@25%", "precision@50%", "prbep")
MAX_ROWS, MAX_TEST_ROWS = 40_000, 24_000
C = (0.01, 0.1, 1.0, 10.0)
PEERS = {
    "logistic": [
        LogisticRegression(C=c, class_weight=weight, max_iter=300)
        for c in C
        for weight in (None, "balanced")
    ],
    "svc": [LinearSVC(C=c) for c in C[:3]],
    "ridge": [RidgeClassifier(alpha=1.0 / c) for c in (1e-3, *C)],
}
#: The target loss and the measure of each top; a count may exceed the positives.
TOPS = {
    "20": ("recall@20", "precision@20"),
    "100": ("recall@100", "precision@100"),
    "25%": ("precision@25%", "precision@25%"),
}


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument(
        "--seeds",
        nargs=2,
        type=int,
        default=[0, 5],
        metavar=("FIRST", "END"),
        help="END excluded",
    )


def run(args):
    """Rows of the parts asked for."""
    if args.seeds[1] - args.seeds[0] < 2:
        raise SystemExit(
            f"--seeds {args.seeds[0]} {args.seeds[1]}: a standard error needs two."
        )
    rows = []
    for part in args.part:
        table = list(PARTS[part](args, range(*args.seeds)))
        print_table(f"{part}: precision at the top", table)
        rows += [{"table": part, **row} for row in table]
    return rows


def tuned_part(args, seeds):
    """A row for each set and depth."""
    for name, load in binary_sets(args.data, args.tiny).items():
        values = defaultdict(list)
        for seed in seeds:
            for key, value in values_of_split(*load(), seed).items():
                values[key].append(value)
        for depth in DEPTHS:
            means = {
                model: np.mean(values[depth, model])
                for model in (*PEERS, "ours", "trees")
            }
            best = max(PEERS, key=means.get)
            found = paired(values[depth, "ours"], values[depth, best])
            row = {"set": name, "depth": depth, **means, "best": means[best]}
            yield {
                **row,
                "difference": found.mean,
                "low": found.low,
                "high": found.high,
            }


def values_of_split(X, y, seed):
    """Test precision by (depth, model)."""
    X, y, X_test, y_test = standardised_split(X, y, seed)
    some = np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS]
    X, y = X[some], y[some]
    trees = HistGradientBoostingClassifier(random_state=seed).fit(X, y)
    values, chosen = {}, {name: best_of(PEERS[name], X, y, seed) for name in PEERS}
    for depth in DEPTHS:
        fitted = {name: clone(chosen[name][depth]).fit(X, y) for name in PEERS}
        fitted["ours"] = PrecisionAtKPerceptron(
            target_loss=depth, random_state=seed
        ).fit(X, y)
        for name, model in {**fitted, "trees": trees}.items():
            values[depth, name] = measure_score(
                depth, y_test, model.decision_function(X_test), one_list=True
            )
    return values


def best_of(candidates, X, y, seed):
    """The best candidate for each depth, by the mean of three folds."""
    means = {depth: [] for depth in DEPTHS}
    for candidate in candidates:
        found = defaultdict(list)
        for a, b in StratifiedKFold(3, shuffle=True, random_state=seed).split(X, y):
            scores = clone(candidate).fit(X[a], y[a]).decision_function(X[b])
            for depth in DEPTHS:
                value = measure_score(depth, y[b], scores, one_list=True)
                found[depth].append(value)
        for depth in DEPTHS:
            means[depth].append(np.mean(found[depth]))
    return {
        depth: candidates[int(np.argmax(of_depth))] for depth, of_depth in means.items()
    }


def small_part(args, seeds):
    """A row for each size, set and top, and a row for each size."""
    sets = binary_sets(args.data, args.tiny)
    for n_rows in (200,) if args.tiny else (1_000, 4_000):
        cells = []
        for name, load in sets.items():
            found = [differences(*load(), n_rows, seed) for seed in seeds]
            for top in TOPS:
                cell = paired([of_split[top] for of_split in found], 0.0)
                row = {"rows": n_rows, "set": name, "top": top}
                cells.append({**row, "difference": cell.mean, "se": cell.se})
        yield from cells
        mean = np.mean([row["difference"] for row in cells])
        row = {
            "rows": n_rows,
            "set": "all",
            "top": f"{len(cells)} cells",
            "difference": mean,
        }
        row["better"] = sum(cell["difference"] > 2 * cell["se"] for cell in cells)
        yield {
            **row,
            "worse": sum(cell["difference"] < -2 * cell["se"] for cell in cells),
        }


def differences(X, y, n_rows, seed):
    """Precision of ours minus that of logistic regression, by top."""
    n_test = min(len(X) - n_rows, MAX_TEST_ROWS) // n_rows * n_rows
    sizes = {"train_size": n_rows, "test_size": n_test}
    X, y, X_test, y_test = standardised_split(X, y, seed, **sizes)
    qid = np.arange(len(y_test)) // n_rows
    theirs = LogisticRegression(max_iter=1000).fit(X, y).decision_function(X_test)
    found = {}
    for top, (loss, measure) in TOPS.items():
        ours = PrecisionAtKPerceptron(target_loss=loss, random_state=seed).fit(X, y)
        scores = ours.decision_function(X_test)
        ours, peer = (
            measure_score(measure, y_test, s, qid=qid) for s in (scores, theirs)
        )
        found[top] = ours - peer
    return found


def trees_part(args, seeds):
    """A row for each draw of easy data, where 10 % of the labels are noise, and of hard data."""
    n, n_draws = (500, 1) if args.tiny else (8000, 3)
    kinds = {"easy": {"weights": [0.85]}, "hard": {"weights": [0.95], "class_sep": 0.3}}
    for (kind, settings), seed in product(kinds.items(), range(n_draws)):
        X, y = make_classification(
            4 * n, 30, n_informative=10, flip_y=0.1, random_state=seed, **settings
        )
        ranker = HistGradientBoostingRanker(
            target_loss=f"precision@{n // 20}", random_state=0
        )
        classifier = HistGradientBoostingClassifier(random_state=0).fit(X[:n], y[:n])
        scores = ranker.fit(X[:n], y[:n], one_list=True).predict(X[n:])
        ours, theirs = (
            measure_score(f"precision@{n // 20}", y[n:], s, qid=np.arange(3 * n) // n)
            for s in (scores, classifier.decision_function(X[n:]))
        )
        error = float(np.sqrt(theirs * (1 - theirs) / (3 * (n // 20))))
        yield {
            "data": kind,
            "seed": seed,
            "ranker": ours,
            "classifier": theirs,
            "se": error,
        }


PARTS = {"tuned": tuned_part, "small": small_part, "trees": trees_part}
