"""Structured hinges: the default penalty, units of features and costs, the scale of steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine, make_classification
from sklearn.preprocessing import StandardScaler

from lowrank_rank.datasets import make_ranking
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)

from .reference import scaled_features


@pytest.fixture
def classes():
    return make_classification(
        300, 8, n_informative=5, n_classes=3, n_clusters_per_class=1, random_state=0
    )


@pytest.fixture
def documents():
    return make_ranking(n_lists=40, n_items=8, n_features=5, random_state=0)


def test_penalties_are_the_rule_of_sparse_features_and_steps_have_a_number(classes):
    X, y = classes
    model = StructuredHingeClassifier()
    words = np.where(np.abs(X) > 1.5, X, 0.0)
    m = scaled_features(words)[1]
    assert m < 8
    for form in (words, sparse.csr_matrix(words)):
        assert clone(model).fit(form, y).alpha_ == pytest.approx(0.5 / 3 * m / 300)
    steps = clone(model).set_params(solver="sgd", random_state=0)
    assert steps.fit(
        np.repeat(X, 10, axis=0), np.repeat(y, 10)
    ).alpha_ == pytest.approx(1e-3)


def test_the_unit_of_the_costs_does_not_matter(classes):
    X, y = classes
    costs = np.array([[0, 1, 5], [1, 0, 1], [3, 1, 0]])
    model = StructuredHingeClassifier(tol=1e-4)
    models = [
        clone(model).set_params(loss_matrix=c * costs).fit(X, y)
        for c in (1.0, 1e4, 1e-6)
    ]
    for model, c in zip(models, (1.0, 1e4, 1e-6), strict=True):
        assert_allclose(c * model.alpha_, models[0].alpha_)
        assert (
            np.mean(model.predict(X) == models[0].predict(X)) > 0.99
        )  # but for rounding


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_levels_of_lists_do_not_shrink_features(documents, layout):
    """A feature that is large for all of a list says no more, and no less, about its order."""
    X, y, qid = documents
    levels = 1e3 * np.random.default_rng(0).normal(size=(40, 5))
    model = StructuredHingeRanker(tol=1e-5)
    found = [clone(model).fit(layout(Z), y, qid=qid) for Z in (X, X + levels[qid])]
    assert_allclose(found[0].coef_, found[1].coef_, rtol=1e-2)
    marks = StructuredHingeRanker(
        target_loss="precision@1", alpha=1e-3, tol=1e-6
    )  # sees levels
    marks.fit(layout(X), y, qid=qid)
    within = (X - np.array([X[qid == q].mean(axis=0) for q in range(40)])[qid]).std(
        axis=0
    )
    Z = X / within if layout is sparse.csr_matrix else (X - X.mean(axis=0)) / within
    plain = clone(marks).set_params(standardize=False).fit(layout(Z), y, qid=qid)
    assert_allclose(marks.coef_ * within, plain.coef_, atol=1e-6)
    assert np.abs(plain.coef_).max() > 0.01


def test_weights_of_any_size(documents, classes):
    X, y, qid = documents
    found = [
        StructuredHingeRanker(alpha=0.01).fit(
            X, y, qid=qid, sample_weight=np.full(len(y), w)
        )
        for w in (1.0, 1e300)
    ]
    assert_allclose(found[0].coef_, found[1].coef_)
    X, y = classes
    found = [
        StructuredHingeClassifier(alpha=0.01).fit(
            X, y, sample_weight=np.full(len(y), w)
        )
        for w in (1.0, 1e300)
    ]
    assert_allclose(found[0].coef_, found[1].coef_)


def test_the_default_holds_its_own_on_features_of_unlike_units():
    X, y = load_wine(return_X_y=True)
    model = StructuredHingeClassifier().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.95
    raw = StructuredHingeClassifier(alpha=1e-3, standardize=False, max_iter=50)
    with pytest.warns(UserWarning, match="duality gap.*one scale"):
        raw.fit(X[::2], y[::2])


def test_steps_ask_for_the_solver_and_a_number(classes, documents):
    X, y = classes
    for model in (
        StructuredHingeClassifier(solver="sgd"),
        StructuredHingeClassifier(alpha=0.1),
        StructuredHingeRanker(solver="sgd"),
        StructuredHingeSequenceClassifier(),
    ):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError) as told:
            model.partial_fit(X, y)
        assert "set solver='sgd' and a number for alpha" in str(
            told.value.__cause__ or told.value
        )


def test_steps_go_on_with_the_scale_of_the_fit(classes):
    X, y = classes
    model = StructuredHingeClassifier(solver="sgd", alpha=0.01, random_state=0).fit(
        X, y
    )
    twin = clone(model).fit(X, y)
    model.partial_fit(X, y)
    twin.set_params(standardize=False).partial_fit(X, y)
    assert_array_equal(model.coef_, twin.coef_)
    assert model.score(X, y) > 0.7


def test_steps_keep_the_scale_of_the_first_call(classes):
    X, y = classes
    model = StructuredHingeClassifier(solver="sgd", alpha=0.01, batch_size=300)
    twin = clone(model).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    scaler = StandardScaler().fit(X[:100])
    plain = clone(model).set_params(standardize=False)
    plain.partial_fit(scaler.transform(X[:100]), y[:100], classes=[0, 1, 2])
    twin.partial_fit(100.0 * X[100:], y[100:])
    plain.partial_fit(scaler.transform(100.0 * X[100:]), y[100:])
    assert_allclose(
        twin.decision_function(X),
        plain.decision_function(scaler.transform(X)),
        rtol=1e-6,
        atol=1e-9,
    )


@pytest.mark.parametrize("layout", ["documents", "items"])
def test_zero_weights_are_not_best_where_most_labels_are_tied(layout):
    rng = np.random.default_rng(0)
    if layout == "documents":
        X, qid = rng.normal(size=(600, 4)), np.repeat(np.arange(60), 10)
        score = X[:, 0] + 0.5 * rng.normal(size=600)
        y = (
            score.reshape(60, 10) == score.reshape(60, 10).max(axis=1, keepdims=True)
        ).ravel()
    else:
        X, qid = rng.normal(size=(200, 4)), None
        score = X @ rng.normal(size=(4, 8)) + rng.normal(size=(200, 8))
        y = score == score.max(axis=1, keepdims=True)
    model = StructuredHingeRanker().fit(X, y.astype(float), qid=qid)
    assert np.abs(model.coef_).max() > 0.1


def test_steps_take_dense_and_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(5.0, 1.0, size=(60, 3)) * (rng.random((60, 3)) < [1.0, 0.3, 0.7])
    model = StructuredHingeClassifier(solver="sgd", alpha=0.01, random_state=0)
    forms = [
        (np.asarray, np.asarray), (np.asarray, sparse.csr_matrix), (sparse.csr_matrix, np.asarray),
    ]  # fmt: skip
    found = []
    for first, second in forms:
        steps = clone(model).partial_fit(first(X), X[:, 0] > 5.0)
        found.append(steps.partial_fit(second(X[::-1]), X[::-1, 0] > 5.0).coef_)
    assert np.abs(found[0]).max() > 0.01
    assert_allclose(found[1:], [found[0]] * 2, rtol=1e-9)


def test_zero_weights_are_kept_only_if_they_are_almost_the_minimum():
    """The minimum is .13 % below the value at zero weights: within tol, but a model of its own."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(500, 10))
    scores = X @ rng.normal(size=(10, 5))
    y = (scores + 3.5 * rng.gumbel(size=scores.shape)).argmax(axis=1)
    model = StructuredHingeClassifier().fit(
        X, y
    )  # a warning of zero weights is an error
    assert model.coef_.any()
    assert model.objective_ < 1.0
    assert model.dual_gap_ <= model.tol
