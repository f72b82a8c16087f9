"""What ridge regression needs to know of the rows: sums that batches of whole lists add to.

X is read in blocks of rows, each of which is multiplied, centred where need be, while it is in the
cache: whatever the type and the order of X, no second copy of it is made. Blocks of float32 are
multiplied and summed as such; sums over blocks are of double precision.
"""

from collections import defaultdict
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack
from sklearn.utils import gen_batches
from sklearn.utils.sparsefuncs import mean_variance_axis

from .._arrays import fits_in_single, is_finite
from ._rows import DenseSums, Runs, has_left_single, is_near_zero, means_of_runs

_ROWS_AT_ONCE = 1024  # at least: sums of fewer rows spend their time on the p x p matrix
#: Of X at a time where that is more rows: that are centred in the cache, and that are not.
_BYTES_CENTRED, _BYTES_AS_THEY_ARE = 2**20, 2**23
_MOST_PATTERNS = 16  # of missing targets, of which rows are looked at for equal ones
_TINY, _EPS = np.finfo(float).tiny, np.finfo(float).eps


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
        n_groups = int(codes.max()) + 1
        rows = np.arange(len(codes))
        self.summing = sparse.csr_matrix((weights, (codes, rows)), shape=(n_groups, len(codes)))
        self.totals = np.bincount(codes, weights=weights, minlength=n_groups)
        self.inverse = np.divide(1.0, self.totals, out=np.zeros(n_groups), where=self.totals > 0)

    def means(self, values):
        """Weighted mean of each group's rows, shape (n_groups, ...); sparse stays sparse."""
        if sparse.issparse(values):
            return sparse.diags(self.inverse) @ (self.summing @ values)
        as_it_is = values.dtype == np.float64 and values.flags.c_contiguous
        sums = self.summing @ values if as_it_is else self._sums_of_blocks(values)
        return sums * self.inverse.reshape(-1, *[1] * (sums.ndim - 1))

    def _sums_of_blocks(self, values):
        """Sums of what a sparse product would convert first, all of it."""
        sums = np.zeros((len(self.totals), *values.shape[1:]))
        for rows in gen_batches(len(values), _ROWS_AT_ONCE):
            here, codes = np.unique(self.codes[rows], return_inverse=True)
            entries = self.weights[rows], (codes, np.arange(len(codes)))
            block = np.ascontiguousarray(values[rows], dtype=np.float64)
            sums[here] += sparse.csr_matrix(entries, shape=(len(here), len(codes))) @ block
        return sums

    def centre(self, values):
        """Values minus the mean of their group (dense)."""
        return values - self.means(values)[self.codes]

    def centre_adjoint(self, values):
        """The transpose of `centre`, for vectors."""
        sums = np.bincount(self.codes, weights=values, minlength=len(self.totals))
        return values - self.weights * (sums * self.inverse)[self.codes]


def columns_of_patterns(known):
    """The columns of a boolean matrix in groups of equal ones."""
    alike = defaultdict(list)
    for j, bits in enumerate(np.packbits(known, axis=0).T):  # NumPy's unique sorts them, slowly
        alike[bits.tobytes()].append(j)
    return [np.array(js) for js in alike.values()]


def _judged(targets, rows):
    """What is known of the targets of some rows (None is all), or None where all is."""
    if is_finite(targets):
        return None
    judged = ~np.isnan(targets if rows is None else targets[rows])
    return None if judged.all() else judged


def _rows_alike(judged, columns):
    """The rows of a boolean matrix in groups of equal ones, or None where they are many.

    Parameters
    ----------
    judged : ndarray of bool, shape (n, d)
    columns : list of ndarray of int
        Groups of its equal columns.
    """
    if len(columns) > _MOST_PATTERNS:
        return None
    codes = np.zeros(len(judged), dtype=np.uint16)
    for m, js in enumerate(columns):
        codes |= judged[:, js[0]].astype(np.uint16) << np.uint16(m)
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    if len(counts) > 2 * len(columns):
        return None
    return np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])


# Moments of the features ------------------------------------------------------------


