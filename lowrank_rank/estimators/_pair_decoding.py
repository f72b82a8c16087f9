"""Preferences inside lists, and their decoding, for `PairwiseDAGRanker`."""

import numpy as np

from ..decoders import MOST_ITEMS_SUBSETS, PD_DECODERS

MOST_DOCUMENTS = 10_000  # of a list: 800 MB of preferences
_ENTRIES_AT_ONCE = 2**22  # of preference matrices of documents
_PARAMETERS = {"exact": ("time_limit",), "local_search": ("n_restarts",)}  # of the ranker


def resolved_decoder(name, n_items):
    """The decoder that "auto" stands for with lists of this many items; others are themselves."""
    if name != "auto":
        return name
    return "exact" if n_items <= MOST_ITEMS_SUBSETS else "local_search"


def decoded_scores(ranker, preferences):
    """r - rank of the decoded order of preferences (m, r, r)."""
    r = preferences.shape[1]
    name = resolved_decoder(ranker.decoder_, r)
    parameters = {p: getattr(ranker, p) for p in _PARAMETERS.get(name, ())}
    ranks = PD_DECODERS[name](preferences, **parameters).ranks
    return r - ranks.astype(np.float64)


def preferences_of_lists(model, X, lists):
    """Preference matrices (m, r, r) and rows (m, r) of X, lists of one length at a time."""
    longest = int(lists.lengths.max())
    if longest > MOST_DOCUMENTS:
        raise ValueError(
            f"A list of {longest} documents has {longest}**2 preferences, more than fit: decode at "
            f"most {MOST_DOCUMENTS} documents at a time (qid), or rank by predict(X) without qid."
        )
    for _, grouped in lists.same_length:
        rows = grouped if lists.order is None else lists.order[grouped]
        r = rows.shape[1]
        step = max(1, _ENTRIES_AT_ONCE // (r * r))
        for first in range(0, len(rows), step):
            here = rows[first : first + step]
            flat = here.ravel()
            inside = np.arange(len(flat)).reshape(here.shape)
            yield model.tables(X[flat], inside), here
