"""Losses of lists as trees see them: unit, cut, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from lowrank_rank import HistGradientBoostingRanker, OrderPreservingRegressor
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.datasets import make_ranking
from lowrank_rank.surrogates import SURROGATES

from .internals import (
    LambdaRank,
    ListLoss,
    LossesInTurn,
    RankingLists,
    _surrogates,
    read_lists,
    resolve_target_loss,
)
from .refusals import refused_by

RNG = np.random.default_rng(0)
QID = RNG.integers(0, 40, 600)
LISTS = read_lists(QID)
Y = RNG.integers(0, 4, 600).astype(float)


@pytest.mark.parametrize("name", ["lambdarank", *sorted(SURROGATES)])
@pytest.mark.parametrize("target_loss", ["ndcg@10", "auc", "recall@5"])
def test_the_mean_curvature_is_one_at_equal_scores(name, target_loss):
    w = RNG.uniform(0.5, 2.0, 600)
    loss = ListLoss(name, resolve_target_loss(target_loss), Y, w, LISTS)
    _, curvature = loss(np.zeros(600))
    assert_allclose(curvature.sum(), w.sum(), rtol=1e-4)


@pytest.mark.parametrize("name", ["lambdarank", *sorted(SURROGATES)])
def test_a_list_of_weight_two_is_the_list_twice(name):
    loss, s = resolve_target_loss("ndcg@5"), RNG.normal(size=600)
    again = QID < 20
    rows = np.r_[np.arange(600), np.flatnonzero(again)]
    twice = read_lists(np.where(np.arange(len(rows)) < 600, QID[rows], 100 + QID[rows]))
    weighted = ListLoss(name, loss, Y, 1.0 + again, LISTS)(s)
    copies = ListLoss(name, loss, Y[rows], np.ones(len(rows)), twice)(s[rows])
    for a, b in zip(weighted, copies, strict=True):
        assert_allclose(a, b[:600] * (1 + again), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("target_loss", "top"),
    [("ndcg@10", 30), ("ndcg@20", 30), ("ndcg@21", 32), ("ndcg@40", 60)],
)
def test_pairs_reach_beyond_the_cut_of_the_measure(target_loss, top):
    """Relevant rows push those behind them up to the rank max(30, 1.5 k)."""
    s, measure = -np.arange(200) / 100, resolve_target_loss(target_loss)
    for place, pushes in ((top - 1, True), (top, False)):
        y = (np.arange(200) == place) * 1.0
        gradient, _ = ListLoss(
            "lambdarank", measure, y, np.ones(200), RankingLists([200])
        )(s)
        assert gradient[place] < 0
        assert np.all(gradient[:place] > 0)
        assert np.all((gradient[place + 1 :] > 0) == pushes)


def test_lambdarank_is_a_plain_sum_over_the_pairs_of_all_lists():
    """Of gains over the best DCG of the measure's own cut; pairs weigh w_i w_j over the mean."""
    w, s = RNG.uniform(0.5, 2.0, 600), RNG.normal(size=600)
    w[QID % 4 == 0] = 0.7
    found = ListLoss("lambdarank", resolve_target_loss("ndcg@3"), Y, w, LISTS)(s)
    v, relative = np.empty(600), np.empty(600)
    for q in range(40):
        here = np.flatnonzero(q == QID)
        best = np.sort(Y[here])[::-1][:3]
        v[here] = Y[here] / (best @ (1 / np.log2(np.arange(2, 5))[: len(best)]))
        relative[here] = w[here] / w[here].mean()
    kernel = LambdaRank(LISTS.group(v), LISTS.group(relative), LISTS, 30)
    ratios = []
    for ours, pairs in zip(found, kernel(LISTS.group(s)), strict=True):
        pairs = LISTS.ungroup(pairs) * w / relative
        kept = np.abs(pairs) > 1e-3 * np.abs(pairs).max()
        ratios.append(ours[kept] / pairs[kept])
    assert_allclose(np.concatenate(ratios), ratios[0][0], rtol=1e-5)


