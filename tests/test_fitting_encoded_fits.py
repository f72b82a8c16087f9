"""Fits by sums over blocks: in one pass, batch by batch, and merged."""

import pickle
from operator import sub

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    merge,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking

from .block_cases import Once, blocks_of
from .reference import wide

DOCUMENTS = [
    {},
    {"target_loss": "map"},
    {"target_loss": "dcg", "centered": False},
    {"alpha": "auto"},
]


@pytest.fixture(scope="module")
def documents():
    X, y, qid = make_ranking(60, (1, 12), n_features=5, random_state=0)
    weights = np.random.default_rng(1).uniform(0.0, 2.0, len(y))
    weights[::7] = 0.0
    return X, y, qid, weights


@pytest.fixture(scope="module")
def items():
    data = make_label_ranking(60, 4, n_labels=5, n_grades=3, random_state=0)
    y = data.target.astype(float)
    y[np.random.default_rng(2).random(y.shape) < 0.2] = np.nan
    return data.data, y


def same(a, b):
    size = np.abs(b.coef_).max()
    assert_allclose(a.coef_, b.coef_, rtol=0, atol=1e-12 * size)
    assert_allclose(a.intercept_, b.intercept_, rtol=1e-11, atol=1e-12)
    assert (a.n_lists_, a.n_items_) == (b.n_lists_, b.n_items_)
    assert a.alpha_ == pytest.approx(b.alpha_, rel=1e-12)
    assert a.n_features_in_ == b.n_features_in_


def in_turn(model, blocks):
    model = clone(model)
    for X, y, qid, w in blocks:
        model.partial_fit(X, y, qid=qid, sample_weight=w)
    return model


def parts_of(model, blocks):
    return [
        clone(model).fit_blocks([block]) if i % 2 else clone(model).partial_fit(*block[:2],
        qid=block[2], sample_weight=block[3]) for i, block in enumerate(blocks)
    ]  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.float32])
@pytest.mark.parametrize("settings", DOCUMENTS)
def test_blocks_and_parts_of_documents_are_the_whole(documents, settings, kind):
    X, y, qid, w = documents
    X = (
        sparse.csr_matrix(X)
        if kind is sparse.csr_matrix
        else X.astype(np.float32).astype(float)
    )
    model = LowRankSurrogateRanker(**settings)
    whole = clone(model).fit(X, y, qid=qid, sample_weight=w)
    for seed in range(2):
        blocks = blocks_of(X, y, qid, w, seed=seed, n=2 + 6 * seed)
        if kind is np.float32:
            blocks = [(b[0].astype(np.float32), *b[1:]) for b in blocks]
        same(clone(model).fit_blocks(iter(blocks)), whole)
        same(in_turn(model, blocks), whole)
        same(merge(parts_of(model, blocks)), whole)
        same(merge(parts_of(model, blocks)[::-1]), whole)


@pytest.mark.parametrize("target_loss", ["dcg", "precision@2"])
def test_blocks_and_parts_of_items_with_gaps_are_the_whole(items, target_loss):
    X, y = items
    if target_loss == "precision@2":
        y = np.where(np.isnan(y), np.nan, y > 0)
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = LowRankSurrogateRanker(target_loss=target_loss, estimator="ridge")
    whole = clone(model).fit(X, y, sample_weight=w)
    for seed in range(3):
        blocks = blocks_of(X, y, None, w, seed=seed)
        same(clone(model).fit_blocks(blocks), whole)
        same(in_turn(model, blocks), whole)
        same(merge(parts_of(model, blocks)), whole)


def test_one_pass(documents):
    X, y, qid, w = documents
    blocks = Once(blocks_of(X, y, qid, w))
    model = LowRankSurrogateRanker().fit_blocks(blocks)
    assert blocks.passes == 1
    pickle.loads(pickle.dumps(model)).partial_fit(X, y, qid=qid + 1000)


@pytest.mark.filterwarnings("ignore:No label has any utility")
def test_wrong_blocks_are_refused_and_change_nothing(documents):
    X, y, qid, _ = documents
    ranker = LowRankSurrogateRanker(alpha=0.1).fit(X, y, qid=qid)
    before = ranker.coef_
    half = int(np.flatnonzero(qid[1:] == qid[:-1])[0]) + 1
    cut = [(X[:half], y[:half], qid[:half]), (X[half:], y[half:], qid[half:])]
    for blocks, message in [
        (cut, "is split"),
        ([(X, y, qid), (X, y, qid + 1000), (X[:3], y[:3], qid[:3])], "is split"),
        ([], "no blocks"),
        ([(X, y, qid), (X[:0], y[:0], qid[:0])], "Block 2 has no rows"),
        ([(X, y, qid), (X[:, :2], y, qid + 100)], "features"),
        ([(X,)], "tuple"),
        ([X], "tuple"),
        ([(X, y, qid), (X, np.column_stack([y, y]))], "estimator='ridge'"),
    ]:
        with pytest.raises(ValueError, match=message):
            ranker.fit_blocks(blocks)
        assert ranker.coef_ is before
    with pytest.raises(TypeError, match="iterable"):
        ranker.fit_blocks(3)
    with pytest.raises(ValueError, match="is split"):
        merge([clone(ranker).fit(*block[:2], qid=block[2]) for block in cut])
    assert not hasattr(LowRankSurrogateRanker(estimator=Ridge()), "fit_blocks")
    y = np.column_stack([y, np.full(len(y), np.nan)])
    with pytest.raises(ValueError, match="judges this item"):
        LowRankSurrogateRanker(target_loss="dcg", estimator="ridge").fit_blocks(
            [(X, y)]
        )


