"""Objectives of boosted trees: alone, and in LightGBM and XGBoost where they are installed."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from lowrank_rank import ranking_target
from lowrank_rank.boosting import boosting_metric, boosting_objective
from lowrank_rank.datasets import make_ranking
from lowrank_rank.surrogates import SURROGATES
from lowrank_rank.target_losses import DCG

from .internals import Blocks, RankingLists, resolve_measure
from .refusals import refused_by

CrossEntropy = SURROGATES["cross_entropy"]
PointwiseLogistic = SURROGATES["pointwise_logistic"]

NAMES = sorted(SURROGATES)
PAIRS = ["pairwise_logistic", "ranknet"]  # whose pairs are formed
FEW = ["cross_entropy", "pairwise_squared", "pointwise_smooth_hinge"]


@pytest.fixture(scope="module")
def data():
    """Lists one after the other, the first without relevant items."""
    X, y, qid = make_ranking(n_lists=40, n_items=(4, 9), n_features=5, random_state=0)
    order = np.argsort(qid, kind="stable")
    X, y, qid = X[order], y[order].astype(float), qid[order]
    group = np.unique(qid, return_counts=True)[1]
    y[: group[0]] = 0
    return X, y, qid, group


def utilities(y, group, k, weights):
    """NDCG@k by its definition, a list at a time: grade / Z times the mean Z."""
    parts = np.split(y, np.cumsum(group)[:-1])
    ideal = np.array(
        [
            np.sort(g)[::-1][:k] @ (1 / np.log2(np.arange(2, min(k, len(g)) + 2)))
            for g in parts
        ]
    )
    mass = np.array([w.sum() for w in np.split(weights, np.cumsum(group)[:-1])])
    mean = np.average(ideal[ideal > 0], weights=mass[ideal > 0])
    return np.concatenate(
        [g * mean / z if z > 0 else 0 * g for g, z in zip(parts, ideal, strict=True)]
    )


# Alone ---------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["lambdarank", "listnet", *NAMES])
def test_units_of_all_blocks_give_each_part_the_derivatives_of_all_rows(name, weighted):
    """On a cluster a worker has its own rows alone, here those with the best grades."""
    _, y, _ = make_ranking(n_lists=30, n_items=6, n_features=3, random_state=0)
    by_total = np.argsort(y.reshape(30, 6).sum(axis=1), kind="stable")
    y = y.reshape(30, 6)[by_total].ravel()
    rng = np.random.default_rng(0)
    scores = rng.normal(size=len(y))
    weights = rng.uniform(0.5, 2, len(y)) if weighted else None
    lengths = np.full(30, 6)
    objective = boosting_objective(name, "dcg")
    expected = objective(y, scores, weights, lengths)
    cuts = [(0, 10), (10, 25), (25, 30)]
    rows = [slice(6 * first, 6 * last) for first, last in cuts]
    blocks = []
    for (first, last), part in zip(cuts, rows, strict=True):
        w = None if weights is None else weights[part]
        blocks.append((None, y[part], lengths[first:last], w))
    on_all = objective.with_units_of(Blocks(blocks))
    on_all = pickle.loads(pickle.dumps(on_all))
    found = [
        on_all(grades, scores[part], w, of_lists)
        for part, (_, grades, of_lists, w) in zip(rows, blocks, strict=True)
    ]
    for i in range(2):
        assert_allclose(np.concatenate([one[i] for one in found]), expected[i])
    if name in ("lambdarank", "cross_entropy"):
        # The units of its own rows are others.
        local = objective(y[rows[2]], scores[rows[2]], blocks[2][3], lengths[25:])
        assert not np.allclose(local[0], expected[0][rows[2]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_the_gradient_is_the_scaled_one_of_the_surrogate(data, name, weighted):
    _, y, _, group = data
    rng = np.random.default_rng(0)
    s = rng.normal(size=len(y))
    w = rng.uniform(0.5, 2, len(y)) if weighted else np.ones(len(y))
    v = utilities(y, group, 5, w)
    surrogate = SURROGATES[name]()
    if hasattr(surrogate, "eta"):
        surrogate.set_params(eta=1.5 * v.max())
    lists = RankingLists(group)
    a = 1 / lists.sum(w) if surrogate.is_pairwise else np.ones(len(group))
    at_zero = surrogate.newton_values(v, np.zeros(len(y)), lists, w).curvature
    c = w.sum() / (np.repeat(a, group) @ at_zero)  # a curvature of 1 a row
    found = surrogate.evaluate(v, s, lists, w)
    value, gradient, curvature = surrogate.newton_values(v, s, lists, w)
    assert_allclose(value, found.values, rtol=1e-14)
    assert_allclose(gradient, found.gradient, rtol=1e-14)
    assert np.all(curvature >= found.curvature * (1 - 1e-12))
    if name == "pointwise_smooth_hinge":  # linear in parts
        assert np.any(found.curvature == 0)
        assert_allclose(curvature, w * surrogate.eta)
    objective = boosting_objective(name, "ndcg@5")
    passed = w if weighted else None
    got = objective(y, s, passed, group)
    assert_allclose(got[0], c * np.repeat(a, group) * gradient, rtol=1e-10, atol=1e-12)
    assert_allclose(
        got[1], np.maximum(c * np.repeat(a, group) * curvature, 1e-6 * w), rtol=1e-10
    )
    assert_allclose(objective.value(y, s, passed, group), c * a @ value, rtol=1e-10)
    step = 1e-6 * rng.normal(size=len(y))
    ahead, behind = (objective.value(y, s + x, passed, group) for x in (step, -step))
    assert_allclose((ahead - behind) / 2, got[0] @ step, rtol=1e-4, atol=1e-10)


def test_softmax_by_its_definition(data):
    _, y, _, group = data
    v = utilities(y, group, 10, np.ones(len(y)))
    s = np.random.default_rng(1).normal(size=len(y))
    p = np.concatenate(
        [np.exp(x) / np.exp(x).sum() for x in np.split(s, np.cumsum(group)[:-1])]
    )
    V = np.repeat(np.add.reduceat(v, np.cumsum(group) - group), group)
    gradient, curvature = boosting_objective()(y, s, None, group)
    c = np.linalg.norm(gradient) / np.linalg.norm(V * p - v)
    assert_allclose(gradient, c * (V * p - v), atol=1e-12)
    target = np.divide(v, V, out=np.zeros(len(v)), where=V > 0)
    z = np.median([p, target, np.full(len(p), 0.5)], axis=0)
    assert_allclose(curvature, np.maximum(c * V * z * (1 - z), 1e-6))
    at_zero = boosting_objective()(y, 0 * s, None, group)[1]
    assert_allclose(at_zero.mean(), 1.0, atol=1e-5)
    assert np.all(gradient[: group[0]] == 0)  # no relevant items


@pytest.mark.parametrize("name", NAMES)
def test_steps_of_long_lists_with_few_relevant_rows_are_bounded(name):
    """A Newton step of a row, from equal scores and from scores in the wrong order."""
    y = np.r_[np.ones(10), np.zeros(99_990 if name not in PAIRS else 1_990)]
    objective = boosting_objective(name, "precision@10")
    for s in (np.zeros(len(y)), -5.0 * y, -30.0 * y):
        gradient, curvature = objective(y, s, None, [len(y)])
        assert np.abs(gradient / curvature).max() <= 2.0 + 2.0 * np.ptp(s)
    one = boosting_objective(name, "precision@1")(
        [1.0, 0.0], np.array([-9.0, 9.0]), None, [2]
    )
    assert np.abs(one[0] / one[1]).max() <= 40.0


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_a_list_need_not_stand_together_with_qid(data, name):
    _, y, qid, group = data
    s = np.random.default_rng(2).normal(size=len(y))
    w = np.random.default_rng(3).uniform(0.5, 2, len(y))
    order = np.random.default_rng(4).permutation(len(y))
    objective = boosting_objective(name, qid=qid[order])
    for a, b in zip(
        objective(y[order], s[order], w[order]),
        boosting_objective(name)(y, s, w, group),
        strict=True,
    ):
        assert_allclose(a, b[order], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_weight_two_is_the_list_twice(data, name):
    _, y, _, group = data
    s = np.random.default_rng(5).normal(size=len(y))
    first = np.arange(len(y)) < group[:3].sum()
    objective = boosting_objective(name)
    weighted = objective(y, s, 1.0 + first, group)
    twice = objective(
        np.r_[y, y[first]], np.r_[s, s[first]], None, np.r_[group, group[:3]]
    )
    for a, b in zip(weighted, twice, strict=True):
        assert_allclose(a, b[: len(y)] * (1 + first), rtol=1e-9, atol=1e-12)


def test_a_list_of_weight_zero_is_no_list(data):
    _, y, _, group = data
    s = np.random.default_rng(6).normal(size=len(y))
    last = np.arange(len(y)) >= len(y) - group[-1]
    for name in NAMES:
        objective = boosting_objective(name)
        with_it = objective(y, s, 1.0 - last, group)
        without = objective(y[~last], s[~last], None, group[:-1])
        for a, b in zip(with_it, without, strict=True):
            assert_allclose(a[~last], b, rtol=1e-9, atol=1e-12)
        assert not np.any([part[last] for part in with_it])


class CountedDCG(DCG):
    """DCG that counts how often labels are encoded."""

    calls = 0

    def row_targets(self, y, lists, weights):
        CountedDCG.calls += 1
        return super().row_targets(y, lists, weights)


def test_utilities_are_computed_once_and_again_for_other_data(data):
    _, y, _, group = data
    s, objective = np.zeros(len(y)), boosting_objective(target_loss=CountedDCG())

    def encodes(*args):
        """Whether the call encodes its labels; the gradient is that of a new objective."""
        before = CountedDCG.calls
        gradient = objective(*args)[0]
        assert_array_equal(gradient, boosting_objective(target_loss=DCG())(*args)[0])
        return CountedDCG.calls > before

    assert encodes(y, s, None, group)
    assert not encodes(y.copy(), s + 1, None, group.copy())
    assert encodes(y[::-1].copy(), s, None, group)
    changed = y.copy()
    assert encodes(changed, s, None, group)
    changed[-1] += 1  # in place, in the array of the call before
    assert encodes(changed, s, None, group)
    assert encodes(changed, s, None, group[::-1].copy())
    assert encodes(changed, s, np.arange(len(y)) + 1.0, group)
    assert encodes(changed, s, None, group)


@pytest.mark.parametrize(
    "again",
    [clone, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))],
    ids=["clone", "deepcopy", "pickle"],
)
def test_copies_leave_the_data_behind(data, again):
    _, y, qid, group = data
    for objective, given in (
        (boosting_objective("pairwise_squared", "map"), group),
        (boosting_objective(CrossEntropy(), qid=qid), None),
    ):
        binary, s = (y > 0).astype(float), np.linspace(0, 1, len(y))
        before = objective(binary, s, None, given)
        other = again(objective)
        assert other is not objective
        assert not any(isinstance(value, tuple) for value in vars(other).values())
        assert repr(other) == repr(objective)
        assert_array_equal(other(binary, s, None, given), before)


def test_eta_of_a_custom_surrogate_is_left_alone(data):
    _, y, _, group = data
    s, v = np.zeros(len(y)), utilities(y, group, 10, np.ones(len(y)))
    own = boosting_objective(PointwiseLogistic(eta=100.0))
    assert_allclose(own(y, s, None, group)[1], 1.0)
    assert_allclose(
        own(y, s, None, group)[0], (50.0 - v) / 25.0
    )  # of slope eta / 2 - v
    left = boosting_objective(PointwiseLogistic(eta=None))
    eta = 1.5 * v.max()
    assert_allclose(left(y, s, None, group)[0], (eta / 2 - v) / (eta / 4))
    with refused_by("eta below a utility"):
        boosting_objective(PointwiseLogistic(eta=0.1))(y, s, None, group)
    nothing = boosting_objective("pointwise_logistic")(0 * y, s, None, group)
    assert np.isfinite(nothing).all()


def test_nothing_relevant_has_no_gradient(data):
    _, y, _, group = data
    gradient, curvature = boosting_objective()(0 * y, np.zeros(len(y)), None, group)
    assert np.all(gradient == 0)
    assert np.all(curvature == 1e-6)


def test_errors_name_the_remedy(data):
    _, y, qid, group = data
    s, objective = np.zeros(len(y)), boosting_objective()
    with refused_by("no lists of trees"):
        objective(y, s)
    with refused_by("groups of other rows"):
        objective(y, s, None, group[1:])
    with refused_by("lists given twice"):
        boosting_objective(qid=qid)(y, s, None, group)
    with refused_by("qid of other rows"):
        boosting_objective(qid=qid[1:])(y, s)
    with refused_by("scores of several outputs"):
        objective(y, np.zeros((len(y), 2)), None, group)
    with refused_by("another number of weights"):
        objective(y, s, np.ones(3), group)
    with refused_by("negative weight"):
        objective(y, s, -np.ones(len(y)), group)
    with refused_by("missing labels"):
        objective(np.full(len(y), np.nan), s, None, group)
    with refused_by("table of numbers of trees"):
        objective(ranking_target(y, qid), s, None, group)
    with refused_by("negative grades"):
        boosting_objective(target_loss="map")(-y, s, None, group)
    with pytest.raises(
        ValueError, match=r"loss of boosting_objective must be one of .*'lambdarank'"
    ):
        boosting_objective("softmax")
    with refused_by("unknown name of a measure"):
        boosting_objective(target_loss="ndgc@10")
    with refused_by("loss without utilities"):
        boosting_objective(target_loss="pd")(y, s, None, group)


# LightGBM ------------------------------------------------------------------------------

SETTINGS = {"n_estimators": 15, "min_child_samples": 2, "n_jobs": 1, "verbose": -1}
NATIVE = {"min_data_in_leaf": 2, "num_threads": 1, "verbose": -1}


@pytest.fixture
def lightgbm():
    return pytest.importorskip("lightgbm")


@pytest.mark.parametrize("name", FEW)
def test_lightgbm_lowers_the_surrogate_with_every_tree(lightgbm, data, name):
    X, y, _, group = data
    objective = boosting_objective(name)
    model = lightgbm.LGBMRanker(objective=objective, learning_rate=0.05, **SETTINGS)
    model.fit(X, y, group=group)
    values = [
        objective.value(
            y, model.predict(X, num_iteration=n) if n else 0 * y, None, group
        )
        for n in range(16)
    ]
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("name", FEW)
def test_lightgbm_through_both_of_its_interfaces(lightgbm, data, name):
    X, y, qid, group = data
    w = np.random.default_rng(7).uniform(0.5, 2, len(y))
    ranker = lightgbm.LGBMRanker(objective=boosting_objective(name), **SETTINGS)
    expected = ranker.fit(X, y, group=group, sample_weight=w).predict(X)
    assert len(np.unique(expected)) > 10
    train = lightgbm.Dataset(X, y, group=group, weight=w)
    params = {**NATIVE, "objective": boosting_objective(name)}
    assert_array_equal(lightgbm.train(params, train, 15).predict(X), expected)
    regressor = lightgbm.LGBMRegressor(
        objective=boosting_objective(name, qid=qid), **SETTINGS
    )
    assert_array_equal(regressor.fit(X, y, sample_weight=w).predict(X), expected)


def test_lightgbm_does_not_pool_rows_without_lists(lightgbm, data):
    X, y, _, _ = data
    with refused_by("no lists of trees"):
        lightgbm.LGBMRegressor(objective=boosting_objective(), **SETTINGS).fit(X, y)
    params = {**NATIVE, "objective": boosting_objective()}
    with refused_by("no lists of trees"):
        lightgbm.train(params, lightgbm.Dataset(X, y), 2)


def test_lightgbm_second_fit_and_folds_forget_the_first_data(lightgbm, data):
    X, y, _, group = data
    model = lightgbm.LGBMRanker(objective=boosting_objective(), **SETTINGS)
    model.fit(X, y, group=group)
    again = model.fit(X, y[::-1].copy(), group=group[::-1]).predict(X)
    fresh = clone(model).fit(X, y[::-1].copy(), group=group[::-1])
    assert_array_equal(again, fresh.predict(X))
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), again)
    # folds that share one objective
    params = {
        **NATIVE,
        "objective": boosting_objective(),
        "metric": "ndcg",
        "eval_at": [5],
    }
    rows, half = np.arange(len(y)), group[:20].sum()
    folds = [(rows[:half], rows[half:]), (rows[half:], rows[:half])]
    found = lightgbm.cv(
        params,
        lightgbm.Dataset(X, y, group=group),
        15,
        folds=folds,
        return_cvbooster=True,
    )
    for booster, (train, _) in zip(found["cvbooster"].boosters, folds, strict=True):
        lengths = group[:20] if train[0] == 0 else group[20:]
        whole = lightgbm.Dataset(X, y, group=group).construct()
        part = lightgbm.Dataset(X[train], y[train], group=lengths, reference=whole)
        alone = lightgbm.train({**NATIVE, "objective": boosting_objective()}, part, 15)
        assert_allclose(booster.predict(X), alone.predict(X))


# XGBoost -------------------------------------------------------------------------------

TREES = {"nthread": 1, "max_depth": 3, "eta": 0.1, "base_score": 0.0}


@pytest.fixture
def xgboost():
    return pytest.importorskip("xgboost")


@pytest.mark.parametrize("name", FEW)
def test_xgboost_lowers_the_surrogate_with_every_tree(xgboost, data, name):
    X, y, qid, group = data
    objective = boosting_objective(name)
    train = xgboost.DMatrix(X, y, qid=qid)
    model = xgboost.train({**TREES, "eta": 0.05}, train, 15, obj=objective)
    values = [objective.value(y, 0 * y, None, group)]
    for n in range(1, 16):
        values.append(
            objective.value(model.predict(train, iteration_range=(0, n)), train)
        )
    assert np.all(np.diff(values) < 0)


@pytest.mark.parametrize("name", FEW)
def test_xgboost_through_both_of_its_interfaces(xgboost, data, name):
    X, y, qid, group = data
    w = np.random.default_rng(9).uniform(0.5, 2, len(group))
    train = xgboost.DMatrix(X, y, qid=qid, weight=w)
    booster = xgboost.train(TREES, train, 15, obj=boosting_objective(name))
    expected = booster.predict(train)
    assert len(np.unique(expected)) > 10
    model = xgboost.XGBRegressor(
        objective=boosting_objective(name, qid=qid),
        n_estimators=15,
        max_depth=3,
        learning_rate=0.1,
        base_score=0.0,
        n_jobs=1,
    )
    model.fit(X, y, sample_weight=np.repeat(w, group))
    assert_allclose(model.predict(X), expected, rtol=1e-5, atol=1e-6)
    unweighted = clone(model).fit(X, y).predict(X)
    booster = xgboost.train(
        TREES, xgboost.DMatrix(X, y, qid=qid), 15, obj=boosting_objective(name)
    )
    assert_allclose(unweighted, booster.predict(train), rtol=1e-5, atol=1e-6)


def test_xgboost_does_not_pool_rows_without_lists(xgboost, data):
    X, y, _, _ = data
    with refused_by("no lists of trees"):
        xgboost.XGBRegressor(objective=boosting_objective(), n_estimators=2).fit(X, y)
    with refused_by("no lists of trees"):
        xgboost.train(TREES, xgboost.DMatrix(X, y), 2, obj=boosting_objective())


def test_xgboost_second_fit_forgets_the_first_data(xgboost, data):
    X, y, qid, _ = data
    objective, predictions = boosting_objective(), []
    other = xgboost.DMatrix(X, y[::-1].copy(), qid=qid)
    xgboost.train(TREES, xgboost.DMatrix(X, y, qid=qid), 5, obj=objective)
    for one in (objective, boosting_objective()):
        predictions.append(xgboost.train(TREES, other, 5, obj=one).predict(other))
    assert_array_equal(*predictions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y_true": None}, "for 0 rows"),
        ({"y_true": {}}, "y_true is a dict, but must be an array of numbers"),
        ({"y_true": [[1], [1, 2]]}, "y_true must be an array of numbers"),
        ({"y_pred": ["a", "b"]}, "y_pred must be an array of numbers"),
        ({"y_pred": [1e300, 0.0]}, r"y_pred\[0\] is 1e\+300"),
        ({"y_pred": [np.nan, 0.0]}, r"y_pred\[0\] is nan"),
        ({"sample_weight": "ab"}, "sample_weight must be an array"),
        (
            {"group": [0.5, 1.5]},
            "add up to 2 rows, but the data set has 2: give the number",
        ),
    ],
)
def test_arguments_of_other_types_are_named(change, message):
    given = {"y_true": [1, 0], "y_pred": [0.5, 1.0], "group": [2], **change}
    with pytest.raises(ValueError, match=message):
        boosting_objective("pointwise_squared_hinge")(**given)


def test_ids_that_are_no_array_are_refused_at_once():
    with refused_by("ids without an order", TypeError):
        boosting_objective(qid=3)


# Metrics -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def halves(data):
    """Training and evaluation lists: X, y, group of each."""
    X, y, _, group = data
    rows, lists = int(group[:20].sum()), 20
    return (X[:rows], y[:rows], group[:lists]), (X[rows:], y[rows:], group[lists:])


def stopping_round(values, patience):
    """By a loop: the best round before `patience` rounds without improvement, or None."""
    best = 0
    for n, value in enumerate(values):
        if value > values[best]:
            best = n
        elif n - best >= patience:
            return best
    return None


def by_list(measure, y, scores, group):
    """A measure by a loop over lists."""
    parts = zip(
        *(np.split(part, np.cumsum(group)[:-1]) for part in (y, scores)), strict=True
    )
    values = [resolve_measure(measure).measure(grades, s) for grades, s in parts]
    relevant = [grades.max() > 0 for grades in np.split(y, np.cumsum(group)[:-1])]
    return np.mean(np.array(values)[relevant])


@pytest.mark.parametrize(
    "name", ["ndcg@5", "map", "precision@3", "mrr", "recall@3", "pd"]
)
def test_a_metric_is_the_measure_of_the_lists(data, name):
    X, y, qid, group = data
    scores = np.round(X[:, 0], 1)  # with ties
    w = np.random.default_rng(3).uniform(0.5, 2, len(y))
    expected = resolve_measure(name).measure(y, scores, qid=qid, sample_weight=w)
    assert boosting_metric(name)(y, scores, w, group) == (name, expected, True)
    copied = clone(pickle.loads(pickle.dumps(boosting_metric(name))))
    assert copied(y, scores, w, group) == (name, expected, True)
    measure = resolve_measure(name)
    assert boosting_metric(measure)(y, scores, w, group) == (
        repr(measure),
        expected,
        True,
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings(
    "ignore:The argument 'eval_set'"
)  # eval_X from LightGBM 4.7 on
@pytest.mark.parametrize("name", ["ndcg@5", "map"])
def test_lightgbm_stops_where_a_loop_over_lists_does(lightgbm, halves, name):
    (X, y, group), (X_val, y_val, group_val) = halves
    settings = {**SETTINGS, "n_estimators": 60, "metric": "None"}
    fitted = lightgbm.LGBMRanker(**settings).fit(X, y, group=group)
    values = [
        by_list(name, y_val, fitted.predict(X_val, num_iteration=n), group_val)
        for n in range(1, 61)
    ]
    expected = stopping_round(values, 5)
    assert expected is not None
    model = lightgbm.LGBMRanker(**settings).fit(
        X, y, group=group, eval_set=[(X_val, y_val)], eval_group=[group_val],
        eval_metric=boosting_metric(name),
        callbacks=[lightgbm.early_stopping(5, verbose=False)],
    )  # fmt: skip
    assert model.best_iteration_ == expected + 1
    train = lightgbm.Dataset(X, y, group=group)
    booster = lightgbm.train(
        {**NATIVE, "objective": "lambdarank", "metric": "None"}, train, 60,
        valid_sets=[lightgbm.Dataset(X_val, y_val, group=group_val, reference=train)],
        feval=boosting_metric(name), callbacks=[lightgbm.early_stopping(5, verbose=False)],
    )  # fmt: skip
    assert booster.best_iteration == expected + 1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.parametrize("name", ["ndcg@5", "mrr"])
def test_xgboost_stops_where_a_loop_over_lists_does(xgboost, halves, name):
    (X, y, group), (X_val, y_val, group_val) = halves
    train, evaluated = xgboost.DMatrix(X, y), xgboost.DMatrix(X_val, y_val)
    train.set_group(group)
    evaluated.set_group(group_val)
    params = {**TREES, "objective": "rank:ndcg", "disable_default_eval_metric": True}
    booster = xgboost.train(params, train, 40)
    values = [
        by_list(
            name, y_val, booster.predict(evaluated, iteration_range=(0, n)), group_val
        )
        for n in range(1, 41)
    ]
    expected = stopping_round(values, 5)
    assert expected is not None
    stopping = xgboost.callback.EarlyStopping(rounds=5, maximize=True)
    booster = xgboost.train(
        params, train, 40, evals=[(evaluated, "valid")], custom_metric=boosting_metric(name),
        callbacks=[stopping], verbose_eval=False,
    )  # fmt: skip
    assert booster.best_iteration == expected


def test_a_metric_without_lists_is_refused(data):
    _, y, _, group = data
    with refused_by("no lists of trees"):
        boosting_metric()(y, y)
    with refused_by("groups of other rows"):
        boosting_metric()(y, y, None, group[:-1])
    with refused_by("unknown name of a measure"):
        boosting_metric("nothing")
    assert repr(boosting_metric("map")) == "boosting_metric('map')"