class Moments(NamedTuple):
    """Weighted mean and spread of the features over all rows, whatever their list or labels.

    Attributes
    ----------
    n_rows : int
    total : float
        Sum of the weights.
    mean : ndarray of shape (p,)
    squares : ndarray of shape (p,)
        Weighted sum of the squared deviations from the mean.
    """

    n_rows: int
    total: float
    mean: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, X, weights):
        """Of the rows of X, dense or sparse, in any order."""
        if sparse.issparse(X):
            X, shift = _shift_full_columns(X.astype(np.float64, copy=False))
            features = cls.of_sparse(X, weights)
            return features._replace(mean=features.mean + shift)
        runs = Runs.of(len(weights), None, None)
        return _dense_products(X, np.empty((len(weights), 0)), weights, runs, gram=False)[2]

    @classmethod
    def of_rows(cls, X, weights):
        """Of the rows of a dense X."""
        total = weights.sum()
        mean = (weights @ X) / max(total, _TINY)
        return cls(len(weights), total, mean, weights @ (X - mean) ** 2)

    @classmethod
    def of_sparse(cls, X, weights):
        """Of the rows of a sparse X."""
        total = weights.sum()
        if total == 0:
            return cls(len(weights), 0.0, np.zeros(X.shape[1]), np.zeros(X.shape[1]))
        counts = weights > 0  # what only the others have would be rounding in a variance
        kept = X if counts.all() else X[counts]
        mean, variance = mean_variance_axis(kept, 0, weights=weights[counts])
        return cls(len(weights), total, mean, total * variance)

    def plus(self, other):
        """Those of both batches together (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        fraction = other.total / total if total > 0 else 0.0
        step = other.mean - self.mean
        return Moments(
            self.n_rows + other.n_rows,
            total,
            self.mean + fraction * step,
            self.squares + other.squares + self.total * fraction * step**2,
        )

    @property
    def scale(self):
        """Standard deviation of each feature, 1 where it is constant but for rounding."""
        variance = self.squares / max(self.total, _TINY)
        rounding = self.n_rows * np.finfo(float).eps
        constant = variance <= rounding * variance + (rounding * self.mean) ** 2
        return np.sqrt(np.where(constant, 1.0, variance))


def moments_and_squares_within(X, groups):
    """`Moments` of all rows, and the weighted sums of squares centred within the groups."""
    if sparse.issparse(X):
        return Moments.of(X, groups.weights), squares_within(X, groups)[0]
    means = groups.means(X)
    within = squares_within(X, groups, means)[0]
    between = Moments.of_rows(means, groups.totals)
    return between._replace(n_rows=len(X), squares=between.squares + within), within


def squares_within(X, groups, means=None):
    """Weighted sums of squares of each column: centred within the groups, and as they are."""
    means = groups.means(X) if means is None else means
    if sparse.issparse(X):
        raw = np.asarray(X.multiply(X).T @ groups.weights).ravel()
        within = raw - np.asarray(means.multiply(means).T @ groups.totals).ravel()
        cancels = within <= len(groups.weights) * _EPS * raw
        return np.where(cancels, 0.0, within), raw
    within = np.zeros(X.shape[1])
    for rows in gen_batches(len(X), _ROWS_AT_ONCE):
        centred = X[rows] - means[groups.codes[rows]]
        within += groups.weights[rows] @ np.square(centred, out=centred)
    return within, within + groups.totals @ means**2


def scale_within(features, squares, total):
    """Standard deviation of each feature within groups, of its sums of squares there.

    The level of a feature in a list says nothing about the order in it: over all rows, a feature
    whose level differs between lists would be penalised for that. One that is constant in all
    groups has its deviation over all rows.
    """
    variance = squares / max(total, _TINY)
    overall = features.squares / max(features.total, _TINY)
    rounding = features.n_rows * np.finfo(float).eps
    constant = variance <= 1e-13 * overall + rounding**2 * (overall + features.mean**2)
    return np.where(constant, features.scale, np.sqrt(variance))


# Statistics -------------------------------------------------------------------------


@dataclass(frozen=True)
class RidgeStatistics:
    """What ridge needs to know of the rows; batches of whole groups add up exactly.

    The leading axis of `total`, `x_mean` and `gram` has one entry for each pattern of missing
    targets: coordinates that are known in the same rows share it.

    Attributes
    ----------
    pooled : bool
        One group for all rows of all batches, rather than groups within a batch.
    features : Moments
        Of all rows, which the features are standardised by.
    pattern : ndarray of int, shape (d,)
        The entry of the leading axis that a coordinate has.
    total : ndarray of shape (m,)
        Sum of the weights.
    x_mean : ndarray of shape (m, p)
    t_mean : ndarray of shape (d,)
    gram : ndarray of shape (m, p, p)
        Weighted products of centred features.
    cross : ndarray of shape (p, d)
        Weighted products of centred features and centred targets.
    work : float
        Multiplications that it took.
    """

    pooled: bool
    features: Moments
    pattern: np.ndarray
    total: np.ndarray
    x_mean: np.ndarray
    t_mean: np.ndarray
    gram: np.ndarray
    cross: np.ndarray
    work: float

    @classmethod
    def of_batch(cls, X, targets, weights, codes=None, rows=None):
        """Statistics of rows; `codes` gives the group of each, None is one group.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
            In any order, of float32 or float64; the statistics are float64.
        targets : ndarray of shape (n, d)
            NaN, with one group only, leaves a row out of that coordinate.
        weights : ndarray of shape (n,)
        codes : ndarray of int, shape (n,), or None
        rows : ndarray of int or None
            Of those rows only, in that order: whole groups.
        """
        judged = _judged(targets, rows)
        if judged is None:
            return cls._of_columns(X, targets, weights, codes, [slice(None)], [rows])
        columns = columns_of_patterns(judged)
        rows = np.arange(len(targets)) if rows is None else rows
        alike = None if codes is not None else _rows_alike(judged, columns)
        if alike is not None:  # each row is read once
            parts = [cls._of_alike(X, targets, weights, judged[of[0]], rows[of]) for of in alike]
            return reduce(add, parts)._without_constants(_rounding(X, len(rows)))
        kept = [rows[judged[:, js[0]]] for js in columns]
        features = _products(X, targets[:, :0], weights, None, rows, gram=False).features
        return cls._of_columns(X, targets, weights, codes, columns, kept, features)

    @classmethod
    def _of_columns(cls, X, targets, weights, codes, columns, kept, features=None):
        """Of groups of columns, each known in some rows."""
        sums = [
            _products(X, targets, weights, codes, some, js)
            for js, some in zip(columns, kept, strict=True)
        ]
        features = sums[0].features if features is None else features
        return cls._of_sums(sums, columns, targets.shape[1], codes is None, features)

    @classmethod
    def _of_alike(cls, X, targets, weights, known, rows):
        """Of rows of one group that all know the same columns."""
        unknown = np.flatnonzero(~known)
        columns: list = [np.flatnonzero(known)] if known.any() else []
        sums = [
            _products(X, targets, weights, None, rows, slice(None) if known.all() else js)
            for js in columns
        ]
        if sums:
            features = sums[0].features
        else:
            features = _products(X, targets[:, :0], weights, None, rows, gram=False).features
        if len(unknown):
            columns.append(unknown)
            sums.append(_nothing(X.shape[1], len(unknown)))
        else:
            columns = [slice(None)]
        return cls._of_sums(sums, columns, targets.shape[1], True, features)

    def _without_constants(self, rounding):
        """Exact zeros for features that are constant where a coordinate is known, but for rounding.

        Parameters
        ----------
        rounding : float
            Of a sum of squares, as a fraction.
        """
        squares = np.einsum("mpp->mp", self.gram)
        constant = squares <= rounding * (squares + self.total[:, np.newaxis] * self.x_mean**2)
        gram = np.where(constant[:, :, np.newaxis] | constant[:, np.newaxis], 0.0, self.gram)
        return replace(self, gram=gram, cross=np.where(constant[self.pattern].T, 0.0, self.cross))

    @classmethod
    def _of_sums(cls, sums, columns, d, pooled, features):
        pattern, t_mean = np.zeros(d, dtype=np.intp), np.empty(d)
        cross = np.empty((len(features.mean), d))
        for m, (js, part) in enumerate(zip(columns, sums, strict=True)):
            pattern[js], t_mean[js], cross[:, js] = m, part.t_mean, part.cross
        grams = [part.gram for part in sums]
        return cls(
            pooled,
            features,
            pattern,
            np.array([part.features.total for part in sums]),
            np.array([part.features.mean for part in sums]),
            t_mean,
            grams[0][np.newaxis] if len(grams) == 1 else np.array(grams),
            cross,
            sum(part.work for part in sums),
        )

    def _of_patterns(self, entries, pattern):
        """The same with a leading axis of those entries."""
        if len(entries) == len(self.gram) == 1:
            return self
        return replace(
            self,
            pattern=pattern,
            total=self.total[entries],
            x_mean=self.x_mean[entries],
            gram=self.gram[entries],
        )

    def __add__(self, other):
        """Statistics of both batches together (Chan, Golub & LeVeque's update)."""
        both = np.stack([self.pattern, other.pattern])
        if both.any():
            entries, pattern = np.unique(both, axis=1, return_inverse=True)
            self = self._of_patterns(entries[0], pattern.ravel())
            other = other._of_patterns(entries[1], pattern.ravel())
        total = self.total + other.total
        fraction = np.divide(other.total, total, out=np.zeros(len(total)), where=total > 0)
        x_step, t_step = other.x_mean - self.x_mean, other.t_mean - self.t_mean
        gram, cross = self.gram + other.gram, self.cross + other.cross
        if self.pooled:
            between = (self.total * fraction)[:, np.newaxis]
            gram += (between * x_step)[:, :, np.newaxis] * x_step[:, np.newaxis]
            cross += (between * x_step)[self.pattern].T * t_step
        return replace(
            self,
            features=self.features.plus(other.features),
            total=total,
            x_mean=self.x_mean + fraction[:, np.newaxis] * x_step,
            t_mean=self.t_mean + fraction[self.pattern] * t_step,
            gram=gram,
            cross=cross,
            work=self.work + other.work,
        )

    # Solutions ------------------------------------------------------------------------

    def solve(self, penalty, scale=None):
        """Coefficients (p, d) and intercept (d,) that minimise the sum of squares plus a penalty.

        Parameters
        ----------
        penalty : float
            Of the squared coefficients of the features over their `scale`.
        scale : ndarray of shape (p,) or None
            None leaves them as they are.
        """
        d = len(self.t_mean)
        if d == 0:  # a single item has no pairs, and LAPACK takes no systems without a right side
            return np.zeros_like(self.cross), np.zeros(0)
        scale = np.ones(len(self.cross)) if scale is None else scale
        scaled, coef = self.cross / scale[:, np.newaxis], np.empty(self.cross.shape)
        for m, gram in enumerate(self.gram):
            matrix, js = gram / scale / scale[:, np.newaxis], self.pattern == m
            if penalty > 0:
                matrix[np.diag_indices_from(matrix)] += penalty
                coef[:, js] = _solve_positive(matrix, scaled[:, js])
            else:
                coef[:, js] = _solve_shortest(matrix, scaled[:, js])
        coef /= scale[:, np.newaxis]
        return coef, self._intercept(coef)

    @property
    def scale(self):
        """Standard deviation of each feature within the groups."""
        if self.pooled:
            return self.features.scale
        squares = np.einsum("mpp->p", self.gram)
        return scale_within(self.features, squares, self.total.sum())

    def solve_standardised(self, alpha):
        """Those of ``mean of the halved squares + alpha / 2 |w|**2``, w of standardised features.

        Parameters
        ----------
        alpha : float
        """
        return self.solve(alpha * self.features.total, self.scale)

    def path(self, alphas):
        """What `solve_standardised` finds for each alpha > 0, by one reduction.

        Returns
        -------
        coef : ndarray of shape (len(alphas), p, d)
        intercept : ndarray of shape (len(alphas), d)
        """
        scale, penalties = self.scale, alphas * self.features.total
        scaled = self.cross / scale[:, np.newaxis]
        coef = np.empty((len(alphas), *self.cross.shape))
        for m, gram in enumerate(self.gram):
            js = np.flatnonzero(self.pattern == m)
            coef[:, :, js] = _solve_penalised(
                gram / scale / scale[:, np.newaxis], scaled[:, js], penalties
            )
        coef /= scale[:, np.newaxis]
        return coef, np.array([self._intercept(one) for one in coef])

    def _intercept(self, coef):
        if len(self.x_mean) == 1:
            return self.t_mean - self.x_mean[0] @ coef
        return self.t_mean - np.einsum("dp,pd->d", self.x_mean[self.pattern], coef)


def _solve_positive(matrix, right):
    """Solution of a positive definite system, by least squares if rounding makes it singular."""
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix), right)
    except linalg.LinAlgError:
        return _solve_shortest(matrix, right)


