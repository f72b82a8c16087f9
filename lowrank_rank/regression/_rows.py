"""Sums over dense rows in runs: products, squares and means, centred before or after.

Rows are read in blocks that `_statistics` cuts, each multiplied while it is in the cache.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse

_ROWS_OF_PROBE = 512
_SMALL_IN_SINGLE = 1e-30  # of a sum of squares: parts of it may have vanished
#: Of the squares of a feature in a block, what centring must leave to be done after the products.
_LEAST_LEFT = {np.dtype(np.float64): 1e-2, np.dtype(np.float32): 5e-2}
#: From which BLAS sums a run of rows: it is faster, and its last digits depend on their order.
_MANY_COLUMNS = 100


class Runs(NamedTuple):
    """Rows in the order of their groups: which they are, and where each group starts and ends."""

    order: np.ndarray | None
    offsets: np.ndarray

    @classmethod
    def of(cls, n_rows, codes, rows):
        """Of all n rows, or of some; `codes` None is one group."""
        n_rows = n_rows if rows is None else len(rows)
        if codes is None or n_rows == 0:
            return cls(rows, np.array([0, n_rows]))
        codes = codes if rows is None else codes[rows]
        if np.any(codes[1:] < codes[:-1]):
            by_group = np.argsort(codes, kind="stable")
            codes = codes[by_group]
            rows = by_group if rows is None else rows[by_group]
        heads = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        return cls(rows, np.concatenate([[0], heads, [n_rows]]))

    def take(self, values):
        """An array with one entry for each row of X, in this order."""
        return values if self.order is None else values.take(self.order, axis=0)

    def rows(self, X, here, scratch):
        """Some rows of X, in this order: where they stand, or in the first array of `scratch`."""
        rows, out = here if self.order is None else self.order[here], scratch[0]
        n = here.stop - here.start
        if self.order is None and X.dtype == out.dtype and X.flags.c_contiguous:
            return X[rows]
        if self.order is None or X.dtype != out.dtype:
            out[:n] = X[rows]
        else:
            np.take(X, rows, axis=0, out=out[:n], mode="clip")
        return out[:n]

    @property
    def codes(self):
        """The group of each row in this order."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def pieces(self, step):
        """Offsets of groups, long ones cut after every `step` rows, the group of each piece, and
        where the pieces are cut into blocks of at most twice as many rows."""
        counts = -(-np.diff(self.offsets) // step)
        group = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        starts = self.offsets[group] + step * place
        heads = np.flatnonzero(np.diff(starts // step)) + 1
        bounds = np.concatenate([[0], heads, [len(group)]])
        return np.append(starts, self.offsets[-1]), group, bounds


def is_near_zero(X, weights, runs, dtype):
    """Whether centring the first rows leaves enough of the squares of every feature."""
    here = slice(0, min(len(weights), _ROWS_OF_PROBE))
    cuts = np.append(runs.offsets[runs.offsets < here.stop], here.stop)
    weights = weights[here]
    block = X[here if runs.order is None else runs.order[here]].astype(np.float64, copy=False)
    means, totals = means_of_runs(block, weights, cuts)
    squares = weights @ block**2
    return bool(np.all(squares - totals @ means**2 >= _LEAST_LEFT[dtype] * squares))


def has_left_single(X, products, moments):
    """Whether squares of features have left the range of single precision."""
    if not np.isfinite(products).all():
        return True
    small = np.diag(products) + moments.total * moments.mean**2 < _SMALL_IN_SINGLE
    return bool(small.any() and np.any(X[:, small]))


class DenseSums:
    """Sums over blocks of dense rows: products of centred features, or only their squares.

    Rows are multiplied `as_they_are`, and the part of the means subtracted from the products, as
    long as this cancels no digit that counts; from the first block on where it would, the rows are
    centred first.
    """

    def __init__(self, products, cross, dtype, gram):
        self.products, self.cross, self.dtype, self.gram = products, cross, np.dtype(dtype), gram
        self.squares, self.as_they_are = np.zeros(len(cross)), False
        self.of_block = np.empty(products.shape, dtype=dtype)

    @classmethod
    def zeros(cls, p, d, dtype, gram):
        """Of p features and d targets; `gram` False is squares only."""
        products = np.zeros((p, p) if gram else (0, 0), order="F")  # the upper triangle counts
        return cls(products, np.zeros((p, d)), dtype, gram)

    def add(self, block, t, root, cuts, scratch):
        """Add rows, by the roots of their weights; means and weights of the runs between `cuts`.

        `block` may be a part of the first of the two arrays of `scratch`, which are overwritten.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # see `has_left_single`
            if self.as_they_are:
                found = self._add_raw(block, t, root, cuts, scratch)
                if found is not None:
                    return found
                self.as_they_are = False
            return self._add_centred(block, t, root, cuts, scratch)

    def _add_centred(self, block, t, root, cuts, scratch):
        """`add` of rows minus the means of their runs."""
        weights, (rows, spread) = root[:, 0] ** 2, scratch[:, : len(block)]
        means, totals = means_of_runs(block, weights, cuts)
        of_row = np.repeat(np.arange(len(means)), np.diff(cuts))
        near = means.astype(self.dtype, copy=False)
        np.subtract(block, np.take(near, of_row, axis=0, out=spread, mode="clip"), out=rows)
        if np.any(root != 1.0):
            rows *= root.astype(self.dtype, copy=False)
        if self.gram:
            self.products += np.matmul(rows.T, rows, out=self.of_block).T
            self.cross += rows.T @ (t * root).astype(self.dtype, copy=False)
        else:
            self.squares += np.einsum("np,np->p", rows, rows)
        return means, totals

    def _add_raw(self, block, t, root, cuts, scratch):
        """`add` without centring; None, and nothing is added, where that is not accurate."""
        weighted, is_weighted = root.astype(self.dtype, copy=False), np.any(root != 1.0)
        if is_weighted:
            block = np.multiply(block, weighted, out=scratch[1, : len(block)])
        products = np.matmul(block.T, block, out=self.of_block)
        totals = np.add.reduceat(root[:, 0] ** 2, cuts[:-1])
        inverse = np.sqrt(np.divide(1.0, totals, out=np.zeros(len(totals)), where=totals > 0))
        near = _sums_of_runs(block, weighted[:, 0], cuts) * inverse[:, np.newaxis]  # in double
        squares = np.diag(products)
        left = squares - np.einsum("np,np->p", near, near)
        if np.any(left < _LEAST_LEFT[self.dtype] * squares):
            return None
        self.products += products.T
        # By NumPy: the threads of SciPy's BLAS and of NumPy's, in turns, wait for each other.
        self.products -= near.T @ near
        t = t * root if is_weighted else t
        self.cross += block.T @ t.astype(self.dtype, copy=False)
        self.cross -= near.T @ (_sums_of_runs(t, root[:, 0], cuts) * inverse[:, np.newaxis])
        return near * inverse[:, np.newaxis], totals

    def found(self):
        """The products, those with the targets, and the squares of the features."""
        if not self.gram:
            return self.products, self.cross, self.squares
        products = np.triu(self.products) + np.triu(self.products, 1).T
        return products, self.cross, np.diag(products)


def _sums_of_runs(values, weights, cuts):
    """Weighted sums of the runs of rows between the cuts."""
    if len(cuts) == 2 and values.shape[1] >= _MANY_COLUMNS:
        return (weights @ values)[np.newaxis]
    n, starts = len(weights), cuts.astype(np.int32)  # as SciPy would make them, with more passes
    rows = np.arange(n, dtype=np.int32)
    return sparse.csr_matrix((weights, rows, starts), shape=(len(starts) - 1, n)) @ values


def means_of_runs(block, weights, cuts):
    """Weighted means of the runs of rows between the cuts, and their total weights."""
    totals = np.add.reduceat(weights, cuts[:-1])
    inverse = np.divide(1.0, totals, out=np.zeros(len(totals)), where=totals > 0)
    return _sums_of_runs(block, weights, cuts) * inverse[:, np.newaxis], totals
