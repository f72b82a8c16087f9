"""Target losses: the identity, exact decoders, names, labels, and what is printed of them."""

import inspect
import pickle
import re
import tracemalloc
from itertools import permutations

import numpy as np
import pytest
from sklearn.base import clone

from lowrank_rank import LowRankSurrogateRanker, target_losses
from lowrank_rank.calibration import conditional_regret
from lowrank_rank.metrics import get_ranking_scorer_names
from lowrank_rank.target_losses import (
    AUC,
    DCG,
    NDCG,
    ExpectedRankUtility,
    MatrixLoss,
    MeanAveragePrecision,
    PairwiseDisagreement,
    PrecisionAtK,
    RecallAtK,
    TargetLoss,
)
from lowrank_rank.testing import check_target_loss

from .internals import (
    TARGET_LOSSES,
    GainAtK,
    KendallTau,
    PrecisionAtShare,
    RankingLists,
    SpearmanRho,
    all_ranks,
    differences_from_matrices,
    names_of,
    resolve_measure,
    resolve_target_loss,
)
from .losses import IDS, LOSSES, graded
from .refusals import refused_by


@pytest.mark.parametrize("r", [2, 3, 5])
@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_contract_by_enumeration(loss, labels, r, seed):
    """Identity over all orders, exact decoders Bayes-optimal, clone, pickle, relabelling."""
    support = labels(np.random.default_rng([seed, r]), 8, r)
    check_target_loss(loss, support, n_distributions=40, random_state=seed)


def highest_utility(loss, y):
    top = 0.0 if loss.max_grade is None else loss.max_grade - loss.neutral
    return top * sum(2 ** ((1 - p) / (loss.half_life - 1)) for p in range(1, 5))


#: The constants that are not 1: as the references of the classes print the losses.
CONSTANTS = {
    ExpectedRankUtility: highest_utility,
    DCG: lambda loss, y: 0.0,
    GainAtK: lambda loss, y: 0.0,
    PairwiseDisagreement: lambda loss, y: 0.0,
    KendallTau: lambda loss, y: 0.0,
}


@pytest.mark.parametrize(("loss", "labels"), LOSSES, ids=IDS)
def test_loss_is_constant_minus_measure(loss, labels, seed):
    """The printed losses: 1 - measure, minus DCG, minus (minus) PD, z - ERU; nan if undefined."""
    y = labels(np.random.default_rng(seed), 6, 4)
    y[:, 0], y[:, 1] = (
        (1.0, 0.0) if y.ndim == 2 and y.max() <= 1 else (y[:, 0], y[:, 1])
    )
    y[0] = 0.0  # no relevant item, all grades equal
    ranks = np.random.default_rng([seed, 1]).permuted(
        np.tile(np.arange(1, 5), (6, 1)), axis=1
    )
    measure = loss.measure(y, -ranks, average=None)
    constant = CONSTANTS.get(type(loss), lambda loss, y: 1.0)(loss, y)
    np.testing.assert_allclose(loss.loss(y, ranks), constant - measure, atol=1e-12)
    assert not np.isnan(measure[1:]).all()


@pytest.mark.parametrize(
    "loss", [NDCG(), NDCG(k=2), RecallAtK(k=1), AUC(), MeanAveragePrecision()]
)
def test_loss_of_undefined_lists_is_nan(loss):
    losses = loss.loss([[0, 0, 0], [0, 1, 0]], [[1, 2, 3], [1, 2, 3]])
    assert np.isnan(losses).tolist() == [True, False]


def test_expected_rank_utility_of_a_list_does_not_depend_on_other_lists():
    alone = ExpectedRankUtility().loss([[3, 0]], [[1, 2]])
    beside = ExpectedRankUtility().loss([[3, 0], [5, 0]], [[1, 2], [1, 2]])
    np.testing.assert_allclose(alone, -1.0)
    np.testing.assert_allclose(beside, [-1.0, -3.0])
    scale = ExpectedRankUtility(half_life=2.0, max_grade=5)
    np.testing.assert_allclose(
        scale.loss([[3, 0], [5, 0]], [[1, 2], [1, 2]]), [3.5, 1.5]
    )


