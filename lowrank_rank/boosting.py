"""Custom objectives for LightGBM and XGBoost: order-preserving surrogates on boosted trees.

Neither library is imported here: an objective knows their data sets by what they offer.
"""

from typing import Any, NamedTuple

import numpy as np

from ._lists import RankingLists, split_target
from .estimators._encoding import encode_documents
from .surrogates import (
    PointwiseSmoothHinge,
    Surrogate,
    resolve_surrogate,
    surrogate_for,
)
from .target_losses import MeanAveragePrecision, PositionalLoss, resolve_target_loss

__all__ = ["BoostingObjective", "boosting_objective"]

_SMALLEST_CURVATURE = 1e-6


class BoostingObjective:
    """Gradient and curvature of a surrogate at the scores of boosted trees.

    What `boosting_objective` returns. It is called by LightGBM or XGBoost, holds the utilities
    of the last labels and lists that it has seen, and can be pickled and cloned, which leaves
    those behind. It has no ``get_params``: both libraries would take its parameters for theirs.

    Parameters
    ----------
    surrogate : str or Surrogate
    target_loss : str or TargetLoss
    qid : array-like of shape (n_rows,) or None, default=None
    """

    def __init__(self, surrogate="cross_entropy", target_loss="ndcg@10", *, qid=None):
        self.surrogate = surrogate
        self.target_loss = target_loss
        self.qid = qid
        resolve_surrogate(surrogate)  # refuses an unknown name at once
        self._loss = resolve_target_loss(target_loss)
        if not isinstance(self._loss, PositionalLoss | MeanAveragePrecision):
            raise ValueError(
                f"boosting_objective needs utilities >= 0 of single documents, which "
                f"{self._loss!r} has not: take 'ndcg@10', 'dcg', 'precision@5', 'auc' or 'map'."
            )
        self._seen = None

    # LightGBM passes as many of these as it counts, four; XGBoost looks for "sample_weight".
    def __call__(self, y_true, y_pred, sample_weight=None, group=None):
        """Gradient and curvature, as the libraries want them.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels; or, in LightGBM's and XGBoost's own ``train``, the scores.
        y_pred : ndarray of shape (n_rows,), lightgbm.Dataset or xgboost.DMatrix
            Scores; or the training set, with labels, weights and groups.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            Importances of the rows.
        group : array-like of shape (n_lists,) or None, default=None
            Number of rows of each list, lists one after the other.

        Returns
        -------
        gradient, curvature : ndarray of shape (n_rows,)
            Of `value`; the curvature is at least 1e-6 times the weight.

        Raises
        ------
        ValueError
            If the lists are not known, or labels, weights and lists do not fit together.
        """
        seen, values = self._evaluate(y_true, y_pred, sample_weight, group)
        gradient, curvature = (seen.scale * part for part in (values.gradient, values.curvature))
        np.maximum(curvature, _SMALLEST_CURVATURE * seen.weights, out=curvature)
        return seen.lists.ungroup(gradient), seen.lists.ungroup(curvature)

    def value(self, y_true, y_pred, sample_weight=None, group=None):
        """The sum over lists that the trees minimise; arguments as in a call.

        Returns
        -------
        float
        """
        seen, values = self._evaluate(y_true, y_pred, sample_weight, group)
        per_list = seen.scale if np.ndim(seen.scale) == 0 else seen.scale[seen.lists.starts]
        return float(np.sum(per_list * values.values))

    def _evaluate(self, y_true, y_pred, sample_weight, group):
        if hasattr(y_pred, "get_label"):  # a training set: the scores came first
            y_pred, (y_true, sample_weight, group) = y_true, _training_set(y_pred)
        scores = np.asarray(y_pred, dtype=np.float64)
        n_rows = len(y_true)
        if scores.size != n_rows:
            raise ValueError(
                f"There are scores of shape {scores.shape} for {n_rows} rows: a ranking has one "
                "score a row, leave num_class and multi_strategy alone."
            )
        key = tuple(
            None if part is None else np.asarray(part) for part in (y_true, sample_weight, group)
        )
        seen = self._seen  # read once: another thread may write it
        if seen is None or not all(map(_same, key, seen.key)):
            self._seen = seen = self._encode(*(None if p is None else p.copy() for p in key))
        scores, surrogate = seen.lists.group(scores.ravel()), seen.surrogate
        values = surrogate.evaluate(seen.utilities, scores, seen.lists, seen.weights)
        if isinstance(surrogate, PointwiseSmoothHinge):  # without any where it is linear
            values = values._replace(curvature=seen.weights * surrogate.eta / surrogate.a)
        return seen, values

    def _encode(self, y, weights, group):
        """Everything that labels, weights and groups determine."""
        y_flat = _labels(y)
        w = _importances(weights, len(y_flat))
        lists = self._lists(group, len(y_flat))
        targets = encode_documents(None, y_flat, lists, w, self._loss, "auto", "rows", False)
        v, w = lists.group(targets.scaled_targets()[:, 0]), lists.group(w)
        surrogate = surrogate_for(self.surrogate, v)
        total, mass = w.sum(), w @ v
        scale = total / mass if surrogate.of_utilities and mass > 0 else 1.0
        if surrogate.of_pairs:
            per_list = lists.sum(w)
            scale = scale * lists.spread(1.0 / np.where(per_list > 0, per_list, 1.0))
        return _Seen((y, weights, group), v, w, lists, surrogate, scale)

    def _lists(self, group, n_rows):
        if group is None and self.qid is None:
            raise ValueError(
                "No lists are known for these rows. In LightGBM fit LGBMRanker with group=..., or "
                "train on Dataset(..., group=...); in XGBoost train on DMatrix(..., qid=...). For "
                "estimators that hand over no groups (LGBMRegressor, XGBRegressor) give the ids "
                "of the training rows: boosting_objective(..., qid=qid)."
            )
        if self.qid is not None:
            if group is not None:
                raise ValueError(
                    "The lists are given twice, as groups of the training set and as qid=... of "
                    "boosting_objective: leave qid out."
                )
            if len(self.qid) != n_rows:
                raise ValueError(
                    f"boosting_objective was given the qid of {len(self.qid)} rows, training has "
                    f"{n_rows}: give the qid of exactly the rows in fit, in their order (in "
                    "cross-validation take LGBMRanker, which hands over groups)."
                )
            return RankingLists.from_qid(self.qid, n_rows)
        if np.any(group < 0) or group.sum() != n_rows:
            raise ValueError(
                f"The groups add up to {group.sum()} rows, training has {n_rows}: give the "
                "number of rows of each list, or as qid one id a row."
            )
        return RankingLists(group[group > 0])

    def __repr__(self):
        qid = "" if self.qid is None else f", qid=<{len(self.qid)} rows>"
        return f"boosting_objective({self.surrogate!r}, {self.target_loss!r}{qid})"

    def __getstate__(self):
        return {**self.__dict__, "_seen": None}

    def __sklearn_clone__(self):
        return type(self)(self.surrogate, self.target_loss, qid=self.qid)


