"""Ids and row numbers that are left in a table of numbers: one rule for every reader of frames."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from lowrank_rank import (
    LowRankSurrogateMultilabelClassifier,
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    StackingRanker,
    evaluation,
    make_ranking_scorer,
    metrics,
)
from lowrank_rank.evaluation import (
    compare_judged,
    compare_rankers,
    compare_values,
    judged_mean_intervals,
)
from lowrank_rank.plotting import RankerComparisonDisplay
from lowrank_rank.structured import StructuredHingeRanker
from lowrank_rank.surrogates import structured_hinge, surrogate_loss
from lowrank_rank.votes import consensus_ranking, grades_from_orders

from .test_same_index import public_objects

IDS = ["id", "ID", "index", "level_0", "level_12", "Unnamed: 0", "qid"]
IDS += ["question", "task", "seed", "task_id", "Query_ID", "userId", "docID"]
SYSTEMS = ["hybrid", "GRID", "Madrid", "COVID", "bm25", "indexed", "identity", 0]
X = np.random.default_rng(0).normal(size=(12, 2))


def make_table(name):
    """Rankings of three columns, whose first one has this name."""
    rows = [[1, 3, 2], [2, 1, 3], [3, 2, 1], [1, 2, 3]] * 3
    return pd.DataFrame(rows, columns=[name, "a", "b"])


def make_table_with_ids(name):
    """The same, with the numbers of the rows in the first column."""
    return make_table(name).assign(**{name: range(1, 13)})


def relevant(table):
    """Whether grades are above 1; text and ids stay."""
    return table.map(
        lambda grade: grade if isinstance(grade, str) or grade > 3 else grade > 1
    )


def from_zero(table):
    """Items that are numbered from 0; text stays."""
    return table.map(lambda item: item if isinstance(item, str) else item - 1)


GRADES = make_table("a").to_numpy()
SCORES = {"one": GRADES, "two": -GRADES}


def fit(cls, **params):
    return lambda table: cls(**params).fit(X, table)


#: Labels of people for six of twelve queries.
PEOPLE = np.where(np.arange(12)[:, np.newaxis] < 6, GRADES, np.nan)
MEAN = evaluation.mean_intervals
RIDGE = LowRankSurrogateRanker(estimator="ridge")
#: Public callables that read a table of numbers, with the calls that give it to them.
READERS = {
    "LowRankSurrogateRanker": [
        fit(LowRankSurrogateRanker),
        lambda t: clone(RIDGE).partial_fit(X, t),
    ],
    "LowRankSurrogateMultilabelClassifier": [
        lambda t: LowRankSurrogateMultilabelClassifier(estimator="ridge").fit(
            X, relevant(t)
        )
    ],
    "OrderPreservingRegressor": [fit(OrderPreservingRegressor)],
    "PairwiseDAGRanker": [fit(PairwiseDAGRanker, estimator="ridge")],
    "StackingRanker": [fit(StackingRanker, estimators=[("ridge", RIDGE)])],
    "StructuredHingeRanker": [fit(StructuredHingeRanker, max_iter=5)],
    "compare_judged": [
        lambda t: compare_judged(PEOPLE, t, SCORES),
    ],
    "compare_rankers": [
        lambda t: compare_rankers(t, SCORES),
        lambda t: compare_rankers(GRADES, {"one": t, "two": GRADES}),
    ],
    "compare_values": [compare_values],
    "consensus_ranking": [
        lambda t: consensus_ranking(t, kind="grades"),
        lambda t: consensus_ranking(t, kind="ranks"),
    ],
    "grades_from_orders": [
        lambda t: grades_from_orders(from_zero(t)),
        lambda t: consensus_ranking(from_zero(t), kind="orders"),
    ],
    "judged_mean_intervals": [lambda t: judged_mean_intervals(t, t, t)],
    "mean_intervals": [MEAN],
    "ndcg_score": [
        lambda t: metrics.ndcg_score(relevant(t), GRADES),
        lambda t: metrics.ndcg_score(GRADES, t),
    ],
    "measure_score": [
        lambda t: metrics.measure_score("auc", relevant(t), GRADES),
        lambda t: metrics.measure_score("precision@1", relevant(t), GRADES),
        lambda t: metrics.measure_score("map", t, GRADES),
        lambda t: metrics.measure_score("pd", t, GRADES),
    ],
    "per_query": [lambda t: evaluation.per_query(t, GRADES)],
    "make_ranking_scorer": [
        lambda t: make_ranking_scorer("ndcg@2")(RIDGE.fit(X, GRADES), X, t)
    ],
    "RankerComparisonDisplay": [
        lambda t: RankerComparisonDisplay.from_predictions(t, SCORES)
    ],
    "structured_hinge": [lambda t: structured_hinge("ndcg@2", t, GRADES)],
    "surrogate_loss": [lambda t: surrogate_loss("cross_entropy", t, GRADES)],
}
#: Those that read one column of labels, or arrays whose columns are no items.
OTHERS = set(
    """
    HistGradientBoostingRanker LowRankSurrogateClassifier PrecisionAtKPerceptron
    WrappedRanker StructuredHingeBinaryClassifier StructuredHingeClassifier
    StructuredHingeSequenceClassifier ranking_target precision_margins dump_letor
    make_clicks PrecisionAtKDisplay PermutationImportanceDisplay QueryTimeSeriesSplit query_learning_curve
    query_permutation_importance precision_surrogate compare_judged_runs
    """.split()  # noqa: SIM905
)
TABLES = {"y", "y_true", "people", "table", "values", "orders"}


def readers():
    """Public functions and classes with an argument of labels or values, by inspection."""
    for name, owner in public_objects():
        if owner.__module__.startswith(("lowrank_rank.target_losses", "dask")):
            continue  # measures read what `measure_score` reads
        if inspect.isclass(owner) and issubclass(owner, Exception):
            continue  # builtin methods, without signatures on Python 3.11
        calls = [owner]
        if inspect.isclass(owner):
            calls = [
                getattr(owner, method) for method in dir(owner) if method[0] != "_"
            ]
        for call in filter(callable, calls):
            if TABLES & inspect.signature(call).parameters.keys():
                yield name
                break


def test_the_table_has_all_readers():
    assert set(readers()) - OTHERS == READERS.keys() - {
        "make_ranking_scorer",
        "surrogate_loss",
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS)
def test_a_column_of_ids_is_not_an_item_a_ranker_or_a_measure(reader):
    for call in READERS[reader]:
        for name in IDS:
            with pytest.raises(ValueError, match=f"The column '{name}' of ") as error:
                call(make_table_with_ids(name))
            assert f".drop(columns=['{name}'])" in str(error.value)


@pytest.mark.parametrize("reader", READERS)
def test_a_name_alone_is_warned_of(reader):
    """An item may be called "id"; a "superego" is not named like ids."""
    for call in READERS[reader]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for_ids = call(make_table("id"))
            said = [str(one.message) for one in caught]
            # The columns of orders are places, and not items.
            is_said = any("'id' of" in one for one in said)
            assert is_said == (reader != "grades_from_orders")
            caught.clear()
            others = call(make_table("superego"))
            assert not any(
                "named like a column of ids" in str(one.message) for one in caught
            )
        np.testing.assert_array_equal(values_of(for_ids), values_of(others))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS)
def test_the_same_numbers_by_another_name_are_taken(reader):
    for call in READERS[reader]:
        for name in SYSTEMS:
            call(make_table(name))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("reader", READERS)
def test_objects_that_are_numbers_are_numbers_in_every_table(reader):
    """A frame that passed through an array of objects is the frame of its numbers."""
    for call in READERS[reader]:
        results = []
        for dtype in (int, object, "Int64"):
            results.append(values_of(call(make_table("c").astype(dtype))))
        np.testing.assert_array_equal(results[1], results[0])
        np.testing.assert_array_equal(results[2], results[0])


def values_of(result):
    """The numbers of what a reader returns: scores of a fit, or the result itself."""
    if hasattr(result, "predict"):
        return result.predict(X)
    if isinstance(result, tuple):
        return result[0]
    if hasattr(result, "comparison"):
        result = result.comparison
    for name in ("means", "mean", "ranks"):
        values = getattr(result, name, None)
        if isinstance(values, np.ndarray):
            return values
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["a mark", "text"])
@pytest.mark.parametrize("reader", READERS)
def test_text_in_a_table_of_numbers_is_refused(reader, kind):
    for call in READERS[reader]:
        table = make_table("c").astype(object)
        if kind == "text":
            table["c"] = table["c"].astype(str)
        else:
            table.loc[3, "c"] = "n/a"
        text = next(entry for entry in table["c"] if isinstance(entry, str))
        named = rf"'c'.*text|\[\d+, 0\] is (the text )?'{text}'"
        with pytest.raises(ValueError, match=named):
            call(table)


def test_keys_of_a_dict_and_features_are_not_judged():
    table = make_table("task_id")
    assert compare_values(table.to_dict("list")).names[0] == "task_id"
    assert MEAN(table.to_dict("list")).names[0] == "task_id"
    X = table.astype(float)
    model = OrderPreservingRegressor().fit(X, [1, 0] * 6, qid=np.arange(12) // 4)
    assert model.feature_names_in_[0] == "task_id"


def test_numbers_of_the_row_by_another_name_are_taken():
    table = pd.DataFrame({"mine": range(12), "other": [3, 4] * 6})
    assert compare_values(table).names == ["mine", "other"]


@pytest.mark.parametrize("library", ["polars", "pyarrow", "records"])
def test_tables_of_other_libraries(library):
    table = make_table_with_ids("index")
    if library == "polars":
        table = pytest.importorskip("polars").DataFrame(table.to_dict("list"))
    elif library == "pyarrow":
        table = pytest.importorskip("pyarrow").table(table.to_dict("list"))
    else:
        table = table.to_records(index=False)
    for call in (compare_values, MEAN):
        with pytest.raises(ValueError, match=r"column 'index' of .* holds ids"):
            call(table)
