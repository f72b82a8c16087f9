"""Fractional logistic regression of fixed items, and the choice between it and ridge."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, PairwiseDAGRanker, merge
from lowrank_rank.regression import _fractional
from lowrank_rank.regression._fractional import FractionalLogisticRegression
from lowrank_rank.regression._penalties import folds_of, list_keys

AUTO = LowRankSurrogateRanker(target_loss="kendall")
LOGISTIC = clone(AUTO).set_params(estimator="logistic")
RIDGE = clone(AUTO).set_params(estimator=None)


def on_a_line(n=240, n_items=5, noise=0.3, seed=0):
    """Items in places of a line: the nearest one is the best. Which of two is nearer jumps."""
    rng = np.random.default_rng(seed)
    x, places = rng.uniform(-0.5, n_items - 0.5, n), np.arange(n_items)
    y = -np.abs(x[:, np.newaxis] + noise * rng.normal(size=(n, n_items)) - places)
    X = np.column_stack([np.exp(x), rng.normal(size=(n, 2))])  # far off on the one side
    return X, y.argsort(axis=1).argsort(axis=1) * 1.0


def is_logistic(model):
    return isinstance(getattr(model, "estimator_", None), FractionalLogisticRegression)


@pytest.fixture
def targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * [1.0, 1e4, 1e-3, 1.0] + [5.0, 0.0, 0.0, 1.0]
    return X, rng.uniform(size=(90, 11)) ** 2 * 7.0 - 3.0, rng.integers(0, 4, 90).astype(float)


# The regression -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_it_is_the_minimum_of_the_mean_loss_and_the_penalty(targets, kind):
    """The gradient in the coefficients of standardised features is 0."""
    X, y, weights = targets
    model = FractionalLogisticRegression(alpha=0.02).fit(kind(X), y, weights)
    counts = weights > 0
    low, high = y[counts].min(axis=0), y[counts].max(axis=0)
    scaler = StandardScaler().fit(X, sample_weight=weights)
    Z, coef = scaler.transform(X), model.coef_ * scaler.scale_
    shares = expit(X @ model.coef_.T + model.intercept_)
    np.testing.assert_allclose(model.predict(kind(X)), low + (high - low) * shares, rtol=1e-9)
    away = weights[:, np.newaxis] / weights.sum() * (shares - (y - low) / (high - low))
    away[~counts] = 0.0
    np.testing.assert_allclose(away.T @ Z + 0.02 * coef, 0.0, atol=2e-6)
    np.testing.assert_allclose(away.sum(axis=0), 0.0, atol=2e-6)
    assert np.abs(coef).max() > 0.1


def test_the_gradient_is_that_of_the_value(targets):
    X, y, weights = targets
    problem = _fractional.Fractions.of(X, y, weights)
    rng = np.random.default_rng(1)
    w, step = rng.normal(size=5 * 11), rng.normal(size=5 * 11)
    given = rng.uniform(0.5, 2.0, (5, 11)), problem.shares, 0.3, rng.uniform(0.1, 0.3, 11)
    _, gradient = problem._value_and_gradient(w, *given)
    ahead, behind = (problem._value_and_gradient(w + h * step, *given)[0] for h in (1e-6, -1e-6))
    assert gradient @ step == pytest.approx((ahead - behind) / 2e-6, rel=1e-6)


def test_of_zeros_and_ones_it_is_logistic_regression(targets):
    X, y, weights = targets
    labels, Z = y > 0, StandardScaler().fit_transform(X, sample_weight=weights)
    ours = FractionalLogisticRegression(alpha=0.1).fit(X, labels, weights).predict(X)
    weights = weights * len(weights) / weights.sum()
    for j in range(3):
        theirs = LogisticRegression(C=1.0 / (0.1 * 90), tol=1e-8)
        p = theirs.fit(Z, labels[:, j], sample_weight=weights).predict_proba(Z)[:, 1]
        np.testing.assert_allclose(ours[:, j], p, atol=1e-5)


def test_without_a_penalty_it_finds_means_that_it_can_express():
    """E[t | x] = l + (h - l) s(2 x - 1), of targets that are never 0 or 1 themselves."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 1))
    mean = expit(2.0 * X - 1.0)
    y = np.clip(mean + rng.uniform(-1.0, 1.0, mean.shape) * np.minimum(mean, 1.0 - mean), 0, 1)
    y[:2, 0] = 0.0, 1.0
    model = FractionalLogisticRegression(alpha=0.0).fit(X, 10.0 + 4.0 * y)
    np.testing.assert_allclose(model.coef_, 2.0, atol=0.05)
    np.testing.assert_allclose(model.intercept_, -1.0, atol=0.05)
    np.testing.assert_allclose(model.predict(X), 10.0 + 4.0 * mean, atol=0.02)


