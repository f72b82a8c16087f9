"""Ridge regression centred within groups, from statistics that add up or iteratively.

    minimise  1 / (2 W) sum_i w_i |t_i - t_mean(group of i) - (x_i - x_mean(group of i)) B|^2
              + alpha / 2 sum_j (s_j |B_j|)^2

W is the sum of the weights of all rows and s_j the standard deviation of feature j within the
groups: its unit, its level in a group and the number of rows do not matter. With each list a group
this is the pairwise squared loss of a document model in closed form (each list weighted by its
length); with one group for all rows it is ridge with an intercept. Means are weighted. Sparse X is
never densified: centring is applied to sums and to products, not to X.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, lsqr
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from .._arrays import check_size, is_finite, out_of_range
from ._statistics import Groups, Moments, columns_of_patterns, scale_within, squares_within

#: Features above which solver="auto" iterates: the statistics are p x p, 128 MiB here.
MAX_FEATURES_GRAM = 4000
SOLVERS = ("auto", "gram", "lsqr")
_COLUMNS_AT_ONCE = 4096
_ROWS_AT_ONCE = 1024
_OUTPUTS_OF_BLAS, _ROWS_OF_BLAS = 8, 192  # rows: a multiple of what its kernels take at once
#: For solver="auto": of a multiplication in the statistics, and of an entry of X in all iterations
#: of LSQR, about a hundred; and of a multiplication in a decomposition.
_SECONDS_OF_DENSE, _SECONDS_OF_SPARSE = (5e-11, 1.2e-7), (4e-9, 3e-7)
_SECONDS_OF_CUBE = 5e-11
_ALWAYS_GRAM = 500  # features up to which the cost is not looked at
_VECTORS_OF_LSQR = 8  # of the length of rows and features together that it holds at once


# Linear models ----------------------------------------------------------------------


def linear_scores(X, coef, intercept):
    """X coef' + intercept, shape (n, d), equal for equal rows whatever else is in the batch.

    Equal documents must tie, and BLAS sums the last rows of a batch in another order: it is given
    blocks of one size, the last one filled up. A few outputs are summed row by row, by einsum, in
    blocks too, for it buffers longer sums by the batch. Sums are float64; where X and coef are
    float32, so are the scores.

    Raises
    ------
    ValueError
        If a score is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _products_with(X, coef) + intercept
        scores = scores.astype(np.result_type(X, coef), copy=False)
    if not np.all(np.isfinite(scores)):
        raise ValueError(
            f"The score of row {int(np.argmin(np.isfinite(scores).all(axis=1)))} of X overflows: "
            "its features are too large for the coefficients. Bring X to the scale of the rows in "
            "fit, and those to one scale (StandardScaler)."
        )
    return scores


def _products_with(X, coef):
    if sparse.issparse(X):
        return X @ coef.T
    scores = np.zeros((X.shape[0], len(coef)))
    if len(coef) >= _OUTPUTS_OF_BLAS:
        right, filled = np.ascontiguousarray(coef.T), np.zeros((_ROWS_OF_BLAS, X.shape[1]))
        as_it_is = X.dtype == np.float64 and X.flags.c_contiguous
        for rows in gen_batches(len(scores), _ROWS_OF_BLAS):
            n = rows.stop - rows.start
            if n == _ROWS_OF_BLAS and as_it_is:
                np.matmul(X[rows], right, out=scores[rows])
            else:
                filled[:n] = X[rows]
                scores[rows] = (filled @ right)[:n]
        return scores
    batches_of_columns = list(gen_batches(X.shape[1], _COLUMNS_AT_ONCE))  # slow to ask for
    for rows in gen_batches(len(scores), _ROWS_AT_ONCE):
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        for columns in batches_of_columns:
            scores[rows] += np.einsum("np,dp->nd", block[:, columns], coef[:, columns])
    return scores


class Search(NamedTuple):
    """A penalty and how it was found.

    Attributes
    ----------
    alpha : float
    alphas : ndarray or None
        Those that were tried, None where nothing was searched.
    scores : ndarray or None
        The measure at each, mean over held-out lists.
    """

    alpha: float
    alphas: np.ndarray | None = None
    scores: np.ndarray | None = None


class LinearModel(NamedTuple):
    """A fitted linear regression of d targets.

    Attributes
    ----------
    coef : ndarray of shape (d, p)
    intercept : ndarray of shape (d,)
    solver : str or None
        How they were found.
    n_iter : int
    sums : RidgeSums or None
        From which more batches can go on, where they are known.
    search : Search or None
        Of its penalty.
    """

    coef: np.ndarray
    intercept: np.ndarray
    solver: str | None = None
    n_iter: int = 1
    sums: Any = None
    search: Search | None = None

    def predict(self, X):
        """Surrogate vectors, shape (n, d)."""
        return linear_scores(X, self.coef, self.intercept)


def check_finite(model):
    """Refuse coefficients that have overflowed."""
    if not (np.all(np.isfinite(model.coef)) and np.all(np.isfinite(model.intercept))):
        raise out_of_range()


def n_matrices(targets):
    """How many matrices of features by features there are: one for each pattern of NaN."""
    if is_finite(targets):
        return 1
    missing = np.isnan(targets)
    return len(columns_of_patterns(missing)) if missing.any() else 1


