"""Scores of standardised rows, and gradients in the weights, against their definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import approx_fprime

from .internals import LinearProblem


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_scores_and_gradient(n_columns, intercept, make):
    rng = np.random.default_rng(0)
    X, mean, scale = rng.normal(size=(9, 4)), rng.normal(size=4), rng.uniform(1, 2, 4)
    problem = LinearProblem(
        make(X), n_columns, intercept=intercept, mean=mean, scale=scale
    )
    assert problem.size == n_columns * (4 + intercept)
    w, weights = rng.normal(size=problem.size), rng.normal(size=(9, n_columns))
    coef = w.reshape(n_columns, -1)
    expected = (X - mean) / scale @ coef[:, :4].T + (coef[:, 4] if intercept else 0.0)
    assert_allclose(problem.scores(w), expected, atol=1e-12)

    def value(w):
        return np.sum(weights * problem.scores(w) ** 2)

    slopes = 2.0 * weights * problem.scores(w)
    assert_allclose(
        problem.gradient(slopes), approx_fprime(w, value), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize(
    ("mean", "scale"),
    [([0.0, 2.0, 0.0], [1.0, 1.0, 1.0]), ([0.0, 0.0, 0.0], [1.0, 4.0, 1.0])],
)
def test_some_features_are_standardised_where_others_are_as_given(mean, scale):
    X = np.array([[1.0, 3.0, -1.0], [2.0, 0.0, 4.0]])
    problem = LinearProblem(X, mean=mean, scale=scale)
    w = np.array([1.0, 2.0, -3.0])
    standardised = (X - mean) / scale
    assert_allclose(problem.scores(w)[:, 0], standardised @ w, atol=1e-12)
    slopes = np.array([[1.0], [-2.0]])
    assert_allclose(problem.gradient(slopes), slopes[:, 0] @ standardised, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_single_precision_is_summed_in_double_precision(make):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(5000, 3)).astype(np.float32)
    w, slopes = rng.normal(size=3), rng.normal(size=(5000, 1))
    narrow, wide = (
        LinearProblem(make(X.astype(dtype))) for dtype in (np.float32, np.float64)
    )
    assert narrow.scores(w).dtype == np.float64
    assert_allclose(narrow.scores(w), wide.scores(w), rtol=1e-12)
    assert_allclose(narrow.gradient(slopes), wide.gradient(slopes), rtol=1e-12)
