"""Readers and fits on a Dask cluster over their floors: rows of the benchmark of limits.

``ROWS`` is a table of functions ``row(tiny)`` that return what was timed, the seconds of it, those
of its floor, and the most that their ratio should be; None where a package is not installed.
Seconds are of processors: of this process, and with processes of Dask of the workers too.
"""

import tempfile
from functools import partial
from pathlib import Path
from time import process_time

import numpy as np
from sklearn.datasets import load_svmlight_file

from lowrank_rank import LowRankSurrogateRanker
from lowrank_rank.datasets import iter_lists, load_letor

from ._common import best_seconds, optional_peer
from ._fit_limits import documents
from .reading import N_FEATURES, write_file

REPEATS = 5


def read_all(path, **options):
    """Read every block of a file."""
    for _ in iter_lists(path, **options):
        pass


# Files ------------------------------------------------------------------------------


def parquet(n_rows, n_features, ids, tiny):
    """Blocks of whole lists over `column_stack` of pyarrow's batches.

    Text ids become objects in any case: the floor of text converts grades and ids too.
    """
    pyarrow = optional_peer("pyarrow.parquet")
    if pyarrow is None:
        return None
    X, y, qid = documents(n_rows, n_features, tiny)
    columns = {f"f{j}": x for j, x in enumerate(X.T)}
    columns |= {"y": y, "qid": np.char.add("q", qid.astype(str)) if ids == "text" else qid}
    n_columns = n_features + (2 if ids == "text" else 0)

    def floor():
        for batch in pyarrow.ParquetFile(path).iter_batches():
            arrays = [column.to_numpy(zero_copy_only=False) for column in batch.columns[:n_columns]]
            np.column_stack(arrays[:n_features])

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pyarrow.write_table(optional_peer("pyarrow").table(columns), path)
        calls = {"ours": partial(read_all, path), "floor": floor}
        seconds = best_seconds(calls, REPEATS, process_time)
    what = f"iter_lists / iter_batches and column_stack, {n_rows} x {n_features}, {ids} ids"
    return what, seconds["ours"], seconds["floor"], 2.0


def letor(name, read, tiny):
    """LETOR lines of 136 features over `load_svmlight_file`: .75 of its speed at least."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.txt"
        write_file(path, 3e5 if tiny else 1.5e7)
        calls = {
            "ours": partial(read, path),
            "floor": partial(load_svmlight_file, str(path), query_id=True),
        }
        seconds = best_seconds(calls, REPEATS, process_time)
    return f"{name} / load_svmlight_file", seconds["ours"], seconds["floor"], 1.0 / 0.75


# Dask -------------------------------------------------------------------------------


def on_dask(call, n_rows, n_parts, processes, tiny):
    """A ridge ranker, or Dask's own X'X, on persisted partitions over the fit in memory."""
    if optional_peer("distributed") is None:
        return None
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    from lowrank_rank.dask import DaskLowRankSurrogateRanker

    X, y, qid = documents(n_rows, 50, tiny)
    # Unnamed numbers of workers and threads are Dask's own choice, as users start it.
    with (
        LocalCluster(processes=processes, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        size = -(-len(y) // n_parts)
        data = [da.from_array(a, chunks=(size, -1)[: a.ndim]).persist() for a in (X, y, qid)]
        wait(data)

        def clock():
            workers = client.run(process_time).values() if processes else ()
            return process_time() + sum(workers)

        calls = {
            "fit": partial(DaskLowRankSurrogateRanker().fit, *data[:2], qid=data[2], client=client),
            "X'X": lambda: (data[0].T @ data[0]).compute(),
        }
        memory = partial(LowRankSurrogateRanker().fit, X, y, qid=qid)
        seconds = best_seconds({"ours": calls[call], "floor": memory}, REPEATS, clock)
    kind = "processes" if processes else "threads"
    bar = 3.0 if call == "fit" and n_rows > 100_000 else None
    what = f"{call} on Dask / fit in memory, {n_rows} x 50 in {n_parts}, {kind}"
    return what, seconds["ours"], seconds["floor"], bar


ROWS = {
    "parquet": partial(parquet, 100_000, 136, "integer"),
    "parquet 20 features": partial(parquet, 1_000_000, 20, "integer"),
    "parquet text ids": partial(parquet, 1_000_000, 20, "text"),
    "letor blocks": partial(letor, "iter_lists", read_all),
    "letor whole": partial(letor, "load_letor", load_letor),
    "letor width given": partial(
        letor, "iter_lists, n_features given", partial(read_all, n_features=N_FEATURES)
    ),
}
for n_rows in (100_000, 1_000_000):
    for kind in ("threads", "processes"):
        for call in ("fit", "X'X"):
            ROWS[f"dask {call} {n_rows} {kind}"] = partial(
                on_dask, call, n_rows, 10, kind == "processes"
            )
