"""HistGradientBoostingRanker: what it learns, what changes nothing, what it says."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lowrank_rank import (
    HistGradientBoostingRanker,
    OrderPreservingRegressor,
    ranking_target,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import (
    query_permutation_importance,
    query_train_test_split,
)
from lowrank_rank.surrogates import SURROGATES

from .internals import ListLoss, read_lists, resolve_target_loss
from .refusals import refused_by


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(60, (4, 15), n_features=5, random_state=0)
    y = np.clip(y + np.random.default_rng(0).integers(-1, 2, len(y)), 0, None)
    order = np.random.default_rng(1).permutation(len(y))
    return X[order], y[order].astype(float), qid[order]


def ranker(loss=("lambdarank", "pairwise_squared"), **params):
    settings = {"random_state": 0, "max_iter": 30, **params}
    return HistGradientBoostingRanker(loss=loss, **settings)


# What changes nothing --------------------------------------------------------------------


def test_orders_of_rows_units_and_ids_change_nothing(data):
    X, y, qid = data
    expected = ranker().fit(X, y, qid=qid).predict(X)
    place = np.random.default_rng(2).permutation(60)[qid]
    order = np.argsort(place, kind="stable")  # lists in another order, each in its own
    shuffled = ranker().fit(X[order], y[order], qid=[f"q{q}" for q in qid[order]])
    assert_allclose(shuffled.predict(X), expected, atol=1e-6)
    for order in (np.random.default_rng(2).permutation(len(y)), np.lexsort((-y, qid))):
        mixed = ranker().fit(X[order], y[order], qid=qid[order])
        assert_allclose(mixed.predict(X), expected, atol=1e-6)
    powers = X * 2.0 ** np.array([1, -3, 10, 0, 5])  # exact in binary numbers
    assert_array_equal(ranker().fit(powers, y, qid=qid).predict(powers), expected)
    few = ranker(max_iter=5)
    expected = few.fit(X, y, qid=qid).predict(X)
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            assert_allclose(few.fit(X, y, qid=qid).predict(X), expected, atol=1e-9)


@pytest.mark.parametrize("loss", ["lambdarank", "cross_entropy", "pairwise_logistic"])
def test_the_order_of_rows_changes_nothing(data, loss):
    X, y, qid = data
    order = np.random.default_rng(2).permutation(len(y))
    mixed = ranker(loss).fit(X[order], y[order], qid=[f"q{q}" for q in -qid[order]])
    assert_allclose(
        mixed.predict(X), ranker(loss).fit(X, y, qid=qid).predict(X), atol=1e-6
    )


def test_weights_are_importances(data):
    X, y, qid = data
    X = X.round(0)  # few values, so that bins do not depend on the number of rows
    model = ranker(min_samples_leaf=1)
    expected = model.fit(X, y, qid=qid).predict(X)
    for factor in (1e-300, 1e-8, 7.0, 1e300):
        scaled = model.fit(X, y, qid=qid, sample_weight=np.full(len(y), factor))
        assert_array_equal(scaled.predict(X), expected)
    kept = qid < 40
    part = model.fit(X[kept], y[kept], qid=qid[kept]).predict(X)
    assert_array_equal(
        model.fit(X, y, qid=qid, sample_weight=kept * 1.0).predict(X), part
    )
    assert model.n_lists_ == 40
    rows = np.r_[np.arange(len(y)), np.flatnonzero(kept)]
    ids = np.where(np.arange(len(rows)) < len(y), qid[rows], 1000 + qid[rows])
    twice = model.fit(X[rows], y[rows], qid=ids).predict(X)
    weighted = model.fit(X, y, qid=qid, sample_weight=1.0 + kept).predict(X)
    assert_allclose(weighted, twice, atol=1e-6)
    assert not np.allclose(weighted, expected, atol=1e-3)


# Trees ---------------------------------------------------------------------------------


def test_trees_lower_the_loss(data):
    X, y, qid = data
    objective = boosting_objective("cross_entropy", qid=qid)
    model = ranker("cross_entropy").fit(X, y, qid=qid)
    values = [
        objective.value(y, 0 * y),
        *(objective.value(y, s) for s in model.staged_predict(X)),
    ]
    assert len(values) == 31
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize(
    ("n_rows", "n_rounds", "alone", "leaves"),
    [
        (999, 50, 50, 4),
        (1_000, 100, 100, 4),
        (2_999, 100, 100, 4),
        (3_000, 100, 100, 31),
        (20_000, 200, 300, 31),
    ],
)
def test_capacity_follows_the_rows_that_count(n_rows, n_rounds, alone, leaves):
    X = np.random.default_rng(0).normal(size=(n_rows + 500, 1)).round(1)
    y, qid = (X[:, 0] > 0) * 1.0, np.arange(n_rows + 500) // 10
    weights = (np.arange(n_rows + 500) < n_rows) * 1.0
    for model, rounds, n_losses in (
        (HistGradientBoostingRanker(), n_rounds, 2),
        (HistGradientBoostingRanker(loss="pairwise_squared"), alone, 1),
    ):
        model.set_params(min_samples_leaf=n_rows // 3)  # trees that soon grow
        model.fit(X, y, qid=qid, sample_weight=weights)
        assert (model.n_iter_, model.max_leaf_nodes_) == (rounds, leaves)
        trees = model.estimator_
        assert (trees.n_iter_, trees.max_leaf_nodes) == (n_losses * rounds, leaves)


def test_two_losses_are_the_sum_of_two_fits(data):
    X, y, qid = data
    both = ranker().fit(X, y, qid=qid)
    first, second = (ranker(one).fit(X, y, qid=qid).predict(X) for one in both.loss)
    rest = both.predict(X) - first
    factor = (rest @ second) / (second @ second)
    assert factor > 1
    assert_allclose(rest, factor * second, atol=1e-5)
    stages = list(both.staged_predict(X))
    assert len(stages) == both.n_iter_ == 30
    assert_array_equal(stages[-1], both.predict(X))
    assert_allclose(
        stages[9], ranker(max_iter=10).fit(X, y, qid=qid).predict(X), atol=1e-9
    )
    alone = ranker(("cross_entropy",)).fit(X, y, qid=qid).predict(X)
    assert_array_equal(alone, ranker("cross_entropy").fit(X, y, qid=qid).predict(X))


def test_a_warm_start_adds_trees(data):
    X, y, qid = data
    model = ranker(warm_start=True).fit(X, y, qid=qid)
    first = model.estimator_
    model.set_params(max_iter=50).fit(X, y, qid=qid)
    assert_allclose(
        model.predict(X), ranker(max_iter=50).fit(X, y, qid=qid).predict(X), atol=1e-9
    )
    assert (first.n_iter_, model.estimator_.n_iter_, model.n_iter_) == (60, 100, 50)
    before = dict(vars(model))
    before.pop("_fitted_lists_")  # copies and saved models hold no digests of queries
    for params, rows in (
        ({"early_stopping": True}, X),
        ({}, X[:, :3]),
        ({"loss": "lambdarank"}, X),
        ({"max_iter": 49}, X),
    ):
        other = copy.copy(model).set_params(**params)
        with refused_by("other trees than before"):
            other.fit(rows, y, qid=qid)
        assert vars(other) == {**before, **params}


@pytest.mark.parametrize("loss", ["lambdarank", ("lambdarank", "pairwise_squared")])
def test_a_warm_start_on_other_rows_starts_at_their_scores(data, loss):
    """The bins are those of the new rows: scikit-learn's own scores of the old trees are wrong."""
    _, y, qid = data
    X = np.random.default_rng(3).integers(0, 4, (len(y), 1)).astype(float)
    model = ranker(
        loss, max_iter=1, max_leaf_nodes=4, min_samples_leaf=1, warm_start=True
    )
    model.fit(X, y, qid=qid)
    X_new = 1.1 * X + 1.4  # the thresholds of the first trees are other bins here
    own, *others = model.estimator_.staged_predict(X_new)
    model.set_params(max_iter=2).fit(X_new, y, qid=qid)
    stages = list(model.estimator_.staged_predict(X_new))
    lists = read_lists(qid)
    loss = ListLoss(
        "lambdarank", resolve_target_loss("ndcg@10"), y, np.ones(len(y)), lists
    )
    gradient, curvature = loss(own)
    n_before = 1 + len(others)
    for value in range(4):
        rows = X[:, 0] == value
        step = -0.1 * gradient[rows].sum() / curvature[rows].sum()
        assert_allclose(
            (stages[n_before] - stages[n_before - 1])[rows], step, atol=1e-5
        )


