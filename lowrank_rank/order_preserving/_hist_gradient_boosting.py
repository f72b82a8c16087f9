"""HistGradientBoostingRanker: scikit-learn's histogram trees under losses of lists."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from itertools import compress, islice
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker, refuse_importances
from ..fitting._early_stopping import PARAMETERS, hold_out, measure_on
from ..fitting._list_trees import fit_list_trees
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_target_loss
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    column_names,
    holds_objects,
    is_array,
    is_data_frame,
    take_rows,
)
from ..validation._check import InputError, refuse
from ..validation._checks_of_features import CHECKS_OF_FAILED_ENTRIES, CHECKS_OF_X
from ..validation._checks_of_surrogates import (
    CHECKS_OF_CATEGORIES,
    CHECKS_OF_GRADES_OF_TREES,
    CHECKS_OF_WARM_STARTS,
)
from ..validation._kinds import arrive
from ..validation._parameters import RUNTIME, Rule, count, fresh_fit, number, say
from ..validation._progress import Progress
from ..validation._read import Data, read_features, with_numbers
from ._list_loss import ListLoss, LossesInTurn, check_loss
from ._surrogates import Surrogate

#: For "auto": upper limit of the rows, rounds of one loss, rounds of several losses,
#: leaves of a tree.
_CAPACITY = (
    (1_000, 50, 50, 4),
    (3_000, 100, 100, 4),
    (20_000, 100, 100, 31),
    (np.inf, 300, 200, 31),
)


def _may_be_loss(value):
    """Whether a value is of a type of losses; `check_loss` says what a class lacks."""
    if isinstance(value, str | tuple):
        return len(value) > 0
    return isinstance(value, Surrogate | type)


class HistGradientBoostingRanker(BaseRanker, RegressorMixin, BaseEstimator):
    """Boosted trees that learn to rank lists, on scikit-learn's own histogram trees.

    The losses alternate. Each tree is a Newton step of one loss at the scores of its
    own trees, and the score is the sum of all trees. The default is LambdaRank [1]_
    (:ref:`its formula <lambdarank>`) and the squared loss of pairs, both with the gains
    of `target_loss`: they err differently. "pairwise_squared" is order-preserving for
    `target_loss`, with a regret bound (a theorem [2]_); LambdaRank is not. Missing
    values are learnt as such, and categories without encoding.

    Parameters
    ----------
    loss : str, Surrogate or tuple of them, default=("lambdarank", "pairwise_squared")
        "lambdarank", or a surrogate of `OrderPreservingRegressor` such as
        "cross_entropy"; or a tuple of losses. In a tuple the gains of a squared loss
        are divided by half of their standard deviation within lists.
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", ... It gives the gains.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    learning_rate : float, default=0.1
        Factor of the values of all leaves.
    max_iter : int or "auto", default="auto"
        Number of rounds; a round is one tree of each loss. "auto" is 50 below 1,000
        rows of positive weight, 100 below 20,000, else 200, and 300 for a single loss.
    max_leaf_nodes : int, None or "auto", default="auto"
        Largest number of leaves of a tree. "auto" is 4 below 3,000 rows of positive
        weight, else 31.
    max_depth : int or None, default=None
        Largest depth of a tree.
    min_samples_leaf : int, default=20
        Least number of rows of a leaf; weights do not count.
    l2_regularization : float, default=0.0
        Penalty of the values of leaves. The mean curvature of a row is 1 at equal
        scores.
    max_features : float, default=1.0
        Fraction of features that each split chooses from at random.
    max_bins : int, default=255
        Largest number of bins of a feature, and of categories.
    categorical_features : array-like, "from_dtype" or None, default="from_dtype"
        Categorical features: a mask, indices, names, or the columns of a frame with a
        category dtype.
    monotonic_cst : array-like or dict or None, default=None
        1 for features in which the score may only rise, -1 only fall, 0 for the others.
    interaction_cst : {"pairwise", "no_interactions"} or sequence or None, default=None
        Sets of features that may meet in one branch.
    warm_start : bool, default=False
        Keep the trees of the last fit, and add more up to `max_iter`. X may have other
        rows; the losses must be the same.
    early_stopping : bool, default=False
        Find the number of rounds, up to `max_iter`, by `target_loss` on held-out
        queries, and fit this many rounds to all queries; above 20,000 rows with
        ``max_iter=400``.
    validation_fraction : float, default=0.2
        `early_stopping`: fraction of the queries that are held out.
    n_iter_no_change : int, default=100
        `early_stopping`: stop after this many rounds without improvement.
    verbose : int, default=0
        Whether to print the number of rounds, and the measure on held-out queries; and
        once a second the rounds so far and the time left, an upper bound while
        `early_stopping` looks for the number of rounds.
    random_state : int, RandomState instance or None, default=None
        Draws features, rows to find bins from, and held-out queries.

    Attributes
    ----------
    target_loss_ : TargetLoss
        The target loss as an object.
    estimator_ : HistGradientBoostingRegressor
        The trees of all losses, ``n_iter_`` of them. Without categorical features
        SHAP's ``TreeExplainer`` and converters to ONNX read it as one model.
    n_iter_, max_leaf_nodes_ : int
        Number of rounds, and largest number of leaves of a tree.
    validation_scores_ : ndarray of shape (n,)
        `early_stopping`: the measure on the held-out queries after each round.
    n_lists_ : int
        Number of lists of positive weight.
    n_items_ : None
        There are no fixed items.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.

    See Also
    --------
    OrderPreservingRegressor : Linear ranker, for few judged queries.
    StackingRanker : Fit several rankers and weigh them by the measure.

    Notes
    -----
    There is no ``feature_importances_``: use
    ``model_selection.query_permutation_importance(ranker, X, y, qid=qid)``.

    References
    ----------
    .. [1] C. Burges, "From RankNet to LambdaRank to LambdaMART: An Overview",
       MSR-TR-2010-82.
    .. [2] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93,
       2013.

    Examples
    --------
    >>> from lowrank_rank import HistGradientBoostingRanker
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = HistGradientBoostingRanker(min_samples_leaf=1).fit(X, y, qid=qid)
    >>> ranker.rank([[1.0], [0.0], [2.0]], qid=["c", "c", "d"])
    array([1, 2, 1])
    """

    n_iter_: int
    max_leaf_nodes_: int | None
    _parameters: ClassVar = {
        "loss": [Rule(_may_be_loss, "a loss or a tuple of losses")],
        "max_iter": ["auto", count()],
        "max_leaf_nodes": ["auto", count(2), None],
        "l2_regularization": [number(0)],
        "warm_start": [bool],
        "verbose": RUNTIME["verbose"],
        **PARAMETERS,
    }

    def __init__(
        self,
        loss: str | Surrogate | tuple[Any, ...] = ("lambdarank", "pairwise_squared"),
        *,
        target_loss: str | TargetLoss = "ndcg@10",
        learning_rate: float = 0.1,
        max_iter: int | Literal["auto"] = "auto",
        max_leaf_nodes: int | str | None = "auto",
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        warm_start: bool = False,
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        n_iter_no_change: int = 100,
        verbose: int = 0,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.loss = loss
        self.target_loss = target_loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.verbose = verbose
        self.random_state = random_state

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "HistGradientBoostingRanker":
        """Grow the trees.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
            One row per document. NaN is a value of its own; columns of pandas with a
            category dtype are categories (of polars from scikit-learn 1.7 on).
        y : array-like of shape (n_rows,)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row, constant within a list it is a list weight. Rows of
            weight 0 do not count, and a constant factor changes nothing. A list of
            weight 2 has the derivatives of the list twice; `min_samples_leaf` and the
            bins count rows.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters are wrong, the loss cannot
            take the utilities, a list has too many pairs for the loss, or
            `early_stopping` has fewer than two lists. The model is unchanged then.
        """
        before = dict(vars(self))
        with fresh_fit(self), self._errors(X):
            if not self.warm_start:
                before = {}
            loss = resolve_target_loss(self.target_loss, copied=True)
            for surrogate in self._losses:
                check_loss(surrogate, loss, type(self).__name__)
            rows = self._read(X, y, qid, sample_weight, loss, one_list=one_list)
            refuse(CHECKS_OF_GRADES_OF_TREES, model=self, y=rows.y)
            self._set_lists(rows, loss)
            rows = _select_rows(rows, np.flatnonzero(rows.weights > 0))
            trees, n_iter = self._trees(rows, before)
            if self.early_stopping:
                n_iter = self._best_n_iter(trees, n_iter, rows)
            leaves = f"{len(self._losses)} x {trees.max_leaf_nodes} leaves"
            say(self, f"{n_iter} rounds, {leaves} each")
            derivatives = self._derivatives(rows, before.get("estimator_"))
            n_new = n_iter - before.get("n_iter_", 0)
            self.estimator_: Any = self._grow(
                trees, n_iter, rows.X, derivatives, self._progress_of(n_new)
            )
            self.n_iter_ = n_iter
            self.max_leaf_nodes_ = trees.max_leaf_nodes
            self._grown_by_ = repr(self._losses)
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; the score of a row depends on this row alone.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
            An unknown category counts as missing.

        Returns
        -------
        ndarray of shape (n_rows,)
            One score per row, higher is better.
        """
        arrive(X=X)
        check_is_fitted(self)
        self._refuse_text_of_categories(X)
        X = with_numbers(X)
        with self._errors(X):
            self._check_frame(X)
            return self.estimator_.predict(X)

    def staged_predict(self, X: MatrixLike) -> Iterator[np.ndarray]:
        """Scores after each round, which is a tree of each loss.

        Parameters
        ----------
        X : array-like or frame of shape (n_rows, n_features)
            An unknown category counts as missing.

        Yields
        ------
        ndarray of shape (n_rows,)
            One score per row, higher is better.
        """
        arrive(X=X)
        check_is_fitted(self)
        self._refuse_text_of_categories(X)
        X = with_numbers(X)
        with self._errors(X):
            self._check_frame(X)
            n_losses = self.estimator_.n_iter_ // self.n_iter_
            stages = self.estimator_.staged_predict(X)
            # The last tree of each round
            yield from islice(stages, n_losses - 1, None, n_losses)

    # Fitting --------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _is_linear(self):
        return False

    def _validate_X(self, X, *, reset):
        if is_data_frame(X):
            X = with_numbers(X)
            return read_features(self, X, reset=reset, skip_check_array=True)
        options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
        return read_features(self, X, reset=reset, accept_sparse=False, **options)

    def _check_frame(self, X):
        """Refuse a frame with other columns than in fit, and dicts.

        The trees check arrays.
        """
        if is_data_frame(X):
            read_features(self, X, reset=False, skip_check_array=True)
        elif not is_array(X):
            arrive(X=X)
            refuse(CHECKS_OF_X, model=self, X=X)

    def _refuse_text_of_categories(self, X):
        """Refuse text in a column of a frame that had a category dtype in fit."""
        is_category = self.estimator_.is_categorical_
        if is_category is None or not is_data_frame(X):
            return
        names = column_names(X)
        if names != list(getattr(self, "feature_names_in_", ())):
            return  # refused where columns are compared
        columns = [
            name
            for name, dtype in zip(
                compress(names, is_category),
                compress(X.dtypes, is_category),
                strict=True,
            )
            if holds_objects(dtype)
        ]
        refuse(CHECKS_OF_CATEGORIES, X=X, columns=columns)

    @contextmanager
    def _errors(self, X):
        """Let errors of scikit-learn's trees name this class and where X holds text."""
        try:
            yield
        except (ValueError, TypeError) as error:
            refuse(CHECKS_OF_FAILED_ENTRIES, X=X, error=error)
            message = str(error)
            inner = HistGradientBoostingRegressor.__name__
            if inner not in message:
                raise
            message = message.replace(inner, type(self).__name__)
            if isinstance(error, InputError):
                raise type(error)(message, error.check, error.remedies) from error
            raise type(error)(message) from error

    @property
    def feature_importances_(self) -> Any:
        """Not available, as in scikit-learn's trees; the error names a function."""
        refuse_importances(self)

    @property
    def _losses(self):
        """The losses as a tuple."""
        return self.loss if isinstance(self.loss, tuple) else (self.loss,)

    def _trees(self, rows, before):
        """Make the trees to grow, and count the rounds in all.

        With a warm start they are those of the attributes `before`.
        """
        trees = HistGradientBoostingRegressor()
        shared = trees.get_params().keys() & self.get_params(deep=False).keys()
        shared -= {"loss", "max_iter", "verbose"}
        trees.set_params(**{name: getattr(self, name) for name in shared})
        trees.set_params(early_stopping=False, warm_start=True)
        n_iter = self.max_iter
        capacity = next(row for row in _CAPACITY if len(rows.y) < row[0])
        _, rounds_of_one, rounds_of_several, leaves = capacity
        if n_iter == "auto":
            n_iter = rounds_of_several if len(self._losses) > 1 else rounds_of_one
        if self.max_leaf_nodes == "auto":
            trees.set_params(max_leaf_nodes=leaves)
        if "estimator_" not in before:
            return trees, n_iter
        earlier_n_iter = before["n_iter_"]
        n_features = before["n_features_in_"]
        losses = before["_grown_by_"]
        is_same = n_features == self.n_features_in_ and losses == repr(self._losses)
        refuse(
            CHECKS_OF_WARM_STARTS,
            early_stopping=self.early_stopping,
            n_iter=n_iter,
            earlier_n_iter=earlier_n_iter,
            n_features=n_features,
            losses=losses,
            is_same=is_same,
        )
        return deepcopy(before["estimator_"]).set_params(**trees.get_params()), n_iter

    def _derivatives(self, rows, before=None):
        """Make the losses of `Data`, in turn, at the scores of the trees `before`."""
        weights = rows.weights / rows.weights.max()  # no overflow of the sum
        weights /= weights.mean()  # the trees have limits in units of the curvature
        labels = self.target_loss_, rows.y, weights, rows.lists
        is_term = len(self._losses) > 1
        losses = [ListLoss(name, *labels, is_term=is_term) for name in self._losses]
        stages = () if before is None else before.staged_predict(rows.X)
        return LossesInTurn(losses, len(rows.y), stages)

    # Derivatives out of range are refused.
    @np.errstate(over="ignore", invalid="ignore")
    def _grow(self, trees, n_iter, X, derivatives, progress):
        """Fit the trees of all rounds."""
        n_losses = len(self._losses)
        trees.set_params(max_iter=n_iter * n_losses)
        is_first = True

        def counting(s):
            # A call begins a tree, so the first one ends none.
            nonlocal is_first
            if not is_first:
                progress.advance("rounds", 1.0 / n_losses)
            is_first = False
            return derivatives(s)

        return fit_list_trees(trees, X, counting)

    def _progress_of(self, n_rounds):
        """Make the lines of progress of a number of rounds."""
        name = type(self).__name__ if self.verbose else None
        return Progress(name, {"rounds": n_rounds})

    def _best_n_iter(self, trees, max_iter, rows):
        """Find the number of rounds with the best measure on held-out lists."""
        training_rows, test_rows = hold_out(
            rows.lists, rows.weights, self.validation_fraction, self.random_state
        )
        training = _select_rows(rows, training_rows)
        test = _select_rows(rows, test_rows)
        value = measure_on(self.target_loss_, test.y, test.lists, test.weights)
        derivatives = self._derivatives(training)
        progress = self._progress_of(max_iter)
        trees = clone(trees)
        n_losses = len(self._losses)
        scores = list[float]()
        best = 0
        end = min(1 + self.n_iter_no_change, max_iter)
        while len(scores) < end:
            # Grow the rounds that have to be tried: each call bins all rows again.
            self._grow(trees, end, training.X, derivatives, progress)
            next_stage = n_losses * (len(scores) + 1) - 1
            stages = islice(trees.staged_predict(test.X), next_stage, None, n_losses)
            scores += map(value, stages)
            best = int(np.argmax(scores))
            end = min(best + 1 + self.n_iter_no_change, max_iter)
            values = f"{scores[-1]:.4f}, best {scores[best]:.4f} at {best + 1}"
            say(self, f"{len(scores)} rounds: held-out {self.target_loss} {values}")
        self.validation_scores_: np.ndarray = np.array(scores)
        return best + 1

    def _set_rounds(self, n_iter):
        """Fix the number of rounds, which early stopping found."""
        self.set_params(early_stopping=False, max_iter=n_iter)


def _select_rows(rows, indices):
    """Select the `Data` with these indices, in increasing order."""
    X, y, lists, weights = rows
    if len(indices) == len(y):
        return rows
    return Data(
        X=take_rows(X, indices),
        y=y[indices],
        lists=lists.of_rows(indices),
        weights=weights[indices],
    )