def test_gain_at_k_is_the_money_of_the_inspected_cases():
    rng = np.random.default_rng(0)
    amounts, scores = rng.exponential(size=(30, 12)), rng.normal(size=(30, 12))
    for k in (1, 4, 20):
        first = np.argsort(-scores, axis=1)[:, :k]
        expected = np.take_along_axis(amounts, first, axis=1).sum(axis=1)
        found = resolve_target_loss(f"gain@{k}").measure(amounts, scores, average=None)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


class RelevantFirst(TargetLoss):
    """1 minus the mean relevance of the items of the best score."""

    labels = "binary"

    def values(self, y, scores, lists):
        best = np.maximum.reduceat(scores, lists.starts)
        is_best = scores == lists.repeat(best)
        return lists.sum(y * is_best) / lists.sum(is_best)

    def encode(self, y):
        return self.check_labels(np.asarray(y, dtype=float))

    def rank_features(self, ranks):
        return -(np.asarray(ranks) == 1).astype(float)

    def offset(self, y):
        return np.ones(len(y))


def test_a_binary_loss_needs_no_relevance_threshold():
    check_target_loss(RelevantFirst(), [[0, 2, 1], [1, 0, 0]])
    ranker = LowRankSurrogateRanker(target_loss=RelevantFirst()).fit(
        [[0], [1]], [[0, 2], [1, 0]]
    )
    assert ranker.score([[0], [1]], [[0, 2], [1, 0]]) == 1.0


def test_a_broken_loss_fails_the_contract():
    class WrongDiscount(NDCG):
        def rank_features(self, ranks):
            return -1.0 / np.asarray(ranks, dtype=float)

    class WrongDecoder(MeanAveragePrecision):
        @property
        def decoders(self):
            decoders = super().decoders
            return {"diagonal": decoders["diagonal"]._replace(exact=True)}

    class WrongOffset(NDCG):
        def offset(self, y):
            return np.sum(y, axis=1)

    class NegativeGains(DCG):
        def gains(self, y, lists):
            return y - 1.0

    class FlatTargets(NDCG):
        def encode(self, y):
            return super().encode(y).ravel()

    for loss, message in [
        (WrongOffset(), r"not one constant for all labels: define offset\(y\)"),
        (NegativeGains(), r"gains\(y, lists\) returns -1: gains must be >= 0"),
        (FlatTargets(), r"shapes \(6,\) and \(6, 3\): they must be \(2, d\)"),
    ]:
        with pytest.raises(AssertionError, match=message):
            check_target_loss(loss, [[2, 0, 1], [0, 0, 1]])
    with pytest.raises(AssertionError, match="is not constant over the orders"):
        check_target_loss(WrongDiscount(), [[2, 0, 1], [0, 0, 1]])
    with pytest.raises(
        AssertionError, match="'diagonal' calls itself exact but is not Bayes-optimal"
    ):
        check_target_loss(WrongDecoder(), [[0, 1, 1], [1, 0, 0]])


def test_contract_check_takes_labels_with_gaps_where_they_have_targets():
    check_target_loss("kendall", [[2, np.nan, 1], [0, 2, 1]])
    with refused_by("support with unjudged items"):
        check_target_loss("dcg", [[2, np.nan, 1], [0, 2, 1]])


@pytest.mark.parametrize("support", [[], [1, 0], [[]]])
def test_contract_check_says_what_shape_labels_have(support):
    with refused_by("labels of a support"):
        check_target_loss("ndcg", support)


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
    ("theirs", "ours"),
    [
        ("P_5", "precision@5"),
        ("P@5", "precision@5"),
        ("recall_20", "recall@20"),
        ("R@20", "recall@20"),
        ("ndcg_cut_10", "ndcg@10"),
        ("nDCG@10", "ndcg@10"),
        ("AP", "map"),
        ("recip_rank", "mrr"),
        ("RR", "mrr"),
        ("Rprec", "prbep"),
    ],
)
def test_names_of_trec_eval_and_ir_measures(theirs, ours):
    assert repr(resolve_measure(theirs)) == repr(resolve_measure(ours))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ncdg@10", r"Did you mean 'ndcg@10'.*Known names: .*precision@k"),
        ("precision", "Did you mean 'precision@10' or 'precision@25%'"),
        ("precision@0.25", "Did you mean 'precision@25%'"),
        ("prec@10", r"Did you mean 'precision@10'\?"),
        ("ndcg10", r"Did you mean 'ndcg@10'\?"),
        ("precision_at_10", r"Did you mean 'precision@10'\?"),
        ("average_precision", r"Did you mean 'map'\?"),
        ("mean_average_precision", r"Did you mean 'map'\?"),
        ("kendall_tau", r"Did you mean 'kendall'\?"),
        ("rho", r"Did you mean 'spearman'\?"),
        ("roc_auc", "Did you mean 'auc'"),
        ("wta@3", "Did you mean 'wta'"),
        ("ndcg@", "Nothing follows the @"),
        ("precision@x%", "a share such as 25%"),
        ("precision@0", "integer >= 1"),
        ("precision@0%", r"\(0, 1\]"),
        ("precision@150%", r"\(0, 1\]"),
        ("ndcg@ten", "a count such as 10"),
        ("mrr", "cannot be fitted here"),
        ("", "Known names"),
    ],
)
def test_bad_names(name, message):
    with pytest.raises(ValueError, match=message):
        resolve_target_loss(name)


