"""``one_list=True`` says that all rows are one list, wherever ids may be given."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.metrics import measure_score, ndcg_score
from lowrank_rank.plotting import PrecisionAtKDisplay
from lowrank_rank.structured import StructuredHingeRanker

from .refusals import refused_by

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.clip(np.round(X[:, 0] + RNG.normal(size=300) + 1), 0, 3)
FOLDS = KFold(2)
ZEROS = np.zeros(300)
RANKERS = {
    "OrderPreservingRegressor": OrderPreservingRegressor(),
    "LowRankSurrogateRanker": LowRankSurrogateRanker(),
    "PairwiseDAGRanker": PairwiseDAGRanker(),
    "HistGradientBoostingRanker": HistGradientBoostingRanker(max_iter=2),
    "WrappedRanker": WrappedRanker(Ridge()),
    "StackingRanker": StackingRanker(
        [("linear", Ridge()), ("trees", ExtraTreesRegressor(5, random_state=0))],
        weights={"linear": 1.0, "trees": 1.0},
    ),
    "StructuredHingeRanker": StructuredHingeRanker(),
}


@pytest.mark.parametrize("name", RANKERS)
def test_fit_and_score_of_one_list_are_those_of_one_id(name):
    model = clone(RANKERS[name])
    with refused_by("many rows without ids"):
        model.fit(X, Y)
    value = model.fit(X, Y, one_list=True).score(X, Y, one_list=True)
    assert value == model.score(X, Y)
    of_one_id = clone(model).fit(X, Y, qid=ZEROS)
    assert value == pytest.approx(of_one_id.score(X, Y, qid=ZEROS))
    # After a fit with ids, score and rank take one list as well.
    assert of_one_id.score(X, Y, one_list=True) == pytest.approx(value)
    assert sorted(of_one_id.rank(X, one_list=True)) == list(range(1, 301))


@pytest.mark.parametrize("name", RANKERS)
def test_one_list_is_routed_without_a_request(name):
    model = clone(RANKERS[name])
    with config_context(enable_metadata_routing=True):
        found = cross_val_score(
            make_pipeline(StandardScaler(), model),
            X,
            Y,
            cv=FOLDS,
            params={"one_list": True},
            error_score="raise",
        )
    by_hand = []
    for train, test in FOLDS.split(X):
        scaler = StandardScaler().fit(X[train])
        model.fit(scaler.transform(X[train]), Y[train], one_list=True)
        by_hand.append(model.score(scaler.transform(X[test]), Y[test], one_list=True))
    np.testing.assert_allclose(found, by_hand)


def test_a_pipeline_and_a_search_take_it_without_routing():
    pipe = make_pipeline(StandardScaler(), OrderPreservingRegressor())
    pipe.fit(X, Y, orderpreservingregressor__one_list=True)
    assert pipe[-1].score(X, Y) > 0.5
    search = GridSearchCV(
        OrderPreservingRegressor(),
        {"alpha": [0.1]},
        cv=FOLDS,
        scoring=make_ranking_scorer("ndcg"),
        error_score="raise",
    )
    assert 0.5 < search.fit(X, Y, one_list=True).best_score_ <= 1


@pytest.mark.parametrize("target_loss", ["precision@20", "recall@20"])
def test_a_perceptron_scores_a_count_of_all_rows(target_loss):
    y = Y > 1
    model = PrecisionAtKPerceptron(target_loss=target_loss, random_state=0)
    model.fit(X, y, one_list=True)
    scores = model.decision_function(X)
    value = measure_score(target_loss, y, scores, one_list=True)
    assert model.score(X, y) == model.score(X, y, one_list=True) == value
    with pytest.warns(UserWarning, match=r"one_list=True"):
        other = model.score(X[:150], y[:150])
    assert other == model.score(X[:150], y[:150], one_list=True)
    with config_context(enable_metadata_routing=True):
        cross_val_score(
            model, X, y, cv=FOLDS, params={"one_list": True}, error_score="raise"
        )
    with refused_by("one list with ids"):
        model.fit(X, y, qid=ZEROS, one_list=True)


def test_a_count_of_a_classifier_asks_for_lists_a_share_does_not():
    y = Y > 2
    scores = {
        name: make_ranking_scorer(name)
        for name in ("precision@25%", "recall@5%", "auc", "map", "ndcg")
    }
    cross_validate(
        LogisticRegression(), X, y, cv=FOLDS, scoring=scores, error_score="raise"
    )
    model = LogisticRegression().fit(X, y)
    for name in ("precision@20", "recall@20", "ndcg@20", "mrr@20", ["auc", "map@20"]):
        with refused_by("count of the rows of a fold"):
            make_ranking_scorer(name)(model, X, y)
        make_ranking_scorer(name, one_list=True)(model, X, y)
    days = np.arange(300) // 30
    wrapped = WrappedRanker(LogisticRegression()).fit(X, ranking_target(y, days))
    found = make_ranking_scorer("recall@5")(wrapped, X, ranking_target(y, days))
    scores = model.predict_proba(X)[:, 1]
    by_day = [
        y[days == day][np.argsort(-scores[days == day])[:5]].sum()
        / y[days == day].sum()
        for day in range(10)
        if y[days == day].any()
    ]
    assert found == pytest.approx(np.mean(by_day))


@pytest.mark.parametrize("measure", ["ndcg@10", "auc", "precision@5"])
def test_measures_of_many_rows_warn_unless_it_is_said(measure):
    y = Y if measure == "ndcg@10" else Y > 2
    with pytest.warns(UserWarning, match=r"All 300 rows .* one_list=True"):
        value = measure_score(measure, y, X[:, 0])
    assert value == measure_score(measure, y, X[:, 0], one_list=True)
    assert value == measure_score(measure, y, X[:, 0], qid=ZEROS)
    measure_score(measure, y[:200], X[:200, 0])
    measure_score(measure, np.reshape(y, (30, 10)), X[:, 0].reshape(30, 10))
    measure_score(measure, ranking_target(y, ZEROS), X[:, 0])
    for fault in ({"qid": ZEROS}, {"y_true": ranking_target(y, ZEROS)}):
        arguments = {"y_true": y, "y_score": X[:, 0], "one_list": True, **fault}
        with refused_by("one list with ids"):
            measure_score(measure, **arguments)
    with refused_by("one list of fixed items"):
        ndcg_score([[1, 0], [0, 1]], [[1, 2], [3, 4]], one_list=True)


def test_blocks_and_batches_are_one_list_each_if_it_is_said():
    halves = [(X[:150], Y[:150]), (X[150:], Y[150:])]
    small = LowRankSurrogateRanker().fit_blocks(halves)
    assert small.n_lists_ == 2
    twice = [(np.tile(a, (2, 1)), np.tile(b, 2)) for a, b in halves]
    for cls in (LowRankSurrogateRanker, OrderPreservingRegressor):
        with refused_by("many rows without ids"):
            cls().fit_blocks(twice)
        assert cls().fit_blocks(twice, one_list=True).n_lists_ == 2
    model = LowRankSurrogateRanker()
    with refused_by("many rows without ids"):
        model.partial_fit(*twice[0])
    for block in twice:
        model.partial_fit(*block, one_list=True)
    assert model.n_lists_ == 2


def test_a_curve_of_one_list():
    model = OrderPreservingRegressor().fit(X, Y, qid=np.arange(300) // 10)
    with refused_by("no ids for a scorer"):
        PrecisionAtKDisplay.from_estimator(model, X, Y)
    PrecisionAtKDisplay.from_estimator(model, X, Y, one_list=True)