def test_weight_two_is_the_row_twice_and_targets_do_not_disturb_each_other(targets):
    X, y, weights = targets
    model = FractionalLogisticRegression(alpha=0.01, tol=1e-8).fit(X, y, weights)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(90), weights.astype(int)))
    twice = clone(model).fit(X[rows], y[rows])
    np.testing.assert_allclose(model.predict(X), twice.predict(X), atol=1e-5)
    alone = np.hstack([clone(model).fit(X, y[:, [j]], weights).predict(X) for j in range(11)])
    np.testing.assert_allclose(model.predict(X), alone, atol=1e-5)
    huge = clone(model).fit(X, y, 1e200 * weights)
    np.testing.assert_allclose(model.predict(X), huge.predict(X), atol=1e-9)


def test_a_constant_target_is_predicted_and_single_precision_is_enough(targets):
    X, y, _ = targets
    y[:, 3] = 2.5
    model = FractionalLogisticRegression().fit(X, y)
    np.testing.assert_array_equal(model.predict(X)[:, 3], 2.5)
    single = clone(model).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.predict(X.astype(np.float32)), model.predict(X), atol=1e-3)


def test_steps_that_do_not_suffice_are_said(targets):
    X, y, _ = targets
    with pytest.warns(ConvergenceWarning, match="2 steps do not reach the minimum"):
        FractionalLogisticRegression(alpha=1e-6, max_iter=2).fit(X, y)


def test_shares_may_be_small(targets):
    """One row of almost no weight sets the bounds: the fit of the others goes on to its minimum."""
    X, y, _ = targets
    weights = np.append(np.ones(90), 1e-12)
    X, far = np.vstack([X, X[:1]]), np.vstack([y, np.full((1, 11), 1e6)])
    model = FractionalLogisticRegression(alpha=1e-9).fit(X, far, weights)
    assert model.n_iter_ > 5
    residual = model.predict(X[:90]) - y
    np.testing.assert_allclose(residual.mean(axis=0), 0.0, atol=1e-3)
    np.testing.assert_allclose(residual.T @ StandardScaler().fit_transform(X[:90]), 0.0, atol=0.5)


# "logistic" ---------------------------------------------------------------------------


def test_the_ranker_regresses_its_targets():
    X, y = on_a_line()
    for loss in ("kendall", "ndcg", "map", "precision@2", "eru"):
        labels = y > 2 if loss in ("map", "precision@2") else y
        model = clone(LOGISTIC).set_params(target_loss=loss, alpha=0.01).fit(X, labels)
        d = model.predict_surrogate(X).shape[1]
        encode = model.target_loss_.encode if d > 5 else model.target_loss_.score_targets
        own = FractionalLogisticRegression(0.01).fit(X, encode(labels * 1.0))
        np.testing.assert_allclose(model.predict_surrogate(X), own.predict(X))
        assert model.alpha_ == 0.01
        assert not hasattr(model, "alphas_")
        assert not hasattr(model, "coef_")  # nothing is linear


