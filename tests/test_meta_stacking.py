"""StackingRanker: weights by enumeration, folds by query, parts of all kinds."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    KFold,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.target_losses import NDCG

from .refusals import refused_by

rng = np.random.default_rng(0)
N_LISTS, LENGTH = 30, 8
QID = np.repeat(np.arange(N_LISTS), LENGTH)
X = rng.normal(size=(len(QID), 3))
Y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=len(QID))), 0, 3)


class Column(RegressorMixin, BaseEstimator):
    """Predicts one column of X, times a scale."""

    def __init__(self, column=0, scale=1.0):
        self.column = column
        self.scale = scale

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return self.scale * X[:, self.column]


class Failing(Column):
    def fit(self, X, y):
        raise KeyError("no such thing")


def columns(*scales):
    return [(f"column{i}", Column(i, scale)) for i, scale in enumerate(scales)]


def units_within(scores):
    """Standard deviations of scores (n_parts, n_rows) within the lists, as a column."""
    of_lists = scores.reshape(len(scores), N_LISTS, LENGTH)
    deviations = of_lists - of_lists.mean(axis=2, keepdims=True)
    return np.sqrt((deviations**2).mean(axis=(1, 2)))[:, np.newaxis]


PARTS = [("ridge", LowRankSurrogateRanker()), ("grades", Ridge())]


@pytest.mark.parametrize(
    "measure", ["ndcg@10", "map", "mrr", NDCG(k=3, gain="exponential")]
)
def test_weights_are_in_units_of_the_deviations_of_the_parts(measure):
    y = (Y > 1).astype(float) if measure in ("map", "mrr") else Y
    stack = StackingRanker(columns(1, 1, 1), target_loss=measure, cv=3)
    stack.fit(X, y, qid=QID)
    units = units_within(X.T)[:, 0]
    weights = stack.scores_.weights
    np.testing.assert_allclose(weights.sum(), 1.0)
    np.testing.assert_allclose(list(stack.weights_.values()), weights / units)
    value = stack.target_loss_.measure(y, X / units @ weights, qid=QID)
    np.testing.assert_allclose(stack.scores_.scores[0], value)
    by_chance = stack.target_loss_.measure(y, np.zeros(len(y)), qid=QID)
    np.testing.assert_allclose(stack.scores_.random_order, by_chance)
    assert repr(stack.scores_).splitlines()[-1].startswith("random order")
    np.testing.assert_allclose(stack.predict(X), X / units @ weights)


def test_documents_hold_out_one_third():
    fits = []

    class Counting(Column):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    parts = [("one", Counting(0)), ("two", Counting(1))]
    stack = StackingRanker(parts).fit(X, Y, qid=QID)
    train, held = next(GroupKFold(3).split(X, groups=QID))
    assert fits == [len(train)] * 2 + [len(Y)] * 2
    scores = X[held, :2].T
    centred = scores.reshape(2, -1, LENGTH) - scores.reshape(2, -1, LENGTH).mean(
        2, keepdims=True
    )
    scores = scores / np.sqrt((centred**2).mean(axis=(1, 2)))[:, np.newaxis]
    grid = np.linspace(0, 1, 11)
    values = np.array(
        [
            ndcg_score(
                Y[held],
                w * scores[0] + (1 - w) * scores[1],
                qid=QID[held],
                k=10,
                average=None,
            )
            for w in grid
        ]
    )
    draws = np.random.default_rng(7).integers(
        values.shape[1], size=(4000, values.shape[1])
    )
    best = grid[values[:, draws].mean(axis=2).argmax(axis=0)].mean()
    np.testing.assert_allclose(stack.scores_.weights, [best, 1 - best], atol=0.03)
    swapped = StackingRanker(parts[::-1]).fit(X, Y, qid=QID)
    np.testing.assert_allclose(
        swapped.scores_.weights, stack.scores_.weights[::-1], atol=1e-9
    )
    same = StackingRanker([("a", Column(0)), ("b", Column(0, 3.0))]).fit(X, Y, qid=QID)
    np.testing.assert_allclose(same.scores_.weights, 0.5)


def test_two_parts_of_fixed_items_and_weighted_lists():
    items = np.clip(
        np.round(X @ rng.normal(size=(3, 6)) + rng.normal(size=(len(X), 6))), 0, 3
    )
    weights = rng.uniform(0.5, 2.0, len(X))
    parts = [
        ("ridge", LowRankSurrogateRanker()),
        ("strong", LowRankSurrogateRanker(alpha=1e3)),
    ]
    stack = StackingRanker(parts).fit(X, items, sample_weight=weights)
    assert stack.predict(X).shape == items.shape
    only = (QID < 15) * 1.0  # lists of weight 0 do not count
    counted = StackingRanker(PARTS).fit(X, Y, qid=QID, sample_weight=only)
    assert np.isfinite(counted.scores_.weights).all()


def test_the_unit_of_the_weights_changes_nothing():
    weights = np.repeat(rng.uniform(1, 2, size=N_LISTS), LENGTH)
    parts = [(f"{alpha}", LowRankSurrogateRanker(alpha=alpha)) for alpha in (0.1, 1e3)]
    ranker = StackingRanker(parts)
    expected = ranker.fit(X, Y, qid=QID, sample_weight=weights).scores_.weights
    for scale in (1e-13, 1e13):
        found = ranker.fit(X, Y, qid=QID, sample_weight=scale * weights).scores_
        np.testing.assert_allclose(found.weights, expected)


def test_the_unit_of_a_part_changes_nothing():
    one = StackingRanker(estimators=columns(1, 1, 1)).fit(X, Y, qid=QID)
    other = StackingRanker(estimators=columns(1e6, 1e-6, 3)).fit(X, Y, qid=QID)
    np.testing.assert_allclose(one.scores_.weights, other.scores_.weights)
    np.testing.assert_allclose(one.predict(X), other.predict(X))


def test_grades_of_a_query_do_not_change_its_held_out_scores():
    folds = list(GroupKFold(5).split(X, groups=QID))
    query = QID == 7
    changed = Y.copy()
    changed[query] = Y[query][::-1]
    seen = []

    class Recording(Column):
        def predict(self, X):
            found = self.mean_ + X @ self.coef_
            seen.append((X.copy(), found))
            return found

        def fit(self, X, y):
            model = Ridge().fit(X, y)
            self.mean_, self.coef_ = model.intercept_, model.coef_
            return self

    of = {}
    for y in (Y, changed):
        seen.clear()
        StackingRanker(estimators=[("recording", Recording())], cv=folds).fit(
            X, y, qid=QID
        )
        rows = X[query]
        [of[y is Y]] = [
            found for given, found in seen[:5] if (given == rows[0]).all(1).any()
        ]
    np.testing.assert_array_equal(of[True], of[False])


def test_folds_hold_whole_queries_and_any_order_of_rows():
    order = rng.permutation(len(QID))
    ids = np.array([f"query {q}" for q in QID], dtype=object)
    one = StackingRanker(estimators=PARTS, cv=GroupShuffleSplit(8, random_state=0))
    one.fit(X, Y, qid=QID)
    assert one.scores_.parts == ["ridge", "grades"]
    a, b = (
        StackingRanker(estimators=PARTS).fit(X[rows], Y[rows], qid=ids[rows])
        for rows in (slice(None), order)
    )
    np.testing.assert_allclose(a.scores_.scores[0], b.scores_.scores[0], atol=0.05)
    assert set(a.named_estimators_) == {
        name for name, weight in a.weights_.items() if weight
    }
    assert list(a.named_estimators_.values()) == a.estimators_


def test_qid_in_three_ways():
    target = ranking_target(Y, QID)
    expected = StackingRanker(estimators=PARTS).fit(X, Y, qid=QID).predict(X)
    np.testing.assert_array_equal(
        StackingRanker(estimators=PARTS).fit(X, target).predict(X), expected
    )
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), StackingRanker(estimators=PARTS))
        pipeline.fit(X, Y, qid=QID)
    assert pipeline[-1].n_lists_ == N_LISTS


@pytest.mark.parametrize("way", ["target", "routing", "splits"])
def test_grid_search_over_a_part(way):
    grid = {"ridge__alpha": [0.1, 10.0], "grades": [Ridge(), DummyRegressor()]}
    stack = StackingRanker(estimators=PARTS, cv=3)
    scoring = make_ranking_scorer("ndcg@10")
    if way == "routing":
        with sklearn.config_context(enable_metadata_routing=True):
            search = GridSearchCV(
                stack,
                grid,
                scoring=scoring.set_score_request(qid=True),
                cv=GroupKFold(2),
            )
            search.fit(X, Y, qid=QID, groups=QID)
    else:
        cv = (
            GroupKFold(2)
            if way == "target"
            else list(GroupKFold(2).split(X, groups=QID))
        )
        search = GridSearchCV(stack, grid, scoring=scoring, cv=cv, error_score="raise")
        search.fit(X, ranking_target(Y, QID), groups=QID)
    assert search.best_estimator_.get_params()["ridge__alpha"] in (0.1, 10.0)
    assert len(search.cv_results_["params"]) == 4
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_get_and_set_params():
    stack = StackingRanker(estimators=PARTS)
    assert clone(stack).get_params()["ridge__alpha"] == "auto"
    stack.set_params(ridge__alpha=3.0, grades=DummyRegressor(), cv=2)
    assert stack.get_params()["ridge__alpha"] == 3.0
    assert isinstance(dict(stack.estimators)["grades"], DummyRegressor)
    stack.set_params(estimators=columns(1, 1), column0__scale=2.0)
    assert stack.get_params()["column0__scale"] == 2.0
    with pytest.raises(ValueError, match="nothing"):
        stack.set_params(nothing=1)


@pytest.mark.parametrize(
    "estimators",
    [
        [],
        [("a", Ridge()), ("a", Ridge())],
        [("a__b", Ridge())],
        [("cv", Ridge())],
        [("stack", Ridge())],
        [("a", Ridge)],
        {"a": Ridge()},
    ],
)
def test_parts_that_are_refused(estimators):
    with pytest.raises(ValueError, match="list of pairs"):
        StackingRanker(estimators=estimators).fit(X, Y, qid=QID)


def test_a_part_that_raises_is_named():
    stack = StackingRanker(estimators=[*PARTS, ("bad", Failing())])
    with pytest.raises(RuntimeError, match=r"part 'bad' .*no such thing"):
        stack.fit(X, Y, qid=QID)
    assert not hasattr(stack, "weights_")
    with refused_by("model without sample weights"):
        StackingRanker(estimators=[("no weights", Column())]).fit(
            X, Y, qid=QID, sample_weight=np.ones(len(Y))
        )


def test_a_classifier_that_scores_no_items_is_refused():
    items = np.arange(60).reshape(20, 3) % 2
    parts = [("forest", RandomForestClassifier()), ("linear", LowRankSurrogateRanker())]
    message = "part 'forest' .* RandomForestClassifier has no decision_function"
    with pytest.raises(ValueError, match=message):
        StackingRanker(parts).fit(X[:20], items)
    # Documents have the probability of a class as their score.
    documents = StackingRanker(parts, weights={"forest": 1, "linear": 0})
    documents.fit(X, Y > 1, qid=QID)
    assert documents.score(X, Y > 1, qid=QID) > 0.9


def test_fewer_lists_than_folds():
    with pytest.warns(UserWarning, match="fewer lists .* than 5 folds"):
        stack = StackingRanker(columns(1, 2), cv=5).fit(X[:24], Y[:24], qid=QID[:24])
    with pytest.warns(UserWarning, match="fewer lists .* than 3 folds"):
        StackingRanker(columns(1, 2)).fit(X[:16], Y[:16], qid=QID[:16])
    assert stack.scores_ is None
    deviations = X[:24] - np.repeat(X[:24].reshape(3, 8, 3).mean(axis=1), 8, axis=0)
    units = np.sqrt((deviations**2).mean(axis=0))
    np.testing.assert_allclose(stack.predict(X), (X[:, :2] / units[:2]).sum(axis=1))


def test_fixed_items():
    items = np.clip(
        np.round(X @ rng.normal(size=(3, 6)) + rng.normal(size=(len(X), 6))), 0, 3
    )
    stack = StackingRanker(cv=3).fit(X, items)
    assert stack.predict(X).shape == items.shape
    assert set(stack.weights_) == {"linear", "trees", "means"}
    default = StackingRanker().fit(X, items)  # items hold out all three folds
    np.testing.assert_array_equal(default.scores_.weights, stack.scores_.weights)
    assert stack.score(X, items) > 0.7


def test_parts_of_every_kind():
    binary = (Y > 1).astype(int)
    parts = [
        ("pipeline", make_pipeline(StandardScaler(), OrderPreservingRegressor())),
        ("classes", make_pipeline(StandardScaler(), LogisticRegression())),
        ("top", PrecisionAtKPerceptron(target_loss="recall@3", random_state=0)),
    ]
    stack = StackingRanker(estimators=parts, target_loss="precision@3", verbose=True)
    stack.fit(X, binary, qid=QID)
    assert stack.scores_.scores[0] >= max(stack.scores_.scores[1:])
    stack = StackingRanker(estimators=parts[:2], target_loss="precision@3")
    plain, weighted = (
        clone(stack).fit(X, binary, qid=QID, sample_weight=w)
        for w in (None, np.ones(len(Y)))
    )
    np.testing.assert_allclose(weighted.predict(X), plain.predict(X))
    assert plain.predict(X[:5]).shape == (5,)


@pytest.mark.parametrize("package", ["lightgbm", "xgboost"])
def test_boosters_as_parts(package):
    module = pytest.importorskip(package)
    kinds = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}
    quiet = {"verbose": -1} if package == "lightgbm" else {}
    booster = getattr(module, kinds[package])(n_estimators=5, n_jobs=1, **quiet)
    parts = [("plain", booster), ("scaled", make_pipeline(StandardScaler(), booster))]
    stack = StackingRanker(estimators=parts).fit(X, Y.astype(int), qid=QID)
    assert min(stack.scores_.scores) > 0.5


def test_frames_and_categories_reach_the_parts():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    kinds = []

    class Frames(Column):
        def fit(self, X, y):
            kinds.append(type(X))
            self.feature_names_in_ = np.array(X.columns)
            return self

        def predict(self, X):
            return X["a"].to_numpy()

    stack = StackingRanker(estimators=[("frames", Frames())]).fit(frame, Y, qid=QID)
    assert set(kinds) == {pd.DataFrame}
    assert list(stack.feature_names_in_) == list("abc")


def test_sparse_features():
    from scipy.sparse import csr_matrix

    with refused_by("sparse features of default parts", TypeError):
        StackingRanker().fit(csr_matrix(X), Y, qid=QID)
    ours = [
        ("ridge", LowRankSurrogateRanker()),
        ("dcg", LowRankSurrogateRanker(target_loss="dcg")),
    ]
    assert StackingRanker(estimators=ours).__sklearn_tags__().input_tags.sparse
    stack = StackingRanker(estimators=PARTS)
    np.testing.assert_allclose(
        stack.fit(csr_matrix(X), Y, qid=QID).predict(csr_matrix(X)).shape, Y.shape
    )


def test_kept_weights_refit_the_parts_without_folds():
    first = StackingRanker(PARTS).fit(X, Y, qid=QID)
    later = StackingRanker(PARTS, weights=first.weights_).fit(X, Y, qid=QID)
    np.testing.assert_array_equal(later.predict(X), first.predict(X))
    assert later.weights_ == first.weights_
    assert later.scores_ is None
    for weights, what in (
        ({"ridge": 1.0}, "for each of"), ({"ridge": 0, "grades": 0}, "not all of them 0"),
        ({"ridge": -1, "grades": 1}, "weights must be"), ([1, 1], "weights must be"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=what):
            StackingRanker(PARTS, weights=weights).fit(X, Y, qid=QID)


def test_sample_weights_count_in_the_held_out_scores():
    weights = np.where(QID < 10, 1.0, 0.0)
    folds = [(k == QID % 2, k != QID % 2) for k in (0, 1)]  # masks
    parts = [("one", LowRankSurrogateRanker()), ("two", Ridge())]
    weighted = StackingRanker(parts, cv=folds).fit(X, Y, qid=QID, sample_weight=weights)
    rows = QID < 10
    fewer = [(train[rows], test[rows]) for train, test in folds]
    alone = StackingRanker(parts, cv=fewer).fit(X[rows], Y[rows], qid=QID[rows])
    np.testing.assert_allclose(weighted.scores_.scores, alone.scores_.scores)
    np.testing.assert_allclose(weighted.scores_.weights, alone.scores_.weights)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_folds_that_are_refused():
    for cv, what in (
        (KFold(7), "into the training and the test part of one fold"),
        ([(np.arange(100), np.arange(96, 240))], "keeps queries whole"),
    ):
        with pytest.raises(ValueError, match=what):
            StackingRanker(PARTS, cv=cv).fit(X, Y, qid=QID)
    with refused_by("iterator", TypeError):
        StackingRanker(PARTS, cv=(fold for fold in [])).fit(X, Y, qid=QID)
    halves = [(QID < 15, QID >= 15)]
    with refused_by("fold without weight"):
        StackingRanker(PARTS, cv=halves).fit(
            X, Y, qid=QID, sample_weight=(QID < 15) * 1.0
        )


def test_errors_of_parts_keep_their_class_their_check_and_their_remedies():
    parts = [("one", OrderPreservingRegressor()), ("two", LowRankSurrogateRanker())]
    gaps = np.where(X > 1.5, np.nan, X)
    records = [dict(zip("abc", row, strict=True)) for row in X.tolist()]
    for wrong, kind in ((gaps, ValueError), (records, TypeError)):
        with pytest.raises(kind) as alone:
            OrderPreservingRegressor().fit(wrong, Y, qid=QID)
        with pytest.raises(kind, match="The part 'one' of StackingRanker: ") as stacked:
            StackingRanker(parts).fit(wrong, Y, qid=QID)
        assert type(stacked.value) is type(alone.value)
        assert stacked.value.check == alone.value.check
        assert stacked.value.remedies == alone.value.remedies
        assert stacked.value.remedies


def test_the_diagram_shows_the_parts_their_weights_and_the_target_loss():
    stack = StackingRanker(
        estimators=PARTS, target_loss="map", weights={"ridge": 2, "grades": 0.25}
    )
    names = "ridge", "grades", "LowRankSurrogateRanker", "Ridge"
    assert all(f">{name}<" in stack._repr_html_() for name in names)
    diagram = stack.fit(X, Y > 1, qid=QID)._repr_html_()
    assert ">ridge, weight 2<" in diagram
    assert ">grades, weight 0.25<" in diagram
    assert "map" in diagram
    if hasattr(stack, "_get_fitted_attr_html"):  # scikit-learn 1.9
        assert "MeanAveragePrecision()" in diagram
    assert "StackingRanker" in StackingRanker()._repr_html_()


@pytest.mark.filterwarnings("ignore")
def test_held_out_lists_without_a_value_give_equal_weights():
    """Only the queries outside the first fold of three have relevant documents."""
    X, qid = np.arange(24.0)[:, np.newaxis] % 7, np.repeat(np.arange(6), 4)
    held = next(GroupKFold(3).split(X, groups=qid))[1]
    y = (np.arange(24) % 4 == 0).astype(float)
    y[held] = 0.0
    stack = StackingRanker(target_loss="ndcg@10").fit(X, y, qid=qid)
    np.testing.assert_allclose(stack.scores_.weights, [1 / 3, 1 / 3, 1 / 3])


# Rounds -----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_folds", [None, 2])
def test_rounds_that_folds_found_serve_the_last_fit(n_folds):
    stopping = {"early_stopping": True, "n_iter_no_change": 5, "random_state": 0}
    trees = HistGradientBoostingRanker(max_iter=30, max_leaf_nodes=4, **stopping)
    parts = [("linear", OrderPreservingRegressor()), ("trees", trees)]
    rng = np.random.default_rng(3)
    X = rng.normal(size=(480, 2))
    y = np.digitize(X[:, 0] * X[:, 1], [0.0, 0.5, 1.0])  # no linear ranker sees it
    qid = np.repeat(np.arange(40), 12)
    stack = StackingRanker(parts, cv=n_folds).fit(X, y, qid=qid)
    rounds = []
    for train, _ in GroupKFold(n_folds or 3).split(X, y, qid):
        of_fold = clone(trees).fit(X[train], y[train], qid=qid[train])
        rounds.append(of_fold.n_iter_)
    found = stack.named_estimators_["trees"]
    expected = rounds[0] if n_folds is None else int(np.median(rounds))
    assert found.n_iter_ == found.max_iter == expected
    assert not found.early_stopping
    assert not hasattr(found, "validation_scores_")  # no rows were held out again
    given = StackingRanker(parts, weights=stack.weights_).fit(X, y, qid=qid)
    assert hasattr(given.named_estimators_["trees"], "validation_scores_")


def test_trees_of_lightgbm_keep_the_number_that_folds_found():
    lightgbm = pytest.importorskip("lightgbm")
    model = lightgbm.LGBMRanker(n_estimators=40, n_jobs=1, verbose=-1)
    booster = WrappedRanker(
        model, early_stopping=True, n_iter_no_change=5, random_state=0
    )
    X, y, qid = make_ranking(40, (5, 9), random_state=3)
    stack = StackingRanker([("lightgbm", booster)], cv=2).fit(X, y, qid=qid)
    (found,) = stack.estimators_
    assert not found.early_stopping
    assert found.estimator_.n_estimators == found.estimator.n_estimators < 40
