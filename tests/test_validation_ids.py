"""Query ids at every public function: of another number than the rows, and none."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.boosting import boosting_objective
from lowrank_rank.datasets import make_ranking
from lowrank_rank.evaluation import compare_rankers
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.model_selection import query_train_test_split

from .internals import InputError
from .test_same_index import PUBLIC, RETURNED, ROWS, bound, consumed, further

N_LISTS = 40


def make_data():
    """Five documents of each query: features tell the queries apart."""
    X, y, qid = make_ranking(N_LISTS, 5, n_features=3, random_state=0)
    return X, np.minimum(y, 1), qid


def parameters_of(name):
    """Parameters of a public callable."""
    call = RETURNED.get(name)
    if call is None:
        owner, method = PUBLIC[name]
        call = owner if method is None else getattr(owner, method)
    return inspect.signature(call).parameters


#: Public callables that take rows, and ids beside them.
WITH_QID = sorted(
    name for name in {**PUBLIC, **RETURNED} if "qid" in parameters_of(name)
)


def call_with(name, qid, tmp_path):
    """Call with ids; models were fitted to the right ones."""
    X, y, right_qid = make_data()
    model = LowRankSurrogateRanker().fit(X, y, qid=right_qid)
    call = RETURNED.get(name)
    if call is None:
        call = bound(name, X, y, right_qid)
    parameters = inspect.signature(call).parameters
    values = dict.fromkeys(ROWS & parameters.keys(), X[:, 0])
    labels = {"y", "y_true", "v", "people", "judge"} & parameters.keys()
    values |= dict.fromkeys(labels, y)
    if "X" in parameters:
        values["X"] = X
    values["qid"] = qid
    values.pop("sample_weight", None)
    given = further(name, model, tmp_path)
    if "rankers" in given:
        given["rankers"] = {"one": model, "other": -X[:, 0]}
        if name.endswith("from_estimators"):
            given["rankers"] = {"one": model, "other": model}
    values |= given
    positional = []
    for one, parameter in parameters.items():
        if one in values and parameter.kind is parameter.POSITIONAL_ONLY:
            positional.append(values.pop(one))
    return consumed(call(*positional, **values))


@pytest.mark.filterwarnings("ignore:The hinge of", "ignore:.*did not converge")
@pytest.mark.parametrize("name", WITH_QID)
def test_another_number_of_ids_is_said_first(name, tmp_path):
    """Neither an error of NumPy nor a warning about the queries comes before it."""
    _, _, qid = make_data()
    for wrong in (qid[:-3], np.append(qid, qid[:7])):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(ValueError) as error:
                call_with(name, wrong, tmp_path)
        message = str(error.value)
        assert str(len(qid)) in message, message
        assert str(len(wrong)) in message, message
        told = [str(one.message) for one in caught if "quer" in str(one.message)]
        assert not told


def test_the_table_has_fits_scores_measures_and_comparisons():
    names = {"compare_rankers", "scorer", "StackingRanker.fit", "ndcg_score"}
    assert names < set(WITH_QID)
    assert len(WITH_QID) > 30
    assert "score" in {name.rpartition(".")[2] for name in WITH_QID}


def test_the_ids_of_an_objective_are_compared_with_its_rows():
    _, y, qid = make_data()
    for wrong in (qid[:-3], np.append(qid, qid[:7])):
        objective = boosting_objective("cross_entropy", qid=wrong)
        with pytest.raises(ValueError, match=f"{len(wrong)}.*{len(qid)}"):
            objective(y, np.zeros(len(y)))


@pytest.mark.parametrize(
    "ranker", [LowRankSurrogateRanker(), OrderPreservingRegressor()]
)
def test_X_of_another_number_of_rows_is_said_by_scores_and_scorers(ranker):
    X, y, qid = make_data()
    pipeline = make_pipeline(StandardScaler(), ranker).fit(X, ranking_target(y, qid))
    target = ranking_target(y, qid)
    for wrong in (X[:-3], np.concatenate([X, X[:7]])):
        message = rf"\[{len(wrong)}, {len(y)}\]: y needs a label for each row of X"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match=message):
                pipeline[-1].score(wrong, target)
            with pytest.raises(ValueError, match=message):
                make_ranking_scorer("ndcg@10")(pipeline, wrong, target)
            with pytest.raises(ValueError, match=message):
                compare_rankers(target, {"one": pipeline}, X=wrong)


#: Containers without any entry.
EMPTY = {
    "list": [],
    "floats": np.zeros(0),
    "integers": np.zeros(0, dtype=int),
    "text": np.zeros(0, dtype=str),
    "dates": np.zeros(0, dtype="M8[D]"),
    "objects": np.zeros(0, dtype=object),
    "Series": pd.Series([], dtype=float),
    "Series of text": pd.Series([], dtype="string"),
    "Series of objects": pd.Series([], dtype=object),
    "categories": pd.Series([], dtype="category"),
    "Index": pd.Index([], dtype=int),
    "polars": pl.Series([], dtype=pl.Int64),
    "polars text": pl.Series([], dtype=pl.String),
    "Arrow": pa.array([], pa.int64()),
    "chunks of Arrow": pa.chunked_array([pa.array([], pa.string())]),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_no_ids_are_said_to_be_none_in_any_container(kind):
    with pytest.raises(InputError) as error:
        ranking_target(EMPTY[kind], EMPTY[kind])
    assert error.value.check == "no ids"


def test_no_rows_are_said_to_be_none():
    X, y, qid = make_data()
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    scorer = make_ranking_scorer("ndcg@10")
    for call in (
        lambda: model.score(X[:0], y[:0], qid=qid[:0]),
        lambda: scorer(model, X[:0], y[:0], qid=qid[:0]),
        lambda: compare_rankers(y[:0], {"one": model}, X=X[:0], qid=qid[:0]),
        lambda: ndcg_score(y[:0], y[:0], qid=qid[:0]),
        lambda: query_train_test_split(X[:0], y[:0], qid=qid[:0]),
        lambda: model.rank(X[:0], qid=qid[:0]),
    ):
        with pytest.raises(ValueError, match=r"is empty|Found array with 0 sample"):
            call()
