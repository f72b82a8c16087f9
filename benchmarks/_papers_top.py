"""Figures 2 and 3 of Kar, Narasimhan & Jain 2015: their methods as published.

Zero start, no penalty, steps eta / (R^2 sqrt(t)) projected on a ball, uniform averages. The
package's estimator has other defaults: these loops use its surrogates and perceptron steps alone.
"""

import warnings
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from lowrank_rank import PrecisionAtKPerceptron
from lowrank_rank.precision_at_top._surrogates import perceptron_step
from lowrank_rank.surrogates import precision_surrogate
from lowrank_rank.target_losses import PrecisionAtK

from ._binary import binary_sets
from ._common import print_table
from ._papers_figures import draw

SETS = ("letter", "ijcnn1", "a9a", "generated")  # cover is not the paper's Covertype
METHODS = {
    "SGD@k-avg": ("sgd", "avg"),
    "SGD@k-max": ("sgd", "max"),
    "Perceptron@k-avg": ("perceptron", "avg"),
    "Perceptron@k-max": ("perceptron", "max"),
    "1PMB": ("sgd", "struct"),
}
STEPS = (0.01, 0.1, 1.0, 10.0)  # eta, chosen on the training rows
PENALTIES = (0.01, 1.0, 100.0)  # alpha of SVMperf, chosen there too
PASSES = (1, 2, 5, 10, 25)
TANGENTS = (5, 10, 20, 40, 80)
SHARES = (0.05, 0.25, 0.5, 0.75, 1.0)
BATCH_LENGTHS = (125, 250, 500, 1000, 2000)
SHARE, BATCH = 0.25, 500  # of the paper's figure 2


