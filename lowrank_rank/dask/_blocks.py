"""Blocks of whole lists on a Dask cluster, from partitions of collections."""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import dask.array as da
import numpy as np
from dask import delayed, is_dask_collection
from distributed import default_client
from sklearn.base import is_classifier

from .._blocks import Blocks
from ..validation._arrays import (
    check_same_index,
    n_rows,
    stacked,
    take_rows,
)
from ..validation._check import InputError, refuse
from ..validation._checks_of_collections import (
    CHECKS_OF_COLLECTIONS,
    CHECKS_OF_PARTITIONS,
)
from ..validation._findings import found
from ..validation._ids import read_lists
from ..validation._labels import refuse_ids_beside_grades

# Blocks on a cluster ----------------------------------------------------------------


class DaskBlocks(Blocks):
    """Blocks as futures: workers apply functions to them, and sums come back.

    Dask remembers how each future was made, and makes the blocks of a lost worker
    again.
    """

    def __init__(self, client: Any, futures: list[Any], first_row: Any = None) -> None:
        self.client = client
        self.futures = futures
        self.first_row = first_row

    def of_lists(self, is_chosen: list[np.ndarray]) -> "DaskBlocks":
        """Blocks of some of the lists; `is_chosen` has the flags of each block.

        Blocks without a chosen list are left out.
        """
        futures = []
        flags = []
        for future, of_block in zip(self.futures, is_chosen, strict=True):
            if of_block.any():
                futures.append(future)
                flags.append(of_block)
        chosen = self.client.map(_rows_of_lists, futures, flags, pure=False)
        return DaskBlocks(self.client, chosen, self.first_row)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.client.gather(self.futures))

    def map(self, function: Callable[..., Any], *args: Any) -> "DaskBlocks":
        """Blocks with ``function(block, *args)`` applied by the workers."""
        repeated = [[arg] * len(self.futures) for arg in args]
        futures = self.client.map(function, self.futures, *repeated, pure=False)
        return DaskBlocks(self.client, futures)

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum in the order of the blocks, so that every run gives the same digits."""
        return reduce(add, self.map(function, *args))

    def total(self, function: Callable[..., Any], add: Callable[..., Any]) -> Any:
        """Sum of p x p numbers of each block; a worker adds up eight at a time."""
        parts = [delayed(function)(block) for block in self.futures]
        while len(parts) > 1:
            groups = [parts[first : first + 8] for first in range(0, len(parts), 8)]
            parts = [delayed(reduce)(add, group) for group in groups]
        return self.client.compute(parts[0]).result()


# Partitions -------------------------------------------------------------------------


def pieces_of(collection, like=None):
    """Delayed partitions of a collection, with the row chunks of the array `like`."""
    if collection is None:
        return None
    if not isinstance(collection, da.Array):
        # The optimiser of frames would join partitions of narrow columns, and leave
        # those of X.
        return collection.to_delayed(optimize_graph=False)
    row_chunks = collection.chunks[0]
    has_known_lengths = isinstance(like, da.Array)
    if has_known_lengths and like.shape[0] == collection.shape[0]:
        row_chunks = like.chunks[0]
    # Whole rows: one chunk of all columns.
    chunks = dict.fromkeys(range(1, collection.ndim), -1)
    chunks[0] = row_chunks
    return np.ravel(collection.rechunk(chunks).to_delayed()).tolist()


def _block(number, X, y, qid, weights):
    """Make a block of a partition; y of a single column becomes a vector."""
    parts = {"X": X, "y": y, "qid": qid, "sample_weight": weights}
    lengths = {name: n_rows(part) for name, part in parts.items() if part is not None}
    refuse(CHECKS_OF_PARTITIONS, number=number, lengths=lengths)
    refuse_ids_beside_grades(y)
    try:
        check_same_index(**parts)
    except InputError as error:
        message = f"Partition {number}: {error}"
        raise type(error)(message, error.check, error.remedies) from None
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if hasattr(qid, "to_numpy"):
        qid = qid.to_numpy()
    if np.ndim(y) == 2 and np.shape(y)[1] == 1:
        y = y[:, 0]
    return X, y, qid, weights


def _ids_and_first_row(block):
    """Distinct query ids and the features of the first row; None without rows."""
    X, y, qid, _ = block
    if not n_rows(y):
        return None
    ids = None if qid is None else read_lists(qid).ids
    return ids, take_rows(X, [0])


def _partitions(client, collections):
    """`DaskBlocks` of whole lists from partitions, without the empty ones."""
    X = collections["X"]
    pieces = {name: pieces_of(one, like=X) for name, one in collections.items()}
    counts = {name: len(one) for name, one in pieces.items() if one is not None}
    refuse(CHECKS_OF_COLLECTIONS, collections=collections, n_partitions=counts)
    columns = list(pieces.values())
    n_partitions = counts["X"]
    absent = [None] * n_partitions
    columns = [absent if pieces is None else pieces for pieces in columns]
    blocks = [
        delayed(_block)(number, *pieces)
        for number, pieces in enumerate(zip(*columns, strict=True))
    ]
    descriptions = [delayed(_ids_and_first_row)(block) for block in blocks]
    computed = client.compute(blocks + descriptions)
    descriptions = client.gather(computed[n_partitions:])
    futures = []
    ids = []
    first_rows = []
    for future, description in zip(computed[:n_partitions], descriptions, strict=True):
        if description is None:
            continue
        futures.append(future)
        ids.append(description[0])
        first_rows.append(description[1])
    refuse(CHECKS_OF_PARTITIONS, first_rows=first_rows)
    if collections["qid"] is not None:
        futures = whole_lists(client, futures, ids)
    return DaskBlocks(client, futures, first_rows[0])


def _rows_of_lists(block, is_chosen):
    """Rows of a block in some of its lists; `is_chosen` has a flag for each id."""
    lists = read_lists(block[2])
    rows: Any = np.flatnonzero(lists.ungroup(lists.repeat(is_chosen)))
    if rows[-1] - rows[0] == len(rows) - 1:
        rows = slice(rows[0], rows[-1] + 1)  # views, no copies
    return tuple(None if part is None else take_rows(part, rows) for part in block)


def join(blocks):
    """Concatenate blocks."""
    if len(blocks) == 1:
        return blocks[0]
    columns = zip(*blocks, strict=True)
    return tuple(None if parts[0] is None else stacked(parts) for parts in columns)


def whole_lists(client: Any, futures: list[Any], distinct: Any) -> list[Any]:
    """Move the rows of each list to its first partition; return futures of blocks.

    `distinct` has the distinct query ids of each partition.
    """
    # The first partition of each id, and the one of each list of each partition.
    first_partition: dict = {}
    homes = []
    for number, ids in enumerate(distinct):
        of_ids = [first_partition.setdefault(one, number) for one in ids.tolist()]
        homes.append(np.array(of_ids))
    n_moved = [np.count_nonzero(home != number) for number, home in enumerate(homes)]
    if not any(n_moved):
        return futures
    if max(n_moved) > 1:
        found(
            "unsorted rows",
            "The rows are not sorted by qid: a shuffle brings the lists together, and "
            "moves nearly all of X between workers. Sort by qid once (set_index) and "
            "store the result.",
        )
    sources = []
    targets = []
    is_chosen = []
    for future, home in zip(futures, homes, strict=True):
        for target in np.unique(home):
            sources.append(future)
            targets.append(target)
            is_chosen.append(home == target)
    moved = client.map(_rows_of_lists, sources, is_chosen, pure=False)
    parts: dict[int, list] = {}
    for target, rows in zip(targets, moved, strict=True):
        parts.setdefault(target, []).append(rows)
    return client.map(join, list(parts.values()), pure=False)


def blocks_of(model, client, X, y, qid, weights):
    """`DaskBlocks` of whole lists."""
    collections = {"X": X, "y": y, "qid": qid, "sample_weight": weights}
    names = [name for name, one in collections.items() if is_dask_collection(one)]
    refuse(
        CHECKS_OF_COLLECTIONS,
        collections=collections,
        dask_names=names,
        needs_ids=getattr(y, "ndim", 1) == 1 and not is_classifier(model),
    )
    client = default_client() if client is None else client
    return _partitions(client, collections)
