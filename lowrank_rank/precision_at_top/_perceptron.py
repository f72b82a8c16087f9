"""PrecisionAtKPerceptron: a binary classifier for the top of the list."""

from copy import copy
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from .._base import BinaryRanker, linear_scores
from .._blocks import check_has_ids
from ..fitting._logistic import standardised
from ..fitting._statistics import shift_of, standardise
from ..lists._ranks import threshold_between
from ..target_losses import TargetLoss
from ..validation._arrays import (
    ArrayLike,
    MatrixLike,
    check_range,
    check_same_index,
    mean_square,
)
from ..validation._check import refuse
from ..validation._checks_of_classes import CHECKS_OF_LATER_CLASSES
from ..validation._classes import (
    read_binary_labels,
)
from ..validation._cut_queries import known_lists
from ..validation._findings import found
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import check_one_list, split_target
from ..validation._parameters import (
    RUNTIME,
    all_or_nothing,
    check_parameter,
    count,
    fresh_fit,
    label,
    number,
    say,
)
from ._batches import check_top, make_batches, resolve_top_loss
from ._steps import (
    SOLVERS,
    Trajectory,
    minimise_struct,
    run_pass,
    start_weights,
)
from ._surrogates import PRECISION_SURROGATES


def takes_steps(estimator):
    """Refuse `partial_fit` of a solver without mini-batches, for `available_if`."""
    if estimator.solver == "cutting_plane":
        raise AttributeError(
            "partial_fit takes mini-batch steps on the rows of each call, but "
            "solver='cutting_plane' needs all rows at once: use solver='sgd', or "
            "another one with mini-batches."
        )
    return True


