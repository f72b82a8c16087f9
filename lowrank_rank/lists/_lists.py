"""Lists of rows from query ids, and orders and ranks within lists.

Several lists are one flat array plus offsets. In *grouped order* the rows of a list
stand next to each other, lists in order of first appearance, rows of a list in their
original order. The rest of the package works on grouped flat arrays and never sees an
id.
"""

from datetime import date, datetime
from fractions import Fraction
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np


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
        digests = b"".join(map(digest, python_ids(self.ids[:max_lists])))
        lengths = self.lengths[:max_lists].copy()  # a view would keep the whole array
        return np.frombuffer(digests, dtype=np.uint64), lengths

    @property
    def ends(self):
        """Digests of the ids of the first and the last row, each None without ids."""
        if self.ids is None:
            return None, None
        first, last = python_ids(self.ids[self.codes[[0, -1]]])
        return digest(first), digest(last)

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


# Ids --------------------------------------------------------------------------------


def plain(value):
    """Convert a NumPy scalar to a Python one, for messages."""
    return value.item() if isinstance(value, np.generic) else value


def codes_and_categories(qid):
    """Codes and categories of a pandas Categorical; else the ids as given, and None."""
    categorical = getattr(qid, "cat", qid)  # an index is its own accessor
    if not hasattr(categorical, "codes") or not hasattr(categorical, "categories"):
        return qid, None
    codes = np.asarray(categorical.codes)
    if np.any(codes < 0):
        return qid, None  # missing ids are refused with their row
    return codes, np.asarray(categorical.categories)


def without_fraction(one):
    """Convert a whole float to an integer: 1 and 1.0 are one id."""
    if isinstance(one, float | np.floating) and one % 1 == 0:
        return int(one)
    return one


def python_ids(ids):
    """List the ids of an array; dates keep their unit, which `tolist` would drop."""
    return list(ids) if ids.dtype.kind in "mM" else ids.tolist()


def digest(one):
    """Digest an id in 64 bits: fitted models keep no id in clear.

    Equal ids have the same digest, of whatever types they are: 1, 1.0 and True, (1,)
    and (1.0,), a date in days and in nanoseconds.
    """
    if type(one) not in (int, str):
        one = _canonical(one)
    return blake2b(f"[{one!r}]".encode(), digest_size=8).digest()


def _canonical(one):
    """Return what equal ids have in common, an object with one text."""
    if hasattr(one, "to_numpy") and getattr(one, "tzinfo", None) is None:
        one = one.to_numpy()  # a Timestamp or a Timedelta of pandas
    if isinstance(one, np.datetime64 | np.timedelta64):
        in_microseconds = one.astype(f"{one.dtype.kind}8[us]")
        if in_microseconds == one:
            one = in_microseconds
    one = plain(one)
    if isinstance(one, tuple):
        return tuple(map(_canonical, one))
    if isinstance(one, frozenset):
        return "set", sorted(repr(_canonical(part)) for part in one)
    if isinstance(one, str):
        return str.__str__(one)  # a member of an enumeration is its text
    if type(one) is date:
        return datetime(one.year, one.month, one.day)  # as NumPy compares days
    if hasattr(one, "as_integer_ratio"):
        exact = Fraction(*one.as_integer_ratio())
        return exact.numerator if exact.denominator == 1 else exact
    return one


def same_id(a, b):
    """Whether two single ids are equal, of whatever types they are."""
    is_equal = plain(a) == plain(b)
    # NumPy compares tuples item by item.
    return np.ndim(is_equal) == 0 and bool(is_equal)


def factorize(ids):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids.

    Parameters
    ----------
    ids : ndarray of shape (n_rows,)
        At least one; objects must be hashable.
    """
    if ids.dtype == object:
        codes, distinct = _hashed(ids)
        return codes, np.fromiter(distinct, dtype=object, count=len(distinct))
    # Ids mostly come in runs: only the first row of each run is looked up.
    is_new_run = np.concatenate([[True], (ids[1:] != ids[:-1]).astype(bool)])
    first_rows = np.flatnonzero(is_new_run)
    run_lengths = np.diff(np.append(first_rows, len(ids)))
    ids_of_runs = ids[first_rows]
    if ids_of_runs.dtype.kind in "SU":
        # Hashing takes a sixth of the time of sorting.
        codes, distinct = _hashed(ids_of_runs)
        distinct_ids = np.array(distinct, dtype=ids_of_runs.dtype)
    else:
        codes, distinct_ids = _sorted(ids_of_runs)
    return np.repeat(codes, run_lengths), distinct_ids


def _hashed(ids):
    """Codes of hashable ids in order of first appearance, and the distinct ids."""
    code_of: dict = {}
    codes = [code_of.setdefault(one, len(code_of)) for one in ids.tolist()]
    return np.array(codes, dtype=np.intp), list(code_of)


def _sorted(ids):
    """`_hashed` of numbers, by sorting."""
    keys = ids
    if ids.dtype.kind in "iu" and ids.min() >= 0:
        # Integers of 16 bits are sorted by radix, in linear time.
        keys = ids.astype(np.min_scalar_type(ids.max()))
    _, first, sorted_codes = np.unique(keys, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    code_of = np.empty_like(by_appearance)
    code_of[by_appearance] = np.arange(len(first))
    return code_of[sorted_codes], ids[first[by_appearance]]


def missing_ids(ids):
    """Whether each id, or a part of it, is missing or infinite."""
    if ids.dtype.names is not None:
        is_missing_row = np.zeros(len(ids), dtype=bool)
        for name in ids.dtype.names:
            parts = missing_ids(ids[name])
            is_missing_row |= parts.reshape(len(ids), -1).any(axis=1)
        return is_missing_row
    if ids.dtype.kind in "fc":
        return ~np.isfinite(ids)
    if ids.dtype.kind in "mM":
        return np.isnat(ids)
    if ids.dtype == object:
        flags = np.fromiter(map(is_missing, ids.ravel()), dtype=bool, count=ids.size)
        return flags.reshape(ids.shape)
    return np.zeros(len(ids), dtype=bool)


def is_missing(one):
    """Whether an id, or a part of it, is None, NaN, NaT or infinite."""
    if isinstance(one, tuple | frozenset):
        return any(map(is_missing, one))
    if isinstance(one, np.void) and one.dtype.names is not None:
        return bool(missing_ids(np.asarray(one).reshape(1))[0])
    if one is None:
        return True
    try:
        is_nan = bool(one != one)
    except TypeError:  # comparisons with pandas.NA have no truth value
        return True
    except ValueError:  # an array is not an id, and is refused as one
        return False
    return is_nan or (isinstance(one, float) and abs(one) == float("inf"))
