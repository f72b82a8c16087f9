"""Least squares of a low-rank skew-symmetric bilinear form on pairs of rows.

    g(x, z) = <w, x - z> + sum_k (<p_k, x> <q_k, z> - <q_k, x> <p_k, z>)
    minimise  sum_pairs weight (g - target)^2 + alpha (|w|^2 + |A|_F^2 / 2),

A = sum_k p_k q_k' - q_k p_k' skew-symmetric, of rank at most 2 n_components. The penalty of A is
that of ridge on the products x_i z_j - x_j z_i, i < j; with enough components so is the minimum.
Rows are centred implicitly: sparse X stays sparse.
"""

import warnings
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eigh
from scipy.optimize import minimize
from scipy.sparse.linalg import LinearOperator, svds
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from .._lists import blocks_of_lists
from ..regression._ridge import linear_scores
from ..solvers._polishing import polished

_DENSE_FEATURES = 500  # up to which the gradient in A is formed to begin with
_COLUMNS_AT_ONCE = 64  # of it
_ENTRIES_AT_ONCE, _ROWS_AT_ONCE = 2**17, 1024  # of X in a block: at most, unless rows are long
_LARGEST = 1e150  # of a preference: its square is a number


class SkewPairs(NamedTuple):
    """g(x, z) = <w, x - z> + x' A z of centred rows, A skew-symmetric of low rank."""

    coef: np.ndarray
    components: np.ndarray
    mean: np.ndarray
    n_iter: int = 1

    @property
    def intercept(self):
        return -self.coef @ self.mean

    def average(self, X):
        return linear_scores(X, self.coef[np.newaxis], self.intercept)[:, 0]

    def tables(self, X, rows):
        parts = np.concatenate([self.coef[np.newaxis], *self.components])
        products = linear_scores(X, parts, -parts @ self.mean)
        c = self.components.shape[1]
        s, left, right = products[:, 0], products[:, 1 : c + 1], products[:, c + 1 :]
        s, left, right = s[rows], left[rows], right[rows]
        product = np.einsum("mik,mjk->mij", left, right)
        table = s[:, :, np.newaxis] - s[:, np.newaxis]
        table += product - product.transpose(0, 2, 1)
        return table


def fit_skew(X, mean, pairs, coef, *, lists, alpha, n_components, tol, max_iter, rng, say):
    """`SkewPairs` by L-BFGS, from the best rank-one steps at A = 0.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    mean : ndarray of shape (p,)
        Subtracted from the rows.
    pairs : object with first, second, targets and weights
    coef : ndarray of shape (p,)
        w to start from.
    lists : RankingLists
        Of the rows; pairs are inside lists.
    alpha : float
    n_components : int
    tol : float
        Of the projected gradient, relative to the largest one at w = 0, A = 0.
    max_iter : int
    rng : RandomState
        Starts the singular vectors of large problems.
    say : callable
        Takes a line of progress.

    Returns
    -------
    SkewPairs

    Warns
    -----
    ConvergenceWarning
        If `max_iter` comes first.
    """
    largest = max(np.abs(pairs.targets).max(initial=0.0), np.abs(coef).max(initial=0.0))
    if largest > _LARGEST:
        raise ValueError(
            f"Preferences between documents of up to {largest:.3g} overflow when they are squared: "
            "divide the grades by a constant; the order is the same."
        )
    problem = _Problem(X, mean, pairs, alpha, lists)
    start = np.concatenate([coef[np.newaxis], *problem.first_components(coef, n_components, rng)])
    scale = np.abs(problem.value_and_gradient(np.zeros_like(start).ravel())[1]).max()
    result = _minimised(problem, start, 0.1 * tol * scale, max_iter, say)
    if result.status == 1:
        warnings.warn(
            f"L-BFGS stopped after {result.nit} iterations before it reached tol={tol:g}: "
            "increase max_iter or tol, or scale the features.",
            ConvergenceWarning,
            stacklevel=4,
        )
    theta = result.x
    model = SkewPairs(theta[0], theta[1:].reshape(2, n_components, -1), mean, result.nit)
    return model