def _solve_penalised(matrix, right, penalties):
    """Solutions of (matrix + penalty) x = right for each penalty, shape (n_penalties, p, d).

    By an orthogonal reduction of the matrix, positive semidefinite, to a tridiagonal one, in which
    each penalty is a system of its own (Elden 1977, for ridge regression); a fifth of the time of
    eigenvectors.
    """
    p, d = right.shape
    if p == 1:
        return right / (matrix + penalties[:, np.newaxis, np.newaxis])
    reduced, main, side, tau, _ = lapack.dsytrd(matrix, lower=1, lwork=64 * p, overwrite_a=1)
    reflectors = reduced[1:, :-1]  # of all coordinates but the first, laid out as those of QR

    def turned(columns, trans):
        rest = lapack.dormqr("L", trans, reflectors, tau, columns[1:], 64 * columns.shape[1])[0]
        return np.vstack([columns[:1], rest])

    rounding = p * _EPS * np.abs(main).max()
    right = turned(right, "T")
    found = [lapack.dptsv(main + max(penalty, rounding), side, right)[2] for penalty in penalties]
    return turned(np.hstack(found), "N").reshape(p, len(penalties), d).transpose(1, 0, 2)


def _solve_shortest(matrix, right):
    """The shortest of the least squares solutions, in features scaled to second moment 1.

    Directions whose second moment is then below 1e-10 of the largest are rounding, not data.
    """
    scale = np.sqrt(np.diag(matrix))
    scale = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    scaled = matrix * scale * scale[:, np.newaxis]
    solution = linalg.lstsq(scaled, (right.T * scale).T, cond=1e-10)[0]
    return (solution.T * scale).T


