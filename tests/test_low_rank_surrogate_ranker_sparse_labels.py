"""LowRankSurrogateRanker with sparse y: model of dense y, best items, scorers, bad input."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    compare_rankers,
    make_ranking_scorer,
    merge,
)
from lowrank_rank.metrics import per_query
from lowrank_rank.target_losses import (
    ExpectedRankUtility,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
    PropensityScoredPrecisionAtK,
)

from .internals import names_of, resolve_measure

N, P, R = 40, 6, 2100  # more labels than a block of scores has


def labels(rng, n=N, r=R, density=0.1):
    """Grades 0 to 3 with an empty row, an empty column and equal columns far apart."""
    y = (rng.random((n, r)) < density) * rng.integers(1, 4, (n, r)).astype(float)
    y[3], y[:, 4] = 0.0, 0.0
    y[:, 1] = y[:, 7] = y[:, -2]
    return y


def features(rng, layout, n=N):
    X = rng.standard_normal((n, P))
    if layout == "dense":
        return X + 1e3
    X *= rng.random((n, P)) < 0.5
    X[:, 2] = 5.0 + rng.random(n)  # a column without zeros
    X[:, 3] = 0.0
    return sparse.csr_matrix(X)


LOSSES = [
    "precision@5",
    "wta",
    "recall@3",
    "gain@2",
    "dcg",
    "dcg_exp@4",
    "ndcg",
    "ndcg@3",
    "ndcg_exp@5",
    ExpectedRankUtility(neutral=1.0),
    MeanAveragePrecision(),
    PrecisionAtK(2, relevance_threshold=2),
    PairwiseDisagreement("difference"),
    PropensityScoredPrecisionAtK(3, np.linspace(0.2, 1.0, R)),
]


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: str(loss)[:40])
def test_the_model_is_that_of_dense_labels(loss, layout):
    rng = np.random.default_rng(0)
    X, y, weights = features(rng, layout), labels(rng), rng.integers(0, 3, N).astype(float)
    ranker = LowRankSurrogateRanker(target_loss=loss, estimator="ridge", decoder="sort", alpha=0.3)
    dense = clone(ranker).fit(X, y, sample_weight=weights)
    found = clone(ranker).fit(X, sparse.csr_matrix(y), sample_weight=weights)
    np.testing.assert_allclose(found.coef_, dense.coef_, atol=1e-10)
    np.testing.assert_allclose(found.intercept_, dense.intercept_, atol=1e-10 * 1e3)
    assert (found.n_items_, found.n_lists_) == (dense.n_items_, dense.n_lists_)


def test_ridge_of_scikit_learn_is_the_same():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((N, P)), (labels(rng) > 0).astype(float)
    ridge = make_pipeline(StandardScaler(), Ridge(alpha=0.3 * N)).fit(X, y)
    ranker = LowRankSurrogateRanker(target_loss="precision@5", alpha=0.3)
    found = ranker.fit(X, sparse.csr_matrix(y)).predict(X)
    np.testing.assert_allclose(found, ridge.predict(X), atol=1e-12)


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.csc_matrix, sparse.csr_array])
def test_entries_in_any_order_duplicates_and_explicit_zeros(kind):
    rng = np.random.default_rng(2)
    X, y = features(rng, "dense"), labels(rng)
    ranker = LowRankSurrogateRanker(target_loss="ndcg")
    expected = clone(ranker).fit(X, sparse.csr_matrix(y))
    rows, columns = np.nonzero(y)
    order = rng.permutation(2 * len(rows))
    halves = np.tile(y[rows, columns] / 2.0, 2)[order]  # each entry is the sum of two
    places = np.tile(rows, 2)[order], np.tile(columns, 2)[order]
    zeros = rng.integers(N, size=50), rng.integers(R, size=50)
    data = np.append(halves, np.zeros(50)), tuple(map(np.append, places, zeros))
    messy = kind(sparse.coo_matrix(data, shape=y.shape))
    before = messy.copy()
    found = clone(ranker).fit(X, messy)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-14)
    assert found.score(X, messy) == pytest.approx(expected.score(X, y), abs=1e-15)
    assert (messy != before).nnz == 0
    assert messy.nnz == before.nnz


def test_duplicates_inside_a_csr_matrix_are_summed_and_stay():
    y = sparse.csr_matrix(([2.0, 1.0, -1.0], [1, 0, 1], [0, 3, 3]), shape=(2, 2))
    ranker = LowRankSurrogateRanker(target_loss="precision@1").fit([[0.0], [1.0]], y)
    dense = clone(ranker).set_params(estimator="ridge", alpha=ranker.alpha_)
    np.testing.assert_allclose(ranker.coef_, dense.fit([[0.0], [1.0]], y.toarray()).coef_)
    assert y.nnz == 3


def test_coefficients_have_the_type_of_x():
    rng = np.random.default_rng(3)
    y = sparse.csr_matrix(labels(rng))
    for layout in ("dense", "sparse"):
        X = features(rng, layout)
        ranker = LowRankSurrogateRanker(target_loss="precision@5")
        double, single = clone(ranker).fit(X, y), clone(ranker).fit(X.astype(np.float32), y)
        assert (double.coef_.dtype, single.coef_.dtype) == (np.float64, np.float32)
        np.testing.assert_allclose(single.coef_, double.coef_, rtol=1e-3, atol=1e-5)
        assert single.rank_top(X.astype(np.float32), 3)[1].dtype == np.float32


def test_a_constant_feature_has_no_coefficient():
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((N, P)), sparse.csr_matrix(labels(rng))
    X[:, 0] = 0.1  # the mean differs from 0.1 by rounding
    for alpha in (0.0, 1e-9):
        ranker = LowRankSurrogateRanker(target_loss="precision@5", alpha=alpha).fit(X, y)
        assert not ranker.coef_[:, 0].any()


def test_the_default_penalty_is_that_of_dense_labels():
    rng = np.random.default_rng(4)
    y, X = sparse.csr_matrix(labels(rng)), features(rng, "dense")
    ranker = LowRankSurrogateRanker(target_loss="precision@5")
    assert ranker.fit(X, y).alpha_ == pytest.approx(3.0 * P / N * P / 100)
    assert ranker.fit(X[:8], y[:8]).alpha_ == pytest.approx(3.0 * P / 8 * P / 100)
    few = ranker.fit(X, y, sample_weight=np.full(N, 0.2)).alpha_  # as of eight rows
    assert few == pytest.approx(3.0 * P / 8 * P / 100)
    X = features(rng, "sparse")[:8]
    for form in (X, X.toarray()):
        dense = clone(ranker).set_params(estimator="ridge").fit(form, y[:8].toarray())
        assert ranker.fit(form, y[:8]).alpha_ == pytest.approx(dense.alpha_)


def test_no_label_at_all():
    ranker = LowRankSurrogateRanker(target_loss="ndcg")
    with pytest.warns(UserWarning, match="No label has any utility for NDCG.*largest is 0"):
        ranker.fit(np.eye(3), sparse.csr_matrix((3, 5)))
    assert not ranker.coef_.any()
    columns, scores = ranker.rank_top(np.eye(3), 2)
    assert columns.tolist() == [[0, 1]] * 3
    assert not scores.any()


# The best items ---------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("k", [1, 5, 1500, R + 9])
def test_rank_top_is_a_stable_sort(k, layout):
    """Equal columns of y are equal scores, in one block of items and in different ones."""
    rng = np.random.default_rng(5)
    X, y = features(rng, layout), labels(rng)
    ranker = LowRankSurrogateRanker(target_loss="precision@5").fit(X, sparse.csr_matrix(y))
    X = sparse.vstack([X] * 30).tocsr() if layout == "sparse" else np.tile(X, (30, 1))
    X = X if k == 5 else X[:50]
    scores = ranker.predict(X)
    assert np.all(scores[:, 1] == scores[:, -2])
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    columns, best = ranker.rank_top(X, k)
    np.testing.assert_array_equal(columns, order)
    np.testing.assert_array_equal(best, np.take_along_axis(scores, order, axis=1))


def test_rank_top_when_nearly_all_scores_are_tied():
    y = np.zeros((3, R))
    y[:, [5, 1100, 2099]] = [[1, 1, 0], [0, 1, 1], [1, 1, 1]]
    ranker = LowRankSurrogateRanker(target_loss="precision@5", alpha=0.0)
    ranker.fit(np.eye(3), sparse.csr_matrix(y))
    order = np.argsort(-ranker.predict(np.eye(3)), axis=1, kind="stable")
    np.testing.assert_array_equal(ranker.rank_top(np.eye(3), 6)[0], order[:, :6])


@pytest.mark.parametrize("estimator", ["auto", "trees", LinearRegression()])
def test_rank_top_of_dense_labels_and_other_models(estimator):
    rng = np.random.default_rng(6)
    X, y = rng.standard_normal((N, P)), labels(rng, r=9, density=0.5)
    ranker = LowRankSurrogateRanker(target_loss="ndcg", estimator=estimator, random_state=0)
    ranks = ranker.fit(X, y).rank(X)
    np.testing.assert_array_equal(ranker.rank_top(X, 9)[0], np.argsort(ranks, axis=1))


def test_rank_top_refuses_documents_and_other_decoders():
    X, y = np.arange(6.0).reshape(6, 1), np.array([0, 1, 0, 1, 1, 0])
    documents = LowRankSurrogateRanker(target_loss="ndcg").fit(X, y)
    with pytest.raises(ValueError, match="this model ranks documents, no items by 'sort'"):
        documents.rank_top(X)
    exact = LowRankSurrogateRanker(target_loss="map").fit(X, np.eye(6)[:, :3])
    with pytest.raises(ValueError, match="ranks 3 items by 'exact': use rank"):
        exact.rank_top(X)
    with pytest.raises(ValueError, match="k must be an integer >= 1"):
        LowRankSurrogateRanker(target_loss="ndcg").fit(X, np.eye(6)[:, :3]).rank_top(X, k=0)


# Measures and scorers ---------------------------------------------------------------


@pytest.mark.parametrize("name", [*names_of(lambda one: one.labels != "any"), "eru", "mrr", "err"])
def test_measures_of_sparse_labels_with_ties(name):
    rng = np.random.default_rng(7)
    y, scores = labels(rng, 30, 20, 0.3), rng.integers(0, 4, (30, 20)).astype(float)
    y[:, 7] = 0.0
    weights, measure = rng.random(30), resolve_measure(name)
    for average in ("mean", None):
        options = {"sample_weight": weights, "average": average, "zero_division": 0.5}
        found = measure.measure(sparse.coo_matrix(y), scores, **options)
        np.testing.assert_allclose(found, measure.measure(y, scores, **options), atol=1e-15)


def test_measures_of_sparse_labels_in_several_batches():
    """The measure asks for the scores of some rows at a time, in their order."""
    n, r, asked = 5, 4_000_000, []
    y = sparse.csr_matrix((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, r))

    def scores_of(rows):
        asked.append(rows)
        return np.tile(-np.arange(float(r)), (len(rows), 1))

    found = resolve_measure("dcg").measure(y, scores_of, average=None)
    np.testing.assert_allclose(found, 1.0 / np.log2(np.arange(n) + 2.0))
    assert len(asked) > 1
    np.testing.assert_array_equal(np.concatenate(asked), np.arange(n))


def test_scorers_searches_and_tables():
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((N, P)), labels(rng, r=30)
    Y = sparse.csr_matrix(y)
    ranker = LowRankSurrogateRanker(target_loss="precision@5").fit(X, Y)
    weights = rng.random(N)
    assert ranker.score(X, Y, weights) == pytest.approx(ranker.score(X, y, weights), abs=1e-15)
    assert ranker.score(X.tolist(), Y) == pytest.approx(ranker.score(X, y), abs=1e-15)
    scorer = make_ranking_scorer(["ndcg@5", "map"])
    model = make_pipeline(StandardScaler(), ranker).fit(X, Y)
    assert scorer(model, X, Y) == pytest.approx(scorer(model, X, y), abs=1e-15)
    scores = ranker.predict(X)
    pairs = [per_query(labels, scores, measures=["map"]) for labels in (Y, y)]
    np.testing.assert_array_equal(pairs[0]["map"], pairs[1]["map"])
    rankers = {"a": ranker, "b": rng.random(y.shape)}
    found = [compare_rankers(t, rankers, X=X, random_state=0).mean for t in (Y, y)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-15)
    grid = {"alpha": [0.1, 1.0], "target_loss": ["precision@3", "ndcg"]}
    search = GridSearchCV(ranker, grid, scoring=make_ranking_scorer("ndcg"), cv=2)
    assert search.fit(X, Y).best_score_ > 0


# Bad input --------------------------------------------------------------------------


X = np.arange(6.0).reshape(3, 2)
GOOD = sparse.csr_matrix([[1.0, 0, 0], [0, 2.0, 0], [1.0, 0, 1.0]])


def changed(value):
    y = GOOD.copy()
    y[1, 1] = value
    return y


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (changed(-2.0), r"y\[1, 1\] is -2: .* must be finite and >= 0"),
        (changed(np.nan), r"y\[1, 1\] is nan: .* needs a dense y"),
        (changed(np.inf), r"y\[1, 1\] is inf"),
        (GOOD[:, :1], "with one column, and grades of documents must be dense"),
        (GOOD[:2], "inconsistent numbers of samples"),
    ],
)
def test_labels_that_are_refused(y, message):
    ranker = LowRankSurrogateRanker(target_loss="precision@1")
    with pytest.raises(ValueError, match=message):
        ranker.fit(X, y)
    assert not hasattr(ranker, "coef_")


@pytest.mark.parametrize("value", [-2.0, np.nan])
def test_measures_name_the_place_too(value):
    with pytest.raises(ValueError, match=r"y_true\[1, 1\] is"):
        resolve_measure("ndcg").measure(changed(value), np.ones((3, 3)))


def test_measures_refuse_scores_of_another_shape_and_qid():
    with pytest.raises(ValueError, match=r"y_score has shape \(3, 2\) but y_true has shape"):
        resolve_measure("ndcg").measure(GOOD, np.ones((3, 2)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        resolve_measure("ndcg").measure(GOOD, np.ones((4, 3)))
    with pytest.raises(ValueError, match="takes no qid"):
        resolve_measure("ndcg").measure(GOOD, np.ones((3, 3)), qid=[0, 0, 1])


@pytest.mark.parametrize(
    "loss",
    [
        "auc",
        "spearman",
        "pd",
        "kendall",
        "prbep",
        ExpectedRankUtility(neutral=-1.0),
        PrecisionAtK(2, relevance_threshold=0.0),
    ],
)
def test_losses_whose_targets_are_not_0_where_y_is(loss):
    works = "alone: precision@10, recall@10, dcg, gain@10, ndcg, eru, map, with"
    with pytest.raises(ValueError, match=f"needs a dense y, .* {works}"):
        LowRankSurrogateRanker(target_loss=loss).fit(X, GOOD)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target_loss": "map"}, "needs a dense y, .* takes decoder='sort'"),
        ({"decoder": lambda u, n_items: u}, "needs a dense y, .* takes decoder='sort'"),
        ({"estimator": "logistic"}, "estimator='logistic' needs a dense y"),
        ({"estimator": "trees"}, "estimator='trees' needs a dense y"),
        ({"estimator": LinearRegression()}, r"estimator=LinearRegression\(\) needs a dense y"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        LowRankSurrogateRanker(**{"target_loss": "precision@1", **parameters}).fit(X, GOOD)


@pytest.mark.parametrize("estimator", ["auto", "ridge"])
def test_sums_are_of_dense_labels(estimator):
    ranker = LowRankSurrogateRanker(target_loss="precision@1", estimator=estimator)
    for add in (lambda: ranker.partial_fit(X, GOOD), lambda: ranker.fit_blocks([(X, GOOD)])):
        with pytest.raises(ValueError, match=r"need a dense y, .* a sparse y goes to fit"):
            add()
    with pytest.raises(ValueError, match="has no sums"):
        merge([ranker.fit(X, GOOD), clone(ranker).fit(X, GOOD)])


def test_other_estimators_refuse_sparse_labels():
    with pytest.raises(TypeError, match="dense data is required"):
        OrderPreservingRegressor().fit(X, GOOD)


def test_scores_of_rare_labels_divided_by_propensities_are_the_same_model():
    """The docstring of the loss says so of linear models."""
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((N, P)), labels(rng, r=30)
    p = PropensityScoredPrecisionAtK.label_propensities(y)
    plain = LowRankSurrogateRanker(target_loss="precision@3").fit(X, sparse.csr_matrix(y))
    loss = PropensityScoredPrecisionAtK(3, p)
    scored = clone(plain).set_params(target_loss=loss).fit(X, sparse.csr_matrix(y))
    np.testing.assert_allclose(scored.predict(X), plain.predict(X) / p, atol=1e-12)
