"""What a table is gets said, or is refused: ids, dates, empty columns, marks, words of others."""

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    permutation_test_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lowrank_rank
from lowrank_rank import (
    HistGradientBoostingRanker,
    LowRankSurrogateClassifier,
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    StackingRanker,
    WrappedRanker,
    make_ranking_scorer,
    merge,
    ranking_target,
    structured,
)
from lowrank_rank.datasets import load_letor
from lowrank_rank.evaluation import (
    compare_rankers,
    compare_runs,
    compare_values,
    evaluate_run,
    mean_intervals,
)
from lowrank_rank.metrics import measure_score, ndcg_score
from lowrank_rank.model_selection import query_train_test_split
from lowrank_rank.plotting import PrecisionAtKDisplay
from lowrank_rank.structured import (
    StructuredHingeClassifier,
    StructuredHingeRanker,
    StructuredHingeSequenceClassifier,
)
from lowrank_rank.surrogates import SURROGATES
from lowrank_rank.votes import bradley_terry, consensus_ranking

from .refusals import refused_by

#: Arguments without a default.
NEEDED = {"WrappedRanker": {"estimator": LinearRegression()}}


def rankers():
    """Public rankers of documents, by inspection: they take qid, and are no classifiers."""
    for name in (*lowrank_rank.__all__, *structured.__all__):
        one = getattr(lowrank_rank, name, None) or getattr(structured, name)
        if hasattr(one, "rank") and hasattr(one, "fit") and "Binary" not in name:
            yield one


CLASSIFIERS = [
    LowRankSurrogateClassifier,
    PrecisionAtKPerceptron,
    StructuredHingeClassifier,
]
CLASSIFIERS += [structured.StructuredHingeBinaryClassifier]
RANKERS = sorted(set(rankers()) - {PrecisionAtKPerceptron}, key=lambda c: c.__name__)


def made(cls, **given):
    return cls(**NEEDED.get(cls.__name__, {}), **given)


def make_documents(n=60):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 2)), columns=["bm25", "age"])
    y = (X["bm25"] + rng.normal(size=n) > 0).astype(int)
    return X, y, pd.Series(np.arange(n) // 6)


each_ranker = pytest.mark.parametrize("cls", RANKERS, ids=lambda cls: cls.__name__)


def test_the_table_has_all_rankers():
    assert {HistGradientBoostingRanker, StackingRanker, StructuredHingeRanker} < set(
        RANKERS
    )
    assert len(RANKERS) == 7


# Query ids --------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("cls", "name"),
    [(cls, "qid") for cls in RANKERS]
    + [
        (LowRankSurrogateRanker, name) for name in ("query_id", "query", "group", "QID")
    ],
)
def test_a_column_of_ids_in_y_is_no_item(cls, name):
    X, y, qid = make_documents()
    table = pd.DataFrame({"relevance": y, name: qid})
    words = rf"(?s)column '{name}'.*ranking_target\(y(_true)?\['relevance'\], y(_true)?\['{name}'\]\)"
    model = made(cls)
    with pytest.raises(ValueError, match=words):
        model.fit(X, table)
    model.fit(X, ranking_target(y, qid))
    with pytest.raises(ValueError, match=words):
        model.score(X, table)
    with pytest.raises(ValueError, match=words):
        make_ranking_scorer("ndcg@5")(model, X, table)
    with pytest.raises(ValueError, match=words):
        ndcg_score(table, table)
    assert (
        model.fit(X, table[["relevance"]], qid=qid).n_items_ is None
    )  # one column is no table


@pytest.mark.parametrize("cls", [*RANKERS, *CLASSIFIERS], ids=lambda cls: cls.__name__)
def test_labels_and_ids_are_no_features(cls):
    X, y, qid = make_documents()
    with refused_by("labels among the features"):
        made(cls).fit(X.assign(label=y), y.rename("label"))
    if cls in RANKERS:
        with refused_by("ids among the features"):
            made(cls).fit(X.assign(q=qid), y, qid=qid.rename("q"))
        with refused_by("ids among the features"):
            made(cls).fit(X.assign(query_id=qid), ranking_target(y, qid))
        made(cls).fit(X.assign(q=qid % 7, query_id=qid % 7), y, qid=qid.rename("q"))


