"""Custom objectives and metrics of LightGBM and XGBoost from surrogates and measures.

This module imports neither library: it recognises their data sets by the methods they
have.
"""

from copy import copy
from typing import Any

import numpy as np

from ..fitting._encoding import encode_documents, mean_normaliser
from ..lists._lists import RankingLists
from ..target_losses import TargetLoss
from ..target_losses._names import resolve_measure, resolve_target_loss
from ..target_losses._target_loss import RankingMeasure
from ..validation._arrays import ArrayLike, check_finite, check_same_index, numbers
from ..validation._check import refuse
from ..validation._checks_of_surrogates import (
    CHECKS_OF_COLUMNS_OF_TREES,
    CHECKS_OF_LISTS_OF_TREES,
    CHECKS_OF_VALUES,
)
from ..validation._ids import id_array
from ..validation._kinds import arrive
from ..validation._labels import check_judged, lists_of, read_labels, read_weights
from ..validation._read import Data
from ._list_loss import ListLoss, check_loss
from ._surrogates import LARGEST_SCORE, Surrogate, surrogate_for


def boosting_objective(
    surrogate: str | Surrogate = "cross_entropy",
    target_loss: str | TargetLoss = "ndcg@10",
    *,
    qid: ArrayLike | None = None,
) -> "_Objective":
    """Make a custom objective of LightGBM and XGBoost from a loss of this package.

    The trees minimise ``c sum_q a_q L(v, s)`` over the lists q, for utilities v of the
    labels and scores s. For sums over pairs a_q = 1 / sum_q w, else 1. The constant c
    makes the mean curvature of a row 1 at equal scores, so that ``min_child_weight``
    and ``reg_lambda`` keep their meaning; it does not change the minimiser.
    `HistGradientBoostingRanker` grows its trees by the same derivatives. Softmax
    cross-entropy, with V the sum of v in the list of row i and p its softmax, has::

        gradient_i  = c (V p_i - v_i)
        curvature_i = c V z_i (1 - z_i)

    for w = 1. Here z_i is the point between p_i and v_i / V that is nearest to 1/2. The
    curvature is largest there, on the way from the score to the minimum. The curvature
    at p_i itself is almost 0 for one relevant row among many, and the step of its leaf
    would be far too long. The other logistic surrogates also take the largest curvature
    on the way. The smooth hinge, which is linear in places, has w eta / a everywhere.
    The sample weights w are importances of rows: a list of weight 2 counts twice.

    Parameters
    ----------
    surrogate : str or Surrogate, default="cross_entropy"
        "lambdarank" (see `HistGradientBoostingRanker`), a name of
        `surrogates.SURROGATES` or an object. A two-sided pointwise surrogate given by
        name has ``eta`` = 1.5 times the largest utility.
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure to train for: "ndcg@10", "map", ... It gives each document a
        utility. For "map" the order is right under noise of P_reinforce
        (`lowrank_rank.calibration.noise_report`).
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of exactly the training rows, for estimators without groups
        (LGBMRegressor, XGBRegressor). Do not use it with cross-validation or bagging,
        which select rows.

    Returns
    -------
    callable
        For ``LGBMRanker(objective=...)``, ``params["objective"]`` of
        ``lightgbm.train``, or ``obj=`` of ``xgboost.train`` with a DMatrix that has a
        qid. XGBRanker refuses every custom objective. A call ``(y_true, y_pred,
        sample_weight=None, group=None)`` returns gradient and curvature, each of shape
        (n_rows,); a curvature is at least 1e-6 times the weight. `group` are the
        numbers of rows of the lists, which follow one another. ``value(...)`` of the
        same arguments is the sum that the trees minimise ("lambdarank" has none).

    Raises
    ------
    ValueError, TypeError
        If the surrogate or the target loss is unknown. A call without lists also raises
        it.

    Notes
    -----
    LightGBM starts a custom objective from scores of 0. XGBoost gives a weight to each
    group, and every row of the group takes it. The objective computes utilities once,
    and again after labels, weights or groups change.

    Examples
    --------
    Two lists, the first with V = 1 and p = 1/2, the second with V = 0; c = 4 / (1/4 +
    1/4):

    >>> import numpy as np
    >>> from lowrank_rank.boosting import boosting_objective
    >>> objective = boosting_objective("cross_entropy", "precision@1")
    >>> gradient, curvature = objective([1, 0, 0, 0], np.zeros(4), group=[2, 2])
    >>> gradient
    array([-4.,  4.,  0.,  0.])
    >>> curvature
    array([2.e+00, 2.e+00, 1.e-06, 1.e-06])

    The first list alone has the value log 2, times c = 2 / (1/2):

    >>> round(objective.value([1, 0], [0.0, 0.0], group=[2]), 4)
    2.7726
    """
    arrive(qid=qid)
    return _Objective(surrogate, target_loss, qid)


