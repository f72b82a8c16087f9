"""Splits, curves and importances, all by whole queries."""

from collections.abc import Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from ._tables import pandas_for
from ._typing import Bunch
from .metrics._scorer import make_ranking_scorer
from .validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    column_names,
    n_rows,
    take_rows,
)
from .validation._check import refuse
from .validation._checks_of_splits import (
    CHECKS_OF_ARRAYS,
    CHECKS_OF_PARTS,
    CHECKS_OF_QUERIES,
    CHECKS_OF_SIZES,
    CHECKS_OF_SPLITS_BY_TIME,
)
from .validation._cut_queries import (
    KnownLists,
    contents_of,
    rows_to_know,
)
from .validation._findings import found
from .validation._ids import read_lists
from .validation._kinds import arrive
from .validation._labels import (
    carried_times,
    carries_qid,
    one_label_per_row,
    ranking_target,
    split_target,
    times_of_rows,
)
from .validation._parameters import checked, count, number
from .validation._rules import look_for
from .validation._times import read_times

if TYPE_CHECKING:
    import pandas

__all__ = [
    "QueryTimeSeriesSplit",
    "query_learning_curve",
    "query_permutation_importance",
    "query_train_test_split",
]


@checked(test_size=[number(), None], train_size=[number(), None])
def query_train_test_split(
    *arrays: Any,
    qid: ArrayLike | str | None = None,
    test_size: Any = None,
    train_size: Any = None,
    random_state: Any = None,
) -> list[Any]:
    """Split rows into a training and a test part of whole queries.

    `sklearn.model_selection.train_test_split` would cut queries apart.

    Parameters
    ----------
    *arrays : array-likes of n_rows each
        Arrays, lists, sparse matrices, frames or series.
    qid : array-like of shape (n_rows,), str or None, default=None
        Query id of each row, or the name of a column of the first array, a frame. None
        takes the ids that one of the arrays carries, a `ranking_target` or a series
        whose index has a level "qid".
    test_size, train_size : float, int or None, default=None
        Fraction or number of *queries*; None is the rest, or a quarter for the test
        part if both are None.
    random_state : int, RandomState or None, default=None
        Seed of the draw of the queries.

    Returns
    -------
    list
        The training and the test part of each array, rows in their order, and finally
        of qid if it is an array.

    Raises
    ------
    ValueError
        If there is no array, no id or no such column, lengths differ, or a part would
        hold no query.

    See Also
    --------
    sklearn.model_selection.GroupShuffleSplit : Several such splits, as indices.

    Examples
    --------
    >>> from lowrank_rank.model_selection import query_train_test_split
    >>> X, y = [[0], [1], [2], [3], [4]], [1, 0, 0, 1, 0]
    >>> qid = ["a", "b", "a", "c", "b"]
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=1, random_state=0)
    >>> qid_train, qid_test, y_test
    (['a', 'b', 'a', 'b'], ['c'], [1])
    """
    names = ["X", "y", *(f"array_{i}" for i in range(2, len(arrays)))]
    arrive((), (), **dict(zip(names, arrays, strict=False)), qid=qid)
    refuse(CHECKS_OF_ARRAYS, arrays=arrays, qid=qid)
    arrays_to_split = list(arrays)
    id_column = qid
    if isinstance(qid, str):
        qid = arrays[0][qid]
    elif qid is not None:
        arrays_to_split.append(qid)
    # The index of an array that carries ids holds the ids, and no names of rows.
    carriers = []
    named = {}
    for i, array in enumerate(arrays):
        if carries_qid(array):
            carriers.append(array)
        else:
            named[f"array {i}"] = array
    check_same_index(**named, qid=qid)
    if qid is None:
        _, qid = split_target(carriers[0])
    check_consistent_length(*arrays, qid)
    if test_size is None and train_size is None:
        test_size = 0.25
    splitter = ShuffleSplit(
        1, test_size=test_size, train_size=train_size, random_state=random_state
    )
    lists = read_lists(qid)
    refuse(CHECKS_OF_PARTS, n_queries=lists.n_lists)
    train_lists, test_lists = next(splitter.split(lists.lengths))
    train = _rows_of_lists(train_lists, lists)
    test = _rows_of_lists(test_lists, lists)
    _look_for_copies(arrays[0], id_column, lists, train_lists, test_lists)
    parts = []
    for array in arrays_to_split:
        parts.append(take_rows(array, train))
        parts.append(take_rows(array, test))
    return parts


