"""Lists of rows from query ids, and orders and ranks within lists.

Several lists are one flat array plus offsets. In *grouped order* the rows of a list
stand next to each other, lists in order of first appearance, rows of a list in their
original order. The rest of the package works on grouped flat arrays and never sees an
id.
"""

from collections.abc import Mapping, Set
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise

import numpy as np
from sklearn.utils.validation import check_consistent_length

from ._arrays import (
    check_unmasked,
    numbers,
    plain,
    shown,
    slices,
)


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
        """Make lists from one id per row; ``qid=None`` is one list of `n_rows` rows."""
        if qid is None:
            return cls([n_rows])
        qid, categories = _codes_and_categories(qid)
        qid = id_array(qid)
        if n_rows is not None and len(qid) != n_rows:
            raise ValueError(
                f"qid has the length {len(qid)}, and there are {n_rows} rows: give one "
                "query id for each row of X. For sizes give "
                "numpy.repeat(numpy.arange(len(qid)), qid)."
            )
        codes, ids = factorize(qid)
        if categories is not None:
            ids = categories[ids]
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
        lists = RankingLists.from_qid(self.codes[rows])
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
        return digest(_without_fraction(first)), digest(_without_fraction(last))

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


# Ids --------------------------------------------------------------------------------


def _codes_and_categories(qid):
    """Codes and categories of a pandas Categorical; else the ids as given, and None."""
    categorical = getattr(qid, "cat", qid)  # an index is its own accessor
    if not hasattr(categorical, "codes") or not hasattr(categorical, "categories"):
        return qid, None
    codes = np.asarray(categorical.codes)
    if np.any(codes < 0):
        return qid, None  # missing ids are refused with their row
    return codes, np.asarray(categorical.categories)


def id_array(qid):
    """Convert ids to a one-dimensional array; tuples and mixed types stay objects."""
    check_unmasked(qid, "qid")
    if isinstance(qid, str):
        raise ValueError(
            f"qid is the text {shown(qid)}: give the ids of the rows, as "
            f"frame[{shown(qid)}]."
        )
    if isinstance(qid, Set | Mapping):
        raise TypeError(
            f"qid is a {type(qid).__name__}, and no order of the rows: give a list of "
            "ids, one for each row."
        )
    if not hasattr(qid, "__array__"):
        try:
            ids = list(qid)
        except TypeError:
            raise TypeError(
                f"qid must be an array-like of ids, got {shown(qid)}."
            ) from None
        return _array_of_list(ids)
    qid = np.asarray(qid)
    if qid.ndim != 1:
        raise ValueError(f"qid must be one-dimensional, got the shape {qid.shape}.")
    return qid


def _array_of_list(ids):
    """Array of a list of ids; of objects where NumPy would change the ids."""
    is_one_type = len(set(map(type, ids))) == 1
    if is_one_type and isinstance(ids[0], str | int | float):
        array = np.asarray(ids)
        is_exact = True
        if isinstance(ids[0], str):
            # NumPy drops zero bytes at the end of strings.
            is_exact = not any(one[-1:] == "\0" for one in ids)
        elif isinstance(ids[0], int):
            # Large integers become floats.
            is_exact = array.dtype.kind in "iub"
        if is_exact:
            return array
    # NumPy would merge ["1", 1], and make a matrix of tuples.
    return np.fromiter(ids, dtype=object, count=len(ids))


def id_text(one, name):
    """Convert an id to text, a whole float as an integer; refuse a missing id."""
    if is_missing(one):
        raise ValueError(
            f"{name} contains a missing or infinite id, {shown(one)}: drop such rows "
            "or give them an id."
        )
    if isinstance(one, tuple):
        return str(tuple(_without_fraction(plain(part)) for part in one))
    return str(_without_fraction(one))


def _without_fraction(one):
    """Convert a whole float to an integer: 1 and 1.0 are one id."""
    if isinstance(one, float | np.floating) and one % 1 == 0:
        return int(one)
    return one


def digest(one):
    """Digest an id in 64 bits: fitted models keep no id in clear.

    Equal ids have the same digest.
    """
    if type(one) in (int, str):
        text = f"[{one!r}]"
    else:
        parts = one if isinstance(one, tuple) else [one]
        text = repr([plain(part) for part in parts])
    return blake2b(text.encode(), digest_size=8).digest()


def same_id(a, b):
    """Whether two single ids are equal, of whatever types they are."""
    is_equal = plain(a) == plain(b)
    # NumPy compares tuples item by item.
    return np.ndim(is_equal) == 0 and bool(is_equal)


