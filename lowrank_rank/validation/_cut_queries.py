"""Scored queries that were also in the fit: cut, the same, or copies."""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ..lists._lists import digest
from ._arrays import take_rows
from ._columns import is_missing_entry
from ._entries import entries_of, floats_of
from ._findings import found
from ._frames import holds_numbers, is_data_frame
from ._rules import look_for

#: Lists whose digests a model keeps, and whose features are compared: 64 kB.
MAX_KEYS = 4000

#: Rows whose features are hashed, of whole lists.
MAX_ROWS = 2**15

#: Entries of a block of rows that is hashed at once: 2 MB.
_BLOCK = 2**18

#: Distinct rows that tell lists apart.
LEAST_DISTINCT = 20

#: Constants of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)


#: The sentence of `CutQueriesWarning`.
_CUT_QUERIES = (
    "Query ids of these rows were also in fit, with another number of rows. If a "
    "random split cut the queries, this score is too high: pass groups=qid and use "
    "GroupKFold. If the later rows of each user are the test on purpose (a split "
    "by time), or files number their queries independently, the score is right: "
    'warnings.filterwarnings("ignore", category=lowrank_rank.CutQueriesWarning).'
)


class KnownLists:
    """What tells the lists of two data sets apart.

    Parameters
    ----------
    keys : ndarray of shape (n,)
        Digests of the ids.
    lengths : ndarray of shape (n,)
        Numbers of rows.
    contents : ndarray of uint64, shape (n,), or None
        Digest of the features of all rows, in any order; equal for copies. 0 for lists
        of one row and for those that are not read; None if features do not tell rows
        apart.
    """

    def __init__(self, keys, lengths, contents=None):
        self.keys = keys
        self.lengths = lengths
        self.contents = contents

    def shared_with(self, other):
        """Return the places of the ids that both have, in this one and in the other."""
        _, places, other_places = np.intersect1d(
            self.keys, other.keys, return_indices=True
        )
        return places, other_places


def known_lists(X, lists):
    """Return `KnownLists` of the first `MAX_KEYS` lists, or None without ids."""
    digests = lists.keys(MAX_KEYS)
    if digests is None:
        return None
    keys, lengths = digests
    X_known = take_rows(X, rows_to_know(lists))
    return KnownLists(keys, lengths, contents_of(X_known, lengths))


def rows_to_know(lists):
    """Return the rows that `contents_of` reads, of whole lists, list by list."""
    ends = np.cumsum(lists.lengths[:MAX_KEYS])
    rows = np.arange(ends[ends <= MAX_ROWS].max(initial=0))
    return rows if lists.order is None else lists.order[rows]


def contents_of(X_known, lengths):
    """Compute the digest of each list, as in `KnownLists`.

    `X_known` are the features of the rows of `rows_to_know`.
    """
    rows = row_digests(X_known)
    if rows is None or len(rows) == 0:
        return None
    n_rows = len(rows)
    n_known = 1 + int(np.searchsorted(np.cumsum(lengths), n_rows))
    # Ranks, positions and features of items alone are equal in different queries. (To
    # sort takes a fraction of the time of `np.unique`.)
    n_distinct = 1 + np.count_nonzero(np.diff(np.sort(rows)))
    if n_distinct < max(LEAST_DISTINCT, n_rows / 5):
        return None
    # Discrete features are equal in different documents of a list too.
    if n_distinct < 0.99 * n_rows:
        list_of_row = np.repeat(np.arange(n_known), lengths[:n_known])
        by_list = np.lexsort((rows, list_of_row))
        is_same_list = np.diff(list_of_row[by_list]) == 0
        is_twin = is_same_list & (np.diff(rows[by_list]) == 0)
        if is_twin.sum() > 0.01 * n_rows:
            return None
    contents = np.zeros(len(lengths), dtype=np.uint64)
    starts = np.append(0, np.cumsum(lengths[: n_known - 1]))
    contents[:n_known] = np.add.reduceat(_mixed(rows), starts)
    contents[lengths == 1] = 0  # one document is in several queries
    return contents