@pytest.mark.parametrize("name", ["prec@10", "nothing", "precision"])
def test_what_cannot_be_aimed_at_is_not_offered(name):
    """ "mrr" and "err" are names of measures only."""
    with refused_by("unknown name of a measure") as aimed:
        resolve_target_loss(name)
    with refused_by("unknown name of a measure") as scored:
        resolve_measure(name)
    for pattern in ("mrr[@k]", "success@k", "err[@k]"):
        assert f" {pattern}" not in str(aimed.value)
        assert f" {pattern}" in str(scored.value)
    for pattern in TARGET_LOSSES:
        assert f" {pattern}" in str(aimed.value)
        assert f" {pattern}" in str(scored.value)


def test_names_of_losses_by_what_they_can():
    assert set(names_of()) < set(get_ranking_scorer_names())
    assert names_of(lambda loss: loss.takes_preferences) == ["pd"]
    positional = names_of(lambda loss: loss.is_positional)
    assert {"ndcg@10", "precision@10", "auc"} <= set(positional)
    assert not {"map", "pd", "prbep", "precision@25%"} & set(positional)
    sorts = names_of(lambda loss: loss.takes_documents)
    assert set(names_of()) - set(sorts) == {"prbep", "precision@25%"}
    classes = [type(resolve_target_loss(name)) for name in names_of()]
    each = names_of(one_each=True)
    assert {"precision@10", "precision@25%"} <= set(each)
    assert [type(resolve_target_loss(n)) for n in each] == list(dict.fromkeys(classes))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_the_hint_for_missing_judgements_names_losses_that_take_them():
    y = [[1.0, np.nan]]
    with pytest.raises(ValueError, match=r"NDCG.* needs every item judged") as refused:
        LowRankSurrogateRanker(target_loss=NDCG()).fit([[0.0]], y)
    hint = re.search(r"Measures that do not: (.+)\.", str(refused.value))[1].split(", ")
    assert len(hint) >= 3
    for name in hint:
        assert resolve_target_loss(name).allow_missing, name
        resolve_target_loss(name).measure(y, [[1.0, 2.0]])


@pytest.mark.parametrize("name", ["ndcg@5", "dcg", "auc", "kendall", "map"])
def test_many_lists_have_the_values_of_each_list_alone(name):
    """More rows than one piece of the computation holds."""
    rng, loss = np.random.default_rng(0), resolve_target_loss(name)
    y, scores = (
        rng.integers(0, 3, (97, 40)).astype(float),
        rng.integers(0, 60, (97, 40)) / 7.0,
    )
    y[:, :3] = 0.0, 1.0, 2.0
    alone = [loss.measure(y[[q]], scores[[q]]) for q in range(97)]
    many = loss.measure(np.tile(y, (70, 1)), np.tile(scores, (70, 1)), average=None)
    np.testing.assert_allclose(
        many.reshape(70, 97), np.tile(alone, (70, 1)), rtol=1e-12
    )


def test_the_class_declares_what_follows_the_at():
    """A name that sets the parameter has no "@"; the others have the class's."""
    for pattern, entry in TARGET_LOSSES.items():
        assert pattern.partition("@")[2].rstrip("]") == entry.at.strip("[]")
        assert entry.at in ("", entry.measure.at) or entry.base == "precision"
    assert (PrecisionAtK.at, NDCG.at) == ("k", "[k]")
    assert [
        entry.at for entry in TARGET_LOSSES.values() if entry.base == "precision"
    ] == [
        "k",
        "p%",
    ]
    assert TARGET_LOSSES["wta"].at == TARGET_LOSSES["prbep"].at == ""


