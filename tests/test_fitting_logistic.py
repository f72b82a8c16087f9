"""Logistic regression of classes, and fractional logistic regression of fixed items."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    PairwiseDAGRanker,
    merge,
)

from .reference import scaled_features
from .refusals import refused_by

CLASSES = LowRankSurrogateClassifier()
RANKER = LowRankSurrogateRanker(target_loss="kendall")
#: Its targets are the grades themselves.
TARGETS = LowRankSurrogateRanker(target_loss="dcg", tol=1e-8)


def on_a_line(n=240, n_items=5, noise=0.3, seed=0):
    """Items in places of a line: the nearest one is the best. Which of two is nearer jumps."""
    rng = np.random.default_rng(seed)
    x, places = rng.uniform(-0.5, n_items - 0.5, n), np.arange(n_items)
    y = -np.abs(x[:, np.newaxis] + noise * rng.normal(size=(n, n_items)) - places)
    X = np.column_stack([np.exp(x), rng.normal(size=(n, 2))])  # far off on the one side
    return X, y.argsort(axis=1).argsort(axis=1) * 1.0


def classes_on_a_line(n=300, seed=0):
    """Classes that lie between others, which linear least squares does not find."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4, n)
    X = np.column_stack([x, rng.normal(size=(n, 2)) * [10.0, 0.1] + [0.0, 5.0]])
    return X, np.array(["a", "b", "c", "d"])[
        np.clip(x + 0.3 * rng.normal(size=n), 0, 3).astype(int)
    ]


@pytest.fixture
def targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1.0, 1e4, 1e-3, 1.0] + [5.0, 0.0, 0.0, 1.0]
    return (
        X,
        rng.uniform(size=(90, 11)) ** 2 * 7.0,
        rng.integers(0, 4, 90).astype(float),
    )


# Fractional ---------------------------------------------------------------------------


