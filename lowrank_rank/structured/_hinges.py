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

from ..fitting._pairs import PairSums, dense_grades
from ..lists._lists import RankingLists
from ..lists._ranks import mid_ranks
from ..target_losses import AUC, NDCG, FBeta, PrecisionAtK, RecallAtK
from ..target_losses._classes import BalancedAccuracy
from ..target_losses._names import resolve_measure
from ..target_losses._pairwise import KendallTau
from ..target_losses._target_loss import RankingMeasure, reciprocal
from ..validation._arrays import ArrayLike, check_same_labels, check_same_shape
from ..validation._check import refuse
from ..validation._checks_of_hinges import (
    CHECKS_OF_BOUNDS_OF_HINGES,
    CHECKS_OF_HINGE_MEASURES,
)
from ..validation._kinds import arrive
from ..validation._labels import lists_of, read_labels, split_target
from ._maximisers import COUNT_LOSSES, count_hinge, worst_places
from ._solvers import Tangent


def rows_of_lists(lists, chosen):
    """Return the grouped rows of some of the lists."""
    lengths = lists.lengths[chosen]
    starts = np.cumsum(lengths) - lengths
    return np.repeat(lists.starts[chosen] - starts, lengths) + np.arange(lengths.sum())


def n_relevant(y, lists):
    """Return the number of relevant items of each list."""
    return lists.sum((y > 0).astype(float))


class ListHinge:
    """Hinge of lists: grouped and flat labels y, their lists, and a measure or None.

    Scores are one column, or one row of `n_items` columns for each list.
    """

    #: Whether a constant added to all scores changes the hinge.
    depends_on_shift: ClassVar[bool] = False

    def __init__(self, y, lists, n_items=None, measure=None):
        self.y = y
        self.lists = lists
        self.n_items = n_items
        self.measure = measure

    @staticmethod
    def defined(y, lists):
        """Return whether each list has a value."""
        return n_relevant(y, lists) > 0

    def subset(self, terms):
        """Return the hinge of some terms."""
        rows = rows_of_lists(self.lists, terms)
        lists = RankingLists(self.lists.lengths[terms])
        return type(self)(self.y[rows], lists, self.n_items, self.measure)

    def rows(self, terms):
        """Return the rows of X that belong to some terms."""
        if self.n_items is None:
            return rows_of_lists(self.lists, terms)
        return terms

    def per_row(self, values):
        """Repeat the value of each term for its rows of scores, as a column."""
        if self.n_items is None:
            values = self.lists.repeat(values)
        return values[:, np.newaxis]

    def largest_slopes(self):
        """Return the largest slope of one score of each list: a mark of -1 or 1."""
        return np.full(self.lists.n_lists, 2.0)

    def sum_of_largest_slopes(self, norms):
        """Return the sum over the items of a list of the largest slope times norm."""
        if self.n_items is None:
            sums = self.lists.sum(norms)
        else:  # a fixed item has the row of its list, in a block of its own
            sums = np.sqrt(self.n_items) * norms
        return self.largest_slopes() * sums


