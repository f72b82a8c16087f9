"""PrecisionAtKPerceptron as users meet it."""

import bz2
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import make_scorer, precision_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from lowrank_rank import PrecisionAtKPerceptron, make_ranking_scorer, ranking_target
from lowrank_rank._binary_labels import read_binary_labels, threshold_between
from lowrank_rank.metrics import precision_at_k_score, recall_at_k_score
from lowrank_rank.precision_at_top._mini_batch import Start
from lowrank_rank.surrogates import perceptron_step, precision_surrogate
from lowrank_rank.target_losses import PrecisionAtK

ALGORITHMS = [
    {},
    {"surrogate": "avg"},
    {"surrogate": "max"},
    {"surrogate": "struct"},
    {"update": "perceptron"},
    {"update": "perceptron", "surrogate": "max"},
    {"early_stopping": True},
    {"average": False},
    {"n_runs": 3},
    {"solver": "cutting_plane", "max_iter": 200},
]


def rare_class(n=2000, seed=0, positive=0.08):
    return make_classification(
        n, n_features=8, n_informative=5, weights=[1 - positive], flip_y=0.02, random_state=seed
    )


def queries(seed=0, n_lists=40):
    """Lists of several lengths; some without a positive, one without a negative."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_lists), rng.integers(2, 20, n_lists))
    X = rng.normal(size=(len(qid), 4)) + rng.normal(size=(n_lists, 4))[qid]
    y = (X[:, 0] + 0.5 * rng.normal(size=len(qid)) > 1).astype(int)
    y[qid == 0], y[qid == 1] = 0, 1
    return X, y, qid


def labels_matrix(seed=0, n=300):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    Y = (X @ rng.normal(size=(5, 6)) + [1, 0, 0, -1, -1, -2] > 0.5).astype(int)
    Y[0], Y[1] = 0, 1
    return X, Y


# What is learnt --------------------------------------------------------------------------


@pytest.mark.parametrize("params", ALGORITHMS, ids=str)
def test_every_algorithm_learns(params):
    X, y = rare_class()
    model = PrecisionAtKPerceptron(random_state=0, **params).fit(X, y)
    assert model.score(X, y) > 4 * y.mean()
    assert model.coef_.shape == (1, 8)
    assert model.intercept_.shape == (1,)
    assert model.n_iter_ >= 1
    assert len(model.loss_curve_) == model.n_iter_ + bool(params.get("early_stopping"))


@pytest.mark.parametrize("params", ALGORITHMS, ids=str)
def test_dense_is_sparse(params):
    X, y = rare_class(600)
    X[np.abs(X) < 0.5] = 0.0
    # Ridge solves sparse problems iteratively: begin at zeros.
    model = PrecisionAtKPerceptron(random_state=0, start="zeros", **params)
    dense = clone(model).fit(X, y)
    thin = clone(model).fit(sparse.csr_matrix(X), y)
    assert_allclose(thin.coef_, dense.coef_, atol=1e-8)
    assert_allclose(thin.decision_function(X[:5]), dense.decision_function(X[:5]), atol=1e-8)
    assert_allclose(clone(model).fit(sparse.csc_matrix(X), y).coef_, dense.coef_, atol=1e-8)


def test_sparse_start_is_close_to_the_dense_one():
    X, y = rare_class(600)
    X[np.abs(X) < 0.5] = 0.0
    dense = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    thin = PrecisionAtKPerceptron(random_state=0).fit(sparse.csr_matrix(X), y)
    assert abs(thin.score(X, y) - dense.score(X, y)) < 0.05


@pytest.mark.parametrize("params", ALGORITHMS, ids=str)
def test_float32_stays_float32(params):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(random_state=0, **params).fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.intercept_.dtype == np.float32
    assert model.decision_function(X.astype(np.float32)).dtype == np.float32
    wide = PrecisionAtKPerceptron(random_state=0, **params).fit(X, y)
    assert wide.coef_.dtype == np.float64
    assert abs(wide.score(X, y) - model.score(X, y)) < 0.1


def test_better_than_logistic_regression_where_the_top_is_another_matter(data_folder):
    with bz2.open(data_folder / "binary" / "ijcnn1.trn.bz2") as file:
        X, y = load_svmlight_file(file)
    split = train_test_split(X.toarray(), y, test_size=0.3, random_state=0, stratify=y)
    X, X_test, y, y_test = split
    ours = make_pipeline(StandardScaler(), PrecisionAtKPerceptron(random_state=0)).fit(X, y)
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    measure = ours[-1].target_loss_.measure
    assert measure(y_test == 1, ours.decision_function(X_test)) > 0.05 + measure(
        y_test == 1, other.decision_function(X_test)
    )


@pytest.mark.parametrize(
    ("loss", "name", "n_rows", "batch_size"),
    [("precision@25%", "ramp", 100, 100), ("wta", "avg", 3000, "auto")],
)
def test_first_step_by_hand(loss, name, n_rows, batch_size):
    X, y = rare_class(n_rows)
    mean_square = np.mean(np.sum(X**2, axis=1))
    start = LogisticRegression().fit(X, y).coef_[0]
    k = 1 if loss == "wta" else max(1, int(0.25 * y.sum() + 0.5))
    _, slope = precision_surrogate(y, X @ start, k, surrogate=name)
    assert slope.any()
    rate = 50.0 / mean_square
    pull = 50.0 * 0.02 * X.shape[1] / k
    stepped = start - rate * X.T @ slope / k
    expected = (stepped + pull * start) / (1 + pull)
    model = PrecisionAtKPerceptron(
        target_loss=loss,
        surrogate=name,
        max_iter=1,
        batch_size=batch_size,
        standardize=False,
        early_stopping=False,
        start=start,
        average=False,
    ).partial_fit(X, y)
    assert_allclose(model.coef_[0], expected, rtol=1e-10)
    named = clone(model).set_params(start="logistic").partial_fit(X, y)
    assert_allclose(named.coef_[0], expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["avg", "max"])
def test_first_perceptron_step_by_hand(name):
    X, y = rare_class(100)
    mean_square = np.mean(np.sum(X**2, axis=1))
    start = 3.25 * Ridge(alpha=mean_square).fit(X, 2.0 * y - 1).coef_
    step = perceptron_step(y, X @ start, y.sum(), surrogate=name)
    assert step.any()
    model = PrecisionAtKPerceptron(
        target_loss="prbep",
        update="perceptron",
        surrogate=name,
        start="least_squares",
        max_iter=1,
        batch_size=100,
    ).fit(X, y)
    assert_allclose(model.coef_[0], start + X.T @ step, rtol=1e-10)


def test_a_small_k_is_not_another_k():
    """Every mini-batch has a place, so there may be no more of them than places."""
    X, y = rare_class(20000, positive=0.05)
    assert y.sum() > 900
    coefs = {
        k: PrecisionAtKPerceptron(
            target_loss=f"precision@{k}", start="zeros", alpha=0.0, random_state=0
        )
        .fit(X, y)
        .coef_
        for k in (1, 2, 5, 10, 29)
    }
    for k, coef in coefs.items():
        assert not any(np.allclose(coef, coefs[other]) for other in coefs if other < k)


def winner_takes_all():
    """One weight of either sign: 1 puts a positive first, -1 a negative before 59 positives."""
    x = np.r_[10.0, np.full(59, -3.0), np.full(20, 5.0), -4.0, np.linspace(-0.1, 0.1, 919)]
    return x[:, np.newaxis], (np.arange(1000) < 60).astype(int)


def test_the_best_row_is_not_the_first_of_the_best_29():
    X, y = winner_takes_all()
    for loss, sign in (("wta", 1), ("precision@29", -1)):
        model = PrecisionAtKPerceptron(
            target_loss=loss, start="least_squares", alpha=0.0, max_iter=10, random_state=0
        ).partial_fit(X, y)
        for _ in range(9):
            model.partial_fit(X, y)
        assert np.sign(model.coef_[0, 0]) == sign
        assert_allclose(model.score(X, y), 1.0 if loss == "wta" else 28 / 29)


def test_shuffling():
    X, y = rare_class(2000)
    coefs = [
        PrecisionAtKPerceptron(batch_size=200, shuffle=shuffle, random_state=seed).fit(X, y).coef_
        for shuffle, seed in [(False, 0), (False, 1), (True, 0), (True, 0), (True, 1)]
    ]
    assert_array_equal(coefs[0], coefs[1])
    assert_array_equal(coefs[2], coefs[3])
    assert not np.allclose(coefs[0], coefs[2])
    assert not np.allclose(coefs[2], coefs[4])


def test_a_perceptron_without_mistakes_stops():
    X, y = np.array([[3.0], [2.0], [0.0], [-1.0]]), [1, 1, 0, 0]
    model = PrecisionAtKPerceptron(update="perceptron", max_iter=9, n_iter_no_change=9)
    assert model.fit(X, y).n_iter_ == 2  # at zeros all is tied: the first pass makes mistakes
    assert model.set_params(tol=None).fit(X, y).n_iter_ == 9
    # A step on the margin may follow a top that is right: it takes passes without a gain to stop.
    descent = PrecisionAtKPerceptron(max_iter=9, n_iter_no_change=4).fit(X, y)
    assert descent.n_iter_ == 5


def test_steps_that_lead_astray_do_not_count():
    """Heavy tails: a few huge rows draw the steps away from a start that is good."""
    rng = np.random.RandomState(0)
    n = 8000
    amount, hour = np.exp(rng.normal(4, 1.5, n)), rng.randint(0, 24, n)
    foreign, new = rng.rand(n) < 0.1, rng.rand(n) < 0.15
    z = -5 + 2.2 * foreign + 2 * new + 0.4 * (np.log(amount) - 4) + 0.8 * (hour < 6)
    y = (rng.rand(n) < 1 / (1 + np.exp(-z))).astype(int)
    X = StandardScaler().fit_transform(np.column_stack([amount, hour, foreign, new]))
    model = PrecisionAtKPerceptron(random_state=0, eta0=50.0, alpha=0.0)
    with pytest.warns(ConvergenceWarning, match="made the top of held-out rows worse"):
        model.fit(X, y)
    assert_allclose(model.coef_[0], LogisticRegression().fit(X, y).coef_[0], rtol=1e-2)


def test_the_unit_of_no_column_matters():
    X, y = rare_class(800)
    X[:, 2] = np.where(X[:, 2] > 1, X[:, 2], 0.0)
    units = 10.0 ** np.arange(-8, 8, 2)
    for params in ({}, {"start": "least_squares"}, {"start": "zeros"}, {"update": "perceptron"}):
        for kind in (np.asarray, sparse.csr_matrix):
            model = PrecisionAtKPerceptron(random_state=0, standardize=True, **params)
            plain, scaled = (clone(model).fit(kind(features), y) for features in (X, X * units))
            assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-3, atol=1e-6)
    stream = [
        PrecisionAtKPerceptron().partial_fit(f[:400], y[:400]).partial_fit(f[400:], y[400:])
        for f in (X, X * units)
    ]
    assert_allclose(stream[1].coef_ * units, stream[0].coef_, rtol=1e-3, atol=1e-6)


def no_steps(**params):
    """A model that stays where it starts."""
    return PrecisionAtKPerceptron(eta0=1e-12, random_state=0, **params)


@pytest.mark.parametrize("pos_label", [0, 1])
def test_starts(pos_label):
    X, y = rare_class(400)
    sign = 1 if pos_label else -1
    logistic = make_pipeline(StandardScaler(), LogisticRegression())
    scores = logistic.fit(X, y).decision_function(X)
    fitted = FrozenEstimator(clone(logistic).fit(X, y))
    expected = (logistic[-1].coef_ / logistic[0].scale_)[0]
    for start in ("logistic", logistic, fitted, sign * expected, (sign * expected).tolist()):
        model = no_steps(start=start, pos_label=pos_label).fit(X, y)
        assert_allclose(model.coef_[0], expected, rtol=1e-2)
        assert_array_equal(model.rank(X).argsort()[:9], np.argsort(-sign * scores)[:9])
    ridge = no_steps(start=Ridge(), pos_label=pos_label).fit(X, y)
    assert_allclose(ridge.coef_[0], Ridge().fit(X, y).coef_, rtol=1e-5)
    names = np.array(["ok", "bad"])[y]
    named = no_steps(start=LogisticRegression(), pos_label="bad").fit(sparse.csr_matrix(X), names)
    assert_allclose(named.coef_, -LogisticRegression().fit(X, y).coef_, rtol=1e-2)


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_the_penalty_of_the_start_is_chosen_on_held_out_rows(noise):
    """With C = 1 few rows of many features are learnt by heart, which is right without noise."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(400, 80)), rng.normal(size=80)
    y = (X @ w / 9.0 + noise * rng.normal(size=400) > 0.5).astype(int)
    model = no_steps(start="logistic", target_loss="precision@50%").fit(X, y)
    scaler = StandardScaler().fit(X)
    plain = LogisticRegression(C=10 / 80 if noise else 1.0).fit(scaler.transform(X), y)
    assert_allclose(model.coef_[0], plain.coef_[0] / scaler.scale_, rtol=0, atol=0.02)


