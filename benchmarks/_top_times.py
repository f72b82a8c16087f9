"""Times of the benchmark of the top: whole fits, passes over the rows, and cutting planes."""

import warnings
from collections import defaultdict
from functools import partial
from itertools import pairwise
from time import process_time

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.multiclass import OneVsRestClassifier

from lowrank_rank import PrecisionAtKPerceptron

from ._binary import BASELINES, DEFAULT_DEPTH, DEPTHS, generate_binary, standardised_split
from ._common import bar_row, best_seconds, print_table, ratio_rows

N_PASSES = 25
CUTTING_PLANE_SETS = ("letter", "mammography", "generated")


def fit_part(sets, args):
    """Ratios for each set and depth, and of the sums over the sets; the default has bars."""
    rows, total = [], defaultdict(float)
    for name, load in sets.items():
        X, y, _, _ = standardised_split(*load(), 0)
        seconds = best_seconds(fit_calls(X, y), args.repeats)
        for call in seconds:
            total[call] += seconds[call]
        rows += fit_ratios(name, seconds, 4.0)
    if len(sets) > 1:
        rows += fit_ratios("sum", total, 4.0)
    print_table("Fit with the defaults, seconds: ours / LogisticRegression", rows)
    return rows


def fit_calls(X, y):
    """A fit of logistic regression, and one of ours for each depth."""
    logistic = clone(BASELINES["logistic"])
    calls = {"logistic": lambda: logistic.fit(X, y)}
    for depth in DEPTHS:
        model = PrecisionAtKPerceptron(target_loss=depth, random_state=0)
        calls[depth] = lambda model=model: model.fit(X, y)
    return calls


def fit_ratios(name, seconds, bar):
    """A row for each depth, the bar on that of the default."""
    rows = []
    for depth in DEPTHS:
        bars = {"logistic": bar if depth == DEFAULT_DEPTH else None}
        rows += ratio_rows(f"{name}, {depth}", seconds, depth, bars)
    return rows


def lists_part(_sets, args):
    """Fits over queries and over rows of a matrix y, against one of a linear model of rows."""
    table = rows(tiny=args.tiny, repeats=args.repeats)
    print_table("Fits over many lists, without the start for queries: ours / peer", table)
    return table


def rows(*, tiny=False, repeats=3):
    """Rows of a table, one for each kind of lists, each with its bar.

    Queries: a fit of all passes from zeros, so that no start counts, against LogisticRegression on
    the rows pooled. A matrix y: a fit with the defaults, start included, against LogisticRegression
    of each label.
    """
    n_rows, n_matrix = (2_000, 500) if tiny else (100_000, 20_000)
    found = []
    for n_features in (10, 50):
        for length in (3, 20, 100):
            X, y, qid = generate_lists(n_rows, n_features, length)
            ours = PrecisionAtKPerceptron(target_loss="precision@1", start="zeros", random_state=0)
            logistic = clone(BASELINES["logistic"])
            calls = {
                "queries": partial(ours.fit, X, y, qid=qid),
                "logistic": partial(logistic.fit, X, y),
            }
            group = f"lists of {length}, {n_rows} x {n_features}"
            bars = {"logistic": 3.0 if length == 100 else None}  # shorter lists take no time
            found += ratio_rows(group, best_seconds(calls, repeats, process_time), "queries", bars)
    for n_features in (20, 100):
        X, Y = generate_matrix(n_matrix, n_features, 20)
        ours = PrecisionAtKPerceptron(target_loss="precision@3", random_state=0)
        each = OneVsRestClassifier(clone(BASELINES["logistic"]))
        calls = {"matrix": partial(ours.fit, X, Y), "logistic": partial(each.fit, X, Y)}
        group = f"matrix y, {n_matrix} x {n_features}, 20 labels"
        found += ratio_rows(
            group, best_seconds(calls, repeats, process_time), "matrix", {"logistic": 4.0}
        )
    return found


def generate_lists(n_rows, n_features, length):
    """Normal features, and lists of one length with 30 % positives by a noisy linear score."""
    X, y = generate_binary(n_rows, n_features, 0.3)
    return X, y, np.arange(n_rows) // length


