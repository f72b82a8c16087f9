"""Mixins of estimators that regress encoded targets; models merged from parts of the rows."""

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, ClassVar, cast

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import MatrixLike, is_data_frame, is_finite, out_of_range, plain
from .._base import attribute_of_fitted, read_features
from .._blocks import check_new_lists, read_blocks
from .._parameters import all_or_nothing, fresh_fit, predictor
from ._any_regressor import RegressorModel, is_linear, named_regressor, wraps
from ._logistic import FractionalModel
from ._ridge import LinearModel, Sums

_COLUMNS = ("n_features_in_", "feature_names_in_", "item_names_")


def adds_up(estimator):
    """For `available_if`: whether fits add up over batches."""
    if estimator._adds_up():
        return True
    raise AttributeError(
        "partial_fit and fit_blocks add up the sums of ridge regression: set estimator='ridge', "
        f"got estimator={estimator.estimator!r}; or use fit."
    )


class RegressionMixin:
    """Fits by regression of encoded targets; `_keep` sets the fitted attributes of the model."""

    estimator: Any
    _keeps_float32: ClassVar[bool] = False  # linear models take float32
    _n_documents: ClassVar[int | None] = 0  # "trees" are a forest if None
    _keeps_frames: ClassVar[bool] = False  # other estimators get the data frame itself

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class that mixes this in
        estimator = named_regressor(self.estimator, self._n_documents)
        known = predictor.accepts(estimator)  # else fit says what is wrong with it
        base = get_tags(estimator).input_tags if known else None
        tags.input_tags.sparse = True if base is None else base.sparse
        tags.input_tags.allow_nan = False if base is None else base.allow_nan
        if tags.regressor_tags is not None and isinstance(estimator, str):
            needs_items = estimator == "logistic"
            tags.target_tags.multi_output = needs_items
            tags.target_tags.single_output = not needs_items
        return tags

    def _is_linear(self):
        return is_linear(self.estimator)

    def predict_surrogate(self, X: MatrixLike) -> np.ndarray:
        """Surrogate vectors u, the estimate of E[alpha(Y) | x].

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

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

    def _validate_X(self, X, *, reset):
        model = None if reset else getattr(self, "_model_", None)
        model = getattr(model, "model", model)  # a model of pairs wraps its regression
        fitted = model is not None
        other = isinstance(model, RegressorModel) if fitted else not is_linear(self.estimator)
        if other and self._keeps_frames and is_data_frame(X):
            return read_features(self, X, reset=reset, skip_check_array=True)
        allows_nan = other and (
            get_tags(self).input_tags.allow_nan or wraps(named_regressor(self.estimator))
        )
        return read_features(
            self,
            X,
            reset=reset,
            dtype=[np.float64, np.float32] if self._keeps_float32 and not other else np.float64,
            ensure_all_finite="allow-nan" if allows_nan else True,
        )

    def _keep(self, model, *, flat=False):
        """Set the fitted attributes of a model; `flat` drops the axis d = 1 of documents."""
        self._sums_ = getattr(model, "sums", None)
        if isinstance(model, LinearModel):
            if not (is_finite(model.coef) and is_finite(model.intercept)):
                raise out_of_range()
            model = model._replace(sums=None)
            self.solver_ = model.solver
        self._model_: Any = model
        linear, self.n_iter_ = model, model.n_iter
        if isinstance(model, RegressorModel):
            self.estimators_, linear = model.regressors, model.linear
            if len(model.regressors) == 1:
                self.estimator_ = model.regressors[0]
        else:
            self.alpha_ = model.alpha
        if isinstance(model, FractionalModel):
            self.low_, self.high_ = model.low, model.high
        if linear is not None:
            self.coef_ = linear.coef[0] if flat else linear.coef
            self.intercept_ = float(linear.intercept[0]) if flat else linear.intercept


class BatchesMixin(RegressionMixin):
    """Regression that is fitted batch by batch with ridge.

    A class defines ``_batch_of(block, reset, ...)``, which makes an `EncodedBatch` of a `Block`,
    and ``_adopt(batch, model)``, which sets the fitted attributes and calls `_keep`.
    """

    alpha: Any
    _batch_of: Any
    _adopt: Any

    def _adds_up(self):
        return self.estimator in ("auto", "ridge")

    @available_if(adds_up)
    def fit_blocks(self, blocks: Iterable) -> "BatchesMixin":
        """Fit to blocks of whole lists, with one block at a time in memory.

        One pass over the blocks gives the same model as `fit` on all rows, up to rounding.

        Parameters
        ----------
        blocks : iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Arguments of `fit`, or None; `datasets.iter_lists` gives such blocks. A list must be in
            one block.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`. Also if there is no block, a list has rows in two blocks, there are too
            many features for the sums, or fixed items come without ``estimator="ridge"``. The model
            is unchanged then.
        """
        return self._fit_blocks(blocks)

    def _fit_blocks(self, blocks, **known):
        """Run `fit_blocks`, with further arguments of `_batch_of`."""
        with fresh_fit(self):
            sums, ids = None, set[Any]()
            for block in read_blocks(blocks):
                batch = self._batch_of(block, reset=sums is None, **known)
                check_new_lists(None if batch.lists is None else batch.lists.ids, ids)
                now = self._sums_of(batch)
                sums = now if sums is None else sums + now
            if sums is None:
                raise ValueError("There are no blocks: at least one row is needed.")
            sums.check_items_judged()
            self._adopt(sums.batch, sums.solve(self.alpha))
        return self

    def _partial_fit(self, block, **known):
        """Add a batch to the sums and solve, with further arguments of `_batch_of`."""
        before = getattr(self, "_sums_", None)
        if before is None and hasattr(self, "_model_"):
            raise ValueError(
                "The model was fitted by an iterative solver, logistic regression or an estimator, "
                "which keeps no sums: clone it and give all batches to partial_fit."
            )
        with all_or_nothing(self):
            now = self._sums_of(self._batch_of(block, reset=before is None, **known))
            sums = now if before is None else before + now
            self._adopt(sums.batch, sums.solve(self.alpha))
        return self

    def _sums_of(self, batch):
        """`Sums` of an `EncodedBatch`; refuses batches that only `fit` can take."""
        if issparse(batch.targets):
            raise ValueError(
                "partial_fit and fit_blocks need a dense y, y.toarray(): a sparse y goes to fit."
            )
        if batch.kind == "items" and self.estimator == "auto":
            raise ValueError(
                "Batches of fixed items, y of shape (n_queries, r), are fitted by ridge "
                "regression: set estimator='ridge'. With estimator='auto' fit takes logistic "
                "regression, which needs all rows at once."
            )
        return Sums.of(batch)


def merge(models: Sequence[BaseEstimator]) -> BaseEstimator:
    """Merge models of parts of the rows into one model of all rows.

    The sums of ridge regression add up. So parts of the rows can be fitted on different machines,
    and the merged model is the one that `fit` finds on all rows.

    Parameters
    ----------
    models : sequence of estimators
        `LowRankSurrogateRanker`, `LowRankSurrogateClassifier` or `PairwiseDAGRanker` with the same
        parameters. Each was fitted by ridge regression to other whole lists. Only the last id of a
        part and the first id of the next are compared: a list must be in one part.

    Returns
    -------
    estimator
        A new model with the parameters of the first one; the models do not change.

    Raises
    ------
    ValueError
        If there is no model, or a model comes twice. Also if models have the same rows, differ in
        class, parameters, features or labels, or have no sums.

    Examples
    --------
    >>> from sklearn.base import clone
    >>> from lowrank_rank import LowRankSurrogateRanker, merge
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ridge = LowRankSurrogateRanker(alpha=0.1)
    >>> parts = [clone(ridge).fit(X[i : i + 2], y[i : i + 2], qid=qid[i : i + 2]) for i in (0, 2)]
    >>> both = clone(ridge).fit(X, y, qid=qid)
    >>> bool(abs(merge(parts).coef_ - both.coef_)[0] < 1e-12)
    True
    """
    models = [cast(Any, model) for model in models]
    if not models:
        raise ValueError("There are no models to merge: give at least one.")
    first: Any = models[0]
    for model in models:
        _check_merges(first, model)
    names = ("total", "x_mean", "t_mean", "gram", "cross")
    keys = [b"".join(getattr(m._sums_.moments, n).tobytes() for n in names) for m in models]
    if len(set(keys)) < len(keys):
        raise ValueError(
            "Two of the models have equal sums: they are the same model, or were fitted to "
            "the same rows, which would count twice. Give each part once."
        )
    sums = reduce(add, [model._sums_ for model in models])
    merged = clone(first)
    for name in _COLUMNS:
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    merged._adopt(sums.batch, sums.solve(merged.alpha))
    return merged


def _check_merges(first: Any, model: Any) -> None:
    adds = isinstance(model, BatchesMixin)
    if not adds or type(model) is not type(first):
        raise ValueError(
            "merge takes models of one class whose sums add up (LowRankSurrogateRanker, "
            f"LowRankSurrogateClassifier, PairwiseDAGRanker), got {model!r} and {first!r}."
        )
    check_is_fitted(model)
    one, two = (
        repr({name: plain(value) for name, value in each.get_params().items()})
        for each in (model, first)
    )
    if one != two:
        raise ValueError(f"merge needs models of equal parameters, got {model!r} and {first!r}.")
    for name in _COLUMNS:
        one, two = (getattr(each, name, []) for each in (first, model))
        if not np.array_equal(one, two):
            raise ValueError(f"merge takes models of the same columns: {name} is {one} and {two}.")
    if getattr(model, "_sums_", None) is None:
        raise ValueError(
            f"{model!r} has no sums: it was fitted by an iterative solver, an estimator, logistic "
            "regression, or to pair features that do not add up. Fit the parts by partial_fit with "
            "estimator='ridge'."
        )
