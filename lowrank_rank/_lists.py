"""Which rows form a list: the only module that knows what a qid is.

A batch of lists is one flat array plus offsets. *Grouped order* means that the
rows of a list stand next to each other, lists in order of first appearance, rows
within a list in their original order. Everything else in the package works on
grouped flat arrays and never sees an id.
"""

from collections import defaultdict
from functools import cached_property
from itertools import count, pairwise

import numpy as np
from sklearn.utils import gen_batches

from ._arrays import check_unmasked, plain

_BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, and of no short pattern
_ROWS_AT_ONCE = 2**13  # of letters of strings


class RankingLists:
    """A partition of rows into lists: lengths, and how to bring rows together.

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
    >>> lists = RankingLists.from_qid(["b", "a", "b"])
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
    def from_qid(cls, qid, n_rows=None):
        """Lists from one id per row; ``qid=None`` is one list of `n_rows` rows."""
        if qid is None:
            return cls([n_rows])
        qid, categories = _categories(qid)
        qid = id_array(qid)
        if n_rows is not None and len(qid) != n_rows:
            raise ValueError(
                f"qid has the length {len(qid)}, and there are {n_rows} rows: give one query id "
                "for each row of X."
            )
        codes, ids = factorize(qid)
        if categories is not None:
            ids = categories[ids]
        lengths = np.bincount(codes, minlength=len(ids))
        if np.all(codes[1:] >= codes[:-1]):
            return cls(lengths, None, ids)
        narrow = codes.astype(np.min_scalar_type(len(ids)))  # 16 bits are sorted by radix
        return cls(lengths, np.argsort(narrow, kind="stable"), ids)

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

    @property
    def ends(self):
        """The lists of the first and the last row, as the rows came."""
        if self.order is None:
            return 0, self.n_lists - 1
        at = [int(np.flatnonzero(self.order == row)[0]) for row in (0, self.n_rows - 1)]
        return tuple(np.searchsorted(self.offsets, at, side="right") - 1)

    @cached_property
    def positions(self):
        """1-based position of each grouped row in its list."""
        return np.arange(1, self.n_rows + 1) - np.repeat(self.starts, self.lengths)

    @cached_property
    def same_length(self):
        """For each length that occurs: the lists, and their grouped rows as a matrix.

        What works on rows of a matrix then works on ragged lists too, with a loop over the
        distinct lengths only and no padding.
        """
        by_length = np.argsort(self.lengths, kind="stable")
        lengths, first = np.unique(self.lengths[by_length], return_index=True)
        return [
            (members, self.starts[members][:, np.newaxis] + np.arange(length))
            for length, members in zip(lengths, np.split(by_length, first[1:]), strict=True)
        ]

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

    def spread(self, per_list):
        """Repeat one value per list over the rows of the list."""
        return np.repeat(per_list, self.lengths, axis=0)

    def select(self, kept_rows):
        """The lists that remain of some grouped rows, and which lists those are.

        Parameters
        ----------
        kept_rows : ndarray of bool, shape (n_rows,)

        Returns
        -------
        lists : RankingLists
            Of the kept rows, grouped; a list that keeps no row is not among them.
        kept_lists : ndarray of int
            Indices of the lists that keep a row.
        """
        lengths = np.bincount(self.index[kept_rows], minlength=self.n_lists)
        kept_lists = np.flatnonzero(lengths)
        return RankingLists(lengths[kept_lists]), kept_lists


def batches(n_lists, entries, max_entries=2**22):
    """Slices of lists with at most so many entries together, at least one list each.

    Without any list there is one empty slice, so that shapes are known.
    """
    step = max(1, max_entries // max(entries, 1))
    return [slice(0, n_lists)] if n_lists <= step else list(gen_batches(n_lists, step))


def blocks_of_lists(lists, n_rows):
    """Pairs (first, last) of ranges of lists with about so many rows, no list cut.

    Examples
    --------
    >>> blocks_of_lists(RankingLists([2, 2, 5, 1, 1]), 4)
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.searchsorted(lists.offsets, np.arange(n_rows, lists.n_rows, n_rows))
    return list(pairwise(np.unique([0, *ends, lists.n_lists]).tolist()))


def _categories(qid):
    """Codes and categories of categorical ids in pandas; other ids as they are, and None."""
    categorical = getattr(qid, "cat", qid)  # a Series has them there, an index itself
    if not (hasattr(categorical, "codes") and hasattr(categorical, "categories")):
        return qid, None
    codes = np.asarray(categorical.codes)
    if np.any(codes < 0):
        return qid, None  # missing ids are refused as those of other arrays are
    return codes, np.asarray(categorical.categories)


def id_array(qid):
    """One-dimensional array of ids; tuples and mixed types stay what they are."""
    check_unmasked(qid, "qid")
    if not hasattr(qid, "__array__"):
        try:
            qid = list(qid)
        except TypeError:
            raise TypeError(
                f"qid must be an array-like with one id per row, got {qid!r}."
            ) from None
        plain = len({type(q) for q in qid}) == 1 and isinstance(qid[0], str | int | float)
        integers = plain and isinstance(qid[0], int)
        lossy = integers and np.asarray(qid).dtype.kind not in "iub"
        if not plain or lossy:  # np.asarray would merge ["1", 1] and large integers
            return np.fromiter(qid, dtype=object, count=len(qid))
    qid = np.asarray(qid)
    if qid.ndim != 1:
        raise ValueError(
            f"qid must be one-dimensional, one id per row, got an array of shape {qid.shape}."
        )
    return qid


