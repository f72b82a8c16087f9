"""Logistic regression of classes, and the choice between it and ridge."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateClassifier, merge
from lowrank_rank.regression import _logistic

AUTO = LowRankSurrogateClassifier()
LOGISTIC = LowRankSurrogateClassifier(estimator="logistic")


def on_a_line(n=240, n_classes=4, seed=0):
    """Classes one after the other: least squares gives those in the middle to nobody."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = np.column_stack([y + 0.15 * rng.normal(size=n), rng.normal(size=(n, 2))])
    return X, np.array(list("dacbe"))[y]


def is_logistic(model):
    return isinstance(getattr(model, "estimator_", None), LogisticRegression)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_minimum_of_the_mean_loss_and_the_penalty(kind, weighted):
    """The gradient in the coefficients of standardised features is 0."""
    X, y = on_a_line()
    X = X * [1.0, 1e4, 1e-3] + (0.0 if kind is sparse.csr_matrix else 5.0)
    weights = np.random.default_rng(1).uniform(0, 3, len(y)) if weighted else np.ones(len(y))
    weights[:5] = 1.0 if not weighted else 0.0
    alpha = 0.01
    model = clone(LOGISTIC).set_params(alpha=alpha).fit(kind(X), y, sample_weight=weights)
    scaler = StandardScaler(with_mean=kind is np.asarray).fit(X, sample_weight=weights)
    Z, coef = scaler.transform(X), model.estimator_.coef_ * scaler.scale_
    p = softmax(X @ model.estimator_.coef_.T + model.estimator_.intercept_, axis=1)
    np.testing.assert_allclose(p, model.estimator_.predict_proba(kind(X)), atol=1e-12)
    away = (p - (y[:, np.newaxis] == model.estimator_.classes_)) * weights[:, np.newaxis]
    gradient = away.T @ Z / weights.sum() + alpha * coef
    assert np.abs(gradient).max() < 1e-4
    assert np.abs(away.sum(axis=0)).max() / weights.sum() < 1e-4
    assert model.alpha_ == alpha
    assert np.abs(coef).max() > 1.0


def test_decisions_are_those_of_the_least_expected_cost():
    X, y = on_a_line()
    costs = np.random.default_rng(2).uniform(size=(4, 6))
    for classes in (list("abcd"), list("cadb")):
        model = clone(LOGISTIC).set_params(loss_matrix=costs, classes=classes).fit(X, y)
        p = pd.DataFrame(model.estimator_.predict_proba(X), columns=model.estimator_.classes_)
        expected = p[classes].to_numpy() @ costs
        np.testing.assert_array_equal(model.predict(X), expected.argmin(axis=1))
    few = [*"abcd", "never seen"]
    model = clone(LOGISTIC).set_params(classes=few).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), clone(LOGISTIC).fit(X, y).predict(X))


