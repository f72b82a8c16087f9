"""OrderPreservingRegressor: linear scores under an order-preserving surrogate."""

import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._arrays import ArrayLike, MatrixLike
from .._base import BaseRanker, Block, Blocks, HeldBlocks, check_iterable, read_features
from .._labels import nobody_judges, nothing_counts
from .._parameters import check_parameters, count, fresh_fit, number, verbosity
from ..regression._alpha import default_alpha
from ..regression._ridge import MAX_FEATURES_GRAM, LinearModel
from ..solvers import lbfgs
from ._bounds import positional_loss
from ._problem import ScoreProblem, Summary, encode, read, scaling_of, unsupported_items
from ._surrogates import resolve_surrogate

if TYPE_CHECKING:
    from ..target_losses._positional import PositionalLoss
    from ._surrogates import Surrogate


def _has_link(regressor):
    surrogate = getattr(regressor, "surrogate_", None) or resolve_surrogate(regressor.surrogate)
    return surrogate.has_link


class OrderPreservingRegressor(BaseRanker, RegressorMixin, BaseEstimator):
    """Rank documents or items by a linear model, trained by an order-preserving surrogate.

    A positional measure (NDCG, DCG, precision, recall, AUC, ERU, Spearman) is best in the order of
    the expected utilities E v of the items. An order-preserving surrogate is a convex loss of
    scores. For every distribution of the labels its minimum has this order, and its regret
    bounds the regret of the measure [1]_:

        regret of the measure <= c * C_phi(2) * sqrt(regret of the surrogate).

    The objective is ``sum over lists of surrogate(v, X w) / total + alpha / 2 |w|**2``. The total
    is the sum of the utilities if the surrogate is proportional to them, else of the row weights.

    Parameters
    ----------
    target_loss : str or PositionalLoss, default="ndcg@10"
        The measure; it defines the utilities v.
    surrogate : str or Surrogate, default="cross_entropy"
        A name in `lowrank_rank.surrogates.SURROGATES` or an object. A two-sided pointwise surrogate
        by name has eta = 1.5 times the largest utility.
    alpha : float or "auto", default="auto"
        Penalty, >= 0. "auto" is ``max(0.1, 10 f)`` for documents and ``f min(p / 50, 1)**2 / 2``
        for fixed items; f = min(p / n, 1), with p features and n rows, counted by `sample_weight`.
        The guide has the formula for sparse X of fixed items.
    fit_intercept : bool, default=True
        Whether to fit intercepts; they change nothing for documents and a surrogate of differences.
    standardize : bool, default=True
        Whether to standardise the features for the penalty. `coef_` is for X as given.
    solver : {"auto", "lbfgs"}, default="auto"
        "auto" solves squared surrogates of up to 4000 features in closed form, others by L-BFGS.
    tol : float, default=1e-5
        Largest entry of the gradient at the solution, relative to zero coefficients. Smaller values
        rarely change the order.
    max_iter : int, default=1000
        Largest number of iterations of L-BFGS.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    verbose : int, default=0
        Print progress after this number of iterations.

    Attributes
    ----------
    target_loss_, surrogate_ : PositionalLoss and Surrogate
        The measure and the surrogate as objects.
    n_lists_ : int
        Number of lists with a positive weight.
    n_items_ : int or None
        Number r of fixed items; None for documents.
    coef_, intercept_ : ndarray of shape (n_features,) and float, or (r, n_features) and (r,)
        Coefficients and intercepts of the scores.
    alpha_ : float
        The penalty.
    loss_ : float
        The objective at the solution.
    gradient_norm_ : float
        Largest entry of the gradient there, relative to zero coefficients; 0 for a closed form.
    n_iter_ : int
        Iterations of L-BFGS, 1 for a closed form.
    bound_factor_ : float
        ``sqrt(mean (c * C_phi(2))**2)`` over the training lists, for documents divided by the
        mean normaliser; see `regret_bound`.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has any.

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
            judged, if the measure has no normaliser.
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
            If shapes, labels, ids, weights or parameters are wrong, or the surrogate refuses the
            utilities. The model is unchanged then.

        Warns
        -----
        ConvergenceWarning
            If L-BFGS stops before it reaches `tol`, or there is no minimum. Under cross-entropy,
            for example, the intercept of a fixed item that is never relevant diverges.
        """
        before = self._before()
        with fresh_fit(self):
            loss = self._check_parameters()
            rows = self._read(X, y, qid, sample_weight, loss)
            self._fit(HeldBlocks([encode(*rows, loss)]), loss, before)
        return self

    def fit_blocks(self, blocks: Iterable) -> "OrderPreservingRegressor":
        """Minimise the surrogate over blocks of whole lists, with one block at a time in memory.

        The model is the one that `fit` finds on all rows, up to rounding and `tol`. Blocks are read
        once for standard deviations and the range of the utilities, and once at the end. In between
        they are read once for a closed form, or for every evaluation of L-BFGS (about 1.1 an
        iteration).

        Parameters
        ----------
        blocks : re-iterable of (X, y, qid) or (X, y, qid, sample_weight)
            Arguments of `fit`, or None; `datasets.iter_lists` gives such blocks. Every iteration
            must give the same blocks. A list must be in one block.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`. Also if a list has rows in two blocks, there is no block, or the blocks
            can be read only once, as from a generator. The model is unchanged then.
        """
        before = self._before()
        with fresh_fit(self):
            loss = self._check_parameters()
            first = next(iter(check_iterable(blocks, again=True)), None)
            if first is None:
                raise ValueError("There are no blocks: at least one row is needed.")
            self._validate_X(Block.of(first).X, reset=True)
            source, reader = Blocks(blocks), self._reader()
            first_pass = source.map(read, reader, loss, set())  # refuses lists that are cut
            self._fit(first_pass, loss, before, again=source.map(read, reader, loss))
        return self

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Scores, higher is better; the score of a row does not depend on the other rows.

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
            Estimates of E v. Surrogates of differences have none: their scores have no origin.
        """
        check_is_fitted(self)
        return self.surrogate_.utility(self.predict(X))

    def regret_bound(self, surrogate_regret: float | ArrayLike) -> float | np.ndarray:
        """Bound on the regret of the measure, from a regret of the surrogate.

        Parameters
        ----------
        surrogate_regret : float or array-like
            Expected surrogate of a list minus its minimum, >= 0. Utilities belong to the measure,
            for documents times the mean normaliser.

        Returns
        -------
        float or ndarray
            ``bound_factor_ * sqrt(surrogate_regret)``, with c and C_phi of the training lists. If
            c depends on E v, it is computed from their labels, which is no smaller on average.
        """
        check_is_fitted(self)
        bound = self.bound_factor_ * np.sqrt(np.maximum(surrogate_regret, 0.0))
        return bound if bound.ndim else float(bound)

    # Fitting --------------------------------------------------------------------------

    def _check_parameters(self):
        """Check the parameters; returns a copy of the target loss."""
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
        """The fitted `LinearModel`."""
        return LinearModel(np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_))

    def _say(self, message):
        if self.verbose:
            print(f"[{type(self).__name__}] {message}")

    def _before(self):
        """The model to start from, or None."""
        return self._model() if self.warm_start and hasattr(self, "coef_") else None

    def _reader(self):
        """An unfitted copy with the attributes of the columns, which reads blocks."""
        reader = clone(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(reader, name, getattr(self, name))
        return reader

    def _fit(self, blocks, loss, before, again=None):
        """Fit to `Blocks` of `Encoded` rows; later passes read them `again`."""
        summary = blocks.sum(Summary.of)
        if not summary.features.total > 0:
            raise nothing_counts()
        surrogate, unit, total = summary.objective(self.surrogate)
        if not summary.judged.all():
            raise nobody_judges(int(np.argmin(summary.judged)))
        self._has_qid_, self.n_lists_ = summary.has_qid, summary.n_lists
        self.target_loss_, self.surrogate_, self.n_items_ = loss, surrogate, summary.layout
        sees_intercepts = summary.layout is not None or not surrogate.is_shift_invariant
        intercept = sees_intercepts and self.fit_intercept
        centre = intercept or not sees_intercepts  # differences do not depend on the means
        scaling = scaling_of(summary.features, self.standardize, centre)
        self.alpha_, p = self._penalty(summary.features), len(scaling.scale)
        blocks = blocks if again is None else again
        squared = surrogate.is_squared and summary.complete and p <= MAX_FEATURES_GRAM
        if self.solver == "auto" and centre and squared:
            self._say(f"{surrogate!r} of {p} features in closed form")
            problems = blocks.map(ScoreProblem.of, None, surrogate, unit, total)
            model = self._solve_ridge(problems, scaling, total)
        else:
            problems = blocks.map(ScoreProblem.of, scaling, surrogate, unit, total)
            start = self._start(scaling, len(summary.judged), before)
            model = self._solve_lbfgs(problems, scaling, start, intercept)
        squares, number, *above = problems.sum(ScoreProblem.diagnostics, loss, unit)
        self.bound_factor_ = float(np.sqrt(squares / number)) if number else np.nan
        if intercept and self.gradient_norm_ > 0.0:
            self._warn_without_minimum(unsupported_items(np.array(above), len(summary.judged)))
        self._keep(model)

    def _penalty(self, features):
        if self.alpha != "auto":
            return float(self.alpha)
        kind = "documents" if self.n_items_ is None else "items"
        return default_alpha(kind, len(features.mean), features.total, features.mean_square)

    def _keep(self, model):
        if self.surrogate_.is_shift_invariant:  # only differences of intercepts are determined
            model = model._replace(intercept=model.intercept - model.intercept.mean())
        flat = self.n_items_ is None
        self.coef_ = model.coef[0] if flat else model.coef
        self.intercept_ = float(model.intercept[0]) if flat else model.intercept

    def _start(self, scaling, d, before):
        """Coefficients and intercepts (d, p + 1) of scaled features to start from."""
        p = len(scaling.scale)
        if before is None:
            return np.zeros((d, p + 1))
        if before.coef.shape != (d, p):
            raise ValueError(
                f"warm_start: the last fit has coefficients of shape {before.coef.shape}, this one "
                f"needs {(d, p)}. Set warm_start=False."
            )
        intercept = before.intercept + before.coef @ scaling.mean
        return np.column_stack([before.coef * scaling.scale, intercept])

    def _solve_ridge(self, problems, scaling, total):
        """`LinearModel` of a squared surrogate, from second moments."""
        moments = problems.sum(ScoreProblem.second_moments)
        coef, intercept = moments.solve(0.5 * self.alpha_ * total, scaling.scale)
        is_pooled = moments.features.within is None
        model = LinearModel(coef.T, intercept if is_pooled else np.zeros(len(intercept)))
        value = problems.sum(
            ScoreProblem.value_and_gradient, np.column_stack([model.coef, model.intercept])
        )[0]
        penalty = 0.5 * self.alpha_ * ((model.coef * scaling.scale) ** 2).sum()
        self.loss_, self.gradient_norm_, self.n_iter_ = float(value + penalty), 0.0, 1
        return model

    def _solve_lbfgs(self, problems, scaling, start, intercept):
        """`LinearModel` by L-BFGS, in units of the largest gradient at zero."""
        free = np.append(np.ones(start.shape[1] - 1), float(intercept))

        def objective(theta):
            found = problems.sum(ScoreProblem.value_and_gradient, theta)
            gradient = found[1:].reshape(start.shape)
            gradient[:, :-1] += self.alpha_ * theta[:, :-1]
            return found[0] + 0.5 * self.alpha_ * (theta[:, :-1] ** 2).sum(), free * gradient

        with np.errstate(over="ignore", invalid="ignore"):
            at_zero = objective(np.zeros_like(start))
        size = np.abs(at_zero[1]).max() or 1.0
        if not np.isfinite([at_zero[0], size]).all():
            raise ValueError(
                "The surrogate overflows if all scores are 0: bring the grades to a smaller scale."
            )

        def scaled(theta):
            value, gradient = objective(theta) if theta.any() else at_zero
            return value / size, gradient / size

        def report(n_iter, _, value, slope):
            if self.verbose and n_iter % self.verbose == 0:
                self._say(f"iteration {n_iter}: objective {value * size:.6g}, gradient {slope:.2g}")

        stop = {"tol": self.tol, "max_iter": self.max_iter}
        found = lbfgs(scaled, free * start, **stop, report=report, memory=30, polish=True)
        if found.gradient_norm > self.tol:
            warnings.warn(
                f"L-BFGS stopped after {found.n_iter} iterations with a gradient of "
                f"{found.gradient_norm:.2g}, above tol={self.tol:g}: increase max_iter, tol or "
                "alpha (a surrogate may have no minimum without a penalty).",
                ConvergenceWarning,
                stacklevel=4,
            )
        self.loss_, self.gradient_norm_ = found.value * size, found.gradient_norm
        self.n_iter_ = max(found.n_iter, 1)  # a start at the minimum counts as an iteration
        return LinearModel(*scaling.unscaled(found.theta[:, :-1], found.theta[:, -1]))

    def _warn_without_minimum(self, items):
        if not len(items):
            return
        which = f"items {items.tolist()} (columns of y)" if self.n_items_ else "rows"
        warnings.warn(
            f"{self.surrogate_!r} has no minimum here: nothing in y keeps the {which} from "
            "falling below the rest, and their intercepts fall until the gradient is within tol. "
            "Set fit_intercept=False and give X a constant column, with penalised coefficients, "
            "drop these items, or take a squared surrogate.",
            ConvergenceWarning,
            stacklevel=5,
        )
