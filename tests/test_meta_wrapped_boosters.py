"""WrappedRanker: the boosters' own rankers under cross-validation, searches and scorers."""

import pickle
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from lowrank_rank import WrappedRanker, make_ranking_scorer, ranking_target
from lowrank_rank.boosting import boosting_metric
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split

from .refusals import refused_by

TREES = {"n_estimators": 10, "n_jobs": 1}


def booster(name, **params):
    """The ranker of a library, small; skips where it is not installed."""
    library = pytest.importorskip(name)
    if name == "lightgbm":
        settings = {**TREES, "verbose": -1, "min_child_samples": 2, **params}
        return library.LGBMRanker(**settings)
    if name == "xgboost":
        return library.XGBRanker(**{**TREES, "max_depth": 3, **params})
    settings = {"iterations": 10, "verbose": False, "thread_count": 1, **params}
    return library.CatBoostRanker(allow_writing_files=False, **settings)


LIBRARIES = ["lightgbm", "xgboost", "catboost"]


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(30, (4, 9), n_features=5, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], qid[order]


@pytest.mark.parametrize("name", LIBRARIES)
def test_scores_are_those_of_the_ranker_on_sorted_rows(data, name):
    X, y, qid = data
    ranker = WrappedRanker(booster(name)).fit(X, ranking_target(y, qid))
    first = np.unique(qid, return_index=True)[1]
    ids = qid[np.sort(first)]  # in order of appearance
    order = np.concatenate([np.flatnonzero(qid == q) for q in ids])
    sizes = [int(np.sum(qid == q)) for q in ids]
    lists = {"lightgbm": {"group": sizes}, "xgboost": {"group": sizes}}.get(
        name, {"group_id": np.repeat(np.arange(len(sizes)), sizes)}
    )
    plain = booster(name).fit(X[order], y[order], **lists)
    np.testing.assert_array_equal(ranker.predict(X), plain.predict(X))
    assert len(np.unique(ranker.predict(X))) > 10
    assert ranker.score(X, y, qid=qid) == ndcg_score(
        y, ranker.predict(X), qid=qid, k=10
    )
    np.testing.assert_array_equal(
        ranker.feature_importances_, plain.feature_importances_
    )
    assert (ranker.n_lists_, ranker.n_features_in_) == (30, 5)
    again = pickle.loads(pickle.dumps(ranker))
    np.testing.assert_array_equal(again.predict(X), ranker.predict(X))


@pytest.mark.parametrize("name", LIBRARIES)
def test_cross_validation_and_searches_take_a_target(data, name):
    X, y, qid = data
    target, cv = ranking_target(y, qid), GroupKFold(3)
    model = WrappedRanker(booster(name))
    options = {
        "cv": cv,
        "error_score": "raise",
        "scoring": make_ranking_scorer("ndcg@5"),
    }
    scores = cross_val_score(model, X, target, groups=qid, **options)
    for score, (train, test) in zip(scores, cv.split(X, y, qid), strict=True):
        fitted = clone(model).fit(X[train], y[train], qid=qid[train])
        assert score == ndcg_score(y[test], fitted.predict(X[test]), qid=qid[test], k=5)
    if name == "lightgbm":
        search = GridSearchCV(model, {"estimator__num_leaves": [2, 4]}, **options)
        assert search.fit(
            X, target, groups=qid
        ).best_estimator_.estimator_.num_leaves in (2, 4)
        assert (
            len(cross_val_score(model, X, target, groups=qid, cv=cv)) == 3
        )  # its own score


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_weight_two_is_every_list_twice(data, name):
    """Weights of rows where the booster weighs rows, means over lists where it weighs lists."""
    X, y, qid = data
    w = np.where(qid < 10, 2.0, 1.0)
    weighted = WrappedRanker(booster(name)).fit(X, y, qid=qid, sample_weight=w)
    unweighted = WrappedRanker(booster(name)).fit(X, y, qid=qid)
    same = WrappedRanker(booster(name)).fit(
        X, y, qid=qid, sample_weight=np.ones(len(y))
    )
    assert not np.allclose(weighted.predict(X), unweighted.predict(X))
    np.testing.assert_allclose(same.predict(X), unweighted.predict(X), rtol=1e-5)