def _minimised(problem, start, tolerance, max_iter, say):
    """Result of L-BFGS, its x of the shape of the start."""
    stretch, iterations = problem.stretch(start), 0

    def objective(stretched):
        theta = stretched.reshape(start.shape) * stretch
        value, gradient = problem.value_and_gradient(theta.ravel())
        return value, (gradient.reshape(start.shape) * stretch).ravel()

    def report(_):
        nonlocal iterations
        iterations += 1
        if iterations % 10 == 0:
            say(f"L-BFGS iteration {iterations}")

    result = minimize(
        objective,
        (start / stretch).ravel(),
        jac=True,
        method="L-BFGS-B",
        callback=report,
        options={"maxiter": max_iter, "maxfun": 10 * max_iter, "gtol": tolerance, "ftol": 1e-15},
    )
    if result.status != 1 and np.abs(result.jac).max() > tolerance:  # no better value to be found
        result.x = polished(lambda x: objective(x)[1], result.x, result.jac, tolerance)
    result.x = result.x.reshape(start.shape) * stretch
    return result


class _Block:
    """Rows of some lists and the pairs among them, which are one matrix of residuals.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    first, second : ndarray of int, shape (m,)
        Rows of the pairs, by `second`.
    targets, weights : ndarray of shape (m,)
    """

    def __init__(self, X, first, second, targets, weights):
        self.X, self.first, self.second = X, first, second
        self.targets, self.weights = targets, weights
        ends = np.cumsum(np.bincount(second, minlength=X.shape[0]))
        # [b, a] of the pair (a, b): its rows are filled in the order of the pairs.
        self.residuals = sparse.csr_matrix(
            (np.zeros(len(first)), first, np.concatenate([[0], ends])), shape=(X.shape[0],) * 2
        )
        self.transposed = self.residuals.T  # of the same numbers

    def preferences(self, products):
        """g of the pairs from the products (n, 2c + 1) of their rows, and the right factors.

        ``g(a, b) = <w, a> - <w, b> + <left of a, right of b>``, the left ones <p, x> and <q, x>,
        the right ones <q, x> and -<p, x>; those that are returned have a 1 before them.
        """
        c = products.shape[1] // 2
        products = np.ascontiguousarray(products.T)  # sums over the factors are then of long rows
        score, left = products[0], products[1:]
        right = np.concatenate([np.ones((1, products.shape[1])), left[c:], -left[:c]])
        both = left.take(self.first, axis=1)
        both *= right[1:].take(self.second, axis=1)
        g = both.sum(axis=0)
        g += score.take(self.first)
        g -= score.take(self.second)
        return g, np.ascontiguousarray(right.T)

    def leave(self, g):
        """Make the residuals those of preferences g, which are overwritten; returns their value."""
        g -= self.targets
        weighted = np.multiply(self.weights, g, out=self.residuals.data)
        value = weighted @ g
        weighted *= 2.0
        return value

    def both_ways(self, values):
        """The antisymmetric residuals times values (n, k)."""
        return self.transposed @ values - self.residuals @ values


