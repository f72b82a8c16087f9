"""Early stopping: what a hand-written loop over the held-out lists finds."""

from inspect import signature

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import Ridge
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import LowRankSurrogateRanker, ranking_target
from lowrank_rank._lists import RankingLists
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split
from lowrank_rank.regression._any_regressor import round_significant
from lowrank_rank.regression._early_stopping import Iterated, hold_out

SEED, FRACTION, PATIENCE, MAX_ITER = 3, 0.3, 4, 25
STOPPING = {
    "early_stopping": True,
    "validation_fraction": FRACTION,
    "n_iter_no_change": PATIENCE,
    "random_state": SEED,
}


def boosted(name, **params):
    """A small regressor of each library, and the parameter that counts its trees."""
    if name == "hist":
        return HistGradientBoostingRegressor(max_iter=MAX_ITER, **params), "max_iter"
    if name == "trees":
        trees = {"n_estimators": MAX_ITER, "max_depth": 2, "subsample": 0.7, **params}
        return GradientBoostingRegressor(**trees), "n_estimators"
    if name == "lightgbm":
        trees = {"n_estimators": MAX_ITER, "num_leaves": 4, "n_jobs": 1, "verbose": -1, **params}
        return pytest.importorskip(name).LGBMRegressor(**trees), "n_estimators"
    trees = {"n_estimators": MAX_ITER, "max_depth": 2, "n_jobs": 1, **params}
    return pytest.importorskip(name).XGBRegressor(**trees), "n_estimators"


NAMES = ["hist", "trees", "lightgbm", "xgboost"]


@pytest.fixture(scope="module")
def documents():
    """Noisy grades, rows in no order of their lists, the last two lists without a relevant row."""
    X, y, qid = make_ranking(60, (3, 8), n_features=5, random_state=0)
    rng = np.random.default_rng(0)
    y = np.clip(y + rng.integers(-1, 2, len(y)), 0, None)
    y[qid >= 58] = 0
    order = rng.permutation(len(y))
    return X[order], y[order], qid[order]


@pytest.fixture(scope="module")
def items(documents):
    X = documents[0]
    noise = np.random.default_rng(1).normal(size=(len(X), 4))
    return X, np.argsort(np.argsort(X[:, :4] + noise, axis=1), axis=1).astype(float)


def by_hand(ranker, name, n_tried, X, y, qid=None, weights=None):
    """Scores on the lists held out of a new model for each number of trees."""
    ids = np.arange(len(y)) if qid is None else qid
    w = np.ones(len(y)) if weights is None else weights
    rows, held = query_train_test_split(
        np.arange(len(y)), qid=ids, test_size=FRACTION, random_state=SEED
    )[:2]

    def fit_arguments(rows):
        given = {} if qid is None else {"qid": qid[rows]}
        return given if weights is None else {**given, "sample_weight": w[rows]}

    def taken(rows):
        return (X.iloc[rows] if hasattr(X, "iloc") else X[rows]), y[rows]

    scores = []
    for n in range(1, n_tried + 1):
        model = clone(ranker).set_params(early_stopping=False, **{f"estimator__{name}": n})
        model.fit(*taken(rows), **fit_arguments(rows))
        scores.append(model.score(*taken(held), **fit_arguments(held)))
    return np.array(scores)


def check_by_hand(ranker, name, X, y, qid=None, weights=None):
    """Scores, where the loop stops, and the model that comes back: fitted anew to all lists."""
    given = {} if qid is None else {"qid": qid}
    given = given if weights is None else {**given, "sample_weight": weights}
    model = clone(ranker).fit(X, y, **given)
    tried = len(model.validation_scores_)
    scores = by_hand(ranker, name, tried, X, y, qid, weights)
    assert_array_equal(model.validation_scores_, scores)
    best = int(np.argmax(scores))
    assert tried == min(best + 1 + PATIENCE, MAX_ITER)
    running = np.maximum.accumulate(scores)
    stale = np.arange(tried) - np.searchsorted(running, running)  # since the largest value so far
    assert np.all(stale[:-1] < PATIENCE)
    assert model.n_iter_ == best + 1
    whole = clone(ranker).set_params(early_stopping=False, **{f"estimator__{name}": best + 1})
    whole.fit(X, y, **given)
    assert_array_equal(model.predict_surrogate(X), whole.predict_surrogate(X))
    return model


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("settings", [{}, {"centered": True, "list_weights": "lists"}], ids=str)
def test_documents_stop_where_a_loop_over_held_out_lists_does(documents, name, settings):
    estimator, count = boosted(name)
    ranker = LowRankSurrogateRanker(estimator=estimator, **STOPPING, **settings)
    model = check_by_hand(ranker, count, *documents)
    assert model.n_iter_ < MAX_ITER  # it did stop
    assert model.estimator_.get_params()[count] == model.n_iter_


