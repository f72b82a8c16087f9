"""Held-out rows, progress, and what must not go unnoticed, of fits to the top of the list."""

import numpy as np
from scipy.sparse import issparse
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from ..solvers import sum_of_squares
from ..target_losses import PrecisionAtShare, RecallAtK


def mean_square(X):
    """Mean squared norm of the rows; refuses features whose squares leave the floating range."""
    value = sum_of_squares(X) / X.shape[0]
    entries = X.data if issparse(X) else X
    if not np.isfinite(value) or (value == 0 and np.any(entries)):
        raise ValueError(
            "The features are too large or too small for their squares to be computed: bring them "
            "to one scale (StandardScaler)."
        )
    return value


def check_scores(scores, settings):
    """Refuse scores that are not finite."""
    if np.all(np.isfinite(scores)):
        return
    remedy = "bring the features to one scale (StandardScaler)"
    if not settings.descent.rule.perceptron:
        remedy = f"lower eta0={settings.descent.eta0:g}, or {remedy}"
    raise ValueError(f"The steps diverged: the scores are not finite. To mend it {remedy}.")


def scores_of(X, weights):
    """Scores of the rows for weights of either shape; not finite where the steps diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return X @ weights if weights.ndim == 1 else X @ weights[:-1] + weights[-1]


def progress(estimator):
    """What prints a line for each pass, or None."""
    if not estimator.verbose:
        return None
    name = type(estimator).__name__
    what, where = "pass", "held-out rows" if estimator.early_stopping else "mini-batches"
    if estimator.solver == "cutting_plane":
        what, where = "round", "rows"
    return lambda n, value: print(
        f"[{name}] {what} {n}: {value:.4f} right at the top of the {where}"
    )


def hold_out(labels, fraction, random_state):
    """Indices of the rows to learn from and of those to watch; queries stay whole."""
    positive, rows = labels.positive, np.arange(len(labels.positive))
    n_held = max(2, round(fraction * len(rows)))  # one row of each class at least
    try:
        if labels.lists is not None:
            split = GroupShuffleSplit(1, test_size=fraction, random_state=random_state)
            rest, held = next(split.split(rows, groups=labels.lists.ungroup(labels.lists.index)))
        else:
            rest, held = train_test_split(
                rows,
                test_size=n_held,
                random_state=random_state,
                stratify=positive if positive.ndim == 1 else None,
            )
        if not (labels.pick(rest).comparable and labels.pick(held).comparable):
            raise ValueError("in one part no list has both positives and negatives")
    except ValueError as error:
        raise ValueError(
            f"early_stopping cannot hold out validation_fraction={fraction:g} of {len(rows)} rows "
            f"with {np.count_nonzero(positive)} positives: {error}. Switch it off or change the "
            "fraction."
        ) from None
    return np.sort(rest), np.sort(held)


def monitor(X, labels, settings):
    """``f(weights)``, the measure of the target loss on held-out rows.

    Of one long list the top is that of the settings, which must be relative to the list:
    a share of its positives, or a count of these very rows.
    """
    lists, loss, top, qid = labels.lists, settings.loss, settings.top, None
    if lists is not None:
        qid = lists.ungroup(lists.index)
    elif labels.one_list:
        loss = PrecisionAtShare(top.share) if top.n_places is None else RecallAtK(top.n_places)
    grades = labels.positive.astype(float)

    def measure(weights):
        scores = scores_of(X, weights)
        check_scores(scores, settings)
        return loss.measure(grades, scores, qid=qid)

    return measure


def threshold_between(scores, n_above):
    """A threshold above which at most `n_above` scores lie; equal scores stay together.

    Midway between the highest score that is out and the next that is not equal to it.
    """
    scores = scores.ravel()
    if n_above >= len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    highest_out = np.partition(scores, len(scores) - n_above - 1)[len(scores) - n_above - 1]
    above = scores[scores > highest_out]
    if not len(above):
        return float(np.nextafter(highest_out, np.inf))
    middle = highest_out + (above.min() - highest_out) / 2
    return float(middle if middle > highest_out else above.min())
