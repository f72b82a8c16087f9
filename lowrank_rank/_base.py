"""Base of the estimators: reading rows, linear scores, score and ranks."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils.validation import check_is_fitted

from ._tables import pandas_for
from ._version import __version__
from .lists._lists import RankingLists, slices
from .lists._ranks import ranks_from_scores
from .target_losses._names import resolve_measure
from .target_losses._target_loss import (
    RankingMeasure,
    mean_of_data,
    mean_of_random_order,
    random_mean_of_data,
)
from .validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_same_index,
    is_finite,
    take_rows,
)
from .validation._check import refuse
from .validation._checks_of_features import CHECKS_OF_INDEX
from .validation._checks_of_labels import CHECKS_OF_SCORED_ROWS
from .validation._checks_of_models import CHECKS_OF_KEYWORDS
from .validation._classes import read_binary_labels
from .validation._findings import Finding, emit, reports
from .validation._ids import read_lists
from .validation._kinds import arrive
from .validation._labels import check_one_list
from .validation._parameters import say
from .validation._read import check_scored_rows, read, read_features, read_to_score

# Saved models -----------------------------------------------------------------------


class RemembersVersion:
    """Mixin of models that are saved with the version of this package.

    Loading under another minor version warns, as scikit-learn does for its own models.
    The digests of the fitted queries are not saved.
    """

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        state = {**state, "_lowrank_rank_version": __version__}
        state.pop("_fitted_lists_", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        saved = state.pop("_lowrank_rank_version", "unknown")
        if _minor(saved) != _minor(__version__):
            warning = InconsistentVersionWarning(
                estimator_name=f"{type(self).__name__} of lowrank_rank",
                current_sklearn_version=__version__,
                original_sklearn_version=saved,
            )
            emit([Finding("saved version", warning, InconsistentVersionWarning)])
        super().__setstate__(state)  # type: ignore[misc]


def _minor(version):
    """Major and minor number of a version."""
    return version.split(".")[:2]


# Arguments --------------------------------------------------------------------------


def _with_hints(method):
    """Wrap a method, so that the error for another package's argument names ours."""
    parameters = signature(method).parameters
    n_positional = sum(
        parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        for parameter in parameters.values()
    )

    @wraps(method)
    def call(self, *args, **kwargs):
        unknown = kwargs.keys() - parameters.keys()
        if unknown or len(args) >= n_positional:
            refuse(
                CHECKS_OF_KEYWORDS,
                model=self,
                method=method.__name__,
                takes_qid="qid" in parameters,
                n_given=len(args),
                n_positional=n_positional,
                names=sorted(unknown),
            )
        return method(self, *args, **kwargs)

    return call


def check_no_qid(qid):
    """Refuse query ids for a model of fixed items."""
    if qid is not None:
        raise ValueError(
            "This model ranks the same items in every row of X; it takes no qid."
        )


# Linear scores ----------------------------------------------------------------------


def linear_scores(X, coef, intercept):
    """Compute X coef' + intercept, shape (n, d), equal for equal rows of any X.

    Refuses scores that overflow. Sums of dense X are float64; scores are float32 if X
    and coef are.
    """
    n_outputs = len(coef)
    scores = np.empty((X.shape[0], n_outputs), np.result_type(X, coef))
    intercept = np.zeros(n_outputs) + intercept
    # With many outputs X may have few rows, and blocks of rows are small.
    rows_per_block = 128 if n_outputs <= 1024 else 8
    for outputs in slices(n_outputs, 1024):
        with np.errstate(over="ignore", invalid="ignore"):
            products = _products(X, coef[outputs], rows_per_block)
            scores[:, outputs] = products + intercept[outputs]
    if not is_finite(scores):
        row = int(np.argmin(np.isfinite(scores).all(axis=1)))
        raise ValueError(
            f"The score of row {row} of X overflows: its features are too large for "
            "the coefficients. Scale X as in fit (StandardScaler)."
        )
    return scores


