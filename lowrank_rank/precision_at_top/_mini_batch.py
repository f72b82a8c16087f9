"""Mini-batch steps on precision at the top, perceptrons and subgradient descent; their starts.

Subgradient descent minimises

    surrogate(w) / k + (pull / 2) R^2 |w - w_start|^2,   pull = alpha * m / k,

with steps eta0 / (R^2 sqrt(t)), R^2 the mean squared norm of the rows: it does the same
whatever the unit of the features. The pull is taken implicitly, so that no step size makes it
overshoot. m is the mean number of features of a row that are not 0, and k counts the places at
the top, of all rows seen. The perceptron has neither step size nor pull. Iterates are averaged with
weights that grow like t^3 (polynomial-decay averaging, Shamir & Zhang 2013), which needs no
horizon.

The features may be scaled: norms, steps and the pull are then those of x / scale, the scale being
that of the rows seen so far, and the weights are still those of x. X itself is left as it is.
"""

import warnings
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_matrix, diags, issparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.utils import gen_batches

from .._arrays import mean_square, numbers, sum_of_squares
from ..regression._constants import ALPHA_OF_LOGISTIC, ALPHA_OF_UTILITIES, logistic_penalty
from ._batches import Rule, take_rows

_DECAY = 3  # power of the weights in the average
_MAX_WORK = 1e9  # entries of X times labels, of logistic regressions: about a minute
_OTHER_C = 0.5  # of logistic regression: below, worth a comparison with 1
_ENTRIES_AT_ONCE = 2**16  # of dense X that are centred at a time: they fit the cache
_SMALL, _LARGE = 1e-50, 1e50  # of squares: within, their own squares are in range
_LINEAR = 1e-4  # of the largest score: how far a linear start may be from its own
_COLUMNS_AT_ONCE = 256
START_SCALE = 3.25  # the ridge regression's targets are +- this many margins
_CONSTANT = 1e-24  # of the mean square: a variance that is rounding


