"""The warning that the queries of a fit and of a test set are cut."""

from hashlib import blake2b

import numpy as np

from ._lists import RankingLists
from ._warn import warn


class CutQueriesWarning(UserWarning):
    """A model is scored on queries with ids of its training queries, but other numbers of rows.

    Examples
    --------
    >>> import warnings
    >>> from lowrank_rank import CutQueriesWarning
    >>> warnings.filterwarnings("ignore", category=CutQueriesWarning)  # each file has its own ids
    """


def fitted_lists(lists, most=100_000):
    """Keys of 64 bits and lengths of at most `most` lists; None without query ids."""
    if lists.ids is None:
        return None
    ids, lengths = lists.ids[:most], lists.lengths[:most].copy()  # not the whole array behind them
    if ids.dtype.kind in "iu":
        return ids.astype(np.int64).view(np.uint64), lengths
    digests = b"".join(blake2b(repr(one).encode(), digest_size=8).digest() for one in ids.tolist())
    return np.frombuffer(digests, dtype=np.uint64), lengths


def warn_of_cut_queries(model, qid):
    """Warn if queries with ids of the fit have other numbers of rows; returns whether it warned."""
    fitted = getattr(model, "_fitted_lists_", None)
    if fitted is None or qid is None:
        return False
    keys, lengths = fitted_lists(RankingLists.from_qid(qid))
    _, first, second = np.intersect1d(fitted[0], keys, return_indices=True)
    n_cut = np.count_nonzero(fitted[1][first] != lengths[second])
    if n_cut:
        warn(
            f"{n_cut} of {len(keys)} query ids were also in fit, with another number of rows. If "
            "these are the same queries, they were cut between training and test, and this score "
            "is too high: pass groups=qid and use GroupKFold. If the files number their queries "
            "independently, filter CutQueriesWarning.",
            CutQueriesWarning,
        )
    return n_cut > 0
