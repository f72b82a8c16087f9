"""Fits weights to precision at the top: start, held-out rows, steps, threshold."""

import warnings
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from ..solvers import (
    ListBatch,
    Trajectory,
    cutting_plane,
    descend,
    run_pass,
    sum_of_squares,
)
from ..target_losses import PrecisionAtShare, RecallAtK
from ._top_problem import LongList, ManyLists

_TINY = np.finfo(float).tiny
START_SCALE = 3.5  # the ridge regression's targets are +- this many margins


class Fit(NamedTuple):
    """Weights (p,) or (p + 1, L), where to go on from, and what happened."""

    weights: np.ndarray
    path: Trajectory
    curve: list
    n_iter: int
    gap: float | None = None


def check_top(labels, settings):
    """Refuse labels that leave nothing to learn, and a count that one list cannot fill."""
    if not labels.comparable:
        raise ValueError(
            "No list has both positives and negatives: there is nothing to rank above something "
            "else."
        )
    top, loss = settings.top, settings.loss
    if top.n_places is None or not labels.one_list:
        return
    n_rows, n_positives = len(labels.positive), np.count_nonzero(labels.positive)
    if top.n_places > n_positives and not top.recall:
        raise ValueError(
            f"{loss!r} looks at the top {top.n_places}, but there are only {n_positives} "
            f"positives: take k of at most {n_positives}, a share such as 'precision@50%', or "
            f"'recall@{top.n_places}'."
        )
    if top.n_places >= n_rows:
        raise ValueError(
            f"{loss!r} looks at the top {top.n_places} of {n_rows} rows: every order is right."
        )


def fit_runs(X, labels, settings, random_state, *, begin=None, report=None):
    """The mean of runs over different shuffles, in parallel."""
    seeds = random_state.randint(np.iinfo(np.int32).max, size=settings.n_runs)
    fits = Parallel(n_jobs=settings.n_jobs)(
        delayed(fit_mini_batch)(
            X, labels, settings, np.random.RandomState(seed), begin=begin, report=report
        )
        for seed in seeds
    )
    longest = max(len(fit.curve) for fit in fits)
    # A run that has stopped stays where it is.
    curves = [fit.curve + fit.curve[-1:] * (longest - len(fit.curve)) for fit in fits]
    return fits[0]._replace(
        weights=sum(fit.weights for fit in fits) / len(fits),
        curve=[float(value) for value in np.mean(curves, axis=0)],
        n_iter=max(fit.n_iter for fit in fits),
    )


