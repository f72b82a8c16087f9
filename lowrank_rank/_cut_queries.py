"""The warning that the queries of a fit and of a test set are cut."""

import numpy as np

from ._lists import RankingLists
from ._warn import warn

#: Lists of a fit whose digests a model keeps, for the warning: 64 kB.
MAX_KEYS = 4000


class CutQueriesWarning(UserWarning):
    """Scored queries have ids of training queries, but other numbers of rows.

    Examples
    --------
    Filter it where each file numbers its own queries:

    >>> import warnings
    >>> from lowrank_rank import CutQueriesWarning
    >>> warnings.filterwarnings("ignore", category=CutQueriesWarning)
    """


def warn_of_cut_queries(model, qid):
    """Warn of queries with other numbers of rows than in fit.

    Returns whether it warned.
    """
    fitted_lists = getattr(model, "_fitted_lists_", None)
    if fitted_lists is None or qid is None:
        return False
    fitted_keys, fitted_lengths = fitted_lists
    keys, lengths = RankingLists.from_qid(qid).keys()
    _, fitted_places, places = np.intersect1d(fitted_keys, keys, return_indices=True)
    n_cut = np.count_nonzero(fitted_lengths[fitted_places] != lengths[places])
    if n_cut == 0:
        return False
    warn(
        f"{n_cut} of {len(keys)} query ids were also in fit, with another number of "
        "rows. If the queries were cut, this score is too high: pass groups=qid and "
        "use GroupKFold. If the files number their queries independently, filter "
        "CutQueriesWarning.",
        CutQueriesWarning,
    )
    return True
