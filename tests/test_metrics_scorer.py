"""One search, carried in three ways and written by hand; and what must raise."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
import sklearn.model_selection
from numpy.testing import assert_allclose
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    RandomForestClassifier,
    StackingRegressor,
    VotingRegressor,
)
from sklearn.feature_selection import RFECV
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    cross_validate,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_label_ranking, make_ranking
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.metrics import get_ranking_scorer_names, ndcg_score
from lowrank_rank.structured import StructuredHingeRanker
from lowrank_rank.target_losses import NDCG, MeanAveragePrecision

from .measures import average_precision
from .refusals import refused_by

GRID = {"rank__alpha": [0.1, 10.0, 1000.0], "rank__target_loss": ["ndcg@5", "pd"]}


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(40, (3, 10), n_features=8, noise=2.0, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], qid[order]


def pipeline():
    return Pipeline([("scale", StandardScaler()), ("rank", LowRankSurrogateRanker())])


def search(estimator=None, grid=GRID, scoring=None, n_jobs=2, **kwargs):
    return GridSearchCV(
        pipeline() if estimator is None else estimator,
        grid,
        cv=GroupKFold(4),
        scoring=make_ranking_scorer("ndcg@5") if scoring is None else scoring,
        error_score="raise",
        n_jobs=n_jobs,
        **kwargs,
    )


def carried(data):
    """y that carries its qid, in both ways."""
    _, y, qid = data
    return {
        "ranking_target": ranking_target(y, qid),
        "series": pd.Series(y, index=pd.Index([f"q{q}" for q in qid], name="qid")),
    }


@pytest.mark.parametrize("kind", ["ranking_target", "series"])
def test_model_selection_tools(data, kind, tmp_path):
    X, _, qid = data
    target = carried(data)[kind]
    plain = search().fit(X, target, groups=qid).best_score_
    nested = make_pipeline(StandardScaler(), pipeline())
    grid = {f"pipeline__{k}": v for k, v in GRID.items()}
    assert search(nested, grid).fit(X, target, groups=qid).best_score_ == pytest.approx(
        plain
    )
    cached = Pipeline(pipeline().steps, memory=str(tmp_path))
    assert search(cached, n_jobs=1).fit(
        X, target, groups=qid
    ).best_score_ == pytest.approx(plain)

    scorers = {"ndcg": make_ranking_scorer("ndcg@5"), "pd": make_ranking_scorer("pd")}
    multi = search(scoring=scorers, refit="ndcg").fit(X, target, groups=qid)
    assert multi.cv_results_["mean_test_ndcg"].max() == pytest.approx(plain)
    assert np.all(multi.cv_results_["mean_test_pd"] <= 0)
    at_once = search(scoring=make_ranking_scorer(["ndcg@5", "pd"]), refit="ndcg@5")
    at_once.fit(X, target, groups=qid)
    for name, key in [("ndcg@5", "ndcg"), ("pd", "pd")]:
        np.testing.assert_allclose(
            at_once.cv_results_[f"mean_test_{name}"],
            multi.cv_results_[f"mean_test_{key}"],
        )


def test_nested_search_and_learning_curve(data):
    X, y, qid = data
    target = ranking_target(y, qid)
    splits = list(GroupKFold(3).split(X, y, qid))
    scorer = make_ranking_scorer("ndcg@5")
    inner = search(grid={"rank__alpha": [1.0, 100.0]}, n_jobs=1)
    outer = []
    for train, test in splits:
        fitted = clone(inner).fit(X[train], target[train], groups=qid[train])
        outer.append(scorer(fitted, X[test], target[test]))
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(
            inner, X, y, cv=splits, scoring=scorer, error_score="raise",
            params={"qid": qid, "groups": qid},
        )  # fmt: skip
    np.testing.assert_allclose(routed["test_score"], outer)
    _, _, scores = learning_curve(
        pipeline(),
        X,
        target,
        cv=splits,
        scoring=scorer,
        train_sizes=[0.5, 1.0],
        error_score="raise",
    )
    whole = cross_val_score(
        pipeline(), X, target, cv=splits, scoring=scorer, error_score="raise"
    )
    # learning_curve gives every fold the first one's number of rows, cutting queries apart
    assert scores[-1, 0] == pytest.approx(whole[0])
    np.testing.assert_allclose(scores[-1], whole, atol=0.05)


def test_pickle_and_clone(data):
    X, y, qid = data
    target = ranking_target(y, qid)
    fitted = search(n_jobs=1).fit(X, target, groups=qid)
    again = pickle.loads(pickle.dumps(fitted))
    scorer = make_ranking_scorer(NDCG(k=5))
    for copy in (pickle.loads(pickle.dumps(scorer)), clone(scorer)):
        assert copy(again, X, target) == scorer(fitted, X, target)
    assert clone(fitted).fit(X, target, groups=qid).best_score_ == fitted.best_score_
    many = make_ranking_scorer(["ndcg@5", "pd"])
    assert clone(many)(fitted, X, target) == many(fitted, X, target)


WRAPPERS = {
    "ranker": lambda: LowRankSurrogateRanker(),
    "pipeline": pipeline,
    "nested pipeline": lambda: make_pipeline(StandardScaler(), pipeline()),
    "search": lambda: search(grid={"rank__alpha": [1.0]}, n_jobs=1),
    "bagging": lambda: BaggingRegressor(
        LowRankSurrogateRanker(), n_estimators=2, random_state=0
    ),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_scoring_a_model_of_several_lists_without_qid_raises(data, wrapper):
    X, y, qid = data
    target = ranking_target(y, qid)
    model = WRAPPERS[wrapper]()
    kwargs = {"groups": qid} if wrapper == "search" else {}
    model.fit(X, target, **kwargs)
    scorer = make_ranking_scorer("ndcg@5")
    message = r"query ids \(\d\d lists\): all rows would be ranked as one list"
    with pytest.raises(ValueError, match=message):
        scorer(model, X, y)
    assert 0 < scorer(model, X, target) <= 1
    assert scorer(model, X, y, qid=qid) == scorer(model, X, target)


def test_meta_estimators_hide_no_model(data):
    """Fitted for real, qid routed or carried; without it the scorer raises."""
    X, y, qid = data
    ranker, scorer = LowRankSurrogateRanker(), make_ranking_scorer("ndcg@5")
    models = {
        "voting": VotingRegressor([("a", ranker), ("b", ranker)]),
        "stacking": StackingRegressor([("a", ranker)], final_estimator=ranker, cv=2),
        "rfecv": RFECV(ranker, cv=GroupKFold(3), scoring=scorer),
        "transformed": TransformedTargetRegressor(ranker),
    }
    with config_context(enable_metadata_routing=True):
        for name, model in models.items():
            params = {"groups": qid} if name == "rfecv" else {}
            model.fit(X, y, qid=qid, **params)
            with refused_by("no ids for a scorer"):
                scorer(model, X, y)
            assert 0 < scorer(model, X, ranking_target(y, qid)) <= 1
            assert 0 < scorer(pickle.loads(pickle.dumps(model)), X, y, qid=qid) <= 1


@pytest.mark.parametrize("tool", ["search", "multi"])
def test_routing_off_and_plain_y_raises_in_a_search(data, tool):
    """qid reaches fit as a parameter but never the scorer: that must not be silent."""
    X, y, qid = data
    splits = list(GroupKFold(3).split(X, y, qid))
    scorer = make_ranking_scorer(["ndcg@5", "pd"] if tool == "multi" else "ndcg@5")
    common = {"scoring": scorer, "cv": splits, "error_score": "raise"}

    refit = "ndcg@5" if tool == "multi" else True
    found = GridSearchCV(pipeline(), {"rank__alpha": [1.0]}, refit=refit, **common)
    with refused_by("no ids for a scorer"):
        found.fit(X, y, rank__qid=qid)


def test_models_that_say_nothing_of_lists(data):
    X, y, qid = data
    ridge = Ridge().fit(X, y)
    with refused_by("one list or several"):
        make_ranking_scorer("ndcg")(ridge, X, y)
    pooled = make_ranking_scorer("ndcg", one_list=True)(ridge, X, y)
    assert pooled == pytest.approx(ndcg_score(y, ridge.predict(X), one_list=True))
    per_list = make_ranking_scorer("ndcg")(ridge, X, y, qid=qid)
    assert per_list == pytest.approx(ndcg_score(y, ridge.predict(X), qid=qid))


def test_one_list_models(data):
    X, y, qid = data
    few = LowRankSurrogateRanker().fit(X[:200], y[:200])
    with refused_by("one list or several"):
        make_ranking_scorer("ndcg")(few, X, y)
    one = LowRankSurrogateRanker().fit(X, y, one_list=True)
    pooled = make_ranking_scorer("ndcg")(one, X, y)
    assert pooled == make_ranking_scorer("ndcg", one_list=True)(one, X, y)
    assert pooled == pytest.approx(ndcg_score(y, one.predict(X), one_list=True))
    with pytest.warns(UserWarning, match="fitted on one"):
        make_ranking_scorer("ndcg")(one, X, y, qid=qid)
    top = PrecisionAtKPerceptron(random_state=0).fit(
        X, y > 1
    )  # ranks all rows by design
    is_good = (y > 1).astype(int)
    assert 0 < make_ranking_scorer("precision@25%")(top, X, is_good) <= 1
    with refused_by("count of the rows of a fold"):
        make_ranking_scorer("precision@20")(top, X, is_good)


@pytest.mark.parametrize("n_lists", [1, 2, 40])
def test_scoring_without_qid_asks_whether_ids_were_given(data, n_lists):
    """Not on how many lists: one list with an id is not all rows without."""
    X, y, qid = data
    qid = qid % n_lists
    given = make_pipeline(LowRankSurrogateRanker()).fit(X, ranking_target(y, qid))
    scorer = make_ranking_scorer("ndcg")
    message = f"There is no qid, .* fitted on rows with query ids \\({n_lists} lists"
    with pytest.raises(ValueError, match=message):
        scorer(given, X, y)
    assert 0 < scorer(given, X, ranking_target(y, qid)) <= 1
    assert scorer(given, X, y, qid=qid) == pytest.approx(
        ndcg_score(y, given.predict(X), qid=qid)
    )  # and no warning, however many lists there are now
    others = np.char.add("other ", (np.arange(len(y)) % 7).astype(str))
    assert 0 < scorer(given, X, y, qid=others) <= 1


FAMILIES = {
    "low rank": LowRankSurrogateRanker(),
    "any regressor": LowRankSurrogateRanker(estimator=Ridge()),
    "order preserving": OrderPreservingRegressor(target_loss="ndcg"),
    "preferences": PairwiseDAGRanker(),
    "perceptron": PrecisionAtKPerceptron(random_state=0),
    "pointwise": WrappedRanker(Ridge()),
    "hinge": StructuredHingeRanker(),
}


@pytest.mark.parametrize("lists", ["many", "one", "one of positive weight"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_fitted_with_ids_is_not_scored_or_ranked_without(data, family, lists):
    """Whether fit was given ids counts, not how many lists they made."""
    X, y, qid = data
    y = (y > np.median(y)).astype(int)
    one = qid == next(q for q in qid if 0 < y[qid == q].mean() < 1)
    model = clone(FAMILIES[family])
    if lists != "one of positive weight":
        rows = one if lists == "one" else np.full(len(y), True)
        model.fit(X[rows], y[rows], qid=qid[rows])
    elif family == "perceptron":
        pytest.skip("it takes no weights")
    else:
        model.fit(X, y, qid=qid, sample_weight=one.astype(float))
    scorer = make_ranking_scorer("ndcg")
    for wrong in (model.score, lambda X, y: model.rank(X), partial(scorer, model)):
        with pytest.raises(ValueError, match="one list"):
            wrong(X, y)
    ranks = model.rank(X, qid=np.zeros(len(y)))  # that one list is meant can be said
    assert sorted(ranks) == list(range(1, len(y) + 1))
    assert model.score(X, y, qid=qid) == model.score(X, ranking_target(y, qid))
    scores = getattr(model, "decision_function", model.predict)(X)
    expected = ndcg_score(y, scores, qid=qid)
    assert scorer(model, X, y, qid=qid) == pytest.approx(
        expected
    )  # no warning: ids in both
    assert scorer(model, X, ranking_target(y, qid)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "tool", [cross_val_score, partial(learning_curve, train_sizes=[1.0])]
)
@pytest.mark.parametrize("scoring", [None, "ndcg@5"])
def test_ids_for_fit_alone_are_refused(data, tool, scoring):
    """Without routing no scorer gets them, folds that train on one query among them."""
    X, y, qid = data
    scoring = scoring and make_ranking_scorer(scoring)
    one = [(np.flatnonzero(qid == qid[0]), np.flatnonzero(qid != qid[0]))]
    for cv in (one, list(GroupKFold(3).split(X, y, qid))):
        common = {"cv": cv, "scoring": scoring, "error_score": "raise"}
        with pytest.raises(ValueError, match="one list"):
            tool(LowRankSurrogateRanker(), X, y, params={"qid": qid}, **common)
        with config_context(enable_metadata_routing=True):
            routed = tool(LowRankSurrogateRanker(), X, y, params={"qid": qid}, **common)
        expected = tool(LowRankSurrogateRanker(), X, ranking_target(y, qid), **common)
        np.testing.assert_allclose(routed[-1], expected[-1])


def test_a_model_that_a_tool_was_given_says_nothing_of_its_clone(data):
    """What the tool has fitted counts, not what was fitted before."""
    X, y, qid = data
    target, series = carried(data).values()
    scorer = make_ranking_scorer("ndcg")
    before = LowRankSurrogateRanker().fit(X, y, qid=qid)
    bagged = BaggingRegressor(before, n_estimators=2, random_state=0)
    with refused_by("many rows without ids"):  # bagging loses the ids
        bagged.fit(X, series)
    few = series[:200]
    with refused_by("ids lost by a tool"):
        scorer(bagged.fit(X[:200], few), X[:200], few)
    one_list = make_ranking_scorer("ndcg", one_list=True)
    few = X[:200], y[:200]  # more rows would be refused
    assert 0 < one_list(bagged.fit(*few), *few) <= 1  # all rows are one list, in both
    before.fit(X, y, one_list=True)
    assert 0 < scorer(bagged.fit(X, target), X, target) <= 1
    inner = WrappedRanker(OrderPreservingRegressor(target_loss="ndcg")).fit(X, series)
    assert 0 < scorer(inner, X, series) <= 1  # what it has fitted has no ids
    with refused_by("no ids for a scorer"):
        scorer(inner, X, y)


def test_calibrated_models_are_seen(data):
    X, y, qid = data
    y = (y > 0).astype(int)
    series = pd.Series(y, index=pd.Index(qid, name="qid"))
    cv = list(GroupKFold(3).split(X, y, qid))
    top = PrecisionAtKPerceptron(random_state=0)
    model = CalibratedClassifierCV(top, cv=cv)
    with refused_by("no ids for a scorer"):
        make_ranking_scorer("ndcg")(model.fit(X, series), X, y)
    with refused_by("ids lost by a tool"):
        make_ranking_scorer("ndcg")(model.fit(X, y), X, series)


def test_batches_without_ids_are_no_ids(data):
    """Each batch is a list; rows without qid are one list, and say so."""
    X, y, _ = data
    model = (
        LowRankSurrogateRanker().partial_fit(X[:99], y[:99]).partial_fit(X[99:], y[99:])
    )
    with refused_by("one list or several"):
        make_ranking_scorer("ndcg@10")(model, X, y)
    scorer = make_ranking_scorer("ndcg@10", one_list=True)
    assert scorer(model, X, y) == pytest.approx(model.score(X, y, one_list=True))
    with refused_by("many rows without ids"):
        model.score(X, y)
    with pytest.warns(UserWarning, match="was fitted without query ids"):
        model.score(X[:99], y[:99])


class Foreign(Ridge):
    """Says on how many lists it was fitted, and nothing of ids."""

    def fit(self, X, y, n_lists=1):
        self.n_lists_ = n_lists
        return super().fit(X, y)


def test_foreign_models_count_lists(data):
    X, y, qid = data
    scorer = make_ranking_scorer("ndcg")
    one, many = Foreign().fit(X, y), Foreign().fit(X, y, n_lists=5)
    pooled = make_ranking_scorer("ndcg", one_list=True)
    value = ndcg_score(y, one.predict(X), one_list=True)
    assert pooled(one, X, y) == pytest.approx(value)
    with pytest.warns(UserWarning, match="fitted on one"):
        scorer(one, X, y, qid=qid)
    with refused_by("no ids for a scorer"):
        scorer(many, X, y)
    assert 0 < scorer(many, X, y, qid=qid) <= 1
    both = VotingRegressor([("a", one), ("b", LowRankSurrogateRanker())])
    both.estimators_ = [one, LowRankSurrogateRanker().fit(X, y, qid=qid)]
    with refused_by("no ids for a scorer"):
        scorer(both, X, y)
    with refused_by("ids lost by a tool"):
        scorer(both, X, ranking_target(y, qid))


def test_classifiers_are_scored_by_decision_function(data):
    X, y, qid = data
    y = (y > 0).astype(int)
    scorer = make_ranking_scorer("map")
    linear = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    expected = average_precision(y, linear.decision_function(X), qid=qid)
    assert scorer(linear, X, y, qid=qid) == pytest.approx(expected)
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    expected = average_precision(y, forest.predict_proba(X)[:, 1], qid=qid)
    assert scorer(forest, X, y, qid=qid) == pytest.approx(expected)
    three = LogisticRegression().fit(X, np.arange(len(y)) % 3)
    with refused_by("several scores of a row"):
        scorer(three, X, y, qid=qid)


def test_qid_is_passed_to_a_predict_that_names_it(data):
    X, y, qid = data

    class ByList(Ridge):
        def predict(self, X, *, qid=None):
            self.seen_ = qid
            return super().predict(X)

    model = make_pipeline(StandardScaler(), ByList()).fit(X, y)
    make_ranking_scorer("ndcg")(model, X, y, qid=qid)
    assert model[-1].seen_ is qid


def test_fixed_items_need_no_qid():
    data = make_label_ranking(60, 4, random_state=0)
    found = GridSearchCV(
        LowRankSurrogateRanker(target_loss="map"),
        {"alpha": [0.1, 10.0]},
        cv=3,
        error_score="raise",
        scoring=make_ranking_scorer(["map", "auc", "precision@50%", "mrr"]),
        refit="map",
    ).fit(data.data, data.target)
    assert 0 < found.best_score_ <= 1


def test_weights_reach_the_measure(data):
    X, y, qid = data
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    w = np.random.default_rng(0).uniform(size=40)[qid]
    scorer = make_ranking_scorer("ndcg")
    assert scorer(model, X, y, qid=qid, sample_weight=w) == pytest.approx(
        model.score(X, y, qid=qid, sample_weight=w)
    )


def test_names_and_parameters():
    names = get_ranking_scorer_names()
    assert {
        "ndcg",
        "ndcg@10",
        "precision@10",
        "precision@25%",
        "map",
        "pd",
        "mrr",
    } <= set(names)
    assert all(make_ranking_scorer(name) for name in names)
    scorer = make_ranking_scorer("map", relevance_threshold=2)
    assert (
        scorer.measure.get_params()
        == MeanAveragePrecision(relevance_threshold=2).get_params()
    )
    loss = NDCG(k=3)
    make_ranking_scorer(loss, k=7)
    assert loss.k == 3
    with refused_by("unknown name of a measure"):
        make_ranking_scorer("ndgc")
    with refused_by("parameter of no measure"):
        make_ranking_scorer("ndcg", relevance_threshold=1)
    several = make_ranking_scorer(
        {"P5": "precision@5", "N": NDCG(k=2)}, relevance_threshold=3
    )
    assert list(several.measure) == ["P5", "N"]
    assert several.measure["P5"].relevance_threshold == 3
    for contradiction in (["ndcg@5", "ndcg@10"], "ndcg@10"):
        with refused_by("parameter with two values"):
            make_ranking_scorer(contradiction, k=20)
    for name, params in (("precision@10", {"k": 5}), ("prbep", {"share": 0.5})):
        with refused_by("parameter with two values"):
            make_ranking_scorer(name, **params)


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
def test_classes_with_names(method):
    """The relevant class is the model's own, or the one that is named."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] + rng.normal(size=200) > 1).astype(int)
    names = np.where(y == 1, "fraud", "ok")
    own = PrecisionAtKPerceptron(pos_label="fraud", random_state=0).fit(X, names)
    expected = own.target_loss_.measure(y, -own.decision_function(X))
    assert make_ranking_scorer("precision@25%")(own, X, names) == expected
    assert make_ranking_scorer(["precision@25%"])(make_pipeline(own), X, names) == {
        "precision@25%": expected
    }
    other = LogisticRegression() if method == "decision_function" else GaussianNB()
    other.fit(X, names)
    named = make_ranking_scorer("precision@25%", pos_label="fraud", one_list=True)
    scores = getattr(other, method)(X)
    scores = -scores if scores.ndim == 1 else scores[:, 0]
    assert_allclose(named(other, X, names), own.target_loss_.measure(y, scores))
    assert named(other, X, names) > 2 * y.mean()
    with refused_by("names of classes"):
        make_ranking_scorer("prbep", one_list=True)(other, X, names)
    with refused_by("unknown relevant class"):
        make_ranking_scorer("prbep", pos_label="theft", one_list=True)(other, X, names)
    zero = PrecisionAtKPerceptron(pos_label=0, random_state=0).fit(X, y)
    assert make_ranking_scorer("precision@25%")(zero, X, y) == zero.score(X, y)


