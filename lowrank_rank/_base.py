"""What every ranker shares: reading a batch, score, ranks and tags."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from ._arrays import check_size, check_unmasked, mean_square
from ._labels import (
    carries_qid,
    check_items_judged,
    lists_of,
    lost_qid,
    one_label_per_row,
    read_labels,
    read_weights,
    split_target,
    warn_of_single_items,
)
from ._lists import RankingLists
from ._parameters import is_linear
from ._ranks import ranks_from_scores
from ._tables import first_text
from ._typing import ArrayLike, MatrixLike
from .target_losses import RankingMeasure, resolve_target_loss

_VECTORS = 4  # of the length of the features: what the leanest fit holds at once
# Of linear_scores; rows of BLAS are a multiple of what its kernels take at once.
_COLUMNS_AT_ONCE, _ROWS_AT_ONCE = 4096, 1024
_OUTPUTS_OF_BLAS, _ROWS_OF_BLAS = 8, 192


def check_no_qid(qid):
    """Refuse query ids where every row of X is a list of the same items."""
    if qid is not None:
        raise ValueError("This model ranks the same items in every row of X; it takes no qid.")


def read_features(estimator, X, *, reset, accept_sparse="csr", dtype=np.float64, **options):
    """X as an estimator takes it, by scikit-learn's `validate_data`.

    Refuses what that does not see: a mask, which would be ignored, and more columns than vectors
    of coefficients can have. Text is named by its place.
    """
    check_unmasked(X, "X")
    try:
        X = validate_data(
            estimator, X, reset=reset, accept_sparse=accept_sparse, dtype=dtype, **options
        )
    except ValueError as error:
        if "could not convert" not in str(error) or (found := first_text(X)) is None:
            raise
        row, column, text = found
        raise ValueError(
            f"X has the text {text!r} in row {row} of column {column!r}, and the model takes "
            "numbers: encode text and categories (OneHotEncoder or TargetEncoder, in a pipeline), "
            "or leave the column out."
        ) from error
    if issparse(X) and not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()  # an entry that is given in parts is their sum
    if reset:
        vectors = 8 * _VECTORS * X.shape[1]
        check_size(f"A model of {X.shape[1]} features", vectors, "select or hash features")
    return X


def linear_scores(X, coef, intercept):
    """X coef' + intercept, shape (n, d), equal for equal rows whatever else is in the batch.

    Equal documents must tie, and BLAS sums the last rows of a batch in another order: it is given
    blocks of one size, the last one filled up. A few outputs are summed row by row, by einsum, in
    blocks too, for it buffers longer sums by the batch. Sums are float64; where X and coef are
    float32, so are the scores.

    Raises
    ------
    ValueError
        If a score is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        scores = _products_with(X, coef) + intercept
        scores = scores.astype(np.result_type(X, coef), copy=False)
    if not np.all(np.isfinite(scores)):
        raise ValueError(
            f"The score of row {int(np.argmin(np.isfinite(scores).all(axis=1)))} of X overflows: "
            "its features are too large for the coefficients. Bring X to the scale of the rows in "
            "fit, and those to one scale (StandardScaler)."
        )
    return scores


def _products_with(X, coef):
    if issparse(X):
        return X @ coef.T
    scores = np.zeros((X.shape[0], len(coef)))
    if len(coef) >= _OUTPUTS_OF_BLAS:
        right, filled = np.ascontiguousarray(coef.T), np.zeros((_ROWS_OF_BLAS, X.shape[1]))
        as_it_is = X.dtype == np.float64 and X.flags.c_contiguous
        for rows in gen_batches(len(scores), _ROWS_OF_BLAS):
            n = rows.stop - rows.start
            if n == _ROWS_OF_BLAS and as_it_is:
                np.matmul(X[rows], right, out=scores[rows])
            else:
                filled[:n] = X[rows]
                scores[rows] = (filled @ right)[:n]
        return scores
    batches_of_columns = list(gen_batches(X.shape[1], _COLUMNS_AT_ONCE))  # slow to ask for
    for rows in gen_batches(len(scores), _ROWS_AT_ONCE):
        block = np.ascontiguousarray(X[rows], dtype=np.float64)
        for columns in batches_of_columns:
            scores[rows] += np.einsum("np,dp->nd", block[:, columns], coef[:, columns])
    return scores


def attribute_of_fitted(estimator, name):
    """An attribute of the one model inside, ``estimator_``; without one there is no attribute."""
    if "estimator_" not in vars(estimator):
        raise AttributeError(f"This {type(estimator).__name__} has no estimator_, so no {name}.")
    return getattr(estimator.estimator_, name)


