"""Trees of two losses on two workers of a Dask cluster, beside one process and beside fewer rows.

generated: 50 features, 5 grades, lists of 100; the workers make their own rows. real: ClueWeb09.
CPU is that of all processes. The memory is the peak of each worker over what it had before the fit.
"""

from time import process_time

import numpy as np
from sklearn.base import clone

from lowrank_rank import (
    HistGradientBoostingRanker,
    OrderPreservingRegressor,
    StackingRanker,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.metrics import ndcg_score

from ._common import optional_peer, print_table
from ._sets import load_clueweb09
from .memory import graded, peak_gib

N_FEATURES, LENGTH, N_PARTITIONS = 50, 100, 8


def add_arguments(parser):
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--rows", type=int, default=1_000_000, help="generated")
    parser.add_argument("--trees", type=int, default=100, help="of each loss")


def run(args):
    """A row for each model."""
    lightgbm = optional_peer("lightgbm")
    if lightgbm is None or optional_peer("distributed") is None:
        return []
    n_trees = 4 if args.tiny else args.trees
    losses = ("lambdarank", "pairwise_squared")
    stack = StackingRanker(
        [
            (
                loss,
                lightgbm.LGBMRanker(
                    n_estimators=n_trees,
                    objective=boosting_objective(loss),
                    metric="None",
                    n_jobs=1,
                    verbose=-1,
                ),
            )
            for loss in losses
        ]
    )
    rows = []
    for part in args.part:
        make_partition, n_partitions, test = PARTS[part](args)
        found = list(on_cluster(stack, make_partition, n_partitions, test))
        data = [
            np.concatenate(columns)
            for columns in zip(*map(make_partition, range(n_partitions)), strict=True)
        ]
        found += in_memory(stack, data, test, n_trees)
        rows += [{"data": part, "rows": len(data[1]), **row} for row in found]
        print_table(f"Trees of two losses on two workers: {part}", rows)
    return rows


def on_cluster(stack, make_partition, n_partitions, test):
    """The stack on two workers, which keep their own partitions."""
    import dask.array as da
    from dask import delayed
    from distributed import Client, LocalCluster, wait

    from lowrank_rank.dask import fit

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        parts = [delayed(make_partition)(i) for i in range(n_partitions)]
        columns = []
        for number, shape in enumerate(
            [(np.nan, test[0].shape[1]), (np.nan,), (np.nan,)]
        ):
            arrays = [
                da.from_delayed(part[number], shape, dtype=float) for part in parts
            ]
            columns.append(da.concatenate(arrays, allow_unknown_chunksizes=True))
        X, y, qid = client.persist(columns)
        wait([X, y, qid])
        before = client.run(peak_gib)
        cpu_before = sum(client.run(process_time).values()) + process_time()
        model = fit(clone(stack), X, y, qid=qid, client=client)
        cpu = sum(client.run(process_time).values()) + process_time() - cpu_before
        peaks = client.run(peak_gib)
        extra = [peaks[worker] - before[worker] for worker in peaks]
    yield row_of("two losses, two workers", model, test, cpu, max(extra))


def in_memory(stack, data, test, n_trees):
    """The same boosters in one process, and models of this package."""
    X, y, qid = data
    tenth = qid % 10 == 0
    models = {
        "two losses, one process": (clone(stack), slice(None)),
        "HistGradientBoostingRanker": (
            HistGradientBoostingRanker(max_iter=2 * n_trees),
            slice(None),
        ),
        "HistGradientBoostingRanker, a tenth": (
            HistGradientBoostingRanker(max_iter=2 * n_trees),
            tenth,
        ),
        "OrderPreservingRegressor": (OrderPreservingRegressor(), slice(None)),
    }
    for name, (model, rows) in models.items():
        start = process_time()
        model.fit(X[rows], y[rows], qid=qid[rows])
        yield row_of(name, model, test, process_time() - start)


def row_of(name, model, test, cpu, extra=None):
    """The measure on the test lists with its standard error, CPU and memory."""
    X, y, qid = test
    values = ndcg_score(y, model.predict(X), qid=qid, k=10, average=None)
    values = values[~np.isnan(values)]
    row = {
        "model": name,
        "NDCG@10": float(values.mean()),
        "se": float(values.std(ddof=1) / np.sqrt(len(values))),
        "CPU s": cpu,
        "GiB a worker": extra,
    }
    print(row, flush=True)
    return row


# Data -------------------------------------------------------------------------------


def generated_part(args):
    n_rows = 2_000 if args.tiny else args.rows
    n_lists = n_rows // LENGTH // N_PARTITIONS

    def make_partition(number, n_lists=n_lists):
        rng = np.random.default_rng(number)
        X = rng.standard_normal((n_lists * LENGTH, N_FEATURES), dtype=np.float32)
        # Interactions and steps, which a linear model misses.
        score = X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + (X[:, 3] > 0.5) * X[:, 4]
        score = score + np.sin(2.0 * X[:, 5]) * X[:, 6] + 0.5 * X[:, 7:12].sum(axis=1)
        qid = number * n_lists + np.repeat(np.arange(n_lists), LENGTH)
        return X, graded(score, rng), qid

    return make_partition, N_PARTITIONS, make_partition(10**6, n_lists=300)


def real_part(args):
    X, y, codes = load_clueweb09(args.data)
    is_test = codes % 3 == 0
    order = np.argsort(codes[~is_test], kind="stable")
    kept = [column[~is_test][order] for column in (X, y, codes)]
    parts = list(zip(*(np.array_split(column, 4) for column in kept), strict=True))

    def make_partition(number):
        return parts[number]

    return make_partition, 4, (X[is_test], y[is_test], codes[is_test])


PARTS = {"generated": generated_part, "real": real_part}