def test_matrix_of_labels_from_any_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    for n_labels in (2, 4):
        Y = (X @ rng.normal(size=(3, n_labels)) > 0.3).astype(int)
        scorer = make_ranking_scorer("precision@1")
        for model in (
            OneVsRestClassifier(PrecisionAtKPerceptron(target_loss="precision@10")),
            OneVsRestClassifier(LogisticRegression()),
            OneVsRestClassifier(GaussianNB()),
            MultiOutputClassifier(GaussianNB()),
        ):
            by_chance = Y.mean()
            assert scorer(model.fit(X, Y), X, Y) > by_chance + 0.1


def test_several_classes_are_not_one_list():
    X, y = np.arange(12.0)[:, np.newaxis], np.repeat([0, 1, 2], 4)
    with refused_by("several scores of a row"):
        make_ranking_scorer("ndcg", one_list=True)(LogisticRegression().fit(X, y), X, y)


def test_the_scorer_and_the_model_mean_the_same_class():
    X, y = np.arange(8.0)[:, np.newaxis], np.array(["fraud", "ok"] * 4)
    model = PrecisionAtKPerceptron(target_loss="prbep", pos_label="ok").fit(X, y)
    with refused_by("two relevant classes"):
        make_ranking_scorer("prbep", pos_label="fraud")(model, X, y)
    same = make_ranking_scorer("prbep", pos_label="ok")(model, X, y)
    assert same == make_ranking_scorer("prbep")(model, X, y)