def _products(X, coef, rows_per_block):
    """Compute X coef', with equal products for equal rows.

    Equal documents must tie, but BLAS sums the last rows of a matrix in another order.
    So all blocks have the same number of rows, the last one padded, and at least 8
    outputs.
    """
    if issparse(X):
        return X @ coef.T
    n_rows, n_features = X.shape
    n_outputs = len(coef)
    padded_coef = np.zeros((n_features, max(n_outputs, 8)))
    padded_coef[:, :n_outputs] = coef.T
    block = np.zeros((rows_per_block, n_features))
    products = np.empty((n_rows, n_outputs))
    for rows in slices(n_rows, rows_per_block):
        n_filled = rows.stop - rows.start
        block[:n_filled] = X[rows]
        products[rows] = (block @ padded_coef)[:n_filled, :n_outputs]
    return products


def attribute_of_fitted(estimator, name):
    """Return an attribute of ``estimator_``, if the estimator has one."""
    if "estimator_" not in vars(estimator):
        raise AttributeError(
            f"This {type(estimator).__name__} has no estimator_, so no {name}."
        )
    return getattr(estimator.estimator_, name)


def refuse_importances(estimator):
    """Raise an error that names the function for importances instead."""
    raise AttributeError(
        f"{type(estimator).__name__} has no feature_importances_: call lowrank_rank."
        "model_selection.query_permutation_importance(ranker, X, y, qid=qid)."
    )


# Rankers ----------------------------------------------------------------------------


class SetsParameters(RemembersVersion):
    """Mixin of estimators whose parameters may be names, or objects with parameters."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters, also those of objects: ``target_loss__k=5``.

        Parameters
        ----------
        **params : dict
            Names of `get_params`, and values. A parameter that is a name ("map") has no
            parameters of its own; pass the object.

        Returns
        -------
        self
            The estimator.
        """
        for name in params:
            outer, _, inner = name.partition("__")
            value = params.get(outer, getattr(self, outer, None))
            if inner and isinstance(value, str):
                _refuse_parameter_of_name(outer, value, inner)
        # The class that mixes this in is an estimator.
        return super().set_params(**params)  # type: ignore[misc]


def _refuse_parameter_of_name(outer, value, inner):
    """Refuse ``outer__inner`` where `outer` is a name, and write the object if any."""
    example = ""
    if outer == "target_loss":
        try:
            loss = resolve_measure(value)
        except ValueError:  # fit says what is wrong with the name
            loss = None
        if loss is not None and inner in loss.get_params():
            example = f", such as {outer}={loss!r}"
    raise ValueError(
        f"{outer}__{inner}: {outer} is a name, {value!r}, which has no parameters. "
        f"Pass the object{example}."
    )


