"""Problems of structured hinges: slopes, batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import check_grad
from scipy.sparse import csr_matrix

from .internals import ChainProblem, ClassHinge, HingeProblem, ListHinge, RankingLists


@pytest.mark.parametrize("kind", ["linear", "chain"])
@pytest.mark.parametrize("intercept", [False, True])
def test_gradients_of_problems(kind, intercept):
    rng = np.random.default_rng(0)
    X, y, lists = (
        rng.normal(size=(12, 3)),
        rng.integers(0, 3, 12),
        RankingLists([3, 4, 5]),
    )
    if kind == "chain":
        hinge = ListHinge(y, lists)
        problem = ChainProblem(X, hinge, np.ones(3) / 12, 3, intercept=intercept)
    else:
        hinge = ClassHinge(y, 1 - np.eye(3)[y])
        problem = HingeProblem(X, hinge, np.ones(12) / 12, 3, intercept=intercept)
    w = rng.normal(size=problem.size)
    for tangent in (problem.worst, lambda w: problem.soft(w, 0.3)):
        error = check_grad(
            lambda w, f=tangent: f(w).value, lambda w, f=tangent: f(w).slope, w
        )
        assert error < 1e-5
    whole, split = problem.worst(w), problem.batches(2, np.random.RandomState(0))
    assert len(split) > 1
    assert_allclose(sum(part.worst(w).value for part in split), whole.value)
    assert_allclose(sum(part.worst(w).slope for part in split), whole.slope, atol=1e-12)
    assert_allclose(whole.cost + whole.slope @ w, whole.value)
    part = problem.partition(2, np.random.RandomState(0))
    of_X = problem.X
    for problem.X in (of_X, csr_matrix(of_X)):
        values, slopes = problem.worst_of_parts(w, part)
        assert_allclose(values, [one.worst(w).value for one in split])
        assert_allclose(slopes, [one.worst(w).slope for one in split], atol=1e-12)
