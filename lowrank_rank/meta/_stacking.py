"""StackingRanker: several rankers in one, weighted on held-out queries."""

from dataclasses import dataclass
from inspect import signature
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_classifier
from sklearn.ensemble import VotingRegressor
from sklearn.model_selection import GroupKFold, check_cv
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker, refuse_importances
from .._blocks import Blocks
from .._tables import TableMixin
from .._typing import Bunch, Named
from ..fitting._any_regressor import weight_parameters
from ..order_preserving._list_loss import deviation_of, deviation_within
from ..target_losses._target_loss import RankingMeasure, mean_of_sums
from ..validation._arrays import ArrayLike, MatrixLike, is_data_frame, take_rows
from ..validation._check import refuse
from ..validation._checks_of_models import (
    CHECKS_OF_FOLDS,
    CHECKS_OF_STACKS,
    CHECKS_OF_WRAPPED,
)
from ..validation._findings import found, hand_on, with_findings
from ..validation._labels import joined_target, times_of_rows
from ..validation._parameters import RUNTIME, Rule, count, fresh_fit, number, predictor
from ..validation._progress import Progress, following, following_fit
from ._default_parts import (
    categories_of_fit,
    default_parts,
    is_of_default_part,
    names_of_default_parts,
    naming_part,
    refuse_later_gaps,
    refuse_other_kinds,
)
from ._part_weights import (
    mean_best_point,
    points_of_simplex,
    scaled_scores,
    squares_of_parts,
    sums_at,
    sums_of_random_order,
    values_at_points,
)
from ._wrapped import WrappedRanker, WrapsModels, last_step


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
    random_order : float
        The measure of a random order of each list, which is that of equal scores.
    """

    parts: list[str]
    weights: np.ndarray
    scores: list[float]
    random_order: float

    def _columns(self):
        return {
            "part": ["stack", *self.parts, "random order"],
            "weight": [1.0, *self.weights.tolist(), 0.0],
            "held-out score": [*self.scores, self.random_order],
        }


# Parameters -------------------------------------------------------------------------


def _are_parts(value):
    """Whether a value is a list of pairs of a usable name and an estimator."""
    if not isinstance(value, list | tuple) or not value:
        return False
    reserved = {*signature(StackingRanker).parameters, "stack"}
    names = set()
    for pair in value:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            return False
        name, part = pair
        if not isinstance(name, str) or "__" in name or name in reserved:
            return False
        if name in names or not predictor.accepts(part):
            return False
        names.add(name)
    return True


def _are_part_parameters(value):
    """Whether a value is a dict of parameters of the default parts, by their names."""
    if not isinstance(value, dict):
        return False
    return all(isinstance(key, str) and is_of_default_part(key) for key in value)


def _are_weights(value):
    if not isinstance(value, dict):
        return False
    return all(number(0).accepts(weight) for weight in value.values())


def _is_splitter(cv):
    return hasattr(cv, "split")


def _is_sized(cv):
    return hasattr(cv, "__len__")


_parts = Rule(_are_parts, "a list of pairs (name, estimator)")
_part_parameters = Rule(
    _are_part_parameters,
    "a dict of parameters of the default parts, such as {'trees__max_leaf_nodes': 4}",
)
_splitter = Rule(_is_splitter, "a splitter")
_splits = Rule(
    _is_sized,
    "a list of pairs (train, test), no generator, which a second fit would find empty",
)
_weights = Rule(_are_weights, "a dict of numbers >= 0, the weights_ of another stack")


class StackingRanker(WrapsModels, RegressorMixin, BaseEstimator):
    """Not sure which ranker? Fit several and weigh them by the measure.

    `fit` scores held-out queries by each part, fitted on the other queries, and divides
    the scores of a part by their standard deviation within lists. The shares of the
    parts are multiples of 0.1 that add up to 1, of 0.2 with more than three parts. Each
    of 200 bootstraps of the held-out queries has the shares with the largest measure,
    and the stack has their mean; a share below 0.1 becomes 0. Then each part with a
    share is fitted to all rows. A part with ``early_stopping=True`` keeps the number of
    rounds that it found in the folds (their median).

    Parameters
    ----------
    estimators : list of tuple (str, estimator), dict or None, default=None
        The parts: rankers, regressors, classifiers or Pipelines. LGBMRanker, regressors
        and other models that are not rankers of this package are put into
        `WrappedRanker`. None makes three parts. For documents they are "linear",
        `OrderPreservingRegressor`, "trees", `HistGradientBoostingRanker`, and "forest",
        `LowRankSurrogateRanker` of 50 extra trees. For fixed items they are "linear"
        and "trees", `LowRankSurrogateRanker` with its defaults and with a forest, and
        "means", the mean label of each item, one order for all rows; recommended for
        orders of labels (``target_loss="kendall"``, for places with gaps "dcg@10").
        These parts take ordinary data frames: numbers, booleans (0 and 1), text and
        categories (a new one in `predict` is unknown; of more than 255, the rarest
        count as one) and missing values (linear parts and forests get medians). A dict
        sets parameters of these parts, as a search does:
        ``{"trees__max_leaf_nodes": 4}``.
    target_loss : str or RankingMeasure, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", ... It chooses the weights. The
        parts of None are fitted to it, or to "ndcg" where they cannot.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    cv : int, splitter, iterable or None, default=None
        Folds of `GroupKFold`; a splitter of scikit-learn that takes groups, the
        queries; or a list of pairs of row indices or masks (train, test). None is 3
        folds, of which documents hold out only the first. With fewer lists than folds
        nothing is searched: the parts count alike, by their standardised scores.
    weights : dict of str to float or None, default=None
        The `weights_` of another stack: fit the parts to new rows without folds, as in
        a weekly refit. None searches.
    n_jobs : int or None, default=None
        Parallel fits of parts, and of the trees of the "forest".
    verbose : int, default=0
        Whether to print, at most once a second, which fit runs and how much is done,
        with the time left once each part has begun. With `n_jobs` in other processes it
        is a line for each fit.

    Attributes
    ----------
    weights_ : dict of str to float
        The scores of the stack are the sum of the parts' raw scores times these
        weights; `scores_` has the share of each part.
    scores_ : HeldOutScores or None
        The weights, in units of the standard deviation within lists, and the measure of
        the stack, of each part and of a random order on held-out queries; prints as a
        table, and has ``to_frame()``. The stack's weights were chosen on these queries.
        None without a search.
    estimators_ : list of estimators
        The parts with a weight, fitted to all rows.
    named_estimators_ : Bunch
        The same by name.
    target_loss_ : RankingMeasure
        The measure as an object.
    n_lists_ : int
        Number of lists of positive weight.
    n_items_ : int or None
        Number r of items; None for documents.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    WrappedRanker : Any other model as a ranker.

    Examples
    --------
    Ridge regression orders both queries right, a constant does not. Shares of up to 0.9
    of the constant do not change an order, and their mean is 0.45:

    >>> from sklearn.dummy import DummyRegressor
    >>> from lowrank_rank import LowRankSurrogateRanker, StackingRanker
    >>> X, y, qid = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> parts = [("ridge", LowRankSurrogateRanker()), ("constant", DummyRegressor())]
    >>> ranker = StackingRanker(parts, cv=2).fit(X, y, qid=qid)
    >>> ranker.scores_
    part          weight  held-out score
    stack              1               1
    ridge           0.55               1
    constant        0.45          0.8155
    random order       0          0.8155
    >>> ranker.rank(X, qid=qid)
    array([2, 1, 2, 1])
    """

    estimators: Named | dict[str, Any] | None
    weights_: dict[str, float]
    _parameters: ClassVar = {
        "estimators": [_parts, _part_parameters, None],
        "cv": [count(2), _splitter, _splits, None],
        "weights": [_weights, None],
        "n_jobs": RUNTIME["n_jobs"],
        "verbose": RUNTIME["verbose"],
    }

    def __init__(
        self,
        estimators: Named | dict[str, Any] | None = None,
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
        """Get parameters; with `deep` also the parts by name, and ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the parts; of the default parts those
            that were set.

        Returns
        -------
        dict
            Values by name of the parameter.
        """
        params = super().get_params(deep=False)
        if not deep:
            return params
        if _are_part_parameters(self.estimators):
            params.update(self.estimators)
        for name, part in self._parts_by_name().items():
            params[name] = part
            if hasattr(part, "get_params"):
                for key, value in part.get_params(deep=True).items():
                    params[f"{name}__{key}"] = value
        return params

    def set_params(self, **params: Any) -> "StackingRanker":
        """Set parameters, parts by their name, or ``name__parameter`` of a part.

        Parameters
        ----------
        **params : dict
            Values by name of the parameter. Those of the default parts,
            ``trees__max_leaf_nodes=4``, are kept in `estimators`.

        Returns
        -------
        self
            This ranker.
        """
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        if self._has_default_parts():
            self._set_default_parts(params)
        parts = self._parts_by_name()
        if parts.keys() & params.keys():
            parts.update({name: params.pop(name) for name in parts if name in params})
            self.estimators = list(parts.items())
        return super().set_params(**params)

    def _has_default_parts(self):
        """Whether `fit` makes the parts, from the columns of X."""
        return self.estimators is None or isinstance(self.estimators, dict)

    def _set_default_parts(self, params):
        """Move the parameters of default parts from `params` to `estimators`."""
        refuse(CHECKS_OF_STACKS, params=params)
        of_parts = {key: params[key] for key in params if is_of_default_part(key)}
        if of_parts:
            earlier: Any = self.estimators or {}
            self.estimators = {**earlier, **of_parts}
            for key in of_parts:
                del params[key]

    def _parts_by_name(self):
        """Parts of `estimators` by name; none if it is not a list of parts."""
        estimators: Any = self.estimators
        return dict(estimators) if _are_parts(estimators) else {}

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
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
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

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
            measure = self._checked_loss()
            data = self._read(X, y, qid, sample_weight, measure, one_list=one_list)
            self._set_lists(data, measure)
            rows = rows_of_parts(data, y, qid, sample_weight)
            parts = self._read_parts(data, measure)
            with following(self._plan(parts, rows)):
                part_weights, parts = self._weigh_parts(parts, rows)
                self._fit_parts(parts, part_weights, rows)
            self._keep_weights(part_weights, rows)
        return self

    def _read_parts(self, data, measure):
        """Return the parts by name, as rankers; those of None for these columns."""
        has_default_parts = self._has_default_parts()
        estimators: Any = self.estimators
        names = names_of_default_parts(data.y.ndim)
        if not has_default_parts:
            names = [name for name, _ in estimators]
        refuse(
            CHECKS_OF_STACKS,
            X=data.X,
            parts=None if has_default_parts else estimators,
            settings=estimators if has_default_parts else None,
            names=names,
            weights=self.weights,
            ndim=data.y.ndim,
        )
        if has_default_parts:
            estimators = default_parts(
                data.X, data.y, measure, estimators or {}, self.n_jobs
            )
        return {name: as_ranker(part, data.y.ndim) for name, part in estimators}

    def _weigh_parts(self, parts, rows):
        """Return the given or the searched weights of the parts, and the parts.

        The weights are None where all parts count alike. Searched parts take the rounds
        that early stopping found.
        """
        self.scores_: HeldOutScores | None = None
        if self.weights is not None:
            return self.weights, parts
        if not self._has_enough_lists():
            return None, parts
        part_weights, rounds = self._search(parts, rows)
        parts = {name: with_rounds(part, rounds[name]) for name, part in parts.items()}
        return part_weights, parts

    def _fit_parts(self, parts, part_weights, rows):
        """Fit the parts that have a weight to all rows."""
        if part_weights is not None:
            parts = {name: parts[name] for name in parts if part_weights[name]}
        fits = []
        for name, part in parts.items():
            line = self._progress(name, "all rows")
            fits.append((fitted_part, name, part, rows, line))
        self.estimators_: list[Any] = self._parallel(fits)
        named = dict(zip(parts, self.estimators_, strict=True))
        self.named_estimators_: Bunch = Bunch(**named)

    def _keep_weights(self, part_weights, rows):
        """Set the weights; None are equal, in units of each part's deviation."""
        if part_weights is None:
            part_weights = {}
            for name, part in self.named_estimators_.items():
                scores = scores_of(part, rows.X)
                deviation = deviation_within(scores, rows.groups, rows.weights)
                part_weights[name] = 1.0 / deviation
        self.weights_ = {name: float(w) for name, w in part_weights.items()}

    def _has_enough_lists(self, *, is_told=True):
        """Whether each fold has a list; a warning says that there are fewer."""
        n_folds = 3 if self.cv is None else self.cv
        is_number = isinstance(n_folds, int | np.integer)
        if not is_number or self.n_lists_ >= n_folds:
            return True
        if not is_told:
            return False
        found(
            "few lists",
            f"StackingRanker has fewer lists ({self.n_lists_}) than {n_folds} folds: "
            "all parts have the same weight. Give qid, more lists, or a smaller cv.",
        )
        return False

    def _search(self, parts, rows):
        """Find the weight of each part on held-out rows; set `scores_`.

        Returns the weights by part, and the rounds that early stopping found.
        """
        folds = self._folds(rows, self._n_folds_held_out())
        places, scores, rounds = self._held_out(parts, folds, rows)
        labels = rows.target[places]
        qid = None
        if self.n_items_ is None:
            labels = labels["y"]
            qid = rows.groups[places]
        weights = rows.weights
        if weights is not None:
            weights = weights[places]
        held = Blocks([(scores, labels, qid, weights)])
        return self._weigh(parts, held), rounds

    def _n_folds_held_out(self):
        """1 if the parts are weighed on a single split, or None for all folds."""
        return 1 if self.cv is None and self.n_items_ is None else None

    def _weigh(self, parts, held):
        """Find the weight of each part from scores of held-out rows; set `scores_`.

        Parameters
        ----------
        parts : dict
            Its keys are the names of the parts.
        held : Blocks
            Of tuples (scores of shape (n_parts, n_rows, ...), labels, qid, weights).
        """
        measure = self.target_loss_
        sums_of_parts = held.sum(squares_of_parts)
        deviations = np.array([deviation_of(sums) for sums in sums_of_parts])
        held = held.map(scaled_scores, deviations)

        def value(part_weights):
            return mean_of_sums(measure, held.sum(sums_at, measure, part_weights))

        points = points_of_simplex(len(parts))
        values = np.hstack(list(held.map(values_at_points, measure, points)))
        best = mean_best_point(values, points)
        single_parts = np.eye(len(parts))
        self.scores_ = HeldOutScores(
            parts=list(parts),
            weights=best,
            scores=[value(best), *map(value, single_parts)],
            random_order=mean_of_sums(measure, held.sum(sums_of_random_order, measure)),
        )
        # Weights of the parts' own scores: those of scaled ones over the deviations.
        return dict(zip(parts, (best / deviations).tolist(), strict=True))

    def _folds(self, rows, n_folds):
        """Row indices (train, test) of the first `n_folds` folds, or of all."""
        cv = 3 if self.cv is None else self.cv
        is_number = isinstance(cv, int | np.integer)
        splitter = GroupKFold(cv) if is_number else check_cv(cv)
        splits = islice(splitter.split(rows.X, rows.target, rows.groups), n_folds)
        # Without query ids all documents are one list, which folds may cut.
        has_lists = self._has_qid_ or self.n_items_ is not None
        ids = rows.groups if has_lists else None
        places = np.arange(len(rows.groups))
        folds = []
        for train, test in splits:  # indices or masks
            folds.append((places[np.asarray(train)], places[np.asarray(test)]))
        for train, test in folds:
            refuse(
                CHECKS_OF_FOLDS,
                cv=cv,
                train=train,
                test=test,
                ids=ids,
                weights=rows.weights,
            )
        return folds

    def _held_out(self, parts, folds, rows):
        """Score the rows in test folds by each part.

        Returns
        -------
        places : ndarray of int
            Indices of the rows in test folds, in their order.
        scores : ndarray of shape (n_parts, len(places), ...)
        rounds : dict of str to list
            The rounds of each part that stopped early, in each fold, else None.
        """
        fits = []
        for name, part in parts.items():
            for i, fold in enumerate(folds, start=1):
                line = self._progress(name, f"fold {i}")
                fits.append((held_out_scores, name, part, rows, fold, line))
        fitted = self._parallel(fits)
        scores = [scores_of_fold for scores_of_fold, _ in fitted]
        rounds_of_fits = [n_rounds for _, n_rounds in fitted]
        # A row in several test folds has the score of the last one.
        tested = np.concatenate([test for _, test in folds])
        last_place = np.full(len(rows.target), -1)
        last_place[tested] = np.arange(len(tested))
        places = np.flatnonzero(last_place >= 0)
        scores_of_parts = []
        rounds = {}
        for i, name in enumerate(parts):
            fits_of_part = slice(i * len(folds), (i + 1) * len(folds))
            in_folds = np.concatenate(scores[fits_of_part])
            scores_of_parts.append(in_folds[last_place[places]])
            rounds[name] = rounds_of_fits[fits_of_part]
        return places, np.stack(scores_of_parts), rounds

    def _parallel(self, calls):
        """Call functions in parallel, each with its arguments."""
        jobs = [delayed(with_findings)(*call) for call in calls]
        results = []
        for result, findings in Parallel(n_jobs=self.n_jobs)(jobs):
            results.append(result)
            hand_on(findings)
        return results

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
        if is_data_frame(X):
            refuse_other_kinds(X, self._categories_of_fit())
        if self._has_default_parts():
            refuse_later_gaps(X, self.estimators_)
        parts = self.named_estimators_.items()
        return sum(self.weights_[name] * scores_of(part, X) for name, part in parts)

    def _categories_of_fit(self):
        """Return the texts of each column of text in fit, by name, of default parts."""
        if not self._has_default_parts():
            return {}
        part = next(iter(self.named_estimators_.values()))
        return categories_of_fit(part)

    @property
    def feature_importances_(self) -> Any:
        """Not there: the parts have other units, and the error names what is."""
        refuse_importances(self)

    def _plan(self, parts, rows):
        """Return the progress of all fits: rows to fit to by part, or None."""
        if not self.verbose:
            return None
        n_rows = float(len(rows.groups))
        n_in_folds = 0.0
        if self.weights is None and self._has_enough_lists(is_told=False):
            n_folds = check_cv(3 if self.cv is None else self.cv).get_n_splits(
                rows.X, rows.target, rows.groups
            )
            n_fits = self._n_folds_held_out() or n_folds
            n_in_folds = n_fits * n_rows * (n_folds - 1) / n_folds
        sizes = dict.fromkeys(parts, n_rows + n_in_folds)
        return Progress(type(self).__name__, sizes)

    def _progress(self, name, rows):
        """Line of progress of a fit, or None."""
        return f"[StackingRanker] {name} on {rows}" if self.verbose else None

    def _sk_visual_block_(self):
        """Return the diagram of the parts, with their weights once fitted."""
        parts = list(self._parts_by_name().items())
        weights = getattr(self, "weights_", None)
        if weights:
            parts = [
                (f"{name}, weight {weights[name]:.3g}", part)
                for name, part in self.named_estimators_.items()
            ]
        return VotingRegressor(parts)._sk_visual_block_()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        parts = self._parts_by_name().values()
        of_parts = [get_tags(part).input_tags for part in parts]
        # The parts of None take missing values, and no sparse X.
        tags.input_tags.sparse = bool(of_parts) and all(one.sparse for one in of_parts)
        tags.input_tags.allow_nan = all(one.allow_nan for one in of_parts)
        return tags


