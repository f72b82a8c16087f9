"""PrecisionAtKPerceptron as users meet it."""

import bz2
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_svmlight_file
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import PrecisionAtKPerceptron, ranking_target
from lowrank_rank.surrogates import precision_surrogate
from lowrank_rank.target_losses import PrecisionAtK

from .internals import fit_logistic, threshold_between
from .measures import precision_at_k, precision_at_share, recall_at_k
from .refusals import refused_by
from .top_cases import SETTINGS, balanced, no_steps, rare_class

PERCEPTRON = {"surrogate": "avg", "solver": "perceptron"}
ONE_PASS_MINI_BATCHES = {"surrogate": "struct", "solver": "sgd"}
SVMPERF = {"surrogate": "struct", "solver": "cutting_plane"}


def queries(seed=0, n_lists=40):
    """Lists of several lengths; some without a positive, one without a negative."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(n_lists), rng.integers(2, 20, n_lists))
    X = rng.normal(size=(len(qid), 4)) + rng.normal(size=(n_lists, 4))[qid]
    y = (X[:, 0] + 0.5 * rng.normal(size=len(qid)) > 1).astype(int)
    y[qid == 0], y[qid == 1] = 0, 1
    return X, y, qid


# What is learnt --------------------------------------------------------------------------


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_every_algorithm_learns(params):
    X, y = rare_class()
    model = PrecisionAtKPerceptron(random_state=0, **params).fit(X, y)
    assert model.score(X, y) > 4 * y.mean()
    assert model.coef_.shape == (1, 8)
    assert model.intercept_.shape == (1,)
    assert model.n_iter_ >= 1
    assert len(model.loss_curve_) == model.n_iter_
    assert model.alpha_ == 0.05


@pytest.mark.parametrize(
    "params", [PERCEPTRON, ONE_PASS_MINI_BATCHES, SVMPERF], ids=str
)
def test_features_as_they_are_may_be_sparse(params):
    X, y = rare_class(600)
    X[np.abs(X) < 0.5] = 0.0
    model = PrecisionAtKPerceptron(random_state=0, **params)
    dense = clone(model).fit(X, y)
    thin = clone(model).fit(sparse.csr_matrix(X), y)
    assert_allclose(thin.coef_, dense.coef_, atol=1e-8)
    assert_allclose(
        thin.decision_function(X[:5]), dense.decision_function(X[:5]), atol=1e-8
    )
    assert_allclose(
        clone(model).fit(sparse.csc_matrix(X), y).coef_, thin.coef_, atol=1e-12
    )


@pytest.mark.parametrize("surrogate", ["ramp", "avg", "max", "struct"])
@pytest.mark.parametrize("y_of", ["one list", "queries"])
def test_sparse_and_dense_features_give_the_same_model(surrogate, y_of):
    """Columns with 0, 1, 49, 51 and all zeros, and one with an offset."""
    tol = 1e-3  # logistic regression, where the steps begin, is iterated
    X, y = rare_class(600)
    for column, zeros in enumerate([6, 294, 306, 599, 600]):
        X[np.argsort(np.abs(X[:, column]))[:zeros], column] = 0.0
    X[:, 5] += 30.0
    qid = np.arange(600) // 30 if y_of == "queries" else None
    model = PrecisionAtKPerceptron(random_state=0, surrogate=surrogate)
    dense = clone(model).fit(X, y, qid=qid)
    thin = clone(model).fit(sparse.csr_matrix(X), y, qid=qid)
    size = np.abs(dense.coef_).max()
    assert_allclose(thin.coef_ / size, dense.coef_ / size, atol=tol)
    assert_allclose(thin.intercept_, dense.intercept_, atol=10 * tol * size)
    mixed = clone(model).fit(X, y, qid=qid)
    mixed = mixed.partial_fit(sparse.csr_matrix(X), y, qid=qid)
    assert_allclose(
        mixed.coef_, dense.partial_fit(X, y, qid=qid).coef_, atol=1e-9 * size
    )


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_float32_stays_float32(params):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(random_state=0, **params).fit(
        X.astype(np.float32), y
    )
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
    ours = make_pipeline(StandardScaler(), PrecisionAtKPerceptron(random_state=0)).fit(
        X, y
    )
    other = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    measure = ours[-1].target_loss_.measure
    values = [
        measure(y_test == 1, model.decision_function(X_test), one_list=True)
        for model in (ours, other)
    ]
    assert values[0] > 0.05 + values[1]


@pytest.mark.parametrize(
    ("loss", "name", "n_rows", "batch_size"),
    [("precision@25%", "ramp", 100, 100), ("wta", "avg", 3000, "auto")],
)
def test_first_step_by_hand(loss, name, n_rows, batch_size):
    X, y = rare_class(n_rows)
    Z = StandardScaler().fit_transform(X)
    start = fit_logistic(Z, y, np.ones(n_rows), "auto", tol=1e-6)[0][0]
    k = 1 if loss == "wta" else max(1, int(0.25 * y.sum() + 0.5))
    _, slope = precision_surrogate(y, Z @ start, k, surrogate=name)
    assert slope.any()
    pull = (
        20.0 * 0.05 * X.shape[1] / k
    )  # the mean squared norm is the number of features
    stepped = start - 20.0 / X.shape[1] * Z.T @ slope / k
    expected = (stepped + pull * start) / (1 + pull) / X.std(axis=0)
    middle = (start / X.std(axis=0) + expected) / 2
    model = PrecisionAtKPerceptron(
        target_loss=loss, surrogate=name, batch_size=batch_size
    )
    assert_allclose(clone(model).partial_fit(X, y).coef_[0], middle, rtol=1e-9)
    whole = clone(model).set_params(max_iter=1, batch_size=n_rows)
    assert_allclose(whole.fit(X, y).coef_[0], middle, rtol=1e-9)


def test_a_small_k_is_not_another_k():
    """Every mini-batch has a place, so there may be no more of them than places."""
    X, y = rare_class(20000, positive=0.05)
    assert y.sum() > 900
    coefs = {
        k: PrecisionAtKPerceptron(
            target_loss=f"precision@{k}",
            surrogate="max",
            solver="sgd",
            alpha=0.0,
            random_state=0,
        )
        .fit(X, y)
        .coef_
        for k in (1, 2, 5, 10, 29)
    }
    for k, coef in coefs.items():
        assert not any(np.allclose(coef, coefs[other]) for other in coefs if other < k)


def winner_takes_all():
    """One weight of either sign: 1 puts a positive first, -1 a negative before 59 positives."""
    x = np.r_[
        10.0, np.full(59, -3.0), np.full(20, 5.0), -4.0, np.linspace(-0.1, 0.1, 919)
    ]
    return x[:, np.newaxis], (np.arange(1000) < 60).astype(int)


def test_the_best_row_is_not_the_first_of_the_best_29():
    X, y = winner_takes_all()
    for loss, sign in (("wta", 1), ("precision@29", -1)):
        model = PrecisionAtKPerceptron(
            target_loss=loss, alpha=0.0, random_state=0
        ).partial_fit(X, y)
        for _ in range(9):
            model.partial_fit(X, y)
        assert np.sign(model.coef_[0, 0]) == sign
        assert_allclose(model.score(X, y), 1.0 if loss == "wta" else 28 / 29)


def test_fit_shuffles_by_the_random_state_alone():
    X, y = rare_class(2000)
    one, again, other = (
        PrecisionAtKPerceptron(batch_size=200, random_state=seed).fit(X, y).coef_
        for seed in (0, 0, 1)
    )
    assert_array_equal(one, again)
    assert not np.allclose(one, other)
    stream = [
        PrecisionAtKPerceptron(batch_size=200, random_state=seed)
        .partial_fit(X, y)
        .coef_
        for seed in (0, 1)
    ]
    assert_array_equal(stream[0], stream[1])


def test_a_perceptron_without_mistakes_stays_where_it_is():
    X, y = np.array([[3.0], [2.0], [0.0], [-1.0]]), [1, 1, 0, 0]
    model = PrecisionAtKPerceptron(random_state=0, **PERCEPTRON)
    one, nine = (clone(model).set_params(max_iter=n).fit(X, y) for n in (1, 9))
    assert nine.loss_curve_ == [0.0] + [1.0] * 8  # at zeros all is tied
    assert nine.n_iter_ == 9
    assert_array_equal(one.coef_, nine.coef_)


def transformed(X, how):
    """X in other units, with offsets, or with its columns in another order."""
    if not isinstance(how, str):
        return X * how
    return X[:, ::-1] if how == "order" else X + 1e6 * X.std(axis=0)


@pytest.mark.parametrize("shape", ["list", "queries"])
def test_units_offsets_and_order_of_the_columns_do_not_matter(shape):
    options = {}
    if shape == "list":
        X, y = rare_class(800)
        X[:, 2] = np.where(X[:, 2] > -0.5, X[:, 2], 0.0)  # zeros in fewer than half
    else:
        X, y, options["qid"] = queries()
    loss = "precision@25%" if shape == "list" else "precision@1"
    model = PrecisionAtKPerceptron(target_loss=loss, random_state=0)

    def scores(X):
        scores = clone(model).fit(X, y, **options).decision_function(X)
        return scores - scores.mean(axis=-1, keepdims=True)

    expected = scores(X)
    for how in (
        1e-3,
        3.0,
        1e6,
        10.0 ** np.arange(-3, X.shape[1] - 3),
        "offset",
        "order",
    ):
        found = scores(transformed(X, how))
        assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_a_stream_keeps_the_scale_of_its_first_call():
    X, y = rare_class(800)
    scaler = StandardScaler().fit(X[:400])
    models = []
    for features in (X, scaler.transform(X), 1e6 * X):
        model = PrecisionAtKPerceptron()
        for rows in (slice(400), slice(400, 600), slice(600, 800)):
            model.partial_fit(features[rows], y[rows])
        models.append(model)
    plain, scaled, other = models
    assert_allclose(plain.coef_ * scaler.scale_, scaled.coef_, rtol=1e-9)
    assert_allclose(other.coef_ * 1e6, plain.coef_, rtol=1e-9)


# Predictions and labels ------------------------------------------------------------------


@pytest.mark.parametrize("params", [{}, PERCEPTRON])
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
    model = PrecisionAtKPerceptron(pos_label=pos_label, random_state=0).fit(
        blocks[row], y
    )
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
    with pytest.warns(UserWarning, match="the last of .*'ok', is ranked at the top"):
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
        ("precision@10", lambda s: precision_at_k(y, s, k=10, one_list=True)),
        ("precision@50%", lambda s: precision_at_share(y, s, 0.5, one_list=True)),
        ("prbep", lambda s: precision_at_share(y, s, 1, one_list=True)),
        ("wta", lambda s: precision_at_k(y, s, k=1, one_list=True)),
        ("recall@10", lambda s: recall_at_k(y, s, k=10, one_list=True)),
        ("recall@100", lambda s: recall_at_k(y, s, k=100, one_list=True)),
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
    aimed, other = (
        recall_at_k(y, m.decision_function(X), k=k, one_list=True) for m in models
    )
    assert aimed >= other


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
    with refused_by("threshold of two classes"):
        model.set_params(target_loss=PrecisionAtK(k=5, relevance_threshold=2)).fit(X, y)


# Determinism and state -------------------------------------------------------------------


@pytest.mark.parametrize("params", SETTINGS, ids=str)
def test_repeats_clones_and_pickles(params):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(random_state=3, **params)
    first = clone(model).fit(X, y)
    assert_array_equal(first.coef_, clone(model).fit(X, y).coef_)
    copy = pickle.loads(pickle.dumps(first))
    assert_array_equal(copy.decision_function(X), first.decision_function(X))
    assert_array_equal(first.fit(X, y).coef_, copy.coef_)


@pytest.mark.parametrize(
    "params",
    [{}, ONE_PASS_MINI_BATCHES, {"surrogate": "max", "solver": "perceptron"}],
    ids=str,
)
def test_a_stream_continues_a_fit(params):
    """Rows in one mini-batch, and no penalty: it counts the places of all calls."""
    X, y = balanced(2500)
    model = PrecisionAtKPerceptron(
        target_loss="prbep", alpha=0.0, batch_size=2500, max_iter=2, **params
    )
    expected = clone(model).set_params(max_iter=3).fit(X, y).coef_
    model.fit(X, y)
    assert not np.allclose(model.coef_, expected, rtol=1e-3)
    assert_allclose(model.partial_fit(X, y).coef_, expected, rtol=1e-8)
    model.partial_fit(X.astype(np.float32), y)
    assert model.coef_.dtype == np.float32


@pytest.mark.filterwarnings("ignore:Training lowered")
@pytest.mark.parametrize("surrogate", ["ramp", "avg"])
def test_the_prediction_is_the_midpoint_of_the_start_and_the_averaged_steps(surrogate):
    """Three passes over one mini-batch, whose weights grow like t (t + 1) (t + 2)."""
    X, y = rare_class(500)
    model = PrecisionAtKPerceptron(surrogate=surrogate, batch_size=500, random_state=0)
    start = no_steps().fit(X, y).coef_
    paths = [clone(model).set_params(max_iter=n).fit(X, y)._path_ for n in (1, 2, 3)]
    last = [[path.last / path.feature_scale] for path in paths]
    mean = np.average(last, axis=0, weights=[6, 24, 60])
    found = clone(model).set_params(max_iter=3).fit(X, y).coef_
    assert_allclose(found, (start + mean) / 2, rtol=1e-8)
    assert not np.allclose(found, mean, rtol=1e-2)


@pytest.mark.parametrize("positive", [0.02, 0.5])
def test_all_rows_are_used(positive):
    """No row is held out: a fit sees every positive, however few there are."""
    X, y = rare_class(400, positive=positive)
    model = PrecisionAtKPerceptron(target_loss="prbep", batch_size=400)
    assert_allclose(
        model.fit(X, y).coef_,
        clone(model).set_params(random_state=5).fit(X, y).coef_,
        rtol=1e-8,
    )


def test_verbose_prints_a_line_for_each_pass(capsys):
    X, y = rare_class(600)
    model = PrecisionAtKPerceptron(max_iter=3, verbose=1, random_state=0).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_ == 3
    assert lines[0].startswith("[PrecisionAtKPerceptron] pass 1: ")
    assert lines[0].endswith("right at the top of the mini-batches")
    planes = PrecisionAtKPerceptron(verbose=1, **SVMPERF).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == planes.n_iter_
    assert lines[0].startswith("[PrecisionAtKPerceptron] round 1: ")
    assert lines[0].endswith("right at the top of the rows")


def test_thresholds():
    scores = np.array([3.0, 1.0, 2.0, 2.0])
    for n_above, marked in [(0, 0), (1, 1), (2, 1), (3, 3), (4, 4), (9, 4)]:
        assert np.sum(scores > threshold_between(scores, n_above)) == marked


# Streams ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"surrogate": "avg"},
        {"surrogate": "max", "solver": "perceptron"},
        ONE_PASS_MINI_BATCHES,
    ],
    ids=str,
)
def test_a_call_of_partial_fit_is_one_pass_of_fit(params):
    """Rows in one mini-batch: their order does not matter."""
    X, y = balanced(1000)
    X += np.random.default_rng(0).normal(size=X.shape)
    model = PrecisionAtKPerceptron(
        target_loss="prbep", batch_size=1000, max_iter=3, alpha=0.0, **params
    )
    whole = clone(model).fit(X, y)
    stream = clone(model)
    for _ in range(3):
        stream.partial_fit(X, y)
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-8)
    assert stream.n_lists_ == 1
    batches = clone(model).set_params(batch_size=100).partial_fit(X, y)
    assert not np.allclose(batches.coef_, clone(model).partial_fit(X, y).coef_)


def test_partial_fit_over_queries_is_one_pass_over_all_of_them():
    """With features of the first call's scale: those of perceptrons are as they are."""
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(
        target_loss="precision@2", batch_size=1, **PERCEPTRON
    )
    whole = clone(model).partial_fit(X, y, qid=qid)
    stream = clone(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # queries of one class
        for part in np.array_split(np.unique(qid), 5):
            rows = np.isin(qid, part)
            stream.partial_fit(X[rows], y[rows], classes=[0, 1], qid=qid[rows])
    assert_allclose(stream.coef_, whole.coef_, rtol=1e-10)
    assert stream.n_lists_ == whole.n_lists_ == 40


def test_streams_keep_to_what_they_began_with():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="wta").partial_fit(X, y, qid=qid)
    with refused_by("other classes than before"):
        model.partial_fit(X, y, classes=[5, 7], qid=qid)
    with refused_by("other pos_label than before"):
        model.set_params(pos_label=0).partial_fit(X, y, qid=qid)
    before = model.coef_.copy()
    with pytest.raises(
        ValueError, match="this one has none, so its rows would be one list"
    ):
        model.set_params(pos_label=None).partial_fit(X, y)
    assert np.array_equal(model.coef_, before)
    assert model.n_lists_ == 40  # and to score without qid is refused, still
    with refused_by("ids lost in score"):
        model.score(X, y)
    with refused_by("ids lost in score"):
        model.rank(X)
    with pytest.raises(AttributeError, match="has no attribute 'partial_fit'"):
        clone(model).set_params(**SVMPERF).partial_fit(X, y)


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