def test_it_is_the_minimum_of_the_mean_loss_and_the_penalty(targets):
    """The gradient in the coefficients of standardised features is 0."""
    X, y, weights = targets
    model = clone(TARGETS).set_params(alpha=0.02).fit(X, y, sample_weight=weights)
    counts = weights > 0
    low, high = y[counts].min(axis=0), y[counts].max(axis=0)
    np.testing.assert_allclose([model.low_, model.high_], [low, high])
    scaler = StandardScaler().fit(X, sample_weight=weights)
    Z, coef = scaler.transform(X), model.coef_ * scaler.scale_
    shares = expit(X @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(
        model.predict_surrogate(X), low + (high - low) * shares, rtol=1e-9
    )
    away = weights[:, np.newaxis] / weights.sum() * (shares - (y - low) / (high - low))
    away[~counts] = 0.0
    np.testing.assert_allclose(away.T @ Z + 0.02 * coef, 0.0, atol=1e-6)
    np.testing.assert_allclose(away.sum(axis=0), 0.0, atol=1e-6)
    assert np.abs(coef).max() > 0.1


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_of_zeros_and_ones_it_is_logistic_regression(targets, kind):
    X, y, weights = targets
    X, y = np.where(X.mean(axis=0) < X, X, 0.0), (y > 2).astype(float)
    ours = clone(TARGETS).set_params(alpha=0.1).fit(kind(X), y, sample_weight=weights)
    Z = scaled_features(X, weights)[0]
    weights = weights * len(weights) / weights.sum()
    for j in range(3):
        theirs = LogisticRegression(C=1.0 / (0.1 * 90), tol=1e-8, max_iter=1000)
        p = theirs.fit(Z, y[:, j], sample_weight=weights).predict_proba(Z)[:, 1]
        np.testing.assert_allclose(ours.predict_surrogate(kind(X))[:, j], p, atol=1e-5)


def test_without_a_penalty_it_finds_means_that_it_can_express():
    """E[t | x] = l + (h - l) s(2 x - 1), of targets that are never 0 or 1 themselves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 1))
    mean = expit(2.0 * X - 1.0)
    y = np.clip(
        mean + rng.uniform(-1.0, 1.0, mean.shape) * np.minimum(mean, 1.0 - mean), 0, 1
    )
    y[:2, 0] = 0.0, 1.0
    model = (
        clone(TARGETS)
        .set_params(alpha=0.0)
        .fit(X, np.hstack([10.0 + 4.0 * y, 1.0 - y]))
    )
    np.testing.assert_allclose(model.coef_[:, 0], [2.0, -2.0], atol=0.05)
    np.testing.assert_allclose(model.intercept_, [-1.0, 1.0], atol=0.05)


def test_weight_two_is_the_row_twice_and_targets_do_not_disturb_each_other(targets):
    X, y, weights = targets
    model = clone(TARGETS).fit(X, y, sample_weight=weights)
    rows = np.random.default_rng(1).permutation(
        np.repeat(np.arange(90), weights.astype(int))
    )
    twice = clone(TARGETS).fit(X[rows], y[rows])
    assert twice.alpha_ == model.alpha_
    u = model.predict_surrogate(X)
    np.testing.assert_allclose(u, twice.predict_surrogate(X), atol=1e-5)
    some = clone(TARGETS).fit(X, y[:, :2], sample_weight=weights)
    np.testing.assert_allclose(u[:, :2], some.predict_surrogate(X), atol=1e-5)
    number = clone(TARGETS).set_params(alpha=model.alpha_)
    for scale in (1e-200, 1e200):
        other = clone(number).fit(X, y, sample_weight=scale * weights)
        np.testing.assert_allclose(u, other.predict_surrogate(X), atol=1e-6)


def test_a_constant_target_is_predicted_and_single_precision_is_enough(targets):
    X, y, _ = targets
    y[:, 3] = 2.5
    model = clone(TARGETS).fit(X, y)
    np.testing.assert_array_equal(model.predict(X)[:, 3], 2.5)
    single = clone(TARGETS).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(
        single.predict(X.astype(np.float32)), model.predict(X), atol=1e-3
    )


def test_too_few_iterations_are_said(targets):
    X, y, _ = targets
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2"):
        clone(TARGETS).set_params(alpha=1e-6, max_iter=2).fit(X, y)


def test_shares_may_be_small(targets):
    """One row of almost no weight sets the bounds: the fit of the others goes on to its minimum."""
    X, y, _ = targets
    weights = np.append(np.ones(90), 1e-12)
    X, far = np.vstack([X, X[:1]]), np.vstack([y, np.full((1, 11), 1e6)])
    model = clone(TARGETS).set_params(alpha=1e-9).fit(X, far, sample_weight=weights)
    assert model.n_iter_ > 5
    residual = model.predict_surrogate(X[:90]) - y
    np.testing.assert_allclose(residual.mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(
        residual.T @ StandardScaler().fit_transform(X[:90]), 0.0, atol=0.5
    )


def test_with_many_rows_it_ranks_as_the_bayes_order_where_ridge_does_not():
    """Each pair is a logistic function of x: u > 0 on the one side of the middle."""
    rng = np.random.default_rng(0)
    places = np.array([0.0, 1.0, 2.0, 6.0])
    n = 20_000
    x = np.clip(rng.exponential(1.5, (n, 1)) - 1.0, -1.0, 8.0)
    # Plackett and Luce with utilities -(x - place)^2: their differences are linear in x.
    y = (-((x - places) ** 2) + rng.gumbel(size=(n, 4))).argsort(axis=1).argsort(
        axis=1
    ) * 1.0
    best = (-((x - places) ** 2)).argsort(axis=1).argsort(axis=1) * 1.0
    regrets = {
        estimator: -clone(RANKER)
        .set_params(estimator=estimator)
        .fit(x, y)
        .score(x, best)
        for estimator in ("auto", "ridge")
    }
    assert regrets["auto"] < 0.005
    assert regrets["ridge"] > 0.04


def test_probabilities_of_preferences_are_within_their_bounds():
    X, y = on_a_line()
    model = PairwiseDAGRanker().fit(X, y)
    P = model.predict_preference_probabilities(10.0 * X)
    np.testing.assert_allclose(
        P, (1.0 + model.predict_preferences(10.0 * X)) / 2.0 + 0.0
    )
    off = ~np.eye(5, dtype=bool)
    assert P[:, off].min() >= 0.0
    assert P[:, off].max() > 0.999
    tensors = (y[:, :, np.newaxis] > y[:, np.newaxis]).astype(float)
    same = clone(model).fit(X, tensors)
    np.testing.assert_allclose(
        same.predict_preferences(X), model.predict_preferences(X), atol=1e-6
    )


@pytest.mark.parametrize("model", [RANKER, PairwiseDAGRanker()])
def test_equal_rows_tie_and_copies_are_equal(model):
    X, y = on_a_line(150)
    fitted = clone(model).fit(X, y)
    alone = np.vstack([fitted.predict_surrogate(row[np.newaxis]) for row in X])
    np.testing.assert_array_equal(fitted.predict_surrogate(X), alone)
    for copy in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X, y)):
        np.testing.assert_array_equal(copy.predict_surrogate(X), alone)


@pytest.mark.parametrize("ranker", [LowRankSurrogateRanker, PairwiseDAGRanker])
def test_what_it_cannot_be_fitted_to_is_refused(ranker):
    X, y = on_a_line(30)
    model = ranker(target_loss="pd", estimator="logistic")
    with pytest.raises(
        ValueError, match=r"document.*(Write|leave) estimator ?= ?.auto"
    ):
        model.fit(X, y[:, 0], qid=np.arange(30) // 5)
    for fit in ("partial_fit", "fit_blocks"):
        with pytest.raises(AttributeError, match=f"no attribute '{fit}'"):
            getattr(model, fit)
    assert vars(model).keys() == model.get_params(deep=False).keys()


def test_numbers_out_of_range_are_refused():
    X, y = on_a_line(30)
    for wrong in (np.inf, np.nan, 1e200):
        X[3, 1] = wrong
        for model, labels in ((RANKER, y), (CLASSES, y[:, 0])):
            with pytest.raises(ValueError, match=r"infinity|NaN|too large"):
                clone(model).fit(X, labels)


# "auto" of fixed items ----------------------------------------------------------------


@pytest.mark.parametrize("model", [RANKER, PairwiseDAGRanker(target_loss="kendall")])
def test_auto_is_logistic(model):
    X, y = on_a_line()
    auto, logistic = (
        clone(model).set_params(estimator=estimator, target_loss="pd")
        for estimator in ("auto", "logistic")
    )
    for labels in (y, with_gaps(y)):
        u = auto.fit(X, labels).predict_surrogate(X)
        np.testing.assert_array_equal(u, logistic.fit(X, labels).predict_surrogate(X))
    y[0, 0] = np.nan
    weights = np.append(0.0, np.ones(239))  # a row that does not count
    u = auto.fit(X, y, sample_weight=weights).predict_surrogate(X)
    np.testing.assert_allclose(u, logistic.fit(X[1:], y[1:]).predict_surrogate(X))


# Unknown labels -----------------------------------------------------------------------


def with_gaps(y, share=0.3):
    return np.where(np.random.default_rng(1).random(y.shape) < share, np.nan, y)


#: Estimators, each of whose targets depends on one label, on two, or on all of a row.
UNKNOWN = {
    "items": LowRankSurrogateRanker(target_loss="dcg", alpha=0.02, tol=1e-12),
    "pairs": PairwiseDAGRanker(alpha=0.02, tol=1e-12),
    "sets": LowRankSurrogateMultilabelClassifier(
        target_loss="hamming", alpha=0.02, tol=1e-12
    ),
    "sets and sizes": LowRankSurrogateMultilabelClassifier(alpha=0.02, tol=1e-12),
}


def targets_of(name, y):
    """Targets with NaN, by hand."""
    if name == "pairs":
        i, j = np.triu_indices(y.shape[1], 1)
        unknown = np.isnan(y[:, i] + y[:, j])
        return np.where(unknown, np.nan, np.sign(y[:, i] - y[:, j]))
    if name != "sets and sizes":
        return y
    sizes = y.sum(axis=1, keepdims=True)
    largest = int(np.nansum(y, axis=1).max())
    columns = [
        sizes == 0,
        *((y[:, [i]] == 1) & (sizes == np.arange(1, largest + 1)) for i in range(5)),
    ]
    joint = np.where(np.isnan(sizes), np.nan, np.hstack(columns))
    return np.hstack([joint, y])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("name", UNKNOWN)
@pytest.mark.parametrize("n_unknown", [1, 200])
def test_an_unknown_label_is_left_out(name, kind, n_unknown):
    """Each target is at the minimum over its known rows; the rows and the penalty stay."""
    X, y = on_a_line()
    X = np.column_stack([X, X[:, 0] > 1.0])
    y = (y > 2).astype(float) if "sets" in name else y
    y.flat[np.random.default_rng(0).choice(y.size, n_unknown, replace=False)] = np.nan
    weights = 1.0 + np.arange(240) % 3
    model = clone(UNKNOWN[name]).fit(kind(X), y, sample_weight=weights)
    targets = targets_of(name, y)
    scale = np.sqrt(np.cov(X.T, aweights=weights, bias=True).diagonal())
    scale /= np.sqrt(np.minimum(2.0 * (weights @ (X != 0)) / weights.sum(), 1.0))
    low, high = np.nanmin(targets, axis=0), np.nanmax(targets, axis=0)
    varying = high > low
    shares = (targets - low)[:, varying] / (high - low)[varying]
    fitted_shares = expit(X @ model.coef_.T + model.intercept_)[:, varying]
    errors = (
        np.nan_to_num(fitted_shares - shares) * weights[:, np.newaxis] / weights.sum()
    )
    slopes = (X.T @ errors) / scale[:, np.newaxis] + 0.02 * scale[
        :, np.newaxis
    ] * model.coef_.T[:, varying]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-9)
    np.testing.assert_allclose(errors.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("name", UNKNOWN)
def test_one_unknown_label_moves_no_other_target(name):
    X, y = on_a_line()
    y = (y > 2).astype(float) if "sets" in name else y
    gap = y.copy()
    gap[3, 2] = np.nan
    all_known, one_unknown = (
        clone(UNKNOWN[name]).set_params(alpha="auto").fit(X, t) for t in (y, gap)
    )
    assert one_unknown.alpha_ == all_known.alpha_
    same = ~np.isnan(targets_of(name, gap)).any(axis=0)
    coefs = one_unknown.coef_[same], all_known.coef_[same]
    np.testing.assert_allclose(*coefs, rtol=1e-5, atol=1e-7)
    assert not np.allclose(one_unknown.coef_[~same], all_known.coef_[~same], rtol=1e-5)


def test_a_pair_that_nobody_compares_has_no_preference():
    X, y = on_a_line()
    y[::2, 0] = np.nan
    y[1::2, 1] = np.nan
    model = PairwiseDAGRanker().fit(X, y)
    np.testing.assert_array_equal(model.predict_surrogate(X)[:, 0], 0.0)
    assert np.ptp(model.predict_surrogate(X)[:, 1]) > 0.5


def test_many_pairs_with_unknown_items_are_solved_in_parts():
    """66 pairs are more than one part has."""
    X, y = on_a_line(100, n_items=12)
    y = with_gaps(y)
    parts = LowRankSurrogateRanker(target_loss="pd", tol=1e-8).fit(X, y)
    pairs = PairwiseDAGRanker(tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        parts.predict_surrogate(X), pairs.predict_surrogate(X), atol=1e-4
    )


def test_sets_that_are_not_known_are_refused_where_they_are_needed():
    X, y = on_a_line(60)
    y = (y > 2).astype(float)
    y[np.arange(60), np.arange(60) % 5] = np.nan
    with refused_by("unknown labels of sets"):
        LowRankSurrogateMultilabelClassifier().fit(X, y)
    with refused_by("unknown labels of sets"):
        LowRankSurrogateMultilabelClassifier(
            target_loss="hamming", estimator="trees"
        ).fit(X, y)
    ridge = {"target_loss": "hamming", "estimator": "ridge", "alpha": "gcv"}
    assert LowRankSurrogateMultilabelClassifier(**ridge).fit(X, y).alpha_ > 0
    y[:, 1] = np.nan
    with refused_by("item never judged"):
        LowRankSurrogateMultilabelClassifier(target_loss="hamming").fit(X, y)


@pytest.mark.parametrize("model", [RANKER, PairwiseDAGRanker(target_loss="kendall")])
def test_batches_of_items_ask_for_ridge(model):
    X, y = on_a_line()
    halves = [(X[:100], y[:100], None), (X[100:], y[100:], None)]
    for fit in (lambda: model.partial_fit(X, y), lambda: model.fit_blocks(halves)):
        with pytest.raises(ValueError, match="set estimator='ridge'"):
            fit()
    assert vars(model).keys() == model.get_params(deep=False).keys()
    ridge = clone(model).set_params(estimator="ridge")
    whole = clone(ridge).fit(X, y)
    parts = [clone(ridge).fit_blocks([half]) for half in halves]
    by_parts = clone(ridge).fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    for fitted in (by_parts, clone(ridge).fit_blocks(halves), merge(parts)):
        np.testing.assert_allclose(fitted.coef_, whole.coef_, rtol=1e-9)
    with pytest.raises(ValueError, match=r"logistic regression.*estimator='ridge'"):
        merge([clone(model).fit(*half[:2]) for half in halves])


# Classes ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_it_is_logistic_regression_of_standardised_features(kind, n_classes):
    X, y = classes_on_a_line()
    X, y = (
        np.where(np.abs(X) > [0.5, 9.0, 0.5], X, 0.0),
        np.where(np.isin(y, list("abcd")[:n_classes]), y, "b"),
    )
    weights = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    model = clone(CLASSES).set_params(tol=1e-8).fit(kind(X), y, sample_weight=weights)
    Z, m = scaled_features(X, weights)
    alpha = 0.5 / (4 if n_classes == 2 else n_classes) * m / weights.sum()
    assert 2.0 < m < 2.9  # one feature has zeros in most rows
    assert model.alpha_ == pytest.approx(alpha)
    own = LogisticRegression(C=1 / (alpha * weights.sum()), tol=1e-8, max_iter=2000)
    P = own.fit(Z, y, sample_weight=weights).predict_proba(Z)
    np.testing.assert_allclose(model.predict_proba(kind(X)), P, atol=1e-4)
    assert model.coef_.shape == (n_classes, 3)
    linear = softmax(X @ model.coef_.T + model.intercept_, axis=1)
    np.testing.assert_allclose(model.predict_proba(kind(X)), linear, atol=1e-12)
    vectors = model._loss_.encode(np.arange(n_classes))
    np.testing.assert_allclose(
        model.predict_surrogate(kind(X)), linear @ vectors, atol=1e-12
    )


def test_classes_between_others_are_found_where_ridge_loses_them():
    X, y = classes_on_a_line()
    X_test, y_test = classes_on_a_line(2000, seed=1)
    ridge = clone(CLASSES).set_params(estimator="ridge").fit(X, y)
    logistic = clone(CLASSES).fit(X, y)
    assert logistic.score(X_test, y_test) > ridge.score(X_test, y_test) + 0.1


def test_a_class_that_is_not_in_y_has_no_probability():
    X, y = classes_on_a_line()
    model = clone(CLASSES).set_params(classes=["d", "c", "z", "b", "a"]).fit(X, y)
    P = model.predict_proba(X)
    assert P[:, 2].tolist() == [0.0] * len(X)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    plain = clone(CLASSES).fit(X, y)
    np.testing.assert_allclose(P[:, [4, 3, 1, 0]], plain.predict_proba(X), atol=1e-5)
    assert model.coef_.shape == (5, 3)


def test_one_class_is_a_constant_decision():
    X = np.arange(30.0)[:, np.newaxis]
    for estimator in ("auto", "logistic", "ridge"):
        model = LowRankSurrogateClassifier(estimator=estimator, classes=[0, 1, 2])
        assert model.fit(X, np.ones(30)).predict(X).tolist() == [1] * 30
        assert (
            LowRankSurrogateClassifier(estimator=estimator)
            .fit(X, np.ones(30))
            .score(X, X[:, 0] * 0 + 1)
            == 1
        )
    np.testing.assert_array_equal(
        LowRankSurrogateClassifier(classes=[0, 1, 2])
        .fit(X, np.ones(30))
        .predict_proba(X[:1]),
        [[0, 1, 0]],
    )


def test_no_penalty():
    X, y = classes_on_a_line()
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.3, rng.permutation(y), y)  # not separable
    model = clone(CLASSES).set_params(alpha=0.0).fit(X, y)
    plain = LogisticRegression(C=np.inf, max_iter=1000, tol=1e-8).fit(
        StandardScaler().fit_transform(X), y
    )
    P = plain.predict_proba(StandardScaler().fit_transform(X))
    np.testing.assert_allclose(model.predict_proba(X), P, atol=1e-3)


@pytest.mark.parametrize("scale", [1e-300, 1e200, 1e300])
def test_weights_of_any_size(scale):
    X, y = classes_on_a_line()
    weights = np.random.default_rng(0).uniform(size=len(y))
    model = clone(CLASSES).set_params(alpha=0.01)
    one = clone(model).fit(X, y, sample_weight=weights).predict_proba(X)
    other = clone(model).fit(X, y, sample_weight=scale * weights).predict_proba(X)
    np.testing.assert_allclose(other, one, atol=1e-3)


def test_the_output_of_transformers_does_not_matter():
    X, y = classes_on_a_line()
    for given in (X, sparse.csr_matrix(X)):
        expected = clone(CLASSES).fit(given, y).predict(given)
        with config_context(transform_output="pandas"):
            np.testing.assert_array_equal(
                clone(CLASSES).fit(given, y).predict(given), expected
            )


def test_constant_columns_and_many_classes_give_no_warning():
    X, y = classes_on_a_line()
    constant = np.column_stack([X, np.full(len(y), 0.1)])
    weights = np.random.default_rng(0).uniform(size=len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(CLASSES).fit(constant, y, sample_weight=weights)
        clone(CLASSES).fit(X[:40], np.arange(40) // 2)
    assert np.abs(model.coef_[:, 3]).max() < 1e-12


def test_far_features_in_single_precision():
    Z = np.random.default_rng(0).normal(size=(400, 1))
    y = (Z[:, 0] > 0).astype(int) + (Z[:, 0] > 1)
    X = (np.round(Z * 8) + 3e7).astype(np.float32)
    one, other = clone(CLASSES).fit(X, y), clone(CLASSES).fit(X.astype(float), y)
    assert np.mean(one.predict(X) == other.predict(X)) > 0.99


def test_iterations_can_be_limited():
    X, y = classes_on_a_line()
    with pytest.warns(ConvergenceWarning):
        model = clone(CLASSES).set_params(max_iter=2).fit(X, y)
    assert model.n_iter_ == 2