class PrecisionAtKPerceptron(BinaryRanker, ClassifierMixin, BaseEstimator):
    """Put positives into the first k places: a linear classifier for a daily budget.

    The perceptrons of [1]_ are ``solver="perceptron"`` with ``surrogate="avg"``
    (algorithm 1) or "max" (algorithm 2). The default is logistic regression moved by
    averaged steps.

    `fit` minimises the `surrogate` in place of the number of negatives in the top k
    (`lowrank_rank.surrogates.precision_surrogate`), by the `solver`:

    ===============  ========================  ====================================
    solver           surrogate                 what it runs
    ===============  ========================  ====================================
    "averaged"       each of the four          averaged steps on mini-batches
    "perceptron"     "avg", "max"              algorithms 1 and 2 of [1]_
    "sgd"            "avg", "max", "struct"    algorithms 3 and 4; 1PMB is "struct"
    "cutting_plane"  "struct"                  SVMperf [2]_, on one list
    ===============  ========================  ====================================

    "averaged" divides features by their standard deviation, and predicts with the
    midpoint of logistic regression and the averaged weights. The other solvers run as
    published: features as given, from zero weights, with a uniform mean (:ref:`formulas
    <precision-solvers>`).

    `fit` does not take ``sample_weight``: a row of weight 2 would take two places.

    Parameters
    ----------
    target_loss : str or TargetLoss, default="precision@25%"
        Where the top ends: "precision@25%" (of the positives), "prbep" (all of them),
        "precision@100" or "recall@100" (a count of rows), "wta" (one), or an object
        such as ``PrecisionAtK(k=100)``. A budget of 50 cases a day is "recall@50" with
        the days as `qid`. For precision, a count is at most the positives of a query.
        `score` uses this measure: pass ``scoring=`` to a search over several losses.
    pos_label : int, float, bool, str or None, default=None
        The class to rank at the top; None is the last of the sorted classes, with a
        warning for strings.
    surrogate : {"ramp", "avg", "max", "struct"}, default="ramp"
        "ramp" is the tightest; "avg" and "max" are convex. "struct" falls when all
        scores rise: put ``StandardScaler(with_std=False)`` before "sgd" and
        "cutting_plane".
    solver : {"averaged", "perceptron", "sgd", "cutting_plane"}, default="averaged"
        A row of the table.
    alpha : float or "auto", default="auto"
        Penalty of "averaged" (on the distance from logistic regression) and of
        "cutting_plane"; "sgd" keeps the weights within ``1 / (alpha R)``, with R**2 the
        mean squared norm of the rows. "auto" is 0.05.
    max_iter : int or "auto", default="auto"
        Passes over the rows, 6 for "auto"; of "cutting_plane" the largest number of
        tangents, 200 for "auto".
    batch_size : int or "auto", default="auto"
        Rows of a mini-batch of "averaged", "perceptron" and "sgd", stratified by class;
        no query is split. "auto" makes ten batches, or one for each 1000 rows if that
        is more, with at least about 20 rows of the rarer class; of queries a hundredth
        of the rows, at most about 2000.
    eta0 : float, default=20.0
        Step t of "averaged" and "sgd" is ``eta0 / (R**2 sqrt(t))`` subgradients.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of rows; `partial_fit` keeps the order.
    verbose : int, default=0
        Whether to print a line for each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features)
        Weights of the score of ``classes_[1]``.
    intercept_ : ndarray of shape (1,)
        Minus the threshold.
    threshold_ : float
        `predict` marks rows with a higher score: in the last call as many as positives.
    alpha_ : float
        The value of `alpha`.
    n_iter_ : int
        Passes, or tangents.
    loss_curve_ : list of float
        Fraction right at the top in each pass, or after each tangent.
    dual_gap_ : float
        Duality gap of "cutting_plane", which stops at ``1e-3 max(1, |objective|)``.
    target_loss_ : TargetLoss
        The target loss as an object.
    n_lists_ : int
        Number of queries, else 1.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features, if X has any.

    See Also
    --------
    LowRankSurrogateRanker : Regression, for any measure with a low-rank form.
    lowrank_rank.calibration.precision_margins : Margins that make a surrogate 0.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision
       at the Top", ICML 2015.
    .. [2] T. Joachims, "A Support Vector Method for Multivariate Performance Measures",
       ICML 2005.

    Examples
    --------
    There is time for two cases, and both should be fraud:

    >>> from lowrank_rank import PrecisionAtKPerceptron
    >>> X = [[3.0], [2.0], [1.5], [1.0], [0.5], [0.0]]
    >>> y = ["fraud", "fraud", "ok", "fraud", "ok", "ok"]
    >>> model = PrecisionAtKPerceptron(target_loss="precision@2", pos_label="fraud")
    >>> model = model.fit(X, y)
    >>> model.rank([[1.0], [9.0], [2.0]])
    array([3, 1, 2])
    >>> model.score(X, y)
    1.0
    """

    loss_curve_: list[float]
    n_iter_: int
    dual_gap_: float
    _parameters: ClassVar = {
        "surrogate": [*PRECISION_SURROGATES],
        "solver": [*SOLVERS],
        "alpha": ["auto", number(0)],
        "max_iter": [count(), "auto"],
        "batch_size": ["auto", count()],
        "eta0": [number(above=0)],
        "pos_label": [label, None],
        "random_state": RUNTIME["random_state"],
        "verbose": RUNTIME["verbose"],
    }

    def __init__(
        self,
        *,
        target_loss: str | TargetLoss = "precision@25%",
        pos_label: Any = None,
        surrogate: str = "ramp",
        solver: str = "averaged",
        alpha: float | str = "auto",
        max_iter: int | str = "auto",
        batch_size: int | str = "auto",
        eta0: float = 20.0,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.target_loss = target_loss
        self.pos_label = pos_label
        self.surrogate = surrogate
        self.solver = solver
        self.alpha = alpha
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.eta0 = eta0
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "PrecisionAtKPerceptron":
        """Fit the weights, and the threshold of `predict`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Features of the rows.
        y : array-like of shape (n_rows,)
            Labels of two classes; may carry its qid.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids, each query with a top of its own. None is one list.
        one_list : bool, default=False
            Say that all rows are one list, as without ids.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If y is not of two classes, the top or `batch_size` does not fit the number
            of positives, training diverges, or a parameter is out of range. The model
            is unchanged then.

        Warns
        -----
        ConvergenceWarning
            If the cutting planes do not converge or score all rows alike.
        UserWarning
            If queries have fewer positives than a count of precision, or the initial
            logistic regression has a better top of the training rows than the model, by
            more than three standard errors ``sqrt(p (1 - p) / k)`` of its precision.
        """
        arrive(X=X, y=y, qid=qid)
        with fresh_fit(self):
            loss = self._checked_loss()
            X, positive, lists = self._read_labels(X, y, qid, one_list=one_list)
            check_top(loss, positive, lists, self.solver)
            path, scaled, shift = self._standardise(X, positive)
            weights = self._solve(path, scaled, shift, positive, lists)
            self._keep(X, positive, weights)
            if self.solver == "averaged" and path.start.any():
                self._tell_of_start(X, positive, lists)
            self.n_lists_ = lists.n_lists
            self._fitted_lists_ = known_lists(X, lists)
            self._n_counted_rows_ = None
            if lists.ids is None and hasattr(self.target_loss_, "k"):
                self._n_counted_rows_ = X.shape[0]
        return self

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        one_list: bool = False,
    ) -> "PrecisionAtKPerceptron":
        """Take one pass over more rows; each call is one list, or whole queries.

        The solver needs mini-batches. The first call with both classes sets the start
        and the scale of the features. The penalty counts the places at the top of all
        calls. A count k applies to each call, at most its positives. Rows keep their
        order.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Features of the rows.
        y : array-like of shape (n_rows,)
            Labels, as in `fit`.
        classes : array-like of shape (2,) or None, default=None
            All labels; needed in the first call if its y holds one class only.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids of the rows, as in `fit`.
        one_list : bool, default=False
            As in `fit`.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            As in `fit`.

        Warns
        -----
        UserWarning
            If no list of the call has both positives and negatives.
        """
        arrive(X=X, y=y, classes=classes, qid=qid)
        continues = hasattr(self, "classes_")
        with all_or_nothing(self):
            self._checked_loss()
            X, positive, lists = self._read_labels(
                X,
                y,
                qid,
                classes,
                one_list=one_list,
                continues=continues,
                takes_classes=True,
            )
            threshold = 0.0
            n_earlier_lists = 0
            if continues:
                threshold = self.threshold_
                n_earlier_lists = self.n_lists_
            path = getattr(self, "_path_", None)
            if path is None or not path.n_steps:
                path, scaled, shift = self._standardise(X, positive)
            else:
                path = copy(path)  # an error must not change the fitted state
                scaled = standardise(X, path.feature_mean, path.feature_scale)
                shift = shift_of(X, path.feature_mean, path.feature_scale)
            weights = self._solve_one_pass(path, scaled, shift, positive, lists)
            self._keep(X, positive, weights, threshold)
            self.n_lists_ = 1
            if lists.ids is not None:
                self.n_lists_ = n_earlier_lists + lists.n_lists
            self._n_counted_rows_ = None  # a count applies to each call
        return self

    def _grades(self, y, *, one_list):
        grades = super()._grades(y, one_list=one_list)
        n_fitted = getattr(self, "_n_counted_rows_", None)
        is_other = n_fitted is not None and n_fitted != len(grades)
        if is_other and not one_list:
            k = getattr(self.target_loss_, "k", None)
            found(
                "other number of rows",
                f"fit looked at the top {k} of all its rows as one list, this score "
                f"at the top {k} of another number of rows. If {k} is a budget for "
                "each day or query, give its ids as qid to both and use "
                f"target_loss='recall@{k}'; a top that grows with the list is a "
                "fraction of the positives, such as 'precision@25%'. If it is a top "
                "of all rows, write score(X, y, one_list=True).",
            )
        return grades

    # Input --------------------------------------------------------------------------

    def _read_labels(
        self,
        X,
        y,
        qid,
        classes=None,
        *,
        one_list,
        continues=False,
        takes_classes=False,
    ):
        """Read X, which rows are positive, and their lists; sets the classes."""
        check_same_index(X=X, y=y, qid=qid)
        given_y = y
        y, qid = split_target(y, qid, X)
        check_one_list(one_list, qid=qid, y=given_y)
        X = self._validate_X(X, reset=not continues)
        pos_label = self.pos_label
        if continues:
            check_has_ids(self._has_qid_, qid is not None)
            refuse(
                CHECKS_OF_LATER_CLASSES,
                classes=classes,
                known=self.classes_,
                pos_label=pos_label,
                known_pos_label=self.pos_label_,
            )
            classes = self.classes_
            pos_label = self.pos_label_
        positive, self.classes_, self.pos_label_ = read_binary_labels(
            y, classes, pos_label, self, takes_classes
        )
        check_consistent_length(X, positive)
        self._has_qid_ = qid is not None
        return X, positive, read_lists(qid, len(positive))

    def _checked_loss(self):
        """Check the parameters; returns the target loss."""
        if self.solver == "cutting_plane":
            check_parameter("alpha", self.alpha, ["auto", number(above=0)])
        self.alpha_: float = 0.05 if self.alpha == "auto" else float(self.alpha)
        self.target_loss_ = resolve_top_loss(
            self.target_loss, self.surrogate, self.solver, SOLVERS[self.solver]
        )
        return self.target_loss_

    # Fit ----------------------------------------------------------------------------

    def _standardise(self, X, positive):
        """Return the initial `Trajectory`, the standardised rows and their shift.

        The shift is still to be subtracted, from sparse rows.
        """
        check_range(X, self)
        if self.solver == "averaged":
            standard = standardised(X, np.ones(X.shape[0]))
            scaled, subtracted, moments = standard
            mean = moments.mean
            scale = moments.scale
            square = moments.n_features
            shift = (mean - subtracted) / scale
            start = start_weights(X, positive, standard)
        else:
            p = X.shape[1]
            mean = np.zeros(p)
            scale = np.ones(p)
            square = float(mean_square(X))
            scaled = standardise(X, mean, scale)
            shift = 0.0
            start = np.zeros(p)
        return Trajectory(start, mean, scale, square), scaled, shift

    def _solve(self, path, X, shift, positive, lists):
        """Return the weights after all passes over the standardised rows."""
        if self.solver == "cutting_plane":
            return self._solve_by_cutting_planes(path, X, positive, lists)
        random_state = check_random_state(self.random_state)
        batches = make_batches(
            X,
            positive,
            lists,
            self.target_loss_,
            self.batch_size,
            random_state,
            shift,
        )
        path.n_places = sum(batch.n_places for batch in batches)
        max_iter = 6 if self.max_iter == "auto" else int(self.max_iter)
        self.loss_curve_ = []
        for n_pass in range(1, max_iter + 1):
            order = random_state.permutation(len(batches))
            precision = self._run_pass(path, [batches[i] for i in order])
            self.loss_curve_.append(precision)
            say(
                self,
                f"pass {n_pass}: {precision:.4f} right at the top of the mini-batches",
            )
        self._path_ = path
        self.n_iter_ = max_iter
        return self._weights(path)

    def _solve_by_cutting_planes(self, path, X, positive, lists):
        """Return the weights of "cutting_plane"."""

        def report(n_round, precision):
            say(self, f"round {n_round}: {precision:.4f} right at the top of the rows")

        weights, self.dual_gap_, self.loss_curve_ = minimise_struct(
            X,
            positive,
            lists,
            self.target_loss_,
            alpha=self.alpha_,
            max_iter=200 if self.max_iter == "auto" else self.max_iter,
            report=report,
        )
        self._path_ = path
        self.n_iter_ = len(self.loss_curve_)
        return weights

    def _solve_one_pass(self, path, X, shift, positive, lists):
        """Return the weights after one pass over the standardised rows of a call."""
        batches = make_batches(
            X,
            positive,
            lists,
            self.target_loss_,
            self.batch_size,
            random_state=None,
            shift=shift,
        )
        path.n_places += sum(batch.n_places for batch in batches)
        precision = self._run_pass(path, batches)
        if np.isnan(precision):
            found(
                "nothing to swap",
                "Nothing is learnt from this call: no list has a positive and a "
                "negative to swap.",
            )
        # An earlier fit may have used cutting planes.
        self.__dict__.pop("dual_gap_", None)
        self._path_ = path
        self.loss_curve_ = [precision]
        self.n_iter_ = 1
        return self._weights(path)

    def _run_pass(self, path, batches):
        return run_pass(
            path,
            batches,
            self.surrogate,
            self.solver,
            eta0=float(self.eta0),
            alpha=self.alpha_,
        )

    def _weights(self, path):
        """Return the weights to predict with."""
        if self.solver == "averaged":
            return (path.start + path.mean) / 2.0
        return path.mean

    def _tell_of_start(self, X, positive, lists):
        """Warn if the initial weights have a better top of the training rows.

        The drop must exceed three standard errors of the fraction p of the k places
        that are right, ``3 sqrt(p (1 - p) / k)``.
        """
        grouped = lists.group(positive).astype(float)

        def value(weights):
            coef = weights[np.newaxis] / self._path_.feature_scale
            scores = linear_scores(X, coef, 0.0)[:, 0]
            values = self.target_loss_.values(grouped, lists.group(scores), lists)
            return float(np.nanmean(values))

        before = value(self._path_.start)
        after = value(self._weights(self._path_))
        variance = max(before * (1.0 - before), after * (1.0 - after))
        if before - after > 3.0 * np.sqrt(variance / self._path_.n_places):
            found(
                "worse than the start",
                f"Training lowered {self.target_loss_!r} of the training rows from "
                f"{before:.3f} to {after:.3f}: the initial logistic regression is "
                "better here. Use LogisticRegression, or another surrogate.",
            )

    def _keep(self, X, positive, weights, threshold=None):
        """Set the fitted attributes; rows of one class keep the earlier `threshold`."""
        sign = self._sign()
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                coef = sign * weights[np.newaxis] / self._path_.feature_scale
                self.coef_ = coef.astype(X.dtype)
            # Computed as in predict, for ties.
            scores = sign * linear_scores(X, self.coef_, 0.0)
        except ValueError:
            remedy = "bring the features to one scale (StandardScaler)"
            if self.solver in ("averaged", "sgd"):
                remedy = f"lower eta0={self.eta0:g}, or {remedy}"
            raise ValueError(
                f"Training diverged, scores are not finite: {remedy}."
            ) from None
        n_positives = np.count_nonzero(positive)
        if threshold is None or 0 < n_positives < len(positive):
            threshold = threshold_between(scores, n_positives)
        self.threshold_: float = threshold
        # The intercept does not change the order.
        self.intercept_ = np.array([0.0 - sign * threshold], dtype=X.dtype)
