"""Whole queries: split, counted in curves, permuted inside."""

import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import clone, config_context
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    TimeSeriesSplit,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lowrank_rank import (
    LowRankSurrogateRanker,
    OrderPreservingRegressor,
    StackingRanker,
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

from .refusals import refused_by


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
    X, _, qid = data
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


def test_folds_may_be_lists_of_indices_or_masks(data):
    X, y, qid = data
    folds = list(GroupKFold(2).split(X, y, qid))
    rows = np.arange(len(y))
    curves = [
        query_learning_curve(
            LowRankSurrogateRanker(),
            X,
            y,
            qid=qid,
            train_sizes=[3],
            cv=cv,
            random_state=0,
        )
        for cv in (
            folds,
            [(train.tolist(), test.tolist()) for train, test in folds],
            [(np.isin(rows, train), np.isin(rows, test)) for train, test in folds],
        )
    ]
    for _, train_scores, test_scores in curves[1:]:
        np.testing.assert_array_equal(train_scores, curves[0][1])
        np.testing.assert_array_equal(test_scores, curves[0][2])


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


def test_importances_have_names_best_first(data):
    X, y, qid = data
    names = ["shift", "price", "age", "clicks"]
    frame = pd.DataFrame(X, columns=names)
    model = LowRankSurrogateRanker().fit(frame, y, qid=qid)
    found = query_permutation_importance(model, frame, y, qid=qid, random_state=0)
    assert found.feature_names.tolist() == names
    table = found.to_frame()
    assert table.columns.tolist() == ["feature", "importance", "std"]
    assert table["importance"].is_monotonic_decreasing
    assert sorted(table["feature"]) == sorted(names)
    by_name = table.set_index("feature")
    assert_array_equal(by_name.loc[names, "importance"], found.importances_mean)
    assert_array_equal(by_name.loc[names, "std"], found.importances_std)
    model = LowRankSurrogateRanker().fit(X, y, qid=qid)
    of_arrays = query_permutation_importance(model, X, y, qid=qid, random_state=0)
    assert of_arrays.feature_names.tolist() == ["x0", "x1", "x2", "x3"]
    assert_array_equal(of_arrays.importances, found.importances)


def test_a_frame_is_split_by_its_column_of_ids():
    pytest.importorskip("pandas")
    frame = load_digits_retrieval(n_queries=12, n_candidates=5, as_frame=True).frame
    train, test = query_train_test_split(frame, qid="qid", test_size=3, random_state=0)
    again = query_train_test_split(frame, qid=frame["qid"], test_size=3, random_state=0)
    assert test.equals(again[1])
    assert test["qid"].nunique() == 3
    assert not set(train["qid"]) & set(test["qid"])


# Splits by time ---------------------------------------------------------------------


def rows_in_time(n_queries=13, seed=0):
    """Rows of queries in mixed order, with times that follow the number of the query."""
    rng = np.random.RandomState(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.randint(1, 6, n_queries)))
    return qid, 10.0 * qid + rng.uniform(size=len(qid))


def split_in_time(qid, time, n_splits=3, gap=0):
    splitter = QueryTimeSeriesSplit(n_splits=n_splits, gap=gap)
    return list(splitter.split(np.zeros(len(qid)), groups=qid, time=time))


def assert_same_splits(splits, others):
    assert len(splits) == len(others) > 0
    for (train, test), (other_train, other_test) in zip(splits, others, strict=True):
        assert_array_equal(train, other_train)
        assert_array_equal(test, other_test)


@pytest.mark.parametrize("gap", [0, 2])
def test_later_queries_are_tested_whole(gap):
    qid, time = rows_in_time()
    # There is no order in the names.
    names = np.array([f"q{(7 * i) % 13}" for i in range(13)])[qid]
    splits = split_in_time(names, time, gap=gap)
    expected = TimeSeriesSplit(3, gap=gap).split(np.arange(13))
    for (train, test), (first, later) in zip(splits, expected, strict=True):
        assert set(qid[train]) == set(first)
        assert set(qid[test]) == set(later)
        assert len(train) == np.isin(qid, first).sum()
        assert np.all(np.diff(train) > 0)
        assert time[train].max() < time[test].min()


