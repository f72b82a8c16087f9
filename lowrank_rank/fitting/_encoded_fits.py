"""Mixins of estimators that regress encoded targets, and `merge`."""

import math
from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import SetsParameters, attribute_of_fitted
from .._blocks import Blocks, EarlierLists, read_blocks
from ..lists._lists import bounded_blocks, plain, slices
from ..target_losses import PairwiseDisagreement
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    is_data_frame,
    is_finite,
    n_rows,
    refuse_range,
    take_rows,
)
from ..validation._kinds import arrive
from ..validation._labels import refuse_unjudged_item
from ..validation._parameters import all_or_nothing, fresh_fit, predictor, say
from ..validation._read import read_features, with_numbers
from ._any_regressor import (
    RegressorModel,
    document_trees,
    fit_centred_trees,
    fit_one,
    fits_of,
    forest_columns,
    item_forest,
    linear_model,
    resolved_estimator,
    seeded,
    weights_given,
    wraps,
)
from ._encoding import is_missing
from ._logistic import FractionalModel, fit_fractional, joined, shared_features
from ._ridge import (
    LinearModel,
    RidgeSums,
    chosen_solver,
    fit_lsqr,
    solve_gaps,
    solve_sums,
    sums_of,
)

_Model = TypeVar("_Model")


