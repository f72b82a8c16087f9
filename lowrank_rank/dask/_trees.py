"""Trees of LightGBM on a Dask cluster, trained by LightGBM's own Dask estimator."""

import copy
import sys
import time
import warnings
from contextlib import nullcontext, redirect_stdout
from operator import itemgetter
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed
from distributed import wait
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_matrix, issparse

from ..lists._lists import RankingLists
from ..meta._wrapped import cloned, explain_long_query
from ..validation._check import refuse
from ..validation._checks_of_models import CHECKS_OF_WRAPPED
from ..validation._labels import refuse_zero_weights
from ._blocks import join


def fit_trees(model, blocks):
    """Fit a WrappedRanker of an LGBMRanker to `DaskBlocks`.

    Parameters
    ----------
    model : WrappedRanker
    blocks : DaskBlocks
    """
    from lightgbm.dask import DaskLGBMRanker

    client = blocks.client
    model._validate_X(blocks.first_row, reset=True)
    loss = model._checked_loss()
    rows = blocks.map(rows_of_trees, copy.copy(model), loss)
    sizes = np.array(list(rows.map(sizes_of)))
    model.target_loss_ = loss
    model.n_items_ = None
    model.n_lists_ = int(sizes[:, 1].sum())
    model._has_qid_ = True
    if model.n_lists_ == 0:
        refuse_zero_weights()
    estimator = cloned(model.estimator)
    settings = estimator.get_params()
    if hasattr(estimator.objective, "with_units_of"):
        settings["objective"] = estimator.objective.with_units_of(rows)
    parts, workers = one_part_a_worker(client, rows.futures, sizes[:, 0])
    has_weights = client.submit(_has_weights, parts[0], pure=False).result()
    columns = [columns_of(client, parts, workers, i) for i in range(3 + has_weights)]
    X, grades, lengths, *weights = columns
    del rows, parts  # the workers need only the joined parts
    watched: Any = WatchedClient(client, workers)
    trees = DaskLGBMRanker(**settings, client=watched)
    # LightGBM prints its search for ports even if it is not verbose. What other threads
    # print meanwhile passes.
    output = nullcontext()
    if settings.get("verbose", 1) < 0:
        output = redirect_stdout(WithoutPorts(sys.stdout))
    # LightGBM asks for a current client, and warns of its own parameter.
    with (
        output,
        client.as_current(),
        warnings.catch_warnings(),
        explain_long_query(estimator),
    ):
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
        trees.fit(
            X, grades, group=lengths, sample_weight=weights[0] if weights else None
        )
    model.estimator_ = trees.to_local()
    # Parameters as in a fit in memory, not those of the workers.
    model.estimator_.set_params(**estimator.get_params(), num_threads=estimator.n_jobs)
    return model


class WithoutPorts:
    """A stream that leaves out LightGBM's line about ports, and nothing else."""

    line = "Finding random open ports for workers"

    def __init__(self, stream):
        self.stream = stream
        self.has_left_out = False

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def write(self, text):
        """Write text. `print` writes a text first, and then the end of the line."""
        is_end = self.has_left_out and text == "\n"
        self.has_left_out = text == self.line
        if not is_end and not self.has_left_out:
            self.stream.write(text)
        return len(text)


# Blocks as LightGBM takes them ------------------------------------------------------


def rows_of_trees(block, model, loss):
    """Make (X, grades, lengths of the lists, weights or None), each list together."""
    X, y, qid, sample_weight = block
    reader = copy.copy(model)
    X, y, lists, weights = reader._read(
        X, y, qid, sample_weight, loss, reset=False, whole=False
    )
    refuse(CHECKS_OF_WRAPPED, ranker=type(reader).__name__, y=y)
    X, y, lists, weights = reader._grouped(X, y, lists, weights)
    if issparse(X):
        X = csr_matrix(X)  # LightGBM stacks matrices, not sparse arrays
    # LightGBM keeps grades and weights in float32.
    grades = reader._grades_of_fit(y).astype(np.float32)
    if sample_weight is None:
        return X, grades, lists.lengths, None
    return X, grades, lists.lengths, weights.astype(np.float32)


def sizes_of(block):
    """Numbers of rows, and of lists of positive weight."""
    _, grades, lengths, weights = block
    if weights is None:
        return len(grades), len(lengths)
    return len(grades), RankingLists(lengths).n_counted(weights)