def test_neither_name_nor_object():
    with refused_by("not a measure", TypeError):
        resolve_target_loss(5)


def test_tables_are_complete():
    names = names_of(scored=True)
    classes = {type(resolve_measure(name)) for name in names}
    public = {
        c
        for name in target_losses.__all__
        if inspect.isclass(c := getattr(target_losses, name)) and hasattr(c, "measure")
    }
    bases = {TargetLoss, target_losses.PositionalLoss}
    # A name and keywords say all that these have.
    by_name = [
        "gain@10",
        "precision@25%",
        "recall@25%",
        "kendall",
        "spearman",
        "mrr",
        "success@10",
        "err",
    ]
    private = {type(resolve_measure(name)) for name in by_name}
    of_classes = {
        c for c in public if issubclass(c, target_losses.SetLoss)
    }  # of marks, not orders
    assert (public - bases - of_classes) | private == classes
    assert not public & private
    assert all(issubclass(e.measure, TargetLoss) for e in TARGET_LOSSES.values())
    # Every name makes a measure that tells the best order of a list from the worst.
    y = np.array([[3.0, 0.0, 1.0, 0.0]])
    for name in names:
        measure = resolve_measure(name.replace("@10", "@2"))
        assert measure.measure(y, y) > measure.measure(y, -y), name


# Labels -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (DCG(), [[0, -1]], "utilities_from_clicks"),
        (NDCG(), [[0, 1], [0, -1]], r"negative grade \(-1, first at \(1, 1\)\)"),
        (MeanAveragePrecision(relevance_threshold=1), [[0, -1]], "negative grade"),
        (NDCG(k=1.0), [[0, 1]], "integer >= 1"),
        (
            PrecisionAtK(k=2, relevance_threshold="2"),
            [[0, 1]],
            "relevance_threshold must be",
        ),
        (PrecisionAtK(k=0.5), [[0, 1]], "integer"),
        (PrecisionAtShare(share=5), [[0, 1]], "PrecisionAtK takes a count"),
    ],
)
def test_labels_that_a_loss_cannot_take(loss, y, message):
    with pytest.raises(ValueError, match=message):
        loss.encode(y)


@pytest.mark.parametrize(
    "name", names_of(lambda loss: loss.labels == "binary") + ["mrr"]
)
def test_grades_above_zero_are_relevant(name):
    """As trec_eval; another grade by object."""
    grades = np.array([[0.0, 3.0, 0.5, 2.0], [2.0, 1.0, 0.0, 4.0]])
    scores = np.random.default_rng(0).normal(size=grades.shape)
    measure = resolve_measure(name)
    relevant = (grades > 0).astype(float)
    assert measure.measure(grades, scores) == measure.measure(relevant, scores)
    if isinstance(measure, TargetLoss):
        np.testing.assert_array_equal(measure.encode(grades), measure.encode(relevant))
        np.testing.assert_array_equal(measure.offset(grades), measure.offset(relevant))
    above = clone(measure).set_params(relevance_threshold=2)
    assert above.measure(grades, scores) == measure.measure((grades >= 2) * 1.0, scores)


def test_share_of_one_may_be_an_integer():
    assert PrecisionAtShare(share=1).encode([[1, 0, 1]]).shape == (1, 9)


def test_nan_stays_nan_in_targets():
    y = [[np.nan, 1.0, 0.0]]
    for loss in (DCG(), PrecisionAtK(k=2), PrecisionAtK(k=2, relevance_threshold=1)):
        np.testing.assert_array_equal(np.isnan(loss.encode(y)), [[True, False, False]])


# What the papers print --------------------------------------------------------------


def regret_of(loss, decoder, support, probabilities):
    support, p = np.asarray(support, float), np.atleast_2d(probabilities)
    d = loss.decoders[decoder]
    u = p @ (loss.score_targets(support) if d.of_scores else loss.encode(support))
    return conditional_regret(loss, support, p, d.decode(u, support.shape[1]))[0]