class _Seen(NamedTuple):
    """Labels, weights and groups as they came, and what they determine."""

    key: tuple
    utilities: np.ndarray
    weights: np.ndarray
    lists: RankingLists
    surrogate: Surrogate
    scale: Any


def boosting_objective(surrogate="cross_entropy", target_loss="ndcg@10", *, qid=None):
    """Order-preserving surrogate as custom objective of LightGBM and XGBoost.

    The trees minimise ``sum_q c a_q L(v, s)`` over the lists q, L the surrogate at utilities v of
    the labels and scores s. Two constants bring the curvature, which ``min_child_weight`` and
    ``reg_lambda`` speak of, to about 1 a row, and change no minimiser: c = sum w / sum w v where L
    is proportional to v, else 1; a_q = 1 / sum_q w for surrogates of pairs, else 1. Softmax
    cross-entropy, with V the sum of v in the list of row i and p its softmax, has::

        gradient_i  = c w_i (V p_i - v_i)
        curvature_i = c V p_i (1 - p_i)

    for w = 1. The sample weights w are importances of rows: with weight 2, a list counts twice. The
    smooth hinge, linear in parts, has its largest curvature w eta / a everywhere.

    Parameters
    ----------
    surrogate : str or Surrogate, default="cross_entropy"
        See `surrogates.SURROGATES`. The ``eta`` of a two-sided pointwise one that is given by its
        name is 1.5 times the largest utility.
    target_loss : str or TargetLoss, default="ndcg@10"
        Whose utilities of documents the scores are to order by.
    qid : array-like of shape (n_rows,) or None, default=None
        Ids of exactly the training rows, in any order of lists. Only for estimators that hand over
        no groups (LGBMRegressor, XGBRegressor), and of no use where rows are drawn or left out
        unseen: in cross-validation, or in Bagging, whose samples have as many rows as there are.

    Returns
    -------
    BoostingObjective
        A callable. Give it to ``LGBMRanker(objective=...)``, as ``params["objective"]`` of
        ``lightgbm.train`` or as ``obj=`` of ``xgboost.train``, whose DMatrix needs a qid.
        XGBRanker refuses every objective of one's own.

    Raises
    ------
    ValueError, TypeError
        If the surrogate or the target loss is unknown. When called: if the lists are not known.

    Notes
    -----
    A custom objective starts from scores that LightGBM sets to 0. XGBoost's weights are those of
    groups where it has groups; they go to the rows of the group. Utilities are computed once and
    again when labels, weights or groups have changed.

    Examples
    --------
    Two lists; V = 1 and p = 1/2, then V = 0. With c = 4 / 1:

    >>> import numpy as np
    >>> from lowrank_rank import boosting_objective
    >>> objective = boosting_objective("cross_entropy", "precision@1")
    >>> gradient, curvature = objective([1, 0, 0, 0], np.zeros(4), group=[2, 2])
    >>> gradient
    array([-2.,  2.,  0.,  0.])
    >>> curvature
    array([1.e+00, 1.e+00, 1.e-06, 1.e-06])
    """
    return BoostingObjective(surrogate, target_loss, qid=qid)