# Early stopping ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def split(data):
    """Sorted training rows and held-out rows of noisy grades, with the sizes of their lists."""
    X, y, qid = make_ranking(60, (3, 8), n_features=5, random_state=0)
    y = np.clip(y + np.random.default_rng(0).integers(-1, 2, len(y)), 0, None)
    parts = query_train_test_split(X, y, qid=qid, test_size=0.3, random_state=3)
    sizes = [np.unique(part, return_counts=True)[1] for part in parts[4:]]
    order = np.random.default_rng(1).permutation(len(y))
    return (X, y, qid), parts, sizes, order


STOPPING = {
    "early_stopping": True, "validation_fraction": 0.3, "n_iter_no_change": 4, "random_state": 3,
}  # fmt: skip


def check_fitted_anew(model, name, params, X, y, qid):
    """The ranker that comes back is one of so many trees, on all lists."""
    plain = WrappedRanker(booster(name, **params, n_estimators=model.n_iter_)).fit(
        X, y, qid=qid
    )
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    assert model.estimator_.n_estimators == model.n_iter_
    assert model.n_iter_ == np.argmax(model.validation_scores_) + 1
    assert len(model.validation_scores_) == min(model.n_iter_ + 4, 40)


@pytest.mark.parametrize("weighted", [False, True])
def test_lightgbm_itself_stops_there(split, weighted):
    """Its own call, with groups of the training and of the evaluation set."""
    lightgbm = pytest.importorskip("lightgbm")
    (X, y, qid), (X_train, X_held, y_train, y_held, *ids), sizes, _ = split
    weights = (
        np.random.default_rng(2).uniform(0.5, 2.0, 60) if weighted else np.ones(60)
    )
    given = {"sample_weight": weights[qid]} if weighted else {}
    model = WrappedRanker(
        booster("lightgbm", n_estimators=40), target_loss="precision@2", **STOPPING
    ).fit(X, y, qid=qid, **given)
    renamed = "eval_X" in signature(lightgbm.LGBMRanker.fit).parameters  # from 4.7 on
    held = (
        {"eval_X": X_held, "eval_y": y_held}
        if renamed
        else {"eval_set": [(X_held, y_held)]}
    )
    own = booster("lightgbm", n_estimators=40, metric="None").fit(
        X_train,
        y_train,
        group=sizes[0],
        **held,
        eval_group=[sizes[1]],
        **({"sample_weight": weights[ids[0]]} if weighted else {}),
        eval_sample_weight=[weights[ids[1]]] if weighted else None,
        eval_metric=boosting_metric("precision@2"),
        callbacks=[lightgbm.early_stopping(4, verbose=False)],
    )
    assert own.best_iteration_ == model.n_iter_ < 36
    values = own.evals_result_["valid_0"][
        "precision@2"
    ]  # with weights of single precision
    np.testing.assert_allclose(
        model.validation_scores_, values, rtol=1e-6 if weighted else 0
    )
    if not weighted:
        check_fitted_anew(model, "lightgbm", {}, X, y, qid)


