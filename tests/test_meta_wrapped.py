"""WrappedRanker: plain regressors and classifiers of grades under the ranking tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_validate
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking
from lowrank_rank.metrics import ndcg_score

from .refusals import refused_by


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(30, (4, 9), n_features=5, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order], qid[order]


def test_scores_of_a_regressor_are_its_predictions(data):
    X, y, qid = data
    ranker = WrappedRanker(Ridge()).fit(X, ranking_target(y, qid))
    np.testing.assert_array_equal(ranker.predict(X), Ridge().fit(X, y).predict(X))
    assert ranker.score(X, y, qid=qid) == ndcg_score(
        y, ranker.predict(X), qid=qid, k=10
    )
    ranks = ranker.rank(X, qid=qid)
    assert all(
        sorted(ranks[qid == q]) == list(range(1, sum(qid == q) + 1)) for q in range(30)
    )
    assert (ranker.n_lists_, ranker.n_features_in_) == (30, 5)
    column = WrappedRanker(LinearRegression()).fit(X, y)
    column.estimator_.fit(X, y[:, np.newaxis])  # predicts a column
    assert column.predict(X).shape == (len(y),)


def test_scores_of_a_classifier_are_expected_grades(data):
    X, y, qid = data
    ranker = WrappedRanker(LogisticRegression(max_iter=500)).fit(X, y, qid=qid)
    plain = LogisticRegression(max_iter=500).fit(X, y)
    expected = plain.predict_proba(X) @ plain.classes_
    np.testing.assert_allclose(ranker.predict(X), expected)
    assert ranker.predict(X).dtype == float
    assert list(ranker.estimator_.classes_) == sorted(set(y))  # grades, not pairs
    assert ranker.score(X, y, qid=qid) > ndcg_score(y, np.zeros(len(y)), qid=qid, k=10)


def test_a_binary_classifier_without_probabilities_has_its_decision_function(data):
    X, y, qid = data
    relevant = (y > 1).astype(int)
    ranker = WrappedRanker(LinearSVC(), target_loss="map").fit(X, relevant, qid=qid)
    expected = LinearSVC().fit(X, relevant).decision_function(X)
    np.testing.assert_allclose(ranker.predict(X), expected)
    with pytest.raises(ValueError, match="LinearSVC does not give a score to rank"):
        WrappedRanker(LinearSVC()).fit(X, y, qid=qid)


MODELS = {
    "ranker": LowRankSurrogateRanker(target_loss="ndcg@10"),
    "regressor": WrappedRanker(HistGradientBoostingRegressor(max_iter=5)),
    "classifier": WrappedRanker(RandomForestClassifier(5, random_state=0)),
    "pipeline": make_pipeline(
        StandardScaler(), WrappedRanker(make_pipeline(StandardScaler(), Ridge()))
    ),
}


@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_one_cross_validation_for_all(data, name, routing):
    """Against the same folds by hand; qid in y, or routed."""
    X, y, qid = data
    model, cv = MODELS[name], GroupKFold(3)
    expected = []
    for train, test in cv.split(X, y, qid):
        step = model[-1] if name == "pipeline" else model
        fitted = clone(step).fit(X[train], y[train], qid=qid[train])
        expected.append(
            ndcg_score(y[test], fitted.predict(X[test]), qid=qid[test], k=10)
        )
    params = {"groups": qid, "qid": qid} if routing else {"groups": qid}
    with config_context(enable_metadata_routing=routing):
        found = cross_validate(
            model,
            X,
            y if routing else ranking_target(y, qid),
            cv=cv,
            scoring=make_ranking_scorer("ndcg@10"),
            error_score="raise",
            **({"params": params} if routing else params),
        )
    np.testing.assert_allclose(found["test_score"], expected)


def test_parameters_inside_can_be_searched(data):
    X, y, qid = data
    search = GridSearchCV(
        WrappedRanker(Ridge()),
        {
            "estimator": [Ridge(), KNeighborsRegressor()],
            "target_loss": ["ndcg@5", "map"],
        },
        cv=GroupKFold(3),
        scoring=make_ranking_scorer("ndcg@5"),
        error_score="raise",
    ).fit(X, ranking_target(y, qid), groups=qid)
    assert 0 < search.best_score_ <= 1
    ranker = WrappedRanker(Ridge()).set_params(estimator__alpha=7.0)
    assert ranker.fit(X, y).estimator_.alpha == 7.0
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_weights_reach_the_estimator(data):
    X, y, qid = data
    w = np.random.default_rng(0).uniform(0.5, 2, len(y))
    expected = Ridge().fit(X, y, sample_weight=w).predict(X)
    for inner in (Ridge(), make_pipeline(Ridge())):
        found = WrappedRanker(inner).fit(X, y, qid=qid, sample_weight=w)
        np.testing.assert_allclose(found.predict(X), expected)
    with refused_by("model without sample weights"):
        WrappedRanker(KNeighborsRegressor()).fit(X, y, sample_weight=w)


def test_what_it_takes_is_what_the_estimator_takes(data):
    X, y, qid = data
    trees = HistGradientBoostingRegressor(max_iter=2)
    holes = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.1, np.nan, X)
    assert np.isfinite(WrappedRanker(trees).fit(holes, y, qid=qid).predict(holes)).all()
    with pytest.raises(ValueError, match="NaN"):
        WrappedRanker(Ridge()).fit(holes, y)
    of_ridge, of_trees = (
        get_tags(WrappedRanker(e)).input_tags for e in (Ridge(), trees)
    )
    own = get_tags(
        Ridge()
    ).input_tags  # scikit-learn 1.6 does not say that it takes sparse X
    assert (of_ridge.sparse, of_ridge.allow_nan) == (own.sparse, False)
    assert (of_trees.sparse, of_trees.allow_nan) == (False, True)
    matrix = sparse.csr_matrix(X)
    dense = WrappedRanker(Ridge(solver="cholesky")).fit(X, y).predict(X)
    np.testing.assert_allclose(
        WrappedRanker(Ridge(alpha=1.0)).fit(matrix, y).predict(matrix), dense, atol=1e-2
    )
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = WrappedRanker(Ridge()).fit(frame, y)
    assert list(named.feature_names_in_) == list("abcde")
    assert not hasattr(WrappedRanker(Ridge()).fit(X, y), "feature_names_in_")
    assert not hasattr(WrappedRanker(Ridge()), "n_features_in_")


def test_a_matrix_of_labels_is_refused(data):
    X, _, _ = data
    ranker = WrappedRanker(Ridge()).fit(X, np.arange(len(X)))
    before = dict(vars(ranker))
    with refused_by("matrix of grades"):
        ranker.fit(X, np.ones((len(X), 3)))
    assert vars(ranker) == before
    with refused_by("missing labels"):
        WrappedRanker(Ridge()).fit(X, np.full(len(X), np.nan))


class CopiesLists(Ridge):
    """A regressor that copies a list of parameters, as CatBoost does."""

    def __init__(self, alpha=1.0, columns=None):
        super().__init__(alpha=alpha)
        self.columns = list(columns) if isinstance(columns, list) else columns


def test_lists_of_parameters_become_tuples_in_clones(data):
    X, y, qid = data
    with pytest.raises(RuntimeError, match="Cannot clone"):
        clone(CopiesLists(columns=[0, 1]))
    ranker = WrappedRanker(CopiesLists(alpha=3.0, columns=[0, 1]))
    assert clone(ranker).estimator.columns == (0, 1)
    fitted = ranker.fit(X, y, qid=qid).estimator_
    assert (fitted.alpha, fitted.columns) == (3.0, (0, 1))
    assert ranker.estimator.columns == [0, 1]  # the one given stays as it is


class NoParameters:
    """A model without get_params."""

    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


def test_a_model_without_get_params_is_copied_in_clones():
    ranker = WrappedRanker(NoParameters())
    copied = clone(ranker).estimator
    assert isinstance(copied, NoParameters)
    assert copied is not ranker.estimator


class Grouped(LinearRegression):
    """Keep the lists that fit gets."""

    def fit(self, X, y, group=None, sample_weight=None):
        self.group_ = group
        return super().fit(X, y, sample_weight)


def test_a_pipeline_gets_plain_grades_and_its_last_step_the_lists():
    """SelectKBest takes grades, and no structured array; the rows of a list stand together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    qid = np.arange(60) % 7
    y = np.round(X[:, 0] + rng.normal(size=60))
    y -= y.min()
    pipe = make_pipeline(SelectKBest(f_regression, k=2), Grouped())
    weights = 1.0 + qid
    model = WrappedRanker(make_pipeline("passthrough", pipe))
    model.fit(X, ranking_target(y, qid), sample_weight=weights)
    last = model.estimator_[-1][-1]
    assert last.group_.tolist() == np.bincount(qid).tolist()
    expected = pipe.fit(X, y, grouped__sample_weight=weights).predict(X)
    np.testing.assert_allclose(model.predict(X), expected)
    # A ranker of this package as the last step takes a weight for each row.
    ours = make_pipeline(SelectKBest(f_regression, k=2), OrderPreservingRegressor())
    wrapped = WrappedRanker(ours).fit(X, y, qid=qid, sample_weight=weights)
    given = {"qid": qid, "sample_weight": weights}
    ours.fit(X, y, **{f"orderpreservingregressor__{k}": v for k, v in given.items()})
    np.testing.assert_allclose(wrapped.predict(X), ours.predict(X))