def test_with_many_rows_it_ranks_as_the_bayes_order_where_ridge_does_not():
    """Each pair is a logistic function of x: u > 0 on the one side of the middle."""
    rng = np.random.default_rng(0)
    places = np.array([0.0, 1.0, 2.0, 6.0])
    n = 20_000
    x = np.clip(rng.exponential(1.5, (n, 1)) - 1.0, -1.0, 8.0)
    # Plackett and Luce with utilities -(x - place)^2: their differences are linear in x.
    y = (-((x - places) ** 2) + rng.gumbel(size=(n, 4))).argsort(axis=1).argsort(axis=1) * 1.0
    best = (-((x - places) ** 2)).argsort(axis=1).argsort(axis=1) * 1.0
    regrets = {}
    for name, model in (("logistic", LOGISTIC), ("ridge", RIDGE)):
        fitted = clone(model).set_params(alpha=1e-5).fit(x, y)
        regrets[name] = -fitted.score(x, best)
    assert regrets["logistic"] < 0.005
    assert regrets["ridge"] > 0.04


def test_probabilities_of_preferences_are_within_their_bounds():
    X, y = on_a_line()
    model = PairwiseDAGRanker(estimator="logistic").fit(X, y)
    P = model.predict_preference_probabilities(10.0 * X)
    np.testing.assert_allclose(P, (1.0 + model.predict_preferences(10.0 * X)) / 2.0 + 0.0)
    off = ~np.eye(5, dtype=bool)
    assert P[:, off].min() >= 0.0
    assert P[:, off].max() > 0.999
    tensors = (y[:, :, np.newaxis] > y[:, np.newaxis]).astype(float)
    same = clone(model).set_params(alpha=model.alpha_).fit(X, tensors)
    np.testing.assert_allclose(same.predict_preferences(X), model.predict_preferences(X), atol=1e-6)


@pytest.mark.parametrize("model", [LOGISTIC, AUTO, PairwiseDAGRanker(estimator="logistic")])
def test_equal_rows_tie_and_copies_are_equal(model):
    X, y = on_a_line(150)
    fitted = clone(model).fit(X, y)
    alone = np.vstack([fitted.predict_surrogate(row[np.newaxis]) for row in X])
    np.testing.assert_array_equal(fitted.predict_surrogate(X), alone)
    for copy in (pickle.loads(pickle.dumps(fitted)), clone(fitted).fit(X, y)):
        np.testing.assert_array_equal(copy.predict_surrogate(X), alone)
    wide = clone(model).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(wide.predict_surrogate(sparse.csr_matrix(X)), alone, atol=2e-4)


@pytest.mark.parametrize("ranker", [LowRankSurrogateRanker, PairwiseDAGRanker])
def test_what_it_cannot_be_fitted_to_is_refused(ranker):
    X, y = on_a_line(30)
    model = ranker(target_loss="pd", estimator="logistic")
    with pytest.raises(ValueError, match=r"is for fixed items.*OrderPreservingRegressor"):
        model.fit(X, y[:, 0], qid=np.arange(30) // 5)
    for fit in ("partial_fit", "fit_blocks"):
        with pytest.raises(AttributeError, match=f"no attribute '{fit}'"):
            getattr(model, fit)
    assert vars(model).keys() == model.get_params(deep=False).keys()
    y[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"none of which misses.*'trees'"):
        clone(LOGISTIC).set_params(target_loss="dcg").fit(X, y)
    assert np.isfinite(model.fit(X, y).predict_surrogate(X)).all()  # pairs that miss count 0


@pytest.mark.filterwarnings("ignore:.*overflow")
def test_numbers_out_of_range_are_refused():
    X, y = on_a_line(30)
    for wrong in (np.inf, np.nan, 1e200):
        X[3, 1] = wrong
        with pytest.raises(ValueError, match=r"row 3|inf|NaN|too large"):
            clone(LOGISTIC).fit(X, y)


# The penalty --------------------------------------------------------------------------


def test_scores_are_those_of_fits_to_the_other_folds():
    X, y = on_a_line(150)
    model = clone(LOGISTIC).fit(X, y)
    folds = folds_of(list_keys(X, y, None, np.ones(150)))
    constant = 0.5 * 3 / 150 * 3 / 50
    tried = constant * np.array([10, 3, 1, 0.3, 0.1, 0.03, 0.01])[: len(model.alphas_)]
    np.testing.assert_allclose(model.alphas_, tried)
    assert model.alpha_ in model.alphas_
    Z = StandardScaler().fit_transform(X)
    for alpha, score in zip(model.alphas_, model.alpha_scores_, strict=True):
        other, values = clone(LOGISTIC).set_params(alpha=alpha), np.empty(150)
        for k in range(5):
            part = other.fit(Z[folds != k], y[folds != k])
            values[folds == k] = model.target_loss_.measure(
                y[folds == k], part.predict(Z[folds == k]), average=None
            )
        assert score == pytest.approx(values.mean(), abs=0.02)  # near the minimum, not at it
    assert np.ptp(model.alpha_scores_) > 0.05


def test_rows_order_and_repetition_do_not_matter():
    X, y = on_a_line(150, noise=1.0)
    weights = np.random.default_rng(7).integers(0, 3, 150).astype(float)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(150), weights.astype(int)))
    one = clone(AUTO).fit(X, y, sample_weight=weights)
    other = clone(AUTO).fit(X[rows], y[rows])
    assert is_logistic(one)
    assert is_logistic(other)
    assert one.alpha_ == other.alpha_
    u = one.predict_surrogate(X)
    np.testing.assert_allclose(u, other.predict_surrogate(X), atol=1e-3)
    order = [3, 0, 4, 1, 2]
    swapped = clone(AUTO).fit(X, y[:, order], sample_weight=weights)
    assert swapped.alpha_ == one.alpha_
    assert np.mean(swapped.predict(X) == one.predict(X)[:, order]) > 0.98