# Parts ------------------------------------------------------------------------------


class Rows(NamedTuple):
    """Rows as parts and folds take them.

    Attributes
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
    target : ndarray of shape (n_rows, ...)
        Labels; of documents a `ranking_target`.
    groups : ndarray of int, shape (n_rows,)
        List of each row.
    weights : ndarray of shape (n_rows,) or None
        None without sample_weight, which a part need not take.
    """

    X: Any
    target: np.ndarray
    groups: np.ndarray
    weights: Any

    def take(self, places):
        """Return some of the rows, by their indices."""
        weights = self.weights
        if weights is not None:
            weights = weights[places]
        return Rows(
            X=take_rows(self.X, places),
            target=self.target[places],
            groups=self.groups[places],
            weights=weights,
        )


def rows_of_parts(data, y, qid, sample_weight):
    """Return `Rows` of `Data` that were read from y, qid and sample_weight."""
    target = data.y
    groups = np.arange(len(target))
    if target.ndim == 1:
        groups = data.lists.codes
        time = times_of_rows(y, qid)  # a splitter may need it
        target = joined_target(target, groups, time)
    weights = None if sample_weight is None else data.weights
    return Rows(X=data.X, target=target, groups=groups, weights=weights)


def as_ranker(part, ndim):
    """Wrap a part that takes no `ranking_target`; `ndim` is that of y."""
    _, last = last_step(part)
    if ndim > 1 or isinstance(last, BaseRanker):
        return part
    return WrappedRanker(part)


