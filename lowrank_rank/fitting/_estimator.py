"""Mixins of estimators that regress encoded targets; models merged from parts of the rows."""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, ClassVar, TypeVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestClassifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import (
    ArrayLike,
    MatrixLike,
    is_data_frame,
    is_finite,
    n_rows,
    plain,
    refuse_dates,
    refuse_range,
    take_rows,
)
from .._base import attribute_of_fitted, read_features
from .._blocks import (
    Blocks,
    check_has_ids,
    check_new_lists,
    read_blocks,
    refuse_cut_list,
)
from .._labels import refuse_unjudged_item
from .._lists import bounded_blocks
from .._parameters import all_or_nothing, fresh_fit, predictor, say
from ..target_losses import PairwiseDisagreement
from ._any_regressor import (
    RegressorModel,
    document_trees,
    fit_centred_trees,
    fit_one,
    fits_of,
    forest_columns,
    item_forest,
    linear_model,
    route_of,
    seeded,
    weights_given,
    wraps,
)
from ._encoding import is_missing
from ._logistic import FractionalModel, fit_fractional
from ._ridge import LinearModel, chosen_solver, fit_lsqr, solve_sums, sums_of
from ._statistics import SecondMoments

_Model = TypeVar("_Model")

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
    """Fits by regression of encoded targets; `_keep` sets the fitted attributes of the model.

    A class whose batches add up has ``_read_batch(X, y, qid, sample_weight,
    reset=...)``, which sets the fitted attributes that follow from the labels, and
    returns `Rows` and an `Encoding`. In rankers it calls ``_checked_loss()`` and
    ``_encode(rows, loss)``.
    """

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
    _shared: ClassVar[
        tuple[str, ...]
    ] = ()  # attributes that all batches of a model share
    _averaged: ClassVar[
        tuple[str, ...]
    ] = ()  # fitted attributes that are means over rows
    _keeps_float32: ClassVar[bool] = False  # linear models take float32
    _trees: ClassVar[Any] = (
        HistGradientBoostingRegressor()
    )  # their tags are those of "trees"
    _keeps_frames: ClassVar[bool] = False  # other estimators get the data frame itself
    _checked_loss: Any
    _encode: Any
    _read: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class that mixes this in
        estimator = self._trees if self._has_trees() else self.estimator
        is_accepted = predictor.accepts(
            estimator
        )  # else fit says what is wrong with it
        base = get_tags(estimator).input_tags if is_accepted else None
        tags.input_tags.sparse = True if base is None else base.sparse
        tags.input_tags.allow_nan = False if base is None else base.allow_nan
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

    def _adds_up(self):
        return self.estimator in ("auto", "ridge")

    def _regress(self, rows, encoding):
        """The model of `Rows` and their `Encoding`: standardises and solves.

        Its ``predict(X)`` has the shape (n, d).
        """
        estimator, route = self.estimator, route_of(self.estimator, encoding.kind)
        X, targets, weights = rows.X, encoding.targets, rows.weights
        what = f"on {X.shape}, {targets.shape[1]} target(s)"
        if route == "forest":
            X, estimator = (
                forest_columns(X, self),
                item_forest(is_missing(rows, encoding)),
            )
        elif route == "boosted":
            say(self, f"boosted trees {what}")
            estimator = document_trees(X.shape[0])
            if encoding.codes is not None:
                trees = seeded(estimator, self.random_state)
                return RegressorModel([fit_centred_trees(trees, X, encoding, weights)])
        if not isinstance(estimator, str):
            say(self, f"{type(estimator).__name__} {what}")
            return self._fit_estimator(
                estimator, X, encoding.scaled_targets(weights), weights
            )
        limits = {"tol": self.tol, "max_iter": self.max_iter}
        if route == "logistic":
            say(self, f"logistic regression {what}")
            return fit_fractional(rows, encoding, self.alpha, **limits)
        d = targets.shape[1]
        solver = chosen_solver(X, d, self.alpha, 1 if is_finite(targets) else d)
        say(self, f"ridge by solver {solver!r} {what}")
        if solver == "lsqr":
            return fit_lsqr(rows, encoding, self.alpha, **limits)
        return solve_sums(sums_of(rows, encoding), self.alpha)

    def _fit_estimator(self, estimator, X, targets, weights):
        """Fit one regressor, or one for each coordinate, to plain targets."""
        estimator = seeded(estimator, self.random_state)
        targets = np.where(weights[:, np.newaxis] > 0, targets, np.nan_to_num(targets))
        targets[:, np.isnan(targets[weights > 0]).all(axis=0)] = (
            0.0  # pairs that nobody compares
        )
        regressors = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(fit_one)(clone(estimator), *given)
            for given in fits_of(
                estimator, X, targets, weights_given(estimator, weights)
            )
        )
        model = RegressorModel(regressors, None, targets.shape[1])
        return model._replace(
            linear=linear_model(model, take_rows(X, np.arange(n_rows(X))[:5]))
        )

    def _fit_classifier(self, X, y, weights, encode):
        """Fit a classifier; the model predicts the expected vector of the class.

        "trees" are a random forest. ``encode(labels)`` returns the vectors of the
        classes, shape (n_labels, d).
        """
        estimator = self.estimator
        if isinstance(estimator, str):
            X, estimator = forest_columns(X, self), RandomForestClassifier()
        say(self, f"{type(estimator).__name__} on {X.shape}, as a classifier")
        classifier = seeded(estimator, self.random_state)
        fit_one(classifier, X, y, weights_given(classifier, weights))
        vectors = encode(classifier.classes_)
        return RegressorModel([classifier], n_targets=vectors.shape[1], vectors=vectors)

    def _read_batch(self, X, y, qid=None, sample_weight=None, *, reset):
        loss = self._checked_loss()
        rows = self._read(X, y, qid, sample_weight, loss, reset=reset, whole=False)
        return rows, self._encode(rows, loss)

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

    def _by_blocks(self, X, entries, decode):
        """``decode(u)``, in blocks of rows: u may have many numbers, `entries`, in a row."""
        X = self._validate_X(X, reset=False)
        blocks = bounded_blocks(n_rows(X), entries, max(2**17, 8 * entries))
        parts = (take_rows(X, some) for some in blocks) if len(blocks) > 1 else [X]
        return np.concatenate([decode(self._model_.predict(part)) for part in parts])

    def _validate_X(self, X, *, reset):
        model = None if reset else getattr(self, "_model_", None)
        model = getattr(model, "model", model)  # a model of pairs wraps its regression
        fitted = model is not None
        other = isinstance(model, RegressorModel) if fitted else not self._is_linear()
        if other and self._keeps_frames and is_data_frame(X):
            if self._has_trees():
                refuse_dates(X)
            return read_features(self, X, reset=reset, skip_check_array=True)
        allows_nan = other and (
            get_tags(self).input_tags.allow_nan
            or (not self._has_trees() and wraps(self.estimator))
        )
        dtype = (
            [np.float64, np.float32]
            if self._keeps_float32 and not other
            else np.float64
        )
        finite = "allow-nan" if allows_nan else True
        return read_features(
            self, X, reset=reset, dtype=dtype, ensure_all_finite=finite
        )

    def _keep(self, model, *, flat=None):
        """Set the fitted attributes of a model; `flat` drops the axis d = 1, as of documents."""
        flat = getattr(self, "n_items_", 0) is None if flat is None else flat
        self._sums_ = getattr(model, "sums", None)
        if isinstance(model, LinearModel):
            if not (is_finite(model.coef) and is_finite(model.intercept)):
                refuse_range()
            model = model._replace(sums=None)
            self.solver_: str | None = model.solver
        self._model_: Any = model
        linear, self.n_iter_ = model, model.n_iter
        if isinstance(model, RegressorModel):
            self.estimators_, linear = model.regressors, model.linear
            if len(model.regressors) == 1:
                self.estimator_: Any = model.regressors[0]
        else:
            self.alpha_: float | None = model.alpha
        if isinstance(model, FractionalModel):
            self.low_, self.high_ = model.low, model.high
        if linear is not None:
            self.coef_: np.ndarray = linear.coef[0] if flat else linear.coef
            self.intercept_ = float(linear.intercept[0]) if flat else linear.intercept