def row_digests(X):
    """Digest the rows of X: equal rows of arrays, sparse ones and frames are equal.

    The digest of an entry is a hash of its column and of the bits of its float64, every
    NaN alike and -0 as 0, or of the letters of its text. That of 0 is 0, so that sparse
    rows need only their entries. The digest of a row is the sum over its columns,
    modulo 2^64.

    Returns
    -------
    ndarray of uint64, shape (n_rows,), or None
        None if X is not a table.
    """
    if issparse(X):
        X = csr_matrix(X, dtype=np.float64)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        entries = _digests_of_floats(X.data, _keys(X.indices))
        totals = np.append(np.zeros(1, np.uint64), np.cumsum(entries))
        return totals[X.indptr[1:]] - totals[X.indptr[:-1]]
    if holds_numbers(X):
        return _digests_of_array(X.to_numpy())
    if not is_data_frame(X):
        X = np.asarray(X)
        if X.ndim != 2 or X.shape[1] == 0:
            return None
        if X.dtype.kind in "fiub":
            return _digests_of_array(X)
    total = np.zeros(len(X), dtype=np.uint64)
    for place in range(X.shape[1]):
        entries = entries_of(X, place)
        digests_of = _digests_of_objects
        if entries.dtype.kind in "fiubmM":
            digests_of = _digests_of_floats
        total += digests_of(entries, _keys(place))
    return total


def _digests_of_array(X):
    """Digest the rows of an array of numbers, in blocks that fit the cache."""
    keys = _keys(np.arange(X.shape[1]))
    size = max(1, _BLOCK // X.shape[1])
    blocks = [
        _digests_of_floats(X[start : start + size], keys).sum(axis=1, dtype=np.uint64)
        for start in range(0, len(X), size)
    ]
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.uint64)


def _digests_of_objects(entries, key):
    """Digest numbers as floats, and other entries by their letters."""
    floats = floats_of(entries)
    if floats is not None:
        return _digests_of_floats(floats, key)
    codes: dict = {}
    texts = [None if is_missing_entry(one) else str(one) for one in entries]
    places = [codes.setdefault(text, len(codes)) for text in texts]
    of_texts = np.frombuffer(b"".join(map(digest, codes)), dtype=np.uint64)
    return _mixed(of_texts[places] ^ key)


def _digests_of_floats(values, keys):
    """Digest the bits of float64; 0 for 0."""
    values = np.array(values, dtype=np.float64)
    values[np.isnan(values)] = np.nan
    digests = _mixed(values.view(np.uint64) ^ keys)
    digests[values == 0] = 0
    return digests


def _keys(places):
    """Return the numbers that tell columns apart."""
    return (np.atleast_1d(places) + 1).astype(np.uint64) * _STEP


def _mixed(bits):
    """Mix the bits, so that sums of several have no structure (splitmix64)."""
    bits = bits ^ (bits >> np.uint64(32))
    bits *= _STEP
    bits ^= bits >> np.uint64(29)
    bits *= _MIX
    bits ^= bits >> np.uint64(32)
    return bits


class CutQueriesWarning(UserWarning):
    """Scored queries have ids of training queries, but other numbers of rows.

    Each call warns. A model that was saved and loaded does not know these queries.

    Examples
    --------
    Filter it where the latest rows of each user are the test set on purpose, or where
    each file numbers its own queries:

    >>> import warnings
    >>> from lowrank_rank import CutQueriesWarning
    >>> warnings.filterwarnings("ignore", category=CutQueriesWarning)
    """


def look_for_known_queries(models, lists, features_of, name=None):
    """Look for scored queries that a fit knows: cut, copied, or the same.

    Parameters
    ----------
    models : iterable of fitted rankers
    lists : RankingLists or None
        The queries of the rows; None without ids.
    features_of : callable
        From indices of rows to their features, as the models get them.
    name : str or None
        Name of a ranker that is compared with others: the queries of its fit are
        not a test.
    """
    if lists is None or lists.ids is None:
        return
    scored = None
    for model in models:
        fitted = getattr(model, "_fitted_lists_", None)
        if fitted is None:
            continue
        if scored is None:
            keys, lengths = lists.keys()
            scored = KnownLists(keys, lengths)
        if _are_cut(fitted, scored):
            found("cut queries", _CUT_QUERIES, CutQueriesWarning)
            return
        if fitted.contents is None:
            continue
        if name is None and np.isin(scored.keys, fitted.keys).all():
            continue  # copies have other ids
        if scored.contents is None:
            rows = rows_to_know(lists)
            if len(rows) == 0:
                return
            scored.contents = contents_of(features_of(rows), scored.lengths)
        look_for("copied queries", fitted, scored)
        if name is not None:
            look_for("training queries", name, fitted, scored, about=name)


def _are_cut(fitted, scored):
    """Return whether queries have other numbers of rows than in fit."""
    fitted_places, places = fitted.shared_with(scored)
    return not np.array_equal(fitted.lengths[fitted_places], scored.lengths[places])
