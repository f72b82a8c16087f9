"""StructuredHingeBinaryClassifier: one measure of all rows, thresholds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from lowrank_rank.structured import StructuredHingeBinaryClassifier
from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import FBeta

from .refusals import refused_by


@pytest.fixture
def rare():
    return make_classification(600, 6, weights=[0.85], class_sep=1.2, random_state=0)


@pytest.mark.parametrize(
    "loss",
    ["f1", FBeta(beta=2.0), "balanced_accuracy", "precision@20", "recall@200", "auc"],
)
def test_every_measure_of_all_rows_learns(loss, rare):
    X, y = rare
    model = StructuredHingeBinaryClassifier(target_loss=loss, alpha=1e-4).fit(X, y)
    assert not model.is_vacuous_
    random = np.random.default_rng(0).normal(size=600)
    chance = model.target_loss_.measure(y, random, one_list=True)
    assert model.score(X, y) > chance + 0.15
    assert np.array_equal(model.predict(X) == 1, model.decision_function(X) > 0)


@pytest.mark.parametrize("threshold", ["tuned", "hinge"])
@pytest.mark.parametrize(
    "loss", ["f1", "balanced_accuracy", "precision@20", "recall@600", "auc"]
)
def test_a_row_of_weight_2_is_the_row_twice(loss, threshold, rare):
    X, y = rare
    counts = np.random.default_rng(1).integers(0, 3, 600)
    model = StructuredHingeBinaryClassifier(
        target_loss=loss, alpha=1e-3, threshold=threshold
    )
    weighted = clone(model).fit(X, y, sample_weight=counts)
    repeated = clone(model).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(weighted.coef_, repeated.coef_, atol=1e-9)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-9)
    assert weighted.objective_ == pytest.approx(repeated.objective_)
    assert not np.allclose(weighted.coef_, clone(model).fit(X, y).coef_, rtol=1e-3)


def test_weights_that_count_no_rows_are_refused(rare):
    X, y = rare
    model = StructuredHingeBinaryClassifier()
    with pytest.raises(ValueError, match=r"copies of rows.*divide sample_weight"):
        model.fit(X, y, np.where(y == 0, 1e300, 1.0))
    with refused_by("all weights zero"):
        model.fit(X, y, np.zeros(600))


def test_thresholds_are_those_of_the_measure(rare):
    X, y = rare
    tuned = StructuredHingeBinaryClassifier(alpha=1e-4).fit(X, y)
    scores = tuned.decision_function(X)
    hits = np.cumsum(y[np.argsort(-scores)])
    best = np.max(2 * hits / (np.arange(1, 601) + y.sum()))
    assert_allclose(f1_score(y, scores > 0), best)
    assert_allclose(f1_score(y, tuned.predict(X)), best)
    assert_allclose(tuned.score(X, y), best)
    assert (
        StructuredHingeBinaryClassifier(threshold="hinge").fit(X, y).threshold_ == 0.0
    )
    for loss in ("recall@200", "precision@20"):
        model = StructuredHingeBinaryClassifier(target_loss=loss, tol=0.1).fit(X, y)
        assert model.predict(X).sum() == int(loss.partition("@")[2])


def test_the_positive_class_may_be_the_first(rare):
    X, y = rare
    names = np.where(y == 1, "fraud", "ok")
    forwards = StructuredHingeBinaryClassifier(alpha=1e-4, tol=0.05).fit(X, y)
    model = StructuredHingeBinaryClassifier(alpha=1e-4, tol=0.05, pos_label="fraud")
    model.fit(X, names)
    assert np.array_equal(model.predict(X) == "fraud", forwards.predict(X) == 1)
    assert_allclose(
        model.decision_function(X), -forwards.decision_function(X), atol=1e-9
    )
    assert_allclose(model.score(X, names), forwards.score(X, y))


def test_sparse_rows_taken_as_they_are_give_the_same_classifier(rare):
    X, y = rare
    model = StructuredHingeBinaryClassifier(standardize=False)
    dense, thin = (clone(model).fit(Z, y) for Z in (X, sparse.csr_matrix(X)))
    assert_allclose(dense.coef_, thin.coef_, atol=1e-6)


def test_a_vacuous_hinge_warns_and_takes_other_weights():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.03).astype(int)
    X = rng.normal(size=(2000, 3)) + 0.7 * y[:, np.newaxis]
    with pytest.warns(UserWarning, match="within 2 % of its value"):
        model = StructuredHingeBinaryClassifier().fit(X, y)
    assert model.is_vacuous_
    assert model.score(X, y) > 3.0 * 0.06  # three times that of marking all rows
    with pytest.warns(UserWarning, match="within 2 % of its value"):
        other = StructuredHingeBinaryClassifier(threshold="hinge").fit(X, y)
    assert other.threshold_ == model.threshold_ != 0.0  # 0 is no threshold of F1 for it


def test_the_weights_instead_do_not_depend_on_the_penalty_of_the_hinge():
    """That has another unit: of features over twice the number of positives."""
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.03).astype(int)
    X = rng.normal(size=(2000, 3)) + 0.7 * y[:, np.newaxis]
    found = []
    for alpha in (1e-3, 0.1):
        with pytest.warns(UserWarning, match="within 2 % of its value"):
            found.append(StructuredHingeBinaryClassifier(alpha=alpha).fit(X, y))
    assert_allclose(found[0].coef_, found[1].coef_)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    plain = LogisticRegression(C=8 / 3).fit(Z, y)
    assert_allclose(found[0].coef_ * X.std(axis=0), plain.coef_, atol=1e-3)


def test_input_of_the_binary_classifier_that_is_refused(rare):
    X, y = rare
    with refused_by("one class"):
        StructuredHingeBinaryClassifier().fit(X, np.ones(600))
    with refused_by("k and the number of relevant items"):
        StructuredHingeBinaryClassifier(target_loss="precision@500").fit(X, y)
    with refused_by("k and the number of relevant items"):
        StructuredHingeBinaryClassifier(target_loss="recall@5").fit(X, y)
    with refused_by("measure without hinge"):
        StructuredHingeBinaryClassifier(target_loss="ndcg@5").fit(X, y)


def test_the_objective_is_what_it_says(rare):
    X, y = rare
    model = StructuredHingeBinaryClassifier(alpha=1e-4, threshold="hinge").fit(X, y)
    scores = model.decision_function(X)
    scale = 2.0 * y.sum()
    weights = scale**2 * (np.sum(model.coef_**2))
    hinge = structured_hinge("f1", y, scores)[0][0]
    assert model.objective_ >= hinge + 1e-4 / 2 * weights - 1e-9
