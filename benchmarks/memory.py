"""Peak memory of a process that fits many rows: a large sparse X, or a file larger than memory.

Each fit runs in a process of its own, and all of the process counts: interpreter, imports and data.
sparse: 200,000 x 50,000 at 0.1 %, lists of 100. file: a memory map of float32 with 136 features,
by ridge and by cross-entropy; its pages do not count, the system takes them back at need.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import sparse

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor

from ._common import REPOSITORY, print_table

N_FEATURES, BLOCK, LENGTH = 136, 100_000, 100


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, default=1_000_000, help="of the file")
    parser.add_argument(
        "--in-process", metavar="FOLDER", help="fit here, with files in FOLDER"
    )


def run(args):
    """A row for each fit."""
    args.rows = 4_000 if args.tiny else args.rows
    if args.in_process:
        rows = [
            row
            for part in args.part
            for row in PARTS[part](args, Path(args.in_process))
        ]
        print(json.dumps(rows))
        return rows
    rows = []
    for part in args.part:
        with tempfile.TemporaryDirectory() as folder:
            command = [
                sys.executable,
                "-m",
                "benchmarks",
                "memory",
                "--in-process",
                folder,
            ]
            command += ["--part", part, "--rows", str(args.rows)] + [
                "--tiny"
            ] * args.tiny
            done = subprocess.run(
                command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
            )
        rows += json.loads(done.stdout.splitlines()[-1])
    print_table("Peak memory of the process, GiB", rows)
    return rows


def sparse_part(args, folder):
    n_rows, n_features, per_row = (
        (2_000, 5_000, 5) if args.tiny else (200_000, 50_000, 50)
    )
    rng = np.random.default_rng(0)
    columns = rng.integers(n_features, size=n_rows * per_row, dtype=np.int32)
    starts = np.arange(0, n_rows * per_row + 1, per_row, dtype=np.int32)
    X = sparse.csr_matrix(
        (rng.random(len(columns)), columns, starts), shape=(n_rows, n_features)
    )
    X.sum_duplicates()
    y = graded(X @ rng.standard_normal(n_features), rng)
    start = perf_counter()
    ranker = LowRankSurrogateRanker().fit(X, y, qid=np.arange(n_rows) // LENGTH)
    yield row_of(f"ridge by {ranker.solver_}, {n_rows} x {n_features} sparse", start)


def graded(score, rng):
    score = score + score.std() * rng.standard_normal(len(score))
    return np.digitize(score, np.quantile(score, [0.5, 0.75, 0.9, 0.97])).astype(float)


class Blocks:
    """Blocks of whole lists of arrays, as often as asked for."""

    def __init__(self, *arrays):
        self.arrays = arrays

    def __iter__(self):
        for start in range(0, len(self.arrays[1]), BLOCK):
            yield tuple(array[start : start + BLOCK] for array in self.arrays)


def file_part(args, folder):
    rng, path, shape = (
        np.random.default_rng(0),
        folder / "X.npy",
        (args.rows, N_FEATURES),
    )
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    y = np.empty(args.rows)
    for start in range(0, args.rows, BLOCK):
        here = slice(start, min(start + BLOCK, args.rows))
        X[here] = rng.standard_normal((here.stop - start, N_FEATURES), dtype=np.float32)
        y[here] = graded(X[here, :5].sum(axis=1), rng)
    X.flush()
    del X
    blocks = Blocks(np.load(path, mmap_mode="r"), y, np.arange(args.rows) // LENGTH)
    for name, model in {
        "ridge": LowRankSurrogateRanker(),
        "cross-entropy": OrderPreservingRegressor(),
    }.items():
        start = perf_counter()
        model.fit_blocks(blocks)
        yield row_of(
            f"{name}, {args.rows} x {N_FEATURES}, {model.n_iter_} iterations", start
        )


def row_of(what, start):
    return {"fit": what, "seconds": perf_counter() - start, "GiB": peak_gib()}


def peak_gib():
    """Largest resident size so far; where the system tells, without the pages of files."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        if "RssFile" in lines:
            peak, files = (int(lines[name].split()[0]) for name in ("VmHWM", "RssFile"))
            return (peak - files) / 2**20
    import resource  # not on Windows

    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


PARTS = {"sparse": sparse_part, "file": file_part}
