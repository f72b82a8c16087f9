"""StackingRanker: several rankers in one, weighted by the measure on held-out queries."""

from dataclasses import dataclass
from inspect import signature
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._arrays import ArrayLike, MatrixLike, take_rows
from .._base import BaseRanker
from .._labels import ranking_target
from .._parameters import RUNTIME, Rule, count, fresh_fit, number, predictor
from .._tables import TableMixin
from .._typing import Bunch, Named
from .._warn import warn
from ..fitting._any_regressor import weight_parameters
from ..order_preserving._list_loss import deviation_within
from ..target_losses._names import resolve_measure
from ..target_losses._target_loss import RankingMeasure
from ._default_parts import default_parts
from ._wrapped import WrappedRanker, WrapsModels, name_of_lists


@dataclass(repr=False, eq=False)
class HeldOutScores(TableMixin):
    """The measure of the stack and of its parts on held-out queries; prints as a table.

    Parameters
    ----------
    parts : list of str
    weights : ndarray of shape (n_parts,)
        In units of the standard deviation of each part's scores within lists; the sum
        is 1.
    scores : list of float
        The measure of the stack, then of each part.
    """

    parts: list[str]
    weights: np.ndarray
    scores: list[float]

    def _columns(self):
        columns = {
            "part": ["stack", *self.parts],
            "weight": [1.0, *self.weights.tolist()],
        }
        return columns | {"held-out score": self.scores}


def _are_weights(value):
    return isinstance(value, dict) and all(
        number(0).accepts(one) for one in value.values()
    )


_parts = Rule(lambda value: _are_parts(value), "a list of pairs (name, estimator)")
_splitter = Rule(lambda cv: hasattr(cv, "split"), "a splitter")
_splits = Rule(
    lambda cv: hasattr(cv, "__len__"),
    "a list of pairs (train, test), no generator, which a second fit would find empty",
)
_weights = Rule(_are_weights, "a dict of numbers >= 0, the weights_ of another stack")


