"""Scores f(y) of preferences: the score-based surrogates of theorem 6."""

import numpy as np

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


def score_rows(score_function, loss, y, lists):
    """f(y) of the documents of ragged lists, (n_rows,), lists of one length at a time."""
    grouped = lists.group(y)
    scores = np.empty(len(y))
    for _, rows in lists.same_length:
        scores[rows] = score_targets(score_function, loss.preferences(grouped[rows]))
    return lists.ungroup(scores)