@dataclass(frozen=True)
class Columns:
    """What is known of the features of the rows seen.

    Attributes
    ----------
    n_rows : int
    mean, variation : ndarray of shape (p,)
        Mean, and sum of the squared deviations from it.
    entries : ndarray of shape (p,)
        Number of rows where the feature is not 0.
    squares : float
        Sum of all squared features.
    """

    n_rows: int
    mean: np.ndarray
    variation: np.ndarray
    entries: np.ndarray
    squares: float

    @classmethod
    def none(cls, n_features):
        nothing = np.zeros(n_features)
        return cls(0, nothing, nothing, nothing, 0.0)

    @classmethod
    def of(cls, X):
        """Those of the rows of X."""
        n_rows, squares = X.shape[0], sum_of_squares(X)
        if issparse(X):
            at, data, p = X.indices, X.data.astype(np.float64), X.shape[1]
            mean = np.bincount(at, data, minlength=p) / max(n_rows, 1)
            variation = np.bincount(at, data * data, minlength=p) - n_rows * mean * mean
            entries = np.bincount(at, data != 0, minlength=p)
            return cls(n_rows, mean, np.maximum(variation, 0.0), entries, squares)
        step = max(1, _ENTRIES_AT_ONCE // X.shape[1])
        parts = [cls._of_dense(X[first : first + step]) for first in range(0, n_rows, step)]
        return replace(sum(parts[1:], parts[0]), squares=squares)

    @classmethod
    def _of_dense(cls, X):
        n_rows = len(X)
        ones = np.ones(n_rows)  # products with them are faster than sums
        mean = ones @ X / n_rows
        away = X - mean
        away *= away
        variation = ones @ away
        is_full = not (X == 0).any()  # much faster than to count
        entries = np.full(len(mean), n_rows) if is_full else np.count_nonzero(X, axis=0)
        return cls(n_rows, mean, variation, entries, 0.0)

    def __add__(self, other):
        """Those of both."""
        n_rows = self.n_rows + other.n_rows
        if not n_rows:
            return self
        between, fraction = other.mean - self.mean, other.n_rows / n_rows
        return Columns(
            n_rows,
            self.mean + fraction * between,
            self.variation + other.variation + self.n_rows * fraction * between**2,
            self.entries + other.entries,
            self.squares + other.squares,
        )

    @cached_property
    def entries_of_a_row(self):
        """Mean number of features of a row that are not 0."""
        return float(self.entries.sum()) / self.n_rows

    @cached_property
    def inverse_scale(self):
        """One over the scale of each feature; 0 where it is constant.

        The scale is the standard deviation, over the root of the fraction of rows where the
        feature is not 0: features that are seldom 0 have the variance 1, and rare ones, as those
        of texts, are about 1 where they are not 0 (of variance 1 they would be huge there).
        A mean of few rows adds to the deviation, which few rows underestimate.
        """
        n = max(self.n_rows, 1)
        square = self.mean**2
        varies = self.variation > _CONSTANT * n * square
        deviation = np.sqrt(
            self.variation / n + square / n**2, where=varies, out=np.ones(len(square))
        )
        return np.where(varies, np.sqrt(self.entries / n) / deviation, 0.0)

    @cached_property
    def inverse_square(self):
        """What turns a slope in x into a step of the weights of x that is one in x / scale."""
        return self.inverse_scale**2

    @cached_property
    def scaled_square(self):
        """Mean squared norm of x / scale about the mean."""
        return float(self.variation / self.n_rows @ self.inverse_square)

    def mean_square(self, standardize):
        """Mean squared norm of the rows; of x / scale about their mean if `standardize`."""
        return self.scaled_square if standardize else self.squares / self.n_rows


@dataclass
class Trajectory:
    """Where the steps have got to: all that a later call needs to go on.

    Attributes
    ----------
    start, last, mean : ndarray of shape (p,) or (p + 1, L)
        Weights at the beginning, now, and averaged.
    columns : Columns
        Of the rows seen, each counted once in `fit`.
    n_steps : int
    places : float
        Sum of the k of the lists seen.
    """

    start: np.ndarray
    last: np.ndarray
    mean: np.ndarray
    columns: Columns
    n_steps: int = 0
    places: float = 0.0

    @classmethod
    def at(cls, start):
        n_features = len(start) - (start.ndim == 2)
        return cls(start, start.copy(), start.copy(), Columns.none(n_features))

    def copy(self):
        """The same place; weights are replaced, never changed, and can be shared."""
        return replace(self)

    def see(self, batch):
        """Take the rows of a new batch into account."""
        for part in batch.parts:
            self.columns += Columns.of(part)
        self.places += batch.n_places


@dataclass(frozen=True)
class Descent:
    """The settings of the steps."""

    rule: Rule
    eta0: float
    alpha: float
    standardize: bool = False

    def pull(self, columns, places):
        """Strength of the pull towards the start, in units of R^2."""
        return self.alpha * columns.entries_of_a_row / places

    def advance(self, path, batch):
        """One step; returns the hits of the batch before it."""
        step = batch.step(path.last, self.rule)
        path.n_steps += 1
        if self.rule.perceptron:
            if step.direction is not None:
                path.last = path.last - self._towards(path.columns, step.direction)[0]
        else:
            self._descend(path, step.direction, batch.n_lists)
        newest = (_DECAY + 1) / (path.n_steps + _DECAY)
        path.mean = path.mean + newest * (path.last - path.mean)
        return step.hits

    def _towards(self, columns, direction):
        """The direction in the weights of x, of a step in those of x / scale; and R^2."""
        matrix = direction.ndim == 2
        mean_square = columns.mean_square(self.standardize) + matrix  # an intercept is a 1
        if not self.standardize:
            return direction, mean_square
        inverse, dtype = columns.inverse_square, direction.dtype
        if not matrix:
            return (direction * inverse).astype(dtype, copy=False), mean_square
        # Items have intercepts: their features are centred, which is moved into the intercepts.
        towards = direction.astype(np.float64)
        slopes, intercepts = towards[:-1], towards[-1]
        slopes -= columns.mean[:, np.newaxis] * intercepts
        slopes *= inverse[:, np.newaxis]
        intercepts -= columns.mean @ slopes
        return towards.astype(dtype, copy=False), mean_square

    def _descend(self, path, direction, n_lists):
        rate = self.eta0 / sqrt(path.n_steps)
        if direction is not None:
            direction, mean_square = self._towards(path.columns, direction)
            if mean_square > 0:
                path.last = path.last - float(rate / (mean_square * n_lists)) * direction
        pull = float(rate * self.pull(path.columns, path.places))
        if pull > 0:
            path.last = (path.last + pull * path.start) / (1.0 + pull)


def run_pass(path, batches, descent, *, first):
    """One pass over the batches; the mean over their lists of the hits as it went.

    nan where no batch has anything to compare.
    """
    hits = n_lists = 0.0
    for batch in batches:
        if first:
            path.see(batch)
        hits += descent.advance(path, batch)
        n_lists += batch.n_lists
    return hits / n_lists if n_lists else np.nan


def mean_hits(batches, weights):
    """Mean over the lists of the fraction of the top that is right, at fixed weights."""
    hits = n_lists = 0.0
    for batch in batches:
        hits += batch.hits(weights)
        n_lists += batch.n_lists
    return hits / n_lists


def descend(path, draw, descent, *, max_iter, tol, patience, average, monitor, report):
    """Passes until the precision stops improving.

    Parameters
    ----------
    path : Trajectory
        Moved along.
    draw : callable
        ``draw()`` gives the batches of a pass.
    descent : Descent
    max_iter : int
        Largest number of passes.
    tol, patience : float, int
        Stop after `patience` passes without a gain of more than tol; tol None never does.
    average : bool
        Whether the averaged weights are the result.
    monitor : callable or None
        ``monitor(weights)``, the precision to watch. The result is then the latest of the weights
        with the highest value, the start included. None watches the mean precision
        of the batches as they came, which costs nothing, and returns the last weights.
    report : callable or None
        ``report(n_pass, value)`` after each pass.

    Returns
    -------
    weights : ndarray
    curve : list of float
        Value of each pass; with a monitor, that of the start before them.
    """
    weights = path.start
    curve = [] if monitor is None else [monitor(weights)]
    best, waited = max(curve, default=-np.inf), 0
    for n_pass in range(1, max_iter + 1):
        value = run_pass(path, draw(), descent, first=n_pass == 1)
        now = path.mean if average else path.last
        value = value if monitor is None else monitor(now)
        curve.append(value)
        if report is not None:
            report(n_pass, value)
        if monitor is None or value >= best:
            weights = now
        waited = 0 if tol is None or value > best + tol else waited + 1
        best = max(best, value)
        nothing_left = descent.rule.perceptron and value >= 1.0 - 1e-12  # no mistake, no step
        if waited >= patience or (tol is not None and nothing_left and monitor is None):
            break
    return weights, curve


# Where they begin -------------------------------------------------------------------


def weights_shape(X, labels):
    """(p,), or (p + 1, L) for a matrix of labels, with the intercepts in the last row."""
    positive = labels.positive
    return (X.shape[1],) if positive.ndim == 1 else (X.shape[1] + 1, positive.shape[1])


def start_in_time(X, labels):
    """ "logistic", or "least_squares" where each of many labels would need a fit to a large X."""
    n_labels = labels.positive.shape[1] if labels.positive.ndim == 2 else 1
    entries = float(X.nnz if issparse(X) else X.size)
    return "logistic" if n_labels == 1 or entries * n_labels <= _MAX_WORK else "least_squares"


class Start:
    """Weights to begin at, of all rows or of some of them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    labels : Labels
    start : {"logistic", "least_squares", "zeros"}, estimator or array-like
    standardize : bool
        Whether what has a name is fitted to scaled features.
    """

    def __init__(self, X, labels, start, standardize):
        mean_square(X)  # refuses features out of range
        self.X, self.labels, self.start, self.standardize = X, labels, start, standardize
        self.shape = weights_shape(X, labels)
        is_matrix = len(self.shape) == 2
        self.C = self._penalised(ALPHA_OF_UTILITIES) if is_matrix and standardize else 1.0
        is_known = not isinstance(start, str) and not hasattr(start, "fit")
        self.given = _given(start, self.shape) if is_known else None
        if isinstance(start, str) and start in STARTS:
            self.features = ScaledFeatures.of(X, standardize)
            self.models = STARTS[start]

    def _penalised(self, alpha):
        """C of logistic regression of many features, ``1 / (alpha p min(p / 50, 1))``."""
        n_rows, n_features = self.X.shape
        return 1.0 / (n_rows * logistic_penalty(n_features, n_rows, alpha))

    def others(self):
        """The same with a stronger penalty for many standardised features; of sparse X unscaled.

        Scaled, words that are rare weigh as much as others.
        """
        is_logistic = self.standardize and getattr(self, "models", None) is _logistic
        C = self._penalised(ALPHA_OF_LOGISTIC)
        if not is_logistic or len(self.shape) == 2 or C > _OTHER_C:
            return []
        other = copy(self)  # of the same features
        other.C = C
        return [
            other,
            *([Start(self.X, self.labels, self.start, False)] if issparse(self.X) else []),
        ]

    def weights(self, rows=None):
        """The weights; zeros where the rows are of one class."""
        positive = self.labels.positive if rows is None else self.labels.positive[rows]
        if self.given is not None:
            return self.given.astype(self.X.dtype)
        is_zero = isinstance(self.start, str) and self.start == "zeros"
        if is_zero or positive.all() or not positive.any():
            return np.zeros(self.shape, dtype=self.X.dtype)
        if hasattr(self.start, "fit"):
            X = self.X if rows is None else take_rows(self.X, rows)
            labels = self.labels._replace(positive=positive, lists=None)
            coef, intercept = _of_estimator(X, labels, self.start)
        else:
            X = self.features.X if rows is None else take_rows(self.features.X, rows)
            coef, intercept = self.features.back(*self.models(X, positive, self))
        weights = np.vstack([coef.T, intercept]) if len(self.shape) == 2 else coef[0]
        return weights.astype(self.X.dtype, copy=False)


def _given(start, shape):
    """Weights that are given, as an array of floats of the shape that is needed."""
    weights = numbers(start, "start")
    wanted = [shape[::-1]] if len(shape) == 2 else [shape, (1, *shape)]
    if weights.shape not in wanted or not np.all(np.isfinite(weights)):
        what = "a row for each label, its intercept last" if len(shape) == 2 else "a weight each"
        raise ValueError(
            f"start must be finite, of the shape {wanted[0]} ({what}), got {weights.shape}."
        )
    return weights.T if len(shape) == 2 else weights.ravel()


class ScaledFeatures(NamedTuple):
    """X / scale, centred where it is dense, and the way back for linear models of it."""

    X: object
    mean: np.ndarray
    inverse: np.ndarray
    mean_square: float

    @classmethod
    def of(cls, X, standardize):
        mean = np.zeros(X.shape[1])
        if standardize:
            columns = Columns.of(X)
            inverse, square = columns.inverse_scale, columns.mean_square(True)
            mean = mean if issparse(X) else columns.mean
        else:  # all by one number, and only where squares of squares would leave the range
            square = mean_square(X)
            root = np.sqrt(square) if square and not _SMALL < square < _LARGE else 1.0
            inverse, square = np.full(X.shape[1], 1.0 / root), square / root**2
        if issparse(X):
            scaled = (X @ diags(inverse)).astype(X.dtype).tocsr()
        else:
            scaled = X - mean.astype(X.dtype)
            scaled *= inverse.astype(X.dtype)
        return cls(scaled, mean, inverse, square or 1.0)  # of features that are all 0

    def back(self, coef, intercept):
        """Coefficients (L, p) and intercepts (L,) of x itself."""
        coef = np.atleast_2d(coef) * self.inverse
        return coef, np.atleast_1d(intercept) - coef @ self.mean


def _least_squares(X, positive, start):
    """Ridge regression of the labels -1 and 1, scaled.

    A penalty of the size of one row: small beside many rows, and what keeps few rows of many
    features from being interpolated.
    """
    is_own = X is not start.features.X or start.standardize  # a copy, or centred already
    ridge = Ridge(alpha=start.features.mean_square, copy_X=not is_own)
    ridge.fit(X, np.where(positive, X.dtype.type(1), X.dtype.type(-1)))
    return START_SCALE * ridge.coef_, START_SCALE * ridge.intercept_


def _logistic(X, positive, start):
    """Logistic regression for each label of a matrix, or of the rows of all lists.

    Of some of the rows from the solution for all of them, which saves iterations.
    """
    columns = np.atleast_2d(positive.T)
    counts = columns.sum(axis=1)
    coef = np.zeros((len(columns), X.shape[1]))
    intercept = np.log((counts + 0.5) / (columns.shape[1] - counts + 0.5))  # of one class only
    models = start.__dict__.setdefault("fitted", {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start may be what it is
        for i in np.flatnonzero((counts > 0) & (counts < columns.shape[1])):
            model = models.setdefault((i, start.C), LogisticRegression(warm_start=True, C=start.C))
            model.fit(X, columns[i])
            coef[i], intercept[i] = model.coef_[0], model.intercept_[0]
    return coef, intercept


#: Starts by name: functions of scaled rows, their labels and the `Start`, to coefficients and
#: intercepts.
STARTS = {"logistic": _logistic, "least_squares": _least_squares}


def _of_estimator(X, labels, estimator):
    """Coefficients and intercepts of a linear model, or of a pipeline that is linear in X."""
    classifies = labels.positive.ndim == 1 and is_classifier(estimator)
    is_last = not classifies or labels.pos_label == labels.classes[1]
    y = labels.positive.astype(int)
    if classifies:
        y = labels.classes[y if is_last else 1 - y]
    model = clone(estimator).fit(X, y)
    function = getattr(model, "decision_function", None) or model.predict
    with np.errstate(over="ignore", invalid="ignore"):
        coef, intercept = _slopes(function, X)
        some = take_rows(X, np.arange(min(X.shape[0], 100)))
        scores = np.asarray(function(some)).reshape(some.shape[0], -1)
        away = np.max(np.abs(some @ coef.T + intercept - scores))
    n_labels = 1 if labels.positive.ndim == 1 else labels.positive.shape[1]
    if coef.shape != (n_labels, X.shape[1]) or not (
        away <= _LINEAR * (1.0 + np.max(np.abs(scores)))
    ):
        raise ValueError(
            f"start={estimator!r} does not score rows by a linear function of X: take a linear "
            "model, a pipeline of scalers and one, or an array of weights."
        )
    return (coef, intercept) if is_last else (-coef, -intercept)


def _slopes(function, X):
    """Slopes (L, p) and values at 0 (L,) of a linear function of rows of X."""
    inverse = Columns.of(X).inverse_scale
    scale = np.where(inverse > 0, 1.0 / np.where(inverse > 0, inverse, 1.0), 1.0)
    kind = csr_matrix if issparse(X) else np.asarray
    origin = np.asarray(function(kind(np.zeros((1, X.shape[1]), dtype=X.dtype)))).reshape(-1)
    slopes = []
    for rows in gen_batches(X.shape[1], _COLUMNS_AT_ONCE):
        unit = np.zeros((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
        unit[np.arange(len(unit)), np.arange(rows.start, rows.stop)] = scale[rows]
        values = np.asarray(function(kind(unit))).reshape(len(unit), -1)
        slopes.append((values - origin) / scale[rows, np.newaxis])
    return np.vstack(slopes).T.astype(np.float64), origin
