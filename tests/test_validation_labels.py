"""The one reader of labels: shapes, ids in y, missing judgements, weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PairwiseDAGRanker,
    PrecisionAtKPerceptron,
    WrappedRanker,
    ranking_target,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import StructuredHingeSequenceClassifier

from .refusals import refused_by

NAN = np.nan


def test_a_column_is_documents():
    grades = [1, 0, 2]
    scores = [2.0, 1.0, 0.0]
    value = ndcg_score(grades, scores)
    with pytest.warns(DataConversionWarning):
        assert ndcg_score([[1], [0], [2]], scores) == value
    assert ndcg_score(grades, [[2.0], [1.0], [0.0]]) == value
    assert ndcg_score([grades], [scores]) == value  # one list of three fixed items


def fit_ranker(y, ranker=None, **arguments):
    ranker = LowRankSurrogateRanker() if ranker is None else ranker
    n_rows = 2 if y is None else len(y)
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    return ranker.fit(X, y, **arguments)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (["a", "b"], "y must hold numbers, grades that are higher for better"),
        (np.zeros((2, 2, 2, 2)), "one, two or three dimensions"),
        ([1.0, np.inf], "infinity"),
    ],
)
def test_unfit_labels(y, message):
    with pytest.raises(ValueError, match=message):
        fit_ranker(y)


def test_lists_of_each_shape():
    assert fit_ranker([0, 1, 2], qid=["a", "b", "a"]).n_lists_ == 2
    assert fit_ranker([0, 1, 2]).n_lists_ == 1
    assert fit_ranker(np.eye(2, 5)).n_lists_ == 2
    preferences = np.stack([np.triu(np.ones((3, 3)), 1)] * 2)
    assert fit_ranker(preferences, PairwiseDAGRanker()).n_lists_ == 2
    with refused_by("ids beside a matrix"):
        ndcg_score(np.zeros((2, 5)), np.zeros((2, 5)), qid=[1, 2])


@pytest.mark.parametrize(
    ("y", "ranker", "message"),
    [
        ([1.0, NAN], LowRankSurrogateRanker(), r"row 1\).*drop the rows"),
        (
            [[1.0, NAN]],
            LowRankSurrogateRanker(),
            r"query 0, item 1\): NDCG.* needs every item judged",
        ),
        (
            [[[0.0, NAN], [0.0, 0.0]]],
            PairwiseDAGRanker(),
            r"y\[0, 0, 1\]\): a preference that nobody stated has the weight 0",
        ),
    ],
)
def test_missing_labels_are_named(y, ranker, message):
    with pytest.raises(ValueError, match=message):
        fit_ranker(np.array(y), ranker)


def test_missing_items_of_a_matrix():
    y = np.array([[1.0, NAN], [NAN, NAN], [0.0, 2.0]])
    ranker = LowRankSurrogateRanker(target_loss="dcg")
    assert fit_ranker(y, ranker).n_items_ == 2
    with refused_by("item never judged"):
        fit_ranker(y, ranker, sample_weight=np.array([1.0, 1.0, 0.0]))


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], r"must be \(3,\)"),
        ([1, -1, 1], r"sample_weight\[1\] is negative"),
        ([0, 0, 0], "All sample weights are zero"),
        ([1, NAN, 1], "NaN"),
        ([1e308, 1e308, 1], "has the sum inf"),
        ([1e-320, 0, 0], "has the sum"),
    ],
)
def test_unfit_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        fit_ranker([0, 1, 2], sample_weight=weights)


def test_weights_of_rows_and_of_lists():
    y = [2, 0, 1, 1]
    scores = [0.1, 0.2, 0.3, 0.1]
    qid = ["a", "b", "a", "b"]
    of_rows = ndcg_score(y, scores, qid=qid, sample_weight=[1, 5, 3, 0])
    # A list has the mean weight of its rows.
    of_lists = ndcg_score(y, scores, qid=qid, sample_weight=[2.0, 2.5])
    values = ndcg_score(y, scores, qid=qid, average=None)
    assert of_rows == of_lists == pytest.approx((2 * values[0] + 2.5 * values[1]) / 4.5)
    assert ndcg_score(y, scores, qid=qid) == pytest.approx(np.mean(values))
    with refused_by("another shape of scores"):
        ndcg_score([1, 0], [1.0])


def test_a_grade_beyond_floats_is_said():
    for read in (
        lambda y: ranking_target(y, [1, 1]),
        lambda y: ndcg_score(y, [1.0, 2.0]),
    ):
        with pytest.raises(ValueError, match="too large"):
            read([10**400, 1])


def test_ids_given_twice_may_be_of_types_that_do_not_compare():
    target = ranking_target([1.0, 0.0], [1, 2])
    for other in (["a", "b"], [(1, 2), (3, 4)], np.array([1.5, 2.0])):
        with refused_by("two different qid"):
            ndcg_score(target, [1.0, 2.0], qid=other)
    qid = np.array([1, 1, 2], dtype=object)
    target = ranking_target([1.0, 0.0, 2.0], [1, 1, 2])
    value = ndcg_score(target, [1.0, 2.0, 0.0])
    assert ndcg_score(target, [1.0, 2.0, 0.0], qid=qid) == value


def test_ids_given_twice_are_compared_by_value():
    scores = [1.0, 2.0, 3.0]
    for ids in ([1, 1, 2], [(1, 2), (1, 2), (3, 4)], ["a", "b", "a"]):
        target = ranking_target([1, 2, 0], ids)
        same = np.fromiter(ids, dtype=object, count=3)
        value = ndcg_score(target, scores, qid=same)
        assert value == ndcg_score([1, 2, 0], scores, qid=ids)
    target = ranking_target([1, 2, 0], [3, 3, 3])
    for other in ("3", (3,), (1, 2)):
        mixed = np.fromiter([3, 3, other], dtype=object, count=3)
        with refused_by("two different qid"):
            ndcg_score(target, scores, qid=mixed)


@pytest.mark.parametrize("qid", [[1, 1], [1, 1, 2, 2], ["a", "b"], [1, 2, 2]])
def test_ids_given_twice_are_the_same_ids(qid):
    target = ranking_target([1, 2, 0], [1, 1, 2])
    with refused_by("two different qid"):
        ndcg_score(target, [1.0, 2.0, 3.0], qid=qid)


@pytest.mark.parametrize("name", ["y_true", "y_score", "sample_weight"])
@pytest.mark.parametrize(
    "bad", [["a", "b"], [{}, {}], [[1], [1, 2]], [1, None], [1.0, 10**400]]
)
def test_what_measures_take_must_be_numbers(name, bad):
    given = {
        "y_true": [1, 0],
        "y_score": [0.5, 1.0],
        "sample_weight": [1.0, 1.0],
        name: bad,
    }
    with pytest.raises(ValueError, match=f"{name} .*NaN|{name} must hold|y is ragged"):
        ndcg_score(given.pop("y_true"), given.pop("y_score"), **given)


def test_many_lists_of_single_items_are_said():
    with pytest.warns(
        UserWarning, match=r"Each of the 3 lists .* Is qid the number of the row"
    ):
        ndcg_score([1, 2, 3], [1, 2, 3], qid=[3, 1, 2])
    ndcg_score([1], [1], qid=[1])  # a query of one document, by itself
    ndcg_score([1, 2, 3], [1, 2, 3], qid=[1, 2, 1])  # or among others
    with pytest.warns(UserWarning, match="no order to learn or to measure") as caught:
        ndcg_score([1, 2, 3], [1, 2, 3], qid=[0, 1, 2])
    assert len(caught) == 1


@pytest.mark.parametrize(
    "ranker",
    [
        LowRankSurrogateRanker(),
        OrderPreservingRegressor(),
        PrecisionAtKPerceptron(),
        WrappedRanker(Ridge()),
        StructuredHingeSequenceClassifier(),
    ],
)
def test_ids_in_the_index_of_X_alone_are_not_ignored(ranker):
    """Otherwise all rows would be one list; a matrix y is its own lists."""
    index = pd.Index([0, 0, 1, 1], name="qid")
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]}, index=index)
    y = np.array([0.0, 1.0, 1.0, 0.0])
    with refused_by("ids in the index of X alone"):
        ranker.fit(frame, y)
    ranker.fit(frame, y, qid=frame.index)
    ranker.fit(frame, pd.Series(y, index=frame.index))


def test_an_index_of_queries_is_no_list_of_documents():
    frame = pd.DataFrame({"a": [0.0, 1.0]}, index=pd.Index(["x", "y"], name="qid"))
    assert LowRankSurrogateRanker().fit(frame, [[0.0, 1.0], [1.0, 0.0]]).n_lists_ == 2