def test_rows_of_one_class_teach_nothing_and_say_so():
    X, y = rare_class(400)
    model = PrecisionAtKPerceptron().partial_fit(X, y)
    before, threshold = model.coef_.copy(), model.threshold_
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        model.partial_fit(X[y == 0], y[y == 0])
    assert_array_equal(model.coef_, before)
    assert model.threshold_ == threshold
    with pytest.warns(UserWarning, match="Nothing is learnt"):
        first = PrecisionAtKPerceptron().partial_fit(
            X[y == 0], y[y == 0], classes=[0, 1]
        )
    assert_array_equal(
        first.partial_fit(X, y).coef_, PrecisionAtKPerceptron().partial_fit(X, y).coef_
    )


# Queries and matrices --------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*fewer than 2 positives")
@pytest.mark.filterwarnings("ignore:copied queries")
def test_queries_in_any_order_with_any_ids():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="precision@2", random_state=0)
    plain = clone(model).fit(X, y, qid=qid)
    assert plain.n_lists_ == 40
    names = np.array([f"query {q}" for q in qid], dtype=object)
    carried = clone(model).fit(X, ranking_target(y, names))
    assert_array_equal(carried.coef_, plain.coef_)
    series = pd.Series(y, index=pd.Index(qid, name="qid"))
    assert_array_equal(clone(model).fit(X, series).coef_, plain.coef_)
    assert plain.score(X, y, qid=qid) == plain.score(X, ranking_target(y, names))
    assert plain.score(X, y, qid=qid) > 1.3 * plain.target_loss_.measure(
        y, 0 * y, qid=qid
    )
    with refused_by("ids lost in score"):
        plain.score(X, y)