def test_few_features_need_no_other_penalty():
    X, y = rare_class(400)
    labels = read_binary_labels(y, None, None, None, PrecisionAtKPerceptron())
    assert Start(X, labels, "logistic", True).others() == []
    wide = np.random.default_rng(0).normal(size=(400, 80))
    [other] = Start(wide, labels, "logistic", True).others()
    assert pytest.approx(10 / 80) == other.C
    _, raw = Start(sparse.csr_matrix(wide), labels, "logistic", True).others()
    assert (raw.C, raw.standardize) == (1.0, False)
    for start, standardize in (("logistic", False), ("least_squares", True), ("zeros", True)):
        assert Start(wide, labels, start, standardize).others() == []


def test_rare_words_may_weigh_as_little_as_they_do():
    """Scaled to the same size, words that are rare drown the others: the features are as given."""
    rng = np.random.default_rng(0)
    base = 1.0 / np.arange(1, 801)
    topics = [rng.dirichlet(40.0 * base + 1e-4) for _ in range(2)]
    y = (rng.random(1600) < 0.15).astype(int)
    words = np.array([rng.multinomial(40, 0.6 * base / base.sum() + 0.4 * topics[c]) for c in y])
    X = sparse.csr_matrix(words * np.log(1600 / (1.0 + (words > 0).sum(axis=0))))
    model = no_steps(target_loss="prbep").fit(X[:800], y[:800])
    raw = LogisticRegression(max_iter=1000).fit(X[:800], y[:800])
    ours, theirs = (
        precision_at_k_score(y[800:], m.decision_function(X[800:]), k=y[800:].sum())
        for m in (model, raw)
    )
    assert ours >= theirs - 0.02


