"""Measures and scorers of sparse y, whose values are those of dense y."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    make_ranking_scorer,
)
from lowrank_rank.evaluation import compare_rankers, per_query

from .internals import names_of, resolve_measure
from .refusals import refused_by

N, P = 40, 6


def labels(rng, n, r, density=0.1):
    """Grades 0 to 3, with a row of zeros."""
    y = (rng.random((n, r)) < density) * rng.integers(1, 4, (n, r)).astype(float)
    y[3] = 0.0
    return y


@pytest.mark.parametrize(
    "name", [*names_of(lambda one: one.labels != "any"), "eru", "mrr", "err"]
)
def test_measures_of_sparse_labels_with_ties(name):
    rng = np.random.default_rng(7)
    y, scores = labels(rng, 30, 20, 0.3), rng.integers(0, 4, (30, 20)).astype(float)
    y[:, 7] = 0.0
    weights, measure = rng.random(30), resolve_measure(name)
    for average in ("mean", None):
        options = {"sample_weight": weights, "average": average, "zero_division": 0.5}
        found = measure.measure(sparse.coo_matrix(y), scores, **options)
        np.testing.assert_allclose(
            found, measure.measure(y, scores, **options), atol=1e-15
        )


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


def test_scorers_and_tables():
    rng = np.random.default_rng(8)
    X, y = rng.standard_normal((N, P)), labels(rng, N, 30)
    Y = sparse.csr_matrix(y)
    ranker = LowRankSurrogateRanker(target_loss="precision@5").fit(X, y)
    weights = rng.random(N)
    assert ranker.score(X, Y, weights) == pytest.approx(
        ranker.score(X, y, weights), abs=1e-15
    )
    assert ranker.score(X.tolist(), Y) == pytest.approx(ranker.score(X, y), abs=1e-15)
    scorer = make_ranking_scorer(["ndcg@5", "map"])
    model = make_pipeline(StandardScaler(), ranker).fit(X, y)
    assert scorer(model, X, Y) == pytest.approx(scorer(model, X, y), abs=1e-15)
    scores = ranker.predict(X)
    pairs = [per_query(labels, scores, measure=["map"]) for labels in (Y, y)]
    np.testing.assert_array_equal(pairs[0]["map"], pairs[1]["map"])
    rankers = {"a": ranker, "b": rng.random(y.shape)}
    found = [compare_rankers(t, rankers, X=X).mean for t in (Y, y)]
    np.testing.assert_allclose(found[0], found[1], atol=1e-15)


# Bad input --------------------------------------------------------------------------


GOOD = sparse.csr_matrix([[1.0, 0, 0], [0, 2.0, 0], [1.0, 0, 1.0]])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-2.0, r"y_true\[1, 1\] is -2: .* must be finite and >= 0"),
        (np.nan, r"y_true\[1, 1\] is nan: .* needs a dense y"),
        (np.inf, r"y_true\[1, 1\] is inf"),
    ],
)
def test_measures_name_the_place_of_a_wrong_entry(value, message):
    y = GOOD.copy()
    y[1, 1] = value
    with pytest.raises(ValueError, match=message):
        resolve_measure("ndcg").measure(y, np.ones((3, 3)))


def test_measures_refuse_scores_of_another_shape_one_column_and_qid():
    with refused_by("another shape of scores"):
        resolve_measure("ndcg").measure(GOOD, np.ones((3, 2)))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        resolve_measure("ndcg").measure(GOOD, np.ones((4, 3)))
    with refused_by("sparse grades of documents"):
        resolve_measure("ndcg").measure(GOOD[:, :1], np.ones((3, 1)))
    with refused_by("ids beside a matrix"):
        resolve_measure("ndcg").measure(GOOD, np.ones((3, 3)), qid=[0, 0, 1])


@pytest.mark.parametrize(
    "ranker", [LowRankSurrogateRanker(), OrderPreservingRegressor()]
)
def test_rankers_are_fitted_to_dense_labels(ranker):
    for fit in (
        getattr(ranker, name)
        for name in ("fit", "partial_fit")
        if hasattr(ranker, name)
    ):
        with pytest.raises(
            TypeError, match=r"for y, but dense data is required.*\.toarray\(\)"
        ):
            fit(np.eye(3), GOOD)
    assert not hasattr(ranker, "coef_")