def same_id(a, b):
    """Whether two single ids are equal, of whatever types they are."""
    equal = a == b
    return bool(equal) if np.ndim(equal) == 0 else False  # a number and a tuple: item by item


def factorize(qid):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids."""
    if len(qid) == 0:
        raise ValueError("qid is empty: there must be at least one row.")
    if qid.dtype == object:
        return _factorize_objects(qid)
    refuse_missing_ids(qid)
    # Ids mostly come in runs: only the head of each run has to be looked up.
    heads = np.flatnonzero(np.concatenate([[True], (qid[1:] != qid[:-1]).astype(bool)]))
    values = qid[heads]
    ids, first, codes = _distinct(values)
    by_appearance = np.argsort(first)
    place = np.empty_like(by_appearance)
    place[by_appearance] = np.arange(len(ids))
    codes, ids = place[codes], ids[by_appearance]
    return np.repeat(codes, np.diff(np.append(heads, len(qid)))), ids


def _factorize_objects(qid):
    try:
        codes, first = _codes_by_hash(qid.tolist())
    except TypeError as error:
        refuse_missing_ids(qid)
        raise TypeError(
            f"qid must hold hashable ids (numbers, strings, tuples): {error}."
        ) from None
    ids = qid[first]
    if _missing(ids).any():  # NaN is a key of its own: each that is missing is among the ids
        refuse_missing_ids(qid)
    return codes, ids


def _codes_by_hash(values):
    """Codes of a list of hashable values, and where each code appears first."""
    table: defaultdict = defaultdict(count().__next__)
    codes = np.fromiter(map(table.__getitem__, values), dtype=np.intp, count=len(values))
    is_first = np.diff(np.maximum.accumulate(codes), prepend=-1) > 0
    return codes, np.flatnonzero(is_first)


def checked_ids(qid):
    """Array of ids; refuses those that are missing or cannot be hashed, and no ids at all."""
    codes, categories = _categories(qid)
    if categories is not None and len(codes):
        factorize(id_array(categories))
        return categories[codes]
    qid = id_array(qid)
    if qid.dtype == object or len(qid) == 0:
        factorize(qid)
    else:
        refuse_missing_ids(qid)
    return qid


def _distinct(values):
    """Distinct values, where each appears first, and which one each entry is."""
    if values.dtype.kind in "iu":
        low = values.min()
        span = int(values.max()) - int(low) + 1
        if span <= 2 * len(values):  # a table rather than a sort
            unsigned = f"u{values.dtype.itemsize}"  # a difference may not fit the signed type
            offset = (values - low).astype(unsigned).astype(np.intp)
            first = np.full(span, -1)
            first[offset[::-1]] = np.arange(len(values))[::-1]  # the last one written stays
            present = np.flatnonzero(first >= 0)
            code = np.cumsum(first >= 0) - 1
            return values[first[present]], first[present], code[offset]
    if values.dtype.kind in "US" and values.dtype.itemsize:  # slow to sort: by a number for each
        _, first, code = np.unique(_fingerprints(values), return_index=True, return_inverse=True)
        if (values[first][code] == values).all():
            return values[first], first, code
    return np.unique(values, return_index=True, return_inverse=True)


def _fingerprints(values):
    """A number for each of some strings of one type; two that differ seldom have the same."""
    letter = f"u{np.dtype(values.dtype.kind + '1').itemsize}"
    letters = np.ascontiguousarray(values).view(letter).reshape(len(values), -1)
    powers = np.multiply.accumulate(np.full(letters.shape[1], _BASE, dtype=np.uint64))
    blocks = gen_batches(len(values), _ROWS_AT_ONCE)
    return np.concatenate([letters[rows].astype(np.uint64) @ powers for rows in blocks])


def refuse_missing_ids(qid):
    """Name the first row whose id is missing or infinite."""
    bad = _missing(qid)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"qid contains a missing or infinite id (row {row}: {plain(qid[row])!r}): every row "
            "needs the id of its query. Drop such rows or give them an id."
        )


def _missing(values):
    """Which rows lack an id, or a part of one: NaN is equal to nothing, not even to itself."""
    if values.dtype.names is not None:
        parts = [_missing(values[name]) for name in values.dtype.names]
        return np.logical_or.reduce([part.reshape(len(values), -1).any(axis=1) for part in parts])
    if values.dtype.kind in "fc":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype == object:
        flags = np.fromiter(map(_is_missing, values.ravel()), dtype=bool, count=values.size)
        return flags.reshape(values.shape)
    return np.zeros(len(values), dtype=bool)


def _is_missing(q):
    if isinstance(q, tuple | frozenset):
        return any(map(_is_missing, q))
    if isinstance(q, np.void) and q.dtype.names is not None:
        return bool(_missing(np.asarray(q).reshape(1))[0])
    try:
        return q is None or bool(q != q) or (isinstance(q, float) and abs(q) == float("inf"))
    except TypeError:  # pandas.NA compares to NA, which has no truth value
        return True
    except ValueError:
        raise TypeError(
            f"qid must hold hashable ids (numbers, strings, tuples), got the array {q!r}."
        ) from None