def test_starts_of_a_matrix():
    X, Y = labels_matrix()
    ridge = Ridge().fit(X, Y)
    weights = np.column_stack([ridge.coef_, ridge.intercept_])
    for start in (Ridge(), weights):
        model = no_steps(start=start, target_loss="wta").fit(X, Y)
        assert_allclose(model.coef_, ridge.coef_, rtol=1e-5, atol=1e-8)
        assert_array_equal(model.rank(X).argmin(axis=1), ridge.predict(X).argmax(axis=1))
    one, scaler, p = no_steps(target_loss="wta").fit(X, Y), StandardScaler().fit(X), X.shape[1]
    theirs = LogisticRegression(C=2.0 / (p * p / 50)).fit(scaler.transform(X), Y[:, 2])
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


@pytest.mark.parametrize("shape", ["queries", "matrix"])
def test_steps_that_do_not_pay_on_other_rows_are_not_taken(shape):
    """Where a noisy linear score is all there is, what is returned may be the start itself."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 10))
    score = X @ rng.normal(size=(10, 4)) + 3 * rng.normal(size=(600, 4))
    y = (score > 4).astype(int) if shape == "matrix" else (score[:, 0] > 4).astype(int)
    qid = {"qid": np.arange(600) // 20} if shape == "queries" else {}
    wild = PrecisionAtKPerceptron(eta0=1e4, alpha=0.0, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        kept = wild.fit(X, y, **qid).coef_
    assert_allclose(kept, no_steps().fit(X, y, **qid).coef_, rtol=1e-6)
    tame = PrecisionAtKPerceptron(random_state=0).fit(*rare_class(3000))
    assert not np.allclose(tame.coef_, no_steps().fit(*rare_class(3000)).coef_, rtol=1e-3)


def test_unit_and_order_of_the_columns_do_not_matter():
    X, y = rare_class(800)
    plain = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    scaled = PrecisionAtKPerceptron(random_state=0).fit(1000.0 * X, y)
    turned = PrecisionAtKPerceptron(random_state=0).fit(X[:, ::-1], y)
    assert_allclose(1000.0 * scaled.coef_, plain.coef_, rtol=1e-8)
    assert_allclose(turned.coef_[:, ::-1], plain.coef_, rtol=1e-8)


# Predictions and labels ------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, {"update": "perceptron"}])
def test_as_many_are_marked_as_there_are_positives(params):
    X, y = rare_class()
    model = PrecisionAtKPerceptron(random_state=0, **params).fit(X, y)
    assert model.predict(X).sum() == y.sum()
    assert_array_equal(model.decision_function(X) > 0, model.predict(X) == 1)
    assert_allclose(model.intercept_, -model.threshold_)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("seed", range(5))
def test_equal_scores_stay_together_at_the_threshold(pos_label, seed):
    rng = np.random.default_rng(seed)
    blocks = rng.normal(size=(6, 3))
    row = rng.integers(6, size=300)
    y = np.where(rng.random(300) < 0.1 + 0.15 * row, pos_label, 1 - pos_label)
    model = PrecisionAtKPerceptron(pos_label=pos_label, random_state=0).fit(blocks[row], y)
    marked = model.predict(blocks) == pos_label
    n_marked = np.bincount(row, minlength=6) @ marked
    assert n_marked <= np.sum(y == pos_label)
    best = model.rank(blocks).argsort()
    sizes = np.bincount(row, minlength=6)[best]
    assert n_marked == sizes[np.cumsum(sizes) <= np.sum(y == pos_label)].sum()


def test_positive_class_may_be_the_first():
    X, y = rare_class()
    names = np.where(y == 1, "fraud", "ok")
    plain = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    named = PrecisionAtKPerceptron(random_state=0, pos_label="fraud").fit(X, names)
    assert named.classes_.tolist() == ["fraud", "ok"]
    assert_allclose(named.coef_, -plain.coef_)
    assert_array_equal(named.predict(X) == "fraud", plain.predict(X) == 1)
    assert_array_equal(named.decision_function(X) > 0, named.predict(X) == "ok")
    assert_array_equal(named.rank(X), plain.rank(X))
    assert named.score(X, names) == plain.score(X, y)
    with pytest.warns(UserWarning, match="the last, 'ok', is ranked at the top"):
        last = PrecisionAtKPerceptron().fit(X, names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PrecisionAtKPerceptron().fit(X, names)
    assert caught[0].filename == __file__
    assert last.pos_label_ == "ok"


def test_rank_puts_the_best_first():
    X, y = rare_class(300)
    model = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    best = X[np.argsort(model.rank(X))[:5]]
    assert_array_equal(best, X[np.argsort(-model.decision_function(X))[:5]])


def test_score_is_the_measure():
    X, y = rare_class(400)
    for loss, measure in [
        ("precision@10", lambda s: precision_at_k_score(y, s, k=10)),
        ("precision@50%", lambda s: precision_at_k_score(y, s, share=0.5)),
        ("prbep", lambda s: precision_at_k_score(y, s, share=1)),
        ("wta", lambda s: precision_at_k_score(y, s, k=1)),
        ("recall@10", lambda s: recall_at_k_score(y, s, k=10)),
        ("recall@100", lambda s: recall_at_k_score(y, s, k=100)),
    ]:
        model = PrecisionAtKPerceptron(target_loss=loss, random_state=0).fit(X, y)
        assert_allclose(model.score(X, y), measure(model.decision_function(X)))
        assert measure(model.decision_function(X)) > 2 * measure(np.zeros(len(y)))


@pytest.mark.parametrize("k", [60, 600, 1800])
def test_recall_of_a_top_longer_than_the_positives(k):
    X, y = rare_class(positive=0.05)
    assert (k > y.sum()) == (k > 60)
    models = [
        PrecisionAtKPerceptron(target_loss=loss, random_state=0).fit(X, y)
        for loss in (f"recall@{k}", "precision@5%")
    ]
    aimed, other = (recall_at_k_score(y, m.decision_function(X), k=k) for m in models)
    assert aimed >= other


def test_predictions_do_not_depend_on_the_batch():
    X, y = rare_class(300)
    model = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    alone = np.concatenate([model.decision_function(row[np.newaxis]) for row in X])
    assert_array_equal(alone, model.decision_function(X))


def test_frames_keep_their_names():
    X, y = rare_class(200)
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(8)])
    model = PrecisionAtKPerceptron().fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == list(frame.columns)
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("dtype", ["Int64", "boolean", "Float64", "category", "int8"])
def test_kinds_of_labels(dtype):
    X, y = rare_class(200)
    plain = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    other = PrecisionAtKPerceptron(random_state=0).fit(X, pd.Series(y).astype(dtype))
    assert_array_equal(other.coef_, plain.coef_)
    assert_array_equal(other.predict(X), plain.predict(X))


def test_the_loss_of_a_fit_is_its_own():
    X, y = rare_class(300)
    loss = PrecisionAtK(k=10)
    model = PrecisionAtKPerceptron(target_loss=loss, random_state=0).fit(X, y)
    score = model.score(X, y)
    loss.set_params(k=2000)
    assert model.score(X, y) == score
    with pytest.raises(ValueError, match="takes two classes, not grades"):
        model.set_params(target_loss=PrecisionAtK(k=5, relevance_threshold=2)).fit(X, y)


def test_column_of_labels_warns():
    X, y = rare_class(200)
    with pytest.warns(DataConversionWarning):
        model = PrecisionAtKPerceptron(random_state=0).fit(X, y[:, np.newaxis])
    assert_array_equal(model.coef_, PrecisionAtKPerceptron(random_state=0).fit(X, y).coef_)


# Determinism and state -------------------------------------------------------------------


@pytest.mark.parametrize("params", ALGORITHMS, ids=str)
def test_repeats_clones_and_pickles(params):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(random_state=3, **params)
    first = clone(model).fit(X, y)
    assert_array_equal(first.coef_, clone(model).fit(X, y).coef_)
    copy = pickle.loads(pickle.dumps(first))
    assert_array_equal(copy.decision_function(X), first.decision_function(X))
    assert_array_equal(first.fit(X, y).coef_, copy.coef_)


def test_runs_are_averaged_and_parallel():
    X, y = rare_class(3000)
    one = PrecisionAtKPerceptron(random_state=0, n_runs=3).fit(X, y)
    two = PrecisionAtKPerceptron(random_state=0, n_runs=3, n_jobs=2).fit(X, y)
    single = PrecisionAtKPerceptron(random_state=0).fit(X, y)
    assert_array_equal(one.coef_, two.coef_)
    assert np.any(one.coef_ != single.coef_)
    assert min(one.loss_curve_[1:]) > 0.6  # a run that has stopped stays where it is


def test_early_stopping_keeps_the_best_of_the_held_out_rows():
    X, y = rare_class(3000)
    model = PrecisionAtKPerceptron(random_state=0, early_stopping=True, max_iter=7, tol=None)
    model.fit(X, y)
    assert len(model.loss_curve_) == 8
    # Steps that ruin the start are not kept: the start itself is among the candidates.
    wild = PrecisionAtKPerceptron(
        random_state=0, early_stopping=True, eta0=1e9, alpha=0.0, average=False, max_iter=3
    ).fit(X, y)
    assert wild.score(X, y) > 0.5


@pytest.mark.parametrize("loss", ["recall@1900", "recall@400", "precision@165", "wta"])
def test_early_stopping_looks_at_the_same_top(loss):
    X, y = rare_class()
    assert y.sum() >= 165
    model = PrecisionAtKPerceptron(target_loss=loss, early_stopping=True, random_state=0)
    assert abs(model.fit(X, y).loss_curve_[-1] - model.score(X, y)) < 0.3
    plain = PrecisionAtKPerceptron(target_loss=loss, random_state=0).fit(X, y)
    assert abs(plain.score(X, y) - model.score(X, y)) < 0.1


def test_early_stopping_needs_queries_to_compare():
    X, y, qid = queries()
    y = np.where(qid == 5, y, 0)  # one query to learn from
    y[np.flatnonzero(qid == 5)[:2]] = 0, 1
    with pytest.raises(ValueError, match="in one part no list has both"):
        PrecisionAtKPerceptron(target_loss="wta", early_stopping=True).fit(X, y, qid=qid)


def test_a_tenth_is_held_out():
    X, y = rare_class(1000, positive=0.2)
    X += 1.5 * np.random.default_rng(0).normal(size=X.shape)
    model = PrecisionAtKPerceptron(
        target_loss="prbep", random_state=0, early_stopping=True, max_iter=4, tol=None, eta0=300.0
    ).fit(X, y)
    hits = np.array(model.loss_curve_) * round(0.1 * y.sum())
    assert_allclose(hits, np.round(hits), atol=1e-9)
    assert len(set(np.round(hits))) > 1


@pytest.mark.parametrize(
    "params", [{}, {"average": False}, {"n_runs": 3}, {"early_stopping": True}], ids=str
)
def test_warm_start_begins_at_the_last_weights(params):
    X, y = rare_class(2500)
    model = PrecisionAtKPerceptron(
        eta0=20.0, random_state=0, max_iter=2, tol=None, warm_start=True, batch_size=250, **params
    )
    first = model.fit(X, y).coef_.copy()
    still = clone(model).set_params(eta0=1e-12)
    assert not np.allclose(still.fit(X, y).coef_, first, rtol=1e-4)
    model.set_params(eta0=1e-12).fit(X, y)
    assert_allclose(model.coef_, first, rtol=1e-6)  # steps of nothing stay there
    assert model.fit(X.astype(np.float32), y).coef_.dtype == np.float32
    stream = model.set_params(early_stopping=False).partial_fit(X, y)
    assert_allclose(stream.coef_, first, rtol=1e-3)


def test_warm_start_on_other_data_says_so():
    X, y = rare_class(300)
    model = PrecisionAtKPerceptron(warm_start=True).fit(X, y)
    for other in ((X[:, :5], y), (X, np.column_stack([y, 1 - y])), (X, 2 * y)):
        with pytest.raises(
            ValueError, match="do not fit the earlier weights: those are for 8 features"
        ):
            model.fit(*other)
    with pytest.raises(ValueError, match="'0' positive"):
        model.set_params(pos_label=0).fit(X, y)


@pytest.mark.parametrize(
    "params",
    [
        {"max_iter": 3, "tol": None},
        {"max_iter": 3, "tol": None, "n_runs": 2},
        {"max_iter": 3, "tol": None, "early_stopping": True, "verbose": 1},
        {"solver": "cutting_plane", "max_iter": 200},
    ],
    ids=lambda params: "-".join(params),
)
def test_a_callback_is_told_of_each_pass(params, capsys):
    X, y = rare_class()
    told = []
    model = PrecisionAtKPerceptron(
        **params, random_state=0, callback=lambda n, value: told.append((n, value))
    ).fit(X, y)
    n_runs = params.get("n_runs", 1)
    assert [n for n, _ in told] == [*range(1, model.n_iter_ + 1)] * n_runs
    values = np.reshape([value for _, value in told], (n_runs, -1)).mean(axis=0)
    assert_allclose(values, model.loss_curve_[len(model.loss_curve_) - model.n_iter_ :])
    assert (capsys.readouterr().out.count("\n") == 3) == ("verbose" in params)
    with pytest.raises(ValueError, match="callback"):
        PrecisionAtKPerceptron(callback="print").fit(X, y)


def test_verbose_prints_a_line_for_each_pass(capsys):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(max_iter=3, tol=None, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_ == 3
    assert lines[0].startswith("[PrecisionAtKPerceptron] pass 1: ")
    planes = PrecisionAtKPerceptron(solver="cutting_plane", max_iter=200, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == planes.n_iter_
    assert lines[0].startswith("[PrecisionAtKPerceptron] round 1: ")
    assert lines[0].endswith("right at the top of the rows")


def test_thresholds():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    for n_above, marked in [(0, 0), (1, 1), (2, 1), (3, 3), (4, 4), (9, 4)]:
        assert np.sum(scores > threshold_between(scores, n_above)) == marked


# Streams ---------------------------------------------------------------------------------


def stratified_batches(y, n_batches):
    """The batches of fit without shuffling: the i-th part of either class."""
    edges = [np.linspace(0, np.sum(y == c), n_batches + 1).astype(int) for c in (1, 0)]
    rows = [np.flatnonzero(y == c) for c in (1, 0)]
    for i in range(n_batches):
        yield np.concatenate([r[e[i] : e[i + 1]] for r, e in zip(rows, edges, strict=True)])


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"surrogate": "avg"},
        {"update": "perceptron"},
        {"average": False},
        {"surrogate": "struct"},
    ],
    ids=str,
)
def test_partial_fit_over_a_stream_is_fit_on_the_same_batches(params):
    X, y = rare_class(1000)
    model = PrecisionAtKPerceptron(
        shuffle=False, start="zeros", max_iter=1, batch_size=100, **params
    )
    whole = clone(model).fit(X, y)
    stream = clone(model)
    for rows in stratified_batches(y, 10):
        stream.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-10)
    assert stream.n_lists_ == 1


def test_partial_fit_over_queries_is_fit_on_them():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(
        target_loss="precision@2", shuffle=False, start="zeros", max_iter=1, batch_size=1
    )
    whole = clone(model).fit(X, y, qid=qid)
    stream = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # queries of one class
        for part in np.array_split(np.unique(qid), 5):
            rows = np.isin(qid, part)
            stream.partial_fit(X[rows], y[rows], classes=[0, 1], qid=qid[rows])
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-10)
    assert stream.n_lists_ == whole.n_lists_ == 40


def test_streams_keep_to_what_they_began_with():
    X, Y = labels_matrix()
    matrix = PrecisionAtKPerceptron(target_loss="wta").partial_fit(X, Y)
    for columns in (3, 5):
        with pytest.raises(ValueError, match="and 6 labels a row, these have"):
            matrix.partial_fit(X, np.resize(Y, (300, columns)))
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="wta").partial_fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="differ from those of earlier calls"):
        model.partial_fit(X, y, classes=[5, 7], qid=qid)
    with pytest.raises(ValueError, match="pos_label=0 differs"):
        model.set_params(pos_label=0).partial_fit(X, y, qid=qid)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="this one has none and would be one list"):
        model.set_params(pos_label=None).partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert model.n_lists_ == 40  # and to score without qid is refused, still
    with pytest.raises(ValueError, match="was fitted with query ids"):
        model.score(X, y)
    with pytest.raises(ValueError, match="was fitted with query ids"):
        model.rank(X)
    for params in ({"early_stopping": True}, {"solver": "cutting_plane"}):
        with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
            clone(model).set_params(**params).partial_fit(X, y)


def test_a_call_that_the_top_takes_in_whole():
    X, y = rare_class(200)
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        PrecisionAtKPerceptron(target_loss="recall@200").partial_fit(X, y)


def test_stream_of_a_rare_class():
    X, y = rare_class(3000, positive=0.02)
    model = PrecisionAtKPerceptron(target_loss="precision@5")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for rows in np.array_split(np.arange(3000), 30):
            model.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert model.score(X, y) > 0.3
    assert np.isfinite(model.threshold_)


def test_a_stream_begins_with_both_classes():
    X, y = rare_class(800)
    quiet = PrecisionAtKPerceptron()
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        quiet.partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    plain = PrecisionAtKPerceptron().partial_fit(X, y)
    assert_array_equal(quiet.partial_fit(X, y).coef_, plain.coef_)


def test_many_features_of_few_entries_do_not_freeze_a_stream():
    """The pull counts the features of a row that are not 0, not the columns."""
    rng = np.random.default_rng(0)
    columns = rng.integers(5000, size=(3000, 10))
    X = sparse.csr_matrix(
        (np.ones(30000), columns.ravel(), np.arange(0, 30001, 10)), shape=(3000, 5000)
    )
    y = (np.sum(columns < 500, axis=1) >= 2).astype(int)
    free, pulled = PrecisionAtKPerceptron(alpha=0.0), PrecisionAtKPerceptron()
    for rows in np.array_split(np.arange(3000), 6):
        free.partial_fit(X[rows], y[rows])
        pulled.partial_fit(X[rows], y[rows])
        if rows[0] == 0:
            start = pulled.coef_.copy()
    moved = np.linalg.norm(pulled.coef_ - start)
    assert moved > 0.5 * np.linalg.norm(free.coef_ - start) > 0


def test_unfitted():
    for method in ("predict", "rank", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(PrecisionAtKPerceptron(), method)([[0.0]])


def test_a_matrix_that_the_top_takes_in_whole():
    X, Y = labels_matrix()
    with pytest.raises(ValueError, match="takes in every list whole"):
        PrecisionAtKPerceptron(target_loss="recall@6").fit(X, Y)


def test_rows_of_one_class_teach_nothing_and_say_so():
    X, y = rare_class(400)
    model = PrecisionAtKPerceptron().partial_fit(X, y)
    before, threshold = model.coef_.copy(), model.threshold_
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        model.partial_fit(X[y == 0], y[y == 0])
    assert_array_equal(model.coef_, before)
    assert model.threshold_ == threshold
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        first = PrecisionAtKPerceptron().partial_fit(X[y == 0], y[y == 0], classes=[0, 1])
    assert first.partial_fit(X, y).score(X, y) > 0.3


# Queries and matrices --------------------------------------------------------------------


def test_queries_in_any_order_with_any_ids():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="precision@2", shuffle=False)
    plain = clone(model).fit(X, y, qid=qid)
    assert plain.n_lists_ == 40
    names = np.array([f"query {q}" for q in qid], dtype=object)
    carried = clone(model).fit(X, ranking_target(y, names))
    assert_array_equal(carried.coef_, plain.coef_)
    series = pd.Series(y, index=pd.Index(qid, name="qid"))
    assert_array_equal(clone(model).fit(X, series).coef_, plain.coef_)
    assert plain.score(X, y, qid=qid) == plain.score(X, ranking_target(y, names))
    assert plain.score(X, y, qid=qid) > 1.3 * plain.target_loss_.measure(y, 0 * y, qid=qid)
    with pytest.raises(ValueError, match="would rank them all as one"):
        plain.score(X, y)


def test_queries_are_not_one_list():
    """Simpson's paradox: the feature is good within every query and bad over all rows."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(150), 10)
    level, own = rng.normal(size=150)[qid], rng.normal(size=1500)
    X, y = (own - 2 * level)[:, np.newaxis], (own + 3 * level > 1).astype(int)
    aimed = PrecisionAtKPerceptron(target_loss="precision@1", random_state=0).fit(X, y, qid=qid)
    pooled = PrecisionAtKPerceptron(target_loss="precision@1", random_state=0).fit(X, y)
    assert aimed.coef_[0, 0] > 0 > pooled.coef_[0, 0]