def test_a_budget_of_each_query_is_recall():
    """A count of precision is cut at the positives of a query."""
    X, y, qid = queries()
    with pytest.warns(
        UserWarning, match=r"^Some queries have fewer than 5.*target_loss='recall@5'"
    ):
        PrecisionAtKPerceptron(target_loss="precision@5").fit(X, y, qid=qid)
    PrecisionAtKPerceptron(target_loss="recall@5").fit(X, y, qid=qid)
    PrecisionAtKPerceptron(target_loss="precision@25%").fit(X, y, qid=qid)


@pytest.mark.parametrize("name", ["precision@5", "recall@5"])
def test_a_count_of_one_list_is_scored_on_as_many_rows(name):
    X, y = rare_class()
    model = PrecisionAtKPerceptron(target_loss=name, random_state=0).fit(X, y)
    value = model.score(X, y)
    half = len(y) // 2
    with pytest.warns(
        UserWarning, match="top 5 of all its rows.*top 5 of another number of rows"
    ):
        model.score(X[:half], y[:half])
    assert 0 <= model.score(X[:half], y[:half], one_list=True) <= 1
    assert value == model.score(X, y) == model.score(X, y, one_list=True)
    fraction = PrecisionAtKPerceptron(target_loss="precision@50%", random_state=0).fit(
        X, y
    )
    fraction.score(X[:half], y[:half])
    steps = PrecisionAtKPerceptron(target_loss=name).partial_fit(X, y)
    steps.score(X[:half], y[:half])  # a count of each call