@pytest.mark.parametrize("params", [{"k": 0}, {"gain": "exp"}])
def test_parameters_of_a_measure_are_checked_when_the_scorer_is_made(params):
    with pytest.raises(ValueError, match=f"{next(iter(params))} must be"):
        make_ranking_scorer("ndcg", **params)


@pytest.mark.parametrize("X", [None, 3.0])
def test_what_is_no_table_is_refused_by_a_sentence(data, X):
    """Where an id is made for each row, before anything has looked at X."""
    rows, y, _ = data
    model = PairwiseDAGRanker().fit(rows, y, one_list=True)
    for score in (
        model.score,
        lambda *args: make_ranking_scorer("pd", one_list=True)(model, *args),
    ):
        with pytest.raises(ValueError, match="Expected 2D array"):
            score(X, y)


@pytest.mark.parametrize("display", ["LearningCurveDisplay", "ValidationCurveDisplay"])
def test_displays_of_scikit_learn_take_the_scorers(display):
    pytest.importorskip("matplotlib")
    X, y, qid = make_ranking(n_lists=30, random_state=0)
    curve = {"LearningCurveDisplay": {}}.get(
        display, {"param_name": "alpha", "param_range": [0.1, 1.0]}
    )
    drawn = getattr(sklearn.model_selection, display).from_estimator(
        LowRankSurrogateRanker(),
        X,
        ranking_target(y, qid),
        groups=qid,
        cv=GroupKFold(3),
        scoring=make_ranking_scorer("ndcg@10"),
        **curve,
    )
    assert "ndcg" in drawn.ax_.get_ylabel().lower()


