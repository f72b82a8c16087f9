"""The default penalties: the table of the guide, and weights that count rows."""

from operator import sub

import numpy as np
import pytest
from scipy import sparse

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
)

from .reference import wide

RNG = np.random.default_rng(0)
N, P = 120, 6
X = RNG.normal(size=(N, P))
GRADES = RNG.integers(0, 3, (N, 4)).astype(float)
GRADES[:, 0] = np.arange(N) % 3
GAPS = np.where(RNG.random((N, 4)) < 0.2, np.nan, GRADES)
SETS = (GRADES > 1).astype(int)
QID = np.arange(N) // 10
WORDS = sparse.csr_matrix(np.where(X > 1.0, X, 0.0))
F = P / N
G = P / 100
M = np.minimum(2.0 * WORDS.getnnz(axis=0) / N, 1.0).sum()
F_WORDS, G_WORDS = M / N, M / 100
DCG = {"target_loss": "dcg"}


def fitted(model, X, y, weights=None, qid=None):
    more = {} if qid is None else {"qid": qid}
    return model.fit(X, y, sample_weight=weights, **more)


CASES = {
    "documents": (LowRankSurrogateRanker(), X, GRADES[:, 0], QID, max(0.1, 10 * F)),
    "documents, sparse": (LowRankSurrogateRanker(), WORDS, GRADES[:, 0], QID, max(0.1, 10 * F)),
    "documents, pairs": (PairwiseDAGRanker(), X, GRADES[:, 0], QID, max(0.1, 10 * F)),
    "documents, features of pairs": (
        PairwiseDAGRanker(pair_features=sub), X, GRADES[:, 0], QID, max(0.1, 10 * F),
    ),
    "documents, cross-entropy": (
        OrderPreservingRegressor(), X, GRADES[:, 0], QID, max(0.1, 10 * F),
    ),
    "items": (LowRankSurrogateRanker(), X, GRADES, None, 0.5 * F * G),
    "items, pairs": (PairwiseDAGRanker(), X, GRADES, None, 0.5 * F * G),
    "items, cross-entropy": (
        OrderPreservingRegressor(), X, GRADES, None, 0.5 * F * G,
    ),
    "items, ridge": (
        LowRankSurrogateRanker(estimator="ridge"), X, GRADES, None, 3 * F * G,
    ),
    "items, missing": (LowRankSurrogateRanker(**DCG), X, GAPS, None, 3 * F),
    "items, missing, cross-entropy": (
        OrderPreservingRegressor(**DCG), X, GAPS, None, 0.5 * F * G,
    ),
    "items, sparse": (LowRankSurrogateRanker(), WORDS, GRADES, None, 0.5 * F_WORDS * G_WORDS),
    "items, sparse, ridge": (
        LowRankSurrogateRanker(estimator="ridge"), WORDS, GRADES, None, 3 * F_WORDS * G_WORDS,
    ),
    "items, sparse, cross-entropy": (
        OrderPreservingRegressor(), WORDS, GRADES, None, 0.5 * F_WORDS * G_WORDS,
    ),
    "classes": (LowRankSurrogateClassifier(), X, GRADES[:, 0], None, 0.1 * F * G),
    "classes, ridge": (
        LowRankSurrogateClassifier(estimator="ridge"), X, GRADES[:, 0], None, F * G,
    ),
    "classes, sparse": (
        LowRankSurrogateClassifier(), WORDS, GRADES[:, 0], None, 0.1 * F_WORDS * G_WORDS,
    ),
    "classes, sparse, ridge": (
        LowRankSurrogateClassifier(estimator="ridge"), WORDS, GRADES[:, 0], None,
        F_WORDS * G_WORDS,
    ),
    "sets": (LowRankSurrogateMultilabelClassifier(), X, SETS, None, 0.2 * F * G),
    "sets, ridge": (
        LowRankSurrogateMultilabelClassifier(estimator="ridge"), X, SETS, None, F * G,
    ),
    "sets, sparse": (
        LowRankSurrogateMultilabelClassifier(), WORDS, SETS, None, 0.2 * F_WORDS * G_WORDS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_penalty_of_auto_is_the_formula_and_weights_count_rows(case):
    model, X, y, qid, expected = CASES[case]
    assert fitted(model, X, y, qid=qid).alpha_ == pytest.approx(expected)
    ones = fitted(model, X, y, np.full(N, 1e-3 / N), qid).alpha_
    few = fitted(model, X, y, np.full(N, 0.05), qid).alpha_  # as of 6 rows
    many = fitted(model, X, y, np.full(N, 100.0), qid).alpha_
    assert 1.001 * ones > few > expected >= many
    if not sparse.issparse(X):
        six = fitted(model, X[:6], y[:6], qid=None if qid is None else qid[:6])
        assert ones == pytest.approx(few) == pytest.approx(six.alpha_)


@pytest.mark.parametrize("n_features", [49, 99, 101, 200])
def test_few_features_have_a_smaller_penalty(n_features):
    X, y = RNG.normal(size=(80, n_features)), GRADES[:80]
    f, g = min(n_features / 80, 1.0), min(n_features / 100, 1.0)
    assert LowRankSurrogateRanker().fit(X, y).alpha_ == pytest.approx(0.5 * f * g)
    ridge = LowRankSurrogateRanker(estimator="ridge")
    assert ridge.fit(X, y).alpha_ == pytest.approx(3 * f * g)
    assert LowRankSurrogateClassifier().fit(X, y[:, 0]).alpha_ == pytest.approx(0.1 * f * g)


def test_rows_with_missing_labels_count_and_rows_of_weight_zero_do_not():
    y, weights = GAPS.copy(), np.ones(N)
    y[:100] = np.nan
    y[100:] = GRADES[100:]
    model = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge")
    assert model.fit(X, y).alpha_ == pytest.approx(3 * F)
    weights[:100] = 0.0
    assert model.fit(X, y, sample_weight=weights).alpha_ == pytest.approx(3 * 6 / 20 * G)


def test_iterations_have_the_penalty_of_the_closed_form():
    many = np.hstack([X, np.ones((N, 4000))])
    for rows, model, y, qid, expected in [
        (wide(X), LowRankSurrogateRanker(), GRADES[:, 0], QID, 10.0),
        (many, LowRankSurrogateRanker(**DCG), GAPS, None, 3.0),
    ]:
        found = fitted(model, rows, y, qid=qid)
        assert (found.solver_, found.alpha_) == ("lsqr", expected)
