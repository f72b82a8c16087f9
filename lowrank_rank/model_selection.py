"""Splits, curves and importances, all by whole queries."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any, cast

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    GroupShuffleSplit,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from ._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    column_names,
    is_frame,
    n_rows,
    take_rows,
)
from ._labels import carries_qid, one_label_per_row, ranking_target, split_target
from ._lists import RankingLists
from ._parameters import checked, count
from ._typing import Bunch
from .metrics._scorer import make_ranking_scorer

__all__ = [
    "QueryTimeSeriesSplit",
    "query_learning_curve",
    "query_permutation_importance",
    "query_train_test_split",
]


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
        Fraction or number of *queries*; None is what the other leaves, and a quarter
        for the test where both are None.
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
    >>> X, y, qid = [[0], [1], [2], [3], [4]], [1, 0, 0, 1, 0], ["a", "b", "a", "c", "b"]
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, test_size=1, random_state=0)
    >>> qid_train, qid_test, y_test
    (['a', 'b', 'a', 'b'], ['c'], [1])
    """
    if not arrays:
        raise ValueError("query_train_test_split got no array: give X, y, ... and qid.")
    named = {
        f"array {i}": array for i, array in enumerate(arrays) if not carries_qid(array)
    }
    given = list(arrays) if qid is None or isinstance(qid, str) else [*arrays, qid]
    if isinstance(qid, str):
        if not is_frame(arrays[0]) or qid not in column_names(arrays[0]):
            raise ValueError(
                f"qid={qid!r} must be a column of the first array, a frame."
            )
        qid = arrays[0][qid]
    check_same_index(**named, qid=qid)
    if qid is None:
        carrying = next((array for array in arrays if carries_qid(array)), None)
        if carrying is None:
            raise ValueError(
                "No array carries query ids: give qid=..., or y as ranking_target(y, qid)."
            )
        _, qid = split_target(carrying)
    check_consistent_length(*arrays, qid)
    lists = RankingLists.from_qid(qid)
    test_size = 0.25 if test_size is None and train_size is None else test_size
    sizes = {
        "test_size": test_size,
        "train_size": train_size,
        "random_state": random_state,
    }
    parts = next(GroupShuffleSplit(1, **sizes).split(lists.codes, groups=lists.codes))
    return [take_rows(array, rows) for array in given for rows in parts]


class QueryTimeSeriesSplit(BaseCrossValidator):
    """Time series splits of whole queries: each fold is tested after the folds before it.

    scikit-learn's ``TimeSeriesSplit`` cuts queries apart. Here the queries, in the
    order of their times, are split by ``TimeSeriesSplit``, and each query takes its
    rows with it.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, at least 2.
    gap : int, default=0
        Number of queries between the training and the test part that are in neither.

    Examples
    --------
    >>> from lowrank_rank.model_selection import QueryTimeSeriesSplit
    >>> day, qid = [1, 1, 2, 2, 3, 3], ["a", "a", "b", "c", "c", "b"]
    >>> splits = QueryTimeSeriesSplit(n_splits=2).split(day, groups=qid)
    >>> [(train.tolist(), test.tolist()) for train, test in splits]
    [([0, 1], [2, 5]), ([0, 1, 2, 5], [3, 4])]
    """

    __metadata_request__split = {"groups": True}  # noqa: RUF012

    def __init__(self, n_splits: int = 5, *, gap: int = 0) -> None:
        self.n_splits = n_splits
        self.gap = gap

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of splits.

        Parameters
        ----------
        X, y, groups : object
            Ignored.

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
        """Rows of the training and the test part of each split.

        Parameters
        ----------
        X : array-like of n_rows
            Features.
        y : array-like of shape (n_rows,) or None, default=None
            Labels; a `ranking_target` carries the query ids.
        groups : array-like of shape (n_rows,) or None, default=None
            Query id of each row; None takes the ids in y.
        time : array-like of shape (n_rows,) or None, default=None
            Time of each row; a query has the earliest of its rows. None orders the
            queries by their first rows.

        Yields
        ------
        train, test : ndarray of int
            Row indices, ascending.

        Raises
        ------
        ValueError
            If there are no query ids, a time is missing, or there are too few queries.
        """
        check_same_index(X=X, y=y, groups=groups, time=time)
        groups = split_target(y)[1] if groups is None and y is not None else groups
        if groups is None:
            raise ValueError(
                "Give groups=qid, the query of each row, or y as a ranking_target."
            )
        check_consistent_length(X, groups, time)
        codes = RankingLists.from_qid(groups).codes  # in order of first appearance
        order = np.arange(codes.max() + 1)
        if time is not None:
            time = np.asarray(time)
            if np.any(missing := time != time):  # NaN and NaT differ from themselves
                raise ValueError(f"time has no value in row {int(np.argmax(missing))}.")
            by_time = np.argsort(time, kind="stable")
            order = codes[by_time][
                np.sort(np.unique(codes[by_time], return_index=True)[1])
            ]
        for parts in TimeSeriesSplit(self.n_splits, gap=self.gap).split(order):
            train, test = (
                np.flatnonzero(np.isin(codes, order[part])) for part in parts
            )
            yield train, test