def test_progress_counts_rounds(data, capsys):
    X, y, qid = data
    model = ranker(max_iter=60, early_stopping=True, n_iter_no_change=60, verbose=1)
    model.fit(X, y, qid=qid)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    scores, best = model.validation_scores_, model.n_iter_ - 1
    assert lines[0] == (
        f"[HistGradientBoostingRanker] 60 rounds: held-out ndcg@10 {scores[-1]:.4f}, best "
        f"{scores[best]:.4f} at {best + 1}"
    )
    assert lines[1].startswith(f"[HistGradientBoostingRanker] {model.n_iter_} rounds")
    ranker().fit(X, y, qid=qid)
    assert not capsys.readouterr().out


def test_constraints_hold_for_the_sum_of_two_losses(data):
    X, y, qid = data
    grid = np.repeat(np.quantile(X, 0.3, axis=0)[np.newaxis], 50, axis=0)
    grid[:, 0] = np.linspace(-20, 20, 50)
    for sign in (1, -1):
        model = ranker(monotonic_cst=[sign, 0, 0, 0, 0], min_samples_leaf=2).fit(
            X, y, qid=qid
        )
        steps = sign * np.diff(model.predict(grid))
        assert np.all(steps >= 0)
    model = ranker(interaction_cst="no_interactions").fit(X, y, qid=qid)
    other = grid + np.array([0, 1, 2, 3, 4])  # an additive model: the same differences
    assert_allclose(
        np.diff(model.predict(grid)), np.diff(model.predict(other)), atol=1e-9
    )