class Published:
    """One method of the paper; `run` gives the weights after some passes, and the seconds."""

    def __init__(self, method, eta, args, *, share=SHARE, batch=BATCH):
        self.update, self.surrogate = METHODS[method]
        self.eta, self.share, self.batch = eta, share, batch
        self.radius, self.average = args.radius, args.average

    def run(self, X, y, passes, seed):
        rng = np.random.default_rng(seed)
        square = np.mean(np.einsum("np,np->n", X, X))
        w, total, t, seconds, found = np.zeros(X.shape[1]), np.zeros(X.shape[1]), 0, 0.0, {}
        for n_pass in range(1, max(passes) + 1):
            start = process_time()
            for rows in np.array_split(rng.permutation(len(X)), max(1, len(X) // self.batch)):
                n_positives = int(y[rows].sum())
                if n_positives in (0, len(rows)):
                    continue
                t += 1
                w = self.step(w, X[rows], y[rows], n_positives, t, square)
                total += w
            seconds += process_time() - start
            if n_pass in passes:
                found[n_pass] = (total / t if self.average == "uniform" else w, seconds)
        return found

    def step(self, w, X, y, n_positives, t, square):
        """Algorithm 1, 2 or 3 on one batch, k the same fraction of its positives."""
        k = max(1, round(self.share * n_positives))
        if self.update == "perceptron":
            return w + perceptron_step(y, X @ w, k, surrogate=self.surrogate) @ X
        slope = precision_surrogate(y, X @ w, k, surrogate=self.surrogate)[1]
        w = w - self.eta / (k * square * np.sqrt(t)) * (slope @ X)
        return w * min(1.0, self.radius / (np.sqrt(square) * max(np.linalg.norm(w), 1e-300)))


def add_arguments(parser):
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    parser.add_argument("--rows", type=int, default=15_000, help="at most, of each set")
    parser.add_argument("--seeds", type=int, default=3, help="train-test splits")
    parser.add_argument("--average", choices=("uniform", "last"), default="uniform")
    parser.add_argument(
        "--radius", type=float, default=1000.0, help="of the ball, over the root of mean |x|^2"
    )
    parser.add_argument("--draw", type=Path, help="file for a picture of figures 2 and 3")


def splits(args):
    """70/30 splits of at most so many rows of each set: name, seed, X, y, X_test, y_test."""
    for name, load in binary_sets(args.data, args.tiny).items():
        if name not in args.sets:
            continue
        X, y = load()
        for seed in range(1 if args.tiny else args.seeds):
            rows = np.random.default_rng(seed).permutation(len(X))[: args.rows]
            parts = train_test_split(
                X[rows], y[rows], test_size=0.3, stratify=y[rows], random_state=seed
            )
            yield name, seed, *(parts[i] for i in (0, 2, 1, 3))


def precision(share, X, y, w):
    return PrecisionAtK(share=share).measure(y, X @ w)


def best_step(method, X, y, args, **settings):
    """eta of the highest training precision after 3 passes."""
    if METHODS[method][0] == "perceptron":
        return None

    def worth(eta):
        w, _ = Published(method, eta, args, **settings).run(X, y, (3,), 0)[3]
        return precision(settings.get("share", SHARE), X, y, w)

    return max(STEPS, key=worth)


def best_penalty(X, y, share):
    """alpha of SVMperf of the highest training precision after 40 tangents."""
    return max(
        PENALTIES,
        key=lambda alpha: precision(share, X, y, cutting_planes(X, y, share, 40, alpha)[0]),
    )


def cutting_planes(X, y, share, n_tangents, alpha):
    """SVMperf's problem after so many tangents: the weights, and the seconds of the fit."""
    model = PrecisionAtKPerceptron(
        target_loss=PrecisionAtK(share=share),
        solver="cutting_plane",
        max_iter=n_tangents,
        alpha=alpha,
        tol=1e-4,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # to stop early is the experiment
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


def collect(args, columns, fits, methods=(*METHODS, "SVMperf")):
    """Values by (set, method, column), lists over the splits; `fits` yields one for each column."""
    values = {}
    for name, *split in splits(args):
        for method in methods:
            for column, value in zip(columns, fits(method, *split), strict=True):
                values.setdefault((name, method, str(column)), []).append(value)
    return values


def time_rows(args):
    """Figure 2: test precision and training seconds after passes, or tangents."""
    values = {}
    for name, seed, X, y, X_test, y_test in splits(args):
        for method in (*METHODS, "SVMperf"):
            if method == "SVMperf":
                alpha = best_penalty(X, y, SHARE)
                found = {n: cutting_planes(X, y, SHARE, n, alpha) for n in TANGENTS}
            else:
                eta = best_step(method, X, y, args)
                found = Published(method, eta, args).run(X, y, PASSES, seed)
            for point, (w, seconds) in zip("12345", found.values(), strict=True):
                worth = precision(SHARE, X_test, y_test, w)
                values.setdefault((name, method, f"prec {point}"), []).append(worth)
                values.setdefault((name, method, f"s {point}"), []).append(seconds)
    rows = mean_rows(values, table="time")
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
                w = Published(method, eta, args, share=share).run(X, y, (10,), seed)[10][0]
            yield precision(share, X_test, y_test, w)

    rows = mean_rows(collect(args, shares, fits), table="depth")
    print_table("Figure 3 (a), (b): precision at a fraction of the positives, 10 passes", rows)
    return rows


def batch_rows(args):
    """Figure 3 (c)-(e): test precision by the length of the batches, and its variation."""
    lengths = BATCH_LENGTHS[:2] if args.tiny else BATCH_LENGTHS

    def fits(method, seed, X, y, X_test, y_test):
        eta = best_step(method, X, y, args)
        for batch in lengths:
            w = Published(method, eta, args, batch=batch).run(X, y, (10,), seed)[10][0]
            yield precision(SHARE, X_test, y_test, w)

    rows = mean_rows(collect(args, lengths, fits, METHODS), table="batch")
    for row in rows:
        values = [row[str(length)] for length in lengths]
        row["variation"] = 1.0 - min(values) / max(values)
    print_table(f"Figure 3 (c)-(e): precision@{SHARE:.0%} by batch length, 10 passes", rows)
    return rows


def run(args):
    rows = time_rows(args) + depth_rows(args) + batch_rows(args)
    if args.draw:
        draw(rows, args.draw)
    return rows
