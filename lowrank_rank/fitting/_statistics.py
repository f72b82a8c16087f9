"""Moments of features and targets, the standardiser, and the default penalty.

Moments add up over blocks of whole lists.

Dense X is read a slice of rows at a time. Each slice is centred before it is
multiplied: no second copy of X is made, and a large mean cancels no digits. Sparse X
stays sparse.
"""

from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.utils.sparsefuncs import mean_variance_axis

from ..lists._lists import slices
from ..validation._arrays import is_finite
from ..validation._findings import found

_TINY = np.finfo(float).tiny
_EPS = np.finfo(float).eps


# Groups of rows ---------------------------------------------------------------------


# Rows come with the codes of their groups, integers (n_rows,), zeros for one group, and
# with their weights.


def group_totals(codes, weights):
    """Return the total weight of each group."""
    return np.bincount(codes, weights=weights, minlength=1)


def inverses_of(totals):
    """Return 1 / total of each group, 0 for a group without weight."""
    inverses = np.zeros(len(totals))
    np.divide(1.0, totals, out=inverses, where=totals > 0)
    return inverses


def group_means(values, codes, weights):
    """Weighted means of the groups, shape (n_groups, ...); sparse stays sparse."""
    inverses = inverses_of(group_totals(codes, weights))
    n_rows = len(codes)
    # One sparse product sums within all groups: column i has the one entry of row i.
    summing = sparse.csc_matrix(
        (weights, codes, np.arange(n_rows + 1)), shape=(len(inverses), n_rows)
    )
    if sparse.issparse(values):
        return sparse.diags(inverses) @ (summing.tocsr() @ values)
    if values.dtype == np.float64 and values.flags.c_contiguous:
        sums = summing @ values
    else:
        # A sparse product would convert all of `values` at once.
        sums = np.empty((len(inverses), values.shape[1]))
        for columns in slices(values.shape[1], 32):
            part = values[:, columns].astype(np.float64, order="C")
            sums[:, columns] = summing @ part
    return sums * inverses[:, np.newaxis]