@pytest.mark.filterwarnings("ignore:StackingRanker has fewer lists")
@each_ranker
def test_a_forgotten_qid_is_refused_above_200_rows(cls):
    X, y, _ = make_documents(201)
    kept = {"max_iter": 1} if cls is HistGradientBoostingRanker else {}
    kept |= {"estimators": [("a", LinearRegression())]} if cls is StackingRanker else {}
    model = made(cls, **kept)
    with refused_by("many rows without ids"):
        model.fit(X, y)
    assert vars(model).keys() == model.get_params(deep=False).keys()
    pooled = model.fit(X, y, one_list=True).score(X, y, one_list=True)
    assert pooled == model.score(X, y)
    zeros = np.zeros(201)
    assert pooled == pytest.approx(
        clone(model).fit(X, y, qid=zeros).score(X, y, qid=zeros)
    )
    for target in (ranking_target(y, zeros), ranking_target(y, np.arange(201) // 7)):
        values = [
            model.fit(X, target).score(X, target),
            make_ranking_scorer(model.target_loss_)(model, X, target),
        ]
        assert values[0] == pytest.approx(values[1])
    model.fit(X[:200], y[:200])  # as many as check_estimator gives
    with refused_by("many rows without ids"):
        model.score(X, y)
    with refused_by("one list with ids"):
        model.fit(X, y, qid=zeros, one_list=True)


@pytest.mark.filterwarnings("error:All")
def test_classifiers_of_the_top_rank_all_rows_in_silence():
    X, y, _ = make_documents(1001)
    PrecisionAtKPerceptron().fit(X, y)


def test_models_keep_digests_of_at_most_4000_ids():
    n = 4500
    X = np.random.default_rng(0).normal(size=(2 * n, 1))
    people = np.repeat([f"person{i}@example.org" for i in range(n)], 2)
    y = (X[:, 0] > 0).astype(float)
    for model in (
        LowRankSurrogateRanker(),
        OrderPreservingRegressor(),
        WrappedRanker(LinearRegression()),
        StructuredHingeRanker(solver="sgd", alpha=1.0),
        PrecisionAtKPerceptron(target_loss="precision@1"),
        StructuredHingeSequenceClassifier(solver="sgd", alpha=1.0),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            text = pickle.dumps(model.fit(X, y, qid=people))
        assert b"example.org" not in text
        assert len(text) < 120_000
    with pytest.warns(lowrank_rank.CutQueriesWarning, match="were also in fit"):
        OrderPreservingRegressor().fit(X, y, qid=people).score(
            X[:3], y[:3], qid=people[[0, 0, 0]]
        )


def test_integer_ids_are_not_kept_in_clear():
    X, y, _ = make_documents()
    ids = np.repeat(np.arange(10) + 987654321, 6)
    model = LowRankSurrogateRanker().fit(X, y, qid=ids)
    held = [value for value in vars(model).values() if isinstance(value, tuple)]
    assert held
    assert not any(
        np.any(np.asarray(part) == 987654321) for one in held for part in one
    )


@pytest.mark.parametrize("kind", [int, float, str, "tuple", "numpy in tuples"])
def test_a_cut_list_is_noticed_by_its_digest(kind):
    X, y, qid = make_documents()
    makers = {
        "tuple": lambda q: ("q", int(q)),
        "numpy in tuples": lambda q: ("q", np.int64(q)),
    }
    make = makers.get(kind, kind)
    ids = np.fromiter(map(make, qid), dtype=object, count=60)
    model = LowRankSurrogateRanker()
    one, two = (
        clone(model).fit(X[s], y[s], qid=ids[s]) for s in (slice(33), slice(33, 60))
    )
    with pytest.raises(
        ValueError, match=r"list whose rows come last .* is split"
    ) as error:
        merge([one, two])
    assert "5" not in str(error.value)  # the id
    with pytest.raises(ValueError, match="is split"):
        model.partial_fit(X[:33], y[:33], qid=ids[:33]).partial_fit(
            X[33:], y[33:], qid=ids[33:]
        )
    merge(
        [clone(model).fit(X[s], y[s], qid=ids[s]) for s in (slice(30), slice(30, 60))]
    )


@pytest.mark.parametrize("loss", ["lambdarank", "cross_entropy"])
def test_a_row_without_weight_gives_no_ids(loss):
    X, y, _ = make_documents()
    weights = np.ones(60)
    weights[3] = 0
    model = HistGradientBoostingRanker(loss=loss, max_iter=3)
    with pytest.warns(UserWarning, match="was fitted without query ids"):
        value = model.fit(X, y, sample_weight=weights).score(X, y)
    kept = model.fit(X[weights > 0], y[weights > 0])
    with pytest.warns(UserWarning, match="was fitted without query ids"):
        assert kept.score(X, y) == value


# Classifiers in searches ------------------------------------------------------------


def test_a_classifier_of_two_classes_ranks_the_fold():
    X, y, _ = make_documents(200)
    scorer, cv = make_ranking_scorer("precision@10", one_list=True), StratifiedKFold(2)
    grid = GridSearchCV(
        LogisticRegression(), {"C": [1.0]}, scoring=scorer, cv=cv, refit=False
    )
    want = []
    for train, test in cv.split(X, y):
        p = (
            LogisticRegression()
            .fit(X.iloc[train], y[train])
            .predict_proba(X.iloc[test])[:, 1]
        )
        want.append(y.to_numpy()[test][np.argsort(-p)[:10]].mean())
    assert grid.fit(X, y).cv_results_["mean_test_score"][0] == pytest.approx(
        np.mean(want)
    )


def test_other_models_keep_the_refusal():
    X, y, _ = make_documents(200)
    scorer, three = make_ranking_scorer("precision@10"), y + (X["age"] > 1)
    for model, labels in (
        (LogisticRegression(), three),
        (LinearRegression(), y),
        (HistGradientBoostingRanker(max_iter=1), y),
    ):
        with refused_by("one list or several"):
            scorer(model.fit(X, labels), X, labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [PrecisionAtKPerceptron(), LowRankSurrogateClassifier()],
    ids=lambda m: type(m).__name__,
)
def test_the_remedy_for_permutations_works(model):
    X, y, _ = make_documents()
    given = {"n_permutations": 2, "cv": 2, "random_state": 0}
    with refused_by("different indices"):
        permutation_test_score(model, X, y, **given)
    permutation_test_score(model, X, y.to_numpy(), **given)


# Columns without a value ------------------------------------------------------------


def make_empty():
    """Documents with a feature of a single query."""
    X, y, qid = make_documents()
    return X.assign(clicks=np.where(qid == 3, X["age"], np.nan)), y, qid


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRanker(max_iter=3),
        HistGradientBoostingRanker(max_iter=3, early_stopping=True, random_state=0),
        LowRankSurrogateRanker(estimator="trees", random_state=0),
        WrappedRanker(HistGradientBoostingRegressor(max_iter=3)),
        WrappedRanker(HistGradientBoostingClassifier(max_iter=3)),
        StackingRanker(),
    ],
    ids=repr,
)
def test_a_feature_of_one_query_is_constant_in_the_other_folds(model):
    X, y, qid = make_empty()
    scorer = make_ranking_scorer("ndcg@10")
    how = {
        "cv": GroupKFold(5),
        "groups": qid,
        "scoring": scorer,
        "error_score": "raise",
    }
    assert np.isfinite(cross_val_score(model, X, ranking_target(y, qid), **how)).all()
    assert np.isfinite(model.fit(X.to_numpy(), y, qid=qid).predict(X.to_numpy())).all()


@pytest.mark.parametrize("form", ["numpy", "pandas", "numbers", "polars", "category"])
def test_the_model_is_the_one_without_the_column(form):
    X, y, qid = make_empty()
    rows = qid != 3
    make = {
        "numpy": np.asarray,
        "numbers": lambda X: X.set_axis(range(3), axis=1),
        "polars": lambda X: pytest.importorskip("polars").DataFrame(X.to_dict("list")),
        "category": lambda X: X.assign(clicks=X["clicks"].astype("category")),
    }.get(form, lambda X: X)
    model = HistGradientBoostingRanker(max_iter=5).fit(
        make(X[rows]), y[rows], qid=qid[rows]
    )
    want = clone(model).fit(X.loc[rows, ["bm25", "age"]], y[rows], qid=qid[rows])
    np.testing.assert_array_equal(
        model.predict(make(X)), want.predict(X[["bm25", "age"]])
    )
    if form != "category":
        with pytest.raises(ValueError, match="X has no value"):
            clone(model).fit(make(X * np.nan), y, qid=qid)


FORESTS = {
    "items": LowRankSurrogateRanker(estimator="trees", random_state=0),
    "classes": LowRankSurrogateClassifier(estimator="trees", random_state=0),
    "sets": LowRankSurrogateMultilabelClassifier(estimator="trees", random_state=0),
}


@pytest.mark.parametrize("kind", FORESTS)
def test_forests_take_empty_columns_and_refuse_what_they_cannot_see(kind):
    X, y, _ = make_empty()
    y = y if kind == "classes" else pd.DataFrame({"i": y, "j": 1 - y, "k": y})
    model = clone(FORESTS[kind]).fit(X.assign(clicks=np.nan), y)
    model.predict(X.fillna(7.0))
    for factor, words in (
        (1e-8, "'bm25' of X has a range of"),
        (1e100, "'bm25'.*beyond float32"),
    ):
        with pytest.raises(ValueError, match=f"{words}.*StandardScaler"):
            clone(model).fit(X * factor, y)
    far = X.assign(age=1e9 + X["age"])  # one number in float32
    with pytest.raises(ValueError, match="'age' of X has a range of"):
        clone(model).fit(far, y)
    clone(model).fit(X.assign(age=3.0), y)  # constants say nothing, and do no harm


def test_boosted_trees_of_documents_do_not_depend_on_the_unit():
    X, y, qid = make_documents()
    model = LowRankSurrogateRanker(estimator="trees", random_state=0)
    small = clone(model).fit(X * 2.0**-30, y, qid=qid).predict(X * 2.0**-30)
    np.testing.assert_allclose(small, model.fit(X, y, qid=qid).predict(X))


# Columns of objects -----------------------------------------------------------------


def every_estimator():
    """Public estimators of one label for each row, and of sets of labels."""
    yield from (*RANKERS, *CLASSIFIERS)
    yield LowRankSurrogateMultilabelClassifier
    yield StructuredHingeSequenceClassifier


def fitted_to(cls, X):
    """A fit of an estimator to a table of documents."""
    _, y, qid = make_documents()
    params = {}
    if cls is HistGradientBoostingRanker:
        params["max_iter"] = 3
    if cls is StackingRanker:
        params["weights"] = {"linear": 1.0, "trees": 1.0, "forest": 1.0}
    if cls is LowRankSurrogateMultilabelClassifier:
        y = np.column_stack([y, 1 - y])
    given = {}
    if cls in RANKERS:
        given["qid"] = qid
    if "random_state" in inspect.signature(cls).parameters:
        params["random_state"] = 0
    return made(cls, **params).fit(X, y, **given)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", every_estimator(), ids=lambda cls: cls.__name__)
def test_columns_of_objects_that_are_numbers_are_numbers(cls):
    X, *_ = make_documents()
    expected = fitted_to(cls, X).predict(X)
    for objects in (X.astype(object), X.to_numpy().astype(object)):
        found = fitted_to(cls, objects).predict(objects)
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["a mark", "text", "decimal commas", "bytes"])
@pytest.mark.parametrize(
    "cls",
    [cls for cls in every_estimator() if cls is not WrappedRanker],  # its model reads X
    ids=lambda cls: cls.__name__,
)
def test_columns_of_numbers_as_text_are_refused_with_two_lines(cls, kind):
    X, *_ = make_documents()
    column = X["age"].astype(object)
    if kind == "a mark":
        column[5] = "n/a"
    elif kind == "bytes":
        column[5] = b"n/a"
    elif kind == "text":
        column = column.map(str)
    else:
        column = column.map("{:.2f}".format).str.replace(".", ",")
    words = next(str(entry) for entry in column if isinstance(entry, str | bytes))
    words = f"['\"]{words}['\"]"
    with refused_by("numbers as text"):
        fitted_to(cls, X.assign(age=column))
    array = X.assign(age=column).to_numpy()
    with pytest.raises(ValueError, match=rf"the text {words} in row \d+ of column 1"):
        fitted_to(cls, array)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", [[1.0, 2.0], {"a": 1}, np.arange(2)], ids=repr)
