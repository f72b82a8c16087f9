"""Frames reach the regressors inside untouched: columns, types, categories, missing values."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from lowrank_rank import (
    LowRankSurrogateClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    SuspiciousDataWarning,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import make_ranking

from .internals import round_significant
from .refusals import refused_by

KINDS = np.array(["high", "low", "middle"])


@pytest.fixture(scope="module")
def data():
    """Rows in no order of their lists, a category that tells, and missing values."""
    X, y, qid = make_ranking(30, (4, 9), n_features=3, random_state=0)
    order = np.random.default_rng(0).permutation(len(y))
    X, y, qid = X[order], y[order], qid[order]
    frame = pd.DataFrame(X.copy(), columns=list("abc"), index=order + 1000)
    frame["n"] = np.arange(len(y), dtype=np.int16)
    frame["kind"] = pd.Categorical(np.where(y > 1, "high", "low"), categories=KINDS)
    frame.loc[frame.index[3], "a"] = np.nan
    return frame, y, qid


def labels(data, layout):
    """y and the keyword arguments of a fit, of documents or of four fixed items."""
    _, y, qid = data
    if layout == "documents":
        return y, {"qid": qid}
    return (y[:, np.newaxis] + np.arange(4)) % 3, {}


def regressors(name):
    if name == "trees":
        return HistGradientBoostingRegressor(
            categorical_features="from_dtype", max_iter=5, min_samples_leaf=2
        )
    if name == "pipeline":
        columns = make_column_transformer(
            (OneHotEncoder(categories=[KINDS]), ["kind"]), ("passthrough", ["a", "b"])
        )
        return make_pipeline(columns, HistGradientBoostingRegressor(max_iter=5))
    if name == "lightgbm":
        return pytest.importorskip(name).LGBMRegressor(
            n_estimators=5, n_jobs=1, verbose=-1
        )
    return pytest.importorskip(name).XGBRegressor(
        n_estimators=5, n_jobs=1, enable_categorical=True
    )


NAMES = ["trees", "pipeline", "lightgbm", "xgboost"]


class Recorder(RegressorMixin, BaseEstimator):
    """Keeps what its fit and its predict were given."""

    def fit(self, X, y):
        self.fitted_ = X
        return self

    def predict(self, X):
        self.predicted_ = X
        return np.zeros(len(X))


@pytest.mark.parametrize("layout", ["documents", "items"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_the_regressor_gets_the_frame_itself(data, layout, library):
    frame, y, qid = data
    if library == "polars":
        polars = pytest.importorskip(library)
        frame = polars.DataFrame({name: frame[name].to_list() for name in frame})
    y, ids = labels(data, layout)
    ranker = LowRankSurrogateRanker(estimator=Recorder()).fit(frame, y, **ids)
    assert all(one.fitted_ is frame for one in ranker.estimators_)
    for result in (ranker.predict(frame), ranker.rank(frame, **ids)):
        assert result.shape == y.shape
        assert ranker.estimators_[0].predicted_ is frame
    ranker.estimators_[0].predicted_ = None
    ranker.score(frame, y, **ids)
    assert ranker.estimators_[0].predicted_ is frame
    assert ranker.n_features_in_ == 5
    if library == "pandas":
        assert ranker.feature_names_in_.tolist() == ["a", "b", "c", "n", "kind"]
    if layout == "documents":
        pointwise = WrappedRanker(Recorder()).fit(frame, y, **ids)
        assert pointwise.estimator_.fitted_ is frame
        pointwise.rank(frame, qid=qid)
        assert pointwise.estimator_.predicted_ is frame
        make_ranking_scorer("ndcg@5")(ranker, frame, ranking_target(y, qid))
        assert ranker.estimators_[0].predicted_ is frame


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_rows_that_are_not_judged_leave_the_frame_a_frame(data, library):
    frame, _, _ = data
    y, _ = labels(data, "items")
    y = y.copy()
    y[:7, 1] = np.nan
    source = frame
    if library == "polars":
        source = pytest.importorskip(library).DataFrame(
            {n: frame[n].to_list() for n in frame}
        )
    ranker = LowRankSurrogateRanker(target_loss="dcg", estimator=Recorder()).fit(
        source, y
    )
    given = [one.fitted_ for one in ranker.estimators_]
    assert given[0] is source
    if library == "pandas":
        pd.testing.assert_frame_equal(given[1], frame.iloc[7:])
    else:
        assert given[1].equals(source[7:])
    assert type(given[1]) is type(source)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("layout", ["documents", "items"])
def test_categories_and_missing_values_are_those_of_the_regressor(data, name, layout):
    """Predictions are those of the regressor on the frame and the encoded targets."""
    frame = data[0]
    y, ids = labels(data, layout)
    ranker = LowRankSurrogateRanker(
        target_loss="dcg", estimator=regressors(name), centered=False
    ).fit(frame, y, **ids)
    first = y if y.ndim == 1 else ranker.target_loss_.encode(y)[:, 0]
    own = regressors(name).fit(frame, round_significant(first))
    u = ranker.predict_surrogate(frame)[:, 0]
    np.testing.assert_array_equal(u, own.predict(frame))
    other = frame.assign(kind=pd.Categorical(["low"] * len(frame), categories=KINDS))
    assert not np.allclose(u, ranker.predict_surrogate(other)[:, 0])


@pytest.mark.parametrize("name", NAMES)
def test_the_order_of_the_rows_and_weights(data, name):
    """A weight of 2 reaches the regressor beside the frame; rows need no order."""
    frame, y, qid = data
    w = np.where(qid < 10, 2.0, 1.0)
    ranker = LowRankSurrogateRanker(
        target_loss="dcg", estimator=regressors(name), centered=False
    )
    weighted = clone(ranker).fit(frame, y, qid=qid, sample_weight=w).predict(frame)
    last = regressors(name)
    key = (
        "histgradientboostingregressor__sample_weight"
        if name == "pipeline"
        else "sample_weight"
    )
    own = last.fit(frame, round_significant(y), **{key: w})
    np.testing.assert_allclose(weighted, own.predict(frame), rtol=1e-6)
    assert not np.allclose(weighted, ranker.fit(frame, y, qid=qid).predict(frame))


#: What a message about columns in another order adds to scikit-learn's.
SELECT = "Select them by name. Write X = X[list(model.feature_names_in_)]"


def test_names_are_checked_with_scikit_learns_sentences(data):
    frame, y, qid = data
    numeric = frame[["b", "c"]]
    ranker = LowRankSurrogateRanker(estimator=Ridge()).fit(numeric, y, qid=qid)
    own = Ridge().fit(numeric, y)
    for bad in (frame[["c", "b"]], frame[["b"]], frame[["b", "c", "n"]]):
        with pytest.raises(ValueError, match="feature names") as ours:
            ranker.predict(bad)
        with pytest.raises(ValueError, match="feature names") as theirs:
            own.predict(bad)
        said = str(ours.value).removesuffix(SELECT)
        assert said == str(theirs.value)
    with refused_by("columns in another order") as error:
        ranker.predict(frame[["c", "b"]])
    assert str(error.value).endswith(SELECT)
    unnamed = LowRankSurrogateRanker(estimator=Recorder()).fit(
        numeric.set_axis([0, 1], axis=1), y
    )
    with pytest.raises(
        ValueError, match="X has 1 features, but LowRankSurrogateRanker is expect"
    ):
        unnamed.predict(numeric[["b"]].set_axis([0], axis=1))


def test_a_linear_regressor_of_a_frame_is_linear(data):
    """Its coefficients are known, equal rows tie, and what is no number is refused."""
    frame, y, qid = data
    numeric = frame[["b", "c"]]
    ranker = LowRankSurrogateRanker(estimator=Ridge()).fit(numeric, y, qid=qid)
    of_array = LowRankSurrogateRanker(estimator=Ridge()).fit(
        numeric.to_numpy(), y, qid=qid
    )
    np.testing.assert_array_equal(ranker.coef_, of_array.coef_)
    np.testing.assert_array_equal(
        ranker.predict(numeric), of_array.predict(numeric.to_numpy())
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ranker.predict(numeric.to_numpy())
    assert ["valid feature names" in str(one.message) for one in caught] == [True]
    for model in (LowRankSurrogateRanker(), LowRankSurrogateRanker(estimator=Ridge())):
        words = "Ridge does not accept missing values"
        if model.estimator == "auto":
            words = "LowRankSurrogateRanker takes no missing values"
        with pytest.raises(ValueError, match=words):
            clone(model).fit(frame[["a", "b"]], y, qid=qid)
        with pytest.raises(ValueError, match=words):
            model.fit(frame[["b", "c"]], y, qid=qid).predict(
                numeric.where(frame["b"] > 0)
            )
        with refused_by("text that an estimator refuses"):
            clone(model).fit(frame, y, qid=qid)


def test_a_frame_without_rows_or_of_another_length_is_refused(data):
    frame, y, qid = data
    ranker = LowRankSurrogateRanker(estimator=regressors("trees"))
    with pytest.raises(ValueError, match="0 sample"):
        ranker.fit(frame[:0], y[:0])
    with refused_by("another number of rows"):
        ranker.fit(frame[:-1], y, qid=qid)
    assert vars(ranker).keys() == ranker.get_params(deep=False).keys()


def test_a_decision_that_costs_the_same_needs_no_regressor(data):
    """A cost matrix without differences has no coordinate: its model is none of the estimator."""
    frame, y, _ = data
    model = LowRankSurrogateClassifier(estimator=Ridge(), loss_matrix=np.zeros((2, 2)))
    numeric = frame[["b", "c"]]
    assert model.fit(numeric, y > 1).predict(numeric).shape == y.shape
    changed = LowRankSurrogateRanker().fit(numeric, y).set_params(estimator=Ridge())
    assert changed.predict(numeric).shape == y.shape


def test_classes_of_a_frame(data):
    frame, y, _ = data
    model = LowRankSurrogateClassifier(estimator=regressors("trees"))
    assert model.fit(frame, y > 1).score(frame, y > 1) == 1.0  # the category tells


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_groups_of_a_frame_are_frames(data, library):
    """The ranker inside gets the same columns, rows of a list together."""
    frame, y, qid = data
    source = frame
    if library == "polars":
        source = pytest.importorskip(library).DataFrame(
            {n: frame[n].to_list() for n in frame}
        )

    class Groups(Recorder):
        def fit(self, X, y, group):
            return super().fit(X, y)

    model = WrappedRanker(Groups()).fit(source, y, qid=qid)
    ids = list(dict.fromkeys(qid))
    order = np.concatenate([np.flatnonzero(qid == one) for one in ids])
    given = model.estimator_.fitted_
    if library == "pandas":
        pd.testing.assert_frame_equal(given, frame.iloc[order])
    else:
        assert given.equals(source[order])
    model.rank(source, qid=qid)
    assert model.estimator_.predicted_ is source


@pytest.mark.parametrize(
    "model", [LowRankSurrogateRanker(), OrderPreservingRegressor()]
)
@pytest.mark.parametrize("kind", ["pandas", "category", "polars", "array", "lists"])
def test_text_is_named_by_its_place(model, kind):
    columns = {"a": [1.0, 2.0, 3.0], "colour": ["1.5", "red", "blue"]}
    frame = pd.DataFrame(columns)
    X = {
        "pandas": lambda: frame,
        "category": lambda: frame.astype({"colour": "category"}),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns),
        "array": lambda: frame.to_numpy(),
        "lists": lambda: frame.to_numpy().tolist(),
    }[kind]()
    column = "1" if kind in ("array", "lists") else "'colour'"
    message = f"the text 'red' in row 1 of column {column}, "
    with pytest.raises(ValueError, match=message):
        clone(model).fit(X, [0, 1, 2])
    fitted = clone(model).fit(frame.assign(colour=[1.0, 0.0, 2.0]), [0, 1, 2])
    if kind in ("pandas", "category"):
        with pytest.raises(ValueError, match=message):
            fitted.predict(X)


@pytest.mark.parametrize("kind", ["pandas", "array", "sparse"])
def test_the_first_nan_is_named_by_its_place(kind):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, np.nan, 1.0]})
    X = {
        "pandas": frame,
        "array": frame.to_numpy(),
        "sparse": csr_matrix(frame.to_numpy()),
    }[kind]
    column = "'b'" if kind == "pandas" else "1"
    with pytest.raises(
        ValueError, match=f"The first NaN of X is in row 1 of column {column}"
    ):
        LowRankSurrogateRanker().fit(X, [0, 1, 2])


def test_the_text_named_is_the_one_that_no_step_encodes():
    frame = pd.DataFrame({"kind": list("rgbrgb"), "city": ["Berlin"] * 6})
    encoder = make_column_transformer(
        (OneHotEncoder(), ["kind"]), remainder="passthrough"
    )
    ranker = LowRankSurrogateRanker(estimator=make_pipeline(encoder, Ridge()))
    with refused_by("text that an estimator refuses"):
        ranker.fit(frame, [0, 1, 2, 0, 1, 2], qid=[0, 0, 0, 1, 1, 1])


# One conversion -----------------------------------------------------------------------


@pytest.mark.parametrize("n_features", [3, 30])
def test_a_frame_of_numbers_becomes_an_array_once(monkeypatch, n_features):
    """No column is read by itself, in `predict` and in the rules of `score`."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, n_features))).rename(columns=str)
    y = rng.integers(0, 3, 60)
    qid = np.repeat(np.arange(12), 5)
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    expected = model.predict(X)
    calls = []
    to_numpy = pd.DataFrame.to_numpy

    def counted(frame, *args, **kwargs):
        calls.append(frame.shape)
        return to_numpy(frame, *args, **kwargs)

    def refused(*args):
        raise AssertionError("A column is read by itself.")

    monkeypatch.setattr(pd.DataFrame, "to_numpy", counted)
    monkeypatch.setattr(pd.DataFrame, "__getitem__", refused)
    assert_array_equal(model.predict(X), expected)
    assert calls == [(60, n_features)]
    model.score(X, y, qid=qid)  # of queries that the fit knows
    assert len(calls) == 2
    with pytest.warns(SuspiciousDataWarning, match="copies of training lists"):
        model.score(X, y, qid=qid + 100)
    assert len(calls) == 4


def test_other_frames_are_read_as_before():
    """Booleans, text that is numbers and nullable types are no plain numbers."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (60, 3))).rename(columns=str)
    y = rng.integers(0, 3, 60)
    qid = np.repeat(np.arange(12), 5)
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    expected = model.predict(X)
    for frame in (
        X.astype(bool),
        X.astype("Int64"),
        X.astype(object),
        X.astype({"0": np.float32, "1": bool}),
        X.astype({"0": np.float32, "1": np.int8}),
    ):
        assert_allclose(model.predict(frame), expected, rtol=1e-12)
        assert_allclose(model.score(frame, y, qid=qid), model.score(X, y, qid=qid))
