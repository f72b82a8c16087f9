"""Fits by sums over blocks of lists: batch by batch, in one pass, or merged from parts.

The estimators whose default regression is ridge share them: what `RidgeSums` and `Seen` hold of
some rows adds up, and is solved once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import plain
from .._blocks import Block, check_has_ids, check_iterable
from .._lists import same_id
from .._parameters import all_or_nothing, fresh_fit, is_ridge
from ._penalties import RidgeSums
from ._ridge import chosen_solver

_OF_SEARCH = ("alphas_", "alpha_scores_")
_COLUMNS = ("n_features_in_", "feature_names_in_")


@dataclass(frozen=True)
class Seen:
    """What is known of some rows of whole lists: statistics, and what they have in common.

    Attributes
    ----------
    sums : RidgeSums
    settings : dict
        What must be the same for all rows of one model, by name.
    batch : EncodedBatch
        The first one, without its rows: its loss and decoder are those of the model.
    n_lists : int
    first_id, last_id : object or None
        Query ids of the first and the last row.
    mass : float
        Sum of the weights.
    means : dict
        Weighted means of anything, by the name of the attribute that they are.
    columns : dict
        Number and names of the features.
    has_qid : bool
        Whether any of the rows has a query id.
    """

    sums: RidgeSums
    settings: dict
    batch: Any
    n_lists: int
    first_id: Any
    last_id: Any
    mass: float
    means: dict = field(default_factory=dict)
    columns: dict = field(default_factory=dict)
    has_qid: bool = False

    @classmethod
    def of(cls, estimator, batch, sums, *, settings=None, means=None):
        """Of an `EncodedBatch` that an estimator has read."""
        rowless = replace(
            batch, X=None, targets=None, weights=None, codes=None, y=None, lists=None,
            row_weights=None,
        )  # fmt: skip
        return cls(
            sums,
            batch.settings() if settings is None else settings,
            rowless,
            batch.n_lists,
            batch.first_id,
            batch.last_id,
            float(batch.row_weights.sum()),
            means or {},
            {name: getattr(estimator, name) for name in _COLUMNS if hasattr(estimator, name)},
            batch.last_id is not None,
        )

    def __add__(self, other):
        """Of these rows and of those after them."""
        for name, now in {**other.settings, **other.columns}.items():
            before: Any = {**self.settings, **self.columns}.get(name)
            if not _agree(now, before):
                raise ValueError(
                    f"Earlier batches had {name} {before}, this one has {now}: the statistics of "
                    "all batches must be of one kind. Use fit to start anew."
                )
        check_has_ids(self.has_qid, other.has_qid or self.batch.n_items is not None)
        if other.first_id is not None and same_id(other.first_id, self.last_id):
            raise ValueError(
                f"The list {plain(other.first_id)!r} is cut across two calls of partial_fit, two "
                "blocks or two parts: it is the last of the one and the first of the next. Give "
                "each list in one batch."
            )
        mass = self.mass + other.mass
        fraction = other.mass / mass if mass > 0 else 0.0
        return replace(
            self,
            sums=self.sums.plus(other.sums),
            n_lists=self.n_lists + other.n_lists,
            last_id=other.last_id,
            has_qid=self.has_qid or other.has_qid,
            mass=mass,
            means={k: m + fraction * (other.means[k] - m) for k, m in self.means.items()},
        )

    def check_items_judged(self):
        """Refuse a fixed item that no row judges."""
        statistics = self.sums.statistics
        nobody = statistics.total[statistics.pattern] <= 0 if len(statistics.t_mean) else [False]
        if self.batch.n_items is not None and np.any(nobody):
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
        "partial_fit and fit_blocks add up the statistics of ridge regression; with "
        f"estimator={estimator.estimator!r} and solver={estimator.solver!r} use fit."
    )


class SumsMixin:
    """`partial_fit` and `fit_blocks` of what fits ridge to encoded labels.

    A class has ``_seen_of(block, reset, search, ...)``, the `Seen` of a `Block`, and
    ``_adopt(seen)``, which sets the fitted attributes and ``_seen_``.
    """

    _finite_by_squares: ClassVar[bool] = True
    estimator: Any
    solver: Any
    alpha: Any
    _seen_of: Any
    _adopt: Any
    _seen_: Any

    def _adds_up(self):
        return is_ridge(self.estimator) and self.solver != "lsqr"

    @available_if(adds_up)
    def fit_blocks(self, blocks: Iterable) -> "SumsMixin":
        """Fit to blocks of whole lists, of which one at a time is in memory.

        One pass and one solution: the result is that of `fit` on all rows together, but for
        rounding, if that is of ridge: with ``estimator`` None, or "auto", which is ridge here.

        Parameters
        ----------
        blocks : iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Each as `fit` takes it, with None where there is none; for instance
            `datasets.iter_lists`. A list must be in one block: a list that is cut between two
            neighbours is refused, one that comes back later counts as another one.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`, if there is no block, or if there are too many features for the
            statistics; nothing is changed then.
        """
        return self._fit_blocks(blocks)

    def _fit_blocks(self, blocks, **known):
        """`fit_blocks`, with what else `_seen_of` takes."""
        with fresh_fit(self):
            seen = None
            for given in check_iterable(blocks):
                searching = self.alpha == "auto" and (seen is None or seen.sums.rows is not None)
                block, first = Block.of(given), seen is None
                now = self._seen_of(block, reset=first, search=searching, **known)
                seen = now if seen is None else seen + now
            if seen is None:
                raise ValueError("There are no blocks: at least one row is needed.")
            seen.check_items_judged()
            self._adopt(seen)
        return self

    def _partial_fit(self, block, **known):
        """Add a batch to what is known, and solve; with what else `_seen_of` takes."""
        seen = getattr(self, "_seen_", None)
        if seen is None and hasattr(self, "_model_"):
            raise ValueError(
                "The model was fitted by an iterative solver or an estimator, which keeps no "
                "statistics to go on from: clone it and give all batches to partial_fit."
            )
        with all_or_nothing(self):
            for name in _OF_SEARCH:  # of a fit that has searched for another model
                vars(self).pop(name, None)
            search = self.alpha == "auto" if seen is None else seen.sums.rows is not None
            now = self._seen_of(block, reset=seen is None, search=search, **known)
            self._adopt(now if seen is None else seen + now)
        return self

    def _sums_of(self, batch, search):
        """`RidgeSums` of an `EncodedBatch`, where there are not too many features for them."""
        if chosen_solver(self.solver, batch.X, batch.targets) == "lsqr":
            raise ValueError(
                f"partial_fit and fit_blocks keep a matrix of n_features x n_features; with "
                f"{batch.X.shape[1]} features and solver={self.solver!r} that is refused: set "
                "solver='gram', or use fit, which has an iterative solver."
            )
        return RidgeSums.of(batch, search).checked(batch.X, type(self).__name__).copied()


def merge(models: Sequence[BaseEstimator]) -> BaseEstimator:
    """Merge models that were fitted to parts of the rows into one model of all rows.

    The statistics of ridge regression add up, so that parts of the rows can be fitted apart, on
    whatever machines by whatever engine, and the result is that of `fit` of ridge on all of them.

    Parameters
    ----------
    models : sequence of estimators
        `LowRankSurrogateRanker`, `LowRankSurrogateClassifier` or `PairwiseDAGRanker`, with the
        same parameters, fitted by `fit`, `fit_blocks` or `partial_fit` with the default ridge
        regression to whole lists. With alpha="auto" by the latter two, which keep what the search
        needs: the penalty is then searched anew, on the folds of all lists.

    Returns
    -------
    estimator
        A new model with the parameters of the first one; the models stay as they are.

    Raises
    ------
    ValueError
        If there is no model, or they differ in kind, parameters, features or labels, or have kept
        no statistics.

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
    seen = reduce(add, [model._seen_ for model in models])
    merged = clone(first)
    for name, value in seen.columns.items():
        setattr(merged, name, value)
    merged._adopt(seen)
    return merged


def _check_merges(first: Any, model: Any) -> None:
    adds = isinstance(model, SumsMixin)
    if not adds or type(model) is not type(first):
        raise ValueError(
            "merge takes models of one class whose statistics add up (LowRankSurrogateRanker, "
            f"LowRankSurrogateClassifier, PairwiseDAGRanker), got {model!r} beside {first!r}."
        )
    check_is_fitted(model)
    if repr(model.get_params()) != repr(first.get_params()):
        raise ValueError(f"merge takes models with the same parameters: {model!r} and {first!r}.")
    if getattr(model, "_seen_", None) is None:
        raise ValueError(
            f"{model!r} has kept no statistics: it was fitted by an iterative solver, with an "
            "estimator, by logistic regression, or to pair features that do not add up. Fit the "
            "parts with solver='gram' and estimator=None."
        )
    if model.alpha == "auto" and model._seen_.sums.dropped:
        raise ValueError(
            f"{model!r} was fitted by fit, which keeps no folds to search alpha on: fit the parts "
            "by fit_blocks or partial_fit, or set alpha to a number."
        )
