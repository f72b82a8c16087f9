"""Blocks of whole lists, in memory, from disk or on a cluster."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from .validation._arrays import n_rows, shown
from .validation._kinds import arrive

# A fit by sums applies a function to every block of whole lists, and adds up the
# results. In memory one block is held, from disk the blocks are read again for every
# sum, and on a cluster they are futures (`lowrank_rank.dask`).


# What users give --------------------------------------------------------------------


def block_of(entries):
    """Complete a tuple (X, y), (X, y, qid) or (X, y, qid, sample_weight) with None."""
    is_tuple = isinstance(entries, tuple | list)
    if not is_tuple or not 2 <= len(entries) <= 4:
        what = f"{len(entries)} entries" if is_tuple else type(entries)
        raise ValueError(
            "A block is a tuple (X, y, qid) or (X, y, qid, sample_weight), got "
            f"{what}. datasets.iter_lists reads blocks from files."
        )
    return (*entries, *[None] * (4 - len(entries)))


def read_block(block, ranker, loss, *, one_list=False):
    """Read a block against the columns of the first block, which the ranker has."""
    X, y, qid, weights = block_of(block)
    return ranker._read(
        X, y, qid, weights, loss, reset=False, whole=False, one_list=one_list
    )


class GivenBlocks:
    """Blocks as the user gives them, each read by `block_of`, with at least one row.

    Parameters
    ----------
    source : iterable of tuples
    """

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        for number, entries in enumerate(self.source, start=1):
            block = block_of(entries)
            X = block[0]
            if not n_rows(X):
                raise ValueError(f"Block {number} has no rows: remove it.")
            yield block


def read_blocks(blocks, *, again=False):
    """Refuse an object without blocks, or an iterator if they are needed `again`."""
    arrive(blocks=blocks)
    if not isinstance(blocks, Iterable):
        raise TypeError(
            f"blocks must be an iterable of tuples (X, y, qid), got {shown(blocks)}."
        )
    if again and isinstance(blocks, Iterator):
        raise ValueError(
            "blocks can be read only once, and an iterative fit reads them again: give "
            "a list, or an object whose __iter__ starts again (iter_lists), not "
            f"{type(blocks).__name__}."
        )
    return GivenBlocks(blocks)


def first_block(blocks):
    """Return the first of the blocks; refuse none."""
    for block in blocks:
        return block
    raise ValueError("There are no blocks: at least one row is needed.")


# Lists must be whole ----------------------------------------------------------------


def check_has_ids(before, now, would_be="one list"):
    """Refuse rows without query ids after rows that had them."""
    if before and not now:
        raise ValueError(
            "Earlier batches had query ids but this one has none, so its rows would be "
            f"{would_be}: pass qid=..., or y as ranking_target(y, qid)."
        )


class EarlierLists:
    """Ids of the lists of earlier blocks, which no later block may have."""

    def __init__(self) -> None:
        self.ids: set = set()
        self.latest = np.zeros(0)  # of the latest block, not yet in `ids`

    def add(self, ids):
        """Refuse a list with rows in an earlier block; add the ids of a block."""
        if ids is None:
            return
        # A single block needs no set, which takes longer than its sums.
        self.ids.update(self.latest.tolist())
        self.latest = ids
        if not self.ids:
            return
        new_ids = ids.tolist()
        if not self.ids.isdisjoint(new_ids):
            refuse_cut_list(next(one for one in new_ids if one in self.ids))


def refuse_cut_list(one=None, what="list"):
    """Refuse a list with rows in two calls, blocks or parts.

    Models keep no ids: without the id of the list, `one`, the message says its place.
    """
    if one is None:
        name = f"{what} whose rows come last in one and first in the next"
    else:
        name = f"{what} {shown(one)}"
    raise ValueError(
        f"The {name} is split: its rows are in two calls of partial_fit, two blocks or "
        f"two parts. Put all rows of a {what} into one of them."
    )


# What fits by sums read -------------------------------------------------------------


class Blocks:
    """Blocks, and the functions to apply to each.

    The blocks of a list are held: `map` applies a function once. All other blocks are
    read again for every sum.

    Parameters
    ----------
    source : list or re-iterable
    steps : tuple of (callable, tuple)
        ``function(block, *args)``, one after another.
    """

    def __init__(self, source: Iterable[Any], steps: tuple[Any, ...] = ()) -> None:
        self.source = source
        self.steps = steps

    def __iter__(self) -> Iterator[Any]:
        for block in self.source:
            for function, args in self.steps:
                block = function(block, *args)
            yield block

    def map(self, function: Callable[..., Any], *args: Any) -> "Blocks":
        """Return blocks with ``function(block, *args)`` applied."""
        if isinstance(self.source, list):
            return Blocks([function(block, *args) for block in self])
        return Blocks(self.source, (*self.steps, (function, args)))

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum ``function(block, *args)`` over the blocks, in their order."""
        try:
            return reduce(add, (function(block, *args) for block in self))
        except TypeError:
            first_block(self.source)  # refuses an empty source in clear words
            raise