def held_out_scores(name, part, rows, fold, line):
    """Score the test rows of a fold by the part, fitted on the training rows.

    Returns also the rounds that early stopping found, or None.
    """
    train, test = fold
    training_rows = rows.take(train)
    is_known = has_labels(training_rows)
    if not is_known.all():
        target = training_rows.target[:, is_known]
        training_rows = training_rows._replace(target=target)
    model = fitted_part(name, part, training_rows, line)
    _, last = last_step(model)
    n_rounds = None
    if hasattr(last, "_set_rounds") and hasattr(last, "validation_scores_"):
        n_rounds = last.n_iter_
    scores = scores_of(model, take_rows(rows.X, test))
    if not is_known.all():
        # An item without a label in the training rows is neither good nor bad.
        scores_of_known = scores
        scores = np.empty((len(test), len(is_known)))
        scores[:] = scores_of_known.mean(axis=1, keepdims=True)
        scores[:, is_known] = scores_of_known
    return scores, n_rounds


def has_labels(rows):
    """Whether each item has a label in a row of positive weight; True of documents."""
    target, weights = rows.target, rows.weights
    if target.ndim != 2:
        return np.ones(1, dtype=bool)
    is_known = ~np.isnan(target)
    if weights is not None:
        is_known &= np.asarray(weights)[:, np.newaxis] > 0
    return is_known.any(axis=0)


def with_rounds(part, rounds):
    """Clone the part with the median of the rounds that early stopping found in folds.

    The last fit need not hold out rows again. A part that did not stop early stays.
    """
    if rounds[0] is None:
        return part
    part = clone(part)
    _, last = last_step(part)
    last._set_rounds(int(np.median(rounds)))
    return part


def fitted_part(name, part, rows, line):
    """Fit a clone of the part; print the line of progress; an error names the part."""
    model = clone(part)
    X, target, _, weights = rows
    with naming_part(name), config_context(enable_metadata_routing=False):
        options = {} if weights is None else weight_parameters(model, weights)
        refuse(CHECKS_OF_WRAPPED, estimator=model, weights=weights, options=options)
        steps, last = last_step(model)
        if steps and isinstance(last, BaseRanker) and target.dtype.names:
            # The steps before it take grades, and no ids.
            options = {**options, f"{steps}qid": target["qid"]}
            target = target["y"]
        with following_fit(name, len(target), line):
            return model.fit(X, target, **options)


def scores_of(model, X):
    """Score the rows of X by a fitted part, in float64."""
    scores = model.decision_function(X) if is_classifier(model) else model.predict(X)
    return np.asarray(scores, dtype=np.float64)
