"""alpha="auto" of the structured hinges: folds by content, the choice, and units of features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_wine, make_blobs, make_classification
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    StructuredHingeBinaryClassifier,
    StructuredHingeClassifier,
    StructuredHingeRanker,
)
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import per_query
from lowrank_rank.regression._penalties import N_FOLDS, folds_of, list_keys
from lowrank_rank.regression._search import MAX_ROWS
from lowrank_rank.structured._search import ALPHA, ALPHAS


@pytest.fixture
def classes():
    return make_classification(
        300, 8, n_informative=5, n_classes=3, n_clusters_per_class=1, random_state=0
    )


@pytest.fixture
def documents():
    X, y, qid = make_ranking(n_lists=40, n_items=8, n_features=5, random_state=0)
    return X, y, qid


def test_scores_are_those_of_fits_to_the_other_folds(classes):
    X, y = classes
    model = StructuredHingeClassifier().fit(X, y)
    assert_allclose(model.alphas_, ALPHAS[: len(model.alphas_)])
    folds = folds_of(list_keys(StandardScaler().fit_transform(X), y[:, None], None, np.ones(300)))
    assert len(np.unique(folds)) == N_FOLDS
    Z = StandardScaler().fit_transform(X)
    for alpha, score in zip(model.alphas_, model.alpha_scores_, strict=True):
        other = StructuredHingeClassifier(alpha=alpha, standardize=False, tol=1e-4)
        wrong = sum(
            np.count_nonzero(
                other.fit(Z[folds != k], y[folds != k]).predict(Z[folds == k]) != y[folds == k]
            )
            for k in range(N_FOLDS)
        )
        assert_allclose(-score, wrong / 300, atol=0.011)  # near the minimum, not at it


def test_what_is_in_the_noise_leaves_the_constant():
    X, y = make_blobs(200, centers=[[-5.0, 0.0], [5.0, 0.0]], random_state=0)
    assert StructuredHingeClassifier().fit(X, y).alpha_ == ALPHA
    few = StructuredHingeClassifier().fit(X[:19], y[:19])
    assert few.alpha_ == pytest.approx(ALPHA * 3 * 5 * 2 / 19)  # too few rows for 2 features
    assert not hasattr(few, "alphas_")
    assert StructuredHingeClassifier(alpha=0.2).fit(X, y).alpha_ == 0.2


def test_noise_asks_for_a_strong_penalty_and_corners_for_a_weak_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 400))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=800) > 0).astype(int)
    assert StructuredHingeClassifier().fit(X, y).alpha_ > ALPHA
    X = rng.uniform(-1, 1, size=(2000, 2))
    y = (X[:, 0] > 0.9).astype(int)  # found by large weights only: strong penalties all say "no"
    model = StructuredHingeClassifier().fit(X, y)
    assert model.alpha_ < ALPHA
    assert np.ptp(model.alpha_scores_[:2]) == 0  # equals do not end the search
    assert model.score(X, y) > 0.99


def test_the_choice_depends_on_what_rows_hold(classes):
    X, y = (part[:100] for part in classes)
    model = StructuredHingeClassifier().fit(X, y)
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(100)
    other = clone(model).fit(X[shuffled], y[shuffled])
    assert_array_equal(model.alpha_scores_, other.alpha_scores_)
    weights = rng.integers(0, 3, 100)
    twice = rng.permutation(np.repeat(np.arange(100), weights))
    weighted = clone(model).fit(X, y, sample_weight=weights)
    repeated = clone(model).fit(X[twice], y[twice])
    assert_array_equal(weighted.alpha_scores_, repeated.alpha_scores_)
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)


def test_lists_are_judged_by_the_measure(documents):
    X, y, qid = documents
    model = StructuredHingeRanker().fit(X, y, qid=qid)
    assert np.all((model.alpha_scores_ >= -1) & (model.alpha_scores_ <= 0))  # minus Kendall's loss
    renamed = np.array([f"q{47 * i % 101}" for i in qid])
    other = clone(model).fit(X, y, qid=renamed)
    assert_allclose(other.alpha_scores_, model.alpha_scores_)
    for loss in ("kendall", "ndcg@3", "auc"):
        grades = y if loss != "auc" else (y > np.median(y)).astype(float)
        found = StructuredHingeRanker(target_loss=loss).fit(X, grades, qid=qid)
        keys = list_keys(X, grades, RankingLists.from_qid(qid), np.ones(len(y)))
        folds = np.repeat(folds_of(keys), 8)
        for alpha, score in zip(found.alphas_, found.alpha_scores_, strict=True):
            values = []
            for k in range(N_FOLDS):
                out, at = folds != k, folds == k
                other = StructuredHingeRanker(target_loss=loss, alpha=alpha, tol=1e-2)
                other.fit(X[out], grades[out], qid=qid[out])
                table = per_query(grades[at], other.predict(X[at]), measures=loss, qid=qid[at])
                values.append(table[loss])
            # scaled by all lists there, and near the minimum only
            assert_allclose(score, np.nanmean(np.concatenate(values)), atol=0.04)
    by_items = StructuredHingeRanker().fit(X.reshape(40, -1), y.reshape(40, 8))
    assert len(by_items.alphas_) == len(by_items.alpha_scores_) > 2
    one_list = StructuredHingeRanker().fit(X[:8], y[:8])
    assert one_list.alpha_ == pytest.approx(ALPHA * 3 * 100 * X.shape[1] / 8)


def test_labels_that_teach_nothing_leave_the_constant(documents):
    X, y, qid = documents
    model = StructuredHingeRanker(target_loss="auc").fit(X, np.zeros_like(y), qid=qid)
    assert model.alpha_ > 0
    assert not hasattr(model, "alphas_")
    assert_allclose(model.coef_, 0)


def test_a_list_of_weight_2_is_the_list_twice(documents):
    X, y, qid = documents
    weights = np.where(qid < 15, 2.0, 1.0)
    again = qid < 15
    weighted = StructuredHingeRanker().fit(X, y, qid=qid, sample_weight=weights)
    repeated = StructuredHingeRanker().fit(
        np.concatenate([X, X[again]]),
        np.concatenate([y, y[again]]),
        qid=np.concatenate([qid, qid[again] + 1000]),
    )
    assert_allclose(weighted.alpha_scores_, repeated.alpha_scores_)
    assert weighted.alpha_ == repeated.alpha_
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)


def test_long_lists_are_searched_too():
    X, y, qid = make_ranking(n_lists=22, n_items=600, n_features=3, random_state=0)
    assert len(StructuredHingeRanker(tol=0.05).fit(X, y, qid=qid).alphas_) > 1


def test_the_unit_of_the_costs_does_not_matter(classes):
    X, y = classes
    costs = np.array([[0, 1, 5], [1, 0, 1], [3, 1, 0]])
    models = [StructuredHingeClassifier(loss_matrix=c * costs).fit(X, y) for c in (1.0, 1e4, 1e-6)]
    for model, c in zip(models, (1.0, 1e4, 1e-6), strict=True):
        assert_allclose(c * model.alpha_, models[0].alpha_, rtol=1e-4)
        assert_allclose(model.alpha_scores_[:5], c * models[0].alpha_scores_[:5], rtol=0.1)
        assert np.mean(model.predict(X) == models[0].predict(X)) > 0.99  # but for rounding
    steps = [
        StructuredHingeClassifier(loss_matrix=c * costs, solver="sgd").partial_fit(X, y)
        for c in (1.0, 1e4)
    ]
    assert_array_equal(steps[0].predict(X), steps[1].predict(X))


def test_levels_of_lists_do_not_shrink_features(documents):
    """A feature that is large for all of a list says no more, and no less, about its order."""
    X, y, qid = documents
    levels = 1e3 * np.random.default_rng(0).normal(size=(40, 5))
    found = [
        StructuredHingeRanker(alpha=0.01, tol=1e-5).fit(Z, y, qid=qid) for Z in (X, X + levels[qid])
    ]
    assert_allclose(found[0].coef_, found[1].coef_, rtol=1e-3)


def test_weights_of_any_size(documents, classes):
    X, y, qid = documents
    found = [
        StructuredHingeRanker(alpha=0.01).fit(X, y, qid=qid, sample_weight=np.full(len(y), w))
        for w in (1.0, 1e300)
    ]
    assert_allclose(found[0].coef_, found[1].coef_)
    X, y = classes
    found = [
        StructuredHingeClassifier().fit(X, y, sample_weight=np.full(len(y), w))
        for w in (1.0, 1e300)
    ]
    assert_allclose(found[0].coef_, found[1].coef_)


def test_steps_go_on_with_what_the_fit_has_found(classes):
    X, y = classes
    model = StructuredHingeClassifier(solver="sgd", random_state=0).fit(X, y)
    alpha, scale = model.alpha_, model._units_[1]
    model.set_params(standardize=False).partial_fit(X, y)
    assert model.alpha_ == alpha
    assert model._units_[1] is scale
    assert model.score(X, y) > 0.7


def test_many_rows_are_searched_in_part(capsys):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MAX_ROWS + 2000, 2))
    y = (X[:, 0] > 0).astype(int)
    model = StructuredHingeClassifier(verbose=1).fit(X, y)
    assert "[StructuredHingeClassifier] alpha 0.3: " in capsys.readouterr().out
    places = -model.alpha_scores_ * MAX_ROWS
    assert_allclose(places, np.round(places), atol=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_units_of_features_do_not_matter(classes, documents, layout):
    X, y = classes
    units = 10.0 ** np.arange(-4, 4)
    found = [StructuredHingeClassifier().fit(layout(Z), y) for Z in (X, X * units)]
    assert_allclose(found[0].coef_, found[1].coef_ * units, rtol=1e-4, atol=1e-5)
    assert_array_equal(found[0].predict(layout(X)), found[1].predict(layout(X * units)))
    found = [StructuredHingeBinaryClassifier().fit(layout(Z), y == 1) for Z in (X, X * units)]
    assert_array_equal(found[0].predict(layout(X)), found[1].predict(layout(X * units)))
    X, y, qid = documents
    found = [
        StructuredHingeRanker(alpha=0.01).fit(layout(Z), y, qid=qid) for Z in (X, X * units[:5])
    ]
    assert_allclose(found[0].coef_, found[1].coef_ * units[:5], rtol=1e-4)
    assert found[0].intercept_ == found[1].intercept_ == 0.0


def test_the_default_holds_its_own_on_features_of_unlike_units():
    X, y = load_wine(return_X_y=True)
    model = StructuredHingeClassifier().fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.95
    raw = StructuredHingeClassifier(alpha=1e-3, standardize=False, max_iter=50)
    with pytest.warns(UserWarning, match="duality gap.*one scale"):
        raw.fit(X[::2], y[::2])


def test_steps_keep_the_scale_of_the_first_call(classes):
    X, y = classes
    model = StructuredHingeClassifier(solver="sgd", batch_size=300)  # rows are sorted by hashes
    model.partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    assert model.alpha_ == ALPHA
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
    """They tie all scores, and Kendall's tau takes tied pairs of tied labels for right."""
    rng = np.random.default_rng(0)
    if layout == "documents":
        X, qid = rng.normal(size=(600, 4)), np.repeat(np.arange(60), 10)
        score = X[:, 0] + 0.5 * rng.normal(size=600)
        y = (score.reshape(60, 10) == score.reshape(60, 10).max(axis=1, keepdims=True)).ravel()
    else:
        X, qid = rng.normal(size=(200, 4)), None
        score = X @ rng.normal(size=(4, 8)) + rng.normal(size=(200, 8))
        y = score == score.max(axis=1, keepdims=True)
    y = y.astype(float)
    model = StructuredHingeRanker().fit(X, y, qid=qid)
    assert model.alpha_ < 1.0
    assert len(model.alphas_) > 3
    assert np.abs(model.coef_).max() > 0.1