def test_queries_are_not_one_list():
    """Simpson's paradox: the feature is good within every query and bad over all rows."""
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(150), 10)
    level, own = rng.normal(size=150)[qid], rng.normal(size=1500)
    X, y = (own - 2 * level)[:, np.newaxis], (own + 3 * level > 1).astype(int)
    aimed = PrecisionAtKPerceptron(target_loss="precision@1", random_state=0).fit(
        X, y, qid=qid
    )
    pooled = PrecisionAtKPerceptron(target_loss="precision@1", random_state=0).fit(X, y)
    assert aimed.coef_[0, 0] > 0 > pooled.coef_[0, 0]


def share_right(found, k, positives, sizes):
    """One minus the mistakes at the top over the most there can be, from the recall at k."""
    wrong = np.minimum(k, positives) - found * positives
    most = np.where(
        k <= positives,
        np.minimum(k, sizes - positives),
        np.minimum(sizes - k, positives),
    )
    return 1 - wrong / most


@pytest.mark.parametrize("k", [1, 3, 5])
def test_what_the_passes_watch_is_the_recall(k):
    """k below and above the positives of a list: the mirrored lists count the same mistakes."""
    X, y, qid = queries()
    model = no_steps(target_loss=f"recall@{k}", max_iter=1).fit(X, y, qid=qid)
    found = recall_at_k(y, model.decision_function(X), qid=qid, k=k, average=None)
    sizes, positives = np.bincount(qid), np.bincount(qid, weights=y)
    lists = (positives > 0) & (positives < sizes) & (sizes > k)
    right = share_right(found[lists], k, positives[lists], sizes[lists])
    assert_allclose(right.mean(), model.loss_curve_[0])


