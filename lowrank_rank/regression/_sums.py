"""Fits by sums over batches of whole lists: batch by batch, in one pass, or merged from parts.

The estimators whose regression is ridge share them: the `Sums` of two batches add up, and are
solved once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._blocks import Block, check_has_ids, check_iterable, check_new_lists, cut_list
from .._labels import nothing_counts
from .._lists import same_id
from .._parameters import all_or_nothing, fresh_fit, is_ridge
from ._encoding import EncodedBatch
from ._ridge import MAX_FEATURES_GRAM, LinearModel, n_matrices
from ._statistics import SecondMoments

_COLUMNS = ("n_features_in_", "feature_names_in_")


@dataclass(frozen=True)
class Sums:
    """What ridge regression needs to know of some rows of whole lists.

    Attributes
    ----------
    batch : EncodedBatch
        Without its rows: totals, number of lists, ids and means are those of all rows.
    moments : SecondMoments
    missing : bool
        Whether a label is missing.
    """

    batch: EncodedBatch
    moments: SecondMoments
    missing: bool

    @classmethod
    def of(cls, batch):
        """Sums of the rows of an `EncodedBatch`."""
        moments = SecondMoments.of(batch.X, batch.targets, batch.weights, batch.codes)
        rows = ("X", "targets", "weights", "codes", "y", "lists", "row_weights")
        return cls(replace(batch, **dict.fromkeys(rows)), moments, batch.missing)

    def __add__(self, other):
        """Sums of these rows and of those after them."""
        one, two = self.batch, other.batch
        for name, now in two.settings.items():
            before: Any = one.settings.get(name)
            if not _agree(now, before):
                raise ValueError(
                    f"Earlier batches had {name} {before}, this one has {now}: all batches of a "
                    "model must be of one kind. Use fit to start anew."
                )
        check_has_ids(one.has_qid, two.has_qid or one.n_items is not None)
        if two.first_id is not None and same_id(two.first_id, one.last_id):
            raise cut_list(two.first_id)
        totals = one.totals + two.totals
        fraction = two.totals.mass / totals.mass if totals.mass > 0 else 0.0
        batch = replace(
            one,
            totals=totals,
            n_lists=one.n_lists + two.n_lists,
            last_id=two.last_id,
            means={k: m + fraction * (two.means[k] - m) for k, m in one.means.items()},
        )
        return Sums(batch, self.moments + other.moments, self.missing or other.missing)

    def solve(self, alpha):
        """`LinearModel` of the minimiser for the penalty alpha, or for the default one ("auto")."""
        features, batch = self.moments.features, self.batch
        if not features.total > 0:
            raise nothing_counts()
        if alpha == "auto":
            alpha = batch.default_alpha("ridge", features, self.missing)
        coef, intercept = self.moments.solve(alpha * features.total, batch.scale(features))
        factor = batch.totals.target_factor
        return LinearModel(
            coef.T * factor, intercept * factor, "gram", alpha=float(alpha), sums=self
        )

    def check_items_judged(self):
        """Refuse a fixed item that no row judges."""
        moments = self.moments
        nobody = moments.total[moments.pattern] <= 0 if len(moments.t_mean) else [False]
        if self.batch.kind == "items" and np.any(nobody):
            raise ValueError(
                f"Target {int(np.argmax(nobody))} is NaN in every row that counts, of all blocks: "
                "no query judges this item. Drop the column."
            )


def _agree(now, before):
    """Whether settings are the same; matrices of numbers but for rounding."""
    arrays = isinstance(now, np.ndarray) and isinstance(before, np.ndarray)
    if arrays and now.dtype.kind == before.dtype.kind == "f" and now.shape == before.shape:
        size = np.abs(before).max(initial=0.0)
        return np.allclose(now, before, rtol=0.0, atol=1e-9 * size)
    return np.array_equal(now, before) if arrays else bool(now == before)


def adds_up(estimator):
    """For `available_if`: whether the estimator's fit is one of sums."""
    if estimator._adds_up():
        return True
    raise AttributeError(
        "partial_fit and fit_blocks add up the sums of ridge regression: set estimator='ridge' and "
        f"a solver other than 'lsqr', got estimator={estimator.estimator!r} and "
        f"solver={estimator.solver!r}; or use fit."
    )


