"""Part "many_labels" of `targets`: sparse y against dense y, 100,000 labels, and a long tail."""

import json
import subprocess
import sys
from pathlib import Path
from time import process_time

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.target_losses import PropensityScoredPrecisionAtK

from ._common import REPOSITORY, bar_row, print_table

#: Rows, features, and labels of the two sizes; 30 features and 5 labels of a row are not 0.
SIZES = {False: (10_000, 1_000, 10_000, 100_000), True: (200, 50, 100, 300)}
SEEDS = (0, 1, 2)


def run(args):
    """Tables of times and memory, and of the long tail."""
    found = {name: in_child(name, args.tiny) for name in FITS}
    ours, dense, large = found["sparse"], found["dense"], found["large"]
    memory = ours["gib_of_fit"] / dense["gib_of_fit"]
    rows = [
        row("10,000 labels: CPU seconds over Ridge", ours["fit_s"] / dense["fit_s"], 1 / 8, ours),
        row("10,000 labels: memory over Ridge, without imports", memory, 1 / 8, ours),
        row("100,000 labels: CPU seconds", large["fit_s"], 15.0, large),
        row("100,000 labels: peak memory in GB", large["gib"] * 2**30 / 1e9, 1.2, large),
        row("100,000 labels: top 5 of 1,000 rows, CPU seconds", large["top_s"], 8.0, large),
    ]
    print_table("Sparse y", [{"fit": name, **values} for name, values in found.items()])
    print_table("Sparse y against its bars", rows)
    tail = long_tails(300 if args.tiny else 4_000, 50 if args.tiny else 500)
    print_table("Propensity-scored precision@3 on a long tail", tail)
    return rows + tail


def row(what, value, at_most, found):
    columns = {"part": "many_labels", "what": what, "fit_s": found["fit_s"]}
    return bar_row(**columns, value=value, at_most=at_most)


# Time and memory ------------------------------------------------------------------------


def in_child(name, tiny):
    """What a fit takes in a process of its own, which imports no other benchmark."""
    command = [sys.executable, "-m", "benchmarks._many_labels", name, *(["tiny"] if tiny else [])]
    finished = subprocess.run(
        command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(finished.stdout.splitlines()[-1])


def random_rows(rng, shape, per_row):
    """CSR rows with `per_row` random numbers each."""
    n, d = shape
    columns = rng.integers(d, size=n * per_row, dtype=np.int32)
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    matrix = sparse.csr_matrix((rng.random(n * per_row), columns, starts), shape)
    matrix.sum_duplicates()
    return matrix


def peak():
    """The peak resident size of this process, in GiB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage starts at the size of the process that started this one
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
        return int(line.split()[1]) / 2**20
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss: bytes there, KiB elsewhere
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30


def fitted(make, tiny, large=False, dense=False):
    """CPU seconds of a fit and of the best five labels; peak memory, the data included."""
    imports, (n, p, *labels) = peak(), SIZES[tiny]
    rng = np.random.default_rng(0)
    X, y = random_rows(rng, (n, p), 30), random_rows(rng, (n, labels[large]), 5)
    y.data[:] = 1.0
    y = y.toarray() if dense else y
    start = process_time()
    model = make().fit(X.toarray() if dense else X, y)
    found = {"fit_s": process_time() - start, "gib": peak(), "gib_of_fit": peak() - imports}
    if not dense:
        start = process_time()
        model.rank_top(X[:1000], 5)
        found |= {"top_s": process_time() - start, "gib_with_top": peak()}
    return found


def ranker():
    return LowRankSurrogateRanker(target_loss="precision@5")


FITS = {
    "dense": lambda tiny: fitted(lambda: Ridge(solver="cholesky"), tiny, dense=True),
    "sparse": lambda tiny: fitted(ranker, tiny),
    "large": lambda tiny: fitted(ranker, tiny, large=True),
}


# A long tail ----------------------------------------------------------------------------


def make_long_tail(n_rows, n_labels, seed, n_features=50, per_row=3):
    """Rows with `per_row` labels by Zipf's law; X is the sum of their directions, and noise.

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
    y : CSR matrix of shape (n_rows, n_labels)
    """
    rng = np.random.default_rng(seed)
    # The largest of these sums are a draw without replacement, label j by 1 / j.
    drawn = rng.gumbel(size=(n_rows, n_labels)) - np.log(np.arange(1, n_labels + 1))
    columns = np.argsort(-drawn, axis=1)[:, :per_row]
    starts = np.arange(0, n_rows * per_row + 1, per_row)
    y = sparse.csr_matrix((np.ones(columns.size), columns.ravel(), starts), drawn.shape)
    X = y @ rng.standard_normal((n_labels, n_features))
    return X + np.sqrt(per_row) * rng.standard_normal(X.shape), y


def long_tails(n_rows, n_labels):
    """Held-out propensity-scored precision@3 of both trainings, and its gain in points."""
    rows = []
    for seed in SEEDS:
        X, y = make_long_tail(n_rows, n_labels, seed)
        train, test = slice(n_rows // 2), slice(n_rows // 2, None)
        measure = PropensityScoredPrecisionAtK(
            3, PropensityScoredPrecisionAtK.label_propensities(y[train])
        )
        scored, plain = (
            LowRankSurrogateRanker(target_loss=loss).fit(X[train], y[train])
            for loss in (measure, "precision@3")
        )
        columns = {"seed": seed, "labels": n_labels}
        for name, model in {"propensity_scored": scored, "plain": plain}.items():
            columns[name] = measure.measure(y[test], model.predict(X[test]))
        gain = 100 * (columns["propensity_scored"] - columns["plain"])
        verdict = "ok" if gain >= 2.5 else "MISSED"
        rows.append({"part": "many_labels", **columns, "gain": gain, "at_least": 2.5})
        rows[-1]["verdict"] = verdict
    return rows


if __name__ == "__main__":
    print(json.dumps(FITS[sys.argv[1]](sys.argv[2:] == ["tiny"])))