class PairHinge(ListHinge):
    """``scale * sum over pairs of max(0, 1 - (s_i - s_j))``: Kendall's tau, ROC area.

    The scale of Kendall's tau is one over the number r(r-1)/2 of pairs (section 17.4);
    pairs with tied labels are then wrong. Else only pairs with unequal labels count;
    for two grades this is one minus the ROC area.
    """

    def __init__(self, y, lists, n_items=None, measure=None):
        super().__init__(y, lists, n_items, measure)
        self.grades = dense_grades(y, lists)
        grade_sizes = np.bincount(
            lists.repeat(lists.starts) + self.grades, minlength=len(y)
        )
        n_tied = lists.sum(grade_sizes * (grade_sizes - 1.0)) / 2.0
        n_pairs = lists.lengths * (lists.lengths - 1) / 2.0
        if not isinstance(measure, KendallTau):
            n_pairs = n_pairs - n_tied
            n_tied = 0.0
        self.scale = reciprocal(n_pairs)
        self.tied = n_tied * self.scale

    @staticmethod
    def defined(y, lists):
        """Return whether each list has two labels that differ."""
        return lists.sum(y != lists.repeat(y[lists.starts])) > 0

    @staticmethod
    def slope_size(y, lists):
        """Return the size of the slopes of each list; its mean divides the features."""
        return np.ones(lists.n_lists)

    def worst(self, scores):
        """Return the hinge of each list and its subgradient in the scores."""
        pairs = PairSums(self.grades, scores.ravel(), self.lists)
        slopes = pairs.hinge_slopes * self.lists.repeat(self.scale)
        return pairs.hinges * self.scale + self.tied, slopes.reshape(scores.shape)

    def largest_slopes(self):
        """Return the largest slope of one score of each list: all pairs of an item."""
        return (self.lists.lengths - 1) * self.scale

    def soft(self, scores, gamma, weights):
        """Smooth max(0, z) to the maximum over m in [0, 1] of m z - gamma m^2 / 2."""
        flat_scores = scores.ravel()
        scale = self.scale * weights
        # With u = max(0, z) and v = max(0, z - gamma) the smooth term is
        # (u^2 - v^2) / (2 gamma), and the maximising m is (u - v) / gamma.
        pairs = PairSums(self.grades, flat_scores, self.lists)
        far_pairs = PairSums(self.grades, flat_scores, self.lists, 1.0 - gamma)
        hinges = pairs.hinges
        values = (pairs.squares - far_pairs.squares) / (2.0 * gamma)
        costs = (hinges - far_pairs.hinges) / gamma
        slopes = (pairs.square_slopes - far_pairs.square_slopes) / (2.0 * gamma)
        slopes = slopes * self.lists.repeat(scale)
        tied = float(self.tied @ weights)
        return Tangent(
            value=float(values @ scale) + tied,
            slope=slopes.reshape(scores.shape),
            cost=float(costs @ scale) + tied,
            exact=float(hinges @ scale) + tied,
        )


class CountHinge(ListHinge):
    """Measure of the counts of a list, in `COUNT_LOSSES`; y > 0 is relevant."""

    depends_on_shift = True

    @staticmethod
    def slope_size(y, lists):
        """Return the size of the slopes of each list; its mean divides the features."""
        return 2.0 * n_relevant(y, lists)

    def worst(self, scores):
        """Return the hinge of each list and its subgradient in the scores."""
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
        depth = longest
        if measure.k is not None:
            depth = min(int(measure.k), longest)
        discounts = measure.discount(np.arange(1, depth + 1), longest)
        self.discounts = np.broadcast_to(discounts, depth)
        # Place of each item from the bottom in the order of the labels.
        ranks = mid_ranks(self.utilities, lists)
        self.bottom = lists.repeat(lists.lengths) + 1.0 - ranks

    @staticmethod
    def slope_size(y, lists):
        """Return the size of the slopes of each list; its mean divides the features."""
        return lists.lengths**2 / 4.0

    def largest_slopes(self):
        """Return the largest slope of one score of each list, from last to first."""
        return self.lists.lengths - 1.0

    def worst(self, scores):
        """Return the hinge of each list and its subgradient in the scores."""
        lists = self.lists
        flat_scores = scores.ravel()
        depth = len(self.discounts)
        places = worst_places(self.utilities, flat_scores, lists, self.discounts)
        discounts = self.discounts[np.minimum(places, depth) - 1]
        discounts = np.where(places <= depth, discounts, 0.0)
        # psi is the sum over items of place from the bottom times score.
        slopes = lists.repeat(lists.lengths) + 1.0 - places - self.bottom
        # Delta is one minus the sum of discounted utilities.
        has_relevant = lists.sum(self.utilities) > 0
        delta = has_relevant - lists.sum(discounts * self.utilities)
        values = delta + lists.sum(slopes * flat_scores)
        return values, slopes.reshape(scores.shape)