class SumsMixin:
    """`partial_fit` and `fit_blocks` of what fits ridge to encoded labels.

    A class has ``_batch_of(block, reset, ...)``, the `EncodedBatch` of a `Block`, and
    ``_adopt(batch, model)``, which sets the fitted attributes.
    """

    estimator: Any
    solver: Any
    alpha: Any
    _batch_of: Any
    _adopt: Any

    def _adds_up(self):
        return is_ridge(self.estimator) and self.solver != "lsqr"

    @available_if(adds_up)
    def fit_blocks(self, blocks: Iterable) -> "SumsMixin":
        """Fit to blocks of whole lists, of which one at a time is in memory.

        One pass and one solution: the result is that of `fit` on all rows together, but for
        rounding.

        Parameters
        ----------
        blocks : iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Each as `fit` takes it, with None where there is none; for instance
            `datasets.iter_lists`. A list must be in one block.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`; if a list has rows in two blocks, if there is no block, if there are too
            many features for the sums, or if y is of fixed items and `estimator` is not "ridge".
            Nothing is changed then.
        """
        return self._fit_blocks(blocks)

    def _fit_blocks(self, blocks, **known):
        """`fit_blocks`, with what else `_batch_of` takes."""
        with fresh_fit(self):
            sums, ids = None, set[Any]()
            for given in check_iterable(blocks):
                batch = self._batch_of(Block.of(given), reset=sums is None, **known)
                check_new_lists(None if batch.lists is None else batch.lists.ids, ids)
                now = self._sums_of(batch)
                sums = now if sums is None else sums + now
            if sums is None:
                raise ValueError("There are no blocks: at least one row is needed.")
            sums.check_items_judged()
            self._adopt(sums.batch, sums.solve(self.alpha))
        return self

    def _partial_fit(self, block, **known):
        """Add a batch to what is known, and solve; with what else `_batch_of` takes."""
        before = getattr(self, "_sums_", None)
        if before is None and hasattr(self, "_model_"):
            raise ValueError(
                "The model was fitted by an iterative solver, logistic regression or an estimator, "
                "which keeps no sums to go on from: clone it and give all batches to partial_fit."
            )
        with all_or_nothing(self):
            now = self._sums_of(self._batch_of(block, reset=before is None, **known))
            sums = now if before is None else before + now
            self._adopt(sums.batch, sums.solve(self.alpha))
        return self

    def _sums_of(self, batch):
        """`Sums` of an `EncodedBatch`; refuses batches that have to be fitted at once."""
        if batch.kind == "items" and self.estimator == "auto":
            raise ValueError(
                "Batches of fixed items, y of shape (n_queries, r), are fitted by ridge "
                "regression: set estimator='ridge'. With estimator='auto' fit takes logistic "
                "regression, which needs all rows at once."
            )
        p, matrices = batch.X.shape[1], n_matrices(batch.targets)
        if self.solver == "auto" and matrices * p**2 > MAX_FEATURES_GRAM**2:
            raise ValueError(
                f"partial_fit and fit_blocks keep n_features x n_features numbers, of {p} features "
                "with solver='gram' only: set it, or use fit, which has an iterative solver."
            )
        return Sums.of(batch)


def merge(models: Sequence[BaseEstimator]) -> BaseEstimator:
    """Merge models that were fitted to parts of the rows into one model of all rows.

    The sums of ridge regression add up, so that parts of the rows can be fitted apart, on
    whatever machines by whatever engine, and the result is that of `fit` of ridge on all of them.

    Parameters
    ----------
    models : sequence of estimators
        `LowRankSurrogateRanker`, `LowRankSurrogateClassifier` or `PairwiseDAGRanker`, with the
        same parameters, fitted by `fit`, `fit_blocks` or `partial_fit` with ridge regression to
        whole lists, each to rows of its own. Of ids only the last of a part and the first of the
        next are compared: a list must be in one part.

    Returns
    -------
    estimator
        A new model with the parameters of the first one; the models stay as they are.

    Raises
    ------
    ValueError
        If there is no model, if one is given twice or two are of the same rows, if they differ in
        kind, parameters, features or labels, or have kept no sums.

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
            "Two of the models have equal sums: they are the same model, or of the same rows, "
            "which would count twice. Give each part once."
        )
    sums = reduce(add, [model._sums_ for model in models])
    merged = clone(first)
    for name in _COLUMNS:
        if hasattr(first, name):
            setattr(merged, name, getattr(first, name))
    merged._adopt(sums.batch, sums.solve(merged.alpha))
    return merged


def _check_merges(first: Any, model: Any) -> None:
    adds = isinstance(model, SumsMixin)
    if not adds or type(model) is not type(first):
        raise ValueError(
            "merge takes models of one class whose sums add up (LowRankSurrogateRanker, "
            f"LowRankSurrogateClassifier, PairwiseDAGRanker), got {model!r} beside {first!r}."
        )
    check_is_fitted(model)
    if repr(model.get_params()) != repr(first.get_params()):
        raise ValueError(f"merge takes models with the same parameters: {model!r} and {first!r}.")
    for name in _COLUMNS:
        one, two = (getattr(each, name, []) for each in (first, model))
        if not np.array_equal(one, two):
            raise ValueError(f"merge takes models of the same features: {name} is {one} and {two}.")
    if getattr(model, "_sums_", None) is None:
        raise ValueError(
            f"{model!r} has kept no sums: it was fitted by an iterative solver, with an estimator, "
            "by logistic regression, or to pair features that do not add up. Fit the parts with "
            "solver='gram' and estimator='ridge'."
        )
