"""The top of the list on small data: ours with the defaults minus logistic regression."""

import numpy as np
from sklearn.base import clone
from sklearn.metrics import average_precision_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.target_losses._names import resolve_measure

from ._binary import BASELINES, generate_binary
from ._common import print_table

SIZES = (1_000, 4_000)
MAX_TEST_ROWS = 24_000
#: The target loss and the measure of each top; a count may exceed the positives.
TOPS = {
    "20": ("recall@20", "precision@20"),
    "100": ("recall@100", "precision@100"),
    "25%": ("precision@25%", "precision@25%"),
}


def small_part(sets, args):
    """One row for each size, set and top, and what they come to."""
    splits = range(2 if args.tiny else args.splits)
    sizes = (200,) if args.tiny else SIZES
    cells = []
    for n_rows in sizes:
        for name, load in sets.items():
            X, y = load()
            found = [differences(X, y, n_rows, seed) for seed in splits]
            cells += [cell(n_rows, name, top, [of[top] for of in found]) for top in TOPS]
    print_table("Precision minus logistic regression on small data, ours with the defaults", cells)
    sums = [sum_row(n_rows, cells) for n_rows in sizes]
    sums.append(whole_order(splits, sizes[0]))
    print_table("Their mean, cells beyond two standard errors, and the whole order", sums)
    return cells + sums


def small_split(X, y, n_rows, seed):
    """So many standardised rows to learn from, and lists of as many to judge."""
    n_test = min(len(X) - n_rows, MAX_TEST_ROWS) // n_rows * n_rows
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, train_size=n_rows, test_size=n_test, stratify=y, random_state=seed
    )
    scaler = StandardScaler().fit(X_train)
    return scaler.transform(X_train), y_train, scaler.transform(X_test), y_test


def differences(X, y, n_rows, seed):
    """Precision of ours minus that of logistic regression, by top."""
    X, y, X_test, y_test = small_split(X, y, n_rows, seed)
    qid = np.arange(len(y_test)) // n_rows
    theirs = clone(BASELINES["logistic"]).fit(X, y).decision_function(X_test)
    found = {}
    for top, (loss, measure) in TOPS.items():
        ours = PrecisionAtKPerceptron(target_loss=loss, random_state=seed).fit(X, y)
        scores, judge = ours.decision_function(X_test), resolve_measure(measure).measure
        found[top] = judge(y_test, scores, qid=qid) - judge(y_test, theirs, qid=qid)
    return found


def cell(n_rows, name, top, values):
    """The mean over the splits, and whether it is beyond two standard errors."""
    mean, error = np.mean(values), np.std(values, ddof=1) / np.sqrt(len(values))
    verdict = "WORSE" if mean < -2 * error else "better" if mean > 2 * error else "ok"
    return {
        "rows": n_rows,
        "set": name,
        "top": top,
        "difference": mean,
        "se": error,
        "verdict": verdict,
    }


def sum_row(n_rows, cells):
    """Mean difference, and how many cells of this size are worse and better."""
    of_size = [row for row in cells if row["rows"] == n_rows]
    verdicts = [row["verdict"] for row in of_size]
    return {
        "what": f"{n_rows} rows",
        "mean": np.mean([row["difference"] for row in of_size]),
        "WORSE": verdicts.count("WORSE"),
        "better": verdicts.count("better"),
        "of": len(of_size),
    }


def whole_order(splits, n_rows):
    """Mean difference of average precision on normal features."""
    X, y = generate_binary(21 * n_rows, 20, 0.15)
    values = []
    for seed in splits:
        X_train, y_train, X_test, y_test = small_split(X, y, n_rows, seed)
        models = clone(BASELINES["logistic"]), PrecisionAtKPerceptron(random_state=seed)
        theirs, ours = (
            average_precision_score(y_test, model.fit(X_train, y_train).decision_function(X_test))
            for model in models
        )
        values.append(ours - theirs)
    return {"what": "average precision", "mean": np.mean(values), "of": len(values)}