def test_early_stopping_is_a_loop_over_held_out_queries(data):
    X, y, qid = data
    stopping = {
        "early_stopping": True,
        "validation_fraction": 0.3,
        "n_iter_no_change": 7,
    }
    model = ranker(max_iter=60, **stopping).fit(X, y, qid=qid)
    X_fit, X_held, y_fit, y_held, qid_fit, qid_held = query_train_test_split(
        X, y, qid=qid, test_size=0.3, random_state=0
    )
    longest = ranker(max_iter=60).fit(X_fit, y_fit, qid=qid_fit)
    values = [
        ndcg_score(y_held, s, qid=qid_held, k=10)
        for s in longest.staged_predict(X_held)
    ]
    n_tried = len(model.validation_scores_)
    assert_allclose(model.validation_scores_, values[:n_tried], atol=1e-9)
    assert model.n_iter_ == np.argmax(values[:n_tried]) + 1
    assert n_tried == min(model.n_iter_ + 7, 60)
    whole = ranker(max_iter=model.n_iter_).fit(X, y, qid=qid)
    assert_array_equal(model.predict(X), whole.predict(X))
    with pytest.raises(ValueError, match="give at least 2 lists"):
        ranker(**stopping).fit(X, y, one_list=True)


@pytest.mark.parametrize(
    "loss", [*sorted(SURROGATES), SURROGATES["cross_entropy"]()], ids=str
)
def test_every_surrogate_is_a_loss(data, loss):
    X, y, qid = data
    model = ranker(loss).fit(X, y, qid=qid)
    assert model.score(X, y, qid=qid) > ndcg_score(y, 0 * y, qid=qid, k=10) + 0.05


@pytest.mark.parametrize(
    "target_loss", ["map", "precision@2", "auc", "recall@3", "gain@5", "dcg"]
)
def test_every_measure_with_utilities_is_a_target(data, target_loss):
    X, y, qid = data
    y = (y > 1) * 1.0 if target_loss == "map" else y
    model = ranker(target_loss=target_loss).fit(X, y, qid=qid)
    constant = model.target_loss_.measure(y, 0 * y, qid=qid)
    assert model.score(X, y, qid=qid) > constant


