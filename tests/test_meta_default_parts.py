"""StackingRanker(estimators=None) on data frames as people have them."""

from datetime import date
from decimal import Decimal

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import Pipeline, make_pipeline

from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    StackingRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.metrics import ndcg_score

from .refusals import refused_by

#: Weights of the default parts of documents.
EQUAL = {"linear": 1.0, "trees": 1.0, "forest": 1.0}
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
    with refused_by("columns in another order"):
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
    stack = StackingRanker(weights=EQUAL).fit(frame, Y > 1, qid=QID)
    for part in stack.estimators_:
        assert ndcg_score(Y > 1, part.predict(frame), qid=QID) > 0.99


def test_dates_are_refused_by_name():
    pd = pytest.importorskip("pandas")
    frame = ordinary_frame().assign(day=pd.Timestamp("2020-01-01"))
    with refused_by("dates among the features"):
        StackingRanker().fit(frame, Y, qid=QID)


def test_titles_are_categories_with_a_warning():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc")[: X.shape[1]])
    frame["title"] = [f"red shoe number {i}" for i in range(len(X))]
    with pytest.warns(
        UserWarning, match="Column 'title' of X has .* and its words are not read"
    ):
        StackingRanker().fit(frame, Y, qid=QID)


# Columns of objects -----------------------------------------------------------------