# Sums over rows ---------------------------------------------------------------------


class _Sums(NamedTuple):
    """Of rows whose targets are all known."""

    features: Moments
    t_mean: np.ndarray
    gram: Any
    cross: Any
    work: float


def _products(X, targets, weights, codes, rows, columns=slice(None), gram=True):
    """`_Sums` of some rows (None is all), and columns of targets, that are all known."""
    runs = Runs.of(len(weights), codes, rows)
    weights, targets = runs.take(weights), runs.take(targets)[:, columns]
    if not len(weights):
        return _nothing(X.shape[1], targets.shape[1])
    fractions = weights / max(weights.sum(), _TINY)
    t_mean, shift = fractions @ targets, np.zeros(1)
    if codes is None:
        shift = t_mean
    elif targets.shape[1]:
        of_lists = means_of_runs(targets, weights, runs.offsets)[0]
        targets = targets - np.repeat(of_lists, np.diff(runs.offsets), axis=0)
    if sparse.issparse(X):
        X = (X if runs.order is None else X[runs.order]).astype(np.float64, copy=False)
        X, offset = _shift_full_columns(X)
        features = Moments.of_sparse(X, weights)
        work = float((np.diff(X.indptr).astype(float) ** 2).sum())
        products: Any = None
        cross: Any = None
        if gram:
            products, cross = _sparse_products(X, targets - shift, weights, runs.codes)
        raw = features.squares + features.total * features.mean**2
        features = features._replace(mean=features.mean + offset)
    else:
        products, cross, features = _dense_products(X, targets, weights, runs, gram, shift)
        work = float(len(weights)) * X.shape[1] ** 2
        raw = features.squares + features.total * features.mean**2
    if gram:  # exact zeros for features that are constant in every group, but for rounding
        constant = np.diag(products) <= _rounding(X, len(weights)) * raw
        products[constant], products[:, constant], cross[constant] = 0.0, 0.0, 0.0
    return _Sums(features, t_mean, products, cross, work)


