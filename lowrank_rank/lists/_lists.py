"""Lists of rows from query ids, and orders and ranks within lists.

Several lists are one flat array plus offsets. In *grouped order* the rows of a list
stand next to each other, lists in order of first appearance, rows of a list in their
original order. The rest of the package works on grouped flat arrays and never sees an
id.
"""

from functools import cached_property
from itertools import pairwise

import numpy as np

from ._ids import digest, factorize, without_fraction


class RankingLists:
    """A partition of rows into lists.

    Parameters
    ----------
    lengths : ndarray of shape (n_lists,)
        Number of rows of each list, each at least 1.
    order : ndarray of shape (n_rows,) or None, default=None
        Row indices in grouped order; None if the rows are grouped already.
    ids : ndarray of shape (n_lists,) or None, default=None
        The id of each list; None where lists have no ids.

    Examples
    --------
    >>> import numpy as np
    >>> lists = RankingLists.of_ids(np.array(["b", "a", "b"]))
    >>> lists.ids.tolist(), lists.lengths.tolist()
    (['b', 'a'], [2, 1])
    >>> lists.group(np.array([1.0, 2.0, 3.0])).tolist()
    [1.0, 3.0, 2.0]
    """

    def __init__(self, lengths, order=None, ids=None):
        self.lengths = np.asarray(lengths, dtype=np.intp)
        self.order = order
        self.ids = ids
        self.offsets = np.concatenate([[0], np.cumsum(self.lengths)])

    @classmethod
    def equal(cls, n_lists, length):
        """`n_lists` lists of the same `length`: the rows of a matrix, flattened."""
        return cls(np.full(n_lists, length))

    @classmethod
    def of_ids(cls, ids):
        """Make lists from the id of each row, an array of ids that are checked."""
        codes, distinct = factorize(ids)
        return cls.of_codes(codes, distinct)

    @classmethod
    def of_codes(cls, codes, ids):
        """Make lists from codes in order of first appearance, and the distinct ids."""
        lengths = np.bincount(codes, minlength=len(ids))
        if np.all(codes[1:] >= codes[:-1]):
            return cls(lengths, order=None, ids=ids)
        # Integers of 16 bits are sorted by radix, in linear time.
        narrow_codes = codes.astype(np.min_scalar_type(len(ids)))
        order = np.argsort(narrow_codes, kind="stable")
        return cls(lengths, order=order, ids=ids)

    @property
    def n_lists(self):
        return len(self.lengths)

    @property
    def n_rows(self):
        return int(self.offsets[-1])

    @property
    def starts(self):
        """Grouped position of the first row of each list."""
        return self.offsets[:-1]

    @cached_property
    def common_length(self):
        """The length that all lists share, or None where they differ."""
        first = int(self.lengths[0]) if self.n_lists else None
        return first if np.all(self.lengths == first) else None

    @cached_property
    def index(self):
        """The list that each grouped row belongs to."""
        return np.repeat(np.arange(self.n_lists), self.lengths)

    @cached_property
    def codes(self):
        """The list that each row belongs to, in the order of the rows."""
        return self.ungroup(self.index)

    def n_counted(self, weights):
        """Count the lists of positive weight, from the weights of the rows as given."""
        return int(np.count_nonzero(self.sum(self.group(weights))))

    def of_rows(self, rows):
        """Return the lists of a part of the rows, with ids if these have ids."""
        lists = RankingLists.of_ids(self.codes[rows])
        # The ids of these lists are codes of the lists in `self`.
        lists.ids = None if self.ids is None else self.ids[lists.ids]
        return lists

    def keys(self, max_lists=None):
        """Digests of the ids, and the lengths, of the first `max_lists` lists.

        None without ids.
        """
        if self.ids is None:
            return None
        digests = b"".join(map(digest, self.ids[:max_lists].tolist()))
        lengths = self.lengths[:max_lists].copy()  # a view would keep the whole array
        return np.frombuffer(digests, dtype=np.uint64), lengths

    @property
    def ends(self):
        """Digests of the ids of the first and the last row, each None without ids."""
        if self.ids is None:
            return None, None
        first, last = self.ids[self.codes[[0, -1]]].tolist()
        return digest(without_fraction(first)), digest(without_fraction(last))

    @cached_property
    def positions(self):
        """1-based position of each grouped row in its list."""
        return np.arange(1, self.n_rows + 1) - np.repeat(self.starts, self.lengths)

    @cached_property
    def same_length(self):
        """For each distinct length the lists, and their grouped rows as a matrix.

        A loop over the distinct lengths then replaces padding of ragged lists.
        """
        by_length = np.argsort(self.lengths, kind="stable")
        lengths, first = np.unique(self.lengths[by_length], return_index=True)
        matrices = []
        members_of_lengths = np.split(by_length, first[1:])
        for length, members in zip(lengths, members_of_lengths, strict=True):
            rows = self.starts[members][:, np.newaxis] + np.arange(length)
            matrices.append((members, rows))
        return matrices

    def group(self, rows):
        """Bring an array with one entry per row into grouped order."""
        return rows if self.order is None else rows[self.order]

    def ungroup(self, grouped):
        """Bring a grouped array back into the order of the rows."""
        if self.order is None:
            return grouped
        rows = np.empty_like(grouped)
        rows[self.order] = grouped
        return rows

    def sum(self, grouped):
        """Sum over each list of a grouped array, shape (n_lists, ...)."""
        if self.common_length is not None:
            return grouped.reshape(self.n_lists, -1, *grouped.shape[1:]).sum(axis=1)
        return np.add.reduceat(grouped, self.starts, axis=0)

    def has_order(self, grouped):
        """Whether a list has two different values of a grouped array."""
        highest = np.maximum.reduceat(grouped, self.starts)
        lowest = np.minimum.reduceat(grouped, self.starts)
        return bool(np.any(highest > lowest))

    def repeat(self, per_list):
        """Repeat one value per list over the rows of the list."""
        return np.repeat(per_list, self.lengths, axis=0)

    def select(self, is_kept):
        """Keep a part of the grouped rows, and the lists that have such rows.

        Parameters
        ----------
        is_kept : ndarray of bool, shape (n_rows,)

        Returns
        -------
        lists : RankingLists
            The lists of the kept rows, without empty lists.
        kept_lists : ndarray of int
            Indices of these lists.
        """
        lengths = np.bincount(self.index[is_kept], minlength=self.n_lists)
        kept_lists = np.flatnonzero(lengths)
        return RankingLists(lengths[kept_lists]), kept_lists


# Blocks of rows and of lists --------------------------------------------------------


def bounded_blocks(n_rows, row_size, max_entries=2**22):
    """Cut rows of `row_size` numbers into slices of at most `max_entries` numbers.

    A slice has at least one row. Without rows there is one empty slice, which keeps
    shapes defined.
    """
    rows_per_block = max(1, max_entries // max(row_size, 1))
    if n_rows <= rows_per_block:
        return [slice(0, n_rows)]
    return list(slices(n_rows, rows_per_block))


def blocks_of_lists(lists, n_rows):
    """Ranges (first, last) of whole lists with about `n_rows` rows.

    Examples
    --------
    >>> blocks_of_lists(RankingLists([2, 2, 5, 1, 1]), 4)
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.searchsorted(lists.offsets, np.arange(n_rows, lists.n_rows, n_rows))
    bounds = np.unique([0, *ends, lists.n_lists])
    return list(pairwise(bounds.tolist()))


def slices(n_rows, size):
    """Slices of `size` rows, the last one of the remaining rows."""
    # As scikit-learn's gen_batches, without its checks, which take longer.
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))
