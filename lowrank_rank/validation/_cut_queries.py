"""Queries of a fit among those that are scored: cut, the same, or copies."""

import numpy as np
from scipy.sparse import csr_matrix, issparse

from ._arrays import take_rows
from ._findings import found
from ._rules import look_for

#: Lists whose digests a model keeps, and whose features are compared: 64 kB.
MAX_KEYS = 4000

#: Distinct values of a feature in the first rows that tell lists apart.
LEAST_DISTINCT = 20


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
    contents : ndarray of shape (n,), or None
        A number for the length and the features of four rows; equal for copies. NaN
        for lists of one row and beyond the first `MAX_KEYS` lists; None if features do
        not tell rows apart.
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
    """Return the rows that `contents_of` reads: four of each list, first to last.

    The first rows of all lists come first. Lists of one catalogue share some documents:
    one row does not tell them apart.
    """
    steps = lists.lengths[:MAX_KEYS] - 1
    places = lists.starts[:MAX_KEYS] + np.outer(np.arange(4), steps) // 3
    rows = places.ravel()
    return rows if lists.order is None else lists.order[rows]


def contents_of(X_known, lengths):
    """Compute a number for each list that copies share, as in `KnownLists`.

    `X_known` are the features of the rows of `rows_to_know`.
    """
    if not issparse(X_known):
        X_known = np.asarray(X_known)
        if X_known.ndim != 2 or X_known.dtype.kind not in "fiub":
            return None
        if X_known.shape[1] == 0:
            return None
        # C order, in which a row of a frame and of an array has the same sum.
        X_known = np.ascontiguousarray(X_known, dtype=float)
    # A sum of features with weights that no features have by chance.
    weights = np.sqrt(np.arange(2.0, X_known.shape[1] + 2.0))
    if issparse(X_known):
        weighted = csr_matrix(X_known).multiply(weights)
        sums = np.asarray(weighted.sum(axis=1)).ravel()
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = np.sum(X_known * weights, axis=1)
    first, second, third, last = np.split(sums, 4)
    n_known = len(first)
    # Discrete features are equal in different documents of a list too.
    is_several = lengths[:n_known] > 1
    if not is_several.any() or np.mean((first == last)[is_several]) > 0.01:
        return None
    # Ranks, positions and features of items alone are equal in different queries.
    columns = first[:, np.newaxis] if issparse(X_known) else X_known[:n_known]
    least_distinct = max(LEAST_DISTINCT, n_known / 5)
    if not any(len(np.unique(column)) >= least_distinct for column in columns.T):
        return None
    contents = np.full(len(lengths), np.nan)
    contents[:n_known] = first + np.e * second + np.sqrt(5.0) * third
    contents[:n_known] += np.sqrt(7.0) * last + lengths[:n_known]
    contents[lengths == 1] = np.nan  # one document is in several queries
    return contents


def may_be_copies(columns, lists, one_part, other_part):
    """Return whether lists of two parts agree in a feature that tells lists apart.

    A fast test before `contents_of`: copies are equal in each feature.

    Parameters
    ----------
    columns : iterable of array-likes of shape (n_rows,)
        The features.
    lists : RankingLists
    one_part, other_part : ndarray of int
        Lists of the two parts.
    """
    first_rows = lists.starts
    if lists.order is not None:
        first_rows = lists.order[first_rows]
    least_distinct = max(LEAST_DISTINCT, lists.n_lists / 5)
    for column in columns:
        values = np.asarray(column)[first_rows]
        if values.dtype.kind not in "fiub":
            return False
        if len(np.unique(values)) >= least_distinct:
            return bool(np.isin(values[one_part], values[other_part]).any())
    return False


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
        Name of a ranker that is compared with others: the queries of its fit are no
        test.
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
        if scored.contents is None:
            X_known = features_of(rows_to_know(lists))
            scored.contents = contents_of(X_known, scored.lengths)
        look_for("copied queries", fitted, scored)
        if name is not None:
            look_for("training queries", name, fitted, scored, about=name)


def _are_cut(fitted, scored):
    """Return whether queries have other numbers of rows than in fit."""
    fitted_places, places = fitted.shared_with(scored)
    return not np.array_equal(fitted.lengths[fitted_places], scored.lengths[places])