def chosen_solver(solver, X, targets, *, by_cost=False, matrices=None):
    """What "auto" stands for: the exact solver up to 4000 features, unless LSQR costs less.

    Parameters
    ----------
    solver : str
    X : ndarray or CSR matrix of shape (n, p)
    targets : ndarray of shape (n, d)
        Each pattern of missing labels needs a matrix.
    by_cost : bool
        Where the penalty is known and positive, so that LSQR takes about a hundred iterations.
    matrices : int or None
        `n_matrices` of the targets, where it is known.
    """
    if solver != "auto":
        return solver
    p, matrices = X.shape[1], n_matrices(targets) if matrices is None else matrices
    if matrices * p**2 > MAX_FEATURES_GRAM**2:
        return "lsqr"
    if not by_cost or p <= _ALWAYS_GRAM:
        return "gram"
    products, entries = float(X.size) * p, float(X.size)
    if sparse.issparse(X):
        products = float((np.diff(X.indptr).astype(float) ** 2).sum())
    each, iterations = _SECONDS_OF_SPARSE if sparse.issparse(X) else _SECONDS_OF_DENSE
    gram = matrices * (each * products + _SECONDS_OF_CUBE * float(p) ** 3)
    return "lsqr" if iterations * entries * targets.shape[1] < gram else "gram"


def check_fits_memory(solver, X, d, matrices):
    """Refuse a fit whose coefficients, or whose statistics, need more memory than there is.

    Of d targets with so many `n_matrices`.
    """
    n, p = X.shape
    needed = (matrices + 1) * p * p if solver == "gram" else _VECTORS_OF_LSQR * (n + p)
    check_size(
        f"Ridge regression of {d} targets on {p} features by solver {solver!r}",
        8 * (needed + 2 * d * p),
        "select or hash features" + ("" if solver == "lsqr" else ", or take solver='lsqr'"),
    )


def iterated(batch, alpha, tol, max_iter):
    """`LinearModel` of the same minimiser without any matrix of n_features x n_features."""
    features = Moments.of(batch.X, batch.weights)
    X = batch.X.astype(np.float64, copy=False)  # once, rather than in every product
    scale = features.scale
    if batch.codes is not None:
        judged = ~np.isnan(batch.targets).all(axis=1)
        groups = Groups(batch.codes, batch.weights * judged)
        scale = scale_within(features, squares_within(X, groups)[0], groups.totals.sum())
    coef, intercept, n_iter, converged = solve_iteratively(
        X,
        batch.targets,
        batch.weights,
        batch.codes,
        penalty=alpha * features.total * scale**2,
        tol=tol,
        max_iter=max_iter,
    )
    if not converged.all():
        warnings.warn(
            f"LSQR stopped after {n_iter.max()} iterations before it reached tol={tol:g}: increase "
            "max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    factor = batch.totals.target_factor
    n_iter = int(n_iter.max(initial=0))
    return LinearModel(coef.T * factor, intercept * factor, "lsqr", n_iter, search=Search(alpha))


# Iterations -------------------------------------------------------------------------


def solve_iteratively(X, targets, weights, codes=None, *, penalty, tol, max_iter):
    """The same minimiser by LSQR, without any p x p matrix.

    Parameters
    ----------
    X, targets, weights, codes
        As in `RidgeStatistics.of_batch`.
    penalty : ndarray of shape (p,)
        Of the squared coefficients beside the sum of the squared errors.
    tol : float
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
            scale = _inverse_norms(X, groups, penalty)
            operator = _centred_operator(X, groups, scale, penalty)
        t = np.nan_to_num(targets[:, j])
        right = np.concatenate([np.sqrt(groups.weights) * groups.centre(t), np.zeros(X.shape[1])])
        scaled, stop, n_iter[j], *_ = lsqr(operator, right, atol=tol, btol=tol, iter_lim=max_iter)
        coef[:, j] = scale * scaled
        converged[j] = stop != 7
        shares = groups.weights / max(groups.totals.sum(), np.finfo(float).tiny)
        intercept[j] = shares @ (t - X @ coef[:, j])
        groups = groups if judged.all() else None
    return coef, intercept, n_iter, converged


def _inverse_norms(X, groups, penalty):
    """1 / norm of each column of the system, 0 for a constant feature: LSQR wants one scale.

    A column is the centred feature on top of its penalty: a rare one is mostly penalty, and on the
    scale of the feature alone would take ten times the iterations.
    """
    within, raw = squares_within(X, groups)
    within = np.maximum(within, 1e-12 * raw)
    return np.divide(1.0, np.sqrt(within + penalty), out=np.zeros(len(raw)), where=within > 0)


def _centred_operator(X, groups, scale, penalty):
    """v -> [sqrt(w) * centre(X D v), sqrt(penalty) D v] with D = diag(scale), and its transpose."""
    n, p = X.shape
    root, penalty = np.sqrt(groups.weights), np.sqrt(penalty) * scale

    def matvec(v):
        v = v.ravel()
        return np.concatenate([root * groups.centre(X @ (scale * v)), penalty * v])

    def rmatvec(z):
        z = z.ravel()
        return scale * (X.T @ groups.centre_adjoint(root * z[:n])) + penalty * z[n:]

    return LinearOperator((n + p, p), matvec=matvec, rmatvec=rmatvec, dtype=np.float64)