def generate_matrix(n_rows, n_features, n_labels):
    """Normal features, and labels by noisy linear scores."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal((n_features, n_labels)) / np.sqrt(n_features)
    return X, (scores + rng.standard_normal(scores.shape) > 1.0).astype(int)


def passes_part(sets, args):
    """25 passes over cover, their growth with the rows, and one pass against ``X @ w``."""
    n_rows, n_wide = (8_000, 4_000) if args.tiny else (200_000, 100_000)
    if "cover" in sets:
        X, y, _, _ = standardised_split(*sets["cover"](), 0)
        name, X, y = "cover", X[:n_rows], y[:n_rows]
    else:
        name, (X, y) = "generated", generate_binary(n_rows, 10, 0.01)
    wide = generate_binary(n_wide, 100, 0.01)
    repeats = 3 * args.repeats  # differences of short times are noisy
    rows = [
        *growth_rows(name, X, y, repeats),
        *product_rows(name, X, y, 10.0, repeats),
        *product_rows("generated", *wide, 4.0, repeats),
    ]
    print_table("Passes, seconds: all of a fit of 25, or one pass", rows)
    return rows


def growth_rows(name, X, y, repeats):
    """Seconds of a fit of 25 passes, and their growth from an eighth of the rows, doubled."""
    sizes = [len(X) // part for part in (8, 4, 2, 1)]
    calls = {n: passes_call(X[:n], y[:n], N_PASSES) for n in sizes}
    seconds = best_seconds(calls, repeats)
    whole = seconds[sizes[-1]]
    rows = [
        bar_row(
            group=f"{N_PASSES} passes, {name}, {len(X)} x {X.shape[1]}",
            peer=None,
            ours_s=whole,
            peer_s=None,
            value=whole,
            at_most=1.0,
        )
    ]
    for half, n in pairwise(sizes):
        rows += ratio_rows(f"{N_PASSES} passes, {name}, {n} rows", seconds, n, {half: 2.3})
    return rows


def product_rows(name, X, y, bar, repeats):
    """Seconds of one pass over those of one ``X @ w``, without what a fit does once."""
    w = X[0].copy()

    def products():
        for _ in range(N_PASSES):
            X @ w

    calls = {
        "one": passes_call(X, y, 1),
        "more": passes_call(X, y, 1 + N_PASSES),
        "X @ w": products,
    }
    best = best_seconds(calls, repeats)
    seconds = {
        "pass": (best["more"] - best["one"]) / N_PASSES,
        "X @ w": best["X @ w"] / N_PASSES,
    }
    group = f"one pass, {name}, {len(X)} x {X.shape[1]}"
    return ratio_rows(group, seconds, "pass", {"X @ w": bar})


def passes_call(X, y, n_passes):
    """A fit of so many passes, no more and no less."""
    model = PrecisionAtKPerceptron(max_iter=n_passes, start="zeros", random_state=0)
    return lambda: model.fit(X, y)


def cutting_plane_part(sets, args):
    """Rounds, duality gap, seconds and test precision, next to those of the defaults."""
    rounds = 20 if args.tiny else 200
    rows = [
        {"set": name, **planes_row(*standardised_split(*sets[name](), 0), rounds, args.repeats)}
        for name in CUTTING_PLANE_SETS
        if name in sets
    ]
    print_table(f"Cutting planes at {DEFAULT_DEPTH}, and the defaults, seed 0", rows)
    return rows


def planes_row(X, y, X_test, y_test, rounds, repeats):
    """At most so many rounds of cutting planes, against mini-batches with the defaults."""
    planes = PrecisionAtKPerceptron(method="svmperf", max_iter=rounds)
    ours = PrecisionAtKPerceptron(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap is a column
        calls = {"planes": lambda: planes.fit(X, y), "ours": lambda: ours.fit(X, y)}
        seconds = best_seconds(calls, repeats)
    measure = DEPTHS[DEFAULT_DEPTH].measure
    return {
        "rounds": planes.n_iter_,
        "gap": planes.dual_gap_,
        "s": seconds["planes"],
        "precision": measure(y_test, planes.decision_function(X_test)),
        "ours_s": seconds["ours"],
        "ours": measure(y_test, ours.decision_function(X_test)),
    }