def fit_mini_batch(X, labels, settings, random_state, *, begin=None, report=None):
    """One run of steps, from `begin` or the start that the settings name."""
    watch = None
    if settings.validation_fraction is not None:
        rest, held = _hold_out(labels, settings.validation_fraction, random_state)
        watch = _monitor(X[held], labels.pick(held), settings, labels.positive)
        X, labels = X[rest], labels.pick(rest)
    path = Trajectory.at(start_weights(X, labels, settings) if begin is None else begin)
    problem = make_problem(X, labels, settings, random_state)
    if not problem.n_batches:
        raise ValueError(
            f"{settings.loss!r} takes in every list whole: every order of them is right."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        weights, curve = descend(
            path,
            problem.batches,
            settings.descent,
            max_iter=settings.max_iter,
            tol=settings.tol,
            patience=settings.patience,
            average=settings.average,
            monitor=watch,
            report=report,
        )
    return Fit(weights, path, curve, len(curve) - (watch is not None))


def fit_more(X, labels, settings, path):
    """One pass over more rows; path None begins."""
    if path is None:
        path = Trajectory.at(start_weights(X, labels, settings))
    problem = make_problem(X, labels, settings, None)
    with np.errstate(over="ignore", invalid="ignore"):
        value = run_pass(path, problem.batches(), settings.descent, first=True)
    return Fit(path.mean if settings.average else path.last, path, [value], 1)


def fit_cutting_plane(X, labels, settings, *, report=None):
    """The minimiser of struct and the penalty on one list, up to a duality gap."""
    if not labels.one_list:
        raise ValueError("solver='cutting_plane' takes one list of rows, without qid.")
    above, below = X[labels.positive], X[~labels.positive]
    k, mirrored = settings.top.places(above.shape[0], below.shape[0])
    above, below = (below, above) if mirrored else (above, below)
    batch = ListBatch(above, below, k, mirrored=mirrored)
    mean_square = batch.squares / batch.n_rows
    fit = cutting_plane(
        batch,
        settings.descent.rule.surrogate,
        penalty=max(settings.descent.pull(X.shape[1], batch.places) * mean_square, _TINY),
        tol=settings.tol or 0.0,
        max_iter=settings.max_iter,
        report=report,
    )
    if not fit.converged:
        warnings.warn(
            f"The cutting planes stopped after {len(fit.curve)} rounds with a duality gap of "
            f"{fit.gap:.3g}, above tol={settings.tol}: increase max_iter, alpha or tol.",
            ConvergenceWarning,
            stacklevel=4,
        )
    weights = fit.weights.astype(X.dtype)
    return Fit(weights, Trajectory.at(weights), fit.curve, len(fit.curve), fit.gap)


def make_problem(X, labels, settings, random_state):
    """The mini-batches of one long list, of queries, or of the rows of a matrix y."""
    random_state = random_state if settings.shuffle else None
    if labels.positive.ndim == 2:
        return ManyLists.of_matrix(X, labels, settings.top, settings.batch_size, random_state)
    if labels.lists is not None:
        return ManyLists.of_queries(X, labels, settings.top, random_state)
    return LongList(X, labels, settings.top, settings.batch_size, random_state)


def start_weights(X, labels, settings):
    """Zeros, or the ridge regression of the labels, scaled.

    Shape (p,); for a matrix of labels (p + 1, L) with the intercepts in the last row.
    """
    positive = labels.positive
    matrix = positive.ndim == 2
    if settings.start == "zeros" or positive.all() or not positive.any():
        shape = (X.shape[1] + 1, positive.shape[1]) if matrix else X.shape[1]
        return np.zeros(shape, dtype=X.dtype)
    # A penalty of the size of one row: the same whatever the unit of the features, small beside
    # many rows, and what keeps few rows of many features from being interpolated.
    ridge = Ridge(alpha=sum_of_squares(X) / X.shape[0])
    ridge.fit(X, np.where(positive, X.dtype.type(1), X.dtype.type(-1)))
    weights = np.vstack([ridge.coef_.T, ridge.intercept_]) if matrix else ridge.coef_
    return (START_SCALE * weights).astype(X.dtype, copy=False)


def progress(estimator):
    """What prints a line for each pass, or None."""
    if not estimator.verbose:
        return None
    name = type(estimator).__name__
    where = "held-out rows" if estimator.early_stopping else "mini-batches"
    return lambda n, value: print(f"[{name}] pass {n}: precision {value:.4f} on the {where}")


def threshold_between(scores, n_above):
    """A threshold above which so many scores lie, ties aside: the middle of the gap."""
    scores = scores.ravel()
    if n_above == 0:
        return float(scores.max())
    if n_above == len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    out = len(scores) - n_above - 1
    ordered = np.partition(scores, [out, out + 1])
    middle = ordered[out] + (ordered[out + 1] - ordered[out]) / 2
    return float(middle if middle < ordered[out + 1] else ordered[out])


def scores_of(X, weights):
    """Scores of the rows for weights of either shape; not finite where the steps diverged."""
    with np.errstate(over="ignore", invalid="ignore"):
        return X @ weights if weights.ndim == 1 else X @ weights[:-1] + weights[-1]


def _hold_out(labels, fraction, random_state):
    """Indices of the rows to learn from and of those to watch; queries stay whole."""
    positive, rows = labels.positive, np.arange(len(labels.positive))
    held = max(2, round(fraction * len(rows)))  # one row of each class at least
    try:
        if labels.lists is not None:
            split = GroupShuffleSplit(1, test_size=fraction, random_state=random_state)
            rest, held = next(split.split(rows, groups=labels.lists.ungroup(labels.lists.index)))
        else:
            rest, held = train_test_split(
                rows,
                test_size=held,
                random_state=random_state,
                stratify=positive if positive.ndim == 1 else None,
            )
        if not (positive[rest].any() and positive[held].any()):
            raise ValueError("one part holds no positive")
    except ValueError as error:
        raise ValueError(
            f"early_stopping cannot hold out validation_fraction={fraction:g} of {len(rows)} rows "
            f"with {np.count_nonzero(positive)} positives: {error}. Switch it off or change the "
            "fraction."
        ) from None
    return np.sort(rest), np.sort(held)


def _monitor(X, labels, settings, positive):
    """``f(weights)``, the precision at the top of held-out rows.

    Of one long list, all of whose labels are `positive`, it is that at the same share of the
    positives, or the recall at the same share of the rows.
    """
    lists, loss, top, qid = labels.lists, settings.loss, settings.top, None
    if lists is not None:
        qid = lists.ungroup(lists.index)
    elif positive.ndim == 1 and top.n_places is not None:
        n_positives = np.count_nonzero(positive)
        k, mirrored = top.places(n_positives, len(positive) - n_positives)
        if mirrored:
            loss = RecallAtK(max(1, round(top.n_places * len(labels.positive) / len(positive))))
        else:
            loss = PrecisionAtShare(k / n_positives)
    grades = labels.positive.astype(float)
    return lambda weights: loss.measure(grades, scores_of(X, weights), qid=qid)
