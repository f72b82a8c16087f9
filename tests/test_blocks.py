"""Blocks of whole lists: what is applied to them and summed."""

import numpy as np
import pytest

from lowrank_rank._blocks import Block, Blocks, HeldBlocks, check_iterable

from .block_cases import Once


def test_blocks_are_read_for_every_sum_and_held_ones_made_once():
    made = []

    def double(block):
        made.append(block)
        return 2 * block

    source = Once([1, 2, 3])
    blocks = Blocks(source).map(double).map(np.add, 1)
    assert [blocks.sum(np.multiply, 10) for _ in range(2)] == [150, 150]
    assert (source.passes, made) == (2, [1, 2, 3, 1, 2, 3])
    held = HeldBlocks([1, 2, 3]).map(double)
    assert [held.sum(np.multiply, 10) for _ in range(2)] == [120, 120]
    assert len(made) == 9


def test_what_is_no_block_is_refused():
    assert Block.of(([1], [2])) == ([1], [2], None, None)
    for wrong in ([1], (1, 2, 3, 4, 5), np.ones((3, 3)), None):
        with pytest.raises(ValueError, match="tuple"):
            Block.of(wrong)
    with pytest.raises(TypeError, match="iterable"):
        check_iterable(None)
    with pytest.raises(ValueError, match="only once"):
        check_iterable(iter([]), again=True)
    check_iterable([], again=True)
    with pytest.raises(ValueError, match="no blocks"):
        Blocks([]).sum(len)
