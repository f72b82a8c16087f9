"""Ridge regression centred within groups, from statistics that add up or iteratively.

    minimise  sum_i w_i |t_i - t_mean(group of i) - (x_i - x_mean(group of i)) B|^2
              + alpha |B|^2

With each list a group this is the pairwise squared loss of a document model in closed form
(each list weighted by its length); with one group for all rows it is ridge with an
intercept. Means are weighted. Sparse X is never densified: centring is applied to sums
and to products, not to X.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, lsqr

_ROWS_AT_ONCE = 2**17  # entries of dense X that are centred at a time: they fit the cache


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
        sums = self.summing @ values
        if sparse.issparse(sums):
            return sparse.diags(self.inverse) @ sums
        return sums * self.inverse.reshape(-1, *[1] * (sums.ndim - 1))

    def centre(self, values):
        """Values minus the mean of their group (dense)."""
        return values - self.means(values)[self.codes]

    def centre_adjoint(self, values):
        """The transpose of `centre`, for vectors."""
        sums = np.bincount(self.codes, weights=values, minlength=len(self.totals))
        return values - self.weights * (sums * self.inverse)[self.codes]


@dataclass(frozen=True)
class RidgeStatistics:
    """What ridge needs to know of the rows; batches of whole groups add up exactly.

    The leading axis of `total`, `x_mean` and `gram` is 1, or d where targets are missing
    and each coordinate has rows of its own.

    Attributes
    ----------
    pooled : bool
        One group for all rows of all batches, rather than groups within a batch.
    total : ndarray of shape (1 or d,)
        Sum of the weights.
    x_mean : ndarray of shape (1 or d, p)
    t_mean : ndarray of shape (d,)
    gram : ndarray of shape (1 or d, p, p)
        Weighted products of centred features.
    cross : ndarray of shape (p, d)
        Weighted products of centred features and centred targets.
    """

    pooled: bool
    total: np.ndarray
    x_mean: np.ndarray
    t_mean: np.ndarray
    gram: np.ndarray
    cross: np.ndarray

    @classmethod
    def of_batch(cls, X, targets, weights, codes=None):
        """Statistics of rows; `codes` gives the group of each, None is one group.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, p)
        targets : ndarray of shape (n, d)
            NaN, with one group only, leaves a row out of that coordinate.
        weights : ndarray of shape (n,)
        codes : ndarray of int, shape (n,), or None
        """
        pooled = codes is None
        codes = np.zeros(len(targets), dtype=np.intp) if pooled else codes
        judged = ~np.isnan(targets)
        if judged.all():
            parts = [_products(X, targets, Groups(codes, weights))]
        else:
            parts = [
                _products(X, np.nan_to_num(targets[:, [j]]), Groups(codes, weights * judged[:, j]))
                for j in range(targets.shape[1])
            ]
        total, x_mean, t_mean, gram, cross = zip(*parts, strict=True)
        return cls(
            pooled,
            np.array(total),
            np.array(x_mean),
            np.concatenate(t_mean),
            np.array(gram),
            np.hstack(cross),
        )

    def __add__(self, other):
        """Statistics of both batches together (Chan, Golub & LeVeque's update)."""
        total = self.total + other.total
        share = np.divide(other.total, total, out=np.zeros(len(total)), where=total > 0)
        x_step, t_step = other.x_mean - self.x_mean, other.t_mean - self.t_mean
        gram, cross = self.gram + other.gram, self.cross + other.cross
        if self.pooled:
            between = (self.total * share)[:, np.newaxis]
            gram = gram + np.einsum("mp,mq->mpq", between * x_step, x_step)
            cross = cross + (between * x_step * np.ones((len(t_step), 1))).T * t_step
        return replace(
            self,
            total=total,
            x_mean=self.x_mean + share[:, np.newaxis] * x_step,
            t_mean=self.t_mean + share * t_step,
            gram=gram,
            cross=cross,
        )

    def solve(self, alpha):
        """Coefficients (p, d) and intercept (d,) for the penalty alpha."""
        d = len(self.t_mean)
        penalty = alpha * np.eye(self.cross.shape[0])
        solve = _solve_positive if alpha > 0 else _solve_shortest
        if len(self.gram) == 1:
            coef = solve(self.gram[0] + penalty, self.cross)
        else:
            coef = np.column_stack(
                [solve(self.gram[j] + penalty, self.cross[:, j]) for j in range(d)]
            )
        x_mean = np.broadcast_to(self.x_mean, (d, self.x_mean.shape[1]))
        return coef, self.t_mean - np.einsum("dp,pd->d", x_mean, coef)


def _products(X, targets, groups):
    """Total weight, means, and centred second moments of one batch."""
    total = groups.totals.sum()
    shares = groups.weights / total if total > 0 else groups.weights
    targets_mean = shares @ targets
    centred = groups.centre(targets)
    if sparse.issparse(X):
        gram, cross = _sparse_moments(X, centred, groups)
        x_mean = np.asarray(X.T @ shares).ravel()
    else:
        gram, cross = _dense_moments(X, centred, groups)
        x_mean = shares @ X
    return total, x_mean, targets_mean, gram, cross


def _dense_moments(X, centred_targets, groups):
    """X is centred some rows at a time: no second copy of it, no cancellation."""
    p = X.shape[1]
    gram, cross = np.zeros((p, p)), np.zeros((p, centred_targets.shape[1]))
    means = groups.means(X)
    root = np.sqrt(groups.weights)[:, np.newaxis]
    weighted = bool(np.any(root != 1.0))
    step = max(1, _ROWS_AT_ONCE // p)
    for first in range(0, len(X), step):
        rows = slice(first, first + step)
        centred = X[rows] - means[groups.codes[rows]]
        targets = centred_targets[rows]
        if weighted:
            centred *= root[rows]
            targets = targets * root[rows]
        gram += centred.T @ centred
        cross += centred.T @ targets
    raw = np.diag(gram) + groups.totals @ means**2
    return _drop_constant(gram, cross, raw, (len(X) * np.finfo(float).eps) ** 2)


def _sparse_moments(X, centred_targets, groups):
    """X'WX minus the groups' means' share; both factors stay sparse."""
    X = _shift_full_columns(X)
    root = sparse.diags(np.sqrt(groups.weights))
    rows = root @ X
    means = sparse.diags(np.sqrt(groups.totals)) @ groups.means(X)
    gram = (rows.T @ rows).toarray()
    raw = np.diag(gram).copy()
    gram -= (means.T @ means).toarray()
    cross = np.asarray(X.T @ (groups.weights[:, np.newaxis] * centred_targets))
    return _drop_constant(gram, cross, raw, X.shape[0] * np.finfo(float).eps)


def _drop_constant(gram, cross, raw, tol):
    """Exact zeros for features that are constant in every group, but for rounding."""
    constant = np.diag(gram) <= tol * raw
    gram[constant], gram[:, constant], cross[constant] = 0.0, 0.0, 0.0
    return gram, cross


def _shift_full_columns(X):
    """Subtract the mean of every column without zeros, which stays as sparse as it was.

    Nothing that is centred sees it, and an offset (a time stamp, an id) no longer cancels.
    """
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    full = np.bincount(X.indices, minlength=X.shape[1]) == X.shape[0]
    if not full.any():
        return X
    shift = np.where(full, np.asarray(X.mean(axis=0)).ravel(), 0.0)
    return sparse.csr_matrix((X.data - shift[X.indices], X.indices, X.indptr), shape=X.shape)


def _solve_positive(matrix, right):
    """Solution of a positive definite system, by least squares if rounding makes it singular."""
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix), right)
    except linalg.LinAlgError:
        return _solve_shortest(matrix, right)


