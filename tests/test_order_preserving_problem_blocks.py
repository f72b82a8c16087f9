"""Linear scores under a surrogate over blocks: the same model however the lists are cut."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from lowrank_rank import OrderPreservingRegressor
from lowrank_rank.datasets import make_label_ranking, make_ranking

from .block_cases import Once, blocks_of

DOCUMENTS = [
    {},
    {"surrogate": "pointwise_logistic", "target_loss": "dcg"},  # an eta of all labels
    {"surrogate": "pairwise_squared", "target_loss": "dcg@5"},  # closed form, by lists
    {"surrogate": "pointwise_squared", "fit_intercept": False},  # iterated: not centred
    {"surrogate": "ranksvm", "standardize": False},
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
    assert_allclose([a.loss_, a.bound_factor_], [b.loss_, b.bound_factor_], rtol=1e-9)
    assert (a.n_lists_, a.n_items_, a._has_qid_) == (b.n_lists_, b.n_items_, b._has_qid_)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.float32])
@pytest.mark.parametrize("settings", DOCUMENTS)
def test_blocks_of_documents_are_the_whole(documents, settings, kind):
    X, y, qid, w = documents
    X = X.astype(np.float32) if kind is np.float32 else kind(X)
    model = OrderPreservingRegressor(tol=1e-12, **settings)
    whole = clone(model).fit(X, y, qid=qid, sample_weight=w)
    for seed in range(2):
        same(clone(model).fit_blocks(blocks_of(X, y, qid, w, n=2 + 4 * seed, seed=seed)), whole)


@pytest.mark.parametrize("surrogate", ["pointwise_squared", "cross_entropy"])
def test_blocks_of_items_with_gaps_are_the_whole(surrogate):
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    X, y = data.data, data.target.astype(float)
    y[np.random.default_rng(2).random(y.shape) < 0.1] = np.nan
    model = OrderPreservingRegressor(target_loss="dcg", surrogate=surrogate, tol=1e-12)
    whole = clone(model).fit(X, y)
    same(clone(model).fit_blocks(blocks_of(X, y)), whole)


def test_blocks_are_read_once_for_an_evaluation(documents):
    X, y, qid, w = documents
    blocks = Once(blocks_of(X, y, qid, w))
    model = OrderPreservingRegressor().fit_blocks(blocks)
    assert model.n_iter_ + 3 <= blocks.passes <= 1.2 * model.n_iter_ + 8
    blocks = Once(blocks.blocks)
    OrderPreservingRegressor(surrogate="pairwise_squared").fit_blocks(blocks)
    assert blocks.passes == 5  # columns, facts, statistics, value, ends


def test_wrong_blocks_are_refused_and_change_nothing(documents):
    X, y, qid, _ = documents
    ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    before = ranker.coef_
    whole = (X, y, qid)
    half = int(np.flatnonzero(qid[1:] == qid[:-1])[0]) + 1
    for blocks, message in [
        (iter([whole]), "read only once"),
        ((block for block in [whole]), "__iter__ starts anew"),
        ([], "no blocks"),
        ([tuple(a[:half] for a in whole), tuple(a[half:] for a in whole)], "is cut"),
        ([whole, (X, y, qid + 100), tuple(a[:half] for a in whole)], "is cut"),
        ([whole, (X[:, :2], y, qid + 100)], "features"),
        ([whole, (X, np.column_stack([y, y]))], "layouts"),
        ([(X, y + np.nan, qid)], "NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.fit_blocks(blocks)
        assert ranker.coef_ is before


def test_an_item_that_is_never_relevant_is_seen_over_all_blocks():
    X, y = np.ones((4, 1)), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]] * 2)
    with pytest.warns(ConvergenceWarning, match=r"items \[2\]"):
        OrderPreservingRegressor(target_loss="dcg").fit_blocks([(X[:1], y[:1]), (X[1:], y[1:])])


def test_warm_start_and_names_of_columns(documents):
    pd = pytest.importorskip("pandas")
    X, y, qid, _ = documents
    X = pd.DataFrame(X, columns=list("abcd"))
    model = OrderPreservingRegressor(warm_start=True).fit_blocks([(X, y, qid)])
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.fit_blocks([(X, y, qid)]).n_iter_ <= 2


def test_rows_that_judge_no_item_count_in_the_penalty():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 20)), rng.integers(0, 3, (60, 4)).astype(float)
    y[:20] = np.nan
    model = OrderPreservingRegressor(target_loss="dcg").fit(X, y)
    assert model.alpha_ == pytest.approx(0.5 * 20 / 60 * (20 / 50) ** 2)