class StackingRanker(WrapsModels, RegressorMixin, BaseEstimator):
    """Not sure which ranker? Fit several and weigh them by the measure.

    `fit` scores held-out queries by each part, fitted on the other queries, and divides
    the scores of a part by their standard deviation within lists. The weights of two
    parts are w and 1 - w, w the mean of the best of 0, 0.1, ..., 1 on 200 bootstraps of
    the held-out queries. More parts, or a given `cv`, take a search [1]_ from the best
    part. Up to three times it tries 0, 0.1, 0.25, 0.5, 1 and 2 for each weight in turn,
    and keeps the value with the largest measure. Then each part with a weight is fitted
    to all rows.

    Parameters
    ----------
    estimators : list of tuple (str, estimator) or None, default=None
        The parts: rankers, regressors, classifiers or Pipelines. LGBMRanker, regressors
        and other models that are no rankers of this package are put into
        `WrappedRanker`. None is "linear" and "trees": for documents
        `OrderPreservingRegressor` and `HistGradientBoostingRanker`, for fixed items
        `LowRankSurrogateRanker` with its defaults and with a forest. None takes
        ordinary data frames: text, booleans and categories (a new one in `predict` is
        unknown; of more than 255, the rarest count as one), and missing values (linear
        parts and forests get medians). After a fit to an array without missing values,
        `predict` takes none.
    target_loss : str or RankingMeasure, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", ... It chooses the weights. The
        parts of None are fitted to it, or to "ndcg" where they cannot.
    cv : int, splitter, iterable or None, default=None
        Folds of `GroupKFold`; a splitter of scikit-learn that takes groups, the
        queries; or a list of pairs of row indices or masks (train, test). None is 3
        folds; two parts hold out only the first of them. All weights are equal if there
        are fewer lists than folds.
    weights : dict of str to float or None, default=None
        The `weights_` of another stack: fit the parts to new rows without folds, as in
        a weekly refit. None searches.
    n_jobs : int or None, default=None
        Parallel fits.
    verbose : int, default=0
        Whether to print progress.

    Attributes
    ----------
    weights_ : dict of str to float
        The scores of the stack are the sum of the parts' raw scores times these
        weights, which depend on the units of the scores; `scores_` has the share of
        each part.
    scores_ : HeldOutScores or None
        The weights, in units of the standard deviation within lists, and the measure of
        the stack and of each part on held-out queries; prints as a table, and has
        ``to_frame()``. The stack's weights were chosen on these queries. None without a
        search.
    estimators_ : list of estimators
        The parts with a weight, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    target_loss_ : RankingMeasure
        The measure as an object.
    n_lists_ : int
        Number of lists in fit.
    n_items_ : int or None
        Number r of items; None for documents.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    WrappedRanker : Any other model as a ranker.

    References
    ----------
    .. [1] D. Metzler, W. B. Croft, "Linear feature-based models for information retrieval",
       Information Retrieval 10, 2007 (coordinate ascent).

    Examples
    --------
    Ridge regression orders both queries right, a constant does not:

    >>> from sklearn.dummy import DummyRegressor
    >>> from lowrank_rank import LowRankSurrogateRanker, StackingRanker
    >>> X, y, qid = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> parts = [("ridge", LowRankSurrogateRanker()), ("constant", DummyRegressor())]
    >>> ranker = StackingRanker(parts, cv=2).fit(X, y, qid=qid)
    >>> ranker.scores_
    part      weight  held-out score
    stack          1               1
    ridge          1               1
    constant       0          0.8155
    >>> ranker.rank(X, qid=qid)
    array([2, 1, 2, 1])
    """

    estimators: Named | None
    weights_: dict[str, float]
    _parameters: ClassVar = {
        "estimators": [_parts, None],
        "cv": [count(2), _splitter, _splits, None],
        "weights": [_weights, None],
        "n_jobs": RUNTIME["n_jobs"],
        "verbose": RUNTIME["verbose"],
    }

    def __init__(
        self,
        estimators: Named | None = None,
        *,
        target_loss: str | RankingMeasure = "ndcg@10",
        cv: Any = None,
        weights: dict[str, float] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.target_loss = target_loss
        self.cv = cv
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with `deep` also the parts by name, and ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the parts.

        Returns
        -------
        dict
            Values by name of the parameter.
        """
        params = super().get_params(deep=False)
        if deep and _are_parts(self.estimators):
            for name, part in self.estimators or ():
                inner = (
                    part.get_params(deep=True) if hasattr(part, "get_params") else {}
                )
                params[name] = part
                params.update({f"{name}__{key}": value for key, value in inner.items()})
        return params

    def set_params(self, **params: Any) -> "StackingRanker":
        """Set parameters, parts by their name, or ``name__parameter`` of a part.

        Parameters
        ----------
        **params : dict
            Values by name of the parameter.

        Returns
        -------
        self
            This ranker.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if _are_parts(self.estimators) and any(
            name in params for name, _ in self.estimators or ()
        ):
            parts = self.estimators or ()
            self.estimators = [(name, params.pop(name, part)) for name, part in parts]
        return super().set_params(**params)

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "StackingRanker":
        """Find the weights on held-out queries, and fit the parts that have one.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            One row per document, or per query for fixed items, of a type that the parts
            take.
        y : array-like of shape (n_rows,), (n_rows, r) or (n_rows, r, r)
            Labels, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights for the fit of the parts; a list counts in the measure by their
            mean.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters are wrong, or a part raises an
            error: the message names the part. The model is unchanged then.
        TypeError
            If X is sparse and `estimators` is None.

        Warns
        -----
        UserWarning
            If there are fewer lists than folds.
        """
        with fresh_fit(self):
            measure = clone(resolve_measure(self.target_loss))
            X, y, lists, weights = self._read(X, y, qid, sample_weight, measure)
            self.n_lists_ = lists.n_counted(weights)
            weights = None if sample_weight is None else weights
            is_documents = y.ndim == 1
            groups = lists.codes if is_documents else np.arange(len(y))
            target = ranking_target(y, groups) if is_documents else y
            self.target_loss_, self._has_qid_ = measure, lists.ids is not None
            self.n_items_ = None if is_documents else y.shape[1]
            given = self.estimators or default_parts(X, y.ndim, measure)
            parts = {name: as_ranker(part, y.ndim) for name, part in given}
            found = self._weights_of(parts, X, target, groups, weights)
            kept = {
                name: part
                for name, part in parts.items()
                if found is None or found[name]
            }
            self.estimators_: list[Any] = Parallel(n_jobs=self.n_jobs)(
                delayed(fitted_part)(name, part, X, target, weights, self._said(name))
                for name, part in kept.items()
            )
            self.named_estimators_: Bunch = Bunch(
                **dict(zip(kept, self.estimators_, strict=True))
            )
            if found is None:
                scores = [scores_of(part, X) for part in self.estimators_]
                spreads = [deviation_within(one, groups, weights) for one in scores]
                found = {
                    name: 1.0 / each for name, each in zip(kept, spreads, strict=True)
                }
            self.weights_ = {name: float(weight) for name, weight in found.items()}
        return self

    def _weights_of(self, parts, X, target, groups, weights):
        """Weight of each part by name: as given, or by a search that sets `scores_`, or None."""
        self.scores_: HeldOutScores | None = None
        if self.weights is not None:
            if (
                self.weights.keys() != parts.keys()
                or not sum(self.weights.values()) > 0
            ):
                raise ValueError(
                    f"weights must have a number >= 0 for each of {list(parts)}, not all of them "
                    f"0, got {self.weights}."
                )
            return self.weights
        n_folds = 3 if self.cv is None else self.cv
        if isinstance(n_folds, int | np.integer) and self.n_lists_ < n_folds:
            warn(
                f"StackingRanker has fewer lists ({self.n_lists_}) than {n_folds} folds: all "
                "parts have the same weight. Give qid, more lists, or a smaller cv."
            )
            return None
        rows, scores = self._held_out(parts, n_folds, X, target, groups, weights)
        weights = None if weights is None else weights[rows]
        scales = np.array(
            [deviation_within(one, groups[rows], weights) for one in scores]
        )
        scores /= scales.reshape(-1, *[1] * (scores.ndim - 1))
        is_documents = scores.ndim == 2
        labels = target["y"][rows] if is_documents else target[rows]
        qid, measure = groups[rows] if is_documents else None, self.target_loss_

        def value(combined):
            return measure.measure(labels, combined, qid=qid, sample_weight=weights)

        def values_of(combined):
            values, of_lists = measure._values_of(labels, combined, qid, weights)
            return values * of_lists

        if self.cv is None and len(parts) == 2:
            best = mean_best_weights(scores, values_of)
        else:
            best = best_weights(scores, value)
        best /= best.sum()
        values = [value(np.tensordot(best, scores, 1)), *map(value, scores)]
        self.scores_ = HeldOutScores(list(parts), best, values)
        return dict(zip(parts, (best / scales).tolist(), strict=True))

    def _held_out(self, parts, cv, X, target, groups, weights):
        """The rows in test folds, and their scores by each part, shape (n_parts, n_rows, ...)."""
        splitter = GroupKFold(cv) if isinstance(cv, int | np.integer) else check_cv(cv)
        ids = groups if self._has_qid_ or self.n_items_ else None
        n_folds = 1 if self.cv is None and len(parts) == 2 else None
        splits = islice(splitter.split(X, target, groups), n_folds)
        folds = [read_fold(fold, len(groups), ids, weights) for fold in splits]
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(held_out_scores)(
                name, part, X, target, weights, fold, self._said(name, i)
            )
            for name, part in parts.items()
            for i, fold in enumerate(folds, start=1)
        )
        # A row in several test folds has the score of the last one.
        tests = np.concatenate([test for _, test in folds])
        place = np.full(len(groups), -1)
        place[tests] = np.arange(len(tests))
        rows = np.flatnonzero(place >= 0)
        each = [found[i : i + len(folds)] for i in range(0, len(found), len(folds))]
        return rows, np.stack([np.concatenate(one)[place[rows]] for one in each])

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict scores, the weighted sum of the parts' scores, higher is better.

        The score of a row does not depend on other rows.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_rows, n_features)
            Features of the rows.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Weighted sums of the scaled scores of the parts: the larger, the better.
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        parts = self.named_estimators_.items()
        try:
            return sum(self.weights_[name] * scores_of(part, X) for name, part in parts)
        except ValueError as error:
            if self.estimators is None and "contains NaN" in str(error):
                raise ValueError(
                    "X has missing values (NaN), and the X of fit had none: fit StackingRanker to "
                    f"rows with missing values too, or fill them in. {str(error).splitlines()[-1]}"
                ) from error
            raise

    def _said(self, name, fold=None):
        """The line of progress of a fit, or None."""
        where = "all rows" if fold is None else f"fold {fold}"
        return f"[StackingRanker] {name} on {where}" if self.verbose else None

    def _sk_visual_block_(self):
        """The parts, with their weights once fitted, in scikit-learn's diagram."""
        parts, weights = self.estimators or [], getattr(self, "weights_", None)
        if weights:
            kept = self.named_estimators_.items()
            parts = [
                (f"{name}, weight {weights[name]:.3g}", part) for name, part in kept
            ]
        return VotingRegressor(parts)._sk_visual_block_()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = [get_tags(part).input_tags for _, part in self.estimators or ()]
        tags.input_tags.sparse = bool(inner) and all(one.sparse for one in inner)
        tags.input_tags.allow_nan = all(
            one.allow_nan for one in inner
        )  # the parts of None do
        return tags


