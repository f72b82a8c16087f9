"""OrderPreservingRegressor: linear scores under an order-preserving surrogate."""

import warnings
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._base import BaseRanker, read_features
from .._blocks import Block, Blocks, HeldBlocks, check_iterable
from .._labels import nobody_judges, nothing_counts
from .._parameters import check_parameters, count, fresh_fit, number, verbosity
from .._typing import ArrayLike, MatrixLike
from ..regression._alpha import default_alpha
from ..regression._ridge import MAX_FEATURES_GRAM, LinearModel
from ._bounds import positional_loss
from ._problem import Scaling, unsupported_items
from ._solvers import Solution, ends, facts, labelled, prepare, read, solve_lbfgs, solve_ridge
from ._surrogates import resolve_surrogate

if TYPE_CHECKING:
    from ..target_losses._positional import PositionalLoss
    from ._surrogates import Surrogate

_LEAST_TOL_IN_SINGLE = 1e-6  # which products of float32 still tell from rounding


def _has_link(regressor):
    surrogate = getattr(regressor, "surrogate_", None) or resolve_surrogate(regressor.surrogate)
    return surrogate.has_link


class OrderPreservingRegressor(BaseRanker):
    """Linear ranker under a convex surrogate whose minimiser has the best order.

    A positional measure (NDCG, DCG, precision, recall, AUC, ERU, Spearman) is best where the items
    stand in the order of their expected utilities E v. An order-preserving surrogate is a convex
    loss of scores that is least in that order for every distribution of the labels, and whose
    regret bounds the regret of the measure [1]_:

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

    Fitted is ``sum over lists of surrogate(v, X w) / total + alpha / 2 |w|**2``, where total is
    the sum of the utilities or of the row weights, whichever the surrogate is proportional to.

    Parameters
    ----------
    target_loss : str or PositionalLoss, default="ndcg@10"
        Whose utilities v are aimed at.
    surrogate : str or Surrogate, default="cross_entropy"
        A name of `lowrank_rank.surrogates.SURROGATES` or a custom object. By name a two-sided
        pointwise surrogate takes eta = 1.5 times the largest utility.
    alpha : float or "auto", default="auto"
        Penalty of the squared coefficients, of standardised features if `standardize`, >= 0. "auto"
        is a formula of p features and n rows, n the sum of `sample_weight` (weights that sum to 1
        say "one row"), with f = min(p / n, 1): ``max(0.1, 10 f)`` for documents,
        ``f min(p / 50, 1)**2 / 2`` for fixed items; 0.1 m / n for fixed items with sparse X, m the
        mean squared norm of the scaled rows.
    fit_intercept : bool, default=True
        Ignored where it makes no difference: documents and a surrogate of differences.
    standardize : bool, default=True
        Divide features by their standard deviation before they are penalised, for documents by
        that within lists, sparse X of fixed items by the root mean square of the entries that are
        not 0; `coef_` is of the features as they came.
    solver : {"auto", "lbfgs"}, default="auto"
        "auto" solves the squared surrogates in closed form (up to 4000 features), others, and
        all of them with "lbfgs", by L-BFGS.
    tol : float, default=1e-5
        Largest entry of the objective's gradient at the solution, over that at zero coefficients;
        in standardised features. Orders rarely change below it; set 1e-9 or less for the last
        digits of the coefficients. From 1e-6 on X of float32 is multiplied in single precision,
        below it in double precision.
    max_iter : int, default=1000
        Iterations of L-BFGS.
    warm_start : bool, default=False
        Start from the coefficients of the last fit.
    verbose : int, default=0
        Progress on the standard output, every that many iterations.

    Attributes
    ----------
    target_loss_, surrogate_ : PositionalLoss and Surrogate
        As resolved, the surrogate with its eta.
    n_lists_ : int
        Number of lists with a positive weight seen in fit.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (r, n_features) and (r,)
        Of the scores.
    alpha_ : float
        The penalty in use.
    loss_ : float
        The objective at the solution.
    gradient_norm_ : float
        Largest entry of its gradient there, over that at zero; 0 for a closed form.
    n_iter_ : int
        Iterations of L-BFGS, 1 for a closed form.
    bound_factor_ : float
        ``sqrt(mean (c * C_phi(2))**2)`` over the training lists, in documents divided by the
        mean normaliser; see `regret_bound`.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names where X has them.

    See Also
    --------
    LowRankSurrogateRanker : Any regressor on the utilities themselves.
    lowrank_rank.calibration.regret_bound : The bound for known expected utilities.

    References
    ----------
    .. [1] C. Calauzenes, N. Usunier, P. Gallinari, "Calibration and Regret Bounds for
       Order-Preserving Surrogate Losses in Learning to Rank", Machine Learning 93, 2013.

    Examples
    --------
    >>> from lowrank_rank import OrderPreservingRegressor
    >>> X, y, qid = [[0.0], [1.0], [0.0], [2.0]], [0, 1, 0, 1], ["a", "a", "b", "b"]
    >>> ranker = OrderPreservingRegressor().fit(X, y, qid=qid)
    >>> bool(ranker.coef_[0] > 0), ranker.rank([[1.0], [3.0]], qid=[7, 7]).tolist()
    (True, [2, 1])
    """

    _parameters: ClassVar = {
        "solver": ["auto", "lbfgs"],
        "alpha": ["auto", number(0)],
        "tol": [number(above=0)],
        "max_iter": [count()],
        "fit_intercept": [bool],
        "standardize": [bool],
        "warm_start": [bool],
        "verbose": [verbosity],
    }

    def __init__(
        self,
        *,
        target_loss: "str | PositionalLoss" = "ndcg@10",
        surrogate: "str | Surrogate" = "cross_entropy",
        alpha: float | str = "auto",
        fit_intercept: bool = True,
        standardize: bool = True,
        solver: str = "auto",
        tol: float = 1e-5,
        max_iter: int = 1000,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.surrogate = surrogate
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "OrderPreservingRegressor":
        """Minimise the surrogate.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)
            One row per document, or per query for fixed items.
        y : array-like of shape (n_rows,) or (n_rows, r)
            Grades, higher is better; a `ranking_target` carries its qid. NaN in a matrix is not
            judged, for measures without a normaliser.
        qid : array-like of shape (n_rows,) or None, default=None
            Query id of each document: any hashable ids in any order.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importance of each row; constant within a list it is a list weight.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters do not fit, or the surrogate cannot take
            the utilities; nothing is changed then.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS stops before the gradient is within `tol`, or there is no minimum: under a
            surrogate with exponentials, as cross-entropy, the free intercept of a fixed item that
            is never relevant falls without end.
        """
        before = self._before()
        with fresh_fit(self):
            loss = self._check_parameters()
            rows = self._read(X, y, qid, sample_weight, loss)
            self._fit(HeldBlocks([labelled(rows, loss)]), loss, before)
        return self

    def fit_blocks(self, blocks: Iterable) -> "OrderPreservingRegressor":
        """Minimise the surrogate over blocks of whole lists, one at a time in memory.

        The result is that of `fit` on all rows together, but for rounding and `tol`. Blocks are
        read once for what has to be known of all rows (standard deviations, the largest utility),
        once for every evaluation of L-BFGS (about 1.1 an iteration), or once for the statistics of
        a closed form, and once at the end.

        Parameters
        ----------
        blocks : re-iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Each as `fit` takes it, with None where there is none; for instance
            `datasets.iter_lists`. Every iteration must give the same blocks. A list must be in one
            block.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`; if a list has rows in two blocks, if there is no block, or if the blocks
            can be read only once, as those of a generator. Nothing is changed then.
        """
        before = self._before()
        with fresh_fit(self):
            loss = self._check_parameters()
            first = next(iter(check_iterable(blocks, again=True)), None)
            if first is None:
                raise ValueError("There are no blocks: at least one row is needed.")
            self._validate_X(Block.of(first).X, reset=True)
            source, reader = Blocks(blocks), self._reader()
            first_pass = source.map(read, reader, loss, set())  # looks for lists that are cut
            self._fit(first_pass, loss, before, again=source.map(read, reader, loss))
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; a row's score does not depend on the other rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
        """
        check_is_fitted(self)
        X = self._validate_X(X, reset=False)
        scores = self._model().predict(X)
        return scores[:, 0] if self.n_items_ is None else scores

    @available_if(_has_link)
    def predict_utility(self, X: MatrixLike) -> np.ndarray:
        """Expected utilities, by the surrogate's link.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_queries, r)
            Estimates of E v. Not for surrogates of differences, whose scores have no origin.
        """
        check_is_fitted(self)
        return self.surrogate_.utility(self.predict(X))

    def regret_bound(self, surrogate_regret: float | ArrayLike) -> float | np.ndarray:
        """Largest regret of the measure that a regret of the surrogate allows.

        Parameters
        ----------
        surrogate_regret : float or array-like
            Expected surrogate of a list minus the least possible, >= 0, at the utilities that
            are fitted: those of the measure, in documents times their mean normaliser.

        Returns
        -------
        float or ndarray
            ``bound_factor_ * sqrt(surrogate_regret)``. c and C_phi are those of the training
            lists: where c depends on E v, that of their labels, which is no smaller on average.
        """
        check_is_fitted(self)
        bound = self.bound_factor_ * np.sqrt(np.maximum(surrogate_regret, 0.0))
        return bound if bound.ndim else float(bound)

    # Fitting --------------------------------------------------------------------------

    def _check_parameters(self):
        """The target loss, resolved and copied, of parameters that fit."""
        loss = clone(positional_loss(self.target_loss))
        resolve_surrogate(self.surrogate)
        check_parameters(self)
        return loss

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _validate_X(self, X, *, reset):
        return read_features(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _model(self):
        """`LinearModel` of the features as they came."""
        return LinearModel(np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_))

    def _say(self, message):
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def _before(self):
        """The model to start from, where there is one."""
        return self._model() if self.warm_start and hasattr(self, "coef_") else None

    def _reader(self):
        """An unfitted copy that knows the columns: all that reading a block needs."""
        reader = clone(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(reader, name, getattr(self, name))
        return reader

    def _fit(self, blocks, loss, before, again=None):
        """Fit to `Blocks` of `Labelled` rows, as they are read `again`; sets the attributes."""
        known_of_all = blocks.sum(facts)
        if not known_of_all.features.total > 0:
            raise nothing_counts()
        blocks = blocks if again is None else again
        labels = known_of_all.labels
        known = labels.known(self.surrogate)
        if not labels.judged.all():
            raise nobody_judges(int(np.argmin(labels.judged)))
        self._has_qid_, self.n_lists_ = labels.has_qid, labels.n_lists
        self.target_loss_, self.surrogate_, self.n_items_ = loss, known.surrogate, labels.layout
        sees_intercepts = labels.layout is not None or not known.surrogate.is_shift_invariant
        intercept = sees_intercepts and self.fit_intercept
        centre = intercept or not sees_intercepts  # differences do not see it
        scaling = Scaling.of(known_of_all.features, self.standardize, centre)
        self.alpha_ = self._penalty(known_of_all.features)
        few = len(scaling.scale) <= MAX_FEATURES_GRAM
        squared = known.surrogate.is_squared and labels.complete
        start = self._start(scaling, len(labels.judged), before)
        parts_in = partial(blocks.map, prepare, scaling, known, blocks.is_kept)
        if self.solver == "auto" and centre and few and squared:
            self._say(f"{known.surrogate!r} of {len(scaling.scale)} features in closed form")
            parts = parts_in(False)
            found = solve_ridge(parts, known, self.alpha_)
        else:
            found, parts = self._descend(parts_in, known_of_all.is_single, start, intercept)
        at_end = parts.sum(ends, loss, known.unit)
        norm, number = at_end.bound
        self.bound_factor_ = float(norm / np.sqrt(number)) if number else np.nan
        if intercept and found.slope > 0.0:
            self._warn_without_minimum(unsupported_items(at_end.above, len(labels.judged)))
        self._keep(scaling.unscaled(found.theta), found)

    def _penalty(self, features):
        """alpha, or what "auto" stands for."""
        if self.alpha != "auto":
            return float(self.alpha)
        kind = "documents" if self.n_items_ is None else "items"
        return default_alpha(kind, len(features.mean), features.total, features.mean_square)

    def _keep(self, model, found):
        self.loss_, self.gradient_norm_ = found.objective, found.slope
        self.n_iter_ = max(found.n_iter, 1)  # looking at a start that is the minimum counts too
        if self.surrogate_.is_shift_invariant:  # what is common to all items is not determined
            model = model._replace(intercept=model.intercept - model.intercept.mean())
        flat = self.n_items_ is None
        self.coef_ = model.coef[0] if flat else model.coef
        self.intercept_ = float(model.intercept[0]) if flat else model.intercept

    def _start(self, scaling, d, before):
        """Scaled coefficients to start from: those `before`, or zeros."""
        shape = d, len(scaling.scale)
        if before is None:
            return np.zeros((d, shape[1] + 1))
        if before.coef.shape != shape:
            raise ValueError(
                f"warm_start: the last fit has coefficients of shape {before.coef.shape}, this one "
                f"needs {shape}. Set warm_start=False."
            )
        return scaling.scaled(before)

    def _descend(self, parts_in, is_single, start, intercept):
        """`Solution` by L-BFGS, and the parts: in single precision as far as it goes, then on."""
        found, parts = Solution(start, np.nan, 0, np.inf), None

        def report(i, value, slope):
            i += done
            if self.verbose and i % self.verbose == 0:
                self._say(f"iteration {i}: objective {value:.6g}, gradient {slope:.2g}")

        for single in [True, False] if is_single and self.tol >= _LEAST_TOL_IN_SINGLE else [False]:
            done = found.n_iter
            if found.slope <= self.tol or done >= self.max_iter:
                break
            parts = parts_in(single)
            found = solve_lbfgs(
                parts,
                found.theta,
                alpha=self.alpha_,
                intercept=intercept,
                tol=self.tol,
                max_iter=self.max_iter - done,
                report=report,
                polish=not single,
            )
            found = found._replace(n_iter=done + found.n_iter)
        if found.slope > self.tol:
            warnings.warn(
                f"L-BFGS stopped after {found.n_iter} iterations with a gradient of "
                f"{found.slope:.2g}, above tol={self.tol:g}: increase max_iter, tol or "
                "alpha (a surrogate may have no minimum without a penalty).",
                ConvergenceWarning,
                stacklevel=4,
            )
        return found, parts

    def _warn_without_minimum(self, items):
        if not len(items):
            return
        which = f"items {items.tolist()} (columns of y)" if self.n_items_ else "rows"
        warnings.warn(
            f"{self.surrogate_!r} has no minimum here: nothing in y keeps the {which} from "
            "falling below the rest, and their free intercepts do so until the gradient is within "
            "tol. How far depends on tol, the weights and the order of the items. Set "
            "fit_intercept=False and give X a constant column, whose coefficients are penalised, "
            "leave these items out, or take a squared surrogate.",
            ConvergenceWarning,
            stacklevel=5,
        )