@pytest.mark.parametrize(
    "cls",
    [cls for cls in every_estimator() if cls is not WrappedRanker],
    ids=lambda cls: cls.__name__,
)
def test_entries_that_are_no_numbers_are_named(cls, entry):
    X, *_ = make_documents()
    X["age"] = X["age"].astype(object)
    X.at[7, "age"] = entry
    words = r"not a number is .* in row 7 of column 'age'"
    if cls is StackingRanker:
        words = "Column 'age' of X has lists, dicts or arrays: make a column"
    with pytest.raises((TypeError, ValueError), match=words):
        fitted_to(cls, X)


# Marks and dates --------------------------------------------------------------------

LINEAR = [
    OrderPreservingRegressor(),
    LowRankSurrogateRanker(),
    PairwiseDAGRanker(),
    StackingRanker(),
    StructuredHingeRanker(),
    PrecisionAtKPerceptron(),
    StructuredHingeClassifier(),
    LowRankSurrogateClassifier(),
    LowRankSurrogateRanker(estimator="trees"),
]


def fit_any(model, X, y, qid):
    takes = "qid" in inspect.signature(model.fit).parameters
    return model.fit(X, y, **({"qid": qid} if takes else {}))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", LINEAR[:-1], ids=repr)
def test_a_mark_of_a_missing_value_is_named(model):
    X, y, qid = make_documents()
    X.loc[5, "age"] = 1.79769313486e308
    with pytest.raises(
        ValueError, match=r"column 'age' of X holds 1.79769e\+308.*missing value"
    ):
        fit_any(model, X, y, qid)
    with pytest.raises(ValueError, match="column 1 of X holds"):
        fit_any(model, X.to_numpy(), y.to_numpy(), qid.to_numpy())
    HistGradientBoostingRanker(max_iter=2).fit(X, y, qid=qid)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("when", ["date", "zone", "duration", "period"])
