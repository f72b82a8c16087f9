"""Custom objectives and metrics for LightGBM and XGBoost: surrogates and measures of lists.

Neither library is imported here: objectives and metrics know their data sets by what they offer.
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._arrays import ArrayLike, check_finite, numbers
from .._labels import check_judged, lists_of, read_labels, read_weights, split_target
from .._lists import RankingLists, id_array
from ..regression._encoding import encode_documents
from ..target_losses import (
    MeanAveragePrecision,
    PositionalLoss,
    names_of,
    resolve_measure,
    resolve_target_loss,
)
from ._surrogates import LARGEST_SCORE, Surrogate, resolve_surrogate, surrogate_for

if TYPE_CHECKING:
    from ..target_losses._base import RankingMeasure, TargetLoss

_SMALLEST_CURVATURE = 1e-6
#: Target losses that give each document a utility >= 0.
_WITH_UTILITIES = (PositionalLoss, MeanAveragePrecision)


class BoostingObjective:
    """Gradient and curvature of a surrogate at the scores of boosted trees.

    What `boosting_objective` returns. LightGBM or XGBoost call it. It caches the utilities of the
    last labels and lists; pickles and clones have no cache. There is no ``get_params``: both
    libraries would confuse its parameters with their own.

    Parameters
    ----------
    surrogate : str or Surrogate
    target_loss : str or TargetLoss
    qid : array-like of shape (n_rows,) or None, default=None

    Examples
    --------
    Cross-entropy of one list with utilities 1 and 0 at equal scores, log 2, times c = 2 / 1:

    >>> from lowrank_rank.boosting import BoostingObjective
    >>> objective = BoostingObjective("cross_entropy", "precision@1")
    >>> round(objective.value([1, 0], [0.0, 0.0], group=[2]), 4)
    1.3863
    """

    def __init__(
        self,
        surrogate: str | Surrogate = "cross_entropy",
        target_loss: "str | TargetLoss" = "ndcg@10",
        *,
        qid: ArrayLike | None = None,
    ) -> None:
        self.surrogate = surrogate
        self.target_loss = target_loss
        self.qid = qid
        resolve_surrogate(surrogate)  # refuses an unknown name at once
        if qid is not None:
            id_array(qid)
        self._loss = resolve_target_loss(target_loss)
        if not isinstance(self._loss, _WITH_UTILITIES):
            names = names_of(lambda loss: isinstance(loss, _WITH_UTILITIES), one_each=True)
            raise ValueError(
                f"boosting_objective needs utilities >= 0 of single documents, which "
                f"{self._loss!r} has not: take one of {names}."
            )
        self._seen = None

    # LightGBM passes as many of these as it counts, four; XGBoost looks for "sample_weight".
    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
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
            Gradient of `value`, and the curvature of `Surrogate.newton_values`, at least 1e-6 times
            the weight.

        Raises
        ------
        ValueError
            If the lists are not known, or labels, weights and lists do not fit together.
        """
        seen, values = self._evaluate(y_true, y_pred, sample_weight, group)
        gradient, curvature = (seen.scale * part for part in (values.gradient, values.curvature))
        np.maximum(curvature, _SMALLEST_CURVATURE * seen.weights, out=curvature)
        return seen.lists.ungroup(gradient), seen.lists.ungroup(curvature)

    def value(
        self, y_true: Any, y_pred: Any, sample_weight: ArrayLike | None = None, group: Any = None
    ) -> float:
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
        scores = check_finite(numbers(y_pred, "y_pred"), "y_pred", LARGEST_SCORE)
        parts = {"y_true": y_true, "sample_weight": sample_weight, "group": group}
        key = tuple(_array(part, name) for name, part in parts.items())
        n_rows = 0 if key[0] is None else key[0].size
        if scores.size != n_rows:
            raise ValueError(
                f"There are scores of shape {scores.shape} for {n_rows} rows: a ranking has one "
                "score a row, leave num_class and multi_strategy alone."
            )
        seen = self._seen  # read once: another thread may write it
        if seen is None or not all(map(_same, key, seen.key)):
            self._seen = seen = self._encode(*(None if p is None else p.copy() for p in key))
        scores, surrogate = seen.lists.group(scores.ravel()), seen.surrogate
        return seen, surrogate.newton_values(seen.utilities, scores, seen.lists, seen.weights)

    def _encode(self, y, weights, group):
        """Everything that labels, weights and groups determine."""
        y_flat = _labels(y)
        w = read_weights(weights, len(y_flat))
        lists = self._lists(y_flat, group)
        targets = encode_documents(None, y_flat, lists, w, self._loss, "auto", "rows", False)
        v, w = lists.group(targets.scaled_targets()[:, 0]), lists.group(w)
        surrogate = surrogate_for(self.surrogate, v)
        total, mass = w.sum(), w @ v
        scale = total / mass if surrogate.is_proportional and mass > 0 else 1.0
        if surrogate.is_pairwise:
            per_list = lists.sum(w)
            scale = scale * lists.spread(1.0 / np.where(per_list > 0, per_list, 1.0))
        return _Seen((y, weights, group), v, w, lists, surrogate, scale)

    def _lists(self, y, group):
        n_rows = len(y)
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
            return lists_of(y, self.qid)
        return _lists_of_groups(group, n_rows)

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


