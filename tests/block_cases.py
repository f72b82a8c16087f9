"""Blocks of whole lists, cut at random."""

import numpy as np


def blocks_of(X, y, qid=None, weights=None, *, n=4, seed=0):
    """Random blocks (X, y, qid, weights) of grouped rows, or of rows that are lists."""
    rng = np.random.default_rng(seed)
    heads = (
        np.arange(1, len(y)) if qid is None else np.flatnonzero(qid[1:] != qid[:-1]) + 1
    )
    cuts = np.sort(rng.choice(heads, min(n - 1, len(heads)), replace=False))
    return [
        tuple(None if a is None else a[i:j] for a in (X, y, qid, weights))
        for i, j in zip([0, *cuts], [*cuts, len(y)], strict=True)
    ]


class Once:
    """An iterable of blocks that counts how often it is read."""

    def __init__(self, blocks):
        self.blocks, self.passes = blocks, 0

    def __iter__(self):
        self.passes += 1
        return iter(self.blocks)
