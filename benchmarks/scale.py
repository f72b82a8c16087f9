"""More rows than memory: rows a second of each path over a floor in the same run, and peak memory.

The floor of ridge is ``X.T @ X`` of each block, that of an evaluation of L-BFGS two products
``X @ w`` of each block, in the type and from the place, memory or a memory map, that the path
reads.
``--figure`` times whole fits of a growing memory map instead, and draws them over the rows.
A process of its own writes an .npy file of float32 and reports the peak resident size of a fit of
it. The page cache of the file is not counted: the system takes it back at need.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from sklearn.base import clone

from lowrank_rank import LowRankSurrogateRanker, OrderPreservingRegressor
from lowrank_rank._blocks import Blocks, HeldBlocks
from lowrank_rank.fitting._statistics import Scaling
from lowrank_rank.order_preserving._problem import ScoreProblem, Summary, encode, read

from ._common import REPOSITORY, bar_row, best_seconds, print_table

N_FEATURES, LENGTH = 136, 100


def add_arguments(parser):
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the timed paths")
    parser.add_argument("--file-rows", type=int, default=1_000_000, help="rows of the .npy file")
    parser.add_argument(
        "--block", type=int, default=100_000, help="rows of a block, those of iter_lists"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--figure", type=Path, metavar="PNG", help="draw times of whole fits against rows here"
    )
    parser.add_argument("--in-process", metavar="FOLDER", help="fit here, print one JSON line")


def run(args):
    """Time the paths, and start the child that fits the file, or be it."""
    if args.tiny:
        args.rows, args.file_rows, args.block, args.repeats = 4_000, 8_000, 2_000, 1
    if args.in_process:
        print(json.dumps(fit_file(Path(args.in_process), args.file_rows, args.block)))
        return []
    if args.figure is not None:
        with tempfile.TemporaryDirectory() as folder:
            rows = list(curves(args, Path(folder)))
        print_table("Seconds of processor time (one thread) against rows", rows)
        draw(rows, args.figure)
        return rows
    with tempfile.TemporaryDirectory() as folder:
        rows = [*paths(args, Path(folder)), *peaks(args, folder)]
    print_table("Rows a second (processor time of one thread), and times over the floor", rows)
    return rows


# Time -------------------------------------------------------------------------------


class Cut:
    """Blocks of whole lists of arrays, again and again."""

    def __init__(self, X, y, qid, n_rows):
        self.arrays, self.n_rows = (X, y, qid), n_rows

    def __iter__(self):
        for start in range(0, len(self.arrays[1]), self.n_rows):
            yield tuple(array[start : start + self.n_rows] for array in self.arrays)


def documents(n_rows):
    """Features of float32, grades of a noisy linear score, and lists of 100 rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_FEATURES)).astype(np.float32)
    w = rng.normal(size=N_FEATURES) / np.sqrt(N_FEATURES)
    y = np.digitize(X @ w + rng.normal(size=n_rows), [0.5, 1.5, 2.0, 2.5]).astype(float)
    return X, y, np.arange(n_rows) // LENGTH


def paths(args, folder):
    """Each path and its floor, in turns."""
    X, y, qid = documents(args.rows)
    np.save(folder / "X.npy", X)
    mapped = np.load(folder / "X.npy", mmap_mode="r")
    for place, features in (
        ("memory, float64", X.astype(np.float64)),
        ("memory, float32", X),
        ("memory map, float32", mapped),
    ):
        blocks = Cut(features, y, qid, args.block)
        for what, ours, floor, bar in (
            *ridge_paths(features, y, qid, blocks),
            *evaluation_paths(features, y, qid, blocks),
        ):
            seconds = best_seconds({"ours": ours, "floor": floor}, args.repeats, process_time)
            yield bar_row(
                path=f"{what}, {place}",
                rows_per_s=args.rows / seconds["ours"],
                floor_rows_per_s=args.rows / seconds["floor"],
                value=seconds["ours"] / seconds["floor"],
                at_most=bar,
            )


def ridge_paths(X, y, qid, blocks):
    """Names, calls, floors and bars of ridge regression."""

    def floor():
        for block, _, _ in blocks:
            block.T @ block

    ridge = LowRankSurrogateRanker()
    if not isinstance(X, np.memmap):
        yield "ridge, fit", lambda: ridge.fit(X, y, qid=qid), floor, 1.5
    yield "ridge, blocks", lambda: clone(ridge).fit_blocks(blocks), floor, 1.5