def test_matrix_is_queries_with_a_block_of_features_for_each_item():
    """Row i with L labels is a query of L documents, document l having x_i in block l."""
    X, Y = labels_matrix(60)
    n, n_items = Y.shape
    augmented = np.column_stack([X, np.ones(n)])
    rows = np.vstack([np.kron(np.eye(n_items), x) for x in augmented])
    settings = {
        "target_loss": "precision@2",
        "shuffle": False,
        "start": "zeros",
        "max_iter": 1,
        "update": "perceptron",
        "surrogate": "max",
        "average": False,
        "batch_size": 1,
    }
    matrix = PrecisionAtKPerceptron(**settings).fit(X, Y)
    flat = PrecisionAtKPerceptron(**settings).fit(
        rows, Y.ravel(), qid=np.repeat(np.arange(n), n_items)
    )
    blocks = flat.coef_.reshape(n_items, 6)
    scores = matrix.decision_function(X)
    assert_allclose(matrix.coef_, blocks[:, :5], atol=1e-12)
    assert_allclose(
        scores - scores.mean(axis=1, keepdims=True),
        augmented @ blocks.T - (augmented @ blocks.T).mean(axis=1, keepdims=True),
        atol=1e-9,
    )


@pytest.mark.parametrize("params", [{}, {"surrogate": "avg"}, {"update": "perceptron"}], ids=str)
def test_matrix_of_labels(params):
    X, Y = labels_matrix()
    model = PrecisionAtKPerceptron(target_loss="precision@2", random_state=0, **params).fit(X, Y)
    assert model.n_items_ == 6
    assert model.n_lists_ == 300
    assert model.coef_.shape == (6, 5)
    assert model.intercept_.shape == (6,)
    assert model.decision_function(X).shape == model.predict(X).shape == Y.shape
    assert model.predict(X).sum() == Y.sum()
    assert model.score(X, Y) > model.target_loss_.measure(Y, np.tile(Y.mean(axis=0), (300, 1)))
    assert_array_equal(np.sort(model.rank(X), axis=1)[0], np.arange(1, 7))
    thin = PrecisionAtKPerceptron(target_loss="precision@2", random_state=0, **params)
    assert_allclose(
        thin.set_params(start="zeros").fit(sparse.csr_matrix(X), sparse.csr_matrix(Y)).coef_,
        clone(thin).fit(X, Y).coef_,
        atol=1e-8,
    )


