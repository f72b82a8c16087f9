"""PrecisionAtKPerceptron: a binary classifier aimed at the top of the list."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._lists import split_target
from ._base import RankingMixin
from ._linear import linear_scores
from ._top_fit import check_continues, check_top, fit_cutting_plane, fit_more, fit_runs
from ._top_labels import known_classes, read_labels
from ._top_settings import read_settings, takes_streams
from ._top_watch import check_scores, progress, scores_of, threshold_between
from ._validation import all_or_nothing


class PrecisionAtKPerceptron(RankingMixin, ClassifierMixin, BaseEstimator):
    """Binary classifier for the top of the list: precision among the k best-scored rows.

    A linear model fitted by mini-batch steps on a surrogate of the number of negatives in the
    top k (`lowrank_rank.surrogates.precision_surrogate`), from the least squares solution, with
    averaged iterates. ``target_loss`` says where the top ends; how the rest of the list is ordered
    is not looked at. The methods of [1]_ are settings:

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
        Where the top ends: "precision@25%" (a share of the positives), "prbep" (all of them),
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
    start : {"auto", "least_squares", "zeros"}, default="auto"
        Weights to begin at, and that the penalty pulls towards: the solution of scikit-learn's
        ``Ridge(alpha=R**2)`` on labels -1 and 1, times 3.25; "auto" is "zeros" for perceptrons
        and struct. In `partial_fit`, that of the first call with both classes.
    batch_size : int or "auto", default="auto"
        Rows of a mini-batch, about, with the same share of positives as the whole. "auto" is 1000
        rows, or fewer for 10 batches, but some 20 positives. A matrix y has 32 rows. Queries are
        batches as they are.
    max_iter : int, default=10
        Most passes over the rows, or tangents of the cutting planes.
    average : bool, default=True
        Predict with the mean of the weights over the steps, step t counting like t**3.
    alpha : float, default=0.15
        Penalty ``alpha m R**2 |w - start|**2 / (2 k)`` beside ``surrogate / k``, m the mean number
        of features of a row that are not 0, k the places at the top in all rows.
    eta0 : float, default=7.0
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
        Share of the rows, or queries, held out for `early_stopping`.
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
        Share of the top that is right (one minus the mistakes over the most there can be), of
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
    lowrank_rank.surrogates.precision_surrogate : The surrogates by themselves.
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

    def __init__(
        self,
        *,
        target_loss="precision@25%",
        surrogate="auto",
        update="sgd",
        solver="mini_batch",
        start="auto",
        batch_size="auto",
        max_iter=10,
        average=True,
        alpha=0.15,
        eta0=7.0,
        shuffle=True,
        tol=1e-4,
        early_stopping=False,
        validation_fraction=0.1,
        n_iter_no_change=3,
        n_runs=1,
        n_jobs=None,
        warm_start=False,
        pos_label=None,
        random_state=None,
        verbose=0,
    ):
        self.target_loss = target_loss
        self.surrogate = surrogate
        self.update = update
        self.solver = solver
        self.start = start
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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X, y, *, qid=None):
        """Fit the weights, and the threshold of `predict`.

        Parameters
        ----------
        X : array-like or CSR matrix of shape (n_rows, n_features)
            Features on one scale work best (StandardScaler, MaxAbsScaler for sparse X).
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
            positives, the steps diverge, or a parameter is out of range; nothing is changed then.

        Warns
        -----
        ConvergenceWarning
            If the steps end clearly worse than their start on the mini-batches, which is then
            kept, as always where it is better; or if the cutting planes do not reach `tol`.
        """
        with all_or_nothing(self):
            X, labels = self._read(X, y, qid, None, reset=True)
            self._fit(X, labels, read_settings(self))
        return self

    @available_if(takes_streams)
    def partial_fit(self, X, y, classes=None, *, qid=None):
        """One pass over more rows, in mini-batches; each call is one list, or whole queries.

        Not with `early_stopping` or cutting planes.

        With ``shuffle=False`` and ``start="zeros"``, calls on the batches of `fit` one by one give
        the weights of its first pass, if the top is a share of the positives or each query's.

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
        with all_or_nothing(self):
            begun = hasattr(self, "_path")
            if begun:
                classes = known_classes(self, classes)
            X, labels = self._read(X, y, qid, classes, reset=not begun)
            self._fit_more(X, labels, read_settings(self), begun)
        return self

    def decision_function(self, X):
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

    def predict(self, X):
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
        return read_labels(y, None, classes, self.pos_label_, self).positive.astype(float)

    def _sign(self):
        """-1 where the positive class is the first, which decision_function puts below 0."""
        return 1 if self.n_items_ is not None or self.pos_label_ == self.classes_[1] else -1

    # Fit ----------------------------------------------------------------------------

    def _read(self, X, y, qid, classes, *, reset):
        y, qid = split_target(y, qid)
        X = self._validate_X(X, reset=reset)
        pos_label = self.pos_label if reset else self.pos_label_
        labels = read_labels(y, qid, classes, pos_label, self)
        check_consistent_length(X, labels.positive)
        return X, labels

    def _validate_X(self, X, *, reset):
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )

    def _fit(self, X, labels, settings):
        check_top(labels, settings)
        vars(self).pop("duality_gap_", None)
        if settings.solver == "cutting_plane":
            fit = fit_cutting_plane(X, labels, settings, report=progress(self))
            self.duality_gap_ = fit.gap
        else:
            begin = None
            if self.warm_start and hasattr(self, "_path"):
                check_continues(self, X, labels)
                begin = self._path.mean if settings.average else self._path.last
                begin = begin.astype(X.dtype, copy=False)
            random_state = check_random_state(self.random_state)
            fit = fit_runs(X, labels, settings, random_state, begin=begin, report=progress(self))
        self.n_lists_ = labels.n_lists
        self._adopt(X, labels, settings, fit)

    def _fit_more(self, X, labels, settings, begun):
        if begun:
            check_continues(self, X, labels)
        # What raises below must change nothing: the steps are taken by a copy. Before the first
        # of them the start is still to be found, from rows of both classes.
        begun_steps = begun and self._path.n_steps > 0
        fit = fit_more(X, labels, settings, self._path.copy() if begun_steps else None)
        if np.isnan(fit.curve[0]):
            warnings.warn(
                "Nothing is learnt from this call: none of its lists has a positive and a negative "
                "that could trade places at the top.",
                stacklevel=3,
            )
        vars(self).pop("duality_gap_", None)
        earlier = self.n_lists_ if begun else 0
        self.n_lists_ = max(earlier, 1) if labels.one_list else earlier + labels.n_lists
        self._adopt(X, labels, settings, fit, self.threshold_ if begun else 0.0)

    def _adopt(self, X, labels, settings, fit, threshold=None):
        """Set the fitted attributes; `threshold` is kept where the rows are of one class."""
        check_scores(scores_of(X, fit.weights), settings)
        matrix = labels.positive.ndim == 2
        self.classes_, self.pos_label_ = labels.classes, labels.pos_label
        self.n_items_ = labels.positive.shape[1] if matrix else None
        self.target_loss_ = settings.loss
        self.n_iter_, self.loss_curve_, self._path = fit.n_iter, fit.curve, fit.path
        sign = self._sign()
        self.coef_ = fit.weights[:-1].T if matrix else sign * fit.weights[np.newaxis]
        free = fit.weights[-1] if matrix else np.zeros(1, dtype=self.coef_.dtype)
        n_positives = np.count_nonzero(labels.positive)
        if threshold is None or 0 < n_positives < labels.positive.size:
            scores = sign * linear_scores(X, self.coef_, free)  # as predict computes them
            threshold = threshold_between(scores, n_positives)
        self.threshold_ = threshold
        self.intercept_ = free - self.coef_.dtype.type(sign * threshold)