def boosting_objective(
    surrogate: str | Surrogate = "cross_entropy",
    target_loss: "str | TargetLoss" = "ndcg@10",
    *,
    qid: ArrayLike | None = None,
) -> BoostingObjective:
    """Order-preserving surrogate as custom objective of LightGBM and XGBoost.

    The trees minimise ``sum_q c a_q L(v, s)`` over the lists q, L the surrogate at utilities v of
    the labels and scores s. Two constants scale the curvature, for ``min_child_weight`` and
    ``reg_lambda``, to about 1 a row, and change no minimiser. c is sum w / sum w v if L is
    proportional to v, else 1. a_q is 1 / sum_q w for surrogates of pairs, else 1. Softmax
    cross-entropy, with V the sum of v in the list of row i and p its softmax, has::

        gradient_i  = c (V p_i - v_i)
        curvature_i = c V z_i (1 - z_i)

    for w = 1, where z_i is the number between p_i and v_i / V nearest to 1/2: the largest curvature
    between p_i and a zero gradient. The curvature at p_i itself is tiny if a relevant row is one of
    many, and the step of a leaf, gradient over curvature, would then be thousands. The other
    logistic surrogates have the largest curvature on the way likewise, and the smooth hinge, linear
    in parts, w eta / a everywhere. The sample weights w are importances of rows: with weight 2, a
    list counts twice.

    Parameters
    ----------
    surrogate : str or Surrogate, default="cross_entropy"
        See `surrogates.SURROGATES`. The ``eta`` of a two-sided pointwise one that is given by its
        name is 1.5 times the largest utility.
    target_loss : str or TargetLoss, default="ndcg@10"
        The measure; it defines the utilities of the documents.
    qid : array-like of shape (n_rows,) or None, default=None
        Ids of exactly the training rows, in any order of lists. Query ids for estimators without
        groups (LGBMRegressor, XGBRegressor). They do not follow resampled rows, as in
        cross-validation or Bagging.

    Returns
    -------
    BoostingObjective
        A callable. Give it to ``LGBMRanker(objective=...)``, as ``params["objective"]`` of
        ``lightgbm.train`` or as ``obj=`` of ``xgboost.train``, whose DMatrix needs a qid.
        XGBRanker refuses every custom objective.

    Raises
    ------
    ValueError, TypeError
        If the surrogate or the target loss is unknown. When called: if the lists are not known.

    Notes
    -----
    A custom objective starts from scores that LightGBM sets to 0. XGBoost has a weight for each
    group; its rows share it. Utilities are computed once and again when labels, weights or groups
    have changed.

    Examples
    --------
    Two lists; V = 1 and p = 1/2, then V = 0. Here c = 4 / 1:

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


class BoostingMetric:
    """A measure of lists as evaluation metric of boosted trees.

    What `boosting_metric` returns. LightGBM or XGBoost call it after each round.

    Parameters
    ----------
    target_loss : str or RankingMeasure

    Examples
    --------
    >>> from lowrank_rank.boosting import BoostingMetric
    >>> BoostingMetric("precision@1")([1, 0, 0, 1], [0.2, 0.1, 0.4, 0.3], group=[2, 2])
    ('precision@1', 0.5, True)
    """

    def __init__(self, target_loss: "str | RankingMeasure" = "ndcg@10") -> None:
        self.target_loss = target_loss
        self._measure = clone(resolve_measure(target_loss))

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: Any,
        sample_weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
    ) -> tuple:
        """Name and value as the libraries want them.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels; or, in LightGBM's and XGBoost's own ``train``, the scores.
        y_pred : ndarray of shape (n_rows,), lightgbm.Dataset or xgboost.DMatrix
            Scores; or the evaluation set, with labels, weights and groups.
        sample_weight : array-like of shape (n_rows,) or None, default=None
            A list has the mean weight of its rows.
        group : array-like of shape (n_lists,) or None, default=None
            Number of rows of each list, lists one after the other.

        Returns
        -------
        name : str
        value : float
            Mean over the lists, greater is better.
        is_higher_better : bool
            True; not for an xgboost.DMatrix, where ``maximize=True`` says so.

        Raises
        ------
        ValueError
            If the lists are not known, or the measure is defined on none of them.
        """
        data = y_pred if hasattr(y_pred, "get_label") else None
        if data is not None:  # the scores came first
            y_pred, (y_true, sample_weight, group) = y_true, _training_set(data)
        y = _labels(y_true)
        if group is None:
            raise ValueError(
                "No lists are known for the rows that are evaluated. In LightGBM fit LGBMRanker "
                "with eval_set=... and eval_group=..., or give Dataset(..., group=...); in XGBoost "
                "evaluate on DMatrix(..., qid=...)."
            )
        lists = _lists_of_groups(numbers(group, "group"), len(y))
        value = self._measure.measure(y, y_pred, qid=lists.index, sample_weight=sample_weight)
        named = isinstance(self.target_loss, str)
        name = self.target_loss if named else repr(self.target_loss)
        result = (name.replace(" ", ""), value)  # XGBoost splits its line of results at blanks
        return result if hasattr(data, "get_uint_info") else (*result, True)

    def __repr__(self):
        return f"boosting_metric({self.target_loss!r})"

    def __sklearn_clone__(self):
        return type(self)(self.target_loss)


def boosting_metric(target_loss: "str | RankingMeasure" = "ndcg@10") -> BoostingMetric:
    """Any measure of this package as evaluation metric of LightGBM and XGBoost.

    The value is the mean of the measure over the lists of an evaluation set, with ties averaged.
    Early stopping then uses the measure of your choice.

    Parameters
    ----------
    target_loss : str or RankingMeasure, default="ndcg@10"
        A name, see `get_ranking_scorer_names`, or an object such as ``PrecisionAtK(k=5)``.

    Returns
    -------
    BoostingMetric
        A callable. Give it to ``LGBMRanker.fit(..., eval_metric=...)``, as ``feval`` of
        ``lightgbm.train`` or as ``custom_metric`` of ``xgboost.train``. XGBRanker refuses custom
        metrics.

    Raises
    ------
    ValueError, TypeError
        If the measure is unknown. When called: if the lists are not known.

    Notes
    -----
    LightGBM goes on to compute its own metrics, and stops by whichever has not improved:
    ``LGBMRanker(metric="None")``, ``params["metric"] = "None"``. XGBoost takes a metric whose name
    it does not know for a loss: ``EarlyStopping(..., maximize=True)`` or ``train(...,
    maximize=True)``, and ``params["disable_default_eval_metric"] = True``. Undefined lists are
    skipped, as in scorers; LightGBM's NDCG counts them as 1.

    Examples
    --------
    The first of two lists has its relevant document at the top:

    >>> from lowrank_rank import boosting_metric
    >>> metric = boosting_metric("precision@1")
    >>> metric([1, 0, 0, 1], [0.2, 0.1, 0.4, 0.3], group=[2, 2])
    ('precision@1', 0.5, True)
    """
    return BoostingMetric(target_loss)


def _lists_of_groups(group, n_rows):
    """Lists that stand one after the other, of these numbers of rows."""
    if np.any((group < 0) | (group != np.floor(group))) or group.sum() != n_rows:
        raise ValueError(
            f"The groups add up to {group.sum():g} rows, training has {n_rows}: give the "
            "whole number of rows of each list, or as qid one id a row."
        )
    return RankingLists(group[group > 0])


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


def _array(part, name):
    """Numbers of what was given; a target that carries ids is refused where labels are read."""
    if part is None or getattr(getattr(part, "dtype", None), "names", None):
        return part
    return numbers(part, name)


def _same(a, b):
    return (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))


def _labels(y):
    """Grades, one a row, without ids: those come as groups."""
    y, carried = split_target(y)
    y = read_labels(y)
    if carried is not None or y.ndim != 1:
        raise ValueError(
            "The objective takes labels of shape (n_rows,) without ids: give the estimator the "
            "grades alone, and the lists as group or qid."
        )
    check_judged(y, False)
    return y