DAYS = pd.Timestamp("2025-01-20") + pd.to_timedelta(np.arange(40), unit="D")
#: Kinds of times, made of the numbers of the days.
TIMES = {
    "integers": lambda day: day.tolist(),
    "unsigned": lambda day: day.astype(np.uint8),
    "floats": lambda day: day / 7,
    "nullable integers": lambda day: pd.Series(day, dtype="Int64"),
    "decimals": lambda day: [Decimal(int(d)) / 3 for d in day],
    "large integers": lambda day: np.array([2**60 + int(d) for d in day], dtype=object),
    "datetime64": lambda day: DAYS.to_numpy()[day],
    "index": lambda day: DAYS[day],
    "series": lambda day: pd.Series(DAYS[day]),
    "categorical": lambda day: pd.Series(DAYS[day]).astype("category"),
    "time zone": lambda day: pd.Series(DAYS[day]).dt.tz_localize("Europe/Berlin"),
    "timestamps": lambda day: list(DAYS[day]),
    "dates": lambda day: [one.date() for one in DAYS[day]],
    "aware datetimes": lambda day: list(DAYS[day].tz_localize("UTC").to_pydatetime()),
    "scalars of NumPy": lambda day: list(DAYS.to_numpy()[day]),
    "periods": lambda day: pd.Series(DAYS[day].to_period("D")),
    "durations": lambda day: DAYS[day] - DAYS[0],
    "timedeltas": lambda day: list((DAYS[day] - DAYS[0]).to_pytimedelta()),
}
#: Kinds that are times without `time`, if they are the query ids.
DATES = [
    "datetime64", "index", "series", "categorical", "time zone", "timestamps", "dates",
    "aware datetimes", "scalars of NumPy", "periods",
]  # fmt: skip
TEXT = {
    "day first": lambda day: DAYS[day].strftime("%d/%m/%Y"),
    "year first": lambda day: DAYS[day].strftime("%Y-%m-%d").tolist(),
    "objects": lambda day: DAYS[day].strftime("%d/%m/%Y").to_numpy(dtype=object),
    "NumPy": lambda day: DAYS[day].strftime("%d/%m/%Y").to_numpy(dtype=str),
    "categorical": lambda day: pd.Series(DAYS[day].strftime("%d/%m/%Y"), dtype="category"),
    "numbers as text": lambda day: day.astype(str),
    "one of them": lambda day: [*day[:-1].tolist(), "40"],
}  # fmt: skip


@pytest.mark.parametrize("kind", TIMES)
def test_times_of_any_kind_split_alike(kind):
    # Newest first, as a data base gives it, then shuffled.
    for day in (np.repeat(np.arange(40)[::-1], 3), np.random.RandomState(0).permutation(
        np.repeat(np.arange(40), 3)
    )):  # fmt: skip
        expected = split_in_time(day, day)
        for train, test in expected:
            assert day[train].max() < day[test].min()
        times = TIMES[kind](day)
        assert_same_splits(split_in_time(day, times), expected)
        target = ranking_target(day % 2, day, time=times)
        carried = QueryTimeSeriesSplit(3).split(day, target)
        assert_same_splits(list(carried), expected)
        if kind in DATES:
            as_ids = QueryTimeSeriesSplit(3).split(day, groups=times)
            assert_same_splits(list(as_ids), expected)
            target = ranking_target(day % 2, times)
            assert_same_splits(
                list(QueryTimeSeriesSplit(3).split(day, target)), expected
            )
            # The ids in y are dates, and groups number them.
            of_codes = QueryTimeSeriesSplit(3).split(day, target, groups=day)
            assert_same_splits(list(of_codes), expected)
        else:
            with refused_by("rows without times"):
                next(QueryTimeSeriesSplit(3).split(day, groups=times))


@pytest.mark.parametrize("kind", TEXT)
def test_text_is_no_time(kind):
    day = np.repeat(np.arange(40), 3)
    text = TEXT[kind](day)
    with refused_by("time as text"):
        split_in_time(day, text)
    with refused_by("time as text"):
        ranking_target(day % 2, day, time=text)
    with refused_by("rows without times"):
        next(QueryTimeSeriesSplit(3).split(day, groups=text))