def share_right(found, k, positives, sizes):
    """One minus the mistakes at the top over the most there can be, from the recall at k."""
    wrong = np.minimum(k, positives) - found * positives
    most = np.where(
        k <= positives, np.minimum(k, sizes - positives), np.minimum(sizes - k, positives)
    )
    return 1 - wrong / most


@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_the_passes_watch_is_the_recall(k):
    """k below and above the positives of a list: the mirrored lists count the same mistakes."""
    model = PrecisionAtKPerceptron(
        target_loss=f"recall@{k}", start="least_squares", eta0=1e-12, alpha=0.0, max_iter=1
    )
    X, Y = labels_matrix()
    matrix = clone(model).fit(X, Y)
    found = recall_at_k_score(Y, matrix.decision_function(X), k=k, average=None)
    positives = Y.sum(axis=1)
    lists = (positives > 0) & (positives < 6)
    right = share_right(found[lists], k, positives[lists], 6)
    assert_allclose(right.mean(), matrix.loss_curve_[0])

    X, y, qid = queries()
    flat = clone(model).fit(X, y, qid=qid)
    found = recall_at_k_score(y, flat.decision_function(X), qid=qid, k=k, average=None)
    sizes, positives = np.bincount(qid), np.bincount(qid, weights=y)
    lists = (positives > 0) & (positives < sizes) & (sizes > k)
    right = share_right(found[lists], k, positives[lists], sizes[lists])
    assert_allclose(right.mean(), flat.loss_curve_[0])