@pytest.mark.parametrize("target_loss", ["ndcg@10", "map"])
def test_xgboost_itself_stops_there(split, target_loss):
    """`train` with its own callback, for XGBRanker takes no metric; MAP on grades of 0 and 1."""
    xgboost = pytest.importorskip("xgboost")
    (X, y, qid), (X_train, X_held, y_train, y_held, *ids), _, _ = split
    params = {} if target_loss == "ndcg@10" else {"objective": "rank:map"}
    ranker = booster("xgboost", n_estimators=40, **params)
    threshold = None if target_loss == "ndcg@10" else 2
    model = WrappedRanker(
        ranker, target_loss=target_loss, relevance_threshold=threshold, **STOPPING
    ).fit(X, y, qid=qid)
    labels = [
        one if threshold is None else one >= threshold for one in (y_train, y_held)
    ]
    train = xgboost.DMatrix(X_train, labels[0], qid=ids[0])
    held = xgboost.DMatrix(X_held, y_held, qid=ids[1])
    history = {}
    xgboost.train(
        {**ranker.get_xgb_params(), "disable_default_eval_metric": True},
        train,
        40,
        evals=[(held, "held")],
        evals_result=history,
        custom_metric=boosting_metric(target_loss),
        callbacks=[xgboost.callback.EarlyStopping(rounds=4, maximize=True)],
        verbose_eval=False,
    )
    values = history["held"][target_loss]
    np.testing.assert_allclose(
        model.validation_scores_, values, atol=1e-4
    )  # told to 5 digits
    assert model.n_iter_ == np.argmax(values) + 1 < 36
    if threshold is None:
        check_fitted_anew(model, "xgboost", {}, X, y, qid)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_stopping_in_cross_validation_with_ids_in_the_target(split, name):
    """Rows in no order; frames with a category; the same model as of sorted rows."""
    (X, y, qid), _, _, order = split
    frame = pd.DataFrame(X.copy(), columns=list("abcde"))
    frame["kind"] = pd.Categorical(np.where(qid % 2, "odd", "even"))
    frame.loc[::9, "a"] = np.nan
    params = {} if name == "lightgbm" else {"enable_categorical": True}
    model = WrappedRanker(booster(name, **params, n_estimators=40), **STOPPING)
    scores = cross_val_score(
        model,
        frame.iloc[order],
        ranking_target(y, qid)[order],
        groups=qid[order],
        cv=GroupKFold(3),
        error_score="raise",
    )
    assert scores.min() > 0.6
    fitted = clone(model).fit(frame, y, qid=qid)
    place = np.arange(len(qid)) - np.unique(qid, return_index=True)[1][qid]
    by_place = np.argsort(
        place, kind="stable"
    )  # the first rows of all lists, then the second
    mixed = clone(model).fit(frame.iloc[by_place], y[by_place], qid=qid[by_place])
    np.testing.assert_array_equal(mixed.validation_scores_, fitted.validation_scores_)
    np.testing.assert_array_equal(mixed.predict(frame), fitted.predict(frame))


def test_stopping_says_what_it_cannot(split):
    (X, y, qid), _, _, _ = split
    with refused_by("model without early stopping"):
        WrappedRanker(Recorder(), **STOPPING).fit(X, y, qid=qid)
    ranker = WrappedRanker(booster("lightgbm"), **STOPPING)
    with pytest.raises(ValueError, match="give at least 2 lists"):
        ranker.fit(X, y, one_list=True)
    assert vars(ranker).keys() == ranker.get_params(deep=False).keys()
    with pytest.raises(ValueError, match="validation_fraction must be"):
        ranker.set_params(validation_fraction=0).fit(X, y, qid=qid)


# What else reaches the ranker -------------------------------------------------------


def test_frames_reach_the_ranker_untouched(data):
    X, y, qid = data
    frame = pd.DataFrame(X.copy(), columns=list("abcde"))
    frame["f"] = pd.Categorical(np.where(y > 1, "high", "low"))
    frame.loc[3, "a"] = np.nan
    model = WrappedRanker(booster("lightgbm")).fit(frame, ranking_target(y, qid))
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.estimator_.booster_.pandas_categorical == [["high", "low"]]
    assert model.score(frame, ranking_target(y, qid)) > 0.9  # the category tells


class Recorder(BaseEstimator):
    """Keeps what its fit was given."""

    def fit(self, X, y, group, sample_weight=None):
        self.given_ = X, y, group, sample_weight
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]


