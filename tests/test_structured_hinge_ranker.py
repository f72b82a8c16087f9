"""StructuredHingeRanker: measures, ids in three ways, input that is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from lowrank_rank.structured import StructuredHingeRanker
from lowrank_rank.surrogates import structured_hinge
from lowrank_rank.target_losses import PrecisionAtK

from .refusals import refused_by

NAMES = ["kendall", "ndcg@3", "ndcg", "auc", "precision@1", "recall@7"]


@pytest.fixture
def documents():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(240, 4)), np.repeat(np.arange(20), 12)
    y = np.clip(np.round(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=240)), 0, 2)
    return X, y, qid


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_learns(name, documents):
    X, y, qid = documents
    model = StructuredHingeRanker(target_loss=name, alpha=1e-3).fit(X, y, qid=qid)
    chance = model.target_loss_.measure(
        y, np.random.default_rng(1).normal(size=240), qid=qid
    )
    assert model.score(X, y, qid=qid) >= chance + 0.15
    at_zero = np.nanmean(structured_hinge(name, y, np.zeros(240), qid=qid)[0])
    hinge = np.nanmean(structured_hinge(name, y, model.predict(X), qid=qid)[0])
    assert hinge < at_zero
    assert model.dual_gap_ <= 1e-2 * at_zero + 1e-12


def test_kendall_is_the_linear_rank_svm(documents):
    X, y, qid = documents
    alpha = 0.01
    model = StructuredHingeRanker(alpha=alpha, standardize=False, tol=1e-5).fit(
        X, y, qid=qid
    )
    i, j = np.nonzero((qid[:, None] == qid) & (y[:, None] > y))
    sign = np.where(np.arange(len(i)) % 2, -1.0, 1.0)
    svm = LinearSVC(
        loss="hinge", C=1 / (alpha * 66 * 20), fit_intercept=False, max_iter=100_000
    )
    svm.fit((X[i] - X[j]) * sign[:, None], sign)

    def objective(w):
        hinge = structured_hinge("kendall", y, X @ w, qid=qid)[0].mean()
        return alpha / 2 * w @ w + hinge

    assert_allclose(objective(model.coef_), objective(svm.coef_[0]), rtol=1e-4)


def test_fixed_items_have_weights_of_their_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.column_stack([X[:, 0] > 0, X[:, 0] < 0, X[:, 1] > 1]) * 1.0
    model = StructuredHingeRanker(target_loss="ndcg", alpha=1e-3).fit(X, y)
    assert model.coef_.shape == (3, 3)
    assert model.intercept_.shape == (3,)
    assert model.score(X, y) > 0.9
    with refused_by("ids beside a matrix"):
        model.fit(X, y, qid=np.arange(200))


@pytest.mark.filterwarnings("ignore:All grades of each query are equal")
def test_steps_go_on_over_calls_of_whole_lists(documents):
    X, y, qid = documents
    model = StructuredHingeRanker(
        target_loss="kendall", solver="sgd", alpha=0.01, batch_size=2
    )
    for rows in (qid < 10, qid >= 10):
        model.partial_fit(X[rows], y[rows], qid=qid[rows])
    assert model.n_lists_ == 20
    whole = (
        StructuredHingeRanker(target_loss="kendall")
        .fit(X, y, qid=qid)
        .score(X, y, qid=qid)
    )
    assert model.score(X, y, qid=qid) > whole - 0.02
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="list 19 is split"):
        model.partial_fit(X[-3:], y[-3:], qid=qid[-3:])
    with pytest.raises(
        ValueError, match="this one has none, so its rows would be one list"
    ):
        model.partial_fit(X[:200], y[:200])
    with pytest.raises(ValueError, match="target_loss"):
        model.set_params(target_loss="auc").partial_fit(X[:12], y[:12], qid=qid[:12])
    assert np.array_equal(model.coef_, before)
    for refused in (
        StructuredHingeRanker(alpha=0.01),
        StructuredHingeRanker(solver="sgd"),
    ):
        with pytest.raises(AttributeError, match="partial_fit"):
            refused.partial_fit(X, y, qid=qid)


@pytest.mark.filterwarnings("ignore:No label has any utility")
def test_steps_begin_with_the_first_batch_that_has_anything_to_learn(documents):
    X, y, qid = documents
    late = StructuredHingeRanker(target_loss="precision@1", solver="sgd", alpha=0.01)
    late.partial_fit(X[:24], np.zeros(24), qid=qid[:24])
    assert late.intercept_ == 0.0
    late.partial_fit(X[24:], y[24:] > 1, qid=qid[24:])
    assert np.any(late.coef_)


def test_steps_that_end_above_zero_weights_are_not_kept(documents):
    """One list with one relevant item: the first step is 1 / sqrt(alpha) long."""
    X, y = documents[0][:60], np.arange(60) == 3
    model = StructuredHingeRanker(
        target_loss="recall@3", solver="sgd", alpha=1e-6, random_state=0
    )
    with pytest.warns(ConvergenceWarning, match="increase max_iter, tol or alpha"):
        model.fit(X, y)
    assert model.intercept_ == 0.0
    assert np.all(model.coef_ == 0.0)
    exact = clone(model).set_params(solver="auto", tol=1e-5).fit(X, y)
    assert 0.0 < np.abs(exact.intercept_) < 10.0


def test_a_k_that_does_not_fit_names_the_list(documents):
    X, y, qid = documents
    with refused_by("k and the number of relevant items"):
        StructuredHingeRanker(target_loss="precision@40").fit(X, y, qid=qid)


def test_the_hinge_of_precision_bounds_the_loss_of_the_marked_items():
    """All above 0 are marked, five of six rightly; the first one is wrong."""
    y, scores = [1, 1, 1, 1, 1, 0], [0.05] * 5 + [0.051]
    hinge = structured_hinge("precision@1", y, scores)[0][0]
    assert hinge == pytest.approx(0.602)
    assert 1.0 - PrecisionAtK(1).measure(y, scores) == 1.0  # above the hinge
    assert hinge >= 1.0 / 6.0  # the loss of the six that are marked
    with refused_by("k and the number of relevant items"):
        structured_hinge("precision@6", y, scores)


@pytest.mark.filterwarnings("ignore:All grades of each query are equal")
@pytest.mark.filterwarnings("ignore:No label has any utility")
@pytest.mark.filterwarnings(
    "ignore:The hinge of RecallAtK.* has its minimum at zero weights"
)
@pytest.mark.parametrize(
    "name", ["ndcg@10", "precision@1", "recall@6", "auc", "kendall"]
)
@pytest.mark.parametrize("grade", [0, 1])
def test_grades_that_are_all_equal_leave_nothing_to_learn(name, grade):
    X = np.random.default_rng(0).normal(size=(6, 2))
    for qid in (None, [0, 0, 0, 1, 1, 1]):
        model = StructuredHingeRanker(target_loss=name).fit(X, [grade] * 6, qid=qid)
        if (name, grade) == ("recall@6", 1):  # what is marked has an intercept
            assert_allclose(model.coef_, 0.0, atol=2e-4)  # within tol of the minimum
        else:
            assert np.all(model.coef_ == 0.0)
            assert model.intercept_ == 0.0


def test_batches_with_ids_of_other_types(documents):
    X, y, qid = documents
    model = StructuredHingeRanker(solver="sgd", alpha=0.01).partial_fit(
        X[:120], y[:120], qid=qid[:120]
    )
    model.partial_fit(X[120:], y[120:], qid=[(int(q), "a") for q in qid[120:]])
    assert model.n_lists_ == 20


@pytest.mark.parametrize("scale", [1e20, 1e-20])
def test_features_whose_products_of_products_leave_the_range(scale, documents):
    X, y, qid = documents
    with pytest.raises(ValueError, match="too large or too small"):
        StructuredHingeRanker(standardize=False).fit(scale * X, y, qid=qid)
    scaled = StructuredHingeRanker(alpha=0.01).fit(scale * X, y, qid=qid)
    plain = StructuredHingeRanker(alpha=0.01).fit(X, y, qid=qid)
    assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "solver", "tol"),
    [
        ("kendall", "lbfgs", 1e-5),
        ("ndcg@3", "cutting_plane", 1e-5),
        ("auc", "cutting_plane", 1e-4),
        ("kendall", "sgd", 2e-3),
    ],
)
def test_a_list_of_weight_2_is_the_list_twice(name, solver, tol, documents):
    X, y, qid = documents
    of_list = np.random.default_rng(0).integers(0, 3, 20)
    rows = np.concatenate(
        [np.flatnonzero(qid == q) for q in np.repeat(np.arange(20), of_list)]
    )
    again = np.repeat(np.arange(of_list.sum()), 12)
    params = {"target_loss": name, "solver": solver, "alpha": 0.1, "batch_size": 40}
    model = StructuredHingeRanker(tol=tol, max_iter=100, random_state=0, **params)
    weighted = clone(model).fit(X, y, qid=qid, sample_weight=of_list[qid])
    repeated = clone(model).fit(X[rows], y[rows], qid=again)
    once = clone(model).fit(X, y, qid=qid)
    assert_allclose(weighted.objective_, repeated.objective_, rtol=2 * tol)
    assert abs(once.objective_ / repeated.objective_ - 1) > 2 * tol
    assert weighted.n_lists_ == np.count_nonzero(of_list)


def test_weights_of_rows_of_one_list_count_copies(documents):
    X, y, _ = documents
    X, y, copies = X[:12], y[:12], np.random.default_rng(1).integers(0, 3, 12)
    rows = np.repeat(np.arange(12), copies)
    weighted = StructuredHingeRanker().fit(X, y, sample_weight=copies)
    repeated = StructuredHingeRanker().fit(X[rows][::-1], y[rows][::-1])
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-12)
    same = StructuredHingeRanker(alpha=0.01).fit(X, y, sample_weight=np.full(12, 0.3))
    assert_allclose(same.coef_, StructuredHingeRanker(alpha=0.01).fit(X, y).coef_)


def test_weights_that_no_list_can_have_are_refused(documents):
    X, y, qid = documents
    weights = np.ones(240)
    weights[14] = 2.0
    with refused_by("weights within a list"):
        StructuredHingeRanker().fit(X, y, qid=qid, sample_weight=weights)
    with refused_by("parts of copies"):
        StructuredHingeRanker().fit(
            X, y, sample_weight=weights + 1.5 * (weights - 1), one_list=True
        )


def test_empty_input_is_refused(documents):
    X, y, qid = documents
    with pytest.raises(ValueError, match="0 sample"):
        StructuredHingeRanker().fit(X[:0], y[:0], qid=qid[:0])
    with refused_by("another number of ids"):
        structured_hinge("ndcg@3", y, y, qid=[])
    with refused_by("all weights zero"):
        StructuredHingeRanker().fit(X, y, qid=qid, sample_weight=np.zeros(240))


def test_the_default_learns_from_long_lists_with_few_relevant_items():
    """The hinge of ndcg has its minimum at zero weights there."""
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(4000, 3)), np.repeat(np.arange(10), 400)
    noisy = X[:, 0] + 2.0 * rng.normal(size=4000)
    y = (noisy > np.sort(noisy)[-200]).astype(int)
    default = StructuredHingeRanker().fit(X, y, qid=qid)
    with pytest.warns(
        UserWarning, match="has its minimum at zero weights.*Use target_loss='kendall'"
    ):
        ndcg = StructuredHingeRanker(target_loss="ndcg@10").fit(X, y, qid=qid)
    assert not ndcg.coef_.any()
    assert np.corrcoef(default.predict(X), X[:, 0])[0, 1] > 0.9