def factorize(qid):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids."""
    if len(qid) == 0:
        raise ValueError("qid is empty: there must be at least one row.")
    if qid.dtype == object:
        return _factorize_objects(qid)
    refuse_missing_ids(qid)
    # Ids mostly come in runs: only the first row of each run is looked up.
    is_new_run = np.concatenate([[True], (qid[1:] != qid[:-1]).astype(bool)])
    first_rows = np.flatnonzero(is_new_run)
    run_lengths = np.diff(np.append(first_rows, len(qid)))
    ids_of_runs = qid[first_rows]
    if ids_of_runs.dtype.kind in "SU":
        # Hashing takes a sixth of the time of sorting.
        codes, distinct = _hashed(ids_of_runs)
        ids = np.array(distinct, dtype=ids_of_runs.dtype)
    else:
        codes, ids = _sorted(ids_of_runs)
    return np.repeat(codes, run_lengths), ids


def _factorize_objects(qid):
    """`factorize` of ids of any hashable types."""
    try:
        codes, distinct = _hashed(qid)
    except TypeError as error:
        refuse_missing_ids(qid)
        raise TypeError(f"qid must hold hashable ids: {error}.") from None
    ids = np.fromiter(distinct, dtype=object, count=len(distinct))
    if _missing(ids).any():  # each NaN is a key of its own
        refuse_missing_ids(qid)
    return codes, ids


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


def codes_of(column, name):
    """`factorize` a column of any ids; messages say `name` instead of qid."""
    try:
        return factorize(id_array(column))
    except (TypeError, ValueError) as error:
        raise ValueError(str(error).replace("qid", name)) from None


def coded(columns, names):
    """Codes (n, k) of k columns of the same ids, and the distinct ids.

    Messages call the columns by `names`.
    """
    codes_of_columns = []
    ids_of_columns = []
    for column, name in zip(columns, names, strict=True):
        codes, ids = codes_of(column, repr(name))
        codes_of_columns.append(codes)
        ids_of_columns.append(ids)
    check_consistent_length(*codes_of_columns)
    if len({ids.dtype.kind for ids in ids_of_columns}) > 1:
        # NumPy would make strings of numbers.
        ids_of_columns = [ids.astype(object) for ids in ids_of_columns]
    shared_codes, distinct = factorize(np.concatenate(ids_of_columns))
    ends = np.cumsum([len(ids) for ids in ids_of_columns])
    shared = np.split(shared_codes, ends[:-1])
    recoded = [
        shared_code[codes]
        for shared_code, codes in zip(shared, codes_of_columns, strict=True)
    ]
    return np.column_stack(recoded), distinct


def refuse_missing_ids(qid):
    """Refuse missing and infinite ids; the message names the first row."""
    missing = _missing(qid)
    if not missing.any():
        return
    row = int(np.argmax(missing))
    raise ValueError(
        f"qid contains a missing or infinite id (row {row}: {shown(qid[row])}): "
        "every row needs an id."
    )


def _missing(ids):
    """Whether each id, or a part of it, is missing or infinite."""
    if ids.dtype.names is not None:
        is_missing_row = np.zeros(len(ids), dtype=bool)
        for name in ids.dtype.names:
            parts = _missing(ids[name])
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
        return bool(_missing(np.asarray(one).reshape(1))[0])
    if one is None:
        return True
    try:
        is_nan = bool(one != one)
    except TypeError:  # comparisons with pandas.NA have no truth value
        return True
    except ValueError:
        raise TypeError(
            f"qid must hold hashable ids, got the array {shown(one)}."
        ) from None
    return is_nan or (isinstance(one, float) and abs(one) == float("inf"))


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
    """Count the items in each block of `tie_blocks`."""
    return np.diff(np.append(blocks, n_rows))


def ranks_from_scores(scores, lists):
    """Ranks 1..r of each list's items; equal scores keep the order of the rows."""
    ranks = np.empty(len(scores), dtype=np.intp)
    ranks[sort_lists(scores, lists, stable=True)] = lists.positions
    return ranks


def check_ranks(values, name, shape):
    """Check ranks 1..r, or those of a `Decoded`; return them as integers."""
    n_lists, r = shape
    values = np.asarray(getattr(values, "ranks", values))
    ranks = numbers(values, name)
    if ranks.shape != shape:
        raise ValueError(
            f"{name} must be the ranks 1..{r} of all items of {n_lists} lists, shape "
            f"{shape}, got the shape {ranks.shape}."
        )
    is_wrong = np.any(np.sort(ranks, axis=1) != np.arange(1, r + 1), axis=1)
    if is_wrong.any():
        q = int(np.argmax(is_wrong))
        raise ValueError(
            f"{name}[{q}] must be the ranks 1..{r} of all items, 1 = best, got "
            f"{shown(values[q].tolist())}. An order, item indices best first, has the "
            "ranks np.argsort(order) + 1."
        )
    return ranks.astype(np.intp, copy=False)


def ranks_from_orders(orders):
    """Ranks 1..r from orders (item indices, best first), shape (..., r)."""
    ranks = np.empty_like(orders)
    np.put_along_axis(ranks, orders, np.arange(1, orders.shape[-1] + 1), axis=-1)
    return ranks


def mid_ranks(scores, lists):
    """Mean rank of each item over all orders that agree with the scores."""
    order = sort_lists(scores, lists)
    ranks = np.empty(len(scores))
    ranks[order] = lists.positions
    blocks = tie_blocks(scores[order], lists)
    if blocks is None:
        return ranks
    # A block of m ties from position p on has the mean rank p + (m - 1) / 2.
    lengths = block_lengths(blocks, len(scores))
    mean_ranks = lists.positions[blocks] + (lengths - 1) / 2.0
    ranks[order] = np.repeat(mean_ranks, lengths)
    return ranks


def mid_fractions(values, lists, weights):
    """Weighted fraction of each item's list below it; ties and itself count one half.

    This is the mid-distribution function of each list, (r - mid_rank + 1/2) / r with
    equal weights. A constant factor of the weights of a list changes nothing. A row of
    weight 2 is the row twice.
    """
    order = sort_lists(values, lists)
    blocks = tie_blocks(values[order], lists)
    if blocks is None:
        blocks = np.arange(len(values))
    sorted_weights = weights[order]
    block_weights = np.add.reduceat(sorted_weights, blocks)
    # Weight before each block, without the weight of the lists before its own.
    before = np.cumsum(sorted_weights) - sorted_weights
    list_of_block = lists.index[blocks]
    above = before[blocks] - before[lists.starts][list_of_block]
    # 1 - (above + block / 2) / total, and 1 where the list has no weight.
    total = lists.sum(weights)[list_of_block]
    above_fractions = np.divide(
        above + block_weights / 2.0, total, out=np.zeros(len(total)), where=total > 0
    )
    fractions = np.empty(len(values))
    lengths = block_lengths(blocks, len(values))
    fractions[order] = np.repeat(1.0 - above_fractions, lengths)
    return fractions
