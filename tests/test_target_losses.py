"""Target losses: the identity, exact decoders, names, labels, and what is printed of them."""

import inspect

import numpy as np
import pytest

from lowrank_rank import target_losses
from lowrank_rank.calibration import all_ranks, conditional_regret
from lowrank_rank.target_losses import (
    AUC,
    DCG,
    NDCG,
    SCORE_ONLY,
    TARGET_LOSSES,
    ExpectedRankUtility,
    KendallTau,
    MatrixLoss,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
    PrecisionAtShare,
    RecallAtK,
    SpearmanRho,
    TargetLoss,
    resolve_measure,
    resolve_target_loss,
)
from lowrank_rank.testing import check_target_loss

from .losses import IDS, LOSSES


@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_contract_by_enumeration(loss, labels, r):
    """Identity over all orders, exact decoders Bayes-optimal, clone, pickle, relabelling."""
    support = labels(np.random.default_rng(r), 8, r)
    check_target_loss(loss, support, n_distributions=40, random_state=r)


@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_loss_is_constant_minus_measure(loss, labels):
    """The printed losses: 1 - measure, minus DCG, minus (minus) PD, z - ERU."""
    y = labels(np.random.default_rng(0), 6, 4)
    y[:, 0], y[:, 1] = (1.0, 0.0) if y.ndim == 2 and y.max() <= 1 else (y[:, 0], y[:, 1])
    ranks = np.random.default_rng(1).permuted(np.tile(np.arange(1, 5), (6, 1)), axis=1)
    measure = loss.measure(y, -ranks, average=None)
    defined = ~np.isnan(measure)
    if isinstance(loss, ExpectedRankUtility):
        top = (loss.max_grade or y.max()) - loss.neutral
        constant = top * sum(2 ** ((1 - p) / (loss.half_life - 1)) for p in range(1, 5))
    elif isinstance(loss, DCG | PairwiseDisagreement):
        constant = 0.0
    else:
        constant = 1.0
    np.testing.assert_allclose(loss.loss(y, ranks)[defined], (constant - measure)[defined])
    assert defined.any()


def test_a_broken_loss_fails_the_contract():
    class WrongDiscount(NDCG):
        def rank_features(self, ranks):
            return -1.0 / np.asarray(ranks, dtype=float)

    class WrongDecoder(MeanAveragePrecision):
        @property
        def decoders(self):
            decoders = super().decoders
            return {"diagonal": decoders["diagonal"]._replace(exact=True)}

    with pytest.raises(AssertionError, match="not constant"):
        check_target_loss(WrongDiscount(), [[2, 0, 1], [0, 0, 1]])
    with pytest.raises(AssertionError, match="calls itself exact"):
        check_target_loss(WrongDecoder(), [[0, 1, 1], [1, 0, 0]])


# Names ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        ("precision@5", PrecisionAtK(k=5)),
        ("precision@25%", PrecisionAtShare(share=0.25)),
        ("wta", PrecisionAtK(k=1)),
        ("prbep", PrecisionAtShare(share=1.0)),
        ("recall@20", RecallAtK(k=20)),
        ("dcg", DCG()),
        ("dcg@10", DCG(k=10)),
        ("dcg_exp", DCG(gain="exponential")),
        ("ndcg", NDCG()),
        ("ndcg@10", NDCG(k=10)),
        ("ndcg_exp@10", NDCG(k=10, gain="exponential")),
        ("NDCG@3 ", NDCG(k=3)),
        ("auc", AUC()),
        ("spearman", SpearmanRho()),
        ("eru", ExpectedRankUtility()),
        ("map", MeanAveragePrecision()),
        ("pd", PairwiseDisagreement()),
        ("kendall", KendallTau()),
    ],
)
def test_names(name, loss):
    resolved = resolve_target_loss(name)
    assert type(resolved) is type(loss)
    assert resolved.get_params() == loss.get_params()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ncdg@10", r"'ndcg\[@k\]'.*Known names: .*precision@k"),
        ("precision", "precision@k"),
        ("map@10", "Did you mean 'map'"),
        ("precision@0", "at least 1"),
        ("precision@0%", r"\(0, 1\]"),
        ("precision@150%", r"\(0, 1\]"),
        ("ndcg@ten", "a count such as 10"),
        ("recall@10%", "recall@k"),
        ("mrr", "without a low-rank form"),
        ("", "Known names"),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(ValueError, match=message):
        resolve_target_loss(name)


def test_neither_name_nor_object():
    with pytest.raises(TypeError, match="name such as"):
        resolve_target_loss(5)


