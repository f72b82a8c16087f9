"""Moments of features and targets, the standardiser, and the default penalty.

Moments add up over blocks of whole lists.

Dense X is read a slice of rows at a time. Each slice is centred before it is
multiplied: no second copy of X is made, and a large mean cancels no digits. Sparse X
stays sparse.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._arrays import is_finite, slices
from .._warn import warn

_TINY, _EPS = np.finfo(float).tiny, np.finfo(float).eps


# Groups of rows ---------------------------------------------------------------------


class Groups:
    """Weighted means within groups of rows, as one sparse product.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Group of each row; zeros for one group.
    weights : ndarray of shape (n_rows,)
    """

    def __init__(self, codes, weights):
        self.codes, self.weights = codes, weights
        n_groups = int(codes.max(initial=0)) + 1
        rows = np.arange(len(codes))
        self.summing = sparse.csr_matrix(
            (weights, (codes, rows)), shape=(n_groups, len(codes))
        )
        self.totals = np.bincount(codes, weights=weights, minlength=n_groups)
        self.inverse = np.divide(
            1.0, self.totals, out=np.zeros(n_groups), where=self.totals > 0
        )

    def means(self, values):
        """Weighted mean of each group's rows, shape (n_groups, ...); sparse stays sparse."""
        if sparse.issparse(values):
            return sparse.diags(self.inverse) @ (self.summing @ values)
        if values.ndim == 1 or (
            values.dtype == np.float64 and values.flags.c_contiguous
        ):
            sums = self.summing @ values
        else:  # a sparse product would convert all of `values` at once
            sums = np.empty((len(self.totals), values.shape[1]))
            for some in slices(values.shape[1], 32):
                sums[:, some] = self.summing @ values[:, some].astype(
                    np.float64, order="C"
                )
        return sums * self.inverse.reshape(-1, *[1] * (sums.ndim - 1))

    def centre(self, values):
        """Subtract from dense values the mean of their group."""
        means = np.take(self.means(values), self.codes, axis=0)
        return np.subtract(values, means, out=means)

    def centred_slices(self, X, means):
        """Iterate over the rows of dense X minus the `means` of their groups.

        Gives slices of at least 1,024 rows and about 2**17 numbers, and these centred
        rows. One array holds the rows of every slice.
        """
        step = max(1024, 2**17 // max(X.shape[1], 1))
        buffer = np.empty((min(step, len(X)), X.shape[1]))
        for rows in slices(len(X), step):
            part = buffer[: rows.stop - rows.start]
            np.take(means, self.codes[rows], axis=0, out=part, mode="clip")
            yield rows, np.subtract(X[rows], part, out=part)


# Moments of the features ------------------------------------------------------------


@dataclass(frozen=True)
class Moments:
    """Weighted moments of the features over all rows. Moments of two blocks add up.

    Attributes
    ----------
    n_rows : int
    total : float
        Sum of the weights.
    mean : ndarray of shape (p,)
    squares : ndarray of shape (p,)
        Weighted sum of the squared deviations from the mean.
    within : ndarray of shape (p,) or None
        Weighted sum of the squared deviations from the mean of the list; None without
        lists.
    filled : ndarray of shape (p,)
        Sum of the weights of the rows where a feature is not 0.
    lists : ndarray of shape (2,) or None
        Number of lists of positive weight, and the sum over lists of the mean weight of
        their rows of positive weight; None where each row is a list.
    """

    n_rows: int
    total: float
    mean: np.ndarray
    squares: np.ndarray
    filled: np.ndarray
    within: np.ndarray | None = None
    lists: np.ndarray | None = None

    @classmethod
    def of(cls, X, weights, codes=None):
        """Moments of the rows of X; `codes` gives the list of each row."""
        (n, p), total, mean = X.shape, float(weights.sum()), 0.0
        of_rows = np.zeros(n, np.intp) if codes is None else codes
        filled, squares, within = np.zeros((3, p))
        if sparse.issparse(X):
            groups = Groups(of_rows, weights)
            filled = (X != 0).T @ weights
            X, mean = shift_full_columns(X)
            means, counts = groups.means(X), weights > 0
            raw = np.asarray(X.multiply(X).T @ weights).ravel()
            within = raw - np.asarray(means.multiply(means).T @ groups.totals).ravel()
            within = np.where(within <= n * _EPS * raw, 0.0, within)
            if counts.any():  # entries of other rows would leave rounding in a variance
                step, variance = mean_variance_axis(
                    X[counts], 0, weights=weights[counts]
                )
                mean, squares = mean + step, total * variance
        else:
            # Lists of one row are one group, 0, which counts in the squares alone.
            alone = np.bincount(of_rows) == 1
            groups = Groups(np.where(alone, 0, np.cumsum(~alone))[of_rows], weights)
            means = groups.means(X)
            mean = groups.totals @ means / max(total, _TINY)
            kinds = np.stack([weights, weights * (groups.codes > 0)])
            sums = np.zeros((2, p))
            for rows, part in groups.centred_slices(X, means):
                filled += weights[rows] @ (X[rows] != 0)
                sums += kinds[:, rows] @ np.square(part, out=part)
            squares, within = groups.totals @ (means - mean) ** 2 + sums[0], sums[1]
        of_lists = () if codes is None else (within, count_lists(codes, weights))
        return cls(n, total, mean, squares, filled, *of_lists)

    def __add__(self, other):
        """Moments of both blocks together (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        fraction = other.total / total if total > 0 else 0.0
        step = other.mean - self.mean
        return Moments(
            self.n_rows + other.n_rows,
            total,
            self.mean + fraction * step,
            self.squares + other.squares + self.total * fraction * step**2,
            self.filled + other.filled,
            None if self.within is None else self.within + other.within,
            None if self.lists is None else self.lists + other.lists,
        )

    @property
    def n_lists(self):
        """Number n of lists, weighted; the rows of a single list count by their weights."""
        return (
            self.total
            if self.lists is None or self.lists[0] <= 1
            else float(self.lists[1])
        )

    @property
    def deviation(self):
        """Standard deviation of each feature over all rows, of a constant feature its size."""
        variance = self.squares / max(self.total, _TINY)
        rounding = self.n_rows * _EPS
        constant = variance <= rounding * variance + (rounding * self.mean) ** 2
        size = np.where(self.mean == 0.0, 1.0, np.abs(self.mean))
        return np.where(constant, size, np.sqrt(np.maximum(variance, 0.0)))

    @property
    def scale(self):
        """The unit of each feature, by which it is divided.

        Documents have the standard deviation within lists: the level of a feature in a
        list says nothing about the order in it. A feature that is constant in every
        list is divided by its deviation over all rows. Other rows have the standard
        deviation. Where the share q of the entries that are not 0, by weight, is below
        one half, they have the standard deviation over sqrt(2 q): rare words stay as
        large as common ones.
        """
        if self.within is not None:
            variance, overall = (
                s / max(self.total, _TINY) for s in (self.within, self.squares)
            )
            rounding = self.n_rows * _EPS
            constant = variance <= 1e-13 * overall + rounding**2 * (
                overall + self.mean**2
            )
            return np.where(
                constant, self.deviation, np.sqrt(np.maximum(variance, 0.0))
            )
        return self.deviation / np.sqrt(
            np.where(self._variances > 0.0, self._variances, 1.0)
        )

    @property
    def _variances(self):
        """Variances of the scaled features, ``min(2 q, 1)``, or 1 for documents."""
        if self.lists is not None:
            return np.ones(len(self.mean))
        return np.minimum(2.0 * self.filled / max(self.total, _TINY), 1.0)

    @property
    def mean_square(self):
        """Number m of features; a rare one of items, classes or sets counts as its variance."""
        return float(self._variances.sum())


def count_lists(codes, weights):
    """`Moments.lists` of rows with these codes of lists."""
    n_counted = np.bincount(codes, weights > 0)
    means = np.bincount(codes, weights)[n_counted > 0] / n_counted[n_counted > 0]
    return np.array([len(means), means.sum()])


def shift_full_columns(X, mean=None):
    """Subtract from sparse X the mean of every column without zeros; returns it and the means.

    `mean` has the weighted means; None weights rows alike.

    Centred results stay the same, and an offset (a time stamp, an id) no longer cancels
    digits.
    """
    X = X.astype(np.float64, copy=False)
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    if not full.any() or not X.shape[0]:
        return X, np.zeros(X.shape[1])
    shift = np.where(
        full, np.asarray(X.mean(axis=0)).ravel() if mean is None else mean, 0.0
    )
    data = X.data - shift[X.indices]
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape), shift


class Scaling(NamedTuple):
    """Features are standardised as ``(x - mean) / scale``.

    Attributes
    ----------
    mean, scale : ndarray of shape (p,)
        The mean is 0 where features are not centred.
    """

    mean: np.ndarray
    scale: np.ndarray

    def unscaled(self, coef, intercept):
        """Coefficients (d, p) and intercepts (d,) of the features as given."""
        coef = coef / self.scale
        return coef, intercept - coef @ self.mean


def standardise(X, scaling):
    """The standardised copy of X in double precision; sparse X is divided, but not centred."""
    if sparse.issparse(X):
        return (X @ sparse.diags(1.0 / scaling.scale)).tocsr()
    scaled = np.subtract(X, scaling.mean, dtype=np.float64)
    scaled /= scaling.scale
    return scaled


# Second moments ---------------------------------------------------------------------


@dataclass(frozen=True)
class SecondMoments:
    """Sufficient statistics of ridge regression. Blocks of whole groups add up exactly.

    The leading axis of `total`, `x_mean` and `gram` has one entry, or one for each
    coordinate if targets are missing.

    Attributes
    ----------
    features : Moments
        Moments of all rows, for standardisation.
    total : ndarray of shape (m,)
        Sum of the weights.
    x_mean : ndarray of shape (m, p)
    t_mean : ndarray of shape (d,)
    gram : ndarray of shape (m, p, p)
        Weighted products of centred features.
    cross : ndarray of shape (p, d)
        Weighted products of centred features and centred targets.
    t_squares : float
        Weighted sum of the squares of all centred targets.
    """

    features: Moments
    total: np.ndarray
    x_mean: np.ndarray
    t_mean: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    t_squares: float

    @classmethod
    def of(cls, X, targets, weights, codes=None):
        """Second moments of rows, in double precision; `codes` are the groups of rows.

        A coordinate ignores rows whose target is NaN, which only a single group may
        have.
        """
        if is_finite(targets):
            return _known_moments(X, targets, weights, codes)
        judged = ~np.isnan(targets)
        groups: dict = {}
        for column, bits in enumerate(np.packbits(judged, axis=0).T):
            groups.setdefault(bits.tobytes(), []).append(column)
        columns = [np.array(js) for js in groups.values()]  # known in the same rows
        rows = [np.flatnonzero(judged[:, js[0]]) for js in columns]
        parts = [
            _known_moments(X[kept], targets[np.ix_(kept, js)], weights[kept])
            for js, kept in zip(columns, rows, strict=True)
        ]
        order = np.argsort(np.concatenate(columns))
        entry = np.repeat(np.arange(len(parts)), [len(js) for js in columns])[order]
        return cls(
            Moments.of(X, weights),
            np.concatenate([part.total for part in parts])[entry],
            np.concatenate([part.x_mean for part in parts])[entry],
            np.concatenate([part.t_mean for part in parts])[order],
            np.concatenate([part.gram for part in parts])[entry],
            np.hstack([part.cross for part in parts])[:, order],
            sum(part.t_squares for part in parts),
        )

    def __add__(self, other):
        """Second moments of both blocks together (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        fraction = np.divide(
            other.total, total, out=np.zeros(len(total)), where=total > 0
        )
        x_step, t_step = other.x_mean - self.x_mean, other.t_mean - self.t_mean
        gram, cross = self.gram + other.gram, self.cross + other.cross
        if self.features.within is None:
            between = (self.total * fraction)[:, np.newaxis] * x_step
            gram += between[:, :, np.newaxis] * x_step[:, np.newaxis]
            for row, step in zip(
                cross, between.T, strict=True
            ):  # no second array of this size
                row += step * t_step
        return SecondMoments(
            features=self.features + other.features,
            total=total,
            x_mean=self.x_mean + fraction[:, np.newaxis] * x_step,
            t_mean=self.t_mean + fraction * t_step,
            gram=gram,
            cross=cross,
            t_squares=self.t_squares
            + other.t_squares
            + float((self.total * fraction * t_step**2).sum()),
        )

    def as_bytes(self):
        """Bytes that differ between the moments of different rows."""
        arrays = self.total, self.x_mean, self.t_mean, self.gram, self.cross
        return b"".join(array.tobytes() for array in arrays)

    def gcv_alpha(self, scale):
        """The penalty of least generalised cross-validation error, of 65 from 1e-4 to 1e4.

        The error is ``n RSS / (n - df)^2``. RSS is the squared error of all targets. df
        is 1 + the sum of ``e / (e + n alpha)``, with the eigenvalues e of the products
        of scaled features (Golub, Heath and Wahba 1979).
        """
        n, alphas = self.features.total, np.logspace(-4, 4, 65)
        if n < 2.0:
            raise ValueError(
                f"alpha='gcv' needs more than one sample, and the weights sum to {n:g}: give "
                "weights that count rows, or a number for alpha."
            )
        scale = scale[:, np.newaxis]
        e, axes = linalg.eigh(self.gram[0] / scale.T / scale)
        z = np.square(axes.T @ (self.cross / scale)).sum(axis=1)
        shrunk = np.maximum(e, 0.0) + n * alphas[:, np.newaxis]
        explained = (z * (shrunk + n * alphas[:, np.newaxis]) / shrunk**2).sum(axis=1)
        left = n - 1.0 - (np.maximum(e, 0.0) / shrunk).sum(axis=1)
        error = np.full(len(alphas), np.inf)
        np.divide(
            np.maximum(self.t_squares - explained, 0.0),
            left**2,
            out=error,
            where=left > 0,
        )
        return float(alphas[np.argmin(error)])

    @np.errstate(
        over="ignore", invalid="ignore"
    )  # `_keep` refuses coefficients out of range
    def solve(self, penalty, scale=None):
        """Coefficients (p, d) and intercepts (d,) of ridge regression.

        Parameters
        ----------
        penalty : float
            Factor of half the squared coefficients of ``x / scale``.
        scale : ndarray of shape (p,) or None
            None is 1 for every feature.
        """
        d = len(self.t_mean)
        if d == 0:  # LAPACK refuses systems without a right side
            return np.zeros_like(self.cross), np.zeros(0)
        scale = np.ones(len(self.cross)) if scale is None else scale
        coef, intercept = np.empty(self.cross.shape), self.t_mean.copy()
        for m, x_mean in enumerate(self.x_mean):
            solve = self._solver(penalty, scale, m)
            for js in slices(d, 1024) if len(self.gram) == 1 else [slice(m, m + 1)]:
                coef[:, js] = solve(self.cross[:, js])
                intercept[js] -= x_mean @ coef[:, js]
        return coef, intercept

    def _solver(self, penalty, scale, m):
        """The function from `cross` to coefficients, both (p, k), with the system factored once.

        A system that rounding makes singular is solved by least squares.
        """
        scale = scale[:, np.newaxis]
        matrix = self.gram[m] / scale.T / scale
        solve = partial(_solve_shortest, matrix)
        if penalty > 0:
            matrix[np.diag_indices_from(matrix)] += penalty
            with suppress(linalg.LinAlgError):
                solve = partial(linalg.cho_solve, linalg.cho_factor(matrix))
        return lambda cross: solve(cross / scale) / scale


def _solve_shortest(matrix, right):
    """Least squares solution of least norm, with features scaled to second moment 1.

    Directions with less than 1e-10 of the largest second moment are left out, with a
    warning unless they are rounding of collinear features.
    """
    scale = np.sqrt(np.diag(matrix))
    scale = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    scaled = matrix * scale * scale[:, np.newaxis]
    solution, _, _, moments = linalg.lstsq(scaled, (right.T * scale).T, cond=1e-10)
    relative = moments / max(moments.max(initial=0.0), _TINY)
    dropped = np.count_nonzero(
        (relative > 10 * len(scale) * _EPS) & (relative <= 1e-10)
    )
    if dropped:
        warn(
            f"alpha=0 leaves out {dropped} of {len(scale)} directions of less than 1e-5 of the "
            "largest standard deviation: set alpha > 0, or drop nearly collinear features."
        )
    return (solution.T * scale).T


# Products of rows -------------------------------------------------------------------


def _known_moments(X, targets, weights, codes=None):
    """`SecondMoments` of rows without missing targets."""
    groups = Groups(
        np.zeros(len(weights), dtype=np.intp) if codes is None else codes, weights
    )
    t_mean = weights @ targets / max(weights.sum(), _TINY)
    features, shift = Moments.of(X, weights, codes), 0.0
    (n, p), d = X.shape, targets.shape[1]
    rounding = n * _EPS
    if sparse.issparse(X):
        X, shift = shift_full_columns(X)
        # X'WX minus the part of the groups' means; both factors stay sparse.
        rows = sparse.diags(np.sqrt(weights)) @ X
        means = sparse.diags(np.sqrt(groups.totals)) @ groups.means(X)
        gram = (rows.T @ rows).toarray()
        gram -= (means.T @ means).toarray()
        centred = groups.centre(targets)
        cross = np.asarray(X.T @ (weights[:, np.newaxis] * centred))
        t_squares = float(weights @ np.square(centred).sum(axis=1))
    else:
        rounding *= rounding  # rows are centred before their squares are summed
        gram, cross, t_squares = np.zeros((p, p)), np.zeros((p, d)), 0.0
        t_means, root = groups.means(targets), np.sqrt(weights)[:, np.newaxis]
        for rows, part in groups.centred_slices(X, groups.means(X)):
            part *= root[rows]
            gram += part.T @ part
            t = root[rows] * (targets[rows] - t_means[groups.codes[rows]])
            cross += part.T @ t
            t_squares += float(np.vdot(t, t))
    raw = features.squares + features.total * (features.mean - shift) ** 2
    constant = np.diag(gram) <= rounding * raw  # in every group, but for rounding
    gram[constant], gram[:, constant], cross[constant] = 0.0, 0.0, 0.0
    total, x_mean = np.array([features.total]), features.mean[np.newaxis]
    return SecondMoments(
        features, total, x_mean, t_mean, gram[np.newaxis], cross, t_squares
    )


# Default penalty ----------------------------------------------------------------------


def chosen_alpha(alpha, m, n, curvature=1.0):
    """The penalty beside the mean loss: a number, or for "auto" ``0.5 curvature m / n``.

    m is `Moments.mean_square` and n `Moments.n_lists`. The curvature of the loss at
    equal scores is 1 for squares and for documents. The factor 0.5 is measured
    (``python -m benchmarks rules``).
    """
    if alpha == "gcv":
        raise ValueError(
            "alpha='gcv' is for ridge regression of fixed items, classes or sets of labels, all of "
            "them known: set estimator='ridge', or give alpha='auto' or a number."
        )
    if alpha != "auto":
        return float(alpha)
    return 0.5 * curvature * (m or 1.0) / n  # X may be empty