def test_share_precision_is_not_calibrated_by_sorting():
    """Y = (0,0,1,0), (1,0,0,1), (1,0,0,0) with .4, .3, .3 and k = P: .60, sorting gives .45."""
    support, p = (
        np.array([[0, 0, 1, 0], [1, 0, 0, 1], [1, 0, 0, 0.0]]),
        np.array([0.4, 0.3, 0.3]),
    )
    loss = PrecisionAtShare(share=1.0)
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
    """(0,1,2), (1,2,0), (2,0,1), each 1/3: every pair preferred 2 to 1, in a cycle."""
    u = np.full((1, 3), 1 / 3) @ PairwiseDisagreement().encode(
        [[0, 1, 2], [1, 2, 0], [2, 0, 1]]
    )
    np.testing.assert_allclose(u, [[-1 / 3, 1 / 3, -1 / 3]])


def test_pd_scores_fail_outside_p_f():
    """E Y_01 = .1, E Y_12 = 1, so f = (.1, .9, -1) / 3: sorting puts 1 before 0."""
    support = np.zeros((2, 3, 3))
    support[0, 0, 1], support[1, 1, 2] = 0.2, 2.0
    loss, p = PairwiseDisagreement(), np.array([[0.5, 0.5]])
    np.testing.assert_allclose(
        p @ loss.score_targets(support), np.array([[0.1, 0.9, -1.0]]) / 3
    )
    assert regret_of(loss, "sort", support, p) == pytest.approx(0.1)


@pytest.mark.parametrize("weights", ["unit", "difference"])
def test_pd_by_scores_is_exact(weights):
    """Theorem 6: difference weights with any grades, and binary labels with unit weights."""
    rng = np.random.default_rng(0)
    grades = 2 if weights == "unit" else 4
    for _ in range(50):
        support = rng.integers(0, grades, (6, 4)).astype(float)
        p = rng.dirichlet(np.ones(6))
        assert regret_of(PairwiseDisagreement(weights), "sort", support, p) < 1e-9


PD_LOSSES = [PairwiseDisagreement(), PairwiseDisagreement("difference"), KendallTau()]


def with_missing(rng, n, r):
    y = rng.integers(0, 4, (n, r)).astype(float)
    return np.where(rng.uniform(size=(n, r)) < 0.4, np.nan, y)


@pytest.mark.parametrize("loss", PD_LOSSES, ids=repr)
def test_score_targets_do_not_depend_on_the_other_rows(loss):
    rng = np.random.default_rng(0)
    y = np.concatenate(
        [with_missing(rng, 20, 5), graded(rng, 20, 5), np.full((1, 5), np.nan)]
    )
    y = y[rng.permutation(len(y))]
    alone = [loss.score_targets(row[np.newaxis])[0] for row in y]
    np.testing.assert_allclose(loss.score_targets(y), alone, atol=1e-14)
    np.testing.assert_array_equal(np.isnan(alone), np.isnan(y))


@pytest.mark.parametrize("loss", PD_LOSSES, ids=repr)
def test_score_targets_are_net_preferences_over_the_judged_items(loss):
    """Of grades up to a constant of the list, as if the other items were not there."""
    rng = np.random.default_rng(1)
    for y in (*graded(rng, 10, 4), *with_missing(rng, 30, 4)):
        judged = ~np.isnan(y)
        k = int(judged.sum())
        preferences = loss.preferences(y[np.newaxis, judged])
        net = (preferences.sum(axis=2) - preferences.sum(axis=1))[0] / max(k, 1)
        if isinstance(loss, KendallTau):
            net *= k * (k - 1) / 2  # its preferences are over the number of pairs
        apart = loss.score_targets(y[np.newaxis])[0, judged] - net
        np.testing.assert_allclose(
            apart, np.broadcast_to(apart[:1], apart.shape), atol=1e-12
        )
        if getattr(loss, "weights", "unit") == "unit":
            np.testing.assert_allclose(apart, 0.0, atol=1e-12)
            if loss.takes_preferences and k == 4:
                np.testing.assert_allclose(loss.score_targets(preferences)[0], net)


@pytest.mark.parametrize("loss", PD_LOSSES, ids=repr)
def test_pairs_of_rows_with_gaps_are_those_of_whole_rows_where_both_are_known(loss):
    rng = np.random.default_rng(2)
    whole = graded(rng, 30, 4)
    y = np.where(rng.uniform(size=whole.shape) < 0.4, np.nan, whole)
    found = loss.regression_targets(y)
    i, j = np.triu_indices(4, 1)
    unknown = np.isnan(y[:, i] + y[:, j])
    np.testing.assert_array_equal(np.isnan(found), unknown)
    np.testing.assert_allclose(
        found[~unknown], loss.encode(whole)[~unknown], rtol=1e-14
    )