# In scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibrated_probabilities(method):
    X, y = rare_class()
    names = np.where(y == 1, "fraud", "ok")
    model = CalibratedClassifierCV(
        PrecisionAtKPerceptron(pos_label="fraud", random_state=0), method=method, cv=3
    ).fit(X, names)
    fraud = model.predict_proba(X)[:, list(model.classes_).index("fraud")]
    assert fraud[y == 1].mean() > 3 * fraud[y == 0].mean()


# Bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "y", "match"),
    [
        ({}, [0] * 6, "one class only"),
        ({}, [0, 1, 2, 0, 1, 2], "Only binary classification is supported"),
        ({"target_loss": "recall@6"}, [0, 1, 1, 0, 0, 0], "all orders are equal"),
        (
            {"batch_size": 2},
            [0, 1, 0, 0, 0, 0],
            "batch_size=2 cuts the 6 rows into 3 batches",
        ),
        ({"batch_size": 2}, [1, 1, 0, 1, 1, 1], "only 1 negatives"),
        ({"target_loss": "ndcg"}, [0, 1] * 3, "does not look at the top of the list"),
        ({"target_loss": "mapp"}, [0, 1] * 3, "Unknown target loss"),
        ({"solver": "perceptron"}, [0, 1] * 3, "solver='perceptron' trains"),
        (
            {**SVMPERF, "alpha": 0},
            [0, 1] * 3,
            "alpha must be 'auto' or a finite numb",
        ),
        ({"batch_size": 0}, [0, 1] * 3, "batch_size must be 'auto' or an integer >= 1"),
        (
            {"batch_size": 2, "target_loss": "wta"},
            [0, 1] * 3,
            "only k=1 places at the top",
        ),
        ({"eta0": 0}, [0, 1] * 3, "eta0 must be a finite number > 0"),
        ({"alpha": -1}, [0, 1] * 3, "alpha must be 'auto' or a finite number >= 0"),
        ({"max_iter": 0}, [0, 1] * 3, "max_iter must be 'auto' or an integer >= 1"),
        ({}, [0.5, 1.5] * 3, "Unknown label type"),
        ({"surrogate": ["avg"]}, [0, 1] * 3, "surrogate must be one of"),
        ({}, ["a", None, "b", "a", "b", "a"], "the label of row 1 is missing"),
        (
            {},
            pd.Series(["a", "b", None, "a", "b", "a"]),
            "the label of row 2 is missing",
        ),
        (
            {},
            pd.Series([0, 1, 0, pd.NA, 1, 0], dtype="Int64"),
            "the label of row 3 is missing",
        ),
        ({}, np.array(["a", 1, "a", 1, "a", 1], dtype=object), "mixes types of labels"),
        ({"pos_label": 2}, [0, 1] * 3, "pos_label=2 is not a valid label"),
        ({}, [[0, 1]] * 6, "takes one label per row"),
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
    model = PrecisionAtKPerceptron(eta0=1e300, alpha=0.0)
    with pytest.raises(ValueError, match=r"Training diverged.*lower eta0=1e"):
        model.fit(X * 1e-150, y)
    for unit in (1e300, 1e-300):
        with pytest.raises(ValueError, match="too large or too small"):
            PrecisionAtKPerceptron(**PERCEPTRON).fit(X * unit, y)
    assert not hasattr(model, "coef_")


@pytest.mark.filterwarnings("ignore:.*fewer than 2 positives")
def test_bad_queries():
    X, y, qid = queries()
    model = PrecisionAtKPerceptron(target_loss="precision@2")
    with refused_by("nothing to rank"):
        model.fit(X, y, qid=np.arange(len(y)))
    with refused_by("top of all lists"):
        model.set_params(target_loss="recall@30").fit(X, y, qid=qid)
    with refused_by("solver of one list"):
        model.set_params(target_loss="precision@2", **SVMPERF).fit(X, y, qid=qid)


def test_bad_streams():
    X, y = rare_class(200)
    with refused_by("not two classes"):
        PrecisionAtKPerceptron().partial_fit(X, y, classes=[0, 1, 2])
    model = PrecisionAtKPerceptron(**PERCEPTRON).partial_fit(X, y)
    steps = model._path_.n_steps
    with refused_by("a third label"):
        model.partial_fit(X, np.where(y == 1, 5, 0))
    with refused_by("labels in columns"):
        model.partial_fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(ValueError, match="diverged"):
        model.partial_fit(X * 1e300, 1 - y)
    assert model._path_.n_steps == steps


def test_cutting_planes_that_run_out_of_rounds_warn():
    X, y = rare_class(300)
    with pytest.warns(ConvergenceWarning, match="duality gap of"):
        model = PrecisionAtKPerceptron(max_iter=2, alpha=1e-3, **SVMPERF).fit(X, y)
    assert model.dual_gap_ > 1e-3
    for alpha in (1e-6, 1e-4, 1e-3):
        done = PrecisionAtKPerceptron(max_iter=300, alpha=alpha, **SVMPERF).fit(X, y)
        assert done.dual_gap_ >= 0
        assert done.n_iter_ < 300
    with pytest.warns(
        ConvergenceWarning, match="equal scores for all rows.*lower alpha"
    ):
        PrecisionAtKPerceptron(max_iter=300, alpha=1e6, **SVMPERF).fit(X, y)
    done.set_params(surrogate="ramp", solver="averaged").fit(X, y)
    assert not hasattr(done, "dual_gap_")


def test_training_that_lowers_the_top_warns_and_changes_nothing():
    """Steps that are far too long lead away from logistic regression."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=300) > 1.0).astype(int)
    model = PrecisionAtKPerceptron(alpha=0, eta0=1e6, max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="the initial logistic regression is better"):
        model.fit(X, y)
    assert model.score(X, y) < 0.95
    PrecisionAtKPerceptron(random_state=0).fit(X, y)  # no warning
