"""Blocks of whole lists, in memory, from disk or on a cluster."""

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any

from ._arrays import n_rows, plain

# A fit by sums applies a function to every block of whole lists, and adds up the
# results. In memory one block is held, from disk the blocks are read again for every
# sum, and on a cluster they are futures (`lowrank_rank.dask`).


def block_of(entries):
    """X, y, qid and sample_weight of a tuple (X, y), (X, y, qid) or (X, y, qid, sample_weight)."""
    if not isinstance(entries, tuple | list) or not 2 <= len(entries) <= 4:
        what = (
            f"{len(entries)} entries"
            if isinstance(entries, tuple | list)
            else type(entries)
        )
        raise ValueError(
            f"A block is a tuple (X, y, qid) or (X, y, qid, sample_weight), got {what}. "
            "datasets.iter_lists reads blocks from files."
        )
    return (*entries, *[None] * (4 - len(entries)))


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
            if not n_rows(block[0]):
                raise ValueError(f"Block {number} has no rows: remove it.")
            yield block


def read_blocks(blocks, *, again=False):
    """Refuse an object without blocks, or an iterator if they are needed `again`."""
    if not isinstance(blocks, Iterable):
        raise TypeError(
            f"blocks must be an iterable of tuples (X, y, qid), got {blocks!r}."
        )
    if again and isinstance(blocks, Iterator):
        raise ValueError(
            "blocks can be read only once, and an iterative fit reads them again: give a list, or "
            f"an object whose __iter__ starts again (iter_lists), not {type(blocks).__name__}."
        )
    return GivenBlocks(blocks)


def check_has_ids(before, now, would_be="one list"):
    """Refuse rows without query ids after rows that had them."""
    if before and not now:
        raise ValueError(
            f"Earlier batches had query ids but this one has none, so its rows would be "
            f"{would_be}: pass qid=..., or y as ranking_target(y, qid)."
        )


def refuse_cut_list(one=None, what="list"):
    """Refuse a list with rows in two calls, blocks or parts; models keep no ids to name it."""
    name = f"{what} whose rows come last in one and first in the next"
    raise ValueError(
        f"The {name if one is None else f'{what} {plain(one)!r}'} is split: its rows are in two "
        f"calls of partial_fit, two blocks or two parts. Put all rows of a {what} into one of them."
    )


def check_new_lists(ids, seen):
    """Refuse a list with rows in an earlier block; adds the ids to the set `seen`."""
    ids = [] if ids is None else ids.tolist()
    again = next((one for one in ids if one in seen), None)
    if again is not None:
        refuse_cut_list(again)
    seen.update(ids)


def first_block(blocks):
    """The first of the blocks; refuses none."""
    for block in blocks:
        return block
    raise ValueError("There are no blocks: at least one row is needed.")


class Blocks:
    """Blocks that are read again for every sum, and the functions to apply to each.

    Parameters
    ----------
    source : re-iterable
    steps : tuple of (callable, tuple)
        ``function(block, *args)``, one after another.
    """

    def __init__(self, source: Iterable[Any], steps: tuple[Any, ...] = ()) -> None:
        self.source, self.steps = source, steps

    def __iter__(self) -> Iterator[Any]:
        for block in self.source:
            for function, args in self.steps:
                block = function(block, *args)
            yield block

    def map(self, function: Callable[..., Any], *args: Any) -> "Blocks":
        """Blocks with ``function(block, *args)`` applied."""
        return Blocks(self.source, (*self.steps, (function, args)))

    def sum(self, function: Callable[..., Any], *args: Any) -> Any:
        """Sum of ``function(block, *args)`` over the blocks, in their order."""
        try:
            return reduce(add, (function(block, *args) for block in self))
        except TypeError:
            first_block(self.source)
            raise


class HeldBlocks(Blocks):
    """Blocks in memory: `map` applies functions once."""

    def map(self, function, *args):
        return HeldBlocks([function(block, *args) for block in self])
