"""Labels of preferences: net preferences, and the scores f(y) of theorem 6."""

import numpy as np

from .._lists import batches
from ..decoders.feedback_arcs._graphs import net_preferences, net_scores


def net_labels(y):
    """Net preferences, at least 0, of labels (n, r, r); a cycle stays.

    Raises
    ------
    ValueError
        If an item is preferred to itself.
    """
    own = np.argwhere(np.einsum("qii->qi", y) != 0)
    if len(own):
        q, i = (int(v) for v in own[0])
        raise ValueError(f"y[{q}, {i}, {i}] = {y[q, i, i]:g}: no item comes before itself.")
    return np.maximum(net_preferences(y), 0.0)


def vote_fractions(net, votes):
    """P(i before j) = (1 + net_ij / votes_ij) / 2, cut to [0, 1]; 1/2 without votes."""
    votes = np.broadcast_to(votes, net.shape)
    fraction = np.divide(net, votes, out=np.zeros(net.shape), where=votes > 0)
    return np.clip(0.5 + fraction / 2.0, 0.0, 1.0)


def label_scores(score_function, loss, y):
    """f(y), (n, r), of grades (n, r) or preferences (n, r, r).

    Parameters
    ----------
    score_function : "dmj" or callable
        "dmj" is the net preference, f_i(y) = sum_j (y_ij - y_ji); a callable takes preferences
        (n, r, r) and returns scores (n, r).
    loss : PairwiseDisagreement
    y : ndarray

    Returns
    -------
    ndarray of shape (n, r)
    """
    if callable(score_function):
        return _custom_scores(score_function, loss.preferences(y))
    scores = np.empty(y.shape[:2])
    for rows in batches(len(y), y.shape[1] ** 2):
        scores[rows] = net_scores(loss.preferences(y[rows]))
    return scores


def row_scores(score_function, loss, y, lists, weights):
    """f(y) of the documents of ragged lists, (n_rows,), lists of one length at a time.

    Rows of weight 0 are not there; a custom f knows of no other weights inside a list.
    """
    counts = lists.group(weights) > 0
    scores = np.zeros(len(y))
    grouped, kept = lists.group(y)[counts], np.flatnonzero(counts)
    lists_kept, _ = lists.select(counts)
    w = lists.group(weights)[counts]
    if np.any(w != lists_kept.spread(w[lists_kept.starts])):
        raise ValueError(
            "A custom score_function takes no weights inside a list: give rows of one list the "
            "same sample_weight (or 0), or use score_function='dmj'."
        )
    for _, rows in lists_kept.same_length:
        scores[kept[rows]] = _custom_scores(score_function, loss.preferences(grouped[rows]))
    return lists.ungroup(scores)


def _custom_scores(score_function, preferences):
    scores = np.asarray(score_function(preferences), dtype=np.float64)
    shape = preferences.shape[:2]
    if scores.shape != shape or not np.isfinite(scores).all():
        raise ValueError(
            f"score_function must return finite scores of shape {shape} for preferences of shape "
            f"{preferences.shape}, got shape {scores.shape}"
            + ("." if scores.shape != shape else " with infinite or missing ones.")
        )
    return scores
