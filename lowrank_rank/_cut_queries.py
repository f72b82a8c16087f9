"""The warning that the queries of a fit and of a test set are cut."""

from weakref import WeakValueDictionary

import numpy as np

from ._lists import RankingLists
from ._warn import warn

#: Lists of a fit whose digests a model keeps, for the warning: 64 kB.
MAX_KEYS = 4000

#: Digests of the fits whose models have warned. (Scores leave a model as it is, and
#: Python's own memory of warnings is cleared by each ``catch_warnings``.)
_FITS_THAT_WARNED: WeakValueDictionary = WeakValueDictionary()


class CutQueriesWarning(UserWarning):
    """Scored queries have ids of training queries, but other numbers of rows.

    A fitted model warns once.

    Examples
    --------
    Filter it where the latest rows of each user are the test set on purpose, or where
    each file numbers its own queries:

    >>> import warnings
    >>> from lowrank_rank import CutQueriesWarning
    >>> warnings.filterwarnings("ignore", category=CutQueriesWarning)
    """


def warn_of_cut_queries(model, qid):
    """Warn, once for each fit, of queries with other numbers of rows than in fit.

    Returns whether there are such queries.
    """
    fitted_lists = getattr(model, "_fitted_lists_", None)
    if fitted_lists is None or qid is None:
        return False
    fitted_keys, fitted_lengths = fitted_lists
    keys, lengths = RankingLists.from_qid(qid).keys()
    _, fitted_places, places = np.intersect1d(fitted_keys, keys, return_indices=True)
    if np.array_equal(fitted_lengths[fitted_places], lengths[places]):
        return False
    if _FITS_THAT_WARNED.get(id(fitted_keys)) is fitted_keys:
        return True
    _FITS_THAT_WARNED[id(fitted_keys)] = fitted_keys
    # Without numbers in its text, so that folds of one search may print it once.
    warn(
        "Query ids of these rows were also in fit, with another number of rows. If a "
        "random split cut the queries, this score is too high: pass groups=qid and use "
        "GroupKFold. If the later rows of each user are the test on purpose (a split "
        "by time), or files number their queries independently, the score is right: "
        'warnings.filterwarnings("ignore", category=lowrank_rank.CutQueriesWarning).',
        CutQueriesWarning,
    )
    return True