def test_large_searches_are_left_out(monkeypatch, capsys):
    X, y = on_a_line(300)
    monkeypatch.setattr(_fractional, "MAX_WORK", 1.0)
    model = clone(LOGISTIC).fit(X, y)
    assert not hasattr(model, "alphas_")
    assert model.alpha_ == pytest.approx(0.5 * 3 / 300 * 3 / 50)
    assert is_logistic(clone(AUTO).fit(X, y))
    monkeypatch.setattr(_fractional, "_MOST", 300 * (3 + 30) * 10 - 1)
    assert not is_logistic(clone(AUTO).fit(X, y))
    monkeypatch.undo()
    clone(AUTO).set_params(verbose=1).fit(X, y)
    assert "logistic regression is better on held-out lists: alpha=" in capsys.readouterr().out


# "auto" -------------------------------------------------------------------------------


def test_logistic_regression_is_taken_where_it_is_better():
    X, y = on_a_line()
    X_test, y_test = on_a_line(2000, seed=1)
    auto, ridge, logistic = (clone(m).fit(X, y) for m in (AUTO, RIDGE, LOGISTIC))
    assert is_logistic(auto)
    np.testing.assert_array_equal(auto.predict_surrogate(X), logistic.predict_surrogate(X))
    assert auto.score(X_test, y_test) > ridge.score(X_test, y_test) + 0.01
    pairs = PairwiseDAGRanker(target_loss="kendall").fit(X, y)
    assert is_logistic(pairs)


def test_ridge_stays_where_nothing_is_better():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 4))
    y = X @ rng.normal(size=(4, 5)) + 3.0 * rng.normal(size=(300, 5))
    y -= y.min()
    for labels, model in (
        (y, LowRankSurrogateRanker(target_loss="dcg")),
        (rng.permuted(np.tile(np.arange(5.0), (300, 1)), axis=1), AUTO),
        (np.full((300, 5), 2.0), AUTO),
    ):
        fitted = clone(model).fit(X, labels)
        ridge = clone(model).set_params(estimator=None).fit(X, labels)
        np.testing.assert_array_equal(fitted.coef_, ridge.coef_)
        np.testing.assert_array_equal(fitted.alphas_, ridge.alphas_)


