"""The table of measures that have a structured hinge: one line each.

Adding a measure of two relevance levels is its loss as a function of the counts
(`_multivariate.CountLoss`) and a line here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._labels import lists_of, read_labels, split_target
from .._typing import ArrayLike
from ..target_losses import (
    AUC,
    NDCG,
    BalancedAccuracy,
    FBeta,
    KendallTau,
    PrecisionAtK,
    RankingMeasure,
    RecallAtK,
    resolve_measure,
)
from ..target_losses._base import reciprocal
from ._hinges import CountHinge, PairHinge, PlacesHinge
from ._multivariate import balanced_loss, f_loss, precision_loss, recall_loss


class Hinge(NamedTuple):
    """How a measure becomes a hinge.

    Attributes
    ----------
    make : callable
        ``make(measure, y, lists, n_items)`` with checked labels.
    defined : callable
        ``defined(y, lists)``, whether each list has a value.
    scale : callable
        ``scale(y, lists)``, the size of a list's slopes: features are divided by its mean.
    sees_shift : bool
        Whether a constant added to the scores of a list changes the hinge.
    bound : callable or None
        ``bound(measure, P)``: whether the hinge bounds the loss with P relevant items.
    """

    make: Callable
    defined: Callable
    scale: Callable
    sees_shift: bool = False
    bound: Callable | None = None


def _n_relevant(y, lists):
    return lists.sum((y > 0).astype(float))


def _has_relevant(y, lists):
    return _n_relevant(y, lists) > 0


def _count(make_loss, bound=None):
    def make(measure, y, lists, n_items):
        return CountHinge(y > 0, lists, n_items, count_loss=make_loss(measure))

    return Hinge(make, _has_relevant, lambda y, lists: 2.0 * _n_relevant(y, lists), True, bound)


def _pairs(normalize):
    def make(measure, y, lists, n_items):
        return PairHinge(y, lists, n_items, normalize=normalize)

    return Hinge(
        make,
        lambda y, lists: PairHinge(y, lists, normalize="unequal").scale > 0,
        lambda y, lists: np.ones(lists.n_lists),
    )


def _places(measure, y, lists, n_items):
    gains = measure.gains(y, lists)
    scale = reciprocal(measure.normaliser(y, gains, lists))
    longest = int(lists.lengths.max())
    depth = longest if measure.k is None else min(int(measure.k), longest)
    discounts = measure.discount(np.arange(1, depth + 1), longest) * np.ones(depth)
    return PlacesHinge(gains * lists.spread(scale), lists, n_items, discounts=discounts)


#: By class of the measure, most special first.
HINGES: dict[type, Hinge] = {
    KendallTau: _pairs("all"),
    AUC: _pairs("unequal"),
    NDCG: Hinge(_places, _has_relevant, lambda y, lists: lists.lengths**2 / 4.0),
    PrecisionAtK: _count(lambda measure: precision_loss(measure.k), lambda m, P: m.k <= P),
    RecallAtK: _count(lambda measure: recall_loss(measure.k), lambda m, P: m.k >= P),
    FBeta: _count(lambda measure: f_loss(measure.beta)),
    BalancedAccuracy: _count(lambda measure: balanced_loss()),
}

#: Names of the measures of predicted classes, beside those of `target_losses`.
CLASS_MEASURES: dict[str, Callable[[], RankingMeasure]] = {
    "f1": FBeta,
    "balanced_accuracy": BalancedAccuracy,
}
_NAMES = ("kendall", "ndcg@10", "precision@10", "recall@10", "auc")


def resolve_hinge(target_loss, *, of_classes=False):
    """The measure that a name or an object stands for, and its `Hinge`."""
    names = (*CLASS_MEASURES, *_NAMES[2:]) if of_classes else _NAMES
    measure: Any = target_loss
    if of_classes and isinstance(target_loss, str) and target_loss in CLASS_MEASURES:
        measure = CLASS_MEASURES[target_loss]()
    elif not isinstance(target_loss, FBeta | BalancedAccuracy):
        try:
            measure = resolve_measure(target_loss)
        except ValueError as error:
            if of_classes:
                raise ValueError(f"{error} Here also {', '.join(CLASS_MEASURES)}.") from None
            raise
    allowed = _ALLOWED[of_classes]
    if type(measure) not in allowed:
        raise ValueError(
            f"{measure!r} has no structured hinge here: take one of {', '.join(names)}. "
            "LowRankSurrogateRanker takes every target loss."
        )
    return measure, HINGES[type(measure)]


_ALLOWED: dict[bool, set[Any]] = {
    False: {KendallTau, AUC, NDCG, PrecisionAtK, RecallAtK},
    True: {FBeta, BalancedAccuracy, AUC, PrecisionAtK, RecallAtK},
}


def check_bounds(measure, hinge, y, lists):
    """Refuse lists on which the hinge does not bound the loss, naming k and P."""
    if hinge.bound is None:
        return
    relevant = _n_relevant(y, lists)
    wrong = (relevant > 0) & ~hinge.bound(measure, relevant)
    if wrong.any():
        which = int(np.argmax(wrong))
        name = "" if lists.ids is None else f" ({lists.ids.tolist()[which]!r})"
        sign, marks = (
            ("<=", "the items above 0 and at least the k best")
            if isinstance(measure, PrecisionAtK)
            else (">=", "the items above 0 and at most the k best")
        )
        raise ValueError(
            f"The hinge of {measure!r} bounds the loss of the items that it marks ({marks}) for k "
            f"{sign} P only, the number of relevant items: list {which}{name} has "
            f"P={int(relevant[which])} and k={measure.k}. Change k, leave such lists out, or take "
            "'ndcg@k' or 'auc'."
        )


def structured_hinge(
    target_loss: Any, y_true: ArrayLike, y_score: ArrayLike, *, qid: ArrayLike | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The structured hinge of each list, and a subgradient in the scores.

    ``max over y' of Delta(y', y) + <s, psi(y') - psi(y)>``, a convex upper bound of the loss Delta
    of the measure (chapter 17 of [1]_). The hinge of precision@k bounds the loss of the marked
    items, the ``max(k, number of scores above 0)`` best, and not that of the first k.

    Parameters
    ----------
    target_loss : str or RankingMeasure
        "kendall", "ndcg@k", "precision@k", "recall@k", "auc", "f1", "balanced_accuracy", or an
        object such as ``FBeta(beta=2)``.
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
    qid : array-like of shape (n_rows,) or None, default=None

    Returns
    -------
    values : ndarray of shape (n_lists,)
        nan where the measure is undefined.
    slopes : ndarray of the shape of y_score

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, chapter 17.

    Examples
    --------
    Both items score 0: the loss 1 of the wrong label 0 0 is reached, and that of 0 1.

    >>> from lowrank_rank.surrogates import structured_hinge
    >>> values, slopes = structured_hinge("f1", [1, 0], [0.0, 0.0])
    >>> values
    array([1.])
    >>> structured_hinge("auc", [1, 0], [2.0, 0.5])
    (array([0.]), array([0., 0.]))
    """
    try:
        measure, hinge = resolve_hinge(target_loss)
    except ValueError:
        measure, hinge = resolve_hinge(target_loss, of_classes=True)
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true")
    lists = lists_of(y, qid, "y_true")
    measure.check_judged(y, "y_true")
    scores = np.asarray(y_score, dtype=np.float64)
    if scores.shape != y.shape:
        raise ValueError(f"y_score has shape {scores.shape} but y_true has shape {y.shape}.")
    flat = lists.group(measure.check_labels(y).ravel())
    check_bounds(measure, hinge, flat, lists)
    made = hinge.make(measure, flat, lists, None)
    values, slopes = made.worst(lists.group(scores.ravel())[:, np.newaxis])
    values = np.where(hinge.defined(flat, lists), values, np.nan)
    return values, lists.ungroup(slopes[:, 0]).reshape(scores.shape)
