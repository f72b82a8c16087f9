"""StructuredHingeRanker: linear scores for the structured hinge of a measure."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import available_if

from .._base import LinearRanker
from ..lists._lists import RankingLists
from ..validation._arrays import ArrayLike, MatrixLike
from ..validation._check import refuse
from ..validation._checks_of_hinges import CHECKS_OF_LATER_LISTS
from ..validation._findings import found
from ..validation._parameters import all_or_nothing, fresh_fit
from ._hinge_estimator import (
    HINGE_PARAMETERS,
    HingeEstimator,
    check_continues,
    copies_of_rows,
    row_order,
    takes_steps,
    weights_of_lists,
)
from ._hinges import check_bounds, resolve_hinge, rows_of_lists
from ._solvers import HingeProblem


class StructuredHingeRanker(
    HingeEstimator, LinearRanker, RegressorMixin, BaseEstimator
):
    """Linear RankSVM, also for NDCG and other measures.

    The objective, over the lists on which the measure is defined (chapter 17 of [1]_),
    is::

        alpha / 2 |w|^2
        + mean of  max over y' of Delta(y', y) + <w, Psi(x, y') - Psi(x, y)>

    Delta is the loss of the measure. Psi is the sum of documents by place (ndcg), by
    mark (precision, recall) or by pair (kendall, auc: the linear RankSVM). Psi is
    divided by the mean of r^2 / 4 (ndcg) or of twice the relevant items (precision,
    recall). Each term is a convex upper bound of the loss of its list; for precision@k,
    of the loss of the ``max(k, number of scores above 0)`` best items. The hinges are
    not calibrated in general: even with unlimited data the order may be wrong.

    Parameters
    ----------
    target_loss : str or RankingMeasure, default="kendall"
        The measure to train for: "kendall", "ndcg@10", "auc", "precision@k" (k at most
        the relevant items of each list), "recall@k" (at least), or an object.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    alpha : float or "auto", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n``: m features, n lists, c =
        1/2 over the mean hinge at zero weights.
    standardize : bool, default=True
        Whether to divide features by their standard deviation, for documents within
        lists, for fixed items with q < 1/2 over ``sqrt(2 q)``. ``coef_`` is for X as
        given. `partial_fit` uses the scale of the first call.
    solver : {"auto", "lbfgs", "cutting_plane", "sgd"}, default="auto"
        "lbfgs" smooths the hinge (kendall and auc only), "cutting_plane" has a slack
        for each batch, "sgd" takes steps of decreasing length, with a mean in which
        late ones count more. "auto" is "lbfgs" if possible, else "cutting_plane".
    radius : float or None, default=None
        A number B runs the SGD of section 17.2.5 of [1]_ as published instead of
        `solver`, without the penalty: ``T = max_iter`` steps of size ``B / (rho
        sqrt(T))`` on lists drawn at random, and their mean. rho bounds the difference
        of Psi for two label sets of a list. The expected hinge is at most ``B rho /
        sqrt(T)`` above the least of norm B (corollary 17.2).
    tol : float, default=1e-2
        Duality gap at which to stop, relative to the objective at zero weights. "sgd"
        stops when five passes in a row did not lower the objective by so much.
    max_iter : int, default=1000
        Largest number of iterations, rounds, or passes over the batches; the number of
        steps with a `radius`.
    batch_size : int or "auto", default="auto"
        Number of lists in a step of "sgd" ("auto" makes a hundred batches), or in a
        slack of "cutting_plane" (up to 500).
    fit_intercept : bool, default=True
        Whether to fit a penalised intercept; for documents, only with precision and
        recall.
    random_state : int, RandomState instance or None, default=None
        Order of the batches.
    verbose : int, default=0
        Print progress after this number of iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (r, n_features)
        Coefficients, for features as given.
    intercept_ : float or ndarray of shape (r,)
        Intercepts.
    alpha_ : float
        The penalty; 0 with a `radius`.
    objective_ : float
        The objective at the solution; the mean hinge with a `radius`.
    dual_gap_ : float
        Upper bound of the objective minus its minimum; else nan.
    solver_ : str
        The solver; "published_sgd" with a `radius`.
    n_iter_ : int
        Iterations, rounds, passes or steps.
    target_loss_ : RankingMeasure
        The measure as an object.
    n_lists_ : int
        Number of lists of positive weight with a value.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.
    item_names_ : ndarray
        Names of the columns of y, if y is a frame.

    See Also
    --------
    LowRankSurrogateRanker : Calibrated, for measures with a low-rank form.
    OrderPreservingRegressor : Calibrated, by convex surrogates.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, chapter 17.

    Examples
    --------
    >>> from lowrank_rank.structured import StructuredHingeRanker
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = StructuredHingeRanker(target_loss="kendall").fit(X, y, qid=qid)
    >>> ranker.rank([[1.0], [3.0], [2.0]], qid=["c", "c", "c"])
    array([3, 1, 2])
    """

    _scale_: Any = None  # the size of the slopes of the first call
    _parameters: ClassVar = HINGE_PARAMETERS

    def __init__(
        self,
        *,
        target_loss: Any = "kendall",
        alpha: float | str = "auto",
        standardize: bool = True,
        solver: str = "auto",
        radius: float | None = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
        batch_size: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.alpha = alpha
        self.standardize = standardize
        self.solver = solver
        self.radius = radius
        self.tol = tol
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "StructuredHingeRanker":
        """Minimise the hinge.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.
        y : array-like of shape (n_rows,) or (n_rows, r)
            Grades, higher is better; a `ranking_target` carries its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document; None is one list of all rows.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Weights of lists: rows of a list share one weight, and a list of weight 2 is
            the list twice. Without qid all rows are one list, and whole numbers count
            copies of rows.
        one_list : bool, default=False
            Say that all rows are one list; more than 200 rows without ids need it.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters are wrong, or k does not fit
            the number of relevant items. The model is unchanged then.

        Warns
        -----
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        UserWarning
            If the hinge of the measure has its minimum at zero weights.
        """
        with fresh_fit(self):
            rows, measure, hinge = self._read_labels(
                X, y, qid, sample_weight, reset=True, one_list=one_list
            )
            encoded = self._encode(rows, measure, hinge, reset=True)
            problem = self._standardise(hinge, *encoded)
            w = self._solve(
                problem,
                self._penalty(problem, curvature=0.5),
                batch_size=self.batch_size,
                random_state=self.random_state,
            )
            self._keep(problem, w)
            is_of_steps = self.solver_ in ("sgd", "published_sgd")
            is_minimum = not is_of_steps and not self.coef_.any()
            if is_minimum and problem.at_zero.value > 0.0:
                found(
                    "zero weights",
                    f"The hinge of {self.target_loss_!r} has its minimum at zero "
                    f"weights, at alpha={self.alpha_:.3g}: lists are too long, or have "
                    "too few relevant items. Use target_loss='kendall', or "
                    "LowRankSurrogateRanker.",
                )
        return self

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "StructuredHingeRanker":
        """Take one pass of steps over more lists.

        The method needs ``solver="sgd"`` and a number for `alpha`. The first call
        scales the features and should have some hundred rows.

        Parameters
        ----------
        X, y, qid, sample_weight, one_list
            As in `fit`. A list must be in one call: the first id of a call must not be
            the last id of the call before.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`. Also if a list is cut across two calls, or a call has no ids
            after calls with ids.
        """
        is_first = not hasattr(self, "coef_")
        with all_or_nothing(self):
            rows, measure, hinge = self._read_labels(
                X, y, qid, sample_weight, reset=is_first, one_list=one_list
            )
            self._fitted_lists_ = None  # other calls may have had any lists
            encoded = self._encode(rows, measure, hinge, reset=is_first)
            problem = self._standardise(hinge, *encoded)
            self._keep(problem, self._step_more(problem, batch_size=self.batch_size))
        return self

    def _read_labels(self, X, y, qid, sample_weight, *, reset, one_list):
        """Return checked rows, the measure and the class of its hinge."""
        measure, hinge = resolve_hinge(self.target_loss)
        rows = self._read(
            X, y, qid, sample_weight, measure, reset=reset, one_list=one_list
        )
        if not reset:
            n_items = None if rows.y.ndim == 1 else rows.y.shape[1]
            layout = {
                "target_loss": (repr(self.target_loss_), repr(measure)),
                "fixed items": (self.n_items_, n_items),
            }
            refuse(CHECKS_OF_LATER_LISTS, layout=layout)
            _, last_key = self._ends_
            check_continues(self._has_qid_, last_key, rows.lists)
        return rows._replace(y=measure.check_labels(rows.y)), measure, hinge

    def _encode(self, rows, measure, hinge, *, reset):
        """Return X, y, lists, their weights and the total weight.

        The lists have a positive weight, and the measure is defined on them. y is flat,
        and the total is infinite if there is no such list.
        """
        n_before = 0 if reset else self.n_lists_
        self._set_lists(rows, measure)
        self._ends_ = rows.ends  # the next call must not continue the last list
        X, y, lists, weights = _grouped(*rows)
        check_bounds(measure, y, lists)
        counts = (weights > 0) & hinge.defined(y, lists)
        if counts.any():
            total = weights[counts].sum()
        else:  # there is nothing to learn: any list does
            total = np.inf
            counts[np.argmax(weights)] = True
        if not counts.all():
            counted = np.flatnonzero(counts)
            rows_counted = rows_of_lists(lists, counted)
            X = X[rows_counted if self.n_items_ is None else counted]
            y = y[rows_counted]
            weights = weights[counted]
            lists = RankingLists(lists.lengths[counted])
        self.n_lists_ = n_before + lists.n_lists
        return X, y, lists, weights, total

    def _standardise(self, hinge, X, y, lists, weights, total):
        """Build the `HingeProblem` of standardised features over the size of slopes."""
        n_items = self.n_items_
        if self._scale_ is None:
            slope_size = np.average(hinge.slope_size(y, lists), weights=weights)
            self._scale_ = max(1.0, float(slope_size))
        if n_items is None:
            intercept = self.fit_intercept and hinge.depends_on_shift
            X, shift = self._standardised(
                X,
                lists.repeat(weights),
                centre=intercept or not hinge.depends_on_shift,
                lists=lists,
            )
        else:
            intercept = self.fit_intercept
            X, shift = self._standardised(X, weights, centre=intercept)
        return HingeProblem(
            X / self._scale_,
            hinge(y, lists, n_items, self.target_loss_),
            weights / total,
            n_items or 1,
            intercept=intercept,
            shift=shift / self._scale_,
        )

    def _keep(self, problem, w):
        """Set the coefficients of the features as given."""
        coef, intercept = problem.split(w)
        coef, intercept = self._unscaled(coef / self._scale_, intercept)
        if not problem.intercept:  # pairs and orders do not depend on the means
            intercept = np.zeros_like(intercept)
        self._keep_linear(coef, intercept)


def _grouped(X, y, lists, weights):
    """Return rows in grouped order, sorted by contents, and weights of lists."""
    if y.ndim == 2:
        return X, y.ravel(), lists, weights
    if lists.ids is None:
        return _one_list(X, y, weights)
    list_weights = weights_of_lists(
        weights,
        lists,
        "list",
        " LowRankSurrogateRanker and OrderPreservingRegressor take a weight for each "
        "row.",
    )
    rows = row_order(X, y, lists.codes)
    lists = RankingLists(lists.lengths, None, lists.ids)
    return X[rows], y[rows], lists, list_weights


def _one_list(X, y, weights):
    """Return all rows as one list; weights that differ count copies of the rows."""
    rows = np.arange(len(y))
    list_weights = weights[:1]
    if np.any(weights != weights[0]):
        rows = copies_of_rows(
            X, weights, ", or qid and one weight for all rows of a list"
        )
        list_weights = np.ones(1)
    rows = rows[row_order(X[rows], y[rows])]
    return X[rows], y[rows], RankingLists([len(rows)]), list_weights
