"""PrecisionAtKPerceptron: a binary classifier aimed at the top of the list."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._arrays import is_finite
from .._base import RankingMixin, read_features
from .._binary_labels import read_binary_labels, threshold_between
from .._blocks import check_has_ids
from .._labels import split_target
from .._parameters import (
    RUNTIME,
    all_or_nothing,
    check_parameter,
    check_parameters,
    count,
    fresh_fit,
    number,
)
from .._parameters import Rule as ParameterRule
from .._typing import ArrayLike, MatrixLike
from ..regression._ridge import linear_scores
from ..target_losses import TargetLoss
from ._batches import Rule, scores_of
from ._mini_batch import STARTS, Descent, Start, Trajectory, descend, run_pass, start_in_time
from ._problem import (
    Earlier,
    Part,
    Top,
    better_start,
    check_top,
    diverged,
    held_out_measure,
    make_problem,
    minimise_struct,
    resolve_top,
    steps_pay,
    whole_list,
)
from ._surrogates import PRECISION_SURROGATES, perceptron_names

#: surrogate, start and standardize that "auto" stands for, by solver and update.
DEFAULTS = {
    ("mini_batch", "sgd"): ("ramp", "logistic", True),
    ("mini_batch", "perceptron"): ("avg", "zeros", False),
    ("cutting_plane", "sgd"): ("struct", "zeros", False),
}
#: What cutting planes take: they are for struct, begin at zeros, once, on all rows.
CUTTING_PLANE_ONLY = {
    "surrogate": ("auto", "struct"),
    "start": ("auto", "zeros"),
    "early_stopping": (False,),
    "warm_start": (False,),
    "n_runs": (1,),
}


def _is_start(value):
    if isinstance(value, np.ndarray | list | tuple):
        return True
    return hasattr(value, "fit") and not isinstance(value, type)  # frozen ones too


#: What `start` may be beside names.
a_start = ParameterRule(_is_start, "a linear model or an array of weights")


class Plan(NamedTuple):
    """What a fit aims at and how its steps go, all names resolved."""

    loss: TargetLoss
    top: Top
    start: Any
    descent: Descent


class Fit(NamedTuple):
    """Weights (p,) or (p + 1, L), where to go on from, and what happened."""

    weights: np.ndarray
    path: Trajectory
    curve: list
    n_iter: int
    gap: float | None = None


def _takes_streams(estimator):
    """Whether the settings allow `partial_fit`, which can neither hold out rows nor see all."""
    if estimator.solver == "cutting_plane" or estimator.early_stopping:
        raise AttributeError(
            "partial_fit takes mini-batch steps on the rows of each call: it is there neither with "
            "solver='cutting_plane' nor with early_stopping=True."
        )
    return True


class PrecisionAtKPerceptron(RankingMixin, ClassifierMixin, BaseEstimator):
    """Binary classifier for the top of the list: precision among the k best-scored rows.

    A linear model fitted by mini-batch steps on a surrogate of the number of negatives in the
    top k (`lowrank_rank.surrogates.precision_surrogate`), from logistic regression, with averaged
    iterates. ``target_loss`` says where the top ends; how the rest of the list is ordered is not
    looked at. Steps on half of the rows are first compared with their start on the other half (of
    many lists: on some 2000 each): where they do worse the start is what is returned. The methods
    of [1]_ are settings:

    =================  ==========================================
    SGD@k-avg, -max    ``surrogate="avg"``, ``surrogate="max"``
    SGD@k-ramp         the default
    Perceptron@k-avg   ``update="perceptron"``
    Perceptron@k-max   ``update="perceptron", surrogate="max"``
    1PMB               ``surrogate="struct"`` (see [2]_)
    SVMperf            ``solver="cutting_plane"`` (see [3]_)
    =================  ==========================================

    Parameters
    ----------
    target_loss : str or TargetLoss, default="precision@25%"
        Where the top ends: "precision@25%" (a fraction of the positives), "prbep" (all of them),
        "precision@100" or "recall@100" (a count of rows), "wta" (one), or an object such as
        ``PrecisionAtK(k=100)``. A count of precision may not exceed the number of positives in
        fit; within queries, rows of a matrix and calls of `partial_fit` it is then all positives.
    surrogate : {"auto", "ramp", "avg", "max", "struct"}, default="auto"
        "ramp" is the tightest, but not convex; "auto" is "ramp" for update="sgd", "avg" for
        "perceptron" and "struct" for cutting planes.
    update : {"sgd", "perceptron"}, default="sgd"
        Steps on margin violations, with step size ``eta0 / (R**2 sqrt(t))`` where R**2 is the
        mean squared norm of the rows; or on mistakes only, without step size or penalty.
    solver : {"mini_batch", "cutting_plane"}, default="mini_batch"
        "cutting_plane" minimises "struct" on one list plus the penalty, with ``start = 0``, up to a
        duality gap of ``tol max(1, |objective|)``: the baseline of [3]_, not consistent.
    start : {"auto", "logistic", "least_squares", "zeros"}, estimator or array, default="auto"
        Weights to begin at, and that the penalty pulls towards. "logistic" is scikit-learn's
        ``LogisticRegression``; where features are many, p > 31, `fit` takes C = 1 or
        ``10 / (p min(p / 50, 1))``, or for sparse X the features unscaled, whichever is better on
        held-out rows; for each label of a matrix y C is ``2 / (p min(p / 50, 1))``.
        "least_squares" is its ``Ridge(alpha=R**2)`` on labels -1 and 1, times 3.25. A classifier
        or regressor is cloned
        and fitted to X and y (one that is fitted goes into a ``FrozenEstimator``); it must be
        linear in X, as a pipeline of a scaler and a linear model is. An array of shape
        (n_features,), or (L, n_features + 1) for L labels, the intercept last, scores the positive
        class. "auto" is "logistic" ("least_squares" for a matrix y above 10^9 products of entries
        of X and labels), "zeros" for perceptrons and struct. In `partial_fit`, that of the first
        call with both classes.
    standardize : bool or "auto", default="auto"
        Fit to features over their scale, so that the unit of a column does not matter: its standard
        deviation, over the root of the fraction of rows where it is not 0. X itself is not changed,
        and stays sparse; `coef_` is of X. "auto" is False for perceptrons and cutting planes, which
        are as published.
    batch_size : int or "auto", default="auto"
        Rows of a mini-batch, about, with the same fraction of positives as the whole. "auto" is
        1000 rows, or fewer for 10 batches, but about 20 of the rarer class and at least one place
        at the top: all rows for "wta". A count k is handed out among the batches, a fraction is
        of each one's positives. Queries stay whole, up to 2000 rows of them, or 1/100 of all if
        that is less. A matrix y has 1/25 of the rows, at least 32.
    max_iter : int, default=6
        Largest number of passes over the rows, or of tangents of the cutting planes.
    average : bool, default=True
        Predict with the mean of the weights over the steps, step t counting like t**3.
    alpha : float, default=0.02
        Penalty ``alpha m R**2 |w - start|**2 / (2 k)`` beside ``surrogate / k``, m the mean number
        of features of a row that are not 0, k the places at the top in all rows.
    eta0 : float, default=50.0
        First step size.
    shuffle : bool, default=True
        Shuffle the rows once, and in each pass which positives meet which negatives. Never in
        `partial_fit`.
    tol : float or None, default=1e-4
        Stop if the precision has not grown by more than tol in `n_iter_no_change` passes; None
        never stops early.
    early_stopping : bool, default=False
        Watch held-out rows, not the mini-batches; keep what was best there, the start included.
    validation_fraction : float, default=0.1
        Fraction of the rows, or queries, held out for `early_stopping`. Of a count k they have
        their part of the places, one at least.
    n_iter_no_change : int, default=3
        Passes without a gain before stopping.
    n_runs : int, default=1
        Runs over different shuffles, whose weights are averaged.
    n_jobs : int or None, default=None
        Runs at a time.
    warm_start : bool, default=False
        Begin `fit` at the weights of the last one.
    pos_label : int, float, bool, str or None, default=None
        The class to rank at the top. None is the last of the sorted classes, with a warning for
        strings: of "fraud" and "ok" that is "ok".
    random_state : int, RandomState instance or None, default=None
        Shuffling and held-out rows.
    verbose : int, default=0
        A line of progress for each pass.
    callback : callable or None, default=None
        Called in `fit` as ``callback(n, value)`` when pass (or round) n has ended, n from 1, with
        the value that it adds to `loss_curve_`. A clock in it gives precision against time. With
        `n_jobs` the runs call it in the processes they are in.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted; the indices of the columns of a matrix y.
    pos_label_ : object
        The positive class.
    coef_ : ndarray of shape (1, n_features) or (L, n_features)
        Weights of the score of ``classes_[1]``; one row for each label of a matrix y.
    intercept_ : ndarray of shape (1,) or (L,)
        Minus the threshold; for a matrix y, plus each label's own intercept.
    threshold_ : float
        Score above which a row is marked positive: as many training rows (of the last call of
        `partial_fit`) as there are positives, fewer if ties do not allow it.
    n_iter_ : int
        Passes, or tangents.
    loss_curve_ : list of float
        Fraction of the top that is right (one minus the mistakes over the most there can be), of
        the mini-batches as they came in each pass (or round). With `early_stopping` the measure of
        the held-out rows, before the first pass and after each.
    duality_gap_ : float
        Of the cutting planes, in units of the objective.
    target_loss_ : TargetLoss
        The resolved target loss.
    n_lists_ : int
        Number of queries, or rows of a matrix y; else 1.
    n_items_ : int or None
        Number L of labels of a matrix y, else None.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of str
        Names of the features where X has them.

    See Also
    --------
    LowRankSurrogateRanker : Least squares for any ranking loss.
    lowrank_rank.surrogates.precision_surrogate : Values and subgradients of the surrogates.
    lowrank_rank.calibration.precision_margins : Margins under which they are 0.

    References
    ----------
    .. [1] P. Kar, H. Narasimhan, P. Jain, "Surrogate Functions for Maximizing Precision at the
       Top", ICML 2015.
    .. [2] P. Kar, H. Narasimhan, P. Jain, "Online and Stochastic Gradient Methods for
       Non-decomposable Loss Functions", NIPS 2014.
    .. [3] T. Joachims, "A Support Vector Method for Multivariate Performance Measures",
       ICML 2005.

    Examples
    --------
    Two cases can be looked at, and both should be worth it:

    >>> from lowrank_rank import PrecisionAtKPerceptron
    >>> X = [[3.0], [2.0], [1.5], [1.0], [0.5], [0.0]]
    >>> y = ["fraud", "fraud", "ok", "fraud", "ok", "ok"]
    >>> model = PrecisionAtKPerceptron(target_loss="precision@2", pos_label="fraud").fit(X, y)
    >>> model.rank([[1.0], [9.0], [2.0]])
    array([3, 1, 2])
    >>> model.score(X, y)
    1.0
    """

    _parameters: ClassVar = {
        "solver": ["mini_batch", "cutting_plane"],
        "update": ["sgd", "perceptron"],
        "surrogate": ["auto", *PRECISION_SURROGATES],
        "start": ["auto", "zeros", *STARTS, a_start],
        "standardize": ["auto", bool],
        "batch_size": ["auto", count()],
        "max_iter": [count()],
        "average": [bool],
        "alpha": [number(0)],
        "eta0": [number(above=0)],
        "shuffle": [bool],
        "tol": [number(0), None],
        "early_stopping": [bool],
        "validation_fraction": [number(above=0, below=1)],
        "n_iter_no_change": [count()],
        "n_runs": [count()],
        "warm_start": [bool],
        "callback": [callable, None],
        **RUNTIME,
    }

    def __init__(
        self,
        *,
        target_loss: str | TargetLoss = "precision@25%",
        surrogate: str = "auto",
        update: str = "sgd",
        solver: str = "mini_batch",
        start: Any = "auto",
        standardize: bool | str = "auto",
        batch_size: int | str = "auto",
        max_iter: int = 6,
        average: bool = True,
        alpha: float = 0.02,
        eta0: float = 50.0,
        shuffle: bool = True,
        tol: float | None = 1e-4,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 3,
        n_runs: int = 1,
        n_jobs: int | None = None,
        warm_start: bool = False,
        pos_label: Any = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> None:
        self.target_loss = target_loss
        self.surrogate = surrogate
        self.update = update
        self.solver = solver
        self.start = start
        self.standardize = standardize
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.average = average
        self.alpha = alpha
        self.eta0 = eta0
        self.shuffle = shuffle
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_runs = n_runs
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.pos_label = pos_label
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def fit(
        self, X: MatrixLike, y: Any, *, qid: ArrayLike | None = None
    ) -> "PrecisionAtKPerceptron":
        """Fit the weights, and the threshold of `predict`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Their scale does not matter, but for perceptrons and cutting planes.
        y : array-like of shape (n_rows,) or (n_rows, L)
            Labels of two classes; may carry its qid. A matrix of 0 and 1 makes each row a list
            of L labels, with a weight vector for each label.
        qid : array-like of shape (n_rows,) or None, default=None
            Query ids: the top is then that of each query. None is one list.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If y is not of two classes, the top or the batches do not fit the number of
            positives, `batch_size` leaves a batch without a place at the top, the steps diverge,
            or a parameter is out of range; nothing is changed then.

        Warns
        -----
        ConvergenceWarning
            If the steps end clearly worse than their start on held-out rows (the start is then
            kept, as always where it is better), or if the cutting planes do not reach `tol` or
            end at weights that score all rows alike.
        """
        earlier = self._earlier() if self.warm_start else None
        with fresh_fit(self):
            X, labels = self._read(X, y, qid, None, self.pos_label, reset=True)
            self._fit(X, labels, self._plan(), earlier)
        return self

    @available_if(_takes_streams)
    def partial_fit(
        self,
        X: MatrixLike,
        y: Any,
        classes: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> "PrecisionAtKPerceptron":
        """One pass over more rows, in mini-batches; each call is one list, or whole queries.

        Not with `early_stopping` or cutting planes.

        With ``shuffle=False`` and ``start="zeros"``, calls on the batches of `fit` one by one give
        the weights of its first pass, if the top is a fraction of the positives or each query's.
        A count k is of each call, at most its positives.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, L)
        classes : array-like of shape (2,) or None, default=None
            All labels; needed in the first call if its y holds one class only.
        qid : array-like of shape (n_rows,) or None, default=None

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`.

        Warns
        -----
        UserWarning
            If nothing can be learnt from the call: no list has both positives and negatives.
        """
        earlier = self._earlier()
        pos_label = self.pos_label
        if earlier is not None:
            classes, pos_label = self._known_classes(classes), earlier.pos_label
        with all_or_nothing(self):
            X, labels = self._read(X, y, qid, classes, pos_label, reset=earlier is None)
            self._fit_more(X, labels, self._plan(), earlier)
        return self

    def decision_function(self, X: MatrixLike) -> np.ndarray:
        """Scores minus the threshold: above 0 is ``classes_[1]``.

        Where the positive class is ``classes_[0]``, its scores are the negatives of these.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, L)
        """
        check_is_fitted(self)
        scores = linear_scores(self._validate_X(X, reset=False), self.coef_, self.intercept_)
        return scores.ravel() if self.n_items_ is None else scores

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Classes: about as many positives as there are among rows like those of the fit.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, L)
            Labels out of ``classes_``; 0 and 1 for a model of a matrix y.
        """
        above = (self.decision_function(X) > 0).astype(int)
        return self.classes_[above] if self.n_items_ is None else above

    def _ranking_scores(self, X, qid=None):
        scores = self.decision_function(X)
        return self._sign() * scores

    def _grades(self, y):
        classes = self.classes_ if self.n_items_ is None else None
        return read_binary_labels(y, None, classes, self.pos_label_, self).positive.astype(float)

    def _sign(self):
        """-1 where the positive class is the first, which decision_function puts below 0."""
        return 1 if self.n_items_ is not None or self.pos_label_ == self.classes_[1] else -1

    # Input --------------------------------------------------------------------------

    def _read(self, X, y, qid, classes, pos_label, *, reset):
        y, qid = split_target(y, qid, X)
        X = self._validate_X(X, reset=reset)
        labels = read_binary_labels(y, qid, classes, pos_label, self)
        check_consistent_length(X, labels.positive)
        return X, labels

    def _validate_X(self, X, *, reset):
        return read_features(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _earlier(self):
        """The last fit, or None."""
        if not hasattr(self, "_path_"):
            return None
        return Earlier(self._path_, self.classes_, self.pos_label_)

    def _known_classes(self, classes):
        """The classes of the earlier calls; refuses to change them, or the positive one."""
        if self.n_items_ is not None:
            return None
        known = self.classes_.tolist()
        if classes is not None and sorted(classes) != known:
            raise ValueError(
                f"classes={list(classes)!r} differ from those of earlier calls, {known}."
            )
        if self.pos_label is not None and self.pos_label != self.pos_label_:
            raise ValueError(
                f"pos_label={self.pos_label!r} differs from that of earlier calls, "
                f"{self.pos_label_!r}."
            )
        return self.classes_

    def _plan(self):
        """The `Plan` of the parameters; refuses those out of range or at odds."""
        check_parameters(self)
        loss, top = resolve_top(self.target_loss)
        if (self.solver, self.update) not in DEFAULTS:
            raise ValueError(
                "solver='cutting_plane' minimises a surrogate: take update='sgd' with it."
            )
        if self.solver == "cutting_plane":
            self._refuse_settings_of_steps()
        surrogate, start, standardize = DEFAULTS[self.solver, self.update]
        surrogate = surrogate if self.surrogate == "auto" else self.surrogate
        if surrogate == "struct":  # as published; what it prefers may be worse than any start
            start = "zeros"
        if not (isinstance(self.start, str) and self.start == "auto"):
            start = self.start
        perceptron = self.update == "perceptron"
        if perceptron and surrogate not in perceptron_names():
            raise ValueError(
                f"There is no perceptron on {surrogate!r}: take surrogate= one of "
                f"{perceptron_names()}, or update='sgd'."
            )
        rule = Rule(PRECISION_SURROGATES[surrogate], perceptron)
        if not isinstance(self.standardize, str):
            standardize = bool(self.standardize)
        descent = Descent(rule, float(self.eta0), float(self.alpha), standardize)
        return Plan(loss, top, start, descent)

    def _refuse_settings_of_steps(self):
        for name, values in CUTTING_PLANE_ONLY.items():
            value = getattr(self, name)
            if not (isinstance(value, str | bool | int) and value in values):
                raise ValueError(
                    f"solver='cutting_plane' takes {name}={values[-1]!r}, got {value!r}: the rest "
                    "is for solver='mini_batch'."
                )
        check_parameter("alpha", self.alpha, [number(above=0)])

    # Fit ----------------------------------------------------------------------------

    def _fit(self, X, labels, plan, earlier):
        check_top(labels, plan.loss, plan.top)
        if self.solver == "cutting_plane":
            fit = self._fit_cutting_plane(X, labels, plan)
            self.duality_gap_ = fit.gap
        else:
            begin = None
            if earlier is not None:
                earlier.check_continues(X, labels)
                begin = earlier.path.mean if self.average else earlier.path.last
                begin = begin.astype(X.dtype, copy=False)
            fit = self._fit_runs(X, labels, plan, begin)
        self.n_lists_, self._has_qid_ = labels.n_lists, labels.lists is not None
        self._adopt(X, labels, plan, fit)

    def _fit_runs(self, X, labels, plan, begin):
        """The mean of runs over different shuffles, in parallel, from `begin` or the start."""
        random_state = check_random_state(self.random_state)
        seeds = random_state.randint(np.iinfo(np.int32).max, size=self.n_runs)
        is_worth = True
        if begin is None and not self.early_stopping:  # one start for all runs
            seed = seeds[0] if self.shuffle else None
            start, begin = better_start(X, labels, plan.top, self._start(X, labels, plan), seed)
            if np.any(begin) and not plan.descent.rule.perceptron:
                state = np.random.RandomState(seeds[0])

                def steps(part, weights):
                    of_part = plan._replace(top=part.top)
                    return self._steps(part.X, part.labels, of_part, weights, state).weights

                state_of_folds = state if self.shuffle else None
                is_worth = steps_pay(X, labels, plan.top, start, steps, state_of_folds)
            del start  # and the features that it has scaled
        fits = Parallel(n_jobs=self.n_jobs)(
            delayed(self._fit_run)(X, labels, plan, begin, np.random.RandomState(seed))
            for seed in seeds
        )
        longest = max(len(fit.curve) for fit in fits)
        # A run that has stopped stays where it is.
        curves = [fit.curve + fit.curve[-1:] * (longest - len(fit.curve)) for fit in fits]
        weights = sum(fit.weights for fit in fits) / len(fits) if is_worth else begin
        return Fit(
            weights,
            replace(fits[0].path, last=weights, mean=weights),
            [float(value) for value in np.mean(curves, axis=0)],
            max(fit.n_iter for fit in fits),
        )

    def _start(self, X, labels, plan):
        """The `Start`; by default one of least squares where each of many labels needs a fit."""
        start, is_auto = plan.start, isinstance(self.start, str) and self.start == "auto"
        if is_auto and start == "logistic":
            start = start_in_time(X, labels)
        return Start(X, labels, start, plan.descent.standardize)

    def _fit_run(self, X, labels, plan, begin, random_state):
        """One run of steps; with held-out rows its start is that of the others."""
        monitor = None
        if self.early_stopping:
            split = labels.hold_out(self.validation_fraction, random_state)
            rest, held = (Part.of(X, labels, plan.top, rows) for rows in split)
            X, labels, plan = rest.X, rest.labels, plan._replace(top=rest.top)
            measure = held_out_measure(held.labels, plan.loss, held.top)

            def monitor(weights):
                scores = scores_of(held.X, weights)
                if not is_finite(scores):
                    raise diverged(self)
                return measure(scores)

            begin = self._start(X, labels, plan).weights() if begin is None else begin
        return self._steps(X, labels, plan, begin, random_state, monitor, self._report)

    def _steps(self, X, labels, plan, begin, random_state, monitor=None, report=None):
        """Passes over the rows."""
        path = Trajectory.at(begin)
        random_state = random_state if self.shuffle else None
        problem = make_problem(X, labels, plan.top, self.batch_size, random_state)
        if not problem.n_batches:
            raise ValueError(f"{plan.loss!r} takes in every list whole: every order is right.")
        with np.errstate(over="ignore", invalid="ignore"):
            weights, curve = descend(
                path,
                problem.batches,
                plan.descent,
                max_iter=self.max_iter,
                tol=self.tol,
                patience=self.n_iter_no_change,
                average=self.average,
                monitor=monitor,
                report=report,
            )
        return Fit(weights, path, curve, len(curve) - (monitor is not None))

    def _fit_cutting_plane(self, X, labels, plan):
        """The minimiser of struct and the penalty on one list, up to a duality gap."""
        if not labels.one_list:
            raise ValueError("solver='cutting_plane' takes one list of rows, without qid.")
        weights, fit = minimise_struct(
            X,
            whole_list(X, labels, plan.top),
            plan.descent,
            tol=self.tol,
            max_iter=self.max_iter,
            report=self._report,
        )
        return Fit(weights, Trajectory.at(weights), fit.curve, len(fit.curve), fit.gap)

    def _fit_more(self, X, labels, plan, earlier):
        """One pass over more rows."""
        if earlier is not None:
            earlier.check_continues(X, labels)
            check_has_ids(self._has_qid_, labels.lists is not None)
        if earlier is not None and earlier.path.n_steps:
            path = earlier.path.copy()  # what raises below must change nothing
        else:  # before the first step the start is still to be found, from rows of both classes
            path = Trajectory.at(self._start(X, labels, plan).weights())
        problem = make_problem(X, labels, plan.top, self.batch_size, None)
        with np.errstate(over="ignore", invalid="ignore"):
            value = run_pass(path, problem.batches(), plan.descent, first=True)
        if np.isnan(value):
            warnings.warn(
                "Nothing is learnt from this call: none of its lists has a positive and a negative "
                "that could trade places at the top.",
                stacklevel=3,
            )
        self.__dict__.pop("duality_gap_", None)  # of an earlier fit by cutting planes
        n_lists = labels.n_lists + (0 if earlier is None else self.n_lists_)
        self.n_lists_, self._has_qid_ = max(n_lists - labels.one_list, 1), labels.lists is not None
        fit = Fit(path.mean if self.average else path.last, path, [value], 1)
        self._adopt(X, labels, plan, fit, 0.0 if earlier is None else self.threshold_)

    def _adopt(self, X, labels, plan, fit, threshold=None):
        """Set the fitted attributes; `threshold` is kept where the rows are of one class."""
        matrix = labels.positive.ndim == 2
        self.classes_, self.pos_label_ = labels.classes, labels.pos_label
        self.n_items_ = labels.positive.shape[1] if matrix else None
        self.target_loss_ = plan.loss
        self.n_iter_, self.loss_curve_, self._path_ = fit.n_iter, fit.curve, fit.path
        sign = self._sign()
        self.coef_ = fit.weights[:-1].T if matrix else sign * fit.weights[np.newaxis]
        free = fit.weights[-1] if matrix else np.zeros(1, dtype=self.coef_.dtype)
        try:
            scores = sign * linear_scores(X, self.coef_, free)  # as predict computes them
        except ValueError:
            raise diverged(self) from None
        n_positives = np.count_nonzero(labels.positive)
        if threshold is None or 0 < n_positives < labels.positive.size:
            threshold = threshold_between(scores, n_positives)
        self.threshold_ = threshold
        self.intercept_ = free - self.coef_.dtype.type(sign * threshold)

    def _report(self, n, value):
        """Told of each pass."""
        if self.verbose:
            what, where = "pass", "held-out rows" if self.early_stopping else "mini-batches"
            if self.solver == "cutting_plane":
                what, where = "round", "rows"
            name = type(self).__name__
            print(f"[{name}] {what} {n}: {value:.4f} right at the top of the {where}")
        if self.callback is not None:
            self.callback(n, value)