class RankingMixin:
    """`score` and `rank` of whatever orders lists by a score.

    A subclass sets ``target_loss_``, ``n_lists_``, ``_has_qid_`` (whether fit was given query
    ids) and ``n_items_`` (None for documents) in fit, and defines ``_ranking_scores``.
    """

    target_loss_: RankingMeasure
    n_items_: int | None
    n_lists_: int
    _has_qid_: bool
    predict: Callable[..., np.ndarray]

    # With metadata routing the query ids are asked for without any set_*_request.
    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__partial_fit = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    def _ranking_scores(self, X, qid=None):
        """Scores to rank by, higher is better, shape (n_rows,) or (n_queries, r)."""
        return self.predict(X)

    def _grades(self, y):
        """Labels as the measure of the target loss takes them."""
        return y

    def score(
        self,
        X: MatrixLike,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Mean of the target loss's measure over the lists, greater is better.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Rows of documents, or one row per query for fixed items.
        y : array-like of shape (n_rows,), (n_queries, r) or (n_queries, r, r)
            Labels as in `fit`; a `ranking_target` carries its qid.
        sample_weight : array-like of shape (n_rows,), default=None
            A list has the mean weight of its rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; required if the model was fitted with ids.

        Returns
        -------
        float
            The measure in its own units (negative for losses such as "pd"). Lists on which it
            is undefined are left out; ``target_loss_.undefined`` if it is defined on none.
        """
        check_is_fitted(self)
        has_carried = carries_qid(y)
        y, qid = split_target(y, qid)
        if self.n_items_ is not None and one_label_per_row(y):
            raise ValueError(
                f"This model ranks {self.n_items_} fixed items: y must have the shape (n_queries, "
                f"{self.n_items_}), got {np.shape(y)}."
            )
        if has_carried and not self._has_qid_:
            raise lost_qid(f"this {type(self).__name__}")
        if qid is None and one_label_per_row(y) and self._has_qid_:
            raise ValueError(
                f"This {type(self).__name__} was fitted with query ids, and scoring rows without "
                "qid would rank them all as one list. Pass qid=..., or y as "
                "ranking_target(y, qid); for one single list pass qid=np.zeros(len(X)). A Pipeline "
                "or a search hands qid on with sklearn.set_config(enable_metadata_routing=True)."
            )
        scores = self._ranking_scores(X, qid=qid)
        return float(
            self.target_loss_.measure(self._grades(y), scores, qid=qid, sample_weight=sample_weight)
        )

    def rank(self, X: MatrixLike, *, qid: ArrayLike | None = None) -> Any:
        """Ranks of the items of each list, 1 = best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; required if the model was fitted with ids, else None ranks
            all rows as one list. Not for fixed items.

        Returns
        -------
        ndarray of int, shape (n_rows,) or (n_queries, r)
            Equal scores are ranked in the order of the rows.

        Raises
        ------
        ValueError
            If qid does not fit X, is missing after a fit with ids, or is given to a model of
            fixed items.
        """
        check_is_fitted(self)
        if qid is None and self._has_qid_:
            raise ValueError(
                f"This {type(self).__name__} was fitted with query ids, and rank without qid would "
                "rank all rows as one list. Pass qid=...; for one single list pass "
                "qid=np.zeros(len(X))."
            )
        scores = self._ranking_scores(X, qid=qid)
        if scores.ndim == 2:
            check_no_qid(qid)
            lists = RankingLists.equal(*scores.shape)
        else:
            lists = RankingLists.from_qid(qid, len(scores))
        flat = lists.group(scores.ravel())
        return lists.ungroup(ranks_from_scores(flat, lists)).reshape(scores.shape)


class Rows(NamedTuple):
    """Checked input of fit.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n, p)
    y : ndarray of shape (n,), (n, r) or (n, r, r)
    lists : RankingLists
        Of documents: the queries; else one list for each row.
    weights : ndarray of shape (n,)
    """

    X: object
    y: np.ndarray
    lists: RankingLists
    weights: np.ndarray


class BaseRanker(RankingMixin, RegressorMixin, BaseEstimator):
    """Base of the rankers that are regressors of scores with a `target_loss`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        try:
            loss = resolve_target_loss(self.target_loss)
        except (ValueError, TypeError):  # fit says what is wrong with it
            return tags
        tags.target_tags.positive_only = loss.labels != "any"
        # On labels of any scale: a threshold may make all items relevant, or none.
        tags.regressor_tags.poor_score = not loss.reaches_one or loss.labels == "binary"
        return tags

    def _read(self, X, y, qid, sample_weight, loss, *, reset=True, whole=True):
        """`Rows` of a batch as users give it, `whole` if no other batch follows."""
        y, qid = split_target(y, qid, X)
        y = read_labels(y, estimator=self)
        X = self._validate_X(X, reset=reset)
        if is_linear(getattr(self, "estimator", "ridge")):
            mean_square(X)  # refuses features out of range
        check_consistent_length(X, y)
        lists = lists_of(y, qid)
        warn_of_single_items(lists, stacklevel=4)
        weights = read_weights(sample_weight, len(y), whole=whole)
        loss.check_judged(y)
        if whole:
            check_items_judged(y, weights)
        return Rows(X, y, lists, weights)