@pytest.mark.parametrize("loss", PD_LOSSES, ids=repr)
def test_score_targets_of_items_are_those_of_documents(loss):
    y = graded(np.random.default_rng(2), 12, 5)
    gains, normalisers = loss.row_targets(
        y.ravel(), RankingLists.equal(12, 5), np.ones(60)
    )
    np.testing.assert_allclose(loss.score_targets(y).ravel(), gains)
    np.testing.assert_array_equal(normalisers, 1.0)


@pytest.mark.parametrize("loss", PD_LOSSES, ids=repr)
@pytest.mark.parametrize("r", [4, 30])
def test_auto_decoder_does_not_look_at_missing_judgements(loss, r):
    y = graded(np.random.default_rng(0), 3, r)
    name = loss.auto_decoder(r, y)
    y[0, 0] = np.nan
    assert loss.auto_decoder(r, y) == name
    assert loss.auto_decoder(r) == name


@pytest.mark.parametrize(
    ("loss", "decoder"),
    [(PairwiseDisagreement("difference"), "auto"), (PairwiseDisagreement(), "sort"),
     (KendallTau(), "sort"), (PairwiseDisagreement("difference"), "sort")],
)  # fmt: skip
def test_batches_with_and_without_missing_judgements_add_up(loss, decoder):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 3)), graded(rng, 60, 5)
    y[40:] = with_missing(rng, 20, 5)
    ranker = LowRankSurrogateRanker(
        target_loss=loss, decoder=decoder, estimator="ridge"
    )
    whole = clone(ranker).fit(X, y)
    parts = clone(ranker)
    for rows in np.split(np.arange(60), [20, 40]):
        parts.partial_fit(X[rows], y[rows])
    assert parts.decoder_ == whole.decoder_ == "sort"
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        parts.predict(X), whole.predict(X), rtol=1e-9, atol=1e-12
    )


def test_dimensions():
    y = np.ones((1, 5))
    assert MeanAveragePrecision().encode(y).shape == (1, 15)
    assert PairwiseDisagreement().encode(y).shape == (1, 10)
    assert PrecisionAtShare(share=0.5).encode(y).shape == (1, 5 * 3)
    assert NDCG().encode(y).shape == (1, 5)


# Loss matrices ----------------------------------------------------------------------


def test_matrix_loss_dimensions():
    """0-1 loss on n classes has d = n - 1; (y - t)^2 has 2 with the row means removed."""
    assert MatrixLoss(1 - np.eye(5)).n_components_ == 4
    grid = np.arange(6.0)
    assert MatrixLoss((grid[:, None] - grid) ** 2).n_components_ == 2
    assert MatrixLoss(np.full((3, 4), 0.1)).n_components_ == 0
    rng = np.random.default_rng(0)
    assert (
        MatrixLoss(rng.normal(size=(7, 2)) @ rng.normal(size=(2, 9))).n_components_ == 2
    )


@pytest.mark.parametrize("shape", [(4, 4), (3, 6), (6, 3)])
def test_matrix_loss_is_calibrated(shape, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.uniform(size=shape)
    loss = MatrixLoss(matrix)
    assert loss.approximation_error_ < 1e-12
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
    assert 0 < worst <= 2 * loss.approximation_error_


def test_matrix_loss_is_an_estimator():
    """Clonable, settable, checked where it is used, factorised once."""
    matrix = [[0, 1, 5], [2, 0, 1]]
    loss = MatrixLoss(matrix, n_components=1)
    assert loss.loss_matrix is matrix
    assert clone(loss).get_params() == {"loss_matrix": matrix, "n_components": 1}
    assert loss.alpha_ is loss.alpha_  # no second decomposition
    np.testing.assert_array_equal(clone(loss).alpha_, loss.alpha_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loss)).beta_, loss.beta_)
    assert loss.set_params(n_components=None).n_components_ == 2
    loss.loss_matrix = 1 - np.eye(4)
    assert loss.n_components_ == 3
    assert loss.encode([0]).shape == (1, 3)


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (MatrixLoss([1.0, 2.0]), "must be a matrix"),
        (MatrixLoss([[0.0, np.inf]]), r"loss_matrix\[0, 1\] is inf"),
        (MatrixLoss(np.eye(2), n_components=0), "n_components must be an integer >= 1"),
        (
            MatrixLoss(np.eye(2), n_components=1.5),
            "n_components must be an integer >= 1",
        ),
    ],
)
def test_matrix_loss_refuses_what_is_none(loss, message):
    with pytest.raises(ValueError, match=message):
        clone(loss).encode([0])
    with pytest.raises(ValueError, match=message):
        _ = clone(loss).n_components_


