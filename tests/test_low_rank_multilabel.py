"""LowRankSurrogateMultilabelClassifier and the losses of sets: theorems, invariances, bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_val_score

from lowrank_rank import LowRankSurrogateMultilabelClassifier
from lowrank_rank.target_losses import NDCG, FBeta, SetLoss
from lowrank_rank.testing import check_target_loss

from .internals import Hamming
from .refusals import refused_by

LOSSES = [FBeta(0.5), FBeta(), FBeta(2.0), Hamming()]
X, Y = make_multilabel_classification(200, n_features=8, n_classes=5, random_state=0)


def sets_of(n_labels):
    return (np.arange(2**n_labels)[:, np.newaxis] >> np.arange(n_labels)) & 1


def fitted(X, y, sample_weight=None, **parameters):
    model = LowRankSurrogateMultilabelClassifier(**parameters)
    return model.fit(X, y, sample_weight=sample_weight)


# The losses -------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_contract_by_enumeration(loss):
    rng = np.random.default_rng(0)
    for n_labels in range(1, 9):
        support = sets_of(n_labels)[rng.permutation(2**n_labels)[:20]]
        check_target_loss(loss, support, random_state=n_labels)
    check_target_loss(loss, np.zeros((1, 4), dtype=int))  # K = 0


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_the_decoder_finds_the_best_of_all_sets(beta):
    """300 tables, half of them with ties; the empty set is best in some."""
    rng, loss, empty = np.random.default_rng(1), FBeta(beta), 0
    for trial in range(300):
        s = int(rng.integers(1, 9))
        K = int(rng.integers(0, s + 1))
        u = rng.uniform(size=(4, s * K + 1))
        u[:, 0] *= rng.uniform(0, K + 1)
        u = np.round(2 * u) if trial % 2 else u
        features = loss.set_features(sets_of(s), K)
        found = loss.set_features(z := loss.decode(u, s), K)
        np.testing.assert_allclose(
            np.einsum("nd,nd->n", u, found), (u @ features.T).min(axis=1), atol=1e-9
        )
        empty += int(np.sum(z.sum(axis=1) == 0))
    assert 100 < empty < 1000


def test_the_loss_is_that_of_scikit_learn():
    rng = np.random.default_rng(2)
    y, z = rng.integers(0, 2, (2, 50, 3))
    for beta in (0.5, 2.0):
        theirs = fbeta_score(y, z, beta=beta, average="samples", zero_division=1.0)
        assert 1 - FBeta(beta).loss(y, z).mean() == pytest.approx(theirs)
        assert FBeta(beta).measure(y, z) == pytest.approx(theirs)


class Wrong(FBeta):
    def decode(self, u, n_labels):
        return (
            np.maximum(super().decode(u, n_labels), 0)
            if self.beta == 1
            else self.all(u)
        )

    def all(self, u):
        return np.ones((len(u), 3), dtype=int)


class WrongOffset(Hamming):
    def offset(self, y):
        return np.zeros(len(y))


class NoSets(Hamming):
    def decode(self, u, n_labels):
        return np.full((len(u), n_labels), 0.5)


class FirstLabelFirst(Hamming):
    def decode(self, u, n_labels):
        return super().decode(u, n_labels) * (np.arange(n_labels) != 1)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (Wrong(2.0), "does not find the best set"),
        (WrongOffset(), "low-rank form is not its loss"),
        (NoSets(), "does not return sets"),
        (FirstLabelFirst(), "does not find the best set"),
    ],
)
def test_the_check_sees_what_is_wrong(loss, message):
    with pytest.raises(AssertionError, match=message):
        check_target_loss(loss, sets_of(3))


def test_the_check_refuses_other_support():
    with pytest.raises(ValueError, match="sets of 1 to 8 labels"):
        check_target_loss("f1", np.zeros((2, 9)))


def test_a_base_names_what_is_missing():
    for method in ("encode", "set_features", "offset"):
        with pytest.raises(NotImplementedError, match=f"must define {method}"):
            getattr(SetLoss(), method)(Y)
    with pytest.raises(NotImplementedError, match="must define decode"):
        SetLoss().decode(Y, 5)
    with refused_by("large set"):
        FBeta().encode([[1, 1]], 1)


# Calibration ------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("estimator", ["logistic", "ridge"])
def test_decisions_are_bayes_optimal_at_population_minimisers(loss, estimator):
    """One-hot x with a random distribution over all sets each: rows are weighted sets."""
    rng, s, n = np.random.default_rng(3), 4, 6
    sets = sets_of(s)
    p = rng.dirichlet(np.full(len(sets), 0.5), size=n)
    rows, which = np.divmod(np.arange(n * len(sets)), len(sets))
    model = fitted(
        np.eye(n)[rows],
        sets[which],
        1e3 * p.ravel() + 1e-12,
        target_loss=loss,
        estimator=estimator,
        alpha=1e-7,
    )
    losses = np.array([loss.loss(np.tile(y, (len(sets), 1)), sets) for y in sets])
    expected = p @ losses
    chosen = model.predict(np.eye(n)) @ (1 << np.arange(s))
    np.testing.assert_allclose(
        expected[np.arange(n), chosen], expected.min(axis=1), atol=2e-3, rtol=0
    )


def test_the_best_set_need_not_be_a_threshold_on_probabilities():
    """Label 1 is alone in .48 of the rows; label 0 has .52, always among four other labels."""
    y, rng = np.zeros((100, 22), dtype=int), np.random.default_rng(0)
    y[:48, 1], y[48:, 0] = 1, 1
    for row in y[48:]:
        row[2 + rng.permutation(20)[:4]] = 1
    model = fitted(np.zeros((100, 1)), y)
    assert np.flatnonzero(model.predict([[0.0]])[0]).tolist() == [1]
    assert model.score(np.zeros((100, 1)), y) == pytest.approx(0.48)


# The estimator ----------------------------------------------------------------------


def test_score_is_the_measure_of_the_loss():
    model, weights = fitted(X, Y), np.arange(len(X)) / len(X)
    predicted = model.predict(X)
    of_f1 = {"average": "samples", "zero_division": 1.0, "sample_weight": weights}
    assert model.score(X, Y, weights) == pytest.approx(f1_score(Y, predicted, **of_f1))
    hamming = fitted(X, Y, target_loss="hamming")
    assert hamming.score(X, Y) == pytest.approx(np.mean(hamming.predict(X) == Y))
    assert model.score(X, Y) > hamming.target_loss_.measure(Y, predicted) - 1
    assert set(np.unique(predicted)) == {0, 1}
    assert predicted.dtype.kind == "i"


def test_search_over_the_loss_and_the_penalty():
    grid = {"target_loss": ["f1", FBeta(2.0), "hamming"], "alpha": ["auto", 1e-3, 1.0]}
    scorer = make_scorer(f1_score, average="samples", zero_division=1.0)
    search = GridSearchCV(
        LowRankSurrogateMultilabelClassifier(), grid, cv=3, scoring=scorer,
        error_score="raise",
    )  # fmt: skip
    search.fit(X, Y)
    assert search.best_score_ > 0.5
    of_losses = search.cv_results_["mean_test_score"].reshape(
        3, 3
    )  # penalties x losses
    assert of_losses[0, 0] > of_losses[0, 2]
    with pytest.raises(ValueError, match="or a loss of sets"):
        cross_val_score(clone(search.best_estimator_).set_params(target_loss="map"), X, Y,
                        error_score="raise")  # fmt: skip


def test_forms_of_y_and_x_mean_the_same():
    model = fitted(X, Y)
    explicit = sparse.csr_matrix(Y)
    explicit.data[explicit.data == 1] = 1
    with_zeros = sparse.csr_matrix((np.append(explicit.data, 0), (
        np.append(explicit.nonzero()[0], 0), np.append(explicit.nonzero()[1], np.argmin(Y[0]))
    )), shape=Y.shape)  # fmt: skip
    forms = (
        Y.tolist(),
        Y.astype(bool),
        Y.astype(float),
        pd.DataFrame(Y),
        explicit,
        with_zeros,
    )
    for y in forms:
        again = fitted(X, y)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert again.score(X, y) == model.score(X, Y)
    assert model.classes_.tolist() == [0, 1, 2, 3, 4]
    assert fitted(sparse.csr_matrix(X), Y).score(X, Y) == pytest.approx(
        model.score(X, Y), abs=0.1
    )
    by_trees = fitted(X, Y, estimator=ExtraTreesRegressor(10, random_state=0))
    assert by_trees.score(X, Y) > model.score(X, Y)


def test_a_row_of_weight_two_is_the_row_twice():
    weights = np.arange(len(X)) % 3
    one, two = (
        fitted(X, Y, weights),
        fitted(np.repeat(X, weights, 0), np.repeat(Y, weights, 0)),
    )
    assert one.alpha_ == pytest.approx(two.alpha_)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-4)


def test_labels_and_features_in_another_order_change_nothing():
    order = np.random.default_rng(0).permutation(5)
    model, other = fitted(X, Y), fitted(10.0 * X[:, ::-1] + 3.0, Y[:, order])
    np.testing.assert_array_equal(
        model.predict(X)[:, order], other.predict(10.0 * X[:, ::-1] + 3.0)
    )


def test_a_label_has_the_mean_of_its_own_regression_and_of_the_sum_over_sizes():
    alone = (
        fitted(X, Y, target_loss="hamming", alpha=0.01, tol=1e-8).predict_surrogate(X)
        + 0.5
    )
    model = fitted(X, Y, alpha=0.01, tol=1e-8)
    shares = expit(X @ model.coef_.T + model.intercept_)
    targets = model.low_ + (model.high_ - model.low_) * shares
    np.testing.assert_allclose(targets[:, -5:], alone, atol=1e-6)
    of_sizes = targets[:, 1:-5].reshape(len(X), 5, -1)
    u = model.predict_surrogate(X)
    np.testing.assert_allclose(u[:, 0], targets[:, 0])
    found = u[:, 1:].reshape(of_sizes.shape)
    np.testing.assert_allclose(
        found.sum(axis=2), (of_sizes.sum(axis=2) + alone) / 2, atol=1e-6
    )
    np.testing.assert_allclose(
        found[:, :, 0] * of_sizes[:, :, 1], found[:, :, 1] * of_sizes[:, :, 0]
    )


def test_constant_columns_are_not_fitted():
    """A label that no row has is never predicted, one that every row has always is."""
    y = np.column_stack([Y, np.zeros(len(Y)), np.ones(len(Y))])
    model = fitted(X, y)
    largest = Y.sum(axis=1).max() + 1
    of_nobody = model.coef_[1:-7].reshape(7, largest, -1)[5]
    assert not of_nobody.any()
    predicted = model.predict(X)
    assert not predicted[:, 5].any()
    assert predicted[:, 6].all()


def test_no_label_at_all_predicts_the_empty_set():
    model = fitted(X, np.zeros_like(Y))
    assert not model.predict(X).any()
    assert model.score(X, np.zeros_like(Y)) == 1.0


def test_one_column_is_one_label_of_two_classes():
    model = fitted(X, np.where(Y[:, 0], "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    right = model.predict(X) == np.where(Y[:, 0], "yes", "no")
    assert model.score(X, np.where(Y[:, 0], "yes", "no")) == pytest.approx(right.mean())


def test_a_fit_has_no_batches():
    model = LowRankSurrogateMultilabelClassifier(estimator="ridge")
    assert not hasattr(model, "fit_blocks")
    assert not hasattr(model, "partial_fit")


# Bad input --------------------------------------------------------------------------

NAN = np.where(np.arange(5) == 2, np.nan, Y.astype(float))


@pytest.mark.parametrize(
    ("parameters", "y", "message"),
    [
        ({}, 2 * Y, r"must hold 0 and 1, but y\[\d+, \d+\] is 2"),
        ({}, NAN, "NaN"),
        ({}, Y[:-1], "inconsistent numbers"),
        ({}, None, "requires y to be passed"),
        ({}, np.zeros(len(Y)), "one class only"),
        ({}, np.zeros((len(Y), 2, 2)), "dim 3"),
        (
            {"target_loss": "f2"},
            Y,
            r"one of \['f1', 'hamming'\] or a loss of sets such as FBeta",
        ),
        ({"target_loss": NDCG()}, Y, "or a loss of sets"),
        ({"target_loss": FBeta(0.0)}, Y, "beta must be a finite number > 0"),
        ({"estimator": "forest"}, Y, "estimator must be one of"),
        ({"alpha": -1.0}, Y, "alpha must be"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(parameters, y, message):
    model = fitted(X, Y)
    before = model.coef_
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(X, y)
    assert model.coef_ is before


def test_trees_estimate_probabilities_of_the_sets():
    model = fitted(X, Y, estimator="trees", random_state=0)
    (forest,) = model.estimators_
    sets, classes = np.unique(Y, axis=0, return_inverse=True)
    rows = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    by_hand = [
        clone(half).fit(X, classes.ravel()).predict_proba(rows)
        for half in forest.forests_
    ]
    assert [len(half) for half in forest.forests_] == [50, 50]
    u = np.mean(by_hand, axis=0) @ FBeta().encode(sets, int(Y.sum(axis=1).max()))
    np.testing.assert_allclose(model.predict_surrogate(rows), u, atol=1e-12)
    assert model.score(X, Y) > fitted(X, Y).score(X, Y)
    again = fitted(X, Y, estimator="trees", random_state=0)
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    many = np.random.default_rng(0).integers(0, 2, (40_000, 15))
    with pytest.raises(ValueError, match=r"A forest of .* sets.*estimator='logistic'"):
        fitted(np.zeros((40_000, 1)), many, estimator="trees")


@pytest.mark.parametrize("target_loss", ["f1", "hamming"])
def test_both_models_decode_the_mean_of_their_targets(target_loss):
    both = fitted(
        X, Y, target_loss=target_loss, estimator="logistic+trees", random_state=0
    )
    linear = fitted(X, Y, target_loss=target_loss)
    trees = fitted(X, Y, target_loss=target_loss, estimator="trees", random_state=0)
    rows = X + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    u = (linear.predict_surrogate(rows) + trees.predict_surrogate(rows)) / 2
    np.testing.assert_array_equal(both.predict_surrogate(rows), u)
    np.testing.assert_array_equal(
        both.predict(rows), both.target_loss_.decode(u, Y.shape[1])
    )
    np.testing.assert_array_equal(both.coef_, linear.coef_)
    assert both.estimators_ == [both.estimator_]
    assert both.feature_importances_.shape == (X.shape[1],)
    assert (both.alpha_, both.n_iter_) == (linear.alpha_, linear.n_iter_)
    copy = pickle.loads(pickle.dumps(both))
    np.testing.assert_array_equal(copy.predict(rows), both.predict(rows))
    frame = pd.DataFrame(X).add_prefix("x")
    named = clone(both).fit(frame, Y)
    np.testing.assert_array_equal(
        named.predict(pd.DataFrame(rows).add_prefix("x")), both.predict(rows)
    )
    doubled = clone(both).set_params(n_jobs=2).fit(X, Y, np.full(len(X), 2.0))
    assert doubled.score(rows, Y) == pytest.approx(both.score(rows, Y), abs=0.05)
    with refused_by("unknown labels of sets"):
        clone(both).fit(X, np.where(np.eye(*Y.shape) == 1, np.nan, Y))


def test_too_many_targets_are_refused_before_they_are_made():
    with pytest.raises(ValueError, match="use target_loss='hamming'"):
        fitted(np.zeros((2, 1)), np.ones((2, 300_000)))


def test_score_wants_the_labels_of_fit():
    model = fitted(X, Y)
    with refused_by("number of labels"):
        model.score(X, Y[:, :4])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        model.score(X, Y[:-1])


def test_a_matrix_of_one_label_stays_a_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, :1] > 0).astype(int)
    model = LowRankSurrogateMultilabelClassifier().fit(X, y)
    assert model.predict(X).shape == (60, 1)
    assert model.classes_.tolist() == [0]
    assert model.score(X, y) == model.score(X, y[:, 0]) > 0.9
    flat = LowRankSurrogateMultilabelClassifier().fit(
        X, np.array(["no", "yes"])[y[:, 0]]
    )
    np.testing.assert_array_equal(flat.predict(X) == "yes", model.predict(X)[:, 0] == 1)


def test_sets_of_many_rows_are_those_of_each_row():
    """Rows are decoded in blocks, 80 rows of 40 labels at a time."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X @ rng.normal(size=(4, 40)) + rng.normal(size=(300, 40)) > 2.0).astype(int)
    model = LowRankSurrogateMultilabelClassifier(estimator="ridge").fit(X, y)
    sets = model.predict(X)
    assert len(np.unique(sets.sum(axis=1))) > 3
    for rows in (slice(70, 90), slice(299, 300)):
        np.testing.assert_array_equal(model.predict(X[rows]), sets[rows])
    u = model.predict_surrogate(X[:20])
    gains = -FBeta().set_features(sets[:20], u.shape[1] // 40)
    other = FBeta().set_features(rng.permuted(sets[:20], axis=1), u.shape[1] // 40)
    assert np.all((u * gains).sum(axis=1) >= -(u * other).sum(axis=1) - 1e-12)
