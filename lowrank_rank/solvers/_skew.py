"""Least squares of a low-rank skew-symmetric bilinear form on pairs of rows.

    g(x, z) = <w, x - z> + sum_k (<p_k, x> <q_k, z> - <q_k, x> <p_k, z>)
    minimise  sum_pairs weight (g - target)^2 + alpha (|w|^2 + |A|_F^2 / 2),

A = sum_k p_k q_k' - q_k p_k' skew-symmetric, of rank at most 2 n_components. The penalty of A is
that of ridge on the products x_i z_j - x_j z_i, i < j; with enough components so is the minimum.
Rows are centred implicitly: sparse X stays sparse.
"""

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, svds


def fit_skew(X, mean, pairs, *, alpha, n_components, tol, max_iter, rng, coef, callback=None):
    """Minimiser by L-BFGS, from the best rank-one steps at A = 0.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    mean : ndarray of shape (p,)
        Subtracted from the rows.
    pairs : object with first, second, targets and weights
    alpha : float
    n_components : int
    tol : float
        Of the projected gradient, relative to the largest one at w = 0, A = 0.
    max_iter : int
    rng : RandomState
        Starts the singular vectors of large problems.
    coef : ndarray of shape (p,)
        w to start from.
    callback : callable or None
        ``callback(iteration, objective)``.

    Returns
    -------
    coef : ndarray of shape (p,)
    components : ndarray of shape (2, n_components, p)
        The p_k and the q_k.
    n_iter : int
    converged : bool
    """
    problem = _Problem(X, mean, pairs, alpha)
    start = np.concatenate([coef[np.newaxis], *problem.first_components(coef, n_components, rng)])
    scale = np.abs(problem.value_and_gradient(np.zeros_like(start).ravel())[1]).max()
    iterations = 0

    def report(theta):
        nonlocal iterations
        iterations += 1
        if callback is not None:
            callback(iterations, theta)

    result = minimize(
        problem.value_and_gradient,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={
            "maxiter": max_iter,
            "maxfun": 10 * max_iter,
            "gtol": 0.1 * tol * scale,
            "ftol": 1e-15,
        },
    )
    theta = result.x.reshape(start.shape)
    return theta[0], theta[1:].reshape(2, n_components, -1), result.nit, result.status != 1


class _Problem:
    """The objective as a function of w, p_1, ..., q_1, ... one after another."""

    def __init__(self, X, mean, pairs, alpha):
        self.X, self.mean, self.pairs, self.alpha = X, mean, pairs, alpha
        n, m = X.shape[0], len(pairs.first)
        rows = np.concatenate([pairs.first, pairs.second])
        columns = np.concatenate([pairs.second, pairs.first])
        numbered = sparse.csr_matrix((np.arange(1, 2 * m + 1), (rows, columns)), shape=(n, n))
        self.residuals = numbered.astype(float)
        self.entry = numbered.data - 1  # which pair, and which way round, each entry is

    def project(self, directions):
        """Centred rows times directions (k, p), shape (n, k)."""
        return np.asarray(self.X @ directions.T) - directions @ self.mean

    def gather(self, values):
        """Centred rows' sums with coefficients (n, k), shape (k, p): the transpose."""
        return np.asarray(self.X.T @ values).T - np.outer(values.sum(axis=0), self.mean)

    def value_and_gradient(self, theta):
        theta = theta.reshape(-1, len(self.mean))
        c = len(theta) // 2
        a, b = self.pairs.first, self.pairs.second
        products = self.project(theta)
        score, left, right = products[:, 0], products[:, 1 : c + 1], products[:, c + 1 :]
        g = score[a] - score[b]
        g += np.einsum("mk,mk->m", left[a], right[b]) - np.einsum("mk,mk->m", right[a], left[b])
        error = g - self.pairs.targets
        weighted = self.pairs.weights * error
        self.residuals.data = 2.0 * np.concatenate([weighted, -weighted])[self.entry]
        by_row = np.column_stack(
            [
                np.asarray(self.residuals.sum(axis=1)).ravel(),
                self.residuals @ right,
                -(self.residuals @ left),
            ]
        )
        penalty, slope = self._penalty(theta, c)
        value = weighted @ error + self.alpha * penalty
        return value, (self.gather(by_row) + self.alpha * slope).ravel()

    @staticmethod
    def _penalty(theta, c):
        """|w|^2 + |A|_F^2 / 2 and its gradient, from the c x c products of the factors."""
        w, p, q = theta[:1], theta[1 : c + 1], theta[c + 1 :]
        pp, qq, pq = p @ p.T, q @ q.T, p @ q.T
        value = (w**2).sum() + (pp * qq).sum() - (pq * pq.T).sum()
        return value, 2.0 * np.concatenate([w, qq @ p - pq.T @ q, pp @ q - pq @ p])

    def first_components(self, coef, n_components, rng):
        """Directions in which A = 0 falls most steeply, with the best step along them.

        The gradient in A is the skew matrix ``X' residuals X``; its singular vectors come in
        pairs (p, q) of planes.
        """
        size = len(self.mean)
        theta = np.zeros((2 * n_components + 1, size))
        theta[0] = coef
        self.value_and_gradient(theta.ravel())  # sets the residuals
        guess = rng.normal(size=size)
        if not np.any(self._steepest(guess)):  # nothing left to explain
            return theta[1 : n_components + 1], theta[n_components + 1 :]
        if 2 * n_components >= size - 1:
            basis = np.eye(size)
        else:
            steepest = LinearOperator(
                (size, size),
                matvec=lambda v: self._steepest(v.ravel()),
                rmatvec=lambda v: -self._steepest(v.ravel()),
                dtype=np.float64,
            )
            basis = svds(steepest, k=2 * n_components, v0=guess)[0].T
        inside = np.array([basis @ self._steepest(v) for v in basis]).T
        values, vectors = np.linalg.eigh(1j * (inside - inside.T) / 2.0)
        top = np.argsort(-values)[:n_components]
        length = np.sqrt(np.maximum(values[top], 0.0))[:, np.newaxis]  # equal ones: well scaled
        p, q = (length * (part[:, top].T @ basis) for part in (vectors.real, vectors.imag))
        missing = n_components - len(p)
        p, q = (np.vstack([m, np.zeros((missing, size))]) for m in (p, q))
        left, right, (a, b) = (
            self.project(p),
            self.project(q),
            (self.pairs.first, self.pairs.second),
        )
        step = np.einsum("mk,mk->m", left[a], right[b]) - np.einsum("mk,mk->m", right[a], left[b])
        score = self.project(coef[np.newaxis])[:, 0]
        left_over = self.pairs.targets - score[a] + score[b]
        best = (self.pairs.weights * step) @ left_over
        square = (self.pairs.weights * step) @ step
        share = best / square if square > 0 else 0.0
        return np.sign(share) * np.sqrt(abs(share)) * p, np.sqrt(abs(share)) * q

    def _steepest(self, v):
        """``X' residuals X v`` of the centred rows."""
        return self.gather(self.residuals @ self.project(v[np.newaxis]))[0]