def _solve_shortest(matrix, right):
    """The shortest of the least squares solutions, in features scaled to second moment 1.

    Directions whose second moment is then below 1e-10 of the largest are rounding, not data.
    """
    scale = np.sqrt(np.diag(matrix))
    scale = np.divide(1.0, scale, out=np.zeros(len(scale)), where=scale > 0)
    scaled = matrix * scale * scale[:, np.newaxis]
    solution = linalg.lstsq(scaled, (right.T * scale).T, cond=1e-10)[0]
    return (solution.T * scale).T


def solve_iteratively(X, targets, weights, codes=None, *, alpha, tol, max_iter):
    """The same minimiser by LSQR, without any p x p matrix.

    Parameters
    ----------
    X, targets, weights, codes
        As in `RidgeStatistics.of_batch`.
    alpha, tol : float
    max_iter : int or None

    Returns
    -------
    coef : ndarray of shape (p, d)
    intercept : ndarray of shape (d,)
    n_iter : ndarray of int, shape (d,)
    converged : ndarray of bool, shape (d,)
    """
    codes = np.zeros(len(targets), dtype=np.intp) if codes is None else codes
    d = targets.shape[1]
    coef, intercept = np.zeros((X.shape[1], d)), np.zeros(d)
    n_iter, converged = np.zeros(d, dtype=int), np.ones(d, dtype=bool)
    groups = None
    for j in range(d):
        judged = ~np.isnan(targets[:, j])
        if groups is None or not judged.all():
            groups = Groups(codes, weights * judged)
            scale = _inverse_norms(X, groups)
            operator = _centred_operator(X, groups, scale, alpha)
        t = np.nan_to_num(targets[:, j])
        right = np.concatenate([np.sqrt(groups.weights) * groups.centre(t), np.zeros(X.shape[1])])
        scaled, stop, n_iter[j], *_ = lsqr(operator, right, atol=tol, btol=tol, iter_lim=max_iter)
        coef[:, j] = scale * scaled
        converged[j] = stop != 7
        shares = groups.weights / max(groups.totals.sum(), np.finfo(float).tiny)
        intercept[j] = shares @ (t - X @ coef[:, j])
        groups = groups if judged.all() else None
    return coef, intercept, n_iter, converged


def _inverse_norms(X, groups):
    """1 / norm of each centred feature, 0 for a constant one: LSQR wants one scale."""
    means = groups.means(X)
    if sparse.issparse(X):
        raw = np.asarray(X.multiply(X).T @ groups.weights).ravel()
        between = np.asarray(means.multiply(means).T @ groups.totals).ravel()
    else:
        raw = np.einsum("np,np,n->p", X, X, groups.weights)
        between = groups.totals @ means**2
    within = np.maximum(raw - between, 1e-12 * raw)
    return np.divide(1.0, np.sqrt(within), out=np.zeros(len(raw)), where=within > 0)


def _centred_operator(X, groups, scale, alpha):
    """v -> [sqrt(w) * centre(X D v), sqrt(alpha) D v] with D = diag(scale), and its transpose."""
    n, p = X.shape
    root, penalty = np.sqrt(groups.weights), np.sqrt(alpha) * scale

    def matvec(v):
        v = v.ravel()
        return np.concatenate([root * groups.centre(X @ (scale * v)), penalty * v])

    def rmatvec(z):
        z = z.ravel()
        return scale * (X.T @ groups.centre_adjoint(root * z[:n])) + penalty * z[n:]

    return LinearOperator((n + p, p), matvec=matvec, rmatvec=rmatvec, dtype=np.float64)
