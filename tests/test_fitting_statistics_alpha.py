"""The default penalty: one rule for every linear model, and weights that count lists."""

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
    merge,
)
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
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
M = np.minimum(2.0 * WORDS.getnnz(axis=0) / N, 1.0).sum()
DCG = {"target_loss": "dcg"}
RIDGE = {"estimator": "ridge"}
LABELS = GRADES[:, 0]
THREE = np.digitize(X[:, 0], [-0.5, 0.5])


def fitted(model, X, y, weights=None, qid=None):
    more = {} if qid is None else {"qid": qid}
    return model.fit(X, y, sample_weight=weights, **more)


#: Model, features, labels, ids of documents, and c of ``0.5 c m / n``.
CASES = {
    "documents": (LowRankSurrogateRanker(), X, LABELS, QID, 1),
    "documents, not centred": (LowRankSurrogateRanker(centered=False), X, LABELS, QID, 1),
    "documents, sparse": (LowRankSurrogateRanker(), WORDS, LABELS, QID, 1),
    "documents, pairs": (PairwiseDAGRanker(), X, LABELS, QID, 1),
    "documents, features of pairs": (PairwiseDAGRanker(pair_features=sub), X, LABELS, QID, 1),
    "documents, cross-entropy": (OrderPreservingRegressor(), X, LABELS, QID, 1),
    "documents, hinge": (StructuredHingeRanker(), X, LABELS, QID, 1 / 2),
    "items": (LowRankSurrogateRanker(), X, GRADES, None, 1 / 4),
    "items, pairs": (PairwiseDAGRanker(), X, GRADES, None, 1 / 4),
    "items, cross-entropy": (OrderPreservingRegressor(), X, GRADES, None, 1 / 4),  # of four
    "items, squares": (
        OrderPreservingRegressor(surrogate="pointwise_squared"), X, GRADES, None, 1,
    ),
    "items, ridge": (LowRankSurrogateRanker(**RIDGE), X, GRADES, None, 1),
    "items, missing": (LowRankSurrogateRanker(**DCG), X, GAPS, None, 1 / 4),
    "items, missing, ridge": (LowRankSurrogateRanker(**DCG, **RIDGE), X, GAPS, None, 1),
    "items, missing, cross-entropy": (OrderPreservingRegressor(**DCG), X, GAPS, None, 1 / 4),
    "items, hinge": (StructuredHingeRanker(), X, GRADES, None, 1 / 2),
    "items, sparse": (LowRankSurrogateRanker(), WORDS, GRADES, None, 1 / 4),
    "items, sparse, ridge": (LowRankSurrogateRanker(**RIDGE), WORDS, GRADES, None, 1),
    "items, sparse, cross-entropy": (OrderPreservingRegressor(), WORDS, GRADES, None, 1 / 4),
    "classes": (LowRankSurrogateClassifier(), X, LABELS, None, 1 / 3),
    "two classes": (LowRankSurrogateClassifier(), X, LABELS > 0, None, 1 / 4),
    "classes, ridge": (LowRankSurrogateClassifier(**RIDGE), X, LABELS, None, 1),
    "classes, hinge": (StructuredHingeClassifier(), X, THREE, None, 1 / 3),
    "two classes, hinge": (StructuredHingeClassifier(), X, THREE > 0, None, 1 / 4),
    "classes, sparse": (LowRankSurrogateClassifier(), WORDS, LABELS, None, 1 / 3),
    "sets": (LowRankSurrogateMultilabelClassifier(), X, SETS, None, 1 / 4),
    "sets, ridge": (LowRankSurrogateMultilabelClassifier(**RIDGE), X, SETS, None, 1),
    "sets, sparse": (LowRankSurrogateMultilabelClassifier(), WORDS, SETS, None, 1 / 4),
}  # fmt: skip


def rule(c, m, n):
    return 0.5 * c * m / n


@pytest.mark.parametrize("case", CASES)
def test_the_penalty_of_auto_is_the_rule_and_weights_count_lists(case):
    model, X, y, qid, c = CASES[case]
    m = M if sparse.issparse(X) and qid is None else P
    n = N if qid is None else N / 10
    one = fitted(model, X, y, qid=qid)
    at_zero = rule(c, m, n) / one.alpha_  # the hinge at zero weights
    assert "hinge" in case or at_zero == pytest.approx(1.0)
    for weight in (0.05, 100.0):
        weighted = fitted(model, X, y, np.full(N, weight), qid)
        assert weighted.alpha_ * at_zero == pytest.approx(rule(c, m, weight * n))