def test_it_is_ridge_without_a_comparison():
    X, y = on_a_line()
    gaps = y.copy()
    gaps[0, 0] = np.nan
    for model, labels in (
        (clone(AUTO).set_params(alpha=0.1), y),
        (AUTO, y[:19]),
        (clone(AUTO).set_params(target_loss="dcg"), gaps),
    ):
        fitted = clone(model).fit(X[: len(labels)], labels)
        ridge = clone(model).set_params(estimator=None).fit(X[: len(labels)], labels)
        np.testing.assert_array_equal(fitted.coef_, ridge.coef_)
    documents = np.repeat(np.arange(48), 5)
    default = LowRankSurrogateRanker().fit(X, y[:, 0], qid=documents)
    ridge = LowRankSurrogateRanker(estimator=None).fit(X, y[:, 0], qid=documents)
    np.testing.assert_array_equal(default.coef_, ridge.coef_)


@pytest.mark.parametrize("model", [AUTO, PairwiseDAGRanker(target_loss="kendall")])
def test_batches_are_ridge(model):
    X, y = on_a_line()
    ridge = clone(model).set_params(estimator=None).fit(X, y)
    halves = [(X[:100], y[:100], None), (X[100:], y[100:], None)]
    parts = [clone(model).fit_blocks([half]) for half in halves]
    for fitted in (clone(model).partial_fit(X, y), clone(model).fit_blocks(halves), merge(parts)):
        np.testing.assert_allclose(fitted.coef_, ridge.coef_, rtol=1e-9)
    one = clone(model).fit(X[:100], y[:100])
    other = clone(ridge).fit(X[:100], y[:100])
    assert is_logistic(one)
    one.partial_fit(X[100:], y[100:])
    assert not hasattr(one, "estimator_")
    np.testing.assert_array_equal(one.coef_, other.partial_fit(X[100:], y[100:]).coef_)
    with pytest.raises(ValueError, match=r"by logistic regression.*estimator=None"):
        merge([clone(model).set_params(estimator="logistic").fit(X, y)] * 2)


def test_the_order_of_rows_does_not_decide_between_equal_penalties():
    """Measures of few values tie, and rounding of their means must not tell them apart."""
    rng = np.random.default_rng(45)
    X = rng.normal(size=(200, 3))
    y = (X @ rng.normal(size=(3, 4))).argsort(axis=1).argsort(axis=1) * 1.0
    weights = rng.integers(0, 4, 200)
    orders = [np.random.default_rng(k).permutation(200) for k in range(3)]
    fits = [clone(LOGISTIC).fit(X[o], y[o], sample_weight=weights[o]) for o in orders]
    assert len({round(float(np.log(fit.alpha_)), 6) for fit in fits}) == 1


def test_batches_after_a_fit_leave_nothing_of_its_search():
    X = np.random.default_rng(0).normal(size=(600, 450))
    y = X[:, :4].argsort(axis=1).argsort(axis=1) * 1.0
    model = clone(AUTO).fit(X, y)
    assert is_logistic(model)
    assert hasattr(model, "alphas_")
    model.partial_fit(X, y)
    assert not hasattr(model, "alphas_")  # of so many features ridge searches none
    assert not hasattr(model, "alpha_scores_")


@pytest.mark.filterwarnings("ignore:No label prefers")
@pytest.mark.parametrize("ranker", [LowRankSurrogateRanker, PairwiseDAGRanker])
def test_a_single_item_has_nothing_to_regress(ranker):
    model = ranker(target_loss="pd", estimator="logistic").fit(np.eye(30), np.zeros((30, 1, 1)))
    np.testing.assert_array_equal(model.rank(np.eye(30)), 1)


def test_fixed_items_in_sparse_form_with_features_of_pairs_for_documents():
    X, y = on_a_line(60)
    model = PairwiseDAGRanker(estimator="logistic", pair_features="bilinear")
    assert is_logistic(model.fit(sparse.csr_matrix(X), y))


def test_a_function_that_decodes_is_compared_by_squared_errors():
    X, y = on_a_line()

    def decode(u, n_items):
        return np.argsort(np.argsort(-u[:, :n_items], axis=1), axis=1) + 1

    assert clone(AUTO).set_params(decoder=decode).fit(X, y).rank(X).shape == y.shape