def _rows_of_lists(chosen, lists):
    """Return the rows of the chosen lists, ascending."""
    is_chosen = np.zeros(lists.n_lists, dtype=bool)
    is_chosen[chosen] = True
    return np.flatnonzero(is_chosen[lists.codes])


def _look_for_copies(X, id_column, lists, train_lists, test_lists):
    """Look whether lists of the test part are copies of lists of the training part."""
    X_known = take_rows(X, rows_to_know(lists))
    if isinstance(id_column, str):
        names = [name for name in column_names(X) if name != id_column]
        X_known = X_known[names]
    contents = contents_of(X_known, lists.lengths)
    if contents is None:
        return
    train, test = (
        KnownLists(keys=part, lengths=lists.lengths[part], contents=contents[part])
        for part in (train_lists, test_lists)
    )
    look_for("copied queries", train, test)


class QueryTimeSeriesSplit(BaseCrossValidator):
    """Time series splits of queries: no training row is later than the first test row.

    A query starts at its earliest row. ``TimeSeriesSplit`` splits the distinct starting
    times of the queries. The test part is all rows of the queries that start in it, and
    the training part is all rows that are earlier than the first test row. Rows of
    equal time are never on both sides, and the order of the rows means nothing.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    gap : int, default=0
        Number of starting times between the training and the test part whose rows are
        in neither.

    See Also
    --------
    ranking_target : Carries the times through searches and ``cross_val_score``.

    Examples
    --------
    Query c starts on day 2 and comes back on day 3. Its row of day 3 is in no training
    part whose test part starts on day 3.

    >>> from lowrank_rank import ranking_target
    >>> from lowrank_rank.model_selection import QueryTimeSeriesSplit
    >>> X = [[0], [1], [2], [3], [4], [5]]
    >>> qid, day = ["d", "c", "c", "b", "a", "a"], [3, 3, 2, 2, 1, 1]
    >>> y = ranking_target([1, 0, 1, 0, 1, 0], qid, time=day)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # it counts the row that is left out
    ...     splits = list(QueryTimeSeriesSplit(n_splits=2).split(X, y))
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([4, 5], [1, 2, 3]), ([2, 3, 4, 5], [0])]
    """

    __metadata_request__split = {"groups": True, "time": True}  # noqa: RUF012

    def __init__(self, n_splits: int = 5, *, gap: int = 0) -> None:
        self.n_splits = n_splits
        self.gap = gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Any, as scikit-learn's splitters take them.

        Returns
        -------
        int
            ``n_splits``.
        """
        return self.n_splits

    def split(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        time: ArrayLike | None = None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the rows of the training and the test part of each split.

        Parameters
        ----------
        X : array-like of n_rows
            Features.
        y : array-like of shape (n_rows,) or None, default=None
            Labels; a `ranking_target` carries the query ids, and the times if it has
            the field "time".
        groups : array-like of shape (n_rows,) or None, default=None
            Query id of each row; None takes the ids in y.
        time : array-like of shape (n_rows,) or None, default=None
            Time of each row: numbers, dates, periods or durations. None takes the times
            in y, or else query ids that are dates or periods themselves.

        Yields
        ------
        train, test : ndarray of int
            Row indices, ascending.

        Raises
        ------
        ValueError
            If there are no query ids or no times, a time is missing or text, or there
            are too few starting times.

        Warns
        -----
        UserWarning
            If queries come back after the start of a test part: counts the rows that
            are left out of training.
        """
        arrive(X=X, y=y, groups=groups, time=time)
        check_same_index(X=X, y=y, groups=groups, time=time)
        is_carried = groups is None
        if is_carried and y is not None:
            _, groups = split_target(y)
        times: Any = None
        if time is not None:
            times = read_times(time)
        elif groups is not None:
            times = times_of_rows(y, groups)
        refuse(
            CHECKS_OF_SPLITS_BY_TIME,
            X=X,
            y=y,
            groups=groups,
            time=time,
            times=times,
            carried=carried_times(y),
            is_carried=is_carried,
        )
        check_consistent_length(X, groups, times)
        lists = read_lists(groups)
        # Ranks of the times: of each row, and of the earliest row of its query.
        _, time_of_row = np.unique(times, return_inverse=True)
        start_of_query = np.minimum.reduceat(lists.group(time_of_row), lists.starts)
        start_of_row = start_of_query[lists.codes]
        starts = np.unique(start_of_query)
        splits = []
        n_left_out = 0
        for train_starts, test_starts in self._split_starts(starts):
            # The first starting time that is not in the training part.
            end = starts[train_starts[-1] + 1]
            train = np.flatnonzero(time_of_row < end)
            test = np.flatnonzero(np.isin(start_of_row, starts[test_starts]))
            splits.append((train, test))
            n_left_out += np.count_nonzero(start_of_row < end) - len(train)
        if n_left_out > 0:
            _tell_of_rows_left_out(n_left_out, splits)
        yield from splits

    def _split_starts(self, starts):
        """Split the distinct starting times of the queries by TimeSeriesSplit."""
        refuse(
            CHECKS_OF_PARTS, n_starts=len(starts), n_splits=self.n_splits, gap=self.gap
        )
        splitter = TimeSeriesSplit(self.n_splits, gap=self.gap)
        return list(splitter.split(starts))