# Parts ------------------------------------------------------------------------------


def _are_parts(value):
    """Whether a value is a list of pairs of a name and an estimator, under usable names."""
    if not isinstance(value, list | tuple) or not value:
        return False
    if not all(isinstance(one, list | tuple) and len(one) == 2 for one in value):
        return False
    names = [name for name, _ in value]
    taken = {*signature(StackingRanker).parameters, "stack"}
    return (
        all(
            isinstance(name, str) and "__" not in name and name not in taken
            for name in names
        )
        and len(set(names)) == len(names)
        and all(predictor.accepts(part) for _, part in value)
    )


def as_ranker(part, ndim):
    """A part that fits a `ranking_target`, or a matrix y if `ndim` is not 1."""
    last = part.steps[-1][1] if isinstance(part, Pipeline) else part
    if ndim > 1 or isinstance(last, BaseRanker):
        return part
    if last is part or name_of_lists(last) is None:
        return WrappedRanker(part)
    return Pipeline([*part.steps[:-1], (part.steps[-1][0], WrappedRanker(last))])


def read_fold(fold, n_rows, ids, weights):
    """Row indices (train, test) of a fold; refuses lists in both, and rows without a weight.

    `ids` are the lists of the rows, or None for rows of one list.
    """
    train, test = (np.arange(n_rows)[np.asarray(rows)] for rows in fold)
    cut = np.empty(0) if ids is None else np.intersect1d(ids[train], ids[test])
    if len(cut):
        raise ValueError(
            f"cv puts rows of {len(cut)} lists into the training and the test part of one fold: "
            "use an integer or GroupKFold, which keep queries whole."
        )
    if weights is not None and not (weights[train].any() and weights[test].any()):
        raise ValueError(
            "A fold of cv has no row of positive weight in training or test: use fewer folds."
        )
    return train, test