class _Problem:
    """The objective as a function of w, p_1, ..., q_1, ... one after another.

    One pass over X in blocks of whole lists, which stay in the cache between the products that
    give the preferences and those that give the gradient.
    """

    def __init__(self, X, mean, pairs, alpha, lists=None):
        self.mean, self.alpha = mean, alpha
        first, second = pairs.first, pairs.second
        if lists is not None and lists.order is not None:
            place = lists.ungroup(np.arange(lists.n_rows))
            X, first, second = X[lists.order], place[first], place[second]
        order = np.argsort(second, kind="stable")
        parts = [part[order] for part in (first, second, pairs.targets, pairs.weights)]
        bounds = _bounds(X, lists)
        cuts = np.searchsorted(parts[1], bounds)
        self.blocks = []
        for (start, end), ends in zip(pairwise(bounds), pairwise(cuts), strict=True):
            first, second, targets, weights = (part[slice(*ends)] for part in parts)
            self.blocks.append(
                _Block(X[start:end], first - start, second - start, targets, weights)
            )

    def _project(self, block, directions):
        """Centred rows of a block times directions (k, p), shape (n, k)."""
        products = np.asarray(block.X @ np.ascontiguousarray(directions.T))
        products -= directions @ self.mean
        return products

    def _columns(self, block, some):
        """Some centred features of the rows of a block."""
        X = block.X[:, some]
        return (X.toarray() if sparse.issparse(X) else X) - self.mean[some]

    def _gathered(self, parts):
        """Sums of centred rows with coefficients (n, k) of each (block, coefficients), (k, p)."""
        total: Any = 0.0
        of_mean: Any = 0.0
        for block, values in parts:
            total = total + np.asarray(block.X.T @ values)
            of_mean = of_mean + np.ones(len(values)) @ values  # faster than a sum
        return total.T - np.outer(of_mean, self.mean)

    def value_and_gradient(self, theta):
        theta = theta.reshape(-1, len(self.mean))
        value = 0.0

        def slopes():
            nonlocal value
            for block in self.blocks:
                g, right = block.preferences(self._project(block, theta))
                value += block.leave(g)
                yield block, block.both_ways(right)

        gradient = self._gathered(slopes())
        penalty, slope = self._penalty(theta, len(theta) // 2)
        return value + self.alpha * penalty, (gradient + self.alpha * slope).ravel()

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
        nothing = np.zeros((n_components, size))
        theta = np.concatenate([coef[np.newaxis], nothing, nothing])
        for block in self.blocks:
            block.leave(block.preferences(self._project(block, theta))[0])
        basis, inside = self._gradient_in(rng.normal(size=size), n_components)
        if not np.any(inside):  # nothing left to explain
            return nothing, nothing
        size = len(inside)
        few = [max(0, size - n_components), size - 1]
        values, vectors = (part[..., ::-1] for part in eigh(1j * inside, subset_by_index=few))
        length = np.sqrt(np.maximum(values, 0.0))[:, np.newaxis]  # equal ones: well scaled
        p, q = (length * (part.T @ basis) for part in (vectors.real, vectors.imag))
        p, q = (np.vstack([m, nothing[len(m) :]]) for m in (p, q))
        best, square = self._best_step(coef, np.concatenate([theta[:1] * 0.0, p, q]))
        fraction = best / square if square > 0 else 0.0
        return np.sign(fraction) * np.sqrt(abs(fraction)) * p, np.sqrt(abs(fraction)) * q

    def _gradient_in(self, guess, n_components):
        """A basis (m, p), all of few features, and in it the skew gradient in A (m, m)."""
        size = len(guess)
        if size <= max(_DENSE_FEATURES, 2 * n_components + 1):
            half = np.vstack(
                [
                    self._gathered(
                        (block, block.residuals @ self._columns(block, some))
                        for block in self.blocks
                    )
                    for some in gen_batches(size, _COLUMNS_AT_ONCE)
                ]
            )
            return np.eye(size), half - half.T
        if not np.any(self._steepest(guess[np.newaxis])):
            return np.eye(1, size), np.zeros((1, 1))
        steepest = LinearOperator(
            (size, size),
            matvec=lambda v: self._steepest(v.reshape(1, -1))[0],
            rmatvec=lambda v: -self._steepest(v.reshape(1, -1))[0],
            dtype=np.float64,
        )
        basis = svds(steepest, k=2 * n_components, v0=guess)[0].T
        inside = basis @ self._steepest(basis).T
        return basis, (inside - inside.T) / 2.0

    def stretch(self, start):
        """Units of w and of the components in which the objective is about as steep in all of them.

        Its curvature in p is that in w times |q|^2 where features are alike: L-BFGS then takes a
        quarter of the iterations. Both are measured along the start. Of rare features, which have
        long tails, it may be the larger one; it is no guide there, and they stay as they are.
        """
        score, parts = np.zeros_like(start), start.copy()
        score[0], parts[0] = start[0], 0.0
        curvatures = []
        for theta, squares in ((score, (score**2).sum()), (parts, (parts**2).sum() / 2.0)):
            total = 0.0
            for block in self.blocks:
                g = block.preferences(self._project(block, theta))[0]
                total += (block.weights * g) @ g
            curvatures.append(total / squares if squares > 0 else 0.0)
        stretch = np.ones((len(start), 1))
        if min(curvatures) > 0:
            stretch[1:] = max(1.0, np.sqrt(curvatures[0] / curvatures[1]))
        return stretch

    def _best_step(self, coef, directions):
        """Products of the step along the directions with what coef leaves over, and with itself."""
        best = square = 0.0
        for block in self.blocks:
            step = block.preferences(self._project(block, directions))[0]
            score = self._project(block, coef[np.newaxis])[:, 0]
            left_over = block.targets - score[block.first] + score[block.second]
            weighted = block.weights * step
            best, square = best + weighted @ left_over, square + weighted @ step
        return best, square

    def _steepest(self, directions):
        """``X' residuals X v`` of the centred rows, for each direction v, (k, p)."""
        return self._gathered(
            (block, block.both_ways(self._project(block, directions))) for block in self.blocks
        )


def _bounds(X, lists):
    """Where the blocks of rows start and end: whole lists that fit the cache, or all of them."""
    n = X.shape[0]
    if lists is None or n == 0:
        return np.array([0, n])
    entries = X.nnz / n if sparse.issparse(X) else X.shape[1]
    blocks = blocks_of_lists(lists, max(_ROWS_AT_ONCE, int(_ENTRIES_AT_ONCE / max(entries, 1.0))))
    return lists.offsets[[0, *(last for _, last in blocks)]]