@pytest.mark.parametrize("name", ["hist", "lightgbm", "xgboost"])
def test_weights_count_in_the_fit_and_in_the_measure(documents, name):
    X, y, qid = documents
    estimator, count = boosted(name)
    weights = np.random.default_rng(2).uniform(0.5, 2.0, 60)[qid]
    ranker = LowRankSurrogateRanker(target_loss="precision@2", estimator=estimator, **STOPPING)
    weighted = check_by_hand(ranker, count, X, y, qid, weights)
    plain = clone(ranker).fit(X, y, qid=qid)
    n = min(len(weighted.validation_scores_), len(plain.validation_scores_))
    assert not np.array_equal(weighted.validation_scores_[:n], plain.validation_scores_[:n])


@pytest.mark.parametrize("name", ["hist", "trees", "xgboost"])
@pytest.mark.parametrize("target_loss", ["ndcg@2", "kendall"])
def test_fixed_items_stop_together(items, name, target_loss):
    """One model for each target where the regressor has one output; the decoded order counts."""
    X, y = (part[:120] for part in items)
    estimator, count = boosted(name)
    ranker = LowRankSurrogateRanker(target_loss=target_loss, estimator=estimator, **STOPPING)
    model = check_by_hand(ranker, count, X, y)
    assert hasattr(model, "estimator_") == (name == "xgboost") == (len(model.estimators_) == 1)


def test_fixed_items_that_are_not_judged(items):
    X, y = (part[:120] for part in items)
    y = y.copy()
    y[::9, 1] = np.nan
    estimator, count = boosted("hist")
    ranker = LowRankSurrogateRanker(target_loss="dcg@2", estimator=estimator, **STOPPING)
    check_by_hand(ranker, count, X, y)


@pytest.mark.parametrize("name", NAMES)
def test_frames_stay_frames(documents, name):
    """Categories and, where they are taken, missing values, in the rows held out too."""
    X, y, qid = documents
    noise = np.random.default_rng(5).integers(0, 2, len(y))
    frame = pd.DataFrame(X.copy(), columns=list("abcde"), index=np.arange(len(y))[::-1])
    if name != "trees":
        frame["kind"] = pd.Categorical(np.where(y + noise > 1, "high", "low"))
        frame.loc[frame.index[::5], "a"] = np.nan
    options = {"hist": {"categorical_features": "from_dtype"}, "xgboost": {"enable_categorical": 1}}
    estimator, count = boosted(name, **options.get(name, {}))
    check_by_hand(LowRankSurrogateRanker(estimator=estimator, **STOPPING), count, frame, y, qid)


@pytest.mark.parametrize("name", NAMES)
def test_the_last_step_of_a_pipeline(documents, name):
    """Transformers, those of the targets too, see the other lists only."""
    X, y, qid = documents
    estimator, count = boosted(name)
    selected = make_pipeline(StandardScaler(), SelectKBest(f_regression, k=3))
    pipeline = make_pipeline(selected, make_pipeline(estimator))
    count = f"pipeline-2__{type(estimator).__name__.lower()}__{count}"
    ranker = LowRankSurrogateRanker(estimator=pipeline, **STOPPING)
    check_by_hand(ranker, count, X, y, qid)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_rows(documents, name):
    X, y, qid = documents
    if name == "hist":
        pytest.skip("takes no sparse matrix")
    estimator, count = boosted(name)
    X = sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0.0))
    check_by_hand(LowRankSurrogateRanker(estimator=estimator, **STOPPING), count, X, y, qid)