def test_matrix_with_early_stopping_and_stream():
    X, Y = labels_matrix()
    stopped = PrecisionAtKPerceptron(target_loss="prbep", early_stopping=True, random_state=0)
    assert stopped.fit(X, Y).score(X, Y) > 0.6
    stream = PrecisionAtKPerceptron(target_loss="prbep")
    for rows in np.array_split(np.arange(300), 6):
        stream.partial_fit(X[rows], Y[rows])
    assert stream.score(X, Y) > 0.6
    assert stream.n_lists_ == 300


# In scikit-learn -------------------------------------------------------------------------


def test_pipeline_with_nystroem():
    X, y = rare_class(600)
    model = make_pipeline(
        StandardScaler(),
        Nystroem(n_components=50, random_state=0),
        PrecisionAtKPerceptron(random_state=0),
    ).fit(X, y)
    assert model.score(X, y) > 0.9
    assert cross_val_score(model, X, y, cv=3, error_score="raise").min() > 0.3


def test_grid_search_over_k():
    X, y = rare_class(600)
    search = GridSearchCV(
        PrecisionAtKPerceptron(target_loss=PrecisionAtK(k=10), random_state=0),
        {"target_loss__k": [5, 10, 20], "alpha": [0.1, 1.0]},
        scoring=make_ranking_scorer("precision@10"),
        cv=3,
        error_score="raise",
    ).fit(X, y)
    assert search.best_score_ > 0.5
    assert search.best_params_["target_loss__k"] in (5, 10, 20)