# Batches ------------------------------------------------------------------------------


@available_if(adds_up)
def partial_fit(
    self: Any,
    X: MatrixLike,
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> Any:
    """Add a batch of whole lists; the model becomes the one that `fit` finds on all lists.

    Only ridge regression has it: documents, or fixed items with ``estimator="ridge"``.
    Pairs of documents need ``pair_features="difference"``, or ``decoder="score"``.
    Memory does not grow with the rows.

    Parameters
    ----------
    X, y, qid, sample_weight
        As in `fit`. A list must be in one batch: a batch must not begin with the last
        id of the batch before. A list that comes back later counts as a new list.
        Without qid each batch is one list; batches with and without ids do not mix.
        `alpha` may change between calls, the target loss may not.

    Returns
    -------
    self
        The fitted estimator.

    Raises
    ------
    ValueError
        As in `fit`. Also if a list is cut across two calls, there are too many features
        for the sums, or fixed items come without ``estimator="ridge"``. The model is
        unchanged then.
    """
    return add_and_solve(self, (X, y, qid, sample_weight))


@available_if(adds_up)
def fit_blocks(self: Any, blocks: Iterable[Any]) -> Any:
    """Fit to blocks of whole lists, with one block at a time in memory.

    One pass over the blocks gives the same model as `fit` on all rows, up to rounding.

    Parameters
    ----------
    blocks : iterable of (X, y, qid) or (X, y, qid, sample_weight)
        Arguments of `fit`, or None; `datasets.iter_lists` gives such blocks. A list
        must be in one block.

    Returns
    -------
    self
        The fitted estimator.

    Raises
    ------
    ValueError
        As in `fit`. Also if there is no block, a list has rows in two blocks, there are
        too many features for the sums, or fixed items come without
        ``estimator="ridge"``. The model is unchanged then.
    """
    return add_blocks(self, blocks)


@dataclass(frozen=True)
class BlockSums:
    """Sums of whole lists for ridge regression; the sums of one model add up.

    Calls of `partial_fit`, blocks, partitions of Dask and the models of `merge` are
    alike.

    Attributes
    ----------
    fitted : dict
        Fitted attributes that follow from the columns and the labels.
    sums : SecondMoments
    shared, averaged : tuple of str
        The attributes that all batches share, and the ones that are means over rows.
    """

    fitted: dict[str, Any]
    sums: SecondMoments
    shared: tuple[str, ...]
    averaged: tuple[str, ...]

    @classmethod
    def of(cls, model, sums):
        """The sums of an estimator that has read the lists."""
        fitted = {name: value for name, value in vars(model).items() if name[-1] == "_"}
        return cls(fitted, sums, model._shared, model._averaged)

    def __add__(self, later):
        """The sums of both; refuses batches of two kinds, and a list cut in two."""
        one, two, features = self.fitted, dict(later.fitted), self.sums.features
        settings = [(name, one.get(name), two.get(name)) for name in self.shared]
        centered = (each.sums.features.within is not None for each in (self, later))
        for name, before, now in [*settings, ("centered", *centered)]:
            if not _agree(now, before):
                raise ValueError(
                    f"Earlier batches had {_said(name, before)}, this one has {_said(name, now)}: "
                    "all batches of a model must be of one kind. Use fit to start again."
                )
        if "n_lists_" in two:
            check_has_ids(
                one["_has_qid_"], two["_has_qid_"] or two["n_items_"] is not None
            )
            (first, last), (head, tail) = one["_ends_"], two["_ends_"]
            if two["_has_qid_"] and head == last:
                refuse_cut_list()
            two.update(n_lists_=one["n_lists_"] + two["n_lists_"], _ends_=(first, tail))
        sums = self.sums + later.sums
        fraction = (
            1.0 - features.total / sums.features.total
            if sums.features.total > 0
            else 0.0
        )
        for name in set(self.averaged) & set(one):
            two[name] = one[name] + fraction * (two[name] - one[name])
        return replace(self, fitted=two, sums=sums)


def read_batch(reader, block, seen=None, **known):
    """The `BlockSums` of a block; a reader without columns, a copy of the model, takes those.

    `seen` are the ids of earlier blocks.
    """
    reset = not hasattr(reader, "n_features_in_")
    rows, encoding = reader._read_batch(*block, reset=reset, **known)
    if encoding.kind == "items" and reader.estimator == "auto":
        raise ValueError(
            "Batches of fixed items, y of shape (n_queries, r), are fitted by ridge regression: "
            "set estimator='ridge' (logistic regression needs all rows at once)."
        )
    if seen is not None:
        check_new_lists(rows.ids, seen)
    return BlockSums.of(reader, sums_of(rows, encoding))


def keep_batch(model, batch, *, whole=True):
    """Solve, and set the fitted attributes; returns the model.

    Of the `whole` data a fixed item without any label is refused; a pair may have none.
    """
    sums, is_judged = batch.sums, batch.sums.total > 0
    decoder, loss = batch.fitted.get("decoder_"), batch.fitted.get("target_loss_")
    pairs = isinstance(loss, PairwiseDisagreement) and decoder not in ("sort", "score")
    if whole and sums.kind == "items" and not pairs and not is_judged.all():
        refuse_unjudged_item(f"Target {int(np.argmin(is_judged))}")
    with all_or_nothing(model):
        vars(model).update(batch.fitted)
        model._keep(solve_sums(sums, model.alpha))
    return model


def add_blocks(model, blocks, **known):
    """Run `fit_blocks`, with further arguments of `_read_batch`."""
    with fresh_fit(model):
        read = partial(read_batch, copy(model), seen=set(), **known)
        return keep_batch(model, Blocks(read_blocks(blocks)).sum(read))


def add_and_solve(model, block, **known):
    """Run `partial_fit`, with further arguments of `_read_batch`."""
    sums = getattr(model, "_sums_", None)
    if sums is None and hasattr(model, "_model_"):
        raise ValueError(
            "The model was fitted by an iterative solver, logistic regression or an estimator, "
            "which keeps no sums: clone it and give all batches to partial_fit."
        )
    batch = read_batch(copy(model), block, **known)
    total = batch if sums is None else BlockSums.of(model, sums) + batch
    return keep_batch(model, total, whole=False)


def _said(name, value):
    """A setting in words."""
    if name == "n_items_":
        return "one row per document" if value is None else f"{value} items in each row"
    return f"{name.strip('_')} {value}"


def _agree(now, before):
    """Whether two attributes are equal; matrices of numbers up to rounding, losses by parameters.

    LAPACK may find another basis for equal singular values of costs on another machine.
    """
    if hasattr(now, "get_params"):
        mine: dict = now.get_params()
        other: dict = getattr(before, "get_params", dict)()
        return (
            type(now).__name__ == type(before).__name__
            and all(_agree(value, other[name]) for name, value in mine.items())
            and _agree(getattr(now, "alpha_", None), getattr(before, "alpha_", None))
        )
    arrays = isinstance(now, np.ndarray) and isinstance(before, np.ndarray)
    if (
        arrays
        and now.dtype.kind == before.dtype.kind == "f"
        and now.shape == before.shape
    ):
        size = np.abs(before).max(initial=0.0)
        return np.allclose(now, before, rtol=0.0, atol=1e-9 * size)
    return np.array_equal(now, before) if arrays else bool(now == before)


def merge(models: Sequence[_Model]) -> _Model:
    """Merge models of parts of the rows into one model of all rows.

    The sums of ridge regression add up. So parts of the rows can be fitted on different
    machines, and the merged model is the one that `fit` finds on all rows.

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
    >>> parts = [clone(ridge).fit(X[i : i + 2], y[i : i + 2], qid=qid[i : i + 2]) for i in (0, 2)]
    >>> both = clone(ridge).fit(X, y, qid=qid)
    >>> bool(abs(merge(parts).coef_ - both.coef_)[0] < 1e-12)
    True
    """
    given: list[Any] = list(models)
    if not given:
        raise ValueError("There are no models to merge: give at least one.")
    first: Any = given[0]
    for model in given:
        adds = isinstance(model, RegressionMixin) and hasattr(model, "fit_blocks")
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
            raise ValueError(
                f"merge needs equal parameters, got {model!r} and {first!r}."
            )
        for name in _COLUMNS:
            one, two = (getattr(each, name, []) for each in (first, model))
            if not np.array_equal(one, two):
                raise ValueError(
                    f"merge takes models of the same columns: {name} is {one} and {two}."
                )
        if getattr(model, "_sums_", None) is None:
            raise ValueError(
                f"{model!r} has no sums: iterative solvers, logistic regression, estimators and "
                "some pair features do not add up. Fit the parts with estimator='ridge'."
            )
    names = ("total", "x_mean", "t_mean", "gram", "cross")
    keys = [b"".join(getattr(m._sums_, n).tobytes() for n in names) for m in given]
    if len(set(keys)) < len(keys):
        raise ValueError(
            "Two of the models have equal sums: they are the same model, or were fitted to "
            "the same rows, which would count twice. Give each part once."
        )
    return keep_batch(
        clone(first), reduce(add, (BlockSums.of(m, m._sums_) for m in given))
    )