class FitsEncodedTargets(SetsParameters):
    """Fits by regression of encoded targets; `_keep` sets the fitted attributes."""

    estimator: Any
    alpha: Any
    tol: float
    max_iter: int
    n_jobs: Any
    random_state: Any
    verbose: Any
    n_iter_: int | None
    estimators_: list[Any]
    low_: np.ndarray
    high_: np.ndarray
    intercept_: float | np.ndarray
    #: Whether linear models take float32.
    _keeps_float32: ClassVar[bool] = False
    #: The tags of these trees are those of "trees"; of classes, the trees themselves.
    _trees: ClassVar[Any] = HistGradientBoostingRegressor()
    #: Whether other estimators get the data frame itself.
    _keeps_frames: ClassVar[bool] = False
    #: Fitted attributes that all blocks of rows must have in common.
    _shared: ClassVar[tuple[str, ...]] = ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        estimator = self._trees if self._has_trees() else self.estimator
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = False
        if predictor.accepts(estimator):  # else fit says what is wrong with it
            input_tags = get_tags(estimator).input_tags
            tags.input_tags.sparse = input_tags.sparse
            tags.input_tags.allow_nan = input_tags.allow_nan
        if tags.regressor_tags is not None and self._is_linear():
            needs_items = estimator == "logistic"
            tags.target_tags.multi_output = needs_items
            tags.target_tags.single_output = not needs_items
        return tags

    def _is_linear(self):
        """Whether the model is linear and one of this package."""
        return isinstance(self.estimator, str) and not self._has_trees()

    def _has_trees(self):
        return isinstance(self.estimator, str) and self.estimator == "trees"

    def _validate_X(self, X, *, reset):
        is_other = self._uses_other_estimator(reset)
        if is_other and self._keeps_frames and is_data_frame(X):
            if self._has_trees():
                X = with_numbers(X)
            return read_features(self, X, reset=reset, skip_check_array=True)
        dtype: Any = np.float64
        if self._keeps_float32 and not is_other:
            dtype = [np.float64, np.float32]
        finite: Any = True
        if is_other and self._allows_nan():
            finite = "allow-nan"
        return read_features(
            self, X, reset=reset, dtype=dtype, ensure_all_finite=finite
        )

    def _uses_other_estimator(self, reset):
        """Whether the model, or `estimator` before a fit, is not of this package."""
        model = None
        if not reset:
            model = getattr(self, "_model_", None)
            # A model of pairs wraps its regression.
            model = getattr(model, "model", model)
        if model is None:
            return not self._is_linear()
        return isinstance(model, RegressorModel)

    def _allows_nan(self):
        """Whether the estimator takes NaN; wrappers, which have no such tag, may."""
        wraps_another = not self._has_trees() and wraps(self.estimator)
        return get_tags(self).input_tags.allow_nan or wraps_another

    # Fitting ------------------------------------------------------------------------

    def _regress(self, rows, encoding, features=None):
        """Standardise `Data` and solve for their `Encoding`.

        The ``predict(X)`` of the model has the shape (n, d). `features` are the
        `shared_features` of logistic regression, if they are known.
        """
        X = rows.X
        weights = rows.weights
        n_targets = encoding.targets.shape[1]
        size = f"on {X.shape}, {n_targets} target(s)"
        limits = {"tol": self.tol, "max_iter": self.max_iter}

        estimator = resolved_estimator(self.estimator, encoding.kind)
        if estimator == "logistic":
            say(self, f"logistic regression {size}")
            return fit_fractional(
                rows, encoding, self.alpha, **limits, features=features
            )
        if estimator == "ridge":
            n_matrices = 1 if encoding.is_complete else n_targets
            solver = chosen_solver(X, n_targets, self.alpha, n_matrices)
            say(self, f"ridge by solver {solver!r} {size}")
            if solver == "lsqr":
                return fit_lsqr(rows, encoding, self.alpha, **limits)
            if not encoding.is_complete:
                return solve_gaps(rows, encoding, self.alpha)
            return solve_sums(self._sums_of(rows, encoding), self.alpha)

        if self._has_trees() and encoding.kind == "documents":
            say(self, f"boosted trees {size}")
            estimator = document_trees(X.shape[0])
            if encoding.codes is not None:
                trees = seeded(estimator, self.random_state)
                return RegressorModel([fit_centred_trees(trees, X, encoding, weights)])
        elif self._has_trees():
            X = forest_columns(X, self)
            estimator = item_forest(is_missing(rows, encoding))
        say(self, f"{type(estimator).__name__} {size}")
        targets = encoding.scaled_targets(weights)
        return self._fit_estimator(estimator, X, targets, weights)

    def _regress_in_parts(self, rows, n_targets, encoding_of):
        """Solve for d / 16 of the d targets at a time, or for d p / n of them.

        ``encoding_of(part)`` returns the `Encoding` of a slice of the targets. All
        estimators have the same parts: each part stops by itself.
        """
        n_samples, n_features = rows.X.shape
        share = max(1 / 16, n_features / n_samples)
        part_size = 64 * math.ceil(n_targets * share / 64)
        features = shared_features(rows)
        models = [
            self._regress(rows, encoding_of(part), features)
            for part in slices(n_targets, part_size)
        ]
        return joined(models)

    def _is_solved_in_parts(self, kind, n_targets):
        """Whether logistic regression of pairs has so many targets."""
        is_logistic = resolved_estimator(self.estimator, kind) == "logistic"
        return is_logistic and n_targets > 64

    def _sums_of(self, rows, encoding):
        """`RidgeSums` of `Data` and of their `Encoding` by this estimator."""
        shared = {name: getattr(self, name) for name in self._shared}
        return sums_of(rows, encoding, shared)

    def _fit_estimator(self, estimator, X, targets, weights):
        """Fit one regressor, or one for each coordinate, to plain targets."""
        estimator = seeded(estimator, self.random_state)
        has_weight = weights > 0
        targets = np.where(has_weight[:, np.newaxis], targets, np.nan_to_num(targets))
        # Pairs that nobody compares have the target 0.
        is_unknown = np.isnan(targets[has_weight]).all(axis=0)
        targets[:, is_unknown] = 0.0
        sample_weight = weights_given(estimator, weights)
        regressors = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(fit_one)(clone(estimator), *arguments)
            for arguments in fits_of(estimator, X, targets, sample_weight)
        )
        model = RegressorModel(regressors, n_targets=targets.shape[1])
        first_rows = take_rows(X, np.arange(n_rows(X))[:5])
        model.linear = linear_model(model, first_rows)
        return model

    def _fit_classifier(self, X, y, weights, encode):
        """Fit a classifier; the model predicts the expected vector of the class.

        A name in `estimator` means trees, the class variable `_trees`.
        ``encode(labels)`` returns the vectors of the classes, shape (n_labels, d).
        """
        estimator = self.estimator
        if isinstance(estimator, str):
            X = forest_columns(X, self)
            estimator = clone(self._trees).set_params(n_jobs=self.n_jobs)
        say(self, f"{type(estimator).__name__} on {X.shape}, as a classifier")
        classifier = seeded(estimator, self.random_state)
        fit_one(classifier, X, y, weights_given(classifier, weights))
        vectors = encode(classifier.classes_)
        return RegressorModel([classifier], n_targets=vectors.shape[1], vectors=vectors)

    def _keep(self, model, *, flat=None):
        """Set the fitted attributes of a model.

        `flat` drops the axis d = 1 of the coefficients; None does so for documents.
        """
        if flat is None:
            flat = getattr(self, "n_items_", 0) is None
        self._sums_: RidgeSums | None = getattr(model, "sums", None)
        linear = model
        if isinstance(model, LinearModel):
            if not (is_finite(model.coef) and is_finite(model.intercept)):
                refuse_range()
            model = model._replace(sums=None)
            self.solver_: str | None = model.solver
        if isinstance(model, FractionalModel):
            self.low_ = model.low
            self.high_ = model.high
        if isinstance(model, RegressorModel):
            linear = model.linear
            self.estimators_ = model.regressors
            if len(model.regressors) == 1:
                self.estimator_: Any = model.regressors[0]
        else:
            self.alpha_: float | None = model.alpha
        self._model_: Any = model
        self.n_iter_ = model.n_iter
        if linear is not None:
            self.coef_: np.ndarray = linear.coef
            self.intercept_ = linear.intercept
            if flat:
                self.coef_ = linear.coef[0]
                self.intercept_ = float(linear.intercept[0])

    # Prediction ---------------------------------------------------------------------

    def predict_surrogate(self, X: MatrixLike) -> np.ndarray:
        """Surrogate vectors u, the estimate of E[alpha(Y) | x].

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows, d)
            d is 1 for a ranker of documents: u of one item a row.
        """
        check_is_fitted(self)
        return self._model_.predict(self._validate_X(X, reset=False))

    @property
    def feature_importances_(self) -> np.ndarray:
        """Feature importances of `estimator_`, if it has any."""
        return attribute_of_fitted(self, "feature_importances_")

    def _by_blocks(self, X, n_entries, decode):
        """``decode(u)``, by blocks of rows: a row of u may have many numbers.

        `n_entries` is the number of entries of a row that is decoded.
        """
        X = self._validate_X(X, reset=False)
        blocks = bounded_blocks(n_rows(X), n_entries, max(2**17, 8 * n_entries))
        if len(blocks) <= 1:
            return decode(self._model_.predict(X))
        parts = (take_rows(X, rows) for rows in blocks)
        return np.concatenate([decode(self._model_.predict(part)) for part in parts])