def _tell_of_rows_left_out(n_left_out, splits):
    """Warn of rows of queries that come back after the start of a test part."""
    n_taken = sum(len(train) for train, _ in splits)
    found(
        "rows left out",
        f"Queries of training come back later: {n_left_out} of their "
        f"{n_taken + n_left_out} rows, in {len(splits)} splits together, are left out "
        "of training, because training rows must be earlier than the first test row. "
        "If each visit is ranked by itself, give each visit its own query id.",
    )


def _read_queries(X, y, qid, *, is_permuted=False):
    """Return y with its query ids, and the code of the query of each row.

    Rows of a matrix are queries.
    """
    refuse(CHECKS_OF_QUERIES, X=X, y=y, qid=qid, is_permuted=is_permuted)
    check_same_index(X=X, y=y, qid=qid)
    labels, qid = split_target(y, qid)
    if not one_label_per_row(y):
        return y, np.arange(n_rows(y))
    target = ranking_target(labels, qid, time=times_of_rows(y, qid))
    return target, read_lists(target["qid"]).codes


@checked()
def query_learning_curve(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    *,
    qid: ArrayLike | None = None,
    train_sizes: Any = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Any = 5,
    scoring: Any = "ndcg@10",
    n_jobs: int | None = None,
    random_state: Any = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute the scores of models that were fitted on more and more queries.

    `sklearn.model_selection.learning_curve` would count rows and cut queries apart. In
    each fold the training queries are shuffled once, and each size takes the first of
    them: larger training sets contain the smaller ones.

    Parameters
    ----------
    estimator : estimator
        Cloned for each fit.
    X : array-like or sparse matrix of shape (n_rows, n_features)
        Features of the rows.
    y : array-like of shape (n_rows,) or (n_queries, r)
        Labels; if they are one-dimensional, with `qid`, or a `ranking_target`.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row.
    train_sizes : array-like of float or int, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Fractions, or numbers, of the queries of the smallest training part.
    cv : int, splitter or iterable, default=5
        Number of folds of `GroupKFold`; a splitter of scikit-learn, which gets the
        queries as groups; or pairs of row indices (train, test).
    scoring : str, measure, or callable, default="ndcg@10"
        One measure, as in `make_ranking_scorer`, or any scorer of scikit-learn.
    n_jobs : int or None, default=None
        Fits in parallel.
    random_state : int, RandomState or None, default=None
        Seed of the order of the training queries.

    Returns
    -------
    train_sizes : ndarray of int, shape (n_sizes,)
        Numbers of queries, without repetition.
    train_scores : ndarray of shape (n_sizes, n_folds)
        On the queries that were fitted.
    test_scores : ndarray of shape (n_sizes, n_folds)
        Scores on the held-out queries of each fold.

    Raises
    ------
    ValueError
        If there are no ids, or a size is not valid.

    See Also
    --------
    sklearn.model_selection.LearningCurveDisplay : Draws the three arrays.

    Examples
    --------
    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.datasets import make_ranking
    >>> from lowrank_rank.model_selection import query_learning_curve
    >>> X, y, qid = make_ranking(n_lists=40, random_state=0)
    >>> sizes, train, test = query_learning_curve(
    ...     LowRankSurrogateRanker(), X, y, qid=qid, train_sizes=[2, 30], cv=4,
    ...     random_state=0)
    >>> sizes.tolist(), test.shape, bool(test[1].mean() > test[0].mean())
    ([2, 30], (2, 4), True)
    """
    arrive(estimator=estimator, X=X, y=y, qid=qid)
    target, query_of_row = _read_queries(X, y, qid)
    folds = cv
    if isinstance(cv, Integral):
        folds = GroupKFold(cv)
    if hasattr(folds, "split"):
        folds = folds.split(X, target, query_of_row)
    # Folds may be lists of indices or masks.
    rows = np.arange(len(query_of_row))
    folds = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in folds]
    rng = check_random_state(random_state)
    shuffled_queries = [
        rng.permutation(np.unique(query_of_row[train])) for train, _ in folds
    ]
    n_available = min(len(queries) for queries in shuffled_queries)
    sizes = _numbers_of_queries(train_sizes, n_available)
    # Each size takes the first of the shuffled training queries of each fold.
    splits = []
    for size in sizes:
        for queries, (train, test) in zip(shuffled_queries, folds, strict=True):
            is_taken = np.isin(query_of_row[train], queries[:size])
            splits.append((train[is_taken], test))
    if not callable(scoring):
        scoring = make_ranking_scorer(scoring)
    scores = cross_validate(
        estimator,
        X,
        target,
        cv=splits,
        scoring=scoring,
        n_jobs=n_jobs,
        return_train_score=True,
        error_score="raise",
    )
    shape = (len(sizes), len(folds))
    train_scores = scores["train_score"].reshape(shape)
    test_scores = scores["test_score"].reshape(shape)
    return sizes, train_scores, test_scores


def _numbers_of_queries(train_sizes, n_available):
    """Turn fractions or numbers of queries into distinct numbers, ascending."""
    sizes = np.asarray(train_sizes)
    refuse(
        CHECKS_OF_SIZES, sizes=sizes, train_sizes=train_sizes, n_available=n_available
    )
    if sizes.dtype.kind == "f":
        sizes = np.maximum((sizes * n_available).astype(int), 1)
    return np.unique(sizes)


@checked(n_repeats=[count()])
def query_permutation_importance(
    estimator: Any,
    X: MatrixLike,
    y: MatrixLike,
    *,
    qid: ArrayLike | None = None,
    scoring: Any = "ndcg@10",
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
) -> "QueryImportances | dict[str, QueryImportances]":
    """Measure how much a ranker loses when a feature is permuted within each query.

    `sklearn.inspection.permutation_importance` would permute over all rows. A feature
    that differs only between queries would seem important, though it does not order
    documents, and documents would get values from other queries.

    Parameters
    ----------
    estimator : fitted estimator
        Ranker to judge.
    X : array-like or frame of shape (n_rows, n_features)
        Features of the rows.
    y : array-like of shape (n_rows,)
        Grades; a `ranking_target` carries its qid.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row.
    scoring : str, measure, list or dict of these, or callable, default="ndcg@10"
        A measure, as in `make_ranking_scorer`, or any scorer of scikit-learn.
    n_repeats : int, default=5
        Permutations of each feature.
    n_jobs : int or None, default=None
        Features in parallel.
    random_state : int, RandomState or None, default=None
        Seed of the permutations.

    Returns
    -------
    QueryImportances
        A Bunch with ``importances`` (n_features, n_repeats), the decreases of the
        score, their ``importances_mean`` and ``importances_std``, and
        ``feature_names``; ``to_frame()`` sorts them. For several measures a dict of
        these.

    Raises
    ------
    ValueError
        If there are no ids, or X is sparse.

    See Also
    --------
    lowrank_rank.plotting.PermutationImportanceDisplay : Draws the result.

    Examples
    --------
    The second feature is the same for all documents of a query.

    >>> from lowrank_rank import LowRankSurrogateRanker
    >>> from lowrank_rank.model_selection import query_permutation_importance
    >>> X = [[0.0, 5.0], [1.0, 5.0], [2.0, 7.0], [3.0, 7.0]]
    >>> y, qid = [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = LowRankSurrogateRanker().fit(X, y, qid=qid)
    >>> found = query_permutation_importance(
    ...     ranker, X, y, qid=qid, scoring="precision@1", random_state=0)
    >>> found.importances_mean
    array([0.5, 0. ])
    >>> found.to_frame()
      feature  importance       std
    0      x0         0.5  0.316228
    1      x1         0.0  0.000000
    """
    arrive({"X"}, estimator=estimator, X=X, y=y, qid=qid)
    target, query_of_row = _read_queries(X, y, qid, is_permuted=True)
    features: Any = X
    if not hasattr(X, "columns"):
        features = np.asarray(X)
    scorer: Any = scoring
    if not callable(scoring):
        scorer = make_ranking_scorer(scoring)
    rng = check_random_state(random_state)
    seeds = rng.randint(2**31 - 1, size=features.shape[1])
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_scores_permuted)(
            estimator, features, target, query_of_row, column, seed, n_repeats, scorer
        )
        for column, seed in enumerate(seeds)
    )
    baseline = scorer(estimator, features, target)
    names = [str(name) for name in column_names(X)]
    if not names:  # as scikit-learn names the columns of arrays
        names = [f"x{i}" for i in range(features.shape[1])]
    if not isinstance(baseline, dict):
        return _importances(baseline, scores, names)
    importances = {}
    for name, value in baseline.items():
        scores_of_name = [[each[name] for each in repeats] for repeats in scores]
        importances[name] = _importances(value, scores_of_name, names)
    return importances


class QueryImportances(Bunch):
    """Importances of features; returned by `query_permutation_importance`.

    Attributes
    ----------
    importances : ndarray of shape (n_features, n_repeats)
        Decrease of the score in each permutation of a feature.
    importances_mean, importances_std : ndarray of shape (n_features,)
        Their mean and standard deviation.
    feature_names : ndarray of str, shape (n_features,)
        Names of the columns of X; "x0", "x1", ... if X has none.
    """

    def to_frame(self) -> "pandas.DataFrame":
        """Return a table of the features, the most important one first.

        Returns
        -------
        DataFrame
            A row for each feature, with the columns "feature", "importance", the mean,
            and "std".
        """
        order = np.argsort(-self.importances_mean, kind="stable")
        return pandas_for("to_frame").DataFrame(
            {
                "feature": self.feature_names[order],
                "importance": self.importances_mean[order],
                "std": self.importances_std[order],
            }
        )


def _scores_permuted(
    estimator, X, target, query_of_row, column, seed, n_repeats, scorer
):
    """Score X with one column permuted within each query, `n_repeats` times."""
    rng = np.random.RandomState(seed)
    n = len(query_of_row)
    by_query = np.argsort(query_of_row, kind="stable")
    source = np.empty(n, dtype=np.intp)
    scores = []
    for _ in range(n_repeats):
        # Each row takes its value from a random row of the same query.
        source[by_query] = np.lexsort((rng.uniform(size=n), query_of_row))
        permuted = _permute_column(X, column, source)
        scores.append(scorer(estimator, permuted, target))
    return scores


def _permute_column(X, column, source):
    """Return a copy of X with the values of one column from the rows `source`."""
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X.to_series(column)[source])
    permuted = X.copy()
    if hasattr(X, "iloc"):
        permuted[X.columns[column]] = X.iloc[source, column].array
    else:
        permuted[:, column] = X[source, column]
    return permuted


def _importances(baseline, scores, names):
    """Summarise by how much the score falls in each repetition of each feature."""
    drops = baseline - np.array(scores)
    return QueryImportances(
        importances_mean=drops.mean(axis=1),
        importances_std=drops.std(axis=1),
        importances=drops,
        feature_names=np.array(names, dtype=object),
    )
