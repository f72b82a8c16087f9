"""Figures 2 and 3 of Kar, Narasimhan & Jain 2015: their methods as published.

Zero start, no penalty, steps eta / (R^2 sqrt(t)) projected on a ball, uniform averages: a surrogate
and a published solver of `PrecisionAtKPerceptron`. To centre the columns shifts all scores, which changes
1PMB and SVMperf alone: the other losses compare scores.
"""

import warnings
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.metrics import measure_score

from ._common import print_table, repeated
from ._sets import binary_sets

SETS = ("letter", "ijcnn1", "a9a", "generated")  # cover is not the paper's Covertype
DATA = (
    "letter.scale.gz, ijcnn1.trn.bz2 and a9a.gz in the folder binary of --data, in LIBSVM's "
    "format, from https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets (pack letter.scale "
    "and a9a with gzip). Without the folder, one generated set."
)
METHODS = {
    "SGD@k-avg": {"surrogate": "avg", "solver": "sgd"},
    "SGD@k-max": {"surrogate": "max", "solver": "sgd"},
    "Perceptron@k-avg": {"surrogate": "avg", "solver": "perceptron"},
    "Perceptron@k-max": {"surrogate": "max", "solver": "perceptron"},
    "1PMB": {"surrogate": "struct", "solver": "sgd"},
}
COLUMNS = ("raw", "centred", "standardised")
STEPS = (0.01, 0.1, 1.0, 10.0)  # eta, chosen on the training rows
PENALTIES = (0.01, 1.0, 100.0)  # alpha of SVMperf, chosen there too
PASSES = (1, 2, 5, 10, 25)
TANGENTS = (5, 10, 20, 40, 80)
SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
BATCH_LENGTHS = (125, 250, 500, 1000, 2000)
SHARE, BATCH = 0.25, 500  # of the paper's figure 2


def run_passes(method, eta, args, X, y, passes, seed, *, share=SHARE, batch=BATCH):
    """The weights after some passes, each over the rows in another order, and the seconds."""
    model = PrecisionAtKPerceptron(
        target_loss=f"precision@{100 * share:g}%",
        **METHODS[method],
        batch_size=batch,
        alpha=1.0 / args.radius,
        eta0=eta,
    )
    rng, seconds, found = np.random.default_rng(seed), 0.0, {}
    for n_pass in range(1, max(passes) + 1):
        rows = rng.permutation(len(X))
        start = process_time()
        model.partial_fit(X[rows], y[rows])
        seconds += process_time() - start
        if n_pass in passes:
            found[n_pass] = model.coef_[0], seconds
    return found


def add_arguments(parser):
    parser.add_argument("--sets", nargs="+", choices=(*SETS, "magic"), default=SETS)
    parser.add_argument("--rows", type=int, default=15_000, help="at most, of each set")
    parser.add_argument("--seeds", type=int, default=3, help="train-test splits")
    parser.add_argument("--columns", nargs="+", choices=COLUMNS, default=COLUMNS[:2])
    parser.add_argument(
        "--radius",
        type=float,
        default=1000.0,
        help="of the ball, over the root of mean |x|^2",
    )


def splits(args):
    """70/30 splits of at most so many rows of each set: name, seed, X, y, X_test, y_test."""
    loaders = binary_sets(args.data, args.tiny)
    if not set(loaders) & set(args.sets):
        raise SystemExit(
            f"--sets {' '.join(args.sets)} has none of {', '.join(loaders)}."
        )
    for name, load in loaders.items():
        if name not in args.sets:
            continue
        X, y = load()
        for seed in repeated(range(1 if args.tiny else args.seeds), "papers_top"):
            rows = np.random.default_rng(seed).permutation(len(X))[: args.rows]
            parts = train_test_split(
                X[rows], y[rows], test_size=0.3, stratify=y[rows], random_state=seed
            )
            yield name, seed, *(parts[i] for i in (0, 2, 1, 3))


def scaled(columns, X, X_test):
    """Training and test features, the columns as `columns` says."""
    if columns == "raw":
        return X, X_test
    scaler = StandardScaler(with_std=columns == "standardised").fit(X)
    return scaler.transform(X), scaler.transform(X_test)


def precision(share, X, y, w):
    return measure_score(f"precision@{100 * share:g}%", y, X @ w, one_list=True)


def best_step(method, X, y, args, **settings):
    """eta of the highest training precision after 3 passes."""
    if method.startswith("Perceptron"):
        return STEPS[0]  # without effect

    def worth(eta):
        w, _ = run_passes(method, eta, args, X, y, (3,), 0, **settings)[3]
        return precision(settings.get("share", SHARE), X, y, w)

    return max(STEPS, key=worth)