def centred_slices(X, codes, means, n_columns=None):
    """Iterate over the rows of dense X minus the `means` of their groups.

    Gives slices of at least 1,024 rows and about 2**17 numbers of `n_columns`, by
    default those of X, and these centred rows. One array holds the rows of every slice.
    """
    if n_columns is None:
        n_columns = X.shape[1]
    step = max(1024, 2**17 // max(n_columns, 1))
    buffer = np.empty((min(step, len(X)), X.shape[1]))
    for rows in slices(len(X), step):
        part = buffer[: rows.stop - rows.start]
        np.take(means, codes[rows], axis=0, out=part, mode="clip")
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
        n_rows = X.shape[0]
        total = float(weights.sum())
        codes_or_zeros = np.zeros(n_rows, np.intp) if codes is None else codes
        deviations = _sparse_deviations if sparse.issparse(X) else _dense_deviations
        mean, squares, within, filled = deviations(X, weights, codes_or_zeros, total)
        return cls(
            n_rows=n_rows,
            total=total,
            mean=mean,
            squares=squares,
            filled=filled,
            within=None if codes is None else within,
            lists=None if codes is None else count_lists(codes, weights),
        )

    def __add__(self, other):
        """Add the moments of another block (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        fraction = other.total / total if total > 0 else 0.0
        # W1 W2 / (W1 + W2) (mean2 - mean1)^2 are the squares between the blocks.
        step = other.mean - self.mean
        between = self.total * fraction * step**2
        return Moments(
            n_rows=self.n_rows + other.n_rows,
            total=total,
            mean=self.mean + fraction * step,
            squares=self.squares + other.squares + between,
            filled=self.filled + other.filled,
            within=None if self.within is None else self.within + other.within,
            lists=None if self.lists is None else self.lists + other.lists,
        )

    @property
    def n_lists(self):
        """Weighted number n of lists, or the sum of the weights of a single list."""
        if self.lists is None or self.lists[0] <= 1:
            return self.total
        return float(self.lists[1])

    @property
    def deviation(self):
        """Standard deviation over all rows, or the absolute value of a constant."""
        variance = self.squares / max(self.total, _TINY)
        rounding = self.n_rows * _EPS
        is_constant = variance <= rounding * variance + (rounding * self.mean) ** 2
        size = np.where(self.mean == 0.0, 1.0, np.abs(self.mean))
        return np.where(is_constant, size, np.sqrt(np.maximum(variance, 0.0)))

    @property
    def scale(self):
        """The unit of each feature, by which it is divided.

        Documents have the standard deviation within lists: the level of a feature in a
        list says nothing about the order in it. A feature that is constant in every
        list is divided by its deviation over all rows. Other rows have the standard
        deviation. Where the fraction q of the entries that are not 0, by weight, is
        below one half, they have the standard deviation over sqrt(2 q): rare words stay
        as large as common ones.
        """
        if self.within is None:
            # A feature that is 0 in all rows of positive weight stays as it is.
            variances = np.where(self._variances > 0.0, self._variances, 1.0)
            return self.deviation / np.sqrt(variances)
        within = self.within / max(self.total, _TINY)
        overall = self.squares / max(self.total, _TINY)
        rounding = self.n_rows * _EPS
        is_constant = within <= 1e-13 * overall + rounding**2 * (overall + self.mean**2)
        deviation_within = np.sqrt(np.maximum(within, 0.0))
        return np.where(is_constant, self.deviation, deviation_within)

    @property
    def _variances(self):
        """Variances of the scaled features, ``min(2 q, 1)``, or 1 for documents."""
        if self.lists is not None:
            return np.ones(len(self.mean))
        return np.minimum(2.0 * self.filled / max(self.total, _TINY), 1.0)

    @property
    def n_features(self):
        """Number m of features; outside documents a rare one counts as its variance."""
        return float(self._variances.sum())


def _sparse_deviations(X, weights, codes, total):
    """Fields `mean`, `squares`, `within` and `filled` of `Moments` of sparse X."""
    filled = (X != 0).T @ weights
    X, mean = shift_full_columns(X)
    means = group_means(X, codes, weights)
    # sum_i w_i x_i^2 - sum_g W_g mean_g^2, 0 where rounding alone is left.
    raw = np.asarray(X.multiply(X).T @ weights).ravel()
    totals = group_totals(codes, weights)
    within = raw - np.asarray(means.multiply(means).T @ totals).ravel()
    within = np.where(within <= X.shape[0] * _EPS * raw, 0.0, within)
    squares = np.zeros(X.shape[1])
    counts = weights > 0
    if counts.any():
        # Entries of rows without weight would leave rounding in a variance.
        step, variance = mean_variance_axis(X[counts], 0, weights=weights[counts])
        mean = mean + step
        squares = total * variance
    return mean, squares, within, filled


def _dense_deviations(X, weights, codes, total):
    """Fields `mean`, `squares`, `within` and `filled` of `Moments` of dense X."""
    # All lists of one row are made one group, 0, whose rows count in `squares` alone.
    is_single = np.bincount(codes) == 1
    codes = np.where(is_single, 0, np.cumsum(~is_single))[codes]
    means = group_means(X, codes, weights)
    totals = group_totals(codes, weights)
    mean = totals @ means / max(total, _TINY)
    filled = np.zeros(X.shape[1])
    # Squared deviations from the means of the groups: of all rows, and but for group 0.
    weights_of_sums = np.stack([weights, weights * (codes > 0)])
    sums = np.zeros((2, X.shape[1]))
    for rows, centred in centred_slices(X, codes, means):
        filled += weights[rows] @ (X[rows] != 0)
        sums += weights_of_sums[:, rows] @ np.square(centred, out=centred)
    between = totals @ (means - mean) ** 2
    return mean, between + sums[0], sums[1], filled


def count_lists(codes, weights):
    """`Moments.lists` of rows with these codes of lists."""
    n_counted = np.bincount(codes, weights > 0)
    is_counted = n_counted > 0
    means = np.bincount(codes, weights)[is_counted] / n_counted[is_counted]
    return np.array([len(means), means.sum()])


def shift_full_columns(X, mean=None):
    """Subtract from sparse X the mean of every column without zeros.

    `mean` has the weighted means; None weights rows alike. Returns the shifted X and
    the subtracted means. Centred results stay the same, and an offset (a time stamp, an
    id) no longer cancels digits.
    """
    n, p = X.shape
    X = X.astype(np.float64, copy=False)
    is_full = np.bincount(X.indices, minlength=p) == n
    if not is_full.any() or not n:
        return X, np.zeros(p)
    if mean is None:
        mean = np.asarray(X.mean(axis=0)).ravel()
    shift = np.where(is_full, mean, 0.0)
    data = X.data - shift[X.indices]
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape), shift


def standardise(X, mean, scale):
    """Return ``(X - mean) / scale`` in double precision; sparse X is not centred."""
    if sparse.issparse(X):
        return (X @ sparse.diags(1.0 / scale)).tocsr()
    scaled = np.subtract(X, mean, dtype=np.float64)
    scaled /= scale
    return scaled


def shift_of(X, mean, scale):
    """Return what is still to be subtracted from the standardised rows of sparse X."""
    return mean / scale if sparse.issparse(X) else 0.0


def unscaled(coef, intercept, mean, scale):
    """Coefficients (d, p) and intercepts (d,) of the features as given."""
    # w (x - mean) / scale + b = (w / scale) x + (b - w mean / scale)
    coef = coef / scale
    return coef, intercept - coef @ mean


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
    def of(cls, X, targets, weights, codes=None, is_complete=None):
        """Second moments of rows, in double precision; `codes` are the groups of rows.

        A coordinate ignores rows whose target is NaN, which only a single group may
        have. `is_complete` says whether no target is missing; None looks.
        """
        features = Moments.of(X, weights, codes)
        if is_complete is None:
            is_complete = is_finite(targets)
        if is_complete:
            return _complete_moments(X, targets, weights, codes, features)
        p = X.shape[1]
        d = targets.shape[1]
        # The matrices of all coordinates are large: they are filled in one by one.
        total = np.empty(d)
        x_mean = np.empty((d, p))
        t_mean = np.empty(d)
        gram = np.empty((d, p, p))
        cross = np.empty((p, d))
        t_squares = 0.0
        for columns, part in moments_of_gaps(X, targets, weights):
            total[columns] = part.total
            x_mean[columns] = part.x_mean
            t_mean[columns] = part.t_mean
            gram[columns] = part.gram
            cross[:, columns] = part.cross
            t_squares += part.t_squares
        return cls(
            features=features,
            total=total,
            x_mean=x_mean,
            t_mean=t_mean,
            gram=gram,
            cross=cross,
            t_squares=t_squares,
        )

    def __add__(self, other):
        """Add the moments of another block (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        fraction = np.zeros(len(total))
        np.divide(other.total, total, out=fraction, where=total > 0)
        x_step = other.x_mean - self.x_mean
        t_step = other.t_mean - self.t_mean
        gram = self.gram + other.gram
        cross = self.cross + other.cross
        t_squares = self.t_squares + other.t_squares
        if self.features.within is None:
            # Products between the blocks: W1 W2 / (W1 + W2) step step'.
            between = (self.total * fraction)[:, np.newaxis] * x_step
            gram += between[:, :, np.newaxis] * x_step[:, np.newaxis]
            # Row by row: no second array of the size of `cross`.
            for row, step in zip(cross, between.T, strict=True):
                row += step * t_step
            t_squares += float((self.total * fraction * t_step**2).sum())
        return SecondMoments(
            features=self.features + other.features,
            total=total,
            x_mean=self.x_mean + fraction[:, np.newaxis] * x_step,
            t_mean=self.t_mean + fraction * t_step,
            gram=gram,
            cross=cross,
            t_squares=t_squares,
        )

    def as_bytes(self):
        """Bytes that differ between the moments of different rows."""
        arrays = self.total, self.x_mean, self.t_mean, self.gram, self.cross
        return b"".join(array.tobytes() for array in arrays)

    def gcv_alpha(self, scale):
        """Choose the penalty by generalised cross-validation; see `GCVError`."""
        error = GCVError(self.features.total, scale)
        crosses = np.split(self.cross, len(self.gram), axis=1)
        for gram, cross, total in zip(self.gram, crosses, self.total, strict=True):
            error.add(gram, cross, total)
        error.add_squares(self.t_squares)
        return error.best_alpha()

    # `_keep` refuses coefficients out of range.
    @np.errstate(over="ignore", invalid="ignore")
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
        coef = np.empty(self.cross.shape)
        intercept = self.t_mean.copy()
        for m, x_mean in enumerate(self.x_mean):
            solve = self._solver(penalty, scale, m)
            # One matrix for all coordinates, or matrix m for coordinate m.
            columns = slices(d, 1024) if len(self.gram) == 1 else [slice(m, m + 1)]
            for some_columns in columns:
                coef[:, some_columns] = solve(self.cross[:, some_columns])
                intercept[some_columns] -= x_mean @ coef[:, some_columns]
        return coef, intercept

    def _solver(self, penalty, scale, m):
        """Factor matrix m: return the function from `cross` to coefficients (p, k).

        A system that rounding makes singular is solved by least squares.
        """
        scale = scale[:, np.newaxis]
        # (D^-1 G D^-1 + penalty I) (D B) = D^-1 cross,  D = diag(scale)
        matrix = self.gram[m] / scale.T / scale
        solve = partial(_solve_shortest, matrix)
        if penalty > 0:
            matrix[np.diag_indices_from(matrix)] += penalty
            with suppress(linalg.LinAlgError):
                solve = partial(linalg.cho_solve, linalg.cho_factor(matrix))
        return lambda cross: solve(cross / scale) / scale


def moments_of_gaps(X, targets, weights):
    """Iterate over the coordinates that are known in the same rows.

    They have one matrix, and only one of these is in memory at a time.

    Yields
    ------
    columns : list of int
    moments : SecondMoments
        Of these coordinates over the rows that know them.
    """
    is_known = ~np.isnan(targets)
    columns_by_rows: dict = {}
    for column, bits in enumerate(np.packbits(is_known, axis=0).T):
        columns_by_rows.setdefault(bits.tobytes(), []).append(column)
    for columns in columns_by_rows.values():
        rows = np.flatnonzero(is_known[:, columns[0]])
        yield (
            columns,
            SecondMoments.of(X[rows], targets[np.ix_(rows, columns)], weights[rows]),
        )


class GCVError:
    """The error of generalised cross-validation, for 65 penalties from 1e-4 to 1e4.

    It is ``N RSS / (N - df)^2``. N is the number of known targets, RSS their squared
    error. df is the sum over targets of 1 + the sum of ``e / (e + n alpha)``, with the
    eigenvalues e of the products of scaled features over the rows that know the target
    (Golub, Heath and Wahba 1979).

    Parameters
    ----------
    n : float
        Sum of the weights of all rows.
    scale : ndarray of shape (p,)
        Of the features.
    """

    def __init__(self, n, scale):
        if n < 2.0:
            raise ValueError(
                "alpha='gcv' needs more than one sample, and the weights sum to "
                f"{n:g}: give weights that count rows, or a number for alpha."
            )
        self.alphas = np.logspace(-4, 4, 65)
        self.penalty = n * self.alphas[:, np.newaxis]
        self.scale = scale[:, np.newaxis]
        self.residual = 0.0
        self.degrees_left = 0.0

    def add_squares(self, t_squares):
        """Add the squares of centred targets to the squared error."""
        self.residual = self.residual + t_squares

    def add(self, gram, cross, total, n_targets=1):
        """Add the targets of one matrix (p, p), less their squares.

        Constant factors of the error are left out: N, and `n_targets` where all targets
        share one matrix.
        """
        eigenvalues, axes = linalg.eigh(gram / self.scale.T / self.scale)
        # Squared products of the targets with each axis, z; e + n alpha, of each alpha.
        z = np.square(axes.T @ (cross / self.scale)).sum(axis=1)
        e = np.maximum(eigenvalues, 0.0)
        shrunk = e + self.penalty
        # RSS = sum of t^2 - sum of z (e + 2 n alpha) / (e + n alpha)^2
        explained = (z * (shrunk + self.penalty) / shrunk**2).sum(axis=1)
        self.residual = self.residual - explained
        # A target without any known row has no degrees of freedom.
        known_left = max(total - 1.0, 0.0)
        degrees_left = known_left - (e / shrunk).sum(axis=1)
        self.degrees_left = self.degrees_left + n_targets * degrees_left

    def best_alpha(self):
        """Return the penalty of the least error."""
        error = np.full(len(self.alphas), np.inf)
        residual = np.maximum(self.residual, 0.0)
        is_defined = self.degrees_left > 0
        np.divide(residual, self.degrees_left**2, out=error, where=is_defined)
        return float(self.alphas[np.argmin(error)])


def _solve_shortest(matrix, right):
    """Least squares solution of least norm, with features scaled to second moment 1.

    Directions with less than 1e-10 of the largest second moment are left out, with a
    warning unless they are rounding of collinear features.
    """
    root = np.sqrt(np.diag(matrix))
    scale = np.divide(1.0, root, out=np.zeros(len(root)), where=root > 0)
    scaled = matrix * scale * scale[:, np.newaxis]
    solution, _, _, moments = linalg.lstsq(scaled, (right.T * scale).T, cond=1e-10)
    relative = moments / max(moments.max(initial=0.0), _TINY)
    is_left_out = relative <= 1e-10
    is_rounding = relative <= 10 * len(scale) * _EPS
    n_dropped = np.count_nonzero(is_left_out & ~is_rounding)
    if n_dropped:
        found(
            "collinear features",
            f"alpha=0 leaves out {n_dropped} of {len(scale)} directions of less than "
            "1e-5 of the largest standard deviation: set alpha > 0, or drop nearly "
            "collinear features.",
        )
    return (solution.T * scale).T


# Products of rows -------------------------------------------------------------------


def _complete_moments(X, targets, weights, codes, features):
    """`SecondMoments` of rows without missing targets and with these `Moments`."""
    if codes is None:
        codes = np.zeros(len(weights), dtype=np.intp)
    rounding = X.shape[0] * _EPS
    shift: Any = 0.0
    if sparse.issparse(X):
        X, shift = shift_full_columns(X)
        gram, cross, t_squares = _sparse_products(X, targets, codes, weights)
    else:
        rounding *= rounding  # rows are centred before their squares are summed
        gram, cross, t_squares = _dense_products(X, targets, codes, weights)
    # A feature that is constant in every group, but for rounding, has no products.
    raw = features.squares + features.total * (features.mean - shift) ** 2
    is_constant = np.diag(gram) <= rounding * raw
    gram[is_constant] = 0.0
    gram[:, is_constant] = 0.0
    cross[is_constant] = 0.0
    return SecondMoments(
        features=features,
        total=np.array([features.total]),
        x_mean=features.mean[np.newaxis],
        t_mean=weights @ targets / max(weights.sum(), _TINY),
        gram=gram[np.newaxis],
        cross=cross,
        t_squares=t_squares,
    )


def _sparse_products(X, targets, codes, weights):
    """Fields `gram` (p, p), `cross` and `t_squares` of `SecondMoments` of sparse X."""
    # X'WX minus the part of the groups' means; both factors stay sparse.
    rows = sparse.diags(np.sqrt(weights)) @ X
    totals = group_totals(codes, weights)
    means = sparse.diags(np.sqrt(totals)) @ group_means(X, codes, weights)
    gram = (rows.T @ rows).toarray()
    gram -= (means.T @ means).toarray()
    centred_targets = targets - group_means(targets, codes, weights)[codes]
    cross = np.asarray(X.T @ (weights[:, np.newaxis] * centred_targets))
    t_squares = float(weights @ np.square(centred_targets).sum(axis=1))
    return gram, cross, t_squares


def _dense_products(X, targets, codes, weights):
    """Fields `gram` (p, p), `cross` and `t_squares` of `SecondMoments` of dense X."""
    p = X.shape[1]
    gram = np.zeros((p, p))
    cross = np.zeros((p, targets.shape[1]))
    t_squares = 0.0
    root = np.sqrt(weights)[:, np.newaxis]
    means = group_means(X, codes, weights)
    t_means = group_means(targets, codes, weights)
    slices_of_X = centred_slices(X, codes, means)
    slices_of_targets = centred_slices(targets, codes, t_means, p)
    for (rows, centred), (_, centred_targets) in zip(
        slices_of_X, slices_of_targets, strict=True
    ):
        # sqrt(w) (x - mean) and sqrt(w) (t - mean)
        centred *= root[rows]
        centred_targets *= root[rows]
        gram += centred.T @ centred
        cross += centred.T @ centred_targets
        t_squares += float(np.vdot(centred_targets, centred_targets))
    return gram, cross, t_squares


# Default penalty ----------------------------------------------------------------------


def chosen_alpha(alpha, m, n, curvature=1.0):
    """Return the penalty beside the mean loss; "auto" is ``0.5 curvature m / n``.

    m is `Moments.n_features` and n `Moments.n_lists`. The curvature of the loss at
    equal scores is 1 for squares and for documents. The factor 0.5 is measured
    (``python -m benchmarks rules``).
    """
    if alpha == "gcv":
        raise ValueError(
            "alpha='gcv' is for ridge regression of fixed items, classes or sets of "
            "labels: set estimator='ridge', or give alpha='auto' or a number."
        )
    if alpha != "auto":
        return float(alpha)
    return 0.5 * curvature * (m or 1.0) / n  # X may be empty
