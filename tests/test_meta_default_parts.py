"""StackingRanker(estimators=None) on data frames as people have them."""

import numpy as np
import pytest
import sklearn

from lowrank_rank import OrderPreservingRegressor, StackingRanker
from lowrank_rank.metrics import ndcg_score

rng = np.random.default_rng(0)
QID = np.repeat(np.arange(30), 8)
X = rng.normal(size=(len(QID), 3))
Y = np.clip(np.round(X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=len(QID))), 0, 3)


def ordinary_frame(n_missing=5):
    """Numbers with NaN, text with None, bool, Int64 with NA, and a category of 400 values."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(X.copy(), columns=list("abc"))
    frame.loc[::n_missing, "a"] = np.nan
    frame["text"] = np.where(X[:, 1] > 0, "high", "low").astype(object)
    frame.loc[::7, "text"] = None
    frame["flag"] = rng.random(len(X)) > 0.5
    frame["count"] = pd.array(rng.integers(0, 5, len(X)), dtype="Int64")
    frame.loc[::9, "count"] = pd.NA
    frame["place"] = pd.Categorical(rng.integers(0, 400, len(X)).astype(str))
    return frame


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_ordinary_frames(library):
    frame = ordinary_frame()
    other = frame.assign(text="never seen", flag=True)
    if library == "polars":
        if sklearn.__version__.startswith("1.6."):
            pytest.skip("scikit-learn 1.6 does not know the frames of today's polars")
        polars = pytest.importorskip("polars")
        words = [word if isinstance(word, str) else None for word in frame["text"]]
        frame = polars.DataFrame({**dict(zip("abc", X.T, strict=True)), "text": words})
        frame = frame.with_columns(
            polars.col("a") > 0.5, polars.col("text").cast(polars.Categorical)
        )
        other = frame.with_columns(text=polars.lit("never seen"))
    stack = StackingRanker().fit(frame, Y, qid=QID)
    assert stack.score(frame, Y, qid=QID) > 0.8
    assert list(stack.feature_names_in_) == list(frame.columns)
    assert np.isfinite(
        stack.predict(other)
    ).all()  # a new category is unknown, no error
    with pytest.raises(ValueError, match="feature names should match"):
        stack.predict(frame[list(frame.columns)[::-1]])


def test_arrays_without_missing_values_need_no_imputer():
    stack = StackingRanker().fit(X, Y, qid=QID)
    assert type(stack.named_estimators_["linear"]) is OrderPreservingRegressor
    gaps = np.where(X > 1.5, np.nan, X)
    with pytest.raises(ValueError, match="the X of fit had none: fit"):
        stack.predict(gaps)
    assert np.isfinite(StackingRanker().fit(gaps, Y, qid=QID).predict(gaps)).all()


def test_fixed_items_take_frames_and_missing_values():
    rng = np.random.default_rng(0)
    frame = ordinary_frame()[:80].drop(columns="place")
    grades = rng.integers(0, 3, (len(frame), 4))
    stack = StackingRanker().fit(frame, grades)
    assert np.isfinite(stack.predict(frame.assign(text="never seen"))).all()
    gaps = np.where(X > 1.5, np.nan, X)
    assert np.isfinite(StackingRanker().fit(gaps[:80], grades).predict(X)).all()


def test_text_tells_both_parts():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"noise": X[:, 2], "word": np.where(Y > 1, "good", "bad")})
    stack = StackingRanker(weights={"linear": 1.0, "trees": 1.0}).fit(
        frame, Y > 1, qid=QID
    )
    for part in stack.estimators_:
        assert ndcg_score(Y > 1, part.predict(frame), qid=QID) > 0.99


def test_dates_are_refused_by_name():
    pd = pytest.importorskip("pandas")
    frame = ordinary_frame().assign(day=pd.Timestamp("2020-01-01"))
    with pytest.raises(ValueError, match="Column 'day' of X has the type datetime"):
        StackingRanker().fit(frame, Y, qid=QID)


def test_titles_are_categories_with_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc")[: X.shape[1]])
    frame["title"] = [f"red shoe number {i}" for i in range(len(X))]
    with pytest.warns(
        UserWarning, match="Column 'title' of X has .* and its words are not read"
    ):
        StackingRanker().fit(frame, Y, qid=QID)