def best_penalty(X, y, share):
    """alpha of SVMperf of the highest training precision after 40 tangents."""
    return max(
        PENALTIES,
        key=lambda alpha: precision(
            share, X, y, cutting_planes(X, y, share, 40, alpha)[0]
        ),
    )


def cutting_planes(X, y, share, n_tangents, alpha):
    """SVMperf's problem after so many tangents: the weights, and the seconds of the fit."""
    model = PrecisionAtKPerceptron(
        target_loss=f"precision@{100 * share:g}%",
        surrogate="struct",
        solver="cutting_plane",
        max_iter=n_tangents,
        alpha=alpha,
    )
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # to stop early is the experiment
        start = process_time()
        model.fit(X, y)
    return model.coef_[0], process_time() - start


def mean_rows(values, **fixed):
    """One row for each set and method of a dict of lists by (set, method, column)."""
    rows = {}
    for (name, method, column), numbers in values.items():
        row = rows.setdefault((name, method), {"set": name, "method": method, **fixed})
        row[column] = float(np.mean(numbers))
    return sorted(rows.values(), key=lambda row: row["set"])


def collect(args, keys, fits, methods=(*METHODS, "SVMperf")):
    """Values by (set, method, key), lists over the splits; `fits` yields one for each key."""
    values = {}
    for name, seed, X, y, X_test, y_test in splits(args):
        for columns in args.columns:
            X_train, X_new = scaled(columns, X, X_test)
            for method in methods:
                if columns == "centred" and method not in ("1PMB", "SVMperf"):
                    continue
                title = method if columns == "raw" else f"{method}, {columns}"
                found = fits(method, seed, X_train, y, X_new, y_test)
                for key, value in zip(keys, found, strict=True):
                    values.setdefault((name, title, str(key)), []).append(value)
    return values


def time_rows(args):
    """Figure 2: test precision and training seconds after passes, or tangents."""

    def fits(method, seed, X, y, X_test, y_test):
        if method == "SVMperf":
            alpha = best_penalty(X, y, SHARE)
            found = {n: cutting_planes(X, y, SHARE, n, alpha) for n in TANGENTS}
        else:
            found = run_passes(
                method, best_step(method, X, y, args), args, X, y, PASSES, seed
            )
        for w, seconds in found.values():
            yield precision(SHARE, X_test, y_test, w)
            yield seconds

    keys = [f"{key} {point}" for point in "12345" for key in ("prec", "s")]
    rows = mean_rows(collect(args, keys, fits), table="time")
    print_table(
        f"Figure 2: precision@{SHARE:.0%} and seconds after {PASSES} passes (SVMperf: {TANGENTS} "
        "tangents)",
        rows,
    )
    return rows


def depth_rows(args):
    """Figure 3 (a), (b): test precision at k, each method fitted for each k."""
    shares = SHARES[1:2] if args.tiny else SHARES

    def fits(method, seed, X, y, X_test, y_test):
        for share in shares:
            if method == "SVMperf":
                w = cutting_planes(X, y, share, 40, best_penalty(X, y, share))[0]
            else:
                eta = best_step(method, X, y, args, share=share)
                w = run_passes(method, eta, args, X, y, (10,), seed, share=share)[10][0]
            yield precision(share, X_test, y_test, w)

    rows = mean_rows(collect(args, shares, fits), table="depth")
    print_table(
        "Figure 3 (a), (b): precision at a fraction of the positives, 10 passes", rows
    )
    return rows


def batch_rows(args):
    """Figure 3 (c)-(e): test precision by the length of the batches, and its variation."""
    lengths = BATCH_LENGTHS[:2] if args.tiny else BATCH_LENGTHS

    def fits(method, seed, X, y, X_test, y_test):
        eta = best_step(method, X, y, args)
        for batch in lengths:
            w = run_passes(method, eta, args, X, y, (10,), seed, batch=batch)[10][0]
            yield precision(SHARE, X_test, y_test, w)

    rows = mean_rows(collect(args, lengths, fits, METHODS), table="batch")
    for row in rows:
        values = [row[str(length)] for length in lengths]
        row["variation"] = 1.0 - min(values) / max(values)
    print_table(
        f"Figure 3 (c)-(e): precision@{SHARE:.0%} by batch length, 10 passes", rows
    )
    return rows


def run(args):
    return time_rows(args) + depth_rows(args) + batch_rows(args)
