"""The one reader of labels: shapes, ids in y, missing judgements, weights."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import Ridge

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    PrecisionAtKPerceptron,
    WrappedRanker,
    ranking_target,
)
from lowrank_rank.metrics import ndcg_score
from lowrank_rank.structured import StructuredHingeSequenceClassifier

from .internals import (
    RankingLists,
    check_items_judged,
    check_judged,
    lists_of,
    one_label_per_row,
    read_labels,
    read_scored,
    read_weights,
    split_target,
    warn_of_single_items,
)

NAN = np.nan


@pytest.mark.parametrize(
    "y", [[1, 0, 2], [[1, 0], [2, 1]], np.zeros((2, 3, 3)), [1.0, NAN, 0.0]]
)
def test_labels_become_floats_of_the_same_shape(y):
    read = read_labels(y)
    assert read.dtype == np.float64
    np.testing.assert_array_equal(read, np.asarray(y, dtype=float))


def test_a_column_is_documents():
    with pytest.warns(DataConversionWarning):
        assert read_labels([[1], [0]]).shape == (2,)
    assert one_label_per_row([[1], [0]])
    assert not one_label_per_row([[1, 0]])


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
        read_labels(y)


def test_lists_of_each_shape():
    assert lists_of(np.zeros(3), ["a", "b", "a"]).lengths.tolist() == [2, 1]
    assert lists_of(np.zeros(3), None).lengths.tolist() == [3]
    assert lists_of(np.zeros((2, 5)), None).lengths.tolist() == [5, 5]
    assert lists_of(np.zeros((2, 5, 5)), None).lengths.tolist() == [5, 5]
    with pytest.raises(ValueError, match=r"y_true of shape .* takes no qid"):
        lists_of(np.zeros((2, 5)), [1, 2], "y_true")


@pytest.mark.parametrize(
    ("y", "allow", "message"),
    [
        ([1.0, NAN], True, r"row 1\).*drop the rows"),
        ([[1.0, NAN]], False, r"query 0, item 1\): NDCG needs every item judged"),
        (
            [[[0.0, NAN], [0.0, 0.0]]],
            True,
            r"y\[0, 0, 1\]\): give the weight 0 to a preference",
        ),
    ],
)
def test_missing_labels_are_named(y, allow, message):
    with pytest.raises(ValueError, match=message):
        check_judged(np.array(y), allow, who="NDCG")


def test_missing_items_of_a_matrix():
    y = np.array([[1.0, NAN], [NAN, NAN], [0.0, 2.0]])
    check_judged(y, True)
    check_items_judged(y, np.ones(3))
    with pytest.raises(
        ValueError, match="Column 1 of y is NaN in every row that counts"
    ):
        check_items_judged(y, np.array([1.0, 1.0, 0.0]))


def test_weights():
    assert read_weights(None, 3).tolist() == [1, 1, 1]
    assert read_weights([1, 0, 2], 3).tolist() == [1, 0, 2]
    assert read_weights([1, 2], 3, n_lists=2).tolist() == [1, 2]
    for bad, message in [
        ([1, 2], r"must be \(3,\)"),
        ([1, -1, 1], r"sample_weight\[1\] is negative"),
        ([0, 0, 0], "All sample weights are zero"),
        ([1, NAN, 1], "NaN"),
    ]:
        with pytest.raises(ValueError, match=message):
            read_weights(bad, 3)


def test_scored_labels():
    y, scores, lists, weights = read_scored(
        [2, 0, 1],
        [0.1, 0.2, 0.3],
        ["a", "b", "a"],
        [1, 5, 3],
        check=lambda y: y,
    )
    assert (y.tolist(), scores.tolist()) == ([2, 0, 1], [0.1, 0.2, 0.3])
    assert weights.tolist() == [2.0, 5.0]  # the mean of the rows' weights
    assert lists.ids.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="y_score has shape"):
        read_scored([1, 0], [1.0], check=lambda y: y)


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
        with pytest.raises(ValueError, match="the two differ"):
            split_target(target, other)
    assert split_target(target, np.array([1, 2], dtype=object))[1].tolist() == [1, 2]


@pytest.mark.parametrize("qid", [[1, 1], [1, 1, 2, 2], ["a", "b"], [1, 2, 2]])
def test_ids_given_twice_are_the_same_ids(qid):
    target = ranking_target([1, 2, 0], [1, 1, 2])
    with pytest.raises(ValueError, match="qid is given twice"):
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
        warn_of_single_items(RankingLists.from_qid([3, 1, 2]))
    for qid in ([1], [1, 2, 1]):  # a query of one document, by itself or among others
        warn_of_single_items(RankingLists.from_qid(qid))
    warn_of_single_items(RankingLists.equal(3, 1))  # one fixed item
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
    with pytest.raises(ValueError, match=r"Pass qid=X\.index"):
        ranker.fit(frame, y)
    ranker.fit(frame, y, qid=frame.index)
    ranker.fit(frame, pd.Series(y, index=frame.index))


def test_an_index_of_queries_is_no_list_of_documents():
    frame = pd.DataFrame({"a": [0.0, 1.0]}, index=pd.Index(["x", "y"], name="qid"))
    assert LowRankSurrogateRanker().fit(frame, [[0.0, 1.0], [1.0, 0.0]]).n_lists_ == 2