@pytest.mark.parametrize(
    "model",
    [*LINEAR, HistGradientBoostingRanker(), WrappedRanker(LinearRegression())],
    ids=repr,
)
def test_columns_of_dates_are_named(model, when):
    X, y, qid = make_documents()
    X["when"] = {
        "date": pd.date_range("2020", periods=60),
        "zone": pd.date_range("2020", periods=60, tz="UTC"),
        "duration": pd.to_timedelta(np.arange(60), "D"),
        "period": pd.period_range("2020", periods=60, freq="D"),
    }[when]
    with pytest.raises(
        ValueError, match=r"Column 'when' of X has the type .*(in days|seconds)"
    ):
        fit_any(model, X, y, qid)
    if when in ("date", "duration"):
        with refused_by("dates among the features"):
            fit_any(model, X[["when"]].to_numpy(), y.to_numpy(), qid.to_numpy())


# Words of other packages ------------------------------------------------------------


@each_ranker
def test_hints_for_arguments_of_other_packages(cls):
    X, y, _ = make_documents()
    for name, hint in (("group", "qid="), ("eval_set", "early_stopping=True")):
        with pytest.raises(
            TypeError, match=f"{cls.__name__} does not take {name}=: .*{hint}"
        ):
            made(cls).fit(X, y, **{name: None})
    with pytest.raises(
        TypeError,
        match=f"{cls.__name__} does not take n_estimators=: .*(max_iter=|estimator)",
    ):
        made(cls, n_estimators=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'other'"):
        made(cls, other=3)


#: Arguments of other packages, and a part of what to write instead.
HINTS = {
    "init_model": "all rows, also the earlier ones",
    "xgb_model": "all rows, also the earlier ones",
    "position": "sample_weight= takes one over the propensity",
}


@each_ranker
def test_hints_for_warm_starts_positions_and_positional_ids(cls):
    X, y, qid = make_documents()
    for name, hint in HINTS.items():
        with pytest.raises(TypeError, match=f"does not take {name}=: .*{hint}"):
            made(cls).fit(X, y, qid=qid, **{name: None})
    with pytest.raises(
        TypeError,
        match=f"{cls.__name__}.fit takes X and y by position, .* by name: qid=",
    ):
        made(cls).fit(X, y, qid)


def test_ids_that_a_pipeline_loses():
    X, y, qid = make_documents()
    pipe = make_pipeline(StandardScaler(), OrderPreservingRegressor())
    pipe.fit(X, y, orderpreservingregressor__qid=qid)
    with refused_by("ids lost in score"):
        pipe.score(X, y, qid=qid)
    assert 0 <= pipe.score(X, ranking_target(y, qid)) <= 1


def test_a_ranking_scorer_tunes_no_threshold():
    X, y, _ = make_documents()
    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=make_ranking_scorer("recall@10")
    )
    words = "(?s)threshold does not change an order.*FixedThresholdClassifier.*budget"
    with pytest.raises(AttributeError, match=words):
        tuned.fit(X, y)
    scorer = make_ranking_scorer("recall@10")
    assert not hasattr(scorer, "_score_func")
    assert not hasattr(scorer, "other")
    assert isinstance(pickle.loads(pickle.dumps(clone(scorer))), type(scorer))


