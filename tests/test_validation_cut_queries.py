"""A score on queries that were cut between training and test is said to be too high."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import GroupKFold, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowrank_rank
from lowrank_rank import (
    CutQueriesWarning,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.structured import StructuredHingeRanker

MODELS = [
    LowRankSurrogateRanker(),
    LowRankSurrogateRanker(estimator="trees", random_state=0),
    OrderPreservingRegressor(),
    PairwiseDAGRanker(),
    StructuredHingeRanker(),
    WrappedRanker(Ridge()),
]


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(60, (8, 12), n_features=5, random_state=0)
    return X, y, qid


@pytest.mark.filterwarnings("error::lowrank_rank.CutQueriesWarning")
@pytest.mark.filterwarnings("ignore:The hinge of")
@pytest.mark.parametrize("kind", [int, str, "tuple"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_score_and_scorers_warn_and_rank_does_not(data, model, kind):
    X, y, qid = data
    ids = [("q", int(q)) for q in qid] if kind == "tuple" else qid.astype(kind)
    ids = np.fromiter(ids, dtype=object, count=len(y)) if kind == "tuple" else ids
    rows = np.random.default_rng(0).permutation(len(y))
    train, test = np.sort(rows[: len(y) // 2]), np.sort(rows[len(y) // 2 :])
    model.fit(X[train], y[train], qid=ids[train])
    model.score(X[train], y[train], qid=ids[train])  # lists of the same lengths
    model.predict(X[test])
    model.rank(X[test], qid=ids[test])
    message = "Query ids of these rows were also in fit, with another number of rows"
    for _ in range(2):  # each call warns
        with pytest.warns(CutQueriesWarning, match=message):
            model.score(X[test], y[test], qid=ids[test])
    loaded = pickle.loads(pickle.dumps(model))
    loaded.score(X[test], y[test], qid=ids[test])  # it does not know the queries
    model.fit(X[train], y[train], qid=ids[train])
    scorer = make_ranking_scorer(["ndcg@5", "map"], relevance_threshold=2)
    with pytest.warns(CutQueriesWarning, match=message) as caught:
        scorer(model, X[test], y[test], qid=ids[test])
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("kind", "other"),
    [(int, float), (float, int), (int, object), ("tuple", "tuple of floats")],
)
def test_ids_of_another_type_are_the_same_queries(data, kind, other):
    """A merge of pandas makes floats of integers."""
    X, y, qid = data

    def ids_of(kind):
        if kind in ("tuple", "tuple of floats"):
            part = int if kind == "tuple" else float
            return [("q", part(one)) for one in qid]
        return qid.astype(kind)

    ranker = LowRankSurrogateRanker().fit(X, y, qid=ids_of(kind))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.score(X, y, qid=ids_of(other))  # the same lists, no copies of them
    with pytest.warns(CutQueriesWarning):
        ranker.score(X[::2], y[::2], qid=ids_of(other)[::2])


@pytest.mark.filterwarnings("error::lowrank_rank.CutQueriesWarning")
def test_folds_of_whole_queries_are_silent(data):
    X, y, qid = data
    target = ranking_target(y, qid)
    pipeline = make_pipeline(StandardScaler(), LowRankSurrogateRanker())
    for scoring in (None, make_ranking_scorer("ndcg@5")):
        cross_validate(
            pipeline, X, target, groups=qid, cv=GroupKFold(5), scoring=scoring,
            return_train_score=True, error_score="raise",
        )  # fmt: skip
        with pytest.warns(CutQueriesWarning):
            cross_val_score(
                pipeline, X, target, cv=KFold(5, shuffle=True), scoring=scoring
            )


def test_models_without_lists_of_a_whole_fit_say_nothing(data):
    X, y, qid = data
    half = qid < 30
    model = LowRankSurrogateRanker().partial_fit(X[half], y[half], qid=qid[half])
    top = PrecisionAtKPerceptron().fit(X, y > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", CutQueriesWarning)
        model.score(X[::2], y[::2], qid=qid[::2])
        top.score(X[::2], y[::2] > 1)
        with pytest.warns(UserWarning, match="was fitted without query ids"):
            LowRankSurrogateRanker().fit(X[:200], y[:200]).score(X[:200:2], y[:200:2])
        LowRankSurrogateRanker().fit(X, y, qid=qid.astype(str)).score(
            X[::2], y[::2], qid=qid[::2]
        )


def test_a_split_of_each_user_by_time_is_named():
    """Each user's late rows are the test: the remedy is a filter, and no GroupKFold."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(20), 12)
    is_early = np.tile(np.arange(12) < 8, 20)
    X = rng.normal(size=(240, 2))
    y = (X[:, 0] + rng.normal(size=240) > 0).astype(float)
    rankers = {}
    for name in ("one", "two"):
        ranker = OrderPreservingRegressor()
        ranker.fit(X[is_early], y[is_early], qid=user[is_early])
        rankers[name] = ranker
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n_users in (20, 10, 5):
            rows = ~is_early & (user < n_users)
            for ranker in rankers.values():
                ranker.score(X[rows], y[rows], qid=user[rows])
        late = {"X": X[~is_early], "qid": user[~is_early], "measure": "ndcg@5"}
        compare_rankers(y[~is_early], rankers, **late)
    texts = [str(one.message) for one in caught]
    assert len(texts) == 7  # six scores, and a comparison of both
    assert len(set(texts)) == 1
    for words in ("later rows of each user", "by time", "warnings.filterwarnings("):
        assert words in texts[0]
    line = texts[0].partition("the score is right: ")[2].rstrip(".")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(line, {"warnings": warnings, "lowrank_rank": lowrank_rank})
        rankers["one"].score(X[~is_early], y[~is_early], qid=user[~is_early])