def _rounding(X, n_rows):
    """Of the centred squares of a feature in so many rows, as a fraction of its squares."""
    return n_rows * (_EPS if sparse.issparse(X) else _EPS**2 * n_rows)


def _nothing(p, d):
    """`_Sums` of no row."""
    features = Moments(0, 0.0, np.zeros(p), np.zeros(p))
    return _Sums(features, np.zeros(d), np.zeros((p, p)), np.zeros((p, d)), 0.0)


def _dense_products(X, targets, weights, runs, gram=True, shift=0.0, double=False):
    """Products of features and targets, each minus the mean of its group, and their moments.

    The targets are centred but for the `shift` that is common to all of a column.

    One pass: a group longer than a block is centred piece by piece, by the means of the pieces,
    whose own products within the groups are what is then missing.
    """
    p, root = X.shape[1], np.sqrt(weights)[:, np.newaxis]
    single = not double and gram and X.dtype == np.float32 and fits_in_single(root, targets)
    sums = DenseSums.zeros(p, targets.shape[1], np.float32 if single else np.float64, gram)
    sums.as_they_are = gram and is_near_zero(X, weights, runs, sums.dtype)
    n_bytes = _BYTES_AS_THEY_ARE if sums.as_they_are else _BYTES_CENTRED
    step = max(_ROWS_AT_ONCE, n_bytes // (8 * (p + targets.shape[1])))  # as many of float32
    cuts, group, bounds = runs.pieces(step)
    is_part, parts = np.bincount(group)[group] > 1, []
    features: Any = None
    # New arrays of this size would come from the system every time, which takes longer than sums.
    scratch = np.empty((2, np.diff(cuts[bounds]).max(), p), dtype=sums.dtype)
    for first, last in pairwise(bounds):
        here, inner = slice(cuts[first], cuts[last]), cuts[first : last + 1] - cuts[first]
        # In one layout: the last digits of products depend on it.
        t = np.subtract(targets[here], shift, order="C")
        some = is_part[first:last]
        means, totals = sums.add(runs.rows(X, here, scratch), t, root[here], inner, scratch)
        if some.any():
            t_means = means_of_runs(t, weights[here], inner)[0]
            parts.append((group[first:last][some], totals[some], means[some], t_means[some]))
        now = Moments.of_rows(means, totals)
        features = now if features is None else features.plus(now)
    products, cross, squares = sums.found()
    if single and has_left_single(X, products, features):
        return _dense_products(X, targets, weights, runs, gram, shift, double=True)
    features = features._replace(n_rows=len(weights), squares=features.squares + squares)
    if gram and parts:
        between = _products_of_parts(*map(np.concatenate, zip(*parts, strict=True)))
        products, cross = products + between[0], cross + between[1]
    return products, cross, features


def _products_of_parts(groups, totals, means, t_means):
    """Products of the means of pieces of groups."""
    return _dense_products(means, t_means, totals, Runs.of(len(groups), groups, None))


def _sparse_products(X, targets, weights, codes):
    """X'WX minus the part of the groups' means; both factors stay sparse."""
    groups = Groups(codes, weights)
    rows = sparse.diags(np.sqrt(weights)) @ X
    means = sparse.diags(np.sqrt(groups.totals)) @ groups.means(X)
    gram = (rows.T @ rows).toarray()
    gram -= (means.T @ means).toarray()
    return gram, np.asarray(X.T @ (weights[:, np.newaxis] * targets))


def _shift_full_columns(X):
    """X minus the mean of every column without zeros, as sparse as it was, and what was subtracted.

    Nothing that is centred sees it, and an offset (a time stamp, an id) no longer cancels.
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    if not full.any():
        return X, np.zeros(X.shape[1])
    shift = np.where(full, np.asarray(X.mean(axis=0)).ravel(), 0.0)
    data = X.data - shift[X.indices]
    return sparse.csr_matrix((data, X.indices, X.indptr), shape=X.shape), shift