# Blocks of rows -----------------------------------------------------------------------


def has_sums(estimator):
    """For `available_if`: whether the fit follows from sums that add up."""
    if estimator._has_sums():
        return True
    raise AttributeError(
        "partial_fit and fit_blocks add up the sums of ridge regression: set "
        f"estimator='ridge', got estimator={estimator.estimator!r}; or use fit."
    )


class AddsUp(FitsEncodedTargets):
    """Mixin of estimators whose ridge regression follows from sums over the rows.

    `partial_fit`, `fit_blocks`, `merge` and Dask read blocks of whole lists, add up
    their `RidgeSums` and solve. So the model is the one that `fit` finds on all rows.
    Rankers have ``_checked_loss()`` and ``_encode(rows, loss)``; other classes have
    their own `_read_block`.
    """

    _sums_: RidgeSums | None
    _checked_loss: Any
    _encode: Any
    _read: Any

    def _has_sums(self):
        return self.estimator in ("auto", "ridge")

    @available_if(has_sums)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> Any:
        """Add a block of whole lists; the model becomes the one of `fit` on all lists.

        Only for ridge regression: documents, or fixed items with
        ``estimator="ridge"``. Pairs of documents need ``pair_features="difference"``,
        or ``decoder="score"``. Memory does not grow with the rows.

        Parameters
        ----------
        X, y, qid, sample_weight, one_list
            As in `fit`. A list must be in one block: a block must not begin with the
            last id of the block before. A list that comes back later counts as a new
            list. Without qid each block is one list; blocks with and without ids cannot
            be mixed. `alpha` may change between calls, the target loss may not.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`. Also if a list is cut across two calls, there are too many
            features for the sums, or fixed items come without ``estimator="ridge"``.
            The model is unchanged then.
        """
        return self._add_block((X, y, qid, sample_weight), one_list=one_list)

    @available_if(has_sums)
    def fit_blocks(self, blocks: Iterable[Any], *, one_list: bool = False) -> Any:
        """Fit to blocks of whole lists, with one block at a time in memory.

        One pass over the blocks gives the same model as `fit` on all rows, up to
        rounding.

        Parameters
        ----------
        blocks : iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Arguments of `fit`, or None; `datasets.iter_lists` gives such blocks. A list
            must be in one block.
        one_list : bool, default=False
            Say that each block is one list; more than 200 rows without ids need it.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`. Also if there is no block, a list has rows in two blocks, there
            are too many features for the sums, or fixed items come without
            ``estimator="ridge"``. The model is unchanged then.
        """
        return self._fit_blocks(blocks, one_list=one_list)

    def _add_block(self, block, **options):
        """Run `partial_fit`, with further arguments of `_read_block`."""
        with all_or_nothing(self):
            earlier = getattr(self, "_sums_", None)
            if earlier is None and hasattr(self, "_model_"):
                raise ValueError(
                    "The model was fitted by an iterative solver, logistic regression "
                    "or an estimator, or fit got labels with gaps, which keeps no "
                    "sums: clone it and give all batches to partial_fit."
                )
            sums = self._sums_of_block(block, **options)
            if earlier is not None:
                sums = earlier + sums
            self._keep_sums(sums)
        return self

    def _fit_blocks(self, blocks, **options):
        """Run `fit_blocks`, with further arguments of `_read_block`."""
        earlier_lists = EarlierLists()
        with fresh_fit(self):
            sums = Blocks(read_blocks(blocks)).sum(
                lambda block: self._sums_of_block(block, earlier_lists, **options)
            )
            self._check_judged(sums)
            self._keep_sums(sums)
        return self

    def _sums_of_block(self, block, earlier_lists=None, **options):
        """`RidgeSums` of a block (X, y, qid, sample_weight).

        The first block sets the columns of X. This block must have no list of
        `earlier_lists`.
        """
        is_first = not hasattr(self, "n_features_in_")
        rows, encoding = self._read_block(*block, reset=is_first, **options)
        if encoding.kind == "items" and self.estimator == "auto":
            raise ValueError(
                "Batches of fixed items, y of shape (n_queries, r), are fitted by "
                "ridge regression: set estimator='ridge' (logistic regression needs "
                "all rows at once)."
            )
        if earlier_lists is not None:
            earlier_lists.add(rows.ids)
        return self._sums_of(rows, encoding)

    def _read_block(self, X, y, qid=None, sample_weight=None, *, reset, one_list=False):
        """Return the `Data` of a block and their `Encoding`."""
        loss = self._checked_loss()
        rows = self._read(
            X,
            y,
            qid,
            sample_weight,
            loss,
            reset=reset,
            whole=False,
            one_list=one_list,
        )
        return rows, self._encode(rows, loss)

    def _check_judged(self, sums):
        """Refuse fixed items without any label; a pair of items may have none."""
        if sums.kind != "items":
            return
        is_pairs = isinstance(sums.shared["target_loss_"], PairwiseDisagreement)
        if is_pairs and sums.shared["decoder_"] not in ("sort", "score"):
            return
        is_judged = sums.moments.total > 0
        if not is_judged.all():
            refuse_unjudged_item(f"Target {int(np.argmin(is_judged))}")

    def _keep_sums(self, sums):
        """Solve, and set the fitted attributes of the rows of the sums."""
        for name, value in sums.shared.items():
            setattr(self, name, value)
        if sums.kind != "classes":  # classes have no lists
            self.n_lists_ = sums.n_lists
            self._has_qid_ = sums.has_ids
        self._keep(solve_sums(sums, self.alpha))