def test_rows_of_queries_that_come_back_are_left_out_and_counted():
    rng = np.random.default_rng(0)
    user = rng.integers(0, 40, 1200)
    time = rng.permutation(1200) // 2  # two rows each time
    with pytest.warns(UserWarning, match="are left out of training") as caught:
        splits = split_in_time(user, time)
    assert len(caught) == 1
    n_rows = n_left_out = 0
    for train, test in splits:
        first = time[test].min()
        users_before = user[time < first]
        assert_array_equal(train, np.flatnonzero(time < first))
        assert_array_equal(test, np.flatnonzero(np.isin(user, user[test])))
        assert not set(users_before) & set(user[test])
        of_users = np.isin(user, users_before)
        n_rows += of_users.sum()
        n_left_out += of_users.sum() - len(train)
    words = f"{n_left_out} of their {n_rows} rows, in 3 splits together"
    assert words in str(caught[0].message)


def test_no_training_row_is_later_than_the_first_test_row():
    """Two hundred tables of few times, many ties, and queries that come back."""
    n_split = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = rng.integers(6, 60)
        qid = rng.integers(0, rng.integers(4, 20), n)
        time = rng.integers(0, rng.integers(4, 40), n)
        how = {"n_splits": int(rng.integers(2, 4)), "gap": int(rng.integers(0, 2))}
        n_splits, gap = how["n_splits"], how["gap"]
        starts = {time[qid == one].min() for one in set(qid.tolist())}
        n_tested = len(starts) // (n_splits + 1) * n_splits
        if n_tested == 0 or len(starts) - gap <= n_tested:
            with refused_by("few starting times"):
                split_in_time(qid, time, **how)
            continue
        order = rng.permutation(n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            splits = split_in_time(qid, time, **how)
            moved = split_in_time(qid[order], time[order], **how)
        n_split += 1
        assert len(splits) == n_splits
        tested = np.concatenate([test for _, test in splits])
        assert len(np.unique(tested)) == len(tested)
        for (train, test), (other_train, other_test) in zip(splits, moved, strict=True):
            assert len(train)
            assert len(test)
            assert time[train].max() < time[test].min()
            assert not set(qid[train]) & set(qid[test])
            # The order of the rows means nothing.
            assert_array_equal(np.sort(order[other_train]), train)
            assert_array_equal(np.sort(order[other_test]), test)
    assert n_split > 120


def test_times_given_twice_must_be_the_same():
    qid, day = np.arange(6), np.arange(6)[::-1]
    target = ranking_target(qid % 2, qid, time=day)
    splitter = QueryTimeSeriesSplit(2)
    expected = list(splitter.split(qid, target))
    assert_same_splits(list(splitter.split(qid, target, time=day)), expected)
    for other in (qid, DAYS[:6], day[:5]):
        with refused_by("times given twice"):
            next(splitter.split(qid, target, time=other))
    # Ids that are dates may have times beside them.
    of_days = ranking_target(qid % 2, DAYS[:6])
    assert_same_splits(list(splitter.split(qid, of_days, time=day)), expected)


@pytest.fixture(scope="module")
def documents_in_time():
    """Documents, and a time for each query in which neither rows nor ids are sorted."""
    X, y, qid = make_ranking(n_lists=20, random_state=0)
    return X, y, qid, np.random.RandomState(1).permutation(20)[qid]


def test_time_series_splits_in_tools_of_sklearn(documents_in_time):
    X, y, qid, time = documents_in_time
    cv, scorer = QueryTimeSeriesSplit(n_splits=3), make_ranking_scorer("ndcg@5")
    target = ranking_target(y, qid, time=time)
    ranker = LowRankSurrogateRanker()
    expected = []
    for train, test in cv.split(X, groups=qid, time=time):
        ranker.fit(X[train], y[train], qid=qid[train])
        expected.append(scorer(ranker, X[test], y[test], qid=qid[test]))
    by_target = cross_val_score(ranker, X, target, cv=cv, scoring=scorer)
    by_groups = cross_val_score(ranker, X, target, groups=qid, cv=cv, scoring=scorer)
    assert by_target.tolist() == by_groups.tolist() == expected
    assert len(by_target) == cv.get_n_splits() == 3
    assert repr(cv) == "QueryTimeSeriesSplit(gap=0, n_splits=3)"
    with config_context(enable_metadata_routing=True):
        routed = cross_val_score(
            ranker, X, target, cv=cv, scoring=scorer, params={"groups": qid}
        )
        beside = cross_val_score(
            ranker,
            X,
            y,
            cv=cv,
            scoring=scorer,
            params={"groups": qid, "qid": qid, "time": time},
        )
    assert_array_equal(routed, by_target)
    assert_array_equal(beside, by_target)
    with refused_by("rows without times"):
        cross_val_score(ranker, X, ranking_target(y, qid), cv=cv, scoring=scorer)


def test_nested_searches_split_by_time_inside(documents_in_time):
    X, y, qid, time = documents_in_time
    target = ranking_target(y, qid, time=DAYS[time])
    search = GridSearchCV(
        LowRankSurrogateRanker(),
        {"alpha": [0.1, 10.0]},
        cv=QueryTimeSeriesSplit(2),
        scoring=make_ranking_scorer("ndcg@5"),
        error_score="raise",
    )
    found = cross_validate(
        search,
        X,
        target,
        cv=QueryTimeSeriesSplit(3),
        scoring=search.scoring,
        error_score="raise",
        return_estimator=True,
    )
    outer = QueryTimeSeriesSplit(3).split(X, target)
    for model, (train, _) in zip(found["estimator"], outer, strict=True):
        by_hand = clone(search).set_params(
            cv=split_in_time(qid[train], time[train], n_splits=2)
        )
        by_hand.fit(X[train], ranking_target(y[train], qid[train]))
        for key in ("split0_test_score", "split1_test_score"):
            assert_array_equal(model.cv_results_[key], by_hand.cv_results_[key])


@pytest.mark.parametrize("way", ["field", "ids"])
def test_curves_and_stacks_hand_times_to_the_splitter(documents_in_time, way):
    X, y, qid, time = documents_in_time
    days = DAYS[time]
    # Of the time in a field, and of ids that are dates.
    target = ranking_target(y, qid, time=days) if way == "field" else y
    ids = {} if way == "field" else {"qid": days}
    splits = split_in_time(qid, time)
    options = {"train_sizes": [2, 4], "scoring": "ndcg@5", "random_state": 0}
    curve = query_learning_curve(
        LowRankSurrogateRanker(),
        X,
        target,
        cv=QueryTimeSeriesSplit(3),
        **options,
        **ids,
    )
    expected = query_learning_curve(
        LowRankSurrogateRanker(), X, target, cv=splits, **options, **ids
    )
    for one, other in zip(curve, expected, strict=True):
        assert_array_equal(one, other)
    parts = [
        ("documents", OrderPreservingRegressor()),
        ("regressor", make_pipeline(StandardScaler(), LinearRegression())),
    ]
    stack = StackingRanker(parts, cv=QueryTimeSeriesSplit(3)).fit(X, target, **ids)
    assert (
        stack.weights_ == StackingRanker(parts, cv=splits).fit(X, y, qid=qid).weights_
    )
    plain = ranking_target(y, qid)
    with refused_by("rows without times"):
        StackingRanker(parts, cv=QueryTimeSeriesSplit(3)).fit(X, plain)
    with refused_by("rows without times"):
        query_learning_curve(
            LowRankSurrogateRanker(), X, plain, cv=QueryTimeSeriesSplit(3)
        )


def test_time_series_splits_of_matrices_and_of_few_times():
    items = np.zeros((9, 3))
    how = {"groups": np.arange(9), "time": np.arange(9)}
    splits = list(QueryTimeSeriesSplit(2).split(np.zeros(9), items, **how))
    assert [len(test) for _, test in splits] == [3, 3]
    with refused_by("few starting times"):
        split_in_time([1, 2, 3], [1, 2, 3], n_splits=5)
    with refused_by("few starting times"):
        split_in_time([1, 2, 3], [7, 7, 7], n_splits=2)