class BaseRanker(SetsParameters):
    """Mixin of everything that orders lists by a score: reading, `score` and `rank`.

    A subclass has ``target_loss``. Its fit sets ``target_loss_``, ``n_lists_``,
    ``_has_qid_`` (whether fit got query ids) and ``n_items_`` (None for documents).
    """

    target_loss: Any

    target_loss_: RankingMeasure
    n_items_: int | None
    n_lists_: int
    _has_qid_: bool
    fit: Callable[..., Any]
    predict: Callable[..., np.ndarray]

    # Metadata routing requests the query ids by default.
    __metadata_request__fit = {"qid": True, "one_list": True}  # noqa: RUF012
    __metadata_request__partial_fit = {"qid": True, "one_list": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "one_list": True}  # noqa: RUF012

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in {"__init__", "fit"} & vars(cls).keys():
            setattr(cls, name, _with_hints(vars(cls)[name]))

    def _validate_X(self, X, *, reset):
        return read_features(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _is_linear(self):
        """Whether the model is linear and one of this package.

        Then its features enter sums of squares.
        """
        return True

    def _checked_loss(self):
        """Return a copy of the target loss as an object; refuse unknown ones."""
        return resolve_measure(self.target_loss, copied=True)

    def _ranking_scores(self, X, qid=None):
        """Compute scores to rank by, shape (n_rows,) or (n_queries, r)."""
        return self.predict(X)

    def _grades(self, y, *, one_list):
        """Return labels for the measure of the target loss."""
        return y

    @reports
    def score(
        self,
        X: MatrixLike,
        y: MatrixLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        one_list: bool = False,
    ) -> float:
        """Compute the mean of the target loss's measure over the lists.

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
        one_list : bool, default=False
            Rank all rows as one list, as after ``fit(..., one_list=True)``. More than
            200 rows without ids need one of the two.

        Returns
        -------
        float
            The measure in its own units (negative for losses such as "pd"), greater is
            better. Lists without a value are skipped; without any value the score is
            ``target_loss_.undefined``.
        """
        check_is_fitted(self)
        if issparse(y):
            return self._score_sparse(X, y, qid, sample_weight)
        data, qid = read_to_score(self, X, y, qid, sample_weight, one_list)
        scores = self._ranking_scores(X, qid=qid)
        value = mean_of_data(self.target_loss_, data, scores)
        if getattr(self, "verbose", 0):
            self._say_score(value, random_mean_of_data(self.target_loss_, data))
        return value

    def _score_sparse(self, X, y, qid, sample_weight):
        """Compute the score of sparse labels, a few rows at a time."""
        arrive(X=X, qid=qid, sample_weight=sample_weight)
        check_same_index(X=X, sample_weight=sample_weight)
        check_scored_rows(self, y, qid, is_carried=False, one_list=False)

        def scores_of(rows):
            return self._ranking_scores(take_rows(X, rows))

        value = self.target_loss_.measure(
            y, scores_of, qid=qid, sample_weight=sample_weight
        )
        if getattr(self, "verbose", 0):
            random_order = mean_of_random_order(
                self.target_loss_, y, qid, sample_weight
            )
            self._say_score(value, random_order)
        return float(value)

    def _say_score(self, value, random_order):
        """Print the score beside that of a random order."""
        words = f"{value:.4g}, random order {random_order:.4g}"
        say(self, f"{self.target_loss_!r} {words}")

    def rank(
        self,
        X: MatrixLike,
        *,
        qid: ArrayLike | None = None,
        one_list: bool = False,
        as_frame: bool = False,
    ) -> Any:
        """Rank the items of each list, 1 = best.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; required if the model was fitted with ids, else
            None ranks all rows as one list. Not for fixed items.
        one_list : bool, default=False
            Rank all rows as one list of documents, as in a service that answers one
            query at a time, without qid.
        as_frame : bool, default=False
            Whether to name the ranks by the index of X: a Series "rank" of documents,
            or a frame of fixed items with a column for each. It is an argument of the
            call, as in scikit-learn's loaders; ``set_output`` is for transformers, and
            predictions of scikit-learn stay arrays.

        Returns
        -------
        ndarray of int, shape (n_rows,) or (n_queries, r), or Series or DataFrame
            Equal scores are ranked in the order of the rows. Fixed items have the order
            of the columns of y, with names in ``item_names_`` if y is a frame.

        Raises
        ------
        ValueError
            If qid does not fit X, is missing after a fit with ids, or comes with a
            model of fixed items or with ``one_list=True``; or if X has no index for
            ``as_frame=True``.
        """
        check_is_fitted(self)
        if as_frame:
            refuse(CHECKS_OF_INDEX, X=X)
        arrive(X=X, qid=qid)
        check_same_index(X=X, qid=qid)
        check_one_list(one_list, qid=qid, n_items=self.n_items_)
        if qid is None and self._has_qid_ and not one_list:
            refuse(CHECKS_OF_SCORED_ROWS, model=self, has_ids_in_fit=True)
        ranks = self._ranks(X, qid)
        if as_frame:
            return self._named_ranks(ranks, X)
        return ranks

    def _named_ranks(self, ranks, X):
        """Name the ranks by the index of X, and by the items."""
        pandas = pandas_for("as_frame=True")
        if ranks.ndim == 1:
            return pandas.Series(ranks, index=X.index, name="rank")
        items = getattr(self, "item_names_", None)
        return pandas.DataFrame(ranks, index=X.index, columns=items)

    def _ranks(self, X, qid):
        """Return the ranks of the scores, in the shape of `rank`."""
        scores = self._ranking_scores(X, qid=qid)
        if scores.ndim == 2:
            check_no_qid(qid)
            lists = RankingLists.equal(*scores.shape)
        else:
            lists = read_lists(qid, len(scores))
        flat = lists.group(scores.ravel())
        return lists.ungroup(ranks_from_scores(flat, lists)).reshape(scores.shape)

    def __sklearn_tags__(self) -> Any:
        # The class that mixes this in has tags.
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        if tags.regressor_tags is None:
            return tags
        try:
            loss = resolve_measure(self.target_loss)
        except (ValueError, TypeError):  # fit says what is wrong with it
            return tags
        tags.target_tags.positive_only = loss.labels != "any"
        # A threshold may make all items relevant, or none.
        tags.regressor_tags.poor_score = not loss.reaches_one or loss.labels == "binary"
        return tags

    def _read(
        self,
        X,
        y,
        qid,
        sample_weight,
        loss,
        *,
        reset=True,
        whole=True,
        one_list=False,
    ):
        """Read the `Data` of a fit: the `whole` of the rows, or one block of them."""
        return read(
            self,
            X,
            y,
            qid,
            sample_weight,
            loss,
            reset=reset,
            whole=whole,
            one_list=one_list,
        )

    def _set_lists(self, rows, loss):
        """Set the fitted attributes of a target loss and the lists of `Data`."""
        self.target_loss_ = loss
        self.n_lists_ = rows.n_lists
        self.n_items_ = rows.y.shape[1] if rows.y.ndim > 1 else None
        self._has_qid_ = rows.ids is not None


class LinearRanker(BaseRanker):
    """Mixin of rankers with scores ``X coef' + intercept``."""

    coef_: np.ndarray
    intercept_: float | np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict scores; the score of a row does not depend on the other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Scores: the larger, the better the row or item.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        coef = np.atleast_2d(self.coef_)
        intercept = np.atleast_1d(self.intercept_)
        scores = linear_scores(X, coef, intercept)
        return scores[:, 0] if self.n_items_ is None else scores

    def _keep_linear(self, coef, intercept):
        """Set `coef_` and `intercept_`; documents have a single output, and no axis."""
        self.coef_ = coef
        self.intercept_ = intercept
        if self.n_items_ is None:
            self.coef_ = coef[0]
            self.intercept_ = float(intercept[0])


class BinaryRanker(BaseRanker):
    """Mixin of linear classifiers that put the positive class of two at the top."""

    classes_: np.ndarray
    pos_label_: Any
    coef_: np.ndarray
    intercept_: np.ndarray

    @property
    def n_items_(self):  # type: ignore[override]
        """None: rows are documents, never fixed items."""
        if not hasattr(self, "classes_"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Compute scores minus the threshold: above 0 is ``classes_[1]``.

        If the positive class is ``classes_[0]``, its scores are the negatives of these.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Scores for ``classes_[1]``: `predict` takes those above 0.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        return linear_scores(X, self.coef_, self.intercept_)[:, 0]

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict classes, with about the fraction of positives of the training rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels from ``classes_``.
        """
        is_second = self.decision_function(X) > 0
        return self.classes_[is_second.astype(int)]

    def _sign(self):
        """-1 if the positive class is the first class, else 1."""
        return 1 if self.pos_label_ == self.classes_[1] else -1

    def _ranking_scores(self, X, qid=None):
        return self._sign() * self.decision_function(X)

    def _grades(self, y, *, one_list):
        positive, _, _ = read_binary_labels(y, self.classes_, self.pos_label_, self)
        return positive.astype(float)