def evaluation_paths(X, y, qid, blocks):
    """Names, calls, floors and bars of one evaluation of cross-entropy."""
    model = OrderPreservingRegressor()
    model._validate_X(X[:1], reset=True)
    loss = model._check_parameters()
    theta = np.random.default_rng(1).normal(size=(1, N_FEATURES + 1))
    w = theta[0, :-1].astype(X.dtype)

    def floor():
        for block, _, _ in blocks:
            block @ w
            block @ w

    kinds = {"blocks": Blocks(blocks)}
    if not isinstance(X, np.memmap):
        kinds["fit"] = HeldBlocks([(X, y, qid)])
    for name, source in kinds.items():
        batches = source.map(read, model, loss).map(encode, loss)
        summary = batches.sum(Summary.of, set())
        scaling = Scaling(summary.features.mean, summary.features.scale)
        surrogate = summary.resolve(model.surrogate)
        parts = batches.map(ScoreProblem, surrogate, summary, scaling)
        yield (
            f"evaluation, {name}",
            lambda parts=parts: parts.sum(ScoreProblem.value_and_gradient, theta),
            floor,
            2.0,
        )


# Time against rows -------------------------------------------------------------------


def curves(args, folder):
    """Seconds of fits by blocks of the first rows of a memory map, and of their floors."""
    X, y, qid = documents(args.file_rows)
    np.save(folder / "X.npy", X)
    X = np.load(folder / "X.npy", mmap_mode="r")
    for n_rows in np.geomspace(args.file_rows / 50, args.file_rows, 5).round(-2).astype(int):
        blocks = Cut(X[:n_rows], y[:n_rows], qid[:n_rows], args.block)
        regressor = OrderPreservingRegressor().fit_blocks(blocks)

        def floor(blocks=blocks):
            for block, _, _ in blocks:
                block.T @ block

        calls = {
            "ridge, fit_blocks": lambda blocks=blocks: LowRankSurrogateRanker().fit_blocks(blocks),
            "its floor, X.T @ X of each block": floor,
            f"cross-entropy, fit_blocks, {regressor.n_iter_} iterations": (
                lambda blocks=blocks: OrderPreservingRegressor().fit_blocks(blocks)
            ),
        }
        seconds = best_seconds(calls, args.repeats, process_time)
        for path, value in seconds.items():
            yield {"path": path, "rows": int(n_rows), "seconds": value}


def draw(rows, path):
    """Write a figure of the rows of `curves`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    styles = {"ridge": "o-", "its": "o--", "cross-entropy": "s-"}
    for kind, style in styles.items():
        some = [row for row in rows if row["path"].startswith(kind)]
        label = some[-1]["path"]
        axes.loglog([r["rows"] for r in some], [r["seconds"] for r in some], style, label=label)
    axes.set(xlabel=f"rows of {N_FEATURES} features in float32", ylabel="seconds, one thread")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, dpi=120)


# Memory -----------------------------------------------------------------------------


def peaks(args, folder):
    """What this command prints in a process of its own."""
    options = ["--file-rows", str(args.file_rows), "--block", str(args.block)]
    if args.tiny:
        options.append("--tiny")
    command = [sys.executable, "-m", "benchmarks", "scale", "--in-process", folder, *options]
    done = subprocess.run(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True)
    for found in json.loads(done.stdout.splitlines()[-1]):
        yield bar_row(at_most=1.0, **found)


def fit_file(folder, n_rows, block):
    """Write a file of float32 and fit it; peaks without pages that belong to the file."""
    X = np.lib.format.open_memmap(
        folder / "big.npy", mode="w+", dtype=np.float32, shape=(n_rows, N_FEATURES)
    )
    y = np.empty(n_rows)
    for start in range(0, n_rows, block):
        here = slice(start, min(start + block, n_rows))
        X[here], y[here], _ = documents(here.stop - here.start)
    X.flush()
    del X
    X = np.load(folder / "big.npy", mmap_mode="r")
    blocks = Cut(X, y, np.arange(n_rows) // LENGTH, block)
    rows = []
    for name, model in (
        ("ridge", LowRankSurrogateRanker()),
        ("cross-entropy", OrderPreservingRegressor()),
    ):
        start = perf_counter()
        model.fit_blocks(blocks)
        seconds = perf_counter() - start
        what = f"{name}, peak GiB, {n_rows} x {N_FEATURES}, {model.n_iter_} iterations"
        rows.append({"path": what, "rows_per_s": n_rows / seconds, "value": anonymous_gib()})
    return rows


def anonymous_gib():
    """Largest resident size so far; where the system tells, without the pages of files."""
    try:
        status = dict(
            line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines()
        )
        peak, files = (int(status[name].split()[0]) for name in ("VmHWM", "RssFile"))
        return (peak - files) / 2**20
    except (OSError, KeyError):
        import resource  # not on Windows

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
