"""Data that have no answer: warned of, or refused, never a silent number."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsRegressor

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    merge,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import ExpectedRankUtility, PrecisionAtK, RecallAtK

from .refusals import refused_by

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
QID = np.repeat(np.arange(12), 5)
Y = (X[:, 0] > 0).astype(float)


def test_score_of_rows_that_nobody_said_are_one_list(recwarn):
    model = LowRankSurrogateRanker().fit(X, Y)
    model.score(X, Y, qid=np.zeros(60))
    model.score(X[:1], Y[:1] + 1)
    LowRankSurrogateRanker().fit(X, np.column_stack([Y, 1 - Y])).score(X[:1], [[0, 1]])
    assert not recwarn.list
    with pytest.warns(
        UserWarning, match=r"ranks all 60 rows as one list.*ranking_target\(y, qid\)"
    ) as said:
        model.score(X, Y)
    assert len(said) == 1
    assert said[0].filename == __file__


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("eru", "grades > 2 count, and the largest is 1"),
        (PrecisionAtK(k=3, relevance_threshold=4), "grades >= 4 count"),
    ],
)
def test_labels_without_any_utility(loss, words):
    for kind in (LowRankSurrogateRanker, OrderPreservingRegressor):
        with pytest.warns(UserWarning, match=words):
            kind(target_loss=loss).fit(X, Y, qid=QID)
    with pytest.warns(UserWarning, match="No label has any utility"):
        LowRankSurrogateRanker(target_loss="ndcg").fit(X, np.zeros(60), qid=QID)
    model = LowRankSurrogateRanker(target_loss=ExpectedRankUtility(neutral=0))
    assert model.fit(X, Y, qid=QID).coef_.any()


def test_a_measure_that_is_undefined_on_all_lists():
    model = LowRankSurrogateRanker(target_loss="ndcg").fit(X, Y, qid=QID)
    for call in (
        model.score,
        lambda *of, qid: make_ranking_scorer("map")(model, *of, qid=qid),
    ):
        with pytest.warns(UndefinedMetricWarning, match="undefined on all 12 lists"):
            assert call(X, np.zeros(60), qid=QID) == 0.0
    assert np.isnan(ndcg_score(np.zeros(5), X[:5, 0]))  # its zero_division says so


@pytest.mark.parametrize("size", [1e308, 1e-320])
def test_sums_of_weights_out_of_range(size):
    for call in (
        lambda: ndcg_score(Y, X[:, 0], qid=QID, sample_weight=np.full(60, size)),
        lambda: LowRankSurrogateRanker().fit(
            X, Y, qid=QID, sample_weight=np.full(60, size)
        ),
    ):
        with refused_by("weights out of range"):
            call()


def test_directions_that_alpha_zero_leaves_out():
    near = np.column_stack([X[:, 0], X[:, 0] + 1e-6 * X[:, 1]])
    with pytest.warns(UserWarning, match="alpha=0 leaves out 1 of 2 directions"):
        LowRankSurrogateRanker(alpha=0.0).fit(near, Y, qid=QID)
    twice = np.column_stack([X[:, 0], X[:, 0]])  # collinear: the solution of least norm
    coef = LowRankSurrogateRanker(alpha=0.0).fit(twice, Y, qid=QID).coef_
    assert coef[0] == pytest.approx(coef[1])


@pytest.mark.parametrize("model", [StackingRanker(), WrappedRanker(Ridge())])
def test_lists_of_weight_zero_do_not_count(model):
    weights = np.where(QID == 3, 0.0, 1.0)
    assert model.fit(X, Y, qid=QID, sample_weight=weights).n_lists_ == 11


def test_a_stack_takes_every_sparse_format():
    one = StackingRanker([("ridge", LowRankSurrogateRanker())])
    expected = one.fit(sparse.csr_matrix(X), Y, qid=QID).predict(X)
    for kind in (sparse.coo_matrix, sparse.dia_matrix, sparse.bsr_matrix):
        np.testing.assert_allclose(one.fit(kind(X), Y, qid=QID).predict(X), expected)


def test_models_of_equal_parameters_merge():
    parts = [
        LowRankSurrogateRanker(alpha=alpha).fit(X[rows], Y[rows], qid=QID[rows])
        for alpha, rows in ((0.1, slice(30)), (np.float64(0.1), slice(30, 60)))
    ]
    assert merge(parts).n_lists_ == 12


def test_a_class_of_one_row_costs_one_where_it_was_not_in_fit():
    y = np.append(np.repeat([0, 1], 30)[:-1], 2)
    with pytest.warns(UserWarning, match="least populated class"):
        values = cross_val_score(
            LowRankSurrogateClassifier(), X, y, error_score="raise"
        )
    assert np.isfinite(values).all()
    absolute = LowRankSurrogateClassifier(loss_matrix="absolute").fit(X[:59], y[:59])
    with refused_by("label of no class"):
        absolute.score(X, y)


def test_messages_say_what_there_is():
    for tags in ([["a", "b"], ["c"]], [["a", "b"], ["c", "d"]]):
        with pytest.raises(ValueError, match="MultiLabelBinarizer"):
            LowRankSurrogateMultilabelClassifier().fit(X[:2], tags)
    assert repr(RecallAtK()) == "RecallAtK(k=10)"
    model = LowRankSurrogateClassifier(estimator=KNeighborsRegressor())
    with pytest.raises(ValueError, match=r"does not take sample_weight") as error:
        model.fit(X, Y, sample_weight=1.0 + Y)
    assert "list_weights" not in str(error.value)


def test_coefficients_out_of_range():
    with pytest.raises(ValueError, match="bring them to one scale"):
        LowRankSurrogateRanker(target_loss="dcg").fit(1e-140 * X, 1e200 * Y, qid=QID)


class Rounding(RegressorMixin, BaseEstimator):
    """Scores that are equal but for rounding."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return 1.0 + 2e-16 * (X[:, 0] > 0)


def test_a_part_of_equal_scores_is_not_blown_up_to_its_rounding():
    parts = [("rounding", Rounding()), ("ridge", LowRankSurrogateRanker())]
    model = StackingRanker(parts).fit(X, Y, qid=QID)
    np.testing.assert_array_less(list(model.weights_.values()), 1e6)


def test_what_trees_cannot_take():
    weighted = HistGradientBoostingRanker().fit(
        X, Y, qid=QID, sample_weight=np.full(60, 1e250)
    )
    np.testing.assert_allclose(
        weighted.predict(X),
        HistGradientBoostingRanker().fit(X, Y, qid=QID).predict(X),
        rtol=1e-6,
    )
    with pytest.raises(TypeError, match="Sparse data"):
        LowRankSurrogateRanker(estimator="trees").fit(sparse.csr_matrix(X), Y, qid=QID)


def test_rows_of_different_lengths():
    with refused_by("ragged X"):
        WrappedRanker(Ridge()).fit([[1.0, 2.0], [1.0]], [0, 1], qid=[0, 0])


def test_squares_that_overflow_are_refused():
    loss = ExpectedRankUtility(neutral=0)
    model = OrderPreservingRegressor(surrogate="pointwise_squared", target_loss=loss)
    with refused_by("overflow of the surrogate"):
        model.fit(X, 1e200 * Y, qid=QID)
