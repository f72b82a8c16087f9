"""Weights at which the steps begin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lowrank_rank import PrecisionAtKPerceptron

from .internals import fit_logistic, standardised, start_weights
from .top_cases import no_steps, rare_class


@pytest.mark.parametrize("pos_label", [0, 1])
def test_the_steps_begin_at_logistic_regression(pos_label):
    X, y = rare_class(400)
    logistic = fit_logistic(X, y, np.ones(400), "auto", tol=1e-6)[0]
    model = no_steps(pos_label=pos_label).fit(X, y)
    assert_allclose(model.coef_, logistic, rtol=1e-6)
    published = no_steps(surrogate="avg", solver="sgd", pos_label=pos_label)
    assert np.abs(published.fit(X, y).coef_).max() < 1e-9


def test_start_is_zero_where_one_class_is_missing():
    X, y = np.eye(2), np.array([True, False])
    standard = standardised(X, np.ones(2))
    assert start_weights(X, y, standard).any()
    assert not start_weights(X, np.array([True, True]), standard).any()


def test_features_that_are_all_zero_start_from_zeros():
    """Their mean square is 0, by which nothing is divided."""
    for X in (np.zeros((3, 2)), sparse.csr_matrix((3, 2))):
        model = PrecisionAtKPerceptron(target_loss="precision@1").partial_fit(
            X, [0, 1, 0]
        )
        assert_array_equal(model.coef_, 0.0)
