"""Weights at which the steps begin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from lowrank_rank import PrecisionAtKPerceptron

from .internals import Scaling, chosen_alpha, fit_logistic, start_weights
from .top_cases import labels_matrix, labels_of, no_steps, rare_class


@pytest.mark.parametrize("pos_label", [0, 1])
def test_starts(pos_label):
    X, y = rare_class(400)
    sign = 1 if pos_label else -1
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    scores = logistic.fit(X, y).decision_function(X)
    fitted = FrozenEstimator(clone(logistic).fit(X, y))
    expected = (logistic[-1].coef_ / logistic[0].scale_)[0]
    for start in (logistic, fitted, sign * expected, (sign * expected).tolist()):
        model = no_steps(start=start, pos_label=pos_label).fit(X, y)
        assert_allclose(model.coef_[0], expected, rtol=1e-6)
        assert_array_equal(model.rank(X).argsort()[:9], np.argsort(-sign * scores)[:9])
    plain = fit_logistic(X, y, np.ones(400), "auto", tol=1e-6)[0]
    assert_allclose(no_steps(pos_label=pos_label).fit(X, y).coef_, plain, rtol=1e-6)
    ridge = no_steps(start=Ridge(), pos_label=pos_label).fit(X, y)
    assert_allclose(ridge.coef_[0], Ridge().fit(X, y).coef_, rtol=1e-5)
    names = np.array(["ok", "bad"])[y]
    named = no_steps(start=LogisticRegression(), pos_label="bad").fit(sparse.csr_matrix(X), names)
    assert_allclose(named.coef_, -LogisticRegression().fit(X, y).coef_, rtol=1e-2)


def test_starts_of_a_matrix():
    X, Y = labels_matrix()
    ridge = Ridge().fit(X, Y)
    weights = np.column_stack([ridge.coef_, ridge.intercept_])
    for start in (Ridge(), weights):
        model = no_steps(start=start, target_loss="wta").fit(X, Y)
        assert_allclose(model.coef_, ridge.coef_, rtol=1e-5, atol=1e-8)
        assert_array_equal(model.rank(X).argmin(axis=1), ridge.predict(X).argmax(axis=1))
    one, scaler, p = no_steps(target_loss="wta").fit(X, Y), StandardScaler().fit(X), X.shape[1]
    C = 1.0 / (len(X) * chosen_alpha("auto", "items", p, len(X)))
    theirs = LogisticRegression(C=C).fit(scaler.transform(X), Y[:, 2])
    assert_allclose(one.coef_[2] * scaler.scale_, theirs.coef_[0], rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize(
    ("start", "match"),
    [
        (np.ones(3), r"start must be finite, of the shape \(8,\) .* got \(3,\)"),
        (np.full(8, np.nan), "start must be finite"),
        (DecisionTreeClassifier(max_depth=2), "does not score rows by a linear function"),
        (LogisticRegression, "start must be one of"),
    ],
)
def test_starts_that_cannot_be(start, match):
    X, y = rare_class(200)
    with pytest.raises(ValueError, match=match):
        PrecisionAtKPerceptron(start=start).fit(X, y)


def test_start_is_zero_where_one_class_is_missing():
    X, y, scaling = np.eye(2), np.array([1, 0]), Scaling(np.zeros(2), np.ones(2))
    assert start_weights("logistic", X, labels_of(y), scaling).any()
    assert not start_weights("zeros", X, labels_of(y), scaling).any()
    only = labels_of(y)._replace(positive=np.array([True, True]))
    assert not start_weights("logistic", X, only, scaling).any()


def test_features_that_are_all_zero_start_from_zeros():
    """Their mean square is 0, by which nothing is divided."""
    for X in (np.zeros((3, 2)), sparse.csr_matrix((3, 2))):
        model = PrecisionAtKPerceptron(target_loss="precision@1").partial_fit(X, [0, 1, 0])
        assert_array_equal(model.coef_, 0.0)