def _has_weights(block):
    return block[3] is not None


# Placement --------------------------------------------------------------------------


def one_part_a_worker(client, futures, lengths):
    """Join blocks into one part for each worker, the same parts in every run.

    LightGBM's trees depend on the rows that share a worker: each worker chooses the
    bins of some features from its own rows.

    Parameters
    ----------
    client : distributed.Client
    futures : list of Future
    lengths : ndarray of shape (n_blocks,)
        Numbers of rows.

    Returns
    -------
    parts : list of Future
    workers : list of str
        The address of the worker of each part.
    """
    addresses = sorted(client.nthreads())
    n_parts = min(len(addresses), len(futures))
    # Parts of about equal size: a block is where its middle row is.
    middles = np.cumsum(lengths) - lengths / 2
    numbers = np.floor(middles / lengths.sum() * n_parts)
    distinct, part_of_block = np.unique(numbers, return_inverse=True)
    # Rows of each part on each worker: the worker with the most rows takes the part.
    is_at = client.who_has(futures)
    n_held = np.zeros((len(distinct), len(addresses)))
    for future, part, length in zip(futures, part_of_block, lengths, strict=True):
        for address in set(is_at[future.key]) & set(addresses):
            n_held[part, addresses.index(address)] += length
    _, worker_of_part = linear_sum_assignment(n_held, maximize=True)
    workers = [addresses[number] for number in worker_of_part]
    parts = []
    for part, address in enumerate(workers):
        blocks = [futures[i] for i in np.flatnonzero(part_of_block == part)]
        parts.append(_submit_to(client, address, join, blocks))
    return parts, workers


def _submit_to(client, address, function, argument):
    """Run a function on a worker, or on another if that worker is lost."""
    return client.submit(
        function, argument, workers=[address], allow_other_workers=True, pure=False
    )


def columns_of(client, parts, workers, i):
    """Dask array of the entries number `i` of all parts, each on its worker."""
    arrays = []
    for part, address in zip(parts, workers, strict=True):
        column = _submit_to(client, address, itemgetter(i), part)
        shape = client.submit(np.shape, column, pure=False).result()
        arrays.append(da.from_delayed(delayed(column), shape, dtype=np.float64))
    return da.concatenate(arrays)


#: Seconds until Dask knows of a lost worker: a connection that a process leaves is
#: closed at once.
_UNTIL_KNOWN = 10


class WatchedClient:
    """A client for LightGBM that keeps the order of the parts and finds lost workers.

    `who_has` keeps the order of the futures, in which LightGBM numbers the workers.
    Dask returns them in any order. `gather` raises an error soon after one of the
    workers is lost. Dask itself waits for the worker to come back.
    """

    def __init__(self, client, workers):
        self.client = client
        self.workers = workers

    def __getattr__(self, name):
        return getattr(self.client, name)

    def who_has(self, futures):
        """Addresses of the workers that have each future, by its key."""
        addresses = self.client.who_has(futures)
        return {future.key: addresses[future.key] for future in futures}

    def gather(self, futures):
        """Results of the futures, a list or a dict."""
        waiting = list(futures.values() if isinstance(futures, dict) else futures)
        while True:
            has_failed = any(future.status == "error" for future in waiting)
            lost = self._lost_workers()
            if lost:
                self.client.cancel(waiting)
                raise _worker_lost(lost)
            if has_failed or all(future.done() for future in waiting):
                return self._results(futures)
            try:
                wait(waiting, timeout=1)
            except TimeoutError:
                continue

    def _results(self, futures):
        try:
            return self.client.gather(futures)
        except Exception as error:
            # The other workers may fail before Dask knows of the lost one.
            if "Socket" not in str(error):
                raise
            deadline = time.monotonic() + _UNTIL_KNOWN
            while not self._lost_workers() and time.monotonic() < deadline:
                time.sleep(0.1)
            raise _worker_lost(self._lost_workers()) from error

    def _lost_workers(self):
        """Addresses of the workers that have left the cluster."""
        return sorted(set(self.workers) - set(self.client.nthreads()))


def _worker_lost(addresses):
    """Return the error that names lost workers, where Dask knows them."""
    lost = f"The worker {' and '.join(addresses)}" if addresses else "A worker"
    return RuntimeError(
        f"{lost} was lost while LightGBM trained, and LightGBM needs all of them. The "
        "model is unchanged: call fit again."
    )