def boosting_metric(measure: str | RankingMeasure = "ndcg@10") -> "_Metric":
    """Make a metric of LightGBM and XGBoost from any measure of this package.

    The metric is the mean of the measure over the lists of an evaluation set, averaged
    over ties. Early stopping can then use the measure of interest, list by list.

    Parameters
    ----------
    measure : str or RankingMeasure, default="ndcg@10"
        A name, see `get_ranking_scorer_names`, or an object such as
        ``PrecisionAtK(k=5)``.

    Returns
    -------
    callable
        For ``LGBMRanker.fit(..., eval_metric=...)``, ``feval`` of ``lightgbm.train``,
        or ``custom_metric`` of ``xgboost.train``. A call ``(y_true, y_pred,
        sample_weight=None, group=None)`` returns name and value, and for LightGBM
        ``is_higher_better``. `group` are the numbers of rows of the lists, which follow
        one another. A list has the mean weight of its rows. XGBRanker calls its
        ``eval_metric`` for one query at a time: give it a function ``(y_true, y_pred)``
        that returns ``measure_score(name, y_true, y_pred)``.

    Raises
    ------
    ValueError, TypeError
        If the measure is unknown. A call without lists also raises it.

    Notes
    -----
    LightGBM also computes its own metrics, and any of them can stop the training.
    Switch them off with ``LGBMRanker(metric="None")`` or ``params["metric"] = "None"``.
    XGBoost minimises a metric with an unknown name: set ``maximize=True`` in
    ``EarlyStopping`` or ``train``, and ``params["disable_default_eval_metric"] =
    True``. The mean skips lists on which the measure is undefined, as scorers do;
    LightGBM's NDCG counts them as 1.

    Examples
    --------
    Two lists, the first with the relevant document at the top:

    >>> from lowrank_rank.boosting import boosting_metric
    >>> metric = boosting_metric("precision@1")
    >>> metric([1, 0, 0, 1], [0.2, 0.1, 0.4, 0.3], group=[2, 2])
    ('precision@1', 0.5, True)
    """
    return _Metric(measure)


