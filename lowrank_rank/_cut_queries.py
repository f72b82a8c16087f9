"""The warning that the queries of a fit and of a test set are cut."""

import numpy as np

from ._lists import RankingLists
from ._warn import warn

#: Lists of a fit whose digests a model keeps, for the warning: 64 kB.
MAX_KEYS = 4000


class CutQueriesWarning(UserWarning):
    """A model is scored on queries with ids of its training queries, but other numbers of rows.

    Examples
    --------
    >>> import warnings
    >>> from lowrank_rank import CutQueriesWarning
    >>> warnings.filterwarnings("ignore", category=CutQueriesWarning)  # each file has its own ids
    """


def warn_of_cut_queries(model, qid):
    """Warn if queries with ids of the fit have other numbers of rows; returns whether it warned."""
    fitted = getattr(model, "_fitted_lists_", None)
    if fitted is None or qid is None:
        return False
    keys, lengths = RankingLists.from_qid(qid).keys()
    _, first, second = np.intersect1d(fitted[0], keys, return_indices=True)
    n_cut = np.count_nonzero(fitted[1][first] != lengths[second])
    if n_cut:
        warn(
            f"{n_cut} of {len(keys)} query ids were also in fit, with another number of rows. If "
            "the queries were cut, this score is too high: pass groups=qid and use GroupKFold. If "
            "the files number their queries independently, filter CutQueriesWarning.",
            CutQueriesWarning,
        )
    return n_cut > 0


MOST_KEYS = MAX_KEYS