class ClassHinge(ListHinge):
    """Classes with costs (17.3): ``max over y' of cost[y, y'] + s_y' - s_y``, by row.

    Parameters
    ----------
    y : ndarray of int, shape (n_rows,)
        The true column.
    costs : ndarray of shape (n_rows, n_columns)
        Cost of each column for each row, 0 for the true one.
    """

    def __init__(self, y, costs):
        self.y = y
        self.costs = np.asfortranarray(costs)
        self.n_items = costs.shape[1]
        self.every = np.arange(len(y))

    def subset(self, terms):
        """Return the hinge of some rows."""
        return ClassHinge(self.y[terms], self.costs[terms])

    def sum_of_largest_slopes(self, norms):
        """Return twice the norms: Psi of a class is the row in the block of the class.

        ``|Psi(x, y)| <= rho / 2`` as in the book; orthogonal blocks would allow sqrt(2)
        in place of 2.
        """
        return 2.0 * norms

    def worst(self, scores):
        """Return the hinge of each row and its subgradient in the scores."""
        augmented = scores + self.costs
        rivals = augmented.argmax(axis=1)
        slopes = np.zeros_like(scores)
        slopes[self.every, rivals] = 1.0
        slopes[self.every, self.y] -= 1.0
        values = augmented[self.every, rivals] - scores[self.every, self.y]
        return values, slopes

    def soft(self, scores, gamma, weights):
        """Smooth the maximum to gamma log sum exp, at most gamma log q above it.

        The slopes overwrite the scores: a second large array takes longer than all else
        here.
        """
        true_scores = scores[self.every, self.y]
        slopes = np.add(scores, self.costs, out=scores)
        largest = slopes.max(axis=1, keepdims=True)
        exact = float((largest[:, 0] - true_scores) @ weights)
        # Probabilities of the classes, exp(z / gamma) over their sum, times weights.
        slopes -= largest
        slopes /= gamma
        np.maximum(slopes, -600.0, out=slopes)  # exp is slow where it underflows
        np.exp(slopes, out=slopes)
        total = slopes.sum(axis=1)
        slopes *= (weights / total)[:, np.newaxis]
        cost = float(np.einsum("ij,ij->", slopes, self.costs))
        slopes[self.every, self.y] -= weights
        value = exact + gamma * float(np.log(total) @ weights)
        return Tangent(value, slope=slopes, cost=cost, exact=exact)


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
    """Return the measure, from a name or an object, and the class of its hinge."""
    if of_classes:
        names = (*CLASS_MEASURES, *_NAMES[2:])
        refused = {KendallTau, NDCG}
    else:
        names = _NAMES
        refused = {FBeta, BalancedAccuracy}
    measure: Any = target_loss
    if of_classes and isinstance(target_loss, str) and target_loss in CLASS_MEASURES:
        measure = CLASS_MEASURES[target_loss]()
    elif not isinstance(target_loss, FBeta | BalancedAccuracy):
        measure = resolve_measure(target_loss, scored=False)
    known = HINGES.keys() - refused
    refuse(CHECKS_OF_HINGE_MEASURES, measure=measure, known=known, names=names)
    return clone(measure), HINGES[type(measure)]  # later changes apply to the next fit


def check_bounds(measure, y, lists):
    """Refuse lists for which the hinge is not a bound of the loss; name k and P."""
    P = n_relevant(y, lists)
    if isinstance(measure, PrecisionAtK):
        sign = "<="
        marks = "the items above 0 and at least the k best"
        is_wrong = (P > 0) & (measure.k > P)
    elif isinstance(measure, RecallAtK):
        sign = ">="
        marks = "the items above 0 and at most the k best"
        is_wrong = (P > 0) & (measure.k < P)
    else:
        return
    refuse(
        CHECKS_OF_BOUNDS_OF_HINGES,
        measure=measure,
        lists=lists,
        n_relevant=P,
        is_wrong=is_wrong,
        sign=sign,
        marks=marks,
    )


def structured_hinge(
    target_loss: Any,
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the structured hinge of each list, and a subgradient in the scores.

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
    arrive(y_true=y_true, y_score=y_score, qid=qid)
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
    grouped_scores = lists.group(scores.ravel())[:, np.newaxis]
    values, slopes = hinge(flat, lists, None, measure).worst(grouped_scores)
    values = np.where(hinge.defined(flat, lists), values, np.nan)
    return values, lists.ungroup(slopes[:, 0]).reshape(scores.shape)