@pytest.mark.parametrize(
    "name", ["bpref", "rbp", "rbp@10", "infAP", "iprec@0.1", "alpha_nDCG@5", "set_f"]
)
def test_measures_of_ir_measures_are_not_misspelled(name):
    for call in (measure_score, lambda name, y, s: make_ranking_scorer(name)):
        with refused_by("name of a measure elsewhere") as error:
            call(name, [1, 0], [2.0, 1.0])
        assert "Did you mean" not in str(error.value)


@pytest.mark.parametrize("name", ["accuracy", "f1", "foo", "xyz@10", "m", "lift@10"])
def test_what_is_no_misspelling_has_no_suggestion(name):
    with refused_by("unknown name of a measure") as error:
        measure_score(name, [1, 0], [2.0, 1.0])
    assert "Did you mean" not in str(error.value)


# Tables of other forms --------------------------------------------------------------

OTHER_FORMS = {
    "two columns of one name": (
        lambda X: X.set_axis(["bm25", "bm25"], axis=1),
        "Two columns of X have the same name, 'bm25'",
    ),
    "no columns": (lambda X: X[[]], "X has 0 feature.*a frame without columns"),
    "a dict": (dict, r"X is a dict, .*pandas.DataFrame\(X\)"),
    "records": (
        lambda X: X.to_dict("records"),
        r"X is a list of dicts, .*pandas.DataFrame\(",
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", OTHER_FORMS)
@pytest.mark.parametrize(
    "cls",
    [cls for cls in every_estimator() if cls is not WrappedRanker],
    ids=lambda cls: cls.__name__,
)
def test_features_of_another_form_are_named(cls, form):
    X, *_ = make_documents()
    change, words = OTHER_FORMS[form]
    with pytest.raises((TypeError, ValueError), match=words):
        fitted_to(cls, change(X))
    model = fitted_to(cls, X)
    if form != "records" or cls is not StackingRanker:
        with pytest.raises((TypeError, ValueError), match=words):
            model.predict(change(X))


@each_ranker
def test_labels_of_another_form_are_named(cls):
    X, y, qid = make_documents()
    model = made(cls)
    by_query = y.to_numpy().reshape(10, 6)
    for labels, words in [
        (by_query, r"(?s)y, of the shape \(10, 6\), .* numpy.ravel"),
        ({"grade": y}, "y is a dict, but must hold numbers"),
        ("grade", r"y is the text 'grade': give the values .* frame\['grade'\]"),
        (np.full((60, 2), "a"), "grades by votes.grades_from_orders"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(X, labels, qid=qid)


X_Y_QID = make_documents()
VALUES = pd.DataFrame({"new": [0.1, 0.2], "old": [0.3, 0.1]})
LONG = pd.DataFrame(
    {"user": ["u", "u", "v"], "item": ["i", "j", "i"], "rating": [5, 1, 3]}
)
WORDS = pd.DataFrame({"new": ["yes", "no", "yes"], "old": ["no", "no", "yes"]})
DUELS = pd.DataFrame({"x": ["a", "b", "a"], "y": ["b", "a", "b"]})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mean_intervals(3), r"values has the shape \(\): give one value"),
        (
            lambda: compare_values(VALUES[:1]),
            "defined on 1 of 1 tasks: at least two are needed. Give more rows",
        ),
        (
            lambda: compare_values(VALUES[:0]),
            r"table has no rows: did dropna\(\) drop all",
        ),
        (
            lambda: compare_rankers(X_Y_QID[1], {"a": len}, qid=X_Y_QID[2]),
            "The ranker 'a' is a function: give the scores",
        ),
        (
            lambda: compare_rankers(X_Y_QID[1], {"a": {"q": 1}}, qid=X_Y_QID[2]),
            r"rankers\['a'\] is a dict, but must hold numbers",
        ),
        (
            lambda: query_train_test_split(X_Y_QID[0], qid=np.zeros(60)),
            "All rows are one query, but a split needs two",
        ),
        (
            lambda: bradley_terry(DUELS),
            r"got the columns \['x', 'y'\].\nIf the first one won:\n    duels = duels.rename\("
            r"columns=\{'x': 'winner', 'y': 'loser'\}\)",
        ),
        (lambda: bradley_terry(DUELS.assign(won=1)), r"\(item_a=, item_b=, result=\)"),
        (
            lambda: compare_runs({"q": {"d": 1}}, {"a": {"q": ["d"]}}),
            "on 1 of 1 queries: at least two are needed. Give more queries",
        ),
        (
            lambda: compare_values(VALUES, groups="new"),
            r"'new' is a column of the table, and not a ranker.*\n.*\n    groups = table\['new'\]\n",
        ),
        (
            lambda: mean_intervals(VALUES, sample_weight="old"),
            r"sample_weight = values\['old'\]\n    values = values.drop\(columns='old'\)",
        ),
        (
            lambda: compare_values(VALUES, groups="other"),
            r"groups is the text 'other': give the values, one for each query",
        ),
        (
            lambda: compare_values(WORDS),
            r"two words, 'no' and 'yes'(.*\n)*.*table = table == 'yes'",
        ),
        (
            lambda: mean_intervals(WORDS),
            r"(?s)values\['new'\] == 'no'.*values\['new'\] == 'yes'",
        ),
        (
            lambda: LowRankSurrogateMultilabelClassifier().fit(X_Y_QID[0], LONG),
            r"y.pivot\(index='user', columns='item', values='rating'\)",
        ),
        (
            lambda: LowRankSurrogateMultilabelClassifier().fit(X_Y_QID[0], WORDS),
            "If 'no' means that the label applies:",
        ),
        (
            lambda: compare_values(
                VALUES.assign(family=["x", "y"]),
                groups=pd.Series(["x", "y"], name="family"),
            ),
            r"table = table.drop\(columns='family'\)",
        ),
        (
            lambda: consensus_ranking([["a", "b", "a"], ["b", "a"]]),
            "names item 'a' 2 times: name it once",
        ),
    ],
    ids=[
        "number",
        "one row",
        "no row",
        "function",
        "dict",
        "one query",
        "duels",
        "scores of duels",
        "one query of a run",
        "a name of groups",
        "a name of weights",
        "a name of no column",
        "words of a table",
        "words of means",
        "long table of labels",
        "words of labels",
        "groups of a column",
        "a vote that names an item twice",
    ],
)
def test_other_forms_have_a_sentence(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", every_estimator(), ids=lambda cls: cls.__name__)
def test_one_row_is_a_frame(cls):
    X, *_ = make_documents()
    model = fitted_to(cls, X)
    for name in ("predict", "rank", "decision_function", "predict_proba"):
        given = {}
        if name == "rank" and cls in RANKERS:
            given["one_list"] = True
        if hasattr(model, name):
            with refused_by("X is a row of a frame"):
                getattr(model, name)(X.iloc[0], **given)


# Arguments that look alike ----------------------------------------------------------


@pytest.mark.parametrize(
    "ids", [["a", "a", "b"], np.array(["a", "a", "b"]), ["1", "1", "2"], [1, "1", 2]]
)
def test_text_is_no_grade(ids):
    with refused_by("text instead of grades"):
        ranking_target(ids, [2, 0, 1])
    with refused_by("text instead of grades"):
        ranking_target(pd.Series(ids, dtype=object), [2, 0, 1])


DAYS = pd.date_range("2024-01-01", periods=60)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (DAYS, "holds dates or durations"),
        (pd.Series(DAYS).dt.tz_localize("UTC"), "holds dates or durations"),
        (list(DAYS.date), "holds dates or durations"),
        (DAYS - DAYS[0], "holds durations"),
        (np.full(60, b"1"), "is the text"),
        ([b"1"] * 60, "is the text"),
    ],
    ids=["dates", "zone", "objects", "durations", "bytes", "a list of bytes"],
)
def test_dates_and_bytes_are_no_numbers(values, words):
    """Neither grades nor scores nor weights of any ranker and measure."""
    X, y, qid = make_documents()
    for cls in set(RANKERS) - {StackingRanker}:
        with pytest.raises(ValueError, match=rf"^y\b.*{words}"):
            made(cls).fit(X, values, qid=qid)
        with pytest.raises(ValueError, match=f"^sample_weight.*{words}"):
            made(cls).fit(X, y, qid=qid, sample_weight=values)
    for name in ("ndcg@10", "mrr", "auc"):
        with pytest.raises(ValueError, match=words):
            measure_score(name, values, X["age"], qid=qid)
        with pytest.raises(ValueError, match=words):
            measure_score(name, y, values, qid=qid)


