"""Lists of rows from query ids, and orders and ranks within lists.

A batch of lists is one flat array plus offsets. In *grouped order* the rows of a list
stand next to each other, lists in order of first appearance, rows of a list in their
original order. The rest of the package works on grouped flat arrays and never sees an
id.
"""

from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ._arrays import check_unmasked, numbers, plain, slices


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
        categorical, categories = (
            getattr(qid, "cat", qid),
            None,
        )  # of a Series, or of an index
        if hasattr(categorical, "codes") and hasattr(categorical, "categories"):
            codes = np.asarray(categorical.codes)
            if not np.any(codes < 0):  # missing ids are refused later
                qid, categories = codes, np.asarray(categorical.categories)
        qid = id_array(qid)
        if n_rows is not None and len(qid) != n_rows:
            raise ValueError(
                f"qid has the length {len(qid)}, and there are {n_rows} rows: give one query id "
                "for each row of X. For sizes give numpy.repeat(numpy.arange(len(qid)), qid)."
            )
        codes, ids = factorize(qid)
        if categories is not None:
            ids = categories[ids]
        lengths = np.bincount(codes, minlength=len(ids))
        if np.all(codes[1:] >= codes[:-1]):
            return cls(lengths, None, ids)
        narrow = codes.astype(
            np.min_scalar_type(len(ids))
        )  # 16 bits are sorted by radix
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

    @cached_property
    def codes(self):
        """The list that each row belongs to, in the order of the rows."""
        return self.ungroup(self.index)

    def n_counted(self, weights):
        """Number of lists of positive weight, from the weights of the rows in their order."""
        return int(np.count_nonzero(self.sum(self.group(weights))))

    def of_rows(self, rows):
        """The lists of some rows, with ids if these have ids."""
        lists = RankingLists.from_qid(self.codes[rows])
        lists.ids = None if self.ids is None else self.ids[lists.ids]
        return lists

    def keys(self, most=None):
        """Digests of the ids and lengths of the lists, of the first `most`; None without ids."""
        if self.ids is None:
            return None
        digests = b"".join(map(digest, self.ids[:most].tolist()))
        lengths = self.lengths[:most].copy()  # the array behind may be large
        return np.frombuffer(digests, dtype=np.uint64), lengths

    @property
    def ends(self):
        """Digests of the ids of the first and the last row; None for each without ids."""
        if self.ids is None:
            return None, None
        ids = self.ids[self.codes[[0, -1]]].tolist()
        whole = [
            int(one) if isinstance(one, float) and one == int(one) else one
            for one in ids
        ]
        return tuple(map(digest, whole))  # batches may have ids 1 and 1.0

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
        return [
            (members, self.starts[members][:, np.newaxis] + np.arange(length))
            for length, members in zip(
                lengths, np.split(by_length, first[1:]), strict=True
            )
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

    def repeat(self, per_list):
        """Repeat one value per list over the rows of the list."""
        return np.repeat(per_list, self.lengths, axis=0)

    spread = repeat

    def select(self, kept_rows):
        """The lists that remain of some grouped rows, and which lists those are.

        Parameters
        ----------
        kept_rows : ndarray of bool, shape (n_rows,)

        Returns
        -------
        lists : RankingLists
            The lists of the kept rows, without empty lists.
        kept_lists : ndarray of int
            Indices of these lists.
        """
        lengths = np.bincount(self.index[kept_rows], minlength=self.n_lists)
        kept_lists = np.flatnonzero(lengths)
        return RankingLists(lengths[kept_lists]), kept_lists


def bounded_blocks(n_rows, row_size, max_entries=2**22):
    """Cut rows of `row_size` numbers into slices of at most `max_entries` numbers.

    A slice has at least one row. Without rows there is one empty slice, which keeps
    shapes defined.
    """
    rows_per_block = max(1, max_entries // max(row_size, 1))
    if n_rows <= rows_per_block:
        return [slice(0, n_rows)]
    return list(slices(n_rows, rows_per_block))


batches = bounded_blocks


def blocks_of_lists(lists, n_rows):
    """Ranges (first, last) of whole lists with about `n_rows` rows.

    Examples
    --------
    >>> blocks_of_lists(RankingLists([2, 2, 5, 1, 1]), 4)
    [(0, 2), (2, 3), (3, 5)]
    """
    ends = np.searchsorted(lists.offsets, np.arange(n_rows, lists.n_rows, n_rows))
    return list(pairwise(np.unique([0, *ends, lists.n_lists]).tolist()))


def id_array(qid):
    """One-dimensional array of ids; tuples and mixed types stay objects."""
    check_unmasked(qid, "qid")
    if isinstance(qid, str):
        raise ValueError(
            f"qid is the text {qid!r}: give the ids of the rows, as frame[{qid!r}]."
        )
    if not hasattr(qid, "__array__"):
        try:
            qid = list(qid)
        except TypeError:
            raise TypeError(f"qid must be an array-like of ids, got {qid!r}.") from None
        plain = len(set(map(type, qid))) == 1 and isinstance(qid[0], str | int | float)
        array = np.asarray(qid if plain else 0)
        lossy = plain and isinstance(qid[0], int) and array.dtype.kind not in "iub"
        # NumPy drops zero bytes at the end of strings.
        lossy = lossy or (
            plain and isinstance(qid[0], str) and any(q[-1:] == "\0" for q in qid)
        )
        if not plain or lossy:  # np.asarray would merge ["1", 1] and large integers
            return np.fromiter(qid, dtype=object, count=len(qid))
        qid = array
    qid = np.asarray(qid)
    if qid.ndim != 1:
        raise ValueError(f"qid must be one-dimensional, got the shape {qid.shape}.")
    return qid


def id_text(one, name):
    """An id as text, a whole float as an integer; refuses a missing id."""
    if is_missing(one):
        raise ValueError(
            f"{name} contains a missing or infinite id, {one!r}: drop such rows or give them an id."
        )
    whole = isinstance(one, float | np.floating) and one == int(one)
    return str(int(one) if whole else one)


def digest(one):
    """Digest of 64 bits of an id: fitted models keep no id in clear. Equal ids have the same."""
    parts = [plain(part) for part in (one if isinstance(one, tuple) else [one])]
    return blake2b(repr(parts).encode(), digest_size=8).digest()


def same_id(a, b):
    """Whether two single ids are equal, of whatever types they are."""
    equal = plain(a) == plain(b)
    return (
        bool(equal) if np.ndim(equal) == 0 else False
    )  # NumPy compares tuples item by item


def factorize(qid):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids."""
    if len(qid) == 0:
        raise ValueError("qid is empty: there must be at least one row.")
    if qid.dtype == object:
        try:
            codes, distinct = _hashed(qid)
        except TypeError as error:
            refuse_missing_ids(qid)
            raise TypeError(f"qid must hold hashable ids: {error}.") from None
        ids = np.fromiter(distinct, dtype=object, count=len(distinct))
        if _missing(ids).any():  # each NaN is a key of its own
            refuse_missing_ids(qid)
        return codes, ids
    refuse_missing_ids(qid)
    # Ids mostly come in runs: only the first row of each run is looked up.
    heads = np.flatnonzero(np.concatenate([[True], (qid[1:] != qid[:-1]).astype(bool)]))
    ids, lengths = qid[heads], np.diff(np.append(heads, len(qid)))
    if ids.dtype.kind in "SU":  # hashing takes a sixth of the time of sorting
        codes, distinct = _hashed(ids)
        return np.repeat(codes, lengths), np.array(distinct, dtype=ids.dtype)
    small = ids.dtype.kind in "iu" and ids.min() >= 0  # 16 bits are sorted by radix
    keys = ids.astype(np.min_scalar_type(ids.max())) if small else ids
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    place = np.empty_like(by_appearance)
    place[by_appearance] = np.arange(len(first))
    codes, ids = place[codes], ids[first[by_appearance]]
    return np.repeat(codes, lengths), ids


def _hashed(ids):
    """Codes 0, 1, ... of hashable ids in order of first appearance, and the distinct ids."""
    code_of: dict = {}
    codes = [code_of.setdefault(one, len(code_of)) for one in ids.tolist()]
    return np.array(codes, dtype=np.intp), list(code_of)


def codes_of(column, name):
    """`factorize` of a column of any ids; messages say `name` instead of qid."""
    try:
        return factorize(id_array(column))
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).replace("qid", name)) from None


def coded(columns, names):
    """Codes (n, k) of k columns of the same ids, called by `names`, and the distinct ids."""
    each = [
        codes_of(column, repr(name))
        for column, name in zip(columns, names, strict=True)
    ]
    check_consistent_length(*(codes for codes, _ in each))
    if (
        len({ids.dtype.kind for _, ids in each}) > 1
    ):  # NumPy would make strings of numbers
        each = [(codes, ids.astype(object)) for codes, ids in each]
    place, ids = factorize(np.concatenate([ids for _, ids in each]))
    places = np.split(place, np.cumsum([len(ids) for _, ids in each])[:-1])
    return np.column_stack(
        [p[codes] for p, (codes, _) in zip(places, each, strict=True)]
    ), ids


def refuse_missing_ids(qid):
    """Refuse missing and infinite ids; the message names the first row."""
    bad = _missing(qid)
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"qid contains a missing or infinite id (row {row}: {plain(qid[row])!r}): every row "
            "needs an id."
        )


def _missing(values):
    """Whether each id, or a part of it, is missing or infinite."""
    if values.dtype.names is not None:
        parts = [_missing(values[name]) for name in values.dtype.names]
        return np.logical_or.reduce(
            [part.reshape(len(values), -1).any(axis=1) for part in parts]
        )
    if values.dtype.kind in "fc":
        return ~np.isfinite(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype == object:
        flags = np.fromiter(
            map(is_missing, values.ravel()), dtype=bool, count=values.size
        )
        return flags.reshape(values.shape)
    return np.zeros(len(values), dtype=bool)


def is_missing(q):
    """Whether an id, or a part of it, is None, NaN, NaT or infinite."""
    if isinstance(q, tuple | frozenset):
        return any(map(is_missing, q))
    if isinstance(q, np.void) and q.dtype.names is not None:
        return bool(_missing(np.asarray(q).reshape(1))[0])
    try:
        return (
            q is None
            or bool(q != q)
            or (isinstance(q, float) and abs(q) == float("inf"))
        )
    except TypeError:  # comparisons with pandas.NA have no truth value
        return True
    except ValueError:
        raise TypeError(f"qid must hold hashable ids, got the array {q!r}.") from None


# Orders and ranks -------------------------------------------------------------------
#
# Ranks are 1-based, 1 = best, and higher scores are better. Tied scores have the mean
# value over all orders that agree with them: a quantity of the position is averaged
# over tied positions.


def sort_lists(scores, lists, *, stable=False):
    """Flat indices that sort the items of each list, best first.

    `stable` keeps the original order of equal scores. Measures do not need it: they
    average over ties.
    """
    order = np.empty(len(scores), dtype=np.intp)
    for _, rows in lists.same_length:
        if stable:
            columns = np.argsort(-scores[rows], axis=1, kind="stable")
        else:
            columns = np.argsort(scores[rows], axis=1)[:, ::-1]
        order[rows] = rows[:, :1] + columns
    return order


def tie_blocks(sorted_scores, lists):
    """Start of each block of equal scores within a list, or None if nothing is tied."""
    starts_block = np.empty(len(sorted_scores), dtype=bool)
    np.not_equal(sorted_scores[1:], sorted_scores[:-1], out=starts_block[1:])
    starts_block[lists.starts] = True
    if starts_block.all():
        return None
    return np.flatnonzero(starts_block)


def block_lengths(blocks, n_rows):
    """Number of items in each block of `tie_blocks`."""
    return np.diff(np.append(blocks, n_rows))


def ranks_from_scores(scores, lists):
    """Ranks 1..r of each list's items; equal scores keep the order of the rows."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[sort_lists(scores, lists, stable=True)] = lists.positions
    return ranks


def check_ranks(given, name, shape):
    """Ranks 1..r, or the ranks of a `Decoded`, as integers; refuses rows that are no order."""
    given = np.asarray(getattr(given, "ranks", given))
    ranks, r = numbers(given, name), shape[1]
    if ranks.shape != shape:
        raise ValueError(
            f"{name} must be the ranks 1..{r} of all items of {shape[0]} lists, shape {shape}, got "
            f"the shape {ranks.shape}."
        )
    wrong = np.any(np.sort(ranks, axis=1) != np.arange(1, r + 1), axis=1)
    for q in np.flatnonzero(wrong)[:1]:
        raise ValueError(
            f"{name}[{q}] must be the ranks 1..{r} of all items, 1 = best, got "
            f"{given[q].tolist()}. An order, item indices best first, has the ranks "
            "np.argsort(order) + 1."
        )
    return ranks.astype(np.intp, copy=False)


def ranks_from_orders(orders):
    """Ranks 1..r from orders (item indices, best first), shape (..., r)."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(1, orders.shape[-1] + 1), axis=-1)
    return ranks


def mid_ranks(scores, lists):
    """Mean rank of each item over all orders that agree with the scores."""
    order, ranks = sort_lists(scores, lists), np.empty(len(scores))
    ranks[order] = lists.positions
    blocks = tie_blocks(scores[order], lists)
    if blocks is not None:
        lengths = block_lengths(blocks, len(scores))
        ranks[order] = np.repeat(lists.positions[blocks] + (lengths - 1) / 2.0, lengths)
    return ranks


def mid_fractions(values, lists, weights):
    """Weighted fraction of the list below each item; ties and the item itself count one half.

    This is the mid-distribution function of each list, (r - mid_rank + 1/2) / r with
    equal weights. A constant factor of the weights of a list changes nothing. A row of
    weight 2 is the row twice.
    """
    order = sort_lists(values, lists)
    blocks = tie_blocks(values[order], lists)
    if blocks is None:
        blocks = np.arange(len(values))
    weight = weights[order]
    of_block = np.add.reduceat(weight, blocks)
    above = np.cumsum(weight) - weight
    above = above[blocks] - above[lists.starts][lists.index[blocks]]
    total = lists.sum(weights)[lists.index[blocks]]
    below = np.divide(
        above + of_block / 2.0, total, out=np.zeros(len(total)), where=total > 0
    )
    fractions = np.empty(len(values))
    fractions[order] = np.repeat(1.0 - below, block_lengths(blocks, len(values)))
    return fractions