def test_tables_are_complete():
    classes = {entry.measure for entry in {**TARGET_LOSSES, **SCORE_ONLY}.values()}
    public = {
        c
        for name in target_losses.__all__
        if inspect.isclass(c := getattr(target_losses, name))
        and issubclass(c, target_losses.RankingMeasure)
    }
    bases = {target_losses.RankingMeasure, TargetLoss, target_losses.PositionalLoss}
    assert public - bases == classes
    assert all(issubclass(e.measure, TargetLoss) for e in TARGET_LOSSES.values())
    for pattern in {**TARGET_LOSSES, **SCORE_ONLY}:
        name = pattern.replace("[@k]", "@3").replace("@k", "@3").replace("@p%", "@50%")
        assert resolve_measure(name).measure([[1, 0, 1]], [[3, 2, 1]]) <= 2.5


# Labels -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (MeanAveragePrecision(), [[0, 1], [1, 3]], r"3 \(first at \(1, 1\)\).*relevance_threshold"),
        (PrecisionAtK(), [[0, 0.5]], "relevance_threshold"),
        (NDCG(), [[0, -1]], "negative grade"),
        (MeanAveragePrecision(relevance_threshold=1), [[0, -1]], "negative grade"),
        (NDCG(gain="exponential"), [[0, 2000.0]], "overflows"),
        (PrecisionAtK(k=0), [[0, 1]], "at least 1"),
        (PrecisionAtK(k=0.5), [[0, 1]], "integer"),
        (PrecisionAtShare(share=1.5), [[0, 1]], r"\(0, 1\]"),
        (PrecisionAtShare(share=5), [[0, 1]], "PrecisionAtK"),
        (PairwiseDisagreement(), -np.ones((1, 2, 2)), "opposite preference"),
        (PairwiseDisagreement("log"), [[0, 1]], "weights must be one of"),
    ],
)
def test_labels_that_a_loss_cannot_take(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.encode(y)


def test_share_of_one_may_be_an_integer():
    assert PrecisionAtShare(share=1).encode([[1, 0, 1]]).shape == (1, 9)


def test_nan_stays_nan_in_targets():
    y = [[np.nan, 1.0, 0.0]]
    for loss in (DCG(), PrecisionAtK(k=2), PrecisionAtK(k=2, relevance_threshold=1)):
        np.testing.assert_array_equal(np.isnan(loss.encode(y)), [[True, False, False]])


# What the specification prints ------------------------------------------------------


def regret_of(loss, decoder, support, probabilities):
    support, p = np.asarray(support, float), np.atleast_2d(probabilities)
    d = loss.decoders[decoder]
    u = p @ (loss.score_targets(support) if d.of_scores else loss.encode(support))
    return conditional_regret(loss, support, p, d.decode(u, support.shape[1]))[0]


def test_share_precision_is_not_calibrated_by_sorting():
    """Y = (0,0,1,0), (1,0,0,1), (1,0,0,0) with .4, .3, .3 and k = P: .60, sorting gives .45."""
    support, p = np.array([[0, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0.0]]), np.array([0.4, 0.3, 0.3])
    loss = PrecisionAtShare(1.0)
    exact = loss.decoders["assignment"].decode(p[np.newaxis] @ loss.encode(support), 4)
    value = p @ loss.measure(support, -np.tile(exact, (3, 1)), average=None)
    assert value == pytest.approx(0.60)
    v = support / support.sum(axis=1, keepdims=True)
    by_sorting = p @ loss.measure(support, np.tile(p @ support, (3, 1)), average=None)
    assert by_sorting == pytest.approx(0.45)
    assert p @ loss.measure(support, np.tile(p @ v, (3, 1)), average=None) < 0.60


def test_map_diagonal_fails_outside_p_reinforce():
    loss, support, p = MeanAveragePrecision(), [[0, 1, 1], [1, 0, 0]], [0.65, 0.35]
    u = np.array([p]) @ loss.encode(support)
    np.testing.assert_allclose(u[0, [0, 2, 5]], [0.35, 0.325, 0.325])
    values = {
        name: -(u @ loss.rank_features(loss.decoders[name].decode(u, 3)).T).item()
        for name in loss.decoders
        if name != "sort"
    }
    assert values["diagonal"] == pytest.approx(0.729, abs=5e-4)
    assert values["exact"] == pytest.approx(0.767, abs=5e-4)
    assert values["local_search"] == pytest.approx(values["exact"])


def test_pd_unit_weights_can_cycle():
    """(0,1,2), (1,2,0), (2,0,1), each 1/3: every pair preferred 2 to 1, in a circle."""
    u = np.full((1, 3), 1 / 3) @ PairwiseDisagreement().encode([[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    np.testing.assert_allclose(u, [[-1 / 3, 1 / 3, -1 / 3]])


def test_pd_scores_fail_outside_p_f():
    """E Y_01 = .1, E Y_12 = 1, so f = (.1, .9, -1): sorting puts 1 before 0."""
    support = np.zeros((2, 3, 3))
    support[0, 0, 1], support[1, 1, 2] = 0.2, 2.0
    loss, p = PairwiseDisagreement(), np.array([[0.5, 0.5]])
    np.testing.assert_allclose(p @ loss.score_targets(support), [[0.1, 0.9, -1.0]])
    assert regret_of(loss, "sort", support, p) == pytest.approx(0.1)


@pytest.mark.parametrize("weights", ["unit", "difference"])
def test_pd_by_scores_is_exact_where_the_specification_says(weights):
    """Difference weights with any grades, and binary labels with unit weights."""
    rng = np.random.default_rng(0)
    grades = 2 if weights == "unit" else 4
    for _ in range(50):
        support = rng.integers(0, grades, (6, 4)).astype(float)
        p = rng.dirichlet(np.ones(6))
        assert regret_of(PairwiseDisagreement(weights), "sort", support, p) < 1e-9


@pytest.mark.parametrize(
    "phi",
    [lambda x: np.log1p(np.exp(-x)), lambda x: np.exp(-x), lambda x: np.maximum(0, 1 - x) ** 2],
)
def test_ordinary_pairwise_loss_is_not_order_preserving(phi):
    """Two items, y_1 = 1 always, y_2 = 0 (.6) or 3 (.4): E v puts item 2 first.

    sum over v_i > v_j of phi(s_i - s_j) with a decreasing convex phi puts item 1 first.
    """
    support, p = np.array([[1.0, 0.0], [1.0, 3.0]]), np.array([[0.6, 0.4]])
    assert regret_of(DCG(), "sort", support, p) < 1e-12
    u = p @ DCG().encode(support)
    assert u[0, 1] > u[0, 0]
    difference = np.linspace(-5, 5, 10_001)
    pairwise = 0.6 * phi(difference) + 0.4 * phi(-difference)
    assert difference[np.argmin(pairwise)] > 0


def test_dimensions():
    y = np.ones((1, 5))
    assert MeanAveragePrecision().encode(y).shape == (1, 15)
    assert PairwiseDisagreement().encode(y).shape == (1, 10)
    assert PrecisionAtShare(0.5).encode(y).shape == (1, 5 * 3)
    assert NDCG().encode(y).shape == (1, 5)


# Loss matrices ----------------------------------------------------------------------


def test_matrix_loss_dimensions():
    """0-1 loss on n classes has d = n - 1; (y - t)^2 has 2 with the row means removed."""
    assert MatrixLoss(1 - np.eye(5)).n_components == 4
    grid = np.arange(6.0)
    assert MatrixLoss((grid[:, None] - grid) ** 2).n_components == 2
    assert MatrixLoss(np.full((3, 4), 0.1)).n_components == 0
    rng = np.random.default_rng(0)
    assert MatrixLoss(rng.normal(size=(7, 2)) @ rng.normal(size=(2, 9))).n_components == 2


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3)])
def test_matrix_loss_is_calibrated(shape):
    rng = np.random.default_rng(1)
    matrix = rng.uniform(size=shape)
    loss = MatrixLoss(matrix)
    assert loss.approximation_error < 1e-12
    for p in rng.dirichlet(np.ones(shape[0]), size=100):
        decision = loss.decode((p @ loss.encode(np.arange(shape[0])))[np.newaxis])[0]
        assert p @ matrix[:, decision] == pytest.approx((p @ matrix).min(), abs=1e-12)


def test_matrix_loss_regret_below_the_rank():
    rng = np.random.default_rng(2)
    matrix = rng.uniform(size=(5, 8))
    loss = MatrixLoss(matrix, n_components=2)
    worst = 0.0
    for p in rng.dirichlet(np.full(5, 0.3), size=300):
        decision = loss.decode((p @ loss.encode(np.arange(5)))[np.newaxis])[0]
        worst = max(worst, p @ matrix[:, decision] - (p @ matrix).min())
    assert 0 < worst <= 2 * loss.approximation_error


def test_pd_orders_enumerated_once():
    assert len(all_ranks(4)) == 24
    with pytest.raises(ValueError, match="8 items"):
        all_ranks(9)