class DaskRecorder(Recorder):
    """Named as the rankers of clusters are."""


def test_what_the_estimator_gets():
    X, y, qid, w = [[1.0], [2.0], [3.0]], [2, 0, 1], ["b", "a", "b"], [1.0, 2.0, 3.0]
    model = WrappedRanker(Recorder(), relevance_threshold=2).fit(
        X, y, qid=qid, sample_weight=w
    )
    rows, grades, group, weights = model.estimator_.given_
    assert rows.ravel().tolist() == [1, 3, 2]
    assert (grades.tolist(), group.tolist(), weights.tolist()) == (
        [1, 0, 0],
        [2, 1],
        [1, 3, 2],
    )
    together = np.array([[1.0], [2.0]])
    assert (
        WrappedRanker(Recorder()).fit(together, [0, 1]).estimator_.given_[0] is together
    )
    assert not hasattr(model, "coef_")


def test_errors_name_the_remedy(data):
    X, y, qid = data
    with refused_by("model of clusters"):
        WrappedRanker(DaskRecorder()).fit(X, y, qid=qid)
    with refused_by("matrix of grades"):
        WrappedRanker(Recorder()).fit(X, np.ones((len(X), 3)))
    with pytest.raises(ValueError, match="estimator must be"):
        WrappedRanker("lightgbm").fit(X, y, qid=qid)
    assert not hasattr(WrappedRanker(Recorder()), "feature_importances_")
    linear = WrappedRanker(Ridge()).fit(X, y, qid=qid)
    np.testing.assert_array_equal(linear.coef_, linear.estimator_.coef_)


@pytest.mark.filterwarnings("ignore")  # LightGBM's own
def test_a_query_too_long_for_lightgbm():
    X, y = np.arange(12000.0)[:, np.newaxis], np.arange(12000) % 2
    with pytest.raises(ValueError, match=r"10,000 rows.*HistGradientBoostingRanker"):
        WrappedRanker(booster("lightgbm")).fit(X, y, one_list=True)


@pytest.mark.filterwarnings("ignore")  # LightGBM's own
def test_scikit_learns_checks():
    """With grades of any kind, all but those in which LightGBM bins weighted rows."""
    model = WrappedRanker(
        booster("lightgbm", objective="regression", min_child_samples=1)
    )
    tested = check_estimator(model, on_skip=None, on_fail=None)
    failed = {one["check_name"] for one in tested if one["status"] == "failed"}
    assert all(name.startswith("check_sample_weight_equivalence") for name in failed), (
        failed
    )
    assert len(tested) > 30


@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_shap_explains_the_fitted_ranker(data, name):
    shap = pytest.importorskip("shap", minversion="0.50")
    X, y, qid = data
    model = WrappedRanker(booster(name)).fit(X, y, qid=qid)
    explained = shap.TreeExplainer(model.estimator_)(X)
    total = explained.values.sum(axis=1) + explained.base_values
    np.testing.assert_allclose(total, model.predict(X), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", ["lightgbm", "ridge"])
def test_columns_go_by_name(data, name):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = WrappedRanker(Ridge() if name == "ridge" else booster(name)).fit(
        frame, y, qid=qid
    )
    with refused_by("columns in another order"):
        model.predict(frame[list("edcba")])
    with refused_by("columns in another order"):
        model.score(frame[list("edcba")], y, qid=qid)


def test_regressors_of_boosters_stop_too(split):
    lightgbm = pytest.importorskip("lightgbm")
    (X, y, qid), _, _, _ = split
    regressor = lightgbm.LGBMRegressor(n_estimators=60, n_jobs=1, verbose=-1)
    model = WrappedRanker(regressor, **STOPPING).fit(X, y, qid=qid)
    assert (
        model.n_iter_
        == model.estimator_.n_estimators
        == np.argmax(model.validation_scores_) + 1
    )
    plain = clone(regressor).set_params(n_estimators=model.n_iter_).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