def test_with_many_rows_of_a_logistic_model_decisions_are_bayes_optimal():
    """Of p(k | x) in proportion to exp(-2 (x - k)^2), whose logits are linear in x."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-0.5, 4.5, size=(20_000, 1))
    p = softmax(-2.0 * (X - np.arange(5)) ** 2, axis=1)
    y = (p.cumsum(axis=1) < rng.random((len(X), 1))).sum(axis=1)
    costs = rng.uniform(size=(5, 6))

    def mean_regret(estimator):
        model = LowRankSurrogateClassifier(loss_matrix=costs, estimator=estimator).fit(X, y)
        risks = p @ costs
        assert is_logistic(model) == (estimator == "auto")
        return (risks[np.arange(len(X)), model.predict(X)] - risks.min(axis=1)).mean()

    assert mean_regret("auto") < 1e-3
    assert mean_regret(None) > 0.01


def test_the_constant_penalty():
    X, y = on_a_line(100)
    assert clone(LOGISTIC).fit(X, y).alpha_ == pytest.approx(0.1 * 3 / 100 * 3 / 50)
    wide = np.random.default_rng(0).normal(size=(100, 60))
    assert clone(LOGISTIC).fit(wide, y).alpha_ == pytest.approx(0.1 * 60 / 100)
    wider = np.random.default_rng(0).normal(size=(100, 200))
    assert clone(LOGISTIC).fit(wider, y).alpha_ == pytest.approx(0.1)


@pytest.mark.parametrize("estimator", ["auto", "logistic"])
def test_a_row_of_weight_two_is_the_row_twice_and_order_does_not_matter(estimator):
    X, y = on_a_line(150)
    model = LowRankSurrogateClassifier(estimator=estimator)
    weights = np.random.default_rng(7).integers(0, 3, len(y)).astype(float)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    rows = np.random.default_rng(1).permutation(len(twice))
    one = clone(model).fit(X, y, sample_weight=weights)
    other = clone(model).fit(X[twice][rows], y[twice][rows])
    assert is_logistic(one)
    assert is_logistic(other)
    assert one.alpha_ == other.alpha_
    np.testing.assert_allclose(
        one.predict_surrogate(X), other.predict_surrogate(X), rtol=0, atol=2e-3
    )
    thrice = clone(model).fit(X, y, sample_weight=3.0 * weights)
    np.testing.assert_allclose(
        one.predict_surrogate(X), thrice.predict_surrogate(X), rtol=0, atol=2e-3
    )


def test_ridge_stays_where_nothing_is_better():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 5))
    for y in (rng.integers(0, 3, 400), np.where(X[:, 0] + rng.normal(size=400) > 0, "a", "b")):
        model = clone(AUTO).fit(X, y)
        ridge = clone(AUTO).set_params(estimator=None).fit(X, y)
        assert not is_logistic(model)
        np.testing.assert_array_equal(model.coef_, ridge.coef_)
        assert model.alphas_.tolist() == ridge.alphas_.tolist()
    X, y = on_a_line(19)  # too few rows to tell
    assert not is_logistic(clone(AUTO).fit(X, y))
    X, y = on_a_line()  # a penalty is that of ridge
    assert not is_logistic(clone(AUTO).set_params(alpha=0.1).fit(X, y))
    assert not is_logistic(clone(AUTO).fit(X, np.full(len(y), "a")))
    assert not is_logistic(clone(AUTO).set_params(loss_matrix=np.ones((4, 2))).fit(X, y))


def test_logistic_regression_where_least_squares_loses_classes():
    X, y = on_a_line()
    model, ridge = clone(AUTO).fit(X, y), clone(AUTO).set_params(estimator=None).fit(X, y)
    X_new, y_new = on_a_line(seed=1)
    assert is_logistic(model)
    assert model.score(X_new, y_new) > ridge.score(X_new, y_new) + 0.2
    assert not hasattr(model, "coef_")  # u is not linear
    assert not hasattr(model, "alphas_")
    assert model.predict_surrogate(X).shape == (len(y), 3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X_new), model.predict(X_new))
    # the same choice in all the forms that X may have
    frame = pd.DataFrame(X, columns=list("abc"))
    for given in (frame, X.astype(np.float32), sparse.csr_matrix(X), np.asfortranarray(X)):
        other = clone(AUTO).fit(given, y)
        assert is_logistic(other)
        assert np.mean(other.predict(given) == model.predict(X)) > 0.97
    many = clone(AUTO).set_params(solver="lsqr").fit(X, y)
    assert is_logistic(many)


def rows_of_fits(monkeypatch):
    """A list to which each fit of logistic regression adds its number of rows."""
    seen, plain = [], _logistic.fit_classes

    def counted(batch, **settings):
        seen.append(batch.X.shape[0])
        return plain(batch, **settings)

    monkeypatch.setattr("lowrank_rank.low_rank._classifier.fit_classes", counted)
    return seen


def test_the_comparison_is_by_cost_on_rows_that_were_held_out(monkeypatch):
    X, y = on_a_line()
    seen = rows_of_fits(monkeypatch)
    clone(AUTO).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))  # equal rows are one, in one fold
    assert len(seen) == 6
    assert sum(seen[:5]) == 4 * len(y)
    assert seen[5] == 2 * len(y)


def test_the_comparison_weighs_rows():
    """Where the classes between the outer ones hardly count, least squares loses nothing."""
    X, y = on_a_line()
    weights = np.where(np.isin(y, ["d", "b"]), 1.0, 1e-6)  # the first and the last one
    assert is_logistic(clone(AUTO).fit(X, y))
    assert not is_logistic(clone(AUTO).fit(X, y, sample_weight=weights))


def test_many_rows_are_compared_on_some(monkeypatch):
    monkeypatch.setattr(_logistic, "MAX_ROWS", 60)
    X, y = on_a_line(400)
    parts = rows_of_fits(monkeypatch)
    clone(AUTO).fit(X, y)
    assert sum(parts[:5]) == 4 * 60
    assert parts[5:] == [400]


def test_batches_are_ridge_and_logistic_regression_does_not_add_up():
    X, y = on_a_line()
    classes = np.unique(y)
    ridge = LowRankSurrogateClassifier(estimator=None).fit(X, y)
    for model in (
        clone(AUTO).partial_fit(X, y, classes),
        clone(AUTO).fit_blocks([(X, y)], classes=classes),
    ):
        np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    model, half = clone(AUTO).fit(X, y), len(y) // 2
    with pytest.raises(ValueError, match="keeps no folds"):
        merge([model, model])
    with pytest.raises(ValueError, match=r"by logistic regression.*estimator=None"):
        merge([clone(LOGISTIC).fit(X, y)] * 2)
    one, other = clone(AUTO).fit(X[:half], y[:half]), clone(ridge).fit(X[:half], y[:half])
    assert is_logistic(one)
    one.partial_fit(X[half:], y[half:])
    np.testing.assert_array_equal(one.coef_, other.partial_fit(X[half:], y[half:]).coef_)
    assert (one.alpha_, one.solver_, one.n_iter_) == (other.alpha_, "gram", 1)
    assert not hasattr(one, "estimator_")
    assert not hasattr(one, "estimators_")
    assert not hasattr(LOGISTIC, "partial_fit")
    with pytest.raises(AttributeError) as refused:
        _ = LOGISTIC.fit_blocks
    assert "with estimator='logistic'" in str(refused.value.__cause__)
    model.fit(X[:19], y[:19])  # ridge again
    assert not hasattr(model, "estimator_")
    assert not hasattr(model, "estimators_")


def test_one_class_is_refused_by_name_only():
    X = np.arange(30.0)[:, np.newaxis]
    assert clone(AUTO).fit(X, np.zeros(30)).predict(X).tolist() == [0.0] * 30
    with pytest.raises(ValueError, match="at least 2 classes"):
        clone(LOGISTIC).fit(X, np.zeros(30))


def test_no_penalty():
    X, y = on_a_line()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.3, rng.permutation(y), y)  # not separable
    model = clone(LOGISTIC).set_params(alpha=0.0).fit(X, y)
    plain = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_, rtol=0, atol=0.02)


def test_sparse_features_far_from_zero_end_at_the_minimum_of_dense_ones():
    rng = np.random.default_rng(0)
    year, age = 2015.0 + rng.integers(0, 5, 2000), 50.0 + 10.0 * rng.normal(size=2000)
    rare = (rng.random((2000, 3)) < 0.1) * rng.normal(size=(2000, 3))
    X = np.column_stack([rng.normal(size=2000), year, age, rare, np.full(2000, 1e9)])
    y = np.digitize(X[:, 0] + (year - 2017) / 2 + 0.3 * rng.gumbel(size=2000), [-0.5, 0.5])
    for estimator in ("logistic", "auto"):
        model = LowRankSurrogateClassifier(estimator=estimator)
        dense, thin = clone(model).fit(X, y), clone(model).fit(sparse.csr_matrix(X), y)
        assert is_logistic(dense)
        assert is_logistic(thin)
        assert thin.n_iter_ < 100
        u = dense.predict_surrogate(X)
        np.testing.assert_allclose(thin.predict_surrogate(X), u, rtol=0, atol=1e-2)
        assert dense.alpha_ == thin.alpha_


@pytest.mark.parametrize("scale", [1e-300, 1e200, 1e300])
def test_weights_of_any_size(scale):
    X, y = on_a_line()
    weights = np.random.default_rng(0).uniform(size=len(y))
    one = clone(AUTO).fit(X, y, sample_weight=weights)
    other = clone(AUTO).fit(X, y, sample_weight=scale * weights)
    assert is_logistic(one)
    u = one.predict_surrogate(X)
    np.testing.assert_allclose(other.predict_surrogate(X), u, rtol=0, atol=1e-3)


def test_features_out_of_range_are_refused_by_name():
    X, y = on_a_line()
    for scale in (1e-200, 1e200):
        with pytest.raises(ValueError, match="too large or too small"):
            clone(LOGISTIC).fit(scale * X, y)
    with pytest.raises(ValueError, match="NaN"):
        clone(LOGISTIC).fit(np.where(X > 3, np.nan, X), y)


def test_rows_that_differ_by_less_than_float32_shows_are_compared():
    X, y = on_a_line()
    far, near = clone(AUTO).fit(X + 1e9, y), clone(AUTO).fit(X, y)
    assert is_logistic(far)
    assert far.alpha_ == near.alpha_
    assert far.score(X + 1e9, y) > 0.95


def test_the_output_of_transformers_does_not_matter():
    X, y = on_a_line()
    expected = clone(AUTO).fit(X, y).predict(X)
    with config_context(transform_output="pandas"):
        for given in (X, sparse.csr_matrix(X)):
            np.testing.assert_array_equal(clone(AUTO).fit(given, y).predict(given), expected)


def test_constant_columns_and_many_classes_give_no_warning():
    X, y = on_a_line()
    constant = np.column_stack([X, np.full(len(y), 0.1)])
    weights = np.random.default_rng(0).uniform(size=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(AUTO).fit(constant, y, sample_weight=weights)
        clone(AUTO).fit(X[:40], np.arange(40) // 2)
    assert np.abs(model.estimator_.coef_[:, 3]).max() < 1e-12


def test_large_comparisons_are_cut_short(monkeypatch):
    X, y = on_a_line(2000)
    seen = rows_of_fits(monkeypatch)
    clone(AUTO).fit(X, y)  # clear after as many rows as are enough
    assert len(seen) < 6
    seen.clear()
    monkeypatch.setattr(_logistic, "MAX_WORK", 1.0)
    clone(AUTO).fit(X[:300], y[:300])
    assert len(seen) == 2


def test_weights_and_rows_that_do_not_count_in_the_comparison(monkeypatch):
    mean, error, n = _logistic._mean_and_error(
        [np.array([1.0, 0.0]), np.array([2.0])], [np.array([1.0, 1.0]), np.array([2.0])]
    )
    assert (mean, n) == (1.25, 3)
    assert error == pytest.approx(np.sqrt((0.25**2 + 1.25**2 + 4 * 0.75**2) / 16))
    X, y = on_a_line(300)
    monkeypatch.setattr(_logistic, "MAX_WORK", 5.0 * 4 * (300 * 3 + 3000))
    seen = rows_of_fits(monkeypatch)
    clone(AUTO).fit(X, y)
    before = list(seen)
    seen.clear()
    rows = np.repeat(np.arange(300), 3)
    clone(AUTO).fit(X[rows], y[rows], sample_weight=np.tile([1.0, 1.0, 0.0], 300))
    assert seen[:-1] == before[:-1]
    assert len(seen) == 6


def test_far_features_in_single_precision():
    Z = np.random.default_rng(0).normal(size=(400, 1))
    y = (Z[:, 0] > 0).astype(int) + (Z[:, 0] > 1)
    X = (np.round(Z * 8) + 3e7).astype(np.float32)
    one, other = clone(LOGISTIC).fit(X, y), clone(LOGISTIC).fit(X.astype(float), y)
    assert np.mean(one.predict(X) == other.predict(X)) > 0.99


def test_iterations_can_be_limited():
    X, y = on_a_line()
    with pytest.warns(ConvergenceWarning):
        model = clone(LOGISTIC).set_params(max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
    assert not is_logistic(clone(AUTO).set_params(max_iter=1).fit(*load_digits(return_X_y=True)))


def test_sparse_features_may_stay_as_they_are():
    """Counts of words: scaled to one size, rare ones drown the others."""
    rng = np.random.default_rng(0)
    base = 1.0 / np.arange(1, 1001)
    base /= base.sum()
    topics = np.array([rng.dirichlet(50.0 * base + 1e-4) for _ in range(6)])
    y = rng.integers(0, 6, 1200)
    counts = rng.poisson(50.0 * (0.7 * base + 0.3 * topics[y]))
    X = sparse.csr_matrix(np.log1p(counts) * np.log(1200 / (1.0 + (counts > 0).sum(axis=0))))
    model, scaled = (clone(m).fit(X[:400], y[:400]) for m in (AUTO, LOGISTIC))
    plain = LogisticRegression(max_iter=1000, tol=1e-5).fit(X[:400], y[:400])
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_, atol=1e-2)
    assert model.alpha_ == 1 / 400
    assert model.score(X[400:], y[400:]) > scaled.score(X[400:], y[400:]) + 0.02
    dense = clone(AUTO).fit(X[:400].toarray(), y[:400])
    assert not np.allclose(dense.predict_surrogate(X[:9].toarray()), model.predict_surrogate(X[:9]))