@pytest.mark.parametrize("ids", [set(range(60)), dict.fromkeys(range(60), 1)])
def test_ids_without_an_order_are_refused(ids):
    X, y, _ = make_documents()
    for call in (
        lambda: OrderPreservingRegressor().fit(X, y, qid=ids),
        lambda: ndcg_score(y, X["age"], qid=ids),
        lambda: ranking_target(y, ids),
    ):
        with refused_by("ids without an order", TypeError):
            call()


def test_swapped_numbers_are_asked_about():
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 4)
    y = rng.integers(0, 4, 80)
    with pytest.warns(UserWarning, match=r"y has 20 values.*is it ranking_target"):
        target = ranking_target(qid, y)
    assert target["y"].tolist() == qid.tolist()  # the warning changes nothing
    X = rng.normal(size=(80, 2))
    for ranker in (OrderPreservingRegressor(), WrappedRanker(LinearRegression())):
        with pytest.warns(UserWarning, match=r"y has 20 values.*is it fit\(X, y, qid"):
            ranker.fit(X, qid, qid=y)


def test_sorted_stars_of_few_users_are_no_ids():
    rng = np.random.default_rng(0)
    relevance = np.sort(np.round(100 * rng.beta(0.5, 2, 500)))
    places = np.repeat(np.arange(12), 5)  # of 12 horses in 5 races
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranking_target(np.sort(rng.integers(1, 6, 600)), rng.integers(0, 4, 600))
        ranking_target(relevance, rng.integers(0, 30, 500))
        ranking_target(relevance[::-1], rng.integers(0, 30, 500))
        ranking_target(places[::-1], np.tile(np.arange(5), 12))
        ranking_target(np.repeat(np.arange(12), 10), np.tile(np.arange(10), 12))