def merge(models: Sequence[_Model]) -> _Model:
    """Merge models of parts of the rows into one model of all rows.

    The sums of ridge regression add up. So parts of the rows can be fitted on different
    machines, and the merged model is the one that `fit` finds on all rows. `fit` keeps
    no sums of fixed items with unknown labels: fit the parts by ``partial_fit``.

    Parameters
    ----------
    models : sequence of estimators
        `LowRankSurrogateRanker`, `LowRankSurrogateClassifier` or `PairwiseDAGRanker`
        with the same parameters. Each was fitted by ridge regression to other whole
        lists. Only the last id of a part and the first id of the next are compared: a
        list must be in one part.

    Returns
    -------
    estimator
        A new model with the parameters of the first one; the models do not change.

    Raises
    ------
    ValueError
        If there is no model, or a model comes twice. Also if models have the same rows,
        differ in class, parameters, features or labels, or have no sums.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from lowrank_rank import LowRankSurrogateRanker, merge
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ridge = LowRankSurrogateRanker(alpha=0.1)
    >>> one = clone(ridge).fit(X[:2], y[:2], qid=qid[:2])
    >>> two = clone(ridge).fit(X[2:], y[2:], qid=qid[2:])
    >>> both = clone(ridge).fit(X, y, qid=qid)
    >>> bool(abs(merge([one, two]).coef_ - both.coef_)[0] < 1e-12)
    True
    """
    arrive(models=models)
    models = list(models)
    if not models:
        raise ValueError("There are no models to merge: give at least one.")
    first: Any = models[0]
    for model in models:
        _check_mergeable(model, first)
    all_sums: list[RidgeSums] = [model._sums_ for model in models]  # type: ignore
    distinct = {sums.moments.as_bytes() for sums in all_sums}
    if len(distinct) < len(models):
        raise ValueError(
            "Two of the models have equal sums: they are the same model, or were "
            "fitted to the same rows, which would count twice. Give each part once."
        )
    merged = clone(first)
    for name in _COLUMNS:
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    sums = reduce(add, all_sums)
    merged._check_judged(sums)
    merged._keep_sums(sums)
    return merged


