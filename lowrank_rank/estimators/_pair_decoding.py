"""Preferences inside lists, and their decoding, for `PairwiseDAGRanker`."""

import numpy as np

from ..decoders import MOST_ITEMS_SUBSETS, PD_DECODERS

_ENTRIES_AT_ONCE = 2**22  # of preference matrices of documents
_PARAMETERS = {"exact": ("time_limit",), "local_search": ("n_restarts",)}  # of the ranker


def decoded_scores(ranker, preferences):
    """r - rank of the decoded order of preferences (m, r, r)."""
    r = preferences.shape[1]
    name = ranker.decoder_
    if name == "auto":
        name = "exact" if r <= MOST_ITEMS_SUBSETS else "local_search"
    parameters = {p: getattr(ranker, p) for p in _PARAMETERS.get(name, ())}
    ranks = PD_DECODERS[name](preferences, **parameters).ranks
    return r - ranks.astype(np.float64)


def preferences_of_lists(model, X, lists):
    """Preference matrices (m, r, r) and rows (m, r) of X, lists of one length at a time."""
    for _, grouped in lists.same_length:
        rows = grouped if lists.order is None else lists.order[grouped]
        r = rows.shape[1]
        step = max(1, _ENTRIES_AT_ONCE // (r * r))
        for first in range(0, len(rows), step):
            here = rows[first : first + step]
            flat = here.ravel()
            inside = np.arange(len(flat)).reshape(here.shape)
            yield model.tables(X[flat], inside), here