def test_false_alarms_of_swapped_numbers_are_rare():
    """Grades, clicks and continuous labels; queries in order, mixed, and few."""
    n_alarms = 0
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(5, 60))
        qid = rng.integers(0, rng.integers(2, 12), n)
        if seed % 2:
            qid = np.sort(qid)
        y = [
            rng.integers(0, 5, n),
            rng.random(n) < 0.1,
            np.round(rng.normal(size=n), 1),
        ]
        y = y[seed % 3]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ranking_target(y, qid)
        n_alarms += len(caught)
    assert n_alarms <= 5


def test_a_penalty_beyond_the_floating_range_is_refused():
    X, y, qid = make_documents()
    model = HistGradientBoostingRanker(l2_regularization=10**400)
    with pytest.raises(ValueError, match="l2_regularization must be a finite number"):
        model.fit(X, y, qid=qid)


def test_messages_print_at_most_300_characters_of_a_value():
    many = {f"query {i}": {f"document {j}": 1 for j in range(40)} for i in range(40)}
    text = "x" * 1000
    X, y, qid = make_documents()
    for call in (
        lambda: OrderPreservingRegressor(alpha=many).fit(X, y, qid=qid),
        lambda: OrderPreservingRegressor(target_loss=text).fit(X, y, qid=qid),
        lambda: lowrank_rank.evaluation.compare_runs({"a": many}, many),
        lambda: lowrank_rank.evaluation.compare_rankers(
            y, {"a": y}, qid=qid, baseline=text
        ),
        lambda: evaluate_run(qrels=many, run={"q": text}),
        lambda: evaluate_run(qrels=many, run={text: {text: text}}),
        lambda: evaluate_run(qrels=many, run={text: {"d": 1.0}}),
        lambda: lowrank_rank.votes.consensus_ranking([many], kind="orders"),
        lambda: lowrank_rank.votes.consensus_ranking(np.eye(3), kind=many),
        lambda: LowRankSurrogateClassifier(loss_matrix=text).fit(X, y),
        lambda: LowRankSurrogateClassifier(classes=list(range(900))).fit(X, y - 1),
        lambda: OrderPreservingRegressor().fit(X, y, qid=text),
        lambda: ranking_target([text, 1], [1, 2]),
        lambda: make_ranking_scorer(many),
        lambda: make_ranking_scorer(text),
        lambda: lowrank_rank.votes.bradley_terry([("a", text, "b")]),
        lambda: lowrank_rank.votes.bradley_terry([(text, text)]),
        lambda: lowrank_rank.votes.bradley_terry([("a", "b")], weight=text),
        lambda: lowrank_rank.votes.bradley_terry({text: ["a"], "b": ["c"]}, result="c"),
    ):
        with pytest.raises((TypeError, ValueError)) as error:
            call()
        assert len(str(error.value)) < 1000