#: Attributes of the columns of X and y, which all models of `merge` have in common.
_COLUMNS = ("n_features_in_", "feature_names_in_", "item_names_")


def _check_mergeable(model, first):
    """Refuse models without sums, or of another class, parameters or columns."""
    has_blocks = isinstance(model, AddsUp) and model._has_sums()
    is_one_class = type(model) is type(first)
    if is_one_class and not has_blocks and hasattr(model, "fit_blocks"):
        name = type(model).__name__
        raise ValueError(
            f"The models of {name} have no sums that add up: {name}(...).fit_blocks("
            "blocks) fits one model to the parts."
        )
    if not has_blocks or not is_one_class:
        raise ValueError(
            "merge takes models of one class whose sums add up "
            "(LowRankSurrogateRanker, LowRankSurrogateClassifier, PairwiseDAGRanker), "
            f"got {model!r} and {first!r}."
        )
    check_is_fitted(model)
    if _parameters_in_words(model) != _parameters_in_words(first):
        raise ValueError(f"merge needs equal parameters, got {model!r} and {first!r}.")
    for name in _COLUMNS:
        expected = getattr(first, name, [])
        actual = getattr(model, name, [])
        if not np.array_equal(expected, actual):
            raise ValueError(
                f"merge takes models of the same columns: {name} is {expected} and "
                f"{actual}."
            )
    if model._sums_ is None:
        raise ValueError(
            f"{model!r} has no sums: iterative solvers, logistic regression, "
            "estimators, some pair features and fit to labels with gaps do not keep "
            "them. Give the parts to partial_fit of models with estimator='ridge'."
        )


def _parameters_in_words(model):
    return repr({name: plain(value) for name, value in model.get_params().items()})
