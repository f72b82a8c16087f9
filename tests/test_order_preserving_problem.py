"""Linear scores under a surrogate: the same model from blocks, scaled or sparse rows, float32."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.datasets import make_label_ranking, make_ranking

from .block_cases import Once, blocks_of
from .refusals import refused_by

# Blocks -------------------------------------------------------------------------------

DOCUMENTS = [
    {},
    {"surrogate": "pointwise_logistic", "target_loss": "dcg"},  # an eta of all labels
    {"surrogate": "pairwise_squared", "target_loss": "dcg@5"},  # closed form, by lists
    {"surrogate": "pointwise_squared"},  # closed form, of rows
    {"surrogate": "cross_entropy", "target_loss": "map"},
    {"surrogate": "pairwise_squared_hinge", "standardize": False},
]


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(40, (2, 9), n_features=4, random_state=0)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    weights[::7] = 0.0
    return 10.0 + 3.0 * X, y, qid, weights


def same(a, b):
    size = np.abs(b.coef_).max()
    assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-8 * size)
    assert_allclose(a.intercept_, b.intercept_, rtol=1e-7, atol=1e-7)
    found = [[one.objective_, one.bound_factor_] for one in (a, b)]
    assert_allclose(*found, rtol=1e-9)
    assert (a.n_lists_, a.n_items_, a._has_qid_) == (
        b.n_lists_,
        b.n_items_,
        b._has_qid_,
    )


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.float32])
@pytest.mark.parametrize("settings", DOCUMENTS)
def test_blocks_of_documents_are_the_whole(documents, settings, kind):
    X, y, qid, w = documents
    X = X.astype(np.float32) if kind is np.float32 else kind(X)
    model = OrderPreservingRegressor(tol=1e-11, **settings)
    whole = clone(model).fit(X, y, qid=qid, sample_weight=w)
    same(clone(model).fit_blocks(blocks_of(X, y, qid, w, n=4)), whole)


@pytest.mark.parametrize("surrogate", ["pointwise_squared", "cross_entropy"])
def test_blocks_of_items_with_gaps_are_the_whole(surrogate):
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    X, y = data.data, data.target.astype(float)
    y[np.random.default_rng(2).random(y.shape) < 0.1] = np.nan
    model = OrderPreservingRegressor(target_loss="dcg", surrogate=surrogate, tol=1e-12)
    whole = clone(model).fit(X, y)
    same(clone(model).fit_blocks(blocks_of(X, y)), whole)


@pytest.mark.parametrize("surrogate", ["pairwise_logistic", "pairwise_squared_hinge"])
@pytest.mark.filterwarnings("ignore:.*single")
def test_lists_of_one_row_count_in_the_mean_alone(documents, surrogate):
    X, y, qid, _ = documents
    w = np.ones(len(y))
    alone = np.random.default_rng(0).permutation(len(y))[:40]
    more = [np.concatenate([a, a[alone]]) for a in (X, y)]
    more += [
        np.append(qid, 1000 + np.arange(len(alone))),
        np.append(w, np.ones(len(alone))),
    ]
    counted = (
        1 if surrogate == "pairwise_logistic" else 3
    )  # over the mean utility, or weight
    fraction = [None, y, None, w][counted].sum() / more[counted].sum()
    settings = {
        "target_loss": "dcg",
        "surrogate": surrogate,
        "standardize": False,
        "tol": 1e-10,
    }
    model = OrderPreservingRegressor(alpha=0.1 / fraction, **settings)
    few = model.fit(X, y, qid=qid, sample_weight=w)
    many = OrderPreservingRegressor(alpha=0.1, **settings)
    many.fit(*more[:2], qid=more[2], sample_weight=more[3])
    assert_allclose(many.coef_, few.coef_, rtol=1e-6)
    assert_allclose(many.objective_, fraction * few.objective_, rtol=1e-9)
    parts = [
        tuple(a[some] for a in more) for some in (slice(len(y)), slice(len(y), None))
    ]
    same(clone(many).fit_blocks(parts), many)
    assert many.n_lists_ == few.n_lists_ + len(alone)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_blocks_with_a_large_offset_are_the_whole(documents, kind):
    """The rows are centred before products with coefficients could cancel digits."""
    X, y, qid, w = documents
    X = (X + 1e5).astype(kind)
    model = OrderPreservingRegressor(tol=1e-9)
    whole = clone(model).fit(X, y, qid=qid, sample_weight=w)
    same(clone(model).fit_blocks(blocks_of(X, y, qid, w)), whole)


def test_blocks_are_read_once_for_an_evaluation(documents):
    X, y, qid, w = documents
    blocks = Once(blocks_of(X, y, qid, w))
    model = OrderPreservingRegressor().fit_blocks(blocks)
    assert model.n_iter_ + 3 <= blocks.passes <= 1.2 * model.n_iter_ + 8
    blocks = Once(blocks.blocks)
    OrderPreservingRegressor(surrogate="pairwise_squared").fit_blocks(blocks)
    assert blocks.passes == 4  # columns, moments, value, bound


def test_wrong_blocks_are_refused_and_change_nothing(documents):
    X, y, qid, _ = documents
    ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    before = ranker.coef_
    whole = (X, y, qid)
    half = int(np.flatnonzero(qid[1:] == qid[:-1])[0]) + 1
    for blocks, message in [
        (iter([whole]), "read only once"),
        ((block for block in [whole]), "__iter__ starts again"),
        ([], "no blocks"),
        ([whole, tuple(a[:0] for a in whole)], "Block 2 has no rows"),
        ([tuple(a[:half] for a in whole), tuple(a[half:] for a in whole)], "is split"),
        ([whole, (X, y, qid + 100), tuple(a[:half] for a in whole)], "is split"),
        ([whole, (X[:, :2], y, qid + 100)], "features"),
        ([whole, (X, np.column_stack([y, y]))], "layouts"),
        ([(X, y + np.nan, qid)], "NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.fit_blocks(blocks)
        assert ranker.coef_ is before


def test_an_item_that_is_never_relevant_in_any_block_has_no_minimum():
    X, y = np.ones((4, 1)), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] * 2)
    with pytest.warns(ConvergenceWarning, match=r"items \[2\]"):
        OrderPreservingRegressor(target_loss="dcg").fit_blocks(
            [(X[:1], y[:1]), (X[1:], y[1:])]
        )


def test_names_of_columns(documents):
    pd = pytest.importorskip("pandas")
    X, y, qid, _ = documents
    X = pd.DataFrame(X, columns=list("abcd"))
    model = OrderPreservingRegressor().fit_blocks([(X, y, qid)])
    assert model.feature_names_in_.tolist() == list("abcd")


def test_rows_that_judge_no_item_count_in_the_penalty():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), rng.integers(0, 3, (60, 4)).astype(float)
    y[:20] = np.nan
    model = OrderPreservingRegressor(target_loss="dcg").fit(X, y)
    assert model.alpha_ == pytest.approx(0.5 / 4 * 20 / 60)


@pytest.mark.parametrize(
    "surrogate", ["pairwise_logistic", "pairwise_squared", "cross_entropy"]
)
@pytest.mark.parametrize("factor", [1e-250, 1e150])
def test_the_unit_of_weights_changes_nothing(documents, surrogate, factor):
    X, y, qid, w = documents
    model = OrderPreservingRegressor(
        target_loss="dcg", surrogate=surrogate, alpha=0.1, tol=1e-9
    )
    expected = clone(model).fit(X, y, qid=qid, sample_weight=w).coef_
    coef = model.fit(X, y, qid=qid, sample_weight=factor * w).coef_
    assert_allclose(coef, expected, rtol=1e-6, atol=1e-8)


# Features and grades ------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1e2, 1e6])
def test_features_are_standardised_as_by_standard_scaler(offset):
    """With the weights of the rows; a feature that only rows without weight have is constant."""
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(200, 4)), rng.uniform(0.1, 3.0, 200)
    y = rng.integers(0, 3, (200, 4)).astype(float)
    w[::5] = 0.0
    X[:, 1] *= rng.uniform(size=200) < 0.6  # zeros count only below one half
    X[:, 2:] = 7.3
    X[::5, 3] = 0.0
    X += offset
    model = OrderPreservingRegressor(target_loss="dcg", alpha=0.1, tol=1e-10)
    ours = clone(model).fit(X, y, sample_weight=w).coef_
    X, y, w = X[w > 0, :2], y[w > 0], w[w > 0]
    scaler = StandardScaler().fit(X, sample_weight=w)
    plain = (
        model.set_params(standardize=False)
        .fit(scaler.transform(X), y, sample_weight=w)
        .coef_
    )
    size = np.abs(plain).max()
    assert_allclose(ours[:, :2] * scaler.scale_, plain, atol=1e-7 * size)
    assert_allclose(ours[:, 2:], 0.0, atol=1e-7 * size)


def test_grades_beyond_the_range_are_refused():
    X, y = np.arange(8.0).reshape(4, 2), np.array([1.7, 1.6, 0.0, 1.5])
    with refused_by("overflow of the surrogate"):
        OrderPreservingRegressor(target_loss="dcg").fit(X, 1e308 * y)
    large = OrderPreservingRegressor(target_loss="dcg").fit(X, 1e200 * y).bound_factor_
    assert_allclose(
        large / 1e100,
        OrderPreservingRegressor(target_loss="dcg").fit(X, y).bound_factor_,
    )


@pytest.mark.parametrize("how", ["fit", "fit_blocks"])
@pytest.mark.parametrize("tol", [1e-5, 1e-9])
def test_float32_gives_the_model_of_float64(how, tol):
    """Also with as many features as rows, which needs all digits of double precision."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 70)).astype(np.float32)
    y, qid = rng.integers(0, 4, 80).astype(float), np.arange(80) // 8
    single, double = (OrderPreservingRegressor(alpha=1e-2, tol=tol) for _ in range(2))
    if how == "fit":
        single.fit(X, y, qid=qid)
    else:
        single.fit_blocks([(X[:40], y[:40], qid[:40]), (X[40:], y[40:], qid[40:])])
    double.fit(X.astype(np.float64), y, qid=qid)
    assert single.gradient_norm_ <= tol
    assert_allclose(single.coef_, double.coef_, rtol=0, atol=1e2 * tol)
