"""LETOR files: blocks of whole lists and whole files against scikit-learn's reader.

A generated file of 136 features, numbers of up to six digits, a third of them 0 and written, as in
MSLR-WEB. Times are ratios to ``load_svmlight_file`` on the same file, peaks are those of Python's
and NumPy's allocations, in a pass of their own.
"""

import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from lowrank_rank.datasets import iter_lists, load_letor

from ._common import bar_row, best_seconds, print_table

N_FEATURES = 136


def add_arguments(parser):
    parser.add_argument("--megabytes", type=float, default=30.0, help="size of the file")
    parser.add_argument("--repeats", type=int, default=3)


def run(args):
    megabytes, repeats = (0.3, 1) if args.tiny else (args.megabytes, args.repeats)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        n_rows = write_file(path, megabytes * 1e6)
        calls = {
            "load_svmlight_file": lambda: load_svmlight_file(str(path), query_id=True),
            "iter_lists": lambda: count_rows(path),
            "iter_lists, dense": lambda: count_rows(path, dense=True),
            "load_letor": lambda: load_letor(path),
        }
        seconds = best_seconds(calls, repeats)
        peaks = {name: peak_megabytes(call) for name, call in calls.items()}
        size = path.stat().st_size / 1e6
    floor = "load_svmlight_file"
    rows = [
        bar_row(
            group=f"{size:.0f} MB, {n_rows} rows",
            path=name,
            ours_s=seconds[name],
            peer_s=seconds[floor],
            value=seconds[name] / seconds[floor],
            at_most=1.0,
            mb_per_s=size / seconds[name],
            peak_mb=peaks[name],
        )
        for name in calls
        if name != floor
    ]
    print_table("Reading LETOR files, over load_svmlight_file", rows)
    print(f"load_svmlight_file: peak {peaks[floor]:.0f} MB")
    return rows


def count_rows(path, **options):
    blocks = iter_lists(path, n_features=N_FEATURES, rows_per_block=2000, **options)
    return sum(len(y) for _, y, _ in blocks)


def peak_megabytes(call):
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def write_file(path, n_bytes):
    """Write lists of 120 rows until the file has about so many bytes; returns the rows."""
    rng = np.random.default_rng(0)
    n_rows = 0
    with open(path, "w") as file:
        while file.tell() < n_bytes:
            values = rng.random((120, N_FEATURES)) * 10.0 ** rng.integers(0, 4, N_FEATURES)
            values[:, ::3] = np.round(values[:, ::3] * (rng.random((120, 46)) < 0.5))
            for row in values.tolist():
                pairs = " ".join(f"{j}:{v:.6g}" for j, v in enumerate(row, start=1))
                file.write(f"{n_rows % 5} qid:{n_rows // 120} {pairs} \n")
                n_rows += 1
    return n_rows
