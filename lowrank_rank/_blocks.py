"""Blocks of whole lists: what is summed over them, wherever they are.

A fit by sums asks two things of its data: to apply a function to every block, and to add up what
comes out. In memory there is one block, held; from disk the blocks are read again for every sum; on
a cluster they are futures (`lowrank_rank.dask`).
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import add
from typing import Any, NamedTuple

from ._arrays import plain


class Block(NamedTuple):
    """Rows of whole lists, as `fit` takes them."""

    X: Any
    y: Any
    qid: Any = None
    sample_weight: Any = None

    @classmethod
    def of(cls, block):
        """Of a tuple (X, y), (X, y, qid) or (X, y, qid, sample_weight)."""
        if not isinstance(block, tuple | list) or not 2 <= len(block) <= 4:
            what = f"{len(block)} entries" if isinstance(block, tuple | list) else type(block)
            raise ValueError(
                "A block is a tuple (X, y, qid) of whole lists, or (X, y, qid, sample_weight), "
                f"with None where there is none; got {what}."
            )
        return cls(*block)


def check_iterable(blocks, *, again=False):
    """Refuse what gives no blocks, or, if they are needed `again`, gives them only once."""
    if not isinstance(blocks, Iterable):
        raise TypeError(f"blocks must be an iterable of tuples (X, y, qid), got {blocks!r}.")
    if again and isinstance(blocks, Iterator):
        raise ValueError(
            "blocks can be read only once, and an iterative fit reads them for every evaluation: "
            "give a list of blocks, or an object whose __iter__ starts anew each time (as "
            f"datasets.iter_lists does), not {type(blocks).__name__}."
        )
    return blocks


def check_has_ids(before, now, would_be="one list"):
    """Refuse rows without query ids after rows that had them."""
    if before and not now:
        raise ValueError(
            f"Earlier batches had query ids, this one has none and would be {would_be}: pass "
            "qid=..., or y as ranking_target(y, qid)."
        )


def cut_list(one):
    """The error of a list whose rows are in two batches, blocks or parts."""
    return ValueError(
        f"The list {plain(one)!r} is cut: it has rows in two calls of partial_fit, two blocks or "
        "two parts. Give each list in one of them."
    )


def check_new_lists(ids, seen):
    """Refuse a list of which an earlier block had rows; adds the ids to the set `seen`."""
    ids = [] if ids is None else ids.tolist()
    again = next((one for one in ids if one in seen), None)
    if again is not None:
        raise cut_list(again)
    seen.update(ids)


class Blocks:
    """Blocks that are read again for every sum, with what is done to each as it is read.

    Parameters
    ----------
    source : re-iterable
    steps : tuple of (callable, tuple)
        ``function(block, *args)``, one after another.
    """

    is_kept = False  # whether what `map` makes is there for every sum

    def __init__(self, source, steps=()):
        self.source, self.steps = source, steps

    def __iter__(self):
        for block in self.source:
            for function, args in self.steps:
                block = function(block, *args)
            yield block

    def map(self, function, *args):
        """The blocks that ``function(block, *args)`` makes of these."""
        return Blocks(self.source, (*self.steps, (function, args)))

    def sum(self, function, *args):
        """Sum of ``function(block, *args)`` over the blocks, in their order."""
        found = (function(block, *args) for block in self)
        try:
            return reduce(add, found)
        except TypeError:
            if next(iter(self.source), None) is None:
                raise ValueError("There are no blocks: at least one row is needed.") from None
            raise


class HeldBlocks(Blocks):
    """Blocks in memory: what is made of them is made once."""

    is_kept = True

    def map(self, function, *args):
        return HeldBlocks([function(block, *args) for block in self])
