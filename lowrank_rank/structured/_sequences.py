"""StructuredHingeSequenceClassifier: labels of elements of sequences (17.3)."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import row_norms
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._base import linear_scores
from ..lists._lists import RankingLists
from ..validation._arrays import ArrayLike, MatrixLike, check_same_index
from ..validation._check import refuse
from ..validation._checks_of_classes import CHECKS_OF_SEVERAL_CLASSES
from ..validation._checks_of_labels import CHECKS_OF_SCORED_ROWS
from ..validation._classes import (
    check_same_classes,
    class_indices,
    class_labels,
    read_classes,
)
from ..validation._ids import read_lists
from ..validation._kinds import arrive
from ..validation._labels import read_weights, split_target
from ..validation._parameters import all_or_nothing, fresh_fit
from ._chains import ChainProblem, viterbi
from ._hinge_estimator import (
    HINGE_PARAMETERS,
    HingeEstimator,
    check_continues,
    row_codes,
    takes_steps,
    weights_of_lists,
)
from ._hinges import ListHinge

#: Batches of "sgd" for batch_size="auto".
_N_BATCHES = 500


def _distinct(codes, lists, weights):
    """Return rows and lists of the distinct sequences, and the sums of their weights.

    The order of the sequences depends on their contents alone, so that copies change no
    batch.
    """
    codes = lists.group(codes)
    rows = []
    lengths = []
    total_weights = []
    for members, places in lists.same_length:
        _, first, inverse = np.unique(
            codes[places], axis=0, return_index=True, return_inverse=True
        )
        rows.append(places[first].ravel())
        lengths.append(np.full(len(first), places.shape[1]))
        total_weights.append(np.bincount(inverse.ravel(), weights[members]))
    rows = np.concatenate(rows)
    if lists.order is not None:
        rows = lists.order[rows]
    return rows, RankingLists(np.concatenate(lengths)), np.concatenate(total_weights)


def _sequences(qid, n_rows):
    """Return the lists of the sequences; without qid each row is one."""
    if qid is None:
        return RankingLists.equal(n_rows, 1)
    return read_lists(qid, n_rows)


class StructuredHingeSequenceClassifier(HingeEstimator, ClassifierMixin, BaseEstimator):
    """Label the letters of a word together: neighbours help.

    A row of X is an element, and `qid` names its sequence. Elements are in the order of
    the rows. The labels of a sequence have the score ``sum_t <w_{y_t}, x_t> + sum_{t>1}
    T[y_{t-1}, y_t]``. The hinge bounds the number of wrong elements (Hamming loss). The
    objective is ([1]_, section 17.3)::

        alpha / 2 (|W|^2 + |T|^2) + sum over sequences of hinge / number of elements.

    Weights count sequences: both sums are weighted.
    Without qid every row is a sequence of its own, as in `StructuredHingeClassifier`.
    Features are not standardised: m below is the mean squared norm of the elements, and
    n their number. The hinge is not calibrated in general.

    Parameters
    ----------
    alpha : float or "auto", default="auto"
        Penalty ``alpha / 2 |w|^2``; "auto" is ``0.5 c m / n`` with m and n as above and
        c = 1/2 over the objective at zero weights.
    solver : {"auto", "lbfgs", "cutting_plane", "sgd"}, default="auto"
        As in `StructuredHingeRanker`. "auto" is "lbfgs", which sums over all label
        sequences.
    radius : float or None, default=None
        As in `StructuredHingeRanker`; each step draws one sequence.
    tol : float, default=1e-2
        When to stop, as in `StructuredHingeRanker`.
    max_iter : int, default=1000
        Largest number of iterations, rounds, or passes over the batches; the number of
        steps with a `radius`.
    batch_size : int or "auto", default="auto"
        Number of sequences in a step of "sgd" ("auto" makes five hundred batches), or
        in a slack of "cutting_plane".
    fit_intercept : bool, default=True
        Whether to fit a penalised intercept for each label.
    random_state : int, RandomState instance or None, default=None
        Order of the batches.
    verbose : int, default=0
        Print progress after this number of iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels of the elements, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Coefficients of the scores of the labels.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts of the scores of the labels.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Entry [i, j] is the score of ``classes_[j]`` after ``classes_[i]``.
    alpha_ : float
        The penalty.
    objective_, dual_gap_, n_iter_, solver_ : float, float, int, str
        As in `StructuredHingeRanker`.
    n_features_in_, feature_names_in_ : int and ndarray of str
        Number of features, and their names if X has names.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, chapter 17.

    Examples
    --------
    "b" always follows "a", and the feature of the second element is always 0:

    >>> from lowrank_rank.structured import StructuredHingeSequenceClassifier
    >>> X, y = [[1.0], [0.0], [-1.0], [0.0]], ["a", "b", "b", "a"]
    >>> model = StructuredHingeSequenceClassifier().fit(X, y, qid=[1, 1, 2, 2])
    >>> model.predict([[-2.0], [0.0]], qid=["new", "new"])
    array(['b', 'a'], dtype='<U1')
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__partial_fit = {"qid": True}  # noqa: RUF012
    __metadata_request__predict = {"qid": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True}  # noqa: RUF012

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    _parameters: ClassVar = {
        name: allowed
        for name, allowed in HINGE_PARAMETERS.items()
        if name != "standardize"
    }

    def __init__(
        self,
        *,
        alpha: float | str = "auto",
        solver: str = "auto",
        radius: float | None = None,
        tol: float = 1e-2,
        max_iter: int = 1000,
        batch_size: Any = "auto",
        fit_intercept: bool = True,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
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
    ) -> "StructuredHingeSequenceClassifier":
        """Minimise the hinge.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_elements, n_features)
            One row per element, the elements of a sequence in their order.
        y : array-like of shape (n_elements,)
            Labels; a structured array with the fields "y" and "qid" carries its qid.
        qid : array-like of shape (n_elements,) or None, default=None
            The sequence of each element; elements in the order of the rows.
        sample_weight : array-like of shape (n_elements,) or None, default=None
            Weights of sequences: elements of a sequence share one weight, and a
            sequence of weight 2 is the sequence twice.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, labels, ids, weights or parameters are wrong, or y holds one
            class only. The model is unchanged then.

        Warns
        -----
        ConvergenceWarning
            If the gap is still above `tol` after `max_iter` iterations.
        """
        arrive(X=X, y=y, qid=qid, sample_weight=sample_weight)
        with fresh_fit(self):
            check_same_index(X=X, y=y, qid=qid, sample_weight=sample_weight)
            y, qid = split_target(y, qid, X)
            X = self._validate_X(X, reset=True)
            y = read_classes(self, X, y)
            self.classes_ = np.unique(y)
            refuse(CHECKS_OF_SEVERAL_CLASSES, labels=self.classes_)
            problem = self._encode(X, y, _sequences(qid, len(y)), sample_weight)
            w = self._solve(
                problem,
                self._penalty(problem, curvature=0.5),
                batch_size=self.batch_size,
                n_batches=_N_BATCHES,
                random_state=self.random_state,
            )
            self._keep(problem, w)
        return self

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> "StructuredHingeSequenceClassifier":
        """Take one pass of steps over more whole sequences.

        The method needs ``solver="sgd"`` and a number for `alpha`.

        Parameters
        ----------
        X, y
            As in `fit`.
        classes : array-like or None, default=None
            All labels; only the first call needs it. None is the labels in its y.
        qid, sample_weight
            As in `fit`. A sequence must be in one call.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        arrive(X=X, y=y, classes=classes, qid=qid, sample_weight=sample_weight)
        is_first = not hasattr(self, "coef_")
        with all_or_nothing(self):
            check_same_index(X=X, y=y, qid=qid, sample_weight=sample_weight)
            y, qid = split_target(y, qid, X)
            X = self._validate_X(X, reset=is_first)
            y = read_classes(self, X, y)
            lists = _sequences(qid, len(y))
            if is_first:
                labels = y
                name = "y"
                if classes is not None:
                    labels = np.asarray(classes)
                    name = "classes"
                self.classes_ = np.unique(labels)
                refuse(
                    CHECKS_OF_SEVERAL_CLASSES,
                    labels=self.classes_,
                    name=name,
                    takes_classes=True,
                )
            else:
                if classes is not None:
                    check_same_classes(np.asarray(classes), self.classes_)
                _, last_key = self._ends_
                check_continues(
                    self._has_qid_, last_key, lists, "sequence", "sequences of one row"
                )
            problem = self._encode(X, y, lists, sample_weight)
            w = self._step_more(
                problem, batch_size=self.batch_size, n_batches=_N_BATCHES
            )
            self._keep(problem, w)
        return self

    def _is_standardised(self):
        return False

    def _encode(self, X, y, lists, sample_weight):
        """Build the `ChainProblem` of the distinct sequences of positive weight."""
        index = class_indices(y, self.classes_)
        row_weights = read_weights(sample_weight, len(y), lists=lists)
        self._has_qid_ = lists.ids is not None
        self._ends_ = lists.ends
        weights = weights_of_lists(row_weights, lists, "sequence")
        if not weights.all():
            counted = np.flatnonzero(row_weights)
            X = X[counted]
            index = index[counted]
            lists = lists.of_rows(counted)
            weights = weights[weights > 0]
        rows, lists, weights = _distinct(row_codes(X, index), lists, weights)
        X = X[rows]
        n_elements = float(weights @ lists.lengths)
        weights = weights / n_elements
        # Features are as given: their mean squared norm takes the place of their
        # number.
        mean_squared_norm = lists.repeat(weights) @ row_norms(X, squared=True)
        self._size_ = float(mean_squared_norm), n_elements
        return ChainProblem(
            X,
            ListHinge(index[rows], lists),
            weights,
            len(self.classes_),
            intercept=self.fit_intercept,
        )

    def _keep(self, problem, w):
        """Set the coefficients and the scores of transitions."""
        self.coef_, self.intercept_ = problem.split(w)
        self.transitions_: np.ndarray = problem.transitions(w)

    def predict(self, X: MatrixLike, *, qid: ArrayLike | None = None) -> np.ndarray:
        """Predict the labels of the elements, each sequence as a whole.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_elements, n_features)
            One row per element, the elements of a sequence in their order.
        qid : array-like of shape (n_elements,) or None, default=None
            Required if the model was fitted with qid.

        Returns
        -------
        ndarray of shape (n_elements,)
            Labels from ``classes_``.
        """
        arrive(X=X, qid=qid)
        check_is_fitted(self)
        check_same_index(X=X, qid=qid)
        if qid is None and self._has_qid_:
            refuse(
                CHECKS_OF_SCORED_ROWS,
                model=self,
                has_ids_in_fit=True,
                one_list="qid = numpy.zeros(len(X))",
            )
        X = self._validate_X(X, reset=False)
        lists = _sequences(qid, X.shape[0])
        scores = linear_scores(X, self.coef_, self.intercept_)
        labels = viterbi(lists.group(scores), self.transitions_, lists)
        return self.classes_[lists.ungroup(labels)]

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        qid: ArrayLike | None = None,
    ) -> float:
        """Return the fraction of elements with the right label.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_elements, n_features)
            One row per element, the elements of a sequence in their order.
        y : array-like of shape (n_elements,)
            Labels of the elements.
        sample_weight : array-like of shape (n_elements,) or None, default=None
            Weights of the elements.
        qid : array-like of shape (n_elements,) or None, default=None
            The sequence of each element; required if the model was fitted with qid.

        Returns
        -------
        float
            Between 0 and 1, greater is better.
        """
        arrive(X=X, y=y, sample_weight=sample_weight, qid=qid)
        check_same_index(X=X, y=y, qid=qid, sample_weight=sample_weight)
        y, qid = split_target(y, qid)
        y = class_labels(self, y)
        labels = self.predict(X, qid=qid)
        check_consistent_length(labels, y)
        weights = read_weights(sample_weight, len(y))
        is_right = labels.astype(object) == y.astype(
            object
        )  # labels may differ in type
        return float(np.average(is_right.astype(float), weights=weights))