@pytest.mark.parametrize("kind", ["texts", "dicts"])
def test_a_series_of_documents_is_read_as_a_list(kind):
    if kind == "texts":
        documents = [f"word{i % 7} other{i % 3}" for i in range(60)]
        vectoriser = TfidfVectorizer()
    else:
        documents = [{"a": i % 7, "b": str(i % 3)} for i in range(60)]
        vectoriser = DictVectorizer()
    y = np.arange(60) % 4
    qid = np.repeat(np.arange(12), 5)
    ranker = WrappedRanker(make_pipeline(vectoriser, Ridge()))
    expected = ranker.fit(documents, y, qid=qid).predict(documents)
    series = pd.Series(documents)
    assert_array_equal(ranker.fit(series, y, qid=qid).predict(series), expected)
    with refused_by("X is a Series"):
        ranker.predict(pd.Series([1.0, 2.0]))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_series_of_numbers_is_no_table(library):
    column = pytest.importorskip(library).Series(np.arange(60.0))
    y = np.arange(60) % 4
    for ranker in (WrappedRanker(Ridge()), OrderPreservingRegressor()):
        with refused_by("X is a Series"):
            ranker.fit(column, y, qid=np.repeat(np.arange(12), 5))


@pytest.mark.parametrize("X", [3.0, np.array(3.0), None])
def test_a_number_is_no_table(X):
    with refused_by("X without rows"):
        WrappedRanker(Ridge()).fit(X, [0, 1], qid=[0, 0])
