"""Scores f(y) of preferences: the score-based surrogates of theorem 6."""

import numpy as np

from ..decoders._decoded import batches

SCORE_FUNCTIONS = ("dmj",)


def check_score_function(score_function):
    """Refuse what is neither a known name nor callable."""
    if not callable(score_function) and score_function not in SCORE_FUNCTIONS:
        raise ValueError(
            f"score_function must be one of {list(SCORE_FUNCTIONS)} or a function of preferences "
            f"(m, r, r) that returns scores (m, r), got {score_function!r}."
        )


def score_targets(score_function, preferences):
    """f(y), (m, r), by the user's function."""
    scores = np.asarray(score_function(preferences), dtype=np.float64)
    if scores.shape != preferences.shape[:2] or not np.isfinite(scores).all():
        raise ValueError(
            f"score_function must return finite scores of shape {preferences.shape[:2]} for "
            f"preferences of shape {preferences.shape}, got shape {scores.shape}"
            + ("." if scores.shape != preferences.shape[:2] else " with infinite or missing ones.")
        )
    return scores


def score_rows(score_function, loss, y, lists, weights):
    """f(y) of the documents of ragged lists, (n_rows,), lists of one length at a time.

    Rows of weight 0 are not there; f knows of no other weights inside a list.
    """
    counts = lists.group(weights) > 0
    scores = np.zeros(len(y))
    grouped, kept = lists.group(y)[counts], np.flatnonzero(counts)
    lists_kept, _ = lists.select(counts)
    w = lists.group(weights)[counts]
    if np.any(w != lists_kept.spread(w[lists_kept.starts])):
        raise ValueError(
            "A score_function of your own takes no weights inside a list: give rows of one list "
            "the same sample_weight (or 0), or take score_function='dmj'."
        )
    for _, rows in lists_kept.same_length:
        scores[kept[rows]] = score_targets(score_function, loss.preferences(grouped[rows]))
    return lists.ungroup(scores)


def net_scores(loss, y):
    """f_i(y) = sum_j (y_ij - y_ji) of grades (n, r) or preferences (n, r, r), in pieces."""
    scores = np.empty(y.shape[:2])
    for rows in batches(len(y), y.shape[1] ** 2):
        preferences = loss.preferences(y[rows])
        scores[rows] = preferences.sum(axis=2) - preferences.sum(axis=1)
    return scores