def test_numbers_are_no_labels_of_a_classifier_of_names():
    """A model of "fraud" and "ok" would rank its last class, "ok"."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    is_fraud = (X[:, 0] > 0.5).astype(int)
    model = LogisticRegression().fit(X, np.where(is_fraud, "fraud", "ok"))
    y, qid = is_fraud, np.repeat(np.arange(6), 10)
    for refused in (
        lambda: compare_rankers(y, {"model": model}, X=X, qid=qid, measure="recall@5"),
        lambda: make_ranking_scorer("recall@5")(model, X, ranking_target(y, qid)),
        lambda: make_ranking_scorer("recall@5", pos_label="fraud")(
            model, X, ranking_target(y, qid)
        ),
        lambda: make_ranking_scorer("recall@5", pos_label="fraud", one_list=True)(
            model, X, np.where(is_fraud, "fraud", None)
        ),
    ):
        with pytest.raises(
            ValueError, match=r"classes of the model are \['fraud', 'ok'\]"
        ):
            refused()
    scores = model.predict_proba(X)[:, 0]
    found = compare_rankers(y, {"model": scores}, qid=qid, measure="recall@5")
    assert found.means.mean[0] > 0.9


def test_a_function_and_a_misspelt_name_are_no_measures():
    y, scores, qid = [1, 0, 1, 0], {"a": [1, 0, 1, 0]}, [0, 0, 1, 1]
    what = r"A measure is a name .* with values\(\); .* mine\(estimator, X, y\) with y\['y'\]"
    for measure, error, message in (
        (lambda y, s: 0.0, TypeError, what),
        ("ndgc@10", ValueError, "Unknown measure 'ndgc@10'. Did you mean 'ndcg@10'"),
    ):
        with pytest.raises(error, match=message):
            make_ranking_scorer(measure)
        with pytest.raises(error, match=message):
            compare_rankers(y, scores, qid=qid, measure=measure)
