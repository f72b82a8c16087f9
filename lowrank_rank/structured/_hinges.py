"""Structured hinges of measures: a class for each kind, and the table of measures.

A hinge is ``max over y' of Delta(y', y) + <scores, psi(y') - psi(y)>`` for each term (a
list, a row, a sequence). ``worst(scores)`` returns its values and a subgradient.
``soft`` is a smooth approximation by probabilities of the labels y'; its cost is their
expected Delta.

A new measure of two relevance levels needs a line in `_maximisers.COUNT_LOSSES`.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from .._arrays import ArrayLike, check_same_labels, check_same_shape
from .._labels import lists_of, read_labels, split_target
from .._lists import RankingLists, mid_ranks
from ..fitting._pairs import dense_grades, pair_sums
from ..target_losses import AUC, NDCG, FBeta, KendallTau, PrecisionAtK, RecallAtK
from ..target_losses._classes import BalancedAccuracy
from ..target_losses._names import resolve_measure
from ..target_losses._target_loss import RankingMeasure, reciprocal
from ._maximisers import COUNT_LOSSES, count_hinge, worst_places


def rows_of(lists, chosen):
    """Grouped rows of some of the lists."""
    lengths = lists.lengths[chosen]
    first = np.cumsum(lengths) - lengths
    return np.repeat(lists.starts[chosen] - first, lengths) + np.arange(lengths.sum())


def n_relevant(y, lists):
    """Number of relevant items of each list."""
    return lists.sum((y > 0).astype(float))


class ListHinge:
    """Base of the hinges of lists: grouped and flat labels y, their lists, and a measure or None.

    Scores are one column, or one row of `n_items` columns for each list.
    """

    sees_shift: ClassVar[bool] = (
        False  #: Whether a constant added to all scores changes the hinge.
    )

    def __init__(self, y, lists, n_items=None, measure=None):
        self.y, self.lists, self.n_items, self.measure = y, lists, n_items, measure

    @staticmethod
    def defined(y, lists):
        """Whether each list has a value."""
        return n_relevant(y, lists) > 0

    def take(self, terms):
        rows = rows_of(self.lists, terms)
        lists = RankingLists(self.lists.lengths[terms])
        return type(self)(self.y[rows], lists, self.n_items, self.measure)

    def rows(self, terms):
        """Rows of X that belong to some terms."""
        return rows_of(self.lists, terms) if self.n_items is None else terms

    def spread(self, weights):
        """Repeat the value of each term for its scores."""
        return (
            weights[:, np.newaxis]
            if self.n_items
            else self.lists.repeat(weights)[:, np.newaxis]
        )


class PairHinge(ListHinge):
    """``scale * sum over pairs of max(0, 1 - (s_i - s_j))`` for Kendall's tau and the ROC area.

    The scale of Kendall's tau is one over the number r(r-1)/2 of pairs (section 17.4);
    pairs with tied labels are then wrong. Else only pairs with unequal labels count;
    for two grades this is one minus the ROC area.
    """

    def __init__(self, y, lists, n_items=None, measure=None):
        super().__init__(y, lists, n_items, measure)
        r, of_all = lists.lengths, isinstance(measure, KendallTau)
        self.grades = dense_grades(self.y, self.lists)
        of_grades = np.bincount(
            lists.repeat(lists.starts) + self.grades, minlength=len(self.y)
        )
        tied = lists.sum(of_grades * (of_grades - 1.0)) / 2.0
        total = r * (r - 1) / 2.0 - (0.0 if of_all else tied)
        self.scale = np.divide(1.0, total, out=np.zeros(len(total)), where=total > 0)
        self.tied = (tied if of_all else 0.0) * self.scale

    @staticmethod
    def defined(y, lists):
        return lists.sum(y != lists.repeat(y[lists.starts])) > 0

    @staticmethod
    def slope_size(y, lists):
        """The size of the slopes of each list. Features are divided by its mean."""
        return np.ones(lists.n_lists)

    def worst(self, scores):
        hinge, _, slopes, *_ = pair_sums(self.grades, scores.ravel(), self.lists)
        slopes = slopes * self.lists.repeat(self.scale)
        return hinge * self.scale + self.tied, slopes.reshape(scores.shape)

    def soft(self, scores, gamma, weights):
        """Smooth each term max(0, z) to the maximum over m in [0, 1] of m z - gamma m^2 / 2."""
        flat, scale = scores.ravel(), self.scale * weights
        hinge, squared, _, slopes, _ = pair_sums(self.grades, flat, self.lists)
        far, squared_far, _, slopes_far, _ = pair_sums(
            self.grades, flat, self.lists, 1.0 - gamma
        )
        value = (squared - squared_far) / (2.0 * gamma)
        cost = (hinge - far) / gamma
        slopes = (slopes - slopes_far) / (2.0 * gamma)
        slopes = (slopes * self.lists.repeat(scale)).reshape(scores.shape)
        tied = float(self.tied @ weights)
        value, cost, exact = (float(of @ scale) + tied for of in (value, cost, hinge))
        return value, slopes, cost, exact


class CountHinge(ListHinge):
    """Measure of the counts of a list, in `COUNT_LOSSES`; items with y > 0 are relevant."""

    sees_shift = True

    @staticmethod
    def slope_size(y, lists):
        return 2.0 * n_relevant(y, lists)

    def worst(self, scores):
        values, slopes = count_hinge(
            self.y > 0, scores.ravel(), self.lists, self.measure
        )
        return values, slopes.reshape(scores.shape)


class PlacesHinge(ListHinge):
    """NDCG at k (17.8). Utilities are gains over ideal DCG, or 0.

    Tied labels have their mid-rank as place, the mean over the orders of the ties. A
    list without a relevant item has no Delta.
    """

    def __init__(self, y, lists, n_items=None, measure=None):
        super().__init__(y, lists, n_items, measure)
        gains = measure.gains(y, lists)
        scale = reciprocal(measure.normaliser(y, gains, lists))
        self.utilities = gains * lists.repeat(scale)
        longest = int(lists.lengths.max())
        depth = longest if measure.k is None else min(int(measure.k), longest)
        self.discounts = measure.discount(np.arange(1, depth + 1), longest) * np.ones(
            depth
        )
        self.bottom = (
            lists.repeat(lists.lengths) + 1.0 - mid_ranks(self.utilities, lists)
        )

    @staticmethod
    def slope_size(y, lists):
        return lists.lengths**2 / 4.0

    def worst(self, scores):
        lists, flat = self.lists, scores.ravel()
        places = worst_places(self.utilities, flat, lists, self.discounts)
        at = np.minimum(places, len(self.discounts)) - 1
        discounts = np.where(places <= len(self.discounts), self.discounts[at], 0.0)
        slopes = lists.repeat(lists.lengths) + 1.0 - places - self.bottom
        has_any = lists.sum(self.utilities) > 0
        values = (
            has_any - lists.sum(discounts * self.utilities) + lists.sum(slopes * flat)
        )
        return values, slopes.reshape(scores.shape)


class ClassHinge(ListHinge):
    """Classes with costs (17.3): ``max over y' of cost[y, y'] + s_y' - s_y``; terms are rows.

    Parameters
    ----------
    y : ndarray of int, shape (n_rows,)
        The true column.
    costs : ndarray of shape (n_rows, n_columns)
        Cost of each column for each row, 0 for the true one.
    """

    def __init__(self, y, costs):
        self.y, self.costs, self.n_items = y, np.asfortranarray(costs), costs.shape[1]
        self.every = np.arange(len(y))

    def take(self, terms):
        return ClassHinge(self.y[terms], self.costs[terms])

    def worst(self, scores):
        augmented, slopes = scores + self.costs, np.zeros_like(scores)
        rivals = augmented.argmax(axis=1)
        slopes[self.every, rivals] = 1.0
        slopes[self.every, self.y] -= 1.0
        return augmented[self.every, rivals] - scores[self.every, self.y], slopes

    def soft(self, scores, gamma, weights):
        """Smooth the maximum to gamma log sum exp, at most gamma log q above it.

        The slopes overwrite the scores: a second large array takes longer than all else
        here.
        """
        true, slopes = (
            scores[self.every, self.y],
            np.add(scores, self.costs, out=scores),
        )
        top = slopes.max(axis=1, keepdims=True)
        exact = float((top[:, 0] - true) @ weights)
        slopes -= top
        slopes /= gamma
        np.maximum(slopes, -600.0, out=slopes)  # exp is slow where it underflows
        np.exp(slopes, out=slopes)
        total = slopes.sum(axis=1)
        slopes *= (weights / total)[:, np.newaxis]
        cost = float(np.einsum("ij,ij->", slopes, self.costs))
        slopes[self.every, self.y] -= weights
        return exact + gamma * float(np.log(total) @ weights), slopes, cost, exact


# The table of measures --------------------------------------------------------------


#: By class of the measure.
HINGES: dict[type, Any] = {
    KendallTau: PairHinge,
    AUC: PairHinge,
    NDCG: PlacesHinge,
    **dict.fromkeys(COUNT_LOSSES, CountHinge),
}

#: Names of the measures of predicted classes, in addition to `target_losses`.
CLASS_MEASURES: dict[str, Callable[[], RankingMeasure]] = {
    "f1": FBeta,
    "balanced_accuracy": BalancedAccuracy,
}
_NAMES = ("kendall", "ndcg@10", "precision@10", "recall@10", "auc")


def resolve_hinge(target_loss, *, of_classes=False):
    """The measure, from a name or an object, and the class of its hinge."""
    names = (*CLASS_MEASURES, *_NAMES[2:]) if of_classes else _NAMES
    measure: Any = target_loss
    if of_classes and isinstance(target_loss, str) and target_loss in CLASS_MEASURES:
        measure = CLASS_MEASURES[target_loss]()
    elif not isinstance(target_loss, FBeta | BalancedAccuracy):
        try:
            measure = resolve_measure(target_loss, scored=False)
        except ValueError as error:
            if of_classes:
                raise ValueError(
                    f"{error} Also known here: {', '.join(CLASS_MEASURES)}."
                ) from None
            raise
    refused = {KendallTau, NDCG} if of_classes else {FBeta, BalancedAccuracy}
    has_share = getattr(measure, "share", None) is not None
    if type(measure) not in HINGES.keys() - refused or has_share:
        raise ValueError(
            f"{measure!r} has no structured hinge here: use one of {', '.join(names)}. "
            "LowRankSurrogateRanker takes every measure with a low-rank form."
        )
    return clone(measure), HINGES[type(measure)]  # later changes apply to the next fit


def check_bounds(measure, y, lists):
    """Refuse lists for which the hinge is no bound of the loss; the message names k and P."""
    relevant = n_relevant(y, lists)
    if isinstance(measure, PrecisionAtK):
        k, sign, marks = measure.k, "<=", "the items above 0 and at least the k best"
        wrong = (relevant > 0) & (k > relevant)
    elif isinstance(measure, RecallAtK):
        k, sign, marks = measure.k, ">=", "the items above 0 and at most the k best"
        wrong = (relevant > 0) & (k < relevant)
    else:
        return
    if wrong.any():
        which = int(np.argmax(wrong))
        name = "" if lists.ids is None else f" ({lists.ids.tolist()[which]!r})"
        raise ValueError(
            f"The hinge of {measure!r} bounds the loss of the items that it marks ({marks}) for k "
            f"{sign} P only, the number of relevant items: list {which}{name} has "
            f"P={int(relevant[which])} and k={k}. Change k, or use 'ndcg@k' or 'auc'."
        )


def structured_hinge(
    target_loss: Any,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The structured hinge of each list, and a subgradient in the scores.

    ``max over y' of Delta(y', y) + <s, psi(y') - psi(y)>``, a convex upper bound of the
    loss Delta of the measure (chapter 17 of [1]_). The hinge of precision@k bounds the
    loss of the ``max(k, number of scores above 0)`` best items, not of the first k.

    Parameters
    ----------
    target_loss : str or RankingMeasure
        "kendall", "ndcg@k", "precision@k", "recall@k", "auc", "f1",
        "balanced_accuracy", or an object such as ``FBeta(beta=2)``.
    y_true : array-like of shape (n_rows,) or (n_lists, r)
        Grades.
    y_score : array-like of shape (n_rows,) or (n_lists, r)
        Scores, higher is better.
    qid : array-like of shape (n_rows,) or None, default=None
        Query ids of the rows; None is one list.

    Returns
    -------
    values : ndarray of shape (n_lists,)
        nan if the measure is undefined.
    slopes : ndarray of the shape of y_score
        Subgradient of the sum of the hinges by each score.

    References
    ----------
    .. [1] S. Shalev-Shwartz, S. Ben-David, "Understanding Machine Learning", Cambridge
       University Press 2014, chapter 17.

    Examples
    --------
    Both items score 0, so the worst labels have the loss 1.

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
    check_same_labels(y_true=y_true, y_score=y_score, qid=qid)
    y_true, qid = split_target(y_true, qid)
    y = read_labels(y_true, "y_true")
    lists = lists_of(y, qid, "y_true")
    measure.check_judged(y, "y_true")
    scores = np.asarray(y_score, dtype=np.float64)
    check_same_shape(2, y_score=scores, y_true=y)
    flat = lists.group(measure.check_labels(y).ravel())
    check_bounds(measure, flat, lists)
    made = hinge(flat, lists, None, measure)
    values, slopes = made.worst(lists.group(scores.ravel())[:, np.newaxis])
    values = np.where(hinge.defined(flat, lists), values, np.nan)
    return values, lists.ungroup(slopes[:, 0]).reshape(scores.shape)