def test_lightgbm_itself_stops_there(documents):
    """Its own call on the encoded targets, with the measure of the labels as its metric."""
    X, y, qid = documents
    lightgbm = pytest.importorskip("lightgbm")
    estimator, _ = boosted("lightgbm", metric="None")
    ranker = LowRankSurrogateRanker(
        target_loss="dcg@3", estimator=estimator, centered=False, **STOPPING
    ).fit(X, y, qid=qid)
    rows, held = query_train_test_split(
        np.arange(len(y)), qid=qid, test_size=FRACTION, random_state=SEED
    )[:2]
    measure = ranker.target_loss_.measure
    renamed = "eval_X" in signature(estimator.fit).parameters  # from 4.7 on
    given = (
        {"eval_X": X[held], "eval_y": y[held]} if renamed else {"eval_set": [(X[held], y[held])]}
    )
    own = estimator.fit(
        X[rows],
        round_significant(y[rows]),
        **given,
        eval_metric=lambda t, s: ("dcg", measure(y[held], s, qid=qid[held]), True),
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    assert own.best_iteration_ == ranker.n_iter_
    assert own.evals_result_["valid_0"]["dcg"] == ranker.validation_scores_.tolist()


def test_ids_in_the_target_and_seeds(documents):
    X, y, qid = documents
    estimator, _ = boosted("trees")
    ranker = LowRankSurrogateRanker(estimator=estimator, **STOPPING)
    model = clone(ranker).fit(X, y, qid=qid)
    carried = clone(ranker).fit(X, ranking_target(y, qid))
    assert_array_equal(carried.validation_scores_, model.validation_scores_)
    assert_array_equal(carried.predict(X), model.predict(X))
    other = clone(ranker).set_params(random_state=SEED + 1).fit(X, y, qid=qid)
    assert not np.array_equal(other.validation_scores_[:3], model.validation_scores_[:3])
    states = [np.random.RandomState(0) for _ in range(2)]
    twice = [clone(ranker).set_params(random_state=s).fit(X, y, qid=qid) for s in states]
    assert_array_equal(twice[0].predict(X), twice[1].predict(X))
    again = model.set_params(early_stopping=False).fit(X, y, qid=qid)
    assert not hasattr(again, "validation_scores_")
    assert again.n_iter_ == 1  # a pass


@pytest.mark.parametrize("name", ["hist", "trees", "xgboost"])
def test_their_own_stopping_by_rows_is_switched_off(documents, name):
    own = {
        "hist": {"early_stopping": True, "n_iter_no_change": 1},
        "trees": {"n_iter_no_change": 1},
        "xgboost": {"early_stopping_rounds": 1},
    }[name]
    X, y, qid = documents
    fits = [
        LowRankSurrogateRanker(estimator=boosted(name, **params)[0], **STOPPING).fit(X, y, qid=qid)
        for params in (own, {})
    ]
    assert_array_equal(fits[0].validation_scores_, fits[1].validation_scores_)
    assert_array_equal(fits[0].predict(X), fits[1].predict(X))


@pytest.mark.parametrize("patience", [1, 3, 40])
def test_steps_of_the_warm_start_change_nothing(documents, patience):
    """Fits go on by `n_iter_no_change` trees: scores are a loop's, whatever that number is."""
    X, y, qid = documents
    estimator, _ = boosted("hist")
    settings = {**STOPPING, "n_iter_no_change": patience}
    longest = LowRankSurrogateRanker(estimator=estimator, **{**settings, "n_iter_no_change": 99})
    scores = longest.fit(X, y, qid=qid).validation_scores_
    assert len(scores) == MAX_ITER
    ranker = LowRankSurrogateRanker(estimator=estimator, **settings).fit(X, y, qid=qid)
    assert_array_equal(ranker.validation_scores_, scores[: len(ranker.validation_scores_)])
    assert len(ranker.validation_scores_) == min(ranker.n_iter_ + patience, MAX_ITER)


def test_whole_lists_that_weigh_something_are_held_out():
    qid = np.array([0, 1, 2, 3, 0, 1, 2, 3, 4, 4])
    lists, weights = RankingLists.from_qid(qid), np.where(qid == 3, 0.0, 1.0)
    seen = set()
    for seed in range(20):
        rows, held = hold_out(lists, weights, 0.3, seed)
        assert_array_equal(np.sort(np.concatenate([rows, held])), np.arange(10))
        assert not set(qid[rows]) & set(qid[held])
        assert len(set(qid[held])) == 2  # 0.3 of four, upwards
        kept = np.isin(np.arange(10), np.flatnonzero(weights))
        _, same = hold_out(RankingLists.from_qid(qid[kept]), weights[kept], 0.3, seed)
        assert_array_equal(np.flatnonzero(kept)[same], held)  # as without the list of weight 0
        seen |= set(qid[held])
    assert seen == {0, 1, 2, 4}


def test_a_ranker_that_stops_has_scores_of_lists_that_it_has_not_seen(documents):
    """With pure noise as grades no number of trees looks good for long."""
    X, _, qid = documents
    y = np.random.default_rng(8).integers(0, 3, len(X))
    estimator, _ = boosted("hist", min_samples_leaf=1, learning_rate=1.0)
    ranker = LowRankSurrogateRanker(estimator=estimator, **STOPPING).fit(X, y, qid=qid)
    fitted = clone(estimator).fit(X, y).predict(X)
    assert ndcg_score(y, fitted, qid=qid) > 0.95  # learnt by heart
    assert ranker.validation_scores_.max() < 0.85


def test_errors_name_the_remedy(documents, items):
    X, y, qid = documents
    hist, _ = boosted("hist")

    def fit(y=y, estimator=hist, X=X, **params):
        ranker = LowRankSurrogateRanker(estimator=estimator, early_stopping=True, **params)
        try:
            ranker.fit(X, y, **({"qid": ids} if ids is not None else {}))
        finally:
            assert not any(name.endswith("_") for name in vars(ranker))

    ids = qid
    for none, what in (
        ("ridge", "The default linear regression is not"),
        ("auto", "The default linear regression is not"),
        (Ridge(), r"Ridge\(\) is not. Set"),
        (MLPRegressor(), r"MLPRegressor\(\) is not"),
        (make_pipeline(StandardScaler(), Ridge()), r"Ridge\(\) is not"),
        (RandomForestRegressor(), r"is not. More trees of a forest do no harm"),
    ):
        with pytest.raises(ValueError, match=what):
            fit(estimator=none)
    with pytest.raises(ValueError, match="set n_passes=1"):
        fit(n_passes=2, centered=True)
    with pytest.raises(ValueError, match="set n_passes=1"):
        fit(estimator="trees")
    with pytest.raises(ValueError, match=r"of 60 leaves none to learn from.*smaller fraction"):
        fit(validation_fraction=0.99)
    with pytest.raises(ValueError, match="defined on none of the 6 lists"):
        fit(y=np.where(qid < 1, y, 0), random_state=0)
    for name, value in (
        ("early_stopping", "auto"), ("validation_fraction", 1.0), ("n_iter_no_change", 0),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name} must be"):
            LowRankSurrogateRanker(**{name: value}).fit(X, y, qid=qid)
    ids = None
    with pytest.raises(ValueError, match=r"of 1 leaves none to learn from: give at least 2 lists"):
        fit()
    lightgbm, _ = boosted("lightgbm")
    with pytest.raises(ValueError, match=r"4 models of LGBMRegressor.*documents"):
        fit(y=items[1], X=items[0], estimator=lightgbm)


def test_what_can_be_stopped():
    found = {name: Iterated.of(boosted(name)[0]) for name in NAMES}
    assert found["hist"].name == "max_iter"
    assert found["hist"].limited(7).get_params()["early_stopping"] is False
    assert {found[name].name for name in NAMES[1:]} == {"n_estimators"}
    inside = Iterated.of(make_pipeline(StandardScaler(), boosted("hist")[0]))
    assert inside.prefix == "histgradientboostingregressor__"
    assert inside.limited(7)[-1].max_iter == 7