#: Columns of objects and text: entries of a column that is 0, 1, 2, ..., and the kind.
NUMBERS = {
    "int": list,
    "float": lambda x: [float(value) for value in x],
    "Decimal": lambda x: [Decimal(int(value)) for value in x],
    "NumPy": lambda x: [np.float32(value) for value in x],
}
TEXTS = {
    "a mark": lambda x: ["n/a", *map(str, x[1:])],
    "a mark among numbers": lambda x: ["n/a", *x[1:]],
    "decimal commas": lambda x: [f"{value},5" for value in x],
    "thousands": lambda x: [f"{value},000,000.5" for value in x],
    "text": lambda x: [f" {value}e0" for value in x],
    "a boolean among numbers": lambda x: [True, *x[1:]],
    "half marks": lambda x: ["-", "?", "1", "2"] * (len(x) // 4),
}
WORDS = {
    "words": lambda x: [f"shop {value}" for value in x],
    "sizes": lambda x: ["S", "M", "L", 38] * (len(x) // 4),
    "dates": lambda x: ["1.2.2024", "2024-01-03"] * (len(x) // 2),
    "booleans": lambda x: [True, False, None, True] * (len(x) // 4),
    "missing": lambda x: [None] * len(x),
}
#: Models that take a frame of numbers.
MODELS = [
    StackingRanker(weights=EQUAL),
    OrderPreservingRegressor(),
    HistGradientBoostingRanker(max_iter=5),
    LowRankSurrogateRanker(),
    LowRankSurrogateRanker(estimator="trees", random_state=0),
]
CODES = np.arange(len(QID)) % 12


def frame_of(entries):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["age"] = pd.Series(list(entries), dtype=object)
    return frame


@pytest.mark.filterwarnings("ignore:.*words are not read")
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("kind", NUMBERS)
def test_objects_that_are_numbers_are_numbers(model, kind):
    """A frame, its array of objects, and one row of either: the model of the floats."""
    frame = frame_of(NUMBERS[kind](CODES))
    if "linear" in repr(model):
        frame.loc[3, "age"] = None
    floats = frame.astype(float)
    expected = model.fit(floats, Y, qid=QID).predict(floats)
    model.fit(frame, Y, qid=QID)
    np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict(frame[:1]), expected[:1], rtol=1e-12)
    array = frame.to_numpy()
    assert array.dtype == object
    model.fit(array, Y, qid=QID)
    np.testing.assert_allclose(model.predict(array[:2]), expected[:2], rtol=1e-12)


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("kind", TEXTS)
def test_numbers_that_are_text_are_refused_with_two_lines(model, kind):
    frame = frame_of(TEXTS[kind](CODES))
    if kind == "a boolean among numbers" and "Stacking" not in repr(model):
        pytest.skip("True is 1 for a model of numbers")
    with refused_by("numbers as text") as said:
        model.fit(frame, Y, qid=QID)
    first = next((one for one in frame["age"] if "n" in str(one)), frame["age"][0])
    assert repr(first) in str(said.value).splitlines()[0]
    assert len(str(said.value)) < 400
    ages = [ages_after(remedy, frame) for remedy in said.value.remedies]
    if kind != "a boolean among numbers":
        numbers = ages.pop(0)
        assert numbers.dtype.kind in "if"
        assert numbers.notna().mean() >= 0.5
    # A linear model takes no categories.
    assert len(ages) == any(word in repr(model) for word in ("Stack", "Hist", "trees"))
    assert all(codes.dtype == "category" for codes in ages)


def ages_after(remedy, frame):
    """Run a remedy, and return the column that it mends."""
    namespace = {
        "X": frame.copy(),
        "numpy": np,
        "pandas": pytest.importorskip("pandas"),
    }
    exec(remedy, namespace)
    return namespace["X"]["age"]


@pytest.mark.filterwarnings("ignore:.*words are not read")
@pytest.mark.parametrize("kind", WORDS)
def test_other_text_is_a_category(kind):
    frame = frame_of(WORDS[kind](CODES))
    stack = StackingRanker(weights=EQUAL)
    scores = stack.fit(frame, Y, qid=QID).predict(frame)
    np.testing.assert_array_equal(stack.predict(frame[:1]), scores[:1])
    if kind == "booleans":
        ones = frame.assign(age=[1, 0, None, 1] * (len(CODES) // 4))
        np.testing.assert_array_equal(stack.predict(ones), scores)
        return
    assert np.isfinite(stack.predict(frame.assign(age="1"))).all()
    if kind == "missing":
        return
    with refused_by("text among the features"):
        OrderPreservingRegressor().fit(frame, Y, qid=QID)


def test_what_a_column_is_is_decided_in_fit():
    pd = pytest.importorskip("pandas")
    stack = StackingRanker(weights=EQUAL)
    stack.fit(frame_of(CODES), Y, qid=QID)
    with refused_by("numbers as text"):
        stack.predict(frame_of(CODES.astype(str))[7:8])
    codes = frame_of(CODES).assign(age=pd.Categorical(CODES))
    scores = stack.fit(codes, Y, qid=QID).predict(codes)
    for later in (CODES.astype(float), CODES.astype(str), list(CODES)):
        np.testing.assert_array_equal(stack.predict(frame_of(later)), scores)
    with refused_by("objects that are dates"):
        stack.fit(frame_of([date(2024, 1, 1)] * len(Y)), Y, qid=QID)


def test_arrays_of_objects_name_the_first_cell_that_is_no_number():
    array = frame_of(CODES).to_numpy()
    array[5, 3] = "n/a"
    for model in MODELS:
        with refused_by("text among the features"):
            model.fit(array, Y, qid=QID)


def test_columns_of_polars():
    polars = pytest.importorskip("polars")
    if sklearn.__version__.startswith("1.6."):
        pytest.skip("scikit-learn 1.6 does not know the frames of today's polars")
    frame = polars.DataFrame(dict(zip("abc", X.T, strict=True)))
    stack = StackingRanker(weights=EQUAL)
    text = frame.with_columns(age=polars.Series(CODES).cast(polars.String))
    with refused_by("numbers as text") as said:
        stack.fit(text, Y, qid=QID)
    assert len(said.value.remedies) == 2
    for remedy in said.value.remedies:
        namespace = {"polars": polars, "X": text}
        exec(remedy, namespace)
        remedied = namespace["X"]
        assert np.isfinite(stack.fit(remedied, Y, qid=QID).predict(remedied)).all()
    objects = polars.Series([Decimal(int(code)) for code in CODES], dtype=polars.Object)
    floats = frame.with_columns(age=CODES.astype(float))
    expected = stack.fit(floats, Y, qid=QID).predict(floats)
    frame = frame.with_columns(age=objects)
    np.testing.assert_allclose(stack.fit(frame, Y, qid=QID).predict(frame), expected)


# Transformers that take grades ------------------------------------------------------


def test_pipelines_of_a_stack_give_their_steps_plain_grades():
    pipe = make_pipeline(SelectKBest(f_regression, k=2), OrderPreservingRegressor())
    nested = make_pipeline("passthrough", pipe)
    stack = StackingRanker([("one", pipe), ("two", nested)], cv=3)
    weights = np.where(QID < 10, 2.0, 1.0)
    stack.fit(X, ranking_target(Y, QID), sample_weight=weights)
    given = {"qid": QID, "sample_weight": weights}
    pipe.fit(X, Y, **{f"orderpreservingregressor__{k}": v for k, v in given.items()})
    for part in stack.estimators_:
        np.testing.assert_allclose(part.predict(X), pipe.predict(X))
    assert np.isfinite(stack.score(X, Y, qid=QID))


# Nothing to learn -------------------------------------------------------------------


#: Lists of 7 rows, whose means round.
SEVENS = np.arange(len(QID)) // 7


@pytest.mark.parametrize(
    "grades", [np.ones(len(QID)), SEVENS % 3 + 1.0], ids=["1", "qid"]
)
@pytest.mark.parametrize(
    "model",
    [
        *MODELS,
        StackingRanker(),
        OrderPreservingRegressor(surrogate="pairwise_squared"),
        OrderPreservingRegressor(surrogate="pairwise_exponential"),
        HistGradientBoostingRanker(loss="cross_entropy", max_iter=5),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("error")
def test_equal_grades_of_each_query_give_equal_scores(model, grades):
    with pytest.warns(UserWarning, match="All grades of each query are equal"):
        model.fit(X, grades, qid=SEVENS)
    assert np.ptp(model.predict(X)) == 0.0
    if isinstance(model, StackingRanker):
        return
    mixed = grades + (np.arange(len(QID)) == 0)  # one query has an order
    model.fit(X, mixed, qid=SEVENS)
    assert np.ptp(model.predict(X)) > 0.0


def test_importances_of_a_stack_are_said_not_to_exist():
    stack = StackingRanker(weights=EQUAL).fit(X, Y, qid=QID)
    assert not hasattr(stack, "feature_importances_")
    with pytest.raises(AttributeError, match="StackingRanker has no feature"):
        stack.feature_importances_  # noqa: B018


# Parameters by name -----------------------------------------------------------------------

GRID = [
    {"trees__max_leaf_nodes": [4], "linear__alpha": [0.01]},
    {"trees__max_leaf_nodes": [31], "linear__alpha": [10.0]},
]


def models_of(stack):
    """The fitted models by part, without the steps that read columns."""
    models = {}
    for name, part in stack.named_estimators_.items():
        models[name] = part[-1] if isinstance(part, Pipeline) else part
    return models


@pytest.mark.parametrize("kind", ["array", "frame"])
def test_a_search_over_the_default_parts_of_documents(kind):
    features = X if kind == "array" else ordinary_frame()
    how = {"cv": GroupKFold(2), "scoring": make_ranking_scorer("ndcg@10")}
    search = GridSearchCV(
        StackingRanker(weights=EQUAL), GRID, **how, error_score="raise"
    )
    search.fit(features, ranking_target(Y, QID), groups=QID)
    assert np.ptp(search.cv_results_["mean_test_score"]) > 0
    best = search.best_params_
    assert search.best_estimator_.estimators == best
    models = models_of(search.best_estimator_)
    assert models["trees"].max_leaf_nodes_ == best["trees__max_leaf_nodes"]
    assert models["linear"].alpha_ == best["linear__alpha"]
    copy = clone(search.best_estimator_).fit(features, Y, qid=QID)
    assert_array_equal(copy.predict(features), search.predict(features))


@pytest.mark.parametrize(("kind", "gaps"), [("array", False), ("frame", True)])
def test_a_search_over_the_default_parts_of_fixed_items(kind, gaps):
    features = (X if kind == "array" else ordinary_frame())[:60]
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (60, 4)).astype(float)
    if gaps:
        grades[rng.random(grades.shape) < 0.1] = np.nan
    weights = {"linear": 1.0, "trees": 1.0, "means": 1.0}
    stack = StackingRanker(target_loss="dcg@10", weights=weights)
    search = GridSearchCV(stack, GRID, cv=2, error_score="raise")
    search.fit(features, grades)
    best = search.best_params_
    models = models_of(search.best_estimator_)
    forest = models["trees"].estimator_
    forest = getattr(forest, "estimator_", forest) if gaps else forest
    assert forest.max_leaf_nodes == best["trees__max_leaf_nodes"]
    if gaps:
        assert forest.min_samples_leaf == 3
    assert models["linear"].alpha_ == best["linear__alpha"]


def test_messages_of_parameters_of_default_parts():
    with refused_by("part that fit makes"):
        StackingRanker().set_params(trees=OrderPreservingRegressor())
    with pytest.raises(ValueError, match="Invalid parameter 'means'"):
        StackingRanker().set_params(means__prior=4)
    with refused_by("settings of no default part"):
        StackingRanker().set_params(forest__max_leaf_nodes=4).fit(X[:20], np.eye(20))
    wrong = StackingRanker().set_params(trees__learning=4)
    with pytest.raises(ValueError, match=r"The part 'trees' .* parameter 'learning'"):
        wrong.fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match=r"such as \{'trees__max_leaf_nodes': 4\}"):
        StackingRanker({"trees": OrderPreservingRegressor()}).fit(X, Y, qid=QID)
    stack = StackingRanker({"linear__alpha": 1.0}).set_params(trees__max_iter=3)
    assert stack.estimators == {"linear__alpha": 1.0, "trees__max_iter": 3}
    assert stack.get_params()["trees__max_iter"] == 3
    assert clone(stack).get_params() == stack.get_params()


# Columns of predict -----------------------------------------------------------------------

OTHER_COLUMNS = {
    "a new column": ({"new": 1.0}, "unseen at fit time:\n- new"),
    "a missing column": ({"b": None}, "yet now missing:\n- b"),
    "numbers for text": (
        {"text": 1.5},
        "Column 'text' .* text .*in fit.* holds (numbers|1.5)",
    ),
    "text for numbers": (
        {"b": "word"},
        "(?s)'word'.*column 'b'|Column 'b' .* holds text",
    ),
    "dates": (
        {"b": np.datetime64("2020-01-01")},
        "Column 'b' of X has the type datetime",
    ),
}


@pytest.mark.parametrize("name", OTHER_COLUMNS)
@pytest.mark.parametrize("model", ["stack", "trees"])
def test_other_columns_in_predict_are_named(name, model):
    pd = pytest.importorskip("pandas")
    changes, message = OTHER_COLUMNS[name]
    frame = ordinary_frame().drop(columns=["flag", "place"])
    ranker = StackingRanker()
    if model == "trees":
        frame = frame.astype({"text": "category"})
        ranker = HistGradientBoostingRanker()
    ranker.fit(frame, Y, qid=QID)
    other = (
        frame.drop(columns="b") if changes == {"b": None} else frame.assign(**changes)
    )
    with pytest.raises(ValueError, match=message):
        ranker.predict(other)
    with refused_by("X is a list of dicts", TypeError):
        ranker.predict(frame.to_dict("records"))
    if model == "stack":  # missing values are of any type
        missing = pd.Series(np.nan, index=frame.index, dtype=float)
        assert np.isfinite(ranker.predict(frame.assign(text=missing))).all()