def test_flags_and_averages_are_checked():
    X, y, qid = make_documents()
    model = OrderPreservingRegressor().fit(X, y, qid=qid)
    for call in (
        lambda: model.rank(X, one_list="no"),
        lambda: make_ranking_scorer("ndcg", one_list="no"),
        lambda: PrecisionAtKDisplay.from_predictions(
            y, X["age"], kind="gains", normalize="no"
        ),
    ):
        with pytest.raises(TypeError, match="must be True or False, got 'no'"):
            call()
    with pytest.raises(TypeError, match="average must be 'mean' or None, got array"):
        ndcg_score(y, X["age"], qid=qid, average=np.ones(3))


def test_the_remedy_for_eta_is_a_parameter():
    X, y, qid = make_documents()
    low = SURROGATES["pointwise_logistic"](eta=0.5)
    with refused_by("eta below a utility"):
        OrderPreservingRegressor(surrogate=low, target_loss="dcg").fit(X, y, qid=qid)
    named = OrderPreservingRegressor(surrogate="pointwise_logistic", target_loss="dcg")
    named.fit(X, y, qid=qid)


def test_lines_that_end_in_carriage_returns_are_refused(tmp_path):
    path = tmp_path / "mac.txt"
    path.write_bytes(b"1 qid:1 1:0.5\r0 qid:1 1:0.25\r")
    with refused_by("carriage return"):
        load_letor(path)
    path.write_bytes(b"1 qid:1 1:0.5\r\n0 qid:1 1:0.25\r\n")
    assert load_letor(path)[0].shape == (2, 1)


# WrappedRanker ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mrr", "err@10", make_ranking_scorer("mrr").measure])
def test_wrapped_rankers_score_by_any_measure(name):
    X, y, qid = make_documents()
    model = WrappedRanker(LinearRegression(), target_loss=name).fit(X, y, qid=qid)
    want = measure_score(name, y, model.predict(X), qid=qid.to_numpy())
    assert model.score(X, y, qid=qid) == pytest.approx(want)
    assert isinstance(clone(model).set_params(target_loss="mrr"), WrappedRanker)


class CopiesItsLists(BaseEstimator):
    """Parameters as CatBoost keeps them, with weights of groups."""

    def __init__(self, cat_features=None, other=1):
        self._held = {"cat_features": cat_features, "other": other}

    def get_params(self, deep=True):
        copied = self._held["cat_features"]
        return {
            **self._held,
            "cat_features": list(copied) if type(copied) is list else copied,
        }

    def set_params(self, **params):
        self._held.update(params)
        return self

    def fit(self, X, y, group_id=None, sample_weight=None, group_weight=None):
        self.seen_ = {"rows": sample_weight, "groups": group_weight, **self._held}
        return self

    def predict(self, X):
        return np.asarray(X["age"])


def test_lists_of_parameters_become_tuples():
    X, y, qid = make_documents()
    model = WrappedRanker(CopiesItsLists(["a"], other=2))
    seen = model.fit(X, y, qid=qid).estimator_.seen_
    assert (seen["cat_features"], seen["other"]) == (("a",), 2)
    copied = clone(model)
    assert copied.estimator.get_params()["cat_features"] == ("a",)
    assert not hasattr(copied, "estimator_")
    assert hasattr(model, "estimator_")
    assert model.estimator.get_params()["cat_features"] == ["a"]


def test_weights_of_lists_are_weights_of_groups():
    X, y, qid = make_documents()
    rows = np.random.default_rng(1).permutation(60)
    of_lists = 1.0 + qid.to_numpy()
    model = WrappedRanker(CopiesItsLists())
    given = X.iloc[rows], y.iloc[rows]
    seen = model.fit(
        *given, qid=qid.iloc[rows], sample_weight=of_lists[rows]
    ).estimator_.seen_
    assert seen["rows"] is None
    assert sorted(seen["groups"]) == sorted(of_lists)
    seen = model.fit(X, y, qid=qid, sample_weight=np.arange(1.0, 61)).estimator_.seen_
    assert seen["groups"] is None
    np.testing.assert_array_equal(seen["rows"], np.arange(1.0, 61))


# Behaviour that no other test holds -------------------------------------------------


def test_early_stopping_with_the_defaults_of_few_rows():
    """50 rounds, fewer than n_iter_no_change: all are tried, and the best number is kept."""
    X, y, qid = make_documents(300)
    model = HistGradientBoostingRanker(early_stopping=True, random_state=0).fit(
        X, y, qid=qid
    )
    assert len(model.validation_scores_) == 50
    assert model.n_iter_ == 1 + int(np.argmax(model.validation_scores_)) <= 50
    assert model.estimator_.n_iter_ == 2 * model.n_iter_


def test_the_cost_of_a_class_that_fit_never_saw():
    """The third class costs 5 to miss; score counts it, and no decision is drawn to it."""
    costs = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 5.0], [5.0, 5.0, 0.0]])
    X, y, _ = make_documents()
    model = LowRankSurrogateClassifier(loss_matrix=costs, classes=[0, 1, 2]).fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    assert model.score(X, np.full(60, 2)) == pytest.approx(1.0 - 5.0)
    with refused_by("label of no class"):
        model.score(X, np.full(60, 7))