def test_the_first_tree_follows_the_derivatives(data):
    """Of one leaf for each value of a feature: minus gradient over curvature, times the step."""
    _, y, qid = data
    X = np.random.default_rng(3).integers(0, 4, len(y))[:, np.newaxis].astype(float)
    params = {
        "max_iter": 1,
        "max_leaf_nodes": 4,
        "min_samples_leaf": 1,
        "learning_rate": 0.5,
    }
    model = ranker("lambdarank", **params).fit(X, y, qid=qid)
    lists = read_lists(qid)
    loss = ListLoss(
        "lambdarank", resolve_target_loss("ndcg@10"), y, np.ones(len(y)), lists
    )
    gradient, curvature = loss(np.zeros(len(y)))
    for value in range(4):
        rows = X[:, 0] == value
        step = -0.5 * gradient[rows].sum() / curvature[rows].sum()
        assert_allclose(model.predict([[value]]), step, atol=1e-5)


# Frames --------------------------------------------------------------------------------


def frames(library):
    rng = np.random.default_rng(5)
    n, qid = 3000, np.repeat(np.arange(150), 20)
    kind = rng.integers(0, 20, n)
    value = rng.permutation(20)[kind] / 5.0  # of the category, in no order
    gone = rng.random(n) < 0.4
    y = np.digitize(value + 1.5 * gone + rng.normal(size=n), [1.5, 3.0, 4.5]).astype(
        float
    )
    number = np.where(gone, np.nan, rng.normal(size=n))  # tells only by being missing
    names = [f"kind {k}" for k in kind]
    if library == "polars":
        if sklearn.__version__.startswith("1.6."):
            pytest.skip("scikit-learn 1.6 does not know the frames of today's polars")
        polars = pytest.importorskip("polars")
        kinds = polars.Series(names).cast(polars.Categorical)
        frame = polars.DataFrame({"kind": kinds, "number": number})
        try:
            HistGradientBoostingRegressor(max_iter=1).fit(frame, y)
        except ValueError:
            pytest.skip("this scikit-learn takes no categories of polars")
        return frame, y, qid
    return pd.DataFrame({"kind": pd.Categorical(names), "number": number}), y, qid


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_categories_and_missing_values_are_learnt(library):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = frames(library)
    model = ranker(max_iter=100, max_leaf_nodes=31).fit(
        X[:2000], y[:2000], qid=qid[:2000]
    )
    as_pandas, _, _ = frames("pandas")
    settings = {"n_jobs": 1, "verbose": -1, "label_gain": list(range(5))}
    peer = lightgbm.LGBMRanker(**settings).fit(
        as_pandas[:2000], y[:2000], group=[20] * 100
    )
    ours = ndcg_score(y[2000:], model.predict(X[2000:]), qid=qid[2000:], k=10)
    theirs = ndcg_score(y[2000:], peer.predict(as_pandas[2000:]), qid=qid[2000:], k=10)
    assert ours > theirs - 0.01
    assert ours > 0.8
    assert list(model.feature_names_in_) == ["kind", "number"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_lose_rows_of_weight_zero_and_held_out_queries_as_arrays_do(library):
    X, y, qid = frames(library)
    codes = pd.Categorical(frames("pandas")[0]["kind"]).codes
    array = np.column_stack([codes, np.asarray(X["number"], dtype=float)])
    params = {"early_stopping": True, "n_iter_no_change": 10}
    weights = (qid % 3 > 0) * 1.0
    model = ranker(**params).fit(X, y, qid=qid, sample_weight=weights)
    same = ranker(**params, categorical_features=[0])
    same.fit(array, y, qid=qid, sample_weight=weights)
    assert model.n_iter_ == same.n_iter_
    assert_allclose(model.predict(X), same.predict(array), atol=1e-9)
    if library == "pandas":  # rows go by place, not by index
        other = X.set_index(np.arange(len(y))[::-1])
        model.fit(other, y, qid=qid, sample_weight=weights)
        assert_allclose(model.predict(X), same.predict(array), atol=1e-9)


def test_columns_go_by_name_and_messages_name_this_class(data):
    X, y, qid = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = ranker().fit(frame, y, qid=qid)
    unknown = frame.assign(a=pd.Categorical(np.where(X[:, 0] > 0, "x", "y")))
    other = ranker().fit(unknown, y, qid=qid)
    new = unknown.assign(a=pd.Categorical(["z"] * len(y)))
    missing = unknown.assign(a=pd.Categorical([None] * len(y), categories=["x", "y"]))
    assert_array_equal(other.predict(new), other.predict(missing))
    calls = {
        "feature names should match": lambda: model.predict(frame[list("edcba")]),
        "X has 2 features, but HistGradientBoostingRanker": lambda: (
            ranker().fit(X, y, qid=qid).predict(X[:, :2])
        ),
        "'learning_rate' parameter of HistGradientBoostingRanker": lambda: ranker(
            learning_rate=-1
        ).fit(X, y, qid=qid),
        "max_iter must be 'auto' or an integer": lambda: ranker(max_iter=0).fit(
            X, y, qid=qid
        ),
        r"'a' of X had a category dtype in fit": lambda: other.predict(
            unknown.astype({"a": object})
        ),
        "text 'word' in row 0 of column 'a'": lambda: ranker().fit(
            frame.assign(a="word"), y, qid=qid
        ),
        "one grade per row": lambda: ranker().fit(X, np.c_[y, y]),
        "The loss of HistGradientBoostingRanker must be one of": lambda: ranker(
            ("lambdarank", "ndcg")
        ).fit(X, y, qid=qid),
        "loss must be a loss or a tuple of losses": lambda: ranker(()).fit(
            X, y, qid=qid
        ),
        r"a tuple of losses, got \[": lambda: ranker(["lambdarank"]).fit(X, y, qid=qid),
        "HistGradientBoostingRanker needs utilities": lambda: ranker(
            target_loss="pd"
        ).fit(X, y, qid=qid),
        "Sparse data was passed": lambda: ranker().fit(csr_matrix(X), y, qid=qid),
    }
    for words, call in calls.items():
        with pytest.raises((ValueError, TypeError), match=words) as error:
            call()
        assert "HistGradientBoostingRegressor" not in str(error.value)
    with refused_by("arguments by position", TypeError):
        ranker().fit(X, y, qid)
    with refused_by("surrogate without value"):
        OrderPreservingRegressor(surrogate="lambdarank").fit(X, y, qid=qid)


# scikit-learn's tools --------------------------------------------------------------------


def test_pipelines_and_routing(data):
    X, y, qid = data
    expected = ranker().fit(X, y, qid=qid).predict(X)
    assert_array_equal(ranker().fit(X, ranking_target(y, qid)).predict(X), expected)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(StandardScaler(), ranker()).fit(X, y, qid=qid)
        scores = cross_val_score(
            ranker(), X, y, params={"qid": qid, "groups": qid}, cv=GroupKFold(3)
        )
    assert model[-1].n_lists_ == 60
    assert scores.min() > 0.6


def test_a_failed_fit_leaves_the_model_and_copies_hold_no_rows(data):
    X, y, qid = data
    model = ranker(max_iter=100).fit(X, y, qid=qid)
    before = dict(vars(model))
    with refused_by("missing labels"):
        model.fit(X, np.full(len(y), np.nan), qid=qid)
    assert vars(model) == before
    pickled = pickle.dumps(model)
    assert len(pickled) < 1.5 * len(pickle.dumps(model.estimator_))
    for again in (pickle.loads(pickled), copy.deepcopy(model)):
        assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()


def test_feature_importances_are_said_not_to_exist(data):
    X, y, qid = data
    model = ranker().fit(X, y, qid=qid)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(
        AttributeError, match=r"query_permutation_importance\(ranker, X, y, qid"
    ):
        model.feature_importances_  # noqa: B018
    importance = query_permutation_importance(model, X, y, qid=qid, random_state=0)
    assert importance.importances_mean.shape == (5,)


def test_shap_explains_the_trees(data):
    shap = pytest.importorskip("shap", minversion="0.50")
    X, y, qid = data
    model = ranker().fit(X, y, qid=qid)
    explained = shap.TreeExplainer(model.estimator_)(X)
    total = explained.values.sum(axis=1) + explained.base_values
    offset = model.predict(X) - total
    assert np.ptp(offset) < 1e-4


def test_lightgbm_takes_the_same_loss(data):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = data
    objective = boosting_objective("lambdarank", qid=qid)
    model = lightgbm.LGBMRegressor(
        objective=objective, n_estimators=30, n_jobs=1, verbose=-1
    )
    scores = model.fit(X, y).predict(X)
    ours = ranker(max_leaf_nodes=31).fit(X, y, qid=qid).predict(X)
    found, expected = (ndcg_score(y, s, qid=qid, k=10) for s in (scores, ours))
    assert abs(found - expected) < 0.02
    with refused_by("surrogate without value"):
        objective.value(y, scores)