def _training_set(data):
    """Labels, weights of the rows and group lengths of a lightgbm.Dataset or xgboost.DMatrix."""
    y, weights = data.get_label(), data.get_weight()
    if not hasattr(data, "get_uint_info"):
        return y, weights, data.get_group()
    ends = data.get_uint_info("group_ptr")  # XGBoost: empty without groups or weights
    group = np.diff(ends.astype(np.intp)) if len(ends) else None
    if len(weights) == 0:
        weights = None
    elif group is not None and len(weights) == len(group):
        weights = np.repeat(weights, group)
    return y, weights, group


def _same(a, b):
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))


def _labels(y):
    """Grades, one a row, without ids: those come as groups."""
    y, carried = split_target(y)
    y = np.asarray(y, dtype=np.float64)
    if carried is not None or y.ndim != 1:
        raise ValueError(
            "The objective takes labels of shape (n_rows,) without ids: give the estimator the "
            "grades alone, and the lists as group or qid."
        )
    if not np.isfinite(y).all():
        raise ValueError(f"Row {int(np.argmin(np.isfinite(y)))} has a missing or infinite label.")
    return y


def _importances(weights, n_rows):
    if weights is None:
        return np.ones(n_rows)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, there are {n_rows} rows: give one a row."
        )
    if not (np.isfinite(weights).all() and np.all(weights >= 0)):
        raise ValueError("sample_weight must be finite and not negative.")
    return weights
