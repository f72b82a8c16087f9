"""Propensities of labels, and the precision at k that they weight."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from lowrank_rank import LowRankSurrogateRanker, make_ranking_scorer
from lowrank_rank.target_losses import NDCG, PropensityScoredPrecisionAtK
from lowrank_rank.testing import check_target_loss


def test_the_loss_keeps_the_contract():
    loss = PropensityScoredPrecisionAtK(2, [0.3, 0.9, 0.5])
    check_target_loss(loss, [[2, 0, 1], [0, 0, 1], [1, 1, 1], [0, 0, 0]])


def test_equal_propensities_are_precision_over_the_best_precision():
    rng = np.random.default_rng(0)
    y, scores = (rng.random((20, 6)) < 0.3).astype(float), rng.random((20, 6))
    top = np.take_along_axis(y, np.argsort(-scores, axis=1)[:, :2], axis=1).sum(axis=1)
    best = np.minimum(y.sum(axis=1), 2)
    loss = PropensityScoredPrecisionAtK(2, np.full(6, 0.25))
    assert loss.measure(y, scores) == pytest.approx(top.mean() / best.mean())
    np.testing.assert_allclose(loss.measure(y, scores, average=None), top / 2 / 0.25)


def test_the_measure_is_a_ratio_of_two_weighted_means():
    y, p = np.array([[1.0, 0, 1], [0, 1, 0], [0, 0, 0]]), np.array([0.5, 0.25, 1.0])
    scores, weights = np.array([[0, 1, 2], [2, 1, 0], [0, 0, 1]]), np.array([1.0, 3.0, 2.0])
    loss = PropensityScoredPrecisionAtK(1, p)
    expected = (1 * 1.0 + 3 * 0) / (1 * 2.0 + 3 * 4.0)  # of the first label: 1; the best: 2 and 4
    for labels in (y, sparse.csr_matrix(y)):
        found = loss.measure(labels, scores, sample_weight=weights)
        assert found == pytest.approx(expected, abs=1e-15)
        assert loss.measure(labels, y / p) == 1.0


def test_lists_without_a_relevant_label():
    loss = PropensityScoredPrecisionAtK(1, [0.5, 0.5])
    for labels in (np.zeros((2, 2)), sparse.csr_matrix((2, 2))):
        assert loss.measure(labels, np.ones((2, 2))) == 0.0
        assert loss.measure(labels, np.ones((2, 2)), zero_division=0.3) == 0.3
        assert np.isnan(loss.measure(labels, np.ones((2, 2)), zero_division=np.nan))


def test_unbiased_if_labels_are_recorded_with_their_propensities():
    """The mean over recordings is the sum over the true labels, by enumeration."""
    p, true = np.array([0.3, 0.7, 0.5]), np.array([1.0, 1.0, 1.0])
    loss, scores, mean = PropensityScoredPrecisionAtK(2, p), [[3.0, 1.0, 2.0]], 0.0
    for bits in np.ndindex(2, 2, 2):
        probability = np.prod(np.where(bits, p, 1 - p))
        mean += probability * loss.measure([true * bits], scores, average=None)[0]
    assert mean == pytest.approx(1.0)  # both of the first two are relevant


def test_propensities_of_the_paper():
    rng = np.random.default_rng(1)
    y = (rng.random((50, 8)) < np.linspace(0, 0.6, 8)) * 2.0
    for a, b in ((0.55, 1.5), (0.5, 0.4)):
        c = (np.log(50) - 1) * (b + 1) ** a
        expected = [1 / (1 + c * np.exp(-a * np.log(n + b))) for n in (y > 0).sum(axis=0)]
        np.testing.assert_allclose(
            PropensityScoredPrecisionAtK.label_propensities(y, a=a, b=b), expected
        )
        np.testing.assert_allclose(
            PropensityScoredPrecisionAtK.label_propensities(sparse.csr_matrix(y), a=a, b=b),
            expected,
        )
    common = PropensityScoredPrecisionAtK.label_propensities(y)[np.argsort((y > 0).sum(axis=0))]
    assert np.all(np.diff(common) >= 0)
    assert np.all((common > 0) & (common < 1))


def test_as_a_scorer_and_a_parameter():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 3)), (rng.random((30, 5)) < 0.4).astype(float)
    loss = PropensityScoredPrecisionAtK(2, PropensityScoredPrecisionAtK.label_propensities(y))
    ranker = LowRankSurrogateRanker(target_loss=loss).fit(X, y)
    assert make_ranking_scorer(loss)(ranker, X, y) == ranker.score(X, y)
    assert clone(ranker).set_params(target_loss__k=1).fit(X, y).target_loss_.k == 1
    sparse_y = sparse.csr_matrix(y)
    assert make_ranking_scorer(loss)(ranker, X, sparse_y) == pytest.approx(ranker.score(X, y))


@pytest.mark.parametrize(
    ("propensities", "message"),
    [
        ([0.5, 0.0, 0.5], r"propensities\[1\] is 0: they are probabilities, above 0"),
        ([0.5, 0.5, -1.0], r"propensities\[2\] is -1: they are probabilities, above 0"),
        ([0.5, np.nan, 1.0], r"propensities\[1\] is nan: it must be finite"),
        ([0.5, 0.5], r"have shape \(2,\) .* one propensity for each of its r labels"),
        ([["a"]], "propensities must be an array of numbers"),
    ],
)
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_wrong_propensities(propensities, message, convert):
    loss, y = PropensityScoredPrecisionAtK(1, propensities), convert(np.eye(3))
    with pytest.raises(ValueError, match=message):
        LowRankSurrogateRanker(target_loss=loss, estimator="ridge").fit(np.eye(3), y)
    with pytest.raises(ValueError, match=message):
        loss.measure(y, np.eye(3))


def test_documents_have_no_propensities():
    loss = PropensityScoredPrecisionAtK(1, [0.5, 0.5])
    with pytest.raises(ValueError, match="y must be \\(n_queries, r\\)"):
        LowRankSurrogateRanker(target_loss=loss).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.eye(2), {}, "with at least 3 rows"),
        (np.ones(5), {}, "must be a matrix of labels"),
        (np.eye(3), {"a": -1.0}, "a must be a finite number >= 0"),
        (np.eye(3), {"b": 0.0}, "b must be a finite number > 0"),
    ],
)
def test_labels_without_propensities(y, options, message):
    with pytest.raises(ValueError, match=message):
        PropensityScoredPrecisionAtK.label_propensities(y, **options)


def test_sparse_scores_are_refused():
    with pytest.raises(TypeError, match="Sparse data was passed for y_score"):
        NDCG().measure(sparse.csr_matrix([[1, 0, 2]]), sparse.csr_matrix([[1, 0, 2]]))