class _Objective:
    """Objective of boosted trees: gradient and curvature of a surrogate at scores."""

    # There is no get_params: both libraries would take its parameters for their own.
    def __init__(self, surrogate: Any, target_loss: Any, qid: Any) -> None:
        self.surrogate = surrogate
        self.target_loss = target_loss
        self.qid = qid
        self._loss = resolve_target_loss(target_loss)
        check_loss(surrogate, self._loss, "boosting_objective")
        if qid is not None:
            id_array(qid)
        self._latest: Any = None
        self._sums: dict[str, np.ndarray] = {}

    # LightGBM counts these four parameters; XGBoost looks for the name "sample_weight".
    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute gradient and curvature of `value` by the scores, each (n_rows,)."""
        loss, scores = self._list_loss(y_true, y_pred, sample_weight, group)
        return loss(scores)

    def value(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> float:
        """Compute the sum that the trees minimise; arguments as in a call."""
        loss, scores = self._list_loss(y_true, y_pred, sample_weight, group)
        refuse(CHECKS_OF_VALUES, surrogate=self.surrogate)
        return loss.value(scores)

    def _list_loss(self, y_true, y_pred, sample_weight, group):
        """Return the loss of these labels and lists, and the scores (n_rows,)."""
        if hasattr(y_pred, "get_label"):
            # `train` passes the scores first, then its data set.
            data = y_pred
            y_pred = y_true
            y_true, sample_weight, group = _training_set(data)
        arrive(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, group=group)
        check_same_index(
            y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, qid=self.qid
        )
        scores = check_finite(numbers(y_pred, "y_pred"), "y_pred", LARGEST_SCORE)
        y, weights, group = _columns(
            y_true=y_true, sample_weight=sample_weight, group=group
        )
        n_rows = 0 if y is None else y.size
        refuse(
            CHECKS_OF_LISTS_OF_TREES,
            scores=scores,
            group=group,
            qid=self.qid,
            n_rows=n_rows,
            give=(
                "group=... to LGBMRanker or Dataset, qid=... to DMatrix, or "
                "boosting_objective(..., qid=qid) to regressors"
            ),
        )
        # The loss of the latest call is kept for the same labels, weights and groups.
        latest = self._latest  # read only once, because another thread may replace it
        key = y, weights, group
        if latest is None or not all(map(np.array_equal, key, latest[0])):
            key = tuple(None if values is None else values.copy() for values in key)
            y, weights, group = key
            y = _labels(y)
            weights = read_weights(weights, n_rows)
            lists = (
                _lists_of_groups(group) if self.qid is None else lists_of(y, self.qid)
            )
            loss = ListLoss(self.surrogate, self._loss, y, weights, lists, **self._sums)
            latest = key, loss
            self._latest = latest
        return latest[1], scores.ravel()

    def with_units_of(self, blocks):
        """Copy the objective, with the units of the loss from sums over all rows.

        Without these sums each machine of a cluster has the units of its own rows.

        Parameters
        ----------
        blocks : Blocks
            Of tuples (X, grades, lengths of the lists, weights or None).

        Returns
        -------
        callable
        """
        objective = _Objective(self.surrogate, self.target_loss, self.qid)
        if self.surrogate != "lambdarank":
            of_blocks = np.array(list(blocks.map(_utilities_of_block, self._loss)))
            sums = of_blocks[:, :2].sum(axis=0)
            largest = mean_normaliser(sums) * of_blocks[:, 2].max()
            objective.surrogate = surrogate_for(self.surrogate, np.array([largest]))
            objective._sums["normaliser_sums"] = sums
        objective._sums["curvature_sums"] = blocks.sum(
            _curvature_of_block, copy(objective)
        )
        return objective

    def __repr__(self) -> str:
        qid = "" if self.qid is None else f", qid=<{len(self.qid)} rows>"
        return f"boosting_objective({self.surrogate!r}, {self.target_loss!r}{qid})"

    def __getstate__(self) -> dict[str, Any]:
        # Without the utilities of the latest labels
        return {**self.__dict__, "_latest": None}

    def __sklearn_clone__(self) -> "_Objective":
        return _Objective(self.surrogate, self.target_loss, self.qid)


class _Metric:
    """Metric of boosted trees: mean of a measure over lists of an evaluation set."""

    def __init__(self, measure: Any) -> None:
        self.measure = measure
        self._measure = resolve_measure(measure, copied=True)

    def __call__(
        self, y_true: Any, y_pred: Any, sample_weight: Any = None, group: Any = None
    ) -> tuple[Any, ...]:
        """Compute name, value and ``is_higher_better``, which XGBoost does not take."""
        data = y_pred if hasattr(y_pred, "get_label") else None
        if data is not None:  # `train` passes the scores first
            y_pred = y_true
            y_true, sample_weight, group = _training_set(data)
        arrive(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight, group=group)
        y, group = _columns(y_true=y_true, group=group)
        y = _labels(y)
        refuse(
            CHECKS_OF_LISTS_OF_TREES,
            group=group,
            n_rows=len(y),
            give=(
                "eval_group=... to LGBMRanker, group=... to Dataset of LightGBM, "
                "qid=... to DMatrix of XGBoost"
            ),
        )
        lists = _lists_of_groups(group)
        value = self._measure.measure(
            y, y_pred, qid=lists.index, sample_weight=sample_weight
        )
        is_name = isinstance(self.measure, str)
        name = self.measure if is_name else repr(self.measure)
        name = name.replace(" ", "")  # XGBoost splits results at blanks
        if hasattr(data, "get_uint_info"):
            return name, value
        return name, value, True

    def __repr__(self) -> str:
        return f"boosting_metric({self.measure!r})"

    def __sklearn_clone__(self) -> "_Metric":
        return _Metric(self.measure)


def _rows_of_block(block):
    """Grades, weights and lists of a block (X, grades, lengths of lists, weights)."""
    _, grades, lengths, weights = block
    (y,) = _columns(y=grades)
    y = _labels(y)
    return y, read_weights(weights, len(y), whole=False), RankingLists(lengths)


def _utilities_of_block(block, target_loss):
    """Sum the normalisers of the utilities, and find the largest undivided utility."""
    y, weights, lists = _rows_of_block(block)
    rows = Data(None, y, lists, weights)
    encoding = encode_documents(rows, target_loss, centered=False)
    return np.array([*encoding.normaliser_sums, encoding.targets.max(initial=0.0)])


def _curvature_of_block(block, objective):
    """Sum of the weights, and of the curvatures at equal scores."""
    y, weights, lists = _rows_of_block(block)
    loss = ListLoss(
        objective.surrogate, objective._loss, y, weights, lists, **objective._sums
    )
    return loss.curvature_sums


def _lists_of_groups(group):
    """Make consecutive lists with the given numbers of rows."""
    return RankingLists(group[group > 0])


def _training_set(data):
    """Read labels, row weights and group lengths of a Dataset or a DMatrix."""
    y = data.get_label()
    weights = data.get_weight()
    if not hasattr(data, "get_uint_info"):  # a lightgbm.Dataset
        return y, weights, data.get_group()
    # An xgboost.DMatrix, which returns empty arrays for no groups and no weights.
    ends = data.get_uint_info("group_ptr")
    group = np.diff(ends.astype(np.intp)) if len(ends) else None
    if len(weights) == 0:
        weights = None
    elif group is not None and len(weights) == len(group):  # one weight a group
        weights = np.repeat(weights, group)
    return y, weights, group


def _columns(**columns):
    """Convert each to one number for each row or list; None stays None."""
    arrive(**columns)
    read = {}
    for name, values in columns.items():
        has_ids = bool(getattr(getattr(values, "dtype", None), "names", None))
        is_kept = values is None or has_ids
        read[name] = values if is_kept else numbers(values, name)
    refuse(CHECKS_OF_COLUMNS_OF_TREES, columns=read)
    return list(read.values())


def _labels(y):
    """Read grades; refuse missing ones."""
    y = read_labels(y)
    check_judged(y, False)
    return y
