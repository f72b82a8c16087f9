"""Which rows form a list: the only module that knows what a qid is.

A batch of lists is one flat array plus offsets. *Grouped order* means that the
rows of a list stand next to each other, lists in order of first appearance, rows
within a list in their original order. Everything else in the package works on
grouped flat arrays and never sees an id.
"""

from functools import cached_property

import numpy as np


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
        qid = _id_array(qid)
        if n_rows is not None and len(qid) != n_rows:
            raise ValueError(
                f"qid has {len(qid)} entries but there are {n_rows} rows: give one query "
                "id for each row of X."
            )
        codes, ids = _factorize(qid)
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


def ranking_target(y, qid):
    """Pack grades and query ids into one array that scikit-learn slices as one.

    Every tool of scikit-learn that takes rows out of `y` (cross-validation, bagging,
    a learning curve) then takes the ids out with them, without any configuration.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Grades, higher is better.
    qid : array-like of shape (n_rows,)
        Query id of each row: any hashable ids, in any order.

    Returns
    -------
    target : structured ndarray of shape (n_rows,)
        With the fields "y" and "qid". Estimators, measures and scorers of this
        package take it wherever they take `y`.

    Raises
    ------
    ValueError
        If the lengths differ, `y` is not one-dimensional or an id is missing.

    Examples
    --------
    >>> from lowrank_rank import ranking_target
    >>> target = ranking_target([2, 0, 1], ["a", "a", "b"])
    >>> target["y"].tolist(), target["qid"].tolist()
    ([2.0, 0.0, 1.0], ['a', 'a', 'b'])
    """
    if getattr(getattr(y, "dtype", None), "names", None):
        raise ValueError("y carries a qid already: give ranking_target the grades alone, y['y'].")
    try:
        y = np.asarray(y, dtype=np.float64)
    except ValueError as error:
        raise ValueError(
            f"ranking_target takes grades, numbers: {error}. Of names of classes give the relevant "
            "one, y == name, or pass qid to fit by itself."
        ) from None
    if y.ndim != 1:
        raise ValueError(
            f"ranking_target takes one grade per row, y of shape (n_rows,), got shape {y.shape}. "
            "A matrix y (one row per query) is its own lists and needs no qid."
        )
    qid = _id_array(qid)
    if len(qid) != len(y):
        raise ValueError(f"y has {len(y)} rows but qid has {len(qid)}: give one query id per row.")
    _factorize(qid)  # refuses missing ids here, where the user can still see them
    target = np.empty(len(y), dtype=[("y", np.float64), ("qid", qid.dtype)])
    target["y"], target["qid"] = y, qid
    return target


def split_target(y, qid=None):
    """Separate grades from the query ids that `y` may carry.

    Parameters
    ----------
    y : array-like
        Plain labels, a `ranking_target`, or a pandas object whose index has a level
        named "qid".
    qid : array-like or None
        Ids given beside `y`.

    Returns
    -------
    y : array-like
        The labels alone.
    qid : array-like or None

    Raises
    ------
    ValueError
        If ids are given twice and disagree.
    """
    carried = None
    if isinstance(y, np.ndarray) and y.dtype.names is not None:
        if set(y.dtype.names) != {"y", "qid"}:
            raise ValueError(
                f"y is a structured array with the fields {y.dtype.names}; a ranking target has "
                "the fields 'y' and 'qid': build it with ranking_target(y, qid)."
            )
        y, carried = y["y"], y["qid"]
    elif one_label_per_row(y) and "qid" in (
        getattr(getattr(y, "index", None), "names", None) or ()
    ):
        carried = y.index.get_level_values("qid").to_numpy()
        y = y.to_numpy()
    if carried is not None and qid is not None and not _same_ids(carried, qid):
        raise ValueError(
            "qid is given twice, in y and by itself, and the two differ: give it one way only."
        )
    return y, qid if carried is None else carried


def one_label_per_row(y):
    """Whether y labels documents: a matrix of several columns holds a list in each row."""
    if isinstance(y, list | tuple):
        lengths = {len(row) for row in y if isinstance(row, list | tuple)}
        if len(lengths) > 1:
            raise ValueError(
                f"y is ragged, its rows have lengths {sorted(lengths)}. Lists of different items "
                "have one row per document and qid=...; of the same items NaN is not judged."
            )
    shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    return len(shape) == 1 or shape[1:] == (1,)


def _same_ids(a, b):
    a, b = _id_array(a), _id_array(b)
    return len(a) == len(b) and bool(np.all(a == b))


def _id_array(qid):
    """One-dimensional array of ids; tuples and mixed types stay what they are."""
    if not hasattr(qid, "__array__"):
        try:
            qid = list(qid)
        except TypeError:
            raise TypeError(
                f"qid must be an array-like with one id per row, got {qid!r}."
            ) from None
        plain = len({type(q) for q in qid}) == 1 and isinstance(qid[0], str | int | float)
        array = np.asarray(qid) if plain else None
        lossy = plain and isinstance(qid[0], int) and array.dtype.kind not in "iub"
        if not plain or lossy:  # np.asarray would merge ["1", 1] and large integers
            return np.fromiter(qid, dtype=object, count=len(qid))
    qid = np.asarray(qid)
    if qid.ndim != 1:
        raise ValueError(
            f"qid must be one-dimensional, one id per row, got an array of shape {qid.shape}."
        )
    return qid


def _factorize(qid):
    """Codes 0, 1, ... of the ids in order of first appearance, and the distinct ids."""
    if len(qid) == 0:
        raise ValueError("qid is empty: there must be at least one row.")
    _refuse_missing(qid)
    # Ids mostly come in runs: only the head of each run has to be looked up.
    heads = np.flatnonzero(np.concatenate([[True], (qid[1:] != qid[:-1]).astype(bool)]))
    values = qid[heads]
    if qid.dtype == object:
        codes, ids = _factorize_objects(values)
    else:
        ids, first, codes = _distinct(values)
        by_appearance = np.argsort(first)
        place = np.empty_like(by_appearance)
        place[by_appearance] = np.arange(len(ids))
        codes, ids = place[codes], ids[by_appearance]
    return np.repeat(codes, np.diff(np.append(heads, len(qid)))), ids


def _distinct(values):
    """Sorted distinct values, where each appears first, and which one each entry is."""
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
    return np.unique(values, return_index=True, return_inverse=True)


def _factorize_objects(values):
    table: dict = {}
    try:
        codes = np.fromiter(
            (table.setdefault(v, len(table)) for v in values), dtype=np.intp, count=len(values)
        )
    except TypeError as error:
        raise TypeError(
            f"qid must hold hashable ids (numbers, strings, tuples): {error}."
        ) from None
    return codes, np.fromiter(table, dtype=object, count=len(table))


def _refuse_missing(qid):
    if qid.dtype.kind == "f":
        bad = ~np.isfinite(qid)
    elif qid.dtype.kind in "mM":
        bad = np.isnat(qid)
    elif qid.dtype == object:
        bad = np.fromiter((_is_missing(q) for q in qid), dtype=bool, count=len(qid))
    else:
        return
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"qid contains a missing or infinite id (row {row}: {qid[row]!r}): every row needs the "
            "id of its query. Drop such rows or give them an id."
        )


def _is_missing(q):
    try:
        return q is None or bool(q != q) or (isinstance(q, float) and abs(q) == float("inf"))
    except TypeError:  # pandas.NA compares to NA, which has no truth value
        return True
    except ValueError:  # an array: not hashable, refused where it is looked up
        return False