def test_batches_may_be_dense_and_sparse(items):
    X, y = items
    X = X * (np.random.default_rng(1).random(X.shape) < [0.1, 0.4, 0.5, 0.6, 1.0])
    ridge = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge")
    rows, more = slice(0, len(y) // 3), slice(len(y) // 3, None)
    batches = [(sparse.csr_matrix(X[rows]), y[rows]), (X[more], y[more])]
    for parts in (batches, batches[::-1]):
        model = clone(ridge)
        for part in parts:
            model.partial_fit(*part)
        same(model, clone(ridge).fit(X, y))
        same(clone(ridge).fit_blocks([(*part, None) for part in parts]), model)


def test_batches_are_of_one_layout(items):
    X, y = items
    model = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge").partial_fit(
        X, y
    )
    with pytest.raises(ValueError, match="had 4 items in each row, this one has 2"):
        model.partial_fit(X, y[:, :2])


def test_parts_of_the_same_features_with_other_labels_are_merged():
    X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [4.0, 1.0]]
    ridge = LowRankSurrogateRanker()
    parts = [
        clone(ridge).fit(X, y, qid=ids)
        for y, ids in (([0, 1, 0, 1], list("aabb")), ([1, 0, 0, 1], list("ccdd")))
    ]
    whole = clone(ridge).fit(X + X, [0, 1, 0, 1, 1, 0, 0, 1], qid=list("aabbccdd"))
    same(merge(parts), whole)


def test_what_cannot_be_merged_is_named(documents):
    X, y, qid, _ = documents
    one = LowRankSurrogateRanker(alpha=0.1).fit(X, y, qid=qid)
    iterated = LowRankSurrogateRanker().fit(wide(X), y, qid=qid)
    auto = LowRankSurrogateRanker().fit(X, y, qid=qid)
    other = OrderPreservingRegressor().fit(X, y, qid=qid)
    for models, message in [
        ([], "no models"),
        ([one, other], "one class"),
        ([other, other], r"OrderPreservingRegressor\(...\).fit_blocks\("),
        (
            [one, clone(one).set_params(target_loss="map").fit(X, y, qid=qid + 100)],
            "parameters",
        ),
        ([iterated, clone(iterated).fit(wide(X), y, qid=qid)], "no sums"),
        ([auto, auto], "equal sums"),
        ([auto, clone(auto).fit(X, y, qid=qid)], "equal sums"),
        ([one, clone(one).fit(X[:, :2], y, qid=qid)], "same columns"),
    ]:
        with pytest.raises(ValueError, match=message):
            merge(models)


PAIRS = [{}, {"decoder": "score"}, {"alpha": 0.1}]


@pytest.mark.parametrize("settings", PAIRS)
def test_blocks_and_parts_of_differences_are_the_whole(documents, settings):
    X, y, qid, w = documents
    model = PairwiseDAGRanker(**settings)
    whole = clone(model).fit(X, y, qid=qid, sample_weight=w)
    for seed in range(2):
        blocks = blocks_of(X, y, qid, w, seed=seed)
        for found in (
            clone(model).fit_blocks(iter(blocks)),
            merge(parts_of(model, blocks)),
        ):
            same(found, whole)
            assert_allclose(found.predict(X), whole.predict(X), atol=1e-11)


@pytest.mark.parametrize("settings", [*PAIRS[:2], {"decoder": "auto"}])
def test_blocks_and_parts_of_preferences_are_the_whole(items, settings):
    X, y = items
    w = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = PairwiseDAGRanker(estimator="ridge", **settings)
    y = np.nan_to_num(y)
    whole = clone(model).fit(X, y, sample_weight=w)
    blocks = blocks_of(X, y, None, w)
    for found in (
        clone(model).fit_blocks(iter(blocks)),
        merge(parts_of(model, blocks)),
    ):
        same(found, whole)
        assert found.decoder_ == whole.decoder_
        assert_allclose(found.predict(X), whole.predict(X), atol=1e-11)
        if hasattr(whole, "votes_"):
            assert_allclose(found.votes_, whole.votes_, rtol=1e-12)
    assert not hasattr(PairwiseDAGRanker(pair_features=sub), "fit_blocks")
