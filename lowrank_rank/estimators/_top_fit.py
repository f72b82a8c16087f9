"""Fits weights to precision at the top: start, runs of steps, cutting planes."""

import warnings
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from ..solvers import (
    ListBatch,
    Trajectory,
    cutting_plane,
    descend,
    mean_hits,
    run_pass,
    take_rows,
)
from ._top_problem import LongList, ManyLists
from ._top_watch import hold_out, mean_square, monitor

_TINY = np.finfo(float).tiny
_CLEARLY_WORSE, _MANY_PLACES = 0.8, 10  # than the start, lost: worth a warning
START_SCALE = 3.25  # the ridge regression's targets are +- this many margins


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


def check_continues(model, X, labels):
    """Refuse data of another shape, or of other classes, than a fitted model's weights are for."""
    if (
        model._path.start.shape == weights_shape(X, labels)
        and np.array_equal(model.classes_, labels.classes)
        and model.pos_label_ == labels.pos_label
    ):
        return
    raise ValueError(
        f"The data do not fit the earlier weights: those are for {_described(*_known(model))}, "
        f"these have {_described(weights_shape(X, labels), labels.classes, labels.pos_label)}. "
        "Start anew, with fit and without warm_start."
    )


def _known(model):
    return model._path.start.shape, model.classes_, model.pos_label_


def _described(shape, classes, pos_label):
    if len(shape) == 2:
        return f"{shape[0] - 1} features and {shape[1]} labels a row"
    return f"{shape[0]} features and the classes {classes.tolist()}, {str(pos_label)!r} positive"


def fit_runs(X, labels, settings, random_state, *, begin=None, report=None):
    """The mean of runs over different shuffles, in parallel, from `begin` or the start."""
    seeds = random_state.randint(np.iinfo(np.int32).max, size=settings.n_runs)
    if begin is None and settings.validation_fraction is None:
        begin = start_weights(X, labels, settings)  # one start for all runs
    fits = Parallel(n_jobs=settings.n_jobs)(
        delayed(fit_mini_batch)(
            X, labels, settings, np.random.RandomState(seed), begin=begin, report=report
        )
        for seed in seeds
    )
    longest = max(len(fit.curve) for fit in fits)
    # A run that has stopped stays where it is.
    curves = [fit.curve + fit.curve[-1:] * (longest - len(fit.curve)) for fit in fits]
    weights = sum(fit.weights for fit in fits) / len(fits)
    return Fit(
        weights,
        replace(fits[0].path, last=weights, mean=weights),
        [float(value) for value in np.mean(curves, axis=0)],
        max(fit.n_iter for fit in fits),
    )


def fit_mini_batch(X, labels, settings, random_state, *, begin=None, report=None):
    """One run of steps; with held-out rows its start is that of the others."""
    watch, fraction = None, settings.validation_fraction
    if fraction is not None:
        rest, held = hold_out(labels, fraction, random_state)
        of_held, of_rest = (_of_part(settings, labels, len(part)) for part in (held, rest))
        watch = monitor(take_rows(X, held), labels.pick(held), of_held)
        X, labels, settings = take_rows(X, rest), labels.pick(rest), of_rest
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
        if watch is None:
            weights = _better(problem, path.start, weights, settings)
    return Fit(weights, path, curve, len(curve) - (watch is not None))


def _better(problem, start, weights, settings):
    """The weights, or the start if it is right more often at the top of the mini-batches.

    Steps on a surrogate that is not convex may end worse than they began, for one where rows of
    huge norm draw them.
    """
    if settings.descent.rule.perceptron or not np.any(start) or not np.all(np.isfinite(weights)):
        return weights
    batches = list(problem.batches())
    before, after = (mean_hits(batches, w) for w in (start, weights))
    if before <= after:
        return weights
    lost = (before - after) * sum(batch.places for batch in batches)
    if after < _CLEARLY_WORSE * before and lost >= _MANY_PLACES:
        warnings.warn(
            f"The steps made the top of the training rows worse: {after:.3f} of it is right, "
            f"{before:.3f} were at the start, whose weights are kept. Features with heavy tails "
            "are a common cause: try QuantileTransformer or logarithms; else a smaller eta0, or a "
            "larger top to aim at.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return start


def _of_part(settings, labels, n_rows):
    """The settings for some rows of one long list; queries and matrix rows keep their top."""
    if not labels.one_list:
        return settings
    n_all, n_positives = len(labels.positive), np.count_nonzero(labels.positive)
    return replace(settings, top=settings.top.of_part(n_all, n_positives, n_rows / n_all))


def fit_more(X, labels, settings, path):
    """One pass over more rows; path None begins."""
    if path is None:
        path = Trajectory.at(start_weights(X, labels, settings))
    problem = make_problem(X, labels, replace(settings, shuffle=False), None)
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
    fit = cutting_plane(
        batch,
        settings.descent.rule.surrogate,
        penalty=max(_pull(batch, settings) * mean_square(X), _TINY),
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


def _pull(batch, settings):
    return settings.descent.pull(batch.entries / batch.n_rows, batch.places)


def make_problem(X, labels, settings, random_state):
    """The mini-batches of one long list, of queries, or of the rows of a matrix y."""
    random_state = random_state if settings.shuffle else None
    if labels.positive.ndim == 2:
        return ManyLists.of_matrix(X, labels, settings.top, settings.batch_size, random_state)
    if labels.lists is not None:
        return ManyLists.of_queries(X, labels, settings.top, random_state)
    return LongList(X, labels, settings.top, settings.batch_size, random_state)


def weights_shape(X, labels):
    """(p,), or (p + 1, L) for a matrix of labels, with the intercepts in the last row."""
    positive = labels.positive
    return (X.shape[1],) if positive.ndim == 1 else (X.shape[1] + 1, positive.shape[1])


def start_weights(X, labels, settings):
    """Zeros, or the ridge regression of the labels, scaled."""
    positive = labels.positive
    unit = mean_square(X)
    if settings.start == "zeros" or positive.all() or not positive.any():
        return np.zeros(weights_shape(X, labels), dtype=X.dtype)
    # A penalty of the size of one row: the same whatever the unit of the features, small beside
    # many rows, and what keeps few rows of many features from being interpolated.
    ridge = Ridge(alpha=unit)
    ridge.fit(X, np.where(positive, X.dtype.type(1), X.dtype.type(-1)))
    weights = ridge.coef_
    if positive.ndim == 2:
        weights = np.vstack([weights.T, ridge.intercept_])
    return (START_SCALE * weights).astype(X.dtype, copy=False)