def test_search_over_queries_routes_the_ids():
    X, y, qid = queries(n_lists=60)
    search = GridSearchCV(
        PrecisionAtKPerceptron(target_loss="precision@2", random_state=0),
        {"alpha": [0.01, 1.0]},
        cv=GroupKFold(3),
        error_score="raise",
    )
    with config_context(enable_metadata_routing=True):
        routed = clone(search).fit(X, y, qid=qid, groups=qid)
    carried = search.fit(X, ranking_target(y, qid), groups=qid)
    assert routed.best_score_ == carried.best_score_ > 0.4


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(method):
    X, y = rare_class()
    names = np.where(y == 1, "fraud", "ok")
    model = CalibratedClassifierCV(
        PrecisionAtKPerceptron(pos_label="fraud", random_state=0), method=method, cv=3
    ).fit(X, names)
    fraud = model.predict_proba(X)[:, list(model.classes_).index("fraud")]
    assert fraud[y == 1].mean() > 3 * fraud[y == 0].mean()


def test_tuned_threshold():
    X, y = rare_class()
    names = np.where(y == 1, "fraud", "ok")
    scoring = make_scorer(precision_score, pos_label="fraud", zero_division=0.0)
    model = TunedThresholdClassifierCV(
        PrecisionAtKPerceptron(pos_label="fraud", random_state=0), scoring=scoring, cv=3
    ).fit(X, names)
    plain = PrecisionAtKPerceptron(pos_label="fraud", random_state=0).fit(X, names)
    assert scoring(model, X, names) >= scoring(plain, X, names)


# Bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "y", "match"),
    [
        ({}, [0] * 6, "one class only"),
        ({}, [0, 1, 2, 0, 1, 2], "Only binary classification is supported"),
        (
            {"target_loss": "precision@4"},
            [0, 1, 1, 0, 0, 0],
            "only 2 positives: take k of at most 2",
        ),
        ({"target_loss": "recall@6"}, [0, 1, 1, 0, 0, 0], "every order is right"),
        ({"batch_size": 2}, [0, 1, 0, 0, 0, 0], "batch_size=2 cuts the 6 rows into 3 batches"),
        ({"batch_size": 2}, [1, 1, 0, 1, 1, 1], "only 1 negatives"),
        ({"target_loss": "ndcg"}, [0, 1] * 3, "no top of the list"),
        ({"target_loss": "map@3"}, [0, 1] * 3, "Unknown target loss"),
        ({"surrogate": "hinge"}, [0, 1] * 3, "surrogate must be one of"),
        ({"update": "adam"}, [0, 1] * 3, "update must be one of"),
        ({"update": "perceptron", "surrogate": "ramp"}, [0, 1] * 3, "no perceptron on 'ramp'"),
        ({"solver": "cutting_plane", "surrogate": "avg"}, [0, 1] * 3, "takes surrogate='struct'"),
        ({"solver": "cutting_plane", "start": "least_squares"}, [0, 1] * 3, "takes start='zeros'"),
        (
            {"solver": "cutting_plane", "early_stopping": True},
            [0, 1] * 3,
            "takes early_stopping=Fa",
        ),
        ({"solver": "cutting_plane", "n_runs": 2}, [0, 1] * 3, "takes n_runs=1"),
        ({"solver": "cutting_plane", "update": "perceptron"}, [0, 1] * 3, "take update='sgd'"),
        ({"solver": "cutting_plane", "alpha": 0}, [0, 1] * 3, "alpha must be a finite number > 0"),
        ({"solver": "lbfgs"}, [0, 1] * 3, "solver must be one of"),
        ({"start": "ones"}, [0, 1] * 3, "start must be one of"),
        ({"batch_size": 0}, [0, 1] * 3, "batch_size must be 'auto' or an integer >= 1"),
        ({"batch_size": 2, "target_loss": "wta"}, [0, 1] * 3, "only k=1 places at the top"),
        ({"warm_start": "no"}, [0, 1] * 3, "warm_start must be True or False"),
        ({"eta0": 0}, [0, 1] * 3, "eta0 must be a finite number > 0"),
        ({"alpha": -1}, [0, 1] * 3, "alpha must be a finite number >= 0"),
        ({"max_iter": 0}, [0, 1] * 3, "max_iter must be an integer >= 1"),
        ({"n_runs": 0}, [0, 1] * 3, "n_runs must be an integer >= 1"),
        ({"tol": -1}, [0, 1] * 3, "tol must be a finite number >= 0"),
        ({"validation_fraction": 1.0}, [0, 1] * 3, "must be a finite number > 0 and < 1"),
        ({"early_stopping": True}, [0, 1, 0, 0, 0, 0], "cannot hold out"),
        ({}, [0.5, 1.5] * 3, "Unknown label type"),
        ({"average": "no"}, [0, 1] * 3, "average must be True or False"),
        ({"surrogate": ["avg"]}, [0, 1] * 3, "surrogate must be one of"),
        ({}, ["a", None, "b", "a", "b", "a"], "the label of row 1 is missing"),
        ({}, pd.Series(["a", "b", None, "a", "b", "a"]), "the label of row 2 is missing"),
        ({}, pd.Series([0, 1, 0, pd.NA, 1, 0], dtype="Int64"), "the label of row 3 is missing"),
        ({}, np.array(["a", 1, "a", 1, "a", 1], dtype=object), "mixes kinds of labels"),
        ({"pos_label": 2}, [0, 1] * 3, "pos_label=2 is not a valid label"),
        ({}, [[0, 1]] * 5 + [[0, 2]], r"y\[5, 1\] is 2"),
        ({}, [[1, 1]] * 6, "No list has both"),
    ],
)
def test_bad_input_says_what_to_do_and_changes_nothing(params, y, match):
    X = np.array([[0.0], [1e5], [2.0], [-1.0], [3e4], [0.5]])
    model = PrecisionAtKPerceptron(random_state=0).fit(X, [0, 1, 0, 0, 1, 1])
    before = pickle.dumps(vars(model)["coef_"])
    model.set_params(**params)
    state = set(vars(model))
    with pytest.raises(ValueError, match=match):
        model.fit(X, y)
    assert set(vars(model)) == state
    assert pickle.dumps(vars(model)["coef_"]) == before


def test_steps_that_diverge():
    X, y = rare_class(400)
    model = PrecisionAtKPerceptron(start="zeros", eta0=1e300, alpha=0.0)
    with pytest.raises(ValueError, match=r"The steps diverged.*lower eta0=1e"):
        model.fit(X * 1e-150, y)
    for early_stopping in (False, True):
        with pytest.raises(ValueError, match="The steps diverged"):
            model.set_params(early_stopping=early_stopping).fit(X * 1e-150, y)
    for unit in (1e300, 1e-300):
        with pytest.raises(ValueError, match="too large or too small"):
            PrecisionAtKPerceptron(update="perceptron").fit(X * unit, y)
    assert not hasattr(model, "coef_")


def test_bad_queries():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="precision@2")
    with pytest.raises(ValueError, match="No list has both"):
        model.fit(X, y, qid=np.arange(len(y)))
    with pytest.raises(ValueError, match="takes no qid"):
        model.fit(X, np.column_stack([y, 1 - y]), qid=qid)
    with pytest.raises(ValueError, match="takes in every list whole"):
        model.set_params(target_loss="recall@30").fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="takes one list of rows"):
        model.set_params(target_loss="precision@2", solver="cutting_plane").fit(X, y, qid=qid)


def test_bad_streams():
    X, y = rare_class(200)
    with pytest.raises(ValueError, match="one class only"):
        PrecisionAtKPerceptron().partial_fit(X[y == 0], y[y == 0])
    with pytest.raises(ValueError, match="classes must hold two labels"):
        PrecisionAtKPerceptron().partial_fit(X, y, classes=[0, 1, 2])
    model = PrecisionAtKPerceptron(update="perceptron").partial_fit(X, y)
    steps = model._path_.n_steps
    with pytest.raises(ValueError, match="the label 5, which is not among the classes"):
        model.partial_fit(X, np.where(y == 1, 5, 0))
    with pytest.raises(ValueError, match="Start anew, with fit"):
        model.partial_fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ValueError, match="diverged"):
        model.partial_fit(X * 1e300, 1 - y)
    assert model._path_.n_steps == steps


def test_cutting_planes_that_run_out_of_rounds_warn():
    X, y = rare_class(300)
    with pytest.warns(ConvergenceWarning, match="duality gap of"):
        model = PrecisionAtKPerceptron(solver="cutting_plane", max_iter=2, alpha=1e-3).fit(X, y)
    assert model.duality_gap_ > model.tol
    for alpha in (1e-6, 1e-4, 1e-3):
        done = PrecisionAtKPerceptron(solver="cutting_plane", max_iter=300, alpha=alpha).fit(X, y)
        assert done.duality_gap_ >= 0
        assert done.n_iter_ < 300
    with pytest.warns(ConvergenceWarning, match="score all rows alike.*lower alpha"):
        PrecisionAtKPerceptron(solver="cutting_plane", max_iter=300, alpha=1e6).fit(X, y)
    assert not hasattr(done.set_params(solver="mini_batch").fit(X, y), "duality_gap_")


def test_ids_of_one_call_are_remembered():
    """A model that has once seen ids learns, ranks and scores with ids only."""
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    model = PrecisionAtKPerceptron(target_loss="prbep").partial_fit(X, y, qid=np.arange(40) // 8)
    coef = model.coef_.copy()
    with pytest.raises(ValueError, match="Earlier batches had query ids"):
        model.partial_fit(X, y)
    assert_array_equal(model.coef_, coef)
    for call in (lambda: model.rank(X), lambda: model.score(X, y)):
        with pytest.raises(ValueError, match="fitted with query ids"):
            call()