def test_a_squared_term_of_a_sum_has_gains_of_standard_deviation_two():
    lists, s = RankingLists(np.full(30, 20)), np.zeros(600)
    weights = np.repeat(RNG.uniform(0.5, 2.0, 30), 20)
    measure = resolve_target_loss("ndcg@10")
    for name in (
        "pairwise_squared",
        "pointwise_squared",
        "lambdarank",
        "cross_entropy",
    ):
        term, alone = (
            np.divide(*ListLoss(name, measure, Y, weights, lists, is_term=is_term)(s))
            for is_term in (True, False)
        )
        if not name.endswith("squared"):
            assert_array_equal(term, alone)
            continue
        centred = (term - lists.repeat(lists.sum(term) / 20)) * (
            19 / 20 if "pair" in name else 1
        )
        assert_allclose(
            np.sqrt(np.average(centred**2, weights=weights)), 2.0, rtol=1e-6
        )
        assert_allclose(term * alone[0], alone * term[0], atol=1e-12)
        equal = np.divide(
            *ListLoss(name, measure, 0 * Y + 1, weights, lists, is_term=True)(s)
        )
        assert np.all(np.isfinite(equal))


def test_losses_in_turn_see_the_scores_of_their_own_trees():
    seen, trees = [], RNG.normal(size=(6, 4))
    losses = [lambda s, i=i: seen.append((i, s.copy())) for i in range(2)]
    scores = np.zeros(4)
    for first in (0, 3):  # a fit, and one that adds trees to three
        seen.clear()
        stages = list(np.cumsum(trees[:first], axis=0))
        turns, scores = LossesInTurn(losses, 4, stages), trees[:first].sum(axis=0) + 0.5
        for tree in trees[first:]:
            turns(scores)
            scores += tree  # in place, as scikit-learn
        for k, (loss, own) in enumerate(seen, start=first):
            assert loss == k % 2
            assert_allclose(own, trees[:k][k % 2 :: 2].sum(axis=0), atol=1e-12)


def test_without_a_cut_all_pairs_count():
    y = (np.arange(200) == 198) * 1.0
    loss = ListLoss(
        "lambdarank", resolve_target_loss("auc"), y, np.ones(200), RankingLists([200])
    )
    gradient, _ = loss(-np.arange(200) / 100)
    assert gradient[199] > 0


def test_what_has_no_utilities_or_too_many_pairs_is_refused(monkeypatch):
    with refused_by("loss without utilities"):
        boosting_objective("lambdarank", "pd")
    with pytest.raises(
        ValueError, match=r"loss of boosting_objective must be one of .*'lambdarank'"
    ):
        boosting_objective("ndcg", "ndcg")
    monkeypatch.setattr(_surrogates, "_MAX_PAIRS", 10_000)
    lists, y = RankingLists([600]), np.arange(600) % 2.0
    for name, measure in (("lambdarank", "auc"), ("pairwise_logistic", "ndcg@10")):
        with refused_by("many pairs of rows"):
            ListLoss(name, resolve_target_loss(measure), y, 0 * y + 1, lists)
    ListLoss("cross_entropy", resolve_target_loss("auc"), y, 0 * y + 1, lists)


def test_listnet_is_the_common_name_of_cross_entropy():
    X, y, qid = make_ranking(12, (4, 6), random_state=0)
    for model in (
        OrderPreservingRegressor(surrogate="cross_entropy"),
        HistGradientBoostingRanker(loss="cross_entropy", max_iter=5, random_state=0),
    ):
        parameter = "surrogate" if hasattr(model, "surrogate") else "loss"
        common = clone(model).set_params(**{parameter: "listnet"})
        expected, found = (one.fit(X, y, qid=qid).predict(X) for one in (model, common))
        assert_array_equal(found, expected)