def test_pd_orders_enumerated_once():
    assert len(all_ranks(4)) == 24


@pytest.mark.parametrize("name", names_of(lambda loss: not loss.takes_preferences))
def test_preferences_are_refused_by_losses_of_grades(name):
    loss, y = resolve_target_loss(name), np.zeros((3, 4, 4))
    for call in (loss.encode, loss.check_labels):
        with refused_by("preferences of a measure of grades"):
            call(y)
    with refused_by("preferences of a measure of grades"):
        loss.measure(y, np.zeros((3, 4)))


@pytest.mark.parametrize(
    "loss",
    [PairwiseDisagreement(), PairwiseDisagreement("difference"), KendallTau()],
    ids=repr,
)
def test_pairs_of_grades_are_those_of_the_matrices_without_them(loss):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 5, (30, 9)).astype(float)
    y[rng.uniform(size=y.shape) < 0.2] = np.nan
    np.testing.assert_array_equal(
        loss.encode(y), differences_from_matrices(loss.preferences(y))
    )
    y = rng.integers(0, 5, (300, 60)).astype(float)
    tracemalloc.start()
    targets = loss.encode(y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * targets.nbytes


@pytest.mark.parametrize("name", ["kendall", "ndcg@2", "pd", "map"])
def test_values_of_orders_are_means_over_those_of_tied_scores(name):
    rng = np.random.default_rng(0)
    loss = resolve_target_loss(name)
    for _ in range(20):
        y, scores = (
            rng.integers(0, 2, 5).astype(float),
            rng.integers(0, 3, 5).astype(float),
        )
        y[0], y[1] = 1.0, 0.0
        lists = RankingLists([5])
        orders = [
            scores + 1e-3 * np.argsort(order) for order in permutations(range(5))
        ]  # of untied ones the order stays
        each = [loss.values(loss.check_labels(y), order, lists)[0] for order in orders]
        found = loss.values_of_orders(loss.check_labels(y), scores, lists)[0]
        assert found == pytest.approx(np.mean(each))


def test_a_loss_of_your_own_is_told_what_is_wrong():
    class Rising(target_losses.PositionalLoss):
        labels = "graded"

        def discount(self, p, r):
            return 1.0 * p

    class Misspelt(Rising):
        labels = "grades"

    X, y, qid = [[0.0], [1.0], [2.0]], [0, 1, 2], [0, 0, 0]
    with pytest.raises(
        ValueError, match="discount of place 2 of 3, 2, is above that of place 1"
    ):
        LowRankSurrogateRanker(target_loss=Rising()).fit(X, y, qid=qid).score(
            X, y, qid=qid
        )
    with refused_by("unknown kind of labels"):
        LowRankSurrogateRanker(target_loss=Misspelt()).fit(X, y, qid=qid)
    with refused_by("not a measure", TypeError):
        LowRankSurrogateRanker(target_loss=3).fit(X, y, qid=qid)


def test_a_decoder_has_a_public_name():
    """A loss of one's own makes its decoder from what the error of its targets names."""

    class Sums(target_losses.NDCG):
        def encode(self, y):
            return np.asarray(y).sum(axis=1, keepdims=True)

    X, y = [[0.0], [1.0]], [[1, 0, 2], [0, 2, 1]]
    with pytest.raises(
        ValueError, match=r"lowrank_rank\.target_losses\.Decoder\(decode"
    ):
        LowRankSurrogateRanker(target_loss=Sums()).fit(X, y)

    class Decoded(Sums):
        @property
        def decoders(self):
            def decode(u, n_items):
                return np.tile(np.arange(1, n_items + 1)[::-1], (len(u), 1))

            return {"mine": target_losses.Decoder(decode, exact=False)}

    ranker = LowRankSurrogateRanker(target_loss=Decoded(), decoder="mine").fit(X, y)
    assert ranker.rank(X).tolist() == [[3, 2, 1], [3, 2, 1]]