def fitted_part(name, part, X, target, weights, said):
    """A clone of the part, fitted; an error names the part."""
    if said:
        print(said, flush=True)
    model = clone(part)
    try:
        with config_context(enable_metadata_routing=False):
            given = {} if weights is None else weight_parameters(model, weights)
            if given is None:
                raise ValueError(f"{model!r} takes no sample_weight in fit.")
            return model.fit(X, target, **given)
    except Exception as error:
        kinds = (ValueError, TypeError, MemoryError)
        kind = next((one for one in kinds if isinstance(error, one)), RuntimeError)
        raise kind(f"The part {name!r} of StackingRanker: {error}") from error


def held_out_scores(name, part, X, target, weights, fold, said):
    """Scores of the test rows of a fold by the part, fitted on the training rows."""
    train, test = fold
    of_train = None if weights is None else weights[train]
    model = fitted_part(name, part, take_rows(X, train), target[train], of_train, said)
    return scores_of(model, take_rows(X, test))


def scores_of(model, X):
    """Scores of the rows of X by a fitted part, float64."""
    scores = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return np.asarray(scores, dtype=np.float64)


def mean_best_weights(scores, values_of):
    """Mean over 200 bootstraps of the lists of the best weights of two parts on a grid.

    Parameters
    ----------
    scores : ndarray of shape (2, ...)
    values_of : callable
        The weighted measure of each list at combined scores, without NaN; greater is
        better.
    """
    grid = np.linspace(0.0, 1.0, 11)
    values = np.array([values_of(w * scores[0] + (1.0 - w) * scores[1]) for w in grid])
    values = values[:, ~np.isnan(values).any(axis=0)]
    n = values.shape[1]
    if n == 0:  # the measure is undefined on every held-out list
        return np.full(2, 0.5)
    counts = np.random.default_rng(0).multinomial(n, np.full(n, 1.0 / n), size=200)
    totals = counts @ values.T
    is_best = totals >= totals.max(axis=1, keepdims=True) - 1e-12 * n
    first = float(np.mean(is_best @ grid / is_best.sum(axis=1)))
    return np.array([first, 1.0 - first])


def best_weights(scores, value):
    """Weights by coordinate search from the best part, in at most three rounds.

    Parameters
    ----------
    scores : ndarray of shape (n_parts, ...)
    value : callable
        The measure of combined scores, greater is better.
    """
    values = [value(one) for one in scores]
    weights, best = np.eye(len(scores))[int(np.argmax(values))], max(values)
    for _ in range(3):
        before = weights
        for j in range(len(scores)):
            rest = weights.copy()
            for weight in (0.0, 0.1, 0.25, 0.5, 1.0, 2.0):
                trial = rest.copy()
                trial[j] = weight
                found = (
                    value(np.tensordot(trial, scores, 1)) if trial.any() else -np.inf
                )
                if found > best:
                    weights, best = trial, found
        if np.array_equal(weights, before):
            break
    return weights
