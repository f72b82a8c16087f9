"""Whole queries: split, counted in curves, permuted inside."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
)

from lowrank_rank import (
    LowRankSurrogateRanker,
    WrappedRanker,
    make_ranking_scorer,
    ranking_target,
)
from lowrank_rank.datasets import (
    load_digits_retrieval,
    make_label_ranking,
    make_ranking,
)
from lowrank_rank.model_selection import (
    QueryTimeSeriesSplit,
    query_learning_curve,
    query_permutation_importance,
    query_train_test_split,
)


@pytest.fixture(scope="module")
def data():
    X, y, qid = make_ranking(n_lists=40, n_items=(2, 9), n_features=4, random_state=0)
    rows = np.random.RandomState(0).permutation(len(y))
    return X[rows], y[rows], qid[rows]


# Splits -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes", [{}, {"test_size": 0.4}, {"train_size": 7, "test_size": 5}]
)
def test_parts_are_whole_queries_in_the_order_of_rows(data, sizes):
    X, y, qid = data
    X_a, X_b, y_a, y_b, qid_a, qid_b = query_train_test_split(
        X, y, qid=qid, random_state=1, **sizes
    )
    assert not set(qid_a) & set(qid_b)
    n = [len(set(part)) for part in (qid_a, qid_b)]
    assert n == {0: [30, 10], 1: [24, 16], 2: [7, 5]}[len(sizes)]
    for part_X, part_y, ids in ((X_a, y_a, qid_a), (X_b, y_b, qid_b)):
        rows = np.isin(qid, ids)
        assert_array_equal(part_X, X[rows])
        assert_array_equal(part_y, y[rows])


def test_whatever_the_rows_come_in(data):
    X, y, qid = data
    frame, series = pd.DataFrame(X), pd.Series(y, index=pd.Index(qid, name="qid"))
    parts = query_train_test_split(
        frame,
        series,
        sparse.csr_matrix(X),
        y.tolist(),
        ranking_target(y, qid),
        random_state=0,
    )
    assert len(parts) == 10
    train = parts[8]["qid"]
    assert_array_equal(parts[2].index, train)
    assert_array_equal(parts[0], parts[4].toarray())
    assert parts[6] == parts[8]["y"].tolist()
    again = query_train_test_split(X, qid=qid, random_state=0)
    assert_array_equal(again[0], parts[0])


def test_splits_without_sense(data):
    X, y, qid = data
    with pytest.raises(ValueError, match="No array carries"):
        query_train_test_split(X, y)
    with pytest.raises(ValueError, match="no array"):
        query_train_test_split(qid=qid)
    with pytest.raises(ValueError, match="inconsistent"):
        query_train_test_split(X[:3], qid=qid)
    with pytest.raises(ValueError, match=r"test_size=1\.5 should be"):
        query_train_test_split(X, qid=qid, test_size=1.5)


# Learning curves --------------------------------------------------------------------


def test_curve_is_the_fits_by_hand(data):
    X, y, qid = data
    ranker = LowRankSurrogateRanker(target_loss="ndcg@5")
    sizes, train, test = query_learning_curve(
        ranker,
        X,
        y,
        qid=qid,
        train_sizes=[0.2, 1.0],
        cv=4,
        scoring="ndcg@5",
        random_state=3,
    )
    assert sizes.tolist() == [6, 30]
    for fold, (a, b) in enumerate(GroupKFold(4).split(X, y, pd.factorize(qid)[0])):
        ranker.fit(X[a], y[a], qid=qid[a])
        assert test[1, fold] == pytest.approx(ranker.score(X[b], y[b], qid=qid[b]))
        assert train[1, fold] == pytest.approx(ranker.score(X[a], y[a], qid=qid[a]))
    assert test.shape == train.shape == (2, 4)


def test_training_sets_hold_so_many_whole_queries(data):
    X, y, qid = data
    seen = []

    class Watched(LowRankSurrogateRanker):
        def fit(self, X, y, **params):
            seen.append(y["qid"])
            return super().fit(X, y, **params)

    splits = GroupShuffleSplit(2, random_state=0)
    query_learning_curve(
        Watched(),
        X,
        ranking_target(y, qid),
        train_sizes=[2, 5],
        cv=splits,
        random_state=0,
    )
    assert [len(set(ids)) for ids in seen] == [2, 2, 5, 5]
    assert set(seen[0]) < set(seen[2])
    for ids in seen:
        assert len(ids) == np.isin(qid, ids).sum()


def test_rows_that_are_queries():
    data = make_label_ranking(30, 5, n_labels=3, random_state=0)
    sizes, _, test = query_learning_curve(
        LowRankSurrogateRanker(), data.data, data.target, train_sizes=[5, 20], cv=3
    )
    assert sizes.tolist() == [5, 20]
    assert np.isfinite(test).all()


@pytest.mark.parametrize(
    ("sizes", "message"),
    [([0.0], "fractions"), ([1.5], "fractions"), ([0], "between 1 and 20"), ([21], "between"),
     ([], "list of numbers"), (["a"], "list of numbers")],
)  # fmt: skip
def test_sizes_without_sense(data, sizes, message):
    X, y, qid = data
    with pytest.raises(ValueError, match=message):
        query_learning_curve(
            LowRankSurrogateRanker(), X, y, qid=qid, train_sizes=sizes, cv=2
        )
    with pytest.raises(ValueError, match="query of each row is needed"):
        query_learning_curve(LowRankSurrogateRanker(), X, y)


# Importances ------------------------------------------------------------------------


def test_what_is_constant_within_queries_orders_nothing(data):
    X, y, qid = data
    X = np.column_stack([X, 10.0 * (qid % 3)])
    y = y + 2.0 * (qid % 3)  # a level of the query
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    found = query_permutation_importance(
        model, X, y, qid=qid, scoring=["ndcg@5", "pd"], random_state=0
    )
    assert list(found) == ["ndcg@5", "pd"]
    assert (found["ndcg@5"].importances[-1] == 0).all()
    assert found["ndcg@5"].importances_mean[:-1].max() > 0.02
    # Over all rows it seems to matter, to a model that has a weight for it.
    model = WrappedRanker(LinearRegression()).fit(X, y, qid=qid)
    pooled = permutation_importance(
        model,
        X,
        ranking_target(y, qid),
        scoring=make_ranking_scorer("ndcg@5"),
        random_state=0,
    )
    inside = query_permutation_importance(
        model, X, y, qid=qid, scoring="ndcg@5", random_state=0
    )
    assert abs(pooled.importances_mean[-1]) > 1e-3
    assert_allclose(inside.importances[-1], 0.0, atol=1e-12)


def test_permuted_values_stay_in_their_query(data):
    X, y, qid = data
    X = X.copy()
    X[:, 1] = qid + np.random.RandomState(0).uniform(size=len(qid)) / 2

    def scorer(model, X, y):
        assert_array_equal(np.floor(np.asarray(X)[:, 1]), qid)
        changed.append((np.asarray(X) != original).sum(axis=0))
        return 0.0

    polars = pytest.importorskip("polars")
    names = list("abcd")
    for table in (X, pd.DataFrame(X, columns=names), polars.DataFrame(X, schema=names)):
        original, changed = X, []
        query_permutation_importance(
            None, table, y, qid=qid, scoring=scorer, n_repeats=2
        )
        changed = np.array(changed[:-1]).reshape(4, 2, 4)
        for column in range(4):
            assert (changed[column, :, column] > len(y) / 3).all()
            assert (np.delete(changed[column], column, axis=1) == 0).all()


def test_importances_without_sense(data):
    X, y, qid = data
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="X is sparse"):
        query_permutation_importance(model, sparse.csr_matrix(X), y, qid=qid)
    with pytest.raises(ValueError, match="one grade per row"):
        query_permutation_importance(model, X, np.eye(4))


def test_a_frame_is_split_by_its_column_of_ids():
    pytest.importorskip("pandas")
    frame = load_digits_retrieval(n_queries=12, n_candidates=5, as_frame=True).frame
    train, test = query_train_test_split(frame, qid="qid", test_size=3, random_state=0)
    again = query_train_test_split(frame, qid=frame["qid"], test_size=3, random_state=0)
    assert test.equals(again[1])
    assert test["qid"].nunique() == 3
    assert not set(train["qid"]) & set(test["qid"])
    for arrays, qid in (((frame,), "query"), ((frame.to_numpy(),), "qid")):
        with pytest.raises(ValueError, match="must be a column of the first array"):
            query_train_test_split(*arrays, qid=qid)


def rows_in_time(n_queries=13, seed=0):
    """Rows of queries in mixed order, with times that follow the number of the query."""
    rng = np.random.RandomState(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.randint(1, 6, n_queries)))
    return qid, 10.0 * qid + rng.uniform(size=len(qid))


@pytest.mark.parametrize("gap", [0, 2])
def test_later_queries_are_tested_whole(gap):
    qid, time = rows_in_time()
    names = np.array([f"q{(7 * i) % 13}" for i in range(13)])[
        qid
    ]  # no order in the names
    splits = list(
        QueryTimeSeriesSplit(n_splits=3, gap=gap).split(time, groups=names, time=time)
    )
    expected = TimeSeriesSplit(3, gap=gap).split(np.arange(13))
    for (train, test), (first, later) in zip(splits, expected, strict=True):
        assert set(qid[train]) == set(first)
        assert set(qid[test]) == set(later)
        assert len(train) == np.isin(qid, first).sum()
        assert np.all(np.diff(train) > 0)
        assert time[train].max() < time[test].min()
    dates = np.datetime64("2025-01-01") + time.astype("timedelta64[D]")
    for one, other in zip(
        splits,
        QueryTimeSeriesSplit(3, gap=gap).split(time, groups=names, time=dates),
        strict=True,
    ):
        assert_array_equal(one[1], other[1])


def test_without_times_queries_follow_their_first_rows():
    qid = np.array(["c", "a", "c", "b", "a", "d"])
    splits = list(QueryTimeSeriesSplit(n_splits=3).split(qid, groups=qid))
    assert [test.tolist() for _, test in splits] == [[1, 4], [3], [5]]
    target = ranking_target(np.arange(6) % 2, qid)
    carried = list(QueryTimeSeriesSplit(n_splits=3).split(qid, target))
    assert [train.tolist() for train, _ in carried] == [
        train.tolist() for train, _ in splits
    ]


def test_time_series_splits_in_tools_of_sklearn():
    X, y, qid = make_ranking(n_lists=20, random_state=0)
    cv, scorer = QueryTimeSeriesSplit(n_splits=3), make_ranking_scorer("ndcg@5")
    target = ranking_target(y, qid)
    ranker = LowRankSurrogateRanker()
    by_target = cross_val_score(ranker, X, target, cv=cv, scoring=scorer)
    by_groups = cross_val_score(ranker, X, target, groups=qid, cv=cv, scoring=scorer)
    assert_array_equal(by_target, by_groups)
    assert len(by_target) == cv.get_n_splits() == 3
    assert repr(cv) == "QueryTimeSeriesSplit(gap=0, n_splits=3)"
    with config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            ranker, X, target, cv=cv, scoring=scorer, params={"groups": qid}
        )
    assert_array_equal(routed, by_target)


def test_time_series_splits_say_what_is_missing():
    with pytest.raises(ValueError, match="Give groups=qid"):
        next(QueryTimeSeriesSplit().split(np.zeros(9)))
    with pytest.raises(ValueError, match="time has no value in row 1"):
        next(
            QueryTimeSeriesSplit(2).split(
                [1, 2, 3], groups=[1, 2, 3], time=[1.0, np.nan, 2.0]
            )
        )
    with pytest.raises(ValueError, match="Cannot have number of folds"):
        next(QueryTimeSeriesSplit(5).split([1, 2, 3], groups=[1, 2, 3]))