def _with_ids(y, qid):
    """y that carries its query ids, and the list of each row; rows of a matrix are lists."""
    if not one_label_per_row(y):
        split_target(y, qid)
        if qid is not None:
            raise ValueError("A matrix y holds one list per row and takes no qid.")
        return y, np.arange(n_rows(y))
    y, qid = split_target(y, qid)
    if qid is None:
        raise ValueError(
            "The query of each row is needed: give qid=..., or a ranking_target."
        )
    target = ranking_target(y, qid)
    return target, RankingLists.from_qid(target["qid"]).codes


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
    """Scores of models that were fitted on more and more queries.

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
        Labels; 1-D they are numbers with the query ids beside, or carry them.
    qid : array-like of shape (n_rows,) or None, default=None
        Query id of each row.
    train_sizes : array-like of float or int, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Fractions, or numbers, of the queries of the smallest training part.
    cv : int, splitter or iterable, default=5
        Folds of `GroupKFold`; a splitter of scikit-learn that takes groups, the
        queries; or pairs of row indices (train, test).
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
        If there are no ids, or a size is none.

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
    ...     LowRankSurrogateRanker(), X, y, qid=qid, train_sizes=[2, 30], cv=4, random_state=0)
    >>> sizes.tolist(), test.shape, bool(test[1].mean() > test[0].mean())
    ([2, 30], (2, 4), True)
    """
    check_same_index(X=X, y=y, qid=qid)
    target, of_row = _with_ids(y, qid)
    splitter = GroupKFold(cv) if isinstance(cv, Integral) else cv
    folds = list(
        splitter.split(X, target, of_row) if hasattr(splitter, "split") else splitter
    )
    random_state = check_random_state(random_state)
    queries = [random_state.permutation(np.unique(of_row[train])) for train, _ in folds]
    sizes, available = np.asarray(train_sizes), min(map(len, queries))
    is_list = sizes.ndim == 1 and len(sizes) and sizes.dtype.kind in "iuf"
    most = 1 if sizes.dtype.kind == "f" else available
    if not is_list or not 0 < sizes.min() <= sizes.max() <= most:
        raise ValueError(
            "train_sizes must be a list of numbers: fractions in (0, 1], or whole numbers between "
            f"1 and {available}, the queries of the smallest training part, got {train_sizes!r}."
        )
    if sizes.dtype.kind == "f":
        sizes = np.maximum((sizes * available).astype(int), 1)
    sizes = np.unique(sizes)
    splits = [
        (train[np.isin(of_row[train], shuffled[:size])], test)
        for size in sizes
        for shuffled, (train, test) in zip(queries, folds, strict=True)
    ]
    scoring = scoring if callable(scoring) else make_ranking_scorer(scoring)
    options = {"return_train_score": True, "error_score": "raise", "n_jobs": n_jobs}
    found = cross_validate(estimator, X, target, cv=splits, scoring=scoring, **options)
    shape = (len(sizes), len(folds))
    return (
        sizes,
        found["train_score"].reshape(shape),
        found["test_score"].reshape(shape),
    )


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
) -> Bunch | dict[str, Bunch]:
    """How much a fitted ranker loses when a feature is permuted within each query.

    `sklearn.inspection.permutation_importance` would permute over all rows. A feature
    that differs between queries only would seem important, though it orders nothing,
    and documents would get values from other queries.

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
        Of the permutations.

    Returns
    -------
    Bunch
        With ``importances`` (n_features, n_repeats), what the score falls by, and their
        ``importances_mean`` and ``importances_std``; for several measures a dict of
        these.

    Raises
    ------
    ValueError
        If there are no ids, or X is sparse.

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
    """
    if sparse.issparse(X):
        raise ValueError(
            "X is sparse, but its columns are permuted one by one: give X.toarray()."
        )
    if not one_label_per_row(y):
        raise ValueError(
            "y must hold one grade per row: one row alone cannot be permuted."
        )
    check_same_index(X=X, y=y, qid=qid)
    target, of_row = _with_ids(y, qid)
    X = cast(Any, X) if hasattr(X, "columns") else np.asarray(X)
    scorer = scoring if callable(scoring) else make_ranking_scorer(scoring)
    seeds = check_random_state(random_state).randint(2**31 - 1, size=X.shape[1])
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_scores_permuted)(
            estimator, X, target, of_row, column, seed, n_repeats, scorer
        )
        for column, seed in enumerate(seeds)
    )
    baseline: Any = scorer(estimator, X, target)
    several, found = isinstance(baseline, dict), {}
    for name, value in (baseline if several else {"": baseline}).items():
        drops = value - np.array(
            [[s[name] if several else s for s in row] for row in scores]
        )
        mean, std = drops.mean(axis=1), drops.std(axis=1)
        found[name] = Bunch(
            importances_mean=mean, importances_std=std, importances=drops
        )
    return found if several else found[""]


def _scores_permuted(estimator, X, target, of_row, column, seed, n_repeats, scorer):
    """Scores of X with one column permuted within each query, `n_repeats` times."""
    random_state = np.random.RandomState(seed)
    grouped = np.argsort(of_row, kind="stable")
    source = np.empty(len(of_row), dtype=np.intp)
    scores = []
    for _ in range(n_repeats):
        source[grouped] = np.lexsort((random_state.uniform(size=len(of_row)), of_row))
        if hasattr(X, "with_columns"):  # polars
            permuted = X.with_columns(X.to_series(column)[source])
        else:
            permuted = X.copy()
            if hasattr(X, "iloc"):
                permuted[X.columns[column]] = X.iloc[source, column].array
            else:
                permuted[:, column] = X[source, column]
        scores.append(scorer(estimator, permuted, target))
    return scores
