"""Peak memory of fitting a large sparse X: 200,000 x 50,000 at 0.1 %, lists of 100.

Runs in a process of its own and reports the peak resident size of all of it: interpreter,
imports and the data (120 MB) included. Target: 2 GiB.
"""

import json
import subprocess
import sys
from time import perf_counter

import numpy as np
from scipy import sparse

from lowrank_rank import LowRankSurrogateRanker

from ._common import REPOSITORY, bar_row, print_table


def add_arguments(parser):
    parser.add_argument(
        "--in-process", action="store_true", help="fit here and print one JSON line"
    )


def run(args):
    """Start the child, or be it."""
    shape, per_row = ((2_000, 5_000), 5) if args.tiny else ((200_000, 50_000), 50)
    if args.in_process:
        result = fit_sparse(shape, per_row)
        print(json.dumps(result))
    else:
        result = in_child(["--tiny"] if args.tiny else [])
    peak = result.pop("peak_gib")
    rows = [bar_row(shape=f"{shape[0]} x {shape[1]}", **result, value=peak, at_most=2.0)]
    if not args.in_process:
        print_table("Peak resident memory of the process, GiB", rows)
    return rows


def in_child(options):
    """What this command prints in a process of its own."""
    command = [sys.executable, "-m", "benchmarks", "memory", "--in-process", *options]
    finished = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(finished.stdout.splitlines()[-1])


def fit_sparse(shape, per_row, length=100):
    """Fit lists of `length` documents with `per_row` features each, and look at the peak."""
    X, y, qid = sparse_documents(shape, per_row, length)
    start = perf_counter()
    ranker = LowRankSurrogateRanker(target_loss="ndcg@10").fit(X, y, qid=qid)
    seconds = perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, KiB elsewhere
    import resource  # not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {
        "fit_s": seconds,
        "solver": ranker.solver_,
        "n_iter": ranker.n_iter_,
        "peak_gib": peak / 2**30,
    }


def sparse_documents(shape, per_row, length):
    """Random CSR rows whose grades depend on a linear score of the features."""
    n_rows, n_features = shape
    rng = np.random.default_rng(0)
    columns = rng.integers(n_features, size=n_rows * per_row, dtype=np.int32)
    start = np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
    X = sparse.csr_matrix((rng.random(n_rows * per_row), columns, start), shape=shape)
    X.sum_duplicates()
    score = X @ rng.standard_normal(n_features)
    score += score.std() * rng.standard_normal(n_rows)
    y = np.searchsorted(np.quantile(score, [0.5, 0.75, 0.9, 0.97]), score).astype(float)
    return X, y, np.arange(n_rows) // length