@pytest.mark.parametrize(
    "model",
    [
        LowRankSurrogateRanker(),
        PairwiseDAGRanker(pair_features=sub),
        OrderPreservingRegressor(),
    ],
    ids=repr,
)
def test_lists_count_by_the_mean_weight_of_their_rows_of_positive_weight(model):
    """A single list has no other lists beside it: its rows count by their weights."""
    weights = RNG.integers(1, 4, N).astype(float)
    weights[::3] = 0.0
    weights[QID == 5] = 0.0
    lists = np.where(weights > 0, weights, np.nan).reshape(12, 10)
    means = np.nanmean(np.delete(lists, 5, axis=0), axis=1)
    assert fitted(model, X, LABELS, weights, QID).alpha_ == pytest.approx(
        rule(1, P, means.sum())
    )
    expected = rule(1, P, weights.sum())
    for qid in (None, np.zeros(N), np.where(weights > 0, 1, QID)):
        assert fitted(model, X, LABELS, weights, qid).alpha_ == pytest.approx(expected)


def test_hinges_of_one_list_count_its_rows():
    expected = StructuredHingeRanker().fit(X, LABELS).alpha_
    assert expected == pytest.approx(rule(1 / 2, P, N))  # Kendall's hinge at zero is 1
    for qid in (None, np.zeros(N)):
        twice = StructuredHingeRanker().fit(
            X, LABELS, qid=qid, sample_weight=np.full(N, 2.0)
        )
        assert twice.alpha_ == pytest.approx(expected / 2)


def test_blocks_of_one_list_add_up_to_several_lists():
    whole = LowRankSurrogateRanker().fit(X, LABELS, qid=QID)
    blocks = [
        (X[i : i + 10], LABELS[i : i + 10], QID[i : i + 10]) for i in range(0, N, 10)
    ]
    parts = [LowRankSurrogateRanker().fit(*block[:2], qid=block[2]) for block in blocks]
    assert parts[0].alpha_ == pytest.approx(rule(1, P, 10))
    steps = LowRankSurrogateRanker()
    for block in blocks:
        steps.partial_fit(*block[:2], qid=block[2])
    for model in (merge(parts), steps, LowRankSurrogateRanker().fit_blocks(blocks)):
        assert model.alpha_ == pytest.approx(whole.alpha_)
        np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)


def test_sequences_count_elements_and_features_by_their_squares():
    y = np.where(X[:, 0] > 0, "a", "b")
    square = (X**2).sum() / N
    for unit in (1.0, 3.0):
        model = StructuredHingeSequenceClassifier().fit(unit * X, y, qid=QID)
        assert model.alpha_ == pytest.approx(rule(1 / 2, unit**2 * square, N))
    weights = 1.0 + QID % 2
    square = weights @ (X**2).sum(axis=1) / weights.sum()
    weighted = StructuredHingeSequenceClassifier().fit(
        X, y, qid=QID, sample_weight=weights
    )
    assert weighted.alpha_ == pytest.approx(rule(1 / 2, square, weights.sum()))


def test_rows_with_missing_labels_count_and_rows_of_weight_zero_do_not():
    y, weights = GAPS.copy(), np.ones(N)
    y[:100] = np.nan
    y[100:] = GRADES[100:]
    model = LowRankSurrogateRanker(target_loss="dcg", estimator="ridge")
    assert model.fit(X, y).alpha_ == pytest.approx(rule(1, P, N))
    weights[:100] = 0.0
    assert model.fit(X, y, sample_weight=weights).alpha_ == pytest.approx(
        rule(1, P, 20)
    )


def test_iterations_have_the_penalty_of_the_closed_form():
    many = np.hstack([X, np.ones((N, 4000))])
    for rows, model, y, qid, n in [
        (wide(X), LowRankSurrogateRanker(), LABELS, QID, 12),
        (many, LowRankSurrogateRanker(**DCG, **RIDGE), GAPS, None, N),
    ]:
        found = fitted(model, rows, y, qid=qid)
        assert found.solver_ == "lsqr"
        assert found.alpha_ == pytest.approx(rule(1, rows.shape[1], n))
