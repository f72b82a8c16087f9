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

from .._arrays import check_size, out_of_range
from .._base import linear_scores
from ._statistics import Groups, Moments, columns_of_patterns

#: Features above which solver="auto" iterates: the statistics are p x p, 128 MiB here; products
#: of sparse rows cost more than iterations from some hundred features on.
MAX_FEATURES_GRAM, MAX_SPARSE_FEATURES = 4000, 500
SOLVERS = ("auto", "gram", "lsqr")
_VECTORS_OF_LSQR = 8  # of the length of rows and features together that it holds at once


# Linear models ----------------------------------------------------------------------


class LinearModel(NamedTuple):
    """A fitted linear regression of d targets.

    Attributes
    ----------
    coef : ndarray of shape (d, p)
    intercept : ndarray of shape (d,)
    solver : str or None
        How they were found.
    n_iter : int
    alpha : float or None
        The penalty, where there is one.
    sums : Sums or None
        From which more batches can go on, where they are known.
    """

    coef: np.ndarray
    intercept: np.ndarray
    solver: str | None = None
    n_iter: int = 1
    alpha: float | None = None
    sums: Any = None

    def predict(self, X):
        """Surrogate vectors, shape (n, d)."""
        return linear_scores(X, self.coef, self.intercept)


def check_finite(model):
    """Refuse coefficients that have overflowed."""
    if not (np.all(np.isfinite(model.coef)) and np.all(np.isfinite(model.intercept))):
        raise out_of_range()


def n_matrices(targets):
    """How many matrices of features by features there are: one for each pattern of NaN."""
    return max(1, len(columns_of_patterns(np.isnan(targets))))


def chosen_solver(solver, X, matrices):
    """What solver="auto" stands for: "gram" up to 4000 features, "lsqr" above; for sparse X above
    500. Each of the `n_matrices` counts."""
    if solver != "auto":
        return solver
    p = X.shape[1]
    many = matrices * p**2 > MAX_FEATURES_GRAM**2
    return "lsqr" if many or (sparse.issparse(X) and p > MAX_SPARSE_FEATURES) else "gram"


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


def fit_lsqr(batch, alpha, tol, max_iter):
    """`LinearModel` of the same minimiser without any matrix of n_features x n_features."""
    features = Moments.of(batch.X, batch.weights, batch.codes)
    alpha = batch.default_alpha("ridge", features) if alpha == "auto" else float(alpha)
    penalty = alpha * features.total * batch.scale(features) ** 2
    X = batch.X.astype(np.float64, copy=False)  # once, rather than in every product
    rows = X, batch.targets, batch.weights, batch.codes
    coef, intercept, n_iter = solve_iteratively(*rows, penalty=penalty, tol=tol, max_iter=max_iter)
    factor = batch.totals.target_factor
    return LinearModel(coef.T * factor, intercept * factor, "lsqr", n_iter, alpha)


# Iterations -------------------------------------------------------------------------


def solve_iteratively(X, targets, weights, codes=None, *, penalty, tol, max_iter):
    """The same minimiser by LSQR, without any p x p matrix.

    Parameters
    ----------
    X, targets, weights, codes
        As in `SecondMoments.of`.
    penalty : ndarray of shape (p,)
        Of the squared coefficients beside the sum of the squared errors.
    tol : float
    max_iter : int or None

    Returns
    -------
    coef : ndarray of shape (p, d)
    intercept : ndarray of shape (d,)
    n_iter : int
        The most over the targets.
    """
    codes = np.zeros(len(targets), dtype=np.intp) if codes is None else codes
    d = targets.shape[1]
    coef, intercept = np.zeros((X.shape[1], d)), np.zeros(d)
    groups, most, converged = None, 0, True
    for j in range(d):
        judged = ~np.isnan(targets[:, j])
        if groups is None or not judged.all():
            groups = Groups(codes, weights * judged)
            scale = _inverse_norms(X, groups, penalty)
            operator = _centred_operator(X, groups, scale, penalty)
        t = np.nan_to_num(targets[:, j])
        right = np.concatenate([np.sqrt(groups.weights) * groups.centre(t), np.zeros(X.shape[1])])
        scaled, stop, n_iter, *_ = lsqr(operator, right, atol=tol, btol=tol, iter_lim=max_iter)
        coef[:, j] = scale * scaled
        most, converged = max(most, n_iter), converged and stop != 7
        shares = groups.weights / max(groups.totals.sum(), np.finfo(float).tiny)
        intercept[j] = shares @ (t - X @ coef[:, j])
        groups = groups if judged.all() else None
    if not converged:
        warnings.warn(
            f"LSQR stopped after {most} iterations before it reached tol={tol:g}: increase "
            "max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return coef, intercept, most


def _inverse_norms(X, groups, penalty):
    """1 / norm of each column of the system, 0 for a constant feature: LSQR wants one scale.

    A column is the centred feature on top of its penalty: a rare one is mostly penalty, and on the
    scale of the feature alone would take ten times the iterations.
    """
    features = Moments.of(X, groups.weights, groups.codes)
    raw = features.squares + features.total * features.mean**2
    within = np.maximum(features.within, 1e-12 * raw)
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
